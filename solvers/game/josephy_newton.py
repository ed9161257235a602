r"""`josephy-newton`: the game as a sequence of linear complementarity problems (Josephy 1979; K 28-29, finite alpha).

One step, within the outer iteration of complementarity.py:

1. At v replace the functions F = (E, slack) by their linearisation F(v) + J (z - v).
2. Solve the linear complementarity problem  0 <= z complements F(v) + J (z - v) >= 0  by Lemke's method, with the variables
   where v > F as a first guess of the basic ones.
3. Line search on |Phi|^2 between v and z, as in the solver PATH (Dirkse and Ferris 1995): the next v is the first of t = 1, 1/2,
   1/4, ... whose merit is small enough against the largest of the last steps.
4. Where Lemke's method ends on a ray or no t is small enough, take J + rho I for J with the next larger rho, so that z is closer
   to v, and go to 2.

Pivots work on a dense tableau with a row for every arc and every price, so the method is for games of some hundred arcs.
"""

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.complementarity import (
    AlphaContinuation,
    Complementarity,
    ComplementarityMethod,
    ComplementarityOptions,
    Linearization,
    lemke_from_guess,
)

RHO = (0.0, 1e-4, 1e-2, 1.0, 100.0)
"""What is added to the diagonal of the Jacobian of the complementarity problem, tried in this order."""


class JosephySession(AlphaContinuation):
    def next_point(self, problem: Complementarity, here: Linearization, allowed: float) -> Floats | None:
        J = here.J.toarray()  # 1
        for rho in RHO:  # 4
            M = J + rho * np.eye(len(J))
            z = lemke_from_guess(M, here.F - M @ here.v, here.v > here.F, 4 * len(J), lambda: self.limits.left)  # 2
            if z is None:
                continue
            d = np.maximum(z, 0.0) - here.v
            for part in 0.5 ** np.arange(8):  # 3
                v: Floats = here.v + part * d
                if problem.value(v).merit <= (1.0 - 0.1 * part) * allowed:
                    return v
        return None


class JosephyNewton(ComplementarityMethod):
    """Successive linear complementarity; the trace has `iteration`, `merit`, `residual` and `seconds` for the last alpha."""

    id = "josephy-newton"
    options = ComplementarityOptions(max_steps=60)  # each is a whole problem
    session = JosephySession
    largest = 1500  # a pivot costs its square


methods = (JosephyNewton(),)
