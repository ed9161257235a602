"""Claims that a paper supports by an experiment: the verdict of the kept full run of ours decides (simulation/experiments).

Such a verdict is about our workload, which has what the paper's sample is known to have, and about floating point. So a claim
that is not confirmed is not refuted: its status is "not decided: violated in floating point".
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.theorems.cases import Case
from fairalloc.theorems.status import FLOATING_POINT

if TYPE_CHECKING:
    from fairalloc.simulation.experiments.verdicts import KeptVerdict

HOLDS = {"confirmed": True, "not confirmed": False}


def rests_on(experiment: str) -> Callable[[Case], Verdict]:
    """The check of a claim by the kept verdict of an experiment, such as "K.Fig9"; without one it decides nothing."""
    return lambda _: _verdict(experiment)


def _verdict(experiment: str) -> Verdict:
    kept = _kept(experiment)
    if kept is None:
        return Verdict("experiment", None, np.nan, f"not decided: no run of the experiment {experiment} is kept", "not examined")
    margin = {"confirmed": -np.inf, "not confirmed": np.inf}.get(kept.word, np.nan)
    sentence, method = run_of(experiment), f"{FLOATING_POINT}: a simulation"
    return Verdict("experiment", HOLDS.get(kept.word), margin, sentence, method)


def _kept(experiment: str) -> "KeptVerdict | None":
    from fairalloc.simulation.experiments.verdicts import kept_verdicts  # it loads the simulation, which no other claim needs

    return kept_verdicts().get(experiment) if experiment else None


def run_of(experiment: str) -> str:
    """The kept verdict of an experiment and the run that it is of, as a sentence; "" where none is kept."""
    kept = _kept(experiment)
    if kept is None:
        return ""
    how = f"{kept.seeds} seeds" if kept.seeds > 1 else "one seed"
    return f"experiment {experiment} ({kept.command}; {how}, {kept.day}): {kept.word}: {kept.because}"
