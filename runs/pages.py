"""Pages of HTML: sections of text, tables, code and figures, written by the templates in templates/ and all in one style."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fairalloc.models.tables import Grid

__all__ = ["Section", "page", "table_section"]


@dataclass(frozen=True)
class Section:
    """A part of a page; its pieces are shown in the order of the attributes, and what is empty is left out.

    Attributes
    ----------
    title : the heading, or "" for what belongs to the section above
    text : paragraphs
    table : shown without its own title
    code : shown as it is
    points : items of a list
    figure : an svg element, which is not escaped
    anchor : the name to which cells of tables lead; such a section has a smaller heading
    """

    title: str
    text: Sequence[str] = ()
    table: Grid | None = None
    code: str = ""
    points: Sequence[str] = ()
    figure: str = ""
    anchor: str = ""


def table_section(grid: Grid) -> Section:
    """A table under its own title."""
    return Section(grid.title, table=grid)


def page(title: str, sections: Iterable[Section]) -> str:
    """The text of a page that opens without a network; the same sections give the same text."""
    text: str = _templates().get_template("page.html").render(title=title, sections=list(sections))
    return text + "\n"


@cache
def _templates() -> Environment:
    loader = PackageLoader("fairalloc.runs", "templates")
    return Environment(
        loader=loader, autoescape=True, finalize=_escaped, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _escaped(value: Any) -> Any:
    """The standard library's escapes, so that a page has the same entities as other HTML of Python's."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))
