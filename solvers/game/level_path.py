r"""The central path of PS-DSF (central_path.py) in one unknown per server, for users that demand every resource, without limits.

With alpha = infinity a server asks of all users the largest of its levels kappa_ir, so its users' shares z are at least exp(t_i)
with t_i = -max_r log kappa_ir. At given t and tau the tasks follow, each user's x_n from one equation with one root,

    N y_ni e_ni = tau,    e_ni = log x_n - c_ni - t_i = d_n + m_n - c_ni - t_i,    m_n = max_i (c_ni + t_i),    c = log phi gamma
    log sum_i gamma_ni y_ni - m_n - d_n = 0,   convex and falling in d_n: Newton's method rises to the root from below

and the largest level belongs to the resource with the least slack, so what is left of k s = tau are K equations in t:

    G_i(t) = max_r sum_n w_nir y_ni + tau unit_i exp(t_i) - 1 = 0

1. Damped Newton steps at the first tau.
2. Predictor: t is linear in tau where the path ends. A step is to a tenth of tau, or another part after easy or hard ones.
3. Corrector: Newton steps at this tau; where they fail, shorten the step and go to 2.

4. At LAST_TAU, or where rounding stops the path (e of tied arcs is a difference of logarithms), the tangent leads to tau = 0, and
   one step on the arcs in use (active_set.py) is left to rounding error.

Steps cost K^3 and N K^2. Where step 4 fails, continuation.py follows the path from the last point as from any other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.active_set import newton_on_active_arcs
from fairalloc.solvers.game.central_path import CentralPathPoint
from fairalloc.solvers.game.equations import NewtonSession, equal

FIRST_TAU, SMALL_TAU, LAST_TAU, SHORTEST = 1.0, 1e-3, 5e-7, 0.05
"""Where the path begins; up to where step 4 is worth a try, and where it is; the least step in log tau."""

CLOSE, EXACT, NEAR = 1e-2, 0.1, 1e-5
"""The largest |G| at the first points, and at later ones in units of tau; the last relative change of d."""

MOST, LONGER = 8, 1.5
"""Newton steps of a corrector, and how many times as long a step is after at most three of them."""

MOST_SERVERS, SPARSEST = 300, 10
"""Servers up to which, and pairs of users and servers for each arc up to which the path is followed so: its arrays are dense."""


class _Point(NamedTuple):
    """t (K,) and tau, with log x (N,), e and y (N, K), slack (K, R), the resource with the least (K,), G and its last term.

    error : the largest |G|, inf where there is none
    """

    t: Floats
    tau: float
    log_x: Floats
    e: Floats
    y: Floats
    slack: Floats
    full: NDArray[np.intp]
    G: Floats
    own: Floats
    error: float


class LevelPath:
    """The equations of a game on the grid of users and servers."""

    def __init__(self, session: NewtonSession) -> None:
        self.session, self.levels = session, session.levels
        levels = self.levels
        self.shape, self.cells = (levels.N, levels.K), levels.user * levels.K + levels.server
        equal(levels)
        self.c = self._grid(levels._marginal(np.ones(levels.N))[0], -np.inf)
        self.gamma, self.w = self._grid(levels.gamma, 0.0), np.array([self._grid(part, 0.0) for part in levels.w.T])
        self.servers, self.users, self.ones = np.arange(levels.K), np.arange(levels.N), np.ones(levels.K)

    @staticmethod
    def fits(session: NewtonSession) -> bool:
        """Whether the game is one of these: alpha = infinity, one variant, no limits, and every resource demanded."""
        levels, game = session.levels, session.game
        pairs, alike = levels.N * levels.K, not (game.finite.any() or game.several.any() or levels.limited.any())
        return bool(alike and (game.w > 0).all() and levels.K <= MOST_SERVERS and pairs <= SPARSEST * len(levels))

    def _grid(self, values: Floats, elsewhere: float) -> Floats:
        """(N, K) from (A,)."""
        result = np.full(self.shape, elsewhere)
        result.flat[self.cells] = values
        return result

    @np.errstate(all="ignore")
    def follow(self) -> CentralPathPoint | None:
        """The last point of the path, which is the answer's where step 4 succeeds; None where the path ends early."""
        try:
            start = -np.log(self.levels.unit) - np.log(FIRST_TAU / 0.3)
            point, length = self._corrected(start, FIRST_TAU, np.zeros(self.shape[0]), 30)[0], np.log(10.0)
            while point is not None and point.tau > LAST_TAU and length > SHORTEST:
                tau, (turn, rise, _) = max(point.tau * np.exp(-length), LAST_TAU), self._along(point)
                back = tau / point.tau - 1.0
                new, steps = self._corrected(point.t + back * turn, tau, point.log_x + back * rise, MOST)
                length *= 0.5 if new is None else LONGER if steps <= 3 else 1.0
                point = new or point
            return None if point is None or point.tau > SMALL_TAU else self._ended(point)
        except np.linalg.LinAlgError:
            return None

    def _corrected(self, t: Floats, tau: float, log_x: Floats, most: int) -> tuple[_Point | None, int]:
        """Steps 1 and 3: a point of the path and the number of Newton steps; None where there would be more than `most`."""
        point = self._at(t, tau, log_x)
        for done in range(most):
            if point.error <= min(CLOSE, EXACT * tau):
                self.session.record(tau=tau, merit=point.error / tau)
                return point, done
            (_, _, change, jacobian), part = self._slope(point), 1.0
            step = -np.linalg.solve(jacobian, point.G)
            moved = change @ step
            new = self._at(point.t + step, tau, point.log_x + moved)
            while not new.error <= point.error * (1.0 - 1e-3 * part) and part > 1e-2:
                part /= 3.0
                new = self._at(point.t + part * step, tau, point.log_x + part * moved)
            if part <= 1e-2:
                break
            point = new
        return None, most

    def _at(self, t: Floats, tau: float, log_x: Floats) -> _Point:
        """The equations at t, with Newton's method for log x from these values on."""
        self.session.step()
        parts = self.c + t
        best = parts.argmax(axis=1)
        m, each = parts[self.users, best], tau / self.shape[0]
        gap, constant = m[:, None] - parts, np.log(each) - m
        least = self.gamma[self.users, best] * np.exp(constant)
        least /= 1.0 + least
        d = np.maximum(log_x - m, least)
        for _ in range(50):
            inverse = 1.0 / (gap + d[:, None])
            terms = self.gamma * inverse
            total = terms @ self.ones
            step = (np.log(total) + constant - d) / ((terms * inverse) @ self.ones / total + 1.0)
            d = np.maximum(d + step, least)
            if not (np.abs(step) > NEAR * d).any():  # nan too
                break
        e = gap + d[:, None]
        y = each / e
        slack = 1.0 - (self.w * y).sum(axis=1).T
        full, own = slack.argmin(axis=1), tau * self.levels.unit * np.exp(t)
        G = own - slack[self.servers, full]
        error = float(np.abs(G).max())
        return _Point(t, tau, m + d, e, y, slack, full, G, own, error if error >= 0.0 else np.inf)

    def _slope(self, point: _Point) -> tuple[Floats, Floats, Floats, Floats]:
        """At a point w (N, K) of the largest level, y / e (N, K), the change of log x (N, K) with t, and (K, K) that of G."""
        change = point.y / point.e
        part = self.gamma * change
        part /= (np.exp(point.log_x) + part.sum(axis=1))[:, None]
        w = self.w[point.full, :, self.servers].T
        lost = w * change
        jacobian: Floats = -(lost.T @ part)
        jacobian[self.servers, self.servers] += lost.sum(axis=0) + point.own
        return w, change, part, jacobian

    def _along(self, point: _Point) -> tuple[Floats, Floats, Floats]:
        """The changes of t (K,), log x (N,) and y (N, K) with log tau."""
        w, change, part, jacobian = self._slope(point)
        rises = 1.0 - part.sum(axis=1)  # of log x where t stays
        t = -np.linalg.solve(jacobian, (w * (point.y - change * rises[:, None])).sum(axis=0) + point.own)
        log_x = rises + part @ t
        return t, log_x, point.y - change * (log_x[:, None] - t)

    def _ended(self, point: _Point) -> CentralPathPoint | None:
        """Step 4, and the point in the unknowns of the whole path: where G is not 0, the slack of the largest level is off."""
        levels, ones, (turn, _, moved) = self.levels, np.ones(self.shape[0]), self._along(point)
        s = np.maximum(point.slack, point.own[:, None])
        s[self.servers, point.full] = point.own
        y, e, falls = (part.flat[self.cells] for part in (point.y, point.e, moved))
        if not (np.isfinite(s).all() and (s > 0).all() and (y > 0).all() and np.isfinite(falls).all()):
            return None
        fills = 0.5 * point.slack < -(self.w * moved).sum(axis=1).T
        k = np.where(fills, point.tau / s, 0.0)
        k[self.servers, point.full] = np.exp(turn - point.t) / levels.unit
        stay = (falls < 0.5 * y) | (levels.N * y > point.tau**0.25)
        newton_on_active_arcs(self.session, np.maximum(y - falls, 0.0), k, stay, k > 0, np.zeros(levels.N, dtype=bool))
        return CentralPathPoint(y, point.tau / s, e, s, 0.0 * ones, ones, float(np.log(point.tau)))
