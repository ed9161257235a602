"""Edits that no solver can be right about: one sentence names the fault, and nothing is called optimal or infeasible."""

import warnings

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunction
from pyomo.mpec import Complementarity, complements
from pyomo.network import Arc, Port
from tolerances import RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.solvers.backends.pyomo import ipopt

KHAMSE = fa.example("khamse-fig1").instance


def added(*make):
    """An edit in CVXPY that adds constraints."""
    return {"cvxpy": lambda p, _: cp.Problem(p.objective, [*p.constraints, *(m(p.var_dict["x"]) for m in make)])}


def instead(make):
    """An edit in CVXPY with another objective."""
    return {"cvxpy": lambda p, _: cp.Problem(make(p.var_dict["x"]), p.constraints)}


def unset(model, _):
    model.p = pyo.Param(mutable=True)
    model.mine = pyo.Constraint(expr=sum(model.x.values()) <= model.p)


def nan_side(model, _):
    model.mine = pyo.Constraint(expr=sum(model.x.values()) <= float("nan"))


def nan_factor(model, _):
    model.mine = pyo.Constraint(expr=float("nan") * sum(model.x.values()) <= 1)


def inf_factor(model, _):
    model.mine = pyo.Constraint(expr=float("inf") * sum(model.x.values()) <= 1)


def nan_start(model, _):
    model.y = pyo.Var()
    model.y.set_value(float("nan"), skip_validation=True)
    model.mine = pyo.Constraint(expr=model.y == sum(model.x.values()))


def second_goal(model, _):
    model.mine = pyo.Objective(expr=sum(model.x.values()))


def either(model, _):
    model.mine = Disjunction(expr=[[model.x["u3", 0, "s1"] <= 0], [model.x["u3", 0, "s2"] <= 0]])


def complementary(model, _):
    model.mine = Complementarity(expr=complements(model.x["u3", 0, "s1"] >= 0, model.x["u3", 0, "s2"] >= 0))


def joined(model, _):
    model.p, model.q = Port(), Port()
    model.p.add(model.x["u3", 0, "s1"], "v")
    model.q.add(model.x["u3", 0, "s2"], "v")
    model.mine = Arc(source=model.p, dest=model.q)


def without_value(make):
    """An edit in Pyomo with the constraint that `make` gives for a parameter without a value."""

    def edit(model, _):
        model.p = pyo.Param(mutable=True)
        model.y = pyo.Var()
        model.mine = pyo.Constraint(expr=make(model))

    return {"pyomo": edit}


def in_its_bounds(model):
    model.y.setub(model.p)
    return model.x["u3", 0, "s1"] <= model.y


def fixed_at_nothing(model):
    model.y.fixed = True
    return model.x["u3", 0, "s1"] <= model.y


def fixed_below_its_least(model):
    model.y.domain = pyo.PositiveReals
    model.y.fix(0, skip_validation=True)
    return model.x["u3", 0, "s1"] <= model.y


def of_one_arc(make):
    return {"pyomo": lambda model, _: setattr(model, "mine", pyo.Constraint(expr=make(model.x["u3", 0, "s1"]) <= 3))}


def outside(model, _):
    model.function = pyo.ExternalFunction(lambda *x: 2 * x[0])
    model.mine = pyo.Constraint(expr=model.function(model.x["u3", 0, "s1"]) <= 1)


def asinh_of_a_number(model):
    model.y.fix(1.0)
    return model.x["u3", 0, "s1"] <= model.y + pyo.asinh(model.y - 1)


def endless(model, _):
    for goal in list(model.component_objects(pyo.Objective, active=True)):
        goal.deactivate()
    model.z = pyo.Var(domain=pyo.Integers)
    model.mine = pyo.Objective(expr=model.z, sense=pyo.maximize)


UNSOLVABLE = {
    "nan in a constraint": (added(lambda x: (x <= float("nan")).set_label("mine")), "nan in its constraint mine"),
    "inf in a constraint": (added(lambda x: (x <= float("inf")).set_label("mine")), "inf in its constraint mine"),
    "nan in a factor": (added(lambda x: (float("nan") * x <= 1).set_label("mine")), "nan in its constraint mine"),
    "nan in the objective": (instead(lambda x: cp.Maximize(cp.sum(x) * float("nan"))), "nan in its objective"),
    "no value": (added(lambda x: (x <= cp.Parameter(name="p")).set_label("mine")), "the parameter p in its constraint mine"),
    "two variables x": (added(lambda x: cp.Variable(x.size, name="x") <= 1), "it has 2 variables called 'x'"),
    "pyomo: nan on a side": ({"pyomo": nan_side}, "nan in its constraint mine"),
    "pyomo: nan in a factor": ({"pyomo": nan_factor}, "nan in its constraint mine"),
    "pyomo: inf in a factor": ({"pyomo": inf_factor}, "inf in its constraint mine"),
    "pyomo: nan at a start": ({"pyomo": nan_start}, "nan in its constraint mine"),
    "pyomo: no value": ({"pyomo": unset}, "the parameter p in its constraint mine has no value"),
    "pyomo: no value of a factor": (
        without_value(lambda m: m.p * m.y <= 1),
        "the parameter p in its constraint mine has no value",
    ),
    "pyomo: no bound": (without_value(in_its_bounds), "the parameter p in its bounds of y has no value"),
    "pyomo: fixed": (without_value(fixed_at_nothing), "the fixed variable y in its constraint mine has no value"),
    "pyomo: fixed outside": (
        without_value(fixed_below_its_least),
        "the variable y is fixed to 0, but it must be in PositiveReals",
    ),
    "pyomo: two objectives": ({"pyomo": second_goal}, "it has 2 objectives"),
    "pyomo: either": ({"pyomo": either}, "it has the Disjunction mine, which must be transformed"),
    "pyomo: joined": ({"pyomo": joined}, "it has the Arc mine, which must be transformed"),
    "pyomo: complementary": ({"pyomo": complementary}, "it has the Complementarity mine, which must be transformed"),
}


@pytest.mark.parametrize("name", ["drfh", "nb", "ps-dsf", "utilitarian"])
@pytest.mark.parametrize("edit", UNSOLVABLE)
def test_a_model_without_its_numbers_is_named(name, edit, caplog):
    """Ipopt dropped nan ("optimal"), HiGHS called ps-dsf infeasible, and Pyomo's own errors were tracebacks and printed."""
    given, words = UNSOLVABLE[edit]
    mine = fa.mechanism(name).edited("mine", **given)
    found = fa.solve(KHAMSE, mine)
    checked = fa.check(fa.solve(KHAMSE, name), mine)
    assert (checked.holds, words in checked.sentence) == (None, True)
    assert found.termination == "error"
    assert not found.has_point
    assert "the model of 'mine' cannot be solved" in found.message
    assert words in found.message
    assert not caplog.records


UNREAD = {
    "asinh": of_one_arc(pyo.asinh),
    "acosh": of_one_arc(lambda x: pyo.acosh(1 + x)),
    "atanh": of_one_arc(pyo.atanh),
    "Expr_if": of_one_arc(lambda x: pyo.Expr_if(IF_=x <= 1, THEN_=x, ELSE_=2 * x)),
    "an ExternalFunction": {"pyomo": outside},
}


@pytest.mark.parametrize("name", ["drfh", "nb"])
@pytest.mark.parametrize("words", UNREAD)
def test_a_function_that_ipopt_does_not_read_is_named(name, words):
    """The message was that of a file of CasADi's: "nlp_builder.cpp:298: Unknown unary operation: 50"."""
    found = fa.solve(KHAMSE, fa.mechanism(name).edited("mine", **UNREAD[words]))
    assert (found.termination, found.has_point) == ("error", False)
    assert f"cannot be solved: its constraint mine has {words}, which solvers do not take" in found.message


def test_a_function_of_numbers_alone_is_one():
    found = fa.solve(KHAMSE, fa.mechanism("nb").edited("mine", **without_value(asinh_of_a_number)))
    assert (found.termination, found.x[2] <= 1) == ("optimal", True)


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_suffixes_restrict_nothing(name):
    """CasADi refused what Ipopt is told besides: "Suffix values unsupported"."""

    def hinted(model, _):
        model.hint = pyo.Suffix(direction=pyo.Suffix.EXPORT)
        model.hint[model.x["u3", 0, "s1"]] = 1

    item = fa.mechanism(name).edited("mine", pyomo=hinted)
    found, model = fa.solve(KHAMSE, item, "pyomo:ipopt"), item.pyomo(KHAMSE)
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, fa.solve(KHAMSE, name).tasks, rtol=SHARES)
    assert (ipopt(model), model.hint.active) == ("optimal", True)


def constant(model, _):
    model.y = pyo.Var()
    model.y.fix(1)
    model.mine = pyo.Constraint(expr=model.y <= 2)


def without_sides(model, _):
    model.mine = pyo.Constraint(expr=sum(model.x.values()) <= float("inf"))


@pytest.mark.parametrize("edit", [constant, without_sides])
def test_rows_that_restrict_nothing_are_no_reason_to_judge_nothing(edit):
    """Pyomo leaves them out of what Ipopt gets, so they had no duals."""
    found = fa.solve(KHAMSE, fa.mechanism("nb").edited("mine", pyomo=edit))
    assert (found.claims_success, found.not_judged) == (True, "")


def test_a_constraint_without_a_label_is_told_on_one_line():
    edit = added(lambda x: np.eye(6) @ x >= 100)
    assert fa.solve(KHAMSE, fa.mechanism("drfh").edited("mine", **edit)).message.isprintable()


class Unlabelled(fa.Mechanism):
    """A program of one's own without any label."""

    id = "unlabelled"

    def write_cvxpy(self, instance):
        x = cp.Variable(instance.A, name="x", nonneg=True)
        return cp.Problem(cp.Maximize(cp.sum(x)), [instance.arcs.load @ x <= 1])


@pytest.mark.parametrize("base", [fa.mechanism("nb", integral=True), Unlabelled()], ids=["whole tasks", "own"])
def test_a_constraint_without_a_label_is_named_where_the_model_has_others_without(base):
    """Whatever has no label was taken for a constraint of the model, so that the sentence named none."""
    found = fa.solve(KHAMSE, base.edited("mine", **added(lambda x: x >= 100)))
    assert "this constraint contradicts the model: 100.0 <= x; without it the model has a solution" in found.message


@pytest.mark.parametrize("name", ["drfh", "nb", "alpha-pf-vds"])
def test_a_constraint_of_constants_that_is_violated_is_infeasible(name):
    """For nb the message was Pyomo's InfeasibleConstraintException."""
    edit = {"pyomo": lambda model, _: setattr(model, "mine", pyo.Constraint(expr=pyo.Constraint.Infeasible))}
    found = fa.solve(KHAMSE, fa.mechanism(name).edited("mine", **edit))
    assert found.termination == "infeasible"
    assert "this constraint contradicts the model: mine" in found.message
    if name != "alpha-pf-vds":
        assert fa.check(fa.solve(KHAMSE, name), fa.mechanism(name).edited("mine", **edit)).holds is False


SHAPES = {
    "cvxpy": {"cvxpy": lambda *_: cp.Problem(cp.Maximize(0), [cp.Variable(3, name="x") <= 1])},
    "pyomo": {"pyomo": lambda model, _: model.del_component(model.x)},
}


@pytest.mark.parametrize("layer", SHAPES)
@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_a_model_without_tasks_judges_nothing(name, layer):
    verdict = fa.check(fa.solve(KHAMSE, name), fa.mechanism(name).edited("mine", **SHAPES[layer]))
    assert verdict.holds is None
    assert verdict.sentence == "not judged: the model of 'mine' has no variable 'x' with one number for each arc"


@pytest.mark.parametrize("name", ["drfh", "nb", "alpha-pf-vds"])
def test_what_is_neither_convex_nor_smooth_is_named(name):
    """CVXPY's nonlinear route relaxed it: max(x) was 8 in an answer that was called stationary."""
    found = fa.solve(KHAMSE, fa.mechanism(name).edited("mine", **added(lambda x: (cp.max(x) >= 9).set_label("mine"))))
    assert found.termination == "error"
    assert "do not take its constraint mine, which is a cone or neither convex nor smooth" in found.message


def bounded_by_an_expression(x):
    y = cp.Variable(bounds=[0, cp.Parameter(value=1)], name="y")
    return y * y == y * x[0]


def test_bounds_that_the_nonlinear_route_leaves_out_are_named():
    """The answer was called stationary, and y was not within its bounds."""
    found = fa.solve(KHAMSE, fa.mechanism("nb").edited("mine", **added(bounded_by_an_expression)))
    assert found.termination == "error"
    assert "do not take the bounds with expressions of its variable y" in found.message


def test_whole_numbers_of_a_block_that_is_not_active_are_seen():
    """Ipopt gave u4 3.5 tasks, and that was called optimal."""

    def whole(model, _):
        model.block = pyo.Block()
        model.block.n = pyo.Var(domain=pyo.Integers, bounds=(0, 3.5))
        model.block.deactivate()
        model.mine = pyo.Constraint(expr=sum(x for (user, *_), x in model.x.items() if user == "u4") == model.block.n)

    found = fa.solve(KHAMSE, fa.mechanism("drfh").edited("mine", pyomo=whole))
    assert (found.method, found.termination, round(found.tasks[3], 6)) == ("pyomo:highs", "optimal", 3.0)


@pytest.mark.parametrize("name", ["drfh", "nb", "ps-dsf"])
@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_whole_numbers_without_a_bound_are_not_infeasible(name, layer):
    """HiGHS does not tell the two apart: "no allocation satisfies the edit" was false."""
    given = {"pyomo": endless} if layer == "pyomo" else instead(lambda _: cp.Maximize(cp.Variable(integer=True)))
    found = fa.solve(KHAMSE, fa.mechanism(name).edited("mine", **given))
    assert found.termination in ("error", "unbounded")
    assert "nbounded" in found.message or "nothing bounds" in found.message


def test_an_objective_without_a_bound_says_so():
    for given in (instead(lambda _: cp.Maximize(cp.Variable())), {"pyomo": lambda model, _: model.capacity.deactivate()}):
        found = fa.solve(KHAMSE, fa.mechanism("drfh").edited("mine", **given))
        assert found.termination == "unbounded"
        assert "nothing bounds the objective" in found.message


NOT_LINEAR = {
    "cvxpy: squares": ("ps-dsf", added(lambda x: cp.sum_squares(x) <= 9)),
    "cvxpy: not convex": ("ps-dsf", added(lambda x: cp.sum_squares(x) >= 3)),
    "cvxpy: logarithms": ("nb", added(lambda x: cp.sum(x[:2]) == cp.Variable(integer=True))),
    "pyomo: product": (
        "ps-dsf",
        {"pyomo": lambda m, _: setattr(m, "mine", pyo.Constraint(expr=m.x["u3", 0, "s1"] * m.x["u3", 0, "s2"] <= 1))},
    ),
}


@pytest.mark.parametrize("edit", NOT_LINEAR)
def test_integers_beside_what_is_not_linear_have_no_method(edit):
    """HiGHS and SciPy were asked, and their refusals were the answer: "Problem does not follow DCP rules. Specifically:"."""
    name, given = NOT_LINEAR[edit]
    mine = fa.mechanism(name).edited("mine", **given)
    with pytest.raises(fa.NotApplicable, match="its model has integers and is not linear"):
        fa.solve(KHAMSE, mine)


TOO_MUCH = {
    "cvxpy": added(lambda x: (cp.sum(x) >= 1000).set_label("mine")),
    "pyomo": {"pyomo": lambda model, _: setattr(model, "mine", pyo.Constraint(expr=sum(model.x.values()) >= 1000))},
}


@pytest.mark.parametrize("layer", TOO_MUCH)
@pytest.mark.parametrize("name", ["drfh", "nb", "alpha-pf-vds"])
def test_an_edit_without_an_allocation_is_infeasible_and_says_so(name, layer):
    """The merit of the game has no signs: 43 times the capacities were "stationary", or the time was over."""
    found = fa.solve(KHAMSE, fa.mechanism(name).edited("mine", **TOO_MUCH[layer]))
    assert found.termination == "infeasible"
    assert not found.has_point
    assert "no allocation satisfies the edit 'mine'; this constraint contradicts the model: mine" in found.message
    assert found.not_judged == "not judged: its method ended without an answer"


@pytest.mark.parametrize("name", ["drfh", "nb", "alpha-pf-vds"])
def test_bounds_that_contradict_each_other_are_infeasible(name):
    """For nb the answer was an error of CasADi's function call."""
    found = fa.solve(KHAMSE, fa.mechanism(name).edited("mine", pyomo=lambda m, _: m.x["u1", 0, "s1"].setub(-1.0)))
    assert (found.termination, found.message) == ("infeasible", "no allocation satisfies the edit 'mine'")


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
def test_an_edit_of_the_game_without_an_equilibrium_keeps_the_capacities(layer):
    """The least merit beside the edit was at tasks that exceed a capacity by more than a hundredth: "inaccurate"."""
    given = {
        "cvxpy": added(lambda x: x[0] >= x[1] + 1),
        "pyomo": {"pyomo": lambda m, _: setattr(m, "mine", pyo.Constraint(expr=m.x["u1", 0, "s1"] >= m.x["u2", 0, "s1"] + 1))},
    }
    found = fa.solve(KHAMSE, fa.mechanism("alpha-pf-vds").edited("mine", **given[layer]))
    assert found.termination == "stationary"
    assert found.residuals["feasibility"] <= RESIDUAL


def test_an_edit_of_the_game_keeps_limits():
    """User u1 had 1.012 tasks with a limit of 1."""
    limited = KHAMSE.replace(max_tasks=[1, None, None, 5])

    def capped(model, _):
        model.mine = pyo.Constraint(expr=sum(x for (user, *_), x in model.x.items() if user == "u2") <= 3)

    found = fa.solve(limited, fa.mechanism("alpha-pf-vds").edited("mine", pyomo=capped))
    assert (found.termination, found.residuals["feasibility"] <= RESIDUAL) == ("stationary", True)


def test_a_stationary_point_is_no_claim_where_it_exceeds_a_capacity():
    edit = {"cvxpy": lambda p, _: cp.Problem(cp.Maximize(cp.sum_squares(p.var_dict["x"])), [p.var_dict["x"] <= 20])}
    found = fa.solve(KHAMSE, fa.mechanism("utilitarian").edited("mine", **edit))
    assert found.residuals["feasibility"] > 1e-2
    assert found.termination == "inaccurate"
    assert "its answer is infeasible by" in found.message


def test_a_logarithm_of_0_at_the_answer_writes_no_warning():
    """CVXPY divides by zero where SCS leaves a user no task at all."""
    instance = fa.Instance([[1, 0.25], [0.25, 1], [0.5, 0.5], [1, 1]], [[3, 3], [4, 1]], max_tasks=[3, 3, 4, 1])
    mine = fa.mechanism("njc").edited("mine", **added(lambda x: x[3] <= 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fa.solve(instance, mine, "cvxpy:scs").termination == "inaccurate"


def test_ipopt_ends_the_later_rounds_of_an_edited_rule():
    """A round on the optimal face of others has no interior: with a barrier that only falls the residual was 5e-3."""
    instance = fa.generators.zero_demand(10, 4, 2, 0)
    most = 0.7 * float(fa.solve(instance, "drfh").tasks[0])

    def capped(model, instance):
        model.mine = pyo.Constraint(expr=sum(x for (user, *_), x in model.x.items() if user == instance.users[0]) <= most)

    found = fa.solve(instance, fa.mechanism("drfh").edited("mine", pyomo=capped), "pyomo:ipopt")
    assert (found.termination, found.residual <= RESIDUAL) == ("optimal", True)


@pytest.mark.parametrize("name", ["utilitarian", "drfh", "nb"])
@pytest.mark.parametrize("edit", [lambda m, _: m.del_component("objective"), lambda m, _: m.objective.deactivate()])
def test_a_model_without_an_objective_judges_nothing(name, edit):
    """`check` ended with an IndexError where all variables were tasks."""
    mine = fa.mechanism(name).edited("mine", pyomo=edit)
    verdict = fa.check(fa.solve(KHAMSE, name), mine)
    assert (verdict.holds, verdict.sentence) == (None, "not judged: 'mine' has no residual, and it has 0 objectives")
