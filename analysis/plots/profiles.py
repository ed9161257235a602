"""Performance profiles (Dolan and More 2002): the fraction of cases that a method solves within a factor of the fastest one.

For ratios r_c = t_c / (smallest t_c of all methods) on n cases, inf where the method fails, the curve is

    rho(f) = |{c : r_c <= f}| / n,    f >= 1
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots import style
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["performance_profiles", "size", "steps", "svg_element"]

# What makes the same figure the same bytes, with text as text.
_SVG = {"svg.hashsalt": "fairalloc", "svg.fonttype": "none"}


def performance_profiles(
    panels: Mapping[str, Mapping[str, Sequence[float]]], ax: "Sequence[Axes] | NDArray[Any] | None" = None
) -> NDArray[Any]:
    """One panel for each title, with a curve for each method: `panels[title][method]` holds the ratios r_c, inf for a failure."""
    axes = style.several_axes(ax, len(panels), *size(panels))
    methods = sorted({method for ratios in panels.values() for method in ratios})
    styles = {method: style.line(k) for k, method in enumerate(methods)}
    for one, (title, ratios) in zip(axes, panels.items(), strict=True):
        one.set_title(title, fontsize=style.LABEL)
        one.set(xscale="log", ylim=(-0.02, 1.02))
        one.set_xlabel("factor of the fastest", fontsize=style.LABEL)
        one.set_ylabel("cases solved", fontsize=style.LABEL)
        _draw(one, ratios, styles)
    return axes


def size(panels: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[float, float]:
    """Width and height of a panel in inches."""
    return style.size_beside(4.0, max(map(sorted, panels.values()), key=len))


def _draw(ax: Any, ratios: Mapping[str, Sequence[float]], styles: Mapping[str, Mapping[str, Any]]) -> None:
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    largest = max((r for values in ratios.values() for r in values if np.isfinite(r)), default=1.0)
    handles = []
    for k, (method, values) in enumerate(sorted(ratios.items())):
        factors, solved = steps(values, 1.2 * largest)
        look = {**styles[method], "markevery": (k / len(ratios) / 5, 0.2)}
        handles += ax.plot(factors, solved, drawstyle="steps-post", label=method, **look)
    style.tidy(ax)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if largest < 100 else (1.0,)))
    ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    style.legend(ax, handles, sorted(ratios))


def steps(ratios: Iterable[float], end: float) -> tuple[Floats, Floats]:
    """The factors at which rho rises, from 1 to `end`, and its values from there on."""
    values = np.sort(np.array(list(ratios), dtype=float))
    finite = values[np.isfinite(values)]
    solved = np.arange(len(finite) + 1) / len(values)
    return np.concatenate([[1.0], finite, [end]]), np.append(solved, solved[-1])


def svg_element(figure: "Figure") -> str:
    """The bare svg element of a figure: in HTML it needs no declarations, which would name outside addresses."""
    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context(_SVG):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    element = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", element)
