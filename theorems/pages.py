"""What is known of a statement, as a page of Markdown: `fairalloc theorems show ID` prints it, and the site has it with links."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME
from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.certificates.store import certificate_line, index, stored
from fairalloc.theorems.certificates.written import symbols
from fairalloc.theorems.checkers.checked import run_of
from fairalloc.theorems.definitions import definitions_of
from fairalloc.theorems.latex import notation
from fairalloc.theorems.packaged_files import packaged_toml
from fairalloc.theorems.printed import PRINTED
from fairalloc.theorems.registry import PAPERS, all_statements
from fairalloc.theorems.search.witnesses import WitnessRecord, on_record
from fairalloc.theorems.smt.record import WITHOUT_FORMULAS, machine_line, recorded
from fairalloc.theorems.standalone.arguments import ARGUMENTS
from fairalloc.theorems.standalone.script import plain_source
from fairalloc.theorems.statement import BY_A_CASE, IN_PROSE, MEANINGS, READ, READINGS, Finding, Statement, Status, described
from fairalloc.theorems.titles import explained, hypotheses_in_words, paper_of, title_of

QUANTIFIERS = {
    "all": "for every case that fulfils the hypotheses",
    "some": "there is a case that violates the property",
    "run": "about an algorithm, for every case",
    "one": "about the printed case alone",
}

NOTATION = (
    "`demands[n]` of `Instance(demands, capacities)` are the demand vectors of user n, a number for each resource, and "
    "`capacities[i]` those of server i; weights are 1 and every user may use every server where they are not given."
)

REPORTED = " `Misreport(users, demands, eligible)` is what these users, counted from 0, report instead; None = the truth."

REQUESTS = (
    " Entitlements e_i are weights divided by their sum. User i requests `max_tasks[i]` tasks, or what fits alone where that is "
    "less or there is no limit; r_ij is the part of resource j that this takes."
)
"""How D's numbers are those of an instance."""

PARAMETERS = {
    "unentitled": "`unentitled` of the last users are entitled to nothing",
    "factor": "a user asks for `factor` times as much",
    "heavy": "the first term of f has the weight `heavy`",
}
"""What parameters of cases are that no mechanism has."""

POINTS = " `points` are tasks of user n on server i, sorted by user, then server."

STANDALONE = "A witness with its proof, for a Python without any package: an assertion that fails would stop it."

UNKNOWNS = "Unknowns are explained at the head of `game.py`, `leximin.py`, `market.py` or `requests.py` in `theorems/smt/`."

PLAIN = {"errata": "docs/papers/errata.md, at {}", "script": "docs/witnesses/{}.py\n"}
"""How names of these kinds are written for a terminal."""

ANSWERS = {
    FOR_ALL: "for all: every answer that the mechanism allows has the same verdict",
    FOR_SOME: "for some: one answer has this verdict; others have another one, or were not decided",
}


@cache
def instead() -> Mapping[str, str]:
    """What is true instead of a refuted statement, with the ids of the statements that say so: instead.toml."""
    return {name: true for names, true in packaged_toml("instead.toml").items() for name in names.split()}


@dataclass(frozen=True)
class Writing:
    """How words are written: as they are for a terminal; the site escapes what Markdown would take for markup, and adds links.

    `name` is of a kind ("paper", "mechanism", "property", "table", "errata", "script", "statement") and the name of one of them.
    """

    text: Callable[[str], str] = str
    name: Callable[[str, str], str] = lambda kind, name: PLAIN.get(kind, "{}").format(name)


def statement_page(item: Statement, known: WitnessRecord, writing: Writing | None = None) -> str:
    """The page of a statement: claim, hypotheses, proof, proof by machine, evidence, witnesses, and how to run it again.

    `known` is the record that its status and its witnesses are from; `writing` None = as for a terminal.
    """
    how = writing or Writing()
    found = on_record(item, known, again=False)
    status = how.text(described(item, found.status, found.trials))
    parts = [
        f"# {how.text(title_of(item, found.status))}\n",
        f"`{item.id}`, {how.text(item.place.rstrip('.'))}. Status: **{status}**.\n",
    ]
    parts.append(f"> {how.text(item.text)}\n")
    parts.append("\n".join(f"- {line}" for line in _about(item, found, how)) + "\n")
    read = f"Read {item.proof_read}." if item.proof_read else "Only its author has read it so far."
    parts += [f"## Proof\n\n{how.text(str(item.proof))}\n{_shared(item, how)}\n{read}\n"] * bool(item.proof)
    parts += [f"## Note\n\n{how.text(item.note)}\n"] * bool(item.note)
    letters = notation(" ".join([item.text, str(item.proof), item.note]), item.paper)
    parts += [f"## Letters\n\n{how.text(letters)}.\n"] * bool(letters)
    parts += [_defined(item)] * bool(definitions_of(item.mechanism, item.property))
    parts += [_by_machine(item, how)] * bool(recorded().get(item.id) or item.id in WITHOUT_FORMULAS)
    run = run_of(item.experiment)
    parts += [f"## Evidence\n\n{how.text(run)}\n"] * bool(run)
    is_shown = item.quantifier == "one" and not item.experiment and found.status not in (Status.REFUTED, Status.NOT_DECIDED)
    parts += [_in_code("The case", item.printed.document(), item.paper)] if is_shown and item.printed else []
    parts += [_witness(witness, item.paper, how) for witness in known.witnesses if witness["statement"] == item.id]
    parts += [f"## Standalone script\n\n{STANDALONE}\n\n{how.name('script', item.id)}"] * (item.id in ARGUMENTS)
    parts += [_again(item), *_neighbours(item, how)]
    return "\n".join(parts)


def _neighbours(item: Statement, how: Writing) -> Iterator[str]:
    """The statements before and after it, in the order of the papers."""
    names = list(all_statements())
    if item.id not in names:
        return
    at = names.index(item.id)
    around = {"Previous": names[at - 1 : at] if at else [], "Next": names[at + 1 : at + 2]}
    yield " · ".join(f"{word}: {how.name('statement', name)}" for word, found in around.items() for name in found) + "\n"


def _about(item: Statement, found: Finding, how: Writing) -> Iterator[str]:
    """The lines that say what the claim is about."""
    mechanism, meaning = explained(item)
    proved = IN_PROSE + READ * bool(item.proof_read) if item.proof else BY_A_CASE
    yield f"Status: {how.text(proved if found.status == Status.PROVED else MEANINGS[found.status])}"
    refuted = found.status == Status.REFUTED and item.paper in PAPERS
    if refuted or item.reading != "to the letter":
        yield f"Reading: {item.reading}, {how.text(READINGS[item.reading])}"
    if refuted:
        true = how.text(instead().get(item.id, ""))
        yield f"What is true instead: {true} More: {how.name('errata', item.id)}"
    if item.paper in PAPERS:
        yield f"Paper: {how.name('paper', item.paper)}, {how.text(paper_of(item))}"
    else:
        yield "Paper: none, it is our own claim"
    if item.mechanism:
        yield f"Mechanism: {how.name('mechanism', item.mechanism)}" + f", {how.text(mechanism)}" * bool(mechanism)
    if item.property:
        yield f"Property: {how.name('property', item.property)}" + f": {how.text(meaning)}" * bool(meaning)
    yield f"Quantifier: {'an experiment' if item.experiment else QUANTIFIERS[item.quantifier]}"
    if item.quantifier != "one" and not item.experiment:
        assumed = replace(item.hypotheses, parameters={})
        yield f"Hypotheses: {how.text(str(assumed))}; that is: {how.text('; '.join(hypotheses_in_words(item)))}"
        if item.hypotheses.ranges:
            meant = [words for name, words in PARAMETERS.items() if name in item.hypotheses.parameters]
            yield f"Tried with: {how.text('; '.join([*item.hypotheses.ranges, *meant]))}"
    if item.misreports:
        yield "Misreports: " + ("of one user" if item.misreports == 1 else f"of up to {item.misreports} users together")
    if item.table:
        yield f"Printed table: {how.name('table', PRINTED[item.table].place)}"
    if found.answers:
        yield f"Of several answers: {ANSWERS.get(found.answers, found.answers)}"


def _defined(item: Statement) -> str:
    """The text of the definitions, as it is evaluated on fractions, stands in scripts and builds formulas."""
    texts = "\n\n".join(map(plain_source, definitions_of(item.mechanism, item.property)))
    data = "`need` is {arc: {resource: amount}}, `room` {(server, resource): capacity}, `x` {arc: tasks}; arcs end with a server."
    return f"## Definition\n\n{data}\n\n```python\n{texts}\n```\n"


def _shared(item: Statement, how: Writing) -> str:
    """The other statements that its proof serves, where it has a name of its own."""
    others = [other.id for other in all_statements().values() if other.proof_name == item.proof_name and other.id != item.id]
    return f"\nThe same proof, *{how.text(item.proof_name)}*, serves {how.text(', '.join(others))}.\n" * bool(others)


def _by_machine(item: Statement, how: Writing) -> str:
    """What z3 said of all instances of a size, with the case where there is one; or why it is not asked."""
    if item.id in WITHOUT_FORMULAS:
        return f"## No proof by machine\n\nNot asked: {how.text(WITHOUT_FORMULAS[item.id])}.\n"
    lines = ["## Proof by machine\n", "For all instances of the size (users x servers x resources), in exact arithmetic.\n"]
    for kept in recorded().get(item.id, ()):
        lines.append(f"- {how.text(machine_line(kept))}")
        lines += [f"\n```python\n{case_code(kept['case'])}\n```\n"] if "case" in kept else []
    return "\n".join([*lines, "", *_certificates(item, how)])


def _certificates(item: Statement, how: Writing) -> Iterator[str]:
    """What is on record for each size, and the first question of the first certificate in symbols, which is how all are asked."""
    entries = index().get(item.id, ())
    if not entries:
        return
    yield "A certificate is checked by `check_certificate.py` alone: it shows that the facts of a question exclude each other.\n"
    yield "\n".join(f"- {how.text(certificate_line(entry))}" for entry in entries) + "\n"
    certificate = next((found for entry in entries if (found := stored(entry.get("sha256", "")))), None)
    if certificate is not None:
        name, assumed, refuting = symbols(certificate["text"])
        made = f"The definition above makes of the first pattern, {how.text(name)}, these facts; the others are asked alike."
        yield f"{made} {UNKNOWNS}\n"
        yield f"```text\nassumed\n{assumed}\nwhat would refute the claim\n{refuting}\n```\n"


def _witness(witness: Mapping[str, Any], paper: str, how: Writing) -> str:
    without = witness["without"].replace("_", " ")
    title = f"Violated without the hypothesis “{without}”" if without else "Witness"
    sentence, method = witness["verdict"]["sentence"], witness["verdict"]["method"]
    answers = f"; {kept}" if (kept := witness["verdict"].get("answers")) else ""
    return _in_code(title, witness["case"], paper, how.text(f"{sentence} ({method}{answers}).") + "\n\n")


def _in_code(title: str, case: Mapping[str, Any], paper: str, said: str = "") -> str:
    read = NOTATION + REQUESTS * (paper == "D") + REPORTED * ("misreport" in case) + POINTS * ("points" in case)
    return f"## {title}\n\n{said}{read}\n\n```python\n{case_code(case)}\n```\n"


def case_code(document: Mapping[str, Any]) -> str:
    """The code that rebuilds a case on file, with what it imports."""
    case = parse_case(document).code()
    names = [name for name in ("Case", "Instance", "Misreport") if f"{name}(" in case]
    imports = "from fractions import Fraction\n\n" * ("Fraction(" in case)
    return f"{imports}from fairalloc import {', '.join(names)}\n\ncase = {case}"


def _again(item: Statement) -> str:
    commands = [f"fairalloc theorems show {item.id}    # this page"]
    commands += [f"fairalloc theorems verify --id {item.id}"] * (item.paper in PAPERS)
    commands += [f"fairalloc theorems prove {item.id}"] * bool(recorded().get(item.id))
    certified = any("sha256" in entry for entry in index().get(item.id, ()))
    commands += [
        f"fairalloc theorems prove {item.id} --certificate FILE",
        f"fairalloc theorems export {item.id} --coq",
    ] * certified
    commands += [f"fairalloc theorems export {item.id}    # --format latex"] * (item.id in ARGUMENTS)
    commands.append(f"fairalloc theorems export {item.id} --format bibtex")
    where = "The claim is made by `theorems/ours.py`; `theorems/search/our_cells.py` searches it.\n"
    if item.paper in PAPERS:
        folder = f"theorems/papers/{item.paper.lower()}"
        where = f"The claim is written in `{folder}/statements.toml`; `trials.py` beside it tries it.\n"
    return "\n".join(["## Run it again\n", "```sh", *commands, "```", "", where])
