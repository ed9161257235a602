"""Profiles: the fraction of cases that a method solves within a factor of the fastest one, or within a time.

For times t_c on n cases, inf where the method fails, and ratios r_c = t_c / (smallest t_c of all methods), the curves are

    rho(f)   = |{c : r_c <= f}| / n,    f >= 1      performance profile (Dolan and More 2002)
    delta(t) = |{c : t_c <= t}| / n,    t > 0       data profile (More and Wild 2009), here in seconds
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots import style
from fairalloc.models.arguments import checked
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SVG = {"svg.hashsalt": "fairalloc", "svg.fonttype": "none"}  # the same figure is the same bytes, with text as text
_HINT = "hint: "

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold."""


@checked
def performance_profiles(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    ax: "Sequence[Axes] | NDArray[Any] | None" = None,
    *,
    order: Sequence[str] = (),
    key: bool = True,
) -> NDArray[Any]:
    """How often a method is how close to the fastest: one panel for each title, with a curve for each method.

    Parameters
    ----------
    panels : `panels[title][method]` holds the ratios r_c, inf for a failure
    ax : as many Axes, or None = a new figure
    order : all methods in the order of the 24 styles; () = those of the panels by name
    key : whether each panel has a legend beside it
    """
    return _curves(panels, ax, order, key, "factor of the fastest", "{:.3g} times the fastest", 1.0)


@checked
def data_profiles(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    ax: "Sequence[Axes] | NDArray[Any] | None" = None,
    *,
    order: Sequence[str] = (),
    key: bool = True,
) -> NDArray[Any]:
    """How many cases a method solves in how many seconds: one panel for each title, with a curve for each method.

    Parameters
    ----------
    panels : `panels[title][method]` holds the seconds t_c, inf for a failure
    ax, order, key : as in `performance_profiles`
    """
    return _curves(panels, ax, order, key, "seconds", "{:.3g} s", None)


def _curves(
    panels: Mapping[str, Any], ax: Any, order: Sequence[str], key: bool, label: str, written: str, begin: float | None
) -> NDArray[Any]:
    """The curves over an axis with this label, whose values hints write like this; it begins at the least one where None."""
    axes = style.several_axes(ax, len(panels), *size(panels))
    styles = style.lines((method for values in panels.values() for method in values), order)
    for one, (title, values) in zip(axes, panels.items(), strict=True):
        one.set_title(*style.fitted([title], 4.0, style.LABEL), fontsize=style.LABEL)
        one.set(xscale="log", ylim=(-0.02, 1.02))
        style.tidy(one, x=label, y="part of cases solved")
        handles = _draw(one, values, styles, written, begin)
        if key:
            style.legend(one, handles, sorted(values))
    return axes


def size(panels: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[float, float]:
    """Width and height of a panel with its legend in inches."""
    return style.size_beside(4.0, max(map(sorted, panels.values()), key=len, default=[]))


def _draw(
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


def hint(text: str) -> str:
    """The id of what is drawn from which `svg_text` makes the text that a browser shows where one points at it."""
    return _HINT + text


def svg_text(figure: "Figure") -> str:
    """A figure as an SVG document, the same text for the same figure, with hints as title elements."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file, canvas, dpi = io.StringIO(), figure.canvas, figure.dpi
    try:
        with matplotlib.rc_context(_SVG):  # not savefig, which draws twice: once for the layout
            FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None, "Creator": None})
    finally:
        figure.set_canvas(canvas)
        figure.set_dpi(dpi)
    svg = _NO_XML.sub("\ufffd", file.getvalue())
    for name, place in re.findall(r'<clipPath id="(\w+)">(.*?)</clipPath>', svg, re.DOTALL):  # named by what is printed
        svg = svg.replace(name, f"p{sha256(place.encode()).hexdigest()[:10]}")
    svg = re.sub(rf'<g id="{_HINT}([^"]*)">', r"<g><title>\1</title>", svg)
    return re.sub(r'<g id="[^"]*">', "<g>", svg)


def svg_element(figure: "Figure") -> str:
    """The bare svg element of a figure: in HTML it needs no declarations, which would name outside addresses."""
    svg = svg_text(figure)
    element = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", element)
