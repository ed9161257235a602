"""Solvers reached through CVXPY: the mechanism's own `cp.Problem`, handed to one of CVXPY's back ends."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np

from fairalloc.formulations.common.conic import Bound, conic_bound
from fairalloc.formulations.common.convexity import doubt, unsolvable, with_values
from fairalloc.formulations.common.kkt_residual import gap_of_cvxpy, has_integers, optimality_of_cvxpy
from fairalloc.formulations.common.modelling import cp
from fairalloc.formulations.floors import WithFloors
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, pivots
from fairalloc.solvers.method import Limits, Method, Session, Stopped
from fairalloc.solvers.options import TERMINATION, solver_options
from fairalloc.solvers.running.threads import highs_scheduler
from fairalloc.solvers.running.warm_start import interior

EARLY = 0.1
"""The part of its time that a solver has left where a limit that ended it was another one."""

TIME_OPTION = {
    "HIGHS": "time_limit",
    "CLARABEL": "time_limit",
    "SCS": "time_limit_secs",
    "IPOPT": "max_cpu_time",
    "MOREAU": "time_limit",
    "UNO": "time_limit",
    "COPT": "TimeLimit",
    "GLOP": "time_limit_sec",
    "GUROBI": "TimeLimit",
    "OSQP": "time_limit",
    "PDLP": "time_limit_sec",
    "XPRESS": "maxtime",
}

SMALL = 5_000
"""Arcs up to which another solver gives the bound by which an answer without dual values is judged."""


def solved(problem: "cp.Problem", solver: str, **options: Any) -> str:
    """Solve a problem; the termination, "error" where the solver fails."""
    with suppress(cp.SolverError, ValueError):
        data, chain, inverse = problem.get_problem_data(solver, solver_opts=options)
        unpack(problem, chain.solve_via_data(problem, data, False, False, options), chain, inverse)
    return TERMINATION.get(problem.status, "error")


def convex_part(constraints: Sequence[Any], x: Any, instance: Instance) -> list[Any]:
    """The constraints that are proved to be convex; where some are not, as of a merit, tasks x are an allocation besides."""
    convex = [c for c in constraints if c.is_dcp()]
    return convex if len(convex) == len(constraints) else [*convex, x >= 0, instance.arcs.load @ x <= 1]


class ModelSession(Session):
    """The mechanism's own model in the modelling layer `layer`, "cvxpy" or "pyomo", written again for each round."""

    layer: str
    model: Any
    optimise: Callable[[], str]
    """Runs the solver, loads the variables and returns the termination."""
    values: Callable[[], dict[str, Any]]
    """Gives the values of the variables by name."""
    capacity_duals: Callable[[Round | None], Floats | None]
    """Gives (K, R) the duals of "capacity" and "full", 0 for a row that is left out; None where there are none."""
    is_impossible: Callable[[], bool]
    """Whether those constraints of a model that are proved to be convex allow no allocation."""
    own_conditions: Callable[[], None]
    """Keeps what is known of an answer of a mechanism without a residual: its model's optimality conditions and objective."""

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002
        item, self.message = self.mechanism, ""
        with self.phase("build"):
            self.model = self.write(round)
            if not item.has_residual and (why := unsolvable(self.model)):
                raise Stopped("error", f"the model of {item.id!r} cannot be solved: {why}")
            if item.convex is False and not item.has_residual and self.is_impossible():
                raise Stopped("infeasible")
            if not item.is_ours and "x" not in self.values():
                raise Stopped("error", f"the model of {item.id!r} has no variable 'x', from which the tasks are read")
        termination = self.optimise()
        with self.phase("read"):
            values = self.values()
            if (given := values["x"]) is not None:
                x = np.array(given, dtype=float)  # nan where a variable of Pyomo has no value
                if x.shape != (self.instance.A,):
                    rule = f"it must be ({self.instance.A},), one number for each arc"
                    raise Stopped("error", f"the variable 'x' of the model of {item.id!r} has the shape {x.shape}, but {rule}")
                self.x = self.x if np.isnan(x).any() else x
            if not item.has_residual:
                self.doubt = self.doubt or doubt(self.model)
            self.conclude(termination)
            if not item.has_residual:
                self.own_conditions()
                self.judge_model(self._missed_level())
            return self.x, item.prices(self.instance, self.capacity_duals(round), values)

    def first_values(self) -> Mapping[str, Floats]:
        """Values of variables to start from, by name: those that the mechanism knows at the start, else tasks next to it."""
        start, prices = self.limits.start, self.limits.start_prices
        if start is None:
            return {}
        return self.mechanism.first_values(self.instance, start, prices) or {"x": interior(self.instance, start)}

    def _missed_level(self) -> float:
        """The part of the level g of one max-min program that the tasks lack: with weights far apart no row shows it."""
        if self.mechanism.takes_rounds or not isinstance(self.mechanism, WithFloors) or self.objective is None or not len(self.x):
            return 0.0
        level = self.mechanism.values(Allocation(self.instance, self.x)).get("g", self.objective)
        return 1.0 - level / self.objective if level < self.objective else 0.0

    def write(self, round: Round | None) -> Any:  # noqa: A002
        """The mechanism's model, of this round where there are rounds."""
        write = getattr(self.mechanism, f"write_{self.layer}")
        return write(self.instance, *((round,) if self.mechanism.takes_rounds else ()))


class ModelMethod(Method):
    """A solver behind a modelling layer."""

    layer: str

    def computes(self, mechanism: Mechanism) -> bool:
        """Where there is a model: HiGHS takes linear and integer programs, and what is not read off yet may be one."""
        written = self.layer in mechanism.layers
        return written and (self.solver != "HIGHS" or mechanism.linear is not False)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        return mechanism.unwritten(instance, self.layer)


class CvxpySession(ModelSession):
    """The `cp.Problem` of the mechanism."""

    layer = "cvxpy"
    canonical: tuple[Any, Any, Any]
    """What CVXPY handed to the solver, what that returned, and what CVXPY keeps to read it."""

    def values(self) -> dict[str, Any]:
        return {name: variable.value for name, variable in self.model.var_dict.items()}

    def capacity_duals(self, round: Round | None) -> Floats | None:  # noqa: A002
        """None also where an edit has other capacities."""
        now = round if isinstance(round, Round) else Round.first(self.instance)  # only rounds of a rule have full rows
        duals, prices = {c.label: c.dual_value for c in self.model.constraints}, np.zeros(self.instance.K * self.instance.R)
        if duals.get("capacity") is None or np.size(duals["capacity"]) != now.at_most.sum():
            return None
        prices[now.at_most] = duals["capacity"]
        prices[now.full] = duals.get("full", 0.0)
        return prices.reshape(self.instance.K, self.instance.R)

    def is_impossible(self) -> bool:
        x = self.model.var_dict.get("x")
        if x is None or x.shape != (self.instance.A,):
            return False
        part = cp.Problem(cp.Minimize(0), convex_part(self.model.constraints, x, self.instance))
        with suppress(cp.SolverError, ValueError):  # values and dual values of the model stay as they are
            data, chain, inverse = part.get_problem_data("CLARABEL", solver_opts={})
            return bool(chain.invert(chain.solve_via_data(part, data, False, False, {}), inverse).status == "infeasible")
        return False

    @np.errstate(all="ignore")  # the logarithm at the answer may be that of 0
    def own_conditions(self) -> None:
        fairness = [c.dual_value for c in self.model.constraints if c.label == "fairness"]
        self.fairness = fairness[0] if fairness and np.shape(fairness[0]) == (self.instance.N,) else None
        found = optimality_of_cvxpy(self.model)
        self.judge_model(self._gap() if found is None else found)
        self.objective = None if self.model.value is None else float(self.model.value)

    def _gap(self) -> float | None:
        """The gap to the bound that the solver's dual values or its branch and bound prove, None where nothing is proved."""
        bound = _bound(self.solver, *self.canonical)
        if bound is None and self.instance.A <= SMALL and not self.limits.late:
            bound = reference_bound(self.model, self.limits)
        if bound is None:
            return None
        gap = gap_of_cvxpy(self.model, bound)
        if self.mechanism.integer:
            self.message = f"proved to a gap of {gap:.1e} by HiGHS' bound"
        return gap

    def optimise(self) -> str:
        threads = {"threads": self.limits.threads or 1} if self.solver == "HIGHS" else {}
        options = {**threads, **solver_options(self.solver, self.limits.accuracy), **self.limits.solver_options}
        with self.phase("compile"):
            data, chain, inverse = self._compile(options)
        if self.solver == "HIGHS" and not self.mechanism.integer:
            options = {"simplex_iteration_limit": pivots(*data["A"].shape), **options}
        left = self.limits.left if self.limits.limited else 0.0
        if self.limits.limited and self.solver in TIME_OPTION:
            options[TIME_OPTION[self.solver]] = left
        with self.phase("solve"), self.logged(), highs_scheduler() if threads else nullcontext():
            raw = self.asked(self.solver, lambda: chain.solve_via_data(self.model, data, False, self.limits.log, options))
        self.canonical = data, raw, inverse[-1]
        with self.phase("read"):
            try:
                unpack(self.model, raw, chain, inverse)
            except (cp.SolverError, ValueError) as error:  # ValueError: a status CVXPY does not know
                raise Stopped("error", str(error).splitlines()[0]) from None
        self.count(self.model.solver_stats.num_iters)
        termination = TERMINATION.get(self.model.status, "error")
        self.message = f"{self.solver} ended with {self.model.status}" if termination == "error" else ""
        early = self.limits.deadline - self.limits.clock() > EARLY * left  # CVXPY calls every limit "user_limit"
        return "iteration_limit" if termination == "time_limit" and early else termination

    def _compile(self, options: dict[str, Any]) -> tuple[Any, Any, Any]:
        return self.model.get_problem_data(self.solver, solver_opts=options)  # type: ignore[no-any-return]


def unpack(problem: "cp.Problem", raw: Any, chain: Any, inverse: Any) -> None:
    """CVXPY's `unpack_results` without its warnings, which say what the status says: filters of warnings are not one thread's."""
    from cvxpy.problems.problem import SolverStats
    from cvxpy.settings import ERROR

    solution = chain.invert(raw, inverse)
    if solution.status in ERROR:
        raise cp.SolverError(f"{chain.solver.name()} failed: {solution.status}")
    with np.errstate(all="ignore"):  # the logarithm of an early point may be that of 0
        problem.unpack(solution)
    problem._solver_stats = SolverStats.from_dict(solution.attr, chain.solver.name())


def reference_bound(problem: "cp.Problem", limits: Limits) -> Bound | None:
    """What Clarabel's dual values prove of the least objective; None for what is no convex program, and where it fails."""
    problem = with_values(problem)
    if has_integers(problem) or not problem.is_dcp():
        return None
    options = solver_options("CLARABEL", limits.accuracy)
    if limits.limited:
        options["time_limit"] = max(limits.deadline - limits.clock(), 1e-3)
    with suppress(cp.SolverError, cp.DCPError, ValueError):
        data, chain, inverse = problem.get_problem_data("CLARABEL", solver_opts=options)
        return _bound("CLARABEL", data, chain.solve_via_data(problem, data, False, False, options), inverse[-1])
    return None


def _bound(solver: str, data: Any, raw: Any, inverse: Any) -> Bound | None:
    """What a solver proves of the least objective; None where its answer has no dual values that are known here."""
    if solver == "HIGHS" and (data.get("bool_vars_idx") or data.get("int_vars_idx")):
        return Bound(raw["info"].mip_dual_bound + inverse["offset"], 0.0, 0.0)
    if solver not in DUALS:
        return None
    x, y = (np.asarray(part, dtype=float) for part in DUALS[solver](raw))
    bound = conic_bound(data, x, y, upper=solver == "CLARABEL")
    return None if bound is None else bound._replace(value=bound.value + inverse["offset"])


DUALS: Mapping[str, Callable[[Any], tuple[Any, Any]]] = {
    "CLARABEL": lambda raw: (raw.x, raw.z),
    "SCS": lambda raw: (raw["x"], raw["y"]),
    "HIGHS": lambda raw: (raw["solution"].col_value, -np.array(raw["solution"].row_dual)),
}
"""Primal and dual values of the canonical cone program in what the solvers return."""


class PlainRounds(Method):
    """Z III-A as one would write it in CVXPY, to compare with: levels as inequalities, every round a new problem for HiGHS."""

    id = "cvxpy:rounds"
    kind = "exact"
    packages = ("cvxpy", "highspy")
    session = CvxpySession
    kinds, but = (Leximin,), (MaxMin,)
    faces = False
    peer = True
    solver = "HIGHS"


class CvxpyMethod(ModelMethod):
    """One of CVXPY's solvers."""

    session = CvxpySession
    layer = "cvxpy"

    def __init__(self, solver: str, kind: str, package: str, install: str = Method.install, peer: bool = False) -> None:
        self.id, self.kind, self.solver, self.install, self.peer = f"cvxpy:{solver.lower()}", kind, solver, install, peer
        self.packages = ("cvxpy", package)

    def computes(self, mechanism: Mechanism) -> bool:
        """The others than HiGHS take cones: convex programs."""
        cones = mechanism.convex is not False and not mechanism.integer
        return super().computes(mechanism) and (self.solver == "HIGHS" or cones)


methods = (
    PlainRounds(),
    CvxpyMethod("HIGHS", "exact", "highspy"),
    CvxpyMethod("CLARABEL", "interior-point", "clarabel"),
    CvxpyMethod("SCS", "first-order", "scs"),
    CvxpyMethod("MOREAU", "interior-point", "moreau", "pip install fairalloc[moreau]", peer=True),
)
