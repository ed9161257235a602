"""A file of records in SQLite, only ever added to: benchmarks, theorems and experiments say what its tables are.

A row is committed as soon as it is added, so a kill loses what was being computed at most. WAL, which lets others read meanwhile,
lasts from the first write until the last process closes the file: then it can be read where nothing can be written.
"""

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from fairalloc.models.errors import InstanceError, shown

T = TypeVar("T")

_TABLE_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def only_added(table: str) -> str:
    """SQL, for `tables`, by which rows of a table can be neither changed nor removed."""
    refused = "BEGIN SELECT RAISE(ABORT, 'records are only added'); END"
    commands = (("no_update", "UPDATE"), ("no_delete", "DELETE"))
    return "\n".join(f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {what} ON {table} {refused};" for name, what in commands)


class RecordStore:
    """A file of records, made if it is not there; close it, or use it in a `with` statement.

    A subclass says what the file is called in sentences (`kind`, `contents`), the number of its `layout`, its `tables` as SQL
    that may run twice, and which `error` tells of a file that cannot be used.
    The path ":memory:" stands for no file. `error` is raised where the file cannot be opened, is damaged, has another layout, or
    is a database of something else.
    """

    kind: ClassVar[str]
    contents: ClassVar[str]
    layout: ClassVar[int]
    tables: ClassVar[str]
    error: ClassVar[type[InstanceError]] = InstanceError

    def __init__(self, path: str | Path) -> None:
        self.path = path
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise self._unusable(error) from None
        try:
            self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        ((layout,),) = self.select("PRAGMA user_version")
        found, own = {name for (name,) in self.select(_TABLE_NAMES)}, set(re.findall(r"TABLE IF NOT EXISTS (\w+)", self.tables))
        if layout not in (0, self.layout) and not (found and found.isdisjoint(own)):
            has = f"{self.path} has {self.contents} of layout {layout}"
            raise self.error(f"{has}, but this version writes {self.layout}: choose another file")
        if found and found != own:
            raise self.error(f"{self.path} is no {self.kind}, but a database with the tables {', '.join(sorted(found))}")
        self.select("PRAGMA synchronous = NORMAL")
        if not found:
            try:
                self._db.executescript(f"BEGIN; {self.tables} PRAGMA user_version = {self.layout}; COMMIT")
            except sqlite3.Error as error:
                raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> InstanceError:
        return self.error(f"{self.path} cannot be used as a {self.kind}: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(sqlite3.Error):  # others use the file, or it cannot be written
            self._db.executescript("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE")
        self._db.close()

    def select(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        try:
            return self._db.execute(query, values).fetchall()
        except (sqlite3.Error, UnicodeError) as error:  # a message may quote what is damaged
            raise self._unusable(error) from None

    def parsed(self, read: Callable[[Any], T], row: Any) -> T:
        """What a function makes of a row; an error of this file where it holds something else."""
        try:
            return read(row)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise self.error(f"{self.path} has a row that is no record, {shown(row)}: {error}") from None

    def insert(self, table: str, row: Mapping[str, Any], *, replace: bool = False) -> int:
        """Add a row, values by column, and return its number; one with the same key stays, unless it is to be replaced."""
        columns, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
        verb = "REPLACE" if replace else "IGNORE"
        return self.write(f"INSERT OR {verb} INTO {table} ({columns}) VALUES ({marks})", list(row.values()))

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement that changes the file, commit it, and return the number of the row that was added last."""
        with contextlib.suppress(sqlite3.Error):  # in a transaction, or while another process does it
            self._db.execute("PRAGMA journal_mode = WAL")
        try:
            return int(self._db.execute(statement, values).lastrowid or 0)
        except sqlite3.Error as error:
            raise self.error(f"{self.path}: nothing can be kept in the {self.kind}: {error}") from None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written inside is committed together, or not at all."""
        self.write("BEGIN")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        self.write("COMMIT")
