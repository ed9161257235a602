"""Workloads: real samples and what is generated in the place of what they lack, distributions as printed, official raw files.

clusters.py   the machines of the papers
google.py     Google 2011 and 2019: tasks for schedulers, quanta of jobs by 5-minute intervals
bitbrains.py  Bitbrains VMs on the data centre of K Fig. 5
alibaba.py    Alibaba GPU pods, placed by GPU type
fitted.py     distributions through printed points
official.py   the raw files as they are published
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from fairalloc.models.errors import NotInstalled, UnknownName, no_such
from fairalloc.models.examples.traces import data_missing
from fairalloc.simulation.workload import DescribedWorkload
from fairalloc.simulation.workloads.alibaba import alibaba_pods
from fairalloc.simulation.workloads.bitbrains import bitbrains_day, bitbrains_instant
from fairalloc.simulation.workloads.clusters import data_centre, four_classes, google_servers
from fairalloc.simulation.workloads.google import google_intervals, google_tasks
from fairalloc.simulation.workloads.official import bitbrains_files, google_files, google_machines

__all__ = [
    "WORKLOADS",
    "DescribedWorkload",
    "WorkloadSource",
    "alibaba_pods",
    "bitbrains_day",
    "bitbrains_files",
    "bitbrains_instant",
    "data_centre",
    "default_workload",
    "four_classes",
    "google_files",
    "google_intervals",
    "google_machines",
    "google_servers",
    "google_tasks",
]


@dataclass(frozen=True)
class WorkloadSource:
    """A workload by name: what it is made of, and whether it needs samples of real traces."""

    id: str
    about: str
    real: bool

    def missing(self) -> str:
        """What is not there, as a sentence; "" where nothing is missing."""
        if self.real and not find_spec("pyarrow"):
            return f'the workload {self.id!r} needs pyarrow: pip install "fairalloc[traces]"'
        return data_missing() if self.real else ""


WORKLOADS = {
    source.id: source
    for source in (
        WorkloadSource("google2011", "jobs of Google 2011, with generated tasks, requests or quanta", True),
        WorkloadSource("google2019", "jobs of Google 2011 with requests drawn from Google 2019", True),
        WorkloadSource("bitbrains", "VMs of Bitbrains with generated locations", True),
        WorkloadSource("generated", "nothing real: fitted to what the papers print and to what the samples have", False),
    )
}
"""The workloads that experiments know by name."""


def default_workload(known: Sequence[str], wanted: str = "") -> str:
    """The workload of an experiment: the wanted one of those known, "" = the first of them whose samples are there.

    UnknownName is raised where it is not known, NotInstalled where its samples, or what reads them, are not there.
    """
    if wanted and wanted not in known:
        has = f"has {', '.join(known)}" if known else "has its own only"
        raise UnknownName(no_such("workload", wanted, known, f"the experiment {has}"))
    fit = [name for name in ([wanted] if wanted else known) if not WORKLOADS[name].missing()]
    if not fit:
        raise NotInstalled(WORKLOADS[wanted or known[0]].missing())
    return fit[0]
