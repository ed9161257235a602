r"""`josephy-newton`: the game as a sequence of linear complementarity problems (Josephy 1979; K 28-29, finite alpha).

One step, within the outer iteration of complementarity.py:

1. At v replace the functions F = (E, slack) by their linearisation F(v) + J (z - v).
2. Solve the linear complementarity problem  0 <= z complements F(v) + J (z - v) >= 0  by Lemke's method, with the variables
   where v > F as a first guess of the basic ones.
3. Line search on |Phi|^2 between v and z, as in the solver PATH (Dirkse and Ferris 1995): the next v is the first of t = 1, 1/2,
   1/4, ... whose merit is small enough against the largest of the last steps.
4. Where Lemke's method ends on a ray or no t is small enough, take J + rho I for J with the next larger rho, so that z is closer
   to v, and go to 2.

**Lemke's method** (`lemke`) for w = M z + q,  0 <= z complements w >= 0, with the artificial variable z_0:

1. The basis is w, and z where it is guessed to be positive. If the basic solution is >= 0, it is the answer.
2. z_0 enters, and the basic variable with the least value leaves.
3. The complement of the variable that left enters.
4. Ratio test, with ties broken lexicographically. If no row limits the entering variable, the method ends on a ray.
5. Pivot. If z_0 left, the basic solution is the answer; otherwise go to 3.

Pivots work on a dense tableau with a row for every arc and every price, so the method is for games of some hundred arcs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.complementarity import (
    AlphaContinuation,
    Complementarity,
    ComplementarityMethod,
    ComplementarityOptions,
    Linearization,
)

RHO = (0.0, 1e-4, 1e-2, 1.0, 100.0)
"""What is added to the diagonal of the Jacobian of the complementarity problem, tried in this order."""

ZERO, TIED, LARGE = 1e-13, 1e-11, 1e10
"""In Lemke's method: right-hand sides and entries up to these are 0; with an entry above the last a guess is not followed."""


class JosephySession(AlphaContinuation):
    def next_point(self, problem: Complementarity, here: Linearization, allowed: float) -> Floats | None:
        J = here.J.toarray()  # 1
        for rho in RHO:  # 4
            M = J + rho * np.eye(len(J))
            z = lemke(M, here.F - M @ here.v, here.v > here.F, 4 * len(J), lambda: self.limits.left)  # 2
            if z is None:
                continue
            d = np.maximum(z, 0.0) - here.v
            for part in 0.5 ** np.arange(8):  # 3
                v: Floats = here.v + part * d
                if problem.value(v).merit <= (1.0 - 0.1 * part) * allowed:
                    return v
        return None


def lemke(M: Floats, q: Floats, guess: NDArray[np.bool_], most: int, tick: Callable[[], Any] = bool) -> Floats | None:
    """The z >= 0 with M z + q >= 0 and z (M z + q) = 0, by Lemke's method; None on a ray or after so many pivots.

    `guess` (n,) says which z are positive: the basis begins with them, so few pivots are left, unless that has large numbers.
    The lexicographic order breaks ties, so that degenerate problems do not cycle (Cottle, Pang, Stone 1992, 4.4 and 4.9). `tick`
    is called at each pivot.
    """
    size, w = len(q), np.eye(len(q))
    try:
        T = np.linalg.solve(np.where(guess, -M, w), np.column_stack([np.where(guess, w, -M), q]))  # 1
    except np.linalg.LinAlgError:
        T = np.full((size, size + 1), np.inf)
    if not np.abs(T).max() <= LARGE:  # nan too
        guess, T = np.zeros(size, bool), np.column_stack([-M, q])
    right = np.where(np.abs(T[:, -1]) < ZERO, 0.0, T[:, -1])
    T, basis = np.column_stack([w, T[:, :-1], -np.ones(size), right]), np.arange(size)
    if (right < 0).any() and not _pivoted(T, basis, most, tick):
        return None
    value = np.zeros(2 * size)
    value[basis] = T[:, -1]
    return np.where(guess, value[:size], value[size:])


def _pivoted(T: Floats, basis: NDArray[np.intp], most: int, tick: Callable[[], Any]) -> bool:
    """Steps 2 to 5 on a tableau of the first basis, its complement, z_0 and the right-hand side; whether z_0 has left again."""
    size = len(T)
    row, entering = int(np.argmin(T[:, -1])), 2 * size  # 2
    for _ in range(most):
        tick()
        leaving, basis[row] = int(basis[row]), entering  # 5
        T[row] /= T[row, entering]
        column = T[:, entering].copy()
        column[row] = 0.0
        T -= np.outer(column, T[row])
        if leaving == 2 * size:
            return True
        entering = leaving + size if leaving < size else leaving - size  # 3
        if (found := _row(T, basis, entering)) is None:  # 4
            return False
        row = found
    return False


def _row(T: Floats, basis: NDArray[np.intp], entering: int) -> int | None:
    """The row that leaves: least ratio, the artificial variable first, then lexicographic."""
    size = len(T)
    rows = np.flatnonzero(T[:, entering] > TIED)
    if not len(rows):
        return None
    for place in (-1, *range(size)):
        ratio = T[rows, place] / T[rows, entering]
        rows = rows[ratio <= ratio.min() + TIED]
        if place == -1 and (basis[rows] == 2 * size).any():
            return int(rows[basis[rows] == 2 * size][0])
        if len(rows) == 1:
            break
    return int(rows[0])


class JosephyNewton(ComplementarityMethod):
    """Successive linear complementarity; the trace has `iteration`, `merit`, `residual` and `seconds` for the last alpha."""

    id = "josephy-newton"
    options = ComplementarityOptions(max_steps=60)  # each is a whole problem
    session = JosephySession
    largest = 1500  # a pivot costs its square


methods = (JosephyNewton(),)
