"""H-DRF: its events in rationals, and the algorithm as printed, task by task (formulations/h_drf.py)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.arguments import Rule
from fairalloc.models.exact.hierarchical_filling import hierarchical_filling
from fairalloc.models.input.groups import ROOT, Groups
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Method, Session
from fairalloc.solvers.options import AlgorithmOptions


@dataclass(frozen=True)
class TaskOptions(AlgorithmOptions):
    """Of the algorithm as printed.

    Attributes
    ----------
    task : the dominant share of one small task: the answer is off by some tasks, seldom by dozens, and takes a step for each
    """

    task: Annotated[float, Rule(lambda value: 0 < value <= 1, "above 0 and at most 1")] = 1e-3


class HierarchicalEvents(Method):
    """The events of divisible tasks, exactly."""

    id = "hierarchical-filling"
    kind = "exact"
    kinds = (HierarchicalDrf,)
    canonical = False

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats | None]:  # noqa: ARG002
        with session.phase("solve"):
            session.x_exact = hierarchical_filling(session.instance)
        return np.array(session.x_exact, dtype=float), None


class TaskByTask(Method):
    """The algorithm as printed: from the root to the child with the least share, until no task fits."""

    id = "task-by-task"
    kind = "approximate"
    kinds = (HierarchicalDrf,)
    canonical = False
    options = TaskOptions()

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats | None]:  # noqa: ARG002
        with session.phase("solve"):
            session.x = np.zeros(session.instance.N)
            cluster = _Cluster(session)
            while cluster.place(ROOT):
                _ = session.limits.left
        return session.x, None


class _Cluster:
    """The tree with what is used; `size` (N,) is the number of real tasks in a small one."""

    def __init__(self, session: Session) -> None:
        instance = session.instance
        groups = instance.groups or Groups.none(instance.N)
        self.x, self.limit, self.load = session.x, instance.max_tasks, instance.arcs.load.toarray()
        self.size = np.minimum(session.limits.own(TaskOptions).task / self.load.max(axis=0), instance.max_tasks)
        self.used, self.first, self.inside = np.zeros(instance.R), len(groups), dict(groups.children)
        self.weight = np.append(np.array(groups.weights, dtype=float), instance.weights)

    def place(self, k: int) -> bool:
        """Give one small task to a user of node k; False where none can have one."""
        self.fits = np.all(self.used[:, None] + self.load * self.size <= 1.0 + 1e-12, axis=0)
        self.fits &= self.x + self.size <= self.limit * (1.0 + 1e-12)
        self.full = ~np.any((self.load > 0) & self.fits, axis=1)  # resources of which no task can have more
        while k < self.first:
            share = {j: self._vector(j)[1] / self.weight[j] for j in self.inside[k] if not self._blocked(j)}
            if not share:
                return False
            k = min(share, key=lambda j: share[j])
        self.x[k - self.first] += self.size[k - self.first]
        self.used = self.load @ self.x
        return True

    def _blocked(self, k: int) -> bool:
        return all(map(self._blocked, self.inside[k])) if k < self.first else not self.fits[k - self.first]

    def _vector(self, k: int) -> tuple[Floats, float]:
        """What a node has, with children that are not blocked rescaled to the least of them, and its dominant share."""
        if k >= self.first:
            own = self.load[:, k - self.first] * self.x[k - self.first]
            return own, float(own.max())
        parts = {j: self._vector(j) for j in self.inside[k]}
        free = [j for j in parts if not self._blocked(j)]
        least = min((parts[j][1] / self.weight[j] for j in free), default=0.0)
        scale = {j: least * self.weight[j] / parts[j][1] if j in free and parts[j][1] > 0 else 1.0 for j in parts}
        total: Floats = sum((scale[j] * vector for j, (vector, _) in parts.items()), np.zeros(len(self.used)))
        return total, float(total[~self.full].max(initial=0.0))


methods = (HierarchicalEvents(), TaskByTask())
