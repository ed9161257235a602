"""The one style of all figures: where they are drawn, colours, hatches, lines, names and legends.

Colours are those of Okabe and Ito (2008). With hatches, dashes and markers STYLES areas or lines differ without colour, too.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError, NotApplicable, NotInstalled, UnknownName, no_such, shown
from fairalloc.models.tables import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fairalloc.models.allocation import Allocation

STYLES = 24
"""So many areas, or lines, are told apart in one figure."""

BESIDE = 3
"""So many panels stand in a row."""

SMALL, LABEL = 10.5, 11.5
"""Sizes of the letters of names and numbers, and of the labels of axes, in points: they can be read at half the size."""

DARK, GREY = "0.15", "0.85"

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#F0E442", "#CC79A7", "#56B4E9", "#E69F00", "#BBBBBB")
DARK_COLOURS = ("#0072B2", "#009E73", "#D55E00")
HATCHES = ("", "///", "..", "\\\\\\", "xxx", "---", "o", "|||")
INKS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#E69F00", "#777777")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1.2)), (0, (8, 1.5, 1, 1.5, 1, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

FIGURE: dict[str, Any] = {
    "axes.prop_cycle": f"cycler(color={list(INKS)!r})",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelsize": SMALL,
    "axes.titlesize": LABEL,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}
"""Settings of Matplotlib (`plt.rcParams`) with which other figures look like these; a user's line has the colour of its areas."""

WIDEST = 2.4
"""Inches that a name in a legend may take."""

LEGEND: dict[str, Any] = {"fontsize": SMALL, "frameon": False, "handlelength": 2.6}

SAME = 1e-6
"""Numbers that differ by no more than this part of themselves are equal but for rounding."""

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def area(k: int) -> dict[str, Any]:
    """Colour, hatch and edge of the area number k; hatch and edge are white on dark colours.

    The colours of areas with the same hatch are 2 or 3 places apart, so that they differ in grey too.
    """
    number = len(COLOURS)
    colour = COLOURS[(k + 3 * (k // number)) % number]
    edge = "white" if colour in DARK_COLOURS else DARK
    return {"facecolor": colour, "hatch": HATCHES[k % number], "edgecolor": edge, "linewidth": 0.5}


def line(k: int) -> dict[str, Any]:
    """Colour, dash pattern and marker of the line number k; dashes and markers together differ for 40 of them."""
    number = len(INKS)
    ink = INKS[(k + 3 * (k // number)) % number]
    marker = {"marker": MARKERS[k % len(MARKERS)], "markersize": 4.5, "markerfacecolor": "white"}
    return {"color": ink, "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.6, **marker}


def lines(names: Iterable[str], order: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The styles of the names by their places in the order, () = by name; UnknownName where one has no place."""
    asked = sorted(set(names))
    places = {name: k for k, name in enumerate(order or asked)}
    if strange := [name for name in asked if name not in places]:
        raise UnknownName(no_such("method", strange[0], places, f"the order is {', '.join(places)}"))
    return {name: line(places[name]) for name in asked}


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of this size in inches, without pyplot; NotInstalled where Matplotlib is not installed."""
    pyplot()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def pyplot() -> Any:
    """Matplotlib's pyplot; NotInstalled where there is none."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise NotInstalled("figures need matplotlib: pip install fairalloc[plots]") from None
    return plt


def _figure(*size: float) -> Any:
    return pyplot().figure(figsize=size, layout="constrained")


def one_axes(ax: Any, width: float, height: float, solid: bool = False) -> "Axes":
    """The Axes given, or those of a new figure of this size in inches; in three dimensions where `solid`."""
    if ax is not None:
        return axes_given(ax, solid)
    new: Axes = _figure(width, height).add_subplot(projection="3d" if solid else None)
    return new


def one_axes_beside(ax: Any, width: float, names: list[str]) -> "Axes":
    """The Axes given, or new ones of this width in inches beside a legend of these names, and high enough for it."""
    return one_axes(ax, *size_beside(width, names))


def size_beside(width: float, names: list[str]) -> tuple[float, float]:
    """Width and height of a figure with Axes of this width beside a legend of these names."""
    beside = min(WIDEST, max((text_width(name) for name in names), default=0.0)) + 0.8
    return max(width, 2.5) + beside, max(4.0, 0.7 + 0.22 * len(names))


def several_axes(ax: Any, count: int, width: float, height: float) -> NDArray[Any]:
    """(count,) the Axes given, or those of a new figure with panels of this size in inches, at most BESIDE side by side."""
    if count == 0:
        raise InstanceError("there is nothing to draw: the figure would have no panel")
    if ax is None:
        columns, rows = min(count, BESIDE), -(-count // BESIDE)
        return grid_axes(_figure(columns * width, rows * height), [height] * rows, columns, count)
    given = np.ravel(np.array(ax, dtype=object))
    if len(given) != count:
        raise InstanceError(f"ax holds {len(given)} Axes, but the figure has {count} panels")
    for one in given:
        axes_given(one)
    return given


def grid_axes(figure: Any, heights: Sequence[float], columns: int, count: int) -> NDArray[Any]:
    """(count,) Axes of a figure in rows of these heights and in columns; the last Axes may stay empty."""
    every = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).ravel()
    for ax in every[count:]:
        ax.set_axis_off()
    return np.asarray(every[:count])


def axes_given(ax: Any, solid: bool = False) -> "Axes":
    """The value, which must be Matplotlib Axes, with three dimensions where `solid`; names and legends get room around them."""
    pyplot()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InstanceError(f"ax is {shown(ax)}, but it must be Axes of Matplotlib")
    if (ax.name == "3d") != solid:
        needed = 'three dimensions: subplot_kw={"projection": "3d"}' if solid else "two dimensions"
        raise InstanceError(f"ax has the projection {ax.name!r}, but this figure needs {needed}")
    figure = ax.figure.figure
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    return ax


def tidy(ax: Any, grid: str = "y", x: str = "", y: str = "") -> None:
    """No frame above and on the right, thin lines behind what is drawn, and the labels x and y."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(axis=grid, color=GREY, linewidth=0.6)
    ax.tick_params(labelsize=SMALL)
    ax.set_xlabel(x or ax.get_xlabel(), fontsize=LABEL)
    ax.set_ylabel(y or ax.get_ylabel(), fontsize=LABEL)


def steady(ax: "Axes") -> None:
    """The axis y from 0, as wide as any, where what is drawn differs by rounding alone."""
    low, high = ax.get_ylim()
    if high - low <= SAME * max(abs(low), abs(high)):
        ax.set_ylim(*sorted((0.0, 1.05 * high or 1.0)))


def require_point(item: "Allocation") -> None:
    """NotApplicable where an allocation has no tasks."""
    if not item.has_point:
        raise NotApplicable(f"the {item.mechanism or 'given'} allocation has no finite tasks, so there is nothing to draw")


def decades(axis: Any, low: float, high: float) -> None:
    """Numbers on a logarithmic axis from low to high: powers of ten, and 1, 2 and 5 times these where there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _power(value)))
    axis.set_minor_locator(NullLocator())


def _power(value: float) -> str:
    """A round number, short: 0.002, 50, 1e-4."""
    if 1e-3 <= value < 1e4:
        return f"{value:g}"
    return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def size_of(ax: "Axes") -> tuple[float, float]:
    """Width and height of the Axes in inches, once what has been drawn so far is laid out."""
    figure: Any = ax.figure.figure
    figure.draw_without_rendering()
    return float(ax.bbox.width / figure.dpi), float(ax.bbox.height / figure.dpi)


def text_width(text: str, size: float = SMALL) -> float:
    """Width of a text in inches; NotInstalled where Matplotlib is not installed."""
    pyplot()
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0] / 72)


def fitted(names: Iterable[str], inches: float, size: float = SMALL) -> list[str]:
    """The names, `printable`, the wider ones shortened by an ellipsis: at the end, or in the middle to keep them apart."""
    given = [printable(name) for name in names]
    cut = [_cut(name, inches, size, 1.0) for name in given]
    apart = cut if len(set(cut)) == len(set(given)) else [_cut(name, inches, size, 0.5) for name in given]
    return [name.replace("$", r"\$") for name in apart]  # Matplotlib would take what is between two for mathematics


def _cut(name: str, inches: float, size: float, front: float) -> str:
    """The longest name of the form front + ellipsis + end that is no wider; `front` is the part kept of the front."""
    if len(name) <= 1 or text_width(name, size) <= inches:
        return name
    keep = bisect_right(range(1, len(name)), inches, key=lambda keep: text_width(_short(name, keep, front), size))
    return _short(name, max(keep, 1), front)


def _short(name: str, keep: int, front: float) -> str:
    head = max(1, round(keep * front))
    return name[:head].rstrip() + ELLIPSIS + name[len(name) - (keep - head) :]


def name_ticks(ax: "Axes", at: Any, names: list[str], room: float) -> None:
    """A name below each place, upright where one is wider than `room` in units of the axis, and shortened beyond an inch."""
    inches = 0.92 * room * size_of(ax)[0] / np.ptp(ax.get_xlim())
    flat = all(text_width(name) <= inches for name in names)
    ax.set_xticks(at, fitted(names, inches if flat else 1.0), fontsize=SMALL, rotation=0 if flat else 90)
    ax.tick_params(axis="x", length=0)


def headings(ax: Any, at: Any, names: list[str]) -> None:
    """A name above each place, as labels of an axis of their own, so that a title stands above them."""
    top = ax.secondary_xaxis("top")
    top.set_xticks(at, names, fontsize=SMALL)
    top.tick_params(length=0)
    top.spines["top"].set_visible(False)


def legend(ax: Any, handles: Sequence[Any], names: Sequence[str], title: str = "") -> None:
    """A legend on the right of the Axes, in the upper left corner of a space, with names shortened beyond WIDEST."""
    corner = (0.0, 1.0) if ax.name == "3d" else (1.01, 1.0)
    where = {"loc": "upper left", "bbox_to_anchor": corner, "borderaxespad": 0.2, "title": title, "title_fontsize": SMALL}
    result = ax.legend(handles, [str(k) for k in range(len(names))], **where, **LEGEND)
    for text, name in zip(result.get_texts(), fitted(names, WIDEST), strict=True):  # set here, so that "_name" is shown too
        text.set_text(name)
