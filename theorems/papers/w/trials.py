"""How the claims of W (DRFH) in statements.toml are tried and confirmed, by their ids."""

from collections.abc import Sequence
from fractions import Fraction as F
from functools import partial
from typing import Any

import numpy as np

from fairalloc.analysis.properties.fairness import global_bottlenecks
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, global_dominant_share
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import (
    Answer,
    Routes,
    Row,
    about_mechanism,
    certified,
    exact_verdict,
    few_rounds,
    holdings_of,
    leximin_in,
    once,
    only_where,
    optimum,
    printed_numbers,
    progressive_filling,
    verdict_of,
)
from fairalloc.theorems.standalone.definitions import alone, whole_tasks

# ---- section 2: the pool of 9 CPUs and 18 GB ------------------------------------------------------------------------


def _split_pool(case: Case) -> Sequence[Row]:
    """Fig. 1: what user 1 can run on both servers alone, and where it demands which resource the most."""
    demand, servers = case.instance.exact.demands[0][0], case.instance.exact.capacities
    tasks = [alone(demand, c) for c in servers]
    most = [[d / c for d, c in zip(demand, row, strict=True)] for row in servers]
    return [
        ("tasks of user 1 on server 1", "1", tasks[0]),
        ("tasks of user 1 on server 2", "1", tasks[1]),
        ("tasks of user 1 alone", "2", sum(tasks)),
        ("whether user 1 demands CPU the most on server 1", "1", F(most[0][0] > most[0][1])),
        ("whether user 1 demands memory the most on server 2", "1", F(most[1][1] > most[1][0])),
    ]


def realisable(case: Case, answer: Answer) -> Verdict:
    """The tasks of DRF on the pool fit on the servers: max t such that everybody can run t times as many."""
    pooled, h = progressive_filling(case.reported), holdings_of(answer(case.reported))
    short = max((e - u) / g for e, u, g in zip(pooled, h.tasks, h.alone, strict=True))
    return verdict_of(h, "realisable", short, "with equal shares somebody runs fewer tasks than DRF gives it in the pool")


# ---- Lemma 1 and the programs (4) to (6) ----------------------------------------------------------------------------


def _lemma1(case: Case) -> Verdict:
    """The capacity of the server is the bundle A_il, every user a demand vector that it may be proportional to."""
    (bundle,), worst = case.instance.exact.capacities, -1
    for (demand,) in case.instance.exact.demands:
        n, share = alone(demand, bundle), max(demand)
        less = [[b - (b / 2**40 if k == r else 0) for k, b in enumerate(bundle)] for r, a in enumerate(bundle) if a]
        wasteful = any(alone(demand, part) == n for part in less)
        proportional = all(a == n * d for a, d in zip(bundle, demand, strict=True))
        same = n * share == alone([d / share for d in demand], bundle)
        worst = max(worst, int(wasteful == proportional or not same))
    return exact_verdict("lemma", worst, "non-wasteful and in proportion to the demand are not the same")


def _share_2(case: Case) -> Verdict:
    """(2): N_il D_ir* = min_r A_ilr / d_ir, with d_ir = D_ir / D_ir*, for what each user's tasks take of the one server."""
    (pool,), off = case.instance.exact.capacities, []
    for n, x in zip(case.instance.arcs.user.tolist(), case.points[0], strict=True):
        D = [d / c for d, c in zip(case.instance.exact.demands[n][0], pool, strict=True)]
        A = [x * v for v in D]
        off += [abs(alone(D, A) * max(D) - alone([v / max(D) for v in D], A))] if x else []
    only_where(off, "nobody runs a task")
    return exact_verdict("formula", max(off), f"the two sides of (2) differ by {max(off)}")


def _programs(case: Case) -> Verdict:
    """The values of (5), which lets shares differ, and of (6), which equalises them; summed over l in S."""
    instance = case.instance
    rate = [s / w for s, w in zip(global_dominant_share(instance), instance.exact.weights, strict=True)]
    g5 = min(r * u for r, u in zip(rate, certified(instance, "drfh-lp").tasks, strict=True))
    g6 = _equalised(instance, rate)
    return exact_verdict("equivalence", abs(g5 - g6) / g5, f"(5) has the value {g5} and (6) {g6}")


def _equalised(instance: Instance, rate: Sequence[F]) -> Any:
    """Max g with sum_l g_il = g for all users, by two inequalities; shares are per task."""
    arcs = exact_arcs(instance)
    rows = [[*row, F(0)] for row in arcs.matrix()]
    sides = [F(1)] * arcs.rows
    for n, limit in enumerate(arcs.limits):
        own = [rate[n] * int(m == n) for m in arcs.user]
        rows += [[*own, F(-1)], [*(-v for v in own), F(1)]]
        sides += [F(0), F(0)]
        if limit is not None:
            rows.append([F(int(m == n)) for m in (*arcs.user, -1)])
            sides.append(limit)
    cost = [F(0)] * len(arcs.user) + [F(1)]
    return optimum(cost, rows, sides)


def _in_rounds(case: Case, answer: Answer) -> Verdict:
    """The lexicographic answer gives everybody the same share, that of W's program."""
    h = holdings_of(answer(case.reported))
    rate = h.array(list(global_dominant_share(case.reported))) / h.weights
    shares = rate * h.tasks
    n = int(np.argmax([float(s) for s in shares]))
    gap = (shares[n] - shares.min()) / rate[n] / h.alone[n]
    words = f"user {h.instance.users[n]!r} has the share {shares[n]}, and the least share is {shares.min()}"
    return verdict_of(h, "one-round", gap, words)


# ---- sections 3 and 4: numbers of Figs. 2 to 4 and of Proposition 4 -------------------------------------------------


def _normalised(case: Case, printed: Sequence[str]) -> Sequence[Row]:
    """Capacities c and demands D in parts of all there is, and d = D / max D, of CPU and of memory."""
    exact, found = case.instance.exact, dict[str, list[F]]()
    parts = [[v / total for v, total in zip(row, _sums(exact.capacities), strict=True)] for row in exact.capacities]
    found |= {f"c_{k}": part for k, part in enumerate(parts, 1)}
    for k, (demand,) in enumerate(exact.demands, 1):
        found[f"D_{k}"] = [d / total for d, total in zip(demand, _sums(exact.capacities), strict=True)]
        found[f"d_{k}"] = [d / max(found[f"D_{k}"]) for d in found[f"D_{k}"]]
    return [
        (f"{name} of {what}", text, value)
        for name, *texts in map(str.split, printed)
        for what, text, value in zip(("CPU", "memory"), texts, found[name], strict=True)
    ]


def _fig3(case: Case) -> Sequence[Row]:
    h, printed = certified(case.instance, "drf-per-server"), ("5", "1", "1", "5")
    places = [f"user {n} on server {i}" for n in (1, 2) for i in (1, 2)]
    rows: list[Row] = [(f"tasks of {place}", text, v) for place, text, v in zip(places, printed, h.x, strict=True)]
    rows += [(f"CPU of user {n + 1} on server 1", "1", h.bundles[n, 0, 0]) for n in (0, 1)]
    return [*rows, *((f"tasks of user {n + 1}", "6", h.tasks[n]) for n in (0, 1))]


def _fig4(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "drfh")
    share = global_dominant_share(case.instance)
    rows: list[Row] = [(f"tasks of user {n + 1}", "10", h.tasks[n]) for n in (0, 1)]
    rows += [(f"global dominant share of user {n + 1}", "5/7", share[n] * h.tasks[n]) for n in (0, 1)]
    return [*rows, ("tasks of user 1 on server 1", "10", h.x[0]), ("tasks of user 2 on server 2", "10", h.x[3])]


def _partitions(case: Case) -> Sequence[Row]:
    """W 4.5: two equal partitions, each of 7 CPUs and 7 GB a user, by user and server."""
    divided = {
        "(a)": ([(F(1), F(6)), (F(6), F(1))], [(F(1), F(6)), (F(6), F(1))]),
        "(b)": ([(F(3, 2), F(11, 2)), (F(11, 2), F(3, 2))], [(F(1, 2), F(13, 2)), (F(13, 2), F(1, 2))]),
    }
    rows: list[Row] = []
    for name, parts in divided.items():
        for n, own in enumerate(parts, 1):
            rows += [(f"{what} of user {n} in {name}", "7", v) for what, v in zip(("CPU", "memory"), _sums(own), strict=True)]
    for n, (demand,) in enumerate(case.instance.exact.demands):
        first, second = (sum(alone(demand, part) for part in parts[n]) for parts in divided.values())
        rows.append((f"whether user {n + 1} runs different numbers of tasks", "1", F(first != second)))
    return rows


def _prop4(case: Case) -> Sequence[Row]:
    h, share = certified(case.instance, "drfh"), global_dominant_share(case.instance)
    part = sum(alone(case.instance.exact.demands[1][0], [c / 2 for c in row]) for row in case.instance.exact.capacities)
    return [
        *_normalised(case, ("c_1 1/5 2/5", "c_2 4/5 3/5", "D_1 1/5 1/5", "D_2 3/5 2/5", "d_1 1 1", "d_2 1 2/3")),
        *((f"global dominant share of user {n + 1}", "12/25", share[n] * h.tasks[n]) for n in (0, 1)),
        ("share of user 2 in the partition of each server", "1/2", share[1] * part),
    ]


def _partitioned(case: Case) -> Verdict:
    """W 4.5: c_l / n is an equal partition, so the strong form implies the weak one, and its tasks are the mean of giving each
    server to a random user.
    """
    servers, n = case.instance.exact.capacities, case.instance.N
    parts = [[c / n for c in row] for row in servers]
    off = [abs(n * part - whole) for part, whole in zip(_sums(parts), _sums(servers), strict=True)]
    for (demand,) in case.instance.exact.demands:
        off.append(abs(sum(alone(demand, part) for part in parts) - sum(alone(demand, row) / n for row in servers)))
    return exact_verdict("partition", max(off), "the mean differs")


def _sums(rows: Sequence[Sequence[F]]) -> list[F]:
    return [sum(column, F(0)) for column in zip(*rows, strict=True)]


# ---- sections 3 and 4: steps and properties ---------------------------------------------------------------------------------


def _taken_back(case: Case) -> Verdict:
    """What N tasks take of A_il: as many tasks run with it, and fewer with a little less of any resource; in rationals."""
    (given,), demand = case.instance.exact.capacities, case.instance.exact.demands[0][0]
    tasks = alone(demand, given)
    kept = [tasks * d for d in demand]
    less = [alone(demand, [c * F(999, 1000) if r == s else c for s, c in enumerate(kept)]) for r in range(len(kept))]
    fine = all(k <= c for k, c in zip(kept, given, strict=True)) and alone(demand, kept) == tasks > max(less)
    return exact_verdict("non-wasteful", -1 if fine else 1, f"{tasks} tasks, and {max(less)} with less")


P2 = Case(Instance([[1], [1]], [[1]]), points=((F(1, 4), F(3, 4)),))
"""The shares of both users of one server before user 2 gives up epsilon (W 4.3)."""


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


def _common_resource(instance: Instance) -> int:
    """The resource that is globally dominant for all users; NotApplicable where there is none."""
    only_where(common := global_bottlenecks(instance), "the users have no global dominant resource in common")
    return min(common)


def _amounts(instance: Instance) -> list[F]:
    r = _common_resource(instance)
    return [rows[0][r] for rows in instance.exact.demands]


def _as_if_alone(case: Case, answer: Answer) -> Verdict:
    """Everybody has the amount of the common resource that it would have if that were the only one: w_n / W of it."""
    r, h = _common_resource(case.reported), holdings_of(answer(case.reported))
    amounts = h.bundles[:, :, r].sum(axis=1)
    short = h.weights / h.weights.sum() - amounts / h.pools[:, r].sum()
    n = int(np.argmax([float(s) for s in short]))
    words = f"user {h.instance.users[n]!r} has {short[n]} of the common resource less than alone"
    return verdict_of(h, "bottleneck-fairness", short[n], words)


# ---- section 5 ------------------------------------------------------------------------------------------------------


def _fitness(case: Case) -> Sequence[Row]:
    """(9) on the printed vectors: H(i, l) = || D_i / D_i1 - c_l / c_l1 ||_1."""
    ((d,),), servers = case.instance.exact.demands, case.instance.exact.capacities
    far = [sum((abs(q / d[0] - c / row[0]) for q, c in zip(d, row, strict=True)), F(0)) for row in servers]
    return [("H(i, 1)", "0", far[0]), ("H(i, 2)", "5/3", far[1])]


MOST_TASKS = 400
"""More whole tasks are not placed one by one."""


def filled(instance: Instance, best_fit: bool) -> list[int]:
    """(N,) whole tasks by progressive filling; by Best-Fit instead of First-Fit.

    NotApplicable where more than MOST_TASKS may fit, users have several demand vectors, or (9) divides by a demand of 0.
    """
    only_where(instance.single_variant and not instance.demands_on, "about users with one demand vector")
    demands, classes = [rows[0] for rows in instance.exact.demands], zip(instance.exact.capacities, instance.counts, strict=True)
    servers = [row for row, count in classes for _ in range(count)]
    if sum(alone(d, _sums(servers)) for d in demands) > MOST_TASKS or not all(d[0] for d in demands):
        raise NotApplicable(f"more than {MOST_TASKS} tasks may fit, or (9) divides by a demand of 0")
    return whole_tasks(demands, servers, best_fit)


def _least_share(sign: int, case: Case) -> Verdict:
    """The least share is no larger by Best-Fit than by First-Fit; sign -1: the other way round."""
    share = global_dominant_share(case.instance)
    first, best = (min(s * u for s, u in zip(share, filled(case.instance, rule), strict=True)) for rule in (False, True))
    return exact_verdict("best-fit", sign * (best - first), f"the least share is {first} by First-Fit and {best} by Best-Fit")


# ---- section 6: what is printed, and what cannot be run -------------------------------------------------------------


TABLE2 = {10: (351, 234), 12: (422, 274), 14: (439, 280), 16: (454, 242), 20: (406, 200)}
"""W Table 2: per mille of CPU and memory by slots on the maximum server."""

cases: dict[str, Case] = {
    # server i has little of resource i, of which user i demands little and all others much; DRF splits resource i of server i
    # equally, so each of N such users runs a part 1/N of what its server can do for it alone
    "s3-4-low": Case(
        Instance([["1/100", 1, 1], [1, "1/100", 1], [1, 1, "1/100"]], [[1, 100, 100], [100, 1, 100], [100, 100, 1]]),
    ),
    "e9": Case(Instance([["1/10", "1/30"]], [["1/5", "1/15"], ["1/8", "1/4"]])),
    # the servers of Table 1 with the three users of Fig. 5
    "table1": Case(
        Instance(
            [["1/5", "3/10"], ["1/2", "1/10"], ["1/10", "3/10"]],
            [
                *(["1/2", "1/2"], ["1/2", "1/4"], ["1/2", "3/4"], [1, 1], ["1/4", "1/4"]),
                *(["1/2", "3/25"], ["1/2", "3/100"], ["1/2", "97/100"], [1, "1/2"], ["1/2", "3/50"]),
            ],
            counts=[6732, 3863, 1001, 795, 126, 52, 5, 5, 3, 1],
        )
    ),
    "p2": P2,
    # Each conceals a third of what it needs of the first resource, and of the last that the other one needs more of
    "all-misreport": Case(
        Instance([[1, 1, "1/2"], [1, "1/2", 1]], [[1, 1, 1]]),
        Misreport((0, 1), (((F(2, 3), F(1), F(1, 3)),), ((F(2, 3), F(1, 3), F(1)),)), (None, None)),
    ),
}

trials: dict[str, Routes] = {
    "W.Fig1": printed_numbers(_split_pool),
    **dict.fromkeys(("W.S2.infeasible", "W.S2.homogeneous"), about_mechanism("drfh", realisable)),
    "W.Fig2": printed_numbers(
        partial(_normalised, printed=("c_1 1/7 6/7", "c_2 6/7 1/7", "D_1 1/70 1/14", "d_1 1/5 1", "D_2 1/14 1/70", "d_2 1 1/5"))
    ),
    "W.Fig3": printed_numbers(_fig3),
    "W.L1": once(_lemma1),
    "W.E2": once(_share_2),
    "W.E6": once(_programs),
    "W.E6.pareto": about_mechanism("drfh", _in_rounds),
    "W.Fig4": printed_numbers(_fig4),
    "W.P4.numbers": printed_numbers(_prop4),
    "W.S4.5.partitions": printed_numbers(_partitions),
    "W.S3.2.non-wasteful": once(_taken_back),
    **dict.fromkeys(("W.S4.5.weaker", "W.S4.5.mean"), once(_partitioned)),
    **dict.fromkeys(("W.P8", "W.S5.1.P8"), about_mechanism("drfh", partial(leximin_in, _amounts))),
    **dict.fromkeys(("W.P8.alone", "W.P8.identical"), about_mechanism("drfh", _as_if_alone)),
    "W.S5.1.P5.parts": about_mechanism("drfh", _parts_by_weight),
    "W.S5.1.rounds": few_rounds("drfh"),
    "W.E9": printed_numbers(_fitness),
    "W.S5.2.best-fit": printed_numbers(
        lambda case: [
            (f"tasks of user {n} by Best-Fit", str(fair), F(u))
            for n, (fair, u) in enumerate(
                zip(certified(case.instance, "drfh").tasks, filled(case.instance, True), strict=True), 1
            )
        ]
    ),
    "W.S5.2.better": once(partial(_least_share, 1)),
    "W.S5.2.worse": once(partial(_least_share, -1)),
    "W.Table1": printed_numbers(
        lambda case: [("thousands of servers, rounded down", "12", F(int(case.instance.counts.sum()) // 1000))]
    ),
    "W.Table2": printed_numbers(
        lambda _: [("slots with the highest sum of utilisations", "14", F(max(TABLE2, key=lambda k: sum(TABLE2[k]))))]
    ),
    "W.Fig5.numbers": printed_numbers(
        # 40% of 52.75 CPUs at 0.2 a task and 62% of 51.32 of memory at 0.3 must be the same number of tasks: they are 106
        lambda _: [
            ("CPU share of user 1", "0.40", F(106) / 5 / F("52.75")),
            ("memory share of user 1", "0.62", F(106) * 3 / 10 / F("51.32")),
        ]
    ),
}
