"""A report, or its records, as text: an HTML page, Markdown, tables in LaTeX, records as CSV or JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from fairalloc.benchmarks.page import sections, title
from fairalloc.benchmarks.records import LISTS, Record
from fairalloc.benchmarks.report import Summary
from fairalloc.models.arguments import checked
from fairalloc.models.errors import UnknownName, no_such
from fairalloc.models.files.writing import write_file
from fairalloc.models.numbers import as_json
from fairalloc.models.tables import csv_text
from fairalloc.runs.pages import Section, latex, markdown, page


def _csv(summary: Summary) -> str:
    """A row for each record: all it has but its lists, and the residual that decides."""
    names = [field.name for field in fields(Record) if field.name not in LISTS]
    return csv_text([[*names, "residual"], *([*(getattr(r, name) for name in names), r.residual] for r in summary.rows_of_run)])


def _json(summary: Summary) -> str:
    """What was asked, and every record; null stands for numbers that are not finite."""
    details = {key: value for key, value in summary.run.details.items() if key not in ("place", "words")}
    records = [asdict(r) | {"residual": r.residual} for r in summary.rows_of_run]
    document = {"suite": summary.run.suite, "started": summary.run.started, **details, "records": records}
    return json.dumps(as_json(document), indent=1, allow_nan=False) + "\n"


FORMATS: Mapping[str, Callable[[Summary], str]] = {
    "html": lambda summary: page(title(summary), sections(summary), contents=True),
    "markdown": lambda summary: markdown(title(summary), sections(summary, drawn=False)),
    "latex": lambda summary: latex(title(summary), sections(summary, drawn=False)),
    "csv": _csv,
    "json": _json,
}
"""What a report is written as: html, markdown and latex are its tables, csv and json its records."""

OF_TABLES: Mapping[str, Callable[[str, Sequence[Section]], str]] = {"latex": latex, "markdown": markdown}
"""What a single table is written as."""


@checked
def report_text(summary: Summary, format: str = "html", table: str | None = None) -> str:  # noqa: A002 (as on the command line)
    """The report in one of FORMATS, or only the tables of a name in one of OF_TABLES.

    Parameters
    ----------
    summary : of a run
    format : one of FORMATS, with `table` one of OF_TABLES
    table : the name of a table; None = the whole report

    Raises
    ------
    UnknownName : there is no such format, or no such table
    """
    if format not in FORMATS:
        raise UnknownName(no_such("format", format, FORMATS))
    if table is None:
        return FORMATS[format](summary)
    if format not in OF_TABLES:
        raise UnknownName(no_such("format of a table", format, OF_TABLES, f"the formats of a table are {', '.join(OF_TABLES)}"))
    heading, kept, names = "", [], list[str]()
    for section in sections(summary, drawn=False):
        heading = section.title if section.title and not section.anchor else heading
        names += [section.name] if section.name and section.table else []
        if section.name == table and section.table:
            kept += [Section(heading)] * (section.title != heading) + [section]
    if not kept:
        raise UnknownName(no_such("table", table, dict.fromkeys(names)))
    return OF_TABLES[format](title(summary), kept)


@checked
def write_report(summary: Summary, path: str | Path, format: str = "html") -> None:  # noqa: A002 (as on the command line)
    """Write the report into a file.

    Parameters
    ----------
    summary : of a run
    path : the file
    format : one of FORMATS

    Raises
    ------
    UnknownName : there is no such format
    InstanceError : the file cannot be written
    """
    write_file(path, report_text(summary, format))
