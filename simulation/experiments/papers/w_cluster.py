"""W 6.2 and 6.3: 24 hours of Google jobs on 2,000 servers under Slots, First-Fit and Best-Fit DRFH: Table 2, Figs. 6 to 9."""

from functools import lru_cache, partial
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.simulation.experiments.experiment import Experiment, Judged, Outcomes, Size, Trial, TrialResult, thinned
from fairalloc.simulation.experiments.figures import bars, curves, figure
from fairalloc.simulation.log import FINISHED, TaskLog
from fairalloc.simulation.metrics import cdf, completion_ratios, completion_times, reduction_by_size, utilisation, violations
from fairalloc.simulation.schedulers import Slots
from fairalloc.simulation.tasks import simulate_tasks
from fairalloc.simulation.workload import Cluster, Workload
from fairalloc.simulation.workloads import google_servers, google_tasks

__all__ = ["EXPERIMENTS"]

TABLE2 = {10: (0.351, 0.234), 12: (0.422, 0.274), 14: (0.439, 0.280), 16: (0.454, 0.242), 20: (0.406, 0.200)}
"""Slots of the largest server: CPU and memory utilisation, as printed."""

SIZES = (0, 50, 100, 500, 1000, np.inf)
"""Bounds of five classes of jobs by their tasks, as in Fig. 7b: ours, for our text of the paper does not have the figure."""

NAMES = ("1-50", "51-100", "101-500", "501-1000", "over 1000")
REDUCTIONS = [f"reduction, jobs of {name} tasks" for name in NAMES]

HERE = (
    "servers drawn from W Table 1 for each seed, the first hours of the trace with the jobs that are there at its start. Times, "
    "users and classes of jobs are real; how many tasks a job has and what they demand is drawn from the jobs at the start of "
    "the trace, whose tasks are known, for the samples have no tasks of later jobs"
)

RESOURCES, BEST = ("CPU", "memory"), "best-fit-drfh"

MINUTES = 10  # minutes over which utilisation is averaged in curves


@lru_cache(maxsize=1)
def _system(workload: str, seed: int, hours: float, machines: int, share: float) -> tuple[Workload, Cluster]:
    """The jobs whose tasks have room on some server, and the servers."""
    cluster = google_servers(machines, seed)
    jobs = google_tasks(workload, hours, share, seed).workload
    return jobs.chosen(jobs.placeable(cluster)), cluster


@lru_cache(maxsize=1)
def _with_slots(workload: str, seed: int, hours: float, machines: int, share: float) -> TaskLog:
    """What W compares with: 14 slots of the largest server."""
    return simulate_tasks(*_system(workload, seed, hours, machines, share), Slots(14), hours * 3600.0, seed)


def _place(trial: Trial) -> tuple[Any, ...]:
    return trial.workload, trial.seed, *(trial.settings[name] for name in ("hours", "machines", "share"))


def _log(trial: Trial) -> TaskLog:
    if trial.label == "slots":
        return _with_slots(*_place(trial))
    return simulate_tasks(*_system(*_place(trial)), trial.competitor, trial.settings["hours"] * 3600.0, trial.seed)


def _utilisation(trial: Trial) -> TrialResult:
    log = _log(trial)
    end = trial.settings["hours"] * 3600.0
    bounds = np.arange(0.0, end + 1.0, 60.0 * MINUTES)
    over_time = utilisation(log, bounds)
    mean = utilisation(log, [0.0, end])[0]
    numbers = {"CPU": mean[0], "memory": mean[1], "tasks that wait at the end": log.waiting.sum()}
    hours = (bounds[1:] / 3600.0).tolist()
    return TrialResult(numbers, {name: (hours, over_time[:, r].tolist()) for r, name in enumerate(RESOURCES)})


COVERED = {k: f"slots per_maximum={k}" for k in TABLE2}
ONE_EACH = {k: f"slots per_maximum={k} one_each=true" for k in TABLE2}
"""A task takes as many slots as cover it, or one slot whatever it demands: W does not say."""


def _best_slots(outcomes: Outcomes) -> Judged:
    said, best = [], []
    for words, labels in (("as many slots as cover a task", COVERED), ("one slot for each task", ONE_EACH)):
        both = {k: (outcomes.mean(label, "CPU"), outcomes.mean(label, "memory")) for k, label in labels.items()}
        best.append(max(both, key=lambda k, both=both: sum(both[k])))  # type: ignore[misc]
        cpu, memory = both[best[-1]]
        said.append(f"with {words} {best[-1]} slots are best, {cpu:.1%} of CPU and {memory:.1%} of memory")
    peaks = {k: outcomes.mean(label, "CPU") for k, label in COVERED.items()}
    said.append(f"of CPU alone, {max(peaks, key=lambda k: peaks[k])} slots that cover use most, in the paper 16")
    return Judged.whether(14 in best, f"{'; '.join(said)}; the paper has 14, with 43.9% and 28.0%")


def _more_than_slots(outcomes: Outcomes) -> Judged:
    means = {label: [outcomes.mean(label, r) for r in RESOURCES] for label in outcomes.labels}
    told = ", ".join(f"{label} {cpu:.1%} of CPU and {memory:.1%} of memory" for label, (cpu, memory) in means.items())
    parts = []  # of the intervals, in which best-fit uses at least what first-fit does
    for r in RESOURCES:
        pairs = zip(outcomes.curves(BEST, r), outcomes.curves("first-fit-drfh", r), strict=True)
        parts.append(float(np.mean([np.greater_equal(best[1], np.array(first[1]) - 1e-9) for best, first in pairs])))
    often = f"{parts[0]:.0%} of the intervals of {MINUTES} minutes for CPU, {parts[1]:.0%} for memory"
    text = f"{told}; best-fit is above first-fit in {often}"
    above = all(min(means["first-fit-drfh"][r], means["best-fit-drfh"][r]) > means["slots"][r] for r in range(2))
    if above and min(parts) >= 0.99:
        return Judged("confirmed", text)
    mixed = "DRFH uses more than Slots, as W says, but best-fit is not uniformly above first-fit"
    return Judged("not confirmed", f"{mixed if above else 'DRFH is not above Slots'}: {text}")


def _completion(trial: Trial) -> TrialResult:
    """Fig. 7 looks at jobs completed both under the scheduler and under Slots."""
    log, baseline = _log(trial), _with_slots(*_place(trial))
    mine, slots = completion_times(log), completion_times(baseline)
    found = reduction_by_size(mine, slots, log.workload.tasks, SIZES)
    both = np.isfinite(mine) & np.isfinite(slots)
    numbers = {name: value for name, value in zip(REDUCTIONS, found, strict=True) if np.isfinite(value)}
    numbers |= {"median time, s": float(np.median(mine[both]))} if both.any() else {}
    numbers["jobs completed"] = float(np.isfinite(mine).mean())
    return TrialResult(numbers, {"times": thinned(*cdf(np.where(both, mine, np.nan)[both]))})


def _the_larger_the_more(outcomes: Outcomes) -> Judged:
    means = [outcomes.mean("best-fit-drfh", name) for name in REDUCTIONS]
    told = ", ".join(f"{name} tasks {value:.0%}" for name, value in zip(NAMES, means, strict=True) if np.isfinite(value))
    text = f"reduction of the mean completion time by best-fit DRFH against Slots, jobs of {told}"
    found = [value for value in means if np.isfinite(value)]
    if len(found) < 2:
        return Judged("cannot be compared", f"there are too few sizes of jobs; {text}")
    return Judged.whether(found[0] < 0.1 <= found[-1] == max(found), text)


def _ratios(trial: Trial) -> TrialResult:
    mine, slots = completion_ratios(_log(trial)), completion_ratios(_with_slots(*_place(trial)))
    there = np.isfinite(mine)
    mine, slots = mine[there], slots[there]
    numbers = {
        "mean completion ratio": mine.mean(),
        "users with more than under Slots": (mine > slots).mean(),
        "users with less than under Slots": (mine < slots).mean(),
        "users with all tasks completed, but not under Slots": ((mine == 1) & (slots < 1)).mean(),
        "users": len(mine),
    }
    return TrialResult(numbers, {"ratios": thinned(*cdf(mine))})


def _for_almost_all(outcomes: Outcomes) -> Judged:
    more, less, only = (outcomes.mean(BEST, name) for name in outcomes.names[1:4])
    text = f"{more:.0%} of the users complete more under best-fit DRFH than under Slots, {less:.0%} less"
    return Judged.whether(less <= 0.1 <= only, f"{text}; {only:.0%} complete all there only, printed: around 20%")


def _dedicated(trial: Trial) -> TrialResult:
    """Each user in a dedicated cloud of ceil(k / n) servers drawn at random, under the same scheduler."""
    workload, cluster = _system(*_place(trial))
    shared = completion_ratios(_log(trial))
    there = np.flatnonzero(np.isfinite(shared))
    servers = ceil(len(cluster.server_class) / len(there))
    rng = np.random.default_rng(trial.seed)
    alone = np.full(len(shared), np.nan)
    for n in there.tolist():
        drawn = rng.choice(cluster.server_class, servers, replace=False)
        alone[n] = _alone(workload, cluster, np.flatnonzero(workload.job_user == n), drawn, trial)
    fewer = violations(shared, alone, slack=1e-9)[there]
    gap = (alone - shared)[there][fewer]
    numbers = {
        "users with fewer tasks than in a dedicated cloud": fewer.mean(),
        "users with more": (shared > alone + 1e-9)[there].mean(),
        "mean ratio, shared": shared[there].mean(),
        "mean ratio, dedicated": alone[there].mean(),
        "largest loss of a ratio": gap.max(initial=0.0),
        "servers of a dedicated cloud": servers,
    }
    curves = {"shared": thinned(*cdf(shared[there])), "dedicated": thinned(*cdf(alone[there]))}
    return TrialResult(numbers, curves)


def _alone(workload: Workload, cluster: Cluster, jobs: NDArray[np.intp], drawn: NDArray[np.intp], trial: Trial) -> float:
    """The completion ratio of these jobs on these servers; tasks that no drawn server has room for are never completed."""
    classes, counts = np.unique(drawn, return_counts=True)
    cloud = Cluster(cluster.resources, cluster.capacities[classes], counts)
    mine = workload.chosen(jobs)
    submitted = float(mine.tasks.sum())
    mine = mine.chosen(mine.placeable(cloud))
    if len(mine) == 0:
        return 0.0
    log = simulate_tasks(mine, cloud, trial.competitor, trial.settings["hours"] * 3600.0, trial.seed)
    return float(log.tasks[log.outcome == FINISHED].sum()) / submitted


def _rarely(outcomes: Outcomes) -> Judged:
    fewer, more = (outcomes.mean(BEST, name) for name in outcomes.names[:2])
    loss = outcomes.mean(BEST, "largest loss of a ratio")
    text = f"{fewer:.1%} of the users complete fewer tasks than in a dedicated cloud, printed: 2%; {more:.0%} complete more"
    return Judged.whether(fewer <= 0.05, f"{text}; the largest loss of a completion ratio is {loss:.2f}")


COMPARED = partial(
    Experiment,
    kind="scheduler",
    sizes={
        "small": Size((0,), {"hours": 1.0, "machines": 40, "share": 0.02}),
        "full": Size((0, 1, 2), {"hours": 24.0, "machines": 2000, "share": 1.0}),
    },
    workloads=("google2011", "google2019", "generated"),
)
PARTS = ("completion ratio", "part of the users")

EXPERIMENTS = (
    COMPARED(
        "W.Table2",
        "utilisation of Slots by the number of slots",
        "Of 10, 12, 14, 16 and 20 slots of the largest server, 14 have the highest overall utilisation: 43.9 % of CPU and 28.0 % "
        "of memory.",
        f"{HERE}. The paper does not say how a task larger than a slot is treated: both readings are tried",
        competitors=(*COVERED.values(), *ONE_EACH.values()),
        measure=_utilisation,
        judge=_best_slots,
        panels=figure(bars(RESOURCES, "utilisation by slots of the largest server", "part in use")),
    ),
    COMPARED(
        "W.Fig6",
        "utilisation over 24 hours",
        "Both DRFH schedulers use significantly more CPU and memory than Slots; Best-Fit uniformly more than First-Fit at all "
        "times.",
        f"{HERE}. Slots: 14 of the largest server, as many for a task as cover it",
        competitors=("slots", "first-fit-drfh", BEST),
        measure=_utilisation,
        judge=_more_than_slots,
        panels=figure(*(curves(name, f"{name} in use", ("hours", "part in use")) for name in RESOURCES)),
    ),
    COMPARED(
        "W.Fig7",
        "completion times of jobs",
        "DRFH shows no improvement over Slots for small jobs, a significant one for jobs of more tasks: the larger, the more.",
        f"{HERE}. Five classes of jobs by size, of our choice",
        competitors=("slots", BEST),
        measure=_completion,
        judge=_the_larger_the_more,
        panels=figure(
            curves("times", "jobs completed by both", ("seconds", "part of the jobs"), ("log", "linear")),
            bars(REDUCTIONS, "reduction against Slots", "reduction of the mean time"),
        ),
    ),
    COMPARED(
        "W.Fig8",
        "task completion ratios of users",
        "Best-Fit DRFH has a higher ratio than Slots for almost all users; around 20 % have all tasks completed there only.",
        HERE,
        competitors=("slots", BEST),
        measure=_ratios,
        judge=_for_almost_all,
        panels=figure(curves("ratios", "task completion ratios", PARTS)),
        needs=(BEST,),
    ),
    COMPARED(
        "W.Fig9",
        "sharing against dedicated clouds",
        "Only 2 % of the users complete fewer tasks under DRFH than in a dedicated cloud of ceil(k/n) random servers, and "
        "slightly.",
        f"{HERE}. In a dedicated cloud the same scheduler places the tasks; those that are larger than its servers never run",
        competitors=(BEST,),
        measure=_dedicated,
        judge=_rarely,
        panels=figure(curves("shared", "shared", PARTS), curves("dedicated", "dedicated clouds", PARTS)),
    ),
)
