"""`pyomo:path`: the complementarity conditions of the game (game/ncp.py) handed to the solver PATH, where it is on the machine.

PATH (Dirkse and Ferris 1995) is not free of charge above a size and comes in no wheel, so nothing here needs it: without its
executable `pathampl` the method is unavailable and says so. Own methods of its kind are `josephy-newton`, which does what PATH
does, and `semismooth-newton`.
"""

import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.ncp import ncp_pyomo
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.solvers.backends.pyomo import PyomoSession
from fairalloc.solvers.game.session import finite_alpha
from fairalloc.solvers.method import Method

if TYPE_CHECKING:
    import pyomo.environ as pyo

EXECUTABLE = "pathampl"


class PathSession(PyomoSession):
    """The conditions in levels; capacities and limits are conditions already."""

    def write(self, round: Round | None) -> "pyo.ConcreteModel":  # noqa: A002, ARG002
        """formulations/game/ncp.py."""
        assert isinstance(self.mechanism, Equilibrium)
        model = ncp_pyomo(self.mechanism.game(self.instance))
        model.capacity.deactivate()
        model.limit.deactivate()
        return model

    def optimise(self) -> tuple[str, Mapping[Any, float] | None]:
        """Pyomo writes, PATH solves; it hands over no duals."""
        from pyomo.environ import SolverFactory

        solver = SolverFactory("path")
        limit = {"timelimit": self.limits.left} if self.limits.limited else {}
        with self.phase("solve"):
            results = solver.solve(self.model, **limit)
        return PATH_TERMINATION.get(str(results.solver.termination_condition), "error"), None


PATH_TERMINATION = {"optimal": "optimal", "maxTimeLimit": "time_limit", "maxIterations": "iteration_limit"}


class PathMethod(Method):
    """PATH through Pyomo."""

    id = "pyomo:path"
    kind = "complementarity"
    packages: ClassVar[tuple[str, ...]] = ("pyomo",)
    session = PathSession

    def computes(self, mechanism: Mechanism) -> bool:
        return isinstance(mechanism, Equilibrium) and mechanism.id != "ps-dsf"

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        return finite_alpha(self.id, mechanism, instance)

    def missing(self) -> str:
        if shutil.which(EXECUTABLE):
            return super().missing()
        where = "on the search path, see pages.cs.wisc.edu/~ferris/path"
        return f"{self.id} needs the solver PATH: put its executable {EXECUTABLE} {where}"


methods = (PathMethod(),)
