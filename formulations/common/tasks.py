"""What the models of all mechanisms share: tasks on arcs, capacities, limits, the cheapest task at given prices, and units.

Solvers stop at absolute tolerances, so in canonical units all numbers are of order one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.modelling import cp, pyo
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import checked
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen


def cheapest(instance: Instance, prices: Floats, closed: NDArray[np.bool_] | None = None) -> Floats:
    """(N,) what the cheapest task of each user costs at prices (K, R) or (K R,); arcs in `closed` (A,) do not count."""
    cost = instance.arcs.costs(prices.ravel())
    if closed is not None:
        cost = np.where(closed, np.inf, cost)
    return np.minimum.reduceat(cost, instance.arcs.first)


def scaled_to_one(prices: Floats) -> Floats:
    """Prices (..., K, R) without the negative ones, each layer in parts of its largest; zeros stay zeros."""
    result = np.maximum(prices, 0.0)
    most = result.max(axis=(-2, -1), keepdims=True, initial=0.0)
    return frozen(np.divide(result, most, out=np.zeros_like(result), where=most > 0))


def costs_at(allocation: Allocation, prices: Floats) -> tuple[Floats, Floats]:
    """Prices (K, R) in parts of the largest, and (N,) what each user's cheapest task costs at them."""
    scaled = scaled_to_one(prices)
    return scaled, cheapest(allocation.instance, scaled)


@checked
def cvxpy_tasks(instance: Instance, whole: bool = False) -> tuple[Any, list[Any]]:
    """The CVXPY variable "x" (A,), tasks >= 0 on the arcs, and a list of constraints.

    "capacity" is `instance.arcs.load @ x <= 1`, and "limit" is there where a user has max_tasks. `whole` makes x integer.
    """
    x = cp.Variable(instance.A, nonneg=True, integer=whole, name="x")
    if not whole:
        x.value = instance.arcs.gamma / instance.N  # where nonlinear solvers start
    return x, [(instance.arcs.load @ x <= 1).set_label("capacity"), *cvxpy_limit(instance, x)]


def cvxpy_limit(instance: Instance, x: Any) -> list[Any]:
    """The constraint "limit" of tasks x, sum_i x_ni <= max_tasks_n, in a list; [] where no user has a limit."""
    capped = np.isfinite(instance.max_tasks)
    if not capped.any():
        return []
    return [(instance.arcs.owner[capped] @ x <= instance.max_tasks[capped]).set_label("limit")]


@checked
def pyomo_tasks(instance: Instance, whole: bool = False) -> Any:
    """A Pyomo model with tasks `x[user, variant, server]` >= 0, integers where `whole`, with `capacity` and `limit`."""
    model, load, tasks = pyomo_arcs(instance)
    for x in model.x.values() if whole else ():
        x.domain = pyo.NonNegativeIntegers
    model.capacity = pyo.Constraint(list(load), rule=lambda _, *row: load[row] <= 1)
    return pyomo_limit(model, instance, tasks)


def pyomo_full(model: Any, instance: Instance, full: NDArray[np.bool_], implied: NDArray[np.bool_]) -> Any:
    """The model with `full` in the place of some rows (K R,) of `capacity`, and without those that are implied."""
    at = {row: k for k, row in enumerate(server_resources(instance))}
    load = {row: capacity.body for row, capacity in model.capacity.items() if full[at[row]]}
    for row in [row for row in model.capacity if full[at[row]] or implied[at[row]]]:
        del model.capacity[row]
    model.full = pyo.Constraint(list(load), rule=lambda _, *row: load[row] == 1)
    return model


def pyomo_arcs(instance: Instance) -> tuple[Any, dict[tuple[str, str], Any], dict[str, Any]]:
    """A Pyomo model with `x[user, variant, server]` >= 0; used parts of capacities by (server, resource), and tasks by user."""
    arcs, keys = instance.arcs, _keys(instance)
    model = pyo.ConcreteModel(name=instance.name or "fairalloc")
    model.arcs = pyo.Set(initialize=keys, dimen=3)
    alone = dict(zip(keys, (arcs.gamma / instance.N).tolist(), strict=True))
    model.x = pyo.Var(model.arcs, domain=pyo.NonNegativeReals, initialize=alone)
    parts = zip(server_resources(instance), linear_rows(arcs.load, list(model.x.values())), strict=True)
    return model, {row: part for row, part in parts if part is not None}, tasks_of(model, instance)


def tasks_of(model: Any, instance: Instance) -> dict[str, Any]:
    """The tasks of each user in a Pyomo model with `x[user, variant, server]`."""
    return by_user(instance, linear_rows(instance.arcs.owner, variables_of(model, instance)))


def variables_of(model: Any, instance: Instance) -> list[Any]:
    """(A,) the variables `x` of a Pyomo model by arcs: by (user, variant, server), or, where keys are others, as they stand."""
    keys = _keys(instance)
    return [model.x[key] for key in keys] if set(keys) == set(model.x) else list(model.x.values())


def _keys(instance: Instance) -> list[tuple[str, int, str]]:
    arcs, users, servers = instance.arcs, instance.users, instance.servers
    return [(users[n], int(v), servers[i]) for n, v, i in zip(arcs.user, arcs.variant, arcs.server, strict=True)]


def pyomo_limit(model: Any, instance: Instance, tasks: dict[str, Any]) -> Any:
    """The model with `limit[user]`, sum_i x_ni <= max_tasks_n, for users who have one; `tasks` are these sums by user."""
    capped = {n: limit for n, limit in by_user(instance, instance.max_tasks).items() if np.isfinite(limit)}
    model.limit = pyo.Constraint(list(capped), rule=lambda _, n: tasks[n] <= capped[n])
    return model


def by_user(instance: Instance, values: Any) -> dict[str, Any]:
    """N numbers or expressions by the names of the users."""
    return dict(zip(instance.users, values.tolist() if isinstance(values, np.ndarray) else values, strict=True))


def server_resources(instance: Instance) -> list[tuple[str, str]]:
    """The names of the K R rows of capacities."""
    return [(i, r) for i in instance.servers for r in instance.resources]


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


@np.errstate(over="ignore", invalid="ignore")
def canonical(
    instance: Instance, rate: Callable[[Instance], Floats] | None = None, leveled: bool = True, one_unit: bool = False
) -> tuple[Instance, Floats]:
    """The instance in canonical units, and (N,) how many tasks one of its task units is.

    `rate` gives the weighted share of one task where a mechanism has shares; only then do the weights have a scale, which is that
    of the instance where they are not `leveled`. `one_unit`: whether all users' tasks have the same unit, the median one.
    """
    unit: Floats = instance.arcs.alone
    if one_unit:
        unit = np.full(instance.N, np.median(unit))
    scaled = instance.rescaled(instance.weights / instance.weights.mean(), unit)
    if rate is not None:
        worth = rate(instance) * unit  # what a task unit is worth, whether the shares know of units or not
        part = _best_variants(scaled) / scaled.N
        level = float((worth * np.minimum(part, scaled.max_tasks)).min())  # the lowest of an equal partition
        level = level if leveled else 1.0
        scaled = scaled.rescaled(scaled.weights * rate(scaled) / worth * level)
    return scaled, unit


def tasks_in_units(instance: Instance) -> tuple[Instance, Floats]:
    """The same for tasks alone: weights, which are compared with those of groups, stay as they are."""
    unit: Floats = instance.arcs.alone
    return instance.rescaled(instance.weights, unit), unit


def _best_variants(instance: Instance) -> Floats:
    """(N,) sum over servers of what the user could run there alone in its best variant."""
    user, best = instance.arcs.user, instance.arcs.gamma
    if not instance.single_variant:
        pair, which = np.unique(user * instance.K + instance.arcs.server, return_inverse=True)
        user, best = pair // instance.K, np.zeros(len(pair))
        np.maximum.at(best, which, instance.arcs.gamma)
    return np.bincount(user, weights=best, minlength=instance.N).astype(float)
