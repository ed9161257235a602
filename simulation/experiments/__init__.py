"""Experiments of the papers: declared, seeded, resumable, with one figure and one verdict each.

papers/        the experiments, one file for those that share a system and a workload
experiment.py  what an experiment is: trials, outcomes, verdicts
runner.py      trials in processes of their own, kept on record
report.py      tables, a document, a page
"""

from fairalloc.simulation.experiments.experiment import Experiment, Judged, Outcomes, Size, Trial, TrialResult
from fairalloc.simulation.experiments.registry import all_experiments, find_experiments
from fairalloc.simulation.experiments.runner import RunSetting, run_experiments

__all__ = [
    "Experiment",
    "Judged",
    "Outcomes",
    "RunSetting",
    "Size",
    "Trial",
    "TrialResult",
    "all_experiments",
    "find_experiments",
    "run_experiments",
]
