"""Dual solutions in rationals that prove an exact answer: the method `exact` computes them, certificates contain them."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from fairalloc.models.exact.rationals import ExactArcs, Rationals


@dataclass(frozen=True)
class ExactRound:
    """Dual solution of one lexicographic round, which proves that its users cannot rise above its level.

    level, users : g, and the indices of the users that the round fixes
    prices : (K R,) p, in parts of capacity; 0 where the users are fixed by their own limits alone
    worth : (N,) y_n = q_n / rate_n, what a unit of weighted share costs at these prices; 1 for all active users together
    """

    level: Fraction
    users: tuple[int, ...]
    prices: Rationals
    worth: Rationals


@dataclass(frozen=True)
class ExactNestedRound:
    """Dual solution of one round of nested max-min fairness, which proves that its nodes cannot rise above its level.

    level, nodes : g, and the nodes that the round fixes, groups first and then users
    prices, limits : (K R,) p and (N,) z, in parts of capacity
    rising, floors : (G + N,) what a unit of level is worth of active nodes, 1 for all together, and of those that keep a floor
    """

    level: Fraction
    nodes: tuple[int, ...]
    prices: Rationals
    limits: Rationals
    rising: Rationals
    floors: Rationals


@dataclass(frozen=True)
class ExactProgram:
    """Dual solution of one linear program over tasks, which proves the objective `value`.

    prices : (K R,) p, in parts of capacity
    worth : (N,) what a task adds to the objective; for max-min, the weight of the user in the bound times its rate
    limits : (N,) z, what one more task would be worth to a user beyond its price; 0 without a limit
    """

    value: Fraction
    prices: Rationals
    worth: Rationals
    limits: Rationals


@dataclass(frozen=True)
class ExactLayer:
    """Prices (R,) p >= 0 of sum 1, in parts of capacity, at server i that keep users of PS-DSF with variants from more."""

    server: int
    prices: Rationals

    def cost(self, arcs: ExactArcs, a: int) -> Fraction:
        """What a task on arc a of the server costs."""
        first = self.server * len(self.prices)
        return sum((part * self.prices[row - first] for row, part in arcs.load[a]), Fraction(0))

    def cheapest(self, arcs: ExactArcs, here: Iterable[int], user: int) -> Fraction:
        """c_n(p), the cost of the user's cheapest task among the arcs `here`, those of the server."""
        return min(self.cost(arcs, a) for a in here if arcs.user[a] == user)
