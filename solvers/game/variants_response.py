r"""One server's answer to Problem 1 given the others for finite alpha, where users have several variants (game/game.py).

1. Read off the last answer which arcs, prices and limits are in use, and solve their equations by Newton's method. What comes out
   is the answer if it fulfils all conditions.
2. Else follow the central path: from an equal partition with FIRST_TAU take damped Newton steps, and lower tau wherever the point
   is close to the path, until LAST_TAU. Then step 1 from there; where that fails, the end of the path is the answer.

With shares b_n from elsewhere, z_n = b_n + sum_v y_nv / phi_n and kappa_r = mu_r^(1 / beta), the conditions are

    E_a(y, kappa) = (log sum_r w_ar kappa_r^beta - log g'(z_n)) / beta
    0 <= y_a      complements  e_a = E_a + h_n >= 0                      for every arc a of n
    0 <= kappa_r  complements  s_r = 1 - sum_a w_ar y_a >= 0
    0 <= h_n      complements  t_n = 1 - sum_v y_nv / room_n >= 0        room_n = phi_n (m_n - b_n), for users with a limit

On the path every product is tau (that of an arc tau / m). All numbers are logarithms of shares, or of prices over beta, so they
are of order one for every alpha. docs/reference/derivations.md says which concave program these conditions are of.

**Newton.** Unknowns are relative changes l of y, u of kappa, m of h; those of e, s, t are eliminated:

    e_a l_a + c_n sum_v y_nv l_nv + sum_r share_ar u_r + h_n m_n = tau / (m y_a) - E_a - h_n,      c_n = pull_n / (phi_n z_n)
    -sum_a w_ar y_a l_a + s_r u_r = tau / kappa_r - 1 + sum_a w_ar y_a
    -sum_v y_nv l_nv / room_n + t_n m_n = tau / h_n - 1 + sum_v y_nv / room_n

and step 1 has the same equations with tau = 0 on what is in use, 0 in the place of e, s and t, and steps of least norm: the split
between variants need not be unique.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.game.marginal import Marginals
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.central_path import fits
from fairalloc.solvers.game.session import ServerArrays

__all__ = ["VariantsResponse"]

FIRST_TAU, LAST_TAU, SMALLER, CLOSE = 0.1, 1e-12, 0.1, 0.1
"""Where the path begins and ends, by what part tau falls, and the error of the equations up to which a point is close, in tau."""

MAX_STEPS, MAX_FINISH = 300, 12
"""Newton steps along the path, and with one guess of what is in use."""

LEAST_PRICE, MET = 1e-3, 1e-12
"""The kappa, in an equal partition's, of a price that comes into use; the largest violation of a condition at an answer of step
1."""

FREE, SATISFIED = -60.0, 1e-13
"""The least E: a satisfied user may run its tasks where no resource has a price; a user whose share from elsewhere is relatively
this near to its limit gets nothing."""


class TurnPoint(NamedTuple):
    """y (m,), kappa (R,) in units of the turn, h (U,), and on the path e, s, t."""

    y: Floats
    k: Floats
    h: Floats
    e: Floats
    s: Floats
    t: Floats

    def moved(self, change: Floats) -> "TurnPoint":
        """Every number times 1 + its change, as far as a tenth of all is left and nothing grows more than sixfold."""
        factors = np.split(1.0 + fits(change) * change, np.cumsum([len(values) for values in self])[:-1])
        return TurnPoint(*(values * own for values, own in zip(self, factors, strict=True)))


class TurnConditions(NamedTuple):
    """E + h (m,), slacks s (R,), t (U,) at a point, and the derivatives: share (m, R), c_n of each arc's user (m,)."""

    e: Floats
    s: Floats
    t: Floats
    share: Floats
    c: Floats


class ServerTurn:
    """Problem 1 of a server at given shares b, on the arcs of the users who do not have all they want from elsewhere."""

    def __init__(self, server: ServerArrays, marginals: Marginals, beta: float, b: Floats, wanting: NDArray[np.intp]) -> None:
        self.open = wanting
        users, first, self.place = np.unique(server.user[self.open], return_index=True, return_inverse=True)
        self.rows = np.flatnonzero((server.w[self.open] > 0).any(axis=0))
        self.w, first = server.w[self.open][:, self.rows], self.open[first]
        self.marginals, self.beta, self.phi, self.have = marginals.of(first), beta, server.phi[first], b[first]
        self.owner = (self.place[:, None] == np.arange(len(users))).astype(float)
        room = self.phi * (server.most[first] - self.have)
        self.limited = np.flatnonzero(np.isfinite(room))
        self.room = room[self.limited]
        with np.errstate(divide="ignore"):
            self.log_w = np.log(self.w)
        y = self.equal()
        start = np.log(self.have + y @ self.owner / self.phi)
        self.unit = float(np.mean(self.marginals.log(start))) / beta

    def equal(self) -> Floats:
        """(m,) 0.7 of an equal partition, or of what a user wants where that is less."""
        most = np.full(self.owner.shape[1], np.inf)
        most[self.limited] = 0.7 * self.room
        y = 0.7 / (len(self.place) * np.maximum(self.w.max(axis=1), 1.0))
        return np.asarray(y * np.minimum(1.0, most / (y @ self.owner))[self.place], dtype=float)

    def _at(self, y: Floats, k: Floats, h: Floats) -> TurnConditions:
        """The conditions and their derivatives."""
        beta, taken = self.beta, y @ self.owner
        z = self.have + taken / self.phi
        log_z = np.log(z)
        log_g = self.marginals.log(log_z)
        terms = self.log_w + beta * (np.log(k) + self.unit)
        log_p = np.logaddexp.reduce(terms, axis=1)
        E = (log_p - log_g[self.place]) / beta
        c = (self.marginals.elasticity(log_z, log_g) / beta / (self.phi * z))[self.place]
        share, free = np.exp(terms - log_p[:, None]), E <= FREE
        E, c, share = np.where(free, FREE, E), np.where(free, 0.0, c), np.where(free[:, None], 0.0, share)
        e = E + self.owner[:, self.limited] @ h
        return TurnConditions(e, 1.0 - y @ self.w, 1.0 - taken[self.limited] / self.room, share, c)

    def path(self) -> TurnPoint:
        """The end of the central path."""
        y = self.equal()
        k, h = np.ones(len(self.rows)), np.full(len(self.limited), 0.3)
        here, tau = self._at(y, k, h), FIRST_TAU
        point = TurnPoint(y, k, h, np.maximum(here.e, 0.1), np.maximum(here.s, 0.1), np.maximum(here.t, 0.1))
        for _ in range(MAX_STEPS):
            here = self._at(point.y, point.k, point.h)
            if self._error(point, here, tau) <= CLOSE:
                if tau <= LAST_TAU:
                    break
                tau *= SMALLER
            try:
                change = self._newton(point, here, tau)
            except np.linalg.LinAlgError:
                break
            if not np.all(np.isfinite(change)):
                break
            point = point.moved(change)
        return point

    def _error(self, point: TurnPoint, here: TurnConditions, tau: float) -> float:
        """The largest violation of the path's equations, in units of tau."""
        off = [here.e - point.e, here.s - point.s, here.t - point.t]
        products = [len(point.y) * point.y * point.e, point.k * point.s, point.h * point.t]
        linear = max(np.abs(part).max(initial=0.0) for part in off) / min(tau, 1.0)
        return float(max(linear, *(np.abs(part / tau - 1.0).max(initial=0.0) for part in products)))

    def _newton(self, point: TurnPoint, here: TurnConditions, tau: float) -> Floats:
        """The relative changes of y, k, h, e, s, t by Newton's method for the path's equations at tau."""
        y, k, h = point.y, point.k, point.h
        size = tau / len(y)
        J = self._jacobian(y, k, h, here) + np.diag(np.concatenate([point.e, point.s, point.t]))
        right = np.concatenate([size / y - here.e, tau / k - here.s, tau / h - here.t])
        across = np.abs(J).max(axis=1)
        J /= across[:, None]
        down = np.abs(J).max(axis=0)
        step = np.linalg.solve(J / down, right / across) / down
        products = np.concatenate([size / (y * point.e), tau / (k * point.s), tau / (h * point.t)])
        return np.concatenate([step, products - 1.0 - step])

    def _jacobian(self, y: Floats, k: Floats, h: Floats, here: TurnConditions) -> Floats:
        """The derivatives of E + h, s and t by changes of log kappa (R,), and of y (m,) and h (U,) in units of the given ones."""
        bound, prices, limits = self.owner[:, self.limited], len(k), len(h)
        return np.block(
            [
                [here.c[:, None] * (self.place[:, None] == self.place) * y, here.share, bound * h],
                [-(self.w * y[:, None]).T, np.zeros((prices, prices + limits))],
                [-(bound * y[:, None]).T / self.room[:, None], np.zeros((limits, prices + limits))],
            ]
        )

    def finished(self, y: Floats, k: Floats, h: Floats, used: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats] | None:
        """y, k, h that fulfil all conditions, from these and a guess `used` (m + R + U,) of the positive ones, else None."""
        ends, m = np.cumsum([len(y), len(k)]), len(y)
        weight, price = np.ones(len(used)), np.zeros(len(used), bool)
        weight[:m], price[ends[0] : ends[1]] = m, True
        now = np.concatenate([y, k, h])
        for _ in range(MAX_FINISH):
            now = np.where(used, np.where(price, np.maximum(now, LEAST_PRICE), now), 0.0)
            own = np.where(price, now, 1.0)
            own[:m] = np.maximum(now[:m], 1e-6 / m)
            step = self._step(now, own, used, ends)
            if step is None:
                return None
            now[used] = np.where(price[used], now[used] * np.exp(np.clip(step, -3.0, 3.0)), now[used] + own[used] * step)
            now = np.maximum(now, 0.0)
            left = self._left(now, ends)[1]
            if np.abs(np.minimum(now, left)).max() <= MET:
                y, k, h = np.split(now, ends)
                return y, k, h
            used = weight * now > left
        return None

    def _left(self, now: Floats, ends: NDArray[np.intp]) -> tuple[TurnConditions, Floats]:
        """The conditions at y, k and h, joined in `now`, and E + h, s and t joined in the same way."""
        y, k, h = np.split(now, ends)
        here = self._at(y, k, h)
        return here, np.concatenate([here.e, here.s, here.t])

    def _step(self, now: Floats, own: Floats, used: NDArray[np.bool_], ends: NDArray[np.intp]) -> Floats | None:
        """The Newton step of least norm of what is in use, in units of `own`; None where there are no numbers."""
        from scipy.linalg import lstsq

        here, left = self._left(now, ends)
        y, k, h = np.split(own, ends)
        J = self._jacobian(y, k, h, here)[used][:, used]
        across = np.maximum(np.abs(J).max(axis=1, initial=0.0), 1e-300)
        try:
            step: Floats = lstsq(J / across[:, None], -left[used] / across, cond=1e-13, lapack_driver="gelsy")[0]
        except (np.linalg.LinAlgError, ValueError):  # numbers out of range
            return None
        return step if np.all(np.isfinite(step)) else None


class VariantsResponse:
    """The answers of one server in turn; what was in use in the last one is the first guess of the next."""

    def __init__(self, server: ServerArrays, marginals: Marginals, beta: float) -> None:
        self.server, self.marginals, self.beta = server, marginals, beta
        self.y, self.h = np.zeros(len(server.arcs)), np.zeros(len(server.arcs))  # of the last turn, h that of the arc's user

    def answer(self, b: Floats, kappa: Floats) -> tuple[Floats, Floats]:
        """Y (m,) and the server's kappa (R,); the kappa given is that of the last turn, zeros at first."""
        found, y, multiplier = np.zeros_like(kappa), np.zeros_like(self.y), np.zeros_like(self.h)
        wanting = np.flatnonzero(self.server.most - b > SATISFIED * b)
        if len(wanting):
            turn = ServerTurn(self.server, self.marginals, self.beta, b, wanting)
            with np.errstate(all="ignore"):  # numbers out of range are steps that are not taken
                y[turn.open], k, h = self._solved(turn, kappa)
            found[turn.rows] = k * np.exp(turn.unit)
            multiplier[turn.open] = turn.owner[:, turn.limited] @ h
        self.y, self.h = y, multiplier
        return y, found

    def _solved(self, turn: ServerTurn, kappa: Floats) -> tuple[Floats, Floats, Floats]:
        """Steps 1 and 2."""
        y, k = self.y[turn.open], kappa[turn.rows] * np.exp(-turn.unit)
        h = np.zeros(turn.owner.shape[1])
        np.maximum.at(h, turn.place, self.h[turn.open])
        h = h[turn.limited]
        if kappa.any() and (same := turn.finished(y, k, h, np.concatenate([y, k, h]) > 0)) is not None:
            return same
        end = turn.path()
        used = np.concatenate([len(end.y) * end.y > end.e, end.k > end.s, end.h > end.t])
        return turn.finished(end.y, end.k, end.h, used) or (end.y, end.k, end.h)
