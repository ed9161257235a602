"""Arguments about lexicographic mechanisms: drf, drfh, tsf and lmmf lack a property, or give other numbers than the printed ones.

All answers of such a mechanism have the same totals, which prices of each round prove (`lexicographic`).
"""

from fractions import Fraction
from typing import Any

from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_place, lexicographic_answer, most_tasks
from fairalloc.theorems.lone.definitions import (
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
    unit,
)
from fairalloc.theorems.lone.script import Making, argument, given

__all__ = ["answer_of"]

F = Fraction


def answer_of(rule: str, mechanism: str = "") -> Making:
    """The answer of the mechanism whose shares are those of a rule, by default of the same name."""
    return lambda case: {"rule": rule, **lexicographic_answer(case.instance, mechanism or rule)}


def answers_of(rule: str, mechanism: str = "") -> Making:
    """The same, and the answer to the misreport."""

    def made(case: Case) -> dict[str, Any]:
        after = lexicographic_answer(case.reported, mechanism or rule)
        return answer_of(rule, mechanism)(case) | {"tasks_after": after["tasks"], "rounds_after": after["rounds"]}

    return made


# ---- sharing incentive ----------------------------------------------------------------------------------------------------


def sharing(ids: tuple[str, ...], rule: str, words: str, formula: str, equal: bool = False) -> None:
    """Somebody has less than its part, by weight or equal, of every server that it may use."""

    def made(case: Case) -> dict[str, Any]:
        parts = [F(1)] * case.instance.N if equal else list(case.instance.exact.weights)
        return answer_of(rule)(case) | {"parts": parts}

    sentence = f"user {{user}} runs {{have}} tasks, and {{part}} with {words}"
    argument(*ids, answers="all", sentence=sentence, formula=formula, more=made)(less_than_its_part)


def less_than_its_part(rule: str, problem: Any, parts: Any, tasks: Any, rounds: Any) -> Any:
    """All answers of the rule have these totals; no server is idle."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert all(any(places[i] for places in problem[2]) for i in range(len(problem[1])))
    return short_of_its_part(problem, parts, tasks)


BY_WEIGHT = r"x_{{{user}}} = {have} < {part} = \tfrac{{\varphi_{{{user}}}}}{{\sum_m \varphi_m}} \sum_i \gamma_{{{user}i}}"
sharing(
    ("K.2.2.tsf.sharing", "K.Table1.tsf.sharing", "P.II-B.tsf.sharing", "P.Table1.tsf.sharing"),
    "tsf",
    "its part of every server that it may use",
    BY_WEIGHT,
)
sharing(
    ("K.2.2.drfh.sharing", "K.Table1.drfh.sharing", "P.II-B.drfh.sharing", "P.Table1.drfh.sharing", "W.P4"),
    "drfh",
    "its part of every server",
    BY_WEIGHT,
)
sharing(
    ("Z.P8", "Z.V.LMMF.SI"),
    "lmmf",
    "an equal part of everything",
    r"u_{{{user}}}(Y_{{{user}}}) = {have} < {part} = u_{{{user}}}(E)",
    equal=True,
)
sharing(
    ("W.S5.1.P5.weights",),
    "drfh",
    "an equal part of everything",
    r"x_{{{user}}} = {have} < {part} = \tfrac{{1}}{{n}} \gamma_{{{user}}}",
    equal=True,
)


# ---- one resource that is dominant for all --------------------------------------------------------------------------------


def more_of_the_bottleneck(rule: str) -> Making:
    """The answer, and tasks in which a user has more of the bottleneck and none with as little has less."""

    def made(case: Case) -> dict[str, Any]:
        found, instance, problem = answer_of(rule)(case), case.instance, given(case)["problem"]
        r = next(r for r in range(instance.R) if is_dominant(problem, r))
        amount = amounts(problem, found["tasks"], r)
        for n in range(instance.N):
            kept = {m: sum(found["tasks"][m]) for m in range(instance.N) if amount[m] <= amount[n]}
            best = most_tasks(instance, [n], kept)
            if best.value > sum(found["tasks"][n]):
                return found | {"resource": r, "user": n, "better": by_place(instance, best.z)}
        raise AssertionError("the answer is max-min fair on the bottleneck")

    return made


def is_dominant(problem: Any, r: int) -> bool:
    """Whether a resource is dominant for all at every server they may use."""
    demands, capacities, _, _ = problem
    return all(capacities[i][r] == alone(demands[n], capacities[i]) * demands[n][r] for n, _, i in arcs(problem))


def unfair_on_a_bottleneck(rule: str, problem: Any, tasks: Any, rounds: Any, resource: int, user: int, better: Any) -> Any:
    """All answers of the rule have these totals; one resource is dominant for all at every server they may use (K Def. 2).

    In `better`, which fits, the user has more of it, and nobody who has as little of it as the user, by weight, has less.
    """
    assert lexicographic(rule, problem, tasks, rounds)
    for n, _, i in arcs(problem):
        assert problem[1][i][resource] == alone(problem[0][n], problem[1][i]) * problem[0][n][resource]
    assert fits(problem, better)
    have, more = amounts(problem, tasks, resource), amounts(problem, better, resource)
    assert more[user] > have[user]
    assert all(b >= a for a, b in zip(have, more) if a <= have[user])
    return {"user": user + 1, "resource": resource + 1, "have": have[user], "more": more[user]}


for _rule in ("drfh", "tsf"):
    _ids = [f"K.2.2.{_rule}.bottleneck", f"K.Table1.{_rule}.bottleneck", f"P.Table1.{_rule}.bottleneck"]
    argument(
        *_ids,
        answers="all",
        sentence="user {user} could have {more} of resource {resource} instead of {have} while nobody with as little has less",
        formula=r"a_{{{user}{resource}}} = {have} < {more} = a'_{{{user}{resource}}}, \qquad "
        r"a'_{{m{resource}}} \ge a_{{m{resource}}} \ \text{{where}}\ a_{{m{resource}}} \le {have}",
        more=more_of_the_bottleneck(_rule),
    )(unfair_on_a_bottleneck)


@argument(
    "K.2.2.tsf.virtual",
    answers="all",
    sentence="the least amount of resource {resource} is {have} by TSF, and {more} is possible",
    formula=r"\min_n a_{{n{resource}}} = {have} < {more}",
    more=lambda case: answer_of("tsf")(case) | {"better": lexicographic_answer(case.instance, "drfh")["tasks"]},
)
def unfair_in_the_virtual_server(rule: str, problem: Any, tasks: Any, rounds: Any, better: Any) -> Any:
    """All have the same dominant resource in the virtual server of all servers."""
    assert lexicographic(rule, problem, tasks, rounds)
    assert fits(problem, better)
    total = [sum(column) for column in zip(*problem[1])]
    r = next(r for r, c in enumerate(total) if all(alone(d, total) * d[r] == c for d in problem[0]))
    have, more = min(amounts(problem, tasks, r)), min(amounts(problem, better, r))
    assert have < more
    return {"resource": r + 1, "have": have, "more": more}


@argument(
    "W.P8.alone",
    answers="all",
    sentence="user {user} gets {have} of resource {resource}, dominant for everybody, and {part} where it is the only one",
    formula=r"x_{{{user}}} d_{{{user}{resource}}} = {have} < {part} = \tfrac{{1}}{{n}} \sum_l c_{{l{resource}}}",
    more=answer_of("drfh"),
)
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


# ---- envy -----------------------------------------------------------------------------------------------------------------


def envy(id_: str, sentence: str, formula: str, answers: str = "all", leftovers: bool = False) -> None:
    """Somebody could run more with what another holds, and with what nobody's tasks use where that is given away."""
    made = lambda case: answer_of("lmmf")(case) | {"leftovers": int(leftovers)}  # noqa: E731
    argument(id_, answers=answers, sentence=sentence, formula=formula, more=made)(envy_in_a_pool)


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


OF_HELD = r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u_{{{user}}}(Y_{{{envied}}})"
envy("Z.P4", "user {user} runs {have} tasks, and {more} with what user {envied} holds", OF_HELD)
envy(
    "Z.T2.leftovers",
    "user {user} runs {have} tasks, and {more} with what user {envied} holds who is given what is left",
    OF_HELD,
    answers="some",
    leftovers=True,
)
envy(
    "Z.VI.EF",
    "user {user} has the utility {have}, and {more} with what user {envied} holds",
    r"f_{{{user}}}(Y_{{{user}}}) = {have} < {more} = f_{{{user}}}(Y_{{{envied}}})",
)


# ---- misreports -----------------------------------------------------------------------------------------------------------

OF_REPORT = r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u_{{{user}}}(Y'_{{{user}}})"


def misreport(id_: str, sentence: str, answers: str = "all", leftovers: bool = False) -> None:
    """A user gains by a misreport, where it is given what its reported tasks take, and what is left where that is given away."""
    made = lambda case: answers_of("lmmf")(case) | {"leftovers": int(leftovers)}  # noqa: E731
    argument(id_, answers=answers, sentence=sentence, formula=OF_REPORT, more=made)(misreport_that_helps)


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


misreport("Z.P6", "user {user} runs {have} tasks by the truth, and {more} of its own by misreporting")
misreport(
    "Z.T1.leftovers",
    "user {user} runs {have} tasks by the truth; when it misreports and is given what is left it can run {more}",
    answers="some",
    leftovers=True,
)


@argument(
    "Z.T1.GSP.strict",
    answers="all",
    sentence="user {user} runs {more} tasks instead of {have} when users {coalition} misreport, and none of these runs fewer",
    formula=r"u_{{{user}}}: \ {have} < {more}, \qquad u_m(Y'_m) \ge u_m(Y_m) \ \text{{for}}\ m \in {coalition}",
    more=answers_of("lmmf"),
)
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


def over_eligible(instance: Instance) -> dict[str, Any]:
    """The answer of DRFH whose shares are of the eligible servers: DRFH with the weights that this comes to."""
    problem = given(Case(instance))["problem"]
    weights = [w * a / b for w, a, b in zip(problem[3], unit("eligible", problem), unit("drfh", problem), strict=True)]
    return lexicographic_answer(instance.replace(weights=weights), "drfh")


def two_sets_of_servers(case: Case) -> dict[str, Any]:
    """The answers for the servers that a user may use, and for those that it says it may use."""
    after = over_eligible(case.reported)
    return {"rule": "eligible", **over_eligible(case.instance), "tasks_after": after["tasks"], "rounds_after": after["rounds"]}


@argument(
    "P.II-B.eligible",
    answers="all",
    sentence="user {user} runs {have} tasks by the truth, and at least {more} where it may by misreporting its servers",
    formula=r"x_{{{user}}} = {have} < {more} \le x'_{{{user}}}",
    more=two_sets_of_servers,
)
def servers_that_are_misreported(
    rule: str, problem: Any, report: Any, misreporting: Any, tasks: Any, rounds: Any, tasks_after: Any, rounds_after: Any
) -> Any:
    """Shares of the dominant resource over the servers that a user says it may use; the totals are unique before and after.

    What the user gets on a server that it may not use is of no use to it; here nothing fits there, so all it gets is.
    """
    assert lexicographic(rule, problem, tasks, rounds)
    assert lexicographic(rule, report, tasks_after, rounds_after)
    (n,) = misreporting
    new = [i for i, (a, b) in enumerate(zip(problem[2][n], report[2][n])) if b and not a]
    assert all(alone(problem[0][n], problem[1][i]) == 0 for i in new)
    assert sum(tasks_after[n]) > sum(tasks[n])
    return {"user": n + 1, "have": sum(tasks[n]), "more": sum(tasks_after[n])}


@argument(
    "Z.L4.leftovers",
    answers="some",
    sentence="user {user} runs {have} tasks; by its other demands what it holds packs {more}",
    formula=r"u_{{{user}}}(Y_{{{user}}}) = {have} < {more} = u'_{{{user}}}(Y_{{{user}}})",
    more=answer_of("lmmf"),
)
def lemma_4_with_leftovers(rule: str, problem: Any, report: Any, misreporting: Any, tasks: Any, rounds: Any) -> Any:
    """LMMF by Definition 1, where the user is also given all that nobody's tasks use."""
    assert lexicographic(rule, problem, tasks, rounds)
    (n,) = misreporting
    others = [held(problem, tasks, m) for m in range(len(tasks)) if m != n]
    bundle = {k: c - sum(part[k] for part in others) for k, c in tables(problem[1]).items()}
    assert sum(problem[0][n]) == sum(report[0][n]) == 1
    return {"user": n + 1, "have": tasks[n][0], "more": better_off(arcs(report), bundle, n, tasks[n][0])}
