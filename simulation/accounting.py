"""What must hold for every log of starts and ends, found from the log and the data alone: nothing of the simulators is used.

Tasks (`account`):

1. At every event no machine holds more than its capacity, or anything while it is down, and tasks run only where they may.
2. No task starts before its job arrives or after its user left, and one that finished ran for its duration.
3. At every event the tasks of a job that run or have finished are at most the tasks it has: none is run twice at a time, and none
   that has finished is run again. At the end those that finished, run, wait or were cancelled are exactly its tasks.
4. Work in = done + left + killed, in seconds of tasks. Done is what finished tasks, and tasks that still run, have run; what
   tasks ran that were lost with their machine is done again, and counted apart: the machines' seconds are done + lost.

Divisible tasks (a `FluidLog`): 1 by class of machines, 2 and 4 by integrating the rates of the steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.numbers import Floats
from fairalloc.simulation.log import FINISHED, LEFT, LOST, RUNNING, FluidLog, TaskLog

ROUNDING = 1e-9  # parts of a capacity, of a duration or of work that are rounding: sums of many floats


@dataclass(frozen=True)
class Accounts:
    """The books of a simulation, in seconds of tasks.

    Attributes
    ----------
    work : of all jobs that arrived
    done, left, killed : of it: run by tasks that finished or still run; not yet run; of tasks whose user left
    lost : run by tasks that did not finish, on top of what is done
    violations : one sentence for each rule that is broken
    """

    work: float
    done: float
    left: float
    killed: float
    lost: float
    violations: tuple[str, ...]


@checked
def account(log: TaskLog | FluidLog) -> Accounts:
    """The books of a simulation, of tasks or of divisible tasks; of the latter nothing is ever lost.

    >>> from fairalloc.simulation import Cluster, Workload, simulate_tasks
    >>> jobs = Workload(["cpu"], ["ann"], [1], [0], [0], [3], [10], [[0.5]])
    >>> books = account(simulate_tasks(jobs, Cluster(["cpu"], [[1]]), "first-fit-drfh", until=15))
    >>> books.work, books.done, books.left, books.violations
    (30.0, 25.0, 5.0, ())
    """
    jobs, arrived = log.workload, log.workload.arrival <= log.until
    if isinstance(log, FluidLog):
        parts = (jobs.work, log.done, jobs.work - log.done - log.cancelled, log.cancelled)
        work, done, left, killed = (float(values[arrived].sum()) for values in parts)
        return Accounts(work, done, left, killed, 0.0, (*_steps(log), *_completions(log), *_rates(log)))
    of = log.tasks * jobs.duration[log.job]
    ran = log.tasks * (log.end - log.start)
    finished, running, wasted = log.outcome == FINISHED, log.outcome == RUNNING, np.isin(log.outcome, (LOST, LEFT))
    done = float(of[finished].sum() + ran[running].sum())
    waits = float((log.waiting * jobs.duration)[arrived].sum())
    left = waits + float((of - ran)[running].sum())
    killed = float((log.cancelled * jobs.duration).sum())
    work = float(jobs.work[arrived].sum())
    broken, found = [*_capacities(log), *_places(log), *_times(log), *_counts(log)], done + left + killed
    if not abs(work - found) <= ROUNDING * max(work, 1.0):
        broken.append(f"work in is {work:.9g} seconds of tasks, but done, left and killed are {found:.9g}")
    return Accounts(work, done, left, killed, float(ran[wasted].sum()), tuple(broken))


def _capacities(log: TaskLog) -> Iterator[str]:
    """Rule 1: at equal times ends come before starts."""
    sign = np.repeat((-1, 1), len(log))
    taken = sign[:, None] * np.tile(log.tasks[:, None] * log.workload.demand[log.job], (2, 1))
    order, held = _held(np.tile(log.server, 2), np.concatenate((log.end, log.start)), sign, taken)
    server, time = np.tile(log.server, 2)[order], np.concatenate((log.end, log.start))[order]
    capacity = log.cluster.capacities[log.cluster.server_class[server]]
    over = np.any(held > capacity * (1.0 + ROUNDING), axis=1)
    for e in np.flatnonzero(over)[:1]:
        yield f"machine {server[e]} holds {held[e].tolist()} at {time[e]:g} seconds, but it has {capacity[e].tolist()}"


def _held(
    label: NDArray[np.int64], time: Floats, sign: NDArray[np.int64], taken: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Rows by label and time, ends before starts, and what their labels hold after each of them."""
    order = np.lexsort((sign > 0, time, label))
    first = np.flatnonzero(np.diff(label[order], prepend=-1))
    held = np.cumsum(taken[order], axis=0)
    before = np.repeat((held - taken[order])[first], np.diff([*first, len(order)]), axis=0)
    return order, held - before


def _places(log: TaskLog) -> Iterator[str]:
    """Rule 1: eligible machines, which are up."""
    allowed = log.workload.fitting(log.cluster)[log.job, log.cluster.server_class[log.server]]
    for b in np.flatnonzero(~allowed)[:1]:
        yield f"a task of job {log.job[b]} runs on machine {log.server[b]}, which may not run it"
    for s in np.unique(log.events.server).tolist():
        here, of = log.server == s, log.events.server == s
        times, up = log.events.time[of], log.events.up[of]
        down = [0.0] * bool(up[0]) + times[~up].tolist()
        for start, end in zip(down, [*times[up].tolist(), np.inf], strict=False):
            for b in np.flatnonzero(here & (log.start < end) & (log.end > start))[:1]:
                yield f"a task of job {log.job[b]} runs on machine {s} from {log.start[b]:g} seconds, but it is down then"


def _times(log: TaskLog) -> Iterator[str]:
    """Rule 2."""
    jobs = log.workload
    leave = jobs.leave[jobs.job_user[log.job]]
    full = jobs.duration[log.job]
    late = log.end - log.start - full
    slack = ROUNDING * full + np.spacing(log.end)
    rules = {
        "starts before its job arrives": log.start < jobs.arrival[log.job],
        "runs after its user left": log.end > leave,
        "is said to have finished, but did not run for its duration": (log.outcome == FINISHED) & (np.abs(late) > slack),
        "ends before it started": log.end < log.start,
        "runs longer than its duration": late > slack,
        "is said to run at the end, but ended before": (log.outcome == RUNNING) & (log.end != log.until),
        "ends after the end": log.end > log.until,
    }
    for words, wrong in rules.items():
        for b in np.flatnonzero(wrong)[:1]:
            yield f"a task of job {log.job[b]} on machine {log.server[b]}, from {log.start[b]:g} to {log.end[b]:g}, {words}"


def _counts(log: TaskLog) -> Iterator[str]:
    """Rule 3."""
    jobs, J = log.workload, len(log.workload)
    if np.any(log.tasks < 1) or np.any(log.waiting < 0) or np.any(log.cancelled < 0):
        yield "there are numbers of tasks below 1, or of waiting or cancelled ones below 0"
    per_job = [np.bincount(log.job, log.tasks * (log.outcome == outcome), J) for outcome in (RUNNING, FINISHED, LOST, LEFT)]
    total = per_job[FINISHED] + per_job[RUNNING] + log.waiting + log.cancelled
    wrong = np.where(jobs.arrival <= log.until, total != jobs.tasks, total != 0)
    for j in np.flatnonzero(wrong)[:1]:
        yield f"job {j} has {jobs.tasks[j]} tasks, but {total[j]:g} finished, run, wait or were cancelled"
    if np.any(per_job[LEFT] > log.cancelled):
        yield "tasks that ended because their user left are not among the cancelled ones"
    lost = np.isin(log.outcome, (LOST, LEFT))
    job, tasks = np.concatenate((log.job[lost], log.job)), np.concatenate((-log.tasks[lost], log.tasks))
    order, busy = _held(job, np.concatenate((log.end[lost], log.start)), tasks, tasks)
    for e in np.flatnonzero(busy > jobs.tasks[job[order]])[:1]:
        j = job[order[e]]
        yield f"job {j} has {jobs.tasks[j]} tasks, but {busy[e]} of them run or have finished"


def _steps(log: FluidLog) -> Iterator[str]:
    """Rule 1, and that steps follow each other."""
    for step, following in zip(log.steps, log.steps[1:], strict=False):
        if step.end > following.start:
            yield f"the step at {step.start:g} seconds ends after the next begins"
    for step in log.steps:
        capacity = step.machines[:, None] * log.cluster.capacities
        if np.any(step.used > capacity + ROUNDING * log.cluster.totals):
            yield f"at {step.start:g} seconds {step.used.tolist()} is used, but there is {capacity.tolist()}"
            return


def _completions(log: FluidLog) -> Iterator[str]:
    """Rule 2, and that work is done up to completion."""
    jobs = log.workload
    complete = np.isfinite(log.completed)
    rest = jobs.work - log.done
    rules = {
        "is completed before it arrives": complete & (log.completed < jobs.arrival),
        "is completed with work left": complete & (rest > ROUNDING * jobs.work),
        "is not completed without work left": ~complete & (rest + log.cancelled <= 0),
        "has less than no work left": rest - log.cancelled < -ROUNDING * jobs.work,
        "had not arrived when it was served": (jobs.arrival > log.until) & (log.done > 0),
    }
    for words, wrong in rules.items():
        for j in np.flatnonzero(wrong)[:1]:
            yield f"job {j} {words}"


def _rates(log: FluidLog) -> Iterator[str]:
    """Rule 4: what the steps' tasks add up to is what was done, and the resources they say are those of their tasks."""
    size = len(log.workload.users)
    served, spent = np.zeros((2, size)), np.zeros((2, len(log.cluster.resources)))
    for step in log.steps:
        seconds = np.array([[step.end - step.start], [np.spacing(step.end)]])  # and their rounding
        served[:, step.users] += step.tasks * seconds
        spent += step.used.sum(axis=0) * seconds
    done = np.bincount(log.workload.job_user, weights=log.done, minlength=size)
    for n in np.flatnonzero(np.abs(served[0] - done) > ROUNDING * done + served[1])[:1]:
        yield f"user {n} ran {served[0, n]:.9g} seconds of tasks, but {done[n]:.9g} of its work is done"
    expected = log.done @ log.workload.demand
    if np.any(np.abs(spent[0] - expected) > ROUNDING * expected + spent[1]):
        yield f"the steps use {spent[0].tolist()} in all, but the work that was done takes {expected.tolist()}"
