r"""How much a user's share can still rise: a bound from any prices, by weak duality (docs/theory/residuals.md).

With q_n(p) the cost of user n's cheapest task, any prices p >= 0 prove that no x' with v'_m >= min(v_m, v_n) for all m raises
v_n by more than

    excess_n = (sum_ir p_ir - sum_m y_m min(v_m, v_n)) / y_n,    y_n = q_n(p) phi_n / sigma_n                       (*)

nor above the user's own limit. Bad prices only make it larger. The rounds (solvers/lexicographic/rounds.py) fix a user when it
is 0 for the round's dual prices, and the residual of an allocation is the largest relative excess (rule.py).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

EPS = float(np.finfo(float).eps)

ROUNDING = 1e-15
"""A few units in the last place: a dual price below 1e-9 of the others proves nothing to 1e-6."""

SPARSE = 8
"""With more layers than this, one that prices less than one part in so many of all loads is computed from these alone."""


def feasible(instance: Instance, x: Floats) -> Floats:
    """The nearest allocation below x that the bound (*) may be used for: no negative tasks, everything shrunk to fit.

    Sums of n products are known to about sqrt(n) units in the last place; a load above 1 by no more is a load of 1.
    """
    x = np.maximum(x, 0.0)
    most = max((instance.arcs.load @ x).max(), (instance.arcs.totals(x) / instance.max_tasks).max())
    known = EPS * max(instance.N, instance.K) ** 0.5
    return x / most if most > 1.0 + known else x


def excess(instance: Instance, rate: Floats, v: Floats, prices: Floats, on: Round | None = None) -> Floats:
    """(N,) the bound (*) on the rise of each weighted share v (N,) of a feasible allocation, the best of the prices (T, K, R).

    On the face of a round, `on`, only its open arcs count, equations may have prices of either sign, and fixed users stay put.
    The sums are in floating point, so the gap is never taken to be less than ROUNDING times the prices.
    """
    best = np.maximum(rate * instance.max_tasks - v, 0.0)
    layers = prices.reshape(len(prices), -1)
    if on is None or not on.on_face:
        for users, worth, y, rounding in _priced(instance, np.maximum(layers, 0.0)):
            with np.errstate(over="ignore"):  # weights may be 1e300 apart
                best[users] = np.minimum(best[users], _gaps(worth, y / rate[users], v[users], rounding))
        return best
    for layer in layers:
        p = np.where(on.at_most, np.maximum(layer, 0.0), np.where(on.full, layer, 0.0))
        y = cheapest(instance, p, on.closed) / rate
        worth = float(p.sum() - (y * v)[~on.active].sum())
        best = np.minimum(best, _gaps(worth, np.where(on.active, y, 0.0), v, ROUNDING * float(np.abs(p).sum())))
    return best


def _gaps(worth: float, y: Floats, v: Floats, rounding: float) -> Floats:
    """(*) for the users of one layer of prices, sum_ir p_ir = `worth`; inf where y = 0, and for all where a y is out of range."""
    if not np.isfinite(y).all():
        return np.full_like(v, np.inf)
    order = v.argsort(kind="stable")
    own, level = y[order], v[order]
    upto = own.cumsum(dtype=np.longdouble)
    kept = (own * level).cumsum(dtype=np.longdouble) + level * (upto[-1] - upto)  # what is left of the difference below decides
    gap, result = np.empty(len(v)), np.full(len(v), np.inf)
    gap[order] = worth - kept
    np.divide(np.maximum(gap, rounding), y, out=result, where=y > 0)
    return result


def _priced(instance: Instance, layers: Floats) -> Iterator[tuple[Any, float, Floats, float]]:
    """Of each layer of prices (K R,): users whose cheapest task costs something, the sum of prices, these costs, and rounding.

    Where few loads are priced, only these are read: many layers with one price each cost together as much as one with all.
    """
    arcs = instance.arcs
    by_row = arcs.load.tocsr() if len(layers) > SPARSE else None
    for p in layers:
        worth, rows = float(p.sum()), p.nonzero()[0]
        if by_row is None or int(np.diff(by_row.indptr)[rows].sum()) * SPARSE > by_row.nnz:
            yield slice(None), worth, cheapest(instance, p), ROUNDING * worth
            continue
        parts = [slice(by_row.indptr[row], by_row.indptr[row + 1]) for row in rows]
        if parts:
            priced, which = np.unique(np.concatenate([by_row.indices[part] for part in parts]), return_inverse=True)
            costs = np.concatenate([by_row.data[part] * p[row] for row, part in zip(rows, parts, strict=True)])
            users, first, count = np.unique(arcs.user[priced], return_index=True, return_counts=True)
            paying = count == np.diff(arcs.owner.indptr)[users]  # a user who has an arc for nothing pays nothing
            if paying.any():
                least = np.minimum.reduceat(np.bincount(which, weights=costs), first)
                yield users[paying], worth, least[paying], ROUNDING * worth
