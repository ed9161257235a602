"""The events of H-DRF on divisible tasks, in rationals (formulations/h_drf.py has the algorithm and its steps)."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.input.groups import ROOT, Groups
from fairalloc.models.instance import Instance

ZERO, ONE = Fraction(0), Fraction(1)


def hierarchical_filling(instance: Instance) -> Rationals:
    """(N,) the tasks after the last event, in rationals; `instance` is one pool."""
    return instance.once(hierarchical_filling, lambda: _Filling(instance).ended())


class _Node(NamedTuple):
    """A group or user after step 2, and where it is not blocked how it rises in a unit of its M; M of a user is its share.

    vector, share : its part of each resource; its share
    grown, rise : how fast these grow
    moving, up : the children that rise, and how fast M does, 0 where they are served and their shares stay
    meetings : distances to the levels of siblings and of resources above, and how fast they shrink
    """

    vector: Sequence[Fraction]
    share: Fraction
    blocked: bool
    grown: Sequence[Fraction] = ()
    rise: Fraction = ONE
    moving: Sequence[int] = ()
    up: Fraction = ZERO
    meetings: Sequence[tuple[Fraction, Fraction]] = ()


class _Filling:
    """The state: the tasks of users, and of this event the resources that are full and the nodes, groups before users."""

    def __init__(self, instance: Instance) -> None:
        arcs, groups = exact_arcs(instance), instance.groups or Groups.none(instance.N)
        self.rows, self.limit, self.first, self.inside = range(arcs.rows), arcs.limits, len(groups), groups.children
        self.need = [dict(load) for load in arcs.load]  # d_nr / c_r
        self.sigma = [max(need.values()) for need in self.need]
        pairs = zip(self.need, self.sigma, strict=True)
        self.unit = [[need.get(r, ZERO) / sigma for r in self.rows] for need, sigma in pairs]  # of a share of 1
        self.weight = [*groups.weights, *instance.exact.weights]
        self.tasks = [ZERO] * instance.N

    def ended(self) -> Rationals:
        """The tasks after the last event."""
        while self.step():
            pass
        return tuple(self.tasks)

    def step(self) -> bool:
        """Go to the next event; False where everybody is blocked."""
        used = [sum((own.get(r, ZERO) * u for own, u in zip(self.need, self.tasks, strict=True)), ZERO) for r in self.rows]
        self.full, self.node = {r for r in self.rows if used[r] >= 1}, dict[int, _Node]()
        if self._up(ROOT).blocked:
            return False
        rates, times = dict[int, Fraction](), list[Fraction]()
        self._down(ROOT, ONE, rates, times)
        growth = [sum((self.need[n].get(r, ZERO) * v for n, v in rates.items()), ZERO) for r in self.rows]
        times += [(1 - used[r]) / growth[r] for r in self.rows if growth[r] > 0 and r not in self.full]
        times += [(limit - self.tasks[n]) / v for n, v in rates.items() if (limit := self.limit[n]) is not None]
        time = min(times)
        for n, v in rates.items():
            self.tasks[n] += time * v
        return True

    def _up(self, k: int) -> _Node:
        """Step 2 for a node and all below it."""
        self.node[k] = node = self._of_user(k - self.first) if k >= self.first else self._of_group(k)
        return node

    def _of_user(self, n: int) -> _Node:
        share = self.sigma[n] * self.tasks[n]
        blocked = bool(self.full & self.need[n].keys()) or self.tasks[n] == self.limit[n]
        return _Node([part * share for part in self.unit[n]], share, blocked, self.unit[n])

    def _of_group(self, k: int) -> _Node:
        nodes, weight = {j: self._up(j) for j in self.inside[k]}, self.weight
        level = {j: node.share / weight[j] for j, node in nodes.items() if not node.blocked}
        least, free = min(level.values(), default=ZERO), [r for r in self.rows if r not in self.full]
        scale = {j: weight[j] * least / node.share if j in level and node.share else ONE for j, node in nodes.items()}
        vector = [sum((scale[j] * node.vector[r] for j, node in nodes.items()), ZERO) for r in self.rows]
        share = max((vector[r] for r in free), default=ZERO)
        if not level:
            return _Node(vector, share, True)
        moving = [j for j in level if level[j] == least]
        still = [j for j in moving if not nodes[j].rise]
        parts = [[weight[j] * v / (nodes[j].rise or 1) for v in nodes[j].grown] for j in still or moving]
        others = [] if still else [j for j in level if j not in moving]
        parts += [[weight[j] * v / nodes[j].share for v in nodes[j].vector] for j in others]  # rescaled with M
        grown, up = [sum(column, ZERO) for column in zip(*parts, strict=True)], ZERO if still else ONE
        rise = max(grown[r] for r in free if vector[r] == share)
        meetings = [*((own - least, up) for own in level.values()), *((share - vector[r], grown[r] - rise) for r in free)]
        return _Node(vector, share, False, grown, rise, still or moving, up, meetings)

    def _down(self, k: int, speed: Fraction, rates: dict[int, Fraction], times: list[Fraction]) -> None:
        """Step 3: the tasks that users get in a unit of time, and the times at which a group's children or resources meet."""
        node = self.node[k]
        if k >= self.first:
            rates[k - self.first] = speed / self.sigma[k - self.first]
        times += [gap / (speed * more) for gap, more in node.meetings if more > 0 and gap > 0]
        for j in node.moving:
            self._down(j, speed * self.weight[j] / (self.node[j].rise if node.up else 1), rates, times)
