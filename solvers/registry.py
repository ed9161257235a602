"""The methods that there are: every file of the sub-rooms that defines `methods` is found; nothing is listed by hand."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.solvers.method import Method

__all__ = ["METHODS", "methods_for"]


def _discover() -> dict[str, Method]:
    found: dict[str, Method] = {}
    here = Path(__file__).parent
    for room in [module.name for module in iter_modules([str(here)]) if module.ispkg]:
        for module in iter_modules([str(here / room)]):
            for item in getattr(import_module(f"{__package__}.{room}.{module.name}"), "methods", ()):
                _add(found, item)
    return dict(sorted(found.items()))


def _add(found: dict[str, Method], item: Method) -> None:
    if item.id in found:
        raise ValueError(f"two methods are named {item.id!r}, but names must be distinct")
    found[item.id] = item


METHODS: dict[str, Method] = _discover()
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
    "pyomo:ipopt",
    "cvxpy:highs",
)
"""The order in which `method=None` tries them: measured by the suite `first`; the others follow by name."""


def methods_for(mechanism: Mechanism, instance: Instance | None = None, available: bool = True) -> list[Method]:
    """The methods that compute a mechanism (on this instance), fastest first."""
    order = [*FASTEST, *(key for key in METHODS if key not in FASTEST)]
    fit = [METHODS[key] for key in order if METHODS[key].computes(mechanism)]
    fit = fit if instance is None else [method for method in fit if not method.applies(mechanism, instance)]
    return [method for method in fit if method.is_available() or not available]
