"""The search of a claim in a child process, which is ended at its limit whatever it computes."""

import pickle
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.solvers.running.time_limits import AVAILABLE, alarm, end_of, isolated, watched
from fairalloc.theorems.search.sought import Sought
from fairalloc.theorems.statement import Finding, parse_finding


def searched_in_a_child(sought: Sought, seconds: float, trials: int | None, seed: int) -> tuple[Finding, bool]:
    """The finding of a search in a child that is ended at its limit, whatever it computes, and whether it was interrupted."""
    end = end_of(time.perf_counter(), seconds)
    if watched() or not AVAILABLE:
        with alarm(end - time.perf_counter()) as rung:
            finding, interrupted = sought.searched(seconds, trials, seed)
        return finding, interrupted and not rung[0]

    def work(send: Callable[[Any], None]) -> None:
        def keep(finding: Finding, interrupted: bool | None = None) -> None:
            send((_sendable(finding), interrupted))

        keep(*sought.searched(seconds, trials, seed, keep))

    outcome = isolated(work, end, time.perf_counter)
    if not outcome.messages:
        raise KeyboardInterrupt if outcome.ending == "interrupted" else InstanceError("the process of the search has died")
    finding, interrupted = outcome.messages[-1]
    if interrupted is None:  # it was ended by force
        finding = replace(finding, sentence=f"{finding.sentence}; the last case did not end by itself")
    return finding, outcome.ending == "interrupted" or (bool(interrupted) and outcome.ending == "done")


def _sendable(finding: Finding) -> Finding:
    """The finding; without what cannot be pickled, such as an object of the user's in a witness."""
    try:
        pickle.dumps(finding)
    except Exception:
        return parse_finding(finding.document())
    return finding
