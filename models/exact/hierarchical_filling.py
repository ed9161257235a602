"""The events of H-DRF on divisible tasks, in rationals (formulations/h_drf.py has the algorithm and its steps)."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.input.groups import ROOT, Groups
from fairalloc.models.instance import Instance


def hierarchical_filling(instance: Instance) -> Rationals:
    """(N,) the tasks after the last event, in rationals; `instance` is one pool."""
    return instance.once(hierarchical_filling, lambda: _Filling(instance).ended())


class _Filling:
    """The state: tasks of users, and of each node its vector, its share, and whether it is blocked; nodes are groups, then users.

    `moving` are the children of a group that rise, `speed` how fast M does, 0 where they are served and their shares stay.
    """

    def __init__(self, instance: Instance) -> None:
        arcs, groups = exact_arcs(instance), instance.groups or Groups.none(instance.N)
        self.need = [{row: part for row, part in load if part} for load in arcs.load]  # d_nr / c_r
        self.limit, self.rows, self.first = arcs.limits, range(arcs.rows), len(groups)
        self.weight = [*groups.weights, *instance.exact.weights]
        self.inside = dict(groups.children)
        self.tasks = [Fraction(0)] * instance.N

    def ended(self) -> Rationals:
        """The tasks after the last event."""
        while self.step():
            pass
        return tuple(self.tasks)

    def step(self) -> bool:
        """Go to the next event; False where everybody is blocked."""
        used = [sum((own.get(r, 0) * u for own, u in zip(self.need, self.tasks, strict=True)), Fraction(0)) for r in self.rows]
        self.full = {r for r in self.rows if used[r] >= 1}
        self.vector: dict[int, list[Any]] = {}
        self.share: dict[int, Any] = {}
        self.blocked: set[int] = set()
        self.grown: dict[int, tuple[list[Any], Any, Any, list[int]]] = {}
        self._up(ROOT)
        if ROOT in self.blocked:
            return False
        rates: dict[int, Any] = {}
        times: list[Any] = []
        self._grow(ROOT)
        self._down(ROOT, Fraction(1), rates, times)
        growth = [sum((self.need[n].get(r, 0) * v for n, v in rates.items()), Fraction(0)) for r in self.rows]
        times += [(1 - used[r]) / growth[r] for r in self.rows if growth[r] > 0 and r not in self.full]
        times += [(limit - self.tasks[n]) / v for n, v in rates.items() if (limit := self.limit[n]) is not None]
        time = min(times)
        for n, v in rates.items():
            self.tasks[n] += time * v
        return True

    def _up(self, k: int) -> None:
        """Step 2 for a node: vector, share, blocked, and for a group its M, the children at it, and how all grows with M."""
        if k >= self.first:
            n = k - self.first
            self.vector[k] = [self.need[n].get(r, Fraction(0)) * self.tasks[n] for r in self.rows]
            self.share[k] = max(self.vector[k])
            if self.full & self.need[n].keys() or self.tasks[n] == self.limit[n]:
                self.blocked.add(k)
            return
        children = self.inside[k]
        for j in children:
            self._up(j)
        free = [j for j in children if j not in self.blocked]
        least = min((self.share[j] / self.weight[j] for j in free), default=Fraction(0))
        scale = {j: self.weight[j] * least / self.share[j] if j in free and self.share[j] else Fraction(1) for j in children}
        self.vector[k] = [sum((scale[j] * self.vector[j][r] for j in children), Fraction(0)) for r in self.rows]
        self.share[k] = max((self.vector[k][r] for r in self.rows if r not in self.full), default=Fraction(0))
        if not free:
            self.blocked.add(k)

    def _grow(self, k: int) -> tuple[list[Any], Any, Any, list[int]]:
        """Of a node that rises: how its vector and its share grow, how fast M does, and the children that rise."""
        self.grown[k] = self._of_user(k - self.first) if k >= self.first else self._of_group(k)
        return self.grown[k]

    def _of_user(self, n: int) -> tuple[list[Any], Any, Any, list[int]]:
        sigma = max(self.need[n].values())
        return [self.need[n].get(r, Fraction(0)) / sigma for r in self.rows], Fraction(1), Fraction(0), []

    def _of_group(self, k: int) -> tuple[list[Any], Any, Any, list[int]]:
        free = [j for j in self.inside[k] if j not in self.blocked]
        level = {j: self.share[j] / self.weight[j] for j in free}
        least = min(level.values())
        moving = [j for j in free if level[j] == least]
        grown = {j: self._grow(j) for j in moving}
        still = [j for j in moving if not grown[j][1]]
        others = [] if still else [j for j in free if j not in moving]
        parts = [[self.weight[j] * v / (grown[j][1] or 1) for v in grown[j][0]] for j in still or moving]
        parts += [[self.weight[j] * v / self.share[j] for v in self.vector[j]] for j in others]  # rescaled with M
        vector = [sum(column, Fraction(0)) for column in zip(*parts, strict=True)]
        largest = [vector[r] for r in self.rows if r not in self.full and self.vector[k][r] == self.share[k]]
        return vector, max(largest), Fraction(0 if still else 1), still or moving

    def _down(self, k: int, speed: Any, rates: dict[int, Any], times: list[Any]) -> None:
        """Step 3: the tasks that users get in a unit of time, and the times at which a group's children or resources meet."""
        vector, share, up, moving = self.grown[k]
        if k >= self.first:
            rates[k - self.first] = speed / max(self.need[k - self.first].values())
            return
        times += [gap / (speed * more) for gap, more in self._meetings(k, vector, share, up) if more > 0 and gap > 0]
        for j in moving:
            self._down(j, speed * self.weight[j] / (self.grown[j][1] if up else 1), rates, times)

    def _meetings(self, k: int, vector: Sequence[Any], share: Any, up: Any) -> Iterator[tuple[Any, Any]]:
        """Distances to the levels of siblings and of resources above, and how fast they shrink in a unit of speed."""
        level = [self.share[j] / self.weight[j] for j in self.inside[k] if j not in self.blocked]
        least = min(level)
        yield from ((own - least, up) for own in level)
        yield from ((self.share[k] - self.vector[k][r], vector[r] - share) for r in self.rows if r not in self.full)
