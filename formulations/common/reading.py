"""What kind of program a model is, read off the model: linear, with integers, concave."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo

__all__ = ["read_off"]


def read_off(model: Any) -> dict[str, bool]:
    """{"linear", "integer", "convex"} of a CVXPY problem or a Pyomo model.

    A piecewise linear concave program counts as linear, for CVXPY writes it as one. Pyomo says nothing of curvature, so a Pyomo
    model is taken to be concave only where it is linear.
    """
    return _of_cvxpy(model) if hasattr(model, "is_dcp") else _of_pyomo(model)


def _of_cvxpy(problem: "cp.Problem") -> dict[str, bool]:
    convex = bool(problem.is_dcp())
    parts = [problem.objective.expr, *(part for c in problem.constraints for part in c.args)]
    linear = convex and all(_simple(c) for c in problem.constraints) and all(part.is_pwl() for part in parts)
    return {"linear": linear, "integer": bool(problem.is_mixed_integer()), "convex": convex}


def _simple(constraint: Any) -> bool:
    """Whether it is an equation or an inequality between numbers, and no cone."""
    return type(constraint).__name__ in ("Equality", "Inequality", "Zero", "NonNeg", "NonPos")


def _of_pyomo(model: "pyo.ConcreteModel") -> dict[str, bool]:
    import pyomo.environ as pyo

    rows = [row.body for row in model.component_data_objects(pyo.Constraint, active=True)]
    goals = [goal.expr for goal in model.component_data_objects(pyo.Objective, active=True)]
    linear = all(part.polynomial_degree() in (0, 1) for part in [*rows, *goals])
    integer = any(not v.is_continuous() for v in model.component_data_objects(pyo.Var, active=True))
    return {"linear": linear, "integer": integer, "convex": linear}
