r"""Uniform: every user gets its part of every server (K 2.1 and 3.3; W Def 2 with equal weights).

    user n runs on server i what it can with (phi_n / sum_m phi_m) c_ir of each resource r, eligible or not for the others

With several variants that is the best packing (Z 1). It is written as one program, utilitarian.py on the instance in which every
server is partitioned among the users. A user keeps all of its own time (`with_own_time`), which nobody else has.
Residual: the largest relative difference of a user's tasks from that best, or the infeasibility with respect to the parts where
that is more.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.exact.rationals import monopoly
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.input.validation import if_distinct
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen, linear_program, worst
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
        """N K servers: row i N + n is user n's part of server i, eligible for that user alone; in rationals, as `exact` needs.

        Its arcs are those of the instance, in the same order. A task counts 1 / sum_i gamma_ni, so that without limits the
        objective is the sum of all parts, 1, where users have one variant and no time of their own. It is made once.
        """
        return instance.once("parts of servers", lambda: self._parts(instance))

    def _parts(self, instance: Instance) -> Instance:
        exact, everything, own = instance.exact, sum(instance.exact.weights), own_time(instance)
        n, i = np.nonzero(instance.placement)
        alone = sp.csr_array((np.ones(len(n), bool), (n, i * instance.N + n)), shape=(instance.N, instance.K * instance.N))
        pools = zip(instance.counts.tolist(), exact.capacities, strict=True)
        return instance.replace(
            capacities=[
                [q * c * (1 if r == own[m] else w / everything) for r, c in enumerate(capacity)]
                for q, capacity in pools
                for m, w in enumerate(exact.weights)
            ],
            counts=None,
            weights=[1 / tasks for tasks in monopoly(instance)],
            eligible=alone,
            servers=if_distinct([f"{s} for {u}" for s in instance.servers for u in instance.users]),
            rates=None,
            demands_on={(n, i * instance.N + n): v for (n, i), v in exact.demands_on.items()},
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
        if not allocation.has_point:
            return 1.0
        on_parts = Allocation(self.domain(allocation.instance), allocation.x)
        return worst([*self.user_errors(allocation), infeasibility(on_parts)])

    def user_errors(self, allocation: Allocation) -> Floats:
        """(N,) the relative differences from what the users' parts can run."""
        if not allocation.has_point:
            return np.full(allocation.instance.N, np.inf)
        return np.abs(1.0 - allocation.tasks / most_tasks(allocation.instance))


def most_tasks(instance: Instance) -> Floats:
    """(N,) the tasks each user can run on its part: in closed form, or by SciPy's LP (Z 1) for several variants or own time."""
    if instance.single_variant and (own_time(instance) < 0).all():
        parts = instance.weights / instance.weights.sum()
        return frozen(np.minimum(parts * gamma(instance).sum(axis=1), instance.max_tasks))
    scaled, unit = mechanism.canonical(mechanism.domain(instance))
    lp = mechanism.lp(scaled)
    answer = linear_program(-lp.cost, lp.matrix, lp.upper)
    if not answer.success:
        return np.full(instance.N, np.inf)  # nothing is proved
    return frozen((scaled.arcs.owner @ answer.x) * unit)


mechanism = Uniform()
