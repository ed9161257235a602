"""Envy, sharing incentives and bottlenecks: held, violated by the smallest visible margin in both arithmetics, and recomputed."""

from fractions import Fraction as Q
from itertools import permutations, product

import numpy as np
import pytest
from plain_judges import envy, sharing
from scipy.optimize import Bounds, LinearConstraint, milp
from tolerances import ROUNDING

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties import PROPERTIES, check, fairness
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.properties.fairness import global_bottlenecks, server_bottlenecks, whole_bottlenecks
from fairalloc.models import Allocation, Instance, NotApplicable
from fairalloc.models.examples.published import example
from fairalloc.models.transformations.own_time import with_own_time
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.hypotheses import Hypotheses

TINY = Q(1, 10**12)
"""A violation that floating point does not see and rationals do."""

VISIBLE = Q(11, 10) * Q(TOLERANCE)
HIDDEN = Q(9, 10) * Q(TOLERANCE)


def given(instance, x):
    """An allocation in rationals."""
    x = tuple(Q(v) for v in x)
    return Allocation(instance, [float(v) for v in x], x_exact=x)


# One or two users a case, so that a change by e changes the margin by e: `holds(e)` is fair for e = 0 and violated by e.

ONE = Instance([[1], [1]], [[2]])
"""One resource, two equal users, each of whom could run two tasks alone."""

WEIGHTED = Instance([[1], [1]], [[6]], weights=[1, 2])
APART = Instance([[1, 1], [1, 1]], [[2, 2], [2, 4]], eligible=[[1, 1], [0, 1]])
POOL = Instance([[1, 4], [3, 1]], [[9, 18]])  # W section 2: drf is (3, 2)
RACKS = example("khamse-fig1").instance  # K Fig. 1: memory is the bottleneck, (2, 6, 8, 8)
MIRROR = Instance([[1, 2], [2, 1]], [[4, 4], [4, 4]])

CASES = {
    "feasibility": (ONE, lambda e: [1 + 2 * e, 1]),
    "pareto": (ONE, lambda e: [1, 1 - 2 * e]),
    "envy-freeness": (ONE, lambda e: [1 - e, 1 + e]),
    "total-envy-freeness": (ONE, lambda e: [1 - e, 1 + e]),
    "sharing-incentive": (WEIGHTED, lambda e: [2 + 6 * e, 4 - 6 * e]),
    "strong-sharing-incentive": (WEIGHTED, lambda e: [3 + 6 * e, 3 - 6 * e]),
    "weak-sharing-incentive": (WEIGHTED, lambda e: [3 + 6 * e, 3 - 6 * e]),
    "bottleneck-fairness": (RACKS, lambda e: [2, 6 - 12 * e, 8, 0, 8, 0]),
    "server-bottleneck-fairness": (RACKS, lambda e: [2, 6 - 12 * e, 8, 0, 8, 0]),
    "global-bottleneck-fairness": (ONE, lambda e: [1 - 2 * e, 1]),
    "single-resource-fairness": (ONE, lambda e: [1 - 2 * e, 1]),
    "single-server-reduction": (POOL, lambda e: [3, 2 - 3 * e]),
}
"""For each property an instance and tasks that have it for e = 0 and violate it for e > 0, by about e."""


def rebuilt(name, e):
    """The case of a property: K Fig. 1 names its arcs in the order of users, so its tasks are put there by user and server."""
    instance, tasks = CASES[name]
    x = tasks(e)
    if instance is RACKS:
        by = {(0, 0): x[0], (1, 0): x[1], (2, 1): x[2], (2, 0): x[3], (3, 1): x[4], (3, 0): x[5]}
        x = [by[n, i] for n, i in zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), strict=True)]
    return given(instance, x)


def test_every_property_has_a_case():
    elsewhere = {name for name in PROPERTIES if name.startswith(("envy-up-to", "group-", "hierarchical-", "sibling-"))}
    assert set(CASES) | {"non-wastefulness"} | elsewhere == set(PROPERTIES), (
        "test_groups.py and test_whole_tasks.py have the others"
    )


@pytest.mark.parametrize("name", CASES)
def test_held_and_violated_by_the_smallest_visible_margin_in_rationals(name):
    fair = rebuilt(name, Q(0))
    assert check(fair, name).holds is True
    unfair = rebuilt(name, TINY)
    verdict = check(unfair, name)
    assert verdict.holds is False
    assert 0 < verdict.margin < 50 * TINY
    assert verdict.witness
    assert check(unfair, name, exact=False).holds is True, "floating point does not see it"


@pytest.mark.parametrize("name", CASES)
def test_held_and_violated_by_the_smallest_visible_margin_in_floating_point(name):
    """A tenth below the tolerance it is held, a tenth above violated; e is scaled until the margin is what is wanted."""

    def margin(e):
        allocation = rebuilt(name, e)
        return check(allocation, name, exact=False, tolerance=0.0).margin

    for part, holds in ((HIDDEN, True), (VISIBLE, False)):
        e = part
        for _ in range(3):  # margins are nearly linear in e
            e *= part / Q(margin(e))
        allocation = rebuilt(name, e)
        verdict = check(allocation, name, exact=False)
        assert verdict.margin == pytest.approx(float(part), rel=1e-2)
        assert verdict.holds is holds, verdict


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [Q(1, 10**9), Q(10**9)])
def test_margins_have_no_unit(name, scale):
    allocation = rebuilt(name, Q(1, 100))
    exact = allocation.instance.exact
    scaled = allocation.instance.replace(
        demands=[[[v * scale for v in row] for row in rows] for rows in exact.demands],
        capacities=[[c * scale for c in row] for row in exact.capacities],
    )
    one, other = check(allocation, name), check(given(scaled, allocation.x_exact), name)
    assert other.margin == pytest.approx(one.margin, rel=ROUNDING)


def test_method_says_which_arithmetic():
    assert "rational" in check(given(ONE, [1, 1]), "envy-freeness").method
    assert "floating" in check(Allocation(ONE, [1, 1]), "envy-freeness").method
    assert "rational" in check(Allocation(ONE, [1, 1]), "envy-freeness", exact=True).method
    with pytest.raises(NotApplicable, match="certify proves definitions in rationals"):
        check(Allocation(ONE, [1, 1]), "drfh", exact=True)


@pytest.mark.parametrize("exact", [True, False])
def test_negative_tasks_are_worth_nothing_and_no_allocation_with_some_is_optimal(exact):
    """With -1 tasks u1 envied itself."""
    none = given(ONE.replace(groups={"one": ["u1"], "other": ["u2"]}), [-1, 0])
    assert [check(none, name, exact=exact).margin for name in ("envy-freeness", "sibling-envy-freeness")] == [0, 0]
    assert check(none, "pareto", exact=exact).sentence == "not feasible: user 'u1' has -1 tasks on server 's1'"


def test_margins_are_signed():
    """Slack is negative: each of W Fig. 2's users could run 10 tasks alone on a server, and 2 with the other's resources."""
    wang = example("wang-fig2").instance
    best = given(wang, [10, 0, 0, 10])
    assert check(best, "envy-freeness").margin == -0.8
    assert check(best, "sharing-incentive").margin == -0.4
    assert check(given(wang, [1, 1, 1, 1]), "feasibility").margin < 0


# ---- what the definitions say ----------------------------------------------------------------------------------------


def test_bundles_are_worth_nothing_where_a_user_may_not_run():
    """u2 may use s2 only. u1 holds all of s1, which u2 cannot use: K's totals see envy, W's bundles do not."""
    allocation = given(APART, [2, 1, 1])
    assert check(allocation, "envy-freeness").holds is True
    verdict = check(allocation, "total-envy-freeness")
    assert verdict.holds is False
    assert (verdict.witness["user"], verdict.witness["other"]) == ("u2", "u1")
    assert (verdict.witness["tasks"], verdict.witness["better"]) == (1, 3)


def test_a_resource_of_one_server_cannot_be_used_on_another():
    """u1 holds the first resource of s1 and the second of s2: together a task's worth, on no server a task."""
    bundles = np.zeros((2, 2, 2))
    bundles[0, 0, 0] = bundles[0, 1, 1] = 4
    allocation = Allocation(MIRROR, [0, 0, 0, 0], bundles=bundles)
    assert check(allocation, "envy-freeness", exact=True).holds is True
    assert check(allocation, "total-envy-freeness", exact=True).witness["better"] == 2


def test_envy_is_scaled_by_weights():
    assert check(given(WEIGHTED, [2, 4]), "envy-freeness").margin == 0
    assert check(given(WEIGHTED, [3, 3]), "envy-freeness").witness["user"] == "u2"


def test_sentences_say_which_resources_they_compare():
    """Two properties had one sentence, true of one and false of the other, and a part by weight was called the whole bundle."""
    apart, weighted = Allocation(APART, [2, 1, 1]), Allocation(WEIGHTED, [0, 6])
    bundles = [[[1, 1, 0, 2]], [[1, 1, 0, 0]]]
    two = Allocation(Instance([[[1, 0, 0, 2], [0, 1, 0, 0]], [[1, 1, 1, 0]]], [[9] * 4]), [1, 0, 0], bundles=bundles)
    assert check(apart, "envy-freeness").sentence.endswith("with the resources of another user, scaled by their weights")
    assert check(apart, "total-envy-freeness").sentence == "user 'u2' runs 1 tasks, and 3 with the total resources of user 'u1'"
    assert (
        check(weighted, "strong-sharing-incentive").sentence == "user 'u1' runs 0 tasks, and 3 with an equal part of every server"
    )
    assert check(weighted, "sharing-incentive").sentence == "user 'u1' runs 0 tasks, and 2 with its part of every server"
    assert check(weighted, "envy-freeness").sentence.endswith("and 3 with the resources of user 'u2', scaled by their weights")
    assert check(two, "sharing-incentive").sentence.startswith("user 'u1' could run 2 tasks with its own, and")


def test_limits_end_envy():
    """More than all its tasks is of no use to a user."""
    limited = ONE.replace(max_tasks=[Q(1, 2), None])
    assert check(given(limited, [Q(1, 2), Q(3, 2)]), "envy-freeness").holds is True
    assert check(given(ONE, [Q(1, 2), Q(3, 2)]), "envy-freeness").holds is False
    assert check(given(limited, [Q(1, 2), Q(3, 2)]), "single-resource-fairness").holds is True


def test_the_best_packing_of_another_users_bundle():
    """Z Fig. 1: the bundle (11, 11, 13) packs 35/4 tasks of its user, in rationals and in floating point."""
    fig = example("zarchy-fig1").instance
    two = Instance([fig.exact.demands[0], [[11, 11, 13]]], [[22, 22, 26]])
    x = [0] * (len(two.arcs) - 1) + [1]
    assert check(given(two, x), "envy-freeness").witness["better"] == Q(35, 4)
    assert check(Allocation(two, x), "envy-freeness").witness["better"] == pytest.approx(8.75, rel=1e-9)
    assert Holdings(given(two, x), True).utilities(0, np.array([[[Q(0), Q(0), Q(0)]]], dtype=object))[0] == 0


def test_own_bundles_are_worth_their_best_packing():
    """A user that runs its worse variant could do better with what it holds, so it does not envy for want of packing."""
    two = Instance([[[2], [1]], [1]], [[4]])
    allocation = given(two, [1, 0, 2])
    assert allocation.tasks_exact == (1, 2)
    assert check(allocation, "envy-freeness").holds is True


def test_counts_are_pools():
    many = Instance([[1], [1]], [[1]], counts=[4])
    assert check(given(many, [2, 2]), "sharing-incentive").margin == 0
    assert check(given(many, [1, 2]), "sharing-incentive").margin == Q(1, 4)


def test_the_printed_examples():
    """W Prop 4: 5/6 tasks on half of each server, 4/5 under drfh; some equal partition leaves nobody with more (W Prop 5)."""
    prop4 = example("wang-prop4").instance
    allocation = solve(prop4, "drfh", "exact")
    verdict = check(allocation, "sharing-incentive")
    assert (verdict.witness["user"], verdict.witness["tasks"], verdict.witness["better"]) == ("u2", Q(4, 5), Q(5, 6))
    assert check(allocation, "weak-sharing-incentive").holds is True
    single = example("zarchy-ex3").instance  # Z Proposition 4
    assert check(solve(single, "lmmf", "exact"), "envy-freeness").holds is False
    fig = example("khamse-fig1")
    for name in ("drfh", "tsf"):
        assert check(solve(fig.instance, name, "exact"), "bottleneck-fairness").holds is False, "K 2.2"


def test_what_a_property_says_nothing_about_is_not_decided():
    wang = example("wang-fig2").instance
    best = given(wang, [10, 0, 0, 10])
    for name in ("bottleneck-fairness", "single-resource-fairness", "single-server-reduction", "global-bottleneck-fairness"):
        verdict = check(best, name)
        assert verdict.holds is None
        assert verdict.sentence.startswith("not decided: ")


def test_no_property_fails_where_there_are_groups():
    grouped = Allocation(ONE.replace(groups={"one": ["u1"]}), [1.5, 0.5])
    verdicts = {name: check(grouped, name) for name in PROPERTIES}
    assert "'u1' runs 1.5 tasks, and 1 by drfh" in verdicts["global-bottleneck-fairness"].sentence


@pytest.mark.parametrize("scale", [Q(1), Q(10**9), Q(1, 10**9)])
@pytest.mark.parametrize("exact", [False, True])
def test_what_a_group_can_do_alone_has_no_unit(scale, exact):
    """Alone on half of the server it has the share 1/2, as here; with a capacity of 1e-9 the linear program was not solved."""
    halves = Instance([[1], [1]], [[4]], groups={"one": ["u1"]})
    scaled = halves.replace(demands=[[scale], [scale]], capacities=[[4 * scale]])
    for x, margin in (([2, 2], 0), ([1, 3], 0.5)):
        assert check(Allocation(scaled, x), "group-sharing-incentive", exact=exact).margin == pytest.approx(margin)


def test_bottlenecks_of_instances():
    assert whole_bottlenecks(RACKS) == {1}
    assert whole_bottlenecks(POOL) == set()
    assert server_bottlenecks(example("wang-fig2").instance) == {0: 0, 1: 1}
    assert global_bottlenecks(example("wang-prop4").instance) == {0}
    third = Instance([["1/3", "1/3"], [1, "1/7"]], [["1/7", "1/7"]])
    assert whole_bottlenecks(third) == {0}, "ties are ties, whatever floating point makes of thirds and sevenths"


def test_an_answer_of_drfh_that_is_not_proved_decides_nothing(monkeypatch):
    allocation = solve(example("wang-prop4").instance, "drfh")
    assert check(allocation, "global-bottleneck-fairness").holds is not None
    unsure = allocation.noted(residuals={"feasibility": 0.0, "definition": 1e-3})
    monkeypatch.setattr(fairness, "solve", lambda *_, **__: unsure)
    verdict = check(allocation, "global-bottleneck-fairness")
    assert verdict.holds is None
    assert "the answer of drfh was not found" in verdict.sentence


def test_witnesses_of_bottlenecks_name_who_has_more_and_where():
    allocation = rebuilt("bottleneck-fairness", Q(1, 12))
    verdict = check(allocation, "bottleneck-fairness")
    assert (verdict.witness["user"], verdict.witness["server"]) == ("u1", "s1") or verdict.witness["user"] == "u2"
    crowded = given(ONE, [Q(1, 2), Q(3, 2)])
    verdict = check(crowded, "single-resource-fairness")
    assert verdict.witness == {"user": "u1", "server": "s1", "resource": "r1", "other": "u2"}
    assert verdict.margin == pytest.approx(2 / 3)


def test_infeasible_allocations_have_no_fairness_by_bottlenecks():
    verdict = check(given(ONE, [3, 3]), "single-resource-fairness")
    assert (verdict.holds, verdict.margin) == (False, np.inf)
    assert verdict.property == "single-resource-fairness"
    several = check(given(Instance([[1, 2]], [[4, 4], [4, 4]]), [5, 0]), "single-server-reduction")
    assert (several.holds, several.sentence) == (None, "not decided: there are several servers")  # it had failed


# ---- against unrelated routes ------------------------------------------------------------------------------------------


def samples(hypotheses, count, seed=0):
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        case = hypotheses.sample(rng).case()
        found += [case.instance] if hypotheses.satisfied_by(case) else []
    return found


def points(instance, seed=0):
    """Two answers, their mean, and one with some tasks taken away; all exact."""
    drfh, best = solve(instance, "lmmf", "exact").x_exact, solve(instance, "utilitarian", "exact").x_exact
    mean = [(a + b) / 2 for a, b in zip(drfh, best, strict=True)]
    part = np.random.default_rng(seed).integers(1, 5, len(drfh))
    return [given(instance, x) for x in (drfh, best, mean, [v * int(k) / 4 for v, k in zip(drfh, part, strict=True)])]


@pytest.mark.parametrize("hypotheses", [Hypotheses(users=2), Hypotheses(one_variant=False, same_demands=False, users=2)])
def test_envy_and_sharing_agree_with_the_laboratorys_judges(hypotheses):
    """theorems/checkers/trials.py packs bundles by another algorithm, vertex by vertex."""
    decided = set()
    for instance in samples(hypotheses, 8):
        for allocation in points(instance)[:2]:
            case = Case(instance)
            for name, judge in (("envy-freeness", envy), ("sharing-incentive", sharing)):
                wanted = judge(case, lambda _, answer=allocation: answer)
                verdict = check(allocation, name)
                assert verdict.margin == pytest.approx(
                    max(wanted.margin, verdict.margin) if name == "envy-freeness" else wanted.margin
                )
                assert verdict.holds == wanted.holds
                assert check(allocation, name, exact=False).margin == pytest.approx(verdict.margin, abs=1e-7)
                decided.add((name, verdict.holds))
    assert len(decided) == 4, "both properties were held and violated"


def test_total_envy_by_the_formula_of_k():
    """phi_n / phi_m x_m min_r d_mr / d_nr <= x_n (K 1)."""
    seen = set()
    for instance in samples(Hypotheses(users=2), 15):
        for allocation in points(instance):
            tasks, demand, weight = allocation.tasks_exact, instance.exact.demands, instance.exact.weights
            worst = max(
                weight[n] / weight[m] * tasks[m] * min(b / a for a, b in zip(demand[n][0], demand[m][0], strict=True) if a)
                - tasks[n]
                for n, m in permutations(range(instance.N), 2)
            )
            verdict = check(allocation, "total-envy-freeness")
            assert verdict.holds == (worst <= 0)
            seen.add(verdict.holds)
    assert seen == {True, False}


def test_with_variants_total_envy_freeness_is_not_the_stronger_one():
    """User 1's parts of two servers run half a task, and together they would run a whole one, as what user 2 holds would."""
    instance = Instance([[[1, 1], [4, 0], [0, 4]], [1, 1]], [[2, 2], [2, 2]])
    allocation = Allocation(instance, [0, 0, 0.25, 0, 0, 0.25, 1, 0])
    assert check(allocation, "total-envy-freeness").holds
    assert check(allocation, "envy-freeness").holds is False


def by_milp(allocation):
    """W Def 4 as a mixed-integer program: min t, with for each user and server a resource that its tasks are bounded by."""
    h = Holdings(allocation, exact=False)
    instance, arcs = allocation.instance, allocation.instance.arcs
    shape = (instance.N, instance.K, instance.R)
    size, choices = int(np.prod(shape)), [(a, r) for a in range(len(arcs)) for r in np.flatnonzero(arcs.demand[a] > 0)]
    index = np.arange(size).reshape(shape)
    y, z, t = size, size + len(arcs), size + len(arcs) + len(choices)
    rows, low, high = [], [], []

    def row(entries, lower, upper):
        values = np.zeros(t + 1)
        for k, v in entries:
            values[k] += v
        rows.append(values)
        low.append(lower)
        high.append(upper)

    for i, r in product(range(instance.K), range(instance.R)):
        row([(index[n, i, r], 1) for n in range(instance.N)], instance.pools[i, r], instance.pools[i, r])
    for n, r in product(range(instance.N), range(instance.R)):
        row([(index[n, i, r], 1) for i in range(instance.K)], instance.totals[r] / instance.N, instance.totals[r] / instance.N)
    for k, (a, r) in enumerate(choices):  # y_a >= bundle / demand where chosen
        most = instance.pools[arcs.server[a], r] / arcs.demand[a, r]
        row([(y + a, 1), (index[arcs.user[a], arcs.server[a], r], -1 / arcs.demand[a, r]), (z + k, -most)], -most, np.inf)
    for a in range(len(arcs)):
        row([(z + k, 1) for k, (b, _) in enumerate(choices) if b == a], 1, np.inf)
    for n in range(instance.N):
        row([(y + a, -1 / h.alone[n]) for a in h.own(n)] + [(t, 1)], -h.tasks[n] / h.alone[n], np.inf)
    cost = np.zeros(t + 1)
    cost[t] = 1
    whole = np.zeros(t + 1)
    whole[z:t] = 1
    bounds = Bounds(np.r_[np.zeros(t), -np.inf], np.r_[np.full(z, np.inf), np.ones(t - z), np.inf])
    answer = milp(cost, constraints=LinearConstraint(np.array(rows), low, high), integrality=whole, bounds=bounds)
    assert answer.success
    return answer.fun


def test_weak_sharing_incentive_agrees_with_a_mixed_integer_program():
    seen = []
    for instance in samples(Hypotheses(users=2), 12, seed=3):
        for allocation in points(instance):
            verdict, least = check(allocation, "weak-sharing-incentive"), by_milp(allocation)
            assert verdict.holds == (least <= 1e-7), (least, verdict)
            if verdict.holds:
                assert verdict.margin >= least - 1e-7
            else:
                assert verdict.margin == pytest.approx(least, abs=1e-6)
            floats = check(allocation, "weak-sharing-incentive", exact=False)
            assert floats.holds == verdict.holds
            seen.append((verdict.holds, instance.K > 1))
    assert set(seen) >= {(True, True), (False, True)}


def test_an_equal_partition_is_one():
    """The witness of a weak sharing incentive that the strong one does not give: totals are equal, servers are used up."""
    prop4 = example("wang-prop4").instance
    partition = check(solve(prop4, "drfh", "exact"), "weak-sharing-incentive").witness["partition"]
    assert (partition.sum(axis=0) == np.array(prop4.exact.capacities, dtype=object)).all()
    assert (partition.sum(axis=1) == np.array([[Q(5, 2), Q(5, 2)]] * 2, dtype=object)).all()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "hypotheses", "mechanism"),
    [
        ("single-server-reduction", Hypotheses(one_server=True, unlimited=False), "drf"),
        ("single-resource-fairness", Hypotheses(one_resource=True, unlimited=False), "drfh"),
        ("global-bottleneck-fairness", Hypotheses(positive=True, bottleneck=True, identical_servers=True), "drfh"),
    ],
)
def test_bottlenecks_agree_with_exact_max_min_fairness(name, hypotheses, mechanism):
    """A bottleneck for everybody, or the rounds of leximin: the same allocations, and no others."""
    seen = set()
    for instance in samples(hypotheses, 20, seed=1):
        fair = solve(instance, mechanism, "exact")
        for allocation in (given(instance, fair.x_exact), *points(instance)):
            verdict = check(allocation, name)
            assert verdict.holds == (allocation.tasks_exact == fair.tasks_exact), verdict
            seen.add(verdict.holds)
    assert seen == {True, False}


def test_bottleneck_fairness_is_max_min_fairness_of_one_resource():
    """K Def 2: with the other resources left out, drfh is the max-min fair allocation of the bottleneck."""
    seen = set()
    for instance in samples(Hypotheses(bottleneck=True, users=2), 20, seed=2):
        r = min(whole_bottlenecks(instance))
        exact = instance.exact
        alone = instance.replace(
            demands=[[[rows[0][r]]] for rows in exact.demands],
            capacities=[[c[r]] for c in exact.capacities],
            eligible=instance.eligible,
            resources=["one"],
        )
        fair = solve(alone, "drfh", "exact")
        for allocation in (given(instance, fair.x_exact), *points(instance)):
            verdict = check(allocation, "bottleneck-fairness")
            assert verdict.holds == (allocation.tasks_exact == fair.tasks_exact)
            assert check(allocation, "server-bottleneck-fairness").holds == verdict.holds
            seen.add(verdict.holds)
    assert seen == {True, False}


def test_floating_point_and_rationals_agree_on_every_property():
    seen = set()
    for instance in samples(Hypotheses(one_variant=False, same_demands=False, unlimited=False), 8, seed=4):
        for allocation in points(instance)[1:]:
            for name in PROPERTIES:
                exact, floats = check(allocation, name), check(allocation, name, exact=False)
                assert floats.holds == exact.holds, (exact, floats)
                seen.add((name, exact.holds))
    assert {name for name, holds in seen if holds} >= {"feasibility", "pareto", "envy-freeness", "sharing-incentive"}
    assert {name for name, holds in seen if holds is False} >= {"pareto", "envy-freeness", "sharing-incentive"}


def test_envy_up_to_a_task_has_all_own_time():
    """Without it nobody could run anything with another's bundle, which has no time of its own."""
    jobs = with_own_time(Instance([[1], [1]], [[4]]), [4, 4])
    for name in ("envy-up-to-one-task", "envy-up-to-any-task"):
        verdict = check(Allocation(jobs, [4.0, 0.0]), name)
        assert (verdict.holds, verdict.margin) == (False, 0.75), "3 of 4 tasks"
        assert check(Allocation(jobs, [1.0, 0.0]), name).holds


def test_nobody_runs_a_part_of_a_task_among_whole_tasks():
    """The first user runs 2 tasks: a limit of 5/2 allows no more."""
    instance = Instance([[1], [1]], [[7]], max_tasks=["5/2", None])
    assert check(Allocation(instance, [2, 5]), "envy-up-to-one-task").holds
    for three in (3, np.nextafter(3, 0)):  # a limit of whole tasks may be rounded
        assert check(Allocation(instance.replace(max_tasks=[three, None]), [2, 5]), "envy-up-to-one-task").holds is False


@pytest.mark.parametrize("exact", [False, True])
def test_weights_whose_ratio_is_no_number_hide_no_envy(exact):
    """The ratio inf times nothing was no number, and envy-freeness held."""
    instance = Instance([[1, 0], [0, 1], [1, 1]], [[4, 4]], weights=[1e-200, 1e200, 1])
    for name in ("envy-freeness", "total-envy-freeness"):
        assert check(Allocation(instance, [3, 3, 1]), name, exact=exact).margin == pytest.approx(2.5e199)


@pytest.mark.parametrize("exact", [False, True])
def test_a_division_does_not_overlook_a_small_limit(exact):
    """In floating point 1 task was too little beside the 10^7 that the first user could run alone."""
    instance = Instance([[1], [1]], [[10**7], [10**7]], max_tasks=[1, None])
    found = check(Allocation(instance, [0, 0, 10**7, 10**7]), "weak-sharing-incentive", exact=exact)
    assert found.holds is False
    assert found.margin == pytest.approx(0.01), "as by equal parts: its limit leaves one task"


def test_bottlenecks_with_floors_and_groups():
    """Who is at its floor has more than others, who cannot have it; groups are no part of these definitions."""
    floors = Instance([[1, 1], [1, 1]], [[4, 4]], min_tasks=[3, 0])
    fair = solve(floors, "drfh")
    for name in ("bottleneck-fairness", "server-bottleneck-fairness", "single-server-reduction"):
        verdict = check(fair, name)
        assert verdict.holds is None
        assert "user 'u1' has min_tasks" in verdict.sentence
    assert check(fair, "global-bottleneck-fairness").holds, "compared with the answer that keeps floors"
    groups = floors.replace(min_tasks=None, groups={"a": [0], "b": [1]})
    assert check(solve(groups, "nested-leximin"), "global-bottleneck-fairness").holds


@pytest.mark.parametrize("missing", [0, 1e-9])
def test_a_limit_that_is_met_up_to_rounding_is_met(missing):
    """Every division gives the second user 2 tasks, and it may run 0.1: it gained where rounding left 1e-10."""
    instance = Instance([[1], [1]], [[2], [2]], eligible=[[True, False], [True, True]], max_tasks=[None, 0.1])
    found = check(Allocation(instance, [0.5, 0.1 * (1 - missing), 0]), "weak-sharing-incentive")
    assert found.holds
    assert found.margin == pytest.approx(-0.25)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("given", "x", "names"),
    [
        (
            {"weights": [1, 4 * 10**6]},
            [0, 1],
            ["sharing-incentive", "envy-freeness", "total-envy-freeness", "global-bottleneck-fairness"],
        ),
        ({"weights": [1, 1, 10**7]}, [1e-7, 0, 0.9999999], ["sharing-incentive", "envy-freeness"]),
        ({"max_tasks": ["1/10000000", None]}, [0, 1], ["sharing-incentive", "envy-freeness"]),
        ({"max_tasks": ["1/10000000", None]}, [0, "0.9999999"], ["pareto"]),
        ({"groups": {"one": [0, 1]}, "weights": [1, 4 * 10**6]}, [0, 1], ["sibling-envy-freeness"]),
    ],
)
def test_who_is_due_a_small_part_is_not_overlooked(given, x, names, exact):
    """Its tasks are below the tolerance beside what it could run alone: all of these held in floating point."""
    instance = Instance([[1]] * len(x), [[1]], **given)
    for name in names:
        verdict = check(Allocation(instance, x), name, exact=exact)
        assert verdict.holds is False, verdict
        assert verdict.margin > 1e-3
