"""Convexity of own models: what the rules prove is true, and what is written in unusual ways is recognised."""

import math
import random

import cvxpy as cp
import numpy as np
import pyomo.environ as pyo
import pytest

import fairalloc as fa
from fairalloc.formulations.common.convexity import _proved, doubt, with_values
from fairalloc.formulations.common.kkt_residual import value_of_pyomo
from fairalloc.models.examples.published import example

KHAMSE = example("khamse-fig1").instance


def variables():
    """x, y >= 0; f, h free; n from -3 to -1; w fixed at 2; p = 2 and q = -1 parameters."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(domain=pyo.NonNegativeReals), pyo.Var(domain=pyo.NonNegativeReals)
    m.f, m.h, m.n = pyo.Var(), pyo.Var(), pyo.Var(bounds=(-3, -1))
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
    "reciprocal of what rises to 0": lambda m: pyo.log((0.5 + 1 / (m.n + 1)) ** 2),
}


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


def test_what_is_no_row_and_several_objectives():
    model = fa.pyomo_tasks(KHAMSE)
    assert doubt(model) == "it has 0 objectives"
    model.goal = pyo.Objective(expr=sum(model.x.values()))
    model.set = pyo.SOSConstraint(var=model.x, sos=1)
    assert doubt(model) == "it has a SOSConstraint"


def test_problems_of_cvxpy_count_with_the_values_of_their_parameters():
    x, p = cp.Variable(2, nonneg=True), cp.Parameter(value=-1.0)
    problem = cp.Problem(cp.Maximize(p * cp.sum_squares(x)), [x <= 1])
    assert not problem.is_dcp()
    assert doubt(problem) == ""
    assert with_values(problem).variables() == problem.variables()
    p.value = 1.0
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
