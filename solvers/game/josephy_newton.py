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

from dataclasses import dataclass

import numpy as np

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.complementarity import (
    AlphaContinuation,
    Complementarity,
    ComplementarityOptions,
    Linearization,
    lemke_from_guess,
)
from fairalloc.solvers.game.session import finite_alpha, plain_users
from fairalloc.solvers.method import Limits, Method, Session


@dataclass(frozen=True)
class JosephyNewtonOptions(ComplementarityOptions):
    """Of the linearised problems.

    Attributes
    ----------
    rho : what is added to the diagonal of the Jacobian of the complementarity problem, tried in this order
    largest : the largest number of arcs and prices together; a pivot costs its square
    """

    max_steps: int = 60
    rho: tuple[float, ...] = (0.0, 1e-4, 1e-2, 1.0, 100.0)
    largest: int = 1500


class JosephySession(AlphaContinuation):
    """The game of one instance."""

    options: JosephyNewtonOptions

    def next_point(self, problem: Complementarity, here: Linearization, allowed: float) -> Floats | None:
        """The next v on the way to the solution of a linearised problem."""
        J = here.J.toarray()  # 1
        for rho in self.options.rho:  # 4
            M = J + rho * np.eye(len(J))
            z = lemke_from_guess(M, here.F - M @ here.v, here.v > here.F, 4 * len(J), lambda: self.limits.left)  # 2
            if z is None:
                continue
            d = np.maximum(z, 0.0) - here.v
            for part in 0.5 ** np.arange(8):  # 3
                v = here.v + part * d
                if problem.value(v).merit <= (1.0 - 0.1 * part) * allowed:
                    result: Floats = v
                    return result
        return None


class JosephyNewton(Method):
    """Successive linear complementarity; the trace has `iteration`, `merit`, `residual` and `seconds` for the last alpha."""

    id = "josephy-newton"
    kind = "Newton"
    options = JosephyNewtonOptions()
    warm = True

    def computes(self, mechanism: Mechanism) -> bool:
        """Games with finite alpha."""
        return isinstance(mechanism, Equilibrium) and not isinstance(mechanism, PsDsf)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Every alpha is finite, and the tableau is small enough."""
        domain = mechanism.domain(instance)
        size = len(domain.arcs) + domain.K * domain.R
        if size > self.options.largest:
            return f"{self.id} needs at most {self.options.largest} arcs and prices together, but there are {size}"
        return plain_users(self.id, mechanism.domain(instance)) or finite_alpha(self.id, mechanism, instance)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """The arrays."""
        return JosephySession(mechanism, instance, limits, limits.own(JosephyNewtonOptions))


methods = (JosephyNewton(),)
