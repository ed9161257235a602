"""Canonical units: the same problem in numbers of order one, for every back end alike.

Solvers stop at absolute tolerances, so tasks are counted in units of what the user could run alone on its best server, and
weights are scaled so that the level every user reaches in an equal partition is about 1. Capacities are scaled already: the
rows of `instance.arcs.load` are fractions of capacity.
"""

from collections.abc import Callable

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats


def canonical(instance: Instance, rate: Callable[[Instance], Floats] | None = None) -> tuple[Instance, Floats]:
    """The instance in canonical units, and (N,) how many tasks one of its task units is.

    `rate` gives the weighted share of one task where a mechanism has shares; only then do the weights have a scale.
    """
    unit: Floats = np.maximum.reduceat(instance.arcs.gamma, instance.arcs.first)
    scaled = instance.rescaled(instance.weights / instance.weights.mean(), unit)
    if rate is not None:
        worth = rate(instance) * unit  # what a task unit is worth, whether the shares know of units or not
        arcs = scaled.arcs
        alone: Floats = arcs.owner @ arcs.gamma if scaled.single_variant else _best_variants(scaled)
        level = float((worth * np.minimum(alone / scaled.N, scaled.max_tasks)).min())  # the lowest of an equal partition
        scaled = scaled.rescaled(scaled.weights * rate(scaled) / worth * level)
    return scaled, unit


def _best_variants(instance: Instance) -> Floats:
    """(N,) sum over servers of what the user could run there alone in its best variant."""
    arcs = instance.arcs
    pair, which = np.unique(arcs.user * instance.K + arcs.server, return_inverse=True)
    best = np.zeros(len(pair))
    np.maximum.at(best, which, arcs.gamma)
    return np.bincount(pair // instance.K, weights=best, minlength=instance.N).astype(float)
