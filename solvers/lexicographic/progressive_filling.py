r"""`progressive-filling`: water filling by events (K Def 1, W 2 and 5.1; Ghodsi et al., NSDI 2011, Algorithm 1, made continuous).

Every user has one arc: one way to run a task and one server to run it on, so tasks and arcs are the same, x_n = u_n. All active
users rise together, v_n = sigma_n x_n / phi_n = g. Row r (resource r of server i) takes the load

    sum over stopped n of load_rn x_n  +  g sum over active n of load_rn phi_n / sigma_n

and the next event is at the least of the levels

    g_r = (1 - sum over stopped n of load_rn x_n) / (sum over active n of load_rn phi_n / sigma_n)    row r is full
    g_n = sigma_n max_tasks_n / phi_n                                                                 all tasks of user n run

Users who need the full row, or whose tasks all run, stop there; others go on. Servers share no user, so each has its own events:

1. With the active users as they are, the next row would be full at g = min_r g_r. No row is full before that, for whoever
   finishes until then only slows it down. So everybody with g_n <= g finishes, and g is computed again: a Newton step, since the
   load is concave in g.
2. Where nobody finishes, the row is full at g, and the active users who need it stop.

The sums are added up anew for each event, so that no digits are lost.

The event that fills row r gives the price layer p = e_r, which proves that who stops there is stuck
(docs/reference/derivations.md).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Method, Session

TIED = 1e-12
"""Levels that differ by less than this part are one event: what is equal in the data is not equal after rounding."""


class Filling(Session):
    """The users of an instance with one arc each, rising together; each pass is the next event of every server."""

    mechanism: Leximin

    def __post_init__(self) -> None:
        with self.phase("build"):
            self.rate = self.mechanism.rate(self.instance)  # sigma_n / phi_n
        with self.phase("compile"):
            self.load = self.instance.arcs.load.tocsr()
            self.x, self.finished = np.zeros(self.instance.N), np.zeros(self.instance.N, bool)
            self.stop = np.full(self.instance.N, np.inf)  # the level at which a user stops

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002, ARG002 (all rounds in one)
        """All events; the prices have a layer for each row that filled up."""
        with self.phase("solve"):
            filled = [*self._filled()]
        with self.phase("read"):
            rows, levels = (np.concatenate(part) for part in zip((np.zeros(0, int), np.zeros(0)), *filled, strict=True))
            order = np.lexsort((rows, levels))
            self._count(rows[order], levels[order])
            prices = np.zeros((max(len(rows), 1), self.instance.K * self.instance.R))
            prices[np.arange(len(rows)), rows[order]] = 1.0
        return self.x, prices.reshape(-1, self.instance.K, self.instance.R)

    def _filled(self) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Run the events; the rows that fill up in each pass, with their levels."""
        server, most, size = self.instance.arcs.server, self.instance.max_tasks, self.instance.R
        limit, active = self.rate * most, np.ones(self.instance.N, bool)  # g_n
        while active.any() and self.limits.left:
            used, rising = self.load @ self.x, self.load @ (active / self.rate)
            g_r = np.divide(np.maximum(1.0 - used, 0.0), rising, out=np.full(len(rising), np.inf), where=rising > 0)
            g = g_r.reshape(-1, size).min(axis=1)
            done = np.flatnonzero(active & (limit <= g[server] * (1.0 + TIED)))  # 1
            self.x[done], self.stop[done], self.finished[done], active[done] = most[done], limit[done], True, False
            g[server[done]] = -np.inf  # where somebody finishes, no row is known to be full
            full = np.flatnonzero((g_r < np.inf) & (g_r <= np.repeat(g, size) * (1.0 + TIED)))  # 2
            yield full, g_r[full]
            stuck = np.unique(self.load[full].indices)
            stuck = stuck[active[stuck]]
            self.stop[stuck], active[stuck] = g[server[stuck]], False
            self.x[stuck] = np.minimum(self.stop[stuck] / self.rate[stuck], most[stuck])

    def _count(self, rows: NDArray[np.intp], levels: Floats) -> None:
        """The events: levels that differ by more than rounding; each is noted where a trace is wanted."""
        every = np.sort(np.concatenate([levels, self.stop]))
        first = every[np.append(True, every[1:] > every[:-1] * (1.0 + TIED))]
        self.count(len(first))
        if not (self.limits.trace or self.limits.log):
            return
        instance, ends = self.instance, np.append(first[1:], np.inf)
        for start, end in zip(first.tolist(), ends.tolist(), strict=True):
            here = (self.stop >= start) & (self.stop < end)
            full = rows[(levels >= start) & (levels < end)]
            self.note(
                level=start,
                filled=tuple((instance.servers[row // instance.R], instance.resources[row % instance.R]) for row in full),
                stopped=tuple(instance.users[n] for n in np.flatnonzero(here & ~self.finished)),
                finished=tuple(instance.users[n] for n in np.flatnonzero(here & self.finished)),
            )


class ProgressiveFilling(Method):
    """Lexicographic max-min fair shares where users have no choice of arcs: every pool, and servers that share no user.

    The trace has an event for each level: `level`, the rows `filled` as (server, resource), the users `stopped` by them, and
    those `finished`, whose tasks all run.
    """

    id = "progressive-filling"
    kind = "exact"
    kinds, but = (Leximin,), (MaxMin,)  # max-min alone needs no filling to the end
    session = Filling
    anytime = True
    at_once = True
    canonical = False  # only ratios of like quantities are compared, so levels can be told in the user's units

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        domain = mechanism.domain(instance)
        if domain.A == domain.N:
            return ""
        arcs = np.diff(domain.arcs.owner.indptr)
        n = int(np.argmax(arcs > 1))
        return f"{self.id} needs one variant and one server for each user, but user {domain.users[n]!r} has {arcs[n]} choices"


methods = (ProgressiveFilling(),)
