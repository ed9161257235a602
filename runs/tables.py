"""A table of short texts, as text for the terminal, Markdown, LaTeX, HTML or CSV."""

import csv
import io
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["FORMATS", "Grid", "printable", "width"]

WIDTH = 100
"""Columns that tables are written for where the output is no terminal."""

NARROWEST = 40
"""Columns below which tables are not folded further."""

_TEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"✓": "$+$", "✗": "$-$", "⇒": r"$\Rightarrow$"}
)

_AFTER_A_ROW = {"*": "{*}", "[": "{[}"}
"""What LaTeX would take as an argument of the end of the row above."""


def width() -> int:
    """Columns of the terminal; WIDTH where there is none."""
    return max(NARROWEST, shutil.get_terminal_size((WIDTH, 24)).columns)


def printable(text: str) -> str:
    r"""The text with escapes for what a terminal would obey or cannot show; ends of lines stay.

    >>> print(printable("a\x1b[31mb\ud800"))
    a\x1b[31mb\ud800
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


@dataclass(frozen=True)
class Grid:
    """A titled table.

    Attributes
    ----------
    title : a line above it, or ""
    columns : the heads
    rows : the cells, as many in each row as there are columns
    notes : lines below it
    links : `links[row, column]` is the anchor to which a cell leads in HTML
    right : columns that are set to the right, such as numbers
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    links: dict[tuple[int, int], str] | None = None
    right: Collection[int] = ()

    def __rich__(self) -> Table:
        """The cells alone, without a title, for a console of the package rich; none of them is read as markup."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for k, column in enumerate(self.columns):
            table.add_column(Text(printable(column)), justify="right" if k in self.right else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        return table

    def text(self) -> str:
        """For a terminal, as wide as it is."""
        out = io.StringIO()
        console = Console(file=out, width=width(), highlight=False, markup=False)
        if self.title:
            console.print(printable(self.title), soft_wrap=True)
        console.print(self)
        for note in self.notes:
            console.print(printable(note))
        return out.getvalue()

    def markdown(self) -> str:
        """A table of GitHub's Markdown."""
        rules = ["--:" if k in self.right else "---" for k in range(len(self.columns))]
        rows = [self.columns, rules, *self.rows]
        lines = ["| " + " | ".join(printable(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
        title = [f"**{self.title}**", ""] if self.title else []
        return "\n".join([*title, *lines, "", *self.notes]) + "\n"

    def latex(self) -> str:
        """A tabular, after its title as a comment; it needs no package."""
        lines = [" & ".join(map(_tex, row)) + r" \\" for row in (self.columns, *self.rows)]
        begin = rf"\begin{{tabular}}{{{''.join('r' if k in self.right else 'l' for k in range(len(self.columns)))}}}"
        title = [_comment(self.title)] if self.title else []
        body = [begin, lines[0], r"\hline", *lines[1:], r"\end{tabular}"]
        return "\n".join([*title, *body, *map(_comment, self.notes)]) + "\n"

    def csv(self) -> str:
        """The columns and the rows, without title and notes."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([printable(cell) for cell in row] for row in (self.columns, *self.rows))
        return out.getvalue()

    def link(self, row: int, column: int) -> str:
        """The anchor to which a cell leads, or ""."""
        return (self.links or {}).get((row, column), "")


def _tex(cell: str) -> str:
    text = printable(cell).replace("\n", " ").translate(_TEX)
    return _AFTER_A_ROW.get(text[:1], text[:1]) + text[1:]


def _comment(text: str) -> str:
    return "% " + " ".join(printable(text).split("\n"))


FORMATS = ("table", "markdown", "latex", "html")
"""What the matrix can be written as; "table" is `text`, "html" a page (pages.py)."""
