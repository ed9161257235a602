"""The figures of a report by name: panels for the page, or all panels in one file.

| name | what it shows |
| --- | --- |
| profile | for each mechanism the part of the cases that a method solves within a factor of the fastest |
| data-profile | the part that it solves within so many seconds |
| pareto | time against verified residual, and the front |
| traces | for each mechanism with traces how the algorithms' own measures fall with time, on one case |
| memory | peak memory of the methods |
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from fairalloc.analysis.plots import measured, style
from fairalloc.analysis.plots.profiles import data_profiles, performance_profiles, svg_element, svg_text
from fairalloc.benchmarks import metrics
from fairalloc.benchmarks.ranking import pareto
from fairalloc.benchmarks.records import Record
from fairalloc.benchmarks.report import Summary
from fairalloc.benchmarks.suites.suite import BenchmarkError
from fairalloc.models.errors import NotApplicable, UnknownName, no_such

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ENDINGS", "FIGURES", "Panel", "element", "legend", "panels_of", "write_figure"]

WIDTH, HEIGHT = 4.0, 3.1
"""Of a panel, in inches."""

ENDINGS: Mapping[str, Mapping[str, Any]] = {".svg": {}, ".png": {}, ".pdf": {"CreationDate": None}}
"""For each ending of a file what leaves the date out."""


@dataclass(frozen=True)
class Panel:
    """A part of a figure.

    Attributes
    ----------
    title : above it
    methods : that have a line in it, and so a place in the legend
    draw : draws it on Axes, without a legend
    height : in inches
    """

    title: str
    methods: tuple[str, ...]
    draw: Callable[[Any], object]
    height: float = HEIGHT


def _profiles(summary: Summary, mechanism: str) -> list[Panel]:
    return _curves(summary, mechanism, metrics.profile, performance_profiles)


def _data_profiles(summary: Summary, mechanism: str) -> list[Panel]:
    return _curves(summary, mechanism, metrics.data_profile, data_profiles)


def _curves(summary: Summary, mechanism: str, values: Callable[..., Any], draw: Callable[..., Any]) -> list[Panel]:
    found = values(summary.by_mechanism[mechanism], summary.target)
    if not any(value < float("inf") for own in found.values() for value in own):
        return []
    return [Panel(mechanism, tuple(found), lambda ax: draw({mechanism: found}, [ax], order=summary.methods, key=False))]


def _fronts(summary: Summary, mechanism: str) -> list[Panel]:
    points: dict[str, list[tuple[float, float]]] = {}
    for point in pareto(summary.by_mechanism[mechanism]):
        if point.residual < float("inf"):
            points.setdefault(point.method, []).append((point.seconds, point.residual))
    draw = partial(measured.front, points, order=summary.methods, key=False)
    return [Panel(mechanism, tuple(points), draw)] if points else []


def _traces(summary: Summary, mechanism: str) -> list[Panel]:
    """The case with traces of the most methods."""
    traced: dict[str, dict[str, Record]] = {}
    for record in summary.by_mechanism[mechanism]:
        if record.trace:
            traced.setdefault(record.case, {}).setdefault(record.method, record)
    if not traced:
        return []
    case = max(traced, key=lambda name: len(traced[name]))
    found = {method: record.trace for method, record in traced[case].items()}
    return [Panel(case, tuple(found), partial(measured.histories, found, order=summary.methods, key=False))]


def _memory(summary: Summary) -> list[Panel]:
    peaks: dict[str, list[float]] = {}
    for record in summary.records:
        if record.peak_mb:
            peaks.setdefault(record.method, []).append(record.peak_mb)
    found = {method: (median(values), max(values)) for method, values in peaks.items()}
    return [Panel("", (), partial(measured.memory, found), 1.0 + 0.24 * len(found))] if found else []


BY_MECHANISM: Mapping[str, Callable[[Summary, str], list[Panel]]] = {
    "profile": _profiles,
    "data-profile": _data_profiles,
    "pareto": _fronts,
    "traces": _traces,
}

FIGURES = (*BY_MECHANISM, "memory")
"""The names of all figures."""


def panels_of(summary: Summary, name: str, mechanism: str | None = None) -> list[Panel]:
    """The panels of a figure.

    Parameters
    ----------
    summary : of a run
    name : of the figure
    mechanism : whose panels are wanted; None = all

    Raises
    ------
    UnknownName : there is no such figure
    """
    if name not in FIGURES:
        raise UnknownName(no_such("figure", name, FIGURES))
    if name == "memory":
        return _memory(summary)
    wanted = list(summary.by_mechanism) if mechanism is None else [mechanism]
    return [panel for item in wanted for panel in BY_MECHANISM[name](summary, item)]


def element(panel: Panel) -> str:
    """A panel as an svg element."""
    figure = style.new_figure(WIDTH if panel.methods else 1.6 * WIDTH, panel.height)
    _draw(panel, figure.add_subplot())
    return svg_element(figure)


def legend(summary: Summary, panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """(svg element, name) of every method of the panels."""
    shown = {method for panel in panels for method in panel.methods}
    return [(_swatch(k), name) for k, name in enumerate(summary.methods) if name in shown]


@cache
def _swatch(k: int) -> str:
    return svg_element(measured.swatch(k))


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
    BenchmarkError : the file's name has another ending, or the file cannot be written
    NotApplicable : there is nothing to draw, as where a suite keeps no traces
    NotInstalled : Matplotlib is not there
    """
    path = Path(file)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise BenchmarkError(f"the figure is to be written to {str(file)!r}, but its name must end in {', '.join(ENDINGS)}")
    found = panels_of(summary, name)
    if not found:
        raise NotApplicable(f"the figure {name!r} has nothing to show for the suite {summary.run.suite!r}")
    figure = composed(summary, found)
    try:
        if ending == ".svg":
            path.write_text(svg_text(figure), encoding="utf-8")
        else:
            figure.savefig(path, metadata=dict(ENDINGS[ending]), dpi=150)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be written: {error.strerror or error}") from None


def composed(summary: Summary, found: Sequence[Panel]) -> "Figure":
    """All panels in one figure, with one legend below."""
    shown = [name for name in summary.methods if any(name in panel.methods for panel in found)]
    width = WIDTH if shown else 1.6 * WIDTH
    columns = min(len(found), style.BESIDE)
    beside = max(1, int(columns * width / (style.WIDEST + 0.9)))
    rows, lines = -(-len(found) // style.BESIDE), -(-len(shown) // beside)
    below = 0.24 * lines + 0.2 if shown else 0.0
    figure = style.new_figure(columns * width, rows * found[0].height + below)
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, below / figure.get_figheight(), 1, 1 - below / figure.get_figheight()), h_pad=0.08, w_pad=0.08)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, panel in zip(axes, found, strict=False):
        _draw(panel, ax)
    for ax in axes[len(found) :]:
        ax.set_axis_off()
    if shown:
        _legend_below(figure, shown, summary.methods, beside)
    return figure


def _legend_below(figure: "Figure", shown: Sequence[str], order: Sequence[str], columns: int) -> None:
    from matplotlib.lines import Line2D

    looks = style.lines(order)
    figure.legend(
        [Line2D([], [], **looks[name]) for name in shown],
        style.fitted(shown, style.WIDEST),
        loc="lower center",
        ncols=columns,
        fontsize=style.SMALL,
        frameon=False,
        handlelength=2.6,
        borderaxespad=0.0,
    )


def _draw(panel: Panel, ax: Any) -> None:
    panel.draw(ax)
    if panel.title:
        (title,) = style.fitted([panel.title], WIDTH - 0.4, style.LABEL)
        ax.set_title(title, fontsize=style.LABEL)
