"""The instance: N users share K servers with R resources each (K 2, P II, W 3.1, Z II, D 3).

    x >= 0,   load @ x <= 1,   u = owner @ x <= max_tasks

The unknowns x[a] are tasks on arcs a = (user, variant, server) that are eligible. `load[(i, r), a]` is the fraction of
resource r of server i that one task on arc a takes, so every row has the right-hand side 1 whatever the units (K 10, W 4).
"""

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce
from sys import modules
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.arguments import named
from fairalloc.models.errors import InstanceError, shown, unprintable
from fairalloc.models.input.demand_matrix import Vectors, index_type, scaled_rows, small, small_range
from fairalloc.models.input.named_input import plain_arguments
from fairalloc.models.input.validation import (
    NumberedNames,
    Places,
    count_of,
    is_unlimited,
    read_capacities,
    read_counts,
    read_demands,
    read_limits,
    read_names,
    read_own_demands,
    read_placement,
    read_weights,
    source_of,
)
from fairalloc.models.numbers import Floats, frozen, is_vector, rational

__all__ = ["Arcs", "ExactData", "Instance", "as_instance"]


@dataclass(frozen=True, eq=False)
class Arcs:
    """Every eligible (user, variant, server), in that order.

    Attributes
    ----------
    user, variant, server : (A,) int arrays; `variant` counts within its user
    load : ((K R) x A) sparse, by columns; the fraction of that server's resource a task takes, row i R + r
    owner : (N x A) sparse 0/1; `owner @ x` is the number of tasks of each user
    gamma : (A,) tasks the arc could run if it had the server for itself, 1 / max_r load (K 8)
    vectors, row : (M x R) sparse and (A,); a task on arc a takes the resource vectors[row[a]]
    """

    user: NDArray[np.intp]
    variant: NDArray[np.intp]
    server: NDArray[np.intp]
    load: sp.csc_array
    owner: sp.csr_array
    gamma: Floats
    vectors: sp.csr_array
    row: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.user)

    @property
    def first(self) -> NDArray[np.intp]:
        """(N,) the first arc of each user; everybody has one."""
        result: NDArray[np.intp] = self.owner.indptr[:-1]
        return result

    @cached_property
    def by_arc(self) -> sp.csr_array:
        """(A x (K R)) sparse, `load` by arcs: `by_arc @ prices` is what a task costs there."""
        return self.load.T

    @cached_property
    def demand(self) -> Floats:
        """(A, R) resource a task takes there: dense, for instances of a size that people look at."""
        return frozen(self.vectors[self.row].toarray())


class ExactData:
    """The data of an instance as rationals, each read when it is first asked for; `None` in `max_tasks` means unlimited.

    What was given in rationals stays exact, a float is the decimal it prints as.
    """

    def __init__(self, instance: "Instance", given: Mapping[str, Any]) -> None:
        self._instance, self._given = instance, given

    @cached_property
    def demands(self) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
        """For each user its variants."""
        given = self._given["demands"]
        return tuple(map(_rationals, self._instance.demands if given is None else given))

    @cached_property
    def capacities(self) -> tuple[tuple[Fraction, ...], ...]:
        """For each row of servers."""
        given = self._given["capacities"]
        return tuple(_rationals(c)[0] for c in (self._instance.capacities if given is None else given))

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """For each user."""
        given = self._given["weights"]
        return _rationals(self._instance.weights if given is None else given)[0]

    @cached_property
    def max_tasks(self) -> tuple[Fraction | None, ...]:
        """For each user."""
        given = self._given["max_tasks"]
        limits = self._instance.max_tasks if given is None else given
        return tuple(None if is_unlimited(v) else rational(v, "max_tasks") for v in limits)

    @cached_property
    def demands_on(self) -> Mapping[tuple[int, int], tuple[tuple[Fraction, ...], ...]]:
        """By user and server."""
        user, server = Places(self._instance.users, "user"), Places(self._instance.servers, "server")
        given = self._given["demands_on"]
        return MappingProxyType({(user(n), server(i)): _rationals(v) for (n, i), v in given.items()})

    def _all(self) -> tuple[Any, ...]:
        return self.capacities, self.weights, self.max_tasks, self.demands_on, self.demands

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactData):
            return NotImplemented
        return self._all() == other._all()

    __hash__ = None  # type: ignore[assignment]


class Instance:
    """One multi-resource allocation problem, validated and read-only.

    Parameters
    ----------
    demands : for each user a demand vector (R,) or several variants (V_n, R), resource per task (Z II-A); an (N, R) array; or a
        sparse matrix of SciPy (N x R), which stays sparse
    capacities : (K, R) resource of one server of each row
    weights : (N,) > 0, default 1 (phi in K and P, w in W, e in D)
    counts : (K,) positive int, default 1; row i stands for `counts[i]` identical servers, treated as one pool
    eligible : (N, K) bool, default all true: placement constraints; or {user: list of servers or {server: bool}}; or, where
        users may use few servers, a sparse matrix of SciPy (N x K), or a list or array of pairs (user, server), by name or number
        from 0 (what has the shape (N, K) is read as true and false)
    max_tasks : (N,) > 0; None, inf or nan (what pandas writes for None) = unlimited (W 5.1)
    demands_on : {(user, server): vector or variants} that replace the demands on that server (P IV)
    name, users, servers, resources : names; default u1.., s1.., r1..

    Every number may be an int, float, `fractions.Fraction` or a string such as "1/5"; `exact` gives them all as rationals.
    Dictionaries by name, DataFrames and Series of pandas, and sparse matrices of SciPy are read too, with their names
    (input/named_input.py). Two instances are equal where their names and their exact data are.

    Raises
    ------
    InstanceError : one sentence with the thing, its value and the rule

    Examples
    --------
    The system of W Fig. 2:

    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], resources=["cpu", "memory"])
    >>> wang
    Instance(2 users, 2 servers, 2 resources, 4 arcs)
    >>> wang.exact.demands[0][0][0]
    Fraction(1, 5)
    >>> Instance({"ann": {"cpu": 1, "ram": 2}, "bob": {"ram": 1, "cpu": 3}}, {"box": {"cpu": 4, "ram": 4}}).users
    ('ann', 'bob')
    """

    name: str
    _users: Sequence[str]
    _servers: Sequence[str]
    _resources: Sequence[str]
    vectors: Vectors
    capacities: Floats
    counts: NDArray[np.int64]
    weights: Floats
    allowed: sp.csr_array | None
    max_tasks: Floats
    demands_on: Mapping[tuple[int, int], Floats]

    @named
    def __init__(
        self,
        demands: Any,
        capacities: Any,
        *,
        weights: Any = None,
        counts: Any = None,
        eligible: Any = None,
        max_tasks: Any = None,
        demands_on: Mapping[tuple[int | str, int | str], Any] | None = None,
        name: str = "",
        users: Iterable[str] | None = None,
        servers: Iterable[str] | None = None,
        resources: Iterable[str] | None = None,
    ) -> None:
        given = {"demands": demands, "capacities": capacities, "weights": weights, "counts": counts, "eligible": eligible}
        given |= {"max_tasks": max_tasks, "demands_on": demands_on, "users": users, "servers": servers, "resources": resources}
        self._read(name, **plain_arguments(given))

    def _read(
        self,
        name: str,
        demands: Any,
        capacities: Any,
        weights: Any,
        counts: Any,
        eligible: Any,
        max_tasks: Any,
        demands_on: Any,
        users: Any,
        servers: Any,
        resources: Any,
    ) -> None:
        """Check the arguments, as rows, and keep them."""
        for what, value in (("demands", demands), ("capacities", capacities)):
            if count_of(value) is None:
                raise InstanceError(f"{what} are {shown(value)}, but they must be a list of vectors")
        N, K = count_of(demands) or 0, count_of(capacities) or 0
        if N == 0 or K == 0:
            raise InstanceError(f"there are {N} users and {K} servers, but both must be at least 1")
        wide = max((len(c) for c in capacities if is_vector(c)), default=0)
        if wide == 0:
            raise InstanceError(f"capacities are {shown(capacities)}, but each must be a vector with at least one resource")
        if not isinstance(name, str):
            raise InstanceError(f"the name of the instance is {shown(name)}, but it must be a string")
        if unprintable(name):
            raise InstanceError(f"the name of the instance is {shown(name)}, but a name has no control characters or surrogates")
        of_users = read_names("user", users, N)
        of_servers = read_names("server", servers, K)
        of_resources = read_names("resource", resources, wide)
        data = self.__dict__
        data.update(name=name, _users=of_users, _servers=of_servers, _resources=of_resources)
        data.update(capacities=read_capacities(capacities, of_servers, of_resources), counts=read_counts(counts, of_servers))
        data["vectors"] = read_demands(demands, of_users, of_resources)
        data.update(weights=read_weights(weights, of_users), max_tasks=read_limits(max_tasks, of_users))
        data["allowed"] = read_placement(eligible, of_users, of_servers)
        own = {} if demands_on is None else demands_on
        read = read_own_demands(own, of_users, of_servers, of_resources, self.vectors.counts)
        data["demands_on"] = MappingProxyType(read)
        given = {"demands": demands, "capacities": capacities, "weights": weights, "max_tasks": max_tasks}
        data["_given"] = {key: source_of(value) for key, value in given.items()} | {"demands_on": copy.deepcopy(dict(own))}
        self._check_totals()
        self._check_every_user_is_placed()
        self._check_every_user_fits_somewhere()

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"an Instance is read-only: use instance.replace({key}=...)")

    def __delattr__(self, key: str) -> None:
        raise AttributeError("an Instance is read-only")

    def __reduce__(self) -> Any:
        return _restored, (self._arguments(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        if self is other:
            return True
        if self._content != other._content or not self._has_names_of(other):
            return False
        return (self._floats_are_exact and other._floats_are_exact) or self.exact == other.exact

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[Any, ...]:
        """Name, counts, placement and the floats, which follow from the exact data: quicker to compare than that."""
        on = tuple((pair, _bytes(d)) for pair, d in sorted(self.demands_on.items()))
        allowed = self.allowed
        placed = None if allowed is None else tuple(part.astype(np.int64).tobytes() for part in (allowed.indptr, allowed.indices))
        floats = map(_bytes, (self.capacities, self.weights, self.max_tasks))
        return (self.name, self.counts.tobytes(), placed, on, *floats, *self.vectors.content())

    def _has_names_of(self, other: "Instance") -> bool:
        """Names that nobody gave are compared without being made."""
        pairs = ((self._users, other._users), (self._servers, other._servers), (self._resources, other._resources))
        return all(mine == theirs or tuple(mine) == tuple(theirs) for mine, theirs in pairs)

    @property
    def _floats_are_exact(self) -> bool:
        """Whether nothing was given that floats do not hold."""
        return not self.demands_on and all(value is None for key, value in self._given.items() if key != "demands_on")

    def __repr__(self) -> str:
        sizes = f"{self.N} users, {len(self.servers)} servers, {self.R} resources, {len(self.arcs)} arcs"
        return f"Instance({self.name + ': ' if self.name else ''}{sizes})"

    def _repr_html_(self) -> str:
        """For notebooks: the tables of models/overview.py, which the package of this module imports on demand."""
        text: str = modules[__package__].show(self)._repr_html_()
        return text

    # ---- checks ------------------------------------------------------------------------------------------------

    def _check_totals(self) -> None:
        with np.errstate(over="ignore"):
            for r in np.flatnonzero(~np.isfinite(self.totals))[:1]:
                what = f"the total capacity of {self.resources[r]!r}"
                raise InstanceError(f"{what} is out of the range of floating point: change units")

    def _check_every_user_is_placed(self) -> None:
        for n in np.flatnonzero(np.diff(self.allowed.indptr) == 0)[:1] if self.allowed is not None else ():
            raise InstanceError(f"user {self._users[n]!r} has no eligible server: its placement allows no server")

    def _check_every_user_fits_somewhere(self) -> None:
        for n in np.flatnonzero(np.diff(self.arcs.owner.indptr) == 0)[:1]:
            raise InstanceError(f"user {self._users[n]!r} has no eligible server: no server it may use has all it demands")

    # ---- sizes and derived data ---------------------------------------------------------------------------------

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
    def users(self) -> tuple[str, ...]:
        """(N,) names."""
        return tuple(self._users)

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """(K,) names."""
        return tuple(self._servers)

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """(R,) names."""
        return tuple(self._resources)

    @cached_property
    def demands(self) -> tuple[Floats, ...]:
        """For each user (V_n, R) resource per task of each variant: dense, as `vectors` is not."""
        return self.vectors.dense()

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
        source, server = self._placed()
        vectors, row = self._with_own_demands(source, server)
        if not self.capacities.all():
            keep = self._finds_everything(vectors[row], server)
            source, server, row = source[keep], server[keep], row[keep]
        return self._matrices(source, server, vectors, row)

    def _placed(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Row of `vectors` and server of everything that placement allows."""
        count = self.vectors.matrix.shape[0]
        if self.allowed is None:
            return np.repeat(np.arange(count), self.K), np.tile(np.arange(self.K), count)
        allowed = self.allowed if self.vectors.is_single else self.allowed[self.vectors.user]
        return np.repeat(np.arange(count), np.diff(allowed.indptr)), allowed.indices.astype(np.intp)

    def _with_own_demands(self, source: NDArray[np.intp], server: NDArray[np.intp]) -> tuple[sp.csr_array, NDArray[np.intp]]:
        """All demand vectors, those of `demands_on` below the others, and which of them each (row of `vectors`, server) takes."""
        matrix, row, first = self.vectors.matrix, source, self.vectors.first
        if not self.demands_on:
            return matrix, row
        keys = np.concatenate([(first[n] + np.arange(len(d))) * self.K + i for (n, i), d in self.demands_on.items()])
        place = np.minimum(np.searchsorted(source * self.K + server, keys), len(source) - 1)
        here = (source * self.K + server)[place] == keys
        row = source.copy()
        row[place[here]] = matrix.shape[0] + np.flatnonzero(here)
        own = Vectors.of(np.concatenate(list(self.demands_on.values())))
        return sp.vstack([matrix, own.matrix], format="csr"), row

    def _finds_everything(self, each: sp.csr_array, server: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the server has every resource that a task takes."""
        there = self.capacities.ravel()[_entries(each, server, self.R)] > 0
        result: NDArray[np.bool_] = np.logical_and.reduceat(there, each.indptr[:-1])
        return result

    def _matrices(self, source: NDArray[np.intp], server: NDArray[np.intp], vectors: sp.csr_array, row: NDArray[np.intp]) -> Arcs:
        count, user = len(source), source if self.vectors.is_single else self.vectors.user[source]
        start = np.concatenate(([0], np.cumsum(np.bincount(user, minlength=self.N))))
        owner = sp.csr_array((np.ones(count), small_range(count), small(start)), shape=(self.N, count))
        variant = np.zeros(count, dtype=np.intp) if self.vectors.is_single else source - self.vectors.first[user]
        for array in (owner.data, user, variant, server, row):
            frozen(array)
        load, gamma = self._loads(vectors, row, user, server)
        return Arcs(user, variant, server, load, owner, gamma, vectors, row)

    def _loads(
        self, vectors: sp.csr_array, row: NDArray[np.intp], user: Any, server: Any, like: sp.csc_array | None = None
    ) -> tuple[sp.csc_array, Floats]:
        """`load` and `gamma` of arcs that take vectors[row]; `like` has the places of these loads, where they are known."""
        with np.errstate(over="ignore"):
            if vectors.nnz == vectors.shape[0] * self.R:
                share, largest = _parts_of_all(vectors.data.reshape(-1, self.R), self.pools, row, server)
                start = small_range((len(row) + 1) * self.R, self.R) if like is None else like.indptr
                place = _places_of_all(server, self.R) if like is None else like.indices
            else:
                each = vectors[row]
                start, place = each.indptr, _entries(each, server, self.R) if like is None else like.indices
                share = each.data / self.pools.ravel()[place]
                largest = np.maximum.reduceat(share, start[:-1]) if len(row) else np.empty(0)
        self._check_range(largest, user, server)
        load = sp.csc_array((frozen(share), place, small(start)), shape=(self.K * self.R, len(row)))
        return load, frozen(1.0 / largest)

    def _check_range(self, largest: Floats, user: Any, server: Any) -> None:
        for a in np.flatnonzero(~((largest > 1e-300) & (largest < 1e300)))[:1]:
            where = f"user {self.users[user[a]]!r} on server {self.servers[server[a]]!r}"
            raise InstanceError(f"a task of {where} takes {largest[a]:g} of a capacity, which is out of range: change units")

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

    @property
    def _given(self) -> dict[str, Any]:
        given: dict[str, Any] = self.__dict__["_given"]
        return given

    @named
    def replace(self, **changes: Any) -> "Instance":
        """A new instance with some constructor arguments changed; names and placement follow unless given."""
        return Instance(**{**self._arguments(), **changes})

    def rescaled(self, weights: Floats, unit: Floats | None = None) -> "Instance":
        """The same problem with other weights and in other units of tasks, made from what is validated already.

        Parameters
        ----------
        weights : (N,) > 0
        unit : (N,) how many tasks one task of the result is; None = 1

        Returns
        -------
        An instance with the same arcs in the same order

        Raises
        ------
        InstanceError : a number leaves the range of floating point
        """
        data: dict[str, Any] = {"weights": read_weights(weights, self._users), "_given": {**NOTHING_GIVEN, "demands_on": {}}}
        if unit is not None:
            data["vectors"] = self.vectors.in_units(unit)
            data["demands_on"] = MappingProxyType({(n, i): frozen(d * unit[n]) for (n, i), d in self.demands_on.items()})
            data["max_tasks"] = self._within_range(self.max_tasks / unit)
            data["arcs"] = self._arcs_in(unit)
        data["_given"]["demands_on"] = data.get("demands_on", self.demands_on)
        stale = ("exact", "_hash", *(("demands",) if unit is not None else ()))
        return self._changed(data, stale)

    def chosen(
        self, users: NDArray[np.intp], servers: NDArray[np.intp], weights: Floats, max_tasks: Floats, counts: NDArray[np.int64]
    ) -> "Instance":
        """Some users and rows of servers, made from what is validated already.

        Parameters
        ----------
        users, servers : (N',) and (K',) which, in rising order; every user has a server among them
        weights, max_tasks, counts : (N',), (N',) and (K',) what these have there
        """
        allowed = None if self.allowed is None else self.allowed[users][:, servers]
        user, server = ({int(n): k for k, n in enumerate(kept)} if self.demands_on else {} for kept in (users, servers))
        on = {(user[n], server[i]): d for (n, i), d in self.demands_on.items() if n in user and i in server}
        data: dict[str, Any] = {
            "name": self.name,
            "_users": tuple(self._users[n] for n in users),
            "_servers": tuple(self._servers[i] for i in servers),
            "_resources": self._resources,
            "vectors": self.vectors.chosen(users),
            "capacities": frozen(self.capacities[servers]),
            "counts": frozen(counts),
            "weights": frozen(weights),
            "max_tasks": frozen(max_tasks),
            "allowed": None if allowed is None or allowed.nnz == len(users) * len(servers) else allowed,
            "demands_on": MappingProxyType(on),
            "_given": {**NOTHING_GIVEN, "demands_on": on},
        }
        result = object.__new__(Instance)
        result.__dict__.update(data)
        return result

    def _changed(self, data: Mapping[str, Any], stale: Iterable[str]) -> "Instance":
        """An instance with other data, validated already, that keeps what was derived of this one but for what is stale."""
        result = object.__new__(Instance)
        result.__dict__.update({key: value for key, value in self.__dict__.items() if key not in stale} | dict(data))
        result.__dict__.pop("memo", None)
        return result

    @cached_property
    def memo(self) -> dict[Hashable, Any]:
        """What others have computed of this instance, by keys of theirs."""
        return {}

    @cached_property
    def pool(self) -> "Instance":
        """All servers as one, "pool", with the summed capacities, open to everybody (W section 2, K Def 1); see `pooled`."""
        exact = self.exact.capacities
        totals = [sum((int(q) * c[r] for q, c in zip(self.counts, exact, strict=True)), Fraction(0)) for r in range(self.R)]
        data = {
            "_servers": ("pool",),
            "capacities": frozen(np.array([[float(c) for c in totals]])),
            "counts": frozen(np.ones(1, dtype=np.int64)),
            "allowed": None,
            "demands_on": MappingProxyType({}),
            "_given": {**self._given, "capacities": [totals], "demands_on": {}},
        }
        stale = ["servers", "K", "placement", "exact", "_hash"]
        if self.K > 1 or self.counts[0] > 1:
            stale += ["eligible", "pools", "totals", "arcs"]
        result = self._changed(data, stale)
        result._check_totals()
        result._check_every_user_fits_somewhere()
        return result

    def _within_range(self, limits: Floats) -> Floats:
        for n in np.flatnonzero(~(limits > 0))[:1]:
            raise InstanceError(f"max_tasks of user {self.users[n]!r} is out of the range of floating point: change units")
        return frozen(limits)

    def _arcs_in(self, unit: Floats) -> Arcs:
        """The arcs with tasks in other units."""
        arcs = self.arcs
        rows = np.concatenate([unit[self.vectors.user], *(np.full(len(d), unit[n]) for (n, _), d in self.demands_on.items())])
        vectors = scaled_rows(arcs.vectors, rows)
        load, gamma = self._loads(vectors, arcs.row, arcs.user, arcs.server, arcs.load)
        return replace(arcs, load=load, gamma=gamma, vectors=vectors)

    def _arguments(self) -> dict[str, Any]:
        """The constructor's arguments: a copy or a pickle is built, checked and made read-only as the original was."""
        names = {"users": self._users, "servers": self._servers, "resources": self._resources}
        limits = None if np.isinf(self.max_tasks).all() else self.max_tasks
        values = {"demands": self.vectors, "capacities": self.capacities, "weights": self.weights, "max_tasks": limits}
        given = {key: values[key] if value is None else value for key, value in self._given.items() if key in values}
        rest = {"name": self.name, "counts": self.counts, "eligible": self.allowed, "demands_on": self._given["demands_on"]}
        return {**given, **rest, **{kind: None if _numbered(value) else value for kind, value in names.items()}}


NOTHING_GIVEN: Mapping[str, Any] = {"demands": None, "capacities": None, "weights": None, "max_tasks": None}
"""Where the floats are the exact data."""


def _entries(each: sp.csr_array, server: NDArray[np.intp], width: int) -> NDArray[Any]:
    """The row i R + r of every stored entry of `each` (A x R), on server i."""
    start = np.asarray(server * width, dtype=each.indices.dtype)
    result: NDArray[Any] = each.indices + np.repeat(start, np.diff(each.indptr))
    return result


def _parts_of_all(demands: Floats, pools: Floats, row: NDArray[np.intp], server: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """demands[row] / pools[server] (A R,), and the largest of each arc, where every vector (M, R) takes of every resource."""
    width = demands.shape[1]
    share, largest = np.empty((len(row), width)), np.empty(len(row))
    step = max(1, AT_ONCE // width)
    for start in range(0, len(row), step):
        part = slice(start, start + step)
        np.divide(demands.take(row[part], axis=0), pools.take(server[part], axis=0), out=share[part])
        largest[part] = reduce(np.maximum, share[part].T)
    return share.ravel(), largest


AT_ONCE = 1 << 17
"""Numbers that are divided at a time: they stay in the processor's cache."""


def _places_of_all(server: NDArray[np.intp], width: int) -> NDArray[Any]:
    """The row i R + r of every load, where every vector takes of every resource."""
    first = server.astype(index_type((int(server.max(initial=0)) + 1) * width))
    result: NDArray[Any] = (first * width)[:, None] + np.arange(width, dtype=first.dtype)
    return result.ravel()


def _numbered(names: Any) -> bool:
    """Whether nobody gave these names."""
    return isinstance(names, NumberedNames)


def _bytes(values: Floats) -> bytes:
    """The floats, with one zero."""
    return (values + 0.0).tobytes()


def _restored(arguments: dict[str, Any]) -> Instance:
    return Instance(**arguments)


def _rationals(value: Any) -> tuple[tuple[Fraction, ...], ...]:
    rows = value if is_vector(value[0]) else [value]
    return tuple(tuple(rational(v, "value") for v in vector) for vector in rows)


def as_instance(value: Any) -> Instance:
    """The value, which must be an Instance: what public functions say of a first argument that is none."""
    if not isinstance(value, Instance):
        raise InstanceError(f"the instance is {shown(value)}, but it must be an Instance")
    return value
