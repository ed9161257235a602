r"""PS-DSF: per-server dominant-share fairness (P Def 2, Theorem 1; K Def 4).

x is feasible, and for every user n and eligible server i some resource r that n demands is a bottleneck (P Def 3, (13)):

    sum_m x_mi d_mr = c_ir      and      z_ni >= z_mi  for all m with x_mi d_mr > 0,        z_ni = x_n / (phi_n gamma_ni)

**Levels.** Equivalently there are levels l_ir in (0, inf], infinite unless r is saturated at server i, with

    0 <= x_ni   complements   z_ni - min over r with d_nr > 0 of l_ir >= 0

(=> l_ir = the largest z_mi with x_mi d_mr > 0 at a saturated r. <= if r attains n's minimum, it is saturated, and every m with
x_mi d_mr > 0 has z_mi = min l_i. <= l_ir <= z_ni.) Prices of an allocation are the kappa_ir = 1 / l_ir of game.py.

x_n need not be unique: one user of a server may do without it when another server has taken its place, see the example
`two-answers` in models/published.py.
"""

from typing import TYPE_CHECKING

import numpy as np

from fairalloc.formulations.equilibrium import Equilibrium
from fairalloc.formulations.game import Game
from fairalloc.models.instance import Instance

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo


class PsDsf(Equilibrium):
    """A bottleneck for every user at every eligible server."""

    id = "ps-dsf"
    title = "per-server dominant-share fairness: a bottleneck for every user at every eligible server"
    source = "P Def 2, Theorem 1"

    def game(self, instance: Instance) -> Game:
        """The game at alpha = infinity."""
        return Game(instance, np.inf)

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """The mixed-integer program by levels."""
        raise NotImplementedError

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """The mixed-integer program by levels."""
        raise NotImplementedError


mechanism = PsDsf()
