"""What kind of program a model is, read off the model: linear, with integers, concave; and whether its objective is a level."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.common.convexity import UNREADABLE, doubt
from fairalloc.formulations.common.kkt_residual import active

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo

__all__ = ["read_off", "rises_with"]


def read_off(model: Any) -> dict[str, bool]:
    """{"linear", "integer", "convex"} of a CVXPY problem or a Pyomo model.

    A piecewise linear concave program counts as linear, for CVXPY writes it as one. A CVXPY problem that only the values of its
    parameters make a concave program is none here, for CVXPY's solvers of concave programs refuse it.
    """
    return _of_cvxpy(model) if hasattr(model, "is_dcp") else _of_pyomo(model)


def _of_cvxpy(problem: "cp.Problem") -> dict[str, bool]:
    convex = bool(problem.is_dcp())
    parts = [problem.objective.expr, *(part for c in problem.constraints for part in c.args)]
    simple = all(type(c).__name__ in ("Equality", "Inequality", "Zero", "NonNeg", "NonPos") for c in problem.constraints)
    linear = convex and simple and all(part.is_pwl() for part in parts)  # simple: no cones
    return {"linear": linear, "integer": bool(problem.is_mixed_integer()), "convex": convex}


def _of_pyomo(model: "pyo.ConcreteModel") -> dict[str, bool]:
    from pyomo.core.expr.numvalue import polynomial_degree

    parts = [*(row.body for row in active(model, "Constraint")), *(goal.expr for goal in active(model, "Objective"))]
    linear = all(polynomial_degree(part) in (0, 1) for part in parts)
    integer = any(not v.is_continuous() for v in active(model, "Var"))
    return {"linear": linear, "integer": integer, "convex": not doubt(model)}


def rises_with(goal: Any, level: Any) -> bool:
    """Whether an objective of CVXPY or Pyomo is affine in this variable alone, and better the larger it is.

    A number may be added, and parameters count with the values that they have.
    """
    slopes = _slopes_in_cvxpy(goal) if hasattr(goal, "is_dcp") else _slopes_in_pyomo(goal)
    return slopes is not None and slopes.pop(id(level), 0.0) > 0 and not any(slopes.values())


def _slopes_in_cvxpy(goal: Any) -> dict[int, float] | None:
    """By the id of a variable the derivative of an affine objective to be maximised, the largest where it is an array."""
    expr = goal.expr
    if not expr.is_affine() or any(p.value is None for p in expr.parameters()):
        return None
    before = [(v, v.value) for v in expr.variables()]
    for v, _ in before:
        v.save_value(np.zeros(v.shape))
    slopes = {id(v): np.ravel(part.toarray() if hasattr(part, "toarray") else part) for v, part in expr.grad.items()}
    for v, value in before:
        v.save_value(value)
    sign = -1.0 if type(goal).__name__ == "Minimize" else 1.0
    return {v: sign * float(part[np.argmax(np.abs(part))]) for v, part in slopes.items()}


def _slopes_in_pyomo(goal: Any) -> dict[int, float] | None:
    """The same."""
    from pyomo.repn import generate_standard_repn

    try:
        parts = generate_standard_repn(goal.expr, compute_values=True, quadratic=False)
    except UNREADABLE:
        return None
    if parts.nonlinear_expr is not None:
        return None
    sign = -1.0 if goal.is_minimizing() else 1.0
    return {id(v): sign * float(c) for v, c in zip(parts.linear_vars, parts.linear_coefs, strict=True)}
