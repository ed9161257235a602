"""Public names of a package that are imported where they are first used (PEP 562), so that importing the package costs little."""

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules
from typing import Any


def on_demand(package: str, places: Mapping[str, str], parts: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package, which finds a name once, by places {module: names with spaces} and parts {name: module}."""
    where = {name: module for module, names in places.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in parts:
            found = import_module(parts[name])
        elif name in where:
            found = getattr(import_module(where[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(modules[package], name, found)
        return found

    return find
