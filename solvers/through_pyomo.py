"""Solvers reached through Pyomo: the mechanism's own `ConcreteModel`, handed to HiGHS or Ipopt.

Ipopt comes from wheels alone: Pyomo writes an .nl file, CasADi reads it and runs the Ipopt it carries.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.leximin import Leximin, Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.accuracy import OPTIONS
from fairalloc.solvers.method import Limits, Method, Session, captured

if TYPE_CHECKING:
    import pyomo.environ as pyo


class PyomoSession(Session):
    """The `ConcreteModel` of the mechanism, written again for each round."""

    model: "pyo.ConcreteModel"

    def __init__(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> None:
        super().__init__(instance, limits)
        self.mechanism = mechanism

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002
        """One solve; the duals of `capacity` and `full` are the prices, 0 for a row that is left out."""
        with self.phase("build"):
            item = self.mechanism
            self.model = item.write_pyomo(self.instance, round) if isinstance(item, Leximin) else item.write_pyomo(self.instance)
        termination, duals = self.optimise()
        with self.phase("read"):
            values = [v.value for v in self.model.x.values()]
            if all(v is not None for v in values):
                self.x = np.array(values, dtype=float)
            self.conclude(termination)
            prices = np.zeros((self.instance.K, self.instance.R))
            for (server, resource), row in [*self.model.capacity.items(), *self.model.full.items()]:
                place = self.instance.servers.index(server), self.instance.resources.index(resource)
                prices[place] = duals[row]
        return self.x, prices

    def optimise(self) -> tuple[str, Mapping[Any, float]]:
        """Run the solver; loads the variables, returns the termination and the duals by constraint."""
        raise NotImplementedError


class PyomoHighs(PyomoSession):
    """Pyomo's interface to HiGHS."""

    def optimise(self) -> tuple[str, Mapping[Any, float]]:
        """Hand the model over and solve it."""
        from pyomo.contrib.solver.common.factory import SolverFactory

        with self.phase("compile"), captured():
            solver = SolverFactory("highs")
            solver.config.load_solutions = False
            solver.config.raise_exception_on_nonoptimal_result = False
            solver.config.solver_options = {"threads": 1, **OPTIONS["HIGHS"][self.limits.accuracy]}
            solver.set_instance(self.model)
        if np.isfinite(self.limits.deadline):
            solver.config.time_limit = self.limits.left
        with self.phase("solve"), captured():
            results = solver.solve(self.model)
        termination = HIGHS_TERMINATION.get(results.termination_condition.name, "error")
        loader = results.solution_loader
        if results.solution_status.name in ("optimal", "feasible"):
            loader.load_vars()
        return termination, loader.get_duals() if termination == "optimal" else {}


HIGHS_TERMINATION = {
    "convergenceCriteriaSatisfied": "optimal",
    "maxTimeLimit": "time_limit",
    "iterationLimit": "iteration_limit",
    "provenInfeasible": "infeasible",
    "infeasibleOrUnbounded": "infeasible",
    "unbounded": "unbounded",
}


class PyomoIpopt(PyomoSession):
    """Pyomo -> .nl -> CasADi -> the Ipopt in CasADi's wheel."""

    def optimise(self) -> tuple[str, Mapping[Any, float]]:
        """Write, import and solve."""
        with self.phase("compile"):
            info, nl = self._written()
            function = self._function(nl)
        with self.phase("solve"), captured():
            start = [1.0 if v.value is None else v.value for v in info.variables]
            result = function(x0=start, lbx=nl.x_lb, ubx=nl.x_ub, lbg=nl.g_lb, ubg=nl.g_ub)
        stats = function.stats()
        self.count(stats["iter_count"])
        for variable, value in zip(info.variables, np.asarray(result["x"]).ravel(), strict=True):
            variable.set_value(float(value), skip_validation=True)
        duals = dict(zip(info.constraints, np.asarray(result["lam_g"]).ravel(), strict=True))
        return IPOPT_TERMINATION.get(stats["return_status"], "error"), duals

    def _written(self) -> tuple[Any, Any]:
        import casadi
        from pyomo.repn.plugins.nl_writer import NLWriter

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.nl"
            with path.open("w") as file:
                info = NLWriter().write(self.model, file, symbolic_solver_labels=False, linear_presolve=False, scale_model=False)
            nl = casadi.NlpBuilder()
            nl.import_nl(str(path))
        return info, nl

    def _function(self, nl: Any) -> Any:
        import casadi

        options = dict(OPTIONS["IPOPT in CasADi"][self.limits.accuracy])
        if np.isfinite(self.limits.deadline):
            options["max_wall_time"] = self.limits.left
        problem = {"x": casadi.vertcat(*nl.x), "f": nl.f, "g": casadi.vertcat(*nl.g)}
        return casadi.nlpsol("fairalloc", "ipopt", problem, {"ipopt": options, "print_time": False})


IPOPT_TERMINATION = {
    "Solve_Succeeded": "optimal",
    "Solved_To_Acceptable_Level": "inaccurate",
    "Maximum_WallTime_Exceeded": "time_limit",
    "Maximum_CpuTime_Exceeded": "time_limit",
    "Maximum_Iterations_Exceeded": "iteration_limit",
    "Infeasible_Problem_Detected": "infeasible",
    "Diverging_Iterates": "unbounded",
}


class PyomoMethod(Method):
    """One of the solvers reached through Pyomo."""

    install = "pip install fairalloc"

    def __init__(self, solver: str, kind: str, package: str, session: type[PyomoSession]) -> None:
        self.id, self.kind, self.solver, self.session = f"pyomo:{solver.lower()}", kind, solver, session
        self.packages = ("pyomo", package)  # type: ignore[misc]

    def computes(self, mechanism: Mechanism) -> bool:
        """HiGHS takes the linear programs, Ipopt everything."""
        return not mechanism.discrete and (mechanism.linear or self.solver == "IPOPT")

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Write the Pyomo model."""
        return self.session(mechanism, instance, limits)


methods = (
    PyomoMethod("HIGHS", "exact", "highspy", PyomoHighs),
    PyomoMethod("IPOPT", "interior-point", "casadi", PyomoIpopt),
)
