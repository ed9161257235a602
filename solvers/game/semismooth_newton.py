r"""`semismooth-newton`: the game as Phi(v) = 0 by Fischer and Burmeister (K 28-29, 35; finite alpha; complementarity.py).

One step, within the outer iteration of complementarity.py:

1. An element J of the generalised Jacobian of Phi at v (De Luca, Facchinei, Kanzow 1996).
2. The Newton direction, J d = -Phi.
3. Line search on |Phi|^2 / 2, which is smooth, along the projection of v + t d onto v >= 0: t = 1, 1/2, 1/4, ... until the merit
   is small enough against the largest of the last steps.
4. Where no t is, the direction of Levenberg and Marquardt, (J' J + mu I) d = -J' Phi, with the next larger mu, and 3 again. For
   large mu it is a descent direction.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.complementarity import AlphaContinuation, Complementarity, ComplementarityMethod, Linearization

MU = (0.0, 1e-8, 1e-5, 1e-2, 1.0)
"""Levenberg and Marquardt's parameter, tried in this order."""


class SemismoothSession(AlphaContinuation):
    def next_point(self, problem: Complementarity, here: Linearization, allowed: float) -> Floats | None:
        J, phi = here.generalised, here.phi  # 1
        for mu in MU:  # 2, then 4
            d = _solved(J, -phi) if mu == 0.0 else _solved(sp.csr_array(J.T @ J) + mu * sp.eye_array(len(phi)), -(J.T @ phi))
            slope = min(float(phi @ (J @ d)), 0.0)
            for part in 0.5 ** np.arange(10):  # 3
                v: Floats = np.maximum(here.v + part * d, 0.0)
                if problem.value(v).merit <= allowed + 1e-2 * part * slope:
                    return v
        return None


def _solved(matrix: sp.csr_array, right: Floats) -> Floats:
    """Sparse LU; nan where the matrix is singular, which SuperLU says by an error."""
    from scipy.sparse.linalg import splu

    try:
        return np.asarray(splu(sp.csc_array(matrix)).solve(right), dtype=float)
    except RuntimeError:
        return np.full(len(right), np.nan)


class SemismoothNewton(ComplementarityMethod):
    """Fischer-Burmeister; the trace has `iteration`, `merit`, `residual` and `seconds` for the last alpha."""

    id = "semismooth-newton"
    session = SemismoothSession
    largest = 10_000  # one linear system takes seconds then, cannot be interrupted, and takes minutes for 25,000


methods = (SemismoothNewton(),)
