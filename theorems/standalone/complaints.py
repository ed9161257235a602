"""Arguments against statements of D: allocations without justified complaints, its theorem's assumptions, and the assumptions of
its section 5 and its formulas: dummies, removals, the region, the trajectory.
"""

from fractions import Fraction as F
from typing import Any

from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d.complaints import all_fair, data, domain_vertices, matrix
from fairalloc.theorems.papers.d.trials import trials
from fairalloc.theorems.standalone.certificates import lexicographic_answer
from fairalloc.theorems.standalone.definitions import fair, lexicographic, listed, unit_of, with_dummies
from fairalloc.theorems.standalone.every_answer import bound, bounds, part_of_the_truth


def make_of_case(case: Case) -> dict[str, Any]:
    """The requests and entitlements of a case, and its points in fractions of requests."""
    d, arcs = data(case), exact_arcs(case.instance)
    points = [[u / q for u, q in zip(arcs.tasks(point), d.unit, strict=True)] for point in case.points]
    return {"requests": matrix(d), "entitlements": list(d.entitlement), "points": points}


def loads_of(requests: Any, x: Any) -> Any:
    """sum_i x_i r_ij of each resource."""
    return [sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))]


def in_brackets(**points: Any) -> Any:
    """Points as text."""
    return {name: listed(point) for name, point in points.items()}


def make_shown(case: Case, statement: str) -> dict[str, Any]:
    """The data of a case with the allocations by which the statement is confirmed to be violated."""
    points = trials[statement].confirm(case).witness
    return make_of_case(case) | {name: list(x) if isinstance(x, tuple | list) else x for name, x in points.items()}


def make_dominated_pair(case: Case) -> dict[str, Any]:
    """An NJC allocation that is not Pareto optimal, and a better one."""
    found = all_fair(data(case))
    x, y = next((x, y) for x in found for y in found if x != y and all(a <= b for a, b in zip(x, y, strict=True)))
    return make_of_case(case) | {"x": list(x), "better": list(y)}


def njc_without_pareto_optimality(requests: Any, entitlements: Any, x: Any, better: Any) -> Any:
    """The first is NJC, the second fits and gives nobody less and somebody more; entitlements add up to 1, and one is 0."""
    assert sum(entitlements) == 1
    assert min(entitlements) == 0
    assert fair(requests, entitlements, x)
    assert all(0 <= a <= b <= 1 for a, b in zip(x, better))
    assert x != better
    assert max(loads_of(requests, better)) <= 1
    return in_brackets(x=x, better=better, e=entitlements)


def two_allocations(requests: Any, entitlements: Any, x: Any, other: Any) -> Any:
    """Two different NJC allocations, and the resources that are full in each; entitlements add up to 1."""
    assert sum(entitlements) == 1
    assert x != other
    assert fair(requests, entitlements, x)
    assert fair(requests, entitlements, other)
    full, others = ([j + 1 for j, load in enumerate(loads_of(requests, part)) if load == 1] for part in (x, other))
    return {**in_brackets(x=x, other=other, e=entitlements), "full": full, "others": others}


def two_bottleneck_sets(requests: Any, entitlements: Any, x: Any, other: Any) -> Any:
    """Two NJC allocations in which different resources are full."""
    found = two_allocations(requests, entitlements, x, other)
    assert found["full"] != found["others"]
    return found


def less_of_another_bottleneck(requests: Any, entitlements: Any, x: Any) -> Any:
    """User i is cut back, asks for its entitlement of the full resource j, and gets less of it."""
    assert fair(requests, entitlements, x)
    full = [j for j, load in enumerate(loads_of(requests, x)) if load == 1]
    each = [(i, j, v * row[j], e) for i, (v, row, e) in enumerate(zip(x, requests, entitlements)) for j in full if v < 1]
    i, j, held, due = next(part for part in each if part[2] < part[3] <= requests[part[0]][part[1]])
    assert held < due
    return {**in_brackets(x=x), "user": i + 1, "j": j + 1, "held": held, "due": due}


def pareto_optimum_with_complaint(requests: Any, entitlements: Any, x: Any) -> Any:
    """One resource, full, that everybody requests: more for one is less for another. Yet somebody has a complaint."""
    assert all(len(row) == 1 and row[0] > 0 for row in requests)
    assert loads_of(requests, x) == [1]
    assert all(0 <= v <= 1 for v in x)
    assert not fair(requests, entitlements, x)
    short = [n for n, (v, row, e) in enumerate(zip(x, requests, entitlements)) if v < 1 and v * row[0] < e]
    return {**in_brackets(x=x, e=entitlements), "user": short[0] + 1}


def entitlement_missed(requests: Any, entitlements: Any, x: Any) -> Any:
    """An NJC allocation in which somebody has x_i r_ij = e_i for no resource j."""
    assert fair(requests, entitlements, x)
    missed = [n for n, (v, row, e) in enumerate(zip(x, requests, entitlements)) if all(v * r != e for r in row)]
    return {"x": listed(x), "user": missed[0] + 1, "e": entitlements[missed[0]]}


def njc_with_envy(requests: Any, entitlements: Any, x: Any) -> Any:
    """An NJC allocation for equal entitlements, and what each could have with the bundle of another."""
    assert fair(requests, entitlements, x)
    assert len(set(entitlements)) == 1
    pairs = [(n, m) for n in range(len(x)) for m in range(len(x)) if n != m]
    worth = {(n, m): part_of_the_truth(x[m], requests[m], requests[n]) for n, m in pairs}
    n, m = max(pairs, key=lambda pair: worth[pair] - x[pair[0]])
    assert worth[n, m] > x[n]
    return {"x": listed(x), "user": n + 1, "envied": m + 1, "have": x[n], "more": worth[n, m]}


def imitation_without_gain(requests: Any, entitlements: Any, x: Any, after: Any, user: int, envied: int) -> Any:
    """NJC allocations before and after the user requests what the envied one does; by these it need not gain."""
    copied = [requests[envied] if n == user else row for n, row in enumerate(requests)]
    assert fair(requests, entitlements, x)
    assert fair(copied, entitlements, after)
    worth = part_of_the_truth(x[envied], requests[envied], requests[user])
    got = part_of_the_truth(after[user], copied[user], requests[user])
    assert worth > x[user] >= got
    return {**in_brackets(x=x, after=after), "user": user + 1, "envied": envied + 1, "have": x[user], "got": got}


def njc_that_is_not_drf(requests: Any, entitlements: Any, x: Any, better: Any) -> Any:
    """One dominant resource for all. Sorted shares x_i max_j r_ij / e_i are lexicographically largest in DRF."""
    assert any(all(row[j] == max(row) for row in requests) for j in range(len(requests[0])))
    assert fair(requests, entitlements, x)
    assert all(0 <= v <= 1 for v in better)
    assert max(loads_of(requests, better)) <= 1
    shares = [sorted(v * max(row) / e for v, row, e in zip(part, requests, entitlements)) for part in (x, better)]
    assert shares[0] < shares[1]
    return in_brackets(x=x, better=better, shares=shares[0], others=shares[1])


def make_two_reports(case: Case, sign: int) -> dict[str, Any]:
    """Requests by the truth and as reported, and factors of the bounds on the user's part in both."""
    assert case.misreport is not None, "the statement is about misreports"
    (n,), size = case.misreport.users, case.instance.N
    before, after = (make_of_case(Case(one, parameters=case.parameters)) for one in (case.instance, case.reported))
    most = bounds(before["requests"], before["entitlements"], unit_of(n, size, sign))
    least = bounds(after["requests"], after["entitlements"], unit_of(n, size, -sign))
    return before | {"reported": after["requests"], "user": n, "most_before": most, "least_after": least}


def misreport_over_all(
    requests: Any, reported: Any, entitlements: Any, user: int, sign: int, most_before: Any, least_after: Any
) -> Any:
    """sign x_i at most over all NJC allocations by the truth, against the least of that over all of them after the misreport.

    By what it reports the user gets x'_i; of its request it can run x'_i times the least r'_ij / r_ij over what it needs.
    """
    up, down = unit_of(user, len(requests), sign), unit_of(user, len(requests), -sign)
    before = sign * bound(requests, entitlements, up, most_before)
    after = part_of_the_truth(-sign * bound(reported, entitlements, down, least_after), reported[user], requests[user])
    assert sign * (after - before) > 0
    return {"user": user + 1, "before": before, "after": after}


def make_used_and_drf(case: Case, sign: int) -> dict[str, Any]:
    """DRF of the requests, and factors of the bound on the mean utilisation of NJC."""
    found = make_of_case(case)
    requests, count = found["requests"], len(found["requests"][0])
    fairest = lexicographic_answer(Instance(requests, [[F(1)] * count], weights=found["entitlements"]), "drf")
    share = [F(sign) * sum(row) / count for row in requests]
    return found | fairest | {"proofs": bounds(requests, found["entitlements"], share)}


def used_by_all(rule: str, requests: Any, entitlements: Any, sign: int, tasks: Any, rounds: Any, proofs: Any) -> Any:
    """The mean of the used parts of all resources, in all NJC allocations and in the only DRF allocation, of requests."""
    count = len(requests[0])
    pool = (requests, [[F(1)] * count], [[1] for _ in requests], entitlements)
    assert lexicographic(rule, pool, tasks, rounds)
    assert max(x[0] for x in tasks) <= 1
    drf = sum(x[0] * sum(row) for x, row in zip(tasks, requests)) / count
    njc = sign * bound(requests, entitlements, [sign * sum(row, F(0)) / count for row in requests], proofs)
    assert sign * (drf - njc) > 0
    return {"njc": njc, "drf": drf}


def make_only_one(case: Case) -> dict[str, Any]:
    """The only NJC allocation, and factors of the bounds on each x_i from above and below."""
    made, (x,) = make_of_case(case), all_fair(data(case))
    requests, e, size = made["requests"], made["entitlements"], len(x)
    upper, lower = ([bounds(requests, e, unit_of(n, size, sign)) for n in range(size)] for sign in (1, -1))
    return made | {"x": list(x), "upper": upper, "lower": lower}


def numerator_that_does_not_vanish(requests: Any, entitlements: Any, x: Any, upper: Any, lower: Any) -> Any:
    """The trajectory ends at an NJC allocation (Lemma 3), and x is the only one: each x_i is bounded from above and below.

    As section 5.1 assumes, all resources are asked for in full, and everybody asks for its entitlement of one. No dummy is full.
    """
    assert max(x) < 1
    assert min(loads_of(requests, [1] * len(x))) >= 1
    assert all(max(row) >= e for row, e in zip(requests, entitlements))
    assert fair(requests, entitlements, x)
    for n, value in enumerate(x):
        assert bound(requests, entitlements, unit_of(n, len(x)), upper[n]) == value
        assert bound(requests, entitlements, unit_of(n, len(x), -1), lower[n]) == -value
    full = [j for j, load in enumerate(loads_of(requests, x)) if load == 1]
    gaps = {(n, j): x[n] * requests[n][j] - entitlements[n] for n in range(len(x)) for j in full}
    n, j = max(gaps, key=lambda place: abs(gaps[place]))
    assert gaps[n, j] != 0
    return {"x": listed(x), "user": n + 1, "resource": j + 1, "gap": gaps[n, j]}


# ---- D 5: dummies, removals, the region ------------------------------------------------------------------------------


def make_first_point(case: Case, halved: bool) -> dict[str, Any]:
    """The data of a case with its first point, or half of it."""
    made = make_of_case(case)
    return made | {"x": [v / 2 if halved else v for v in made["points"][0]]}


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
    sum_i e_i y_i / x_i* <= 1 for all y that fit, x(t) too. Adding both, with u = x_i(t) / x_i*: e_i (1/u + u - 2) <= delta.
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
