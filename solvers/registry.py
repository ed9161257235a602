"""The methods that there are: every file of the sub-rooms that defines `methods` is found; nothing is listed by hand."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.registry import Registry, imported
from fairalloc.solvers.method import Method

__all__ = ["METHODS", "as_method", "candidates", "methods_for"]


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
    """A method itself, or one that its class makes; None for anything else."""
    made = item() if isinstance(item, type) and issubclass(item, Method) else item
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
    available : whether to leave out methods whose packages are missing
    """
    return list(candidates(mechanism, instance, available))


def candidates(mechanism: Mechanism, instance: Instance | None = None, available: bool = True) -> Iterator[Method]:
    """The methods of `methods_for` one by one: whoever needs the first only does not ask the others.

    Parameters
    ----------
    mechanism, instance, available : as for `methods_for`
    """
    for key in chain(FASTEST, (name for name in METHODS if name not in FASTEST)):
        if key not in METHODS:  # its file has an error
            continue
        method = METHODS[key]
        fits = method.computes(mechanism) and (instance is None or not method.applies(mechanism, instance))
        if fits and (method.is_available() or not available):
            yield method
