r"""The central path of the game (levels.py), and Newton's method for a point on it: the linear algebra of continuation.py.

1. Evaluate E, its derivatives and the slacks at a point.
2. Divide the arcs into weak and strong ones. Eliminate the changes of e and s, of y on weak arcs, and of the users' tasks.
3. Factorise the dense matrix that remains for the prices and the strong arcs, after scaling its rows and columns.
4. Solve for the Newton step or the tangent, with one step of iterative refinement, and substitute back.

With variables e_ni for E and s_ir for the slack, the path is the solutions of

    E(y, k) = e,   slack(y) = s,   N y_ni e_ni = tau,   k_ir s_ir = tau,        y, k, e, s > 0,    tau -> 0

Newton's unknowns are relative changes: u of k, v of x_n, l of y. Eliminating the changes of e and s leaves

    g_ni l_ni = q_ni - pull_ni v_n - sum_r share_nir u_ir              for every arc, q = what is left of N y e = tau and E = e
    x_n v_n = sum_i gamma_ni y_ni l_ni,      sum_n w_nir y_ni l_ni - s_ir u_ir = .. (slack)

*Weak* arcs (y / e not large) and users (x_n > 0) can be eliminated without cancellation. *Strong* arcs are kept as unknowns:
their e tends to 0, and dividing by it is how Schur complements lose all digits where prices are degenerate. The remaining matrix
is dense, with a row for each of the K R prices and of the about N + K arcs in use.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.levels import Booleans, LevelEquations

__all__ = ["CentralPathNewton", "CentralPathPoint"]

STRONG = 1e3
"""An arc is strong if its N y / e is larger."""

MAX_STRONG_ARCS = 3000
"""With identical users on identical servers all arcs could be strong; only those with the largest N y / e are then."""


@dataclass(frozen=True)
class CentralPathPoint:
    """y, e (N, K), k, s (K, R), all positive where there is an arc or a row, and theta = log tau."""

    y: Floats
    k: Floats
    e: Floats
    s: Floats
    theta: float

    @property
    def tau(self) -> float:
        """How far from complementarity."""
        return float(np.exp(self.theta))

    def times(self, factor: "Change", theta: float) -> "CentralPathPoint":
        """The point with every number multiplied."""
        return CentralPathPoint(self.y * factor.y, self.k * factor.k, self.e * factor.e, self.s * factor.s, theta)


@dataclass(frozen=True)
class Change:
    """Relative changes of y, k, e, s."""

    y: Floats
    k: Floats
    e: Floats
    s: Floats

    def plus(self, other: "Change", part: float) -> "Change":
        """Self + part * other."""
        return Change(*(a + part * b for a, b in zip(self.all, other.all, strict=True)))

    def times(self, part: float) -> "Change":
        """Part * self."""
        return Change(*(part * a for a in self.all))

    def exp(self) -> "Change":
        """The factors of the four arrays whose logarithms change by these numbers, clipped to [-20, 3]."""
        return Change(*(np.exp(np.clip(a, -20.0, 3.0)) for a in self.all))

    def factors(self, part: float) -> "Change":
        """1 + part * self."""
        return Change(*(1.0 + part * a for a in self.all))

    @property
    def all(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four arrays."""
        return self.y, self.k, self.e, self.s

    @property
    def fits(self) -> float:
        """The part of the step, at most 1, that leaves a tenth of everything and multiplies nothing by more than 6."""
        lowest, highest = min(a.min() for a in self.all), max(a.max() for a in self.all)
        return float(min(1.0, 0.9 / max(-lowest, 1e-300), 5.0 / max(highest, 1e-300)))


def _strong(levels: LevelEquations, point: CentralPathPoint) -> Booleans:
    """(N, K) arcs that are not eliminated: y / e is large, but never more than MAX_STRONG_ARCS of them."""
    ratio = np.where(levels.arc, levels.N * point.y / point.e, 0.0)
    least = (
        STRONG
        if ratio.size <= MAX_STRONG_ARCS
        else max(STRONG, np.partition(ratio, -MAX_STRONG_ARCS, axis=None)[-MAX_STRONG_ARCS])
    )
    result: Booleans = ratio > least
    return result


class CentralPathNewton:
    """The equations at a point, linearised and factorised."""

    def __init__(self, levels: LevelEquations, point: CentralPathPoint) -> None:
        self.levels, self.point = levels, point
        self.at = levels.derivatives(point.y, point.k)  # 1
        self.strong = _strong(levels, point)  # 2
        self.d = np.where(levels.arc & ~self.strong, point.y / point.e, 0.0)

    @cached_property
    def error(self) -> float:
        """The largest violation of the four equations, in units of tau."""
        point, tau = self.point, self.point.tau
        parts = np.abs(self.change_of_e()).max(), np.abs(self.change_of_s()).max()
        products = np.abs(self.levels.N * point.y * point.e / tau - self.levels.arc).max()
        rows = np.abs(np.where(self.levels.row, point.k * point.s / tau - 1.0, 0.0)).max()
        return float(max(max(parts) / min(tau, 1.0), products, rows))

    def change_of_e(self) -> Floats:
        """(N, K) E - e."""
        result: Floats = np.where(self.levels.arc, self.at.excess - self.point.e, 0.0)
        return result

    def change_of_s(self) -> Floats:
        """(K, R) slack - s."""
        result: Floats = np.where(self.levels.row, self.levels.slack(self.point.y) - self.point.s, 0.0)
        return result

    def correction(self) -> Change:
        """The Newton step at this tau."""
        point, tau = self.point, self.point.tau
        return self._solve(
            self.change_of_e(),
            self.change_of_s(),
            np.where(self.levels.arc, tau / self.levels.N - point.y * point.e, 0.0),
            np.where(self.levels.row, tau - point.k * point.s, 0.0),
        )

    def tangent(self, drift: Floats) -> Change:
        """The change of the solution with log tau; E itself changes by `drift` (N, K), where alpha does."""
        tau = self.point.tau
        products = np.where(self.levels.arc, tau / self.levels.N, 0.0)
        return self._solve(drift, np.zeros_like(self.point.s), products, np.where(self.levels.row, tau, 0.0))

    @cached_property
    def _factors(self):  # type: ignore[no-untyped-def]
        """LU of the equilibrated matrix, the matrix and its scales, and what eliminates the users."""
        levels, point, at, d = self.levels, self.point, self.at, self.d
        n, i = np.nonzero(self.strong)
        rows, size = levels.K * levels.R, levels.K * levels.R + len(n)
        index, arcs = np.arange(rows).reshape(levels.K, levels.R), np.arange(rows, size)
        weak = levels.gamma * d
        D = at.tasks + (weak * at.pull).sum(axis=1)
        to_u = (weak[:, :, None] * at.share).reshape(levels.N, rows) / D[:, None]  # v_n = .. - to_u u + to_l l
        to_l = levels.gamma[n, i] * point.y[n, i] / D[n]
        wd = levels.w * d[:, :, None]
        pulled = (wd * at.pull[:, :, None]).reshape(levels.N, rows)

        M = np.zeros((size, size))
        M[:rows, :rows] = pulled.T @ to_u
        M[index[:, :, None], index[:, None, :]] -= np.matmul(wd.transpose(1, 2, 0), at.share.transpose(1, 0, 2))
        M[np.arange(rows), np.arange(rows)] -= np.where(levels.row, point.s, 1.0).ravel()
        M[:rows, arcs] = -pulled[n].T * to_l
        M[index[i].T, arcs] += (levels.w[n, i] * point.y[n, i][:, None]).T
        M[arcs, :rows] = -at.pull[n, i][:, None] * to_u[n]
        M[arcs[:, None], index[i]] += at.share[n, i]
        M[rows:, rows:] = (n[:, None] == n) * np.outer(at.pull[n, i], to_l)
        M[arcs, arcs] += point.e[n, i]
        across = np.abs(M).max(axis=1)  # 3
        M /= across[:, None]
        down = np.maximum(np.abs(M).max(axis=0), 1e-300)
        M /= down
        return lu_factor(M, check_finite=False), M, across, down, D, to_u, to_l, pulled, n, i

    def _solve(self, of_e: Floats, of_s: Floats, products: Floats, row_products: Floats) -> Change:
        """Solve for E' - de = -of_e, slack' - ds = -of_s, y de + e dy = products, k ds + s dk = row_products."""
        levels, point, at, d = self.levels, self.point, self.at, self.d
        lu, M, across, down, D, to_u, to_l, pulled, n, i = self._factors
        q = np.where(levels.arc, products / np.where(levels.arc, point.y, 1.0) - of_e, 0.0)
        dq = d * q
        v0 = (levels.gamma * dq).sum(axis=1) / D
        supply = np.where(levels.row, of_s - row_products / point.k - np.einsum("nir,ni->ir", levels.w, dq), 0.0).ravel()
        right = np.concatenate([supply + v0 @ pulled, q[n, i] - at.pull[n, i] * v0[n]]) / across
        z = lu_solve(lu, right, check_finite=False)  # 4
        z = (z + lu_solve(lu, right - M @ z, check_finite=False)) / down
        u, strong = z[: levels.K * levels.R], z[levels.K * levels.R :]
        v = v0 - to_u @ u
        np.add.at(v, n, to_l * strong)
        u = u.reshape(levels.K, levels.R)
        change = (q - at.pull * v[:, None] - np.einsum("nir,ir->ni", at.share, u)) / point.e
        change[n, i] = strong
        u = np.where(levels.row, u, 0.0)
        of_slack = np.where(levels.arc, products / np.where(levels.arc, point.y * point.e, 1.0) - change, 0.0)
        return Change(
            np.where(levels.arc, change, 0.0), u, of_slack, np.where(levels.row, row_products / (point.k * point.s) - u, 0.0)
        )
