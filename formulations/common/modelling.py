"""CVXPY and Pyomo, `cp` and `pyo` of all rooms: imported when something of them is asked for."""

import sys
from collections.abc import Collection
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fairalloc.models.errors import not_installed


class Package:
    """A package that is imported when something of it is asked for; NotInstalled where it is not there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, part: str) -> Any:
        try:
            found = getattr(import_module(self._name), part)
        except ModuleNotFoundError as error:
            if error.name != self._name.partition(".")[0]:  # it is there, and lacks something
                raise
            raise not_installed(error) from None
        setattr(self, part, found)  # the next time it is there
        return found

    def __reduce__(self) -> tuple[type, tuple[str]]:
        """Copied and pickled by its name: rules of one's own, whose functions ask it, travel to other processes."""
        return Package, (self._name,)


if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo
else:
    cp, pyo = Package("cvxpy"), Package("pyomo.environ")

__all__ = ["cp", "is_installed", "layer_to_read", "pyo"]


@cache
def is_installed(name: str) -> bool:
    """Whether a package can be imported; looked up once, for it takes as long as solving a small instance."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # ValueError: a module that nothing was found for
        return name in sys.modules


def layer_to_read(layers: Collection[str]) -> str:
    """The layer whose model says what kind it is: "cvxpy", but where that is not installed or not written "pyomo"."""
    return "pyomo" if "pyomo" in layers and not ("cvxpy" in layers and is_installed("cvxpy")) else "cvxpy"
