"""`highs` for nested max-min fairness: generated columns, and later rounds on the face of earlier ones.

0. Without guarantees and limits the first round is answered by an interior-point method (backends/first_level.py), whose
   prices say which columns may carry anything; else these are near, and the cheapest columns are those to start with.
1. A round starts with few columns, and gets those whose reduced cost is positive, dearest first, until there are none. Where no
   point of these few has all guarantees, it gets all columns.
2. Columns whose reduced cost is negative then carry nothing in any later round, where the levels of this one are kept: they are
   left out. Prices of earlier rounds, worth what the kept levels cost, are added to those of a later one (`_lifted`).
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import LP
from fairalloc.formulations.lexicographic.nested import NestedRound
from fairalloc.models.numbers import Floats
from fairalloc.models.tree import Tree
from fairalloc.solvers.backends.first_level import first_level
from fairalloc.solvers.backends.highs_session import COLD, FIRST_SPARSE, LOST, TAKEN, HighsSession, set_options
from fairalloc.solvers.interior_point.iterates import ENOUGH
from fairalloc.solvers.method import Stopped

NONE = 1e-11
"""A reduced cost that is 0, in canonical units, or in parts of all prices."""

SAME = 1e-8
"""Levels of two answers that differ by no more, relative, are one."""

BATCH = 4_000
"""Columns that are added at once; so few are there from the start."""

EACH = 2
"""Columns of a start, in parts of the rows that can be tight in the first round."""

OPEN = 1e-8
"""By what part an arc may be dearer than the cheapest and carry something."""

TOLERANCE = "primal_feasibility_tolerance"

FINE = 2.0**10
"""Capacity of a server in the model, so that what HiGHS tolerates of a row is 1e-13 of it: later prices multiply that."""

OFTEN = 1e5
"""How often earlier prices may be added before a column is added instead."""


class ColumnsSession(HighsSession):
    """The rounds of an instance; `columns` (A,) says which arcs are in the program."""

    columns: Any = None
    earlier: tuple[Floats, Floats] | None = None
    """Prices (K R,) and reduced costs (A,) of all earlier rounds together."""

    def solve(self, round: Any) -> tuple[Floats, Floats | None]:  # noqa: A002
        if self.columns is None and (answer := self._first(round)) is not None:
            return answer
        with self.phase("build"):
            self._start(round) if self.highs is None else self._modify(round)
        while True:
            y, z = self._solved()
            p, reduced, more = self._lifted(y[: self.instance.K * self.instance.R], -(self.whole.T @ y))
            if not len(more):
                break
            self._add(more)
        x = np.zeros(self.instance.A)
        x[self.inside] = z[1:] * self.scale[self.inside] / FINE
        better = self.earlier is None or self._level(round, x) > self._level(round, self.x) * (1.0 + SAME) + NONE
        self.x = x if better else self.x
        known, whole = self.earlier or (0.0, 0.0), max(float(p.sum()), 1.0)  # of equal size, so that none drowns the others
        self.earlier = known[0] + p / whole, known[1] + reduced / whole
        self._limit((reduced[self.inside] < -NONE * whole) & (self.x[self.inside] <= 0), 0.0)
        return self.x, p.reshape(self.instance.K, self.instance.R)

    @cached_property
    def scale(self) -> Floats:
        """(A,) tasks that HiGHS counts as one where it would refuse loads; it may drop small ones."""
        return super().scale if self.instance.arcs.load.data.max() > TAKEN[1] else np.ones(self.instance.A)

    def _level(self, now: NestedRound, x: Floats) -> float:
        """The level at tasks x; where the last x has it too, that stays, so that no level drifts."""
        return float((Tree.of(self.instance).levels(x) - now.base)[now.active].min())

    def _first(self, now: NestedRound) -> tuple[Floats, Floats] | None:
        """The first round by an interior-point method where that answers it; else the columns to start with."""
        if self.instance.A <= BATCH:
            self.columns = np.ones(self.instance.A, dtype=bool)
            return None
        with self.phase("solve"):
            found = first_level(Tree.of(self.instance), self.limits)
        few, arcs = EACH * (self.instance.K * self.instance.R + now.active.sum()), self.instance.arcs
        self.columns = found.kept | (found.above <= max(OPEN, float(np.sort(found.above)[min(few, len(arcs)) - 1])))
        if found.error > ENOUGH or now.floor.any() or np.isfinite(self.instance.max_tasks).any():
            return None
        self.x, self.columns = found.x, found.above <= OPEN
        dear = found.above * arcs.costs(found.prices) * self.scale
        self.earlier = found.prices / found.prices.sum(), -dear / found.prices.sum()
        return self.x, found.prices.reshape(self.instance.K, self.instance.R)

    def _start(self, now: NestedRound) -> None:
        """A model of few columns, g first, with a row for every node, and one more for guarantees of nodes that may be active."""
        arcs, instance = self.instance.arcs, self.instance
        self.inside = np.flatnonzero(self.columns)
        self.promised, capped = np.flatnonzero(now.kept), np.isfinite(instance.max_tasks)
        self.rows = [self.instance.K * instance.R, len(now.active), len(self.promised), int(capped.sum())]
        V = Tree.of(instance).shares @ arcs.owner
        rows = sp.vstack([arcs.load, V, V[self.promised], arcs.owner[capped]])
        self.whole = (rows @ sp.diags_array(self.scale)).tocsc()
        size = self.whole.shape[0]
        matrix = sp.hstack([sp.csc_array((size, 1)), self.whole[:, self.inside]], format="csc")
        count, lower = len(self.inside) + 1, np.full(size, -np.inf)
        upper = np.concatenate([np.ones(self.rows[0]), np.full(sum(self.rows[1:3]), np.inf), instance.max_tasks[capped]]) * FINE
        cost = np.zeros(count)
        cost[0] = 1.0
        self.part = LP(cost, matrix, lower, upper, np.full(count, np.inf))
        self._open(self.part, FIRST_SPARSE)
        self.rising = np.zeros(len(now.active), dtype=bool)
        self._modify(now)
        set_options(self.highs, COLD)

    def _modify(self, now: NestedRound) -> None:
        """Make the model that of another round: the last tasks stay feasible, so primal simplex goes on from their basis."""
        first, g = self.rows[0], sp.lil_array((self.whole.shape[0], 1))
        rows = np.arange(first, first + self.rows[1] + self.rows[2], dtype=np.int32)
        self.part.lower[rows] = np.append(np.where(now.active, now.base, now.floor), now.floor[self.promised]) * FINE
        self.highs.changeRowsBounds(len(rows), rows, self.part.lower[rows], self.part.upper[rows])
        for k in np.flatnonzero(now.active != self.rising).tolist():
            self.highs.changeCoeff(first + k, 0, -1.0 if now.active[k] else 0.0)
        self.rising = now.active
        g[first + np.flatnonzero(now.active)] = -1.0
        self.part = replace(self.part, matrix=sp.hstack([g, self.part.matrix[:, 1:]], format="csc"))
        if self.earlier is not None:
            set_options(self.highs, {"simplex_strategy": 4})

    def _limit(self, chosen: Any, most: float) -> None:
        """Close columns that carry nothing in later rounds, or open them again."""
        columns = np.flatnonzero(chosen).astype(np.int32) + 1
        self.part.most[columns] = most
        self.highs.changeColsBounds(len(columns), columns, np.zeros(len(columns)), np.full(len(columns), most))

    def _add(self, more: Any) -> None:
        """Columns, nonbasic: primal simplex goes on from the last basis."""
        self._limit(np.isin(self.inside, more), np.inf)
        more = more[~self.columns[more]]
        part, zeros = self.whole[:, more], np.zeros(len(more))
        start, index = part.indptr[:-1].astype(np.int32), part.indices.astype(np.int32)
        self.highs.addCols(len(more), zeros, zeros, zeros + np.inf, part.nnz, start, index, part.data)
        set_options(self.highs, {"simplex_strategy": 4})
        self.inside, self.columns[more] = np.append(self.inside, more), True
        cost, most = np.append(self.part.cost, zeros), np.append(self.part.most, zeros + np.inf)
        self.part = replace(self.part, cost=cost, most=most, matrix=sp.hstack([self.part.matrix, part], format="csc"))

    def _run(self, again: bool) -> str:
        """As HighsSession does; where that has no answer, once more with what HiGHS tolerates of a whole server."""
        if (found := super()._run(again=False)) not in LOST or not again:
            return found
        _, least = self.highs.getOptionValue(TOLERANCE)
        set_options(self.highs, {TOLERANCE: least * FINE})
        found = super()._run(again)
        set_options(self.highs, {TOLERANCE: least})
        return found

    def _solved(self) -> tuple[Floats, Floats]:
        """Dual values of the rows and values of the columns."""
        termination = self._run(again=True)
        if termination == "infeasible" and not self.columns.all():  # guarantees need others than the cheapest
            self._add(np.flatnonzero(~self.columns))
            termination = self._run(again=True)
        if termination != "optimal":
            raise Stopped(termination)
        solution = self.highs.getSolution()
        return self.of_basis(self.part, np.asarray(solution.row_dual), np.asarray(solution.col_value))

    def _lifted(self, p: Floats, reduced: Floats) -> tuple[Floats, Floats, Any]:
        """Prices that with earlier ones leave no column dear enough, their (A,) reduced costs, and columns to be added."""
        bad = np.flatnonzero(reduced > NONE * max(float(p.sum()), 1.0))
        if not len(bad):
            return p, reduced, bad
        times = np.full(len(bad), np.inf)
        if self.earlier is not None:
            slack = -self.earlier[1][bad]
            times = np.divide(reduced[bad], slack, out=times, where=slack > NONE)
        often = times > OFTEN
        is_open = np.zeros(len(reduced), dtype=bool)
        is_open[self.inside] = self.part.most[1:] > 0
        more = bad[often & ~is_open[bad]]  # what is open is as good as HiGHS makes it
        if len(more) or self.earlier is None:
            return p, reduced, more[np.argsort(-reduced[more])[:BATCH]]
        factor = float(times[~often].max(initial=0.0))
        return p + factor * self.earlier[0], reduced + factor * self.earlier[1], more
