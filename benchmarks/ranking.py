"""Which method is faster: compared on the same cases only, at the same achieved accuracy.

1. Of one mechanism, the methods that were asked for all of its cases are ranked on these (`Ranking.rows`).
2. A method that computes only some of the cases is in a block of its own: its number of cases, and there its mean beside that
   of the best of step 1 on the same cases (`Ranking.partial`).
3. Any two methods are compared on the cases of both (`pairwise`).
4. Methods that were asked for several accuracies have a point (time, verified residual) for each (`pareto`).

Where no method was asked for all cases, those of the method with the most cases take their place in step 1.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from statistics import median
from typing import TypeVar

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.metrics import grouped
from fairalloc.benchmarks.records import Record

T = TypeVar("T")

_LEAST = 1e-12
"""What stands for a mean of 0 seconds, or a ratio of 0, below a fraction line."""

Costs = Mapping[str, metrics.Charged]
"""For each case the costs of its repeats; a failure costs PENALTY times the limit."""


@dataclass(frozen=True)
class Comparison:
    """One method against another on the cases of both: the ratio of means, its interval, corrected chance.

    The interval is NaN on few cases, and of a method to itself.
    """

    ratio: float
    low: float
    high: float
    cases: int
    chance: float = 1.0

    @property
    def turned(self) -> "Comparison":
        """The other against the one."""
        ratio, low, high = (1 / max(value, _LEAST) for value in (self.ratio, self.high, self.low))
        return replace(self, ratio=ratio, low=low, high=high) if self.cases else self

    @property
    def differs(self) -> bool:
        """Whether chance hardly makes such a difference."""
        return self.chance <= metrics.LEVEL


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
    """The methods of one mechanism at one target, a residual; None = what the accuracy promises, claimed.

    Compared are `cases` of the `total` on record: `rows` are the methods that were asked for all of them, `partial` the others.
    """

    mechanism: str
    target: float | None
    cases: int
    total: int
    rows: tuple[Rank, ...]
    partial: tuple[Rank, ...]

    @property
    def sentence(self) -> str:
        """What is compared."""
        to = "to the accuracy that was asked for" if self.target is None else f"to a verified residual of {self.target:g}"
        of = f" of {self.total}" if self.cases < self.total else ""
        cases = f"the same {self.cases}{of} cases" if self.cases > 1 else "the same case"
        return (
            f"{self.mechanism}: wall time {to} on {cases}; shifted geometric mean over cases of the median repeat, shift "
            f"{1e3 * metrics.SHIFT:g} ms, a failure costs {metrics.PENALTY:g} times the limit; 95 % bootstrap intervals over "
            f"cases and repeats, on {metrics.FEWEST} cases and more."
        )

    @property
    def fastest(self) -> Rank | None:
        """The least mean; None where no method solves anything."""
        return next((rank for rank in self.rows if rank.solved), None)

    @property
    def safest(self) -> Rank | None:
        """The least mean of those that solve all cases; None where no method does."""
        return next((rank for rank in self.rows if rank.solved == self.cases), None)


@dataclass(frozen=True)
class Point:
    """A method at an accuracy on all cases of a mechanism: its mean time and its largest residual.

    Without a point a case counts PENALTY times its limit, and inf.
    """

    method: str
    accuracy: str
    seconds: float
    residual: float


def ranking(mechanism: str, records: Iterable[Record], target: float | None = None) -> Ranking:
    """The ranking of the methods of one mechanism; a target is a residual, None what each accuracy promises, claimed."""
    costs = _costs(records, target)
    common = max(map(set, costs.values()), key=len, default=set[str]())
    full = {method: own for method, own in costs.items() if set(own) == common}
    best = min(full, key=lambda method: (_mean(full[method]), method), default=None)
    ranks = {method: _rank(method, own, costs[best] if best else own) for method, own in costs.items()}
    told = _corrected({method: rank.to_best for method, rank in ranks.items() if method != best})
    ranks |= {method: replace(ranks[method], to_best=found) for method, found in told.items()}
    in_order = sorted(ranks.values(), key=lambda rank: (rank.mean, rank.method))
    rows = tuple(rank for rank in in_order if rank.method in full)
    partial = tuple(rank for rank in in_order if rank.method not in full)
    return Ranking(mechanism, target, len(common), len({case for own in costs.values() for case in own}), rows, partial)


def pairwise(records: Iterable[Record], target: float | None = None) -> dict[tuple[str, str], Comparison]:
    """For each pair (one, other) of methods the ratio of their means on the cases of both; a target as for `ranking`."""
    costs = _costs(records, target)
    in_order = sorted(costs, key=lambda method: (-len(costs[method]), _mean(costs[method]), method))
    half = _corrected({(one, other): compared(costs[one], costs[other]) for one, other in combinations(in_order, 2)})
    turned = {(other, one): found.turned for (one, other), found in half.items()}
    return half | turned


def _corrected(pairs: Mapping[T, Comparison]) -> dict[T, Comparison]:
    """The pairs with chances that hold for all of them together."""
    chances = metrics.corrected([pair.chance for pair in pairs.values()])
    return {key: replace(pair, chance=chance) for (key, pair), chance in zip(pairs.items(), chances, strict=True)}


def compared(one: Costs, other: Costs) -> Comparison:
    """One method against another on the cases of both."""
    common = sorted(set(one) & set(other))
    pair = [[method[case].seconds for case in common] for method in (one, other)]
    means = [_mean({case: method[case] for case in common}) for method in (one, other)]
    chance = metrics.chance(*(tuple(method[case].median for case in common) for method in (one, other)))
    ends = (math.nan, math.nan) if one is other else metrics.interval(pair)
    return Comparison(means[0] / max(means[1], _LEAST) if common else math.nan, *ends, len(common), chance)


def pareto(records: Iterable[Record]) -> list[Point]:
    """For each method and accuracy on all cases, of the records of one mechanism, the time and the verified residual."""
    asked = grouped(records, attrgetter("method", "accuracy"))
    groups = {key: grouped(own, attrgetter("case")) for key, own in asked.items()}
    common = max(map(set, groups.values()), key=len, default=set[str]())
    return [Point(*key, *_time_and_residual(cases.values())) for key, cases in sorted(groups.items()) if set(cases) == common]


def _time_and_residual(cases: Collection[Sequence[Record]]) -> tuple[float, float]:
    walls = [[r.wall if math.isfinite(r.residual) else metrics.PENALTY * r.time_limit for r in own] for own in cases]
    residual = max(median(r.residual for r in own) for own in cases)
    return metrics.shifted_geometric_mean(map(median, walls)), residual


def _costs(records: Iterable[Record], target: float | None) -> dict[str, Costs]:
    """For each method its costs."""
    groups = grouped(records, attrgetter("method"))
    failure = {r.case: metrics.PENALTY * r.time_limit for group in groups.values() for r in group}
    costs = {method: metrics.costs_to(group, target) for method, group in groups.items()}
    return {name: {case: metrics.charged(own, failure[case]) for case, own in found.items()} for name, found in costs.items()}


def _mean(costs: Costs) -> float:
    return metrics.shifted_geometric_mean(cost.median for cost in costs.values())


def _rank(method: str, own: Costs, best: Costs) -> Rank:
    solved, spread = sum(cost.solved for cost in own.values()), metrics.interval([[cost.seconds for cost in own.values()]])
    return Rank(method, len(own), solved, _mean(own), *spread, compared(own, best))
