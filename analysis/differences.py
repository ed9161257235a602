r"""Derivatives of tasks by one capacity from answers of the mechanism at capacities next to it.

**In rationals** (`exact_sides`), for linear programs and sequences of them: the quotients at c (1 + h) and c (1 - h), h = STEP,
where nothing is rounded. Where they differ a kink may lie between c and c + h c, and each side counts where h^2 in the place of h
gives the same, or h^3 in the place of h^2, or h^4 in that of h^3. Where shares are rounded, nearer kinks are those of rounding.
The best answers of one linear program over all users need not be unique: two more linear programs tell, over all its best
answers, the most and the least of a sum of tasks with random weights.

**In floating point** (`checked_sides`), with h one of STEPS and q(h) = (u(c + h c) - u(c)) / (h c):

1. A derivative that is known is confirmed where it is both that from c - h c to c + h c and nearly that of each half.
2. Elsewhere each side by itself: a parabola through q(h), q(h / 2) and q(h / 4) gives the limit for h to 0, and the line through
   the last two gives another. An error of u(c), or a kink next to c, is at most 7 times as large as what they are apart.
   The limit is taken where that is within the tolerance, and, where a derivative is known, confirms that; one that this error
   explains is 0. Longer steps are tried only where answers that are off by NOISE explain the difference: so a kink nearer to c
   than that is not seen.

**The tolerance** of a derivative is CHECK times its size, or times what a unit of the capacity can mean for its user, where that
is more: u_n e / c. Here e is the least part of its tasks that a user of this capacity could run on this server alone, at most 1.

A capacity of 0 can only grow, by parts of the largest capacity of its resource.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum_over_optima
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.lexicographic.rule import MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, told_apart
from fairalloc.solvers import solve
from fairalloc.solvers.method import Stopped
from fairalloc.solvers.options import ACCURACY

STEP = Fraction(1, 10**9)
"""The relative step of a re-solve in rationals; what it misses is of this order."""

ROUNDED = 1e-5
"""A derivative below this part of its tolerance is what rounding leaves of 0; derivatives in rationals are right to this part."""

STEPS = (1e-3, 1e-2, 1e-1)
"""The relative steps in floating point, tried one after the other."""

VISIBLE = 1e-9
"""A step is long enough where what it can mean for a user is this part of its tasks: answers are known to about 1e-13."""

CHECK, BENT = 1e-3, 30.0
"""The tolerance of a stated derivative; the quotient of each half may miss it by so many, for tasks may be curved."""

NOISE = 1e-6
"""How far answers may be off, relative to each user's tasks: 1e-7 was seen where a capacity is full at price 0, else 1e-13."""

NOTHING = 8.0
"""A limit of up to so many times what the two are apart is explained by their error, 7 times that, and rounding."""

FOLLOWED = 1e-2
"""How far tasks solved again may be from the given ones, relative to each user's: more is another answer."""


class Neighbours:
    """Answers of a mechanism next to an allocation, in rationals where `exact`; Stopped at the deadline of `perf_counter`."""

    def __init__(self, allocation: Allocation, item: Mechanism, deadline: float, exact: bool) -> None:
        self.allocation, self.item, self.deadline, self.exact = allocation, item, deadline, exact
        self.instance = allocation.instance
        self._found: dict[tuple[int, Any], Allocation] = {}
        here: Any = self._answer(self.instance)
        self.here = here.tasks_exact if exact else here.tasks
        alone = np.bincount(self.instance.arcs.user, self.instance.arcs.gamma)
        own = allocation.shown_tasks
        self.tasks = np.where(own > 0, own, alone)  # of who runs none what it could run
        far = np.abs(here.shown_tasks - own)
        for n in np.flatnonzero(~(far <= FOLLOWED * np.maximum(here.shown_tasks, own)))[:1]:
            user, (again, before) = self.instance.users[n], told_apart(here.tasks[n], own[n])
            raise NotApplicable(f"solved again, {item.id!r} gives user {user!r} {again} tasks instead of {before}")

    def at(self, j: int, part: Any) -> Allocation:
        """The answer where the j-th capacity is larger by a part."""
        if (j, part) not in self._found:
            self._found[j, part] = self._answer(moved(self.instance, j, part))
        return self._found[j, part]

    def _answer(self, instance: Instance) -> Allocation:
        """The mechanism's answer; for a game the one that is reached from the allocation."""
        left = self.deadline - time.perf_counter()
        limit = None if np.isinf(left) else max(left, 1e-3)
        follow = isinstance(self.item, Equilibrium) and instance.A == self.instance.A
        start, method = self.allocation if follow else None, "exact" if self.exact else None
        found = solve(instance, self.item, method, accuracy="high", time_limit=limit, warm_start=start)
        if left <= 0 or found.termination == "time_limit":
            raise Stopped("time_limit", "there was no time left")
        if not found.residual <= ACCURACY["mid"] or (self.exact and found.tasks_exact is None):
            raise NotApplicable("the mechanism could not be solved again")
        if self.exact and isinstance(self.item, Utilitarian | MaxMin) and not self.item.unique:
            self._require_unique(instance, found)
        return found

    def _require_unique(self, instance: Instance, found: Allocation) -> None:
        """NotApplicable where other best answers of the linear program have other tasks."""
        weight = [Fraction(int(w)) for w in np.random.default_rng(0).integers(10**5, 10**6, instance.N)]
        cost = [weight[n] for n in instance.arcs.user]
        best = [maximum_over_optima([sign * v for v in cost], self.item, found) for sign in (1, -1)]
        if any(one is None for one in best) or best[0].value + best[1].value != 0:  # type: ignore[union-attr]
            raise NotApplicable(f"the tasks of {self.item.id!r} are not unique here, so they have no derivatives")

    def tolerance(self, j: int, derivative: Floats) -> Floats:
        """(N,) that of a derivative by the j-th capacity."""
        unit = self.tasks * self._meaning(j) / float(_scale(self.instance, j))
        return CHECK * np.maximum(np.abs(derivative), unit)

    def _meaning(self, j: int) -> float:
        """The least part of its tasks that a user of the j-th capacity could run on this server alone, at most 1."""
        instance = self.instance if self.instance.capacities.flat[j] else moved(self.instance, j, 1.0)
        rows, columns = instance.arcs.load.tocoo().coords
        used = columns[rows == j]
        part = instance.arcs.gamma[used] / self.tasks[instance.arcs.user[used]]
        return float(part.min(initial=1.0))

    def exact_sides(self, j: int, rounded: bool = False) -> Floats:
        """(2, N) quotients to the right and to the left; NotApplicable where the tasks jump at a capacity of 0.

        `rounded` : whether the rationals of the mechanism's shares are those of floats.
        """
        result = np.full((2, self.instance.N), np.nan)
        if self.instance.capacities.flat[j]:
            result[:] = self._quotient(j, STEP), self._quotient(j, -STEP)
            if rounded or self._is_same(j, *result):
                return result
            return np.array([self._settled(j, sign, side) for sign, side in zip((1, -1), result, strict=True)])
        far, near = (self._quotient(j, part) for part in (STEP, STEP / 2))
        if np.any(np.abs(near - far) > self.tolerance(j, near)):
            raise NotApplicable("the tasks jump, or have no finite derivative, where a capacity of 0 grows")
        result[0] = 2.0 * near - far
        return result

    def _is_same(self, j: int, one: Floats, other: Floats) -> bool:
        """Whether quotients in rationals differ by no more than their curve."""
        return bool(np.all(np.abs(one - other) <= ROUNDED * self.tolerance(j, other)))

    def _settled(self, j: int, sign: int, side: Floats) -> Floats:
        """(N,) the first quotient of one side that a shorter step does not change, nan where there is none."""
        for power in (2, 3, 4):
            last, side = side, self._quotient(j, sign * STEP**power)
            if self._is_same(j, last, side):
                return side
        return np.full(self.instance.N, np.nan)

    def _quotient(self, j: int, part: Any) -> Floats:
        """(N,) changes of tasks over the change of the j-th capacity by a part."""
        there: Any = self.at(j, part)
        scale = _scale(self.instance, j)
        if not self.exact:
            return np.asarray((there.tasks - self.here) / (part * float(scale)))
        return np.array([float((b - a) / (part * scale)) for a, b in zip(self.here, there.tasks_exact, strict=True)])

    def checked_sides(self, j: int, known: Floats) -> Floats:
        """(2, N) derivatives by the j-th capacity that answers next to the allocation confirm, nan elsewhere; so `known`."""
        steps = [h for h in STEPS if h * self._meaning(j) >= VISIBLE] or [STEPS[-1]]
        if not self.instance.capacities.flat[j]:
            return np.array([self._side(j, steps, known[0]), np.full(self.instance.N, np.nan)])
        for h in steps if np.isfinite(known).all() else ():
            if self._confirmed(j, h, known):
                return known
        return np.array([self._side(j, [sign * h for h in steps], side) for sign, side in ((1.0, known[0]), (-1.0, known[1]))])

    def _confirmed(self, j: int, h: float, known: Floats) -> bool:
        """Step 1."""
        halves = np.array([self._quotient(j, h), self._quotient(j, -h)])
        allowed = self.tolerance(j, known.mean(axis=0))
        across = np.abs(halves.mean(axis=0) - known).max(axis=0) <= allowed
        return bool(np.all(across & (np.abs(halves - known).max(axis=0) <= BENT * allowed)))

    def _side(self, j: int, steps: list[float], known: Floats) -> Floats:
        """Step 2, (N,)."""
        result, seen = np.full(self.instance.N, np.nan), np.ones(self.instance.N, bool)
        for h in steps:
            one, two, four = (self._quotient(j, h / part) for part in (1, 2, 4))
            limit = (8.0 * four - 6.0 * two + one) / 3.0
            allowed = self.tolerance(j, limit)
            apart = np.abs(limit - (2.0 * four - two))
            limit = np.where(np.abs(limit) <= NOTHING * apart, 0.0, limit)
            sure = seen & (7.0 * apart <= allowed)
            seen &= apart * abs(h) * float(_scale(self.instance, j)) <= NOISE * self.tasks
            sure &= np.isnan(known) | (np.abs(limit - known) <= 2.0 * allowed)
            result = np.where(np.isnan(result) & sure, np.where(np.isnan(known), limit, known), result)
            if np.isfinite(result).all():
                break
        return result


def moved(instance: Instance, j: int, part: Any) -> Instance:
    """The instance with capacity j = i R + r larger by a part of `_scale`; with a Fraction everything stays rational."""
    exact = isinstance(part, Fraction)
    rows: list[list[Any]] = [list(row) for row in (instance.exact if exact else instance).capacities]
    scale = _scale(instance, j)
    rows[j // instance.R][j % instance.R] += part * (scale if exact else float(scale))
    return instance.replace(capacities=rows)


def _scale(instance: Instance, j: int) -> Fraction:
    """The j-th capacity; where it is 0 the largest one of its resource, or 1."""
    i, r = divmod(j, instance.R)
    exact = instance.exact.capacities
    return exact[i][r] or max(row[r] for row in exact) or Fraction(1)


def slopes(instance: Instance, function: Callable[[Instance], Floats]) -> Floats:
    """(2, N, K R) derivatives of numbers of users or arcs by each capacity, to the right and to the left, by differences."""
    here, size = function(instance), instance.K * instance.R
    result = np.zeros((2, len(here), size))
    for j, capacity in enumerate(instance.capacities.ravel()):
        for side, sign in enumerate((1.0, -1.0) if capacity > 0 else ()):
            first, second = (function(moved(instance, j, sign * h)) for h in (1e-6, 5e-7))
            slope = 2.0 * (second - here) / (sign * 5e-7) - (first - here) / (sign * 1e-6)
            result[side, :, j] = slope / capacity
    return result
