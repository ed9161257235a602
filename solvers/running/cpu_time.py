"""Processor seconds of a process with all that it started, so that no thread and no child hides what it computes.

A process counts its own threads and the children that it has waited for. On Linux all others below it are added.
"""

import contextlib
import ctypes
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def adopt() -> None:
    """Become the parent of whatever loses its parent below this process (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_caller(number: int) -> None:
    """Get this signal when the caller ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def processor_seconds(process: int | None = None) -> float:
    """Seconds so far of a process and of all below it; None = this one, to more digits."""
    if process is not None:
        return sum(map(_seconds, (process, *processes_below(process))))
    times = os.times()
    below = sum(map(_seconds, processes_below(os.getpid()))) if _has_children() else 0.0
    return time.process_time() + times.children_user + times.children_system + below


def _has_children() -> bool:
    """Whether this process has children that it has not waited for: one call of the system, where reading /proc takes many."""
    if not hasattr(os, "waitid"):
        return True
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # it only looks
        return True
    return False


def processes_below(process: int) -> Iterator[int]:
    """Its children, and theirs; none where the system does not tell."""
    for child in children_of(process):
        yield child
        yield from processes_below(child)


def children_of(process: int) -> list[int]:
    """The children of all threads of a process, without those of threads that end meanwhile; none where it has ended."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError):
                found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    return found


def _seconds(process: int) -> float:
    """Of a process with the children that it waited for, which the system counts in ticks; 0 where it is gone."""
    try:
        counts = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[11:15]
    except OSError:
        return 0.0
    return sum(map(int, counts)) / os.sysconf("SC_CLK_TCK")
