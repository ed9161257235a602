"""One trial in a child process of runs/processes.py: the experiment and the competitor are found anew, measured, and answered."""

import time
from collections.abc import Callable

from fairalloc.runs.processes import Document
from fairalloc.simulation.experiments.competitors import competitor
from fairalloc.simulation.experiments.experiment import Trial
from fairalloc.simulation.experiments.registry import all_experiments

__all__ = ["answer", "prepare"]


def prepare(_: Document) -> None:
    """Import the experiments once, before children are forked."""
    all_experiments()


def answer(request: Document, _: Callable[[], object]) -> Document:
    """Measure one trial."""
    experiment = all_experiments()[request["experiment"]]
    found = competitor(request["sent"], experiment.kind)
    settings = experiment.sizes[request["size"]].settings
    trial = Trial(request["competitor"], found, request["seed"], request["workload"], settings)
    start = time.perf_counter()
    measured = experiment.measure(trial)
    return {
        "numbers": {name: float(value) for name, value in measured.numbers.items()},
        "curves": {name: [[float(v) for v in values] for values in curve] for name, curve in measured.curves.items()},
        "seconds": time.perf_counter() - start,
    }
