"""`cvxpy:ipopt` and `cvxpy:uno`: the mechanism's own `cp.Problem` handed to a nonlinear solver by CVXPY's `nlp=True` route.

CVXPY has no public seam between compiling and solving a nonlinear program, so this file, and no other, uses private names of
CVXPY. The extras `ipopt` and `uno` pin the versions that have them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.convexity import parts_of_cvxpy
from fairalloc.formulations.common.modelling import cp
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.cvxpy import CvxpyMethod, CvxpySession
from fairalloc.solvers.method import Stopped
from fairalloc.solvers.options import NEAR

SEAM = "1.9"
"""The version of CVXPY that has the private names that are used here."""


def compiled(problem: "cp.Problem", solver: str, options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """CVXPY's data, chain and inverse data for a nonlinear solver, with `Reduced` oracles."""
    from cvxpy.reductions.solvers import nlp_solving_chain

    nlp_solving_chain._set_nlp_initial_point(problem)
    chain, _ = nlp_solving_chain._build_nlp_chain(problem, solver, options)
    data, inverse = chain.apply(problem)
    oracles = problem._solver_cache["oracles"] = Reduced(data["_bounds"], {variable.id for variable in problem.variables()})
    inverse[-1].var_offsets = {variable.id: place[0] for variable, place in _places(oracles.kept)}
    data |= {name: data[name][oracles.columns] for name in ("x0", "lb", "ub")}
    data |= {name: data[name][oracles.rows] for name in ("cl", "cu")}
    return data, chain, inverse


class Reduced:
    """CVXPY's derivative oracles without the variables t = e >= 0 that its chain adds for roots and logarithms.

    t is a function of the kept variables v, with the derivatives S = L S + B, where e has L in t and B in v. With multipliers of
    t = e for which the Lagrangian has no slope in t, its second derivatives are P' H P, P = (I, S). As variables, t have bounds
    and starts of their own, which keep solvers from points where psi_FB is not smooth.

    CVXPY's own oracles take the values of the last call of `objective` and `constraints` whatever x is: nonsense where a solver
    asks for a gradient first (Uno) or after a rejected trial point (Ipopt). These are evaluated where they are asked for.

    late, iterations : whether no time is left, and how many Ipopt has done
    kept : the variables; rows, columns : what is left of the rows and columns of CVXPY's program
    """

    late: Callable[[], bool] = staticmethod(lambda: False)
    iterations: int | None = None

    def __init__(self, bounds: Any, given: set[int]) -> None:
        from cvxpy.reductions.solvers.nlp_solvers.nlp_solver import Oracles

        self.inner, self.shape = Oracles(bounds.new_problem, verbose=False), (len(bounds.cl), len(bounds.x0))
        each, self.added, rows = dict(_places(bounds.main_var)), dict[Any, Any](), list[int]()
        for row, place in _places(bounds.problem.constraints):
            t = row.args[0]
            if type(row).__name__ == "Equality" and t in each and t.id not in given and row.args[1].is_nonneg():
                self.added[t] = row.args[1]
                rows += place
        self.kept, columns = [v for v in each if v not in self.added], [k for t in self.added for k in each[t]]
        self.rows, self.columns = (np.setdiff1d(np.arange(n), gone) for n, gone in zip(self.shape, (rows, columns), strict=True))
        self._places, self._t, self._own = each, np.array(columns, dtype=int), np.array(rows, dtype=int)
        self._each = [sp.eye_array(self.shape[1], format="csc")[:, part] for part in (self.columns, self._t)]
        self._where = self.inner.jacobianstructure(), self.inner.hessianstructure()
        jacobian, _, P = self._slopes(np.ones(len(self._where[0][0])), 1.0)
        hessian = self._hessian(np.ones(len(self._where[1][0])), P)
        self._keys = np.sort(_keys(jacobian[self.rows] @ P)), np.sort(_keys(hessian))

    @np.errstate(all="ignore")  # a step may leave what has logarithms
    def _moved(self, x: Floats) -> Floats:
        """The values of all variables at x; CVXPY's oracles are there, too."""
        full = np.empty(self.shape[1])
        full[self.columns] = x
        for variable in self.kept:
            variable.save_value(full[self._places[variable]].reshape(variable.shape, order="F"))
        for t, e in self.added.items():
            t.save_value(np.reshape(e.value, t.shape))
            full[self._places[t]] = np.ravel(t.value, order="F")
        self.inner.objective(full)
        self.inner.constraints(full)
        return full

    def _slopes(self, values: Floats, sign: float = -1.0) -> tuple[Any, Any, Any]:
        """CVXPY's Jacobian, L and P; of ones with `sign` 1 their patterns."""
        jacobian = sp.csr_array((values, self._where[0]), shape=self.shape)
        own = jacobian[self._own].tocsc()
        L, B = sign * (own[:, self._t] - sp.eye_array(len(self._t))), sign * own[:, self.columns]
        S = B
        for _ in self.added:
            S = B + L @ S
        return jacobian, L, self._each[0] + self._each[1] @ S

    def _hessian(self, values: Floats, P: Any) -> Any:
        lower = sp.csr_array((values, self._where[1]), shape=(self.shape[1],) * 2)
        return sp.tril(P.T @ (lower + sp.tril(lower, -1).T) @ P)

    def objective(self, x: Floats) -> Any:
        return self.inner.objective(self._moved(x))

    def constraints(self, x: Floats) -> Any:
        return self.inner.constraints(self._moved(x))[self.rows]

    def gradient(self, x: Floats) -> Any:
        full = self._moved(x)
        return self._slopes(self.inner.jacobian(full))[2].T @ self.inner.gradient(full)

    def jacobian(self, x: Floats) -> Any:
        jacobian, _, P = self._slopes(self.inner.jacobian(self._moved(x)))
        return _filled(jacobian[self.rows] @ P, self._keys[0])

    def hessian(self, x: Floats, duals: Floats, obj_factor: float) -> Any:
        full = self._moved(x)
        jacobian, L, P = self._slopes(self.inner.jacobian(full))
        every = np.zeros(self.shape[0])
        every[self.rows] = duals
        slope = obj_factor * self.inner.gradient(full)[self._t] + jacobian[:, self._t].T @ every
        own = -slope
        for _ in self.added:
            own = L.T @ own - slope
        every[self._own] = own
        return _filled(self._hessian(self.inner.hessian(full, every, obj_factor), P), self._keys[1])

    def jacobianstructure(self) -> Any:
        return np.divmod(self._keys[0], len(self.columns))

    def hessianstructure(self) -> Any:
        return np.divmod(self._keys[1], len(self.columns))

    def intermediate(self, _: int, iterations: int, *__: float) -> bool:
        """What Ipopt calls after each iteration, and whether it goes on: its own limit is of processor time."""
        self.iterations = iterations
        return not self.late()

    def update_params(self, problem: Any) -> None:
        """Values of parameters are read when the program is compiled."""


def _places(parts: Any) -> list[tuple[Any, list[int]]]:
    """Each variable or constraint with its places among the entries of all."""
    ends = np.cumsum([0, *(part.size for part in parts)]).tolist()
    return [(part, list(range(first, end))) for part, first, end in zip(parts, ends, ends[1:], strict=False)]


def _keys(matrix: Any) -> Any:
    """One number for each entry of a sparse matrix, by rows."""
    entries = matrix.tocoo()
    return entries.row.astype(np.int64) * matrix.shape[1] + entries.col


def _filled(matrix: Any, keys: Any) -> Floats:
    """The entries of a matrix in the places of a pattern."""
    result = np.zeros(len(keys))
    result[np.searchsorted(keys, _keys(matrix))] = matrix.tocoo().data
    return result


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
        near = NEAR if self.solver == "IPOPT" and len(first) > 1 else {}
        loud = LOUD[self.solver] if self.limits.log else {}
        options.update({**near, **loud, **self.limits.solver_options})
        for name, part in parts_of_cvxpy(self.model):
            if not getattr(part, "is_dnlp", bool)():  # what is no cone would be relaxed without a word
                why = f"CVXPY's nonlinear solvers do not take its {name}, which is a cone or neither convex nor smooth"
                raise Stopped("error", f"the model of {self.mechanism.id!r} cannot be solved: {why}")
        for variable in self.model.variables():
            bounds = any(hasattr(side, "is_dcp") for side in variable.attributes["bounds"] or ())
            kinds = ["the bounds with expressions"] * bounds + [name for name in MATRICES if variable.attributes[name]]
            for kind in kinds[:1]:
                why = f"CVXPY's nonlinear solvers do not take {kind} of its variable {variable.name()}: add a constraint instead"
                raise Stopped("error", f"the model of {self.mechanism.id!r} cannot be solved: {why}")
        compilation = compiled(self.model, self.solver, options)
        self.oracles = self.model._solver_cache["oracles"]
        self.oracles.late = lambda: self.limits.late
        return compilation

    def optimise(self) -> str:
        """The solver's multipliers become the dual values of the constraints, whose numbers CVXPY's chain keeps."""
        termination = super().optimise()
        data, raw, _ = self.canonical
        given = raw.get(DUALS[self.solver])
        if given is None:
            return termination
        duals = np.zeros(self.oracles.shape[0])
        duals[self.oracles.rows] = given
        found = {row.id: duals[place] for row, place in _places(data["_bounds"].new_problem.constraints)}
        for row in self.model.constraints:
            sign = 1.0 if type(row).__name__ == "Equality" else -1.0  # a <= b is b - a >= 0 there
            row.save_dual_value(sign * found[row.id].reshape(row.shape, order="F"))
        return termination

    def count(self, iterations: Any) -> None:
        """CVXPY knows Uno's iterations, but not Ipopt's."""
        super().count(iterations if isinstance(iterations, int) else self.oracles.iterations)


class NlpMethod(CvxpyMethod):
    """One of CVXPY's nonlinear solvers."""

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
        return f"{self.id} uses private names of CVXPY {SEAM}, but CVXPY {found} is installed: pip install 'cvxpy>=1.9,<1.10'"


DEBIAN = "coinor-libipopt-dev liblapack-dev libblas-dev pkg-config"
NATIVE = f"install the Ipopt library (Debian: {DEBIAN}), then pip install fairalloc[ipopt]"

methods = (
    NlpMethod("IPOPT", "interior-point", "cyipopt", NATIVE),
    NlpMethod("UNO", "interior-point", "unopy", "pip install fairalloc[uno]"),
)
