"""Instances from real workload samples: Google 2011 and 2019, Bitbrains GWA-T-12, Alibaba 2023.

The samples are not part of the package. `data_dir()` finds the folder that holds them (google2011/, google2019/, bitbrains/,
alibaba2023/) and every loader takes that folder. A loader returns `Loaded`: the instance, and how much of the data it left out
and why; a damaged file raises InstanceError, no row is skipped silently. Parquet files need pyarrow, the extra `traces`.
"""

import logging
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import Seed, checked
from fairalloc.models.errors import NotInstalled, require
from fairalloc.models.files.trace_files import csv_table, parquet_columns, sample_file
from fairalloc.models.files.writing import make_folder, write_file
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

log = logging.getLogger("fairalloc")

BITBRAINS_COLUMNS = {
    "Timestamp [ms]": "ts",
    "CPU cores": "cores",
    "CPU capacity provisioned [MHZ]": "cap_mhz",
    "CPU usage [MHZ]": "cpu_mhz",
    "CPU usage [%]": "cpu_percent",
    "Memory capacity provisioned [KB]": "mem_cap_kb",
    "Memory usage [KB]": "mem_kb",
    "Disk read throughput [KB/s]": "disk_r",
    "Disk write throughput [KB/s]": "disk_w",
    "Network received throughput [KB/s]": "net_rx",
    "Network transmitted throughput [KB/s]": "net_tx",
}

# K Fig. 5: GHz and GB of one server of types 1 to 3, and how many of each type stand at locations 1 to 3 (our split).
BITBRAINS_SERVERS = np.array([[4.0, 12.0], [8.0, 8.0], [16.0, 4.0]])
BITBRAINS_SPLIT = np.array([[25, 25, 25], [33, 34, 33], [25, 25, 25]])

POD_COLUMNS = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec")


@dataclass(frozen=True, eq=False)
class Loaded:
    """An instance read from a trace, and what the loader left out, reason -> count; all reasons are listed, also with 0."""

    instance: Instance
    left_out: Mapping[str, int]


def data_dir() -> Path | None:
    """The folder with the samples: $FAIRALLOC_DATA, the remembered one, or ../shared/data from here or from the checkout."""
    given = [(os.environ.get("FAIRALLOC_DATA"), "FAIRALLOC_DATA")]
    with suppress(OSError, RuntimeError):  # none is remembered, or there is no home
        given.append((remembered_in().read_text(encoding="utf-8").strip(), str(remembered_in())))
    for chosen, name in given:
        if chosen:
            return _folder(chosen, name)
    checkout = Path(__file__).resolve().parents[2]
    places = [base / "shared" / "data" for base in (Path(".."), checkout.parent)]
    return next((place for place in places if place.is_dir()), None)


def data_missing() -> str:
    """One sentence where the samples are not found, else ""."""
    ways = "by the environment variable FAIRALLOC_DATA, or once and for all by `fairalloc data FOLDER`"
    return "" if data_dir() is not None else f"the workload samples are not found: say where they are {ways}"


def found_data() -> Path:
    """The folder with the samples; NotInstalled where they are not found."""
    if (folder := data_dir()) is None:
        raise NotInstalled(data_missing())
    return folder


@checked
def remember_data(folder: str | Path) -> Path:
    """Remember the folder with the samples for this user, and return it; InstanceError where it is none."""
    place = _folder(folder, "the data folder").resolve()
    make_folder(remembered_in().parent)
    write_file(remembered_in(), f"{place}\n")
    return place


def remembered_in() -> Path:
    """The file that holds the remembered folder."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "fairalloc" / "data-folder"


def _folder(chosen: str | Path, name: str) -> Path:
    require(Path(chosen).is_dir(), f"{name} is", str(chosen), "it must be a folder")
    return Path(chosen)


@checked
def google_machine_mix(folder: str | Path) -> tuple[NDArray[np.int64], Floats]:
    """Counts (10,) and capacities (10, 2) of the machine classes of the Google 2011 cell: 12,583 machines, W Table 1.

    CPU and memory are in units of the largest machine of the cell. Source: clusterdata-2011-2, CC BY 4.0, C. Reiss, J. Wilkes,
    J. L. Hellerstein, "Google cluster-usage traces: format + schema", Google Inc., 2011; the class counts are from
    korkmazkadir/google-cluster-trace-analysis.
    """
    table = csv_table(sample_file(folder, "google2011", "machine_mix.csv"), ("count", "cpu", "memory"))
    capacities = np.column_stack([table.numbers("cpu"), table.numbers("memory")])
    return table.numbers("count", whole=True).astype(np.int64), capacities


@checked
def google2011(folder: str | Path, *, users: int | None = None, finite: bool = False) -> Loaded:
    """The 245 users with tasks running when the Google 2011 trace starts, on the 10 machine classes of its cell.

    A user has one demand vector, so it gets the mean (CPU, memory) request of its tasks. That many tasks of the mean take
    exactly what the user requests in the trace. Tasks that request nothing count in the mean. A user whose tasks request
    none of one resource keeps that zero. Weights are 1. The units and the source are those of `google_machine_mix`; the tasks
    are from jeffersontuc/MetCientifica: 29 % of the jobs then present, not a random sample but tilted to long services.

    `users` takes only those with most tasks, this many; on equal numbers the lower code comes first. `finite` limits each to the
    number of its tasks. User "user-7" has code 7 in users.csv.gz; server "cpu0.5-mem0.4995" is the class with these capacities.
    """
    counts, capacities = google_machine_mix(folder)
    tasks = parquet_columns(sample_file(folder, "google2011", "tasks_t0.parquet"), ("user", "cpu_req", "mem_req"))
    codes, of, number = np.unique(tasks["user"], return_inverse=True, return_counts=True)
    mean = np.column_stack([np.bincount(of, weights=tasks[c]) for c in ("cpu_req", "mem_req")]) / number[:, None]
    able = np.flatnonzero(mean.any(axis=1))
    size = _how_many(users, len(able), "users")
    chosen = np.sort(able[np.argsort(-number[able], kind="stable")][:size])
    instance = Instance(
        mean[chosen],
        capacities,
        counts=counts,
        max_tasks=number[chosen] if finite else None,
        name=f"google2011-{size}" + ("-finite" if finite else ""),
        users=[f"user-{code}" for code in codes[chosen]],
        servers=[f"cpu{cpu:g}-mem{memory:g}" for cpu, memory in capacities],
        resources=["cpu", "memory"],
    )
    return _loaded(instance, {"users that request nothing": len(codes) - len(able), "users with fewer tasks": len(able) - size})


@checked
def google2019_demands(folder: str | Path) -> Floats:
    """(M, 2) distinct (CPU, memory) requests of the Google 2019 cells, sorted; a pool of demand vectors, not a workload.

    In normalised units, 32-bit in the data. Requests that are zero in a resource are left out, repeated ones are merged; both
    are counted in the log. Source: clusterdata-2019 (v3), CC BY 4.0, through lzc-ust/google-cluster-analysis, which joined a
    random sample of rows over the cells.
    """
    table = parquet_columns(sample_file(folder, "google2019", "instances.parquet"), ("cpu_req", "mem_req"))
    requests = np.column_stack([table["cpu_req"], table["mem_req"]]).astype(float)
    positive = requests[(requests > 0).all(axis=1)]
    result: Floats = np.unique(positive, axis=0)
    bad, twice = len(requests) - len(positive), len(positive) - len(result)
    log.info("google2019: left out %s", {"rows not positive in both": bad, "rows that repeat others": twice})
    return result


@checked
def bitbrains(folder: str | Path, *, seed: Seed = 0, finite: bool = False) -> Loaded:
    """The 500 Bitbrains Rnd VMs as users of the cluster of K Fig. 5: 250 servers of 3 types over 3 locations.

    There are 75 servers of 4 GHz and 12 GB, 100 of 8 GHz and 8 GB, 75 of 16 GHz and 4 GB. A VM demands the most it ever used
    of CPU (GHz) and memory (GB = 2**20 KB), as users of the paper demand their maximum; three never used CPU and demand memory
    alone. Users are spread uniformly over the locations and use servers at the same or a nearby one (K 6.1). Our text
    of the paper lacks the drawing, so three things are our choice. Each location holds 25, 33 (34 at the second) and 25 servers
    of types 1 to 3. The locations stand in a row 1-2-3. Nearby means adjacent. Disk and network are left out: in K they belong to
    a location, and only the drawing says which location has which network.

    Source: GWA-T-12 Bitbrains, S. Shen, V. van Beek, A. Iosup, "Statistical characterization of business-critical workloads
    hosted in cloud datacenters", CCGrid 2015; thanks to Bitbrains IT Services Inc. No explicit licence is known.

    `seed` draws the location of each VM; `finite` limits each user to one task, the VM itself. User "vm-7" is VM 7 of
    rnd_vms.csv.gz; server "type1-location2" is the class of type 1 at location 2.
    """
    table = csv_table(sample_file(folder, "bitbrains", "rnd_vms.csv.gz"), ("vm", "cpu_max", "mem_max"))
    peaks = np.column_stack([table.numbers("cpu_max") / 1e3, table.numbers("mem_max") / 2**20])
    home = np.random.default_rng(seed).integers(3, size=len(peaks))
    used = np.flatnonzero(peaks.any(axis=1))
    kind, place = np.divmod(np.arange(9), 3)
    instance = Instance(
        peaks[used],
        BITBRAINS_SERVERS[kind],
        counts=BITBRAINS_SPLIT.ravel(),
        eligible=np.abs(home[used, None] - place) <= 1,
        max_tasks=np.ones(len(used)) if finite else None,
        name=f"bitbrains-seed{seed}" + ("-finite" if finite else ""),
        users=[f"vm-{table.columns['vm'][int(n)]}" for n in used],
        servers=[f"type{k + 1}-location{p + 1}" for k, p in zip(kind, place, strict=True)],
        resources=["cpu", "memory"],
    )
    return _loaded(instance, {"VMs that never used anything": len(peaks) - len(used)})


@checked
def read_bitbrains_raw(path: str | Path) -> dict[str, Floats]:
    """The 11 columns of one original GWA-T-12 file, name -> (n,) values, every row kept.

    Columns: ts (Unix seconds, although the header says ms), cores, cap_mhz, cpu_mhz, cpu_percent (no fixed scale: use cpu_mhz),
    mem_cap_kb, mem_kb, disk_r, disk_w, net_rx, net_tx (KB/s). Beware: cores are 0 while a VM is off, times repeat, and weeks
    may be missing.
    """
    table = csv_table(path, tuple(BITBRAINS_COLUMNS), separator=";")
    return {short: table.numbers(official) for official, short in BITBRAINS_COLUMNS.items()}


@checked
def alibaba(folder: str | Path, *, pods: int | None = None, gpuspec: bool = False, finite: bool = False) -> Loaded:
    """The pods of the Alibaba GPU cluster "openb" on its 1,523 nodes, grouped into 27 configurations.

    Resources are cpu (cores), memory (GiB) and gpu (GPUs; num_gpu * gpu_milli / 1000 for a pod). A user is a group of pods
    with the same requests and the same GPU types in gpu_spec ("A|B", in any order, may run only on nodes with these models);
    its weight is 1. Pods of every phase count, also failed and pending ones. A demand is divisible, so nothing here says that
    the GPUs of a pod must be on one node.

    Source: alibaba/clusterdata cluster-trace-gpu-v2023 (no licence file of its own); Q. Weng et al., "Beware of Fragmentation:
    Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023.

    `pods` takes only the most common groups, this many; on equal numbers the one first in the file comes first. `gpuspec` reads
    pods_gpuspec33.csv.gz, to which its authors added GPU types at the measured rate of 33 %. `finite` limits each user to the
    number of pods in its group. Server "8xG2-96c-384G" has 8 GPUs of model G2, 96 cores, 384 GiB ("cpu-.." no GPU); user
    "6000m-12288Mi-1x460-T4" requests 6000 milli-cores, 12288 MiB, 460 thousandths of 1 GPU, of model T4.
    """
    servers, capacities, models, counts = alibaba_nodes(sample_file(folder, "alibaba2023", "nodes.csv.gz"))
    groups = _pod_groups(folder, "pods_gpuspec33.csv.gz" if gpuspec else "pods.csv.gz")
    able = [(key, number) for key, number in groups.most_common() if any((key[0], key[1], key[2] * key[3]))]
    size = _how_many(pods, len(able), "pods")
    chosen = able[:size]
    requests = np.array([key[:4] for key, _ in chosen]).reshape(-1, 4)
    instance = Instance(
        np.column_stack([requests[:, 0] / 1e3, requests[:, 1] / 1024, requests[:, 2] * requests[:, 3] / 1e3]),
        capacities,
        counts=counts,
        eligible=np.array([[not key[4] or model in key[4] for model in models] for key, _ in chosen]),
        max_tasks=[number for _, number in chosen] if finite else None,
        name=f"alibaba2023-{size}" + ("-gpuspec33" if gpuspec else "") + ("-finite" if finite else ""),
        users=[pod_name(key) for key, _ in chosen],
        servers=servers,
        resources=["cpu", "memory", "gpu"],
    )
    nothing = groups.total() - sum(number for _, number in able)
    return _loaded(instance, {"pods that request nothing": nothing, "pods in rarer groups": sum(n for _, n in able[size:])})


@checked
def alibaba_nodes(path: str | Path) -> tuple[list[str], Floats, list[str], list[int]]:
    """Names, capacities (K, 3) in cores, GiB and GPUs, GPU models and counts of the node configurations in a file of nodes."""
    table = csv_table(path, ("cpu_milli", "memory_mib", "gpu", "model"))
    sizes = [table.numbers("gpu"), table.numbers("cpu_milli") / 1e3, table.numbers("memory_mib") / 1024]
    kinds = sorted(Counter(zip(table.columns["model"], *(s.tolist() for s in sizes), strict=True)).items())
    names = [(f"{gpu:g}x{model}" if gpu else "cpu") + f"-{cpu:g}c-{memory:g}G" for (model, gpu, cpu, memory), _ in kinds]
    capacities = np.array([[cpu, memory, gpu] for (_, gpu, cpu, memory), _ in kinds])
    return names, capacities, [key[0] for key, _ in kinds], [number for _, number in kinds]


def _pod_groups(folder: str | Path, file: str) -> Counter[tuple[Any, ...]]:
    """(cpu_milli, memory_mib, num_gpu, gpu_milli, set of GPU models) -> number of pods."""
    table = csv_table(sample_file(folder, "alibaba2023", file), POD_COLUMNS)
    columns = [table.numbers(c, whole=True).astype(int).tolist() for c in POD_COLUMNS[:4]]
    # A few specs name a model twice ("V100M32|V100M32"): as sets they are the same rule.
    specs = [frozenset(filter(None, spec.split("|"))) for spec in table.columns["gpu_spec"]]
    return Counter(zip(*columns, specs, strict=True))


@checked
def pod_name(key: tuple[Any, ...]) -> str:
    """The user of pods with these (cpu_milli, memory_mib, num_gpu, gpu_milli, set of GPU models)."""
    cpu, memory, gpus, milli, models = key
    return "-".join([f"{cpu}m", f"{memory}Mi", f"{gpus}x{milli}", *(["|".join(sorted(models))] if models else [])])


def _how_many(wanted: int | None, available: int, what: str) -> int:
    wanted = available if wanted is None else int(wanted)
    require(1 <= wanted <= available, f"{what} is", wanted, f"it must be an integer from 1 to {available}")
    return wanted


def _loaded(instance: Instance, left_out: Mapping[str, int]) -> Loaded:
    log.info("%s: left out %s", instance.name, dict(left_out))
    return Loaded(instance, left_out)
