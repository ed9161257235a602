"""Experiments of the papers: declared, seeded, resumable, with one figure and claims that are judged by one rule.

papers/ has the experiments, one file for those that share a system and a workload, and measures/ what takes hours.
"""

from fairalloc.simulation.experiments.claims import Check, Judged
from fairalloc.simulation.experiments.experiment import Experiment, Measured, Outcomes, PaperClaim, Size
from fairalloc.simulation.experiments.registry import all_experiments, find_experiments
from fairalloc.simulation.experiments.runner import RunSetting, run_experiments
from fairalloc.simulation.experiments.trial import Trial, TrialResult

__all__ = [
    "Check",
    "Experiment",
    "Judged",
    "Measured",
    "Outcomes",
    "PaperClaim",
    "RunSetting",
    "Size",
    "Trial",
    "TrialResult",
    "all_experiments",
    "find_experiments",
    "run_experiments",
]
