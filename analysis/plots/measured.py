"""What was measured of solvers: profiles, time, accuracy, residuals over time, and memory. Plain numbers in, Axes out.

For times t_c on n cases, inf where the method fails, and ratios r_c = t_c / (smallest t_c of all methods), the profiles are

    rho(f)   = |{c : r_c <= f}| / n,    f >= 1      performance profile (Dolan and More 2002)
    delta(t) = |{c : t_c <= t}| / n,    t > 0       data profile (More and Wild 2009), here in seconds
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots import style
from fairalloc.analysis.plots.panels import hint
from fairalloc.models.arguments import checked
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]
"""For each method points of its curve."""

Profiles: TypeAlias = Mapping[str, Mapping[str, Sequence[float]]]
"""For each panel by its title the values of each method, inf for a failure."""

EXACT, FAR = 1e-17, 1e99
"""Where residuals of 0, and those beyond it, stand on a logarithmic axis."""


@checked
def front(points: Points, ax: "Axes | None" = None, *, order: Sequence[str] = (), key: bool = True) -> "Axes":
    """Time against verified residual, and the Pareto front: the points than which none is both faster and more accurate.

    A residual of 0 is drawn at 1e-17.

    Parameters
    ----------
    points : for each method (seconds, residual) of each accuracy it was asked for; without a finite residual it is left out
    ax : Axes to draw on, None = a new figure
    order : all methods in the order of the 24 styles; () = those given by name
    key : whether there is a legend beside it

    Examples
    --------
    >>> axes = front({"fast": [(0.01, 1e-4)], "slow": [(0.1, 1e-9)], "neither": [(0.2, 1e-3)]})
    >>> axes.lines[-1].get_xdata().tolist()
    [0.01, 0.1]
    """
    shown = {method: sorted(p for p in own if np.isfinite(p[1])) for method, own in points.items()}
    told = {method: ", ".join(f"{seconds:.3g} s to {residual:.1e}" for seconds, residual in own) for method, own in shown.items()}
    given: dict[str, Any] = {"order": order, "key": key, "told": told, "measure": "largest residual"}
    ax = curves(shown, ax, **given, markersize=6.5, linewidth=0.8, zorder=3)
    if best := _front([point for own in shown.values() for point in own]):
        look: dict[str, Any] = {"drawstyle": "steps-post", "color": style.GREY, "linewidth": 3.0, "zorder": 1}
        ax.plot(*_visible(best), gid=hint("Pareto front"), **look)
    return ax


def _visible(points: Sequence[tuple[float, float]]) -> Floats:
    """(2, points) what is on the right, at least 1e-6, and what is measured, from EXACT to FAR."""
    return np.asarray(np.clip(np.array(points).T, [[1e-6], [EXACT]], FAR))


def _front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for seconds, residual in sorted(points):
        if not found or residual < found[-1][1]:
            found.append((seconds, residual))
    return found


def curves(
    points: Points,
    ax: "Axes | None",
    *,
    order: Sequence[str],
    key: bool,
    told: Mapping[str, str],
    measure: str,
    across: str = "seconds",
    **look: Any,
) -> "Axes":
    """A line for each method through its points (seconds, what is measured), if it has any, on logarithmic axes.

    The labels are `measure` upwards and `across`. A browser shows what is `told` of a method where one points at its line.
    """
    shown = {method: _visible(own) for method, own in sorted(points.items()) if len(own)}
    ax = style.one_axes_beside(ax, 4.0, list(shown)) if key else style.one_axes(ax, 4.0, 3.2)
    styles, handles = style.lines(shown, order), []
    for method, own in shown.items():
        handles += ax.plot(*own, label=method, gid=hint(f"{method}: {told[method]}"), **styles[method] | look)
    style.tidy(ax, "both", across, measure)
    ax.set(xscale="log", yscale="log")
    style.decades(ax.xaxis, *ax.get_xlim())
    style.decades(ax.yaxis, *ax.get_ylim())
    if key and handles:
        style.legend(ax, handles, list(shown))
    return ax


@checked
def memory(peaks: Mapping[str, tuple[float, float]], ax: "Axes | None" = None) -> "Axes":
    """The memory that methods take, (median, largest) peaks in MB: a bar to the largest, and a mark at the median one.

    Examples
    --------
    >>> axes = memory({"one": (120.0, 200.0), "two": (90.0, 91.0)})
    >>> [float(bar.get_width()) for bar in axes.patches]
    [91.0, 200.0]
    """
    names = sorted(peaks, key=lambda name: (peaks[name][1], name))
    ax = style.one_axes(ax, 6.4, 1.0 + 0.24 * len(names))
    for k, name in enumerate(names):
        half, most = peaks[name]
        ax.barh(k, most, 0.7, color=style.COLOURS[5], gid=hint(f"{name}: median {half:,.0f} MB, largest {most:,.0f} MB"))
        ax.plot([half, half], [k - 0.35, k + 0.35], color=style.DARK, linewidth=2.0)
    style.tidy(ax, "x", "peak memory, MB (bar: largest, mark: median)")
    return _named_rows(ax, names)


@checked
def intervals(means: Mapping[str, tuple[float, float, float]], ax: "Axes | None" = None) -> "Axes":
    """Mean seconds of methods, (mean, low, high): a mark at the mean, and a line from low to high where these differ.

    Examples
    --------
    >>> axes = intervals({"one": (0.2, 0.1, 0.3), "two": (0.1, 0.1, 0.1)})
    >>> axes.lines[0].get_xdata().tolist()
    [0.2]
    """
    names = list(means)
    ax = style.one_axes(ax, 6.4, 1.0 + 0.24 * len(names))
    for k, (name, (mean, low, high)) in enumerate(means.items()):
        between = f", 95 %: {low:.3g} to {high:.3g} s" if low < high else ""
        ax.plot([mean], [k], "o", color=style.INKS[0], markersize=5.0, gid=hint(f"{name}: {mean:.3g} s{between}"))
        if low < high:
            ax.plot([low, high], [k, k], color=style.INKS[0], linewidth=2.0)
    style.tidy(ax, "x", "mean seconds (mark) and its 95 % interval (line)")
    ax.set_xscale("log")
    style.decades(ax.xaxis, *ax.get_xlim())
    return _named_rows(ax, names)


def _named_rows(ax: "Axes", names: list[str]) -> "Axes":
    """The Axes with the names of rows on the left, the first one on top."""
    ax.set_yticks(range(len(names)), style.fitted(names, style.WIDEST), fontsize=style.SMALL)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    return ax


@checked
def performance_profiles(
    panels: Profiles, ax: "Sequence[Axes] | NDArray[Any] | None" = None, *, order: Sequence[str] = (), key: bool = True
) -> NDArray[Any]:
    """How often a method is how close to the fastest: one panel for each title, with a curve for each method.

    Parameters
    ----------
    panels : `panels[title][method]` holds the ratios r_c, inf for a failure
    ax : as many Axes, or None = a new figure
    order : all methods in the order of the 24 styles; () = those of the panels by name
    key : whether each panel has a legend beside it
    """
    return _profiles(panels, ax, order, key, "factor of the fastest", "{:.3g} times the fastest", 1.0)


@checked
def data_profiles(
    panels: Profiles, ax: "Sequence[Axes] | NDArray[Any] | None" = None, *, order: Sequence[str] = (), key: bool = True
) -> NDArray[Any]:
    """How many cases a method solves in how many seconds: one panel for each title, with a curve for each method.

    Parameters
    ----------
    panels : `panels[title][method]` holds the seconds t_c, inf for a failure
    ax, order, key : as in `performance_profiles`
    """
    return _profiles(panels, ax, order, key, "seconds", "{:.3g} s", None)


def _profiles(
    panels: Profiles, ax: Any, order: Sequence[str], key: bool, label: str, written: str, begin: float | None
) -> NDArray[Any]:
    """The curves over an axis with this label, whose values hints write like this; it begins at the least one where None."""
    axes = style.several_axes(ax, len(panels), *size(panels))
    styles = style.lines((method for values in panels.values() for method in values), order)
    for one, (title, values) in zip(axes, panels.items(), strict=True):
        one.set_title(*style.fitted([title], 4.0, style.LABEL), fontsize=style.LABEL)
        one.set(xscale="log", ylim=(-0.02, 1.02))
        style.tidy(one, x=label, y="part of cases solved")
        handles = _draw_profiles(one, values, styles, written, begin)
        if key:
            style.legend(one, handles, sorted(values))
    return axes


def size(panels: Profiles) -> tuple[float, float]:
    """Width and height of a panel with its legend in inches."""
    return style.size_beside(4.0, max(map(sorted, panels.values()), key=len, default=[]))


def _draw_profiles(
    ax: Any, panel: Mapping[str, Sequence[float]], styles: Mapping[str, Any], written: str, begin: float | None
) -> list[Any]:
    finite = [v for values in panel.values() for v in values if np.isfinite(v)]
    begin = begin or 0.8 * min(finite, default=1.0)
    end = 1.2 * max(finite, default=begin)
    handles = []
    for k, (method, values) in enumerate(sorted(panel.items())):
        at, solved = steps(values, end, begin)
        look = {**styles[method], "markevery": (k / len(panel) / 5, 0.2)}
        handles += ax.plot(at, solved, drawstyle="steps-post", label=method, gid=hint(_told(method, values, written)), **look)
    style.decades(ax.xaxis, begin, end)
    return handles


def _told(method: str, values: Sequence[float], written: str) -> str:
    solved = np.sort([v for v in values if np.isfinite(v)])
    if not len(solved):
        return f"{method}: solves none of {len(values)}"
    half, most = (written.format(solved[k]) for k in ((len(solved) - 1) // 2, -1))
    return f"{method}: solves {len(solved)} of {len(values)}; half of these within {half}, all within {most}"


def steps(values: Iterable[float], end: float, begin: float = 1.0) -> tuple[Floats, Floats]:
    """The values at which a curve rises, from `begin` to `end`, and the part of all that is solved from there on."""
    everything = np.sort(np.array(list(values), dtype=float))
    finite = everything[np.isfinite(everything)]
    solved = np.arange(len(finite) + 1) / max(1, len(everything))
    return np.concatenate([[begin], finite, [end]]), np.append(solved, solved[-1])
