"""HiGHS without a modelling layer: sparse arrays handed to highspy, the floor for build time.

One model is kept over the rounds: fixing a user changes its row's bound and takes g out of the row, so the last basis stays
primal feasible and the primal simplex goes on from it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from fairalloc.formulations.leximin import LP, Leximin, Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Method, Session, captured

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "low": {"primal_feasibility_tolerance": 1e-7, "dual_feasibility_tolerance": 1e-7},
    "mid": {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    "high": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
}


class HighsSession(Session):
    """A HiGHS object with the first round in it."""

    def __init__(self, mechanism: Leximin, instance: Instance, limits: Limits) -> None:
        import highspy

        super().__init__(instance, limits)
        with self.phase("build"):
            self.round = Round.first(instance)
            lp = mechanism.lp(instance, self.round)
        with self.phase("compile"), captured():
            self.highs = highspy.Highs()
            for option, value in {"output_flag": False, "threads": 1, **OPTIONS[limits.accuracy]}.items():
                _must(self.highs.setOptionValue(option, value), option)
            _must(self.highs.passModel(_highs_lp(lp)), "passModel")

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002
        """One round; the capacity rows' duals are the prices."""
        if round is not None:
            with self.phase("compile"):
                self._turn_into(round)
        if np.isfinite(self.limits.deadline):
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + self.limits.left)
        with self.phase("solve"), captured():
            self.highs.run()
        with self.phase("read"):
            termination = self._termination()
            solution = self.highs.getSolution()
            self.count(self.highs.getInfo().simplex_iteration_count)
            if solution.value_valid:
                self.x = np.asarray(solution.col_value)[:-1]
            self.conclude(termination)
            rows = self.instance.K * self.instance.R
            prices = np.asarray(solution.row_dual)[:rows].reshape(self.instance.K, self.instance.R)
        return self.x, prices

    def _turn_into(self, round: Round) -> None:  # noqa: A002
        import highspy

        first, g = self.instance.K * self.instance.R, len(self.instance.arcs)
        for n in np.flatnonzero(round.active != self.round.active):
            self.highs.changeRowBounds(int(first + n), float(round.level[n]), highspy.kHighsInf)
            self.highs.changeCoeff(int(first + n), g, -float(round.active[n]))
        if not round.active.all():
            self.highs.setOptionValue("simplex_strategy", 4)  # primal: the last point stays feasible
        self.round = round

    def _termination(self) -> str:
        import highspy

        status = highspy.HighsModelStatus
        known = {
            status.kOptimal: "optimal",
            status.kTimeLimit: "time_limit",
            status.kIterationLimit: "iteration_limit",
            status.kInfeasible: "infeasible",
            status.kUnbounded: "unbounded",
            status.kUnboundedOrInfeasible: "infeasible",
        }
        return known.get(self.highs.getModelStatus(), "error")


def _highs_lp(lp: LP) -> Any:
    import highspy

    rows, columns = lp.matrix.shape
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows, columns
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_ = lp.cost
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = lp.lower, lp.upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = lp.matrix.indptr
    model.a_matrix_.index_ = lp.matrix.indices
    model.a_matrix_.value_ = lp.matrix.data
    return model


def _must(status: Any, what: str) -> None:
    import highspy

    if status == highspy.HighsStatus.kError:
        raise RuntimeError(f"HiGHS refused {what}")


class Highs(Method):
    """Direct HiGHS for the lexicographic mechanisms."""

    id = "highs"
    kind = "exact"
    packages: ClassVar[tuple[str, ...]] = ("highspy",)
    install = "pip install fairalloc"

    def computes(self, mechanism: Mechanism) -> bool:
        """The mechanisms whose rounds are linear programs."""
        return isinstance(mechanism, Leximin)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """Assemble the arrays and pass them on."""
        assert isinstance(mechanism, Leximin)
        return HighsSession(mechanism, instance, limits)


methods = (Highs(),)
