"""Sparse matrices of blocks, SciPy's BSR: R x R for each pair of servers that have a user in common, or 1 x R for each arc.

Their products take a third of what those of single numbers take, and a third of that again where they are cut.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats

__all__ = ["dense", "of_blocks", "rows_of", "separated"]


def of_blocks(blocks: Floats, row: NDArray[np.intp], column: NDArray[np.intp], shape: tuple[int, int]) -> sp.bsr_array:
    """A sparse matrix from its blocks.

    Parameters
    ----------
    blocks : (blocks, height, width), ordered by row
    row, column : (blocks,) where they are
    shape : how many rows and columns of blocks there are
    """
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return sp.bsr_array((blocks, column, ends), shape=(shape[0] * blocks.shape[1], shape[1] * blocks.shape[2]))


def rows_of(matrix: sp.bsr_array) -> NDArray[np.intp]:
    """(blocks,) the row of blocks in which each block is."""
    return np.repeat(np.arange(len(matrix.indptr) - 1), np.diff(matrix.indptr))


def separated(matrix: sp.bsr_array) -> tuple[Floats, sp.bsr_array]:
    """The blocks on the diagonal (rows, R, R), 0 where there are none, and the matrix of the others."""
    row, column, count = rows_of(matrix), matrix.indices, len(matrix.indptr) - 1
    apart, diagonal = row != column, np.zeros((count, *matrix.blocksize))
    diagonal[row[~apart]] = matrix.data[~apart]
    return diagonal, of_blocks(matrix.data[apart], row[apart], column[apart], (count, count))


def dense(diagonal: Floats, apart: sp.bsr_array, kind: type[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """The symmetric matrix in the order of LAPACK.

    Parameters
    ----------
    diagonal, apart : its blocks on the diagonal (rows, R, R), and the others
    kind : the precision
    """
    count, R, _ = diagonal.shape
    result, here = np.zeros((count, R, count, R), kind), np.arange(count)
    result[rows_of(apart), :, apart.indices, :] = apart.data
    result[here, :, here, :] = diagonal
    return result.reshape(count * R, -1).T  # symmetric, so that its order costs nothing
