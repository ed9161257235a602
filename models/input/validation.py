"""What `Instance` is given, read and checked: arrays and sparse matrices in one piece, everything else value by value.

An array of machine numbers is checked as a whole, and where something is wrong the first bad user or server is read again value
by value, which names it. Nothing (users x servers) or (users x resources) is made of what is given sparse.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.arguments import is_list
from fairalloc.models.errors import InstanceError, listed, no_such, require, shown, unprintable
from fairalloc.models.input.demand_matrix import Vectors, read_only, small
from fairalloc.models.numbers import Floats, finite, frozen, is_vector, plain, rational, row

LARGEST_COUNT = 2**53
"""Up to here floating point counts exactly."""


@dataclass(frozen=True)
class NumberedNames(Sequence[str]):
    """u1, u2, ..: names that nobody gave, made when they are asked for."""

    letter: str
    size: int

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, k: Any) -> Any:
        numbers = range(1, self.size + 1)[k]
        return f"{self.letter}{numbers}" if isinstance(numbers, int) else [f"{self.letter}{number}" for number in numbers]


def if_distinct(names: list[str]) -> list[str] | None:
    """Names made of others, None (which makes numbered ones) where two of them are the same."""
    return names if len(set(names)) == len(names) else None


def read_names(kind: str, given: Iterable[str] | None, count: int) -> Sequence[str]:
    """The names, distinct and `count` of them; numbered ones where none are given. `kind` is "user", "server" or "resource"."""
    if given is None:
        return NumberedNames(kind[0], count)
    require(is_list(given), f"the names of {kind}s are", given, "they must be a list of names")
    names = given if isinstance(given, NumberedNames) else tuple(given)
    require(len(names) == count, f"the number of {kind} names is", len(names), f"the data has {count} {kind}s")
    if isinstance(names, NumberedNames):
        return names
    sound = all(isinstance(name, str) for name in names) and "" not in names and not unprintable("".join(names))
    for k, name in enumerate(() if sound else names):
        if not isinstance(name, str) or not name or unprintable(name):
            printable = isinstance(name, str) and name
            rule = "a name has no control characters or surrogates" if printable else "a name is a non-empty string"
            raise InstanceError(f"{kind} {k + 1} has the name {shown(name)}, but {rule}")
    if len(set(names)) < count:
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise InstanceError(f"two {kind}s have the name {twice!r}, but names must be distinct")
    return tuple(map(str, names))


@dataclass(frozen=True)
class Places:
    """The positions that names and numbers of one kind of thing ("user", "server" or "resource", for errors) stand for."""

    names: Sequence[str]
    kind: str

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def __call__(self, key: Any) -> int:
        """The position; InstanceError where there is none."""
        names, kind = self.names, self.kind
        if isinstance(key, str):
            if key in self._by_name:
                return self._by_name[key]
            raise InstanceError(no_such(kind, key, names, f"the {kind}s are {listed(names)}"))
        if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(names):
            return int(key)
        raise InstanceError(f"there is no {kind} {shown(key)}: {kind}s are numbered 0 to {len(names) - 1}")


def count_of(rows: Any) -> int | None:
    """How many users or servers these are the rows of; None where they are no rows."""
    if sp.issparse(rows):
        return int(rows.shape[0])
    if is_sparse_variants(rows):
        return len(first_rows(rows)) - 1
    return len(rows) if isinstance(rows, Vectors) or is_vector(rows) else None


def is_sparse_variants(value: Any) -> bool:
    """Whether these are demands as a pair (matrix of SciPy, user of each row)."""
    return isinstance(value, tuple) and len(value) == 2 and sp.issparse(value[0]) and not sp.issparse(value[1])


def first_rows(demands: tuple[Any, Any]) -> NDArray[np.intp]:
    """(N + 1,) where the rows of each user begin in a pair (matrix, user of each row), and where the last ones end."""
    user, rows = demands[1], demands[0].shape[0]
    number = np.asarray(user) if is_vector(user) else np.empty(0)
    rule = f"it must be {rows} whole numbers that rise from 0 by at most 1"
    sound = number.shape == (rows,) and number.dtype.kind in "iu" and number[:1].tolist() == [0]
    require(sound and np.isin(np.diff(number), (0, 1)).all(), "the user of each row of demands is", user, rule)
    return np.concatenate(([0], np.cumsum(np.bincount(number))))


@dataclass(frozen=True)
class Derived(Sequence[Any]):
    """Exact data that follow from others and are made when they are asked for; two are equal where what they follow from is.

    floats : the nearest floats, in a form that an instance reads in one piece
    rule, source : the rationals for each user or server row are rule(*source)
    """

    floats: Any = field(compare=False)
    rule: Callable[..., Sequence[Any]]
    source: tuple[Any, ...]

    @cached_property
    def rows(self) -> Sequence[Any]:
        return self.rule(*self.source)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, k: Any) -> Any:
        return self.rows[k]


def source_of(value: Any) -> Any:
    """What must be kept for the exact numbers: None where the floats are exact themselves, as machine numbers are."""
    if value is None or isinstance(value, Vectors) or is_sparse_variants(value):
        return value.given if isinstance(value, Vectors) else None
    data = value.data if sp.issparse(value) else value
    if plain(data) and (data.dtype.kind == "f" or not data.size or int(np.abs(data).max()) <= LARGEST_COUNT):
        return None
    return copy.deepcopy(value)


def read_capacities(value: Any, servers: Sequence[str], resources: Sequence[str]) -> Floats:
    """(K, R) floats >= 0, from a vector for each server."""
    if plain(value) and value.shape == (len(servers), len(resources)):
        whole: Floats = np.array(value, dtype=float)
        for i in np.flatnonzero(~_usable(whole))[:1]:
            _rows([value[i]], f"the capacity of server {servers[i]!r}", resources)
        return frozen(whole)
    named = zip(value, servers, strict=True)
    return frozen(np.concatenate([_rows([c], f"the capacity of server {s!r}", resources) for c, s in named]))


def _rows(values: Any, what: str, resources: Sequence[str]) -> Floats:
    """(V, R) vectors of finite numbers >= 0."""
    result = np.array([row(v, resources, what) for v in values])
    for v, r in np.argwhere(result < 0)[:1]:
        raise InstanceError(f"{what} for {resources[r]!r} is {result[v, r]:g}, but it must not be negative")
    return result


def _usable(rows: Floats) -> NDArray[np.bool_]:
    """Whether all numbers of a row are finite and at least 0."""
    return frozen(np.all((rows >= 0) & np.isfinite(rows), axis=1))


def read_demands(value: Any, users: Sequence[str], resources: Sequence[str]) -> Vectors:
    """The demand vectors, from a vector or variants for each user, from a matrix (N x R) of SciPy, or from a sparse pair."""
    if isinstance(value, Vectors):  # read before; a pickle has forgotten what is read-only
        return replace(value)
    if sp.issparse(value):
        return _read_sparse_demands(value, np.arange(len(users) + 1), users, resources)
    if is_sparse_variants(value):
        return _read_sparse_demands(value[0], first_rows(value), users, resources)
    if plain(value) and value.ndim in (2, 3) and value.size and value.shape[-1] == len(resources):
        rows: Floats = np.array(value, dtype=float).reshape(-1, len(resources))
        variants = len(rows) // len(value)
        for n in np.flatnonzero(~(_usable(rows) & rows.any(axis=1)))[:1] // variants:
            read_demand(value[n], f"the demand of user {users[n]!r}", resources)
        return Vectors.of(rows, np.arange(len(value) + 1) * variants)
    parts = [read_demand(vectors, f"the demand of user {u!r}", resources) for vectors, u in zip(value, users, strict=True)]
    return Vectors.of(np.concatenate(parts), np.cumsum([0, *map(len, parts)]))


def _read_sparse_demands(value: Any, first: NDArray[np.intp], users: Sequence[str], resources: Sequence[str]) -> Vectors:
    """Those in the rows of a matrix (M x R), first[n] to first[n + 1] of user n."""
    owner = np.repeat(np.arange(len(users)), np.diff(first))
    if value.dtype.kind not in "fiu" or value.shape[1] != len(resources):
        return read_demands(value.toarray(), [users[n] for n in owner.tolist()], resources)  # which says what is wrong
    matrix = sp.csr_array(value, dtype=float, copy=True)
    matrix.sum_duplicates()
    entry = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0)))[:1]
    bad = np.searchsorted(matrix.indptr, entry, side="right") - 1
    result = Vectors.of_sparse(matrix, first)
    empty = np.flatnonzero(np.diff(result.matrix.indptr) == 0)[:1]
    for k in np.sort(np.concatenate((bad, empty)))[:1]:
        read_demand(sp.csr_array(value)[[k]].toarray()[0], f"the demand of user {users[owner[k]]!r}", resources)
    return result


def read_demand(value: Any, what: str, resources: Sequence[str]) -> Floats:
    """(V, R) one demand vector, or the vectors of several variants; `what` names it in errors."""
    if is_vector(value) and len(value) == 0:
        raise InstanceError(f"{what} is empty, but it must be a vector or a list of variants")
    result = _rows(value if is_vector(value) and is_vector(value[0]) else [value], what, resources)
    if not np.all(result.any(axis=1)):
        raise InstanceError(f"{what} is zero for every resource, but a task must take something")
    return frozen(result)


def read_own_demands(
    value: Any, users: Sequence[str], servers: Sequence[str], resources: Sequence[str], variants: NDArray[np.intp]
) -> dict[tuple[int, int], Floats]:
    """The demands, {(user, server): vector or variants}, that hold on one server only; `variants` (N,) is how many users have."""
    require(isinstance(value, Mapping), "demands_on is", value, "it must map pairs (user, server) to demands")
    user_of, server_of = Places(users, "user"), Places(servers, "server")
    result: dict[tuple[int, int], Floats] = {}
    for key, vectors in value.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise InstanceError(f"demands_on has the key {shown(key)}, but a key is a pair (user, server)")
        n, i = user_of(key[0]), server_of(key[1])
        what = f"the demand of user {users[n]!r} on server {servers[i]!r}"
        if (n, i) in result:
            raise InstanceError(f"{what} is given twice in demands_on")
        demand = read_demand(vectors, what, resources)
        if len(demand) != variants[n]:
            raise InstanceError(f"{what} has {len(demand)} variants, but the user has {variants[n]}")
        result[n, i] = demand
    return result


def read_counts(value: Any, servers: Sequence[str]) -> NDArray[np.int64]:
    """(K,) positive integers."""
    if value is None:
        return frozen(np.ones(len(servers), dtype=np.int64))
    whole = plain(value) and value.dtype.kind in "iu" and value.shape == (len(servers),)
    if whole and np.all(value >= 1) and np.all(value <= LARGEST_COUNT):
        return frozen(value.astype(np.int64))
    row(value, servers, "counts", "the count of server")
    result = [rational(v, "the count") for v in value]
    for server, count, v in zip(servers, result, value, strict=True):
        sound = count.denominator == 1 and 1 <= count <= LARGEST_COUNT
        require(sound, f"the count of server {server!r} is", v, f"it must be an integer from 1 to {LARGEST_COUNT}")
    return frozen(np.array(result, dtype=np.int64))


def read_weights(value: Any, users: Sequence[str]) -> Floats:
    """(N,) positive floats."""
    if value is None:
        return frozen(np.ones(len(users)))
    result = row(value, users, "weights", "the weight of user")
    for n in np.flatnonzero(result <= 0)[:1]:
        raise InstanceError(f"the weight of user {users[n]!r} is {result[n]:g}, but it must be positive")
    return frozen(result)


def read_limits(value: Any, users: Sequence[str], what: str = "max_tasks") -> Floats:
    """(N,) positive floats, inf = unlimited."""
    if value is None:
        return frozen(np.full(len(users), np.inf))
    rule = f"it must be a list of {len(users)} numbers, one for each user"
    require(is_vector(value) and len(value) == len(users), f"{what} is", value, rule)
    if plain(value) and value.ndim == 1 and not np.any(value == -np.inf):
        result = np.array(value, dtype=float)
        result[np.isnan(result)] = np.inf
    else:
        pairs = zip(value, users, strict=True)
        result = np.array([np.inf if is_unlimited(v) else finite(v, f"{what} of user {u!r}") for v, u in pairs])
    for n in np.flatnonzero(~(result > 0))[:1]:
        raise InstanceError(f"{what} of user {users[n]!r} is {result[n]:g}, but it must be positive, or null for unlimited")
    return frozen(result)


def read_floors(value: Any, users: Sequence[str], limits: Floats) -> Floats:
    """(N,) floats >= 0, at most the limits (N,)."""
    if value is None:
        return frozen(np.zeros(len(users)))
    result = row(value, users, "min_tasks", "min_tasks of user")
    for n in np.flatnonzero(result < 0)[:1]:
        raise InstanceError(f"min_tasks of user {users[n]!r} is {result[n]:g}, but it must not be negative")
    for n in np.flatnonzero(result > limits)[:1]:
        raise InstanceError(f"min_tasks of user {users[n]!r} is {result[n]:g}, but it must be at most max_tasks, {limits[n]:g}")
    return frozen(result)


def is_unlimited(value: Any) -> bool:
    """None, inf, or nan, which is what pandas and NumPy make of None."""
    return value is None or (isinstance(value, float | np.floating) and not value < np.inf)


def read_placement(value: Any, users: Sequence[str], servers: Sequence[str]) -> sp.csr_array | None:
    """Where each user may run: (N x K) sparse bool; None where everybody may run everywhere.

    From None; a matrix of SciPy; an array or lists of shape (N, K), true or false; or pairs (user, server) by name or number.
    """
    shape = (len(users), len(servers))
    if value is None:
        return None
    if sp.issparse(value):
        return _read_sparse_placement(value, users, servers)
    if isinstance(value, np.ndarray) and value.dtype == bool and value.shape == shape:
        return allowed_pairs(shape, *np.nonzero(value))
    if plain(value) and value.ndim == 2 and value.shape[1] == 2 and value.shape != shape:
        return _read_array_of_pairs(value, users, servers)
    rows = list(value) if is_vector(value) else []
    named = any(isinstance(v, str) for r in rows if is_vector(r) for v in r)  # in pairs alone
    if not named and len(rows) == len(users) and all(is_vector(r) and len(r) == len(servers) for r in rows):
        each = zip(users, rows, strict=True)
        truths = [[truth(v, f"user {u!r}", s) for v, s in zip(r, servers, strict=True)] for u, r in each]
        return allowed_pairs(shape, *np.nonzero(np.array(truths)))
    if rows and all(is_vector(r) and len(r) == 2 for r in rows):
        user_of, server_of = Places(users, "user"), Places(servers, "server")
        return allowed_pairs(shape, [user_of(n) for n, _ in rows], [server_of(i) for _, i in rows])
    raise InstanceError(f"eligible is {shown(value)}, but it must be {len(users)} lists (users) of {len(servers)} (servers)")


def truth(value: Any, user: str, server: str) -> bool:
    """Whether the user, named such as "user 'ann'", may run on the server: a truth value, 0 or 1."""
    if not isinstance(value, bool | np.bool_ | int | np.integer) or value not in (0, 1):
        raise InstanceError(f"eligible of {user} on server {server!r} is {shown(value)}, but it must be true or false")
    return bool(value)


def _read_sparse_placement(value: Any, users: Sequence[str], servers: Sequence[str]) -> sp.csr_array | None:
    shape = (len(users), len(servers))
    if value.shape != shape:
        size = " x ".join(map(str, value.shape))
        raise InstanceError(f"eligible is a matrix of {size}, but it must be {shape[0]} (users) x {shape[1]} (servers)")
    entries = value.tocoo()
    for e in np.flatnonzero((entries.data != 0) & (entries.data != 1))[:1]:
        where = f"eligible of user {users[entries.row[e]]!r} on server {servers[entries.col[e]]!r}"
        raise InstanceError(f"{where} is {shown(entries.data[e])}, but it must be true or false")
    there = entries.data != 0
    return allowed_pairs(shape, entries.row[there], entries.col[there])


def _read_array_of_pairs(value: NDArray[Any], users: Sequence[str], servers: Sequence[str]) -> sp.csr_array | None:
    shape = (len(users), len(servers))
    for p in np.flatnonzero(~np.all((value >= 0) & (value < shape), axis=1) | (value.dtype.kind not in "iu"))[:1]:
        Places(users, "user")(value[p, 0].item())
        Places(servers, "server")(value[p, 1].item())
    return allowed_pairs(shape, value[:, 0], value[:, 1])


def read_rates(value: Any, users: Sequence[str], servers: Sequence[str]) -> sp.csr_array | None:
    """(N x K) sparse, the positive rates, from rows for each user or a matrix of NumPy or SciPy; None where all are exactly 1."""
    if value is None:
        return None
    given, shape, machine = value, (len(users), len(servers)), sp.issparse(value) or plain(value)
    if not machine:
        require(is_vector(value) and len(value) == len(users), "rates are", value, f"they must be {shape[0]} lists (users)")
        named = zip(value, users, strict=True)
        value = np.array([row(own, servers, f"the rates of user {u!r}", f"the rate of user {u!r} on server") for own, u in named])
    if value.shape != shape or value.dtype.kind not in "fiu":
        size = " x ".join(map(str, value.shape))
        raise InstanceError(f"rates are {size} of type {value.dtype}, but they must be {shape[0]} x {shape[1]} numbers")
    result = sp.csr_array(value, dtype=float, copy=True)
    result.sum_duplicates()
    for e in np.flatnonzero(~((result.data >= 0) & np.isfinite(result.data)))[:1]:
        user = users[int(np.searchsorted(result.indptr, e, side="right")) - 1]
        where = f"the rate of user {user!r} on server {servers[result.indices[e]]!r}"
        raise InstanceError(f"{where} is {result.data[e]:g}, but it must be a finite number, at least 0")
    result.eliminate_zeros()
    ones = result.nnz == shape[0] * shape[1] and np.all(result.data == 1)
    return None if ones and (machine or all(rational(v, "rate") == 1 for each in given for v in each)) else read_only(result)


def allowed_pairs(shape: tuple[int, int], user: Any, server: Any) -> sp.csr_array | None:
    """(N x K) sparse bool of the allowed pairs (P,) in any order, also repeated, rows sorted; None where all are allowed."""
    result = sp.csr_array((np.ones(len(user), dtype=bool), (small(np.asarray(user)), small(np.asarray(server)))), shape=shape)
    if result.nnz == shape[0] * shape[1]:
        return None
    return read_only(result)
