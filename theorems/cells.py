"""What stands in a cell of the matrix mechanism x property: one symbol, and behind it what it rests on.

    ✓  holds: the statement has a proof in prose         ✗  violated, by an exact case
    M  holds for the sizes that a machine has proved      ±  violated in general, holds under the condition of its note
    ○  not refuted, in the trials of its note             ~  violated in floating point alone
    ?  not decided                                        ⇒  follows from the mechanism's definition (implications.py)
    ·  not examined

A mechanism with a parameter alpha has a column for each family of its values: below 1, 1, above 1, infinite, and different at
different servers. A violation counts in the family of the case that shows it; what was claimed of the others is not decided.
Where a mechanism allows several answers, a mark says of which the symbol speaks: ∀ for all of them, ∃ for some, ° for the answer
of a method, which the page of the statement names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME
from fairalloc.formulations import MECHANISMS
from fairalloc.theorems.implications import follows
from fairalloc.theorems.machine.record import sizes_proved
from fairalloc.theorems.statement import FAILED, Finding, Statement
from fairalloc.theorems.status import Status

HOLDS, BY_MACHINE, VIOLATED, BOTH, TRIED, IN_FLOATS, OPEN, FOLLOWS, NOT_EXAMINED = "✓M✗±○~?⇒·"
"""The symbols."""

LEGEND = {
    HOLDS: "holds, proved",
    BY_MACHINE: "holds for the sizes that a machine proved",
    VIOLATED: "violated, by an exact case",
    BOTH: "violated in general, holds under the condition of its note",
    TRIED: "not refuted",
    IN_FLOATS: "violated in floating point, not confirmed in rationals",
    OPEN: "not decided",
    FOLLOWS: "follows from the definition",
    NOT_EXAMINED: "not examined",
}

ANSWERS = {FOR_ALL: "∀", FOR_SOME: "∃"}
"""The marks of what is known of all or of some answers, where a mechanism allows several."""

OF_A_METHOD = "°"
"""The mark where the answer of one method was looked at."""

MARKS = {
    Status.PROVED: HOLDS,
    Status.BY_MACHINE: BY_MACHINE,
    Status.NOT_REFUTED: TRIED,
    Status.NOT_DECIDED: OPEN,
    Status.IN_FLOATS: IN_FLOATS,
}
STRENGTH = (OPEN, TRIED, BY_MACHINE, HOLDS)

FAMILIES = ("alpha < 1", "alpha = 1", "alpha > 1", "alpha = inf", "alpha by server")

USUAL = {"one variant", "same demands", "unlimited", "no idle server", "at least 2 users"}
"""What a cell may assume without saying so."""


# ---- evidence --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evidence:
    """One statement about a cell and what was found."""

    statement: Statement
    finding: Finding

    @property
    def violated(self) -> bool | None:
        """Whether the property is violated; None = not decided."""
        if self.finding.status == Status.NOT_DECIDED:
            return None
        if self.finding.status == Status.IN_FLOATS:
            return True
        return (self.finding.status == Status.REFUTED) != self.statement.wants_violation

    @property
    def mark(self) -> str:
        """Its symbol."""
        return VIOLATED if self.violated and self.finding.status != Status.IN_FLOATS else MARKS[self.finding.status]

    @property
    def assumed(self) -> set[str]:
        """What it assumes, in words, but for the values of alpha."""
        return {word for word in self.statement.hypotheses.words if not word.startswith("alpha in ")}

    @property
    def condition(self) -> str:
        """What it assumes beside the usual, or cannot do without; "!" = a violation without this is on record."""
        needed = {name.replace("_", " ") for name in self.finding.needed}
        words = [word for word in self.statement.hypotheses.words if word in self.assumed and word not in USUAL - needed]
        return ", ".join(f"{word}!" if word in needed else word for word in words)

    def within(self, family: str) -> "Evidence":
        """What it says of one family of alpha."""
        case = self.finding.case
        if not (family and self.violated and case is not None) or family_of(self.statement, case.parameters) == family:
            return self
        return Evidence(self.statement, replace(self.finding, status=Status.NOT_DECIDED, answers=""))


def evidence(
    statements: Mapping[str, Statement], findings: Mapping[str, Finding], keep: Callable[[Statement], bool] = lambda _: True
) -> dict[tuple[str, str], list[Evidence]]:
    """What was found about each (mechanism, property).

    Parameters
    ----------
    statements : by id
    findings : by id of the statement
    keep : which statements count

    Returns
    -------
    {(mechanism, property): statements with their findings}
    """
    found: dict[tuple[str, str], list[Evidence]] = {}
    for item in statements.values():
        if item.mechanism and item.property and item.id in findings and keep(item):
            found.setdefault((item.mechanism, item.property), []).append(Evidence(item, findings[item.id]))
    return found


# ---- columns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A mechanism, or one of its families of parameters."""

    mechanism: str
    family: str = ""

    def __str__(self) -> str:
        return f"{self.mechanism}, {self.family}" if self.family else self.mechanism


def columns_of(statements: Iterable[Statement], mechanisms: Iterable[str]) -> list[Column]:
    """The columns of these mechanisms and of those that statements are about, with the families that statements name."""
    about = list(statements)
    families: dict[str, set[str]] = {item: set() for item in (*mechanisms, *(one.mechanism for one in about))}
    split = {item.mechanism for item in about if "alpha" in item.hypotheses.parameters}
    for item in about:
        families[item.mechanism] |= families_of(item) if item.mechanism in split else set()
    return [Column(name, part) for name in sorted(families) for part in sorted(families[name], key=FAMILIES.index) or [""]]


def families_of(item: Statement) -> set[str]:
    """The families of alpha that a statement is about."""
    values = item.hypotheses.parameters.get("alpha")
    return {family_of(item, {})} if values is None else {family_of(item, {"alpha": value}) for value in values}


def family_of(item: Statement, parameters: Mapping[str, Any]) -> str:
    """The family of a case with these parameters; the mechanism's default where alpha is not among them."""
    default = MECHANISMS[item.mechanism].parameters.get("alpha", 2) if item.mechanism in MECHANISMS else 2
    given = parameters.get("alpha", default)
    several = {float(value) for value in (given if isinstance(given, tuple | list) else [given])}
    if len(several) > 1:
        return FAMILIES[4]
    (alpha,) = several
    return FAMILIES[3] if alpha == float("inf") else FAMILIES[(alpha >= 1) + (alpha > 1)]


# ---- cells -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    symbol : what is known
    statement : the id of what decides it, where it is violated that of the violation; "" where no statement does
    size : the largest size for which a machine proved what holds, such as "2x2x2"; "" for none
    note : the condition, or the trials
    others : ids of what the note is from
    answers : of which of several answers it speaks (analysis/verdict.py), "" where there is one
    """

    symbol: str
    statement: str = ""
    size: str = ""
    note: str = ""
    others: tuple[str, ...] = ()
    answers: str = ""

    @property
    def quantifier(self) -> str:
        """The mark for `answers`."""
        return ANSWERS.get(self.answers, OF_A_METHOD) if self.answers else ""


def cells_of(
    found: Mapping[tuple[str, str], Sequence[Evidence]], columns: Iterable[Column], properties: Iterable[str], complete: bool
) -> dict[tuple[str, Column], Cell]:
    """The cells by property and column.

    Parameters
    ----------
    found : what was found about each mechanism and property
    columns, properties : of the matrix
    complete : whether a cell that no statement is about says "not examined" instead of nothing

    Returns
    -------
    {(property, column): cell}
    """
    cells, unknown = {}, Cell(NOT_EXAMINED if complete else "")
    for name in properties:
        for column in columns:
            about = found.get((column.mechanism, name), [])
            about = [
                one.within(column.family) for one in about if not column.family or column.family in families_of(one.statement)
            ]
            default = Cell(FOLLOWS) if follows(column.mechanism, name) else unknown
            cells[name, column] = _cell(about) if about else default
    return cells


def _cell(found: Sequence[Evidence]) -> Cell:
    """The strongest evidence; where a violation is known, what holds under more hypotheses than those of all violations."""
    violated = [one for one in found if one.violated]
    if not violated:
        best = max(found, key=_strength)
        return _resting_on(best, best.mark, [best])
    first = min(violated, key=lambda one: (one.mark != VIOLATED, len(one.assumed)))
    common = set.intersection(*(one.assumed for one in violated))
    holding = [one for one in found if one.violated is False and one.assumed - common]
    holding = [one for one in holding if not any(_weaker(other, one) for other in holding)]
    if not holding:
        return _resting_on(first, first.mark, [])
    best = max(holding, key=_strength)
    proved = first.mark == VIOLATED and best.mark in (HOLDS, BY_MACHINE)
    cell = _resting_on(best, BOTH if proved else first.mark, holding)
    return replace(cell, statement=first.statement.id, answers=first.finding.answers)


def _strength(one: Evidence) -> tuple[int, int, int, int]:
    """By what is known, then by how little is assumed, by the sizes of machine proofs, and by trials where they say all."""
    trials = one.finding.trials * (one.mark == TRIED)
    return STRENGTH.index(one.mark), -len(one.assumed - USUAL), len(sizes_proved(one.statement.id)), trials


def _weaker(one: Evidence, other: Evidence) -> bool:
    """Whether the first says as much under fewer conditions, or the same before the other."""
    return one is not other and _strength(one)[0] >= _strength(other)[0] and one.assumed < other.assumed


def _resting_on(item: Evidence, symbol: str, noted: Sequence[Evidence]) -> Cell:
    sizes = sizes_proved(item.statement.id) if item.mark in (HOLDS, BY_MACHINE) else []
    parts = {_note(one, one.mark if symbol in (BOTH, VIOLATED, IN_FLOATS) else ""): one.statement.id for one in noted}
    parts = {text: name for text, name in parts.items() if text}
    known = item.finding.answers
    return Cell(symbol, item.statement.id, sizes[-1] if sizes else "", "; ".join(parts), tuple(parts.values()), known)


def _note(item: Evidence, mark: str) -> str:
    """Such as "✓ if simplex!", "120 trials" or "the check failed on 3: KeyError: 'a'"."""
    trials = [f"{item.finding.trials:,} trials"] * (item.mark == TRIED)
    condition = [f"if {item.condition}"] * bool(item.condition)
    failed = ["".join(item.finding.sentence.partition(FAILED)[1:])] * (FAILED in item.finding.sentence)
    return " ".join([*([mark] if mark else []), *trials, *failed, *condition])
