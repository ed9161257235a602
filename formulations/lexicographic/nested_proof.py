"""The sequence of rounds of nested max-min fairness (nested.py): solved one by one, and repeated by prices as a proof."""

from collections.abc import Callable, Iterator

import numpy as np

from fairalloc.formulations.lexicographic.nested import NestedRound, rises
from fairalloc.formulations.lexicographic.weak_duality import feasible
from fairalloc.models.numbers import Floats
from fairalloc.models.tree import Tree

TOLERANCES = 1e-8, 1e-6
"""Rises that count as none."""

MOST = 1e-2
"""A rise that proves nothing: the layer is about another round."""


def proved_rounds(
    tree: Tree, now: NestedRound, solver: Callable[[NestedRound], tuple[Floats, Floats]], tolerance: float
) -> Iterator[tuple[Floats, Floats]]:
    """Tasks and prices of each round that is solved; all that its prices prove at its tasks are fixed, and at least one node."""
    while now.active.any():
        x, prices = solver(now)
        yield x, prices
        now, _ = _settled(tree, now, tree.levels(feasible(tree.instance, x)), prices, tolerance, np.inf)


def _settled(
    tree: Tree, now: NestedRound, levels: Floats, prices: Floats, tolerance: float, most: float
) -> tuple[NestedRound, float]:
    """The round after all that these prices prove, at first up to a rise of `most`; the largest rise of a node that is fixed."""
    worst = 0.0
    while now.active.any():
        rise = rises(tree, now, levels, prices)
        fixed = now.active & (rise <= max(tolerance, min(2.0 * rise.min(), most)))
        if not fixed.any():
            break
        now, worst, most = now.after(tree, fixed, levels), max(worst, float(rise[fixed].max())), 0.0
    return now, worst


def least_rise(tree: Tree, first: NestedRound, x: Floats, layers: Floats) -> float:
    """The most that any node can rise at feasible tasks x, in parts of its level then, as prices (T, K, R) prove; 1 = nothing.

    The rounds are repeated with each of TOLERANCES, for which of them a layer was found is not known.
    """
    best, levels = 1.0, tree.levels(x)
    for tolerance in TOLERANCES:
        if best > tolerance:
            now, worst = first, 0.0
            for layer in (*layers, *layers):
                now, rise = _settled(tree, now, levels, layer, tolerance, MOST)
                worst = max(worst, rise)
            best = best if now.active.any() else min(best, worst / (1.0 + worst))
    return best
