r"""A tree of users and groups in numbers, the rounds of nested max-min fairness on it, and what prices prove of them.

V_k is the share of node k, the sum of sigma_n u_n over its users, phi_k its part by weights (models/input/groups.py), gamma_k its
guarantee or all that its users ask for where that is less. A round at depth d has the program

    max g   s.t.   V_k / phi_k >= floor_k for all nodes k,     V_k / phi_k >= base_k + g for active nodes k of depth d,

floor_k is gamma_k / phi_k, or the level of a node that was fixed; base_k is 0, or gamma_k / phi_k where what is beyond guarantees
is compared. For prices p >= 0 and numbers w, z >= 0 with  sum over nodes k of user n of  w_k sigma_n / phi_k <= q_n(p) + z_n,
weak duality says that no allocation in which every node keeps kept_k gives node k more than

    V_k / phi_k + (sum p + sum_n z_n max_tasks_n - sum_k w_k kept_k) / w_k                                             (*)

node_weights.py finds the best w for given prices. With these nested_proof.py fixes nodes round by round.
"""

from dataclasses import dataclass, replace
from math import fsum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.node_weights import best_weights
from fairalloc.models.numbers import Floats
from fairalloc.models.tree import Tree

NOTHING = 1e-6
"""A level below this part of all shares is 0."""

ROUNDING = 2.0**-52
"""Of a sum of prices, in parts: a node whose w is as small is proved nothing."""

NO_PRICES = 1e-14
"""Prices whose sum is a smaller part of the least level are what rounding leaves where limits alone bound it."""

PREFERRED = 1e-8
"""How much more the nodes at the level of a round count where several w prove as much."""


@dataclass(frozen=True, eq=False)
class NestedRound:
    """One round: its depth, and the active nodes, floors and bases (G + N,) of the program."""

    depth: int
    active: NDArray[np.bool_]
    floor: Floats
    base: Floats

    @classmethod
    def first(cls, tree: Tree, borrowed: bool) -> Self:
        """The children of the root are active."""
        floor = tree.gamma / tree.phi
        return cls(1, tree.groups.depth == 1, floor, floor if borrowed else np.zeros(len(floor)))

    @property
    def kept(self) -> NDArray[np.bool_]:
        """(G + N,) the nodes that have a floor, in the order of its rows; those of active nodes follow."""
        return self.floor > 0

    def after(self, tree: Tree, fixed: NDArray[np.bool_], levels: Floats) -> "NestedRound":
        """The next round: fixed nodes keep their levels, and where none is active, the nodes below are."""
        active, depth = self.active & ~fixed, self.depth
        if not active.any():
            depth += 1
            active = tree.groups.depth == depth
        floor = np.where(fixed, levels, np.minimum(self.floor, levels))  # so that the next round has a feasible point
        return replace(self, depth=depth, active=active, floor=floor)


def rises(tree: Tree, now: NestedRound, levels: Floats, prices: Floats) -> Floats:
    """(G + N,) how far each active node can rise above the least of them, relative to that, by prices (K, R); inf for others.

    A least level that is NOTHING beside the shares of all is 0; a rise from that is in parts of these.
    """
    g = float((levels - now.base)[now.active].min())
    everything = float((levels * tree.phi)[tree.groups.depth == 1].sum())
    unit = g if g > NOTHING * everything else everything
    kept = np.where(now.active, np.maximum(now.floor, np.minimum(levels, now.base + g)), np.minimum(now.floor, levels))
    prices = np.maximum(prices, 0.0)
    whole = float(prices.sum())  # only ratios count; the active nodes were worth 1 together before
    whole, prices = (whole, prices / whole) if whole > NO_PRICES * unit else (1.0, np.zeros_like(prices))
    at_level = now.active & (levels - kept <= NOTHING * np.maximum(kept, unit))
    w, z = best_weights(tree, kept + np.where(at_level, PREFERRED * unit, 0.0), np.where(now.active, 1.0 / whole, np.inf), prices)
    limited = z > 0
    paid = np.concatenate([prices.ravel(), z[limited] * tree.instance.max_tasks[limited]])
    gap = max(fsum((*paid, *(-w * kept))), 0.0) + ROUNDING * float(paid.sum())
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rise = (kept - now.base - g + gap / w) / unit
    return np.where(now.active & (w > 0), rise, np.inf)
