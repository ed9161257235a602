"""Arguments for statements that a mechanism lacks a property, or has several answers: their witnesses support the paper."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, least_prices, lexicographic_answer, most_tasks, rational_answer
from fairalloc.theorems.lone.d import bounds, of_case
from fairalloc.theorems.lone.definitions import (
    alone,
    bound,
    equilibrium,
    fits,
    lexicographic,
    lexicographic_in_a_pool,
    listed,
    more_of_the_bottleneck,
    most_envious,
    nash_bargain,
    no_complaint,
    packed,
    part_of_the_truth,
    ps_dsf,
    short_of_its_part,
    vertex_equilibrium,
    whole_tasks,
)
from fairalloc.theorems.lone.k import prices_of
from fairalloc.theorems.lone.properties import better_tasks
from fairalloc.theorems.lone.script import argument, given
from fairalloc.theorems.lone.z import answer, answers_of_both
from fairalloc.theorems.papers.d.complaints import by_equations, data

__all__ = ["lexicographically_better", "nash_answers"]

F = Fraction
Row = list[F]
Rows = list[list[F]]
Places = list[list[int]]


# ---- lexicographic mechanisms ---------------------------------------------------------------------------------------------


@argument(
    *("K.2.2.drfh.sharing", "K.Table1.drfh.sharing", "P.II-B.drfh.sharing", "P.Table1.drfh.sharing", "W.P4"),
    answers="all",
    sentence="user {user} runs {have} tasks, and {part} with its part of every server",
    formula=r"x_{{{user}}} = {have} < {part} = \tfrac{{\varphi_{{{user}}}}}{{\sum_m \varphi_m}} \sum_i \gamma_{{{user}i}}",
    more=lambda case: lexicographic_answer(case.instance, "drfh"),
)
def drfh_without_sharing_incentive(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows]
) -> dict[str, Any]:
    """DRFH: shares of the global dominant resource. All answers have these totals."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    return short_of_its_part(demands, capacities, eligible, weights, tasks)


def lexicographically_better(mechanism: str) -> Callable[[Case], dict[str, Any]]:
    """The answer of a mechanism, and tasks in which a user has more of the bottleneck and none with as little has less."""

    def made(case: Case) -> dict[str, Any]:
        found, instance, known = lexicographic_answer(case.instance, mechanism), case.instance, given(case)
        r = _bottleneck(known["demands"], known["capacities"], known["eligible"])
        amount = [sum(x) * d[r] / w for x, d, w in zip(found["tasks"], known["demands"], known["weights"], strict=True)]
        for n in range(instance.N):
            kept = {m: sum(found["tasks"][m]) for m in range(instance.N) if amount[m] <= amount[n]}
            best = most_tasks(instance, [n], kept)
            if best.value > sum(found["tasks"][n]):
                return found | {"resource": r, "user": n, "better": by_server(instance, best.z)}
        raise AssertionError("the answer is max-min fair on the bottleneck")

    return made


def _bottleneck(demands: Rows, capacities: Rows, eligible: Places) -> int:
    """The resource that is dominant for everybody at every server it may use."""
    places = [(d, c) for d, may in zip(demands, eligible, strict=True) for c, here in zip(capacities, may, strict=True) if here]
    places = [(d, c) for d, c in places if alone(d, c)]
    return next(r for r in range(len(capacities[0])) if all(d[r] and c[r] / d[r] == alone(d, c) for d, c in places))


_BOTTLENECK: dict[str, Any] = {
    "answers": "all",
    "sentence": "user {user} could have {more} of resource {resource} instead of {have} while nobody with as little has less",
    "formula": r"a_{{{user}{resource}}} = {have} < {more} = a'_{{{user}{resource}}}, \qquad "
    r"a'_{{m{resource}}} \ge a_{{m{resource}}} \ \text{{where}}\ a_{{m{resource}}} \le {have}",
}


@argument(
    *("K.2.2.drfh.bottleneck", "K.Table1.drfh.bottleneck", "P.Table1.drfh.bottleneck"),
    more=lexicographically_better("drfh"),
    **_BOTTLENECK,
)
def drfh_without_bottleneck_fairness(
    demands: Rows,
    capacities: Rows,
    eligible: Places,
    weights: Row,
    tasks: Rows,
    rounds: list[Rows],
    resource: int,
    user: int,
    better: Rows,
) -> dict[str, Any]:
    """DRFH, with these totals in all answers; one resource is dominant for all at every server they may use (K Def. 2)."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    return more_of_the_bottleneck(demands, capacities, eligible, weights, tasks, resource, user, better)


@argument(
    *("K.2.2.tsf.bottleneck", "K.Table1.tsf.bottleneck", "P.Table1.tsf.bottleneck"),
    more=lexicographically_better("tsf"),
    **_BOTTLENECK,
)
def tsf_without_bottleneck_fairness(
    demands: Rows,
    capacities: Rows,
    eligible: Places,
    weights: Row,
    tasks: Rows,
    rounds: list[Rows],
    resource: int,
    user: int,
    better: Rows,
) -> dict[str, Any]:
    """TSF, with these totals in all answers; one resource is dominant for all at every server they may use (K Def. 2)."""
    unit = [w * sum(alone(d, c) for c in capacities) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    return more_of_the_bottleneck(demands, capacities, eligible, weights, tasks, resource, user, better)


@argument(
    "Z.P4",
    answers="all",
    sentence="user {user} runs {have} tasks, and {more} with what user {envied} holds",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u_{{{user}}}(Y_{{{envied}}})",
    more=answer,
)
def lmmf_with_envy(variants: list[Rows], capacity: Row, weights: Row, tasks: Rows, rounds: Rows) -> dict[str, Any]:
    """LMMF, of users with one demand vector each, whose totals are these in all answers; each holds what its tasks take."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert all(len(rows) == 1 for rows in variants)
    held = [[x[0] * q for q in rows[0]] for x, rows in zip(tasks, variants)]
    return most_envious([rows[0] for rows in variants], held, [x[0] for x in tasks])


@argument(
    *("Z.P8", "Z.V.LMMF.SI"),
    answers="all",
    sentence="user {user} runs {have} tasks, and {part} with an equal part of everything",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {part} = u_{{{user}}}(E)",
    more=answer,
)
def lmmf_without_sharing_incentive(
    variants: list[Rows], capacity: Row, weights: Row, tasks: Rows, rounds: Rows
) -> dict[str, Any]:
    """LMMF, of users with one demand vector each, whose totals are these in all answers."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert all(len(rows) == 1 for rows in variants)
    part = [alone(rows[0], capacity) / len(variants) for rows in variants]
    n = min(range(len(part)), key=lambda n: tasks[n][0] / part[n])
    assert tasks[n][0] < part[n]
    return {"user": n + 1, "have": tasks[n][0], "part": part[n]}


@argument(
    "Z.P6",
    answers="all",
    sentence="user {user} runs {have} tasks by the truth, and {more} of its own by misreporting",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u_{{{user}}}(Y'_{{{user}}})",
    more=answers_of_both,
)
def lmmf_misreport(
    demands: Rows,
    reported: Rows,
    misreporting: list[int],
    capacity: Row,
    weights: Row,
    tasks: Rows,
    rounds: Rows,
    tasks_after: Rows,
    rounds_after: Rows,
) -> dict[str, Any]:
    """LMMF before and after, with these totals in all answers; the user is given what its reported tasks take."""
    assert lexicographic_in_a_pool([[d] for d in demands], capacity, weights, tasks, rounds)
    assert lexicographic_in_a_pool([[d] for d in reported], capacity, weights, tasks_after, rounds_after)
    (n,) = misreporting
    more = alone(demands[n], [tasks_after[n][0] * q for q in reported[n]])
    assert more > tasks[n][0]
    return {"user": n + 1, "have": tasks[n][0], "more": more}


@argument(
    "Z.MMF.pareto",
    answers="some",
    sentence="the least utility {least} is the largest possible one, and user {user} could have {more} instead of {have}",
    formula=r"\min_j u_j = {least}, \qquad u_{{{user}}}: {have} < {more}",
    more=lambda case: {"prices": _mmf_prices(case), "better": answer(case)["tasks"]},
)
def mmf_without_pareto_optimality(
    variants: list[Rows], capacity: Row, points: list[Rows], prices: Row, better: Rows
) -> dict[str, Any]:
    """The point is max-min fair: at these prices the pool costs the least utility, and a task for everybody 1 or more."""
    (Y,) = points
    least = min(sum(row) for row in Y)
    assert packed(variants, capacity, Y)
    assert packed(variants, capacity, better)
    assert min(prices) >= 0
    assert sum(p * c for p, c in zip(prices, capacity)) <= least
    assert sum(min(sum(p * q for p, q in zip(prices, d)) for d in rows) for rows in variants) >= 1
    gains = [sum(b) - sum(a) for a, b in zip(Y, better)]
    assert min(gains) >= 0
    n = gains.index(max(gains))
    assert gains[n] > 0
    return {"least": least, "user": n + 1, "have": sum(Y[n]), "more": sum(better[n])}


def _mmf_prices(case: Case) -> Row:
    """The prices of the first round of LMMF, scaled so that a task of everybody together costs 1."""
    made = answer(case)
    prices = made["rounds"][0]
    whole = sum(min(sum(p * q for p, q in zip(prices, d, strict=True)) for d in rows) for rows in case.instance.exact.demands)
    return [p / whole for p in prices]


# ---- Nash bargaining ------------------------------------------------------------------------------------------------------


def nash_answer(instance: Instance) -> dict[str, Any]:
    """The rational Nash bargain of users with one demand vector in one pool, with its prices."""
    x = [F(float(v)).limit_denominator(1000) for v in solve(instance, "nb", accuracy="high").tasks]
    demands, weights = [list(rows[0]) for rows in instance.exact.demands], instance.exact.weights
    needs: list[Fraction | None] = [w / v for w, v in zip(weights, x, strict=True)]
    return {"x": x, "prices": least_prices(demands, needs, instance.exact.capacities[0])}


def nash_answers(case: Case) -> dict[str, Any]:
    """The same for the truth and for the reported demands."""
    after = nash_answer(case.reported)
    return nash_answer(case.instance) | {"after": after["x"], "other_prices": after["prices"]}


@argument(
    *("Z.P7", "Z.V.NB.SP", "Z.V.NB.GSP"),
    answers="all",
    sentence="user {user} runs {have} tasks by the truth, and {more} of its own by misreporting",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u_{{{user}}}(Y'_{{{user}}})",
    more=nash_answers,
)
def nash_misreport(
    demands: Rows,
    reported: Rows,
    misreporting: list[int],
    capacity: Row,
    weights: Row,
    x: Row,
    prices: Row,
    after: Row,
    other_prices: Row,
) -> dict[str, Any]:
    """NB before and after, each the only one; the user is given what its reported tasks take."""
    assert nash_bargain(demands, capacity, weights, x, prices)
    assert nash_bargain(reported, capacity, weights, after, other_prices)
    (n,) = misreporting
    more = alone(demands[n], [after[n] * q for q in reported[n]])
    assert more > x[n]
    return {"user": n + 1, "have": x[n], "more": more}


@argument(
    *("Z.R.leximin", "Z.V.NB.LMMF"),
    answers="all",
    sentence="NB gives {have} tasks, and {better} fit and are lexicographically larger",
    formula=r"\langle Y \rangle = {have} \prec {better} = \langle Y' \rangle",
    more=lambda case: nash_answer(case.instance) | {"better": [row[0] for row in answer(case)["tasks"]]},
)
def nash_bargain_that_is_not_lmmf(demands: Rows, capacity: Row, weights: Row, x: Row, prices: Row, better: Row) -> dict[str, Any]:
    """The only Nash bargain, and tasks that fit whose sorted utilities are lexicographically larger."""
    assert nash_bargain(demands, capacity, weights, x, prices)
    assert packed([[d] for d in demands], capacity, [[v] for v in better])
    assert sorted(better) > sorted(x)
    return {"have": listed(sorted(x)), "better": listed(sorted(better))}


# ---- alpha below 1 --------------------------------------------------------------------------------------------------------

BELOW_SHARING = Case(Instance([[1, 0], [1, 1]], [[2, 1]], weights=[2, 1]), parameters={"alpha": 0.1})
BELOW_ENVY = Case(Instance([[1, 1], [1, 0], [1, 0]], [[2, 1]]), parameters={"alpha": 0.25})


def _vertex(case: Case) -> dict[str, Any]:
    """Tasks at which as many resources are full as users are served, and bounds on z^-alpha, of which a power is rational."""
    instance, alpha = case.instance, F(str(case.parameters["alpha"]))
    tasks = [
        F(float(v)).limit_denominator(1000) for v in solve(instance, "alpha-pf-vds", alpha=float(alpha), accuracy="high").tasks
    ]
    known, bounds = given(case), []
    for n, x in enumerate(tasks):
        z = x / (known["weights"][n] * alone(known["demands"][n], known["capacity"]))
        low = F(int(float(z) ** -float(alpha) * 10**6), 10**6)
        exact = z**-alpha.numerator == low**alpha.denominator
        bounds.append([low, low if exact else low + F(1, 10**6)])
    return {"alpha": alpha, "x": tasks, "bounds": bounds}


@argument(
    *("K.3.3.below.sharing", "K.3.3.fds.sharing"),
    answers="all",
    sentence="user {user} runs {have} tasks, and {part} with its part of the server",
    formula=r"x_{{{user}}} = {have} < {part} = \tfrac{{\varphi_{{{user}}}}}{{\sum_m \varphi_m}} \gamma_{{{user}}}",
    more=_vertex,
    case=BELOW_SHARING,
)
def equilibrium_without_sharing_incentive(
    demands: Rows, capacity: Row, weights: Row, alpha: F, x: Row, bounds: Rows
) -> dict[str, Any]:
    """One server, where the equilibrium is unique, for it is the maximum of a strictly concave function."""
    assert vertex_equilibrium(demands, capacity, weights, alpha, x, bounds)
    part = [w / sum(weights) * alone(d, capacity) for d, w in zip(demands, weights)]
    n = min(range(len(x)), key=lambda n: x[n] / part[n])
    assert x[n] < part[n]
    return {"user": n + 1, "have": x[n], "part": part[n]}


@argument(
    *("K.3.3.fds.envy", "K.3.3.below.envy"),
    answers="all",
    sentence="user {user} runs {have} tasks, and {other} with the resources of user {envied}",
    formula=r"x_{{{user}}} = {have} < {other} = \min_r "
    r"\tfrac{{\varphi_{{{user}}} x_{{{envied}}} d_{{{envied}r}}}}{{\varphi_{{{envied}}} d_{{{user}r}}}}",
    more=_vertex,
    case=BELOW_ENVY,
)
def equilibrium_below_1_with_envy(demands: Rows, capacity: Row, weights: Row, alpha: F, x: Row, bounds: Rows) -> dict[str, Any]:
    """One server, where the equilibrium is unique, for it is the maximum of a strictly concave function."""
    assert vertex_equilibrium(demands, capacity, weights, alpha, x, bounds)
    users = range(len(x))
    worth = {
        (n, m): alone(demands[n], [x[m] * q * weights[n] / weights[m] for q in demands[m]])
        for n in users
        for m in users
        if n != m
    }
    n, m = max(worth, key=lambda pair: worth[pair] / x[pair[0]])
    assert worth[n, m] > x[n]
    return {"user": n + 1, "envied": m + 1, "have": x[n], "other": worth[n, m]}


# ---- no justified complaints ----------------------------------------------------------------------------------------------


def _two_of_many(case: Case) -> dict[str, Any]:
    d = data(case)
    x, other = by_equations(d)[:2]
    requests = [[part.get(j, F(0)) for j in range(d.R)] for part in d.parts]
    return {"requests": requests, "entitlements": list(d.entitlement), "x": list(x), "other": list(other)}


@argument(
    "D.S5.3.not-unique",
    answers="some",
    sentence="{x} and {other} both are without complaints",
    formula=r"x = {x} \ne {other} = x'",
    more=_two_of_many,
)
def two_allocations_without_complaints(requests: Rows, entitlements: Row, x: Row, other: Row) -> dict[str, Any]:
    """More than two users with positive entitlements, and two different NJC allocations."""
    assert len(requests) > 2
    assert min(entitlements) > 0
    assert sum(entitlements) == 1
    assert x != other
    assert no_complaint(requests, entitlements, x)
    assert no_complaint(requests, entitlements, other)
    texts = map(listed, (x, other))
    return dict(zip(("x", "other"), texts))


@argument(
    *("D.S3.pareto-not-fair", "D.S3.greedy"),
    sentence="x = {x} gives user 1 all it can have and is Pareto optimal, and user {user} has a complaint",
    formula=r"x = {x}, \qquad e = {e}",
    more=lambda case: _first_user_first(case),
)
def pareto_optimum_with_complaint(requests: Rows, entitlements: Row, x: Row) -> dict[str, Any]:
    """One resource, full, that everybody requests: more for one is less for another. Yet somebody has a complaint."""
    assert len(requests[0]) == 1
    assert all(row[0] > 0 for row in requests)
    assert sum(v * row[0] for v, row in zip(x, requests)) == 1
    assert all(0 <= v <= 1 for v in x)
    assert not no_complaint(requests, entitlements, x)
    short = [n for n, (v, row, e) in enumerate(zip(x, requests, entitlements)) if v < 1 and v * row[0] < e]
    texts = [*map(listed, (x, entitlements))]
    return {"x": texts[0], "e": texts[1], "user": short[0] + 1}


def _first_user_first(case: Case) -> dict[str, Any]:
    """The first user takes all of its request."""
    d = data(case)
    requests = [[part.get(j, F(0)) for j in range(d.R)] for part in d.parts]
    first = min(F(1), 1 / requests[0][0])
    x = [first, *[F(0)] * (len(requests) - 1)]
    return {"requests": requests, "entitlements": list(d.entitlement), "x": x}


@argument(
    "D.S5.5.bottlenecks",
    answers="some",
    sentence="{x} and {other} both are without complaints, with the full resources {full} and {others}",
    formula=r"J({x}) = {full} \ne {others} = J({other})",
    more=lambda case: _two_sets_of_bottlenecks(case),
)
def two_sets_of_bottlenecks(requests: Rows, entitlements: Row, x: Row, other: Row) -> dict[str, Any]:
    """Two NJC allocations and the resources that are full in each."""
    found = []
    for part in (x, other):
        assert no_complaint(requests, entitlements, part)
        found.append([j + 1 for j in range(len(requests[0])) if sum(v * row[j] for v, row in zip(part, requests)) == 1])
    assert found[0] != found[1]
    texts = [*map(listed, (x, other))]
    return {"x": texts[0], "other": texts[1], "full": found[0], "others": found[1]}


def _two_sets_of_bottlenecks(case: Case) -> dict[str, Any]:
    d, made = data(case), of_case(case)
    all_of_them = by_equations(d)
    loads = [[sum(v * row[j] for v, row in zip(x, made["requests"], strict=True)) == 1 for j in range(d.R)] for x in all_of_them]
    other = next(k for k, full in enumerate(loads) if full != loads[0])
    return made | {"x": list(all_of_them[0]), "other": list(all_of_them[other])}


@argument(
    "D.S5.1.order",
    sentence="resources {one} and {other} are requested alike: each is dominated by the other, and either of them may be removed",
    formula=r"r_{{i{one}}} = r_{{i{other}}} \ \text{{for all}}\ i",
    more=of_case,
)
def two_orders_of_removal(requests: Rows) -> dict[str, Any]:
    """Two equal inequalities sum_i x_i r_ij <= 1: each follows from the others, and after one is removed the other does not."""
    columns = [list(column) for column in zip(*requests)]
    one, other = next((j, k) for j in range(len(columns)) for k in range(len(columns)) if j < k and columns[j] == columns[k])
    rest = [column for j, column in enumerate(columns) if j not in (one, other)]
    x = [F(1) for _ in requests]  # allowed by all that is left when both are removed, and not by these
    assert all(sum(v * r for v, r in zip(x, column)) <= 1 for column in rest)
    assert sum(v * r for v, r in zip(x, columns[one])) > 1
    return {"one": one + 1, "other": other + 1}


def _usage(case: Case, sign: int) -> dict[str, Any]:
    """The NJC bounds of the mean utilisation, and DRF of the requests as demands."""
    made = of_case(case)
    requests, count = made["requests"], len(made["requests"][0])
    share = [F(sign) * sum(row) / count for row in requests]
    pool = Instance(requests, [[F(1)] * count], weights=made["entitlements"])
    fair = lexicographic_answer(pool, "drf", pool=True)
    return made | {
        "x": [row[0] for row in fair["tasks"]],
        "rounds": fair["rounds"],
        "proofs": bounds(requests, made["entitlements"], share),
    }


@argument(
    "D.S4.utilisation-higher",
    answers="all",
    sentence="NJC uses at least {njc} of the resources, and DRF {drf}",
    formula=r"\min u(\text{{NJC}}) \ge {njc} > {drf} = u(\text{{DRF}})",
    more=lambda case: _usage(case, -1),
)
def njc_uses_more(requests: Rows, entitlements: Row, x: Row, rounds: Rows, proofs: Rows) -> dict[str, Any]:
    """The mean of the used parts of all resources, in all NJC allocations and in the only DRF allocation x, of requests."""
    resources = range(len(requests[0]))
    unit = [e / max(row) for row, e in zip(requests, entitlements)]
    assert lexicographic_in_a_pool([[row] for row in requests], [F(1) for _ in resources], unit, [[v] for v in x], rounds)
    assert max(x) <= 1
    drf = sum(v * sum(row) for v, row in zip(x, requests)) / len(resources)
    njc = -bound(requests, entitlements, [-sum(row, F(0)) / len(resources) for row in requests], proofs)
    assert njc > drf
    return {"njc": njc, "drf": drf}


@argument(
    "D.S4.utilisation-lower",
    answers="all",
    sentence="NJC uses at most {njc} of the resources, and DRF {drf}",
    formula=r"\max u(\text{{NJC}}) \le {njc} < {drf} = u(\text{{DRF}})",
    more=lambda case: _usage(case, 1),
)
def njc_uses_less(requests: Rows, entitlements: Row, x: Row, rounds: Rows, proofs: Rows) -> dict[str, Any]:
    """The mean of the used parts of all resources, in all NJC allocations and in the only DRF allocation x, of requests."""
    resources = range(len(requests[0]))
    unit = [e / max(row) for row, e in zip(requests, entitlements)]
    assert lexicographic_in_a_pool([[row] for row in requests], [F(1) for _ in resources], unit, [[v] for v in x], rounds)
    assert max(x) <= 1
    drf = sum(v * sum(row) for v, row in zip(x, requests)) / len(resources)
    njc = bound(requests, entitlements, [sum(row, F(0)) / len(resources) for row in requests], proofs)
    assert njc < drf
    return {"njc": njc, "drf": drf}


def _harm(case: Case) -> dict[str, Any]:
    """Requests by the truth and as reported, and factors of the least part before and the largest after."""
    assert case.misreport is not None, "the statement is about misreports"
    (n,) = case.misreport.users
    before, after = of_case(Case(case.instance)), of_case(Case(case.reported))
    unit = [F(int(m == n)) for m in range(case.instance.N)]
    return before | {
        "reported": after["requests"],
        "user": n,
        "least_before": bounds(before["requests"], before["entitlements"], [-v for v in unit]),
        "most_after": bounds(after["requests"], after["entitlements"], unit),
    }


@argument(
    "D.S4.strategyproof.harm",
    answers="all",
    sentence="user {user} gets at least {before} of its request by the truth, and at most {after} of it by misreporting",
    formula=r"\min x_{{{user}}} = {before} > {after} = \max x'_{{{user}}}",
    more=_harm,
)
def misreport_that_harms(
    requests: Rows, reported: Rows, entitlements: Row, user: int, least_before: Rows, most_after: Rows
) -> dict[str, Any]:
    """The least part of its request over all NJC allocations before, against the largest over all of them after the misreport."""
    unit = [F(int(n == user)) for n in range(len(requests))]
    before = -bound(requests, entitlements, [-v for v in unit], least_before)
    most = bound(reported, entitlements, unit, most_after)
    after = part_of_the_truth(most, reported[user], requests[user])
    assert before > after
    return {"user": user + 1, "before": before, "after": after}


# ---- other mechanisms -----------------------------------------------------------------------------------------------------


@argument(
    "W.S3.4.pareto",
    answers="all",
    sentence="user {user} can run {more} tasks instead of {have} while nobody runs fewer",
    formula=r"x'_{{{user}}} = {more} > {have} = x_{{{user}}}, \qquad x'_m \ge x_m \ \text{{for all}}\ m",
    more=lambda case: better_tasks(case, "drf-per-server"),
)
def drf_per_server_without_pareto_optimality(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, better: Rows
) -> dict[str, Any]:
    """DRF on each server by itself, where PS-DSF is DRF: these tasks and no others."""
    everywhere = [[1] for _ in demands]
    for i, capacity in enumerate(capacities):
        assert ps_dsf(demands, [capacity], everywhere, weights, [[x[i]] for x in tasks])
    assert fits(demands, capacities, eligible, better)
    have, more = [sum(x) for x in tasks], [sum(x) for x in better]
    gains = [b - a for a, b in zip(have, more)]
    assert min(gains) >= 0
    n = gains.index(max(gains))
    assert gains[n] > 0
    return {"user": n + 1, "have": have[n], "more": more[n]}


def _pool_and_servers(case: Case) -> dict[str, Any]:
    """DRF in the pool of all servers, and the prices of DRFH."""
    pool = lexicographic_answer(case.instance, "drf", pool=True)
    return {
        "x": [row[0] for row in pool["tasks"]],
        "rounds": pool["rounds"],
        "prices": lexicographic_answer(case.instance, "drfh")["rounds"][0],
    }


@argument(
    "W.S2.infeasible",
    answers="all",
    sentence="the tasks {x} of DRF in the pool cost {paid} at prices at which all servers cost {value}: they do not fit",
    formula=r"\sum_n x_n \min_i \lambda_i \cdot d_n = {paid} > {value} = \sum_i \lambda_i \cdot c_i",
    more=_pool_and_servers,
)
def drf_not_realised(demands: Rows, capacities: Rows, weights: Row, x: Row, rounds: Rows, prices: Rows) -> dict[str, Any]:
    """DRF of the pool, the only one; whatever fits into the servers costs no more than they do."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic_in_a_pool([[d] for d in demands], total, unit, [[v] for v in x], rounds)
    assert all(p >= 0 for row in prices for p in row)
    paid = sum(v * min(sum(p * q for p, q in zip(row, d)) for row in prices) for v, d in zip(x, demands))
    value = sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity))
    assert paid > value
    return {"x": listed(x), "paid": paid, "value": value}


@argument(
    "W.S5.2.better",
    sentence="the least share is {best} by Best-Fit and {first} by First-Fit",
    formula=r"\min_i s_i^{{\text{{Best-Fit}}}} = {best} > {first} = \min_i s_i^{{\text{{First-Fit}}}}",
)
def best_fit_is_better(demands: Rows, capacities: Rows) -> dict[str, Any]:
    """Progressive filling with whole tasks, by the two rules; shares are of the global dominant resource."""
    total = [sum(column) for column in zip(*capacities)]
    least = [min(u / alone(d, total) for u, d in zip(whole_tasks(demands, capacities, rule), demands)) for rule in (False, True)]
    assert least[1] > least[0]
    return {"first": least[0], "best": least[1]}


def _two_points(case: Case) -> dict[str, Any]:
    """Both points with their prices."""
    tasks, other = given(case)["points"]
    alpha = int(case.parameters["alpha"])
    prices = [prices_of(case.instance, x, alpha) for x in (tasks, other)]
    return {"tasks": tasks, "other_tasks": other, "prices": prices[0], "other_prices": prices[1]}


@argument(
    "K.3.4.ties",
    answers="some",
    sentence="the totals {first} and {second} are two equilibria",
    formula=r"x = {first} \ne {second} = x'",
    more=_two_points,
)
def two_equilibria_at_ties(
    demands: Rows,
    capacities: Rows,
    eligible: Places,
    weights: Row,
    alpha: int,
    tasks: Rows,
    prices: Rows,
    other_tasks: Rows,
    other_prices: Rows,
) -> dict[str, Any]:
    """Two equilibria of g' = z^-alpha with different totals."""
    assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha, tasks, prices)
    assert equilibrium(demands, capacities, eligible, weights, lambda z: z**-alpha, other_tasks, other_prices)
    first, second = ([str(sum(row)) for row in x] for x in (tasks, other_tasks))
    assert first != second
    return {"first": f"({', '.join(first)})", "second": f"({', '.join(second)})"}


# ---- TSF, DRFH and DRF on each server against each other ------------------------------------------------------------------


def _tsf_and_drfh(case: Case) -> dict[str, Any]:
    return lexicographic_answer(case.instance, "tsf") | {"better": lexicographic_answer(case.instance, "drfh")["tasks"]}


@argument(
    "K.2.2.tsf.virtual",
    answers="all",
    sentence="the least amount of resource {resource} is {have} by TSF, and {more} is possible",
    formula=r"\min_n a_{{n{resource}}} = {have} < {more}",
    more=_tsf_and_drfh,
)
def tsf_in_the_virtual_server(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows], better: Rows
) -> dict[str, Any]:
    """TSF, with these totals in all answers, where all have the same dominant resource in the virtual server of all servers."""
    unit = [w * sum(alone(d, c) for c in capacities) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    assert fits(demands, capacities, eligible, better)
    total = [sum(column) for column in zip(*capacities)]
    r = next(r for r, c in enumerate(total) if all(alone(d, total) * d[r] == c for d in demands))
    have, more = (min(sum(x) * d[r] / w for x, d, w in zip(part, demands, weights)) for part in (tasks, better))
    assert have < more
    return {"resource": r + 1, "have": have, "more": more}


def _over_eligible(instance: Instance) -> dict[str, Any]:
    """The answer of DRFH whose shares are of the eligible servers: DRFH with the weights that this comes to."""
    exact, weights = instance.exact, []
    total = [sum(column) for column in zip(*exact.capacities, strict=True)]
    for n, (rows, w) in enumerate(zip(exact.demands, exact.weights, strict=True)):
        own = [
            sum(c for c, may in zip(column, instance.placement[n], strict=True) if may)
            for column in zip(*exact.capacities, strict=True)
        ]
        weights.append(w * alone(list(rows[0]), own) / alone(list(rows[0]), total))
    return lexicographic_answer(instance.replace(weights=weights), "drfh")


def _two_sets_of_servers(case: Case) -> dict[str, Any]:
    after = _over_eligible(case.reported)
    told = case.reported.placement.astype(int).tolist()
    return _over_eligible(case.instance) | {
        "eligible_after": told,
        "tasks_after": after["tasks"],
        "rounds_after": after["rounds"],
    }


@argument(
    "P.II-B.eligible",
    answers="all",
    sentence="user {user} runs {have} tasks by the truth, and at least {more} where it may by misreporting its servers",
    formula=r"x_{{{user}}} = {have} < {more} \le x'_{{{user}}}",
    more=_two_sets_of_servers,
)
def servers_that_are_misreported(
    demands: Rows,
    capacities: Rows,
    eligible: Places,
    eligible_after: Places,
    misreporting: list[int],
    weights: Row,
    tasks: Rows,
    rounds: list[Rows],
    tasks_after: Rows,
    rounds_after: list[Rows],
) -> dict[str, Any]:
    """Shares of the dominant resource over the servers that a user says it may use; the totals are unique before and after.

    What the user gets on a server that it may not use is of no use to it; here nothing fits there, so all it gets is.
    """
    units = []
    for places in (eligible, eligible_after):
        own = [[sum(c for c, may in zip(column, row) if may) for column in zip(*capacities)] for row in places]
        units.append([w * alone(d, total) for d, w, total in zip(demands, weights, own)])
    assert lexicographic(demands, capacities, eligible, units[0], tasks, rounds)
    assert lexicographic(demands, capacities, eligible_after, units[1], tasks_after, rounds_after)
    (n,) = misreporting
    new = [i for i, (a, b) in enumerate(zip(eligible[n], eligible_after[n])) if b and not a]
    assert all(alone(demands[n], capacities[i]) == 0 for i in new)
    assert sum(tasks_after[n]) > sum(tasks[n])
    return {"user": n + 1, "have": sum(tasks[n]), "more": sum(tasks_after[n])}


def _low(case: Case) -> dict[str, Any]:
    own = rational_answer(case.instance, "drf-per-server")
    return lexicographic_answer(case.instance, "drfh") | {"other_tasks": by_server(case.instance, own.x)}


@argument(
    "W.S3.4.low",
    answers="all",
    sentence="DRF on each server by itself uses at most {ratio} times as much of any resource as DRFH",
    formula=r"\max_r \frac{{u_r}}{{u_r(\text{{DRFH}})}} = {ratio} < \tfrac{{2}}{{5}}",
    more=_low,
)
def low_utilisation(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows], other_tasks: Rows
) -> dict[str, Any]:
    """DRFH, and DRF on each server, where PS-DSF is DRF: the totals are these in all answers."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    everywhere = [[1] for _ in demands]
    for i, capacity in enumerate(capacities):
        assert ps_dsf(demands, [capacity], everywhere, weights, [[x[i]] for x in other_tasks])
    used = [[sum(sum(x) * d[r] for x, d in zip(part, demands)) for r in range(len(total))] for part in (tasks, other_tasks)]
    ratio = max(b / a for a, b in zip(*used))
    assert ratio < F(2, 5)
    return {"ratio": ratio}
