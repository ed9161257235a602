"""The order in which `method=None` asks methods: by measurements, kept in choice.json.

`fairalloc bench run choose` measures the methods of every mechanism on instances of several sizes and kinds, and `fairalloc bench
choose` writes what it found: for each measured case its features, and the seconds of each method that claimed its answer.

1. Of the measured cases of the mechanism whose answer somebody claimed, the nearest to the instance by its features (`distance`)
   decides: who claimed it comes first, by seconds.
2. The others follow in the order of all cases of the mechanism together (`overall`): how often they claim where they are asked,
   then how many times the seconds of the best they take, in the geometric mean.
3. Then come the others in the same order over all mechanisms, and last, by name, what was never measured. So a mechanism that the
   table does not have, such as one of one's own, is asked of the methods that do best on all.
4. Of a game there may be several equilibria, and methods say which they take: there step 2 comes first, over the cases with the
   nearest alpha, so that the answer does not jump with the size. Where an objective chooses among them, CHOOSING comes first.

**Distance.** The sum of: decades of arcs; decades of rows K R, by half; decades of the density of placement; 1 where one of the
two has zero demands and the other has not; and decades of alpha, of which all beyond 1,000 are one, where both have one number.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from math import isfinite, log10
from pathlib import Path
from typing import Any

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance

__all__ = ["TABLE", "Features", "Measured", "features_of", "order", "ordered", "overall", "read_table"]

TABLE = Path(__file__).with_name("choice.json")
"""What was measured, where and when."""

LARGEST = 1000.0
"""Above it all alpha are one."""

CHOOSING = ("psdsf-enumeration",)
"""Exact, for few arcs; not measured."""

SLACK = 1.1
"""Times that differ by less are equal: the order overall decides between them."""


@dataclass(frozen=True)
class Features:
    """What the order depends on.

    Attributes
    ----------
    arcs, rows : A and K R
    density : the part of all (variant, server) that is eligible
    zeros : whether some demand is 0
    alpha : the mechanism's, where it is one number; None otherwise
    """

    arcs: int
    rows: int
    density: float
    zeros: bool
    alpha: float | None = None


@dataclass(frozen=True)
class Measured:
    """A measured case: its mechanism, its features, the seconds of methods that claimed its answer, and those that did not."""

    mechanism: str
    features: Features
    seconds: Mapping[str, float]
    silent: tuple[str, ...] = field(default=())


def features_of(mechanism: Mechanism, instance: Instance) -> Features:
    """Of an instance under a mechanism."""
    arcs = instance.arcs
    ways = instance.K * instance.vectors.matrix.shape[0]
    alpha = getattr(mechanism, "alpha", None)
    number = _number(alpha)
    zeros = arcs.load.nnz < len(arcs) * instance.R
    return Features(len(arcs), instance.K * instance.R, len(arcs) / ways, zeros, number)


def _number(value: Any) -> float | None:
    """A parameter as a number; None for several of them, and for what the mechanism will refuse."""
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None


def distance(one: Features, other: Features) -> float:
    """How unlike two cases are, see the text of this module."""
    apart = abs(log10(one.arcs / other.arcs)) + 0.5 * abs(log10(one.rows / other.rows))
    apart += abs(log10(one.density / other.density)) + (one.zeros != other.zeros)
    return apart + _alpha_distance(one, other)


def _alpha_distance(one: Features, other: Features) -> float:
    if one.alpha is None or other.alpha is None:
        return 0.0
    return abs(log10(_tamed(one.alpha) / _tamed(other.alpha)))


def _tamed(alpha: float) -> float:
    return min(max(alpha, 1 / LARGEST), LARGEST)


def ordered(cases: Sequence[Measured], mechanism: str, features: Features | None, steady: bool = False) -> list[str]:
    """The ids of all measured methods, in the order in which they should be asked.

    Parameters
    ----------
    cases : of the table
    mechanism : its id
    features : of the instance; None = of none in particular
    steady : whether the order is the same for all sizes (step 4)
    """
    own = [case for case in cases if case.mechanism == mechanism]
    claimed = [case for case in own if case.seconds]
    if features is None or not claimed:
        return _chained(overall(own), overall(cases))
    if steady:
        least = min(_alpha_distance(case.features, features) for case in claimed)
        alike = [case for case in own if _alpha_distance(case.features, features) == least]
        return _chained(overall(alike), overall(own), overall(cases))
    nearest = min(claimed, key=lambda case: distance(case.features, features))
    behind = _chained(overall(own), overall(cases))
    return _chained(_by_seconds(nearest.seconds, behind), behind)


def _chained(*orders: Sequence[str]) -> list[str]:
    """One after the other, each method where it is first."""
    return list(dict.fromkeys(method for order in orders for method in order))


def _by_seconds(seconds: Mapping[str, float], behind: Sequence[str]) -> list[str]:
    """By seconds; of neighbours whose times are equal within SLACK the one that does better over all first."""
    first, place = sorted(seconds, key=seconds.__getitem__), {method: k for k, method in enumerate(behind)}
    for k in range(len(first) - 1):
        one, other = first[k : k + 2]
        if seconds[other] <= SLACK * seconds[one] and place[other] < place[one]:
            first[k], first[k + 1] = other, one
    return first


def overall(cases: Iterable[Measured]) -> list[str]:
    """Step 3: the order of methods over all cases."""
    claims: dict[str, list[float]] = {}
    misses: dict[str, int] = {}
    for case in cases:
        best = min(case.seconds.values(), default=1.0)
        for method, seconds in case.seconds.items():
            claims.setdefault(method, []).append(log10(seconds / best))
        for method in case.silent:
            misses[method] = misses.get(method, 0) + 1

    def rank(method: str) -> tuple[float, float, str]:
        found, missed = claims.get(method, []), misses.get(method, 0)
        return missed / (missed + len(found)), sum(found) / len(found) if found else 0.0, method

    return sorted({*claims, *misses}, key=rank)


def read_table(document: Mapping[str, Any]) -> tuple[Measured, ...]:
    """The cases in a document such as choice.json."""
    return tuple(
        Measured(
            item["mechanism"],
            Features(item["arcs"], item["rows"], item["density"], item["zeros"], _alpha(item["alpha"])),
            {method: float(seconds) for method, seconds in item["seconds"].items() if isfinite(seconds)},
            tuple(item["silent"]),
        )
        for item in document["cases"]
    )


def _alpha(value: Any) -> float | None:
    return None if value is None else float(value)


@cache
def _table() -> tuple[Measured, ...]:
    return read_table(json.loads(TABLE.read_text(encoding="utf-8")))


@lru_cache(maxsize=256)
def _ordered(mechanism: str, features: Features | None, steady: bool) -> list[str]:
    return ordered(_table(), mechanism, features, steady)


def order(mechanism: Mechanism, instance: Instance | None) -> list[str]:
    """The ids of the measured methods, first those to be asked first.

    Parameters
    ----------
    mechanism : configured
    instance : where; None = nowhere in particular
    """
    seen = features_of(mechanism, instance) if instance is not None and len(instance.arcs) else None
    game = isinstance(mechanism, Equilibrium)
    found = _ordered(mechanism.id, seen, game)
    return [*CHOOSING, *found] if isinstance(mechanism, Equilibrium) and mechanism.chooses else found
