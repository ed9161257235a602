r"""The central path of the game (equations.py), and Newton's method for a point on it: the linear algebra of continuation.py.

1. Evaluate E, its derivatives and the slacks at a point.
2. Eliminate the changes of e, s, t and h. What is left is an arrow, without symmetry (kkt/schur.py).
3. Factorise it.
4. Solve for the Newton step or the tangent, and refine: what the rows still lack at the changes of y is solved for again.

With variables e_ni for E + h, s_ir for the slack and t_n for what is left of a limit, the path is the solutions of

    E(y, k) + h = e,   slack(y) = s,   left(y) = t,   N y_ni e_ni = tau,   k_ir s_ir = tau,   h_n t_n = tau,   tau -> 0

all positive. Newton's unknowns are relative changes: u of k, v of x_n, l of y, m of h. Eliminating those of e, s and t leaves

    e_ni l_ni = q_ni - pull_ni v_n - sum_r share_nir u_ir - h_n m_n    for every arc, q = what is left of N y e = tau, E + h = e
    x_n v_n = sum_i gamma_ni y_ni l_ni,    sum_n w_nir y_ni l_ni - s_ir u_ir = .. (slack),    t_n m_n - x_n v_n / M_n = .. (left)

The last gives m = ((left) + x v / M) / t, so h m is one more pull, c = h x / (M t), and a constant. Of the arrow the parts are

    theta = gamma y (pull + c) / e,    load = w / gamma,    charge = share / (pull + c),    E = x,    S = s,

and what an arc gains, gamma y l, is what it gains at the same prices less what flows away from it, with v = v at the same prices
- l of the arrow. A user with two arcs in use has terms of the size of y / e in the matrix, which differ by what matters:
refinement brings these digits back.

**Users at their limits** (h > t) have a large c and a large constant, so their v is counted from where t does not change for m =
0, v = v' - (left) M / x; then m = x v' / (M t), and no difference is taken.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.equations import LevelEquations
from fairalloc.solvers.kkt.schur import NEGLIGIBLE, Elimination

PRECISE, REFINEMENTS = 1e-2, 3
"""What rows may lack, in units of tau, before solutions are refined, and the most refinements of one."""


class CentralPathPoint(NamedTuple):
    """y, e (A,), k, s (K, R), h, t (N,), all positive, where there is a row or a limit; and theta = log tau."""

    y: Floats
    k: Floats
    e: Floats
    s: Floats
    h: Floats
    t: Floats
    theta: float

    @property
    def tau(self) -> float:
        return float(np.exp(self.theta))

    def times(self, factors: Floats, theta: float) -> "CentralPathPoint":
        y, k, e, s, h, t = (a * b for a, b in zip(self[:6], self.split(factors), strict=True))
        return CentralPathPoint(y, k, e, s, h, t, theta)

    def split(self, values: Floats) -> list[Floats]:
        """Changes or factors, which are flat arrays, of y, k, e, s, h, t."""
        ends = np.cumsum([part.size for part in self[:6]])[:-1]
        return [own.reshape(part.shape) for own, part in zip(np.split(values, ends), self[:6], strict=True)]


def fits(change: Floats) -> float:
    """The part of relative changes, at most 1, that leaves a tenth of everything and multiplies nothing by more than 6."""
    return float(min(1.0, 0.9 / max(-change.min(), 1e-300), 5.0 / max(change.max(), 1e-300)))


class CentralPathNewton:
    """The equations at a point, linearised and factorised."""

    def __init__(self, levels: LevelEquations, point: CentralPathPoint) -> None:
        self.levels, self.point = levels, point
        self.at = levels.derivatives(point.y, point.k)  # 1

    @cached_property
    def error(self) -> float:
        """The largest violation of the equations, in units of tau."""
        point, tau = self.point, self.point.tau
        parts = [np.abs(part).max() for part in self.changes]
        products = np.abs(self.levels.N * point.y * point.e / tau - 1.0).max()
        rows = np.abs(np.where(self.levels.row, point.k * point.s / tau - 1.0, 0.0)).max()
        limits = np.abs(np.where(self.levels.limited, point.h * point.t / tau - 1.0, 0.0)).max()
        return float(max(max(parts) / min(tau, 1.0), products, rows, limits))

    @cached_property
    def changes(self) -> tuple[Floats, Floats, Floats]:
        """E + h - e (A,), slack - s (K, R) and left - t (N,)."""
        levels, point = self.levels, self.point
        s, t = levels.slack(point.y) - point.s, levels.left(self.at.tasks) - point.t
        of_e = np.asarray(self.at.excess + levels.of_user(point.h) - point.e)
        return of_e, np.where(levels.row, s, 0.0), np.where(levels.limited, t, 0.0)

    def correction(self) -> Floats:
        """The Newton step at this tau."""
        point, tau = self.point, self.point.tau
        missing = tau / self.levels.N - point.y * point.e, tau - point.k * point.s, tau - point.h * point.t
        return self._solve(self.changes, *missing)

    def tangent(self, drift: Floats) -> Floats:
        """The change of the solution with log tau; E itself changes by `drift` (A,), where alpha does."""
        tau = self.point.tau
        changes = drift, np.zeros_like(self.point.s), np.zeros_like(self.point.t)
        return self._solve(changes, tau / self.levels.N, tau, tau)

    @property
    def orientation(self) -> float:
        """The sign of the determinant of the linearised equations, 1 or -1: where the path turns, it changes."""
        return self._arrow.factor.sign

    @cached_property
    def _used(self) -> Floats:
        return self.at.tasks / self.levels.limits

    @cached_property
    def _pull(self) -> Floats:
        return np.asarray(self.at.pull + self.levels.of_user(self.point.h * self._used / self.point.t), dtype=float)

    @cached_property
    def _arrow(self) -> Elimination:
        """Steps 2 and 3."""
        levels, point = self.levels, self.point
        theta = levels.gamma * point.y * self._pull / point.e
        s = np.where(levels.row, point.s, 1.0).ravel()
        arrow = Elimination(levels.loads.charged(self.at.share / self._pull[:, None]), theta, self.at.tasks, s)
        arrow.factorise(levels.plan, levels.K * levels.R, NEGLIGIBLE)
        return arrow

    def _solve(self, changes: tuple[Floats, Floats, Floats], products: Any, row_products: Any, limit_products: Any) -> Floats:
        """The step with  E' + h' - de = -of_e,  slack' - ds = -of_s,  left' - dt = -of_t  and y de + e dy and so on as given."""
        levels, point = self.levels, self.point
        of_e, of_s, of_t = changes
        supply, h = np.where(levels.row, of_s - row_products / point.k, 0.0), np.where(levels.limited, point.h, 1.0)
        kept = np.where(levels.limited, limit_products / h - of_t, 0.0)
        l, u, m = self._changes(products / point.y - of_e, supply, kept)  # 4  # noqa: E741 (the letter above)
        e = products / (point.y * point.e) - l
        s = np.where(levels.row, row_products / (point.k * point.s) - u, 0.0)
        t = np.where(levels.limited, limit_products / (h * point.t) - m, 0.0)
        return np.concatenate([part.ravel() for part in (l, u, e, s, m, t)])

    def _changes(self, q: Floats, supply: Floats, kept: Floats) -> tuple[Floats, Floats, Floats]:
        """The changes l (A,), u (K, R), m (N,) for right-hand sides of arcs, rows and limits, refined while rows lack some."""
        levels, point, arrow = self.levels, self.point, self._arrow
        at_limit = levels.limited & (point.h > point.t)
        shift, kept = np.where(at_limit, kept / np.where(at_limit, self._used, 1.0), 0.0), np.where(at_limit, 0.0, kept)
        q = q + self.at.pull * levels.of_user(shift) - levels.of_user(point.h * kept / point.t)
        gained, v = arrow.at_fixed_prices(q / self._pull, self.at.tasks * shift)
        supply, u = supply.ravel(), np.zeros(supply.size)
        lack, size = arrow.loads.rows(gained) - supply, np.inf  # u = 0, and supply is 0 in rows nobody wants
        for _ in range(1 + REFINEMENTS):
            p = arrow.factor.solve(lack)
            priced = arrow.loads.priced(p)
            raised, _, flow = arrow.follow(priced, arrow.loads.totals(arrow.theta * priced), np.zeros_like(v))
            u, v, gained = u + p, v - raised, gained - flow
            lack = np.where(levels.row.ravel(), arrow.loads.rows(gained) - supply - arrow.s * u, 0.0)
            before, size = size, float(np.abs(lack).max())
            if not PRECISE * min(1.0, point.tau) < size < before:
                break
        l = gained / (levels.gamma * point.y)  # noqa: E741 (the letter above)
        return l, np.where(levels.row, u.reshape(levels.K, levels.R), 0.0), (kept + self._used * v) / point.t
