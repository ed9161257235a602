"""All statements: every paper of papers/ with its file (reader.py), and those of installed packages; nothing is listed by hand.

A package joins by the entry points `fairalloc.statements` (models/registry.py), which lead to claims or statements.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fairalloc.models.errors import InstanceError, UnknownName, no_such
from fairalloc.models.registry import Registry, naming_the_file
from fairalloc.theorems.reader import PACKAGE, Misprint, misprints_of_paper, statements_of_paper
from fairalloc.theorems.statement import Statement

PAPERS = ("K", "P", "W", "Z", "D")
"""The papers in the order of the design."""


def all_statements() -> dict[str, Statement]:
    """All statements by id, in the order of the papers and of the files; those of installed packages come last."""
    return dict(_STATEMENTS)


def misprints() -> dict[str, Misprint]:
    """The misprints of the papers by id, in the order of the papers and of the files."""
    found: dict[str, Misprint] = {}
    for item in (item for letter in _folders() for item in misprints_of_paper(letter)):
        if item.id in {*found, *_STATEMENTS}:
            raise InstanceError(f"two claims or misprints are named {item.id!r}, but names must be distinct")
        if item.paper not in PAPERS:
            raise InstanceError(f"misprint {item.id!r} is of no paper: an id starts with one of {', '.join(PAPERS)}")
        found[item.id] = item
    return dict(sorted(found.items(), key=lambda pair: PAPERS.index(pair[1].paper)))


def _folders() -> list[str]:
    with naming_the_file(PACKAGE):
        return [paper.name for paper in iter_modules(import_module(PACKAGE).__path__) if paper.ispkg]


def _of_the_papers() -> dict[str, Statement]:
    found: dict[str, Statement] = {}
    for folder in _folders():
        for item in statements_of_paper(folder):
            _add(found, item)
    return dict(sorted(found.items(), key=lambda pair: PAPERS.index(pair[1].paper)))


def _add(found: dict[str, Statement], item: Statement) -> None:
    if item.id in found:
        raise InstanceError(f"two statements are named {item.id!r}, but names must be distinct")
    if item.paper not in PAPERS:
        raise InstanceError(f"statement {item.id!r} is of no paper: an id starts with one of {', '.join(PAPERS)}")
    found[item.id] = item


def _read(item: Any) -> Statement | None:
    """A statement, or that of a claim; None for anything else, and for what takes the name of a paper."""
    made = getattr(item, "statement", item)
    return made if isinstance(made, Statement) and made.paper not in PAPERS else None


_STATEMENTS: Registry[Statement] = Registry("statement", "fairalloc.statements", _of_the_papers, _read, lambda item: (item.id,))


def statement(name: str) -> Statement:
    """The statement with this id."""
    found = all_statements()
    if name not in found:
        raise UnknownName(no_such("statement", name, found, "see fairalloc theorems list"))
    return found[name]
