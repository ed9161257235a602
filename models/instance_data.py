"""What an instance holds, and what follows from it: sizes, arcs with their sparse matrices, and the data as rationals."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError
from fairalloc.models.input.demand_matrix import Vectors, scaled_rows, small, small_range, with_data
from fairalloc.models.input.groups import Groups
from fairalloc.models.input.validation import Derived, Places, is_unlimited
from fairalloc.models.numbers import Floats, frozen, is_vector, rational


@dataclass(frozen=True, eq=False)
class Arcs:
    """Every eligible (user, variant, server), in that order.

    user, variant, server : (A,) int arrays; `variant` counts within its user
    load : ((K R) x A) sparse, by columns; the fraction of that server's resource a task takes, row i R + r
    owner : (N x A) sparse 0/1; `owner @ x` is the number of tasks of each user
    gamma : (A,) tasks the arc could run if it had the server for itself, 1 / max_r load (K 8)
    vectors, row, time : (M x R) sparse, (A,), and (A,) or 1; a task on arc a takes the resource vectors[row[a]] * time[a]
    """

    user: NDArray[np.intp]
    variant: NDArray[np.intp]
    server: NDArray[np.intp]
    load: sp.csc_array
    owner: sp.csr_array
    gamma: Floats
    vectors: sp.csr_array
    row: NDArray[np.intp]
    time: Floats

    def __len__(self) -> int:
        return len(self.user)

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """(N,) the first arc of each user; everybody has one."""
        return np.asarray(self.owner.indptr[:-1])

    def totals(self, x: Floats) -> Floats:
        """(N,) `owner @ x`."""
        return np.add.reduceat(x, self.first)

    @cached_property
    def alone(self) -> Floats:
        """(N,) tasks that the best arc of each user could run alone."""
        return frozen(np.maximum.reduceat(self.gamma, self.first))

    @cached_property
    def by_arc(self) -> sp.csr_array:
        """(A x (K R)) sparse, `load` by arcs."""
        return self.load.T

    def costs(self, prices: Floats) -> Floats:
        """(A,) what a task costs at prices (K R,), `by_arc @ prices`."""
        load, few = self.load, self.user.size <= 200  # where `by_arc` takes longer to make than the product without it
        result: Floats = np.add.reduceat(load.data * prices[load.indices], load.indptr[:-1]) if few else self.by_arc @ prices
        return result

    @cached_property
    def demand(self) -> Floats:
        """(A, R) resource a task takes there: dense, for instances of a size that people look at."""
        return frozen(self.vectors[self.row].toarray() * self.time[..., None])


T = TypeVar("T")


class ExactData:
    """The data of an instance as rationals, for each user (its variants) or row of servers, read when they are first asked for.

    What was given in rationals stays exact, a float is the decimal it prints as. `None` in `max_tasks` means unlimited.
    """

    def __init__(self, instance: "InstanceData", given: Mapping[str, Any]) -> None:
        self._instance, self._given = instance, given

    def _source(self, name: str) -> Any:
        """What was given, or the floats where these are exact."""
        return getattr(self._instance, name) if self._given[name] is None else self._given[name]

    @cached_property
    def demands(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        return tuple(map(_rationals, self._source("demands")))

    @cached_property
    def capacities(self) -> tuple[tuple[Fraction, ...], ...]:
        return tuple(_rationals(c)[0] for c in self._source("capacities"))

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        return _rationals(self._source("weights"))[0]

    @cached_property
    def max_tasks(self) -> tuple[Fraction | None, ...]:
        return tuple(None if is_unlimited(v) else rational(v, "max_tasks") for v in self._source("max_tasks"))

    @cached_property
    def min_tasks(self) -> tuple[Fraction, ...]:
        return _rationals(self._source("min_tasks"))[0]

    @cached_property
    def demands_on(self) -> Mapping[tuple[int, int], tuple[tuple[Fraction, ...], ...]]:
        """{(user, server): (V_n, R)} where a task takes something else than `demands`."""
        return MappingProxyType({pair: self.demands_at(*pair) for pair in self.rates | self.own})

    def demands_at(self, n: int, i: int) -> tuple[tuple[Fraction, ...], ...]:
        """(V_n, R) what a task of the user takes on the server, in each way to run it."""
        if (n, i) in self.own or (n, i) not in self.rates:
            return self.own.get((n, i), self.demands[n])
        return tuple(tuple(d / self.rates[n, i] for d in vector) for vector in self.demands[n])

    @cached_property
    def own(self) -> dict[tuple[int, int], tuple[tuple[Fraction, ...], ...]]:
        """The demands that were given for a pair."""
        user, server = Places(self._instance.users, "user"), Places(self._instance.servers, "server")
        return {(user(n), server(i)): _rationals(v) for (n, i), v in self._given["demands_on"].items()}

    @cached_property
    def rates(self) -> dict[tuple[int, int], Fraction]:
        """Those of all pairs that placement allows; empty where all are 1."""
        given, found = self._given["rates"], _entries_of(self._instance.rates)
        return {(n, i): rational(rate if given is None else given[n][i], "the rate") for n, i, rate in found}

    def rates_of(self, users: Iterable[int], servers: Sequence[int] | NDArray[np.intp]) -> list[list[Fraction]] | None:
        """Those of some users on some servers as an argument of `Instance`; None where all are 1."""
        known = self.rates
        return [[known.get((n, i), Fraction(0)) for i in servers] for n in users] if known else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactData):
            return NotImplemented
        mine, theirs = self._given["demands"], other._given["demands"]
        alike = mine is not None and (mine is theirs or (isinstance(mine, Derived) and mine == theirs))
        names = ("capacities", "weights", "max_tasks", "min_tasks", "own", *["demands"] * (not alike), "rates")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]


class InstanceData:
    """The data of an instance, validated, and what is derived of them when it is first asked for."""

    name: str
    _users: Sequence[str]
    _servers: Sequence[str]
    _resources: Sequence[str]
    vectors: Vectors
    capacities: Floats
    counts: NDArray[np.int64]
    weights: Floats
    _eligible: sp.csr_array | None
    _rates: sp.csr_array | None
    max_tasks: Floats
    min_tasks: Floats
    own: Mapping[tuple[int, int], Floats]
    groups: Groups | None
    _given: dict[str, Any]

    @cached_property
    def N(self) -> int:  # noqa: N802 (the papers' letter)
        """Number of users."""
        return len(self._users)

    @cached_property
    def K(self) -> int:  # noqa: N802
        """Number of server rows (classes, where `counts` is not 1)."""
        return len(self._servers)

    @cached_property
    def R(self) -> int:  # noqa: N802
        """Number of resources."""
        return len(self._resources)

    @cached_property
    def A(self) -> int:  # noqa: N802
        """Number of arcs."""
        return len(self.arcs)

    @cached_property
    def users(self) -> tuple[str, ...]:
        """(N,) names."""
        return tuple(self._users[:])  # numbered names are made all at once

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """(K,) names."""
        return tuple(self._servers[:])

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """(R,) names."""
        return tuple(self._resources[:])

    @cached_property
    def has_floors(self) -> bool:
        """Whether a user must run some tasks."""
        return bool(self.min_tasks.any())

    @cached_property
    def demands(self) -> tuple[Floats, ...]:
        """For each user (V_n, R) resource per task of each variant: dense, as `vectors` is not."""
        return self.vectors.dense()

    @cached_property
    def rates(self) -> sp.csr_array | None:
        """(N x K) sparse, > 0 where placement lets users run; None where a task takes its demands everywhere."""
        rates = self._rates
        if rates is None or self._eligible is None:
            return rates
        rates = sp.csr_array(rates.multiply(self._eligible))
        frozen(rates.data)
        return rates

    @cached_property
    def allowed(self) -> sp.csr_array | None:
        """(N x K) sparse bool, where placement lets users run; None where it lets all run everywhere."""
        rates = self.rates
        if rates is None:
            return self._eligible
        if rates.nnz == self.N * self.K:
            return None
        return sp.csr_array((frozen(np.ones(rates.nnz, dtype=bool)), rates.indices, rates.indptr), shape=rates.shape)

    @property
    def open_pairs(self) -> sp.csr_array | None:
        """(N x K) sparse, the rates of the pairs that placement allows, or which these are; None where all are allowed, at 1."""
        return self.allowed if self.rates is None else self.rates

    @cached_property
    def demands_on(self) -> Mapping[tuple[int, int], Floats]:
        """{(user, server): (V_n, R)} where a task takes something else than `demands`."""
        rated = {(n, i): frozen(self.demands[n] / rate) for n, i, rate in _entries_of(self.rates)}
        return MappingProxyType(rated | dict(self.own))

    @property
    def same_everywhere(self) -> bool:
        """Whether a task takes the same on all servers."""
        return self.rates is None and not self.own

    @cached_property
    def placement(self) -> NDArray[np.bool_]:
        """(N, K) bool, where placement constraints let users run: dense, as `allowed` is not."""
        return frozen(np.ones((self.N, self.K), dtype=bool) if self.allowed is None else self.allowed.toarray())

    @cached_property
    def pools(self) -> Floats:
        """(K, R) capacity of all servers of each row together: counts * capacities."""
        return frozen(self.counts[:, None] * self.capacities)

    @cached_property
    def totals(self) -> Floats:
        """(R,) total capacity c_r of each resource (K 2.2)."""
        return frozen(self.pools.sum(axis=0))

    @cached_property
    def arcs(self) -> Arcs:
        """The eligible (user, variant, server) triples with their sparse matrices."""
        source, server, time = self._placed()
        vectors, row = self._with_own_demands(source, server, time)
        if not self.capacities.all():
            each = vectors[row]
            there = self.capacities.ravel()[_entries(each, server, self.R)] > 0
            keep = np.logical_and.reduceat(there, each.indptr[:-1])  # whether the server has every resource that a task takes
            source, server, row, time = source[keep], server[keep], row[keep], time[keep] if time.ndim else time
        count, user = len(source), source if self.vectors.is_single else self.vectors.user[source]
        start = np.concatenate(([0], np.cumsum(np.bincount(user, minlength=self.N))))
        owner = sp.csr_array((np.ones(count), small_range(count), small(start)), shape=(self.N, count))
        variant = np.zeros(count, dtype=np.intp) if self.vectors.is_single else source - self.vectors.first[user]
        for array in (owner.data, user, variant, server, row, time):
            frozen(array)
        load, gamma = self._loads(vectors, row, user, server, time)
        return Arcs(user, variant, server, load, owner, gamma, vectors, row, time)

    def _placed(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Row of `vectors`, server and 1 / rate of everything that placement allows; one number where all rates are 1."""
        count, one = self.vectors.matrix.shape[0], np.ones(())
        there = self.open_pairs
        if there is None:
            return np.repeat(np.arange(count), self.K), np.tile(np.arange(self.K), count), one
        there = there if self.vectors.is_single else there[self.vectors.user]
        with np.errstate(over="ignore"):  # what is out of range is said of loads
            time = one if self.rates is None else 1.0 / there.data
        return np.repeat(np.arange(count), np.diff(there.indptr)), there.indices.astype(np.intp), time

    def _with_own_demands(
        self, source: NDArray[np.intp], server: NDArray[np.intp], time: Floats
    ) -> tuple[sp.csr_array, NDArray[np.intp]]:
        """All demand vectors, those of `own` below the others, and which of them each (row of `vectors`, server) takes.

        The rate, and so `time`, is 1 where a pair has demands of its own.
        """
        matrix, row, first = self.vectors.matrix, source, self.vectors.first
        if not self.own:
            return matrix, row
        keys = np.concatenate([(first[n] + np.arange(len(d))) * self.K + i for (n, i), d in self.own.items()])
        place = np.minimum(np.searchsorted(source * self.K + server, keys), len(source) - 1)
        here = (source * self.K + server)[place] == keys
        row = source.copy()
        row[place[here]] = matrix.shape[0] + np.flatnonzero(here)
        if time.ndim:
            time[place[here]] = 1.0
        own = Vectors.of(np.concatenate(list(self.own.values())))
        return sp.vstack([matrix, own.matrix], format="csr"), row

    def _arcs_in(self, unit: Floats, vectors: Vectors) -> Arcs:
        """The arcs with tasks in other units, in which users have these vectors."""
        arcs, matrix = self.arcs, vectors.matrix
        if self.own:
            rows = [unit[self.vectors.user], *(np.full(len(d), unit[n]) for (n, _), d in self.own.items())]
            matrix = scaled_rows(arcs.vectors, np.concatenate(rows))
        load, gamma = self._loads(matrix, arcs.row, arcs.user, arcs.server, arcs.time, arcs.load)
        return replace(arcs, load=load, gamma=gamma, vectors=matrix)

    def _loads(
        self,
        vectors: sp.csr_array,
        row: NDArray[np.intp],
        user: Any,
        server: Any,
        time: Floats,
        like: sp.csc_array | None = None,
    ) -> tuple[sp.csc_array, Floats]:
        """`load` and `gamma` of arcs that take vectors[row] * time; `like` has their places, where they are known."""
        with np.errstate(over="ignore"):
            if vectors.nnz == vectors.shape[0] * self.R:
                parts = vectors.data.reshape(-1, self.R)[row]
                parts /= self.pools[server]
                parts *= time[..., None]
                share, largest = parts.ravel(), reduce(np.maximum, parts.T)
                start = np.arange(0, share.size + 1, self.R) if like is None else like.indptr
                place = small_range(self.K * self.R).reshape(self.K, self.R)[server].ravel() if like is None else like.indices
            else:
                each = vectors[row]
                start, place = each.indptr, _entries(each, server, self.R) if like is None else like.indices
                share = each.data / self.pools.ravel()[place]
                if time.ndim:
                    share *= np.repeat(time, np.diff(start))
                largest = np.maximum.reduceat(share, start[:-1]) if len(row) else np.empty(0)
        for a in np.flatnonzero(~((largest > 1e-300) & (largest < 1e300)))[:1]:
            where = f"user {self.users[user[a]]!r} on server {self.servers[server[a]]!r}"
            raise InstanceError(f"a task of {where} takes {largest[a]:g} of a capacity, which is out of range: change units")
        shape = self.K * self.R, len(row)
        load = sp.csc_array((frozen(share), place, small(start)), shape=shape) if like is None else with_data(like, share)
        return load, frozen(1.0 / largest)

    @cached_property
    def eligible(self) -> NDArray[np.bool_]:
        """(N, K) bool: placement, and some variant finds every resource it demands there."""
        result = np.zeros((self.N, self.K), dtype=bool)
        result[self.arcs.user, self.arcs.server] = True
        return frozen(result)

    @property
    def single_variant(self) -> bool:
        """Whether every user has exactly one demand vector."""
        return self.vectors.is_single

    @cached_property
    def exact(self) -> ExactData:
        """The data as rationals: what was given in rationals stays exact, a float is the decimal it prints as."""
        return ExactData(self, self._given)

    @cached_property
    def memo(self) -> dict[Hashable, Any]:
        """What others have computed of this instance, by keys of theirs."""
        return {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once for this instance."""
        if key not in self.memo:
            self.memo[key] = make()
        result: T = self.memo[key]
        return result


def _entries(each: sp.csr_array, server: NDArray[np.intp], width: int) -> NDArray[Any]:
    """The row i R + r of every stored entry of `each` (A x R), on server i."""
    start = np.asarray(server * width, dtype=each.indices.dtype)
    return np.asarray(each.indices + np.repeat(start, np.diff(each.indptr)))


def _entries_of(rates: sp.csr_array | None) -> Iterator[tuple[int, int, float]]:
    if rates is not None:
        there = rates.tocoo()
        yield from zip(there.row.tolist(), there.col.tolist(), there.data.tolist(), strict=True)


def _rationals(value: Any) -> tuple[tuple[Fraction, ...], ...]:
    rows = value if is_vector(value[0]) else [value]
    return tuple(tuple(rational(v, "value") for v in vector) for vector in rows)
