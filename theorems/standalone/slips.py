"""Checks against sentences and printed formulas that no theorem of the papers rests on."""

from fractions import Fraction
from typing import Any

from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.convergence import vertices
from fairalloc.theorems.standalone.definitions import alone

F = Fraction
Row = list[F]
Rows = list[list[F]]


def make_best_used(case: Case) -> dict[str, Any]:
    """The vertex of what one server allows with the largest sum of used parts."""
    arcs = exact_arcs(case.instance)
    corners = vertices(case.instance, range(len(arcs.user)))
    return {"better": list(max((sum(arcs.loads(x), F(0)), x) for x in corners)[1])}


def unused_by_pareto_optimality(demands: Rows, capacities: Rows, points: list[Rows], better: Row) -> Any:
    """Everybody demands a full resource, so nobody can gain while nobody loses; another allocation uses no resource less."""
    assert len(capacities) == 1
    resources = range(len(capacities[0]))
    x = [row[0] for row in points[0]]
    used = [sum(v * d[r] for v, d in zip(x, demands)) / capacities[0][r] for r in resources]
    more = [sum(v * d[r] for v, d in zip(better, demands)) / capacities[0][r] for r in resources]
    assert min(x) >= 0
    assert min(better) >= 0
    assert max(used) <= 1
    assert max(more) <= 1
    assert all(any(used[r] == 1 and d[r] for r in resources) for d in demands)
    assert all(b >= a for a, b in zip(used, more))
    assert sum(more) > sum(used)
    return {"used": sum(used), "more": sum(more)}


def printed_condition_of_fig_4(gamma: Rows, part: Rows) -> Any:
    """Channel 1 for user 1, channel 3 for user 2, half of channel 2 each: PS-DSF, as printed."""
    x = [sum(g * p for g, p in zip(rates, parts)) for rates, parts in zip(gamma, part)]
    assert x == [F("1.5"), 1]
    assert all(sum(column) <= 1 for column in zip(*part))
    assert part[1][1] > 0
    assert x[1] / gamma[1][1] > x[0] * gamma[0][1]  # so taking from user 2 there is not excluded
    assert x[1] / gamma[1][1] == x[0] / gamma[0][1]  # but by x_n / gamma_ni, which is meant, it is
    return {"x": x[0], "ratio": x[1] / gamma[1][1], "bound": x[0] * gamma[0][1]}


def after_epsilon(demands: Rows, capacities: Rows, points: list[Rows]) -> Any:
    """Two alike users of one server, j = user 2, g = 1/2; epsilon leaves it g, and everybody gets half of epsilon."""
    assert demands == [[1], [1]]
    assert capacities == [[1]]
    shares = [row[0] for row in points[0]]
    epsilon = shares[1] - F(1, 2)
    assert epsilon > 0
    delta = epsilon / 2
    after = shares[1] - epsilon + delta
    assert after != shares[1] + delta
    return {"share": after, "printed": shares[1] + delta}


def idle_at_an_equilibrium(demands: Rows, capacities: Rows, weights: Row) -> Any:
    """User 1 demands as much of both resources, user 2 twice as much of the second, of which there is 1: x_1 + 2 x_2 <= 1."""
    assert demands == [[1, 1], [1, 2]]
    assert capacities == [[1, 1]]
    assert weights == [1, 1]
    least = alone(demands[1], capacities[0]) / 2
    used = 1 - least
    assert used < 1
    return {"least": least, "used": used}
