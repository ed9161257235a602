"""What approximations lose: the users' shares (of `nb` tasks) in parts of those of the reference answer (references.py).

For each method of a mechanism that has an approximation among its solves

    worst    the least part that a user has of its exact share, over all cases
    mean     the mean part, over users and then cases; above 1 where the approximation gives more to those who have more

beside the median over cases of the processor seconds. Cases without a reference of an exact method count nowhere, nor do exact
methods where they do not solve the case.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from statistics import mean, median

import numpy as np

from fairalloc.benchmarks.metrics import grouped, succeeded
from fairalloc.benchmarks.records import Record
from fairalloc.benchmarks.report import Summary, percent
from fairalloc.models.numbers import Floats
from fairalloc.models.tables import Grid


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
    counted = (r for r in summary.records if r.method in summary.approximate or succeeded(r))
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
