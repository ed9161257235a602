"""Which definitions belong to which mechanism and property, for the pages of statements."""

from collections.abc import Callable
from typing import Any

from fairalloc.theorems.definitions.allocation import content, feasible, undominated, used
from fairalloc.theorems.definitions.complaints import justified, no_complaint
from fairalloc.theorems.definitions.lexicographic import keeps
from fairalloc.theorems.definitions.per_server import bottleneck, equilibrium, ps_dsf

LEXICOGRAPHIC = dict.fromkeys(("drf", "drfh", "tsf", "lmmf"), (keeps,))
"""By prices of each level of shares."""

OFFERED = "envy-freeness total-envy-freeness sharing-incentive strong-sharing-incentive strategyproofness group-strategyproofness"
"""Of what a user could run with something else than it has."""

OF_MECHANISMS: dict[str, tuple[Callable[..., Any], ...]] = {
    **LEXICOGRAPHIC,
    "ps-dsf": (bottleneck, ps_dsf),
    "alpha-pf-vds": (equilibrium,),
    "nb": (equilibrium,),
    "njc": (justified, no_complaint),
}

OF_PROPERTIES: dict[str, tuple[Callable[..., Any], ...]] = {
    **dict.fromkeys(OFFERED.split(), (content,)),
    "pareto": (undominated,),
    "bottleneck-fairness": (bottleneck,),
    "single-resource-fairness": (bottleneck,),
}


def definitions_of(mechanism: str, name: str) -> list[Callable[..., Any]]:
    """The functions that define a mechanism and a property, after those that they use; none where there are none."""
    own = (*OF_MECHANISMS.get(mechanism, ()), *OF_PROPERTIES.get(name, ()))
    return list(dict.fromkeys((used, feasible, *own))) if own else []
