"""The commands `bench run`, `report` and `compare`, which compare solvers on a suite, and `data`, which finds real workloads."""

import argparse
import glob
import io
import json
import os
from pathlib import Path
from typing import Any

from rich.console import Console

from fairalloc import benchmarks
from fairalloc.benchmarks.page import LOOK_FIRST
from fairalloc.cli import arguments
from fairalloc.cli.output import answers, complain, emit, written
from fairalloc.models.errors import InstanceError, require, shown
from fairalloc.models.examples import traces
from fairalloc.models.files.jsonio import INSTANCE_SCHEMA, INSTANCE_SCHEMAS, read_json
from fairalloc.models.files.writing import check_writable
from fairalloc.models.numbers import as_json
from fairalloc.models.tables import printable, width
from fairalloc.runs.objects import is_in_file
from fairalloc.solvers import METHODS

OTHERS = ("simulation.sqlite", "theorems.sqlite")
"""Files in results/ of the commands `simulate` and `theorems`."""


def add_commands(commands: Any) -> None:
    bench = commands.add_parser("bench", help="compare solvers on a suite").add_subparsers(required=True, metavar="ACTION")
    command = bench.add_parser("run", help="run a suite; a killed run resumes where it was", run=_run)
    text = "see: fairalloc list suites; FILE.py:NAME; a folder or glob of instances"
    suite = command.add_argument("suite", metavar="SUITE", help=text)
    arguments.completed(suite, lambda: benchmarks.SUITES, files=True)
    arguments.add_mechanism(command, otherwise="drfh; for instances in files", several=True)
    command.add_argument("--records", type=arguments.a_path, metavar="FILE", help="default: results/SUITE.sqlite")
    text = "(repeatable) only these methods; ids or FILE.py:NAME"
    arguments.completed(command.add_argument("--method", action="append", metavar="ID", help=text), lambda: METHODS, files="py")
    command.add_argument("--case", action="append", metavar="NAME", help="(repeatable) only these cases; may hold * and ?")
    arguments.add_accuracy(command, "may repeat: each method is asked for each; default: those of the suite")
    arguments.add_time_limit(command, "each solve; default: the suite's")
    command.add_argument("--memory", dest="memory_mb", type=int, default=4096, metavar="MB", help="limit for each solve")
    command.add_argument("--repeats", type=int, metavar="N", help="solves of each case by each method; default: the suite's")
    command.add_argument("--jobs", type=int, default=1, metavar="N", help="solves at the same time, each on a core of its own")
    command.add_argument("--threads", type=int, default=1, metavar="N", help="of linear algebra in one solve; default: 1")
    text = "solve on the workers of a dask cluster, tcp://HOST:PORT (extra cluster)"
    command.add_argument("--scheduler", default="", metavar="ADDRESS", help=text)
    text = "tables, a page, records or figures of a recorded run; default: table and page"
    command = bench.add_parser("report", help=text, run=_report)
    text = "as bench run writes it, such as results/first.sqlite; default: the newest in results/"
    command.add_argument("records", type=arguments.a_path, nargs="?", metavar="FILE", help=text)
    text = "html (a page), markdown or latex (its tables), csv or json (the records); default: a short text and the page"
    arguments.completed(command.add_argument("--format", metavar="FORMAT", help=text), lambda: benchmarks.FORMATS)
    text = "where it is written; default: beside the records for html, else the terminal"
    command.add_argument("--output", "-o", type=arguments.a_path, metavar="FILE", help=text)
    text = f"only a figure, may repeat; NAME is {', '.join(benchmarks.FIGURES)}; FILE ends in .svg, .png or .pdf"
    command.add_argument("--figure", nargs=2, action="append", metavar=("NAME", "FILE"), help=text)
    text = "only the tables of this name, with --format latex or markdown, such as accuracy, choice, ranking or pairs"
    command.add_argument("--table", metavar="NAME", help=text)
    command.add_argument("--suite", metavar="SUITE", help="the newest run of this suite; default: the newest of all")
    text = "two record files: gains and losses, paired by case; exit code 1 on a loss"
    command = bench.add_parser("compare", help=text, run=_compare)
    command.add_argument("before", type=arguments.a_path, metavar="A", help="the records to compare with")
    command.add_argument("now", type=arguments.a_path, metavar="B", help="may be A: then its last two runs are compared")
    text = "a ratio of times beyond which a change counts, if a test of signs finds it; default: 1.2"
    command.add_argument("--threshold", type=float, default=1.2, metavar="RATIO", help=text)
    command.add_argument("--suite", metavar="ID", help="the newest runs of this suite; default: of any")
    command.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    command = commands.add_parser("data", help="where the samples of real workloads are", run=_data)
    command.add_argument("folder", type=arguments.a_path, nargs="?", metavar="FOLDER", help="remember this folder")


def _run(options: argparse.Namespace) -> int:
    suite = _suite(options)
    methods = [arguments.method_named(method) for method in options.method or ()]
    found = benchmarks.find_suite(suite)
    name = suite if isinstance(suite, str) and not is_in_file(suite) else found.id
    records = options.records or Path("results") / f"{name}.sqlite"
    page = _beside(records)
    if page.parent.is_dir():  # else it is made for the records
        check_writable(page)
    setting = benchmarks.Setting(
        accuracies=tuple(options.accuracy or ()),
        memory_mb=options.memory_mb,
        **{name: getattr(options, name) for name in ("time_limit", "repeats", "jobs", "threads", "scheduler")},
    )
    summary = benchmarks.run(suite, records, methods, options.case or (), setting)
    _show(summary)
    benchmarks.write_report(summary, page)
    emit(printable(f"records: {records}\nreport:  {page}\n{LOOK_FIRST}\n"))
    return 0 if any(map(benchmarks.succeeded, summary.records)) else 1


def _suite(options: argparse.Namespace) -> Any:
    """A suite's name, or the suite of the instances in a folder or glob."""
    place = options.suite
    if os.path.isdir(place) and place not in benchmarks.SUITES:
        files = sorted(Path(place).glob("*.json"))
    elif place.endswith(".json") and os.path.exists(place):
        files = [Path(place)]
    elif not is_in_file(place) and (glob.has_magic(place) or place.endswith(".json")):
        files = sorted(map(Path, glob.glob(place)))
    elif options.mechanism and benchmarks.find_suite(place):
        raise InstanceError(f"--mechanism is for instances in files, but the suite {place!r} has its own mechanisms")
    else:
        return place
    if not files:
        raise InstanceError(f"{place!r} holds no instances: there is no file that ends in .json")
    if len(files) > 1:
        files = [file for file in files if _is_instance(file)]
    if not files:
        raise InstanceError(f"{place!r} holds no instances: no file has the schema {INSTANCE_SCHEMA}")
    mechanisms = [arguments.mechanism_named(name) for name in options.mechanism or [arguments.DEFAULT]]
    return benchmarks.suite_of(files, mechanisms, place)


def _is_instance(file: Path) -> bool:
    """Whether a file in a folder is solved: one that says that it is something else is left out with a sentence."""
    try:
        document = read_json(file)
    except InstanceError:
        return True  # its case says what is wrong with it
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema not in INSTANCE_SCHEMAS:
        complain(f"{file} is left out: its schema is {shown(schema)}, not {INSTANCE_SCHEMA!r}")
    return schema in INSTANCE_SCHEMAS


def _data(options: argparse.Namespace) -> None:
    if options.folder is not None:
        traces.remember_data(options.folder)
    emit(printable(f"{traces.found_data()}\n"))


def _compare(options: argparse.Namespace) -> int:
    changes = benchmarks.compare(options.before, options.now, options.threshold, options.suite)
    if options.format == "json":
        emit(json.dumps(as_json(changes.to_dict()), indent=2, allow_nan=False) + "\n")
    else:
        emit("\n".join(grid.text() if options.format == "text" else grid.markdown() for grid in changes.grids()))
    return 1 if changes.regressed else 0


def _report(options: argparse.Namespace) -> None:
    if options.figure and (options.format or options.output or options.table):
        raise InstanceError("--figure writes figures alone, but --format, --output or --table was given too")
    for name, known in (("output", benchmarks.FORMATS), ("table", ("latex", "markdown"))):
        if (given := getattr(options, name)) and not options.format:
            raise InstanceError(f"--{name} is {str(given)!r}, but --format must say in which format: {', '.join(known)}")
    options.records = options.records or _newest()
    summary = benchmarks.report(options.records, suite=options.suite)
    for name, file in options.figure or ():
        benchmarks.write_figure(summary, name, file)
        emit(printable(f"figure:  {file}\n"))
    if options.figure:
        return
    if options.table or (options.format not in (None, "html") and options.output is None):
        text = benchmarks.report_text(summary, options.format, options.table)
        written(text, options.output and _beside(options.records, options.output))
        return
    if not options.format:
        _show(summary)
    file = _beside(options.records, options.output)
    benchmarks.write_report(summary, file, options.format or "html")
    emit(printable(f"report:  {file}\n"))


def _beside(records: Path, output: Path | None = None) -> Path:
    """Where a report is written, by default beside the records; InstanceError where that is the file of the records."""
    file = output or records.with_suffix(".html")
    require(file.resolve() != records.resolve(), "the file of the records is", str(records), "the report would take its place")
    return file


def _newest() -> Path:
    found = [file for file in Path("results").glob("*.sqlite") if file.name not in OTHERS]
    if not found:
        raise InstanceError("results/ holds no records: name a file, or make one by fairalloc bench run SUITE")
    return max(found, key=lambda file: file.stat().st_mtime)


def _show(summary: Any) -> None:
    out = io.StringIO()
    benchmarks.print_summary(summary, Console(file=out, width=width(), highlight=False, force_terminal=answers().isatty()))
    emit(out.getvalue())
