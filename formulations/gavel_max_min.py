r"""Gavel's max-min fairness (Narayanan et al., OSDI 2020, section 4.1): jobs on accelerators of several kinds, by parts of time.

X_nj is the part of its time that job n runs on accelerators of kind j. With all its workers there it runs T_nj tasks a second:

    max  min_n  (z_n / w_n) throughput(n, X) / throughput(n, X_equal)        throughput(n, X) = sum_j T_nj X_nj
    s.t. sum_n X_nj z_n <= workers_j,     sum_j X_nj <= 1,     X >= 0

z_n is the number of workers of a job (its scale factor) and X_equal,j = workers_j / sum of workers. An instance says it as

    T = rates,   z = demands on the one resource,   workers = capacities,   x_nj = T_nj X_nj,   u_n = throughput(n, X),

and the rows of a job's own time are those of `with_own_time` (models/transformations/own_time.py). It is mmf there, with
sigma_n = z_n / throughput(n, X_equal), so its model is that of lexicographic/rule.py.
"""

from fractions import Fraction

import numpy as np

from fairalloc.formulations.lexicographic.rule import MaxMin
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.transformations.own_time import own_time, with_own_time


class GavelMaxMin(MaxMin):
    """The program above, on the instance in which jobs have time of their own."""


def timed(instance: Instance) -> Instance:
    """The instance with own time, without limits on numbers of tasks."""
    free = instance if np.isinf(instance.max_tasks).all() else instance.replace(max_tasks=None)
    own = own_time(free)
    if (own >= 0).all() and (np.diff(free.vectors.matrix.indptr) == 2).all():  # own time, and workers of one kind
        return free
    if instance.R != 1 or instance.own or not instance.single_variant:
        raise NotApplicable("policies of Gavel need one resource, the workers, one variant, and rates in the place of demands_on")
    return with_own_time(free)


def equal_share(instance: Instance) -> Floats:
    """(N,) sigma_n = z_n / throughput(n, X_equal) = all workers / (tasks a second with all of them at once)."""
    pools, taken = instance.pools[0].copy(), instance.vectors.matrix.tocoo()
    pools[own_time(instance)] = 0.0
    return np.asarray(pools.sum() / np.bincount(instance.vectors.user[taken.row], pools[taken.col] / taken.data))


def exact_equal_share(instance: Instance) -> tuple[Fraction, ...]:
    """The same in rationals."""
    own, (pools,) = {*own_time(instance).tolist()}, instance.exact.capacities
    workers = {r: pool for r, pool in enumerate(pools) if r not in own}
    alone = (sum(p / row[r] for row in rows for r, p in workers.items() if row[r]) for rows in instance.exact.demands)
    return tuple(sum(workers.values(), Fraction(0)) / tasks for tasks in alone)


mechanism = GavelMaxMin(
    "gavel-max-min",
    share=equal_share,
    exact_share=exact_equal_share,
    domain=timed,
    title="Gavel's max-min fair throughputs on accelerators of several kinds, with time of jobs' own",
    source="Narayanan et al. 2020, 4.1",
)
