"""Arguments against statements of W: DRFH, its shares and programs, and the filling with whole tasks."""

from fractions import Fraction
from typing import Any

from fairalloc.theorems.lone.certificates import lexicographic_answer
from fairalloc.theorems.lone.definitions import alone, at_most, fits, lexicographic, whole_tasks
from fairalloc.theorems.lone.script import argument

__all__ = ["left_in_the_pool"]

F = Fraction
Row = list[F]
Rows = list[list[F]]
Places = list[list[int]]

TABLE_2 = ((10, "35.1", "23.4"), (12, "42.2", "27.4"), (14, "43.9", "28.0"), (16, "45.4", "24.2"), (20, "40.6", "20.0"))
"""As printed."""


@argument(
    "W.S2.drf",
    answers="all",
    sentence="the users run {tasks} tasks, and {left} GB of memory are left; 2 GB is printed",
    formula=r"18 - 3 \cdot 4 - 2 \cdot 1 = {left} \ne 2",
    more=lambda case: lexicographic_answer(case.instance, "drf"),
)
def left_in_the_pool(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows]
) -> dict[str, Any]:
    """DRF in one pool: max-min fair dominant shares. All answers have these totals."""
    unit = [w * alone(d, capacities[0]) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    left = capacities[0][1] - sum(x[0] * d[1] for x, d in zip(tasks, demands))
    assert left != 2
    return {"tasks": " and ".join(str(x[0]) for x in tasks), "left": left}


@argument(
    "W.L1.step",
    sentence="a bundle with the share {share} holds {tasks} tasks, and g D* = {printed}",
    formula=r"g_{{il}} D_{{ir^*}} = {printed} \ne {tasks} = N_{{il}}(A_{{il}}), \qquad g_{{il}} = {share}",
)
def tasks_of_a_share(demands: Rows, capacities: Rows, points: list[Rows]) -> dict[str, Any]:
    """In parts of all there is: D_i is what a task takes, D_ir* its largest part; a bundle of x tasks has the share x D_ir*."""
    (tasks,), total = points, capacities[0]
    for row, d in zip(tasks, demands):
        D = [q / c for q, c in zip(d, total)]
        share = sum(row) * max(D)
        if share * max(D) != sum(row):
            return {"share": share, "tasks": sum(row), "printed": share * max(D)}
    raise AssertionError("the printed step is right here")


@argument(
    "W.E6.printed",
    answers="all",
    sentence="(5) has the value {five} or more, and (6) with the sum over l in U at most {six}",
    formula=r"g_{{(5)}} \ge {five} > {six} \ge g_{{(6)}}",
)
def program_6_as_printed(demands: Rows, capacities: Rows, eligible: Places, weights: Row) -> dict[str, Any]:
    """One resource. Equal parts of all servers have the least share `five`; of servers 1, ..., |U| alone nobody has all `six`."""
    users, servers = range(len(demands)), range(len(capacities))
    assert len(capacities[0]) == 1
    assert len(users) < len(servers)
    assert all(w == 1 for w in weights)
    total = sum(c[0] for c in capacities)
    tasks = [[c[0] / len(users) / d[0] for c in capacities] for d in demands]
    assert fits(demands, capacities, eligible, tasks)
    five = min(sum(x) * d[0] / total for x, d in zip(tasks, demands))
    rows = [[F(int(j == i)) for _ in users for j in users] + [F(0)] for i in users]  # what server i has, in shares of the total
    rows += [[F(-int(n == m)) for m in users for _ in users] + [F(1)] for n in users]  # g - sum of g_nl over l in U <= 0
    sides = [capacities[i][0] / total for i in users] + [F(0)] * len(users)
    factors = [F(1, len(users))] * (2 * len(users))
    six = at_most(rows, sides, factors, [F(0)] * len(users) ** 2 + [F(1)])
    assert six < five
    return {"five": five, "six": six}


@argument(
    "W.P8.alone",
    answers="all",
    sentence="user {user} gets {have} of resource {resource}, dominant for everybody, and {part} where it is the only one",
    formula=r"x_{{{user}}} d_{{{user}{resource}}} = {have} < {part} = \tfrac{{1}}{{n}} \sum_l c_{{l{resource}}}",
    more=lambda case: lexicographic_answer(case.instance, "drfh"),
)
def less_than_alone(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows]
) -> dict[str, Any]:
    """DRFH: shares of the global dominant resource. All answers have these totals."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    common = [r for r, c in enumerate(total) if all(alone(d, total) * d[r] == c for d in demands)]
    part = [w / sum(weights) * total[common[0]] for w in weights]
    have = [sum(x) * d[common[0]] for x, d in zip(tasks, demands)]
    n = min(range(len(have)), key=lambda n: have[n] / part[n])
    assert have[n] < part[n]
    return {"user": n + 1, "resource": common[0] + 1, "have": have[n], "part": part[n]}


@argument(
    "W.S5.1.P5.weights",
    answers="all",
    sentence="user {user} runs {have} tasks, and {part} with an equal part of everything",
    formula=r"x_{{{user}}} = {have} < {part} = \tfrac{{1}}{{n}} \gamma_{{{user}}}",
    more=lambda case: lexicographic_answer(case.instance, "drfh"),
)
def weak_sharing_with_weights(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows]
) -> dict[str, Any]:
    """DRFH with weights. Definition 3 compares with 1/n of everything in one pool; here is one server, which is that pool."""
    assert len(capacities) == 1
    unit = [w * alone(d, capacities[0]) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    part = [alone(d, capacities[0]) / len(demands) for d in demands]
    n = min(range(len(part)), key=lambda n: sum(tasks[n]) / part[n])
    assert sum(tasks[n]) < part[n]
    return {"user": n + 1, "have": sum(tasks[n]), "part": part[n]}


@argument(
    "W.S5.2.first-fit",
    answers="all",
    sentence="First-Fit ends with {filled} tasks, and DRFH gives {fair}",
    formula=r"x^{{\text{{First-Fit}}}} = {filled} \ne {fair} = x^{{\text{{DRFH}}}}",
    more=lambda case: lexicographic_answer(case.instance, "drfh"),
)
def first_fit(demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows]) -> dict[str, Any]:
    """Progressive filling with whole tasks, on the first server that fits, against DRFH, with these totals in all answers."""
    total = [sum(column) for column in zip(*capacities)]
    unit = [w * alone(d, total) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    filled, fair = whole_tasks(demands, capacities, False), [sum(x) for x in tasks]
    assert filled != fair
    return {"filled": " and ".join(map(str, filled)), "fair": " and ".join(map(str, fair))}


@argument(
    "W.S5.2.worse",
    sentence="the least share is {best} by Best-Fit and {first} by First-Fit",
    formula=r"\min_i s_i^{{\text{{Best-Fit}}}} = {best} < {first} = \min_i s_i^{{\text{{First-Fit}}}}",
)
def best_fit_is_worse(demands: Rows, capacities: Rows) -> dict[str, Any]:
    """Progressive filling with whole tasks, by the two rules; shares are of the global dominant resource."""
    total = [sum(column) for column in zip(*capacities)]
    least = [min(u / alone(d, total) for u, d in zip(whole_tasks(demands, capacities, rule), demands)) for rule in (False, True)]
    assert least[1] < least[0]
    return {"first": least[0], "best": least[1]}


@argument(
    "W.Table2.each",
    sentence="the printed utilisation of CPU is {cpu} % at {slots} slots, and {at_14} % at 14",
    formula=r"{cpu}\,\% \ \text{{at }} {slots} > {at_14}\,\% \ \text{{at 14}}",
    more=lambda case: {"table": [[slots, F(cpu), F(memory)] for slots, cpu, memory in TABLE_2]},
)
def slots_of_table_2(table: Rows) -> dict[str, Any]:
    """Table 2 as printed: slots on the maximum server, utilisation of CPU and of memory in percent."""
    cpu = {slots: used for slots, used, _ in table}
    slots = max(cpu, key=lambda key: cpu[key])
    assert slots != 14
    assert cpu[slots] > cpu[F(14)]
    return {"slots": slots, "cpu": cpu[slots], "at_14": cpu[F(14)]}


@argument(
    "W.S6.1.exact",
    answers="all",
    sentence="user 1 alone can use {least} of the memory of any server of Table 1, or more, and has 62 % in Fig. 5",
    formula=r"\min_l \min(m_l, \tfrac32 c_l) / m_l = {least} > 0.62",
)
def memory_of_user_1(demands: Rows, capacities: Rows) -> dict[str, Any]:
    """DRFH (6) gives a user who is alone all that it can run; the servers of a class are in the case as one pool."""
    cpu, memory = demands[0]
    assert memory > cpu  # of 52.75 CPUs and 51.32 of memory: memory is what it uses most
    parts = [alone(demands[0], capacity) * memory / capacity[1] for capacity in capacities]
    assert min(parts) > F("0.625")
    return {"least": min(parts)}
