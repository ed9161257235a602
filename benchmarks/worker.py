"""The process in which cases are solved: a server that forks a fresh child for every solve.

The server (started by the runner, one request a line) imports packages and builds instances once; it never solves. Each
child inherits both, gets a limit on its address space, warms the method up on a tiny instance, then solves the case; the server
watches the clock and ends the child and all it started. This is multiprocessing's "forkserver" with three differences: it
imports the same `fairalloc` as the runner whatever the working folder, it never runs the caller's script a second time, and
packages that methods import late are imported early from the second child on.
"""

import contextlib
import importlib
import json
import math
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

from fairalloc.benchmarks.suites.suite import find_suite
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.jsonio import fingerprint

__all__ = ["serve"]

Answer = dict[str, Any]
_WARM = b"."
_NO_MEMORY = ("bad_alloc", "memory allocation", "MemoryError", "std::length_error", "Cannot allocate memory")


def serve() -> None:
    """Answer requests from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is not an answer
    with tempfile.TemporaryFile() as log:
        for line in sys.stdin:
            request = json.loads(line)
            answer = _solve_apart(request, log) if "method" in request else _described(request)
            modules = answer.pop("modules", [])
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
            _import_early(modules)


@lru_cache(maxsize=256)
def _instance(suite: str, case: str) -> Instance:
    return find_suite(suite).case(case).build()


def _described(request: Answer) -> Answer:
    """The fingerprint of the case's instance, and the methods that compute its mechanism there."""
    try:
        instance, case = _instance(request["suite"], request["case"]), find_suite(request["suite"]).case(request["case"])
        item = mechanism(case.mechanism).configure(**case.parameters)
        methods = importlib.import_module(request["solvers"]).METHODS
        fit = [key for key, method in methods.items() if method.computes(item) and not method.applies(item, instance)]
        return {"fingerprint": fingerprint(instance), "methods": fit}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _import_early(modules: Iterable[str]) -> None:
    for name in modules:
        with contextlib.suppress(Exception):  # some names are made at run time and cannot be imported
            importlib.import_module(name)


# ---- the server's side of one solve ------------------------------------------------------------------------------


def _solve_apart(job: Answer, log: IO[bytes]) -> Answer:
    """Solve in a child and return its answer, or what became of it."""
    instance = _instance(job["suite"], job["case"])
    log.seek(0)
    log.truncate()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(job, instance, writing, log)
    os.close(writing)
    received = _watch(pid, reading, job["deadline"])
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    if received is None:
        return {"termination": "time_limit", "message": f"ended from outside: over the time limit of {job['time_limit']:g} s"}
    written = received.removeprefix(_WARM)
    answer: Answer = json.loads(written) if written else _post_mortem(status, log)
    return answer


def _watch(pid: int, pipe: int, seconds: float) -> bytes | None:
    """What the child writes until it ends, or None where it takes longer; the clock starts again after the warm-up."""
    received = b""
    deadline = time.monotonic() + seconds
    while select.select([pipe, 0], [], [], max(0.0, deadline - time.monotonic()))[0]:
        if not select.select([pipe], [], [], 0)[0]:
            _end(pid)
            sys.exit("the runner is gone")  # it sends nothing while a solve runs, so its side is closed
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            _end(pid)  # the child has ended, but perhaps not what it started
            return received
        if not received:
            deadline = time.monotonic() + seconds
        received += chunk
    _end(pid)
    return None


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _post_mortem(status: int, log: IO[bytes]) -> Answer:
    log.seek(0)
    said = log.read().decode(errors="replace").strip()
    if any(word in said for word in _NO_MEMORY):
        return {"termination": "memory", "message": "ended by itself: " + said.splitlines()[-1]}
    code = os.waitstatus_to_exitcode(status)
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code} and no answer"
    return {"termination": "error", "message": f"its process ended {how}" + (f": {said.splitlines()[-1]}" if said else "")}


# ---- the child ---------------------------------------------------------------------------------------------------


def _child(job: Answer, instance: Instance, pipe: int, log: IO[bytes]) -> None:
    """Everything the forked process does; it never returns."""
    code = 1
    try:
        os.setsid()
        _own_files(log)
        _limit_memory(job["memory_mb"])
        answer = _run(job, instance, pipe)
        os.write(pipe, json.dumps(answer).encode())
        code = 0
    finally:
        os._exit(code)


def _own_files(log: IO[bytes]) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(log.fileno(), 2)


def _limit_memory(memory_mb: int) -> None:
    """Let the address space grow by `memory_mb` beyond what the imported packages take already."""
    statm = Path("/proc/self/statm")
    taken = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    limit = taken + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _run(job: Answer, instance: Instance, pipe: int) -> Answer:
    before = set(sys.modules)
    try:
        solve = importlib.import_module(job["solvers"]).solve
        case = find_suite(job["suite"]).case(job["case"])
        options = {"method": job["method"], "accuracy": job["accuracy"], "time_limit": job["time_limit"], **case.parameters}
        asked = partial(solve, mechanism=case.mechanism, **options)
        _warm_up(asked)
        modules = [name for name in sys.modules if name not in before]
        os.write(pipe, _WARM)
        return _measure(asked, instance) | {"modules": modules}
    except MemoryError:
        return {"termination": "memory", "message": f"over the memory limit of {job['memory_mb']} MB"}
    except Exception as error:
        return {"termination": "error", "message": f"{type(error).__name__}: {error}"}


def _warm_up(asked: Callable[[Instance], Allocation]) -> None:
    """First calls import and set up; what goes wrong here goes wrong again where it counts."""
    tiny = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], name="warm-up")
    with contextlib.suppress(Exception):
        asked(tiny)


def _measure(asked: Callable[[Instance], Allocation], instance: Instance) -> Answer:
    start = time.perf_counter()
    allocation = asked(instance)
    wall = time.perf_counter() - start
    times = allocation.times
    return {
        "termination": allocation.termination,
        "claims": allocation.claims_success,
        "feasibility": _residual(allocation, "feasibility"),
        "definition": _residual(allocation, "definition"),
        "build": times.build,
        "compile": times.compile,
        "solve": times.solve,
        "read": times.read,
        "wall": wall,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "iterations": allocation.iterations,
        "message": allocation.message,
        "versions": ", ".join(f"{name} {version}" for name, version in sorted(allocation.versions.items())),
    }


def _residual(allocation: Allocation, name: str) -> float:
    """A residual as a number that can be compared: inf without a point, and where none or NaN was computed."""
    value = float(allocation.residuals.get(name, math.inf)) if allocation.has_point else math.inf
    return math.inf if math.isnan(value) else value
