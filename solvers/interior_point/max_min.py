r"""The rounds of max-min fairness by a primal-dual interior-point method made for their structure, which is in program.py.

A round of formulations/lexicographic/rule.py in weighted shares: x_a is what arc a adds to the share of its user, and t_n is what
an active user has above the common level g. On the right the dual variables:

    max  g    s.t.   load x + s = 1                                    p >= 0      a full row has p free and no s
                     owner x - g - t = 0          for active users     y >= 0
                     owner x = level              for fixed users      y free
                     owner x + r = limit          where there is one   z >= 0
    x, s, t, r >= 0                                                    d = load^T p - owner^T (y - z) >= 0,  sum of active y = 1

Where a round is `unlimited` an active user with a limit below g has it in the place of g and of a limit: owner x - t = limit.

1. Pose the round: which rows are equations, which users are active, which limits count.
2. Start at about the same share for all, on arcs that are cheap at prices by load (`spread`); a later round near the tasks of
   the one before, which meet its equations.
3. Newton steps towards x d = s p = t y = r z = mu, with mu falling to 0, as in program.py. In an unlimited round each point
   shows a level that is possible, and who has a lower limit.
4. Near the answer, project onto the optimal face, and end where that meets all equations (optimal_face.py).

Where the error stays above ENOUGH the answer is not used: `highs:leximin` then leaves the round to HiGHS.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import NOTHING, PrimalDual, Residuals
from fairalloc.solvers.interior_point.optimal_face import projected
from fairalloc.solvers.interior_point.program import ArrowProgram, Result
from fairalloc.solvers.method import Limits

FLOOR = 1e-14
"""The relative gap below which mu is not pushed: theta is its inverse, and what is gained in the gap is lost in the residuals."""

AWAY = 0.1
"""The part of a start of one's own that is mixed into the tasks of the round before."""

MOVES, FILLED = 6, 0.7
"""How often tasks are moved towards servers with little load before the first iteration, and the largest load there."""

LIGHT = 1e-4
"""Loads that are a smaller part of the largest, and arcs that are worth a smaller part of their user's best, count as so much."""


class MaxMinArrow(ArrowProgram):
    """The rounds of one instance in weighted shares, measured in `unit`, which is of the order of the level.

    `rate` (N,) is the weighted share of one task, `before` (A,) what arcs added to shares in the round before.
    """

    def __init__(self, rate: Floats, instance: Instance) -> None:
        self.unit = instance.K * instance.R / (cheapest(instance, np.ones(instance.K * instance.R)) / rate).sum()
        super().__init__(instance, self.unit / rate)
        self.before, self.g = np.zeros(instance.A), 0.0

    def solve(
        self,
        round: Round,  # noqa: A002
        limits: Limits,
        offer: Callable[[Floats, Floats], None] = lambda *_: None,
    ) -> Result:
        """The round's x and prices at the smallest error that was met; `offer` gets better tasks (A,) and prices (K, R)."""
        self._pose(round)  # 1
        start = self.start(round, limits)  # 2
        point, error, iterations = self.iterate(start, limits, lambda now: offer(*self._tasks_and_prices(now)))  # 3
        self.before, self.g = np.maximum(self.split(point.primal)[0], 0.0), max(float(point.g), self.reached)
        return Result(*self._tasks_and_prices(point), error, iterations)

    def _tasks_and_prices(self, point: PrimalDual) -> tuple[Floats, Floats]:
        """(A,) and (K, R) in the units of the instance."""
        x, p = np.maximum(self.split(point.primal)[0], 0.0), self.split(point.dual)[1]
        return x * self.tasks[self.instance.arcs.user], self.unit * p.reshape(self.instance.K, self.instance.R)

    def _pose(self, round: Round) -> None:  # noqa: A002
        """The right-hand sides, and which primal and dual numbers are complementary."""
        self.rising, self.unlimited = round.active, round.unlimited
        self.kept = np.where(round.active, self.limit if round.unlimited else np.inf, round.level / self.unit)
        self.highest, self.reached = float(self.kept[round.active].max()), 0.0
        self.raised, self.level = round.active.astype(float), np.where(round.active, 0.0, self.kept)
        capped = np.isfinite(self.limit) & round.active & (not round.unlimited)
        self.paired = self.central = np.concatenate([~round.closed, round.at_most, round.active, capped])
        self.left_out, self.right = round.implied, np.where(round.implied, 0.0, 1.0)
        self.most, self.cap = np.where(capped, self.limit, 0.0), np.where(capped | ~round.active, self.limit, np.inf)

    def _level(self, x: Floats) -> None:
        """Who is raised: active users with no limit below the level that tasks x (A,) show to be possible; others have that."""
        u = self.loads.totals(x) / max(1.0, self.loads.rows(x).max())
        self.reached = max(self.reached, float(u[self.rising & (u < self.kept)].min(initial=np.inf)))
        raised = self.rising & (self.kept >= min(self.reached, self.highest))
        self.raised, self.level = raised.astype(float), np.where(raised, 0.0, self.kept)

    def start(self, round: Round, limits: Limits) -> PrimalDual:  # noqa: A002
        """Spread tasks; a warm start in the first round; or nearly the tasks of the round before, at uniform prices."""
        arcs, users = self.instance.arcs, self.instance.N
        there = np.bincount(arcs.server[~round.closed], minlength=self.instance.K)
        x = np.where(round.closed, 0.0, 0.9 * arcs.gamma / np.maximum(there, 1)[arcs.server] / self.tasks[arcs.user])
        x *= np.minimum(1.0, 0.9 * self.cap / self.loads.totals(x))[arcs.user]
        p = np.where(self.left_out, 0.0, 1.0 / len(self.right))
        if round.on_face:
            apart = 0.5
            had = self.loads.totals(self.before)
            kept = np.divide(self.level, had, out=np.ones(users), where=~round.active & (had > 0))
            x = np.where(round.closed, 0.0, (1.0 - AWAY) * self.loads.of_users(kept) * self.before + AWAY * x)
        else:
            x, p, apart = self.near(limits, *self.spread(x))
        u = self.loads.totals(x)
        g = (1.0 - apart) * float(u[round.active].min())
        if self.unlimited:
            self._level(x)
        y = (1.0 - apart) * cheapest(self.instance, p, round.closed) * self.tasks
        p, y = p / (y @ self.raised), y / (y @ self.raised)
        z = np.where(self.split(self.paired)[3], 0.1 * apart / users, 0.0)
        d = np.maximum(self.reduced(p, y - z), 0.1 * apart * y.mean())
        primal = np.concatenate([x, 1.0 - self.loads.rows(x), u - self.raised * g - self.level, self.most - u])
        dual = np.concatenate([d, p, y, z])
        free = np.concatenate([np.zeros(len(x), bool), ~self.left_out, np.ones(users, bool), np.zeros(users, bool)])
        return PrimalDual(np.where(self.paired, primal, 0.0), np.where(self.paired | free, dual, 0.0), g)

    def spread(self, x: Floats) -> tuple[Floats, Floats]:
        """Tasks (A,) where servers have little load, about the same share for all users; prices (K R,) by load, with the sum 1.

        Each move multiplies x_a by a root of what its user's cheapest arc costs, at the present loads, in parts of what a costs.
        """
        loads = self.loads
        for _ in range(MOVES):
            x = x / loads.of_users(loads.totals(x))
            load = loads.rows(x)
            worth = 1.0 / loads.priced(np.maximum(load, LIGHT * load.max()))
            x = x * np.maximum(worth / loads.of_users(loads.most(worth)), LIGHT) ** 0.25
        x = x / loads.of_users(loads.totals(x))
        load = loads.rows(x)
        p = np.maximum(load, 0.1 * load.max())
        return x * loads.of_users(np.minimum(FILLED / load.max(), 0.9 * self.cap)), p / p.sum()

    def error(self, now: PrimalDual, lack: Residuals) -> float:
        """The largest of the relative gap and the residuals; nan counts as inf."""
        _, p, y, z = self.split(now.dual)
        bound = float(p @ self.right + z @ self.most - y @ self.level)
        gap = abs(bound / now.g - 1.0)
        if self.reached > self.highest:  # nobody is below a limit, whatever the prices are
            lack, gap = NOTHING._replace(rows=lack.rows, users=lack.users), 0.0
        error = max(gap, *(float(np.abs(part).max()) for part in lack))
        return error if np.isfinite(error) and now.g > 0 else np.inf

    def _with_error(self, point: PrimalDual) -> tuple[PrimalDual, Residuals, float]:
        """Who is raised is told anew at each point of an unlimited round."""
        if self.unlimited:
            self._level(self.split(point.primal)[0])
        return super()._with_error(point)

    def floor(self, now: PrimalDual) -> float:
        """In parts of the level."""
        return FLOOR * float(now.g)

    def projected(self, now: PrimalDual, lack: Residuals) -> PrimalDual | None:
        """Onto the optimal face."""
        with suppress(np.linalg.LinAlgError):
            return projected(self, now, lack)
        return None
