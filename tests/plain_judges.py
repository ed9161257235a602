"""Envy, sharing and misreports by vertices of small polytopes: independent references for the judges of the package.

Float or rational as the allocation is; one demand vector or several, no max_tasks.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import Answer

ROUNDING = 1e-12
"""Relative error of a small system in floating point."""


def as_told(verdict):
    """The words of a verdict on record: its sentence without numbers, which may round otherwise, its method and its answers."""
    return re.sub(r"\d[\d./e+-]*", "#", verdict["sentence"]), verdict["method"], verdict.get("answers", "")


def envy(case: Case, answer: Answer) -> Verdict:
    """Nobody could run more tasks with another's resources, scaled by the weights (K 2, W 3.3, Z II-B)."""
    allocation = answer(case.reported)
    instance, tasks = allocation.instance, _tasks(allocation)
    weights = instance.exact.weights if allocation.x_exact else instance.weights.tolist()
    worst: tuple[Any, int, int] | None = None
    for n, m in permutations(range(instance.N), 2):
        better = _runnable(instance, n, _bundle(allocation, m, weights[n] / weights[m]), _alone(allocation, n))
        gap = (better - tasks[n]) / _alone(allocation, n)
        worst = (gap, n, m) if worst is None or gap > worst[0] else worst
    if worst is None:
        raise NotApplicable("envy needs two users")
    gap, n, m = worst
    better = tasks[n] + gap * _alone(allocation, n)
    sentence = f"user {instance.users[n]!r} runs {tasks[n]} tasks, and {better} with the resources of {instance.users[m]!r}"
    return _verdict("envy-freeness", gap, sentence, allocation)


def sharing(case: Case, answer: Answer) -> Verdict:
    """Everybody runs as many tasks as with its part of every server, w_n / sum w (W Def 2, K 2, Z II-B)."""
    allocation = answer(case.reported)
    instance, tasks = allocation.instance, _tasks(allocation)
    exact = allocation.x_exact is not None
    weights = instance.exact.weights if exact else instance.weights.tolist()
    worst: tuple[Any, int, Any] | None = None
    for n in range(instance.N):
        part = weights[n] / sum(weights)
        pools = [
            [part * q * c for c in row] for row, q in zip(_capacities(instance, exact), instance.counts.tolist(), strict=True)
        ]
        share = _runnable(instance, n, pools, _alone(allocation, n))
        gap = (share - tasks[n]) / _alone(allocation, n)
        worst = (gap, n, share) if worst is None or gap > worst[0] else worst
    assert worst is not None, "an instance has a user"
    gap, n, share = worst
    sentence = f"user {instance.users[n]!r} runs {tasks[n]} tasks, and {share} with its part of every server"
    return _verdict("sharing-incentive", gap, sentence, allocation)


def misreporting(case: Case, answer: Answer) -> Verdict:
    """Of the users who misreport together, somebody runs no more tasks of its true kind than by the truth (W 3.3, Z II-B)."""
    if case.misreport is None:
        raise NotApplicable("nobody misreports")
    honest, reported = answer(case.instance), answer(case.reported)
    instance, before = case.instance, _tasks(honest)
    gains = []
    for n in case.misreport.users:
        after = _runnable(instance, n, _bundle(reported, n, 1), _alone(honest, n))
        gains.append(((after - before[n]) / _alone(honest, n), n, after))
    gain, n, after = min(gains, key=lambda g: g[0])
    sentence = f"by misreporting user {instance.users[n]!r} runs {after} of its tasks instead of {before[n]}"
    return _verdict("strategyproofness", gain, sentence, honest)


# ---- pieces, in rationals where the allocation has them ---------------------------------------------------------------


def _verdict(name: str, margin: Any, sentence: str, allocation: Allocation) -> Verdict:
    exact = allocation.x_exact is not None
    holds = not margin > (0 if exact else TOLERANCE)
    return Verdict(name, holds, float(margin), sentence, "rational arithmetic on a certificate" if exact else "floating point")


def _tasks(allocation: Allocation) -> Sequence[Any]:
    return allocation.tasks.tolist() if allocation.tasks_exact is None else allocation.tasks_exact


def _capacities(instance: Instance, exact: bool) -> Sequence[Sequence[Any]]:
    return instance.exact.capacities if exact else instance.capacities.tolist()


def _demand(instance: Instance, n: int, i: int, exact: bool) -> Sequence[Sequence[Any]]:
    if exact:
        return instance.exact.demands_on.get((n, i), instance.exact.demands[n])
    rows: list[list[float]] = instance.demands_on.get((n, i), instance.demands[n]).tolist()
    return rows


def _alone(allocation: Allocation, n: int) -> Any:
    """Tasks that the best arc of a user could run alone: the unit of its margins."""
    instance, exact = allocation.instance, allocation.x_exact is not None
    best: Any = 0
    for v, i in _arcs(instance, n):
        row, capacity = _demand(instance, n, i, exact)[v], _capacities(instance, exact)[i]
        best = max(best, int(instance.counts[i]) * min(c / d for c, d in zip(capacity, row, strict=True) if d))
    return best


def _arcs(instance: Instance, n: int) -> list[tuple[int, int]]:
    own = np.flatnonzero(instance.arcs.user == n)
    return [(int(instance.arcs.variant[a]), int(instance.arcs.server[a])) for a in own]


def _bundle(allocation: Allocation, m: int, factor: Any) -> list[list[Any]]:
    """(K, R) what user m holds, times a factor."""
    instance, exact = allocation.instance, allocation.x_exact is not None
    x = allocation.x_exact or allocation.x.tolist()
    zero: Any = Fraction(0) if exact else 0.0
    result = [[zero] * instance.R for _ in range(instance.K)]
    own = np.flatnonzero(instance.arcs.user == m)
    for a, (v, i) in zip(own.tolist(), _arcs(instance, m), strict=True):
        for r, d in enumerate(_demand(instance, m, i, exact)[v]):
            result[i][r] += factor * x[a] * d
    return result


def _runnable(instance: Instance, n: int, pools: Sequence[Sequence[Any]], unit: Any) -> Any:
    """The most tasks that user n can run with these resources."""
    total: Any = 0 * unit
    for i in sorted({i for _, i in _arcs(instance, n)}):
        rows = [_demand(instance, n, i, isinstance(unit, Fraction))[v] for v, j in _arcs(instance, n) if j == i]
        total += _packed([row for row in rows if all(p > 0 for p, d in zip(pools[i], row, strict=True) if d)], pools[i])
    return total


def _packed(rows: Sequence[Sequence[Any]], pool: Sequence[Any]) -> Any:
    """The largest sum a  s.t.  sum_v a_v row_v <= pool, a >= 0 (Z 1): the best vertex, since there are few; float or rational."""
    best: Any = 0
    for size in range(1, min(len(rows), len(pool)) + 1):
        for chosen in combinations(rows, size):
            for tight in combinations(range(len(pool)), size):
                part = _solved([[row[r] for row in chosen] for r in tight], [pool[r] for r in tight])
                if part is not None and min(part) >= 0 and _fits(part, chosen, pool):
                    best = max(best, sum(part))
    return best


def _fits(part: Sequence[Any], rows: Sequence[Sequence[Any]], pool: Sequence[Any]) -> bool:
    used = [sum(a * row[r] for a, row in zip(part, rows, strict=True)) for r in range(len(pool))]
    slack = 0 if isinstance(pool[0], Fraction) else ROUNDING * max(pool)
    return all(u <= p + slack for u, p in zip(used, pool, strict=True))


def _solved(matrix: list[list[Any]], side: list[Any]) -> list[Any] | None:
    """The solution of a small square system by elimination; None where it is singular."""
    size = len(side)
    least = 0 if isinstance(side[0], Fraction) else ROUNDING * max(abs(v) for row in matrix for v in row)
    rows = [[*row, b] for row, b in zip(matrix, side, strict=True)]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        if abs(rows[pivot][k]) <= least:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(size):
            if i != k and rows[i][k]:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[size] / row[k] for k, row in enumerate(rows)]
