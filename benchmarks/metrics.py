"""Numbers computed from records: success, honesty, cost, means and profiles. All numbers of the report are defined here.

    success   the method claims that it solved the case, and our residual passes the tolerance of the accuracy word
    honesty   the claim equals the truth: claimed and passes, or not claimed and does not pass
    cost      seconds of build + compile + solve + read of a success; the time limit for a failure

A run without a point does not pass; it is honest if it does not claim success.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from fairalloc.benchmarks.records import Record
from fairalloc.models import Times

__all__ = [
    "SHIFT",
    "cost",
    "costs_by_case",
    "honest",
    "layer_ratios",
    "median_times",
    "passes",
    "profile",
    "rate",
    "shifted_geometric_mean",
    "succeeded",
]

# Seconds. Solves here take milliseconds; with the usual 10 s the fast cases would not count at all.
SHIFT = 0.010


def passes(record: Record) -> bool:
    """The truth: our residuals meet what the accuracy word promises."""
    return record.residual <= record.tolerance


def succeeded(record: Record) -> bool:
    """Claimed solved, and it is."""
    return record.claims and passes(record)


def honest(record: Record) -> bool:
    """The claim equals the truth."""
    return record.claims == passes(record)


def rate(records: Sequence[Record], test: Callable[[Record], bool]) -> float:
    """Fraction of the records that pass a test; NaN where there are none."""
    return sum(map(test, records)) / len(records) if records else math.nan


def cost(record: Record) -> float:
    """Seconds; a failure costs the time limit."""
    return record.total if succeeded(record) else record.time_limit


def costs_by_case(records: Iterable[Record]) -> dict[str, float]:
    """Median cost over the repeats, of each case."""
    groups: dict[str, list[float]] = defaultdict(list)
    for record in records:
        groups[record.case].append(cost(record))
    return {case: median(costs) for case, costs in groups.items()}


def shifted_geometric_mean(values: Iterable[float], shift: float = SHIFT) -> float:
    """exp(mean(log(value + shift))) - shift; NaN where there are no values."""
    logs = [math.log(value + shift) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) - shift if logs else math.nan


def median_times(records: Iterable[Record]) -> Times | None:
    """Medians of the four phases over the runs that returned a point; None where none did."""
    runs = [r for r in records if _has_point(r)]
    if not runs:
        return None
    return Times(*(median(getattr(r, phase) for r in runs) for phase in ("build", "compile", "solve", "read")))


def layer_ratios(records: Iterable[Record], reference: str = "highs") -> dict[str, float]:
    """What a modelling layer costs: median over (case, repeat) of its build + compile in units of the direct build.

    The layers are the methods `LAYER:reference`, which hand the same program to the same solver.
    """
    runs = [r for r in records if _has_point(r)]
    direct = {(r.case, r.repeat): r.build + r.compile for r in runs if r.method == reference}
    ratios: dict[str, list[float]] = defaultdict(list)
    for r in runs:
        if r.method.endswith(f":{reference}") and direct.get((r.case, r.repeat)):
            ratios[r.method].append((r.build + r.compile) / direct[r.case, r.repeat])
    return {method: median(values) for method, values in ratios.items()}


def profile(records: Iterable[Record]) -> dict[str, list[float]]:
    """Performance profile: for each method its cost on each case of `records` in units of the best; inf for a failure.

    A case is failed where the median repeat is, and it counts for every method, so give records of one mechanism.
    """
    by_method: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_method[record.method].append(record)
    limits = {r.case: r.time_limit for group in by_method.values() for r in group}
    costs = {method: costs_by_case(group) for method, group in by_method.items()}
    return {method: [_ratio(case, own, costs, limit) for case, limit in limits.items()] for method, own in costs.items()}


def _ratio(case: str, own: Mapping[str, float], costs: Mapping[str, Mapping[str, float]], limit: float) -> float:
    mine = own.get(case, math.inf)
    best = min(other.get(case, math.inf) for other in costs.values())
    return mine / best if mine < limit and best > 0 else math.inf


def _has_point(record: Record) -> bool:
    return math.isfinite(record.feasibility)
