"""What a property of an allocation is: a name and a function that gives a verdict.

A property of one's own is a plain function, or a `Property` where it is to have another name than the function:

    def nobody_starves(allocation):
        return bool(allocation.tasks.min() >= 1)

    fa.check(allocation, nobody_starves)

A number is the margin of the property, positive where it is violated:

    def tasks_that_are_missing(allocation):
        return float(1 - allocation.tasks.min())
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from inspect import Parameter, isfunction, signature
from numbers import Real
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import InstanceError, callers, check_name, shown
from fairalloc.models.numbers import as_margin

MECHANISM_PROPERTIES = ("population-monotonicity", "strategyproofness", "group-strategyproofness")
"""What only a mechanism can have, not one allocation."""


@dataclass(frozen=True)
class Property:
    """A property that allocations have or have not.

    Attributes
    ----------
    name : what a verdict calls the property
    function : `f(allocation)`, or `f(holdings, tolerance)` where it computes in rationals too (the arrays of `holdings`,
        analysis/holdings.py, are floats, or Fractions with the tolerance 0). It returns a Verdict, True or False, or a number:
        the margin, which is positive where the property is violated and at most 0 where it holds, as of `claim`
    """

    name: str
    function: Callable[..., Any]

    def __post_init__(self) -> None:
        check_name(self.name, "the name of a property")

    @property
    def meaning(self) -> str:
        """The first line of the function's docstring."""
        return ((self.function.__doc__ or "").strip().splitlines() or [""])[0]

    def verdict(self, h: Holdings, tolerance: float) -> Verdict:
        """The verdict on an allocation with its bundles; violations up to `tolerance` are rounding, in rationals none is."""
        arguments = (h, 0 if h.exact else tolerance) if _needed(self.function) == 2 else (h.allocation,)
        with callers(f"the property {self.name!r}"), np.errstate(over="ignore", invalid="ignore"):  # of tasks out of range
            found = self.function(*arguments)
        if isinstance(found, Verdict):
            return found if found.property else replace(found, property=self.name)
        if isinstance(found, bool | np.bool_):
            words = f"{self.name} {'holds' if found else 'does not hold'}"
            return Verdict(self.name, bool(found), 0.0 if found else np.inf, words, "a function of the caller")
        if isinstance(found, Real) and found == found:
            margin, text = as_margin(found)
            # rationals of an allocation in rationals are compared with 0, others with the tolerance
            exact = isinstance(found, Fraction | int) and h.allocation.x_exact is not None
            most, method = (0, "rational arithmetic") if exact else (tolerance, "a function of the caller")
            holds = bool(found <= most)
            words = f"{self.name} is {'not ' if holds else ''}violated: {text} is {'at most' if holds else 'above'} {most}"
            return Verdict(self.name, holds, margin, words, method)
        rule = "it must be a Verdict, True or False, or a number"
        raise InstanceError(f"the property {self.name!r} returned {shown(found)}, but {rule}")


def as_property(item: Any) -> Property | None:
    """A property itself, or one that a function makes under its own name; None for anything else."""
    if isfunction(item):
        return Property(item.__name__, item)
    return item if isinstance(item, Property) else None


def _needed(function: Callable[..., Any]) -> int:
    """How many positional arguments the function cannot do without."""
    places = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = signature(function).parameters.values()
    except ValueError:  # of some built-in ones nobody knows
        return 1
    return sum(p.kind in places and p.default is Parameter.empty for p in parameters)
