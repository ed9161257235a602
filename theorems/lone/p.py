"""Arguments against statements of P: strategyproofness of PS-DSF is in every_answer.py, sharing and Pareto in properties.py."""

from fractions import Fraction
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, lexicographic_answer, rational_answer
from fairalloc.theorems.lone.definitions import alone, lexicographic, ps_dsf
from fairalloc.theorems.lone.script import argument

__all__ = ["of_ps_dsf"]

F = Fraction
Row = list[F]
Rows = list[list[F]]
Places = list[list[int]]

TABLE_4 = (("40", "170", "0", "0"), ("20", "85", "0", "0"), ("0", "0", "82.5", "0"), ("0", "0", "0", "27.5"))
"""Of PS-DSF, as printed."""


def of_ps_dsf(case: Case) -> dict[str, Any]:
    """An exact PS-DSF allocation."""
    return {"tasks": by_server(case.instance, rational_answer(case.instance, "ps-dsf").x)}


# ---- printed numbers ------------------------------------------------------------------------------------------------------


@argument(
    "P.III-A.shares",
    answers="some",
    sentence="user 4 has the share {share} on server 1, where it could run {gamma} tasks alone; 1 is printed",
    formula=r"s_{{41}} = \tfrac{{x_4}}{{\gamma_{{41}}}} = {share} \ne 1, \qquad \gamma_{{41}} = {gamma}",
    more=of_ps_dsf,
)
def shares_of_fig_2(demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows) -> dict[str, Any]:
    """The tasks are PS-DSF, and 8 for user 4, as printed."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    gamma = alone(demands[3], capacities[0])
    assert sum(tasks[3]) == 8
    assert sum(tasks[3]) / gamma != 1
    return {"share": sum(tasks[3]) / gamma, "gamma": gamma}


@argument(
    "P.Table4.tsf.user3",
    answers="all",
    sentence="user 3 runs {tasks} tasks, 58.34 when it is rounded; 58.33 is printed",
    formula=r"x_3 = {tasks} > 58.335",
    more=lambda case: lexicographic_answer(case.instance, "tsf"),
)
def user_3_of_table_4(
    demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows, rounds: list[Rows]
) -> dict[str, Any]:
    """TSF on the four classes of servers, with the capacities of all servers of a class. All answers have these totals."""
    unit = [w * sum(alone(d, c) for c in capacities) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    assert sum(tasks[2]) > F("58.335")
    return {"tasks": sum(tasks[2])}


@argument(
    "P.V.cpu",
    answers="some",
    sentence="by Table IV classes A and B use {used} of their CPU, {total}, and {memory} of their memory, all of it",
    formula=r"\sum_{{n, i \in \{{A, B\}}}} x_{{ni}} d_{{n1}} = {used} < {total}",
    more=lambda case: {"tasks": [[F(v) for v in row] for row in TABLE_4]},
)
def cpu_of_table_4(demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows) -> dict[str, Any]:
    """Table IV for PS-DSF: the tasks are PS-DSF, and fill the memory of classes A and B, but not their CPU."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    used = [sum(x[i] * d[r] for x, d in zip(tasks, demands) for i in (0, 1)) for r in (0, 1)]
    total = [capacities[0][r] + capacities[1][r] for r in (0, 1)]
    assert used[0] < total[0]
    assert used[1] == total[1]
    return {"used": used[0], "total": total[0], "memory": used[1]}


# ---- the induction --------------------------------------------------------------------------------------------------------


@argument(
    "P.E41",
    sentence="sharing incentive among users 2 and 3 promises user 3 {promised} of what it runs alone, and (41) says {part}",
    formula=r"\tfrac{{1}}{{2}} (1 - \tfrac{{1}}{{3}} - \tfrac{{1}}{{4}}) = {promised} < {part}",
    assumed="demands, capacities and weights below; user 1 is n_0",
)
def induction_for_sharing(demands: Rows, capacities: Rows, eligible: Places, weights: Row) -> dict[str, Any]:
    """User 1 gives user 2 its third of server 1, which it may not use, for a quarter of server 2; both gain."""
    part, given = F(1, 3), F(1, 4)
    gamma = [[alone(d, c) * may for c, may in zip(capacities, places)] for d, places in zip(demands, eligible)]
    assert weights == [1, 1, 1]
    assert gamma[0][0] == gamma[2][0] == 0
    assert given * gamma[0][1] > 0
    assert part * gamma[1][0] - given * gamma[1][1] > 0
    left = [1 - 0 * part, 1 - part - given]  # server 1 is for user 2 alone; user 1 has 1/3 + 1/4 of server 2
    promised = [sum(c * g for c, g in zip(left, row)) / 2 / sum(row) for row in gamma[1:]]
    assert min(promised) < part
    return {"promised": min(promised), "part": part}


# ---- Algorithm I ----------------------------------------------------------------------------------------------------------


@argument(
    "P.A1.feasible",
    sentence="after Update-Allocation resource {resource} is used {load} times",
    formula=r"\sum_n x_n \tfrac{{d_{{n{resource}}}}}{{c_{resource}}} = {load} > 1",
)
def update_allocation(demands: Rows, capacities: Rows, weights: Row, points: list[Rows]) -> dict[str, Any]:
    """One server. N* has the least share; for every full resource that N* demands, the user of it with the largest share.

    f_r is what is left of r plus what those users hold of it, once for every resource they are chosen for; z* = min f_r / D_r
    with D_r what N* needs for a share of 1; beta is the largest part that keeps the order of shares (P III-C, Algorithm I).
    """
    assert len(capacities) == 1
    x, capacity, resources = [row[0] for row in points[0]], capacities[0], range(len(capacities[0]))
    unit = [w * alone(d, capacity) for d, w in zip(demands, weights)]
    z = [v / one for v, one in zip(x, unit)]
    lowest = [n for n, share in enumerate(z) if share == min(z)]
    used = [sum(v * d[r] for v, d in zip(x, demands)) for r in resources]
    full = [r for r in resources if used[r] == capacity[r] and any(demands[n][r] for n in lowest)]
    chosen = [max((n for n, v in enumerate(x) if v and demands[n][r]), key=lambda n: z[n]) for r in full]
    assert full
    assert all(z[n] > min(z) for n in chosen)
    f = [capacity[r] - used[r] + sum(x[n] * demands[n][r] for n in chosen) for r in resources]
    D = [sum(unit[n] * demands[n][r] for n in lowest) for r in resources]
    rise = min(f[r] / D[r] for r in resources if D[r])
    beta = min([F(1)] + [(z[n] - min(z)) / (rise + x[n] / unit[n]) for n in chosen])
    after = [v * (1 - beta) if n in chosen else v + beta * unit[n] * rise * (n in lowest) for n, v in enumerate(x)]
    loads = [sum(v * d[r] for v, d in zip(after, demands)) / capacity[r] for r in resources]
    assert max(loads) > 1
    return {"resource": loads.index(max(loads)) + 1, "load": max(loads)}


@argument(
    "P.A1.defined",
    answers="some",
    sentence="at server {server} nobody who is left uses resource {resource}, which is full, and N* demands it",
    formula=r"\{{ n \in N_{server} : x_{{n{server}}} d_{{n{resource}}} > 0 \}} = \emptyset, \qquad {resource} \in R^*",
    more=of_ps_dsf,
)
def maximum_over_nobody(demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows) -> dict[str, Any]:
    """The tasks are PS-DSF, where Algorithm I has to end. Its test is made for each server, with N_i all who may use it.

    Where it passes for some r*, N_i loses all who demand the first of them.
    """
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    for i, capacity in enumerate(capacities):
        left = [n for n, d in enumerate(demands) if eligible[n][i] and alone(d, capacity) > 0]
        z = {n: sum(tasks[n]) / (weights[n] * alone(demands[n], capacity)) for n in left}
        while left:
            lowest = [n for n in left if z[n] == min(z[m] for m in left)]
            full = [r for r, c in enumerate(capacity) if sum(x[i] * d[r] for x, d in zip(tasks, demands)) == c]
            users = {r: [n for n in left if tasks[n][i] and demands[n][r]] for r in full if any(demands[n][r] for n in lowest)}
            done = [r for r, using in users.items() if using and max(z[n] for n in using) == z[lowest[0]]]  # (17)
            if not done:
                empty = [r for r, using in users.items() if not using]
                assert empty
                return {"server": i + 1, "resource": empty[0] + 1}
            left = [n for n in left if not demands[n][done[0]]]
    raise AssertionError("every maximum is over somebody")


@argument(
    "P.A1.ends",
    sentence="each of {rounds} rounds changes tasks by {ratio} times as much as the one before",
    formula=r"x^{{h+1}} - x^h = {ratio} (x^h - x^{{h-1}})",
    assumed="exact arithmetic; rounds from DRF on each server",
)
def rounds_without_end(demands: Rows, capacities: Rows, eligible: Places, weights: Row) -> dict[str, Any]:
    """One user may use both servers, each with one other user, and only resource 1 matters, of which each server has one unit.

    A server's procedure is one update: who has the larger share has h there, so f = z* = h, beta = (difference of shares) / 2 h,
    and beta h tasks go from one to the other. Every round applies the same linear equations to what the round before has left.
    """
    assert weights == [1, 1, 1]
    may = [[e and alone(d, c) > 0 for e, c in zip(row, capacities)] for d, row in zip(demands, eligible)]
    both = next(n for n in range(3) if all(may[n]))
    own = [next(n for n in range(3) if n != both and may[n][i]) for i in (0, 1)]
    assert own[0] != own[1]
    assert not may[own[0]][1]
    assert not may[own[1]][0]
    here = [(n, i) for i in (0, 1) for n in (both, own[i])]
    assert all(alone(demands[n], capacities[i]) == demands[n][0] == capacities[i][0] == 1 for n, i in here)
    x, y = [F(1, 2), F(1, 2)], [F(1, 2), F(1, 2)]  # of user `both` and of the others: DRF on each server by itself
    changes = []
    for _ in range(20):
        before = list(x)
        for i in (0, 1):
            more = sum(x) - y[i]  # how much the share of user `both` is larger
            h = x[i] if more > 0 else y[i]
            beta = min(F(1), abs(more) / (2 * h))
            x[i], y[i] = (x[i] - beta * h, y[i] + beta * h) if more > 0 else (x[i] + beta * h, y[i] - beta * h)
            assert sum(x) == y[i]
            assert x[i] + y[i] == 1
            assert beta < 1
        changes.append([a - b for a, b in zip(x, before)])
    ratio = changes[2][0] / changes[1][0]
    assert 0 < ratio < 1
    assert all(changes[h + 1] == [ratio * v for v in changes[h]] for h in range(1, len(changes) - 1))
    return {"rounds": len(changes), "ratio": ratio}
