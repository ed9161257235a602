"""Arguments against sentences and printed formulas that no theorem of the papers rests on."""

from fractions import Fraction
from typing import Any

from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_server, rational_answer
from fairalloc.theorems.lone.definitions import alone, ps_dsf
from fairalloc.theorems.lone.script import argument

F = Fraction
Row = list[F]
Rows = list[list[F]]
Places = list[list[int]]


def _of_ps_dsf(case: Case) -> dict[str, Any]:
    """An exact PS-DSF allocation."""
    return {"tasks": by_server(case.instance, rational_answer(case.instance, "ps-dsf").x)}


@argument(
    "P.III-A.indices",
    answers="some",
    sentence="user 4 has the share {share} on server 1; 8/12, its share on server 2, is printed",
    formula=r"s_{{41}} = {share} \ne \tfrac{{8}}{{12}} = s_{{42}}",
    more=_of_ps_dsf,
)
def indices_of_fig_2(demands: Rows, capacities: Rows, eligible: Places, weights: Row, tasks: Rows) -> dict[str, Any]:
    """The tasks are PS-DSF, and 8 for user 4, as printed."""
    assert ps_dsf(demands, capacities, eligible, weights, tasks)
    assert sum(tasks[3]) == 8
    share = sum(tasks[3]) / alone(demands[3], capacities[0])
    assert share != F(8, 12)
    return {"share": share}


@argument(
    "P.II-A.utilization",
    sentence="the used parts of a Pareto optimal allocation add up to {used}, those of another one to {more}",
    formula=r"\sum_r \sum_n x'_n \tfrac{{d_{{nr}}}}{{c_r}} = {more} > {used} = \sum_r \sum_n x_n \tfrac{{d_{{nr}}}}{{c_r}}",
    more=lambda case: {"better": [F(1), F(0)]},
)
def unused_by_pareto_optimality(demands: Rows, capacities: Rows, points: list[Rows], better: Row) -> dict[str, Any]:
    """Everybody demands a full resource, so nobody can gain while nobody loses; another allocation uses no resource less."""
    assert len(capacities) == 1
    resources = range(len(capacities[0]))
    x = [row[0] for row in points[0]]
    used = [sum(v * d[r] for v, d in zip(x, demands)) / capacities[0][r] for r in resources]
    more = [sum(v * d[r] for v, d in zip(better, demands)) / capacities[0][r] for r in resources]
    assert min(x) >= 0
    assert min(better) >= 0
    assert max(used) <= 1
    assert max(more) <= 1
    assert all(any(used[r] == 1 and d[r] for r in resources) for d in demands)
    assert all(b >= a for a, b in zip(used, more))
    assert sum(more) > sum(used)
    return {"used": sum(used), "more": sum(more)}


@argument(
    "P.IV.condition",
    sentence="user 1 has {x} Mb/s and can have more of channel 2 from user 2, for whom {ratio} <= {bound} is false",
    formula=r"\tfrac{{x_2}}{{\gamma_{{22}}}} = {ratio} > {bound} = x_1 \gamma_{{12}}, \qquad x_{{22}} > 0",
    assumed="the rates gamma_ni of Fig. 4; a channel serves a user for the part x_ni / gamma_ni of the time",
    more=lambda case: {
        "gamma": [[F("1.2"), F("0.6"), F("0.4")], [F("0.4"), F("0.4"), F("0.8")]],
        "part": [[F(1), F(1, 2), F(0)], [F(0), F(1, 2), F(1)]],
    },
)
def printed_condition_of_fig_4(gamma: Rows, part: Rows) -> dict[str, Any]:
    """Channel 1 for user 1, channel 3 for user 2, half of channel 2 each: PS-DSF, as printed."""
    x = [sum(g * p for g, p in zip(rates, parts)) for rates, parts in zip(gamma, part)]
    assert x == [F("1.5"), 1]
    assert all(sum(column) <= 1 for column in zip(*part))
    assert part[1][1] > 0
    assert x[1] / gamma[1][1] > x[0] * gamma[0][1]  # so taking from user 2 there is not excluded
    assert x[1] / gamma[1][1] == x[0] / gamma[0][1]  # but by x_n / gamma_ni, which is meant, it is
    return {"x": x[0], "ratio": x[1] / gamma[1][1], "bound": x[0] * gamma[0][1]}


@argument(
    "W.P2.printed",
    sentence="user 2 has {share}, and {printed} is printed",
    formula=r"G_2(\mathbf{{A}}'_2) - \epsilon + \delta = {share} \ne {printed} = G_2(\mathbf{{A}}'_2) + \delta",
)
def after_epsilon(demands: Rows, capacities: Rows, points: list[Rows]) -> dict[str, Any]:
    """Two alike users of one server, j = user 2, g = 1/2; epsilon leaves it g, and everybody gets half of epsilon."""
    assert demands == [[1], [1]]
    assert capacities == [[1]]
    shares = [row[0] for row in points[0]]
    epsilon = shares[1] - F(1, 2)
    assert epsilon > 0
    delta = epsilon / 2
    after = shares[1] - epsilon + delta
    assert after != shares[1] + delta
    return {"share": after, "printed": shares[1] + delta}


@argument(
    "K.3.2.idle",
    sentence="user 2 runs at least {least} by (41), so at most {used} of resource 1 is used",
    formula=r"x_2 \ge {least} \quad\Rightarrow\quad x_1 + x_2 \le 1 - x_2 \le {used} < 1",
    assumed="alpha >= 1, and x_2 >= gamma_2 / 2, which is (41) for two users of equal weight",
)
def idle_at_an_equilibrium(demands: Rows, capacities: Rows, weights: Row) -> dict[str, Any]:
    """User 1 demands as much of both resources, user 2 twice as much of the second, of which there is 1: x_1 + 2 x_2 <= 1."""
    assert demands == [[1, 1], [1, 2]]
    assert capacities == [[1, 1]]
    assert weights == [1, 1]
    least = alone(demands[1], capacities[0]) / 2
    used = 1 - least
    assert used < 1
    return {"least": least, "used": used}
