"""How the claims of D (no justified complaints) in statements.toml are tried and confirmed, by their ids; printed examples by
assertions of what must be so.
"""

from collections.abc import Callable
from fractions import Fraction as F
from functools import partial
from itertools import combinations
from typing import Any

from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.rationals import Rationals, asset_share
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.checked import asserted, checked
from fairalloc.theorems.checkers.trials import Routes, about_mechanism, once
from fairalloc.theorems.papers.d import complaints, regions, trajectories
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    Found,
    all_fair,
    compared_with_drf,
    complaint,
    data,
    for_every,
    full,
    of_data,
)
from fairalloc.theorems.papers.d.regions import reduced
from fairalloc.theorems.papers.d.trajectories import at_points, far, integrated, on_trajectories


def printed(check: Callable[[Requests, list[Rationals]], bool | None]) -> Routes:
    return once(asserted(lambda case: check(data(case), all_fair(data(case)))))


def rationals(*values: Any) -> Rationals:
    return tuple(F(v) for v in values)


def held(d: Requests, x: Rationals) -> list[Rationals]:
    return [tuple(v * part.get(j, ZERO) for j in range(d.R)) for v, part in zip(x, d.parts, strict=True)]


def drf_of(d: Requests) -> Rationals:
    """The DRF allocation in fractions of requests, exactly."""
    demands, ones = held(d, (ONE,) * len(d.parts)), [ONE] * len(d.parts)
    tasks = solve(Instance(demands, [[ONE] * d.R], max_tasks=ones, weights=d.entitlement), "drf", "exact").tasks_exact
    assert tasks is not None, "the method 'exact' gives rationals"
    return tuple(tasks)


def middle(count: int) -> Instance:
    """D 4's counter-example on utilisation with so many "middle" resources; it is printed with two."""
    return Instance([["1/2", *[0] * count, 1], [1, *[1] * count, 0]], [[1] * (count + 2)], max_tasks=[1, 1])


def greedy_steps(d: Requests, found: list[Rationals]) -> None:
    """D 3: who gives way to whom."""
    second = rationals(1, "2/3", 0)
    two = Requests(d.parts[:2], d.entitlement[:2], d.unit[:2], d.R)
    enough = [j for j, r in d.parts[1].items() if F(2, 3) * r >= d.entitlement[1]]
    assert max(d.loads(rationals(1, 0, 0))) <= 1, "at (1, 0, 0) user 1 has all it asks for"
    assert full(d, second) == [2], "with x_1 = 1 resource 3 is full at x_2 = 2/3"
    assert max(d.loads(second)) == 1
    assert enough == [1], "at (1, 2/3, 0) user 2 has its entitlement of resource 2 alone"
    assert complaint(two, second[:2]) > 0, "at (1, 2/3) user 2 complains"
    assert complaint(two, rationals("3/4", 1)) == 0, "at (3/4, 1, 0) neither of users 1 and 2 complains"
    assert found, "a solution for all three exists"


def counting(d: Requests, _: list[Rationals]) -> None:
    """D 4: 64 %, 37 % and 20 %."""
    ((share, *_rest),) = shares = held(d, (ONE,))
    assert asset_share(Instance(shares, [[1, 1, 1]]))[0] / 3 == F(64, 300), "the asset share is 64/300"
    assert max(shares[0]) == F(37, 100), "the dominant share is 37/100"
    assert share == F(20, 100), "the share of the cpu is 20/100"


def middle_limits(d: Requests, _: list[Rationals]) -> None:
    """With m resources the averages are 1/2 + 1/m and 2/3 + 1/(3m)."""
    ours, other = rationals(1, "1/2"), rationals("2/3", "2/3")
    assert drf_of(d) == other
    for count in (3, 2, 10, 50, 250):
        wide, m = data(Case(middle(count))), count + 2
        assert drf_of(wide) == other
        assert complaint(wide, ours) == 0
        assert [sum(wide.loads(x)) / m for x in (ours, other)] == [F(1, 2) + F(1, m), F(2, 3) + F(1, 3 * m)]


def fig5(d: Requests, found: list[Rationals]) -> None:
    """2/3 x 0.6 = 0.4 and 2/3 x 0.9 = 0.6."""
    assert d.loads(rationals("3/5", "9/10")) == (ONE,), "2/3 x 0.6 = 0.4 and 2/3 x 0.9 = 0.6 fill the resource"
    assert found == [rationals("3/5", "9/10")], "(0.6, 0.9) is the NJC allocation"


def fig5_ratios(d: Requests, _: list[Rationals]) -> None:
    """With a ratio of at least 9/4, either way, one user is granted all, and the other gets more than its entitlement."""
    for ratio in rationals("9/4", 3, 10, 1000):
        e = (1 / (1 + ratio), ratio / (1 + ratio))
        assert all_fair(Requests(d.parts, e, d.unit, d.R)) == [rationals("1/2", 1)]
        assert all_fair(Requests(d.parts, e[::-1], d.unit, d.R)) == [rationals(1, "1/2")]
        assert F(1, 2) * F(2, 3) > e[0]


def segment(d: Requests, found: list[Rationals]) -> None:
    """All solutions are (z, 1 - z, 1 - z), 1/2 <= z <= 7/10, and both resources are bottlenecks in all of them."""
    assert found == [rationals("1/2", "1/2", "1/2"), rationals("7/10", "3/10", "3/10")]
    for z in rationals("1/2", "17/30", "3/5", "17/25", "7/10"):
        assert complaint(d, (z, 1 - z, 1 - z)) == 0
        assert full(d, (z, 1 - z, 1 - z)) == [0, 1]


def circle_six(d: Requests, _: list[Rationals]) -> None:
    """Two users with 1/4 and two with 3/8 are solutions; two resources are bottlenecks, the others are used to 0.875."""
    for j, i in combinations(range(4), 2):
        x, others = tuple(F(1, 4) if k in (i, j) else F(3, 8) for k in range(4)), [k for k in range(4) if k not in (i, j)]
        bottlenecks = [j, i] if (i - j) % 2 == 0 else others
        assert complaint(d, x) == 0
        assert full(d, x) == bottlenecks
        assert [load for k, load in enumerate(d.loads(x)) if k not in bottlenecks] == [F(7, 8)] * 2


THIRDS = (F(1, 3),) * 4
"""The solution on the circle in which all get alike (D 5.5)."""

cases: dict[str, Case] = {
    "s5-3-slopes": Case(Instance([[1], [1]], [[1]], max_tasks=["2/3", "2/3"], weights=[2, 3])),
    "s4-counting": Case(Instance([["1/5", "7/100", "37/100"]], [[1, 1, 1]], max_tasks=[1])),
    "s4-utilisation-lower": Case(middle(3)),
    # each has 2/3 of one full resource and 1/3 of the other, and is entitled to 1/2 of each
    "l3-step": Case(Instance([[1, "1/2"], ["1/2", 1]], [[1, 1]], max_tasks=[1, 1])),
    "s5-1-removal": Case(Instance([["2/5"], [1], [1]], [[1]], weights=[5, 2, 3], max_tasks=[1, 1, 1])),
}

trials: dict[str, Routes] = {
    "D.S3.small": for_every(complaints.small_requests),
    "D.S3.no-scarcity": for_every(complaints.no_scarcity),
    "D.S3.cut-back": for_every(complaints.cut_back),
    "D.S3.pareto-zero": for_every(complaints.pareto),
    "D.S3.less-elsewhere": for_every(complaints.less_elsewhere),
    "D.S3.pareto-not-fair": of_data(complaints.serial_is_fair),
    "D.S3.greedy": of_data(complaints.greedy),
    "D.S3.greedy-numbers": printed(greedy_steps),
    "D.S4.sharing-incentive.step": for_every(complaints.exact_entitlement),
    **dict.fromkeys(("D.S4.strategyproof.less", "D.S4.strategyproof.more"), of_data(complaints.scaled_request)),
    "D.S4.envy-free": for_every(complaints.envy),
    "D.S4.envy-free.true": about_mechanism("nb", complaints.market_envy),
    "D.S4.envy-free.step": of_data(complaints.envy_by_imitation),
    "D.S4.counting": printed(counting),
    "D.S4.drf-bottleneck": compared_with_drf(complaints.drf_meets_a_bottleneck),
    "D.S4.fig2-njc": printed(
        lambda d, found: (
            full(d, found[0]) == [0]
            and [held(d, x) for x in found] == [[rationals("1/3", "1/15")] * 2 + [rationals("1/3", "2/3")]]
        )
    ),
    "D.S4.fig2-drf": printed(lambda d, _: held(d, drf_of(d)) == [rationals("0.4", "0.08")] * 2 + [rationals("0.2", "0.4")]),
    "D.S4.fig2-utilisation": printed(lambda d, found: sum(d.loads(found[0])) > sum(d.loads(drf_of(d)))),
    "D.S4.same-dominant": compared_with_drf(partial(complaints.same_as_drf, False)),
    "D.S4.same-dominant.true": compared_with_drf(partial(complaints.same_as_drf, True)),
    "D.S4.only-bottleneck": for_every(complaints.common_bottleneck),
    "D.S4.utilisation-numbers": printed(
        lambda d, found: found == [rationals(1, "1/2")] and full(d, found[0]) == [0, 3] and drf_of(d) == rationals("2/3", "2/3")
    ),
    "D.S4.utilisation-printed": printed(lambda d, found: len(found) == 1 and sum(d.loads(found[0])) <= sum(d.loads(drf_of(d)))),
    "D.S4.utilisation-limits": printed(middle_limits),
    "D.S4.drf-incremental": about_mechanism("drf", complaints.incremental),
    "D.T1": of_data(lambda _, d: Found(-1, "there is one") if all_fair(d) else Found(1, "no allocation fulfils (1) and (2)")),
    "D.S5.dummies": of_data(partial(complaints.alike, "x is fair by one of the two only", complaints.fair_with_dummies)),
    "D.S5.dummies-zero": of_data(partial(complaints.alike, "x is fair by one of the two only", complaints.fair_with_dummies)),
    "D.S5.1.ignored": of_data(regions.slack_resource_removed),
    "D.S5.1.satisfied": of_data(regions.satisfied_removed),
    "D.S5.1.room": of_data(regions.room_for_entitlements),
    **dict.fromkeys(("D.S5.1.all", "D.S5.1.all.true"), of_data(regions.entitlements_left)),
    "D.S5.1.removal": printed(
        lambda d, _: reduced(d, 0).entitlement == rationals("2/5", "3/5") and reduced(d, 0).parts[0][0] == F(5, 3) * d.parts[1][0]
    ),
    "D.S5.1.dominated": of_data(regions.dominated_removed),
    "D.S5.1.linear-program": of_data(regions.found_by_linear_programs),
    "D.S5.1.order.true": of_data(regions.removal_order),
    "D.S5.2.fig3": printed(lambda d, _: d.loads(rationals("2/3", "11/12"))[0] == F(13, 12)),
    "D.S5.2.boundary": for_every(complaints.on_boundary),
    "D.S5.2.linear": for_every(complaints.linear),
    "D.S5.2.family": of_data(regions.growing_sets),
    "D.E4": of_data(regions.equality_on_the_tangent),
    "D.S5.2.normal": at_points(regions.combination_of_requests),
    "D.S5.3.slopes.true": of_data(regions.steeper_slopes),
    "D.S5.3.smooth": at_points(regions.curvature),
    "D.S5.3.limit": of_data(regions.limit_of_levels),
    "D.S5.3.point": at_points(regions.point_on_the_level),
    **dict.fromkeys(("D.S5.3.unique", "D.S5.3.unique-zero"), of_data(partial(complaints.unique, True))),
    "D.S5.3.not-unique": of_data(partial(complaints.unique, False)),
    "D.S5.3.fig5": printed(fig5),
    "D.S5.3.fig5-ratios": printed(fig5_ratios),
    "D.R2": of_data(regions.other_barrier),
    "D.R3": at_points(lambda _, at: (0 if min(at.nu) > 0 else 1, "the gradient of f is 0")),
    "D.E6": at_points(lambda _, at: (far(at.nu, [sum(trajectories.along(at, v)[0]) for v in at.units]), "(6) is another vector")),
    "D.R4": of_data(trajectories.starts_at_zero),
    "D.R5": at_points(trajectories.equation_8),
    "D.E11": at_points(trajectories.printed_11),
    "D.E11.true": at_points(
        lambda _, at: (abs(sum(trajectories.along(at, at.velocity())[0]) - 1), "f does not grow at the rate 1")
    ),
    "D.E13.true": at_points(trajectories.equation_13),
    "D.L4.symmetric": once(checked("D.L4.symmetric", lambda found: abs(found["one"] - found["other"]))),
    "D.L4.unique": at_points(trajectories.unique_velocity),
    "D.L4": on_trajectories(trajectories.exists, partial(integrated, 1e-3)),
    "D.L2": on_trajectories(trajectories.ends_at_the_boundary, partial(integrated, 1e-6)),
    "D.L2.true": on_trajectories(trajectories.tends_to_the_market, partial(integrated, 1e-5)),
    **dict.fromkeys(("D.L3", "D.S5.4.error"), Routes(trajectories.limit_is_fair, trajectories.market_is_fair)),
    "D.S5.5.segment": printed(segment),
    "D.S5.5.weights.true": on_trajectories(trajectories.tends_to_the_market, partial(integrated, 1e-5)),
    "D.S5.5.circle": printed(
        lambda d, _: (
            complaint(d, THIRDS) == 0
            and full(d, THIRDS) == [0, 1, 2, 3]
            and all(v > e for row, e in zip(held(d, THIRDS), d.entitlement, strict=True) for v in row if v)
        )
    ),
    "D.S5.5.circle-six": printed(circle_six),
    "D.S5.5.bottlenecks": of_data(complaints.one_bottleneck_set),
    "D.S5.5.utilisation": printed(
        lambda d, found: [x for x in found if sum(d.loads(x)) == max(sum(d.loads(y)) for y in found)] == [THIRDS]
    ),
    "D.S6.minimal-gap": of_data(
        partial(complaints.alike, "nobody is promoted and somebody complains, or vice versa", complaints.rests)
    ),
}
