"""Divisible allocation over time: `simulate_fluid` solves a mechanism again and again for the users that have work.

1. A user that has unfinished jobs j with T_j tasks and demands d_j takes part as one user with the demand
   d_n = sum_j T_j d_j / sum_j T_j, the mean of its tasks, and, where tasks are limited, max_tasks_n = sum_j T_j.
2. The mechanism says how many such tasks x_n the user runs. All its jobs run the same part of their tasks, T_j x_n / sum_j T_j:
   what they take together is x_n d_n, on every class of machines, so what is feasible for the user is feasible for its jobs.
3. A job with T_j tasks of `duration` seconds is T_j duration seconds of work, done at the rate of the tasks that it runs.
4. When something happens, or every so many seconds, there is a new allocation: step 1 again. Until then rates stay what they are,
   and what a job that ended has taken stays idle.

A mechanism may have several answers, PS-DSF in particular, with limits and without (docs/theory/ps-dsf.md). The method of `solve`
chooses: it starts each allocation anew and draws nothing, so equal instances have equal answers. For PS-DSF `continuation`, the
default, takes the one at the end of its central path. The option `method` chooses another, and the log names what was used.

Jobs take part instead of users where `Workload.by_job` makes each of them a user, as in K 6.1 ("each user only submits one
job"). Classes of machines are pools; identical users are merged by `solve` where that pays (solvers/symmetry.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Duration, checked
from fairalloc.models.errors import InstanceError, NotApplicable, callers, require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen
from fairalloc.simulation.log import FluidLog, FluidStep, ServerEvents
from fairalloc.simulation.memory import Memory
from fairalloc.simulation.workload import Cluster, Workload
from fairalloc.solvers import solve
from fairalloc.solvers.options import promised

DONE = 1e-12  # parts of a job's work below which nothing is left of it: rounding
INFEASIBLE = 1e-3  # parts of capacities and limits by which an allocation may be over, where no looser accuracy is asked for


@checked
def simulate_fluid(
    workload: Workload,
    cluster: Cluster,
    mechanism: str | Mechanism | type[Mechanism],
    until: Duration | None = None,
    every: Duration | None = None,
    *,
    limited: bool = True,
    events: ServerEvents | None = None,
    memory: Memory | None = None,
    measures: Mapping[str, Callable[[Allocation], Any]] | None = None,
    **options: Any,
) -> FluidLog:
    """Serve the jobs of a workload by a mechanism for divisible tasks.

    Parameters
    ----------
    workload : the jobs
    cluster : the machines, whose classes are pools
    mechanism : id, or a mechanism of one's own, as for `solve`
    until : seconds at which to stop; default when nothing happens any more
    every : there are allocations at the multiples of so many seconds, as decimals. Jobs that arrive wait for one, jobs that end
        leave their part idle until then, and only users that leave and machines that come and go change it in between.
        Default: a new one whenever something happens
    limited : whether a user runs at most as many tasks as it has; without it, its work is done the sooner the more it gets
    events : machines that come and go
    memory : how past use lowers weights; they change at each allocation, and with `every` at least so often
    measures : functions of each allocation whose values are kept in the steps
    options : of `solve`, such as method and accuracy, and the mechanism's parameters, such as alpha

    Raises
    ------
    InstanceError : a task fits on no machine, an argument breaks a rule, or there was no feasible allocation
    NotApplicable : the jobs of one user may run on different machines (then `Workload.by_job`), or an answer has another instance

    Examples
    --------
    >>> jobs = Workload(["cpu"], ["ann", "bob"], [1, 1], [0, 1], [0, 5], [4, 4], [10, 10], [[0.5], [0.5]])
    >>> log = simulate_fluid(jobs, Cluster(["cpu"], [[2]]), "drfh")
    >>> log.completed.tolist(), [(step.start, step.tasks.tolist()) for step in log.steps]
    ([15.0, 20.0], [(0.0, [4.0]), (5.0, [2.0, 2.0]), (15.0, [4.0])])
    """
    turns = ServerEvents() if events is None else events
    turns.check_on(cluster)
    asked = find_mechanism(mechanism), options, measures or {}
    return _Fluid(workload, cluster, turns, *asked, limited, every and float(every), memory).run(until)


def instance_of(
    workload: Workload,
    cluster: Cluster,
    jobs: NDArray[np.intp],
    tasks: Floats,
    machines: NDArray[np.int64],
    weights: Floats,
    limited: bool = True,
) -> tuple[NDArray[np.intp], Floats, Instance] | None:
    """Step 1: the users of jobs with so many tasks, which machines of so many each class can run; None where there are none.

    Their numbers (n,), numbers of tasks (n,), and the instance, whose servers are the classes with machines.
    """
    classes = np.flatnonzero(machines)
    who, of = np.unique(workload.job_user[jobs], return_inverse=True)
    total = np.bincount(of, weights=tasks)
    taken = np.column_stack([np.bincount(of, weights=tasks * column) for column in workload.demand[jobs].T])
    lacks = (taken > 0).astype(float) @ (cluster.capacities[classes] == 0).T.astype(float) > 0
    allowed = ~lacks if workload.user_eligible is None else ~lacks & workload.user_eligible[who][:, classes]
    can = allowed.any(axis=1)
    if not can.any():
        return None
    who, total, taken = who[can], total[can], taken[can]
    instance = Instance(
        taken / total[:, None],
        cluster.capacities[classes],
        counts=machines[classes],
        weights=weights[who],
        max_tasks=total if limited else None,
        eligible=None if workload.eligible is None else allowed[can],
        users=[workload.users[n] for n in who.tolist()],
        servers=[cluster.names[k] for k in classes.tolist()],
        resources=cluster.resources,
    )
    return who, total, instance


class _Rates(NamedTuple):
    """What is in force until the next allocation: who takes part, (n,) parts of its tasks, (n, K) parts of these by class."""

    who: NDArray[np.intp]
    part: Floats
    place: Floats
    machines: NDArray[np.int64]
    measures: Mapping[str, Any]


@dataclass(eq=False)
class _Fluid:
    """Steps 1 to 4."""

    workload: Workload
    cluster: Cluster
    events: ServerEvents
    mechanism: Mechanism
    options: Mapping[str, Any]
    measures: Mapping[str, Callable[[Allocation], Any]]
    limited: bool
    every: float | None
    memory: Memory | None

    def __post_init__(self) -> None:
        workload = self.workload
        workload.check_on(self.cluster)
        self.solves, self.residual, self.methods, self.use = 0, 0.0, set[str](), np.zeros(len(workload.users))
        self.tasks = workload.tasks.astype(float)
        self.taken = workload.demand * self.tasks[:, None]
        self.left, self.done = np.array(workload.work), np.zeros(len(workload))  # of long jobs the difference is rounding
        (self.started, self.completed), self.cancelled = np.full((2, len(workload)), np.nan), np.zeros(len(workload))
        self.active = np.zeros(0, dtype=np.intp)  # unfinished jobs that an allocation was made for, in their order
        self.arrived = 0
        self.steps: list[FluidStep] = []

    def run(self, until: float | None) -> FluidLog:
        """All allocations up to a time."""
        time, before, until = 0.0, None, np.inf if until is None else float(until)
        while True:
            arrived = int(np.searchsorted(self.workload.arrival, time, side="right"))
            jobs = np.concatenate((self.active, np.arange(self.arrived, arrived)))
            leaving = jobs[(self.workload.leave[self.workload.job_user[jobs]] <= time) & (self.left[jobs] > 0)]
            self.cancelled[leaving], self.left[leaving] = self.left[leaving], 0.0
            self.active, self.arrived = jobs[self.left[jobs] > 0], arrived
            classes = self.cluster.server_class
            machines = np.bincount(classes[self.events.up_at(time, len(classes))], minlength=len(self.cluster.counts))
            key = (self.active.tobytes(), machines.tobytes(), b"" if self.memory is None else self.use.tobytes())
            if key != before:  # weights that remember change at all times
                before, rates = key, self._solved(machines, time)
            time = self._serve(time, min(self._next(time, rates), until), rates)
            if time >= until or time == np.inf:
                break
        if until == np.inf:
            until = self.steps[-1].end if self.steps else 0.0
        done, started, completed, cancelled = map(frozen, (self.done, self.started, self.completed, self.cancelled))
        found = done, started, completed, cancelled, self.solves, tuple(sorted(self.methods)), self.residual
        return FluidLog(self.workload, self.cluster, self.events, self.mechanism.id, until, tuple(self.steps), *found)

    def _solved(self, machines: NDArray[np.int64], time: float) -> _Rates:
        """For those that have an unfinished job and can run it."""
        weights = self.workload.weights if self.memory is None else self.memory.weights(self.workload.weights, self.use)
        made = instance_of(self.workload, self.cluster, self.active, self.tasks[self.active], machines, weights, self.limited)
        if made is None:
            return _Rates(np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros((0, len(machines))), machines, {})
        who, total, instance = made
        answer = solve(instance, self.mechanism, **self.options)
        if not answer.has_point:
            why = f"{answer.termination}, {answer.message}"
            raise InstanceError(f"at {time:g} seconds there is no allocation of {answer.mechanism}: {why}")
        if answer.instance not in (instance, *[instance.pool] * (instance.K == 1)):
            rule = "as drf, which makes one pool of machines: drf over machines is drfh"
            raise NotApplicable(f"{answer.mechanism} allocates another instance than the users and machines there are, {rule}")
        most = max(INFEASIBLE, promised(self.options.get("accuracy", "mid")))
        what, over = f"{answer.mechanism} by {answer.method}", answer.residuals["feasibility"]
        require(over <= most, f"at {time:g} seconds the feasibility residual of {what} is", over, f"it must be at most {most:g}")
        self.solves, self.residual = self.solves + 1, max(self.residual, answer.residual)
        self.methods.add(answer.method)
        place = np.zeros((len(who), len(machines)))
        place[:, machines > 0] = answer.by_server / np.where(answer.tasks > 0, answer.tasks, 1.0)[:, None]
        with callers("a measure"):
            return _Rates(who, answer.tasks / total, place, machines, {name: of(answer) for name, of in self.measures.items()})

    def _next(self, time: float, rates: _Rates) -> float:
        """When there will be another allocation, completed jobs apart."""
        coming, turn, leave = (
            times[times > time].min(initial=np.inf) for times in (self.workload.arrival, self.events.time, self.workload.leave)
        )
        first = float(time if len(self.active) else max(time, coming))
        if self.every and first + self.every < np.inf and (rates.part.any() or min(coming, turn, leave) < np.inf):  # else idle
            period = Fraction(repr(self.every))
            turns = (float(period * (Fraction(repr(first)) // period + k)) for k in (0, 1))
            coming = min((turn for turn in turns if turn > time and turn >= first), default=np.nextafter(time, np.inf))
        return float(min(coming, turn, leave))

    def _serve(self, time: float, following: float, rates: _Rates) -> float:
        """Run at these rates up to `following`, or to a completion where that asks for another allocation; the time then."""
        user = self.workload.job_user
        jobs = self.active[np.isin(user[self.active], rates.who)]
        at = np.searchsorted(rates.who, user[jobs])
        rate = rates.part[at] * self.tasks[jobs]
        self.started[jobs[rate > 0]] = np.fmin(self.started[jobs[rate > 0]], time)
        while time < following:
            running = self.left[jobs] > 0
            jobs, at, rate = jobs[running], at[running], rate[running]
            needed = np.divide(self.left[jobs], rate, out=np.full(len(jobs), np.inf), where=rate > 0)
            end = float(min(following, time + needed.min(initial=np.inf)))
            if end == np.inf:
                return end
            self._step(time, end, jobs, at, rates)
            self.done[jobs] += rate * (end - time)
            self.left[jobs] = np.where(time + needed <= end, 0.0, self.left[jobs] - rate * (end - time))
            ended = jobs[self.left[jobs] <= DONE * self.workload.work[jobs]]
            self.left[ended], self.done[ended], self.completed[ended] = 0.0, self.workload.work[ended], end
            time = end
            if self.every is None and end < following:
                return end
        return time

    def _step(self, start: float, end: float, jobs: NDArray[np.intp], at: NDArray[np.intp], rates: _Rates) -> None:
        columns = (self.tasks[jobs], *self.taken[jobs].T)
        tasks, *each = (np.bincount(at, weights=column, minlength=len(rates.who)) * rates.part for column in columns)
        taken = np.column_stack(each)
        used = rates.place.T @ taken
        if self.memory is not None:
            shares, totals = np.zeros(len(self.use)), self.cluster.totals
            parts = np.divide(taken, totals, out=np.zeros_like(taken), where=totals > 0)
            shares[rates.who] = parts.max(axis=1, initial=0.0)
            self.use = self.memory.after(self.use, shares, end - start)
        found = frozen(tasks), frozen(taken), frozen(used), frozen(rates.machines)
        self.steps.append(FluidStep(start, end, rates.who, *found, rates.measures))
