"""Reading numbers: what a person writes, as floats and as exact rationals.

A float is read as the decimal it prints as (0.2 is 1/5), so that JSON, Python and the certificates mean the same number.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Number: TypeAlias = "int | float | str | Fraction"


class InstanceError(ValueError):
    """Bad input: one sentence that names the thing, its value and the rule."""


def rational(value: Any, what: str) -> Fraction:
    """The exact value of an int, float, Fraction or string such as "1/5"; `what` names it in the error."""
    if isinstance(value, bool | np.bool_):
        raise InstanceError(f"{what} is {value}, which is not a number")
    try:
        if isinstance(value, float | np.floating):
            return Fraction(repr(float(value)))
        if isinstance(value, int | np.integer):
            return Fraction(int(value))
        if isinstance(value, str | Fraction):
            return Fraction(value)
    except (ValueError, ZeroDivisionError):
        pass
    raise InstanceError(f"{what} is {value!r}, which is not a finite number or a rational such as '1/5'")


def finite(value: Any, what: str) -> float:
    """A finite float, or an InstanceError that names `what`; strings and Fractions are rounded to nearest."""
    number = value if isinstance(value, float) else rational(value, what)
    try:
        result = float(number)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise InstanceError(f"{what} is {value}, but it must be a finite number")
    return result


def plain(value: Any) -> bool:
    """Whether `value` is an array of machine numbers, which needs no element-by-element reading."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiu"


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, made read-only."""
    array.setflags(write=False)
    return array


def row(value: Any, names: Sequence[str], what: str) -> Floats:
    """A vector with one finite number for each name; `what` is a phrase such as "the capacity of server 's1'"."""
    if not plain(value):
        if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str) or np.ndim(value) == 0:
            raise InstanceError(f"{what} is {value!r}, but it must be a list of {len(names)} numbers")
        if len(value) == len(names):
            value = np.array([finite(v, f"{what} for {name!r}") for v, name in zip(value, names, strict=True)])
    if np.ndim(value) != 1 or len(value) != len(names):
        raise InstanceError(f"{what} has shape {np.shape(value)}, but there are {len(names)}: {', '.join(names[:8])}")
    result = np.array(value, dtype=float)
    if not np.all(np.isfinite(result)):
        r = int(np.argmin(np.isfinite(result)))
        raise InstanceError(f"{what} for {names[r]!r} is {result[r]}, but it must be a finite number")
    return result
