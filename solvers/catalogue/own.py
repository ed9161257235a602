"""Methods of one's own: a `Method` object or class, or a plain function `(instance, mechanism, limits) -> tasks`.

A function may return

    (A,) tasks on `instance.arcs`, an Allocation on the same arcs, or {user: {server: tasks}}, where what is not named is 0.

It is asked for the mechanisms that it declares by `@fa.method(mechanisms=["drfh"])`. One that declares none computes whatever
mechanism a call names, and is not asked in a suite of several. Whatever it raises, and whatever else it returns, is an answer
with the termination "error" and one sentence.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import numpy as np

from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.formulations.mechanism import Mechanism, written_here
from fairalloc.models.allocation import USER_ERROR_NOT_KNOWN, Allocation, Times
from fairalloc.models.arguments import is_list
from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, check_name, fault, require, said, shown
from fairalloc.models.files.jsonio import ALLOCATION_SCHEMA, parse_allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, floats
from fairalloc.solvers.method import Answer, Limits, Method
from fairalloc.solvers.running.warm_start import start_on

Own: TypeAlias = Method | type[Method] | Callable[[Instance, Mechanism, Limits], Any]

F = TypeVar("F", bound=Callable[[Instance, Mechanism, Limits], Any])

_DECLARED = "fairalloc_mechanisms"


def method(mechanisms: Sequence[str | Mechanism | type[Mechanism]]) -> Callable[[F], F]:
    """Declare which mechanisms a function `(instance, mechanism, limits) -> tasks` computes; the function is returned unchanged.

    Parameters
    ----------
    mechanisms : ids, aliases or mechanisms of your own, at least one

    Raises
    ------
    UnknownName : there is no such mechanism
    NotApplicable : none is named, or the function takes other arguments

    Examples
    --------
    >>> @method(mechanisms=["drfh"])
    ... def equal_split(instance, mechanism, limits):
    ...     return instance.arcs.gamma / instance.N
    >>> own_method(equal_split)
    <method equal_split: own>
    """
    given: Any = mechanisms
    if inspect.isfunction(given):
        raise NotApplicable(f"@fa.method is written @fa.method(mechanisms=['drfh']), with what {given.__name__!r} computes")
    declared = frozenset(find_mechanism(item).id for item in (given if is_list(given) else [given]))
    if not declared:
        raise NotApplicable("mechanisms is empty, but a method computes at least one")

    def declare(function: F) -> F:
        own_method(function)
        setattr(function, _DECLARED, declared)
        return function

    return declare


class OwnFunction(Method):
    """A function as a method: it gets the instance in the units of the user, the mechanism and the limits.

    `limits.left` are the seconds left, `limits.promised` the residual asked for, `limits.start` (A,) tasks to start from.
    """

    canonical = False
    warm = True

    def __init__(self, function: Callable[[Instance, Mechanism, Limits], Any]) -> None:
        self.function, self.is_ours = function, written_here(function)
        self.id = getattr(function, "__name__", type(function).__name__)
        self.declared: frozenset[str] = getattr(function, _DECLARED, frozenset())
        if not self.declared:
            self.undeclared = "a function says what it computes by @fa.method(mechanisms=[...]) above it"

    def computes(self, mechanism: Mechanism) -> bool:
        """What it declares, or else what a call names, which its author knows."""
        return not self.declared or mechanism.id in self.declared

    def run(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        """Call the function, and read what it returns; what it raises is read by whoever asked (running/dispatch.py)."""
        given = self.function(instance, mechanism, limits)
        try:
            x, prices = _tasks(self.id, instance, given)
        except FairallocError as error:
            raise Unusable(str(error)) from None
        told = {name: getattr(given, name) for name in ("message", "trace", "log")} if isinstance(given, Allocation) else {}
        ended = given.termination if told else "optimal"
        return Answer(x, prices, "optimal" if ended in ("given", "stationary", USER_ERROR_NOT_KNOWN) else ended, Times(), **told)


class Unusable(Exception):  # noqa: N818 (a signal, not an error)
    """What a function returned cannot be read."""


def own_method(given: Any) -> Method:
    """The method of a Method, a class of them that needs no arguments, or a function of three; NotApplicable for what is none."""
    if inspect.isclass(given) and issubclass(given, Method):
        kind: type[Method] = given
        try:
            given = kind()
        except (Exception, SystemExit) as error:
            raise NotApplicable(f"the method class {kind.__name__} cannot be made without arguments: {fault(error)}") from None
    if isinstance(given, Method):
        if not isinstance(name := getattr(given, "id", None), str) or not name:
            raise NotApplicable(f"the method {shown(given)} has no id, but it must be a string that is not empty")
        check_name(name, "the id of a method")
        return given
    if not callable(given) or inspect.isclass(given):
        rule = "it must be an id, a Method, or a function (instance, mechanism, limits) -> tasks"
        raise NotApplicable(f"there is no method {shown(given)}: {rule}")
    try:
        with suppress(ValueError):  # built in, without a signature
            inspect.signature(given).bind(None, None, None)
    except TypeError:
        name = getattr(given, "__name__", type(given).__name__)
        raise NotApplicable(f"the function {name}{inspect.signature(given)} must take (instance, mechanism, limits)") from None
    return OwnFunction(given)


def failure(name: str, error: BaseException) -> str:
    """One sentence on what a method raised, or returned and cannot be read."""
    text = " ".join(said(error).split())
    if isinstance(error, Unusable):
        return text
    return f"{name} raised {type(error).__name__}" + (f": {text}" if text else "")


def _tasks(name: str, instance: Instance, given: Any) -> tuple[Floats, Floats | None]:
    """(A,) tasks, and prices where an Allocation has some; Unusable with a sentence."""
    if isinstance(given, Allocation):
        start_on(instance, given, f"the allocation that {name} returned")
        return given.x, given.prices if given.round_prices is None else given.round_prices
    x: Floats = _by_names(instance, given) if isinstance(given, Mapping) else np.zeros(())
    with suppress(InstanceError):
        x = x if x.ndim else floats(given, name)
    rule = "it must return tasks on the instance's arcs, an Allocation or {user: {server: tasks}}"
    require(x.ndim, f"{name} returned", given, rule)
    require(x.shape == (instance.A,), f"{name} returned an array of shape", x.shape, f"the instance has {instance.A} arcs")
    for a in np.flatnonzero(~np.isfinite(x))[:1]:
        raise InstanceError(f"{name} returned {x[a]} for arc {a}, but tasks must be finite numbers")
    return x, None


def _by_names(instance: Instance, given: Mapping[Any, Any]) -> Floats:
    """(A,) tasks as documents have them, 0 for users who are not named; FairallocError where they cannot be read."""
    named = {**{user: {} for user in instance.users}, **given}
    users = [{"name": user, "by_server": dict(of) if isinstance(of, Mapping) else of} for user, of in named.items()]
    return parse_allocation({"schema": ALLOCATION_SCHEMA, "users": users}, instance).x
