r"""The weights at which a property is violated most while everything else of a case stays fixed, by a linear or mixed-integer
program.

Where users differ by weights w, a mechanism depends on x_n / w_n alone. So fix, of an answer, c_n = x_n / w_n, which
arcs are idle and which capacities are full; the weights and tasks that keep these,

    sum_i x_ni = c_n w_n,   load(x) <= 1, = 1 where full,   x = 0 where idle,   sum w = 1,   w >= LEAST / N,

are a polytope, and each of its points is an answer for its weights: the prices of nb, the multipliers of the rounds of leximin,
the equations of Problem 1 and the bottlenecks of PS-DSF depend on x_n / w_n, idle arcs and full capacities only. For njc, where w
are the entitlements, all its answers are the points of a mixed-integer program, for any bottlenecks (njc.py (b), with w a
variable). It is not so for drf-per-server and uniform, which depend on x_ni / w_n, for utilitarian, and for (22) with A and B
both positive, where the scale of z counts: there such a point need not be an answer.

Over these points violations are linear: of two answers with the same w, to the true instance and to a misreport or without a
user; of a bundle that another would use; of what a part of every server would run; of a better allocation y. The largest is
found by HiGHS; its weights, rounded to simple rationals, are then tried by the search as any others.

Steps of `worst_weights`:

1. Cases without such a program are left out.
2. The answers to the case, with the constraints above (`WeightProgram.answer`), and each violation as a linear function of them.
3. The largest value of each violation over the polytope, and the weights that attain it (`WeightProgram.largest`).
4. The weights of the largest, rounded to rationals with small denominators.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.strategyproofness import useful, without
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import FairallocError
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import ALGORITHM
from fairalloc.theorems.checkers.trials import Undecided, answered

if TYPE_CHECKING:
    import cvxpy as cp

METHOD = {"ps-dsf": ALGORITHM}
"""The method, where it is not the fastest one: that at whose answers the claims are tried (checkers/game.py, `fair`)."""

LEAST = 0.02
"""The least weight, as a part of an equal one."""

SIMPLE = 100
"""The largest denominator of a weight, as a part of the largest."""

NEAR = 1e-7
"""What is full or idle, relative to the capacity or to a task that runs alone."""


@dataclass(frozen=True)
class VariableAnswer:
    """Tasks as a variable (A,), what they are at the case itself, and the numbers of that allocation."""

    x: "cp.Variable"
    allocation: Allocation

    @property
    def instance(self) -> Instance:
        """On which the tasks are."""
        return self.allocation.instance

    @property
    def alone(self) -> Floats:
        """(N,) tasks that the best arc of each user could run alone: the unit of violations."""
        result: Floats = Holdings(self.allocation, False).alone
        return result

    def tasks(self, n: int, worth: Any = 1.0) -> "cp.Expression":
        """What user n runs, an arc's tasks worth so much."""
        own = (self.instance.arcs.user == n) * worth
        return own @ self.x


class WeightProgram:
    """Weights (N,), the answers that keep to them, and their constraints."""

    def __init__(self, case: Case, mechanism: str) -> None:
        import cvxpy

        self.cp: Any = cvxpy
        self.case, self.mechanism = case, mechanism
        self.total = case.instance.weights.sum()
        self.w = cvxpy.Variable(case.instance.N, name="w")
        self.constraints = [cvxpy.sum(self.w) == 1, self.w >= LEAST / case.instance.N]

    def answer(self, instance: Instance, users: Any = slice(None)) -> VariableAnswer:
        """The mechanism's answer to an instance that has these of the users."""
        parameters = tuple(self.case.parameters.items())
        allocation = answered(self.mechanism, METHOD.get(self.mechanism), parameters, instance)
        answer = VariableAnswer(self.cp.Variable(len(allocation.instance.arcs), nonneg=True), allocation)
        made, w = (_complaints, self.w) if self.mechanism == "njc" else (_pattern, self.total * self.w)
        self.constraints += made(self.cp, answer, w[users])
        return answer

    def largest(self, violation: "cp.Expression") -> tuple[float, Floats] | None:
        """The largest value and the weights that have it."""
        problem = self.cp.Problem(self.cp.Maximize(violation), self.constraints)
        try:
            problem.solve(solver=self.cp.HIGHS)
        except self.cp.SolverError:
            return None
        return None if self.w.value is None else (float(problem.value), np.asarray(self.w.value))


def _pattern(cp: Any, answer: VariableAnswer, w: "cp.Expression") -> list[Any]:
    """The same tasks for a unit of weight, idle arcs and full capacities; w as in the instance."""
    instance, x = answer.instance, answer.allocation.x
    arcs, rate = instance.arcs, answer.allocation.tasks / instance.weights
    full, idle = arcs.load @ x >= 1 - NEAR, x <= NEAR * arcs.gamma
    return [
        arcs.owner @ answer.x == cp.multiply(rate, w),
        arcs.load @ answer.x <= 1,
        arcs.load[full] @ answer.x == 1,
        answer.x[idle] == 0,
    ]


def _complaints(cp: Any, answer: VariableAnswer, w: "cp.Expression") -> list[Any]:
    """A full request, or at least w_i of a full resource; the one arc of a user carries its tasks."""
    arcs, limits = answer.instance.arcs, answer.instance.max_tasks
    whole = np.minimum(arcs.gamma, limits[arcs.user])
    share = arcs.load.T.toarray()
    full, content = cp.Variable(share.shape[1], boolean=True), cp.Variable(share.shape[0], boolean=True)
    reason = cp.Variable(share.shape, boolean=True)
    rows, columns = np.nonzero(share == 0)
    return [
        arcs.load @ answer.x <= 1,
        arcs.load @ answer.x >= full,
        answer.x <= whole,
        answer.x >= cp.multiply(whole, content),
        cp.sum(reason, axis=1) + content >= 1,
        reason <= np.ones((len(whole), 1)) @ full[None, :],
        reason[rows, columns] == 0,
        cp.multiply(share, answer.x[:, None] @ np.ones((1, share.shape[1]))) >= w[:, None] - (1 - reason),
    ]


# ---- violations -----------------------------------------------------------------------------------------------------

Violations: TypeAlias = Iterator["cp.Expression"]


def pareto(program: WeightProgram) -> Violations:
    """Another allocation y in which nobody has less, and what all gain together."""
    answer = program.answer(program.case.reported)
    arcs, y = answer.instance.arcs, program.cp.Variable(answer.x.shape, nonneg=True)
    program.constraints += [arcs.load @ y <= 1, arcs.owner @ y >= arcs.owner @ answer.x]
    yield (1 / answer.alone[arcs.user]) @ (y - answer.x)


def sharing(program: WeightProgram) -> Violations:
    """What a user runs with its part of every server, and what it has."""
    answer = program.answer(program.case.reported)
    for n in range(answer.instance.N):
        whole = answer.instance.arcs.gamma[answer.instance.arcs.user == n].sum()
        yield (whole * program.w[n] - answer.tasks(n)) / answer.alone[n]


def envy(program: WeightProgram) -> Violations:
    """What n runs with the bundle of m, for a unit of m's weight as with a unit of its own."""
    answer = program.answer(program.case.reported)
    instance = answer.instance
    rate = answer.allocation.tasks / instance.weights * program.total
    for n, m in permutations(range(instance.N), 2):
        better = answer.tasks(m, useful(instance, instance, m, n))
        yield (better - rate[n] * program.w[m]) / answer.alone[n]


def misreporting(program: WeightProgram) -> Violations:
    """The smallest gain of the users who misreport."""
    misreport, truth = program.case.misreport, program.case.instance
    if misreport is None:
        return
    honest, reported = program.answer(truth), program.answer(program.case.reported)
    after = [reported.tasks(n, useful(reported.instance, honest.instance, n, n)) for n in misreport.users]
    gains = [(part - honest.tasks(n)) / honest.alone[n] for n, part in zip(misreport.users, after, strict=True)]
    yield program.cp.min(program.cp.hstack(gains))


def leaving(program: WeightProgram) -> Violations:
    """What one user loses when another leaves."""
    truth = program.case.instance
    before = program.answer(truth)
    for k in range(truth.N if truth.N > 1 else 0):
        stay, common = [n for n in range(truth.N) if n != k], list(program.constraints)
        after = program.answer(without(truth, k), stay)
        for j, n in enumerate(stay):
            yield (before.tasks(n) - after.tasks(j)) / before.alone[n]
        program.constraints = common


VIOLATIONS: Mapping[str, Callable[[WeightProgram], Violations]] = {
    "pareto": pareto,
    "sharing-incentive": sharing,
    "envy-freeness": envy,
    "strategyproofness": misreporting,
    "group-strategyproofness": misreporting,
    "population-monotonicity": leaving,
}
"""The violations that are linear, by the property."""


def worst_weights(case: Case, mechanism: str, name: str) -> Case | None:
    """The case with the weights of the largest violation; None where there is no program, or it is not solved.

    Programs are for one demand vector a user, and without limits except for njc.
    """
    # 1.
    instances = (case.instance, case.reported)
    one_way = all(instance.single_variant for instance in instances)
    unlimited = mechanism == "njc" or all(np.isinf(instance.max_tasks).all() for instance in instances)
    if name not in VIOLATIONS or not (one_way and unlimited) or (mechanism == "njc" and name == "envy-freeness"):
        return None
    # 2. and 3.
    program = WeightProgram(case, mechanism)
    try:
        found = [best for violation in VIOLATIONS[name](program) if (best := program.largest(violation)) is not None]
    except (FairallocError, Undecided):  # the mechanism does not take the parameters of the case, or has no answer
        return None
    if not found:
        return None
    # 4.
    _, w = max(found, key=lambda best: best[0])
    weights = [Fraction(v).limit_denominator(SIMPLE) or Fraction(1, SIMPLE) for v in w / w.max()]
    return Case(case.instance.replace(weights=weights), case.misreport, case.points, case.parameters)
