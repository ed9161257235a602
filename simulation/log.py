"""What happened when tasks were run: one row for each group of equal tasks that started together on one machine."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError
from fairalloc.models.numbers import Floats, frozen
from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["FINISHED", "LEFT", "LOST", "RUNNING", "ServerEvents", "TaskLog"]

RUNNING, FINISHED, LOST, LEFT = range(4)
"""Outcomes: it runs when the simulation ends; it ran to its end; its machine went down; its user left."""


@dataclass(frozen=True, eq=False)
class ServerEvents:
    """Machines that go down and come up. A machine whose first event is to come up is down before it.

    Parameters
    ----------
    time : (E,) >= 0, seconds, ascending
    server : (E,) int, machines in the order of `Cluster.server_class`
    up : (E,) bool, whether the machine comes up
    """

    time: Floats
    server: NDArray[np.int64]
    up: NDArray[np.bool_]

    def __post_init__(self) -> None:
        time, server, up = np.array(self.time, dtype=float), np.array(self.server, dtype=np.int64), np.array(self.up, dtype=bool)
        if not len(time) == len(server) == len(up):
            raise InstanceError(f"there are {len(time)} times, {len(server)} machines and {len(up)} directions of server events")
        if not np.all(np.isfinite(time)) or np.any(time < 0) or np.any(np.diff(time) < 0):
            raise InstanceError("the times of server events must be finite, ascending and not negative")
        for name, value in (("time", time), ("server", server), ("up", up)):
            object.__setattr__(self, name, frozen(value))

    @classmethod
    def none(cls) -> "ServerEvents":
        """All machines stay up."""
        return cls(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))

    def check_on(self, cluster: Cluster) -> None:
        """InstanceError where a machine is not there, or is to come up while it is up, or the other way round."""
        size = len(cluster.server_class)
        for s in np.unique(self.server):
            if not 0 <= s < size:
                raise InstanceError(f"a server event is about machine {s}, but there are {size} machines")
            turns = self.up[self.server == s]
            if np.any(turns[1:] == turns[:-1]):
                raise InstanceError(f"the events of machine {s} must take turns: down, up, down, or up, down, up")

    def first_up(self, size: int) -> NDArray[np.bool_]:
        """(S,) whether each machine is up at the start."""
        result = np.ones(size, dtype=bool)
        servers, first = np.unique(self.server, return_index=True)
        result[servers] = ~self.up[first]
        return result


@dataclass(frozen=True, eq=False)
class TaskLog:
    """The starts and ends of a simulation of tasks.

    Attributes
    ----------
    workload, cluster, events : what was simulated
    scheduler : its id
    until : seconds at which the simulation ended
    job, server, tasks : (B,) int, of each group of tasks
    start, end : (B,) seconds; `end` is `until` where they still run
    outcome : (B,) RUNNING, FINISHED, LOST or LEFT
    waiting : (J,) int, tasks of each job that wait at the end
    cancelled : (J,) int, tasks that ended because their user left, also those that never started
    """

    workload: Workload
    cluster: Cluster
    events: ServerEvents
    scheduler: str
    until: float
    job: NDArray[np.int64]
    server: NDArray[np.int64]
    tasks: NDArray[np.int64]
    start: Floats
    end: Floats
    outcome: NDArray[np.int64]
    waiting: NDArray[np.int64]
    cancelled: NDArray[np.int64]

    def __len__(self) -> int:
        """B, the number of groups of tasks."""
        return len(self.job)
