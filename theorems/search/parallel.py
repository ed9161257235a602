"""The search of a claim in a child process, or in several of a pool (runs/processes.py), and how one of them answers.

1. The claim is sent as in runs/objects.py, which also takes functions and classes of a script or a notebook.
2. Every process searches with the same seed and a number of its own, until the caller's deadline.
3. The smallest violation decides, of which the counts are those of all processes; without trials, the first ends the search.
"""

import pickle
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.runs.objects import packed, unpacked
from fairalloc.runs.processes import Document, NoAnswer, Pool, Task
from fairalloc.solvers.running.time_limits import AVAILABLE, alarm, be_watched, end_of, isolated, watched
from fairalloc.theorems.cases import Draft
from fairalloc.theorems.search.sought import Sought
from fairalloc.theorems.search.steps import measure
from fairalloc.theorems.statement import Finding, parse_finding
from fairalloc.theorems.status import Status

GRACE = 1.0
"""Seconds after the deadline at which a process that is still computing a case is ended."""

MEMORY_MB = 4096
"""How far the address space of a process may grow."""


def searched_in_a_child(sought: Sought, seconds: float, trials: int | None, seed: int) -> tuple[Finding, bool]:
    """The finding of a search in a child that is ended at its limit, whatever it computes, and whether it was interrupted."""
    end = end_of(time.perf_counter(), seconds)
    if watched() or not AVAILABLE:
        with alarm(end - time.perf_counter()) as rung:
            finding, interrupted = sought.searched(seconds, trials, (seed,))
        return finding, interrupted and not rung[0]

    def work(send: Callable[[Any], None]) -> None:
        def keep(finding: Finding, interrupted: bool | None = None) -> None:
            send((_sendable(finding), interrupted))

        keep(*sought.searched(seconds, trials, (seed,), keep))

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


def searched_in_processes(claim: Any, seconds: float, trials: int | None, seed: int, jobs: int) -> tuple[Finding, bool]:
    """The finding of a search in several processes, and whether it was interrupted."""
    deadline = time.time() + seconds
    request = {"claim": packed(claim), "until": deadline, "seed": seed}
    jobs = jobs if trials is None else min(jobs, trials)
    parts = [trials and (trials + k) // jobs for k in range(jobs)]
    tasks = [Task({**request, "trials": part, "number": k}, seconds + GRACE, MEMORY_MB) for k, part in enumerate(parts)]
    found: list[Finding] = []
    interrupted, failure = False, ""
    with Pool(__name__, jobs) as pool:
        try:
            for _, given in pool.answers(tasks):
                if isinstance(given, NoAnswer):
                    failure = given.sentence
                    continue
                found.append(parse_finding(given))
                if trials is None and found[-1].verdict is not None:
                    break
        except KeyboardInterrupt:
            interrupted = True
    if not found:
        raise InstanceError(f"no process answered: {failure or 'the search was interrupted'}")
    return _together(found), interrupted


def _together(found: list[Finding]) -> Finding:
    """The smallest violation, or what was tried, with the cases of all."""
    with_case = [one for one in found if one.verdict is not None and one.case is not None]
    best = min(with_case, key=lambda one: measure(Draft.of(one.case)), default=None)  # type: ignore[arg-type]
    total = sum(one.trials for one in found)
    told = best or max(found, key=lambda one: one.status == Status.NOT_DECIDED)
    counted = {name: sum(one.searched[name] for one in found) for name in ("rejected", "undecided", "unconfirmed", "failed")}
    sentence = told.sentence if best else f"{total:,} cases in {len(found)} processes, in one of them {told.sentence}"
    return replace(told, trials=total, sentence=sentence, searched={**told.searched, **counted})


def prepare(request: Document) -> None:
    """Import what the claim needs once, before children are forked."""
    _ = unpacked(request["claim"]).statement


def answer(request: Document, _: Callable[[], object]) -> Document:
    """The finding of one process's search, as a document."""
    be_watched()
    seconds = max(0.1, request["until"] - time.time())
    sought: Sought = unpacked(request["claim"]).sought
    return sought.searched(seconds, request["trials"], (request["seed"], request["number"]))[0].document()
