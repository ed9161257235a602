"""Work in a child process that is ended at its deadline: for native code and long phases that look at no clock.

1. Fork: the child has everything in memory, mechanisms of one's own too, and runs the work.
2. The child sends what it has so far, by pickle through a pipe, as often as the work likes; the last message is the best.
3. At the deadline, or on Ctrl-C, the child gets SIGTERM, which is a KeyboardInterrupt to its Python code: it may send its point.
4. What has not ended GRACE later is killed. The child is the head of a group of processes, and what the work has started ends
   with it. The caller gets the messages that arrived.
5. Where time is left, the caller imports what the child has imported, so that the next child finds it there.

What the work changes in memory stays in the child. Whether the child has ended is read off the pipe, so it does not matter who
waits for children in this process.

`watched` says that this process is itself ended at its limit by another one, as in such a child; then nothing small need be
isolated again. On Windows and macOS nothing is isolated (`AVAILABLE`): a solver that ignores the limit it is told overruns.
"""

import contextlib
import importlib
import logging
import os
import pickle
import select
import signal
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any, NoReturn, TypeVar

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.errors import FairallocError, fault
from fairalloc.solvers.running import listeners
from fairalloc.solvers.running.cpu_time import adopt, end_with_caller, processes_below
from fairalloc.solvers.running.solver_log import flush_streams

AVAILABLE = hasattr(os, "fork") and sys.platform != "darwin"
"""Whether this system can fork safely: the system libraries of macOS may crash in a forked child."""

OVERRUN = 0.1
"""The part of its limit that work may run longer before it is ended; and MARGIN seconds."""

MARGIN = 0.25

GRACE = 0.5
"""Seconds between the request to end and the end by force."""

GLANCE = 0.05
"""Seconds after which the clock is looked at again, which may be another one than the system's."""

LONGEST = 1e8
"""Seconds beyond which no alarm is set: operating systems refuse much longer ones."""

IMPORTING = 3.0
"""Seconds that must be left for the caller to import what the child has imported: CVXPY takes one or two."""

T = TypeVar("T")

_LENGTH = struct.Struct("!Q")

_WATCHED = threading.Event()

watched, be_watched = _WATCHED.is_set, _WATCHED.set
"""Whether another process ends this one at its limit, and to say so."""


@dataclass
class Outcome:
    """The last message, how the child ended ("done", "time", "interrupted" or "died"), its exit code or None, and new modules."""

    messages: list[Any] = field(default_factory=list)
    ending: str = "done"
    code: int | None = None
    modules: tuple[str, ...] = ()

    @property
    def death(self) -> str:
        """One sentence on a child that died."""
        return "its process ended" + ("" if self.code is None else f" with exit code {self.code}")


def end_of(start: float, seconds: float) -> float:
    """When what started then under a limit is ended: OVERRUN and MARGIN later, to read and judge what a solver returned at it."""
    return start + (seconds if watched() else (1.0 + OVERRUN) * seconds + MARGIN)


def within(seconds: float, work: Callable[[Callable[[T], None]], T], late: T) -> T:
    """What the work returns, which can be pickled; where it has not ended at the limit what it kept last, or `late`.

    The work gets the function that keeps. Under a limit it runs in a child, and what it changes in memory stays there.
    FairallocError where it died.
    """
    if seconds == inf or watched() or not AVAILABLE:
        return work(lambda _: None)
    outcome = isolated(lambda send: send(work(send)), end_of(time.perf_counter(), seconds), time.perf_counter)
    if outcome.ending == "interrupted":
        raise KeyboardInterrupt
    if outcome.ending == "died" and not outcome.messages:
        raise FairallocError(outcome.death)
    return outcome.messages[-1] if outcome.messages else late


@contextlib.contextmanager
def alarm(seconds: float, what: str = "") -> Iterator[list[bool]]:
    """Raise KeyboardInterrupt in the Python code inside after some seconds; the yielded list is [True] then.

    With `what`, FairallocError comes out. It needs the main thread and its alarm clock, which is left to whoever uses it.
    """
    rung = [False]
    mine = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not (mine and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and seconds < LONGEST):
        yield rung
        return

    def ring(*_: object) -> NoReturn:
        rung[0] = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield rung
    except KeyboardInterrupt:
        if not (what and rung[0]):
            raise
        raise FairallocError(f"{what} did not end within the time limit of {seconds:g} seconds") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def configuring(item: Mechanism, seconds: float) -> contextlib.AbstractContextManager[list[bool]]:
    """An alarm for the parameters of a mechanism of one's own; in ours it would leave no answer."""
    return alarm(inf if item.is_ours else seconds, f"configure of {item.id!r}")


def isolated(work: Callable[[Callable[[Any], None]], object], deadline: float, clock: Callable[[], float]) -> Outcome:
    """Run `work(send)` in a child until it ends or the clock shows the deadline; GRACE later it is killed.

    `send` sends an object to the caller. What the work raises is raised here.
    """
    flush_streams()
    known = frozenset(sys.modules)
    reading, writing, pid = _forked()
    if pid == 0:
        os.close(reading)
        _child(work, writing, known)
    os.close(writing)
    try:
        outcome = _outcome(pid, reading, deadline, clock)
    finally:
        os.close(reading)
    if deadline - clock() > IMPORTING:
        import_all(outcome.modules)
    return outcome


def _forked() -> tuple[int, int, int]:
    """A pipe's ends for reading and for writing, and the child's number, 0 in the child; FairallocError where there are none."""
    pipe: tuple[int, ...] = ()
    try:
        pipe = os.pipe()
        return *pipe, os.fork()
    except OSError as error:
        for end in pipe:
            os.close(end)
        reason = f"{error.strerror}; with isolate=False solve starts none"
        raise FairallocError(f"no process can be started that is ended at a time limit or at Ctrl-C: {reason}") from None


def import_all(modules: Iterable[str]) -> None:
    """Import what can be imported; what cannot is said by whoever needs it."""
    for name in modules:
        with contextlib.suppress(Exception):  # some names are made at run time and cannot be imported
            importlib.import_module(name)


def _child(work: Callable[[Callable[[Any], None]], object], pipe: int, known: frozenset[str]) -> NoReturn:
    last: _Done | _Raised | None = None
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides
        signal.signal(signal.SIGTERM, _end)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end_with_caller(signal.SIGKILL)
        adopt()
        be_watched()
        listeners.hand_over(lambda step: _send(pipe, step))
        work(lambda message: _send(pipe, message))
        last = _Done(tuple(name for name in sys.modules if name not in known))
    except Exception as error:
        last = _Raised(error, traceback.format_exc())
    finally:
        try:
            for request in (signal.SIGTERM, signal.SIGALRM):  # what is known is sent
                signal.signal(request, signal.SIG_IGN)
            _kill(processes_below(os.getpid()))  # before the last message: the caller ends the group when it arrives
            if last is not None:
                _send(pipe, last)
        finally:  # a request to end that came just before
            os._exit(0 if isinstance(last, _Done) else 1)


def _end(*_: object) -> NoReturn:
    """What was asked to end says nothing of it: libraries write what interrupts them, and Python what a finalizer loses."""
    logging.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.unraisablehook = _ask_again
    raise KeyboardInterrupt


def _ask_again(lost: "sys.UnraisableHookArgs") -> None:
    """Where a finalizer has lost the request, it comes again when that has ended."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        signal.signal(signal.SIGALRM, _end)
        signal.setitimer(signal.ITIMER_REAL, 0.01)


@dataclass(frozen=True)
class _Raised:
    """What the work raised, and the traceback, which is not pickled with it."""

    error: Exception
    traceback: str


@dataclass(frozen=True)
class _Done:
    """The last message of work that has ended, with the modules that it imported."""

    modules: tuple[str, ...]


def _send(pipe: int, message: Any) -> None:
    """By length and pickle; an error that cannot be read again is told as text. FairallocError where a message is no pickle."""
    try:
        data = pickle.dumps(message)
        if isinstance(message, _Raised):
            pickle.loads(data)
    except Exception as error:
        if not isinstance(message, _Raised):
            raise FairallocError(f"what was computed cannot be sent from its process to this one: {fault(error)}") from error
        told = RuntimeError(f"{type(message.error).__name__}: {message.error}")
        data = pickle.dumps(_Raised(told, traceback.format_exc()))
    data = _LENGTH.pack(len(data)) + data
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # half a message would spoil those that follow
    while data:
        data = data[os.write(pipe, data) :]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _outcome(pid: int, pipe: int, deadline: float, clock: Callable[[], float]) -> Outcome:
    outcome, received = Outcome(), _Received()
    try:
        try:
            if not received.all_until(pipe, pid, lambda: deadline - clock()):
                outcome.ending = "time"
        except KeyboardInterrupt:
            outcome.ending = "interrupted"
        if outcome.ending != "done":
            _signal(os.kill, pid, signal.SIGTERM)
            end = time.monotonic() + GRACE
            received.all_until(pipe, pid, lambda: end - time.monotonic())
    finally:  # also after what a listener raises, or a second Ctrl-C
        if received.end is None:
            _kill([pid, *processes_below(pid)])
        _signal(os.killpg, pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # something else in this process has waited for it
            outcome.code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if isinstance(received.end, _Raised):
        raise received.end.error from RuntimeError(received.end.traceback)
    if received.end is not None:
        outcome.modules = received.end.modules
    elif outcome.ending == "done":
        outcome.ending = "died"
    outcome.messages = received.messages
    return outcome


def _kill(processes: Iterable[int]) -> None:
    for pid in processes:
        _signal(os.kill, pid, signal.SIGKILL)


def _signal(send: Callable[[int, int], None], pid: int, number: int) -> None:
    """Send a signal to what may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        send(pid, number)


class _Received:
    """The last message that has arrived whole, of many points of a large instance one, and how the child said that it ended."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.end: _Done | _Raised | None = None  # what the child has started may keep the pipe open
        self._data = bytearray()

    def all_until(self, pipe: int, pid: int, left: Callable[[], float]) -> bool:
        """Read until the child has ended (True) or no time is left."""
        while (seconds := left()) > 0:
            listeners.tick()
            if _has_data(pipe, min(seconds, GLANCE)):
                chunk = os.read(pipe, 1 << 20)
                self._take(chunk)
                if not chunk or self.end is not None:
                    return True
            elif _has_ended(pid) and not _has_data(pipe, 0):
                return True
        return False

    def _take(self, chunk: bytes) -> None:
        self._data += chunk
        while len(self._data) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._data)[0]
            if len(self._data) < end:
                return
            message = pickle.loads(bytes(self._data[_LENGTH.size : end]))
            if isinstance(message, listeners.ProgressStep):
                listeners.tick(message)
            elif isinstance(message, _Done | _Raised):
                self.end = message
            else:
                self.messages = [message]
            del self._data[:end]


def _has_data(pipe: int, seconds: float) -> bool:
    """Whether there is something to read, or the end, within so many seconds; `select` refuses numbers of files over 1023."""
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    return bool(waiting.poll(1000 * seconds))


def _has_ended(pid: int) -> bool:
    """Whether the child has ended; it is not waited for."""
    with contextlib.suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return True
