"""`highs` for nested max-min fairness with many arcs: generated columns, and later rounds on the face of earlier ones.

1. A round starts with few columns, and gets those whose reduced cost is positive, dearest first, until there are none.
2. Columns whose reduced cost is negative then carry nothing in any later round, where the levels of this one are kept: they are
   left out. By themselves the prices of a later round say nothing of them, so those of earlier rounds are added as often as it
   takes (`_lifted`): these are worth what the kept levels cost, so the sum proves the same.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import LP
from fairalloc.formulations.lexicographic.nested import NestedRound
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.models.numbers import Floats
from fairalloc.models.tree import Tree
from fairalloc.solvers.backends.highs import COLD, HighsSession, pass_lp
from fairalloc.solvers.lexicographic.nested_rounds import nested_lp
from fairalloc.solvers.method import Stopped

MANY = 20_000
"""Arcs from which on columns are generated."""

NONE = 1e-11
"""A reduced cost that is 0, in canonical units, or in parts of all prices."""

BATCH = 4_000
"""Columns that are added at once."""

REFINED, CLOSE = 3, 1e-4
"""Solves with the basis, and how near the first solution must be."""

OFTEN = 1e5
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
            self.columns = self._first() if self.columns is None else self.columns
            inside = np.flatnonzero(self.columns)
            lp = self._start(round, inside)
        while True:
            y, z = self._solved(lp)
            p, reduced, more = self._lifted(y[: self.instance.K * self.instance.R], self._reduced(round, y))
            if not len(more):
                break
            inside = np.append(inside, more)
            self.columns[more] = True
            lp = self._add(round, lp, more)
        x = np.zeros(self.instance.A)
        x[inside] = np.delete(z, lp.place)
        self.x = x if self.earlier is None or self._level(round, x) > self._level(round, self.x) + NONE else self.x
        known, whole = self.earlier or (0.0, 0.0), max(float(p.sum()), 1.0)  # of equal size, so that none drowns the others
        self.earlier = known[0] + p / whole, known[1] + reduced / whole
        self.columns = np.zeros(self.instance.A, dtype=bool)
        self.columns[inside] = (reduced[inside] > -NONE * whole) | (self.x[inside] > 0)
        return self.x, p.reshape(self.instance.K, self.instance.R)

    @property
    def tree(self) -> Tree:
        """The nodes, in canonical units."""
        assert isinstance(self.mechanism, NestedMaxMin)
        return self.mechanism.tree(self.instance)

    def _level(self, now: NestedRound, x: Floats) -> float:
        """The level at tasks x; where the last x has it too, that stays, so that no level drifts."""
        return float((self.tree.levels(x) - now.base)[now.active].min())

    def _first(self) -> Any:
        """The cheapest arc of each child of the root on each server, at one price of all capacities."""
        arcs, tree, servers = self.instance.arcs, self.tree, self.instance.K
        top = np.argmax(tree.groups.members.tocsc()[tree.groups.depth == 1].toarray(), axis=0)
        share = tree.shares[len(tree.groups) :].diagonal()
        cost, pair = arcs.by_arc.sum(axis=1) / share[arcs.user], top[arcs.user] * servers + arcs.server
        order = np.lexsort((cost, pair))
        result = np.zeros(len(arcs), dtype=bool)
        result[order[np.append(True, pair[order][1:] != pair[order][:-1])]] = True
        return result

    def _start(self, now: NestedRound, inside: Any) -> "Columns":
        """A model of these columns alone."""
        import highspy

        assert isinstance(self.mechanism, NestedMaxMin)
        part = nested_lp(self.mechanism, self.instance, now, inside)
        self.highs = highspy.Highs()
        self._set({"output_flag": False, "threads": self.limits.threads or 1, "solver": "simplex", "presolve": "off"})
        self._set({"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})
        pass_lp(self.highs, part)
        return Columns(part, len(inside))

    def _add(self, now: NestedRound, lp: "Columns", more: Any) -> "Columns":
        """Columns, nonbasic: primal simplex goes on from the last basis."""
        assert isinstance(self.mechanism, NestedMaxMin)
        part = nested_lp(self.mechanism, self.instance, now, more)
        part = replace(part, cost=part.cost[:-1], matrix=part.matrix[:, :-1], most=part.most[:-1])
        start, index = part.matrix.indptr[:-1].astype(np.int32), part.matrix.indices.astype(np.int32)
        self.highs.addCols(len(more), part.cost, 0.0 * part.cost, part.most, part.matrix.nnz, start, index, part.matrix.data)
        self._set({"simplex_strategy": 4})
        matrix = sp.hstack([lp.lp.matrix, part.matrix], format="csc")
        cost, most = np.append(lp.lp.cost, part.cost), np.append(lp.lp.most, part.most)
        return replace(lp, lp=replace(lp.lp, cost=cost, matrix=matrix, most=most))

    def _reduced(self, now: NestedRound, y: Floats) -> Floats:
        """(A,) reduced costs of all arcs at the dual values of the rows of a round."""
        instance, tree = self.instance, self.tree
        rows = instance.K * instance.R
        first, last = rows + int(now.kept.sum()), rows + int(now.kept.sum()) + int(now.active.sum())
        nodes, limits = np.zeros(len(now.active)), np.zeros(instance.N)
        nodes[now.kept] += y[rows:first]
        nodes[now.active] += y[first:last]
        limits[np.isfinite(instance.max_tasks)] = y[last:]
        of_user: Floats = tree.shares.T @ nodes + limits
        result: Floats = -(instance.arcs.by_arc @ y[:rows]) - of_user[instance.arcs.user]
        return result

    def _solved(self, lp: "Columns") -> tuple[Floats, Floats]:
        """Dual values of the rows and values of the columns."""
        if self.limits.limited:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + self.limits.left)
        with self.phase("solve"), self.logged():
            self.highs.run()
            if self._termination() != "optimal":  # primal simplex may lose feasibility on the way: once more from no basis
                self.highs.clearSolver()
                self._set(COLD)
                self.highs.run()
        termination = self._termination()
        if termination != "optimal":
            raise Stopped(termination)
        self.count(self.highs.getInfo().simplex_iteration_count)
        return self._of_basis(lp.lp)

    def _of_basis(self, lp: LP) -> tuple[Floats, Floats]:
        """The basic solution and its dual values to the last digits: the prices of late rounds multiply what HiGHS tolerates."""
        from highspy import HighsBasisStatus
        from scipy.sparse.linalg import splu

        basis, solution = self.highs.getBasis(), self.highs.getSolution()
        of_rows = list(basis.row_status)
        basic = np.flatnonzero([status == HighsBasisStatus.kBasic for status in basis.col_status])
        tight = np.flatnonzero([status != HighsBasisStatus.kBasic for status in of_rows])
        y, z = np.asarray(solution.row_dual), np.asarray(solution.col_value)
        matrix = lp.matrix[:, basic].tocsr()[tight].tocsc()
        if matrix.shape[0] != matrix.shape[1] or not len(basic):
            return y, z
        at_lower = np.array([of_rows[row] == HighsBasisStatus.kLower for row in tight])
        side = np.where(at_lower, lp.lower[tight], lp.upper[tight])
        y_new, z_new = np.zeros(len(y)), np.zeros(len(z))
        try:
            factors = splu(matrix)
            for _ in range(REFINED):
                z_new[basic] += factors.solve(side - matrix @ z_new[basic])
                y_new[tight] += factors.solve(lp.cost[basic] - matrix.T @ y_new[tight], trans="T")
        except RuntimeError:  # a basis that is singular to rounding
            return y, z
        near = np.abs(z_new - z).max() <= CLOSE * np.abs(z).max() and np.abs(y_new - y).max() <= CLOSE * np.abs(y).max()
        return (y_new, z_new) if near and np.isfinite(side).all() else (y, z)

    def _lifted(self, p: Floats, reduced: Floats) -> tuple[Floats, Floats, Any]:
        """Prices with which earlier ones leave no column dear enough, their reduced costs, and columns that have to be added."""
        bad = np.flatnonzero(reduced > NONE * max(float(p.sum()), 1.0))
        if not len(bad):
            return p, reduced, bad
        times = np.full(len(bad), np.inf)
        if self.earlier is not None:
            slack = -self.earlier[1][bad]
            times = np.divide(reduced[bad], slack, out=times, where=slack > NONE)
        often = times > OFTEN
        more = bad[often & ~self.columns[bad]]  # what is inside already is as good as HiGHS makes it
        if len(more) or self.earlier is None:
            return p, reduced, more[np.argsort(-reduced[more])[:BATCH]]
        factor = float(times[~often].max(initial=0.0))
        return p + factor * self.earlier[0], reduced + factor * self.earlier[1], more


@dataclass(frozen=True)
class Columns:
    """The program with the columns that were added so far; column `place` is g."""

    lp: LP
    place: int
