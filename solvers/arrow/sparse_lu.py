r"""Elimination of a sparse matrix of blocks without symmetry, R x R for each pair of servers: most by blocks, the rest by LU.

1. Choose servers of which no two have a block in common, on either side of the diagonal, and which have few. The
   blocks of two servers vanish one by one, where users want no resource of which the others pay.
2. Eliminate them all at once. With the blocks M_EE of these servers on the diagonal the others C keep

       M_CC - M_CE M_EE^-1 M_EC,        one product of sparse matrices.

3. Repeat 1 and 2 with what is left, until it is small or no longer sparse. That is factorised by LAPACK, with pivots.

The determinant is the product of those of all M_EE and of the rest: rows and columns change places alike.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.arrow.block_matrix import dense, of_blocks, on_the_diagonal, put_on_the_diagonal, rows_of, separated
from fairalloc.solvers.arrow.dense_factor import SMALLEST, ScaledLU
from fairalloc.solvers.arrow.sparse_factor import DENSE, SOUND, WORTHWHILE, independent

__all__ = ["SparseLU"]


class EliminatedServers(NamedTuple):
    """One pass of steps 1 and 2: the servers of E and of C, M_EE^-1, M_EC and M_CE."""

    here: NDArray[np.intp]
    others: NDArray[np.intp]
    inverse: sp.bsr_array
    right: sp.bsr_array
    below: sp.bsr_array


class SparseLU:
    """The factors of a matrix of blocks.

    Parameters
    ----------
    diagonal : (K, R, R) the blocks on the diagonal
    apart : (K R, K R) the others, those that are not 0

    Attributes
    ----------
    sign : of the determinant, 1 or -1; 0 or nan where the matrix is singular or has numbers out of range
    """

    def __init__(self, diagonal: Floats, apart: sp.bsr_array) -> None:
        self.passes: list[EliminatedServers] = []
        self.sign, self.R = 1.0, diagonal.shape[1]
        while len(diagonal) + len(apart.indices) < DENSE * len(diagonal) ** 2:
            chosen = independent(_joined(apart))  # 1
            inverses, signs, sound = _inverted(diagonal[chosen])
            chosen[chosen] = sound
            if chosen.sum() < WORTHWHILE * len(chosen):
                break
            one, diagonal, apart = _eliminated(diagonal, apart, chosen, inverses[sound])  # 2
            self.passes.append(one)
            self.sign *= float(np.prod(signs[sound]))
        self.rest: ScaledLU | None = None
        if len(diagonal):
            matrix = dense(apart, np.float64)
            put_on_the_diagonal(matrix, diagonal)
            self.rest = ScaledLU(matrix)  # 3
            self.sign *= self.rest.sign

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (K R,)."""
        halves = []
        for one in self.passes:
            by_server = right.reshape(-1, self.R)
            halves.append(one.inverse @ by_server[one.here].ravel())
            right = by_server[one.others].ravel() - one.below @ halves[-1]
        solution = right if self.rest is None else self.rest.solve(right)
        for one, half in zip(reversed(self.passes), reversed(halves), strict=True):
            both = np.empty((len(one.here) + len(one.others), self.R))
            both[one.others] = solution.reshape(-1, self.R)
            both[one.here] = (half - one.inverse @ (one.right @ solution)).reshape(-1, self.R)
            solution = both.ravel()
        return solution


def _joined(apart: sp.bsr_array) -> sp.csr_array:
    """(servers, servers) positive where there is a block or its transpose."""
    count = len(apart.indptr) - 1
    there = sp.csr_array((np.ones(len(apart.indices)), apart.indices, apart.indptr), shape=(count, count))
    return sp.csr_array(there + there.T)


def _inverted(blocks: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The inverses, the signs of the determinants, and which blocks have an inverse with all digits; the others wait.

    Parameters
    ----------
    blocks : (servers, R, R)
    """
    across = np.maximum(np.abs(blocks).max(axis=2, keepdims=True), SMALLEST)
    scaled = blocks / across
    down = np.maximum(np.abs(scaled).max(axis=1, keepdims=True), SMALLEST)
    left, size, right = np.linalg.svd(scaled / down)
    sound = size.min(axis=1, initial=np.inf) > SOUND
    inverses = (right.transpose(0, 2, 1) / np.maximum(size, SOUND)[:, None, :]) @ left.transpose(0, 2, 1)
    inverses /= down.transpose(0, 2, 1) * across.transpose(0, 2, 1)
    return inverses, np.sign(np.linalg.det(left) * np.linalg.det(right)), sound


def _eliminated(
    diagonal: Floats, apart: sp.bsr_array, chosen: NDArray[np.bool_], inverses: Floats
) -> tuple[EliminatedServers, Floats, sp.bsr_array]:
    """Step 2: what is kept of the chosen servers, and the matrix of the others.

    Parameters
    ----------
    diagonal, apart : (servers, R, R), (servers R, servers R)
    chosen : (servers,) of which no two have a block in common
    inverses : of their blocks on the diagonal
    """
    row, column, place = rows_of(apart), apart.indices, np.where(chosen, np.cumsum(chosen), np.cumsum(~chosen)) - 1
    here, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)

    def part(of: NDArray[np.bool_], shape: tuple[int, int]) -> sp.bsr_array:
        return of_blocks(apart.data[of], place[row[of]], place[column[of]], shape)

    right, below = part(chosen[row], (len(here), len(others))), part(chosen[column], (len(others), len(here)))
    rest, inverse = part(~(chosen[row] | chosen[column]), (len(others), len(others))), on_the_diagonal(inverses)
    more, rest = separated(rest - below @ (inverse @ right))
    return EliminatedServers(here, others, inverse, right, below), diagonal[others] + more, rest
