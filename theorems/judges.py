"""Judges beyond those of trials.py, used by the claims: what is asked of an allocation, in floats or in rationals.

Each is a function of a case and of `answer`, as in trials.py. Margins are in tasks as parts of what the user's best server runs
alone, so that one tolerance fits all.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any, TypeAlias

import numpy as np

from fairalloc.formulations import mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance, InstanceError
from fairalloc.models.rationals import exact_arcs, global_dominant_share
from fairalloc.theorems.cases import Case
from fairalloc.theorems.certificates import nb_gap
from fairalloc.theorems.certifying import Failure, certify
from fairalloc.theorems.holdings import Holdings, ratio
from fairalloc.theorems.linear import maximum
from fairalloc.theorems.properties import TOLERANCE
from fairalloc.theorems.trials import Answer, Judge, Undecided
from fairalloc.theorems.verdict import Verdict

__all__ = [
    "Row",
    "as_one_pool",
    "bargained",
    "certain",
    "efficient",
    "envious",
    "filled",
    "furthest",
    "happiest",
    "held",
    "leximin",
    "leximin_in",
    "monotone",
    "numbers",
    "ruling",
    "strict_lying",
    "weak_sharing",
]

Row: TypeAlias = tuple[str, str, Fraction]
"""What it is, how it is printed, and what it is."""

CHOICES = 128
"""Linear programs at most for one question about equal partitions."""


def held(allocation: Allocation) -> Holdings:
    """The numbers of an allocation, in rationals where it has them."""
    return Holdings(allocation, allocation.x_exact is not None)


def certain(instance: Instance, name: str) -> Holdings:
    """A mechanism's certified rational answer."""
    certificate = certify(instance, name)
    if isinstance(certificate, Failure):
        raise Undecided(certificate.reason)
    x = np.array([float(v) for v in certificate.x])
    return Holdings(Allocation(mechanism(name).home(instance), x, name, "certificate", x_exact=certificate.x), True)


def ruling(h: Holdings, name: str, margin: Any, sentence: str) -> Verdict:
    """The verdict of a margin: positive is a violation."""
    holds = not margin > (0 if h.exact else TOLERANCE)
    return Verdict(name, bool(holds), float(margin), sentence, "rational arithmetic" if h.exact else "floating point")


def furthest(h: Holdings, worth: Any, floors: Any) -> Any:
    """max sum_n worth_n u_n  over feasible u with u_n >= floors_n; Undecided where the program is not solved."""
    instance, arcs = h.instance, h.instance.arcs
    limited = np.flatnonzero(np.isfinite(instance.max_tasks))
    load = h.zeros(instance.K * instance.R, len(arcs))
    parts = ratio(h.demand, h.pools[arcs.server]) * h.gamma[:, None]
    for a, (i, row) in enumerate(zip(arcs.server.tolist(), parts, strict=True)):
        load[i * instance.R : (i + 1) * instance.R, a] = row
    share = h.zeros(instance.N, len(arcs))
    share[arcs.user, np.arange(len(arcs))] = h.gamma / h.alone[arcs.user]
    ones = h.array(np.ones(len(load), dtype=int))
    sides = np.concatenate([ones, -floors / h.alone, h.limits[limited] / h.alone[limited]])
    best = maximum((worth * h.alone) @ share, np.concatenate([load, -share, share[limited]]), sides, h.exact)
    if best is None:
        raise Undecided("a linear program was not solved")
    return best.value


# ---- judges ---------------------------------------------------------------------------------------------------------


def efficient(case: Case, answer: Answer) -> Verdict:
    """No feasible allocation gives everybody as much and somebody more (W 3.3, Z II-B)."""
    h = held(answer(case.told))
    floors = h.tasks if h.exact else h.tasks * (1 - 1e-9)
    gain = furthest(h, 1 / h.alone, floors) - (h.tasks / h.alone).sum()
    return ruling(h, "pareto", gain, "all users together can gain this many parts of their best servers while nobody loses")


def leximin_in(unit: Callable[[Instance], Sequence[Any]]) -> Judge:
    """The judge of lexicographic max-min fairness of unit_n u_n / w_n.

    Utilities form a convex set, so an allocation is lexicographically largest iff no user can gain while all keep the smaller
    of what they have and what this user has: one linear program a user, none of which is a round.
    """

    def judge(case: Case, answer: Answer) -> Verdict:
        h = held(answer(case.told))
        rate = h.array(list(unit(h.instance))) / h.weights
        v, slack = rate * h.tasks, 1 if h.exact else 1 - 1e-9
        gains = []
        for n in range(h.instance.N):
            only = h.zeros(h.instance.N)
            only[n] = 1 / h.alone[n]
            gains.append(furthest(h, only, np.minimum(v, v[n]) / rate * slack) - h.tasks[n] / h.alone[n])
        n = int(np.argmax([float(g) for g in gains]))
        sentence = f"user {h.instance.users[n]!r} runs {h.tasks[n]} tasks and can gain while nobody falls below it"
        return ruling(h, "leximin", gains[n], sentence)

    return judge


leximin = leximin_in(lambda instance: [Fraction(1)] * instance.N)
"""Lexicographic max-min fairness of the numbers of tasks (Z Def 1)."""


def happiest(case: Case, answer: Answer) -> Verdict:
    """The least number of tasks is as large as it can be (Z II-B, MMF)."""
    h = held(answer(case.told))
    best = certain(h.instance, "mmf") if h.exact else None
    most = best.tasks.min() if best else held(_solved(h.instance, "mmf")).tasks.min()
    return ruling(h, "max-min", (most - h.tasks.min()) / h.alone.min(), f"the poorest runs {h.tasks.min()} tasks of {most}")


def _solved(instance: Instance, name: str) -> Allocation:
    from fairalloc.solvers import solve

    return solve(instance, name)


def envious(case: Case, answer: Answer) -> Verdict:
    """Nobody could run more of the tasks it has with another's resources, scaled by the weights (W 3.3, 5.1)."""
    h = held(answer(case.told))
    worst: tuple[Any, int, int] = (-h.alone.max(), 0, 0)
    for n, m in permutations(range(h.instance.N), 2):
        better = h.utilities(n, h.bundles[m : m + 1] * (h.weights[n] / h.weights[m]))[0]
        worst = max(worst, ((better - h.tasks[n]) / h.alone[n], n, m))
    _, n, m = worst
    return ruling(h, "envy-freeness", worst[0], f"user {h.instance.users[n]!r} against {h.instance.users[m]!r}")


def strict_lying(case: Case, answer: Answer) -> Verdict:
    """Of those who lie together, somebody loses where somebody gains: the strong form of group strategyproofness."""
    if case.lie is None:
        raise InstanceError("nobody lies")
    h, told = held(answer(case.instance)), held(answer(case.told))
    users = list(case.lie.users)
    after = [h.utilities(n, told.bundles[n : n + 1])[0] for n in users]
    gains = [(u - h.tasks[n]) / h.alone[n] for n, u in zip(users, after, strict=True)]
    harmless = min(gains) >= (0 if h.exact else -TOLERANCE)
    sentence = ", ".join(f"{h.instance.users[n]!r} runs {u} for {h.tasks[n]}" for n, u in zip(users, after, strict=True))
    return ruling(h, "group-strategyproofness", max(gains) if harmless else min(gains), f"by lying user {sentence}")


def monotone(case: Case, answer: Answer) -> Verdict:
    """When a user leaves, nobody who stays runs fewer tasks (W 3.3, population monotonicity)."""
    instance = case.told
    if instance.N < 2:
        raise InstanceError("population monotonicity needs two users")
    h = held(answer(instance))
    worst: tuple[Any, int, int] = (-h.alone.max(), 0, 0)
    for gone in range(instance.N):
        stay = [n for n in range(instance.N) if n != gone]
        after = held(answer(_only(instance, stay)))
        worst = max(worst, *((((h.tasks[n] - after.tasks[k]) / h.alone[n]), n, gone) for k, n in enumerate(stay)))
    margin, n, gone = worst
    sentence = f"user {instance.users[n]!r} loses {margin} of its best server when {instance.users[gone]!r} leaves"
    return ruling(h, "population-monotonicity", margin, sentence)


def _only(instance: Instance, stay: Sequence[int]) -> Instance:
    exact = instance.exact
    return Instance(
        [exact.demands[n] for n in stay],
        exact.capacities,
        weights=[exact.weights[n] for n in stay],
        counts=instance.counts,
        eligible=instance.placement[list(stay)],
        max_tasks=[exact.max_tasks[n] for n in stay],
        demands_on={(k, i): rows for k, n in enumerate(stay) for (m, i), rows in exact.demands_on.items() if m == n},
        users=[instance.users[n] for n in stay],
    )


def as_one_pool(case: Case, answer: Answer) -> Verdict:
    """Everybody runs what progressive filling of the pooled resources gives it (W Propositions 6 and 7, W 4.5.3)."""
    h = held(answer(case.told))
    expected = filled(case.told)
    worst: tuple[Any, int] = max((abs(u - e) / g, n) for n, (u, e, g) in enumerate(zip(h.tasks, expected, h.alone, strict=True)))
    n = worst[1]
    sentence = f"user {h.instance.users[n]!r} runs {h.tasks[n]} tasks, and {expected[n]} in one pool"
    return ruling(h, "reduction", worst[0], sentence)


def filled(instance: Instance) -> list[Fraction]:
    """(N,) tasks by progressive filling of dominant shares in one pool of all resources, in rationals and without a solver."""
    exact, share = instance.exact, global_dominant_share(instance)
    q = instance.counts.tolist()
    left = [sum((k * c[r] for k, c in zip(q, exact.capacities, strict=True)), Fraction(0)) for r in range(instance.R)]
    demand = [rows[0] for rows in exact.demands]
    speed = [w / s for w, s in zip(exact.weights, share, strict=True)]
    tasks, active = [Fraction(0)] * instance.N, set(range(instance.N))
    while active:
        use = [sum((speed[n] * demand[n][r] for n in active), Fraction(0)) for r in range(instance.R)]
        steps = [c / u for c, u in zip(left, use, strict=True) if u]
        limits = {n: exact.max_tasks[n] for n in active}
        steps += [(limit - tasks[n]) / speed[n] for n, limit in limits.items() if limit is not None]
        step = min(steps)
        left = [c - step * u for c, u in zip(left, use, strict=True)]
        for n in active:
            tasks[n] += step * speed[n]
        full = {r for r, c in enumerate(left) if c == 0}
        active -= {n for n in active if tasks[n] == limits[n] or any(demand[n][r] for r in full)}
    return tasks


def weak_sharing(case: Case, answer: Answer) -> Verdict:
    """Some equal partition gives nobody more tasks (W Definitions 3 and 4).

    What a user runs in a partition is a sum of minima, one for each server, so at most u_n iff for some choice of one resource
    for each server the sum of what these allow is: a linear program for each choice. Where there are too many choices, W's
    own construction and the partition of each server are tried, and if both fail nothing is decided.
    """
    h = held(answer(case.told))
    part = h.weights / h.weights.sum()
    pairs = sorted(set(zip(h.instance.arcs.user.tolist(), h.instance.arcs.server.tolist(), strict=True)))
    demand = {(n, i): h.demand[a] for a, (n, i) in enumerate(zip(h.instance.arcs.user, h.instance.arcs.server, strict=True))}
    choices = [np.flatnonzero(demand[pair] > 0).tolist() for pair in pairs]
    if np.prod([float(len(c)) for c in choices]) <= CHOICES:
        excess = min(_least_excess(h, part, dict(zip(pairs, chosen, strict=True)), demand) for chosen in product(*choices))
        sentence = f"in every equal partition somebody runs more, by {excess} of its best server at least"
        return ruling(h, "weak-sharing-incentive", excess, sentence)
    gaps = [_most_gain(h, partition) for partition in (_constructed(h, part), part[:, None, None] * h.pools) if partition is not None]
    margin = min(gaps)
    verdict = ruling(h, "weak-sharing-incentive", margin, "an equal partition gives nobody more tasks")
    return verdict if verdict.holds else Verdict(verdict.property, None, np.nan, "not decided: W's partition gives more", "")


def _least_excess(h: Holdings, part: Any, chosen: dict[tuple[int, int], int], demand: dict[tuple[int, int], Any]) -> Any:
    """min t >= 0 such that a partition exists in which the chosen resources allow user n at most u_n + t alone_n tasks."""
    size_n, size_k, size_r = h.instance.N, h.instance.K, h.instance.R
    index = np.arange(size_n * size_k * size_r).reshape(size_n, size_k, size_r)
    unit = np.where(h.pools > 0, h.pools, 1)
    totals = h.pools.sum(axis=0)
    rows, sides = [], []
    for i, r in product(range(size_k), range(size_r)):  # what is handed out, in parts of the capacity
        row = h.zeros(index.size + 1)
        row[index[:, i, r]] = 1
        rows.append(row), sides.append(h.pools[i, r] / unit[i, r])
    for n, r in product(range(size_n), range(size_r)):
        row = h.zeros(index.size + 1)
        row[index[n, :, r]] = -unit[:, r]
        rows.append(row), sides.append(-part[n] * totals[r])
    for n in range(size_n):
        row = h.zeros(index.size + 1)
        for i in range(size_k):
            if (n, i) in chosen:
                r = chosen[n, i]
                row[index[n, i, r]] += unit[i, r] / demand[n, i][r] / h.alone[n]
        row[-1] = -1
        rows.append(row), sides.append(h.tasks[n] / h.alone[n])
    cost = h.zeros(index.size + 1)
    cost[-1] = -1
    best = maximum(cost, np.array(rows), np.array(sides), h.exact)
    if best is None:
        raise Undecided("a linear program was not solved")
    return -best.value


def _constructed(h: Holdings, part: Any) -> Any:
    """W's partition: everybody's allocation, and of what is left what it lacks to its part of each resource."""
    totals, left = h.pools.sum(axis=0), h.pools - h.bundles.sum(axis=0)
    lacking = part[:, None] * totals - h.bundles.sum(axis=1)
    if (lacking < 0).any():
        return None
    return h.bundles + left * ratio(lacking, left.sum(axis=0))[:, None, :]


def _most_gain(h: Holdings, partition: Any) -> Any:
    gains = [(h.utilities(n, partition[n : n + 1])[0] - h.tasks[n]) / h.alone[n] for n in range(h.instance.N)]
    return max(gains)


# ---- printed numbers ------------------------------------------------------------------------------------------------


def numbers(rows: Callable[[Case], Sequence[Row]]) -> Callable[[Case], Verdict]:
    """The check of numbers as they are printed: decimals to the last digit that is printed, fractions exactly."""

    def confirm(case: Case) -> Verdict:
        wrong = [(name, printed, value) for name, printed, value in rows(case) if _distance(printed, value) > 0]
        margin = max((float(_distance(printed, value)) for _, printed, value in wrong), default=0.0)
        said = [f"{name} is {value}, not {printed}" for name, printed, value in wrong]
        sentence = "; ".join(said) or f"all {len(rows(case))} numbers are as printed"
        return Verdict("printed numbers", not wrong, margin, sentence, "rational arithmetic")

    return confirm


def _distance(printed: str, value: Fraction) -> Fraction:
    """How far a value is from all that would be printed so."""
    digits = len(printed.split(".")[1]) if "." in printed else None
    allowed = Fraction(0) if digits is None else Fraction(1, 2 * 10**digits)
    return max(Fraction(0), abs(value - Fraction(printed)) - allowed)


def bargained(instance: Instance, x: Sequence[Fraction], prices: Sequence[Fraction]) -> bool:
    """Whether prices (K R,) in parts of capacity prove that x is the nb allocation, exactly: a gap of 0."""
    arcs = exact_arcs(instance)
    feasible = all(load <= 1 for load in arcs.loads(x)) and all(v >= 0 for v in x)
    return feasible and nb_gap(arcs, instance.exact.weights, arcs.tasks(x), tuple(prices), (Fraction(0),) * instance.N) == 0
