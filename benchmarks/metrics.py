"""Numbers computed from records: success, honesty, cost, time to an accuracy, means, intervals and profiles.

    success      the method claims that it solved the case, and our residual passes the tolerance of the accuracy
    honesty      the claim equals the truth: claimed and passes, or not claimed and does not pass. Claims without a residual and
                 solves that were not asked count nowhere
    cost         wall seconds around the method, taken outside it; PENALTY times the time limit for a failure. Two files are
                 compared by processor seconds, which another program on the machine hardly changes
    time to e    the least cost, over the accuracies a method was asked for, at which our residual is at most e: a method is
                 judged by what it achieves, not by what it was asked for

A run without a finite point does not pass; it is honest if it does not claim success. All numbers of the report are defined here.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from statistics import median
from typing import NamedTuple, TypeVar

import numpy as np

from fairalloc.benchmarks.records import SKIPPED, Record
from fairalloc.models.arguments import checked
from fairalloc.models.numbers import Floats
from fairalloc.solvers.options import allowed_user_error

T = TypeVar("T")
K = TypeVar("K")

SHIFT = 0.010
"""Seconds. Solves here take milliseconds; with the usual 10 s the fast cases would not count at all."""

PENALTY = 3.0
"""What a failure costs in means, in units of the time limit."""

TARGETS = (1e-3, 1e-6, 1e-8)
"""The residuals to which times are compared."""

DRAWS = 1000
"""Bootstrap samples of an interval."""

FEWEST = 6
"""On fewer cases there is no interval, and no test: all of 5 signs are alike with a chance of 1/16."""

TRIED = 5000
"""Choices of signs that a test of signs tries, where there are more."""

LEVEL = 0.05
"""The chance of a difference that is none, over all pairs of a table together."""

BUSY, TOO_BUSY = 1.5, 3.0
"""Wall in units of processor time, in the median of a run: where a machine is said to be busy, and where nothing is compared."""

CLOSE = 0.05, 0.001
"""The method's phases may differ from our clock by this part of it, and by this many seconds, before they are flagged."""


def passes(record: Record) -> bool:
    """The truth: our residuals, and the error of every user where it is known, are what the accuracy promises."""
    near = record.user_error is None or record.user_error <= allowed_user_error(record.tolerance)
    return record.residual <= record.tolerance and near


@checked
def succeeded(record: Record) -> bool:
    """Claimed solved, and it is."""
    return record.claims and passes(record)


def unjudged(record: Record) -> bool:
    """Whether a feasible point is claimed of which no residual is known: out of time, or a large answer without prices."""
    return record.claims and math.isfinite(record.feasibility) and not math.isfinite(record.definition)


def honest(record: Record) -> bool | None:
    """The claim equals the truth; None where that is not known, or nothing was asked."""
    return None if unjudged(record) or record.termination == SKIPPED else record.claims == passes(record)


def split_badly(record: Record) -> bool:
    """Whether the method's own phases are far from the clock around it: they add up to much less, or to more."""
    relative, absolute = CLOSE
    return math.isfinite(record.residual) and abs(record.phases - record.wall) > relative * record.wall + absolute


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items of each key, in the order in which the keys come."""
    groups: dict[K, list[T]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def cost(record: Record, target: float | None = None) -> float:
    """Wall seconds; inf for a failure, which is a residual above the target where one is given."""
    good = succeeded(record) if target is None else record.residual <= target
    return record.wall if good else math.inf


def costs_to(records: Iterable[Record], target: float | None) -> dict[str, list[float]]:
    """For each case the costs of the repeats of one method at the accuracy whose median is least; inf for a failure."""
    groups = grouped(records, attrgetter("case", "accuracy"))
    costs = {key: [cost(record, target) for record in group] for key, group in groups.items()}
    by_case = grouped(costs.items(), lambda item: str(item[0][0]))
    return {case: min((own for _, own in found), key=median) for case, found in by_case.items()}


class Charged(NamedTuple):
    """Of one case the costs of the repeats, none above a failure, their median, and whether the median repeat succeeds."""

    seconds: list[float]
    median: float
    solved: bool


def charged(costs: Sequence[float], failure: float) -> Charged:
    """What costs, inf for failures, count where a failure has this cost."""
    middle = median(costs)
    return Charged([min(value, failure) for value in costs], min(middle, failure), middle < math.inf)


def shifted_geometric_mean(values: Iterable[float], shift: float = SHIFT) -> float:
    """exp(mean(log(value + shift))) - shift; NaN where there are no values."""
    logs = [math.log(value + shift) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) - shift if logs else math.nan


def interval(repeats: Sequence[Sequence[Sequence[float]]], shift: float = SHIFT) -> tuple[float, float]:
    """A 95 % bootstrap interval of a shifted geometric mean, or of the ratio of two on the same cases; NaN below FEWEST cases.

    `repeats` has for one method or two, for each case in the same order, the finite costs of its repeats. Each draw takes as
    many cases as there are, with replacement, and of each case one repeat of each method.
    """
    count = len(repeats[0])
    if count < FEWEST:
        return math.nan, math.nan
    random = np.random.default_rng(0)
    cases = random.integers(count, size=(DRAWS, count))
    means = [np.exp(_drawn(method, cases, random, shift).mean(axis=1)) - shift for method in repeats]
    draws = means[0] if len(means) == 1 else means[0] / np.maximum(means[1], np.finfo(float).tiny)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def _drawn(costs: Sequence[Sequence[float]], cases: np.ndarray, random: np.random.Generator, shift: float) -> Floats:
    """(draws, cases) logarithms of the shifted cost of one repeat of each drawn case."""
    counts = np.array([*map(len, costs)])
    table = np.array([np.resize(values, counts.max()) for values in costs])
    pick = (random.random(cases.shape) * counts[cases]).astype(int)
    return np.asarray(np.log(table[cases, pick] + shift))


@cache  # a report compares the same two methods in several tables
def chance(ones: tuple[float, ...], others: tuple[float, ...]) -> float:
    """The chance that costs which differ by chance alone differ as much in the mean of their logarithms: a test of signs.

    Both are for the same cases in the same order. Of every case the sign of the difference is as likely the other one; all signs
    are tried, or TRIED of them. 1 where there are fewer than FEWEST cases.
    """
    if len(ones) < FEWEST:
        return 1.0
    from scipy.stats import permutation_test

    logs = np.log(np.array([ones, others]) + SHIFT)
    options = {"permutation_type": "samples", "vectorized": True, "n_resamples": TRIED, "rng": 0}
    return float(permutation_test(logs, lambda one, other, axis: (one - other).mean(axis=axis), **options).pvalue)


def corrected(chances: Sequence[float]) -> list[float]:
    """Chances as they count where all of them are looked at together: Benjamini and Hochberg (1995)."""
    from scipy.stats import false_discovery_control

    return [float(chance) for chance in false_discovery_control(chances)] if chances else []


def busyness(records: Iterable[Record]) -> float:
    """Wall in units of processor time, the median over successes of a millisecond and more; NaN where there are none."""
    ratios = [record.wall / record.cpu for record in records if succeeded(record) and record.cpu >= 0.001]
    return median(ratios) if ratios else math.nan


def busy_sentence(ratio: float) -> str:
    """What such a busyness means."""
    return f"the machine was busy, or methods waited: wall time is {ratio:.2g} times processor time in the median"


def layer_ratios(records: Iterable[Record]) -> dict[str, float]:
    """For each method LAYER:highs the median over (case, repeat) of its build + compile in units of the direct build."""
    runs = [r for r in records if math.isfinite(r.feasibility)]
    direct = {(r.case, r.accuracy, r.repeat): r.build + r.compile for r in runs if r.method == "highs"}
    layers = grouped((r for r in runs if r.method.endswith(":highs")), attrgetter("method"))
    pairs = {key: [(r.build + r.compile, direct.get((r.case, r.accuracy, r.repeat))) for r in own] for key, own in layers.items()}
    ratios = {method: [here / there for here, there in own if there] for method, own in pairs.items()}
    return {method: median(values) for method, values in ratios.items() if values}


def profile(records: Iterable[Record], target: float | None = None) -> dict[str, list[float]]:
    """Performance profile (Dolan and More 2002): for each method its cost on each case in units of the best; inf for a failure.

    A case is failed where the median repeat is, and it counts for every method, so give records of one mechanism.
    """
    found = data_profile(records, target)
    best = [min(costs) for costs in zip(*found.values(), strict=True)]
    units = [least if 0 < least < math.inf else 1.0 for least in best]
    return {method: [mine / unit for mine, unit in zip(own, units, strict=True)] for method, own in found.items()}


def data_profile(records: Iterable[Record], target: float | None = None) -> dict[str, list[float]]:
    """Data profile (More and Wild 2009): for each method its cost on each case in seconds; inf for a failure, as in `profile`."""
    groups = grouped(records, attrgetter("method"))
    costs = {method: {case: median(values) for case, values in costs_to(own, target).items()} for method, own in groups.items()}
    cases = dict.fromkeys(case for own in costs.values() for case in own)
    return {method: [own.get(case, math.inf) for case in cases] for method, own in costs.items()}
