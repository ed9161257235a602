"""What a simulation is judged by, from its log alone, of tasks (`TaskLog`) or of divisible tasks (`FluidLog`).

over_time.py has the share deficit against DRFH, fragmentation, and frames of all of them; study.py draws them.

Over time every metric is a mean over intervals, exact for what is constant between events. Of shares, `jain` is the index of
Jain, K's deviation (58) is `deviation` of formulations/game/equilibrium.py, a measure for
`simulate_fluid`; `cdf` is the distribution of what these give.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.errors import require
from fairalloc.models.numbers import Floats, floats
from fairalloc.simulation.log import FINISHED, FluidLog, TaskLog
from fairalloc.simulation.workload import Cluster, Workload, numbers

Log = TaskLog | FluidLog


@checked
def utilisation(log: Log, times: Sequence[float] | Floats, by_class: bool = False) -> Floats:
    """Used parts of the capacities, each the mean over an interval; machines that are down count as capacity.

    The bounds of the intervals are the (T + 1,) times, in seconds, ascending; after `log.until` nothing runs. The result is
    (T, R), or (T, K, R) by class of machines; it is 0 where there is none of a resource.
    """
    used = _mean(log, times, False)
    capacity = log.cluster.counts[:, None] * log.cluster.capacities
    if not by_class:
        used, capacity = used.sum(axis=1), capacity.sum(axis=0)
    return np.divide(used, capacity, out=np.zeros_like(used), where=np.broadcast_to(capacity > 0, used.shape))


@checked
def dominant_shares(log: Log, times: Sequence[float] | Floats, resources: bool = False) -> Floats:
    """Global dominant shares of users, each the mean over an interval: max_r of the part of all of r that its tasks take.

    Parameters
    ----------
    log : of a simulation
    times : (T + 1,) seconds, ascending: the bounds of the intervals; after `log.until` nothing runs
    resources : whether the shares of all resources are wanted, as (T, N, R), not the largest, as (T, N)
    """
    used, totals = _mean(log, times, True), log.cluster.totals
    shares = np.divide(used, totals, out=np.zeros_like(used), where=totals > 0)
    return shares if resources else shares.max(axis=2, initial=0.0)


def _mean(log: Log, times: Sequence[float] | Floats, by_user: bool) -> Floats:
    """(T, N, R) mean resource that users take, or (T, K, R) that is taken of classes."""
    bounds = numbers(times, "times", 1)
    ascending = len(bounds) > 1 and bool(np.all(np.diff(bounds) > 0))
    require(ascending, "times is", times, "it must be at least two ascending numbers of seconds")
    size = len(log.workload.users) if by_user else len(log.cluster.counts)
    if isinstance(log, FluidLog):
        return _mean_of_steps(log, bounds, by_user, size)
    return _mean_of_groups(log, bounds, log.workload.job_user[log.job] if by_user else log.cluster.server_class[log.server], size)


def _mean_of_groups(log: TaskLog, bounds: Floats, of: NDArray[np.intp], size: int) -> Floats:
    """(T, size, R) mean resource that tasks take, by what `of` (B,) says they belong to.

    A group counts in all of its intervals, less the time before its start in the first one and after its end in the last one.
    Groups are counted too: where there are none, a sum of floats may leave rounding.
    """
    there = np.flatnonzero(np.minimum(log.end, bounds[-1]) > np.maximum(log.start, bounds[0]))
    start, end, of = np.maximum(log.start[there], bounds[0]), np.minimum(log.end[there], bounds[-1]), of[there]
    taken = log.tasks[there, None] * log.workload.demand[log.job[there]]
    first, last = np.searchsorted(bounds, start, side="right") - 1, np.searchsorted(bounds, end) - 1
    whole, longer = np.zeros((len(bounds), size, 2 * taken.shape[1])), np.zeros((len(bounds) - 1, size, taken.shape[1]))
    for place, sign, more in ((first, 1, start - bounds[first]), (last, -1, bounds[last + 1] - end)):
        np.add.at(whole, (place + (sign < 0), of), sign * np.concatenate([taken, taken > 0], axis=1))
        np.add.at(longer, (place, of), taken * more[:, None])
    held, groups = np.split(np.cumsum(whole[:-1], axis=0), 2, axis=2)
    return np.where(groups > 0, np.maximum(held - longer / np.diff(bounds)[:, None, None], 0.0), 0.0)


def _mean_of_steps(log: FluidLog, bounds: Floats, by_user: bool, size: int) -> Floats:
    """(T, size, R) the same of divisible tasks."""
    result = np.zeros((len(bounds) - 1, size, len(log.cluster.resources)))
    for step in log.steps:
        rows, value = (step.users, step.rates) if by_user else (np.arange(size), step.used)
        first, last = int(np.searchsorted(bounds, step.start, side="right")) - 1, int(np.searchsorted(bounds, step.end))
        for t in range(max(first, 0), min(last, len(result))):
            result[t, rows] += value * (min(step.end, bounds[t + 1]) - max(step.start, bounds[t]))
    return np.asarray(result / np.diff(bounds)[:, None, None])


@checked
def jain(shares: Floats) -> Floats:
    """Jain's index along the last axis, (sum s)^2 / (n sum s^2): 1 where all are equal, 1/n where one has all, nan of zeros.

    >>> jain(np.array([[1.0, 1.0], [1.0, 0.0]])).tolist()
    [1.0, 0.5]
    """
    s = np.atleast_1d(floats(shares, "shares"))
    require(np.isfinite(s).all(), "shares is", shares, "all must be finite")
    largest = np.abs(s).max(axis=-1, keepdims=True, initial=0.0)
    s = s / np.where(largest > 0, largest, 1.0)
    squares = s.shape[-1] * (s**2).sum(axis=-1)
    return np.asarray(np.divide(s.sum(axis=-1) ** 2, squares, out=np.full_like(squares, np.nan), where=squares > 0))


@checked
def completion_times(log: Log) -> Floats:
    """(J,) seconds from a job's arrival to the end of its last task; nan where it was not completed."""
    return log.completed - log.workload.arrival


@checked
def completion_ratios(log: Log) -> Floats:
    """(N,) tasks completed over tasks submitted of each user, of work where tasks are divisible; nan where there were none."""
    jobs, N = log.workload, len(log.workload.users)
    arrived = jobs.arrival <= log.until
    if isinstance(log, FluidLog):
        submitted, completed = jobs.work, log.done
    else:
        finished = log.outcome == FINISHED
        submitted = jobs.tasks.astype(float)
        completed = np.bincount(log.job[finished], log.tasks[finished], len(jobs)).astype(float)
    total, done = np.bincount(jobs.job_user, submitted * arrived, N), np.bincount(jobs.job_user, completed, N)
    return np.asarray(np.divide(done, total, out=np.full(N, np.nan), where=total > 0))


@checked
def waiting_times(log: Log) -> Floats:
    """(J,) seconds from a job's arrival until something of it runs; nan where nothing did."""
    return log.started - log.workload.arrival


@checked
def slowdowns(log: Log) -> Floats:
    """(J,) completion time over the duration of a task, at least 1 where tasks are limited; nan where not completed."""
    return np.asarray(completion_times(log) / log.workload.duration)


@checked
def fair_durations(workload: Workload, cluster: Cluster) -> Floats:
    """(J,) seconds that each job would run alone on the part of all machines that the weight of its user gives.

    As many of its tasks run at a time as the part has resources for, in one pool: T_j = duration max(1, tasks d W / w). Here d is
    the dominant share of a task, w the weight of the user and W that of all users. It is inf where no machine has a resource.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(workload.demand > 0, workload.demand / cluster.totals, 0.0).max(axis=1)
    part = workload.weights[workload.job_user] / workload.weights.sum()
    return np.asarray(workload.duration * np.maximum(1.0, workload.tasks * share / part))


@checked
def finish_time_fairness(log: Log) -> Floats:
    """(J,) completion time over `fair_durations` (Themis, Mahajan et al., NSDI 2020): at most 1 where sharing delays no job."""
    return np.asarray(completion_times(log) / fair_durations(log.workload, log.cluster))


@checked
def delays_per_quantum(log: Log) -> Floats:
    """(J,) completion time over work in quanta (K 6.2): a quantum is 1 second of a task that takes 1 of its largest demand.

    A job of T tasks with the demand d needs T max_r d_r duration quanta.
    """
    return np.asarray(completion_times(log) / (log.workload.work * log.workload.demand.max(axis=1)))


@checked
def cdf(values: NDArray[Any]) -> tuple[Floats, Floats]:
    """The sorted values that are numbers, and the parts of all values that are at most each: nan counts as never.

    >>> [part.tolist() for part in cdf(np.array([3.0, np.nan, 1.0, 2.0]))]
    [[1.0, 2.0, 3.0], [0.25, 0.5, 0.75]]
    """
    known = np.ravel(floats(values, "values"))
    there = np.sort(known[np.isfinite(known)])
    return there, np.arange(1, len(there) + 1) / max(len(known), 1)
