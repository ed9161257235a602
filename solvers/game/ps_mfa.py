r"""`ps-mfa`: K's Algorithm I (K 5.1), projected gradient descent on the merit function of Problem 3 (K 4.3).

1. Start at equal parts, x_ni = (phi_n / sum_m phi_m) gamma_ni, and lambda = 0.
2. Compute the gradient of Psi and the sets R_i of saturated resources.
3. Project: the direction v = (v_x, v_lambda) of (K 46-48).
4. Stop if |v| <= epsilon (K 54).
5. Choose the step length eta (K 49-53), move to x + eta v_x, lambda + eta v_lambda, and go to 2.

    min  Psi(x, lambda) = sum_i sum_n psi(x_ni, f_ni),   psi = psi_FB^2 / 2,  psi_FB(a, b) = sqrt(a^2 + b^2) - a - b    (K 35-37)
    s.t. sum_n x_ni d_nr <= c_ir,   lambda_ir >= 0 for r in R_i(x), the saturated resources,  lambda_ir = 0 for others  (K 38-40)

with f_ni = sum_r lambda_ir d_nr - g_i'(x_n / (phi_n gamma_ni)) / gamma_ni (K 31). The direction and the step are, with
beta_ir = -grad_x_i Psi . d_r, the rate at which the load of r changes along -grad_x_i Psi, and U the unit step with U(0) = 1,

    v_x of server i = -grad_x_i Psi projected onto the v with v.d_r <= 0 for r in R_i with lambda_ir = 0,
                      and v.d_r = 0 for r in R_i with lambda_ir > 0                                                     (K 46)
    v_lambda = -dPsi/dlambda + beta U(-beta dPsi/dlambda) for r in R_i, at lambda = 0 not below 0                       (K 47-48)
    x += eta v_x,  lambda += eta v_lambda   with eta such that Psi decreases, no capacity is exceeded, lambda >= 0      (K 49-53)

**Units.** The numbers of game/game.py: y for x, w for d, mu for lambda, capacities 1, and f_ni and mu_i divided by G_i, the
geometric mean of g_i' at the start. What K does not specify, and corrections of errors in K, are in
docs/reference/derivations.md. Finite alpha only.
"""

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.game.game import Game
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.session import ForFiniteAlpha, GameSession
from fairalloc.solvers.options import IterationOptions

FULL, ARMIJO = 1e-10, 1e-4
"""A load within this of 1 is full; the part of the slope by which a step must lower the merit."""


class Merit:
    """Psi with its gradient in y (A,) and mu (K, R)."""

    def __init__(self, game: Game) -> None:
        self.game, weights = game, game.instance.weights
        self.equal = weights[game.user] / weights.sum()
        log_g = game.log_marginal(game.shares(game.tasks(self.equal * game.gamma)))
        count = np.maximum(np.bincount(game.server, minlength=game.instance.K), 1)
        self.log_G = np.bincount(game.server, log_g, game.instance.K) / count

    def marginal(self, y: Floats) -> tuple[Floats, Floats]:
        """(A,) g_i' / G_i, and its derivative by -x_n."""
        game = self.game
        z = game.shares(game.tasks(y * game.gamma))
        with np.errstate(over="ignore"):
            g = np.exp(game.log_marginal(z) - self.log_G[game.server])
        return g, game.elasticity(z) * g / (z * game.unit)

    def cost(self, mu: Floats) -> Floats:
        """(A,) sum_r w_nir mu_ir."""
        return np.asarray((self.game.w * mu[self.game.server]).sum(axis=1), dtype=float)

    def start(self, x: Floats) -> Floats:
        """(A,) y of tasks x (A,), or equal parts where a user has none there."""
        y: Floats = x / self.game.gamma
        return y if self.feasible(y) else self.equal.copy()

    def feasible(self, y: Floats) -> bool:
        """Whether every user has tasks."""
        return bool(np.all(self.game.tasks(y * self.game.gamma) > 0))

    def value(self, y: Floats, mu: Floats) -> float:
        """Psi; inf where a user has nothing."""
        if not self.feasible(y):
            return np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            total = 0.5 * float((fischer_burmeister(y, self.cost(mu) - self.marginal(y)[0]) ** 2).sum())
        return total if np.isfinite(total) else np.inf

    def gradient(self, y: Floats, mu: Floats) -> tuple[Floats, Floats]:
        """dPsi/dy (A,) and dPsi/dmu (K, R) (K 93-94)."""
        game, (g, slope) = self.game, self.marginal(y)
        f = self.cost(mu) - g
        phi, r = fischer_burmeister(y, f), np.hypot(y, f)
        with np.errstate(invalid="ignore", divide="ignore"):
            by_y, by_f = (np.where(r > 0, phi * (v / r - 1.0), 0.0) for v in (y, f))
        by_tasks = game.tasks(by_f * slope)
        by_mu = np.zeros_like(mu)
        np.add.at(by_mu, game.server, game.w * by_f[:, None])
        return by_y + game.gamma * by_tasks[game.user], by_mu

    def kappa(self, mu: Floats) -> Floats:
        """(K, R) the levels of formulations/game/game.py of prices mu."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp((np.log(mu) + self.log_G[:, None]) / self.game.beta[:, None]), dtype=float)


def fischer_burmeister(a: Floats, b: Floats) -> Floats:
    """sqrt(a^2 + b^2) - a - b (K 35), without cancellation where a + b > 0."""
    r, total = np.hypot(a, b), a + b
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, -2.0 * a * b / (r + total), r - total)


class PsMfaSession(GameSession):
    def iterate(self) -> None:
        self.merit = Merit(self.game)
        self.y, self.mu = self.merit.equal.copy(), np.zeros((self.instance.K, self.instance.R))  # 1
        try:
            self.why = self._descend()
        finally:  # after an interrupt too
            self.x, self.prices = scaled_down(self.instance, self.y * self.game.gamma), self.merit.kappa(self.mu)
        self.gap = self.game.residual(self.x, self.prices)
        self.ended = "iteration_limit" if self.done == self.options.max_iterations else "inaccurate"

    def _descend(self) -> str:
        merit = self.merit
        value, size, eta, epsilon = merit.value(self.y, self.mu), np.inf, 1.0, self.limits.promised
        while self.done < self.options.max_iterations:
            self.done += 1
            by_y, by_mu = merit.gradient(self.y, self.mu)  # 2
            if not np.isfinite(by_y).all():
                return f"the merit {value:.1e} has no gradient in floating point"
            vy, vmu, slope = self._direction(by_y, by_mu)  # 3
            size = float(np.hypot(np.linalg.norm(vy), np.linalg.norm(vmu)))
            self.record(merit=value, direction=size)
            if size <= epsilon:  # 4
                if epsilon < 1e-14 or self.game.residual(self.y * self.game.gamma, merit.kappa(self.mu)) <= self.limits.promised:
                    return f"|v| is {size:.0e} where the merit is {value:.1e}"
                epsilon /= 10.0
            if self.limits.late:
                break
            found = self._step(vy, vmu, value, slope, 2.0 * eta)  # 5
            if found is None:
                return f"no step lowers the merit {value:.1e}, though |v| is {size:.0e}"
            eta, value = found
        return f"|v| is {size:.0e} and the merit {value:.1e} after {self.done} iterations"

    def _direction(self, by_y: Floats, by_mu: Floats) -> tuple[Floats, Floats, float]:
        """v_y, v_mu and the slope of Psi along them, from its gradient."""
        game = self.game
        self.load = game.load(self.y)
        full = (self.load >= 1.0 - FULL) | (self.mu > 0)
        vy = -by_y
        for server in self.servers:
            i, here = server.index, server.arcs
            if full[i].any():
                vy[here] = projected(-by_y[here], server.w[:, full[i]], self.mu[i, full[i]] > 0)
        self.rate = game.load(vy)
        beta = -game.load(by_y)
        vmu = -by_mu + np.where(-beta * by_mu >= 0, beta, 0.0)
        leaving = (self.mu == 0) & (self.rate < -FULL * np.abs(beta))
        vmu = np.where(self.mu > 0, vmu, np.maximum(vmu, 0.0))
        vmu = np.where(full & ~leaving, vmu, 0.0)
        self.rate[full] = np.minimum(self.rate[full], 0.0)
        return vy, vmu, float(by_y @ vy + (by_mu * vmu).sum())

    def _step(self, vy: Floats, vmu: Floats, value: float, slope: float, eta: float) -> tuple[float, float] | None:
        """Move; (eta, Psi), or None where Psi does not fall."""
        with np.errstate(divide="ignore", invalid="ignore"):
            slack = np.where(self.rate > 0, (1.0 - self.load) / self.rate, np.inf)
            paid = np.where(vmu < 0, self.mu / -vmu, np.inf)
        eta = float(min(eta, slack.min(), paid.min()))
        while eta > 1e-20:
            y, mu = self.y + eta * vy, np.maximum(self.mu + eta * vmu, 0.0)
            mu[(vmu < 0) & (paid <= eta)] = 0.0
            new = self.merit.value(y, mu)
            if new < value and new <= value + ARMIJO * eta * slope:
                self.y, self.mu = y, mu
                return eta, new
            eta /= 2.0
        return None


def projected(gradient: Floats, d: Floats, equal: NDArray[np.bool_]) -> Floats:
    """(m,) the projection of a vector onto {v | v.d_r <= 0, = 0 where `equal`} for the columns d_r of d (K 46, 112-114)."""
    from scipy.optimize import nnls

    columns = np.hstack([d, -d[:, equal]])
    price, _ = nnls(columns, gradient, maxiter=100 * columns.shape[1])
    return np.asarray(gradient - columns @ price, dtype=float)


class PsMfa(ForFiniteAlpha):
    """K's Algorithm I; the trace has `iteration`, `merit` (Psi), `direction` (|v|) and `seconds`."""

    id = "ps-mfa"
    options = IterationOptions(max_iterations=20_000)
    warm = False  # without prices to go with it, a start near the answer took a hundred times the steps
    session = PsMfaSession


methods = (PsMfa(),)
