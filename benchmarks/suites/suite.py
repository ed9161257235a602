"""Suites: what is solved. Every file beside this one that defines `SUITE` is a suite; no list has to be kept."""

import importlib
import json
import pkgutil
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fairalloc.formulations import Mechanism, as_mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models import Instance
from fairalloc.models.arguments import Duration, Rule, check_fields, checked
from fairalloc.models.errors import InstanceError, UnknownName, check_name, no_such
from fairalloc.models.files.jsonio import read_instance
from fairalloc.models.numbers import as_json
from fairalloc.models.registry import Registry
from fairalloc.runs.objects import ObjectKind, is_in_file, load_object, place_of
from fairalloc.solvers import METHODS
from fairalloc.solvers.method import Method
from fairalloc.solvers.options import Accuracy, promised

OTHERS = ("cvxpy:", "gamspy:", "highs", "ortools:", "pyomo:", "qtqp")
"""How the ids of methods begin that hand a model to somebody else's solver."""

MIXED = ("highs:leximin",)
"""Methods of this package that use such a solver in part."""


def is_ours(method: str) -> bool:
    """Whether a method is an algorithm of this package."""
    return METHODS.is_ours(method) and (method in MIXED or not method.startswith(OTHERS))


Repeats = Annotated[int, Rule(lambda value: 1 <= value <= 1000, "a whole number from 1 to 1,000")]


class BenchmarkError(InstanceError):
    """A benchmark that cannot run: one sentence that names the thing, its value and the rule."""


@dataclass(frozen=True)
class SuiteCase:
    """One instance under one mechanism.

    Attributes
    ----------
    name : distinct in its suite
    mechanism : its id, or itself
    build : makes the instance; it is called where the case is solved
    parameters : of the mechanism
    answer : the exact tasks of each user, where a paper prints them; a reference for the report
    methods : that are asked, if they are available; () = all
    accuracies : that methods are asked for, where the run does not say otherwise; () = those of the suite
    after : the name of a smaller case before it, or "": a method that ran out of time or memory there is not asked here
    family : what it belongs to with its smaller and larger kin, for the report of growth; "" = nothing
    words : what `fairalloc bench run` needs to solve it, where the name of its suite and its own are not enough
    """

    name: str
    mechanism: str | Mechanism
    build: Callable[[], Instance]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    answer: Sequence[Fraction] | None = None
    methods: Sequence[str] = ()
    accuracies: Sequence[Accuracy] = ()
    after: str = ""
    family: str = ""
    words: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        check_name(self.name, "the name of a case")
        if (item := as_mechanism(self.mechanism)) is not None:
            object.__setattr__(self, "mechanism", item)

    @property
    def label(self) -> str:
        """The mechanism as records and reports name it, such as "alpha-pf-vds alpha=3"."""
        item = self.mechanism if isinstance(self.mechanism, str) else self.mechanism.id
        return " ".join([item, *(f"{name}={json.dumps(value, default=as_json)}" for name, value in self.parameters.items())])


@dataclass(frozen=True)
class Suite:
    """Cases with distinct names.

    Attributes
    ----------
    id, title : its name, and what it is in a few words
    cases : what is solved
    methods : that are compared, ids or methods themselves; () = all that are available but approximations
    accuracies : that every method is asked for, words or residuals; methods are compared at what they achieve
    time_limit, repeats : for each solve, where the run does not say otherwise
    trace : whether the iterations of algorithms are kept with their seconds and residuals
    words : what `fairalloc bench run` needs to run it, where its id is not enough
    lacks : says in a sentence why the suite cannot run here, as where its data are not found; "" where it can
    """

    id: str
    title: str
    cases: Sequence[SuiteCase]
    methods: Sequence[str | Method] = ()
    accuracies: Sequence[Accuracy] = ("mid",)
    time_limit: Duration = 20.0
    repeats: Repeats = 3
    trace: bool = False
    words: str = ""
    lacks: Callable[[], str] = str

    def __post_init__(self) -> None:
        check_fields(self)
        check_name(self.id, "the id of a suite")
        for name in ("cases", "methods", "accuracies"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for accuracy in self.accuracies:
            promised(accuracy)
        if not self.cases:
            raise BenchmarkError(f"the suite {self.id!r} has no cases, but it must have at least 1")
        if twice := repeated(case.name for case in self.cases):
            raise BenchmarkError(f"two cases of the suite {self.id!r} have the name {twice!r}, but names must be distinct")
        before = set[str]()
        for case in self.cases:
            if case.after and case.after not in before:
                raise BenchmarkError(f"the case {case.name!r} is after {case.after!r}, but no case before it has that name")
            before.add(case.name)

    def case(self, name: str) -> SuiteCase:
        """The case of that name."""
        return next(case for case in self.cases if case.name == name)


def _discover() -> list[Suite]:
    """Every suite of this folder."""
    package = importlib.import_module("fairalloc.benchmarks.suites")
    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name != "suite")
    return [_read(f"{package.__name__}.{name}") for name in names]


SUITE = ObjectKind("suite", lambda item: item if isinstance(item, Suite) else None)

SUITES: Registry[Suite] = Registry("suite", "fairalloc.suites", _discover, SUITE.read, lambda item: (item.id,))
"""All suites by id."""


@checked
def find_suite(name: str | Suite) -> Suite:
    """A suite itself, or that with this id, that of FILE.py or FILE.py:NAME, or the SUITE of an importable module."""
    if isinstance(name, Suite):
        return name
    rule = f"the suites are {', '.join(sorted(SUITES))}, or name a file FILE.py or a module that defines SUITE"
    if not isinstance(name, str):
        raise UnknownName(no_such("suite", name, SUITES, rule))
    if is_in_file(name):
        found: Suite = load_object(name, SUITE)
        return found
    if name in SUITES:
        return SUITES[name]
    try:
        return _read(name)
    except (ImportError, TypeError, ValueError):
        if name in sys.modules:  # the module is there, and what it defines is wrong
            raise
        raise UnknownName(no_such("suite", name, SUITES, rule)) from None


@checked
def suite_of(
    paths: Sequence[str | Path], mechanisms: Sequence[str | Mechanism | type[Mechanism]], place: str | Path | None = None
) -> Suite:
    """A suite of instances in files, each under each mechanism.

    Parameters
    ----------
    paths : JSON files, which are read where they are solved
    mechanisms : ids, or mechanisms themselves
    place : the file, folder or glob that names all paths, for the command that runs the suite again; None = the only path

    Returns
    -------
    The suite, with the cases FILE or, under several mechanisms, FILE-MECHANISM
    """
    cases, items = [], [given if isinstance(given, str) else find_mechanism(given) for given in mechanisms]
    place = paths[0] if place is None and len(paths) == 1 else place
    for part in (*paths, *(() if place is None else (place,))):
        check_name(str(part), "a path")
    for path in map(Path, paths):
        for item in items:
            label = item if isinstance(item, str) else item.id
            name, file = path.stem + (f"-{label}" if len(mechanisms) > 1 else ""), path.resolve()
            cases.append(SuiteCase(name, item, partial(read_instance, file), words=_words(file, [item])))
    words = "" if place is None else _words(Path(place).resolve(), items)
    return Suite("files", f"{len(paths)} instances in files", tuple(cases), words=words)


def _words(place: Path, items: Sequence[str | Mechanism]) -> str:
    """A place with the mechanisms that are asked for, as words of a command."""
    named = (item if isinstance(item, str) else place_of(item) or item.id for item in items)
    return shlex.join([str(place), *(word for name in named for word in ("--mechanism", name))])


def _read(module: str) -> Suite:
    suite = getattr(importlib.import_module(module), "SUITE", None)
    if not isinstance(suite, Suite):
        raise BenchmarkError(f"the module {module!r} defines no SUITE of type Suite")
    return suite


def repeated(names: Iterable[str]) -> str | None:
    """The first name that comes twice, or None."""
    return next((name for name, count in Counter(names).items() if count > 1), None)
