"""The numbers that prove an exact answer: what the method `exact` finds and a certificate holds."""

from dataclasses import dataclass
from fractions import Fraction

from fairalloc.models.rationals import Rationals

__all__ = ["ExactProgram", "ExactRound"]


@dataclass(frozen=True)
class ExactRound:
    """What proves one round of formulations/lexicographic/rule.py: the users it fixes have the level and can have no more.

    Attributes
    ----------
    level : g
    users : who is fixed
    prices : (K R,) p, in parts of capacity; 0 where the users are fixed by their own limits alone
    worth : (N,) y_n = q_n / rate_n, what a unit of weighted share costs at these prices; 1 for all active users together
    """

    level: Fraction
    users: tuple[int, ...]
    prices: Rationals
    worth: Rationals


@dataclass(frozen=True)
class ExactProgram:
    """What proves the optimum of one linear program over tasks.

    Attributes
    ----------
    value : the objective
    prices : (K R,) p, in parts of capacity
    worth : (N,) what a task adds to the objective; for max-min, the weight of the user in the bound times its rate
    limits : (N,) z, what one more task would be worth to a user beyond its price; 0 without a limit
    """

    value: Fraction
    prices: Rationals
    worth: Rationals
    limits: Rationals
