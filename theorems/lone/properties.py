"""Arguments against statements of K and P: sharing incentive of TSF, Pareto optimality of PS-DSF, envy by totals."""

from fractions import Fraction
from typing import Any

from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, lexicographic_answer, most_tasks, rational_answer
from fairalloc.theorems.lone.definitions import alone, lexicographic, short_of_its_part
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
    return short_of_its_part(demands, capacities, eligible, weights, tasks)


def better_tasks(case: Case, mechanism: str = "ps-dsf") -> dict[str, Any]:
    """The exact answer of a mechanism, and feasible tasks with more for somebody and less for nobody."""
    instance, made = case.instance, rational_answer(case.instance, mechanism)
    tasks = exact_arcs(instance).tasks(made.x)
    better = most_tasks(instance, range(instance.N), dict(enumerate(tasks)))
    return {"tasks": by_server(instance, made.x), "better": by_server(instance, better.z)}
