"""How many threads linear algebra uses: what the user asks for, else what the environment says (OMP_NUM_THREADS and its like).

threadpoolctl tells and sets it in the libraries behind NumPy and SciPy while the process runs, forked children included; without
it they do what the environment says. HiGHS and OR-Tools have an option of their own and use one thread where none is asked for.

The wheels of NumPy and SciPy bring a BLAS each, and idle threads of the one take the processor from the other for a while. The
factors and large products of this package are SciPy's, so SciPy's library has the threads and NumPy's own has one.

The numbers are the whole process's. Where several threads of the caller solve at once, the last that began decides, and the last
that ends leaves the numbers that the first one found.
"""

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import PurePath
from typing import Any

from fairalloc.solvers.running.solver_log import LOCKS

THREADED = 10_000
"""Arcs from which on linear algebra has products that use several threads; looking for the libraries takes 5 ms."""


@contextmanager
def limited_threads(threads: int | None, arcs: int) -> Iterator[None]:
    """Let linear algebra inside use that many threads; None = as the environment says, which changes nothing on few arcs.

    Nor does it outside the main thread: solves that end in another order than they began would leave NumPy's library changed.
    """
    if threads is None and (arcs < THREADED or threading.current_thread() is not threading.main_thread()):
        yield
        return
    import scipy.linalg  # noqa: F401 (it loads a library of its own)

    libraries = _loaded()
    blas = [library.filepath for library in libraries if library.user_api == "blas"]
    of_numpy = [file for file in blas if any(part.startswith("numpy") for part in PurePath(file).parts[-3:])]
    wish = {library.filepath: threads for library in libraries}
    wish |= dict.fromkeys(of_numpy, 1 if len(of_numpy) < len(blas) else threads)  # in numpy.libs or numpy/.dylibs
    with LOCKS.threads:
        _WISHES.running.append(wish)
        _WISHES.settle(libraries)
    try:
        yield
    finally:
        with LOCKS.threads:
            _WISHES.running = [other for other in _WISHES.running if other is not wish]
            _WISHES.settle(libraries)


@contextmanager
def highs_scheduler() -> Iterator[None]:
    """Let HiGHS use any number of threads inside: until it is reset it refuses another than that of its first use."""
    from highspy import Highs

    Highs.resetGlobalScheduler(True)
    try:
        yield
    finally:
        Highs.resetGlobalScheduler(True)


class _Wishes:
    """What the solves that run want, by the files of the libraries, and what the first of them found there."""

    def __init__(self) -> None:
        self.running: list[Mapping[str, int | None]] = []
        self.found: dict[str, int] = {}

    def settle(self, libraries: Sequence[Any]) -> None:
        """Set what the last one wants, None = what those before it want or found."""
        for library in libraries:
            file = library.filepath
            wanted = [wish[file] for wish in self.running if wish.get(file) is not None]
            library.set_num_threads([self.found.setdefault(file, library.num_threads), *wanted][-1])
        if not self.running:
            self.found.clear()


_WISHES = _Wishes()


def threads_used() -> int:
    """How many threads linear algebra may use here and now."""
    return max([library.num_threads for library in _known("scipy.linalg" in sys.modules)], default=1)


@cache
def _known(scipy: bool) -> Sequence[Any]:
    """The same with SciPy's or without; looking for them takes a few milliseconds."""
    del scipy
    return _loaded()


def _loaded() -> Sequence[Any]:
    """The libraries that are loaded, as threadpoolctl finds them; none where it is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return ()
    return ThreadpoolController().lib_controllers  # type: ignore[no-any-return]
