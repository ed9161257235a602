r"""Many small programs of one shape at once: the iteration of program.py on stacks of arrays, one instance after the other.

With one demand vector for each user, products with `load` are small products of matrices (`GridLoads`), which NumPy does for a
whole stack in one call. The equations are those of equations.py for the first round of max_min.py and for nb, with right = 1.

1. Start near an equal partition.
2. Residuals and errors; answers that are good enough, or that no longer become better, leave the stack.
3. Eliminate the users of all others; what is left are systems of size K R.
4. Predictor, corrector and step lengths, each instance its own; every solve is refined once. Go on with 2.

**What is claimed** is what the prices prove, and that is for the judge to say: solve_many.py leaves to `solve` what they do not.
"""

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.equations import ArrowEquations, parts_of
from fairalloc.solvers.interior_point.iterates import NOTHING, PrimalDual
from fairalloc.solvers.interior_point.system import ArrowSystem, Way
from fairalloc.solvers.kkt.loads import GridLoads
from fairalloc.solvers.kkt.schur import Factor

TARGET, ENOUGH = 1e-12, 1e-9
"""The least relative error at which an answer leaves the stack, and that from which it does where two steps do not halve it."""

PATIENCE, STEPS = 8, 60
"""Steps without a smaller error after which an answer leaves, and all steps."""

BACK = 0.9995
"""The part of the way to the boundary that a step goes."""

FLOOR, GUARD = 1e-14, 1e-14
"""The relative gap below which mu is not pushed, and what is added to diagonals, relative."""


@dataclass(frozen=True)
class Stack:
    """B programs of one shape, in units of their users.

    demand : (B, N, R) of a unit
    inverse : (B, K, R) 1 / capacity, 0 where there is none
    is_open : (B, N, K) arcs
    limit : (B, N) in units, inf where there is none
    income : (B, N) weights of nb, which sum to 1; None = max-min
    """

    demand: Floats
    inverse: Floats
    is_open: NDArray[np.bool_]
    limit: Floats
    income: Floats | None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """B, N, K, R."""
        return *self.is_open.shape, self.demand.shape[2]

    @property
    def loads(self) -> GridLoads:
        """Of all arcs, also of those that are closed."""
        nobody = np.empty(0, np.intp)  # the arcs' users and servers are for other factors
        return GridLoads(self.demand, self.inverse, nobody, nobody)

    def take(self, which: NDArray[Any]) -> "Stack":
        """Some of the programs."""
        income = None if self.income is None else self.income[which]
        return Stack(self.demand[which], self.inverse[which], self.is_open[which], self.limit[which], income)


@dataclass(frozen=True)
class StackAnswer:
    """Tasks x (B, N, K) in units, prices (B, K, R), the smallest error of each and the steps it took."""

    x: Floats
    prices: Floats
    error: Floats
    steps: NDArray[np.intp]


def solve_stack(stack: Stack, late: Callable[[], bool] = lambda: False, target: float = TARGET) -> StackAnswer:
    """Tasks and prices of all programs of a stack, at the least error that each met down to a target; `late`: it is over."""
    B, N, K, R = stack.shape
    best = StackAnswer(np.zeros((B, N, K)), np.zeros((B, K, R)), np.full(B, np.inf), np.zeros(B, np.intp))
    since, here = np.zeros(B, np.intp), np.arange(B)  # steps without progress; the programs that are still worked on
    with np.errstate(all="ignore"):  # what overflows is no smaller error
        work = _Points(stack)  # 1
        for step in range(STEPS + 1):
            error, before = work.error(), best.error[here]  # 2
            better = error < before
            progress = better & ((error > ENOUGH) | (error < 0.5 * before))
            since[here] = np.where(progress, 0, since[here] + 1)
            at = here[better]
            best.x[at], best.prices[at], best.error[at], best.steps[at] = work.x[better], work.p[better], error[better], step
            least = best.error[here]
            stay = (least > max(target, TARGET)) & (since[here] < np.where(least > ENOUGH, PATIENCE, 2)) & np.isfinite(error)
            if not stay.any() or step == STEPS or late():
                break
            if not stay.all():
                here, work = here[stay], work.take(stay)
            work.advance()  # 3 and 4
    return best


class _Points(ArrowEquations):
    """The equations of a stack at its present points, whose arrays have one more axis than those of one program, the first."""

    loads: GridLoads

    def __init__(self, stack: Stack) -> None:
        (B, N, K, R), capped = stack.shape, np.isfinite(stack.limit)
        self.stack, self.loads, self.parts = stack, stack.loads, parts_of(N * K, K * R, N)
        self.right, self.left_out, self.most = np.ones(K * R), np.zeros(K * R, bool), np.where(capped, stack.limit, 0.0)
        self.raised, self.level = np.full(N, float(stack.income is None)), np.zeros(N)
        self.paired = np.concatenate([stack.is_open.reshape(B, -1), np.ones((B, K * R + N), bool), capped], axis=1)
        self.central = self.paired.copy()
        self.central[:, self.parts[2]] = stack.income is None
        self._start(capped)

    def take(self, which: NDArray[np.bool_]) -> "_Points":
        """Some of the programs, where they are."""
        result = copy(self)
        result.stack = self.stack.take(which)
        result.loads = result.stack.loads
        result.paired, result.central, result.most = self.paired[which], self.central[which], self.most[which]
        result.now = PrimalDual(self.now.primal[which], self.now.dual[which], self.now.g[which])
        result.lack = result.residuals(result.now)
        return result

    @property
    def x(self) -> Floats:
        """(B, N, K) tasks, in units."""
        return np.asarray(np.maximum(self.split(self.now.primal)[0], 0.0).reshape(self.stack.shape[:3]))

    @property
    def p(self) -> Floats:
        """(B, K, R) prices."""
        return np.asarray(self.split(self.now.dual)[1].reshape(self.stack.inverse.shape))

    def _start(self, capped: NDArray[np.bool_]) -> None:
        """Nearly an equal partition, and prices that are nearly what makes a unit cost the same for all."""
        stack, loads, (B, N, K, R) = self.stack, self.loads, self.stack.shape
        alone = 1.0 / (stack.demand[:, :, None] * stack.inverse[:, None]).max(axis=3)
        x = np.where(stack.is_open, 0.9 * alone / np.maximum(stack.is_open.sum(axis=1), 1)[:, None], 0.0)
        x = (x * np.minimum(1.0, 0.9 * stack.limit / x.sum(axis=2))[:, :, None]).reshape(B, -1)
        u, p, g = loads.totals(x), np.ones((B, K * R)), np.zeros((B, 1))
        if stack.income is None:
            g = 0.5 * u.min(axis=1, keepdims=True)
            y = 0.9 * np.where(stack.is_open, loads.priced(p).reshape(B, N, K), np.inf).min(axis=2)
            p, y = p / y.sum(axis=1, keepdims=True), y / y.sum(axis=1, keepdims=True)
            z, least = np.where(capped, 1e-2 / N, 0.0), 1e-2 * y.mean(axis=1, keepdims=True)
        else:
            y = stack.income / u
            p = p * self.dot(y, u) / (K * R)
            z, least = np.where(capped, 1e-2 * y, 0.0), 1e-1 * loads.of_users(y)
        d = np.maximum(self.reduced(p, y - z), least)
        primal = np.concatenate([x, 1.0 - loads.rows(x), u - g, self.most - u], axis=1)
        self.now = PrimalDual(primal * self.paired, np.concatenate([d, p, y, z], axis=1) * self.paired, g)

    def error(self) -> Floats:
        """(B,) the largest of the relative gap, the residuals and, for nb, what users differ from their demand; inf for nan."""
        stack, t, (_, p, y, z) = self.stack, self.split(self.now.primal)[2], self.split(self.now.dual)
        lack = self.lack = self.residuals(self.now)
        bound = p.sum(axis=1, keepdims=True) + self.dot(z, self.most)
        if stack.income is None:
            parts = [bound / self.now.g - 1.0, *lack]
        else:
            arcs, own = lack.arcs / self.loads.of_users(y), stack.income / (y * t) - 1.0
            parts = [bound / self.dot(y, t) - 1.0, lack.rows, lack.users / t, lack.limits, arcs, own]
        error = np.maximum.reduce([np.abs(part).max(axis=1) for part in parts])
        sound = np.isfinite(error) & ((self.now.g[:, 0] > 0) | (stack.income is not None))
        return np.where(sound, error, np.inf)

    def advance(self) -> None:
        """One Newton step of every program."""
        now, system = self.now, _System(self, self.now, Way("rows", refined=True, negligible=0.0))
        first = system.step(now, self.lack, self.towards(now))
        x, d = (np.divide(1.0, part, out=np.zeros_like(part), where=self.paired) for part in (now.primal, now.dual))
        ahead = self._length(x, first.primal, 1.0), self._length(d, first.dual, 1.0)
        worth = now.g if self.stack.income is None else self.dot(now.primal[:, self.parts[2]], now.dual[:, self.parts[2]])
        wanted = self.mu(now.after(first, *ahead)) ** 3 / self.mu(now) ** 2
        wanted = np.maximum(wanted, FLOOR * worth / self.central.sum(axis=1, keepdims=True))
        step = first.after(system.step(now, NOTHING, self.second_order(now, first, wanted)), 1.0, 1.0)
        self.now = now.after(step, self._length(x, step.primal, BACK), self._length(d, step.dual, BACK))

    def dot(self, one: NDArray[Any], other: NDArray[Any]) -> Any:
        """(B, 1)"""
        return (one * other).sum(axis=1, keepdims=True)

    def mu(self, now: PrimalDual) -> Any:
        """(B, 1) the mean of the products that go to mu."""
        return self.dot(now.primal * now.dual, self.central) / self.central.sum(axis=1, keepdims=True)

    def towards(self, now: PrimalDual) -> Floats:
        """Users of nb change towards what they demand."""
        over = super().towards(now)
        if self.stack.income is not None:
            over[:, self.parts[2]] += self.stack.income / now.dual[:, self.parts[2]]
        return over

    def _length(self, inverse: Floats, change: Floats, part: float) -> Any:
        """(B, 1) how far each goes: at most the whole step, and `part` of the way to the boundary."""
        fastest = -(change * inverse).min(axis=1, keepdims=True)
        return np.minimum(1.0, part / np.maximum(fastest, 1e-300))


class _System(ArrowSystem):
    """The arrows of all present points, users eliminated: one pivot for each, no term of rank one, systems of size K R by LU."""

    loads: GridLoads

    def _pivots(self) -> Any:
        (B, N), K = self.ends.shape, self.loads.K
        return np.arange(B)[:, None], self.theta.reshape(B, N, K).argmax(axis=2) + K * np.arange(N)

    def _factorise_with_border(self, now: PrimalDual) -> None:
        del now
        loads, theta, ends = self.loads, self.theta, self.loads.of_users(self.shaft)
        self.share, self.rho, self.left = self.b / self.shaft, 0.0, 1.0
        self.along = loads.rows(theta * loads.of_users(self.share))
        rest = ends - theta
        rest[self.pivot] = self.others  # the bracket without cancellation
        blocks, coupling = loads.blocks(theta * rest / ends, np.empty(0)), loads.coupling(theta)
        matrix = -(coupling / self.shaft[:, :, None]).transpose(0, 2, 1) @ coupling
        here, along = np.arange(loads.K), np.arange(matrix.shape[1])
        matrix.reshape(-1, loads.K, loads.R, loads.K, loads.R)[:, here, :, here, :] = blocks.transpose(1, 0, 2, 3)
        matrix[:, along, along] = matrix[:, along, along] * (1.0 + GUARD) + self.s
        scale = 1.0 / np.sqrt(matrix[:, along, along])  # to diagonals of 1
        matrix *= scale[:, :, None] * scale[:, None, :]
        self.factor = Factor(lambda right: scale * _solutions(matrix, (scale * right)[:, :, None])[:, :, 0])

    solve = ArrowSystem.refined_once


def _solutions(matrices: Floats, right: Floats) -> Floats:
    """What solves each system; nan where nothing does."""
    result = np.full_like(right, np.nan)
    try:
        result[:] = np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:  # one of them is singular: each by itself
        for k, matrix in enumerate(matrices):
            with suppress(np.linalg.LinAlgError):
                result[k] = np.linalg.solve(matrix, right[k])
    return result
