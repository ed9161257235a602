r"""What one iteration asks of the matrix `load`, in one of two layouts, of which neither has a number for every pair of rows.

    rows      load x                        (K R,)
    priced    charge p                      (A,)
    blocks    load diag(w) charge           its K blocks R x R on the diagonal, all that there is
    coupling  owner diag(w) load^T          (N, K R), dense

where charge (A, K R) is load^T, but for `ArcLoads.charged`.

`GridLoads`: every user may run on every server and has one demand vector there, so that load = demand / capacity has rank one for
each resource, and the products are BLAS-3 on (N, R), (K, R) and the grid (N, K) of arcs.
`MaskedLoads`: the same for a part of the pairs, at least one in `SPARSEST`: arcs are written into the grid for each product.
`ArcLoads`: any list of arcs, with the loads of each (A, R).

The coupling is sparse on request, with the arcs whose weight is not 0.
"""

from copy import copy
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.block_matrix import of_blocks

__all__ = ["ArcLoads", "Chosen", "GridLoads", "Loads", "MaskedLoads", "charged_for", "loads_of", "restricted", "twins"]

Chosen: TypeAlias = slice | NDArray[np.bool_]
"""All users, or which of them (N,)."""

SPARSEST = 10
"""Grids are used from one pair in so many on."""


class ArcsOfUsers:
    """Sums over the arcs of each user, for arcs ordered by user of whom each has one at least.

    Attributes
    ----------
    counts, first : (N,) how many arcs each user has, and which is the first
    """

    counts: NDArray[np.intp]
    first: NDArray[np.intp]

    def count_arcs(self, user: NDArray[np.intp], users: int) -> None:
        """Set the attributes from the user of each arc (A,) and N."""
        self.counts = np.bincount(user, minlength=users)
        self.first = np.concatenate([[0], np.cumsum(self.counts)[:-1]])

    def of_users(self, values: NDArray[Any]) -> NDArray[Any]:
        """(A,) what each arc's user has of (N,)."""
        return np.repeat(values, self.counts)

    def totals(self, values: Floats) -> Floats:
        """(N,) owner @ values."""
        result: Floats = np.add.reduceat(values, self.first)
        return result

    def most(self, values: Floats) -> Floats:
        """(N,) the largest of each user's values."""
        result: Floats = np.maximum.reduceat(values, self.first)
        return result


class GridLoads:
    """All pairs of users and servers; parameters are demands (N, R) in the users' units and 1 / capacity (K, R)."""

    def __init__(self, demand: Floats, inverse: Floats) -> None:
        self.demand, self.inverse = demand, inverse
        self.N, self.K, self.R = len(demand), len(inverse), demand.shape[1]
        self.pairs = (demand[:, :, None] * demand[:, None, :]).reshape(self.N, -1)
        self.scales = (inverse[:, :, None] * inverse[:, None, :]).reshape(self.K, -1)
        self.twins = np.empty((2, 0), np.intp)

    charges: None = None

    def __len__(self) -> int:
        return self.N * self.K

    @property
    def charging(self) -> Self:
        """The loads for which prices are charged: these."""
        return self

    @property
    def user(self) -> NDArray[np.intp]:
        """(A,)"""
        return np.repeat(np.arange(self.N), self.K)

    @property
    def server(self) -> NDArray[np.intp]:
        """(A,)"""
        return np.tile(np.arange(self.K), self.N)

    def of_users(self, values: Floats) -> Floats:
        """(A,) what each arc's user has of (N,)."""
        return np.repeat(values, self.K)

    def totals(self, values: Floats) -> Floats:
        """(N,) owner @ values."""
        result: Floats = values.reshape(self.N, self.K).sum(axis=1)
        return result

    def most(self, values: Floats) -> Floats:
        """(N,) the largest of each user's values."""
        result: Floats = values.reshape(self.N, self.K).max(axis=1)
        return result

    def _on_grid(self, values: Floats) -> Floats:
        """(N, K) from (A,)."""
        return values.reshape(self.N, self.K)

    def rows(self, x: Floats) -> Floats:
        """(K R,) load @ x."""
        result: Floats = ((self._on_grid(x).T @ self.demand) * self.inverse).ravel()
        return result

    def priced(self, p: Floats) -> Floats:
        """(A,) load^T p."""
        result: Floats = (self.demand @ (p.reshape(self.K, self.R) * self.inverse).T).ravel()
        return result

    def blocks(self, weights: Floats, twin_weights: Floats) -> Floats:
        """(K, R, R) sums over each server's arcs; without `twins`.

        Parameters
        ----------
        weights : (A,)
        twin_weights : (0,)
        """
        del twin_weights
        sums = (self._on_grid(weights).T @ self.pairs) * self.scales
        return sums.reshape(self.K, self.R, self.R)

    def coupling(
        self, weights: Floats, kind: type[np.floating[Any]] = np.float64, users: Chosen = slice(None)
    ) -> NDArray[np.floating[Any]]:
        """(N, K R), in that precision.

        Parameters
        ----------
        weights : (A,)
        kind : the precision
        users : (N,) whose rows are wanted
        """
        result = self._on_grid(weights)[users].astype(kind)[:, :, None] * self.demand[users].astype(kind)[:, None, :]
        result *= self.inverse.astype(kind)
        return result.reshape(len(result), -1)

    def sparse_coupling(self, weights: Floats) -> sp.bsr_array:
        """(N, K R), with a number for every resource of an arc whose weight is not 0."""
        return self._sparse(np.flatnonzero(weights), weights[weights != 0.0])

    def _sparse(self, cells: NDArray[np.intp], weights: Floats) -> sp.bsr_array:
        """The same from the places of arcs in the grid."""
        user, server = np.divmod(cells, self.K)
        loads = weights[:, None] * self.demand[user] * self.inverse[server]
        return of_blocks(loads[:, None, :], user, server, (self.N, self.K))


class MaskedLoads(ArcsOfUsers, GridLoads):
    """Some pairs of users and servers, in the order of the grid; each user has one at least.

    Parameters
    ----------
    demand, inverse : (N, R), (K, R)
    user, server : (A,)
    """

    def __init__(self, demand: Floats, inverse: Floats, user: NDArray[np.intp], server: NDArray[np.intp]) -> None:
        super().__init__(demand, inverse)
        self._user, self._server, self.cells = user, server, user * self.K + server
        self.count_arcs(user, self.N)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def user(self) -> NDArray[np.intp]:
        """(A,)"""
        return self._user

    @property
    def server(self) -> NDArray[np.intp]:
        """(A,)"""
        return self._server

    def _on_grid(self, values: Floats) -> Floats:
        """(N, K) from (A,), 0 elsewhere."""
        result = np.zeros(self.N * self.K)
        result[self.cells] = values
        return result.reshape(self.N, self.K)

    def priced(self, p: Floats) -> Floats:
        """(A,) load^T p."""
        result: Floats = super().priced(p)[self.cells]
        return result

    def sparse_coupling(self, weights: Floats) -> sp.bsr_array:
        """(N, K R), with a number for every resource of an arc whose weight is not 0."""
        there = weights != 0.0
        return self._sparse(self.cells[there], weights[there])


class ArcLoads(ArcsOfUsers):
    """Any arcs, ordered by user; each user has one at least.

    Parameters
    ----------
    loads : (A, R)
    user, server : (A,)
    users, servers : N and K

    Attributes
    ----------
    charges : (A, R) what is charged for prices in the place of loads; None for these
    places, place : (places,) the pairs of user and server with arcs, n K + i, and (A,) which an arc's is; None where each has one
    complete : whether all pairs have
    """

    charges: Floats | None = None

    def __init__(self, loads: Floats, user: NDArray[np.intp], server: NDArray[np.intp], users: int, servers: int) -> None:
        self.loads, self.user, self.server, self.N, self.K, self.R = loads, user, server, users, servers, loads.shape[1]
        self.count_arcs(user, users)
        self.owner, self.by_server = sums_of(user, users), sums_of(server, servers)
        # entry by entry: from blocks it takes twice as long
        entries = loads.ravel(), (server[:, None] * self.R + np.arange(self.R)).ravel(), np.arange(0, loads.size + 1, self.R)
        self.transposed = sp.csr_array(entries, shape=(len(user), servers * self.R))
        self.load = self.transposed.T  # the same numbers; with those of a row together products took twice as long
        place = user * servers + server
        self.twins = twins(place)
        self.places, self.place = np.unique(place, return_inverse=True) if self.twins.size else (place, None)
        self.complete = len(self.places) == users * servers

    def __len__(self) -> int:
        return len(self.user)

    def totals(self, values: Floats) -> Floats:
        """(N,) owner @ values; for up to fifteen arcs each this takes half of what the sums of ArcsOfUsers take."""
        result: Floats = self.owner @ values
        return result

    def rows(self, x: Floats) -> Floats:
        """(K R,) load @ x."""
        result: Floats = self.load @ x
        return result

    def priced(self, p: Floats) -> Floats:
        """(A,) charge p."""
        if self.charges is None:
            result: Floats = self.transposed @ p
            return result
        return charged_for(self.charges, p.reshape(self.K, self.R), self.server)

    def charged(self, charges: Floats) -> Self:
        """The same arcs with other charges (A, R), for which columns are best side by side in memory."""
        result = copy(self)
        result.charges = charges
        return result

    @property
    def ways(self) -> NDArray[np.intp]:
        """(A,) how many arcs its user has at its server."""
        return np.ones(len(self), np.intp) if self.place is None else np.bincount(self.place)[self.place]

    @property
    def charging(self) -> "ArcLoads":
        """The same arcs with the charges as loads, for `coupling` and `sparse_coupling`."""
        if self.charges is None:
            return self
        result = copy(self)
        result.loads, result.charges = self.charges, None
        return result

    def blocks(self, weights: Floats, twin_weights: Floats) -> Floats:
        """(K, R, R) sums over each server's arcs, and over pairs of arcs of a user at one server.

        Parameters
        ----------
        weights : (A,)
        twin_weights : (T,) of `twins`
        """
        result, charges = np.empty((self.K, self.R, self.R)), self.charges
        for r in range(self.R):
            weighted = weights * self.loads[:, r]
            if charges is not None:
                result[:, r] = self.by_server @ np.multiply(weighted[:, None], charges, order="C")
                continue
            for q in range(r + 1):
                result[:, r, q] = result[:, q, r] = self.by_server @ (weighted * self.loads[:, q])
        one, two = self.twins
        charges = self.loads if charges is None else charges
        np.add.at(result, self.server[one], self.loads[one][:, :, None] * (twin_weights[:, None] * charges[two])[:, None, :])
        return result

    def coupling(
        self, weights: Floats, kind: type[np.floating[Any]] = np.float64, users: Chosen = slice(None)
    ) -> NDArray[np.floating[Any]]:
        """(N, K R), in that precision.

        Parameters
        ----------
        weights : (A,)
        kind : the precision
        users : (N,) whose rows are wanted
        """
        values = self._at_places(weights).astype(kind, copy=False)
        if self.complete and isinstance(users, slice):
            return values.reshape(self.N, -1)
        places, count = self.places, self.N
        if not isinstance(users, slice):
            user, server = np.divmod(places, self.K)
            there, number = np.flatnonzero(users[user]), np.cumsum(users) - 1
            values, places, count = values[there], number[user[there]] * self.K + server[there], int(number[-1]) + 1
        result = np.zeros((count * self.K, self.R), kind)
        result[places] = values
        return result.reshape(count, self.K * self.R)

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


Loads: TypeAlias = GridLoads | ArcLoads


def loads_of(instance: Instance, tasks: Floats) -> Loads:
    """The loads of an instance whose users count in units of tasks (N,)."""
    arcs = instance.arcs
    plain = instance.single_variant and not instance.demands_on
    if plain and SPARSEST * len(arcs) >= instance.N * instance.K:
        demand = arcs.demand[np.searchsorted(arcs.user, np.arange(instance.N))] * tasks[:, None]
        inverse = np.divide(1.0, instance.pools, out=np.zeros_like(instance.pools), where=instance.pools > 0)
        if len(arcs) == instance.N * instance.K:
            return GridLoads(demand, inverse)
        return MaskedLoads(demand, inverse, arcs.user, arcs.server)
    entries = arcs.load.tocoo()
    loads = np.zeros((len(arcs), instance.R))
    loads[entries.col, entries.row % instance.R] = entries.data
    return ArcLoads(loads * tasks[arcs.user][:, None], arcs.user, arcs.server, instance.N, instance.K)


def charged_for(charges: Floats, prices: Floats, server: NDArray[np.intp]) -> Floats:
    """(A,) what arcs are charged, column by column.

    Parameters
    ----------
    charges : (A, R)
    prices : (K, R)
    server : (A,) of each arc
    """
    columns = prices.T.take(server, axis=1)
    result: Floats = charges[:, 0] * columns[0]
    for r in range(1, len(columns)):
        result += charges[:, r] * columns[r]
    return result


def restricted(loads: Loads, kept: NDArray[np.intp]) -> ArcLoads:
    """The loads of some arcs (kept,), in their order; each user has one of them at least."""
    user, server = loads.user[kept], loads.server[kept]
    own = loads.loads[kept] if isinstance(loads, ArcLoads) else loads.demand[user] * loads.inverse[server]
    return ArcLoads(own, user, server, loads.N, loads.K)


def sums_of(group: NDArray[np.intp], groups: int) -> sp.csr_array:
    """(groups, A) 1 where an arc is of a group, from the group of each arc (A,)."""
    order = np.argsort(group.astype(np.min_scalar_type(groups)), kind="stable")  # numbers of two bytes are sorted by digits
    ends = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups))])
    return sp.csr_array((np.ones(len(group)), order, ends), shape=(groups, len(group)))


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
