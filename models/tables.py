"""A table of short texts, as text for the terminal, Markdown, LaTeX, HTML or CSV."""

import csv
import io
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from fairalloc.models.errors import NotInstalled

if TYPE_CHECKING:
    from rich.table import Table

WIDTH, NARROWEST, GAP = 100, 40, 2
"""Columns of tables where the output is no terminal, and below which they are not folded; spaces between columns."""

_TEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": "$|$", "✓": "$+$", "✗": "$-$", "⇒": r"$\Rightarrow$"}
)

_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\`*_[]<>|#~$&"} | {"\n": " "})

_FORMULA = tuple("=+-@\n＝＋－＠")
"""With these a spreadsheet takes a cell for a formula, and runs it."""


def pandas() -> Any:
    """The package of data frames; NotInstalled where it is missing."""
    try:
        import pandas as found
    except ImportError:
        raise NotInstalled("data frames need pandas: pip install pandas") from None
    return found


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
    """A table with a title above it, heads of columns, rows of cells, and notes below it.

    links : `links[row, column]` is the anchor to which a cell leads in HTML
    right : columns that are set to the right, such as numbers
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    links: dict[tuple[int, int], str] | None = None
    right: Collection[int] = ()

    def __rich__(self) -> "Table":
        """The cells alone, without a title, for a console of the package rich; none of them is read as markup."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for k, column in enumerate(self.columns):
            table.add_column(Text(printable(column)), justify="right" if k in self.right else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        return table

    def text(self) -> str:
        """For a terminal, as wide as it is."""
        from rich.console import Console

        out = io.StringIO()
        console = Console(file=out, width=width(), highlight=False, markup=False, force_terminal=False, force_jupyter=False)
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
        lines = ["| " + " | ".join(map(markdown_text, row)) + " |" for row in rows]
        title = [f"**{markdown_text(self.title)}**", ""] if self.title else []
        return "\n".join([*title, *lines, "", *map(markdown_text, self.notes)]) + "\n"

    def latex(self, caption: str = "", label: str = "") -> str:
        """A tabular, after its title as a comment, which needs no package; with a caption a table of the package booktabs."""
        lines = [" & ".join(map(tex, row)) + r" \\" for row in (self.columns, *self.rows)]
        begin = rf"\begin{{tabular}}{{{''.join('r' if k in self.right else 'l' for k in range(len(self.columns)))}}}"
        title = [tex_comment(self.title)] if self.title else []
        top, middle, bottom = ([r"\toprule"], r"\midrule", [r"\bottomrule"]) if caption else ([], r"\hline", [])
        body = [begin, *top, lines[0], middle, *lines[1:], *bottom, r"\end{tabular}"]
        if caption:
            around = [r"\begin{table}", r"\centering", rf"\caption{{{tex(caption)}}}", rf"\label{{{label}}}"]
            body = [*around, *body, r"\end{table}"]
        return "\n".join([*title, *body, *map(tex_comment, self.notes)]) + "\n"

    def html(self) -> str:
        """A table element and its notes, without a title; everything is escaped."""
        head = "".join(self._cell("th", text, k) for k, text in enumerate(self.columns)) if any(self.columns) else ""
        lines = ["<table>", *([f"<thead><tr>{head}</tr></thead>"] if head else []), "<tbody>"]
        for i, row in enumerate(self.rows):
            cells = (self._cell("td", text, k, (self.links or {}).get((i, k), "")) for k, text in enumerate(row))
            lines.append(f"<tr>{''.join(cells)}</tr>")
        lines += ["</tbody></table>", *(f"<p>{escape(note)}</p>" for note in self.notes)]
        return "\n".join(lines) + "\n"

    def _cell(self, tag: str, text: str, column: int, anchor: str = "") -> str:
        inside = f'<a href="#{escape(anchor)}">{escape(text)}</a>' if anchor else escape(text)
        return f"<{tag}{' class=right' if column in self.right else ''}>{inside}</{tag}>"

    def blocks(self, fixed: int) -> "list[Grid]":
        """The table in pieces no wider than the terminal, each with the first `fixed` columns; title first, notes last."""
        from rich.cells import cell_len

        cells = [[printable(row[k]) for row in (self.columns, *self.rows)] for k in range(len(self.columns))]
        wide = [max(map(cell_len, column)) + GAP for column in cells]
        pieces: list[list[int]] = [[]]
        for k in range(fixed, len(wide)):
            if pieces[-1] and sum(wide[:fixed]) + sum(wide[j] for j in [*pieces[-1], k]) > width():
                pieces.append([])
            pieces[-1].append(k)
        result = []
        for number, piece in enumerate(pieces):
            kept = [*range(fixed), *piece]
            rows = [[row[k] for k in kept] for row in (self.columns, *self.rows)]
            notes, right = self.notes if number == len(pieces) - 1 else (), [at for at, k in enumerate(kept) if k in self.right]
            result.append(Grid("" if number else self.title, rows[0], rows[1:], notes, right=right))
        return result

    def head(self, most: int = 20, what: str = "rows") -> "Grid":
        """The first rows, and a note on how many there are more."""
        more = len(self.rows) - most
        return self if more <= 0 else replace(self, rows=self.rows[:most], notes=[*self.notes, f"... and {more} more {what}"])

    def _repr_html_(self) -> str:
        """For notebooks: the title and the table."""
        return (f"<p>{escape(self.title)}</p>\n" if self.title else "") + self.html()

    def csv(self) -> str:
        """The columns and the rows, without title and notes."""
        return csv_text((self.columns, *self.rows))


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV; an apostrophe stands before a text that a spreadsheet would run as a formula.

    >>> print(csv_text([["=1+1", "-1.5", "-", "a, b"]]), end="")
    '=1+1,-1.5,-,"a, b"
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_inert(cell) for cell in row] for row in rows)
    return out.getvalue()


def _inert(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    if text == "-" or not text.startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def markdown_text(text: str) -> str:
    r"""The text on one line of Markdown, where nothing in it is markup.

    >>> print(markdown_text("*a* | <b>"))
    \*a\* \| \<b\>
    """
    return printable(text).translate(_MARKDOWN)


def tex(cell: str) -> str:
    """The text on one line of LaTeX, where nothing in it is a command."""
    text = printable(cell).replace("\n", " ").translate(_TEX)
    return f"{{{text[0]}}}{text[1:]}" if text.startswith(("*", "[")) else text  # no argument of the end of the row above


def tex_comment(text: str) -> str:
    """The text as one line of a comment of LaTeX."""
    return "% " + " ".join(printable(text).split("\n"))


FORMATS = ("table", "markdown", "latex", "html")
"""What the matrix can be written as; "table" is `text`, "html" a page (pages.py)."""
