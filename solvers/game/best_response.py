r"""`best-response`: the servers take turns, each solving its Problem 1 given the tasks on the others (K 3.1, Problem 1).

1. Start with no tasks and no prices.
2. A *sweep*: for every server i in the order of the instance,
   a. compute the shares b_n that its users have from the other servers;
   b. solve Problem 1 of server i given b: where alpha_i = infinity or R = 1 by water filling, else by its dual; where users have
      several variants as variants_response.py says;
   c. replace the tasks on server i by this best response.
3. Where the tasks changed little, compute the residual. Repeat from 2 until it is small enough or a sweep changes nothing.
4. If every server uses water filling and the sweeps ended after finitely many, repeat them in rational arithmetic. If they end
   there too, the answer is an exact equilibrium.

**Problem 1 of a server** whose users have the shares b_n from elsewhere, z_n = b_n + y_n / phi_n (formulations/game/game.py):

    0 <= mu_r  complements  1 - sum_n w_nr y_n >= 0
    0 <= y_n   complements  q_n - g'(z_n) >= 0,           q_n = sum_r w_nr mu_r

A user with a limit has z_n <= m_n, m_n = M_n / (phi_n gamma_ni), and for z_n = m_n only y_n > 0 implies q_n - g'(z_n) <= 0.

docs/reference/derivations.md derives both ways of 2b, and says what is known of convergence.
"""

from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.marginal import Marginals
from fairalloc.models.exact.rationals import exact_arcs, share_alone
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.session import GameMethod, GameSession, ServerArrays, server_arrays
from fairalloc.solvers.game.variants_response import VariantsResponse, max_min_response
from fairalloc.solvers.options import IterationOptions

TIED, FULL, FLAT = 1e-13, 1e-13, 1e-15
"""Levels that differ relatively by less are one event of water filling; a load within this of 1 is full, a hundred times the
rounding error of a sum over users; a slope below this part of the steepest is the rounding error of 0."""

TOO_MUCH = 1e6
"""What y is taken to be at most, of which at most 1 fits: for small alpha a demand overflows."""

REST = 1e-14
"""The relative change of tasks up to which a sweep changes nothing: rounding."""

EXACT_SWEEPS, EXACT_ARCS, EXACT_BITS = 40, 2_000, 4_000
"""Sweeps are repeated in rationals where fewer than these sufficed, up to so many arcs, until a denominator that all numbers of a
server have in common may have more bits."""


def water_filling(w: Any, phi: Any, b: Any, tied: float = TIED, most: Any = None) -> tuple[Any, Any]:
    """One server's PS-DSF answer y (m,) to shares b (m,) from others, and the levels (R,) at which resources fill up, else inf.

    w is (m, R), phi (m,), and `most` (m,) the shares that users want at most. All are floats, or Fractions in object arrays with
    tied = 0; levels that differ relatively by at most `tied` are one event.

    Examples
    --------
    >>> water_filling(np.array([[1.0, 0.5], [0.5, 1.0]]), np.ones(2), np.array([0.0, 0.5]))
    (array([0.83333333, 0.33333333]), array([0.83333333,        inf]))
    """
    wanted = np.full(len(b), np.inf, dtype=b.dtype) if most is None else np.maximum(most, b)
    ends = np.flatnonzero(wanted < np.inf)
    kinks = np.concatenate([b, wanted[ends].astype(b.dtype)])
    order = np.argsort(kinks, kind="stable")
    kinks, who = kinks[order], np.concatenate([np.arange(len(b)), ends])[order]
    sign = np.concatenate([np.ones(len(b), int), -np.ones(len(ends), int)])[order]
    y, free = phi * 0, np.ones(len(b), bool)
    levels, used, level = np.full(w.shape[1], np.inf, dtype=object), w.sum(axis=0) * 0, kinks[0] * 0
    while free.any():
        rate = np.where(free[:, None], w, 0) * phi[:, None]
        needed = (rate > 0).any(axis=0)
        reached = [_reached(rate[who, r] * sign, kinks, used[r], level) if needed[r] else np.inf for r in range(w.shape[1])]
        level = min(reached)
        if level == np.inf:  # everybody has all that it wants
            y = np.where(free, phi * (wanted - b), y).astype(y.dtype)
            break
        full = np.array([v <= level * (1 + tied) for v in reached])
        stopped = free & (w[:, full] > 0).any(axis=1)
        y = np.where(stopped, phi * np.maximum(np.minimum(level, wanted) - b, b * 0), y).astype(y.dtype)
        used = (w * y[:, None]).sum(axis=0)
        levels[full] = level
        free &= ~stopped
    return y, levels.astype(y.dtype)


def _reached(rate: Any, kinks: Any, used: Any, level: Any) -> Any:
    """The first L >= level at which used + sum of rate (L - kink)^+ = 1, inf where there is none, for rising kinks."""
    slope, offset = np.cumsum(rate), np.cumsum(rate * kinks)
    before = used + kinks * (slope - rate) - (offset - rate * kinks)  # the load when the level is at the kink
    k = int((before < 1).sum()) - 1
    if k < 0:
        return level
    if not slope[k] > (0 if rate.dtype == object else FLAT * rate.max()):  # nobody rises before the next kink
        return max(kinks[k + 1], level) if k + 1 < len(kinks) else np.inf
    return max((1 - used + offset[k]) / slope[k], level)


class ServerDual:
    """The dual of one server's Problem 1 for finite alpha: users explicit, prices u = log mu (R,), -inf for a free resource."""

    def __init__(self, server: ServerArrays, marginals: Marginals, beta: float) -> None:
        self.server, self.marginals, self.beta = server, marginals, beta
        with np.errstate(divide="ignore"):
            self.log_w = np.log(server.w)

    def demand(self, u: Floats, b: Floats) -> tuple[Floats, Floats]:
        """(m,) y and log q at prices u."""
        log_q = np.logaddexp.reduce(self.log_w + u, axis=1)
        with np.errstate(over="ignore"):
            z = np.minimum(np.exp(self.marginals.inverse(log_q)), self.server.most)
        return np.minimum(self.server.phi * np.maximum(z - b, 0.0), TOO_MUCH), log_q

    def answer(self, b: Floats, kappa: Floats) -> tuple[Floats, Floats]:
        """Y (m,) and the server's kappa (R,), from the kappa of its last turn (zeros: from water filling)."""
        with np.errstate(divide="ignore"):
            u = self.beta * np.log(kappa)
            if not kappa.any():
                level = water_filling(self.server.w, self.server.phi, b, most=self.server.most)[1]
                u = self.marginals.of(np.zeros(len(level), np.intp)).log(np.log(level))  # one g for all users of a server
        for _ in range(200):
            y, log_q = self.demand(u, b)
            violation = self.violation(y, u)
            if violation <= FULL:
                break
            u = self.newton(u, b, y, log_q, violation)
        return y, np.exp(u / self.beta)

    def violation(self, y: Floats, u: Floats) -> float:
        """The largest distance of a priced load from 1, or excess of a free one."""
        excess = y @ self.server.w - 1.0
        return float(np.where(np.isneginf(u), np.maximum(excess, 0.0), np.abs(excess)).max())

    def newton(self, u: Floats, b: Floats, y: Floats, log_q: Floats, violation: float) -> Floats:
        """New log prices (R,): a damped Newton step, or one round of clearing where no step decreases the violation."""
        step = self.direction(u, y, b, log_q)
        for part in (1.0, 0.5, 0.25, 0.125):
            new: Floats = u + part * step
            if self.violation(self.demand(new, b)[0], new) <= (1.0 - 0.25 * part) * violation:
                return new
        return self.clear_prices(u, b)

    def direction(self, u: Floats, y: Floats, b: Floats, log_q: Floats) -> Floats:
        """(R,) Newton's direction for the resources with a price, entries at most 5 beta; 0 where the equations are singular."""
        w, phi, priced = self.server.w, self.server.phi, np.isfinite(u)
        z = b + y / phi
        moves = (y > 0) & (z < self.server.most * (1.0 - FULL))
        log_z = np.log(np.where(moves, z, 1.0))
        worth = np.where(moves, phi * z / self.marginals.elasticity(log_z, self.marginals.log(log_z)), 0.0)
        with np.errstate(invalid="ignore"):  # nobody who pays nothing moves
            part = np.nan_to_num(np.exp(self.log_w[:, priced] + u[priced] - log_q[:, None]))
        matrix = (w[:, priced] * worth[:, None]).T @ part
        step = np.zeros_like(u)
        try:
            step[priced] = np.linalg.solve(matrix, y @ w[:, priced] - 1.0)
        except np.linalg.LinAlgError:
            return step
        return np.clip(np.nan_to_num(step), -5.0 * self.beta, 5.0 * self.beta)

    def clear_prices(self, u: Floats, b: Floats) -> Floats:
        """Every price in turn at the value at which its own resource is just full, or 0 where that is never the case."""
        u = u.copy()
        for r in np.flatnonzero((self.server.w > 0).any(axis=0)):
            u[r] = self._cleared(u, b, int(r))
        return u

    def _cleared(self, u: Floats, b: Floats, r: int) -> float:
        from scipy.optimize import brentq

        def excess(value: float) -> float:
            return float(self.demand(np.where(np.arange(len(u)) == r, value, u), b)[0] @ self.server.w[:, r]) - 1.0

        if excess(-np.inf) <= 0:
            return -np.inf
        low = high = float(u[r]) if np.isfinite(u[r]) else float(np.min(u[np.isfinite(u)], initial=0.0))
        width = self.beta / 4.0
        while excess(low) < 0:
            low, width = low - width, 2.0 * width
        while excess(high) > 0:
            high, width = high + width, 2.0 * width
        return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-15)) if low < high else low


class BestResponses:
    """The answers of all servers of a game in turn, and their prices `kappa` (K, R)."""

    def __init__(self, game: Game, servers: list[ServerArrays]) -> None:
        self.game, self.servers = game, servers
        self.kappa = np.zeros((game.instance.K, game.instance.R))
        self.smooth: dict[int, ServerDual | VariantsResponse] = {}
        for server in servers:
            i, marginals = server.index, game.marginals.of(server.arcs)
            if game.finite[i] and not (game.instance.R == 1 and game.alike[i]):  # else by water filling (K Theorem 5)
                self.smooth[i] = (VariantsResponse if game.several[i] else ServerDual)(server, marginals, float(game.beta[i]))

    def sweep(self, x: Floats, late: Callable[[], bool] = bool) -> float:
        """All servers in turn, unless it is late and every user has tasks; the largest relative change. x (A,) changes."""
        tasks = self.game.tasks(x)  # afresh: no rounding adds up
        return max(0.0 if late() and np.all(tasks > 0) else self.turn(server, x, tasks) for server in self.servers)

    def turn(self, server: ServerArrays, x: Floats, tasks: Floats) -> float:
        """One server's best response, written into x (A,) and tasks (N,); the largest relative change of a user's tasks."""
        i, b = server.index, server.elsewhere(x, tasks)  # 2a, then 2b
        if i in self.smooth:
            y, self.kappa[i] = self.smooth[i].answer(b, self.kappa[i])
        else:
            filling = water_filling(server.w, server.phi, b, TIED, server.most) if not self.game.several[i] else None
            y, level = filling or max_min_response(server, b)
            self.kappa[i] = self._of_level(i, level)
        return float(server.put(y, x, tasks))  # 2c

    def _of_level(self, i: int, level: Floats) -> Floats:
        """1 / level; in a game with one resource and finite alpha g'(level)^(1 / beta)."""
        if not self.game.finite[i]:
            return 1.0 / level
        here = self.game.marginals.of(np.repeat(self.game.arcs_of_servers[i][:1], len(level)))
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(here.log(np.log(level)) / self.game.beta[i]), dtype=float)


class BestResponseSession(GameSession):
    def iterate(self) -> None:
        responses = BestResponses(self.game, self.servers)
        self.x, self.gap, self.prices = self.first_point(), 1.0, responses.kappa  # 1
        next_look = self.limits.promised
        while self.done < self.options.max_iterations:
            change = responses.sweep(self.x, lambda: self.limits.late)  # 2
            self.done += 1
            if change <= next_look or self.limits.late:  # 3
                self.gap, next_look = self.game.residual(self.x, responses.kappa), change / 10.0
            self.record(change=float(change))
            met = self.gap <= self.limits.promised / 10.0 and (bool(responses.smooth) or self.done >= EXACT_SWEEPS)
            self.rests(change, REST, "sweeps")
            if change <= REST or self.limits.late or met:
                break
        few = self.done < EXACT_SWEEPS and len(self.x) <= EXACT_ARCS
        filled = not (self.game.several.any() or responses.smooth)
        if few and filled and self.gap <= self.limits.promised:
            self.x_exact = rational_sweeps(self.game, self.done + 2, lambda: self.limits.late)  # 4
            self.x = self.x if self.x_exact is None else np.array([float(v) for v in self.x_exact])


def rational_sweeps(game: Game, sweeps: int = EXACT_SWEEPS, late: Callable[[], bool] = bool) -> tuple[Fraction, ...] | None:
    """(A,) tasks of an equilibrium in rationals, by the same sweeps; None where these do not end after so many, or in time."""
    instance, arcs = game.instance, exact_arcs(game.instance)
    gamma, weights = 1 / np.array(share_alone(instance), dtype=object), np.array(instance.exact.weights, dtype=object)
    load = np.array(arcs.matrix(), dtype=object).reshape(instance.K, instance.R, len(gamma))
    w = load[game.server, :, np.arange(len(gamma))] * gamma[:, None]
    most = np.array([np.inf if limit is None else limit for limit in arcs.limits], dtype=object)
    servers = server_arrays(game, w, weights, gamma, most)
    x, tasks = (np.full(size, Fraction(0), dtype=object) for size in (len(gamma), instance.N))
    for _ in range(sweeps):
        change = 0
        for s in servers:
            b = s.elsewhere(x, tasks)
            if too_long(s, b) or late():
                return None
            change = max(change, s.put(water_filling(s.w, s.phi, b, 0, s.most)[0], x, tasks))
        if change == 0:
            return tuple(x)
    return None


def too_long(server: ServerArrays, b: Any) -> bool:
    """Whether what the sums of `water_filling` have for a denominator may have more bits than EXACT_BITS."""
    rates, common = server.w * server.phi[:, None], 1
    for v in (*rates.flat, *b, *(most for most in server.most if most < np.inf)):
        common = lcm(common, v.denominator)
        if common.bit_length() > EXACT_BITS:
            return True
    return False


class BestResponse(GameMethod):
    """Gauss-Seidel sweeps of best responses; the trace has `iteration` (sweep), `change` (relative, of tasks) and `seconds`."""

    id = "best-response"
    session = BestResponseSession
    options = IterationOptions()
    canonical = False  # y, w and z have no units, and rationals should stay what they are


methods = (BestResponse(),)
