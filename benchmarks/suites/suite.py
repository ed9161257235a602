"""Suites: what is solved. Every file beside this one that defines `SUITE` is a suite; no list has to be kept."""

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairalloc.models import Instance
from fairalloc.models.errors import InstanceError, UnknownName, no_such

__all__ = ["BenchmarkError", "Suite", "SuiteCase", "all_suites", "find_suite"]


class BenchmarkError(InstanceError):
    """A benchmark that cannot run: one sentence that names the thing, its value and the rule."""


@dataclass(frozen=True)
class SuiteCase:
    """One instance under one mechanism with its parameters; `build` is called where the case is solved, not before."""

    name: str
    mechanism: str
    build: Callable[[], Instance]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The mechanism as records and reports name it, such as "alpha-pf-vds alpha=3"."""
        return " ".join([self.mechanism, *(f"{name}={json.dumps(value)}" for name, value in self.parameters.items())])


@dataclass(frozen=True)
class Suite:
    """Cases with distinct names; `methods` restricts the methods that are compared, empty means all."""

    id: str
    title: str
    cases: tuple[SuiteCase, ...]
    methods: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.cases:
            raise BenchmarkError(f"the suite {self.id!r} has no cases, but it must have at least 1")
        if twice := _repeated(case.name for case in self.cases):
            raise BenchmarkError(f"two cases of the suite {self.id!r} have the name {twice!r}, but names must be distinct")

    def case(self, name: str) -> SuiteCase:
        """The case of that name."""
        return next(case for case in self.cases if case.name == name)


def all_suites() -> dict[str, Suite]:
    """Every suite of this folder by its id."""
    package = importlib.import_module("fairalloc.benchmarks.suites")
    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name != "suite")
    return register(_read(f"{package.__name__}.{name}") for name in names)


def register(suites: Iterable[Suite]) -> dict[str, Suite]:
    """The suites by id, which must be distinct."""
    found = list(suites)
    if twice := _repeated(suite.id for suite in found):
        raise BenchmarkError(f"two suites have the id {twice!r}, but ids must be distinct")
    return {suite.id: suite for suite in found}


def find_suite(name: str) -> Suite:
    """The suite of this folder with that id, or the SUITE of an importable module given by a name with a dot or as module."""
    suites = all_suites()
    if name in suites:
        return suites[name]
    try:
        return _read(name)
    except ImportError:
        rule = f"the suites are {', '.join(sorted(suites))}, or name a module that defines SUITE"
        raise UnknownName(no_such("suite", name, suites, rule)) from None


def _read(module: str) -> Suite:
    suite = getattr(importlib.import_module(module), "SUITE", None)
    if not isinstance(suite, Suite):
        raise BenchmarkError(f"the module {module!r} defines no SUITE of type Suite")
    return suite


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]
