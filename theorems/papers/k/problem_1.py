r"""K 3.1, 3.2 and 4.4 at given tasks: existence, Theorem 1, uniqueness by a market.

    Problem 1      server i maximises  U_i = sum_n phi_n g_i(x_n / (phi_n gamma_ni)),  x_n = sum_j x_nj,  within its capacities

(16), (22) and the vertices of what fits a server are those of checkers/game.py.

**Two isolated solutions** of the complementarity problem (28)-(29), which refute Lemma 2 and Corollary 4. In parts of the
capacities, v_ar = d_nr / c_ir for arc a = (n, i), with prices mu_ir = lambda_ir c_ir, a solution has

    mu_ir > 0  only where  sum_a v_ar x_a = 1,          x_a > 0  only where  f_a = sum_r v_ar mu_ir - h_a = 0,      f >= 0
    h_a = g_i'(x_n / (phi_n gamma_ni)) / gamma_ni,      g_i'(z) = z^-alpha + B / z                             (K 22, A = 1)

A *basic solution* serves as many users S at each server as there are full resources T, with v_ST nonsingular and all other
resources not full. Its x solves sum_a v_ar x_a = 1 on T, so it is rational, and so are h, for whole alpha and rational B, and
mu, which solves v_ST mu = h_S. It is a strict solution where

    mu_T > 0,      f > 0 off S                                                                                            (*)

It is isolated (`two_isolated_equilibria`, standalone/equilibria.py). A connected set of more than one point has no isolated
one, so two strict solutions refute Lemma 2; and each is locally unique without being unique, which refutes Corollary 4. Their
script shows all this of the x that `two_best` finds.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.game import Game
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, as_ball, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve
from fairalloc.solvers.exact.ps_dsf import exact_levels, unit
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import arcs_of_servers, fitted, gain_left, rational, vertices
from fairalloc.theorems.checkers.trials import certified, exact_verdict, is_nash_bargain, only_where, yes_or_no
from fairalloc.theorems.papers.k.problem_3 import sign, totals

ONE = Fraction(1)


def equilibrium_exists(case: Case) -> Verdict:
    """K 3.1: best responses in turn; where they end, or at the default method's answer, no server gains 1e-6 by (16).

    For alpha = infinity an exact equilibrium next to it is found. No point refutes existence: where none is found, nothing is
    decided.
    """
    exact: Callable[..., Rationals | None] = exact_levels if case.parameters["alpha"] == "inf" else rational
    best, own = Fraction(1), fitted(case.parameters, case.instance)
    for method in ("best-response", None):
        made = solve(case.instance, "alpha-pf-vds", method, "high", time_limit=2.0, **own)
        x = exact(case.instance, made.x) if made.has_point else None
        if x is not None and all(exact_arcs(case.instance).tasks(x)):
            best = min(best, gain_left(case.instance, x, case.parameters)[1])
    margin, words = float(best) - 1e-6, f"a server gains {float(best):.1e} at most"
    return Verdict("existence", True if margin <= 0 else None, margin, words, "vertices in rationals")


def theorem_1(case: Case) -> Verdict:
    """K Theorem 1 in rationals: towards every vertex of every server, and towards the case's second point.

    U_i is concave in x_i, so moving all the way gains at most (16), and a small step gains iff (16) is positive.
    """
    aims = [
        (here, aim) for here in arcs_of_servers(case.instance) for aim in [*vertices(case.instance, here), _second(case, here)]
    ]
    worst = max(Reallocation.of(case, here, aim).fault() for here, aim in aims)
    sentence = f"of {len(aims)} moves one gains {worst:.3g} more than (16) says"
    return exact_verdict("equivalence", worst, sentence, "vertices in rationals, and balls")


def concave(case: Case) -> Verdict:
    """K 3.1: U_i is below its tangents, from the first point all the way to the second, at each server."""
    moves = [Reallocation.of(case, here, _second(case, here)) for here in arcs_of_servers(case.instance)]
    worst = max(move.above_tangent() for move in moves)
    return exact_verdict("concavity", worst, f"U_i is {worst:.3g} above a tangent", "balls")


def _second(case: Case, here: Sequence[int]) -> list[Fraction]:
    return [case.points[1][a] for a in here]


MOST_BITS = 1024
"""Of balls: what is not told from 0 in these counts as 0."""


@dataclass(frozen=True)
class Reallocation:
    """A change of one server's tasks: shares z before, the step, phi gamma, phi and alpha."""

    z: Sequence[Fraction]
    step: Sequence[Fraction]
    unit: Sequence[Fraction]
    phi: Sequence[Fraction]
    alpha: Fraction

    @classmethod
    def of(cls, case: Case, here: Sequence[int], aim: Sequence[Fraction]) -> "Reallocation":
        """From the case's first point to other tasks on the arcs of one server; NotApplicable where a user has no task."""
        instance, x, have = case.instance, case.points[0], totals(case.instance, case.points[0])
        arcs, units, alpha = exact_arcs(instance), unit(instance, exact_arcs(instance)), case.parameters["alpha"]
        return cls(
            [have[a] / units[a] for a in here],
            [v - x[a] for v, a in zip(aim, here, strict=True)],
            [units[a] for a in here],
            [instance.exact.weights[arcs.user[a]] for a in here],
            Fraction(alpha[int(instance.arcs.server[here[0]])] if isinstance(alpha, tuple) else alpha),
        )

    def slope(self) -> Any:
        """The left side of (16), as a ball."""
        parts = zip(self.step, self.unit, self.phi, self.z, strict=True)
        return sum(_power(s, -self.alpha) * as_ball(v * p / one) for v, one, p, s in parts)

    def after(self, part: Fraction) -> list[Fraction]:
        return [s + part * v / one for s, v, one in zip(self.z, self.step, self.unit, strict=True)]

    def gained(self, part: Fraction = ONE) -> Any:
        """U_i after this part of the step minus U_i, as a ball."""
        power, each = 1 - self.alpha, list(zip(self.phi, self.z, self.after(part), strict=True))
        if not power:
            return sum(as_ball(p) * as_ball(b / a).log() for p, a, b in each)
        return sum((_power(b, power) - _power(a, power)) * as_ball(p / power) for p, a, b in each)

    def gains(self, part: Fraction) -> bool:
        """Whether this part of the step raises U_i, which is minus infinity where alpha >= 1 and a user is left with nothing."""
        return not self.ruins(part) and sign(lambda: self.gained(part), MOST_BITS) > 0

    def ruins(self, part: Fraction = ONE) -> bool:
        """Whether U_i is minus infinity after this part of the step."""
        return min(self.after(part)) <= 0 and self.alpha >= 1

    def above_tangent(self) -> float:
        """How much more U_i rises than (16) says; negative = no more."""
        more = -1 if self.ruins() else sign(lambda: self.gained() - self.slope(), MOST_BITS)
        return float(self.gained() - self.slope()) if more > 0 else -1.0

    def fault(self) -> float:
        """The same, or (16) itself where it is positive and no small step gains; negative = as claimed."""
        above = self.above_tangent()
        if above > 0 or sign(self.slope, MOST_BITS) <= 0 or any(self.gains(Fraction(1, 2**k)) for k in range(200)):
            return above
        return float(self.slope())


def _power(base: Fraction, exponent: Fraction) -> Any:
    if exponent.denominator == 1:
        return as_ball(base) ** int(exponent)
    return (as_ball(base).log() * as_ball(exponent)).exp() if base else as_ball(base)


def unique_by_market(case: Case) -> Verdict:
    """K Theorem 7 where every server has a bottleneck resource: one x_n, by the market of which solutions are the optimum.

    With one price a server, g' falling, any solution serves n at i only where z_ni is the level l_i, and z_ni >= l_i elsewhere.
    These are the optimality conditions of max sum phi_n log x_n with the prices 1 / l_i, whose x_n is unique. Checked in
    rationals: the exact PS-DSF allocation has these levels, and the gap of that program with these prices is 0.
    """
    h, arcs = certified(case.instance, "ps-dsf"), exact_arcs(case.instance)
    instance, user, server = case.instance, case.instance.arcs.user, case.instance.arcs.server
    z = h.tasks[user] / (h.weights[user] * h.gamma)
    prices = [Fraction(0)] * (instance.K * instance.R)
    for i in sorted(set(server.tolist())):
        here = np.flatnonzero(server == i)
        common = set.intersection(*({row for row, part in arcs.load[a] if part == 1 / h.gamma[a]} for a in here))
        only_where(common, "a server has no bottleneck resource")
        prices[min(common)] = 1 / min(z[here])
    unique = is_nash_bargain(instance, h.x, prices)
    return yes_or_no("uniqueness", unique, f"the market's gap is {'' if unique else 'not '}0")


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
    """The best combination for each B and the second best with other tasks, for the B where the second is best.

    1. For each server, all its basic solutions: the vertices of what fits it at which |S| = |T| > 0.
    2. All combinations with one basic solution for each server, and their tasks.
    3. For each B of GRID and each combination the least relative slack of (*).
    4. For each B the best combination, and the best one with other tasks; the B where the second is best decides.
    """
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
    only_where(some.any(), "no combination of basic solutions serves everybody")
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
