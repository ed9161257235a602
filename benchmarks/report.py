"""Summaries of records: which rows belong together, the numbers of each method, and the tables on the terminal.

One summary is about one run: its suite under its setting on its machine; the other rows of the file are counted and left out.
"""

import glob
import math
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from statistics import fmean, median
from typing import Any

from rich.console import Console
from rich.text import Text

from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.metrics import grouped
from fairalloc.benchmarks.ranking import Rank, Ranking, ranking
from fairalloc.benchmarks.records import SKIPPED, UNDEFINED, BenchmarkStore, Record, RecordedRun
from fairalloc.benchmarks.references import Reference, contradicts, distance_to, references
from fairalloc.benchmarks.suites.suite import BenchmarkError
from fairalloc.models.arguments import checked
from fairalloc.models.errors import shown
from fairalloc.models.tables import Grid, printable, width
from fairalloc.solvers import METHODS
from fairalloc.solvers.catalogue.installed import other_method

_SHOWN = 8

TIMES = ("build", "compile", "solve", "read", "wall", "cpu")
HEADS = ("build", "compile", "solve", "read answer", "wall", "cpu")
"""The phases that a method reports and our two clocks, and how tables call them."""

WHY = 5
"""Of so many methods stands why they take their time."""

_READING = (
    "success: the method claims to have solved the case, and its residual passes; honest: of the judged solves, the claim agrees "
    "with the residual. Times are medians in ms: wall and cpu are measured around the method, the phases are those it reports."
)


@dataclass(frozen=True)
class MethodRow:
    """One method over some records: rates, honesty NaN if nothing is judged, and TIMES, medians of the runs with a point."""

    method: str
    cases: int
    runs: int
    success: float
    honesty: float
    times: Sequence[float]
    peak_mb: float
    split_badly: int

    @property
    def peak(self) -> str:
        """Megabytes; "-" where no process lived to tell."""
        return f"{self.peak_mb:,.0f}" if self.peak_mb else "-"


@dataclass(frozen=True)
class FailedCase:
    """A case that a method did not solve, or did not claim to have solved, in `count` of `runs` solves.

    `record` is the first of them, and `contradicted` its distance from a certified reference that contradicts it, else 0.
    """

    count: int
    runs: int
    record: Record
    contradicted: float = 0.0

    @property
    def what(self) -> str:
        """In a few words."""
        r = self.record
        if self.contradicted:
            return f"its residual of {r.residual:.1e} passes, but it is {self.contradicted:.2g} away from the certified reference"
        if metrics.unjudged(r):
            return "claims success, and no residual is known"
        if r.claims and not math.isfinite(r.residual):
            return "claims success without a finite feasible point"
        if r.claims and r.residual <= r.tolerance:
            return f"claims success, but the tasks of a user are off by {r.user_error:.1e}"
        if r.claims:
            return f"claims success, but the residual is {r.residual:.1e}"
        if metrics.passes(r):
            return f"{r.termination}, but the residual {r.residual:.1e} passes"
        if r.termination == "stationary":
            return "a stationary point of a model that is not proved to be convex"
        left = "no residual is known" if math.isfinite(r.feasibility) else "no point"
        return f"{r.termination}, " + (f"residual {r.residual:.1e}" if math.isfinite(r.residual) else left)


@dataclass(frozen=True)
class Summary:
    """The rows of one run.

    Attributes
    ----------
    path : the records file
    run : what was asked
    rows_of_run : its rows, in the order in which they were asked for, whichever was answered first
    others : rows of the file that are not among them
    before, added : for a run that has just ended, rows of it that were on record already, and rows it added
    """

    path: Path
    run: RecordedRun
    rows_of_run: tuple[Record, ...]
    others: int
    before: int = 0
    added: int = 0

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The rows about solves."""
        return tuple(r for r in self.rows_of_run if r.method != UNDEFINED)

    @cached_property
    def undefined(self) -> tuple[Record, ...]:
        """The rows about cases that have no solves."""
        return tuple(r for r in self.rows_of_run if r.method == UNDEFINED)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """The ids of the methods by name."""
        return tuple(sorted({r.method for r in self.records}))

    @property
    def target(self) -> float | None:
        """At which residual methods are ranked: the middle of TARGETS, or None, what the one accuracy promises, claimed."""
        return metrics.TARGETS[1] if len({r.accuracy for r in self.records}) > 1 else None

    @cached_property
    def rows(self) -> list[MethodRow]:
        """The methods by name."""
        groups = grouped(self.records, attrgetter("method"))
        return [_row(name, groups[name], self.contradicting) for name in self.methods]

    def __repr__(self) -> str:
        return f"<summary of suite {self.run.suite}: {self.counts}>"

    def _repr_html_(self) -> str:
        """For notebooks: the comparison that `print_summary` prints."""
        methods = replace(_method_table(self.rows), title=repr(self).strip("<>"))
        tables = [methods, *(ranked(item)[0][0] for item in self.rankings(self.target))]
        return "".join(table._repr_html_() for table in tables)

    @cached_property
    def approximate(self) -> frozenset[str]:
        """The methods that are approximations: they are not ranked, and what they lose is told (accuracy.py)."""
        about = self.run.details["methods"]
        return frozenset(name for name in self.methods if about.get(name, {}).get("kind") == "approximate")

    def approximates(self, record: Record) -> bool:
        """Whether it is a feasible answer of an approximation, which promises no more."""
        return record.method in self.approximate and record.feasibility <= record.tolerance

    @cached_property
    def by_mechanism(self) -> dict[str, list[Record]]:
        """The solves of each mechanism by methods that are ranked."""
        ranked = [r for r in self.records if r.method not in {*self.approximate, *self.dishonest}]
        return dict(sorted(grouped(ranked, attrgetter("mechanism")).items()))

    def rankings(self, target: float | None = None) -> list[Ranking]:
        """For each mechanism its methods on common cases; a target is a residual that must be achieved."""
        return [ranking(name, group, target) for name, group in self.by_mechanism.items()]

    @cached_property
    def layers(self) -> dict[str, float]:
        """Build + compile of each modelling layer in units of the direct build, smallest first."""
        return dict(sorted(metrics.layer_ratios(self.records).items(), key=lambda item: item[1]))

    @cached_property
    def failures(self) -> list[FailedCase]:
        """Every (case, method, accuracy) with a run that is neither a success nor a feasible answer of an approximation."""
        runs, wrong = grouped(self.records, attrgetter("case", "method", "accuracy")), self.contradicting
        good = {r.key for r in self.records if r.key not in wrong and (metrics.succeeded(r) or self.approximates(r))}
        bad = {key: [r for r in group if r.key not in good] for key, group in runs.items()}
        firsts = {key: group[0] for key, group in bad.items() if group}
        return [FailedCase(len(bad[key]), len(runs[key]), r, wrong.get(r.key, 0.0)) for key, r in firsts.items()]

    @cached_property
    def references(self) -> dict[str, Reference]:
        """The reference answer of each case of which anything unique is known."""
        printed = {name: case["printed"] for name, case in self.cases.items() if case["printed"]}
        return references(printed, [r for r in self.records if r.method not in self.approximate])

    @property
    def cases(self) -> Mapping[str, Mapping[str, Any]]:
        """What the run says of each case of its suite: "family", "words" and "printed" (runner.py)."""
        found: Mapping[str, Mapping[str, Any]] = self.run.details["cases"]
        return found

    @cached_property
    def contradicting(self) -> dict[str, float]:
        """The distance of each record that a certified reference contradicts, by its key."""
        found = [r for r in self.records if contradicts(self.references.get(r.case), r)]
        return {record.key: self.distance(record) for record in found}

    @cached_property
    def dishonest(self) -> dict[str, str]:
        """The methods that are not ranked, because a certified reference contradicts them, with a sentence on the first case."""
        told: dict[str, str] = {}
        for record in self.records:
            if (distance := self.contradicting.get(record.key)) is not None:
                why = f"on {record.case} its residual is {record.residual:.0e}, but it is {distance:.2g} away from what is right"
                told.setdefault(record.method, f"{record.method} is dishonest and not ranked: {why}")
        return told

    @property
    def warnings(self) -> list[str]:
        """What limits the worth of the times and the ranking, or was left out, a sentence each."""
        load, busy = self.run.details.get("load"), metrics.busyness(self.records)
        cores = self.run.details["machine"].get("cores")
        found = [*self.run.unfinished(len(self.rows_of_run)), *self.dishonest.values()]
        if self.approximate:
            found.append(f"approximate and not ranked, the report says what they lose: {', '.join(sorted(self.approximate))}")
        if busy > metrics.BUSY:
            found.append(metrics.busy_sentence(busy))
        if load is not None and isinstance(cores, int) and load > cores:
            found.append(f"the machine was busy before the run: a load of {load:.3g} on {cores} cores")
        return [*found, *(f"not asked: {sentence}" for sentence in self.run.details.get("idle", ()))]

    def distance(self, record: Record) -> float:
        """From the reference of its case, in what is unique; inf where either is not known."""
        known = self.references.get(record.case)
        return distance_to(known, record) if known else math.inf

    def command(self, record: Record) -> str:
        """What solves a failed case again, in any folder, and leaves these records alone; "-" for what is in no file."""
        place, name = self.run.details["place"], record.method
        at = f"{shlex.quote(place)} --case {shlex.quote(glob.escape(record.case))}" if place else self.cases[record.case]["words"]
        known = name if name in METHODS or other_method(name) else ""
        method = self.run.details["methods"].get(name, {}).get("place") or known
        if not at or not method:
            return "-"
        setting = f"--accuracy {record.accuracy} --time-limit {record.time_limit:g} --memory {record.memory_mb} --repeats 1"
        setting += f" --threads {record.threads}" if record.threads > 1 else ""
        return f"fairalloc bench run {at} --method {shlex.quote(method)} {setting} --records again.sqlite"

    @property
    def missing(self) -> dict[str, str]:
        """Methods that were not available, with what to install."""
        return {name: method["missing"] for name, method in self.run.details["methods"].items() if method["missing"]}

    @property
    def note(self) -> str:
        """A sentence on what else the file holds, or ""."""
        many = f"{self.others:,} row{'s' * (self.others != 1)}"
        rest = f"{many} of other runs, or of code, versions and machines that are not those of this one"
        return f"{self.path.name} also holds {rest}." if self.others else ""

    @property
    def again(self) -> str:
        """The command that measures again what this run measured, and reports it."""
        details, setting = self.run.details, self.run.details["setting"]
        asked = details.get("asked", {"methods": [], "cases": []})
        words = shlex.split(details.get("words", "")) or [details["place"] or self.run.suite]
        words += [word for name in ("methods", "cases") for value in asked[name] for word in (f"--{name[:-1]}", value)]
        words += [word for value in asked.get("accuracies", setting["accuracies"]) for word in ("--accuracy", str(value))]
        words += ["--time-limit", f"{setting['time_limit']:g}", "--memory", str(setting["memory_mb"])]
        where = "scheduler" if setting.get("scheduler") else "jobs"  # a scheduler's workers say how many
        words += [word for name in ("repeats", where, "threads") for word in (f"--{name}", str(setting[name]))]
        return f"fairalloc bench run {shlex.join(map(str, words))} --records again.sqlite"

    @property
    def counts(self) -> str:
        """How much was measured, in a few words."""
        cases, repeats = ({getattr(r, field) for r in self.records} for field in ("case", "repeat"))
        skipped = sum(r.termination == SKIPPED for r in self.records)
        told = {"case": len(cases), "method": len(self.rows), "repeat": len(repeats), "solve": len(self.records) - skipped}
        text = ", ".join(f"{count:,} {what}{'s' * (count != 1)}" for what, count in told.items())
        return text + (f", {skipped:,} not asked after a failure" if skipped else "")

    @property
    def limits(self) -> str:
        """The setting, in a few words."""
        setting: Mapping[str, Any] = self.run.details["setting"]
        jobs, cores = setting["jobs"], self.run.details["machine"].get("cores")
        where = f"{cores} cores, which they share" if isinstance(cores, int) and cores < jobs else "cores of their own"
        at_a_time = f", {jobs} solves at a time on {where}" if jobs > 1 else ""
        threads = "one thread" if setting["threads"] == 1 else f"{setting['threads']} threads"
        limits = f"{setting['time_limit']:g} s, {setting['memory_mb']:,} MB, {threads}{at_a_time}"
        return f"accuracy {', '.join(map(str, setting['accuracies']))}; each solve in its own process: {limits}"


def summarize(path: str | Path, *, suite: str | None = None, before: int = 0, added: int = 0) -> Summary:
    """The summary of the newest run on record, or that of a suite; BenchmarkError where there is none.

    For a run that has just ended: rows of it that were on record `before`, and rows that it `added`.
    """
    with BenchmarkStore.recorded(path) as store:
        everything, runs = store.records(), store.runs()
    fit = [run for run in runs if suite in (None, run.suite)]
    if not fit:
        raise BenchmarkError(f"{path} has no run" + ("" if suite is None else f" of the suite {suite!r}"))
    places = {key: place for place, key in enumerate(fit[-1].keys)}
    records = tuple(sorted((r for r in everything if r.key in places), key=lambda r: places[r.key]))
    if not records:
        raise BenchmarkError(f"{path} has no rows of its run of {shown(fit[-1].suite)}")
    return Summary(Path(path), fit[-1], records, len(everything) - len(records), before, added)


@checked
def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Print the comparison, as wide as the terminal."""
    console = console or Console(width=width(), highlight=False)

    def say(text: str, style: str = "") -> None:  # names and messages are of others: nothing in them is markup
        console.print(Text(printable(text), style))

    console.print(Text.assemble((printable(f"suite {summary.run.suite}"), "bold"), f": {summary.counts}; {summary.limits}"))
    console.print(_method_table(summary.rows))
    console.print(_READING)
    for item in summary.rankings(summary.target):
        console.print()
        say(advice(item), "bold")
        for table, about in ranked(item):
            console.print(table)
            say(about)
    if summary.layers:
        ratios = ", ".join(f"{name} {ratio:.1f}" for name, ratio in summary.layers.items())
        say(f"Modelling layers: build + compile, divided by that of highs: {ratios}")
    for f in summary.failures[:_SHOWN]:
        said = f": {f.record.message}" if f.record.termination == "error" and f.record.message else ""
        say(f"{f.count} of {f.runs} failed: {f.record.method} on {f.record.case}: {f.what}{said}", "red")
    if (more := len(summary.failures) - _SHOWN) > 0:
        console.print(f"and {more} more failure{'s' * (more != 1)}, listed in the report")
    told = [f"not solved: {record.case}: {record.message}" for record in summary.undefined]
    clocks = "the reported phases do not add up to the measured time in"
    told += [f"{row.method}: {clocks} {row.split_badly} of {row.runs} solves" for row in summary.rows if row.split_badly]
    for sentence in (*told, *summary.warnings, *(f"not available: {sentence}" for sentence in summary.missing.values())):
        say(sentence, "yellow")
    if summary.note:
        say(summary.note)


def milliseconds(seconds: float) -> str:
    """Seconds as milliseconds with three digits or so; "-" where there are none."""
    if math.isnan(seconds):
        return "-"
    value = 1e3 * seconds
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def factor(ratio: float) -> str:
    """A ratio with two digits or so."""
    return f"{ratio:,.0f}" if ratio >= 99.5 else f"{ratio:.2g}"


def percent(fraction: float) -> str:
    """A rate; rounded down, so that 100 % means all; "-" where there is none."""
    return "-" if math.isnan(fraction) else f"{math.floor(1000 * fraction + 1e-9) / 10:g} %"


def decade(value: float) -> str:
    """1e-3 and not 0.001, 1e5 and not 100000."""
    return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def _method_table(rows: Sequence[MethodRow]) -> Grid:
    columns = ("method", "cases", "success", "honest", *HEADS, "MB")
    cells = [(r.method, str(r.cases), percent(r.success), percent(r.honesty), *map(milliseconds, r.times), r.peak) for r in rows]
    return Grid("", columns, cells, right=range(1, len(columns)))


def ranked(item: Ranking) -> list[tuple[Grid, str]]:
    """The table of the methods that are compared on all cases, and of those that compute some, each with what it compares."""
    tables = [(_ranks(item.mechanism, item.rows), item.sentence)]
    if item.partial:
        about = (
            "These compute only as many of the cases as stand beside them, which may be the easy ones: their means are not to be "
            f"compared with those above. The ratio is to {item.rows[0].method} on the same cases."
        )
        tables.append((_ranks(f"{item.mechanism}, some cases", item.partial), about))
    return tables


def _ranks(head: str, ranks: Sequence[Rank]) -> Grid:
    columns = (head, "cases", "solved", "mean, ms", "95 %", "to best", "95 % ")
    return Grid("", columns, list(map(_rank_cells, ranks)), right=range(1, len(columns)))


def advice(item: Ranking) -> str:
    """Which method to use: the fastest on these cases, the fastest that solves all, and what cannot be told apart from it."""
    cases, any_of = (f"these {item.cases} cases", "any of ") if item.cases > 1 else ("this one case", "")
    first, safe = item.fastest, item.safest
    if first is None:
        return f"{item.mechanism}: no method solves {any_of}{cases}."
    if first is safe:
        return f"{item.mechanism}: fastest on {cases}, and of those that solve all: {_named(first)}{_alike(item)}."
    text = f"{item.mechanism}: fastest on {cases}: {_named(first)}, which solves {first.solved}"
    return f"{text}; {f'fastest that solves all: {_named(safe)}' if safe else 'no method solves all'}."


def why(item: Ranking, records: Iterable[Record]) -> str:
    """Iterations of the first methods, and where their time goes: medians over the solves that returned a point."""
    groups = grouped((r for r in records if math.isfinite(r.feasibility)), attrgetter("method"))
    told = [_spent(rank.method, groups[rank.method]) for rank in item.rows[:WHY] if rank.method in groups]
    return f"Why: {'; '.join(told)}." if told else ""


def _spent(method: str, records: Sequence[Record]) -> str:
    counted = [record.iterations for record in records if record.iterations is not None]
    parts = {name: median(getattr(record, name) for record in records) for name in TIMES[:4]}
    whole = sum(parts.values())
    main = sorted(parts, key=parts.__getitem__, reverse=True)[:2]
    shares = [f"{name} {100 * parts[name] / whole:.0f} %" for name in main if parts[name] >= 0.01 * whole > 0]
    return f"{method} {', '.join([*([f'{median(counted):,.0f} iterations'] if counted else []), *shares])}"


def _named(rank: Rank) -> str:
    return f"{rank.method} ({milliseconds(rank.mean)} ms)"


def _alike(item: Ranking) -> str:
    """The other methods that solve all, whose ratio to the best chance may have made."""
    if item.cases < metrics.FEWEST:
        return "; too few cases to tell methods apart"
    close = [rank.method for rank in item.rows[1:] if rank.solved == item.cases and not rank.to_best.differs]
    return f"; not told apart from it: {', '.join(close)}" if close else ""


def _rank_cells(rank: Rank) -> tuple[str, ...]:
    """A row of a ranking as text."""
    best = rank.to_best
    spread = "-" if math.isnan(rank.low) else f"{milliseconds(rank.low)}-{milliseconds(rank.high)}"
    between = "-" if math.isnan(best.low) else f"{factor(best.low)}-{factor(best.high)}"
    return (rank.method, str(rank.cases), str(rank.solved), milliseconds(rank.mean), spread, behind(rank), between)


def behind(rank: Rank) -> str:
    """The ratio to the best; "-" where no case is common, and where neither solves any."""
    found = rank.to_best
    return factor(found.ratio) if found.cases and (rank.solved or found.ratio > 1) else "-"


def _row(method: str, records: Sequence[Record], contradicting: Container[str]) -> MethodRow:
    there = [r for r in records if math.isfinite(r.feasibility)]
    known = [honest and r.key not in contradicting for r in records if (honest := metrics.honest(r)) is not None]
    return MethodRow(
        method=method,
        cases=len({r.case for r in records}),
        runs=len(records),
        success=fmean(metrics.succeeded(r) and r.key not in contradicting for r in records),
        honesty=fmean(known) if known else math.nan,
        times=[median(getattr(r, name) for r in there) if there else math.nan for name in TIMES],
        peak_mb=max(r.peak_mb for r in records),
        split_badly=sum(map(metrics.split_badly, records)),
    )
