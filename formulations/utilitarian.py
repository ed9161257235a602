r"""Utilitarian: as many tasks as possible, a point of reference.

    max  sum_n w_n u_n   s.t.   u_n = sum of x over the user's arcs,    load @ x <= 1,    u_n <= max_tasks_n

A linear program; some users may get no task. Residual: the largest relative gain in the objective, proved by prices, or where
that is more the largest part of its tasks that a user could still run on what is free: a small weight hides it in the objective.
"""

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.duality_gap import first_order_gain
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import canonical, cvxpy_tasks, linear_rows, pyomo_tasks
from fairalloc.formulations.lexicographic.linear_program import LP, Round, program_as_lp
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, worst

ROUNDING, LEAST = 1e-12, 1e-3
"""The part of a capacity that may be free by rounding; see `idle`."""


class Utilitarian(Mechanism):
    """max sum_n w_n u_n."""

    id = "utilitarian"
    title = "the largest weighted sum of tasks"
    linear, integer, convex = True, False, True
    merges_servers = True

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """Variable "x", constraints "capacity" and "limit"."""
        x, constraints = cvxpy_tasks(instance)
        return cp.Problem(cp.Maximize(instance.weights @ (instance.arcs.owner @ x)), constraints)

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """Variables `x`, constraints `capacity` and `limit`."""
        model = pyomo_tasks(instance)
        worth = sp.csr_array(instance.weights[None] @ instance.arcs.owner)
        (objective,) = linear_rows(worth, list(model.x.values()))
        model.objective = pyo.Objective(expr=objective, sense=pyo.maximize)
        return model

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """Tasks in other units are worth as much more."""
        scaled, unit = canonical(instance)
        worth = scaled.weights * unit
        return scaled.rescaled(worth / worth.max()), unit

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:  # noqa: ARG002
        """In units of the weights; parameters as in `Mechanism.model_prices`."""
        unit = domain.arcs.gamma[0] / scaled.arcs.gamma[0]
        return np.asarray(given[-1] * (domain.weights[0] * unit / scaled.weights[0]))

    def lp(self, instance: Instance, round: Round | None = None) -> LP:  # noqa: A002, ARG002 (it has none)
        """The program as sparse arrays: capacity rows, floors, then limits. It has no rounds."""
        held, arcs = np.flatnonzero(instance.min_tasks), instance.arcs
        return program_as_lp(instance, instance.weights[arcs.user], arcs.owner[held], instance.min_tasks[held])

    def worth(self, instance: Instance) -> Floats:
        """(N,) what a task adds to the objective, w_n."""
        return instance.weights

    def exact_worth(self, instance: Instance) -> tuple[Fraction, ...]:
        """(N,) the same as rationals."""
        return instance.exact.weights

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The objective sum_n w_n u_n."""
        return {"objective": float(self.worth(allocation.instance) @ allocation.tasks)}

    def marginal(self, allocation: Allocation) -> Floats | None:
        return self.worth(allocation.instance)

    def residual(self, allocation: Allocation) -> float:
        """The largest relative gain that its prices leave possible, or what a user could run at once; inf without either."""
        return worst([first_order_gain(allocation, self.worth(allocation.instance)), idle(allocation)])


def idle(allocation: Allocation) -> float:
    """The largest room / (tasks + room) of a user: room is what it could run on what is free of one server.

    Tasks below a part LEAST of those that a user could run alone count as that part: beside no tasks all rounding is large.
    """
    if not allocation.has_point:
        return np.inf
    instance, load = allocation.instance, allocation.instance.arcs.load.tocsc()
    slack = 1.0 - (load @ np.maximum(allocation.x, 0.0))
    free = np.where(slack > ROUNDING, slack, 0.0)
    room = np.minimum.reduceat(free[load.indices] / load.data, load.indptr[:-1])
    room = np.minimum(room, np.maximum(instance.max_tasks - allocation.tasks, 0.0)[instance.arcs.user])
    own = np.maximum(allocation.tasks, LEAST * instance.arcs.alone)
    return float((room / (own[instance.arcs.user] + room)).max(initial=0.0))


mechanism = Utilitarian()
