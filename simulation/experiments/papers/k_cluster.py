"""K 6.2 and 6.3 with the Google workload on the cluster of K Fig. 4: Figs. 8, 9, 10, 11, 13 and 14.

Jobs are users. In every interval of 5 minutes a job demands so many quanta; what it cannot run in an interval it runs later. The
mechanism divides the servers among the jobs with work, without a limit on tasks: who gets more is done sooner (K 6.2: "the
completion time for job n is given by q_n / x_n"), and what it leaves is divided again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.models.allocation import Allocation
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.experiment import Experiment, Judged, Outcomes, Size, Trial, TrialResult, larger, thinned
from fairalloc.simulation.experiments.figures import bars, curves, figure
from fairalloc.simulation.fluid import FluidLog, simulate_fluid
from fairalloc.simulation.metrics import cdf, delays_per_quantum, utilisation
from fairalloc.simulation.workloads import google_intervals, google_tasks

__all__ = ["EXPERIMENTS"]

ONE_SEED = "-: one seed has no standard error, and its sign decides"

ALPHAS = ("alpha-pf-vds alpha=1", "alpha-pf-vds alpha=3", "ps-dsf")  # K's variants; PS-DSF is that for alpha = infinity
OTHERS = ("ps-dsf", "drfh", "tsf")

CLASSES = "ABCD"
HOUR, INTERVAL, DAY = 3600.0, 300.0, 86400.0

HERE = (
    "the classes of K Fig. 4 with the numbers of servers of P Fig. 5; 2 % of the jobs of the first day of the trace, drawn, with "
    "their real arrivals, run times and scheduling classes; generated: quanta by the printed marginals of Fig. 8, more for jobs "
    "that run longer, up to 2.5 million, so that the cluster is heavily loaded, at an even rate; demands in the proportion of "
    "requests. Work that is not done in its interval stays"
)


def _hour(trial: Trial) -> TrialResult:
    """Utilisation, deviation and delays over the time of the settings, with a new allocation whenever something happens."""
    log = _simulated(trial, {"deviation": lambda allocation: deviation(allocation.instance, allocation.x)})
    length = np.array([step.end - step.start for step in log.steps])
    each = [step.measures.get("deviation", np.zeros(1)) for step in log.steps]  # nobody: 0
    jobs, delays, numbers = log.workload, delays_per_quantum(log), {}
    quanta = np.bincount(jobs.job_user, jobs.work * jobs.demand.max(axis=1), len(jobs.users))
    short = delays[(quanta < 1.0)[jobs.job_user] & np.isfinite(delays)]  # of completed jobs of users with under one quantum
    short = short if len(short) else np.zeros(1)
    for name, of in (("average deviation", np.nanmean), ("maximum deviation", np.nanmax)):  # of the jobs that have tasks
        values = np.array([of(part) if np.isfinite(part).any() else 0.0 for part in each])
        numbers[name] = length @ values / length.sum()
    numbers |= {"delay of short jobs, mean": short.mean(), "delay of short jobs, std": short.std()}
    return TrialResult(_used(log) | numbers | _facts(log), _over(log))


def _day(trial: Trial) -> TrialResult:
    """Utilisation over the time of the settings."""
    log = _simulated(trial, {})
    return TrialResult(_used(log) | _facts(log), _over(log))


def _simulated(trial: Trial, measures: Mapping[str, Callable[[Allocation], Floats]]) -> FluidLog:
    hours, share, every = (trial.settings[name] for name in ("hours", "share", "every"))
    made = google_intervals(trial.workload, hours=hours, share=share, seed=trial.seed)
    assert made.cluster is not None
    return simulate_fluid(made.workload, made.cluster, trial.competitor, hours * HOUR, every, limited=False, measures=measures)


def _used(log: FluidLog) -> dict[str, float]:
    """The used part of each resource, of all servers, as the mean over servers, and by class."""
    overall, by_class = (utilisation(log, [0.0, log.until], by_class=by)[0] for by in (False, True))
    counts = log.cluster.counts / log.cluster.counts.sum()
    numbers = {name: overall[r] for r, name in enumerate(log.cluster.resources)}
    numbers["mean"] = overall.mean()
    numbers |= {f"{name}, mean over servers": counts @ by_class[:, r] for r, name in enumerate(log.cluster.resources)}
    numbers |= {"mean of A and B": by_class[:2].mean(), "mean of C and D": by_class[2:].mean()}
    for letter, used in zip(CLASSES, by_class, strict=True):
        numbers |= {f"{name} of class {letter}": used[r] for r, name in enumerate(log.cluster.resources)}
    return numbers


def _facts(log: FluidLog) -> dict[str, float]:
    """What is offered, in parts of the CPU; how many jobs; how good the worst allocation was."""
    offered = log.workload.work @ log.workload.demand[:, 0] / (log.cluster.totals[0] * log.until)
    return {"offered cpu": offered, "jobs": len(log.workload.users), "largest residual": log.residual}


def _over(log: FluidLog) -> dict[str, tuple[list[float], list[float]]]:
    """Utilisation over time: means over windows of an hour, or a sixth of the time if that is less, every tenth of one."""
    window = min(HOUR, log.until / 6)
    bounds = np.linspace(0.0, log.until, round(log.until / window * 10) + 1)
    fine = utilisation(log, bounds)
    smooth = np.array([fine[k : k + 10].mean(axis=0) for k in range(len(fine) - 9)])
    middle = (bounds[:-10] + window / 2) / HOUR
    return {name: (middle.tolist(), smooth[:, r].tolist()) for r, name in enumerate(log.cluster.resources)}


PRINTED8 = {"in one interval": 0.38, "over 24 hours": 0.16, "under 10 quanta": 0.53, "over 10,000 quanta": 0.05}


def _marginals(trial: Trial) -> TrialResult:
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


def _as_printed(outcomes: Outcomes) -> Judged:
    label = outcomes.labels[0]
    means = {name: outcomes.mean(label, name) for name in PRINTED8}
    told = ", ".join(f"{means[name]:.1%} {name} (printed {part:.0%})" for name, part in PRINTED8.items())
    if outcomes.workload == "generated":
        return Judged("cannot be compared", f"the jobs are generated by what is printed: {told}")
    good = all(abs(means[name] - PRINTED8[name]) <= 0.05 for name in ("in one interval", "over 24 hours"))
    text = f"{told}; activity is real, within five points of what is printed, quanta are generated by it; of the jobs "
    text += f"{outcomes.mean(label, 'end within 300 s'):.0%} run for at most 300 s, of which a third touches a second interval"
    return Judged.whether(good, text)


def _by_alpha(names: Sequence[str], form: str, unit: str, outcomes: Outcomes) -> Judged:
    """Each number is larger for alpha = 1 than for 3, and for 3 than for infinity."""
    told, good = [], True
    for name in names:
        means = [_told(outcomes.mean(label, name), form, unit) for label in ALPHAS]
        gaps = [outcomes.difference(one, other, name) for one, other in pairwise(ALPHAS)]
        shown = " and ".join(f"{_told(gap, form, unit)} ± {_told(error, form, unit)}" for gap, error in gaps)
        told.append(f"{name} {means[0]}, {means[1]} and {means[2]} (differences {shown})")
        good &= all(larger(outcomes, one, other, name) for one, other in pairwise(ALPHAS))
    count = len(outcomes.measured[ALPHAS[0]])
    seeds = f"standard errors over {count} seeds; two of them decide" if count > 1 else ONE_SEED
    return Judged.whether(good, f"for alpha = 1, 3 and infinity: {'; '.join(told)}; {seeds}")


def _errors(gaps: Iterable[tuple[float, float]]) -> str:
    """What stands after ±."""
    return ONE_SEED if any(np.isnan(error) for _, error in gaps) else "standard errors"


def _told(value: float, form: str = ".2%", unit: str = "") -> str:
    return "-" if np.isnan(value) else f"{value:{form}}{unit}"


def _over_a_day(outcomes: Outcomes) -> Judged:
    gains = {other: outcomes.difference("ps-dsf", other, "mean") for other in OTHERS[1:]}
    same, _ = outcomes.difference("drfh", "tsf", "mean")
    told = ", ".join(f"{gap:+.2%} ± {_told(error)} against {other}" for other, (gap, error) in gains.items())
    each = {label: (outcomes.mean(label, "cpu"), outcomes.mean(label, "memory")) for label in OTHERS}
    use = "; ".join(f"{label} {cpu:.1%} of CPU and {memory:.1%} of memory" for label, (cpu, memory) in each.items())
    good = all(larger(outcomes, "ps-dsf", other, "mean") for other in gains) and abs(same) <= 0.02
    text = f"{use}; mean of both resources under PS-DSF {told} ({_errors(gains.values())})"
    return Judged.whether(good, f"{text}; DRFH and TSF differ by {abs(same):.2%}")


def _last_classes(outcomes: Outcomes) -> Judged:
    """The gain on classes C and D against that on A and B, mean of both resources."""
    told, good, errors = [], True, list[tuple[float, float]]()
    for other in OTHERS[1:]:
        last, public = (outcomes.difference("ps-dsf", other, name) for name in ("mean of C and D", "mean of A and B"))
        good &= larger(outcomes, "ps-dsf", other, "mean of C and D") and last[0] > public[0]
        errors += [last, public]
        shown = [f"{gap:+.1%} ± {_told(error)}" for gap, error in (last, public)]
        told.append(f"against {other} {shown[0]} on C and D and {shown[1]} on A and B")
    return Judged.whether(good, f"gain of PS-DSF, mean of both resources: {'; '.join(told)} ({_errors(errors)})")


DEVIATIONS = ("average deviation", "maximum deviation")
DELAYS = ("delay of short jobs, mean", "delay of short jobs, std")
RESOURCES = ("cpu", "memory")
OVER_TIME = [curves(name, f"{name}, moving average", ("hours", "part in use")) for name in RESOURCES]

COMPARED = partial(Experiment, kind="mechanism", workloads=("google2011", "google2019", "generated"))
OVER_AN_HOUR = partial(
    COMPARED,
    competitors=ALPHAS,
    sizes={
        "small": Size((0,), {"hours": 0.1, "share": 0.004, "every": None}),
        "full": Size(tuple(range(5)), {"hours": 1.0, "share": 0.02, "every": None}),
    },
    measure=_hour,
)
OVER_A_DAY = partial(
    COMPARED,
    setting=f"{HERE}. A new allocation every minute: what ends in between leaves its part idle until then, for each mechanism "
    "alike",
    competitors=OTHERS,
    sizes={
        "small": Size((0,), {"hours": 0.5, "share": 0.004, "every": 60.0}),
        "full": Size(tuple(range(8)), {"hours": 24.0, "share": 0.02, "every": 60.0}),
    },
    measure=_day,
)

EXPERIMENTS = (
    Experiment(
        "K.Fig8",
        "activity and quanta of jobs over 24 hours",
        "38 % of jobs are completed within a 5-minute period and 16 % are active for more than 24 hours; 53 % need under 10 "
        "quanta and 5 % more than 10,000.",
        "all jobs of the first day of the trace; activity is real, and quanta are generated by what is printed",
        "none",
        ("measured",),
        {"small": Size((0,), {"share": 0.05}), "full": Size((0,), {"share": 1.0})},
        _marginals,
        _as_printed,
        figure(
            curves("intervals", "activity", ("5-minute intervals", "part of jobs"), ("log", "linear")),
            curves("quanta", "quanta over 24 hours", ("quanta", "part of jobs"), ("log", "linear")),
        ),
        ("google2011", "generated"),
    ),
    OVER_AN_HOUR(
        "K.Fig9",
        "utilisation over an hour by alpha",
        "alpha = 1 uses more of the cluster than alpha = 3, and PS-DSF is the least efficient variant.",
        HERE,
        judge=partial(_by_alpha, ("mean",), ".1%", ""),
        panels=figure(bars(("cpu", "memory"), "of all servers", "part in use"), *OVER_TIME),
    ),
    OVER_AN_HOUR(
        "K.Fig10",
        "deviation (58) over an hour by alpha",
        "The average and the maximum deviation from the fair allocation are larger for smaller alpha.",
        f"{HERE}. Means over time of the average and of the largest deviation of the jobs that have tasks",
        judge=partial(_by_alpha, DEVIATIONS, ".3g", ""),
        panels=figure(bars(DEVIATIONS, "", "deviation")),
    ),
    OVER_AN_HOUR(
        "K.Fig11",
        "delay per quantum of short jobs by alpha",
        "The delay per quantum of jobs that need less than one quantum deviates more for smaller alpha.",
        f"{HERE}. Delays of jobs that need less than one quantum together",
        judge=partial(_by_alpha, DELAYS[1:], ".3g", " s"),
        panels=figure(bars(DELAYS, "", "seconds per quantum")),
    ),
    OVER_A_DAY(
        "K.Fig13",
        "utilisation over 24 hours by PS-DSF, DRFH and TSF",
        "PS-DSF uses more of the resources than DRFH and TSF, which use almost the same.",
        judge=_over_a_day,
        panels=figure(*OVER_TIME),
    ),
    OVER_A_DAY(
        "K.Fig14",
        "utilisation over 24 hours by class of servers",
        "PS-DSF improves the utilisation of the last two classes of servers more significantly.",
        judge=_last_classes,
        panels=figure(
            *(bars([f"{name} of class {k}" for k in CLASSES], f"{name} by class", "part in use", CLASSES) for name in RESOURCES)
        ),
    ),
)
