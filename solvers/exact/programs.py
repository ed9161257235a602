r"""`exact`: the rational answer of a linear program or of a sequence of them.

HiGHS finds a basis in floating point. The basis is a statement without numbers, "these variables are 0, these rows are full", so
it can be right although every number that led to it was rounded. With the program in rationals as

    max c z   s.t.   A z + s = b,   z, s >= 0,        B = the basic columns of [A I]

its corner z_B = B^-1 b and its prices pi = B^-T c_B are computed once more exactly. It is optimal iff z_B >= 0 and no reduced
cost c_j - pi a_j is positive. Where HiGHS' tolerances let a basis pass that is not, Bland's simplex repairs it in rationals:
first the dual simplex, with the costs lowered that stand in its way, then the primal simplex with the true costs.

The rounds are those of rule.py with `=` in place of tolerances: a user is fixed when it is at the round's level g and either
its worth y_n > 0, which makes (*) zero, or it runs all its tasks. Levels enter the next round as they are.

PS-DSF is no program, but a pattern and linear equations: game/levels.py takes the pattern from the fastest other method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.lexicographic.round import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.formulations.ps_dsf_tdm import TimeShared
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.instance import Instance
from fairalloc.models.proofs import ExactProgram, ExactRound
from fairalloc.models.rationals import Rationals, as_flint, as_fraction, exact_arcs
from fairalloc.solvers.backends.highs import HighsSession
from fairalloc.solvers.exact.levels import exact_levels, levels
from fairalloc.solvers.game.continuation import Continuation
from fairalloc.solvers.method import Answer, Limits, Method, Session, Stopped

if TYPE_CHECKING:
    from flint import fmpq

Flint: TypeAlias = "fmpq | int"

__all__ = ["ExactSolution", "solve_exactly"]

PIVOTS = 200
"""Repairs a round may take: a right basis needs none, a basis within HiGHS' tolerances a few."""


@dataclass(frozen=True)
class Program:
    """max cost z  s.t.  A z + s = sides,  z, s >= 0; `columns` are those of [A I], as {row: entry}, with a cost each."""

    cost: tuple[Flint, ...]
    columns: tuple[Mapping[int, Flint], ...]
    sides: tuple[Flint, ...]


class Corner:
    """A basis of a program with its exact numbers; ZeroDivisionError where the columns are dependent."""

    def __init__(self, program: Program, basis: Sequence[int]) -> None:
        from flint import fmpq_mat

        self.program, self.basis = program, tuple(sorted(basis))
        first = len(program.columns) - len(program.sides)  # of the slack columns, which need no linear algebra
        self._loose = {k - first: k for k in self.basis if k >= first}
        self._tight = [i for i in range(len(program.sides)) if i not in self._loose]
        self._inside = [k for k in self.basis if k < first]
        size = len(self._tight)
        entries = [program.columns[k].get(i, 0) for i in self._tight for k in self._inside]
        self._kernel = fmpq_mat(size, size, entries)

    def forward(self, side: Mapping[int, Flint]) -> dict[int, Flint]:
        """The w with B w = side, by variable."""
        result = dict(zip(self._inside, _solved(self._kernel, [side.get(i, 0) for i in self._tight]), strict=True))
        rest = {i: side.get(i, 0) for i in self._loose}
        for k, value in result.items():
            for i, entry in self.program.columns[k].items():
                if i in rest:
                    rest[i] -= entry * value
        return result | {self._loose[i]: value for i, value in rest.items()}

    def backward(self, cost: Mapping[int, Flint]) -> list[Flint]:
        """(rows,) pi with B^T pi = cost of the basic variables."""
        result = [cost.get(self._loose[i], 0) if i in self._loose else 0 for i in range(len(self.program.sides))]
        reduced = [cost.get(k, 0) - self._priced(k, result) for k in self._inside]
        for i, price in zip(self._tight, _solved(self._kernel.transpose(), reduced), strict=True):
            result[i] = price
        return result

    def _priced(self, k: int, prices: Sequence[Any]) -> Any:
        return sum(entry * prices[i] for i, entry in self.program.columns[k].items() if prices[i])

    @cached_property
    def values(self) -> dict[int, Flint]:
        """The basic variables."""
        return self.forward(dict(enumerate(self.program.sides)))

    @cached_property
    def prices(self) -> list[Flint]:
        """(rows,) dual variables."""
        return self.backward(dict(enumerate(self.program.cost)))

    @cached_property
    def gains(self) -> dict[int, Flint]:
        """The reduced costs of the variables that are not basic."""
        basic = set(self.basis)
        outside = [k for k in range(len(self.program.columns)) if k not in basic]
        return {k: self.program.cost[k] - self._priced(k, self.prices) for k in outside}

    @property
    def negative(self) -> int | None:
        """The first basic variable below 0."""
        return min((k for k, value in self.values.items() if value < 0), default=None)

    @property
    def entering(self) -> int | None:
        """The first variable that would raise the objective."""
        return min((k for k, gain in self.gains.items() if gain > 0), default=None)

    def raised(self, enter: int) -> "Corner":
        """A step of the primal simplex: `enter` grows until a basic variable is 0."""
        change = self.forward(self.program.columns[enter])
        steps = [(self.values[k] / w, k) for k, w in change.items() if w > 0]
        return self._exchanged(enter, min(steps, default=(0, None))[1])

    def mended(self, leave: int) -> "Corner":
        """A step of the dual simplex: `leave` becomes 0, the variable enters whose reduced cost is used up first."""
        row = self.backward({leave: as_flint(1)})
        entries = {k: self._priced(k, row) for k in self.gains}
        steps = [(self.gains[k] / entry, k) for k, entry in entries.items() if entry < 0]
        return self._exchanged(min(steps, default=(0, None))[1], leave)

    def _exchanged(self, enter: int | None, leave: int | None) -> "Corner":
        if enter is None or leave is None:
            raise Stopped("error", "the program is infeasible or unbounded in exact arithmetic")
        return Corner(self.program, [k for k in self.basis if k != leave] + [enter])


def _program(cost: Sequence[Any], columns: Sequence[Mapping[int, Any]], sides: Sequence[Any]) -> Program:
    """The program max cost z  s.t.  A z <= sides from its structural columns."""
    slacks = tuple({i: as_flint(1)} for i in range(len(sides)))
    return Program((*cost, *(as_flint(0) for _ in sides)), (*columns, *slacks), tuple(sides))


def _solved(matrix: Any, side: Sequence[Any]) -> list[Flint]:
    from flint import fmpq_mat

    answer = matrix.solve(fmpq_mat(len(side), 1, side))
    return [answer[i, 0] for i in range(len(side))]


def optimum(program: Program, basis: Sequence[int], limits: Limits) -> tuple[Corner, int]:
    """The optimal corner next to a basis, and the pivots it took; Stopped where PIVOTS do not suffice."""
    corner, pivots = Corner(program, basis), 0
    try:
        if corner.negative is not None:
            lowered = [c - max(corner.gains.get(k, 0), 0) for k, c in enumerate(program.cost)]
            corner = Corner(replace(program, cost=tuple(lowered)), basis)
        while (leave := corner.negative) is not None:
            corner, pivots = corner.mended(leave), _counted(pivots, limits)
        corner = corner if corner.program is program else Corner(program, corner.basis)
        while (enter := corner.entering) is not None:
            corner, pivots = corner.raised(enter), _counted(pivots, limits)
    except ZeroDivisionError:
        raise Stopped("error", "the basis could not be certified: it is singular in exact arithmetic") from None
    return corner, pivots


def _counted(pivots: int, limits: Limits) -> int:
    _ = limits.left  # raises when there is no time
    if pivots == PIVOTS:
        raise Stopped("error", f"the basis could not be certified: {PIVOTS} pivots did not repair it")
    return pivots + 1


# ---- the mechanisms -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactSolution:
    """The tasks on arcs, and what proves them."""

    x: Rationals
    proof: tuple[ExactRound, ...] | ExactProgram

    @property
    def prices(self) -> list[Rationals]:
        """The prices of every round."""
        return [self.proof.prices] if isinstance(self.proof, ExactProgram) else [part.prices for part in self.proof]


class ExactSession(HighsSession):
    """HiGHS in canonical units for the bases, rationals in the units of the user for the numbers."""

    def __init__(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> None:
        scaled, self.unit = mechanism.canonical(instance)
        super().__init__(mechanism, scaled, replace(limits, accuracy="high"), alive=False)
        with self.phase("build"):
            self.original, self.exact, self.arcs = instance, instance.exact, exact_arcs(instance)
            self.limited = [n for n, limit in enumerate(self.arcs.limits) if limit is not None]

    def answer(self) -> ExactSolution:
        """The exact answer of the mechanism."""
        if isinstance(self.mechanism, Utilitarian):
            return self._utilitarian()
        assert isinstance(self.mechanism, Leximin)
        rate = self.mechanism.exact_rate(self.original)
        return self._max_min(rate) if isinstance(self.mechanism, MaxMin) else self._leximin(rate)

    def _utilitarian(self) -> ExactSolution:
        weights = self.exact.weights
        with self.phase("build"):
            cost = [as_flint(weights[n]) for n in self.arcs.user]
            program = _program(cost, self._columns(), self._sides([]))
        corner = self._corner(program, None)
        prices, limits = self._duals(corner)
        value = sum((w * u for w, u in zip(weights, self.arcs.tasks(self._x(corner)), strict=True)), Fraction(0))
        return ExactSolution(self._x(corner), ExactProgram(value, prices, weights, limits))

    def _max_min(self, rate: Rationals) -> ExactSolution:
        corner = self._round(rate, [None] * len(rate))
        prices, limits = self._duals(corner)
        dual = corner.prices[self.arcs.rows : self.arcs.rows + len(rate)]
        worth = tuple(as_fraction(f) * r for f, r in zip(dual, rate, strict=True))
        return ExactSolution(self._x(corner), ExactProgram(self._level(corner), prices, worth, limits))

    def _leximin(self, rate: Rationals) -> ExactSolution:
        levels: list[Fraction | None] = [None] * len(rate)
        rounds = []
        while None in levels:
            corner = self._round(rate, levels)
            rounds.append(self._fixed(corner, rate, levels))
            for n in rounds[-1].users:
                levels[n] = rounds[-1].level
        return ExactSolution(self._x(corner), tuple(rounds))

    def _fixed(self, corner: Corner, rate: Rationals, levels: Sequence[Fraction | None]) -> ExactRound:
        """Who is fixed: users at the level g whose price is positive, or who run all their tasks."""
        level, tasks = self._level(corner), self.arcs.tasks(self._x(corner))
        prices, _ = self._duals(corner)
        worth = [q / r for q, r in zip(self.arcs.cheapest(prices), rate, strict=True)]
        total = sum((y for y, known in zip(worth, levels, strict=True) if known is None), Fraction(0))
        scale = 1 / total if total else Fraction(0)  # prices that only users fixed before pay prove nothing new
        at_level = [n for n, known in enumerate(levels) if known is None and rate[n] * tasks[n] == level]
        users = tuple(n for n in at_level if scale * worth[n] or tasks[n] == self.arcs.limits[n])
        return ExactRound(level, users, tuple(scale * p for p in prices), tuple(scale * y for y in worth))

    def _round(self, rate: Rationals, levels: Sequence[Fraction | None]) -> Corner:
        """The corner of the round in which the users without a level are active."""
        with self.phase("build"):
            columns = self._columns(rate)
            cost = [as_flint(0)] * len(columns) + [as_flint(1)]
            columns.append({self.arcs.rows + n: as_flint(1) for n, level in enumerate(levels) if level is None})
            program = _program(cost, columns, self._sides([as_flint(-level if level else 0) for level in levels]))
            now = self._in_floats(rate, levels)
        return self._corner(program, now)

    def _in_floats(self, rate: Rationals, levels: Sequence[Fraction | None]) -> Round:
        assert isinstance(self.mechanism, Leximin)
        scale = self.mechanism.rate(self.instance)[0] / (float(rate[0]) * self.unit[0])
        level = np.array([float(level or 0) * scale for level in levels])
        return replace(Round.first(self.instance), active=np.array([level is None for level in levels]), level=level)

    def _corner(self, program: Program, now: Round | None) -> Corner:
        from highspy import HighsBasisStatus

        self.solve(now)
        with self.phase("solve"):
            basis = self.highs.getBasis()
            status = [*basis.col_status, *basis.row_status]
            corner, pivots = optimum(program, [k for k, s in enumerate(status) if s == HighsBasisStatus.kBasic], self.limits)
        self.count(pivots)
        return corner

    # ---- rows: capacities, one for each user in rounds, limits; as in the programs of the formulations

    def _columns(self, rate: Rationals = ()) -> list[dict[int, Flint]]:
        rows = self.arcs.rows
        cap = {n: rows + len(rate) + k for k, n in enumerate(self.limited)}
        columns: list[dict[int, Flint]] = [{row: as_flint(part) for row, part in load} for load in self.arcs.load]
        for n, column in zip(self.arcs.user, columns, strict=True):
            column.update({rows + n: as_flint(-rate[n])} if rate else {})
            column.update({cap[n]: as_flint(1)} if n in cap else {})
        return columns

    def _sides(self, middle: Sequence[Flint]) -> list[Flint]:
        limits = [limit for limit in self.arcs.limits if limit is not None]
        return [*(as_flint(1) for _ in range(self.arcs.rows)), *middle, *(as_flint(limit) for limit in limits)]

    def _x(self, corner: Corner) -> Rationals:
        return tuple(as_fraction(corner.values.get(a, 0)) for a in range(len(self.arcs.user)))

    def _level(self, corner: Corner) -> Fraction:
        return as_fraction(corner.values.get(len(self.arcs.user), 0))

    def _duals(self, corner: Corner) -> tuple[Rationals, Rationals]:
        """(K R,) prices of the capacities and (N,) of the limits."""
        of = dict(zip(self.limited, corner.prices[len(corner.prices) - len(self.limited) :], strict=True))
        prices = tuple(as_fraction(p) for p in corner.prices[: self.arcs.rows])
        return prices, tuple(as_fraction(of.get(n, 0)) for n in range(len(self.arcs.limits)))


def solve_exactly(mechanism: Mechanism, instance: Instance, limits: Limits) -> ExactSolution:
    """The exact answer on the mechanism's own domain, with its proof; Stopped where no basis holds or time is over."""
    return ExactSession(mechanism, instance, limits).answer()


def from_floats(mechanism: Equilibrium, instance: Instance, limits: Limits) -> Answer:
    """PS-DSF with the pattern that `continuation` finds; its point is kept where no exact levels have that pattern."""
    session = Session(instance, limits)
    with session.phase("solve"):
        scaled, unit = mechanism.canonical(instance)
        near = Continuation().run(mechanism, scaled, replace(limits, accuracy="high"))
        tasks = near.x * unit[instance.arcs.user]
        if near.termination == "time_limit":  # equations in rationals take longer than that, and cannot be interrupted
            return Answer(tasks, None, "time_limit", session.times, near.iterations, "out of time in continuation")
        x = exact_levels(instance, tasks) if np.all(np.isfinite(tasks)) else None
        kappa = None if x is None else levels(instance, x)
    if x is None or kappa is None:
        message = "no exact levels have the pattern of the answer of continuation"
        return Answer(tasks, None, "error", session.times, near.iterations, message)
    prices = np.array([float(v) for v in kappa]).reshape(1, instance.K, instance.R)
    return Answer(np.array([float(v) for v in x]), prices, "optimal", session.times, near.iterations, x_exact=x)


class Exact(Method):
    """Rational answers."""

    id = "exact"
    kind = "exact"
    packages: ClassVar[tuple[str, ...]] = ("highspy", "flint")
    install = "pip install fairalloc"
    canonical = False

    def computes(self, mechanism: Mechanism) -> bool:
        """Linear programs and PS-DSF; the answers of "nb" and "fds" are irrational in general."""
        return isinstance(mechanism, Leximin | Utilitarian | PsDsf | TimeShared)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> ExactSession:
        """The exact data and a HiGHS session."""
        return ExactSession(mechanism, instance, limits)

    def run(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Answer:
        """Compute the mechanism on an instance in the units of the user; without a basis that holds, HiGHS' point is kept."""
        if isinstance(mechanism, PsDsf | TimeShared):
            return from_floats(mechanism, instance, limits)
        session = self.open(mechanism, instance, limits)
        try:
            solution = session.answer()
        except Stopped as stop:
            tasks = session.x * session.unit[instance.arcs.user] if len(session.x) else np.full(len(instance.arcs), np.nan)
            return Answer(tasks, None, stop.termination, session.times, session.iterations, str(stop))
        with session.phase("read"):
            x = np.array([float(v) for v in solution.x])
            prices = np.array([[float(p) for p in layer] for layer in solution.prices])
            prices = prices.reshape(-1, instance.K, instance.R)
        return Answer(x, prices, "optimal", session.times, session.iterations, x_exact=solution.x)


methods = (Exact(),)
