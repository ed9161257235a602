"""Panels: the parts of a figure whose lines have one style and one legend together, on a page or in a file."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairalloc.analysis.plots import style
from fairalloc.models.errors import InstanceError, callers
from fairalloc.models.files.writing import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.0, 3.1
"""Of a panel, in inches."""

ENDINGS: Mapping[str, Mapping[str, Any]] = {".svg": {}, ".png": {}, ".pdf": {"CreationDate": None}}
"""For each ending of a file what leaves the date out."""

_SVG = {"svg.hashsalt": "fairalloc", "svg.fonttype": "none"}  # the same figure is the same bytes, with text as text
_HINT = "hint: "

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold."""


@dataclass(frozen=True)
class Panel:
    """A part of a figure: its title, names in the legend, what draws it, its height in inches, its width where there are none."""

    title: str
    names: tuple[str, ...]
    draw: Callable[[Any], object]
    height: float = HEIGHT
    width: float = 1.6 * WIDTH


def element(panel: Panel) -> str:
    figure = style.new_figure(WIDTH if panel.names else panel.width, panel.height)
    _draw(panel, figure.add_subplot())
    return svg_element(figure)


def legend(order: Sequence[str], panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """(svg element, name) of every name of the panels; `order` are all names in the order of the styles."""
    shown = {name for panel in panels for name in panel.names}
    return [(_swatch(k), name) for k, name in enumerate(order) if name in shown]


@cache
def _swatch(k: int) -> str:
    figure = style.new_figure(0.5, 0.16)
    figure.set_layout_engine("none")
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    ax.set(xlim=(0, 2), ylim=(-1, 1))
    ax.plot([0.05, 1.0, 1.95], [0, 0, 0], markevery=[1], **style.line(k))
    return svg_element(figure)


def write_panels(order: Sequence[str], panels: Sequence[Panel], file: str | Path) -> None:
    """Write panels, at least one, into one file; `order` are all names in the order of the styles."""
    if Path(file).suffix.lower() not in ENDINGS:
        raise InstanceError(f"the figure is to be written to {str(file)!r}, but its name must end in {', '.join(ENDINGS)}")
    write_figure(composed(order, panels), file)


def write_figure(figure: "Figure", file: str | Path) -> None:
    """Write a figure into a file whose name has one of ENDINGS; InstanceError where it cannot be written."""
    ending = Path(file).suffix.lower()
    drawn = io.BytesIO()
    if ending != ".svg":
        figure.savefig(drawn, format=ending[1:], metadata=dict(ENDINGS[ending]), dpi=150)
    write_file(file, svg_text(figure) if ending == ".svg" else drawn.getvalue())


def composed(order: Sequence[str], panels: Sequence[Panel]) -> "Figure":
    """All panels in one figure, at most BESIDE in a row (fewer that are wide), with one legend below."""
    from matplotlib.lines import Line2D

    shown = [name for name in order if any(name in panel.names for panel in panels)]
    width = WIDTH if shown else max(panel.width for panel in panels)
    columns = min(len(panels), int(style.BESIDE * WIDTH / width))
    beside = max(1, int(columns * width / (style.WIDEST + 0.9)))
    lines = -(-len(shown) // beside)
    heights = [max(panel.height for panel in panels[k : k + columns]) for k in range(0, len(panels), columns)]
    below = 0.24 * lines + 0.2 if shown else 0.0
    figure = style.new_figure(columns * width, sum(heights) + below)
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, below / figure.get_figheight(), 1, 1 - below / figure.get_figheight()), h_pad=0.08, w_pad=0.08)
    for ax, panel in zip(style.grid_axes(figure, heights, columns, len(panels)), panels, strict=True):
        _draw(panel, ax)
    if shown:
        looks = style.lines(shown, order)
        handles = [Line2D([], [], **looks[name]) for name in shown]
        where: Any = {"loc": "lower center", "ncols": beside, "borderaxespad": 0.0}
        figure.legend(handles, style.fitted(shown, style.WIDEST), **where, **style.LEGEND)
    return figure


def _draw(panel: Panel, ax: Any) -> None:
    with callers(f"the drawing of the panel {panel.title!r}"):
        panel.draw(ax)
    if panel.title:
        (title,) = style.fitted([panel.title], WIDTH - 0.4, style.LABEL)
        ax.set_title(title, fontsize=style.LABEL)


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
