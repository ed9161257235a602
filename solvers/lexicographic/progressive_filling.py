r"""`progressive-filling`: water filling by events (K Def 1, W 2 and 5.1; Ghodsi et al., NSDI 2011, Algorithm 1, made continuous).

Every user has one arc: one way to run a task and one server to run it on, so tasks and arcs are the same, x_n = u_n. All active
users rise together, v_n = sigma_n x_n / phi_n = g. Row r (resource r of server i) takes the load

    sum over stopped n of load_rn x_n  +  g sum over active n of load_rn phi_n / sigma_n

and the next event is at the least of the levels

    g_r = (1 - sum over stopped n of load_rn x_n) / (sum over active n of load_rn phi_n / sigma_n)    row r is full
    g_n = sigma_n max_tasks_n / phi_n                                                                 all tasks of user n run

Users who need the full row, or whose tasks all run, stop there; others go on. Servers share no user, so each is filled alone:

1. With the active users as they are, the next row would be full at g = min_r g_r. No row is full before that, for whoever
   finishes until then only slows it down. So everybody with g_n <= g finishes, and g is computed again: a Newton step, since the
   load is concave in g.
2. Where nobody finishes, the row is full at g, and the active users who need it stop.
3. What stops is taken off the sums of its own rows alone. A row is added up again from its users before it is full, and where
   most of a sum has gone, so that no digits are lost.

The event that fills row r gives the price layer p = e_r, which proves that who stops there is stuck
(docs/reference/derivations.md).
"""

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
    """The users of an instance with one arc each, rising together."""

    mechanism: Leximin

    def __post_init__(self) -> None:
        with self.phase("build"):
            self.rate = self.mechanism.rate(self.instance)  # sigma_n / phi_n
        with self.phase("compile"):
            server, count = self.instance.arcs.server, self.instance.K
            order = np.argsort(server, kind="stable")
            users = np.split(order, np.searchsorted(server[order], np.arange(1, count)))
            self.servers = [_FillingServer(self, i, here) for i, here in enumerate(users) if len(here)]

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002, ARG002 (all rounds in one)
        """All events; the prices have a layer for each row that filled up."""
        self.x = np.zeros(self.instance.N)
        self.stop = np.full(self.instance.N, np.inf)  # the level at which a user stops
        self.finished = np.zeros(self.instance.N, bool)
        with self.phase("solve"):
            filled = [event for server in self.servers for event in server.fill()]
        with self.phase("read"):
            rows, levels = np.array([row for row, _ in filled], int), np.array([level for _, level in filled])
            order = np.argsort(levels, kind="stable")
            self._count(rows[order], levels[order])
            prices = np.zeros((max(len(filled), 1), self.instance.K * self.instance.R))
            prices[np.arange(len(filled)), rows[order]] = 1.0
        return self.x, prices.reshape(-1, self.instance.K, self.instance.R)

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


class _FillingServer:
    """Server i and its users (n,), who rise until they stop, numbered as in `users`; results go to `of`."""

    def __init__(self, of: Filling, number: int, users: NDArray[np.intp]) -> None:
        instance, self.of, self.users = of.instance, of, users
        self.offset, size = number * instance.R, instance.R
        load = instance.arcs.load if instance.K == 1 else instance.arcs.load[self.offset : self.offset + size, users]
        self.rate, self.most = of.rate[users], instance.max_tasks[users]
        self.by_user = load  # load_rn by columns
        self.by_row = load.tocsr()
        self.rising = load @ (1.0 / self.rate)  # sum over active n of load_rn phi_n / sigma_n
        self.left = np.ones(size)  # 1 - sum over stopped n of load_rn x_n
        self.needed = np.diff(self.by_row.indptr)  # active users of each row
        self.largest = self.rising.copy()  # the sum when it was added up last
        self.active = np.ones(len(users), bool)
        self.x = np.zeros(len(users))

    def fill(self) -> list[tuple[int, float]]:
        """Run the events; the rows in the order in which they fill up, with their levels."""
        limit = self.rate * self.most  # g_n
        waiting = np.argsort(limit, kind="stable")[: np.count_nonzero(np.isfinite(limit))]
        levels, done, filled = limit[waiting], 0, list[tuple[int, float]]()
        while self.needed.any() and self.of.limits.left:
            rows = np.divide(np.maximum(self.left, 0.0), self.rising, out=np.full_like(self.left, np.inf), where=self.needed > 0)
            g = float(rows.min())
            end = int(np.searchsorted(levels, g * (1.0 + TIED), side="right"))
            if end > done:
                finished = waiting[done:end]
                finished, done = finished[self.active[finished]], end
                self._stop(finished, self.most[finished], limit[finished])
                self.of.finished[self.users[finished]] = True
                continue
            full = np.flatnonzero(rows <= g * (1.0 + TIED))
            for row in full.tolist():
                self._add_up(row)
                rows[row] = max(self.left[row], 0.0) / self.rising[row]
            g = float(rows[full].min())
            full = full[rows[full] <= g * (1.0 + TIED)]
            filled += [(int(self.offset + row), float(rows[row])) for row in full]
            stuck = np.unique(np.concatenate([self._users(row) for row in full]))
            self._stop(stuck, np.minimum(g / self.rate[stuck], self.most[stuck]), g)
        return filled

    def _users(self, row: int) -> NDArray[np.intp]:
        """The active users who need the row."""
        users: NDArray[np.intp] = self.by_row.indices[self.by_row.indptr[row] : self.by_row.indptr[row + 1]]
        return users[self.active[users]]

    def _stop(self, users: NDArray[np.intp], x: Floats, level: Any) -> None:
        """Users stop with these tasks."""
        self.x[users], self.active[users] = x, False
        self.of.x[self.users[users]], self.of.stop[self.users[users]] = x, level
        part = self.by_user[:, users]
        self.needed -= np.bincount(part.indices, minlength=len(self.needed))
        self.left -= part @ x
        self.rising -= part @ (1.0 / self.rate[users])
        for row in np.flatnonzero((self.needed > 0) & (self.rising < KEPT * self.largest)).tolist():
            self._add_up(row)

    def _add_up(self, row: int) -> None:
        here = slice(self.by_row.indptr[row], self.by_row.indptr[row + 1])
        users, load = self.by_row.indices[here], self.by_row.data[here]
        self.rising[row] = self.largest[row] = np.where(self.active[users], load / self.rate[users], 0.0).sum()
        self.left[row] = 1.0 - load @ self.x[users]


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
