"""K 6.2 and 6.3 with the Google workload on the cluster of K Fig. 4: an hour by alpha, a day by mechanism, and Fig. 8.

Jobs are users. In every interval of 5 minutes a job demands so many quanta; what it cannot run in an interval it runs later. The
mechanism divides the servers among the jobs with work, without a limit on tasks: who gets more is done sooner (K 6.2: "the
completion time for job n is given by q_n / x_n"), and what a job leaves that completes is divided again at once.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.trial import Columns, Trial, TrialResult, thinned
from fairalloc.simulation.fluid import simulate_fluid
from fairalloc.simulation.log import FluidLog
from fairalloc.simulation.metrics import cdf, delays_per_quantum, utilisation
from fairalloc.simulation.workload import Cluster, Workload
from fairalloc.simulation.workloads import google_intervals, google_tasks

DRAWS = 100
"""Of each seed, at most."""

HOUR, INTERVAL, DAY = 3600.0, 300.0, 86400.0


def over_an_hour(trial: Trial) -> TrialResult:
    """Utilisation, deviation and delays over the time of the settings, with a new allocation whenever something happens."""
    log = _simulated(trial, {"deviation": lambda allocation: deviation(allocation.instance, allocation.x)})
    length = np.array([step.end - step.start for step in log.steps])
    each = [step.measures.get("deviation", np.zeros(1)) for step in log.steps]  # nobody: 0
    jobs, delays, numbers = log.workload, delays_per_quantum(log), {}
    quanta = np.bincount(jobs.job_user, jobs.work * jobs.demand.max(axis=1), len(jobs.users))
    short = delays[(quanta < 1.0)[jobs.job_user] & np.isfinite(delays)]  # of completed jobs of users with under one quantum
    for name, of in (("average deviation", np.nanmean), ("maximum deviation", np.nanmax)):  # of the jobs that have tasks
        values = np.array([of(part) if np.isfinite(part).any() else 0.0 for part in each])
        numbers[name] = length @ values / length.sum()
    delay = {"delay of short jobs, mean": np.mean, "delay of short jobs, std": np.std}
    numbers |= {name: float(of(short)) if len(short) else np.nan for name, of in delay.items()}  # type: ignore[operator]
    return TrialResult(_used(log) | numbers | _facts(log), _over(log), dict.fromkeys(delay, len(short)))


def over_a_day(trial: Trial) -> TrialResult:
    """Utilisation over the time of the settings."""
    log = _simulated(trial, {})
    return TrialResult(_used(log) | _facts(log), _over(log))


def _simulated(trial: Trial, measures: Mapping[str, Callable[[Allocation], Floats]]) -> FluidLog:
    workload, cluster = system(trial.workload, trial.seed, trial.settings)
    return simulate_fluid(workload, cluster, trial.competitor, trial.settings["hours"] * HOUR, limited=False, measures=measures)


def system(workload: str, seed: int, settings: Mapping[str, Any]) -> tuple[Workload, Cluster]:
    """A part of the jobs, or of the users with all their jobs, drawn again until the cluster is as heavily loaded as wanted.

    Settings are `hours`, the `share` that is drawn, whether `whole_users` are, and the least and the largest `load`: the CPU of
    all quanta over that of the servers.
    """
    hours, (least, most) = settings["hours"], settings["load"]
    for draw in range(DRAWS):
        drawn = seed * DRAWS + draw
        made = google_intervals(workload, hours, settings["share"], drawn, settings["whole_users"])
        assert made.cluster is not None
        if least <= _load(made.workload, made.cluster, hours * HOUR) <= most:
            return made.workload, made.cluster
    raise InstanceError(f"none of {DRAWS} draws offers {least} to {most} of the CPU")


def _load(jobs: Workload, cluster: Cluster, until: float) -> float:
    return float(jobs.work @ jobs.demand[:, 0] / (cluster.totals[0] * until))


def _used(log: FluidLog) -> dict[str, float]:
    """The used part of each resource, averaged over servers as K does: over all of them, and over those of classes."""
    (by_class,), names = utilisation(log, [0.0, log.until], by_class=True), log.cluster.resources
    groups = {"all": slice(None), "A and B": slice(0, 2), "C and D": slice(2, 4)}
    groups |= {k: slice(i, i + 1) for i, k in enumerate("ABCD")}
    counts = log.cluster.counts
    means = {name: counts[part] @ by_class[part] / counts[part].sum() for name, part in groups.items()}
    return {
        f"{resource}, {group}": value
        for group, used in means.items()
        for resource, value in zip((*names, "mean"), (*used, used.mean()), strict=True)
    }


def _facts(log: FluidLog) -> dict[str, float]:
    """What is offered, in parts of the CPU; how many jobs; how good the worst allocation was."""
    offered = _load(log.workload, log.cluster, log.until)
    return {"offered cpu": offered, "jobs": len(log.workload.users), "largest residual": log.residual}


def _over(log: FluidLog) -> dict[str, Columns]:
    """Use over time, averaged over servers: means over windows of an hour, or a sixth of the time if that is less."""
    window = min(HOUR, log.until / 6)
    bounds = np.linspace(0.0, log.until, round(log.until / window * 10) + 1)
    fine = np.einsum("k,tkr->tr", log.cluster.counts / log.cluster.counts.sum(), utilisation(log, bounds, by_class=True))
    smooth = np.array([fine[k : k + 10].mean(axis=0) for k in range(len(fine) - 9)])
    middle = (bounds[:-10] + window / 2) / HOUR
    return {name: (middle.tolist(), smooth[:, r].tolist()) for r, name in enumerate(log.cluster.resources)}


def marginals(trial: Trial) -> TrialResult:
    """Parts of the jobs of a day: by run time, by 5-minute intervals in which they are active, by quanta over the day."""
    jobs = google_tasks(trial.workload, share=trial.settings["share"], seed=trial.seed).workload
    made = google_intervals(trial.workload, share=trial.settings["share"], seed=trial.seed).workload
    quanta = np.bincount(made.job_user, made.work * made.demand.max(axis=1), len(made.users))
    intervals = np.floor((jobs.arrival + jobs.duration) / INTERVAL) - np.floor(jobs.arrival / INTERVAL) + 1
    numbers = {
        "end within 300 s": (jobs.duration <= INTERVAL).mean(),
        "in one interval": (intervals == 1).mean(),
        "over 24 hours": (jobs.duration > DAY).mean(),
        "under 10 quanta": (quanta < 10).mean(),
        "over 10,000 quanta": (quanta > 1e4).mean(),
        "jobs": len(jobs),
    }
    return TrialResult(numbers, {"intervals": thinned(*cdf(intervals), 200), "quanta": thinned(*cdf(quanta), 200)})
