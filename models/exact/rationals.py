"""The instance in exact arithmetic: the arcs of `instance.arcs` and the shares of shares.py as rationals.

A certificate must decide whether two numbers are equal, which floating point cannot. The functions below use the formulas of
instance.py and shares.py on the rationals of `instance.exact`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeAlias

from fairalloc.models.instance import Instance

Rationals: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class ExactArcs:
    """The arcs of an instance, in the order of `instance.arcs`.

    user, rows : (A,) index of the user of each arc, and K R
    load : (A,) pairs (i R + r, part): the part of resource r of server i that one task takes
    limits : (N,) max_tasks, None = unlimited
    """

    user: tuple[int, ...]
    load: tuple[tuple[tuple[int, Fraction], ...], ...]
    limits: tuple[Fraction | None, ...]
    rows: int

    def tasks(self, x: Sequence[Fraction]) -> Rationals:
        """(N,) tasks of each user."""
        result = [Fraction(0)] * len(self.limits)
        for n, value in zip(self.user, x, strict=True):
            result[n] += value
        return tuple(result)

    def loads(self, x: Sequence[Fraction]) -> Rationals:
        """(K R,) used part of each capacity."""
        result = [Fraction(0)] * self.rows
        for load, value in zip(self.load, x, strict=True):
            for row, part in load if value else ():
                result[row] += part * value
        return tuple(result)

    def matrix(self) -> list[list[Fraction]]:
        """(K R, A) `load` with its zeros."""
        result = [[Fraction(0)] * len(self.user) for _ in range(self.rows)]
        for a, load in enumerate(self.load):
            for row, part in load:
                result[row][a] = part
        return result

    def cheapest(self, prices: Sequence[Fraction]) -> Rationals:
        """(N,) cost of each user's cheapest task at prices (K R,)."""
        costs: list[list[Fraction]] = [[] for _ in self.limits]
        for n, load in zip(self.user, self.load, strict=True):
            costs[n].append(sum((part * prices[row] for row, part in load if prices[row]), Fraction(0)))
        return tuple(min(cost) for cost in costs)


def exact_arcs(instance: Instance) -> ExactArcs:
    """The arcs of an instance with its exact data."""
    arcs, exact, width, counts = instance.arcs, instance.exact, instance.R, instance.counts.tolist()
    loads = []
    for n, v, i in zip(arcs.user.tolist(), arcs.variant.tolist(), arcs.server.tolist(), strict=True):
        parts = zip(exact.demands_at(n, i)[v], exact.capacities[i], strict=True)
        loads.append(tuple((i * width + r, d / (counts[i] * c)) for r, (d, c) in enumerate(parts) if d))
    return ExactArcs(tuple(arcs.user.tolist()), tuple(loads), exact.max_tasks, instance.K * width)


def as_flint(value: Fraction | int) -> Any:
    """The number as a rational of python-flint, whose exact linear algebra is fast."""
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


def as_fraction(value: Any) -> Fraction:
    """A rational of python-flint as a Fraction."""
    return Fraction(int(value.numerator), int(value.denominator))


def as_ball(value: Fraction | int) -> Any:
    """The number as a ball of python-flint, in the precision of its context."""
    from flint import arb

    return arb(as_flint(value))


def point_as_fraction(point: Any) -> Fraction:
    """The exact value of a ball of radius 0, such as an end of an enclosure."""
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def rounded_up(value: Fraction) -> Fraction:
    """The least multiple of a power of 2 that is not below, of 64 or 65 binary digits."""
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - 64)
    return math.ceil(value / unit) * unit


def solved(matrix: Sequence[Sequence[Fraction]], sides: Sequence[Fraction]) -> Rationals | None:
    """The solution of square equations; None where they are singular."""
    from flint import fmpq_mat

    size = len(sides)
    left = fmpq_mat(size, size, [as_flint(v) for row in matrix for v in row])
    try:
        answer = left.solve(fmpq_mat(size, 1, [as_flint(v) for v in sides]))
    except ZeroDivisionError:
        return None
    return tuple(as_fraction(v) for v in answer.entries())


@lru_cache(maxsize=8)
def exact_monopolies(instance: Instance) -> Rationals:
    """(A,) gamma_ni in rationals: the most tasks that the arc's user runs alone on its server, variants side by side (K 8)."""
    arcs = exact_arcs(instance)
    of: dict[tuple[int, int], list[int]] = {}
    for a, pair in enumerate(zip(arcs.user, instance.arcs.server.tolist(), strict=True)):
        of.setdefault(pair, []).append(a)
    result = [Fraction(0)] * len(arcs.user)
    for own in of.values():
        gamma = sum(best_mixture([dict(arcs.load[a]) for a in own])[0], Fraction(0))
        for a in own:
            result[a] = gamma
    return tuple(result)


def best_mixture(loads: Sequence[Mapping[int, Fraction]]) -> tuple[Rationals, Mapping[int, Fraction]]:
    """Max sum_v y_v  s.t.  sum_v load_vr y_v <= 1, y >= 0, and its dual  min sum_r p_r  s.t.  sum_r load_vr p_r >= 1, p >= 0.

    An optimal basis has k variants and k resources. They are tried, fewest first, until y and p are both feasible: then
    sum y = sum p proves both, so the answer depends on nothing but the data. Variants of a user are few. `loads` has for each
    variant {resource: the part of it that a task takes, > 0}; the answer is y (V,), and {resource: p} of those with a price.
    """
    resources = sorted({r for load in loads for r in load})
    zero = Fraction(0)
    for k in range(1, min(len(loads), len(resources)) + 1):
        for chosen in combinations(range(len(loads)), k):
            for full in combinations(resources, k):
                matrix = [[loads[v].get(r, zero) for v in chosen] for r in full]
                y, p = solved(matrix, [Fraction(1)] * k), solved([*zip(*matrix, strict=True)], [Fraction(1)] * k)
                if y is None or p is None or min(y) < 0 or min(p) < 0:
                    continue
                price, tasks = dict(zip(full, p, strict=True)), dict(zip(chosen, y, strict=True))
                dear = all(sum((part * price.get(r, zero) for r, part in load.items()), zero) >= 1 for load in loads)
                fits = all(sum((loads[v].get(r, zero) * t for v, t in tasks.items()), zero) <= 1 for r in resources)
                if dear and fits:
                    return tuple(tasks.get(v, zero) for v in range(len(loads))), price
    raise AssertionError("a linear program with a feasible and bounded set has an optimal basis")


def global_dominant_share(instance: Instance) -> Rationals:
    """(N,) max_r d_nr / sum_i c_ir (K 5, W 3)."""
    return tuple(max(parts) for parts in _parts(instance))


def asset_share(instance: Instance) -> Rationals:
    """(N,) sum_r d_nr / sum_i c_ir (D 4)."""
    return tuple(sum(parts, Fraction(0)) for parts in _parts(instance))


def count(instance: Instance) -> Rationals:
    """(N,) ones."""
    return (Fraction(1),) * instance.N


def task_share(instance: Instance) -> Rationals:
    """(N,) 1 / sum_i min_r c_ir / d_nr, placement ignored (K 2.2)."""
    return tuple(1 / sum((_alone(instance, n, i) for i in range(instance.K)), Fraction(0)) for n in range(instance.N))


def share_alone(instance: Instance) -> Rationals:
    """(A,) max_r d_nr / c_ir on each arc (W 3.4)."""
    return tuple(max(part for _, part in load) for load in exact_arcs(instance).load)


def monopoly(instance: Instance) -> Rationals:
    """(N,) sum_i gamma_ni: tasks the user could run alone on all its servers, on each in its best way (K 8)."""
    result = [Fraction(0)] * instance.N
    best: dict[tuple[int, int], Fraction] = {}
    for n, i, part in zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), share_alone(instance), strict=True):
        best[n, i] = min(part, best.get((n, i), part))
    for (n, _), part in best.items():
        result[n] += 1 / part
    return tuple(result)


def _parts(instance: Instance) -> list[list[Fraction]]:
    exact = instance.exact
    pools = [[int(q) * c for c in capacity] for q, capacity in zip(instance.counts, exact.capacities, strict=True)]
    totals = [sum(column, Fraction(0)) for column in zip(*pools, strict=True)]
    return [[d / c for d, c in zip(vectors[0], totals, strict=True) if d] for vectors in exact.demands]


def _alone(instance: Instance, n: int, i: int) -> Fraction:
    """Tasks of user n that row i alone can run (K 8)."""
    exact = instance.exact
    (demand,) = exact.demands_at(n, i)
    return int(instance.counts[i]) * min(c / d for c, d in zip(exact.capacities[i], demand, strict=True) if d)
