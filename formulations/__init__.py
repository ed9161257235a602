"""The mechanisms: one file each, the paper's page as a CVXPY and a Pyomo model, and its definition as a residual.

A file of this folder that defines `mechanism` is a mechanism; nothing is listed by hand.
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.formulations, not as formulations: it is mapped into fairalloc")

from pkgutil import iter_modules

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.errors import UnknownName, no_such
from fairalloc.models.registry import Registry, imported

__all__ = ["MECHANISMS", "Mechanism", "mechanism"]


def _discover() -> dict[str, Mechanism]:
    found: dict[str, Mechanism] = {}
    for module in iter_modules(__path__):
        item = getattr(imported(f"{__name__}.{module.name}"), "mechanism", None)
        if isinstance(item, Mechanism):
            _add(found, item)
    return found


def _add(found: dict[str, Mechanism], item: Mechanism) -> None:
    taken = {name for other in found.values() for name in (other.id, *other.aliases)}
    for name in (item.id, *item.aliases):
        if name in taken:
            raise ValueError(f"two mechanisms are named {name!r}, but names must be distinct")
    found[item.id] = item


MECHANISMS: Registry[Mechanism] = Registry(
    "mechanism",
    "fairalloc.mechanisms",
    _discover,
    lambda item: item if isinstance(item, Mechanism) else None,
    lambda item: (item.id, *item.aliases),
)
"""All mechanisms by id."""


def mechanism(name: str | Mechanism) -> Mechanism:
    """The mechanism with this id or alias; a mechanism itself is returned as it is.

    >>> mechanism("ceei").id
    'nb'
    """
    if isinstance(name, Mechanism):
        return name
    if isinstance(name, str) and name in MECHANISMS:
        return MECHANISMS[name]
    for item in MECHANISMS.values():
        if name in item.aliases:
            return item
    names = [key for item in MECHANISMS.values() for key in (item.id, *item.aliases)]
    raise UnknownName(no_such("mechanism", name, names, f"the mechanisms are {', '.join(MECHANISMS)}"))
