r"""What one iteration asks of the matrix `load`, in one of these layouts.

    rows      load x                        (K R,)
    priced    charge p                      (A,)
    blocks    load diag(w) charge           its K blocks R x R on the diagonal, all that there is
    coupling  owner diag(w) load^T          (N, K R), dense

where charge (A, K R) is load^T, but for `ArcLoads.charged`.

`GridLoads`: all pairs of users and servers, one demand vector a user, so that load = demand / capacity has rank one for each
resource, and the products are BLAS-3 on (N, R), (K, R) and the grid (N, K) of arcs.
`MaskedLoads`: the same for a part of the pairs, at least one in `SPARSEST`: arcs are written into the grid for each product.
`ArcLoads`: any list of arcs, with the loads of each (A, R).
`SparseLoads`: any list of arcs that use few of many resources. In the place of blocks and a coupling they have `remaining`.
`OwnRowLoads`: arcs with a row that their user alone uses, as its own time, beside blocks of rows that are shared.
"""

from copy import copy
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.matrices import Dense, Precision, of_blocks

SPARSE, LARGE = 0.05, 500
"""The part of the matrix of rows (schur.py) that may be nonzero for "sparse rows", and from how many rows on that is worth it."""

SPARSEST = 10
"""Grids are used from one pair in so many on."""

WIDE, USED = 8, 0.25
"""The resources above which arcs may be `SparseLoads`, and the part of them that an arc may use in the mean."""

PAIRS, PRODUCTS = 5_000_000, 40_000_000
"""The most pairs of arcs of one user that `SparseLoads` has, and the most products of their loads that are kept."""

OWN, MANY = 0.5, 64
"""The part of the users that have a row of their own, at least, in `OwnRowLoads`; and the rows up to which others do."""


class ArcsOfUsers:
    """Sums over arcs ordered by user of whom each has one at least: their counts, and the first of each (N,)."""

    def count_arcs(self, user: NDArray[np.intp], users: int) -> None:
        """Set the attributes from the user of each arc (A,) and N."""
        self.counts = np.bincount(user, minlength=users)
        self.first = np.concatenate([[0], np.cumsum(self.counts)[:-1]])

    def of_users(self, values: NDArray[Any]) -> NDArray[Any]:
        """(A,) what each arc's user has of (N,)."""
        return np.repeat(values, self.counts)

    def totals(self, values: Floats) -> Floats:
        """(N,) owner @ values."""
        return np.add.reduceat(values, self.first)

    def most(self, values: Floats) -> Floats:
        """(N,) the largest of each user's values."""
        return np.maximum.reduceat(values, self.first)


class GridLoads:
    """All pairs of users and servers, from demands (N, R) and 1 / capacity (K, R), in units of the users and of the resources.

    In a stack all arrays have one more axis, the first.
    """

    charging: None = None  # of other charges, which these have not

    def __init__(self, demand: Floats, inverse: Floats, user: NDArray[np.intp], server: NDArray[np.intp]) -> None:
        self.demand, self.inverse, self.user, self.server = demand, inverse, user, server
        sizes: tuple[int, ...] = (demand.shape[-2], *inverse.shape[-2:])
        self.N, self.K, self.R = sizes
        self.pairs, self.scales = (
            (part[..., :, None] * part[..., None, :]).reshape(*part.shape[:-1], -1) for part in (demand, inverse)
        )
        self.twins, self.grid = np.empty((2, 0), np.intp), (*demand.shape[:-1], self.K)

    def __len__(self) -> int:
        return len(self.user)

    def of_users(self, values: Floats) -> Floats:
        """(A,) what each arc's user has of (N,)."""
        return values.repeat(self.K, -1)

    def totals(self, values: Floats) -> Floats:
        """(N,) owner @ values."""
        return np.asarray(np.add.reduce(self._on_grid(values), axis=-1))

    def most(self, values: Floats) -> Floats:
        """(N,) the largest of each user's values."""
        return np.asarray(np.maximum.reduce(self._on_grid(values), axis=-1))

    def _on_grid(self, values: Floats) -> Floats:
        """(N, K) from (A,)."""
        return values.reshape(self.grid)

    def rows(self, x: Floats) -> Floats:
        """(K R,) load @ x."""
        sums = (self._on_grid(x).swapaxes(-1, -2) @ self.demand) * self.inverse
        return sums.reshape(*sums.shape[:-2], -1)

    def priced(self, p: Floats) -> Floats:
        """(A,) load^T p."""
        costs = self.demand @ (p.reshape(self.inverse.shape) * self.inverse).swapaxes(-1, -2)
        return costs.reshape(*costs.shape[:-2], -1)

    def blocks(self, weights: Floats, _: Floats) -> Floats:
        """(K, R, R) sums over each server's arcs, weighted (A,); there are no `twins`."""
        sums = (self._on_grid(weights).swapaxes(-1, -2) @ self.pairs) * self.scales
        return sums.reshape(*sums.shape[:-1], self.R, self.R)

    def coupling(self, weights: Floats, kind: Precision = np.float64) -> Dense:
        """(N, K R) of arcs weighted (A,), in that precision."""
        result = self._on_grid(weights).astype(kind)[..., None] * self.demand.astype(kind)[..., None, :]
        result *= self.inverse.astype(kind)[..., None, :, :]
        return result.reshape(*result.shape[:-2], -1)

    def sparse_coupling(self, weights: Floats) -> sp.bsr_array:
        """(N, K R), with a number for every resource of an arc whose weight is not 0."""
        used = np.flatnonzero(weights)
        user, server = self.user[used], self.server[used]
        loads = weights[used, None] * self.demand[user] * self.inverse[server]
        return of_blocks(loads[:, None, :], user, server, (self.N, self.K))


class MaskedLoads(ArcsOfUsers, GridLoads):
    """Some pairs of users and servers, in the order of the grid; each user has one at least."""

    def __init__(self, demand: Floats, inverse: Floats, user: NDArray[np.intp], server: NDArray[np.intp]) -> None:
        super().__init__(demand, inverse, user, server)
        self.cells = user * self.K + server
        self.count_arcs(user, self.N)

    def _on_grid(self, values: Floats) -> Floats:
        """(N, K) from (A,), 0 elsewhere."""
        result = np.zeros(self.N * self.K)
        result[self.cells] = values
        return result.reshape(self.N, self.K)

    def priced(self, p: Floats) -> Floats:
        """(A,) load^T p."""
        return np.asarray(super().priced(p)[self.cells])


class ListedLoads(ArcsOfUsers):
    """Any arcs, ordered by user; each user has one at least. `transposed` is (A, K R), sparse."""

    R: int

    def __init__(
        self, transposed: sp.csr_array, user: NDArray[np.intp], server: NDArray[np.intp], users: int, servers: int
    ) -> None:
        self.transposed, self.user, self.server, self.N, self.K = transposed, user, server, users, servers
        self.R = transposed.shape[1] // servers
        self.load = transposed.T  # the same numbers; with those of a row together products took twice as long
        self.count_arcs(user, users)

    def __len__(self) -> int:
        return len(self.user)

    def rows(self, x: Floats) -> Floats:
        """(K R,) load @ x."""
        return np.asarray(self.load @ x)

    def priced(self, p: Floats) -> Floats:
        """(A,) load^T p."""
        return np.asarray(self.transposed @ p)


class SparseLoads(ListedLoads):
    r"""Arcs that use few of many resources; what is left for the prices is a sum of squares, of arcs and pairs of a user's arcs,

        P - B F^-1 B^T = sum_a theta_a E_n / F_n |load_a|^2 + sum_{a < b} theta_a theta_b / F_n |load_a - load_b|^2,

    without cancellation, where F = D + E and |v|^2 = v v^T.

    twins : (2, T) all pairs of a user's arcs
    terms : (A + T, K R) the loads of arcs and the differences of twins, sparse
    products : (K R K R, A + T) the lower triangles of the squares of `terms`, by columns; None where these are too many to keep
    """

    def __init__(
        self, transposed: sp.csr_array, user: NDArray[np.intp], server: NDArray[np.intp], users: int, servers: int
    ) -> None:
        super().__init__(transposed, user, server, users, servers)
        pairs = twins(user)
        self.twins = one, two = pairs[:, pairs[0] < pairs[1]]
        self.terms = sp.csr_array(sp.vstack([transposed, transposed[one] - transposed[two]], format="csr"))
        self.products = squares(self.terms)

    def remaining(self, own: Floats, pairs: Floats, kind: Precision) -> Dense:
        """The sum of squares weighted (A,) and (T,), dense in the order of LAPACK: at least the lower triangle."""
        rows = self.K * self.R
        if self.products is None:
            whole: Floats = self.sparse_remaining(own, pairs).toarray()
        else:
            whole = (self.products @ np.concatenate([own, pairs])).reshape(rows, rows)
        return whole.astype(kind, copy=False).T

    def sparse_remaining(self, own: Floats, pairs: Floats) -> sp.csr_array:
        """The same sum, sparse."""
        weights = np.concatenate([own, pairs])
        used = np.flatnonzero(weights)
        terms = self.terms[used]
        return sp.csr_array(terms.T @ (sp.diags_array(weights[used]) @ terms))


class ArcLoads(ListedLoads):
    """Any arcs with loads (A, R), ordered by user; each user has one at least.

    charges : (A, R) what is charged for prices in the place of loads; None for these
    places, place : (places,) the pairs of user and server with arcs, n K + i, and (A,) which an arc's is; None where each has one
    """

    charges: Floats | None = None

    def __init__(self, loads: Floats, user: NDArray[np.intp], server: NDArray[np.intp], users: int, servers: int) -> None:
        R = loads.shape[1]
        # entry by entry: from blocks it takes twice as long
        entries = loads.ravel(), (server[:, None] * R + np.arange(R)).ravel(), np.arange(0, loads.size + 1, R)
        super().__init__(sp.csr_array(entries, shape=(len(user), servers * R)), user, server, users, servers)
        self.loads = loads
        self.by_server = sp.csr_array((np.ones(len(user)), (server, np.arange(len(user)))), shape=(servers, len(user)))
        place = user * servers + server
        self.twins = twins(place)
        self.places, self.place = np.unique(place, return_inverse=True) if self.twins.size else (place, None)

    def priced(self, p: Floats) -> Floats:
        """(A,) charge p."""
        if self.charges is None:
            return super().priced(p)
        return np.asarray(np.einsum("ar,ar->a", self.charges, p.reshape(self.K, self.R)[self.server]))

    def charged(self, charges: Floats) -> Self:
        """The same arcs with other charges (A, R)."""
        result = copy(self)
        result.charges = charges
        return result

    @property
    def charging(self) -> "ArcLoads | None":
        """The same arcs with the charges as loads, for couplings; None where the loads are charged, so that C is B."""
        if self.charges is None:
            return None
        result = copy(self)
        result.loads, result.charges = self.charges, None
        return result

    def blocks(self, weights: Floats, twin_weights: Floats) -> Floats:
        """(K, R, R) sums over each server's arcs, weighted (A,), and over twins, weighted (T,)."""
        result, charges = np.empty((self.K, self.R, self.R)), self.loads if self.charges is None else self.charges
        for r in range(self.R):
            result[:, r] = self.by_server @ np.multiply((weights * self.loads[:, r])[:, None], charges, order="C")
        one, two = self.twins
        np.add.at(result, self.server[one], self.loads[one][:, :, None] * (twin_weights[:, None] * charges[two])[:, None, :])
        return result

    def coupling(self, weights: Floats, kind: Precision = np.float64) -> Dense:
        """(N, K R) of arcs weighted (A,), in that precision."""
        result = np.zeros((self.N * self.K, self.R), kind)
        result[self.places] = self._at_places(weights)
        return result.reshape(self.N, -1)

    def sparse_coupling(self, weights: Floats) -> sp.bsr_array:
        """(N, K R), with a number for every resource of an arc whose weight is not 0."""
        used = np.flatnonzero(weights)
        there = used if self.place is None else np.unique(self.place[used])
        user, server = np.divmod(self.places[there], self.K)
        return of_blocks(self._at_places(weights)[there, None, :], user, server, (self.N, self.K))

    def _at_places(self, weights: Floats) -> Floats:
        """(places, R), a user's arcs at one server added."""
        values: Floats = np.multiply(weights[:, None], self.loads, order="C")
        if self.place is None:
            return values
        result = np.zeros((len(self.places), self.R))
        np.add.at(result, self.place, values)
        return result


class OwnRows(NamedTuple):
    """Which rows are whose: own (N,), -1 = none; shared (M,), and their places (M,) in `servers` blocks of `width` rows."""

    own: NDArray[np.intp]
    shared: NDArray[np.intp]
    place: NDArray[np.intp]
    servers: int
    width: int


def own_rows(instance: Instance) -> OwnRows | None:
    """The own rows of an instance that is one server.

    None where few users have one, or the others are no small blocks, or so many and so sparse that "sparse rows" takes less.
    """
    return instance.once("own rows", lambda: _found(instance)) if instance.K == 1 and instance.R > MANY else None


def _found(instance: Instance) -> OwnRows | None:
    load, user = sp.csr_array(instance.arcs.load), instance.arcs.user
    load.sort_indices()  # arcs are ordered by user: a row's first and last arc tell whether one user uses it
    counts = np.diff(load.indptr)
    used = np.flatnonzero(counts)
    first, last = user[load.indices[load.indptr[used]]], user[load.indices[load.indptr[used + 1] - 1]]
    alone, whose = used[first == last], first[first == last]
    order = np.argsort(counts[alone], kind="stable")
    own = np.full(instance.N, -1)
    own[whose[order]] = alone[order]  # the last of several, which most arcs use
    if np.count_nonzero(own >= 0) < OWN * instance.N:
        return None
    shared = np.setdiff1d(np.arange(instance.R), own)
    server, r = _blocks(sp.csr_array(load[shared].T))
    servers, width = int(server.max(initial=0)) + 1, int(r.max(initial=0)) + 1
    if width > WIDE or (servers * width > LARGE and uses_few(instance) and couples_few(instance)):
        return None
    return OwnRows(own, shared, server * width + r, servers, width)


def _blocks(arcs: sp.csr_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(M,) which block each column is in, so that those of one row of a matrix (A, M) are together, and its number there."""
    from scipy.sparse.csgraph import connected_components

    row = np.repeat(np.arange(arcs.shape[0]), np.diff(arcs.indptr))
    follows = np.flatnonzero(row[1:] == row[:-1])
    pairs = arcs.indices[follows], arcs.indices[follows + 1]
    _, block = connected_components(sp.coo_array((np.ones(len(follows)), pairs), shape=(arcs.shape[1],) * 2), directed=False)
    order, sizes = np.argsort(block, kind="stable"), np.bincount(block)
    number = np.empty(len(block), np.intp)
    number[order] = np.arange(len(block)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return block.astype(np.intp), number


class OwnRowLoads(ListedLoads):
    r"""Arcs with at most one row that their user alone uses, whose prices w are in this user's equations only.

    With h_a what arc a takes of the own row, the arrow without its users is

        [ M     C ] [p]      M of the shared rows, as for every arrow
        [ C^T   W ] [w]      C = load diag(theta (h_a - mean_n)) owner^T,    mean_n = sum theta h / F over the arcs of user n
                             W = sum theta (h_a - mean_n)^2 + E mean_n^2 + S,    diagonal

    so that no pair of arcs is listed, and what is factorised has only the shared rows: M - C W^-1 C^T.

    shared : the loads of the shared rows, by blocks;  own : (A,) h
    """

    def __init__(self, instance: Instance, transposed: sp.csr_array, found: OwnRows) -> None:
        arcs = instance.arcs
        super().__init__(transposed, arcs.user, arcs.server, instance.N, instance.K)
        self.found, self.has = found, np.flatnonzero(found.own >= 0)
        entries = transposed[:, found.shared].tocoo()
        server, r = np.divmod(found.place[entries.col], found.width)
        at, loads = np.zeros(len(arcs), np.intp), np.zeros((len(arcs), found.width))
        at[entries.row], loads[entries.row, r] = server, entries.data
        self.shared = ArcLoads(loads, arcs.user, at, instance.N, found.servers)
        self.twins = self.shared.twins
        self.own = transposed @ (np.bincount(found.own[self.has], minlength=transposed.shape[1]).astype(float))

    def separate(self, rows: Floats) -> tuple[Floats, Floats]:
        """The numbers of the shared rows, by block (servers width,), 0 where a block has fewer, and of own rows (N,)."""
        blocks, own = np.zeros(self.found.servers * self.found.width), np.zeros(self.N)
        blocks[self.found.place], own[self.has] = rows[self.found.shared], rows[self.found.own[self.has]]
        return blocks, own

    def joined(self, blocks: Floats, own: Floats) -> Floats:
        """(rows,) from both."""
        rows = np.empty(self.R)
        rows[self.found.shared], rows[self.found.own[self.has]] = blocks[self.found.place], own[self.has]
        return rows

    def deviations(self, theta: Floats, shaft: Floats, ends: Floats, pivot: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """(A,) h_a - mean_n, and (N,) W without S, from theta (A,), F and E (N,), and each user's pivot (N,)."""
        pivots = self.own[pivot]
        less = self.own - self.of_users(pivots)
        mean = (ends * pivots - self.totals(theta * less)) / shaft  # of pivots, less the mean
        apart = less + self.of_users(mean)
        return apart, self.totals(theta * apart**2) + ends * (pivots - mean) ** 2


BlockLoads: TypeAlias = GridLoads | ArcLoads
Loads: TypeAlias = BlockLoads | SparseLoads | OwnRowLoads


def loads_of(instance: Instance, tasks: Floats) -> Loads:
    """The loads of an instance whose users count in units of tasks (N,)."""
    arcs, pools, found = instance.arcs, instance.pools, own_rows(instance)
    if found or uses_few(instance):
        transposed = sp.csr_array(sp.diags_array(tasks[arcs.user]) @ arcs.by_arc)
        if found:
            return OwnRowLoads(instance, transposed, found)
        return SparseLoads(transposed, arcs.user, arcs.server, instance.N, instance.K)
    if instance.single_variant and instance.same_everywhere and SPARSEST * len(arcs) >= instance.N * instance.K:
        ends = np.sqrt([pools.max(axis=0), pools.min(axis=0, initial=pools.max(), where=pools > 0)])
        unit = np.ldexp(1.0, np.frexp(ends.prod(axis=0))[1])  # squares stay in range; a power of 2 rounds nothing
        inverse = np.divide(unit, pools, out=np.zeros_like(pools), where=pools > 0)
        kind = GridLoads if len(arcs) == instance.N * instance.K else MaskedLoads
        return kind(instance.vectors.matrix.toarray() * tasks[:, None] / unit, inverse, arcs.user, arcs.server)
    entries = arcs.load.tocoo()
    loads = np.zeros((len(arcs), instance.R))
    loads[entries.col, entries.row % instance.R] = entries.data
    return ArcLoads(loads * tasks[arcs.user][:, None], arcs.user, arcs.server, instance.N, instance.K)


def largest_of_users(loads: Loads, values: Floats) -> NDArray[np.intp]:
    """(N,) the arc of each user with the largest value; the first of several."""
    arcs = np.flatnonzero(~(values < loads.of_users(loads.most(values))))  # those that are no numbers, too
    return arcs[np.searchsorted(loads.user[arcs], np.arange(loads.N))]


def uses_few(instance: Instance) -> bool:
    """Whether arcs use few of many resources, and users have so few arcs that all their pairs can be listed."""
    arcs = instance.arcs
    if instance.R <= WIDE or arcs.load.nnz > USED * len(arcs) * instance.R:
        return False
    counts = np.diff(arcs.owner.indptr).astype(float)
    return bool((counts * (counts - 1.0)).sum() <= 2.0 * PAIRS)


def couples_few(instance: Instance) -> bool:
    """Whether rows are many, and few pairs of them have a user in common."""
    rows, arcs = instance.K * instance.R, instance.arcs
    used = np.add.reduceat(np.diff(arcs.load.indptr).astype(float), arcs.first)
    return rows > LARGE and bool((used**2).sum() <= SPARSE * rows**2)  # of all pairs of rows


def squares(terms: sp.csr_array) -> sp.csc_array | None:
    """(n n, T) the lower triangles of the squares of the rows of terms (T, n), in the order of LAPACK; None where too many."""
    terms.sort_indices()
    rows, before = terms.shape[1], np.arange(terms.nnz) - np.repeat(terms.indptr[:-1], np.diff(terms.indptr))
    ends = np.concatenate([[0], np.cumsum(before + 1)])
    if ends[-1] > PRODUCTS:
        return None
    below = np.repeat(np.arange(terms.nnz), before + 1)
    above = below - np.repeat(before, before + 1) + np.arange(ends[-1]) - np.repeat(ends[:-1], before + 1)
    place = terms.indices[above].astype(np.int64) * rows + terms.indices[below]
    return sp.csc_array((terms.data[below] * terms.data[above], place, ends[terms.indptr]), shape=(rows**2, terms.shape[0]))


def restricted(loads: BlockLoads, kept: NDArray[np.intp]) -> ArcLoads:
    """The loads of some arcs (kept,), in their order; each user has one of them at least."""
    user, server = loads.user[kept], loads.server[kept]
    own = loads.loads[kept] if isinstance(loads, ArcLoads) else loads.demand[user] * loads.inverse[server]
    return ArcLoads(own, user, server, loads.N, loads.K)


def twins(place: NDArray[np.intp]) -> NDArray[np.intp]:
    """(2, T) all ordered pairs of different arcs at the same place."""
    order = np.argsort(place, kind="stable")
    pairs = [np.empty((2, 0), np.intp)]
    for apart in range(1, len(place)):
        same = np.flatnonzero(place[order[apart:]] == place[order[:-apart]])
        if not len(same):
            break
        pairs += [np.array([order[same], order[same + apart]]), np.array([order[same + apart], order[same]])]
    return np.concatenate(pairs, axis=1)
