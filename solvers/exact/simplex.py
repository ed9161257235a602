r"""A linear program in rational numbers, solved by the simplex method from a given basis.

    max c z   s.t.   A z + s = b,   z, s >= 0,        B = the basic columns of [A I]

1. Solve B z_B = b and B^T pi = c_B in rationals: the basic solution z_B and the dual values pi. The reduced costs are
   c_j - pi a_j.
2. If some z_B is negative, lower the costs whose reduced cost is positive until it is 0. The basis is dual feasible for the
   costs so changed.
3. Dual simplex: while some z_B is negative, the first such variable leaves the basis; the variable enters whose reduced cost
   is the first to reach 0.
4. Primal simplex with the original costs: while some reduced cost is positive, the first such variable enters; the basic
   variable leaves that is the first to reach 0.

Taking always the first variable is Bland's rule, under which the simplex method does not cycle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from fairalloc.models.arguments import Whole
from fairalloc.models.exact.rationals import as_flint
from fairalloc.solvers.method import Limits, Stopped
from fairalloc.solvers.options import AlgorithmOptions

if TYPE_CHECKING:
    from flint import fmpq

Flint: TypeAlias = "fmpq | int"


@dataclass(frozen=True)
class SimplexOptions(AlgorithmOptions):
    """Of the rational simplex method.

    Attributes
    ----------
    max_pivots : pivots from one given basis: an optimal basis needs none, one that is optimal within HiGHS' tolerances a few
    """

    max_pivots: Whole = 200


@dataclass(frozen=True)
class RationalProgram:
    """max cost z  s.t.  A z + s = right_side,  z, s >= 0; costs and columns {row: entry} of [A I] are those of z, then of s."""

    cost: tuple[Flint, ...]
    columns: tuple[Mapping[int, Flint], ...]
    right_side: tuple[Flint, ...]

    @classmethod
    def of_rows(cls, cost: Sequence[Any], columns: Sequence[Mapping[int, Any]], right_side: Sequence[Any]) -> "RationalProgram":
        """The program max cost z  s.t.  A z <= right_side,  z >= 0, from any rationals: slacks of cost 0 are added."""
        zero, one, sides = as_flint(0), as_flint(1), tuple(map(as_flint, right_side))
        flint = [{i: as_flint(v) for i, v in column.items()} for column in columns]
        return cls((*map(as_flint, cost), *[zero] * len(sides)), (*flint, *({i: one} for i in range(len(sides)))), sides)

    @property
    def slacks(self) -> range:
        """The columns s, a basis."""
        return range(len(self.columns) - len(self.right_side), len(self.columns))


class BasicSolution:
    """A basis of a program with its exact numbers; ZeroDivisionError where the columns are linearly dependent."""

    def __init__(self, program: RationalProgram, basis: Sequence[int]) -> None:
        from flint import fmpq_mat

        self.program, self.basis = program, tuple(sorted(basis))
        first = program.slacks.start  # their part of B is the identity
        self._slack_of_row = {k - first: k for k in self.basis if k >= first}
        self._active_rows = [i for i in range(len(program.right_side)) if i not in self._slack_of_row]
        self._structural = [k for k in self.basis if k < first]
        size = len(self._active_rows)
        entries = [program.columns[k].get(i, 0) for i in self._active_rows for k in self._structural]
        self._kernel = fmpq_mat(size, size, entries)

    def solve(self, side: Mapping[int, Flint]) -> dict[int, Flint]:
        """The w with B w = side, by variable."""
        active = [side.get(i, 0) for i in self._active_rows]
        result = dict(zip(self._structural, _solved(self._kernel, active), strict=True))
        rest = {i: side.get(i, 0) for i in self._slack_of_row}
        for k, value in result.items():
            for i, entry in self.program.columns[k].items():
                if i in rest:
                    rest[i] -= entry * value
        return result | {self._slack_of_row[i]: value for i, value in rest.items()}

    def solve_transposed(self, cost: Mapping[int, Flint]) -> list[Flint]:
        """(rows,) pi with B^T pi = cost of the basic variables."""
        slack = self._slack_of_row
        result = [cost.get(slack[i], 0) if i in slack else 0 for i in range(len(self.program.right_side))]
        reduced = [cost.get(k, 0) - self._product(k, result) for k in self._structural]
        for i, price in zip(self._active_rows, _solved(self._kernel.transpose(), reduced), strict=True):
            result[i] = price
        return result

    def _product(self, k: int, row_values: Sequence[Any]) -> Any:
        """Column k times the values of the rows."""
        return sum(entry * row_values[i] for i, entry in self.program.columns[k].items() if row_values[i])

    @cached_property
    def values(self) -> dict[int, Flint]:
        """The basic variables z_B."""
        return self.solve(dict(enumerate(self.program.right_side)))

    @cached_property
    def dual_values(self) -> list[Flint]:
        """(rows,) the dual values pi."""
        return self.solve_transposed(dict(enumerate(self.program.cost)))

    @cached_property
    def reduced_costs(self) -> dict[int, Flint]:
        """c_j - pi a_j of the nonbasic variables."""
        basic = set(self.basis)
        nonbasic = [k for k in range(len(self.program.columns)) if k not in basic]
        return {k: self.program.cost[k] - self._product(k, self.dual_values) for k in nonbasic}

    @property
    def leaving(self) -> int | None:
        """The leaving variable of the dual simplex: the first basic variable below 0; None if primal feasible."""
        return min((k for k, value in self.values.items() if value < 0), default=None)

    @property
    def entering(self) -> int | None:
        """The entering variable of the primal simplex: the first one with a positive reduced cost; None if dual feasible."""
        return min((k for k, cost in self.reduced_costs.items() if cost > 0), default=None)

    def primal_pivot(self, enter: int) -> "BasicSolution":
        """`enter` grows until a basic variable is 0, which leaves; Stopped where the program is unbounded."""
        change = self.solve(self.program.columns[enter])
        ratios = [(self.values[k] / w, k) for k, w in change.items() if w > 0]
        return self._exchanged(enter, min(ratios, default=(0, None))[1])

    def dual_pivot(self, leave: int) -> "BasicSolution":
        """`leave` becomes 0, and the variable enters whose reduced cost is 0 first; Stopped where the program is infeasible."""
        row = self.solve_transposed({leave: as_flint(1)})
        entries = {k: self._product(k, row) for k in self.reduced_costs}
        ratios = [(self.reduced_costs[k] / entry, k) for k, entry in entries.items() if entry < 0]
        return self._exchanged(min(ratios, default=(0, None))[1], leave)

    def _exchanged(self, enter: int | None, leave: int | None) -> "BasicSolution":
        if enter is None or leave is None:
            word = "infeasible" if enter is None else "unbounded"
            raise Stopped(word, f"the program is {word} in exact arithmetic")
        return BasicSolution(self.program, [k for k in self.basis if k != leave] + [enter])


def _solved(matrix: Any, side: Sequence[Any]) -> list[Flint]:
    from flint import fmpq_mat

    answer = matrix.solve(fmpq_mat(len(side), 1, side))
    return [answer[i, 0] for i in range(len(side))]


def optimal_basic_solution(program: RationalProgram, basis: Sequence[int], limits: Limits) -> tuple[BasicSolution, int]:
    """An optimal basic solution from the basic columns `basis` (rows,), and the number of pivots.

    Stopped: a singular basis, too many pivots, a program without an optimum, or no time left.
    """
    solution, pivots = BasicSolution(program, basis), 0
    try:
        if solution.leaving is not None:  # 1, 2
            lowered = [c - max(solution.reduced_costs.get(k, 0), 0) for k, c in enumerate(program.cost)]
            solution = BasicSolution(replace(program, cost=tuple(lowered)), basis)
        while (leave := solution.leaving) is not None:  # 3
            solution, pivots = solution.dual_pivot(leave), _counted(pivots, limits)
        solution = solution if solution.program is program else BasicSolution(program, solution.basis)
        while (enter := solution.entering) is not None:  # 4
            solution, pivots = solution.primal_pivot(enter), _counted(pivots, limits)
    except ZeroDivisionError:
        raise Stopped("error", "the basis could not be certified: it is singular in exact arithmetic") from None
    return solution, pivots


def _counted(pivots: int, limits: Limits) -> int:
    _ = limits.left  # raises when there is no time
    most = limits.own(SimplexOptions).max_pivots
    if pivots == most:
        raise Stopped("error", f"the basis could not be certified: {most} pivots did not repair it")
    return pivots + 1
