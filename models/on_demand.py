"""Public names of a package that are imported where they are first used (PEP 562), so that importing the package costs little."""

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from sys import modules
from typing import Any


def on_demand(package: str, parts: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package, which finds a name once.

    A name is that of a part, {name: module}, or of what the package imports below `if TYPE_CHECKING`, for tools that read types.
    """

    @cache
    def places() -> dict[str, str]:
        """The module of each name."""
        loader: Any = modules[package].__loader__
        blocks = [node for node in ast.parse(loader.get_source(package)).body if isinstance(node, ast.If)]
        imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def find(name: str) -> Any:
        if name in parts:
            found = import_module(parts[name])
        elif name in places():
            found = getattr(import_module(places()[name]), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(modules[package], name, found)
        return found

    return find
