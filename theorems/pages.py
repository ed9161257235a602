"""docs/STATEMENTS.md: every statement with its page, its hypotheses and what is known, from the package alone."""

from collections.abc import Mapping
from pathlib import Path

from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.engine.witnesses import WitnessRecord, packaged
from fairalloc.theorems.judges.experiments import run_of
from fairalloc.theorems.registry import PAPERS, all_statements
from fairalloc.theorems.statement import Statement

__all__ = ["statements_page", "write_statements_page"]

_HEAD = """# Statements

Written by `make statements` from theorems/papers/ and theorems/engine/witnesses.json; do not edit. Every statement runs:
`fairalloc theorems verify --id ID`. "Not refuted" reports the last search on record; it is no proof.
"""
_QUANTIFIERS = {
    "all": "for every case",
    "some": "there is a case",
    "run": "about an algorithm, for every case",
    "one": "the printed case",
}


def write_statements_page(path: str | Path) -> None:
    """Write the page."""
    Path(path).write_text(statements_page(all_statements(), packaged()), encoding="utf-8")


def statements_page(statements: Mapping[str, Statement], known: WitnessRecord) -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for paper in PAPERS:
        own = [item for item in statements.values() if item.paper == paper]
        parts += [f"## {paper}\n"] * bool(own)
        parts += [_entry(item, known) for item in own]
    return "\n".join(parts)


def _entry(item: Statement, known: WitnessRecord) -> str:
    lines = [f"### {item.id}\n", f"{item.text} ({item.place})\n"]
    about = f"{_QUANTIFIERS[item.quantifier]}; {item.hypotheses}" if item.quantifier != "one" else _QUANTIFIERS["one"]
    about = "an experiment" if item.experiment else about
    lines.append(
        f"- {about}"
        + (
            f"; up to {item.misreports} users misreport together"
            if item.misreports > 1
            else "; one user misreports" * item.misreports
        )
    )
    lines += [f"- note: {item.note}"] * bool(item.note) + [f"- proof: {item.proof}"] * bool(item.proof)
    lines.append(f"- status: {_status(item, known)}")
    run = run_of(item.experiment)
    lines += [f"- {run}"] * bool(run)
    lines.append(f"- code: theorems/papers/{item.paper.lower()}/statements.py")
    for witness in known.witnesses:
        if witness["statement"] == item.id:
            without = f" without *{witness['without'].replace('_', ' ')}*" if witness["without"] else ""
            code = parse_case(witness["case"]).code()
            lines.append(f"- violated{without}: {witness['verdict']['sentence']}\n\n```python\n{code}\n```\n")
    return "\n".join(lines) + "\n"


def _status(item: Statement, known: WitnessRecord) -> str:
    last = known.searched.get(item.id)
    if last is None:
        return "not searched yet"
    return f"{last['status']}" + (f", {last['trials']:,} cases tried" if last["trials"] else "")
