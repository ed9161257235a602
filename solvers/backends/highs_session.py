"""A session of HiGHS without a modelling layer: what the methods of highs.py and their kin do in a round."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairalloc.formulations.lexicographic.linear_program import LP, Round, round_bounds
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.errors import NotApplicable, shown
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import ENOUGH, InteriorPointOptions
from fairalloc.solvers.method import Session, Stopped
from fairalloc.solvers.options import TERMINATION, solver_options
from fairalloc.solvers.running.threads import highs_scheduler

if TYPE_CHECKING:
    from fairalloc.solvers.interior_point.program import Result


DENSE_ARCS = 15
"""Arcs a user above which the first round goes to `interior-point` where that applies (suite `lexicographic`)."""

FIRST_DENSE: Mapping[str, Any] = {"solver": "ipx"}
FIRST_SPARSE: Mapping[str, Any] = {"solver": "simplex", "presolve": "off"}
FIRST_FEW: Mapping[str, Any] = {**FIRST_SPARSE, "simplex_strategy": 4}
FEW = 500
"""No tasks are a feasible point, from which primal simplex takes down to half the time of dual simplex on so many arcs."""

MOST_STEPS = 1000
"""Iterations of HiGHS's interior-point methods, which take below 100 where they end: one stayed at an error of 7e-8 for ever."""

TAKEN = 1e-9, 1e15
"""The numbers of a matrix that HiGHS takes: it drops those below, and refuses a model with one above."""

ON_BOUND = 1e-9
"""What is within this of a bound, in parts of a server, is nonbasic in the basis of a warm start."""

LATER_ROUNDS: Mapping[str, Any] = {"solver": "simplex", "simplex_strategy": 4}
"""For the rounds after the first: primal simplex, because the last point stays feasible."""

COLD: Mapping[str, Any] = {"solver": "simplex", "simplex_strategy": 1}
"""Where those end without an answer, as one of 2,000 rounds of zero demands did: dual simplex from no basis."""

LOST = {"inaccurate", "error", "infeasible", "unbounded"}
"""How primal simplex ends that has lost feasibility on the way."""

REFINED, CLOSE = 3, 1e-4
"""Solves with the basis, and how near the first solution must be."""

REFINED_FROM = 2000
"""Arcs from which on that is done: below, it costs a quarter of the time, and rounds are few."""


class HighsSession(Session):
    """A HiGHS object with one round in it."""

    keep_model, table = False, "HIGHS"
    chosen: Mapping[str, Any] | None = None
    round: Round | None = None
    highs: Any = None

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002
        """One round, or the one program; the capacity rows' duals are the prices."""
        if self.keep_model and self.dense and round is not None and round.active.all():
            result = self._by_interior_point(round)
            self.x, self.last_prices = result.x, result.prices
            if result.error <= ENOUGH:
                return result.x, result.prices
        if self.highs is not None and self.keep_model and round is not None:
            with self.phase("compile"):
                self._modify_model(round)
        else:
            self._pass_model(round)
        termination = self._run(again=self.keep_model)
        with self.phase("read"):
            solution = self.highs.getSolution()
            y, z = np.asarray(solution.row_dual), np.asarray(solution.col_value)
            if self.keep_model and termination == "optimal" and self.instance.A >= REFINED_FROM:
                y, z = self.of_basis(self.lp(self.round), y, z)
            if solution.value_valid:
                self.x = z[: self.instance.A] * self.scale
            self.conclude(termination)
            prices = y[: self.instance.K * self.instance.R].reshape(self.instance.K, self.instance.R)
        return self.x, prices

    def of_basis(self, lp: LP, y: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Dual values and the basic solution to the last digits: the prices of late rounds multiply what HiGHS tolerates.

        Those of HiGHS, y and z, stay where the basis gives none that are near.
        """
        basic = self.highs.getBasicVariables()[1]
        side = np.where(np.isfinite(lp.upper), lp.upper, lp.lower)  # no row has two bounds that differ
        at, tight = np.flatnonzero(basic >= 0), np.ones(len(y), bool)
        tight[-1 - basic[basic < 0]] = False
        if not np.isfinite(side[tight]).all():
            return y, z
        columns, side = basic[at], np.where(tight, side, 0.0)
        matrix, right = lp.matrix[:, columns], np.zeros(len(y))
        y_new, z_new = np.zeros(len(y)), np.zeros(len(z))
        for _ in range(REFINED):
            lack = np.where(tight, side - matrix @ z_new[columns], 0.0)
            z_new[columns] += _scaled_solve(self.highs.getBasisSolve, lack)[at]
            right[at] = lp.cost[columns] - matrix.T @ y_new
            y_new += np.where(tight, _scaled_solve(self.highs.getBasisTransposeSolve, right), 0.0)
        near = np.abs(z_new - z).max() <= CLOSE * np.abs(z).max() and np.abs(y_new - y).max() <= CLOSE * np.abs(y).max()
        return (y_new, z_new) if near else (y, z)

    @cached_property
    def scale(self) -> Floats:
        """(A,) tasks that HiGHS counts as one: about what an arc can run alone, where it would drop or refuse loads."""
        load, gamma = self.instance.arcs.load.data, self.instance.arcs.gamma
        fits = load.min() >= TAKEN[0] and load.max() <= TAKEN[1]
        return np.ones(len(gamma)) if fits else np.exp2(np.round(np.log2(gamma)))

    def lp(self, round: Any) -> LP:  # noqa: A002
        assert isinstance(self.mechanism, Leximin | NestedMaxMin | Utilitarian), "the linear mechanisms are of these three kinds"
        return self.mechanism.lp(self.instance, round).scaled(self.scale)

    def _run(self, again: bool) -> str:
        """HiGHS on its model, `again` without its basis where that is LOST; the termination."""
        if self.limits.limited:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + self.limits.left)
        with self.phase("solve"), self.logged(), highs_scheduler():
            self.highs.run()
        info = self.highs.getInfo()
        counts = info.simplex_iteration_count, info.ipm_iteration_count, info.pdlp_iteration_count
        self.count(sum([count for count in counts if count > 0]))
        termination = TERMINATION.get(self.highs.getModelStatus().name, "error")
        if not (again and termination in LOST):
            return termination
        self.highs.clearSolver()
        set_options(self.highs, COLD)
        return self._run(again=False)

    @cached_property
    def dense(self) -> bool:
        """Whether users have many arcs to choose from, and the interior-point method can be asked."""
        if DENSE_ARCS * self.instance.N >= self.instance.A:
            return False
        from fairalloc.solvers.interior_point.program import why_not

        return not why_not("highs:leximin", self.instance, self.limits.own(InteriorPointOptions))

    def _by_interior_point(self, round: Round) -> "Result":  # noqa: A002
        from fairalloc.solvers.interior_point.max_min import MaxMinArrow  # few instances need it

        assert isinstance(self.mechanism, Leximin)
        with self.phase("build"):
            arrow = MaxMinArrow(self.mechanism.rate(self.instance), self.instance)
        with self.phase("compile"):
            arrow.compile(self.limits.own(InteriorPointOptions))
        with self.phase("solve"):
            result = arrow.solve(round, self.limits, self.offer)
        self.count(result.iterations)
        return result

    def _pass_model(self, round: Round | None) -> None:  # noqa: A002
        with self.phase("build"):
            self.round = round
            lp = self.lp(round)
            if self.chosen:  # the others imply loads of at most 1, and PDLP prints a warning of free rows
                lp = replace(lp, upper=np.where(np.isinf(lp.lower) & np.isinf(lp.upper), 2.0, lp.upper))
        with self.phase("compile"):
            first = FIRST_DENSE if self.dense else FIRST_FEW if self.instance.A <= FEW else FIRST_SPARSE
            self._open(lp, first if self.keep_model else self.chosen or {})
            if self.limits.start is not None and round is not None:
                self.highs.setBasis(basis_at(lp, self.limits.start / self.scale, self.instance.A))

    def _open(self, lp: LP, chosen: Mapping[str, Any]) -> None:
        """A HiGHS object with the LP; its options are those of the accuracy, then the chosen ones, then the user's."""
        import highspy

        self.highs = highspy.Highs()
        accurate = isinstance(self.mechanism, NestedMaxMin)  # dual values of many rounds are compared
        meant = solver_options(self.table, "high" if accurate else self.limits.accuracy)
        ours: dict[str, Any] = {"output_flag": self.limits.log, "threads": self.limits.threads or 1}
        ours |= {"simplex_iteration_limit": lp.pivots, "ipm_iteration_limit": MOST_STEPS, **meant, **chosen}
        ours |= {"presolve": "off"} if ours.get("presolve") != "off" and lp.far_apart else {}
        with self.logged():
            set_options(self.highs, ours)
            set_options(self.highs, self.limits.solver_options)
            pass_lp(self.highs, lp)

    def _modify_model(self, round: Round) -> None:  # noqa: A002
        assert self.round is not None
        lower, upper, most = round_bounds(self.instance, round)
        first, g = self.instance.K * self.instance.R, self.instance.A
        self.highs.changeRowsBounds(len(lower), np.arange(len(lower), dtype=np.int32), lower, upper)
        self.highs.changeColsBounds(len(most), np.arange(len(most), dtype=np.int32), np.zeros(len(most)), most)
        for n in np.flatnonzero(round.active != self.round.active):
            self.highs.changeCoeff(int(first + n), g, -1.0 if round.active[n] else 0.0)
        set_options(self.highs, {**LATER_ROUNDS, **self.limits.solver_options})
        self.round = round


def _scaled_solve(solve: Callable[[Floats], tuple[Any, Floats]], right: Floats) -> Floats:
    """A solve of HiGHS, which takes numbers below 1e-14 for 0, with the largest number made 1; nan where it has no factor."""
    size = float(np.abs(right).max()) or 1.0
    status, found = solve(right / size)
    return found * size if status.name == "kOk" else np.full(len(right), np.nan)


def set_options(highs: Any, options: Mapping[str, Any]) -> None:
    """NotApplicable for an option that HiGHS does not know, or a value that it does not take."""
    for option, value in options.items():
        try:
            taken = highs.setOptionValue(option, value).name != "kError"
        except (TypeError, ValueError):  # a value of a kind that no option has
            taken = False
        if not taken:
            raise NotApplicable(f"HiGHS refuses the options {shown(dict(options))}: {option!r} with the value {shown(value)}")


def basis_at(lp: LP, x: Floats, arcs: int) -> Any:
    """A basis of a round that HiGHS may complete, from tasks x (A,): what is between its bounds is basic."""
    import highspy

    status, basis = highspy.HighsBasisStatus, highspy.HighsBasis()
    z = np.append(np.maximum(x, 0.0), 0.0)
    own = lp.matrix @ z
    fair = np.flatnonzero(lp.matrix[:, [arcs]].toarray().ravel() < 0)
    z[-1] = own[fair].min(initial=np.inf) if len(fair) else 0.0
    rows = lp.matrix @ z
    loose = (rows < lp.upper - ON_BOUND) & (rows > lp.lower + ON_BOUND)
    basis.col_status = [status.kBasic if v > ON_BOUND else status.kLower for v in z]
    bound = [status.kUpper if up else status.kLower for up in np.isfinite(lp.upper)]
    basis.row_status = [status.kBasic if free else there for free, there in zip(loose, bound, strict=True)]
    basis.alien = True
    return basis


def solved_lp(lp: LP, **options: Any) -> Any:
    """HiGHS after it solved the LP, silent and in one thread; Stopped where it refuses that."""
    import highspy

    highs = highspy.Highs()
    ours = {"output_flag": False, "threads": 1, "primal_feasibility_tolerance": 1e-9, "simplex_iteration_limit": lp.pivots}
    for option, value in {**ours, **options}.items():
        highs.setOptionValue(option, value)
    pass_lp(highs, lp)
    with highs_scheduler():
        highs.run()
    return highs


def basic_columns(highs: Any) -> list[int]:
    """The basic ones of [A I] in the last basis of HiGHS, which has none at first."""
    from highspy import HighsBasisStatus

    basis = highs.getBasis()
    return [k for k, s in enumerate([*basis.col_status, *basis.row_status]) if s == HighsBasisStatus.kBasic]


def pass_lp(highs: Any, lp: LP) -> None:
    """Make the LP the model of HiGHS, array by array; Stopped where it is refused."""
    import highspy

    (rows, columns), matrix = lp.matrix.shape, lp.matrix
    sizes = columns, rows, matrix.nnz, int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMaximize), 0.0
    bounds, real = (np.zeros(columns), lp.most, lp.lower, lp.upper), np.zeros(columns, np.int32)
    status = highs.passModel(*sizes, lp.cost, *bounds, matrix.indptr, matrix.indices, matrix.data, real)
    if status.name == "kError":
        largest = np.abs(matrix.data).max(initial=0.0)
        given = f"a model whose numbers go up to {largest:.0e}"
        raise Stopped("error", f"HiGHS refuses {given}, but it takes none above {TAKEN[1]:.0e}")
