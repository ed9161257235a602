"""An instance in two tables of CSV: one of users, one of servers (docs/guides/instance.md has an example).

1. The first column names the users or servers. The other columns of servers but "count" are the resources, in their order.
2. Users have a column for every resource, and may have "weight", "max_tasks", "min_tasks", "eligible" (servers, by ";").
3. A user with several ways to run a task has a row for each. What is empty has its default, but demands and capacities have none.
4. Numbers are read as the decimals they show. Columns are separated by commas, semicolons or tabs, as in the first line.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, no_such, require, shown
from fairalloc.models.files.trace_files import CsvTable, csv_table
from fairalloc.models.instance import Instance

OF_SERVERS, OF_USERS = ("count",), ("weight", "max_tasks", "min_tasks", "eligible")
"""The columns that are no resources."""


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
    user_table, server_table = csv_table(users, separator=""), csv_table(servers, separator="")
    for table in (user_table, server_table):
        require("" not in table.columns, f"the heads of {table.path} are", [*table.columns], "none may be empty")
    resources = _resources(server_table)
    _check_columns(user_table, resources)
    rows_of_user, rows_of_server = _rows_by_name(user_table), _rows_by_name(server_table)
    for server, rows in rows_of_server.items():
        for k in rows[1:2]:
            raise InstanceError(f"line {server_table.lines[k]} of {servers} names {shown(server)}, but a server has one row")
    settings = {user: {what: _setting(user_table, rows, what) for what in OF_USERS} for user, rows in rows_of_user.items()}
    counts = zip(rows_of_server, server_table.columns.get("count", ()), strict=False)
    return Instance(
        {user: [[user_table.columns[r][k] for r in resources] for k in rows] for user, rows in rows_of_user.items()},
        {server: [server_table.columns[r][k] for r in resources] for server, (k,) in rows_of_server.items()},
        weights=_given(settings, "weight"),
        max_tasks=_given(settings, "max_tasks"),
        min_tasks=_given(settings, "min_tasks"),
        counts={server: count for server, count in counts if count} or None,
        eligible={user: own["eligible"].split(";") if own["eligible"] else None for user, own in settings.items()},
        name=name or Path(users).stem,
        resources=resources,
    )


def _resources(servers: CsvTable) -> list[str]:
    """The columns of the servers that are resources: all but the names and the counts."""
    _, *heads = servers.columns
    resources = [column for column in heads if column not in OF_SERVERS]
    require(resources, f"the columns of {servers.path} are", heads, "there must be one for each resource")
    for column in [column for column in resources if column in OF_USERS][:1]:
        raise InstanceError(f"{servers.path} has the resource {column!r}, but in the table of users this column is no resource")
    return resources


def _rows_by_name(table: CsvTable) -> dict[str, list[int]]:
    result: dict[str, list[int]] = {}
    for k, name in enumerate(next(iter(table.columns.values()))):
        result.setdefault(name, []).append(k)
    return result


def _given(settings: Mapping[str, Mapping[str, str]], what: str) -> dict[str, Any] | None:
    return {user: own[what] for user, own in settings.items() if own[what]} or None


def _setting(table: CsvTable, rows: Sequence[int], what: str) -> str:
    """What the rows of a user say of it: once, or the same in each."""
    told = {k: text for k in rows if (text := table.columns[what][k])} if what in table.columns else {}
    for k, text in told.items():
        require(text == next(iter(told.values())), f"line {table.lines[k]} of {table.path} gives {what}", text, "a user has one")
    return ";".join(part.strip() for part in next(iter(told.values()), "").split(";"))


def _check_columns(users: CsvTable, resources: Sequence[str]) -> None:
    _, *columns = users.columns
    for column in [column for column in columns if column not in (*resources, *OF_USERS)][:1]:
        known = f"it has {', '.join(resources)} as the servers, and may have {', '.join(OF_USERS)}"
        raise InstanceError(f"in {users.path} " + no_such("column", column, [*resources, *OF_USERS], known))
    for column in [column for column in resources if column not in columns][:1]:
        raise InstanceError(f"{users.path} has no column {column!r}, but it must have one for each resource of the servers")
