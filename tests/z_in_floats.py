"""Claims of Z in floating point: second implementations of what theorems/papers/z decides exactly, by unrelated routes."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog

from fairalloc.analysis.certificates.dual_solutions import nb_gap
from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.market import market
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import holdings_of, max_min_fair, most_of, property_judge
from fairalloc.theorems.papers.z import trials as of_z
from fairalloc.theorems.papers.z import utilities
from fairalloc.theorems.papers.z.trials import trials
from fairalloc.theorems.papers.z.utilities import pivots_of, utilities_of

F = Fraction
SAME = 1e-9
"""Utilities that differ by no more are the same."""


def decided(margin: Any, words: str) -> Verdict:
    """The verdict of a margin in floating point."""
    return Verdict("", not margin > TOLERANCE, float(margin), words, "floating point")


# ---- utilities as linear programs -------------------------------------------------------------------------------------


def utility(instance: Instance, n: int, bundle: Floats) -> float:
    """The most tasks that user n can run with a bundle."""
    demands = np.array(instance.demands[n], dtype=float)
    return float(-linprog(-np.ones(len(demands)), demands.T, bundle).fun)


class Points:
    """What everybody holds in the first and the last point of a case, and its utilities."""

    def __init__(self, case: Case) -> None:
        """Users have no limits."""
        if np.isfinite(case.instance.max_tasks).any():
            raise NotApplicable("about utilities without limits")
        self.instance = case.instance
        self.held = [self._held(point) for point in (case.points[0], case.points[-1])]
        self.alone = np.array([utility(self.instance, n, self.pool) for n in range(self.instance.N)])

    @property
    def pool(self) -> Floats:
        return (self.instance.capacities * self.instance.counts[:, None]).sum(axis=0)

    def _held(self, point: Any) -> Floats:
        arcs = self.instance.arcs
        held = np.zeros((self.instance.N, self.instance.R))
        for n, v, x in zip(arcs.user, arcs.variant, point, strict=True):
            held[n] += float(x) * np.array(self.instance.demands[n][v], dtype=float)
        return held

    def of(self, held: Floats) -> Floats:
        """(N,) utilities."""
        return np.array([utility(self.instance, n, own) for n, own in enumerate(held)])


def concave(case: Case) -> Verdict:
    """At g = 1/4."""
    at = Points(case)
    first, second = at.held
    gaps = 0.25 * at.of(first) + 0.75 * at.of(second) - at.of(0.25 * first + 0.75 * second)
    return decided((gaps / at.alone).max(), "the utility of a mixture")


def continuous(case: Case) -> Verdict:
    """By a step of 2^-30."""
    at = Points(case)
    first, second = at.held
    jump = np.abs(at.of(first) - at.of(first + 2.0**-30 * (second - first))) / at.alone
    return decided(jump.max() - 1e-3, "f jumps")


def homogeneous(case: Case) -> Verdict:
    """At g = 1/5."""
    at = Points(case)
    return decided((np.abs(at.of(at.held[0] / 5) - at.of(at.held[0]) / 5) / at.alone).max(), "the utility of a multiple")


def mixture_fits(case: Case) -> Verdict:
    """At g = 1/4."""
    at = Points(case)
    used = (0.25 * at.held[0] + 0.75 * at.held[1]).sum(axis=0)
    return decided(((used - at.pool) / at.pool.max()).max(), "a mixture")


def claim_2(case: Case, converse: bool) -> Verdict:
    """A higher pivot makes the allocation larger, and with the converse nothing else does."""
    at = Points(case)
    u, v = (at.of(held) for held in at.held)
    changed = np.flatnonzero(np.abs(u - v) > SAME)
    if not len(changed):
        raise NotApplicable("the allocations have no pivot users")
    gap = v[changed].min() - u[changed].min()
    rises = next((b - a for a, b in zip(np.sort(u), np.sort(v), strict=True) if abs(b - a) > SAME), 0.0)
    wrong = (gap > SAME) != (rises > 0) if converse else gap > SAME and not rises > 0
    return decided((gap if gap > SAME else 1.0) if wrong else -1.0, "the pivot has more")


def lemma_3(case: Case) -> Verdict:
    """By a step of 1/64."""
    at = Points(case)
    u, v = (at.of(held) for held in at.held)
    changed = np.flatnonzero(np.abs(u - v) > SAME)
    own = [n for n in changed if u[n] - u[changed].min() <= SAME and v[n] > u[n] + SAME]
    if not own:
        raise NotApplicable("no pivot has more")
    w = at.of(at.held[0] + (at.held[1] - at.held[0]) / 64)
    return decided(max((u[n] - w[n]) / (v[n] - u[n]) for n in own) + 1 / 128, "the pivot gains nothing")


def step_of_theorem_1(name: str) -> Callable[[Case], Verdict]:
    """Improved where all pivots have more (Z.Cor1.all), which need not be seen but where it is, is so."""

    def improved(h: Holdings, start: Any, end: Any) -> bool:
        u, v = utilities_of(h, start), utilities_of(h, end)
        pivots = pivots_of(u, v)
        return bool(pivots) and all(v[n] > u[n] for n in pivots)

    def second(case: Case) -> Verdict:
        with patch.object(utilities, "improved", improved):
            return trials[name].confirm(case)

    return second


def larger_by_counting(case: Case) -> Verdict:
    """Case 1: at the least level where the numbers of users with at most that differ, Y' has fewer."""
    at = utilities.Manipulation(case)
    utilities.only_where(at.rise > 0, "the pivots of Y' do not have more")
    levels = sorted({*at.by_truth[0], *at.by_truth[1]})
    counts = [[sum(bool(value <= level) for value in values) for values in at.by_truth] for level in levels]
    before, after = next((pair for pair in counts if pair[0] != pair[1]), (0, 0))
    return decided(-1 if after < before else 1, "Y' is not larger")


def midpoint(case: Case) -> Verdict:
    """In the mean nobody who differs has less than the least of their utilities; for f(c) = sum of log(1 + c_r)."""
    first, second, different = utilities.taken(case)
    u, v, middle = (
        [float(np.log1p(np.array(c, dtype=float)).sum()) for c in part] for part in (first, second, utilities.mean(first, second))
    )
    least = min(min(u[n], v[n]) for n in different)
    return decided((least - min(middle[n] for n in different)) / max(*u, *v), "the least utility falls")


def bought_in_a_market(case: Case) -> Verdict:
    """The allocation of nb is bought in a market of equal incomes (Proposition 5)."""
    return decided(market(solve(case.reported, "nb", accuracy="high")).residual, "no market equilibrium at these prices")


NEAR = 1e-5
"""How much of resource 1 everybody who leaps has at least."""


@dataclass(frozen=True)
class Leapers:
    """Allocations in which some users have at least `floor` of resource 1, and all others nothing of it.

    Attributes
    ----------
    h : demands and pools
    leap : whether user n is one of them
    """

    h: Holdings
    leap: tuple[bool, ...]

    def most(self, floor: Any) -> Any:
        """The largest least utility f, None where there is no such allocation."""
        return self._largest(0, floor)

    def _largest(self, which: int, other: Any) -> Any:
        """The largest of (least utility, floor), where the other one is given."""
        h, arcs = self.h, self.h.instance.arcs
        size, count = h.instance.N, len(arcs)
        own = h.zeros(size, count)
        own[arcs.user, np.arange(count)] = h.array(np.ones(count, dtype=int))
        leap, one = h.array([int(v) for v in self.leap]), h.array([1])[0]
        zero, ones = h.zeros(size, 1), h.zeros(size, 1) + one
        f = np.hstack([-own * h.demand.sum(axis=1), ones if which == 0 else zero])
        first = np.hstack([own * h.demand[:, 0], zero])
        floors = np.hstack([-own * h.demand[:, 0], ones if which == 1 else zero])[self.leap, :]
        load = np.hstack([h.demand.T, h.zeros(h.instance.R, 1)])
        rows = np.concatenate([f, first[[not v for v in self.leap]], floors, load])
        least = leap * 10 - (other if which == 1 else 0)
        sides = [least, h.zeros(size - sum(self.leap)), h.zeros(sum(self.leap)) - (other if which == 0 else 0), h.pools[0]]
        only = h.zeros(count + 1)
        only[count] = one
        found = maximum(only, rows, np.concatenate(sides), h.exact)
        return None if found is None else found.value


def least_utility_is_attained(case: Case) -> Verdict:
    """By what is lost where everybody who leaps has a little of resource 1."""
    h = Holdings(Allocation(case.instance, np.zeros(len(case.instance.arcs))), False)
    everybody = [Leapers(h, leap) for leap in product((False, True), repeat=case.instance.N)]
    found = [(who.most(0.0), who.most(NEAR)) for who in everybody]
    best = max(value for value, near in found if near is not None)
    attained = any(near is not None and best - near <= NEAR * TOLERANCE for _, near in found)
    return decided(-1.0 if attained else 1.0, f"the least utility can be as near to {best} as wanted")


# ---- Proposition 2: NB by a barrier method that counts its Newton steps -------------------------------------------------

FACTOR = 10.0
CLOSE = 0.1
"""Newton's decrement squared at which t is raised: well inside of the region of quadratic convergence."""

CENTRE = 1e-8
"""The same at the end. Prices 1 / (t s) are off by its root, relative; those after the next step, which are taken, by itself."""

MOST = 1000
"""The most Newton steps."""


def centre_path(instance: Instance, accuracy: float) -> tuple[Floats, Floats, int]:
    """Tasks (A,), prices (K R,) in parts of capacity, and how many Newton steps it took to a gap of `accuracy` sum w."""
    arcs, weights = instance.arcs, instance.weights
    own = np.zeros((instance.N, len(arcs)))
    own[arcs.user, np.arange(len(arcs))] = arcs.gamma
    load = arcs.load.toarray() * arcs.gamma
    # 1.
    y, t, steps = np.full(len(arcs), 0.5 / len(arcs)), 1.0, 0
    barriers = load.shape[0] + len(y)
    while steps < MOST:
        # 2.
        slope, root = _derivatives(own, load, weights, t, y)
        step = y * np.linalg.solve(root, np.linalg.solve(root.T, slope))
        decrement, last = float(slope @ (step / y)), barriers * 2.0 / t <= accuracy * weights.sum()
        # 3.
        if last and decrement <= CENTRE:
            break
        # 4.
        if decrement <= CLOSE and not last:
            t *= FACTOR
            continue
        # 5.
        y = _moved(own, load, weights, t, y, step, decrement)
        steps += 1
    # 6.
    s = 1.0 - load @ y
    return y * arcs.gamma, (1.0 + load @ step / s) / (t * s), steps


def _value(own: Floats, load: Floats, weights: Floats, t: float, y: Floats) -> float:
    s = 1.0 - load @ y
    if min(y.min(), s.min()) <= 0:
        return -np.inf
    return float(t * weights @ np.log(own @ y) + np.log(y).sum() + np.log(s).sum())


def _derivatives(own: Floats, load: Floats, weights: Floats, t: float, y: Floats) -> tuple[Floats, Floats]:
    """By log y: the gradient, and R with R^T R the negative of the second derivatives in parts of y, 1 and a part for each log.

    By QR, since R^T R has entries 1 / s^2, next to which the 1 would be lost.
    """
    u, s = own @ y, 1.0 - load @ y
    slope = y * (t * own.T @ (weights / u) + 1.0 / y - load.T @ (1.0 / s))
    parts = np.vstack([np.eye(len(y)), own * y * (np.sqrt(t * weights) / u)[:, None], load * y / s[:, None]])
    return slope, np.asarray(np.linalg.qr(parts, mode="r"))


def _moved(own: Floats, load: Floats, weights: Floats, t: float, y: Floats, step: Floats, decrement: float) -> Floats:
    now, size = _value(own, load, weights, t, y), 1.0
    while _value(own, load, weights, t, y + size * step) < now + 0.1 * size * decrement and size > 1e-12:
        size /= 2.0
    result: Floats = y + size * step
    return result


def proved_gap(instance: Instance, x: Any, prices: Any) -> Fraction:
    """In rationals, what any feasible allocation can have more of sum w log u than the tasks x."""
    arcs = exact_arcs(instance)
    exact = [F(float(v)) for v in x]
    over = max([F(1), *arcs.loads(exact)])
    tasks = arcs.tasks([v / over for v in exact])
    return nb_gap(arcs, instance.exact.weights, tasks, tuple(F(float(p)) for p in prices), (F(0),) * instance.N)


def few_newton_steps(case: Case) -> Verdict:
    """Newton steps of the barrier method to an answer within 1e-6 sum w of the optimum, proved in rationals."""
    x, prices, steps = centre_path(case.reported, TOLERANCE / 10)
    gap = proved_gap(case.reported, x, prices) / sum(case.reported.exact.weights)
    holds = steps <= of_z.STEPS if gap <= TOLERANCE else None
    return Verdict("polynomial-time", holds, steps - of_z.STEPS, f"{steps} Newton steps", "a barrier method")


# ---- LMMF by its iterations, and misreports with what is left ------------------------------------------------------------


def as_printed(case: Case) -> Verdict:
    """III-A to the letter: round t places users who cannot have more without loss of users placed in rounds before t."""
    h, size = holdings_of(solve(case.reported, "lmmf")), case.reported.N
    levels: list[Any] = [None] * size
    for t in range(size):
        level = min(u for u, known in zip(h.tasks, levels, strict=True) if known is None)
        protected = np.array([known if known is not None else level if t == 0 else 0.0 for known in levels])
        placed = [n for n in range(size) if levels[n] is None and most_of(h, n, protected) - level / h.alone[n] <= 1e-7]
        if not placed:
            return decided(1.0, f"round {t + 1} places nobody, at {level} tasks")
        for n in placed:
            levels[n] = level
        if None not in levels:
            break
    return decided(max(abs(a - b) / g for a, b, g in zip(levels, h.tasks, h.alone, strict=True)), "it ends elsewhere")


def inside_one_allocation(case: Case) -> Verdict:
    """The test of iteration 1 inside the case's point Y: who gains nothing from what Y leaves is placed for good."""
    h, at = holdings_of(solve(case.reported, "lmmf")), Points(case)
    (held, _), least = at.held, min(h.tasks)
    if np.abs(at.of(held) - least).max() > SAME * at.alone.min():
        raise NotApplicable("the point is not an allocation of iteration 1")
    left = np.maximum(at.pool - held.sum(axis=0), 0)
    stuck = at.of(held + left) - least <= SAME * at.alone
    return decided(((h.tasks - least) / at.alone)[stuck].max(initial=-1.0), "somebody is placed too low")


def wasteful_mmf(case: Case) -> Verdict:
    """The case's point, where it is max-min fair, is Pareto optimal."""
    at = Allocation(case.instance, np.array(case.points[0], dtype=float))
    if not max_min_fair(case, lambda _: at).holds:
        raise NotApplicable("the point is not max-min fair")
    return property_judge("pareto")(case, lambda _: at)


def misreporting_with_leftovers(case: Case) -> Verdict:
    """A misreport where the user can also use what is unused after it."""
    assert case.misreport is not None
    h, reported = (holdings_of(solve(one, "lmmf")) for one in (case.instance, case.reported))
    bundles = reported.bundles + np.maximum(reported.pools - reported.bundles.sum(axis=0), 0)
    gains = [(h.utilities(n, bundles[n : n + 1])[0] - h.tasks[n]) / h.alone[n] for n in case.misreport.users]
    return decided(min(gains), "a misreporting user runs more with its bundle and the unused resources")


SECOND = {
    "Z.C1": mixture_fits,
    "Z.L1": concave,
    "Z.L2": continuous,
    "Z.P5.homogeneous": homogeneous,
    "Z.C2": partial(claim_2, converse=True),
    "Z.C2.if": partial(claim_2, converse=False),
    "Z.L3": lemma_3,
    **{f"Z.T1.{name}": step_of_theorem_1(f"Z.T1.{name}") for name in ("pivot", "case2", "case3")},
    "Z.T1.case1": larger_by_counting,
    "Z.VI.unique": midpoint,
    "Z.P5.CEEI": bought_in_a_market,
    "Z.P2": few_newton_steps,
    "Z.V.NB.CE": few_newton_steps,
    "Z.VI.results.LMMF": least_utility_is_attained,
    "Z.P3": as_printed,
    "Z.MMF.pareto": wasteful_mmf,
    "Z.III.procedure.inside": inside_one_allocation,
    "Z.T1.leftovers": misreporting_with_leftovers,
}
"""Of what one exact route, or the check of a script, tries and confirms, by statement."""
