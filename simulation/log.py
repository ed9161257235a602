"""What happened: groups of equal tasks that started together on one machine, or, with divisible tasks, steps without a change."""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.files.trace_files import parquet_table, pyarrow
from fairalloc.models.files.writing import make_folder, write_file
from fairalloc.models.input.validation import LARGEST_COUNT
from fairalloc.models.numbers import Floats, frozen
from fairalloc.models.tables import pandas
from fairalloc.simulation.workload import Cluster, Workload, assign, check_rows, flags, numbers

RUNNING, FINISHED, LOST, LEFT = range(4)
"""Outcomes: it runs when the simulation ends; it ran to its end; its machine went down; its user left."""

OUTCOMES = ("running", "finished", "lost", "left")
COLUMNS = ("job", "server", "tasks", "start", "end", "outcome")


@dataclass(frozen=True, eq=False)
class ServerEvents:
    """Machines that go down and come up; default none does. A machine whose first event is to come up is down before it.

    Parameters
    ----------
    time : (E,) >= 0, seconds, ascending
    server : (E,) int, machines in the order of `Cluster.server_class`
    up : (E,) bool, whether the machine comes up
    """

    time: Floats = ()  # type: ignore[assignment]
    server: NDArray[np.int64] = ()  # type: ignore[assignment]
    up: NDArray[np.bool_] = ()  # type: ignore[assignment]

    def __post_init__(self) -> None:
        (time, server), up = (numbers(getattr(self, name), name, 1) for name in ("time", "server")), flags(self.up, "up", 1)
        if not len(time) == len(server) == len(up):
            raise InstanceError(f"there are {len(time)} times, {len(server)} machines and {len(up)} directions of server events")
        if np.any(time < 0) or np.any(np.diff(time) < 0):
            raise InstanceError("the times of server events must be finite, ascending and not negative")
        whole = (server >= 0) & (server <= LARGEST_COUNT) & (server == np.floor(server))
        check_rows(server, ~whole, "server", "must be the number of a machine, from 0 on")
        assign(self, time=frozen(time), server=frozen(server.astype(np.int64)), up=frozen(up))

    def check_on(self, cluster: Cluster) -> None:
        """InstanceError where a machine is not there, or is to come up while it is up, or the other way round."""
        size = len(cluster.server_class)
        for s in np.unique(self.server):
            if s >= size:
                raise InstanceError(f"a server event is about machine {s}, but there are {size} machines")
            turns = self.up[self.server == s]
            if np.any(turns[1:] == turns[:-1]):
                raise InstanceError(f"the events of machine {s} must take turns: down, up, down, or up, down, up")

    def up_at(self, time: float, size: int) -> NDArray[np.bool_]:
        """(S,) whether each machine is up at a time; before 0 it is as at the start."""
        result, before = np.ones(size, dtype=bool), self.time <= time
        servers, first = np.unique(self.server, return_index=True)
        result[servers] = ~self.up[first]
        result[self.server[before]] = self.up[before]  # of equal places the last value counts
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

    @property
    def started(self) -> Floats:
        """(J,) seconds at which the first task of each job started; nan where none did."""
        first = np.full(len(self.workload), np.nan)
        np.fmin.at(first, self.job, self.start)
        return first

    @property
    def completed(self) -> Floats:
        """(J,) seconds at which the last task of each job ended; nan where it was not completed."""
        finished = self.outcome == FINISHED
        tasks, last = np.bincount(self.job[finished], self.tasks[finished], len(self.workload)), self.started
        np.maximum.at(last, self.job[finished], self.end[finished])
        return np.where(tasks == self.workload.tasks, last, np.nan)

    def to_frame(self) -> Any:
        """A DataFrame with a row for each group of tasks; NotInstalled where pandas is missing.

        >>> from fairalloc.simulation import simulate_tasks
        >>> jobs = Workload(["cpu"], ["ann"], [1], [0], [0], [3], [10], [[0.5]])
        >>> simulate_tasks(jobs, Cluster(["cpu"], [[1]]), "fifo").to_frame().iloc[0].to_dict()
        {'start': 0.0, 'end': 10.0, 'user': 'ann', 'job': 0, 'server': 0, 'class': 'c1', 'tasks': 2, 'outcome': 'finished'}
        """
        users, classes = (np.array(names, dtype=object) for names in (self.workload.users, self.cluster.names))
        columns = {"start": self.start, "end": self.end, "user": users[self.workload.job_user[self.job]], "job": self.job}
        columns |= {"server": self.server, "class": classes[self.cluster.server_class[self.server]], "tasks": self.tasks}
        return pandas().DataFrame(columns | {"outcome": np.array(OUTCOMES, dtype=object)[self.outcome]})

    def save(self, path: str | Path) -> None:
        """Write a parquet file: the groups of tasks, and in its metadata the rest, but of the data only a hash.

        InstanceError is raised where it cannot be written, NotInstalled where pyarrow is missing.
        """
        found = pyarrow()
        rest = {"scheduler": self.scheduler, "until": self.until, "data": data_hash(self.workload, self.cluster, self.events)}
        rest |= {"waiting": self.waiting.tolist(), "cancelled": self.cancelled.tolist()}
        table = found.table({name: getattr(self, name) for name in COLUMNS}).replace_schema_metadata({WHAT: json.dumps(rest)})
        written = io.BytesIO()
        found.parquet.write_table(table, written)
        write_file(path, written.getvalue())

    def keep(self, folder: Any, name: str) -> None:
        """Save it as FOLDER/HASH/NAME until SECONDS.parquet, where the hash is that of the data; "" = nowhere."""
        if folder != "":
            place = Path(str(folder), data_hash(self.workload, self.cluster, self.events))
            make_folder(place)
            self.save(place / f"{name.replace('/', '-')} until {self.until:.17g}.parquet")

    @classmethod
    @checked
    def load(cls, path: str | Path, workload: Workload, cluster: Cluster, events: ServerEvents | None = None) -> "TaskLog":
        """The log that was saved to a file.

        Parameters
        ----------
        path : of the file
        workload, cluster, events : what was simulated; InstanceError is raised where the log is of others, or the file has none
        """
        table = parquet_table(path)
        try:
            rest = json.loads((table.schema.metadata or {})[WHAT])
            columns = [table[name].to_numpy() for name in COLUMNS]
            counts = [np.array(rest[name], dtype=np.int64) for name in ("waiting", "cancelled")]
            scheduler, until, data = rest["scheduler"], float(rest["until"]), rest["data"]
        except (KeyError, ValueError, TypeError):
            raise InstanceError(f"{path} holds no log of a simulation") from None
        turns = ServerEvents() if events is None else events
        if data != data_hash(workload, cluster, turns):
            raise InstanceError(f"{path} holds the log of a simulation of other jobs or machines")
        return cls(workload, cluster, turns, scheduler, until, *map(frozen, columns + counts))


@dataclass(frozen=True, eq=False)
class FluidStep:
    """A time in which nothing changes.

    Attributes
    ----------
    start, end : seconds
    users : (n,) the numbers of users that take part
    tasks : (n,) tasks that each runs
    rates : (n, R) what they take of all machines together
    used : (K, R) what they take of each class of machines
    machines : (K,) machines of each class that are up
    measures : what the functions that were asked for say of the allocation at the start
    """

    start: float
    end: float
    users: NDArray[np.intp]
    tasks: Floats
    rates: Floats
    used: Floats
    machines: NDArray[np.int64]
    measures: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class FluidLog:
    """A simulation with divisible tasks.

    Attributes
    ----------
    workload, cluster, events : what was simulated
    mechanism : its id
    until : seconds at which it ended
    steps : in the order of time
    done : (J,) work done of each job, in seconds of tasks
    started, completed : (J,) seconds at which something of each job first ran, and at which it was completed; nan where not
    cancelled : (J,) work that was not done because the user left
    solves : how many allocations were computed
    methods : what computed them; where a mechanism has several answers, theirs were taken
    residual : the largest residual of any of them; inf where one was not judged
    """

    workload: Workload
    cluster: Cluster
    events: ServerEvents
    mechanism: str
    until: float
    steps: tuple[FluidStep, ...]
    done: Floats
    started: Floats
    completed: Floats
    cancelled: Floats
    solves: int
    methods: tuple[str, ...]
    residual: float


WHAT = b"fairalloc.simulation.log"  # the key of the metadata


def data_hash(*data: Any) -> str:
    """A hash of workloads, clusters and events."""
    found = hashlib.sha256()
    for name, value in (pair for thing in data for pair in vars(thing).items() if pair[0] in thing.__dataclass_fields__):
        found.update(repr((name, (value.dtype.str, value.shape) if isinstance(value, np.ndarray) else value)).encode())
        found.update(value.tobytes() if isinstance(value, np.ndarray) else b"")
    return found.hexdigest()[:24]
