"""Records of benchmarks: one row for each solve, only ever added to.

The primary key is a hash of everything that was asked and of the environment in which it ran. So a run that was stopped goes on
where it was, and a solve with another version or on another machine has a row of its own. A row is committed before the
next solve starts: a kill loses the solve that is running, at most.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from typing import Any

from fairalloc.benchmarks.suites.suite import BenchmarkError
from fairalloc.runs.store import RecordStore
from fairalloc.solvers.options import Accuracy

__all__ = ["BenchmarkStore", "Job", "Record"]


@dataclass(frozen=True)
class Job:
    """What is asked, all of which makes the key: `fingerprint` of the instance, `time_limit` in s, `environment` by id."""

    suite: str
    case: str
    fingerprint: str
    mechanism: str
    method: str
    accuracy: Accuracy
    time_limit: float
    memory_mb: int
    repeat: int
    environment: str

    @cached_property
    def key(self) -> str:
        """Hash of the job, the primary key of its row."""
        asked = [getattr(self, field.name) for field in fields(Job)]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]

    @property
    def deadline(self) -> float:
        """Seconds after which a solve is ended from outside: the time limit and some grace to stop by itself."""
        return 1.0 + 1.1 * self.time_limit


@dataclass(frozen=True)
class Record(Job):
    """A job and what came of it.

    Attributes
    ----------
    started : UTC time
    tolerance : the residual that the accuracy promises
    termination : why the method stopped; "memory" and "error" also where its process was ended
    claims : whether the method says it solved the case
    feasibility, definition : residuals computed from the instance; inf where there is no point
    build, compile, solve, read, wall : seconds; wall is around the call
    peak_mb : largest resident memory of the process; 0 where it did not live to tell
    iterations, message, versions : as reported by the method
    """

    started: str
    tolerance: float
    termination: str
    claims: bool = False
    feasibility: float = math.inf
    definition: float = math.inf
    build: float = 0.0
    compile: float = 0.0
    solve: float = 0.0
    read: float = 0.0
    wall: float = 0.0
    peak_mb: float = 0.0
    iterations: int | None = None
    message: str = ""
    versions: str = ""

    @property
    def residual(self) -> float:
        """The larger residual: what decides."""
        return max(self.feasibility, self.definition)

    @property
    def total(self) -> float:
        """Seconds of all four phases."""
        return self.build + self.compile + self.solve + self.read


_COLUMNS = [field.name for field in fields(Record)]
_QUOTED = ", ".join(f'"{name}"' for name in _COLUMNS)


class BenchmarkStore(RecordStore):
    """A records file, made if it is not there; close it, or use it in a `with` statement."""

    kind, contents, layout, error = "records file", "records", 1, BenchmarkError
    tables = f"""
CREATE TABLE IF NOT EXISTS environment (id TEXT PRIMARY KEY, details TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, {_QUOTED}, FOREIGN KEY (environment) REFERENCES environment (id));
CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON record BEGIN SELECT RAISE(ABORT, 'records are only added'); END;
CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'records are only added'); END;
"""

    def add_environment(self, identity: str, details: Mapping[str, Any]) -> None:
        """Remember an environment; the same id again changes nothing."""
        self.insert("environment", {"id": identity, "details": json.dumps(details, sort_keys=True)})

    def add(self, record: Record) -> None:
        """Append one row and commit it; the first row of a key stays."""
        self.insert("record", {"key": record.key} | dict(zip(_COLUMNS, astuple(record), strict=True)))

    def keys(self) -> set[str]:
        """The keys of all rows."""
        return {key for (key,) in self.select("SELECT key FROM record")}

    def records(self) -> list[Record]:
        """All rows in the order they were added."""
        rows = self.select(f"SELECT {_QUOTED} FROM record ORDER BY rowid")
        return [_record(dict(zip(_COLUMNS, row, strict=True))) for row in rows]

    def environment(self, identity: str) -> dict[str, Any]:
        """What was written about an environment."""
        ((text,),) = self.select("SELECT details FROM environment WHERE id = ?", (identity,))
        details: dict[str, Any] = json.loads(text)
        return details


def _record(row: dict[str, Any]) -> Record:
    return Record(**row | {"claims": bool(row["claims"])})
