"""The data of a case for standalone scripts, rational answers and prices from the exact solvers; scripts check these again."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.dual_solutions import LeximinCertificate
from fairalloc.analysis.linear import Optimum, maximum
from fairalloc.formulations import mechanism
from fairalloc.models.errors import InstanceError
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.standalone.definitions import unit

Table = list[list[F]]

PROBLEMS = {
    "problem": ("demands", "capacities", "eligible", "weights"),
    "report": ("reported", "capacities", "eligible_told", "weights"),
}
"""Data that are written part by part: the true instance and the reported one."""


def given(case: Case) -> dict[str, Any]:
    """The data of a case by name: what an argument may ask for without making it.

    demands are vectors, or lists of them where a user has several. capacities are those of all servers of a class.
    """
    instance, table = case.instance, case.instance.exact
    counts, single = instance.counts.tolist(), instance.single_variant and case.reported.single_variant
    found: dict[str, Any] = {
        "demands": _vectors(table.demands, single),
        "capacities": [[c * count for c in row] for row, count in zip(table.capacities, counts, strict=True)],
        "eligible": instance.placement.astype(int).tolist(),
        "weights": list(table.weights),
        "points": [by_place(instance, point) for point in case.points],
        **{name: F(str(v)) if isinstance(v, float) else v for name, v in case.parameters.items()},
    }
    if case.misreport is not None:
        told = case.reported
        found |= {"reported": _vectors(told.exact.demands, single), "eligible_told": told.placement.astype(int).tolist()}
        found["misreporting"] = list(case.misreport.users)
    return found | {name: tuple(found[part] for part in parts) for name, parts in PROBLEMS.items() if parts[0] in found}


def of_eligible(instance: Instance) -> Instance:
    """Where DRFH compares shares of the servers that a user says it may use: with weights that this comes to."""
    problem = given(Case(instance))["problem"]
    units = zip(problem[3], unit("eligible", problem), unit("drfh", problem), strict=True)
    return instance.replace(weights=[w * a / b for w, a, b in units])


def _vectors(demands: Sequence[Sequence[Sequence[F]]], single: bool) -> list[Any]:
    return [list(rows[0]) if single else [list(row) for row in rows] for rows in demands]


def rational_answer(instance: Instance, name: str) -> Any:
    """The certificate of a mechanism's exact answer; InstanceError where there is none."""
    made = certified_answer(instance, name)
    if not made:
        raise InstanceError(f"{name} has no rational answer here: {made}")
    return made


def by_place(instance: Instance, x: Sequence[F]) -> Table:
    """Tasks on arcs as rows of users by demand vector and server; for users with one vector, by server."""
    arcs, K = instance.arcs, instance.K
    table = [[F(0)] * (len(rows) * K) for rows in instance.exact.demands]
    for n, v, i, value in zip(arcs.user.tolist(), arcs.variant.tolist(), arcs.server.tolist(), x, strict=True):
        table[n][v * K + i] += value
    return table


def rounded(instance: Instance, name: str, **parameters: Any) -> Table:
    """A solver's tasks as simple fractions, where these are the answer."""
    x = solve(instance, name, accuracy="high", **parameters).x
    return by_place(instance, [F(float(v)).limit_denominator(1000) for v in x])


def lexicographic_answer(instance: Instance, name: str) -> dict[str, Any]:
    """`tasks` and `rounds` of a lexicographic mechanism: the users of each round and prices by server of units of capacity.

    Prices are such that the cheapest task of these users costs 1. "eligible" is DRFH by `of_eligible`.
    """
    if name == "eligible":
        instance, name = of_eligible(instance), "drfh"
    made = rational_answer(instance, name)
    assert isinstance(made, LeximinCertificate), "a lexicographic mechanism"
    domain = mechanism(name).domain(instance)
    arcs, counts = exact_arcs(domain), domain.counts.tolist()
    pools = [[c * count for c in row] for row, count in zip(domain.exact.capacities, counts, strict=True)]
    rounds = []
    for part in made.rounds:
        one = min(arcs.cheapest(part.prices)[n] for n in part.users)
        prices = iter(part.prices)
        rounds.append([list(part.users), [[p / c / one if c else F(0) for c, p in zip(row, prices)] for row in pools]])
    return {"tasks": by_place(domain, made.x), "rounds": rounds}


def most_tasks(instance: Instance, gaining: Collection[int], least: Mapping[int, F]) -> Optimum:
    """Feasible tasks z (A,) in which some users together have most while others have at least so many, which must be possible."""
    arcs = exact_arcs(instance)
    kept = [[F(-int(m == n)) for m in arcs.user] for n in least]
    sides = [F(1)] * arcs.rows + [-u for u in least.values()]
    best = exact_maximum([F(int(m in gaining)) for m in arcs.user], arcs.matrix() + kept, sides)
    assert best is not None, "a bounded program with a feasible point"
    return best


def exact_maximum(cost: Sequence[Any], rows: Sequence[Any], sides: Sequence[Any]) -> Optimum | None:
    """The largest cost z over z >= 0 with rows z <= sides, in rationals; None where it is not bounded."""
    objective, matrix, limits = (np.array(part, dtype=object) for part in (cost, rows, sides))
    return maximum(objective, matrix, limits, True)


def least_prices(demands: Any, needs: Sequence[F | None], capacity: Sequence[F]) -> list[F]:
    """The prices of one server at which capacities cost least, and a task of user n its need or more; None = it may not run."""
    own = [(d, need) for d, need in zip(demands, needs, strict=True) if need is not None]
    best = exact_maximum([-c for c in capacity], [[-q for q in d] for d, _ in own], [-need for _, need in own])
    assert best is not None, "prices that are high enough satisfy this"
    return [F(v) for v in best.z]


def multipliers(rows: Table, sides: Sequence[F], objective: Sequence[F]) -> list[F] | None:
    """The y >= 0 with y . rows >= objective for which y . sides is least; None where no y bounds the objective."""
    columns = [[-row[k] for row in rows] for k in range(len(objective))]
    best = exact_maximum([-s for s in sides], columns, [-v for v in objective])
    return None if best is None else [F(v) for v in best.z]


def farkas(rows: Table, sides: Sequence[F]) -> list[F] | None:
    """The y >= 0 with y . rows >= 0 and y . sides = -1, which no x >= 0 with rows . x <= sides allows; None = there is none."""
    y = multipliers([[*row, side] for row, side in zip(rows, sides)], sides, [F(0)] * len(rows[0]) + [F(-1)])
    return y if y and sum(v * side for v, side in zip(y, sides)) < 0 else None
