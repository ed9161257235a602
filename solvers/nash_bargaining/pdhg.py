r"""`pdhg`: Nash bargaining by the restarted primal-dual hybrid gradient method, which finds the prices of a market.

1. Start at an equal partition and equal prices; the anchor z_0 is this point.
2. Apply T, the primal-dual hybrid gradient step: one product with the sparse matrix and one with its transpose.
3. Halpern's iteration: move from the reflection 2 T z - z towards the anchor.
4. Every CHECK iterations compute the residual that the prices prove; end if it is small enough.
5. Where |T z - z| has decreased to PROGRESS since the anchor, or the anchor has been used for the part LONG of the run: take the
   present point as the anchor and choose the ratio omega of the step sizes again. Go to 2.

The program of nb.py with the tasks u_n as variables of their own is the saddle point

    min over x >= 0, u <= max_tasks   max over p >= 0, q   - sum_n w_n log u_n + p (load x - 1) + q (u - owner x)

p are the prices of the resources and q_n is the marginal utility of a task to user n: w_n / u_n unless the limit binds. The
primal-dual hybrid gradient method (Chambolle and Pock 2011) takes T(x, u, p, q) = (x', u', p', q'):

    x' = max(x - tau (load^T p - owner^T q), 0)               tasks increase where the price is below the utility
    u' = argmin over u <= max_tasks of  q u - w log u + (u - u_now)^2 / 2 tau
    p' = max(p + sigma (load (2 x' - x) - 1), 0)              tatonnement: a price rises where demand exceeds supply
    q' = q + sigma (2 u' - u - owner (2 x' - x))              q_n rises where user n has fewer tasks than it demands at q_n

Steps tau, sigma are diagonal (Pock and Chambolle 2011), tau_j = 1 / (omega sum_i |K_ij|), sigma_i = omega / sum_j |K_ij|. In
Halpern's iteration z_n+1 = (n + 1) / (n + 2) (2 T z_n - z_n) + z_0 / (n + 2). docs/reference/derivations.md has its convergence.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.weak_duality import feasible
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Iteration, Method
from fairalloc.solvers.options import IterationOptions, at_accuracy

TARGET = {"low": 1e-4, "mid": 1e-12, "high": 1e-13}
"""The bound at which each accuracy stops, far below the promised residual: at price 0 tasks are known to its square root."""

CHECK, PROGRESS, LONG = 40, 0.2, 0.36
"""Steps from one check, which costs about as much as a step, to the next; the part of its length at the last restart to which a
step has decreased, and the part of all steps taken since then, at which it restarts (PDLP's rules)."""


@dataclass(frozen=True)
class SaddlePoint:
    """A primal point (x, u) and a dual point (p, q)."""

    primal: Floats
    dual: Floats

    def towards(self, other: "SaddlePoint", part: float) -> "SaddlePoint":
        """The point that far on the line to another one."""
        return SaddlePoint(self.primal + part * (other.primal - self.primal), self.dual + part * (other.dual - self.dual))


class SaddleProblem:
    """The saddle point in units of order one: x in what the arc could run alone, u in an equal part, weights that sum to 1."""

    def __init__(self, instance: Instance) -> None:
        arcs = instance.arcs
        self.instance, self.arcs, self.rows = instance, len(arcs), instance.K * instance.R
        self.w = instance.weights / instance.weights.sum()
        self.unit = np.minimum(self.w * (arcs.owner @ arcs.gamma), instance.max_tasks)
        self.limit = instance.max_tasks / self.unit
        alone = sp.diags_array(arcs.gamma)
        owner = sp.diags_array(1.0 / self.unit) @ arcs.owner @ alone
        self.matrix = sp.block_array([[arcs.load @ alone, None], [-owner, sp.eye_array(instance.N)]], format="csr")
        self.transposed, size = sp.csr_array(self.matrix.T), abs(self.matrix)
        across = size.sum(axis=1)
        self.tau, self.sigma = 1.0 / size.sum(axis=0), 1.0 / np.where(across > 0, across, 1.0)  # the steps for omega = 1
        self.supply = np.append(np.ones(self.rows), np.zeros(self.instance.N))

    def start(self) -> SaddlePoint:
        """An equal partition, equal prices."""
        n = self.instance.N
        return SaddlePoint(
            np.append(np.full(self.arcs, 1.0 / n), np.minimum(1.0, self.limit)),
            np.append(np.full(self.rows, 1.0 / self.rows), self.w),
        )

    def near(self, x: Floats, prices: Floats | None) -> SaddlePoint:
        """Feasible tasks with these prices, in any unit, and q_n = w_n / u_n; an equal partition where a user has no tasks."""
        u = self.instance.arcs.owner @ x / self.unit
        if np.any(u <= 0):
            return self.start()
        p = np.ones(self.rows) if prices is None or not prices.sum() > 0 else np.maximum(prices.ravel(), 0.0)
        return SaddlePoint(np.append(x / self.instance.arcs.gamma, u), np.append(p / p.sum(), self.w / u))

    def step(self, now: SaddlePoint, omega: float) -> SaddlePoint:
        """T."""
        tau, sigma = self.tau / omega, self.sigma * omega
        moved = now.primal - tau * (self.transposed @ now.dual)
        x, u = np.split(moved, [self.arcs])
        best = (u + np.sqrt(u * u + 4.0 * tau[self.arcs :] * self.w)) / 2.0
        primal = np.append(np.maximum(x, 0.0), np.minimum(best, self.limit))
        dual = now.dual + sigma * (self.matrix @ (2.0 * primal - now.primal) - self.supply)
        dual[: self.rows] = np.maximum(dual[: self.rows], 0.0)
        return SaddlePoint(primal, dual)

    def way(self, one: SaddlePoint, other: SaddlePoint) -> tuple[float, float]:
        """Lengths of the primal and the dual way between two points, for omega = 1."""
        primal, dual = other.primal - one.primal, other.dual - one.dual
        return float(np.sqrt(primal @ (primal / self.tau))), float(np.sqrt(dual @ (dual / self.sigma)))

    def movement(self, now: SaddlePoint, new: SaddlePoint, omega: float) -> float:
        """|T z - z|, from z to T z, in the norm in which T is nonexpansive."""
        primal, dual = self.way(now, new)
        cross = (new.dual - now.dual) @ (self.matrix @ (new.primal - now.primal))
        return float(np.sqrt(max(omega * primal**2 + dual**2 / omega - 2.0 * cross, 0.0)))

    def tasks(self, point: SaddlePoint) -> Floats:
        """(A,) feasible tasks."""
        return feasible(self.instance, point.primal[: self.arcs] * self.instance.arcs.gamma)

    def prices(self, point: SaddlePoint) -> Floats:
        """(K, R) prices for the instance's weights."""
        p: Floats = np.maximum(point.dual[: self.rows], 0.0) * self.instance.weights.sum()
        return p.reshape(self.instance.K, self.instance.R)


class Epoch:
    """The iterations from one restart to the next."""

    def __init__(self, saddle: SaddleProblem, anchor: SaddlePoint, omega: float) -> None:
        self.saddle, self.anchor, self.omega = saddle, anchor, omega
        self.now = self.new = anchor
        self.count, self.first = 0, np.inf

    def advance(self) -> None:
        """One step of Halpern's iteration."""
        if self.count:
            reflected = self.now.towards(self.new, 2.0)
            self.now = self.anchor.towards(reflected, self.count / (self.count + 1))
        self.new = self.saddle.step(self.now, self.omega)
        self.first = self.first if self.count else self.saddle.movement(self.now, self.new, self.omega)
        self.count += 1

    def over(self, iterations: int) -> bool:
        """PDLP's rules: enough progress, or too long a part of all iterations."""
        late = self.count >= LONG * iterations
        return late or self.saddle.movement(self.now, self.new, self.omega) <= PROGRESS * self.first

    def restarted(self) -> "Epoch":
        """The next epoch, from here."""
        primal, dual = self.saddle.way(self.anchor, self.new)
        moved = min(primal, dual) > np.finfo(float).eps
        return Epoch(self.saddle, self.new, dual / primal if moved else self.omega)


class PdhgSession(Iteration):
    """The saddle point of one instance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        with self.phase("build"):
            self.saddle = SaddleProblem(self.instance)

    def iterate(self) -> None:
        """To the target; the residual is what the prices of a point prove."""
        target = min(at_accuracy(TARGET, self.limits.accuracy), self.limits.promised)
        omega = float(np.linalg.norm(self.saddle.w) / np.sqrt(self.instance.N))
        given, first = self.limits.start, self.saddle.start()
        if given is not None:  # a warm start, with the prices of its utilities
            first = self.saddle.near(feasible(self.instance, given), self.limits.start_prices)
        epoch = Epoch(self.saddle, first, omega)  # 1
        for done in range(0, self.options.max_iterations + 1, CHECK):
            self.done = done
            x, prices = self.saddle.tasks(epoch.new), self.saddle.prices(epoch.new)
            self.keep(self.mechanism.residual(Allocation(self.instance, x, prices=prices)), x, prices)  # 4
            if self.x is x:
                self.offer(x, prices)
            if self.gap <= target or self.limits.late:
                return
            for _ in range(CHECK):
                epoch.advance()  # 2, 3
            epoch = epoch.restarted() if epoch.over(done + CHECK) else epoch  # 5


class Pdhg(Method):
    """Restarted Halpern primal-dual hybrid gradient; the trace has `iteration`, `residual` (its own bound) and `seconds`."""

    id = "pdhg"
    kind = "first-order"
    anytime = True
    session = PdhgSession
    kinds = (NashBargaining,)
    options = IterationOptions(max_iterations=100_000)
    warm = True


methods = (Pdhg(),)
