"""How the claims of W (DRFH) in statements.toml are tried and confirmed, by their ids.

First-Fit and Best-Fit are algorithms, so both routes of W.S5.2 run them: on arrays in floating point, on lists in rationals.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fairalloc.analysis import check
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import global_dominant_share
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import (
    Row,
    about_mechanism,
    certified,
    few_rounds,
    holdings_of,
    leximin_in,
    printed_numbers,
    progressive_filling,
    verdict_of,
)
from fairalloc.theorems.judges.trials import Answer, Routes, once
from fairalloc.theorems.papers.w.figure_5 import shares_of_figure_5

F = Fraction


# ---- section 2: the pool of 9 CPUs and 18 GB ------------------------------------------------------------------------


def _pool(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "drf")
    share = global_dominant_share(case.instance)
    used = h.bundles[:, 0]
    return [
        ("CPU of a task of user 1 in parts of all", "1/9", case.instance.exact.demands[0][0][0] / 9),
        ("memory of a task of user 1 in parts of all", "2/9", case.instance.exact.demands[0][0][1] / 18),
        ("CPU of a task of user 2 in parts of all", "1/3", case.instance.exact.demands[1][0][0] / 9),
        ("memory of a task of user 2 in parts of all", "1/18", case.instance.exact.demands[1][0][1] / 18),
        *((f"tasks of user {n + 1}", printed, h.tasks[n]) for n, printed in enumerate(("3", "2"))),
        *((f"dominant share of user {n + 1}", "2/3", share[n] * h.tasks[n]) for n in (0, 1)),
        *(
            (f"{what} of user {n + 1}", printed, used[n, r])
            for n, r, what, printed in ((0, 0, "CPU", "3"), (0, 1, "memory", "12"), (1, 0, "CPU", "6"), (1, 1, "memory", "2"))
        ),
        ("memory that is left", "2", 18 - used[:, 1].sum()),
    ]


def _split_pool(case: Case) -> Sequence[Row]:
    """Fig. 1: what user 1 can run on both servers alone, and where it demands which resource the most."""
    cpu, memory = case.instance.exact.demands[0][0]
    alone = [min(c / cpu, m / memory) for c, m in case.instance.exact.capacities]
    first, second = ((cpu / c, memory / m) for c, m in case.instance.exact.capacities)
    return [
        ("tasks of user 1 on server 1", "1", alone[0]),
        ("tasks of user 1 on server 2", "1", alone[1]),
        ("tasks of user 1 alone", "2", sum(alone, F(0))),
        ("whether user 1 demands CPU the most on server 1", "1", F(first[0] > first[1])),
        ("whether user 1 demands memory the most on server 2", "1", F(second[1] > second[0])),
    ]


def realisable(case: Case, answer: Answer) -> Verdict:
    """The tasks of DRF on the pool fit on the servers: max t such that everybody can run t times as many."""
    pooled, h = progressive_filling(case.reported), holdings_of(answer(case.reported))
    short = max((e - u) / g for e, u, g in zip(pooled, h.tasks, h.alone, strict=True))
    return verdict_of(h, "realisable", short, "with equal shares somebody runs fewer tasks than DRF gives it in the pool")


# ---- Lemma 1 and the programs (4) to (6) ----------------------------------------------------------------------------


def _tasks_in(bundle: Sequence[Any], demand: Sequence[Any]) -> Any:
    return min(a / d for a, d in zip(bundle, demand, strict=True) if d)


def _lemma1(case: Case) -> Verdict:
    """The capacity of the server is the bundle A_il, every user a demand vector that it may be proportional to."""
    (bundle,) = case.instance.exact.capacities
    worst = F(-1)
    for rows in case.instance.exact.demands:
        demand = rows[0]
        n = _tasks_in(bundle, demand)
        wasteful = False
        for r, a in enumerate(bundle):
            less = [b - (a / 2**40 if k == r else 0) for k, b in enumerate(bundle)]
            wasteful |= a > 0 and _tasks_in(less, demand) == n
        proportional = all(a == n * d for a, d in zip(bundle, demand, strict=True))
        share = max(demand)
        same = n * share == min(a * share / d for a, d in zip(bundle, demand, strict=True) if d)
        worst = max(worst, F(wasteful == proportional or not same))
    sentence = "non-wasteful and in proportion to the demand are not the same" if worst > 0 else "they are the same"
    return Verdict("lemma", worst <= 0, float(worst), sentence, "rational arithmetic")


def _lemma1_floats(case: Case) -> Verdict:
    """By the geometry: non-wasteful iff the bundle is on the ray of the demand."""
    bundle, worst = case.instance.capacities[0], -1.0
    for rows in case.instance.demands:
        scaled = np.divide(bundle, rows[0], out=np.full_like(bundle, np.inf), where=rows[0] > 0)
        n = scaled.min()
        on_ray = bool(np.allclose(bundle, n * rows[0], rtol=1e-12, atol=0))
        tight = bool(((scaled <= n * (1 + 1e-12)) | (bundle == 0)).all())
        worst = max(worst, float(on_ray != tight))
    return Verdict("lemma", worst <= 0, worst, "", "floating point")


def _bundles_of_tasks(case: Case) -> list[tuple[Fraction, list[Fraction], list[Fraction]]]:
    """For each user with tasks on the one server: tasks, A_ir in parts of the pool, and D_ir."""
    (pool,), arcs = case.instance.exact.capacities, case.instance.arcs
    made = []
    for n, x in zip(arcs.user.tolist(), case.points[0], strict=True):
        D = [d / c for d, c in zip(case.instance.exact.demands[n][0], pool, strict=True)]
        made += [(x, [x * v for v in D], D)] if x else []
    if not made:
        raise NotApplicable("nobody runs a task")
    return made


def _share_2(case: Case) -> Verdict:
    """(2): N_il D_ir* = min_r A_ilr / d_ir, with d_ir = D_ir / D_ir*."""
    worst = max(
        abs(min(a / v for a, v in zip(A, D, strict=True)) * max(D) - min(a * max(D) / v for a, v in zip(A, D, strict=True)))
        for _, A, D in _bundles_of_tasks(case)
    )
    return Verdict("formula", worst == 0, float(worst), f"the two sides of (2) differ by {worst}", "rational arithmetic")


def _share_2_floats(case: Case) -> Verdict:
    """The share is that of the dominant resource in the bundle."""
    worst = -1.0
    for _, A, D in _bundles_of_tasks(case):
        a, v = np.array(A, dtype=float), np.array(D, dtype=float)
        worst = max(worst, float(abs(a[v.argmax()] - (a / (v / v.max())).min()) / a.max()) - 1e-9)
    return Verdict("formula", worst <= 0, worst, f"(2) is off by {worst:.3g}", "floating point")


def _tasks_of_share(case: Case) -> Verdict:
    """N_il = g_il D_ir* as the appendix prints it, for A_il = g_il d_i."""
    worst = max(abs(x - max(A) * max(D)) / x for x, A, D in _bundles_of_tasks(case))
    return Verdict(
        "formula", worst == 0, float(worst), f"g D* is off the number of tasks by {worst}, relative", "rational arithmetic"
    )


def _tasks_of_share_floats(case: Case) -> Verdict:
    """The same, with the tasks that the bundle holds."""
    worst = -1.0
    for _, A, D in _bundles_of_tasks(case):
        a, v = np.array(A, dtype=float), np.array(D, dtype=float)
        g, tasks = (a / (v / v.max())).min(), (a / v).min()
        worst = max(worst, float(abs(g * v.max() / tasks - 1)) - 1e-9)
    return Verdict("formula", worst <= 0, worst, f"g D* is off the number of tasks by {worst:.3g}, relative", "floating point")


def _programs(case: Case, exact: bool, servers: bool = True) -> Verdict:
    """The values of (5), which lets shares differ, and of (6), which equalises them; `servers` = over l in S, not in U."""
    instance = case.instance
    share = np.array(global_dominant_share(instance), dtype=object)
    h = certified(instance, "drfh-lp") if exact else holdings_of(solve(instance, "drfh-lp"))
    g5 = (h.array(share) * h.tasks / h.weights).min()
    g6 = _equalised(h, h.array(share) / h.weights, instance.K if servers else instance.N)
    gap = abs(g5 - g6) / g5
    return verdict_of(h, "equivalence", gap, f"(5) has the value {g5} and (6) {g6}")


def _equalised(h: Any, rate: Any, summed: int) -> Any:
    """Max g with sum_l g_il = g for all users over the first `summed` servers, by two inequalities; shares are per task."""
    instance, arcs = h.instance, h.instance.arcs
    size = len(arcs) + 1
    rows: list[Any] = []
    sides: list[Any] = []
    scale = h.array([1])[0]

    def at_most(entries: Any, values: Any, side: Any, last: Any = 0) -> None:
        row = h.zeros(size)
        row[entries], row[-1] = values, last * scale
        rows.append(row)
        sides.append(side)

    for i in range(instance.K):
        own = np.flatnonzero(arcs.server == i)
        for r in range(instance.R):
            at_most(own, h.demand[own, r] / rate[arcs.user[own]], h.pools[i, r])
    for n in range(instance.N):
        for sign in (1, -1):
            at_most([a for a in h.own(n) if arcs.server[a] < summed], sign * scale, 0 * scale, -sign)
        if np.isfinite(instance.max_tasks[n]):
            at_most(h.own(n), scale, rate[n] * h.limits[n])
    cost = h.zeros(size)
    cost[-1] = 1
    best = maximum(cost, np.array(rows), np.array(sides), h.exact)
    if best is None:
        raise NotApplicable("the program (6) was not solved")
    return best.value


def _in_rounds(case: Case, answer: Answer) -> Verdict:
    """The lexicographic answer gives everybody the same share, that of W's program."""
    h = holdings_of(answer(case.reported))
    rate = h.array(list(global_dominant_share(case.reported))) / h.weights
    shares = rate * h.tasks
    n = int(np.argmax([float(s) for s in shares]))
    gap = (shares[n] - shares.min()) / rate[n] / h.alone[n]
    return verdict_of(
        h, "one-round", gap, f"user {h.instance.users[n]!r} has the share {shares[n]}, and the least share is {shares.min()}"
    )


# ---- sections 3 and 4: numbers of Figs. 2 to 4 and of Proposition 4 -------------------------------------------------


def _normalised(case: Case, printed: Sequence[tuple[str, str, str]]) -> Sequence[Row]:
    exact = case.instance.exact
    totals = [sum(column, F(0)) for column in zip(*exact.capacities, strict=True)]
    found: dict[str, list[Fraction]] = {}
    for k, capacity in enumerate(exact.capacities, 1):
        found[f"c_{k}"] = [c / t for c, t in zip(capacity, totals, strict=True)]
    for k, rows in enumerate(exact.demands, 1):
        found[f"D_{k}"] = [d / t for d, t in zip(rows[0], totals, strict=True)]
        found[f"d_{k}"] = [d / max(found[f"D_{k}"]) for d in found[f"D_{k}"]]
    return [
        (f"{name} of {what}", text, found[name][r])
        for name, *texts in printed
        for r, (what, text) in enumerate(zip(("CPU", "memory"), texts, strict=True))
    ]


def _fig2(case: Case) -> Sequence[Row]:
    vectors = (
        ("c_1", "1/7", "6/7"),
        ("c_2", "6/7", "1/7"),
        ("D_1", "1/70", "1/14"),
        ("d_1", "1/5", "1"),
        ("D_2", "1/14", "1/70"),
        ("d_2", "1", "1/5"),
    )
    return _normalised(case, vectors)


def _fig3(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "drf-per-server")
    return [
        *(
            (f"tasks of user {n + 1} on server {i + 1}", printed, v)
            for (n, i, printed), v in zip(((0, 0, "5"), (0, 1, "1"), (1, 0, "1"), (1, 1, "5")), h.x, strict=True)
        ),
        ("CPU of user 1 on server 1", "1", h.bundles[0, 0, 0]),
        ("CPU of user 2 on server 1", "1", h.bundles[1, 0, 0]),
        ("tasks of user 1", "6", h.tasks[0]),
        ("tasks of user 2", "6", h.tasks[1]),
    ]


def _fig4(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "drfh")
    share = global_dominant_share(case.instance)
    rows: list[Row] = [(f"tasks of user {n + 1}", "10", h.tasks[n]) for n in (0, 1)]
    rows += [(f"global dominant share of user {n + 1}", "5/7", share[n] * h.tasks[n]) for n in (0, 1)]
    return [*rows, ("tasks of user 1 on server 1", "10", h.x[0]), ("tasks of user 2 on server 2", "10", h.x[3])]


def _partitions(case: Case) -> Sequence[Row]:
    """W 4.5: two equal partitions, each of 7 CPUs and 7 GB a user."""
    first = [(F(1), F(6)), (F(6), F(1))], [(F(1), F(6)), (F(6), F(1))]
    second = [(F(3, 2), F(11, 2)), (F(11, 2), F(3, 2))], [(F(1, 2), F(13, 2)), (F(13, 2), F(1, 2))]
    rows: list[Row] = []
    for name, parts in (("(a)", first), ("(b)", second)):
        for n, own in enumerate(parts):
            rows += [
                (f"{what} of user {n + 1} in {name}", "7", own[0][r] + own[1][r]) for r, what in enumerate(("CPU", "memory"))
            ]
    demands = [rows[0] for rows in case.instance.exact.demands]
    tasks = [
        [sum((_tasks_in(a, d) for a in own), F(0)) for own, d in zip(parts, demands, strict=True)] for parts in (first, second)
    ]
    return [
        *rows,
        *((f"whether user {n + 1} runs different numbers of tasks", "1", F(tasks[0][n] != tasks[1][n])) for n in (0, 1)),
    ]


def _prop4(case: Case) -> Sequence[Row]:
    vectors = (
        ("c_1", "1/5", "2/5"),
        ("c_2", "4/5", "3/5"),
        ("D_1", "1/5", "1/5"),
        ("D_2", "3/5", "2/5"),
        ("d_1", "1", "1"),
        ("d_2", "1", "2/3"),
    )
    h, share = certified(case.instance, "drfh"), global_dominant_share(case.instance)
    part = sum(
        (_tasks_in([c / 2 for c in row], case.instance.exact.demands[1][0]) for row in case.instance.exact.capacities), F(0)
    )
    shares: list[Row] = [(f"global dominant share of user {n + 1}", "12/25", share[n] * h.tasks[n]) for n in (0, 1)]
    return [*_normalised(case, vectors), *shares, ("share of user 2 in the partition of each server", "1/2", share[1] * part)]


def _partitioned(case: Case) -> Verdict:
    """W 4.5: c_l / n is an equal partition, and its tasks are the mean of giving each server to a random user."""
    exact, worst = case.instance.exact, F(-1)
    n = case.instance.N
    for rows in exact.demands:
        parts = sum((_tasks_in([c / n for c in row], rows[0]) for row in exact.capacities), F(0))
        mean = sum((_tasks_in(row, rows[0]) / n for row in exact.capacities), F(0))
        worst = max(worst, abs(parts - mean))
    totals = [sum(column, F(0)) for column in zip(*exact.capacities, strict=True)]
    uneven = any(
        sum((c / n for c in column), F(0)) != t / n for column, t in zip(zip(*exact.capacities, strict=True), totals, strict=True)
    )
    return Verdict(
        "partition", not uneven and worst <= 0, float(max(worst, F(uneven))), "the mean differs", "rational arithmetic"
    )


WAYS = 4096
"""Ways to give servers to users that are counted one by one."""

TIED = 1e-9
"""What is a tie in floating point, relative."""


def _drawn(case: Case) -> Verdict:
    """The same by drawing: the mean over all ways to give each server to one user, counted one by one in floating point.

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


# ---- sections 3.2, 4.3 and 4.5.2: steps ---------------------------------------------------------------------------------


def _taken_back(case: Case) -> Verdict:
    """What N tasks take of A_il: as many tasks run with it, and fewer with a little less of any resource; in rationals."""
    (given,), demand = case.instance.exact.capacities, case.instance.exact.demands[0][0]
    tasks = _tasks_in(given, demand)
    kept = [tasks * d for d in demand]
    less = [_tasks_in([c * F(999, 1000) if r == s else c for s, c in enumerate(kept)], demand) for r in range(len(kept))]
    fine = all(k <= c for k, c in zip(kept, given, strict=True)) and _tasks_in(kept, demand) == tasks > max(less)
    return Verdict(
        "non-wasteful", fine, -1.0 if fine else 1.0, f"{tasks} tasks, and {max(less)} with less", "rational arithmetic"
    )


def _taken_back_in_floats(case: Case) -> Verdict:
    """The same by a linear program: the least of each resource that runs as many tasks is all that is kept."""
    given, demand = case.instance.capacities[0], case.instance.demands[0][0]
    best = maximum(np.ones(1), demand[:, None], given, False)
    if best is None:
        raise NotApplicable("a linear program was not solved")
    worst = max(best.value * d / c for d, c in zip(demand, given, strict=True)) - 1 - TIED
    return Verdict("non-wasteful", not worst > 0, float(worst), f"{worst:.3g} more than allocated is needed", "LP")


P2 = Case(Instance([[1], [1]], [[1]]), points=((F(1, 4), F(3, 4)),))


def _after_epsilon(case: Case) -> Sequence[Row]:
    """W 4.3 on one server: j = user 2 gives up epsilon = G_j - g, of which everybody gets delta."""
    shares, g = list(case.points[0]), F(1, 2)
    epsilon = shares[1] - g
    delta = epsilon / 2
    after = [shares[0] + delta, shares[1] - epsilon + delta]
    return [(f"share of user {i + 1}", str(s + delta), v) for i, (s, v) in enumerate(zip(shares, after, strict=True))]


def _weaker(case: Case) -> Verdict:
    """Where each user runs what 1/n of each server gives it, these parts are an equal partition that gives nobody more."""
    exact, n = case.instance.exact, case.instance.N
    servers = [row for row, count in zip(exact.capacities, case.instance.counts, strict=True) for _ in range(int(count))]
    parts = [[c / n for c in row] for row in servers]
    bench = [sum((_tasks_in(row, rows[0]) for row in parts), F(0)) for rows in exact.demands]
    columns = zip(zip(*parts, strict=True), zip(*servers, strict=True), strict=True)
    even = all(n * sum(some, F(0)) == sum(whole, F(0)) for some, whole in columns)
    own = [F(0)] * n
    for a, v in zip(case.instance.arcs.user, case.points[0], strict=True):
        own[a] += v
    strong = [tasks for tasks in (own, bench) if all(t >= b for t, b in zip(tasks, bench, strict=True))]
    worst = max((b - t for tasks in strong for t, b in zip(tasks, bench, strict=True)), default=F(-1))
    fine = even and worst <= 0
    return Verdict("sharing", fine, float(worst) if even else 1.0, "the parts are no equal partition", "rational arithmetic")


def _weaker_in_floats(case: Case) -> Verdict:
    """The same for the allocation of DRF on each server, by the properties of this package."""
    found = solve(case.instance, "drf-per-server")
    strong, weak = (check(found, name) for name in ("strong-sharing-incentive", "weak-sharing-incentive"))
    margin = weak.margin if strong.holds else -1.0
    return Verdict("sharing", not (strong.holds and weak.holds is False), margin, "strong and not weak", "floating point")


# ---- section 3.4: low utilisation of per-server DRF -----------------------------------------------------------------

RARE = F(1, 100)


def _arbitrarily_low(count: int) -> Case:
    """`count` users, servers and resources: server i has little of resource i, of which user i demands little and all others
    much.

    DRF splits resource i of server i equally, so user i runs a part 1/count of what the server can do for it alone.
    """
    demands = [[RARE if r == n else 1 for r in range(count)] for n in range(count)]
    return Case(Instance(demands, [[1 if r == i else 100 for r in range(count)] for i in range(count)]))


def _wasteful(case: Case, answer: Answer) -> Verdict:
    """Some resource is used at least two fifths as much as under DRFH."""
    h = holdings_of(answer(case.reported))
    fair = certified(case.reported, "drfh") if h.exact else holdings_of(solve(case.reported, "drfh"))
    used, could = h.bundles.sum(axis=(0, 1)), fair.bundles.sum(axis=(0, 1))
    most = max(u / c for u, c in zip(used, could, strict=True) if c > 0)
    margin = h.array(["2/5"])[0] - most if h.exact else 0.4 - most
    return verdict_of(h, "utilisation", margin, f"no resource is used more than {float(most):.6g} times as much as under DRFH")


def _parts_by_weight(case: Case, answer: Answer) -> Verdict:
    """W Proposition 5 for weights: the division of its proof, into w_n / sum w of every resource, gives nobody more tasks."""
    h = holdings_of(answer(case.reported))
    part, held = h.weights / h.weights.sum(), h.bundles
    wanted = part[:, None] * h.pools.sum(axis=0) - held.sum(axis=1)
    if (wanted < (0 if h.exact else -1e-9)).any():  # g >= 1 / sum w: any division does
        divided = part[:, None, None] * h.pools
    else:
        left = h.pools - held.sum(axis=0)
        total = left.sum(axis=0)
        divided = held + left * (wanted / np.where(total > 0, total, 1))[:, None, :]
    gains = [(h.utilities(n, divided[n][None])[0] - h.worth[n]) / h.alone[n] for n in range(h.instance.N)]
    n = int(np.argmax([float(v) for v in gains]))
    words = f"user {h.instance.users[n]!r} runs {float(gains[n]):.3g} of a server more with its part by weight"
    return verdict_of(h, "weak-sharing-incentive", gains[n], words)


# ---- section 4.6 ----------------------------------------------------------------------------------------------------


def _common_resource(instance: Instance) -> int:
    """The resource that is globally dominant for all users; NotApplicable where there is none."""
    totals = [
        sum((q * c[r] for q, c in zip(instance.counts.tolist(), instance.exact.capacities, strict=True)), F(0))
        for r in range(instance.R)
    ]
    common = set(range(instance.R))
    for rows in instance.exact.demands:
        parts = [d / t if t else F(0) for d, t in zip(rows[0], totals, strict=True)]
        common &= {r for r, p in enumerate(parts) if p == max(parts)}
    if not common:
        raise NotApplicable("the users have no global dominant resource in common")
    return min(common)


def _amounts(instance: Instance) -> list[Fraction]:
    r = _common_resource(instance)
    return [rows[0][r] for rows in instance.exact.demands]


def _as_if_alone(case: Case, answer: Answer) -> Verdict:
    """Everybody has the amount of the common resource that it would have if that were the only one: w_n / W of it."""
    r, h = _common_resource(case.reported), holdings_of(answer(case.reported))
    amounts = h.bundles[:, :, r].sum(axis=1)
    short = h.weights / h.weights.sum() - amounts / h.pools[:, r].sum()
    n = int(np.argmax([float(s) for s in short]))
    return verdict_of(
        h, "bottleneck-fairness", short[n], f"user {h.instance.users[n]!r} has {short[n]} of the common resource less than alone"
    )


# ---- section 5 ------------------------------------------------------------------------------------------------------


def _fitness(case: Case) -> Sequence[Row]:
    """(9) on the printed vectors: H(i, l) = || D_i / D_i1 - c_l / c_l1 ||_1."""
    ((demand,),) = case.instance.exact.demands
    first, second = case.instance.exact.capacities
    return [("H(i, 1)", "0", fitness(demand, first)), ("H(i, 2)", "5/3", fitness(demand, second))]


def fitness(demand: Sequence[Fraction], rest: Sequence[Fraction]) -> Fraction:
    """H of W (9): the smaller, the closer the demand is to the remaining capacity of the server."""
    if not demand[0]:
        raise NotApplicable("(9) divides by the demand of the first resource")
    return sum((abs(d / demand[0] - c / rest[0]) for d, c in zip(demand, rest, strict=True)), F(0))


def whole_tasks(instance: Instance, best_fit: bool, most: int = 400) -> list[int]:
    """(N,) whole tasks by progressive filling: the user with the least share is served, on the first server that fits or on the
    best.

    Parameters
    ----------
    instance : demands and capacities in their own units
    best_fit : Best-Fit by (9) instead of First-Fit
    most : the most tasks in all

    Returns
    -------
    (N,) numbers of tasks

    Raises
    ------
    NotApplicable : more than `most` tasks fit, or users have several demand vectors
    """
    if not instance.single_variant or instance.demands_on:
        raise NotApplicable("about users with one demand vector")
    exact, share = instance.exact, global_dominant_share(instance)
    rest = [list(c) for c, q in zip(exact.capacities, instance.counts.tolist(), strict=True) for _ in range(q)]
    tasks, active = [0] * instance.N, set(range(instance.N))
    while active and sum(tasks) < most:
        n = min(active, key=lambda m: (share[m] * tasks[m], m))
        demand = exact.demands[n][0]
        fits = [c for c in rest if all(a >= d for a, d in zip(c, demand, strict=True))]
        if not fits:
            active.remove(n)
            continue
        chosen = min(fits, key=lambda c: fitness(demand, c)) if best_fit else fits[0]
        chosen[:] = [a - d for a, d in zip(chosen, demand, strict=True)]
        tasks[n] += 1
    if active:
        raise NotApplicable(f"more than {most} tasks fit")
    return tasks


def _first_fit_is_drfh(case: Case) -> Sequence[Row]:
    fair = certified(case.instance, "drfh").tasks
    return [(f"tasks of user {n + 1} by First-Fit", str(fair[n]), F(u)) for n, u in enumerate(whole_tasks(case.instance, False))]


def _best_fit_is_drfh(case: Case) -> Sequence[Row]:
    fair = certified(case.instance, "drfh").tasks
    return [(f"tasks of user {n + 1} by Best-Fit", str(fair[n]), F(u)) for n, u in enumerate(whole_tasks(case.instance, True))]


def _best_fit_no_better(case: Case) -> Verdict:
    """The least share is no larger by Best-Fit than by First-Fit."""
    share = global_dominant_share(case.instance)
    poorest = [min(s * u for s, u in zip(share, whole_tasks(case.instance, best), strict=True)) for best in (False, True)]
    margin = poorest[1] - poorest[0]
    return Verdict(
        "best-fit", margin <= 0, float(margin), f"the least share is {poorest[1]} instead of {poorest[0]}", "rational arithmetic"
    )


def whole_tasks_in_floats(instance: Instance, best_fit: bool, most: int = 400) -> Any:
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
    if best_fit and not demand[:, 0].all():
        raise NotApplicable("(9) divides by the demand of the first resource")
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


def _best_fit_no_better_in_floats(case: Case) -> Verdict:
    """The same by arrays."""
    poorest = [whole_tasks_in_floats(case.instance, best).min() for best in (False, True)]
    margin = float(poorest[1] - poorest[0])
    words = f"the least share is {poorest[1]:.6g} instead of {poorest[0]:.6g}"
    return Verdict("best-fit", margin <= TIED, margin, words, "floating point")


def _opposite(check: Callable[[Case], Verdict], allowed: float) -> Callable[[Case], Verdict]:
    """The least share is no larger by First-Fit than by Best-Fit."""

    def opposite(case: Case) -> Verdict:
        verdict = check(case)
        return replace(verdict, holds=-verdict.margin <= allowed, margin=-verdict.margin)

    return opposite


# ---- section 6: what is printed, and what cannot be run -------------------------------------------------------------

TABLE1 = Case(
    Instance(
        [["1/5", "3/10"], ["1/2", "1/10"], ["1/10", "3/10"]],
        [
            ["1/2", "1/2"],
            ["1/2", "1/4"],
            ["1/2", "3/4"],
            [1, 1],
            ["1/4", "1/4"],
            ["1/2", "3/25"],
            ["1/2", "3/100"],
            ["1/2", "97/100"],
            [1, "1/2"],
            ["1/2", "3/50"],
        ],
        counts=[6732, 3863, 1001, 795, 126, 52, 5, 5, 3, 1],
    )
)
"""The servers of Table 1 with the three users of Fig. 5."""


def _table1(case: Case) -> Sequence[Row]:
    return [("thousands of servers, rounded down", "12", F(int(case.instance.counts.sum()) // 1000))]


TABLE2 = {10: (351, 234), 12: (422, 274), 14: (439, 280), 16: (454, 242), 20: (406, 200)}
"""W Table 2: per mille of CPU and memory by slots on the maximum server."""


def _table2(_: Case) -> Sequence[Row]:
    return [("slots with the highest sum of utilisations", "14", F(max(TABLE2, key=lambda k: sum(TABLE2[k]))))]


def _table2_each(_: Case) -> Sequence[Row]:
    best = [max((used[r], slots) for slots, used in TABLE2.items())[1] for r in (0, 1)]
    return [
        (f"slots with the highest utilisation of {name}", "14", F(k)) for name, k in zip(("CPU", "memory"), best, strict=True)
    ]


def _fig5(_: Case) -> Sequence[Row]:
    """40% of 52.75 CPUs at 0.2 a task and 62% of 51.32 of memory at 0.3 must be the same number of tasks: they are 106."""
    tasks = F(106)
    return [
        ("CPU share of user 1", "0.40", tasks / 5 / F("52.75")),
        ("memory share of user 1", "0.62", tasks * 3 / 10 / F("51.32")),
    ]


cases: dict[str, Case] = {
    "s3-4-low": _arbitrarily_low(3),
    "e9": Case(Instance([["1/10", "1/30"]], [["1/5", "1/15"], ["1/8", "1/4"]])),
    "table1": TABLE1,
    "p2": P2,
}


trials: dict[str, Routes] = {
    "W.S2.drf": printed_numbers(_pool),
    "W.Fig1": printed_numbers(_split_pool),
    "W.S2.infeasible": about_mechanism("drfh", realisable),
    "W.S2.homogeneous": about_mechanism("drfh", realisable),
    "W.Fig2": printed_numbers(_fig2),
    "W.Fig3": printed_numbers(_fig3),
    "W.S3.4.low": about_mechanism("drf-per-server", _wasteful),
    "W.L1": Routes(_lemma1_floats, _lemma1),
    "W.L1.step": Routes(_tasks_of_share_floats, _tasks_of_share),
    "W.E2": Routes(_share_2_floats, _share_2),
    "W.E6.printed": Routes(lambda case: _programs(case, False, servers=False), lambda case: _programs(case, True, servers=False)),
    "W.E6": Routes(lambda case: _programs(case, False), lambda case: _programs(case, True)),
    "W.E6.pareto": about_mechanism("drfh", _in_rounds),
    "W.Fig4": printed_numbers(_fig4),
    "W.P4.numbers": printed_numbers(_prop4),
    "W.S4.5.partitions": printed_numbers(_partitions),
    "W.S3.2.non-wasteful": Routes(_taken_back_in_floats, _taken_back),
    "W.P2.printed": printed_numbers(_after_epsilon),
    "W.S4.5.weaker": Routes(_weaker_in_floats, _weaker),
    "W.S4.5.mean": Routes(_drawn, _partitioned),
    "W.P8": about_mechanism("drfh", leximin_in(_amounts)),
    "W.P8.alone": about_mechanism("drfh", _as_if_alone),
    "W.P8.identical": about_mechanism("drfh", _as_if_alone),
    "W.S5.1.P5.parts": about_mechanism("drfh", _parts_by_weight),
    "W.S5.1.P8": about_mechanism("drfh", leximin_in(_amounts)),
    "W.S5.1.rounds": few_rounds("drfh"),
    "W.E9": printed_numbers(_fitness),
    "W.S5.2.first-fit": printed_numbers(_first_fit_is_drfh),
    "W.S5.2.best-fit": printed_numbers(_best_fit_is_drfh),
    "W.S5.2.better": Routes(_best_fit_no_better_in_floats, _best_fit_no_better),
    "W.S5.2.worse": Routes(_opposite(_best_fit_no_better_in_floats, TIED), _opposite(_best_fit_no_better, 0.0)),
    "W.Table1": printed_numbers(_table1),
    "W.Table2": printed_numbers(_table2),
    "W.Table2.each": printed_numbers(_table2_each),
    "W.Fig5.numbers": printed_numbers(_fig5),
    "W.S6.1.exact": once(shares_of_figure_5),
}
