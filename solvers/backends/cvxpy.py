"""Solvers reached through CVXPY: the mechanism's own `cp.Problem`, handed to one of CVXPY's back ends."""

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fairalloc.formulations.lexicographic.round import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Method, Session, Stopped, captured
from fairalloc.solvers.options import OPTIONS

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["nonlinear"]

TIME_OPTION = {
    "HIGHS": "time_limit",
    "CLARABEL": "time_limit",
    "SCS": "time_limit_secs",
    "IPOPT": "max_cpu_time",
    "UNO": "time_limit",
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
            self.problem = (
                item.write_cvxpy(self.instance, round) if isinstance(item, Leximin) else item.write_cvxpy(self.instance)
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CVXPY warns of what the status says anyway
            self._run()
        x = self.problem.var_dict["x"].value
        if x is not None:
            self.x = np.asarray(x, dtype=float)
        self.conclude(TERMINATION.get(self.problem.status, "error"))
        values = {name: variable.value for name, variable in self.problem.var_dict.items()}
        prices = self.mechanism.prices(self.instance, self._duals(round), values)
        return self.x, prices

    def _duals(self, round: Round | None) -> Floats | None:  # noqa: A002
        """Duals of "capacity" and "full", 0 for a row that is left out."""
        duals = {c.label: c.dual_value for c in self.problem.constraints}
        if duals["capacity"] is None:
            return None
        now = round or Round.first(self.instance)
        prices = np.zeros(self.instance.K * self.instance.R)
        prices[now.at_most] = duals["capacity"]
        prices[now.exactly] = duals.get("full", 0.0)
        return prices.reshape(self.instance.K, self.instance.R)

    def _run(self) -> None:
        options = dict(OPTIONS[self.solver][self.limits.accuracy])
        with self.phase("compile"):
            data, chain, inverse = self._compile(options)
        if np.isfinite(self.limits.deadline):
            options[TIME_OPTION[self.solver]] = self.limits.left
        with self.phase("solve"), captured():
            raw = chain.solve_via_data(self.problem, data, False, False, options)
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


class NlpSession(CvxpySession):
    """The DNLP route (`nlp=True`): CVXPY hands smooth oracles to Ipopt; no dual values come back."""

    def _compile(self, options: dict[str, Any]) -> tuple[Any, Any, Any]:
        return compiled(self.problem, self.solver, options)

    def count(self, iterations: Any) -> None:
        """CVXPY does not know Ipopt's iterations, but Uno's."""
        super().count(iterations if isinstance(iterations, int) else None)


def nonlinear(problem: "cp.Problem", solver: str = "IPOPT", accuracy: str = "mid", **options: Any) -> str:
    """Solve any smooth CVXPY problem, an edited one for example, from its variables' values; returns CVXPY's status.

    Like `problem.solve(nlp=True, solver=solver)`, but with this package's options (`options` are the solver's own and come on
    top) and with `fresh_oracles`. The values are in the problem's variables.
    """
    chosen = {**OPTIONS[solver][accuracy], **options}
    data, chain, inverse = compiled(problem, solver, chosen)
    with warnings.catch_warnings(), captured():
        warnings.simplefilter("ignore")
        problem.unpack_results(chain.solve_via_data(problem, data, False, False, chosen), chain, inverse)
    return str(problem.status)


def compiled(problem: "cp.Problem", solver: str, options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The problem as data for the solver, its chain and its inverse, with `fresh_oracles`."""
    # CVXPY has no public seam between compiling and solving an NLP; tests guard these names.
    from cvxpy.reductions.solvers import nlp_solving_chain

    nlp_solving_chain._set_nlp_initial_point(problem)
    chain, _ = nlp_solving_chain._build_nlp_chain(problem, solver, options)
    data, inverse = chain.apply(problem)
    problem._solver_cache["oracles"] = fresh_oracles(data["_bounds"].new_problem)
    return data, chain, inverse


def fresh_oracles(problem: "cp.Problem") -> Any:
    """CVXPY's derivative oracles, evaluated where they are asked for.

    CVXPY's own take the values of the last call of `objective` and `constraints` whatever x is: nonsense where a solver asks
    for a gradient first (Uno) or after a rejected trial point (Ipopt).
    """
    from cvxpy.reductions.solvers.nlp_solvers.nlp_solver import Oracles

    class Fresh(Oracles):  # type: ignore[misc]
        def gradient(self, x: Floats) -> Floats:
            self.objective(x)
            result: Floats = super().gradient(x)
            return result

        def jacobian(self, x: Floats) -> Floats:
            self.constraints(x)
            result: Floats = super().jacobian(x)
            return result

        def hessian(self, x: Floats, duals: Floats, obj_factor: float) -> Floats:
            self.objective(x)
            self.constraints(x)
            result: Floats = super().hessian(x, duals, obj_factor)
            return result

    return Fresh(problem, verbose=False)


class PlainRounds(Method):
    """Z III-A round by round, as one would write it in CVXPY: levels as inequalities, every round a new problem for HiGHS.

    It is here to be measured against: later rounds have no interior, and their duals are anything (docs/DESIGN-NOTES.md).
    """

    id = "cvxpy:rounds"
    kind = "exact"
    packages: ClassVar[tuple[str, ...]] = ("cvxpy", "highspy")
    install = "pip install fairalloc"
    faces = False

    def computes(self, mechanism: Mechanism) -> bool:
        """The lexicographic mechanisms."""
        return isinstance(mechanism, Leximin) and not isinstance(mechanism, MaxMin)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Nothing is written before the first round."""
        return CvxpySession(mechanism, instance, limits, "HIGHS")


class CvxpyMethod(Method):
    """One of CVXPY's solvers."""

    def __init__(self, solver: str, kind: str, package: str, install: str, nlp: bool = False) -> None:
        self.id, self.kind, self.install = f"cvxpy:{solver.lower()}", kind, install
        self.solver, self.nlp = solver, nlp
        self.packages = ("cvxpy", package)  # type: ignore[misc]

    def computes(self, mechanism: Mechanism) -> bool:
        """HiGHS takes linear and integer programs, cones convex ones, the NLP route, which has no duals for rounds, the others.

        Uno is for programs that are not convex: on the others its points are infeasible by 1e-8 to 1e-6.
        """
        if self.solver == "HIGHS":
            return mechanism.linear or mechanism.integer
        if self.solver == "UNO":
            return not (mechanism.convex or mechanism.integer)
        if self.nlp:
            return not (mechanism.linear or mechanism.integer)
        return mechanism.convex and not mechanism.integer

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Where there is a model."""
        return mechanism.unwritten(instance)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Write the CVXPY problem."""
        kind = NlpSession if self.nlp else CvxpySession
        return kind(mechanism, instance, limits, self.solver)


WHEELS = "pip install fairalloc"
DEBIAN = "coinor-libipopt-dev liblapack-dev libblas-dev pkg-config"
NATIVE = f"install the Ipopt library (Debian: {DEBIAN}), then pip install fairalloc[ipopt]"

methods = (
    PlainRounds(),
    CvxpyMethod("HIGHS", "exact", "highspy", WHEELS),
    CvxpyMethod("CLARABEL", "interior-point", "clarabel", WHEELS),
    CvxpyMethod("SCS", "first-order", "scs", WHEELS),
    CvxpyMethod("IPOPT", "interior-point", "cyipopt", NATIVE, nlp=True),
    CvxpyMethod("UNO", "interior-point", "unopy", "pip install fairalloc[uno]", nlp=True),
)
