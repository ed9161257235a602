"""Factors of dense matrices and solves with them: Cholesky in the precision of the matrix, LU in double precision.

LAPACK's `potrs` is made for many right-hand sides. For one, two triangular solves of BLAS-2 take a third of its time at 1,000
rows in double precision and a seventh in single precision.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.blas import blas, lapack

__all__ = ["SMALLEST", "Dense", "Precision", "ScaledLU", "bordered", "cholesky", "solved"]

Dense: TypeAlias = NDArray[np.floating[Any]]
Precision: TypeAlias = type[np.floating[Any]]

SMALLEST = 1e-300
"""Stands for the largest number of a row or column of zeros."""


def cholesky(matrix: Dense, overwrite: bool = False) -> Dense | None:
    """The lower factor, above which the matrix is left; None where the matrix is not positive definite in floating point.

    The lower triangle is read; a matrix in Fortran's order that may be overwritten is not copied.
    """
    potrf = lapack("potrf", matrix.dtype)
    factor, failed = potrf(matrix, lower=1, clean=0, overwrite_a=overwrite)
    return None if failed else factor


def solved(factor: Dense, right: Floats) -> Floats:
    """The solution for a right-hand side (n,)."""
    trsv = blas("trsv", factor.dtype)
    half = trsv(factor, right.astype(factor.dtype), lower=1, overwrite_x=1)
    result: Floats = trsv(factor, half, lower=1, trans=1, overwrite_x=1).astype(float, copy=False)
    return result


def bordered(matrix: Callable[[Precision], Dense], a: Floats, rho: float, single: bool) -> Dense:
    """The lower factor of a matrix plus rho a a^T, formed for each precision that is tried; LinAlgError where there is none."""
    for kind in ([np.float32] if single else []) + [np.float64]:
        syr = blas("syr", kind)
        factor = cholesky(syr(rho, a, a=matrix(kind), lower=1, overwrite_a=1), overwrite=True)
        if factor is not None:
            return factor
    raise np.linalg.LinAlgError


class ScaledLU:
    """The LU factors of a matrix, overwritten, whose rows, then columns have been divided by their largest numbers.

    `sign` is that of the determinant; 0 or nan where the matrix is singular or has numbers out of range.
    """

    def __init__(self, matrix: Dense) -> None:
        getrf = lapack("getrf", matrix.dtype)
        self.across = 1.0 / np.maximum(np.abs(matrix).max(axis=1), SMALLEST)
        matrix *= self.across[:, None]
        self.down = 1.0 / np.maximum(np.abs(matrix).max(axis=0), SMALLEST)
        matrix *= self.down
        self.factors, self.swaps, _ = getrf(matrix, overwrite_a=True)
        swapped = np.count_nonzero(self.swaps != np.arange(len(self.swaps)))
        self.sign = float(np.prod(np.sign(np.diag(self.factors)))) * (-1.0) ** swapped

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (n,)."""
        getrs = lapack("getrs", self.factors.dtype)
        result: Floats = getrs(self.factors, self.swaps, right * self.across)[0] * self.down
        return result
