r"""Nested max-min fairness: departments share first, then the users of each (groups of the instance, models/input/groups.py).

    V_k = sum over the users n of node k of  sigma_n u_n,    sigma_n = max_r d_nr / sum_i c_ir                        (W 3)
    1. the V_k / phi_k of the children of the root are lexicographically max-min fair, where all V_k >= gamma_k
    2. among these allocations so are those of the nodes below them, and so on down to the users

phi_k are products of weights among siblings, and gamma_k is the guarantee of a group, or all that its users ask for where that is
less: what it does not ask for is lent. With compared="borrowed", (V_k - gamma_k) / phi_k stands for V_k / phi_k: weights divide
what is beyond guarantees. Without groups it is drfh.

**A group is served where its share is cheapest**, so one of its users may get no tasks: docs/theory/nested-leximin.md.

Residual: that of drfh for the nodes of every depth; all nodes above keep their shares, and all others their guarantees.
"""

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import cvxpy_tasks, linear_rows, pyomo_tasks, tasks_in_units
from fairalloc.formulations.lexicographic.linear_program import LP, program_as_lp
from fairalloc.formulations.lexicographic.nested import NestedRound
from fairalloc.formulations.lexicographic.nested_proof import least_rise
from fairalloc.formulations.lexicographic.weak_duality import feasible
from fairalloc.formulations.mechanism import Mechanism, one_of
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, worst
from fairalloc.models.tree import Tree, check_guarantees

Compared = Literal["all", "borrowed"]


class NestedMaxMin(Mechanism):
    """Lexicographic max-min fair shares of groups, then within groups."""

    id = "nested-leximin"
    title = "lexicographic max-min fair shares of groups, then of the users in each; parameter compared"
    source = "Z Def 1, W (6) on a tree"
    linear, integer, convex = True, False, True
    takes_rounds = knows_groups = unique = True
    own_parameters = ("compared",)

    def __init__(self, compared: Compared = "all") -> None:
        one_of("compared", compared, get_args(Compared))
        self.compared = compared

    @property
    def parameters(self) -> dict[str, Any]:
        return {} if self.compared == "all" else {"compared": self.compared}

    def write_cvxpy(self, instance: Instance, round: NestedRound | None = None) -> "cp.Problem":  # noqa: A002
        """Variables "x" and "g", constraints "capacity", "kept", "fairness", "limit"; by default of the first round."""
        tree, now = Tree.of(instance), round or self.first(instance)

        x, constraints = cvxpy_tasks(instance)
        g = cp.Variable(nonneg=True, name="g")
        V = tree.shares @ (instance.arcs.owner @ x)  # sum_n sigma_n u_n / phi_k, of every node
        if now.kept.any():
            constraints.append((V[now.kept] >= now.floor[now.kept]).set_label("kept"))
        constraints.append((V[now.active] >= now.base[now.active] + g).set_label("fairness"))
        return cp.Problem(cp.Maximize(g), constraints)

    def write_pyomo(self, instance: Instance, round: NestedRound | None = None) -> "pyo.ConcreteModel":  # noqa: A002
        """Variables `x` and `g`, expressions `share[node]`, constraints `capacity`, `kept`, `fairness`, `limit`."""
        tree, model = Tree.of(instance), pyomo_tasks(instance)
        now = round or self.first(instance)
        V = dict(zip(tree.names, linear_rows(tree.shares @ instance.arcs.owner, list(model.x.values())), strict=True))
        floor, base = (dict(zip(tree.names, part.tolist(), strict=True)) for part in (now.floor, now.base))
        kept, active = ([k for k, chosen in zip(tree.names, part, strict=True) if chosen] for part in (now.kept, now.active))

        model.g = pyo.Var(domain=pyo.NonNegativeReals, initialize=0.0)
        model.share = pyo.Expression(list(V), rule=lambda _, k: V[k])  # sum_n sigma_n u_n / phi_k
        model.kept = pyo.Constraint(kept, rule=lambda m, k: m.share[k] >= floor[k])
        model.fairness = pyo.Constraint(active, rule=lambda m, k: m.share[k] >= base[k] + m.g)
        model.objective = pyo.Objective(expr=model.g, sense=pyo.maximize)
        return model

    def lp(self, instance: Instance, round: NestedRound | None = None) -> LP:  # noqa: A002
        """The LP of a round, by default the first, as sparse arrays."""
        tree, now, cost = Tree.of(instance), round or self.first(instance), np.append(np.zeros(instance.A), 1.0)
        V, g = tree.shares @ instance.arcs.owner, np.repeat([0.0, -1.0], [now.kept.sum(), now.active.sum()])
        rows = sp.hstack([sp.vstack([V[now.kept], V[now.active]]), g[:, None]], format="csr")
        return program_as_lp(instance, cost, rows, np.append(now.floor[now.kept], now.base[now.active]))

    def first(self, instance: Instance) -> NestedRound:
        return NestedRound.first(Tree.of(instance), self.compared == "borrowed")

    def domain(self, instance: Instance) -> Instance:
        """The instance; NotApplicable where dominant shares are not defined, or guarantees cannot be kept."""
        check_guarantees(instance)
        return instance

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """Other units of tasks change no share; weights stay, which are compared with those of groups."""
        return tasks_in_units(instance)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """g, the least level of a child of the root, and the share of every group."""
        tree, now = Tree.of(allocation.instance), self.first(allocation.instance)
        levels = tree.levels(allocation.x)
        shares = {f"share of {name}": float(levels[k] * tree.phi[k]) for k, name in enumerate(tree.groups.names)}
        return {"g": float((levels - now.base)[now.active].min()), **shares}

    def residual(self, allocation: Allocation) -> float:
        """The largest part of an attainable level that a node misses, by its own prices, in [0, 1]; 1 without any or a point."""
        if allocation.round_prices is None or not allocation.has_point:
            return 1.0
        tree, now = Tree.of(allocation.instance), self.first(allocation.instance)
        x = feasible(allocation.instance, allocation.x)
        missed = float((1.0 - tree.levels(x)[now.kept] / now.floor[now.kept]).max(initial=0.0))  # of guarantees
        return worst([missed, least_rise(tree, now, x, allocation.round_prices)])


mechanism = NestedMaxMin()
