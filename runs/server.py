"""The process between a pool and its children (processes.py): it forks a child for each request and watches the child's clock.

    1. prepare what the request needs, here
    2. fork a child; it gets a session, a limit on its address space and no way to the pool; it adopts as this process does
    3. wait for the child's answer, its end, its time limit or the end of the caller
    4. end the child with all that it started, and write the answer, or why there is none

Where a request has something hidden (processes.py), another child makes what is given, in a file without a name, before step 2,
and another judges after step 4: neither this process nor the child that answers holds what is hidden.

A child writes a nonce, which it alone was told, before the number of its restart and before its answer. All else is no answer.

On Linux this process adopts whatever lost its parent below it ("subreaper"), and ends with all its descendants when the caller
ends.
"""

import contextlib
import hashlib
import importlib
import json
import os
import resource
import secrets
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from fairalloc.models.errors import fault
from fairalloc.runs.processes import PREPARATION, START, Document, NoAnswer, garbled, last_line, parsed
from fairalloc.solvers.running.cpu_time import adopt, children_of, end_with_caller, processor_seconds
from fairalloc.solvers.running.time_limits import be_watched

_Mark = tuple[float, float]  # seconds of this process's clock, and of the processors that it and all below it have used
_Work = Callable[[Callable[[], bytes]], Document]  # what a child does: it gets `restart` and returns its answer
_LARGEST = 1 << 30  # bytes of an answer
_GENERATIONS = 100  # of processes that start others before they end
_NO_MEMORY = ("bad_alloc", "memory allocation", "MemoryError", "std::length_error", "Cannot allocate memory")


def serve(handler: str, core: int | None = None) -> None:
    """Answer requests from standard input, one a line, until it ends; the process stays on the core, None = any."""
    if sys.platform == "linux":  # adopt what loses its parent below this process, and end with all of it when the caller ends
        adopt()
        signal.signal(signal.SIGTERM, _end_all)
        end_with_caller(signal.SIGTERM)
    if core is not None:
        os.sched_setaffinity(0, {core})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is not an answer
    with tempfile.TemporaryFile() as log, tempfile.TemporaryFile() as given:
        parent = _Parent(importlib.import_module(handler), answers, log, given)
        for task in map(json.loads, sys.stdin):  # no line stays in a variable that children inherit
            _import_early(parent.answer(task))


def _end_all(*_: object) -> None:
    _end_descendants()
    os._exit(1)


def _end_descendants() -> None:
    """End all processes below this one; those whose parent has ended are below it too, and others' children become so (Linux)."""
    for _ in range(_GENERATIONS):
        below = children_of(os.getpid())
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in below:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        if not below:
            return


def _import_early(modules: Iterable[str]) -> None:
    """Import what a child had to import, if it is of an installed package: a child could name a file of its own."""
    for name in modules:
        with contextlib.suppress(Exception):  # some names are made at run time and cannot be imported
            if name.partition(".")[0] in _installed():
                importlib.import_module(name)


@cache
def _installed() -> set[str]:
    return {"fairalloc", *sys.stdlib_module_names, *packages_distributions()}


class _Parent:
    """What forks the children that answer, judge, and write what is given to a file; the log gets what they print."""

    def __init__(self, module: ModuleType, answers: IO[str], log: IO[bytes], given: IO[bytes]) -> None:
        self._module, self._answers, self._log, self._given = module, answers, log, given
        self._key, self._start = "", 0

    def answer(self, task: Document) -> list[str]:
        """Write the answer to a task, or why there is none; returns the modules that its child imported."""
        outcome = self._outcome(task)
        modules = outcome.pop("modules", None)
        self._answers.write(json.dumps(outcome) + "\n")
        self._answers.flush()
        return modules if isinstance(modules, list) else []

    def _outcome(self, task: Document) -> Document:
        request, memory = task["request"], task["memory_mb"]
        signal.setitimer(signal.ITIMER_REAL, PREPARATION)  # it ends this process where preparing takes too long: the pool sees it
        try:
            self._module.prepare(request)
        except Exception as error:
            return NoAnswer("error", fault(error))._asdict()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if (is_judged := "hidden" in request) and (failed := self._keep(request.pop("hidden"))):
            return NoAnswer("not given", failed["sentence"])._asdict()
        outcome, marks = self._forked(lambda restart: self._module.answer(request, restart), task["seconds"], memory, is_judged)
        if not is_judged or "answer" not in outcome:
            return outcome
        if len(marks) < 2:
            return NoAnswer("error", "its process answered without asking for what is given")._asdict()
        outside = [last - first for first, last in zip(marks[0], marks[-1], strict=True)]
        judged, _ = self._forked(lambda _: self._judge(request, outcome["answer"], outside), PREPARATION, memory, has_file=True)
        if "answer" not in judged:
            return NoAnswer("error", f"its answer was not judged: {judged['sentence']}")._asdict()
        _import_early(judged["modules"])
        return judged | {"modules": outcome.get("modules")}

    def _keep(self, hidden: Document) -> Document | None:
        """Have a child write the hidden part and what is given to the file, if it is not there; returns why it cannot."""
        head = json.dumps(hidden).encode()
        if (key := hashlib.sha256(head).hexdigest()) == self._key:
            return None

        def work(_: Callable[[], bytes]) -> Document:
            self._given.seek(0)
            self._given.truncate()
            self._given.write(head + self._module.given(hidden))
            self._given.flush()
            return {}

        self._key = ""
        outcome, _ = self._forked(work, PREPARATION, None, has_file=True)
        if "answer" not in outcome:
            return outcome
        _import_early(outcome["modules"])
        self._key, self._start = key, len(head)
        return None

    def _judge(self, request: Document, answer: Any, outside: list[float]) -> Document:
        """In a child that ran nothing of what it judges."""
        self._given.seek(0)
        hidden, given = json.loads(self._given.read(self._start)), self._given.read()
        verdict: Document = self._module.judge(request, hidden, given, answer, outside)
        return verdict

    def _forked(
        self, work: _Work, seconds: float, memory_mb: int | None, is_fed: bool = False, has_file: bool = False
    ) -> tuple[Document, list[_Mark]]:
        """What a child answers, or why it does not, and the clocks at its restart, if any, and at its end.

        Its first restart returns what is given only where `is_fed`, and it may look at that file only where `has_file`.
        """
        self._log.seek(0)
        self._log.truncate()
        nonce = secrets.token_hex(8).encode()
        (reading, writing), (taking, feeding) = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            for file in (reading, feeding, self._answers.fileno()):
                os.close(file)
            if not has_file:
                self._given.close()
            _child(work, _Pipes(writing, taking, nonce), memory_mb, self._log)
        for file in (writing, taking):
            os.close(file)
        feed = _Feed(self._given if is_fed else None, self._start, feeding)
        marks: list[_Mark] = []
        received = _watch(pid, reading, nonce, seconds, marks, feed)
        feed.close()
        os.close(reading)
        _, status = os.waitpid(pid, 0)
        _end_descendants()
        if received is None:
            return NoAnswer("time", "it took too long")._asdict(), marks
        if not received:
            return _post_mortem(status, self._log), marks
        word = nonce + b" "
        return (parsed(received.removeprefix(word)) if received.startswith(word) else garbled(received)), marks


class _Feed:
    """A file on its way into a pipe, from a place on, once it is started; None = nothing."""

    def __init__(self, file: IO[bytes] | None, at: int, pipe: int) -> None:
        self._file, self._at, self._pipe, self.is_filled = file, at, pipe, file is not None
        self.waiting: list[int] = []
        os.set_blocking(pipe, False)

    def start(self) -> None:
        self.waiting = [self._pipe]

    def push(self) -> None:
        """Write what there is room for, and close the pipe at the end."""
        chunk = b"" if self._file is None else os.pread(self._file.fileno(), 1 << 16, self._at)
        try:
            self._at += os.write(self._pipe, chunk)
        except BrokenPipeError:
            chunk = b""
        if not chunk:
            self.close()

    def close(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe, self.waiting = -1, []


def _watch(pid: int, pipe: int, nonce: bytes, seconds: float, marks: list[_Mark], feed: _Feed) -> bytes | None:
    """What the child writes besides restarts until it has answered or ended, or None where it takes longer.

    `seconds` count until its first restart, when it is fed, and again from there on. Where something is given, it has START at
    least until then. `marks` gets the clocks then and at the end.
    """
    received = bytearray()
    deadline = time.monotonic() + (max(seconds, START) if feed.is_filled else seconds)
    while not received.endswith(b"\n") and len(received) < _LARGEST:
        readable, writable, _ = select.select([pipe, 0], feed.waiting, [], max(0.0, deadline - time.monotonic()))
        if not (readable or writable):
            _end(pid)
            return None
        if writable:
            feed.push()
        if 0 in readable and pipe not in readable:  # the pool sends nothing while it waits: its end of the other pipe is closed
            _end(pid)
            _end_descendants()
            sys.exit("the caller is gone")
        if pipe not in readable:
            continue
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            break
        received += chunk
        if not marks and received.startswith(word := nonce + b" 1\n"):
            del received[: len(word)]
            marks.append((time.monotonic(), processor_seconds(os.getpid())))
            deadline = marks[0][0] + seconds
            feed.start()
    marks.append((time.monotonic(), processor_seconds(os.getpid())))
    _end(pid)  # the child has answered or ended, but perhaps not what it started
    return bytes(received)


def _end(pid: int) -> None:
    """End a child and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # it may not have its own session yet
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _post_mortem(status: int, log: IO[bytes]) -> Document:
    said = last_line(log)
    log.seek(0)
    if any(word.encode() in log.read() for word in _NO_MEMORY):
        return NoAnswer("memory", f"ended by itself: {said}")._asdict()
    code = os.waitstatus_to_exitcode(status)
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code} and no answer"
    return NoAnswer("error", f"its process ended {how}" + (f": {said}" if said else ""))._asdict()


# ---- the child ---------------------------------------------------------------------------------------------------


class _Pipes:
    """The child's ends of its pipes, and the word that its messages begin with."""

    def __init__(self, writing: int, taking: int, nonce: bytes) -> None:
        self._writing, self._taking, self._nonce, self._number = writing, taking, nonce, 0

    def restart(self) -> bytes:
        """Set the clock back, once, and mark the time; returns what is given, once."""
        self._number += 1
        os.write(self._writing, b"%s %d\n" % (self._nonce, self._number))
        with contextlib.suppress(OSError), os.fdopen(self._taking, "rb") as file:
            return file.read()
        return b""

    def answer(self, outcome: Document) -> None:
        """Write the last word."""
        with os.fdopen(self._writing, "wb") as file:
            file.write(self._nonce + b" " + json.dumps(outcome).encode() + b"\n")


def _child(work: _Work, pipes: _Pipes, memory_mb: int | None, log: IO[bytes]) -> None:
    """Everything the forked process does; it never returns."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for own, file in enumerate((nothing, nothing, log.fileno())):
            os.dup2(file, own)
        _limit_memory(memory_mb)
        end_with_caller(signal.SIGKILL)  # elsewhere it runs on until its request is answered
        adopt()
        be_watched()
        pipes.answer(_answered(work, pipes, memory_mb))
        code = 0
    finally:
        os._exit(code)


def _limit_memory(memory_mb: int | None) -> None:
    """Let the address space grow by `memory_mb` beyond what the imported packages take already."""
    if memory_mb is None:
        return
    statm = Path("/proc/self/statm")
    taken = int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0
    limit = taken + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _answered(work: _Work, pipes: _Pipes, memory_mb: int | None) -> Document:
    before = set(sys.modules)
    try:
        answer = work(pipes.restart)
        json.dumps(answer)  # raises where it is no document
    except MemoryError:
        return NoAnswer("memory", f"over the memory limit of {memory_mb} MB")._asdict()
    except Exception as error:
        return NoAnswer("error", fault(error))._asdict()
    return {"answer": answer, "modules": [name for name in sys.modules if name not in before]}
