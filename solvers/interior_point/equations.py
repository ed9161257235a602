r"""The equations of the programs that the interior-point methods of max_min.py and alpha_fair.py solve, in one form.

Both programs have tasks x_a on arcs in the users' units, t_n for the utility of user n, and on the right the dual variables:

    load x + s = 1                                                    p >= 0      a full row has p free and no s
    owner x - t = raised g + level                                    y >= 0      y free for users without a t
    owner x + r = limit          where there is one                   z >= 0
    x, s, t, r >= 0                                                   d = load^T p - owner^T (y - z) >= 0

Their Newton system is that of system.py.
"""

from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions, PrimalDual, Residuals
from fairalloc.solvers.kkt.loads import Loads, loads_of
from fairalloc.solvers.kkt.schur import Plan, most_rows, plan_for


def parts_of(arcs: int, rows: int, users: int) -> list[slice]:
    """Where the numbers on arcs, rows, users and limits are in one array of all, with a place for the limit of every user."""
    return [slice(start, end) for start, end in pairwise(np.cumsum([0, arcs, rows, users, users]))]


class ArrowEquations:
    """A program on one instance, in units of its users.

    tasks : (N,) how many make one unit
    limit : (N,) of the users, in their units
    paired : (A + K R + 2 N,) which primal and dual numbers are both positive
    central : the same for those whose product goes to mu
    right : (K R,) of the rows;  left_out : those that are no equations
    dense_rows : the most rows that the dense part of a factor may have
    target : the error at which the iteration ends, where that of the options is smaller
    raised : (N,) 1 where g is part of what the user gets;  level : (N,) what else is;  most : (N,) limits where there are
    """

    paired: NDArray[np.bool_]
    central: NDArray[np.bool_]
    right: Floats
    left_out: NDArray[np.bool_]
    raised: Floats
    level: Floats
    most: Floats
    target = 0.0

    options: InteriorPointOptions
    loads: Loads
    plan: Plan
    dense_rows: int

    def __init__(self, instance: Instance, tasks: Floats) -> None:
        arcs = instance.arcs
        self.instance, self.tasks, self.limit = instance, tasks, instance.max_tasks / tasks
        self.parts = parts_of(len(arcs), instance.K * instance.R, instance.N)

    def compile(self, options: InteriorPointOptions) -> Self:
        """The loads, which side is eliminated, and how large a matrix may be."""
        self.options, self.loads = options, loads_of(self.instance, self.tasks)
        self.plan, self.dense_rows = plan_for(self.instance, options.max_rows), most_rows(self.instance, options.max_rows)
        return self

    @property
    def plain(self) -> bool:
        """Whether no row is an equation."""
        return bool(self.split(self.paired)[1].all())

    @property
    def balanced(self) -> bool:
        """Whether prices are known at which the arrow is diagonally dominant (kkt/dominant.py)."""
        return self.loads.R == 1 and not self.raised.any()

    def rows(self, values: Floats) -> Floats:
        """(K R,) load @ values, 0 in rows that are left out."""
        return np.where(self.left_out, 0.0, self.loads.rows(values))

    def reduced(self, p: Floats, l: Floats) -> Floats:  # noqa: E741
        """(A,) load^T p - owner^T l."""
        return self.loads.priced(p) - self.loads.of_users(l)

    def split(self, values: NDArray[Any]) -> list[Any]:
        """The parts on arcs, rows, users and limits."""
        x, s, t, r = self.parts
        return [values[..., x], values[..., s], values[..., t], values[..., r]]

    def dot(self, one: NDArray[Any], other: NDArray[Any]) -> Any:
        """Their inner product, for each program of a stack."""
        return float(one @ other)

    def mu(self, now: PrimalDual) -> Any:
        """The mean of the products that go to mu."""
        return self.dot(now.primal * now.dual, self.central) / np.count_nonzero(self.central)

    def towards(self, now: PrimalDual) -> Floats:
        """What the primal numbers of the predictor change by where the dual ones stay."""
        return -now.primal * self.paired

    def second_order(self, now: PrimalDual, affine: PrimalDual, mu: Any) -> Floats:
        """What the corrector towards products mu adds to the predictor `affine`, where the dual numbers stay."""
        wanted = mu * self.central - affine.primal * affine.dual
        return np.asarray(np.divide(wanted, now.dual, out=np.zeros_like(wanted), where=self.paired))

    def ratio(self, now: PrimalDual) -> Floats:
        """X / d, s / p, -dt / dy and r / z."""
        return np.divide(now.primal, now.dual, out=np.zeros_like(now.primal), where=self.paired)

    def residuals(self, now: PrimalDual) -> Residuals:
        """What the equations lack at a point."""
        (x, s, t, r), (d, p, y, z) = self.split(now.primal), self.split(now.dual)
        open_, _, _, capped = self.split(self.paired)
        u = self.loads.totals(x)
        return Residuals(
            rows=np.where(self.left_out, 0.0, self.right - self.loads.rows(x) - s),
            users=self.raised * now.g + self.level + t - u,
            limits=np.where(capped, self.most - u - r, 0.0),
            arcs=np.where(open_, d - self.reduced(p, y - z), 0.0),
            g=1.0 - self.dot(y, self.raised) if self.raised.any() else 0.0,
        )
