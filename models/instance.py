"""The instance: N users share K servers with R resources each (K 2, P II, W 3.1, Z II, D 3).

    x >= 0,   load @ x <= 1,   min_tasks <= u = owner @ x <= max_tasks

The unknowns x[a] are tasks on arcs a = (user, variant, server) that are eligible. `load[(i, r), a]` is the fraction of
resource r of server i that one task on arc a takes, so every row has the right-hand side 1 whatever the units (K 10, W 4).
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import astuple, replace
from fractions import Fraction
from functools import cached_property, partial
from sys import modules
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import named
from fairalloc.models.errors import InstanceError, check_name, require
from fairalloc.models.input import validation
from fairalloc.models.input.demand_matrix import Vectors, scaled_rows
from fairalloc.models.input.groups import read_groups
from fairalloc.models.input.named_input import plain_arguments
from fairalloc.models.instance_data import InstanceData
from fairalloc.models.numbers import Floats, frozen, is_vector


class Instance(InstanceData):
    """One multi-resource allocation problem, validated and read-only.

    Parameters
    ----------
    demands : for each user a demand vector (R,) or several variants (V_n, R), resource per task (Z II-A); an (N, R) array; or a
        sparse matrix of SciPy (N x R), which stays sparse, as all variants do in a pair (M x R matrix, user of each row)
    capacities : (K, R) resource of one server of each row
    weights : (N,) > 0, default 1 (phi in K and P, w in W, e in D)
    counts : (K,) positive int, default 1; row i stands for `counts[i]` identical servers, treated as one pool
    eligible : (N, K) bool, default all true: placement constraints; or {user: list of servers or {server: bool}}. Users of few
        servers may be given by a sparse matrix of SciPy (N x K), or by pairs (user, server), by name or number from 0. An array
        of the shape (N, K) is read as true and false
    rates : (N, K) >= 0, dense, sparse, by name or a table. At the rate q a task takes its demands / q, that is 1 / q of the time.
        At 0, or where a sparse matrix or a user's dictionary has no entry, the user may not run. Default 1 (markets, Gavel)
    max_tasks : (N,) > 0; None, inf or nan (what pandas writes for None) = unlimited (W 5.1)
    min_tasks : (N,) >= 0, at most max_tasks, default 0: floors, which the programs and rules of formulations/floors.py keep
    demands_on : {(user, server): vector or variants} that replace the demands on that server (P IV), whatever the rate
    groups : {name: group}, a tree above the users (input/groups.py). A group is a list of users, or a mapping with `users`,
        `groups`, `weight` (among its siblings, default 1) and `guarantee` (a part of the system, default 0)
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

    @named
    def __init__(
        self,
        demands: Any,
        capacities: Any,
        *,
        weights: Any = None,
        counts: Any = None,
        eligible: Any = None,
        rates: Any = None,
        max_tasks: Any = None,
        min_tasks: Any = None,
        demands_on: Mapping[tuple[int | str, int | str], Any] | None = None,
        groups: Any = None,
        name: str = "",
        users: Iterable[str] | None = None,
        servers: Iterable[str] | None = None,
        resources: Iterable[str] | None = None,
    ) -> None:
        given = {"demands": demands, "capacities": capacities, "weights": weights, "counts": counts, "eligible": eligible}
        given |= {"rates": rates, "max_tasks": max_tasks, "min_tasks": min_tasks, "demands_on": demands_on, "groups": groups}
        given |= {"users": users, "servers": servers, "resources": resources}
        derived = {key: value for key, value in given.items() if isinstance(value, validation.Derived)}
        self._read(name, plain_arguments(given | {key: value.floats for key, value in derived.items()}), derived)

    def _read(self, name: str, given: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
        """Check the arguments, as rows, and keep them."""
        N, K, R = _sizes(given["demands"], given["capacities"])
        check_name(name, "the name of the instance", empty=True)
        users = validation.read_names("user", given["users"], N)
        servers = validation.read_names("server", given["servers"], K)
        resources = validation.read_names("resource", given["resources"], R)
        data = self.__dict__
        data.update(name=name, _users=users, _servers=servers, _resources=resources)
        data["capacities"] = validation.read_capacities(given["capacities"], servers, resources)
        data["counts"] = validation.read_counts(given["counts"], servers)
        data["vectors"] = validation.read_demands(given["demands"], users, resources)
        data["weights"] = validation.read_weights(given["weights"], users)
        data["max_tasks"] = validation.read_limits(given["max_tasks"], users)
        data["min_tasks"] = validation.read_floors(given["min_tasks"], users, self.max_tasks)
        data["_eligible"] = validation.read_placement(given["eligible"], users, servers)
        data["_rates"] = validation.read_rates(given["rates"], users, servers)
        own = {} if given["demands_on"] is None else given["demands_on"]
        data["own"] = MappingProxyType(validation.read_own_demands(own, users, servers, resources, self.vectors.counts))
        data["_given"] = {key: derived.get(key, validation.source_of(given[key])) for key in NOTHING_GIVEN}
        data["_given"]["demands_on"] = copy.deepcopy(dict(own))
        data["groups"] = read_groups(given["groups"], self.users if given["groups"] is not None else ())
        self._check_usable()

    def _check_usable(self) -> None:
        """InstanceError where totals of capacities are no floats, or a user can run nowhere."""
        with np.errstate(over="ignore"):
            for r in np.flatnonzero(~np.isfinite(self.totals))[:1]:
                what = f"the total capacity of {self.resources[r]!r}"
                raise InstanceError(f"{what} is out of the range of floating point: change units")
        for n in np.flatnonzero(np.diff(self.allowed.indptr) == 0)[:1] if self.allowed is not None else ():
            what = "placement allows" if self.rates is None else "placement and rates allow"
            raise InstanceError(f"user {self._users[n]!r} has no eligible server: its {what} no server")
        for n in np.flatnonzero(np.diff(self.arcs.owner.indptr) == 0)[:1]:
            raise InstanceError(f"user {self._users[n]!r} has no eligible server: no server it may use has all it demands")

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"an Instance is read-only: use instance.replace({key}=...)")

    def __delattr__(self, key: str) -> None:
        raise AttributeError("an Instance is read-only")

    def __reduce__(self) -> Any:
        return partial(Instance, **self._arguments()), ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        if self is other:
            return True
        names = (self._users, other._users), (self._servers, other._servers), (self._resources, other._resources)
        if self.content != other.content or any(mine != theirs and tuple(mine) != tuple(theirs) for mine, theirs in names):
            return False  # names that nobody gave are compared without being made
        return (self.floats_are_exact and other.floats_are_exact) or self.exact == other.exact

    def __hash__(self) -> int:
        return self.once("hash", lambda: hash(self.content))

    @property
    def content(self) -> tuple[Any, ...]:
        """Name, counts, placement and the floats, which follow from the exact data: quicker to compare than that."""
        on = tuple((pair, _bytes(d)) for pair, d in sorted(self.own.items()))
        allowed = self.allowed
        placed = None if allowed is None else tuple(part.astype(np.int64).tobytes() for part in (allowed.indptr, allowed.indices))
        rates = () if self.rates is None else (self.rates.data,)  # their places are those of placement
        floors = ((_bytes(self.min_tasks),),) * self.has_floors  # in a tuple, so that they are not taken for rates
        floats = map(_bytes, (self.capacities, self.weights, self.max_tasks, *rates))
        groups = () if self.groups is None else (astuple(self.groups),)
        return (self.name, self.counts.tobytes(), placed, on, *floats, *floors, *self.vectors.content(), *groups)

    @property
    def floats_are_exact(self) -> bool:
        """Whether no numbers are kept beside the floats, as where all were given in arrays that floats hold."""
        return not self.own and all(value is None for key, value in self._given.items() if key != "demands_on")

    def __repr__(self) -> str:
        sizes = f"{self.N} users, {len(self.servers)} servers, {self.R} resources, {self.A} arcs"
        return f"Instance({self.name + ': ' if self.name else ''}{sizes})"

    def _repr_html_(self) -> str:
        """For notebooks: the tables of models/overview.py, which the package of this module imports on demand."""
        text: str = modules[__package__].Overview(self)._repr_html_()
        return text

    @named
    def replace(self, **changes: Any) -> "Instance":
        """A new instance with some constructor arguments changed; names and placement follow unless given."""
        given = self._arguments()
        if changes.keys().isdisjoint(("demands", "capacities")):  # users and servers stay in their places, whatever their names
            given["demands_on"] = dict(zip(self.own, given["demands_on"].values(), strict=True))
        return Instance(**{**given, **changes})

    def rescaled(self, weights: Floats, unit: Floats | None = None) -> "Instance":
        """The same problem with other weights (N,) and in other units of tasks, made from validated data.

        `unit` (N,) is how many tasks one task of the result is, default 1. The arcs stay, in the same order.
        InstanceError where a number leaves the range of floating point.
        """
        for n in np.flatnonzero(~((weights > 0) & (weights < np.inf)))[:1]:
            what = f"the weight of user {self.users[n]!r}, beside those of others,"
            raise InstanceError(f"{what} is out of the range of floating point: change weights")
        data: dict[str, Any] = {"weights": frozen(np.array(weights, dtype=float)), "_given": dict(NOTHING_GIVEN)}
        if unit is not None:
            each = unit if self.single_variant else unit[self.vectors.user]
            data["vectors"] = vectors = Vectors(scaled_rows(self.vectors.matrix, each), self.vectors.first)
            data["own"] = MappingProxyType({(n, i): frozen(d * unit[n]) for (n, i), d in self.own.items()})
            data["max_tasks"] = limits = frozen(self.max_tasks / unit)
            for n in np.flatnonzero(~(limits > 0))[:1]:
                raise InstanceError(f"max_tasks of user {self.users[n]!r} is out of the range of floating point: change units")
            data["min_tasks"] = frozen(self.min_tasks / unit)
            data["arcs"] = self._arcs_in(unit, vectors)
        data["_given"]["demands_on"] = dict(data.get("own", self.own))
        return self._changed(data, ("demands", "demands_on") if unit is not None else ())

    def chosen(
        self, users: NDArray[np.intp], servers: NDArray[np.intp], weights: Floats, max_tasks: Floats, counts: NDArray[np.int64]
    ) -> "Instance":
        """Some users and rows of servers, made from validated data.

        Parameters
        ----------
        users, servers : (N',) and (K',) which, in rising order; every user has a server among them
        weights, max_tasks, counts : (N',), (N',) and (K',) what these have there
        """
        allowed, rates = (None if part is None else part[users][:, servers] for part in (self.allowed, self.rates))
        user, server = ({int(n): k for k, n in enumerate(kept)} if self.own else {} for kept in (users, servers))
        on = {(user[n], server[i]): d for (n, i), d in self.own.items() if n in user and i in server}
        data: dict[str, Any] = {
            "_users": tuple(self._users[n] for n in users),
            "_servers": tuple(self._servers[i] for i in servers),
            "vectors": self.vectors.chosen(users),
            "capacities": frozen(self.capacities[servers]),
            "counts": frozen(counts),
            "weights": frozen(weights),
            "max_tasks": frozen(max_tasks),
            "min_tasks": frozen(self.min_tasks[users]),
            "_eligible": None if allowed is None or allowed.nnz == len(users) * len(servers) else allowed,
            "_rates": rates,
            "groups": None if self.groups is None else self.groups.chosen(users.tolist()),
            "own": MappingProxyType(on),
            "_given": {**NOTHING_GIVEN, "demands_on": on},
        }
        return self._changed(data, self.__dict__.keys() - {"name", "_resources"})

    def _changed(self, data: Mapping[str, Any], stale: Iterable[str]) -> "Instance":
        """An instance with other data, validated already, that keeps what was derived of this one but for what is stale."""
        result = object.__new__(Instance)
        made = {"exact", "memo", "pool", *stale}  # the first three of all data
        result.__dict__.update({key: value for key, value in self.__dict__.items() if key not in made} | dict(data))
        return result

    @cached_property
    def pool(self) -> "Instance":
        """All servers as one, "pool", with the summed capacities, open to everybody (W section 2, K Def 1); see `pooled`."""
        exact = self.exact.capacities
        totals = [sum((int(q) * c[r] for q, c in zip(self.counts, exact, strict=True)), Fraction(0)) for r in range(self.R)]
        data = {
            "_servers": ("pool",),
            "capacities": frozen(np.array([[float(c) for c in totals]])),
            "counts": frozen(np.ones(1, dtype=np.int64)),
            "_eligible": None,
            "_rates": None,
            "own": MappingProxyType({}),
            "_given": {**self._given, "capacities": [totals], "demands_on": {}, "rates": None},
        }
        stale = ["servers", "K", "placement", "allowed", "rates", "demands_on"]
        if self.K > 1 or self.counts[0] > 1:
            stale += ["eligible", "pools", "totals", "arcs", "A"]
        return self._changed(data, stale)

    def _arguments(self) -> dict[str, Any]:
        """The constructor's arguments: a copy or a pickle is built, checked and made read-only as the original was."""
        limits = None if np.isinf(self.max_tasks).all() else self.max_tasks
        values = {"capacities": self.capacities, "weights": self.weights, "max_tasks": limits}
        values |= {"rates": self._rates, "min_tasks": self.min_tasks if self.has_floors else None}
        source = self._given  # not of what says nothing: floors of 0 would be of other users after a replace
        given = {key: value if value is None or source[key] is None else source[key] for key, value in values.items()}
        given["demands"] = replace(self.vectors, given=self._given["demands"])  # read once: the most numbers are here
        given |= {"name": self.name, "counts": self.counts, "eligible": self._eligible, "demands_on": self._given["demands_on"]}
        given["groups"] = self.groups
        names = {"users": self._users, "servers": self._servers, "resources": self._resources}
        return given | {kind: None if isinstance(own, validation.NumberedNames) else own for kind, own in names.items()}


NOTHING_GIVEN: Mapping[str, Any] = dict.fromkeys(("demands", "capacities", "weights", "max_tasks", "min_tasks", "rates"))
"""Where the floats are the exact data."""


def _sizes(demands: Any, capacities: Any) -> tuple[int, int, int]:
    """How many users, servers and resources there are; InstanceError where one number is 0, or these are no lists of vectors."""
    for what, rows in (("demands", demands), ("capacities", capacities)):
        require(validation.count_of(rows) is not None, f"{what} are", rows, "they must be a list of vectors")
    N, K = validation.count_of(demands) or 0, validation.count_of(capacities) or 0
    if N == 0 or K == 0:
        raise InstanceError(f"there are {N} users and {K} servers, but both must be at least 1")
    wide = max((len(c) for c in capacities if is_vector(c)), default=0)
    require(wide, "capacities are", capacities, "each must be a vector with at least one resource")
    return N, K, wide


def _bytes(values: Floats) -> bytes:
    """The floats, with one zero."""
    return (values + 0.0).tobytes()
