"""What is free, what runs and what waits in a simulation of tasks: what a scheduler sees.

Sizes are whole numbers of 1e-12 of the largest machine, rounded down, so that what is taken and given back adds up exactly, and
whatever fits in the given numbers fits in these. Jobs with the same size and the same machines are of one *shape*.
"""

from operator import mul

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats, frozen
from fairalloc.simulation.log import ServerEvents
from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["DOWN", "TaskState"]

UNITS = 1e12  # units of size in the largest machine
DOWN = -1  # the room of a machine that is down: less than any task takes


class TaskState:
    """What a scheduler sees.

    Attributes
    ----------
    time : seconds
    workload, cluster : what is simulated
    weights : of users, a list
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
        demand, capacities = counted
        unit = np.where(capacities.max(axis=0) > 0, capacities.max(axis=0), 1.0) / UNITS
        self.capacities = np.floor(capacities / unit).astype(np.int64)
        self._shapes(np.floor(demand / unit).astype(np.int64), workload.fitting(cluster))
        self.server_class = cluster.server_class
        self.room = np.ascontiguousarray(self.capacities[self.server_class].T)
        self.room[:, ~events.first_up(len(self.server_class))] = DOWN
        total = cluster.counts @ self.capacities
        self._inverse: list[float] = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0).tolist()
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

    def _of_heuristic(self, total: NDArray[np.int64]) -> None:
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

        Where the task takes nothing of resource 1, the first that it does take stands in its place.
        """
        shape = self.shape[job]
        q, ratio = self._first[shape], self._ratio[shape]
        room = self.room[:, servers]
        result = np.zeros(len(servers))
        for r, scale in enumerate(self._scale[q]):
            if r != q:
                result += np.abs(ratio[r] - room[r] / room[q] * scale)
        return result

    def share(self, user: int) -> float:
        """The global dominant share / weight of what the user's running tasks take together."""
        largest: float = max(map(mul, self.used[user], self._inverse))
        return largest / self.weights[user]

    @property
    def free(self) -> Floats:
        """(S, R) what is free on each machine, where the scheduler counts the resources; 0 where it is down."""
        unit = self.cluster.capacities.max(axis=0) / UNITS
        free: Floats = np.maximum(self.room[: len(unit)].T, 0) * unit
        return free
