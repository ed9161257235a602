"""What the models of all mechanisms share: tasks on arcs, capacities, limits, and the cheapest task at given prices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.arguments import checked
from fairalloc.models.errors import InstanceError, shown
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, floats

__all__ = ["cheapest", "cvxpy_tasks", "linear_rows", "pyomo_tasks", "scaled_to_one"]


def cheapest(instance: Instance, prices: Floats, closed: NDArray[np.bool_] | None = None) -> Floats:
    """What the cheapest task of each user costs at given prices.

    Parameters
    ----------
    instance : the domain of the mechanism
    prices : (K, R) or (K R,) in shares of capacity
    closed : (A,) arcs that do not count; None = all count

    Returns
    -------
    (N,) the least cost over the user's arcs
    """
    cost = instance.arcs.by_arc @ prices.ravel()
    if closed is not None:
        cost = np.where(closed, np.inf, cost)
    result: Floats = np.minimum.reduceat(cost, instance.arcs.first)
    return result


def scaled_to_one(prices: Floats) -> Floats:
    """Prices (..., K, R) without the negative ones, each layer in parts of its largest; zeros stay zeros."""
    result = np.maximum(prices, 0.0)
    most = result.max(axis=(-2, -1), keepdims=True, initial=0.0)
    scaled: Floats = np.divide(result, most, out=np.zeros_like(result), where=most > 0)
    return scaled


@checked
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


@checked
def pyomo_tasks(instance: Instance, full: Floats | None = None) -> Any:
    """A Pyomo model with what every mechanism shares: `x[user, variant, server]`, `capacity`, `limit`, `full`.

    x >= 0,  capacity[server, resource]: the load is at most 1,  limit[user]: tasks <= max_tasks,
    full[server, resource]: the load is what `full` (K R,) says where it is finite (nan = a capacity, inf = no row)
    """
    import pyomo.environ as pyo

    if full is not None and floats(full, "full").shape != (instance.K * instance.R,):
        raise InstanceError(f"full is {shown(full)}, but it must be {instance.K * instance.R} numbers")
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
    matrix = matrix.tocsr()
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        terms = [variables[a] for a in matrix.indices[start:end]]
        coefficients = matrix.data[start:end].tolist()
        result.append(LinearExpression(constant=0, linear_coefs=coefficients, linear_vars=terms) if terms else None)
    return result
