"""One table: what the words "low", "mid" and "high" promise, and what they mean to each solver in its own option names."""

from collections.abc import Mapping
from typing import Any

__all__ = ["ACCURACY", "OPTIONS"]

ACCURACY: Mapping[str, float] = {"low": 1e-3, "mid": 1e-6, "high": 1e-8}
"""The residual each word promises."""

IPOPT: Mapping[str, Any] = {"nlp_scaling_method": "none", "print_level": 0, "sb": "yes"}
"""Models are written in units of order one, which Ipopt's own scaling would undo."""

OPTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "HIGHS": {  # HiGHS accepts no tolerance below 1e-10
        "low": {"primal_feasibility_tolerance": 1e-7, "dual_feasibility_tolerance": 1e-7, "mip_feasibility_tolerance": 1e-7},
        "mid": {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9, "mip_feasibility_tolerance": 1e-9},
        "high": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "mip_feasibility_tolerance": 1e-10},
    },
    "CLARABEL": {  # a gap is quadratic in the error of a log program; with its default step fraction 0.99 it stalls earlier
        "low": {"tol_gap_abs": 1e-8, "tol_gap_rel": 1e-8, "tol_feas": 1e-8},
        "mid": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-10, "max_step_fraction": 0.9},
        "high": {"tol_gap_abs": 1e-14, "tol_gap_rel": 1e-14, "tol_feas": 1e-11, "max_step_fraction": 0.9},
    },
    "SCS": {  # where it succeeds it needs a few thousand iterations; where it does not, a million is no better
        "low": {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 100_000},
        "mid": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 100_000},
        "high": {"eps_abs": 1e-11, "eps_rel": 1e-11, "max_iters": 1_000_000},
    },
    "IPOPT": {  # native, through CVXPY, which sets bound_relax_factor to 0 itself
        "low": {"tol": 1e-7, "mu_strategy": "monotone", **IPOPT},
        "mid": {"tol": 1e-12, "mu_strategy": "monotone", **IPOPT},
        "high": {"tol": 1e-13, "mu_strategy": "monotone", **IPOPT},
    },
    "UNO": {  # its preset "ipopt" is the interior-point one, by far the faster here
        "low": {"preset": "ipopt", "logger": "SILENT", "primal_tolerance": 1e-7, "dual_tolerance": 1e-7},
        "mid": {"preset": "ipopt", "logger": "SILENT", "primal_tolerance": 1e-11, "dual_tolerance": 1e-11},
        "high": {"preset": "ipopt", "logger": "SILENT", "primal_tolerance": 1e-12, "dual_tolerance": 1e-12},
    },
    "IPOPT in CasADi": {
        "low": {"tol": 1e-7, "bound_relax_factor": 1e-8, **IPOPT},
        "mid": {"tol": 1e-12, "bound_relax_factor": 1e-12, **IPOPT},
        "high": {"tol": 1e-13, "bound_relax_factor": 1e-12, **IPOPT},
    },
}
