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
from fairalloc.models.errors import InstanceError, no_such, require
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
    here, there = csv_table(users, separator=""), csv_table(servers, separator="")
    for table in (here, there):
        require("" not in table.columns, f"the heads of {table.path} are", [*table.columns], "none may be empty")
    (naming, *heads), (named, *columns) = there.columns, here.columns
    resources = [column for column in heads if column not in OF_SERVERS]
    require(resources, f"the columns of {there.path} are", heads, "there must be one for each resource")
    for column in [column for column in resources if column in OF_USERS][:1]:
        raise InstanceError(f"{there.path} has the resource {column!r}, but in the table of users this column is no resource")
    _check_columns(here.path, columns, resources)
    row: dict[str, int] = {}
    for k, one in enumerate(there.columns[naming]):
        require(row.setdefault(one, k) == k, f"line {there.lines[k]} of {there.path} names", one, "a server has one row")
    grouped: dict[str, list[int]] = {}
    for k, user in enumerate(here.columns[named]):
        grouped.setdefault(user, []).append(k)
    settings = {user: {what: _setting(here, rows, what) for what in OF_USERS} for user, rows in grouped.items()}
    return Instance(
        {user: [[here.columns[r][k] for r in resources] for k in rows] for user, rows in grouped.items()},
        {one: [there.columns[r][k] for r in resources] for one, k in row.items()},
        weights=_given(settings, "weight"),
        max_tasks=_given(settings, "max_tasks"),
        min_tasks=_given(settings, "min_tasks"),
        counts={one: count for one, count in zip(row, there.columns.get("count", ()), strict=False) if count} or None,
        eligible={user: own["eligible"].split(";") if own["eligible"] else None for user, own in settings.items()},
        name=name or Path(users).stem,
        resources=resources,
    )


def _given(settings: Mapping[str, Mapping[str, str]], what: str) -> dict[str, Any] | None:
    return {user: own[what] for user, own in settings.items() if own[what]} or None


def _setting(table: CsvTable, rows: Sequence[int], what: str) -> str:
    """What the rows of a user say of it: once, or the same in each."""
    told = {k: text for k in rows if (text := table.columns[what][k])} if what in table.columns else {}
    for k, text in told.items():
        require(text == next(iter(told.values())), f"line {table.lines[k]} of {table.path} gives {what}", text, "a user has one")
    return ";".join(part.strip() for part in next(iter(told.values()), "").split(";"))


def _check_columns(users: Path, columns: Sequence[str], resources: Sequence[str]) -> None:
    """Every resource has its column, and every column is known."""
    for column in [column for column in columns if column not in (*resources, *OF_USERS)][:1]:
        known = f"it has {', '.join(resources)} as the servers, and may have {', '.join(OF_USERS)}"
        raise InstanceError(f"in {users} " + no_such("column", column, [*resources, *OF_USERS], known))
    for column in [column for column in resources if column not in columns][:1]:
        raise InstanceError(f"{users} has no column {column!r}, but it must have one for each resource of the servers")
