"""The constructor's arguments as people have them, brought to plain rows: dictionaries by name, tables, sparse matrices.

| argument | as a dictionary | as a table of pandas | as a sparse matrix of SciPy |
| --- | --- | --- | --- |
| demands | user -> vector, variants, or {resource: number} | index = users, columns = resources | users x resources |
| capacities | server -> vector or {resource: number} | index = servers, columns = resources | servers x resources |
| weights | user -> number | Series by user | |
| max_tasks | user -> number, None = unlimited | Series by user; nan, as pandas writes None, = unlimited | |
| counts | server -> number | Series by server | |
| eligible | user -> list of servers, None = all | index = users, columns = servers | users x servers |
| demands_on | (user, server) -> as in demands | | |

The names of `demands` and `capacities` are those of the instance, in that order, unless `users`, `servers` or `resources` give
another order. Two sources must give the same names. An index 0, 1, 2, .. names nothing. Tables are recognised by
their attributes (`index`, `columns`, `to_numpy`), so nothing here needs pandas.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.models.errors import InstanceError, no_such, shown
from fairalloc.models.numbers import is_vector

__all__ = ["plain_arguments"]


class _Names:
    """The names of one kind of thing, as the first source gives them; later sources are put in their order."""

    def __init__(self, kind: str, given: Any) -> None:
        self.kind = kind
        self.given = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else given
        self.source = f"{kind}s"
        listed = isinstance(self.given, tuple) and all(isinstance(name, str) for name in self.given)
        self.names: list[Any] | None = list(self.given) if listed else None

    def order(self, found: Sequence[Any], source: str) -> list[int]:
        """Where in `found` each name stands; InstanceError where another source gave other names."""
        names = list(found)
        if names == list(range(len(names))):
            return names
        if self.names is None:
            self.names, self.source = names, source
        if self.names == names:
            return list(range(len(names)))
        if len(names) != len(self.names) or set(names) != set(self.names):
            one, other = (", ".join(map(str, some[:8])) + (", ..." if len(some) > 8 else "") for some in (self.names, names))
            raise InstanceError(f"the {self.kind}s are {one} in {self.source}, but {other} in {source}")
        place = {name: k for k, name in enumerate(names)}
        return [place[name] for name in self.names]

    def settle(self, rows: Any) -> None:
        """Where nothing has named them yet, the names are those of the instance: u1, u2, .. or s1, s2, .."""
        if self.names is None and self.given is None and is_vector(rows):
            self.names, self.source = [f"{self.kind[0]}{k + 1}" for k in range(len(rows))], "the instance"

    @property
    def result(self) -> Any:
        """The names for the instance: those given by hand, wrong ones too, which the instance refuses."""
        return self.given if self.given is not None else self.names


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Instance` with rows in place of dictionaries, tables and sparse matrices."""
    users, servers, resources = (_Names(kind, arguments[f"{kind}s"]) for kind in ("user", "server", "resource"))
    result = dict(arguments)
    result["capacities"] = _rows(arguments["capacities"], "capacities", servers, resources)
    result["demands"] = _rows(arguments["demands"], "demands", users, resources)
    users.settle(result["demands"])
    servers.settle(result["capacities"])
    for what, names in (("weights", users), ("max_tasks", users), ("counts", servers)):
        result[what] = _vector(arguments[what], what, names)
    if hasattr(arguments["max_tasks"], "index") and hasattr(arguments["max_tasks"], "isna"):
        limits = result["max_tasks"]
        result["max_tasks"] = [None if isinstance(v, float) and v != v else v for v in limits.tolist()]
    result["eligible"] = _eligible(arguments["eligible"], users, servers)
    if isinstance(on := arguments["demands_on"], Mapping):
        result["demands_on"] = {key: _vectors(value, "demands_on", resources) for key, value in on.items()}
    return result | {"users": users.result, "servers": servers.result, "resources": resources.result}


def _rows(value: Any, what: str, rows: _Names, columns: _Names) -> Any:
    if sp.issparse(value):
        return value.toarray()
    if _is_table(value):
        return _cells(value, what, rows, columns)
    if isinstance(value, Mapping):
        found = list(value)
        value = [value[found[k]] for k in rows.order(found, what)]
    if isinstance(value, np.ndarray) or not is_vector(value):
        return value
    result = [_vectors(entry, what, columns) for entry in value]
    return value if all(new is old for new, old in zip(result, value, strict=True)) else result


def _vectors(value: Any, what: str, columns: _Names) -> Any:
    """One demand or capacity: a vector, or a list of them."""
    if isinstance(value, Sequence) and any(map(_has_names, value)):
        return [_vector(entry, what, columns) for entry in value]
    return _vector(value, what, columns)


def _vector(value: Any, what: str, names: _Names) -> Any:
    if isinstance(value, Mapping):
        found = list(value)
        return [value[found[k]] for k in names.order(found, what)]
    if _has_names(value):
        return value.to_numpy()[names.order(list(value.index), what)]
    return value


def _eligible(value: Any, users: _Names, servers: _Names) -> Any:
    if sp.issparse(value):
        dense = value.toarray()
        return dense.astype(bool) if np.isin(dense, (0, 1)).all() else dense
    if _is_table(value):
        return _cells(value, "eligible", users, servers)
    if not isinstance(value, Mapping):
        return value
    found = list(value)
    known = servers.names or []
    return [_allowed(value[found[k]], found[k], known) for k in users.order(found, "eligible")]


def _allowed(chosen: Any, user: Any, servers: Sequence[str]) -> list[bool]:
    if chosen is None:
        return [True] * len(servers)
    if isinstance(chosen, str | bytes) or not hasattr(chosen, "__iter__"):
        raise InstanceError(f"eligible of user {user!r} is {shown(chosen)}, but it must be a list of servers or None")
    listed = list(chosen)
    for name in listed:
        if name not in servers:
            raise InstanceError(no_such("server", name, servers, f"the servers are {', '.join(servers[:8])}"))
    return [server in listed for server in servers]


def _has_names(value: Any) -> bool:
    """Whether it is a dictionary or a Series."""
    return isinstance(value, Mapping) or (hasattr(value, "to_numpy") and hasattr(value, "index"))


def _is_table(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("index", "columns", "to_numpy"))


def _cells(table: Any, what: str, rows: _Names, columns: _Names) -> Any:
    """(rows x columns) array of a table in the order of the names."""
    across = rows.order(list(table.index), what)
    return table.to_numpy()[np.ix_(across, columns.order(list(table.columns), what))]
