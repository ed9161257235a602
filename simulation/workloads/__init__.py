"""Workloads: real samples and what is generated in the place of what they lack, distributions as printed, official raw files."""

from collections.abc import Sequence
from importlib.util import find_spec

from fairalloc.models.errors import NotInstalled, UnknownName, no_such
from fairalloc.models.examples.traces import data_missing
from fairalloc.simulation.workload import DescribedWorkload
from fairalloc.simulation.workloads.alibaba import alibaba_pods
from fairalloc.simulation.workloads.bitbrains import bitbrains_files, bitbrains_instant
from fairalloc.simulation.workloads.clusters import data_centre, four_classes, google_servers
from fairalloc.simulation.workloads.google import google_files, google_intervals, google_machines, google_tasks

__all__ = [
    "WORKLOADS",
    "DescribedWorkload",
    "alibaba_pods",
    "bitbrains_files",
    "bitbrains_instant",
    "data_centre",
    "four_classes",
    "google_files",
    "google_intervals",
    "google_machines",
    "google_servers",
    "google_tasks",
]

WORKLOADS = {"google2011": True, "google2019": True, "bitbrains": True, "generated": False}
"""The workloads that experiments know by name, and whether they need samples of real traces."""


def _missing(workload: str) -> str:
    """What a workload lacks here, as a sentence; "" where nothing is missing."""
    if WORKLOADS.get(workload) and not find_spec("pyarrow"):
        return f'the workload {workload!r} needs pyarrow: pip install "fairalloc[traces]"'
    return data_missing() if WORKLOADS.get(workload) else ""


def default_workload(known: Sequence[str], wanted: str = "") -> str:
    """The workload of an experiment: the wanted one of those known, "" = the first of them whose samples are there.

    UnknownName is raised where it is not known, NotInstalled where its samples, or what reads them, are not there.
    """
    if wanted and wanted not in known:
        has = f"has {', '.join(known)}" if known else "has its own only"
        raise UnknownName(no_such("workload", wanted, known, f"the experiment {has}"))
    fit = [name for name in ([wanted] if wanted else known) if not _missing(name)]
    if not fit:
        raise NotInstalled(_missing(wanted or known[0]))
    return fit[0]
