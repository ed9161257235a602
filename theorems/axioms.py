"""What is known of an axiom of a mechanism on all instances up to a size: from the implications, the statements, or a search.

The instances have users with one demand vector, the same on all servers, any weights and eligible servers, no limits, and no idle
server. What is known is, in this order,

1. proved: the axiom follows from the mechanism's definition (implications.py), or a statement about it is proved without any
   condition that such an instance could break,
2. violated: by an exact case of such a size on record, or found by a search,
3. proved under a condition, not refuted in so many cases, violated in floating point, or nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from fairalloc.formulations import MECHANISMS
from fairalloc.models.errors import FairallocError
from fairalloc.theorems.cases import Case
from fairalloc.theorems.cells import FAMILIES, SAME, Column, Evidence, Found, families_of, is_of, scope
from fairalloc.theorems.claims import claim
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.implications import BETWEEN_MECHANISM_PROPERTIES, follows
from fairalloc.theorems.ours import ALPHAS
from fairalloc.theorems.search.investigate import Sought
from fairalloc.theorems.smt.patterns import Size
from fairalloc.theorems.statement import Status

DOMAIN = Hypotheses(no_idle_server=True, users=2)
"""What every instance satisfies."""

Level = IntEnum("Level", "PROVED CONDITIONAL TRIED UNKNOWN IN_FLOATS VIOLATED", start=0)
"""How much is known, the best first."""

DECISIVE = (Level.PROVED, Level.VIOLATED, Level.CONDITIONAL, Level.TRIED, Level.IN_FLOATS, Level.UNKNOWN)
"""The same, what decides first."""

SYMBOLS = ("✓", "±", "○", "?", "~", "✗")

LEGEND = (
    "✓ proved; ± proved under a condition; ○ not refuted; ? not known or not asked; ~ violated in floating point; "
    "✗ violated, by an exact case of this size"
)

SEARCHED: Mapping[str, tuple[Any, ...]] = {
    **{family: values for family, values in ALPHAS.items() if family != FAMILIES[4]},
    "alpha = 1": (1,),
    "alpha = inf": ("inf",),
}
"""The values of alpha with which a family is searched; a family that is not here is not searched."""

OF_A_PROPERTY = {
    "bottleneck-fairness": {"bottleneck", "server bottleneck"},
    "server-bottleneck-fairness": {"bottleneck of a server"},
    "global-bottleneck-fairness": {"global bottleneck"},
    "single-resource-fairness": {"one resource", "bottleneck", "server bottleneck"},
    "single-server-reduction": {"one server", "everywhere", "identical servers"},
}
"""Conditions without which a property is not defined."""


@dataclass(frozen=True)
class AxiomFinding:
    """What is known of one axiom of one mechanism: its level, PROVED to VIOLATED, and why, in words.

    `statement` is the id of the statement that says so, `answers` of which answers it speaks where the mechanism allows several,
    `case` the violation, if there is one of this size.
    """

    level: int
    sentence: str
    statement: str = ""
    answers: str = ""
    case: Case | None = None

    @property
    def symbol(self) -> str:
        return SYMBOLS[self.level]

    def document(self) -> dict[str, Any]:
        kept = {"symbol": self.symbol, "sentence": self.sentence, "statement": self.statement, "answers": self.answers}
        return kept | ({} if self.case is None else {"case": self.case.document()})


def known_of(column: Column, axiom: str, size: Size, found: Found) -> AxiomFinding:
    """What the implications and the statements say."""
    if why := follows(column.mechanism, axiom, _harmless(size, axiom)):
        return AxiomFinding(Level.PROVED, f"follows from the definition: {why}")
    made = [*_of_statements(column, axiom, size, found), _of_the_same(column, axiom, size, found)]
    return min(made, key=lambda one: DECISIVE.index(one.level))


def _of_the_same(column: Column, axiom: str, size: Size, found: Found) -> AxiomFinding:
    """What is known of a mechanism with the same answers: of nb or ps-dsf for alpha = 1 or inf, of drf with one server."""
    same = SAME.get((column.mechanism, column.family), "")
    reduced = column.mechanism != "drf" and follows(column.mechanism, "single-server-reduction", _harmless(size, ""))
    name = same or ("drf" if reduced else "")
    known = known_of(Column(name), axiom, size, found) if name else AxiomFinding(Level.UNKNOWN, "not known")
    if known.level == Level.UNKNOWN:
        return known
    return replace(known, sentence=f"it has the tasks of {name}: {known.sentence}")


def _of_statements(column: Column, axiom: str, size: Size, found: Found) -> Iterator[AxiomFinding]:
    """What statements about it say: that it holds, also by stronger axioms, or that it fails, also by weaker ones."""
    into = (arrow for arrow in BETWEEN_MECHANISM_PROPERTIES if arrow.conclusion == axiom)
    stronger = {arrow.premise for arrow in into if arrow.words <= _harmless(size, axiom)}
    weaker = {arrow.conclusion: arrow.words for arrow in BETWEEN_MECHANISM_PROPERTIES if arrow.premise == axiom}
    for name in (axiom, *sorted(stronger), *sorted(weaker)):
        for one in found.get((column.mechanism, name), ()):
            if column.family in ("", *families_of(one.statement)):
                made = _of_statement(one.within(column.family), axiom, size)
                silent = stronger if made.level >= Level.IN_FLOATS else weaker
                if made.level == Level.UNKNOWN or (name not in silent and is_of(made.case, weaker.get(name, ()))):
                    yield made


def _of_statement(one: Evidence, axiom: str, size: Size) -> AxiomFinding:
    item, finding = one.statement, one.finding
    if one.violated:
        return _violated(one, size)
    if one.violated is None:
        return AxiomFinding(Level.UNKNOWN, "not decided", item.id)
    conditions = (one.assumed | scope(item.mechanism, item.property).intersection(item.hypotheses.words)) - _harmless(size, axiom)
    words = f" if {', '.join(word for word in item.hypotheses.words if word in conditions)}" * bool(conditions)
    if finding.status in (Status.PROVED, Status.BY_MACHINE):
        level = Level.CONDITIONAL if conditions or finding.status == Status.BY_MACHINE else Level.PROVED
        return AxiomFinding(level, f"{finding.status}{words}", item.id, finding.answers)
    level = Level.UNKNOWN if conditions else Level.TRIED
    return AxiomFinding(level, f"not refuted in {finding.trials:,} cases{words}", item.id, finding.answers)


def _violated(one: Evidence, size: Size) -> AxiomFinding:
    """A violation of this size, or that there is one beyond it."""
    item, finding, case = one.statement, one.finding, one.finding.case
    if finding.status == Status.IN_FLOATS:
        return AxiomFinding(Level.IN_FLOATS, "violated in floating point", item.id, finding.answers)
    sizes = () if case is None else (case.instance.N, case.instance.K, case.instance.R)
    fits = all(a <= b for a, b in zip(sizes, size, strict=False))
    if case is None or not (fits and DOMAIN.satisfied_by(replace(case, parameters={}, points=()))):
        return AxiomFinding(Level.UNKNOWN, "violated, but by no case of this kind and size", item.id)
    said = "" if finding.verdict is None else f": {finding.verdict.sentence}"
    return AxiomFinding(Level.VIOLATED, f"violated{said}", item.id, finding.answers, case)


def _harmless(size: Size, axiom: str) -> set[str]:
    """Conditions that no instance of the size breaks."""
    words = set(DOMAIN.words) | OF_A_PROPERTY.get(axiom, set())
    words |= {"one server", "everywhere", "identical servers"} if size[1] == 1 else set()
    return words | ({"one resource"} if size[2] == 1 else set())


def looked_for(
    column: Column, axiom: str, size: Size, seconds: float, trials: int | None, seed: int, known: AxiomFinding
) -> AxiomFinding:
    """What a search for a violation finds; what was known where it finds nothing."""
    if column.family and column.family not in SEARCHED:
        return known
    parameters = {"alpha": SEARCHED[column.family]} if column.family else None
    try:
        asked = claim(f"{column}: {axiom}", MECHANISMS[column.mechanism], axiom, DOMAIN, parameters=parameters)
        with np.errstate(all="ignore"):
            finding, _ = Sought(asked.statement, size).searched_in_a_child(seconds, trials, seed)
    except FairallocError as fault:
        return replace(known, sentence=f"{known.sentence}; not searched: {fault}")
    if finding.case is not None and finding.verdict is not None:
        level = Level.VIOLATED if finding.status == Status.REFUTED else Level.IN_FLOATS
        return AxiomFinding(level, f"violated: {finding.verdict.sentence}", "", finding.answers, finding.case)
    if finding.status != Status.NOT_REFUTED or known.level == Level.CONDITIONAL:
        return known
    return AxiomFinding(Level.TRIED, f"not refuted in {finding.trials:,} cases of this size", "", finding.answers)
