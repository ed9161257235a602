"""Utilities and pivot users: Z's claims and lemmas about any allocations of tasks (IV-A, IV-B)."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import (
    holdings_of,
    max_min_fair,
    verdict_of,
)
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.judges.trials import Answer, Judge, Routes, Undecided

F = Fraction
PARETO = property_judge("pareto")


def bundles_of(case: Case, exact: bool) -> tuple[Holdings, list[Any]]:
    """What everybody holds in each point of the case, (N, 1, R)."""
    result = []
    for point in case.points:
        allocation = Allocation(case.instance, np.array([float(v) for v in point]), x_exact=point if exact else None)
        result.append(Holdings(allocation, exact))
    return result[0], [h.bundles for h in result]


def utilities_of(h: Holdings, bundles: Any) -> list[Any]:
    return [h.utilities(n, bundles[n : n + 1])[0] for n in range(h.instance.N)]


def concave(case: Case, exact: bool) -> Verdict:
    """u(g X + (1-g) X') >= g u(X) + (1-g) u(X') at g = 1/3 and 1/2, for what every user holds in two allocations."""
    h, (first, second) = bundles_of(case, exact)
    u, v = utilities_of(h, first), utilities_of(h, second)
    margins = []
    for gamma in h.array(["1/3", "1/2"]) if exact else (1 / 3, 1 / 2):
        w = utilities_of(h, first * gamma + second * (1 - gamma))
        margins += [(gamma * a + (1 - gamma) * b - c) / g for a, b, c, g in zip(u, v, w, h.alone, strict=True)]
    return verdict_of(h, "concavity", max(margins), "the utility of a mixture is less than the mixture of the utilities")


def continuous(case: Case, exact: bool) -> Verdict:
    """f(h) is near f(0), which is where a concave function may jump; f is piecewise linear, and no slope is near 2^2000."""
    h, (first, second) = bundles_of(case, exact)
    step = F(1, 2**2000) if exact else 2.0**-40
    u, w = utilities_of(h, first), utilities_of(h, first * (1 - step) + second * step)
    jump = max(abs(a - b) / g for a, b, g in zip(u, w, h.alone, strict=True))
    return verdict_of(h, "continuity", jump - (F(1, 1000) if exact else 1e-3), f"f jumps by {jump} at 0")


def homogeneous(case: Case, exact: bool) -> Verdict:
    """u(g X) = g u(X) at g = 1/3 and 7."""
    h, (first, _) = bundles_of(case, exact)
    u = utilities_of(h, first)
    factors = (F(1, 3), F(7)) if exact else (1 / 3, 7.0)
    gaps = [
        abs(w - g * a) / h.alone[n] for g in factors for n, (a, w) in enumerate(zip(u, utilities_of(h, first * g), strict=True))
    ]
    return verdict_of(h, "homogeneity", max(gaps), "the utility of a multiple is not the multiple of the utility")


def mixture_fits(case: Case, exact: bool) -> Verdict:
    """Claim 1: a mixture of feasible allocations is feasible."""
    h, (first, second) = bundles_of(case, exact)
    used = (first * h.array(["1/3"])[0] + second * h.array(["2/3"])[0] if exact else (first + 2 * second) / 3).sum(axis=0)
    return verdict_of(h, "feasibility", (used - h.pools).max() / h.pools.max(), "a mixture needs more than there is")


def _unlimited(case: Case) -> None:
    if any(limit is not None for limit in case.instance.exact.max_tasks):
        raise NotApplicable("about utilities without limits")


def pivots_of(before: Sequence[Any], after: Sequence[Any], same: Any) -> list[int]:
    """theta(Y, Y'): the users of lowest utility in Y among those whose utility differs in Y' (Z Def 2)."""
    changed = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if abs(a - b) > same]
    least = min((before[n] for n in changed), default=0)
    return [n for n in changed if before[n] - least <= same]


def claim_2(case: Case, exact: bool) -> Verdict:
    """<Y'> is larger than <Y> iff u_j(Y'_j) > u_i(Y_i) for pivots i of Y and j of Y'."""
    h, (first, second) = bundles_of(case, exact)
    u, v, same = utilities_of(h, first), utilities_of(h, second), 0 if exact else 1e-9
    if not (own := pivots_of(u, v, same)):
        raise NotApplicable("the allocations have no pivot users")
    steps = [b - a for a, b in zip(sorted(u), sorted(v), strict=True) if abs(b - a) > same]
    larger = bool(steps) and steps[0] > 0
    other = pivots_of(v, u, same)
    said = bool(v[other[0]] - u[own[0]] > same)
    sentence = f"the utilities are {[str(a) for a in u]} and {[str(b) for b in v]}"
    return verdict_of(h, "claim", 1 if larger != said else -1, sentence)


def claim_2_if(case: Case, exact: bool) -> Verdict:
    """The direction that the proofs use: a higher pivot makes the allocation larger."""
    h, (first, second) = bundles_of(case, exact)
    u, v, same = utilities_of(h, first), utilities_of(h, second), 0 if exact else 1e-9
    if not (own := pivots_of(u, v, same)):
        raise NotApplicable("the allocations have no pivot users")
    steps = [b - a for a, b in zip(sorted(u), sorted(v), strict=True) if abs(b - a) > same]
    gap = v[pivots_of(v, u, same)[0]] - u[own[0]]
    margin = gap if gap > same and not (steps and steps[0] > 0) else -1
    return verdict_of(h, "claim", margin, "the pivot has more, but the allocation is not larger")


def lemma_3(case: Case, exact: bool) -> Verdict:
    """A pivot with more in Y' has more in (1-e) Y + e Y' too."""
    h, (first, second) = bundles_of(case, exact)
    u, v, same = utilities_of(h, first), utilities_of(h, second), 0 if exact else 1e-9
    step = F(1, 1024) if exact else 1 / 1024
    w = utilities_of(h, first * (1 - step) + second * step)
    gains = [(u[n] - w[n]) / (v[n] - u[n]) for n in pivots_of(u, v, same) if v[n] - u[n] > same]
    if not gains:
        raise NotApplicable("no pivot has more")
    return verdict_of(h, "lemma", max(gains) + step / 2, "the pivot gains nothing from a small step")


def corollary_1(every: bool) -> Judge:
    """The answer is LMMF, so no pivot with respect to another allocation (or: not all of them) may have more there."""

    def judge(case: Case, answer: Answer) -> Verdict:
        h = holdings_of(answer(case.instance))
        _, (other,) = bundles_of(case, h.exact)
        u, v, same = list(h.tasks), utilities_of(h, other), 0 if h.exact else TOLERANCE
        pivots = pivots_of(u, v, same)
        if not pivots:
            raise NotApplicable("the allocations have no pivot users")
        gains = [(v[n] - u[n]) / h.alone[n] for n in pivots]
        sentence = f"Y gives {[str(a) for a in u]} and is LMMF, Y' gives {[str(b) for b in v]}"
        return verdict_of(h, "corollary", min(gains) if every else max(gains), sentence)

    return judge


def wasteful_mmf(case: Case, exact: bool) -> Verdict:
    """The case's point, where it is max-min fair, is Pareto optimal."""
    (point,) = case.points
    allocation = Allocation(case.instance, np.array([float(v) for v in point]), x_exact=point if exact else None)
    if not max_min_fair(case, lambda _: allocation).holds:
        raise NotApplicable("the point is not max-min fair")
    return PARETO(case, lambda _: allocation)


def both(function: Any) -> Routes:
    """A check of two points, in floats and in rationals."""

    def trial(case: Case) -> Verdict:
        _unlimited(case)
        return _decided(function, case, False)

    def confirm(case: Case) -> Verdict:
        _unlimited(case)
        return _decided(function, case, True)

    return Routes(trial, confirm)


def _decided(function: Any, case: Case, exact: bool) -> Verdict:
    try:
        verdict: Verdict = function(case, exact)
    except Undecided as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "")
    return verdict
