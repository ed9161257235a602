r"""PS-DSF: per-server dominant-share fairness (P Def 2, Theorem 1; K Def 4).

x is feasible, and for every user n and eligible server i some resource r that n demands is a bottleneck (P Def 3, (13)):

    sum_m x_mi d_mr = c_ir      and      z_ni >= z_mi  for all m with x_mi d_mr > 0,        z_ni = x_n / (phi_n gamma_ni)

Only users with x_n < M_n need bottlenecks. Equivalently there are levels l_ir, infinite unless r is full at server i, with

    0 <= x_ni   complements   z_ni - min over r with d_nr > 0 of l_ir >= 0          (x_n = M_n: x_ni > 0 implies <= 0)

**Mixed-integer program** for one variant, with u_n = x_n, G_n = sum_j gamma_nj, c_ni = phi_n gamma_ni / G_n and binaries:

    sum_n w_nir x_ni / gamma_ni >= saturated_ir           x_ni / gamma_ni <= used_ni         u_n / M_n >= satisfied_n
    bottleneck_nir <= saturated_ir                        sum_r bottleneck_nir + satisfied_n = 1
    u_n / G_n - c_ni l_ir >= -M_nir (1 - bottleneck_nir)        ("above": z_ni >= the level of its bottleneck)
    u_n / G_n - c_ni l_ir <=  m_nir (1 - used_ni)               ("below": who uses i has z_ni <= every level)

for small instances; the parameter `objective` (`linear_objective`) chooses among its solutions. docs/reference/derivations.md
derives the constants M_nir and m_nir, which are no guesses. Residual: `bottleneck_gap` of game/residual.py, by variants
`max_min_gap`. x_n need not be unique (the example `two-answers`). Prices of an allocation are the kappa_ir = 1 / l_ir of
game/game.py.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.formulations.common.tasks import by_user, linear_rows, pyomo_tasks, server_resources, tasks_of
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.mechanism import Mechanism, one_of
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, exact_arcs, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import one_vector

PROGRAM = "the mixed-integer program of ps-dsf"

LINEAR_OBJECTIVES = ("utilisation", "tasks", "sum")


class PsDsf(Equilibrium):
    """A bottleneck for every user at every eligible server."""

    id = "ps-dsf"
    title = "per-server dominant-share fairness: a bottleneck for every user at every eligible server; parameter objective"
    source = "P Def 2, Theorem 1"
    linear, integer = True, True
    own_parameters = ("objective",)

    def __init__(self, objective: str | None = None) -> None:
        """`objective`: one of LINEAR_OBJECTIVES, by which the best of all answers is chosen, or None."""
        if objective is not None:
            one_of("objective", objective, LINEAR_OBJECTIVES)
        self.objective, self.chooses = objective, objective is not None

    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """Variables "x", "u", "level", binaries "used", "saturated", "bottleneck" and, where users have limits, "satisfied"."""
        arcs, part = instance.arcs, LevelBounds(self.game(instance))
        x = cp.Variable(len(arcs), nonneg=True, name="x")
        u = cp.Variable(instance.N, name="u")
        level = cp.Variable(instance.K * instance.R, name="level", bounds=[part.low, part.high])
        used = cp.Variable(len(arcs), boolean=True, name="used")
        saturated = cp.Variable(instance.K * instance.R, boolean=True, name="saturated")
        bottleneck = cp.Variable(len(part.arc), boolean=True, name="bottleneck")
        share = cp.multiply(1.0 / part.G[part.user], u[part.user]) - cp.multiply(part.c, level[part.row])
        limited, chosen, limits = np.flatnonzero(np.isfinite(instance.max_tasks)), part.owner @ bottleneck, []
        if len(limited):
            satisfied = cp.Variable(len(limited), boolean=True, name="satisfied")
            chosen += arcs.owner[limited].T @ satisfied
            part_run = cp.multiply(1.0 / instance.max_tasks[limited], u[limited])
            limits = [(part_run <= 1).set_label("limit"), (part_run >= satisfied).set_label("at_limit_where_satisfied")]
        constraints = [
            (arcs.load @ x <= 1).set_label("capacity"),
            *limits,
            (arcs.owner @ x - u == 0).set_label("tasks"),
            (arcs.load @ x >= saturated).set_label("full_where_saturated"),
            (cp.multiply(1.0 / arcs.gamma, x) <= used).set_label("users"),
            (chosen == 1).set_label("one_bottleneck"),
            (bottleneck <= saturated[part.row]).set_label("at_saturated"),
            (share >= -cp.multiply(part.above, 1 - bottleneck)).set_label("above"),
            (share <= cp.multiply(part.below, 1 - used[part.arc])).set_label("below"),
        ]
        return cp.Problem(cp.Maximize(self._cost(instance) @ x) if self.chooses else cp.Minimize(0), constraints)

    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """The same with the names of the instance: `level[server, resource]`, `bottleneck[user, server, resource]`."""
        arcs, part, model = instance.arcs, LevelBounds(self.game(instance)), pyomo_tasks(instance)
        users, keys = instance.users, server_resources(instance)
        x = list(model.x.values())
        pairs = [(users[part.user[p]], *keys[part.row[p]]) for p in range(len(part.arc))]
        bounds = dict(zip(keys, zip(part.low.tolist(), part.high.tolist(), strict=True), strict=True))
        model.u = pyo.Var(users)
        model.level = pyo.Var(keys, bounds=lambda _, *key: bounds[key])
        model.used = pyo.Var(list(model.x), domain=pyo.Binary)
        model.saturated = pyo.Var(keys, domain=pyo.Binary)
        model.bottleneck = pyo.Var(pairs, domain=pyo.Binary)
        limits = {n: M for n, M in by_user(instance, instance.max_tasks).items() if np.isfinite(M)}
        model.satisfied = pyo.Var(list(limits), domain=pyo.Binary)
        satisfied = dict.fromkeys(users, 0.0) | dict(model.satisfied.items())
        used, level = list(model.used.values()), list(model.level.values())
        load = {key: 0 if row is None else row for key, row in zip(keys, linear_rows(arcs.load, x), strict=True)}
        tasks = tasks_of(model, instance)
        gamma = dict(zip(model.x, arcs.gamma.tolist(), strict=True))
        choices = dict(zip(model.x, linear_rows(part.owner, list(model.bottleneck.values())), strict=True))
        terms = zip(part.user, part.row, part.c.tolist(), strict=True)
        share = dict(zip(pairs, (model.u[users[n]] / float(part.G[n]) - c * level[row] for n, row, c in terms), strict=True))
        above, below, of = (dict(zip(pairs, row.tolist(), strict=True)) for row in (part.above, part.below, part.arc))
        model.tasks = pyo.Constraint(users, rule=lambda m, n: tasks[n] - m.u[n] == 0)
        model.full_where_saturated = pyo.Constraint(keys, rule=lambda m, *key: load[key] >= m.saturated[key])
        model.users = pyo.Constraint(list(model.x), rule=lambda m, *arc: m.x[arc] / gamma[arc] <= m.used[arc])
        model.one_bottleneck = pyo.Constraint(list(model.x), rule=lambda _, *arc: choices[arc] + satisfied[arc[0]] == 1)
        model.at_limit_where_satisfied = pyo.Constraint(list(limits), rule=lambda m, n: m.u[n] / limits[n] >= m.satisfied[n])
        model.at_saturated = pyo.Constraint(pairs, rule=lambda m, *pair: m.bottleneck[pair] <= m.saturated[pair[1:]])
        model.above = pyo.Constraint(pairs, rule=lambda m, *pair: share[pair] >= -above[pair] * (1 - m.bottleneck[pair]))
        model.below = pyo.Constraint(pairs, rule=lambda _, *pair: share[pair] <= below[pair] * (1 - used[of[pair]]))
        worth = sum(c * v for c, v in zip(self._cost(instance).tolist(), x, strict=True)) if self.chooses else 0.0
        model.objective = pyo.Objective(expr=worth, sense=pyo.maximize)
        return model

    @property
    def parameters(self) -> dict[str, Any]:
        return {} if self.objective is None else {"objective": self.objective}

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """As for all games; a sum of tasks would be another one in other units."""
        return Mechanism.canonical(self, instance) if self.objective == "tasks" else super().canonical(instance)

    def values(self, allocation: Allocation) -> dict[str, float]:
        """The deviation, and the value of the objective."""
        result = super().values(allocation)
        if self.objective is not None:
            result[self.objective] = float(self._cost(allocation.instance) @ allocation.x)
        return result

    def _cost(self, instance: Instance) -> Floats:
        """(A,) what a task on each arc adds to the objective."""
        assert self.objective is not None
        return np.array([float(v) for v in linear_objective(instance, self.objective)])

    def write_game(self, instance: Instance) -> Game:
        return Game(instance, np.inf)

    def unwritten(self, instance: Instance, layer: str) -> str:  # noqa: ARG002 (the same in both)
        """The program is for one demand vector: its bottlenecks say nothing about a user's choice of variants."""
        try:
            one_vector(instance, PROGRAM)
        except NotApplicable as error:
            return str(error)
        return ""

    def prices(self, instance: Instance, duals: Floats | None, values: Mapping[str, Any]) -> Floats | None:  # noqa: ARG002
        """Kappa = 1 / level where saturated, else 0; parameters and return value are those of `Mechanism.prices`."""
        if "level" not in values:
            return None
        kappa: Floats = np.where(np.asarray(values["saturated"]) > 0.5, 1.0 / np.asarray(values["level"]), 0.0)
        return kappa.reshape(instance.K, instance.R)


class LevelBounds:
    """The constants of the mixed-integer program. p runs over the pairs (arc, resource it demands).

    arc, user, row : (P,) the arc, its user, and i R + r
    owner : (A x P) sparse 0/1
    G : (N,) tasks a user could run if it had every server for itself
    low, high : (K R,) bounds of the levels
    c, above, below : (P,) c_ni, M_nir, m_nir
    """

    def __init__(self, game: Game) -> None:
        one_vector(game.instance, PROGRAM)
        instance, size = game.instance, game.instance.K * game.instance.R
        self.arc, resource = np.nonzero(game.w)
        self.user = game.user[self.arc]
        self.row = game.server[self.arc] * instance.R + resource
        pairs = len(self.arc)
        self.owner = sp.csr_array((np.ones(pairs), (self.arc, np.arange(pairs))), shape=(len(game.user), pairs))
        self.G = game.tasks(game.gamma)
        self.c = game.unit[self.arc] / self.G[self.user]
        at = np.zeros((instance.N, instance.K), dtype=bool)
        at[game.user, game.server] = True
        meets = (at.astype(float) @ at.T) > 0
        limits = instance.max_tasks / self.G
        least = np.minimum(instance.weights / (meets @ instance.weights), limits)[self.user]  # a_n
        most = np.minimum(1.0, limits)[self.user]  # b_n
        self.low, self.high = np.full(size, np.inf), np.zeros(size)
        np.minimum.at(self.low, self.row, least / self.c)
        np.maximum.at(self.high, self.row, most / self.c)
        idle = ~np.isfinite(self.low)  # demanded by nobody there
        self.low[idle] = self.high[idle] = 1.0
        self.above = np.maximum(self.c * self.high[self.row] - least, 0.0)
        self.below = np.maximum(most - self.c * self.low[self.row], 0.0)


def linear_objective(instance: Instance, objective: str) -> Rationals:
    """(A,) what one task on each arc adds to the objective, for users with one variant; InstanceError for another objective.

    "utilisation" is the mean, over the capacities that are not 0, of their used part, "tasks" sum_n x_n, and "sum" that of
    x_n / G_n, with G_n = min(max_tasks_n, what n could run alone on all its servers together).
    """
    one_of("objective", objective, LINEAR_OBJECTIVES)
    arcs = exact_arcs(instance)
    if objective == "tasks":
        return (Fraction(1),) * len(arcs.user)
    if objective == "sum":
        alone = arcs.tasks(exact_monopolies(instance))
        most = [gamma if limit is None else min(gamma, limit) for gamma, limit in zip(alone, arcs.limits, strict=True)]
        return tuple(1 / most[n] for n in arcs.user)
    there = sum(c > 0 for row in instance.exact.capacities for c in row)
    return tuple(sum((part for _, part in load), Fraction(0)) / there for load in arcs.load)


mechanism = PsDsf()
