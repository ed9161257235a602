"""Workloads from the official raw files: Google 2011 (task_events, machine_events) and Bitbrains (one file for each VM).

Google's files have no header; the fields are those of the format + schema document, in its order. Rows may stand in any order and
in several files. The Bitbrains files are read by models/examples/traces.py; their traps are handled here:

| trap | what is done |
| --- | --- |
| the header says ms, the times are Unix seconds | they are taken as seconds |
| a time repeats | its last row counts |
| cores are 0 while a VM is off | it is not active then, and its row does not count in peaks |
| weeks are missing | the VM is not active then |
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.errors import InstanceError, NotInstalled
from fairalloc.models.examples.traces import GOOGLE_TABLES, TEXT, read_bitbrains_raw
from fairalloc.models.numbers import Floats
from fairalloc.simulation.workload import Cluster, DescribedWorkload, Workload
from fairalloc.simulation.workloads.bitbrains import UNITS, vm_periods
from fairalloc.simulation.workloads.clusters import data_centre

__all__ = ["bitbrains_files", "google_files", "google_machines"]

SUBMIT, SCHEDULE = 0, 1
ENDS = (2, 3, 4, 5, 6)  # of tasks: evicted, failed, finished, killed, lost
REMOVE = 1  # of machines; 0 adds one, 2 updates one
NEVER = 2.0**63  # the mark 2**63 - 1 for after the end of the trace, as a float


def google_files(task_events: Sequence[str | Path], machine_events: Sequence[str | Path] = ()) -> DescribedWorkload:
    """The jobs of some parts of task_events; needs pyarrow (extra traces).

    A job arrives when its first task is submitted, has as many tasks as there are task indexes, each of which demands the mean
    request of the submissions and runs for the mean time from a task's first start to its last end; a task that has not ended
    runs until the last event of the files. Times are relative to the first event after time 0, the mark for before the window.

    The files are .csv or .csv.gz; without machine_events the workload has no cluster. InstanceError is raised where a file cannot
    be read, has another number of fields, or a time is negative; NotInstalled where pyarrow is not there.
    """
    wanted = ("time_us", "job_id", "task", "event_type", "user", "cpu_req", "mem_req")
    table = _joined(task_events, "task_events", wanted)
    time = table["time_us"] / 1e6
    inside = time[(time > 0) & (table["time_us"] < NEVER)]
    zero, last = (float(inside.min()), float(inside.max())) if len(inside) else (0.0, 1.0)
    time = np.clip(time, zero, last) - zero
    jobs, of = np.unique(table["job_id"], return_inverse=True)
    submitted = _least(of, np.where(table["event_type"] == SUBMIT, time, np.inf), len(jobs))
    arrival = np.where(np.isfinite(submitted), submitted, _least(of, time, len(jobs)))
    counts = (table["event_type"] == SUBMIT) | ~np.isfinite(submitted)[of]
    demand = np.column_stack([_mean(of[counts], table[name][counts], len(jobs)) for name in ("cpu_req", "mem_req")])
    tasks, duration = _runs(of, table["task"], time, table["event_type"], last - zero, len(jobs))
    users, user_of_row = np.unique(np.array([name or "" for name in table["user"]]), return_inverse=True)
    first = np.unique(of, return_index=True)[1]
    starts, asks = duration > 0, (np.nan_to_num(demand) > 0).any(axis=1)
    columns: tuple[Any, ...] = (user_of_row[first], arrival, tasks, duration, np.nan_to_num(demand))
    each = (column[starts & asks] for column in columns)
    workload = Workload(["cpu", "memory"], users.tolist(), np.ones(len(users)), *each)
    cluster = google_machines(machine_events) if machine_events else None
    left_out = {"jobs that request nothing": int((starts & ~asks).sum()), "jobs that never run": int((~starts).sum())}
    return DescribedWorkload(workload, cluster, f"{len(task_events)} files of task_events", "", left_out)


def google_machines(machine_events: Sequence[str | Path]) -> Cluster:
    """The machines that are there at the end of some parts of machine_events, by CPU and memory; needs pyarrow (extra traces).

    Machines without a CPU or memory capacity in their last row are left out.
    """
    table = _joined(machine_events, "machine_events", ("time_us", "machine_id", "event_type", "cpu", "memory"))
    order = np.argsort(table["time_us"], kind="stable")
    machine = table["machine_id"][order]
    last = order[len(order) - 1 - np.unique(machine[::-1], return_index=True)[1]]
    there = last[table["event_type"][last] != REMOVE]
    sizes = np.column_stack([table["cpu"][there], table["memory"][there]])
    kinds, counts = np.unique(sizes[np.isfinite(sizes).all(axis=1)], axis=0, return_counts=True)
    if len(kinds) == 0:
        raise InstanceError("the files of machine_events leave no machine with a CPU and a memory capacity")
    return Cluster(["cpu", "memory"], kinds, counts, [f"cpu{cpu:g}-mem{memory:g}" for cpu, memory in kinds])


def bitbrains_files(files: Sequence[str | Path], seed: int = 0, minutes: int = 60) -> DescribedWorkload:
    """VMs from original GWA-T-12 files, one for each VM, as jobs on the data centre of K Fig. 5 (see `bitbrains_day`).

    Parameters
    ----------
    files : .csv or .csv.gz; VM number k is file number k
    seed, minutes : as for `bitbrains_day`
    """
    demand, vm, when = [], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    repeated = off = 0
    for k, path in enumerate(files):
        table = read_bitbrains_raw(path)
        _check_times(table["ts"], str(path))
        order = np.argsort(table["ts"], kind="stable")
        last = np.append(np.diff(table["ts"][order]) > 0, True)
        rows = order[last]
        on = rows[table["cores"][rows] > 0]
        repeated, off = repeated + len(order) - len(rows), off + len(rows) - len(on)
        columns = (table["cpu_mhz"], table["mem_kb"], table["disk_r"] + table["disk_w"], table["net_tx"], table["net_rx"])
        demand.append([column[on].max(initial=0.0) for column in columns])
        busy = on[table["cpu_mhz"][on] > 0]
        vm.append(np.full(len(busy), k))
        when.append(table["ts"][busy])
    every = np.concatenate(when)
    if not len(every):
        raise InstanceError("no VM of these files ever used CPU")
    peaks = np.array(demand) / UNITS
    workload = vm_periods(np.concatenate(vm), every - every.min(), np.arange(len(files)), peaks, 60.0 * minutes, seed)
    real = f"activity and peaks of each VM: {len(files)} files of GWA-T-12"
    left_out = {"rows whose time repeats": repeated, "rows of VMs that are off": off}
    return DescribedWorkload(workload, data_centre(), real, "the location of each VM", left_out)


def _columns(path: str | Path, table: str, wanted: Sequence[str]) -> dict[str, Any]:
    """Some columns of a raw Google file: numbers with nan where a field is empty, hashes as texts."""
    try:
        from pyarrow import ArrowException, csv, float64, string
    except ImportError:
        raise NotInstalled('reading raw files needs pyarrow: pip install "fairalloc[traces]"') from None
    names = GOOGLE_TABLES[table].split()
    types = {name: string() if name in TEXT else float64() for name in names}
    try:
        read = csv.read_csv(
            path,
            read_options=csv.ReadOptions(column_names=names),
            convert_options=csv.ConvertOptions(column_types=types, include_columns=list(wanted), strings_can_be_null=True),
        )
    except (OSError, ArrowException) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise InstanceError(f"{path} cannot be read as {table}, which has {len(names)} fields in a row: {reason}") from None
    return {name: read[name].to_numpy() for name in wanted}


def _joined(paths: Sequence[str | Path], table: str, wanted: Sequence[str]) -> dict[str, Any]:
    """These columns of all files, with checked times."""
    parts = [_columns(path, table, wanted) for path in paths]
    if not parts:
        raise InstanceError("no files were given, but there must be at least one")
    joined = {name: np.concatenate([part[name] for part in parts]) for name in wanted}
    _check_times(joined["time_us"], table)
    return joined


def _check_times(times: Floats, what: str) -> None:
    wrong = np.flatnonzero(~(times >= 0))
    for k in wrong[:1]:
        where = f"the time in row {k + 1} of {what}"
        raise InstanceError(f"{where} is {times[k]:g}, but it must not be negative ({len(wrong)} such rows)")


def _least(of: NDArray[np.intp], values: Floats, count: int) -> Floats:
    result = np.full(count, np.inf)
    np.minimum.at(result, of, values)
    return result


def _mean(of: NDArray[np.intp], values: Floats, count: int) -> Floats:
    """Of what is not missing; nan where all is."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(of[there], values[there], count) / np.bincount(of[there], minlength=count)


def _runs(
    of: NDArray[np.intp], task: Floats, time: Floats, event: Floats, until: float, count: int
) -> tuple[NDArray[np.int64], Floats]:
    """(J,) tasks of each job, and the mean seconds that those which started ran; 0 where none did."""
    pairs, row_of = np.unique(np.column_stack([of, task]), axis=0, return_inverse=True)
    row_of = row_of.ravel()
    job = pairs[:, 0].astype(np.int64)
    start = _least(row_of, np.where(event == SCHEDULE, time, np.inf), len(pairs))
    end = -_least(row_of, np.where(np.isin(event, ENDS), -time, np.inf), len(pairs))
    ran = np.isfinite(start)
    seconds = np.where(end >= start, end, until) - start
    total = np.bincount(job[ran], np.maximum(seconds[ran], 1.0), count)
    return np.bincount(job, minlength=count), total / np.maximum(np.bincount(job[ran], minlength=count), 1)
