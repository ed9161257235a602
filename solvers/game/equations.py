r"""The equations (K 28-29) on lists of arcs in numbers of order one, shared by the Newton methods for the game.

An arc a stands for a user n and a server i, and with several demand vectors for one of them; below it is written ni.

Unknowns are y_ni >= 0, tasks as fractions of a monopoly, and k_ir >= 0, levels kappa_ir as multiples of a unit of each server.

    x_n = sum_i gamma_ni y_ni                                  (in units of the user's best server)
    E_ni(y, k) = (log sum_r w_nir kappa_ir^beta_i - log g_i'(z_ni)) / beta_i        0 <= y_ni  complements  E_ni >= 0
    slack_ir(y) = 1 - sum_n w_nir y_ni                                               0 <= k_ir  complements  slack_ir >= 0

    d E_ni = sum_r share_nir d log k_ir + pull_ni d log x_n,   share: r's part of the price, pull: the elasticity of g' over beta

A user with a limit M_n has an h_n >= 0, and E_ni + h_n is in the place of E_ni (formulations/game/game.py):

    left_n(y) = 1 - x_n / M_n                                                        0 <= h_n  complements  left_n >= 0

`cap` sets an upper bound on every alpha, so that alpha = infinity can be reached through finite values. Without a bound, E has
on the servers in `sharp` the maximum of the levels itself.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.residual import gaps, gaps_at
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.session import GameSession
from fairalloc.solvers.kkt.loads import ArcLoads
from fairalloc.solvers.kkt.schur import Plan, plan_for_game
from fairalloc.solvers.options import at_accuracy

Booleans: TypeAlias = NDArray[np.bool_]

TARGET = {"low": 1e-6, "mid": 1e-9, "high": 1e-10}
"""The residual at which each accuracy stops: below the promised one, which leaves a margin for rounding."""

PATTERNS = (1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""The tolerances with which the pattern of a point is read, one after the other."""

FULL = 1e-6
"""The slack up to which `levels_at` takes a resource to be full, for it is asked for tasks in floating point."""


class Derivatives(NamedTuple):
    """E (A,) with `tasks` x_n (N,), `pull` (A,) and `share` (A, R)."""

    excess: Floats
    tasks: Floats
    pull: Floats
    share: Floats


class LevelEquations:
    """The arrays of a game on its arcs, ordered by user, and its equations. Of tables with R columns the columns lie together.

    user, server : (A,) int
    loads, plan : of tasks in units of the user's best server: rows, sums, and the arrow of a Newton step; how that is eliminated
    w, gamma : (A, R), (A,); gamma in units of the user's best server
    row, place : (K, R) bool, whether anybody wants the resource there, and int, its number among those
    limited, limits : (N,) bool, whether there is a limit, and M_n in units of the best server
    unit : (K,) what kappa is counted in
    alpha, beta, sharp : (K,) as `cap` bounds them: alpha, max(alpha, 1), and bool, whether E has the maximum of the levels
    least : the tasks of a user who has none, which is allowed where g'(0) is finite: their logarithm is taken
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.N, self.K, self.R = game.instance.N, game.instance.K, game.instance.R
        user, server = game.user, game.server
        best = np.maximum.reduceat(game.gamma, np.searchsorted(user, np.arange(self.N)))
        self.w, self.gamma, self.user, self.server = np.asfortranarray(game.w), game.gamma / best[user], user, server
        self.loads = ArcLoads(np.ascontiguousarray(self.w / self.gamma[:, None]), user, server, self.N, self.K)
        self.of_user = self.loads.of_users
        self.plan: Plan = plan_for_game(self.loads)
        self.row = self.loads.rows(np.ones(len(user))).reshape(self.K, self.R) > 0
        self.place = np.cumsum(self.row).reshape(self.row.shape) - 1
        self.limits = game.limits / best
        self.limited = np.isfinite(self.limits)
        with np.errstate(divide="ignore"):
            self.log_w = np.log(self.w)
        self.marginals, self.least = game.marginals, 1e-200 if game.own.any() else 0.0
        self.log_unit = np.log(game.instance.weights[user] * self.gamma)
        self.unit = np.ones(self.K)
        self.sharp = np.zeros(self.K, bool)
        self.cap(np.inf)

    def __len__(self) -> int:
        return len(self.user)

    def cap(self, most: float) -> None:
        """Bound every alpha; without a bound, alpha = inf is the maximum of the levels itself."""
        self.sharp = ~self.game.finite & np.isinf(most)
        self.alpha = np.where(self.sharp, 1.0, np.minimum(self.game.alpha, most))
        self.beta = np.maximum(self.alpha, 1.0)

    def scale(self, y: Floats) -> None:
        """Count kappa in what a level is worth at y on each server."""
        log_g = self._marginal(self.tasks(y))[0]
        arcs = np.bincount(self.server, minlength=self.K)
        self.unit = np.exp(self.loads.by_server @ log_g / np.maximum(arcs, 1))

    def of_server(self, values: Floats) -> Floats:
        """(A,) or (A, R) what servers have, (K,) or (K, R), for each of their arcs."""
        return values.T.take(self.server, axis=-1).T  # columns side by side in memory

    def tasks(self, y: Floats) -> Floats:
        """(N,) x_n in units of the best server."""
        return np.maximum(self.loads.totals(self.gamma * y), self.least)

    def slack(self, y: Floats) -> Floats:
        """(K, R) part of each capacity that is not used; 0 where nobody wants it."""
        return np.where(self.row, 1.0 - self.loads.rows(self.gamma * y).reshape(self.K, self.R), 0.0)

    def left(self, tasks: Floats) -> Floats:
        """(N,) part of each limit that is not used by x_n (N,); 1 where there is none."""
        return 1.0 - tasks / self.limits

    def matrices(self, at: Derivatives, arcs: NDArray[np.intp]) -> tuple[csr_array, csr_array, csr_array, csr_array]:
        """On arcs (a,) the changes of E with log x (a, N) and log k (a, Q), and N y as parts of x (N, a) and as loads (Q, a).

        Q are the resources somebody wants.
        """
        a, n, each = len(arcs), self.user[arcs], np.arange(len(arcs))
        which, r = np.nonzero(self.w[arcs])
        arc, rows = arcs[which], int(self.row.sum())
        place = self.place[self.server[arc], r]
        pull = csr_array((at.pull[arcs], (each, n)), shape=(a, self.N))
        paid = csr_array((at.share[arc, r], (which, place)), shape=(a, rows))
        tasks = csr_array((self.gamma[arcs] / at.tasks[n] / self.N, (n, each)), shape=(self.N, a))
        loads = csr_array((self.w[arc, r] / self.N, (place, which)), shape=(rows, a))
        return pull, paid, tasks, loads

    def of_all(self, mask: Booleans) -> Booleans:
        """(N,) whether `mask` (A,) is true on an arc of the user."""
        return np.logical_or.reduceat(mask, self.loads.first)

    def derivatives(self, y: Floats, k: Floats) -> Derivatives:
        """E and what its differential is made of. A k of 0 is allowed as long as every user still pays something."""
        tasks = self.tasks(y)
        log_g, pull = self._marginal(tasks)
        log_p, share = self._price(k)
        with np.errstate(invalid="ignore"):
            return Derivatives(log_p - log_g, tasks, pull, share)

    def _marginal(self, tasks: Floats) -> tuple[Floats, Floats]:
        """Log g' / beta, and its elasticity / beta."""
        with np.errstate(all="ignore"):
            log_z = self.of_user(np.log(tasks)) - self.log_unit
            alpha, beta = self.of_server(self.alpha), self.of_server(self.beta)
            log_g = self.marginals.log(log_z, alpha)
            elasticity = self.marginals.elasticity(log_z, log_g, alpha)
        return log_g / beta, elasticity / beta

    def _price(self, k: Floats) -> tuple[Floats, Floats]:
        """Log of a task's price / beta, and each resource's part of the price."""
        with np.errstate(all="ignore"):
            log_k = np.log(np.where(self.row, k, 0.0) * self.unit[:, None])
            paid = np.where(self.w > 0, self.of_server(self.beta[:, None] * log_k), -np.inf)
            most = paid.max(axis=1)
            share = np.exp(paid - np.where(np.isfinite(most), most, 0.0)[:, None]) * self.w  # in logarithms w would lose digits
            total = share.sum(axis=1)
            log_p = (most + np.log(total)) / self.of_server(self.beta)
            share /= np.where(total > 0, total, 1.0)[:, None]
        if self.sharp.any():
            sharp = self.sharp[self.server]
            levels = np.where(self.w[sharp] > 0, self.of_server(log_k)[sharp], -np.inf)
            log_p[sharp] = levels.max(axis=1)
            share[sharp] = np.arange(self.R) == levels.argmax(axis=1)[:, None]
        return log_p, share

    def x(self, y: Floats) -> Floats:
        """(A,) feasible tasks."""
        return scaled_down(self.game.instance, y * self.game.gamma)

    def kappa(self, k: Floats) -> Floats:
        """(K, R) levels; 0 where nobody wants the resource."""
        return np.where(self.row, np.maximum(k, 0.0), 0.0) * self.unit[:, None]

    def gap(self, y: Floats, k: Floats) -> float:
        """The residual that y and k prove of themselves, without linear programs (residual.py); inf where they are no numbers."""
        x, kappa, game = self.x(y), self.kappa(k), self.game
        if not (np.all(np.isfinite(x)) and np.all(np.isfinite(kappa))):
            return np.inf
        if not game.defined(x):
            return 1.0
        with np.errstate(over="ignore"):
            return float(gaps_at(game, x, kappa).max())


class NewtonSession(GameSession):
    """A game solved by Newton steps; the point with the least residual is kept, and only a small residual is a success."""

    def __post_init__(self) -> None:
        super().__post_init__()
        with self.phase("compile"):
            self.levels = LevelEquations(self.game)
            self.x, self.prices = self.levels.x(equal(self.levels)[0]), np.zeros((self.instance.K, self.instance.R))

    @property
    def target(self) -> float:
        return min(float(at_accuracy(TARGET, self.limits.accuracy)), self.limits.promised)

    @property
    def reached(self) -> bool:
        return self.gap <= self.target

    def warm_start(self) -> tuple[Floats, Floats] | None:
        """Y (A,) and k (K, R) of the warm start, with k from `levels_at`; None without one, or where a user has nothing there."""
        if self.limits.start is None:
            return None
        levels, game = self.levels, self.levels.game
        y = scaled_down(self.instance, self.limits.start) / game.gamma
        if not game.defined(y * game.gamma):
            return None
        levels.scale(np.full(len(levels), 0.7 / levels.N))
        return y, levels_at(levels, y)

    def step(self) -> None:
        """Count an iteration; Stopped when the time is over."""
        self.done += 1
        _ = self.limits.left

    def look(self, y: Floats, k: Floats, **facts: Any) -> float:
        """The residual of y (A,) and k (K, R), which are kept if it is the least so far; facts go to the trace."""
        return self.keep(self.levels.gap(y, k), self.levels.x(y), self.levels.kappa(k), **facts)

    def look_at(self, x: Floats) -> bool:
        """Whether tasks (A,) prove the target without prices, in a game with alpha = infinity; they are kept then."""
        if not (np.all(np.isfinite(x)) and self.game.defined(x) and self.game.proves(x, self.target)):
            return False
        self.keep(float(gaps(self.game, x).max()), x, np.zeros((self.levels.K, self.levels.R)))
        return True


def equal(levels: LevelEquations) -> tuple[Floats, Floats]:
    """The start: 0.7 of an equal partition, or of the limit where that is less, and every level at its unit."""
    place = levels.loads.place
    ways = 1 if place is None else np.bincount(place)[place]  # how many arcs the user of each has at its server
    y = 0.7 / levels.N / np.maximum(ways * levels.w.max(axis=1), 1.0)
    y *= levels.of_user(np.minimum(1.0, 0.7 * levels.limits / levels.tasks(y)))
    levels.scale(y)
    return y, np.ones((levels.K, levels.R))


def levels_at(levels: LevelEquations, y: Floats) -> Floats:
    """(K, R) levels k that fit y (A,) best: E = 0 on the arcs in use, k = 0 on resources that are not full.

    On a server with finite alpha the prices kappa^beta are linear in E = 0, so they are a nonnegative least-squares problem. With
    alpha = infinity a full resource has the inverse of the largest share that it serves. Users at their limits ask for nothing.
    """
    from scipy.optimize import nnls

    k, tasks = np.zeros((levels.K, levels.R)), levels.tasks(y)
    log_g = levels._marginal(tasks)[0]
    used = (y > 0) & levels.of_user(levels.left(tasks) > FULL)
    full = levels.row & (levels.slack(y) <= FULL)
    for i, arcs in enumerate(levels.game.arcs_of_servers):
        some = arcs[used[arcs]]
        rows = np.flatnonzero(full[i] & (levels.w[some] > 0).any(axis=0))
        if not len(rows):
            continue
        w, log_level = levels.w[np.ix_(some, rows)], log_g[some]  # log g' / beta; for alpha = infinity log 1 / z
        if levels.sharp[i]:
            k[i, rows] = np.exp(np.where(w > 0, log_level[:, None], np.inf).min(axis=0)) / levels.unit[i]
        else:
            log_price = levels.beta[i] * log_level[:, None] - levels.log_w[np.ix_(some, rows)]  # of a resource that is paid alone
            unit = log_price.min(axis=0)
            price = nnls(np.exp(unit - log_price), np.ones(len(some)))[0]
            k[i, rows] = np.exp(unit / levels.beta[i]) * price ** (1.0 / levels.beta[i]) / levels.unit[i]
    return np.where(np.isfinite(k), k, 0.0)
