"""Whole tasks at size: SequentialMinMax, and filling up from the answer in fractions. Both place a task where it fits best.

`sequential-minmax` (Parkes, Procaccia, Shah 2015): of all users who can run one more task, the one whose weighted share is then
the least gets it. `best-fit` begins with the divisible answer rounded down. Then, of all users who can run one more, the
one with the least share gets it. A task fits best on the server of which least is left free, added up over what the task takes.

Each says how far its value is from that in fractions, which no whole tasks exceed.
"""

import heapq
from collections.abc import Iterator

import numpy as np

from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.whole_rounds import WholeRounds
from fairalloc.formulations.whole_tasks import WholeTasks
from fairalloc.models.allocation import Allocation
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Method, Session, Stopped
from fairalloc.solvers.solve import solve

ROUNDING = 1e-9
"""A task fits where it takes this part of a capacity more than is free, and a number of tasks that is whole to it is whole."""


class OneByOne(Session):
    """Tasks one by one, from what is whole; where `ahead` from nothing, users compared by the share that they would have."""

    mechanism: WholeTasks
    ahead = False

    def __post_init__(self) -> None:
        instance, arcs = self.instance, self.instance.arcs
        self.takes = arcs.load.T.tocsr()
        base = self.mechanism.base
        self.rate = base.rate(instance) if isinstance(base, Leximin) else 1.0 / instance.weights
        self.free = np.ones(instance.K * instance.R)

    def solve(self, round: None) -> tuple[Floats, None]:  # noqa: A002, ARG002 (one run)
        """Fill until nobody can run one more."""
        instance, arcs = self.instance, self.instance.arcs
        with self.phase("solve"):
            fractions = solve(instance, self.mechanism.base, time_limit=self.limits.left, threads=self.limits.threads)
            if not fractions.has_point:
                raise Stopped(fractions.termination, fractions.message)
            self.x = np.zeros_like(fractions.x) if self.ahead else np.floor(fractions.x + ROUNDING)
            if fractions.termination == "interrupted":
                raise KeyboardInterrupt
            self.free -= arcs.load @ self.x
            u = arcs.owner @ self.x
            heap = [(self.rate[n] * (u[n] + self.ahead), n) for n in range(instance.N)]
            heapq.heapify(heap)
            while heap:
                _, n = heapq.heappop(heap)
                if u[n] + 1 > instance.max_tasks[n] + ROUNDING or not self._placed(n):
                    continue
                u[n] += 1
                heapq.heappush(heap, (self.rate[n] * (u[n] + self.ahead), n))
                if self.limits.late:
                    raise Stopped("time_limit")
        self.message = "; ".join(self._distances(fractions))
        return self.x, None

    def _placed(self, n: int) -> bool:
        """Whether user n could run one more task, which is placed."""
        first, last = self.instance.arcs.owner.indptr[n : n + 2]
        part = slice(self.takes.indptr[first], self.takes.indptr[last])
        left, arcs = self.free[self.takes.indices[part]] - self.takes.data[part], self.takes.indptr[first:last] - part.start
        fits = np.flatnonzero(np.minimum.reduceat(left, arcs) >= -ROUNDING)
        if not len(fits):
            return False
        where = first + fits[np.argmin(np.add.reduceat(left, arcs)[fits])]
        self.x[where] += 1
        part = slice(self.takes.indptr[where], self.takes.indptr[where + 1])
        self.free[self.takes.indices[part]] -= self.takes.data[part]
        return True

    def _distances(self, fractions: Allocation) -> Iterator[str]:
        """What it reaches of each value of the answer in fractions, where that is one."""
        if not fractions.claims_success:
            yield f"the answer in fractions ended with {fractions.termination!r}"
            return
        known = self.mechanism.base.values(fractions)
        for name, value in self.mechanism.base.values(Allocation(self.instance, self.x)).items():
            if name in known:
                yield f"{name} is {value:.6g}, and {known[name]:.6g} in fractions"


class SequentialMinMax(OneByOne):
    """From nothing."""

    ahead = True


class WholeByFilling(Method):
    """One of the two."""

    kind = "approximate"
    at_once = True

    def __init__(self, name: str, session: type[OneByOne], kind: type[WholeTasks]) -> None:
        self.id, self.session, self.kinds = name, session, (kind,)


methods = (
    WholeByFilling("sequential-minmax", SequentialMinMax, WholeRounds),
    WholeByFilling("best-fit", OneByOne, WholeTasks),  # also the programs
)
