"""Matrices: sparse ones of blocks, and factors of dense ones, Cholesky in the precision of the matrix, LU in double precision.

Blocks are SciPy's BSR: R x R for each pair of servers that have a user in common, or 1 x R for each arc. Products take a third of
the time that they take with single numbers.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats

Dense: TypeAlias = NDArray[np.floating[Any]]
Precision: TypeAlias = type[np.floating[Any]]

SMALLEST = 1e-300
"""Stands for the largest number of a row or column of zeros."""


@cache
def blas(name: str, kind: Any) -> Any:
    """The routine of BLAS for numbers of a kind, such as "syrk" for `dsyrk`; SciPy's file of them is loaded with the first."""
    from scipy.linalg import get_blas_funcs

    return get_blas_funcs(name, dtype=kind)


@cache
def lapack(name: str, kind: Any) -> Any:
    """The routine of LAPACK for numbers of a kind, such as "potrf" for `dpotrf`."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs(name, dtype=kind)


def cholesky(matrix: Dense, overwrite: bool = False) -> Dense | None:
    """The lower factor, above which the matrix is left; None where the matrix is not positive definite in floating point.

    The lower triangle is read; a matrix in Fortran's order that may be overwritten is not copied.
    """
    potrf = lapack("potrf", matrix.dtype)
    factor, failed = potrf(matrix, lower=1, clean=0, overwrite_a=overwrite)
    return None if failed else factor


def solved(factor: Dense, right: Floats) -> Floats:
    """The solution for a right-hand side (n,); for one, LAPACK's `potrs` takes three to seven times as long."""
    trsv = blas("trsv", factor.dtype)
    half = trsv(factor, right.astype(factor.dtype), lower=1, overwrite_x=1)
    return np.asarray(trsv(factor, half, lower=1, trans=1, overwrite_x=1).astype(float, copy=False))


def bordered(matrix: Callable[[Precision], Dense], a: Floats, rho: float, single: bool) -> Dense:
    """The lower factor of a matrix plus rho a a^T, formed for each precision that is tried; LinAlgError where there is none."""
    for kind in ([np.float32] if single else []) + [np.float64]:
        syr = blas("syr", kind)
        if (factor := cholesky(syr(rho, a, a=matrix(kind), lower=1, overwrite_a=1), overwrite=True)) is not None:
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
        return np.asarray(getrs(self.factors, self.swaps, right * self.across)[0] * self.down)


def of_blocks(blocks: Floats, row: NDArray[np.intp], column: NDArray[np.intp], shape: tuple[int, int]) -> sp.bsr_array:
    """A sparse matrix of so many rows and columns of blocks from its blocks (blocks, height, width), ordered by row."""
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return sp.bsr_array((blocks, column, ends), shape=(shape[0] * blocks.shape[1], shape[1] * blocks.shape[2]))


def on_the_diagonal(blocks: Floats) -> sp.bsr_array:
    """(rows R, rows R) with the blocks (rows, R, R) on the diagonal and 0 elsewhere."""
    here = np.arange(len(blocks))
    return of_blocks(blocks, here, here, (len(here), len(here)))


def rows_of(matrix: sp.bsr_array) -> NDArray[np.intp]:
    """(blocks,) the row of blocks in which each block is."""
    return np.repeat(np.arange(len(matrix.indptr) - 1), np.diff(matrix.indptr))


def separated(matrix: sp.bsr_array) -> tuple[Floats, sp.bsr_array]:
    """The blocks on the diagonal (rows, R, R), 0 where there are none, and the matrix of the others."""
    row, column, count = rows_of(matrix), matrix.indices, len(matrix.indptr) - 1
    apart, diagonal = row != column, np.zeros((count, *matrix.blocksize))
    diagonal[row[~apart]] = matrix.data[~apart]
    return diagonal, of_blocks(matrix.data[apart], row[apart], column[apart], (count, count))


def dense(matrix: sp.bsr_array, kind: Precision, diagonal: Floats | None = None) -> Dense:
    """A matrix of R x R blocks in the order of LAPACK, in that precision, with these blocks on the diagonal, if any."""
    count, R = len(matrix.indptr) - 1, matrix.blocksize[0]
    result = np.zeros((count, R, count, R), kind)
    result[matrix.indices, :, rows_of(matrix), :] = matrix.data.transpose(0, 2, 1)
    full = result.reshape(count * R, -1).T
    if diagonal is not None:
        put_on_the_diagonal(full, diagonal)
    return full


def put_on_the_diagonal(matrix: Dense, blocks: Floats) -> None:
    """Write the blocks (rows, R, R) into a matrix in the order of LAPACK."""
    count, R, _ = blocks.shape
    here = np.arange(count)
    matrix.T.reshape(count, R, count, R)[here, :, here, :] = blocks.transpose(0, 2, 1)
