"""Objects that a person wrote, named as `FILE.py:NAME` wherever an id goes, and how they travel to child processes.

`load_object` runs a file, so it gets only words that the user typed for that, and never what stands in a document or in records.
A file is loaded once, as a module under a name of its own that depends on nothing but its path; its folder is added to the end of
the places from which modules are imported, so that it may import its neighbours. `FILE.py` alone means the only object of the
wanted kind in it: one that the file itself made, not one that it imported.
"""

import base64
import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from fairalloc.formulations import as_mechanism
from fairalloc.models.errors import PATH, InstanceError, UnknownName, callers, fault, no_such, require, shown
from fairalloc.solvers.catalogue.method_registry import as_method
from fairalloc.solvers.running.time_limits import alarm

_PLACE = re.compile(r"(?P<file>.+\.py)(:(?P<name>.*))?", re.DOTALL)
_PICKLE = "pickle"

LOADING = 60.0  # seconds that a file may take to be loaded, in the main thread: elsewhere nothing can interrupt it
_LOADED = "_fairalloc_"


class ObjectKind(NamedTuple):
    """A kind of object: the word for it, and what makes an object one of it, or None where it is none."""

    word: str
    read: Callable[[Any], Any | None]


MECHANISM = ObjectKind("mechanism", as_mechanism)
METHOD = ObjectKind("method", as_method)
PROPERTY = ObjectKind("property", lambda item: import_module("fairalloc.analysis.properties.property").as_property(item))


def is_in_file(text: str) -> bool:
    """Whether a text names a Python file, with or without an object in it."""
    return _PLACE.fullmatch(text) is not None


def load_object(text: str, kind: ObjectKind) -> Any:
    """The object that `FILE.py:NAME`, or `FILE.py` where it has one of the kind, names.

    UnknownName is raised where there is no such file, or no such name in it; InstanceError where the file cannot be loaded, the
    object is of another kind, or FILE.py alone has none or several of the kind.
    """
    file, name = _parts(text)
    module = _module(file)
    if name is None:
        found = load_objects(text, kind)
        if len(found) != 1:
            which = f"{', '.join(found)}: name one of them as {file}:NAME" if found else "none"
            raise InstanceError(f"{file} must define one {kind.word}, but it defines {which}")
        return kind.read(next(iter(found.values())))
    if not hasattr(module, name):
        own = [key for key in _own(module) if not key.startswith("_")]
        raise UnknownName(no_such("object", name, own, f"{file} defines {', '.join(own) or 'nothing'}"))
    result = kind.read(getattr(module, name))
    require(result is not None, f"{name!r} of {file} is", getattr(module, name), f"it must be a {kind.word}")
    return result


def load_objects(text: str, kind: ObjectKind) -> dict[str, Any]:
    """All objects of a kind in `FILE.py`, or the one of `FILE.py:NAME`, by their names in the file."""
    file, name = _parts(text)
    if name is not None:
        return {name: load_object(text, kind)}
    own = {key: item for key, item in _own(_module(file)).items() if not key.startswith("_")}
    return {key: item for key, item in own.items() if not _is_made_of(own.values(), item) and kind.read(item) is not None}


def _is_made_of(items: Iterable[Any], kind: Any) -> bool:
    """Whether one of the items is an object of this class or a subclass of it."""
    others = [item for item in items if item is not kind] if isclass(kind) else []
    return any(issubclass(item if isclass(item) else type(item), kind) for item in others)


def place_of(item: Any) -> str:
    """FILE.py:NAME of an object that was loaded from a file, else of its class or of a function that it holds, or ""."""
    wanted = [item, type(item), *(value for value in getattr(item, "__dict__", {}).values() if isfunction(value))]
    files = [module for name, module in list(sys.modules.items()) if is_loaded(name)]
    made = [(f"{file.__file__}:{key}", value) for file in files for key, value in _own(file).items()]
    return next((place for one in wanted for place, value in made if value is one), "")


def is_loaded(module: str) -> bool:
    """Whether a module of this name was loaded from a file that a word named."""
    return module.startswith(_LOADED)


def folders_of_files() -> set[Path]:
    files = (getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if is_loaded(name))
    return {Path(file).parent for file in files if file}


def _own(module: ModuleType) -> dict[str, Any]:
    """What the file made itself: no modules, no functions and classes of other modules; each object under its first name."""
    made: dict[int, tuple[str, Any]] = {}
    for key, item in vars(module).items():
        imported = isinstance(item, ModuleType) or ((isclass(item) or isfunction(item)) and item.__module__ != module.__name__)
        if not imported:
            made.setdefault(id(item), (key, item))
    return dict(made.values())


def _parts(text: str) -> tuple[str, str | None]:
    place = _PLACE.fullmatch(text)
    if place is None:
        raise InstanceError(f"an object is named as FILE.py:NAME, but this is {shown(text)}")
    return place["file"], place["name"]


def _module(file: str) -> ModuleType:
    try:
        path = Path(file).resolve()
        if not path.is_file():
            raise UnknownName(f"there is no file {shown(file, PATH)}")
        return _loaded(path)
    except (OSError, RuntimeError) as error:
        raise InstanceError(f"{shown(file, PATH)} cannot be read: {error}") from None


@cache
def _loaded(path: Path) -> ModuleType:
    """Run the file as a module; what goes wrong is said with the line of the file."""
    import cloudpickle

    name = f"{_LOADED}{path.stem}_{hashlib.sha256(bytes(path)).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    rung = [False]
    try:
        with alarm(LOADING) as rung:
            spec.loader.exec_module(module)
    except BaseException as error:  # it may raise KeyboardInterrupt and SystemExit too
        del sys.modules[name]
        why = f"it does not end within {LOADING:g} seconds" if rung[0] else _cause(error, path)
        raise InstanceError(f"{path} cannot be loaded: {why}") from error
    cloudpickle.register_pickle_by_value(module)
    return module


def _cause(error: BaseException, path: Path) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [None, *(frame.lineno for frame in frames if frame.filename == str(path))]
    return fault(error, error.lineno if isinstance(error, SyntaxError) else lines[-1])


def packed(item: Any) -> Any:
    """A JSON value from which `unpacked` makes the item in another process: a text as it is, an object as {"pickle": text}.

    It is for the pipes between processes of this user alone: no file holds it, and no word is read as one.
    """
    import cloudpickle

    if isinstance(item, str):
        return item
    with callers(shown(item), "cannot be sent to another process"):
        return {_PICKLE: base64.b64encode(cloudpickle.dumps(item)).decode()}


def unpacked(given: Any) -> Any:
    return _unpickled(given[_PICKLE]) if isinstance(given, dict) else given


@cache
def _unpickled(text: str) -> Any:
    import cloudpickle

    with callers("an object", "did not arrive in this process"):
        return cloudpickle.loads(base64.b64decode(text))
