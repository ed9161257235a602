"""What stands in a cell of the matrix mechanism x property: one symbol, and behind it what it rests on.

A mechanism with a parameter alpha has a column for each family of its values: below 1, 1, above 1, infinite, and different at
different servers. A violation counts in the family of the case that shows it; what was claimed of the others is not decided.
Where a mechanism allows several answers, a mark says of which the symbol speaks: ∀ for all of them, ∃ for some, ° for the
answer of a method, which the page of the statement names.

A cell also takes what statements about other cells say: alpha-pf-vds has the answers of ps-dsf at alpha = inf, and the tasks of
nb at alpha = 1 (SAME); and one property implies another (implications.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from fairalloc.analysis.solution_sets import UNLISTED
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME
from fairalloc.formulations import MECHANISMS
from fairalloc.theorems.cases import Case
from fairalloc.theorems.hypotheses import TESTS, Hypotheses
from fairalloc.theorems.implications import BETWEEN_MECHANISM_PROPERTIES, BETWEEN_MISREPORTS, follows
from fairalloc.theorems.statement import FAILED, UNFINISHED, Finding, Statement, Status

HOLDS, BY_MACHINE, VIOLATED, WITH_ZEROS, BOTH, TRIED, IN_FLOATS, OPEN, NOT_EXAMINED = "✓M✗⊗±○~?·"

LEGEND = {
    HOLDS: "holds, proved",
    BY_MACHINE: "holds for the sizes that a machine proved",
    VIOLATED: "violated, by an exact case with positive demands",
    WITH_ZEROS: "violated, by an exact case with a demand of 0; none with positive demands is known",
    BOTH: "violated in general, holds under the condition of its note",
    TRIED: "not refuted",
    IN_FLOATS: "violated in floating point, not confirmed in rationals",
    OPEN: "not decided",
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
VIOLATIONS = (VIOLATED, WITH_ZEROS, BOTH)
STRENGTH = (OPEN, TRIED, BY_MACHINE, HOLDS)

FAMILIES = ("alpha < 1", "alpha = 1", "alpha > 1", "alpha = inf", "alpha by server")

USUAL = {"one variant", "same demands", "unlimited", "no idle server", "at least 2 users", "instances of jobs"}
"""What a cell may assume without saying so: of jobs, those of ours.py."""

SCOPE: Mapping[str, str] = {
    "sharing-incentive": "",
    "weak-sharing-incentive": "equal weights",
    "envy-freeness": "",
    "bottleneck-fairness": "bottleneck",
    "pareto": "",
    "strategyproofness": "",
    "group-strategyproofness": "",
    "population-monotonicity": "",
    "uniqueness": "",
    "single-resource-fairness": "one resource",
    "single-server-reduction": "one server",
}
"""The rows of the first table, and of which instances alone each speaks."""

MISREPORTED: Mapping[str, str] = {
    f"{name}-in-{reports}": f"misreported {reports}"
    for name in ("strategyproofness", "group-strategyproofness")
    for reports in ("demands", "servers", "tasks")
}
"""The rows about one kind of misreport alone, in the third table beside those about demands, eligible servers or both."""

POOL = ("drf", "fds", "h-drf", "njc")
"""Mechanisms of one pool, of which every cell is about one server."""

AT_TWO = ("alpha-fair", "fds")
"""Mechanisms of which every cell is about their default, alpha = 2."""

FLAT = {"nested-leximin": "drfh", "nested-nb": "nb", "h-drf": "drf"}
"""Mechanisms that share by groups, and whose answers they have without groups: every cell is about instances without."""

JOBS = ("gavel-makespan", "gavel-max-min")
"""Policies of Gavel: every cell is about jobs with one resource, rates, and time of their own."""

SAME = {
    ("alpha-pf-vds", "alpha = 1"): "nb",
    ("alpha-pf-vds", "alpha = inf"): "ps-dsf",
    **{(own, ""): other for own, other in FLAT.items()},
}
"""Families whose answers, or whose users' tasks, are those of another mechanism (K 16, K Theorem 2)."""


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
        return VIOLATED if self.violated and self.finding.status != Status.IN_FLOATS else MARKS[self.finding.status]

    @property
    def answers(self) -> str:
        """Of which of several answers it speaks; "" where it does not say so."""
        a_method = "for the answer of a method"
        chosen = a_method * (self.statement.mechanism in UNLISTED and self.mark not in (HOLDS, BY_MACHINE))
        return (self.finding.answers or chosen) * (self.statement.property != "uniqueness")

    @property
    def assumed(self) -> set[str]:
        """What it assumes beside what every cell of its row and column does, but for the values of parameters."""
        item = self.statement
        own = scope(item.mechanism, row_of(item))
        words = set(item.hypotheses.words) - {*item.hypotheses.ranges} - USUAL - own
        return words - {"everywhere"} if "one server" in own else words

    @property
    def condition(self) -> str:
        """What it assumes, in the order of the statement."""
        return ", ".join(word for word in self.statement.hypotheses.words if word in self.assumed)

    @property
    def has_zeros(self) -> bool:
        """Whether its case has a demand of 0, or it has no case."""
        case = self.finding.case
        return case is None or not TESTS["positive"](case.instance)

    @property
    def is_within_scope(self) -> bool:
        """Whether its case, if it has one, is an instance of which its row and column speak: without limits, but for the rows
        about them. A matrix of somebody's own claims speaks of their instances.
        """
        case, item = self.finding.case, self.statement
        words = {*scope(item.mechanism, item.property), *["unlimited"] * (item.hypotheses.reports != "tasks")}
        return case is None or item.paper == "own" or is_of(case, words)

    @property
    def size(self) -> tuple[int, ...]:
        """Of its case: users, servers, resources, and the length of the code."""
        case = self.finding.case
        return () if case is None else (case.instance.N, case.instance.K, case.instance.R, len(case.code()))

    def within(self, family: str) -> "Evidence":
        """What it says of one family of alpha."""
        case = self.finding.case
        if not (family and self.violated and case is not None) or family_of(self.statement, case.parameters) == family:
            return self
        return Evidence(self.statement, replace(self.finding, status=Status.NOT_DECIDED, answers=""))


def is_of(case: Case | None, words: Iterable[str]) -> bool:
    """Whether all these words of Hypotheses are true of a case; of no case none is."""
    return all(case is not None and TESTS[word.replace(" ", "_")](case.instance) for word in words)


def scope(mechanism: str, name: str) -> set[str]:
    """Of which instances alone the row and the column speak, in words of Hypotheses."""
    return {word for word in ({**SCOPE, **MISREPORTED}.get(name, ""), "one server" * (mechanism in POOL)) if word}


def row_of(item: Statement) -> str:
    """The row of a statement: its property, with what alone is misreported where that is said."""
    return "-in-".join(filter(None, (item.property, item.hypotheses.reports)))


def evidence(statements: Mapping[str, Statement], findings: Mapping[str, Finding]) -> dict[tuple[str, str], list[Evidence]]:
    """What was found about each (mechanism, property)."""
    found: dict[tuple[str, str], list[Evidence]] = {}
    for item in statements.values():
        if item.mechanism and item.property and item.id in findings:
            found.setdefault((item.mechanism, row_of(item)), []).append(Evidence(item, findings[item.id]))
    return found


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


@dataclass(frozen=True)
class Cell:
    """One cell: a symbol, and a note with the condition or the trials, which is from the statements `others`.

    `statement` is the id of what decides it, where it is violated that of the smallest violation; `why` has the implications
    where no statement does; `answers` says of which of several answers it speaks (analysis/verdict.py).
    """

    symbol: str
    statement: str = ""
    note: str = ""
    others: tuple[str, ...] = ()
    answers: str = ""
    why: str = ""

    @property
    def quantifier(self) -> str:
        """The mark for `answers`."""
        return quantifier_of(self.answers)


def quantifier_of(answers: str) -> str:
    return ANSWERS.get(answers, OF_A_METHOD) if answers else ""


Found: TypeAlias = Mapping[tuple[str, str], Sequence[Evidence]]


def cells_of(
    found: Found, columns: Iterable[Column], properties: Iterable[str], complete: bool
) -> dict[tuple[str, Column], Cell]:
    """The cells by property and column.

    `complete` says whether a cell that no statement is about says "not examined" instead of nothing.
    """
    unknown = Cell(NOT_EXAMINED if complete else "")
    return {(name, column): _at(found, column, name) or unknown for name in properties for column in columns}


def _at(found: Found, column: Column, name: str) -> Cell | None:
    """The cell of a column and a row; None where nothing is known."""
    about = _direct(found, column, name)
    for arrow in (*BETWEEN_MECHANISM_PROPERTIES, *BETWEEN_MISREPORTS):
        if arrow.conclusion == name and arrow.words <= scope(column.mechanism, name):
            about += [one for one in _direct(found, column, arrow.premise) if one.mark in (HOLDS, BY_MACHINE)]
        if arrow.premise == name:
            weaker = _direct(found, column, arrow.conclusion)
            about += [one for one in weaker if one.violated and is_of(one.finding.case, arrow.words)]
    mechanism = SAME.get((column.mechanism, column.family), column.mechanism)
    claimed = [one.statement.hypotheses for one in about if one.statement.paper == "own"]
    told = [{*one.words, *scope(mechanism, "")} for one in claimed] or [{*Hypotheses().words, *scope(mechanism, name)}]
    why = "" if any(one.instances for one in claimed) else follows(mechanism, name, set.intersection(*told))  # floors or groups
    if why and not any(one.statement.own or one.violated or (one.mark == HOLDS and not one.assumed) for one in about):
        return Cell(HOLDS, why=why)
    return _cell(about) if about else None


def _direct(found: Found, column: Column, name: str) -> list[Evidence]:
    """What statements say of a cell, also those about the mechanism with the same answers."""
    about = [one for one in found.get((column.mechanism, name), ()) if column.family in ("", *families_of(one.statement))]
    other = SAME.get((column.mechanism, column.family), "") if name in {**SCOPE, **MISREPORTED} else ""
    about = [one.within(column.family) for one in about] + [*found.get((other, name), ())]
    return [one for one in about if not one.violated or one.is_within_scope]


def _cell(found: Sequence[Evidence]) -> Cell:
    """The strongest evidence; where a violation is known, what holds under more hypotheses than those of all violations."""
    violated = [one for one in found if one.violated]
    if not violated:
        best = max(found, key=_strength)
        return _resting_on(best, best.mark, [best, *(one for one in found if one.mark == TRIED and one.assumed < best.assumed)])
    first = min(violated, key=lambda one: (one.mark != VIOLATED, one.has_zeros, one.size))
    common = set.intersection(*(one.assumed for one in violated))
    holding = [one for one in found if one.violated is False and one.assumed - common]
    known = [(one, _strength(one)[0], one.assumed) for one in holding]  # not what another says as strongly under fewer conditions
    holding = [one for one, strength, assumed in known if not any(s >= strength and a < assumed for _, s, a in known)]
    symbol = WITH_ZEROS if first.mark == VIOLATED and first.has_zeros else first.mark
    proved = first.mark == VIOLATED and any(one.mark in (HOLDS, BY_MACHINE) for one in holding)
    return _resting_on(first, BOTH if proved else symbol, holding)


def _strength(one: Evidence) -> tuple[int, int, int]:
    """By what is known, then by how little is assumed, and by trials where they say all."""
    return STRENGTH.index(one.mark), -len(one.assumed), one.finding.trials * (one.mark == TRIED)


def _resting_on(item: Evidence, symbol: str, noted: Sequence[Evidence]) -> Cell:
    marks = ["" if one is item else one.mark + quantifier_of(one.answers) for one in noted]
    parts = {_note(one, mark): one.statement.id for one, mark in zip(noted, marks, strict=True)}
    parts = {text: name for text, name in parts.items() if text}
    return Cell(symbol, item.statement.id, "; ".join(parts), tuple(parts.values()), item.answers)


def _note(item: Evidence, mark: str) -> str:
    """Such as "✓ if simplex", "120 trials", "2 cases, then the time was over" or "the check failed on 3: KeyError: 'a'"."""
    trials = [f"{item.finding.trials:,} trials"] * (item.mark == TRIED)
    failed = ["".join(item.finding.sentence.partition(FAILED)[1:])] * (FAILED in item.finding.sentence)
    trials += [_tried(item.finding)] * (item.mark == OPEN and not failed and item.finding.searched.get("source") != "record")
    condition = [f"if {item.condition}"] * bool(item.condition)
    return " ".join([*([mark] if mark else []), *trials, *failed, *condition])


def _tried(finding: Finding) -> str:
    """What was tried without a decision."""
    if finding.searched.get(UNFINISHED) == "not begun":
        return "not begun when the time was over"
    over = bool(finding.searched.get("time over")) or not finding.finished
    tried = finding.trials + int(finding.searched.get("undecided", 0))
    why = f"; the last draft was {finding.searched.get('because')}" * ("because" in finding.searched)
    return f"{tried:,} case{'s' * (tried != 1)}" + ", then the time was over" * over + why
