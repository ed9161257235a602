"""Which users and servers are alike; exact aggregation of identical servers, and its inverse.

q servers with the same capacities, placement and server-dependent demands act as one pool of q times the capacity in every
mechanism that depends on the tasks of users alone: the sum of a feasible x over the q servers is feasible for the pool, and of
a feasible x on the pool x / q is on each server. The 12,583 machines of the Google cell (W Table 1) become 10 rows.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.errors import NotApplicable, require
from fairalloc.models.instance import Instance
from fairalloc.models.transformations.own_time import own_time

Indices: TypeAlias = NDArray[np.intp]

MOST_ROWS = 10**7


@checked
def aggregate(instance: Instance) -> Instance:
    """The instance with identical server rows merged into one row whose `counts` is their sum."""
    keep, of = _classes(instance)
    counts = np.zeros(len(keep), dtype=np.int64)
    np.add.at(counts, of, instance.counts)
    return _take(instance, keep, counts)


@checked
def expand(instance: Instance) -> Instance:
    """The instance with every server as a row of its own, named s, s#2, s#3, .. after its class."""
    counts, servers = instance.counts, sum(instance.counts.tolist())
    require(servers <= MOST_ROWS, "the number of servers is", servers, f"at most {MOST_ROWS:,} can have rows of their own")
    return _take(instance, np.repeat(np.arange(instance.K), counts), np.ones(servers, dtype=int))


def aggregate_allocation(allocation: Allocation) -> Allocation:
    """The allocation on `aggregate(instance)`: tasks on identical servers added up."""
    instance = allocation.instance
    _, of = _classes(instance)
    merged, arcs = aggregate(instance), instance.arcs
    x = np.zeros(merged.A)
    np.add.at(x, positions(merged, arcs.user, arcs.variant, of[arcs.server]), allocation.x)
    return Allocation(merged, x)


def pooled(instance: Instance) -> Instance:
    """All servers as one server "pool" with the summed capacities (W section 2, K Def 1); what `with_own_time` made is one."""
    if not instance.same_everywhere:
        raise NotApplicable("the servers cannot be pooled where demands depend on the server (demands_on, rates)")
    if instance.allowed is not None:
        n, i = np.argwhere(~instance.placement)[0]
        where = f"user {instance.users[n]!r} may not use server {instance.servers[i]!r}"
        raise NotApplicable(f"the servers cannot be pooled under placement constraints: {where}")
    return instance if (own_time(instance) >= 0).any() else instance.pool  # of which users' own time is known by its names


def _classes(instance: Instance) -> tuple[Indices, Indices]:
    """First row of each class of identical servers, and the class of each row."""
    here: list[list[object]] = [[] for _ in range(instance.K)]
    exact = instance.exact
    for n, i in sorted(exact.rates | exact.own):  # a rate is also how much of a user's time a task takes
        here[i].append((n, exact.own.get((n, i), exact.rates.get((n, i)))))
    of = _numbered(exact.capacities, (placed.tobytes() for placed in instance.placement.T), map(tuple, here))
    return np.unique(of, return_index=True)[1], of


def alike_users(instance: Instance, *more: Iterable[object]) -> Indices:
    """(N,) the class of each user: the same variants and servers, demands there, and `more` of each; as `_numbered`."""
    vectors = instance.vectors
    variants = _rows(vectors.matrix)
    each = [tuple(variants[start:end]) for start, end in pairwise(vectors.first)]
    there = [] if instance.open_pairs is None else [_rows(instance.open_pairs)]
    return _numbered(each, *there, *_own_demands(instance, 0, instance.N), *more)


def alike_servers(instance: Instance, *more: Iterable[object]) -> Indices:
    """(K,) the class of each row of servers: the same capacities, users and demands of these there, and `more` of each."""
    there = [] if instance.open_pairs is None else [_rows(instance.open_pairs.tocsc())]
    return _numbered(map(tuple, instance.capacities.tolist()), *there, *_own_demands(instance, 1, instance.K), *more)


def _own_demands(instance: Instance, axis: int, size: int) -> list[list[object]]:
    """What demands of their own say of each user (axis 0) or server (axis 1)."""
    if not instance.own:
        return []
    own: list[set[object]] = [set() for _ in range(size)]
    for pair, vectors in instance.own.items():
        own[pair[axis]].add((pair[1 - axis], vectors.tobytes()))
    return [list(map(frozenset, own))]


def _rows(matrix: Any) -> list[object]:
    """The content of each row of a sparse matrix, or of each column of one that is stored by columns."""
    ends = pairwise(matrix.indptr.tolist())
    return [(matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes()) for start, end in ends]


def _numbered(*keys: Iterable[object]) -> Indices:
    """The class of each, numbered in the order of their first members."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in zip(*keys, strict=True)])


def _take(instance: Instance, rows: Indices, counts: Indices) -> Instance:
    """The instance with the given server rows (repeats allowed) and counts."""
    copies, taken, names = Counter[int](), set(instance.servers), []
    for i in rows:
        copies[i] += 1
        name = instance.servers[i]
        while copies[i] > 1 and name in taken:
            name = f"{instance.servers[i]}#{copies[i]}"
            copies[i] += name in taken
        taken.add(name)
        names.append(name)
    exact = instance.exact
    on = {(n, k): v for (n, j), v in exact.own.items() for k in np.flatnonzero(rows == j)}
    capacities, eligible = [exact.capacities[i] for i in rows], instance.placement[:, rows]
    changed = {"capacities": capacities, "counts": counts, "eligible": eligible, "servers": names}
    return instance.replace(**changed, demands_on=on, rates=exact.rates_of(range(instance.N), rows))


def positions(instance: Instance, user: Indices, variant: Indices, server: Indices) -> Indices:
    """Positions in `instance.arcs`, which are sorted by user, variant, server, of arcs given by these three (B,)."""
    first, arcs = instance.vectors.first, instance.arcs
    keys = (first[arcs.user] + arcs.variant) * instance.K + arcs.server
    return np.searchsorted(keys, (first[user] + variant) * instance.K + server)
