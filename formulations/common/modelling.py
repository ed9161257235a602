"""CVXPY and Pyomo, `cp` and `pyo` of all rooms: imported when something of them is asked for."""

from typing import TYPE_CHECKING

from fairalloc.models.on_demand import Package

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo
else:
    cp, pyo = Package("cvxpy"), Package("pyomo.environ")

__all__ = ["cp", "pyo"]
