"""Where methods start, and where they are when they are ended: tasks and prices."""

import numpy as np

from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import InstanceError
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

INSIDE = 0.1
"""How far `interior` keeps from the boundary, as a part of an equal partition: closer starts made barriers take small steps."""


def start_on(home: Instance, allocation: Allocation, what: str = "warm_start") -> tuple[Floats, Floats | None]:
    """Tasks (A,) of an allocation, and prices (K, R) in any scale, on the instance that answers are given on.

    InstanceError where it has no point, or its instance has other users, servers, variants or eligibility than that.
    """
    if not isinstance(allocation, Allocation):
        raise InstanceError(f"{what} is of type {type(allocation).__name__}, but it must be an Allocation")
    if not allocation.has_point:
        raise InstanceError(f"{what} has tasks that are no numbers, but it must be a point")
    mine, theirs = home.arcs, allocation.instance.arcs
    pairs = ((mine.user, theirs.user), (mine.variant, theirs.variant), (mine.server, theirs.server))
    if not all(np.array_equal(a, b) for a, b in pairs):
        raise InstanceError(
            f"{what} has {len(theirs)} arcs of {allocation.instance.N} users and {allocation.instance.K} servers, but it "
            f"must have the {len(mine)} arcs of {home.N} users and {home.K} servers that answers are given on"
        )
    same = allocation.prices is not None and allocation.prices.shape == (home.K, home.R)
    return allocation.x, allocation.prices if same else None


def interior(instance: Instance, x: Floats) -> Floats:
    """Tasks (A,) next to x where every arc has some: a start for interior-point methods."""
    equal = instance.arcs.gamma / instance.N
    return (1.0 - INSIDE) * np.maximum(x, 0.0) + INSIDE * equal


def equal_partition(instance: Instance) -> Floats:
    """(A,) tasks that are feasible: every server is divided equally among its arcs."""
    arcs = instance.arcs
    x = arcs.gamma / np.bincount(arcs.server, minlength=instance.K)[arcs.server]
    return scaled_down(instance, x)
