"""Which unknowns of a sparse symmetric system are eliminated at once: some of which no two are coupled."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["independent"]


def independent(matrix: sp.csr_array | sp.bsr_array, fewest: float, turns: int) -> NDArray[np.bool_]:
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
