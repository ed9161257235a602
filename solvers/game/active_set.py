r"""Newton's method on the equations of the arcs and prices in use: how a solution near a guess is found to rounding error.

With the guess P of the arcs in use, Q of the resources with a price and H of the users at their limits it solves

    E_ni = 0 for P, n not in H,    slack_ir = 0 for Q,    left_n = 0 for H,    y = 0 and k = 0 elsewhere

One step, in the relative changes v of x_n, l of y, u of k:

1. Each user's pivot is its largest arc in P. Its equation gives v = - (E + sum_r share u) / pull, or left_n = 0 does, and
   x_n v_n = sum_i gamma_ni y_ni l_ni gives its l.
2. The other arcs of P are about K (R - 1); their equations A u = a have the u alone. Least squares by a singular value
   decomposition, u = u_0 + Z t, with Z the directions that A does not see.
3. The rows of Q: B (u_0 + Z t) + C l = slack, the step of least norm in t and in the l of the other arcs: where prices or tasks
   are not unique the equations are dependent.

After each step the guesses are corrected as in a semismooth method: P = where N y > E, Q = where k > slack. The method ends where
the residual is no longer halved: near a solution it is squared.

docs/reference/derivations.md says what is done about ties.
"""

from typing import NamedTuple

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.equations import Booleans, LevelEquations, NewtonSession
from fairalloc.solvers.kkt.loads import largest_of_users

MOST, LARGEST = 12_000, 5e7
"""Arcs in use, and arcs times servers times resources, up to which steps are taken: A and C are dense."""

ROUNDING, DEPENDENT, SMALL = 1e-14, 1e-9, 1e-3
"""The residual up to which no step is taken; the part of the largest below which singular values count as 0, as they change
levels by less than the target; the part of what any user pays below which a price falls linearly."""


class Guess(NamedTuple):
    """Arcs in use (A,), resources with a price (K, R), users at their limits (N,)."""

    arcs: Booleans
    rows: Booleans
    held: Booleans

    def corrected(self, levels: LevelEquations, y: Floats, k: Floats) -> "Guess":
        """The guess that the point y (A,), k (K, R) suggests."""
        excess = np.nan_to_num(levels.derivatives(y, k).excess, nan=-np.inf)
        left, slack = levels.left(levels.tasks(y)), levels.slack(y)
        held = (self.held & ~levels.of_all((y > 0) & (excess > levels.of_user(np.maximum(left, 0.0))))) | (left < 0)
        return Guess(levels.N * y > excess, levels.row & (k > slack), held)

    def solvable(self, levels: LevelEquations) -> bool:
        """Whether every user has an arc in use, and the equations are not too many."""
        arcs = int(self.arcs.sum())
        return bool(levels.of_all(self.arcs).all()) and arcs <= MOST and (arcs - levels.N) * levels.K * levels.R <= LARGEST


def newton_on_active_arcs(session: NewtonSession, y: Floats, k: Floats, arcs: Booleans, rows: Booleans, held: Booleans) -> None:
    """Steps until they no longer halve the residual; arcs (A,), rows (K, R) and held (N,) are the first guess of what is used."""
    levels, guess, before = session.levels, Guess(arcs, rows, held), np.inf
    for _ in range(8):
        y, k = np.where(guess.arcs, y, 0.0), np.where(guess.rows, k, 0.0)
        if not guess.solvable(levels):
            return
        try:
            step = ActiveStep(levels, y, k, guess)
            l, u = step.least()  # noqa: E741 (the letters of the text)
            y, k = np.maximum(y + step.own * l, 0.0), k * step.factors(u)
        except (np.linalg.LinAlgError, ValueError):  # numbers out of range
            return
        gap = session.look(y, k)
        if gap <= ROUNDING or gap > 0.5 * before:
            return
        before = gap
        guess = guess.corrected(levels, y, k)


class ActiveStep:
    """The linearised equations at a point.

    own, tasks : (A,) y of the arcs in use, at least a little, and the tasks that it stands for; 0 on other arcs
    pivot, server : (N,) the arc and the server of each pivot
    others, user : the other arcs in use, and whose they are
    row : the prices in use, as i R + r
    v, to_u : v_n = v_n - sum_r to_u_nr u_ir with i the pivot's server; (N,) and (N, R)
    """

    def __init__(self, levels: LevelEquations, y: Floats, k: Floats, guess: Guess) -> None:
        self.levels, self.y, self.held, self.at = levels, y, guess.held, levels.derivatives(y, k)
        self.own = np.where(guess.arcs, np.maximum(y, 1e-6 / levels.N), 0.0)
        self.tasks = self.own * levels.gamma
        self.pivot = largest_of_users(levels.loads, self.tasks)  # 1
        self.server = levels.server[self.pivot]
        others = guess.arcs.copy()
        others[self.pivot] = False
        self.others = np.flatnonzero(others)
        self.user = levels.user[self.others]
        self.row = np.flatnonzero(guess.rows)
        pull, missing = self.at.pull[self.pivot], np.where(levels.limited, levels.limits, self.at.tasks) - self.at.tasks
        self.v = np.where(self.held, missing / self.at.tasks, -self.at.excess[self.pivot] / pull)
        self.to_u = np.where(self.held[:, None], 0.0, self.at.share[self.pivot] / pull[:, None])

    def least(self) -> tuple[Floats, Floats]:
        """Steps 2 and 3: l (A,) and u (K, R)."""
        from scipy.linalg import lstsq

        first, free = self._prices()
        B, C, right = self._rows()
        step = lstsq(np.hstack([B @ free, C]), right - B @ first, cond=DEPENDENT, lapack_driver="gelsy")[0]
        levels, prices, others = self.levels, first + free @ step[: free.shape[1]], step[free.shape[1] :]
        u, l = np.zeros((levels.K, levels.R)), np.zeros(len(levels))  # noqa: E741
        u.flat[self.row] = prices
        l[self.others] = others
        v = self.v - (self.to_u * u[self.server]).sum(axis=1)
        l[self.pivot] = (self.at.tasks * v - levels.loads.totals(self.tasks * l)) / self.tasks[self.pivot]
        return l, u

    def factors(self, u: Floats) -> Floats:
        """(K, R) what k is multiplied by for relative changes u (K, R): exp u, but small prices k^beta fall by -beta u."""
        levels, beta = self.levels, self.levels.beta[:, None]
        used, part = np.flatnonzero(self.own > 0), np.zeros((levels.K, levels.R))
        np.maximum.at(part, levels.server[used], self.at.share[used])
        falls = np.maximum(1.0 + beta * u, 0.0) ** (1.0 / beta)
        return np.where((part < SMALL) & (u < 0), falls, np.exp(np.clip(u, -3.0, 3.0)))

    def _levels(self) -> tuple[Floats, Floats]:
        """A, on the prices in use, and a."""
        levels, at, wanting = self.levels, self.at, ~self.held[self.user]
        a, n = self.others[wanting], self.user[wanting]
        A, each = np.zeros((len(a), levels.K, levels.R)), np.arange(len(a))
        A[each, levels.server[a]] += at.share[a]
        A[each, self.server[n]] -= at.pull[a, None] * self.to_u[n]
        return A.reshape(len(a), levels.K * levels.R)[:, self.row], -at.excess[a] - at.pull[a] * self.v[n]

    def _prices(self) -> tuple[Floats, Floats]:
        """Step 2: u_0 and Z, on the prices in use."""
        A, right = self._levels()
        left, size, directions = np.linalg.svd(A, full_matrices=len(A) < len(self.row))
        rank = int((size > DEPENDENT * size.max(initial=0.0)).sum())
        return directions[:rank].T @ ((left.T @ right)[:rank] / size[:rank]), directions[rank:].T

    def _rows(self) -> tuple[Floats, Floats, Floats]:
        """B, C and the slack that is left when all v are those without u."""
        from scipy.linalg import block_diag

        levels, at, a, n, i = self.levels, self.at, self.others, self.user, self.server
        worth = levels.w[self.pivot] * (at.tasks / levels.gamma[self.pivot])[:, None]  # loads for a unit of v
        blocks, moved = np.zeros((levels.K, levels.R, levels.R)), np.zeros((levels.K, levels.R))
        np.add.at(blocks, i, -worth[:, :, None] * self.to_u[:, None, :])
        np.add.at(moved, i, worth * self.v[:, None])
        B, C, each = block_diag(*blocks)[np.ix_(self.row, self.row)], np.zeros((levels.K, levels.R, len(a))), np.arange(len(a))
        C[levels.server[a], :, each] += levels.w[a] * self.own[a, None]
        C[i[n], :, each] -= worth[n] * (self.tasks[a] / at.tasks[n])[:, None]
        return B, C.reshape(levels.K * levels.R, len(a))[self.row], (levels.slack(self.y) - moved).ravel()[self.row]
