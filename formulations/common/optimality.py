r"""The optimality conditions of a model at its values and duals, for mechanisms without a residual of their own.

For min f(x) subject to a_k(x) <= b_k, h_k(x) = 0 and x_j >= 0 for some j (a maximum is the minimum of -f), with duals
lambda_k >= 0 of the inequalities and any duals of the equations, let

    r = grad f + sum_k lambda_k grad (a_k - b_k) + sum_k lambda_k grad h_k.

The residual is the largest of

    primal      how far a constraint is violated, relative to its two sides
    dual        how far r_j is from 0 (from >= 0 where x_j >= 0), relative to the sizes of its terms; duals of the wrong sign
    gap         sum_k |lambda_k| slack_k + sum_j x_j r_j over x_j >= 0, relative to sum_j |x_j| |grad f_j|

which are 0 together exactly at an optimum of a convex program (Karush, Kuhn, Tucker). Values and duals are the solver's claim;
functions and derivatives are computed here from the model.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    from collections.abc import Mapping

    import cvxpy as cp
    import pyomo.environ as pyo

__all__ = ["optimality_of_cvxpy", "optimality_of_pyomo"]

SMOOTH = frozenset(
    ("log", "exp", "power", "Power", "PowerApprox", "quad_over_lin", "QuadForm", "SymbolicQuadForm", "log_sum_exp", "entr")
) | frozenset(("geo_mean", "GeoMean", "GeoMeanApprox", "kl_div", "rel_entr", "logistic", "log1p", "inv_prod"))
"""Functions that are not affine but have derivatives wherever they are finite."""

TINY = 1e-300

NOISE = 1e-4
"""Terms below this part of the largest are measured against the largest: solvers leave rounding where they mean 0."""


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
    start = {v.id: slope.get(v.id, np.zeros(v.size)) for v in variables}
    r, size = {k: part.copy() for k, part in start.items()}, {k: np.abs(part) for k, part in start.items()}
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
    return _largest(worst, gap, [(values[k], r[k], size[k], start[k], signed[k]) for k in r])


def _largest(worst: float, gap: float, parts: list[tuple[Floats, Floats, Floats, Floats, bool]]) -> float:
    """The residual from what constraints lack and, for each variable, x, r, the size of its terms, grad f and its sign."""
    unit, largest = 0.0, max((float(size.max(initial=0.0)) for _, _, size, _, _ in parts), default=0.0)
    for x, r, size, slope, signed in parts:
        lack = np.maximum(-r, 0.0) if signed else np.abs(r)
        worst = max(worst, float((lack / (size + NOISE * largest + TINY)).max(initial=0.0)))
        worst = max(worst, float((np.maximum(-x, 0.0) / (np.abs(x).max(initial=0.0) + TINY)).max(initial=0.0)) if signed else 0.0)
        gap += float(np.abs(x) @ np.maximum(r, 0.0)) if signed else 0.0
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

    None where it cannot be told: integers, complementarity conditions, no duals.
    """
    import pyomo.environ as pyo
    from pyomo.core.expr.calculus.derivatives import Modes, differentiate

    rows = list(model.component_data_objects(pyo.Constraint, active=True))
    free = [v for v in model.component_data_objects(pyo.Var) if not v.fixed and v.value is not None]
    goals = list(model.component_data_objects(pyo.Objective, active=True))
    if duals is None or len(goals) != 1 or any(row not in duals for row in rows) or not all(v.is_continuous() for v in free):
        return None
    if any(v.ub is not None or v.lb not in (None, 0) for v in free):
        return None
    place = {id(v): k for k, v in enumerate(free)}

    def slope(expr: Any) -> tuple[list[int], Floats]:
        found = [v for v in _variables(expr) if id(v) in place]
        return [place[id(v)] for v in found], np.array(
            differentiate(expr, wrt_list=found, mode=Modes.reverse_numeric), dtype=float
        )

    goal = np.zeros(len(free))
    at, parts = slope(goals[0].expr)
    goal[at] = parts * (-1.0 if goals[0].sense == pyo.maximize else 1.0)
    x, signed = np.array([v.value for v in free]), np.array([v.lb == 0 for v in free])
    best = np.inf
    for convention in (1.0, -1.0):
        r, size, worst, gap = goal.copy(), np.abs(goal), 0.0, 0.0
        top = max((abs(duals[row]) for row in rows), default=0.0) + TINY
        for row in rows:
            dual, body = convention * duals[row], pyo.value(row.body)
            low, high = (None if side is None else pyo.value(side) for side in (row.lower, row.upper))
            scale = abs(body) + max(abs(side) for side in (low, high) if side is not None) + TINY
            beyond = max([0.0, *([body - high] if high is not None else []), *([low - body] if low is not None else [])])
            worst = max(worst, beyond / scale)
            if not row.equality:
                side = high if dual > 0 else low
                worst = max(worst, abs(dual) / top if side is None else 0.0)
                gap += 0.0 if side is None else abs(dual) * abs(body - side)
            at, parts = slope(row.body)
            r[at] += dual * parts
            size[at] += np.abs(dual * parts)
        each = [(x[k : k + 1], r[k : k + 1], size[k : k + 1], goal[k : k + 1], bool(signed[k])) for k in range(len(free))]
        best = min(best, _largest(worst, gap, each))
    return best


def _variables(expr: Any) -> list[Any]:
    from pyomo.core.expr.visitor import identify_variables

    return list(identify_variables(expr, include_fixed=False))
