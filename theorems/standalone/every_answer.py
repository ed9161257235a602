"""What holds for every answer, by cases with factors of their inequalities: bounds on all PS-DSF and on all NJC allocations.

Scripts copy the first two parts. The last part finds the cases, by branch and bound: a case whose linear program in floating
point is above the bound is split, by the arc or the choice of a resource whose cases have the least values together.
"""

from fractions import Fraction as F
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.theorems.standalone.certificates import exact_maximum, farkas, multipliers
from fairalloc.theorems.standalone.definitions import alone

ROUNDING = 1e-7
"""Of the values of linear programs in floating point."""


def at_most(rows: Any, sides: Any, factors: Any, objective: Any) -> Any:
    """The bound on objective . x over all x >= 0 with rows . x <= sides that these factors of the rows prove."""
    assert min(factors) >= 0
    for k, worth in enumerate(objective):
        assert sum(y * row[k] for y, row in zip(factors, rows)) >= worth
    return sum((y * side for y, side in zip(factors, sides)), F(0))


# ---- PS-DSF ---------------------------------------------------------------------------------------------------------------


def every_ps_dsf(problem: Any, objective: Any, most: Any, steps: Any, known: Any = ((), (), ())) -> Any:
    """For every PS-DSF allocation sum_n objective_n x_n <= most, by cases, which are read from the steps one after the other.

    A case knows full resources r of server i that make n content there (n, i, r), arcs (m, i) with no task, and others, where m
    has no larger share than n if it demands that r. A step that is none of its `splits` has factors of its rows, row:factor, that
    prove the bound.
    """
    step, ways = next(steps), splits(problem, known)
    if step in ways:
        return all(every_ps_dsf(problem, objective, most, steps, way) for way in ways[step])
    rows, sides = ps_dsf_rows(problem, known)
    given = {int(k): F(v) for k, v in (word.split(":") for word in step.split())}
    factors = [given.get(k, F(0)) for k in range(len(rows))]
    return at_most(rows, sides, factors, [v for v in objective for _ in problem[1]]) <= most


def splits(problem: Any, known: Any) -> dict[str, Any]:
    """The ways to split a case by what it does not know yet, all counted from 0.

    "by n i" splits it by which resource makes n content at i, "use n i" by whether n has tasks at i.
    """
    (demands, capacities, eligible, _), (full, none, used) = problem, known
    places = [(n, i) for n in range(len(demands)) for i in range(len(capacities))]
    arcs = [(n, i) for n, i in places if eligible[n][i] and alone(demands[n], capacities[i]) > 0]
    unknown = [arc for arc in arcs if arc not in none and arc not in used]
    found = {f"use {n} {i}": [(full, [*none, (n, i)], used), (full, none, [*used, (n, i)])] for n, i in unknown}
    for n, i in arcs:
        if (n, i) not in [(m, j) for m, j, _ in full]:
            found[f"by {n} {i}"] = [([*full, (n, i, r)], none, used) for r, q in enumerate(demands[n]) if q]
    return found


def ps_dsf_rows(problem: Any, known: Any) -> Any:
    """rows . x <= sides for x_ni, all servers of user 1 first, that a case of `every_ps_dsf` knows."""
    (demands, capacities, eligible, weights), (full, none, used) = problem, known
    users, servers = range(len(demands)), range(len(capacities))
    rows: Any = []
    sides: Any = []
    for i in servers:
        for r, c in enumerate(capacities[i]):
            rows.append([demands[n][r] * (j == i) for n in users for j in servers])
            sides.append(c)
    for _, i, r in full:
        rows.append([-demands[n][r] * (j == i) for n in users for j in servers])
        sides.append(-capacities[i][r])
    idle = [(n, i) for n in users for i in servers if not eligible[n][i]]
    for m, i in [*none, *idle]:
        rows.append([F(int((n, j) == (m, i))) for n in users for j in servers])
        sides.append(F(0))
    for n, i, r in full:
        for m, j in used:
            if j == i and m != n and demands[m][r]:
                ones = {k: 1 / (weights[k] * alone(demands[k], capacities[i])) for k in (m, n)}
                rows.append([ones[m] if k == m else -ones[n] if k == n else F(0) for k in users for _ in servers])
                sides.append(F(0))
    return rows, sides


# ---- NJC ------------------------------------------------------------------------------------------------------------------


def part_of_the_truth(part: Any, reported: Any, needed: Any) -> Any:
    """The part of its request that a user can run with this part of the reported one, at most all."""
    return min([F(1)] + [part * told / true for told, true in zip(reported, needed) if true])


def reasons(count: int, resources: int) -> list[list[int]]:
    """All ways to give each user a reason: a resource, or -1 for all of its request."""
    ways: list[list[int]] = [[]]
    for _ in range(count):
        ways = [[*way, j] for way in ways for j in range(-1, resources)]
    return ways


def complaint_rows(requests: Any, entitlements: Any, way: list[int]) -> Any:
    """rows . x <= sides for the x without complaints by these reasons: linear, as D says."""
    users = range(len(requests))
    loads = [list(column) for column in zip(*requests)]
    units = [[F(int(k == n)) for k in users] for n in users]
    rows, sides = loads + units, [F(1)] * (len(loads) + len(units))
    for n, j in enumerate(way):
        if j < 0:
            rows, sides = [*rows, [-v for v in units[n]]], [*sides, F(-1)]
        else:
            rows = [*rows, [-v for v in loads[j]], [-requests[n][j] * v for v in units[n]]]
            sides = [*sides, F(-1), -entitlements[n]]
    return rows, sides


def bound(requests: Any, entitlements: Any, objective: Any, proofs: Any) -> Any:
    """The bound on objective . x over all NJC allocations that the factors prove, one row for each way of reasons.

    Factors that bound the objective 0 by a number below 0 show that there is no allocation with these reasons.
    """
    found, ways = [], reasons(len(requests), len(requests[0]))
    assert len(proofs) == len(ways)
    for way, factors in zip(ways, proofs):
        rows, sides = complaint_rows(requests, entitlements, way)
        columns = [sum(y * row[k] for y, row in zip(factors, rows)) for k in range(len(objective))]
        empty = min(factors) >= 0 and min(columns) >= 0 and sum(y * side for y, side in zip(factors, sides)) < 0
        found += [] if empty else [at_most(rows, sides, factors, objective)]
    return max(found)


# ---- what finds the cases and the factors -----------------------------------------------------------------------------------


def bounds(requests: Any, entitlements: Any, objective: Any) -> Any:
    """Factors for `bound`: for each way of reasons those of the best bound, or of a proof that there is no such allocation."""
    found = []
    for way in reasons(len(requests), len(requests[0])):
        rows, sides = complaint_rows(requests, entitlements, way)
        factors = farkas(rows, sides) or multipliers(rows, sides, objective)
        assert factors is not None, "x is bounded"
        found.append(factors)
    return found


def ps_dsf_steps(problem: Any, objective: list[F], most: F, known: Any = ((), (), ())) -> list[str]:
    """The steps of `every_ps_dsf`, by branch and bound; a step of a case that is not split is the least sum of factors."""
    worth = [v for v in objective for _ in problem[1]]

    def excess(way: Any) -> float:
        """How much the largest objective of a case is above the bound, in floating point; 0 where it has no allocation."""
        rows, sides = ps_dsf_rows(problem, way)
        best = maximum(np.array(worth, dtype=float), np.array(rows, dtype=float), np.array(sides, dtype=float), False)
        return 0.0 if best is None else max(0.0, float(best.value) - float(most))

    if excess(known) <= ROUNDING:
        rows, sides = ps_dsf_rows(problem, known)
        columns = [[-row[k] for row in rows] for k in range(len(worth))]
        least = exact_maximum([F(-1)] * len(rows), [*columns, sides], [*(-v for v in worth), most])
        assert least is not None, "the value of the case is at most the bound"
        return [" ".join(f"{k}:{v}" for k, v in enumerate(least.z) if v)]
    split, ways = min(splits(problem, known).items(), key=lambda each: sum(map(excess, each[1])))
    return [split, *(step for way in ways for step in ps_dsf_steps(problem, objective, most, way))]
