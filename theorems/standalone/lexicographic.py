"""Arguments about lexicographic mechanisms: drf, drfh, tsf and lmmf lack a property, or give other numbers than the printed ones;
Pareto optimality of other mechanisms, programs, and pivots.

All answers of such a mechanism have the same totals, which prices of each round prove (`lexicographic`).
"""

from fractions import Fraction as F
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.standalone.certificates import (
    by_place,
    given,
    lexicographic_answer,
    most_tasks,
    rational_answer,
)
from fairalloc.theorems.standalone.definitions import (
    alone,
    amounts,
    arcs,
    better_off,
    dominating,
    drf_per_server,
    envious,
    fits,
    held,
    lexicographic,
    listed,
    short_of_its_part,
    tables,
    unit,
    whole_tasks,
)


def make_answer(case: Case, rule: str, mechanism: str = "") -> dict[str, Any]:
    """The answer of the mechanism whose shares are those of a rule, by default of the same name; also to a misreport."""
    name = mechanism or rule
    after = lexicographic_answer(case.reported, name) if case.misreport else {}
    return lexicographic_answer(case.instance, name) | {f"{key}_after": value for key, value in after.items()}


def make_answer_and_parts(case: Case, rule: str, equal: bool) -> dict[str, Any]:
    """The answer, and what parts of everything users are entitled to: equal ones, or by weight."""
    return make_answer(case, rule) | {"parts": [F(1)] * case.instance.N if equal else list(case.instance.exact.weights)}


def make_better(case: Case, better_by: str) -> dict[str, Any]:
    """The tasks of another mechanism."""
    return {"better": lexicographic_answer(case.instance, better_by)["tasks"]}


def make_more_of_the_bottleneck(case: Case, rule: str) -> dict[str, Any]:
    """The answer, and tasks in which a user has more of the bottleneck and none with as little has less."""
    found, instance, problem = make_answer(case, rule), case.instance, given(case)["problem"]
    r = next(r for r in range(instance.R) if is_dominant(problem, r))
    amount = amounts(problem, found["tasks"], r)
    for n in range(instance.N):
        kept = {m: sum(found["tasks"][m]) for m in range(instance.N) if amount[m] <= amount[n]}
        best = most_tasks(instance, [n], kept)
        if best.value > sum(found["tasks"][n]):
            return found | {"resource": r, "user": n, "better": by_place(instance, best.z)}
    raise AssertionError("the answer is max-min fair on the bottleneck")


def less_than_its_part(rule: str, problem: Any, parts: Any, tasks: Any, rounds: Any) -> Any:
    """All answers of the rule have these totals; no server is idle."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert all(any(places[i] for places in problem[2]) for i in range(len(problem[1])))
    return short_of_its_part(problem, parts, tasks)


def is_dominant(problem: Any, r: int) -> bool:
    """Whether a resource is dominant for all at every server they may use."""
    demands, capacities, _, _ = problem
    return all(capacities[i][r] == alone(demands[n], capacities[i]) * demands[n][r] for n, _, i in arcs(problem))


def unfair_on_a_bottleneck(rule: str, problem: Any, tasks: Any, rounds: Any, resource: int, user: int, better: Any) -> Any:
    """All answers of the rule have these totals; one resource is dominant for all at every server they may use (K Def. 2).

    In `better`, which fits, the user has more of it, and nobody who has as little of it as the user, by weight, has less.
    """
    assert lexicographic(rule, problem, tasks, rounds)
    assert is_dominant(problem, resource)
    assert fits(problem, better)
    have, more = amounts(problem, tasks, resource), amounts(problem, better, resource)
    assert more[user] > have[user]
    assert all(b >= a for a, b in zip(have, more) if a <= have[user])
    return {"user": user + 1, "resource": resource + 1, "have": have[user], "more": more[user]}


def unfair_in_the_virtual_server(rule: str, problem: Any, tasks: Any, rounds: Any, better: Any) -> Any:
    """All have the same dominant resource in the virtual server of all servers."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert fits(problem, better)
    total = [sum(column) for column in zip(*problem[1])]
    r = next(r for r, c in enumerate(total) if all(alone(d, total) * d[r] == c for d in problem[0]))
    have, more = min(amounts(problem, tasks, r)), min(amounts(problem, better, r))
    assert have < more
    return {"resource": r + 1, "have": have, "more": more}


def less_than_alone(rule: str, problem: Any, tasks: Any, rounds: Any) -> Any:
    """All have the same global dominant resource."""
    assert lexicographic(rule, problem, tasks, rounds)
    demands, capacities, _, weights = problem
    total = [sum(column) for column in zip(*capacities)]
    common = next(r for r, c in enumerate(total) if all(alone(d, total) * d[r] == c for d in demands))
    part = [w / sum(weights) * total[common] for w in weights]
    have = [sum(x) * d[common] for x, d in zip(tasks, demands)]
    n = min(range(len(have)), key=lambda n: have[n] / part[n])
    assert have[n] < part[n]
    return {"user": n + 1, "resource": common + 1, "have": have[n], "part": part[n]}


def envy_in_a_pool(rule: str, problem: Any, tasks: Any, rounds: Any, leftovers: int) -> Any:
    """Users with one demand vector each hold what their tasks take, and one also what is left where leftovers are given away.

    The utility is tasks / weight.
    """
    assert lexicographic(rule, problem, tasks, rounds)
    demands, (capacity,), _, weights = problem
    bundles = [[row[0] * q for q in d] for row, d in zip(tasks, demands)]
    left = [(c - sum(column)) * leftovers for c, column in zip(capacity, zip(*bundles))]
    offered = [[a + b for a, b in zip(bundle, left)] for bundle in bundles]
    found = envious(demands, [offered for _ in demands], [row[0] for row in tasks])
    w = weights[found["user"] - 1]
    return {**found, "have": found["have"] / w, "more": found["more"] / w}


def misreport_that_helps(
    rule: str,
    problem: Any,
    report: Any,
    misreporting: Any,
    tasks: Any,
    rounds: Any,
    tasks_after: Any,
    rounds_after: Any,
    leftovers: int,
) -> Any:
    """The totals before and after are these in all answers; what nobody uses after it is added where leftovers are given away."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert lexicographic(rule, report, tasks_after, rounds_after)
    (n,) = misreporting
    users, room = range(len(tasks)), tables(problem[1])
    own, taken = held(report, tasks_after, n), [held(report, tasks_after, m) for m in users]
    bundle = {k: v + leftovers * (room[k] - sum(part[k] for part in taken)) for k, v in own.items()}
    return {"user": n + 1, "have": sum(tasks[n]), "more": better_off(arcs(problem), bundle, n, sum(tasks[n]))}


def coalition_without_loss(
    rule: str, problem: Any, report: Any, misreporting: Any, tasks: Any, rounds: Any, tasks_after: Any, rounds_after: Any
) -> Any:
    """LMMF before and after. Each misreporting user reports some of its own ways and not all, so it runs what it is given."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert lexicographic(rule, report, tasks_after, rounds_after)
    assert all(d in problem[0][n] for n in misreporting for d in report[0][n])
    assert all(any(d not in report[0][n] for d in problem[0][n]) for n in misreporting)
    assert all(sum(d) == 1 for rows in (*problem[0], *report[0]) for d in rows)
    gains = {n: sum(tasks_after[n]) - sum(tasks[n]) for n in misreporting}
    n = max(gains, key=lambda m: gains[m])
    assert min(gains.values()) >= 0
    assert gains[n] > 0
    told = "{" + ", ".join(str(m + 1) for m in misreporting) + "}"
    return {"user": n + 1, "have": sum(tasks[n]), "more": sum(tasks_after[n]), "coalition": told}


def lemma_4_with_leftovers(rule: str, problem: Any, report: Any, misreporting: Any, tasks: Any, rounds: Any) -> Any:
    """LMMF by Definition 1, where the user is also given all that nobody's tasks use."""
    assert lexicographic(rule, problem, tasks, rounds)
    (n,) = misreporting
    others = [held(problem, tasks, m) for m in range(len(tasks)) if m != n]
    bundle = {k: c - sum(part[k] for part in others) for k, c in tables(problem[1]).items()}
    assert sum(problem[0][n]) == sum(report[0][n]) == 1
    return {"user": n + 1, "have": tasks[n][0], "more": better_off(arcs(report), bundle, n, tasks[n][0])}


# ---- beside fairness: Pareto optimality of others, printed numbers, programs, pivots ---------------------------------


def make_mmf_prices(case: Case) -> dict[str, Any]:
    """The prices of the first round of LMMF, scaled so that a task of everybody together costs 1; and LMMF's tasks."""
    made = lexicographic_answer(case.instance, "lmmf")
    (prices,) = made["rounds"][0][1]
    whole = sum(min(sum(p * q for p, q in zip(prices, d, strict=True)) for d in rows) for rows in case.instance.exact.demands)
    return {"prices": [p / whole for p in prices], "better": made["tasks"]}


def mmf_without_pareto_optimality(problem: Any, points: Any, prices: Any, better: Any) -> Any:
    """The point is max-min fair: at these prices the pool costs the least utility, and a task for everybody 1 or more."""
    (Y,), need = points, arcs(problem)
    least = min(sum(row) for row in Y)
    cost = {a: sum(prices[r] * q for r, q in d.items()) for a, d in need.items()}
    assert fits(problem, Y)
    assert min(prices) >= 0
    assert sum(p * c for p, c in zip(prices, problem[1][0])) <= least
    assert sum(min(cost[a] for a in need if a[0] == n) for n in range(len(Y))) >= 1
    return {"least": least, **dominating(problem, [sum(row) for row in Y], better)}


def make_each_server_alone(case: Case) -> dict[str, Any]:
    """Tasks of DRF on each server by itself, and feasible ones with more for somebody and less for nobody."""
    instance, made = case.instance, rational_answer(case.instance, "drf-per-server")
    tasks = by_place(instance, made.x)
    better = most_tasks(instance, range(instance.N), {n: sum(row, F(0)) for n, row in enumerate(tasks)})
    return {"tasks": tasks, "better": by_place(instance, better.z)}


def drf_per_server_without_pareto_optimality(problem: Any, tasks: Any, better: Any) -> Any:
    """DRF on each server by itself: these tasks and no others."""
    assert drf_per_server(problem, tasks)
    return dominating(problem, [sum(x) for x in tasks], better)


def make_answer_and_each_server(case: Case, rule: str) -> dict[str, Any]:
    """The answer, and DRF on each server by itself."""
    return make_answer(case, rule) | {"other_tasks": make_each_server_alone(case)["tasks"]}


def low_utilisation(rule: str, problem: Any, tasks: Any, rounds: Any, other_tasks: Any) -> Any:
    """The totals are these in all answers of both."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert drf_per_server(problem, other_tasks)
    columns = list(zip(*problem[0]))
    used = [[sum(sum(x) * q for x, q in zip(part, column)) for column in columns] for part in (tasks, other_tasks)]
    ratio = max(b / a for a, b in zip(*used))
    assert ratio < F(2, 5)
    return {"ratio": ratio}


def left_in_the_pool(rule: str, problem: Any, tasks: Any, rounds: Any) -> Any:
    """DRF in one pool: max-min fair dominant shares."""
    assert lexicographic(rule, problem, tasks, rounds)
    left = problem[1][0][1] - sum(x[0] * d[1] for x, d in zip(tasks, problem[0]))
    assert left != 2
    return {"tasks": " and ".join(str(x[0]) for x in tasks), "left": left}


def user_3_of_table_4(rule: str, problem: Any, tasks: Any, rounds: Any) -> Any:
    """TSF on the four classes of servers, with the capacities of all servers of a class."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert sum(tasks[2]) > F("58.335")
    return {"tasks": sum(tasks[2])}


def utility_of_proposition_8(rule: str, problem: Any, tasks: Any, rounds: Any, bundle: Any) -> Any:
    """(1, 0, 0) is what LMMF leaves to user 2 when user 1 has all it can use, and one of user 2's demand vectors."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert list(held(problem, tasks, 1).values()) == bundle
    assert bundle in problem[0][1]
    assert sum(tasks[1]) == 1
    return {"worth": sum(tasks[1])}


def packing_of_fig_1(problem: Any, tasks: Any) -> Any:
    """Both packings fit; a task is one of the user's demand vectors, so the utility is the number of tasks."""
    printed = [[F(5), F(1), F("5/2")]]
    assert fits(problem, printed)
    assert fits(problem, tasks)
    assert sum(tasks[0]) > sum(printed[0])
    return {"printed": sum(printed[0]), "better": listed(tasks[0]), "value": sum(tasks[0])}


def make_half_of_user_1(case: Case) -> dict[str, Any]:
    """Half of the tasks that user 1 can run alone."""
    return {"x": alone(case.instance.exact.demands[0][0], case.instance.exact.capacities[0]) / 2}


def least_utility_without_a_largest(demands: Any, capacities: Any, x: Any) -> Any:
    """Utilities are f of what the tasks take, f(c) = c_1 + c_2, and 10 more where c_1 > 0: concave, and rising along rays.

    User 1 has 0 without tasks, and more than 10 with any. User 2 takes nothing of resource 1, and has what is left of resource 2,
    less than 10. So the least utility is 0, or it is user 2's, which rises as user 1 runs less, but not to none.
    """
    assert [len(d) for d in demands] == [2, 2]
    (first, second), (nothing, other) = demands
    assert nothing == 0
    assert min(first, second, other) > 0
    ((bound, room),) = capacities
    assert room < 10
    assert 0 < x <= bound / first
    least, better = (min(10 + y * (first + second), room - y * second) for y in (x, x / 2))
    assert better > least > 0
    return {"tasks": x, "least": least, "better": better, "room": room, "need": second}


def make_pool_and_prices(case: Case) -> dict[str, Any]:
    """DRF in the pool of all servers, and the prices of DRFH at which shares of 1 for all cost 1."""
    prices, problem = lexicographic_answer(case.instance, "drfh")["rounds"][0][1], given(case)["problem"]
    least = [min(sum(p * q for p, q in zip(row, d, strict=True)) for row in prices) for d in problem[0]]
    whole = sum(one * cost for one, cost in zip(unit("drfh", problem), least, strict=True))
    return make_answer(case, "drfh", "drf") | {"prices": [[p / whole for p in row] for row in prices]}


def drf_not_realised(rule: str, problem: Any, tasks: Any, rounds: Any, prices: Any) -> Any:
    """DRF of the pool, the only one; whatever fits into the servers costs no more than they do."""
    demands, capacities, _, weights = problem
    pool = (demands, [[sum(column) for column in zip(*capacities)]], [[1] for _ in demands], weights)
    assert lexicographic(rule, pool, tasks, rounds)
    assert all(p >= 0 for row in prices for p in row)
    paid = sum(x[0] * min(sum(p * q for p, q in zip(row, d)) for row in prices) for x, d in zip(tasks, demands))
    value = sum(p * c for row, capacity in zip(prices, capacities) for p, c in zip(row, capacity))
    assert paid > value
    return {"x": listed(x[0] for x in tasks), "paid": paid, "value": value}


def first_fit(rule: str, problem: Any, tasks: Any, rounds: Any) -> Any:
    """Progressive filling with whole tasks, on the first server that fits, against DRFH, with these totals in all answers."""
    assert lexicographic(rule, problem, tasks, rounds)
    filled, fair = whole_tasks(problem[0], problem[1], False), [sum(x) for x in tasks]
    assert filled != fair
    return {"filled": " and ".join(map(str, filled)), "fair": " and ".join(map(str, fair))}


def make_more_for_each(case: Case) -> dict[str, Any]:
    """The LMMF allocation, and for each user above the first level tasks with more for it, where only the first level is kept."""
    made, instance = make_answer(case, "lmmf"), case.instance
    level = [sum(row) for row in made["tasks"]]
    kept = {n: u for n, u in enumerate(level) if u == min(level)}
    more = [made["tasks"] if n in kept else by_place(instance, most_tasks(instance, [n], kept).z) for n in range(instance.N)]
    return made | {"more": more}


def iteration_that_places_nobody(rule: str, problem: Any, tasks: Any, rounds: Any, more: Any) -> Any:
    """Iteration 1 protects everybody, so it places those of the least utility a_1, and no others: they have more in LMMF.

    Iteration 2 gives the others at least a_2, the second level. It places who cannot have more without less for those placed in
    iteration 1, and in more[n] user n has more without less for these. The next iterations are the same.
    """
    assert lexicographic(rule, problem, tasks, rounds)
    assert set(problem[3]) == {1}
    level = [sum(row) for row in tasks]
    placed = [n for n, u in enumerate(level) if u == min(level)]
    second = min(u for u in level if u > min(level))
    for n in range(len(level)):
        if n not in placed:
            assert fits(problem, more[n])
            assert sum(more[n][n]) > second
            assert all(sum(more[n][m]) >= level[m] for m in placed)
    return {"placed": [n + 1 for n in placed], "level": second}


def placed_inside_one_allocation(rule: str, problem: Any, tasks: Any, rounds: Any, points: Any) -> Any:
    """Y gives everybody a_1, the largest least utility. A user with one demand vector gains nothing from what Y leaves."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert set(problem[3]) == {1}
    (Y,), least, users = points, min(sum(row) for row in tasks), range(len(tasks))
    assert fits(problem, Y)
    assert all(sum(row) == least for row in Y)
    left = [c - sum(held(problem, Y, m)[0, r] for m in users) for r, c in enumerate(problem[1][0])]
    for n, vectors in enumerate(problem[0]):
        own = [v + rest for v, rest in zip(held(problem, Y, n).values(), left)]
        only = vectors[0] if isinstance(vectors[0], list) else vectors
        stuck = vectors in ([only], only) and alone(only, own) == least
        if stuck and sum(tasks[n]) > least:
            return {"user": n + 1, "level": least, "fair": sum(tasks[n])}
    raise AssertionError("nobody is placed too low")


def changed_users(u: Any, v: Any) -> list[int]:
    """Whose utility differs."""
    return [n for n, (a, b) in enumerate(zip(u, v)) if a != b]


def pivots_of_two_allocations(problem: Any, points: Any) -> Any:
    """A pivot has the least utility in Y among those whose utility differs in Y' (Definition 2).

    Everybody has one demand vector, so its utility is the number of its tasks.
    """
    assert not any(isinstance(d[0], list) for d in problem[0])
    assert all(fits(problem, point) for point in points)
    u, v = ([sum(row) for row in point] for point in points)
    changed = changed_users(u, v)
    assert changed
    i, j = min(u[n] for n in changed), min(v[n] for n in changed)
    assert (sorted(v) > sorted(u)) != (j > i)
    first, second, before, after = map(listed, (u, v, sorted(u), sorted(v)))
    return {"first": first, "second": second, "i": i, "j": j, "larger": sorted(v) > sorted(u), "before": before, "after": after}


def pivot_with_more(rule: str, problem: Any, tasks: Any, rounds: Any, points: Any) -> Any:
    """A pivot has the least utility in Y among those whose utility differs in Y' (Definition 2)."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert set(problem[3]) == {1}
    assert fits(problem, points[0])
    u, v = [sum(row) for row in tasks], [sum(row) for row in points[0]]
    changed = changed_users(u, v)
    pivots = [n for n in changed if u[n] == min(u[m] for m in changed)]
    n = max(pivots, key=lambda m: v[m])
    assert v[n] > u[n]
    return {"first": listed(u), "second": listed(v), "user": n + 1, "have": u[n], "more": v[n]}
