"""How far an allocation is from being feasible (K 4, 10; W 3.2; Z II-A; D (1)). Dimensionless, from the instance alone."""

from typing import Any

import numpy as np

from fairalloc.models.allocation import Allocation
from fairalloc.models.numbers import Floats, worst


def overloads(allocation: Allocation) -> dict[str, float]:
    """The worst violation of each rule.

    capacity : max over (server, resource) of used / capacity - 1, or of what is handed out where that is more
    sign     : max over arcs of -x / gamma, the negative tasks as a fraction of what the arc could run alone
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
    return {
        "capacity": float(load.max()) - 1.0,
        "sign": float((-allocation.x / instance.arcs.gamma).max()),
        "limit": float((allocation.tasks / instance.max_tasks).max()) - 1.0,
    } | ({"floor": float((1.0 - allocation.tasks[low] / instance.min_tasks[low]).max())} if len(low) else {})


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
