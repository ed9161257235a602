r"""K 3.1, 3.2 and 4.4 at given tasks: existence, Theorem 1, uniqueness by a market.

    Problem 1      server i maximises  U_i = sum_n phi_n g_i(x_n / (phi_n gamma_ni)),  x_n = sum_j x_nj,  within its capacities

(16), (22) and the vertices of what fits a server are those of checkers/game.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.exact.rationals import Rationals, as_ball, exact_arcs
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
