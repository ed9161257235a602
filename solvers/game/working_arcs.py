r"""The equations of central_path.py on the arcs that matter near the end of the path, a list in place of a grid.

1. At a point of the path, N y e = tau, an arc is set aside if N y / e = tau / e^2 is at most `least`: its part in the matrix of
   prices, and in loads and tasks, is about as small. Near the end that leaves some N + K R of N K arcs.
2. On the others, sorted by user, the equations and the elimination are those of central_path.py: sums over a user's arcs are sums
   of neighbours, sums over a server's are counted by server.
3. Every arc has its E at any point, whether it is in the list or not. One that is set aside and whose E has become small comes
   back with e = max(E, sqrt(tau)) and y = tau / (N e).

What is set aside keeps a y in proportion to tau, and the path ends where all E of the whole game are >= 0.
Games with variants or limits keep their grid.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.central_path import CentralPathNewton, CentralPathOptions, CentralPathPoint, Change, Elimination
from fairalloc.solvers.game.equations import Booleans, LevelEquations

__all__ = ["WorkingArcs", "WorkingNewton", "landed", "renewed"]

NEAR = 3.0
"""An arc that is set aside comes back when its E is less than this many sqrt(tau)."""


class WorkingArcs(LevelEquations):
    """The equations on a list of arcs: every (C, N) is an (A,) here, and (C, R, N) an (A, R).

    Attributes
    ----------
    kept : (C, N) bool, the arcs in the list
    user, server : (A,) int
    """

    def __init__(self, levels: LevelEquations, kept: Booleans, y: Floats, tau: float) -> None:
        self.kept, self.tau = kept, tau
        self.looked: tuple[Floats, Floats, float] | None = None
        self.aside = np.where(kept, 0.0, y / tau)
        self.tasks_aside, self.load_aside = levels.tasks(self.aside), levels.load(self.aside)
        self.game, self.N, self.K, self.R, self.V = levels.game, levels.N, levels.K, levels.R, 1
        self.user, self.server = np.nonzero(kept.T)
        at = self.server, self.user
        self.arc = np.ones(len(self.user), bool)
        self.w, self.log_w = (np.asfortranarray(values[at[0], :, at[1]]) for values in (levels.w, levels.log_w))
        self.gamma, self.log_unit, self.least_log_w = levels.gamma[at], levels.log_unit[at], levels.least_log_w
        self.row, self.unit, self.limits, self.limited = levels.row, levels.unit, levels.limits, levels.limited
        self.log_a, self.log_b = levels.log_a, levels.log_b
        self.alpha, self.beta, self.sharp = levels.alpha, levels.beta, levels.sharp
        self.first = np.searchsorted(self.user, np.arange(levels.N))
        count = np.bincount(self.user, minlength=levels.N)
        i, r, other = np.nonzero(levels.row[:, :, None] & levels.row[:, None, :])
        self.pairs, self.place = (i, r, other), levels.place
        self.block = self.place[i, r], self.place[i, other]
        arcs, each = np.nonzero(self.w)
        self.loads = csr_array(
            (self.w[arcs, each], (self.server[arcs] * self.R + each, arcs)), shape=(self.K * self.R, len(self.arc))
        )
        self.by_servers = csr_array(
            (np.ones(len(self.arc)), (self.server, np.arange(len(self.arc)))), shape=(self.K, len(self.arc))
        )
        self._couple(count[self.user] > 1)

    def _couple(self, shared: Booleans) -> None:
        """Prepare `coupled`: prices of different servers are coupled by `shared` (A,), the arcs of users with several, alone."""
        arcs, r = np.nonzero((self.w > 0) & shared[:, None])
        users, column = np.unique(self.user[arcs], return_inverse=True)
        row = self.place[self.server[arcs], r]
        order = np.lexsort((column, row))
        self.by_column, self.by_row = (arcs, r), (arcs[order], r[order])
        self.spread = np.zeros((len(users), int(self.row.sum())))
        self.spread_at = column, row
        self.gathered = csr_array((np.ones(len(arcs)), (row, column)), shape=self.spread.shape[::-1])

    def coupled(self, pulled: Floats, to_u: Floats) -> Floats:
        """(rows, rows) the sums over users of pulled on one row times to_u on another.

        Parameters
        ----------
        pulled, to_u : (A, R)
        """
        self.spread[self.spread_at] = to_u[self.by_column]
        self.gathered.data = pulled[self.by_row]
        result: Floats = self.gathered @ self.spread
        return result

    def of_user(self, values: Floats) -> Floats:
        """What users have (N,), for each of their arcs."""
        result: Floats = values[self.user]
        return result

    def of_server(self, values: Floats) -> Floats:
        """What servers have, for each of their arcs."""
        result: Floats = values.T.take(self.server, axis=-1).T  # columns side by side in memory
        return result

    def by_user(self, values: Floats) -> Floats:
        """(N,) sums over the arcs of each user."""
        result: Floats = np.add.reduceat(values, self.first)
        return result

    def tasks(self, y: Floats) -> Floats:
        """(N,) x_n in units of the best server."""
        return self.by_user(self.gamma * y) + self.tau * self.tasks_aside

    def load(self, y: Floats) -> Floats:
        """(K, R) the sums of w y in the list."""
        result: Floats = (self.loads @ y).reshape(self.K, self.R)
        return result

    def slack(self, y: Floats) -> Floats:
        """(K, R) part of each capacity that is not used."""
        result: Floats = np.where(self.row, 1.0 - self.load(y) - self.tau * self.load_aside, 0.0)
        return result

    def paid(self, share: Floats, u: Floats) -> Floats:
        """(A,) the sums over r of share_nir u_ir."""
        result: Floats = (share * self.of_server(u)).sum(axis=1)
        return result

    def largest(self, values: Floats) -> NDArray[np.intp]:
        """(N,) the place in the list of each user's largest value."""
        most = np.maximum.reduceat(values, self.first)
        places = np.flatnonzero(values == most[self.user])
        result: NDArray[np.intp] = places[np.searchsorted(self.user[places], np.arange(self.N))]
        return result

    def whole(self, y: Floats, tau: float) -> Floats:
        """(C, N) y of the list (A,), and of what is set aside."""
        return self.grid(y, 0.0) + tau * self.aside

    def grid(self, values: Floats, other: float) -> Floats:
        """(C, N) values (A,) of the list, and `other` elsewhere."""
        result = np.full(self.kept.shape, other)
        result[self.server, self.user] = values
        return result

    def cheap(self, levels: LevelEquations, newton: CentralPathNewton) -> Booleans | None:
        """(C, N) arcs that are set aside and whose E is not much above sqrt(tau); None without a look at any where no E can be.

        Parameters
        ----------
        levels : the whole game, with the alpha of the point
        newton : at a point on this list
        """
        point, tasks = newton.point, newton.at.tasks
        if self.looked is not None and not levels.capped:
            k, x, room = self.looked
            used = self.row & (point.k > point.s)
            if np.abs(np.log(point.k / k)[used]).max(initial=0.0) + np.abs(np.log(tasks / x)).max() < room:
                return None
        excess = levels.derivatives(self.whole(point.y, point.tau), point.k).excess[~self.kept & levels.arc]
        near = NEAR * np.sqrt(point.tau)
        self.looked = point.k, tasks, excess.min(initial=np.inf) - near
        result = np.zeros_like(self.kept)
        result[~self.kept & levels.arc] = excess < near
        return result if result.any() else None

    def on_grid(self, point: CentralPathPoint) -> CentralPathPoint:
        """The point on all arcs; e = 1 where the list has none."""
        y = self.whole(point.y, point.tau)
        return CentralPathPoint(y, point.k, self.grid(point.e, 1.0), point.s, point.h, point.t, point.theta)

    def change_on_grid(self, change: Change) -> Change:
        """A tangent whose y vanish like tau where the list has no arc."""
        return Change(self.grid(change.y, 1.0), change.k, self.grid(change.e, 0.0), change.s, change.h, change.t)


def renewed(
    levels: LevelEquations, old: LevelEquations, point: CentralPathPoint, least: float, cheap: Booleans | None
) -> tuple["WorkingArcs", CentralPathPoint]:
    """Steps 1 and 3: the list of arcs at a point, and the point on it.

    Parameters
    ----------
    levels : the whole game, with the alpha of the point
    old : where the point is, the same or a list
    point : of the path
    least : the N y / e up to which an arc is set aside
    cheap : (C, N) arcs that are not
    """
    y, e = point.y, point.e
    if isinstance(old, WorkingArcs):
        y, e = old.whole(y, point.tau), old.grid(e, 1.0)
        back = levels.arc & ~old.kept
        e[back] = np.maximum(levels.derivatives(y, point.k).excess[back], np.sqrt(point.tau))
        y[back] = point.tau / (levels.N * e[back])
    kept = levels.arc & (levels.N * y > least * e)
    if cheap is not None:
        kept |= cheap
    kept[np.argmax(y, axis=0), np.arange(levels.N)] = True
    working = WorkingArcs(levels, kept, y, point.tau)
    at = working.server, working.user
    return working, CentralPathPoint(y[at], point.k, e[at], point.s, point.h, point.t, point.theta)


def landed(levels: WorkingArcs, point: CentralPathPoint, change: Change, theta: float) -> tuple[float, CentralPathPoint]:
    """A Newton step, and the part of it that is taken.

    Small changes of k are those of 1 / k, which is linear in x_n where E_ni = 0. Where some y, e, k or s would become negative,
    all pairs of complementary numbers are put back on N y e = tau and k s = tau at the same differences N y - e and k - s.

    Parameters
    ----------
    levels, point : where it starts
    change : of the logarithms
    theta : of log tau
    """
    part, fits = 1.0, change.fits == 1.0
    if not fits:
        used = levels.row & (point.k > point.s)
        part = min(1.0, 0.5 / max(float(np.abs(change.k[used]).max(initial=0.0)), 1e-300), 1.0 / max(abs(theta), 1e-300))
    u, factors = part * change.k, change.factors(part)
    factors = replace(factors, k=np.where(np.abs(u) < 0.5, 1.0 / (1.0 - u), factors.k))
    new = point.times(factors, point.theta + part * theta)
    if fits:
        return part, new
    y, e = _pair(levels.N * new.y, new.e, new.tau)
    k, s = _pair(new.k, new.s, new.tau)
    return part, replace(new, y=y / levels.N, e=e, k=np.where(levels.row, k, new.k), s=np.where(levels.row, s, new.s))


def _pair(one: Floats, other: Floats, tau: float) -> tuple[Floats, Floats]:
    """The two positive numbers with the same difference and the product tau."""
    difference = one - other
    large = 0.5 * (np.abs(difference) + np.sqrt(difference**2 + 4.0 * tau))
    return np.where(difference > 0, large, tau / large), np.where(difference > 0, tau / large, large)


class WorkingNewton(CentralPathNewton):
    """The equations at a point of a list of arcs, linearised and factorised."""

    levels: WorkingArcs

    def __init__(self, levels: WorkingArcs, point: CentralPathPoint, options: CentralPathOptions) -> None:
        levels.tau = point.tau
        super().__init__(levels, point, options)

    def with_tau(self, drift: Floats) -> tuple[Floats, Floats]:
        """E changes because what is set aside does, too, and so does the slack."""
        levels, tau = self.levels, self.point.tau
        return drift + self.at.pull * (tau * levels.tasks_aside / self.at.tasks)[levels.user], -tau * levels.load_aside

    @cached_property
    def _elimination(self) -> "WorkingElimination":
        return WorkingElimination(self)


class WorkingElimination(Elimination):
    """Steps 2 and 3 of central_path.py on a list of arcs, with the same letters and without strong arcs and limits."""

    newton: WorkingNewton

    def __init__(self, newton: WorkingNewton) -> None:
        self.newton = newton
        levels, at = newton.levels, newton.at
        self.d, self.weak = newton.d, levels.gamma * newton.d
        a = self.weak * at.pull
        self.large = levels.largest(a)
        own = a[self.large]
        a[self.large] = 0.0
        others = at.tasks + levels.by_user(a)
        self.D = others + own
        self.rest = self.D[levels.user] - a
        self.rest[self.large] = others
        self.to_v = self.weak / self.D[levels.user]
        self._factorise(self._matrix(), int(levels.row.sum()))

    def _matrix(self) -> Floats:
        """The rows somebody wants."""
        levels, at = self.newton.levels, self.newton.at
        K, R = levels.K, levels.R
        M = levels.coupled((self.d * at.pull)[:, None] * levels.w, self.to_v[:, None] * at.share)
        own = levels.w * (self.d * self.rest / self.D[levels.user])[:, None]
        blocks = levels.by_servers @ (own[:, :, None] * at.share[:, None, :]).reshape(-1, R * R)
        M[levels.block] = -blocks.reshape(K, R, R)[levels.pairs]
        M[np.diag_indices(len(M))] -= self.newton.point.s[levels.row]
        return M

    def _solve(self, q: Floats, supply: Floats, kept: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        from scipy.linalg import lu_solve

        levels, point, at, pivot = self.newton.levels, self.newton.point, self.newton.at, self.large
        wanted = self.weak * q
        own = wanted[pivot]
        wanted[pivot] = 0.0
        others = levels.by_user(wanted)
        v0 = (others + own) / self.D
        flow = self.d * (q - at.pull * v0[levels.user])
        flow[pivot] = self.d[pivot] * (q[pivot] * self.rest[pivot] - at.pull[pivot] * others) / self.D
        u = np.zeros((levels.K, levels.R))
        right = (supply - levels.load(flow))[levels.row] / self.across
        u[levels.row] = lu_solve(self.lu, right, check_finite=False) / self.down
        paid = levels.paid(at.share, u)
        v = v0 - levels.by_user(self.to_v * paid)
        l = (q - at.pull * v[levels.user] - paid) / point.e  # noqa: E741 (the letter of central_path.py)
        gained = levels.gamma * point.y
        l[pivot] = 0.0
        l[pivot] = (at.tasks * v - levels.by_user(gained * l)) / gained[pivot]
        return l, u, v, np.zeros_like(kept)
