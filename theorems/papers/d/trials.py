"""How the claims of D (no justified complaints) in statements.toml are tried and confirmed, by their ids."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME
from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.rationals import asset_share
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers.njc.ode import trajectory
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Routes, attempted, proved
from fairalloc.theorems.papers.d import judges
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    brackets,
    by_polytopes,
    compared_with_drf,
    complaint,
    data,
    for_every,
    full,
    loads,
    two_ways,
)
from fairalloc.theorems.papers.d.judges import at_points, both_kinds, printed, rationals


def _example(name: str, **parameters: Any) -> Case:
    return Case(example(name).instance, parameters=parameters)


def middle(count: int) -> Instance:
    """D 4's counter-example on utilisation with so many "middle" resources; it is printed with two."""
    return Instance([["1/2", *[0] * count, 1], [1, *[1] * count, 0]], [[1] * (count + 2)], max_tasks=[1, 1])


# ---- printed numbers --------------------------------------------------------------------------------------------------

Facts = Sequence[tuple[str, bool]]


def _greedy_steps(d: Requests) -> Facts:
    first, second, third = rationals(1, 0, 0), rationals(1, "2/3", 0), rationals("3/4", 1, 0)
    two = Requests(d.parts[:2], d.entitlement[:2], d.unit[:2], d.R)
    enough = [j for j, r in d.parts[1].items() if Fraction(2, 3) * r >= d.entitlement[1]]
    return [
        ("at (1, 0, 0) user 1 has all it asks for", first[0] == 1 and max(loads(d, first)) <= 1),
        ("with x_1 = 1 resource 3 is full at x_2 = 2/3", full(d, second) == [2] and max(loads(d, second)) == 1),
        (
            "at (1, 2/3, 0) user 2 has its entitlement of resource 2 alone, and complains",
            enough == [1] and 1 not in full(d, second),
        ),
        ("at (1, 2/3) user 2 complains", complaint(two, second[:2]) > 0),
        ("at (3/4, 1, 0) neither of users 1 and 2 complains", complaint(two, third[:2]) == 0),
        ("a solution for all three exists", bool(by_polytopes(d))),
    ]


def _counting(d: Requests) -> Facts:
    shares = [d.parts[0].get(j, ZERO) for j in range(3)]
    asset = asset_share(Instance([shares], [[1, 1, 1]]))[0] / 3
    return [
        ("the asset share is 64/300", asset == Fraction(64, 300)),
        ("the dominant share is 37/100", max(shares) == Fraction(37, 100)),
        ("the share of the cpu is 20/100", shares[0] == Fraction(20, 100)),
    ]


def _fig2_njc(d: Requests) -> Facts:
    (x, *more) = by_polytopes(d)
    held = [[v * part[j] for j in range(2)] for v, part in zip(x, d.parts, strict=True)]
    third = Fraction(1, 3)
    return [
        ("resource 1 alone is full", full(d, x) == [0]),
        (
            "the allocation is (1/3, 2/30), (1/3, 2/30), (1/3, 2/3), and the only one",
            not more and held == _fig2(third, third, third),
        ),
    ]


def _fig2_drf(d: Requests) -> Facts:
    x = judges.drf_of(d)
    held = [[v * part[j] for j in range(2)] for v, part in zip(x, d.parts, strict=True)]
    share = Fraction(2, 5)
    return [("the allocation is (0.4, 0.08), (0.4, 0.08), (0.2, 0.4)", held == _fig2(share, share, share / 2))]


def _fig2(first: Fraction, second: Fraction, third: Fraction) -> list[list[Fraction]]:
    return [[first, first / 5], [second, second / 5], [third, 2 * third]]


def _fig2_utilisation(d: Requests) -> Facts:
    ours, other = sum(loads(d, by_polytopes(d)[0])), sum(loads(d, judges.drf_of(d)))
    return [("NJC uses more than DRF, on the average of the resources", ours > other)]


def _middle_numbers(d: Requests) -> Facts:
    (x, *more) = by_polytopes(d)
    return [
        ("the first and the last resource are the bottlenecks", full(d, x) == [0, 3]),
        ("NJC gives (1/2, 0, 0, 1) and (1/2, 1/2, 1/2, 0), and nothing else", not more and x == rationals(1, "1/2")),
        ("DRF gives (1/3, 0, 0, 2/3) and (2/3, 2/3, 2/3, 0)", judges.drf_of(d) == rationals("2/3", "2/3")),
    ]


def _middle_not_higher(d: Requests) -> Facts:
    (x, *more), other = by_polytopes(d), sum(loads(d, judges.drf_of(d))) / d.R
    ours = sum(loads(d, x)) / d.R
    return [(f"NJC's utilisation, of one allocation, is {ours}, not higher than DRF's {other}", not more and ours <= other)]


def _middle_limits(d: Requests) -> Facts:
    ours, other = rationals(1, "1/2"), rationals("2/3", "2/3")
    far, facts = [], [("the answers for two middle resources", judges.drf_of(d) == other and complaint(d, ours) == 0)]
    for count in (2, 10, 50, 250):
        wide = data(Case(middle(count)))
        facts.append((f"the answers for {count} middle resources", judges.drf_of(wide) == other and complaint(wide, ours) == 0))
        m = count + 2
        used = [sum(loads(wide, x)) / m for x in (ours, other)]
        far.append((used[0] - Fraction(1, 2) == Fraction(1, m), used[1] - Fraction(2, 3) == Fraction(1, 3 * m)))
    return [*facts, ("with m resources the averages are 1/2 + 1/m and 2/3 + 1/(3m)", all(a and b for a, b in far))]


def _removal(d: Requests) -> Facts:
    rest = judges.reduced(d, 0)
    return [
        ("the others are entitled to 0.4 and 0.6", rest.entitlement == rationals("2/5", "3/5")),
        ("their requests are multiplied by 5/3", rest.parts[0][0] == Fraction(5, 3) * d.parts[1][0]),
    ]


def _fig3(d: Requests) -> Facts:
    load = loads(d, rationals("2/3", "11/12"))[0]
    return [("(2/3, 11/12) uses 13/12 of resource 1", load == Fraction(13, 12))]


def _fig5(d: Requests) -> Facts:
    found = by_polytopes(d)
    return [
        ("2/3 x 0.6 = 0.4 and 2/3 x 0.9 = 0.6 fill the resource", loads(d, rationals("3/5", "9/10")) == (ONE,)),
        ("(0.6, 0.9) is the NJC allocation", found == [rationals("3/5", "9/10")]),
    ]


def _fig5_ratios(d: Requests) -> Facts:
    facts = []
    for ratio in rationals("9/4", 3, 10, 1000):
        for turned in (False, True):
            e = (1 / (1 + ratio), ratio / (1 + ratio))
            (x, *more) = by_polytopes(Requests(d.parts, e[::-1] if turned else e, d.unit, d.R))
            x = x[::-1] if turned else x
            facts.append((f"with the ratio {ratio} one user is granted all", not more and x == rationals("1/2", 1)))
            facts.append((f"with the ratio {ratio} the other gets more than its entitlement", x[0] * Fraction(2, 3) > e[0]))
    return facts


def _segment(d: Requests) -> Facts:
    found = by_polytopes(d)
    ends = [rationals("1/2", "1/2", "1/2"), rationals("7/10", "3/10", "3/10")]
    inside = [tuple((1 - t) * a + t * b for a, b in zip(*ends, strict=True)) for t in rationals(0, "1/3", "1/2", "9/10", 1)]
    return [
        ("all solutions are (z, 1 - z, 1 - z), 1/2 <= z <= 7/10", found == ends and all(complaint(d, x) == 0 for x in inside)),
        ("both resources are bottlenecks in all of them", all(full(d, x) == [0, 1] for x in inside)),
    ]


def _segment_weights(d: Requests) -> Facts:
    """X = (1/2, 1/2, 1/2), p = (2/5, 3/5) fulfil the optimality conditions of the market, where every trajectory ends."""
    x, p = rationals("1/2", "1/2", "1/2"), rationals("2/5", "3/5")
    market = [sum(p[j] * r for j, r in part.items()) == e / v for v, part, e in zip(x, d.parts, d.entitlement, strict=True)]
    market += [load == 1 for load in loads(d, x)]
    case = _example("dolev-segment")
    ends = [
        trajectory(d, 1e-6, weighting=judges.weighting(Case(case.instance, parameters={"heavy": h}))).x[-1] for h in (1, 5, 20)
    ]
    far = max(float(abs(end - 0.5).max()) for end in ends)
    facts = [("the market's allocation is (1/2, 1/2, 1/2)", all(market))]
    other = f"weights 1, 5, 20 of the first resource give other ends than (1/2, 1/2, 1/2), which are {far:.0e} from it"
    return [*facts, (other, far > judges.NEAR * 100)]


def _circle(d: Requests) -> Facts:
    x = (Fraction(1, 3),) * 4
    return [
        ("1/3 for all is a solution with four bottlenecks", complaint(d, x) == 0 and full(d, x) == [0, 1, 2, 3]),
        ("all get more than their entitlement", all(v * r > e for v, part, e in judges.users(d, x) for r in part.values())),
    ]


def _circle_pairs() -> list[tuple[int, int]]:
    return [(i, j) for i in range(4) for j in range(i)]


def _circle_pair(i: int, j: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(1, 4) if k in (i, j) else Fraction(3, 8) for k in range(4))


def _circle_six(d: Requests) -> Facts:
    facts = []
    for i, j in _circle_pairs():
        x, others = _circle_pair(i, j), [k for k in range(4) if k not in (i, j)]
        expected = sorted((i, j) if (i - j) % 2 == 0 else others)
        spare = [loads(d, x)[k] for k in range(4) if k not in full(d, x)]
        facts.append((f"{brackets(x)} is a solution", complaint(d, x) == 0))
        facts.append((f"the bottlenecks of {brackets(x)} are {[k + 1 for k in expected]}", full(d, x) == expected))
        facts.append((f"the others are used to 0.875 at {brackets(x)}", spare == [Fraction(7, 8)] * 2))
    return facts


def _circle_all(d: Requests) -> Facts:
    listed = {(Fraction(1, 3),) * 4} | {_circle_pair(i, j) for i, j in _circle_pairs()}
    more = [x for x in by_polytopes(d) if x not in listed and complaint(d, x) == 0]
    other = f"the printed 7 solutions are all, so {brackets(more[0]) if more else 'nothing'} is no solution"
    return [(other, not more)]


def _circle_best(d: Requests) -> Facts:
    used = {x: sum(loads(d, x)) for x in by_polytopes(d)}
    best = [x for x, value in used.items() if value == max(used.values())]
    return [("1/3 for all alone has the highest utilisation", best == [(Fraction(1, 3),) * 4])]


# ---- section 4: attributes --------------------------------------------------------------------------------------------


# ---- Theorem 1 and sections 5.1 to 5.3 ------------------------------------------------------------------------------------


# ---- section 5.4 ----------------------------------------------------------------------------------------------------------

cases: dict[str, Case] = {
    "s4-counting": Case(Instance([["1/5", "7/100", "37/100"]], [[1, 1, 1]], max_tasks=[1])),
    "s4-utilisation-lower": Case(middle(3)),
    "s5-1-removal": Case(Instance([["2/5"], [1], [1]], [[1]], weights=[5, 2, 3], max_tasks=[1, 1, 1])),
}


trials: dict[str, Routes] = {
    "D.S3.small": for_every(judges.small_requests),
    "D.S3.no-scarcity": for_every(judges.no_scarcity),
    "D.S3.cut-back": for_every(judges.cut_back),
    "D.S3.pareto": for_every(judges.pareto),
    "D.S3.pareto-zero": for_every(judges.pareto),
    "D.S3.pareto-not-fair": two_ways(judges.serial_is_fair),
    "D.S3.greedy": two_ways(judges.greedy),
    "D.S3.greedy-numbers": printed(_greedy_steps),
    "D.S4.sharing-incentive": for_every(judges.sharing, convex=True),
    "D.S4.sharing-incentive.step": for_every(judges.exact_entitlement),
    "D.S4.strategyproof": two_ways(judges.misreporting, FOR_SOME, FOR_ALL),
    "D.S4.strategyproof.less": two_ways(judges.scaled_request),
    "D.S4.strategyproof.more": two_ways(judges.scaled_request),
    "D.S4.strategyproof.harm": two_ways(judges.harm),
    "D.S4.envy-free": for_every(judges.envy),
    "D.S4.envy-free.true": Routes(attempted("nb", judges.market_envy), proved("nb", judges.market_envy)),
    "D.S4.envy-free.step": two_ways(judges.envy_by_imitation),
    "D.S4.counting": printed(_counting),
    "D.S4.drf-bottleneck": compared_with_drf(judges.drf_meets_a_bottleneck),
    "D.S4.fig2-njc": printed(_fig2_njc),
    "D.S4.fig2-drf": printed(_fig2_drf),
    "D.S4.fig2-utilisation": printed(_fig2_utilisation),
    "D.S4.same-dominant": compared_with_drf(judges.same_as_drf),
    "D.S4.same-dominant.true": compared_with_drf(judges.same_as_drf_if_asked),
    "D.S4.only-bottleneck": for_every(judges.common_bottleneck),
    "D.S4.utilisation-higher": compared_with_drf(judges.uses_less_than_drf),
    "D.S4.utilisation-lower": compared_with_drf(judges.uses_more_than_drf),
    "D.S4.utilisation-numbers": printed(_middle_numbers),
    "D.S4.utilisation-printed": printed(_middle_not_higher),
    "D.S4.utilisation-limits": printed(_middle_limits),
    "D.S4.drf-incremental": Routes(attempted("drf", judges.incremental), proved("drf", judges.incremental)),
    "D.T1": two_ways(judges.existence),
    "D.S5.dummies": Routes(judges.dummies_in_floats, judges.dummies),
    "D.S5.dummies-zero": Routes(judges.dummies_in_floats, judges.dummies),
    "D.S5.1.ignored": two_ways(judges.slack_resource_removed),
    "D.S5.1.satisfied": two_ways(judges.satisfied_removed),
    "D.S5.1.room": two_ways(judges.room_for_entitlements),
    "D.S5.1.renormalised": two_ways(judges.renormalised_requests),
    "D.S5.1.all": two_ways(judges.entitlements_left),
    "D.S5.1.all.true": two_ways(judges.entitlements_left),
    "D.S5.1.removal": printed(_removal),
    "D.S5.1.dominated": two_ways(judges.dominated_removed),
    "D.S5.1.order": two_ways(judges.order_of_names),
    "D.S5.1.order.true": two_ways(judges.order_of_rows),
    "D.S5.2.fig3": printed(_fig3),
    "D.S5.2.simplex": two_ways(judges.simplex),
    "D.S5.2.boundary": for_every(judges.on_boundary),
    "D.S5.2.linear": for_every(judges.linear),
    "D.S5.3.unique": two_ways(judges.unique_for_two),
    "D.S5.3.unique-zero": two_ways(judges.unique_for_two),
    "D.S5.3.not-unique": two_ways(judges.unique_for_more),
    "D.S5.3.fig5": printed(_fig5),
    "D.S5.3.fig5-ratios": printed(_fig5_ratios),
    "D.R1": Routes(judges.barrier_grows, judges.barrier_signs),
    "D.R3": at_points(judges.gradient_not_zero),
    "D.E6": at_points(judges.gradient),
    "D.R4": both_kinds(judges.starts_at_zero),
    "D.R5": at_points(judges.equation_8),
    "D.E11": at_points(judges.printed_11),
    "D.E11.true": at_points(judges.summed_11),
    "D.E13.true": at_points(judges.equation_13),
    "D.L4.symmetric": at_points(judges.symmetric),
    "D.L4.unique": at_points(judges.unique_velocity),
    "D.L4": Routes(judges.exists_by_integration, judges.exists_by_newton),
    "D.L2": Routes(judges.boundary_by_integration, judges.boundary_by_newton),
    "D.L2.true": Routes(judges.limit_by_integration, judges.limit_by_newton),
    "D.L3": Routes(judges.limit_is_fair_by_integration, judges.limit_is_fair_by_newton),
    "D.L3.step": two_ways(judges.vanishing_numerators),
    "D.S5.4.error": Routes(judges.limit_is_fair_by_integration, judges.limit_is_fair_by_newton),
    "D.S5.5.segment": printed(_segment),
    "D.S5.5.weights": printed(_segment_weights),
    "D.S5.5.weights.true": Routes(judges.limit_by_integration, judges.limit_by_newton),
    "D.S5.5.circle": printed(_circle),
    "D.S5.5.circle-six": printed(_circle_six),
    "D.S5.5.circle-all": printed(_circle_all),
    "D.S5.5.bottlenecks": two_ways(judges.one_bottleneck_set),
    "D.S5.5.utilisation": printed(_circle_best),
}
