"""Shares: the part of a server, or of the whole system, that a task takes.

All functions take an instance and return arrays; a server row with count q is one pool of q times the capacity.

    gamma[n, i]   = min_r c_ir / d_nr            tasks of user n that server i alone can run    (K 8)
    s[n, i]       = x_n / gamma[n, i]            virtual dominant share, VDS                    (K 9, P 12)
    rho(n)        = argmax_r d_nr / c_r          (global) dominant resource, c_r = sum_i c_ir   (K 2, W 3.1)
    sigma_n       = max_r d_nr / c_r             global dominant share of one task              (K 5, W 3)
    1 / gamma_n,    gamma_n = sum_i gamma[n, i]  task share of one task, placement ignored      (K 2.2, P II-B)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import NotApplicable, require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats


def gamma(instance: Instance, placement: bool = True) -> Floats:
    """(N, K) tasks each user could run alone on each server (K 8); 0 where it may not or cannot run.

    With `placement=False` the placement constraints are ignored, as task share fairness asks (K 2.2).
    """
    one_vector(instance, "gamma")
    result = _alone(instance, 0, instance.N)
    return np.where(instance.placement, result, 0.0) if placement else result


def _alone(instance: Instance, start: int, stop: int) -> Floats:
    """(users, K) min_r c_ir / d_nr for the users from `start` on, before `stop`."""
    demand = instance.vectors.matrix[start:stop].tocsc()
    result = np.full((stop - start, instance.K), np.inf)
    for r in np.flatnonzero(np.diff(demand.indptr)):
        here = slice(demand.indptr[r], demand.indptr[r + 1])
        taken = demand.indices[here]
        result[taken] = np.minimum(result[taken], instance.pools[:, r] / demand.data[here, None])
    if instance.rates is not None:
        rates = instance.rates[start:stop].toarray()
        result *= np.where(rates > 0, rates, 1.0)
    for (n, i), vectors in instance.own.items():
        needed = vectors[0] > 0
        if start <= n < stop:
            result[n - start, i] = (instance.pools[i, needed] / vectors[0, needed]).min()
    return result


def vds(instance: Instance, tasks: Floats) -> Floats:
    """(N, K) virtual dominant shares s[n, i] = x_n / gamma[n, i] of `tasks` (N,); inf where gamma is 0 (K 9)."""
    require(np.shape(tasks) == (instance.N,), "tasks has shape", np.shape(tasks), f"there are {instance.N} users")
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = tasks[:, None] / gamma(instance)
    return np.where(np.isnan(shares), np.inf, shares)


def dominant_resource(instance: Instance) -> NDArray[np.intp]:
    """(N,) index of the resource of which a task takes the largest part of the whole system (K 2, W 3.1)."""
    (part, first), matrix = _parts(instance), instance.vectors.matrix
    largest = np.repeat(np.maximum.reduceat(part, first), np.diff(matrix.indptr))
    return np.minimum.reduceat(np.where(part == largest, matrix.indices, instance.R), first).astype(np.intp)


def global_dominant_share(instance: Instance) -> Floats:
    """(N,) global dominant share of one task, max_r d_nr / sum_i c_ir (K 5, W 3)."""
    return np.maximum.reduceat(*_parts(instance))


def asset_share(instance: Instance) -> Floats:
    """(N,) sum of the parts that one task takes of all resources, sum_r d_nr / sum_i c_ir (asset fairness, D 4)."""
    return np.add.reduceat(*_parts(instance))


def count(instance: Instance) -> Floats:
    """(N,) ones: users are compared by their numbers of tasks (the u_n of Z)."""
    return np.ones(instance.N)


def task_share(instance: Instance) -> Floats:
    """(N,) share of one task among the tasks the user could run alone, 1 / gamma_n, placement ignored (K 2.2).

    NotApplicable where a server counts at which the user has no rate.
    """
    one_vector(instance, "gamma")
    rates: Any = instance.rates
    for n in () if rates is None else np.flatnonzero(np.diff(rates.indptr) < instance.K).tolist():
        for i in np.flatnonzero(rates[[n]].toarray()[0] == 0).tolist():
            if (n, i) not in instance.own:
                where = f"user {instance.users[n]!r} has no rate on server {instance.servers[i]!r}"
                raise NotApplicable(f"the task share counts servers that a user may not use, but {where}")
    step = max(1, BLOCK // instance.K)
    sums = [_alone(instance, n, min(n + step, instance.N)).sum(axis=1) for n in range(0, instance.N, step)]
    return 1.0 / np.concatenate(sums)


BLOCK = 1 << 22
"""Pairs of user and server for which there is an array at a time."""


def _parts(instance: Instance) -> tuple[Floats, NDArray[Any]]:
    """d_nr / c_r of all resources that users demand, one user after the other, and where each user's begin."""
    one_vector(instance, "the dominant share")
    if not instance.same_everywhere:
        raise NotApplicable("the dominant share is not defined where demands depend on the server (demands_on, rates)")
    matrix = instance.vectors.matrix
    return matrix.data / instance.totals[matrix.indices], matrix.indptr[:-1]


def one_vector(instance: Instance, what: str) -> None:
    """NotApplicable where a user has several variants, for `what` needs one demand vector."""
    counts = instance.vectors.counts
    for n in np.flatnonzero(counts > 1)[:1]:
        raise NotApplicable(f"{what} needs one demand vector for each user, but user {instance.users[n]!r} has {counts[n]}")
