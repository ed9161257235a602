"""Experiments of the papers: declared, seeded, resumable, with one figure and claims that are judged by one rule.

papers/        the experiments, one file for those that share a system and a workload; measures/ what takes hours
trial.py       what is measured once                experiment.py  claims, experiments, outcomes
claims.py      the rule, with four outcomes         runner.py      trials in processes of their own, kept on record
figures.py     bars, curves, bubbles                report.py      tables, a document, a page
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
