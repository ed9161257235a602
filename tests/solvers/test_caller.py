"""Solves in 8 threads leave the caller's process as it was: streams, descriptors, warnings, signals, loggers and the like.

What Python or a library keeps once for all threads cannot be changed for the time of a solve: others see it, and where two
threads save and restore it in turn, it may end as one of them left it.
"""

import contextlib
import logging
import os
import random
import signal
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import fairalloc as fa
from fairalloc.solvers.catalogue import installed
from fairalloc.solvers.running.threads import threads_used

GENERIC, WANG, POOL = fa.generators.generic(6, 4, 2, 0), fa.example("wang-fig2").instance, fa.example("wang-pool").instance

WORK = [
    (WANG, "drfh", None, {}),
    (WANG, "drfh", "pyomo:highs", {}),
    (WANG, "drfh", "highs", {"log": True}),
    (WANG, "drfh", None, {"threads": 1}),
    (GENERIC, "nb", None, {"time_limit": 20, "threads": 2}),
    (GENERIC, "nb", "pyomo:ipopt", {}),
    (GENERIC, "nb", "pyomo:ipopt", {"log": True}),
    (GENERIC, "nb", "cvxpy:clarabel", {"time_limit": 20}),
    (GENERIC, "nb", "cvxpy:clarabel", {"log": True}),
    (GENERIC, "nb", "cvxpy:scs", {}),
    (GENERIC, "ps-dsf", None, {}),
    (GENERIC, "alpha-pf-vds", "semismooth-newton", {"alpha": 3}),
    (GENERIC, "drfh", "exact", {"time_limit": 20}),
    (POOL, "fds", "cvxpy:clarabel", {"alpha": 2}),
]
SKIPPED = [item for item in WORK if item[2] and not fa.METHODS[item[2]].is_available()]


def identity(descriptor):
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def state():
    """What one process has once."""
    return {
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.excepthook),
        "descriptors": [identity(fd) for fd in (0, 1, 2)],
        "filters": list(warnings.filters),
        "showwarning": warnings.showwarning,
        "handlers": [signal.getsignal(n) for n in signal.valid_signals()],
        "timers": signal.getitimer(signal.ITIMER_REAL),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "logging": [
            (name, logging.getLogger(name).level, list(logging.getLogger(name).handlers), logging.getLogger(name).disabled)
            for name in ("", "pyomo", "cvxpy", "__cvxpy__", "fairalloc")
        ],
        "disabled": logging.root.manager.disable,
        "numpy": np.geterr(),
        "printing": str(np.get_printoptions()),
        "random": random.getstate(),
        "numpy random": str(np.random.get_state()),  # noqa: NPY002 (it is the global one that is looked at)
        "recursion": sys.getrecursionlimit(),
        "threads": threads_used(),
    }


def solved(item):
    instance, mechanism, method, more = item
    return fa.solve(instance, mechanism, method, **more)


@contextlib.contextmanager
def spied():
    """Who sets `sys.stdout` or `sys.stderr`, copies a descriptor over another, or enters `catch_warnings`, in this process."""
    found = []

    class Spy(type(sys)):
        def __setattr__(self, name, value):
            if name in ("stdout", "stderr"):
                found.append(name)
            super().__setattr__(name, value)

    def heard(name, function):
        return lambda *given, **more: (found.append(name), function(*given, **more))[1]

    before = type(sys)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warnings.catch_warnings, "__enter__", heard("warnings", warnings.catch_warnings.__enter__))
        patch.setattr(os, "dup2", heard("dup2", os.dup2))
        sys.__class__ = Spy
        try:
            yield found
        finally:
            sys.__class__ = before


@pytest.mark.deep
def test_eight_threads_leave_the_process_as_it_was():
    items = [item for item in WORK if item not in SKIPPED]
    alone = [solved(item) for item in items]  # what is imported on the way may do what it likes, in one thread
    before = state()
    with spied() as seen, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(solved, [item for _ in range(3) for item in items]))
    after = state()
    assert [name for name in before if before[name] != after[name]] == []
    assert seen == []
    for one, many in zip(alone * 3, found, strict=True):
        assert (many.method, many.termination) == (one.method, one.termination)
        np.testing.assert_allclose(many.tasks, one.tasks, rtol=1e-5, atol=1e-9)
        assert bool(many.log) == bool(one.log)


def test_what_is_installed_is_looked_for_once_and_not_here(monkeypatch):
    """Pyomo redirects `sys.stdout` where it looks for Xpress: two threads closed it for good."""
    installed._found_by_pyomo.cache_clear()
    children = []
    isolated = installed.time_limits.isolated
    monkeypatch.setattr(installed.time_limits, "isolated", lambda *a: (children.append(1), isolated(*a))[1])
    with spied() as seen, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [installed._pyomo_finds(solver) for solver in installed.PYOMO], range(4)))
    assert (len(children), seen) == (1, [])
    assert found == [found[0]] * 4
