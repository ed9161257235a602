"""Which method computes which mechanism, the marks in docs/reference/methods.md: `python -m fairalloc.method_table` prints them.

The marks are for the mechanisms' default parameters and for instances on which both are defined; mechanisms that are computed by
the same methods share a column.
"""

from contextlib import suppress
from typing import Any

from fairalloc.formulations import MECHANISMS
from fairalloc.models.errors import FairallocError
from fairalloc.models.tables import Grid
from fairalloc.solvers import METHODS, Method

MARK, APPROXIMATE = "✓", "≈"


def method_table() -> Grid:
    """A row for each method, a column for each group of mechanisms that the same methods compute."""
    groups: dict[frozenset[str], list[str]] = {}
    for item in MECHANISMS.values():
        groups.setdefault(frozenset(key for key, method in METHODS.items() if method.computes(item)), []).append(item.id)
    columns = ["method", *(", ".join(names) for names in groups.values())]
    marks = {key: APPROXIMATE if method.kind == "approximate" else MARK for key, method in METHODS.items()}
    rows = [[key, *(mark if key in able else "" for able in groups)] for key, mark in marks.items()]
    return Grid("Which method computes which mechanism", columns, rows)


GIVEN: tuple[dict[str, Any], ...] = ({}, {"objective": "utilisation"}, {"integral": True})
"""The parameters with which a method may compute a mechanism, the fewest first."""


def computed(method: Method) -> str:
    """The mechanisms that a method computes, and those that it computes only with a parameter."""
    told = []
    for item in MECHANISMS.values():
        for given in GIVEN:
            with suppress(FairallocError):
                if method.computes(item.configure(**given)):
                    told.append(" ".join([item.id, *(f"{name}=.." for name in given)]))
                    break
    return ", ".join(told)


if __name__ == "__main__":
    print(method_table().markdown(), end="")
