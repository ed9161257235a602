r"""The optimality conditions of a model at its values and duals, for mechanisms without a residual of their own.

For min f(x) subject to a_k(x) <= b_k, h_k(x) = 0 and x_j >= 0 for some j (a maximum is the minimum of -f), with duals
lambda_k >= 0 of the inequalities and any duals of the equations, let

    r = grad f + sum_k lambda_k grad (a_k - b_k) + sum_k lambda_k grad h_k.

The residual is the largest of

    primal      how far a constraint is violated, relative to its two sides
    dual        how far r_j is from 0 (from >= 0 where x_j >= 0), relative to the sizes of its terms; duals of the wrong sign
    gap         sum_k |lambda_k| slack_k + sum_j x_j r_j over x_j >= 0, relative to sum_j |x_j| (|grad f_j| + |H x|_j)

with H the Hessian of f, which are 0 together exactly at an optimum of a convex program (Karush, Kuhn, Tucker); convexity.py
proves that a model is one. Values and duals are the solver's claim; functions and derivatives are computed here from the model.

Functions without derivatives (minimum, norms) and cones are judged by a bound on the objective instead, which the dual values of
the model's canonical cone program prove (conic.py), and integers by the bound of branch and bound: the residual is then the
largest of `primal`, what the bound lacks, and the gap between the model's objective and the bound.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.conic import Bound
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from collections.abc import Mapping

    import cvxpy as cp
    import pyomo.environ as pyo

__all__ = ["gap_of_cvxpy", "gap_of_pyomo", "optimality_of_cvxpy", "optimality_of_pyomo", "value_of_pyomo", "violation_of_cvxpy"]

SMOOTH = frozenset(
    ("log", "exp", "power", "Power", "PowerApprox", "quad_over_lin", "QuadForm", "SymbolicQuadForm", "log_sum_exp", "entr")
) | frozenset(("geo_mean", "GeoMean", "GeoMeanApprox", "kl_div", "rel_entr", "logistic", "log1p", "inv_prod"))
"""Functions that are not affine but have derivatives wherever they are finite."""

TINY = 1e-300

NOISE = 1e-4
"""Terms below this part of the largest are measured against the largest: solvers leave rounding where they mean 0."""


STEP = 1e-4
"""The part by which values are changed to see how slopes change."""


def optimality_of_cvxpy(problem: "cp.Problem") -> float | None:
    """The residual at the values and dual values in the problem.

    None where it cannot be told: integers, cones, functions without derivatives, or no duals.
    """
    variables = problem.variables()
    if problem.is_mixed_integer() or not _differentiable(problem) or any(_unusual(v) for v in variables):
        return None
    if any(c.dual_value is None or type(c).__name__ not in ("Inequality", "Equality") for c in problem.constraints):
        return None
    sign = -1.0 if type(problem.objective).__name__ == "Maximize" else 1.0
    slope = {v.id: sign * part for v, part in _gradient(problem.objective.expr).items()}
    if any(v.value is None for v in variables):
        return None
    r = {v.id: slope.get(v.id, np.zeros(v.size)) for v in variables}
    own = _sizes_in_cvxpy(problem.objective.expr, variables)
    size = {k: part.copy() for k, part in own.items()}
    worst, gap = 0.0, 0.0
    top = max((float(np.abs(c.dual_value).max(initial=0.0)) for c in problem.constraints), default=0.0) + TINY
    for constraint in problem.constraints:
        left, right = (np.ravel(part.value, order="F") for part in constraint.args)
        excess = left - right
        dual = np.ravel(constraint.dual_value, order="F") * np.ones(len(excess))
        inequality = type(constraint).__name__ == "Inequality"
        scale = np.abs(left) + np.abs(right)
        scale = scale + NOISE * scale.max(initial=0.0) + TINY
        worst = max(worst, float(((np.maximum(excess, 0) if inequality else np.abs(excess)) / scale).max(initial=0.0)))
        if inequality:
            worst = max(worst, float(np.maximum(-dual, 0).max(initial=0.0)) / top)
            gap += float(np.abs(dual) @ np.abs(excess))
        for v, part in _jacobian(constraint.expr).items():
            r[v.id] += part @ dual
            size[v.id] += np.abs(part) @ np.abs(dual)
    signed = {v.id: bool(v.is_nonneg()) for v in variables}
    values = {v.id: np.ravel(v.value, order="F") for v in variables}
    return _largest(worst, gap, [_Part(values[k], r[k], size[k], own[k], 0.0 if signed[k] else -np.inf) for k in r])


def _sizes_in_cvxpy(expr: Any, variables: list[Any]) -> dict[int, Floats]:
    """By variable |grad f| + |H x| for the Hessian H, by a difference: how slopes change where all values change alike.

    Where the slopes themselves vanish, inside of what constraints allow, this is their scale.
    """
    here, values = _gradient(expr), [v.value for v in variables]
    for v in variables:
        v.save_value(v.value * (1 + STEP))
    there = _gradient(expr)
    for v, value in zip(variables, values, strict=True):
        v.save_value(value)
    result = {v.id: np.zeros(v.size) for v in variables}
    for v, part in here.items():
        bend = np.abs(there[v] - part) / STEP if v in there else 0.0
        result[v.id] = np.abs(part) + np.where(np.isfinite(bend), bend, 0.0)
    return result


def gap_of_cvxpy(problem: "cp.Problem", bound: Bound) -> float:
    """The residual at the values in the problem by a bound on its objective, as a minimum, without derivatives and duals.

    Where the objective is strictly concave a gap is of second order in the tasks.
    """
    value = _least(problem)
    if value is None:
        return np.inf
    size = max(abs(value), abs(bound.value)) + NOISE * bound.size + TINY
    return float(max(violation_of_cvxpy(problem), bound.lack, abs(value - bound.value) / size))


def _least(problem: "cp.Problem") -> float | None:
    """The objective as a minimum, None where a variable has no value or it is not finite."""
    value = None if any(v.value is None for v in problem.variables()) else problem.objective.value
    if value is None or not np.isfinite(value):
        return None
    return -float(value) if type(problem.objective).__name__ == "Maximize" else float(value)


def violation_of_cvxpy(problem: "cp.Problem") -> float:
    """How far constraints, and what variables are declared to be, are violated, relative to their sizes."""
    worst = 0.0
    for constraint in problem.constraints:
        parts = [np.ravel(part.value) for part in constraint.args]
        scale = sum(np.abs(part) for part in parts) if type(constraint).__name__ in ("Inequality", "Equality") else None
        top = max(float(np.abs(part).max(initial=0.0)) for part in parts) + TINY
        excess = np.abs(np.ravel(constraint.violation()))
        worst = max(worst, float((excess / (top if scale is None else scale + NOISE * top)).max(initial=0.0)))
    for variable in problem.variables():
        worst = max(worst, _undeclared(variable) / (float(np.abs(variable.value).max(initial=0.0)) + TINY))
    return worst


def _undeclared(variable: Any) -> float:
    """How far a variable's value is from the signs, bounds, integers or matrices that it is declared to be."""
    value, attributes = np.asarray(variable.value), variable.attributes
    near = [variable.project(value)]  # CVXPY projects where there is one attribute
    if attributes["nonneg"] or attributes["pos"]:
        near.append(np.maximum(value, 0.0))
    if attributes["nonpos"] or attributes["neg"]:
        near.append(np.minimum(value, 0.0))
    if attributes["bounds"] is not None:
        near.append(np.clip(value, *(getattr(side, "value", side) for side in attributes["bounds"])))
    if attributes["boolean"]:
        near.append(_rounded(np.clip(value, 0.0, 1.0), value, variable.boolean_idx))
    if attributes["integer"]:
        near.append(_rounded(value, value, variable.integer_idx))
    return max(float(np.abs(part - value).max(initial=0.0)) for part in near)


def _rounded(near: Any, value: Any, places: Any) -> Any:
    """`value` with `near`, rounded, in some places."""
    result = np.array(value, dtype=float)
    result[places] = np.round(near)[places]
    return result


class _Part(NamedTuple):
    """One variable: its values, r, the sizes of the terms of r, grad f, and its bounds."""

    x: Floats
    r: Floats
    size: Floats
    slope: Floats
    low: float = -np.inf
    high: float = np.inf


def _largest(worst: float, gap: float, parts: list[_Part]) -> float:
    """The residual from what constraints lack, their gap, and the variables."""
    unit, largest = 0.0, max((float(part.size.max(initial=0.0)) for part in parts), default=0.0)
    longest = max((float(np.abs(part.x).max(initial=0.0)) for part in parts), default=0.0)
    for x, r, size, slope, low, high in parts:
        over, under = np.maximum(r, 0.0), np.maximum(-r, 0.0)
        lack = (0.0 if np.isfinite(low) else over) + (0.0 if np.isfinite(high) else under)
        worst = max(worst, float((lack / (size + NOISE * largest + TINY)).max(initial=0.0)))
        top = float(np.abs(x).max(initial=0.0)) + NOISE * longest + TINY
        worst = max(worst, float(np.maximum(np.maximum(low - x, x - high), 0.0).max(initial=0.0)) / top)
        gap += float(np.abs(x - low) @ over) if np.isfinite(low) else 0.0
        gap += float(np.abs(x - high) @ under) if np.isfinite(high) else 0.0
        unit += float(np.abs(x) @ np.abs(slope))
    return float(max(worst, gap / (unit or 1.0)))


def _differentiable(problem: "cp.Problem") -> bool:
    return all(atom.__name__ in SMOOTH or _affine(atom) for atom in problem.atoms())


def _affine(atom: Any) -> bool:
    from cvxpy.atoms.affine.affine_atom import AffAtom

    return isinstance(atom, type) and issubclass(atom, AffAtom)


def _unusual(variable: Any) -> bool:
    """Whether it has another attribute than being nonnegative, whose dual CVXPY does not give."""
    return any(
        value is not None and value is not False for name, value in variable.attributes.items() if name not in ("nonneg", "pos")
    )


def _gradient(expr: Any) -> dict[Any, Floats]:
    return {v: np.asarray(part.sum(axis=1)).ravel() for v, part in _jacobian(expr).items()}


def _jacobian(expr: Any) -> dict[Any, sp.csc_array]:
    """(size of the variable, size of the expression) derivatives, by columns first."""
    shape = (-1, expr.size)
    return {
        v: sp.csc_array(np.asarray(part).reshape(shape) if np.isscalar(part) else part)
        for v, part in expr.grad.items()
        if part is not None
    }


def optimality_of_pyomo(model: "pyo.ConcreteModel", duals: "Mapping[Any, float] | None") -> float | None:
    """The same of a Pyomo model at the values of its variables and `duals` by constraint, of either sign convention.

    None where it cannot be told: integers, complementarity conditions, no duals, no derivatives at these values.
    """
    import pyomo.environ as pyo

    rows = list(model.component_data_objects(pyo.Constraint, active=True))
    free = _free(model)
    goals = list(model.component_data_objects(pyo.Objective, active=True))
    if duals is None or len(goals) != 1 or any(row not in duals for row in rows) or not all(v.is_continuous() for v in free):
        return None
    place = {id(v): k for k, v in enumerate(free)}
    slopes = [_slope(part, place) for part in (goals[0].expr, *(row.body for row in rows))]
    if any(part is None for part in slopes):
        return None
    (at, parts), *each_row = (part for part in slopes if part is not None)
    goal = np.zeros(len(free))
    goal[at] = parts * (-1.0 if goals[0].sense == pyo.maximize else 1.0)
    x = np.array([v.value for v in free])
    scale = np.abs(goal) + _bend(goals[0].expr, free, place)
    best = np.inf
    for convention in (1.0, -1.0):
        r, size, worst, gap = goal.copy(), scale.copy(), 0.0, 0.0
        top = max((abs(duals[row]) for row in rows), default=0.0) + TINY
        for row, (at, parts) in zip(rows, each_row, strict=True):
            dual, body = convention * duals[row], pyo.value(row.body)
            low, high = (None if side is None else pyo.value(side) for side in (row.lower, row.upper))
            worst = max(worst, _beyond(row, float(np.abs(x[at]) @ np.abs(parts))))
            if not row.equality:
                side = high if dual > 0 else low
                worst = max(worst, abs(dual) / top if side is None else 0.0)
                gap += 0.0 if side is None else abs(dual) * abs(body - side)
            r[at] += dual * parts
            size[at] += np.abs(dual * parts)
        each = []
        for k, v in enumerate(free):
            low, high = (-np.inf if v.lb is None else v.lb), (np.inf if v.ub is None else v.ub)
            each.append(_Part(x[k : k + 1], r[k : k + 1], size[k : k + 1], scale[k : k + 1], low, high))
        best = min(best, _largest(worst, gap, each))
    return best


def _bend(expr: Any, free: list[Any], place: "Mapping[int, int]") -> Floats:
    """|H x| for the Hessian H of an expression of Pyomo, as in `_sizes_in_cvxpy`."""
    result, x = np.zeros(len(free)), [v.value for v in free]
    here = _slope(expr, place)
    for v in free:
        v.set_value(v.value * (1 + STEP), skip_validation=True)
    there = _slope(expr, place)
    for v, value in zip(free, x, strict=True):
        v.set_value(value, skip_validation=True)
    if here is not None and there is not None:
        result[here[0]] = np.abs(there[1] - here[1]) / STEP
    return result


def gap_of_pyomo(model: "pyo.ConcreteModel", bound: float) -> float | None:
    """The residual of a Pyomo model at the values of its variables by a bound on its objective, as branch and bound proves it."""
    import pyomo.environ as pyo

    goals = list(model.component_data_objects(pyo.Objective, active=True))
    if len(goals) != 1 or not np.isfinite(bound):
        return None
    value, worst, free = value_of_pyomo(goals[0]), 0.0, _free(model)
    if not np.isfinite(value):
        return np.inf
    x, place = np.array([v.value for v in free]), {id(v): k for k, v in enumerate(free)}
    for row in model.component_data_objects(pyo.Constraint, active=True):
        at, parts = _slope(row.body, place) or ([], np.empty(0))
        worst = max(worst, _beyond(row, float(np.abs(x[at]) @ np.abs(parts))))
    for v in free:
        low, high = (-np.inf if v.lb is None else v.lb), (np.inf if v.ub is None else v.ub)
        away = max(low - v.value, v.value - high, 0.0 if v.is_continuous() else abs(v.value - round(v.value)))
        worst = max(worst, away / (abs(v.value) + 1.0))
    return max(worst, abs(value - bound) / (max(abs(value), abs(bound)) + TINY))


def _free(model: "pyo.ConcreteModel") -> list[Any]:
    """The variables that have a value and are not fixed."""
    import pyomo.environ as pyo

    return [v for v in model.component_data_objects(pyo.Var) if not v.fixed and v.value is not None]


def value_of_pyomo(expr: Any) -> float:
    """The value of an expression of Pyomo; nan where it has none, as the logarithm of 0."""
    import pyomo.environ as pyo

    try:
        value = pyo.value(expr, exception=False)
        return float(np.nan if value is None or isinstance(value, complex) else value)
    except (ArithmeticError, ValueError, TypeError):
        return float(np.nan)


def _beyond(row: Any, terms: float) -> float:
    """How far a constraint of Pyomo is violated, relative to its sides and to the sizes of the terms of its body."""
    import pyomo.environ as pyo

    body = value_of_pyomo(row.body)
    if not np.isfinite(body):
        return np.inf
    low, high = (None if side is None else pyo.value(side) for side in (row.lower, row.upper))
    scale = max(abs(body), terms) + max(abs(side) for side in (low, high) if side is not None) + TINY
    beyond = max([0.0, *([body - high] if high is not None else []), *([low - body] if low is not None else [])])
    return float(beyond / scale)


def _slope(expr: Any, place: "Mapping[int, int]") -> tuple[list[int], Floats] | None:
    """The derivatives of an expression of Pyomo and the places of their variables, None where there is none."""
    from pyomo.core.expr.calculus.derivatives import Modes, differentiate
    from pyomo.core.expr.calculus.diff_with_pyomo import DifferentiationException
    from pyomo.core.expr.visitor import identify_variables

    found = [v for v in identify_variables(expr, include_fixed=False) if id(v) in place]
    try:
        parts = np.array(differentiate(expr, wrt_list=found, mode=Modes.reverse_numeric), dtype=float)
    except (DifferentiationException, ArithmeticError, ValueError, NotImplementedError):
        return None
    return ([place[id(v)] for v in found], parts) if np.isfinite(parts).all() else None
