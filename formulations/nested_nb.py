r"""Nested Nash bargaining: departments bargain with the Nash products of their users, whose weights multiply.

    max   sum_n phi_n log u_n                                            phi_n = product of weights down the tree
    s.t.  load @ x <= 1,    u_n <= max_tasks_n
          V_k = sum over the users n of group k of sigma_n u_n >= gamma_k                        (guarantees)

The utility of a group is the weighted geometric mean of its members', U_k = prod_n u_n^(weight_n / sum of weights in k), and
sum_k phi_k log U_k is the objective above (models/input/groups.py has phi; Z (3) bargains over the u_n themselves). Where no
guarantee binds it is exactly nb with the weights phi_n (docs/theory/nested-nb.md).

gamma_k is the guarantee, or all that the group asks for where that is less. sigma_n is the dominant share of a task (W 3), asked
for where there are guarantees alone. Residual: a bound on the largest mean relative gain over tasks that keep all guarantees,

    max over feasible u' of sum_n phi_n u'_n / u_n - 1  <=  s sum p + sum_n z_n max_tasks_n - sum_k y_k gamma_k - 1,

for s, y, z >= 0 with s q_n + z_n - sigma_n sum_k y_k >= phi_n / u_n at prices p with the costs q_n; a linear program finds them.
Where users have less than an equal part of the weights, the bound is divided by N min phi_n: a small part would hide a user.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import costs_at, linear_rows, tasks_in_units
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import mechanism as nash_bargaining
from fairalloc.models.allocation import Allocation
from fairalloc.models.feasibility import check_that_all_can_run
from fairalloc.models.input.groups import Groups
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import TEN_DIGITS, Floats, linear_program, worst
from fairalloc.models.tree import Tree, check_guarantees


class NestedNashBargaining(Mechanism):
    """max sum_n phi_n log u_n, where groups keep their guarantees."""

    id = "nested-nb"
    title = "nested Nash bargaining: nb with weights that multiply down the tree, where groups keep their guarantees"
    source = "Z (3) on a tree"
    linear, integer, convex = False, False, True
    knows_groups = unique = True

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """The problem of nb with the weights phi_n, and the constraint "guarantee"."""
        problem, (V, gamma) = nash_bargaining.write_cvxpy(instance.rescaled(parts(instance))), guarantees(instance)
        u = instance.arcs.owner @ problem.var_dict["x"]
        kept = [(V @ u >= gamma).set_label("guarantee")] if len(gamma) else []  # sum of sigma_n u_n over the users of a group
        return cp.Problem(problem.objective, [*problem.constraints, *kept])

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """The model of nb with the weights phi_n, and the constraint `guarantee[k]`."""
        model, (V, gamma) = nash_bargaining.write_pyomo(instance.rescaled(parts(instance))), guarantees(instance)
        shares = linear_rows(V @ instance.arcs.owner, list(model.x.values()))
        model.guarantee = pyo.Constraint(range(len(gamma)), rule=lambda _, k: shares[k] >= float(gamma[k]))
        return model

    def written_by(self, layer: str) -> "tuple[Callable[..., Any], ...]":
        """The model of nb, and what is added to it."""
        return (*nash_bargaining.written_by(layer), *super().written_by(layer))

    def domain(self, instance: Instance) -> Instance:
        """The instance; NotApplicable where guarantees cannot be kept, leave a user nothing, or have no dominant shares."""
        if len(guarantees(instance)[1]):
            check_guarantees(instance)
            instance.once(self.id, lambda: self._check(instance))
        return instance

    def _check(self, instance: Instance) -> None:
        V, gamma = guarantees(instance)
        check_that_all_can_run(instance, sp.csr_array(sp.diags_array(1.0 / gamma) @ V), self.id, "the guarantees")

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """Other units of tasks add a constant to the objective; weights stay, which are compared with those of groups."""
        return tasks_in_units(instance)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The objective sum_n phi_n log u_n; where a user has no task, only the certainty equivalent, 0."""
        return nash_bargaining.values(replace(allocation, instance=allocation.instance.rescaled(parts(allocation.instance))))

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def residual(self, allocation: Allocation) -> float:
        """The bound at its own or else the best prices, or what a guarantee misses if more; inf without a user's tasks."""
        instance = allocation.instance
        if not (allocation.has_point and np.all(allocation.tasks > 0)):
            return np.inf
        if allocation.prices is None:  # a row for each arc instead of its user, and all prices in the place of s
            costs, total, user = instance.arcs.by_arc, np.ones(instance.K * instance.R), instance.arcs.user
        else:
            prices, q = costs_at(allocation, allocation.prices)
            costs, total, user = sp.csr_array(q[:, None]), np.array([prices.sum()]), np.arange(instance.N)
        (V, gamma), capped, phi = guarantees(instance), np.flatnonzero(np.isfinite(instance.max_tasks)), parts(instance)
        missed = float((1.0 - (V @ allocation.tasks) / gamma).max(initial=0.0))
        z = sp.csr_array((np.ones(len(capped)), (capped, np.arange(len(capped)))), shape=(instance.N, len(capped)))
        worth = phi / allocation.tasks  # of each row, s q_n + z_n - sigma_n sum_k y_k >= worth_n
        rows = sp.diags_array(1.0 / worth[user]) @ sp.hstack([costs, sp.hstack([z, -V.T], format="csr")[user]], format="csr")
        scale = np.abs(rows).max(axis=0).toarray().ravel()
        unit = 1.0 / np.where(scale > 0, scale, 1.0)
        cost = np.concatenate([total, instance.max_tasks[capped], -gamma]) * unit
        found = linear_program(cost, -(rows @ sp.diags_array(unit)), -np.ones(len(user)), TEN_DIGITS)
        least = 0.0 if found.x is None else float((rows @ (unit * found.x)).min())  # by so much less than 1 it is infeasible
        if not least > 0:
            return np.inf
        return worst([missed, (float(cost @ found.x) / min(least, 1.0) - 1.0) / (instance.N * float(phi.min()))])


def parts(instance: Instance) -> Floats:
    """(N,) phi_n of the users, 1 together."""
    groups = instance.groups or Groups.none(instance.N)
    return np.array(groups.parts(instance.exact.weights)[len(groups) :], dtype=float)


def guarantees(instance: Instance) -> tuple[sp.csr_array, Floats]:
    """(groups with a guarantee x N) sigma_n of their users, and (groups,) gamma."""
    if instance.groups is None or not any(instance.groups.guarantees):
        return sp.csr_array((0, instance.N)), np.zeros(0)
    tree = Tree.of(instance)
    kept = np.flatnonzero(tree.gamma > 0)
    return sp.csr_array(sp.diags_array(tree.phi[kept]) @ tree.shares[kept]), tree.gamma[kept]


mechanism = NestedNashBargaining()
