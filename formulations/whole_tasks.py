r"""Whole tasks: a mechanism over integers, `integral=True` for utilitarian, nb and the max-min rules.

    x_a whole,    load @ x <= 1,    u = owner @ x <= max_tasks

Utilitarian keeps its objective. The product of nb is that of the users who run a task, first of as many as can (Caragiannis et
al. 2019): with z_nk whether user n runs a k-th task,

    max  sum_n (B z_n1 + w_n sum_k>1 log(k / (k - 1)) z_nk)    s.t.  u_n = sum_k z_nk,  0 <= z <= 1,  B > sum of all logarithms

The max-min rules are in whole_rounds.py. Every program is proved to the gap of its branch and bound, which is the residual.
"""

from typing import Any

import numpy as np

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, cvxpy_tasks, pyomo_tasks, tasks_of
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats


class WholeTasks(Mechanism):
    """A mechanism `base` over integers, under its own name."""

    linear, integer, convex = True, True, True

    def __init__(self, base: Mechanism) -> None:
        self.base, self.id, self.source = base, base.id, base.source
        self.title = f"{base.title}, whole tasks"

    def configure(self, /, **parameters: Any) -> Mechanism:
        """Those of the base, and `integral`."""
        return self.base.configure(**{"integral": True, **parameters})

    @property
    def parameters(self) -> dict[str, Any]:
        return {**self.base.parameters, "integral": True}

    def domain(self, instance: Instance) -> Instance:
        """That of the base; NotApplicable where servers are not given one by one."""
        for i in np.flatnonzero(instance.counts > 1)[:1]:
            what = f"server {instance.servers[i]!r} stands for {instance.counts[i]}"
            raise NotApplicable(f"whole tasks need servers one by one, but {what}: use fa.expand(instance)")
        return self.base.domain(instance)

    def home(self, instance: Instance) -> Instance:
        self.domain(instance)
        return self.base.home(instance)

    def values(self, allocation: Allocation) -> dict[str, float]:
        return self.base.values(allocation)


MOST = 1_000_000
"""The tasks that nb counts: each is a variable."""


def _most(instance: Instance) -> Floats:
    """(N,) how many whole tasks each user could run alone."""
    return np.asarray(np.minimum(instance.arcs.owner @ np.floor(instance.arcs.gamma * (1 + 1e-12)), instance.max_tasks))


class WholeProgram(WholeTasks):
    """utilitarian, and nb by the worth of each further task."""

    def domain(self, instance: Instance) -> Instance:
        """That of the base; NotApplicable also where tasks of nb are too many to be counted one by one."""
        result = super().domain(instance)
        if not isinstance(self.base, Utilitarian) and (total := float(_most(result).sum())) > MOST:
            what = f"{self.id!r} counts whole tasks one by one, at most {MOST:,}"
            raise NotApplicable(f"{what}, but users could run {total:.3g}: give them max_tasks, or larger tasks")
        return result

    def worth(self, instance: Instance) -> list[Floats]:
        """For each user what its first, second, .. task adds; one number for all where they add the same."""
        if isinstance(self.base, Utilitarian):
            return [np.array([w]) for w in self.base.worth(instance)]
        most = _most(instance).astype(int)
        steps = [w * np.log1p(1 / np.arange(1, max(m, 1))) for w, m in zip(instance.weights, most, strict=True)]
        first = 1.0 + sum(float(step.sum()) for step in steps)
        return [np.append(first, step)[: max(m, 0)] for step, m in zip(steps, most, strict=True)]

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """Variables "x" and, for nb, "z[n]"; constraints "capacity", "limit", "steps"."""
        x, constraints = cvxpy_tasks(instance, whole=True)
        u, worth = instance.arcs.owner @ x, self.worth(instance)
        if isinstance(self.base, Utilitarian):
            return cp.Problem(cp.Maximize(np.concatenate(worth) @ u), constraints)
        z = [cp.Variable(len(w), nonneg=True, name=f"z[{n}]") for n, w in zip(instance.users, worth, strict=True) if len(w)]
        able = [n for n, w in enumerate(worth) if len(w)]
        constraints += [(u[n] == cp.sum(part)).set_label("steps") for n, part in zip(able, z, strict=True)]
        constraints += [part <= 1 for part in z]
        return cp.Problem(cp.Maximize(sum(worth[n] @ part for n, part in zip(able, z, strict=True))), constraints)

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """The same, `z[n, k]` and `steps[n]`."""
        model, worth = pyomo_tasks(instance, whole=True), by_user(instance, self.worth(instance))
        u = tasks_of(model, instance)
        if isinstance(self.base, Utilitarian):
            objective = sum(w[0] * u[n] for n, w in worth.items())
        else:
            model.z = pyo.Var([(n, k) for n, w in worth.items() for k in range(len(w))], bounds=(0, 1))
            model.steps = pyo.Constraint(instance.users, rule=lambda m, n: u[n] == sum(m.z[n, k] for k in range(len(worth[n]))))
            objective = sum(worth[n][k] * z for (n, k), z in model.z.items())
        model.objective = pyo.Objective(expr=objective, sense=pyo.maximize)
        return model
