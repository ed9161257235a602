"""Limits on a user's own time, over all servers, as Gavel and resalloc have: one more row for each user.

    sum_a x_a / rate_a <= limit_n        over the arcs a of user n

1. All servers become one, "system", whose resources are those of each server, and the time of each user with a limit.
2. Each arc (user, variant, server) becomes a variant of its user. It takes what it took there, and 1 / rate of the user's time.

So a feasible x stays feasible, in the same order, and every method, certificate and property knows the new rows. A mechanism of
tasks alone (nb, mmf, lmmf, utilitarian) is what it was, with the rows. Those that compare shares of servers or of resources
(drfh, ps-dsf, the game) would compare shares of the new resources, and refuse several variants where they need one.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.input.demand_matrix import DerivedRows, Vectors
from fairalloc.models.input.validation import read_limits
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import rational

__all__ = ["with_own_time"]


@checked
def with_own_time(instance: Instance, limits: Any = None) -> Instance:
    """The instance, as one server, in which no user is served for longer than its limit.

    Parameters
    ----------
    instance : a task on arc a takes 1 / rate of its user's time there; 1 without rates
    limits : (N,) > 0 time of each user, default 1: the parts of the servers that it uses at once add up to one at most; None or
        inf = unlimited

    Raises
    ------
    InstanceError : a limit that is no positive number

    Examples
    --------
    Two jobs on one fast and one slow server, where nobody can use both all the time:

    >>> import fairalloc as fa
    >>> jobs = Instance([[1], [1]], {"fast": [1], "slow": [1]}, rates=[[4, 1], ["5/2", 1]])
    >>> fa.solve(with_own_time(jobs), "mmf").tasks.round(6)
    array([2., 2.])
    """
    limits = [1] * instance.N if limits is None else limits
    limited = np.flatnonzero(np.isfinite(read_limits(limits, instance.users)))
    pools = [int(q) * c for q, row in zip(instance.counts, instance.exact.capacities, strict=True) for c in row]
    named = [f"{r} of {s}" for s in instance.servers for r in instance.resources]
    times = [f"time of {instance.users[n]}" for n in limited]
    if len({*named, *times}) < len(named) + len(times):
        named = [f"r{k}" for k in range(1, len(named) + 1)]
    vectors = Vectors.of_sparse(_rows(instance, limited), instance.arcs.owner.indptr.astype(np.intp))
    return Instance(
        replace(vectors, given=_ExactRows(instance, tuple(limited.tolist()))),  # of which these are the floats
        [pools + [rational(limits[n], "the limit") for n in limited]],
        weights=instance.exact.weights,
        max_tasks=instance.exact.max_tasks,
        min_tasks=instance.exact.min_tasks,
        groups=instance.groups,
        name=instance.name,
        users=instance.users,
        servers=["system"],
        resources=named + times,
    )


def own_time(instance: Instance) -> NDArray[np.intp]:
    """(N,) the resource that is a user's own time in an instance of `with_own_time`, by its name; -1 where it has none."""
    if instance.K > 1 or instance.servers != ("system",):
        return np.full(instance.N, -1)
    place = {name: r for r, name in enumerate(instance.resources)}
    return np.array([place.get(f"time of {user}", -1) for user in instance.users])


def _rows(instance: Instance, limited: Any) -> sp.csr_array:
    """(A x (K R + limited users)) what a task on each arc takes."""
    arcs = instance.arcs
    taken = sp.csr_array(arcs.load.T * instance.pools.ravel())
    own = np.full(instance.N, -1)
    own[limited] = np.arange(len(limited))
    there = np.flatnonzero(own[arcs.user] >= 0)
    time = np.broadcast_to(arcs.time, len(arcs))[there]
    return sp.hstack([taken, sp.csr_array((time, (there, own[arcs.user[there]])), shape=(len(arcs), len(limited)))], format="csr")


@dataclass(frozen=True)
class _ExactRows(DerivedRows):
    """The same as rationals, user by user."""

    home: Instance
    limited: tuple[int, ...]

    @cached_property
    def _place(self) -> dict[int, int]:
        return {n: k for k, n in enumerate(self.limited)}

    def __len__(self) -> int:
        return self.home.N

    def __getitem__(self, n: Any) -> Any:
        arcs = self.home.arcs
        return [self._row(n, int(arcs.variant[a]), int(arcs.server[a])) for a in range(*arcs.owner.indptr[n : n + 2].tolist())]

    def _row(self, n: int, v: int, i: int) -> list[Fraction]:
        home, exact = self.home, self.home.exact
        result = [Fraction(0)] * (home.K * home.R + len(self.limited))
        result[i * home.R : (i + 1) * home.R] = exact.demands_at(n, i)[v]
        if n in self._place:
            result[home.K * home.R + self._place[n]] = Fraction(1) / (1 if (n, i) in exact.own else exact.rates.get((n, i), 1))
        return result
