"""An instance as Python code that makes it again: the arguments of `Instance` that say something."""

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import exact_text, literal
from fairalloc.models.transformations.own_time import own_time


def instance_code(instance: Instance, names: bool = False) -> str:
    """A call of `Instance` with rationals as text; `names` = with the names of its users, as users' own time has them."""
    named = ("users", "servers", "resources") if (own_time(instance) >= 0).any() else ("users",) * names
    demands, capacities, *more = arguments(instance, lambda v: int(v) if v.denominator == 1 else exact_text(v), named).items()
    return f"Instance({', '.join([repr(demands[1]), repr(capacities[1]), *(f'{k}={v!r}' for k, v in more)])})"


def value_code(value: Any) -> str:
    """The value of a parameter, in which infinity and nan need no import; texts stay as they are."""
    quoted = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
    return re.sub(rf"({quoted})|\b(inf|nan)\b", lambda found: found[1] or f"float({found[2]!r})", repr(value))


def argument_lines(instance: Instance) -> str:
    """All names and numbers, as exact as they were given, one argument a line."""
    given = arguments(instance, literal, ("name", "users", "servers", "resources"))
    return "".join(f"    {name}={value!r},\n" for name, value in given.items())


def arguments(instance: Instance, number: Callable[[Fraction], Any], names: Iterable[str]) -> dict[str, Any]:
    """What `Instance` takes, but for defaults: numbers as `number` writes them, and these of the names."""

    def rows(vectors: Iterable[Iterable[Fraction]]) -> list[list[Any]]:
        return [[number(v) for v in row] for row in vectors]

    exact, names = instance.exact, [*names]
    result: dict[str, Any] = {"demands": [rows(own) for own in exact.demands], "capacities": rows(exact.capacities)}
    result |= {name: instance.name if name == "name" else list(getattr(instance, name)) for name in names}
    if any(w != 1 for w in exact.weights):
        result["weights"] = [number(w) for w in exact.weights]
    if instance.counts.max() > 1:
        result["counts"] = instance.counts.tolist()
    if instance.rates is None and not instance.placement.all():
        result["eligible"] = instance.placement.astype(int).tolist()
    if any(limit is not None for limit in exact.max_tasks):
        result["max_tasks"] = [None if limit is None else number(limit) for limit in exact.max_tasks]
    if instance.has_floors:
        result["min_tasks"] = [number(floor) for floor in exact.min_tasks]
    if exact.own:
        result["demands_on"] = {key: rows(vectors) for key, vectors in exact.own.items()}
    if (rates := exact.rates_of(range(instance.N), range(instance.K))) is not None:
        result["rates"] = rows(rates)
    if instance.groups is not None:
        result["groups"] = instance.groups.document(instance.users if "users" in names else range(instance.N), number)
    return result
