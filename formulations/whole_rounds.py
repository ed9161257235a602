r"""Lexicographic max-min fairness over integers: whole tasks (whole_tasks.py) for the max-min rules.

Whole x of lexicographically largest v, v_n = sigma_n u_n / phi_n sorted upwards, have the largest sums T_k of the k smallest v_n,
one after the other (Ogryczak and Sliwinski 2006). Of one unit either of two users may have a whole task: neither is stuck at 0.

    max  T_k = k t_k - sum_n d_kn    s.t.  d_jn + v_n >= t_j,  d >= 0,  j t_j - sum_n d_jn >= T_j  for j < k

mmf and drfh-lp end with T_1. In the models v_n is 1 more, so that gaps are parts of a share also where T_k = 0. Every program is
proved to the gap of its branch and bound, the largest of which is the residual.
"""

import numpy as np

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, cvxpy_tasks, pyomo_tasks, tasks_of
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.whole_tasks import WholeProgram, WholeTasks
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.registry import imported

SLACK = 1e-7
"""What a sum of earlier stages may lose, in parts of the least share that everybody could have alone."""


class WholeRounds(WholeTasks):
    """A max-min rule; a stage is the sums (k - 1,) of the smallest shares so far, in parts of `level`."""

    takes_rounds = True
    base: Leximin

    def rate(self, instance: Instance) -> Floats:
        """(N,) sigma_n / phi_n in parts of the least share that a user could have alone."""
        rate = self.base.rate(instance)
        return rate / float((rate * (instance.arcs.owner @ instance.arcs.gamma)).min())

    def write_cvxpy(self, instance: Instance, stage: Floats | None = None) -> "cp.Problem":
        """Variables "x", "t" (k,) and "d" (k, N); constraints "capacity", "limit", "below", "kept"."""
        sums = np.zeros(0) if stage is None else stage
        k = len(sums) + 1
        x, constraints = cvxpy_tasks(instance, whole=True)
        v = 1 + cp.multiply(self.rate(instance), instance.arcs.owner @ x)
        t, d = cp.Variable(k, name="t"), cp.Variable((k, instance.N), nonneg=True, name="d")
        constraints += [(d[j] + v >= t[j]).set_label("below") for j in range(k)]
        constraints += [((j + 1) * t[j] - cp.sum(d[j]) >= sums[j] - SLACK).set_label("kept") for j in range(k - 1)]
        return cp.Problem(cp.Maximize(k * t[k - 1] - cp.sum(d[k - 1])), constraints)

    def write_pyomo(self, instance: Instance, stage: Floats | None = None) -> "pyo.ConcreteModel":
        """The same, `t[j]`, `d[j, n]`."""
        sums = np.zeros(0) if stage is None else stage
        k, users = len(sums) + 1, instance.users
        model, rate = pyomo_tasks(instance, whole=True), by_user(instance, self.rate(instance))
        u = tasks_of(model, instance)
        model.t = pyo.Var(range(k))
        model.d = pyo.Var(range(k), users, domain=pyo.NonNegativeReals)
        model.below = pyo.Constraint(range(k), users, rule=lambda m, j, n: m.d[j, n] + 1 + rate[n] * u[n] >= m.t[j])
        total = {j: (j + 1) * model.t[j] - sum(model.d[j, n] for n in users) for j in range(k)}
        model.kept = pyo.Constraint(range(k - 1), rule=lambda _, j: total[j] >= float(sums[j]) - SLACK)
        model.objective = pyo.Objective(expr=total[k - 1], sense=pyo.maximize)
        return model


def whole_tasks(base: Mechanism) -> Mechanism:
    """The mechanism over integers; NotApplicable for those that have no such form."""
    if isinstance(base, Leximin):
        return WholeRounds(base)
    # imported here: the code of nb decides nothing of what max-min rules compute
    utilitarian, nb = (imported(f"fairalloc.formulations.{name}").mechanism for name in ("utilitarian", "nb"))
    if type(base) in (type(utilitarian), type(nb)):
        return WholeProgram(base)
    raise NotApplicable(
        f"mechanism {base.id!r} has no parameter 'integral': whole tasks are for utilitarian, nb and max-min rules"
    )
