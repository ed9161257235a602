r"""Two isolated solutions of the complementarity problem (28)-(29) of K, which refute Lemma 2 and Corollary 4.

In parts of the capacities, v_ar = d_nr / c_ir for arc a = (n, i), with prices mu_ir = lambda_ir c_ir, a solution has

    mu_ir > 0  only where  sum_a v_ar x_a = 1,          x_a > 0  only where  f_a = sum_r v_ar mu_ir - h_a = 0,      f >= 0
    h_a = g_i'(x_n / (phi_n gamma_ni)) / gamma_ni,      g_i'(z) = z^-alpha + B / z                             (K 22, A = 1)

A *basic solution* serves as many users S at each server as there are full resources T, with v_ST nonsingular and all other
resources not full. Its x solves sum_a v_ar x_a = 1 on T, so it is rational, and so are h, for whole alpha and rational B, and
mu, which solves v_ST mu = h_S. It is a strict solution where

    mu_T > 0,      f > 0 off S                                                                                            (*)

It is isolated (`two_isolated_equilibria`, standalone/equilibria.py). A connected set of more than one point has no isolated
one, so two strict solutions refute Lemma 2; and each is locally unique without being unique, which refutes Corollary 4.

1. For each server, all its basic solutions: the vertices of what fits it at which |S| = |T| > 0.
2. All combinations with one basic solution for each server, and their tasks.
3. For each B of GRID and each combination the least relative slack of (*).
4. For each B the best combination, and the best one with other tasks; the B where the second is best decides. The margin of the
   trial is the slack of the second.
5. Confirmation: the script of these statements shows all this of their x.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.game import Game
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import vertices

GRID = tuple(Fraction(1, 2**k) for k in range(8))
"""The B that are tried."""

MOST_COMBINATIONS = 2_000
"""Systems with more combinations are left out: many smaller ones are tried in the same time."""

ROUNDING = 1e-9
"""Slacks of this size are not rounding."""


class ServerBasicSolution(NamedTuple):
    """The arcs of a server that are served, the resources that are full, in order, and tasks on these arcs."""

    served: tuple[int, ...]
    full: tuple[int, ...]
    x: Rationals


class SolutionPair(NamedTuple):
    """Two combinations of basic solutions, (K,) each, the B at which they are best, and the least slack of the second."""

    least: float
    B: Fraction
    solutions: tuple[list[ServerBasicSolution], list[ServerBasicSolution]]


def two_solutions(case: Case) -> Verdict:
    """Whether no two basic solutions with different tasks are strict solutions for one B."""
    margin = two_best(case).least
    sentence = f"the slack of the second best basic solution is {margin:.3g}"
    return Verdict("uniqueness", not margin > ROUNDING, margin, sentence, "all basic solutions in floating point")


def _domain(case: Case) -> Game:
    """The game; NotApplicable where multipliers are undetermined, or tasks are known to be unique."""
    instance = case.instance
    if not instance.single_variant or any(count > 1 for count in instance.counts):
        raise NotApplicable("users have one demand vector each here, and every row is one server")
    if not all(c > 0 for row in instance.exact.capacities for c in row):
        raise NotApplicable("a capacity is 0, so its multiplier is free to be any number")
    game = Game(instance, case.parameters["alpha"])
    if instance.K == 1 or all(np.any(np.all(game.w[game.server == i] == 1, axis=0)) for i in range(instance.K)):
        raise NotApplicable("tasks are unique, for there is one server, or every server has a bottleneck resource (K Theorem 4)")
    return game


def two_best(case: Case) -> SolutionPair:
    """The best combination for each B and the second best with other tasks, for the B where the second is best."""
    game = _domain(case)
    # 1.
    each = [basic_solutions(case.instance, i) for i in range(case.instance.K)]
    # 2.
    which, tasks = _combinations(game, each)
    # 3.
    least = np.full((len(GRID), len(which)), np.inf)
    for i, own in enumerate(each):
        for k, solution in enumerate(own):
            rows = which[:, i] == k
            least[:, rows] = np.minimum(least[:, rows], least_slack(game, i, solution, tasks[rows]))
    # 4.
    best = least.argmax(axis=1)
    same = np.abs(tasks / tasks[best][:, None] - 1).max(axis=2) <= ROUNDING
    second = np.where(same, -1.0, np.maximum(least, -1.0))
    b = int(second.max(axis=1).argmax())
    first, other = ([own[k] for own, k in zip(each, which[row], strict=True)] for row in (best[b], second[b].argmax()))
    return SolutionPair(float(second[b].max()), GRID[b], (first, other))


def basic_solutions(instance: Instance, i: int) -> list[ServerBasicSolution]:
    """The basic solutions of server i: its vertices at which as many users are served as resources are full."""
    here, R, found = np.flatnonzero(instance.arcs.server == i).tolist(), instance.R, []
    parts = [dict(exact_arcs(instance).load[a]) for a in here]
    for x in vertices(instance, here):
        served = tuple(a for a, v in zip(here, x, strict=True) if v)
        loads = [sum(v * part.get(i * R + r, 0) for v, part in zip(x, parts, strict=True)) for r in range(R)]
        full = tuple(r for r, load in enumerate(loads) if load == 1)
        if len(served) == len(full) > 0:
            found.append(ServerBasicSolution(served, full, tuple(v for v in x if v)))
    return sorted(found, key=lambda one: (len(one.served), one.served, one.full))


def _combinations(game: Game, each: list[list[ServerBasicSolution]]) -> tuple[NDArray[np.intp], Floats]:
    """(M, K) which basic solution each server has and (M, N) the tasks, where everybody has some; NotApplicable where M = 0."""
    K, N = game.instance.K, game.instance.N
    if math.prod(len(own) for own in each) > MOST_COMBINATIONS:
        raise NotApplicable(f"there are more than {MOST_COMBINATIONS} combinations of basic solutions")
    which = np.stack(np.meshgrid(*(np.arange(len(own)) for own in each), indexing="ij"), axis=-1).reshape(-1, K)
    tasks = np.zeros((len(which), N))
    for i, own in enumerate(each):
        part = np.zeros((len(own), N))
        for k, solution in enumerate(own):
            part[k, game.user[list(solution.served)]] = solution.x
        tasks += part[which[:, i]]
    some = (tasks > 0).all(axis=1)
    if not some.any():
        raise NotApplicable("no combination of basic solutions serves everybody")
    return which[some], tasks[some]


def least_slack(game: Game, i: int, solution: ServerBasicSolution, tasks: Floats) -> Floats:
    """(B, M) the least slack of (*) at a basic solution of server i, for each B of GRID and each row of tasks (M, N) of all
    users.
    """
    here = np.flatnonzero(game.server == i)
    on, w = np.isin(here, solution.served), game.w[here][:, list(solution.full)]
    z = tasks[:, game.user[here]] / game.unit[here]
    g = z ** -game.alpha[i] + np.array([float(B) for B in GRID])[:, None, None] / z
    mu = g[:, :, on] @ np.linalg.inv(w[on]).T
    least = mu.min(axis=2) / np.abs(mu).sum(axis=2)
    f = mu @ w[~on].T / g[:, :, ~on] - 1
    result: Floats = np.nan_to_num(np.minimum(least, f.min(axis=2, initial=1.0)), nan=-1.0)
    return result


def exact_tasks(case: Case, each: Sequence[ServerBasicSolution]) -> Rationals:
    """The tasks (A,) of a basic solution of each server."""
    own = {a: v for solution in each for a, v in zip(solution.served, solution.x, strict=True)}
    return tuple(own.get(a, Fraction(0)) for a in range(len(case.instance.arcs)))
