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

from fairalloc.theorems.cases import Case, Draft, parse_case
from fairalloc.theorems.cells import HOLDS, VIOLATIONS, cells_of, evidence
from fairalloc.theorems.hypotheses import TESTS
from fairalloc.theorems.ours import ROWS, key_of, our_columns, ours
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.investigate import concluded, counts, smallest
from fairalloc.theorems.search.search import Limit, Search, seeded
from fairalloc.theorems.search.witnesses import everything, on_record, write_witnesses
from fairalloc.theorems.statement import Finding, Statement, Status

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
def known_cases(mechanism: str, name: str) -> list[tuple[str, Case]]:
    """The witnesses on record against a property of a mechanism, with the ids of the statements."""
    about = [item for item in cell_statements().values() if (item.mechanism, item.property) == (mechanism, name)]
    cases = [(item.id, on_record(item, everything(), again=False).case) for item in about]
    return [(key, case) for key, case in cases if case is not None]


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
