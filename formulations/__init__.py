"""The mechanisms: one file each, the paper's page as a CVXPY and a Pyomo model, and its definition as a residual.

A file of this folder that defines `mechanism` is a mechanism; nothing is listed by hand.
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.formulations, not as formulations: it is mapped into fairalloc")

from inspect import Parameter, isclass, signature
from pkgutil import iter_modules
from typing import Any

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError, UnknownName, callers, no_such
from fairalloc.models.registry import Registry, imported

__all__ = ["MECHANISMS", "Mechanism", "as_mechanism", "mechanism", "mechanism_of"]


def _discover() -> list[Mechanism]:
    found = (getattr(imported(f"{__name__}.{module.name}"), "mechanism", None) for module in iter_modules(__path__))
    return [item for item in found if isinstance(item, Mechanism)]


def as_mechanism(item: Any) -> Mechanism | None:
    """The mechanism itself, or one of a class of mechanisms that needs no arguments; None for anything else.

    InstanceError where the class needs arguments, or its objects cannot be made.
    """
    if not (isclass(item) and issubclass(item, Mechanism)):
        return item if isinstance(item, Mechanism) else None
    free = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    required = [p.name for p in signature(item).parameters.values() if p.default is Parameter.empty and p.kind not in free]
    for needed in required[:1]:
        raise InstanceError(f"{item.__name__} is a class of mechanisms that needs {needed}: write {item.__name__}({needed}=...)")
    with callers(f"the mechanism {item.__name__}()", "cannot be made"):
        return item()


MECHANISMS: Registry[Mechanism] = Registry(
    "mechanism", "fairalloc.mechanisms", _discover, as_mechanism, lambda item: (item.id, *item.aliases)
)
"""All mechanisms by id."""


def mechanism(name: str | Mechanism | type[Mechanism], /, **parameters: Any) -> Mechanism:
    """The mechanism with this id or alias; a mechanism itself is returned as it is, and a class that needs no arguments made one.

    `parameters` are the mechanism's own, such as alpha. UnknownName for another name, NotApplicable for another parameter.

    >>> mechanism("ceei").id
    'nb'
    >>> mechanism("fds", alpha=3).parameters
    {'alpha': 3.0}
    """
    found = _named(name)
    return found.configure(**parameters) if parameters else found


def _named(name: str | Mechanism | type[Mechanism]) -> Mechanism:
    if (own := as_mechanism(name)) is not None:
        return own
    if isinstance(name, str) and (found := MECHANISMS.get(name)) is not None:
        return found
    for item in MECHANISMS.values():
        if isinstance(name, str) and name in item.aliases:
            return item.called(name)
    names = [key for item in MECHANISMS.values() for key in (item.id, *item.aliases)]
    raise UnknownName(no_such("mechanism", name, names, f"the mechanisms are {', '.join(MECHANISMS)}"))


def mechanism_of(allocation: Allocation, name: str | Mechanism | type[Mechanism] | None = None, asked_by: str = "") -> Mechanism:
    """The mechanism of this name, the allocation's with its parameters; the allocation knows one of one's own by its id.

    NotApplicable where it knows no floors or groups, and the instance of the allocation has some.

    Parameters
    ----------
    allocation : as `solve` gives it; InstanceError where it has no mechanism and no name is given
    name : an id, an alias or a mechanism (UnknownName where there is none); None = what the allocation was solved for
    asked_by : the function of (allocation, mechanism) that asks, for the message; "" = whoever asks has a message of its own
    """
    if asked_by and name is None and not allocation.mechanism:
        rule = f"{asked_by} needs one: {asked_by}(allocation, mechanism)"
        raise InstanceError(f"the allocation names no mechanism, so {rule}")
    return _found(allocation, name).kept(allocation.instance)


def _found(allocation: Allocation, name: str | Mechanism | type[Mechanism] | None) -> Mechanism:
    own = allocation.rule
    if name is None:
        return mechanism(allocation.mechanism).configure(**allocation.parameters) if own is None else mechanism(own)
    if own is not None and name == own.id and (name not in MECHANISMS or own.functions):
        return mechanism(own)
    found = mechanism(name)
    solved = isinstance(name, str) and found.id == allocation.mechanism  # an object has its own parameters
    return found.configure(**allocation.parameters) if solved else found
