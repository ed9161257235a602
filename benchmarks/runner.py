"""Run a suite: plan the solves, leave out those on record, have each done in its own process, write a row after each."""

import contextlib
import importlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairalloc.benchmarks import environment
from fairalloc.benchmarks.records import Job, Record, Store
from fairalloc.benchmarks.suites.suite import BenchmarkError, Case, Suite, find_suite
from fairalloc.runs.processes import start_server

__all__ = ["measure"]


def measure(
    suite_id: str,
    records: str | Path,
    *,
    methods: Sequence[str] | None,
    accuracy: str,
    time_limit: float,
    memory_mb: int,
    repeats: int,
    progress: bool,
    solvers: str,
) -> tuple[Job, int, int]:
    """Solve what is not on record yet; the first job of the plan, and how many rows were there and were added.

    The parameters are those of `fairalloc.benchmarks.run`.
    """
    suite, api = find_suite(suite_id), importlib.import_module(solvers)
    _check(api, accuracy, time_limit, memory_mb, repeats)
    chosen = _choose(api, methods or suite.methods)
    details = environment.describe(api)
    here = environment.identity(details)
    Path(records).parent.mkdir(parents=True, exist_ok=True)
    settings = {"accuracy": accuracy, "time_limit": float(time_limit), "memory_mb": memory_mb, "environment": here}
    with Store(records) as store, _Server(solvers) as server:
        store.add_environment(here, details)
        jobs = list(_plan(suite_id, suite, chosen, repeats, settings, server))
        if not jobs:
            raise BenchmarkError(f"no method of {', '.join(m.id for m in chosen)} computes a mechanism of the suite {suite_id!r}")
        done = store.keys()
        left = [job for job in jobs if job.key not in done]
        with _bar(progress) as bar:
            task = bar.add_task("", total=len(left))
            for job in left:
                bar.update(task, description=f"{job.method} {job.case}")
                store.add(_record(job, server.solve(job), api.ACCURACY[accuracy]))
                bar.advance(task)
    return jobs[0], len(jobs) - len(left), len(left)


def _check(api: ModuleType, accuracy: str, time_limit: float, memory_mb: int, repeats: int) -> None:
    if not hasattr(os, "fork"):
        raise BenchmarkError("benchmarks need an operating system that can fork a process, such as Linux or macOS")
    if accuracy not in api.ACCURACY:
        raise BenchmarkError(f"the accuracy is {accuracy!r}, but it must be one of {', '.join(api.ACCURACY)}")
    for what, value in (("time limit", time_limit), ("memory limit", memory_mb), ("number of repeats", repeats)):
        if not value > 0:
            raise BenchmarkError(f"the {what} is {value}, but it must be positive")


def _choose(api: ModuleType, wanted: Sequence[str]) -> list[Any]:
    """The methods that were asked for, which must be there, or all that are there."""
    for name in wanted:
        if name not in api.METHODS:
            raise BenchmarkError(f"there is no method {name!r}: the methods are {', '.join(api.METHODS)}")
        if missing := api.METHODS[name].missing():
            raise BenchmarkError(f"the method {name!r} is not available: {missing}")
    names = wanted or [name for name, method in api.METHODS.items() if not method.missing()]
    return [api.METHODS[name] for name in dict.fromkeys(names)]


def _plan(
    suite_id: str, suite: Suite, methods: Iterable[Any], repeats: int, settings: dict[str, Any], server: "_Server"
) -> Iterator[Job]:
    """Repeats interleaved, so that a slow minute of the machine does not hit one method alone."""
    described = {case.name: server.describe(suite_id, case) for case in suite.cases}
    for repeat in range(repeats):
        for case in suite.cases:
            for method in methods:
                fingerprint, able = described[case.name]
                if method.id in able:
                    what = (suite_id, case.name, fingerprint, case.label, method.id)
                    yield Job(*what, repeat=repeat, **settings)


def _record(job: Job, answer: dict[str, Any], tolerance: float) -> Record:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    asked = {field.name: getattr(job, field.name) for field in fields(Job)}
    return Record(**asked, started=started, tolerance=tolerance, **answer)


def _bar(progress: bool) -> Progress:
    """A bar on a terminal, else nothing."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:42.42}"), BarColumn(24), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal))


class _Server:
    """The runner's side of `worker`: one request, one answer; started again where it dies."""

    def __init__(self, solvers: str) -> None:
        self._solvers = solvers

    def __enter__(self) -> "_Server":
        self._log = tempfile.TemporaryFile()
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._log.close()

    def _start(self) -> None:
        self._process = start_server("fairalloc.benchmarks.worker", self._log)

    def _stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # it ends its child and itself
        self._process.wait()
        self._process.stdout.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The answer; None where the server died."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer: dict[str, Any] | None = json.loads(line) if line else None
        return answer

    def describe(self, suite: str, case: Case) -> tuple[str, list[str]]:
        """The fingerprint of a case's instance, and the ids of the methods that compute its mechanism on it."""
        request = {"suite": suite, "case": case.name, "solvers": self._solvers}
        answer = self._ask(request) or {"error": f"its process ended: {self._last_words()}"}
        if "error" in answer:
            raise BenchmarkError(f"the case {case.name!r} of the suite {suite!r} cannot be built: {answer['error']}")
        return str(answer["fingerprint"]), list(answer["methods"])

    def solve(self, job: Job) -> dict[str, Any]:
        """The answer of the method, or what became of its process."""
        answer = self._ask(asdict(job) | {"deadline": job.deadline, "solvers": self._solvers})
        if answer is None:
            answer = {"termination": "error", "message": f"the process that starts solves ended: {self._last_words()}"}
            self._stop()
            self._start()
        return answer

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
