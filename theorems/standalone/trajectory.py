"""Arguments against the assumptions of D's section 5 and its formulas: dummies, removals, the region, the trajectory."""

from fractions import Fraction
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d.complaints import data, domain_vertices
from fairalloc.theorems.standalone.complaints import in_brackets, loads_of, make_of_case
from fairalloc.theorems.standalone.definitions import fair, listed

F = Fraction


def make_first_point(case: Case, halved: bool) -> dict[str, Any]:
    """The data of a case with its first point, or half of it."""
    made = make_of_case(case)
    return made | {"x": [v / 2 if halved else v for v in made["points"][0]]}


def with_dummies(requests: Any) -> Any:
    """Requests, and a dummy for each user, of which it alone requests all (D 5)."""
    return [[*row, *(F(int(k == n)) for k in range(len(requests)))] for n, row in enumerate(requests)]


def dummy_that_justifies(requests: Any, entitlements: Any, x: Any) -> Any:
    """A dummy is full where x_i = 1. With dummies x has no complaint, without them it has."""
    dummies = with_dummies(requests)
    used = loads_of(dummies, x)
    full = [j for j, load in enumerate(used) if load == 1]
    assert max(used) <= 1
    assert all(any(v * row[j] >= e for j in full) for v, row, e in zip(x, dummies, entitlements))
    assert not fair(requests, entitlements, x)
    n = next(n for n, (v, e) in enumerate(zip(x, entitlements)) if e == 0 and v < 1)
    return {**in_brackets(x=x, e=entitlements), "user": x.index(F(1)) + 1, "other": n + 1}


def renormalised_request(requests: Any, entitlements: Any) -> Any:
    """Who requests less than its entitlement of everything is removed, and the others share what is left (5.1)."""
    for n, (row, e) in enumerate(zip(requests, entitlements)):
        for m, other in enumerate(requests):
            for j, r in enumerate(other):
                if m != n and all(own < e for own in row) and r / (1 - row[j]) > 1:
                    return {"user": n + 1, "other": m + 1, "resource": j + 1, "request": r / (1 - row[j])}
    raise AssertionError("no request exceeds 1")


def nothing_to_renormalise(requests: Any, entitlements: Any) -> Any:
    """Who requests less than its entitlement of everything is removed; the rest of the entitlements is to be scaled to 1."""
    n = next(n for n, (row, e) in enumerate(zip(requests, entitlements)) if all(r < e for r in row))
    rest = sum(entitlements) - entitlements[n]
    assert rest == 0
    assert sum(entitlements) == 1
    assert len(requests) > 1
    return {"user": n + 1, "rest": rest}


def two_orders_of_removal(requests: Any) -> Any:
    """Two equal inequalities sum_i x_i r_ij <= 1: each follows from the others, and after one is removed the other does not."""
    columns = [list(column) for column in zip(*requests)]
    one, other = next((j, k) for k in range(len(columns)) for j in range(k) if columns[j] == columns[k])
    rest = [column for j, column in enumerate(columns) if j not in (one, other)]
    assert all(sum(column) <= 1 for column in rest)  # x = (1, ..., 1) is allowed by all that is left when both are removed
    assert sum(columns[one]) > 1
    return {"one": one + 1, "other": other + 1}


def make_level_line(case: Case) -> dict[str, Any]:
    """The largest x_1 with which all of the request of user 2 fits."""
    made = make_of_case(case)
    parts = [(1 - other) / one for one, other in zip(*made["requests"], strict=True) if one]
    return made | {"first": min([F(1), *parts])}


def boundary_with_a_level_line(requests: Any, first: Any) -> Any:
    """No x_2 is above 1, which is all of the request of user 2, and with it user 1 can have any part up to the first one."""
    assert 0 < first <= 1
    for x in ([F(0), F(1)], [first, F(1)]):
        assert max(loads_of(requests, x)) <= 1
    return in_brackets(left=[F(0), F(1)], right=[first, F(1)]) | {"first": first}


def make_vertices_of_region(case: Case) -> dict[str, Any]:
    """The vertices of the set of feasible allocations."""
    return make_of_case(case) | {"vertices": [list(x) for x in domain_vertices(data(case))]}


def region_with_many_vertices(requests: Any, vertices: Any) -> Any:
    """0 <= x <= 1 and sum_i x_i r_ij <= 1 for two users: a vertex fulfils two of these with equality that are independent."""
    assert len(requests) == 2
    rows = [list(column) for column in zip(*requests)] + [[F(1), F(0)], [F(0), F(1)], [F(-1), F(0)], [F(0), F(-1)]]
    sides = [F(1)] * (len(requests[0]) + 2) + [F(0), F(0)]
    for x in vertices:
        values = [row[0] * x[0] + row[1] * x[1] for row in rows]
        assert all(v <= side for v, side in zip(values, sides))
        tight = [row for row, v, side in zip(rows, values, sides) if v == side]
        assert any(a[0] * b[1] != a[1] * b[0] for a in tight for b in tight)
    different = {tuple(x) for x in vertices}
    assert len(different) > 3
    return {"count": len(different), "vertices": ", ".join(listed(x) for x in vertices)}


# ---- the trajectory -------------------------------------------------------------------------------------------------------


def slacks_of(requests: Any, x: Any) -> Any:
    """1 - sum_i x_i r_ij of resources and dummies."""
    return [1 - load for load in loads_of(with_dummies(requests), x)]


def boundary_where_f_is_finite(requests: Any, x: Any) -> Any:
    """The terms of f have logarithms of slacks, those of resources and 1 - x_i of the dummies, and diverge where one is 0."""
    assert min(x) == 0
    assert max(x) <= 1
    assert min(slacks_of(requests, x)) > 0
    return in_brackets(x=x, slacks=slacks_of(requests, x))


def derivative_of_11(requests: Any, entitlements: Any, x: Any) -> Any:
    """The trajectory of f = -sum_j log s_j, with slacks s_j of the resource and of the dummies, at a point x of (12).

    Users are alike, so are their speeds; f grows at the rate 1 by (11).
    """
    rows, slacks = with_dummies(requests), slacks_of(requests, x)
    nu = [v * sum(r / s for r, s in zip(row, slacks)) for v, row in zip(x, rows)]
    assert all(value / e == nu[0] / entitlements[0] for value, e in zip(nu, entitlements))  # (12), with c = nu_i / e_i
    assert requests[0] == requests[1]
    terms = [sum(row[j] for row in rows) / slacks[j] for j in range(len(slacks))]
    rates = [term / sum(terms) for term in terms]
    assert sum(rates) == 1
    assert rates[0] != 1
    return {"first": rates[0], "second": rates[1]}


def matrix_of_13(requests: Any, x: Any) -> Any:
    """x_i nu_i = c e_i (12) with nu_i = sum_j b_ij, b_ij = r_ij / s_j, s_j the slacks, dummies included.

    The derivative of the left side along v is nu_i v_i + x_i sum_jk b_ij b_kj v_k: the entry (i, k) is x_i sum_j b_ij b_kj.
    """
    users, slacks = range(len(x)), slacks_of(requests, x)
    assert min(slacks) > 0
    assert min(x) > 0
    b = [[r / s for r, s in zip(row, slacks)] for row in with_dummies(requests)]
    entry = {(i, k): x[i] * sum(p * q for p, q in zip(b[i], b[k])) for i in users for k in users if i != k}
    i, k = next(place for place in entry if entry[place] != entry[place[::-1]])
    return {"x": listed(x), "i": i + 1, "k": k + 1, "one": entry[i, k], "other": entry[k, i]}


def one_end_for_all_weights(requests: Any, entitlements: Any, x: Any, prices: Any) -> Any:
    """On the trajectory of weights w (12) is x_i(t) sum_j w_j r_ij / s_j = c e_i, dummies included, with slacks s.

    For y that fits, sum_i e_i y_i / x_i(t) = (1/c) sum_j w_j sum_i y_i r_ij / s_j <= (1/c) sum_j w_j / s_j, and as 1 = s_j +
    sum_i x_i(t) r_ij this is (1/c) (sum_j w_j + c). So with y = x* it is at most 1 + delta, delta = sum w / c. By the prices
    sum_i e_i y_i / x*_i <= 1 for all y that fit, x(t) too. Adding both, with u = x_i(t) / x*_i: e_i (1/u + u - 2) <= delta.
    """
    assert fair(requests, entitlements, x)
    assert sum(entitlements) == 1
    assert min(prices) >= 0
    assert sum(prices) <= 1
    assert all(sum(p * r for p, r in zip(prices, row)) >= e / v for row, e, v in zip(requests, entitlements, x))
    delta = F(1, 10**12)
    for e in entitlements:
        for u in (1 - F(1, 10**5), 1 + F(1, 10**5)):  # u + 1/u - 2 grows as u leaves 1
            assert e * (1 / u + u - 2) > delta
    return {"end": listed(x)}


def eighth_solution_of_the_circle(requests: Any, entitlements: Any, x: Any) -> Any:
    """The printed six give two users 3/8 and two 1/4; all of them and x have no complaint."""
    pairs = [(n, m) for n in range(4) for m in range(n)]
    printed = [[F(3, 8) if n in pair else F(1, 4) for n in range(4)] for pair in pairs] + [[F(1, 3)] * 4]
    assert all(fair(requests, entitlements, one) for one in [*printed, x])
    assert x not in printed
    return {"x": listed(x)}
