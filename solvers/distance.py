"""How far a given allocation is from any mechanism's answer, also from one without a residual of its own.

1. A mechanism with a residual is asked (judge.py).
2. Otherwise the tasks must be possible in its model: the model with x given has a solution.
3. Then the mechanism is solved, and where its optimality conditions hold the allocation is compared with that answer in what is
   unique: the shares of an edited lexicographic rule, the objective of one concave program.
"""

from typing import Any

import numpy as np

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Edited, Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.solvers.judge import proved
from fairalloc.solvers.method import Limits
from fairalloc.solvers.options import ACCURACY
from fairalloc.solvers.solve import solve

__all__ = ["distance"]

GIVEN = 1e-9
"""How far tasks may be from the given ones, relative to the largest, when the model is asked whether they are possible."""


def distance(
    mechanism: Mechanism, allocation: Allocation, limits: Limits | None = None, reference: bool | None = None
) -> tuple[float | None, str]:
    """The distance, dimensionless and 0 at the mechanism's answer, and how it is known.

    Parameters
    ----------
    mechanism : with its parameters
    allocation : on the mechanism's home instance
    limits : of which the deadline counts
    reference : whether an independent reference may be asked; None = on at most `Judging.reference_arcs` arcs

    Returns
    -------
    The distance, inf where the model does not allow the tasks, None where it cannot be told; and one sentence
    """
    if mechanism.has_residual:
        known = proved(mechanism, allocation, limits, reference)
        if known.not_judged or known.not_decided:
            return None, known.not_judged or known.not_decided
        return known.residual, "the residual of its definition, from the instance alone"
    limits = limits or Limits()
    if "cvxpy" not in mechanism.layers:
        return None, f"not judged: {mechanism.id!r} has no residual and no CVXPY model to compare with"
    instance = allocation.instance
    item = mechanism.settled(instance)
    value, words = _objective_at(item, item.domain(instance), allocation)
    if value is None:
        return np.inf, words
    answer = solve(instance, item, time_limit=limits.left if limits.limited else None)
    if answer.not_judged or not answer.residual <= ACCURACY["mid"]:
        return None, f"not judged: no answer of {mechanism.id!r} is known to be optimal ({answer.not_judged or answer.message})"
    if item.takes_rounds and isinstance(item, Edited) and isinstance(item.base, Leximin):
        return float(np.abs(allocation.tasks / answer.tasks - 1.0).max()), "shares compared with those of an optimal answer"
    best = answer.values.get("objective", np.nan)
    return abs(best - value) / max(abs(best), abs(value), 1e-300), "objective compared with that of an optimal answer"


def _objective_at(mechanism: Mechanism, domain: Instance, allocation: Allocation) -> tuple[float | None, str]:
    """The best objective of the model with these tasks, or None and why they are not possible."""
    import cvxpy as cp

    problem: Any = mechanism.write_cvxpy(domain)
    near = cp.abs(problem.var_dict["x"] - allocation.x) <= GIVEN * max(float(np.abs(allocation.x).max(initial=0.0)), 1e-300)
    trial = cp.Problem(problem.objective, [*problem.constraints, near])
    try:
        value = trial.solve()
    except (cp.SolverError, ValueError) as error:
        return None, f"its model cannot be solved with these tasks: {str(error).splitlines()[0]}"
    if value is None or not np.isfinite(value):
        return None, f"the model of {mechanism.id!r} does not allow these tasks"
    return float(value), ""
