"""Arguments against statements of D: allocations without justified complaints, its theorem's assumptions, and its trajectory."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import farkas, multipliers
from fairalloc.theorems.lone.definitions import bound, complaint_rows, listed, no_complaint, part_of_the_truth, reasons
from fairalloc.theorems.lone.script import argument
from fairalloc.theorems.papers.d.allocations import less_elsewhere, preferred
from fairalloc.theorems.papers.d.complaints import by_equations, complaint, data
from fairalloc.theorems.papers.d.examples import drf_of

__all__ = ["bounds", "of_case"]

F = Fraction
Row = list[F]
Rows = list[list[F]]


def matrix(d: Requests) -> Rows:
    """The requests by user and resource."""
    return [[part.get(j, F(0)) for j in range(d.R)] for part in d.parts]


def of_case(case: Case) -> dict[str, Any]:
    """The requests and entitlements of a case, and its points in fractions of requests."""
    d, arcs = data(case), exact_arcs(case.instance)
    points = [[u / q for u, q in zip(arcs.tasks(point), d.unit, strict=True)] for point in case.points]
    return {"requests": matrix(d), "entitlements": list(d.entitlement), "points": points}


def bounds(requests: Rows, entitlements: Row, objective: Row) -> Rows:
    """Factors for `bound`: for each way of reasons those of the best bound, or of a proof that there is no such allocation.

    Parameters
    ----------
    requests, entitlements : r by user and resource, and e by user
    objective : of x
    """
    found = []
    for way in reasons(len(requests), len(requests[0])):
        rows, sides = complaint_rows(requests, entitlements, way)
        factors = farkas(rows, sides) or multipliers(rows, sides, objective)
        assert factors is not None, "x is bounded"
        found.append(factors)
    return found


def _worst(case: Case, gap: Any) -> list[Fraction]:
    """The NJC allocation with the largest gap."""
    d = data(case)
    return list(max(by_equations(d), key=lambda x: gap(d, x)))


def _prefers(d: Requests, x: Sequence[Fraction]) -> Fraction:
    """How much more of its request somebody could have with what another holds."""
    users = range(len(x))
    return max(F(preferred(d, x, n, m)) - x[n] for n in users for m in users if n != m)


# ---- all allocations, and one of them -------------------------------------------------------------------------------------


def _two_allocations(case: Case) -> dict[str, Any]:
    """An NJC allocation that is not Pareto optimal, and a better one."""
    found = by_equations(data(case))
    pairs = [(list(x), list(y)) for x in found for y in found if x != y and all(a <= b for a, b in zip(x, y, strict=True))]
    return of_case(case) | {"x": pairs[0][0], "better": pairs[0][1]}


@argument(
    "D.S3.pareto-zero",
    answers="some",
    sentence="x = {x} has no complaint, and {better} fits as well",
    formula=r"x = {x} \le {better}, \qquad e = {e}",
    more=_two_allocations,
)
def njc_without_pareto_optimality(requests: Rows, entitlements: Row, x: Row, better: Row) -> dict[str, Any]:
    """The first is NJC, the second fits and gives nobody less and somebody more; entitlements add up to 1, and one is 0."""
    assert sum(entitlements) == 1
    assert min(entitlements) == 0
    assert no_complaint(requests, entitlements, x)
    assert all(0 <= a <= b <= 1 for a, b in zip(x, better))
    assert x != better
    assert all(sum(v * row[j] for v, row in zip(better, requests)) <= 1 for j in range(len(requests[0])))
    texts = map(listed, (x, better, entitlements))
    return dict(zip(("x", "better", "e"), texts))


@argument(
    "D.S5.3.unique-zero",
    answers="all",
    sentence="{x} and {better} both are without complaints",
    formula=r"x = {x} \ne {better} = x', \qquad e = {e}",
    more=_two_allocations,
)
def two_allocations_of_two_users(requests: Rows, entitlements: Row, x: Row, better: Row) -> dict[str, Any]:
    """Two users, of whom one is entitled to nothing, and two different NJC allocations."""
    assert len(requests) == 2
    assert sum(entitlements) == 1
    assert x != better
    assert no_complaint(requests, entitlements, x)
    assert no_complaint(requests, entitlements, better)
    texts = map(listed, (x, better, entitlements))
    return dict(zip(("x", "better", "e"), texts))


@argument(
    "D.S4.sharing-incentive.step",
    answers="some",
    sentence="x = {x} has no complaint, and user {user} has its entitlement {e} of no resource exactly",
    formula=r"x_{{{user}}} r_{{{user}j}} \ne {e} = e_{{{user}}} \ \text{{for all}}\ j",
    more=lambda case: of_case(case) | {"x": _worst(case, _off)},
)
def entitlement_missed(requests: Rows, entitlements: Row, x: Row) -> dict[str, Any]:
    """An NJC allocation in which somebody has x_i r_ij = e_i for no resource j."""
    assert no_complaint(requests, entitlements, x)
    missed = [n for n, (v, row, e) in enumerate(zip(x, requests, entitlements)) if all(v * r != e for r in row)]
    return {"x": listed(x), "user": missed[0] + 1, "e": entitlements[missed[0]]}


def _off(d: Requests, x: Sequence[Fraction]) -> Fraction:
    """How far the user who is farthest from it is from having its entitlement of some resource."""
    users = zip(x, matrix(d), d.entitlement, strict=True)
    return max(min(abs(v * r - e) for r in row) for v, row, e in users)


def _two_reports(case: Case) -> dict[str, Any]:
    """Requests by the truth and as reported, and what bounds the misreporting user's part in both."""
    assert case.misreport is not None, "the statement is about misreports"
    (n,) = case.misreport.users
    before = of_case(Case(case.instance, parameters=case.parameters))
    after = of_case(Case(case.reported, parameters=case.parameters))
    unit = [F(int(m == n)) for m in range(case.instance.N)]
    return before | {
        "reported": after["requests"],
        "user": n,
        "most_before": bounds(before["requests"], before["entitlements"], unit),
        "least_after": bounds(after["requests"], after["entitlements"], [-v for v in unit]),
    }


@argument(
    "D.S4.strategyproof",
    answers="all",
    sentence="user {user} gets at most {before} of its request by the truth, and at least {after} of it by misreporting",
    formula=r"\max x_{{{user}}} = {before} < {after} = \min x'_{{{user}}}",
    more=_two_reports,
)
def misreport_that_helps(
    requests: Rows, reported: Rows, entitlements: Row, user: int, most_before: Rows, least_after: Rows
) -> dict[str, Any]:
    """The largest part of its request over all NJC allocations before, against the least over all of them after the misreport.

    By what it reports the user gets x'_i; of its request it can run x'_i times the least r'_ij / r_ij over what it needs.
    """
    unit = [F(int(n == user)) for n in range(len(requests))]
    before = bound(requests, entitlements, unit, most_before)
    least = -bound(reported, entitlements, [-v for v in unit], least_after)
    after = part_of_the_truth(least, reported[user], requests[user])
    assert before < after
    return {"user": user + 1, "before": before, "after": after}


@argument(
    "D.S4.envy-free",
    answers="some",
    sentence="at x = {x} user {user} could have {more} of its request with what user {envied} holds",
    formula=r"x_{{{user}}} = {have} < {more} = \min_j \tfrac{{x_{{{envied}}} r_{{{envied}j}}}}{{r_{{{user}j}}}}",
    more=lambda case: of_case(case) | {"x": _worst(case, _prefers)},
)
def njc_with_envy(requests: Rows, entitlements: Row, x: Row) -> dict[str, Any]:
    """An NJC allocation for equal entitlements, and what each could have with the bundle of another."""
    assert no_complaint(requests, entitlements, x)
    assert len(set(entitlements)) == 1
    pairs = [(n, m) for n in range(len(x)) for m in range(len(x)) if n != m]
    worth = {(n, m): min([F(1)] + [x[m] * s / r for s, r in zip(requests[m], requests[n]) if r]) for n, m in pairs}
    n, m = max(pairs, key=lambda pair: worth[pair] - x[pair[0]])
    assert worth[n, m] > x[n]
    return {"x": listed(x), "user": n + 1, "envied": m + 1, "have": x[n], "more": worth[n, m]}


def _imitation(case: Case) -> dict[str, Any]:
    """An allocation in which a user envies another, and one after it requests the same in which it gains nothing."""
    d = data(case)
    found: list[dict[str, Any]] = []
    for n in range(len(d.parts)):
        for m in range(len(d.parts)):
            parts = tuple(d.parts[m] if k == n else part for k, part in enumerate(d.parts))
            for x in by_equations(d) if n != m else ():
                if preferred(d, x, n, m) > x[n]:
                    after = min(by_equations(replace(d, parts=parts)), key=lambda y: (y[n], y))
                    found.append({"x": list(x), "after": list(after), "user": n, "envied": m})
    requests = matrix(d)

    def gain(made: dict[str, Any]) -> Fraction:
        n, m = made["user"], made["envied"]
        parts = [made["after"][n] * s / r for s, r in zip(requests[m], requests[n], strict=True) if r]
        return F(min([F(1), *parts]) - made["x"][n])

    best = next(made for made in found if gain(made) <= 0)
    return of_case(case) | best


@argument(
    "D.S4.envy-free.step",
    answers="some",
    sentence="at x = {x} user {user} envies user {envied}; requesting the same it may get {got} of its request, and had {have}",
    formula=r"x_{{{user}}} = {have} \ge {got}, \qquad x' = {after}",
    more=_imitation,
)
def imitation_without_gain(requests: Rows, entitlements: Row, x: Row, after: Row, user: int, envied: int) -> dict[str, Any]:
    """NJC allocations before and after the user requests what the envied one does; by these it need not gain."""
    copied = [requests[envied] if n == user else row for n, row in enumerate(requests)]
    assert no_complaint(requests, entitlements, x)
    assert no_complaint(copied, entitlements, after)
    worth = min([F(1)] + [x[envied] * s / r for s, r in zip(requests[envied], requests[user]) if r])
    got = min([F(1)] + [after[user] * s / r for s, r in zip(copied[user], requests[user]) if r])
    assert worth > x[user] >= got
    texts = [*map(listed, (x, after))]
    return {"x": texts[0], "after": texts[1], "user": user + 1, "envied": envied + 1, "have": x[user], "got": got}


def _evened(case: Case) -> dict[str, Any]:
    """An NJC allocation, and one that fits in which the least dominant share that differs is larger."""
    d = data(case)
    fair = drf_of(d)
    x = next(x for x in by_equations(d) if x != fair)
    return of_case(case) | {"x": list(x), "better": list(fair)}


@argument(
    "D.S4.same-dominant",
    answers="some",
    sentence="x = {x} has no complaint and is not DRF: {better} fits and has lexicographically larger dominant shares",
    formula=r"s(x) = {shares} \prec {others} = s(x')",
    more=_evened,
)
def njc_that_is_not_drf(requests: Rows, entitlements: Row, x: Row, better: Row) -> dict[str, Any]:
    """One dominant resource for all. Sorted shares x_i max_j r_ij / e_i are lexicographically largest in DRF."""
    resources = range(len(requests[0]))
    assert any(all(row[j] == max(row) for row in requests) for j in resources)
    assert no_complaint(requests, entitlements, x)
    assert all(0 <= v <= 1 for v in better)
    assert all(sum(v * row[j] for v, row in zip(better, requests)) <= 1 for j in resources)
    shares = [sorted(v * max(row) / e for v, row, e in zip(part, requests, entitlements)) for part in (x, better)]
    assert shares[0] < shares[1]
    texts = [*map(listed, (x, better, *shares))]
    return dict(zip(("x", "better", "shares", "others"), texts))


# ---- the assumptions of section 5 -----------------------------------------------------------------------------------------


@argument(
    "D.S5.dummies-zero",
    answers="some",
    sentence="at x = {x} the full dummy of user {user} justifies user {other}, who is entitled to 0; (2) does not",
    formula=r"x = {x}, \qquad e = {e}",
    more=lambda case: of_case(case) | {"x": of_case(case)["points"][0]},
)
def dummy_that_justifies(requests: Rows, entitlements: Row, x: Row) -> dict[str, Any]:
    """A dummy for each user, of which it alone requests all: full where x_i = 1. With them x has no complaint, else it has."""
    users = range(len(x))
    dummies = [[*row, *(F(int(k == n)) for k in users)] for n, row in enumerate(requests)]
    used = [sum(v * row[j] for v, row in zip(x, dummies)) for j in range(len(dummies[0]))]
    full = [j for j, load in enumerate(used) if load == 1]
    assert max(used) <= 1
    assert all(any(v * row[j] >= e for j in full) for v, row, e in zip(x, dummies, entitlements))
    assert not no_complaint(requests, entitlements, x)
    n = next(n for n in users if entitlements[n] == 0 and x[n] < 1)
    texts = [*map(listed, (x, entitlements))]
    return {"x": texts[0], "e": texts[1], "user": x.index(F(1)) + 1, "other": n + 1}


@argument(
    "D.S5.1.renormalised",
    sentence="without user {user}, who asks for little, user {other} requests {request} of what is left of resource {resource}",
    formula=r"\frac{{r_{{{other}{resource}}}}}{{1 - r_{{{user}{resource}}}}} = {request} > 1",
    more=of_case,
)
def renormalised_request(requests: Rows, entitlements: Row) -> dict[str, Any]:
    """Who requests less than its entitlement of everything is removed, and the others share what is left (5.1)."""
    for n, (row, e) in enumerate(zip(requests, entitlements)):
        if all(r < e for r in row):
            for m, other in enumerate(requests):
                for j, r in enumerate(other):
                    if m != n and r / (1 - row[j]) > 1:
                        return {"user": n + 1, "other": m + 1, "resource": j + 1, "request": r / (1 - row[j])}
    raise AssertionError("no request exceeds 1")


@argument(
    "D.S5.1.all",
    sentence="user {user} is removed, and the entitlements of the others add up to {rest}",
    formula=r"\sum_{{i \ne {user}}} e_i = {rest}",
    more=of_case,
)
def nothing_to_renormalise(requests: Rows, entitlements: Row) -> dict[str, Any]:
    """Who requests less than its entitlement of everything is removed; the rest of the entitlements is to be scaled to 1."""
    n = next(n for n, (row, e) in enumerate(zip(requests, entitlements)) if all(r < e for r in row))
    rest = sum(e for m, e in enumerate(entitlements) if m != n)
    assert rest == 0
    assert sum(entitlements) == 1
    assert len(requests) > 1
    return {"user": n + 1, "rest": rest}


@argument(
    "D.S5.3.slopes",
    sentence="{left} and {right} fit, and x_2 <= 1: between them the boundary is level",
    formula=r"\frac{{1 - 1}}{{{first} - 0}} = 0",
    more=lambda case: of_case(case) | {"first": _level_until(of_case(case)["requests"])},
)
def boundary_with_a_level_line(requests: Rows, first: F) -> dict[str, Any]:
    """No x_2 is above 1, which is all of the request of user 2, and with it user 1 can have any part up to the first one."""
    for x in ([F(0), F(1)], [first, F(1)]):
        assert all(x[0] * one + x[1] * other <= 1 for one, other in zip(*requests))
    assert 0 < first <= 1
    return {"left": listed([F(0), F(1)]), "right": listed([first, F(1)]), "first": first}


def _level_until(requests: Rows) -> F:
    """The largest x_1 with which all of the request of user 2 fits."""
    parts = [(1 - other) / one for one, other in zip(*requests, strict=True) if one]
    return min([F(1), *parts])


@argument(
    "D.S5.2.simplex",
    sentence="the region of two users has at least the {count} vertices {vertices}, and a triangle has 3",
    formula=r"{vertices}",
    more=lambda case: of_case(case) | {"vertices": _vertices_of_two(of_case(case)["requests"])},
)
def region_with_many_vertices(requests: Rows, vertices: Rows) -> dict[str, Any]:
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


def _vertices_of_two(requests: Rows) -> Rows:
    """The vertices of the region of two users."""
    rows = [({n: row[j] for n, row in enumerate(requests) if row[j]}, F(1)) for j in range(len(requests[0]))]
    return [list(x) for x in sorted(polytope_vertices([F(0)] * 2, [F(1)] * 2, [], rows))]


@argument(
    "D.S3.less-elsewhere",
    answers="some",
    sentence="x = {x} has no complaint, and user {user} has {held} of full resource {j}, less than its entitlement {due}",
    formula=r"x_{{{user}}} r_{{{user},{j}}} = {held} < {due} = e_{{{user}}}",
    more=lambda case: of_case(case) | {"x": _worst(case, lambda d, x: (less_elsewhere(d, x) or (-1, ""))[0])},
)
def less_of_another_bottleneck(requests: Rows, entitlements: Row, x: Row) -> dict[str, Any]:
    """User i is cut back, asks for its entitlement of the full resource j, and gets less of it."""
    assert no_complaint(requests, entitlements, x)
    full = [j for j, column in enumerate(zip(*requests)) if sum(v * r for v, r in zip(x, column)) == 1]
    for i, (v, row, e) in enumerate(zip(x, requests, entitlements)):
        for j in full:
            if v < 1 and v * row[j] < e <= row[j]:
                return {"x": listed(x), "user": i + 1, "j": j + 1, "held": v * row[j], "due": e}
    raise AssertionError("everybody has its entitlement of the full resources")


# ---- the trajectory -------------------------------------------------------------------------------------------------------


@argument(
    "D.R1",
    sentence="x = {x} is on the boundary, for a user has nothing; the slacks are {slacks}, so all terms of f are finite",
    formula=r"x = {x} \in \partial D, \qquad 1 - \sum_i x_i r_{{ij}} > 0, \quad 1 - x_i > 0",
    more=lambda case: of_case(case) | {"x": of_case(case)["points"][0]},
)
def boundary_where_f_is_finite(requests: Rows, x: Row) -> dict[str, Any]:
    """The terms of f have logarithms of slacks, those of resources and 1 - x_i of the dummies, and diverge where one is 0."""
    slacks = [1 - sum(v * row[j] for v, row in zip(x, requests)) for j in range(len(requests[0]))] + [1 - v for v in x]
    assert min(x) == 0
    assert max(x) <= 1
    assert min(slacks) > 0
    return {"x": listed(x), "slacks": listed(slacks)}


@argument(
    "D.E11",
    sentence="the term of the resource is {first} and those of the dummies are {second}: their sum is 1, and not each of them",
    formula=r"\frac{{\sum_k x'_k r_{{k1}}}}{{1 - \sum_k x_k r_{{k1}}}} = {first} \ne 1, \qquad {first} + 2 \cdot {second} = 1",
    assumed="two users with equal entitlements who request 3/4 of one resource, so that no inequality is dominated (5.1)",
    more=lambda case: {"requests": [[F(3, 4)], [F(3, 4)]], "entitlements": [F(1, 2), F(1, 2)], "x": [F(1, 2), F(1, 2)]},
)
def derivative_of_11(requests: Rows, entitlements: Row, x: Row) -> dict[str, Any]:
    """The trajectory of f = -sum_j log s_j, with slacks s_j of the resource and of the dummies, at a point x of (12).

    Users are alike, so are their speeds; f grows at the rate 1 by (11).
    """
    users = range(len(x))
    rows = [[*row, *(F(int(k == n)) for k in users)] for n, row in enumerate(requests)]
    slacks = [1 - sum(v * row[j] for v, row in zip(x, rows)) for j in range(len(rows[0]))]
    nu = [v * sum(r / s for r, s in zip(row, slacks)) for v, row in zip(x, rows)]
    assert all(value / e == nu[0] / entitlements[0] for value, e in zip(nu, entitlements))  # (12), with c = nu_i / e_i
    assert requests[0] == requests[1]
    terms = [sum(row[j] for row in rows) / slacks[j] for j in range(len(slacks))]
    rates = [term / sum(terms) for term in terms]
    assert sum(rates) == 1
    assert rates[0] != 1
    return {"first": rates[0], "second": rates[1]}


@argument(
    "D.L4.symmetric",
    sentence="at x = {x} the entries ({i}, {k}) and ({k}, {i}) of the matrix are {one} and {other}",
    formula=r"M_{{{i}{k}}} = {one} \ne {other} = M_{{{k}{i}}}",
    more=lambda case: of_case(case) | {"x": [v / 2 for v in of_case(case)["points"][0]]},
)
def matrix_of_13(requests: Rows, x: Row) -> dict[str, Any]:
    """x_i nu_i = c e_i (12) with nu_i = sum_j b_ij, b_ij = r_ij / s_j, s_j the slacks, dummies included.

    The derivative of the left side along v is nu_i v_i + x_i sum_jk b_ij b_kj v_k: the entry (i, k) is x_i sum_j b_ij b_kj.
    """
    users = range(len(x))
    rows = [[*row, *(F(int(k == n)) for k in users)] for n, row in enumerate(requests)]
    slacks = [1 - sum(v * row[j] for v, row in zip(x, rows)) for j in range(len(rows[0]))]
    assert min(slacks) > 0
    assert min(x) > 0
    b = [[r / s for r, s in zip(row, slacks)] for row in rows]
    entry = {(i, k): x[i] * sum(p * q for p, q in zip(b[i], b[k])) for i in users for k in users if i != k}
    i, k = next(place for place in entry if entry[place] != entry[place[::-1]])
    return {"x": listed(x), "i": i + 1, "k": k + 1, "one": entry[i, k], "other": entry[k, i]}


def _only_one(case: Case) -> dict[str, Any]:
    """The only NJC allocation, and factors of the bounds on each x_i from above and below."""
    made = of_case(case)
    (x,) = by_equations(data(case))
    assert complaint(data(case), x) == 0
    units = [[F(int(m == n)) for m in range(len(x))] for n in range(len(x))]
    upper = [bounds(made["requests"], made["entitlements"], unit) for unit in units]
    lower = [bounds(made["requests"], made["entitlements"], [-v for v in unit]) for unit in units]
    return made | {"x": list(x), "upper": upper, "lower": lower}


@argument(
    "D.L3.step",
    answers="all",
    sentence="the limit is x = {x}, the only NJC allocation; for user {user} and full resource {resource} the numerator is {gap}",
    formula=r"x_{{{user}}} r_{{{user}{resource}}} - e_{{{user}}} = {gap} \ne 0",
    more=_only_one,
    case=Case(Instance([[1, "1/2"], ["1/2", 1]], [[1, 1]], max_tasks=[1, 1])),
)
def numerator_that_does_not_vanish(
    requests: Rows, entitlements: Row, x: Row, upper: list[Rows], lower: list[Rows]
) -> dict[str, Any]:
    """The trajectory ends at an NJC allocation (Lemma 3), and x is the only one: each x_i is bounded from above and below."""
    assert no_complaint(requests, entitlements, x)
    for n, value in enumerate(x):
        unit = [F(int(m == n)) for m in range(len(x))]
        assert bound(requests, entitlements, unit, upper[n]) == value
        assert bound(requests, entitlements, [-v for v in unit], lower[n]) == -value
    full = [j for j in range(len(requests[0])) if sum(v * row[j] for v, row in zip(x, requests)) == 1]
    gaps = {(n, j): x[n] * requests[n][j] - entitlements[n] for n in range(len(x)) for j in full}
    n, j = max(gaps, key=lambda place: abs(gaps[place]))
    assert gaps[n, j] != 0
    return {"x": listed(x), "user": n + 1, "resource": j + 1, "gap": gaps[n, j]}


@argument(
    "D.S5.5.weights",
    sentence="with any weights w every x(t) with sum w_j <= c / 10^12 is within 10^-5 of {end}",
    formula=r"\sum_i e_i \frac{{x^*_i}}{{x_i(t)}} \le 1 + \tfrac{{1}}{{c}} \sum_j w_j, \quad "
    r"\sum_i e_i \frac{{x_i(t)}}{{x^*_i}} \le 1, \quad x^* = {end}",
    more=lambda case: of_case(case) | {"x": [F(1, 2)] * 3, "prices": [F(2, 5), F(3, 5)]},
)
def one_end_for_all_weights(requests: Rows, entitlements: Row, x: Row, prices: Row) -> dict[str, Any]:
    """On the trajectory of weights w (12) is x_i(t) sum_j w_j r_ij / s_j = c e_i, dummies included, with slacks s.

    For y that fits, sum_i e_i y_i / x_i(t) = (1/c) sum_j w_j sum_i y_i r_ij / s_j <= (1/c) sum_j w_j / s_j, and as 1 = s_j +
    sum_i x_i(t) r_ij this is (1/c) (sum_j w_j + c). So with y = x* it is at most 1 + delta, delta = sum w / c. By the prices
    sum_i e_i y_i / x*_i <= 1 for all y that fit, x(t) too. Adding both, with u = x_i(t) / x*_i: e_i (1/u + u - 2) <= delta.
    """
    assert no_complaint(requests, entitlements, x)
    assert sum(entitlements) == 1
    assert min(prices) >= 0
    assert sum(prices) <= 1
    assert all(sum(p * r for p, r in zip(prices, row)) >= e / v for row, e, v in zip(requests, entitlements, x))
    delta = F(1, 10**12)
    for e in entitlements:
        for u in (1 - F(1, 10**5), 1 + F(1, 10**5)):  # u + 1/u - 2 grows as u leaves 1
            assert e * (1 / u + u - 2) > delta
    return {"end": listed(x)}


@argument(
    "D.S5.5.circle-all",
    answers="some",
    sentence="beside (1/3, 1/3, 1/3, 1/3) and the printed six there is {x}",
    formula=r"x = {x}",
    more=lambda case: of_case(case) | {"x": [F(1, 4), F(1, 4), F(1, 4), F(1, 2)]},
)
def eighth_solution_of_the_circle(requests: Rows, entitlements: Row, x: Row) -> dict[str, Any]:
    """The printed six give two users 3/8 and two 1/4; all of them and x have no complaint."""
    pairs = [(n, m) for n in range(4) for m in range(n)]
    printed = [[F(3, 8) if n in pair else F(1, 4) for n in range(4)] for pair in pairs] + [[F(1, 3)] * 4]
    assert all(no_complaint(requests, entitlements, one) for one in [*printed, x])
    assert x not in printed
    return {"x": listed(x)}
