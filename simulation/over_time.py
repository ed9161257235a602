"""Metrics of simulations of tasks over time, and all metrics in frames of pandas.

`job_frame` has a row for each job, `time_frame` one for each interval. study.py draws both, by class for few classes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.tables import pandas
from fairalloc.simulation import metrics
from fairalloc.simulation.fluid import instance_of
from fairalloc.simulation.log import FINISHED, RUNNING, TaskLog
from fairalloc.simulation.workload import numbers
from fairalloc.solvers import solve

ROUNDING = 1e-9  # parts of a capacity that are rounding: what is free is a difference of sums


@checked
def share_deficits(log: TaskLog, times: Sequence[float] | Floats, **options: Any) -> Floats:
    """(T, N) how much less of the machines users have at some instants than DRFH, solved anew, would give them.

    At an instant each user has the tasks that arrived and have not finished. As in `simulate_fluid` it takes part with the mean
    demand of these and as many as there are. The machines that are up count. The result is max(0, dominant share under DRFH -
    dominant share of what runs), in parts of them.

    Parameters
    ----------
    log : of a simulation of tasks
    times : (T,) seconds
    options : of `solve`, such as method

    Raises
    ------
    NotApplicable : the jobs of one user may run on different machines
    """
    jobs, cluster, instants = log.workload, log.cluster, numbers(times, "times", 1)
    result = np.zeros((len(instants), len(jobs.users)))
    for row, time in zip(result, instants, strict=True):
        finished = (log.outcome == FINISHED) & (log.end <= time)
        there = (jobs.arrival <= time) & (jobs.leave[jobs.job_user] > time)
        left = there * (jobs.tasks - np.bincount(log.job[finished], log.tasks[finished], len(jobs)))
        up = log.events.up_at(time, len(cluster.server_class))
        machines = np.bincount(cluster.server_class[up], minlength=len(cluster.counts))
        some = np.flatnonzero(left)
        made = instance_of(jobs, cluster, some, left[some], machines, jobs.weights)
        if made is not None:
            who, _, instance = made
            runs, totals = _running(log, time), machines @ cluster.capacities
            taken = np.zeros((len(row), len(totals)))
            np.add.at(taken, jobs.job_user[log.job[runs]], log.tasks[runs, None] * jobs.demand[log.job[runs]])
            shares = (taken / np.where(totals > 0, totals, np.inf)).max(axis=1)
            fair = solve(instance, "drfh", **options).tasks * global_dominant_share(instance)
            row[who] = np.maximum(0.0, fair - shares[who])
    return result


def _running(log: TaskLog, time: float) -> NDArray[np.bool_]:
    """(B,) the groups that run at a time, at the end of the simulation those that still do."""
    return np.asarray((log.start <= time) & ((log.end > time) | ((log.outcome == RUNNING) & (time == log.until))))


@checked
def fragmentation(log: TaskLog, times: Sequence[float] | Floats) -> Floats:
    """(T, K, R) of what is free of each resource on the machines of a class at some instants, the part that is of no use.

    It is the mean over all tasks of the workload of the part that stands on machines without room for that task, as the
    fragmentation of FGD (Weng et al., USENIX ATC 2023), by resource; 0 where nothing is free.
    """
    jobs, cluster, classes = log.workload, log.cluster, log.cluster.server_class
    slack = ROUNDING * cluster.capacities[classes]
    may = np.ones((len(jobs), len(cluster.counts)), dtype=bool) if jobs.eligible is None else jobs.eligible
    shapes, of = np.unique(np.column_stack([jobs.demand, may]), axis=0, return_inverse=True)
    weight, R = np.bincount(of.ravel(), jobs.tasks) / jobs.tasks.sum(), len(cluster.resources)
    lost, every = np.zeros((2, len(instants := numbers(times, "times", 1)), len(cluster.counts), R))
    for t, time in enumerate(instants):
        runs, useless = _running(log, time), np.zeros(len(classes))
        free = cluster.capacities[classes] * log.events.up_at(time, len(classes))[:, None]
        np.subtract.at(free, log.server[runs], log.tasks[runs, None] * jobs.demand[log.job[runs]])
        free[free < slack] = 0.0
        for shape, part in zip(shapes, weight, strict=True):
            useless += part * ~(np.all(shape[:R] <= free + slack, axis=1) & (shape[R:] > 0)[classes])
        np.add.at(lost[t], classes, useless[:, None] * free)
        np.add.at(every[t], classes, free)
    return np.divide(lost, every, out=np.zeros_like(lost), where=every > 0)


@checked
def job_frame(log: metrics.Log) -> Any:
    """A DataFrame of the jobs: whose, when, how large, and the metrics that each has; NotInstalled where pandas is missing."""
    jobs = log.workload
    given = {"user": np.array(jobs.users, dtype=object)[jobs.job_user]}
    given |= {name: getattr(jobs, name) for name in ("arrival", "tasks", "duration")}
    return pandas().DataFrame(given | {name: of(log) for name, of in BY_JOB.items()}).rename_axis("job")


BY_JOB = {
    "waiting": metrics.waiting_times,
    "completion": metrics.completion_times,
    "slowdown": metrics.slowdowns,
    "finish-time fairness": metrics.finish_time_fairness,
}
"""The metrics of jobs, by the names of columns."""


@checked
def time_frame(log: TaskLog, times: Sequence[float] | Floats) -> Any:
    """A DataFrame with a row for each interval between some times: what is a mean over it, and what holds at its end.

    Means: utilisation of each resource, of all machines and by class, and Jain's index of the dominant shares / weights of users
    that have unfinished jobs in it. At the end: jobs that were completed in it, the largest and the mean share deficit, and the
    fragmentation of each resource by class.

    Parameters
    ----------
    log : of a simulation of tasks
    times : (T + 1,) seconds, ascending

    Raises
    ------
    NotInstalled : pandas is missing
    """
    bounds, cluster = numbers(times, "times", 1), log.cluster
    columns: dict[str, Floats] = {}
    all_machines, by_class = metrics.utilisation(log, bounds), metrics.utilisation(log, bounds, by_class=True)
    pieces = fragmentation(log, bounds[1:])
    for r, resource in enumerate(cluster.resources):
        columns[f"{resource} in use"] = all_machines[:, r]
        columns |= {f"{resource} in use on {name}": by_class[:, k, r] for k, name in enumerate(cluster.names)}
        columns |= {f"{resource} fragmented on {name}": pieces[:, k, r] for k, name in enumerate(cluster.names)}
    columns["Jain's index"] = jain_over_time(log, bounds)
    deficits = share_deficits(log, bounds[1:])
    columns["largest share deficit"] = deficits.max(axis=1, initial=0.0)
    columns["mean share deficit"] = deficits.sum(axis=1) / max(len(log.workload.users), 1)
    ends = log.completed[np.isfinite(log.completed)]
    columns["jobs completed"] = np.diff(np.searchsorted(np.sort(ends), bounds, side="right"))  # the end of one is in it
    return pandas().DataFrame(columns, index=pandas().Index(bounds[1:], name="seconds"))


@checked
def jain_over_time(log: metrics.Log, times: Sequence[float] | Floats) -> Floats:
    """(T,) Jain's index of dominant shares / weights of users with unfinished jobs, by interval between (T + 1,) times.

    It is nan where there are none, or nobody has anything.
    """
    bounds = numbers(times, "times", 1)
    jobs, shares = log.workload, metrics.dominant_shares(log, bounds) / log.workload.weights
    ends = np.fmin(log.completed, jobs.leave[jobs.job_user])
    result = []
    for t, row in enumerate(shares):
        there = np.unique(jobs.job_user[(jobs.arrival < np.minimum(ends, bounds[t + 1])) & (ends > bounds[t])])
        result.append(float(metrics.jain(row[there])) if len(there) else np.nan)
    return np.array(result)
