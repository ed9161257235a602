"""What a user gives for each server or each user: one for all, one for each, or by name."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from fairalloc.models.errors import InstanceError, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, is_vector


def by_name(value: Any, names: Sequence[str], what: str, kind: str) -> list[Any]:
    """One entry for each name, from one for all, a vector of them, or {name: entry}; InstanceError where they do not fit."""
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in names]
        missing = [key for key in names if key not in value]
        for key in [*unknown, *missing][:1]:
            raise InstanceError(f"{what} {'names' if unknown else 'lacks'} {kind} {key!r}: it must name every {kind} once")
        value = [value[key] for key in names]
    entries = list(value) if is_vector(value) else [value] * len(names)
    if len(entries) != len(names):
        raise InstanceError(f"{what} has {len(entries)} entries, but there are {len(names)} {kind}s")
    return entries


def per_server(value: Any, instance: Instance, name: str) -> Floats:
    """(K,) floats from a number, one for each server, or {server: number}; "inf" is a number. InstanceError as for `by_name`."""
    return np.array([number(entry, name) for entry in by_name(value, instance.servers, name, "server")])


def number(value: Any, name: str) -> float:
    """A float from a number or the text "inf"."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    wrong = isinstance(value, bool) or not (isinstance(value, Real) or (isinstance(value, str) and value == "inf"))
    try:
        result = math.nan if wrong else float(value)
    except OverflowError:  # an int, which is no way to write inf
        result = math.nan
    if math.isnan(result):
        raise InstanceError(f"{name} is {shown(value)}, but it must be a number")
    return result
