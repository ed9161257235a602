"""Canonical units: the same problem in numbers of order one, for every back end alike.

Solvers stop at absolute tolerances, so tasks are counted in units of what the user could run alone on its best server, and
weights are scaled so that the level every user reaches in an equal partition is about 1. Capacities are scaled already: the
rows of `instance.arcs.load` are fractions of capacity.
"""

from collections.abc import Callable

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

__all__ = ["canonical"]


def canonical(instance: Instance, rate: Callable[[Instance], Floats] | None = None) -> tuple[Instance, Floats]:
    """The instance in canonical units, and (N,) how many tasks one of its task units is.

    `rate` gives the weighted share of one task where a mechanism has shares; only then do the weights have a scale.
    """
    unit = np.zeros(instance.N)
    np.maximum.at(unit, instance.arcs.user, instance.arcs.gamma)
    scaled = instance.rescaled(instance.weights / instance.weights.mean(), unit)
    if rate is not None:
        worth = rate(instance) * unit  # what a task unit is worth, whether the shares know of units or not
        scaled = scaled.rescaled(scaled.weights * rate(scaled) / worth * equal_level(worth, scaled))
    return scaled, unit


def equal_level(rate: Floats, instance: Instance) -> float:
    """The lowest weighted share when every server is divided equally: the level fair sharing is expected to beat."""
    arcs = instance.arcs
    best = np.zeros((instance.N, instance.K))
    np.maximum.at(best, (arcs.user, arcs.server), arcs.gamma)
    tasks = np.minimum(best.sum(axis=1) / instance.N, instance.max_tasks)
    return float((rate * tasks).min())
