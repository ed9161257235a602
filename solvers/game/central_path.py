r"""The central path of the game (equations.py), and Newton's method for a point on it: the linear algebra of continuation.py.

1. Evaluate E, its derivatives and the slacks at a point.
2. Choose each user's pivot, its largest arc, and the strong arcs among the others (by default none). Eliminate the changes of e
   and s, of y on all arcs but the strong ones, and of the users' tasks.
3. Factorise the dense matrix that remains for the prices, the strong arcs and the limits, after scaling its rows and columns.
4. Solve for the Newton step or the tangent, substitute back, and refine: what the rows and limits still lack at the changes of y
   is solved for again.

With variables e_ni for E + h, s_ir for the slack and t_n for what is left of a limit, the path is the solutions of

    E(y, k) + h = e,   slack(y) = s,   left(y) = t,   N y_ni e_ni = tau,   k_ir s_ir = tau,   h_n t_n = tau,   tau -> 0

all positive. Newton's unknowns are relative changes: u of k, v of x_n, l of y, m of h. Eliminating those of e, s and t leaves

    e_ni l_ni = q_ni - pull_ni v_n - sum_r share_nir u_ir - h_n m_n    for every arc, q = what is left of N y e = tau, E + h = e
    x_n v_n = sum_i gamma_ni y_ni l_ni,    sum_n w_nir y_ni l_ni - s_ir u_ir = .. (slack),    t_n m_n - x_n v_n / M_n = .. (left)

**Weak arcs** have a l of their own equation, d = y / e times its right-hand side, and with a = gamma d pull

    (x_n + sum_i a_ni) v_n = sum_i gamma_ni d_ni (q_ni - sum_r share_nir u_ir - h_n m_n) + sum over strong arcs of gamma y l

**The pivot** of a user has the largest a. Where e tends to 0 its l is lost in the rounding of its own equation; it follows from
x_n v_n = .., what the user's other arcs leave. What its d, which tends to infinity, does to prices is small, as in arrow.py:
d (x_n + sum of the other a) / (x_n + sum of all a), without cancellation. So a user with one arc in use costs neither digits nor
a row. Other arcs in use do cost digits: a user with two has terms of the size of y / e in the matrix, which
differ by what matters. Refinement brings them back, because a correction is added to l and not computed with it.

**Strong arcs** are others with a large y / e that are kept as unknowns, each with a row of its own. Until refinement that was how
digits were saved; where users are tied, thousands of arcs are in use, and 500 users, 50 servers and 4 resources took 80 ms a
system instead of 4.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.equations import Booleans, LevelEquations, NewtonOptions

__all__ = ["CentralPathNewton", "CentralPathOptions", "CentralPathPoint"]


@dataclass(frozen=True)
class CentralPathOptions(NewtonOptions):
    """Of the linear algebra.

    Attributes
    ----------
    strong : an arc that is not its user's pivot is strong if its tasks (in units of an equal part), divided by its complementary
        slack, are larger
    max_strong_arcs : the most strong arcs, those with the largest quotients
    precise : what rows and limits may lack, in units of tau, before solutions are refined
    refinements : the most refinements of one solution
    """

    strong: float = np.inf
    max_strong_arcs: int = 3000
    precise: float = 1e-2
    refinements: int = 3


@dataclass(frozen=True)
class CentralPathPoint:
    """y, e (C, N), k, s (K, R), h, t (N,), all positive, where there is an arc, a row or a limit; and theta = log tau."""

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

    def logarithm(self, other: "CentralPathPoint") -> "Change":
        """The logarithms of its numbers, all positive, as multiples of those of another point; 0 for those that both lack."""
        ours, theirs = (self.y, self.k, self.e, self.s, self.h, self.t), (other.y, other.k, other.e, other.s, other.h, other.t)
        return Change(*(np.log(np.where(b > 0, a, 1.0) / np.where(b > 0, b, 1.0)) for a, b in zip(ours, theirs, strict=True)))


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
        every = np.concatenate([a.ravel() for a in self.all])
        return float(min(1.0, 0.9 / max(-every.min(), 1e-300), 5.0 / max(every.max(), 1e-300)))


class CentralPathNewton:
    """The equations at a point, linearised and factorised.

    Attributes
    ----------
    strong : (C, N) bool
    d : (C, N) y / e on all other arcs
    """

    def __init__(
        self,
        levels: LevelEquations,
        point: CentralPathPoint,
        options: CentralPathOptions = CentralPathOptions(),
    ) -> None:
        self.levels, self.point, self.options = levels, point, options
        self.at = levels.derivatives(point.y, point.k)  # 1

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
        """(C, N) E + h - e."""
        result: Floats = np.where(self.levels.arc, self.at.excess + self.levels.of_user(self.point.h) - self.point.e, 0.0)
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
        """The change of the solution with log tau; E itself changes by `drift` (C, N), where alpha does."""
        tau, levels = self.point.tau, self.levels
        changes = *self.with_tau(drift), np.zeros_like(self.point.t)
        products = np.where(levels.arc, tau / levels.N, 0.0)
        return self._solve(changes, products, np.where(levels.row, tau, 0.0), np.where(levels.limited, tau, 0.0))

    def with_tau(self, drift: Floats) -> tuple[Floats, Floats]:
        """The changes of E (C, N) and of the slack (K, R) with log tau at the same y and k."""
        return drift, np.zeros_like(self.point.s)

    @cached_property
    def d(self) -> Floats:
        """(C, N) y / e."""
        result: Floats = np.where(self.levels.arc, self.point.y / self.point.e, 0.0)
        return result

    @cached_property
    def pivot(self) -> NDArray[np.intp]:
        """(N,) the column of each user's pivot."""
        result: NDArray[np.intp] = (self.levels.gamma * self.d * self.at.pull).argmax(axis=0)
        return result

    @cached_property
    def strong(self) -> Booleans:
        """(C, N) arcs that are not eliminated: y / e is large, but never more than `max_strong_arcs` of them."""
        levels, options = self.levels, self.options
        ratio = levels.N * self.d
        ratio[self.pivot, np.arange(levels.N)] = 0.0
        least, most = options.strong, options.max_strong_arcs
        if 0 < most < ratio.size:
            least = max(least, np.partition(ratio, -most, axis=None)[-most])
        result: Booleans = ratio > least
        return result

    @property
    def orientation(self) -> float:
        """The sign of the determinant of the linearised equations, 1 or -1: where the path turns, it changes."""
        return self._elimination.sign

    @cached_property
    def _elimination(self) -> "Elimination":
        return Elimination(self)

    def _solve(
        self, changes: tuple[Floats, Floats, Floats], products: Floats, row_products: Floats, limit_products: Floats
    ) -> Change:
        """Solve the linearised equations.

        Parameters
        ----------
        changes : of_e (C, N), of_s (K, R), of_t (N,):  E' + h' - de = -of_e,  slack' - ds = -of_s,  left' - dt = -of_t
        products : (C, N) y de + e dy
        row_products : (K, R) k ds + s dk
        limit_products : (N,) h dt + t dh
        """
        levels, point = self.levels, self.point
        of_e, of_s, of_t = changes
        q = np.where(levels.arc, products / np.where(levels.arc, point.y, 1.0) - of_e, 0.0)
        supply = np.where(levels.row, of_s - row_products / point.k, 0.0)
        kept = limit_products / np.where(levels.limited, point.h, 1.0) - of_t
        change, u, v, m = self._elimination.solve(q, supply, kept)  # 4
        of_slack = np.where(levels.arc, products / np.where(levels.arc, point.y * point.e, 1.0) - change, 0.0)
        return Change(
            change,
            u,
            of_slack,
            np.where(levels.row, row_products / (point.k * point.s) - u, 0.0),
            m,
            np.where(levels.limited, (of_t - self.at.tasks / levels.limits * v) / point.t, 0.0),
        )


class Elimination:
    """Steps 2 and 3 at one point.

    Attributes
    ----------
    c, n : the strong arcs
    bound : the users with limits
    d, D, rest : y / e of weak arcs (C, N), x_n + sum of a (N,), and that without the arc's own a (C, N)
    to_u, to_l, to_m : v = .. - to_u u + to_l l - to_m m; (K R, N), (strong,), (N,)
    to_h : (C, N) what is left of a change of h on an arc when x_n has followed
    pulled : (K R, N) what a change of x_n does to the loads of servers
    """

    def __init__(self, newton: CentralPathNewton) -> None:
        self.newton = newton
        levels, point, at = newton.levels, newton.point, newton.at
        self.c, self.n = np.nonzero(newton.strong)
        self.bound = np.flatnonzero(levels.limited)
        self.users = np.arange(levels.N)
        self.pivot = newton.pivot, self.users
        self.d = np.where(newton.strong, 0.0, newton.d) if len(self.c) else newton.d
        weak = levels.gamma * self.d
        a = weak * at.pull
        own = a[self.pivot]
        a[self.pivot] = 0.0
        others = at.tasks + a.sum(axis=0)
        self.D = others + own
        self.rest = self.D - a
        self.rest[self.pivot] = others
        self.to_u = levels.by_server((weak / self.D)[:, None, :] * at.share).reshape(-1, levels.N)
        self.to_l = levels.gamma[self.c, self.n] * point.y[self.c, self.n] / self.D[self.n]
        total, large = weak.sum(axis=0), weak[self.pivot]
        self.to_m = total * point.h / self.D
        self.to_h = 1.0 - at.pull * total / self.D
        self.to_h[self.pivot] = (others - at.pull[self.pivot] * (total - large)) / self.D
        self.pulled = levels.by_server((self.d * at.pull)[:, None, :] * levels.w).reshape(-1, levels.N)
        self._factorise(self._matrix(), levels.K * levels.R)  # 3

    def _factorise(self, M: Floats, prices: int) -> None:
        """With rows and columns scaled; and the sign of the determinant, where `prices` rows have the other sign."""
        from scipy.linalg import lu_factor

        self.across = np.abs(M).max(axis=1)
        M /= self.across[:, None]
        self.down = np.maximum(np.abs(M).max(axis=0), 1e-300)
        M /= self.down
        self.lu = lu_factor(M, overwrite_a=True, check_finite=False)
        swaps = np.count_nonzero(self.lu[1] != np.arange(len(M)))
        self.sign = float(np.prod(np.sign(np.diag(self.lu[0])))) * (-1.0) ** (swaps + prices)

    def _matrix(self) -> Floats:
        """The prices, the strong arcs, the limits."""
        levels, point, at = self.newton.levels, self.newton.point, self.newton.at
        c, n, bound, rows = self.c, self.n, self.bound, levels.K * levels.R
        size = rows + len(n) + len(bound)
        M = np.zeros((size, size))
        M[:rows, :rows] = self.pulled @ self.to_u.T
        diagonal = np.arange(levels.K)
        blocks = M[:rows, :rows].reshape(levels.K, levels.R, levels.K, levels.R)
        blocks[diagonal, :, diagonal, :] = self._blocks()
        M[np.arange(rows), np.arange(rows)] -= np.where(levels.row, point.s, 1.0).ravel()
        if len(n):
            arcs, index, i = np.arange(rows, rows + len(n)), np.arange(rows).reshape(levels.K, levels.R), levels.server[c]
            M[:rows, arcs] = -self.pulled[:, n] * self.to_l
            M[index[i].T, arcs] += (levels.w[c, :, n] * point.y[c, n][:, None]).T
            M[arcs, :rows] = -at.pull[c, n][:, None] * self.to_u[:, n].T
            M[arcs[:, None], index[i]] += at.share[c, :, n]
            M[rows : rows + len(n), rows : rows + len(n)] = (n[:, None] == n) * np.outer(at.pull[c, n], self.to_l)
            M[arcs, arcs] += point.e[c, n]
        if len(bound):
            self._put_limits(M, rows)
        return M

    def _blocks(self) -> Floats:
        """(K, R, R) what the prices of one server do to its own loads: no differences of large numbers."""
        levels, at = self.newton.levels, self.newton.at
        weighted = levels.w * (self.d * self.rest / self.D)[:, None, :]
        result = -levels.by_server(np.matmul(weighted, at.share.transpose(0, 2, 1)))
        if levels.V > 1:
            weak = levels.gamma * self.d / self.D
            loads = levels.w * (self.d * at.pull)[:, None, :]
            prices = (weak[:, None, :] * at.share).transpose(0, 2, 1)
            own = levels.by_server(np.matmul(loads, prices))
            result += np.matmul(levels.by_server(loads), levels.by_server(prices)) - own
        return result

    def _put_limits(self, M: Floats, rows: int) -> None:
        levels, point, at, n, bound = self.newton.levels, self.newton.point, self.newton.at, self.n, self.bound
        arcs, limits = np.arange(rows, rows + len(n)), np.arange(rows + len(n), len(M))
        used, own = (at.tasks / levels.limits)[bound], n[:, None] == bound
        loads = levels.by_server((self.d * self.to_h)[:, None, :] * levels.w).reshape(rows, -1)
        M[:rows, limits] = -loads[:, bound] * point.h[bound]
        M[arcs[:, None], limits] = own * (point.h[n] * self.to_h[self.c, n])[:, None]
        M[limits, :rows] = used[:, None] * self.to_u[:, bound].T
        M[limits[:, None], arcs] = -(own * self.to_l[:, None]).T * used[:, None]
        M[limits, limits] = point.t[bound] + used * self.to_m[bound]

    def solve(self, q: Floats, supply: Floats, kept: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The changes l (C, N), u (K, R), v (N,) and m (N,), refined while the rows lack something.

        Parameters
        ----------
        q : (C, N) right-hand sides of the arcs
        supply : (K, R) those of the rows
        kept : (N,) those of the limits
        """
        levels, point = self.newton.levels, self.newton.point
        used = self.newton.at.tasks / levels.limits
        answer = self._solve(q, supply, kept)
        enough = self.newton.options.precise * min(1.0, point.tau)
        least = np.inf
        for _ in range(self.newton.options.refinements):
            l, u, v, m = answer  # noqa: E741 (the letter above)
            rows = supply - np.where(levels.row, levels.load(point.y * l) - point.s * u, 0.0)
            limits = np.where(levels.limited, kept - point.t * m + used * v, 0.0)
            lack = max(np.abs(rows).max(), np.abs(limits).max())
            if not enough < lack < least:
                break
            least = lack
            more = self._solve(np.zeros_like(q), rows, limits)
            answer = (l + more[0], u + more[1], v + more[2], m + more[3])
        return answer

    def _solve(self, q: Floats, supply: Floats, kept: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        from scipy.linalg import lu_solve

        levels, point, at, c, n = self.newton.levels, self.newton.point, self.newton.at, self.c, self.n
        wanted = levels.gamma * self.d * q
        own = wanted[self.pivot]
        wanted[self.pivot] = 0.0
        others = wanted.sum(axis=0)
        v0 = (others + own) / self.D
        flow = self.d * (q - at.pull * v0)
        flow[self.pivot] = self.d[self.pivot] * (q[self.pivot] * self.rest[self.pivot] - at.pull[self.pivot] * others) / self.D
        rows = levels.K * levels.R
        used = at.tasks / levels.limits
        right = np.concatenate(
            [(supply - levels.load(flow)).ravel(), q[c, n] - at.pull[c, n] * v0[n], (kept + used * v0)[self.bound]]
        )
        right /= self.across
        z = lu_solve(self.lu, right, check_finite=False) / self.down
        u, strong, m = z[:rows], z[rows : rows + len(n)], np.zeros(levels.N)
        m[self.bound] = z[rows + len(n) :]
        v = v0 - u @ self.to_u - self.to_m * m
        v += np.bincount(n, self.to_l * strong, levels.N)
        u = u.reshape(levels.K, levels.R)
        l = (q - at.pull * v - levels.paid(at.share, u) - point.h * m) / point.e  # noqa: E741 (the letter above)
        l[c, n] = strong
        l[~levels.arc] = 0.0
        gained = levels.gamma * point.y
        l[self.pivot] = 0.0
        l[self.pivot] = (at.tasks * v - (gained * l).sum(axis=0)) / gained[self.pivot]
        return l, np.where(levels.row, u, 0.0), v, m
