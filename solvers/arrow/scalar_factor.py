r"""The Cholesky factor of a sparse matrix of numbers: most of it by eliminating many unknowns at once, the rest dense.

1. Choose unknowns of which no two are coupled, and which have few couplings.
2. Eliminate them all at once. With their pivots D and their couplings V the others C keep

       M_CC - V^T D^-1 V,        one product of sparse matrices.

3. Repeat 1 and 2 with what is left, until it is small or no longer sparse. That is factorised by LAPACK.

A term rho a a^T is one more unknown, as in sparse_factor.py. That module does the same with blocks of servers; numbers need no
inverses, and a pass takes half of the time.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.arrow.dense_factor import Dense, bordered, solved
from fairalloc.solvers.arrow.independent import independent

__all__ = ["ScalarFactor"]

DENSE = 0.04
"""The part of a matrix that may be nonzero where more is eliminated from it."""

WORTHWHILE = 8e7
"""The multiplications in LAPACK that a pass saves at least: it takes the time of as many."""

FEWEST = 0.9
"""The part of the unknowns of which some are eliminated at once: those with the fewest couplings."""

TURNS = 3
"""How often unknowns are chosen that have no coupling with those chosen before."""

SOUND = 1e-6
"""The part of the diagonal at first that a pivot is at least; other unknowns wait for the dense rest."""


class EliminatedScalars(NamedTuple):
    """One pass of steps 1 and 2: the unknowns E and C, the pivots D (E,), V (E, C) with its transpose, and a of E."""

    here: NDArray[np.intp]
    others: NDArray[np.intp]
    pivots: Floats
    coupling: sp.csr_array
    coupling_transposed: sp.csr_array
    border: Floats


class ScalarFactor:
    """The factor of a symmetric matrix, to which rho a a^T is added.

    Parameters
    ----------
    matrix : (n, n) with all numbers on the diagonal
    a, rho : (n,) and a number
    most : rows of a dense matrix
    single : whether its dense part may be in single precision, where that has enough digits

    Raises
    ------
    numpy.linalg.LinAlgError : the matrix is not positive definite in floating point, or more than `most` rows are left in step 3
    """

    def __init__(self, matrix: sp.csr_array, a: Floats, rho: float, most: int, single: bool) -> None:
        self.passes: list[EliminatedScalars] = []
        least = SOUND * matrix.diagonal()
        while matrix.nnz < DENSE * len(a) ** 2:
            chosen = independent(matrix, FEWEST, TURNS) & (matrix.diagonal() > least)  # 1
            if chosen.sum() * len(a) ** 2 < WORTHWHILE and (len(a) <= most or not chosen.any()):
                break
            one, matrix = _eliminated(matrix, a, chosen)  # 2
            a, least = a[one.others] - one.coupling_transposed @ (one.border / one.pivots), least[one.others]
            self.passes.append(one)
        if len(a) > most:
            raise np.linalg.LinAlgError
        bent = sum(float(one.border @ (one.border / one.pivots)) for one in self.passes)
        self.a, self.rho = a, 1.0 / (1.0 / rho + bent) if rho else 0.0
        self.rest: Dense | None = None
        if len(a):
            self.rest = bordered(lambda kind: matrix.astype(kind).toarray(order="F"), self.a, self.rho, single)  # 3

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (n,)."""
        quotients, w = [], 0.0
        for one in self.passes:
            quotients.append(right[one.here] / one.pivots)
            right = right[one.others] - one.coupling_transposed @ quotients[-1]
            w -= float(one.border @ quotients[-1])
        solution = right if self.rest is None else solved(self.rest, right + self.rho * w * self.a)
        w = self.rho * (float(self.a @ solution) - w)
        for one, quotient in zip(reversed(self.passes), reversed(quotients), strict=True):
            both = np.empty(len(one.here) + len(one.others))
            both[one.others] = solution
            both[one.here] = quotient - (one.coupling @ solution + w * one.border) / one.pivots
            solution = both
        return solution


def _eliminated(matrix: sp.csr_array, a: Floats, chosen: NDArray[np.bool_]) -> tuple[EliminatedScalars, sp.csr_array]:
    """Step 2: what is kept of the chosen unknowns, and the matrix of the others.

    Parameters
    ----------
    matrix, a : (n, n), (n,)
    chosen : (n,) of which no two are coupled
    """
    row, column = np.repeat(np.arange(len(chosen)), np.diff(matrix.indptr)), matrix.indices
    place, (here, others) = np.where(chosen, np.cumsum(chosen), np.cumsum(~chosen)) - 1, map(np.flatnonzero, (chosen, ~chosen))

    def part(of: NDArray[np.bool_], rows: int) -> sp.csr_array:
        where = np.flatnonzero(of & ~chosen[column])
        ends = np.concatenate([[0], np.cumsum(np.bincount(place[row[where]], minlength=rows))])
        return sp.csr_array((matrix.data[where], place[column[where]], ends), shape=(rows, len(others)))

    coupling, rest, pivots = part(chosen[row], len(here)), part(~chosen[row], len(others)), matrix.diagonal()[here]
    one = EliminatedScalars(here, others, pivots, coupling, coupling.T.tocsr(), a[here])
    divided = coupling.data / np.repeat(pivots, np.diff(coupling.indptr))
    return one, rest - one.coupling_transposed @ sp.csr_array((divided, coupling.indices, coupling.indptr), shape=coupling.shape)
