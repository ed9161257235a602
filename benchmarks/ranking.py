"""Which method is faster: compared on the same cases only, at the same achieved accuracy.

1. Of one mechanism, the methods that were asked for all of its cases are ranked on these (`Ranking.rows`).
2. A method that computes only some of the cases is in a block of its own: its number of cases, and there its mean beside that
   of the best of step 1 on the same cases (`Ranking.partial`).
3. Any two methods are compared on the cases of both (`compared`).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.records import Record

__all__ = ["Comparison", "Rank", "Ranking", "compared", "ranking"]

Costs = Mapping[str, Sequence[float]]
"""For each case the costs of its repeats; a failure costs PENALTY times the limit."""


@dataclass(frozen=True)
class Comparison:
    """One method against another on the cases of both: the ratio of their means, its interval, and the number of cases."""

    ratio: float
    low: float
    high: float
    cases: int


@dataclass(frozen=True)
class Rank:
    """One method: its cases, those it solved, its shifted geometric mean in seconds with an interval, its ratio to the best."""

    method: str
    cases: int
    solved: int
    mean: float
    low: float
    high: float
    to_best: Comparison


@dataclass(frozen=True)
class Ranking:
    """The methods of one mechanism at one target; `cases` is the number of the mechanism's cases."""

    mechanism: str
    target: float | None
    cases: int
    rows: tuple[Rank, ...]
    partial: tuple[Rank, ...]

    @property
    def sentence(self) -> str:
        """What is compared."""
        to = "to the accuracy each was asked for" if self.target is None else f"to a verified residual of {self.target:g}"
        cases = f"the same {self.cases} cases" if self.cases > 1 else "the same case"
        return (
            f"{self.mechanism}: wall time {to} on {cases}; shifted geometric mean over cases of the median repeat, shift "
            f"{1e3 * metrics.SHIFT:g} ms, a failure costs {metrics.PENALTY:g} times the limit; 95 % bootstrap intervals over "
            "cases and repeats."
        )


def ranking(mechanism: str, records: Iterable[Record], target: float | None = None) -> Ranking:
    """The ranking of the methods of one mechanism.

    Parameters
    ----------
    mechanism : its name in records
    records : of its solves
    target : a residual that must be achieved; None = what each accuracy promises, claimed
    """
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.method].append(record)
    limits = {r.case: r.time_limit for group in groups.values() for r in group}
    costs = {method: _finite(metrics.costs_to(group, target), limits) for method, group in groups.items()}
    full = {method: own for method, own in costs.items() if len(own) == len(limits)}
    best = min(full, key=lambda method: _mean(full[method]), default=None)
    ranks = {method: _rank(method, own, limits, costs[best] if best else own) for method, own in costs.items()}
    in_order = sorted(ranks.values(), key=lambda rank: (rank.mean, rank.method))
    rows = tuple(rank for rank in in_order if rank.method in full)
    partial = tuple(rank for rank in in_order if rank.method not in full)
    return Ranking(mechanism, target, len(limits), rows, partial)


def compared(one: Costs, other: Costs) -> Comparison:
    """One method against another on the cases of both."""
    common = sorted(set(one) & set(other))
    pair = [[method[case] for case in common] for method in (one, other)]
    means = [_mean({case: method[case] for case in common}) for method in (one, other)]
    return Comparison(means[0] / max(means[1], 1e-12) if common else math.nan, *metrics.interval(pair), len(common))


def _finite(costs: Mapping[str, Sequence[float]], limits: Mapping[str, float]) -> dict[str, list[float]]:
    return {case: [min(value, metrics.PENALTY * limits[case]) for value in values] for case, values in costs.items()}


def _mean(costs: Costs) -> float:
    return metrics.shifted_geometric_mean(median(values) for values in costs.values())


def _rank(method: str, own: Costs, limits: Mapping[str, float], best: Costs) -> Rank:
    solved = sum(median(values) < metrics.PENALTY * limits[case] for case, values in own.items())
    return Rank(method, len(own), solved, _mean(own), *metrics.interval([list(own.values())]), compared(own, best))
