r"""Constraint reduction: the arcs that an iteration of program.py needs, and what the others do (Tits, Absil and Woessner 2006).

Of N K arcs about N + K (R - 1) carry something at the answer. An arc that carries a small part of what its user has, and costs
more than the user pays, has a small theta = x / d, which changes hardly anything in the Newton system. So

1. Keep the arcs with  x_a / u_n >= KEPT d_a / y_n, where u_n is what user n has and y_n what it pays; those whose d has fallen to
   FALLING of what it was an iteration before, as that of an arc in use does, while that of the others tends to a constant (the
   indicators of El-Bakry, Tapia and Zhang 1994); and of each user the arc with the largest theta.
2. The others go to  x_a = FOLLOWING mu / d_a,  mu the mean product of the arcs that are kept; what they load then, and add to
   shares, is taken from the right-hand sides.
3. The step on the arcs that are kept is that of an arrow which has no others.
4. The d of the others follows from p, y and z.

So all equations hold as after a Newton step. Where the others shorten the step, as those of many equal answers do, or the error
rises, as it does where a server has too few arcs left to fix its prices, this and all later iterations are done with all arcs.
"""

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.loads import BlockLoads

KEPT, ROOM = 0.1, 0.3
"""The ratio of 1, and the part of it that arcs chosen anew have, so that the choice serves for several iterations."""

FALLING, STALE = 0.5, 0.5
"""The part of its d before below which an arc is needed; the part of the arcs kept that must be, else they are chosen anew."""

FOLLOWING = 0.03
"""The part of mu that the products of the other arcs are to have: about what mu is after the next one or two steps."""

BLOCKED, RISES = 0.5, 3.0
"""The part of a step on the arcs that are kept which the others must allow, and how many times its error a point may have."""

WORTHWHILE, GRID, FEWEST = 0.7, 0.4, 25_000
"""The part of the arcs of a list, and of a grid (BLAS-3), up to which fewer are faster; the arcs from which on choosing pays."""

DIGITS = 1e-8
"""The error from which on all arcs are kept: the last digits are those of all products."""


class KeptArcs:
    """The choice of step 1: which arcs are `kept` (A,), at first all, and `before` (A,), d of the iteration before."""

    def __init__(self, loads: BlockLoads) -> None:
        self.loads, self.kept = loads, np.ones(len(loads), bool)
        self.before: Floats | None = None

    def choose(self, x: Floats, d: Floats, pays: Floats, open_: NDArray[np.bool_]) -> bool:
        """Step 1 at x, d (A,), where users pay (N,); whether the arcs that are kept are others than before."""
        before, self.before = self.before, d
        if before is None:
            return False
        of = self.loads.of_users
        has, costs = x * of(pays), KEPT * d * of(self.loads.totals(x))
        needed = open_ & ((has >= costs) | (d < FALLING * before))
        if self.kept[needed].all() and np.count_nonzero(needed) >= STALE * np.count_nonzero(self.kept):
            return False
        theta = np.divide(x, d, out=np.full(len(x), -1.0), where=open_)
        self.kept = needed | (open_ & (has >= ROOM * costs)) | (theta == of(self.loads.most(theta)))
        return True
