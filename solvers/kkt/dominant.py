r"""Factors without cancellation of symmetric matrices that are diagonally dominant at known prices.

Let no number of A off the diagonal be positive, and v > 0 and e = A v >= 0 be known. The diagonal follows from these, and
elimination adds positive numbers alone (Grassmann, Taksar and Heyman 1985; Alfa, Xue and Ye 2002):

    A_kk v_k = e_k + sum over j of |A_jk| v_j,    |A_ij| += |A_ik| |A_jk| / A_kk,    e_i += |A_ik| e_k / A_kk.

So the factor has all digits, however near to a singular matrix A is: e says how near.

**The arrow of markets.** With one resource, and where no user is raised, the arrow of schur.py is such a matrix: at the prices p
of rows and l = y - z of users, with flow = theta (load^T p - l), which is x where the dual equations hold,

    e = S p + load flow = 1        in rows,        E l - owner flow = -dt/dy y - t        in users' rows,

which for nb vanishes and for fds is (1 / alpha - 1) t. What is negative is small beside what users without limits pay, in whose
rows it ends.
"""

from typing import NamedTuple

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.matrices import Dense

PANEL = 32
"""Columns that are eliminated one by one; more are halved, and what their first half leaves is one product of matrices."""


class Balance(NamedTuple):
    """Prices of rows (K,) and of users (N,), all positive, and what the arrow makes of them, (K,) and (N,)."""

    p: Floats
    l: Floats  # noqa: E741 (the letter of schur.py)
    rows: Floats
    users: Floats


def factor_of_dominant(matrix: Dense, v: Floats, e: Floats) -> Dense:
    """The lower factor, written over the numbers below the diagonal, from e = A v; LinAlgError where a pivot is not positive."""
    _eliminate(matrix, v, e.copy(), 0, len(e))
    return matrix


def _eliminate(matrix: Dense, v: Floats, e: Floats, start: int, end: int) -> None:
    """The columns from `start` to `end`."""
    if end - start > PANEL:
        middle = (start + end) // 2
        _eliminate(matrix, v, e, start, middle)
        matrix[middle:, middle:end] -= matrix[middle:, start:middle] @ matrix[middle:end, start:middle].T
        _eliminate(matrix, v, e, middle, end)
        return
    for k in range(start, end):
        below = matrix[k + 1 :, k]
        pivot = (e[k] - below @ v[k + 1 :]) / v[k]
        if not 0 < pivot < np.inf:
            raise np.linalg.LinAlgError
        e[k + 1 :] -= below * (e[k] / pivot)
        matrix[k, k] = np.sqrt(pivot)
        below /= matrix[k, k]
        matrix[k + 1 :, k + 1 : end] -= below[:, None] * below[: end - k - 1]
