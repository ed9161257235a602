"""What a measured time or a simulated outcome depends on: the code of the objects that compute it, their options, and versions.

1. The modules in which the objects, their classes and the functions they hold are defined are the roots.
2. What these import from this package, name by name, belongs to them; the modules of other methods and mechanisms do not.
3. Each module counts by its syntax tree without docstrings, so comments and the texts of documentation change nothing.
4. With the options of the objects and the versions of Python, NumPy, SciPy and the packages of the method this is one hash.
"""

import ast
import hashlib
import importlib
import inspect
import json
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache, partial
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from fairalloc.formulations import Mechanism
from fairalloc.runs.machine import installed_version
from fairalloc.runs.objects import packed
from fairalloc.solvers.method import Method

PACKAGE = "fairalloc."

TEXTS = frozenset({"id", "title", "source", "aliases", "install", "about"})
"""Attributes that say something to people and change no computation."""


MEASURED_BY = tuple(f"fairalloc.solvers.{name}" for name in ("judge", "running.cpu_time", "running.dispatch"))
"""The judge and the clock of every answer: these files alone, for they import other methods."""


def code_of(method: Method, mechanism: Mechanism) -> str:
    """Hash of everything in steps 1 to 4, and of what measures."""
    return code_behind(method, mechanism, versions=method.versions(), others=MEASURED_BY)


def code_behind(*objects: Any, versions: Mapping[str, str] | None = None, others: Sequence[str] = ()) -> str:
    """Hash of everything in steps 1 to 4, of any objects: one that is no function, class, mechanism or method by its class."""
    behind = modules_behind(*(item if any(True for _ in _homes(item)) else type(item) for item in objects))
    parts = {
        "modules": sorted(map(_digest, behind.union(others))),  # a file of one's own has another name each time
        "state": sorted({text for item in objects if not inspect.isclass(item) for text in _state(item)}),
        "versions": {
            "python": platform.python_version(),
            **{name: installed_version(name) for name in ("numpy", "scipy")},
            **(versions or {}),
        },
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def modules_behind(*objects: Any) -> set[str]:
    """The names of the modules of the objects, and of what these import from the same package or folder."""
    found, left = set[str](), [name for item in objects for name in _homes(item)]
    while left:
        name = left.pop()
        if name not in found and _source(name) is not None:
            found.add(name)
            left.extend(_imports(name))
    return found


def _homes(item: Any) -> Iterator[str]:
    """Step 1: where the class of an object is defined, and the functions and objects that it holds."""
    if isinstance(item, partial):
        yield from _homes(item.func)
    elif inspect.isfunction(item) or inspect.isclass(item):
        yield item.__module__ or "__main__"
    elif isinstance(item, Mechanism | Method):
        yield type(item).__module__
        for value in vars(item).values():
            yield from _homes(value)


def _state(item: Any) -> Iterator[str]:
    """The options of an object and of those it holds, as texts; functions whose code is in no file count by themselves."""
    for name, value in getattr(item, "__dict__", {}).items():
        if name in TEXTS or name.startswith("_"):
            continue
        if isinstance(value, Mechanism | Method):
            yield from _state(value)
        elif callable(value) and not any(_source(home) for home in _homes(value)):
            yield _own_code(value)
        elif is_dataclass(value) or isinstance(value, str | int | float | tuple | Mapping):
            yield re.sub(r" at 0x[0-9a-fA-F]+", "", f"{name}={value!r}")  # where a function lies in memory


def _own_code(value: Any) -> str:
    """A function that was typed in: its source where Python still knows it, else what would be sent to another process."""
    try:
        return _dumped(ast.parse(inspect.cleandoc(inspect.getsource(value))))
    except (OSError, TypeError, SyntaxError):
        return str(packed(value))


@cache
def _source(module: str) -> Path | None:
    """The file of a module of this package, or of one that was loaded from a file of its own; None for any other."""
    if module == "__main__":
        return None
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    file = spec.origin if spec else getattr(sys.modules.get(module), "__file__", None)
    is_own = module.startswith(PACKAGE) or not _is_installed(file)
    return Path(file) if file and file.endswith(".py") and is_own else None


def _is_installed(file: str | None) -> bool:
    """Whether a file belongs to Python or to an installed package, whose version counts instead."""
    if file is None or not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts):
        return True
    return Path(file).is_relative_to(Path(ast.__file__).parent)


@cache
def _tree(module: str) -> ast.Module:
    file = _source(module)
    assert file is not None
    return ast.parse(file.read_text("utf-8"))


@cache
def _digest(module: str) -> str:
    """Step 3."""
    return hashlib.sha256(_dumped(_tree(module)).encode()).hexdigest()[:16]


def _dumped(tree: ast.AST) -> str:
    """A syntax tree as a text, after its docstrings are taken out of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            texts = [p for p in node.body if isinstance(p, ast.Expr) and isinstance(getattr(p.value, "value", None), str)]
            node.body = [part for part in node.body if part not in texts]
    return ast.dump(tree)


@cache
def _imports(module: str) -> frozenset[str]:
    """Step 2: for each name that a module imports, the module that defines it."""
    nodes = list(ast.walk(_tree(module)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    chosen = [(_absolute(module, node), node.names) for node in nodes if isinstance(node, ast.ImportFrom)]
    named = {_home(place, alias.name) for place, names in chosen if _is_near(module, place) for alias in names}
    return frozenset({name for name in plain if _is_near(module, name)} | named)


def _absolute(module: str, node: ast.ImportFrom) -> str:
    """The module that `from .. import` names in a module; "" where it is above all packages."""
    is_package = (file := _source(module)) is not None and file.name == "__init__.py"
    with suppress(ImportError):
        return resolve_name("." * node.level + (node.module or ""), module if is_package else module.rpartition(".")[0])
    return ""


def _is_near(module: str, name: str) -> bool:
    """Whether what a module imports is of this package, or beside it in its folder."""
    if name.startswith(PACKAGE) or module.startswith(PACKAGE):
        return name.startswith(PACKAGE)
    here, there = _source(module), _source(name)
    return here is not None and there is not None and here.parent == there.parent


def _home(module: str, name: str) -> str:
    """The module that defines what `from module import name` gives: a submodule, the home of a class or function, or itself."""
    if _source(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    home = getattr(getattr(importlib.import_module(module), name, None), "__module__", None)
    return home if isinstance(home, str) and home.startswith(PACKAGE) else module
