"""Tasks on machines over time: `simulate_tasks` runs the jobs of a workload on a cluster under a scheduler.

At every time at which something happens,

1. tasks end; what they took is free again;
2. machines go down, whose tasks are lost and wait again, to be run from their beginning, or come up, empty;
3. users leave: their running tasks end, those that wait are cancelled, as are all that they submit later;
4. jobs arrive, and their tasks wait;
5. the scheduler starts waiting tasks until none has room (schedulers.py).

A shape of tasks (state.py) for which no machine had room is looked at again only when a machine has more room than before: in
step 5 only shapes that arrived, or that changed machines have room for, are tried.
"""

import heapq
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import Seed, checked
from fairalloc.models.errors import InstanceError, shown
from fairalloc.models.numbers import frozen
from fairalloc.simulation.log import FINISHED, LEFT, LOST, RUNNING, ServerEvents, TaskLog
from fairalloc.simulation.schedulers import NOWHERE, Scheduler, find_scheduler
from fairalloc.simulation.state import DOWN, TaskState
from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["simulate_tasks"]

FEW = 8  # machines that are looked at one by one


@checked
def simulate_tasks(
    workload: Workload,
    cluster: Cluster,
    scheduler: Any,
    until: float | None = None,
    seed: Seed = 0,
    events: ServerEvents | None = None,
) -> TaskLog:
    """Run the tasks of a workload on the machines of a cluster.

    Parameters
    ----------
    workload : the jobs
    cluster : the machines
    scheduler : id ("best-fit-drfh", ..), or one's own
    until : seconds at which to stop; default when nothing happens any more
    seed : of what the scheduler draws at random
    events : machines that go down and come up

    Returns
    -------
    The log of all starts and ends, the same for the same arguments

    Raises
    ------
    InstanceError : a task fits on no machine, or an argument breaks a rule
    UnknownName : there is no such scheduler

    Examples
    --------
    >>> jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 5], [3, 2], [10, 10], [[0.5], [0.5]])
    >>> log = simulate_tasks(jobs, Cluster(["cpu"], [[1]]), "first-fit-drfh")
    >>> list(zip(log.start.tolist(), log.job.tolist(), log.tasks.tolist()))
    [(0.0, 0, 2), (10.0, 0, 1), (10.0, 1, 1), (20.0, 1, 1)]
    """
    if until is not None and not until > 0:
        raise InstanceError(f"until is {shown(until)}, but it must be positive")
    workload.check_on(cluster)
    turns = ServerEvents.none() if events is None else events
    turns.check_on(cluster)
    chosen = find_scheduler(scheduler)
    state = TaskState(workload, cluster, chosen.sizes(workload.demand, cluster.capacities), turns, seed)
    for j in np.flatnonzero(~state.allowed.any(axis=1)[state.shape])[:1]:
        raise InstanceError(f"the tasks of job {j} fit on no machine as {chosen.id or 'the scheduler'} counts what they take")
    return _Simulation(state, chosen, turns, np.inf if until is None else float(until)).run()


class _Simulation:
    """The events of one simulation."""

    def __init__(self, state: TaskState, scheduler: Scheduler, events: ServerEvents, until: float) -> None:
        self.state, self.scheduler, self.events, self.until = state, scheduler, events, until
        workload = state.workload
        self.user: list[int] = workload.job_user.tolist()
        self.duration: list[float] = workload.duration.tolist()
        self.ends: list[tuple[float, int]] = []
        self.job, self.server, self.tasks, self.outcome = (array("q") for _ in range(4))
        self.start, self.end = array("d"), array("d")
        self.cancelled = np.zeros(len(workload), dtype=np.int64)
        self.gone = [False] * len(workload.users)
        # jobs[n][f]: heap of the jobs of user n and shape f that have waiting tasks; users_of[f]: users with such jobs
        self.jobs: list[dict[int, list[int]]] = [defaultdict(list) for _ in workload.users]
        self.users_of: dict[int, set[int]] = defaultdict(set)
        self.closed = np.zeros(len(state.sizes), dtype=bool)  # waiting shapes that no machine has room for

    def run(self) -> TaskLog:
        """All events up to `until`."""
        self.scheduler.begin(self.state)
        for time, machines, users, jobs in self._times():
            self.state.time = time
            ready, freed = set[int](), set[int]()
            self._end_tasks(time, freed)
            for e in machines:
                self._turn(int(self.events.server[e]), bool(self.events.up[e]), freed, ready)
            for n in users:
                self._leave(n, freed)
            for j in jobs:
                tasks = int(self.state.workload.tasks[j])
                if self.gone[self.user[j]]:
                    self.cancelled[j] = tasks
                else:
                    self._wait(j, tasks, ready)
            again = self._reopen(freed)
            if ready or again:
                self._fill(ready | again, again, freed)
        return self._log()

    def _times(self) -> Iterator[tuple[float, list[int], list[int], list[int]]]:
        """Every time at which something happens, with the events of machines, the users that leave and the jobs that arrive."""
        workload = self.state.workload
        happens: dict[float, tuple[list[int], list[int], list[int]]] = defaultdict(lambda: ([], [], []))
        for k, times in enumerate((self.events.time, workload.leave, workload.arrival)):
            for number, time in enumerate(times.tolist()):
                happens[time][k].append(number)
        left = sorted(happens, reverse=True)
        while True:
            while self.ends and self.outcome[self.ends[0][1]] != RUNNING:
                heapq.heappop(self.ends)  # they ended before: their machine went down, or their user left
            time = min(left[-1] if left else np.inf, self.ends[0][0] if self.ends else np.inf)
            if time == np.inf or time > self.until:
                return
            if left and left[-1] == time:
                left.pop()
            yield time, *happens.pop(time, ([], [], []))

    # ---- steps 1 to 4 ----------------------------------------------------------------------------------------------------

    def _end_tasks(self, time: float, freed: set[int]) -> None:
        while self.ends and self.ends[0][0] == time:
            _, b = heapq.heappop(self.ends)
            if self.outcome[b] == RUNNING:  # two may end together, and one not have run
                self._stop(b, FINISHED)
                freed.add(self.server[b])

    def _stop(self, b: int, outcome: int) -> None:
        """The tasks of one group stop."""
        state, j, s, tasks = self.state, self.job[b], self.server[b], self.tasks[b]
        self.outcome[b], self.end[b] = outcome, state.time
        n, f = self.user[j], state.shape[j]
        used = state.used[n]
        for q, size in enumerate(state.size[f]):
            state.room[q, s] += tasks * size
            used[q] -= tasks * size
        state.running[n][f] -= tasks
        if not state.running[n][f]:
            del state.running[n][f]
        state.changes[n] += 1

    def _turn(self, s: int, up: bool, freed: set[int], ready: set[int]) -> None:
        """A machine comes up, or goes down with what runs there."""
        room = self.state.room
        if up:
            room[:, s] = self.state.capacities[self.state.server_class[s]]
            freed.add(s)
            return
        for b in self._running(np.frombuffer(self.server, dtype=np.int64) == s):
            self._stop(b, LOST)
            self._wait(self.job[b], self.tasks[b], ready)
        room[:, s] = DOWN
        freed.discard(s)

    def _leave(self, n: int, freed: set[int]) -> None:
        """A user goes."""
        self.gone[n] = True
        for b in self._running(self.state.workload.job_user[np.frombuffer(self.job, dtype=np.int64)] == n):
            self._stop(b, LEFT)
            self.cancelled[self.job[b]] += self.tasks[b]
            freed.add(self.server[b])
        for f, jobs in self.jobs[n].items():
            for j in jobs:
                self.cancelled[j] += self.state.waiting[j]
                self.state.waiting[j] = 0
            self._nobody_waits(n, f)
        self.jobs[n].clear()

    def _running(self, chosen: NDArray[np.bool_]) -> list[int]:
        """The numbers of the chosen groups that run."""
        return np.flatnonzero(chosen & (np.frombuffer(self.outcome, dtype=np.int64) == RUNNING)).tolist()

    def _wait(self, j: int, tasks: int, ready: set[int]) -> None:
        """Tasks of a job wait, from now on."""
        n, f = self.user[j], self.state.shape[j]
        if not self.state.waiting[j]:
            heapq.heappush(self.jobs[n][f], j)
            self.users_of[f].add(n)
        self.state.waiting[j] += tasks
        if not self.closed[f]:
            ready.add(f)

    def _nobody_waits(self, n: int, f: int) -> None:
        """A user has no waiting task of a shape any more."""
        users = self.users_of[f]
        users.discard(n)
        if not users:
            del self.users_of[f]
            self.closed[f] = False

    # ---- step 5 ----------------------------------------------------------------------------------------------------------

    def _reopen(self, freed: set[int]) -> set[int]:
        """Shapes that had no room, and have it on a machine that was freed, and only there."""
        closed = np.flatnonzero(self.closed)
        full = self._without_room(closed, freed)
        if len(full) == len(closed):
            return set()
        again = set(closed.tolist()).difference(full.tolist())
        self.closed[[*again]] = False
        return again

    def _fill(self, ready: set[int], again: set[int], freed: set[int]) -> None:
        """Start tasks of the ready shapes until none has room; those that are ready `again` have it on machines just freed."""
        state, scheduler = self.state, self.scheduler
        users = set[int]().union(*(self.users_of.get(f, ()) for f in ready))
        order = self._ordered(users)
        groups: dict[tuple[int, int], int] = {}
        while order and ready:
            bound, n = order[0]
            j = self._next_job(n, ready)
            if j is None:
                heapq.heappop(order)
                continue
            priority, s = scheduler.choose(state, n, j)
            if s == NOWHERE:
                full = {state.shape[j]}
            elif priority > bound and len(order) > 1 and (priority, n) > min(order[1:3]):
                heapq.heapreplace(order, (priority, n))
                continue
            else:
                self._start(j, n, s, groups)
                heapq.heapreplace(order, (scheduler.priority(state, n), n))
                few = len(freed) <= FEW
                full = set(self._without_room(np.array([*again], dtype=np.intp), freed).tolist()) if few else set()
            if full:  # no machine has room for these shapes
                ready -= full
                again -= full
                self.closed[[*(full & self.users_of.keys())]] = True
                order = self._ordered(m for _, m in order) if scheduler.by_machine else order
        self._keep(groups)

    def _without_room(self, shapes: NDArray[np.intp], servers: set[int]) -> NDArray[np.intp]:
        """The shapes for which none of some machines has room."""
        state = self.state
        for s in servers if len(shapes) else ():
            there = np.all(state.sizes[shapes] <= state.room[:, s], axis=1) & state.allowed[shapes, state.server_class[s]]
            shapes = shapes[~there]
        return shapes

    def _ordered(self, users: Iterable[int]) -> list[tuple[float, int]]:
        """A heap of the users with their priorities."""
        order = [(self.scheduler.priority(self.state, n), n) for n in users]
        heapq.heapify(order)
        return order

    def _next_job(self, n: int, ready: set[int]) -> int | None:
        """The user's first job of a ready shape."""
        jobs = self.jobs[n]
        if len(jobs) <= len(ready):
            return min((heap[0] for f, heap in jobs.items() if f in ready), default=None)
        return min((jobs[f][0] for f in ready if f in jobs), default=None)

    def _start(self, j: int, n: int, s: int, groups: dict[tuple[int, int], int]) -> None:
        """One task starts."""
        state = self.state
        f = state.shape[j]
        used, room = state.used[n], state.room
        if not (isinstance(s, int | np.integer) and 0 <= s < room.shape[1]):
            raise InstanceError(f"the scheduler chose machine {shown(s)} for a task of job {j}, but there are {room.shape[1]}")
        for q, size in enumerate(state.size[f]):
            room[q, s] -= size
            used[q] += size
        if any(room[q, s] < 0 for q in range(len(room))) or not state.allowed[f, state.server_class[s]]:
            raise InstanceError(f"the scheduler chose machine {s} for a task of job {j}, which has no room for it")
        state.running[n][f] = state.running[n].get(f, 0) + 1
        state.changes[n] += 1
        groups[j, s] = groups.get((j, s), 0) + 1
        state.waiting[j] -= 1
        if not state.waiting[j]:
            heapq.heappop(self.jobs[n][f])
            if not self.jobs[n][f]:
                del self.jobs[n][f]
                self._nobody_waits(n, f)

    def _keep(self, groups: dict[tuple[int, int], int]) -> None:
        """Log what started at this time."""
        time = self.state.time
        for (j, s), tasks in groups.items():
            end = time + self.duration[j]
            heapq.heappush(self.ends, (end, len(self.job)))
            self.job.append(j)
            self.server.append(s)
            self.tasks.append(tasks)
            self.start.append(time)
            self.end.append(end)
            self.outcome.append(RUNNING)

    def _log(self) -> TaskLog:
        state = self.state
        until = self.until if np.isfinite(self.until) else state.time
        end = np.where(np.array(self.outcome) == RUNNING, until, np.array(self.end))
        waiting = np.array(state.waiting, dtype=np.int64)
        columns = (self.job, self.server, self.tasks, self.start, end, self.outcome, waiting, self.cancelled)
        made = [frozen(np.array(column)) for column in columns]
        return TaskLog(state.workload, state.cluster, self.events, self.scheduler.id, until, *made)
