"""How a statement is looked at in a child process of runs/processes.py: a request names it, the answer is its finding."""

from collections.abc import Callable
from functools import cache

from fairalloc.runs.processes import Document
from fairalloc.solvers.running.time_limits import be_watched
from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.engine.investigate import investigate
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.statement import Statement
from fairalloc.theorems.terms import statements_in


@cache
def _statements(files: tuple[str, ...]) -> dict[str, Statement]:
    """Those of the files, or of all papers."""
    return {name: item for file in files for name, item in statements_in(file).items()} if files else all_statements()


def prepare(request: Document) -> None:
    """Import the statements once, before children are forked."""
    _statements(tuple(request.get("files", ())))


def answer(request: Document, _: Callable[[], object]) -> Document:
    """The finding of a statement, as a document."""
    be_watched()
    known = {name: [parse_case(case) for case in cases] for name, cases in request["known"].items()}
    limits = {"seed": request["seed"], "seconds": request["seconds"], "trials": request["trials"] or float("inf")}
    return investigate(_statements(tuple(request.get("files", ())))[request["statement"]], known=known, **limits).document()
