"""Run a suite.

1. list the solves: every case, with every method that computes its mechanism, as often as repeats are asked for
2. leave out those that are on record
3. solve each of the others in a process of its own, one after the other, and write its row before the next starts
"""

import hashlib
import importlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairalloc.benchmarks import environment
from fairalloc.benchmarks.records import BenchmarkStore, Job, Record
from fairalloc.benchmarks.suites.suite import BenchmarkError, Suite, SuiteCase, find_suite
from fairalloc.models.errors import FairallocError, NotApplicable, NotInstalled, UnknownName, no_such
from fairalloc.runs.objects import is_in_file, is_packed, packed
from fairalloc.runs.processes import PREPARATION, Document, NoAnswer, Pool, Task, isolation_missing
from fairalloc.solvers.installed import other_method
from fairalloc.solvers.options import Accuracy, promised
from fairalloc.solvers.own import own_method

__all__ = ["measure"]


def measure(
    asked: str | Suite,
    records: str | Path,
    *,
    methods: Sequence[Any] | None,
    accuracy: Accuracy,
    time_limit: float,
    memory_mb: int,
    repeats: int,
    progress: bool,
    solvers: str,
) -> tuple[Job, int, int]:
    """Solve what is not on record yet.

    Parameters
    ----------
    asked : the suite, or its name
    records, methods, accuracy, time_limit, memory_mb, repeats, progress, solvers : as for `fairalloc.benchmarks.run`

    Returns
    -------
    The first job of the plan, and how many rows were there and were added
    """
    suite, api = find_suite(asked), importlib.import_module(solvers)
    name = asked if isinstance(asked, str) and not is_in_file(asked) else suite.id
    _check(accuracy, time_limit, memory_mb, repeats)
    chosen = _choose(api, methods or suite.methods)
    own = {method.id: method for method in chosen if method not in api.METHODS.values()}
    there = _There(_reference(asked), {key: packed(method) for key, method in own.items()}, solvers)
    details = environment.describe(api, own.values()) | {"own": there.digest}
    here = environment.identity(details)
    settings = {"accuracy": accuracy, "time_limit": float(time_limit), "memory_mb": memory_mb, "environment": here}
    with BenchmarkStore(records) as store, Pool("fairalloc.benchmarks.worker") as pool:
        store.add_environment(here, details)
        described = {case.name: _described(pool, name, case, chosen, there) for case in suite.cases}
        jobs = list(_plan(name, suite, described, chosen, repeats, settings))
        if not jobs:
            raise NotApplicable(f"no method of {', '.join(m.id for m in chosen)} computes a mechanism of the suite {name!r}")
        done = store.keys()
        left = [job for job in jobs if job.key not in done]
        with _bar(progress) as bar:
            task = bar.add_task("", total=len(left))
            for job in left:
                bar.update(task, description=f"{job.method} {job.case}")
                store.add(_record(job, _solved(pool, job, there), promised(accuracy)))
                bar.advance(task)
    return jobs[0], len(jobs) - len(left), len(left)


@dataclass(frozen=True)
class _There:
    """What a process is told: where it finds the suite, methods of one's own by id, and the module that solves."""

    suite: str
    methods: Mapping[str, str]
    solvers: str

    @property
    def digest(self) -> str:
        """Hash of all code of one's own, "" without any: what was measured with other code is not taken for this."""
        file = Path(self.suite.partition(".py")[0] + ".py") if is_in_file(self.suite) else None
        parts = [*self.methods.values(), self.suite if is_packed(self.suite) else file.read_text("utf-8") if file else ""]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12] if any(parts) else ""


def _reference(asked: str | Suite) -> str:
    """The suite as a text that means the same in another process, whatever its folder."""
    if isinstance(asked, str) and is_in_file(asked):
        file, colon, name = asked.rpartition(":") if not asked.endswith(".py") else (asked, "", "")
        return f"{Path(file).resolve()}{colon}{name}"
    return str(packed(asked))


def _check(accuracy: Accuracy, time_limit: float, memory_mb: int, repeats: int) -> None:
    if missing := isolation_missing():
        raise NotInstalled(f"benchmarks solve each case in a process of its own: {missing}")
    try:
        promised(accuracy)
    except FairallocError as error:
        raise type(error)(f"the {error}") from None
    for what, value in (("time limit", time_limit), ("memory limit", memory_mb), ("number of repeats", repeats)):
        if not value > 0:
            raise BenchmarkError(f"the {what} is {value}, but it must be positive")


def _choose(api: ModuleType, wanted: Sequence[Any]) -> list[Any]:
    """The methods that were asked for, by id or themselves, which must be there, or all that are there."""
    asked = [_method(api, item) for item in wanted]
    for method in asked:
        if missing := method.missing():
            raise NotInstalled(f"the method {method.id!r} is not available: {missing}")
    chosen = asked or [method for method in api.METHODS.values() if not method.missing()]
    return list({method.id: method for method in chosen}.values())


def _method(api: ModuleType, item: Any) -> Any:
    """The method with an id, also that of a solver that CVXPY or Pyomo finds, or the method that an object stands for."""
    if not isinstance(item, str):
        return own_method(item)
    found = api.METHODS[item] if item in api.METHODS else other_method(item)
    if found is None:
        raise UnknownName(no_such("method", item, api.METHODS))
    return found


def _plan(
    suite_id: str,
    suite: Suite,
    described: Mapping[str, tuple[str, list[str]]],
    methods: Iterable[Any],
    repeats: int,
    settings: Mapping[str, Any],
) -> Iterator[Job]:
    """All solves; every case and method once before any is repeated, so that a slow minute of the machine meets all methods.

    Parameters
    ----------
    suite_id, suite : the suite and the name by which the worker finds it
    described : for each case the fingerprint of its instance and the ids of the methods that compute its mechanism
    methods : those that are compared
    repeats : solves of each case by each method
    settings : accuracy, limits and environment
    """
    for repeat in range(repeats):
        for case in suite.cases:
            fingerprint, able = described[case.name]
            for method in methods:
                if method.id in able:
                    what = (suite_id, case.name, fingerprint, case.label, method.id)
                    yield Job(*what, repeat=repeat, **settings)


def _record(job: Job, answer: Document, tolerance: float) -> Record:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    asked = {field.name: getattr(job, field.name) for field in fields(Job)}
    return Record(**asked, started=started, tolerance=tolerance, **answer)


def _bar(progress: bool) -> Progress:
    """A progress bar where the error stream is a terminal, else nothing."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:42.42}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal))


def _described(pool: Pool, suite: str, case: SuiteCase, methods: Iterable[Any], there: _There) -> tuple[str, list[str]]:
    """The fingerprint of a case's instance, and the ids of the methods that compute its mechanism on it."""
    asked = {method.id: there.methods.get(method.id) for method in methods}
    request = {"suite": there.suite, "case": case.name, "solvers": there.solvers, "methods": asked}
    answer = pool.ask(Task(request, PREPARATION))
    if isinstance(answer, NoAnswer):
        raise BenchmarkError(f"the case {case.name!r} of the suite {suite!r} cannot be built: {answer.sentence}")
    return str(answer["fingerprint"]), list(answer["methods"])


def _solved(pool: Pool, job: Job, there: _There) -> Document:
    """What the worker measured, or the termination and the message of a process that was ended."""
    found = {"suite": there.suite, "solvers": there.solvers, "method": there.methods.get(job.method, job.method)}
    answer = pool.ask(Task(asdict(job) | found, job.deadline, job.memory_mb))
    if not isinstance(answer, NoAnswer):
        return answer
    if answer.cause == "time":
        return {"termination": "time_limit", "message": f"ended from outside: over the time limit of {job.time_limit:g} s"}
    return {"termination": answer.cause, "message": answer.sentence}
