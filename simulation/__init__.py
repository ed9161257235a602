"""Clusters on which jobs arrive, run and end: the evaluations of W 6, K 6 and P V.

workload.py   the data: machines, and jobs that arrive
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.simulation, not as simulation: it is mapped into fairalloc")

from fairalloc.simulation.workload import Cluster, Workload

__all__ = ["Cluster", "Workload"]
