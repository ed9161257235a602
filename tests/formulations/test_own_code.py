"""Code of the caller's in mechanisms: whatever fails there is one sentence, and what it says twice it says alike."""

import inspect
import pickle
import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest

import fairalloc as fa
from fairalloc.formulations.mechanism import ASKED
from fairalloc.models.examples.published import example

KHAMSE = example("khamse-fig1").instance


def fails(self, *given, **named):
    return 1 / 0


class MostTasks(fa.Mechanism):
    id = "most-tasks"

    def write_cvxpy(self, instance):
        x, constraints = fa.cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(cp.sum(x)), constraints)


@pytest.mark.parametrize("limit", [None, 60])
@pytest.mark.parametrize("name", [*sorted(ASKED.keys() - {"pyomo", "rate", "write_pyomo"}), "linear"])
def test_what_an_own_mechanism_computes_and_fails_is_named(name, limit):
    is_method = inspect.isfunction(getattr(fa.Mechanism, name))
    own = type("Own", (MostTasks,), {name: fails if is_method else property(fails), "integer": False, "convex": True})()
    with pytest.raises(fa.InstanceError, match=f"^{name} of 'most-tasks' failed: ZeroDivisionError: division by zero$"):
        fa.solve(KHAMSE, own, time_limit=limit)


def ends(self, *given):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("name", "made", "sentence"),
    [
        ("write_cvxpy", ends, "write_cvxpy of 'most-tasks' failed: SystemExit: 3"),
        ("write_cvxpy", staticmethod(ends), "write_cvxpy of 'most-tasks' failed: SystemExit: 3"),
        (
            "write_cvxpy",
            classmethod(lambda *_: 3),
            "write_cvxpy of 'most-tasks' returned int, but it must return a cvxpy.Problem",
        ),
        ("configure", ends, "configure of 'most-tasks' failed: SystemExit: 3"),
        ("id", property(ends), "id of Own failed: SystemExit: 3"),
        ("layers", cached_property(ends), "layers of 'most-tasks' failed: SystemExit: 3"),
        ("linear", property(lambda self: "yes"), "linear of 'most-tasks' returned str, but it must return True or False or None"),
        ("linear", property(lambda self: None), "reading linear of 'most-tasks' off its model failed: AttributeError: property "),
        ("parameters", property(lambda self: [1]), "parameters of 'most-tasks' returned list, but it must return a mapping "),
        ("domain", lambda self, instance: 3, "domain of 'most-tasks' returned int, but it must return an Instance"),
        ("configure", lambda self, **given: None, "configure of 'most-tasks' returned NoneType, but it must return a Mechanism"),
        (
            "canonical",
            lambda self, instance: None,
            "canonical of 'most-tasks' returned NoneType, but it must return (an Instance, ",
        ),
        (
            "prices",
            lambda self, *given: "x",
            "prices of 'most-tasks' returned str, but it must return an array of numbers or None",
        ),
        (
            "prices",
            lambda self, *given: np.ones((2, 7)),
            "prices of 'most-tasks' returned an array of shape (2, 7), but it must ",
        ),
        (
            "model_prices",
            lambda self, *given: None,
            "model_prices of 'most-tasks' returned NoneType, but it must return an array",
        ),
        ("convex", "no", "convex of Own is 'no', but it must be "),
        ("functions", None, "functions of Own is None, but it must be a tuple of functions"),
        ("layers", ends, "layers of Own is <function ends at "),
    ],
)
def test_what_an_own_mechanism_says_wrongly_is_one_sentence(name, made, sentence):
    with pytest.raises(fa.FairallocError, match=f"^{re.escape(sentence)}"):
        fa.solve(KHAMSE, type("Own", (MostTasks,), {name: made}))


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (fails, "rate of 'nb' failed: ZeroDivisionError: division by zero"),
        (lambda self, instance: None, "rate of 'nb' returned NoneType, but it must return an array of numbers"),
        (lambda self, instance: np.ones((2, 7)), "rate of 'nb' returned an array of shape (2, 7), but it must be (4,)"),
    ],
)
def test_rates_of_an_own_program_of_utilities_are_numbers_of_users(made, sentence):
    own = type("Own", (type(fa.mechanism("nb")),), {"rate": made})()
    with pytest.raises(fa.InstanceError, match=f"^{re.escape(sentence)}$"):
        own.rate(KHAMSE)


@pytest.mark.parametrize(
    "decorated",
    [
        dataclass(type("Own", (MostTasks,), {"title": field(default="mine"), "__annotations__": {"title": str}})),
        dataclass(slots=True)(type("Own", (MostTasks,), {"convex": True, "__annotations__": {"convex": bool}})),
        dataclass(frozen=True)(type("Own", (MostTasks,), {})),
        type("Own", (MostTasks,), {"__slots__": ("title",)}),
    ],
)
def test_attributes_of_dataclasses_and_slots_are_no_mistakes(decorated):
    assert fa.solve(KHAMSE, decorated()).termination == "optimal"


def test_what_a_mechanism_inherits_from_another_class_is_guarded_too():
    beside = type("Beside", (), {"write_cvxpy": fails})
    with pytest.raises(fa.InstanceError, match=r"^write_cvxpy of 'beside' failed: ZeroDivisionError"):
        fa.solve(KHAMSE, type("Own", (beside, fa.Mechanism), {"id": "beside"}))


@pytest.mark.parametrize("part", ["share", "exact_share", "domain"])
def test_a_function_of_a_rule_that_fails_is_named(part):
    rule = fa.Leximin("ones", **{"share": lambda instance: [1] * 4, "exact_share": lambda instance: [1] * 4, part: fails})
    with pytest.raises(fa.InstanceError, match=f"^the {part} of 'ones' failed: ZeroDivisionError: division by zero$"):
        fa.solve(KHAMSE, rule, "exact")


def test_the_domain_of_a_rule_is_an_instance():
    with pytest.raises(fa.InstanceError, match=r"^the domain of 'ones' is 3, but it must be an Instance$"):
        fa.solve(KHAMSE, fa.Leximin("ones", lambda instance: [1] * 4, domain=lambda instance: 3))


@pytest.mark.parametrize(
    ("layer", "returned", "rule"),
    [
        ("cvxpy", cp.Maximize(cp.Variable(name="x")), "Maximize, but it must return a cvxpy.Problem"),
        ("cvxpy", None, "NoneType, but it must return a cvxpy.Problem"),
        ("pyomo", pyo.AbstractModel(), "AbstractModel, but it must return a ConcreteModel"),
        ("pyomo", pyo.Block(), "ScalarBlock, but it must return a ConcreteModel"),
    ],
)
def test_what_is_written_is_a_model(layer, returned, rule):
    """Also where the kind of the model is declared, so that nobody reads it off before a method writes it."""
    written = {"id": "own", f"write_{layer}": lambda self, instance: returned, "residual": lambda self, allocation: 0.0}
    for declared in ({}, {"linear": True, "integer": False, "convex": True}):
        own = type("Own", (fa.Mechanism,), written | declared)()
        with pytest.raises(fa.FairallocError, match=f"^write_{layer} of 'own' returned {rule}$"):
            fa.solve(KHAMSE, own, f"{layer}:highs")


def test_the_tasks_are_one_variable():
    """CVXPY keeps the last of two variables of one name, whose values had been the tasks."""

    class Twice(fa.Mechanism):
        id = "twice"

        def write_cvxpy(self, instance):
            x, constraints = fa.cvxpy_tasks(instance)
            other = cp.Variable(instance.A, name="x")
            return cp.Problem(cp.Maximize(cp.sum(x) + cp.sum(other)), [*constraints, other <= 1])

    answer = fa.solve(KHAMSE, Twice())
    assert (answer.termination, answer.has_point) == ("error", False)
    assert "it has 2 variables called 'x'" in answer.message


def test_a_model_of_pyomo_without_tasks_says_so():
    class Empty(fa.Mechanism):
        id = "empty"

        def write_pyomo(self, instance):
            return pyo.ConcreteModel()

    assert fa.solve(KHAMSE, Empty()).message == "the model of 'empty' has no variable 'x', from which the tasks are read"


@pytest.mark.parametrize(
    ("exact", "words"),
    [
        ((1, 2, 3, 4), "for user 'u2' is 2, but its share is 1.0"),
        ((1, 1, 1, Fraction(1000001, 1000000)), "for user 'u4' is 1000001/1000000, but its share is 1.0"),
        ((1, 1), "has the length 2, but it must be 4, one a user"),
        (("a",) * 4, "is 'a', which is not a finite number or a rational"),
    ],
)
def test_rational_shares_are_those_of_the_rule(exact, words):
    """Answers by `exact` had been those of other shares, "optimal" with a residual of 0."""
    rule = fa.Leximin("ones", lambda instance: [1.0] * 4, exact_share=lambda instance: exact)
    with pytest.raises(fa.InstanceError, match=f"^the exact_share of 'ones' {words}"):
        fa.solve(KHAMSE, rule, "exact")


def test_rational_shares_may_differ_by_rounding():
    thirds = fa.Leximin("thirds", lambda instance: [1 / 3] * 4, exact_share=lambda instance: ["1/3"] * 4)
    assert fa.solve(KHAMSE, thirds, "exact").tasks_exact == fa.solve(KHAMSE, "lmmf", "exact").tasks_exact


@pytest.mark.parametrize("name", sorted(fa.MECHANISMS))
def test_mechanisms_of_the_package_travel_to_other_processes(name):
    item = pickle.loads(pickle.dumps(fa.mechanism(name)))
    assert (item.id, type(item), item.is_ours) == (name, type(fa.mechanism(name)), True)
