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
from contextlib import contextmanager, suppress
from typing import Any


class _Locks:
    """One for the file descriptors, one for Pyomo's switches; new ones in a forked child, whose locks nobody frees."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.descriptors, self.pyomo = threading.RLock(), threading.RLock()


_LOCKS = _Locks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LOCKS.renew)


def flush_streams() -> None:
    """Write what Python keeps for standard output and errors, where there are such and somebody reads them."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # None, as in a program without a console; no reader; closed
            stream.flush()


@contextmanager
def captured() -> Iterator[list[str]]:
    """Send what C and Python code prints into the yielded list, which is filled on exit; other threads' lines go there too."""
    lines: list[str] = []
    with _LOCKS.descriptors, tempfile.TemporaryFile() as file:
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
def pyomo_alone() -> Iterator[None]:
    """Let one thread at a time change what is one for all of Pyomo."""
    with _LOCKS.pyomo:
        yield


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep what Pyomo logs away from the user."""
    from pyomo.common.log import LoggingIntercept

    with pyomo_alone(), LoggingIntercept(io.StringIO(), "pyomo"):
        yield


@contextmanager
def uncaptured() -> Iterator[None]:
    """Keep Pyomo from redirecting the descriptors around a solver that is silent anyway.

    Its switch for that is one for all threads, so one of them has it at a time.
    """
    from pyomo.common import tee

    with pyomo_alone():
        module: Any = tee
        before = getattr(module, "OVERRIDE_CAPTURE_OUTPUT", None)
        module.OVERRIDE_CAPTURE_OUTPUT = 0  # CaptureOutputMode.DISABLE
        try:
            yield
        finally:
            module.OVERRIDE_CAPTURE_OUTPUT = before
