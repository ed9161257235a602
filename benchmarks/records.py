"""Records of benchmarks: one row for each solve, only ever added to.

The primary key is a hash of everything that was asked, of the code that was measured and of the machine. So a run that was
stopped goes on where it was, and an edit of one method leaves the records of the others valid. A row is committed before the next
solve starts: a kill loses the solves that are running, at most. A second table remembers the runs: what was asked, and which
rows belong to the answer.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from fairalloc.benchmarks.suites.suite import BenchmarkError
from fairalloc.models.arguments import kinds
from fairalloc.models.errors import shown
from fairalloc.models.numbers import worst
from fairalloc.runs.store import RecordStore, only_added

T = TypeVar("T")

SKIPPED = "skipped"
"""The termination of a method that was not asked, because it ran out of time or memory on a smaller case."""

UNDEFINED = ""
"""The method of a row that says why a case has no solves: it cannot be built, or its mechanism is not defined there."""


@dataclass(frozen=True)
class Job:
    """What is asked, all of which makes the key.

    `fingerprint` is of the instance; `method` is an id, UNDEFINED in a row about a case without solves; `accuracy` is a word or
    the residual as a text; a solve has `time_limit` seconds, `memory_mb` of address space and `threads`; `jobs` run at the same
    time, each on a core of its own; `code` is a hash of code, options and versions of method and mechanism (fingerprint.py), and
    says whether the iterations are kept.
    """

    suite: str
    case: str
    fingerprint: str
    mechanism: str
    method: str
    accuracy: str
    time_limit: float
    memory_mb: int
    repeat: int
    jobs: int
    threads: int
    code: str
    machine: str

    @cached_property
    def key(self) -> str:
        """Hash of the job, the primary key of its row."""
        asked = [getattr(self, field.name) for field in fields(Job)]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Record(Job):
    """A job and what came of it.

    Attributes
    ----------
    started : UTC time at which the solve was answered
    tolerance : the residual that the accuracy promises
    termination : why the method stopped; "memory" and "error" also where its process was ended; "undefined" in a row about a
        case, SKIPPED where it was not asked
    claims : whether the method says it solved the case, also where the user error is not known
    feasibility, definition : residuals computed from the instance; inf where there is no finite point
    user_error : the relative error of the tasks of the user that is off most; None where it is not known or these are not unique
    wall, cpu, call : seconds on the clock and of all processors, taken outside the method; of the whole call, judging included
    build, compile, solve, read : how the method itself splits its seconds
    peak_mb : largest resident memory of the process; 0 where it did not live to tell
    trace : [[seconds, residual], ..] of an iterative method, where the suite asks for it
    quantities : the numbers of the answer that are unique (references.py), [] where none are; exact where it is `rational`
    arcs : of the instance; 0 where it was not solved
    """

    started: str
    tolerance: float
    termination: str
    claims: bool = False
    feasibility: float = math.inf
    definition: float = math.inf
    user_error: float | None = None
    wall: float = 0.0
    cpu: float = 0.0
    build: float = 0.0
    compile: float = 0.0
    solve: float = 0.0
    read: float = 0.0
    call: float = 0.0
    peak_mb: float = 0.0
    iterations: int | None = None
    message: str = ""
    versions: str = ""
    trace: tuple[tuple[float, float], ...] = ()
    quantities: tuple[float, ...] = ()
    rational: bool = False
    arcs: int = 0

    @property
    def residual(self) -> float:
        """The larger residual: what decides; inf where one is not a number."""
        return worst([self.feasibility, self.definition])

    @property
    def phases(self) -> float:
        """Seconds of the four phases together, as the method reports them."""
        return self.build + self.compile + self.solve + self.read


@dataclass(frozen=True)
class RecordedRun:
    """One run: its number in the file, when it was started, its suite, what else is known of it, and the keys of its rows."""

    number: int
    started: str
    suite: str
    details: Mapping[str, Any]
    keys: tuple[str, ...]

    def unfinished(self, rows: int) -> list[str]:
        """A sentence where only so many of its rows are on record."""
        every = len(set(self.keys))
        lost = f"{every - rows:,} of its {every:,} rows {'is' if every - rows == 1 else 'are'} missing"
        return [f"the run is not finished: {lost}"] if rows < every else []


_COLUMNS = [field.name for field in fields(Record)]
_QUOTED = ", ".join(f'"{name}"' for name in _COLUMNS)
LISTS = ("trace", "quantities")  # which tables cannot show


class BenchmarkStore(RecordStore):
    """A records file, made if it is not there; close it, or use it in a `with` statement."""

    kind, contents, layout, error = "records file", "records", 5, BenchmarkError
    tables = f"""
CREATE TABLE IF NOT EXISTS plan (number INTEGER PRIMARY KEY, started, suite, details TEXT NOT NULL, keys TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, {_QUOTED});
{only_added("record")}
"""

    @classmethod
    def recorded(cls, path: str | Path) -> Self:
        """A file that is there; BenchmarkError where there is none, or an empty one, which would get tables."""
        if not Path(path).exists() or not Path(path).stat().st_size:
            raise BenchmarkError(f"there is no records file {path}: `fairalloc bench run SUITE` writes one")
        return cls(path)

    def add_run(self, started: str, suite: str, details: Mapping[str, Any], keys: Sequence[str]) -> None:
        """Remember what a run asks for, the keys of its rows and what the report says besides; once more where it is resumed."""
        texts = {"details": json.dumps(details, sort_keys=True), "keys": json.dumps(list(keys))}
        self.insert("plan", {"started": started, "suite": suite, **texts})

    def runs(self) -> list[RecordedRun]:
        """All runs, oldest first."""
        rows = self.select("SELECT number, started, suite, details, keys FROM plan ORDER BY number")
        return [self.parsed(_run, row) for row in rows]

    def add(self, record: Record) -> None:
        """Append one row and commit it; the first row of a key stays."""
        row = dict(zip(_COLUMNS, astuple(record), strict=True))
        self.insert("record", {"key": record.key} | row | {name: json.dumps(row[name]) for name in LISTS})

    def keys(self) -> set[str]:
        """The keys of all rows."""
        return {key for (key,) in self.select("SELECT key FROM record")}

    def records(self) -> list[Record]:
        """All rows in the order they were added."""
        rows = self.select(f"SELECT {_QUOTED}, key FROM record ORDER BY rowid")
        return [self.parsed(_record, row) for row in rows]


def _run(row: tuple[Any, ...]) -> RecordedRun:
    number, started, suite, text, keys = row
    details = json.loads(text, object_pairs_hook=Details)
    for part in _parts(details):
        if not isinstance(part, dict):
            raise TypeError(f"a part of its details is {shown(part)}")
        for name, value in part.items():
            if not isinstance(value, KINDS.get(name, object)):
                raise TypeError(f"{name} is {shown(value)}")
    return fitting(RecordedRun(number, started, suite, details, tuple(json.loads(keys))))


class Details(dict[str, Any]):
    """What a run keeps of itself; a part that a report needs and the file lacks is one sentence."""

    def __missing__(self, name: str) -> Any:
        raise BenchmarkError(f"the records have a run without {shown(name)} in its details")


KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("machine", "packages", "methods", "setting", "cases", "asked"), dict),
    **dict.fromkeys(("fairalloc", "python", "place", "words", "cpu", "system", "node", "kind", "about", "missing"), str),
    "family": str,
    "time_limit": (int, float),
    **dict.fromkeys(("memory_mb", "jobs", "threads"), int),
    **dict.fromkeys(("accuracies", "idle", "printed"), list),
    "load": (int, float, type(None)),
}
"""What the parts of the details are, where names are not those of methods and cases."""


def _parts(details: Any) -> Iterator[Any]:
    """The details, and the objects in them whose names are known."""
    yield details
    yield from (details.get(name, {}) for name in ("machine", "setting"))
    yield from (*details.get("methods", {}).values(), *details.get("cases", {}).values())
    yield from ({"accuracies": listed} for listed in details.get("asked", {}).values())  # all of these are lists


def fitting(item: T) -> T:
    """The item, whose fields must be of their kinds; times and sizes are not below 0."""
    for name, rule in (RECORD if isinstance(item, Record) else RUN).items():
        value = getattr(item, name)
        if not rule.fits(value) or (isinstance(value, int | float) and not isinstance(value, bool) and value < 0):
            raise TypeError(f"{name} is {shown(value)}, but it must be {rule.words}, not below 0")
    return item


RECORD, RUN = kinds(Record), kinds(RecordedRun)


def _record(values: tuple[Any, ...]) -> Record:
    row = dict(zip(_COLUMNS, values[:-1], strict=True))
    flags = {name: bool(row[name]) for name in ("claims", "rational")}
    unknown = {name: math.nan for name in ("feasibility", "definition") if row[name] is None}  # SQLite has no other word for it
    trace = tuple((float(at), float(residual)) for at, residual in json.loads(row["trace"]))
    record = Record(**row | flags | unknown | {"trace": trace, "quantities": tuple(map(float, json.loads(row["quantities"])))})
    fitting(replace(record, feasibility=0.0, definition=0.0) if unknown else record)
    if record.key != values[-1]:  # such a row would be missing, and not be measured again
        raise ValueError("its key is that of another job")
    return record
