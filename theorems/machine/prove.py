"""A verdict by machine on a statement, for every instance of a size.

1. Make the questions of the statement (claims.py): the negation of the claim for every pattern of instances of this size.
2. Ask each (reals.py). Unsatisfiable in all: proved for all instances of the size.
3. Where one is satisfiable, make the instance, with rational numbers, and let the statement itself confirm the violation, by the
   package's exact answers. Confirmed: refuted. Otherwise the formulas say less than the definition: unknown.
4. A question that is not decided, or whose turn does not come before the limit of the whole call: unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from fairalloc.models.errors import FairallocError, InstanceError
from fairalloc.models.instance import Instance
from fairalloc.solvers.isolated import within
from fairalloc.solvers.method import now
from fairalloc.theorems.cases import Case
from fairalloc.theorems.machine.claims import questions, smallest_size
from fairalloc.theorems.machine.patterns import InstancePattern, Size
from fairalloc.theorems.machine.reals import Question, Reply, ask, second_opinion, version
from fairalloc.theorems.statement import Statement

__all__ = ["MachineVerdict", "prove", "written"]


@dataclass(frozen=True)
class MachineVerdict:
    """What the machine says of a statement at a size.

    Attributes
    ----------
    statement, size : what was asked
    verdict : "proved" (for all instances of the size), "refuted" (by `case`, confirmed by exact answers), or "unknown"
    sentence : the verdict in English
    patterns : questions that were decided
    seconds : time spent
    solvers : names with versions
    covers : what is covered beyond the size, such as parameters
    needed : the assumptions in an unsatisfiable core of some pattern, where asked
    case : the instance that refutes it
    """

    statement: str
    size: Size
    verdict: Literal["proved", "refuted", "unknown"]
    sentence: str
    patterns: int = 0
    seconds: float = 0.0
    solvers: tuple[str, ...] = ()
    covers: str = ""
    needed: tuple[str, ...] = ()
    case: Case | None = field(default=None, compare=False)


def written(size: Size) -> str:
    """The size as in "2x2x2"."""
    return "x".join(map(str, size))


def prove(
    item: Statement, size: Size | None = None, seconds: float = 60.0, *, core: bool = False, judge: bool = False
) -> MachineVerdict:
    """Decide a statement for every instance of a size.

    Parameters
    ----------
    item : the statement
    size : users, servers, resources; None = 2x2x2, or 3x1x2 where it is about one server
    seconds : the limit of the whole call
    core : whether to say which assumptions were needed
    judge : whether cvc5 is asked every question, too

    Returns
    -------
    the verdict

    Raises
    ------
    NotApplicable : there are no formulas for the statement at this size
    """
    chosen = smallest_size(item) if size is None else size
    if len(chosen) != 3 or any(number < 1 for number in chosen):
        raise InstanceError(f"the size is {chosen}, but it must be numbers of users, servers and resources such as 2x2x2")
    start = now()
    asked, covers = questions(item, chosen)
    late = MachineVerdict(item.id, chosen, "unknown", f"unknown: {seconds:g} seconds were not enough", covers=covers)
    found = within(seconds + 1, lambda: _decided(item, chosen, asked, start + seconds, core, judge), late)
    return replace(found, seconds=now() - start, covers=covers, solvers=found.solvers or (version(),))


def _decided(item: Statement, size: Size, asked: Any, deadline: float, core: bool, judge: bool) -> MachineVerdict:
    decided, needed, solvers = 0, set[str](), [version()]
    for question in asked:
        answer = ask(question, deadline, core)
        if answer.outcome == "sat":
            return _refuted(item, size, question, answer)
        if answer.outcome == "unknown":
            sentence = f"unknown after {decided} patterns: not decided for {question.pattern}"
            return MachineVerdict(item.id, size, "unknown", sentence, decided)
        if judge:
            outcome, name = second_opinion(question, max(0.1, deadline - now()))
            if outcome != "unsat":
                return MachineVerdict(item.id, size, "unknown", f"{name} says {outcome} for {question.pattern}", decided)
            solvers[1:] = [name]
        decided, needed = decided + 1, needed | answer.core
    sentence = f"proved for all instances of size {written(size)}"
    return MachineVerdict(item.id, size, "proved", sentence, decided, solvers=tuple(solvers), needed=tuple(sorted(needed)))


def _refuted(item: Statement, size: Size, question: Question, answer: Reply) -> MachineVerdict:
    """Step 3."""
    unsure = MachineVerdict(item.id, size, "unknown", f"unknown: a violation for {question.pattern} is not confirmed exactly")
    if question.shape is None or not answer.values:
        return unsure
    try:
        case = Case(_instance(size, question.shape, answer.values))
        verdict = item.violated(case)
    except FairallocError:
        return unsure
    if verdict is None:
        return unsure
    return MachineVerdict(item.id, size, "refuted", f"refuted: {verdict.sentence}", case=case)


def _instance(size: Size, shape: InstancePattern, values: Mapping[Any, Fraction]) -> Instance:
    users, servers, resources = (range(count) for count in size)
    demands = [[values.get(("d", n, r), Fraction(0)) for r in resources] for n in users]
    capacities = [[values.get(("c", i, r), Fraction(1)) for r in resources] for i in servers]
    placement = [[i in shape.servers[n] for i in servers] for n in users]
    return Instance(demands, capacities, weights=[values["phi", n, 0] / values["phi", 0, 0] for n in users], eligible=placement)
