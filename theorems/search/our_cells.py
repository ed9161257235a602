"""What is on record for the cells of the matrix, and the search behind our own claims (ours.py), which is kept in ours.json.

1. Cases that violate the same property by any mechanism are tried first, with each value of the parameters, and for positive
   demands with small numbers in the place of 0.
2. The usual search looks for a violation, or a smaller one, in floating point, and confirms it in rationals.
3. Where there is none, every case is tried in exact arithmetic, until ENOUGH of them were decided.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

from fairalloc.analysis.verdict import FOR_ALL
from fairalloc.formulations import MECHANISMS
from fairalloc.theorems.cases import Case, Draft, parse_case
from fairalloc.theorems.cells import HOLDS, VIOLATIONS, cells_of, evidence
from fairalloc.theorems.checkers.own import is_ours
from fairalloc.theorems.hypotheses import COUNTED, TESTS
from fairalloc.theorems.implications import ALSO, BETWEEN_MECHANISM_PROPERTIES, follows
from fairalloc.theorems.ours import ROWS, key_of, our_columns, ours
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.investigate import concluded, counts, smallest
from fairalloc.theorems.search.search import Limit, Search, seeded
from fairalloc.theorems.search.witnesses import everything, on_record, write_witnesses
from fairalloc.theorems.statement import Finding, Proof, Statement, Status

ENOUGH = 2000
"""Exact cases without a violation after which a cell says "not refuted"."""

SMALL = (Fraction(1, 4), Fraction(1, 20), Fraction(1, 100))
"""What a demand of 0 becomes."""


def cell_statements() -> dict[str, Statement]:
    """The statements about cells of the matrix, those of the papers and then ours of which something is on record."""
    papers = {key: item for key, item in all_statements().items() if item.mechanism and item.property}
    return papers | {key: item for key, item in ours().items() if item.proof or key in everything().searched}


def known_cells() -> tuple[dict[str, Statement], dict[str, Finding]]:
    """The statements about cells of the matrix, with what is on record of them."""
    statements = cell_statements()
    return statements, {key: on_record(item, everything(), again=False) for key, item in statements.items()}


@cache
def _known_of(mechanism: str, name: str) -> list[tuple[Statement, Finding]]:
    """The statements about a property of a mechanism, with what is on record of them."""
    about = [item for item in cell_statements().values() if (item.mechanism, item.property) == (mechanism, name)]
    return [(item, on_record(item, everything(), again=False)) for item in about]


def known_cases(mechanism: str, name: str) -> list[tuple[str, Case]]:
    """The witnesses on record against a property of a mechanism, with the ids of the statements."""
    return [(item.id, found.case) for item, found in _known_of(mechanism, name) if found.case is not None]


def with_record(item: Statement) -> Statement:
    """A claim of one's own with the proof on record that covers it, or with a note of what the nearest proof assumes besides.

    Neither where the mechanism or the property is one's own, or the instances: these may have floors or groups.
    """
    if item.paper != "own" or item.own or not is_ours(item.property) or item.hypotheses.instances is not None:
        return item
    if why := follows(item.mechanism, item.property, item.hypotheses.words):
        return replace(item, proof=Proof(f"it follows from the definition: {why}", why))
    found = ((_lacking(one, item), one) for one in _known_proofs(item))
    lacking, nearest = min(found, key=lambda pair: len(pair[0]), default=([], None))
    if nearest is None or (lacking and item.wants_violation):
        return item
    if lacking:
        return replace(item, note=f"{nearest.id} proves it under more hypotheses: {', '.join(lacking)}")
    return replace(item, proof=Proof(f"{nearest.id}, for {nearest.hypotheses}", str(nearest.proof)))


def _known_proofs(item: Statement) -> Iterator[Statement]:
    """The statements with a proof that the mechanism of a claim has its property, or a stronger one, in all of its answers."""
    words, of_tasks = {*item.hypotheses.words}, item.hypotheses.reports == "tasks"
    into = [arrow for arrow in BETWEEN_MECHANISM_PROPERTIES if arrow.conclusion == item.property and arrow.words <= words]
    names = (item.property, *(arrow.premise for arrow in into))
    for one, found in (pair for name in names for pair in _known_of(item.mechanism, name)):
        is_proved = one.proof and one.quantifier == "all" and found.status == Status.PROVED and found.answers in ("", FOR_ALL)
        if is_proved and (one.hypotheses.reports == "tasks") == of_tasks:
            yield one


def _lacking(proved: Statement, item: Statement) -> list[str]:
    """What a proved statement assumes and a claim does not, in words; values of parameters are covered where they are listed."""
    needs, has, usual = proved.hypotheses, item.hypotheses, MECHANISMS[item.mechanism].parameters
    given = {word for one in has.words for word in (one, *ALSO.get(one, ()))}
    given |= {"everywhere"} if {"one server", "one variant"} <= given else set()
    given |= {f"at least {k} {what}" for what, least in zip(COUNTED, has.fewest, strict=True) for k in range(least + 1)}
    lacking = [word for word in needs.words if word not in {*given, *needs.ranges}]
    for name in {**needs.parameters, **has.parameters}:
        covered = needs.parameters.get(name, (usual.get(name),))
        if not all(value in covered for value in has.parameters.get(name, (usual.get(name),))):
            lacking.append(f"{name} in {', '.join(map(str, covered))}")
    return lacking + [f"at most {proved.misreports} who misreport together"] * (item.misreports > proved.misreports)


def fill(path: str | Path, keys: Iterable[str] = (), seconds: float = 60.0, seed: int = 0) -> list[Finding]:
    """Search for the cells that are open, and put what is found into a file.

    Parameters
    ----------
    path : of ours.json beside this file, or of another file, made where it is not there
    keys : of ours(); none = of all cells that are neither proved nor violated, and, where no violation with positive demands
        is known, of the claims about those
    seconds : for each step of one claim
    seed : of all random numbers
    """
    statements, findings = ours(), []
    for key in keys or _open():
        found = _looked_at(statements[key], seconds, seed)
        findings.append(found)
        if found.status in (Status.REFUTED, Status.NOT_REFUTED):
            write_witnesses(statements, [found], path)
    return findings


def _open() -> Iterator[str]:
    """The claims of cells that are open on record, and those about positive demands where only cases with zeros violate."""
    statements, findings = known_cells()
    cells = cells_of(evidence(statements, findings), our_columns(), ROWS, True)
    for column, name in product(our_columns(), ROWS):
        cell, (key, positive) = cells[name, column], (key_of(column, name, with_zeros) for with_zeros in (False, True))
        case = findings[cell.statement].case if cell.statement else None
        is_violated = cell.symbol in VIOLATIONS and case is not None
        if key in ours() and not is_violated and (cell.symbol != HOLDS or cell.note):
            yield key
        if key in ours() and is_violated and case is not None and not TESTS["positive"](case.instance):
            yield positive


def _looked_at(item: Statement, seconds: float, seed: int) -> Finding:
    start = time.monotonic()
    main = Search(item, seeded(item, seed), Limit(seconds=seconds))
    # 1. and 2.
    best = main.run(smallest(item, _hints(item)))
    if best is None:
        # 3.
        main = Search(replace(item, trial=item.confirm), seeded(item, seed), Limit(seconds=10 * seconds))
        while best is None and not main.limit.reached(0) and (left := ENOUGH - main.trials) > 0:
            main.limit.cases = main.drawn + left
            best = main.run()
    found = concluded(item, main, best, counts(main, seed, seconds))
    few = best is None and main.trials < ENOUGH
    return replace(found, status=Status.NOT_DECIDED if few else found.status, seconds=time.monotonic() - start)


def _hints(item: Statement) -> Iterator[Case]:
    """Its own case, and those on record that violate the property, by whatever mechanism; neither to nor from a claim about
    instances of its own.
    """
    yield from () if item.printed is None else (item.printed,)
    if item.hypotheses.instances is not None:
        return
    alike = ((key, one) for key, one in {**all_statements(), **ours()}.items() if one.property == item.property)
    about = {key for key, one in alike if one.hypotheses.instances is None}  # "positive" means something else of a job
    cases = [parse_case(one["case"]) for one in everything().witnesses if one["statement"] in about]
    names, values = [*item.hypotheses.parameters], item.hypotheses.parameters.values()
    cases += [_without_zeros(case, small) for case in cases for small in SMALL if item.hypotheses.positive]
    for case, chosen in product(cases, product(*values)):
        yield replace(case, parameters=dict(zip(names, chosen, strict=True)))


def _without_zeros(case: Case, small: Fraction) -> Case:
    draft = Draft.of(case)
    for slot in draft.slots():
        if slot.kind in ("demand", "reported", "capacity") and not slot.value:
            slot.set(Fraction(1) if slot.kind == "capacity" else small)
    return draft.case()
