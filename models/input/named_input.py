"""The constructor's arguments as people have them, brought to plain rows: dictionaries by name, tables, sparse matrices.

| argument | as a dictionary | as a table of pandas | as a sparse matrix of SciPy |
| --- | --- | --- | --- |
| demands | user -> vector, variants, or {resource: number} | index = users, columns = resources | users x resources |
| capacities | server -> vector or {resource: number} | index = servers, columns = resources | servers x resources |
| weights | user -> number | Series by user | |
| max_tasks | user -> number, None or nan = unlimited | Series by user; pandas writes nan for None | |
| min_tasks | user -> number | Series by user | |
| counts | server -> number | Series by server | |
| eligible | user -> list of servers, {server: bool}, or None = all | index = users, columns = servers | users x servers |
| rates | user -> {server: number}, 0 if left out, numbers, or None = 1 | index = users, columns = servers | users x servers |
| demands_on | (user, server) -> as in demands | | |

Sparse demands of users with several variants are a pair: a matrix (variants x resources) and the user of each row, from 0 on.
The names of `demands` and `capacities` are those of the instance, in that order, unless `users`, `servers` or `resources` give
another order. Other sources give no other names. What weights, limits, counts, eligible and rates leave out has its default;
each demand and capacity, each user's {server: bool} and each table give all names. An index 0, 1, 2, .. names nothing. Tables are
recognised by their attributes (`index`, `columns`, `to_numpy`), so nothing here needs pandas.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.models.arguments import is_list
from fairalloc.models.errors import InstanceError, callers, listed, no_such, require, shown
from fairalloc.models.input.validation import NumberedNames, Places, allowed_pairs, count_of, is_sparse_variants, truth
from fairalloc.models.numbers import is_vector


class _Names:
    """The names of one kind of thing, as the first source gives them; later sources are put in their order."""

    def __init__(self, kind: str, given: Any) -> None:
        self.kind, self.source = kind, f"{kind}s"
        with callers(f"reading the names of {kind}s"):
            self.given = tuple(given) if is_list(given) else given
        sound = isinstance(self.given, tuple) and all(isinstance(name, str) for name in self.given)
        self.names: Sequence[Any] | None = list(self.given) if sound else None

    def order(self, found: Sequence[Any], source: str) -> list[int]:
        """Where in `found` each name stands; InstanceError where another source gave other names."""
        names = list(found)
        if names == list(range(len(names))):
            return names
        if self.names is None:
            self.names, self.source = names, source
        if list(self.names) == names:
            return list(range(len(names)))
        if len(names) != len(self.names) or set(names) != set(self.names):
            raise self.other_names(names, source)
        place = {name: k for k, name in enumerate(names)}
        return [place[name] for name in self.names]

    def other_names(self, found: Sequence[Any], source: str) -> InstanceError:
        """The error about a source with other names; of many, those that nobody has come first."""
        known = set(self.names or ())
        strange = [name for name in found if name not in known] if len(found) > 8 else []
        return InstanceError(
            f"the {self.kind}s are {listed(self.names or ())} in {self.source}, but {listed(strange or found)} in {source}"
        )

    def gather(self, values: Iterable[Any], source: str) -> None:
        """Where nothing has named them yet, the names are all those of some dictionaries, in the order of their first use."""
        if self.names is None:
            found = (list(_entries(value)) for value in values)
            named = [names for names in found if not _unnamed(names)]
            self.names, self.source = list(dict.fromkeys(chain.from_iterable(named))) or None, source

    def label(self, k: int) -> str:
        """What an error calls the k-th of them."""
        return f"{self.kind} {self.names[k] if self.names and k < len(self.names) else f'{self.kind[0]}{k + 1}'!r}"

    def settle(self, rows: Any) -> None:
        """Where nothing has named them yet, the names are those of the instance: u1, u2, .. or s1, s2, .."""
        if self.names is None and self.given is None and (count := count_of(rows)) is not None:
            self.names, self.source = NumberedNames(self.kind[0], count), "the instance"

    @property
    def result(self) -> Any:
        """The names for the instance: those given by hand, wrong ones too, which the instance refuses."""
        return self.given if self.given is not None else self.names


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Instance` with rows in place of dictionaries, tables and sparse matrices."""
    users, servers, resources = (_Names(kind, arguments[f"{kind}s"]) for kind in ("user", "server", "resource"))
    result = arguments = {what: _in_rows(value) for what, value in arguments.items()}
    result["capacities"] = _rows(arguments["capacities"], "capacities", servers, resources)
    result["demands"] = _rows(arguments["demands"], "demands", users, resources)
    users.settle(result["demands"])
    servers.settle(result["capacities"])
    for what, names, default in (
        ("weights", users, 1),
        ("max_tasks", users, None),
        ("min_tasks", users, 0),
        ("counts", servers, 1),
    ):
        result[what] = _partial(arguments[what], what, names, default)
    result["eligible"] = _eligible(arguments["eligible"], users, servers)
    result["rates"] = _rates(arguments["rates"], users, servers)
    if isinstance(on := arguments["demands_on"], Mapping):
        resources.gather(chain.from_iterable(map(_named, on.values())), "demands_on")
        result["demands_on"] = {key: _vectors(value, f"the demand on {shown(key)}", resources) for key, value in on.items()}
    return result | {"users": users.result, "servers": servers.result, "resources": resources.result}


def _in_rows(value: Any) -> Any:
    """A matrix of SciPy in its formats "dok", a dictionary, and "lil", lists in an array, by rows; that of a pair too."""
    if is_sparse_variants(value):
        return _in_rows(value[0]), value[1]
    return value.tocsr() if sp.issparse(value) and value.format in ("dok", "lil") else value


def _rows(value: Any, what: str, rows: _Names, columns: _Names) -> Any:
    if sp.issparse(value):
        return value if what == "demands" else value.toarray()
    if _is_table(value):
        return _cells(value, what, rows, columns)
    if isinstance(value, Mapping):
        found = list(value)
        value = [value[found[k]] for k in rows.order(found, what)]
    if isinstance(value, np.ndarray) or not is_vector(value):
        return value
    named = [_named(entry) for entry in value]
    if not any(named):
        return value
    columns.gather(chain.from_iterable(named), what)
    one = "the demand" if what == "demands" else "the capacity"
    return [_vectors(entry, f"{one} of {rows.label(k)}", columns) if named[k] else entry for k, entry in enumerate(value)]


def _named(entry: Any) -> list[Any]:
    """The dictionaries and Series of one demand or capacity: itself, or those of its variants."""
    if _has_names(entry):
        return [entry]
    return [part for part in entry if _has_names(part)] if isinstance(entry, Sequence) and not isinstance(entry, str) else []


def _vectors(value: Any, what: str, columns: _Names) -> Any:
    """One demand or capacity: a vector, or a list of them."""
    if _has_names(value):
        return _complete(value, what, columns)
    return [_complete(part, what, columns) if _has_names(part) else part for part in value] if _named(value) else value


def _complete(value: Any, what: str, names: _Names) -> list[Any]:
    """A dictionary that has an entry for every name, in their order."""
    entries, known = _entries(value), names.names or []
    if _unnamed(entries):
        return list(entries.values())
    for name in [name for name in entries if name not in known][:1]:
        rule = f"{what} names it, but the {names.kind}s are {listed(known)} in {names.source}"
        raise InstanceError(no_such(names.kind, name, known, rule))
    if missing := [name for name in known if name not in entries]:
        raise InstanceError(f"{what} leaves out {listed(missing)}, but it must give every {names.kind}: {listed(known)}")
    return [entries[name] for name in known]


def _partial(value: Any, what: str, names: _Names, default: Any) -> Any:
    """A dictionary that has entries for some of the names; the others have the default."""
    if not _has_names(value):
        return value
    entries = _entries(value)
    if _unnamed(entries):
        return list(entries.values())
    known = names.names or list(entries)
    if set(entries) - set(known):
        raise names.other_names(list(entries), what)
    return [entries.get(name, default) for name in known]


def _entries(value: Any) -> dict[Any, Any]:
    """What a dictionary or a Series gives, by name."""
    if isinstance(value, Mapping):
        return dict(value)
    found = list(value.index)
    if len(set(found)) < len(found):
        raise InstanceError(f"a Series has the name {shown(next(k for k in found if found.count(k) > 1))} twice")
    return dict(zip(found, value.to_numpy(), strict=True))


def _unnamed(entries: Collection[Any]) -> bool:
    """Whether the names are the positions 0, 1, 2, .., of at least one."""
    return bool(entries) and list(entries) == list(range(len(entries)))


def _eligible(value: Any, users: _Names, servers: _Names) -> Any:
    if _is_table(value):
        return _cells(value, "eligible", users, servers)
    if not isinstance(value, Mapping) or servers.names is None:
        return value
    place, known = Places(servers.names, "server"), servers.names
    rows = [_allowed(chosen, users.label(k), servers, place) for k, chosen in enumerate(_partial(value, "eligible", users, None))]
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    return allowed_pairs((len(rows), len(known)), owner, np.fromiter(chain.from_iterable(rows), dtype=int))


def _rates(value: Any, users: _Names, servers: _Names) -> Any:
    if _is_table(value):
        return _cells(value, "rates", users, servers)
    value, ones = _partial(value, "rates", users, None), [1] * len(servers.names or ())
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    return [_partial(ones if row is None else row, f"rates of {users.label(k)}", servers, 0) for k, row in enumerate(value)]


def _allowed(chosen: Any, user: str, servers: _Names, place: Places) -> Sequence[int]:
    """The positions of the servers that one user may use."""
    known = servers.names or []
    if chosen is None:
        return range(len(known))
    if _has_names(chosen):
        given = zip(_complete(chosen, f"eligible of {user}", servers), known, strict=True)
        return [k for k, (value, server) in enumerate(given) if truth(value, user, server)]
    several = hasattr(chosen, "__iter__") and not isinstance(chosen, str | bytes)
    require(several, f"eligible of {user} is", chosen, "it must be a list of servers or None")
    chosen = list(chosen)
    for name in [name for name in chosen if not isinstance(name, str)][:1]:
        raise InstanceError(no_such("server", name, known, f"the servers are {listed(known)}"))
    return list(map(place, chosen))


def _has_names(value: Any) -> bool:
    """Whether it is a dictionary or a Series."""
    return isinstance(value, Mapping) or (hasattr(value, "to_numpy") and hasattr(value, "index"))


def _is_table(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("index", "columns", "to_numpy"))


def _cells(table: Any, what: str, rows: _Names, columns: _Names) -> Any:
    """(rows x columns) array of a table in the order of the names."""
    across = rows.order(list(table.index), what)
    return table.to_numpy()[np.ix_(across, columns.order(list(table.columns), what))]
