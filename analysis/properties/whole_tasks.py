r"""Envy up to one task, for allocations of whole tasks (Lipton et al. 2004; Parkes, Procaccia, Shah 2015).

Of m's bundles one task is taken away. What is left, scaled by the weights, is worth to n the whole tasks that it can run there,

    min(floor(max_tasks_n), sum over the servers n may use of  floor(min_r a_ir / d_nr))

Up to one task (EF1): for some task of m that is no more than n runs; up to any task (EFX): for every task of m.
"""

from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.verdict import Verdict, by_margin, undecided

ROUNDING, METHOD = 1e-9, "by direct computation"
"""A number in floating point is whole within the first."""


def envy_up_to_one_task(h: Holdings, tolerance: float) -> Verdict:
    """Nobody could run more whole tasks with another's bundles, scaled by the weights, less some one task of it (EF1)."""
    return _envy(h, tolerance, np.min)


def envy_up_to_any_task(h: Holdings, tolerance: float) -> Verdict:
    """Nobody could run more whole tasks with another's bundles, scaled by the weights, less any one task of it (EFX)."""
    return _envy(h, tolerance, np.max)


def _envy(h: Holdings, tolerance: float, extreme: Any) -> Verdict:
    """`extreme`: np.min over the tasks that may be taken away, or np.max."""
    instance, arcs, x = h.instance, h.instance.arcs, np.array(h.x, dtype=float)
    if not instance.single_variant or np.abs(x - np.round(x)).max(initial=0.0) > ROUNDING:
        why = "the tasks are not whole" if instance.single_variant else "users have several variants"
        return undecided(f"it is about whole tasks in one way, and {why}", METHOD)
    x, weights = np.round(x), np.array(h.weights, float)
    most = np.floor(instance.max_tasks + ROUNDING)
    bundles, unit, tasks = np.array(h.bundles, float), np.array(h.alone, float), arcs.owner @ x
    margin, n, m, better = 0.0, 0, 0, 0.0
    for holder in np.flatnonzero(tasks).tolist():
        factor = np.nan_to_num(weights / weights[holder])[:, None, None]
        left = []
        for a in (a for a in h.own(holder) if x[a]):
            less = bundles[holder].copy()
            less[arcs.server[a]] -= np.array(h.demand[a], float)
            left.append(np.minimum(_whole_tasks(h, factor * less).sum(axis=1), most))
        more = np.where(np.arange(instance.N) == holder, -np.inf, extreme(left, axis=0) - tasks)
        k = int(np.argmax(more / unit))
        if more[k] / unit[k] > margin:
            margin, n, m, better = float(more[k] / unit[k]), k, holder, float(more[k] + tasks[k])
    one, other = instance.users[n], instance.users[m]
    held = "nobody would run more whole tasks with another's resources less a task, scaled by their weights"
    broken = f"user {one!r} runs {tasks[n]:.6g} tasks, and {better:.6g} with the resources of user {other!r} less a task"
    broken += ", scaled by their weights" * bool(weights[n] != weights[m])
    witness = {"user": one, "other": other, "tasks": tasks[n], "better": better}
    return by_margin(margin, tolerance, held, broken, METHOD, witness)


def _whole_tasks(h: Holdings, bundles: Any) -> Any:
    """(N, K) the whole tasks that each user runs with its own of the bundles (N, K, R) on each server."""
    arcs, result = h.instance.arcs, np.zeros((h.instance.N, h.instance.K))
    timed = np.flatnonzero(h.own_time >= 0)
    bundles[timed, 0, h.own_time[timed]] = h.pools[0, h.own_time[timed]]  # all of their own time, in any bundle
    demand = np.array(h.demand, float)
    part = np.divide(bundles[arcs.user, arcs.server], demand, out=np.full(demand.shape, np.inf), where=demand > 0)
    result[arcs.user, arcs.server] = np.floor(part.min(axis=1) + ROUNDING)
    return result
