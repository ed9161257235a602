r"""The arrow: the linear system of every Newton step of this package, and what follows on users and arcs once prices are known.

Of max-min rounds, nb and fds (interior_point/), of the game for every alpha, ps-dsf and ps-dsf-tdm (game/central_path.py), with
unknowns p for rows (server, resource), l for users, and f for what flows away from arcs:

    f_a = theta_a (charge_a p - l_n)      for every arc a of user n         theta > 0;  charge_a has R numbers
    S p + load f = right                  for every row                     S >= 0
    E l - owner f = users                 for every user                    E >= 0

Eliminating f leaves an arrow with a diagonal shaft:

    [ P + S    -B   ] [p]   [right]       P = load diag(theta) charge       K blocks R x R
    [ -C^T   D + E  ] [l] = [users]       B = load diag(theta) owner^T,  C^T = owner diag(theta) charge      the coupling
                                          D = owner diag(theta) owner^T     diagonal

Where all charges are the loads the matrix is symmetric, and positive definite; in the game an arc is charged for prices by what
they change of its costs, and the factor is that of LU.

1. Sum theta by user: the shaft. Choose each user's pivot, its arc with the largest theta.
2. The weights of the blocks that remain when l is eliminated: theta (D + E - theta) / (D + E), the bracket of pivots without
   cancellation. A user with one arc in use thus costs neither digits nor a row.
3. Eliminate one side and factorise the rest (schur.py).
4. From p follow l, and f on all arcs. Where theta of a pivot tends to infinity, its f is lost in rounding; it is what the user's
   other arcs leave.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.kkt.loads import Loads
from fairalloc.solvers.kkt.schur import Factor, Plan, factorised


class Followed(NamedTuple):
    """What follows from prices: l (N,), charge p - l of the user (A,), and theta times that, the flow away from each arc."""

    l: Floats  # noqa: E741 (the letter above)
    reduced: Floats
    flow: Floats


class Elimination:
    """The arrow at one point; without `refined` the last digits are not kept, and there are no pivots.

    shaft : (N,) D + E, of `ends` E;  s : (K R,) S
    pivot, others : (N,) the arc of each user with the largest theta, and the shaft without that arc
    largest, rest : the arcs with their user's largest theta, of which there may be several, and the shaft without each
    factor : of what is left for the prices, once `factorise` was called, with these:
    own, twin_weights : (A,), (T,) with which the blocks of P - B (D + E)^-1 C^T on the diagonal are summed, without cancellation
    rho, border, along : of a term rho b b^T that is added to D + E, b (N,) and B (D + E)^-1 b (K R,), or rho = 0
    guards : added to diagonals before they are factorised, relative, one after the other where rounding leaves no positive pivot
    negligible : arcs with a smaller part of what their user's arcs have together couple nothing
    most : rows of a dense matrix, which without `refined` may be in single precision: that is twice as fast
    """

    pivot: Any  # an index of arrays (A,), of a stack (B, A)
    factor: Factor

    def __init__(self, loads: Loads, theta: Floats, ends: Floats, s: Floats, refined: bool = True) -> None:
        self.loads, self.theta, self.ends, self.s, self.refined = loads, theta, ends, s, refined
        self.shaft = loads.totals(theta) + ends  # 1
        if refined:
            self._choose_pivots()

    def _choose_pivots(self) -> None:
        """And what their users' shafts are without them, without cancellation."""
        loads, theta, users = self.loads, self.theta, len(self.ends)
        most = loads.most(theta)
        self.largest = np.flatnonzero(~(theta < loads.of_users(most)))  # those that are no numbers, too
        user = loads.user[self.largest]
        small = theta.copy()
        small[self.largest] = 0.0
        equal = np.bincount(user, minlength=users) - 1
        left = (loads.totals(small) + self.ends) + equal * most
        first = np.searchsorted(user, np.arange(users))
        self.pivot, self.rest, self.others = self.largest[first], left[user], left

    def factorise(
        self,
        plan: Plan,
        most: int,
        negligible: float,
        guards: Sequence[float] = (0.0,),
        border: tuple[float, Floats, Floats] | None = None,
    ) -> None:
        """Steps 2 and 3; LinAlgError where a symmetric matrix is not positive definite. `border` are rho, border and along."""
        shaft = self.loads.of_users(self.shaft)
        rest, part = shaft - self.theta, self.theta / shaft
        if self.refined:
            rest[self.largest] = self.rest
        one, two = self.loads.twins
        self.own, self.twin_weights = part * rest, -part[one] * self.theta[two]
        self.rho, self.border, self.along = border or (0.0, np.zeros(0), np.zeros(0))
        self.guards, self.negligible, self.most = tuple(guards), negligible, most
        self.factor = factorised(self.loads, self, plan)

    def at_fixed_prices(self, pushed: Floats, users: Floats) -> tuple[Floats, Floats]:
        """What arcs gain, theta (pushed - v) (A,), and v (N,), where p = 0; E v is the sum of a user's gains and `users`."""
        loads, pivot = self.loads, self.pivot
        wanted = self.theta * pushed
        own = wanted[pivot]
        wanted[pivot] = 0.0
        others = loads.totals(wanted) + users
        v = (others + own) / self.shaft
        flow = self.theta * (pushed - loads.of_users(v))
        flow[pivot] = self.theta[pivot] * (pushed[pivot] * self.others - others) / self.shaft
        return flow, v

    def follow(self, priced: Floats, pushed: Floats, users: Floats) -> Followed:
        """Step 4, from charge p (A,), its sums owner theta charge p (N,), and the right-hand side `users` (N,)."""
        l = (users + pushed) / self.shaft  # noqa: E741 (the letter above)
        reduced = priced - self.loads.of_users(l)
        flow = self.theta * reduced
        if self.refined:
            flow[self.pivot] = 0.0
            flow[self.pivot] = self.ends * l - users - self.loads.totals(flow)
        return Followed(l, reduced, flow)
