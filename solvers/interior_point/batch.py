r"""Many small programs of one shape at once: the iteration of program.py on stacks of arrays, one instance after the other.

With one demand vector d_n for each user, the load of an arc is d_nr / c_ir, so that with D (N x R) and C = 1 / c (K x R)

    load x = (x^T D) * C,        load^T p = D (p * C)^T,        P_i = sum_n theta_ni d_n d_n^T * C_i C_i^T

are small products of matrices, which NumPy does for a whole stack in one call. Formulas and letters are those of program.py,
max_min.py (first rounds) and alpha_fair.py (alpha = 1), in units of users in which an equal partition is about 1:

    load x + s = 1                                                    p >= 0
    owner x - t = g              g = 0 for nb                         y >= 0
    owner x + r = limit          where there is one                   z >= 0
    x, s, t, r >= 0                                                   d = load^T p - owner^T (y - z) >= 0

1. Start near an equal partition.
2. Residuals and errors; answers that are good enough, or that no longer become better, leave the stack.
3. Eliminate the users of all others; what is left are systems of size K R.
4. Predictor, corrector and step lengths, each instance its own; every solve is refined once. Go on with 2.

**What is claimed** is what the prices prove, and that is for the judge to say: solve_many.py leaves to `solve` what they do not.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import PrimalDual, Residuals

__all__ = ["Stack", "StackAnswer", "solve_stack"]

TARGET = 1e-12
"""The relative error at which an answer leaves the stack: its prices then prove about as much."""

ENOUGH = 1e-9
"""The error from which on an answer leaves where two steps do not halve it."""

PATIENCE = 8
"""Steps without a smaller error after which an answer leaves."""

STEPS = 60

BACK = 0.9995
"""The part of the way to the boundary that a step goes."""

FLOOR = 1e-14
"""The relative gap below which mu is not pushed."""

GUARD = 1e-14
"""Added to diagonals, relative."""

PARTS = (1.0, 0.5, 0.0)
"""Parts of the correction that are tried, from the least that is sensible to all of it."""

CROWDED = 0.8
"""The stack is made smaller when this part of it, or less, is left."""


@dataclass(frozen=True)
class Stack:
    """B programs of one shape, in units of their users.

    Attributes
    ----------
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

    def take(self, which: NDArray[Any]) -> "Stack":
        """Some of the programs."""
        income = None if self.income is None else self.income[which]
        return Stack(self.demand[which], self.inverse[which], self.is_open[which], self.limit[which], income)

    def load(self, x: Floats) -> Floats:
        """(B, K, R) load x, of x (B, N, K)."""
        result: Floats = (x.transpose(0, 2, 1) @ self.demand) * self.inverse
        return result

    def cost(self, p: Floats) -> Floats:
        """(B, N, K) load^T p, of p (B, K, R)."""
        result: Floats = self.demand @ (p * self.inverse).transpose(0, 2, 1)
        return result


@dataclass(frozen=True)
class StackAnswer:
    """Tasks x (B, N, K) in units, prices (B, K, R), the smallest error of each and the steps it took."""

    x: Floats
    prices: Floats
    error: Floats
    steps: NDArray[np.intp]


def solve_stack(stack: Stack, late: Callable[[], bool] = lambda: False) -> StackAnswer:
    """Tasks and prices of all programs of a stack, at the smallest error that each met; `late` says whether the time is over."""
    B, N, K, R = stack.shape
    best = StackAnswer(np.zeros((B, N, K)), np.zeros((B, K, R)), np.full(B, np.inf), np.zeros(B, np.intp))
    since, here = np.zeros(B, np.intp), np.arange(B)  # steps without progress; the programs that are still worked on
    with np.errstate(all="ignore"):  # what overflows is no smaller error
        work = _Points(stack)  # 1
        for step in range(STEPS + 1):
            error, before = work.measured(), best.error[here]  # 2
            better = error < before
            progress = better & ((error > ENOUGH) | (error < 0.5 * before))
            since[here] = np.where(progress, 0, since[here] + 1)
            at = here[better]
            best.x[at], best.prices[at], best.error[at], best.steps[at] = work.x[better], work.p[better], error[better], step
            least = best.error[here]
            stay = (least > TARGET) & (since[here] < np.where(least > ENOUGH, PATIENCE, 2)) & np.isfinite(error)
            if not stay.any() or step == STEPS or late():
                break
            if stay.mean() <= CROWDED:
                here, work = here[stay], work.take(stay)
            work.advance()  # 3 and 4
    return best


class _Points:
    """A stack and its present points: (x, s, t, r) and (d, p, y, z), each joined (B, N K + K R + 2 N), and g (B,).

    Attributes
    ----------
    paired : which primal and dual numbers are both positive;  central : 1 for those whose product goes to mu
    most : (B, N) limits where there are, else 0
    """

    stack: Stack
    paired: NDArray[np.bool_]
    central: Floats
    most: Floats
    primal: Floats
    dual: Floats
    g: Floats
    lack: Residuals

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        B, N, K, R = stack.shape
        self._join_at(N, K, R)
        capped = np.isfinite(stack.limit)
        self.most = np.where(capped, stack.limit, 0.0)
        own = np.ones((B, K * R + N), bool)
        self.paired = np.concatenate([stack.is_open.reshape(B, -1), own, capped], axis=1)
        self.central = self.paired.astype(float)
        if stack.income is not None:
            self.central[:, self.of[2]] = 0.0
        self._start(capped)

    def _join_at(self, N: int, K: int, R: int) -> None:
        """Where the parts of joined numbers are."""
        self.of = [slice(a, b) for a, b in pairwise(np.cumsum([0, N * K, K * R, N, N]).tolist())]

    def take(self, which: NDArray[np.bool_]) -> "_Points":
        """Some of the programs, where they are."""
        result = object.__new__(_Points)
        result.stack, result.of = self.stack.take(which), self.of
        result.lack = Residuals(*(part[which] for part in self.lack))
        for name in ("paired", "central", "most", "primal", "dual", "g"):
            setattr(result, name, getattr(self, name)[which])
        return result

    @property
    def x(self) -> Floats:
        """(B, N, K) tasks, in units."""
        result: Floats = np.maximum(self._split(self.primal)[0], 0.0)
        return result

    @property
    def p(self) -> Floats:
        """(B, K, R) prices."""
        return self._split(self.dual)[1]

    def _split(self, joined: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The parts on arcs (B, N, K), rows (B, K, R), users and limits (B, N)."""
        B, N, K, R = self.stack.shape
        x, s, t, r = (joined[:, part] for part in self.of)
        return x.reshape(B, N, K), s.reshape(B, K, R), t, r

    def _joined(self, x: Floats, s: Floats, t: Floats, r: Floats) -> Floats:
        return np.concatenate([x.reshape(len(t), -1), s.reshape(len(t), -1), t, r], axis=1)

    # ---- step 1 -----------------------------------------------------------------------------------------------------

    def _start(self, capped: NDArray[np.bool_]) -> None:
        """Nearly an equal partition, and prices that are nearly what makes a unit cost the same for all."""
        stack, (B, N, K, R) = self.stack, self.stack.shape
        alone = 1.0 / (stack.demand[:, :, None] * stack.inverse[:, None]).max(axis=3)
        x = np.where(stack.is_open, 0.9 * alone / np.maximum(stack.is_open.sum(axis=1), 1)[:, None], 0.0)
        x *= np.minimum(1.0, 0.9 * stack.limit / x.sum(axis=2))[:, :, None]
        u, p = x.sum(axis=2), np.ones((B, K, R))
        if stack.income is None:
            g = 0.5 * u.min(axis=1)
            y = 0.9 * np.where(stack.is_open, stack.cost(p), np.inf).min(axis=2)
            p, y = p / y.sum(axis=1)[:, None, None], y / y.sum(axis=1)[:, None]
            z, least = np.where(capped, 1e-2 / N, 0.0), 1e-2 * y.mean(axis=1)[:, None, None]
        else:
            g, y = np.zeros(B), stack.income / u
            p = p * ((y * u).sum(axis=1) / (K * R))[:, None, None]
            z, least = np.where(capped, 1e-2 * y, 0.0), 1e-1 * y[:, :, None]
        d = np.maximum(stack.cost(p) - (y - z)[:, :, None], least)
        self.primal = np.where(self.paired, self._joined(x, 1.0 - stack.load(x), u - g[:, None], self.most - u), 0.0)
        self.dual = np.where(self.paired, self._joined(d, p, y, z), 0.0)
        self.g = g

    # ---- step 2 -----------------------------------------------------------------------------------------------------

    def measured(self) -> Floats:
        """(B,) the largest of the relative gap, the residuals and, for nb, what users differ from their demand; inf for nan."""
        stack, (_, _, t, _), (_, p, y, z) = self.stack, self._split(self.primal), self._split(self.dual)
        lack = self.lack = self._residuals()
        bound = p.sum(axis=(1, 2)) + (z * self.most).sum(axis=1)
        if stack.income is None:
            gap, parts = bound / self.g - 1.0, [*lack[:4], lack.g[:, None]]
        else:
            gap = bound / (y * t).sum(axis=1) - 1.0
            own = stack.income / (y * t) - 1.0
            parts = [lack.rows, lack.users / t, lack.limits, lack.arcs / y[:, :, None], own]
        error = np.maximum.reduce([np.abs(gap), *(np.abs(part).reshape(len(part), -1).max(axis=1) for part in parts)])
        sound = np.isfinite(error) & ((self.g > 0) if stack.income is None else True)
        return np.where(sound, error, np.inf)

    def _residuals(self) -> Residuals:
        stack, (x, s, t, r), (d, p, y, z) = self.stack, self._split(self.primal), self._split(self.dual)
        u, most = x.sum(axis=2), self.most
        return Residuals(
            rows=1.0 - stack.load(x) - s,
            users=self.g[:, None] + t - u,
            limits=np.where(np.isfinite(stack.limit), most - u - r, 0.0),
            arcs=np.where(stack.is_open, d - stack.cost(p) + (y - z)[:, :, None], 0.0),
            g=1.0 - y.sum(axis=1) if stack.income is None else np.zeros(len(u)),
        )

    # ---- steps 3 and 4 ----------------------------------------------------------------------------------------------

    def advance(self) -> None:
        """One Newton step of every program."""
        system = _System(self)
        count = self.central.sum(axis=1)
        first = system.step(self.lack, self._towards())
        ahead = self._length(self.primal, first.primal, 1.0), self._length(self.dual, first.dual, 1.0)
        tried = (self.primal + ahead[0] * first.primal) * (self.dual + ahead[1] * first.dual)
        mu = (self.primal * self.dual * self.central).sum(axis=1) / count
        reached = (tried * self.central).sum(axis=1) / count
        wanted = np.maximum(reached**3 / mu**2, FLOOR * self._size() / count)
        second = system.step(None, self._second_order(first, wanted))
        least = ahead[0] * ahead[1]
        part = self._part(self.primal, first.primal, second.primal, least)
        primal, g = first.primal + part * second.primal, first.g + part[:, 0] * second.g
        dual = first.dual + self._part(self.dual, first.dual, second.dual, least) * second.dual
        length = self._length(self.primal, primal, BACK)
        self.dual = self.dual + self._length(self.dual, dual, BACK) * dual
        self.primal, self.g = self.primal + length * primal, self.g + length[:, 0] * g

    def _towards(self) -> Floats:
        """What the primal numbers of the predictor change by where the dual ones stay: users of nb towards their demand."""
        over = np.where(self.paired, -self.primal, 0.0)
        if self.stack.income is not None:
            over[:, self.of[2]] += self.stack.income / self.dual[:, self.of[2]]
        return over

    def _second_order(self, first: PrimalDual, wanted: Floats) -> Floats:
        """The same for the corrector; t y of nb stays the income."""
        wanted_products = wanted[:, None] * self.central - first.primal * first.dual
        return np.divide(wanted_products, self.dual, out=np.zeros_like(self.dual), where=self.paired)

    def _size(self) -> Floats:
        """(B,) what a gap is relative to."""
        if self.stack.income is None:
            return self.g
        result: Floats = (self.primal[:, self.of[2]] * self.dual[:, self.of[2]]).sum(axis=1)
        return result

    def _part(self, values: Floats, first: Floats, second: Floats, least: Floats) -> Floats:
        """(B, 1) the part of the correction, from `least` to 1, with which each can go farthest (Colombo and Gondzio 2008)."""
        first, second = (np.divide(-step, values, out=np.zeros_like(values), where=self.paired) for step in (first, second))
        parts = [least + part * (1.0 - least) for part in PARTS]
        fastest = [np.maximum(1.0, (first + part * second).max(axis=1)) for part in parts]
        result: Floats = np.choose(np.argmin(fastest, axis=0), [part[:, 0] for part in parts])[:, None]
        return result

    def _length(self, values: Floats, change: Floats, part: float) -> Floats:
        """(B, 1) how far each goes: at most the whole step, and `part` of the way to the boundary."""
        fastest = np.divide(-change, values, out=np.zeros_like(values), where=self.paired).max(axis=1)
        result: Floats = np.minimum(1.0, part / np.maximum(fastest, 1e-300))[:, None]
        return result


class _System:
    """The arrows of all present points, users eliminated: `ArrowSystem` of system.py on a stack.

    Attributes
    ----------
    ratio : x / d, s / p, t / y and r / z; `theta`, `s` and `t` are its parts on arcs, rows and users
    v, f : (B, N) z / r and 1 / (1 + t v)
    pivot : (B, N, 1) the arc of each user with the largest theta; its flow is what the others leave
    border : the response to a unit of g; None for nb
    """

    def __init__(self, at: _Points) -> None:
        self.at, self.stack = at, at.stack
        self.ratio = np.divide(at.primal, at.dual, out=np.zeros_like(at.primal), where=at.paired)
        self.theta, self.s, self.t, r = at._split(self.ratio)
        self.v = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)
        self._eliminate()
        self.border = self._solve(np.zeros_like(self.s), self.f) if self.stack.income is None else None

    def _eliminate(self) -> None:
        """The systems of size K R, scaled to diagonals of 1."""
        stack, theta, (B, N, K, R) = self.stack, self.theta, self.stack.shape
        self.pivot = theta.argmax(axis=2)[:, :, None]
        small = theta.copy()
        np.put_along_axis(small, self.pivot, 0.0, axis=2)
        others = small.sum(axis=2) + self.t * self.f
        self.shaft = others + np.take_along_axis(theta, self.pivot, axis=2)[:, :, 0]
        rest = self.shaft[:, :, None] - theta
        np.put_along_axis(rest, self.pivot, others[:, :, None], axis=2)  # the bracket without cancellation
        weights = theta * rest / self.shaft[:, :, None]
        squares = (stack.demand[:, :, :, None] * stack.demand[:, :, None, :]).reshape(B, N, R * R)
        blocks = (weights.transpose(0, 2, 1) @ squares).reshape(B, K, R, R)
        blocks *= stack.inverse[:, :, :, None] * stack.inverse[:, :, None, :]
        self.coupling = (theta[:, :, :, None] * stack.demand[:, :, None, :] * stack.inverse[:, None]).reshape(B, N, K * R)
        matrix = -(self.coupling / self.shaft[:, :, None]).transpose(0, 2, 1) @ self.coupling
        here, along = np.arange(K), np.arange(K * R)
        matrix.reshape(B, K, R, K, R)[:, here, :, here, :] = blocks.transpose(1, 0, 2, 3)
        matrix[:, along, along] = matrix[:, along, along] * (1.0 + GUARD) + self.s.reshape(B, -1)
        self.scale = 1.0 / np.sqrt(matrix[:, along, along])
        self.matrix = matrix * self.scale[:, :, None] * self.scale[:, None, :]

    def _solve_once(self, rows: Floats, users: Floats) -> tuple[Floats, Floats, Floats]:
        right = rows.reshape(len(rows), -1) + ((users / self.shaft)[:, None] @ self.coupling)[:, 0]
        p = self.scale * _solutions(self.matrix, (self.scale * right)[:, :, None])[:, :, 0]
        l = (users + (self.coupling @ p[:, :, None])[:, :, 0]) / self.shaft  # noqa: E741 (the letter of system.py)
        p = p.reshape(rows.shape)
        flow = self.theta * (self.stack.cost(p) - l[:, :, None])
        np.put_along_axis(flow, self.pivot, 0.0, axis=2)
        last = self.t * self.f * l - users - flow.sum(axis=2)
        np.put_along_axis(flow, self.pivot, last[:, :, None], axis=2)
        return p, l, flow

    def _solve(self, rows: Floats, users: Floats) -> tuple[Floats, Floats, Floats]:
        """(dp, dl) and the flow away from each arc for a right-hand side (B, K, R) and (B, N), refined once."""
        answer = self._solve_once(rows, users)
        lack = rows - self.stack.load(answer[2]) - self.s * answer[0]
        p, l, flow = (part + more for part, more in zip(answer, self._solve_once(lack, np.zeros_like(users)), strict=True))  # noqa: E741
        return p, l, flow

    def step(self, lack: Residuals | None, over: Floats) -> PrimalDual:
        """The Newton step that fills what the equations lack (None: nothing); `over` as in system.py."""
        at, t, v, f = self.at, self.t, self.v, self.f
        flow, rows, short, slack = at._split(over)
        arcs, total = np.zeros_like(flow), np.zeros(len(flow))
        if lack is not None:
            flow, rows = flow + self.theta * lack.arcs, rows - lack.rows
            short, slack, arcs, total = lack.users + short, slack - lack.limits, lack.arcs, lack.g
        own = f * (short - t * v * slack)
        p, l, away = self._solve(self.stack.load(flow) + rows, own - flow.sum(axis=2))  # noqa: E741
        g = np.zeros(len(flow))
        if self.border is not None:
            rest = total - (f * v * (short + slack)).sum(axis=1) - (f * l).sum(axis=1)
            g = rest / ((f * self.border[1]).sum(axis=1) + (f * v).sum(axis=1))
            p, away = p + g[:, None, None] * self.border[0], away + g[:, None, None] * self.border[2]
            l = l + g[:, None] * self.border[1]  # noqa: E741
        z = v * (own + f * (g[:, None] - t * l) + slack)
        d = self.stack.cost(p) - l[:, :, None] - arcs
        primal = over - self.ratio * at._joined(d, p, l + z, z)
        primal[:, at.of[0]] = (flow - away).reshape(len(flow), -1)
        return PrimalDual(primal, np.where(at.paired, at._joined(self._own(d, primal, over), p, l + z, z), 0.0), g)

    def _own(self, d: Floats, primal: Floats, over: Floats) -> Floats:
        """The step of d, where that of the pivots follows from their flow."""
        step, flow, x, now = (
            np.take_along_axis(self.at._split(values)[0], self.pivot, axis=2)
            for values in (primal, over, self.at.primal, self.at.dual)
        )
        np.put_along_axis(d, self.pivot, (flow - step) * now / x, axis=2)
        return d


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
