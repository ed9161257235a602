"""The command `bench report`: tables, pages, records and figures of recorded runs."""

import argparse
import io
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from fairalloc.cli.arguments import a_path, completed
from fairalloc.cli.output import emit
from fairalloc.models.errors import InstanceError
from fairalloc.models.tables import printable, width

FORMATS = ("html", "markdown", "latex", "csv", "json")
OTHERS = ("simulation.sqlite", "theorems.sqlite")
"""Files in results/ of the commands `simulate` and `theorems`."""

FIGURES = ("profile", "data-profile", "pareto", "traces", "memory")
"""As in benchmarks, which is imported only where it is used."""


def add_report(bench: Any) -> None:
    """Add `report` to the actions of `bench`."""
    command = bench.add_parser("report", help="tables, a page, records or figures of a recorded run; default: table and page")
    text = "as bench run writes it, such as results/first.sqlite; default: the newest in results/"
    command.add_argument("records", type=a_path, nargs="?", metavar="FILE", help=text)
    text = "html (a page), markdown or latex (its tables), csv or json (the records); default: a short text and the page"
    completed(command.add_argument("--format", metavar="FORMAT", help=text), lambda: FORMATS)
    text = "where it is written; default: beside the records for html, else the terminal"
    command.add_argument("--output", "-o", type=a_path, metavar="FILE", help=text)
    text = f"only a figure, may repeat; NAME is {', '.join(FIGURES)}; FILE ends in .svg, .png or .pdf"
    command.add_argument("--figure", nargs=2, action="append", metavar=("NAME", "FILE"), help=text)
    command.add_argument("--suite", metavar="SUITE", help="the newest run of this suite; default: the newest of all")
    command.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    from fairalloc import benchmarks

    if options.figure and (options.format or options.output):
        raise InstanceError("--figure writes figures alone, but --format or --output was given too")
    if options.output and not options.format:
        raise InstanceError(f"--output is {str(options.output)!r}, but --format must say in which format: {', '.join(FORMATS)}")
    options.records = options.records or _newest()
    summary = benchmarks.report(options.records, suite=options.suite)
    for name, file in options.figure or ():
        benchmarks.write_figure(summary, name, file)
        emit(printable(f"figure:  {file}\n"))
    if options.figure:
        return 0
    if options.format not in (None, "html") and options.output is None:
        emit(benchmarks.report_text(summary, options.format))
        return 0
    if not options.format:
        show(summary)
    file = options.output or options.records.with_suffix(".html")
    benchmarks.write_report(summary, file, options.format or "html")
    emit(printable(f"report:  {file}\n"))
    return 0


def _newest() -> Path:
    """The records that were written last in results/."""
    found = [file for file in Path("results").glob("*.sqlite") if file.name not in OTHERS]
    if not found:
        raise InstanceError("results/ holds no records: name a file, or make one by fairalloc bench run SUITE")
    return max(found, key=lambda file: file.stat().st_mtime)


def show(summary: Any) -> None:
    """Print the comparison."""
    from fairalloc import benchmarks

    out = io.StringIO()
    benchmarks.print_summary(summary, Console(file=out, width=width(), highlight=False, force_terminal=sys.stdout.isatty()))
    emit(out.getvalue())
