r"""Uniform: every user gets its part of every server (K 2.1 and 3.3; W Def 2 with equal weights).

    user n runs on server i what it can with (phi_n / sum_m phi_m) c_ir of each resource r, whether others may run there or not,
    and at most max_tasks_n in all

With several variants that is the best packing (Z 1). It is written as one program, utilitarian.py on the instance in which every
server is partitioned among the users. A user keeps all of its own time (`with_own_time`), which nobody else has.
Residual: the largest relative difference of a user's tasks from that best, which prices bound, or the infeasibility with respect
to the parts where that is more.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.exact.rationals import monopoly
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.input.validation import Derived, if_distinct
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import TEN_DIGITS, Floats, frozen, linear_program, worst
from fairalloc.models.shares import gamma
from fairalloc.models.transformations.own_time import own_time


class Uniform(Utilitarian):
    """Each user alone on its part of each server."""

    id = "uniform"
    title = "equal partition of every server by weight"
    source = "K 2.1, 3.3; W Def 2"
    unique = True
    merges_servers = False  # its models are on a server for each user

    def domain(self, instance: Instance) -> Instance:
        """N K servers: row i N + n is user n's part of server i, eligible for that user alone.

        Its arcs are those of the instance, in the same order. A task counts 1 / sum_i gamma_ni, so that without limits the
        objective is the sum of all parts, 1, where users have one variant and no time of their own. It is made once.
        """
        return instance.once("parts of servers", lambda: self._parts(instance))

    def _parts(self, instance: Instance) -> Instance:
        source, N, K, own = (instance,), instance.N, instance.K, own_time(instance)
        part = np.where(np.arange(instance.R) == own[:, None], 1.0, (instance.weights / instance.weights.sum())[:, None])
        there = sp.coo_array(np.ones((N, K)) if instance.open_pairs is None else instance.open_pairs)
        placed = sp.csr_array((there.data, (there.row, there.col * N + there.row)), shape=(N, K * N))
        alone = np.zeros((N, K))
        np.maximum.at(alone, (instance.arcs.user, instance.arcs.server), instance.arcs.gamma)
        return instance.replace(
            capacities=Derived((instance.pools[:, None] * part).reshape(K * N, -1), _exact_capacities, source),
            counts=None,
            weights=Derived(1 / alone.sum(axis=1), _exact_weights, source),
            eligible=placed.astype(bool),
            servers=if_distinct([f"{s} for {u}" for s in instance.servers for u in instance.users]),
            rates=None if instance.rates is None else Derived(placed, _exact_rates, source),
            demands_on={(n, i * N + n): v for (n, i), v in instance.exact.own.items()},
        )

    def home(self, instance: Instance) -> Instance:
        """The allocation is given on the servers themselves."""
        return instance

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The objective of the program, in which a task of user n counts 1 / sum_i gamma_ni."""
        return super().values(Allocation(self.domain(allocation.instance), allocation.x))

    def marginal(self, allocation: Allocation) -> None:
        """None: the residual needs no prices."""

    def residual(self, allocation: Allocation) -> float:
        """The largest relative difference from what a user's parts can run, or the infeasibility with respect to the parts."""
        return worst(self.user_errors(allocation)) if allocation.has_point else 1.0

    def user_errors(self, allocation: Allocation) -> Floats:
        """(N,) the larger of the relative difference from what a user's parts can run, and the infeasibility there."""
        if not allocation.has_point:
            return np.full(allocation.instance.N, np.inf)
        instance = allocation.instance
        most = instance.once("tasks on parts", lambda: most_tasks(instance))
        return np.maximum(np.abs(1.0 - allocation.tasks / most), infeasibility(Allocation(self.domain(instance), allocation.x)))


def most_tasks(instance: Instance) -> Floats:
    """(N,) the tasks each user can run on its part: in closed form; for several variants or own time a bound on these.

    By prices p of SciPy's LP (Z 1) they cost all that a user has at most, its parts and its limit: u_n <= sum p / min_a cost_a.
    """
    if instance.single_variant and (own_time(instance) < 0).all():
        parts = instance.weights / instance.weights.sum()
        return frozen(np.minimum(parts * gamma(instance).sum(axis=1), instance.max_tasks))
    scaled, unit = mechanism.canonical(mechanism.domain(instance))
    lp = mechanism.lp(scaled)
    answer = linear_program(-lp.cost, lp.matrix, lp.upper, TEN_DIGITS)
    if not answer.success:
        return np.full(instance.N, np.inf)  # nothing is proved
    prices = np.maximum(-answer.ineqlin.marginals, 0.0)
    whose = np.append(np.arange(scaled.K * scaled.R) // scaled.R % instance.N, np.flatnonzero(np.isfinite(scaled.max_tasks)))
    total = np.bincount(whose, prices * lp.upper, instance.N)
    least = np.minimum.reduceat(lp.matrix.T @ prices, scaled.arcs.first)
    return frozen(np.divide(total, least, out=np.full_like(total, np.inf), where=least > 0) * unit)


def _exact_capacities(instance: Instance) -> list[Any]:
    exact, own, everything = instance.exact, own_time(instance), sum(instance.exact.weights)
    return [
        [q * c * (1 if r == own[m] else w / everything) for r, c in enumerate(capacity)]
        for q, capacity in zip(instance.counts.tolist(), exact.capacities, strict=True)
        for m, w in enumerate(exact.weights)
    ]


def _exact_weights(instance: Instance) -> list[Any]:
    return [1 / tasks for tasks in monopoly(instance)]


def _exact_rates(instance: Instance) -> list[Any]:
    rates: list[dict[int, Fraction]] = [{} for _ in range(instance.N)]
    for (n, i), rate in instance.exact.rates.items():
        rates[n][i * instance.N + n] = rate
    return rates


mechanism = Uniform()
