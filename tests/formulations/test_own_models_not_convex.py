"""Own models that are not proved to be convex: a stationary point is never called optimal, in no layer and by no solver."""

import json
from importlib.resources import files

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from jsonschema import Draft202012Validator
from tolerances import RESIDUAL

import fairalloc as fa
from fairalloc.cli import main
from fairalloc.models.examples.published import example
from fairalloc.models.files.jsonio import allocation_document
from fairalloc.solvers import METHODS
from fairalloc.theorems.checkers.trials import Undecided, answered

KHAMSE = example("khamse-fig1").instance
BETTER = fa.Allocation(KHAMSE, [0, 12, 0, 16, 0, 0])
TOO_MUCH = fa.Allocation(KHAMSE, np.full(6, 99.0))


class InPyomo(fa.Mechanism):
    """`goal` and `row` are functions of the tasks on arcs and of each user."""

    def __init__(self, id, goal, row=None, sense=pyo.maximize, **declared):
        self.id, self.goal, self.row, self.sense = id, goal, row, sense
        self.__dict__.update(declared)

    def write_pyomo(self, instance):
        model = fa.pyomo_tasks(instance)
        x = list(model.x.values())
        u = [sum(v for key, v in model.x.items() if key[0] == user) for user in instance.users]
        model.goal = pyo.Objective(expr=self.goal(x, u), sense=self.sense)
        if self.row is not None:
            model.row = pyo.Constraint(expr=self.row(x, u))
        return model


class InCvxpy(fa.Mechanism):
    """`write` is a function of the tasks on arcs, of each user, and of the constraints."""

    def __init__(self, id, write, **declared):
        self.id, self.write = id, write
        self.__dict__.update(declared)

    def write_cvxpy(self, instance):
        x, rows = fa.cvxpy_tasks(instance)
        return self.write(x, instance.arcs.owner @ x, rows)


def squares_in_pyomo(x, u):
    return sum(v**2 for v in x)


def squares_in_cvxpy(x, u, rows):
    return cp.Problem(cp.Maximize(cp.sum_squares(x)), rows)


NOT_CONVEX = [
    InPyomo("squares", squares_in_pyomo),
    InPyomo("bilinear", lambda x, u: x[0] * x[1] + sum(x)),
    InPyomo("least-roots", lambda x, u: sum(pyo.sqrt(1 + v) for v in u) - sum(u) / 2, sense=pyo.minimize),
    InPyomo("exponential", lambda x, u: sum(pyo.exp(0.1 * v) for v in u)),
    InPyomo("sine", lambda x, u: sum(pyo.sin(v) for v in x)),
    InPyomo("kinks", lambda x, u: sum(abs(v - 2) for v in u)),
    InPyomo("product-row", lambda x, u: sum(x), lambda x, u: x[0] * x[1] >= 1),
    InPyomo("square-row", lambda x, u: sum(x), lambda x, u: x[0] ** 2 >= 1),
    InPyomo("equation", lambda x, u: sum(x), lambda x, u: x[0] ** 2 == 1),
    InCvxpy("squares-too", squares_in_cvxpy),
    InCvxpy("product-too", lambda x, u, rows: cp.Problem(cp.Maximize(u[0] * u[1]), rows)),
    InCvxpy("roots-too", lambda x, u, rows: cp.Problem(cp.Minimize(cp.sum(cp.sqrt(1 + u))), rows)),
    InCvxpy("square-row-too", lambda x, u, rows: cp.Problem(cp.Maximize(cp.sum(x)), [*rows, cp.square(x[0]) >= 1])),
    InCvxpy("another", lambda x, u, rows: cp.Problem(cp.Maximize(cp.sum_squares(x) + cp.Variable(bounds=[0, 1])), rows)),
]
CONVEX = [
    InPyomo("near", lambda x, u: sum((v - 3) ** 2 for v in u), sense=pyo.minimize),
    InPyomo("inside", lambda x, u: sum(x) - sum(v * v for v in u)),
    InPyomo("roots", lambda x, u: sum(v**0.5 for v in u)),
    InPyomo("log-product", lambda x, u: pyo.log(u[0] * u[1] * u[2] * u[3])),
    InPyomo("decay", lambda x, u: -sum(pyo.exp(-v) for v in u)),
    InPyomo("disc", lambda x, u: sum(x), lambda x, u: x[0] ** 2 + x[0] * x[1] + x[1] ** 2 <= 9),
]
NONLINEAR = {"pyomo": ("pyomo:ipopt",), "cvxpy": ("cvxpy:ipopt", "cvxpy:uno")}


def never_optimal(allocation):
    assert not allocation.claims_success
    assert "not proved to be" in allocation.not_judged
    assert allocation.residual == np.inf
    assert "optimality" not in allocation.residuals
    assert allocation.outcome != "optimal"


@pytest.mark.few(7)
@pytest.mark.parametrize("own", NOT_CONVEX, ids=lambda own: own.id)
def test_what_is_not_proved_to_be_convex_is_never_optimal(own):
    allocation = fa.solve(KHAMSE, own)
    never_optimal(allocation)
    assert allocation.termination == "stationary"
    assert allocation.residuals.get("stationarity", 0.0) <= RESIDUAL
    verdict = fa.check(allocation, own)
    assert verdict.holds is None
    assert verdict.sentence.startswith("not judged")
    assert fa.check(TOO_MUCH, own).holds is False
    assert not fa.certify(allocation, own)


@pytest.mark.parametrize("own", [NOT_CONVEX[0], NOT_CONVEX[9]], ids=lambda own: own.id)
def test_a_better_point_exists_and_both_are_left_undecided(own):
    usable = [method for method in NONLINEAR[min(own.layers)] if not METHODS[method].missing()]
    assert usable
    for method in usable:
        allocation = fa.solve(KHAMSE, own, method)
        never_optimal(allocation)
        assert allocation.values["objective"] < 399, "[0, 12, 16, 0] has 400"
    assert fa.check(BETTER, own).holds is None


def test_prices_prove_nothing_of_what_is_not_convex():
    """At the stationary point the optimality conditions hold with these prices."""
    model = NOT_CONVEX[9]
    x = fa.solve(KHAMSE, model).x
    u = KHAMSE.arcs.owner.T @ (KHAMSE.arcs.owner @ x)
    nb = fa.solve(KHAMSE, fa.mechanism("nb"))
    given = fa.Allocation(KHAMSE, x, prices=nb.prices * float(u.max()))
    assert fa.check(given, model).holds is None


@pytest.mark.parametrize("own", CONVEX, ids=lambda own: own.id)
def test_what_is_convex_is_recognised_and_proved(own):
    allocation = fa.solve(KHAMSE, own)
    assert allocation.claims_success
    assert allocation.residuals["optimality"] <= RESIDUAL
    assert fa.check(allocation, own).holds is True
    assert fa.check(fa.Allocation(KHAMSE, np.zeros(6)), own).holds is False, "the logarithm of 0 is no reason to fail"


def test_a_parameter_makes_a_program_convex_or_not():
    p = cp.Parameter(value=-1.0)
    own = InCvxpy("signed", lambda x, u, rows: cp.Problem(cp.Maximize(cp.sum(u) + p * cp.sum_squares(u)), rows))
    for value in (-0.2, 0.2, -0.3):
        p.value = value
        allocation = fa.solve(KHAMSE, own)
        assert allocation.claims_success is (value < 0)
        assert (allocation.termination == "optimal") is (value < 0)
        assert fa.check(allocation, own).holds is (True if value < 0 else None)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (
            InPyomo("a", squares_in_pyomo, convex=True, linear=False, integer=False),
            "'a' is declared to be convex, which is not proved",
        ),
        (
            InCvxpy("b", squares_in_cvxpy, convex=True, linear=True, integer=False),
            "'b' is declared to be convex, which is not proved",
        ),
        (
            InCvxpy("c", lambda x, u, rows: cp.Problem(cp.Minimize(cp.sum(cp.multiply(u - 3, u - 3))), rows), convex=True),
            "'c' is declared to be convex, which is not proved",
        ),
        (InPyomo("d", CONVEX[1].goal, convex=True, linear=False, integer=False), ""),
    ],
)
def test_a_declaration_is_read_again(own, words):
    allocation = fa.solve(KHAMSE, own)
    assert allocation.message == words
    assert allocation.claims_success is not bool(words)


def test_who_cannot_find_a_point_does_not_say_that_there_is_none():
    far = InPyomo("far", lambda x, u: sum(x), lambda x, u: x[0] * x[1] >= 1e9)
    allocation = fa.solve(KHAMSE, far)
    assert allocation.termination == "error"
    assert "calls the model infeasible, which proves nothing" in allocation.message
    convex = InPyomo("too-far", lambda x, u: sum(x), lambda x, u: (x[0] - 1000) ** 2 <= 1)
    assert fa.solve(KHAMSE, convex).termination == "infeasible"


def test_an_infeasible_convex_edit_in_pyomo_names_its_constraint():
    def far(model, instance):
        model.far = pyo.Constraint(expr=(model.x["u1", 0, "s1"] - 1000) ** 2 <= 1)

    allocation = fa.solve(KHAMSE, fa.mechanism("drfh").edited("far", pyomo=far))
    assert allocation.termination == "infeasible"
    assert "this constraint contradicts the model: far" in allocation.message


def test_integers_times_tasks_have_no_method():
    class Product(fa.Mechanism):
        id = "product"

        def write_pyomo(self, instance):
            model = fa.pyomo_tasks(instance)
            model.use = pyo.Var(domain=pyo.Binary)
            model.goal = pyo.Objective(expr=sum(model.x.values()) * model.use, sense=pyo.maximize)
            return model

    with pytest.raises(fa.NotApplicable, match="its model has integers and is not linear"):
        fa.solve(KHAMSE, Product())
    assert fa.check(BETTER, Product()).holds is None


def squares_edit(problem, instance):
    return cp.Problem(cp.Maximize(cp.sum_squares(problem.var_dict["x"])), problem.constraints)


def squares_edit_pyomo(model, instance):
    for goal in model.component_data_objects(pyo.Objective, active=True):
        goal.deactivate()
    model.squares = pyo.Objective(expr=sum(v**2 for v in model.x.values()), sense=pyo.maximize)


@pytest.mark.parametrize("name", ["drfh", "nb", "utilitarian", "asset"])
@pytest.mark.parametrize("edit", [{"cvxpy": squares_edit}, {"pyomo": squares_edit_pyomo}], ids=["cvxpy", "pyomo"])
def test_edits_of_ours(name, edit):
    own = fa.mechanism(name).edited("squares", **edit)
    allocation = fa.solve(KHAMSE, own)
    never_optimal(allocation)
    assert fa.check(allocation, own).holds is None
    assert ("without its later rounds" in allocation.message) == (name in ("drfh", "asset"))


def test_it_is_said_in_words_everywhere(tmp_path, monkeypatch, capsys):
    own = NOT_CONVEX[0]
    allocation = fa.solve(KHAMSE, own)
    assert "stationary point, not judged" in repr(allocation)
    document = json.loads(json.dumps(allocation_document(allocation)))
    schema = json.loads((files("fairalloc.models.files") / "allocation.schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    assert document["termination"] == "stationary"
    assert "not proved to be concave" in document["not_judged"]
    with pytest.raises(Undecided, match="stationary point"):
        answered(own, None, (), KHAMSE)
    text = (
        "import cvxpy as cp\nimport fairalloc as fa\nclass Squares(fa.Mechanism):\n    id = 'squares'\n"
        "    def write_cvxpy(self, instance):\n        x, rows = fa.cvxpy_tasks(instance)\n"
        "        return cp.Problem(cp.Maximize(cp.sum_squares(x)), rows)\n"
    )
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["solve", "khamse-fig1", "-m", "mine.py:Squares"]) == 1
    shown = capsys.readouterr()
    assert "stationary point" in shown.out
    assert "optimal" not in shown.out
    assert "not solved to the accuracy asked" in shown.err
