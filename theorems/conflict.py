"""`fa.conflict`: which mechanisms have several axioms at once, and whether an instance exists on which no allocation can.

1. What is known of each axiom of each mechanism is looked up (axioms.py).
2. Axioms about one profile are properties of an allocation. A mechanism that is proved to have all of these shows that every
   instance has such an allocation.
3. Where no mechanism is known to, instances up to the size are searched for one that has no such allocation, which z3 decides
   exactly (smt/axioms.py); it is made as small as it can be. Axioms without which the rest would be possible there are named.
   Then no mechanism has all of them either.
4. Else violations of what is not known are searched, of mechanisms of which no other axiom is violated.

Axioms about several profiles, such as strategyproofness, say nothing of one instance, and count in steps 1 and 4 alone.
"""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import inf, nan
from textwrap import wrap
from typing import Any

from fairalloc.analysis.explanations.explanation import joined
from fairalloc.analysis.properties import MECHANISM_PROPERTIES
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import MECHANISMS
from fairalloc.models.arguments import Count, Duration, Seed, checked, is_list
from fairalloc.models.errors import InstanceError, UnknownName, no_such, shown
from fairalloc.models.files.python_code import instance_code
from fairalloc.models.instance import Instance
from fairalloc.models.tables import Grid, width
from fairalloc.theorems.axioms import DOMAIN, LEGEND, AxiomFinding, Level, known_of, looked_for
from fairalloc.theorems.cases import Case
from fairalloc.theorems.cells import AT_TWO, JOBS, Column, columns_of, evidence
from fairalloc.theorems.claims import ENDLESS
from fairalloc.theorems.hypotheses import MOST
from fairalloc.theorems.search.investigate import Sought
from fairalloc.theorems.search.our_cells import known_cells
from fairalloc.theorems.smt.patterns import Size
from fairalloc.theorems.statement import Statement
from fairalloc.theorems.titles import is_of_one_pool

PROFILE = (
    *("feasibility", "pareto", "envy-freeness", "total-envy-freeness", "sharing-incentive", "strong-sharing-incentive"),
    *("weak-sharing-incentive", "bottleneck-fairness", "server-bottleneck-fairness", "global-bottleneck-fairness"),
    *("single-resource-fairness", "single-server-reduction"),
)
"""The axioms about one profile: properties of an allocation that smt/axioms.py has formulas of."""

NAMES = (*PROFILE, *MECHANISM_PROPERTIES)

SEARCHING = 0.5
"""The part of the seconds in which instances without an allocation are searched; the rest is left for mechanisms."""

EACH, FEW = 3.0, 1.0
"""The most seconds for one axiom of one mechanism, and where some mechanism has all axioms."""

SECONDS = 60.0
"""For the whole call, where neither seconds nor trials are given."""

KIND = "one demand vector for each user, the same on all servers; any weights and eligible servers; no idle server, no limits"
"""What every instance satisfies, in words."""

METHOD = "linear arithmetic in rationals, z3"


@dataclass(frozen=True, eq=False)
class Conflict:
    """The status of several axioms at once; `print` shows all of it.

    Attributes
    ----------
    axioms : their names
    size : the most users, servers and resources
    mechanisms : {mechanism: {axiom: status}}
    profile : the axioms that are about one profile
    shown_by : the mechanism that has all of `profile` on every instance, "" where none is known to
    instance : an instance on which no allocation has all of `profile`, None where none was found
    core : some of `profile` that no allocation has there, while any fewer of them are possible
    tried : instances that were decided
    unsure : instances among them that the solver did not decide
    seconds : time spent
    """

    axioms: Sequence[str]
    size: Size
    mechanisms: Mapping[str, Mapping[str, AxiomFinding]]
    profile: Sequence[str]
    shown_by: str = ""
    instance: Instance | None = None
    core: Sequence[str] = ()
    tried: int = 0
    unsure: int = 0
    seconds: float = 0.0

    @property
    def having(self) -> list[str]:
        """The mechanisms that are proved to have all axioms."""
        return [name for name, found in self.mechanisms.items() if all(one.level == Level.PROVED for one in found.values())]

    @property
    def undecided(self) -> list[str]:
        """The mechanisms of which it is neither proved nor refuted, at this size, that they have all axioms."""
        most = {name: max(one.level for one in found.values()) for name, found in self.mechanisms.items()}
        return [name for name, level in most.items() if Level.PROVED < level < Level.VIOLATED]

    @property
    def sentence(self) -> str:
        """The mechanisms, and what was found out about allocations."""
        if self.instance is not None:
            return f"{self.existence} So no mechanism has all of these axioms."
        said = f"Mechanisms with all of these axioms: {', '.join(self.having) or 'none is known'}"
        more = f"; not decided: {', '.join(self.undecided)}" * bool(self.undecided)
        return f"{said}{more}. {self.existence}"

    @property
    def existence(self) -> str:
        """Whether every instance has an allocation with the axioms about one profile."""
        names = joined(self.profile, len(NAMES))
        if not self.profile:
            return "No axiom is about one profile, so no single instance can exclude them."
        if self.shown_by:
            of_size = "x".join(map(str, self.size))
            return f"Every instance up to the size {of_size} has an allocation with {names}: that of {self.shown_by}."
        if self.instance is not None:
            shape = f"{self.instance.N}x{self.instance.K}x{self.instance.R}"
            return f"No allocation has {joined(self.core, len(NAMES))} on an instance of size {shape}, the smallest found."
        rest = f"; {self.unsure:,} of them were not decided" * bool(self.unsure)
        return f"No instance without an allocation with {names} was found among {self.tried:,}, which is no proof{rest}."

    @property
    def grid(self) -> Grid:
        """Mechanisms and axioms, one symbol each."""
        rows = [[name, *(found[axiom].symbol for axiom in self.axioms)] for name, found in self.mechanisms.items()]
        parts = zip(self.size, ("user", "server", "resource"), strict=True)
        most = joined([f"{count} {word}{'s' * (count > 1)}" for count, word in parts])
        title = f"Instances of up to {most}: {KIND}; {' and '.join(AT_TWO)} have alpha = 2"
        return Grid(title, ["mechanism", *self.axioms], rows, [LEGEND])

    @property
    def reasons(self) -> list[str]:
        """Why mechanisms have all axioms, an axiom that others lack, and the undecided axioms of the rest.

        Nothing where an instance excludes all mechanisms.
        """
        lines: list[str] = []
        for name, found in self.mechanisms.items() if self.instance is None else ():
            lacking = [(axiom, one) for axiom, one in found.items() if one.level == Level.VIOLATED][:1]
            open_ = [(axiom, one) for axiom, one in found.items() if one.level not in (Level.PROVED, Level.UNKNOWN)]
            told = lacking or (list(found.items()) if name in self.having else open_)
            lines += [f"{name}, {axiom}: {_reason(one)}" for axiom, one in told]
        return lines

    @property
    def code(self) -> str:
        """Python that rebuilds the instance and has it decided again; "" where there is none."""
        if self.instance is None:
            return ""
        call = f"outcome, _ = possible(instance, {list(self.core)!r})"
        head = "from fairalloc import Instance\nfrom fairalloc.theorems.smt.axioms import possible\n"
        return f'{head}\ninstance = {instance_code(self.instance)}\n{call}\nassert outcome == "unsat"'

    def __str__(self) -> str:
        several = [name for name in self.axioms if name not in self.profile]
        said = (
            f"About several profiles, so that mechanisms are asked and a single instance is not: {joined(several, len(NAMES))}."
        )
        lines = [self.grid.text(), *[said, ""] * bool(several)]
        lines += wrap(self.sentence, width(), break_on_hyphens=False)
        for reason in self.reasons:
            lines += wrap(f"- {reason}", width(), subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join([*lines, *(["", self.code] if self.code else [])])

    def __repr__(self) -> str:
        return f"<conflict of {', '.join(self.axioms)}: {self.sentence}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self.grid._repr_html_() + Grid("", ["finding"], [[line] for line in (self.sentence, *self.reasons)])._repr_html_()

    def document(self) -> dict[str, Any]:
        """As JSON."""
        kept = ("axioms", "size", "sentence", "having", "undecided", "profile", "core", "tried", "unsure", "seconds")
        found = {name: {axiom: one.document() for axiom, one in row.items()} for name, row in self.mechanisms.items()}
        case = None if self.instance is None else Case(self.instance).document()
        made = {"hypotheses": str(DOMAIN), "mechanisms": found, "shown by": self.shown_by, "case": case}
        return {name: getattr(self, name) for name in kept} | made


def _reason(one: AxiomFinding) -> str:
    where = f" [{one.statement}]" * bool(one.statement)
    code = "" if one.case is None else " ".join(one.case.code().split())
    own = f": {code.replace('Case( ', 'Case(').replace(', )', ')')}" * bool(code)
    return f"{one.sentence}{where}{f' ({one.answers})' * bool(one.answers)}{own}"


# ---- the call -----------------------------------------------------------------------------------------------------------


@checked
def conflict(
    axioms: Iterable[str],
    size: str = "2x2x2",
    *,
    time_limit: Duration | None = None,
    trials: Count | None = None,
    seed: Seed = 0,
) -> Conflict:
    """Which mechanisms have several axioms at once, and the smallest instance found on which no allocation has them.

    Instances have users with one demand vector, the same on all servers, any weights and eligible servers, and no limits; no
    server is idle (`Hypotheses`). What is proved of a mechanism holds for all of its answers where it has several, unless its
    reason says "for some"; see the pages of the statements that are named.

    Parameters
    ----------
    axioms : properties of allocations, such as "pareto" or "envy-freeness" (W 3.3, K 2.1 and 3.3), and of mechanisms:
        "strategyproofness", "group-strategyproofness", "population-monotonicity"
    size : the most users x servers x resources, such as "2x1x2"; from 2x1x1 to 4x3x3
    time_limit : seconds for the whole call, which takes at most 1.2 times as long and a second more; None = 60 where no trials
        are given, else any
    trials : the most cases of each search; with seconds to spare the result then depends on the seed alone
    seed : of all random numbers

    Returns
    -------
    the result; print it

    Raises
    ------
    UnknownName : there is no such axiom
    InstanceError : no axiom, one that is about neither allocations nor mechanisms, or a size out of range
    NotInstalled : instances are to be decided, and z3 is not there

    Examples
    --------
    >>> found = conflict(["strong-sharing-incentive", "sharing-incentive"], "2x1x1", trials=200)
    >>> found.instance.weights.tolist(), found.core
    ([1.0, 2.0], ('sharing-incentive', 'strong-sharing-incentive'))
    """
    start = time.monotonic()
    asked = _axioms(axioms)
    most = size_of(size, f" from 2x1x1 to {'x'.join(map(str, MOST))}, such as 2x1x2", (2, 1, 1), MOST)
    limit = float(time_limit or (SECONDS if trials is None else ENDLESS))
    profile = [name for name in asked if name in PROFILE]
    rows = _known(asked, most)
    having = [column for column, row in rows.items() if all(row[axiom].level == Level.PROVED for axiom in profile)]
    worst = {column: max(one.level for one in row.values()) for column, row in rows.items()}
    shown_by = min(having, key=lambda column: (bool(column.family), worst[column]), default=None)
    names = {column: column.mechanism + f" ({column.family})" * bool(column.family) for column in rows}
    known = {names[column]: row for column, row in rows.items()}
    made = Conflict(asked, most, known, profile, names[shown_by] if shown_by else "")
    if profile and not shown_by:
        made = _instances(made, SEARCHING * limit, trials, seed)
    if made.instance is None:
        each = inf if trials is not None else FEW if made.having else EACH
        _search_mechanisms(rows, most, start + limit, each, trials, seed)
    return replace(made, seconds=time.monotonic() - start)


def _axioms(given: Any) -> list[str]:
    names = list(given) if is_list(given) else []
    if not names:
        raise InstanceError(f"the axioms are {shown(given)}, but they must be names such as 'pareto' and 'envy-freeness'")
    for name in names:
        if name not in NAMES:
            raise UnknownName(no_such("axiom", name, NAMES))
    return list(dict.fromkeys(names))


def size_of(text: str, rule: str = " such as 2x2x2", least: Size = (1, 1, 1), most: Sequence[float] = (inf, inf, inf)) -> Size:
    """Users, servers, resources of a text such as "2x1x2"; `rule` ends the sentence that says what it must be."""
    match = re.fullmatch(r"(\d+)x(\d+)x(\d+)", text, re.ASCII)
    numbers = tuple(map(int, match.groups())) if match and len(text) < 20 else ()
    if not numbers or not all(low <= number <= high for low, number, high in zip(least, numbers, most, strict=True)):
        raise InstanceError(f"the size is {shown(text)}, but it must be users x servers x resources{rule}")
    return numbers[0], numbers[1], numbers[2]


def _known(asked: Sequence[str], size: Size) -> dict[Column, dict[str, AxiomFinding]]:
    """What is known without a search of every mechanism that is about several servers, or of all where there is one; policies of
    Gavel are about other instances.
    """
    statements, findings = known_cells()
    names = {*MECHANISMS} - {*JOBS}
    about = {name: item for name, item in statements.items() if item.mechanism in names}
    found = evidence(about, findings)
    columns = columns_of(about.values(), names)
    columns = [column for column in columns if size[1] == 1 or not is_of_one_pool(column.mechanism)]
    return {column: {axiom: known_of(column, axiom, size, found) for axiom in asked} for column in columns}


def _search_mechanisms(
    rows: Mapping[Column, dict[str, AxiomFinding]], size: Size, end: float, each: float, trials: int | None, seed: int
) -> None:
    """Look for violations of what is not known, of mechanisms that may still have all axioms; the results go into the rows."""
    open_ = [
        (column, axiom)
        for column, row in rows.items()
        for axiom, one in row.items()
        if one.level in (Level.CONDITIONAL, Level.TRIED, Level.UNKNOWN)
        and all(other.level < Level.VIOLATED for other in row.values())
    ]
    for k, (column, axiom) in enumerate(open_):
        seconds = min(each, (end - time.monotonic()) / (len(open_) - k))
        if seconds > 0 and all(one.level < Level.VIOLATED for one in rows[column].values()):
            rows[column][axiom] = looked_for(column, axiom, size, seconds, trials, seed, rows[column][axiom])


def _instances(known: Conflict, seconds: float, trials: int | None, seed: int) -> Conflict:
    """The result with the smallest instance that is found on which no allocation has the axioms about one profile."""
    from fairalloc.theorems.smt.axioms import possible

    judge = partial(_decided, tuple(known.profile))
    sought = Statement("conflict", "Some allocation has all axioms.", "", "all", judge, judge, DOMAIN)
    finding, _ = Sought(sought, known.size).searched_in_a_child(seconds, trials, seed)
    counted = replace(known, tried=finding.trials, unsure=int(finding.searched.get("undecided", 0)))
    if finding.case is None:
        return counted
    instance, names = finding.case.instance, sorted(known.profile)
    parts = (part for count in range(1, len(names) + 1) for part in combinations(names, count))
    core = next((part for part in parts if possible(instance, part)[0] == "unsat"), tuple(names))
    return replace(counted, instance=instance, core=core)


def _decided(axioms: tuple[str, ...], case: Case) -> Verdict:
    """Whether the instance of a case has an allocation with the axioms."""
    from fairalloc.theorems.smt.axioms import possible

    outcome, _ = possible(case.instance, axioms)
    holds, margin = {"sat": (True, 0.0), "unsat": (False, 1.0)}.get(outcome, (None, nan))
    return Verdict("conflict", holds, margin, f"{outcome}: {', '.join(axioms)}", METHOD)
