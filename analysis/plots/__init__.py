"""Figures: each function draws on Matplotlib Axes, its argument `ax` or those of a new figure, and returns them.

They need the extra `plots`. Functions with several panels take and return an array of Axes. Where the figure of given Axes has no
layout engine, it gets Matplotlib's "constrained" one, so that legends and names have room.
"""

from collections.abc import Callable
from typing import Any

from fairalloc.analysis.plots.bars import allocation, dominant_shares
from fairalloc.analysis.plots.maps import eligibility, prices
from fairalloc.analysis.plots.measured import data_profiles, front, memory, performance_profiles
from fairalloc.analysis.plots.progress import convergence, rounds
from fairalloc.analysis.plots.sets import feasible_region, solution_set
from fairalloc.analysis.plots.tradeoff import frontier, server_shares, sweep
from fairalloc.models.allocation import Allocation

__all__ = [
    "allocation",
    "convergence",
    "data_profiles",
    "dominant_shares",
    "eligibility",
    "feasible_region",
    "front",
    "frontier",
    "memory",
    "performance_profiles",
    "prices",
    "rounds",
    "server_shares",
    "solution_set",
    "sweep",
]

OF_ALLOCATIONS: dict[str, Callable[[Allocation, Any], Any]] = {
    "allocation": allocation,
    "convergence": convergence,
    "dominant_shares": dominant_shares,
    "eligibility": lambda item, ax: eligibility(item.instance, ax),
    "feasible_region": lambda item, ax: feasible_region(item.instance, ax, points={item.mechanism or "tasks": item}),
    "prices": prices,
    "rounds": rounds,
}
"""What `Allocation.plot` draws, by kind."""
