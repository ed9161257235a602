"""Arguments against statements of K and P: sharing incentive of TSF, Pareto optimality of PS-DSF, envy by totals."""

from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.models.rationals import exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, lexicographic_answer, rational_answer
from fairalloc.theorems.lone.definitions import alone, fits, lexicographic, ps_dsf
from fairalloc.theorems.lone.script import argument

__all__ = ["better_tasks"]

F = Fraction
Rows = list[list[F]]


@argument(
    *("K.2.2.tsf.sharing", "K.Table1.tsf.sharing", "P.II-B.tsf.sharing", "P.Table1.tsf.sharing"),
    answers="all",
    sentence="user {user} runs {have} tasks, and {part} with its part of every server that it may use",
    formula=r"x_{{{user}}} = {have} < {part} = \tfrac{{\varphi_{{{user}}}}}{{\sum_m \varphi_m}} \sum_i \gamma_{{{user}i}}",
    more=lambda case: lexicographic_answer(case.instance, "tsf"),
)
def tsf_without_sharing_incentive(
    demands: Rows, capacities: Rows, eligible: list[list[int]], weights: list[F], tasks: Rows, rounds: list[Rows]
) -> dict[str, Any]:
    """TSF: shares of what a user would run alone on all servers, those it may not use included. All answers have these totals."""
    unit = [w * sum(alone(d, c) for c in capacities) for d, w in zip(demands, weights)]
    assert lexicographic(demands, capacities, eligible, unit, tasks, rounds)
    assert all(any(places[i] for places in eligible) for i in range(len(capacities)))  # nobody's server is idle
    own = [sum(alone(d, c) for c, may in zip(capacities, places) if may) for d, places in zip(demands, eligible)]
    part = [v * w / sum(weights) for v, w in zip(own, weights)]
    short = [sum(x) / v for x, v in zip(tasks, part)]
    n = short.index(min(short))
    assert short[n] < 1
    return {"user": n + 1, "have": sum(tasks[n]), "part": part[n]}


def better_tasks(case: Case) -> dict[str, Any]:
    """An exact PS-DSF allocation, and feasible tasks with more for somebody and less for nobody."""
    instance, made = case.instance, rational_answer(case.instance, "ps-dsf")
    arcs = exact_arcs(instance)
    tasks, size = arcs.tasks(made.x), len(arcs.user)
    load = np.array([[dict(part).get(row, F(0)) for part in arcs.load] for row in range(arcs.rows)], dtype=object)
    own = np.array([[F(int(m == n)) for m in arcs.user] for n in range(instance.N)], dtype=object)
    sides = np.array([F(1)] * arcs.rows + [-u for u in tasks], dtype=object)
    best = maximum(np.array([F(1)] * size, dtype=object), np.vstack([load, -own]), sides, True)
    assert best is not None, "the allocation itself is feasible"
    return {"tasks": by_server(instance, made.x), "better": by_server(instance, best.z)}


@argument(
    *("P.T2.pareto", "P.Table1.ps-dsf.pareto", "K.2.3.pareto", "K.Table1.ps-dsf.pareto"),
    answers="some",
    sentence="user {user} can run {more} tasks instead of {have} while nobody runs fewer",
    formula=r"x'_{{{user}}} = {more} > {have} = x_{{{user}}}, \qquad x'_m \ge x_m \ \text{{for all}}\ m",
    more=better_tasks,
)
def ps_dsf_without_pareto_optimality(
    demands: Rows, capacities: Rows, eligible: list[list[int]], weights: list[F], tasks: Rows, better: Rows
) -> dict[str, Any]:
    """The first tasks are PS-DSF; with the second somebody runs more and nobody fewer."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    assert fits(demands, capacities, eligible, better)
    have, more = [sum(x) for x in tasks], [sum(x) for x in better]
    gains = [b - a for a, b in zip(have, more)]
    assert min(gains) >= 0
    assert max(gains) > 0
    n = gains.index(max(gains))
    return {"user": n + 1, "have": have[n], "more": more[n]}


@argument(
    "P.T2.envy.letter",
    answers="some",
    sentence="user {user} runs {have} tasks, and {other} with the resources of user {envied}, scaled by the weights",
    formula=r"x_{{{user}}} = {have} < {other} = \min_r "
    r"\tfrac{{\varphi_{{{user}}} x_{{{envied}}} d_{{{envied}r}}}}{{\varphi_{{{envied}}} d_{{{user}r}}}}",
    more=lambda case: {"tasks": by_server(case.instance, rational_answer(case.instance, "ps-dsf").x)},
)
def ps_dsf_with_envy(demands: Rows, capacities: Rows, eligible: list[list[int]], weights: list[F], tasks: Rows) -> dict[str, Any]:
    """The tasks are PS-DSF. What another has in all, wherever it lies, would be worth more tasks."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    have, users = [sum(x) for x in tasks], range(len(tasks))
    worth = [[alone(demands[n], [have[m] * q * weights[n] / weights[m] for q in demands[m]]) for m in users] for n in users]
    n, m = max(((n, m) for n in users for m in users), key=lambda pair: worth[pair[0]][pair[1]] / have[pair[0]])
    assert worth[n][m] > have[n]
    return {"user": n + 1, "envied": m + 1, "have": have[n], "other": worth[n][m]}
