"""Compare methods: suites of cases, each solve in its own process, records that are only added to, and a report.

    suite -> runner -> worker (a process for each solve) -> records -> metrics -> report, page, figures

Start at `run` and `report`.
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.benchmarks, not as benchmarks: it is mapped into fairalloc")

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairalloc.benchmarks.compare import Comparisons, CostChange, compare
from fairalloc.benchmarks.figures import FIGURES, write_figure
from fairalloc.benchmarks.formats import FORMATS, report_text, write_report
from fairalloc.benchmarks.metrics import succeeded
from fairalloc.benchmarks.report import Summary, print_summary, summarize
from fairalloc.benchmarks.runner import Setting, measure
from fairalloc.benchmarks.suites.suite import SUITES, BenchmarkError, Suite, SuiteCase, find_suite, suite_of
from fairalloc.models.arguments import checked
from fairalloc.runs.progress import Progress

__all__ = ["SUITES", "BenchmarkError", "Suite", "SuiteCase", "find_suite", "suite_of"]
__all__ += ["Setting", "Summary", "print_summary", "report", "run", "succeeded"]
__all__ += ["Comparisons", "CostChange", "compare"]
__all__ += ["FIGURES", "FORMATS", "report_text", "write_figure", "write_report"]


@checked
def run(
    suite: str | Suite,
    records: str | Path,
    methods: Sequence[Any] = (),
    cases: Sequence[str] = (),
    setting: Setting | None = None,
    progress: bool = True,
) -> Summary:
    """Solve a suite with every available method that computes its mechanisms, and summarize what is on record.

    A run that was stopped goes on where it was: what is on record for this code, these versions, this machine and this setting is
    not solved again.

    Parameters
    ----------
    suite
        "first", "layers", .. or one of your own: a `Suite`, FILE.py, FILE.py:NAME or a module that defines SUITE
    records
        file to add the rows to, made if it is not there
    methods
        ids, or methods themselves; () takes those the suite names, or all that are available
    cases
        names of cases, which may hold * and ?; () takes all
    setting
        accuracies, limits, repeats and how many solves run at the same time; None = the defaults of `Setting`
    progress
        whether the error stream is told how far the run is: a bar on a terminal, else a line now and then

    Raises
    ------
    BenchmarkError : a bad setting, a records file that cannot be used
    UnknownName, NotInstalled, NotApplicable : an unknown suite or method, one that is missing, or one that computes nothing there
    """
    with Progress(progress) as shown:
        before, added = measure(suite, records, tuple(methods), tuple(cases), setting or Setting(), shown)
    return summarize(records, before=before, added=added)


@checked
def report(records: str | Path, html: str | Path | None = None, suite: str | None = None) -> Summary:
    """Summarize the newest run on record and write it as an HTML page that needs no network.

    Parameters
    ----------
    records : the records file
    html : where the page is written; None = nowhere
    suite : whose newest run is wanted; None = any
    """
    summary = summarize(records, suite=suite)
    if html is not None:
        write_report(summary, html)
    return summary
