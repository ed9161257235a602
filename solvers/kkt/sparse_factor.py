r"""Factors of a sparse matrix of blocks, R x R for each pair of servers: most of it block by block, the rest dense.

1. Choose servers of which no two have a block in common, on either side of the diagonal, and which have few blocks.
2. Eliminate them all at once. With L U the blocks of these servers E on the diagonal the others C keep

       M_CC - (M_CE U^-1) (L^-1 M_EC),        one product of sparse matrices.

3. Repeat 1 and 2 with what is left, until it is small or no longer sparse. That is factorised by LAPACK.

`SparseFactor` is for symmetric matrices, with Cholesky's L and U = L^T. `SparseLU` is for those of the game, with U = 1 and L the
block itself; the determinant is the product of those of all blocks and of the rest, as rows and columns change places alike.

A term of rank one, rho a a^T, would fill the matrix. It is the same as one more unknown w = rho a^T p, a last row and column a
with -1 / rho on the diagonal, which is eliminated between 2 and 3: after the passes a is a' and the diagonal -kappa, and what is
factorised densely has a' a'^T / kappa added.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.matrices import (
    SMALLEST,
    Dense,
    ScaledLU,
    bordered,
    dense,
    of_blocks,
    on_the_diagonal,
    rows_of,
    separated,
    solved,
)

DENSE = 0.55
"""The part of a matrix that may be nonzero where more is eliminated from it."""

WORTHWHILE, FEWEST = 0.08, 0.7
"""The least part of the servers eliminated at once, where the rest can be dense; the part, with few blocks, they come from."""

TURNS = 2
"""How often servers are chosen that have no block in common with those chosen before."""

SOUND = 1e-6
"""The least eigenvalue of a block, scaled to a diagonal of 1, with which it is eliminated."""


def independent(matrix: sp.csr_array | sp.bsr_array, fewest: float = FEWEST, turns: int = TURNS) -> NDArray[np.bool_]:
    """Those with fewer couplings than all that they are coupled with; the same again among those coupled with none of these.

    The matrix is symmetric, of numbers or blocks. Outside the part `fewest` the unknowns wait, because what they leave is dense.
    Ties are broken by a fixed random order.
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
    """One pass of steps 1 and 2: the servers of E and of C, L^-1, U^-1, L^-1 M_EC and M_CE U^-1, and L^-1 a_E."""

    here: NDArray[np.intp]
    others: NDArray[np.intp]
    lower: sp.bsr_array
    upper: sp.bsr_array
    right: sp.bsr_array
    below: sp.bsr_array
    border: Floats


class BlockElimination:
    """What both factors share: the passes, and solves that go through them; a and rho are the border of the rest, or 0."""

    rest: Dense | ScaledLU | None = None

    def __init__(self, R: int, rows: int) -> None:
        self.passes: list[Eliminated] = []
        self.R, self.a, self.rho = R, np.zeros(rows), 0.0

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (K R,)."""
        halves, w = [], 0.0
        for one in self.passes:
            by_server = right.reshape(-1, self.R)
            halves.append(one.lower @ by_server[one.here].ravel())
            right = by_server[one.others].ravel() - one.below @ halves[-1]
            w -= float(one.border @ halves[-1])
        solution, rest = right + self.rho * w * self.a, self.rest
        if rest is not None:
            solution = rest.solve(solution) if isinstance(rest, ScaledLU) else solved(rest, solution)
        w = self.rho * (float(self.a @ solution) - w)
        for one, half in zip(reversed(self.passes), reversed(halves), strict=True):
            both = np.empty((len(one.here) + len(one.others), self.R))
            both[one.others] = solution.reshape(-1, self.R)
            both[one.here] = (one.upper @ (half - one.right @ solution - w * one.border)).reshape(-1, self.R)
            solution = both.ravel()
        return solution

    def eliminate(
        self, diagonal: Floats, apart: sp.bsr_array, chosen: NDArray[np.bool_], lower: Floats, upper: Floats
    ) -> tuple[Floats, sp.bsr_array]:
        """Step 2: the matrix of the servers that are left, from L^-1 and U^-1 (chosen servers, R, R)."""
        row, column, place = rows_of(apart), apart.indices, np.where(chosen, np.cumsum(chosen), np.cumsum(~chosen)) - 1
        here, others, by_server = np.flatnonzero(chosen), np.flatnonzero(~chosen), self.a.reshape(len(chosen), -1)
        of, under, left = chosen[row], chosen[column], ~(chosen[row] | chosen[column])
        blocks, E, C = apart.data, len(here), len(others)
        right = of_blocks(lower[place[row[of]]] @ blocks[of], place[row[of]], place[column[of]], (E, C))
        below = of_blocks(blocks[under] @ upper[place[column[under]]], place[row[under]], place[column[under]], (C, E))
        L, U = on_the_diagonal(lower), on_the_diagonal(upper)
        one = Eliminated(here, others, L, U, right, below, L @ by_server[here].ravel())
        self.a = by_server[others].ravel() - below @ one.border
        self.passes.append(one)
        more, rest = separated(of_blocks(blocks[left], place[row[left]], place[column[left]], (C, C)) - below @ right)
        return diagonal[others] + more, rest


class SparseFactor(BlockElimination):
    """The factor of a symmetric matrix of blocks (K, R, R) on the diagonal and others `apart`, to which rho a a^T is added.

    LinAlgError where it is not positive definite in floating point, or more than `most` rows are left in step 3. Its dense part
    may be in single precision where that has enough digits.
    """

    def __init__(self, diagonal: Floats, apart: sp.bsr_array, a: Floats, rho: float, most: int, single: bool) -> None:
        super().__init__(diagonal.shape[1], len(a))
        self.a = a
        whole = np.diagonal(diagonal, axis1=1, axis2=2) + rho * a.reshape(len(diagonal), -1) ** 2
        scale = np.sqrt(np.maximum(whole, SMALLEST))
        while len(diagonal) + len(apart.indices) < DENSE * len(diagonal) ** 2:
            chosen = independent(apart)  # 1
            roots = scale[chosen]  # of the first diagonal with rho a a^T; blocks whose factor has not all digits wait
            scaled = diagonal[chosen] / (roots[:, :, None] * roots[:, None, :])
            chosen[chosen] = np.linalg.eigvalsh(scaled).min(axis=1) > SOUND
            if chosen.sum() < WORTHWHILE * len(chosen) and (len(self.a) <= most or not chosen.any()):
                break
            lower = _halves_inverted(np.linalg.cholesky(diagonal[chosen]))
            diagonal, apart = self.eliminate(diagonal, apart, chosen, lower, lower.transpose(0, 2, 1))  # 2
            scale = scale[~chosen]
        if len(self.a) > most:
            raise np.linalg.LinAlgError
        self.rho = 1.0 / (1.0 / rho + sum(float(one.border @ one.border) for one in self.passes)) if rho else 0.0
        if len(self.a):
            self.rest = bordered(lambda kind: dense(apart, kind, diagonal), self.a, self.rho, single)  # 3


class SparseLU(BlockElimination):
    """The factors of a matrix of blocks (K, R, R) on the diagonal and others `apart`; `sign` as that of `ScaledLU`."""

    def __init__(self, diagonal: Floats, apart: sp.bsr_array) -> None:
        super().__init__(diagonal.shape[1], diagonal.shape[0] * diagonal.shape[1])
        self.sign, unit = 1.0, np.eye(self.R)[None]
        while len(diagonal) + len(apart.indices) < DENSE * len(diagonal) ** 2:
            ones = np.ones(len(apart.indices))  # where there is a block or its transpose
            there = sp.csr_array((ones, apart.indices, apart.indptr), shape=(len(diagonal), len(diagonal)))
            chosen = independent(sp.csr_array(there + there.T))  # 1
            inverses, signs, sound = _inverted(diagonal[chosen])
            chosen[chosen] = sound
            if chosen.sum() < WORTHWHILE * len(chosen):
                break
            diagonal, apart = self.eliminate(diagonal, apart, chosen, inverses[sound], np.repeat(unit, chosen.sum(), axis=0))  # 2
            self.sign *= float(np.prod(signs[sound]))
        if len(diagonal):
            self.rest = rest = ScaledLU(dense(apart, np.float64, diagonal))  # 3
            self.sign *= rest.sign


def _halves_inverted(halves: NDArray[np.floating[Any]]) -> Floats:
    """The inverses of lower triangular blocks, row by row: each number has its digits, also beside rows that are left out."""
    result = np.zeros(halves.shape)
    for row in range(halves.shape[1]):
        pivot = halves[:, row, row]
        result[:, row, :row] = -(halves[:, row, None, :row] @ result[:, :row, :row])[:, 0] / pivot[:, None]
        result[:, row, row] = 1.0 / pivot
    return result


def _inverted(blocks: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The inverses, the signs of the determinants, and which blocks have an inverse with all digits; the others wait."""
    across = np.maximum(np.abs(blocks).max(axis=2, keepdims=True), SMALLEST)
    scaled = blocks / across
    down = np.maximum(np.abs(scaled).max(axis=1, keepdims=True), SMALLEST)
    left, size, right = np.linalg.svd(scaled / down)
    sound = size.min(axis=1, initial=np.inf) > SOUND
    inverses = (right.transpose(0, 2, 1) / np.maximum(size, SOUND)[:, None, :]) @ left.transpose(0, 2, 1)
    inverses /= down.transpose(0, 2, 1) * across.transpose(0, 2, 1)
    return inverses, np.sign(np.linalg.det(left) * np.linalg.det(right)), sound
