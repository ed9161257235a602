"""The order in which `method=None` asks methods: one list, and a threshold for max-min fairness.

Against the fastest method of each of 282 cases measured for all mechanisms (docs/PERFORMANCE.md, "Which method is asked") the
first that claims takes 1.03 times as long in the geometric mean.
"""

from collections.abc import Mapping

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance

__all__ = ["order"]

MANY = 2000
"""Arcs from which on `interior-point` is asked before HiGHS's simplex method; below, its iterations cost more than pivots."""

ORDER: Mapping[str, str] = {
    "progressive-filling": "lexicographic.progressive_filling",  # where users have no choice of arcs, nothing is faster
    "highs:leximin": "backends.highs",
    "highs": "backends.highs",
    "interior-point": "interior_point.method",
    "njc-market": "njc.eisenberg_gale",
    "psdsf-enumeration": "exact.psdsf_enumeration",  # of few arcs, where an objective chooses among the answers of ps-dsf
    "continuation": "game.continuation",
    "josephy-newton": "game.josephy_newton",
    "best-response": "game.best_response",
    "many-digits": "exact.many_digits",  # where its tasks are off, these are known by now
    "njc-milp": "njc.milp",
    "cvxpy:clarabel": "backends.cvxpy",
    "cvxpy:highs": "backends.cvxpy",
    "cvxpy:ipopt": "backends.cvxpy_nlp",
    "semismooth-newton": "game.semismooth_newton",
    "exact": "exact.exact",
    "cvxpy:scs": "backends.cvxpy",
    "pyomo:highs": "backends.pyomo",
    "pyomo:ipopt": "backends.pyomo",
}
"""First those that claim most often, then the faster ones, each with its file, so that no others are loaded.

Methods that are not in the list follow by name.
"""


def order(mechanism: Mechanism, instance: Instance | None) -> tuple[str, ...]:
    """The ids of methods, first those to be asked first; a game's order is the same for all sizes, so its answer does not jump.

    Parameters
    ----------
    mechanism : configured
    instance : where; None = nowhere in particular
    """
    large = isinstance(mechanism, Leximin) and instance is not None and len(instance.arcs) >= MANY
    first, *others = ORDER
    return (first, "interior-point", *others) if large else tuple(ORDER)
