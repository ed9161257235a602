"""Summaries of records: which rows belong together, the numbers of each method, and the tables on the terminal.

One summary is about one suite in one environment under one setting; the other rows of the file are counted and left out.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.records import BenchmarkStore, Job, Record
from fairalloc.benchmarks.suites.suite import BenchmarkError
from fairalloc.models import Times
from fairalloc.models.tables import Grid, width

__all__ = ["FailedCase", "MethodRow", "Summary", "milliseconds", "percent", "print_summary", "summarize"]

_SETTING = ("suite", "environment", "accuracy", "time_limit", "memory_mb")
_SHOWN = 8
_READING = (
    "success: claimed solved, and our residual passes; honest: the claim equals the truth. Times in ms: medians "
    f"of each phase; sgm: shifted geometric mean of the totals, shift {1e3 * metrics.SHIFT:g} ms, a failure costs the time limit."
)


@dataclass(frozen=True)
class MethodRow:
    """One method over some records; `mean` is the shifted geometric mean over cases of its median cost, in seconds."""

    method: str
    cases: int
    runs: int
    success: float
    honesty: float
    times: Times | None
    mean: float


@dataclass(frozen=True)
class FailedCase:
    """A case that a method did not solve, or did not claim to have solved, in `count` of `runs` repeats; `record`: the first."""

    count: int
    runs: int
    record: Record

    @property
    def what(self) -> str:
        """In a few words."""
        r = self.record
        if r.claims:
            return f"claims success, but the residual is {r.residual:.1e}"
        if metrics.passes(r):
            return f"{r.termination}, but the residual {r.residual:.1e} passes"
        return r.termination + (f", residual {r.residual:.1e}" if math.isfinite(r.residual) else ", no point")


@dataclass(frozen=True)
class Summary:
    """The records of one suite in one environment under one setting.

    Attributes
    ----------
    path : the records file
    setting : its suite, environment, accuracy, time limit and memory limit
    details : the environment
    records : the rows
    others : rows of the file that are not among them
    before, added : for a run, rows of it that were on record already, and rows it added
    """

    path: Path
    setting: Job
    details: dict[str, Any]
    records: tuple[Record, ...]
    others: int
    before: int = 0
    added: int = 0

    @cached_property
    def rows(self) -> list[MethodRow]:
        """The methods, most successful first, then fastest."""
        return _rows(self.records)

    def __repr__(self) -> str:
        return f"<summary of suite {self.setting.suite}: {self.counts}>"

    def _repr_html_(self) -> str:
        """For notebooks: the comparison that `print_summary` prints."""
        tables = _method_table(self.rows), _mechanism_table(self)
        return replace(tables[0], title=repr(self).strip("<>"))._repr_html_() + tables[1]._repr_html_()

    @cached_property
    def by_mechanism(self) -> dict[str, list[MethodRow]]:
        """The methods on the cases of each mechanism: there they all face the same cases."""
        return {name: _rows(group) for name, group in sorted(_grouped(self.records, "mechanism").items())}

    @cached_property
    def layers(self) -> dict[str, float]:
        """Build + compile of each modelling layer in units of the direct build, smallest first."""
        return dict(sorted(metrics.layer_ratios(self.records).items(), key=lambda item: item[1]))

    @cached_property
    def failures(self) -> list[FailedCase]:
        """Every (case, method) with a run that is not a success."""
        runs: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in self.records:
            runs[record.case, record.method].append(record)
        bad = {key: [r for r in group if not metrics.succeeded(r)] for key, group in runs.items()}
        return [FailedCase(len(bad[key]), len(group), bad[key][0]) for key, group in runs.items() if bad[key]]

    @property
    def missing(self) -> dict[str, str]:
        """Methods that were not available, with what to install."""
        return {name: method["missing"] for name, method in self.details["methods"].items() if method["missing"]}

    @property
    def note(self) -> str:
        """A sentence on what else the file holds, or ""."""
        rest = f"{self.others:,} rows of other suites, versions, machines, settings or data, which are not in this report"
        return f"{self.path.name} also holds {rest}." if self.others else ""

    @property
    def counts(self) -> str:
        """How much was measured, in a few words."""
        cases, repeats = ({getattr(r, field) for r in self.records} for field in ("case", "repeat"))
        return f"{len(cases)} cases, {len(self.rows)} methods, {len(repeats)} repeats, {len(self.records):,} solves"

    @property
    def limits(self) -> str:
        """The setting, in a few words."""
        job, tolerance = self.setting, self.records[0].tolerance
        limits = f"{job.time_limit:g} s, {job.memory_mb:,} MB, one thread"
        return f"accuracy {job.accuracy} (residual at most {tolerance:g}); each solve in its own process: {limits}"


def summarize(
    path: str | Path,
    *,
    suite: str | None = None,
    environment: str | None = None,
    like: Job | None = None,
    before: int = 0,
    added: int = 0,
) -> Summary:
    """The summary of the rows of one suite in one environment under one setting.

    Parameters
    ----------
    path : the records file
    suite, environment : of the newest row that is asked for; None = any
    like : the job whose setting is asked for; None = the newest
    before, added : for a run, rows of it that were on record already, and rows it added

    Raises
    ------
    BenchmarkError : there is no such file, or no such row in it
    """
    if not Path(path).exists():
        raise BenchmarkError(f"there is no records file {path}: `fairalloc bench run SUITE` writes one")
    with BenchmarkStore(path) as store:
        everything = store.records()
        like = like or _newest(everything, path, {"suite": suite, "environment": environment})
        records = tuple(_latest_data(r for r in everything if _setting(r) == _setting(like)))
        details = store.environment(like.environment)
    return Summary(Path(path), like, details, records, len(everything) - len(records), before, added)


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Print the comparison, as wide as the terminal."""
    console = console or Console(width=width(), highlight=False)
    console.print(f"[bold]suite {summary.setting.suite}[/]: {summary.counts}; {summary.limits}")
    console.print(_method_table(summary.rows))
    console.print(_READING)
    console.print(_mechanism_table(summary))
    if summary.layers:
        ratios = ", ".join(f"{name} {ratio:.1f}" for name, ratio in summary.layers.items())
        console.print(f"Modelling layers, build + compile in units of that of highs: {ratios}")
    for failure in summary.failures[:_SHOWN]:
        record = failure.record
        where = f"{failure.count} of {failure.runs} failed: {record.method} on {record.case}: "
        console.print(escape(where + failure.what), style="red")
    if (more := len(summary.failures) - _SHOWN) > 0:
        console.print(f"and {more} more failures, listed in the report")
    for sentence in summary.missing.values():
        console.print(escape(f"not available: {sentence}"), style="yellow")
    if summary.note:
        console.print(summary.note)


def milliseconds(seconds: float | None) -> str:
    """Seconds as milliseconds with three digits or so."""
    if seconds is None or math.isnan(seconds):
        return "-"
    value = 1e3 * seconds
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def percent(fraction: float) -> str:
    """A rate; rounded down, so that 100 % means all."""
    return f"{math.floor(1000 * fraction + 1e-9) / 10:g} %"


def _method_table(rows: Sequence[MethodRow]) -> Grid:
    columns = ("method", "cases", "success", "honest", "build", "compile", "solve", "read", "sgm")
    cells = [
        (row.method, str(row.cases), percent(row.success), percent(row.honesty), *phases(row), milliseconds(row.mean))
        for row in rows
    ]
    return Grid("", columns, cells, right=range(1, len(columns)))


def _mechanism_table(summary: Summary) -> Grid:
    columns = ("mechanism", "method", "cases", "success", "honest", "sgm", "to best")
    groups = [(name, mechanism_cells(rows)) for name, rows in summary.by_mechanism.items()]
    cells = [("" if k else name, *row) for name, rows in groups for k, row in enumerate(rows)]
    return Grid("", columns, cells, right=range(2, len(columns)))


def mechanism_cells(rows: Sequence[MethodRow]) -> list[tuple[str, ...]]:
    """Method, cases, success, honesty, mean and its ratio to the best, as text."""
    best = min(row.mean for row in rows)
    rates = [(percent(row.success), percent(row.honesty)) for row in rows]
    means = [(milliseconds(row.mean), f"{row.mean / best:.1f}") for row in rows]
    return [(row.method, str(row.cases), *rate, *mean) for row, rate, mean in zip(rows, rates, means, strict=True)]


def phases(row: MethodRow) -> list[str]:
    """The four median times as text."""
    values = [getattr(row.times, name, None) for name in ("build", "compile", "solve", "read")]
    return [milliseconds(value) for value in values]


def _rows(records: Iterable[Record]) -> list[MethodRow]:
    groups = _grouped(records, "method")
    return sorted((_row(name, group) for name, group in groups.items()), key=lambda row: (-row.success, row.mean, row.method))


def _row(method: str, records: Sequence[Record]) -> MethodRow:
    costs = metrics.costs_by_case(records)
    return MethodRow(
        method=method,
        cases=len(costs),
        runs=len(records),
        success=metrics.rate(records, metrics.succeeded),
        honesty=metrics.rate(records, metrics.honest),
        times=metrics.median_times(records),
        mean=metrics.shifted_geometric_mean(costs.values()),
    )


def _grouped(records: Iterable[Record], field: str) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[getattr(record, field)].append(record)
    return groups


def _setting(job: Job) -> tuple[Any, ...]:
    return tuple(getattr(job, name) for name in _SETTING)


def _newest(records: Sequence[Record], path: str | Path, wanted: dict[str, str | None]) -> Record:
    asked = {name: value for name, value in wanted.items() if value is not None}
    fit = [r for r in records if all(getattr(r, name) == value for name, value in asked.items())]
    if not fit:
        condition = " with " + " and ".join(f"{name} {value!r}" for name, value in asked.items()) if asked else ""
        raise BenchmarkError(f"{path} has no records{condition}")
    return fit[-1]


def _latest_data(records: Iterable[Record]) -> list[Record]:
    """Without the rows of cases whose instance has changed since, as where the data folder was exchanged."""
    rows = list(records)
    latest = {r.case: r.fingerprint for r in rows}
    return [r for r in rows if r.fingerprint == latest[r.case]]
