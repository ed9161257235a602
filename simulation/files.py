"""Workloads and machines of one's own from files.

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
of 1 `cpu` that runs for the job's run time; some of them may start before others. Processors asked for count where those used
are unknown. Jobs without a positive run time, without processors or never submitted are left out. MaxNodes and MaxProcs of the
header are the machines.
"""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, require
from fairalloc.models.files.trace_files import csv_table, parquet_table
from fairalloc.simulation.workload import OF_USERS, Cluster, DescribedWorkload, Workload, numbers, words

ENDINGS = (".csv", ".parquet", ".swf")
"""Of files of jobs; .gz may follow .csv and .swf."""

FIELDS, SUBMIT, RUN, USED, ASKED, USER = 18, 1, 3, 4, 7, 11
"""Of the Standard Workload Format: how many, and seconds of submission and of running, processors, processors asked, user."""


@checked
def is_file(name: str) -> bool:
    """Whether the name of a workload is that of a file."""
    return name.removesuffix(".gz").endswith(ENDINGS)


@checked
def read_workload(path: str | Path) -> DescribedWorkload:
    """The jobs of a file, and its machines where it has them, else None; the kind of the file is told by its ending.

    InstanceError is raised where the file cannot be read or a value breaks a rule, NotInstalled where parquet needs pyarrow.
    """
    if str(path).removesuffix(".gz").endswith(".swf"):
        return _swf(Path(path))
    return DescribedWorkload(Workload.from_columns(read_table(path, ("user",), OF_USERS)), None, f"the jobs of {path}", "")


@checked
def read_cluster(path: str | Path) -> Cluster:
    """The machines of a .csv, .csv.gz or .parquet file."""
    table = read_table(path, ("class",), {})
    resources = [name for name in table if name not in ("class", "count")]
    require(resources, f"the columns of {path} are", [*table], "there must be one for each resource")
    names = words(table["class"], "class").tolist() if "class" in table else ()
    capacities = np.column_stack([numbers(table[name], name, 1) for name in resources])
    return Cluster(resources, capacities, table.get("count"), names)  # type: ignore[arg-type]


@checked
def read_table(path: str | Path, texts: Sequence[str], missing: Mapping[str, float]) -> dict[str, NDArray[Any]]:
    """All columns of a .csv, .csv.gz or .parquet file, numbers but for `texts`; `missing` has what empty fields stand for."""
    ending = "".join(Path(path).suffixes[-2:]) if str(path).endswith(".gz") else Path(path).suffix
    if ending == ".parquet":
        found = parquet_table(path)
        given = {name: found[name].to_pylist() for name in found.column_names if name in missing}
        filled = {name: [missing[name] if value is None else value for value in values] for name, values in given.items()}
        return {n: np.array(filled[n], dtype=object) if n in filled else found[n].to_numpy() for n in found.column_names}
    if ending not in (".csv", ".csv.gz"):
        raise InstanceError(f"the file of a workload is {str(path)!r}, but its name must end in {', '.join(ENDINGS)}")
    table, result = csv_table(path), dict[str, NDArray[Any]]()
    for name, fields in table.columns.items():
        values = np.array(fields, dtype=object) if name in texts else table.numbers(name, missing=name in missing)
        result[name] = np.where(np.isnan(values), missing[name], values) if name in missing else values
    return result


def _swf(path: Path) -> DescribedWorkload:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", errors="replace") as file:
            lines = [line.strip() for line in file]
        rows = [line for line in lines if line and not line.startswith(";")]
        table = np.loadtxt(rows, ndmin=2, comments=None) if rows else np.zeros((0, FIELDS))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise InstanceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if table.shape[1] != FIELDS or not len(table) or not np.isfinite(table).all():
        found = f"{len(table)} jobs of {table.shape[1]} fields"
        raise InstanceError(f"{path} has {found}, but it must have jobs, of {FIELDS} finite numbers each")
    told = (line.lstrip("; ").partition(":") for line in lines if line.startswith(";"))
    header = {name.strip(): value.strip() for name, _, value in told}
    processors = np.where(table[:, USED] > 0, table[:, USED], table[:, ASKED])
    lack = {"of no run time": table[:, RUN] <= 0, "without processors": processors <= 0, "never submitted": table[:, SUBMIT] < 0}
    first = np.select([*lack.values()], range(len(lack)), len(lack))  # the reason of each job, the last for none
    left_out = {f"jobs {why}": int((first == k).sum()) for k, why in enumerate(lack)}
    table, processors = table[first == len(lack)], processors[first == len(lack)]
    users = [f"user-{code:.17g}" for code in table[:, USER]]
    columns: dict[str, Any] = {"user": users, "arrival": table[:, SUBMIT], "tasks": processors, "duration": table[:, RUN]}
    jobs, made = Workload.from_columns(columns | {"cpu": np.ones(len(table))}), "each processor of a job is a task of its own"
    return DescribedWorkload(jobs, _machines(header, path), f"the jobs of {path}", made, left_out)


def _machines(header: Mapping[str, str], path: Path) -> Cluster | None:
    """MaxNodes machines with MaxProcs processors together; None where the header does not tell."""
    told = tuple(header.get(name, "").split(" ")[0] for name in ("MaxNodes", "MaxProcs"))
    if not told[1]:
        return None
    nodes, processors = (int(text) if text.isdecimal() and len(text) < 20 else 0 for text in (told[0] or told[1], told[1]))
    require(0 < nodes <= processors, f"MaxNodes and MaxProcs of {path} are", told, "they must be positive, the first no larger")
    whole, more = divmod(processors, nodes)
    sizes = [(whole + 1, more), (whole, nodes - more)] if more else [(whole, nodes)]
    return Cluster(["cpu"], [[size] for size, _ in sizes], [count for _, count in sizes])  # type: ignore[arg-type]
