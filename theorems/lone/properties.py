"""Arguments against statements of K and P: sharing incentive of TSF, Pareto optimality of PS-DSF, envy by totals."""

from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.models.rationals import exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, lexicographic_answer, rational_answer
from fairalloc.theorems.lone.definitions import alone, lexicographic
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
