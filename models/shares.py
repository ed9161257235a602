"""Shares: the part of a server, or of the whole system, that a task takes.

All functions take an instance and return arrays; a server row with count q is one pool of q times the capacity.

    gamma[n, i]   = min_r c_ir / d_nr            tasks of user n that server i alone can run    (K 8)
    s[n, i]       = x_n / gamma[n, i]            virtual dominant share, VDS                    (K 9, P 12)
    rho(n)        = argmax_r d_nr / c_r          (global) dominant resource, c_r = sum_i c_ir   (K 2, W 3.1)
    sigma_n       = max_r d_nr / c_r             global dominant share of one task              (K 5, W 3)
    1 / gamma_n,    gamma_n = sum_i gamma[n, i]  task share of one task, placement ignored      (K 2.2, P II-B)
"""

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

__all__ = ["asset_share", "count", "dominant_resource", "gamma", "global_dominant_share", "task_share", "vds"]


def gamma(instance: Instance, placement: bool = True) -> Floats:
    """(N, K) tasks each user could run alone on each server (K 8); 0 where it may not or cannot run.

    With `placement=False` the placement constraints are ignored, as task share fairness asks (K 2.2).
    """
    _one_vector(instance, "gamma")
    demand = np.concatenate(instance.demands)
    result = np.full((instance.N, instance.K), np.inf)
    for r in range(instance.R):
        taken = demand[:, r] > 0
        result[taken] = np.minimum(result[taken], instance.pools[:, r] / demand[taken, r, None])
    for (n, i), vectors in instance.demands_on.items():
        taken = vectors[0] > 0
        result[n, i] = (instance.pools[i, taken] / vectors[0, taken]).min()
    return np.where(instance.placement, result, 0.0) if placement else result


def vds(instance: Instance, tasks: Floats) -> Floats:
    """(N, K) virtual dominant shares s[n, i] = x_n / gamma[n, i] of `tasks` (N,); inf where gamma is 0 (K 9)."""
    if np.shape(tasks) != (instance.N,):
        raise InstanceError(f"tasks has shape {np.shape(tasks)}, but there are {instance.N} users")
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = tasks[:, None] / gamma(instance)
    return np.where(np.isnan(shares), np.inf, shares)


def dominant_resource(instance: Instance) -> NDArray[np.intp]:
    """(N,) index of the resource of which a task takes the largest part of the whole system (K 2, W 3.1)."""
    result: NDArray[np.intp] = np.argmax(_parts(instance), axis=1)
    return result


def global_dominant_share(instance: Instance) -> Floats:
    """(N,) global dominant share of one task, max_r d_nr / sum_i c_ir (K 5, W 3)."""
    result: Floats = _parts(instance).max(axis=1)
    return result


def asset_share(instance: Instance) -> Floats:
    """(N,) sum of the parts that one task takes of all resources, sum_r d_nr / sum_i c_ir (asset fairness, D 4)."""
    result: Floats = _parts(instance).sum(axis=1)
    return result


def count(instance: Instance) -> Floats:
    """(N,) ones: users are compared by their numbers of tasks (the u_n of Z)."""
    return np.ones(instance.N)


def task_share(instance: Instance) -> Floats:
    """(N,) share of one task among the tasks the user could run alone, 1 / gamma_n, placement ignored (K 2.2)."""
    result: Floats = 1.0 / gamma(instance, placement=False).sum(axis=1)
    return result


def _parts(instance: Instance) -> Floats:
    _one_vector(instance, "the dominant share")
    if instance.demands_on:
        raise NotApplicable("the dominant share is not defined where demands depend on the server (demands_on)")
    demand = np.concatenate(instance.demands)
    return np.divide(demand, instance.totals, out=np.zeros_like(demand), where=demand > 0)


def _one_vector(instance: Instance, what: str) -> None:
    for user, demand in zip(instance.users, instance.demands, strict=True):
        if len(demand) > 1:
            raise NotApplicable(f"{what} needs one demand vector for each user, but user {user!r} has {len(demand)}")
