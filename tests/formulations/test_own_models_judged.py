"""Own models without derivatives, with cones and with integers: judged by a bound, and a changed answer is found out."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from tolerances import RESIDUAL

import fairalloc as fa
from fairalloc.formulations.common import conic
from fairalloc.formulations.common.conic import Bound, conic_bound
from fairalloc.formulations.common.kkt_residual import gap_of_cvxpy, gap_of_pyomo
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


MODELS = [OwnModel(minima), OwnModel(whole), fa.mechanism("drfh").edited("capped", cvxpy=cap), InPyomo("logarithms")]


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


def test_a_model_of_pyomo_with_other_variables_is_not_judged():
    verdict = fa.check(fa.Allocation(KHAMSE, fa.solve(KHAMSE, InPyomo("level")).x), InPyomo("level"))
    assert verdict.holds is None
    assert "besides the tasks" in verdict.sentence


def test_an_infeasible_model_of_pyomo_leaves_no_point():
    def much(model, instance):
        model.much = pyo.Constraint(expr=sum(model.x.values()) >= 1000)

    allocation = fa.solve(KHAMSE, fa.mechanism("drfh").edited("much", pyomo=much), "pyomo:highs")
    assert allocation.termination == "infeasible"
    assert not allocation.has_point, "where the variables start is no answer"
    assert "much" in allocation.message


def test_answers_of_models_are_kept_until_there_are_too_many(monkeypatch):
    asked, proved = [], fa.solve(KHAMSE, "nb")
    monkeypatch.setattr(gap_of_given, "KEPT", 2)
    monkeypatch.setattr(gap_of_given, "_KEPT", {})
    monkeypatch.setattr(gap_of_given, "solve", lambda *_, **limits: asked.append(limits["time_limit"]) or proved)

    def answer(content, limits=None):
        return gap_of_given._answer(content, fa.mechanism("nb"), KHAMSE, limits or Limits())

    assert [answer(content) for content in (b"1", b"2", b"2", b"3")] == [proved] * 4
    assert list(gap_of_given._KEPT) == [b"2", b"3"]
    assert asked == [None] * 3
    answer(b"4", Limits(deadline=10.0, clock=lambda: 4.0))
    assert asked[3] == 6.0
    late = proved.noted(residuals={"definition": 1.1e-6}, message="it was late")
    monkeypatch.setattr(gap_of_given, "solve", lambda *_, **__: late)
    assert answer(b"5") == "not judged: no answer of 'nb' is known to be optimal (it was late)"
    assert b"5" not in gap_of_given._KEPT
