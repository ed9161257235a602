"""A page for every statement of the papers, their index, the matrix, and what is known of each mechanism."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from links import plain

from fairalloc.formulations import MECHANISMS
from fairalloc.solvers import METHODS
from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.engine.witnesses import WitnessRecord, packaged
from fairalloc.theorems.implications import IMPLICATIONS, follows
from fairalloc.theorems.judges.experiments import run_of
from fairalloc.theorems.machine.record import machine_line, recorded
from fairalloc.theorems.matrix import comparison, evidence, matrix
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.statement import Finding, Statement

QUANTIFIERS = {
    "all": "for every case that fulfils the hypotheses",
    "some": "there is a case that violates the property",
    "run": "about an algorithm, for every case",
    "one": "about the printed case alone",
}

STATUSES = """
| status | what it says |
| --- | --- |
| proved | a proof was checked, and no violation was found by the search on record |
| confirmed | a case or number was confirmed in rationals or intervals: the printed one, or the violation that is claimed |
| not refuted | no violation was found on so many cases; that is no proof |
| refuted | a case that fulfils the hypotheses violates the claim, confirmed in rationals; the page rebuilds it |
| violated in floats | a violation is known in floating point alone |
| not decided | neither |
"""


def statement_pages() -> Iterator[tuple[str, str]]:
    """(path, Markdown) of the pages below statements/, and of the parts that pages of mechanisms and papers take in."""
    statements, known = all_statements(), packaged()
    findings = {name: found for name, item in statements.items() if (found := _on_record(item, known))}
    for item in statements.values():
        yield f"statements/{item.id}.md", _page(item, known)
    yield "statements/index.md", _index(statements, known)
    yield "statements/matrix.md", _matrix(statements, findings)
    yield "statements/implications.md", _implications()


def of_a_mechanism(name: str) -> str:
    """What the page of a mechanism ends with: what computes it, and what is known of its properties."""
    statements, known = all_statements(), packaged()
    module = type(MECHANISMS[name]).__module__
    own_module = f"fairalloc.formulations.{name.replace('-', '_')}"
    parts = ["\n## Computed by\n", "| method | module |", "| --- | --- |"]
    for key, method in METHODS.items():
        if method.computes(MECHANISMS[name]):
            parts.append(f"| `{key}` | {{py:mod}}`{type(method).__module__}` |")
    parts.append(f"\nThe definition, the models and the residual are in {{py:mod}}`{own_module}`")
    parts.append("." if module == own_module else f"and {{py:mod}}`{module}`.")
    own = {key: item for key, item in statements.items() if item.mechanism == name}
    return "\n".join([*parts, "\n## Properties\n", _properties(name, own, known)])


def of_a_paper(paper: str) -> str:
    """What the page of a paper ends with: its statements, and where they stand in the errata."""
    statements, known = all_statements(), packaged()
    own = {key: item for key, item in statements.items() if item.paper == paper}
    count = Counter(status(item, known) for item in own.values())
    said = ", ".join(f"{number} {name}" for name, number in count.most_common())
    head = f"\n## Statements\n\n{len(own)} in all: {said}. What is false as printed is in the [errata](/ERRATA.md).\n"
    return f"{head}\n{_table(own, known, ('status', 'claim'))}"


def _on_record(item: Statement, known: WitnessRecord) -> Finding | None:
    """What the package's record says of a statement; its witnesses are confirmed again by the tests, not by the site."""
    last = known.searched.get(item.id)
    if last is None:
        return None
    own = [one for one in known.witnesses if one["statement"] == item.id]
    needed = {one["without"]: parse_case(one["case"]) for one in own if one["without"]}
    return Finding(item.id, last["status"], "on record", last["trials"], {}, needed=needed)


def status(item: Statement, known: WitnessRecord) -> str:
    """What is known of a statement, in a word or two."""
    found = known.searched.get(item.id, {}).get("status", "proved" if item.proof else "not searched")
    if found == "held":
        return "proved" if item.proof else "confirmed" if item.quantifier in ("some", "one") else "not refuted"
    return "violated in floats" if found == "violated in floating point" else str(found)


# ---- one statement ---------------------------------------------------------------------------------------------------


def _page(item: Statement, known: WitnessRecord) -> str:
    parts = ["---\norphan: true\n---\n", f"# {item.id}\n", f"> {plain(item.text)}\n"]
    parts.append(f"{plain(item.place)}. Status: {_said(item, known)}.\n")
    parts.append("\n".join(f"- {line}" for line in _about(item)) + "\n")
    parts += [f"## Proof\n\n{_linking(str(item.proof))}\n{_shared(item)}"] * bool(item.proof)
    parts += [_by_machine(item)] * bool(recorded().get(item.id))
    parts += [f"## Errata\n\n{_errata(item)}\n"] * bool(_errata(item))
    parts += [f"## Note\n\n{_linking(item.note)}\n"] * bool(item.note)
    run = run_of(item.experiment)
    parts += [f"## Evidence\n\n{plain(run)}\n"] * bool(run)
    parts += [_witness(witness) for witness in known.witnesses if witness["statement"] == item.id]
    commands = [f"fairalloc theorems show {item.id}    # what is known", f"fairalloc theorems verify --id {item.id}"]
    commands += [f"fairalloc theorems prove {item.id}"] * bool(recorded().get(item.id))
    parts.append("\n".join(["## Run it again\n", "```sh", *commands, "```", ""]))
    parts.append(f"The claim is written in `theorems/papers/{item.paper.lower()}/statements.py`.\n")
    return "\n".join(parts)


def _by_machine(item: Statement) -> str:
    """What z3 said of all instances of a size, with the case where there is one."""
    lines = ["## Proof by machine\n", "For all instances of the size, in exact arithmetic (users, servers, resources).\n"]
    for kept in recorded().get(item.id, ()):
        lines.append(f"- {plain(machine_line(kept))}")
        lines += [f"\n```python\n{_code(parse_case(kept['case']).code())}\n```\n"] if "case" in kept else []
    return "\n".join([*lines, ""])


@cache
def _headings() -> dict[str, str]:
    """The headings of the errata and the anchors that they have there."""
    lines = (Path(__file__).parents[1] / "ERRATA.md").read_text(encoding="utf-8").splitlines()
    titles = [line[4:] for line in lines if line.startswith("### ")]
    return {title: re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def _errata(item: Statement) -> str:
    """Links to the errata whose heading names the statement."""
    named = re.compile(rf"[`\[]{re.escape(item.id)}[`\],]")
    links = [f"[{plain(title)}](/ERRATA.md#{anchor})" for title, anchor in _headings().items() if named.search(title)]
    return ", ".join(links)


def _shared(item: Statement) -> str:
    """The other statements that its proof serves, where it has a name of its own."""
    others = [other for other in all_statements().values() if other.proof_name == item.proof_name and other.id != item.id]
    links = ", ".join(f"[{other.id}](/statements/{other.id}.md)" for other in others)
    return f"\nThe same proof, *{plain(item.proof_name)}*, serves {links}.\n" * bool(others)


def _linking(text: str) -> str:
    """Plain text in which the ids of statements lead to their pages."""
    known = all_statements()
    parts = re.split(r"(?<![\w.])([A-Z](?:\.[\w-]+)+)", text)
    parts[1::2] = (f"[{name}](/statements/{name}.md)" if name in known else plain(name) for name in parts[1::2])
    parts[::2] = map(plain, parts[::2])
    return "".join(parts)


def _said(item: Statement, known: WitnessRecord) -> str:
    trials = known.searched.get(item.id, {}).get("trials", 0)
    return f"**{status(item, known)}**" + (f", {trials:,} cases tried on record" if trials else "")


def _about(item: Statement) -> Iterator[str]:
    """The lines that say what the claim is about."""
    yield f"Paper: [{item.paper}](/papers/{item.paper}.md)"
    if item.mechanism:
        yield f"Mechanism: [{item.mechanism}](/theory/{item.mechanism}.md)"
    if item.property:
        yield f'Property: <a href="index.html?property={item.property}">{item.property}</a>'
    yield f"Quantifier: {'an experiment' if item.experiment else QUANTIFIERS[item.quantifier]}"
    if item.quantifier != "one" and not item.experiment:
        yield f"Hypotheses: {plain(str(item.hypotheses))}"
    if item.misreports:
        yield "Misreports: " + ("of one user" if item.misreports == 1 else f"of up to {item.misreports} users together")
    if item.table:
        yield f"Printed table: [{PRINTED[item.table].place}](/statements/matrix.md)"


def _witness(witness: Mapping[str, Any]) -> str:
    without = witness["without"].replace("_", " ")
    title = f"Violated without the hypothesis “{without}”" if without else "Witness"
    sentence, method = witness["verdict"]["sentence"], witness["verdict"]["method"]
    code = _code(parse_case(witness["case"]).code())
    return f"## {title}\n\n{plain(sentence)} ({plain(method)}).\n\n```python\n{code}\n```\n"


def _code(case: str) -> str:
    """The code of a case with what it imports."""
    names = [name for name in ("Case", "Instance", "Misreport") if f"{name}(" in case]
    imports = "from fractions import Fraction\n\n" * ("Fraction(" in case)
    return f"{imports}from fairalloc import {', '.join(names)}\n\ncase = {case}"


# ---- tables ----------------------------------------------------------------------------------------------------------


def _index(statements: Mapping[str, Statement], known: WitnessRecord) -> str:
    head = (
        f"# Statements\n\nAll {len(statements)} claims of the five papers that were found, each with a page: what it assumes, "
        "why it is true or the case that refutes it, and the command that tries it again. "
        "[The matrix](/statements/matrix.md) has mechanisms and properties; "
        "[the implications](/statements/implications.md) say what follows from what.\n"
    )
    table = _table(statements, known, ("paper", "status", "mechanism", "property", "claim"))
    listed = f":::::{{container}} statement-index\n\n{table}\n:::::\n"
    return f"{head}{STATUSES}\n{listed}\n```{{toctree}}\n:hidden:\n\nmatrix\nimplications\n```\n"


def _table(statements: Mapping[str, Statement], known: WitnessRecord, columns: tuple[str, ...]) -> str:
    lines = [f"| statement | {' | '.join(columns)} |", "| --- " * (len(columns) + 1) + "|"]
    for item in statements.values():
        cells = {
            "paper": item.paper,
            "status": status(item, known),
            "mechanism": item.mechanism,
            "property": item.property,
            "claim": plain(item.text),
        }
        lines.append(f"| [{item.id}](/statements/{item.id}.md) | {' | '.join(cells[name] for name in columns)} |")
    return "\n".join(lines) + "\n"


def _properties(name: str, own: Mapping[str, Statement], known: WitnessRecord) -> str:
    """The statements about a mechanism, and the properties that follow from its definition."""
    reached = [(arrow.conclusion, follows(name, arrow.conclusion)) for arrow in IMPLICATIONS]
    lines = [f"- {conclusion}: {plain(why)}" for conclusion, why in dict(reached).items() if why]
    follow = ["These properties follow from the definition on all instances:\n", *lines, ""] * bool(lines)
    if not own:
        return "\n".join([*follow, "" if lines else "No statement of the papers is about a property of this mechanism.", ""])
    return "\n".join([*follow, _table(own, known, ("property", "status", "claim"))])


def _implications() -> str:
    lines = ["# Implications\n", "What follows from what for one allocation, with the proof or source.\n"]
    lines += ["| premise | conclusion | why |", "| --- | --- | --- |"]
    lines += [f"| {arrow.premise} | {arrow.conclusion} | {plain(arrow.why)} |" for arrow in IMPLICATIONS]
    return "\n".join(lines) + "\n"


# ---- the matrix ------------------------------------------------------------------------------------------------------


def _matrix(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> str:
    cells = evidence(statements, findings)
    grid = matrix(statements, findings)
    notes = "\n".join(f"- {plain(note)}" for note in grid.notes)
    how = (
        "The first mark of a cell, in bold, is what is known of the mechanism; the others are its further statements, such as "
        "those of another paper or under more hypotheses. Every mark leads to its statement, with its proof or witness."
    )
    parts = [f"# Mechanisms and properties\n\n{how}\n\n{notes}\n", _linked(grid, cells)]
    for table in PRINTED.values():
        own = evidence({key: item for key, item in statements.items() if item.table == table.id}, findings)
        parts += [f"## {plain(table.place)}\n", f"{plain(table.setting)}\n"]
        parts.append(_linked(comparison(table, statements, findings), own))
    return "\n".join(parts)


def _linked(grid: Any, cells: Mapping[tuple[str, str], Any]) -> str:
    """A table whose every mark leads to a statement behind it, or to the implications where it follows from the definition."""
    mechanisms = grid.columns[1:]
    lines = [
        f"| property | {' | '.join(f'[{name}](/theory/{name}.md)' for name in mechanisms)} |",
        "| --- " * len(grid.columns) + "|",
    ]
    for row in grid.rows:
        marks = [_mark(text, cells.get((mechanism, row[0]), [])) for mechanism, text in zip(mechanisms, row[1:], strict=True)]
        lines.append(f"| {row[0]} | {' | '.join(marks)} |")
    return "\n".join(lines) + "\n"


def _mark(text: str, found: list[Any]) -> str:
    """The mark of the cell, then those of its other statements, such as those with more hypotheses."""
    if not text:
        return ""
    if not found:
        return f"[{plain(text)}](/statements/implications.md)" if text == "⇒" else plain(text)
    first = next((one for one in found if one.violated), found[0])
    main = text.split(";")[0].split(" if ")[0]
    others = [f"[{plain(one.mark)}](/statements/{one.statement.id}.md)" for one in found if one is not first]
    return " ".join([f"**[{plain(main)}](/statements/{first.statement.id}.md)**", *others])
