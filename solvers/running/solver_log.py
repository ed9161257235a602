"""What solvers print: nothing, by their own options (options.py); what the process prints is redirected for a log alone.

File descriptors, `sys.stdout` and loggers belong to the whole process. Whoever redirects them takes away what other threads
print. So a solver whose log is wanted runs in a child process (dispatch.py). Without forks one thread at a time redirects them.
"""

import io
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from types import SimpleNamespace
from typing import Any

LOCKS = SimpleNamespace()
"""One thread at a time changes what is one for the process, `descriptors` and `threads`, and for all of Pyomo, `pyomo`."""


def _renew_locks() -> None:
    """In a forked child too, whose locks nobody frees."""
    LOCKS.descriptors, LOCKS.pyomo, LOCKS.threads = threading.RLock(), threading.RLock(), threading.RLock()


_renew_locks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def flush_streams() -> None:
    """Write what Python keeps for standard output and errors, where there are such and somebody reads them."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # None, as in a program without a console; no reader; closed
            stream.flush()


@contextmanager
def captured() -> Iterator[list[str]]:
    """Send what C and Python code prints into the yielded list, which is filled on exit; other threads' lines go there too."""
    lines: list[str] = []
    with LOCKS.descriptors, tempfile.TemporaryFile() as file:
        flush_streams()
        saved = [(os.dup(fd), fd) for fd in (1, 2)]
        for _, fd in saved:
            os.dup2(file.fileno(), fd)
        try:
            yield lines
        finally:
            flush_streams()
            for copy, fd in saved:
                os.dup2(copy, fd)
                os.close(copy)
            file.seek(0)
            lines.extend(file.read().decode(errors="replace").splitlines())


@contextmanager
def printed(wanted: bool, lines: list[str]) -> Iterator[None]:
    """Add what is printed inside to the lines where it is wanted; C prints another way than Python does in notebooks."""
    if not wanted:
        yield
        return
    said, raw = io.StringIO(), list[str]()
    try:
        with captured() as raw, redirect_stdout(said), redirect_stderr(said):
            yield
    finally:
        lines.extend([*said.getvalue().splitlines(), *raw])


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep what Pyomo logs away from the user."""
    from pyomo.common.log import LoggingIntercept

    with LOCKS.pyomo, LoggingIntercept(io.StringIO(), "pyomo"):
        yield


@contextmanager
def uncaptured() -> Iterator[None]:
    """Keep Pyomo from redirecting the descriptors around a solver that is silent anyway."""
    from pyomo.common import tee

    with LOCKS.pyomo:
        module: Any = tee
        before = getattr(module, "OVERRIDE_CAPTURE_OUTPUT", None)
        module.OVERRIDE_CAPTURE_OUTPUT = 0  # CaptureOutputMode.DISABLE
        try:
            yield
        finally:
            module.OVERRIDE_CAPTURE_OUTPUT = before
