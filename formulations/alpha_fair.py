r"""Alpha-fairness over all servers, from the largest sum to max-min fairness (Mo and Walrand 2000; Joe-Wong et al. 2013; K 3.3).

    max   sum_n phi_n U(s_n / phi_n),    U'(z) = z^-alpha,    s_n = sigma_n u_n
    s.t.  u_n = sum over its variants and servers of x,    sum_n d_nr x_ni <= c_ir,    u_n <= max_tasks_n

The parameter `share` says what sigma_n is: 1 (tasks), 1 / gamma_n (task-share) or max_r d_nr / c_r (dominant-share). In one line:

    alpha = 0      the largest sum of shares, utilitarian for equal weights and tasks    (alpha_family.py)
    alpha = 1      nb, whatever the shares
    alpha = inf    lexicographic max-min fairness of the shares: lmmf, tsf, drfh         (alpha_family.py)

and fds is the case of one pool. For one alpha > 1 the models maximise the increasing function -log(-(alpha - 1) objective) /
(alpha - 1), up to a constant the logarithm of the power mean of s / phi: the objective spans too many orders of magnitude.

**Residual.** The larger of two: the first-order gain with marginal utilities sigma_n (s_n / phi_n)^-alpha, which for large alpha
gives users with large shares next to no weight; and what users could have for free, sum_n (u'_n / u_n - 1) over feasible u' >= u.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.alpha_family import AlphaFamily
from fairalloc.formulations.common.duality_gap import first_order_gain, free_gain
from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, canonical, cvxpy_tasks, linear_rows, pyomo_tasks
from fairalloc.formulations.common.user_error import errors_of_program
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen, worst

DIGITS = 1 << 20
"""The largest denominator of the fraction as which CVXPY takes an exponent."""


class AlphaFair(AlphaFamily):
    """max sum_n phi_n U(s_n / phi_n) for 0 < alpha < inf."""

    linear, integer, convex = False, False, True
    unique = True

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """Variable "x", constraints "capacity" and "limit"; for one alpha > 1 it maximises the power mean."""
        alpha, phi = self.alphas(instance), instance.weights
        x, constraints = cvxpy_tasks(instance)
        weighted = sp.csr_array(sp.diags_array(self.rate(instance)) @ instance.arcs.owner)
        if self.is_mean:
            objective = -cp.log_sum_exp(np.log(phi) + (1 - alpha) * cp.log(weighted @ x)) / (alpha - 1)
        else:
            alpha, objective = alpha * np.ones(instance.N), 0
            for a in np.unique(alpha):
                v = weighted[alpha == a] @ x  # s_n / phi_n
                objective += phi[alpha == a] @ (cp.log(v) if a == 1 else cp.power(v, 1 - a, DIGITS) / (1 - a))
        return cp.Problem(cp.Maximize(objective), constraints)

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """Variables `x` and `v` (weighted shares), constraints `capacity`, `shares`, `limit`."""
        users, phi = instance.users, by_user(instance, instance.weights)
        alpha = by_user(instance, self.alphas(instance) * np.ones(instance.N))
        model = pyomo_tasks(instance)
        weighted = sp.csr_array(sp.diags_array(self.rate(instance)) @ instance.arcs.owner)
        start = weighted @ (instance.arcs.gamma / instance.N)
        model.v = pyo.Var(users, domain=pyo.PositiveReals, initialize=by_user(instance, start))
        share = by_user(instance, linear_rows(weighted, list(model.x.values())))
        model.shares = pyo.Constraint(users, rule=lambda m, n: share[n] - m.v[n] == 0)
        if self.is_mean:
            objective = -pyo.log(sum(phi[n] * model.v[n] ** (1 - alpha[n]) for n in users)) / (self.alpha - 1)
        else:
            terms = {n: pyo.log(z) if alpha[n] == 1 else z ** (1 - alpha[n]) / (1 - alpha[n]) for n, z in model.v.items()}
            objective = sum(phi[n] * terms[n] for n in users)
        model.objective = pyo.Objective(expr=objective, sense=pyo.maximize)
        return model

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """For one alpha the level of an equal partition becomes 1; numbers of tasks that are shares keep one unit for all."""
        return canonical(instance, self.rate, leveled=isinstance(self.alpha, float), one_unit=self.by == "tasks")

    def model_prices(self, domain: Instance, scaled: Instance, x: Floats, given: Floats) -> Floats:  # noqa: ARG002
        """In canonical units s / phi is smaller by a factor L and phi larger by a factor F, so the objective is larger by
        F L^(alpha - 1); the power mean is only shifted. Parameters as in `Mechanism.model_prices`.
        """
        result: Floats = given[-1]
        if self.is_mean:
            return result
        larger = scaled.weights[0] / domain.weights[0]
        if isinstance(self.alpha, float) and self.alpha != 1:
            unit = domain.arcs.gamma[0] / scaled.arcs.gamma[0]
            larger *= (self.rate(domain)[0] * unit / self.rate(scaled)[0]) ** (self.alpha - 1.0)
        return frozen(result / larger)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The objective sum_n phi_n U(s_n / phi_n); where it is not finite, for one alpha the certainty equivalent.

        That is the v with sum_n phi_n U(v) = sum_n phi_n U(s_n / phi_n): the power mean of s / phi, the geometric for alpha = 1.
        """
        phi, alpha = allocation.instance.weights, self.alphas(allocation.instance)
        v = self.rate(allocation.instance) * allocation.tasks
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gain = np.where(alpha == 1, np.log(v), v ** (1.0 - alpha) / np.where(alpha == 1, 1.0, 1.0 - alpha))
            objective = float(phi @ gain)
        least = float(v.min())
        if np.isfinite(objective) or not isinstance(self.alpha, float):
            return {"objective": objective}
        if not least > 0:
            return {"certainty_equivalent": 0.0}
        part = phi / phi.max()
        mean = float(part @ (v / least) ** (1 - self.alpha)) / float(part.sum())
        return {"certainty_equivalent": least * mean ** (1 / (1 - self.alpha))}

    def marginal(self, allocation: Allocation) -> Floats | None:
        """sigma_n (s_n / phi_n)^-alpha, the largest of what users pay counted as 1; None where a user has no task."""
        paid = self.in_parts(allocation, allocation.instance.weights, 1.0)  # and not those of a task, which may have any size
        return None if paid is None else np.where(paid < 1e-12, 0.0, paid) / allocation.tasks  # less is left to the free gain

    def residual(self, allocation: Allocation) -> float:
        """The larger of the first-order gain and the free gain; inf where a user has no task."""
        marginal = self.marginal(allocation)
        if marginal is None:
            return np.inf
        gain = first_order_gain(allocation, marginal)
        return worst([gain, free_gain(allocation, marginal, gain)])

    def user_errors(self, allocation: Allocation) -> Floats | None:
        """(N,) bounds by what each user pays (common/user_error.py); inf where a user has no task."""
        paid = self.in_parts(allocation, allocation.instance.weights, 1.0)
        if paid is None:
            return np.full(allocation.instance.N, np.inf)
        return errors_of_program(allocation, paid, self.alphas(allocation.instance))


mechanism = AlphaFair(
    2.0,
    "tasks",
    id="alpha-fair",
    title="alpha-fair shares over all servers, from the largest sum to max-min; parameters alpha (default 2) and share (tasks)",
    source="K 3.3; Mo and Walrand 2000",
)
