r"""FDS: alpha-fairness on dominant shares, one pool (K 3.3 and its reference [2], Joe-Wong et al.; K Problem 1 with one server).

    max   sum_n phi_n G(s_n / phi_n),    G'(z) = z^-alpha,    s_n = x_n max_r d_nr / c_r                        (K 12 with K = 1)
    s.t.  sum_n x_n d_nr <= c_r,    x_n <= max_tasks_n

alpha = 1 is weighted proportional fairness (the nb of one pool), alpha -> infinity is drf, alpha -> 0 the largest sum of
dominant shares. For alpha > 1 the models maximise the increasing function -log(-(alpha - 1) objective) / (alpha - 1) instead,
the power mean of the shares: the objective itself spans too many orders of magnitude for large alpha. For rational data the
answer is irrational in general, with powers 1 / alpha and the roots of nb in it, so there are no exact answers.

**Residual.** The larger of two: the first-order gain with marginal utilities sigma_n (s_n / phi_n)^-alpha, which for large alpha
gives users with large shares next to no weight; and what users could have for free, sum_n (x'_n / x_n - 1) over feasible x' >= x.
"""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.duality_gap import first_order_gain
from fairalloc.formulations.common.tasks import by_user, canonical, cvxpy_tasks, linear_rows, pyomo_tasks
from fairalloc.formulations.common.user_error import errors_of_program
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable, require
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, worst
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.transformations.aggregation import pooled

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo


class FairDominantShares(Mechanism):
    """max sum_n phi_n G(s_n / phi_n) on one pool."""

    id = "fds"
    title = "alpha-fair dominant shares, all servers as one pool; parameter alpha, default 2"
    source = "K 3.3, [2]"
    linear, integer, convex = False, False, True
    unique = merges_users = merges_servers = True

    def __init__(self, alpha: float = 2.0) -> None:
        self.alpha = alpha

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """Variable "x", constraints "capacity" and "limit"; for alpha > 1 it maximises the power mean, with the same answers."""
        import cvxpy as cp

        arcs, alpha = instance.arcs, self.alpha
        x, constraints = cvxpy_tasks(instance)
        v = sp.diags_array(self.rate(instance)) @ arcs.owner @ x  # s_n / phi_n
        phi = instance.weights
        if alpha > 1:
            objective = -cp.log_sum_exp(np.log(phi) + (1 - alpha) * cp.log(v)) / (alpha - 1)
        else:
            objective = phi @ (cp.log(v) if alpha == 1 else cp.power(v, 1 - alpha) / (1 - alpha))
        return cp.Problem(cp.Maximize(objective), constraints)

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """Variables `x` and `v` (weighted dominant shares), constraints `capacity`, `shares`, `limit`."""
        import pyomo.environ as pyo

        alpha, users = self.alpha, instance.users
        model = pyomo_tasks(instance)
        weighted = sp.csr_array(sp.diags_array(self.rate(instance)) @ instance.arcs.owner)
        start = weighted @ (instance.arcs.gamma / instance.N)
        model.v = pyo.Var(users, domain=pyo.PositiveReals, initialize=by_user(instance, start))
        share = by_user(instance, linear_rows(weighted, list(model.x.values())))
        model.shares = pyo.Constraint(users, rule=lambda m, n: share[n] - m.v[n] == 0)
        phi = by_user(instance, instance.weights)
        if alpha == 1:
            objective = sum(phi[n] * pyo.log(model.v[n]) for n in users)
        else:
            total = sum(phi[n] * model.v[n] ** (1 - alpha) for n in users)
            objective = -pyo.log(total) / (alpha - 1) if alpha > 1 else total / (1 - alpha)
        model.objective = pyo.Objective(expr=objective, sense=pyo.maximize)
        return model

    def configure(self, /, **parameters: Any) -> Mechanism:
        """`alpha` > 0."""
        alpha = parameters.pop("alpha", self.alpha)
        for name in parameters:
            raise NotApplicable(f"mechanism 'fds' has no parameter {name!r}: it has alpha")
        number = isinstance(alpha, int | float) and not isinstance(alpha, bool)
        require(number and 0 < alpha <= sys.float_info.max, "alpha is", alpha, "it must be a positive number")
        return FairDominantShares(float(alpha))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"alpha": self.alpha}

    def domain(self, instance: Instance) -> Instance:
        """One pool; InstanceError where the servers cannot be pooled or shares are not defined."""
        result = pooled(instance)
        global_dominant_share(result)
        return result

    def rate(self, instance: Instance) -> Floats:
        """(N,) sigma_n / phi_n: the weighted dominant share of one task."""
        return global_dominant_share(instance) / instance.weights

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """The level of an equal partition becomes 1."""
        return canonical(instance, self.rate)

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:  # noqa: ARG002
        """In canonical units s / phi is smaller by a factor L and phi larger by it, so the objective is larger by L^alpha; where
        the power mean is maximised, for alpha > 1, it is only shifted. Parameters as in `Mechanism.model_prices`.
        """
        level = scaled.weights[0] / domain.weights[0]
        result: Floats = given[-1] / (level**self.alpha if self.alpha <= 1 else 1.0)
        return result

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The objective sum_n phi_n G(s_n / phi_n); where it is not finite, the certainty equivalent.

        That is the v with sum_n phi_n G(v) = sum_n phi_n G(s_n / phi_n): the power mean of s / phi, the geometric for alpha = 1.
        """
        phi, alpha = allocation.instance.weights, self.alpha
        v = self.rate(allocation.instance) * allocation.tasks
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gain = np.log(v) if alpha == 1 else v ** (1 - alpha) / (1 - alpha)
            objective = float(phi @ gain)
        if np.isfinite(objective):
            return {"objective": objective}
        least = float(v.min())
        if not least > 0:
            return {"certainty_equivalent": 0.0}
        part = phi / phi.max()
        mean = float(part @ (v / least) ** (1 - alpha)) / float(part.sum())
        return {"certainty_equivalent": least * mean ** (1 / (1 - alpha))}

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def marginal(self, allocation: Allocation) -> Floats | None:
        """sigma_n (s_n / phi_n)^-alpha in units of the largest; None where a user has no task."""
        if not allocation.has_point or np.any(allocation.tasks <= 0):
            return None
        v = self.rate(allocation.instance) * allocation.tasks
        result: Floats = global_dominant_share(allocation.instance) * (v / v.min()) ** -self.alpha
        result[result < 1e-12 * result.max()] = 0.0  # too small to be seen beside the others: left to the free gain
        return result

    def residual(self, allocation: Allocation) -> float:
        """The larger of the first-order gain and the free gain; inf where a user has no task."""
        marginal = self.marginal(allocation)
        return np.inf if marginal is None else worst([first_order_gain(allocation, marginal), free_gain(allocation)])

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def user_errors(self, allocation: Allocation) -> Floats | None:
        """(N,) bounds by what each user pays (common/user_error.py); inf where a user has no task."""
        if not allocation.has_point or np.any(allocation.tasks <= 0):
            return np.full(allocation.instance.N, np.inf)
        v = self.rate(allocation.instance) * allocation.tasks
        paid = allocation.instance.weights * (v / v.min()) ** (1.0 - self.alpha)
        return errors_of_program(allocation, paid, self.alpha)


def free_gain(allocation: Allocation) -> float:
    """The largest sum of relative gains that costs nobody anything, by SciPy's LP on the one pool; inf where it fails."""
    from scipy.optimize import linprog

    instance, x = allocation.instance, np.maximum(allocation.x, 0.0)
    x = x / max(1.0, float((instance.arcs.load @ x).max()), float((x / instance.max_tasks).max()))
    load = instance.arcs.load @ sp.diags_array(x)  # x' = x (1 + t)
    bounds = np.column_stack([np.zeros(len(x)), instance.max_tasks / x - 1.0])
    answer = linprog(-np.ones(len(x)), A_ub=load, b_ub=np.maximum(1.0 - load.sum(axis=1), 0.0), bounds=bounds, method="highs-ds")
    return float(-answer.fun) if answer.success else np.inf


mechanism = FairDominantShares()
