"""What is free, what runs and what waits in a simulation of tasks: what a scheduler sees.

Sizes are whole numbers of a power of ten, of which the largest machine has 15 digits, or of a multiple of it: decimals with no
more digits are exact, of others the rest is left out. So what is taken and given back adds up exactly, seven tasks of 0.1 fill a
machine of 0.7, and whatever fits in the given numbers fits in these. Shares are compared as whole numbers too, so that equal ones
are equal. Jobs with the same size and the same machines are of one *shape*.
"""

import math
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats, frozen
from fairalloc.simulation.log import ServerEvents
from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["DOWN", "TaskState"]

DIGITS = 15  # of the largest machine
LONGEST = 1 << 12  # bits of a common multiple of all weights; where they have more, shares are compared as floats
CLOSE = 1e-9  # H(i, l) that differ by less are compared in rationals
DOWN = -1  # the room of a machine that is down: less than any task takes


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
    room : (Q, S) units that are free on each machine; negative where it is down
    used : for each user a list of Q units that its running tasks take
    running : for each user {shape: number of running tasks}
    changes : for each user how often these changed
    waiting : for each job the number of tasks that wait
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
        self._shapes(sizes // self._unit, workload.fitting(cluster))
        self.server_class = cluster.server_class
        self.room = np.ascontiguousarray(self.capacities[self.server_class].T)
        self.room[:, ~events.first_up(len(self.server_class))] = DOWN
        total = cluster.counts.astype(object) @ self.capacities.astype(object)
        common = math.lcm(*filter(None, total))
        self._per_total: list[int] = [common // t if t else 0 for t in total]
        self._common = float(common)
        N, Q = len(workload.users), len(total)
        self.used = [[0] * Q for _ in range(N)]
        self.running: list[dict[int, int]] = [{} for _ in range(N)]
        self.changes = [0] * N
        self.waiting = [0] * len(workload)
        self._of_heuristic(total)

    def _shapes(self, sizes: NDArray[np.int64], fitting: NDArray[np.bool_]) -> None:
        """Number what differs."""
        rows = np.column_stack([sizes, fitting])
        _, first, of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        self.shape: list[int] = of.ravel().tolist()
        self.sizes = frozen(sizes[first])
        within = np.all(self.sizes[:, None, :] <= self.capacities[None], axis=2)
        self.allowed = frozen(fitting[first] & within)
        self.size: list[list[int]] = self.sizes.tolist()
        self._placed: list[bool] = np.any(self.allowed != within, axis=1).tolist()  # where it is small enough is not all

    def _of_heuristic(self, total: NDArray[Any]) -> None:
        """Of each shape the first resource it demands, and D_r / D_1 of (9) in shares of the cluster."""
        self._first: list[int] = (self.sizes > 0).argmax(axis=1).tolist()
        share, scale = np.array(total, dtype=float), np.zeros((len(total), len(total)))
        self._scale: list[list[float]] = np.divide(share[:, None], share, out=scale, where=share > 0).tolist()
        self._ratio = [
            [size[r] / size[q] * self._scale[q][r] if size[q] else 0.0 for r in range(len(size))]
            for size, q in zip(self.size, self._first, strict=True)
        ]

    def with_room(self, job: int) -> NDArray[np.bool_]:
        """(S,) the machines that have room for a task of the job, and may run it."""
        shape = self.shape[job]
        size = self.size[shape]
        there: NDArray[np.bool_] = self.room[0] >= size[0]
        for q in range(1, len(size)):
            there &= self.room[q] >= size[q]
        if self._placed[shape]:
            there &= self.allowed[shape][self.server_class]
        return there

    def fitness(self, job: int, servers: NDArray[np.intp]) -> Floats:
        """H(i, l) of W (9) for some machines: sum_r |D_r / D_1 - c_r / c_1| of a task, D, and what is free, c, in shares of all.

        Where the task takes nothing of resource 1, the first that it does take stands in its place. `best_fit` has no rounding.
        """
        shape = self.shape[job]
        q, ratio = self._first[shape], self._ratio[shape]
        room = self.room[:, servers]
        result = np.zeros(len(servers))
        for r, scale in enumerate(self._scale[q]):
            if r != q:
                result += np.abs(ratio[r] - room[r] / room[q] * scale)
        return result

    def best_fit(self, job: int, servers: NDArray[np.intp]) -> int:
        """The first of some machines with the least H(i, l), in rationals where rounding could decide."""
        fitness = self.fitness(job, servers)
        least = int(fitness.argmin())
        near = np.flatnonzero(fitness <= fitness[least] + CLOSE * (1.0 + fitness[least] + sum(self._ratio[self.shape[job]])))
        if len(near) > 1 and np.any(fitness[near] != fitness[least]):
            first = near[np.sort(np.unique(fitness[near], return_index=True)[1])]
            least = min(first, key=lambda k: self._exact_fitness(job, int(servers[k])))
        return int(servers[least])

    def _exact_fitness(self, job: int, server: int) -> Fraction:
        """D_1 H(i, l), times a number that no machine changes."""
        size, q, room = self.size[self.shape[job]], self._first[self.shape[job]], self.room[:, server].tolist()
        apart = sum(abs(size[r] * room[q] - room[r] * size[q]) * part for r, part in enumerate(self._per_total))
        return Fraction(apart, room[q])

    def share(self, user: int) -> float:
        """The global dominant share / weight of what the user's running tasks take together."""
        return self._largest(user) / self._common / self.weights[user]

    def rank(self, user: int) -> float:
        """The same times a constant, a whole number: equal shares are equal."""
        result: float = self._largest(user) * self.per_weight[user]
        return result

    def _largest(self, user: int) -> int:
        result: int = max(map(mul, self.used[user], self._per_total))
        return result

    @property
    def free(self) -> Floats:
        """(S, R) what is free on each machine, where the scheduler counts the resources; 0 where it is down."""
        R = self.cluster.capacities.shape[1]
        whole = np.maximum(self.room[:R].T, 0) * self._unit[:R]
        return _scaled(whole.astype(float), -self._power[:R])


def _scaled(values: Floats, power: NDArray[np.intp]) -> Floats:
    """Values * 10^power by column, rounded once where the powers of ten are exact; in two steps where one is out of range."""
    size = np.abs(power)
    one, two = 10.0 ** np.minimum(size, 300), 10.0 ** np.maximum(size - 300, 0)
    result: Floats = np.where(power < 0, values / one / two, values * np.where(power < 0, 1.0, one) * two)
    return result


def _whole(values: Floats, power: NDArray[np.intp]) -> NDArray[np.int64]:
    """Values * 10^power by column: exactly that of a decimal that is whole then, of others rounded down."""
    nearest = np.rint(_scaled(values, power))
    return (nearest - (_scaled(nearest, -power) > values)).astype(np.int64)


def _per_weight(weights: Floats) -> list[Any]:
    """Whole numbers in the proportion of 1 / weight, of decimals; floats where these would have thousands of digits."""
    exact = {w: Fraction(repr(w)) for w in set(weights.tolist())}
    common = 1
    for weight in exact.values():
        common = math.lcm(common, weight.numerator)
        if common.bit_length() > LONGEST:
            return [1.0 / w for w in weights.tolist()]
    return [common // exact[w].numerator * exact[w].denominator for w in weights.tolist()]
