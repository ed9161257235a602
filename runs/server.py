"""The process between a pool and its children (processes.py): it forks a child for each request and watches the child's clock.

This is like multiprocessing's "forkserver", with four differences: the limits of a child are set and watched here, a child is
ended with all that it started, the caller's script is never run a second time, and packages that a child imported are imported
here too, so that later children need not.

    1. prepare what the request needs, here
    2. fork a child; it gets a session, a limit on its address space and no way to the pool; it adopts as this process does
    3. wait for the child's answer, its end, its time limit or the end of the caller
    4. end the child with all that it started, and write the answer, or why there is none

What a child started is found although it may have left the child's session: on Linux this process adopts whatever lost its
parent ("subreaper"). When the caller ends, also while an instance is being built, this process ends with all its descendants.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import IO

from fairalloc.runs.processes import PREPARATION, Document, last_line, no_answer, parsed
from fairalloc.solvers.processor import adopt, processor_seconds

__all__ = ["serve"]

_Mark = tuple[float, float]
"""The seconds of this process's clock, and those of the processors that a child and all below it have used."""

_RESTART = b"."
_PR_SET_PDEATHSIG = 1
_GENERATIONS = 100  # of processes that start others before they end
_NO_MEMORY = ("bad_alloc", "memory allocation", "MemoryError", "std::length_error", "Cannot allocate memory")


def serve(handler: str, core: int | None = None) -> None:
    """Answer requests from standard input, one a line, until it ends.

    Parameters
    ----------
    handler : name of the module with `prepare` and `answer`
    core : the processor to stay on; None = any
    """
    _end_with_caller()
    if core is not None:
        os.sched_setaffinity(0, {core})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is not an answer
    module = importlib.import_module(handler)
    with tempfile.TemporaryFile() as log:
        for line in sys.stdin:
            outcome = _outcome(module, json.loads(line), log, answers)
            modules = outcome.pop("modules", [])
            answers.write(json.dumps(outcome) + "\n")
            answers.flush()
            _import_early(modules)


def _end_with_caller() -> None:
    """Adopt what loses its parent below this process, and end with all of it when the caller ends."""
    if sys.platform != "linux":
        return
    adopt()
    signal.signal(signal.SIGTERM, _end_all)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_all(*_: object) -> None:
    _end_descendants()
    os._exit(1)


def _end_descendants() -> None:
    """End all processes below this one; those whose parent has ended are below it too, and others' children become so (Linux)."""
    for _ in range(_GENERATIONS):
        below = _children() if sys.platform == "linux" else []
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in below:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        if not below:
            return


def _children() -> list[int]:
    """The processes whose parent this one is."""
    found, own = [], str(os.getpid())
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            if stat.read_text(errors="replace").rpartition(")")[2].split()[1] == own:
                found.append(int(stat.parent.name))
    return found


def _import_early(modules: Iterable[str]) -> None:
    for name in modules:
        with contextlib.suppress(Exception):  # some names are made at run time and cannot be imported
            importlib.import_module(name)


def _outcome(module: ModuleType, task: Document, log: IO[bytes], answers: IO[str]) -> Document:
    """The answer to a task, or why there is none."""
    try:
        _prepare(module, task["request"])
    except Exception as error:
        return no_answer("error", f"{type(error).__name__}: {error}")
    log.seek(0)
    log.truncate()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.close(answers.fileno())
        _child(module, task, writing, log)
    os.close(writing)
    marks: list[_Mark] = []
    received = _watch(pid, reading, task["seconds"], marks)
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    _end_descendants()
    if received is None:
        return no_answer("time", "it took too long")
    written = received.lstrip(_RESTART)
    return _with_clock(parsed(written), marks) if written else _post_mortem(status, log)


def _with_clock(outcome: Document, marks: list[_Mark]) -> Document:
    """The outcome, and in its answer as "outside" what passed between the first and the last restart of the clock."""
    if len(marks) > 1 and isinstance(outcome.get("answer"), dict):
        outcome["answer"]["outside"] = [last - first for first, last in zip(marks[0], marks[-1], strict=True)]
    return outcome


def _prepare(module: ModuleType, request: Document) -> None:
    """The alarm ends this process where preparing takes too long, which the pool sees."""
    signal.setitimer(signal.ITIMER_REAL, PREPARATION)
    try:
        module.prepare(request)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _watch(pid: int, pipe: int, seconds: float, marks: list[_Mark]) -> bytes | None:
    """What the child writes until it has answered or ended, or None where it takes longer; _RESTART sets the clock back.

    Parameters
    ----------
    pid : of the child
    pipe : from it
    seconds : that it may take
    marks : gets the clocks at each restart
    """
    received = b""
    deadline = time.monotonic() + seconds
    while not received.endswith(b"\n"):
        ready = select.select([pipe, 0], [], [], max(0.0, deadline - time.monotonic()))[0]
        if not ready:
            _end(pid)
            return None
        if pipe not in ready:  # the pool sends nothing while it waits, so its end of the other pipe is closed
            _end(pid)
            _end_descendants()
            sys.exit("the caller is gone")
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            break
        received += chunk
        if (restarts := len(received) - len(received.lstrip(_RESTART))) > len(marks):
            now = time.monotonic()
            deadline = now + seconds
            marks.extend([(now, processor_seconds(pid))] * (restarts - len(marks)))
    _end(pid)  # the child has answered or ended, but perhaps not what it started
    return received


def _end(pid: int) -> None:
    """End a child and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # it may not have its own session yet
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _post_mortem(status: int, log: IO[bytes]) -> Document:
    """Why a child ended without a word."""
    said = last_line(log)
    log.seek(0)
    if any(word.encode() in log.read() for word in _NO_MEMORY):
        return no_answer("memory", f"ended by itself: {said}")
    code = os.waitstatus_to_exitcode(status)
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code} and no answer"
    return no_answer("error", f"its process ended {how}" + (f": {said}" if said else ""))


# ---- the child ---------------------------------------------------------------------------------------------------


def _child(module: ModuleType, task: Document, pipe: int, log: IO[bytes]) -> None:
    """Everything the forked process does; it never returns."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _own_files(log)
        _limit_memory(task["memory_mb"])
        _end_with_parent()
        adopt()
        _write(pipe, json.dumps(_answered(module, task, pipe)).encode() + b"\n")
        code = 0
    finally:
        os._exit(code)


def _end_with_parent() -> None:
    """Ask Linux to end this process when the server is killed; elsewhere it runs on until its request is answered."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _own_files(log: IO[bytes]) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(log.fileno(), 2)


def _limit_memory(memory_mb: int | None) -> None:
    """Let the address space grow by `memory_mb` beyond what the imported packages take already."""
    if memory_mb is None:
        return
    statm = Path("/proc/self/statm")
    taken = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    limit = taken + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _answered(module: ModuleType, task: Document, pipe: int) -> Document:
    before = set(sys.modules)
    try:
        answer = module.answer(task["request"], partial(os.write, pipe, _RESTART))
        json.dumps(answer)  # raises where it is no document
    except MemoryError:
        return no_answer("memory", f"over the memory limit of {task['memory_mb']} MB")
    except Exception as error:
        return no_answer("error", f"{type(error).__name__}: {error}")
    return {"answer": answer, "modules": [name for name in sys.modules if name not in before]}


def _write(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]
