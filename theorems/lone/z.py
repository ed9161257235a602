"""Arguments against statements of Z: lexicographic max-min fairness in one pool, its claims about pivots, and printed numbers."""

from fractions import Fraction
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import lexicographic_answer, most_tasks, of_variants
from fairalloc.theorems.lone.definitions import alone, lexicographic_in_a_pool, listed, most_envious, packed
from fairalloc.theorems.lone.script import argument

__all__ = ["answer", "answers_of_both"]

F = Fraction
Row = list[F]
Rows = list[list[F]]


def answer(case: Case) -> dict[str, Any]:
    """The LMMF allocation with its prices."""
    return lexicographic_answer(case.instance, "lmmf", pool=True)


def answers_of_both(case: Case) -> dict[str, Any]:
    """The same, and that of the reported demands."""
    after = lexicographic_answer(case.reported, "lmmf", pool=True)
    return answer(case) | {"tasks_after": after["tasks"], "rounds_after": after["rounds"]}


# ---- printed numbers ------------------------------------------------------------------------------------------------------


@argument(
    "Z.Fig1",
    sentence="the printed packing holds {printed} tasks, and {better} hold {value}",
    formula=r"5 + 1 + 2.5 = {printed} < {value}",
    more=lambda case: {"tasks": answer(case)["tasks"]},
)
def packing_of_fig_1(variants: list[Rows], capacity: Row, tasks: Rows) -> dict[str, Any]:
    """Both packings fit; a task is one of the user's demand vectors, so the utility is the number of tasks."""
    printed = [[F(5), F(1), F("5/2")]]
    assert packed(variants, capacity, printed)
    assert packed(variants, capacity, tasks)
    assert sum(tasks[0]) > sum(printed[0])
    return {"printed": sum(printed[0]), "better": listed(tasks[0]), "value": sum(tasks[0])}


@argument(
    "Z.P7.numbers",
    answers="all",
    sentence="after the misreport user 2 holds {bundle}, worth {worth} of its tasks; 0.83 is printed",
    formula=r"u_2\left({bundle}\right) = {worth} > 0.835",
    more=lambda case: {"reported": [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]], "tasks": [F(1), F(1)], "prices": [F(1), F(1)]},
)
def utility_of_proposition_7(demands: Rows, capacity: Row, reported: Rows, tasks: Row, prices: Row) -> dict[str, Any]:
    """NB after the misreport: each user spends 1 at prices at which everything costs 2.

    So all feasible y have sum y_n / x_n <= 2, and by the means of two numbers y_1 y_2 <= x_1 x_2, with equality for x alone.
    """
    assert packed([[d] for d in reported], capacity, [[x] for x in tasks])
    assert reported[0] == demands[0]
    assert all(x * sum(p * q for p, q in zip(prices, d)) == 1 for x, d in zip(tasks, reported))
    assert min(prices) >= 0
    assert sum(p * c for p, c in zip(prices, capacity)) == 2
    bundle = [tasks[1] * q for q in reported[1]]
    assert alone(demands[1], bundle) > F("0.835")
    return {"bundle": listed(bundle), "worth": alone(demands[1], bundle)}


@argument(
    "Z.P8.numbers",
    answers="all",
    sentence="user 2 can run {worth} task with (1, 0, 0), which it holds; 1/2 is printed",
    formula=r"u_2(1, 0, 0) = {worth} \ne \tfrac{{1}}{{2}}",
    more=lambda case: answer(case) | {"bundle": [F(1), F(0), F(0)]},
)
def utility_of_proposition_8(
    variants: list[Rows], capacity: Row, weights: Row, tasks: Rows, rounds: Rows, bundle: Row
) -> dict[str, Any]:
    """(1, 0, 0) is what LMMF leaves to user 2 when user 1 has all it can use, and one of user 2's demand vectors."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    held = [[sum(x * d[r] for x, d in zip(row, vectors)) for r in range(len(capacity))] for row, vectors in zip(tasks, variants)]
    assert held[1] == bundle
    assert bundle in variants[1]
    assert sum(tasks[1]) == 1
    return {"worth": sum(tasks[1])}


# ---- the iterations of III-A ----------------------------------------------------------------------------------------------


def _more_for_each(case: Case) -> dict[str, Any]:
    """The LMMF allocation, and for each user above the first level tasks with more for it, where only the first level is kept."""
    made, instance = answer(case), case.instance
    level = [sum(row) for row in made["tasks"]]
    kept = {n: u for n, u in enumerate(level) if u == min(level)}
    more = [made["tasks"] if n in kept else of_variants(instance, most_tasks(instance, [n], kept).z) for n in range(instance.N)]
    return made | {"more": more}


@argument(
    "Z.P3",
    answers="all",
    sentence="users {placed} are placed in iteration 1; in iteration 2 all others could have more than {level}: nobody is placed",
    formula=r"p_2 = \emptyset, \qquad a_2 = {level}",
    more=_more_for_each,
)
def iteration_that_places_nobody(
    variants: list[Rows], capacity: Row, weights: Row, tasks: Rows, rounds: Rows, more: list[Rows]
) -> dict[str, Any]:
    """Iteration 1 protects everybody, so it places those of the least utility a_1, and no others: they have more in LMMF.

    Iteration 2 gives the others at least a_2, the second level. It places who cannot have more without less for those placed in
    iteration 1, and in more[n] user n has more without less for these. The next iterations are the same.
    """
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert set(weights) == {1}
    level = [sum(row) for row in tasks]
    placed = [n for n, u in enumerate(level) if u == min(level)]
    second = min(u for u in level if u > min(level))
    for n in range(len(level)):
        if n not in placed:
            assert packed(variants, capacity, more[n])
            assert sum(more[n][n]) > second
            assert all(sum(more[n][m]) >= level[m] for m in placed)
    return {"placed": [n + 1 for n in placed], "level": second}


@argument(
    "Z.III.procedure.inside",
    answers="some",
    sentence="in Y user {user} cannot have more than {level} where the others keep their bundles, and LMMF gives it {fair}",
    formula=r"a_1 = {level} < {fair} = u_{{{user}}}",
    more=answer,
)
def placed_inside_one_allocation(
    variants: list[Rows], capacity: Row, weights: Row, tasks: Rows, rounds: Rows, points: list[Rows]
) -> dict[str, Any]:
    """Y gives everybody a_1, the largest least utility. A user with one demand vector gains nothing from what Y leaves."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert set(weights) == {1}
    (Y,), least = points, min(sum(row) for row in tasks)
    assert packed(variants, capacity, Y)
    assert all(sum(row) == least for row in Y)
    held = [[sum(x * d[r] for x, d in zip(row, vectors)) for r in range(len(capacity))] for row, vectors in zip(Y, variants)]
    left = [c - sum(part) for c, part in zip(capacity, zip(*held))]
    for n, (vectors, own) in enumerate(zip(variants, held)):
        stuck = len(vectors) == 1 and alone(vectors[0], [a + b for a, b in zip(own, left)]) == least
        if stuck and sum(tasks[n]) > least:
            return {"user": n + 1, "level": least, "fair": sum(tasks[n])}
    raise AssertionError("nobody is placed too low")


# ---- pivots ---------------------------------------------------------------------------------------------------------------


@argument(
    "Z.C2",
    sentence="the utilities are {first} in Y and {second} in Y': the pivots have {i} and {j}, and <Y'> is larger is {larger}",
    formula=r"u_i(Y_i) = {i}, \quad u_j(Y'_j) = {j}, \quad \langle Y \rangle = {before}, \quad \langle Y' \rangle = {after}",
)
def pivots_of_two_allocations(variants: list[Rows], capacity: Row, points: list[Rows]) -> dict[str, Any]:
    """A pivot has the least utility in Y among those whose utility differs in Y' (Definition 2)."""
    assert all(packed(variants, capacity, point) for point in points)
    assert all(len(vectors) == 1 for vectors in variants)
    u, v = ([sum(row) for row in point] for point in points)
    changed = [n for n, (a, b) in enumerate(zip(u, v)) if a != b]
    i, j = min(u[n] for n in changed), min(v[n] for n in changed)
    assert (sorted(v) > sorted(u)) != (j > i)
    first, second, before, after = map(listed, (u, v, sorted(u), sorted(v)))
    return {"first": first, "second": second, "i": i, "j": j, "larger": sorted(v) > sorted(u), "before": before, "after": after}


@argument(
    "Z.Cor1",
    answers="some",
    sentence="Y gives {first} and is LMMF; pivot {user} has more in Y', which gives {second}",
    formula=r"u_{{{user}}}(Y'_{{{user}}}) = {more} > {have} = u_{{{user}}}(Y_{{{user}}}), \qquad Y\ \text{{LMMF}}",
    more=answer,
)
def pivot_with_more(
    variants: list[Rows], capacity: Row, weights: Row, tasks: Rows, rounds: Rows, points: list[Rows]
) -> dict[str, Any]:
    """A pivot has the least utility in Y among those whose utility differs in Y' (Definition 2)."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert set(weights) == {1}
    assert packed(variants, capacity, points[0])
    u, v = [sum(row) for row in tasks], [sum(row) for row in points[0]]
    changed = [n for n, (a, b) in enumerate(zip(u, v)) if a != b]
    pivots = [n for n in changed if u[n] == min(u[m] for m in changed)]
    n = max(pivots, key=lambda m: v[m])
    assert v[n] > u[n]
    first, second = (listed(part) for part in (u, v))
    return {"first": first, "second": second, "user": n + 1, "have": u[n], "more": v[n]}


# ---- misreports, and unused resources that are given away -----------------------------------------------------------------


@argument(
    "Z.T1.GSP.strict",
    answers="all",
    sentence="user {user} runs {more} tasks instead of {have} when users {coalition} misreport, and none of these runs fewer",
    formula=r"u_{{{user}}}: \ {have} < {more}, \qquad u_m(Y'_m) \ge u_m(Y_m) \ \text{{for}}\ m \in {coalition}",
    more=answers_of_both,
)
def coalition_without_loss(
    variants: list[Rows],
    reported_variants: list[Rows],
    misreporting: list[int],
    capacity: Row,
    weights: Row,
    tasks: Rows,
    rounds: Rows,
    tasks_after: Rows,
    rounds_after: Rows,
) -> dict[str, Any]:
    """LMMF before and after. Each misreporting user reports some of its own ways and not all, so it runs what it is given."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert lexicographic_in_a_pool(reported_variants, capacity, weights, tasks_after, rounds_after)
    assert all(d in variants[n] for n in misreporting for d in reported_variants[n])
    assert all(any(d not in reported_variants[n] for d in variants[n]) for n in misreporting)
    assert all(sum(d) == 1 for rows in (*variants, *reported_variants) for d in rows)
    gains = {n: sum(tasks_after[n]) - sum(tasks[n]) for n in misreporting}
    n = max(gains, key=lambda m: gains[m])
    assert min(gains.values()) >= 0
    assert gains[n] > 0
    told = "{" + ", ".join(str(m + 1) for m in misreporting) + "}"
    return {"user": n + 1, "have": sum(tasks[n]), "more": sum(tasks_after[n]), "coalition": told}


@argument(
    "Z.L4.leftovers",
    answers="some",
    sentence="user {user} runs {have} tasks; by its other demands what it holds packs {more}",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u'_{{{user}}}(Y_{{{user}}})",
    more=answer,
)
def lemma_4_with_leftovers(
    demands: Rows, reported: Rows, misreporting: list[int], capacity: Row, weights: Row, tasks: Rows, rounds: Rows
) -> dict[str, Any]:
    """LMMF by Definition 1, where the user is also given all that nobody's tasks use."""
    assert lexicographic_in_a_pool([[d] for d in demands], capacity, weights, tasks, rounds)
    (n,) = misreporting
    left = [c - sum(x[0] * d[r] for x, d in zip(tasks, demands)) for r, c in enumerate(capacity)]
    held = [tasks[n][0] * q + rest for q, rest in zip(demands[n], left)]
    assert sum(demands[n]) == sum(reported[n]) == 1
    assert alone(reported[n], held) > tasks[n][0]
    return {"user": n + 1, "have": tasks[n][0], "more": alone(reported[n], held)}


@argument(
    "Z.T1.leftovers",
    answers="some",
    sentence="user {user} runs {have} tasks by the truth; when it misreports and is given what is left it can run {more}",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u_{{{user}}}(Y'_{{{user}}})",
    more=answers_of_both,
)
def misreport_with_leftovers(
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
    """LMMF by Definition 1 before and after; after it the user is also given all that nobody's reported tasks use."""
    assert lexicographic_in_a_pool([[d] for d in demands], capacity, weights, tasks, rounds)
    assert lexicographic_in_a_pool([[d] for d in reported], capacity, weights, tasks_after, rounds_after)
    assert all(sum(d) == 1 for d in (*demands, *reported))
    (n,) = misreporting
    left = [c - sum(x[0] * d[r] for x, d in zip(tasks_after, reported)) for r, c in enumerate(capacity)]
    held = [tasks_after[n][0] * q + rest for q, rest in zip(reported[n], left)]
    assert alone(demands[n], held) > tasks[n][0]
    return {"user": n + 1, "have": tasks[n][0], "more": alone(demands[n], held)}


@argument(
    "Z.T2.leftovers",
    answers="some",
    sentence="user {user} runs {have} tasks, and {more} with what user {envied} holds who is given what is left",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u_{{{user}}}(Y_{{{envied}}})",
    more=answer,
)
def envy_with_leftovers(demands: Rows, capacity: Row, weights: Row, tasks: Rows, rounds: Rows) -> dict[str, Any]:
    """LMMF by Definition 1, where one user is also given all that nobody's tasks use."""
    assert lexicographic_in_a_pool([[d] for d in demands], capacity, weights, tasks, rounds)
    assert all(sum(d) == 1 for d in demands)
    assert set(weights) == {1}
    left = [c - sum(x[0] * d[r] for x, d in zip(tasks, demands)) for r, c in enumerate(capacity)]
    held = [[x[0] * q + rest for q, rest in zip(d, left)] for x, d in zip(tasks, demands)]
    return most_envious(demands, held, [x[0] for x in tasks])


@argument(
    "Z.VI.EF",
    answers="all",
    sentence="user {user} has the utility {have}, and {more} with what user {envied} holds",
    formula=r"f_{{{user}}}(Y_{{{user}}}) = {have} < {more} = f_{{{user}}}(Y_{{{envied}}})",
    more=answer,
)
def envy_with_different_f(variants: list[Rows], capacity: Row, weights: Row, tasks: Rows, rounds: Rows) -> dict[str, Any]:
    """Demands of sum 1, of one vector each, and f_n(c) = (sum of c_r) / w_n: x tasks have the utility x / w_n."""
    assert lexicographic_in_a_pool(variants, capacity, weights, tasks, rounds)
    assert all(len(rows) == 1 and sum(rows[0]) == 1 for rows in variants)
    held = [[x[0] * q for q in rows[0]] for x, rows in zip(tasks, variants)]
    for n, rows in enumerate(variants):
        for m, bundle in enumerate(held):
            have, more = tasks[n][0] / weights[n], alone(rows[0], bundle) / weights[n]
            if more > have:
                return {"user": n + 1, "envied": m + 1, "have": have, "more": more}
    raise AssertionError("nobody envies anybody")


@argument(
    "Z.VI.results.LMMF",
    sentence="with {tasks} tasks user 1 leaves {least} to user 2, who has the least, and with half as many {better}",
    formula=r"\sup_{{x > 0}} \left({room} - {need} x\right) = {room}",
    more=lambda case: {
        "tasks": [
            min(c / d for c, d in zip(case.instance.exact.capacities[0], row, strict=True)) / 2
            for row in case.instance.exact.demands[0]
        ]
    },
)
def least_utility_without_a_largest(demands: Rows, capacity: Row, tasks: Row) -> dict[str, Any]:
    """Utilities are f of what the tasks take, f(c) = c_1 + c_2, and 10 more where c_1 > 0: concave, and rising along rays.

    User 1 has 0 without tasks, and more than 10 with any. User 2 takes nothing of resource 1, and has what is left of resource 2,
    less than 10. So the least utility is 0, or it is user 2's, which rises as user 1 runs less, but not to none.
    """
    (first, second), (nothing, other) = demands
    assert nothing == 0
    assert min(first, second, other) > 0
    assert capacity[1] < 10
    (x,) = tasks
    assert 0 < x <= capacity[0] / first
    least, better = (min(10 + y * (first + second), capacity[1] - y * second) for y in (x, x / 2))
    assert better > least > 0
    return {"tasks": x, "least": least, "better": better, "room": capacity[1], "need": second}
