"""Claims that a paper supports by an experiment: the outcome of the kept run of ours decides (simulation/experiments).

Such an outcome is about our workload, which has what the paper's sample is known to have, and about floating point. So a claim
that is contradicted is not refuted: its status is "not decided: violated in floating point". One that is undecided, or cannot be
compared, is not decided.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import not_decided
from fairalloc.theorems.status import FLOATING_POINT

if TYPE_CHECKING:
    from fairalloc.simulation.experiments.verdicts import KeptVerdict

OUTCOMES = {"confirmed": (True, -np.inf), "contradicted": (False, np.inf)}
"""Whether the claim holds, and the margin."""


def rests_on(claim: str) -> Callable[[Case], Verdict]:
    """The check of a statement by the kept outcome of a claim, such as "W.Fig7.small"; without one it decides nothing."""
    return lambda _: _verdict(claim)


def _verdict(claim: str) -> Verdict:
    kept = _kept(claim)
    if kept is None:
        return not_decided(f"no run of the experiment {claim} is kept", "not examined", "experiment")
    holds, margin = OUTCOMES.get(kept.word, (None, np.nan))
    return Verdict("experiment", holds, margin, run_of(claim), f"{FLOATING_POINT}: a simulation")


def _kept(claim: str) -> "KeptVerdict | None":
    from fairalloc.simulation.experiments.verdicts import kept_verdicts  # it loads the simulation, which no other claim needs

    return kept_verdicts().get(claim) if claim else None


def run_of(claim: str) -> str:
    """The kept outcome of a claim and the run that it is of, as a sentence; "" where none is kept."""
    kept = _kept(claim)
    if kept is None:
        return ""
    return f"experiment {claim} ({kept.run}): {kept.word}: {kept.because}"
