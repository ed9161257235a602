"""Requests that are answered in child processes, which can be stopped from outside whatever they do.

    caller -> Pool -> a few servers (server.py), each of which answers one request at a time -> one forked child for each request

A request is a JSON document, and so is an answer. A handler is a module with two functions:

    prepare(request)          in the server, before the fork: what later requests need too, such as imports
    answer(request, restart)  in the child; restart() sets the clock of the time limit back to 0, as after a warm-up, once

Where a request has "hidden", the child that answers does not get it, and what it answers is data for another child that judges:

    given(hidden)                                   in a child of its own: bytes, which restart() returns where it is answered
    judge(request, hidden, given, answer, outside)  in a child of its own: what becomes the answer

`outside` are the seconds from the restart to the answer, and those of the processors, by the clocks of the server, which nothing
in the child can change.

Where a child exceeds its time or its memory, raises, dies or writes what is no answer, its request gets a `NoAnswer`, and the
next request is answered. Children end when the caller ends, also where it is killed.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from math import inf
from typing import IO, Any, Literal, NamedTuple, cast, get_args

from fairalloc.models.errors import NotInstalled

Document = dict[str, Any]
Cause = Literal["time", "memory", "error", "not given"]

PREPARATION = 600.0  # seconds that each of `prepare`, `given` and `judge` may take
START = 60.0  # seconds that a server may take to start, and at least a child until its restart
LONGEST = 1e6  # the longest time limit in seconds; more is taken as this, because operating systems refuse much longer waits

# One thread for each process, so that the times of methods compare and do not depend on what else runs.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from fairalloc.runs.server import serve; serve(sys.argv[2], json.loads(sys.argv[3]))"
)
_CHUNK = 1 << 16


class Task(NamedTuple):
    """A request, `seconds` of wall time, `memory_mb` of address space beyond what the server takes; None = any. And a name."""

    request: Document
    seconds: float
    memory_mb: int | None = None
    label: str = ""


class NoAnswer(NamedTuple):
    """Why a request has no answer: over its time or memory, an error such as a dead process, or nothing could be given to it."""

    cause: Cause
    sentence: str


def isolation_missing() -> str:
    """What this operating system lacks for a pool, as a sentence; "" where nothing is missing."""
    if hasattr(os, "fork") and find_spec("resource") is not None:
        return ""
    return "separate processes with limits need an operating system that can fork, such as Linux or macOS"


class Pool(contextlib.AbstractContextManager["Pool"]):
    """Servers that answer `size` requests at the same time by a handler; use it in a `with` statement, which ends them.

    Where `pinned`, each server and its children stay on a core of their own, if the operating system can do that. NotInstalled is
    raised where it cannot isolate processes.
    """

    def __init__(self, handler: str, size: int = 1, pinned: bool = False) -> None:
        if missing := isolation_missing():
            raise NotInstalled(missing)
        cores = sorted(os.sched_getaffinity(0)) if pinned and hasattr(os, "sched_getaffinity") else []
        self._servers = [_Server(handler, cores[k % len(cores)] if cores else None) for k in range(size)]

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
        for server in self._servers:
            server.end()

    @property
    def process_ids(self) -> list[int]:
        return [server.process.pid for server in self._servers if server.process is not None]

    def ask(self, task: Task) -> Document | NoAnswer:
        ((_, answer),) = self.answers([task])
        return answer

    def answers(self, tasks: Iterable[Task], until: float = inf) -> Iterator[tuple[Task, Document | NoAnswer]]:
        """Each task with its answer, in the order in which they are answered; a task is taken only when a server is free.

        Where `time.monotonic()` passes `until`, no further task is taken, and those under way are ended and have no answer.
        """
        waiting = iter(tasks)
        idle, busy = list(self._servers), list[_Server]()
        try:
            while True:
                while idle and time.monotonic() < until and (task := next(waiting, None)) is not None:
                    busy.append(idle.pop())
                    busy[-1].send(task)
                if not busy:
                    return
                for server in _ready(busy, until):
                    busy.remove(server)
                    idle.append(server)
                    yield server.result()
                while busy and time.monotonic() >= until:
                    idle.append(server := busy.pop())
                    server.end(at_once=True)
                    yield server.task, NoAnswer("time", "the time of all requests has ended")
        finally:
            for server in busy:  # nobody waits for their answers
                server.end()


def _ready(servers: list["_Server"], until: float) -> list["_Server"]:
    """Exchange data with the servers until some have answered, died or exceeded their time; [] where all time has ended."""
    while True:
        with selectors.DefaultSelector() as selector:
            for server in servers:
                server.register(selector)
            first = min(until, *(server.deadline for server in servers)) - time.monotonic()
            for key, _ in selector.select(max(0.0, first)):
                key.data()
        if (done := [server for server in servers if server.is_done()]) or time.monotonic() >= until:
            return done


class _Server:
    """The caller's end of one server; it is started when it is needed, and again after it died."""

    def __init__(self, handler: str, core: int | None) -> None:
        self.handler, self.core = handler, core
        self.process: subprocess.Popen[bytes] | None = None
        self.deadline = 0.0

    def send(self, task: Task) -> None:
        """Begin to send a task."""
        if self.process is None:
            self._start()
        seconds = min(task.seconds, LONGEST)
        message = {"request": task.request, "seconds": seconds, "memory_mb": task.memory_mb}
        self.task, self._received, self._ended = task, b"", False
        self._unsent = json.dumps(message).encode() + b"\n"
        self.deadline = time.monotonic() + 2 * START + 3 * PREPARATION + 2 * seconds

    def _start(self) -> None:
        """It imports the same packages as its parent whatever the working folder; Ctrl-C is sent to the parent only."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, json.dumps(sys.path), self.handler, json.dumps(self.core)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            env=os.environ | _ONE_THREAD,
            start_new_session=True,
        )
        self._requests, self._answers = cast(IO[bytes], self.process.stdin), cast(IO[bytes], self.process.stdout)
        for pipe in (self._requests, self._answers):
            os.set_blocking(pipe.fileno(), False)

    def register(self, selector: selectors.BaseSelector) -> None:
        """Wait for what is to be read, and for room for what is not sent yet."""
        selector.register(self._answers, selectors.EVENT_READ, self._read)
        if self._unsent:
            selector.register(self._requests, selectors.EVENT_WRITE, self._write)

    def _read(self) -> None:
        chunk = os.read(self._answers.fileno(), _CHUNK)
        self._received += chunk
        self._ended = not chunk

    def _write(self) -> None:
        try:
            sent = os.write(self._requests.fileno(), self._unsent[:_CHUNK])
            self._unsent = self._unsent[sent:]
        except BrokenPipeError:  # it has died, which is read from the other pipe
            self._unsent = b""

    def is_done(self) -> bool:
        """Whether there is an answer, or none will come."""
        return self._ended or self._received.endswith(b"\n") or time.monotonic() >= self.deadline

    def result(self) -> tuple[Task, Document | NoAnswer]:
        """The task with what came of it."""
        if not self._received.endswith(b"\n"):
            return self.task, self._given_up()
        outcome = parsed(self._received)
        return self.task, outcome["answer"] if "answer" in outcome else NoAnswer(**outcome)

    def _given_up(self) -> NoAnswer:
        """The server itself has died or hangs: end it."""
        assert self.process is not None
        if not self._ended:
            self.process.kill()
        code = self.process.wait()
        said = last_line(self._log)
        self.end()
        if not self._ended or code == -signal.SIGALRM:
            return NoAnswer("time", "preparing it took too long")
        return NoAnswer("error", f"its process ended: {said or 'it said nothing'}")

    def close(self) -> None:
        """Close the pipe of requests: the server then ends its child and itself."""
        if self.process is not None:
            self._requests.close()

    def end(self, at_once: bool = False) -> None:
        """End the server and what it started; at once where it may be busy with something else than waiting."""
        if self.process is None:
            return
        if at_once:
            self.process.terminate()  # it ends what is below it
        self.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._answers.close()
        with contextlib.suppress(OSError):
            self._log.close()
        self.process = None


def parsed(line: bytes) -> Document:
    """What a process wrote: a document with "answer", or with "cause" and "sentence"; anything else is an error."""
    with contextlib.suppress(AttributeError, TypeError, ValueError, RecursionError):
        outcome: Document = json.loads(line)
        if isinstance(outcome, dict) and "answer" in outcome:
            return outcome
        if outcome.keys() == {"cause", "sentence"} and outcome["cause"] in get_args(Cause) and type(outcome["sentence"]) is str:
            return outcome
    return garbled(line)


def garbled(line: bytes) -> Document:
    """What a process wrote that is no answer."""
    return NoAnswer("error", f"its process wrote what is no answer: {line[:40].decode(errors='replace')!r}")._asdict()


def last_line(log: IO[bytes]) -> str:
    """The last line of what a process wrote to its file of errors."""
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
