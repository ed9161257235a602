r"""The face of a later round, and prices of the face made into prices that prove the round for every allocation.

Complementary slackness shows the face (formulations/lexicographic/linear_program.py says what it is): a row with a price is
full, and an arc dearer than the cheapest of its user is empty. The prices of a round on its face bound nothing outside the face;
a multiple of the prices of earlier rounds, which cost nothing in the bound (*) of weak_duality.py, makes up for that.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats


@dataclass
class Proofs:
    """Of each round so far the prices (K R,) >= 0 that prove it for all feasible x.

    `filled_by` (K R,) and `closed_by` (A,) are the rounds whose prices made rows full and arcs closed; -1 = none.
    """

    filled_by: NDArray[np.intp]
    closed_by: NDArray[np.intp]
    prices: list[Floats] = field(default_factory=list)

    @classmethod
    def none(cls, now: Round) -> "Proofs":
        """Before the first round."""
        return cls(np.full(len(now.full), -1), np.full(len(now.closed), -1))

    def add(self, prices: Floats, now: Round, later: Round) -> None:
        """The prices that prove the round `now`, after which the round `later` was solved."""
        self.filled_by[now.at_most & ~later.at_most] = len(self.prices)
        self.closed_by[later.closed & ~now.closed] = len(self.prices)
        self.prices.append(prices)

    def lifted(self, instance: Instance, prices: Floats, now: Round) -> Floats:
        """Prices (K R,) >= 0 that prove on all arcs and rows what the prices of a round prove on its face.

        The prices of an earlier round cost nothing in (*): its users are at their level, its rows are full. Enough of them make
        up for negative prices of rows that they filled, and keep the arcs that they closed dearer than the open ones. The last
        are added first, since they may change what the rows and arcs of rounds before them lack.
        """
        result = np.where(now.at_most, np.maximum(prices, 0.0), np.where(now.full, prices, 0.0))
        rounds = len(self.prices)
        while (rounds := self._last_lacking(instance, result, rounds)) >= 0:
            proof = self.prices[rounds]
            rows = (self.filled_by == rounds) & (proof > 0)
            short = float((-result[rows] / proof[rows]).max(initial=0.0))
            result = result + max(short, self._lacking(instance, result, rounds)) * proof
        return np.maximum(result, 0.0)

    def _last_lacking(self, instance: Instance, prices: Floats, before: int) -> int:
        """The last round `before` one that filled a row of negative price or closed an arc that is too cheap; -1 = none."""
        arcs = instance.arcs
        cheap = arcs.costs(prices) < cheapest(instance, prices, self.closed_by >= 0)[arcs.user]
        lacking = np.concatenate([self.filled_by[prices < 0], self.closed_by[cheap]])
        return int(lacking[lacking < before].max(initial=-1))

    def _lacking(self, instance: Instance, prices: Floats, k: int) -> float:
        """How many times the prices of round k make the arcs that it closed as dear as the open ones of their users."""
        arcs, closed = instance.arcs, (self.closed_by >= 0) & (self.closed_by <= k)
        cost, earlier = arcs.costs(prices), arcs.costs(self.prices[k])
        least, before = (cheapest(instance, p, closed)[arcs.user] for p in (prices, self.prices[k]))
        here = (self.closed_by == k) & (earlier > before)
        return float(((least - cost)[here] / (earlier - before)[here]).max(initial=0.0))


def next_face(instance: Instance, now: Round, x: Floats, prices: Floats, noise: float) -> Round:
    """The next round on the face that the last one's x (A,) and prices (K, R) show, by strict complementarity.

    Prices are measured in the level g they carry, where it is not 0; below `noise` they are 0. A row is full when its price
    exceeds its slack; an arc is closed when what the whole server costs above the user's cheapest arc exceeds the part of the
    server it has. One row that the others imply is left out.
    """
    arcs, p = instance.arcs, prices.ravel() / (now.level[~now.active].max() or 1.0)
    load = arcs.load @ x
    full = now.at_most & (p > np.maximum(1.0 - load, noise))
    q = cheapest(instance, p, now.closed)
    dear = arcs.costs(p) - q[arcs.user]
    closed = now.closed | (dear * arcs.gamma > np.maximum(x / arcs.gamma, noise))
    # Whoever has an open arc on a priced row pays there, however little: cheap tasks are no noise.
    priced = full | (now.full & (np.abs(p) > noise))
    paying = (arcs.load[priced].sum(axis=0) > 0) & ~closed & now.active[arcs.user]
    implied = now.implied.copy()
    if full.any() and not paying.any():
        implied[np.argmax(np.where(full, p, 0.0))] = True
    return replace(now, closed=closed, full=(now.full | full) & ~implied, implied=implied, on_face=True)
