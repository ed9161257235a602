"""How statements about a mechanism are tried and confirmed: one judgement, of an answer in floating point and of a proved one.

A judge is a function of a case and of `answer`, which computes the mechanism on any instance: the truth, what is told, or what
is left when a user goes. `attempted` gives it the fast method's answers, `proved` the rational ones of a certificate that was
verified without a solver; a judge computes in rationals where the allocation has them.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance, InstanceError
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.certifying import Failure, certify
from fairalloc.theorems.properties import TOLERANCE
from fairalloc.theorems.verdict import Verdict

__all__ = ["Answer", "Judge", "attempted", "envy", "lying", "proved", "sharing"]

Answer: TypeAlias = Callable[[Instance], Allocation]
Judge: TypeAlias = Callable[[Case, Answer], Verdict]


class Undecided(Exception):  # noqa: N818 (a finding, not an error)
    """There is no proof on which a verdict could rest."""


def attempted(mechanism: str, judge: Judge, method: str | None = None) -> Callable[[Case], Verdict]:
    """A trial in floating point by the fastest method, or the given one."""
    return partial(_attempt, mechanism, judge, method)


def proved(mechanism: str, judge: Judge) -> Callable[[Case], Verdict]:
    """The judgement on certified rational answers."""
    return partial(_prove, mechanism, judge)


def _attempt(mechanism: str, judge: Judge, method: str | None, case: Case) -> Verdict:
    return judge(case, lambda instance: solve(instance, mechanism, method, **case.parameters))


def _prove(mechanism: str, judge: Judge, case: Case) -> Verdict:
    try:
        return judge(case, partial(_certified, mechanism))
    except Undecided as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "certificate")


def _certified(mechanism: str, instance: Instance) -> Allocation:
    certificate = certify(instance, mechanism)
    if isinstance(certificate, Failure):
        raise Undecided(certificate.reason)
    x = np.array([float(v) for v in certificate.x])
    return Allocation(instance, x, mechanism, "certificate", x_exact=certificate.x)


# ---- judges ---------------------------------------------------------------------------------------------------------


def envy(case: Case, answer: Answer) -> Verdict:
    """Nobody could run more tasks with another's resources, scaled by the weights (K 2, W 3.3, Z II-B)."""
    allocation = answer(case.told)
    instance, tasks = allocation.instance, _tasks(allocation)
    weights = instance.exact.weights if allocation.x_exact else instance.weights.tolist()
    worst: tuple[Any, int, int] | None = None
    for n, m in permutations(range(instance.N), 2):
        better = _runnable(instance, n, _bundle(allocation, m, weights[n] / weights[m]), _alone(allocation, n))
        gap = (better - tasks[n]) / _alone(allocation, n)
        worst = (gap, n, m) if worst is None or gap > worst[0] else worst
    if worst is None:
        raise InstanceError("envy needs two users")
    gap, n, m = worst
    better = tasks[n] + gap * _alone(allocation, n)
    sentence = f"user {instance.users[n]!r} runs {tasks[n]} tasks, and {better} with the resources of {instance.users[m]!r}"
    return _verdict("envy-freeness", gap, sentence, allocation)


def sharing(case: Case, answer: Answer) -> Verdict:
    """Everybody runs as many tasks as with its part of every server, w_n / sum w (W Def 2, K 2, Z II-B)."""
    allocation = answer(case.told)
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


def lying(case: Case, answer: Answer) -> Verdict:
    """Of those who lie together, somebody runs no more tasks of its true kind than by the truth (W 3.3, Z II-B)."""
    if case.lie is None:
        raise InstanceError("nobody lies")
    honest, told = answer(case.instance), answer(case.told)
    instance, before = case.instance, _tasks(honest)
    gains = []
    for n in case.lie.users:
        after = _runnable(instance, n, _bundle(told, n, 1), _alone(honest, n))
        gains.append(((after - before[n]) / _alone(honest, n), n, after))
    gain, n, after = min(gains, key=lambda g: g[0])
    sentence = f"by lying user {instance.users[n]!r} runs {after} of its tasks instead of {before[n]}"
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
    """The most tasks that user n can run with these resources; for several variants a linear program on each server."""
    exact = isinstance(unit, Fraction)
    total: Any = 0
    for i in sorted({i for _, i in _arcs(instance, n)}):
        rows = [_demand(instance, n, i, exact)[v] for v, j in _arcs(instance, n) if j == i]
        rows = [row for row in rows if all(p > 0 for p, d in zip(pools[i], row, strict=True) if d)]
        if len(rows) == 1:
            total += min(p / d for p, d in zip(pools[i], rows[0], strict=True) if d)
        elif rows:
            total += _packed(rows, pools[i], exact)
    return total


def _packed(rows: Sequence[Sequence[Any]], pool: Sequence[Any], exact: bool) -> Any:
    answer = solve(Instance([rows], [pool]), "utilitarian", "exact" if exact else None)
    if answer.tasks_exact is None and exact:
        raise Undecided("the best packing is not known exactly")
    return answer.tasks_exact[0] if answer.tasks_exact else float(answer.tasks[0])
