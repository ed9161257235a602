"""Work in a child process that is ended at its deadline: for native code and long phases that look at no clock.

1. Fork: the child has everything in memory, mechanisms of one's own too, and runs the work.
2. The child sends what it has so far, by pickle through a pipe, as often as the work likes; the last message is the best.
3. At the deadline, or on Ctrl-C, the child gets SIGTERM, which is a KeyboardInterrupt to its Python code: it may send its point.
4. What has not ended GRACE later is killed. The caller gets the messages that arrived.

Where processes cannot be forked (Windows) nothing is isolated, `AVAILABLE` is false: a solver that ignores its limit overruns.
"""

import contextlib
import os
import pickle
import select
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["AVAILABLE", "Outcome", "isolated"]

AVAILABLE = hasattr(os, "fork")
"""Whether this system can fork."""

GRACE = 0.5
"""Seconds between the request to end and the end by force."""

GLANCE = 0.05
"""Seconds after which the clock is looked at again, which may be another one than the system's."""

_LENGTH = struct.Struct("!Q")


@dataclass
class Outcome:
    """What arrived, and how the child ended: "done", "time", "interrupted" or "died"."""

    messages: list[Any] = field(default_factory=list)
    ending: str = "done"
    code: int = 0


def isolated(work: Callable[[Callable[[Any], None]], None], deadline: float, clock: Callable[[], float]) -> Outcome:
    """Run `work(send)` in a child until it ends or the clock shows the deadline.

    Parameters
    ----------
    work : gets a function that sends an object to the caller; an exception that it raises is sent and raised here
    deadline : seconds of the clock at which the child is asked to end; GRACE later it is killed
    clock : gives the seconds now

    Returns
    -------
    The messages in order, and how the child ended

    Raises
    ------
    Exception : what the work raised
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, which numerical libraries start
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(work, writing)
    os.close(writing)
    try:
        return _watched(pid, reading, deadline, clock)
    finally:
        os.close(reading)


def _child(work: Callable[[Callable[[Any], None]], None], pipe: int) -> None:
    """Everything the child does; it never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        work(lambda message: _send(pipe, message))
        code = 0
    except Exception as error:
        _send(pipe, _Raised(error))
    finally:
        os._exit(code)


@dataclass(frozen=True)
class _Raised:
    error: Exception


def _send(pipe: int, message: Any) -> None:
    """By length and pickle; what cannot be pickled is told as text."""
    try:
        data = pickle.dumps(message)
    except Exception as error:
        reason = message.error if isinstance(message, _Raised) else error
        data = pickle.dumps(_Raised(RuntimeError(f"{type(reason).__name__}: {reason}")))
    data = _LENGTH.pack(len(data)) + data
    while data:
        data = data[os.write(pipe, data) :]


def _watched(pid: int, pipe: int, deadline: float, clock: Callable[[], float]) -> Outcome:
    outcome, received = Outcome(), bytearray()
    try:
        if not _received(pipe, received, lambda: deadline - clock()):
            outcome.ending = "time"
    except KeyboardInterrupt:
        outcome.ending = "interrupted"
    if outcome.ending != "done":
        os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + GRACE
        _received(pipe, received, lambda: end - time.monotonic())
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    outcome.code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    outcome.messages = list(_messages(bytes(received)))
    if outcome.ending == "done" and outcome.code:
        outcome.ending = "died"
    for message in outcome.messages:
        if isinstance(message, _Raised):
            raise message.error
    return outcome


def _received(pipe: int, received: bytearray, left: Callable[[], float]) -> bool:
    """Read until the child has closed its end (True) or no time is left."""
    while (seconds := left()) > 0:
        if not select.select([pipe], [], [], min(seconds, GLANCE))[0]:
            continue
        chunk = os.read(pipe, 1 << 20)
        if not chunk:
            return True
        received += chunk
    return False


def _messages(data: bytes) -> list[Any]:
    """The whole messages; the last one may have been cut off."""
    found, start = [], 0
    while start + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, start)
        start += _LENGTH.size
        if start + length > len(data):
            break
        found.append(pickle.loads(data[start : start + length]))
        start += length
    return found
