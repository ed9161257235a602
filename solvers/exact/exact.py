r"""`exact`: the rational answer of a linear program, of a sequence of them, or of PS-DSF.

1. HiGHS solves the program, or the program of a round, in floating point; its last basis contains no rounded number. Where
   numbers are too far apart for that, the slack variables are the first basis on small instances.
2. The rational simplex method (simplex.py) computes the basic solution of that basis, and pivots where it is not optimal.
3. For a lexicographic mechanism: fix the users at the round's level g whose y_n > 0, which makes the bound (*) of rule.py zero,
   or who run all their tasks. Their levels enter the next round as rationals. Repeat from 1 until every user is fixed.

The answer comes with the dual values of every round, which prove it (models/exact/proofs.py). For PS-DSF `continuation` finds
which arcs are used and which resources are full, and ps_dsf.py solves the linear equations that follow.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from fairalloc.formulations.floors import WithFloors
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.formulations.ps_dsf_tdm import TimeShared
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.proofs import ExactNestedRound, ExactProgram, ExactRound
from fairalloc.models.exact.rationals import Rationals, as_fraction, exact_arcs
from fairalloc.models.exact.trees import ExactTree
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.transformations.guarantees import floors_as_guarantees, unproved_floors
from fairalloc.models.tree import Tree
from fairalloc.solvers.backends.highs_session import HighsSession, basic_columns
from fairalloc.solvers.exact.ps_dsf import exact_levels, levels
from fairalloc.solvers.exact.simplex import BasicSolution, RationalProgram, SimplexOptions, optimal_basic_solution
from fairalloc.solvers.method import Limits, Method, Session, Stopped


@dataclass(frozen=True)
class ExactSolution:
    """The tasks on arcs, and what proves them."""

    x: Rationals
    proof: tuple[ExactRound, ...] | tuple[ExactNestedRound, ...] | ExactProgram

    @property
    def prices(self) -> list[Rationals]:
        return [self.proof.prices] if isinstance(self.proof, ExactProgram) else [part.prices for part in self.proof]


FROM_SLACKS = 200
"""Arcs up to which the slacks are the basis to start from where floating point finds none that is right."""

ExactOptimum: TypeAlias = tuple[Rationals, Fraction, Rationals, Rationals, Rationals]
"""The tasks (A,), the largest value, and the dual values: prices (K R,), those of the rows between, those of the limits (N,)."""


class ExactSession(HighsSession):
    """HiGHS in canonical units for the bases, rationals in the units of the user for the numbers."""

    def __init__(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> None:
        scaled, self.unit = mechanism.canonical(instance)
        super().__init__(mechanism, scaled, replace(limits, accuracy="high"))
        with self.phase("build"):
            self.original, self.exact, self.arcs = instance, instance.exact, exact_arcs(instance)
            self.limited = [n for n, limit in enumerate(self.arcs.limits) if limit is not None]

    def answer(self) -> ExactSolution:
        if isinstance(self.mechanism, Utilitarian):
            return self._utilitarian()
        if isinstance(self.mechanism, NestedMaxMin):
            return self._nested(self.mechanism)
        assert isinstance(self.mechanism, Leximin)
        rate = self.mechanism.exact_rate(self.original)
        if len(rate) == len(self.arcs.user) and self.mechanism.several_rounds:
            return self._filled(rate)
        if not isinstance(self.mechanism, MaxMin):
            return self._leximin(rate)
        x, level, prices, dual, limits = self._round(rate, [None] * len(rate))
        worth = tuple(f * r for f, r in zip(dual, rate, strict=True))
        return ExactSolution(x, ExactProgram(level, prices, worth, limits))

    def _utilitarian(self) -> ExactSolution:
        weights = self.exact.weights
        floors = {n: floor for n, floor in enumerate(self.exact.min_tasks) if floor}
        middle = [({n: Fraction(1)}, floor) for n, floor in floors.items()]
        x, value, prices, forced, limits = self._optimum(middle, (), None, weights)
        of = dict(zip(floors, forced, strict=True))
        worth = tuple(w + of.get(n, 0) for n, w in enumerate(weights))
        return ExactSolution(x, ExactProgram(value, prices, worth, limits))

    def _leximin(self, rate: Rationals) -> ExactSolution:
        levels: list[Fraction | None] = [None] * len(rate)
        rounds = []
        while None in levels:
            x, level, prices, *_ = self._round(rate, levels)
            rounds.append(self._fixed(level, self.arcs.tasks(x), prices, rate, levels))
            for n in rounds[-1].users:
                levels[n] = level
        return ExactSolution(x, tuple(rounds))

    def _filled(self, rate: Rationals) -> ExactSolution:
        """The same where no user has a choice of arcs: all rise until a row that they need is full, or all their tasks run."""
        arcs, rounds, levels = self.arcs, list[ExactRound](), list[Fraction | None]([None] * len(rate))
        left, rising = [Fraction(1)] * arcs.rows, list(arcs.loads([1 / r for r in rate]))
        with self.phase("solve"):
            while None in levels and self.limits.left:
                room = [a / b if b else None for a, b in zip(left, rising, strict=True)]
                most = [r * m for r, m, known in zip(rate, arcs.limits, levels, strict=True) if known is None and m is not None]
                g = min([*most, *(v for v in room if v is not None)])
                tasks = tuple((g if known is None else known) / r for known, r in zip(levels, rate, strict=True))
                rounds.append(self._fixed(g, tasks, [Fraction(v == g) for v in room], rate, levels))
                for n in rounds[-1].users:
                    levels[n] = g
                    for row, part in arcs.load[n]:
                        left[row], rising[row] = left[row] - part * tasks[n], rising[row] - part / rate[n]
        self.count(len(rounds))
        return ExactSolution(tasks, tuple(rounds))

    def _nested(self, item: NestedMaxMin) -> ExactSolution:
        """The rounds of `NestedMaxMin.lp`: a node is fixed where the dual value of its row is positive.

        By complementary slackness it has exactly the level of the round in every optimal answer. These values add up to 1, so
        every round fixes a node.
        """
        tree = ExactTree.of(self.original)
        floors, nodes, rounds = list(tree.floors), range(len(tree.floors)), list[ExactNestedRound]()
        base = tree.floors if item.compared == "borrowed" else (Fraction(0),) * len(nodes)
        counted = [{n: own[k] for n, own in enumerate(tree.above) if k in own} for k in nodes]
        now = item.first(self.instance)
        while now.active.any():
            active, kept = np.flatnonzero(now.active).tolist(), [k for k in nodes if floors[k] > 0]
            middle = [*((counted[k], floors[k]) for k in kept), *((counted[k], base[k]) for k in active)]
            now = replace(now, floor=np.array(floors, dtype=float))
            x, level, prices, dual, limits = self._optimum(middle, range(len(kept), len(middle)), now)
            held, rising = dict(zip(kept, dual[: len(kept)], strict=True)), dict(zip(active, dual[len(kept) :], strict=True))
            of_nodes = (tuple(of.get(k, Fraction(0)) for k in nodes) for of in (rising, held))
            fixed = tuple(k for k in active if rising[k])
            rounds.append(ExactNestedRound(level, fixed, prices, limits, *of_nodes))
            for k in fixed:
                floors[k] = base[k] + level
            now = now.after(Tree.of(self.instance), np.isin(nodes, fixed), np.array(floors, dtype=float))
        return ExactSolution(x, tuple(rounds))

    def _fixed(
        self, level: Fraction, tasks: Rationals, prices: Sequence[Fraction], rate: Rationals, levels: Sequence[Fraction | None]
    ) -> ExactRound:
        """Who is fixed: users at the level g whose price is positive, or who run all their tasks."""
        worth = [q / r for q, r in zip(self.arcs.cheapest(prices), rate, strict=True)]
        total = sum((y for y, known in zip(worth, levels, strict=True) if known is None), Fraction(0))
        scale = 1 / total if total else Fraction(0)  # prices that only users fixed before pay prove nothing new
        at_level = [n for n, known in enumerate(levels) if known is None and rate[n] * tasks[n] == level]
        users = tuple(n for n in at_level if scale * worth[n] or tasks[n] == self.arcs.limits[n])
        return ExactRound(level, users, tuple(scale * p for p in prices), tuple(scale * y for y in worth))

    def _round(self, rate: Rationals, levels: Sequence[Fraction | None]) -> ExactOptimum:
        """That of the round in which the users without a level are active."""
        assert isinstance(self.mechanism, Leximin)
        scale = self.mechanism.rate(self.instance)[0] / (float(rate[0]) * self.unit[0])
        active, known = np.array([level is None for level in levels]), [level or Fraction(0) for level in levels]
        now = replace(Round.first(self.instance), active=active, level=np.array(known, float) * scale)
        middle = [({n: r}, level) for n, (r, level) in enumerate(zip(rate, known, strict=True))]
        return self._optimum(middle, np.flatnonzero(active).tolist(), now)

    def _optimum(
        self,
        middle: Sequence[tuple[Mapping[int, Fraction], Fraction]],
        rising: Iterable[int],
        now: Any,
        weights: Rationals | None = None,
    ) -> ExactOptimum:
        """Of the program of the round `now`, whose rows are capacities, those of `middle`, limits.

        A row ({user: part}, least) says that the parts of tasks add up to at least `least`, and t more in the rows `rising`. The
        maximum is that of t, which is the last column, or of the tasks by weights (N,).
        """
        with self.phase("build"):
            arcs, first = self.arcs, self.arcs.rows
            of_user: list[dict[int, Fraction]] = [{} for _ in arcs.limits]
            for row, (parts, _) in enumerate(middle, first):
                for n, part in parts.items():
                    of_user[n][row] = -part
            for row, n in enumerate(self.limited, first + len(middle)):
                of_user[n][row] = Fraction(1)
            columns = [dict(load) | of_user[n] for n, load in zip(arcs.user, arcs.load, strict=True)]
            cost = [0 if weights is None else weights[n] for n in arcs.user]
            if weights is None:
                cost.append(1)
                columns.append({first + row: Fraction(1) for row in rising})
            limits = [limit for limit in arcs.limits if limit is not None]
            sides = [*[Fraction(1)] * first, *(-least for _, least in middle), *limits]
            program = RationalProgram.of_rows(cost, columns, sides)
        solution = self._basic_solution(program, now)
        x = tuple(as_fraction(solution.values.get(a, 0)) for a in range(len(arcs.user)))
        value = as_fraction(sum(program.cost[k] * v for k, v in solution.values.items()))
        dual, last = tuple(map(as_fraction, solution.dual_values)), first + len(middle)
        of = dict(zip(self.limited, dual[last:], strict=True))
        return x, value, dual[:first], dual[first:last], tuple(of.get(n, Fraction(0)) for n in range(len(arcs.limits)))

    def _basic_solution(self, program: RationalProgram, now: Any) -> BasicSolution:
        """The optimal one, from the basis that HiGHS has for this round."""
        try:
            self.solve(now)
            with self.phase("solve"):
                solution, pivots = optimal_basic_solution(program, basic_columns(self.highs), self.limits)
        except (RuntimeError, Stopped):  # numbers too far apart for floating point
            _ = self.limits.left  # raises when there is no time
            options = self.limits.own(SimplexOptions)
            if self.original.A > FROM_SLACKS:
                raise
            most = max(options.max_pivots, 20 * len(program.columns))  # all others may have to enter, some more than once
            limits = replace(self.limits, options=replace(options, max_pivots=most))
            with self.phase("solve"):
                solution, pivots = optimal_basic_solution(program, program.slacks, limits)
        self.count(pivots)
        return solution


def without_floors(mechanism: Mechanism) -> Mechanism:
    """The rule or the program that the floors of an instance were added to; any other mechanism itself."""
    return mechanism.base if isinstance(mechanism, WithFloors) else mechanism


def in_rationals(mechanism: Mechanism, home: Instance) -> tuple[Mechanism, Instance] | None:
    """What `solve_exactly` takes for a mechanism, None where it does not compute that.

    For a rule with floors that is nested max-min fairness with guarantees. FairallocError where floors cannot be kept, or
    dominant shares are not defined.
    """
    item = without_floors(mechanism)
    if not Exact().computes(item):
        return None
    domain = item.domain(home)
    if not (home.has_floors and isinstance(item, Leximin) and item.exact_share is not None):
        return item, domain
    nested = NestedMaxMin()
    return nested, nested.domain(floors_as_guarantees(domain, item.exact_shares(domain)))


def solve_exactly(mechanism: Mechanism, instance: Instance, limits: Limits) -> ExactSolution:
    """The exact answer with its proof, of linear programs, in the units of the user; Stopped where no optimal basis is found."""
    return ExactSession(mechanism, instance, limits).answer()


def from_floats(mechanism: Equilibrium, session: Session) -> tuple[Floats, Floats | None]:
    """PS-DSF with the pattern that `continuation` finds; its point is kept where no exact levels have that pattern."""
    from fairalloc.solvers.game.continuation import Continuation  # not for a linear program

    instance, limits = session.instance, session.limits
    with session.phase("solve"):
        scaled, unit = mechanism.canonical(instance)
        near = Continuation().run(mechanism, scaled, replace(limits, accuracy="high"))
        session.x, session.iterations = near.x * unit[instance.arcs.user], near.iterations
        if near.termination in ("time_limit", "interrupted"):  # equations in rationals take longer, and cannot be interrupted
            raise Stopped(near.termination, f"continuation: {near.message}")
        x = exact_levels(instance, session.x, limits) if np.isfinite(session.x).all() else None
    if x is None:
        raise Stopped("error", "no exact levels have the pattern of the answer of continuation")
    session.x_exact = x
    kappa = levels(instance, x) if instance.single_variant else None  # several variants need no levels
    return np.array(x, float), None if kappa is None else np.array(kappa, float).reshape(1, instance.K, instance.R)


class Exact(Method):
    """Rational answers."""

    id = "exact"
    kind = "exact"
    packages = ("highspy", "flint")
    options = SimplexOptions()
    canonical = False

    def computes(self, mechanism: Mechanism) -> bool:
        """Linear programs and PS-DSF, not the best of its answers; those of "nb" and "fds" are irrational in general."""
        if isinstance(mechanism, PsDsf) and mechanism.chooses:
            return False
        if isinstance(mechanism, WithFloors):
            return self.computes(mechanism.base)
        without = isinstance(mechanism, Leximin) and mechanism.exact_share is None
        return isinstance(mechanism, Leximin | NestedMaxMin | Utilitarian | PsDsf | TimeShared) and not without

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Not where the floors of a rule are no guarantees."""
        rule = mechanism.keeps_floors and isinstance(without_floors(mechanism), Leximin)
        return unproved_floors(instance) if rule else ""

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """The exact data and a HiGHS session for linear programs."""
        try:
            found = in_rationals(mechanism, instance) if mechanism.keeps_floors else None
        except NotApplicable as refused:  # floors that cannot be kept, as guarantees
            raise Stopped("infeasible", str(refused)) from None
        if found is not None:
            return ExactSession(*found, limits)
        return (Session if isinstance(mechanism, Equilibrium) else ExactSession)(mechanism, instance, limits)

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats | None]:
        """Compute the mechanism on an instance in the units of the user; without a basis that holds, HiGHS' point is kept."""
        if isinstance(mechanism, Equilibrium):
            return from_floats(mechanism, session)
        assert isinstance(session, ExactSession)
        instance = session.original
        try:
            solution = session.answer()
        finally:  # whatever ends it, the point of HiGHS goes back to the units of the user
            session.x, session.last_prices = session.x * session.unit[instance.arcs.user][: len(session.x)], None
        session.x_exact, session.inaccurate = solution.x, False  # whatever HiGHS said of the bases
        with session.phase("read"):
            prices = np.array(solution.prices, float).reshape(-1, instance.K, instance.R)
            if mechanism.keeps_floors and isinstance(session.mechanism, NestedMaxMin):
                prices /= instance.weights.sum()  # its levels are by parts of all weights (transformations/guarantees.py)
            elif mechanism.keeps_floors:
                session.judge_model(0.0)
            return np.array(solution.x, float), prices


methods = (Exact(),)
