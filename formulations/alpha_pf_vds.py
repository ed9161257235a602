r"""alphaPF-VDS: alpha-proportional fairness on virtual dominant shares (K 3, Problem 1, Definition 6).

Every server i, given what the others do, solves

    max   sum_n phi_n g_i(x_n / (phi_n gamma_ni))                  over x_ni >= 0, eligible n                  (K 12)
    s.t.  sum_n x_ni d_nr <= c_ir                                                                              (K 13-15)

with x_n = sum_j x_nj and g_i'(z) = (A_i / z)^alpha_i + B_i / z (K 22); A = 1, B = 0 is alpha-fairness. An allocation is an
equilibrium if no server can do better alone. It exists (Rosen); for alpha = 1 it is the nb allocation, for alpha = infinity on
all servers ps-dsf. x_n need not be unique for alpha != 1 (K 4.4); each method says which equilibrium it takes.

Residual: game.py. Models: the merit problem (merit.py); for alpha = 1 and B = 0, or A = 0, on every server the concave program nb.py.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.equilibrium import Equilibrium
from fairalloc.formulations.game import Game
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import mechanism as nash_bargaining
from fairalloc.models.instance import Instance, InstanceError

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo

NAMES = ("alpha", "A", "B")


class AlphaPfVds(Equilibrium):
    """The equilibrium of Problem 1."""

    id = "alpha-pf-vds"
    title = "alpha-fair on every server by virtual dominant shares; parameters alpha (default 2, inf allowed), A, B"
    source = "K 3.2, Problem 1, (22)"

    def __init__(self, alpha: Any = 2.0, A: Any = 1.0, B: Any = 0.0) -> None:
        self.alpha, self.A, self.B = alpha, A, B

    def configure(self, **parameters: Any) -> Mechanism:
        """`alpha` > 0 or "inf", `A`, `B` >= 0: a number, one for each server, or {server: number}."""
        for name in parameters:
            if name not in NAMES:
                raise InstanceError(f"mechanism {self.id!r} has no parameter {name!r}: it has {', '.join(NAMES)}")
        return AlphaPfVds(**{**{name: getattr(self, name) for name in NAMES}, **parameters})

    @property
    def parameters(self) -> dict[str, Any]:
        """alpha, and A and B where they are not 1 and 0."""
        given = {"alpha": self.alpha, "A": self.A, "B": self.B}
        usual = {"A": 1.0, "B": 0.0}
        return {name: _plain(value) for name, value in given.items() if name == "alpha" or not np.all(value == usual[name])}

    def game(self, instance: Instance) -> Game:
        """The game of Problem 1."""
        return Game(instance, self.alpha, self.A, self.B)

    def is_bargaining(self, instance: Instance) -> bool:
        """Whether g_i' is a multiple of 1 / z on every server: the equilibrium is then the nb allocation (K Theorem 2)."""
        game = self.game(instance)
        return bool(np.all((game.alpha == 1) | (game.A == 0)))

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """The concave program of nb for alpha = 1, else the merit problem."""
        return nash_bargaining.write_cvxpy(instance)

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """The concave program of nb for alpha = 1, else the merit problem."""
        return nash_bargaining.write_pyomo(instance)


def _plain(value: Any) -> Any:
    """The parameter as JSON knows it: floats, lists, and "inf"."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(entry) for entry in value]
    return "inf" if value in ("inf", np.inf) else float(value)


mechanism = AlphaPfVds()
