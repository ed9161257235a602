"""Which added constraints make an edited model infeasible: an irreducible set, by deletion.

1. The constraints that the edit added are those that the model of the first round without the edit does not have.
2. Each is left out in turn; where the rest is still infeasible it stays out. What is left is irreducible: without any one of them
   there is an allocation. Of a model that is not convex this is said of its convex constraints, in Pyomo of its linear ones.

What is left after each step is yielded, so that a call whose time ends in between has the last set so far. Where a solver
cannot tell whether the rest is feasible, that set is the last.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fairalloc.formulations.common.convexity import read_off, title
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.edited import Edited
from fairalloc.models.instance import Instance
from fairalloc.solvers.backends.cvxpy import convex_part, solved
from fairalloc.solvers.backends.pyomo import highs, ipopt, linear_part
from fairalloc.solvers.options import solver_options


def conflict(mechanism: Edited, instance: Instance) -> Iterator[tuple[str, str]]:
    """Terminations, and sentences that name added constraints without an allocation, ever fewer; the last ones are irreducible.

    The termination is "error" where there is an allocation, which a solver missed.
    """
    found = _in_cvxpy(mechanism, instance) if mechanism.cvxpy_edits else _in_pyomo(mechanism, instance)
    said, some = f"no allocation satisfies {mechanism.edits}", ""
    names: list[str] | None = None
    try:
        for names in found:
            some = f" because of some of {', '.join(names)}" if names else ""
            yield "infeasible", f"{said}{some}: there was no time to find out which" if names else said
    except _Undecided:
        yield "infeasible", f"{said}{some}: its solver could not tell which" if some else said
        return
    if names is None:
        yield "error", f"its solver calls the model infeasible, but there are allocations that satisfy {mechanism.edits}"
    elif names:
        why = "this constraint contradicts the model" if len(names) == 1 else "these constraints contradict each other"
        without = "it" if len(names) == 1 else "any one of them"
        rest = "the model has a solution" if mechanism.convex is not False else "no contradiction is proved"
        yield "infeasible", f"{said}; {why}: {', '.join(names)}; without {without} {rest}"


class _Undecided(Exception):  # noqa: N818 (a signal, not an error)
    """A solver found neither a point nor that there is none."""


def _is_infeasible(termination: str) -> bool:
    """Whether a solver says so; _Undecided where it says neither that nor that there is a point."""
    if termination not in ("optimal", "inaccurate", "unbounded", "infeasible"):
        raise _Undecided
    return termination == "infeasible"


def _irreducible(added: Sequence[Any], infeasible: Callable[[list[Any]], bool]) -> Iterator[list[Any]]:
    """All of them, and what is left after each step; nothing where the model with all of them is not infeasible."""
    kept = list(added)
    if not infeasible(kept):
        return
    yield kept
    for item in added:
        rest = [other for other in kept if other is not item]
        if infeasible(rest):
            kept = rest
            yield kept


def _in_cvxpy(mechanism: Edited, instance: Instance) -> Iterator[list[str]]:
    problem: Any = mechanism.write_cvxpy(instance)
    own = set(map(title, mechanism.base.write_cvxpy(instance).constraints))
    added = [row for c in problem.constraints if title(c) not in own for row in _rows(c, instance)]
    given = [c for c in problem.constraints if title(c) in own]

    def infeasible(some: list[Any]) -> bool:
        part = cp.Problem(cp.Minimize(0), convex_part([*given, *some], problem.var_dict["x"], instance))
        solver = "HIGHS" if read_off(part)["linear"] else "CLARABEL"  # a vertex where there is one
        return _is_infeasible(solved(part, solver=solver, **solver_options(solver, "high")))

    for kept in _irreducible(added, infeasible):
        yield list(map(title, kept))


def _rows(constraint: Any, instance: Instance) -> list[Any]:
    """The constraint, or the floors of users (formulations/floors.py) one by one."""
    if constraint.label != "floor" or not instance.has_floors:
        return [constraint]
    (floors, tasks), held = constraint.args, np.flatnonzero(instance.min_tasks)
    return [(tasks[k] >= floors[k]).set_label(f"floor[{instance.users[n]}]") for k, n in enumerate(held)]


def _in_pyomo(mechanism: Edited, instance: Instance) -> Iterator[list[str]]:
    model, own = mechanism.write_pyomo(instance), mechanism.base.write_pyomo(instance)
    added = [c for c in model.component_data_objects(pyo.Constraint, active=True) if own.find_component(c) is None]
    if mechanism.convex is False:
        linear_part(model, instance)
        added = [c for c in added if c.active]

    def infeasible(some: list[Any]) -> bool:
        for row in added:
            (row.activate if any(row is other for other in some) else row.deactivate)()
        return _is_infeasible(ipopt(model) if mechanism.convex is not False and not mechanism.linear else highs(model))

    for kept in _irreducible(added, infeasible):
        yield [c.name for c in kept]
