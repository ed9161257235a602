"""How accurate answers are: accuracy against time, and what approximations lose; the report says what counts (page.py).

Losses are told by the users' shares (of `nb` tasks) in parts of those of the reference answer (references.py). Cases without a
reference of an exact method count nowhere, nor do exact methods where they do not solve the case.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite
from operator import attrgetter
from statistics import mean, median

import numpy as np

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.metrics import grouped, succeeded
from fairalloc.benchmarks.records import Record
from fairalloc.benchmarks.report import Summary, decade, milliseconds, percent
from fairalloc.models.numbers import Floats
from fairalloc.models.tables import Grid

DECADES = tuple(10.0**-k for k in range(1, 9))


@dataclass(frozen=True)
class Reached:
    """A method: its cases, and the median seconds to each of DECADES, inf where no more than half of the cases get there."""

    method: str
    cases: int
    seconds: tuple[float, ...]

    @property
    def points(self) -> list[tuple[float, float]]:
        """(seconds, residual) of what is reached."""
        return [(spent, target) for spent, target in zip(self.seconds, DECADES, strict=True) if isfinite(spent)]


def reached(records: Iterable[Record]) -> list[Reached]:
    """The methods that were asked for all cases, those first that get furthest, of these the fastest."""
    groups = grouped(records, attrgetter("method"))
    cases = {method: {record.case for record in own} for method, own in groups.items()}
    common = max(cases.values(), key=len, default=set[str]())
    found = [Reached(name, len(common), _seconds(own)) for name, own in groups.items() if cases[name] == common]
    return sorted(found, key=lambda one: (tuple(reversed(one.seconds)), one.method))


def _seconds(records: list[Record]) -> tuple[float, ...]:
    costs = (metrics.costs_to(records, target) for target in DECADES)
    return tuple(median(median(values) for values in own.values()) if own else inf for own in costs)


def accuracy_grid(found: Iterable[Reached]) -> Grid:
    """The table of one mechanism: milliseconds to each decade, "-" where no more than half of the cases get there."""
    rows = [[one.method, *(milliseconds(spent) if isfinite(spent) else "-" for spent in one.seconds)] for one in found]
    columns = ["method", *(f"{decade(target)}, ms" for target in DECADES)]
    return Grid("", columns, rows, right=range(1, len(columns)))


@dataclass(frozen=True)
class Loss:
    """One method on `cases` cases of a mechanism."""

    method: str
    cases: int
    seconds: float
    worst: float
    mean: float


def losses(summary: Summary, mechanism: str) -> list[Loss]:
    """Of every method, by seconds; [] where no approximation was asked."""
    counted = (r for r in summary.records if succeeded(r) or summary.approximates(r))
    known = [r for r in counted if r.mechanism == mechanism and len(_parts(summary, r))]
    if not any(r.method in summary.approximate for r in known):
        return []
    found = [_loss(summary, method, own) for method, own in grouped(known, attrgetter("method")).items()]
    return sorted(found, key=attrgetter("seconds", "method"))


def _loss(summary: Summary, method: str, records: Iterable[Record]) -> Loss:
    by_case = grouped(records, attrgetter("case")).values()
    parts = [[_parts(summary, r) for r in own] for own in by_case]
    seconds = median(median(r.cpu for r in own) for own in by_case)
    least = min(float(one.min()) for own in parts for one in own)
    return Loss(method, len(parts), seconds, least, mean(mean(float(one.mean()) for one in own) for own in parts))


def _parts(summary: Summary, record: Record) -> Floats:
    """(N,) what each user has in parts of the reference; empty where there is none, or users have no numbers of their own."""
    known = summary.references.get(record.case)
    if known is None or len(known.quantities) != len(record.quantities) or len(record.quantities) < 2:
        return np.empty(0)
    there, here = np.array([known.quantities, record.quantities])
    return np.asarray(here[there > 0] / there[there > 0])


def loss_grids(summary: Summary) -> list[Grid]:
    """For each mechanism with an approximation a table of its methods."""
    heads = ["method", "", "cases", "CPU s", "worst", "mean"]
    found = {name: losses(summary, name) for name in summary.by_mechanism}
    return [Grid(name, heads, [_cells(summary, one) for one in own], right=range(2, 6)) for name, own in found.items() if own]


def _cells(summary: Summary, one: Loss) -> list[str]:
    mark = "approximate" if one.method in summary.approximate else ""
    return [one.method, mark, str(one.cases), f"{one.seconds:.3g}", percent(one.worst), percent(one.mean)]
