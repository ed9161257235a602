r"""The factor of a preconditioner of schur.py in which users stay unknowns: those with arcs at several servers that count.

    [  Q    -C^T ] [p]   [b]        Q = P + S        regular blocks R x R, one for each server
    [ -C     1   ] [v] = [0]        C = F^-1/2 B     a row for each of these users; without v it is Q - C^T C

1. Eliminate the servers with few such users, all at once: no two have a block in common. With L L^T the blocks of these servers
   and V = -L^-1 C^T, users have 1 - V^T V, in which those at one server are coupled.
2. What is left, users and the rows of the other servers, is a matrix of numbers: scalar_factor.py.

**Why.** Between two servers, a user is one number in C, and R x R numbers once it is eliminated. So is what a server leaves: one
number for each pair of its users, R x R for each pair of its neighbours. With two arcs a user is one block or one unknown; with
more it is a block for each pair. With 700 servers, 4 resources and 4,500 users, of whom 1,550 have several arcs, 300 of them more
than two, 1,200 rows are left for LAPACK if users go first, and 950 if servers do.

A user of whom nearly all is on one arc would lose its digits in step 1, as it does in "users" of schur.py. Here it is no unknown:
a preconditioner leaves out arcs with a small part.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.arrow.block_matrix import of_blocks, on_the_diagonal, rows_of
from fairalloc.solvers.arrow.scalar_factor import ScalarFactor
from fairalloc.solvers.arrow.sparse_factor import Eliminated, inverted, sound

__all__ = ["SplitUsersFactor"]

FEW = 8
"""The most users that a server has which is eliminated in step 1."""


class SplitUsersFactor:
    """The factor of Q - C^T C, to which rho a a^T is added.

    Parameters
    ----------
    blocks : (K, R, R) of Q
    coupling : (N, K R) C, with 1 x R for each arc that counts
    a, rho : (K R,) and a number
    most : rows of a dense matrix
    single : whether its dense part may be in single precision, where that has enough digits

    Raises
    ------
    numpy.linalg.LinAlgError : the matrix is not positive definite in floating point, or more than `most` rows are left
    """

    def __init__(self, blocks: Floats, coupling: sp.bsr_array, a: Floats, rho: float, most: int, single: bool) -> None:
        K, self.R, _ = blocks.shape
        arcs = _by_server(coupling, K)
        self.users = arcs.shape[1]
        first = np.diff(arcs.indptr) <= FEW
        first[first] = sound(blocks[first], np.sqrt(np.diagonal(blocks[first], axis1=1, axis2=2)))
        self.first, rest = _eliminated(blocks, arcs, a.reshape(K, -1), first)  # 1
        joined = sp.eye_array(self.users) - (self.first.coupling_transposed @ self.first.coupling).tocsr()
        others = on_the_diagonal(blocks[self.first.others]).tocsr()
        matrix = sp.csr_array(sp.block_array([[joined, rest.T], [rest, others]], format="csr"))
        self.a = np.concatenate(
            [-(self.first.coupling_transposed @ self.first.border), a.reshape(K, -1)[self.first.others].ravel()]
        )
        self.rho = 1.0 / (1.0 / rho + float(self.first.border @ self.first.border)) if rho else 0.0
        self.rest = ScalarFactor(matrix, self.a, self.rho, most, single)  # 2

    def solve(self, right: Floats) -> Floats:
        """The solution for a right-hand side (K R,)."""
        first, by_server = self.first, right.reshape(-1, self.R)
        half = first.inverse @ by_server[first.here].ravel()
        w = self.rho * float(first.border @ half)
        rest = self.rest.solve(
            np.concatenate([-(first.coupling_transposed @ half), by_server[first.others].ravel()]) - w * self.a
        )
        w += self.rho * float(self.a @ rest)
        half -= first.coupling @ rest[: self.users] + w * first.border
        solution = np.empty_like(by_server)
        solution[first.others] = rest[self.users :].reshape(-1, self.R)
        solution[first.here] = (first.inverse_transposed @ half).reshape(-1, self.R)
        return solution.ravel()


def _by_server(coupling: sp.bsr_array, servers: int) -> sp.bsr_array:
    """(K R, users) C^T of the users that have a row in C."""
    there = np.diff(coupling.indptr) > 0
    number = np.cumsum(there) - 1
    return of_blocks(coupling.data, number[rows_of(coupling)], coupling.indices, (int(there.sum()), servers)).T


def _eliminated(blocks: Floats, arcs: sp.bsr_array, a: Floats, first: NDArray[np.bool_]) -> tuple[Eliminated, sp.csr_array]:
    """Step 1: what is kept of the servers that go first, and -C^T of the others.

    Parameters
    ----------
    blocks, arcs, a : (K, R, R), (K R, users) C^T, (K, R)
    first : (K,)
    """
    here, others = np.flatnonzero(first), np.flatnonzero(~first)
    place, row, user = np.where(first, np.cumsum(first), np.cumsum(~first)) - 1, rows_of(arcs), arcs.indices
    halves, of = inverted(np.linalg.cholesky(blocks[here])), first[row]
    inverse = on_the_diagonal(halves)
    coupling = of_blocks(-(halves[place[row[of]]] @ arcs.data[of]), place[row[of]], user[of], (len(here), arcs.shape[1]))
    rest = of_blocks(-arcs.data[~of], place[row[~of]], user[~of], (len(others), arcs.shape[1]))
    one = Eliminated(here, others, inverse, inverse.T, coupling, coupling.T, inverse @ a[here].ravel())
    return one, sp.csr_array(rest.tocsr())
