"""Reading numbers: what a person writes, as floats and as exact rationals.

A float is read as the decimal it prints as (0.2 is 1/5), so that JSON, Python and the certificates mean the same number.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError, listed, require, shown

Floats: TypeAlias = NDArray[np.float64]

TEN_DIGITS = 1e-10
"""The smallest tolerance that HiGHS takes."""

NOTHING = 1e-9
"""Tables show 0 for what is less than this part of the largest value."""


_UNSIGNED = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?"
DECIMAL = re.compile(rf"[+-]?{_UNSIGNED}")
_TEXT = re.compile(rf"\s*[+-]?([0-9]+/[0-9]+|{_UNSIGNED})\s*")
"""A number as a string, as in the schema; longer exponents are refused because the exact number would fill the memory."""

LONGEST_TEXT = 100_000
"""Characters of such a string; a million take half a minute to read."""


def rational(value: Any, what: str) -> Fraction:
    """The exact value of an int, float, Fraction or string such as "1/5"; `what` names it in the error."""
    if type(value) is Fraction:
        return value
    if isinstance(value, bool | np.bool_):
        raise InstanceError(f"{what} is {value}, which is not a number")
    try:
        if isinstance(value, float | np.floating):
            return Fraction(Decimal(repr(float(value))))  # quicker than from the text
        if isinstance(value, int | np.integer):
            return Fraction(int(value))
        if isinstance(value, Fraction):
            return Fraction(value)
        if isinstance(value, str) and len(value) <= LONGEST_TEXT and _TEXT.fullmatch(value):
            above, _, below = value.partition("/")
            return Fraction(Decimal(above)) / (Fraction(Decimal(below)) if below else 1)
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise InstanceError(f"{what} is {shown(value)}, which is not a finite number or a rational such as '1/5'")


def quotient(above: Fraction, below: Fraction, what: str) -> float:
    """The float that is nearest to above / below, whose digits need not be cancelled; errors as of `finite`."""
    try:
        result = above.numerator * below.denominator / (above.denominator * below.numerator)
    except OverflowError:
        result = 0.0
    return result or finite(above / below, what)


def finite(value: Any, what: str) -> float:
    """A finite float, or an InstanceError that names `what`; strings and Fractions are rounded to nearest."""
    number = value if isinstance(value, float) else rational(value, what)
    try:
        result = float(number)
    except OverflowError:
        result = 0.0
    if not math.isfinite(result):
        raise InstanceError(f"{what} is {shown(value)}, but it must be a finite number")
    if result == 0 and number != 0:
        raise InstanceError(f"{what} is {shown(value)}, which is out of the range of floating point: change units")
    return result


def worst(values: Iterable[float] | Floats) -> float:
    """The largest of the values, at least 0; inf where one is not a number.

    >>> worst([0.0, float("nan")])
    inf
    """
    if isinstance(values, np.ndarray):
        values = (float(values.max(initial=0.0)),)
    largest = 0.0
    for value in values:
        if not value <= largest:
            largest = value if value == value else math.inf
    return largest


def rounded(value: float, error: float) -> float:
    """A number that is known up to an error, without the digits behind it.

    >>> rounded(0.99962, 0.001)
    1.0
    """
    return round(float(value), int(-math.log10(max(error, 1e-300)))) + 0.0  # never -0


def without_rounding(values: Floats, unit: Any = None) -> Floats:
    """The values to be shown: 0 for what is below NOTHING of its unit, by default of the largest.

    >>> without_rounding(np.array([3.0, 1.6e-12])).tolist()
    [3.0, 0.0]
    """
    unit = float(np.abs(values).max(initial=0.0)) if unit is None else unit
    return np.where(np.abs(values) < NOTHING * unit, 0.0, values)


def plain(value: Any) -> bool:
    """Whether `value` is an array of machine numbers, which needs no element-by-element reading."""
    return type(value) is np.ndarray and value.dtype.kind in "fiu"


def floats(value: Any, what: str) -> Floats:
    """A new array of floats, or an InstanceError that names `what`; dates, spans of time and complex numbers are none."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    require(not np.ma.is_masked(value), f"{what} is", value, "nothing in it must be masked")
    with suppress(TypeError, ValueError, OverflowError):
        if kind not in ("M", "m", "c"):
            return np.array(value, dtype=float)
    raise InstanceError(f"{what} is {shown(value)}, but it must be an array of numbers")


def is_vector(value: Any) -> bool:
    """Whether `value` is a sequence or an array with at least one dimension; text is none."""
    return value.ndim > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence) and not isinstance(value, str | bytes)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, made read-only."""
    array.setflags(write=False)
    return array


def row(value: Any, names: Sequence[str], what: str, each: str | None = None) -> Floats:
    """A vector (len(names),) with one finite number for each name, such as the resources, read as `rational` reads numbers.

    In errors `what` names the vector, such as "the count of server 's1'"; `each` stands before a name, default `what` + "for".
    InstanceError where `value` is no list, has another length, or an entry is not a finite number.
    """
    each = each or f"{what} for"
    flat = is_vector(value) and not (plain(value) and value.ndim > 1)
    require(flat, f"{what} is", value, f"it must be a list of {len(names)} numbers")
    if len(value) != len(names):
        rule = f"there must be {len(names)} numbers: {listed(names)}"
        raise InstanceError(f"{what} is {shown(value)} of length {len(value)}, but {rule}")
    if not plain(value):
        value = [finite(v, f"{each} {name!r}") for v, name in zip(value, names, strict=True)]
    result = np.array(value, dtype=float)
    for r in np.flatnonzero(~np.isfinite(result))[:1]:
        raise InstanceError(f"{each} {names[r]!r} is {result[r]}, but it must be a finite number")
    return result


def as_json(value: Any) -> Any:
    """The value as JSON has it: a list for a sequence, a text for a rational, None for what is not finite; else InstanceError."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | Sequence):
        return [as_json(item) for item in value]
    if isinstance(value, Fraction):
        return exact_text(value)
    require(isinstance(value, np.generic), "a value is", value, "a document holds numbers, words, lists and objects of these")
    return as_json(value.item())


def exact_text(value: Fraction) -> str:
    """All digits of "p/q", or of "p"; Python's own conversion of whole numbers refuses more than some thousands."""
    parts = value.as_integer_ratio()
    return "/".join(str(Decimal(part)) for part in parts[: 1 if parts[1] == 1 else 2])


def told_apart(one: Any, other: Any) -> tuple[str, str]:
    """Two numbers for one sentence: with six digits, or as many as show that they differ; as rationals where floats do not.

    >>> told_apart(Fraction(10), 10.00002), told_apart(1 + Fraction(1, 10**20), Fraction(1))
    (('10', '10.00002'), ('100000000000000000001/100000000000000000000', '1'))
    """
    for digits in range(6, 18):
        texts = f"{float(one):.{digits}g}", f"{float(other):.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    exact = one != other and Fraction in (type(one), type(other))
    return (exact_text(Fraction(one)), exact_text(Fraction(other))) if exact else (f"{float(one):.6g}",) * 2


def as_margin(value: Any) -> tuple[float, str]:
    """A real number as a float, inf beyond their range, and as a text of at most 60 characters.

    >>> as_margin(Fraction(-1, 3))[1], as_margin(10**400)[0]
    ('-1/3', inf)
    """
    text = exact_text(Fraction(value)) if isinstance(value, Fraction | int) else str(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return number, text if len(text) <= 60 else f"{text[:57]}..."


def literal(value: Fraction) -> int | float | str:
    """An int, or a float that prints as exactly this value, or a string "p/q"."""
    if value.denominator == 1:
        return value.numerator
    try:
        number = float(value)
    except OverflowError:
        return exact_text(value)
    return number if Fraction(repr(number)) == value else exact_text(value)


def pivots(rows: int, columns: int) -> int:
    """The most simplex iterations; measured were up to 0.8 for each row and column, and no end where numbers are far apart."""
    return 100 + 4 * (rows + columns)


def linear_program(cost: Any, rows: Any, sides: Any, tolerance: float = 1e-7, seconds: float = math.inf, **others: Any) -> Any:
    """SciPy's answer to min cost z  s.t.  rows z <= sides, and what `linprog` takes besides; its x is None where it found none.

    Parameters
    ----------
    cost, rows, sides : (columns,), (rows, columns) and (rows,)
    tolerance : of feasibility, primal and dual; HiGHS takes none below 1e-10
    seconds : after which it ends
    others : A_eq, b_eq and bounds; "presolve" is an option
    """
    from scipy.optimize import linprog

    options = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), tolerance)
    options |= {"maxiter": pivots(*rows.shape), "presolve": others.pop("presolve", True)}
    options |= {"time_limit": max(seconds, 0.0)} if seconds < math.inf else {}
    try:
        return linprog(cost, A_ub=rows, b_ub=sides, method="highs-ds", options=options, **others)
    except ValueError as error:
        if "must not contain" not in str(error):  # inf or nan: a number is out of the range of floating point
            raise
        return SimpleNamespace(x=None, fun=None, success=False, status=None, message=str(error))
