r"""Per-server DRF: DRF on each server alone (W 3.4), the naive extension that DRFH is compared with.

    on every server i:  x_ni max_r d_nr / c_ir / phi_n is lexicographically max-min fair over the users of that server

It is written as one program: rule.py on the instance in which every (user, server) pair is a user of its own, with the weight of
its user; the lexicographic optimum of a product is the product of the optima. A limit on a user's tasks would tie the servers
together and is refused.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact import rationals
from fairalloc.models.input.demand_matrix import scaled_rows
from fairalloc.models.input.validation import Derived, if_distinct
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import one_vector


class PerServer(Leximin):
    """Leximin over (user, server) pairs; allocations are given on the instance itself."""

    def home(self, instance: Instance) -> Instance:
        """The arcs of the pairs are the arcs of the instance, in the same order."""
        self.domain(instance)
        return instance

    def values(self, allocation: Allocation) -> dict[str, float]:
        """g, the smallest weighted share of any user on any server."""
        return super().values(replace(allocation, instance=self.domain(allocation.instance)))

    def measured(self, allocation: Allocation) -> tuple[float, Floats | None]:
        """As for every lexicographic mechanism over the pairs; the errors of a user's pairs count by their parts of its tasks."""
        residual, pair = super().measured(replace(allocation, instance=self.domain(allocation.instance)))
        assert pair is not None
        with np.errstate(invalid="ignore", over="ignore"):
            wrong = allocation.instance.arcs.owner @ np.where(allocation.x > 0, allocation.x * pair, 0.0)
            return residual, np.divide(wrong, allocation.tasks, out=np.full_like(wrong, np.inf), where=allocation.tasks > 0)


def pairs(instance: Instance) -> Instance:
    """Every eligible (user, server) pair as a user that may use that server only, made once for an instance."""
    return instance.once("pairs of users and servers", lambda: _pairs(instance))


def _pairs(instance: Instance) -> Instance:
    for n in np.flatnonzero(np.isfinite(instance.max_tasks))[:1]:
        raise NotApplicable(f"drf-per-server knows no limits across servers, but user {instance.users[n]!r} has max_tasks")
    one_vector(instance, "drf-per-server")
    arcs, n, i = instance.arcs, instance.arcs.user, instance.arcs.server
    vectors = scaled_rows(arcs.vectors[arcs.row], np.broadcast_to(arcs.time, len(arcs)))
    return instance.replace(
        demands=Derived(vectors, _exact_demands, (instance,)),
        weights=Derived(instance.weights[n], _exact_weights, (instance,)),
        eligible=sp.csr_array((np.ones(len(i), dtype=bool), (np.arange(len(i)), i)), shape=(len(i), instance.K)),
        **dict.fromkeys(("max_tasks", "rates", "demands_on", "groups")),
        users=if_distinct([f"{instance.users[a]} on {instance.servers[b]}" for a, b in zip(n, i, strict=True)]),
    )


def _exact_demands(instance: Instance) -> list[Any]:
    arcs, exact = instance.arcs, instance.exact
    return [exact.demands_at(n, i) for n, i in zip(arcs.user.tolist(), arcs.server.tolist(), strict=True)]


def _exact_weights(instance: Instance) -> list[Any]:
    weights = instance.exact.weights
    return [weights[n] for n in instance.arcs.user.tolist()]


def share_alone(instance: Instance) -> Floats:
    """(N,) max_r d_nr / c_ir of each pair on its own server."""
    return 1.0 / instance.arcs.gamma


mechanism = PerServer(
    "drf-per-server",
    share=share_alone,
    exact_share=rationals.share_alone,
    domain=pairs,
    title="DRF on each server alone",
    source="W 3.4",
)
