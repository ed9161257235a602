r"""`progressive-filling`: water filling by events (K Def 1, W 2 and 5.1; Ghodsi et al., NSDI 2011, Algorithm 1, made continuous).

Every user has one arc: one way to run a task and one server to run it on, so tasks and arcs are the same, x_n = u_n. All active
users rise together, v_n = sigma_n x_n / phi_n = g. Row r (resource r of server i) takes the load

    sum over stopped n of load_rn x_n  +  g sum over active n of load_rn phi_n / sigma_n

and the next event is at the least of the levels

    g_r = (1 - sum over stopped n of load_rn x_n) / (sum over active n of load_rn phi_n / sigma_n)    row r is full
    g_n = sigma_n max_tasks_n / phi_n                                                                 all tasks of user n run

Users who need the full row, or whose tasks all run, stop there; others go on. Every event stops somebody, so there are at most
N of them, and nothing is iterated: the answer is right up to rounding.

**Prices.** The event that fills row r gives the price layer p = e_r: 1 for row r, 0 for all others. Then the bound (*) of
formulations/lexicographic/rule.py has y_m = load_rm phi_m / sigma_m, and for a user n who stops at the level g_r

    1 - sum_m y_m min(v_m, v_n) = 1 - sum_m load_rm x_m = 0

because nobody who needs row r rises after it is full, v_m <= g_r = v_n wherever y_m > 0, and the row is full. So the layer of its
event proves that each stopped user is stuck; those whose tasks all run need no proof.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Method, Session
from fairalloc.solvers.options import AlgorithmOptions


@dataclass(frozen=True)
class ProgressiveFillingOptions(AlgorithmOptions):
    """Of the events.

    Attributes
    ----------
    tied : levels that differ by less than this part are one event: what is equal in the data is not equal after rounding
    """

    tied: float = 1e-12


class Filling(Session):
    """The users of an instance with one arc each, rising together."""

    def __init__(self, mechanism: Leximin, instance: Instance, limits: Limits) -> None:
        super().__init__(instance, limits)
        with self.phase("build"):
            self.load = instance.arcs.load
            self.rate = mechanism.rate(instance)  # sigma_n / phi_n
        with self.phase("compile"):
            self.demand = sp.csr_array(self.load @ sp.diags_array(1.0 / self.rate))  # load_rn phi_n / sigma_n

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002, ARG002 (all rounds in one)
        """All events; the prices have a layer for each row that filled up."""
        with self.phase("solve"):
            filled = self._fill()
        with self.phase("read"):
            prices = np.zeros((max(len(filled), 1), self.load.shape[0]))
            prices[np.arange(len(filled)), filled] = 1.0
        return self.x, prices.reshape(-1, self.instance.K, self.instance.R)

    def _fill(self) -> list[int]:
        """Run the events; the rows in the order in which they fill up."""
        active, tied = np.ones(self.instance.N, bool), self.limits.own(ProgressiveFillingOptions).tied
        filled: list[int] = []
        self.x = np.zeros(self.instance.N)
        while active.any() and self.limits.left:
            rows, users = self._levels(active)
            g = min(rows.min(), users.min())
            self.x = np.where(active, np.minimum(g / self.rate, self.instance.max_tasks), self.x)
            full, done = np.flatnonzero(rows <= g * (1.0 + tied)), active & (users <= g * (1.0 + tied))
            stuck = active & ~done & (self.load[full].sum(axis=0) > 0)
            self._note(float(g), full, stuck, done)
            filled += full.tolist()
            active &= ~(stuck | done)
            self.count(1)
        return filled

    def _levels(self, active: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The levels g_r (K R,) and g_n (N,) at which rows fill up and users run out; inf where they never do."""
        rising = self.demand @ active
        left = 1.0 - self.load @ np.where(active, 0.0, self.x)
        rows = np.divide(np.maximum(left, 0.0), rising, out=np.full_like(left, np.inf), where=rising > 0)
        return rows, np.where(active, self.rate * self.instance.max_tasks, np.inf)

    def _note(self, level: float, full: NDArray[np.intp], stuck: NDArray[np.bool_], done: NDArray[np.bool_]) -> None:
        instance = self.instance
        self.note(
            level=level,
            filled=tuple((instance.servers[row // instance.R], instance.resources[row % instance.R]) for row in full),
            stopped=tuple(instance.users[n] for n in np.flatnonzero(stuck)),
            finished=tuple(instance.users[n] for n in np.flatnonzero(done)),
        )


class ProgressiveFilling(Method):
    """Lexicographic max-min fair shares where users have no choice of arcs: every pool, and servers that share no user.

    The trace has an event for each level: `level`, the rows `filled` as (server, resource), the users `stopped` by them, and
    those `finished`, whose tasks all run.
    """

    id = "progressive-filling"
    kind = "exact"
    options = ProgressiveFillingOptions()
    canonical = False  # only ratios of like quantities are compared, so levels can be told in the user's units

    def computes(self, mechanism: Mechanism) -> bool:
        """All of the lexicographic mechanisms; max-min alone needs no filling to the end."""
        return isinstance(mechanism, Leximin) and not isinstance(mechanism, MaxMin)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Every user has one arc in the mechanism's domain."""
        domain = mechanism.domain(instance)
        arcs = np.bincount(domain.arcs.user)
        for n in np.flatnonzero(arcs > 1)[:1]:
            return f"{self.id} needs one variant and one server for each user, but user {domain.users[n]!r} has {arcs[n]} choices"
        return ""

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Nobody has a task."""
        assert isinstance(mechanism, Leximin)
        return Filling(mechanism, instance, limits)

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats | None]:  # noqa: ARG002
        """All rounds at once."""
        return session.solve(None)


methods = (ProgressiveFilling(),)
