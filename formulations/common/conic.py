r"""A bound on the optimum of a cone program from any dual values (docs/reference/derivations.md).

    min  1/2 x'P x + c'x    s.t.   A x + s = b,  s in K,  l <= x <= h

    bound = -1/2 x'P x - b'y + sum_j (l_j max(r_j, 0) - h_j max(-r_j, 0)),    y in K*,  r = P x + c + A'y

K is a product of zero, nonnegative, second-order, positive semidefinite, exponential and three-dimensional power cones. The
bound holds up to its `lack`: how far y is from K*, and how far r_j is from the sign it must have where x_j lacks a bound.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fairalloc.models.numbers import Floats, frozen

NOISE = 1e-4
"""Terms below this part of the largest are measured against the largest: solvers leave rounding where they mean 0."""

TINY = 1e-300


class Bound(NamedTuple):
    """A bound on the least objective; what the dual values lack of proving it (dimensionless), and the size of the sums in it."""

    value: float
    lack: float
    size: float


def conic_bound(data: Mapping[str, Any], x: Floats, y: Floats, upper: bool = True) -> Bound | None:
    """The bound that duals y, in the order of the rows of A, prove; None for data of another form and cones that are not listed.

    `data` is what `cvxpy.Problem.get_problem_data` gives for a conic solver; x matters where there is a P or the bound lacks
    something. `upper`: a semidefinite matrix is its upper triangle by columns, else the lower one.
    """
    if "dims" not in data or "c" not in data or data["dims"].pnd:
        return None
    matrix, c = data["A"], np.asarray(data["c"], dtype=float)
    curved = data["P"] @ x if data.get("P") is not None else np.zeros(len(x))
    r = curved + c + matrix.T @ y
    size = np.abs(curved) + np.abs(c) + abs(matrix).T @ np.abs(y)
    sides = (data.get(name) for name in ("lower_bounds", "upper_bounds"))
    low, high = (np.full(len(x), np.inf) if side is None else np.asarray(side, dtype=float) for side in sides)
    free, over, under = outside_of_signs(r, low, high)
    at_sides = np.where(np.isfinite(low), low, 0.0) @ over - np.where(np.isfinite(high), high, 0.0) @ under
    value = -0.5 * float(x @ curved) - float(data["b"] @ y) + float(at_sides) - float(np.abs(x) @ free)
    sizes = float(np.abs(data["b"]) @ np.abs(y)) + float(np.abs(x) @ np.abs(c))
    lack = float(relative(free, size).max(initial=0.0))
    top = float(np.abs(y).max(initial=0.0)) + TINY
    return Bound(value, max(lack, _outside_dual_cones(data["dims"], y, upper) / top), sizes)


def outside_of_signs(r: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """How far derivatives r (n,) are from the signs that bounds (n,), infinite for none, allow; their positive, negative part."""
    over, under = np.maximum(r, 0.0), np.maximum(-r, 0.0)
    return np.where(np.isfinite(low), 0.0, over) + np.where(np.isfinite(high), 0.0, under), over, under


def relative(excess: Floats, size: Floats) -> Floats:
    """Excess in parts of sizes, small sizes in parts of the largest."""
    return frozen(excess / (size + NOISE * size.max(initial=0.0) + TINY))


def _outside_dual_cones(dims: Any, y: Floats, upper: bool) -> float:
    """How far y is from the dual cones, at most; rows of the zero cone are free."""
    at, worst = dims.zero + dims.nonneg, [np.maximum(-y[dims.zero : dims.zero + dims.nonneg], 0.0).max(initial=0.0)]
    sizes = [*dims.soc, *(k * (k + 1) // 2 for k in dims.psd), *(3,) * (dims.exp + len(dims.p3d))]
    checks: list[Callable[[Floats], float]] = [
        *(_outside_second_order,) * len(dims.soc),
        *(partial(_outside_semidefinite, upper=upper),) * len(dims.psd),
        *(_outside_exponential,) * dims.exp,
        *(partial(_outside_power, a=float(a)) for a in dims.p3d),
    ]
    for size, check in zip(sizes, checks, strict=True):
        worst.append(check(y[at : at + size]))
        at += size
    return float(max(worst))


def _outside_second_order(y: Floats) -> float:
    """The cone {(t, v): t >= |v|} is its own dual."""
    return float(max(np.linalg.norm(y[1:]) - y[0], 0.0))


def _outside_semidefinite(y: Floats, upper: bool) -> float:
    """A triangle by columns, off-diagonal entries times sqrt 2: its own dual."""
    k = (int(np.sqrt(8 * len(y) + 1)) - 1) // 2
    (columns, rows), matrix = np.tril_indices(k) if upper else np.triu_indices(k), np.zeros((k, k))
    matrix[rows, columns] = matrix[columns, rows] = y / np.where(rows == columns, 1.0, np.sqrt(2.0))
    return max(-float(np.linalg.eigvalsh(matrix)[0]), 0.0)


def _outside_exponential(y: Floats) -> float:
    """Of {(u, v, w): u < 0, -u exp(v/u - 1) <= w} and its limit {(0, v, w): v, w >= 0}."""
    u, v, w = map(float, y)
    limit = max(abs(u), -v, -w, 0.0)
    if u >= 0.0:
        return limit
    with np.errstate(over="ignore"):
        least = -u * float(np.exp(v / u - 1.0))
    return min(limit, max(least - w, 0.0))


def _outside_power(y: Floats, a: float) -> float:
    """Of {(u, v, w): (u / a)^a (v / (1 - a))^(1 - a) >= |w|, u, v >= 0}."""
    u, v, w = max(float(y[0]), 0.0), max(float(y[1]), 0.0), abs(float(y[2]))
    most = float((u / a) ** a * (v / (1.0 - a)) ** (1.0 - a))
    return max(w - most, -float(y[0]), -float(y[1]), 0.0)
