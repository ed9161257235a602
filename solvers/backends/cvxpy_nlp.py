"""`cvxpy:ipopt` and `cvxpy:uno`: the mechanism's own `cp.Problem` handed to a nonlinear solver by CVXPY's `nlp=True` route.

CVXPY has no public seam between compiling and solving a nonlinear program, so this file, and no other, uses private names of
CVXPY. The extras `ipopt` and `uno` pin the versions that have them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.common.convexity import parts_of_cvxpy
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.cvxpy import CvxpyMethod, CvxpySession
from fairalloc.solvers.method import Stopped
from fairalloc.solvers.options import NEAR

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


def start_of_roots(data: dict[str, Any], problem: "cp.Problem") -> None:
    """What CVXPY's chain adds for roots and logarithms starts where it is right for the variables; CVXPY takes at least 1e-3."""
    bounds, given = data["_bounds"], {variable.id for variable in problem.variables()}
    for row in bounds.problem.constraints:
        added = row.args[0]
        if type(row).__name__ == "Equality" and type(added).__name__ == "Variable" and added.id not in given:
            added.save_value(np.maximum(row.args[1].value, 0.0 if added.is_nonneg() else -np.inf))
    bounds.construct_initial_point()
    data["x0"] = bounds.x0


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


DUALS: Mapping[str, str] = {"IPOPT": "mult_g", "UNO": "constraint_dual"}
"""Where the solvers have the multipliers g of f + g (left - right)."""


MATRICES = ("symmetric", "PSD", "NSD", "hermitian", "complex", "imag")
"""Attributes of variables for which the route ends in errors of CVXPY's."""


class NlpSession(CvxpySession):
    """The DNLP route (`nlp=True`): CVXPY hands smooth oracles to the solver."""

    def _compile(self, options: dict[str, Any]) -> tuple[Any, Any, Any]:
        first = self.first_values()
        for name, variable in self.model.var_dict.items():
            if name in first and variable.size == first[name].size:
                variable.save_value(first[name].reshape(variable.shape))
        if self.solver == "IPOPT" and len(first) > 1:
            options.update({**NEAR, **self.limits.solver_options})
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
        data, chain, inverse = compiled(self.model, self.solver, options)
        if first:
            start_of_roots(data, self.model)
        return data, chain, inverse

    def optimise(self) -> str:
        """The solver's multipliers become the dual values of the constraints, whose numbers CVXPY's chain keeps."""
        termination = super().optimise()
        data, raw, _ = self.canonical
        rows, name = data["_bounds"].new_problem.constraints, DUALS[self.solver]
        parts = np.split(np.asarray(raw.get(name, ())), np.cumsum([row.size for row in rows])[:-1])
        duals = {row.id: part for row, part in zip(rows, parts, strict=True) if part.size == row.size}
        for row in self.model.constraints:
            if row.id in duals:
                sign = 1.0 if type(row).__name__ == "Equality" else -1.0  # a <= b is b - a >= 0 there
                row.save_dual_value(sign * duals[row.id].reshape(row.shape, order="F"))
        return termination

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
