"""The first round of nested max-min fairness without guarantees and limits: each child of the root is one user.

1. A child's tasks are those of its members, counted in shares, so that the round is a program of max-min fairness with an arc for
   each member and server (merged_users.py).
2. The interior-point method solves it on few of these arcs, at first those that are cheapest where all capacities have one price.
3. Of the others the cheapest of each child on each server is added where it is cheaper than those that are there.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.numbers import Floats
from fairalloc.models.transformations.merged_users import merged_users
from fairalloc.models.tree import Tree
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions
from fairalloc.solvers.interior_point.max_min import MaxMinArrow
from fairalloc.solvers.kkt.schur import plan_for
from fairalloc.solvers.method import Limits

TURNS = 12
"""Programs at most."""

CHEAPER = 1e-9
"""By what part an arc must be cheaper than those that are there."""


class FirstLevel(NamedTuple):
    """Tasks (A,), prices (K R,), and the error of both; the arcs (A,) that were there, and what each costs above the cheapest.

    `above` (A,) is the part of an arc's cost that is above that of its child's cheapest arc.
    """

    x: Floats
    prices: Floats
    error: float
    kept: NDArray[np.bool_]
    above: Floats


def first_level(tree: Tree, limits: Limits) -> FirstLevel:
    """The answer where its error is small; else prices that are near, or all alike where the method does not apply."""
    instance, groups, arcs = tree.instance, tree.groups, tree.instance.arcs
    rows, child = np.unique(groups.members[groups.depth == 1].tocsc().indices, return_inverse=True)
    sigma, weights = tree.shares[len(groups) :].diagonal() * tree.phi[len(groups) :], tree.phi[groups.depth == 1][rows]
    share, of, options = sigma[arcs.user], child[arcs.user], limits.own(InteriorPointOptions)
    pair = of * instance.K + arcs.server
    x, prices, error, kept = np.zeros(len(arcs)), np.ones(instance.K * instance.R), np.inf, np.zeros(len(arcs), dtype=bool)
    for _ in range(TURNS):
        cost = arcs.costs(prices) / share
        order = np.lexsort((cost, pair))
        new = order[np.append(True, np.diff(pair[order]) > 0)]  # of each child and server the cheapest
        new = new[cost[new] < _least(of, cost, kept)[of[new]] * (1.0 - CHEAPER)]
        if not len(new):
            break
        kept[new] = True
        merged, order = merged_users(instance, child, sigma, weights, np.flatnonzero(kept))
        if not plan_for(merged, options.max_rows):
            break
        found = MaxMinArrow(1.0 / weights, merged).compile(options).solve(Round.first(merged), limits)
        x, prices, error = np.zeros(len(arcs)), np.maximum(found.prices.ravel(), 0.0), found.error
        x[order] = found.x / share[order]
    cost = arcs.costs(prices) / share
    least = _least(of, cost, np.ones_like(kept))[of]
    return FirstLevel(x, prices, error, kept, 1.0 - np.divide(least, cost, out=np.ones_like(cost), where=cost > 0))


def _least(of: NDArray[np.intp], cost: Floats, kept: NDArray[np.bool_]) -> Floats:
    """The least cost (A,) of the arcs of each child that are kept; inf where there is none."""
    result = np.full(int(of.max()) + 1, np.inf)
    np.minimum.at(result, of[kept], cost[kept])
    return result
