r"""How far the tasks of each user may be from right ones that are unique, relative (proof: docs/reference/derivations.md).

**Programs** max sum_n U_n(u_n), with y_n = U_n'(u_n) u_n, a_n = y_n - q_n u_n, S = sum p - sum_n q_n u_n:

    |u*_n / u_n - 1| <= sqrt(E / (c_n y_n)),   sqrt(E) <= A + sqrt(A^2 + S),   A^2 = sum_n a_n^2 / (4 c_n y_n)

with U_n' = b_n u^-alpha_n and c_n = alpha_n (1 + D)^-(alpha_n + 1), where no bound is above D. At a limit M_n, a_n may be a price
of the limit instead: S grows by a_n (M_n / u_n - 1); at a floor m_n so may -a_n: S grows by a_n (m_n / u_n - 1).

**Lexicographic rules.** User n can rise by e_n = rho_n u_n tasks, and gives way by at most sum_a min(x_a, max_r missing_ir /
load_air), to first order: pool j lacks at most sum_m load_mj e_m, and at most the largest term of each layer of prices.
"""

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.common.tasks import costs_at
from fairalloc.models.allocation import Allocation
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats, frozen

MOST = 1e-2
"""D: a larger error is not bounded."""

SAFETY, FAR = 10.0, 1e3
"""Who gives way may be in the way elsewhere: SAFETY covers that where a user's loads are at most FAR apart, else their ratio."""

FULL, SAME = 1e-6, 1e-9
"""A pool is full where no more than this part of it is free; levels within SAME of each other are one."""

ROUNDING = 4 * float(np.finfo(float).eps)
"""Of a sum of prices: with square roots of the gap, this is what floating point can tell."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def errors_of_program(allocation: Allocation, paid: Floats, alpha: Floats | float) -> Floats:
    """(N,) bounds on |u*_n / u_n - 1| by the allocation's own prices, else inf; `paid` (N,) is y_n >= 0 in any unit."""
    instance, u, unknown = allocation.instance, allocation.tasks, np.full(allocation.instance.N, np.inf)
    if allocation.prices is None or not paid.sum() < np.inf:
        return unknown
    prices, q = costs_at(allocation, allocation.prices)
    q = q * u
    room, fall = instance.max_tasks / u - 1.0, 1.0 - instance.min_tasks / u
    free = np.minimum(room, fall) > SAME
    spent = float(q[free].sum())
    scale = float(paid[free].sum()) / spent if spent > 0 else 0.0
    a, total = paid - scale * q, scale * float(prices.sum())
    room = np.maximum(np.where(a > 0, room, fall), 0.0)
    limited = room * paid < np.abs(a)
    gap = total - scale * float(q.sum()) + float((np.abs(a) * room)[limited].sum())
    gap = max(gap, 0.0) + (ROUNDING + infeasibility(allocation)) * max(total, float(paid.sum()))
    curved = alpha * (1.0 + MOST) ** -(alpha + 1.0)  # 0 where the bound is out of the range of floating point
    half = float((np.where(limited, 0.0, a) ** 2 / (4.0 * curved * paid)).sum())
    errors = (half**0.5 + (half + gap) ** 0.5) / np.sqrt(curved * paid)
    return np.where(errors <= MOST, errors, unknown)


def errors_of_levels(instance: Instance, x: Floats, v: Floats, rise: Floats, layers: int) -> Floats:
    """(N,) first-order bounds on relative errors of feasible tasks x (A,): shares v, rises rho that so many layers prove."""
    spread = 1.0 - v.min() / v.max() if v.max() > 0 else 0.0
    if spread <= SAME:
        return rise + spread
    arcs = instance.arcs
    load, loads, u = arcs.load, arcs.load @ x, arcs.totals(x)
    proofs = layers + np.isfinite(instance.max_tasks).sum()  # a limit is one of its own
    missing = np.maximum(_risen(instance, rise * u, proofs) + np.minimum(loads - 1.0, 0.0), 0.0)
    tasks = np.maximum.reduceat(missing[load.indices] / load.data, load.indptr[:-1])
    fall = np.divide(arcs.totals(np.minimum(x, tasks)), u, out=np.ones_like(v), where=v > 0)
    moved = _moved(instance, x, loads >= 1.0 - FULL)
    return frozen(np.maximum(rise, (moved if moved > FAR else SAFETY) * fall))


def _risen(instance: Instance, rise: Floats, proofs: int) -> Floats:
    """(K R,) what the pools need more, where each of some proofs lets one user run `rise` (N,) more tasks, anywhere."""
    load = instance.arcs.load.tocsr()
    terms = load.data * rise[instance.arcs.user][load.indices]
    used = np.flatnonzero(np.diff(load.indptr))
    result, rows = np.zeros(load.shape[0]), load.indptr[used]
    result[used] = np.minimum(np.add.reduceat(terms, rows), proofs * np.maximum.reduceat(terms, rows)) if len(used) else 0.0
    return result


def _moved(instance: Instance, x: Floats, full: NDArray[np.bool_]) -> float:
    """The most that a user who leaves a pool that is `full` (K R,) may load another with, a unit of what it frees."""
    arcs, load = instance.arcs, instance.arcs.load
    start = load.indptr[:-1]
    least = np.minimum.reduceat(np.where(full[load.indices], load.data, np.inf), start)
    least = np.minimum.reduceat(np.where(x > 0, least, np.inf), arcs.first)
    most = np.maximum.reduceat(np.maximum.reduceat(load.data, start), arcs.first)
    elsewhere = np.diff(arcs.owner.indptr) > 1
    return float((most / least)[elsewhere].max(initial=0.0))
