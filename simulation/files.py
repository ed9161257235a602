"""Workloads and machines of one's own from files, and what reads parquet.

Jobs stand one a row in a .csv, .csv.gz or .parquet file with the columns

| column | what it holds |
| --- | --- |
| `user` | whose job it is, a name |
| `arrival` | seconds from the start, not negative |
| `tasks` | how many equal tasks the job has, a positive integer |
| `duration` | seconds that each task runs, positive |
| `weight` | of the user, positive, the same in all its rows; may be missing: 1 |
| `leave` | seconds at which the user goes, the same in all its rows; may be missing: never |
| any other name | what a task takes of the resource of this name, in the unit of the machines |

Machines stand one class a row: `class` (a name; may be missing), `count` (may be missing: 1), and a column for each resource.

A file of the Parallel Workloads Archive (.swf, .swf.gz: the Standard Workload Format) has both. Each processor of a job is a task
of 1 `cpu` that runs for the job's run time; some of them may start before others. Those that never ran, or without
processors, are left out. MaxNodes and MaxProcs of the header are the machines.
"""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError, NotInstalled
from fairalloc.models.files.trace_files import csv_table
from fairalloc.simulation.workload import OF_USERS, Cluster, DescribedWorkload, Workload

__all__ = ["ENDINGS", "is_file", "parquet_table", "pyarrow", "read_cluster", "read_table", "read_workload"]

ENDINGS = (".csv", ".parquet", ".swf")
"""Of files of jobs; .gz may follow .csv and .swf."""

SUBMIT, RUN, USED, ASKED, USER = 1, 3, 4, 7, 11
"""Fields of the Standard Workload Format: seconds of submission and of running, processors, processors asked, user."""


def is_file(name: str) -> bool:
    """Whether the name of a workload is that of a file."""
    return name.removesuffix(".gz").endswith(ENDINGS)


def read_workload(path: str | Path) -> DescribedWorkload:
    """The jobs of a file, and its machines where it has them, else None; the kind of the file is told by its ending.

    InstanceError is raised where the file cannot be read or a value breaks a rule, NotInstalled where parquet needs pyarrow.
    """
    if str(path).removesuffix(".gz").endswith(".swf"):
        return _swf(Path(path))
    return DescribedWorkload(Workload.from_columns(read_table(path, ("user",), OF_USERS)), None, f"the jobs of {path}", "")


def read_cluster(path: str | Path) -> Cluster:
    """The machines of a .csv, .csv.gz or .parquet file."""
    table = read_table(path, ("class",))
    resources = [name for name in table if name not in ("class", "count")]
    if not resources:
        raise InstanceError(f"{path} has no column of a resource")
    names = [str(name) for name in table["class"]] if "class" in table else ()
    return Cluster(resources, np.column_stack([table[name] for name in resources]), table.get("count"), names)  # type: ignore[arg-type]


def read_table(path: str | Path, words: Sequence[str], missing: Mapping[str, float] | None = None) -> dict[str, NDArray[Any]]:
    """All columns of a .csv, .csv.gz or .parquet file; numbers but for some that are words.

    Parameters
    ----------
    path : of the file
    words : columns that are no numbers
    missing : columns where an empty field stands for a number -> this number
    """
    ending = "".join(Path(path).suffixes[-2:]) if str(path).endswith(".gz") else Path(path).suffix
    if ending == ".parquet":
        found = parquet_table(Path(path))
        return {name: found[name].to_numpy() for name in found.column_names}
    if ending not in (".csv", ".csv.gz"):
        raise InstanceError(f"the file of a workload is {str(path)!r}, but its name must end in {', '.join(ENDINGS)}")
    table, result = csv_table(path), dict[str, NDArray[Any]]()
    for name, texts in table.columns.items():
        if name in words:
            result[name] = np.array(texts, dtype=object)
        else:
            values = table.numbers(name, missing=name in (missing or {}))
            result[name] = np.where(np.isnan(values), (missing or {}).get(name, np.nan), values)
    return result


def parquet_table(path: Path) -> Any:
    """A whole parquet file as a table of pyarrow."""
    found = pyarrow()
    try:
        with path.open("rb") as file:
            return found.parquet.read_table(file)
    except (OSError, found.ArrowException) as error:
        reason = getattr(error, "strerror", None) or "it is not a whole parquet file"
        raise InstanceError(f"{path} cannot be read: {reason}") from None


def pyarrow() -> Any:
    """The package of parquet files; NotInstalled where it is missing."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise NotInstalled('parquet files need pyarrow: pip install "fairalloc[traces]"') from None
    return pyarrow


def _swf(path: Path) -> DescribedWorkload:
    """A file in the Standard Workload Format."""
    header, rows = dict[str, str](), []
    for number, line in enumerate(_lines(path), 1):
        name, colon, value = line.lstrip("; ").partition(":")
        if line.startswith(";"):
            header |= {name.strip(): value.strip()} if colon else {}
        elif line:
            rows.append(_fields(line, number, path))
    if not rows:
        raise InstanceError(f"{path} has no jobs")
    table = np.array(rows)
    processors = np.where(table[:, USED] > 0, table[:, USED], table[:, ASKED])
    ran, wide = table[:, RUN] > 0, processors > 0
    left_out = {"jobs that never ran": int((~ran).sum()), "jobs without processors": int((ran & ~wide).sum())}
    table, processors = table[ran & wide], processors[ran & wide]
    columns: dict[str, Any] = {
        "user": [f"user-{code:g}" for code in table[:, USER]],
        "arrival": np.maximum(table[:, SUBMIT], 0.0),
    }
    columns |= {"tasks": processors, "duration": table[:, RUN], "cpu": np.ones(len(table))}
    made = "each processor of a job is a task of its own"
    return DescribedWorkload(
        Workload.from_columns(columns, ["cpu"]), _machines(header, path), f"the jobs of {path}", made, left_out
    )


def _machines(header: Mapping[str, str], path: Path) -> Cluster | None:
    """MaxNodes machines with MaxProcs processors together; None where the header does not tell."""
    told = [header.get(name, "").split(" ")[0] for name in ("MaxNodes", "MaxProcs")]
    if not told[1]:
        return None
    nodes, processors = (int(text) if text.isdigit() else 0 for text in (told[0] or told[1], told[1]))
    if not 0 < nodes <= processors:
        raise InstanceError(
            f"MaxNodes and MaxProcs of {path} are {told[0]!r} and {told[1]!r}, but they must be positive, nodes fewer"
        )
    whole, more = divmod(processors, nodes)
    sizes = [(whole + 1, more), (whole, nodes - more)] if more else [(whole, nodes)]
    return Cluster(["cpu"], [[size] for size, _ in sizes], [count for _, count in sizes])  # type: ignore[arg-type]


def _lines(path: Path) -> list[str]:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file]
    except (OSError, EOFError, zlib.error) as error:
        raise InstanceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _fields(line: str, number: int, path: Path) -> list[float]:
    """The 18 numbers of a job."""
    fields = line.split()
    if len(fields) != 18:
        raise InstanceError(f"line {number} of {path} has {len(fields)} fields, but a job of the Standard Workload Format has 18")
    try:
        return [float(field) for field in fields]
    except ValueError:
        raise InstanceError(f"line {number} of {path} is {line!r}, but its fields must be numbers") from None
