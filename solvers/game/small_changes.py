r"""The end of a long path by linear programs: the least complementary products that small changes of tasks and prices leave.

At a point of the path (central_path.py: N y e = tau, k s = tau, h t = tau), in relative changes v of x_n and u of k:

    min   sum_ni (e_ni N y'_ni + N y_ni E'_ni) + sum_ir (k_ir s'_ir + s_ir k_ir u_ir) + sum_n (t_n h'_n + h_n t'_n)
    s.t.  E'_ni = E_ni + pull_ni v_n + sum_r share_nir u_ir + h'_n >= 0,    x_n (1 + v_n) = sum_i gamma_ni y'_ni,
          s'_ir = 1 - sum_n w_nir y'_ni >= 0,    t'_n = 1 - x_n (1 + v_n) / M_n >= 0,    y', h' >= 0,    |v|, |u| small

The objective is the linear part of all products. Its weights are those of the point: what is large there stays, what is small
goes. The program mostly moves y along arcs that are tied, all of them at once.

1. Solve the program, with s' = 0 for resources whose k is much larger than s.
2. The new y is y'. The new k is k / (1 - u): 1 / k is linear in x_n where E_ni = 0, so users and prices that move together do it
   without error.
3. Go on from 1 with the equations of the new point, which err by the square of the changes, and smaller changes.

The game is no optimisation problem, so the least products need not be 0, but they fall with tau.
"""

from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, eye_array, hstack

from fairalloc.models.numbers import TEN_DIGITS, Floats, linear_program
from fairalloc.solvers.game.central_path import CentralPathPoint
from fairalloc.solvers.game.equations import LevelEquations, NewtonSession
from fairalloc.solvers.kkt.loads import largest_of_users

CHANGES = (1e-3, 1e-4, 1e-5)
"""What E may change by v, and by each u, in one program after the other: for alpha = 300 the second step would be too long."""

LITTLE_E = 1e-10
"""The least E in weights."""

MOST, FULL, MOST_U = 12_000, 100.0, 0.3
"""Arcs up to which a program is solved, which takes as long as a hundred systems of the path; k in units of the slack from which
on a resource stays full; the largest u."""

UNIT, COST = 1e-3, 1e2
"""What changes are counted in, and what costs are multiplied by: HiGHS compares both with 1e-10."""


def weights_at(levels: LevelEquations, point: CentralPathPoint) -> CentralPathPoint:
    """N y in the place of y, and E + h, which every arc has, in that of e, at a point with a y on every arc."""
    e = levels.derivatives(point.y, point.k).excess + levels.of_user(point.h)
    return point._replace(y=levels.N * point.y, e=np.maximum(e, LITTLE_E))


def end_by_programs(session: NewtonSession, point: CentralPathPoint) -> None:
    """Steps 1 to 3 from a point with a y on every arc; the session keeps the best point."""
    levels, y, k, weights = session.levels, point.y, point.k, weights_at(session.levels, point)
    for most in CHANGES:
        program = SmallChanges(levels, y, k, weights, most)
        answer = program.solve(session.limits.left) if len(program.arcs) <= MOST else None
        if answer is None:
            return
        y, k = answer
        if session.look(y, k) > 0.5 or session.reached:
            return


class SmallChanges:
    """The program at a point, on the arcs whose E can reach 0.

    arcs : (a,) the arcs
    row : (Q,) the resources somebody wants, as i R + r
    far : (Q,) how far u may be from 0
    """

    def __init__(self, levels: LevelEquations, y: Floats, k: Floats, weights: CentralPathPoint, most: float) -> None:
        self.levels, self.k, self.weights, self.most = levels, k, weights, most
        self.at = levels.derivatives(y, k)
        near = self.at.excess < (1 + levels.R) * most
        near[largest_of_users(levels.loads, y)] = True
        self.arcs = np.flatnonzero(near)
        self.row = np.flatnonzero(levels.row)
        largest = np.zeros((levels.K, levels.R))
        np.maximum.at(largest, levels.server, self.at.share)
        self.far = np.minimum(most / np.maximum(largest.ravel()[self.row], 1e-300), MOST_U)

    def solve(self, seconds: float) -> tuple[Floats, Floats] | None:
        """Steps 1 and 2: the new y (A,) and k (K, R); None where there is no answer."""
        answer = linear_program(**self._program(), tolerance=TEN_DIGITS, seconds=seconds)
        return None if answer.x is None else self._moved(answer.x)

    def _program(self) -> dict[str, Any]:
        """In N y' (a,), then v (N,), u (Q,) and h' of the limited users, these three and the rows of E in units of `UNIT`."""
        levels, at, arcs, weights = self.levels, self.at, self.arcs, self.weights
        A, N, Q, limited = len(arcs), levels.N, len(self.row), np.flatnonzero(levels.limited)
        pull, paid, tasks, loads = levels.matrices(at, arcs)
        own = eye_array(N, format="csr")[levels.user[arcs]][:, limited]
        change = hstack([pull, paid, own], format="csr")
        k, s = weights.k.ravel()[self.row], weights.s.ravel()[self.row]
        full = k > FULL * s
        of_left = np.where(levels.limited, weights.h * at.tasks / levels.limits, 0.0)
        moves = change.T @ weights.y[arcs] + np.concatenate([-of_left, s * k, weights.t[limited]])
        room = np.minimum(self.most, levels.left(at.tasks) * levels.limits / at.tasks)
        lower = np.concatenate([np.full(N, -self.most), -self.far, np.zeros(len(limited))])
        upper = np.concatenate([room, self.far, np.full(len(limited), np.inf)])
        same = hstack([-UNIT * eye_array(N), csr_array((N, Q + len(limited)))])
        return {
            "cost": COST * np.concatenate([weights.e[arcs] - loads.T @ k, UNIT * moves]),
            "rows": block_array([[None, -change], [loads[~full], None]], format="csr"),
            "sides": np.concatenate([at.excess[arcs] / UNIT, np.ones(np.count_nonzero(~full))]),
            "A_eq": block_array([[tasks, same], [loads[full], None]], format="csr"),
            "b_eq": np.ones(N + np.count_nonzero(full)),
            "bounds": np.column_stack([np.append(np.zeros(A), lower / UNIT), np.append(np.full(A, np.inf), upper / UNIT)]),
        }

    def _moved(self, solution: Floats) -> tuple[Floats, Floats]:
        """Step 2."""
        levels, arcs = self.levels, len(self.arcs)
        y, k = np.zeros(len(levels)), self.k.copy()
        y[self.arcs] = np.maximum(solution[:arcs], 0.0) / levels.N
        u = solution[arcs + levels.N : arcs + levels.N + len(self.row)] * UNIT
        k.flat[self.row] /= 1.0 - u
        return y, k
