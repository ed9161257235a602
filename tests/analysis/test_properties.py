"""The checks: each property held, and violated by the smallest visible margin with a witness that is checked again here."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from strategies import allocations, instances
from tolerances import RESIDUAL, ROUNDING

from fairalloc.analysis import linear
from fairalloc.analysis.certificates import certify
from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties import BASIC, PROPERTIES, Property, check, check_mechanism, checks
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.transformations.aggregation import pooled
from fairalloc.solvers import solve

VISIBLE = TOLERANCE + 2e-6
"""The smallest violation the tests make: the tolerance of the checks and two of it more."""

HIDDEN = TOLERANCE / 2
"""A violation that counts as rounding."""

LP = 1e-7
"""SciPy's HiGHS meets its rows to 1e-7; all rows here are of order one."""

BARGAINING = 4 * 4 * RESIDUAL + LP
"""nb's residual is the mean relative gain of at most 4 users of equal weight, who run at most 4 servers' worth of tasks."""

WANG = example("wang-fig2").instance
BEST = [10, 0, 0, 10]


def on_wang(x, **more):
    return Allocation(WANG, x, **more)


# ---- feasibility ----------------------------------------------------------------------------------------------------

LIMITED = Instance([[1, 1]], [[4, 8]], max_tasks=[2])


def test_feasible():
    verdict = check(on_wang(BEST), "feasibility")
    assert verdict == Verdict("feasibility", True, 0.0, "feasible", "direct computation in floating point", {})


def test_capacity_violated():
    verdict = check(on_wang([10 * (1 + VISIBLE), 0, 0, 10]), "feasibility")
    assert verdict.holds is False
    assert verdict.margin == pytest.approx(VISIBLE, rel=1e-6)
    where = verdict.witness
    i, r = WANG.servers.index(where["server"]), WANG.resources.index(where["resource"])
    used = 10 * (1 + VISIBLE) * WANG.demands[0][0, r]
    assert where["used"] == pytest.approx(used, rel=1e-12)
    assert where["capacity"] == WANG.capacities[i, r] < where["used"]
    assert verdict.sentence == "not feasible: server 's1' gives 2.00001 of 'cpu' and has 2"


def test_limit_violated():
    verdict = check(Allocation(LIMITED, [2 * (1 + VISIBLE)]), "feasibility")
    assert verdict.holds is False
    assert verdict.margin == pytest.approx(VISIBLE, rel=1e-6)
    assert verdict.witness == {"user": "u1", "tasks": 2 * (1 + VISIBLE)}
    assert verdict.sentence == "not feasible: user 'u1' runs 2.00001 tasks and has 2"


def test_the_user_over_its_limit_is_named():
    two = WANG.replace(max_tasks=[10, 5])
    verdict = check(Allocation(two, [10, 0, 0, 5 * (1 + VISIBLE)]), "feasibility")
    assert verdict.witness == {"user": "u2", "tasks": 5 * (1 + VISIBLE)}


def test_negative_tasks():
    verdict = check(on_wang([9, 0, -10 * VISIBLE, 9]), "feasibility")
    assert verdict.holds is False
    assert verdict.margin == pytest.approx(5 * VISIBLE, rel=1e-6), "user 2 could run 2 tasks on server 1 alone"
    assert verdict.witness == {"user": "u2", "server": "s1", "tasks": -10 * VISIBLE}


def test_a_class_of_servers_has_its_whole_capacity():
    three = WANG.replace(counts=[3, 1])
    assert check(Allocation(three, [30, 0, 0, 10]), "feasibility")
    assert not check(Allocation(three, [30 * (1 + VISIBLE), 0, 0, 10]), "feasibility")


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_violations_have_no_unit(scale):
    instance = WANG.replace(demands=[d * scale for d in WANG.demands], capacities=WANG.capacities * scale)
    assert check(Allocation(instance, [10 * (1 + HIDDEN), 0, 0, 10]), "feasibility")
    assert not check(Allocation(instance, [10 * (1 + VISIBLE), 0, 0, 10]), "feasibility")


# ---- bundles --------------------------------------------------------------------------------------------------------


def with_bundles(extra, n=0, i=0, r=0, x=BEST, instance=WANG):
    """The allocation x with what it uses handed out, and `extra` of one resource more."""
    bundles = np.array(Allocation(instance, x).used)
    bundles[n, i, r] += extra
    return Allocation(instance, x, bundles=bundles)


def test_bundles_that_are_used_are_not_wasted():
    assert check(with_bundles(0), "non-wastefulness").margin == 0
    assert check(on_wang(BEST), "non-wastefulness")


def test_unused_resource_is_waste():
    """Server 1 has 12 of memory, of which 2 are left: they are handed to user 2, who has no task there."""
    allocation = with_bundles(12 * VISIBLE, n=1, r=1)
    verdict = check(allocation, "non-wastefulness")
    assert verdict.holds is False
    assert verdict.margin == pytest.approx(VISIBLE, rel=1e-6)
    where = verdict.witness
    n, i, r = WANG.users.index(where["user"]), WANG.servers.index(where["server"]), WANG.resources.index(where["resource"])
    unused = allocation.bundles[n, i, r] - allocation.used[n, i, r]
    assert where["unused"] == pytest.approx(unused, rel=1e-12)
    assert unused / WANG.capacities[i, r] > TOLERANCE
    assert check(with_bundles(12 * HIDDEN, n=1, r=1), "non-wastefulness")
    assert check(allocation, "feasibility"), "waste is no overload while there is enough"


def test_waste_of_what_the_server_does_not_have():
    khamse = example("khamse-fig1").instance  # no network on server 2
    x = np.zeros(len(khamse.arcs))
    allocation = with_bundles(1.0, n=2, i=1, r=2, x=x, instance=khamse)
    assert check(allocation, "non-wastefulness").margin == np.inf
    assert check(allocation, "feasibility").margin == np.inf


def test_bundles_count_against_capacity():
    verdict = check(with_bundles(12 * VISIBLE + 2, r=1), "feasibility")
    assert verdict.holds is False
    assert verdict.witness["used"] == pytest.approx(12 * (1 + VISIBLE), rel=1e-12)


def test_a_negative_bundle_hides_nothing():
    """User 1 holds more than there is; user 2 owes the rest on paper."""
    bundles = np.array(on_wang(BEST).used)
    bundles[:, 0, 1] = [13, -3]
    assert not check(on_wang(BEST, bundles=bundles), "feasibility")
    empty = on_wang([11, 0, 0, 0], bundles=np.zeros((2, 2, 2)))
    assert not check(empty, "feasibility"), "tasks use what they use, whatever the bundles say"


# ---- Pareto ---------------------------------------------------------------------------------------------------------


def recheck_pareto(allocation, verdict):
    """The witness is feasible, nobody has fewer tasks and the user it names has visibly more."""
    better = Allocation(allocation.instance, verdict.witness["x"])
    assert infeasibility(better) <= LP
    unit = np.zeros(allocation.instance.N)
    np.maximum.at(unit, allocation.instance.arcs.user, allocation.instance.arcs.gamma)
    gain = (better.tasks - allocation.tasks) / unit
    assert gain.min() >= -2 * LP - infeasibility(allocation)
    n = allocation.instance.users.index(verdict.witness["user"])
    assert gain[n] == pytest.approx(verdict.margin, abs=2 * LP)


def test_pareto_optimal():
    verdict = check(on_wang(BEST), "pareto")
    assert verdict.holds is True
    assert verdict.margin <= LP


def test_pareto_violated_by_little():
    allocation = on_wang([10 * (1 - VISIBLE), 0, 0, 10])
    verdict = check(allocation, "pareto")
    assert verdict.holds is False
    assert verdict.witness["user"] == "u1"
    assert verdict.margin == pytest.approx(VISIBLE, abs=LP)
    recheck_pareto(allocation, verdict)
    assert check(on_wang([10 * (1 - HIDDEN), 0, 0, 10]), "pareto")


@pytest.mark.parametrize("name", ["pareto", "weak-sharing-incentive"])
@pytest.mark.parametrize("part", [1.0, 0.9])
def test_programs_of_many_columns_are_solved_by_another_method_alike(monkeypatch, name, part):
    answer = solve(generators.generic(6, 3, 2, 1), "drfh")
    allocation = dataclasses.replace(answer, x=np.where(answer.instance.arcs.user == 3, part, 1.0) * answer.x, x_exact=None)
    few = check(allocation, name)
    monkeypatch.setattr(linear, "LARGE", 0)
    many = check(allocation, name)
    assert few.holds == many.holds
    assert name != "pareto" or few.margin == pytest.approx(many.margin, abs=LP)  # the other has one of several divisions


def test_pareto_is_about_swaps_too():
    """W Fig. 3: every server full, yet both users gain when they change places."""
    allocation = on_wang([5, 1, 1, 5])
    verdict = check(allocation, "pareto")
    assert verdict.sentence == "not Pareto optimal: user 'u1' could run 10 tasks instead of 6 while nobody runs fewer"
    recheck_pareto(allocation, verdict)


def test_limits_make_fewer_tasks_optimal():
    assert check(Allocation(LIMITED, [2]), "pareto")
    verdict = check(Allocation(LIMITED, [2 - 4 * VISIBLE]), "pareto")
    assert verdict.margin == pytest.approx(VISIBLE, abs=LP)


def test_an_infeasible_allocation_is_not_pareto_optimal():
    verdict = check(on_wang([11, 0, 0, 10]), "pareto")
    assert (verdict.holds, verdict.margin, verdict.property) == (False, np.inf, "pareto")
    assert verdict.witness["server"] == "s1"
    assert verdict.sentence.startswith("not feasible: ")


@settings(max_examples=drawn(60))
@given(instances().flatmap(allocations))
def test_pareto_witnesses_hold_for_random_allocations(allocation):
    worst = max(1.0, allocation.load.max(), float((allocation.tasks / allocation.instance.max_tasks).max()))
    fitting = Allocation(allocation.instance, allocation.x / worst)
    verdict = check(fitting, "pareto")
    assert verdict.holds is not None
    if verdict.holds is False:
        recheck_pareto(fitting, verdict)


@pytest.mark.parametrize(("name", "given"), [("alpha-pf-vds", {"alpha": 1}), ("ps-dsf", {}), ("ps-dsf-tdm", {})])
def test_with_limits_several_answers_of_the_game_are_pareto_optimal(name, given):
    """User 3 may have its half task from either server."""
    instance = Instance([[1]] * 3, [[1], [1]], eligible=[[1, 0], [0, 1], [1, 1]], max_tasks=[None, None, "1/2"])
    for x in ([1, "1/2", 0, "1/2"], ["3/4", "3/4", "1/4", "1/4"]):
        allocation = Allocation(instance, [float(Fraction(v)) for v in x])
        assert check(allocation, mechanism(name, **given)).holds
        assert check(allocation, "pareto").holds


def test_a_tiny_negative_entry_frees_no_capacity():
    """u1's -1e-11 tasks on the small server leave 2e-8 of it to u2: rounding, yet more than the linear program tolerates."""
    instance = Instance([[1], [1]], [[1], ["1/2000"]], eligible=[[True, True], [False, True]])
    verdict = check(Allocation(instance, [1, -1e-11, 1 / 2000 + 1e-11]), "pareto")
    assert (verdict.holds, verdict.sentence) == (True, "Pareto optimal")


@pytest.mark.parametrize(("x", "holds"), [([1e11, 0, 0, 0], False), ([1e12, 1e-12, 0, 0], True)])
def test_servers_may_be_far_apart_in_size(x, holds):
    """In units of what the large server runs, a task takes 1e24 times the small one."""
    assert check(Allocation(Instance([[1], [2]], [[1e12], [1e-12]]), x), "pareto").holds is holds


def test_what_floating_point_cannot_solve_is_solved_in_rationals():
    """HiGHS drops the 1e-9 of its tasks that a user runs on small servers, and finds no allocation that leaves it all."""
    demands, small = [[2, 4], [1, 1], [4, 1], [2, 2], [1, 4]], [[6e-6, 4e-6], [15e-6, 10e-6], [2000, 3000], [2e-6, 1e-6]]
    instance = Instance(demands, small, counts=[2, 5, 1, 1])
    verdict = check(Allocation(instance, np.where(instance.arcs.user == 1, instance.arcs.gamma, 0.0)), "pareto")
    assert verdict.holds is True
    assert "rationals" in verdict.method


@pytest.mark.parametrize(("missing", "holds"), [(HIDDEN, True), (VISIBLE, False)])
def test_the_tolerance_is_that_of_floating_point_where_rationals_decide(monkeypatch, missing, holds):
    monkeypatch.setattr(checks, "maximum", lambda *program: maximum(*program) if program[-1] else None)
    assert check(on_wang([10 * (1 - missing), 0, 0, 10]), "pareto").holds is holds


def test_next_to_no_tasks_are_no_matter_on_many_arcs():
    """Rows in units of 1e-30 tasks would have entries that HiGHS refuses."""
    many = Instance([[1]] * 201, [[1]])
    assert check(Allocation(many, [1 / 200] * 200 + [1e-30]), "pareto").holds is True


def test_a_user_with_few_tasks_keeps_them_in_a_witness():
    verdict = check(Allocation(Instance([[1, 0, 0], [1, 1, 0], [1, 0, 1]], [[1, 0.5, 0.5]]), [1e-11, 0.4, 0.5]), "pareto")
    assert verdict.witness["user"] == "u2"
    assert verdict.witness["x"][0] >= 1e-11 * (1 - VISIBLE)


@settings(max_examples=drawn(30))
@given(instances())
def test_bargaining_is_pareto_optimal(instance):
    """On random instances, as far as the residual promises."""
    allocation = solve(instance.replace(weights=None), "nb")
    assert allocation.residual <= RESIDUAL
    assert check(allocation, "pareto", tolerance=BARGAINING).holds is True


# ---- definitions, instances, verdicts -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["drfh", "c-drfh", "nb", "ceei"])
def test_definitions_by_every_name(name):
    assert check(on_wang(BEST), name)
    fewer = check(on_wang([10 * (1 - 1e-4), 0, 0, 10]), name)
    assert fewer.holds is False
    assert 4e-5 < fewer.margin < 1e-3, "user 1 misses 1e-4, on average over both 5e-5; prices prove a little less well"
    assert fewer.sentence.startswith(f"not an allocation of {name}: its residual is ")
    more = check(on_wang([10 * (1 + VISIBLE), 0, 0, 10]), name)
    assert more.holds is False
    assert more.witness["server"] == "s1"


def test_drf_is_checked_on_the_pool():
    pool = pooled(WANG)
    assert check(Allocation(pool, [35 / 3, 35 / 3]), "drf")
    assert not check(Allocation(pool, [35 / 3, 35 / 3 - 0.01]), "drf")


def test_the_verdict_is_about_the_instance_of_the_allocation():
    """Another instance is another allocation."""
    half = WANG.replace(capacities=WANG.capacities / 2)
    assert check(on_wang(BEST), "feasibility")
    assert not check(dataclasses.replace(on_wang(BEST), instance=half), "feasibility")
    assert check(dataclasses.replace(Allocation(half, BEST), instance=WANG), "feasibility")


@pytest.mark.parametrize("name", PROPERTIES)
def test_no_point_never_passes(name):
    for bundles in (None, np.zeros((2, 2, 2))):
        verdict = check(on_wang([np.nan, 0, 0, 0], bundles=bundles), name)
        assert not verdict
        assert verdict.holds is not True


@pytest.mark.parametrize("name", BASIC)
def test_the_tolerance_is_obeyed(name):
    """One allocation, 1e-3 from each property, on both sides."""
    x = {"feasibility": [10.01, 0, 0, 10], "pareto": [9.99, 0, 0, 10]}.get(name, BEST)
    allocation = with_bundles(0.012 if name == "non-wastefulness" else 0.0, r=1, x=x)
    assert not check(allocation, name, tolerance=0.9e-3)
    assert check(allocation, name, tolerance=1.1e-3)


@pytest.mark.parametrize(("holds", "true"), [(True, True), (False, False), (None, False)])
def test_only_a_verdict_that_holds_is_true(holds, true):
    verdict = Verdict("feasibility", holds, 0.0, "sentence", "method")
    assert bool(verdict) is true
    assert verdict.witness == {}
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.holds = True


@settings(max_examples=drawn(60))
@given(instances().flatmap(allocations), st.sampled_from(list(PROPERTIES)))
def test_every_no_has_a_witness_and_every_verdict_a_sentence(allocation, name):
    verdict = check(allocation, name)
    assert verdict.property == name
    assert verdict.sentence
    assert verdict.method
    assert verdict.holds is not False or verdict.witness
    assert verdict.holds is not True or verdict.margin <= TOLERANCE


def test_a_property_of_ones_own_is_a_function():
    def serves_everybody(allocation):
        """Nobody runs less than one task."""
        return bool(allocation.tasks.min() >= 1)

    def balanced(h, tolerance):
        margin = max(h.tasks) - min(h.tasks)
        return Verdict("balanced", not margin > (0 if h.exact else tolerance), float(margin), "balanced or not", "by hand")

    assert check(on_wang(BEST), serves_everybody).holds is True
    poor = check(on_wang([1, 0, 0, 0.5]), serves_everybody)
    assert (poor.holds, poor.sentence) == (False, "serves_everybody does not hold")
    assert check(on_wang([1, 0, 0, 0.5]), balanced, tolerance=1).holds is True
    named = Property("fair", serves_everybody)
    assert check(on_wang(BEST), named).property == "fair"
    assert named.meaning == "Nobody runs less than one task."
    assert check_mechanism(WANG, "drfh", serves_everybody).holds is True


def test_a_mechanism_is_given_by_id_or_as_itself():
    assert check(on_wang(BEST), mechanism("drfh")).holds is True
    two = solve(example("wang-pool").instance, "fds", alpha=2)
    assert check(two, mechanism("fds").configure(alpha=2)).holds is True
    assert check(two, mechanism("fds").configure(alpha=9)).holds is False, "its own parameters, not those of the allocation"
    assert bool(certified_answer(WANG, mechanism("drfh"))) is True
    assert check_mechanism(WANG, mechanism("drfh"), "pareto").holds is True


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", PROPERTIES)
def test_of_tasks_out_of_the_range_of_numbers_nothing_holds(name, exact):
    """Tasks add up to inf: sharing incentives held with the margin -inf, and rationals failed with OverflowError."""
    instance = Instance([[1], [1]], [[1], [1]], groups={"a": [0], "b": [1]})
    verdict = check(Allocation(instance, [1e308] * 4), name, exact=exact)
    assert verdict.holds is (False if verdict.sentence.startswith("not feasible") else None)
    assert verdict.sentence.endswith("the tasks are out of the range of numbers")


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_handed_out_where_there_is_none_is_named(exact):
    """In floats the tasks were called out of the range of numbers."""
    instance, bundles = Instance([[1, 0], [1, 0]], [[1, 0]]), np.zeros((2, 1, 2))
    bundles[0, 0] = 0.5, 1
    verdict = check(Allocation(instance, [0.5, 0.5], bundles=bundles), "feasibility", exact=exact)
    assert verdict.sentence == "not feasible: server 's1' gives 1 of 'r2' and has 0"
    assert verdict.witness["resource"] == "r2"


@pytest.mark.parametrize("name", ["drfh", "mmf"])
def test_tasks_out_of_the_range_of_numbers_are_not_compared_in_rationals(name):
    """The residual failed with OverflowError."""
    verdict = check(Allocation(Instance([[1], [1]], [[1], [1]]), [1e308] * 4), name)
    assert verdict.holds is False
    assert verdict.sentence == "not feasible: the tasks are out of the range of numbers"


@pytest.mark.parametrize("exact", [True, False])
def test_linear_programs_of_properties_by_hand(exact):
    """Max z_1 + z_2 with z_1 + 2 z_2 <= 4 and 3 z_1 + z_2 <= 6 is 14/5 at (8/5, 6/5); one is unbounded, one has no point."""

    def array(rows):
        return np.vectorize(Fraction, otypes=[object])(rows) if exact else np.array(rows, dtype=float)

    found = maximum(array([1, 1]), array([[1, 2], [3, 1]]), array([4, 6]), exact)
    right = [Fraction(14, 5), Fraction(8, 5), Fraction(6, 5)]
    assert [found.value, *found.z] == (right if exact else pytest.approx([float(v) for v in right], rel=ROUNDING))
    assert maximum(array([1]), array([[-1]]), array([0]), exact) is None
    assert maximum(array([1]), array([[1]]), array([-1]), exact) is None


@pytest.mark.parametrize("exact", [False, True])
def test_who_runs_less_than_its_floor_is_named(exact):
    floors = Instance([[1], [1]], [[4]], min_tasks=[1, 0])
    for name in ("feasibility", "pareto"):
        verdict = check(Allocation(floors, [0.5, 3.5]), name, exact=exact)
        assert verdict.holds is False
        assert verdict.sentence == "not feasible: user 'u1' runs 0.5 tasks and has the floor 1"
    assert check(Allocation(floors, [0.5, 3.5]), "feasibility", exact=exact).margin == 0.5
    assert check(Allocation(floors, [1.0, 3.0]), "feasibility", exact=exact).margin == 0


def test_definitions_are_checked_without_dense_bundles(monkeypatch):
    """A network of 10^6 arcs, or 1,000 jobs with time of their own, has more of these than memory holds."""
    allocation = solve(generators.network(20, 30, 2), "nb")
    for dense in ("bundles", "demand"):
        monkeypatch.setattr(Holdings, dense, property(lambda h: pytest.fail("dense")))
    assert check(allocation, "nb").holds
    assert check(allocation, "pareto").holds
    assert check(dataclasses.replace(allocation, x=2 * allocation.x), "feasibility").margin == pytest.approx(1.0, abs=RESIDUAL)


@pytest.mark.parametrize(("tasks", "holds"), [([9000, 4], True), ([9000, 3], False)])
def test_weights_and_capacities_far_apart_leave_prices_to_judge_by(tasks, holds):
    """A task is paid 10^11 times less for a part of one server than for a part of the other."""
    apart = Instance([["1/3"], ["1/4"]], [[3000], [1]], weights=[2e7, 1], eligible=[[1, 0], [0, 1]])
    verdict = check(Allocation(apart, tasks), "utilitarian")
    assert verdict.holds is holds
    assert verdict.margin < 1


ONE = Instance([[1], [1]], [[10]], max_tasks=[None, 2], min_tasks=[0, 1])


@pytest.mark.parametrize(
    ("name", "x", "exact", "told"),
    [
        ("feasibility", [8.00002, 2], False, "server 's1' gives 10.00002 of 'r1' and has 10"),
        ("feasibility", [0, 2.000003], False, "user 'u2' runs 2.000003 tasks and has 2"),
        ("feasibility", [0, 0.999998], False, "user 'u2' runs 0.999998 tasks and has the floor 1"),
        ("pareto", [7.99999999, 2], True, "user 'u1' could run 8 tasks instead of 7.99999999 while nobody runs fewer"),
        ("sharing-incentive", [4.99999999, 2], True, "user 'u1' runs 4.99999999 tasks, and 5 with its part of every server"),
        ("market", [8, 1.999996], None, "user 'u2' runs 1.999996 tasks and could buy 2"),
    ],
)
def test_numbers_of_one_sentence_are_told_apart(name, x, exact, told):
    """With six digits a server gave 10 and had 10."""
    verdict = check(Allocation(ONE.replace(min_tasks=None) if name == "market" else ONE, x), name, exact=exact)
    assert verdict.holds is False
    assert told in verdict.sentence


def test_tasks_that_are_not_certified_are_told_apart_from_the_right_ones():
    why = certify(Allocation(ONE.replace(min_tasks=None), [7.999999, 2]), "drfh", tolerance=1e-9).reason
    assert why.startswith("user 'u1' runs 7.999999 tasks, but 8 in the exact answer")


@pytest.mark.parametrize(("free", "holds"), [(1e-12, True), (1e-10, True), (1e-8, False), (0.5, False)])
def test_rounding_is_not_all_the_tasks_of_who_has_none(free, holds):
    """With 2e-12 free answers of SCS had a residual of 1, for u2 could run as little and runs nothing."""
    pool = Instance([[1], [1]], [[1]], weights=[1, 1e-9])
    near = Allocation(pool, [1 - free, 0])
    assert check(near, "utilitarian").holds is holds
    assert bool(certify(near, "utilitarian")) is (free < 1e-6)  # by tasks, for no others are optimal
