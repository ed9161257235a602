"""Rational answers and prices for lone scripts, from the exact solvers; the scripts check them again by themselves."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.leximin import LeximinCertificate
from fairalloc.analysis.linear import Optimum, maximum
from fairalloc.formulations import mechanism
from fairalloc.models.errors import InstanceError
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance

__all__ = [
    "by_server",
    "farkas",
    "least_prices",
    "lexicographic_answer",
    "most_tasks",
    "multipliers",
    "of_variants",
    "rational_answer",
]

F = Fraction
Table = list[list[Fraction]]


def rational_answer(instance: Instance, name: str) -> Any:
    """The certificate of a mechanism's exact answer; InstanceError where there is none."""
    made = certified_answer(instance, name)
    if not made:
        raise InstanceError(f"{name} has no rational answer here: {made}")
    return made


def by_server(instance: Instance, x: Sequence[Fraction]) -> Table:
    """Tasks on arcs by user and server, of users with one variant."""
    table = [[F(0)] * instance.K for _ in range(instance.N)]
    for n, i, value in zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), x, strict=True):
        table[n][i] += value
    return table


def of_variants(instance: Instance, x: Sequence[Fraction]) -> Table:
    """Tasks on arcs by user and variant, in one pool."""
    table = [[F(0)] * len(rows) for rows in instance.exact.demands]
    for n, v, value in zip(instance.arcs.user.tolist(), instance.arcs.variant.tolist(), x, strict=True):
        table[n][v] += value
    return table


def lexicographic_answer(instance: Instance, name: str, pool: bool = False) -> dict[str, Any]:
    """`tasks` and `rounds` of a lexicographic mechanism: prices of each round, in units of capacity.

    Parameters
    ----------
    instance : the problem
    name : the mechanism
    pool : whether there is one pool, so that tasks are by variant and the prices of a round are one row
    """
    made = rational_answer(instance, name)
    assert isinstance(made, LeximinCertificate), "a lexicographic mechanism"
    domain = mechanism(name).domain(instance)
    counts = domain.counts.tolist()
    pools = [[c * count for c in row] for row, count in zip(domain.exact.capacities, counts, strict=True)]
    rounds = [_per_unit(part.prices, pools) for part in made.rounds]
    if pool:
        return {"tasks": of_variants(domain, made.x), "rounds": [prices[0] for prices in rounds]}
    return {"tasks": by_server(domain, made.x), "rounds": rounds}


def _per_unit(prices: Sequence[Fraction], pools: Table) -> Table:
    """Prices in parts of capacity as prices of units; 0 where there is no capacity."""
    R = len(pools[0])
    return [[prices[i * R + r] / c if c else F(0) for r, c in enumerate(row)] for i, row in enumerate(pools)]


def most_tasks(instance: Instance, gaining: Collection[int], least: Mapping[int, Fraction]) -> Optimum:
    """Feasible tasks z (A,) in which some users together have most while others have at least so many.

    Parameters
    ----------
    instance : the servers
    gaining : whose tasks count
    least : what a user keeps; feasible tasks that give it must exist
    """
    arcs = exact_arcs(instance)
    load = [[dict(part).get(row, F(0)) for part in arcs.load] for row in range(arcs.rows)]
    kept = [[F(-int(m == n)) for m in arcs.user] for n in least]
    sides = np.array([F(1)] * arcs.rows + [-u for u in least.values()], dtype=object)
    cost = np.array([F(int(m in gaining)) for m in arcs.user], dtype=object)
    best = maximum(cost, np.array(load + kept, dtype=object), sides, True)
    assert best is not None, "a bounded program with a feasible point"
    return best


def least_prices(demands: Table, needs: Sequence[Fraction | None], capacity: Sequence[Fraction]) -> list[Fraction]:
    """The prices of one server at which capacities cost least, and a task of user n its need or more.

    Parameters
    ----------
    demands : (N, R)
    needs : (N,) what a task costs at least; None where a user may not run
    capacity : (R,)

    Returns
    -------
    (R,) prices
    """
    rows = [([-q for q in d], -need) for d, need in zip(demands, needs, strict=True) if need is not None]
    matrix, sides = np.array([row for row, _ in rows], dtype=object), np.array([side for _, side in rows], dtype=object)
    best = maximum(np.array([-c for c in capacity], dtype=object), matrix, sides, True)
    assert best is not None, "prices that are high enough satisfy this"
    return [F(v) for v in best.z]


def multipliers(rows: Table, sides: Sequence[Fraction], objective: Sequence[Fraction]) -> list[Fraction] | None:
    """The y >= 0 with y . rows >= objective for which y . sides is least: of a linear program the dual solution.

    Parameters
    ----------
    rows, sides : rows . x <= sides
    objective : of x >= 0

    Returns
    -------
    (rows,) y, or None where no y bounds the objective
    """
    matrix = np.array([[-row[k] for row in rows] for k in range(len(objective))], dtype=object)
    best = maximum(np.array([-s for s in sides], dtype=object), matrix, np.array([-v for v in objective], dtype=object), True)
    return None if best is None else [F(v) for v in best.z]


def farkas(rows: Table, sides: Sequence[Fraction]) -> list[Fraction] | None:
    """The y >= 0 with y . rows >= 0 and y . sides = -1, which no x >= 0 with rows . x <= sides allows; None where there is none.

    It is what max -y . sides with y . rows >= 0 and -y . sides <= 1 finds.

    Parameters
    ----------
    rows, sides : rows . x <= sides
    """
    columns = [[-row[k] for row in rows] for k in range(len(rows[0]))]
    matrix = np.array([*columns, [-s for s in sides]], dtype=object)
    best = maximum(
        np.array([-s for s in sides], dtype=object), matrix, np.array([F(0)] * len(columns) + [F(1)], dtype=object), True
    )
    assert best is not None, "y = 0 is feasible, and the value is at most 1"
    return [F(v) for v in best.z] if best.value > 0 else None
