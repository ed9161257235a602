"""Routines of BLAS and LAPACK by name. SciPy's file of them is loaded with the first, for a small program needs none."""

from typing import Any

from numpy.typing import DTypeLike

__all__ = ["blas", "lapack"]


def blas(name: str, kind: DTypeLike) -> Any:
    """The routine for numbers of a kind, such as "syrk" for `dsyrk`."""
    from scipy.linalg import get_blas_funcs

    return get_blas_funcs(name, dtype=kind)


def lapack(name: str, kind: DTypeLike) -> Any:
    """The routine for numbers of a kind, such as "potrf" for `dpotrf`."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs(name, dtype=kind)
