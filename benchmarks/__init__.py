"""Compare methods: suites of cases, each solve in its own process, records that are only added to, and a report.

    suite -> runner -> worker (a process for each solve) -> records -> metrics -> report, page

Start at `run` and `report`.
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.benchmarks, not as benchmarks: it is mapped into fairalloc")

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairalloc.benchmarks.page import write_page
from fairalloc.benchmarks.report import Summary, print_summary, summarize
from fairalloc.benchmarks.runner import measure
from fairalloc.benchmarks.suites.suite import SUITES, BenchmarkError, Suite, SuiteCase, find_suite, suite_of
from fairalloc.solvers.options import Accuracy

__all__ = [
    "SUITES",
    "BenchmarkError",
    "Suite",
    "SuiteCase",
    "Summary",
    "find_suite",
    "print_summary",
    "report",
    "run",
    "suite_of",
    "write_page",
]


def run(
    suite: str | Suite,
    records: str | Path,
    methods: Sequence[Any] | None = None,
    accuracy: Accuracy = "mid",
    time_limit: float = 20.0,
    memory_mb: int = 4096,
    repeats: int = 3,
    progress: bool = True,
    solvers: str = "fairalloc.solvers",
) -> Summary:
    """Solve a suite with every available method that computes its mechanisms, and summarize what is on record.

    A run that was stopped goes on where it was: what is on record for this version, machine and setting is not solved again.

    Parameters
    ----------
    suite
        "first", "layers", .. or one of your own: a `Suite`, FILE.py, FILE.py:NAME or a module that defines SUITE
    records
        file to add the rows to, made if it is not there
    methods
        ids, or methods themselves; None takes those the suite names, or all that are available
    accuracy
        "low", "mid" or "high", or the residual promised, for every method alike
    time_limit
        seconds for one solve: the method is asked to stop then, and its process is ended a little later
    memory_mb
        how far the address space of one solve may grow
    repeats
        solves of each case by each method
    progress
        whether to show a bar where the error stream is a terminal
    solvers
        name of the module that has `solve` and `METHODS`

    Raises
    ------
    BenchmarkError : an unknown suite or method, a method that is missing, a bad limit, a case that cannot be built
    """
    asked, before, added = measure(
        suite,
        records,
        methods=methods,
        accuracy=accuracy,
        time_limit=time_limit,
        memory_mb=memory_mb,
        repeats=repeats,
        progress=progress,
        solvers=solvers,
    )
    return summarize(records, like=asked, before=before, added=added)


def report(
    records: str | Path, html: str | Path | None = None, suite: str | None = None, environment: str | None = None
) -> Summary:
    """Summarize the newest run on record and write it as an HTML page that needs no network.

    Parameters
    ----------
    records : the records file
    html : where the page is written; None = nowhere
    suite, environment : of the run; None = any
    """
    summary = summarize(records, suite=suite, environment=environment)
    if html is not None:
        write_page(summary, html)
    return summary
