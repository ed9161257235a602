"""Performance profiles (Dolan and More 2002): the fraction of cases that a method solves within a factor of the fastest one.

For ratios r_c = t_c / (smallest t_c of all methods) on n cases, inf where the method fails, the curve is

    rho(f) = |{c : r_c <= f}| / n,    f >= 1
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.analysis.plots.figure import new_figure
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["performance_profiles", "steps", "svg_element"]

# Colour and dash, which differ without colour too.
_LINES = ("C0-", "C1--", "C2-.", "C3:", "C4-", "C5--", "C6-.", "C7:", "C8-", "C9--")
# What makes the same figure the same bytes, with text as text.
_SVG = {"svg.hashsalt": "fairalloc", "svg.fonttype": "none"}


def performance_profiles(panels: Mapping[str, Mapping[str, Sequence[float]]]) -> "Figure":
    """One panel for each title, with a curve for each method: `panels[title][method]` holds the ratios r_c, inf for a failure."""
    figure = new_figure(4.0 * len(panels), 3.6)
    import matplotlib

    methods = sorted({method for ratios in panels.values() for method in ratios})
    styles = dict(zip(methods, cycle(_LINES), strict=False))
    with matplotlib.rc_context({"font.size": 9}):
        for axes, (title, ratios) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
            axes.set(title=title, xscale="log", ylim=(-0.02, 1.02), xlabel="factor of the fastest", ylabel="cases solved")
            _draw(axes, ratios, styles)
    return figure


def _draw(axes: Any, ratios: Mapping[str, Sequence[float]], styles: Mapping[str, str]) -> None:
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    largest = max((r for values in ratios.values() for r in values if np.isfinite(r)), default=1.0)
    for method, values in sorted(ratios.items()):
        factors, solved = steps(values, 1.2 * largest)
        axes.step(factors, solved, styles[method], where="post", label=method)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if largest < 100 else (1.0,)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(loc="lower right")


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
