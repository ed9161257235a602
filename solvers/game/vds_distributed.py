r"""`vds-distributed`: K's distributed heuristic (K 5.2): gradient steps of all servers, with penalties as prices.

1. Start at equal parts with epsilon = 0.1.
2. On all servers at once: prices by (K 57), directions by (K 55), tasks by (K 56).
3. Repeat 2 until the largest |v| is at most epsilon^2 / 10.
4. Read the answer: divide the tasks of each server by its largest load, and compute the residual.
5. While the residual is too large, divide epsilon by sqrt(10) and go to 2.

    v_ni = [-f_ni(x, lambda)]^+ at x_ni = 0, else -f_ni(x, lambda)                                              (K 55)
    x_ni = [x_ni + kappa_i v_ni]^+                                                                             (K 56)
    lambda_ir = [sum_m x_mi d_mr - c_ir + epsilon]^+ / epsilon^2                                               (K 57)

A server needs its own free resources and the totals x_n of its users only. The numbers are those of ps_mfa.py: loads are
fractions of capacity, and prices and f are in units of g_i' at equal parts, so that one epsilon suits all resources; K's epsilon
has different units in its two places.

What K does not specify, and steps 4 and 5, which are not K's, are in docs/reference/derivations.md. Finite alpha only.
"""

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.ps_mfa import Merit
from fairalloc.solvers.game.session import ForFiniteAlpha, GameSession
from fairalloc.solvers.options import IterationOptions

EPSILON, SMALLER = 0.1, 0.1**0.5
"""The first epsilon of (K 57), a part of every capacity (smaller ones make the first steps too small), and how it decreases."""


class VdsDistributedSession(GameSession):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.merit, self.stiff = Merit(self.game), np.zeros(self.instance.K)
        for server in self.servers:
            self.stiff[server.index] = np.linalg.norm(server.w, 2) ** 2
        self.everywhere = np.bincount(self.game.user, self.game.gamma, self.instance.N)[self.game.user]

    def iterate(self) -> None:
        self.y, self.epsilon = self.merit.start(self.first_point()), EPSILON  # 1
        self.x = self._read()[0]
        while True:
            self._rest()  # 2, 3
            x, kappa = self._read()  # 4
            if not np.isfinite(x).all():
                self.gap, self.why, self.ended = self.game.residual(self.x), "its numbers overflow", "inaccurate"
                return
            self.keep(self.game.residual(x, kappa), x, kappa, epsilon=self.epsilon)
            self.why = f"epsilon was {self.epsilon:.0e} after {self.done} iterations"
            if self.gap <= self.limits.promised or self.limits.late or self.done >= self.options.max_iterations:
                return
            self.epsilon *= SMALLER  # 5

    def _rest(self) -> None:
        """Iterate with one epsilon until v is small."""
        while self.done < self.options.max_iterations and not self.limits.late:
            self.done += 1
            if not self.move() > self.epsilon**2 / 10.0:  # nan too
                return

    def move(self) -> float:
        """(K 55-57) on all servers; the largest |v|."""
        game = self.game
        g, slope = self.merit.marginal(self.y)
        v = g - self.merit.cost(self.penalties())
        v = np.where(self.y > 0, v, np.maximum(v, 0.0))
        change = self.stiff / self.epsilon**2
        np.maximum.at(bend := np.zeros_like(change), game.server, slope * self.everywhere)
        y = np.maximum(self.y + v / (change + bend)[game.server], 0.0)
        # where a user would lose everything at once, only g' = inf would bring it back
        self.y = y if self.merit.feasible(y) else np.maximum(y, 0.5 * self.y)
        return float(np.abs(v).max())

    def penalties(self) -> Floats:
        """(K, R) mu by (K 57)."""
        return np.maximum(self.game.load(self.y) - 1.0 + self.epsilon, 0.0) / self.epsilon**2

    def _read(self) -> tuple[Floats, Floats]:
        """Tasks with every server's largest load at 1, and the levels of the prices."""
        largest = self.game.load(self.y).max(axis=1)[self.game.server]
        return self.y / np.where(largest > 0, largest, 1.0) * self.game.gamma, self.merit.kappa(self.penalties())


class VdsDistributed(ForFiniteAlpha):
    """K (55)-(57); the trace has `iteration`, `epsilon`, `residual` and `seconds` for every epsilon."""

    id = "vds-distributed"
    session = VdsDistributedSession
    options = IterationOptions(max_iterations=100_000)


methods = (VdsDistributed(),)
