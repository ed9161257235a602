"""NJC (D): the definition, the models, four methods against exact arithmetic, the whole solution set, the printed examples."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from profiles import drawn
from pyomo.contrib.solver.common.factory import SolverFactory
from tolerances import BARGAINING, EXACT, LEVELSET, RESIDUAL, ROUNDING, SHARES, TRAJECTORY

from fairalloc.analysis.certificates import NotCertified, certify, parse_certificate
from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.properties import check
from fairalloc.analysis.solution_sets import solution_set
from fairalloc.cli import main
from fairalloc.formulations import mechanism
from fairalloc.formulations.njc import OBJECTIVES, requests
from fairalloc.models import Allocation, FairallocError, Instance, InstanceError, NotApplicable, NotInstalled, UnknownName
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.models.files.jsonio import allocation_document
from fairalloc.solvers import METHODS as BY_ID
from fairalloc.solvers import judged, solve
from fairalloc.solvers.method import Limits, Session, Stopped
from fairalloc.solvers.njc.enumeration import enumerate_pieces
from fairalloc.solvers.njc.ode import TrajectoryEquations, trajectory
from fairalloc.solvers.njc.pieces import PieceProgram, exact_point_near

NJC = mechanism("njc")
METHODS = ("njc-market", "njc-ode", "njc-milp", "njc-enumeration")
ZERO, ONE = Fraction(0), Fraction(1)


def tasks(*values):
    return tuple(Fraction(v) for v in values)


def sized(seed, most=8):
    """An instance of the family `njc` with up to `most` users and resources, every pair of sizes sooner or later."""
    return generators.njc(1 + seed % most, 1, 1 + seed // most % most, seed)


def exactly_fair(allocation):
    """Whether the rationals of an allocation are NJC, by the definition in rationals, and its floats are their nearest."""
    if allocation.x_exact is None:
        return False
    d = requests(allocation.instance)
    x = [u / q for u, q in zip(allocation.x_exact, d.unit, strict=True)]
    return d.fair(x) and np.allclose(allocation.x, [float(u) for u in allocation.x_exact], rtol=ROUNDING)


# ---- the definition -------------------------------------------------------------------------------------------------


def test_the_residual_by_hand():
    """D Fig. 2, resource 1 full: every part of the definition shows by as much as it is missed."""
    instance = example("dolev-fig2").instance

    def residual(*x):
        return NJC.residual(Allocation(instance, x))

    assert residual(1 / 3, 1 / 3, 5 / 6) <= ROUNDING
    assert residual(1 / 3, 1 / 3, 5 / 6 - 0.025) == pytest.approx(0.03, rel=EXACT), "user 3 misses 0.01 of its third"
    assert residual(1 / 3 - 0.01, 1 / 3, 5 / 6 + 0.025) == pytest.approx(0.03, rel=EXACT), "full, but user 1 has too little of it"
    assert residual(1 / 3, 1 / 3, 0.1) == pytest.approx(1 - 3 * 0.04, rel=EXACT), "user 3 has 0.04 of the third that is its own"
    assert residual(1 / 3, 1 / 3, 5 / 6 + 0.25) == pytest.approx(0.1, rel=EXACT), "an overload"
    assert residual(0.4, 0.4, 0.5) == pytest.approx(0.4, rel=EXACT), "DRF leaves user 3 with 0.2 of the full resource"
    assert NJC.residual(Allocation(instance, [np.nan] * 3)) == np.inf


def test_nobody_complains_who_gets_all():
    instance = Instance([[1], [1]], [[1]], max_tasks=["1/10", 1])
    assert NJC.residual(Allocation(instance, [0.1, 0.9])) <= ROUNDING
    assert NJC.residual(Allocation(instance, [0.1, 0.8])) == pytest.approx(0.2, rel=EXACT), "user 2 lacks 0.2, and 0.1 is spare"
    assert NJC.residual(Allocation(instance, [0.099, 0.901])) == pytest.approx(0.01, rel=EXACT), "1 - x_1"


def test_no_limit_means_all_of_a_resource():
    unlimited = Instance([[1, 2], [2, 1]], [[4, 4]])
    assert requests(unlimited).unit == tasks(2, 2)
    for method in METHODS:
        assert exactly_fair(solve(unlimited, "njc", method))
    alone = solve(Instance([[1, 2]], [[4, 4]]), "njc")
    assert alone.tasks_exact == tasks(2)
    assert requests(unlimited.replace(max_tasks=[100, 1])).unit == tasks(2, 1), "more than there is cannot be granted"


def test_the_greedy_steps_of_d_3():
    """After (1, 2/3, 0) user 2 complains, after (3/4, 1, 0) neither user 1 nor 2 does; D's numbers."""
    d = requests(example("dolev-greedy").instance)
    first, second = tasks(1, "2/3", 0), tasks("3/4", 1, 0)
    assert d.bottlenecks(first) == {2}
    assert d.bottlenecks(second) == {1, 2}
    assert [x >= low for x, low in zip(first, d.lowest({2}), strict=True)] == [True, False, False]
    assert [x >= low for x, low in zip(second, d.lowest({1, 2}), strict=True)] == [True, True, False]
    assert not d.fair(second)


@settings(max_examples=drawn(60))
@given(st.integers(0, 10_000), st.randoms())
def test_the_residual_is_zero_exactly_at_fair_points(seed, random):
    """Against the definition in rationals, at random combinations of the vertices of pieces and beside them."""
    found = solution_set(sized(seed, 4), "njc")
    piece = random.choice(found.pieces)
    parts = [random.randint(0, 3) for _ in piece.vertices]
    parts[0] += 1
    inside = [
        sum(p * v[n] for p, v in zip(parts, piece.vertices, strict=True)) / Fraction(sum(parts)) for n in range(found.instance.N)
    ]
    d = requests(found.instance)
    assert d.fair([u / q for u, q in zip(inside, d.unit, strict=True)])
    assert NJC.residual(Allocation(found.instance, [float(u) for u in inside])) <= EXACT
    n, change = random.randrange(found.instance.N), Fraction(random.choice([-1, 1]), 50)
    beside = [u + (change * q if k == n else 0) for k, (u, q) in enumerate(zip(inside, d.unit, strict=True))]
    assume(beside[n] >= 0)
    fair = d.fair([u / q for u, q in zip(beside, d.unit, strict=True)])
    assert fair == found.contains(beside)
    assert fair == (NJC.residual(Allocation(found.instance, [float(u) for u in beside])) <= EXACT)


@pytest.mark.parametrize("seed", range(0, 400, 20))
def test_less_for_anybody_is_a_complaint(seed):
    """The checker fails: NJC allocations are Pareto optimal, so with a hundredth less for one user they are not NJC."""
    allocation = solve(sized(seed + seed // 8), "njc")
    for n in range(allocation.instance.N):
        x = np.array(allocation.x)
        x[n] *= 0.99
        assert NJC.residual(Allocation(allocation.instance, x)) >= 1e-4
    assert check(allocation, "pareto")


# ---- the models -----------------------------------------------------------------------------------------------------


def configured(objective, instance):
    target = {"target": [0.3] * instance.N} if objective == "closest" else {}
    return NJC.configure(objective=objective, **target)


def by_pyomo(model):
    SolverFactory("highs").solve(model)
    return pyo.value(model.objective)


@pytest.mark.few(6)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", [9, 27, 44])
def test_the_milp_in_both_layers_relaxed_or_not(objective, seed):
    """Four writings, one optimum, and it is the exact one."""
    instance = sized(seed, 6)
    item = configured(objective, instance)
    best = solve(instance, "njc", "njc-enumeration", **item.parameters)
    domain, d = best.instance, requests(best.instance)
    x = best.tasks / [float(q) for q in d.unit]
    expected = -best.values["distance"] if objective == "closest" else best.values[objective]
    for relaxed in (True, False):
        problem = item.cvxpy(domain, relaxed=relaxed)
        assert problem.solve(solver=cp.HIGHS) == pytest.approx(expected, abs=SHARES)
        assert NJC.residual(Allocation(domain, problem.var_dict["x"].value)) <= SHARES
        assert by_pyomo(item.pyomo(domain, relaxed=relaxed)) == pytest.approx(expected, abs=SHARES)
    given = [domain.resources[j] for j in d.bottlenecks([u / q for u, q in zip(best.x_exact, d.unit, strict=True)])]
    assert item.cvxpy(domain, bottlenecks=given).solve(solver=cp.HIGHS) == pytest.approx(expected, abs=SHARES)
    assert by_pyomo(item.pyomo(domain, bottlenecks=given)) == pytest.approx(expected, abs=SHARES)
    assert np.all(x <= 1 + ROUNDING)


def test_without_an_objective_the_models_ask_for_any_answer():
    circle = example("dolev-circle").instance
    problem, model = NJC.cvxpy(circle, model="milp"), NJC.pyomo(circle, model="milp")
    problem.solve(solver=cp.HIGHS)
    by_pyomo(model)
    for x in (problem.var_dict["x"].value, [v.value for v in model.x.values()]):
        assert NJC.residual(Allocation(circle, x)) <= EXACT
    assert {"x", "bottleneck", "justified", "satisfied"} == set(problem.var_dict)
    assert {c.label for c in problem.constraints} == {
        "capacity",
        "limit",
        "full_at_bottleneck",
        "justified_by_bottleneck",
        "one_justification",
        "share",
    }
    for part in (*problem.var_dict, *(c.label for c in problem.constraints)):
        assert hasattr(model, part)


def test_the_program_for_given_bottlenecks_can_be_infeasible():
    """D 5.5: in the circle one bottleneck is not enough; two are."""
    circle = example("dolev-circle").instance
    one, two = NJC.cvxpy(circle, bottlenecks=["r1"]), NJC.cvxpy(circle, bottlenecks=["r1", "r3"])
    one.solve(solver=cp.HIGHS)
    two.solve(solver=cp.HIGHS)
    assert (one.status, two.status) == ("infeasible", "optimal")
    assert {c.label for c in two.constraints} == {"capacity", "limit", "full", "share"}
    assert NJC.residual(Allocation(circle, two.var_dict["x"].value)) <= EXACT


def test_nobody_can_be_justified_where_all_ask_for_little():
    """No pairs at all: everybody is content, in every writing."""
    little = Instance([["1/5", "1/4"], ["1/4", 0]], [[1, 1]], max_tasks=[1, 1])
    problem, model = NJC.cvxpy(little, model="milp"), NJC.pyomo(little, model="milp")
    problem.solve(solver=cp.HIGHS)
    by_pyomo(model)
    np.testing.assert_allclose(problem.var_dict["x"].value, 1, rtol=EXACT)
    np.testing.assert_allclose([v.value for v in model.x.values()], 1, rtol=EXACT)
    for method in METHODS:
        assert solve(little, "njc", method).tasks_exact == tasks(1, 1)
    assert solution_set(little, "njc").vertices == (tasks(1, 1),)


def test_edit_the_milp():
    """Of all NJC allocations of the circle the one that is best for user 1: 1/2, a corner that D misses."""
    circle = example("dolev-circle").instance
    problem = NJC.cvxpy(circle, model="milp")
    x = problem.var_dict["x"]
    edited = cp.Problem(cp.Maximize(x[0]), [*problem.constraints, x[1] == x[2]])
    assert edited.solve(solver=cp.HIGHS) == pytest.approx(1 / 2, rel=EXACT)


def test_the_market_model_is_nb_of_the_pool():
    instance = generators.njc(6, 3, 4, 5)
    one, other = solve(instance, "njc", "cvxpy:clarabel"), solve(one_pool(instance), "nb", "pyomo:ipopt")
    np.testing.assert_allclose(one.tasks, other.tasks, rtol=TRAJECTORY)


def one_pool(instance):
    return NJC.domain(instance)


# ---- the methods ----------------------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("method", METHODS)
def test_500_answers_are_exactly_fair(method, part):
    for seed in range(50 * part, 50 * part + 50):
        instance = sized(seed)
        allocation = solve(instance, "njc", method)
        assert exactly_fair(allocation), (instance.name, allocation.termination, allocation.message)
        assert allocation.claims_success
        assert allocation.residual <= EXACT


@pytest.mark.deep
@pytest.mark.unmeasured
@pytest.mark.parametrize("part", range(5))
def test_50_large_answers_are_exactly_fair(part):
    """200 users, 20 resources."""
    for seed in range(10 * part, 10 * part + 10):
        instance = generators.njc(200, 1, 20, seed)
        for method in ("njc-market", "njc-milp"):
            assert exactly_fair(solve(instance, "njc", method)), (method, seed)


@pytest.mark.deep
def test_what_the_500_instances_contain():
    """Equal and unequal entitlements, zeros, ties, little users, dominated resources, users without a limit."""
    found = set()
    for seed in range(500):
        instance = sized(seed)
        d = requests(NJC.domain(instance))
        r = d.matrix()
        found |= {"zeros"} if (r == 0).any() else set()
        found |= {"equal" if len(set(d.entitlement)) == 1 else "unequal"}
        found |= {"little"} if any(max(p.values()) < e for p, e in zip(d.parts, d.entitlement, strict=True)) else set()
        found |= {"unlimited"} if np.isinf(instance.max_tasks).any() else set()
        found |= {"ties"} if len(np.unique(r[r > 0])) < (r > 0).sum() else set()
        dominated = instance.R > 1 and (r[:, -1] <= r[:, 0]).all() and (r[:, -1] < r[:, 0]).any()
        found |= {"dominated"} if dominated else set()
    assert found == {"zeros", "equal", "unequal", "little", "unlimited", "ties", "dominated"}
    assert {(sized(s).N, sized(s).R) for s in range(500)} == set(product(range(1, 9), range(1, 9)))


@pytest.mark.few(1)
@pytest.mark.parametrize("part", range(4))
def test_enumeration_milp_and_vertices_agree_on_the_best_utilisation(part):
    """100 instances, equal as rationals; the vertices are found without any linear program."""
    for seed in range(1000 + 25 * part, 1025 + 25 * part):
        instance = sized(seed, 5)
        values = set()
        for method in ("njc-enumeration", "njc-milp"):
            allocation = solve(instance, "njc", method, objective="utilisation")
            assert exactly_fair(allocation)
            d = requests(allocation.instance)
            values.add(sum(d.loads([u / q for u, q in zip(allocation.x_exact, d.unit, strict=True)])) / d.R)
        assert values == {solution_set(instance, "njc").best("utilisation").value}, instance.name


@pytest.mark.few(1)
@pytest.mark.parametrize("objective", ["sum", "min", "closest"])
def test_the_other_objectives_agree(objective):
    for seed in range(2000, 2020):
        instance = sized(seed, 5)
        item = configured(objective, instance)
        values = []
        for method in ("njc-enumeration", "njc-milp"):
            allocation = solve(instance, "njc", method, **item.parameters)
            assert exactly_fair(allocation)
            d = requests(allocation.instance)
            x, wish = [u / q for u, q in zip(allocation.x_exact, d.unit, strict=True)], item.wish(d)
            values.append(
                min(x) if objective == "min" else sum(abs(a - b) for a, b in zip(x, wish, strict=True)) if wish else sum(x)
            )
        assert values[0] == values[1], instance.name
        assert objective != "sum" or values[0] == solution_set(instance, "njc").best("sum").value


@pytest.mark.parametrize("method", ["cvxpy:highs", "pyomo:highs"])
def test_a_target_is_in_the_tasks_of_the_instance(method):
    """In other units the target would be another: it was, and answers were a tenth farther away."""
    for seed in (9, 27, 44):
        instance = generators.njc(4, 1, 3, seed).replace(max_tasks=[5, 7, None, 3], capacities=[[10, 20, 30]])
        one, best = (solve(instance, "njc", m, objective="closest", target=[1] * 4) for m in (method, "njc-enumeration"))
        assert one.values["distance"] == pytest.approx(best.values["distance"], abs=SHARES)


@pytest.mark.parametrize("seed", range(3000, 3030))
def test_pruning_loses_nothing(seed):
    """All sets with a point, against the vertices of every one of the 2^R polytopes."""
    domain = NJC.domain(sized(seed, 4))
    d = requests(domain)
    rows = [({i: part[j] for i, part in enumerate(d.parts) if j in part}, ONE) for j in range(d.R)]
    filled = {
        frozenset(chosen)
        for size in range(min(d.R, domain.N) + 1)
        for chosen in combinations(range(d.R), size)
        if polytope_vertices(d.lowest(chosen), [ONE] * domain.N, [rows[j] for j in chosen], rows)
    }
    found = dict(enumerate_pieces(NJC, d, (), Limits()))
    assert set(found) == filled
    assert all(d.fair(x) for x in found.values())


def test_enumeration_looks_at_few_sets():
    """Of 2^8 - 1 sets; the first that has a point ends the search."""
    instance = generators.njc(8, 1, 8, 8)
    assert solve(instance, "njc", "njc-enumeration").iterations < 40
    allocation = solve(instance, "njc", "njc-enumeration", trace=True, objective="sum")
    values = [event["objective"] for event in allocation.trace]
    assert values == sorted(values)


def test_time_is_obeyed_and_the_point_kept():
    for method in METHODS:
        stopped = solve(generators.njc(8, 1, 8, 1), "njc", method, time_limit=1e-9)
        assert stopped.termination == "time_limit"
        assert not stopped.claims_success


def test_a_trajectory_that_is_stopped_keeps_its_last_point():
    instance, times = generators.njc(8, 1, 8, 1), iter(range(10**6))
    stopped = BY_ID["njc-ode"].run(NJC, instance, Limits(deadline=100.0, clock=lambda: next(times)))
    assert stopped.termination == "time_limit"
    assert stopped.x.min() > 0
    assert (instance.arcs.load @ stopped.x).max() <= 1 + ROUNDING


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_early_point_without_tasks_is_no_warning():
    """CVXPY evaluates the objective there, a sum of logarithms."""
    early = BY_ID["njc-market"].run(NJC, generators.njc(8, 1, 8, 1), Limits(solver_options={"max_iter": 0}))
    assert early.termination != "optimal"


def test_an_interrupt_leaves_the_best_so_far(monkeypatch):
    def interrupted(*arguments):
        yield next(enumerate_pieces(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr("fairalloc.solvers.njc.enumeration.enumerate_pieces", interrupted)
    stopped = solve(sized(13), "njc", "njc-enumeration", objective="sum")
    assert (stopped.termination, stopped.has_point) == ("interrupted", True)


def test_a_solver_that_finds_no_point_is_not_believed():
    """There always is one; with these weights HiGHS' tolerances are larger than what user 1 is entitled to."""
    far = Instance([[0.1, 0.001], [3, 0.1]], [[1, 1]], weights=[1, 1e9], max_tasks=[0.1, 1])
    answer = solve(far, "njc", "njc-milp")
    assert answer.termination == "inaccurate"
    assert "no feasible point, but this mechanism has one" in answer.message


def test_a_method_that_cannot_choose_says_so():
    with pytest.raises(NotApplicable, match="njc-ode ends at one NJC allocation, so it takes no objective"):
        solve(example("dolev-circle").instance, "njc", "njc-ode", objective="sum")
    assert solve(example("dolev-circle").instance, "njc", objective="sum").method == "njc-milp"
    assert solve(example("dolev-circle").instance, "njc").method == "njc-market"


@pytest.mark.parametrize("delta", [1e-4, 1e-7, 1e-9])
def test_polishing_mends_what_is_off_by_little_and_nothing_else(delta):
    d = requests(example("dolev-greedy").instance)
    near = np.array([31 / 32, 5 / 8, 1 / 8]) + delta * np.array([1, -1, 1])
    found = exact_point_near(d, near, 1e-2, Limits())
    assert d.fair(found)
    assert np.abs([float(v) for v in found] - near).max() <= 10 * delta
    assert exact_point_near(d, np.array([0.5, 0.5, 0.5]), 1e-2, Limits()) is None
    for far in (0.006, 0.1):  # resources 2 and 3 are full here too, but user 3 has 2 and 27 % less than any fair point gives it
        assert exact_point_near(d, np.array([31 / 32, 5 / 8, 1 / 8]) + far * np.array([-7, 12, -4]) / 12, 1e-2, Limits()) is None


def test_bases_that_highs_gets_wrong_are_repaired():
    """From any basis, here that of another objective, the exact optimum is the same."""
    d = requests(example("dolev-segment").instance)
    piece = PieceProgram(d, {0, 1}, d.lowest({0, 1}), "sum")
    other = PieceProgram(d, {0, 1}, d.lowest({0, 1}), "utilisation")
    piece.__dict__["_solved"] = other._solved
    assert piece.best_point(Limits()) == tasks("1/2", "1/2", "1/2")


# ---- the market -----------------------------------------------------------------------------------------------------


@pytest.mark.few(10)
@pytest.mark.parametrize("seed", range(0, 120, 6))
def test_the_theorem_of_the_market(seed):
    """At the optimum prices sum to 1 with those of the limits, and nobody's shares at priced resources are all below e_i."""
    instance = NJC.canonical(NJC.domain(sized(seed + 3)))[0]
    allocation = solve(instance, "nb", "cvxpy:clarabel", accuracy="high")
    x, e = allocation.tasks, instance.weights
    p = allocation.prices.ravel()
    q = e / x - p @ instance.arcs.load  # what the limit x_i <= 1 costs
    assert p.sum() + q.sum() == pytest.approx(1, abs=BARGAINING)
    best = np.where(p[:, None] > SHARES, instance.arcs.load.toarray() * x, 0).max(axis=0)
    assert np.all(np.maximum(best, np.where(q > SHARES, x, 0)) >= e - SHARES)
    assert NJC.residual(allocation) <= TRAJECTORY


# ---- the trajectory -------------------------------------------------------------------------------------------------


def eased(seed):
    return requests(NJC.domain(sized(seed, 5)))


@pytest.mark.parametrize("seed", range(0, 50, 7))
def test_the_trajectory_fulfils_11_and_12(seed):
    d = eased(seed)
    way = trajectory(d, 1e-2)
    path = TrajectoryEquations(d, Limits())
    for t, x in zip(way.t[1:], way.x[1:], strict=True):
        s = path.slack(x)
        assert -np.log(s).sum() == pytest.approx(t, rel=LEVELSET)
        r = np.hstack([d.matrix(), np.eye(len(x))])
        lines = (x[:, None] * r / s).sum(axis=1) / path.e
        np.testing.assert_allclose(lines, path.scale(x), rtol=LEVELSET)


@pytest.mark.parametrize("seed", [5, 12, 33])
def test_the_velocity_is_the_derivative(seed):
    """Along the trajectory, by central differences of points found by integrating to t - h and t + h."""
    d, h = eased(seed), 1e-4
    way = trajectory(d, 1e-2)
    path, k = TrajectoryEquations(d, Limits()), len(way.t) // 2

    def around(step):  # one Runge-Kutta step
        f, x = path.velocity, way.x[k]
        a = f(0, x)
        b = f(0, x + step / 2 * a)
        c = f(0, x + step / 2 * b)
        return x + step / 6 * (a + 2 * b + 2 * c + f(0, x + step * c))

    slope = (around(h) - around(-h)) / (2 * h)
    np.testing.assert_allclose(slope, path.velocity(0, way.x[k]), rtol=LEVELSET, atol=LEVELSET)
    barrier = [-np.log(path.slack(around(step))).sum() for step in (-h, h)]
    assert (barrier[1] - barrier[0]) / (2 * h) == pytest.approx(1, rel=LEVELSET), "(11): f grows like t"


@pytest.mark.few(13)
@pytest.mark.parametrize("seed", range(0, 200, 9))
def test_the_trajectory_ends_at_the_market(seed):
    instance = sized(seed, 6)
    end, market = solve(instance, "njc", "njc-ode"), solve(instance, "njc", "njc-market")
    flat = "out of its reach" in end.message  # a bottleneck without a price: only to the root of the spare part
    np.testing.assert_allclose(end.tasks, market.tasks, rtol=RESIDUAL**0.5 if flat else TRAJECTORY)


def test_weights_in_the_barrier_do_not_change_the_limit():
    """D 5.5 expects that they do; the limit is the market's, (1/2, 1/2, 1/2)."""
    d = requests(example("dolev-segment").instance)
    for weighting in ([1, 1, 1, 1, 1], [1, 5, 1, 1, 1], [0.1, 7, 1, 3, 2]):
        way = trajectory(d, 1e-6, weighting=np.array(weighting, float))
        assert way.reached
        np.testing.assert_allclose(way.x[-1], 1 / 2, rtol=TRAJECTORY)


@pytest.mark.parametrize("accuracy", [1e-2, 1e-4, 1e-6])
def test_the_error_is_what_was_asked_for(accuracy):
    for name in ("dolev-fig2", "dolev-fig3", "dolev-greedy", "dolev-circle"):
        way = trajectory(requests(example(name).instance), accuracy)
        assert way.reached
        assert way.complaint == pytest.approx(accuracy, rel=0.1)
        assert NJC.residual(Allocation(example(name).instance, way.x[-1])) == pytest.approx(way.complaint, rel=EXACT)


def test_an_accuracy_out_of_reach_is_said():
    way = trajectory(requests(example("dolev-greedy").instance), 1e-16)
    assert not way.reached
    assert way.complaint > 1e-16
    assert way.message.endswith("1.0e-16 was asked for and is out of its reach")
    flat = solve(example("dolev-utilisation").instance, "njc", "njc-ode", accuracy="high")
    assert "1.0e-08 was asked for and is out of its reach" in flat.message
    assert flat.tasks_exact == tasks(1, "1/2"), "the polished answer is exact all the same"


def test_an_end_that_cannot_be_polished_is_not_claimed(monkeypatch):
    monkeypatch.setattr("fairalloc.solvers.njc.eisenberg_gale.exact_point_near", lambda *_: None)
    allocation = solve(example("dolev-greedy").instance, "njc", "njc-ode", accuracy="low")
    assert allocation.termination == "inaccurate"
    assert not allocation.claims_success
    assert "no exact NJC allocation was found near by" in allocation.message
    assert allocation.residual == pytest.approx(1e-3, rel=0.1), "the point is kept"


def test_a_fair_point_is_not_called_the_best_without_an_exact_one(monkeypatch):
    """The residual says that it is fair, which is all there is without an objective."""
    monkeypatch.setattr(PieceProgram, "best_point", lambda *_: None)
    best, fair = (solve(sized(13), "njc", "njc-milp", objective=objective) for objective in ("sum", None))
    assert (best.termination, fair.termination) == ("inaccurate", "optimal")
    assert max(best.residual, fair.residual) <= RESIDUAL


def test_the_trace_is_the_trajectory():
    allocation = solve(example("dolev-greedy").instance, "njc", "njc-ode", trace=True)
    assert allocation.trace[0] == {"t": 0.0, "x": (0.0, 0.0, 0.0)}
    assert [e["t"] for e in allocation.trace] == sorted(e["t"] for e in allocation.trace)


# ---- the whole set --------------------------------------------------------------------------------------------------


def test_the_segment_of_d_5_5():
    found = solution_set(example("dolev-segment").instance, "njc")
    (piece,) = found.pieces
    assert piece.vertices == (tasks("1/2", "1/2", "1/2"), tasks("7/10", "3/10", "3/10"))
    assert (piece.bottlenecks, piece.dimension) == ((0, 1), 1)
    for z in range(101):
        x = Fraction(z, 100)
        assert found.contains([x, 1 - x, 1 - x]) == (50 <= z <= 70)
    assert piece.equations == (({0: ONE, 2: ONE}, ONE), ({0: ONE, 1: ONE}, ONE))


def test_the_circle_of_d_5_5():
    """D prints the centre and six isolated points; they lie in six triangles that meet in the centre."""
    found = solution_set(example("dolev-circle").instance, "njc")
    centre, quarter, half = tasks(*["1/3"] * 4), Fraction(1, 4), Fraction(1, 2)
    peaks = [tuple(half if k == n else quarter for k in range(4)) for n in range(4)]
    triangles = {tuple(sorted([centre, a, b])) for a, b in combinations(peaks, 2)}
    assert {piece.vertices for piece in found.pieces} == triangles
    assert {piece.bottlenecks for piece in found.pieces} == set(combinations(range(4), 2))
    assert found.dimension == 2
    printed = [tuple(quarter if k in pair else Fraction(3, 8) for k in range(4)) for pair in combinations(range(4), 2)]
    for point in [centre, *printed]:
        assert found.contains(point)
    not_isolated = tasks("1/4", "1/4", "3/10", "9/20")
    assert found.contains(not_isolated)
    assert requests(found.instance).fair(not_isolated)
    assert found.best("utilisation").value == 1, "the centre fills all four, as D says"


def test_the_greedy_example_of_d_3():
    found = solution_set(example("dolev-greedy").instance, "njc")
    assert found.vertices == (tasks("31/32", "5/8", "1/8"), tasks("59/60", "3/5", "2/15"))
    assert found.dimension == 1
    for method in METHODS:
        assert found.contains(end := solve(found.instance, "njc", method).x_exact), method
        assert requests(found.instance).bottlenecks(end) >= {1, 2}


@pytest.mark.parametrize("seed", range(40))
def test_two_users_have_one_solution(seed):
    """D 5.3."""
    assert solution_set(generators.njc(2, 1, 1 + seed % 8, seed), "njc").is_single


@settings(max_examples=drawn(12))
@given(st.integers(0, 10_000))
def test_the_set_is_the_definition_on_a_grid(seed):
    """Every point of a grid that the family's fractions hit often: in the set iff fair by the definition."""
    instance = generators.njc(3, 1, 1 + seed % 4, seed)
    found = solution_set(instance, "njc")
    d, steps = requests(found.instance), 8
    for point in product(range(steps + 1), repeat=3):
        x = [Fraction(v, steps) for v in point]
        assert found.contains(d.tasks(x)) == d.fair(x)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", [11, 19, 38, 47])
def test_pieces_are_what_they_say(seed):
    """Rows, vertices, dimension and bottlenecks of a piece fit, none is within another, and up to 8 x 8 is not too much."""
    found = solution_set(generators.njc(8, 1, 8, seed), "njc")
    for k, piece in enumerate(found.pieces):
        assert all(piece.contains(v) for v in piece.vertices)
        assert len(piece.vertices) > piece.dimension
        middle = [sum(column) / len(piece.vertices) for column in zip(*piece.vertices, strict=True)]
        x = [u / q for u, q in zip(middle, requests(found.instance).unit, strict=True)]
        assert requests(found.instance).fair(x)
        assert set(piece.bottlenecks) <= requests(found.instance).bottlenecks(x)
        for other in found.pieces[:k] + found.pieces[k + 1 :]:
            assert not all(other.contains(v) for v in piece.vertices)
    for method in METHODS:
        assert found.contains(solve(found.instance, "njc", method).x_exact)


def test_the_set_does_not_depend_on_names_and_units():
    instance = generators.njc(4, 1, 4, 13)
    base = set(solution_set(instance, "njc").vertices)
    order = [2, 0, 3, 1]
    exact = instance.exact
    turned = Instance(
        [exact.demands[n] for n in order],
        instance.capacities,
        weights=[7 * exact.weights[n] for n in order],
        max_tasks=[exact.max_tasks[n] for n in order],
    )
    assert {tuple(v[order.index(n)] for n in range(4)) for v in solution_set(turned, "njc").vertices} == base
    units = [Fraction(3, 7), Fraction(1, 10**6), Fraction(5), Fraction(10**6)]
    other = instance.replace(
        demands=[[d * u for d, u in zip(row[0], units, strict=True)] for row in exact.demands],
        capacities=[[c * u / 3 for c, u in zip(exact.capacities[0], units, strict=True)]],
        counts=[3],
    )
    assert set(solution_set(other, "njc").vertices) == base


def test_vertices_of_a_cut_cube():
    third = [({0: ONE, 1: ONE, 2: ONE}, ONE)]
    assert len(polytope_vertices([ZERO] * 3, [ONE] * 3, [], [])) == 8
    assert sorted(polytope_vertices([ZERO] * 3, [ONE] * 3, third, [])) == [tasks(0, 0, 1), tasks(0, 1, 0), tasks(1, 0, 0)]
    assert len(polytope_vertices([ZERO] * 3, [ONE] * 3, [], [({0: ONE, 1: ONE, 2: ONE}, Fraction(3, 2))])) == 10
    assert polytope_vertices([ZERO] * 3, [ONE] * 3, third, [({0: -ONE}, Fraction(-2))]) == []


def test_too_large_for_all_solutions():
    with pytest.raises(NotApplicable, match="the instance has 11 users and 2 resources, but all solutions take at most 10"):
        solution_set(generators.njc(11, 1, 2), "njc")


# ---- D 4 and 5.1 ----------------------------------------------------------------------------------------------------


def test_utilisation_either_way():
    """D 4: Fig. 2 uses more under NJC, the counter-example with many middle resources more under DRF."""

    def mean(instance, name):
        x = solve(instance, name, "exact" if name == "drf" else None).x_exact
        return sum(requests(instance.replace(max_tasks=[1] * instance.N)).loads(x)) / instance.R

    first, second = example("dolev-fig2").instance, example("dolev-utilisation").instance
    assert (mean(first, "njc"), mean(first, "drf")) == (Fraction(9, 10), Fraction(39, 50))
    assert (mean(second, "njc"), mean(second, "drf")) == (Fraction(3, 4), Fraction(3, 4)), "with two middle resources they tie"
    wide = Instance([["1/2", *[0] * 98, 1], [1, *[1] * 98, 0]], [[1] * 100], max_tasks=[1, 1])
    assert (mean(wide, "njc"), mean(wide, "drf")) == (Fraction(51, 100), Fraction(201, 300))


def test_one_dominant_resource_is_drf_for_users_who_ask_for_their_entitlement():
    """D 4 says so for all users; a user who asks for less leaves the others a choice."""
    instance = Instance([[1, "1/2"], ["3/4", "1/4"], ["1/2", "1/2"]], [[1, 1]], max_tasks=[1, 1, 1], weights=[1, 2, 1])
    assert solution_set(instance, "njc").vertices == (solve(instance, "drf", "exact").x_exact,)
    little = Instance([["1/10"], [1], [1]], [[1]], max_tasks=[1, 1, 1])
    assert solution_set(little, "njc").vertices == (tasks(1, "1/3", "17/30"), tasks(1, "17/30", "1/3"))
    assert solve(little, "drf", "exact").x_exact == tasks(1, "9/20", "9/20")


def test_njc_does_not_imply_envy_freeness():
    """D 4 says it does: user 1 would rather have what user 2 has, of the only resource both use."""
    twins = Instance([[1, 0], [1, 0], [0, 1]], [[1, 1]], max_tasks=[1, 1, 1])
    assert solution_set(twins, "njc").contains(tasks("1/3", "2/3", 1))


@pytest.mark.parametrize("seed", range(0, 160, 5))
def test_users_who_ask_for_less_than_their_entitlement_get_it(seed):
    """D 5.1: they are content in every solution, and what is left without them has no other solutions."""
    domain = NJC.domain(generators.njc(5, 1, 4, seed))
    d = requests(domain)
    little = [n for n, part in enumerate(d.parts) if max(part.values()) < d.entitlement[n]]
    others = [n for n in range(domain.N) if n not in little]
    found = solution_set(domain, "njc")
    assert all(v[n] == d.unit[n] for v in found.vertices for n in little)
    left = [1 - load for load in d.loads([ONE if n in little else ZERO for n in range(domain.N)])]
    if not little or not others:
        return
    rest = Instance(
        [[d.parts[n].get(j, ZERO) for j in range(d.R)] for n in others],
        [left],
        weights=[d.entitlement[n] for n in others],
        max_tasks=[1] * len(others),
    )
    for v in solution_set(rest, "njc").vertices:
        x = dict(zip(others, v, strict=True)) | dict.fromkeys(little, ONE)
        assert d.fair([x[n] for n in range(domain.N)])


@pytest.mark.parametrize("seed", range(1, 60, 6))
def test_dominated_resources_may_be_removed(seed):
    """D 5.1, the third assumption: a solution without the dominated resource is one with it."""
    instance = generators.njc(4, 1, 3, seed)
    d = requests(NJC.domain(instance))
    full = {i: dict(part) for i, part in enumerate(d.parts)}
    for part in full.values():
        part[3] = part.get(0, ZERO) / 2
    rows = [[part.get(j, ZERO) for j in range(4)] for part in full.values()]
    both = Instance(rows, [[1] * 4], weights=d.entitlement, max_tasks=[1] * 4)
    without = Instance([row[:3] for row in rows], [[1] * 3], weights=d.entitlement, max_tasks=[1] * 4)
    assert all(solution_set(both, "njc").contains(v) for v in solution_set(without, "njc").vertices)


# ---- certificates ---------------------------------------------------------------------------------------------------


def changed(certificate):
    """The certificate with one number changed, each in turn."""
    for name in ("x", "part", "entitled"):
        values = getattr(certificate, name)
        for k, value in enumerate(values):
            for change in (Fraction(1, 10**9), -Fraction(1, 7)):
                yield replace(certificate, **{name: (*values[:k], value + change, *values[k + 1 :])})
    for k, j in enumerate(certificate.bottleneck):
        for other in {-1, j + 1, 0, len(certificate.part)} - {j}:
            yield replace(certificate, bottleneck=(*certificate.bottleneck[:k], other, *certificate.bottleneck[k + 1 :]))
    yield replace(certificate, x=certificate.x[:-1])
    yield replace(certificate, mechanism="drf")


@pytest.mark.parametrize("name", ["dolev-fig2", "dolev-utilisation", "dolev-greedy", "dolev-circle", "njc-1", "njc-2", "njc-9"])
def test_no_number_of_a_certificate_can_be_changed(name):
    instance = generators.njc(6, 2, 4, int(name[4:])) if name.startswith("njc") else example(name).instance
    certificate = certified_answer(instance, "njc")
    assert certificate.verify(instance)
    wrong = list(changed(certificate))
    assert len(wrong) > 6 * instance.N
    for other in wrong:
        assert other.verify(instance).holds is False
    assert certificate.verify(instance.replace(weights=[3, *[1] * (instance.N - 1)])).holds is False


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(0, 100, 4))
def test_answers_of_every_kind_are_certified(seed):
    instance = sized(seed)
    home = NJC.home(instance)
    for method in METHODS:
        allocation = solve(instance, "njc", method)
        exact = certify(allocation, "njc")
        assert exact.x == allocation.x_exact
        assert exact.verify(instance)
        rounded = certify(Allocation(home, allocation.x), "njc")
        assert rounded, rounded
        assert rounded.verify(instance)


def test_a_certificate_goes_through_json(capsys, tmp_path):
    assert main(["certify", "dolev-circle", "-m", "njc", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "justified"
    certificate = parse_certificate(document)
    assert certificate.verify(example("dolev-circle").instance)
    assert certificate.document() == document
    (tmp_path / "c.json").write_text(json.dumps(document))
    assert main(["verify", "dolev-circle", str(tmp_path / "c.json")]) == 0
    (tmp_path / "c.json").write_text(json.dumps(document).replace('"1/3"', '"1/4"'))
    assert main(["verify", "dolev-circle", str(tmp_path / "c.json")]) == 1


def test_what_is_not_fair_is_not_certified():
    instance = example("dolev-fig2").instance
    failure = certify(Allocation(instance, [0.4, 0.4, 0.5]), "njc")
    assert isinstance(failure, NotCertified)
    assert str(failure).startswith("njc: not certified: no NJC allocation was found within 1e-06 of it, and its residual is ")
    wrong = Allocation(instance, [0.4, 0.4, 0.5], x_exact=tasks("2/5", "2/5", "1/2"))
    assert "user 'u3' has a justified complaint" in str(certify(wrong, "njc"))
    assert isinstance(certify(Allocation(instance, [np.nan] * 3), "njc"), NotCertified)


def test_the_check_names_the_failure():
    instance = example("dolev-fig2").instance
    assert check(solve(instance, "njc"), "njc")
    verdict = check(Allocation(instance, [0.4, 0.4, 0.5]), "njc")
    assert verdict.holds is False
    assert verdict.margin == pytest.approx(0.4, rel=EXACT)


# ---- input and output -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"alpha": 2}, "mechanism 'njc' has no parameter 'alpha': it has objective and target"),
        ({"objective": "best"}, "objective is 'best', but it must be one of utilisation, sum, min, closest"),
        ({"objective": "closest"}, "objective is 'closest' and target is None, but 'closest' and target come together"),
        ({"target": [1, 1, 1]}, "objective is None and target is [1, 1, 1], but 'closest' and target come together"),
        ({"objective": "closest", "target": [1, 1]}, "target has 2 entries, but there are 3 users"),
        (
            {"objective": "closest", "target": "half"},
            "target is 'half', but it must be a list of tasks, one number for each user",
        ),
        ({"objective": "closest", "target": [1, -1, 1]}, "target has the entry -1, but it must not be negative"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises(FairallocError) as error:
        solve(example("dolev-fig2").instance, "njc", **parameters)
    assert str(error.value) == sentence


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_bad_details_get_a_sentence(layer):
    write = getattr(NJC, layer)
    with pytest.raises(UnknownName, match="there is no resource 'disk': the resources are r1, r2"):
        write(example("dolev-fig2").instance, bottlenecks=["disk"])
    with pytest.raises(InstanceError, match="model is 'lp', but it must be one of market, milp"):
        write(example("dolev-fig2").instance, model="lp")
    with pytest.raises(NotApplicable, match="resource 'r2' cannot be a bottleneck: nobody requests it"):
        write(Instance([[1, 0]], [[1, 1]]), bottlenecks="r2")
    with pytest.raises(NotApplicable, match="user 'u2'"):
        write(Instance([[1, 1], [[1, 0], [0, 1]]], [[1, 1]]))


def test_the_command_line(capsys):
    assert main(["solve", "dolev-segment", "-m", "njc", "--param", "objective=utilisation", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["method"] == "njc-milp"
    assert document["parameters"] == {"objective": "utilisation"}
    wish = ["--param", "objective=closest", "--param", "target=[0.6, 0.2, 0.2]"]
    assert main(["solve", "dolev-segment", "-m", "njc", *wish, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [user["tasks_exact"] for user in document["users"]] == ["7/10", "3/10", "3/10"]
    assert document["parameters"] == {"objective": "closest", "target": [0.6, 0.2, 0.2]}
    assert main(["solve", "dolev-segment", "-m", "njc"]) == 0
    assert "njc by njc-market, optimal" in capsys.readouterr().out
    assert main(["solve", "dolev-segment", "-m", "njc", "--param", "objective=most"]) == 2


def test_several_servers_are_one_pool():
    instance = generators.njc(5, 4, 3, 2)
    allocation = solve(instance, "njc")
    assert allocation.instance.K == 1
    assert allocation_document(judged(NJC, allocation))["residuals"]["definition"] <= EXACT
    with pytest.raises(NotApplicable, match="placement"):
        solve(instance.replace(eligible=[[0, 1, 1, 1], *[[1] * 4] * 4]), "njc")


def test_where_every_user_has_one_server_each_is_an_instance_of_its_own():
    """Alone, users 1 and 2 have an entitlement of 1/2 on their server; on a pool of all three (1/3, 2/3) would be fair too."""
    two = Instance([[1], [1], [1]], [[1], [1]], eligible=[[1, 0], [1, 0], [0, 1]])
    with pytest.raises(NotApplicable, match="each server is an instance of its own"):
        solve(two, "njc")
    alone, pool = Instance([[1], [1]], [[1]]), Instance([[1, 0], [1, 0], [0, 1]], [[1, 1]])
    assert NJC.residual(Allocation(alone, [1 / 3, 2 / 3])) == pytest.approx(1 / 3)
    assert NJC.residual(Allocation(pool, [1 / 3, 2 / 3, 1])) == pytest.approx(0, abs=EXACT)
    assert solve(alone, "njc").tasks_exact == (Fraction(1, 2), Fraction(1, 2))


def test_the_objective_is_kept_when_an_allocation_is_judged_again():
    allocation = solve(example("dolev-segment").instance, "njc", objective="sum")
    assert allocation.values == pytest.approx({"utilisation": 1.0, "sum": 1.5, "min": 0.5})
    with pytest.raises(Stopped):
        Limits(deadline=0).left  # noqa: B018 (raises)


# ---- pictures -------------------------------------------------------------------------------------------------------


def test_the_figures_of_d_are_redrawn():
    pytest.importorskip("matplotlib", reason="pip install fairalloc[plots]")
    from fairalloc.analysis.plots import solution_set as picture

    instance, ratios = example("dolev-fig3").instance, [(k, 10 - k) for k in range(1, 10)]
    axes = {
        3: picture(instance, solutions=False),
        4: picture(instance, levels=[12]),
        5: picture(example("dolev-fig5").instance, entitlements=ratios),
        6: picture(instance, levels=(0.5, 1, 2, 4, 8, 16), trajectory=True),
    }
    labels = {number: {line.get_label() for line in ax.get_lines()} for number, ax in axes.items()}
    for number in (3, 4, 6):
        assert {"r1 is full", "r2 is full", "r3 is full"} <= labels[number]
        corner = {tuple(np.round(p, 6)) for p in axes[number].patches[0].get_xy()}
        assert {(0, 0), (1, 0), (1, 0.5), (0.666667, 0.833333), (0, 1)} == corner, "D Fig. 3: r1 and r2 meet at (2/3, 5/6)"
    assert "trajectory (D 5.4)" in labels[6]
    assert "trajectory (D 5.4)" not in labels[3]
    (end,) = [line for line in axes[6].get_lines() if line.get_label() == "trajectory (D 5.4)"]
    np.testing.assert_allclose(end.get_xydata()[-1], [0.75, 0.75], rtol=TRAJECTORY)
    assert len(axes[6].texts) == 6
    assert len(axes[5].get_lines()) == 1 + 1 + 9, "the bound, the solution, and a ray for each ratio of entitlements"
    ends = np.array([line.get_xydata()[-1] for line in axes[5].get_lines()[2:]])
    for part, (x, y) in zip(np.arange(1, 10) / 10, ends, strict=True):
        ratio = min(max(part / (1 - part), 1 / 2), 2)  # beyond, one of the two gets all it asks for
        assert x / y == pytest.approx(ratio, rel=EXACT)


def test_level_sets_are_level():
    pytest.importorskip("matplotlib", reason="pip install fairalloc[plots]")
    from fairalloc.analysis.plots import solution_set as picture

    axes = picture(example("dolev-fig3").instance, levels=(2.0,))
    curve = next(line.get_xydata() for line in axes.get_lines() if len(line.get_xydata()) == 181)
    path = TrajectoryEquations(requests(example("dolev-fig3").instance), Limits())
    for point in curve:
        assert -np.log(path.slack(point)).sum() == pytest.approx(2, rel=LEVELSET)


@pytest.mark.parametrize("name", ["dolev-segment", "dolev-greedy"])
def test_three_users_in_space(name):
    pytest.importorskip("matplotlib", reason="pip install fairalloc[plots]")
    from fairalloc.analysis.plots import solution_set as picture

    axes = picture(example(name).instance, levels=(1, 2, 4, 8), trajectory=True)
    assert axes.name == "3d"
    assert len(axes.collections) == 1 + 4, "the polytope and four level sets"
    assert {line.get_label() for line in axes.get_lines()} == {"trajectory (D 5.4)", "no justified complaints"}


def test_pictures_have_two_or_three_axes():
    pytest.importorskip("matplotlib", reason="pip install fairalloc[plots]")
    from fairalloc.analysis.plots import solution_set as picture

    with pytest.raises(NotApplicable, match="the instance has 4 users, but a picture has two or three axes"):
        picture(example("dolev-circle").instance)


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_there_is_one_sentence():
    from fairalloc.analysis.plots import solution_set as picture

    with pytest.raises(NotInstalled, match=r"^figures need matplotlib: pip install fairalloc\[plots\]$"):
        picture(example("dolev-fig3").instance)


def test_iterations_that_highs_does_not_count_are_not_reported():
    """It says -1 four times of an integer program."""
    session = Session(NJC, example("dolev-fig2").instance, Limits())
    session.count(-4)
    assert session.iterations is None
    session.count(3)
    session.count(-1)
    assert session.iterations == 3
    assert (solve(session.instance, "njc", "njc-milp").iterations or 0) >= 0


@pytest.mark.parametrize(("seed", "density"), [(0, 1.0), (4, 1.0), (2, 0.5), (6, 0.5), (3, 0.9), (7, 0.9)])
def test_so_many_requests_are_positive(seed, density):
    demands = np.array([[float(value) for value in rows[0]] for rows in generators.njc(300, 1, 5, seed).demands])
    assert np.mean(demands[:, :4] > 0) == pytest.approx(density, abs=0.12)
