"""`highs` for nested max-min fairness with many arcs: generated columns, and later rounds on the face of earlier ones.

1. A round starts with few columns, and gets those whose reduced cost is positive, dearest first, until there are none.
2. Columns whose reduced cost is negative then carry nothing in any later round, where the levels of this one are kept: they are
   left out. By themselves the prices of a later round say nothing of them, so those of earlier rounds are added as often as it
   takes (`_lifted`): these are worth what the kept levels cost, so the sum proves the same.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from fairalloc.formulations.lexicographic.linear_program import LP
from fairalloc.formulations.lexicographic.nested import NestedRound
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.highs import HighsSession, pass_lp
from fairalloc.solvers.method import Stopped

MANY = 20_000
"""Arcs from which on columns are generated."""

NONE = 1e-11
"""A reduced cost that is 0, in canonical units."""

BATCH = 4_000
"""Columns that are added at once."""

REFINED, CLOSE = 3, 1e-4
"""Solves with the basis, and how near the first solution must be."""

OFTEN = 1e2
"""How often earlier prices may be added before a column is added instead."""


class ColumnsSession(HighsSession):
    """The rounds of an instance with many arcs; `columns` (A,) says which arcs are in the program."""

    columns: Any = None
    earlier: tuple[Floats, Floats] | None = None
    """Prices (K R,) and reduced costs (A,) of all earlier rounds together."""

    def solve(self, round: Any) -> tuple[Floats, Floats | None]:  # noqa: A002
        """One round; fewer arcs than MANY are one program."""
        if self.instance.A < MANY or not isinstance(round, NestedRound):
            return super().solve(round)
        with self.phase("build"):
            lp = self.lp(round)
            self.columns = self._first() if self.columns is None else self.columns
        inside = np.append(np.flatnonzero(self.columns), self.instance.A)
        self._start(lp, inside)
        while True:
            y, z = self._solved(lp, inside)
            reduced = (lp.cost - lp.matrix.T @ y)[:-1]
            p, reduced, more = self._lifted(y[: self.instance.K * self.instance.R], reduced)
            if not len(more):
                break
            self._add(lp, more)
            inside = np.append(inside, more)
        x = np.zeros(self.instance.A)
        arcs = inside != self.instance.A
        x[inside[arcs]] = z[arcs]
        self.x = x if self.earlier is None or self._level(round, x) > self._level(round, self.x) + NONE else self.x
        known = self.earlier or (0.0, 0.0)
        self.earlier = known[0] + p, known[1] + reduced
        self.columns = (self.x > 0) | (np.isin(np.arange(self.instance.A), inside) & (self.earlier[1] > -NONE))
        return self.x, p.reshape(self.instance.K, self.instance.R)

    def _level(self, now: NestedRound, x: Floats) -> float:
        """The level at tasks x; where the last x has it too, that stays, so that no level drifts."""
        tree = self.mechanism.tree(self.instance)  # type: ignore[attr-defined]
        return float((tree.levels(x) - now.base)[now.active].min())

    def _first(self) -> Any:
        """The cheapest arc of each child of the root on each server, at one price of all capacities."""
        instance, arcs = self.instance, self.instance.arcs
        tree = self.mechanism.tree(instance)  # type: ignore[attr-defined]
        top = np.argmax((tree.groups.members.tocsc()[tree.groups.depth == 1]).toarray(), axis=0)
        cost = arcs.by_arc.sum(axis=1) / np.asarray(tree.shares[len(tree.groups) :].sum(axis=1)).ravel()[arcs.user]
        order = np.lexsort((cost, top[arcs.user] * instance.K + arcs.server))
        pair = (top[arcs.user] * instance.K + arcs.server)[order]
        result = np.zeros(len(arcs), dtype=bool)
        result[order[np.append(True, pair[1:] != pair[:-1])]] = True
        return result

    def _start(self, lp: LP, inside: Any) -> None:
        """A model of these columns alone."""
        part = replace(lp, cost=lp.cost[inside], matrix=lp.matrix[:, inside], most=lp.most[inside])
        with self.phase("compile"):
            self.round = None
            import highspy

            self.highs = highspy.Highs()
            self._set({"output_flag": False, "threads": self.limits.threads or 1, "solver": "simplex", "presolve": "off"})
            self._set({"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})
            pass_lp(self.highs, part)

    def _add(self, lp: LP, more: Any) -> None:
        """Columns, nonbasic: primal simplex goes on from the last basis."""
        part = lp.matrix[:, more]
        count, zeros = len(more), np.zeros(len(more))
        indptr, indices = part.indptr[:-1].astype(np.int32), part.indices.astype(np.int32)
        self.highs.addCols(count, lp.cost[more], zeros, lp.most[more], part.nnz, indptr, indices, part.data)
        self._set({"simplex_strategy": 4})

    def _solved(self, lp: LP, inside: Any) -> tuple[Floats, Floats]:
        """Dual values of the rows and values of the columns."""
        if self.limits.limited:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + self.limits.left)
        with self.phase("solve"), self.logged():
            self.highs.run()
        termination = self._termination()
        if termination != "optimal":
            raise Stopped(termination)
        self.count(self.highs.getInfo().simplex_iteration_count)
        return self._of_basis(lp, inside)

    def _of_basis(self, lp: LP, inside: Any) -> tuple[Floats, Floats]:
        """The basic solution and its dual values to the last digits: the prices of late rounds multiply what HiGHS tolerates."""
        from highspy import HighsBasisStatus
        from scipy.sparse.linalg import splu

        basis, solution = self.highs.getBasis(), self.highs.getSolution()
        basic = np.flatnonzero([status == HighsBasisStatus.kBasic for status in basis.col_status])
        tight = np.flatnonzero([status != HighsBasisStatus.kBasic for status in basis.row_status])
        y, z = np.asarray(solution.row_dual), np.asarray(solution.col_value)
        matrix = lp.matrix[:, inside[basic]].tocsr()[tight].tocsc()
        if matrix.shape[0] != matrix.shape[1] or not len(basic):
            return y, z
        at_lower = np.array([status == HighsBasisStatus.kLower for status in basis.row_status])[tight]
        side = np.where(at_lower, lp.lower[tight], lp.upper[tight])
        y_new, z_new = np.zeros(len(y)), np.zeros(len(z))
        try:
            factors = splu(matrix)
            for _ in range(REFINED):
                z_new[basic] += factors.solve(side - matrix @ z_new[basic])
                y_new[tight] += factors.solve(lp.cost[inside[basic]] - matrix.T @ y_new[tight], trans="T")
        except RuntimeError:  # a basis that is singular to rounding
            return y, z
        near = np.abs(z_new - z).max() <= CLOSE * np.abs(z).max() and np.abs(y_new - y).max() <= CLOSE * np.abs(y).max()
        return (y_new, z_new) if near and np.isfinite(side).all() else (y, z)

    def _lifted(self, p: Floats, reduced: Floats) -> tuple[Floats, Floats, Any]:
        """Prices with which earlier ones leave no column dear enough, their reduced costs, and columns that have to be added."""
        bad = np.flatnonzero(reduced > NONE)
        if not len(bad):
            return p, reduced, bad
        times = np.full(len(bad), np.inf)
        if self.earlier is not None:
            slack = -self.earlier[1][bad]
            times = np.divide(reduced[bad], slack, out=times, where=slack > NONE)
        more = bad[times > OFTEN]
        if len(more):
            return p, reduced, more[np.argsort(-reduced[more])[:BATCH]]
        assert self.earlier is not None
        factor = float(times.max())
        return p + factor * self.earlier[0], reduced + factor * self.earlier[1], more
