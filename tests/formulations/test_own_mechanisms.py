"""Mechanisms that are not in the package: own models, shares alone, edits of every round; and how they are judged."""

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import instances
from tolerances import EXACT, RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.formulations.common.optimality import optimality_of_cvxpy
from fairalloc.formulations.common.reading import read_off
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models import generators
from fairalloc.models.published import example

KHAMSE = example("khamse-fig1").instance  # drfh needs two rounds here


class MostTasks(Mechanism):
    """Linear, in CVXPY alone."""

    id = "most-tasks"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


class Spread(Mechanism):
    """Concave and not linear, in Pyomo alone."""

    id = "spread"

    def write_pyomo(self, instance):
        model = fa.pyomo_tasks(instance)
        model.goal = pyo.Objective(expr=sum(pyo.log(1 + x) for x in model.x.values()), sense=pyo.maximize)
        return model


class InCvxpy(Mechanism):
    """The same in CVXPY alone."""

    id = "spread-in-cvxpy"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(cp.log(1 + x))), constraints)


class Whole(Mechanism):
    """Integers."""

    id = "whole"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        whole = cp.Variable(x.shape, integer=True)
        return cp.Problem(cp.Maximize(cp.sum(x)), [*constraints, x == whole])


def capped_cvxpy(problem, instance):
    cap = (instance.arcs.owner[[3]] @ problem.var_dict["x"] <= 3).set_label("cap")
    return cp.Problem(problem.objective, [*problem.constraints, cap])


def capped_pyomo(model, instance):
    model.cap = pyo.Constraint(expr=sum(x for key, x in model.x.items() if key[0] == instance.users[3]) <= 3)


CAPPED = fa.mechanism("drfh").edited("capped", cvxpy=capped_cvxpy, pyomo=capped_pyomo)
METHODS = ("cvxpy:highs", "cvxpy:clarabel", "pyomo:highs", None)


@pytest.mark.parametrize("own", [MostTasks(), Spread(), InCvxpy()], ids=lambda m: m.id)
def test_an_own_mechanism_is_solved_and_judged_by_its_own_model(own):
    allocation = fa.solve(KHAMSE, own)
    assert allocation.claims_success
    assert not allocation.not_judged
    assert set(allocation.residuals) == {"feasibility", "optimality"}
    assert allocation.residual <= RESIDUAL
    assert allocation.values["objective"] > 0


def test_two_layers_of_one_program_agree():
    np.testing.assert_allclose(fa.solve(KHAMSE, Spread()).tasks, fa.solve(KHAMSE, InCvxpy()).tasks, rtol=SHARES)


def test_the_kind_of_a_model_is_read_off():
    assert read_off(MostTasks().cvxpy(KHAMSE)) == {"linear": True, "integer": False, "convex": True}
    assert read_off(InCvxpy().cvxpy(KHAMSE)) == {"linear": False, "integer": False, "convex": True}
    assert read_off(Spread().pyomo(KHAMSE))["linear"] is False
    assert read_off(Whole().cvxpy(KHAMSE))["integer"] is True
    assert read_off(fa.mechanism("drfh").pyomo(KHAMSE)) == {"linear": True, "integer": False, "convex": True}


def test_what_cannot_be_judged_says_so_and_never_looks_right(monkeypatch):
    monkeypatch.setattr("fairalloc.solvers.backends.cvxpy._bound", lambda *_: None)  # a solver that gives no bound
    allocation = fa.solve(KHAMSE, Whole())
    assert allocation.claims_success
    assert "not judged" in allocation.not_judged
    assert allocation.residual == np.inf
    assert np.allclose(allocation.x, np.round(allocation.x), atol=RESIDUAL)


@pytest.mark.parametrize("shift", [1e-3, -1e-3])
def test_the_optimality_conditions_see_a_wrong_point(shift):
    """Half a thousandth of a task moved, or a dual price changed: no longer optimal."""
    problem = InCvxpy().cvxpy(KHAMSE)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    assert optimality_of_cvxpy(problem) <= RESIDUAL
    x = problem.var_dict["x"]
    right = x.value.copy()
    x.value = right * (1 + shift * (np.arange(len(right)) % 2))
    assert optimality_of_cvxpy(problem) > 1e-4
    x.value = right
    capacity = next(c for c in problem.constraints if c.label == "capacity")
    capacity.save_dual_value(capacity.dual_value * (1 + shift))
    assert optimality_of_cvxpy(problem) > 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_an_edit_holds_in_every_round(method):
    """A cap on user 4 alone: the third user goes on in a later round, as with max_tasks."""
    allocation = fa.solve(KHAMSE, CAPPED, method)
    limited = fa.solve(KHAMSE.replace(max_tasks=[None, None, None, 3]), "drfh")
    np.testing.assert_allclose(allocation.tasks, limited.tasks, rtol=SHARES)
    assert allocation.claims_success
    assert allocation.residual <= RESIDUAL


@settings(max_examples=40, deadline=None)
@given(instances(), st.sampled_from(["drfh", "tsf", "lmmf"]), st.sampled_from(METHODS[:3]))
def test_an_edit_that_changes_nothing_gives_the_rule(instance, name, method):
    """The rounds by dual prices of "fairness" against the rounds by the bound (*): two unrelated tests of who is fixed."""
    try:
        expected = fa.solve(instance, name)
    except fa.FairallocError:
        return
    nothing = fa.mechanism(name).edited("nothing", cvxpy=lambda problem, _: problem, pyomo=lambda model, _: None)
    allocation = fa.solve(instance, nothing, method)
    if allocation.residual <= RESIDUAL:
        np.testing.assert_allclose(allocation.tasks, expected.tasks, rtol=1e-4)
    assert allocation.has_point


def test_an_edit_of_the_objective_makes_it_one_program():
    pool = example("wang-pool").instance
    greedy = fa.mechanism("drfh").edited(
        "greedy", cvxpy=lambda problem, _: cp.Problem(cp.Maximize(cp.sum(problem.var_dict["x"])), problem.constraints)
    )
    allocation = fa.solve(pool, greedy)
    assert allocation.values["objective"] == pytest.approx(fa.solve(pool, "utilitarian").values["objective"], rel=EXACT)
    assert allocation.residual <= RESIDUAL


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_an_infeasible_edit_names_the_constraints_that_conflict(layer):
    def in_cvxpy(problem, _):
        x = problem.var_dict["x"]
        much, little, harmless = (x[0] >= 2).set_label("much"), (x[0] <= 1).set_label("little"), (x[1] <= 1).set_label("harmless")
        return cp.Problem(problem.objective, [*problem.constraints, much, harmless, little])

    def in_pyomo(model, _):
        first, second = list(model.x.values())[:2]
        model.much, model.harmless = pyo.Constraint(expr=first >= 2), pyo.Constraint(expr=second <= 1)
        model.little = pyo.Constraint(expr=first <= 1)

    edit = {"cvxpy": in_cvxpy, "pyomo": in_pyomo}[layer]
    allocation = fa.solve(KHAMSE, fa.mechanism("drfh").edited("torn", **{layer: edit}))
    assert allocation.termination == "infeasible"
    assert not allocation.residual <= RESIDUAL
    assert "much, little" in allocation.message
    assert "harmless" not in allocation.message


def test_a_parameter_of_an_edit_is_changed_without_compiling_again(monkeypatch):
    most = cp.Parameter(value=3.0)

    def edit(problem, instance):
        return cp.Problem(problem.objective, [*problem.constraints, instance.arcs.owner[[3]] @ problem.var_dict["x"] <= most])

    edited = fa.mechanism("drfh").edited("parametric", cvxpy=edit)
    first = fa.solve(KHAMSE, edited, "cvxpy:clarabel")
    from cvxpy.reductions.solvers.solving_chain import SolvingChain

    monkeypatch.setattr(SolvingChain, "apply", lambda *_: pytest.fail("the model was compiled again"))
    for value, expected in ((2.0, [3, 3, 14, 2]), (1.0, [3, 3, 15, 1]), (3.0, first.tasks)):
        most.value = value
        np.testing.assert_allclose(fa.solve(KHAMSE, edited, "cvxpy:clarabel").tasks, expected, rtol=SHARES)


def test_an_allocation_is_checked_against_an_edit():
    allocation = fa.solve(KHAMSE, CAPPED)
    assert fa.check(allocation, CAPPED).holds is True
    assert fa.check(fa.solve(KHAMSE, "drfh"), CAPPED).holds is False
    assert fa.check(allocation, "drfh").holds is False
    less = fa.Allocation(KHAMSE, allocation.x * 0.99, "capped")
    assert fa.check(less, CAPPED).holds is False


def test_an_allocation_is_checked_against_an_own_program():
    best = fa.solve(KHAMSE, MostTasks())
    assert fa.check(best, MostTasks()).holds is True
    assert fa.check(fa.solve(KHAMSE, "drfh"), MostTasks()).holds is False
    assert fa.check(best, Whole()).holds is True, "28 tasks are the most, in whole numbers too"
    assert fa.check(fa.Allocation(KHAMSE, best.x * 0.99), Whole()).holds is not True


def heaviest(instance):
    return np.array([float(rows[0].max()) for rows in instance.demands])


def heaviest_exactly(instance):
    return tuple(max(rows[0]) for rows in instance.exact.demands)


def test_a_rule_from_its_share_alone():
    rule = fa.Leximin("heaviest", heaviest)
    allocation = fa.solve(KHAMSE, rule)
    assert allocation.residual <= RESIDUAL
    assert fa.check(allocation, rule).holds is True
    assert not fa.certify(KHAMSE, rule), "without an exact share nothing is certified"
    exact = fa.Leximin("heaviest", heaviest, exact_share=heaviest_exactly)
    np.testing.assert_allclose([float(u) for u in fa.solve(KHAMSE, exact, "exact").tasks_exact], allocation.tasks, rtol=SHARES)
    assert fa.certify(KHAMSE, exact)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ([1, 2], "shape (2,)"),
        ([0, 1, 1, 1], "is 0.0"),
        ([1, -1, 1, 1], "is -1.0"),
        ([np.nan] * 4, "is nan"),
        ([np.inf] * 4, "is inf"),
    ],
)
def test_a_share_that_is_none_is_refused_in_one_sentence(share, words):
    with pytest.raises(fa.FairallocError) as raised:
        fa.solve(KHAMSE, fa.Leximin("bad", lambda _: share))
    assert words in str(raised.value)
    assert "'bad'" in str(raised.value)


def test_bad_mechanisms_are_refused_in_one_sentence():
    class Nameless(Mechanism):
        def write_cvxpy(self, instance):
            return MostTasks().write_cvxpy(instance)

    class Empty(Mechanism):
        id = "empty"

    class NoTasks(Mechanism):
        id = "no-tasks"

        def write_cvxpy(self, instance):
            return cp.Problem(cp.Maximize(-cp.square(cp.Variable(name="y"))))

    for item, words in ((Nameless(), "the id"), (Empty(), "no model")):
        with pytest.raises(fa.FairallocError) as raised:
            fa.solve(KHAMSE, item)
        assert words in str(raised.value)
    assert "no variable 'x'" in fa.solve(KHAMSE, NoTasks()).message
    for edit in (None, 3):
        with pytest.raises(fa.FairallocError):
            fa.mechanism("drfh").edited("bad", cvxpy=edit)
    broken = fa.mechanism("drfh").edited("broken", cvxpy=lambda problem, _: problem.var_dict["nothing"])
    with pytest.raises(fa.FairallocError, match="'broken' failed: KeyError"):
        fa.solve(KHAMSE, broken)
    with pytest.raises(fa.FairallocError, match=r"must return a cvxpy\.Problem"):
        fa.solve(KHAMSE, fa.mechanism("drfh").edited("none", cvxpy=lambda *_: None))


def test_generated_instances_agree_between_an_own_model_and_ours():
    """Utilitarian once more, as a stranger writes it."""
    for seed in range(20):
        instance = generators.placement(6, 3, 2, seed)
        instance = instance.replace(weights=None)
        ours, own = fa.solve(instance, "utilitarian"), fa.solve(instance, MostTasks())
        assert own.values["objective"] == pytest.approx(ours.values["objective"], rel=SHARES)
