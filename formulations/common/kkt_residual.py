r"""The optimality conditions of a model at its values and duals, for mechanisms without a residual of their own.

For min f(x) subject to a_k(x) <= b_k, h_k(x) = 0 and x_j >= 0 for some j (a maximum is the minimum of -f), with duals
lambda_k >= 0 of the inequalities and any duals of the equations, let

    r = grad f + sum_k lambda_k grad (a_k - b_k) + sum_k lambda_k grad h_k.

The residual is the largest of

    primal      how far a constraint is violated, relative to its two sides
    dual        how far r_j is from 0 (from >= 0 where x_j >= 0), relative to the sizes of its terms; duals of the wrong sign
    gap         sum_k |lambda_k| slack_k + sum_j x_j r_j over x_j >= 0, relative to sum_j |x_j| (|grad f_j| + |H x|_j)

with H the Hessian of f: of a convex program (convexity.py) all are 0 only at an optimum, with duals that prove it. Functions
without derivatives and cones are judged by a bound on the objective that the dual values of the model's cone program prove
(conic.py), and integers by that of branch and bound: by `primal`, what the bound lacks, and the gap to the bound.
"""

from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.conic import NOISE, TINY, Bound, outside_of_signs, relative
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.models.numbers import Floats, worst

SMOOTH = frozenset(
    ("log", "exp", "power", "Power", "PowerApprox", "quad_over_lin", "QuadForm", "SymbolicQuadForm", "log_sum_exp", "entr")
) | frozenset(("geo_mean", "GeoMean", "GeoMeanApprox", "kl_div", "rel_entr", "logistic", "log1p", "inv_prod"))
"""Functions that are not affine but have derivatives wherever they are finite."""

STEP = 1e-4
"""The part by which values are changed to see how slopes change."""


class Variables(NamedTuple):
    """(n,) values, their lower and upper bounds, and the sizes that violations of bounds are relative to."""

    x: Floats
    low: Floats
    high: Floats
    unit: Floats


class Constraints(NamedTuple):
    """The derivatives (m, n) of m constraints, and for each of them (m,):

    dual : the multiplier, with r = grad f + dual @ rows
    violation : relative to the constraint's sides and terms
    slack : the distance from the side that the dual is of
    wrong : the size of a dual of the wrong sign
    """

    rows: sp.csr_array
    dual: Floats
    violation: Floats
    slack: Floats
    wrong: Floats


def _residual(variables: Variables, slope: Floats, own: Floats, constraints: Constraints) -> float:
    """The largest of primal, dual and gap of a model as a minimum; slope (n,) is grad f, own (n,) is |grad f| + |H x|."""
    (x, low, high, unit), (rows, dual, violation, slack, wrong) = variables, constraints
    r, size = slope + dual @ rows, own + np.abs(dual) @ abs(rows)
    free, over, under = outside_of_signs(r, low, high)
    outside = np.maximum(np.maximum(low - x, x - high), 0.0) / unit
    below, above = (np.where(np.isfinite(side), np.abs(x - side), 0.0) for side in (low, high))
    gap = float(np.abs(dual) @ slack + below @ over + above @ under) / (float(np.abs(x) @ own) or 1.0)
    parts = (violation, wrong / (np.abs(dual).max(initial=0.0) + TINY), relative(free, size), outside)
    return worst([gap, *(part.max(initial=0.0) for part in parts)])


def has_integers(problem: "cp.Problem") -> bool:
    """Whether a CVXPY problem has integers; CVXPY itself does not count those of its FiniteSet."""
    return bool(problem.is_mixed_integer()) or any(type(c).__name__ == "FiniteSet" for c in problem.constraints)


def optimality_of_cvxpy(problem: "cp.Problem") -> float | None:
    """The residual at the values and duals in the problem; None for integers, cones, no duals, functions without derivatives."""
    variables, goal = problem.variables(), problem.objective
    if not _is_told_by_duals(problem) or any(v.value is None for v in variables):
        return None
    slope = _jacobian(goal.expr, variables).toarray()[0]
    own = np.abs(slope) + _bend(goal.expr, variables, slope)
    x = np.concatenate([_flat(v.value) for v in variables])
    most = np.concatenate([np.full(v.size, np.abs(v.value).max(initial=0.0)) for v in variables])
    low = np.concatenate([np.full(v.size, 0.0 if v.is_nonneg() else -np.inf) for v in variables])
    values = Variables(x, low, np.full(len(x), np.inf), most + NOISE * most.max(initial=0.0) + TINY)
    each = [_constraint_in_cvxpy(c, variables) for c in problem.constraints]
    matrix = sp.vstack([c.rows for c in each] or [sp.csr_array((0, len(x)))], format="csr")
    parts = [np.concatenate(part) for part in zip(*(c[1:] for c in each), strict=True)] if each else [np.empty(0)] * 4
    sign = -1.0 if type(goal).__name__ == "Maximize" else 1.0
    return _residual(values, sign * slope, own, Constraints(matrix, *parts))


def _is_told_by_duals(problem: "cp.Problem") -> bool:
    """Whether derivatives and duals say if the values of a problem are optimal: no integers, no cones, and all duals."""
    parts, declared = (problem.objective, *problem.constraints), chain(*(v.attributes.items() for v in problem.variables()))
    affine = cp.atoms.affine.affine_atom.AffAtom
    smooth = all(a.__name__ in SMOOTH or (isinstance(a, type) and issubclass(a, affine)) for a in problem.atoms())
    # other attributes than being nonnegative have duals that CVXPY does not give
    plain = all(name in ("nonneg", "pos") or value is None or value is False for name, value in declared)
    known = all(c.dual_value is not None and type(c).__name__ in ("Inequality", "Equality") for c in problem.constraints)
    return smooth and plain and known and not has_integers(problem) and not any(map(_divides, parts))


def _bend(expr: Any, variables: list[Any], slope: Floats) -> Floats:
    """(n,) |H x|: by how much the slope of an expression changes where all values grow by the part STEP, in this part."""
    before = [v.value for v in variables]
    for v, value in zip(variables, before, strict=True):
        v.save_value(value * (1 + STEP))
    bend = np.abs(_jacobian(expr, variables).toarray()[0] - slope) / STEP
    for v, value in zip(variables, before, strict=True):
        v.save_value(value)
    return np.where(np.isfinite(bend), bend, 0.0)


def _constraint_in_cvxpy(constraint: Any, variables: list[Any]) -> Constraints:
    """An equation or inequality of CVXPY, one row for each of its entries."""
    left, right = (_flat(part.value) for part in constraint.args)
    rows, excess = _jacobian(constraint.expr, variables), left - right
    scale = _sizes_of_terms(constraint, rows, variables)
    dual = np.ravel(constraint.dual_value, order="F") * np.ones(len(excess))
    if type(constraint).__name__ == "Equality":
        return Constraints(rows, dual, relative(np.abs(excess), scale), np.zeros(len(excess)), np.zeros(len(excess)))
    return Constraints(rows, dual, relative(np.maximum(excess, 0.0), scale), np.abs(excess), np.maximum(-dual, 0.0))


def _sizes_of_terms(constraint: Any, rows: sp.csr_array, variables: list[Any]) -> Floats:
    """(m,) what violations of an equation or inequality are relative to: its sides, and its terms, which may cancel."""
    values = [np.abs(_flat(v.value)) for v in variables]
    sizes = np.concatenate([value + NOISE * value.max(initial=0.0) for value in values])  # of zeros only rounding is left
    terms: Floats = abs(rows) @ sizes
    return np.maximum(sum(np.abs(_flat(part.value)) for part in constraint.args), terms)


def gap_of_cvxpy(problem: "cp.Problem", bound: Bound) -> float:
    """The residual at the values in the problem by a bound on its objective, as a minimum, without derivatives and duals."""
    value = None if any(v.value is None for v in problem.variables()) else problem.objective.value
    if value is None or not np.isfinite(value):
        return np.inf
    value = -float(value) if type(problem.objective).__name__ == "Maximize" else float(value)
    size = max(abs(value), abs(bound.value)) + NOISE * bound.size + TINY
    return worst([violation_of_cvxpy(problem), bound.lack, abs(value - bound.value) / size])


def violation_of_cvxpy(problem: "cp.Problem") -> float:
    """How far constraints, and what variables are declared to be, are violated, relative to their sizes."""
    found, variables = [0.0], problem.variables()
    for constraint in problem.constraints:
        excess = np.abs(np.ravel(constraint.residual, order="F"))
        if type(constraint).__name__ in ("Equality", "Inequality", "Zero", "NonNeg", "NonPos"):
            excess = relative(excess, _sizes_of_terms(constraint, _jacobian(constraint.expr, variables), variables))
        else:
            excess = excess / (max(float(np.abs(_flat(part.value)).max(initial=0.0)) for part in constraint.args) + TINY)
        found.append(float(excess.max(initial=0.0)))
    for variable in variables:
        found.append(_undeclared(variable) / (float(np.abs(_flat(variable.value)).max(initial=0.0)) + TINY))
    return worst(found)


def _undeclared(variable: Any) -> float:
    """How far a variable's value is from the signs, bounds, integers or matrices that it is declared to be."""
    value, farthest = np.reshape(_flat(variable.value), variable.shape, order="F"), 0.0
    for name, given in variable.attributes.items():
        if given is None or given is False:
            continue
        told = [getattr(side, "value", side) for side in given] if name == "bounds" else given
        near = cp.Variable(variable.shape, **{name: told}).project(value)  # CVXPY projects where there is one attribute
        farthest = max(farthest, float(np.abs(_flat(near) - _flat(value)).max(initial=0.0)))
    return farthest


def _flat(value: Any) -> Floats:
    """A value of CVXPY's by columns, which is a sparse matrix for diagonal variables."""
    return np.ravel(value.toarray() if sp.issparse(value) else value, order="F")


def _jacobian(expr: Any, variables: list[Any]) -> sp.csr_array:
    """(size of the expression, n) derivatives, by columns first; 0 where CVXPY has none."""
    found: dict[Any, Any] = {}
    with suppress(NotImplementedError):
        known = {} if _divides(expr) else expr.grad
        found = {v: [[part]] if np.isscalar(part) else part for v, part in known.items() if part is not None}
    each = [sp.csc_array(found[v]).T if v in found else sp.csr_array((expr.size, v.size)) for v in variables]
    return sp.hstack(each, format="csr")


def _divides(part: Any) -> bool:
    """Whether something is divided by what is not constant: CVXPY takes that for affine, so its derivatives are nonsense."""
    return (type(part).__name__ == "DivExpression" and not part.args[1].is_constant()) or any(map(_divides, part.args))


def optimality_of_pyomo(model: "pyo.ConcreteModel", duals: Mapping[Any, float] | None) -> float | None:
    """The same of a Pyomo model, with `duals` by constraint, of either sign convention; None also with complementarity."""
    given, free, goals = active(model, "Constraint"), _free(model), active(model, "Objective")
    if duals is None or len(goals) != 1 or any(row not in duals for row in given) or not all(v.is_continuous() for v in free):
        return None
    place, x = {id(v): k for k, v in enumerate(free)}, np.array([v.value for v in free])
    rows, slope = rows_in_pyomo([row.body for row in given], place), rows_in_pyomo([goals[0].expr], place)
    if rows is None or slope is None:
        return None
    grad = slope.toarray()[0]
    own = np.abs(grad) + _bend_in_pyomo(goals[0].expr, free, place, grad)
    sign = 1.0 if goals[0].is_minimizing() else -1.0
    variables = Variables(x, *_sides([v.bounds for v in free]), np.abs(x) + NOISE * np.abs(x).max(initial=0.0) + TINY)
    body, (low, high) = np.array([pyo.value(row.body) for row in given]), _sides([(row.lower, row.upper) for row in given])
    equal, told = np.array([row.equality for row in given], dtype=bool), np.array([duals[row] for row in given], dtype=float)
    beyond, found = _beyond(body, low, high, rows, x), []
    for dual in (told, -told):
        away = np.abs(body - np.where(dual > 0, high, low))
        slack, wrong = np.where(equal | np.isinf(away), 0.0, away), np.where(~equal & np.isinf(away), np.abs(dual), 0.0)
        found.append(_residual(variables, sign * grad, own, Constraints(rows, dual, beyond, slack, wrong)))
    return min(found)


def _bend_in_pyomo(expr: Any, free: list[Any], place: Mapping[int, int], slope: Floats) -> Floats:
    """As `_bend`; 0 where there is no derivative."""
    before = [v.value for v in free]
    for v, value in zip(free, before, strict=True):
        v.set_value(value * (1 + STEP), skip_validation=True)
    there = rows_in_pyomo([expr], place)
    for v, value in zip(free, before, strict=True):
        v.set_value(value, skip_validation=True)
    return np.zeros_like(slope) if there is None else np.abs(there.toarray()[0] - slope) / STEP


def gap_of_pyomo(model: "pyo.ConcreteModel", bound: float) -> float | None:
    """The residual of a Pyomo model at the values of its variables by a bound on its objective, as branch and bound proves it."""
    goals = active(model, "Objective")
    if len(goals) != 1 or not np.isfinite(bound):
        return None
    if not np.isfinite(value := value_of_pyomo(goals[0])):
        return np.inf
    return worst([abs(value - bound) / (max(abs(value), abs(bound)) + TINY), violation_of_pyomo(model)])


def violation_of_pyomo(model: "pyo.ConcreteModel") -> float:
    """How far constraints, bounds and what is to be whole are violated, relative to their sizes."""
    given, free = active(model, "Constraint"), _free(model)
    body = np.array([value_of_pyomo(row.body) for row in given])
    if not np.isfinite(body).all():
        return np.inf
    x, place = np.array([v.value for v in free], dtype=float), {id(v): k for k, v in enumerate(free)}
    each = [sp.csr_array((1, len(x))) if row is None else row for row in (rows_in_pyomo([row.body], place) for row in given)]
    rows = sp.vstack(each or [sp.csr_array((0, len(x)))], format="csr")
    (low, high), whole = _sides([v.bounds for v in free]), np.array([not v.is_continuous() for v in free], dtype=bool)
    away = np.maximum(np.maximum(low - x, x - high), np.where(whole, np.abs(x - np.round(x)), 0.0)) / (np.abs(x) + 1.0)
    beyond = _beyond(body, *_sides([(row.lower, row.upper) for row in given]), rows, x)
    return worst([beyond.max(initial=0.0), away.max(initial=0.0)])


def active(model: Any, kind: str) -> list[Any]:
    """The active parts of a Pyomo model of the kind "Constraint", "Objective" or "Var", each by itself."""
    return list(model.component_data_objects(getattr(pyo, kind), active=True))


def _free(model: "pyo.ConcreteModel") -> list[Any]:
    """The variables that have a value and are not fixed."""
    return [v for v in model.component_data_objects(pyo.Var) if not v.fixed and v.value is not None]


def _sides(pairs: list[tuple[Any, Any]]) -> tuple[Floats, Floats]:
    """Lower and upper bounds, infinite where there are none."""
    low = [-np.inf if side is None else float(pyo.value(side)) for side, _ in pairs]
    return np.array(low), np.array([np.inf if side is None else float(pyo.value(side)) for _, side in pairs])


def _beyond(body: Floats, low: Floats, high: Floats, rows: sp.csr_array, x: Floats) -> Floats:
    """(m,) how far constraints are violated, relative to their sides and to the sizes of their terms."""
    sizes = abs(rows)
    terms = sizes @ (np.abs(x) + NOISE * np.abs(x).max(initial=0.0))  # of zeros only rounding is left
    sides = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)))
    beyond: Floats = np.maximum(np.maximum(low - body, body - high), 0.0) / (np.maximum(np.abs(body), terms) + sides + TINY)
    return beyond


def value_of_pyomo(expr: Any) -> float:
    """The value of an expression of Pyomo; nan where it has none, as the logarithm of 0."""
    try:
        value = pyo.value(expr, exception=False)
        return float(np.nan if value is None or isinstance(value, complex) else value)
    except (ArithmeticError, ValueError, TypeError):
        return float(np.nan)


def rows_in_pyomo(expressions: list[Any], place: Mapping[int, int]) -> sp.csr_array | None:
    """(m, n) the derivatives of expressions, None where one has none."""
    from pyomo.core.expr.calculus.diff_with_pyomo import DifferentiationException
    from pyomo.core.expr.visitor import identify_variables

    columns, data, start = list[int](), list[float](), [0]
    for expr in expressions:
        found = [v for v in identify_variables(expr, include_fixed=False) if id(v) in place]
        try:
            data += [float(part) for part in pyo.differentiate(expr, wrt_list=found)]
        except (DifferentiationException, ArithmeticError, ValueError, NotImplementedError):
            return None
        columns += [place[id(v)] for v in found]
        start.append(len(columns))
    if not np.isfinite(data).all():
        return None
    return sp.csr_array((np.array(data), np.array(columns, dtype=int), start), shape=(len(expressions), len(place)))
