r"""The central path of the game (equations.py), and Newton's method for a point on it: the linear algebra of continuation.py.

1. Evaluate E, its derivatives and the slacks at a point.
2. Divide the arcs into weak and strong ones. Eliminate the changes of e and s, of y on weak arcs, and of the users' tasks.
3. Factorise the dense matrix that remains for the prices and the strong arcs, after scaling its rows and columns.
4. Solve for the Newton step or the tangent, with one step of iterative refinement, and substitute back.

With variables e_ni for E + h, s_ir for the slack and t_n for what is left of a limit, the path is the solutions of

    E(y, k) + h = e,   slack(y) = s,   left(y) = t,   N y_ni e_ni = tau,   k_ir s_ir = tau,   h_n t_n = tau,   tau -> 0

all positive. Newton's unknowns are relative changes: u of k, v of x_n, l of y, m of h. Eliminating those of e, s and t leaves

    e_ni l_ni = q_ni - pull_ni v_n - sum_r share_nir u_ir - h_n m_n    for every arc, q = what is left of N y e = tau, E + h = e
    x_n v_n = sum_i gamma_ni y_ni l_ni,    sum_n w_nir y_ni l_ni - s_ir u_ir = .. (slack),    t_n m_n - x_n v_n / M_n = .. (left)

*Weak* arcs (y / e not large) and users (x_n > 0) can be eliminated without cancellation. *Strong* arcs are kept as unknowns:
their e tends to 0, and dividing by it is how Schur complements lose all digits where prices are degenerate. The remaining matrix
is dense, with a row for each of the K R prices, of the about N + K arcs in use, and of the limits.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.equations import Booleans, LevelEquations, NewtonOptions

__all__ = ["CentralPathNewton", "CentralPathOptions", "CentralPathPoint"]


@dataclass(frozen=True)
class CentralPathOptions(NewtonOptions):
    """Of the linear algebra.

    Attributes
    ----------
    strong : an arc is strong if its tasks (in units of an equal part), divided by its complementary slack, are larger
    max_strong_arcs : the most strong arcs; with identical users on identical servers all arcs could be strong, and only those
        with the largest quotients are then
    """

    strong: float = 1e3
    max_strong_arcs: int = 3000


@dataclass(frozen=True)
class CentralPathPoint:
    """y, e (N, C), k, s (K, R), h, t (N,), all positive, where there is an arc, a row or a limit; and theta = log tau."""

    y: Floats
    k: Floats
    e: Floats
    s: Floats
    h: Floats
    t: Floats
    theta: float

    @property
    def tau(self) -> float:
        """How far from complementarity."""
        return float(np.exp(self.theta))

    def times(self, factor: "Change", theta: float) -> "CentralPathPoint":
        """The point with every number multiplied."""
        y, k, e, s, h, t = factor.all
        return CentralPathPoint(self.y * y, self.k * k, self.e * e, self.s * s, self.h * h, self.t * t, theta)


@dataclass(frozen=True)
class Change:
    """Relative changes of y, k, e, s, h, t."""

    y: Floats
    k: Floats
    e: Floats
    s: Floats
    h: Floats
    t: Floats

    def plus(self, other: "Change", part: float) -> "Change":
        """Self + part * other."""
        return Change(*(a + part * b for a, b in zip(self.all, other.all, strict=True)))

    def times(self, part: float) -> "Change":
        """Part * self."""
        return Change(*(part * a for a in self.all))

    def exp(self) -> "Change":
        """The factors of the arrays whose logarithms change by these numbers, clipped to [-20, 3]."""
        return Change(*(np.exp(np.clip(a, -20.0, 3.0)) for a in self.all))

    def factors(self, part: float) -> "Change":
        """1 + part * self."""
        return Change(*(1.0 + part * a for a in self.all))

    @property
    def all(self) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
        """The six arrays."""
        return self.y, self.k, self.e, self.s, self.h, self.t

    @property
    def fits(self) -> float:
        """The part of the step, at most 1, that leaves a tenth of everything and multiplies nothing by more than 6."""
        lowest, highest = min(a.min() for a in self.all), max(a.max() for a in self.all)
        return float(min(1.0, 0.9 / max(-lowest, 1e-300), 5.0 / max(highest, 1e-300)))


def _strong(levels: LevelEquations, point: CentralPathPoint, options: CentralPathOptions) -> Booleans:
    """(N, C) arcs that are not eliminated: y / e is large, but never more than `max_strong_arcs` of them."""
    ratio = np.where(levels.arc, levels.N * point.y / point.e, 0.0)
    least, most = options.strong, options.max_strong_arcs
    if 0 < most < ratio.size:
        least = max(least, np.partition(ratio, -most, axis=None)[-most])
    result: Booleans = ratio > least
    return result


class CentralPathNewton:
    """The equations at a point, linearised and factorised."""

    def __init__(
        self,
        levels: LevelEquations,
        point: CentralPathPoint,
        options: CentralPathOptions = CentralPathOptions(),
    ) -> None:
        self.levels, self.point = levels, point
        self.at = levels.derivatives(point.y, point.k)  # 1
        self.strong = _strong(levels, point, options)  # 2
        self.d = np.where(levels.arc & ~self.strong, point.y / point.e, 0.0)

    @cached_property
    def error(self) -> float:
        """The largest violation of the equations, in units of tau."""
        point, tau = self.point, self.point.tau
        parts = [np.abs(part).max() for part in (self.change_of_e(), self.change_of_s(), self.change_of_t())]
        products = np.abs(self.levels.N * point.y * point.e / tau - self.levels.arc).max()
        rows = np.abs(np.where(self.levels.row, point.k * point.s / tau - 1.0, 0.0)).max()
        limits = np.abs(np.where(self.levels.limited, point.h * point.t / tau - 1.0, 0.0)).max()
        return float(max(max(parts) / min(tau, 1.0), products, rows, limits))

    def change_of_e(self) -> Floats:
        """(N, C) E + h - e."""
        result: Floats = np.where(self.levels.arc, self.at.excess + self.point.h[:, None] - self.point.e, 0.0)
        return result

    def change_of_t(self) -> Floats:
        """(N,) left - t."""
        result: Floats = np.where(self.levels.limited, self.levels.left(self.at.tasks) - self.point.t, 0.0)
        return result

    def change_of_s(self) -> Floats:
        """(K, R) slack - s."""
        result: Floats = np.where(self.levels.row, self.levels.slack(self.point.y) - self.point.s, 0.0)
        return result

    def correction(self) -> Change:
        """The Newton step at this tau."""
        point, tau = self.point, self.point.tau
        return self._solve(
            (self.change_of_e(), self.change_of_s(), self.change_of_t()),
            np.where(self.levels.arc, tau / self.levels.N - point.y * point.e, 0.0),
            np.where(self.levels.row, tau - point.k * point.s, 0.0),
            np.where(self.levels.limited, tau - point.h * point.t, 0.0),
        )

    def tangent(self, drift: Floats) -> Change:
        """The change of the solution with log tau; E itself changes by `drift` (N, C), where alpha does."""
        tau, levels = self.point.tau, self.levels
        changes = drift, np.zeros_like(self.point.s), np.zeros_like(self.point.t)
        products = np.where(levels.arc, tau / levels.N, 0.0)
        return self._solve(changes, products, np.where(levels.row, tau, 0.0), np.where(levels.limited, tau, 0.0))

    @cached_property
    def _factors(self):  # type: ignore[no-untyped-def]
        """LU of the equilibrated matrix, the matrix and its scales, and what eliminates the users."""
        from scipy.linalg import lu_factor

        levels, point, at, d = self.levels, self.point, self.at, self.d
        n, c = np.nonzero(self.strong)
        bound = np.flatnonzero(levels.limited)
        rows = levels.K * levels.R
        size = rows + len(n) + len(bound)
        index = np.arange(rows).reshape(levels.K, levels.R)
        arcs, limits = np.arange(rows, rows + len(n)), np.arange(rows + len(n), size)
        weak = levels.gamma * d
        D = at.tasks + (weak * at.pull).sum(axis=1)
        to_u = (
            levels.by_server(weak[:, :, None] * at.share).reshape(levels.N, rows) / D[:, None]
        )  # v = .. - to_u u + to_l l - to_m m
        to_l = levels.gamma[n, c] * point.y[n, c] / D[n]  # v = .. - to_u u + to_l l - to_m m
        to_m = weak.sum(axis=1) * point.h / D
        wd = levels.w * d[:, :, None]
        pulled = levels.by_server(wd * at.pull[:, :, None]).reshape(levels.N, rows)

        M = np.zeros((size, size))
        M[:rows, :rows] = pulled.T @ to_u
        M[index[:, :, None], index[:, None, :]] -= levels.by_server(
            np.matmul(wd.transpose(1, 2, 0), at.share.transpose(1, 0, 2))[None]
        )[0]
        M[np.arange(rows), np.arange(rows)] -= np.where(levels.row, point.s, 1.0).ravel()
        i = levels.server[c]
        M[:rows, arcs] = -pulled[n].T * to_l
        M[index[i].T, arcs] += (levels.w[n, c] * point.y[n, c][:, None]).T
        M[arcs, :rows] = -at.pull[n, c][:, None] * to_u[n]
        M[arcs[:, None], index[i]] += at.share[n, c]
        M[rows : rows + len(n), rows : rows + len(n)] = (n[:, None] == n) * np.outer(at.pull[n, c], to_l)
        M[arcs, arcs] += point.e[n, c]
        if len(bound):
            used, own = (at.tasks / levels.limits)[bound], n[:, None] == bound
            weights = levels.by_server(wd).reshape(levels.N, rows)[bound] * point.h[bound, None]
            M[:rows, limits] = (pulled[bound] * to_m[bound, None] - weights).T
            M[arcs[:, None], limits] = own * (point.h[n] - at.pull[n, c] * to_m[n])[:, None]
            M[limits, :rows] = used[:, None] * to_u[bound]
            M[limits[:, None], arcs] = -(own * to_l[:, None]).T * used[:, None]
            M[limits, limits] = point.t[bound] + used * to_m[bound]
        across = np.abs(M).max(axis=1)  # 3
        M /= across[:, None]
        down = np.maximum(np.abs(M).max(axis=0), 1e-300)
        M /= down
        return lu_factor(M, check_finite=False), M, across, down, D, to_u, to_l, to_m, pulled, n, c, bound

    def _solve(
        self, changes: tuple[Floats, Floats, Floats], products: Floats, row_products: Floats, limit_products: Floats
    ) -> Change:
        """Solve the linearised equations.

        Parameters
        ----------
        changes : of_e (N, C), of_s (K, R), of_t (N,):  E' + h' - de = -of_e,  slack' - ds = -of_s,  left' - dt = -of_t
        products : (N, C) y de + e dy
        row_products : (K, R) k ds + s dk
        limit_products : (N,) h dt + t dh
        """
        from scipy.linalg import lu_solve

        levels, point, at, d = self.levels, self.point, self.at, self.d
        of_e, of_s, of_t = changes
        lu, M, across, down, D, to_u, to_l, to_m, pulled, n, c, bound = self._factors
        q = np.where(levels.arc, products / np.where(levels.arc, point.y, 1.0) - of_e, 0.0)
        dq = d * q
        v0 = (levels.gamma * dq).sum(axis=1) / D
        supply = np.where(levels.row, of_s - row_products / point.k - levels.load(dq), 0.0).ravel()
        used = at.tasks / levels.limits
        kept = limit_products / np.where(levels.limited, point.h, 1.0) - of_t + used * v0
        right = np.concatenate([supply + v0 @ pulled, q[n, c] - at.pull[n, c] * v0[n], kept[bound]]) / across
        z = lu_solve(lu, right, check_finite=False)  # 4
        z = (z + lu_solve(lu, right - M @ z, check_finite=False)) / down
        rows = levels.K * levels.R
        u, strong, m = z[:rows], z[rows : rows + len(n)], np.zeros(levels.N)
        m[bound] = z[rows + len(n) :]
        v = v0 - to_u @ u - to_m * m
        np.add.at(v, n, to_l * strong)
        u = u.reshape(levels.K, levels.R)
        paid = np.einsum("ncr,cr->nc", at.share, u[levels.server])
        change = (q - at.pull * v[:, None] - paid - (point.h * m)[:, None]) / point.e
        change[n, c] = strong
        u = np.where(levels.row, u, 0.0)
        of_slack = np.where(levels.arc, products / np.where(levels.arc, point.y * point.e, 1.0) - change, 0.0)
        return Change(
            np.where(levels.arc, change, 0.0),
            u,
            of_slack,
            np.where(levels.row, row_products / (point.k * point.s) - u, 0.0),
            m,
            np.where(levels.limited, (of_t - used * v) / point.t, 0.0),
        )
