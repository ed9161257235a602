"""How far an allocation is from being feasible (K 4, 10; W 3.2; Z II-A; D (1)). Dimensionless, from the instance alone."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import TEN_DIGITS, Floats, linear_program, worst

NOTHING = 1e-7
"""A user that can have no more than this part of what it could run alone can have nothing."""


def overloads(allocation: Allocation) -> dict[str, float]:
    """The worst violation of each rule.

    capacity : max over (server, resource) of used / capacity - 1, or of what is handed out where that is more
    sign     : max over arcs of -x / min(gamma, max_tasks), the negative tasks as a fraction of what the arc could run alone
    limit    : max over users of tasks / max_tasks - 1
    floor    : max over users with min_tasks of 1 - tasks / min_tasks, the part of the floor that is missing
    """
    instance = allocation.instance
    load = allocation.load
    if allocation.bundles is not None:
        handed = np.maximum(allocation.bundles, allocation.used).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            load = np.maximum(load, np.where(handed > 0, handed / instance.pools, 0.0))
    low = instance.min_tasks > 0 if instance.has_floors else ()
    alone = np.minimum(instance.arcs.gamma, instance.max_tasks[instance.arcs.user])
    return {
        "capacity": float(load.max()) - 1.0,
        "sign": float((-allocation.x / alone).max()),
        "limit": float((allocation.tasks / instance.max_tasks).max()) - 1.0,
    } | ({"floor": float((1.0 - allocation.tasks[low] / instance.min_tasks[low]).max())} if len(low) else {})


def scaled_down(instance: Instance, x: Floats) -> Floats:
    """The tasks, those on an overloaded server and then those of a user above its limit reduced by one factor, none negative."""
    if not np.all(np.isfinite(x)):
        return x
    arcs, result = instance.arcs, np.maximum(x, 0.0)
    load = (arcs.load @ result).reshape(instance.K, instance.R).max(axis=1)
    result = result / np.maximum(load, 1.0)[arcs.server]
    tasks = arcs.owner @ result
    part = np.divide(instance.max_tasks, tasks, out=np.ones_like(tasks), where=tasks > instance.max_tasks)
    return np.asarray(result * part[arcs.user])


def infeasibility(allocation: Allocation) -> float:
    """The feasibility residual: 0 for a feasible allocation, else the worst of `overloads`; inf without a point."""
    known = vars(allocation)  # it is asked for twice where users' errors are bounded
    if "infeasibility" not in known:
        with np.errstate(over="ignore", invalid="ignore"):  # tasks of 1e308
            known["infeasibility"] = worst(overloads(allocation).values()) if allocation.has_point else np.inf
    return float(known["infeasibility"])


def slack_of(load: Floats, terms: Any) -> Floats:
    """The slack of loads, as parts of the capacities; 0 where it may be the rounding error of a sum of so many terms."""
    slack = 1.0 - load
    return np.where(slack > np.finfo(float).eps * (4.0 + np.sqrt(terms)), slack, 0.0)


def common_part(instance: Instance, wanted: sp.csr_array, kept: sp.csr_array | None = None) -> float:
    """The largest z <= 1 for which tasks u (N,) have wanted @ u >= z and kept @ u >= 1; 1 where none have the latter.

    Parameters
    ----------
    wanted, kept : (rows x N) what a task of each user adds to a row
    """
    arcs, capped = instance.arcs, np.isfinite(instance.max_tasks)
    unit, must = sp.diags_array(arcs.gamma), sp.csr_array((0, instance.N)) if kept is None else kept
    parts = [arcs.load @ unit, arcs.owner[capped] @ unit, -must @ arcs.owner @ unit, -wanted @ arcs.owner @ unit]
    sizes = [part.shape[0] for part in parts]
    matrix = sp.hstack([sp.vstack(parts), sp.csr_array(np.repeat([0.0, 0.0, 0.0, 1.0], sizes)[:, None])], format="csr")
    sides = np.concatenate([np.ones(sizes[0]), instance.max_tasks[capped], -np.ones(sizes[2]), np.zeros(sizes[3])])
    cost, bounds = np.append(np.zeros(len(arcs)), -1.0), [(0, None)] * len(arcs) + [(0, 1)]
    found = linear_program(cost, matrix, sides, TEN_DIGITS, bounds=bounds)
    return float(found.x[-1]) if found.x is not None else 1.0


def check_that_all_can_run(instance: Instance, kept: sp.csr_array, who: str, what: str) -> None:
    """NotApplicable where a user can have no task beside `what`, kept @ u >= 1; `who` is the mechanism that gives it some."""
    arcs, limits = instance.arcs, instance.max_tasks
    equal = arcs.owner @ (arcs.gamma / (instance.N * instance.vectors.counts[arcs.user]))  # with an equal part of every server
    alone = sp.csr_array(sp.diags_array(1.0 / np.minimum(arcs.owner @ arcs.gamma, limits)))
    if np.all(kept @ np.minimum(equal, limits) >= 1.0) or common_part(instance, alone, kept) > NOTHING:
        return
    for n in (n for n in range(instance.N) if common_part(instance, alone[[n]], kept) <= NOTHING):  # a program for each
        raise NotApplicable(f"{who} gives every user some tasks, but beside {what} user {instance.users[n]!r} can have none")
