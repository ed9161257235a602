"""How many threads linear algebra uses: what the user asks for, else what the environment says (OMP_NUM_THREADS and its like).

threadpoolctl tells and sets it in the libraries behind NumPy and SciPy while the process runs, forked children included. HiGHS
and OR-Tools have an option of their own and use one thread where nothing is asked for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any

from fairalloc.models.errors import InstanceError, shown

__all__ = ["checked_threads", "limited_threads", "threads_used"]


def checked_threads(threads: Any) -> int | None:
    """The number of threads, None for what the environment says; InstanceError where it is no positive whole number."""
    if threads is None:
        return None
    if isinstance(threads, bool) or not isinstance(threads, Integral) or int(threads) < 1:
        raise InstanceError(f"threads is {shown(threads)}, but it must be a whole number of at least 1, or None")
    return int(threads)


@contextmanager
def limited_threads(threads: int | None) -> Iterator[None]:
    """Let linear algebra inside use that many threads; None changes nothing."""
    if threads is None:
        yield
        return
    import scipy.linalg  # noqa: F401 (it loads a library of its own, which is to be limited too)
    from threadpoolctl import ThreadpoolController

    with ThreadpoolController().limit(limits=threads):
        yield


def threads_used() -> int:
    """How many threads linear algebra may use here and now."""
    return max((library.num_threads for library in _libraries().lib_controllers), default=1)


@cache
def _libraries() -> Any:
    """The libraries that are loaded; looking for them takes a few milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
