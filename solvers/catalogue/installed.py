"""Solvers that users own: whatever CVXPY or Pyomo finds installed is a method, such as `cvxpy:gurobi` and `pyomo:cbc`.

They are made when they are asked for: nothing here imports CVXPY or Pyomo before. What a solver can do is read from CVXPY's own
tables, and for Pyomo from those here. Where an accuracy means nothing to a solver it runs with its default options.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from fairalloc.formulations.common.modelling import cp, is_installed, pyo
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.solvers.backends.cvxpy import CvxpyMethod
from fairalloc.solvers.backends.pyomo import PyomoMethod, PyomoSession
from fairalloc.solvers.method import Method
from fairalloc.solvers.options import TERMINATION
from fairalloc.solvers.running import time_limits
from fairalloc.solvers.running.solver_log import LOCKS, unlogged

SAME = ("cplex", "cuopt", "cvxopt", "daqp", "diffcp", "ecos", "knitro", "mosek", "mpax", "osqp", "piqp", "qoco", "qpalm")

PIP: Mapping[str, str] = {
    **{name.upper(): name for name in SAME},
    "CBC": "cylp",
    "COPT": "coptpy",
    "ECOS_BB": "ecos",
    "GLOP": "ortools",
    "GLPK": "cvxopt",
    "GLPK_MI": "cvxopt",
    "GUROBI": "gurobipy",
    "NAG": "naginterfaces",
    "PDLP": "ortools",
    "PROXQP": "proxsuite",
    "SCIP": "pyscipopt",
    "SDPA": "sdpa-python",
    "XPRESS": "xpress",
}
"""What brings CVXPY's solvers; some need a licence besides."""

LOOKING = 60.0
"""Seconds after which Pyomo has found what it finds."""

NONLINEAR = {"baron", "bonmin", "conopt", "couenne", "gams", "knitro", "minos", "scip", "snopt"}
CONTINUOUS = {"conopt", "minos", "snopt"}
PYOMO = (*sorted(NONLINEAR | {"cbc", "cplex", "glpk", "gurobi", "highs", "mosek", "xpress"}),)
"""The solvers that are looked for; any other that Pyomo finds may be asked for by its name, and is asked everything.

Pyomo has several interfaces to some, such as appsi_highs, gurobi_direct and cplex_persistent.
"""


class OtherCvxpy(CvxpyMethod):
    """A solver that CVXPY knows, with its default options."""

    def __init__(self, solver: str) -> None:
        super().__init__(solver, "other", "cvxpy", "")
        self.packages = ("cvxpy",)

    def missing(self) -> str:
        """Whether CVXPY finds it, else what to install."""
        if self.solver in _of_cvxpy()[1]:
            return ""
        where = f"pip install {PIP[self.solver]}" if self.solver in PIP else "see cvxpy.org/tutorial/solvers"
        return f"{self.id} needs the solver {self.solver}, which CVXPY does not find: {where}"

    def computes(self, mechanism: Mechanism) -> bool:
        """Linear programs all, with integers where CVXPY says so; of others those with logarithms, as all of ours are."""
        if self.layer not in mechanism.layers:
            return False
        if mechanism.integer:
            whole = [table for table in self._tables() if getattr(table, "MIP_CAPABLE", False)]
            squares = any(c.__name__ == "SOC" for table in whole for c in getattr(table, "MI_SUPPORTED_CONSTRAINTS", ()))
            return bool(whole) and (mechanism.linear is not False or (squares and mechanism.convex is not False))
        if mechanism.linear:
            return True
        logarithms = any(c.__name__ == "ExpCone" for table in self._tables() for c in table.SUPPORTED_CONSTRAINTS)
        return bool(mechanism.convex) and (logarithms or not mechanism.has_residual)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Where there is a model, and CVXPY's tables have its cones."""
        if reason := super().applies(mechanism, instance):
            return reason
        if mechanism.linear:
            return ""
        lacking = _cones(mechanism.cvxpy(instance)) - {c.__name__ for t in self._tables() for c in t.SUPPORTED_CONSTRAINTS}
        return f"{self.id} takes no {' or '.join(sorted(lacking))}, which {mechanism.id!r} needs" if lacking else ""

    def _tables(self) -> list[Any]:
        from cvxpy.reductions.solvers import defines

        maps = (defines.SOLVER_MAP_CONIC, defines.SOLVER_MAP_QP)
        return [table[self.solver] for table in maps if self.solver in table]


class OtherPyomoSession(PyomoSession):
    """A model handed to a solver of Pyomo's factory."""

    def optimise(self) -> str:
        """Solve the model; duals are turned so that those of capacities are not negative, whatever the solver's convention."""
        with self.phase("compile"):
            solver = pyo.SolverFactory(self.solver)
            self.model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
        limit = {"timelimit": max(self.limits.left, 1.0)} if self.limits.deadline < float("inf") else {}
        given = {"options": dict(self.limits.solver_options)} if self.limits.solver_options else {}
        with self.phase("solve"), self.logged():
            asked = {"tee": self.limits.log, "load_solutions": False, **limit, **given}
            results = self.asked(self.solver, lambda: solver.solve(self.model, **asked))
        if len(results.solution):
            self.model.solutions.load_from(results)
        duals = dict(self.model.dual.items())
        sign = -1.0 if sum(duals.get(row, 0.0) for row in getattr(self.model, "capacity", {}).values()) < 0 else 1.0
        self.duals = {row: sign * value for row, value in duals.items()} if duals else None
        return TERMINATION.get(str(results.solver.termination_condition), "error")


class OtherPyomo(PyomoMethod):
    """A solver that Pyomo knows, with its default options."""

    def __init__(self, solver: str) -> None:
        super().__init__(solver, "other", "pyomo", OtherPyomoSession)

    def missing(self) -> str:
        if _pyomo_finds(self.solver):
            return ""
        return f"{self.id} needs the solver {self.solver}, which Pyomo does not find: put its executable on the search path"

    def computes(self, mechanism: Mechanism) -> bool:
        """By the table; everything where the solver is not in it."""
        solver = self.solver.removeprefix("appsi_").removesuffix("_direct").removesuffix("_persistent")
        if self.layer not in mechanism.layers or (mechanism.integer and solver in CONTINUOUS):
            return False
        return bool(mechanism.linear or solver in NONLINEAR or solver not in PYOMO)


def other_method(name: str) -> Method | None:
    """The method `cvxpy:NAME` or `pyomo:NAME` of a solver that one of the two knows or finds; None for other names."""
    layer, _, solver = name.partition(":")
    if layer == "cvxpy" and solver.upper() in _of_cvxpy()[0]:
        return OtherCvxpy(solver.upper())
    if layer == "pyomo" and solver and (solver in PYOMO or _pyomo_finds(solver)):
        return OtherPyomo(solver)
    return None


def installed_methods() -> Iterator[Method]:
    """A method for each solver that CVXPY or Pyomo finds; looking for them takes seconds, once."""
    yield from (OtherCvxpy(solver) for solver in _of_cvxpy()[1])
    yield from (OtherPyomo(solver) for solver in PYOMO if _pyomo_finds(solver))


@cache
def _of_cvxpy() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The solvers that CVXPY knows for convex programs, and those of them that it finds installed; none without CVXPY."""
    if not is_installed("cvxpy"):
        return (), ()
    from cvxpy.reductions.solvers import defines

    known = tuple(dict.fromkeys((*defines.CONIC_SOLVERS, *defines.QP_SOLVERS)))
    found = set(cp.installed_solvers())
    return known, tuple(solver for solver in known if solver in found)


def _pyomo_finds(solver: str) -> bool:
    """Whether Pyomo's factory makes it available; all of PYOMO are looked for at once, by one thread."""
    with LOCKS.pyomo:
        return solver in _found_by_pyomo(PYOMO if solver in PYOMO else (solver,))


@cache
def _found_by_pyomo(solvers: tuple[str, ...]) -> frozenset[str]:
    """Those that are available; in a child process, for on the way Pyomo redirects `sys.stdout` and says what is missing."""
    if not is_installed("pyomo"):
        return frozenset()

    def look(keep: Callable[[frozenset[str]], None]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        keep(found)
        for solver in filter(_available, solvers):
            found |= {solver}
            keep(found)
        return found

    return time_limits.within(LOOKING, look, frozenset())


def _available(solver: str) -> bool:
    with unlogged(), suppress(Exception):
        return bool(pyo.SolverFactory(solver).available(exception_flag=False))
    return False


def _cones(problem: Any) -> set[str]:
    """The names of the cones that a convex problem needs beyond linear rows."""
    from cvxpy.atoms import EXP_ATOMS, PSD_ATOMS, SOC_ATOMS

    known = {"ExpCone": EXP_ATOMS, "SvecPSD": PSD_ATOMS} | ({} if problem.is_qp() else {"SOC": SOC_ATOMS})
    return {cone for cone, atoms in known.items() if not set(atoms).isdisjoint(problem.atoms())}
