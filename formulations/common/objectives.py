"""What may be chosen by among several answers of one mechanism: objectives that are linear in the tasks.

utilisation   the mean, over the capacities that are not 0, of their used part
tasks         sum_n x_n
sum           sum_n x_n / G_n,   G_n = min(max_tasks_n, what n could run alone on all its servers together)
"""

from fractions import Fraction

from fairalloc.models.errors import require
from fairalloc.models.exact.rationals import Rationals, exact_arcs, exact_monopolies
from fairalloc.models.instance import Instance

LINEAR_OBJECTIVES = ("utilisation", "tasks", "sum")


def linear_objective(instance: Instance, objective: str) -> Rationals:
    """(A,) what one task on each arc adds to the objective, for users with one variant; InstanceError for another objective."""
    known = isinstance(objective, str) and objective in LINEAR_OBJECTIVES
    require(known, "objective is", objective, f"it must be {', '.join(LINEAR_OBJECTIVES)}, which are linear")
    arcs = exact_arcs(instance)
    if objective == "tasks":
        return (Fraction(1),) * len(arcs.user)
    if objective == "sum":
        alone = arcs.tasks(exact_monopolies(instance))
        most = [gamma if limit is None else min(gamma, limit) for gamma, limit in zip(alone, arcs.limits, strict=True)]
        return tuple(1 / most[n] for n in arcs.user)
    there = sum(c > 0 for row in instance.exact.capacities for c in row)
    return tuple(sum((part for _, part in load), Fraction(0)) / there for load in arcs.load)
