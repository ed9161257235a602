"""fairalloc: a mathematical-optimization modelling toolkit for multi-resource fair allocation.

>>> import fairalloc as fa
>>> fa.solve(fa.example("wang-fig2").instance, "drfh").tasks
array([10., 10.])
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.stderr is None:  # it is closed: NumPy before 2.1 reads `sys.stderr.write` when it is imported
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)

from fairalloc import stop

if stop.is_command_line():
    stop.end_quietly()

from fairalloc.analysis import (
    Certificate,
    Explanation,
    Failure,
    Property,
    Sensitivity,
    Verdict,
    certify,
    check,
    check_mechanism,
    explain,
    sensitivity,
)
from fairalloc.analysis.market import PricedAllocation, market
from fairalloc.analysis.properties import Misreport
from fairalloc.formulations import MECHANISMS, Mechanism, mechanism
from fairalloc.formulations.common.tasks import cvxpy_tasks, pyomo_tasks
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models import (
    Allocation,
    FairallocError,
    Instance,
    InstanceError,
    NotApplicable,
    NotInstalled,
    Overview,
    UnknownName,
    show,
)
from fairalloc.models.aggregation import aggregate, expand
from fairalloc.models.jsonio import read_instance, write_allocation, write_instance
from fairalloc.models.published import EXAMPLES, example
from fairalloc.solvers import METHODS, Method, options, solve
from fairalloc.solvers.export import export
from fairalloc.solvers.files import read_allocation
from fairalloc.theorems.cases import Case
from fairalloc.theorems.claims import Claim, ClaimResult, claim
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.judges.own import judges
from fairalloc.theorems.own_matrix import Matrix, matrix

if TYPE_CHECKING:
    from fairalloc.analysis import plots
    from fairalloc.models import generators, traces

__version__ = "0.1.0"

__all__ = [
    "EXAMPLES",
    "MECHANISMS",
    "METHODS",
    "Allocation",
    "Case",
    "Certificate",
    "Claim",
    "ClaimResult",
    "Explanation",
    "Failure",
    "FairallocError",
    "Hypotheses",
    "Instance",
    "InstanceError",
    "Leximin",
    "Matrix",
    "Mechanism",
    "Method",
    "Misreport",
    "NotApplicable",
    "NotInstalled",
    "Overview",
    "PricedAllocation",
    "Property",
    "Sensitivity",
    "UnknownName",
    "Verdict",
    "aggregate",
    "certify",
    "check",
    "check_mechanism",
    "claim",
    "cvxpy_tasks",
    "example",
    "expand",
    "explain",
    "export",
    "generators",
    "judges",
    "market",
    "matrix",
    "mechanism",
    "options",
    "plots",
    "pyomo_tasks",
    "read_allocation",
    "read_instance",
    "sensitivity",
    "show",
    "solve",
    "traces",
    "write_allocation",
    "write_instance",
]

_MODULES = {"generators": "fairalloc.models.generators", "plots": "fairalloc.analysis.plots", "traces": "fairalloc.models.traces"}
"""Modules that are imported where they are first used."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(_MODULES[name])
        raise AttributeError(f"module 'fairalloc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
