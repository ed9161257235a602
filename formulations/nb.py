r"""NB: the Nash bargaining allocation, the competitive equilibrium from incomes w_n, equal ones in Z (Z III-B, (3)-(4), Prop 5).

    max   sum_n w_n log u_n                            (the logarithm of Z's product (3), with weights)
    s.t.  u_n = sum over its variants and servers of x  (Z 1)
          sum_n d_nr x_ni <= c_ir                       (Z 4, here per server, for one variant)
          u_n <= max_tasks_n

The dual prices p of the capacities are market prices: user n has the income w_n and buys its cheapest way to run tasks
(analysis/market.py). Even for rational data the answer is irrational in general (docs/theory/nb.md).

**Residual.** A bound, by prices (common/duality_gap.py), on the largest mean relative gain of K footnote 5, the maximum over
feasible u' of sum_n (w_n / W)(u'_n / u_n) - 1 with W = sum_n w_n. By Jensen's inequality a residual rho bounds the objective gap:
sum_n w_n log u*_n - sum_n w_n log u_n <= W log(1 + rho).
"""

from copy import copy

import numpy as np

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.duality_gap import first_order_gain
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, canonical, cvxpy_limit, pyomo_arcs, pyomo_limit
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.transformations.own_time import own_time


class NashBargaining(AlphaFair):
    """max sum_n w_n log u_n, which is alpha-fair (alpha_fair.py) with alpha = 1, whatever the shares."""

    aliases = ("ceei",)
    is_market = False

    def __init__(self) -> None:
        title = "Nash bargaining: max sum of weighted log tasks; market equilibrium with weights as incomes"
        super().__init__(1.0, "tasks", id="nb", title=title, source="Z (3), Prop 5")

    configure, parameters = Mechanism.configure, Mechanism.parameters  # of which it has none

    def called(self, alias: str) -> Mechanism:  # noqa: ARG002 (it has one)
        """As "ceei" it is refused where its answer is none in a market."""
        result = copy(self)
        result.is_market = True
        return result

    def domain(self, instance: Instance) -> Instance:
        if self.is_market:
            check_market(instance)
        return super().domain(instance)

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """Variable "x", constraints "capacity" (its dual: the prices) and "limit"."""
        arcs, w = instance.arcs, instance.weights

        x = cp.Variable(len(arcs), nonneg=True, name="x")
        u = arcs.owner @ x  # (Z 1)
        capacity = (arcs.load @ x <= 1).set_label("capacity")  # (Z 4): sum_n x_ni d_nr / c_ir <= 1

        x.value = arcs.gamma / instance.N  # where nonlinear solvers start
        return cp.Problem(cp.Maximize(w @ cp.log(u)), [capacity, *cvxpy_limit(instance, x)])

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """Variables `x` and `u` (tasks of each user), constraints `capacity`, `tasks`, `limit`."""
        model, load, tasks = pyomo_arcs(instance)  # sum_n x_ni d_nr / c_ir, and the sums of x of each user
        start, w = instance.arcs.owner @ (instance.arcs.gamma / instance.N), by_user(instance, instance.weights)

        model.capacity = pyo.Constraint(list(load), rule=lambda _, *row: load[row] <= 1)
        pyomo_limit(model, instance, tasks)
        model.u = pyo.Var(instance.users, domain=pyo.PositiveReals, initialize=by_user(instance, start))
        model.tasks = pyo.Constraint(instance.users, rule=lambda m, n: tasks[n] - m.u[n] == 0)
        model.objective = pyo.Objective(expr=sum(w[n] * pyo.log(model.u[n]) for n in instance.users), sense=pyo.maximize)
        return model

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """Other units of tasks add a constant to the objective."""
        return canonical(instance)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The objective sum_n w_n log u_n; where a user has no task, only the certainty equivalent, 0."""
        if np.any(allocation.tasks <= 0):
            return {"certainty_equivalent": 0.0}
        return {"objective": float(allocation.instance.weights @ np.log(allocation.tasks))}

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def marginal(self, allocation: Allocation) -> Floats | None:
        """w_n / u_n; None where that is no finite number, as where a user has no task."""
        served = allocation.has_point and bool(np.all(allocation.tasks > 0))
        result = allocation.instance.weights / allocation.tasks if served else np.full(1, np.inf)
        return result if np.all(np.isfinite(result)) else None

    def residual(self, allocation: Allocation) -> float:
        """The largest mean relative gain that its prices leave possible to first order; inf where a user has no task."""
        marginal = self.marginal(allocation)
        return np.inf if marginal is None else first_order_gain(allocation, marginal)


def check_market(instance: Instance) -> None:
    """NotApplicable where users have time of their own or floors, or the instance has groups."""
    for n in np.flatnonzero(own_time(instance) >= 0)[:1]:
        raise NotApplicable(f"there is no market in the time of user {instance.users[n]!r}, which is nobody else's to buy")
    for n in np.flatnonzero(instance.min_tasks)[:1]:
        raise NotApplicable(f"there is no market with floors, but user {instance.users[n]!r} has {instance.min_tasks[n]:g}")
    mechanism.check_groups(instance)


mechanism = NashBargaining()
