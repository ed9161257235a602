"""Accuracy against time: how long each method takes to a residual of 1e-1, 1e-2, .. 1e-8, as computed from the instance.

Of one mechanism, the methods that were asked for all of its cases are compared on these. On each case the time to a residual is
the least, over the accuracies a method was asked for, at which our residual is at most that (metrics.py). What counts is the
median over the cases; where fewer than half of them get there, there is none.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite
from operator import attrgetter
from statistics import median

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.metrics import grouped
from fairalloc.benchmarks.records import Record
from fairalloc.benchmarks.report import decade, milliseconds
from fairalloc.models.tables import Grid

DECADES = tuple(10.0**-k for k in range(1, 9))


@dataclass(frozen=True)
class Reached:
    """A method: its cases, and the median seconds to each of DECADES, inf where fewer than half of the cases get there."""

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
    cases = {method: len({record.case for record in own}) for method, own in groups.items()}
    most = max(cases.values(), default=0)
    found = [Reached(name, most, _seconds(own)) for name, own in groups.items() if cases[name] == most]
    return sorted(found, key=lambda one: (tuple(reversed(one.seconds)), one.method))


def _seconds(records: list[Record]) -> tuple[float, ...]:
    costs = (metrics.costs_to(records, target) for target in DECADES)
    return tuple(median(median(values) for values in own.values()) if own else inf for own in costs)


def accuracy_grid(records: Iterable[Record]) -> Grid:
    """The table of one mechanism: milliseconds to each decade, "-" where fewer than half of the cases get there."""
    rows = [[one.method, *(milliseconds(spent) if isfinite(spent) else "-" for spent in one.seconds)] for one in reached(records)]
    columns = ["method", *(f"{decade(target)}, ms" for target in DECADES)]
    return Grid("", columns, rows, right=range(1, len(columns)))
