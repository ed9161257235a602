r"""NB: the Nash bargaining allocation, which is the competitive equilibrium from equal incomes (Z III-B, (3)-(4), Prop 5).

    max   sum_n w_n log u_n                            (the logarithm of Z's product (3), with weights)
    s.t.  u_n = sum over its variants and servers of x  (Z 1)
          sum_n d_nr x_ni <= c_ir                       (Z 4, here per server)
          u_n <= max_tasks_n

The dual prices p of the capacities are market prices: user n has the income w_n and buys its cheapest way to run tasks.

**Residual.** u is optimal iff no feasible u' gains on it to first order, sum_n w_n (u'_n - u_n) / u_n <= 0 (K footnote 5). The
residual is the largest such mean gain, max over feasible u' of sum_n (w_n / W)(u'_n / u_n) - 1 with W = sum_n w_n. It is
bounded by weak duality: for any p >= 0 with q_n(p) >= w_n / u_n, where q_n is the cost of the user's cheapest task, it is at
most sum_ir p_ir / W - 1 (limits add their own multipliers). So prices are a proof, whoever handed them over. By Jensen's
inequality a residual rho bounds the objective gap: sum_n w_n log u*_n - sum_n w_n log u_n <= W log(1 + rho).
"""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from fairalloc.formulations.mechanism import Mechanism, cheapest, linear_rows, pyomo_tasks
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo


class NashBargaining(Mechanism):
    """max sum_n w_n log u_n."""

    id = "nb"
    aliases = ("ceei",)
    title = "Nash bargaining: max sum of weighted log tasks; market equilibrium from equal incomes"
    source = "Z (3), Prop 5"

    def cvxpy(self, instance: Instance) -> "cp.Problem":
        """Variable "x", constraints "capacity" (its dual: the prices) and "limit"."""
        import cvxpy as cp

        arcs = instance.arcs
        x = cp.Variable(len(arcs), nonneg=True, name="x")
        constraints = [(arcs.load @ x <= 1).set_label("capacity")]
        capped = np.isfinite(instance.max_tasks)
        if capped.any():
            constraints.append((arcs.owner[capped] @ x <= instance.max_tasks[capped]).set_label("limit"))
        return cp.Problem(cp.Maximize(instance.weights @ cp.log(arcs.owner @ x)), constraints)

    def pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """Variables `x` and `u` (tasks of each user), constraints `capacity`, `tasks`, `limit`."""
        import pyomo.environ as pyo

        model = pyomo_tasks(instance)
        start = instance.arcs.owner @ (instance.arcs.gamma / instance.N)
        model.u = pyo.Var(
            instance.users, domain=pyo.PositiveReals, initialize=dict(zip(instance.users, start.tolist(), strict=True))
        )
        tasks = dict(zip(instance.users, linear_rows(instance.arcs.owner, list(model.x.values())), strict=True))
        model.tasks = pyo.Constraint(instance.users, rule=lambda m, n: tasks[n] - m.u[n] == 0)
        w = dict(zip(instance.users, instance.weights.tolist(), strict=True))
        model.objective = pyo.Objective(expr=sum(w[n] * pyo.log(model.u[n]) for n in instance.users), sense=pyo.maximize)
        return model

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The objective sum_n w_n log u_n."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"objective": float(allocation.instance.weights @ np.log(allocation.tasks))}

    def residual(self, allocation: Allocation) -> float:
        """The largest mean relative gain some feasible allocation offers to first order; inf where a user has no task."""
        if not allocation.has_point or np.any(allocation.tasks <= 0):
            return np.inf
        own = np.inf if allocation.prices is None else mean_gain(allocation, allocation.prices[-1])
        return own if own <= PROVED else min(own, mean_gain(allocation, referee(allocation)))


PROVED = 1e-7
"""Below this the residual is not worth a second look by the referee."""


def mean_gain(allocation: Allocation, prices: Floats) -> float:
    """The bound that `prices` (K, R) prove on the first-order gain; they are rescaled for the tightest bound.

    min over s of (s sum p + sum over limited n of max(w_n / u_n - s q_n, 0) max_tasks_n) / W - 1,
    where s q_n >= w_n / u_n for every user without a limit. Piecewise linear and convex in s: the best s is a kink.
    """
    instance = allocation.instance
    wish = instance.weights / allocation.tasks
    q = cheapest(instance, np.maximum(prices, 0.0))
    with np.errstate(divide="ignore"):
        kinks = wish / q
    capped = np.isfinite(instance.max_tasks)
    least = float(kinks[~capped].max(initial=0.0))
    candidates = np.unique(np.append(np.maximum(kinks[capped & (q > 0)], least), least))
    if not np.isfinite(least):
        return np.inf
    limits = np.maximum(wish[capped] - candidates[:, None] * q[capped], 0.0) @ instance.max_tasks[capped]
    bound = (candidates * np.maximum(prices, 0.0).sum() + limits).min()
    return max(float(bound / instance.weights.sum()) - 1.0, 0.0)


def referee(allocation: Allocation) -> Floats:
    """(K, R) prices that prove most: min sum p + sum z max_tasks  s.t.  load_a p + z_n >= w_n / u_n, by SciPy's simplex."""
    instance, arcs = allocation.instance, allocation.instance.arcs
    capped = np.flatnonzero(np.isfinite(instance.max_tasks))
    worth = sp.diags_array((allocation.tasks / instance.weights)[arcs.user])
    matrix = sp.hstack([worth @ arcs.load.T, worth @ arcs.owner.T[:, capped]], format="csr")
    cost = np.concatenate([np.ones(instance.K * instance.R), instance.max_tasks[capped]])
    answer = linprog(cost, A_ub=-matrix, b_ub=-np.ones(len(arcs)), method="highs-ds")
    if not answer.success:
        return np.zeros((instance.K, instance.R))  # prices that prove nothing
    prices: Floats = answer.x[: instance.K * instance.R].reshape(instance.K, instance.R)
    return prices


mechanism = NashBargaining()
