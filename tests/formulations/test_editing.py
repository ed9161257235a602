"""A researcher edits a formulation: add a constraint, change the objective, look at a dual, solve, judge."""

import re
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from narrow import ALGORITHMS, JOBS
from pyomo.contrib.solver.common.factory import SolverFactory
from tolerances import EXACT, RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.analysis.properties import check
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.formulations.common.tasks import linear_rows, server_resources
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.lexicographic.linear_program import Round, pyomo_round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.errors import FairallocError, NotApplicable
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example
from fairalloc.solvers import residual, solve
from fairalloc.solvers.lexicographic.faces import next_face
from fairalloc.solvers.options import ACCURACY, allowed_user_error

WANG = example("wang-fig2").instance


def tasks_of(model, instance):
    return np.array([sum(v.value for key, v in model.x.items() if key[0] == user) for user in instance.users])


def test_add_a_constraint_in_cvxpy():
    """User 1 may run at most 4 tasks: W's level falls with it, and the edited answer is no longer DRFH."""
    problem = mechanism("drfh").cvxpy(WANG)
    x = problem.var_dict["x"]
    edited = cp.Problem(problem.objective, [*problem.constraints, WANG.arcs.owner[[0]] @ x <= 4])
    assert edited.solve(solver=cp.HIGHS) == pytest.approx(4 / 14, rel=EXACT)
    allocation = Allocation(WANG, x.value)
    assert allocation.tasks[0] == pytest.approx(4, rel=EXACT)
    assert residual(mechanism("drfh"), allocation) > 0.5


def test_change_the_objective_in_cvxpy():
    """Fair enough, then as many tasks as possible: keep 90 % of the level g = 5/7 and maximise the sum of tasks."""
    problem = mechanism("drfh").cvxpy(WANG)
    problem.solve(solver=cp.HIGHS)
    fairness = next(c for c in problem.constraints if c.label == "fairness")
    x, g = problem.var_dict["x"], problem.var_dict["g"]
    edited = cp.Problem(cp.Maximize(cp.sum(x)), [*problem.constraints, g == 0.9 * problem.value])
    assert edited.solve(solver=cp.HIGHS) == pytest.approx(20, rel=EXACT)
    assert fairness.dual_value is not None


def test_add_a_constraint_in_pyomo():
    model = mechanism("drfh").pyomo(WANG)
    model.cap = pyo.Constraint(expr=sum(v for key, v in model.x.items() if key[0] == "u1") <= 4)
    SolverFactory("highs").solve(model)
    assert pyo.value(model.g) == pytest.approx(4 / 14, rel=EXACT)
    assert tasks_of(model, WANG)[0] == pytest.approx(4, rel=EXACT)


@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - JOBS - ALGORITHMS))
def test_both_layers_name_their_parts_alike(name):
    instance = generators.generic(6, 3, 2, 1)
    limits = not isinstance(mechanism(name), Equilibrium) and name != "drf-per-server"  # which know none
    if limits:
        instance = instance.replace(max_tasks=[1, 2, 3, None, None, None])
    problem, model = mechanism(name).cvxpy(instance), mechanism(name).pyomo(instance)
    labels = {c.label for c in problem.constraints}
    assert {"capacity", *(["limit"] if limits else [])} <= labels
    for part in {*labels, *problem.var_dict}:
        assert hasattr(model, part), part


@pytest.mark.few(8)
@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - JOBS - ALGORITHMS))
def test_cvxpy_models_are_vectorised(name):
    """A handful of constraints whatever the size."""
    problem = mechanism(name).cvxpy(generators.generic(100, 20, 4))
    assert len(problem.constraints) <= (8 if mechanism(name).integer else 3)


def test_rounds_go_on_where_an_edit_writes_capacities_its_own_way():
    """The last row of capacities stands by itself, so that those of "capacity" are no prices."""

    def apart(problem, instance):
        capacity, *others = problem.constraints
        load = capacity.args[0]
        return cp.Problem(problem.objective, [(load[:-1] <= 1).set_label("capacity"), load[-1] <= 1, *others])

    instance = example("khamse-fig1").instance
    found = solve(instance, mechanism("drfh").edited("apart", cvxpy=apart))
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, solve(instance, "drfh").tasks, rtol=SHARES)


def test_a_later_round_can_be_looked_at():
    """Round 2 of K Fig. 1: users 1 and 2 are fixed at 1/5, the others reach 2/5; as inequalities and on the face alike."""
    instance, item = example("khamse-fig1").instance, mechanism("drfh")
    problem = item.cvxpy(instance)
    assert problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12) == pytest.approx(0.2, rel=EXACT)
    x = problem.var_dict["x"].value
    prices = np.zeros((instance.K, instance.R))
    prices.flat[:] = problem.constraints[0].dual_value
    second = replace(Round.first(instance), active=np.array([False, False, True, True]), level=np.array([0.2, 0.2, 0, 0]))
    on_face = next_face(instance, second, x, prices, 1e-7)
    assert on_face.on_face
    assert on_face.implied.sum() == 1, "the memory of server 1 is full, and implied by the two levels"
    assert on_face.closed.any(), "users 3 and 4 may not use what the others are stuck on"
    for now in (second, on_face):
        later = item.cvxpy(instance, round=now)
        assert later.solve(solver=cp.HIGHS) == pytest.approx(0.4, rel=1e-7)
        assert residual(item, Allocation(instance, later.var_dict["x"].value)) <= RESIDUAL
        model = item.pyomo(instance, round=now)
        SolverFactory("highs").solve(model)
        assert pyo.value(model.g) == pytest.approx(0.4, rel=1e-7)


ROWS_OF_ZEROS = {
    "no task on an arc": lambda x: x[3] <= 0,
    "a difference": lambda x: x[0] - x[1] == 0,
    "two sums": lambda x: (x[2] + x[4]) - (x[3] + x[5]) <= 0,
    "a cone": lambda x: cp.NonNeg(x[1] - x[0]),
}


@pytest.mark.parametrize("row", ROWS_OF_ZEROS)
@pytest.mark.parametrize("name", ["drfh", "nb", "mmf"])
def test_rounding_in_a_row_whose_terms_cancel_is_no_violation(name, row):
    """Violations were in parts of the two sides: right answers had a residual of 0.9999, and `check` refused them."""
    instance = example("khamse-fig1").instance

    def added(problem, _):
        return cp.Problem(problem.objective, [*problem.constraints, ROWS_OF_ZEROS[row](problem.var_dict["x"])])

    mine = mechanism(name).edited("mine", cvxpy=added)
    for method in ("cvxpy:clarabel", "cvxpy:scs"):
        found = solve(instance, mine, method)
        assert found.claims_success, method
        assert check(found, mine).holds, method
        assert not check(replace(found, x=1.01 * found.x), mine).holds, method


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_edits_of_mechanisms_for_groups_know_groups(layer):
    """They refused every instance with groups, and the rounds that nested-leximin loses were not named."""
    instance = example("khamse-fig1").instance.replace(groups={"a": ["u1", "u2"], "b": ["u3", "u4"]})
    same = {"cvxpy": lambda problem, _: problem, "pyomo": lambda model, _: None}[layer]
    found = solve(instance, mechanism("nested-nb").edited("same", **{layer: same}))
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, solve(instance, "nested-nb").tasks, rtol=SHARES)
    first = solve(instance, mechanism("nested-leximin").edited("same", **{layer: same}))
    assert first.claims_success
    assert "makes 'nested-leximin' one program without its later rounds" in first.message


def test_an_edit_in_pyomo_reads_its_numbers_each_time():
    """A factor that turned from 1 to -1 was an error about an edit in CVXPY, which there was none of."""
    factor = {"value": 1.0}

    def turned(model, _):
        model.objective.deactivate()
        model.mine = pyo.Objective(expr=factor["value"] * model.g, sense=pyo.maximize)

    mine, instance = mechanism("drfh").edited("turned", pyomo=turned), example("khamse-fig1").instance
    assert solve(instance, mine).values["g"] == pytest.approx(0.2, rel=EXACT)
    factor["value"] = -1.0
    assert "one program" in solve(instance, mine).message
    factor["value"] = 2.0
    np.testing.assert_allclose(solve(instance, mine).tasks, [3, 3, 8, 8], rtol=SHARES)


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_an_edit_is_read_each_time(name):
    """Numbers, constraints and parameters that an edit reads from outside: the first ones were kept, and the answer "optimal"."""
    outside = {"most": 0.5, "same": False, "parameter": cp.Parameter(value=9.0)}

    def capped(problem, _):
        x = problem.var_dict["x"]
        more = [x[0] == x[1]] * outside["same"]
        return cp.Problem(
            problem.objective, [*problem.constraints, x <= outside["most"], cp.sum(x) <= outside["parameter"], *more]
        )

    mine, instance = mechanism(name).edited("capped", cvxpy=capped), generators.generic(4, 2, 2, 1)
    assert solve(instance, mine).x.max() == pytest.approx(0.5)
    kept = mine.settled(instance)
    assert mine.settled(instance) is kept, "what is compiled serves again"
    outside["most"] = 0.25
    assert solve(instance, mine).x.max() == pytest.approx(0.25)
    outside["parameter"] = cp.Parameter(value=0.75)
    assert solve(instance, mine).x.sum() == pytest.approx(0.75)
    outside["same"] = True
    x = solve(instance, mine).x
    assert x[0] == pytest.approx(x[1])


def fourfold(model, _):
    model.share["u4"].set_value(4 * model.share["u4"].expr)


def dearer(model, _):
    row = model.capacity["s1", "cpu"]
    row.set_value(row.body + 5 * model.g <= 1)


@pytest.mark.parametrize("edit", [fourfold, dearer])
def test_what_is_changed_in_place_in_a_round_of_pyomo_is_seen(edit):
    """A share, and a capacity with the level in it: rounds of another rule were called optimal."""
    found = solve(example("khamse-fig1").instance, mechanism("drfh").edited("mine", pyomo=edit))
    assert "one program without its later rounds" in found.message


def other_bound(first):
    return lambda p, u: [u[3] == cp.Variable(bounds=[0, 3 if first else 5])]


def other_sign(first):
    return lambda p, u: [u[3] + cp.Variable(nonneg=first, nonpos=not first) == 3]


def other_variable(first):
    y, z = cp.Variable(), cp.Variable()
    return lambda p, u: [y == u[3], z == u[2], (y if first else z) <= 3]


def other_parameter(first):
    return lambda p, u: [u[n] <= most for n, most in zip([2, 3], p if first else p[::-1], strict=True)]


@pytest.mark.parametrize("change", [other_bound, other_sign, other_variable, other_parameter])
def test_an_edit_that_reads_alike_is_compiled_again(change):
    """Bounds and signs of variables, and which variable or parameter stands where: the first problem was solved twice."""
    parameters, first = (cp.Parameter(value=9), cp.Parameter(value=3)), [True]

    def edit(problem, instance):
        rows = change(first[0])(parameters, instance.arcs.owner @ problem.var_dict["x"])
        return cp.Problem(problem.objective, [*problem.constraints, *rows])

    mine, instance = mechanism("drfh").edited("mine", cvxpy=edit), example("khamse-fig1").instance
    for first[0] in (True, False):
        new = solve(instance, mechanism("drfh").edited("mine", cvxpy=edit)).tasks
        np.testing.assert_allclose(solve(instance, mine).tasks, new, rtol=SHARES)


def test_rounds_fix_nobody_by_what_an_interior_point_method_leaves_of_zero():
    """At the accuracy "low" prices of 1e-6 stopped users who rise by a sixth, and the answer was "optimal"."""
    demands = [[2, 3, 2], [0, 0.25, 1], [3, 2, 0.5], [0, 1, 0], [0.5, 1, 0.5], [0, 0, 0.25]]
    placement = [[1, 0, 1], [1, 0, 0], [1, 0, 1], [0, 0, 1], [1, 1, 1], [1, 0, 0]]
    limits, weights = [0.7, None, None, 0.7, None, None], [5, 2, 1, 2, 2, 2]
    capacities = [[10, 12, 12], [8, 12, 6], [8, 6, 12]]
    instance = Instance(demands, capacities, eligible=np.array(placement, bool), max_tasks=limits, weights=weights)

    def apart(model, _):
        x = list(model.x.values())
        model.apart = pyo.Constraint(expr=(x[6] + x[7] + x[8]) / 30 - x[9] / 48 <= 0.1)

    mine = mechanism("drfh").edited("apart", pyomo=apart)
    right = solve(instance, mine, "pyomo:highs").tasks
    np.testing.assert_allclose(
        solve(instance, mine, "pyomo:ipopt", accuracy="low").tasks, right, rtol=allowed_user_error(ACCURACY["low"])
    )


def one_of(values):
    return lambda problem, _: cp.Problem(
        problem.objective, [*problem.constraints, cp.constraints.FiniteSet(problem.var_dict["x"][0], values)]
    )


@pytest.mark.parametrize("name", ["drfh", "mmf", "utilitarian"])
def test_a_finite_set_is_integers(name):
    """Clarabel left it out: the tasks were not in the set, and the rounds were said to be kept."""
    instance = example("khamse-fig1").instance
    mine = mechanism(name).edited("mine", cvxpy=one_of([1.25, 2.25]))
    found = solve(instance, mine)
    assert (found.method, found.claims_success) == ("cvxpy:highs", True)
    assert found.x[0] == pytest.approx({"utilitarian": 1.25}.get(name, 2.25), rel=EXACT)
    assert check(found, mine).holds
    with pytest.raises(NotApplicable, match="its model has integers and is not linear"):
        solve(instance, mechanism("nb").edited("mine", cvxpy=one_of([1.25, 2.25])))


class InAnotherOrder(Mechanism):
    """sum_a a f(x_a), with the variables in another order than the arcs."""

    id = "in-another-order"

    def __init__(self, f=lambda v: v):
        self.f = f

    def write_pyomo(self, instance):
        keys, model = list(fa.pyomo_tasks(instance).x), pyo.ConcreteModel()
        model.x = pyo.Var(keys[::-1], domain=pyo.NonNegativeReals, initialize=1.0)
        x = [model.x[key] for key in keys]
        load = [row for row in linear_rows(instance.arcs.load, x) if row is not None]
        model.capacity = pyo.Constraint(range(len(load)), rule=lambda _, k: load[k] <= 1)
        model.goal = pyo.Objective(expr=sum(a * self.f(v) for a, v in enumerate(x)), sense=pyo.maximize)
        return model


@pytest.mark.parametrize("own", [InAnotherOrder(), InAnotherOrder(lambda v: pyo.log(1 + v))], ids=["linear", "logarithms"])
def test_tasks_of_a_model_in_pyomo_are_read_by_their_names(own):
    """They were read as they stand: the answer was called infeasible by 4."""
    instance = example("khamse-fig1").instance
    x = cp.Variable(instance.A, nonneg=True)
    goal = sum(a * (v if own.f(1) == 1 else cp.log(1 + v)) for a, v in enumerate(x))
    best = cp.Problem(cp.Maximize(goal), [instance.arcs.load @ x <= 1]).solve(solver=cp.CLARABEL)
    found = solve(instance, own)
    assert found.claims_success
    assert found.values["objective"] == pytest.approx(best, rel=1e-6)
    assert check(found, own).holds
    assert not check(replace(found, x=found.x[::-1]), own).holds
    assert solve(instance, own, "pyomo:ipopt", warm_start=found).claims_success


class Turned(Leximin):
    """drfh in Pyomo, with the variables in another order than the arcs."""

    def write_pyomo(self, instance, round=None):
        keys, model = list(fa.pyomo_tasks(instance).x), pyo.ConcreteModel()
        model.x = pyo.Var(keys[::-1], domain=pyo.NonNegativeReals, initialize=1.0)
        model.g = pyo.Var(domain=pyo.NonNegativeReals, initialize=0.0)
        x, shares = [model.x[key] for key in keys], np.diag(self.rate(instance)) @ instance.arcs.owner.toarray()
        rows = zip(server_resources(instance), linear_rows(instance.arcs.load, x), strict=True)
        load = {key: row for key, row in rows if row is not None}
        share = dict(zip(instance.users, linear_rows(sp.csr_array(shares), x), strict=True))
        model.share = pyo.Expression(instance.users, rule=lambda _, n: share[n])
        model.capacity = pyo.Constraint(list(load), rule=lambda _, *row: load[row] <= 1)
        model.fairness = pyo.Constraint(instance.users, rule=lambda m, n: m.share[n] >= m.g)
        model.objective = pyo.Objective(expr=model.g, sense=pyo.maximize)
        return pyomo_round(model, instance, round)


@pytest.mark.parametrize("method", [None, "pyomo:highs", "pyomo:ipopt"])
def test_rounds_of_a_rule_with_variables_in_another_order_are_those_of_the_rule(method):
    """HiGHS refused it, since its text was said to differ, and arcs were closed as they stand."""
    instance, rule = example("khamse-fig1").instance, mechanism("drfh")
    found = solve(instance, Turned("turned", share=rule.share, exact_share=rule.exact_share), method)
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, [3, 3, 8, 8], rtol=SHARES)


@pytest.mark.parametrize("kind", ["diag", "symmetric", "PSD"])
@pytest.mark.parametrize("name", ["drfh", "nb", "utilitarian"])
def test_variables_of_an_edit_may_be_matrices_of_any_kind(name, kind):
    """Values of diagonal ones are sparse matrices: the answer was "ValueError: The truth value of an array .. is ambiguous"."""

    def bounded(problem, _):
        x, y = problem.var_dict["x"], cp.Variable((2, 2), **{kind: True})
        return cp.Problem(problem.objective, [*problem.constraints, cp.sum(x[:2]) <= cp.trace(y), y <= 0.5, y >= -0.5])

    mine, instance = mechanism(name).edited("mine", cvxpy=bounded), example("khamse-fig1").instance
    found = solve(instance, mine)
    assert found.claims_success
    assert found.x[:2].sum() == pytest.approx(1.0, rel=SHARES)
    assert check(found, mine).holds


@pytest.mark.parametrize("name", ["ps-dsf", "njc"])
def test_an_edit_with_an_objective_of_its_own_is_not_compared_by_the_parameter(name):
    """Of its best answer the verdict was that nothing proves it the best by 'utilisation'."""

    def first(problem, _):
        return cp.Problem(cp.Maximize(problem.var_dict["x"][0]), problem.constraints)

    mine = mechanism(name).configure(objective="utilisation").edited("mine", cvxpy=first)
    instance = Instance([[1, "1/4"], ["1/4", 1], ["1/2", "1/2"]], [[3, 3]], max_tasks=[3, 3, 4])
    assert check(solve(instance, mine), mine).holds


def up_to(n, most):
    """Edits of both layers by which a user runs at most so many tasks."""

    def in_cvxpy(problem, instance):
        cap = instance.arcs.owner[[n]] @ problem.var_dict["x"] <= most
        return cp.Problem(problem.objective, [*problem.constraints, cap])

    def in_pyomo(model, instance):
        tasks = sum(x for (user, *_), x in model.x.items() if user == instance.users[n])
        model.add_component(f"up to {n}", pyo.Constraint(expr=tasks <= most))

    return {"cvxpy": in_cvxpy, "pyomo": in_pyomo}


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
@pytest.mark.parametrize("name", ["drfh", "lmmf", "nb"])
def test_an_edit_of_an_edit_is_both(name, layer):
    """Of rules only the first round was left, and nothing said so: u4 ran 1.87 tasks, and that was optimal."""
    first = mechanism(name).edited("first", **{layer: up_to(0, 1)[layer]})
    both, instance = first.edited("both", **{layer: up_to(3, 2)[layer]}), example("khamse-fig1").instance
    found = solve(instance, both)
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, [1, 9, 14, 2], rtol=SHARES)


def test_an_edit_of_an_edit_in_another_layer_is_of_none():
    both = mechanism("drfh").edited("first", cvxpy=up_to(0, 1)["cvxpy"]).edited("both", pyomo=up_to(3, 2)["pyomo"])
    with pytest.raises(FairallocError, match="the edit 'both' is of no layer in which 'drfh' is written"):
        solve(example("khamse-fig1").instance, both)


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
@pytest.mark.parametrize("name", ["drfh", "nb", "utilitarian", "mmf"])
def test_an_edit_keeps_the_floors_of_an_instance(name, layer):
    """u1 runs at least 2.5 tasks and u4 at most 3: edits refused the floors that their mechanisms keep."""
    instance = example("khamse-fig1").instance.replace(min_tasks=["5/2", 0, 0, 0])
    item, edit = mechanism(name), up_to(3, 3)[layer]
    found = solve(instance, item.edited("mine", **{layer: edit}))
    assert found.claims_success
    assert (found.tasks[0] >= 2.5 - RESIDUAL, found.tasks[3] <= 3 + RESIDUAL) == (True, True)
    x, phi = cp.Variable(instance.A, nonneg=True), instance.weights
    u = instance.arcs.owner @ x
    rows = [instance.arcs.load @ x <= 1, u[0] >= 2.5, u[3] <= 3]
    goals = {"nb": phi @ cp.log(u), "utilitarian": phi @ u, "mmf": cp.min(u)}
    if name in goals:
        best = cp.Problem(cp.Maximize(goals[name]), rows).solve(solver=cp.CLARABEL)
        assert found.values["objective"] == pytest.approx(best, rel=SHARES)
    else:
        np.testing.assert_allclose(found.tasks, [3, 3, 13, 3], rtol=SHARES)
    torn = solve(instance, item.edited("mine", **{layer: up_to(0, 2)[layer]}))
    assert torn.termination == "infeasible"
    assert "contradict" in torn.message


def test_an_edit_of_a_mechanism_without_floors_refuses_them():
    instance = example("khamse-fig1").instance.replace(min_tasks=[1, 0, 0, 0])
    with pytest.raises(NotApplicable, match="mechanism 'ps-dsf' knows no min_tasks, but user 'u1' has 1"):
        solve(instance, mechanism("ps-dsf").edited("mine", **up_to(3, 3)))


@pytest.mark.parametrize("name", ["nb", "fds", "alpha-fair"])
def test_an_edit_refuses_floors_that_leave_a_user_nothing_as_its_mechanism_does(name):
    """The answer was "inaccurate", with a residual of 1e7."""
    instance = Instance([[1], [4], [1]], [[1]], min_tasks=[0.8, 0.05, 0])
    with pytest.raises(NotApplicable) as refused:
        solve(instance, name)
    with pytest.raises(NotApplicable, match=re.escape(str(refused.value))):
        solve(instance, mechanism(name).edited("mine", **up_to(0, 3)))
