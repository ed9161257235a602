"""Schedulers of tasks: progressive filling (W 5.2), which differs by who goes first and on which machine the task runs.

Whenever tasks or room appeared, until no waiting task has room on any machine:

1. Of the users that have a waiting task with room, the one with the lowest priority goes first; of equal ones the lower number.
2. Of its waiting tasks with room, one of the job that arrived first is started on the machine that the scheduler chooses.

Five are baselines. No task is ever stopped: they differ by who starts first. Under `shortest-job-first` and `random` the
jobs of a user go by that order, too, and not as they arrived.

A dominant share is that of all resources that a user's running tasks take together, as its tasks may demand different ones.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from inspect import isclass
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np

from fairalloc.models.arguments import Count, checked
from fairalloc.models.errors import InstanceError, UnknownName, callers, no_such, shown
from fairalloc.models.numbers import Floats
from fairalloc.simulation.state import NOWHERE, TaskState


class Scheduler:
    """One's own scheduler derives from this and replaces `server`, and `priority` where the order of users is another one.

    A scheduler may keep what it likes from one call to the next; `begin` is called before each simulation.
    """

    id = ""

    def sizes(self, demand: Floats, capacities: Floats) -> tuple[Floats, Floats]:
        """What the scheduler counts: (J, Q) of each job's task and (K, Q) of each class of machines; default the resources."""
        return demand, capacities

    def begin(self, state: TaskState) -> None:
        """Called once, before anything happens."""

    def job_order(self, state: TaskState) -> Sequence[int]:
        """All jobs in the order in which those of a user go first, asked once, after `begin`; default: as they arrived."""
        return range(len(state.workload))

    def changed(self, state: TaskState, user: int, shape: int, tasks: int) -> None:
        """Called when tasks of a user have started or stopped.

        Parameters
        ----------
        state : what is free, runs and waits, then
        user, shape : of the tasks
        tasks : how many; negative where they stopped
        """

    def priority(self, state: TaskState, user: int) -> float:
        """The lowest goes first; while tasks only start it must not fall. Default: as the global dominant share / weight."""
        return state.rank(user)

    def server(self, state: TaskState, job: int) -> int:
        """The number of a machine with room for a task of the job, or -1 where there is none; default the first one."""
        there = state.machines(job)
        return int(there[0]) if len(there) else NOWHERE

    def job_priority(self, state: TaskState, user: int, job: int) -> float:  # noqa: ARG002 (for others)
        """That of a user with its next job, the first that has room: at least `priority`, and by default the same.

        Where it is another one, `priority` is only a bound of it. While tasks start, that of one job must not fall.

        Parameters
        ----------
        state : what is free, runs and waits
        user, job : a user, and its first job with a shape that has room
        """
        return self.priority(state, user)


class FirstFitDRFH(Scheduler):
    """W 5.2: the user with the lowest global dominant share, the first machine with room."""

    id = "first-fit-drfh"


class BestFitDRFH(Scheduler):
    """W 5.2: the machine with room whose free resources are most like the task's demand, by the heuristic (9)."""

    id = "best-fit-drfh"

    def server(self, state: TaskState, job: int) -> int:
        """The first of those with the least H(i, l)."""
        return state.best_fit(job)


class TwoChoiceDRFH(Scheduler):
    """W 5.2: of two machines with room, drawn at random, the one that fits the task better; as if probed until two have room."""

    id = "two-choice-drfh"

    def server(self, state: TaskState, job: int) -> int:
        """One of the two."""
        return state.best_fit(job, state.rng.integers(len(state.machines(job)), size=2))


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

    @checked
    def __init__(self, per_maximum: Count = 14, one_each: bool = False) -> None:
        self.per_maximum, self.one_each = per_maximum, one_each

    def sizes(self, demand: Floats, capacities: Floats) -> tuple[Floats, Floats]:
        """Slots alone, or the resources and slots."""
        slot = capacities.max(axis=0) / self.per_maximum
        held = np.floor(_per_slot(capacities, slot, np.inf).min(axis=1) + ROUNDING)
        if self.one_each:
            ones = np.ones(len(demand))
            return np.column_stack([demand, ones]), np.column_stack([capacities, held])
        needed = np.ceil(_per_slot(demand, slot, 0.0).max(axis=1) - ROUNDING)
        most = np.where(np.all(demand[:, None] <= capacities, axis=2), held, 1.0).max(axis=1, initial=1.0)
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

    def begin(self, state: TaskState) -> None:
        """Parts of a machine of each class that tasks of each shape take, as whole numbers; where it lacks a resource, too."""
        sizes, capacities = state.sizes[:, None, :], state.capacities.astype(object)
        common = math.lcm(*filter(None, capacities.ravel()))
        self._part = (sizes * (common // np.maximum(capacities, 1))).max(axis=2)
        self._lacking = np.any((sizes > 0) & (capacities == 0), axis=2)
        self._first = np.concatenate(([0], np.cumsum(state.cluster.counts)))
        shape = len(state.workload.users), len(capacities)
        self._taken, self._off = np.zeros(shape, dtype=object), np.zeros(shape, dtype=np.int64)
        self._known: dict[int, list[float]] = {}

    def changed(self, state: TaskState, user: int, shape: int, tasks: int) -> None:  # noqa: ARG002
        """Keep the parts of machines that the user's tasks take."""
        self._taken[user] += tasks * self._part[shape]
        self._off[user] += tasks * self._lacking[shape]
        self._known.pop(user, None)

    def priority(self, state: TaskState, user: int) -> float:
        """The least over all classes of machines."""
        return min(self._shares(state, user))

    def job_priority(self, state: TaskState, user: int, job: int) -> float:
        """The least over the classes of machines with room."""
        return min((share for share, _, _ in self._here(state, user, job)), default=math.inf)

    def server(self, state: TaskState, job: int) -> int:
        """The best fit in the classes with room that have the least virtual dominant share."""
        here = self._here(state, int(state.workload.job_user[job]), job)
        least = min(here)[0]
        return state.best_fit(job, np.concatenate([np.arange(a, b) for share, a, b in here if share == least]))

    def _here(self, state: TaskState, user: int, job: int) -> list[tuple[float, int, int]]:
        """Of the classes with room the virtual dominant share, and from where to where their machines are in `machines`."""
        bounds = state.machines(job).searchsorted(self._first).tolist()
        shares = self._shares(state, user)
        return [(share, a, b) for share, (a, b) in zip(shares, pairwise(bounds), strict=True) if a < b]

    def _shares(self, state: TaskState, user: int) -> list[float]:
        """(K,) s_ni / phi_n by class, as whole numbers."""
        if user not in self._known:
            weight, taken, off = state.per_weight[user], self._taken[user].tolist(), self._off[user].tolist()
            self._known[user] = [math.inf if n else part * weight for part, n in zip(taken, off, strict=True)]
        return self._known[user]


class FIFO(BestFitDRFH):
    """The job that arrived first, whoever submitted it; those that have no room are passed over."""

    id = "fifo"

    def priority(self, state: TaskState, user: int) -> float:  # noqa: ARG002
        """None is known before the job is."""
        return -math.inf

    def job_priority(self, state: TaskState, user: int, job: int) -> float:  # noqa: ARG002
        """The place of the job in the order."""
        return state.job_rank[job]


class ShortestJobFirst(FIFO):
    """The job with the least work, tasks times duration; of equal ones the first."""

    id = "shortest-job-first"

    def job_order(self, state: TaskState) -> Sequence[int]:
        """By work, in rationals."""
        jobs = state.workload
        work = [Fraction(repr(time)) * tasks for time, tasks in zip(jobs.duration.tolist(), jobs.tasks.tolist(), strict=True)]
        return sorted(range(len(jobs)), key=work.__getitem__)


class Random(FIFO):
    """The jobs in an order that is drawn once, each task on a machine that is drawn from those with room."""

    id = "random"

    def job_order(self, state: TaskState) -> Sequence[int]:
        """Draw it."""
        return [*state.rng.permutation(len(state.workload)).tolist()]

    def server(self, state: TaskState, job: int) -> int:
        """Any with room."""
        there = state.machines(job)
        return int(there[state.rng.integers(len(there))]) if len(there) else NOWHERE


class LeastAttainedService(BestFitDRFH):
    """The user whose tasks have had the least of the cluster up to now: the dominant share of what they took over time / weight.

    What a user has had of a resource is units times seconds, of running, finished and lost tasks. The largest part of what all
    machines have counts.
    """

    id = "least-attained-service"

    def begin(self, state: TaskState) -> None:
        """Nobody has had anything."""
        self._before = [[0] * len(used) for used in state.used]  # less than used times now, in units times ticks

    def changed(self, state: TaskState, user: int, shape: int, tasks: int) -> None:
        """What was taken before now is kept."""
        now, before = _ticks(state.time), self._before[user]
        for q, size in enumerate(state.size[shape]):
            before[q] -= tasks * size * now

    def priority(self, state: TaskState, user: int) -> float:
        """It changes with time, but not when tasks start."""
        now = _ticks(state.time)
        each = zip(self._before[user], state.used[user], state.per_total, strict=True)
        return max((before + used * now) * part for before, used, part in each) * state.per_weight[user]


TICKS = 10**80  # parts of a second: of these all times above 1e-60 seconds are whole numbers, as the decimals that they print as


def _ticks(time: float) -> int:
    return int(Decimal(repr(time)) * TICKS)


class FinishTimeFair(FIFO):
    """The user whose next job is behind most, as Themis (Mahajan et al., NSDI 2020) serves, here without taking tasks back.

    A job that starts now has finish-time fairness 1 + (now - arrival) / T at best, where T is its `fair_durations` (metrics.py):
    the seconds that it runs alone on its user's part of all machines. The largest goes first.
    """

    id = "finish-time-fair"

    def begin(self, state: TaskState) -> None:
        """Seconds that each job would run alone."""
        jobs, weights = state.workload, [Fraction(repr(weight)) for weight in state.weights]
        parts = [Fraction(max(map(mul, size, state.per_total)), state.common) for size in state.size]
        each = zip(jobs.duration.tolist(), jobs.tasks.tolist(), state.shape, jobs.job_user.tolist(), strict=True)
        total = sum(weights)
        alone = (Fraction(repr(time)) * max(1, tasks * parts[f] * total / weights[n]) for time, tasks, f, n in each)
        self._alone = [seconds.as_integer_ratio() for seconds in alone]
        self._arrival = [*map(_ticks, jobs.arrival.tolist())]

    def job_priority(self, state: TaskState, user: int, job: int) -> Any:  # noqa: ARG002
        """Of the next job, as it arrived first; rounded down far below a tick, so that equal ones are equal."""
        above, below = self._alone[job]
        return (self._arrival[job] - _ticks(state.time)) * below * TICKS // above


PAPERS = (Slots, FirstFitDRFH, BestFitDRFH, TwoChoiceDRFH, BestFitPSDSF)
BASELINES = (FIFO, ShortestJobFirst, LeastAttainedService, FinishTimeFair, Random)
SCHEDULERS: Mapping[str, type[Scheduler]] = {kind.id: kind for kind in (*PAPERS, *BASELINES)}
"""Those of this package, by id."""


def as_scheduler(item: Any) -> Scheduler | None:
    """The scheduler that an object is, or that a class makes; None where it is none."""
    if isclass(item) and issubclass(item, Scheduler):
        with callers(f"the scheduler {item.__name__}()", "cannot be made"):
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
    if (own := as_scheduler(chosen)) is None:
        raise InstanceError(f"the scheduler is {shown(chosen)}, but it must be an id or derive from Scheduler")
    return own
