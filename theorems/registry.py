"""All statements: every paper of papers/ with its file (reader.py), and those of installed packages; nothing is listed by hand.

A package joins by the entry points `fairalloc.statements` (models/registry.py), which lead to claims or statements.
"""

from collections.abc import Callable, Container, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from fairalloc.models.errors import InstanceError, UnknownName, no_such
from fairalloc.models.registry import Registry, naming_the_file
from fairalloc.theorems.reader import PACKAGE, Misprint, misprints_of_paper, statements_of_paper
from fairalloc.theorems.statement import Statement

T = TypeVar("T", Statement, Misprint)

PAPERS = ("K", "P", "W", "Z", "D")
"""The papers in the order of the design."""


def all_statements() -> Mapping[str, Statement]:
    """All statements by id, in the order of the papers and of the files; those of installed packages come last."""
    return _STATEMENTS


def misprints() -> dict[str, Misprint]:
    """The misprints of the papers by id, in the order of the papers and of the files."""
    return _of_the_papers(misprints_of_paper, "misprint", "claims or misprints", _STATEMENTS)


def _of_the_papers(read: Callable[[str], list[T]], kind: str, several: str, taken: Container[str] = ()) -> dict[str, T]:
    """What all papers have, by id, in the order of PAPERS."""
    with naming_the_file(PACKAGE):
        folders = [paper.name for paper in iter_modules(import_module(PACKAGE).__path__) if paper.ispkg]
    found: dict[str, T] = {}
    for item in (item for folder in folders for item in read(folder)):
        if item.id in found or item.id in taken:
            raise InstanceError(f"two {several} are named {item.id!r}, but names must be distinct")
        if item.paper not in PAPERS:
            raise InstanceError(f"{kind} {item.id!r} is of no paper: an id starts with one of {', '.join(PAPERS)}")
        found[item.id] = item
    return dict(sorted(found.items(), key=lambda pair: PAPERS.index(pair[1].paper)))


def _read(item: Any) -> Statement | None:
    """A statement, or that of a claim; None for anything else, and for what takes the name of a paper."""
    made = getattr(item, "statement", item)
    return made if isinstance(made, Statement) and made.paper not in PAPERS else None


def _ours() -> dict[str, Statement]:
    return _of_the_papers(statements_of_paper, "statement", "statements")


_STATEMENTS: Registry[Statement] = Registry("statement", "fairalloc.statements", _ours, _read, lambda item: (item.id,))


def statement(name: str) -> Statement:
    """The statement with this id."""
    found = all_statements()
    if name not in found:
        raise UnknownName(no_such("statement", name, found, "see fairalloc theorems list"))
    return found[name]
