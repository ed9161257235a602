"""The laboratory: all statements, one budget of seconds shared among them, several processes, findings that are kept.

What was found before comes first: stored witnesses are confirmed again before anything is searched. A run that was killed is
resumed when the same is asked again; a run that finished, or that is about files of claims, is begun anew.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, TypeAlias

from fairalloc.models.arguments import Count, Duration, Processes, Seed, checked
from fairalloc.models.errors import InstanceError, fault
from fairalloc.runs.processes import Document, NoAnswer, Pool, Task, isolation_missing
from fairalloc.solvers.running.time_limits import be_watched
from fairalloc.theorems.cases import parse_case
from fairalloc.theorems.checkers.own import statements_in, statements_of
from fairalloc.theorems.implications import BETWEEN_MECHANISM_PROPERTIES, follows
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.investigate import RELATED, investigate, unfinished
from fairalloc.theorems.search.our_cells import with_record
from fairalloc.theorems.search.witnesses import FindingStore, Witness, packaged, witnesses_of
from fairalloc.theorems.statement import FAILED, Finding, Statement, Status, parse_finding

GRACE = 60.0
"""Seconds beyond three times its share after which a process is ended: exact arithmetic on a case cannot be interrupted."""

MEMORY_MB = 4096
"""How far the address space of a process may grow while it looks at one statement."""

WORKER = __name__
"""The handler of the pool: `prepare` and `answer` below."""

LEAST = 0.2
"""Seconds that every statement gets while the budget lasts; less where it is too small for half of them to get so much."""

ASKED = 0.8
"""The most of the time that is left which one search is asked to take: it ends after the case that is under way, and is stopped
at the end of the budget."""

ALARM = 0.95
"""The part of the time that is left after which a process says what it has found so far; it is ended at the end of the budget."""

ENDING = 2.0
"""Seconds of the budget, or a tenth of it, that are kept for ending the processes and for what the caller writes then."""


@checked
def verify(
    statements: Iterable[Statement] | None = None,
    time_limit: Duration = 60.0,
    seed: Seed = 0,
    jobs: Processes | None = None,
    store: str | Path | None = None,
    *,
    trials: Count | None = None,
    fresh: bool = False,
    files: Sequence[str] = (),
    start: float | None = None,
    tell: Callable[[Finding], None] = lambda _: None,
) -> dict[str, Finding]:
    """Look at statements until the time is spent: what is under way then is stopped, and the rest is not begun.

    Parameters
    ----------
    statements : None = all; with several processes they must be registered ones, or those of claims in `files`
    time_limit : seconds of wall time for the whole call; what one statement does not need the others get
    seed : of all random numbers
    jobs : processes, each with one thread for linear algebra; 1 = this process, which code of yours that calls `os._exit` ends;
        None = one for each core, or this process where the operating system cannot isolate others
    store : file of findings; None = nothing is kept
    trials : the most cases of one search; with time to spare the findings then do not depend on the machine
    fresh : whether to leave stored witnesses aside, so that the search has to find its own
    files : FILE.py or FILE.py:NAME of claims of one's own, from which other processes load them
    start : `time.monotonic()` when the time began; None = now
    tell : gets each finding as soon as it is there

    Returns
    -------
    findings by statement, in the order of the statements; those of a statement that was stopped or not begun are not `finished`

    Raises
    ------
    InstanceError : a time limit, seed or number of jobs out of range, a store that cannot be used, two statements of one name,
        unregistered statements or no isolated processes with jobs > 1
    """
    start = time.monotonic() if start is None else start
    chosen = [*map(with_record, (all_statements() if statements is None else statements_of([*statements])).values())]
    jobs = _processes(jobs)
    asked = {"seed": seed, "budget": time_limit, "trials": trials, "fresh": fresh, "statements": sorted(s.id for s in chosen)}
    with FindingStore(":memory:" if store is None else store) as kept:
        run = kept.run(asked)
        before = {} if files else kept.findings(run)  # functions in files change
        done = {name: finding for name, finding in before.items() if not finding.sentence.startswith(FAILED)}
        known = _Known([] if fresh else [*packaged().witnesses, *kept.witnesses()])
        parts = {item.id: _parts(item, known) for item in chosen}
        left = sorted((item for item in chosen if item.id not in done), key=lambda item: (bool(item.proof), parts[item.id]))
        part = sum(parts[item.id] for item in left) / max(1, sum(parts.values()))
        end = start + time_limit * part - min(ENDING, time_limit / 10)
        share = _Share(end, [parts[item.id] for item in left], min(jobs, max(1, len(left))))
        for finding in done.values():
            tell(finding)

        def keep(statement: Statement, finding: Finding) -> None:
            if finding.finished:
                found = witnesses_of(statement, finding)
                kept.add(run, finding, found)
                known.add(found)
            done[statement.id] = finding
            tell(finding)

        _looked_at(left, share, {"seed": seed, "trials": trials, "files": [*map(_resolved, files)]}, known, keep)
        kept.finish(run)
    return {one.id: done[one.id] if one.id in done else unfinished(one, "not begun") for one in chosen}


def _resolved(place: str) -> str:
    """FILE.py or FILE.py:NAME with the path of the file, which means the same in another process."""
    file, colon, name = (place, "", "") if place.endswith(".py") else place.rpartition(":")
    return f"{Path(file).resolve()}{colon}{name}"


def _processes(jobs: int | None) -> int:
    missing = isolation_missing()
    if jobs is None:
        return 1 if missing else os.cpu_count() or 1
    if jobs > 1 and missing:
        raise InstanceError(f"the jobs are {jobs}, but here they must be 1: {missing}")
    return jobs


def _parts(statement: Statement, known: "_Known") -> int:
    """Parts of the budget: most where misreports are searched and nothing is known; time that is not used goes to the others.

    What has a proof comes last and needs no case, so that a small budget leaves out nothing else.
    """
    if statement.quantifier == "one" or statement.proof or follows(statement.mechanism, statement.property):
        return 1
    if statement.quantifier == "some" or known.has(statement):
        return 3
    return 40 if statement.misreports else 10


class _Known:
    """Cases that violated something, as documents: stored ones, and those that this run has found so far."""

    def __init__(self, witnesses: Iterable[Witness]) -> None:
        self._cases: dict[str, dict[str, list[Any]]] = {}
        self.add(witnesses)

    def add(self, witnesses: Iterable[Witness]) -> None:
        """Each case once."""
        for witness in witnesses:
            cases = self._cases.setdefault(witness["statement"], {}).setdefault(witness["without"], [])
            if witness["case"] not in cases:
                cases.append(witness["case"])

    def has(self, statement: Statement) -> bool:
        """Whether a case violates the statement itself."""
        return bool(self._cases.get(statement.id, {}).get(""))

    def of(self, statement: Statement) -> dict[str, list[Any]]:
        """Those of a statement by the hypothesis they do without, and of related statements: the same property, or one it
        implies.
        """
        own = self._cases.get(statement.id, {})
        implied = {arrow.premise: arrow.conclusion for arrow in BETWEEN_MECHANISM_PROPERTIES}.get(statement.property)
        related = [
            case
            for other in all_statements().values()
            if statement.mechanism == other.mechanism != "" and other.id != statement.id
            if other.property and other.property in (statement.property, implied)
            for cases in list(self._cases.get(other.id, {}).values())
            for case in cases
            if statement.paper != "own" or case.get("parameters", {}).keys() == statement.hypotheses.parameters.keys()
        ]
        return own | {RELATED: [case for k, case in enumerate(related) if case not in related[:k]]}


class _Share:
    """What every statement gets of the time until the end: its parts of what is left."""

    def __init__(self, end: float, parts: Sequence[int], jobs: int) -> None:
        self.left, self.end, self.jobs = list(parts), end, jobs
        self.least = min(LEAST, max(0.0, self.rest) * jobs / (2 * max(1, len(parts))))

    @property
    def rest(self) -> float:
        return self.end - time.monotonic()

    def next(self) -> float:
        """Seconds for the next statement; 0 where none are left."""
        seconds = self.rest * min(self.jobs, len(self.left)) * self.left[0] / sum(self.left)
        self.left.pop(0)
        return max(0.0, min(ASKED * self.rest, max(self.least, seconds)))


Keep: TypeAlias = Callable[[Statement, Finding], None]


def _looked_at(statements: Sequence[Statement], share: _Share, limits: Mapping[str, Any], known: _Known, keep: Keep) -> None:
    if share.jobs > 1:
        _in_processes(statements, share, limits, known, keep)
        return
    for statement in statements:
        if not (seconds := share.next()) > 0:
            continue
        request = {**limits, "seconds": seconds, "known": known.of(statement), "until": time.time() + share.rest}
        try:  # in this process, where the alarm clock ends it with the budget
            found = _investigated(statement, request)
        except (Exception, SystemExit) as error:  # one check that fails must not end the others
            found = _failed(statement, fault(error))
        keep(statement, found)


def _investigated(statement: Statement, request: Mapping[str, Any]) -> Finding:
    known = {name: [parse_case(case) for case in cases] for name, cases in request["known"].items()}
    ends = request["until"] - time.time()
    return investigate(statement, request["seed"], request["seconds"], request["trials"] or inf, known, ends)


# ---- processes ------------------------------------------------------------------------------------------------------


def _in_processes(statements: Sequence[Statement], share: _Share, limits: Mapping[str, Any], known: _Known, keep: Keep) -> None:
    """Every process takes the next statement when it is free, with the witnesses that are known by then."""
    registered = {name: with_record(item) for name, item in all_statements().items()}
    in_files = {name for file in limits["files"] for name in statements_in(file)}
    if strangers := [s.id for s in statements if registered.get(s.id) != s and s.id not in in_files]:
        raise InstanceError(f"the statements {', '.join(strangers)} are not registered: look at them with jobs=1")

    def tasks() -> Iterator[Task]:
        for statement in statements:
            if not (seconds := share.next()) > 0:
                return
            times = {"seconds": seconds, "until": time.time() + ALARM * share.rest}
            request = {"statement": statement.id, "known": known.of(statement), **times, **limits}
            yield Task(request, 3 * seconds + GRACE, MEMORY_MB)

    named = {statement.id: statement for statement in statements}
    with Pool(WORKER, share.jobs) as pool:
        for task, answer in pool.answers(tasks(), share.end):
            statement = named[task.request["statement"]]
            stopped = isinstance(answer, NoAnswer) and answer.cause == "time" and not share.rest > 0
            keep(statement, unfinished(statement, "stopped") if stopped else _parsed(statement, answer))


@cache
def _statements(files: tuple[str, ...]) -> Mapping[str, Statement]:
    """Those of the files, or of all papers."""
    return {name: item for file in files for name, item in statements_in(file).items()} if files else all_statements()


def prepare(request: Document) -> None:
    """Import the statements once, before children are forked."""
    _statements(tuple(request.get("files", ())))


def answer(request: Document, _: Callable[[], object]) -> Document:
    be_watched()
    return _investigated(with_record(_statements(tuple(request.get("files", ())))[request["statement"]]), request).document()


def _parsed(statement: Statement, answer: Document | NoAnswer) -> Finding:
    try:
        return _failed(statement, answer.sentence) if isinstance(answer, NoAnswer) else parse_finding(answer)
    except Exception as error:  # what came is no finding; every statement must get one
        return _failed(statement, fault(error))


def _failed(statement: Statement, error: str) -> Finding:
    return Finding(statement.id, Status.NOT_DECIDED, f"{FAILED}: {error}", 0, {})
