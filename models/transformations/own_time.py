"""Limits on a user's own time, over all servers, as Gavel and resalloc have: one more row for each user.

    sum_a x_a / rate_a <= limit_n        over the arcs a of user n

1. All servers become one, "system", whose resources are those of each server, and the time of each user with a limit.
2. Each arc (user, variant, server) becomes a variant of its user. It takes what it took there, and 1 / rate of the user's time.

So a feasible x stays feasible, in the same order, and every method, certificate and property knows the new rows. A mechanism of
tasks alone (nb, mmf, lmmf, utilitarian) is what it was, with the rows. Those that compare shares of servers or of resources
(drfh, ps-dsf, the game) would compare shares of the new resources, and refuse several variants where they need one.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.input.demand_matrix import Vectors
from fairalloc.models.input.validation import Derived, read_limits
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import quotient, rational


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
    limited = np.flatnonzero(np.isfinite(read_limits(limits, instance.users, "limits")))
    pools = [int(q) * c for q, row in zip(instance.counts, instance.exact.capacities, strict=True) for c in row]
    named = [f"{r} of {s}" for s in instance.servers for r in instance.resources]
    times = [f"time of {user}" for user in instance.users]  # one by whose name somebody's would be told is nobody's here
    if len({*named, *times}) < len(named) + len(times):
        named = [f"r{k}" for k in range(1, len(named) + 1)]
    source = instance, tuple(limited.tolist())
    vectors = Vectors.of_sparse(_floats(*source), instance.arcs.owner.indptr.astype(np.intp))
    return Instance(
        Derived(vectors, _rows, source),
        [pools + [rational(limits[n], "the limit") for n in limited]],
        weights=instance.exact.weights,
        max_tasks=instance.exact.max_tasks,
        min_tasks=instance.exact.min_tasks,
        groups=instance.groups,
        name=instance.name,
        users=instance.users,
        servers=["system"],
        resources=named + [times[n] for n in limited],
    )


def own_time(instance: Instance) -> NDArray[np.intp]:
    """(N,) the resource that is a user's own time in an instance of `with_own_time`, by its name; -1 where it has none."""
    if instance.K > 1 or instance.servers != ("system",):
        return np.full(instance.N, -1)
    place = {name: r for r, name in enumerate(instance.resources)}
    return np.array([place.get(f"time of {user}", -1) for user in instance.users])


def _rows(home: Instance, limited: tuple[int, ...]) -> list[list[list[Fraction]]]:
    """For each user what a task on each of its arcs takes of the servers and of the own time of some users, in rationals."""
    width, first = home.K * home.R + len(limited), home.arcs.owner.indptr.tolist()
    rows = [[Fraction(0)] * width for _ in home.arcs.user]
    for row, taken in zip(rows, _taken(home, limited), strict=True):
        for r, (d, rate) in taken.items():
            row[r] = d / rate
    return [rows[a:b] for a, b in pairwise(first)]


def _floats(home: Instance, limited: tuple[int, ...]) -> sp.csr_array:
    """(A x (K R + limited users)) the nearest floats of the rows, as an instance that is read from a file has them."""
    rows = list(_taken(home, limited))
    data = [quotient(d, rate, "what a task takes") for taken in rows for d, rate in taken.values()]
    columns, start = np.array([r for taken in rows for r in taken]), np.cumsum([0, *map(len, rows)])
    return sp.csr_array((data, columns, start), shape=(len(rows), home.K * home.R + len(limited)))


def _taken(home: Instance, limited: tuple[int, ...]) -> Iterator[dict[int, tuple[Fraction, Fraction]]]:
    """For each arc what a task takes of each resource but for the rate, and the rate."""
    arcs, width, one = home.arcs, home.R, Fraction(1)
    demands, own, rates = home.exact.demands, home.exact.own, home.exact.rates
    place = {n: k for k, n in enumerate(limited, home.K * width)}  # where the own time of a user stands
    for n, v, i in zip(arcs.user.tolist(), arcs.variant.tolist(), arcs.server.tolist(), strict=True):
        rate = one if (n, i) in own else rates.get((n, i), one)
        taken = {r: (d, rate) for r, d in enumerate(own.get((n, i), demands[n])[v], i * width) if d}
        if n in place:
            taken[place[n]] = one, rate
        yield taken
