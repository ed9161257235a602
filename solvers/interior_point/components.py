r"""A round of max-min fairness by connected components: users and servers that no open arc connects share nothing.

1. Find the components of the graph of users and servers whose edges are the open arcs of the round.
2. A component without active users keeps the tasks it has, which meet its equations.
3. Each other one is a max-min program of its own (max_min.py). Where its part of the round is as it was when it was solved last,
   its answer is too.
4. The level g of the round is the least of their levels. The prices of the components with this level, and 0 for all other
   servers, prove it: on every open arc of another component a task costs nothing, and the prices y of its users are 0.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.lexicographic.weak_duality import feasible
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import ENOUGH, InteriorPointOptions
from fairalloc.solvers.interior_point.max_min import MaxMinArrow
from fairalloc.solvers.interior_point.program import ArrowSession, Result
from fairalloc.solvers.method import Stopped
from fairalloc.solvers.running.warm_start import equal_partition

AIM = 0.25
"""The part of the promised residual at which a mechanism of one round ends; others need all digits to say who is stuck."""

TIED = 1e-13
"""Levels that differ by less are one level: these components end in the same round."""

USELESS = 1.0
"""The error from which on a later round bounds its level by no more than twice that: who is fixed then is a guess."""


@dataclass
class Component:
    """One component, its users, servers and arcs.

    round, result, level : what was solved last, its answer, and the least share of its active users
    """

    users: NDArray[np.intp]
    servers: NDArray[np.intp]
    arcs: NDArray[np.intp]
    key: bytes
    arrow: MaxMinArrow
    round: Round | None = None
    result: Result = field(default_factory=lambda: Result(np.empty(0), np.empty(0), np.inf, 0))
    level: float = 0.0


class MaxMinSession(ArrowSession):
    """The components of one instance, solved for every round anew where it is new for them.

    rate : (N,) the weighted share of one task;  target : the error at which a program ends
    tasks : (A,) those of the components that were solved;  known : the components by what is in them
    """

    mechanism: Leximin

    def __post_init__(self) -> None:
        self.tasks, self.known = np.empty(0), dict[bytes, Component]()
        with self.phase("build"):
            self.rate, self.options = self.mechanism.rate(self.instance), self.limits.own(InteriorPointOptions)
            self.target = 0.0 if self.mechanism.several_rounds else AIM * self.limits.promised
        with self.phase("compile"):
            self.parts(Round.first(self.instance))

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002
        """One round; what stays above ENOUGH, or the target of a round that is the only one, is "inaccurate", or late.

        A later round whose error is USELESS ends the run, with the point before it.
        """
        with self.phase("solve"):
            now = round or Round.first(self.instance)
            first = bool(now.active.all())  # later rounds start from a worse point than the one that is there
            result = self._result(now, first)
        before = self.x
        answer = self.concluded(result, max(ENOUGH, self.target))
        if result.error >= USELESS and not first:
            self.x = feasible(self.instance, before)
            raise Stopped("inaccurate", f"a round ends with an error of {result.error:.1e}, so the rounds after it prove nothing")
        return answer

    def _result(self, round: Round, first: bool) -> Result:  # noqa: A002
        """Tasks and prices of the round, the largest error of a component, the iterations of all."""
        parts = self.parts(round)  # 1, 2
        self.known = {part.key: part for part in parts}  # those that fell apart do not come again
        iterations = sum([self._solved(part, round, first) for part in parts])  # 3
        level = min(part.level for part in parts)  # 4
        prices = sum(self._prices(part, part.result.prices) for part in parts if part.level <= level * (1.0 + TIED))
        return Result(self.tasks, np.asarray(prices), max(part.result.error for part in parts), iterations)

    def _solved(self, part: Component, round: Round, first: bool) -> int:  # noqa: A002
        """Solve a component where its part of the round is new; the iterations that took."""
        active = round.active[part.users]
        full, implied = (rows.reshape(-1, self.instance.R)[part.servers].ravel() for rows in (round.full, round.implied))
        level = np.where(active, 0.0, round.level[part.users])
        own = replace(round, active=active, level=level, closed=round.closed[part.arcs], full=full, implied=implied)
        if own.is_like(part.round):
            return 0

        def offered(x: Floats, prices: Floats) -> None:
            if first:
                self.offer(self._with(part, x), self._prices(part, prices))

        warm = zip((self.limits.start, self.limits.start_prices), (part.arcs, part.servers), strict=True)
        start, prices = (None if values is None else values[where] for values, where in warm)
        part.result, part.round = part.arrow.solve(own, replace(self.limits, start=start, start_prices=prices), offered), own
        self.tasks = self._with(part, part.result.x)
        part.level = part.arrow.unit * part.arrow.g
        return part.result.iterations

    def _with(self, part: Component, x: Floats) -> Floats:
        """(A,) with the component's tasks; those of what was not solved yet are of an equal partition."""
        result = self.tasks.copy() if len(self.tasks) else equal_partition(self.instance)
        result[part.arcs] = x
        return result

    def _prices(self, part: Component, prices: Floats) -> Floats:
        """(K, R) with 0 for the servers of other components."""
        result = np.zeros((self.instance.K, self.instance.R))
        result[part.servers] = prices
        return result

    def parts(self, round: Round) -> list[Component]:  # noqa: A002
        """The components with active users, whose arrows are made once."""
        arcs, users = self.instance.arcs, self.instance.N
        if not round.closed.any() and self.known:
            return [part for part in self.known.values() if round.active[part.users].any()]
        from scipy.sparse.csgraph import connected_components

        there = ~round.closed
        edges = (np.ones(np.count_nonzero(there), bool), (arcs.user[there], users + arcs.server[there]))
        size = users + self.instance.K
        count, label = connected_components(sp.coo_array(edges, shape=(size, size)), directed=False)
        of_user, of_server = label[:users], label[users:]
        of_arc = np.where(of_user[arcs.user] == of_server[arcs.server], of_user[arcs.user], count)
        parts = [
            np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=count))[:count])
            for labels in (of_user, of_server, of_arc)
        ]
        chosen = [[part[label] for part in parts] for label in np.unique(of_user[round.active])]
        return [self._component(*part) for part in chosen]

    def _component(self, users: NDArray[np.intp], servers: NDArray[np.intp], arcs: NDArray[np.intp]) -> Component:
        key = users.tobytes() + b" " + servers.tobytes()
        if key not in self.known:
            one = self.instance
            if (len(users), len(servers)) != (one.N, one.K):
                one = one.chosen(users, servers, one.weights[users], one.max_tasks[users], one.counts[servers])
            arrow = MaxMinArrow(self.rate[users], one).compile(self.options)
            arrow.target = self.target
            if len(self.tasks):
                arrow.before = self.tasks[arcs] / arrow.tasks[one.arcs.user]
            self.known[key] = Component(users, servers, arcs, key, arrow)
        return self.known[key]
