r"""How far the tasks of an answer for nb or alpha-fair are from the right ones, by one Newton step of alpha_fair.py from it.

1. The answer's tasks and prices are a point (x, s, t, r; d, p, y, z): y_n is what the cheapest task of user n costs, z_n what its
   tasks are worth beyond that, where it is at its limit.
2. Products x d, s p and r z below their mean mu are raised to it: where both numbers are 0, nobody knows which is to grow.
3. The step towards products of 0 and towards what users demand: SAFETY times what it changes t_n by, relative, is the bound.

This is how each user's tasks answer, to first order, to what its own arcs and pools leave unmet; the square of the bound of
common/user_error.py is added for the second order. Where the answer is degenerate, a step goes half the way.
"""

import numpy as np

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.user_error import SAME
from fairalloc.models.allocation import Allocation
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.alpha_fair import AlphaFairArrow
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions, PrimalDual
from fairalloc.solvers.interior_point.program import why_not
from fairalloc.solvers.interior_point.system import ArrowSystem, Way
from fairalloc.solvers.kkt.schur import NEGLIGIBLE

SAFETY, LEAST = 10.0, float(np.finfo(float).eps)
"""The factor of step 3; mu is at least the second, where everything is worth 1."""


@np.errstate(all="ignore")
def errors_by_next_step(mechanism: AlphaFair, allocation: Allocation, errors: Floats) -> Floats:
    """(N,) bounds to first order on the relative error of each user's tasks; inf where there are none."""
    unknown = np.full(len(errors), np.inf)
    domain, options = mechanism.domain(allocation.instance), InteriorPointOptions()
    if allocation.prices is None or not np.isfinite(errors).all() or why_not("", domain, options):
        return unknown
    scaled, unit = mechanism.canonical(domain)
    arrow = AlphaFairArrow(mechanism, scaled).compile(options)
    now = _point(arrow, allocation.x / unit[scaled.arcs.user], allocation.prices)
    try:
        system = ArrowSystem(arrow, now, Way(arrow.plan, refined=True, negligible=NEGLIGIBLE))
        step = system.step(now, arrow.residuals(now), arrow.towards(now))
    except np.linalg.LinAlgError:
        return unknown
    users = arrow.parts[2]
    bound = SAFETY * np.abs(step.primal[users] / now.primal[users]) + errors**2
    return np.where(np.isfinite(bound), bound, np.inf)


def _point(arrow: AlphaFairArrow, x: Floats, prices: Floats) -> PrimalDual:
    """Steps 1 and 2; (A,) tasks and (K, R) prices, in any unit."""
    user, capped = arrow.instance.arcs.user, np.isfinite(arrow.limit)
    x = x / arrow.tasks[user]
    t = arrow.loads.totals(x)
    paid = arrow.c * t**-arrow.alpha
    p = np.maximum(prices.ravel(), 0.0)
    q = -arrow.loads.most(-arrow.loads.priced(p))
    r = np.where(capped, arrow.limit - t, 0.0)
    free = ~capped | (r > SAME * t)
    scale = (paid @ (t * free)) / (q @ (t * free)) if free.any() else 1.0
    p, q = scale * p, scale * q
    z = np.where(free, 0.0, np.maximum(paid - q, 0.0))
    y = q + z
    d = arrow.reduced(p, q)
    s = 1.0 - arrow.loads.rows(x)
    worth = float(y @ t)
    mu = max(float(x @ d + np.maximum(s, 0.0) @ p + r @ z) / arrow.central.sum(), LEAST * worth)
    x, d = _raised(x, d, t[user], mu)
    s, p = _raised(s, p, 1.0, mu)
    r, z = _raised(r, z, arrow.limit, mu)
    r, z = np.where(capped, r, 0.0), np.where(capped, z, 0.0)
    return PrimalDual(np.concatenate([x, s, t, r]), np.concatenate([d, p, y, z]), 0.0)


def _raised(primal: Floats, dual: Floats, unit: Floats | float, mu: float) -> tuple[Floats, Floats]:
    """Both at least so large that their product is mu; where both are smaller they become its root, the primal in its unit."""
    primal = np.maximum(primal, mu / np.maximum(dual, np.sqrt(mu) / unit))
    return primal, np.maximum(dual, mu / primal)
