"""Claims of W in floating point: second implementations of what theorems/papers/w decides exactly, by unrelated routes."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties import check
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import holdings_of

WAYS = 4096
"""Ways to give servers to users that are counted one by one."""

TIED = 1e-9
"""What is a tie in floating point, relative."""


def lemma_1(case: Case) -> Verdict:
    """By the geometry: non-wasteful iff the bundle is on the ray of the demand."""
    bundle, worst = case.instance.capacities[0], -1.0
    for rows in case.instance.demands:
        scaled = np.divide(bundle, rows[0], out=np.full_like(bundle, np.inf), where=rows[0] > 0)
        n = scaled.min()
        on_ray = bool(np.allclose(bundle, n * rows[0], rtol=1e-12, atol=0))
        tight = bool(((scaled <= n * (1 + 1e-12)) | (bundle == 0)).all())
        worst = max(worst, float(on_ray != tight))
    return Verdict("lemma", worst <= 0, worst, "", "floating point")


def bundles(case: Case) -> list[tuple[float, Any, Any]]:
    """For each user with tasks on the one server: tasks, A_ir in parts of the pool, and D_ir."""
    parts = np.array([rows[0] for rows in case.instance.demands]) / case.instance.capacities[0]
    found = [(float(x), float(x) * parts[n], parts[n]) for n, x in zip(case.instance.arcs.user, case.points[0], strict=True) if x]
    if not found:
        raise NotApplicable("nobody runs a task")
    return found


def share_of_the_dominant_resource(case: Case) -> Verdict:
    """(2): the share is that of the dominant resource in the bundle."""
    worst = max(float(abs(a[v.argmax()] - (a / (v / v.max())).min()) / a.max()) - TIED for _, a, v in bundles(case))
    return Verdict("formula", worst <= 0, worst, f"(2) is off by {worst:.3g}", "floating point")


def tasks_of_share(case: Case) -> Verdict:
    """G D* is the number of tasks that the bundle holds."""
    worst = max(float(abs((a / (v / v.max())).min() * v.max() / (a / v).min() - 1)) - TIED for _, a, v in bundles(case))
    return Verdict("formula", worst <= 0, worst, f"g D* is off the number of tasks by {worst:.3g}, relative", "floating point")


def coalition(case: Case) -> Verdict:
    """Where g rises, somebody who misreports can use a smaller share of what it gets: by the solver's answers."""
    pool, told = case.instance.pools[0], case.reported
    needs, said = (np.array([rows[0] for rows in one.demands]) / pool for one in (case.instance, told))
    before, after = (solve(one, "drfh").tasks * part.max(axis=1) for one, part in ((case.instance, needs), (told, said)))
    used = solve(told, "drfh").tasks * (said / needs).min(axis=1) * needs.max(axis=1)
    least = min(used[n] - before[n] for n in case.misreport.users)
    kept = after.min() > before.min() + TIED and least > -TIED
    return Verdict("step", not kept, 1.0 if kept else -1.0, f"nobody has {-least:.3g} less", "floating point")


def programs(case: Case, over_servers: bool = True) -> Verdict:
    """(5) by the solver's own program, and (6) with the shares g_il as its variables."""
    instance, server = case.instance, case.instance.arcs.server
    share = (np.array([rows[0] for rows in instance.demands]) / instance.pools.sum(axis=0)).max(axis=1) / instance.weights
    per_share, user = 1 / share[instance.arcs.user], instance.arcs.user
    g5 = (share * solve(instance, "drfh-lp").tasks).min()
    counted = server < (instance.K if over_servers else instance.N)
    equal = np.array([[*((user == n) & counted), -1.0] for n in range(instance.N)], dtype=float)
    limited = np.flatnonzero(np.isfinite(instance.max_tasks))
    rows = np.vstack([instance.arcs.load.toarray() * per_share, *((user == n) * per_share for n in limited)])
    sides = [*np.ones(instance.K * instance.R), *instance.max_tasks[limited]]
    cost = np.zeros(len(user) + 1)
    cost[-1] = -1
    g6 = -linprog(cost, np.hstack([rows, np.zeros((len(rows), 1))]), sides, equal, np.zeros(instance.N)).fun
    margin = float(abs(g5 - g6) / g5) - 1e-6
    return Verdict("equivalence", margin <= 0, margin, f"(5) has the value {g5:.6g} and (6) {g6:.6g}", "floating point")


def drawn(case: Case) -> Verdict:
    """The mean by drawing: the mean over all ways to give each server to one user, counted one by one in floating point.

    One server of each class: both sides have the others as multiples.
    """
    instance, n = case.instance, case.instance.N
    servers = instance.capacities
    if n ** len(servers) > WAYS:
        raise NotApplicable(f"there are more than {WAYS} ways to give the servers to users")
    demand = np.array([rows[0] for rows in instance.demands])[:, None, :]
    runs = np.divide(servers, demand, out=np.full((n, *servers.shape), np.inf), where=demand > 0).min(axis=2)
    parts = np.divide(servers / n, demand, out=np.full((n, *servers.shape), np.inf), where=demand > 0).min(axis=2).sum(axis=1)
    ways = np.array(list(product(range(n), repeat=len(servers))))
    mean = np.array([(runs[i] * (ways == i)).sum(axis=1).mean() for i in range(n)])
    margin = float((np.abs(mean - parts) / parts).max()) - TIED
    return Verdict("partition", not margin > 0, margin, "the mean differs", f"{len(ways)} ways")


def taken_back(case: Case) -> Verdict:
    """The same by a linear program: the least of each resource that runs as many tasks is all that is kept."""
    given, demand = case.instance.capacities[0], case.instance.demands[0][0]
    best = maximum(np.ones(1), demand[:, None], given, False)
    if best is None:
        raise NotApplicable("a linear program was not solved")
    worst = max(best.value * d / c for d, c in zip(demand, given, strict=True)) - 1 - TIED
    return Verdict("non-wasteful", not worst > 0, float(worst), f"{worst:.3g} more than allocated is needed", "LP")


def weaker(case: Case) -> Verdict:
    """The same for the allocation of DRF on each server, by the properties of this package."""
    found = solve(case.instance, "drf-per-server")
    strong, weak = (check(found, name) for name in ("strong-sharing-incentive", "weak-sharing-incentive"))
    margin = weak.margin if strong.holds else -1.0
    return Verdict("sharing", not (strong.holds and weak.holds is False), margin, "strong and not weak", "floating point")


def whole_tasks(instance: Instance, best_fit: bool, most: int = 400) -> Any:
    """(N,) the same on arrays in floating point, where what differs by TIED, relative, is a tie.

    Parameters
    ----------
    instance : demands and capacities in their own units
    best_fit : Best-Fit by (9) instead of First-Fit
    most : the most tasks in all

    Returns
    -------
    (N,) global dominant shares

    Raises
    ------
    NotApplicable : more than `most` tasks fit, or users have several demand vectors
    """
    if not instance.single_variant or instance.demands_on:
        raise NotApplicable("about users with one demand vector")
    demand = np.array([rows[0] for rows in instance.demands])
    rest = np.repeat(instance.capacities, instance.counts, axis=0)
    share = np.divide(demand, rest.sum(axis=0), out=np.zeros_like(demand), where=demand > 0).max(axis=1)
    tasks, active = np.zeros(instance.N), np.ones(instance.N, bool)
    if not demand[:, 0].all() or (1 / share).sum() > most:
        raise NotApplicable(f"(9) divides by the demand of the first resource, or more than {most} tasks may fit")
    while active.any() and tasks.sum() < most:
        level = np.where(active, share * tasks, np.inf)
        n = int(np.argmax(level <= level.min() * (1 + TIED)))
        fits = (rest >= demand[n] * (1 - TIED)).all(axis=1)
        if not fits.any():
            active[n] = False
            continue
        chosen = int(np.argmax(fits))
        if best_fit:
            far = np.full(len(rest), np.inf)
            far[fits] = np.abs(demand[n] / demand[n, 0] - rest[fits] / rest[fits, :1]).sum(axis=1)
            chosen = int(np.argmax(far <= far.min() + TIED))
        rest[chosen] = np.maximum(rest[chosen] - demand[n], 0.0)
        tasks[n] += 1
    if active.any():
        raise NotApplicable(f"more than {most} tasks fit")
    return share * tasks


def best_fit_no_better(case: Case, sign: int = 1) -> Verdict:
    """The least share is no larger by Best-Fit than by First-Fit; sign -1: the other way round."""
    poorest = [whole_tasks(case.instance, best).min() for best in (False, True)]
    margin = sign * float(poorest[1] - poorest[0])
    words = f"the least share is {poorest[1]:.6g} instead of {poorest[0]:.6g}"
    return Verdict("best-fit", margin <= TIED, margin, words, "floating point")


def low_utilisation(case: Case) -> Verdict:
    """DRF on each server uses some resource at least two fifths as much as DRFH, by the fast methods."""
    used, could = (holdings_of(solve(case.reported, name)).used.sum(axis=0) for name in ("drf-per-server", "drfh"))
    margin = 0.4 - float((used / could)[could > 0].max())
    return Verdict("utilisation", not margin > TIED, margin, "no resource is used two fifths as much", "floating point")


SECOND = {
    "W.L1": lemma_1,
    "W.E2": share_of_the_dominant_resource,
    "W.E6": programs,
    "W.S3.2.non-wasteful": taken_back,
    "W.S4.5.weaker": weaker,
    "W.S4.5.mean": drawn,
    "W.S5.2.better": best_fit_no_better,
    "W.S5.2.worse": partial(best_fit_no_better, sign=-1),
    "W.S3.4.low": low_utilisation,
    "W.L1.step": tasks_of_share,
    "W.P3.case2": coalition,
    "W.E6.printed": partial(programs, over_servers=False),
}
"""Of what one exact route tries and confirms, by statement."""
