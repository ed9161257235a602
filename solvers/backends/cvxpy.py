"""Solvers reached through CVXPY: the mechanism's own `cp.Problem`, handed to one of CVXPY's back ends."""

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fairalloc.formulations.common.optimality import optimality_of_cvxpy
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Method, Session, Stopped
from fairalloc.solvers.options import solver_options

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["CvxpyMethod", "CvxpySession"]

TIME_OPTION = {
    "HIGHS": "time_limit",
    "CLARABEL": "time_limit",
    "SCS": "time_limit_secs",
    "IPOPT": "max_cpu_time",
    "UNO": "time_limit",
    "COPT": "TimeLimit",
    "GLOP": "time_limit_sec",
    "GUROBI": "TimeLimit",
    "OSQP": "time_limit",
    "PDLP": "time_limit_sec",
    "XPRESS": "maxtime",
}

TERMINATION = {
    "optimal": "optimal",
    "optimal_inaccurate": "inaccurate",
    "user_limit": "time_limit",
    "infeasible": "infeasible",
    "infeasible_inaccurate": "infeasible",
    "unbounded": "unbounded",
    "unbounded_inaccurate": "unbounded",
}


class CvxpySession(Session):
    """The `cp.Problem` of the mechanism, written again for each round."""

    problem: "cp.Problem"

    def __init__(self, mechanism: Mechanism, instance: Instance, limits: Limits, solver: str) -> None:
        super().__init__(instance, limits)
        self.mechanism, self.solver = mechanism, solver

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002
        """One solve; the capacity duals are the prices."""
        with self.phase("build"):
            item = self.mechanism
            self.problem = item.write_cvxpy(self.instance, *((round,) if item.takes_rounds else ()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CVXPY warns of what the status says anyway
            self._run()
        if "x" not in self.problem.var_dict:
            raise Stopped("error", f"the model of {self.mechanism.id!r} has no variable 'x', from which the tasks are read")
        x = self.problem.var_dict["x"].value
        if x is not None:
            self.x = np.asarray(x, dtype=float)
        self.conclude(TERMINATION.get(self.problem.status, "error"))
        if not self.mechanism.has_residual:
            self._own_conditions()
        values = {name: variable.value for name, variable in self.problem.var_dict.items()}
        prices = self.mechanism.prices(self.instance, self._duals(round), values)
        return self.x, prices

    def _duals(self, round: Round | None) -> Floats | None:  # noqa: A002
        """Duals of "capacity" and "full", 0 for a row that is left out."""
        duals = {c.label: c.dual_value for c in self.problem.constraints}
        rows = self.instance.K * self.instance.R
        if duals.get("capacity") is None or (round is None and np.size(duals["capacity"]) != rows):
            return None
        now = round or Round.first(self.instance)
        prices = np.zeros(rows)
        prices[now.at_most] = duals["capacity"]
        prices[now.exactly] = duals.get("full", 0.0)
        return prices.reshape(self.instance.K, self.instance.R)

    def _own_conditions(self) -> None:
        """What is known of an answer of a mechanism without a residual: its model's optimality conditions and objective."""
        fairness = [c.dual_value for c in self.problem.constraints if c.label == "fairness"]
        self.fairness = fairness[0] if fairness and np.shape(fairness[0]) == (self.instance.N,) else None
        with self.phase("read"):
            self.judge_model(optimality_of_cvxpy(self.problem))
        self.objective = None if self.problem.value is None else float(self.problem.value)

    def _run(self) -> None:
        options = {**solver_options(self.solver, self.limits.accuracy), **self.limits.solver_options}
        with self.phase("compile"):
            data, chain, inverse = self._compile(options)
        if self.limits.limited and self.solver in TIME_OPTION:
            options[TIME_OPTION[self.solver]] = self.limits.left
        with self.phase("solve"), self.logged():
            raw = self.asked(self.solver, lambda: chain.solve_via_data(self.problem, data, False, self.limits.log, options))
        with self.phase("read"):
            self._read(raw, chain, inverse)
        self.count(self.problem.solver_stats.num_iters)

    def _compile(self, options: dict[str, Any]) -> tuple[Any, Any, Any]:
        result: tuple[Any, Any, Any] = self.problem.get_problem_data(self.solver, solver_opts=options)
        return result

    def _read(self, raw: Any, chain: Any, inverse: Any) -> None:
        import cvxpy as cp

        try:
            self.problem.unpack_results(raw, chain, inverse)
        except (cp.SolverError, ValueError) as error:  # ValueError: a status CVXPY does not know
            raise Stopped("error", str(error).splitlines()[0]) from None


class PlainRounds(Method):
    """Z III-A round by round, as one would write it in CVXPY: levels as inequalities, every round a new problem for HiGHS.

    It is here to be measured against: later rounds have no interior, and their duals are anything (docs/DESIGN-NOTES.md).
    """

    id = "cvxpy:rounds"
    kind = "exact"
    packages: ClassVar[tuple[str, ...]] = ("cvxpy", "highspy")
    install = "pip install fairalloc"
    faces = False
    solver = "HIGHS"

    def computes(self, mechanism: Mechanism) -> bool:
        """The lexicographic mechanisms."""
        return isinstance(mechanism, Leximin) and not isinstance(mechanism, MaxMin)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Nothing is written before the first round."""
        return CvxpySession(mechanism, instance, limits, "HIGHS")


class CvxpyMethod(Method):
    """One of CVXPY's solvers."""

    def __init__(self, solver: str, kind: str, package: str, install: str) -> None:
        self.id, self.kind, self.install = f"cvxpy:{solver.lower()}", kind, install
        self.solver = solver
        self.packages = ("cvxpy", package)  # type: ignore[misc]

    def computes(self, mechanism: Mechanism) -> bool:
        """HiGHS takes linear and integer programs, the others take cones: convex programs."""
        if "cvxpy" not in mechanism.layers:
            return False
        if self.solver == "HIGHS":
            return bool(mechanism.linear or mechanism.integer)
        return bool(mechanism.convex and not mechanism.integer)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Where there is a model."""
        return mechanism.unwritten(instance)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Write the CVXPY problem."""
        return CvxpySession(mechanism, instance, limits, self.solver)


WHEELS = "pip install fairalloc"

methods = (
    PlainRounds(),
    CvxpyMethod("HIGHS", "exact", "highspy", WHEELS),
    CvxpyMethod("CLARABEL", "interior-point", "clarabel", WHEELS),
    CvxpyMethod("SCS", "first-order", "scs", WHEELS),
)
