"""The order in which `method=None` asks methods: one list, and a threshold for max-min fairness.

Against the fastest method of each of 282 cases measured for all mechanisms (docs/PERFORMANCE.md, "Which method is asked") the
first that claims takes 1.03 times as long in the geometric mean.
"""

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance

__all__ = ["order"]

MANY = 2000
"""Arcs from which on `interior-point` is asked before HiGHS's simplex method; below, its iterations cost more than pivots."""

ORDER = (
    "progressive-filling",  # where users have no choice of arcs, nothing is faster
    "njc-market",
    "psdsf-enumeration",  # of few arcs, where an objective chooses among the answers of ps-dsf
    "continuation",
    "josephy-newton",
    "best-response",
    "highs:leximin",
    "highs",
    "interior-point",
    "many-digits",  # where its tasks are off, these are known by now
    "njc-milp",
    "cvxpy:clarabel",
    "cvxpy:highs",
    "cvxpy:ipopt",
    "semismooth-newton",
    "exact",
    "cvxpy:scs",
    "pyomo:highs",
    "pyomo:ipopt",
)
"""First those that claim most often, then the faster ones; methods that are not in the list follow by name."""


def order(mechanism: Mechanism, instance: Instance | None) -> tuple[str, ...]:
    """The ids of methods, first those to be asked first; a game's order is one for all sizes, so its answer does not jump."""
    large = isinstance(mechanism, Leximin) and instance is not None and len(instance.arcs) >= MANY
    return (ORDER[0], "interior-point", *ORDER[1:]) if large else ORDER
