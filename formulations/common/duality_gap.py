r"""First-order optimality of a program over tasks, proved by prices.

For max U(u), U concave with marginal utilities a_n = dU/du_n at the allocation, u is optimal iff no feasible u' gains to first
order, sum_n a_n (u'_n - u_n) <= 0 (for nb this is K footnote 5). The residual is the largest relative gain,

    max over feasible u' of  sum_n a_n u'_n / sum_n a_n u_n  -  1.

It is bounded by weak duality: for any p >= 0 whose cheapest task costs q_n(p) >= a_n, it is at most sum_ir p_ir / sum a_n u_n - 1
(capacities scaled to 1; users with a limit pay max(a_n - q_n, 0) max_tasks_n more instead).
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.common.tasks import costs_at
from fairalloc.models.allocation import Allocation
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.numbers import Floats, frozen, linear_program, worst

ENOUGH, SMALL, FEW = 1e-9, 1e-6, 5_000
"""The bound on a free gain that is enough, that up to which it counts where the program fails, and the arcs of that program."""

STOPPED = 1
"""The status of SciPy's linear programs at a limit."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def first_order_gain(allocation: Allocation, marginal: Floats, prices: Floats | None = None) -> float:
    """The largest relative first-order gain that prices (K, R) leave possible, at their best scale s; inf without any or a point.

    min over s of s sum p + sum over limited n of max(a_n - s q_n, 0) max_tasks_n, where s q_n >= a_n for users without a limit.
    It is piecewise linear and convex in s, so the best s is the first kink a_n / q_n to the right of which it does not fall:
    where sum p >= the sum of q_n max_tasks_n over limited n with larger kinks. Its neighbours are looked at too, for rounding.
    The marginal utilities a_n >= 0 (N,) are not all 0; prices default to the allocation's own.
    """
    prices = allocation.prices if prices is None else prices
    if prices is None or not allocation.has_point or not 0 < (worth := float(marginal @ allocation.tasks)) < np.inf:
        return np.inf
    prices, q = costs_at(allocation, prices)  # the scale of the sum is free
    kinks = np.divide(marginal, q, out=np.where(marginal > 0, np.inf, 0.0), where=q > 0)
    limits = allocation.instance.max_tasks
    capped = np.isfinite(limits)
    least = float(kinks.max(initial=0.0, where=~capped))
    total = float(prices.sum())
    if not (np.isfinite(least) and capped.any()):
        return worst([least * total / worth - 1.0])
    most, a, q, kinks = (part[capped] for part in (limits, marginal, q, kinks))
    candidates = np.append(least, np.sort(np.maximum(kinks[q > 0], least)))
    order = np.argsort(kinks, kind="stable")
    after = np.append(np.cumsum((q * most)[order][::-1])[::-1], 0.0)
    larger = after[np.searchsorted(kinks[order], candidates, side="right")]
    best = int(np.argmax(total >= larger)) if total >= larger[-1] else len(candidates) - 1
    near = candidates[max(best - 1, 0) : best + 2]
    bound = min(s * total + np.maximum(a - s * q, 0.0) @ most for s in near.tolist())
    return worst([float(bound) / worth - 1.0])


def free_gain(allocation: Allocation, marginal: Floats, gain: float) -> float:
    """The largest sum of relative gains, sum_n (u'_n / u_n - 1) over feasible u' >= u > 0, or a bound on it.

    A first-order gain (a float) at marginal utilities a_n >= 0 (N,) bounds it by gain sum_m a_m u_m / min_n a_n u_n, where what
    is too much for a capacity or a limit hides as much of the gain. Where this says too little, SciPy solves the linear program
    on few arcs. Where that fails, as beside users with 1e-9 of all, rounding may be what is left: inf, nothing is known.
    """
    paid = marginal * allocation.tasks
    least, hidden = float(paid.min()), infeasibility(allocation)
    bound = (gain + hidden * (1.0 + gain)) * float(paid.sum()) / least if least > 0 and gain < np.inf else np.inf
    if bound <= ENOUGH or allocation.instance.A > FEW:
        return bound
    free = _free_gain(allocation)
    return min(bound, free) if free < np.inf or bound <= SMALL else np.inf


def _free_gain(allocation: Allocation) -> float:
    """The linear program, in gains t_n = u'_n / u_n - 1 and x'; inf where it fails."""
    instance, arcs = allocation.instance, allocation.instance.arcs
    x = np.maximum(allocation.x, 0.0)
    u = arcs.owner @ x
    part = 1.0 / max(1.0, float((arcs.load @ x).max()), float((u / instance.max_tasks).max()))
    unit = u[arcs.user]  # x' in parts of what its user has
    load, own = arcs.load @ sp.diags_array(unit * part), sp.hstack([arcs.owner, -sp.eye_array(instance.N)], format="csr")
    rise = np.concatenate([np.zeros(len(x)), np.ones(instance.N)])
    most = np.concatenate([np.full(len(x), np.inf), instance.max_tasks / (u * part) - 1.0])
    rows = sp.hstack([load, sp.csr_array((load.shape[0], instance.N))], format="csr")
    bounds = np.column_stack([np.zeros(len(most)), most])
    answer = linear_program(-rise, rows, np.ones(load.shape[0]), A_eq=own, b_eq=np.ones(instance.N), bounds=bounds)
    return float(-answer.fun) if answer.success else np.inf


def reference_prices(allocation: Allocation, marginal: Floats, seconds: float = np.inf) -> Floats:
    """(K, R) the prices that prove most of marginal utilities a_n >= 0, an independent reference; zeros where that fails.

    They are the dual optimum min sum p + sum z max_tasks  s.t.  load_a p + z_n >= a_n, by SciPy's dual simplex.
    """
    instance, arcs = allocation.instance, allocation.instance.arcs
    capped = np.flatnonzero(np.isfinite(instance.max_tasks))
    unit = np.where(marginal > 0, marginal, 1.0)
    worth = sp.diags_array(1.0 / unit[arcs.user])
    matrix = sp.hstack([worth @ arcs.load.T, worth @ arcs.owner.T[:, capped]], format="csr")
    cost = np.concatenate([np.ones(instance.K * instance.R), instance.max_tasks[capped]])
    size = matrix.max(axis=0).toarray().ravel()
    for scale in (np.ones(len(cost)), np.where(size > 0, size, 1.0)):  # HiGHS leaves out entries below 1e-9
        columns = -matrix @ sp.diags_array(1.0 / scale)
        answer = linear_program(cost / scale, columns, -(marginal / unit)[arcs.user], seconds=seconds)
        if answer.success:
            return frozen((answer.x / scale)[: instance.K * instance.R].reshape(instance.K, instance.R))
        if answer.status == STOPPED and seconds < np.inf:
            break
    return np.zeros((instance.K, instance.R))  # prices that prove nothing
