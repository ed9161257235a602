"""Arguments about lexicographic mechanisms: drf, drfh, tsf and lmmf lack a property, or give other numbers than the printed ones.

All answers of such a mechanism have the same totals, which prices of each round prove (`lexicographic`).
"""

from fractions import Fraction
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.standalone.certificates import by_place, given, lexicographic_answer, most_tasks, of_eligible
from fairalloc.theorems.standalone.definitions import (
    alone,
    amounts,
    arcs,
    better_off,
    envious,
    fits,
    held,
    lexicographic,
    short_of_its_part,
    tables,
)

F = Fraction


def make_answer(case: Case, rule: str, mechanism: str = "") -> dict[str, Any]:
    """The answer of the mechanism whose shares are those of a rule, by default of the same name."""
    return lexicographic_answer(case.instance, mechanism or rule)


def make_answers(case: Case, rule: str) -> dict[str, Any]:
    """The same, and the answer to the misreport."""
    after = lexicographic_answer(case.reported, rule)
    return make_answer(case, rule) | {"tasks_after": after["tasks"], "rounds_after": after["rounds"]}


def make_answer_and_parts(case: Case, rule: str, equal: bool) -> dict[str, Any]:
    """The answer, and what parts of everything users are entitled to: equal ones, or by weight."""
    return make_answer(case, rule) | {"parts": [F(1)] * case.instance.N if equal else list(case.instance.exact.weights)}


def make_answer_and_drfh(case: Case, rule: str) -> dict[str, Any]:
    """The answer, and that of DRFH."""
    return make_answer(case, rule) | {"better": lexicographic_answer(case.instance, "drfh")["tasks"]}


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


def make_two_sets_of_servers(case: Case) -> dict[str, Any]:
    """The answers for the servers that a user may use, and for those that it says it may use."""
    before, after = (lexicographic_answer(of_eligible(instance), "drfh") for instance in (case.instance, case.reported))
    return before | {"tasks_after": after["tasks"], "rounds_after": after["rounds"]}


def lemma_4_with_leftovers(rule: str, problem: Any, report: Any, misreporting: Any, tasks: Any, rounds: Any) -> Any:
    """LMMF by Definition 1, where the user is also given all that nobody's tasks use."""
    assert lexicographic(rule, problem, tasks, rounds)
    (n,) = misreporting
    others = [held(problem, tasks, m) for m in range(len(tasks)) if m != n]
    bundle = {k: c - sum(part[k] for part in others) for k, c in tables(problem[1]).items()}
    assert sum(problem[0][n]) == sum(report[0][n]) == 1
    return {"user": n + 1, "have": tasks[n][0], "more": better_off(arcs(report), bundle, n, tasks[n][0])}
