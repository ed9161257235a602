r"""Sums of concave utilities of the users' tasks, `nb` and `alpha-fair`, by a primal-dual interior-point method; see program.py.

The program of formulations/nb.py and alpha_fair.py in units in which an equal partition is about (1, .., 1), for one alpha > 1
what users demand at equal prices: x_a is what arc a adds to t_n, what user n has. On the right the dual variables, which are the
prices of a market (nb: Eisenberg and Gale):

    max  sum_n c_n G(t_n)    s.t.    load x + s = 1                    p >= 0      prices of the resources
         G'(t) = t^-alpha            owner x - t = 0                   y           marginal utility, y_n = c_n t_n^-alpha
                                     owner x + r = limit               z >= 0      prices of the limits
         x, s, r >= 0                                                  d = load^T p - owner^T (y - z) >= 0

1. Start near an equal partition, at equal prices and the marginal utilities there.
2. Newton steps towards x d = s p = r z = mu, with mu falling to 0, as in program.py; the users' equation is not y t = mu, as for
   max-min, but

       t = (c / y)^(1 / alpha)      what the user demands at y, with the derivative dt / dy = - t / (alpha y).

   For nb it is y t = w, another product: that is why it takes the steps of max-min. Terms of second order are corrected as
   those of the products.
3. End where the error no longer decreases: the largest of the relative gap at the marginal utilities of t, the residuals, and
   what users without a limit demand more than they have.

Where a row is full at price 0, tasks are known to about the square root of the gap only. So the iteration ends where that is
what users may be off, and tasks hardly change.
"""

from typing import Self

import numpy as np

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.common.user_error import SAME
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions, PrimalDual, Residuals
from fairalloc.solvers.interior_point.program import ArrowProgram, ArrowSession, Result
from fairalloc.solvers.method import Limits
from fairalloc.solvers.options import allowed_user_error
from fairalloc.solvers.running.warm_start import equal_partition

FLOOR, LAG = 1e-13, 1e-4
"""Mu is not pushed below this part of what the user pays that pays least, nor of what any demand costs more than its tasks."""

CHANGE, BOUNDED, FLAT = 0.02, 0.03, 1e-4
"""The part of the error allowed to users that the last iteration may change tasks by, and that the square of a bound on it may
be, by the gap; the square of the largest bound there is (common/user_error.py).
"""


class AlphaFairArrow(ArrowProgram):
    """The program of one mechanism; c (N,) sums to 1, and the mechanism's objective is `worth` times this one's.

    `alpha` is one for all users, or (N,) theirs.
    """

    @np.errstate(all="ignore")  # for large alpha
    def __init__(self, mechanism: AlphaFair, instance: Instance) -> None:
        arcs, weights, rate = instance.arcs, instance.weights, mechanism.rate(instance)
        self.alpha, self.is_mean = mechanism.alphas(instance), mechanism.is_mean
        if self.is_mean:
            cost = cheapest(instance, np.ones((instance.K, instance.R)))
            units = (weights / cost) ** (1.0 / self.alpha) * rate ** (1.0 / self.alpha - 1.0)
            x = equal_partition(instance)
            units /= (arcs.load @ (x * (units / arcs.totals(x))[arcs.user])).max()
        else:
            units = weights / weights.sum() * arcs.totals(arcs.gamma)
        super().__init__(instance, np.minimum(units, instance.max_tasks))
        if self.is_mean:
            self.c = cost * self.tasks * (self.tasks / units) ** -self.alpha
        else:
            self.c = weights * (rate * self.tasks) ** (1.0 - self.alpha)
        self.worth = float(self.c.sum())
        self.c = self.c / self.worth
        capped = np.isfinite(self.limit)
        rows, users = instance.K * instance.R, instance.N
        self.raised = self.level = np.zeros(users)
        self.right, self.left_out = np.ones(rows), np.zeros(rows, bool)
        self.most = np.where(capped, self.limit, 0.0)
        self.paired = np.concatenate([np.ones(len(arcs) + rows + users, bool), capped])
        self.central = self.paired.copy()
        self.central[self.parts[2]] = False

    def compile(self, options: InteriorPointOptions) -> Self:
        """As every arrow; where users are no more than servers of one resource, their matrix is left, which keeps all digits."""
        super().compile(options)
        if self.plan == "rows" and self.balanced and self.instance.N <= self.instance.K:
            self.plan = "users"
        return self

    @np.errstate(all="ignore")  # what overflows is no smaller error
    def solve(self, session: "AlphaFairSession") -> Result:
        """The point of the smallest error that was met; the session is offered each point that is better."""
        self.target = 0.1 * allowed_user_error(session.limits.promised) ** 2
        point, error, iterations = self.iterate(
            self.start(session.limits), session.limits, lambda now: session.offer(*self._tasks_and_prices(now))
        )
        return Result(*self._tasks_and_prices(point), error, iterations)

    def _tasks_and_prices(self, point: PrimalDual) -> tuple[Floats, Floats]:
        """(A,) and (K, R) in the units of the instance and of the model's objective, for alpha > 1 the logarithm of a mean."""
        (x, _, t, _), (_, p, y, _) = self.split(point.primal), self.split(point.dual)
        p = p / (y @ t) if self.is_mean else p * self.worth
        tasks: Floats = np.maximum(x, 0.0) * self.tasks[self.instance.arcs.user]
        return tasks, p.reshape(self.instance.K, self.instance.R)

    def start(self, limits: Limits) -> PrimalDual:
        """Nearly an equal partition and equal prices, or a warm start; the marginal utilities of the tasks."""
        x = 0.9 * equal_partition(self.instance) / self.tasks[self.instance.arcs.user]
        if self.is_mean:
            x *= 0.9 / self.loads.of_users(self.loads.totals(x))
        x, p, apart = self.near(limits, x, np.full(len(self.right), 1.0 / len(self.right)))
        t, capped = self.loads.totals(x), np.isfinite(self.limit)
        y = self.c * t**-self.alpha
        p, z = p * (y @ t), np.where(capped, 0.1 * apart * y, 0.0)
        d = np.maximum(self.reduced(p, y - z), apart * self.loads.of_users(y))
        r = np.where(capped, self.limit - t, 0.0)
        return PrimalDual(np.concatenate([x, 1.0 - self.loads.rows(x), t, r]), np.concatenate([d, p, y, z]), 0.0)

    def ended(self, before: PrimalDual, now: PrimalDual, error: float, limits: Limits) -> bool:
        """Whether errors and gains of users can be bounded: the gap is small for all, limits are met, tasks hardly changed."""
        if not super().ended(before, now, error, limits):
            return False
        (_, _, t, r), (_, _, y, z), old = self.split(now.primal), self.split(now.dual), before.primal[self.parts[2]]
        allowed, paid = allowed_user_error(limits.promised), self.c * t ** (1.0 - self.alpha)
        small = min(BOUNDED * min(allowed, FLAT) * (self.alpha * paid).min(), 0.5 * limits.promised * paid.min()) / paid.sum()
        met = bool((np.where(z * t > y * r, r, 0.0) <= SAME * t).all())
        return met and error <= max(small, self.options.target) and bool(np.abs(t / old - 1.0).max() <= CHANGE * allowed)

    def demand(self, y: Floats) -> Floats:
        """(N,) what users would have at these marginal utilities."""
        return (self.c / y) ** (1.0 / self.alpha)

    def ratio(self, now: PrimalDual) -> Floats:
        """The users' part is -dt / dy."""
        ratio = super().ratio(now)
        ratio[self.parts[2]] /= self.alpha
        return ratio

    def towards(self, now: PrimalDual) -> Floats:
        """Users change towards what they demand."""
        over, users = super().towards(now), self.parts[2]
        over[users] = self.demand(now.dual[users]) - now.primal[users]
        return over

    def second_order(self, now: PrimalDual, affine: PrimalDual, mu: float) -> Floats:
        """The users' part is that of t y^(1 / alpha), divided by y^(1 / alpha); parameters as for every arrow."""
        over, users = super().second_order(now, affine, mu), self.parts[2]
        dt, dy = affine.primal[users], affine.dual[users] / now.dual[users]
        over[users] = -(dt * dy + 0.5 * (1.0 / self.alpha - 1.0) * now.primal[users] * dy**2) / self.alpha
        return over

    def error(self, now: PrimalDual, lack: Residuals) -> float:
        """The largest of the relative gap, the residuals, and for users without a limit what they demand more than they have.

        Those with a limit pay as much for it as their marginal utility is above y - z. inf for nan.
        """
        t, (d, p, y, z) = now.primal[self.parts[2]], self.split(now.dual)
        worth = self.c * t**-self.alpha
        gap = float((p.sum() + np.maximum(worth - y + z, 0.0) @ self.most) / (worth @ t)) - 1.0
        arcs = lack.arcs / (self.loads.of_users(y) + d)  # of what a task costs
        apart = np.where(np.isfinite(self.limit), 0.0, self.demand(y) / t - 1.0)
        error = max(abs(gap), float(np.abs(np.concatenate([arcs, lack.rows, lack.users / t, lack.limits, apart])).max()))
        return error if np.isfinite(error) else np.inf

    def floor(self, now: PrimalDual) -> float:
        """Small next to what demands cost more than tasks: else x and d on the boundary leave steps no room to close that."""
        t, y = now.primal[self.parts[2]], now.dual[self.parts[2]]
        paid = t * y
        apart = float((np.abs(self.demand(y) / t - 1.0) * paid).max()) * len(t)
        return max(FLOOR * len(t) * float(paid.min()), LAG * apart)


class AlphaFairSession(ArrowSession):
    """The arrow of one instance."""

    mechanism: AlphaFair

    def __post_init__(self) -> None:
        with self.phase("build"):
            self.arrow = AlphaFairArrow(self.mechanism, self.instance)
        with self.phase("compile"):
            self.arrow.compile(self.limits.own(InteriorPointOptions))

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002, ARG002 (one program)
        """The program; what stays above the promised residual is "inaccurate", or late."""
        with self.phase("solve"):
            result = self.arrow.solve(self)
        return self.concluded(result, self.limits.promised)
