r"""Identical users and servers solved as one, and the answer split again.

Two users are identical where their variants, the servers they may use, their demands on these and max_tasks_n / phi_n are the
same; two rows of servers where capacities, placement and demands there are. A class C of users stands as one user with

    phi_C = sum_n phi_n,    max_tasks_C = sum_n max_tasks_n,        split as  x_ni = (phi_n / phi_C) x_Ci,

a class D of rows as one row with the count q_D = sum_i q_i, split as x_ni = (q_i / q_D) x_nD.

Row i of class D gets the prices (q_i / q_D) p_Dr; levels stay. What the residual on the given instance does not prove is solved
again without merging (docs/reference/derivations.md has the proofs).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.transformations.aggregation import alike_servers, alike_users, positions

FEWEST = 2_000
"""Arcs from which identical users and servers are looked for: smaller instances are solved in about the same time."""

WORTH = 0.8
"""The part of users times servers that must be left at most."""

DIGITS = 12
"""Digits of the logarithm of max_tasks_n / phi_n that are compared."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The class of each user (N,) and of each row of servers (K,) of the given instance."""

    instance: Instance
    user: NDArray[np.intp]
    server: NDArray[np.intp]

    @cached_property
    def merged(self) -> Instance:
        """The instance with one user and one row of servers for each class: the first of it, with its sums."""
        given = self.instance
        users, servers = (np.unique(of, return_index=True)[1] for of in (self.user, self.server))
        return given.chosen(
            users,
            servers,
            weights=_sums(self.user, given.weights),
            max_tasks=_sums(self.user, given.max_tasks),
            counts=_sums(self.server, given.counts).astype(np.int64),
        )

    def split(self, answer: Allocation) -> Allocation:
        """The answer of the merged instance on the given one, not judged."""
        home, server = self.instance, self.server
        part = home.weights / _sums(self.user, home.weights)[self.user]
        share = home.counts / _sums(server, home.counts)[server]
        arcs = home.arcs
        source = positions(answer.instance, self.user[arcs.user], arcs.variant, server[arcs.server])
        x = answer.x[source] * (part[arcs.user] * share[arcs.server])
        prices = None if answer.prices is None else answer.prices[server] * share[:, None]
        rounds = None if answer.round_prices is None else answer.round_prices[:, server] * share[:, None]
        words = f"solved as {answer.instance.N} users and {self.merged.K} servers, which stand for identical ones"
        message = "; ".join(filter(None, (answer.message, words)))
        return replace(answer, instance=home, x=x, prices=prices, round_prices=rounds, message=message, x_exact=None)


def classes_of(mechanism: Mechanism, instance: Instance) -> Classes | None:
    """The classes that it allows to be merged, of the instance it allocates; None where that would not make it much smaller."""
    users, servers = mechanism.merges_users, mechanism.merges_servers
    if not (users or servers) or instance.A < FEWEST:
        return None
    instance = mechanism.home(instance)
    limits = np.round(np.log(instance.max_tasks / instance.weights), DIGITS)
    user = alike_users(instance, limits.tolist()) if users else np.arange(instance.N)
    server = alike_servers(instance) if servers else np.arange(instance.K)
    return Classes(instance, user, server) if (user.max() + 1) * (server.max() + 1) <= WORTH * instance.N * instance.K else None


def _sums(of: NDArray[np.intp], values: NDArray[Any]) -> Floats:
    """The sum of the values of each class."""
    return np.bincount(of, values).astype(float)
