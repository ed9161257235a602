"""The claims of W (DRFH): what each assumes, how it is tried, and how a violation is confirmed.

W has one lemma and nine propositions (4.1 to 4.6 and the appendix), programs (4) to (6) that it calls equivalent, the extension
to weights and finite tasks (5.1), the fitness (9) with its example (5.2), two tables and nine figures. What section 6 measured on
the Google traces rests on experiments of ours (simulation/experiments), whose kept verdicts decide.

First-Fit and Best-Fit are algorithms, so both routes of W.S5.2 run them: on arrays in floating point, on lists in rationals.

67 statements in all; `place` says where each claim stands. No statement is made of the remark that a search through k servers
takes O(k). W allows servers without some resource, which nobody can use, as demands are positive; they count in the totals that
shares are parts of. Cases have none (`everywhere`), and the proofs do not need that: where somebody has tasks, everything is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import global_dominant_share
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import (
    Row,
    about_mechanism,
    as_one_pool,
    certified,
    few_rounds,
    holdings_of,
    leximin_in,
    printed_numbers,
    progressive_filling,
    strict_misreporting,
    verdict_of,
)
from fairalloc.theorems.judges.experiments import rests_on
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.judges.trials import Answer
from fairalloc.theorems.papers.shared import LEXIMIN_PROOFS, UNIQUE_BY_FILLING, printed_claim
from fairalloc.theorems.papers.w.figure_5 import shares_of_figure_5
from fairalloc.theorems.proofs import Proof
from fairalloc.theorems.statement import Hypotheses, Statement

F = Fraction

ENVY, PARETO, SHARING = (property_judge(name) for name in ("envy-freeness", "pareto", "sharing-incentive"))
MISREPORTING = property_judge("group-strategyproofness")
WEAK, MONOTONE = property_judge("weak-sharing-incentive"), property_judge("population-monotonicity")

BASIC = Hypotheses(everywhere=True, no_idle_server=True, positive=True, equal_weights=True, users=2)
"""W 3.1: positive demands, everybody may run everywhere, unlimited tasks, equal weights."""

EXTENDED = Hypotheses(everywhere=True, no_idle_server=True, positive=True, unlimited=False, users=2)
"""W 5.1: weights and finite tasks."""

FINITE = replace(EXTENDED, equal_weights=True)
"""W 5.1: finite tasks alone."""

ONE_SERVER = Hypotheses(one_server=True, everywhere=True, positive=True, equal_weights=True, users=2)
"""W 3.4: the entire pool as one server."""

FIG2 = Case(example("wang-fig2").instance)
PROP4 = Case(example("wang-prop4").instance)


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


def _measured(number: str, experiment: str, text: str, place: str) -> Statement:
    note = "its servers and jobs are not those of the paper: docs/EXPERIMENTS.md"
    return printed_claim(f"W.S6.{number}", text, place, TABLE1, rests_on(experiment), note=note, experiment=experiment)


_PROOF1 = Proof(
    "W: one share g, envy-freeness",
    "N_i(A_j) <= sum_l A_jlr* / D_ir* = sum_l g_jl d_jr* / D_ir* <= g / D_ir* = N_i(A_i), with r* the dominant resource of i: "
    "d_jr* <= 1, and all have the same g (W.E6.pareto)",
)
_PROOF3 = Proof(
    "W: one share g, misreports",
    "what a misreporting user i reports has d'_ir <= 1 for its true dominant resource r*, so it runs at most sum_l g'_il "
    "d'_ir* / D_ir* <= g' / D_ir* true tasks, and if it gains g' > g: all who report truthfully gain too, for all have the "
    "same g' (W.E6.pareto). ",
)
_PROOF5 = Proof(
    "W: weak sharing incentive",
    "If g >= 1/n, an equal partition gives i at most 1/n of its dominant resource r*, so at most 1 / (n D_ir*) <= g / D_ir* "
    "tasks. If g < 1/n nobody has 1/n of any resource: what is left of each, divided on every server in one ratio, fills "
    "everybody up to 1/n of it; all then have at least what they had, and nobody runs more, for the answer is Pareto optimal",
)
_PROOF9 = Proof(
    "W: one share g, leaving",
    "the old answer without the user who leaves is feasible in (8), and all who stay have the share g of their program",
)
_IDENTICAL = Proof(
    "W: identical servers",
    "what fits in the pool fits on identical servers, each taking the same part of it; so DRFH has the same shares and the same "
    "feasible tasks as DRF",
)
_SINGLE = Proof(
    "W: one resource",
    "tasks that take one resource can be split over servers at will, so what fits in the pool fits on the servers. ",
)
_DOMINANT = Proof(
    "W: a common dominant resource",
    "the share of a task is d_ir / c_r for the common r: shares are amounts of r, and DRFH makes them lexicographically largest "
    "by definition",
)
_FINITE = (
    "Cutting tasks of a user frees some of every resource for everybody, as for W.E6.pareto; so who is not at its limit has "
    "one share g, by weight, and who is has at most that: v_i = min(g, its limit). "
)

statements = [
    # ---- section 2
    printed_claim(
        "W.S2.drf",
        "DRF gives the two users of the pool of 9 CPUs and 18 GB 3 and 2 tasks, shares of 2/3, and leaves 2 GB.",
        "W 2",
        Case(example("wang-pool").instance),
        printed_numbers(_pool),
    ),
    printed_claim(
        "W.Fig1",
        "On the servers of Fig. 1 user 1 alone runs two tasks, one on each; it demands CPU the most on one, memory on the other.",
        "W 2, Fig. 1",
        Case(example("wang-fig1").instance),
        printed_numbers(_split_pool),
    ),
    Statement(
        "W.S2.infeasible",
        "The DRF allocation may not be possible to implement on heterogeneous servers.",
        "W 2",
        "some",
        **about_mechanism("drfh", realisable),
        hypotheses=BASIC,
        printed=Case(example("wang-fig1").instance),
        property="realises-drf",
    ),
    Statement(
        "W.S2.homogeneous",
        "The DRF allocation is valid when the system contains multiple homogeneous servers.",
        "W 2",
        "all",
        **about_mechanism("drfh", realisable),
        hypotheses=replace(BASIC, identical_servers=True),
        property="realises-drf",
        proof=_IDENTICAL,
    ),
    # ---- section 3
    printed_claim("W.Fig2", "The normalised capacities and demands of Fig. 2.", "W 3.1, Fig. 2", FIG2, printed_numbers(_fig2)),
    *(
        Statement(
            f"W.S3.4.drf.{name}",
            f"DRF satisfies {words} when the entire resource pool is one server.",
            "W 3.4, cited from Ghodsi et al. and Parkes et al.",
            "all",
            **about_mechanism("drf", judge),
            hypotheses=ONE_SERVER,
            misreports=2 * (judge is MISREPORTING),
            property=name,
            proof="DRF on one server is DRFH on it: " * (judge is not SHARING) + proof,
        )
        for name, words, judge, proof in (
            ("envy-freeness", "envy-freeness", ENVY, _PROOF1),
            ("pareto", "Pareto optimality", PARETO, LEXIMIN_PROOFS["pareto"]),
            (
                "group-strategyproofness",
                "group strategyproofness",
                MISREPORTING,
                _PROOF3 + "If all who misreport gained, everybody would, against Pareto optimality",
            ),
            (
                "sharing-incentive",
                "the sharing incentive",
                SHARING,
                "1/n of the server for everybody gives everybody the share 1/n, and the least share is as large as it can be",
            ),
            ("population-monotonicity", "population monotonicity", MONOTONE, _PROOF9),
        )
    ),
    printed_claim(
        "W.Fig3",
        "DRF on each server of Fig. 2 alone gives both users 6 tasks: 5 and 1, 1 and 5.",
        "W 3.4, Fig. 3",
        FIG2,
        printed_numbers(_fig3),
    ),
    Statement(
        "W.S3.4.pareto",
        "DRF applied to each server separately violates Pareto optimality.",
        "W 3.4, Fig. 3",
        "some",
        **about_mechanism("drf-per-server", PARETO),
        hypotheses=BASIC,
        printed=FIG2,
        property="pareto",
    ),
    Statement(
        "W.S3.4.low",
        "Per-server DRF may lead to arbitrarily low resource utilisation; here: to less than two fifths of what DRFH uses.",
        "W 3.4 (the example is not printed)",
        "some",
        **about_mechanism("drf-per-server", _wasteful),
        hypotheses=BASIC,
        printed=_arbitrarily_low(3),
        note="n users, n servers, n resources, server i has little of resource i, of which only user i demands little: it "
        "tends to 1/n",
    ),
    # ---- section 4
    Statement(
        "W.L1",
        "A_il is non-wasteful if and only if A_il = g_il d_i, and then g_il = G_il(A_il).",
        "W Lemma 1, appendix",
        "all",
        _lemma1_floats,
        _lemma1,
        Hypotheses(one_server=True, everywhere=True, positive=True),
        proof="both say that A_r / D_r is the same for all r: what is above the least can be taken away, what is at it cannot; "
        "and then G_il = min_r A_r / d_r = g_il",
        note="the capacity of the case's server is A_il",
    ),
    Statement(
        "W.L1.step",
        "Where A_il = g_il d_i, A_ilr / D_ir = g_il D_ir*, so N_il(A_il) = g_il D_ir*.",
        "W appendix, proof of Lemma 1",
        "all",
        _tasks_of_share_floats,
        _tasks_of_share,
        Hypotheses(one_server=True, everywhere=True, positive=True, points=1),
        note="d_ir = D_ir / D_ir*, so both are g_il / D_ir*. The proof needs only that A_ilr / D_ir is the same for all r.",
    ),
    Statement(
        "W.E2",
        "The amount of the global dominant resource is N_il D_ir* = min_r A_ilr / d_ir.",
        "W (2)",
        "all",
        _share_2_floats,
        _share_2,
        Hypotheses(one_server=True, everywhere=True, positive=True, points=1),
        proof="N_il = min_r A_ilr / D_ir, and D_ir* / D_ir = 1 / d_ir. Of a non-wasteful bundle it is A_ilr* too, for d_ir* = 1.",
    ),
    Statement(
        "W.E6.printed",
        "(6) with the sum of g_il over l in U, as it is printed, has the value of (5).",
        "W (6), and alike (8)",
        "all",
        lambda case: _programs(case, False, servers=False),
        lambda case: _programs(case, True, servers=False),
        replace(BASIC, equal_weights=False),
        note="U are the users; the sum is over the servers S. Read for the servers with the numbers of users; where there are "
        "more servers than users, the value is lower. With l in S it is W.E6.",
    ),
    Statement(
        "W.E6",
        "Problems (4), (5) and (6) are equivalent: equal global dominant shares do not lower the least one.",
        "W 4.1, (4) to (6)",
        "all",
        lambda case: _programs(case, False),
        lambda case: _programs(case, True),
        replace(BASIC, equal_weights=False),
        proof="(4) is (5) by Lemma 1; and from a solution of (5) whoever has more than the least share can give the rest up, "
        "which keeps it feasible and does not change the least share",
    ),
    Statement(
        "W.E6.pareto",
        "Solving (6) is all of DRFH: the lexicographic answer gives everybody the share g.",
        "W 4.1 and 4.3",
        "all",
        **about_mechanism("drfh", _in_rounds),
        hypotheses=replace(BASIC, equal_weights=False),
        property="one-round",
        proof="if somebody had more than the least share g, a little of its tasks on some server, cut, would leave some of "
        "every resource there, for all demands are positive; everybody else may use it and would rise above g, so g would not "
        "be the largest",
    ),
    printed_claim(
        "W.Fig4",
        "DRFH gives each server of Fig. 2 to one user: 10 tasks each, g = 5/7.",
        "W 4.1, Fig. 4",
        FIG2,
        printed_numbers(_fig4),
    ),
    Statement(
        "W.P1",
        "The DRFH allocation is envy-free.",
        "W Proposition 1",
        "all",
        **about_mechanism("drfh", ENVY),
        hypotheses=BASIC,
        property="envy-freeness",
        table="W.List",
        proof=_PROOF1,
    ),
    Statement(
        "W.P2",
        "The DRFH allocation is Pareto optimal.",
        "W Proposition 2",
        "all",
        **about_mechanism("drfh", PARETO),
        hypotheses=BASIC,
        property="pareto",
        table="W.List",
        proof=LEXIMIN_PROOFS["pareto"],
        note="as drfh is computed here, in rounds, it is so without the hypotheses too; for (6) alone see W.P2.E6",
    ),
    Statement(
        "W.P2.E6",
        "The allocation obtained by solving (6) is Pareto optimal.",
        "W Proposition 2, to the letter",
        "all",
        **about_mechanism("drfh-lp", PARETO),
        hypotheses=BASIC,
        property="pareto",
        proof="where nobody has less than g, nobody has more: it could be split among all, as for W.E6.pareto, and g is the "
        "largest. So a Pareto improvement would have the same g for everybody, and improve nothing",
        note="without positive demands, unlimited tasks or placement everywhere one program is not enough",
    ),
    Statement(
        "W.P3",
        "DRFH is group strategyproof: of a coalition that misreports, somebody does not gain.",
        "W Proposition 3",
        "all",
        **about_mechanism("drfh", MISREPORTING),
        hypotheses=BASIC,
        misreports=2,
        property="group-strategyproofness",
        table="W.List",
        proof=_PROOF3 + "If all who misreport gained, everybody would, against Pareto optimality (W.P2)",
    ),
    Statement(
        "W.P3.strict",
        "Of a coalition that misreports, some member schedules fewer tasks if another schedules more.",
        "W 3.3, the words before the formula",
        "all",
        **about_mechanism("drfh", strict_misreporting),
        hypotheses=BASIC,
        misreports=2,
        property="strict-group-strategyproofness",
        proof=_PROOF3
        + "So if nobody who misreports lost, nobody would, and the answer to the truth would not be Pareto optimal (W.P2)",
    ),
    Statement(
        "W.P4",
        "DRFH does not satisfy strong sharing incentive.",
        "W Proposition 4",
        "some",
        **about_mechanism("drfh", SHARING),
        hypotheses=BASIC,
        printed=PROP4,
        property="sharing-incentive",
        table="W.List",
    ),
    printed_claim(
        "W.P4.numbers",
        "The vectors of Proposition 4, shares of 12/25 under DRFH, and 1/2 for user 2 in the partition of each server.",
        "W Proposition 4",
        PROP4,
        printed_numbers(_prop4),
    ),
    printed_claim(
        "W.S4.5.partitions",
        "Two equal partitions of Fig. 2, 7 CPUs and 7 GB each, give the same user different numbers of tasks.",
        "W 4.5",
        FIG2,
        printed_numbers(_partitions),
    ),
    Statement(
        "W.S4.5.mean",
        "The per-server partition is an equal partition, and its tasks are the mean of giving each server to a random user.",
        "W 4.5.1 and 4.5.2",
        "all",
        _drawn,
        _partitioned,
        Hypotheses(everywhere=True, equal_weights=True, users=2),
        proof="the parts c_l / n add up to 1/n of every resource, and N_i(c_l / n) = N_i(c_l) / n is the mean of N_i(c_l) with "
        "probability 1/n",
    ),
    Statement(
        "W.P5",
        "DRFH satisfies weak sharing incentive: some equal partition gives nobody more tasks.",
        "W Proposition 5",
        "all",
        **about_mechanism("drfh", WEAK),
        hypotheses=BASIC,
        property="weak-sharing-incentive",
        table="W.List",
        proof=_PROOF5,
    ),
    Statement(
        "W.S4.5.identical",
        "When all servers are of the same specification, strong sharing incentive is guaranteed.",
        "W 4.5.3",
        "all",
        **about_mechanism("drfh", SHARING),
        hypotheses=replace(BASIC, identical_servers=True),
        property="sharing-incentive",
        proof="1/n of every server for everybody gives everybody the share 1/n: on identical servers i runs c_r* / (n D_ir*) "
        "tasks with it, r* being its dominant resource on each. The least share is as large as it can be",
    ),
    Statement(
        "W.S4.5.slots",
        "With one resource, the slots of a scheduler, everybody receives at least k_s / n of the k_s slots.",
        "W 4.5.3, the Hadoop Fair Scheduler",
        "all",
        **about_mechanism("drfh", SHARING),
        hypotheses=replace(BASIC, one_resource=True),
        property="sharing-incentive",
        proof="If somebody is below 1/n, somebody is above it or slots are free; some of these could go to the user with the "
        "least share.",
    ),
    Statement(
        "W.S4.5.reduces",
        "When all servers are of the same specification, DRFH reduces to DRF.",
        "W 4.5.3",
        "all",
        **about_mechanism("drfh", as_one_pool),
        hypotheses=replace(BASIC, identical_servers=True),
        property="identical-servers-reduction",
        proof=_IDENTICAL + ". " + UNIQUE_BY_FILLING,
    ),
    Statement(
        "W.S4.5.per-server",
        "Applying DRF to each server separately retains strong sharing incentive.",
        "W 4.5.3",
        "all",
        **about_mechanism("drf-per-server", SHARING),
        hypotheses=BASIC,
        property="sharing-incentive",
        proof="DRF gives everybody at least what it can run with 1/n of a server (W.S3.4.drf.sharing-incentive), for each server",
    ),
    Statement(
        "W.P6",
        "DRFH leads to the same allocation as DRF when all resources are in one server.",
        "W Proposition 6",
        "all",
        **about_mechanism("drfh", as_one_pool),
        hypotheses=replace(BASIC, one_server=True),
        property="single-server-reduction",
        table="W.List",
        proof="with one server the global dominant share is the dominant share. " + UNIQUE_BY_FILLING,
    ),
    Statement(
        "W.P7",
        "The DRFH allocation satisfies single-resource fairness.",
        "W Proposition 7",
        "all",
        **about_mechanism("drfh", as_one_pool),
        hypotheses=replace(BASIC, one_resource=True),
        property="single-resource-fairness",
        table="W.List",
        proof=_SINGLE + UNIQUE_BY_FILLING,
    ),
    Statement(
        "W.P8",
        "If all users have the same global dominant resource, DRFH gives a max-min fair allocation of that resource.",
        "W Proposition 8",
        "all",
        **about_mechanism("drfh", leximin_in(_amounts)),
        hypotheses=BASIC,
        property="bottleneck-fairness",
        table="W.List",
        proof=_DOMINANT,
        note="max-min fair among the allocations that all capacities allow; see W.P8.alone",
    ),
    Statement(
        "W.P8.alone",
        "If all users have the same global dominant resource, DRFH gives everybody what it would get of that resource alone.",
        "W Proposition 8, read as in the all-in-one model (3.3: 'reduced to')",
        "all",
        **about_mechanism("drfh", _as_if_alone),
        hypotheses=BASIC,
        note="another resource may run out on a server although it is globally less demanded; it holds for identical servers",
        reading="ours",
    ),
    Statement(
        "W.P8.identical",
        "With identical servers, users of one global dominant resource each get what they would get of that resource alone.",
        "the true form of W.P8.alone",
        "all",
        **about_mechanism("drfh", _as_if_alone),
        hypotheses=replace(BASIC, identical_servers=True),
        proof="1/n of the resource for everybody, 1/n of it on each server, fits, for nobody takes a larger part of another "
        "resource. The shares are parts of the resource, so their sum is at most 1: as none can be below 1/n in the answer, all "
        "are 1/n",
    ),
    Statement(
        "W.P9",
        "The DRFH allocation satisfies population monotonicity.",
        "W Proposition 9",
        "all",
        **about_mechanism("drfh", MONOTONE),
        hypotheses=BASIC,
        property="population-monotonicity",
        table="W.List",
        proof=_PROOF9,
    ),
    # ---- section 5
    Statement(
        "W.S5.1.P5.parts",
        "With the part w_i / sum w of every resource for everybody, weak sharing incentive extends to weighted users.",
        "W 5.1, of Proposition 5, read for weights",
        "all",
        **about_mechanism("drfh", _parts_by_weight),
        hypotheses=EXTENDED,
        note="The proof of W.S5.1.P5 with w_i / sum w in the place of 1/n, which its division is made by; not read by anybody "
        "else yet. With 1/n to the letter of Definition 3: W.S5.1.P5.weights.",
    ),
    *(
        Statement(
            f"W.S5.1.{number}",
            f"{words} extends to weighted users with a finite number of tasks.",
            f"W 5.1, of Proposition {number[1]}",
            "all",
            **about_mechanism("drfh", judge),
            hypotheses=hypotheses,
            misreports=2 * (judge is strict_misreporting),
            property=name,
            proof=proof,
        )
        for number, name, words, judge, hypotheses, proof in (
            ("P1", "envy-freeness", "Envy-freeness", ENVY, EXTENDED, LEXIMIN_PROOFS["envy-freeness"]),
            ("P2", "pareto", "Pareto optimality", PARETO, EXTENDED, LEXIMIN_PROOFS["pareto"]),
            (
                "P3",
                "group-strategyproofness",
                "Group strategyproofness",
                strict_misreporting,
                EXTENDED,
                _FINITE
                + "A misreporting user who gains was below its limit, at the share g, and runs at most v'_i w_i / D_ir* true "
                "tasks for a reported share v'_i <= g': so g' > g, and nobody who reports truthfully loses. If nobody who "
                "misreports lost either, the answer to the truth would not be Pareto optimal.",
            ),
            (
                "P5",
                "weak-sharing-incentive",
                "Weak sharing incentive (finite tasks)",
                WEAK,
                FINITE,
                _FINITE + "Who is at its limit wants no more, and if that is everybody nothing is to be shown. " + _PROOF5,
            ),
            (
                "P5.weights",
                "weak-sharing-incentive",
                "Weak sharing incentive as defined, with 1/n for everybody,",
                WEAK,
                EXTENDED,
                "",
            ),
            (
                "P6",
                "single-server-reduction",
                "Single-server DRF",
                as_one_pool,
                replace(EXTENDED, one_server=True),
                UNIQUE_BY_FILLING,
            ),
            (
                "P7",
                "single-resource-fairness",
                "Single-resource fairness",
                as_one_pool,
                replace(EXTENDED, one_resource=True),
                _SINGLE + UNIQUE_BY_FILLING,
            ),
            ("P8", "bottleneck-fairness", "Bottleneck fairness", leximin_in(_amounts), EXTENDED, _DOMINANT + ", weights or not"),
            (
                "P9",
                "population-monotonicity",
                "Population monotonicity",
                MONOTONE,
                EXTENDED,
                _FINITE
                + "If g were smaller after somebody left, what the others had before would have been a Pareto improvement of "
                "what they have after.",
            ),
        )
    ),
    Statement(
        "W.S5.1.rounds",
        "With finite tasks the allocation is accomplished in at most n rounds.",
        "W 5.1",
        "run",
        **few_rounds("drfh"),
        hypotheses=EXTENDED,
        proof="a round ends when an active user has all its tasks or, as demands are positive, nothing is left for anybody: it "
        "fixes at least one of the n users",
    ),
    printed_claim(
        "W.E9",
        "H(i, 1) = 0 and H(i, 2) = 5/3 for the CPU-heavy task, so Best-Fit takes server 1.",
        "W 5.2, (9)",
        Case(Instance([["1/10", "1/30"]], [["1/5", "1/15"], ["1/8", "1/4"]])),
        printed_numbers(_fitness),
    ),
    printed_claim(
        "W.S5.2.first-fit",
        "Progressive filling on heterogeneous servers leads to a DRFH allocation, by First-Fit; here: on Fig. 2.",
        "W 5.2 and footnote 5",
        FIG2,
        printed_numbers(_first_fit_is_drfh),
        note="users are served in the order of the figure; First-Fit ends where per-server DRF does (Fig. 3)",
    ),
    printed_claim(
        "W.S5.2.best-fit",
        "Best-Fit leads to the DRFH allocation; here: on Fig. 2.",
        "W 5.2",
        FIG2,
        printed_numbers(_best_fit_is_drfh),
    ),
    Statement(
        "W.S5.2.better",
        "Best-Fit can lead to a better allocation than First-Fit.",
        "W 5.2",
        "some",
        _best_fit_no_better_in_floats,
        _best_fit_no_better,
        BASIC,
        printed=FIG2,
    ),
    Statement(
        "W.S5.2.worse",
        "The least share by Best-Fit is never smaller than by First-Fit.",
        "not claimed explicitly; W 6.2 finds Best-Fit better at all times",
        "all",
        _opposite(_best_fit_no_better_in_floats, TIED),
        _opposite(_best_fit_no_better, 0.0),
        BASIC,
        reading="ours",
    ),
    # ---- section 6
    printed_claim(
        "W.Table1", "Table 1 is a cluster of 12K servers.", "W Table 1 and section 6", TABLE1, printed_numbers(_table1)
    ),
    printed_claim(
        "W.Table2",
        "14 slots on the maximum server lead to the highest overall utilisation.",
        "W Table 2 and 6.2",
        TABLE1,
        printed_numbers(_table2),
        note="Read as the mean of CPU and memory, since the table itself has the most CPU utilisation elsewhere (W.Table2.each).",
    ),
    printed_claim(
        "W.Table2.each",
        "14 slots have the highest CPU and memory utilisation.",
        "W 6.2 on Table 2, of each",
        TABLE1,
        printed_numbers(_table2_each),
        note="the printed table has more CPU utilisation at 16 slots; of the two together see W.Table2",
        reading="ours",
    ),
    printed_claim(
        "W.Fig5.numbers",
        "40% of the CPUs and 62% of the memory are one number of tasks of user 1.",
        "W 6.1, Fig. 5",
        TABLE1,
        printed_numbers(_fig5),
    ),
    printed_claim(
        "W.S6.1.exact",
        "The shares of Fig. 5, 62% for user 1 alone and 26% for each of three users, are those of DRFH (6).",
        "W 6.1, Fig. 5: 'precisely achieves the DRFH allocation'",
        TABLE1,
        shares_of_figure_5,
        note="For every draw of 100 servers of Table 1 with the printed totals. Tasks are divisible in (6), and whole in W 6.1, "
        "where the most frequent server has room for one task of user 1 instead of 5/3. The 44% of two users are left out: some "
        "draws give that, though the classes they need are rare.",
    ),
    _measured(
        "1",
        "W.Fig5",
        "Best-Fit DRFH precisely achieves the DRFH allocation at all times: shares of 44% for two users, of 26% for three.",
        "W 6.1, Fig. 5",
    ),
    _measured("2.slots", "W.Table2", "The utilisations of the Slots scheduler in Table 2.", "W 6.2, Table 2"),
    _measured(
        "2.utilisation",
        "W.Fig6",
        "Both DRFH schedulers use significantly more than Slots, and Best-Fit uniformly more than First-Fit.",
        "W 6.2, Fig. 6",
    ),
    _measured("2.times", "W.Fig7", "The larger the job, the more Best-Fit DRFH shortens its completion time.", "W 6.2, Fig. 7"),
    _measured(
        "2.ratio",
        "W.Fig8",
        "Around 20% of the users have all tasks completed under Best-Fit DRFH but not under Slots.",
        "W 6.2, Fig. 8",
    ),
    _measured(
        "3", "W.Fig9", "Only 2% of the users see fewer tasks finished under DRFH than in a dedicated cloud.", "W 6.3, Fig. 9"
    ),
]
