"""The methods that there are: every file of the sub-rooms that defines `methods` is found; nothing is listed by hand."""

from collections.abc import Iterator
from inspect import isfunction, signature
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.errors import UnknownName, no_such
from fairalloc.models.instance import Instance
from fairalloc.models.registry import Registry, imported
from fairalloc.solvers.installed import installed_methods, other_method
from fairalloc.solvers.method import Method
from fairalloc.solvers.options import Option
from fairalloc.solvers.own import OwnFunction

__all__ = ["METHODS", "as_method", "candidates", "find_method", "methods_for", "options"]


def _discover() -> dict[str, Method]:
    found: dict[str, Method] = {}
    here = Path(__file__).parent
    for room in [module.name for module in iter_modules([str(here)]) if module.ispkg]:
        for module in iter_modules([str(here / room)]):
            for item in getattr(imported(f"{__package__}.{room}.{module.name}"), "methods", ()):
                _add(found, item)
    return dict(sorted(found.items()))


def _add(found: dict[str, Method], item: Method) -> None:
    if item.id in found:
        raise ValueError(f"two methods are named {item.id!r}, but names must be distinct")
    found[item.id] = item


def as_method(item: object) -> Method | None:
    """A method itself, one that its class makes, or a function of (instance, mechanism, limits); None for anything else."""
    made = item() if isinstance(item, type) and issubclass(item, Method) else item
    if isfunction(made) and [*signature(made).parameters] == ["instance", "mechanism", "limits"]:
        return OwnFunction(made)
    return made if isinstance(made, Method) else None


METHODS: Registry[Method] = Registry("method", "fairalloc.methods", _discover, as_method, lambda item: (item.id,))
"""All methods by id, available or not."""

FASTEST = (
    "continuation",
    "progressive-filling",
    "highs:leximin",
    "highs",
    "interior-point",
    "njc-market",
    "njc-milp",
    "cvxpy:clarabel",
    "pyomo:highs",
    "pyomo:ipopt",
    "cvxpy:highs",
)
"""The order in which `method=None` tries them: measured by the suite `first`; the others follow by name."""


def methods_for(mechanism: Mechanism, instance: Instance | None = None, available: bool = True) -> list[Method]:
    """The methods that compute a mechanism, fastest first.

    Parameters
    ----------
    mechanism : what is to be computed
    instance : where; None = on some instance
    available : whether to leave out methods whose packages are missing, and to end with the solvers of the user that CVXPY or
        Pyomo find (installed.py)
    """
    return list(candidates(mechanism, instance, available))


def find_method(name: str) -> Method:
    """The method with this id: one of METHODS, or a solver that CVXPY or Pyomo knows, such as "cvxpy:gurobi" (installed.py).

    Raises
    ------
    UnknownName : there is none
    """
    found = METHODS[name] if name in METHODS else other_method(name)
    if found is None:
        raise UnknownName(no_such("method", name, METHODS))
    return found


def options(method: str) -> tuple[Option, ...]:
    """The options of a method's algorithm: names, defaults, and what they are, with units and reasons.

    Where a solver is behind the method, it takes all options of that solver besides, in the solver's own names.

    >>> [option.name for option in options("pdhg")]
    ['max_iterations', 'check_every', 'restart', 'restart_after']
    """
    return find_method(method).options.described()


def candidates(mechanism: Mechanism, instance: Instance | None = None, available: bool = True) -> Iterator[Method]:
    """The methods of `methods_for` one by one: whoever needs the first only does not ask the others.

    Parameters
    ----------
    mechanism, instance, available : as for `methods_for`
    """
    known = (METHODS[key] for key in chain(FASTEST, (k for k in METHODS if k not in FASTEST)) if key in METHODS)
    own = (method for method in installed_methods() if available and method.id not in METHODS)
    for method in chain(known, own):
        fits = method.computes(mechanism) and (instance is None or not method.applies(mechanism, instance))
        if fits and (method.is_available() or not available):
            yield method
