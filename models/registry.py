"""Things by name, found when they are first asked for: those of this package, and those that installed packages bring.

A package joins by entry points of its pyproject.toml, each of which leads to an object, or to a list of them:

    [project.entry-points."fairalloc.mechanisms"]
    capped = "my_package.fairness:capped"

The groups are fairalloc.mechanisms, .methods, .suites, .properties and .statements. What cannot be loaded is one warning that
names it, and everything else works.
"""

import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from fairalloc.models.errors import InstanceError, fault, not_installed, require, shown

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class Registry(Mapping[str, T], Generic[T]):
    """The things of one kind by id.

    Installed packages are asked only where a name is not one of ours, or all are wanted: so their modules may use ours by name
    while they are loaded. `own` finds those of this package, `group` names the entry points of others; `read` gives an object as
    one of the kind, or None; `names` are the id and other names of one, which must all be distinct.
    """

    kind: str
    group: str
    own: Callable[[], Iterable[T]]
    read: Callable[[Any], T | None]
    names: Callable[[T], tuple[str, ...]]
    _lock: Any = field(default_factory=threading.RLock)
    _own: Mapping[str, T] | None = None
    _joined: dict[str, T] | None = None

    def __getitem__(self, name: str) -> T:
        own = self._ours()
        return own[name] if name in own else self._theirs()[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._ours(), *self._theirs()])

    def __len__(self) -> int:
        return len(self._ours()) + len(self._theirs())

    def is_ours(self, name: str) -> bool:
        """Whether it is a name of one of this package; installed packages are not asked."""
        return any(name in self.names(item) for item in self._ours().values())

    def by_id(self, items: Iterable[T]) -> dict[str, T]:
        """The items by id, each once; InstanceError where two have a name in common."""
        every = {id(item): item for item in items}.values()
        for name, times in Counter(name for item in every for name in self.names(item)).items():
            require(times == 1, f"two {self.kind}s are named", name, "names must be distinct")
        return {self.names(item)[0]: item for item in every}

    def all_names(self) -> list[str]:
        """The ids and other names of all."""
        return [name for item in self.values() for name in self.names(item)]

    def _ours(self) -> Mapping[str, T]:
        with self._lock:
            if self._own is None:
                self._own = self.by_id(self.own())
            return self._own

    def _theirs(self) -> Mapping[str, T]:
        """What installed packages bring; a package that asks while it is loaded sees what there is by then."""
        with self._lock:
            if self._joined is None:
                self._joined = {}
                for point in sorted(entry_points(group=self.group), key=lambda item: (item.name, item.value)):
                    self._join(point)
            return self._joined

    def _join(self, point: EntryPoint) -> None:
        package = point.dist.name if point.dist else "an unknown package"
        where = f"the {self.kind} {point.name!r} of {package} ({point.value})"
        try:
            given = point.load()
            read = [(item, self.read(item)) for item in (given if isinstance(given, list | tuple) else [given])]
            things = [(item, thing, () if thing is None else self.names(thing)) for item, thing in read]
        except (Exception, SystemExit) as error:
            _left_out(where, error)
            return
        assert self._joined is not None
        for item, thing, names in things:
            there = self.all_names()
            if thing is None:
                warnings.warn(f"{where} is left out: {shown(item)} is no {self.kind}", stacklevel=2)
            elif taken := [name for name in names if name in there]:
                warnings.warn(f"{where} is left out: there is another {self.kind} named {taken[0]!r}", stacklevel=2)
            else:
                self._joined[names[0]] = thing


def imported(module: str) -> Any:
    """A module of this package that registers something, or None with a warning where it has an error."""
    try:
        return import_module(module)
    except (Exception, SystemExit) as error:
        _left_out(f"the file of {module}", error)
        return None


@contextmanager
def naming_the_file(module: str) -> Iterator[None]:
    """While a module of this package is loaded: InstanceError with the file, which may be one that it imports, and the line."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and (missing := not_installed(error)) is not error:
            raise missing from None
        own = getattr(sys.modules.get(module), "__file__", None) or module
        places = [(frame.filename, frame.lineno, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
        frames = [(file, line) for file, line, name in places if name == "<module>"]
        if isinstance(error, SyntaxError) and error.filename:
            frames.append((error.filename, error.lineno))
        file, line = frames[-1] if frames else (own, None)  # the error may come after the file is loaded
        raise InstanceError(f"{file} cannot be loaded: {fault(error, line)}") from error


def _left_out(what: str, error: BaseException) -> None:
    warnings.warn(f"{what} cannot be loaded and is left out: {fault(error)}", stacklevel=3)
