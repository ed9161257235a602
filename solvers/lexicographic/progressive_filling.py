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
3. What stops is taken off the sums of its own rows alone. A row is added up again from its users before it is full, and where
   most of a sum has gone, so that no digits are lost.

The event that fills row r gives the price layer p = e_r, which proves that who stops there is stuck
(docs/reference/derivations.md).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Method, Session

KEPT = 1e-3
"""Where less than this part is left of a sum, it is added up again."""

TIED = 1e-12
"""Levels that differ by less than this part are one event: what is equal in the data is not equal after rounding."""


class Filling(Session):
    """The users of an instance with one arc each, rising together; each pass is the next event of every server."""

    mechanism: Leximin

    def __post_init__(self) -> None:
        with self.phase("build"):
            self.rate = self.mechanism.rate(self.instance)  # sigma_n / phi_n
        with self.phase("compile"):
            self.by_user = self.instance.arcs.load  # load_rn by columns
            self.by_row = self.by_user.tocsr()
            self.rising = self.by_user @ (1.0 / self.rate)  # sum over active n of load_rn phi_n / sigma_n
            self.largest = self.rising.copy()  # the sum when it was added up last
            self.left = np.ones(len(self.rising))  # 1 - sum over stopped n of load_rn x_n
            self.needed = np.diff(self.by_row.indptr)  # active users of each row
            self.active = np.ones(self.instance.N, bool)
            self.finished = np.zeros(self.instance.N, bool)
            self.stop = np.full(self.instance.N, np.inf)  # the level at which a user stops

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002, ARG002 (all rounds in one)
        """All events; the prices have a layer for each row that filled up."""
        self.x = np.zeros(self.instance.N)
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
        limit = self.rate * most  # g_n
        waiting = np.argsort(limit, kind="stable")[: np.count_nonzero(np.isfinite(limit))]
        ahead = limit[waiting]
        while self.needed.any() and self.limits.left:
            above, g_r = self.needed > 0, np.full(len(self.left), np.inf)
            np.divide(np.maximum(self.left, 0.0), self.rising, out=g_r, where=above)
            g = g_r.reshape(-1, size).min(axis=1)
            end = np.searchsorted(ahead, g.max(initial=0.0, where=g < np.inf) * (1.0 + TIED), side="right")
            near, waiting, ahead = waiting[:end], waiting[end:], ahead[end:]
            near = near[self.active[near]]
            late = limit[near] > g[server[near]] * (1.0 + TIED)
            if late.any():  # only where there are other servers
                waiting, ahead = np.append(near[late], waiting), np.append(limit[near[late]], ahead)
            done = near[~late]
            self._stop(done, most[done], limit[done])
            self.finished[done] = True
            g[server[done]] = -np.inf  # where somebody finishes, no row is known to be full
            full = np.flatnonzero(above & (g_r <= np.repeat(g, size) * (1.0 + TIED)))
            self._add_up(full)
            g_r[:] = np.inf
            g_r[full] = np.maximum(self.left[full], 0.0) / self.rising[full]
            g = g_r.reshape(-1, size).min(axis=1)
            full = full[g_r[full] <= g[full // size] * (1.0 + TIED)]
            yield full, g_r[full]
            stuck = np.unique(_entries(self.by_row, full)[0])
            stuck = stuck[self.active[stuck]]
            level = g[server[stuck]]
            self._stop(stuck, np.minimum(level / self.rate[stuck], most[stuck]), level)

    def _stop(self, users: NDArray[np.intp], x: Floats, level: Floats) -> None:
        """Users stop with these tasks."""
        if not len(users):
            return
        self.x[users], self.stop[users], self.active[users] = x, level, False
        rows, load, count = _entries(self.by_user, users)
        self.needed -= np.bincount(rows, minlength=len(self.needed))
        self.left -= np.bincount(rows, load * x.repeat(count), len(self.left))
        self.rising -= np.bincount(rows, load / self.rate[users].repeat(count), len(self.left))
        self._add_up(np.flatnonzero((self.needed > 0) & (self.rising < KEPT * self.largest)))

    def _add_up(self, rows: NDArray[np.intp]) -> None:
        if not len(rows):
            return
        users, load, count = _entries(self.by_row, rows)
        start = np.cumsum(count) - count
        self.rising[rows] = np.add.reduceat(np.where(self.active[users], load / self.rate[users], 0.0), start)
        self.largest[rows] = self.rising[rows]
        self.left[rows] = 1.0 - np.add.reduceat(load * self.x[users], start)

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


def _entries(matrix: Any, chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats, NDArray[np.intp]]:
    """Indices and values of the chosen columns or rows, one after the other, and how many each has; scipy takes 0.1 ms."""
    start = matrix.indptr[chosen]
    count = matrix.indptr[chosen + 1] - start
    here = np.repeat(start - np.cumsum(count) + count, count) + np.arange(count.sum())
    return matrix.indices[here], matrix.data[here], count


class ProgressiveFilling(Method):
    """Lexicographic max-min fair shares where users have no choice of arcs: every pool, and servers that share no user.

    The trace has an event for each level: `level`, the rows `filled` as (server, resource), the users `stopped` by them, and
    those `finished`, whose tasks all run.
    """

    id = "progressive-filling"
    kind = "exact"
    session = Filling
    anytime = True
    at_once = True
    canonical = False  # only ratios of like quantities are compared, so levels can be told in the user's units

    def computes(self, mechanism: Mechanism) -> bool:
        """All of the lexicographic mechanisms; max-min alone needs no filling to the end."""
        return isinstance(mechanism, Leximin) and not isinstance(mechanism, MaxMin)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        domain = mechanism.domain(instance)
        if domain.A == domain.N:
            return ""
        arcs = np.diff(domain.arcs.owner.indptr)
        n = int(np.argmax(arcs > 1))
        return f"{self.id} needs one variant and one server for each user, but user {domain.users[n]!r} has {arcs[n]} choices"


methods = (ProgressiveFilling(),)
