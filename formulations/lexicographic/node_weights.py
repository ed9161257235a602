r"""The weights of nodes that prove most at given prices: the linear program of (*) in nested.py, solved by breakpoints.

    max  sum_k w_k worth_k - sum_n z_n max_tasks_n
    s.t. sum over nodes k of user n of w_k sigma_n / phi_k <= q_n + z_n,     0 <= w_k <= most_k,     z >= 0

Let T_k be the sum of w_j / phi_j over k and the groups above it: the row of user n is T_n <= (q_n + z_n) / sigma_n. Below the
node k, where the sum above is T, the program has the value

    F_k(T) = max of (T' - T) phi_k worth_k + G_k(T')  over  T <= T' <= T + most_k / phi_k,

G_k is the sum of F over children; of a user it is -max_tasks max(sigma T' - q, 0), where it has no limit it ends at q / sigma.
All are concave and piecewise linear.

1. From the deepest nodes up: the best T' is as near as it may be to turn_k, where the slope of G_k falls below -phi_k worth_k.
   F_k has the falls of its slope that G_k has below turn_k, earlier by most_k / phi_k, and those above it.
2. From the root down: T_k is turn_k within its bounds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.tasks import cheapest
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.tree import Tree

LARGEST = 1e3
"""Of what a node is worth, w times its level, in parts of all prices, where limits have prices: rays are worth rounding only."""


class Falls(NamedTuple):
    """Where slopes fall: the node of the function, the place, and by how much; each (falls,)."""

    node: NDArray[np.intp]
    place: Floats
    size: Floats

    def chosen(self, index: NDArray[np.generic]) -> "Falls":
        """Some of them, by numbers or a mask."""
        return Falls(*(part[index] for part in self))

    def together(self, *others: "Falls") -> "Falls":
        """These and others."""
        return Falls(*(np.concatenate(parts) for parts in zip(self, *others, strict=True)))


def best_weights(tree: Tree, worth: Floats, most: Floats, prices: Floats) -> tuple[Floats, Floats]:
    """(G + N,) the w, at most `most`, and (N,) the z that prove most at prices."""
    instance, groups, members = tree.instance, tree.groups, tree.groups.members
    above, size = np.array(groups.above), len(worth)

    def least(of_users: Floats) -> Floats:  # (G + N,) over the users of each node
        return np.minimum.reduceat(of_users[members.indices], members.indptr[:-1])

    q, sigma, limit = cheapest(instance, prices), global_dominant_share(instance), instance.max_tasks
    capped = np.isfinite(limit)
    if capped.any():
        most = np.minimum(most, np.divide(LARGEST, worth, out=np.full(size, np.inf), where=worth > 0))
    V, room, turn, T = worth * tree.phi, most / tree.phi, np.full(size, -np.inf), np.zeros(size + 1)  # T of the root is 0
    reach = np.divide(q, sigma, out=np.full(len(q), np.inf), where=sigma > 0)
    end, own = least(np.where(capped, np.inf, reach)), np.flatnonzero(capped & (sigma > 0))
    falls = Falls(len(groups) + own, reach[own], (limit * sigma)[own])
    for depth in range(int(groups.depth.max()), 0, -1):  # 1
        at = groups.depth == depth
        here = at[falls.node]
        at &= V > 0
        turn[at], passed = _turned(falls.chosen(here), V, room, end, at)
        passed = passed._replace(node=above[passed.node]).chosen(above[passed.node] >= 0)
        falls = falls.chosen(~here).together(passed)
    for depth in range(1, int(groups.depth.max()) + 1):  # 2
        nodes = np.flatnonzero(groups.depth == depth)
        T[nodes] = np.clip(turn[nodes], T[above[nodes]], T[above[nodes]] + room[nodes])
    w, taken = (T[:-1] - T[above]) * tree.phi, sigma * T[len(groups) : -1]
    z = np.where(capped, np.maximum(taken - q, 0.0), 0.0)
    part = np.divide(q + z, taken, out=np.ones_like(q), where=taken > q + z)  # what is above, by rounding, is taken off the nodes
    return w * least(part), z


def _turned(falls: Falls, V: Floats, room: Floats, end: Floats, at: NDArray[np.bool_]) -> tuple[Floats, Falls]:
    """Step 1 for the nodes `at`, (those,) turn and the falls of F; the functions of other nodes stay as they are."""
    falls = falls.chosen(np.lexsort((falls.place, falls.node)))
    node, place, size = falls
    first, last = (np.searchsorted(node, np.arange(len(at)), side=side) for side in ("left", "right"))
    total = np.append(0.0, np.cumsum(size))  # before each
    fallen = total[1:] - total[first[node]]
    before = at[node] & (fallen < V[node]) & (place < end[node])
    next_one = first + np.bincount(node[before], minlength=len(at))
    inside = at & (next_one < last)
    turn = np.where(inside, np.append(place, np.inf)[next_one], np.inf)
    divided = inside & (turn <= end)  # the fall at turn is in part before, in part behind it
    turn = np.minimum(turn, end)
    lack = V - (total[next_one] - total[first])
    there = next_one[divided]
    kept = Falls(node, np.where(before, place - room[node], place), size)
    kept.size[there] = fallen[there] - V[divided]
    earlier = np.flatnonzero(at & (turn < np.inf))
    return turn[at], kept.together(Falls(earlier, turn[earlier] - room[earlier], lack[earlier]))
