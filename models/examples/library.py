"""A frozen library of instances that papers can cite by name, with the best answers that are proved.

library.json says of each how it is made: as a published example, by a family of generators.py, or from a trace. `hash` is the
fingerprint that the instance must have, so one that a changed generator made differently is refused. `answers` are of each
mechanism that fits: "g", the least weighted share, or "objective" for programs; "tasks" of all users together, to the digits that
are proved where these are unique, and of one answer for games. `residual` is what the answer proves of itself, from the instance
alone (docs/theory/residuals.md), 0 where it is right in rationals.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, overload

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, UnknownName, no_such
from fairalloc.models.examples import generators, traces
from fairalloc.models.examples.published import example
from fairalloc.models.files.jsonio import fingerprint
from fairalloc.models.instance import Instance

MANIFEST = Path(__file__).with_name("library.json")


@dataclass(frozen=True)
class Frozen:
    """One instance of the library.

    Attributes
    ----------
    name : that of the instance
    source, arguments : "example", a family of generators, or a trace, and what it is given
    size : users, rows of servers, resources and arcs
    hash : the fingerprint of the instance
    answers : {mechanism: {"g", "objective" and "tasks", those that it has, and "residual": number}}; of ps-dsf and njc,
        which may have many answers, the tasks are those of one
    """

    name: str
    source: str
    arguments: Mapping[str, Any]
    size: tuple[int, ...]
    hash: str
    answers: Mapping[str, Mapping[str, float]]

    @cached_property
    def instance(self) -> Instance:
        """InstanceError where it is not what was frozen, NotInstalled where the samples of a trace are missing."""
        made = self.made()
        if (found := fingerprint(made)) != self.hash:
            raise InstanceError(f"the instance {self.name!r} has the hash {found}, but the one in the library has {self.hash}")
        return made

    def made(self) -> Instance:
        """The instance as it is made here."""
        if self.source == "example":
            return example(self.name).instance
        if hasattr(generators, self.source):
            made: Instance = getattr(generators, self.source)(**self.arguments)
            return made
        loaded: traces.Loaded = getattr(traces, self.source)(traces.found_data(), **self.arguments)
        return loaded.instance


@overload
def library(name: None = None) -> tuple[str, ...]: ...


@overload
def library(name: str) -> Frozen: ...


@checked
def library(name: str | None = None) -> Frozen | tuple[str, ...]:
    """The frozen instance with this name, or without one the names of all; UnknownName for another name.

    >>> library("market-20x50x1-1.0-1").size
    (20, 50, 1, 1000)
    """
    found = entries()
    if name is None:
        return tuple(found)
    if name not in found:
        raise UnknownName(no_such("instance of the library", name, found, f"the first are {', '.join(list(found)[:8])}"))
    return found[name]


@cache
def entries() -> Mapping[str, Frozen]:
    """All of them by name."""
    rows = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return MappingProxyType({row["name"]: Frozen(**{**row, "size": tuple(row["size"])}) for row in rows})
