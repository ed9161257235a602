"""Schedulers of tasks: progressive filling (W 5.2), which differs by who goes first and on which machine the task runs.

Whenever tasks or room appeared, until no waiting task has room on any machine:

1. Of the users that have a waiting task with room, the one with the lowest priority goes first; of equal ones the lower number.
2. Of its waiting tasks with room, one of the job that arrived first is started on the machine that the scheduler chooses.

| id | priority | machine |
| --- | --- | --- |
| `best-fit-drfh` | global dominant share / weight | the least H(i, l) of (9) |
| `first-fit-drfh` | the same | the first with room |
| `two-choice-drfh` | the same | the lesser H(i, l) of two with room, drawn at random |
| `slots` | slots / weight | the first with so many free slots |
| `best-fit-ps-dsf` | the least virtual dominant share / weight on a machine with room (P 7) | the least H(i, l) of these |

A dominant share is that of all resources that a user's running tasks take together, as its tasks may demand different ones.
"""

import math
from collections.abc import Mapping
from inspect import isclass
from typing import Any

import numpy as np

from fairalloc.models.errors import InstanceError, UnknownName, no_such, shown
from fairalloc.models.numbers import Floats
from fairalloc.simulation.state import TaskState

__all__ = [
    "SCHEDULERS",
    "BestFitDRFH",
    "BestFitPSDSF",
    "FirstFitDRFH",
    "Scheduler",
    "Slots",
    "TwoChoiceDRFH",
    "as_scheduler",
    "find_scheduler",
]

NOWHERE = -1  # the machine of a task that no machine has room for


class Scheduler:
    """One's own scheduler derives from this and replaces `server`, and `priority` where the order of users is another one.

    A scheduler may keep what it likes from one call to the next; `begin` is called before each simulation.
    """

    id = ""
    by_machine = False
    """Whether `choose` finds more than `priority`: priorities that depend on the machine."""

    def sizes(self, demand: Floats, capacities: Floats) -> tuple[Floats, Floats]:
        """What the scheduler counts: (J, Q) of each job's task and (K, Q) of each class of machines; default the resources."""
        return demand, capacities

    def begin(self, state: TaskState) -> None:
        """Called once, before anything happens."""

    def priority(self, state: TaskState, user: int) -> float:
        """The lowest goes first; while tasks only start it must not fall. Default: as the global dominant share / weight."""
        return state.rank(user)

    def server(self, state: TaskState, job: int) -> int:
        """The number of a machine with room for a task of the job, or -1 where there is none; default the first one."""
        room = state.with_room(job)
        first = int(room.argmax())
        return first if room[first] else NOWHERE

    def choose(self, state: TaskState, user: int, job: int) -> tuple[float, int]:
        """The priority that the user has with the next task of this job, and the machine.

        Parameters
        ----------
        state : what is free, runs and waits
        user : a user
        job : its first job with a shape that may have room

        Returns
        -------
        At least `priority`, and the number of a machine with room, or -1
        """
        return self.priority(state, user), self.server(state, job)


class FirstFitDRFH(Scheduler):
    """W 5.2: the user with the lowest global dominant share, the first machine with room."""

    id = "first-fit-drfh"


class BestFitDRFH(Scheduler):
    """W 5.2: the machine with room whose free resources are most like the task's demand, by the heuristic (9)."""

    id = "best-fit-drfh"

    def server(self, state: TaskState, job: int) -> int:
        """The first of those with the least H(i, l)."""
        there = state.with_room(job).nonzero()[0]
        return state.best_fit(job, there) if len(there) else NOWHERE


class TwoChoiceDRFH(Scheduler):
    """W 5.2: of two machines with room, drawn at random, the one that fits the task better; as if probed until two have room."""

    id = "two-choice-drfh"

    def server(self, state: TaskState, job: int) -> int:
        """One of the two."""
        there = state.with_room(job).nonzero()[0]
        if len(there) == 0:
            return NOWHERE
        return state.best_fit(job, there[state.rng.integers(len(there), size=2)])


class Slots(Scheduler):
    """W 6.2: machines are divided into slots of a fixed part of every resource, as in Hadoop's Fair Scheduler.

    The largest machine, with the most of each resource, has `per_maximum` slots, any other as many as fit in it. W does not say
    how a task that is larger than a slot is treated: here it takes as many slots as cover it, but no more than the largest of
    the machines that have the resources; or, with `one_each`, always one slot, where machines must also have the resources. The
    user with the fewest slots / weight goes first.

    Parameters
    ----------
    per_maximum : slots of the largest machine; W finds 14 to be best
    one_each : whether a task takes one slot, whatever it demands
    """

    id = "slots"

    def __init__(self, per_maximum: int = 14, one_each: bool = False) -> None:
        if not isinstance(per_maximum, int) or per_maximum < 1:
            raise InstanceError(f"per_maximum is {shown(per_maximum)}, but it must be a positive integer")
        self.per_maximum, self.one_each = per_maximum, one_each

    def sizes(self, demand: Floats, capacities: Floats) -> tuple[Floats, Floats]:
        """Slots alone, or the resources and slots."""
        slot = capacities.max(axis=0) / self.per_maximum
        held = np.floor(_per_slot(capacities, slot, np.inf).min(axis=1) + ROUNDING)
        if self.one_each:
            ones = np.ones(len(demand))
            return np.column_stack([demand, ones]), np.column_stack([capacities, held])
        needed = np.ceil(_per_slot(demand, slot, 0.0).max(axis=1) - ROUNDING)
        most = np.ones(len(demand))
        for capacity, slots in zip(capacities, held, strict=True):
            most = np.where(np.all(demand <= capacity, axis=1), np.maximum(most, slots), most)
        return np.clip(needed, 1.0, most)[:, None], held[:, None]

    def priority(self, state: TaskState, user: int) -> float:
        """Slots / weight."""
        return state.used[user][-1] * state.per_weight[user]


ROUNDING = 1e-9  # parts of a slot that do not count: 0.3 / (1 / 10) is 3 slots


def _per_slot(values: Floats, slot: Floats, where_zero: float) -> Floats:
    """How many slots the values are, by resource; `where_zero` for resources that no machine has."""
    return np.divide(values, slot, out=np.full_like(values, where_zero), where=slot > 0)


class BestFitPSDSF(Scheduler):
    r"""PS-DSF for tasks: the user and the machine with the lowest virtual dominant share / weight go first.

    The virtual dominant share of user n on machine i is the part of machine i that all running tasks of n would take of it,
    s_ni = sum over its tasks of max_r d_r / c_ir, which is x_n / gamma_ni where all its tasks are equal (K 9, P 7). Machines of
    one class have one s_ni; of these, the one with the least H(i, l) of W (9) is chosen.
    """

    id = "best-fit-ps-dsf"
    by_machine = True

    def begin(self, state: TaskState) -> None:
        """Parts of a machine of each class that tasks of each shape take, as whole numbers; where it lacks a resource, too."""
        sizes, capacities = state.sizes[:, None, :], state.capacities.astype(object)
        common = math.lcm(*filter(None, capacities.ravel()))
        part = (sizes * (common // np.maximum(capacities, 1))).max(axis=2)
        largest = int(part.max(initial=0)) * int(state.workload.tasks.sum())
        self._part = part.astype(np.int64) if largest < 1 << 62 else part
        self._lacking = np.any((sizes > 0) & (capacities == 0), axis=2)
        self._known: dict[int, tuple[int, list[float]]] = {}

    def priority(self, state: TaskState, user: int) -> float:
        """The least over all classes of machines: a lower bound of what `choose` finds."""
        return min(self._shares(state, user))

    def choose(self, state: TaskState, user: int, job: int) -> tuple[float, int]:
        """The classes with room that have the least virtual dominant share, and of their machines the best fit."""
        there = state.with_room(job).nonzero()[0]
        if len(there) == 0:
            return math.inf, NOWHERE
        shares, classes = self._shares(state, user), state.server_class[there]
        here = np.bincount(classes, minlength=len(shares)).tolist()
        least = min(share for share, machines in zip(shares, here, strict=True) if machines)
        return least, state.best_fit(job, there[np.array([share == least for share in shares])[classes]])

    def _shares(self, state: TaskState, user: int) -> list[float]:
        """(K,) s_ni / phi_n by class, as whole numbers."""
        changes = state.changes[user]
        if user not in self._known or self._known[user][0] != changes:
            shapes, tasks = [*state.running[user]], np.array([*state.running[user].values()], dtype=self._part.dtype)
            taken, lacking = tasks @ self._part[shapes], self._lacking[shapes].any(axis=0)
            weight = state.per_weight[user]
            shares = [math.inf if off else part * weight for part, off in zip(taken.tolist(), lacking.tolist(), strict=True)]
            self._known[user] = changes, shares
        return self._known[user][1]


SCHEDULERS: Mapping[str, type[Scheduler]] = {
    kind.id: kind for kind in (Slots, FirstFitDRFH, BestFitDRFH, TwoChoiceDRFH, BestFitPSDSF)
}
"""Those of this package, by id."""


def as_scheduler(item: Any) -> Scheduler | None:
    """The scheduler that an object is, or that a class makes; None where it is none."""
    if isclass(item) and issubclass(item, Scheduler):
        return item()
    return item if isinstance(item, Scheduler) else None


def find_scheduler(chosen: Any, **parameters: Any) -> Scheduler:
    """The scheduler of an id, with parameters, or one's own: an object or a class that derives from `Scheduler`."""
    if isinstance(chosen, str):
        if chosen not in SCHEDULERS:
            raise UnknownName(no_such("scheduler", chosen, SCHEDULERS))
        try:
            return SCHEDULERS[chosen](**parameters)
        except TypeError:
            raise InstanceError(f"the scheduler {chosen!r} has not the parameters {', '.join(parameters)}") from None
    scheduler = as_scheduler(chosen)
    if scheduler is None:
        raise InstanceError(f"the scheduler is {shown(chosen)}, but it must be an id or derive from Scheduler")
    return scheduler
