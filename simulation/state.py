"""What is free, what runs and what waits in a simulation of tasks: what a scheduler sees.

Sizes are whole numbers of a power of ten, of which the largest machine has 15 digits, or of a multiple of it: decimals with no
more digits are exact, of others the rest is left out. So what is taken and given back adds up exactly, seven tasks of 0.1 fill a
machine of 0.7, and whatever fits in the given numbers fits in these. Shares are compared as whole numbers too, so that equal ones
are equal. Jobs with the same size and the same machines are of one *shape*.
"""

import math
from array import array
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats, frozen
from fairalloc.simulation.log import ServerEvents
from fairalloc.simulation.workload import Cluster, Workload

DIGITS = 15  # of the largest machine
LONGEST = 1 << 12  # bits of a common multiple of all weights; where they have more, shares are compared as floats
CLOSE = 1e-9  # H(i, l) that differ by less are compared in rationals
AT_ONCE = 64  # starts after which machines with room are counted, at most
NOWHERE = -1  # the machine of a task that no machine has room for
DOWN = -1  # the room of a machine that is down: less than any task takes
BARRED = frozen(np.array([np.inf, 0.0]))  # what is added to H(i, l) where there is no room, and where there is


@dataclass(slots=True, eq=False)
class Hosts:
    """All machines while tasks only start: whether each has room for a task of one shape, and H(i, l), if asked for.

    H(i, l) is inf where there is no room. `seen` of the tasks that started are taken into account.
    """

    has_room: NDArray[np.bool_]
    seen: int
    fitness: Floats | None = None


class TaskState:
    """What a scheduler sees.

    Attributes
    ----------
    time : seconds
    workload, cluster : what is simulated
    weights : of users, a list
    per_weight : of users whole numbers (or floats) in the proportion of 1 / weight
    rng : for what a scheduler draws
    shape : (J,) the shape of each job
    sizes, size : (F, Q) units that a task of each shape takes of what the scheduler counts, whole numbers; the same as lists
    capacities : (K, Q) those of a machine of each class
    allowed : (F, K) whether a task of the shape may run on an empty machine of the class
    server_class : (S,) the class of each machine
    per_total, common : of what the scheduler counts whole numbers in the proportion of 1 / all of it: common / all
    room : (Q, S) units that are free on each machine; negative where it is down
    used : for each user a list of Q units that its running tasks take
    waiting : for each job the number of tasks that wait
    waits : (F,) whether tasks of the shape wait that no machine has room for
    job_rank : for each job its place in the scheduler's order of jobs
    """

    def __init__(
        self, workload: Workload, cluster: Cluster, counted: tuple[Floats, Floats], events: ServerEvents, seed: int
    ) -> None:
        self.time = 0.0
        self.workload, self.cluster, self.rng = workload, cluster, np.random.default_rng(seed)
        self.weights: list[float] = workload.weights.tolist()
        self.per_weight = _per_weight(workload.weights)
        demand, capacities = counted
        largest = np.where(capacities.max(axis=0) > 0, capacities.max(axis=0), 1.0)
        self._power = DIGITS - 1 - np.floor(np.log10(largest)).astype(int)
        whole, sizes = _whole(capacities, self._power), _whole(demand, self._power)
        self._unit = np.maximum(np.gcd.reduce(np.concatenate([whole, sizes])), 1)
        self.capacities = whole // self._unit
        sizes, fitting = sizes // self._unit, workload.fitting(cluster)
        _, first, of = np.unique(np.column_stack([sizes, fitting]), axis=0, return_index=True, return_inverse=True)
        self.shape: list[int] = of.ravel().tolist()
        self.sizes = frozen(sizes[first])
        within = np.all(self.sizes[:, None, :] <= self.capacities[None], axis=2)
        self.allowed = frozen(fitting[first] & within)
        self._any_placed = bool(np.any(self.allowed != within))  # where it is small enough is not all
        self.size: list[list[int]] = self.sizes.tolist()
        self._columns = np.ascontiguousarray(self.sizes.T.astype(float))
        self.server_class = cluster.server_class
        self.room = np.ascontiguousarray(self.capacities[self.server_class].T.astype(float))
        self.room[:, ~events.up_at(-1.0, len(self.server_class))] = DOWN
        self._cell: Any = self.room.data  # single numbers of it, without an array for each
        total = cluster.counts.astype(object) @ self.capacities.astype(object)
        self.common = math.lcm(*filter(None, total))
        self.per_total: list[int] = [self.common // t if t else 0 for t in total]
        N, Q = len(workload.users), len(total)
        self.used = [[0] * Q for _ in range(N)]
        self._ranks: list[float | None] = [0] * N
        self.waiting, self.job_rank = [0] * len(workload), list[int]()
        first = (self.sizes > 0).argmax(axis=1)  # resource 1 of (9), of each shape
        share, scale = np.array(total, dtype=float), np.zeros((Q, Q))
        np.divide(share[:, None], share, out=scale, where=share > 0)
        of = self.sizes[np.arange(len(first)), first][:, None]
        ratio = np.divide(self.sizes, of, out=np.zeros(self.sizes.shape), where=of > 0) * scale[first]  # D_r / D_1 in shares
        self._first, self._scale, self._ratio = first.tolist(), scale.tolist(), ratio.tolist()
        self._spread = ratio.sum(axis=1).tolist()
        self.waits = np.zeros(len(self.sizes), dtype=bool)
        self.look_for_room([], set())

    # ---- tasks start and stop --------------------------------------------------------------------------------------------

    def take(self, user: int, shape: int, server: int, tasks: int) -> None:
        """So many tasks start on a machine, or stop where the number is negative."""
        used, cell = self.used[user], self._cell
        for q, size in enumerate(self.size[shape]):
            cell[q, server] -= tasks * size
            used[q] += tasks * size
        self._ranks[user] = None

    def fits(self, shape: int, server: int) -> bool:
        """Whether a machine has room for a task of a shape, and may run it."""
        may = not self._any_placed or bool(self.allowed[shape, self.server_class[server]])
        return may and all(size <= self._cell[q, server] for q, size in enumerate(self.size[shape]))

    def look_for_room(self, new: list[int], freed: set[int]) -> list[int]:
        """The shapes that have room: new ones on any machine, and on machines just freed others, which had none."""
        self._started = array("q")
        self._since: list[tuple[int, list[float]]] = []
        self._hosts: dict[int, Hosts] = {}
        self._only = min(freed) if len(freed) == 1 and not new else None
        self._open = self.waits.nonzero()[0]
        self._open_sizes = self._columns.take(self._open, axis=1)
        if self._only is None:
            machines = np.array(sorted(freed), dtype=np.intp)
            sizes, room = self._open_sizes[:, :, None], self.room.take(machines, axis=1)
            waiting = self._within(self._open[:, None], sizes, machines, room).sum(axis=1)
            self._hosts = {
                f: Hosts(there, 0) for f in new if (there := self._within(f, self.size[f], slice(None), self.room)).any()
            }
            counts = [np.count_nonzero(hosts.has_room) for hosts in self._hosts.values()]
            self._open = np.concatenate([self._open, np.array([*self._hosts], dtype=np.intp)])
            self._machines = np.concatenate([waiting, np.array(counts, dtype=np.intp)])
        self._without_room()
        return [*self._open.tolist()]

    def started(self, shape: int, server: int) -> list[int]:
        """The shapes that have no machine with room any more, now that a task of a shape has started on a machine."""
        self._started.append(server)
        if self._only is None:
            self._since.append((shape, self.room[:, server].tolist()))
            if len(self._since) < self._fewest:  # a start takes the room on one machine, so no shape has lost its last
                return []
            shapes, rooms = zip(*self._since, strict=True)
            servers, left = np.array(self._started[-len(shapes) :]), np.array(rooms).T
            of, sizes = self._open[:, None], self._open_sizes[:, :, None]
            there, before = (self._within(of, sizes, servers, room) for room in (left, left + self._columns[:, shapes]))
            self._machines -= (before & ~there).sum(axis=1)
            self._since.clear()
        return [*self._without_room().tolist()]

    def _without_room(self) -> NDArray[np.intp]:
        """The shapes that have no machine with room; those that have one are kept."""
        if self._only is not None:
            kept = self._within(self._open, self._open_sizes, self._only, self.room[:, self._only])
        else:
            kept = self._machines > 0
            self._machines = self._machines[kept]
            self._fewest = self._machines.min(initial=AT_ONCE)
        gone = self._open.take((~kept).nonzero()[0])
        self._open = self._open.take(kept.nonzero()[0])
        self._open_sizes = self._columns.take(self._open, axis=1)
        return gone

    def _within(self, shapes: Any, sizes: Any, servers: Any, room: Floats) -> NDArray[np.bool_]:
        """Whether shapes, whose sizes are given, have so much room on machines, and may run there."""
        there: NDArray[np.bool_] = sizes[0] <= room[0]
        for q in range(1, len(sizes)):
            there &= sizes[q] <= room[q]
        if self._any_placed:
            there &= self.allowed[shapes, self.server_class[servers]]
        return there

    # ---- machines with room ----------------------------------------------------------------------------------------------

    def _hosts_of(self, shape: int) -> Hosts:
        hosts = self._hosts.get(shape)
        if hosts is None:
            hosts = self._hosts[shape] = Hosts(self._within(shape, self.size[shape], slice(None), self.room), len(self._started))
        elif hosts.seen == len(self._started) - 1 and hosts.fitness is not None:  # one machine needs no arrays
            s, hosts.seen = self._started[-1], len(self._started)
            free = self.room[:, s].tolist()
            hosts.has_room[s] = self.fits(shape, s)
            hosts.fitness[s] = self._apart(shape, free, free[self._first[shape]]) if hosts.has_room[s] else np.inf
        elif hosts.seen < len(self._started):
            servers, hosts.seen = np.array(self._started[hosts.seen :]), len(self._started)
            room = self.room.take(servers, axis=1)
            hosts.has_room[servers] = there = self._within(shape, self.size[shape], servers, room)
            if hosts.fitness is not None:
                hosts.fitness[servers] = self._misfit(shape, room, there)
        return hosts

    def machines(self, job: int) -> NDArray[np.intp]:
        """The numbers of the machines that have room for a task of the job, and may run it, ascending."""
        return self._hosts_of(self.shape[job]).has_room.nonzero()[0]

    def _misfit(self, shape: int, room: Floats, there: NDArray[np.bool_]) -> Floats:
        """H(i, l) of machines with so much room (Q, M); inf where it is too little."""
        of = np.maximum(room[self._first[shape]], 1)  # what is less has no room
        return np.asarray(BARRED.take(there) + self._apart(shape, room, of))

    def _apart(self, shape: int, room: Any, of: Any) -> Any:
        """H(i, l) of W (9), sum_r |D_r / D_1 - c_r / c_1| of a task, D, and what is free, c, in shares of all.

        Where the task takes nothing of resource 1, the first that it does take stands in its place.
        """
        q, ratio = self._first[shape], self._ratio[shape]
        if not self.size[shape][q]:
            return 0.0
        return sum(abs(ratio[r] - room[r] / of * scale) for r, scale in enumerate(self._scale[q]) if r != q)

    def best_fit(self, job: int, at: Any = None) -> int:
        """Of `machines`, or of those at some places there, the first with the least H(i, l), without rounding; -1 of none."""
        shape = self.shape[job]
        if self._only is not None:
            return self._only if self.fits(shape, self._only) else NOWHERE
        hosts = self._hosts_of(shape)
        if hosts.fitness is None:
            hosts.fitness = self._misfit(shape, self.room, hosts.has_room)
        chosen = None if at is None else hosts.has_room.nonzero()[0][at]
        fitness = hosts.fitness if chosen is None else hosts.fitness[chosen]
        least = float(fitness.min())
        if least == math.inf:
            return NOWHERE
        near = (fitness <= least + CLOSE * (1.0 + least + self._spread[shape])).nonzero()[0]
        values, near = fitness.take(near), near if chosen is None else chosen[near]
        if len(near) == 1 or (values == least).all():
            return int(near[0])
        unlike: list[int] = near[np.sort(np.unique(values, return_index=True)[1])].tolist()
        return min(unlike, key=lambda s: self._exact_fitness(shape, s))

    def _exact_fitness(self, shape: int, server: int) -> Fraction:
        """D_1 H(i, l), times a number that no machine changes."""
        size, q, room = self.size[shape], self._first[shape], self.room[:, server].astype(int).tolist()
        apart = sum(abs(size[r] * room[q] - room[r] * size[q]) * part for r, part in enumerate(self.per_total))
        return Fraction(apart, room[q])

    def rank(self, user: int) -> float:
        """The global dominant share / weight of a user, times a constant: a whole number, so that equal shares are equal."""
        if (known := self._ranks[user]) is None:
            known = self._ranks[user] = max(map(mul, self.used[user], self.per_total)) * self.per_weight[user]
        return known

    @property
    def free(self) -> Floats:
        """(S, R) what is free on each machine, where the scheduler counts the resources; 0 where it is down."""
        R = self.cluster.capacities.shape[1]
        return _scaled(np.maximum(self.room[:R].T, 0) * self._unit[:R], -self._power[:R])


def _scaled(values: Floats, power: NDArray[np.intp]) -> Floats:
    """Values * 10^power by column, rounded once where the powers of ten are exact; in two steps where one is out of range."""
    size = np.abs(power)
    one, two = 10.0 ** np.minimum(size, 300), 10.0 ** np.maximum(size - 300, 0)
    return np.asarray(np.where(power < 0, values / one / two, values * np.where(power < 0, 1.0, one) * two))


def _whole(values: Floats, power: NDArray[np.intp]) -> NDArray[np.int64]:
    """Values * 10^power by column: exactly that of a decimal that is whole then, of others rounded down."""
    nearest = np.minimum(np.rint(_scaled(values, power)), 2.0**62)  # that is more than any machine has
    return (nearest - (_scaled(nearest, -power) > values)).astype(np.int64)


def _per_weight(weights: Floats) -> list[float]:
    """Whole numbers in the proportion of 1 / weight, of decimals; floats where these would have thousands of digits."""
    exact = {w: Fraction(repr(w)) for w in set(weights.tolist())}
    common = 1
    for weight in exact.values():
        common = math.lcm(common, weight.numerator)
        if common.bit_length() > LONGEST:
            return [1.0 / w for w in weights.tolist()]
    return [common // exact[w].numerator * exact[w].denominator for w in weights.tolist()]
