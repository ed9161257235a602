"""A table of short texts, as text for the terminal, Markdown, LaTeX or HTML."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rich.console import Console
from rich.table import Table

__all__ = ["FORMATS", "Grid", "html_page"]

WIDTH = 100

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 66em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0 } th, td { padding: .25em .7em; text-align: left; border: 1px solid #ddd }
th { background: #f4f4f4 } pre { background: #f7f7f7; padding: .6em; overflow-x: auto } h1, h2 { line-height: 1.2 }
"""


@dataclass(frozen=True)
class Grid:
    """A titled table; `links[row, column]` is the anchor a cell leads to in HTML."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    links: dict[tuple[int, int], str] | None = None

    def text(self) -> str:
        """For a terminal of 100 columns."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in self.columns:
            table.add_column(column, overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        out = io.StringIO()
        console = Console(file=out, width=WIDTH, highlight=False, markup=False)
        console.print(self.title, soft_wrap=True)
        console.print(table)
        for note in self.notes:
            console.print(note)
        return out.getvalue()

    def markdown(self) -> str:
        """A table of GitHub's Markdown."""
        rows = [self.columns, ["---"] * len(self.columns), *self.rows]
        lines = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
        return "\n".join([f"**{self.title}**", "", *lines, "", *self.notes]) + "\n"

    def latex(self) -> str:
        """A tabular; it needs no package."""
        lines = [" & ".join(map(_tex, row)) + r" \\" for row in (self.columns, *self.rows)]
        begin = rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}"
        body = [lines[0], r"\hline", *lines[1:]]
        return "\n".join([f"% {self.title}", begin, *body, r"\end{tabular}", *(f"% {note}" for note in self.notes)]) + "\n"

    def html(self) -> str:
        """A table with a heading, to stand in a page."""
        head = "".join(f"<th>{escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{self._linked(i, k, cell)}</td>" for k, cell in enumerate(row)) + "</tr>"
            for i, row in enumerate(self.rows)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<h2>{escape(self.title)}</h2>\n<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}\n"

    def _linked(self, i: int, k: int, cell: str) -> str:
        anchor = (self.links or {}).get((i, k))
        return f'<a href="#{escape(anchor)}">{escape(cell)}</a>' if anchor else escape(cell)


def _tex(text: str) -> str:
    plain = text.replace("✓", "$+$").replace("✗", "$-$")
    return "".join("\\" + c if c in "&%#_{}" else c for c in plain)


def html_page(title: str, body: str) -> str:
    """A page that opens without a network: no scripts, no outside references."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = f'<meta charset=utf-8><meta http-equiv=Content-Security-Policy content="{policy}"><title>{escape(title)}</title>'
    start = f"<!DOCTYPE html>\n<html lang=en><head>{head}<style>{_STYLE}</style></head><body>\n"
    return f"{start}<h1>{escape(title)}</h1>\n{body}</body></html>\n"


FORMATS = ("table", "markdown", "latex", "html")
"""What a grid can be written as; "table" is `text`."""
