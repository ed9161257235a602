"""Bitbrains VMs on the data centre of K Fig. 5: sets of VMs active at an instant, and the VMs of original files.

A VM demands the most it ever used of each of five resources (K 6.1: "users demand resources to meet their maximum usage"): CPU in
GHz, memory in GB, disk in MB/s (read and written), send and receive in Mb/s. Its location is drawn, uniformly; it may use the
servers there and at adjacent locations, where 1-2-3 stand in a row (our choice: the drawing is not in our text).

| id | who is active | demands |
| --- | --- | --- |
| bitbrains | VMs that used CPU in an hour drawn from July to September 2013 | real |
| generated | each of 500 users with the mean chance of the trace | logarithmic normal with means, spreads, correlations of it |

The original files, one for each VM, are read by models/examples/traces.py; their traps are handled here:

| trap | what is done |
| --- | --- |
| the header says ms, the times are Unix seconds | they are taken as seconds |
| a time repeats | its last row counts |
| cores are 0 while a VM is off | it is not active then, and its row does not count in peaks |
| weeks are missing | the VM is not active then |
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import Count, Rule, Seed, checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.examples.traces import found_data, read_bitbrains_raw
from fairalloc.models.files.trace_files import csv_table, parquet_columns, sample_file
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.simulation.workload import DescribedWorkload, Workload, check_rows
from fairalloc.simulation.workloads.clusters import data_centre

Source = Annotated[str, Rule(lambda value: value in ("bitbrains", "generated"), "one of bitbrains, generated")]

PEAKS = (("cpu_max",), ("mem_max",), ("disk_r_max", "disk_w_max"), ("tx_max",), ("rx_max",))
"""The columns of rnd_vms.csv.gz that are added to the demand of each resource."""

UNITS = np.array([1e3, 2.0**20, 1e3, 125.0, 125.0])  # MHz in GHz, KB in GB, KB/s in MB/s, and twice KB/s in Mb/s
ACTIVE = 0.88  # the part of the VM hours in which CPU was used

LOGARITHMS = np.array([0.73, 0.69, 0.84, 1.32, 2.06]), np.array([1.61, 1.86, 3.02, 2.97, 2.50])
"""Means and standard deviations of the logarithms of the five demands over the 480 VMs that used all."""

CORRELATIONS = np.array(
    [
        [1.00, 0.86, 0.72, 0.48, 0.60],
        [0.86, 1.00, 0.79, 0.34, 0.46],
        [0.72, 0.79, 1.00, 0.32, 0.41],
        [0.48, 0.34, 0.32, 1.00, 0.83],
        [0.60, 0.46, 0.41, 0.83, 1.00],
    ]
)
"""Of these logarithms."""

PIECE = 1e-3
"""A task of a VM in a workload is this part of its demand, so that it fits on some server; shares do not depend on it."""


@checked
def bitbrains_instant(source: Source = "bitbrains", seed: Seed = 0, users: Count | None = None) -> Instance:
    """The VMs that are active at an instant drawn from the seed, as users of the data centre of K Fig. 5.

    Parameters
    ----------
    source : "bitbrains" or "generated"
    seed : of the instant and the locations
    users : take only so many of the active VMs, drawn; None = all

    Returns
    -------
    Instance with unlimited tasks and weights 1; a user's demand is that of its VM
    """
    rng = np.random.default_rng(seed)
    names, demand = _generated(rng) if source == "generated" else _active(rng)
    if users is not None and users < len(names):
        chosen = np.sort(rng.choice(len(names), users, replace=False))
        names, demand = [names[k] for k in chosen], demand[chosen]
    cluster = data_centre()
    named: dict[str, Any] = {"users": names, "servers": cluster.names, "resources": cluster.resources}
    name, eligible = f"{source}-instant-seed{seed}", _near(len(names), rng)
    return Instance(demand, cluster.capacities, eligible=eligible, name=name, **named)


@checked
def bitbrains_files(files: Sequence[str | Path], seed: Seed = 0, minutes: Count = 60) -> DescribedWorkload:
    """VMs from original GWA-T-12 files, one for each VM, as jobs on the data centre of K Fig. 5.

    A VM is a user. For each period in which it used CPU it has one job, in the workload's beginning at the period's; a task is
    PIECE of the VM's demand and its seconds are such that the VM, at its demand, would run the period.

    Parameters
    ----------
    files : .csv or .csv.gz; VM number k is file number k
    seed : of the locations
    minutes : a period is a whole number of so many minutes in which some CPU was used
    """
    demand, vm, when = [], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    repeated = off = 0
    for k, path in enumerate(files):
        table = read_bitbrains_raw(path)
        check_rows(table["ts"], ~(table["ts"] >= 0), f"the time of {path}", "must not be negative")
        order = np.argsort(table["ts"], kind="stable")[::-1]
        rows = order[np.unique(table["ts"][order], return_index=True)[1]]
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
    step, centre = 60.0 * minutes, data_centre()
    parts = np.floor((every - every.min()) / step).astype(np.int64)
    pairs = np.unique(np.column_stack([np.concatenate(vm), parts]), axis=0)
    begin = np.flatnonzero(np.append(True, (np.diff(pairs[:, 0]) != 0) | (np.diff(pairs[:, 1]) != 1)))
    length = np.diff(np.append(begin, len(pairs)))  # parts that follow one another are a period
    vms, user = np.unique(pairs[begin, 0], return_inverse=True)
    near = _near(len(vms), np.random.default_rng(seed))
    size, ones = np.array(demand)[vms] / UNITS * PIECE, np.ones(len(begin), dtype=np.int64)
    jobs = (user, pairs[begin, 1] * step, ones, length * step / PIECE, size[user], near[user])
    workload = Workload(centre.resources, [f"vm-{name}" for name in vms], np.ones(len(vms)), *jobs)
    real = f"activity and peaks of each VM: {len(files)} files of GWA-T-12"
    left_out = {"rows whose time repeats": repeated, "rows of VMs that are off": off}
    return DescribedWorkload(workload, centre, real, "the location of each VM", left_out)


def _active(rng: np.random.Generator) -> tuple[list[str], Floats]:
    table = parquet_columns(sample_file(found_data(), "bitbrains", "rnd_hourly.parquet"), ("vm", "hour", "cpu_mhz"))
    columns = [name for names in PEAKS for name in names]
    peaks = csv_table(sample_file(found_data(), "bitbrains", "rnd_vms.csv.gz"), ("vm", *columns))
    demand = np.column_stack([sum(peaks.numbers(name) for name in names) for names in PEAKS]) / UNITS
    used = demand.any(axis=1)
    number, demand = peaks.numbers("vm", whole=True).astype(np.int64)[used], demand[used]
    active = np.zeros(len(number), dtype=bool)
    while not active.any():  # some hours are missing
        hour = rng.integers(table["hour"].min(), table["hour"].max() + 1)
        active = np.isin(number, table["vm"][(table["hour"] == hour) & (table["cpu_mhz"] > 0)])
    return [f"vm-{k}" for k in number[active]], demand[active]


def _generated(rng: np.random.Generator) -> tuple[list[str], Floats]:
    mean, spread = LOGARITHMS
    active = np.flatnonzero(rng.random(500) < ACTIVE)
    score = rng.multivariate_normal(np.zeros(5), CORRELATIONS, len(active))
    return [f"user-{k + 1}" for k in active], np.exp(mean + spread * score)


def _near(count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(count, 9) the servers at the location of each user, which is drawn, or at an adjacent one."""
    home = rng.integers(3, size=count)
    return np.asarray(np.abs(home[:, None] - np.tile(np.arange(3), 3)) <= 1)
