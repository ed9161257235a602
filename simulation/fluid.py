"""Divisible allocation over time: `simulate_fluid` solves a mechanism again and again for the users that have work.

1. A user that has unfinished jobs j with T_j tasks and demands d_j takes part as one user with the demand
   d_n = sum_j T_j d_j / sum_j T_j, the mean of its tasks, and, where tasks are limited, max_tasks_n = sum_j T_j.
2. The mechanism says how many such tasks x_n the user runs. All its jobs run the same part of their tasks, T_j x_n / sum_j T_j:
   what they take together is x_n d_n, on every class of machines, so what is feasible for the user is feasible for its jobs.
3. A job with T_j tasks of `duration` seconds is T_j duration seconds of work, done at the rate of the tasks that it runs.
4. When something happens, or every so many seconds, there is a new allocation: step 1 again. Until then rates stay what they are,
   and what a job that ended has taken stays idle.

With `each_job`, jobs take part instead of users, each with the weight of its user, as in K 6.1 ("each user only submits one
job"). Classes of machines are pools; identical users are merged by `solve` where that pays (solvers/symmetry.py), and
rules with rounds start from the level of the allocation before (level_start.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, NotApplicable, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen
from fairalloc.simulation.level_start import LevelStart
from fairalloc.simulation.log import ServerEvents
from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["FluidLog", "FluidStep", "simulate_fluid"]

DONE = 1e-12
"""Parts of a job's work below which nothing is left of it: rounding."""


@dataclass(frozen=True, eq=False)
class FluidStep:
    """A time in which nothing changes.

    Attributes
    ----------
    start, end : seconds
    users : (n,) the numbers of users, or of jobs with `each_job`, that take part
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
    each_job : whether jobs took part, not users
    until : seconds at which it ended
    steps : in the order of time
    done : (J,) work done of each job, in seconds of tasks
    completed : (J,) seconds at which each job was completed; nan where it was not
    cancelled : (J,) work that was not done because the user left
    solves, started : how many allocations were computed, and how many of them from the level of the one before
    residual : the largest residual of any of them; inf where one was not judged
    """

    workload: Workload
    cluster: Cluster
    events: ServerEvents
    mechanism: str
    each_job: bool
    until: float
    steps: tuple[FluidStep, ...]
    done: Floats
    completed: Floats
    cancelled: Floats
    solves: int
    started: int
    residual: float


@checked
def simulate_fluid(
    workload: Workload,
    cluster: Cluster,
    mechanism: str | Mechanism | type[Mechanism],
    until: float | None = None,
    every: float | None = None,
    *,
    each_job: bool = False,
    limited: bool = True,
    events: ServerEvents | None = None,
    measures: Mapping[str, Callable[[Allocation], Any]] | None = None,
    **options: Any,
) -> FluidLog:
    """Serve the jobs of a workload by a mechanism for divisible tasks.

    Parameters
    ----------
    workload : the jobs
    cluster : the machines, whose classes are pools
    mechanism : id, or a mechanism of one's own, as for `solve`
    until : seconds at which to stop; default when all is done
    every : seconds between allocations: jobs that arrive wait for the next, jobs that end leave their part idle until then, and
        only users that leave and machines that come and go change it in between. Default: a new one whenever something happens
    each_job : whether jobs take part instead of users
    limited : whether a user runs at most as many tasks as it has; without it, its work is done the sooner the more it gets
    events : machines that come and go
    measures : functions of each allocation whose values are kept in the steps
    options : of `solve`, such as method and accuracy, and the mechanism's parameters, such as alpha

    Raises
    ------
    InstanceError : an argument breaks a rule, or there was no allocation
    NotApplicable : the jobs of one user may run on different machines (then `each_job`), or the mechanism places nothing

    Examples
    --------
    >>> jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 5], [4, 4], [10, 10], [[0.5], [0.5]])
    >>> log = simulate_fluid(jobs, Cluster(["cpu"], [[2]]), "drfh")
    >>> log.completed.tolist(), [(step.start, step.tasks.tolist()) for step in log.steps]
    ([15.0, 20.0], [(0.0, [4.0]), (5.0, [2.0, 2.0]), (15.0, [4.0])])
    """
    for name, value in (("until", until), ("every", every)):
        if value is not None and not value > 0:
            raise InstanceError(f"{name} is {shown(value)}, but it must be positive")
    turns = ServerEvents.none() if events is None else events
    turns.check_on(cluster)
    parties = _Parties(workload, cluster, each_job, limited)
    allocate = _Allocate(parties, LevelStart(mechanism, options), dict(measures or {}))
    return _Fluid(workload, cluster, turns, parties, allocate, np.inf if until is None else float(until), every).run()


class _Parties:
    """Step 1: users or jobs as users of an instance."""

    def __init__(self, workload: Workload, cluster: Cluster, each_job: bool, limited: bool) -> None:
        workload.fitting(cluster)  # the same resources and classes
        self.workload, self.cluster, self.each_job, self.limited = workload, cluster, each_job, limited
        self.of_job = np.arange(len(workload)) if each_job else workload.job_user
        self.tasks = workload.tasks.astype(float)
        self.taken = workload.demand * self.tasks[:, None]
        self.eligible = self._eligible()

    def _eligible(self) -> NDArray[np.bool_]:
        """(users or jobs, K)."""
        given, K = self.workload.eligible, len(self.cluster.counts)
        size = len(self.workload) if self.each_job else len(self.workload.users)
        result = np.ones((size, K), dtype=bool)
        if given is None:
            return result
        result[self.of_job] = given
        for j in np.flatnonzero(np.any(result[self.of_job] != given, axis=1))[:1]:
            name = self.workload.users[self.workload.job_user[j]]
            raise NotApplicable(f"the jobs of user {name!r} may run on different classes of machines: allocate to each_job")
        return result

    def instance(self, jobs: NDArray[np.intp], machines: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp], Any]:
        """Who has one of these jobs and can run it, the classes with machines, and the arguments of the instance."""
        classes = np.flatnonzero(machines)
        who, of = np.unique(self.of_job[jobs], return_inverse=True)
        total = np.bincount(of, weights=self.tasks[jobs])
        taken = np.column_stack([np.bincount(of, weights=column) for column in self.taken[jobs].T])
        there = self.cluster.capacities[classes] > 0
        can = (self.eligible[who][:, classes] & ~((taken > 0).astype(float) @ (~there).T.astype(float) > 0)).any(axis=1)
        user = self.workload.job_user[who] if self.each_job else who
        arguments = {
            "demands": (taken / total[:, None])[can],
            "capacities": self.cluster.capacities[classes],
            "counts": machines[classes],
            "weights": self.workload.weights[user[can]],
            "max_tasks": total[can] if self.limited else None,
            "eligible": None if self.workload.eligible is None else self.eligible[who[can]][:, classes],
        }
        return who[can], classes, arguments

    def names(self, who: NDArray[np.intp]) -> list[str]:
        """Of those who take part."""
        return [f"job {j}" for j in who.tolist()] if self.each_job else [self.workload.users[n] for n in who.tolist()]


@dataclass
class _Rates:
    """What is in force until the next allocation."""

    who: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    part: Floats = field(default_factory=lambda: np.zeros(0))
    """(n,) the part of its tasks that each runs."""
    place: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """(n, K) the part of these on each class."""
    measures: Mapping[str, Any] = field(default_factory=dict)


class _Allocate:
    """Step 2: solve, unless nothing changed."""

    def __init__(self, parties: _Parties, solver: LevelStart, measures: dict[str, Callable[[Allocation], Any]]) -> None:
        self.parties, self.solver, self.measures = parties, solver, measures
        self.solves, self.residual = 0, 0.0
        self.id = solver.mechanism if isinstance(solver.mechanism, str) else ""
        self._before: tuple[bytes, _Rates] = b"", _Rates()

    def __call__(self, jobs: NDArray[np.intp], machines: NDArray[np.int64], time: float) -> _Rates:
        """The rates for these unfinished jobs."""
        if len(jobs) == 0:
            return _Rates()
        key = jobs.tobytes() + b"|" + machines.tobytes()
        if key != self._before[0]:
            self._before = key, self._solved(jobs, machines, time)
        return self._before[1]

    def _solved(self, jobs: NDArray[np.intp], machines: NDArray[np.int64], time: float) -> _Rates:
        who, classes, arguments = self.parties.instance(jobs, machines)
        if len(who) == 0:
            return _Rates()
        names = [self.parties.cluster.names[k] for k in classes.tolist()]
        instance = Instance(**arguments, users=self.parties.names(who), servers=names, resources=self.parties.cluster.resources)
        answer = self.solver.solve(instance)
        self._check(answer, instance, time)
        self.solves, self.residual, self.id = self.solves + 1, max(self.residual, answer.residual), answer.mechanism
        can = jobs[np.isin(self.parties.of_job[jobs], who)]
        total = np.bincount(np.searchsorted(who, self.parties.of_job[can]), weights=self.parties.tasks[can], minlength=len(who))
        place = np.zeros((len(who), len(machines)))
        place[:, classes] = answer.by_server / np.where(answer.tasks > 0, answer.tasks, 1.0)[:, None]
        return _Rates(who, answer.tasks / total, place, {name: of(answer) for name, of in self.measures.items()})

    def _check(self, answer: Allocation, instance: Instance, time: float) -> None:
        if not answer.has_point:
            raise InstanceError(
                f"at {time:g} seconds there is no allocation of {answer.mechanism}: {answer.termination}, {answer.message}"
            )
        if answer.instance.K != instance.K:
            raise NotApplicable(
                f"{answer.mechanism} makes one pool of all machines, so it places nothing: the same over machines is drfh"
            )


class _Fluid:
    """Steps 3 and 4."""

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        events: ServerEvents,
        parties: _Parties,
        allocate: _Allocate,
        until: float,
        every: float | None,
    ) -> None:
        self.workload, self.cluster, self.events = workload, cluster, events
        self.parties, self.allocate, self.until, self.every = parties, allocate, until, every
        J = len(workload)
        self.left = np.array(workload.work)
        self.completed, self.cancelled = np.full(J, np.nan), np.zeros(J)
        self.gone = np.zeros(len(workload.users), dtype=bool)
        self.up = events.first_up(len(cluster.server_class))
        self.active = np.zeros(0, dtype=np.intp)  # unfinished jobs that an allocation was made for, in their order
        self.arrived = self.turned = 0
        self.steps: list[FluidStep] = []

    def run(self) -> FluidLog:
        """All allocations up to `until`."""
        time = 0.0
        while True:
            self._update(time)
            machines = np.bincount(self.cluster.server_class[self.up], minlength=len(self.cluster.counts))
            rates = self.allocate(self.active, machines, time)
            following = min(self._next(time), self.until)
            time = self._serve(time, following, rates, machines)
            if time >= self.until or time == np.inf:
                break
        ended = min(self.until, self.steps[-1].end if self.steps else 0.0) if self.until == np.inf else self.until
        done = self.workload.work - self.left - self.cancelled
        arrays = (frozen(done), frozen(self.completed), frozen(self.cancelled))
        facts = (self.allocate.id, self.parties.each_job, ended, tuple(self.steps), *arrays)
        counts = (self.allocate.solves, self.allocate.solver.started)
        return FluidLog(self.workload, self.cluster, self.events, *facts, *counts, self.allocate.residual)

    def _update(self, time: float) -> None:
        """What has happened up to this time."""
        workload, events = self.workload, self.events
        while self.turned < len(events.time) and events.time[self.turned] <= time:
            self.up[events.server[self.turned]] = events.up[self.turned]
            self.turned += 1
        before = self.arrived
        self.arrived = int(np.searchsorted(workload.arrival, time, side="right"))
        jobs = np.concatenate((self.active, np.arange(before, self.arrived)))
        self.gone |= workload.leave <= time
        leaving = self.gone[workload.job_user[jobs]] & (self.left[jobs] > 0)
        self.cancelled[jobs[leaving]] = self.left[jobs[leaving]]
        self.left[jobs[leaving]] = 0.0
        self.active = jobs[self.left[jobs] > 0]

    def _next(self, time: float) -> float:
        """When there will be another allocation, completed jobs apart."""
        workload, events = self.workload, self.events
        coming = workload.arrival[self.arrived] if self.arrived < len(workload) else np.inf
        if self.every is not None:
            multiple = self.every * (float(np.floor(time / self.every)) + 1)
            coming = multiple if len(self.active) else max(multiple, self.every * np.ceil(coming / self.every))
        turn = events.time[self.turned] if self.turned < len(events.time) else np.inf
        return float(min(coming, turn, workload.leave[workload.leave > time].min(initial=np.inf)))

    def _serve(self, time: float, following: float, rates: _Rates, machines: NDArray[np.int64]) -> float:
        """Run at these rates up to `following`, or to a completion where that asks for another allocation; the time then."""
        jobs = self.active
        at = np.searchsorted(rates.who, self.parties.of_job[jobs])
        known = at < len(rates.who)
        known[known] = rates.who[at[known]] == self.parties.of_job[jobs][known]
        jobs, at = jobs[known], at[known]
        rate = rates.part[at] * self.parties.tasks[jobs]
        while time < following:
            running = self.left[jobs] > 0
            jobs, at, rate = jobs[running], at[running], rate[running]
            needed = np.divide(self.left[jobs], rate, out=np.full(len(jobs), np.inf), where=rate > 0)
            end = float(min(following, time + needed.min(initial=np.inf)))
            if end == np.inf:
                return end
            self._step(time, end, jobs, at, rates, machines)
            self._work(jobs, rate, needed, time, end)
            time = end
            if self.every is None and end < following:
                return end
        return time

    def _step(
        self, start: float, end: float, jobs: NDArray[np.intp], at: NDArray[np.intp], rates: _Rates, machines: NDArray[np.int64]
    ) -> None:
        n = len(rates.who)
        columns = [np.bincount(at, weights=column, minlength=n) * rates.part for column in self.parties.taken[jobs].T]
        taken = np.column_stack(columns)
        used = rates.place.T @ taken if n else np.zeros((len(machines), taken.shape[1]))
        tasks = np.bincount(at, weights=self.parties.tasks[jobs], minlength=n) * rates.part
        step = FluidStep(start, end, rates.who, frozen(tasks), frozen(taken), frozen(used), frozen(machines), rates.measures)
        self.steps.append(step)

    def _work(self, jobs: NDArray[np.intp], rate: Floats, needed: Floats, start: float, end: float) -> None:
        """Work is done; jobs of which nothing but rounding is left are completed."""
        self.left[jobs] = np.where(start + needed <= end, 0.0, self.left[jobs] - rate * (end - start))
        ended = jobs[self.left[jobs] <= DONE * self.workload.work[jobs]]
        self.left[ended] = 0.0
        self.completed[ended] = end
