"""Convexity of own models: what the rules prove is true, and what is written in unusual ways is recognised."""

import math
import random

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.expr.numeric_expr import MaxExpression, MinExpression
from tolerances import ROUNDING

import fairalloc as fa
from fairalloc.formulations.common import convexity
from fairalloc.formulations.common.convexity import _proved, _shape_of, doubt, read_off, rises_with, unsolvable, with_values
from fairalloc.formulations.common.kkt_residual import value_of_pyomo
from fairalloc.models.examples.published import example

KHAMSE = example("khamse-fig1").instance


def variables():
    """x, y >= 0; f, h free; n from -3 to -1; a from -2 to 3; b from 1 to 4; w fixed at 2; p = 2, q = -1 and one parameters."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.NonNegativeReals), pyo.Var(domain=pyo.NonNegativeReals)
    m.f, m.h, m.n = pyo.Var(), pyo.Var(), pyo.Var(bounds=(-3, -1))
    m.a, m.b, m.one = pyo.Var(bounds=(-2, 3)), pyo.Var(bounds=(1, 4)), pyo.Param(initialize=1.0, mutable=True)
    m.w, m.p, m.q = pyo.Var(initialize=2.0), pyo.Param(initialize=2.0, mutable=True), pyo.Param(initialize=-1.0, mutable=True)
    m.w.fix()
    m.e = pyo.Expression(expr=m.f - m.h)
    return m


CONVEX = {
    "square": lambda m: m.f**2,
    "product with itself": lambda m: (m.f - m.h) * (m.f - m.h),
    "named expression": lambda m: m.e * m.e,
    "written out": lambda m: m.f**2 - 2 * m.f * m.h + m.h**2,
    "in parts": lambda m: m.f * m.f + m.f * m.h + m.h * m.h - pyo.log(m.x),
    "cube of what is not negative": lambda m: m.x**3,
    "sum of exponentials": lambda m: pyo.log(pyo.exp(m.f) + pyo.exp(m.h)),
    "reciprocal": lambda m: 1 / (m.x * m.y),
    "entropy": lambda m: m.x * pyo.log(m.x) + pyo.log(m.y) * m.y,
    "absolute value": lambda m: abs(m.f - m.h) - 3 * m.x,
    "power of a number": lambda m: 2**m.f,
    "root of a power": lambda m: (m.f**2) ** 1.5,
    "negative power": lambda m: (m.x + 1) ** -2,
    "parameters": lambda m: m.p * m.f**2 + m.q * pyo.sqrt(m.x) + m.w * m.f**m.w,
    "twice negative": lambda m: -(m.q * -1) * pyo.log(m.x),
    "reciprocal of what is negative": lambda m: -1 / m.n,
    "logarithm of a product": lambda m: -pyo.log(m.x * m.y * (m.x + m.y)),
    "another base": lambda m: -pyo.log10(m.x),
    "square of what is at most 0": lambda m: (-(m.f**2)) ** 2,
    "size of what is at most 0": lambda m: abs(-(m.f**2)),
    "size of what is at least 0": lambda m: -abs(pyo.sqrt(m.x)),
    "first power": lambda m: abs(m.f) ** m.one + abs(m.h - m.x) ** m.one,
    "first power of either sign": lambda m: -((m.f - pyo.exp(m.h)) ** m.one),
    "cube of what is negative": lambda m: -(m.n**3) - (m.n - m.x**2) ** 3,
    "even negative power": lambda m: (m.n - pyo.sqrt(m.x)) ** -2,
    "odd negative power": lambda m: -1 / (m.n - pyo.sqrt(m.x)),
    "huge exponential": lambda m: pyo.exp(800 * m.b),
    "square with rounding in it": lambda m: (
        0.01 * m.f**2 + 0.09 * m.h**2 + 0.49 * m.x**2 + 0.06 * m.f * m.h + 0.14 * m.f * m.x + 0.42 * m.h * m.x
    ),
    "exponential of a number": lambda m: -(pyo.exp(m.w) + pyo.log(m.x)),
    "largest": lambda m: MaxExpression((m.f**2, pyo.exp(m.h))) - MinExpression((m.f, pyo.log(m.x))),
}
NEITHER = {
    "product": lambda m: m.x * m.y,
    "indefinite": lambda m: m.f**2 + 3 * m.f * m.h + m.h**2,
    "cube": lambda m: m.f**3,
    "sine": lambda m: pyo.sin(m.x),
    "bell": lambda m: pyo.exp(-(m.f**2)),
    "fraction": lambda m: m.x / m.y,
    "reciprocal of either sign": lambda m: 1 / m.f,
    "power of a variable": lambda m: m.f**m.h,
    "logarithm of a free product": lambda m: pyo.log(m.f * m.h),
    "square of a convex function": lambda m: (m.f**2 - 1) ** 2,
    "root of a convex function": lambda m: (m.f**2 - 1) ** 1.5,
    "square of a logarithm": lambda m: pyo.log(m.x) ** 2,
    "three": lambda m: m.x * m.y * m.f,
    "condition": lambda m: pyo.Expr_if(m.f >= 0, m.f, -m.f),
    "logarithm less its bound": lambda m: pyo.log((pyo.log10(m.x + 5) - 1) * m.y),
    "larger of unlike ones": lambda m: MaxExpression((m.f**2, pyo.log(m.x))),
    "smaller of convex ones": lambda m: MinExpression((m.f**2, m.h**2)),
    "square of what is convex and at most 0": lambda m: (m.n - pyo.sqrt(m.x)) ** 2,
    "reciprocal of what is concave and at most 0": lambda m: 1 / (m.n - m.x**2),
    "reciprocal of what rises to 0": lambda m: pyo.log((0.5 + 1 / (m.n + 1)) ** 2),
}
BOUNDS = {
    "product of one sign": (lambda m: m.b * m.n, -12, -1),
    "product of either sign": (lambda m: m.a * m.b, -8, 12),
    "multiple": (lambda m: -2 * m.a, -6, 4),
    "turned round": (lambda m: -pyo.exp(m.a), -math.exp(3), -math.exp(-2)),
    "product with itself": (lambda m: m.b * m.b, 1, 16),
    "sum": (lambda m: m.a - m.b + 1, -5, 3),
    "square": (lambda m: m.b**2, 1, 16),
    "square of what is negative": (lambda m: m.n**2, 1, 9),
    "square of either sign": (lambda m: m.f**2, 0, math.inf),
    "cube of what is negative": (lambda m: m.n**3, -27, -1),
    "cube of what is at most 0": (lambda m: (-(m.f**2)) ** 3, -math.inf, 0),
    "cube of either sign": (lambda m: m.a**3, -math.inf, math.inf),
    "reciprocal": (lambda m: 1 / m.b, 1 / 4, 1),
    "reciprocal of what is negative": (lambda m: 1 / m.n, -1, -1 / 3),
    "reciprocal of what may be 0": (lambda m: 1 / m.x, 0, math.inf),
    "even negative power": (lambda m: m.n**-2, 1 / 9, 1),
    "root": (lambda m: m.b**0.5 + pyo.sqrt(m.b), 2, 4),
    "root where it is defined": (lambda m: m.a**0.5, 0, 3**0.5),
    "exponential": (lambda m: pyo.exp(m.a), math.exp(-2), math.exp(3)),
    "power of a number": (lambda m: 0.5**m.a, 1 / 8, 4),
    "logarithm": (lambda m: pyo.log(m.b), 0, math.log(4)),
    "logarithm of what may be 0": (lambda m: pyo.log(m.x), -math.inf, math.inf),
    "another base": (lambda m: pyo.log10(m.b), 0, math.log10(4)),
    "size of either sign": (lambda m: abs(m.a), 0, 3),
    "size mostly below 0": (lambda m: abs(m.a - 2), 0, 4),
    "size of what is negative": (lambda m: abs(m.n), 1, 3),
    "largest": (lambda m: MaxExpression((m.a, m.b)), 1, 4),
    "least": (lambda m: MinExpression((m.a, m.b)), -2, 3),
    "fixed": (lambda m: m.w * m.a, -4, 6),
}
"""The least and the largest value of expressions, by hand."""


@pytest.mark.parametrize("name", CONVEX)
def test_what_is_convex_is_recognised_however_it_is_written(name):
    expr = CONVEX[name](variables())
    assert _proved(expr, convex=True, concave=False)
    assert _proved(-expr, convex=False, concave=True), "turned round"
    assert not _proved(expr, convex=True, concave=True), "it is not affine"


@pytest.mark.parametrize("name", NEITHER)
def test_what_is_neither_convex_nor_concave_is_not_proved(name):
    expr = NEITHER[name](variables())
    assert not _proved(expr, convex=True, concave=False)
    assert not _proved(expr, convex=False, concave=True)


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_the_least_and_the_largest_value(name):
    write, low, high = BOUNDS[name]
    found = _shape_of(write(variables()))
    assert (found.low, found.high) == pytest.approx((low, high), rel=ROUNDING, abs=ROUNDING)


def test_a_quadratic_part_that_is_too_large_is_not_decided(monkeypatch):
    """A part counts by the variables that are connected in it."""
    m = variables()
    monkeypatch.setattr(convexity, "DENSE", 2)
    assert _proved(m.f**2 - m.f * m.h + m.h**2 + m.n**2 + m.x * m.x, True, False)
    assert not _proved(m.f**2 - m.f * m.h + m.h**2 - m.h * m.n + m.n**2 + m.x**2, True, False)


@pytest.mark.parametrize("layer", ["cvxpy", "pyomo"])
@pytest.mark.parametrize(
    ("goal", "rises"),
    [
        (lambda g, h: 2 * g, True),
        (lambda g, h: 0 * g, False),
        (lambda g, h: -g, False),
        (lambda g, h: g + h, False),
        (lambda g, h: g - h, False),
        (lambda g, h: h, False),
        (lambda g, h: g - h**2, False),
    ],
)
def test_what_rises_with_one_variable_alone(goal, rises, layer):
    """Turned into a minimum it falls with it, and what is turned round twice rises."""
    if layer == "cvxpy":
        g, h = cp.Variable(), cp.Variable()
        most, least = cp.Maximize, cp.Minimize
    else:
        m = variables()
        g, h = m.f, m.h

        def most(expr, sense=pyo.maximize):
            model = pyo.ConcreteModel()
            model.goal = pyo.Objective(expr=expr, sense=sense)
            return model.goal

        def least(expr):
            return most(expr, pyo.minimize)

    assert rises_with(most(goal(g, h)), g) is rises
    assert rises_with(least(-goal(g, h)), g) is rises
    assert not (rises and rises_with(least(goal(g, h)), g))


def grown(chance, leaves, depth):
    """A random expression."""
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(leaves)

    def part():
        return grown(chance, leaves, depth - 1)

    kinds = [
        lambda: part() + part(),
        lambda: part() - chance.choice([0.5, 1, 2]),
        lambda: chance.choice([-2.0, -1.0, 0.5, 3.0]) * part(),
        lambda: part() * part(),
        lambda: part() / part(),
        lambda: part() ** chance.choice([-2, -1, -0.5, 0.3, 0.5, 1, 1.5, 2, 3, 4]),
        lambda: pyo.exp(part()),
        lambda: pyo.log(part()),
        lambda: pyo.log10(part()),
        lambda: pyo.sqrt(part()),
        lambda: abs(chance.choice(leaves) - chance.choice(leaves)),  # of a complex number it would be a number
        lambda: chance.choice([0.5, 2.0]) ** part(),
        lambda: (lambda e: e * e)(part()),
        lambda: (lambda e: e * pyo.log(e))(part()),
    ]
    return chance.choice(kinds)()


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_proved_that_is_false(seed):
    """Random expressions: where one is called convex, no middle of two points of its domain lies above."""
    chance, proved = random.Random(seed), 0
    m = variables()
    ranges = [(m.x, 0.0, 4.0), (m.y, 0.0, 4.0), (m.f, -4.0, 4.0), (m.h, -4.0, 4.0), (m.n, -3.0, -1.0)]
    for _ in range(400):
        try:
            expr = grown(chance, [v for v, _, _ in ranges], chance.randrange(1, 4))
        except (ArithmeticError, ValueError):
            continue
        signs = [sign for sign in (1, -1) if _proved(expr, sign == 1, sign == -1)]
        proved += bool(signs)
        for _ in range(12 if signs else 0):
            ends = [[chance.choice([low, high, chance.uniform(low, high)]) for _, low, high in ranges] for _ in range(2)]
            found = []
            for point in (*ends, [(a + b) / 2 for a, b in zip(*ends, strict=True)]):
                for (v, _, _), value in zip(ranges, point, strict=True):
                    v.set_value(value)
                found.append(value_of_pyomo(expr))
            one, other, middle = found
            if math.isfinite(one) and math.isfinite(other):
                size = 1e-9 * (abs(one) + abs(other) + 1)
                assert all(sign * (middle - (one + other) / 2) <= size for sign in signs), str(expr)
    assert proved > 100


@pytest.mark.parametrize(
    ("row", "fine"),
    [
        (lambda x: x[0] ** 2 <= 4, True),
        (lambda x: x[0] ** 2 >= 1, False),
        (lambda x: x[0] ** 2 == 1, False),
        (lambda x: x[0] * x[1] >= 1, False),
        (lambda x: pyo.log(1 + x[0]) >= 1, True),
        (lambda x: pyo.inequality(1, pyo.log(1 + x[0]), 2), False),
        (lambda x: x[0] + 3 * x[1] == 1, True),
    ],
)
def test_constraints_of_pyomo(row, fine):
    model = fa.pyomo_tasks(KHAMSE)
    x = list(model.x.values())
    model.goal = pyo.Objective(expr=sum(x), sense=pyo.maximize)
    assert doubt(model) == ""
    model.row = pyo.Constraint(expr=row(x))
    assert doubt(model) == ("" if fine else "its constraint row is not proved to be convex")


def test_a_sense_decides_which_curvature_is_right():
    model, m = fa.pyomo_tasks(KHAMSE), variables()
    model.goal = pyo.Objective(expr=m.f**2)
    assert doubt(model) == ""
    model.goal.sense = pyo.maximize
    assert doubt(model) == "its objective is not proved to be concave"
    model.goal.expr = pyo.log(m.x)
    assert doubt(model) == ""
    model.goal.sense = pyo.minimize
    assert doubt(model) == "its objective is not proved to be convex"


def test_what_is_read_off_a_model_of_pyomo():
    model, m = fa.pyomo_tasks(KHAMSE), variables()
    model.goal = pyo.Objective(expr=sum(model.x.values()), sense=pyo.maximize)
    assert read_off(model) == {"linear": True, "integer": False, "convex": True}
    model.use = pyo.Var(domain=pyo.Binary)
    assert read_off(model) == {"linear": True, "integer": True, "convex": True}
    model.goal.expr = m.f**2
    assert read_off(model) == {"linear": False, "integer": True, "convex": False}


def test_what_is_no_row_and_several_objectives():
    model = fa.pyomo_tasks(KHAMSE)
    assert doubt(model) == "it has 0 objectives"
    model.goal = pyo.Objective(expr=sum(model.x.values()))
    model.set = pyo.SOSConstraint(var=model.x, sos=1)
    assert unsolvable(model).startswith("it has the SOSConstraint set, which must be transformed")


def test_problems_of_cvxpy_count_with_the_values_of_their_parameters():
    x, p = cp.Variable(2, nonneg=True), cp.Parameter(value=-1.0)
    problem = cp.Problem(cp.Maximize(p * cp.sum_squares(x)), [x <= 1])
    assert not problem.is_dcp()
    assert doubt(problem) == ""
    assert with_values(problem).variables() == problem.variables()
    p.value = 1.0
    assert doubt(problem) == "its objective is not proved to be concave by CVXPY's rules"
    p.value = None
    assert doubt(problem) == "its objective is not proved to be concave by CVXPY's rules"
    assert "far is not" in doubt(cp.Problem(cp.Minimize(cp.sum(x)), [(cp.sum_squares(x) >= 1).set_label("far")]))


def in_pyomo(goal, row=None):
    model = fa.pyomo_tasks(KHAMSE)
    x = list(model.x.values())
    model.goal = pyo.Objective(expr=goal(x), sense=pyo.maximize)
    if row is not None:
        model.row = pyo.Constraint(expr=row(x))
    return model


def in_cvxpy(goal):
    x, rows = fa.cvxpy_tasks(KHAMSE)
    return cp.Problem(cp.Maximize(goal(x)), rows)


def test_what_has_no_value_is_no_number():
    m = variables()
    m.x.set_value(0.0)
    assert np.isnan(value_of_pyomo(pyo.log(m.x) + 1 / m.x))
    m.f.set_value(-1.0)
    assert np.isnan(value_of_pyomo(m.f**0.5)), "a complex number"
