"""One simulation of 24 hours of Google jobs under a scheduler (W 6.2 and 6.3): all that Table 2 and Figs. 6 to 9 are made of."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.trial import Columns, Trial, TrialResult
from fairalloc.simulation.log import FINISHED
from fairalloc.simulation.metrics import completion_ratios, completion_times, utilisation
from fairalloc.simulation.schedulers import Slots
from fairalloc.simulation.tasks import simulate_tasks
from fairalloc.simulation.workload import Cluster, Workload
from fairalloc.simulation.workloads import google_servers, google_tasks

RESOURCES = ("CPU", "memory")

MINUTES = 10
"""Over which utilisation is averaged in curves."""

FEWEST = 10
"""Servers of a cluster, however small its load."""


def system(workload: str, seed: int, settings: Mapping[str, Any]) -> tuple[Workload, Cluster]:
    """The jobs whose tasks have room on some server, and the servers, drawn from W Table 1.

    Settings are `hours`, the `share` of jobs that is drawn, whether those `present` at the start are among them, and how many
    `machines` there are, or, where that is None, the `load`: the CPU that all tasks would take if each started when its job
    arrives, over that of the servers.
    """
    jobs = google_tasks(workload, settings["hours"], settings["share"], seed).workload
    if not settings["present"]:
        jobs = jobs.chosen(jobs.arrival > 0)
    machines = settings["machines"]
    if machines is None:
        whole = google_servers()
        each = whole.totals[0] / whole.counts.sum()
        machines = max(FEWEST, ceil(_offered(jobs, settings["hours"] * 3600.0)[0] / (settings["load"] * each)))
    cluster = google_servers(machines, seed)
    return jobs.chosen(jobs.placeable(cluster)), cluster


def _offered(jobs: Workload, until: float) -> Floats:
    """(R,) what all tasks would take on average if each started when its job arrives."""
    seconds = np.clip(until - jobs.arrival, 0.0, jobs.duration)
    return np.asarray((jobs.tasks * seconds) @ jobs.demand / until)


def over_a_day(trial: Trial) -> TrialResult:
    """Utilisation, completion times of jobs and completion ratios of users, and those of each user in a dedicated cloud.

    Columns: `times` of completed jobs are (number, tasks, seconds that a task runs, completion time); `users` are (number,
    tasks submitted, part completed, part that could end in time if each task started at once); `alone` are (number, part
    completed in a dedicated cloud).
    """
    until = trial.settings["hours"] * 3600.0
    workload, cluster = system(trial.workload, trial.seed, trial.settings)
    log = simulate_tasks(workload, cluster, trial.competitor, until, trial.seed)
    log.keep(trial.settings["logs"], f"{trial.label} seed {trial.seed}")
    bounds = np.append(np.arange(0.0, until, 60.0 * MINUTES), until)
    over_time, mean = utilisation(log, bounds), utilisation(log, [0.0, until])[0]
    load = _offered(workload, until) / cluster.totals
    owner, in_time, users = workload.job_user, workload.arrival + workload.duration <= until, len(workload.users)
    tasks = np.bincount(owner, workload.tasks * (workload.arrival <= until), users).astype(float)
    possible = np.bincount(owner, workload.tasks * in_time, users) / np.maximum(tasks, 1.0)
    there = np.flatnonzero(tasks)
    numbers = {"CPU": mean[0], "memory": mean[1], "tasks that wait at the end": log.waiting.sum()}
    numbers |= {"offered CPU": load[0], "offered memory": load[1], "servers": len(cluster.server_class), "users": len(there)}
    numbers["users that can complete a task"] = (possible[there] > 0).mean() if len(there) else np.nan
    hours = (bounds[1:] / 3600.0).tolist()
    columns: dict[str, Columns] = {name: (hours, over_time[:, r].tolist()) for r, name in enumerate(RESOURCES)}
    times = completion_times(log)
    done = np.flatnonzero(np.isfinite(times))
    columns["times"] = _rows(done, workload.tasks[done], workload.duration[done], times[done])
    columns["users"] = _rows(there, tasks[there], completion_ratios(log)[there], possible[there])
    if not isinstance(trial.competitor, Slots):
        columns["alone"] = _rows(there, _dedicated(workload, cluster, there, tasks, trial))
    return TrialResult(numbers, columns)


def _rows(*columns: NDArray[Any]) -> Columns:
    return tuple(np.round(column, 6).tolist() for column in columns)


def _dedicated(workload: Workload, cluster: Cluster, there: NDArray[np.intp], tasks: Floats, trial: Trial) -> Floats:
    """(n,) completion ratios of these users, each in a dedicated cloud of ceil(k / n) servers drawn at random.

    Tasks that no drawn server has room for never end.
    """
    rng = np.random.default_rng(trial.seed)
    servers = ceil(len(cluster.server_class) / max(len(there), 1))
    result = np.zeros(len(there))
    for place, n in enumerate(there.tolist()):
        classes, counts = np.unique(rng.choice(cluster.server_class, servers, replace=False), return_counts=True)
        cloud = Cluster(cluster.resources, cluster.capacities[classes], counts)
        mine = workload.chosen((workload.job_user == n) & workload.placeable(cloud))
        if len(mine):
            log = simulate_tasks(mine, cloud, trial.competitor, trial.settings["hours"] * 3600.0, trial.seed)
            result[place] = log.tasks[log.outcome == FINISHED].sum() / tasks[n]
    return result
