"""Tasks on machines over time: `simulate_tasks` runs the jobs of a workload on a cluster under a scheduler.

At every time at which something happens,

1. tasks end; what they took is free again;
2. machines go down, whose tasks are lost and wait again, to be run from their beginning, or come up, empty;
3. users leave: their running tasks end, those that wait are cancelled, as are all that they submit later;
4. jobs arrive, and their tasks wait;
5. the scheduler starts waiting tasks until none has room (schedulers.py).

After step 5 no machine has room for a task that waits. So at the next event shapes of tasks (state.py) of which none waited are
looked at on all machines, and others on the machines that have more room than before.

Times are added as the decimals that they print as: what starts at 0.1 and runs for 0.2 s ends at 0.3.
"""

import heapq
from array import array
from collections import defaultdict
from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import Duration, Seed, checked
from fairalloc.models.errors import InstanceError, callers, check_name, require, shown
from fairalloc.models.numbers import frozen
from fairalloc.simulation.log import FINISHED, LEFT, LOST, RUNNING, ServerEvents, TaskLog
from fairalloc.simulation.schedulers import Scheduler, find_scheduler
from fairalloc.simulation.state import DOWN, NOWHERE, TaskState
from fairalloc.simulation.workload import Cluster, Workload, numbers


@checked
def simulate_tasks(
    workload: Workload,
    cluster: Cluster,
    scheduler: Any,
    until: Duration | None = None,
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
    workload.check_on(cluster)
    turns = ServerEvents() if events is None else events
    turns.check_on(cluster)
    chosen = find_scheduler(scheduler)
    check_name(chosen.id, f"the id of the scheduler {type(chosen).__name__}", empty=True)
    named = f"the scheduler {chosen.id or type(chosen).__name__!r}"
    with callers(named):
        found = chosen.sizes(workload.demand, cluster.capacities)
    require(isinstance(found, tuple) and len(found) == 2, "the scheduler's sizes are", found, "they must be two arrays")
    sizes, capacities = (numbers(values, "the scheduler's sizes", 2) for values in found)
    sound = len(sizes) == len(workload) and capacities.shape == (len(cluster.counts), max(sizes.shape[1], 1))
    sound = sound and sizes.min(initial=0.0) >= 0 and capacities.min() >= 0
    require(sound, "the scheduler's sizes are", found, "they must be >= 0, a row for each job and for each class of machines")
    state = TaskState(workload, cluster, (sizes, capacities), turns, seed)
    for j in np.flatnonzero(~np.any(state.allowed[state.shape], axis=1))[:1]:
        raise InstanceError(f"the tasks of job {j} fit on no machine as {chosen.id or 'the scheduler'} counts what they take")
    with callers(named), localcontext(Context(prec=28)):  # not the caller's
        return _Simulation(state, chosen, turns, np.inf if until is None else float(until)).run()


class _Simulation:
    """The events of one simulation."""

    def __init__(self, state: TaskState, scheduler: Scheduler, events: ServerEvents, until: float) -> None:
        self.state, self.scheduler, self.events, self.until = state, scheduler, events, until
        workload = state.workload
        self.by_job = type(scheduler).job_priority is not Scheduler.job_priority
        self.user: list[int] = workload.job_user.tolist()
        self.duration = [Decimal(repr(seconds)) for seconds in workload.duration.tolist()]
        self.ends: list[tuple[float, int]] = []
        self.columns: list[Any] = [array(kind) for kind in "qqqddq"]
        self.job, self.server, self.tasks, self.start, self.end, self.outcome = self.columns
        self.cancelled = np.zeros(len(workload), dtype=np.int64)
        self.gone = [False] * len(workload.users)
        # jobs[n][f]: heap of the ranks of jobs of user n and shape f that have waiting tasks; users_of[f]: users with such jobs
        self.jobs: list[dict[int, list[int]]] = [defaultdict(list) for _ in workload.users]
        self.users_of: dict[int, set[int]] = defaultdict(set)

    def run(self) -> TaskLog:
        """All events up to `until`."""
        self.scheduler.begin(self.state)
        asked = self.scheduler.job_order(self.state)
        order = numbers(asked, "the scheduler's order of jobs", 1)
        once = np.array_equal(np.sort(order), np.arange(len(self.user)))
        require(once, "the scheduler's order of jobs is", asked, f"it must name each of the {len(self.user)} jobs once")
        self.at_rank: list[int] = order.astype(int).tolist()
        self.rank = self.state.job_rank = np.argsort(self.at_rank).tolist()
        for time, machines, users, jobs in self._times():
            self.state.time = time
            self.freed: set[int] = set()
            self.new: set[int] = set()
            while self.ends and self.ends[0][0] == time:
                _, b = heapq.heappop(self.ends)
                if self.outcome[b] == RUNNING:  # two may end together, and one not have run
                    self._stop(b, FINISHED)
            for e in machines:
                self._turn(int(self.events.server[e]), bool(self.events.up[e]))
            for n in users:
                self._leave(n)
            for j in jobs:
                tasks = int(self.state.workload.tasks[j])
                if self.gone[self.user[j]]:
                    self.cancelled[j] = tasks
                else:
                    self._wait(j, tasks)
            if self.new or self.freed:
                new = sorted(self.new & self.users_of.keys())
                self._fill(self.state.look_for_room(new, self.freed))
                for f in new:
                    self.state.waits[f] = f in self.users_of
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

    def _stop(self, b: int, outcome: int) -> None:
        j, s = self.job[b], self.server[b]
        self.outcome[b], self.end[b] = outcome, self.state.time
        self.state.take(self.user[j], self.state.shape[j], s, -self.tasks[b])
        self.scheduler.changed(self.state, self.user[j], self.state.shape[j], -self.tasks[b])
        self.freed.add(s)

    def _turn(self, s: int, up: bool) -> None:
        """A machine comes up, or goes down with what runs there."""
        if up:
            self.state.room[:, s] = self.state.capacities[self.state.server_class[s]]
            self.freed.add(s)
            return
        for b in self._running(np.frombuffer(self.server, dtype=np.int64) == s):
            self._stop(b, LOST)
            self._wait(self.job[b], self.tasks[b])
        self.state.room[:, s] = DOWN

    def _leave(self, n: int) -> None:
        self.gone[n] = True
        for b in self._running(self.state.workload.job_user[np.frombuffer(self.job, dtype=np.int64)] == n):
            self._stop(b, LEFT)
            self.cancelled[self.job[b]] += self.tasks[b]
        for f, ranks in self.jobs[n].items():
            for j in (self.at_rank[rank] for rank in ranks):
                self.cancelled[j] += self.state.waiting[j]
                self.state.waiting[j] = 0
            self._nobody_waits(n, f)
        self.jobs[n].clear()

    def _running(self, chosen: NDArray[np.bool_]) -> list[int]:
        return np.flatnonzero(chosen & (np.frombuffer(self.outcome, dtype=np.int64) == RUNNING)).tolist()

    def _wait(self, j: int, tasks: int) -> None:
        n, f = self.user[j], self.state.shape[j]
        if f not in self.users_of:
            self.new.add(f)
        if not self.state.waiting[j]:
            heapq.heappush(self.jobs[n][f], self.rank[j])
            self.users_of[f].add(n)
        self.state.waiting[j] += tasks

    def _nobody_waits(self, n: int, f: int) -> None:
        users = self.users_of[f]
        users.discard(n)
        if not users:
            del self.users_of[f]
            self.state.waits[f] = False

    # ---- step 5 ----------------------------------------------------------------------------------------------------------

    def _fill(self, shapes: list[int]) -> None:
        """Start tasks of the shapes that have room until none has."""
        state, scheduler, ready = self.state, self.scheduler, set(shapes)
        users: set[int] = set().union(*map(self.users_of.__getitem__, ready))
        order = [(self._priority(n), n) for n in users]
        heapq.heapify(order)
        self.following: dict[int, int] = {}
        groups: dict[tuple[int, int], int] = {}
        asked: dict[int, int] = {}  # user -> the job that the scheduler was asked for since the last start
        while order and ready:
            bound, n = order[0]
            j = self._next_job(n, ready)
            if j is None:
                heapq.heappop(order)
                continue
            if self.by_job and asked.get(n) != j:  # once for each start: what always rises would be asked without end
                asked[n] = j
                if (priority := _number(scheduler.job_priority(state, n, j), f"priority of job {j}")) > bound:
                    heapq.heapreplace(order, (priority, n))
                    if order[0][1] != n:
                        continue
            s, full = self._machine(j), [state.shape[j]]
            if s != NOWHERE:
                self._start(j, n, s, groups)
                asked.clear()
                heapq.heapreplace(order, (self._priority(n), n))
                full = state.started(state.shape[j], s)
            if full:  # no machine has room for these shapes
                ready.difference_update(full)
                order = self._asked_again(order, ready) if self.by_job else order
        now = Decimal(repr(state.time))
        for (j, s), count in groups.items():
            end = float(now + self.duration[j])
            heapq.heappush(self.ends, (end, len(self.job)))
            for column, value in zip(self.columns, (j, s, count, state.time, end, RUNNING), strict=True):
                column.append(value)

    def _priority(self, n: int) -> float:
        return _number(self.scheduler.priority(self.state, n), f"priority of user {n}")

    def _next_job(self, n: int, ready: set[int]) -> int | None:
        """The user's first job of a ready shape."""
        shape, j = self.state.shape, self.following.get(n)
        if j is None or not self.state.waiting[j] or shape[j] not in ready:
            jobs = self.jobs[n]
            rank = min((jobs[f][0] for f in jobs.keys() & ready), default=None)
            if rank is None:
                return None
            j = self.following[n] = self.at_rank[rank]
        return j

    def _asked_again(self, order: list[tuple[float, int]], ready: set[int]) -> list[tuple[float, int]]:
        """The heap where users whose next job has no room any more, and may be another one, have the bound of their priority."""
        shape, following = self.state.shape, self.following
        again = {m for _, m in order if m in following and shape[following[m]] not in ready}
        if not again:
            return order
        order = [pair for pair in order if pair[1] not in again] + [(self._priority(m), m) for m in again]
        heapq.heapify(order)
        return order

    def _machine(self, j: int) -> int:
        """The machine that the scheduler chooses for a task of a job, or NOWHERE."""
        s, machines = self.scheduler.server(self.state, j), len(self.state.server_class)
        if not (isinstance(s, int | np.integer) and NOWHERE <= s < machines):
            said = f"the scheduler chose machine {shown(s)} for a task of job {j}"
            raise InstanceError(f"{said}, but it must be a whole number from -1 to {machines - 1}")
        if s != NOWHERE and not self.state.fits(self.state.shape[j], s):
            raise InstanceError(f"the scheduler chose machine {s} for a task of job {j}, which has no room for it")
        return s

    def _start(self, j: int, n: int, s: int, groups: dict[tuple[int, int], int]) -> None:
        state, f = self.state, self.state.shape[j]
        state.take(n, f, s, 1)
        self.scheduler.changed(state, n, f, 1)
        groups[j, s] = groups.get((j, s), 0) + 1
        state.waiting[j] -= 1
        if not state.waiting[j]:
            heapq.heappop(self.jobs[n][f])
            if not self.jobs[n][f]:
                del self.jobs[n][f]
                self._nobody_waits(n, f)

    def _log(self) -> TaskLog:
        state = self.state
        until = self.until if np.isfinite(self.until) else state.time
        end = np.where(np.array(self.outcome) == RUNNING, until, np.array(self.end))
        columns = (*self.columns[:4], end, self.outcome, np.array(state.waiting, dtype=np.int64), self.cancelled)
        made = [frozen(np.array(column)) for column in columns]
        return TaskLog(state.workload, state.cluster, self.events, self.scheduler.id, until, *made)


def _number(value: float, what: str) -> float:
    """A priority; InstanceError where users could not be put in order by it."""
    if not isinstance(value, Real | np.bool_) or value != value:
        raise InstanceError(f"the scheduler's {what} is {shown(value)}, but it must be a number")
    return value
