"""The figures of a report by name: panels for the page, or all panels in one file.

| name | what it shows |
| --- | --- |
| accuracy | for each mechanism the time to a residual of 1e-1 .. 1e-8, the median of the common cases |
| intervals | for each mechanism the mean time of each method, with its 95 % interval |
| profile | for each mechanism the part of the cases that a method solves within a factor of the fastest |
| data-profile | the part that it solves within so many seconds |
| pareto | time against verified residual, and the front |
| loss | time against the worst and the mean part of their exact share that users have, where an approximation was asked |
| traces | for each mechanism how the algorithms' own measures fall with time, on one case at the highest accuracy |
| growth | for each mechanism CPU seconds by decade of arcs, the median over the families where most have a verified answer |
| memory | peak memory of the methods |
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import isnan
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any

from fairalloc.analysis.plots import measured, panels
from fairalloc.analysis.plots.measured import data_profiles, performance_profiles
from fairalloc.analysis.plots.panels import Panel
from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.accuracy import losses, reached
from fairalloc.benchmarks.growth import medians_by_decade
from fairalloc.benchmarks.ranking import pareto, ranking
from fairalloc.benchmarks.report import Summary
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, UnknownName, no_such


def _curves(values: Callable[..., Any], draw: Callable[..., Any], summary: Summary, mechanism: str) -> list[Panel]:
    found = values(summary.by_mechanism[mechanism], summary.target)
    if not any(value < float("inf") for own in found.values() for value in own):
        return []
    return [Panel(mechanism, tuple(found), lambda ax: draw({mechanism: found}, [ax], order=summary.methods, key=False))]


def _points(title: str, points: Mapping[str, Any], draw: Callable[..., Any], summary: Summary) -> list[Panel]:
    """A panel of what each method has; none where no method has anything."""
    return [Panel(title, tuple(points), partial(draw, points, order=summary.methods, key=False))] if points else []


def _accuracy(summary: Summary, mechanism: str) -> list[Panel]:
    points = {one.method: one.points for one in reached(summary.by_mechanism[mechanism]) if one.points}
    told = {m: ", ".join(f"{residual:.0e} after {spent:.3g} s" for spent, residual in own) for m, own in points.items()}
    return _points(mechanism, points, partial(measured.curves, told=told, measure="largest residual"), summary)


def _intervals(summary: Summary, mechanism: str) -> list[Panel]:
    rows = ranking(mechanism, summary.by_mechanism[mechanism], summary.target).rows
    ends = [(rank.mean, rank.mean) if isnan(rank.low) else (rank.low, rank.high) for rank in rows]
    means = {rank.method: (rank.mean, *end) for rank, end in zip(rows, ends, strict=True) if rank.solved}
    return [Panel(mechanism, (), partial(measured.intervals, means), 1.1 + 0.24 * len(means))] if len(means) > 1 else []


def _fronts(summary: Summary, mechanism: str) -> list[Panel]:
    found = [point for point in pareto(summary.by_mechanism[mechanism]) if point.residual < float("inf")]
    groups = metrics.grouped(found, attrgetter("method"))
    points = {method: [(point.seconds, point.residual) for point in own] for method, own in groups.items()}
    return _points(mechanism, points, measured.front, summary)


def _losses(summary: Summary, mechanism: str) -> list[Panel]:
    """A line from the worst part to the mean one."""
    found = losses(summary, mechanism)
    points = {one.method: [(one.seconds, one.worst), (one.seconds, one.mean)] for one in found}
    told = {one.method: f"{one.seconds:.3g} s, worst {one.worst:.3g}, mean {one.mean:.3g}" for one in found}
    about: dict[str, Any] = {"told": told, "measure": "part of the exact share", "across": "processor seconds"}
    look: dict[str, Any] = {"markersize": 6.5, "linewidth": 1.2, "linestyle": "-"}

    def draw(points: Mapping[str, Any], ax: Any, **given: Any) -> None:
        measured.curves(points, ax=ax, **about, **look, **given).set(yscale="linear", ylim=(0.0, None))

    return _points(mechanism, points, draw, summary)


def _traces(summary: Summary, mechanism: str) -> list[Panel]:
    """The case with traces of the most methods, each at the highest accuracy it was asked for."""
    traced: dict[str, dict[str, Any]] = {}
    for record in sorted(summary.by_mechanism[mechanism], key=attrgetter("tolerance")):
        if record.trace:
            traced.setdefault(record.case, {}).setdefault(record.method, record.trace)
    case, found = max(traced.items(), key=lambda item: len(item[1]), default=("", {}))
    told = {method: f"{own[-1][1]:.1e} after {own[-1][0]:.3g} s" for method, own in found.items()}
    return _points(case, found, partial(measured.curves, told=told, measure="its own measure", markevery=0.15), summary)


def _growth(summary: Summary, mechanism: str) -> list[Panel]:
    found = medians_by_decade(summary, mechanism)
    points = {method: [(arcs, max(spent, 1e-6)) for arcs, spent in own] for method, own in found.items()}
    told = {method: ", ".join(f"{spent:.3g} s at {arcs:.0e}" for arcs, spent in own) for method, own in found.items()}
    return _points(mechanism, points, partial(measured.curves, told=told, measure="seconds", across="arcs"), summary)


def _memory(summary: Summary) -> list[Panel]:
    groups = metrics.grouped((r for r in summary.records if r.peak_mb), attrgetter("method"))
    peaks = {method: [record.peak_mb for record in own] for method, own in groups.items()}
    found = {method: (median(values), max(values)) for method, values in peaks.items()}
    return [Panel("", (), partial(measured.memory, found), 1.0 + 0.24 * len(found))] if found else []


BY_MECHANISM: Mapping[str, Callable[[Summary, str], list[Panel]]] = {
    "accuracy": _accuracy,
    "intervals": _intervals,
    "profile": partial(_curves, metrics.profile, performance_profiles),
    "data-profile": partial(_curves, metrics.data_profile, data_profiles),
    "pareto": _fronts,
    "loss": _losses,
    "traces": _traces,
    "growth": _growth,
}

FIGURES = (*BY_MECHANISM, "memory")
"""The names of all figures."""


def panels_of(summary: Summary, name: str, mechanism: str | None = None) -> list[Panel]:
    """The panels of a figure, of one mechanism or all; UnknownName where there is no such figure."""
    if name not in FIGURES:
        raise UnknownName(no_such("figure", name, FIGURES))
    if name == "memory":
        return _memory(summary)
    wanted = list(summary.by_mechanism) if mechanism is None else [mechanism]
    return [panel for item in wanted for panel in BY_MECHANISM[name](summary, item)]


@checked
def write_figure(summary: Summary, name: str, file: str | Path) -> None:
    """Write all panels of a figure into one file, at most three in a row, with the legend below.

    Parameters
    ----------
    summary : of a run
    name : one of FIGURES
    file : its name ends in .svg, .png or .pdf

    Raises
    ------
    UnknownName : there is no such figure
    InstanceError : the file's name has another ending, or the file cannot be written
    NotApplicable : there is nothing to draw, as where a suite keeps no traces
    NotInstalled : Matplotlib is not there
    """
    found = panels_of(summary, name)
    if not found:
        raise NotApplicable(f"the figure {name!r} has nothing to show for the suite {summary.run.suite!r}")
    panels.write_panels(summary.methods, found, file)
