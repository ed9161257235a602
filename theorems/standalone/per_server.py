"""Arguments about PS-DSF: properties that none of its answers have, and printed numbers of P."""

from fractions import Fraction as F
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.standalone.certificates import by_place, given, most_tasks, rational_answer
from fairalloc.theorems.standalone.definitions import alone, dominating, of_totals, per_server, unit_of, virtual_shares
from fairalloc.theorems.standalone.every_answer import every_ps_dsf, ps_dsf_steps
from fairalloc.theorems.standalone.merit import full_resources


def make_of_ps_dsf(case: Case) -> dict[str, Any]:
    """An exact PS-DSF allocation."""
    return {"tasks": by_place(case.instance, rational_answer(case.instance, "ps-dsf").x)}


def steps_of(problem: Any, n: int, sign: int, most: F) -> list[str]:
    """The steps that prove sign x_n <= most for every PS-DSF allocation."""
    return ps_dsf_steps(problem, unit_of(n, len(problem[0]), sign), most)


def make_better_than_all(case: Case) -> dict[str, Any]:
    """Feasible tasks, and for each user the steps that prove that no PS-DSF allocation gives it more than the exact one."""
    problem = given(case)["problem"]
    most = [sum(row, F(0)) for row in make_of_ps_dsf(case)["tasks"]]
    better = by_place(case.instance, most_tasks(case.instance, range(len(most)), dict(enumerate(most))).z)
    return {"most": most, "better": better, "steps": [steps_of(problem, n, 1, value) for n, value in enumerate(most)]}


def ps_dsf_without_pareto_optimality(problem: Any, most: Any, better: Any, steps: Any) -> Any:
    """No PS-DSF allocation exceeds a bound of each user; other feasible tasks reach all of these bounds, and exceed one."""
    for n, value in enumerate(most):
        assert every_ps_dsf(problem, unit_of(n, len(most)), value, iter(steps[n]))
    return dominating(problem, most, better)


def make_envied_in_all(case: Case) -> dict[str, Any]:
    """Who envies whom in the exact answer, with the steps for the most that the one has and the least that the other has."""
    problem = given(case)["problem"]
    have = [sum(row, F(0)) for row in make_of_ps_dsf(case)["tasks"]]
    found = of_totals(problem, have)
    n, m = found["user"] - 1, found["envied"] - 1
    steps = {"steps_most": steps_of(problem, n, 1, have[n]), "steps_least": steps_of(problem, m, -1, -have[m])}
    return {"user": n, "envied": m, "most": have[n], "least": have[m], **steps}


def ps_dsf_with_envy(problem: Any, user: int, envied: int, most: Any, least: Any, steps_most: Any, steps_least: Any) -> Any:
    """In every PS-DSF allocation one user has at most `most`, and the other at least `least`, wherever that lies."""
    users = len(problem[0])
    assert every_ps_dsf(problem, unit_of(user, users), most, iter(steps_most))
    assert every_ps_dsf(problem, unit_of(envied, users, -1), -least, iter(steps_least))
    demands, weights = problem[0], problem[3]
    more = alone(demands[user], [least * q * weights[user] / weights[envied] for q in demands[envied]])
    assert more > most
    return {"user": user + 1, "envied": envied + 1, "have": most, "more": more}


def make_trees(case: Case) -> dict[str, Any]:
    """Cases for the misreporting user; exact answers give it the most of all by the truth, and the least after the misreport."""
    data = given(case)
    (n,) = data["misreporting"]
    answers = (make_of_ps_dsf(Case(instance))["tasks"][n] for instance in (case.instance, case.reported))
    before, told = (sum(row, F(0)) for row in answers)
    own = min(a / b for a, b in zip(data["reported"][n], data["demands"][n], strict=True) if b)
    return {
        "user": n,
        "before": before,
        "after": told * own,
        "steps_before": steps_of(data["problem"], n, 1, before),
        "steps_after": steps_of(data["report"], n, -1, -told),
    }


def misreport_of_ps_dsf(
    problem: Any, report: Any, user: int, before: Any, after: Any, steps_before: Any, steps_after: Any
) -> Any:
    """In every PS-DSF allocation the user has at most `before` by the truth, and after its misreport it can run `after` or more.

    Of what it is given for a reported task, the least reported / true demand is what it can run of its own. It reports no server
    on which it may not run.
    """
    up, down = unit_of(user, len(problem[0])), unit_of(user, len(problem[0]), -1)
    own = min(told / needed for told, needed in zip(report[0][user], problem[0][user]) if needed)
    assert all(told == d for n, (told, d) in enumerate(zip(report[0], problem[0])) if n != user)
    assert all(
        told == may or (n == user and told < may) for n, row in enumerate(report[2]) for told, may in zip(row, problem[2][n])
    )
    assert before < after
    assert every_ps_dsf(problem, up, before, iter(steps_before))
    assert every_ps_dsf(report, down, -after / own, iter(steps_after))
    return {"user": user + 1, "before": before, "after": after}


def shares_of_fig_2(problem: Any, tasks: Any, printed: Any) -> Any:
    """The tasks are PS-DSF, and 8 for user 4, as printed."""
    assert per_server(problem, tasks)
    gamma = alone(problem[0][3], problem[1][0])
    assert sum(tasks[3]) == 8
    assert sum(tasks[3]) / gamma != printed
    return {"share": sum(tasks[3]) / gamma, "gamma": gamma}


def cpu_of_table_4(problem: Any, tasks: Any) -> Any:
    """Table IV for PS-DSF: the tasks are PS-DSF, and fill the memory of classes A and B, but not their CPU."""
    assert per_server(problem, tasks)
    used = [sum(x[i] * d[r] for x, d in zip(tasks, problem[0]) for i in (0, 1)) for r in (0, 1)]
    total = [problem[1][0][r] + problem[1][1][r] for r in (0, 1)]
    assert used[0] < total[0]
    assert used[1] == total[1]
    return {"used": used[0], "total": total[0], "memory": used[1]}


def maximum_over_nobody(problem: Any, tasks: Any) -> Any:
    """The tasks are PS-DSF, where Algorithm I has to end. Its test is made for each server, with N_i all who may use it.

    Where it passes for some r*, N_i loses all who demand the first of them.
    """
    assert per_server(problem, tasks)
    demands, shares = problem[0], virtual_shares(problem, tasks)
    for i in range(len(problem[1])):
        z = {n: share for (n, _, j), share in shares.items() if j == i}
        left, full = list(z), full_resources(problem, tasks, i)
        while left:
            lowest = [n for n in left if z[n] == min(z[m] for m in left)]
            users = {r: [n for n in left if tasks[n][i] and demands[n][r]] for r in full if any(demands[n][r] for n in lowest)}
            done = [r for r, using in users.items() if using and max(z[n] for n in using) == z[lowest[0]]]  # (17)
            if not done:
                empty = [r for r, using in users.items() if not using]
                assert empty
                return {"server": i + 1, "resource": empty[0] + 1}
            left = [n for n in left if not demands[n][done[0]]]
    raise AssertionError("every maximum is over somebody")
