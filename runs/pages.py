"""Pages: sections of text, tables, code and figures as HTML by the template in templates/, as Markdown, or as tables in LaTeX."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from fairalloc.models.tables import Grid, markdown_text, tex_comment

if TYPE_CHECKING:
    from jinja2 import Environment


class Section(NamedTuple):
    """A part of a page; its pieces are shown in the order of the attributes, and what is empty is left out.

    A section without a title belongs to the one above; one with an anchor, to which cells of tables lead, has a smaller heading.
    Figures are svg elements, which are not escaped, at most three in a row, with a legend of (svg element, name). An image is
    (what it shows, its file), where Markdown shows a file. Tables are asked for by their name.
    """

    title: str
    text: Sequence[str] = ()
    table: Grid | None = None
    code: str = ""
    points: Sequence[str] = ()
    figure: str = ""
    image: tuple[str, str] | None = None
    legend: Sequence[tuple[str, str]] = ()
    anchor: str = ""
    name: str = ""


def page(title: str, sections: Iterable[Section], contents: bool = False) -> str:
    """The text of a page, with a table of contents or without, that opens without a network."""
    template = _templates().get_template("page.html")
    text: str = template.render(title=title, sections=list(sections), contents=contents)
    return text + "\n"


def markdown(title: str, sections: Iterable[Section]) -> str:
    """The same as Markdown, without figures but with images."""
    parts = [f"# {markdown_text(title)}\n"]
    for section in sections:
        if section.title:
            parts.append(f"{'###' if section.anchor else '##'} {markdown_text(section.title)}\n")
        parts += [f"{markdown_text(paragraph)}\n" for paragraph in section.text]
        parts += [section.table.markdown()] if section.table else []
        fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", section.code))])  # longer than all in it
        parts += [f"{fence}\n{section.code}\n{fence}\n"] if section.code else []
        parts += ["".join(f"- {markdown_text(point)}\n" for point in section.points)] if section.points else []
        parts += [f"![{markdown_text(section.image[0])}]({quote(section.image[1])})\n"] if section.image else []
    return "\n".join(parts)


def latex(title: str, sections: Iterable[Section]) -> str:
    """The tables as LaTeX for a paper, each with a caption and a label (package booktabs), their texts as comments."""
    parts = [f"{tex_comment(title)}\n"]
    heading, below, labels = "", "", Counter[str]()
    for section in sections:
        heading, below = (section.title, "") if section.title and not section.anchor else (heading, section.title or below)
        if section.table:
            about = ", ".join(filter(None, (heading, below))) or "Facts"
            label = "-".join(re.findall(r"\w+", f"{section.name} {below}".lower())) or "facts"
            labels[label] += 1
            label += f"-{labels[label]}" if labels[label] > 1 else ""
            lines = "".join(f"{tex_comment(line)}\n" for line in section.text if line)
            parts.append(lines + section.table.latex(f"{about}. {title}.", f"tab:{label}"))
    return "\n".join(parts)


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("fairalloc.runs", "templates")
    return Environment(
        loader=loader, autoescape=True, finalize=_escaped, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _escaped(value: Any) -> Any:
    """The standard library's escapes, so that a page has the same entities as other HTML of Python's."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))
