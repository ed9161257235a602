"""Pods of the Alibaba GPU cluster "openb", placed by GPU type, on its 1,523 nodes."""

from pathlib import Path
from typing import Any

import numpy as np

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.examples.traces import alibaba_nodes, found_data, pod_name
from fairalloc.models.files.trace_files import csv_table, sample_file
from fairalloc.simulation.workload import Cluster, DescribedWorkload, Workload

TIMES = ("creation_time", "deletion_time", "scheduled_time")


@checked
def alibaba_pods(gpuspec: bool = True, *, nodes: str | Path | None = None, pods: str | Path | None = None) -> DescribedWorkload:
    """Every pod as a job of one task, with its real times, demand and GPU types.

    Resources are cpu (cores), memory (GiB) and gpu (GPUs). A pod runs from its scheduling to its deletion; where it was never
    scheduled, as long as from its creation to its deletion; at least 1 s. A user is a group of pods with the same requests and
    GPU types, as in models/examples/traces.py: the trace names no users. A task that demands 8 GPUs fits on a node with 8; that a
    fraction of a GPU cannot be split over two GPUs is not modelled.

    Parameters
    ----------
    gpuspec : read pods_gpuspec33.csv.gz, to which its authors added GPU types at the measured rate of 33 %
    nodes, pods : official files (openb_node_list_*.csv, openb_pod_list_*.csv), .csv or .csv.gz; None = those of the samples

    Raises
    ------
    InstanceError : a file lacks a column, a number is none, or a pod ends before it begins
    """
    names, capacities, models, counts = alibaba_nodes(nodes or sample_file(found_data(), "alibaba2023", "nodes.csv.gz"))
    file = pods or sample_file(found_data(), "alibaba2023", "pods_gpuspec33.csv.gz" if gpuspec else "pods.csv.gz")
    table = csv_table(file, ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", *TIMES))
    cpu, memory, gpus, milli = (table.numbers(name, whole=True) for name in ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli"))
    created, deleted, started = (table.numbers(name, missing=True) for name in TIMES)
    duration = np.maximum(deleted - np.where(np.isnan(started), created, started), 1.0)
    for k in np.flatnonzero(~(deleted >= created))[:1]:
        times = f"created at {created[k]:g} s and deleted at {deleted[k]:g} s"
        raise InstanceError(f"the pod in line {table.lines[k]} of {file} is {times}, but it must end after it begins")
    demand = np.column_stack([cpu / 1e3, memory / 1024, gpus * milli / 1e3])
    specs = [frozenset(filter(None, spec.split("|"))) for spec in table.columns["gpu_spec"]]
    allowed = {spec: [not spec or model in spec for model in models] for spec in set(specs)}
    keys = zip(cpu.astype(int), memory.astype(int), gpus.astype(int), milli.astype(int), specs, strict=True)
    users, user = np.unique([pod_name(key) for key in keys], return_inverse=True)
    asks, ones = demand.any(axis=1), np.ones(len(user), dtype=np.int64)
    eligible = np.array([allowed[spec] for spec in specs])
    jobs: Any = (part[asks] for part in (user, created - created.min(), ones, duration, demand, eligible))
    workload = Workload(["cpu", "memory", "gpu"], users.tolist(), np.ones(len(users)), *jobs)
    cluster = Cluster(["cpu", "memory", "gpu"], capacities, counts, names)  # type: ignore[arg-type]
    fits = workload.placeable(cluster)
    left_out = {"pods that request nothing": int((~asks).sum())}
    left_out |= {"pods that fit on no node of their GPU types": int((~fits).sum())}
    return DescribedWorkload(workload.chosen(fits), cluster, "all of it: Alibaba cluster-trace-gpu-v2023", "", left_out)
