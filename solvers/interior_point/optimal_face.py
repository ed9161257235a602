r"""From a point near the answer of a max-min round to the answer: a projection onto the optimal face (Mehrotra and Ye 1993).

1. Guess, number by number, which of each complementary pair is 0: arcs with d above x (both in parts of what their user has and
   pays; of one who pays nothing in parts of the largest y, because then d is 0 on its arcs too), rows with p above s, users with
   y above t.
2. Primal: the least change of x, each arc in units of its own x, after which the rows with a price are full and the users with a
   price have exactly the level g.
3. Dual: the prices of these rows and users for which the open arcs' d is smallest, squared and weighted by x^2.
4. Compute s, t and d from x, g, p and y; what is negative counts as a residual.

Both are solves with one arrow, in which theta = x^2 on open arcs. Unlike x / d it does not span 28 orders of magnitude, so rows
are met to rounding. The error of the new point says whether the guess was right.
"""

import numpy as np
from numpy.typing import NDArray

from fairalloc.solvers.interior_point.iterates import NOTHING, PrimalDual, Residuals
from fairalloc.solvers.interior_point.program import ArrowProgram
from fairalloc.solvers.interior_point.system import NEVER, ArrowSystem

IDLE = 1e3
"""A fixed user pays nothing where its y times its share is less than this times the mean product."""


def projected(arrow: ArrowProgram, now: PrimalDual, lack: Residuals) -> PrimalDual | None:
    """The point of the face that `now` shows; None where a user's limit counts, or it shows a user without an arc."""
    if arrow.split(arrow.paired)[3].any():
        return None
    free, (x, s, t, r) = _guess(arrow, now), arrow.split(now.primal)  # 1
    if not arrow.loads.totals(arrow.split(free)[0].astype(float)).all():
        return None
    weights = np.concatenate([x**2, np.full(len(s) + len(t), NEVER), r])
    ratio = np.where(free, weights, 0.0)
    at = PrimalDual(ratio, np.ones(len(ratio)), now.g)
    system = ArrowSystem(arrow, at, arrow.exact)
    moved = system.step(at, lack._replace(arcs=NOTHING.arcs, g=0.0), np.where(free, 0.0, -now.primal))  # 2
    priced = system.step(at, NOTHING._replace(arcs=lack.arcs, g=lack.g), -ratio * now.dual)  # 3
    return _completed(arrow, now.after(PrimalDual(moved.primal, priced.dual, moved.g), 1.0, 1.0), free)


def _guess(arrow: ArrowProgram, now: PrimalDual) -> NDArray[np.bool_]:
    """(A + K R + 2 N,) which arcs, rows' slacks and users' surpluses may be positive."""
    (x, s, t, _), (d, p, y, _) = arrow.split(now.primal), arrow.split(now.dual)
    open_, at_most, active, capped = arrow.split(arrow.paired)
    u, of = np.maximum(arrow.loads.totals(x), NEVER**-1), arrow.loads.of_users
    above = active & (t * y.max(initial=0.0) > y * now.g)
    idle = above | (~active & (np.abs(y) * u < IDLE * arrow.mu(now)))
    pays = np.where(idle, y.max(initial=0.0), np.abs(y))
    in_use, slack = open_ & (x * of(pays) > d * of(u)), at_most & (s * p.max(initial=0.0) > p)
    return np.concatenate([in_use, slack, above, capped])


def _completed(arrow: ArrowProgram, now: PrimalDual, free: NDArray[np.bool_]) -> PrimalDual:
    """Step 4."""
    (x, _, _, r), (_, p, y, z) = arrow.split(now.primal), arrow.split(now.dual)
    (open_, at_most, active, _), (in_use, slack, above, _) = arrow.split(arrow.paired), arrow.split(free)
    x = np.where(in_use, np.maximum(x, 0.0), 0.0)
    p = np.where(at_most, np.where(slack, 0.0, np.maximum(p, 0.0)), p)
    y = np.where(active, np.where(above, 0.0, np.maximum(y, 0.0)), y)
    s = np.where(at_most, np.maximum(arrow.right - arrow.loads.rows(x), 0.0), 0.0)
    t = np.where(active, np.maximum(arrow.loads.totals(x) - arrow.raised * now.g - arrow.level, 0.0), 0.0)
    d = np.where(open_, np.maximum(arrow.reduced(p, y), 0.0), 0.0)
    return PrimalDual(np.concatenate([x, s, t, r]), np.concatenate([d, p, y, z]), now.g)
