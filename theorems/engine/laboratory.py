"""The laboratory: all statements, one budget of seconds shared among them, several processes, findings that are kept.

What was found before comes first: stored witnesses are confirmed again before anything is searched. A run that was killed is
resumed when the same is asked again; a run that finished is begun anew.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairalloc.models.errors import InstanceError
from fairalloc.runs.processes import Document, NoAnswer, Pool, Task, isolation_missing
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.engine.findings import FindingStore
from fairalloc.theorems.engine.investigate import RELATED, investigate
from fairalloc.theorems.engine.witnesses import Witness, packaged, witnesses_of
from fairalloc.theorems.implications import BETWEEN_MECHANISM_PROPERTIES, follows
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.statement import Finding, Statement, Status, parse_finding
from fairalloc.theorems.terms import statements_in

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["verify"]

GRACE = 60.0
"""Seconds beyond three times its share after which a process is ended: exact arithmetic on a case cannot be interrupted."""

MEMORY_MB = 4096
"""How far the address space of a process may grow while it looks at one statement."""

WORKER = "fairalloc.theorems.engine.worker"
"""The handler of the pool."""

FAILED = "the check failed"
"""What the finding says of a check that broke; a run that is resumed tries it again."""

LEAST = 0.2
"""Seconds that every statement gets, however small the budget."""


def verify(
    statements: Iterable[Statement] | None = None,
    budget: float = 60.0,
    seed: int = 0,
    jobs: int | None = None,
    store: str | Path | None = None,
    *,
    trials: int | None = None,
    fresh: bool = False,
    progress: bool = False,
    files: Iterable[str] = (),
) -> dict[str, Finding]:
    """Look at statements until the budget is spent.

    Parameters
    ----------
    statements : None = all; with several processes they must be registered ones, or those of claims in `files`
    budget : seconds of wall time for all of them together; what one does not need the others get
    seed : of everything random
    jobs : processes, each with one thread for linear algebra; 1 = this process; None = one for each core, or this process where
        the operating system cannot isolate others
    store : file of findings; None = nothing is kept
    trials : the most cases of one search; with a budget that is large enough the findings then do not depend on the machine
    fresh : whether to leave stored witnesses aside, so that the search has to find its own
    progress : whether to show a bar where standard error is a terminal
    files : FILE.py or FILE.py:NAME of claims of one's own, from which other processes load them

    Returns
    -------
    findings by statement, in the order of the statements

    Raises
    ------
    InstanceError : a budget, seed or number of jobs out of range, a store that cannot be used, unregistered statements or no
        isolated processes with jobs > 1
    """
    chosen = list(all_statements().values() if statements is None else statements)
    if not budget > 0 or (trials is not None and not trials > 0):
        raise InstanceError(f"the budget is {budget:g} seconds and {trials} trials, but both must be positive")
    if seed < 0 or (jobs is not None and not jobs > 0):
        raise InstanceError(f"the seed is {seed} and the jobs are {jobs}, but a seed must not be negative, nor jobs below 1")
    jobs = _processes(jobs)
    asked = {"seed": seed, "budget": budget, "trials": trials, "fresh": fresh, "statements": sorted(s.id for s in chosen)}
    with FindingStore(":memory:" if store is None else store) as kept:
        run = kept.run(asked)
        done = {name: finding for name, finding in kept.findings(run).items() if not finding.sentence.startswith(FAILED)}
        known = _Known([] if fresh else [*packaged().witnesses, *kept.witnesses()])
        left = sorted((s for s in chosen if s.id not in done), key=_parts)
        part = sum(map(_parts, left)) / max(1, sum(map(_parts, chosen)))
        share = _Share(budget * part, left, min(jobs, max(1, len(left))))
        with _bar(progress) as bar:
            task = bar.add_task("", total=len(chosen), completed=len(done))

            def keep(statement: Statement, finding: Finding) -> None:
                found = witnesses_of(statement, finding)
                kept.add(run, finding, found)
                known.add(found)
                done[statement.id] = finding
                bar.update(task, advance=1, description=f"{statement.id}: {finding.status}")

            _looked_at(left, share, {"seed": seed, "trials": trials, "files": [*map(_resolved, files)]}, known, keep)
        kept.finish(run)
    return {statement.id: done[statement.id] for statement in chosen}


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


def _parts(statement: Statement) -> int:
    """Parts of the budget: most where nothing is proved and misreports are searched; time that is not used goes to the others."""
    if statement.quantifier == "one" or statement.proof or follows(statement.mechanism, statement.property):
        return 1
    if statement.quantifier == "some":
        return 5
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
        ]
        return own | {RELATED: [case for k, case in enumerate(related) if case not in related[:k]]}


class _Share:
    """What every statement gets of the budget: its parts of what is left."""

    def __init__(self, budget: float, statements: Iterable[Statement], jobs: int) -> None:
        self.left = [_parts(statement) for statement in statements]
        self.budget, self.jobs, self.start = budget, jobs, time.monotonic()

    def next(self) -> float:
        """Seconds for the next statement."""
        rest = self.budget - (time.monotonic() - self.start)
        seconds = rest * min(self.jobs, len(self.left)) * self.left[0] / sum(self.left)
        self.left.pop(0)
        return max(LEAST, min(rest, seconds))


def _looked_at(
    statements: Sequence[Statement],
    share: _Share,
    limits: Mapping[str, Any],
    known: _Known,
    keep: Callable[[Statement, Finding], None],
) -> None:
    if share.jobs == 1:
        for statement in statements:
            keep(statement, _here(statement, share.next(), limits, known.of(statement)))
        return
    registered = all_statements()
    in_files = {name for file in limits["files"] for name in statements_in(file)}
    strangers = [s.id for s in statements if registered.get(s.id) != s and s.id not in in_files]
    if strangers:
        raise InstanceError(f"the statements {', '.join(strangers)} are not registered: look at them with jobs=1")
    _in_processes(statements, share, limits, known, keep)


def _here(statement: Statement, seconds: float, limits: Mapping[str, Any], known: Mapping[str, list[Any]]) -> Finding:
    cases: dict[str, list[Case]] = {name: [parse_case(case) for case in documents] for name, documents in known.items()}
    try:
        return investigate(statement, limits["seed"], seconds, limits["trials"] or inf, cases)
    except Exception as error:  # one check that fails must not end the others
        return _failed(statement, f"{type(error).__name__}: {error}")


# ---- processes ------------------------------------------------------------------------------------------------------


def _in_processes(
    statements: Sequence[Statement],
    share: _Share,
    limits: Mapping[str, Any],
    known: _Known,
    keep: Callable[[Statement, Finding], None],
) -> None:
    """Every process takes the next statement when it is free, with the witnesses that are known by then."""

    def tasks() -> Iterator[Task]:
        for statement in statements:
            seconds = share.next()
            request = {"statement": statement.id, "seconds": seconds, "known": known.of(statement), **limits}
            yield Task(request, 3 * seconds + GRACE, MEMORY_MB)

    named = {statement.id: statement for statement in statements}
    with Pool(WORKER, share.jobs) as pool:
        for task, answer in pool.answers(tasks()):
            statement = named[task.request["statement"]]
            keep(statement, _parsed(statement, answer))


def _parsed(statement: Statement, answer: Document | NoAnswer) -> Finding:
    if isinstance(answer, NoAnswer):
        return _failed(statement, answer.sentence)
    try:
        return parse_finding(answer)
    except Exception as error:  # what came is no finding; every statement must get one
        return _failed(statement, f"{type(error).__name__}: {error}")


def _failed(statement: Statement, error: str) -> Finding:
    return Finding(statement.id, Status.NOT_DECIDED, f"{FAILED}: {error}", 0, {})


def _bar(progress: bool) -> "Progress":
    """A progress bar where the error stream is a terminal, else nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:42.42}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal))
