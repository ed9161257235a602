r"""Exact points of the pieces P_I of njc.py, by HiGHS' basis and rational arithmetic.

1. Write the best point of P_I as a linear program in z >= 0 (below).
2. Solve it by HiGHS in floating point and take its basis.
3. Compute the optimal basic solution from that basis in rationals (solvers/exact/simplex.py).
4. Check that the equations of P_I hold exactly, and read x.

Over  P_I:  sum_i x_i r_ij = 1 (j in I),  sum_i x_i r_ij <= 1,  l_i <= x_i <= 1,  with x = base + columns z, 0 <= z <= upper:

    utilisation, sum, nothing   base = l,  one column a user,  upper = 1 - l
    min                         also a column t <= 1 with rows  t <= x_i
    closest                     base = the wish moved into [l, 1],  a column up and one down for each user, each costs 1, or
                                where differences are relative 1 / wish

The rational simplex method knows rows <= only, so bounds are rows, and an equation is a row whose slack variable costs a penalty.
If the slack is positive at the optimum, P_I has no point.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import LP
from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.rationals import Rationals, as_flint, as_fraction
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.highs_session import basic_columns, solved_lp
from fairalloc.solvers.exact.simplex import BasicSolution, RationalProgram, optimal_basic_solution
from fairalloc.solvers.method import Limits

PENALTY = Fraction(10**18)
"""The cost of the slack of an equation; objectives are of order one."""


@dataclass(frozen=True)
class PieceColumn:
    """x_user grows by sign z, 0 <= z <= upper, at this cost; user None: the least x."""

    user: int | None
    sign: int
    upper: Fraction
    cost: Fraction


class PieceProgram:
    """Best points of P_I for one objective; with a `low` that is less than l(I) it holds P_I for larger I too."""

    def __init__(
        self,
        d: Requests,
        bottlenecks: Collection[int],
        low: Rationals,
        objective: str | None = None,
        wish: Rationals = (),
        relative: bool = False,
    ) -> None:
        self.d, self.equal, self.low, self.objective, self.wish = d, frozenset(bottlenecks), low, objective, wish
        self.costs = tuple(1 / w if relative and w else Fraction(1) for w in wish)
        self.base = tuple(min(max(w, lo), Fraction(1)) for w, lo in zip(wish, low, strict=True)) if wish else low

    @cached_property
    def columns(self) -> list[PieceColumn]:
        one, users = Fraction(1), range(len(self.low))
        if self.objective == "closest":
            ups = [PieceColumn(i, 1, one - self.base[i], -self.costs[i]) for i in users]
            return ups + [PieceColumn(i, -1, self.base[i] - self.low[i], -self.costs[i]) for i in users]
        costs = linear_coefficients(self.d, self.objective)
        result = [PieceColumn(i, 1, one - self.low[i], costs[i]) for i in users]
        return [*result, PieceColumn(None, 1, one, one)] if self.objective == "min" else result

    @cached_property
    def entries(self) -> list[dict[int, Fraction]]:
        """For each column {row: entry}; rows are the loads, for "min" t - x_i <= 0, and the upper bounds."""
        one, bounds = Fraction(1), len(self.sides) - len(self.columns)
        result: list[dict[int, Fraction]] = [{bounds + k: one} for k in range(len(self.columns))]
        for column, entry in zip(self.columns, result, strict=True):
            if column.user is None:
                entry.update((self.d.R + i, one) for i in range(len(self.low)))
                continue
            entry.update((j, column.sign * r) for j, r in self.d.parts[column.user].items())
            if self.objective == "min":
                entry[self.d.R + column.user] = -one
        return result

    @cached_property
    def sides(self) -> list[Fraction]:
        """What is left of each row at z = 0."""
        rooms = [1 - load for load in self.d.loads(self.base)]
        return [*rooms, *(self.base if self.objective == "min" else ()), *(column.upper for column in self.columns)]

    @cached_property
    def violates_bounds(self) -> bool:
        """Whether the least x exceeds a capacity or the largest does not fill a bottleneck."""
        if any(load > 1 for load in self.d.loads(self.low)):
            return True
        most = self.d.loads([Fraction(1)] * len(self.low))
        return any(most[j] < 1 for j in self.equal)

    def bound(self) -> float:
        """The best value in floating point; -inf where HiGHS finds nothing."""
        return -np.inf if self.violates_bounds else self._solved[1]

    def best_point(self, limits: Limits) -> Rationals | None:
        """The best x of the piece, exactly, or None."""
        if self.violates_bounds or self._solved[0] is None:
            return None
        return self._point(optimal_basic_solution(self._program, self._solved[0], limits)[0])

    def _point(self, solution: BasicSolution) -> Rationals | None:
        """Its x, None where an equation has a slack."""
        if any(solution.values.get(len(self.columns) + j, 0) for j in self.equal):
            return None
        x = list(self.base)
        for k, column in enumerate(self.columns):
            if column.user is not None:
                x[column.user] += column.sign * as_fraction(solution.values.get(k, 0))
        return tuple(x)

    @cached_property
    def _program(self) -> RationalProgram:
        program = RationalProgram.of_rows([column.cost for column in self.columns], self.entries, self.sides)
        cost = list(program.cost)
        for j in self.equal:
            cost[len(self.columns) + j] = as_flint(-PENALTY)
        return replace(program, cost=tuple(cost))

    @cached_property
    def _solved(self) -> tuple[list[int] | None, float]:
        """HiGHS' basis as columns of `_program`, and its value."""
        missing = max((abs(float(self.sides[j])) for j in self.equal), default=0.0)
        tiny = self.objective == "closest" and 0.0 < missing < 1.0  # near an exact answer, as all differences are
        scale = 1.0 / missing if tiny else 1.0
        sides, cost = np.array(self.sides, float), np.array([column.cost for column in self.columns], float)
        lower = np.where(np.isin(np.arange(len(sides)), list(self.equal)), sides, -np.inf)
        rows, places, data = zip(*((row, k, v) for k, entry in enumerate(self.entries) for row, v in entry.items()), strict=True)
        matrix = sp.csc_array((np.array(data, float), (rows, places)), shape=(len(sides), len(cost)))
        highs = solved_lp(LP(cost, matrix, lower * scale, sides * scale, np.full(len(cost), np.inf)), presolve="off")
        if highs.getModelStatus().name != "kOptimal":
            return None, -np.inf
        offset = 0 if self.objective == "min" else value(self.objective, self.d, self.wish, self.base)
        return basic_columns(highs), float(offset) + highs.getInfo().objective_function_value / scale


def linear_coefficients(d: Requests, objective: str | None) -> Rationals:
    """(N,) what a unit of x_i adds to a linear objective."""
    if objective == "utilisation":
        return tuple(sum(part.values(), Fraction(0)) / d.R for part in d.parts)
    return (Fraction(1 if objective == "sum" else 0),) * len(d.parts)


def value(objective: str | None, d: Requests, wish: Rationals, x: Rationals) -> Fraction:
    """The objective at x (N,); for "closest" with the target `wish` (N,), both in fractions of full requests."""
    if objective == "min":
        return min(x)
    if objective == "closest":
        return -sum((abs(a - b) for a, b in zip(x, wish, strict=True)), Fraction(0))
    return sum((a * b for a, b in zip(x, linear_coefficients(d, objective), strict=True)), Fraction(0))


# ---- from a point in floating point -----------------------------------------------------------------------------------


def exact_point_near(d: Requests, x: Floats, near: float, limits: Limits, prices: Floats | None = None) -> Rationals | None:
    """The point nearest to x (N,), in the sum of relative differences, of the first P_I that has a point near x, else None.

    I are the resources whose price (R,) is more than what is left of them, then the fullest 1, 2, .. of which at most the part
    `near` is left. It is also the largest difference of a coordinate, relative to it.
    """
    wish, slack = tuple(_rounded(v) for v in x.tolist()), 1.0 - x @ d.matrix()
    fullest = [j for j in np.argsort(slack, kind="stable").tolist() if slack[j] <= near]
    candidates = [frozenset(fullest[:k]) for k in range(len(fullest), -1, -1)]
    priced = [] if prices is None else [frozenset(np.flatnonzero(prices > slack).tolist())]
    for bottlenecks in dict.fromkeys([*priced, *candidates]):
        piece = PieceProgram(d, bottlenecks, d.lowest(bottlenecks), "closest", wish, relative=True)
        found = piece.best_point(limits) if -piece.bound() <= near * len(wish) else None
        if found is not None and far_apart(found, x) <= near and d.fair(found):
            return found
    return None


def far_apart(exact: Rationals, x: Floats) -> float:
    """The largest difference of a coordinate, relative to the larger of both."""
    pairs = zip(map(float, exact), x.tolist(), strict=True)
    return max(abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0 for a, b in pairs)


def _rounded(value: float) -> Fraction:
    """A short fraction within 1e-9 of it, relative, else one of twelve digits; between 0 and 1."""
    value = min(max(value, 0.0), 1.0)
    short = Fraction(value).limit_denominator(1000)
    return short if abs(float(short) - value) <= 1e-9 * value else Fraction(f"{value:.12g}")
