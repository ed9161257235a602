"""An instance in two tables of CSV: one of users, one of servers (docs/guides/instance.md has an example).

1. The first column names the users or servers. The other columns of servers but "count" are the resources, in their order.
2. Users have a column for every resource, and may have "weight", "max_tasks", "min_tasks", "eligible" (servers, by ";").
3. A user with several ways to run a task has a row for each. What is empty has its default, but demands and capacities have none.
4. Numbers are read as the decimals they show. Columns are separated by commas, semicolons or tabs, as in the first line.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, no_such, require
from fairalloc.models.files.jsonio import read_text
from fairalloc.models.instance import Instance

OF_SERVERS, OF_USERS = ("count",), ("weight", "max_tasks", "min_tasks", "eligible")
"""The columns that are no resources."""


@dataclass(frozen=True)
class _Table:
    """A file's rows as {column: text}, each with its line; `names` has the first column."""

    file: str
    columns: Sequence[str]
    names: Sequence[str]
    rows: Sequence[Mapping[str, str]]
    lines: Sequence[int]


@checked
def read_csv(users: str | Path, servers: str | Path, name: str = "") -> Instance:
    """The instance in two tables of CSV.

    Parameters
    ----------
    users : a file with a row for each user: its name, a column for each resource, and if wanted "weight", "max_tasks",
        "min_tasks" and "eligible" (names of servers, separated by ";"). A user with several ways to run a task has several rows
    servers : a file with a row for each server: its name, a column for each resource, and if wanted "count"
    name : of the instance; "" = that of the users' file

    Raises
    ------
    InstanceError : one sentence with the file, the line or the name, and the rule
    """
    here, there = _table(users, "user"), _table(servers, "server")
    resources = [column for column in there.columns if column not in OF_SERVERS]
    require(resources, f"the columns of {there.file} are", list(there.columns), "there must be one for each resource")
    for column in [column for column in resources if column in OF_USERS][:1]:
        raise InstanceError(f"{there.file} has the resource {column!r}, but in the table of users this column is no resource")
    _check_columns(here, resources)
    known: set[str] = set()
    for line, one in zip(there.lines, there.names, strict=True):
        require(one not in known, f"line {line} of {there.file} names", one, "a server has one row")
        known.add(one)
    grouped: dict[str, list[int]] = {}
    for k, user in enumerate(here.names):
        grouped.setdefault(user, []).append(k)
    settings = {user: {what: _setting(here, rows, what) for what in OF_USERS} for user, rows in grouped.items()}
    return Instance(
        {user: [[here.rows[k][r] for r in resources] for k in rows] for user, rows in grouped.items()},
        {one: [row[r] for r in resources] for one, row in zip(there.names, there.rows, strict=True)},
        weights=_given(settings, "weight"),
        max_tasks=_given(settings, "max_tasks"),
        min_tasks=_given(settings, "min_tasks"),
        counts={one: row["count"] for one, row in zip(there.names, there.rows, strict=True) if row.get("count")} or None,
        eligible={user: own["eligible"].split(";") if own["eligible"] else None for user, own in settings.items()},
        name=name or Path(users).stem,
        resources=resources,
    )


def _given(settings: Mapping[str, Mapping[str, str]], what: str) -> dict[str, Any] | None:
    return {user: own[what] for user, own in settings.items() if own[what]} or None


def _setting(table: _Table, rows: Sequence[int], what: str) -> str:
    """What the rows of a user say of it: once, or the same in each."""
    told = {k: table.rows[k].get(what, "") for k in rows if table.rows[k].get(what)}
    for k, text in told.items():
        require(text == next(iter(told.values())), f"line {table.lines[k]} of {table.file} gives {what}", text, "a user has one")
    return ";".join(part.strip() for part in next(iter(told.values()), "").split(";"))


def _check_columns(users: _Table, resources: Sequence[str]) -> None:
    """Every resource has its column, and every column is known."""
    for column in [column for column in users.columns if column not in (*resources, *OF_USERS)][:1]:
        known = f"it has {', '.join(resources)} as the servers, and may have {', '.join(OF_USERS)}"
        raise InstanceError(f"in {users.file} " + no_such("column", column, [*resources, *OF_USERS], known))
    for column in [column for column in resources if column not in users.columns][:1]:
        raise InstanceError(f"{users.file} has no column {column!r}, but it must have one for each resource of the servers")


def _table(path: str | Path, kind: str) -> _Table:
    """The rows of a file whose first line has the heads."""
    file = str(path)
    text = read_text(path)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    heads, found = [], []
    try:
        heads = [head.strip() for head in next(reader, [])]
        found = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise InstanceError(f"{file} is not CSV: {error} in line {reader.line_num}") from None
    require(found, f"the rows of {file} are", found, f"there must be a line of heads and a row for each {kind}")
    for head in [head for k, head in enumerate(heads) if not head or head in heads[:k]][:1]:
        raise InstanceError(f"a column of {file} has the head {head!r}, but each must have a head of its own")
    for line, row in found:
        if len(row) != len(heads):
            raise InstanceError(f"line {line} of {file} has {len(row)} cells, but there are {len(heads)} heads")
    rows = [dict(zip(heads[1:], row[1:], strict=True)) for _, row in found]
    return _Table(file, heads[1:], [row[0] for _, row in found], rows, [line for line, _ in found])
