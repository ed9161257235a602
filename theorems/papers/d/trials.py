"""How the claims of D (no justified complaints) in statements.toml are tried and confirmed, by their ids."""

from functools import partial

from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.checked import checked
from fairalloc.theorems.checkers.common import about_mechanism
from fairalloc.theorems.checkers.trials import Routes, once
from fairalloc.theorems.papers.d import allocations, examples, regions, trajectories
from fairalloc.theorems.papers.d.complaints import compared_with_drf, for_every, of_data
from fairalloc.theorems.papers.d.examples import printed
from fairalloc.theorems.papers.d.trajectories import at_points, integrated, on_trajectories

cases: dict[str, Case] = {
    "s5-3-slopes": Case(Instance([[1], [1]], [[1]], max_tasks=["2/3", "2/3"], weights=[2, 3])),
    "s4-counting": Case(Instance([["1/5", "7/100", "37/100"]], [[1, 1, 1]], max_tasks=[1])),
    "s4-utilisation-lower": Case(examples.middle(3)),
    "s5-1-removal": Case(Instance([["2/5"], [1], [1]], [[1]], weights=[5, 2, 3], max_tasks=[1, 1, 1])),
}


trials: dict[str, Routes] = {
    "D.S3.small": for_every(allocations.small_requests),
    "D.S3.no-scarcity": for_every(allocations.no_scarcity),
    "D.S3.cut-back": for_every(allocations.cut_back),
    "D.S3.pareto": for_every(allocations.pareto),
    "D.S3.pareto-zero": for_every(allocations.pareto),
    "D.S3.less-elsewhere": for_every(allocations.less_elsewhere),
    "D.S3.pareto-not-fair": of_data(allocations.serial_is_fair),
    "D.S3.greedy": of_data(allocations.greedy),
    "D.S3.greedy-numbers": printed(examples.greedy_steps),
    "D.S4.sharing-incentive": for_every(allocations.sharing, convex=True),
    "D.S4.sharing-incentive.step": for_every(allocations.exact_entitlement),
    "D.S4.strategyproof": of_data(partial(allocations.misreporting, False), FOR_SOME, FOR_ALL),
    "D.S4.strategyproof.less": of_data(allocations.scaled_request),
    "D.S4.strategyproof.more": of_data(allocations.scaled_request),
    "D.S4.strategyproof.harm": of_data(partial(allocations.misreporting, True)),
    "D.S4.envy-free": for_every(allocations.envy),
    "D.S4.envy-free.true": about_mechanism("nb", allocations.market_envy),
    "D.S4.envy-free.step": of_data(allocations.envy_by_imitation),
    "D.S4.counting": printed(examples.counting),
    "D.S4.drf-bottleneck": compared_with_drf(allocations.drf_meets_a_bottleneck),
    "D.S4.fig2-njc": printed(examples.fig2_njc),
    "D.S4.fig2-drf": printed(examples.fig2_drf),
    "D.S4.fig2-utilisation": printed(examples.fig2_utilisation),
    "D.S4.same-dominant": compared_with_drf(allocations.same_as_drf),
    "D.S4.same-dominant.true": compared_with_drf(allocations.same_as_drf_if_asked),
    "D.S4.only-bottleneck": for_every(allocations.common_bottleneck),
    "D.S4.utilisation-higher": compared_with_drf(partial(allocations.utilisation, 1)),
    "D.S4.utilisation-lower": compared_with_drf(partial(allocations.utilisation, -1)),
    "D.S4.utilisation-numbers": printed(examples.middle_numbers),
    "D.S4.utilisation-printed": printed(examples.middle_not_higher),
    "D.S4.utilisation-limits": printed(examples.middle_limits),
    "D.S4.drf-incremental": about_mechanism("drf", allocations.incremental),
    "D.T1": of_data(allocations.existence),
    "D.S5.dummies": of_data(partial(allocations.alike, "x is fair by one of the two only", allocations.fair_with_dummies)),
    "D.S5.dummies-zero": of_data(partial(allocations.alike, "x is fair by one of the two only", allocations.fair_with_dummies)),
    "D.S5.1.ignored": of_data(regions.slack_resource_removed),
    "D.S5.1.satisfied": of_data(regions.satisfied_removed),
    "D.S5.1.room": of_data(regions.room_for_entitlements),
    "D.S5.1.renormalised": of_data(regions.renormalised_requests),
    "D.S5.1.all": of_data(regions.entitlements_left),
    "D.S5.1.all.true": of_data(regions.entitlements_left),
    "D.S5.1.removal": printed(examples.removal),
    "D.S5.1.dominated": of_data(regions.dominated_removed),
    "D.S5.1.linear-program": of_data(regions.found_by_linear_programs),
    "D.S5.1.order": of_data(regions.order_of_names),
    "D.S5.1.order.true": of_data(regions.order_of_rows),
    "D.S5.2.fig3": printed(examples.fig3),
    "D.S5.2.simplex": of_data(regions.simplex),
    "D.S5.2.boundary": for_every(allocations.on_boundary),
    "D.S5.2.linear": for_every(allocations.linear),
    "D.S5.2.family": of_data(regions.growing_sets),
    "D.E4": of_data(regions.equality_on_the_tangent),
    "D.S5.2.normal": at_points(regions.combination_of_requests),
    "D.S5.3.slopes": of_data(regions.falling_slopes),
    "D.S5.3.slopes.true": of_data(regions.steeper_slopes),
    "D.S5.3.smooth": at_points(regions.curvature),
    "D.S5.3.limit": of_data(regions.limit_of_levels),
    "D.S5.3.point": at_points(regions.point_on_the_level),
    "D.S5.3.unique": of_data(partial(allocations.unique, True)),
    "D.S5.3.unique-zero": of_data(partial(allocations.unique, True)),
    "D.S5.3.not-unique": of_data(partial(allocations.unique, False)),
    "D.S5.3.fig5": printed(examples.fig5),
    "D.S5.3.fig5-ratios": printed(examples.fig5_ratios),
    "D.R2": of_data(regions.other_barrier),
    "D.R3": at_points(trajectories.gradient_not_zero),
    "D.E6": at_points(trajectories.gradient),
    "D.R4": of_data(trajectories.starts_at_zero),
    "D.R5": at_points(trajectories.equation_8),
    "D.E11": at_points(trajectories.printed_11),
    "D.E11.true": at_points(trajectories.summed_11),
    "D.E13.true": at_points(trajectories.equation_13),
    "D.L4.symmetric": once(checked("D.L4.symmetric", lambda found: abs(found["one"] - found["other"]))),
    "D.L4.unique": at_points(trajectories.unique_velocity),
    "D.L4": on_trajectories(trajectories.exists, partial(integrated, 1e-3)),
    "D.L2": on_trajectories(trajectories.ends_at_the_boundary, partial(integrated, 1e-6)),
    "D.L2.true": on_trajectories(trajectories.tends_to_the_market, partial(integrated, 1e-5)),
    "D.L3": Routes(trajectories.limit_is_fair, trajectories.market_is_fair),
    "D.L3.step": of_data(trajectories.vanishing_numerators),
    "D.S5.4.error": Routes(trajectories.limit_is_fair, trajectories.market_is_fair),
    "D.S5.5.segment": printed(examples.segment),
    "D.S5.5.weights.true": on_trajectories(trajectories.tends_to_the_market, partial(integrated, 1e-5)),
    "D.S5.5.circle": printed(examples.circle),
    "D.S5.5.circle-six": printed(examples.circle_six),
    "D.S5.5.bottlenecks": of_data(allocations.one_bottleneck_set),
    "D.S5.5.utilisation": printed(examples.circle_best),
    "D.S6.minimal-gap": of_data(
        partial(allocations.alike, "nobody is promoted and somebody complains, or vice versa", allocations.rests)
    ),
}
