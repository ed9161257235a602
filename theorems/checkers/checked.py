"""What confirms a statement beside a judge: the check of a standalone script (theorems/standalone/), the assertions of a printed
example, and the outcome of the kept run of an experiment of ours (simulation/experiments).

Such an outcome is about our workload, which has what the paper's sample is known to have, and about floating point. So a claim
that is contradicted is not refuted: its status is "not decided: violated in floating point". One that is undecided, or cannot be
compared, is not decided.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.models.errors import FairallocError
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import yes_or_no
from fairalloc.theorems.standalone.arguments import ARGUMENTS
from fairalloc.theorems.statement import FLOATING_POINT

if TYPE_CHECKING:
    from fairalloc.simulation.experiments.verdicts import KeptVerdict

METHOD = "rational arithmetic: the assertions of its script"

REFUSED = (AssertionError, StopIteration, ValueError, ZeroDivisionError)
"""What a check raises where its data violate nothing or are of another size, and the making of data where there are none such."""

SHORT = 12
"""Characters of a fraction that a sentence has in full."""


def checked(name: str, margin: Callable[[Mapping[str, Any]], Any] = lambda _: 1) -> Callable[[Case], Verdict]:
    """The confirmation of a statement: a case that passes all assertions of the statement's script violates the claim.

    Its margin is of the numbers that the script returns.
    """

    def confirm(case: Case) -> Verdict:
        argument = ARGUMENTS[name]
        claim = argument.check.partition(".")[2].replace("_", " ")
        try:
            found = argument.found(argument.made(case))
        except FairallocError:  # the claim is not about the case
            raise
        except REFUSED:
            return Verdict(claim, True, -1.0, "the script of this statement shows no violation", METHOD)
        return Verdict(
            claim, False, float(margin(found)), re.sub(r"-?\d+/\d+", _rounded, argument.sentence.format(**found)), METHOD
        )

    return confirm


def _rounded(fraction: re.Match[str]) -> str:
    return fraction[0] if len(fraction[0]) <= SHORT else f"{float(Fraction(fraction[0])):.4g}"


def seen_by_script(judge: Callable[[Case], Verdict], name: str) -> Callable[[Case], Verdict]:
    """The confirmation of a statement by its judge, whose violations count where the script of the statement sees them too."""

    def confirm(case: Case) -> Verdict:
        verdict = judge(case)
        if verdict.holds is not False or checked(name)(case).holds is False:
            return verdict
        return replace(verdict, holds=None, sentence=f"not decided: {verdict.sentence}, which its script does not see")

    return confirm


def asserted(check: Callable[[Case], bool | None]) -> Callable[[Case], Verdict]:
    """The check of a printed example: whether all is as printed, or assertions of it."""

    def decide(case: Case) -> Verdict:
        try:
            assert check(case) is not False, "not all is as printed"
        except AssertionError as error:
            wrong = str(error) or extract_tb(error.__traceback__)[-1].line
            return yes_or_no("printed example", False, f"false: {wrong}")
        return Verdict("printed example", True, 0.0, "all is as printed", "rational arithmetic")

    return decide


# ---- experiments -----------------------------------------------------------------------------------------------------


OUTCOMES = {"confirmed": (True, -np.inf), "contradicted": (False, np.inf)}


def rests_on(claim: str, _: Case) -> Verdict:
    """The check of a statement by the kept outcome of a claim, such as "W.Fig7.small"; without one it decides nothing."""
    kept = _kept(claim)
    if kept is None:
        return undecided(f"no run of the experiment {claim} is kept", "not examined", "experiment")
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
