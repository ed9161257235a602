r"""The Cholesky factor of a sparse matrix of blocks, R x R for each pair of servers: most of it block by block, the rest dense.

1. Choose servers of which no two have a block in common, and which have few blocks.
2. Eliminate them all at once. With L L^T the blocks of these servers E on the diagonal and V = L^-1 M_EC, the others C keep

       M_CC - V^T V,        one product of sparse matrices.

3. Repeat 1 and 2 with what is left, until it is small or no longer sparse. That is factorised by LAPACK.

A term of rank one, rho a a^T, would fill the matrix. It is the same as one more unknown w = rho a^T p, a last row and column a
with -1 / rho on the diagonal, which is eliminated between 2 and 3: after the passes a is a' and the diagonal -kappa, and what is
factorised densely has a' a'^T / kappa added.

A matrix from a random graph fills up whatever the order: after a few such steps a third to a half of the servers is left, and
the dense factor of these is ten times as fast as a sparse one, whose columns come one by one.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.dense_factor import Dense, cholesky, solved

__all__ = ["SparseFactor", "on_the_diagonal"]

DENSE = 0.55
"""The part of a matrix that may be nonzero where more is eliminated from it."""

WORTHWHILE = 0.05
"""The least part of the servers that is eliminated at once, where the rest can be dense."""

SOUND = 1e-6
"""The least eigenvalue of a block, scaled to a diagonal of 1, with which it is eliminated."""

TINY = 1e-300
"""Stands for 0 on the diagonal."""


class Eliminated(NamedTuple):
    """One pass of steps 1 and 2: the rows of E and of C, L^-1 and V with their transposes, and L^-1 a_E."""

    here: NDArray[np.intp]
    others: NDArray[np.intp]
    inverse: sp.csr_array
    inverse_transposed: sp.csc_array
    coupling: sp.csr_array
    coupling_transposed: sp.csc_array
    border: Floats


class SparseFactor:
    """The factor of a symmetric matrix, to which rho a a^T is added.

    Parameters
    ----------
    matrix : (K R, K R), with all blocks on the diagonal
    a, rho : (K R,) and a number
    R : rows of a block
    most : rows of a dense matrix
    single : whether its dense part may be in single precision, where that has enough digits

    Raises
    ------
    numpy.linalg.LinAlgError : the matrix is not positive definite in floating point, or more than `most` rows are left in step 3
    """

    def __init__(self, matrix: sp.csr_array, a: Floats, rho: float, R: int, most: int, single: bool) -> None:
        self.passes: list[Eliminated] = []
        scale = np.sqrt(np.maximum(matrix.diagonal(), TINY)).reshape(-1, R)
        while matrix.nnz < DENSE * matrix.shape[0] ** 2:
            blocks = _diagonal(matrix, R)
            chosen = _independent(matrix, R)  # 1
            chosen[chosen] = _sound(blocks[chosen], scale[chosen])
            if chosen.sum() < WORTHWHILE * len(chosen) and (matrix.shape[0] <= most or not chosen.any()):
                break
            eliminated, matrix, a = _eliminated(matrix, a, chosen, blocks[chosen])  # 2
            scale = scale[~chosen]
            self.passes.append(eliminated)
        if matrix.shape[0] > most:
            raise np.linalg.LinAlgError
        self.a, self.rho = a, 1.0 / (1.0 / rho + sum(float(one.border @ one.border) for one in self.passes)) if rho else 0.0
        self.rest = self._factorised(matrix, single) if matrix.shape[0] else None  # 3

    def _factorised(self, matrix: sp.csr_array, single: bool) -> Dense:
        for kind in ([np.float32] if single else []) + [np.float64]:
            syr = get_blas_funcs("syr", dtype=kind)
            dense = matrix.astype(kind).toarray().T  # symmetric, so that LAPACK's order costs nothing
            factor = cholesky(syr(self.rho, self.a, a=dense, lower=1, overwrite_a=1), overwrite=True)
            if factor is not None:
                return factor
        raise np.linalg.LinAlgError

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (K R,)."""
        halves, w = [], 0.0
        for one in self.passes:
            halves.append(one.inverse @ right[one.here])
            right = right[one.others] - one.coupling_transposed @ halves[-1]
            w -= float(one.border @ halves[-1])
        solution = right if self.rest is None else solved(self.rest, right + self.rho * w * self.a)
        w = self.rho * (float(self.a @ solution) - w)
        for one, half in zip(reversed(self.passes), reversed(halves), strict=True):
            both = np.empty(len(one.here) + len(one.others))
            both[one.others] = solution
            both[one.here] = one.inverse_transposed @ (half - one.coupling @ solution - w * one.border)
            solution = both
        return solution


def on_the_diagonal(blocks: Floats) -> sp.csr_array:
    """(K R, K R) from the blocks (K, R, R)."""
    count, size, _ = blocks.shape
    return sp.csr_array(sp.bsr_array((blocks, np.arange(count), np.arange(count + 1)), shape=(count * size, count * size)))


def _independent(matrix: sp.csr_array, R: int) -> NDArray[np.bool_]:
    """(servers,) those with fewer blocks than each server they share one with; ties are broken by a fixed random order."""
    servers = matrix.shape[0] // R
    blocks = sp.csr_array((matrix.data, matrix.indices // R, matrix.indptr), shape=(matrix.shape[0], servers))[::R]
    blocks.sum_duplicates()
    counts = np.diff(blocks.indptr)
    order = counts + np.random.default_rng(0).random(servers)
    server = np.repeat(np.arange(servers), counts)
    neighbours = np.where(blocks.indices == server, np.inf, order[blocks.indices])
    chosen: NDArray[np.bool_] = order < np.minimum.reduceat(neighbours, blocks.indptr[:-1])
    return chosen


def _diagonal(matrix: sp.csr_array, R: int) -> Floats:
    """(servers, R, R)"""
    servers = matrix.shape[0] // R
    within = np.tile(np.arange(R), servers * R)
    row = np.repeat(np.arange(servers * R), R)
    return np.asarray(matrix[row, row // R * R + within], float).reshape(servers, R, R)


def _sound(blocks: Floats, scale: Floats) -> NDArray[np.bool_]:
    """(servers,) whose block has a factor with all digits; the others wait until what is added has made theirs regular.

    Parameters
    ----------
    blocks : (servers, R, R)
    scale : (servers, R) roots of the diagonal that the matrix had at first
    """
    least = np.linalg.eigvalsh(blocks / (scale[:, :, None] * scale[:, None, :])).min(axis=1)
    return np.asarray(least > SOUND)


def _inverted(halves: NDArray[np.floating[Any]]) -> Floats:
    """The inverses of lower triangular blocks, row by row: each number has its digits, also beside rows that are left out."""
    result: Floats = np.zeros(halves.shape)
    for row in range(halves.shape[1]):
        pivot = halves[:, row, row]
        result[:, row, :row] = -(halves[:, row, None, :row] @ result[:, :row, :row])[:, 0] / pivot[:, None]
        result[:, row, row] = 1.0 / pivot
    return result


def _eliminated(
    matrix: sp.csr_array, a: Floats, chosen: NDArray[np.bool_], blocks: Floats
) -> tuple[Eliminated, sp.csr_array, Floats]:
    """Step 2 for the chosen servers: what is kept of them, and the matrix and the border of the others.

    Parameters
    ----------
    matrix, a : (servers R, servers R), (servers R,)
    chosen : (servers,)
    blocks : (chosen, R, R) theirs on the diagonal
    """
    mask = np.repeat(chosen, blocks.shape[1])
    here, others = np.flatnonzero(mask), np.flatnonzero(~mask)
    inverse = on_the_diagonal(_inverted(np.linalg.cholesky(blocks)))
    coupling = sp.csr_array(inverse @ matrix[here][:, others])
    border = inverse @ a[here]
    rest = sp.csr_array(matrix[others][:, others] - coupling.T @ coupling)
    return Eliminated(here, others, inverse, inverse.T, coupling, coupling.T, border), rest, a[others] - coupling.T @ border
