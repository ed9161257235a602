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

from fairalloc.models.numbers import Floats
from fairalloc.solvers.arrow.block_matrix import (
    dense,
    of_blocks,
    on_the_diagonal,
    put_on_the_diagonal,
    rows_of,
    separated,
)
from fairalloc.solvers.arrow.dense_factor import Dense, Precision, bordered, solved

__all__ = ["SparseFactor", "independent"]

DENSE = 0.55
"""The part of a matrix that may be nonzero where more is eliminated from it."""

WORTHWHILE = 0.08
"""The least part of the servers that is eliminated at once, where the rest can be dense."""

FEWEST = 0.7
"""The part of the servers of which some are eliminated at once: those with the fewest blocks."""

TURNS = 2
"""How often servers are chosen that have no block in common with those chosen before."""

SOUND = 1e-6
"""The least eigenvalue of a block, scaled to a diagonal of 1, with which it is eliminated."""

TINY = 1e-300
"""Stands for 0 on the diagonal."""


def independent(matrix: sp.csr_array | sp.bsr_array, fewest: float = FEWEST, turns: int = TURNS) -> NDArray[np.bool_]:
    """Those with fewer couplings than all that they are coupled with, and the same again among those coupled with none of these.

    Ties are broken by a fixed random order. The unknowns with the most couplings wait, because what they leave is dense.

    Parameters
    ----------
    matrix : symmetric, of numbers or of square blocks; whether the diagonal is stored makes no difference
    fewest : the part of the unknowns of which some are chosen
    turns : how often they are chosen

    Returns
    -------
    (rows,) or (rows of blocks,)
    """
    column, counts = matrix.indices, np.diff(matrix.indptr)
    row = np.repeat(np.arange(len(counts)), counts)
    order = counts + np.random.default_rng(0).random(len(counts))
    order[counts > np.sort(counts)[int(fewest * len(counts))]] = np.inf
    own, stored, chosen = np.flatnonzero(column == row), np.flatnonzero(counts), np.zeros(len(counts), bool)
    for _ in range(turns):
        others, least = order[column], np.full(len(counts), np.inf)
        others[own] = np.inf
        least[stored] = np.minimum.reduceat(others, matrix.indptr[stored]) if len(stored) else np.inf
        chosen |= order < least
        order[chosen] = np.inf
        order[column[chosen[row]]] = np.inf
    return chosen


class Eliminated(NamedTuple):
    """One pass of steps 1 and 2: the servers of E and of C, L^-1 and V with their transposes, and L^-1 a_E."""

    here: NDArray[np.intp]
    others: NDArray[np.intp]
    inverse: sp.bsr_array
    inverse_transposed: sp.bsr_array
    coupling: sp.bsr_array
    coupling_transposed: sp.bsr_array
    border: Floats


class SparseFactor:
    """The factor of a symmetric matrix of blocks, to which rho a a^T is added.

    Parameters
    ----------
    diagonal : (K, R, R) the blocks on the diagonal
    apart : (K R, K R) the others, those that are not 0
    a, rho : (K R,) and a number
    most : rows of a dense matrix
    single : whether its dense part may be in single precision, where that has enough digits

    Raises
    ------
    numpy.linalg.LinAlgError : the matrix is not positive definite in floating point, or more than `most` rows are left in step 3
    """

    def __init__(self, diagonal: Floats, apart: sp.bsr_array, a: Floats, rho: float, most: int, single: bool) -> None:
        self.passes: list[Eliminated] = []
        self.R = diagonal.shape[1]
        scale = np.sqrt(np.maximum(np.diagonal(diagonal, axis1=1, axis2=2), TINY))
        while len(diagonal) + len(apart.indices) < DENSE * len(diagonal) ** 2:
            chosen = independent(apart)  # 1
            chosen[chosen] = _sound(diagonal[chosen], scale[chosen])
            if chosen.sum() < WORTHWHILE * len(chosen) and (len(a) <= most or not chosen.any()):
                break
            eliminated, diagonal, apart, a = _eliminated(diagonal, apart, a, chosen)  # 2
            scale = scale[~chosen]
            self.passes.append(eliminated)
        if len(a) > most:
            raise np.linalg.LinAlgError
        self.a, self.rho = a, 1.0 / (1.0 / rho + sum(float(one.border @ one.border) for one in self.passes)) if rho else 0.0
        self.rest: Dense | None = None
        if len(a):
            self.rest = bordered(lambda kind: _dense(diagonal, apart, kind), self.a, self.rho, single)  # 3

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (K R,)."""
        halves, w = [], 0.0
        for one in self.passes:
            by_server = right.reshape(-1, self.R)
            halves.append(one.inverse @ by_server[one.here].ravel())
            right = by_server[one.others].ravel() - one.coupling_transposed @ halves[-1]
            w -= float(one.border @ halves[-1])
        solution = right if self.rest is None else solved(self.rest, right + self.rho * w * self.a)
        w = self.rho * (float(self.a @ solution) - w)
        for one, half in zip(reversed(self.passes), reversed(halves), strict=True):
            both = np.empty((len(one.here) + len(one.others), self.R))
            both[one.others] = solution.reshape(-1, self.R)
            both[one.here] = (one.inverse_transposed @ (half - one.coupling @ solution - w * one.border)).reshape(-1, self.R)
            solution = both.ravel()
        return solution


def _dense(diagonal: Floats, apart: sp.bsr_array, kind: Precision) -> Dense:
    """(servers R, servers R) in the order of LAPACK."""
    matrix = dense(apart, kind)
    put_on_the_diagonal(matrix, diagonal)
    return matrix


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
    diagonal: Floats, apart: sp.bsr_array, a: Floats, chosen: NDArray[np.bool_]
) -> tuple[Eliminated, Floats, sp.bsr_array, Floats]:
    """Step 2: what is kept of the chosen servers, and the matrix and the border of the others.

    Parameters
    ----------
    diagonal, apart, a : (servers, R, R), (servers R, servers R), (servers R,)
    chosen : (servers,) of which no two have a block in common
    """
    row, column, place = rows_of(apart), apart.indices, np.where(chosen, np.cumsum(chosen), np.cumsum(~chosen)) - 1
    here, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    halves, by_server = _inverted(np.linalg.cholesky(diagonal[here])), a.reshape(len(chosen), -1)
    of, left = chosen[row], ~(chosen[row] | chosen[column])
    inverse = on_the_diagonal(halves)
    coupling = of_blocks(halves[place[row[of]]] @ apart.data[of], place[row[of]], place[column[of]], (len(here), len(others)))
    one = Eliminated(here, others, inverse, inverse.T, coupling, coupling.T, inverse @ by_server[here].ravel())
    rest = of_blocks(apart.data[left], place[row[left]], place[column[left]], (len(others), len(others)))
    more, rest = separated(rest - one.coupling_transposed @ coupling)
    return one, diagonal[others] + more, rest, by_server[others].ravel() - one.coupling_transposed @ one.border
