"""fairalloc: a mathematical-optimization modelling toolkit for multi-resource fair allocation.

>>> import fairalloc as fa
>>> fa.solve(fa.example("wang-fig2").instance, "drfh").tasks
array([10., 10.])
"""

import os
import sys
from typing import TYPE_CHECKING

if sys.stderr is None:  # it is closed: NumPy before 2.1 reads `sys.stderr.write` when it is imported
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)

from fairalloc import sigint

if sigint.is_command_line():
    sigint.end_quietly()

from fairalloc.models.on_demand import on_demand

if TYPE_CHECKING:
    from fairalloc.analysis import plots
    from fairalloc.analysis.certificates import Certificate, NotCertified, certify
    from fairalloc.analysis.compare import MechanismComparison, compare
    from fairalloc.analysis.explanations import Explanation, explain
    from fairalloc.analysis.explorer import explorer_page
    from fairalloc.analysis.market import PricedAllocation, market
    from fairalloc.analysis.properties import Misreport, Property, check, check_mechanism
    from fairalloc.analysis.sensitivity import Sensitivity, sensitivity
    from fairalloc.analysis.solution_sets import SolutionSet, solution_set
    from fairalloc.analysis.verdict import Verdict
    from fairalloc.formulations import MECHANISMS, Mechanism, mechanism
    from fairalloc.formulations.common.tasks import cvxpy_tasks, pyomo_tasks
    from fairalloc.formulations.game.marginal import Utility
    from fairalloc.formulations.lexicographic.rule import Leximin
    from fairalloc.models import Allocation, Instance, Overview
    from fairalloc.models.errors import FairallocError, InstanceError, NotApplicable, NotInstalled, UnknownName
    from fairalloc.models.examples import generators, traces
    from fairalloc.models.examples.example import Example
    from fairalloc.models.examples.library import Frozen, library
    from fairalloc.models.examples.published import EXAMPLES, example
    from fairalloc.models.files.csv_tables import read_csv
    from fairalloc.models.files.jsonio import read_instance, write_allocation, write_instance
    from fairalloc.models.transformations.aggregation import aggregate, expand
    from fairalloc.models.transformations.own_time import with_own_time
    from fairalloc.solvers import METHODS, Method, options, solve, solve_many
    from fairalloc.solvers.catalogue.own import method
    from fairalloc.solvers.export import export, read_allocation
    from fairalloc.solvers.model_page import ModelPage, show
    from fairalloc.theorems.cases import Case
    from fairalloc.theorems.checkers.own import claim_properties
    from fairalloc.theorems.claims import Claim, ClaimResult, claim, property_matrix
    from fairalloc.theorems.conflict import Conflict, conflict
    from fairalloc.theorems.hypotheses import Hypotheses
    from fairalloc.theorems.matrix import Matrix

__version__ = "0.2.0"

__all__ = ["EXAMPLES", "Example", "Instance", "example", "read_csv", "read_instance", "write_instance"]
__all__ += ["Frozen", "aggregate", "expand", "generators", "library", "traces", "with_own_time"]
__all__ += ["FairallocError", "InstanceError", "NotApplicable", "NotInstalled", "UnknownName"]
__all__ += ["MECHANISMS", "Leximin", "Mechanism", "ModelPage", "Utility", "cvxpy_tasks", "export", "mechanism", "pyomo_tasks"]
__all__ += ["METHODS", "Method", "SolutionSet", "method", "options", "solution_set", "solve", "solve_many"]
__all__ += ["Allocation", "MechanismComparison", "Overview", "compare", "plots", "read_allocation", "show", "write_allocation"]
__all__ += ["Certificate", "Misreport", "NotCertified", "Property", "Verdict", "certify", "check", "check_mechanism"]
__all__ += ["Explanation", "PricedAllocation", "Sensitivity", "explain", "explorer_page", "market", "sensitivity"]
__all__ += ["Case", "Claim", "ClaimResult", "Conflict", "Hypotheses", "Matrix"]
__all__ += ["claim", "claim_properties", "conflict", "property_matrix"]

ROOMS = ("models", "formulations", "solvers", "analysis", "runs", "simulation", "theorems", "benchmarks")

PARTS = {
    **{room: f"fairalloc.{room}" for room in ROOMS},
    "generators": "fairalloc.models.examples.generators",
    "plots": "fairalloc.analysis.plots",
    "traces": "fairalloc.models.examples.traces",
}
"""Modules that are names of the package."""

if not TYPE_CHECKING:
    __getattr__ = on_demand(__name__, PARTS)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
