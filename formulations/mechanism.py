"""What a mechanism is: a definition that can be written as a model and held against an allocation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.scaling import canonical
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

if TYPE_CHECKING:
    import cvxpy as cp
    import pyomo.environ as pyo

__all__ = ["Mechanism", "cheapest"]


class Mechanism(ABC):
    """A fair allocation mechanism, written once for each modelling layer.

    Attributes
    ----------
    id, aliases : its public names
    title : one line for tables
    source : where it is defined, paper key and equation
    linear : whether it is a linear program or a sequence of them
    integer : whether its model has integer variables (and is linear otherwise)
    convex : whether its model is a concave program; where it is not, solvers may stop at points that mean nothing
    """

    id: str
    aliases: tuple[str, ...] = ()
    title: str
    source: str
    linear: bool = False
    integer: bool = False
    convex: bool = True

    def configure(self, **parameters: Any) -> "Mechanism":
        """The mechanism with these parameters; InstanceError for one that it does not have."""
        for name in parameters:
            raise NotApplicable(f"mechanism {self.id!r} has no parameter {name!r}: it has none")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters it is configured with."""
        return {}

    def domain(self, instance: Instance) -> Instance:
        """The instance the models are written for; InstanceError where the mechanism is not defined."""
        return instance

    def home(self, instance: Instance) -> Instance:
        """The instance an allocation is given on: the domain, unless that is only a way to write the model."""
        return self.domain(instance)

    def canonical(self, instance: Instance) -> tuple[Instance, Floats]:
        """The instance in units fit for floating point, and (N,) how many tasks one of its task units is."""
        return canonical(instance)

    def cvxpy(self, instance: Instance, **details: Any) -> "cp.Problem":
        """The CVXPY problem; variable "x" is in tasks on the arcs of `domain(instance)`, constraints carry labels.

        `details` are those of `write_cvxpy`: a lexicographic mechanism takes a `round`.
        """
        return self.write_cvxpy(self.domain(instance), **details)

    def pyomo(self, instance: Instance, **details: Any) -> "pyo.ConcreteModel":
        """The Pyomo model; `x[user, variant, server]` is in tasks, with the names of `domain(instance)`."""
        return self.write_pyomo(self.domain(instance), **details)

    def unwritten(self, instance: Instance) -> str:  # noqa: ARG002 (for those that have no model for some)
        """One sentence on why there is no model for this instance with these parameters, or ""."""
        return ""

    def prices(self, instance: Instance, duals: Floats | None, values: Mapping[str, Any]) -> Floats | None:
        """(K, R) the allocation's prices: the variable "kappa" where the model has it, else the duals of "capacity".

        `values` are the values of the model's variables by name.
        """
        return np.asarray(values["kappa"]).reshape(instance.K, instance.R) if "kappa" in values else duals

    @abstractmethod
    def write_cvxpy(self, instance: Instance) -> "cp.Problem":
        """The CVXPY problem on an instance that is a domain already."""

    @abstractmethod
    def write_pyomo(self, instance: Instance) -> "pyo.ConcreteModel":
        """The Pyomo model on an instance that is a domain already."""

    @abstractmethod
    def values(self, allocation: Allocation) -> dict[str, float]:
        """What the mechanism equalises ("g") or maximises ("objective"), at this allocation."""

    def marginal(self, allocation: Allocation) -> Floats | None:  # noqa: ARG002 (for programs of utilities)
        """(N,) derivative of the objective by each user's tasks, where optimality is proved by prices; None where it is not."""
        return None

    @abstractmethod
    def residual(self, allocation: Allocation) -> float:
        """How far the allocation is from the definition: dimensionless, 0 when it holds.

        It is computed from the instance and the tasks. Where optimality is proved by prices, it is what the allocation's own
        prices prove; solvers/judge.py looks for better ones where these prove too little.
        """


def cheapest(instance: Instance, prices: Floats, closed: NDArray[np.bool_] | None = None) -> Floats:
    """(N,) cost of a user's cheapest task at prices (K, R) or (K R,) in shares of capacity: the least over its open arcs."""
    cost = instance.arcs.load.T @ prices.ravel()
    if closed is not None:
        cost = np.where(closed, np.inf, cost)
    first = np.searchsorted(instance.arcs.user, np.arange(instance.N))
    result: Floats = np.minimum.reduceat(cost, first)
    return result


def cvxpy_tasks(instance: Instance) -> tuple[Any, list[Any]]:
    """What every program in CVXPY shares: the variable "x", and the constraints "capacity" and, where it binds, "limit"."""
    import cvxpy as cp

    arcs, capped = instance.arcs, np.isfinite(instance.max_tasks)
    x = cp.Variable(len(arcs), nonneg=True, name="x")
    x.value = arcs.gamma / instance.N  # where nonlinear solvers start
    constraints = [(arcs.load @ x <= 1).set_label("capacity")]
    if capped.any():
        constraints.append((arcs.owner[capped] @ x <= instance.max_tasks[capped]).set_label("limit"))
    return x, constraints


def pyomo_tasks(instance: Instance, full: Floats | None = None) -> Any:
    """A Pyomo model with what every mechanism shares: `x[user, variant, server]`, `capacity`, `limit`, `full`.

    x >= 0,  capacity[server, resource]: the load is at most 1,  limit[user]: tasks <= max_tasks,
    full[server, resource]: the load is what `full` (K R,) says where it is finite (nan = a capacity, inf = no row)
    """
    import pyomo.environ as pyo

    arcs = instance.arcs
    model = pyo.ConcreteModel(name=instance.name or "fairalloc")
    keys = [
        (instance.users[n], int(v), instance.servers[i]) for n, v, i in zip(arcs.user, arcs.variant, arcs.server, strict=True)
    ]
    model.arcs = pyo.Set(initialize=keys, dimen=3)
    alone = dict(zip(keys, (arcs.gamma / instance.N).tolist(), strict=True))
    model.x = pyo.Var(model.arcs, domain=pyo.NonNegativeReals, initialize=alone)
    x = [model.x[key] for key in keys]

    rows = [(instance.servers[i], r) for i in range(instance.K) for r in instance.resources]
    load = {row: part for row, part in zip(rows, linear_rows(arcs.load, x), strict=True) if part is not None}
    kept = dict(zip(rows, np.full(len(rows), np.nan) if full is None else full, strict=True))
    model.capacity = pyo.Constraint([row for row in load if np.isnan(kept[row])], rule=lambda _, *row: load[row] <= 1)
    exactly = [row for row in load if np.isfinite(kept[row])]
    model.full = pyo.Constraint(exactly, rule=lambda _, *row: load[row] == float(kept[row]))

    capped = {u: limit for u, limit in zip(instance.users, instance.max_tasks.tolist(), strict=True) if np.isfinite(limit)}
    tasks = dict(zip(instance.users, linear_rows(arcs.owner, x), strict=True))
    model.limit = pyo.Constraint(list(capped), rule=lambda _, u: tasks[u] <= capped[u])
    return model


def linear_rows(matrix: Any, variables: list[Any]) -> list[Any]:
    """`matrix @ variables` as one Pyomo linear expression a row; None for an empty row."""
    from pyomo.core.expr.numeric_expr import LinearExpression

    result: list[Any] = []
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        terms = [variables[a] for a in matrix.indices[start:end]]
        coefficients = matrix.data[start:end].tolist()
        result.append(LinearExpression(constant=0, linear_coefs=coefficients, linear_vars=terms) if terms else None)
    return result
