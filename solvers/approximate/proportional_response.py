"""`proportional-response`: a market in which everybody bids in proportion to what it got (Wu and Zhang 2007; Zhang 2011).

With one resource a server is a divisible good: b_ni is what user n bids for server i, p_i = sum_n b_ni its price, and n gets the
part b_ni / p_i, on which it runs x_ni = gamma_ni b_ni / p_i tasks. In the next round each bids in proportion to its tasks:

    b_ni <- w_n x_ni / u_n,   u_n = sum_i x_ni

At a fixed point n bids only where its tasks for money, gamma_ni / p_i, are most, u_n / w_n: the market's equilibrium, so nb.
It is mirror descent on Shmyrev's program, whose gap after T rounds is at most W log(N K) / T (Birnbaum, Devanur and Xiao 2011).
"""

import numpy as np

from fairalloc.formulations.common.duality_gap import first_order_gain
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Iteration, Method
from fairalloc.solvers.options import IterationOptions

CHECK = 10
"""Rounds from one look at the residual and the clock to the next."""


class ResponseSession(Iteration):
    """The bids in one market."""

    def iterate(self) -> None:
        """From equal bids on all arcs, until what the prices prove is what was promised."""
        instance, arcs, w = self.instance, self.instance.arcs, self.instance.weights
        bids = (w / np.diff(arcs.owner.indptr))[arcs.user]
        for done in range(self.options.max_iterations + 1):
            prices: Floats = np.bincount(arcs.server, bids, instance.K).astype(float)
            x = arcs.gamma * bids / np.maximum(prices, np.finfo(float).tiny)[arcs.server]
            u, self.done = arcs.owner @ x, done
            if done % CHECK == 0 or done == self.options.max_iterations:
                if self.keep(first_order_gain(Allocation(instance, x), w / u, prices[:, None]), x, prices[:, None]) == self.gap:
                    self.offer(self.x, self.prices)
                if self.gap <= self.limits.promised or self.limits.late:
                    return
            bids = (w / u)[arcs.user] * x


class ProportionalResponse(Method):
    """A baseline for markets, one resource a server; the trace has `iteration`, `residual` (its own bound) and `seconds`."""

    id = "proportional-response"
    kind = "approximate"
    kinds = (NashBargaining,)
    session = ResponseSession
    options = IterationOptions(max_iterations=1_000)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        domain = mechanism.domain(instance)
        if domain.R > 1:
            return f"{self.id} is for markets with one resource, but there are {domain.R}"
        for n in np.flatnonzero(np.isfinite(domain.max_tasks))[:1]:
            return f"{self.id} is for users without a limit, but user {domain.users[n]!r} has max_tasks {domain.max_tasks[n]:g}"
        return ""


methods = (ProportionalResponse(),)
