"""First checks of an allocation: feasibility, non-wastefulness, Pareto optimality, and each mechanism's own definition."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.feasibility import overloads
from fairalloc.models.instance import Instance, InstanceError
from fairalloc.theorems.market import equilibrium
from fairalloc.theorems.verdict import Verdict

__all__ = ["PROPERTIES", "TOLERANCE", "check", "on_instance"]

TOLERANCE = 1e-6
"""A violation up to here counts as rounding: the residual that accuracy "mid" promises."""


def check(instance: Instance, allocation: Allocation, property: str, tolerance: float = TOLERANCE) -> Verdict:  # noqa: A002
    """Hold an allocation against a property.

    Parameters
    ----------
    instance : the problem; the allocation must live on its arcs (for "drf": on the pooled instance)
    allocation : tasks on arcs, and bundles where more was handed out than is used
    property : a name in PROPERTIES or the id of a mechanism, whose definition is then checked
    tolerance : the largest violation that counts as rounding

    Examples
    --------
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]])
    >>> check(wang, Allocation(wang, [5, 1, 1, 5]), "pareto").sentence
    "not Pareto optimal: user 'u1' could run 10 tasks instead of 6 while nobody runs fewer"
    """
    names = [*PROPERTIES, "market", *(name for item in MECHANISMS.values() for name in (item.id, *item.aliases))]
    if property not in names:
        raise InstanceError(f"there is no property {property!r}: the properties are {', '.join(names)}")
    allocation = on_instance(instance, allocation)
    if property in PROPERTIES:
        return PROPERTIES[property](allocation, tolerance)
    if property == "market":
        return equilibrium(allocation, tolerance)
    return _definition(allocation, property, tolerance)


def on_instance(instance: Instance, allocation: Allocation) -> Allocation:
    """The allocation as one of this instance, whose arcs must be the same; the verdict is about this instance."""
    own, arcs = allocation.instance.arcs, instance.arcs
    if len(own) != len(arcs):
        raise InstanceError(f"the allocation has {len(own)} arcs, but the instance has {len(arcs)}")
    for a in np.flatnonzero((own.user != arcs.user) | (own.variant != arcs.variant) | (own.server != arcs.server))[:1]:
        one, other = ((int(k.user[a]), int(k.variant[a]), int(k.server[a])) for k in (own, arcs))
        raise InstanceError(f"arc {a} of the allocation is (user, variant, server) {one}, but that of the instance is {other}")
    return allocation if allocation.instance is instance else replace(allocation, instance=instance)


def _feasibility(allocation: Allocation, tolerance: float) -> Verdict:
    """No capacity, limit or sign is violated (K 10, W 3.2); with bundles, nor is more handed out than there is."""
    if not allocation.has_point:
        return Verdict("feasibility", False, np.inf, "not feasible: there is no point", "x is not a number")
    worst = overloads(allocation)
    rule = max(worst, key=worst.__getitem__)
    margin = max(0.0, worst[rule])
    if margin <= tolerance:
        return Verdict("feasibility", True, margin, "feasible", "direct computation in floating point")
    witness, sentence = _overload(allocation, rule)
    return Verdict("feasibility", False, margin, f"not feasible: {sentence}", "direct computation", witness)


def _overload(allocation: Allocation, rule: str) -> tuple[dict[str, object], str]:
    instance = allocation.instance
    if rule == "limit":
        n = int(np.argmax(allocation.tasks / instance.max_tasks))
        user, tasks, limit = instance.users[n], allocation.tasks[n], instance.max_tasks[n]
        return {"user": user, "tasks": tasks}, f"user {user!r} runs {tasks:g} tasks and has {limit:g}"
    if rule == "sign":
        a = int(np.argmin(allocation.x / instance.arcs.gamma))
        user, server = instance.users[instance.arcs.user[a]], instance.servers[instance.arcs.server[a]]
        where = {"user": user, "server": server, "tasks": allocation.x[a]}
        return where, f"user {user!r} has {allocation.x[a]:g} tasks on server {server!r}"
    used = allocation.load * instance.pools
    if allocation.bundles is not None:
        used = np.maximum(used, np.maximum(allocation.bundles, allocation.used).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        i, r = np.unravel_index(int(np.nanargmax(used / instance.pools)), used.shape)
    server, resource, capacity = instance.servers[i], instance.resources[r], instance.pools[i, r]
    where = {"server": server, "resource": resource, "used": used[i, r], "capacity": capacity}
    return where, f"server {server!r} gives {used[i, r]:g} of {resource!r} and has {capacity:g}"


def _non_wastefulness(allocation: Allocation, tolerance: float) -> Verdict:
    """Nobody holds a resource its tasks do not use (W Definition 1): bundle <= tasks times demand, in shares of capacity."""
    instance = allocation.instance
    method = "comparison of bundles with what the tasks use"
    if not allocation.has_point:
        return Verdict("non-wastefulness", None, np.nan, "not decided: there is no point", "x is not a number")
    if allocation.bundles is None:
        return Verdict("non-wastefulness", True, 0.0, "non-wasteful: bundles are exactly what the tasks use", method)
    spare = allocation.bundles - allocation.used
    none = np.where(spare > 0, np.inf, 0.0)  # of what the server does not have
    waste = np.divide(spare, instance.pools, out=none, where=np.broadcast_to(instance.pools > 0, spare.shape))
    margin = max(0.0, float(waste.max()))
    if margin <= tolerance:
        return Verdict("non-wastefulness", True, margin, "non-wasteful", method)
    n, i, r = np.unravel_index(int(np.argmax(waste)), waste.shape)
    user, server, resource = instance.users[n], instance.servers[i], instance.resources[r]
    sentence = f"wasteful: user {user!r} holds {spare[n, i, r]:g} of {resource!r} on server {server!r} that its tasks do not use"
    witness = {"user": user, "server": server, "resource": resource, "unused": spare[n, i, r]}
    return Verdict("non-wastefulness", False, margin, sentence, method, witness)


def _pareto(allocation: Allocation, tolerance: float) -> Verdict:
    """No feasible allocation gives every user as many tasks and one more (W 3.3, Z II-B).

    LP: max sum_n t_n with u'_n >= u_n + gamma_n t_n, t >= 0, u' feasible; gamma_n is the most tasks one server runs for n.
    """
    if (basic := _feasibility(allocation, tolerance)).holds is False:
        return Verdict("pareto", False, np.inf, basic.sentence, basic.method, basic.witness)
    instance, arcs = allocation.instance, allocation.instance.arcs
    unit = np.zeros(instance.N)
    np.maximum.at(unit, arcs.user, arcs.gamma)
    keep = allocation.tasks / max(1.0, allocation.load.max(), (allocation.tasks / instance.max_tasks).max())
    capped = np.isfinite(instance.max_tasks)
    share = sp.diags_array(1.0 / unit) @ arcs.owner @ sp.diags_array(unit[arcs.user])
    load = arcs.load @ sp.diags_array(unit[arcs.user])
    rows = sp.block_array([[load, None], [-share, sp.eye_array(instance.N)], [share[capped], None]], format="csr")
    sides = np.concatenate([np.ones(instance.K * instance.R), -keep / unit, instance.max_tasks[capped] / unit[capped]])
    cost = np.concatenate([np.zeros(len(arcs)), -np.ones(instance.N)])
    answer = linprog(cost, A_ub=rows, b_ub=sides, method="highs")
    if not answer.success:
        return Verdict("pareto", None, np.nan, f"not decided: {answer.message}", "LP, SciPy's HiGHS")
    gain = answer.x[len(arcs) :]
    margin, n = float(gain.max()), int(np.argmax(gain))
    if margin <= tolerance:
        return Verdict("pareto", True, margin, "Pareto optimal", "LP, SciPy's HiGHS")
    user, before, after = instance.users[n], allocation.tasks[n], keep[n] + gain[n] * unit[n]
    sentence = f"not Pareto optimal: user {user!r} could run {after:g} tasks instead of {before:g} while nobody runs fewer"
    better = {"user": user, "x": tuple((answer.x[: len(arcs)] * unit[arcs.user]).tolist())}
    return Verdict("pareto", False, margin, sentence, "LP, SciPy's HiGHS; the better allocation is the witness", better)


def _definition(allocation: Allocation, name: str, tolerance: float) -> Verdict:
    """The mechanism's own residual."""
    item = mechanism(name)
    if allocation.mechanism == item.id:
        item = item.configure(**allocation.parameters)
    if item.home(allocation.instance).K != allocation.instance.K:
        raise InstanceError(f"{name!r} is about all servers as one pool, but the instance has {allocation.instance.K} servers")
    basic = _feasibility(allocation, tolerance)
    margin = max(basic.margin, item.residual(allocation))
    method = "the residual of its definition, from the instance alone"
    if margin <= tolerance:
        return Verdict(name, True, margin, f"this is the {name} allocation", method)
    sentence = basic.sentence if basic.holds is False else f"not the {name} allocation: its residual is {margin:.3g}"
    return Verdict(name, False, margin, sentence, method, basic.witness)


PROPERTIES = {"feasibility": _feasibility, "non-wastefulness": _non_wastefulness, "pareto": _pareto}
"""The properties of any allocation by name; every mechanism id is one too, and "market" for allocations of nb."""
