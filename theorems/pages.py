"""docs/STATEMENTS.md: every statement with its page, its hypotheses and what is known, from the package alone."""

from collections.abc import Mapping
from pathlib import Path

from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.engine.witnesses import WitnessRecord, packaged
from fairalloc.theorems.judges.experiments import run_of
from fairalloc.theorems.machine.record import machine_line, recorded
from fairalloc.theorems.proofs import Proof, served
from fairalloc.theorems.registry import PAPERS, all_statements
from fairalloc.theorems.statement import Statement

__all__ = ["statement_text", "statements_page", "write_statements_page"]

_HEAD = """# Statements

Written by `make statements` from theorems/papers/ and theorems/engine/witnesses.json; do not edit. Every statement runs:
`fairalloc theorems verify --id ID`. The status, by the last search on record, is proved (by the proof that is given or named),
held (a case was confirmed, or no violation was found in so many cases, which is no proof), refuted, violated in floating point,
or not decided. "By machine" is a proof for all instances of one size, from theorems/machine/record.json, and
`fairalloc theorems prove ID` runs it again.
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
        parts += [statement_text(item, known) for item in own]
    return "\n".join([*parts, _shared(statements)])


def _shared(statements: Mapping[str, Statement]) -> str:
    """Each proof of several statements once, with what it serves."""
    objects = {item.proof.name: item.proof for item in statements.values() if isinstance(item.proof, Proof)}
    lines = ["## Proofs that several statements share\n"]
    for name, ids in served({key: item.proof for key, item in statements.items()}).items():
        if name in objects:
            lines.append(f"### {name}\n\n{objects[name].text}\n\n- serves {', '.join(ids)}\n")
    return "\n".join(lines)


def _proof(item: Statement) -> str:
    """The proof, or the name of a shared one and what the statement adds to it."""
    if not isinstance(item.proof, Proof):
        return item.proof
    added = " [...] ".join(part for part in (item.proof.before.strip(), item.proof.after.strip()) if part)
    return f"*{item.proof.name}*, below" + f"; here also: {added}" * bool(added)


def statement_text(item: Statement, known: WitnessRecord) -> str:
    """What is known of one statement, as Markdown."""
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
    lines += [f"- note: {item.note}"] * bool(item.note) + [f"- proof: {_proof(item)}"] * bool(item.proof)
    lines.append(f"- status: {_status(item, known)}")
    lines += [f"- by machine: {machine_line(kept)}" for kept in recorded().get(item.id, ())]
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
    """By the record; a proof counts without a search."""
    last = known.searched.get(item.id, {"status": "proved", "trials": 0} if item.proof else None)
    if last is None:
        return "not searched yet"
    return f"{last['status']}" + (f", {last['trials']:,} cases tried" if last["trials"] else "")
