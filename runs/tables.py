"""A table of short texts, as text for the terminal, Markdown, LaTeX, HTML or CSV."""

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["FORMATS", "WIDTH", "Grid"]

WIDTH = 100
"""Columns of the terminal that tables are written for."""

_TEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"✓": "$+$", "✗": "$-$", "⇒": r"$\Rightarrow$"}
)


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
            table.add_column(Text(column), justify="right" if k in self.right else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table

    def text(self) -> str:
        """For a terminal of 100 columns."""
        out = io.StringIO()
        console = Console(file=out, width=WIDTH, highlight=False, markup=False)
        if self.title:
            console.print(self.title, soft_wrap=True)
        console.print(self)
        for note in self.notes:
            console.print(note)
        return out.getvalue()

    def markdown(self) -> str:
        """A table of GitHub's Markdown."""
        rules = ["--:" if k in self.right else "---" for k in range(len(self.columns))]
        rows = [self.columns, rules, *self.rows]
        lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
        title = [f"**{self.title}**", ""] if self.title else []
        return "\n".join([*title, *lines, "", *self.notes]) + "\n"

    def latex(self) -> str:
        """A tabular, after its title as a comment; it needs no package."""
        lines = [" & ".join(cell.translate(_TEX) for cell in row) + r" \\" for row in (self.columns, *self.rows)]
        begin = rf"\begin{{tabular}}{{{''.join('r' if k in self.right else 'l' for k in range(len(self.columns)))}}}"
        title = [_comment(self.title)] if self.title else []
        body = [begin, lines[0], r"\hline", *lines[1:], r"\end{tabular}"]
        return "\n".join([*title, *body, *map(_comment, self.notes)]) + "\n"

    def csv(self) -> str:
        """The columns and the rows, without title and notes."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.columns, *self.rows])
        return out.getvalue()

    def link(self, row: int, column: int) -> str:
        """The anchor to which a cell leads, or ""."""
        return (self.links or {}).get((row, column), "")


def _comment(text: str) -> str:
    return "% " + " ".join(text.split("\n"))


FORMATS = ("table", "markdown", "latex", "html")
"""What the matrix can be written as; "table" is `text`, "html" a page (pages.py)."""
