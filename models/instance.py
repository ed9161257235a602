"""The instance: N users share K servers with R resources each (K 2, P II, W 3.1, Z II, D 3).

    x >= 0,   load @ x <= 1,   u = owner @ x <= max_tasks

The unknowns x[a] are tasks on arcs a = (user, variant, server) that are eligible. `load[(i, r), a]` is the fraction of
resource r of server i that one task on arc a takes, so every row has the right-hand side 1 whatever the units (K 10, W 4).
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError, no_such, shown, unprintable
from fairalloc.models.labelled import plain_arguments
from fairalloc.models.numbers import Floats, finite, frozen, is_vector, rational, row

__all__ = ["Arcs", "ExactData", "Instance", "as_instance"]


@dataclass(frozen=True)
class Arcs:
    """Every eligible (user, variant, server), in that order.

    Attributes
    ----------
    user, variant, server : (A,) int arrays; `variant` counts within its user
    demand : (A, R) resource a task takes there
    load : ((K R) x A) sparse; the fraction of that server's resource a task takes, row i R + r
    owner : (N x A) sparse 0/1; `owner @ x` is the number of tasks of each user
    gamma : (A,) tasks the arc could run if it had the server for itself, 1 / max_r load (K 8)
    """

    user: NDArray[np.intp]
    variant: NDArray[np.intp]
    server: NDArray[np.intp]
    demand: Floats
    load: sp.csr_array
    owner: sp.csr_array
    gamma: Floats

    def __len__(self) -> int:
        return len(self.user)


@dataclass(frozen=True)
class ExactData:
    """The same data as rationals; `None` in `max_tasks` means unlimited."""

    demands: tuple[tuple[tuple[Fraction, ...], ...], ...]
    capacities: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]
    max_tasks: tuple[Fraction | None, ...]
    demands_on: Mapping[tuple[int, int], tuple[tuple[Fraction, ...], ...]]


class Instance:
    """One multi-resource allocation problem, validated and read-only.

    Parameters
    ----------
    demands : for each user a demand vector (R,) or several variants (V_n, R), resource per task (Z II-A)
    capacities : (K, R) resource of one server of each row
    weights : (N,) > 0, default 1 (phi in K and P, w in W, e in D)
    counts : (K,) positive int, default 1; row i stands for `counts[i]` identical servers, treated as one pool
    eligible : (N, K) bool, default all true: placement constraints; or {user: list of servers or {server: bool}}
    max_tasks : (N,) > 0; None, inf or nan (what pandas writes for None) = unlimited (W 5.1)
    demands_on : {(user, server): vector or variants} that replace the demands on that server (P IV)
    name, users, servers, resources : names; default u1.., s1.., r1..

    Every number may be an int, float, `fractions.Fraction` or a string such as "1/5"; `exact` gives them all as rationals.
    Dictionaries by name, DataFrames and Series of pandas, and sparse matrices of SciPy are read too, with their names
    (labelled.py). Two instances are equal where their names and their exact data are.

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
    users: tuple[str, ...]
    servers: tuple[str, ...]
    resources: tuple[str, ...]
    demands: tuple[Floats, ...]
    capacities: Floats
    counts: NDArray[np.int64]
    weights: Floats
    placement: NDArray[np.bool_]
    max_tasks: Floats
    demands_on: Mapping[tuple[int, int], Floats]

    shown_by: ClassVar[list[Callable[["Instance"], Any]]] = []
    """What shows an instance in a notebook."""

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
            if not is_vector(value):
                raise InstanceError(f"{what} are {shown(value)}, but they must be a list of vectors")
        if len(demands) == 0 or len(capacities) == 0:
            raise InstanceError(f"there are {len(demands)} users and {len(capacities)} servers, but both must be at least 1")
        wide = max((len(c) for c in capacities if is_vector(c)), default=0)
        if wide == 0:
            raise InstanceError(f"capacities are {shown(capacities)}, but each must be a vector with at least one resource")
        if not isinstance(name, str):
            raise InstanceError(f"the name of the instance is {shown(name)}, but it must be a string")
        if unprintable(name):
            raise InstanceError(f"the name of the instance is {shown(name)}, but a name has no control characters or surrogates")
        data: dict[str, Any] = {
            "name": name,
            "users": _names("user", "u", users, len(demands)),
            "servers": _names("server", "s", servers, len(capacities)),
            "resources": _names("resource", "r", resources, wide),
        }
        self.__dict__.update(data)
        self.__dict__.update(
            capacities=self._read_capacities(capacities),
            counts=self._read_counts(counts),
            demands=tuple(self._read_demand(demands[n], f"the demand of user {u!r}") for n, u in enumerate(self.users)),
            weights=self._read_weights(weights),
            max_tasks=self._read_max_tasks(max_tasks),
            placement=self._read_placement(eligible),
        )
        own = {} if demands_on is None else demands_on
        self.__dict__["demands_on"] = MappingProxyType(self._read_demands_on(own))
        given = {"demands": demands, "capacities": capacities, "weights": weights, "max_tasks": max_tasks}
        self.__dict__["_given"] = copy.deepcopy({**given, "demands_on": dict(own)})
        self._check_totals()
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
        return self is other or (self._content == other._content and self.exact == other.exact)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[Any, ...]:
        """Names, counts, placement and the floats, which follow from the exact data: quicker to compare than that."""
        names = (self.name, self.users, self.servers, self.resources)
        on = tuple((pair, _bytes(d)) for pair, d in sorted(self.demands_on.items()))
        floats = (*self.demands, self.capacities, self.weights, self.max_tasks)
        return (*names, self.counts.tobytes(), self.placement.tobytes(), on, *map(_bytes, floats))

    def __repr__(self) -> str:
        sizes = f"{self.N} users, {len(self.servers)} servers, {self.R} resources, {len(self.arcs)} arcs"
        return f"Instance({self.name + ': ' if self.name else ''}{sizes})"

    def _repr_html_(self) -> str:
        """For notebooks: the tables of models/overview.py, which sets what shows it."""
        text: str = type(self).shown_by[0](self)._repr_html_()
        return text

    # ---- reading ----------------------------------------------------------------------------------------------

    def _read_capacities(self, value: Any) -> Floats:
        whats = [f"the capacity of server {s!r}" for s in self.servers]
        result = np.array([row(c, self.resources, what) for c, what in zip(value, whats, strict=True)])
        if np.any(result < 0):
            i, r = np.argwhere(result < 0)[0]
            raise InstanceError(f"{whats[i]} for {self.resources[r]!r} is {result[i, r]:g}, but it must not be negative")
        return frozen(result)

    def _read_counts(self, value: Any) -> NDArray[np.int64]:
        if value is None:
            return frozen(np.ones(self.K, dtype=np.int64))
        row(value, self.servers, "counts", "the count of server")
        result = [rational(v, "the count") for v in value]
        for server, count, v in zip(self.servers, result, value, strict=True):
            if count.denominator != 1 or not 1 <= count <= LARGEST_COUNT:
                what = f"the count of server {server!r}"
                raise InstanceError(f"{what} is {shown(v)}, but it must be an integer from 1 to {LARGEST_COUNT}")
        return frozen(np.array(result, dtype=np.int64))

    def _read_demand(self, value: Any, what: str) -> Floats:
        if is_vector(value) and len(value) == 0:
            raise InstanceError(f"{what} is empty, but it must be a vector or a list of variants")
        rows = value if is_vector(value) and is_vector(value[0]) else [value]
        result = np.array([row(v, self.resources, what) for v in rows])
        if np.any(result < 0):
            v, r = np.argwhere(result < 0)[0]
            raise InstanceError(f"{what} for {self.resources[r]!r} is {result[v, r]:g}, but it must not be negative")
        if not np.all(result.any(axis=1)):
            raise InstanceError(f"{what} is zero for every resource, but a task must take something")
        return frozen(result)

    def _read_weights(self, value: Any) -> Floats:
        if value is None:
            return frozen(np.ones(self.N))
        result = row(value, self.users, "weights", "the weight of user")
        if np.any(result <= 0):
            n = int(np.argmax(result <= 0))
            raise InstanceError(f"the weight of user {self.users[n]!r} is {result[n]:g}, but it must be positive")
        return frozen(result)

    def _read_max_tasks(self, value: Any) -> Floats:
        if value is None:
            return frozen(np.full(self.N, np.inf))
        if not is_vector(value) or len(value) != self.N:
            raise InstanceError(f"max_tasks is {shown(value)}, but it must be a list of {self.N} numbers, one for each user")
        whats = [f"max_tasks of user {u!r}" for u in self.users]
        result = np.array([np.inf if _unlimited(v) else finite(v, w) for v, w in zip(value, whats, strict=True)])
        if not np.all(result > 0):
            n = int(np.argmin(result > 0))
            raise InstanceError(f"{whats[n]} is {result[n]:g}, but it must be positive, or null for unlimited")
        return frozen(result)

    def _read_placement(self, value: Any) -> NDArray[np.bool_]:
        if value is None:
            return frozen(np.ones((self.N, self.K), dtype=bool))
        if isinstance(value, np.ndarray) and value.dtype == bool and value.shape == (self.N, self.K):
            return frozen(value.copy())
        rows = list(value) if is_vector(value) else []
        if len(rows) != self.N or any(not is_vector(r) or len(r) != self.K for r in rows):
            raise InstanceError(f"eligible is {shown(value)}, but it must be {self.N} lists (users) of {self.K} (servers)")
        for user, allowed in zip(self.users, rows, strict=True):
            for server, v in zip(self.servers, allowed, strict=True):
                if not isinstance(v, bool | np.bool_ | int | np.integer) or v not in (0, 1):
                    where = f"eligible of user {user!r} on server {server!r}"
                    raise InstanceError(f"{where} is {shown(v)}, but it must be true or false")
        return frozen(np.array(rows, dtype=bool))

    def _read_demands_on(self, value: Mapping[tuple[int | str, int | str], Any]) -> Mapping[tuple[int, int], Floats]:
        if not isinstance(value, Mapping):
            raise InstanceError(f"demands_on is {shown(value)}, but it must map pairs (user, server) to demands")
        result = {}
        for key, vectors in value.items():
            if not isinstance(key, tuple) or len(key) != 2:
                raise InstanceError(f"demands_on has the key {shown(key)}, but a key is a pair (user, server)")
            n, i = _index(self.users, key[0], "user"), _index(self.servers, key[1], "server")
            what = f"the demand of user {self.users[n]!r} on server {self.servers[i]!r}"
            if (n, i) in result:
                raise InstanceError(f"{what} is given twice in demands_on")
            demand = self._read_demand(vectors, what)
            if demand.shape != self.demands[n].shape:
                raise InstanceError(f"{what} has {len(demand)} variants, but the user has {len(self.demands[n])}")
            result[n, i] = demand
        return result

    def _check_totals(self) -> None:
        with np.errstate(over="ignore"):
            for r in np.flatnonzero(~np.isfinite(self.totals))[:1]:
                what = f"the total capacity of {self.resources[r]!r}"
                raise InstanceError(f"{what} is out of the range of floating point: change units")

    def _check_every_user_fits_somewhere(self) -> None:
        for n in np.flatnonzero(~self.eligible.any(axis=1))[:1]:
            reason = "no server it may use has all it demands" if self.placement[n].any() else "its placement allows no server"
            raise InstanceError(f"user {self.users[n]!r} has no eligible server: {reason}")

    # ---- sizes and derived data ---------------------------------------------------------------------------------

    @property
    def N(self) -> int:  # noqa: N802 (the papers' letter)
        """Number of users."""
        return len(self.users)

    @property
    def K(self) -> int:  # noqa: N802
        """Number of server rows (classes, where `counts` is not 1)."""
        return len(self.servers)

    @property
    def R(self) -> int:  # noqa: N802
        """Number of resources."""
        return len(self.resources)

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
        variants = np.concatenate(self.demands)
        owner = np.repeat(np.arange(self.N), [len(d) for d in self.demands])
        local = np.concatenate([np.arange(len(d)) for d in self.demands])
        possible = self._possible(variants, owner)
        v, server = np.nonzero(possible)
        demand = variants[v]
        place, first = np.full(possible.shape, -1), np.searchsorted(owner, np.arange(self.N))
        place[v, server] = np.arange(len(v))
        for (n, i), vectors in self.demands_on.items():
            here = place[first[n] : first[n] + len(vectors), i]
            demand[here[here >= 0]] = vectors[here >= 0]
        return self._matrices(owner[v], local[v], server, demand)

    def _possible(self, variants: Floats, owner: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(variants x K) whether the user may run that variant there and the server has every resource it takes."""
        lacking = (variants > 0).astype(float) @ (self.capacities == 0).astype(float).T
        first = np.searchsorted(owner, np.arange(self.N))
        for (n, i), vectors in self.demands_on.items():
            lacking[first[n] : first[n] + len(vectors), i] = (vectors > 0) @ (self.capacities[i] == 0)
        result: NDArray[np.bool_] = self.placement[owner] & (lacking == 0)
        return result

    def _matrices(self, user: Any, variant: Any, server: Any, demand: Floats) -> Arcs:
        count = len(user)
        capacity = self.pools[server]
        with np.errstate(over="ignore"):
            share = np.divide(demand, capacity, out=np.zeros_like(demand), where=demand > 0)
        largest = share.max(axis=1, initial=0)
        self._check_range(largest, user, server)
        a, r = np.nonzero(share)
        load = sp.csr_array((share[a, r], (server[a] * self.R + r, a)), shape=(self.K * self.R, count))
        owner = sp.csr_array((np.ones(count), (user, np.arange(count))), shape=(self.N, count))
        for array in (demand, load.data, owner.data):
            frozen(array)
        return Arcs(frozen(user), frozen(variant), frozen(server), demand, load, owner, frozen(1.0 / largest))

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
        return all(len(d) == 1 for d in self.demands)

    @cached_property
    def exact(self) -> ExactData:
        """The data as rationals: what was given in rationals stays exact, a float is the decimal it prints as."""
        given = self._given
        keys = {
            (_index(self.users, n, "user"), _index(self.servers, i, "server")): v for (n, i), v in given["demands_on"].items()
        }
        limits = [None] * self.N if given["max_tasks"] is None else given["max_tasks"]
        return ExactData(
            demands=tuple(_rationals(given["demands"][n]) for n in range(self.N)),
            capacities=tuple(_rationals(c)[0] for c in given["capacities"]),
            weights=(Fraction(1),) * self.N if given["weights"] is None else _rationals(given["weights"])[0],
            max_tasks=tuple(None if _unlimited(v) else rational(v, "max_tasks") for v in limits),
            demands_on=MappingProxyType({key: _rationals(v) for key, v in keys.items()}),
        )

    @property
    def _given(self) -> dict[str, Any]:
        given: dict[str, Any] = self.__dict__["_given"]
        return given

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
        result = object.__new__(Instance)
        result.__dict__.update({key: value for key, value in self.__dict__.items() if key not in ("exact", "_hash")})
        data: dict[str, Any] = {"weights": self._read_weights(weights)}
        if unit is not None:
            data["demands"] = tuple(frozen(d * u) for d, u in zip(self.demands, unit, strict=True))
            data["demands_on"] = MappingProxyType({(n, i): frozen(d * unit[n]) for (n, i), d in self.demands_on.items()})
            data["max_tasks"] = self._within_range(self.max_tasks / unit)
            data["arcs"] = self._arcs_in(unit)
        result.__dict__.update(data)
        kept = {key: result.__dict__[key] for key in ("demands", "weights", "max_tasks", "demands_on")}
        result.__dict__["_given"] = {**kept, "capacities": self.capacities}
        return result

    def _within_range(self, limits: Floats) -> Floats:
        for n in np.flatnonzero(~(limits > 0))[:1]:
            raise InstanceError(f"max_tasks of user {self.users[n]!r} is out of the range of floating point: change units")
        return frozen(limits)

    def _arcs_in(self, unit: Floats) -> Arcs:
        """The arcs with tasks in other units."""
        arcs = self.arcs
        return self._matrices(arcs.user, arcs.variant, arcs.server, arcs.demand * unit[arcs.user][:, None])

    def _arguments(self) -> dict[str, Any]:
        """The constructor's arguments: a copy or a pickle is built, checked and made read-only as the original was."""
        names = {"name": self.name, "users": self.users, "servers": self.servers, "resources": self.resources}
        return {**self._given, "counts": self.counts, "eligible": self.placement, **names}


def _bytes(values: Floats) -> bytes:
    """The floats, with one zero."""
    return (values + 0.0).tobytes()


LARGEST_COUNT = 2**53
"""Up to here floating point counts exactly."""


def _restored(arguments: dict[str, Any]) -> Instance:
    return Instance(**arguments)


def _unlimited(value: Any) -> bool:
    """None, inf, or nan, which is what pandas and NumPy make of None."""
    return value is None or (isinstance(value, float | np.floating) and not value < np.inf)


def _rationals(value: Any) -> tuple[tuple[Fraction, ...], ...]:
    rows = value if is_vector(value[0]) else [value]
    return tuple(tuple(rational(v, "value") for v in vector) for vector in rows)


def _names(kind: str, letter: str, given: Iterable[str] | None, count: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"{letter}{k + 1}" for k in range(count))
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InstanceError(f"the names of {kind}s are {shown(given)}, but they must be a list of names")
    names = tuple(given)
    if len(names) != count:
        raise InstanceError(f"the number of {kind} names is {len(names)}, but the data has {count} {kind}s")
    for k, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise InstanceError(f"{kind} {k + 1} has the name {shown(name)}, but a name is a non-empty string")
        if unprintable(name):
            raise InstanceError(f"{kind} {k + 1} has the name {shown(name)}, but a name has no control characters or surrogates")
    if len(set(names)) < count:
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InstanceError(f"two {kind}s have the name {twice!r}, but names must be distinct")
    return tuple(str(name) for name in names)


def _index(names: Sequence[str], key: int | str, kind: str) -> int:
    if isinstance(key, str):
        if key in names:
            return names.index(key)
        raise InstanceError(no_such(kind, key, names, f"the {kind}s are {', '.join(names[:8])}"))
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    raise InstanceError(f"there is no {kind} {shown(key)}: {kind}s are numbered 0 to {len(names) - 1}")


def as_instance(value: Any) -> Instance:
    """The value, which must be an Instance: what public functions say of a first argument that is none."""
    if not isinstance(value, Instance):
        raise InstanceError(f"the instance is {shown(value)}, but it must be an Instance")
    return value
