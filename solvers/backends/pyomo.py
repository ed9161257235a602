"""Solvers reached through Pyomo: a mechanism's own `ConcreteModel`, handed to HiGHS or, by CasADi, to the Ipopt of its wheel."""

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fairalloc.formulations.common.kkt_residual import active, gap_of_pyomo, optimality_of_pyomo, value_of_pyomo
from fairalloc.formulations.common.modelling import pyo
from fairalloc.formulations.common.tasks import linear_rows, server_resources, variables_of
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, pivots
from fairalloc.solvers.backends.cvxpy import ModelMethod, ModelSession
from fairalloc.solvers.backends.highs_session import set_options
from fairalloc.solvers.options import NEAR, TERMINATION, Accuracy, solver_options
from fairalloc.solvers.running.solver_log import uncaptured
from fairalloc.solvers.running.threads import highs_scheduler


class PyomoSession(ModelSession):
    """The `ConcreteModel` of the mechanism; `duals` are the last solve's, by constraint, None where there are none."""

    layer = "pyomo"
    duals: Mapping[Any, float] | None = None
    bound: float | None = None
    """On the objective, proved by branch and bound."""

    def values(self) -> dict[str, Any]:
        return {name: np.array([v.value for v in part], dtype=float) for name, part in self.variables().items()}

    def variables(self) -> dict[str, list[Any]]:
        """The variables of the model by name, those of blocks not among them: their names may be the same."""
        found = {part.local_name: list(part.values()) for part in self.model.component_objects(pyo.Var, descend_into=False)}
        return found | ({"x": variables_of(self.model, self.instance)} if "x" in found else {})

    def is_impossible(self) -> bool:
        model = self.write(None)
        made = model.component("x") is not None and len(model.x) == self.instance.A
        return made and highs(linear_part(model, self.instance)) == "infeasible"

    def own_conditions(self) -> None:
        if self.mechanism.integer:
            found = None if self.bound is None else gap_of_pyomo(self.model, self.bound)
            self.message = "" if found is None else f"proved to a gap of {found:.1e} by HiGHS' bound"
        else:
            found = optimality_of_pyomo(self.model, self.duals)
        self.judge_model(found)
        goals = active(self.model, "Objective")
        self.objective = value_of_pyomo(goals[0]) if goals else None
        fair = self.model.component("fairness")
        if fair is not None and self.duals is not None:
            self.fairness = np.array([abs(self.duals.get(fair[u], 0.0)) if u in fair else 0.0 for u in self.instance.users])

    def capacity_duals(self, _: Round | None) -> Floats | None:
        """None also for a "capacity" of one's own that is not by server and resource."""
        parts, keys = (self.model.component(name) for name in ("capacity", "full")), server_resources(self.instance)
        rows = {key: row for part in parts if part is not None for key, row in part.items()}
        if self.duals is None or not rows or not rows.keys() <= set(keys):
            return None
        prices = [self.duals.get(rows[key], 0.0) if key in rows else 0.0 for key in keys]
        return np.array(prices).reshape(self.instance.K, self.instance.R)


def linear_part(model: "pyo.ConcreteModel", instance: Instance) -> "pyo.ConcreteModel":
    """The model without objective and what is not linear; where a constraint goes, as of a merit, x is an allocation besides."""
    from pyomo.core.expr.numvalue import polynomial_degree

    others = [row for row in active(model, "Constraint") if polynomial_degree(row.body) not in (0, 1)]
    for part in [*others, *active(model, "Objective")]:
        part.deactivate()
    model.add_component("no objective", pyo.Objective(expr=0.0))
    model.is_allocation = pyo.ConstraintList()
    for variable in model.x.values() if others else ():
        variable.setlb(max(variable.lb or 0.0, 0.0))
    for row in linear_rows(instance.arcs.load, variables_of(model, instance)) if others else ():
        model.is_allocation.add(pyo.Constraint.Feasible if row is None else row <= 1)
    return model


def highs(model: "pyo.ConcreteModel") -> str:
    """How HiGHS ends with a linear model, whose variables get the values of its answer."""
    solver = _silent()
    solver.config.solver_options = solver_options("HIGHS", "high")
    results = solver.solve(model)
    if results.solution_status.name in ("optimal", "feasible"):
        results.solution_loader.load_vars()
    return TERMINATION.get(results.termination_condition.name, "error")


class PyomoHighs(PyomoSession):
    """Pyomo's interface to HiGHS."""

    def optimise(self) -> str:
        import highspy

        with self.phase("compile"), uncaptured():
            if self.limits.solver_options:  # of which Pyomo raises errors of its own
                set_options(highspy.Highs(), {"output_flag": False, **self.limits.solver_options})
            solver = _silent()
            ours = {"threads": self.limits.threads or 1, "output_flag": self.limits.log}
            if not self.mechanism.integer:
                ours["simplex_iteration_limit"] = pivots(self.model.nconstraints(), self.model.nvariables())
            meant = solver_options("HIGHS", self.limits.accuracy)
            solver.config.solver_options = {**ours, **meant, **self.limits.solver_options}
            solver.set_instance(self.model)
        if self.limits.limited:
            solver.config.time_limit = self.limits.left
        with self.phase("solve"), uncaptured(), self.logged(), highs_scheduler():
            results = solver.solve(self.model)
        termination = TERMINATION.get(results.termination_condition.name, "error")
        self.message = f"HiGHS ended with {results.termination_condition.name}" if termination == "error" else ""
        loader = results.solution_loader
        if results.solution_status.name in ("optimal", "feasible"):
            loader.load_vars()
        else:  # the values of the variables are where they start, and no point
            for variable in self.model.x.values():
                variable.set_value(None)
        if self.mechanism.integer:
            self.bound = results.objective_bound
            return termination
        duals = loader.get_duals() if termination == "optimal" else {}
        least = any(goal.is_minimizing() for goal in active(self.model, "Objective"))
        sign = -1 if least else 1  # HiGHS turns the signs of dual prices with it
        self.duals = {row: sign * dual for row, dual in duals.items()}
        return termination


def _silent() -> Any:
    """Pyomo's interface to HiGHS, without its banner, which is printed before any option is set, and without what it raises."""
    from pyomo.contrib.solver.solvers.highs import Highs

    class Silent(Highs):  # type: ignore[misc]
        def add_block(self, block: Any) -> None:
            self._solver_model.setOptionValue("output_flag", False)
            super().add_block(block)

    solver = Silent()
    solver.config.load_solutions = solver.config.raise_exception_on_nonoptimal_result = False
    return solver


class PyomoIpopt(PyomoSession):
    """Pyomo -> .nl -> CasADi -> the Ipopt in CasADi's wheel."""

    def optimise(self) -> str:
        first, variables = self.first_values(), self.variables()
        for name in first.keys() & variables.keys():
            for variable, value in zip(variables[name], np.ravel(first[name]).tolist(), strict=False):
                if not variable.fixed:
                    variable.set_value(value, skip_validation=True)
        options = {**solver_options("IPOPT in CasADi", self.limits.accuracy), **(NEAR if len(first) > 1 else {})}
        if self.mechanism.takes_rounds:  # a later round has no interior, where a barrier that only falls stops early
            options["mu_strategy"] = "adaptive"
        if self.limits.log:
            options["print_level"] = 5
        options.update(self.limits.solver_options)
        if self.limits.limited:
            options["max_wall_time"] = self.limits.left
        with self.phase("compile"):
            program = self.asked("Ipopt", lambda: CasadiProgram(self.model, options))
        with self.phase("solve"), self.logged():
            termination, self.duals = program.solve()
        self.count(program.stats["iter_count"])
        self.message = f"Ipopt ended with {program.stats.get('return_status')}" if termination == "error" else ""
        return "time_limit" if termination == "error" and self.limits.late else termination


class CasadiProgram:
    """A Pyomo model as CasADi's function of Ipopt, with Ipopt's `options`; no `info` where constants violate a constraint."""

    info: Any = None

    def __init__(self, model: "pyo.ConcreteModel", options: Mapping[str, Any]) -> None:
        import casadi
        from pyomo.common.errors import InfeasibleConstraintException
        from pyomo.repn.plugins.nl_writer import NLWriter
        from pyomo.util.subsystems import TemporarySubsystemManager

        suffixes = [*model.component_objects(pyo.Suffix, active=True)]  # which CasADi does not read: they restrict nothing
        self.model, self.nl, self.stats = model, casadi.NlpBuilder(), dict[str, Any](iter_count=0)
        with tempfile.TemporaryDirectory() as folder, TemporarySubsystemManager(to_deactivate=suffixes):
            path = Path(folder) / "model.nl"
            with path.open("w") as file, suppress(InfeasibleConstraintException):
                self.info = NLWriter().write(model, file, symbolic_solver_labels=False, linear_presolve=False, scale_model=False)
            if self.info is None:
                return
            self.nl.import_nl(str(path))
        problem: Any = {"x": casadi.vertcat(*self.nl.x), "f": self.nl.f, "g": casadi.vertcat(*self.nl.g)}
        if np.any(np.equal(self.nl.x_lb, self.nl.x_ub)):  # CasADi prints a warning of Ipopt's default
            options = {"fixed_variable_treatment": "make_constraint", **options}
        chosen: Any = {"ipopt": dict(options), "print_time": False, "show_eval_warnings": False, "expand": True}
        self.function = casadi.nlpsol("fairalloc", "ipopt", problem, chosen)

    def solve(self) -> tuple[str, Mapping[Any, float]]:
        """From the values of the model's variables, which it replaces; returns the termination and the duals by constraint."""
        nl, info = self.nl, self.info
        if info is None or np.greater([*nl.x_lb, *nl.g_lb], [*nl.x_ub, *nl.g_ub]).any():  # which CasADi refuses
            return "infeasible", {}
        if np.equal(nl.g_lb, nl.g_ub).sum() > len(nl.x_lb):  # Ipopt refuses it, and CasADi prints a warning besides
            return "error", {}
        start = [1.0 if v.value is None else v.value for v in info.variables]
        result = self.function(x0=start, lbx=nl.x_lb, ubx=nl.x_ub, lbg=nl.g_lb, ubg=nl.g_ub)
        self.stats = self.function.stats()
        for variable, value in zip(info.variables, np.asarray(result["x"]).ravel(), strict=True):
            variable.set_value(float(value), skip_validation=True)
        duals = dict.fromkeys(active(self.model, "Constraint"), 0.0)  # also of rows that are constant or have no sides
        duals |= zip(info.constraints, np.asarray(result["lam_g"]).ravel().tolist(), strict=True)
        return TERMINATION.get(self.stats["return_status"], "error"), duals


def ipopt(model: "pyo.ConcreteModel", accuracy: Accuracy = "mid", **options: Any) -> str:
    """Solve any Pyomo model, an edited one for example, by the Ipopt inside CasADi; the termination.

    The values of its variables are the start and get the answer; `options` are Ipopt's own, such as max_wall_time=60.0.
    """
    return CasadiProgram(model, {**solver_options("IPOPT in CasADi", accuracy), **options}).solve()[0]


class PyomoMethod(ModelMethod):
    """One of the solvers reached through Pyomo."""

    layer = "pyomo"

    def __init__(self, solver: str, kind: str, package: str, session: type[PyomoSession]) -> None:
        self.id, self.kind, self.solver, self.session = f"pyomo:{solver.lower()}", kind, solver, session
        self.packages = ("pyomo", package)
        self.warm = solver == "IPOPT"
        self.table = "IPOPT in CasADi" if self.warm else ""

    def computes(self, mechanism: Mechanism) -> bool:
        """The others than HiGHS take everything without integers."""
        return super().computes(mechanism) and (self.solver == "HIGHS" or not mechanism.integer)


methods = (
    PyomoMethod("HIGHS", "exact", "highspy", PyomoHighs),
    PyomoMethod("IPOPT", "interior-point", "casadi", PyomoIpopt),
)
