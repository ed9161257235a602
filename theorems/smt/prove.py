"""A verdict by machine on a statement, for every instance of a size.

1. Make the questions of the statement (claims.py): the negation of the claim for every pattern of instances of this size.
2. Ask each (reals.py). Unsatisfiable in all: proved for all instances of the size.
3. Where one is satisfiable, make the instance, with rational numbers, and let the statement itself confirm the violation, by the
   package's exact answers. Confirmed: refuted. Otherwise the formulas say less than the definition, or it has other answers, too.
4. With a question that is not decided, or not confirmed, or whose turn does not come before the limit of the whole call: unknown.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairalloc.models.errors import FairallocError, InstanceError
from fairalloc.models.instance import Instance
from fairalloc.solvers.method import now
from fairalloc.solvers.running.time_limits import within
from fairalloc.theorems.cases import Case
from fairalloc.theorems.smt.claims import questions, smallest_size
from fairalloc.theorems.smt.patterns import InstancePattern, Size
from fairalloc.theorems.smt.reals import Question, Reply, ask, second_opinion, version
from fairalloc.theorems.smt.record import MachineVerdict
from fairalloc.theorems.statement import Statement

TURN = 20.0
"""Seconds for one pattern, so that others have their turn, of which one may refute the claim."""


def prove(
    item: Statement, size: Size | None = None, time_limit: float = 60.0, *, core: bool = False, judge: bool = False
) -> MachineVerdict:
    """Decide a statement for every instance of a size."""
    chosen = smallest_size(item) if size is None else size
    if len(chosen) != 3 or any(number < 1 for number in chosen):
        raise InstanceError(f"the size is {chosen}, but it must be numbers of users, servers and resources such as 2x2x2")
    start = now()
    asked, covers = questions(item, chosen)
    late = MachineVerdict(item.id, chosen, "unknown", f"unknown: {time_limit:g} seconds were not enough", covers=covers)
    found = within(time_limit + 1, lambda _: _decided(item, chosen, asked, start + time_limit, core, judge), late)
    return replace(found, seconds=now() - start, covers=covers, solvers=found.solvers or (version(),))


def _decided(item: Statement, size: Size, asked: Any, deadline: float, core: bool, judge: bool) -> MachineVerdict:
    decided, needed, solvers, open_ = 0, set[str](), [version()], ""
    for question in asked:
        answer = ask(question, min(deadline, now() + TURN), core)
        if answer.outcome == "sat" and (refuted := _refuted(item, size, question, answer)) is not None:
            return refuted
        if judge and answer.outcome == "unsat":
            outcome, name = second_opinion(question, max(0.1, min(TURN, deadline - now())))
            answer, solvers[1:] = replace(answer, outcome=outcome), [name]
        if answer.outcome == "unsat":
            decided, needed = decided + 1, needed | answer.core
        else:
            why = "a violation is not confirmed exactly" if answer.outcome == "sat" else "not decided"
            open_ = open_ or f"{why} for {question.pattern}"
        if now() > deadline:
            open_ = open_ or f"the time was not enough after {question.pattern}"
            break
    if open_:
        return MachineVerdict(item.id, size, "unknown", f"unknown: {open_}", decided, solvers=tuple(solvers))
    sentence = f"proved for all instances of size {'x'.join(map(str, size))}"
    return MachineVerdict(item.id, size, "proved", sentence, decided, solvers=tuple(solvers), needed=tuple(sorted(needed)))


def _refuted(item: Statement, size: Size, question: Question, answer: Reply) -> MachineVerdict | None:
    """Step 3; None where the violation is not confirmed."""
    if question.shape is None or not answer.values:
        return None
    try:
        case = Case(_instance(size, question.shape, answer.values))
        verdict = item.violated(case)
    except FairallocError:
        return None
    if verdict is None:
        return None
    return MachineVerdict(item.id, size, "refuted", f"refuted: {verdict.sentence}", case=case)


def _instance(size: Size, shape: InstancePattern, values: Mapping[Any, Fraction]) -> Instance:
    users, servers, resources = (range(count) for count in size)
    demands = [[values.get(("d", n, r), Fraction(0)) for r in resources] for n in users]
    capacities = [[values.get(("c", i, r), Fraction(1)) for r in resources] for i in servers]
    placement = [[i in shape.servers[n] for i in servers] for n in users]
    weights = [values["phi", n, 0] / values["phi", 0, 0] for n in users]
    limits = [values.get(("M", n, 0)) for n in users]
    return Instance(demands, capacities, weights=weights, eligible=placement, max_tasks=limits)
