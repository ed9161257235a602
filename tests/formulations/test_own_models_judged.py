"""Own models without derivatives, with cones and with integers: judged by a bound, and a changed answer is found out."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from tolerances import RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.formulations.common import conic
from fairalloc.formulations.common.conic import Bound, conic_bound
from fairalloc.formulations.common.kkt_residual import (
    gap_of_cvxpy,
    gap_of_pyomo,
    optimality_of_cvxpy,
    optimality_of_pyomo,
    violation_of_cvxpy,
)
from fairalloc.models.examples.published import example
from fairalloc.solvers import gap_of_given
from fairalloc.solvers.backends import cvxpy as backend
from fairalloc.solvers.backends.cvxpy import reference_bound
from fairalloc.solvers.method import Limits
from fairalloc.solvers.running import dispatch

KHAMSE = example("khamse-fig1").instance
SHIFT = 1e-2
SEEN = 1e-4
"""What the shift must change the residual to, at least."""
HAND = {"rel": 5e-4, "abs": ROUNDING}
"""Sizes are 1e-4 of the largest more than they are by hand, so that rounding in small ones does not count."""


def minima(instance, u, given):
    return cp.Problem(cp.Maximize(cp.min(u) + cp.minimum(u[0], 2)), [*given, cp.norm1(u) <= 20])


def logarithms(instance, u, given):
    return cp.Problem(cp.Maximize(cp.sum(cp.minimum(cp.log(1 + u), 2)) - cp.norm(u) / 10), given)


def fraction(instance, u, given):
    return cp.Problem(cp.Minimize(cp.quad_over_lin(u - 3, 1 + u[0]) + cp.max(u)), given)


def quadratic(instance, u, given):
    return cp.Problem(cp.Minimize(cp.sum_squares(u - 3) + cp.max(u)), given)


def second_order(instance, u, given):
    return cp.Problem(cp.Maximize(cp.sum(u)), [*given, cp.SOC(cp.Constant(8.0), u)])


def semidefinite(instance, u, given):
    matrix = cp.Variable((3, 3), PSD=True, name="matrix")
    return cp.Problem(cp.Maximize(cp.lambda_min(matrix) + cp.min(u)), [*given, cp.trace(matrix) <= 4, matrix[0, 1] == 1])


def powers(instance, u, given):
    return cp.Problem(cp.Maximize(cp.sum(cp.power(u, 0.3, approx=False)) + cp.min(u)), given)


def bounds(instance, u, given):
    return cp.Problem(cp.Maximize(cp.min(u) + cp.Variable(bounds=[-1, 2], name="more")), given)


def most(instance, u, given):
    """No constraint but the capacities, whose prices an allocation has."""
    return cp.Problem(cp.Maximize(cp.sum(u)), given)


def whole(instance, u, given):
    tasks = cp.Variable(instance.N, integer=True, nonneg=True, name="tasks")
    return cp.Problem(cp.Maximize(cp.sum(tasks) + cp.min(tasks)), [*given, tasks == u])


def chosen(instance, u, given):
    use = cp.Variable(instance.N, boolean=True, name="use")
    return cp.Problem(cp.Maximize(cp.sum(u) - 3 * use[0]), [*given, u <= 4 * use])


CONVEX = (minima, logarithms, fraction, quadratic, second_order, semidefinite, powers, bounds)
INTEGER = (whole, chosen)


class OwnModel(fa.Mechanism):
    """One of the functions above."""

    def __init__(self, write):
        self.id, self.write = write.__name__, write

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return self.write(instance, instance.arcs.owner @ x, constraints)


@pytest.mark.parametrize("method", ["cvxpy:clarabel", "cvxpy:scs"])
@pytest.mark.parametrize("write", CONVEX)
def test_a_model_without_derivatives_is_judged_by_its_dual_values(write, method):
    allocation = fa.solve(KHAMSE, OwnModel(write), method)
    assert not allocation.not_judged
    assert allocation.residuals["optimality"] <= RESIDUAL
    assert allocation.claims_success


@pytest.mark.parametrize("write", [minima, bounds])
def test_linear_ones_by_the_dual_values_of_highs(write):
    allocation = fa.solve(KHAMSE, OwnModel(write), "cvxpy:highs")
    assert allocation.residuals["optimality"] <= RESIDUAL
    assert not allocation.not_judged


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("shift", [SHIFT, -SHIFT])
@pytest.mark.parametrize("write", CONVEX)
def test_a_changed_answer_or_dual_value_is_found_out(write, shift):
    problem = OwnModel(write).cvxpy(KHAMSE)
    bound = reference_bound(problem, Limits("high"))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    assert gap_of_cvxpy(problem, bound) <= RESIDUAL
    right = {v.id: v.value.copy() for v in problem.variables()}
    for v in problem.variables():
        v.save_value(right[v.id] * (1 + shift))
    assert gap_of_cvxpy(problem, bound) > SEEN
    for v in problem.variables():
        v.save_value(right[v.id])
    assert gap_of_cvxpy(problem, bound._replace(value=bound.value - shift * bound.size)) > SEEN


@pytest.mark.parametrize("write", CONVEX)
def test_dual_values_never_prove_more_than_the_optimum(write):
    """Any dual values give a bound below the optimum or say that they prove none."""
    problem = OwnModel(write).cvxpy(KHAMSE)
    data, chain, _ = problem.get_problem_data(cp.CLARABEL, solver_opts={})
    raw = chain.solve_via_data(problem, data, False, False, {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12})
    x, y = np.array(raw.x), np.array(raw.z)
    best = conic_bound(data, x, y)
    assert best.lack <= RESIDUAL
    random = np.random.default_rng(0)
    for _ in range(60):
        other = y * (1 + 0.1 * random.normal(size=len(y))) + 0.01 * random.normal(size=len(y)) * random.integers(0, 2)
        found = conic_bound(data, x, other)
        assert found.lack > SEEN or found.value <= best.value + RESIDUAL * best.size


@pytest.mark.parametrize(
    ("outside", "inside", "beyond"),
    [
        (conic._outside_second_order, [5.0, 3.0, 4.0], [4.9, 3.0, 4.0]),
        (lambda y: conic._outside_semidefinite(y, upper=True), [1.0, np.sqrt(2), 1.0], [1.0, np.sqrt(2), 0.9]),
        (conic._outside_exponential, [-1.0, 0.0, np.exp(-1)], [-1.0, 0.0, np.exp(-1) - 0.1]),
        (conic._outside_exponential, [0.0, 1.0, 1.0], [0.0, 1.0, -0.1]),
        (conic._outside_exponential, [0.0, 1.0, 1.0], [0.5, 1.0, 1.0]),
        (lambda y: conic._outside_power(y, 0.5), [1.0, 1.0, 2.0], [1.0, 1.0, 2.1]),
        (lambda y: conic._outside_power(y, 0.3), [0.3, 0.7, -1.0], [0.3, -0.7, 0.0]),
    ],
)
def test_what_is_in_a_dual_cone(outside, inside, beyond):
    assert outside(np.array(inside)) <= 1e-12
    assert outside(np.array(beyond)) > 0.01


@pytest.mark.parametrize("write", INTEGER)
def test_integers_are_judged_by_the_bound_of_branch_and_bound(write):
    allocation = fa.solve(KHAMSE, OwnModel(write))
    assert not allocation.not_judged
    assert allocation.residuals["optimality"] <= RESIDUAL
    assert "by HiGHS' bound" in allocation.message


@pytest.mark.parametrize("write", INTEGER)
def test_a_changed_integer_answer_is_found_out(write):
    problem = OwnModel(write).cvxpy(KHAMSE)
    problem.solve(solver=cp.HIGHS)
    bound = Bound(-problem.value, 0.0, 0.0)
    assert gap_of_cvxpy(problem, bound) <= RESIDUAL
    right = {v.id: np.array(v.value) for v in problem.variables()}
    for v in problem.variables():
        v.save_value(right[v.id] * (1 - SHIFT))
    assert gap_of_cvxpy(problem, bound) > SEEN
    for v in problem.variables():  # a worse answer in integers
        v.save_value(np.zeros(v.shape))
    assert gap_of_cvxpy(problem, bound) > SEEN


def test_a_solver_without_dual_values_is_judged_by_those_of_another(monkeypatch):
    monkeypatch.setattr(backend, "DUALS", {"CLARABEL": backend.DUALS["CLARABEL"]})
    assert fa.solve(KHAMSE, OwnModel(logarithms), "cvxpy:scs").residuals["optimality"] <= RESIDUAL
    monkeypatch.setattr(backend, "SMALL", 1)
    allocation = fa.solve(KHAMSE, OwnModel(logarithms), "cvxpy:scs")
    assert "not judged" in allocation.not_judged
    assert "optimality" not in allocation.residuals


class InPyomo(fa.Mechanism):
    """With integers, bounds, a free level, or a kink, in Pyomo."""

    def __init__(self, kind):
        self.id, self.kind = kind, kind

    def write_pyomo(self, instance):
        model = fa.pyomo_tasks(instance)
        tasks = {u: sum(x for key, x in model.x.items() if key[0] == u) for u in instance.users}
        goal = sum(model.x.values())
        if self.kind == "integer":
            model.whole = pyo.Var(instance.users, domain=pyo.NonNegativeIntegers)
            model.same = pyo.Constraint(instance.users, rule=lambda m, u: m.whole[u] == tasks[u])
        if self.kind == "logarithms":
            goal = sum(pyo.log(1 + x) for x in model.x.values())
        if self.kind == "bounded":
            model.more = pyo.Var(bounds=(1, 2))
            goal = sum(pyo.log(1 + x) for x in model.x.values()) + model.more
        if self.kind == "level":
            model.g = pyo.Var()
            model.fair = pyo.Constraint(instance.users, rule=lambda m, u: tasks[u] >= m.g)
            goal = model.g
        model.goal = pyo.Objective(expr=goal, sense=pyo.maximize)
        return model


@pytest.mark.parametrize(
    ("kind", "method"),
    [("integer", "pyomo:highs"), ("bounded", "pyomo:ipopt"), ("level", "pyomo:ipopt"), ("level", "pyomo:highs")],
)
def test_models_of_pyomo_with_integers_bounds_and_levels(kind, method):
    allocation = fa.solve(KHAMSE, InPyomo(kind), method)
    assert not allocation.not_judged
    assert allocation.residuals["optimality"] <= RESIDUAL
    assert ("by HiGHS' bound" in allocation.message) == (kind == "integer")


def test_a_changed_integer_answer_of_pyomo_is_found_out():
    model = InPyomo("integer").write_pyomo(KHAMSE)
    pyo.SolverFactory("appsi_highs").solve(model)
    bound = float(pyo.value(model.goal))
    assert gap_of_pyomo(model, bound) <= RESIDUAL
    first = next(v for v in model.whole.values() if v.value > 1)
    first.set_value(first.value - SHIFT, skip_validation=True)
    assert gap_of_pyomo(model, bound) > SEEN
    for v in (*model.whole.values(), *model.x.values()):
        v.set_value(0)
    assert gap_of_pyomo(model, bound) > SEEN


@pytest.fixture
def solves(monkeypatch):
    """A list that grows with every solve."""
    done, answered = [], dispatch._answered
    monkeypatch.setattr(dispatch, "_answered", lambda *given: done.append(given) or answered(*given))
    gap_of_given._KEPT.clear()
    return done


def test_the_prices_of_an_allocation_judge_it_without_a_solve(solves):
    best = fa.solve(KHAMSE, OwnModel(most))
    solves.clear()
    assert fa.check(best, OwnModel(most)).holds is True
    assert not solves
    assert "own prices" in fa.check(best, OwnModel(most)).method
    assert fa.check(replace(best, prices=best.prices * 2), OwnModel(most)).holds is True, "by comparison"
    assert len(solves) == 1
    assert fa.check(replace(best, x=best.x * (1 - SHIFT)), OwnModel(most)).holds is False


def cap(problem, instance):
    return cp.Problem(problem.objective, [*problem.constraints, instance.arcs.owner[[3]] @ problem.var_dict["x"] <= 3])


EDITS = [fa.mechanism(name).edited(f"capped-{name}", cvxpy=cap) for name in ("drfh", "drf-per-server")]
MODELS = [OwnModel(minima), OwnModel(whole), *EDITS, InPyomo("logarithms")]


@pytest.mark.parametrize("own", MODELS, ids=lambda m: m.id)
def test_given_allocations_are_compared_with_one_answer(own, solves):
    """One solve for the first, none for the others; a changed one is found out."""
    right = fa.solve(KHAMSE, own).x
    solves.clear()
    verdict = fa.check(fa.Allocation(KHAMSE, right), own)
    assert verdict.holds is True
    assert "solved once" in verdict.method
    assert len(solves) == 1
    assert fa.check(fa.Allocation(KHAMSE, right * (1 - 5 * SHIFT)), own).holds is False
    assert fa.check(fa.Allocation(KHAMSE, right * (1 + SHIFT)), own).holds is False
    assert len(solves) == 1


@pytest.mark.parametrize("name", ["mmf", "utilitarian", "nb", "alpha-fair"])
def test_the_answer_with_which_an_allocation_is_compared_is_not_taken_for_it(name, solves):
    """An edited model is one object: solving it for the comparison left the right tasks where the given ones had been."""
    rule, wrong = fa.mechanism(name), fa.Allocation(KHAMSE, fa.solve(KHAMSE, name).x * 0.5)
    assert fa.check(wrong, rule.edited("capped", cvxpy=cap)).holds is False
    with_floors = fa.Allocation(KHAMSE.replace(min_tasks=[0, 0, 0, "1/8"]), wrong.x)
    assert fa.check(with_floors, name).holds is False


@pytest.mark.parametrize("name", ["mmf", "drfh-lp"])
def test_tasks_that_differ_by_orders_of_magnitude_are_allowed_by_their_model(name):
    """The level at given tasks came from an interior-point method, which moved them by more than a thousandth."""
    edited = fa.mechanism(name).edited("same", cvxpy=lambda problem, _: cp.Problem(problem.objective, problem.constraints))
    apart = fa.Instance([[1, 2], [2, 1]], [[1, 1]], weights=[1, 10_000])
    found = fa.solve(apart, edited)
    assert fa.check(found, edited).holds is True
    assert fa.check(fa.Allocation(apart, found.x * [0.99, 1]), edited).holds is False


def test_a_solver_that_fails_does_not_show_that_a_model_refuses_tasks(monkeypatch):
    edited = fa.mechanism("mmf").edited("same", cvxpy=lambda problem, _: cp.Problem(problem.objective, problem.constraints))
    found = fa.solve(KHAMSE, edited)

    def fails(*_, **__):
        raise cp.SolverError("it failed")

    monkeypatch.setattr(cp.Problem, "get_problem_data", fails)
    verdict = fa.check(found, edited)
    assert (verdict.holds, "its solver cannot tell whether" in verdict.sentence) == (None, True)


def test_a_comparison_without_time_left_is_not_decided():
    edited = fa.mechanism("mmf").edited("late", cvxpy=cap)
    far, words = gap_of_given.distance(edited, fa.solve(KHAMSE, edited), Limits(deadline=0.0))
    assert (far, words) == (None, "not decided: the time was not enough")


def test_a_changed_parameter_is_another_model(solves):
    most = cp.Parameter(value=3.0)

    def edit(problem, instance):
        return cp.Problem(problem.objective, [*problem.constraints, instance.arcs.owner[[3]] @ problem.var_dict["x"] <= most])

    edited = fa.mechanism("drfh").edited("parametric", cvxpy=edit)
    first = fa.solve(KHAMSE, edited)
    assert fa.check(first, edited).holds is True
    most.value = 2.0
    assert fa.check(first, edited).holds is False
    assert fa.check(fa.solve(KHAMSE, edited), edited).holds is True


def test_another_constant_in_the_objective_is_another_model():
    answer = fa.solve(KHAMSE, "nb")
    for constant in (0, 5):

        def edit(problem, instance, constant=constant):
            return cp.Problem(cp.Maximize(problem.objective.expr + constant), problem.constraints)

        verdict = fa.check(fa.Allocation(KHAMSE, answer.x), fa.mechanism("nb").edited("shifted", cvxpy=edit))
        assert verdict.holds is True, constant


def test_a_model_of_pyomo_with_other_variables_is_judged():
    found = fa.solve(KHAMSE, InPyomo("level"))
    assert fa.check(fa.Allocation(KHAMSE, found.x), InPyomo("level")).holds is True
    assert fa.check(fa.Allocation(KHAMSE, 0.9 * found.x), InPyomo("level")).holds is False


def levels_of_cvxpy(instance):
    x, rows = fa.cvxpy_tasks(instance)
    g = cp.Variable(name="g")
    return cp.Problem(cp.Maximize(g), [*rows, cp.multiply(instance.max_tasks, instance.arcs.owner @ x) >= g])


def levels_of_pyomo(instance):
    model = fa.pyomo_tasks(instance)
    model.g = pyo.Var()
    model.fair = pyo.ConstraintList()
    for x, most in zip(model.x.values(), instance.max_tasks.tolist(), strict=True):
        model.fair.add(most * x >= model.g)
    model.goal = pyo.Objective(expr=model.g, sense=pyo.maximize)
    return model


@pytest.mark.parametrize("write", [{"write_cvxpy": levels_of_cvxpy}, {"write_pyomo": levels_of_pyomo}])
def test_levels_at_given_tasks_are_those_of_the_simplex_method(write):
    """Interior-point methods are off by 1e-6 and more where tasks differ by ten orders of magnitude."""
    own = type("Levels", (fa.Mechanism,), {"id": "levels", **{key: staticmethod(rule) for key, rule in write.items()}})()
    verdict = fa.check(fa.Allocation(fa.Instance([[1, 2], [2, 1]], [[1, 1]], max_tasks=[1e-3, 1e7]), [1e-3, 1e-13]), own)
    assert (verdict.holds, verdict.margin) == (True, pytest.approx(0, abs=1e-10))


def up_to_three(model, instance):
    model.cap = pyo.Constraint(expr=sum(x for (user, *_), x in model.x.items() if user == "u4") <= 3)


def near(model, instance):
    """No task is more than 5 from 4, by variables of its own."""
    model.away = pyo.Var(list(model.x), bounds=(0, 5))
    model.near = pyo.ConstraintList()
    for key, x in model.x.items():
        model.near.add(model.away[key] >= x - 4)
        model.near.add(model.away[key] >= 4 - x)


def in_a_ball(model, instance):
    model.ball = pyo.Constraint(expr=sum(x**2 for x in model.x.values()) <= 100)


def by_halves(model, instance):
    model.half = pyo.Var(domain=pyo.Integers, bounds=(0, 100))
    model.halves = pyo.Constraint(expr=model.x["u4", 0, "s2"] == model.half / 2)


@pytest.mark.parametrize("edit", [up_to_three, near, in_a_ball, by_halves])
@pytest.mark.parametrize("name", ["drfh", "lmmf", "mmf", "nb", "alpha-fair", "ps-dsf"])
def test_an_edit_in_pyomo_is_judged_by_its_model(name, edit):
    """Of all mechanisms but utilitarian and uniform no answer of an edit in Pyomo was judged, its own neither."""
    if (name, edit) in {(n, by_halves) for n in ("nb", "alpha-fair")} | {("ps-dsf", up_to_three), ("ps-dsf", in_a_ball)}:
        pytest.skip("no method, or no answer")
    mine = fa.mechanism(name).edited("mine", pyomo=edit)
    found = fa.solve(KHAMSE, mine)
    assert found.claims_success
    verdict = fa.check(found, mine)
    assert (verdict.holds, verdict.sentence) == (True, "this is an allocation of mine")
    assert fa.check(fa.Allocation(KHAMSE, 0.99 * found.x), mine).holds is False
    assert fa.check(fa.Allocation(KHAMSE, 1.01 * found.x), mine).holds is False


def test_an_infeasible_model_of_pyomo_leaves_no_point():
    def much(model, instance):
        model.much = pyo.Constraint(expr=sum(model.x.values()) >= 1000)

    allocation = fa.solve(KHAMSE, fa.mechanism("drfh").edited("much", pyomo=much), "pyomo:highs")
    assert allocation.termination == "infeasible"
    assert not allocation.has_point, "where the variables start is no answer"
    assert "much" in allocation.message


def cones(**sizes):
    """Dimensions as CVXPY names them, in its order of rows."""
    return SimpleNamespace(**{"zero": 0, "nonneg": 0, "soc": [], "psd": [], "exp": 0, "p3d": [], "pnd": []} | sizes)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_a_box_is_the_least_value_at_a_corner(seed):
    """Of the objective, linear at x, and the duals times A z - b: the function that weak duality bounds."""
    random = np.random.default_rng(seed)
    root, A, (b, y), (c, x) = (
        random.normal(size=(4, 4)),
        random.normal(size=(3, 4)),
        *(random.normal(size=(2, k)) for k in (3, 4)),
    )
    y[1:] = np.abs(y[1:])
    low, width = random.normal(size=4), random.uniform(0.1, 2, 4)
    P = root @ root.T if seed % 2 else np.zeros((4, 4))
    data = {
        "A": sp.csc_array(A),
        "b": b,
        "c": c,
        "dims": cones(zero=1, nonneg=2),
        "lower_bounds": low,
        "upper_bounds": low + width,
    }
    found = conic_bound(data | ({"P": P} if seed % 2 else {}), x, y)

    def value(z):
        return x @ P @ x / 2 + (P @ x) @ (z - x) + c @ z + y @ (A @ z - b)

    corners = [low + width * np.array(one) for one in itertools.product((0, 1), repeat=4)]
    assert found.value == pytest.approx(min(map(value, corners)), rel=ROUNDING)
    assert found.lack == 0.0
    assert found.size == pytest.approx(np.abs(b) @ np.abs(y) + np.abs(x) @ np.abs(c), rel=ROUNDING)


def test_what_a_bound_lacks_by_hand():
    """Min 2 x_1 - x_2 - x_3 with x_1 - x_2 - x_3 <= 1: r = (2 + y, -1 - y, -1 - y), and who has no bound there lacks it."""
    data = {"A": sp.csc_array([[1.0, -1.0, -1.0]]), "b": np.ones(1), "c": np.array([2.0, -1.0, -1.0]), "dims": cones(nonneg=1)}
    x, y = np.array([1.0, 2.0, 5.0]), np.array([3.0])
    for low, high, lack, value in (
        ([0, 0, 0], [9, 9, 9], 0, -3 - 36 - 36),
        ([-1, 0, 0], [9, np.inf, 9], 1, -3 - 5 - 36 - 2 * 4),
        ([-np.inf, 0, 0], [9, 9, 9], 1, -3 - 72 - 5),
        ([0, 0, 0], [9, 9, np.inf], 1, -3 - 36 - 5 * 4),
    ):
        found = conic_bound(data | {"lower_bounds": np.array(low, float), "upper_bounds": np.array(high, float)}, x, y)
        assert found.lack == pytest.approx(lack, **HAND)
        assert found.value == pytest.approx(value, rel=ROUNDING)
    assert conic_bound(data | {"c": np.array([-3.0, 3.0, 5.0])}, x, y).lack == pytest.approx(2 / 8, **HAND)
    small = data | {"A": sp.csc_array([[1.0, -1.0, -1e-9]]), "c": np.array([-3.0, 3.0, 0.0])}
    assert conic_bound(small, x, y).lack == pytest.approx(3e-9 / (3e-9 + 6e-4), rel=1e-6), "measured against the largest"


@pytest.mark.parametrize(
    ("outside", "y", "far"),
    [
        (conic._outside_second_order, [4.9, 3.0, 4.0], 0.1),
        (conic._outside_exponential, [-1.0, 0.0, np.exp(-1) - 0.1], 0.1),
        (conic._outside_exponential, [-1.0, 1.0, np.exp(-2) - 0.1], 0.1),
        (conic._outside_exponential, [-1.0, 1.0, 1.0], 0.0),
        (conic._outside_exponential, [-1.0, -10.0, 1.0], 10.0),
        (conic._outside_exponential, [-1e-3, 50.0, -0.2], 1e-3 + 0.199),
        (conic._outside_exponential, [0.5, 1.0, 1.0], 0.5),
        (conic._outside_exponential, [0.5, -2.0, -3.0], 3.0),
        (conic._outside_exponential, [0.5, -2.0, 1.0], 2.0),
        (lambda y: conic._outside_power(y, 0.5), [1.0, 1.0, 2.1], 0.1),
        (lambda y: conic._outside_power(y, 0.3), [0.6, 0.7, -1.5], 1.5 - 2**0.3),
        (lambda y: conic._outside_power(y, 0.3), [0.3, 1.4, 2.0], 2 - 2**0.7),
        (lambda y: conic._outside_power(y, 0.3), [0.3, -0.7, 0.0], 0.7),
        (lambda y: conic._outside_power(y, 0.3), [-0.4, 0.7, 0.0], 0.4),
    ],
)
def test_how_far_from_a_dual_cone_by_hand(outside, y, far):
    assert outside(np.array(y)) == pytest.approx(far, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_semidefinite_triangle_is_the_matrix(size):
    """Column by column, with what is not on the diagonal times the root of 2: so inner products are those of matrices."""
    random = np.random.default_rng(size)
    for shift in (-9, 0, 9):
        matrix = random.normal(size=(size, size))
        matrix += matrix.T + shift * np.eye(size)
        places = {
            True: [(i, j) for j in range(size) for i in range(j + 1)],
            False: [(i, j) for j in range(size) for i in range(j, size)],
        }
        for upper, where in places.items():
            y = np.array([matrix[at] * (1.0 if at[0] == at[1] else 2**0.5) for at in where])
            assert y @ y == pytest.approx((matrix**2).sum(), rel=ROUNDING)
            far = max(-np.linalg.eigvalsh(matrix)[0], 0.0)
            assert conic._outside_semidefinite(y, upper) == pytest.approx(far, rel=ROUNDING, abs=ROUNDING)


def test_each_block_of_duals_is_looked_at():
    """Two of each cone, all inside, then one number after the other outside: how far is the largest of all."""
    dims = cones(zero=1, nonneg=2, soc=[3, 3], psd=[2, 1], exp=2, p3d=[0.5, 0.25])
    inside = np.array([-7, 0, 1, 5, 3, 4, 5, 4, 3, 1, 0, 1, 1, -1, 0, 1, 0, 1, 1, 1, 1, 2, 1, 3, 0.0])
    assert conic._outside_dual_cones(dims, inside, True) <= ROUNDING
    for place, value, far in (
        (0, -99, 0), (1, -0.5, 0.5), (2, -0.25, 0.25), (3, 4, 1), (6, 4.5, 0.5), (9, -2, 2), (12, -3, 3), (15, 0, np.exp(-1)),
        (18, -1, 1), (19, -4, 4), (22, -2, 2), (24, 9, 9 - 4**0.25 * 4**0.75),
    ):  # fmt: skip
        outside = inside.copy()
        outside[place] = value
        assert conic._outside_dual_cones(dims, outside, True) == pytest.approx(far, rel=ROUNDING, abs=ROUNDING)
    for one, y, lack in ((dims, -inside, 5 / 7), (cones(nonneg=2), np.array([8.0, -2.0]), 2 / 8)):
        data = {"A": sp.csc_array((len(y), 1)), "b": np.zeros(len(y)), "c": np.zeros(1), "dims": one}
        assert conic_bound(data, np.ones(1), y).lack >= lack - ROUNDING
    assert conic_bound(data, np.ones(1), y).lack == pytest.approx(lack, rel=ROUNDING)


def one_row(layer, goal, row, x, dual):
    """The residual of max or min `goal` over x >= 0 and a free y with one row, at these values and this dual."""
    sense, slope = goal
    if layer == "cvxpy":
        v, w = cp.Variable(nonneg=True), cp.Variable()
        rows = [] if row is None else [row(v, w)]
        problem = cp.Problem((cp.Maximize if sense == "max" else cp.Minimize)(slope(v, w)), rows)
        v.save_value(x[0])
        w.save_value(x[1])
        for one in rows:
            one.save_dual_value(np.array(dual))
        return optimality_of_cvxpy(problem)
    m = pyo.ConcreteModel()
    m.v, m.w = pyo.Var(domain=pyo.NonNegativeReals, initialize=x[0]), pyo.Var(initialize=x[1])
    m.goal = pyo.Objective(expr=slope(m.v, m.w), sense=pyo.maximize if sense == "max" else pyo.minimize)
    if row is not None:
        m.row = pyo.Constraint(expr=row(m.v, m.w))
    return optimality_of_pyomo(m, {} if row is None else {m.row: dual})


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
@pytest.mark.parametrize(
    ("goal", "row", "x", "dual", "residual"),
    [
        (("max", lambda v, w: 3 * v), lambda v, w: v <= 5, (5, 0), 3, 0),
        (("max", lambda v, w: 3 * w), lambda v, w: w <= 5, (0, 5), 2, 1 / 5),
        (("min", lambda v, w: -3 * w), lambda v, w: w <= 5, (0, 5), 2, 1 / 5),
        (("max", lambda v, w: 3 * v), lambda v, w: v <= 5, (4, 0), 3, 1 / 4),
        (("max", lambda v, w: 3 * v + 0 * w), lambda v, w: v + w <= 5, (4, 0), 3, 1),
        (("max", lambda v, w: 3 * v), lambda v, w: v <= 5, (5, 0), 4, 1 / 3),
        (("min", lambda v, w: 2 * v - 3 * w), lambda v, w: w <= 5, (1, 4), 3, (3 * 1 + 1 * 2) / (1 * 2 + 4 * 3)),
        (("min", lambda v, w: (w - 3) ** 2), None, (0, 2), 0, 2 / (2 + 4)),
        (("max", lambda v, w: -((w - 3) ** 2)), None, (0, 2), 0, 2 / (2 + 4)),
        (("min", lambda v, w: (w - 3) ** 2), None, (0, 3), 0, 0),
        (("min", lambda v, w: 0 * v + 0 * w), lambda v, w: v + w == 7, (4, 1), 0, 2 / (5 + 7)),
        (("min", lambda v, w: w**4), None, (0, 1), 0, 4 / (4 + 12)),
        (("min", lambda v, w: 0 * v + 0 * w), lambda v, w: v + w <= 7, (5, 4), 0, 2 / (9 + 7)),
        (("max", lambda v, w: 3 * w - v), lambda v, w: v + w == 5, (0, 5), 3, 0),
        (("max", lambda v, w: 3 * w - v), lambda v, w: v + w == 5, (1, 4), 3, 4 * 1 / (1 + 4 * 3)),
    ],
)  # fmt: skip
def test_optimality_by_hand(layer, goal, row, x, dual, residual):
    """The largest of what is violated, of r beside the size of its terms, and of the gap; see the text of the module."""
    assert one_row(layer, goal, row, x, dual) == pytest.approx(residual, **HAND)


@pytest.mark.parametrize(
    ("goal", "value", "bounds", "row", "dual", "residual"),
    [
        (lambda v: 0 * v, 12.0, (None, None), (2, 10), 0.0, 2 / (12 + 10)),
        (lambda v: 0 * v, 0.5, (None, None), (2, 10), 0.0, 1.5 / (0.5 + 10)),
        (lambda v: v, 3.0, (None, None), (2, None), 1.0, 1 / 3),
        (lambda v: v, 3.0, (None, None), (2, 2), 1.0, 1 / (3 + 2)),
        (lambda v: v, 3.0, (None, None), (2, 30), 1.0, 1 / 3),
        (lambda v: -v, 3.0, (None, None), (2, 4.5), 1.0, 1.5 / 3),
        (lambda v: -3 * v, 4.0, (0, 5), None, None, 1 / 4),
        (lambda v: 3 * v, 2.0, (1, 5), None, None, 1 / 2),
        (lambda v: 0 * v, 6.0, (1, 5), None, None, 1 / 6),
        (lambda v: 0 * v, 0.25, (1, 5), None, None, 3.0),
    ],
)
def test_bounds_and_rows_of_pyomo_by_hand(goal, value, bounds, row, dual, residual):
    """Of one variable; a dual may have either sign, by the solver's convention."""
    m = pyo.ConcreteModel()
    m.v = pyo.Var(bounds=bounds, initialize=value)
    m.goal = pyo.Objective(expr=goal(m.v))
    m.rows = pyo.Constraint(range(0 if row is None else 1), rule=lambda m, _: (row[0], m.v, row[1]))
    for sign in (1, -1):
        duals = {} if row is None else {m.rows[0]: sign * dual}
        assert optimality_of_pyomo(m, duals) == pytest.approx(residual, **HAND)


def test_a_dual_of_the_wrong_sign_counts_beside_the_largest():
    """Max 3 v - w with v <= 5 and w <= 4 at both: a price of -1 for w would make it stationary."""
    m = pyo.ConcreteModel()
    m.v, m.w = pyo.Var(initialize=5.0), pyo.Var(initialize=4.0)
    m.goal = pyo.Objective(expr=3 * m.v - m.w, sense=pyo.maximize)
    m.first, m.second = pyo.Constraint(expr=m.v <= 5), pyo.Constraint(expr=m.w <= 4)
    assert optimality_of_pyomo(m, {m.first: 3.0, m.second: -1.0}) == pytest.approx(1 / 3, **HAND)
    v, w = cp.Variable(), cp.Variable()
    problem = cp.Problem(cp.Maximize(3 * v - w), [v <= 5, w <= 4])
    for variable, value, row, dual in zip((v, w), (5.0, 4.0), problem.constraints, (3.0, -1.0), strict=True):
        variable.save_value(value)
        row.save_dual_value(np.array(dual))
    assert optimality_of_cvxpy(problem) == pytest.approx(1 / 3, **HAND)


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_rounding_in_a_small_number_counts_beside_the_largest(layer):
    """A value of -1e-9 beside one of 5, and a violation of 1e-9 of a difference of two numbers of 1000."""
    goal = ("min", lambda v, w: 0 * v + 0 * w)
    small = one_row(layer, goal, None, (-1e-9, 5), 0)
    assert small == pytest.approx(1e-9 / (1e-9 + 5e-4), rel=1e-6)
    body = one_row(layer, goal, lambda v, w: v <= w, (1000 + 1e-6, 1000), 0)
    assert body == pytest.approx(1e-6 / 2000, rel=1e-3, abs=0)
    if layer == "pyomo":  # in CVXPY v and w are two variables
        assert one_row(layer, goal, lambda v, w: v <= 0, (1e-9, 1000), 0) == pytest.approx(1e-9 / 0.1, rel=1e-3, abs=0)


def test_the_gap_of_an_objective_of_0_is_absolute():
    assert one_row("cvxpy", ("min", lambda v, w: 0 * v + 0 * w), lambda v, w: w <= 5, (0, 4), 3) == pytest.approx(3, **HAND)


def test_violations_of_cvxpy_by_hand():
    """(5; 6, 8) is 5 / sqrt(2) from the cone |x| <= t, and 1e-9 is little beside 1000 in another entry."""
    x = cp.Variable(2)
    x.save_value(np.array([6.0, 8.0]))
    cone = cp.Problem(cp.Minimize(0), [cp.SOC(cp.Constant(5.0), x)])
    assert violation_of_cvxpy(cone) == pytest.approx(5 / 2**0.5 / 8, **HAND)
    x.save_value(np.array([1e-9, 1000.0]))
    rows = cp.Problem(cp.Minimize(0), [x <= np.array([0.0, 1000.0])])
    assert violation_of_cvxpy(rows) == pytest.approx(1e-9 / 0.3, rel=1e-3, abs=0)


@pytest.mark.parametrize(
    ("attributes", "value", "residual"),
    [
        ({"nonneg": True}, [4.0, -1.0], 1 / 4),
        ({"nonpos": True}, [-4.0, 1.0], 1 / 4),
        ({"integer": True}, [2.0, 2.5], 0.5 / 2.5),
        ({"boolean": True}, [1.25, 1.0], 0.25 / 1.25),
        ({"boolean": True}, [0.75, 1.0], 0.25),
        ({"bounds": [1, 3]}, [4.0, 2.0], 1 / 4),
        ({"bounds": [1, 3]}, [0.5, 2.0], 0.5 / 2),
        ({"integer": [(1,)]}, [2.5, 3.0], 0),
        ({"integer": [(1,)]}, [3.0, 2.5], 0.5 / 3),
        ({"boolean": [(0,)], "integer": [(1,)]}, [1.5, 4.0], 0.5 / 4),
    ],
)
def test_what_a_variable_of_cvxpy_is_declared_to_be(attributes, value, residual):
    x = cp.Variable(2, **attributes)
    x.save_value(np.array(value))
    assert gap_of_cvxpy(cp.Problem(cp.Minimize(0 * cp.sum(x))), Bound(0.0, 0.0, 0.0)) == pytest.approx(residual, **HAND)


@pytest.mark.parametrize(
    ("sense", "bound", "residual"),
    [
        (cp.Maximize, Bound(-5.0, 0.0, 0.0), 1 / 5),
        (cp.Maximize, Bound(-4.0, 0.3, 0.0), 0.3),
        (cp.Maximize, Bound(-5.0, 0.0, 1e5), 1 / (5 + 10)),
        (cp.Minimize, Bound(3.0, 0.0, 0.0), 1 / 4),
        (cp.Minimize, Bound(4.0, 0.0, 0.0), 0.0),
    ],
)
def test_the_gap_to_a_bound_by_hand(sense, bound, residual):
    """Of an objective that is 4; the row and the sizes of its sides are those of one that is violated."""
    x = cp.Variable(2)
    problem = cp.Problem(sense(x[0] + x[1]), [x[0] <= 5, x[1] <= 3])
    assert gap_of_cvxpy(problem, bound) == np.inf
    x.save_value(np.array([1.0, 3.0]))
    assert gap_of_cvxpy(problem, bound) == pytest.approx(residual, **HAND)
    x.save_value(np.array([0.0, 4.0]))
    assert gap_of_cvxpy(problem, bound) == pytest.approx(max(residual, 1 / (4 + 3)), **HAND)
    x.save_value(np.array([6.0, -2.0]))
    assert gap_of_cvxpy(problem, bound) == pytest.approx(max(residual, 1 / (6 + 5)), **HAND)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize={0: 1.0, 1: 3.0})
    m.goal = pyo.Objective(expr=m.x[0] + m.x[1])
    value = bound.value if sense is cp.Minimize else -bound.value
    assert gap_of_pyomo(m, value) == pytest.approx(abs(4 - value) / max(4, value), **HAND)


@pytest.mark.parametrize(
    ("domain", "value", "residual"),
    [
        (pyo.Integers, 2.0, 0),
        (pyo.Integers, 4.5, 1.5 / 5.5),
        (pyo.Integers, 0.25, 0.75 / 1.25),
        (pyo.Integers, 2.5, 0.5 / 3.5),
        (pyo.Reals, 2.5, 0),
        (pyo.Reals, 4.0, 1 / 5),
    ],
)
def test_what_a_variable_of_pyomo_is_declared_to_be(domain, value, residual):
    m = pyo.ConcreteModel()
    m.v, m.w = pyo.Var(domain=domain, bounds=(1, 3), initialize=value), pyo.Var(initialize=7.0)
    m.goal = pyo.Objective(expr=m.w)
    assert gap_of_pyomo(m, 7.0) == pytest.approx(residual, **HAND)
    m.row = pyo.Constraint(expr=m.w <= 6)
    assert gap_of_pyomo(m, 7.0) == pytest.approx(max(residual, 1 / 13), **HAND)
    assert gap_of_pyomo(m, np.inf) is None


def test_answers_of_models_are_kept_until_there_are_too_many(monkeypatch):
    asked, proved = [], fa.solve(KHAMSE, "nb")
    monkeypatch.setattr(gap_of_given, "KEPT", 2)
    monkeypatch.setattr(gap_of_given, "_KEPT", {})
    monkeypatch.setattr(gap_of_given, "solve", lambda *_, **limits: asked.append(limits["time_limit"]) or proved)

    def answer(content, limits=None):
        return gap_of_given._answer(content, fa.mechanism("nb"), KHAMSE, limits or Limits())

    assert [answer(content) for content in (b"1", b"2", b"2", b"3")] == [proved] * 4
    assert list(gap_of_given._KEPT) == [b"2", b"3"]
    assert asked == [np.inf] * 3
    answer(b"4", Limits(deadline=10.0, clock=lambda: 4.0))
    assert asked[3] == 6.0
    late = proved.noted(residuals={"definition": 1.1e-6}, message="it was late")
    monkeypatch.setattr(gap_of_given, "solve", lambda *_, **__: late)
    with pytest.raises(gap_of_given._Unanswered, match=r"not judged: no answer of 'nb' is known to be optimal \(it was late\)"):
        answer(b"5")
    assert b"5" not in gap_of_given._KEPT


def in_halves(instance):
    x, constraints = fa.cvxpy_tasks(instance)
    return cp.Problem(cp.Maximize(cp.sum(x) / 2), constraints)


def in_halves_of_pyomo(instance):
    model = fa.pyomo_tasks(instance)
    model.most = pyo.Objective(expr=sum(model.x.values()) / 2, sense=pyo.maximize)
    return model


@pytest.mark.parametrize("write", [{"write_cvxpy": in_halves}, {"write_pyomo": in_halves_of_pyomo}])
@pytest.mark.parametrize("name", ["objective", "tasks"])
def test_values_of_ones_own_need_not_be_the_objective(write, name, monkeypatch):
    written = {key: staticmethod(function) for key, function in write.items()}
    kind = type("Halves", (fa.Mechanism,), {"id": "halves", **written, "values": lambda _, one: {name: float(one.tasks.sum())}})
    instance = fa.Instance([[2, 1], [1, 2]], [[6, 6]])
    allocation = fa.solve(instance, kind())
    assert allocation.values[name] == pytest.approx(4)
    assert fa.check(allocation, kind()).holds
    assert fa.check(fa.Allocation(instance, [1, 1]), kind()).margin == pytest.approx(0.5)
    monkeypatch.setattr(gap_of_given, "_answer", lambda *_: fa.Allocation(instance, [3, 3]))
    assert fa.check(fa.Allocation(instance, allocation.x), kind()).holds is None, "its model does not allow this answer"


@pytest.mark.parametrize(("part", "residual"), [(True, None), (False, 0.0)])
def test_quotients_are_judged_where_the_divisor_is_constant(part, residual):
    """CVXPY takes each quotient for affine: the slope of x / (1 + x) was that of x in one entry, and 0 in the others."""
    x = cp.Variable(2, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum(x / (2 + x if part else 2.0))), [x <= 1])
    x.value = np.zeros(2)
    problem.constraints[0].save_dual_value(np.zeros(2))
    assert optimality_of_cvxpy(problem) == residual
