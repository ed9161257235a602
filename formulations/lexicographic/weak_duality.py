r"""How much a user's share can still rise: a bound from any prices, by weak duality.

Any prices p >= 0 on the capacities give every user the cost q_n(p) of its cheapest task, and for every feasible x'

    sum_n y_n v'_n <= sum_ir p_ir,    y_n = q_n(p) phi_n / sigma_n            (weak duality, capacities scaled to 1).

So no x' that leaves every m at min(v_m, v_n) or more can raise v_n by more than

    excess_n = (sum_ir p_ir - sum_m y_m min(v_m, v_n)) / y_n                                                      (*)

nor above the user's own limit. The bound (*) is a proof that needs no solver, whoever handed the prices over; bad prices can
only make it larger. The rounds (solvers/lexicographic/rounds.py) fix a user when it is 0 for the round's dual prices, and the
residual of an allocation is the largest relative excess (rule.py).
"""

from typing import Any

import numpy as np

from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

__all__ = ["excess", "feasible"]

ROUNDING = 1e-15
"""A few units in the last place: a dual price below 1e-9 of the others proves nothing to 1e-6."""


def feasible(instance: Instance, x: Floats) -> Floats:
    """The nearest allocation below x that the bound (*) may be used for: no negative tasks, everything shrunk to fit."""
    x = np.maximum(x, 0.0)
    load = (instance.arcs.load @ x).max(initial=0.0)
    limit = ((instance.arcs.owner @ x) / instance.max_tasks).max(initial=0.0)
    result: Floats = x / max(1.0, load, limit)
    return result


def excess(instance: Instance, rate: Floats, v: Floats, prices: Floats, on: Round | None = None) -> Floats:
    """The bound (*) on how much each weighted share of a feasible allocation can be raised, the best over layers of prices.

    On the face of a round only its open arcs count, equations may have prices of either sign, and fixed users stay put. The sums
    are in floating point, so the gap is never taken to be less than ROUNDING times the prices.

    Parameters
    ----------
    instance : the domain of the rule
    rate : (N,) the weighted share of one task
    v : (N,) the weighted shares of the allocation
    prices : (T, K, R) layers of prices >= 0 in shares of capacity
    on : the round on whose face the bound is for; None = all feasible allocations

    Returns
    -------
    (N,) in weighted shares
    """
    best: Any = np.maximum(rate * instance.max_tasks - v, 0.0)
    order = np.argsort(v, kind="stable")
    face = on if on is not None and on.on_face else None
    for layer in prices.reshape(len(prices), -1):
        p, y, worth = _anywhere(instance, rate, layer) if face is None else _on_face(instance, rate, v, layer, face)
        below = np.cumsum((y * v)[order])
        above = y.sum() - np.cumsum(y[order])
        kept = np.empty_like(v)
        kept[order] = below + v[order] * above
        gap = np.maximum(worth - kept, ROUNDING * np.abs(p).sum())
        best = np.minimum(best, np.divide(gap, y, out=np.full_like(v, np.inf), where=y > 0))
    result: Floats = best
    return result


def _anywhere(instance: Instance, rate: Floats, layer: Floats) -> tuple[Floats, Floats, float]:
    """Prices (K R,), y (N,), and what all capacities are worth at these prices."""
    p = np.maximum(layer, 0.0)
    return p, cheapest(instance, p) / rate, float(p.sum())


def _on_face(instance: Instance, rate: Floats, v: Floats, layer: Floats, on: Round) -> tuple[Floats, Floats, float]:
    """The same on the face of a round, with what the users who stay put pay taken from the worth."""
    p = np.where(on.at_most, np.maximum(layer, 0.0), np.where(on.exactly, layer, 0.0))
    y = cheapest(instance, p, on.closed) / rate
    worth = p @ np.where(on.exactly, on.full, 1.0) - (y * v)[~on.active].sum()
    return p, np.where(on.active, y, 0.0), float(worth)
