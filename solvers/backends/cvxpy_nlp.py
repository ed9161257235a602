"""`cvxpy:ipopt` and `cvxpy:uno`: the mechanism's own `cp.Problem` handed to a nonlinear solver by CVXPY's `nlp=True` route.

CVXPY has no public seam between compiling and solving a nonlinear program, so this file, and no other, uses private names of
CVXPY. The extras `ipopt` and `uno` pin the versions that have them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairalloc.formulations.common.convexity import parts_of_cvxpy
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.cvxpy import CvxpyMethod, CvxpySession
from fairalloc.solvers.method import Stopped
from fairalloc.solvers.running.warm_start import interior

if TYPE_CHECKING:
    import cvxpy as cp

SEAM = "1.9"
"""The version of CVXPY that has the private names that are used here."""


def compiled(problem: "cp.Problem", solver: str, options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """CVXPY's data, chain and inverse data for a nonlinear solver, with `fresh_oracles`."""
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
        def gradient(self, x: Floats) -> Any:
            self.objective(x)
            return super().gradient(x)

        def jacobian(self, x: Floats) -> Any:
            self.constraints(x)
            return super().jacobian(x)

        def hessian(self, x: Floats, duals: Floats, obj_factor: float) -> Any:
            self.objective(x)
            self.constraints(x)
            return super().hessian(x, duals, obj_factor)

    return Fresh(problem, verbose=False)


LOUD: Mapping[str, Mapping[str, Any]] = {"IPOPT": {"print_level": 5}, "UNO": {"logger": "INFO"}}
"""What makes the solvers print the log that `log=True` keeps."""


MATRICES = ("symmetric", "PSD", "NSD", "hermitian", "complex", "imag")
"""Attributes of variables for which the route ends in errors of CVXPY's."""


class NlpSession(CvxpySession):
    """The DNLP route (`nlp=True`): CVXPY hands smooth oracles to the solver; no dual values come back."""

    def _compile(self, options: dict[str, Any]) -> tuple[Any, Any, Any]:
        if self.limits.start is not None:
            self.model.var_dict["x"].value = interior(self.instance, self.limits.start)
        if self.limits.log:
            options.update({**LOUD[self.solver], **self.limits.solver_options})
        for name, part in parts_of_cvxpy(self.model):
            if not getattr(part, "is_dnlp", bool)():  # what is no cone would be relaxed without a word
                why = f"CVXPY's nonlinear solvers do not take its {name}, which is a cone or neither convex nor smooth"
                raise Stopped("error", f"the model of {self.mechanism.id!r} cannot be solved: {why}")
        for variable in self.model.variables():
            if (kind := _untaken(variable)) is not None:
                why = f"CVXPY's nonlinear solvers do not take {kind} of its variable {variable.name()}: add a constraint instead"
                raise Stopped("error", f"the model of {self.mechanism.id!r} cannot be solved: {why}")
        return compiled(self.model, self.solver, options)

    def count(self, iterations: Any) -> None:
        """CVXPY does not know Ipopt's iterations, but Uno's."""
        super().count(iterations if isinstance(iterations, int) else None)


def _untaken(variable: Any) -> str | None:
    """The attribute of a variable that the route leaves out or cannot take: bounds that are expressions, and matrices."""
    if any(hasattr(side, "is_dcp") for side in variable.attributes["bounds"] or ()):
        return "the bounds with expressions"
    return next((name for name in MATRICES if variable.attributes[name]), None)


class NlpMethod(CvxpyMethod):
    """One of CVXPY's nonlinear solvers; it has no duals for rounds."""

    session = NlpSession
    warm = True

    def computes(self, mechanism: Mechanism) -> bool:
        """The programs that are not linear; Uno those that are not convex: on the others it is infeasible by 1e-8 to 1e-6."""
        if "cvxpy" not in mechanism.layers or mechanism.integer:
            return False
        return not (mechanism.convex if self.solver == "UNO" else mechanism.linear)

    def missing(self) -> str:
        if (sentence := super().missing()) or (found := self.versions()["cvxpy"]).startswith(f"{SEAM}."):
            return sentence
        return f"{self.id} uses private names of CVXPY {SEAM}, but CVXPY {found} is installed: {VERSIONS}"


VERSIONS = "pip install 'cvxpy>=1.9,<1.10'"
DEBIAN = "coinor-libipopt-dev liblapack-dev libblas-dev pkg-config"
NATIVE = f"install the Ipopt library (Debian: {DEBIAN}), then pip install fairalloc[ipopt]"

methods = (
    NlpMethod("IPOPT", "interior-point", "cyipopt", NATIVE),
    NlpMethod("UNO", "interior-point", "unopy", "pip install fairalloc[uno]"),
)
