"""How many threads linear algebra uses: what the user asks for, else what the environment says (OMP_NUM_THREADS and its like).

threadpoolctl tells and sets it in the libraries behind NumPy and SciPy while the process runs, forked children included. HiGHS
and OR-Tools have an option of their own and use one thread where nothing is asked for.

The wheels of NumPy and SciPy bring a BLAS each, and the idle threads of the one take the processor from the other for a while
after each product: with two threads in both, a solve took up to twice as long as with one. The factors and large products of this
package are SciPy's, so SciPy's library has the threads and NumPy's own has one.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from pathlib import PurePath
from typing import Any

from fairalloc.models.errors import InstanceError, shown

__all__ = ["THREADED", "checked_threads", "limited_threads", "threads_used"]

THREADED = 10_000
"""Arcs from which on linear algebra has products that use several threads; looking for the libraries takes 5 ms."""


def checked_threads(threads: Any) -> int | None:
    """The number of threads, None for what the environment says; InstanceError where it is no positive whole number."""
    if threads is None:
        return None
    if isinstance(threads, bool) or not isinstance(threads, Integral) or int(threads) < 1:
        raise InstanceError(f"threads is {shown(threads)}, but it must be a whole number of at least 1, or None")
    return int(threads)


@contextmanager
def limited_threads(threads: int | None, arcs: int) -> Iterator[None]:
    """Let linear algebra inside use that many threads.

    Parameters
    ----------
    threads : of SciPy's library; None = as the environment says
    arcs : of what is solved; with fewer than `THREADED` None changes nothing, nor outside the main thread, where solves that end
        in another order than they began would leave NumPy's library as they found it in between
    """
    if threads is None and (arcs < THREADED or threading.current_thread() is not threading.main_thread()):
        yield
        return
    import scipy.linalg  # noqa: F401 (it loads a library of its own)
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController()
    of_numpy, others = (_paths(libraries, own) for own in (True, False))
    with (
        libraries.select(filepath=of_numpy).limit(limits=1 if others else threads),
        libraries.select(filepath=others).limit(limits=threads),
        libraries.select(user_api="openmp").limit(limits=threads),
    ):
        yield


def _paths(libraries: Any, own: bool) -> list[str]:
    """The files of the BLAS that came with NumPy's wheel, in numpy.libs or numpy/.dylibs, or of the others."""
    files = [library.filepath for library in libraries.lib_controllers if library.user_api == "blas"]
    return [file for file in files if own == any(part.startswith("numpy") for part in PurePath(file).parts[-3:])]


def threads_used() -> int:
    """How many threads linear algebra may use here and now."""
    return max((library.num_threads for library in _libraries("scipy.linalg" in sys.modules).lib_controllers), default=1)


@cache
def _libraries(scipy: bool) -> Any:
    """The libraries that are loaded, with SciPy's or without; looking for them takes a few milliseconds."""
    del scipy
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
