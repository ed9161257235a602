r"""Floors: a mechanism's program or rounds for users who must run at least min_tasks_n tasks.

    the model of the mechanism,  and    u_n = sum of x over the user's arcs >= min_tasks_n    for users with a floor ("floor")

It is an edit of the mechanism (edited.py), which holds in the programs mmf, drfh-lp, utilitarian, nb, alpha-fair and fds, and in
every round of a lexicographic rule: a user stops where it can have no more while the others keep their levels and their floors.
Answers are judged by the optimality conditions of the model. Where no allocation has all floors, the answer names an irreducible
set of them that contradict each other (solvers/iis.py), and `explain` has their prices, the duals of "floor".
A mechanism whose conditions are about one server refuses: they have no place for a floor of a user's total.
"""

from typing import TYPE_CHECKING

import numpy as np

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.tasks import tasks_of
from fairalloc.formulations.drf_per_server import PerServer
from fairalloc.formulations.edited import Edited
from fairalloc.formulations.gavel_max_min import GavelMaxMin
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.uniform import Uniform
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo


def in_cvxpy(problem: "cp.Problem", instance: Instance) -> "cp.Problem":
    """The problem with the constraint "floor", u_n >= min_tasks_n."""
    import cvxpy as cp

    held = np.flatnonzero(instance.min_tasks)
    floor = (instance.arcs.owner[held] @ problem.var_dict["x"] >= instance.min_tasks[held]).set_label("floor")
    return cp.Problem(problem.objective, [*problem.constraints, floor])


def in_pyomo(model: "pyo.ConcreteModel", instance: Instance) -> None:
    """The model with the constraint `floor[n]`, u_n >= min_tasks_n."""
    import pyomo.environ as pyo

    tasks = tasks_of(model, instance)
    floors = {n: m for n, m in zip(instance.users, instance.min_tasks.tolist(), strict=True) if m}
    model.floor = pyo.Constraint(list(floors), rule=lambda _, n: tasks[n] >= floors[n])


def with_floors(mechanism: Mechanism, instance: Instance) -> Mechanism:
    """The mechanism that keeps the floors of an instance that has some; NotApplicable where it cannot."""
    if mechanism.keeps_floors:
        return mechanism
    if isinstance(mechanism, Leximin | Utilitarian | AlphaFair) and not isinstance(mechanism, PerServer | Uniform | GavelMaxMin):
        result = Edited(mechanism, mechanism.id, in_cvxpy, in_pyomo)
        result.title, result.edits = f"{mechanism.title}, with floors", "the floors"
        result.keeps_floors, result.unique = True, mechanism.unique
        return result
    n = int(np.flatnonzero(instance.min_tasks)[0])
    floor = f"user {instance.users[n]!r} has {instance.min_tasks[n]:g}"
    raise NotApplicable(f"mechanism {mechanism.id!r} knows no min_tasks, but {floor}")
