"""Clusters on which jobs arrive, run and end: the evaluations of W 6, K 6 and P V.

workload.py     the data: machines, and jobs that arrive
log.py          what happened: starts and ends of tasks, or what each user had of divisible ones
state.py        what a scheduler sees
schedulers.py   who goes first, and on which machine       tasks.py   the simulation of tasks
fluid.py        the simulation of divisible tasks under any mechanism
memory.py       weights lowered by past use                  arrivals.py    users arrive and nothing is taken back: dynamic DRF
accounting.py   what must hold for every log                metrics.py   what it is judged by
over_time.py    metrics over time, in frames and figures
workloads/      real samples, what is generated, clusters   experiments/ those of the papers, with a verdict each
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.simulation, not as simulation: it is mapped into fairalloc")

from fairalloc.simulation.arrivals import Arrival, arrival_model, arrivals
from fairalloc.simulation.fluid import simulate_fluid
from fairalloc.simulation.log import FluidLog, FluidStep, ServerEvents, TaskLog
from fairalloc.simulation.memory import Memory
from fairalloc.simulation.schedulers import SCHEDULERS, Scheduler
from fairalloc.simulation.tasks import simulate_tasks
from fairalloc.simulation.workload import Cluster, Workload

__all__ = [
    "SCHEDULERS",
    "Arrival",
    "Cluster",
    "FluidLog",
    "FluidStep",
    "Memory",
    "Scheduler",
    "ServerEvents",
    "TaskLog",
    "Workload",
    "arrival_model",
    "arrivals",
    "simulate_fluid",
    "simulate_tasks",
]
