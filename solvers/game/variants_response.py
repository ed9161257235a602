r"""One server's answer given the others, where users have several variants: to Problem 1 for finite alpha, and of PS-DSF.

**Finite alpha** (game/game.py):

1. Read off the last answer which arcs, prices and limits are in use, and solve their equations by Newton's method. What comes out
   is the answer if it fulfils all conditions.
2. Else follow the central path: from an equal partition with FIRST_TAU take damped Newton steps, and lower tau wherever the point
   is close to the path, until LAST_TAU. Then step 1 from there; where that fails, the end of the path is the answer.

With shares b_n from elsewhere, z_n = b_n + sum_v y_nv / phi_n and kappa_r = mu_r^(1 / beta), the conditions are

    E_a(y, kappa) = (log sum_r w_ar kappa_r^beta - log g'(z_n)) / beta
    0 <= y_a      complements  e_a = E_a + h_n >= 0                      for every arc a of n
    0 <= kappa_r  complements  s_r = 1 - sum_a w_ar y_a >= 0
    0 <= h_n      complements  t_n = 1 - sum_v y_nv / room_n >= 0        room_n = phi_n (m_n - b_n), for users with a limit

On the path every product is tau (that of an arc tau / m). docs/reference/derivations.md has the concave program behind this.

**Newton.** Unknowns are relative changes l of y, u of kappa, m of h; those of e, s, t are eliminated:

    e_a l_a + c_n sum_v y_nv l_nv + sum_r share_ar u_r + h_n m_n = tau / (m y_a) - E_a - h_n,      c_n = pull_n / (phi_n z_n)
    -sum_a w_ar y_a l_a + s_r u_r = tau / kappa_r - 1 + sum_a w_ar y_a
    -sum_v y_nv l_nv / room_n + t_n m_n = tau / h_n - 1 + sum_v y_nv / room_n

and step 1 has the same equations with tau = 0 on what is in use, 0 in the place of e, s and t, and steps of least norm: the split
between variants need not be unique.

**PS-DSF by linear programs** (game/ps_dsf_variants.py, `max_min_response`):

1. Everybody with tasks left to want is active. Start with no levels.
2. Solve  max g  s.t.  sum_a w_ar y_a <= 1,   sum_v y_nv >= phi_n (g - b_n) for active n, = what it was fixed at for the others,
   g <= the least m_n of an active n (the share at which it has all that it wants).
3. Fix at this g the active users whose row has a price: they cannot have more without less for users of no larger share. Where g
   is somebody's m_n, fix that user too. Repeat from 2 until nobody is active.

Each program fixes somebody, so they are at most as many as users. A user with b_n > g has no row that binds, and is fixed when g
comes to b_n. The y of the last program are max-min fair.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.formulations.game.marginal import Marginals
from fairalloc.models.numbers import TEN_DIGITS, Floats, linear_program
from fairalloc.solvers.game.central_path import fits
from fairalloc.solvers.game.session import ServerArrays
from fairalloc.solvers.kkt.matrices import ScaledLU

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

PRICED = 1e-7
"""The part of all prices from which on a row of a linear program counts as one with a price: they add up to 1."""


class ServerTurn:
    """Problem 1 of a server at given shares b, on the arcs of the users who do not have all they want from elsewhere.

    Points v are y (m,), kappa (R,) in units of the turn and h (U,), one after the other, and w are e, s and t in the same way.
    `weight` are the factors of v w = tau: m for the arcs, else 1.
    """

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
        sizes = (len(self.place), len(self.rows), len(self.limited))
        self.ends, self.weight = np.cumsum(sizes[:2]), np.repeat((float(sizes[0]), 1.0, 1.0), sizes)
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

    def conditions(self, v: Floats, own: Floats) -> tuple[Floats, Floats]:
        """E + h, s and t at v, and their derivatives by changes of log kappa, and of y and h in units of those in `own`."""
        (y, k, h), beta, bound = np.split(v, self.ends), self.beta, self.owner[:, self.limited]
        taken = y @ self.owner
        z = self.have + taken / self.phi
        log_z = np.log(z)
        log_g = self.marginals.log(log_z)
        terms = self.log_w + beta * (np.log(k) + self.unit)
        log_p = np.logaddexp.reduce(terms, axis=1)
        E = (log_p - log_g[self.place]) / beta
        c = (self.marginals.elasticity(log_z, log_g) / beta / (self.phi * z))[self.place]
        share, free = np.exp(terms - log_p[:, None]), E <= FREE
        E, c, share = np.where(free, FREE, E), np.where(free, 0.0, c), np.where(free[:, None], 0.0, share)
        w = np.concatenate([E + bound @ h, 1.0 - y @ self.w, 1.0 - taken[self.limited] / self.room])
        y, k, h = np.split(own, self.ends)
        prices, limits = len(k), len(h)
        jacobian = [
            [c[:, None] * (self.place[:, None] == self.place) * y, share, bound * h],
            [-(self.w * y[:, None]).T, np.zeros((prices, prices + limits))],
            [-(bound * y[:, None]).T / self.room[:, None], np.zeros((limits, prices + limits))],
        ]
        return w, np.block(jacobian)

    def path(self) -> tuple[Floats, Floats]:
        """The end of the central path, v and w."""
        v, tau = np.concatenate([self.equal(), np.ones(len(self.rows)), np.full(len(self.limited), 0.3)]), FIRST_TAU
        w = np.maximum(self.conditions(v, v)[0], 0.1)
        for _ in range(MAX_STEPS):
            now, J = self.conditions(v, v)
            product = self.weight * v * w / tau
            if max(np.abs(now - w).max() / min(tau, 1.0), np.abs(product - 1.0).max()) <= CLOSE:
                if tau <= LAST_TAU:
                    break
                tau *= SMALLER
                product /= SMALLER
            step = ScaledLU(J + np.diag(w)).solve(tau / (self.weight * v) - now)
            change = np.concatenate([step, 1.0 / product - 1.0 - step])
            if not np.all(np.isfinite(change)):
                break
            v, w = np.split(np.concatenate([v, w]) * (1.0 + fits(change) * change), 2)
        return v, w

    def finished(self, v: Floats, used: NDArray[np.bool_]) -> Floats | None:
        """The v that fulfils all conditions, from this one and a guess `used` (m + R + U,) of the positive ones, else None."""
        place = np.arange(len(v))
        arc, price = place < self.ends[0], (self.ends[0] <= place) & (place < self.ends[1])
        for _ in range(MAX_FINISH):
            v = np.where(used, np.where(price, np.maximum(v, LEAST_PRICE), v), 0.0)
            own = np.where(price, v, np.where(arc, np.maximum(v, 1e-6 / self.weight), 1.0))
            now, J = self.conditions(v, own)
            if (step := least_step(J[used][:, used], -now[used])) is None:
                return None
            v[used] = np.where(price[used], v[used] * np.exp(np.clip(step, -3.0, 3.0)), v[used] + own[used] * step)
            v = np.maximum(v, 0.0)
            now, _ = self.conditions(v, own)
            if np.abs(np.minimum(v, now)).max() <= MET:
                return v
            used = self.weight * v > now
        return None


def least_step(J: Floats, right: Floats) -> Floats | None:
    """The solution of least norm; None where there are no numbers."""
    from scipy.linalg import lstsq

    across = np.maximum(np.abs(J).max(axis=1, initial=0.0), 1e-300)
    try:
        step: Floats = lstsq(J / across[:, None], right / across, cond=1e-13, lapack_driver="gelsy")[0]
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
                y[turn.open], k, h = np.split(self._solved(turn, kappa), turn.ends)
            found[turn.rows] = k * np.exp(turn.unit)
            multiplier[turn.open] = turn.owner[:, turn.limited] @ h
        self.y, self.h = y, multiplier
        return y, found

    def _solved(self, turn: ServerTurn, kappa: Floats) -> Floats:
        """Steps 1 and 2."""
        h = np.zeros(turn.owner.shape[1])
        np.maximum.at(h, turn.place, self.h[turn.open])
        last = np.concatenate([self.y[turn.open], kappa[turn.rows] * np.exp(-turn.unit), h[turn.limited]])
        if kappa.any() and (same := turn.finished(last, last > 0)) is not None:
            return same
        v, w = turn.path()
        found = turn.finished(v, turn.weight * v > w)
        return v if found is None else found


def max_min_response(server: ServerArrays, b: Floats) -> tuple[Floats, Floats]:
    """The server's max-min fair y (m,), and the level (R,) at which each resource first had a price, else inf."""
    users, first, place = np.unique(server.user, return_index=True, return_inverse=True)
    phi, most, have = server.phi[first], server.most[first], b[first]
    size, R = len(server.user), server.w.shape[1]
    owner = sp.csr_array((np.ones(size), (place, np.arange(size))), shape=(len(users), size))
    fixed, levels, y = np.where(have >= most, 0.0, np.nan), np.full(R, np.inf), np.zeros(size)
    load = sp.hstack([sp.csr_array(server.w.T), sp.csr_array((R, 1))], format="csr")
    while np.isnan(fixed).any():
        active = np.flatnonzero(np.isnan(fixed))
        done = np.flatnonzero(~np.isnan(fixed))
        rises = sp.hstack([-owner[active], sp.csr_array(phi[active][:, None])], format="csr")
        kept = sp.hstack([owner[done], sp.csr_array((len(done), 1))], format="csr")
        answer = linear_program(
            np.append(np.zeros(size), -1.0),
            sp.vstack([load, rises], format="csr"),
            np.concatenate([np.ones(R), phi[active] * have[active]]),
            TEN_DIGITS,
            A_eq=kept,
            b_eq=fixed[done],
            bounds=[(0.0, None)] * size + [(0.0, float(most[active].min()))],
        )
        if answer.x is None:  # by rounding: what is fixed does not fit any more
            break
        y, g, price = np.maximum(answer.x[:size], 0.0), float(answer.x[size]), -answer.ineqlin.marginals
        levels[(price[:R] > PRICED) & np.isinf(levels)] = g
        paid = price[R:] * phi[active]
        full = (paid > PRICED) | (most[active] <= g * (1.0 + 1e-13))
        full = full if full.any() else paid >= paid.max()
        fixed[active[full]] = phi[active[full]] * np.maximum(np.minimum(g, most[active[full]]) - have[active[full]], 0.0)
    over = max(float((y @ server.w).max(initial=0.0)), 1.0)
    return y / over, levels
