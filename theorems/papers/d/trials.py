"""How the claims of D (no justified complaints) in statements.toml are tried and confirmed, by their ids."""

from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Routes, attempted, proved
from fairalloc.theorems.papers.d import allocations, attributes, examples, simplifications, trajectories, trajectory_points
from fairalloc.theorems.papers.d.complaints import compared_with_drf, for_every, two_ways
from fairalloc.theorems.papers.d.examples import printed
from fairalloc.theorems.papers.d.trajectory_points import at_points, both_kinds

__all__ = ["cases", "trials"]

cases: dict[str, Case] = {
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
    "D.S3.pareto-not-fair": two_ways(allocations.serial_is_fair),
    "D.S3.greedy": two_ways(allocations.greedy),
    "D.S3.greedy-numbers": printed(examples.greedy_steps),
    "D.S4.sharing-incentive": for_every(allocations.sharing, convex=True),
    "D.S4.sharing-incentive.step": for_every(allocations.exact_entitlement),
    "D.S4.strategyproof": two_ways(attributes.misreporting, FOR_SOME, FOR_ALL),
    "D.S4.strategyproof.less": two_ways(attributes.scaled_request),
    "D.S4.strategyproof.more": two_ways(attributes.scaled_request),
    "D.S4.strategyproof.harm": two_ways(attributes.harm),
    "D.S4.envy-free": for_every(allocations.envy),
    "D.S4.envy-free.true": Routes(attempted("nb", attributes.market_envy), proved("nb", attributes.market_envy)),
    "D.S4.envy-free.step": two_ways(attributes.envy_by_imitation),
    "D.S4.counting": printed(examples.counting),
    "D.S4.drf-bottleneck": compared_with_drf(attributes.drf_meets_a_bottleneck),
    "D.S4.fig2-njc": printed(examples.fig2_njc),
    "D.S4.fig2-drf": printed(examples.fig2_drf),
    "D.S4.fig2-utilisation": printed(examples.fig2_utilisation),
    "D.S4.same-dominant": compared_with_drf(attributes.same_as_drf),
    "D.S4.same-dominant.true": compared_with_drf(attributes.same_as_drf_if_asked),
    "D.S4.only-bottleneck": for_every(allocations.common_bottleneck),
    "D.S4.utilisation-higher": compared_with_drf(attributes.uses_less_than_drf),
    "D.S4.utilisation-lower": compared_with_drf(attributes.uses_more_than_drf),
    "D.S4.utilisation-numbers": printed(examples.middle_numbers),
    "D.S4.utilisation-printed": printed(examples.middle_not_higher),
    "D.S4.utilisation-limits": printed(examples.middle_limits),
    "D.S4.drf-incremental": Routes(attempted("drf", attributes.incremental), proved("drf", attributes.incremental)),
    "D.T1": two_ways(allocations.existence),
    "D.S5.dummies": Routes(allocations.dummies_in_floats, allocations.dummies),
    "D.S5.dummies-zero": Routes(allocations.dummies_in_floats, allocations.dummies),
    "D.S5.1.ignored": two_ways(simplifications.slack_resource_removed),
    "D.S5.1.satisfied": two_ways(simplifications.satisfied_removed),
    "D.S5.1.room": two_ways(simplifications.room_for_entitlements),
    "D.S5.1.renormalised": two_ways(simplifications.renormalised_requests),
    "D.S5.1.all": two_ways(simplifications.entitlements_left),
    "D.S5.1.all.true": two_ways(simplifications.entitlements_left),
    "D.S5.1.removal": printed(examples.removal),
    "D.S5.1.dominated": two_ways(simplifications.dominated_removed),
    "D.S5.1.order": two_ways(simplifications.order_of_names),
    "D.S5.1.order.true": two_ways(simplifications.order_of_rows),
    "D.S5.2.fig3": printed(examples.fig3),
    "D.S5.2.simplex": two_ways(simplifications.simplex),
    "D.S5.2.boundary": for_every(allocations.on_boundary),
    "D.S5.2.linear": for_every(allocations.linear),
    "D.S5.3.unique": two_ways(allocations.unique_for_two),
    "D.S5.3.unique-zero": two_ways(allocations.unique_for_two),
    "D.S5.3.not-unique": two_ways(allocations.unique_for_more),
    "D.S5.3.fig5": printed(examples.fig5),
    "D.S5.3.fig5-ratios": printed(examples.fig5_ratios),
    "D.R1": Routes(trajectory_points.barrier_grows, trajectory_points.barrier_signs),
    "D.R3": at_points(trajectory_points.gradient_not_zero),
    "D.E6": at_points(trajectory_points.gradient),
    "D.R4": both_kinds(trajectory_points.starts_at_zero),
    "D.R5": at_points(trajectory_points.equation_8),
    "D.E11": at_points(trajectory_points.printed_11),
    "D.E11.true": at_points(trajectory_points.summed_11),
    "D.E13.true": at_points(trajectory_points.equation_13),
    "D.L4.symmetric": at_points(trajectory_points.symmetric),
    "D.L4.unique": at_points(trajectory_points.unique_velocity),
    "D.L4": Routes(trajectories.exists_by_integration, trajectories.exists_by_newton),
    "D.L2": Routes(trajectories.boundary_by_integration, trajectories.boundary_by_newton),
    "D.L2.true": Routes(trajectories.limit_by_integration, trajectories.limit_by_newton),
    "D.L3": Routes(trajectories.limit_is_fair_by_integration, trajectories.limit_is_fair_by_newton),
    "D.L3.step": two_ways(trajectories.vanishing_numerators),
    "D.S5.4.error": Routes(trajectories.limit_is_fair_by_integration, trajectories.limit_is_fair_by_newton),
    "D.S5.5.segment": printed(examples.segment),
    "D.S5.5.weights": printed(examples.segment_weights),
    "D.S5.5.weights.true": Routes(trajectories.limit_by_integration, trajectories.limit_by_newton),
    "D.S5.5.circle": printed(examples.circle),
    "D.S5.5.circle-six": printed(examples.circle_six),
    "D.S5.5.circle-all": printed(examples.circle_all),
    "D.S5.5.bottlenecks": two_ways(allocations.one_bottleneck_set),
    "D.S5.5.utilisation": printed(examples.circle_best),
}
