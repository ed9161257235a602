"""Utilities and pivot users: Z's claims and lemmas about any allocations of tasks (IV-A, IV-B), in rationals; and utilities f of
what the tasks take (VI).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import few_rounds, holdings_of, max_min_fair, verdict_of
from fairalloc.theorems.checkers.trials import Answer, Judge, Routes, Undecided, property_judge, rational_allocation

F = Fraction
PARETO = property_judge("pareto")


def bundles_of(case: Case, exact: bool = True) -> tuple[Holdings, list[Any]]:
    """What everybody holds in each point of the case, (N, 1, R)."""
    found = [Holdings(rational_allocation(case.instance, point), exact) for point in case.points]
    return found[0], [h.bundles for h in found]


def utilities_of(h: Holdings, bundles: Any) -> list[Any]:
    return [h.utilities(n, bundles[n : n + 1])[0] for n in range(h.instance.N)]


def of_two_points(check: Callable[[Holdings, Any, Any], tuple[str, Any, str]]) -> Callable[[Case], Verdict]:
    """A check (name, margin, sentence) of what users without limits hold in the points of a case."""

    def decide(case: Case) -> Verdict:
        if any(limit is not None for limit in case.instance.exact.max_tasks):
            raise NotApplicable("about utilities without limits")
        h, bundles = bundles_of(case)
        return verdict_of(h, *check(h, bundles[0], bundles[-1]))

    return decide


def concave(h: Holdings, first: Any, second: Any) -> tuple[str, Any, str]:
    """u(g X + (1-g) X') >= g u(X) + (1-g) u(X') at g = 1/3 and 1/2, for what every user holds in two allocations."""
    u, v, margins = utilities_of(h, first), utilities_of(h, second), []
    for gamma in (F(1, 3), F(1, 2)):
        w = utilities_of(h, first * gamma + second * (1 - gamma))
        margins += [(gamma * a + (1 - gamma) * b - c) / g for a, b, c, g in zip(u, v, w, h.alone, strict=True)]
    return "concavity", max(margins), "the utility of a mixture is less than the mixture of the utilities"


def continuous(h: Holdings, first: Any, second: Any) -> tuple[str, Any, str]:
    """f(h) is near f(0), which is where a concave function may jump; f is piecewise linear, and no slope is near 2^2000."""
    w = utilities_of(h, first * (1 - TINY) + second * TINY)
    jump = max(abs(a - b) / g for a, b, g in zip(utilities_of(h, first), w, h.alone, strict=True))
    return "continuity", jump - F(1, 1000), f"f jumps by {jump} at 0"


def homogeneous(h: Holdings, first: Any, _: Any) -> tuple[str, Any, str]:
    """u(g X) = g u(X) at g = 1/3 and 7."""
    u = utilities_of(h, first)
    scaled = [(g, utilities_of(h, first * g)) for g in (F(1, 3), F(7))]
    gaps = [abs(w - g * a) / one for g, after in scaled for a, w, one in zip(u, after, h.alone, strict=True)]
    return "homogeneity", max(gaps), "the utility of a multiple is not the multiple of the utility"


def mixture_fits(h: Holdings, first: Any, second: Any) -> tuple[str, Any, str]:
    """Claim 1: a mixture of feasible allocations is feasible."""
    used = (first * F(1, 3) + second * F(2, 3)).sum(axis=0)
    return "feasibility", (used - h.pools).max() / h.pools.max(), "a mixture needs more than there is"


TINY = F(1, 2**2000)
"""A step from one allocation to another; what numbers of these sizes do along it, they do from 0 on."""


def pivots_of(before: Sequence[Any], after: Sequence[Any], same: Any = 0) -> list[int]:
    """theta(Y, Y'): the users of lowest utility in Y among those whose utility differs in Y' (Z Def 2)."""
    changed = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if abs(a - b) > same]
    least = min((before[n] for n in changed), default=0)
    return [n for n in changed if before[n] - least <= same]


def some_pivots(before: Sequence[Any], after: Sequence[Any], same: Any = 0) -> list[int]:
    """The same; NotApplicable where there are none."""
    if not (found := pivots_of(before, after, same)):
        raise NotApplicable("the allocations have no pivot users")
    return found


def claim_2_if(h: Holdings, first: Any, second: Any) -> tuple[str, Any, str]:
    """The direction that the proofs use: a higher pivot makes the allocation larger."""
    u, v = utilities_of(h, first), utilities_of(h, second)
    gap = v[some_pivots(v, u)[0]] - u[some_pivots(u, v)[0]]
    wrong = gap > 0 and not sorted(v) > sorted(u)
    return "claim", gap if wrong else -1, "the pivot has more, but the allocation is not larger"


def lemma_3(h: Holdings, first: Any, second: Any) -> tuple[str, Any, str]:
    """A pivot with more in Y' has more in (1-e) Y + e Y' too."""
    step = F(1, 1024)
    u, v, w = (utilities_of(h, part) for part in (first, second, first * (1 - step) + second * step))
    gains = [(u[n] - w[n]) / (v[n] - u[n]) for n in pivots_of(u, v) if v[n] > u[n]]
    if not gains:
        raise NotApplicable("no pivot has more")
    return "lemma", max(gains) + step / 2, "the pivot gains nothing from a small step"


def corollary_1(every: bool, case: Case, answer: Answer) -> Verdict:
    """The answer is LMMF, so no pivot with respect to another allocation (or: not all of them) may have more there."""
    h = holdings_of(answer(case.instance))
    _, (other,) = bundles_of(case, h.exact)
    u, v = list(h.tasks), utilities_of(h, other)
    gains = [(v[n] - u[n]) / h.alone[n] for n in some_pivots(u, v, 0 if h.exact else TOLERANCE)]
    sentence = f"Y gives {[str(a) for a in u]} and is LMMF, Y' gives {[str(b) for b in v]}"
    return verdict_of(h, "corollary", min(gains) if every else max(gains), sentence)


def wasteful_mmf(case: Case) -> Verdict:
    """The case's point, where it is max-min fair, is Pareto optimal."""
    allocation = rational_allocation(case.instance, case.points[0])
    try:
        fair = max_min_fair(case, lambda _: allocation).holds
    except Undecided as reason:
        return undecided(reason, "")
    if not fair:
        raise NotApplicable("the point is not max-min fair")
    return PARETO(case, lambda _: allocation)


# ---- VI: utilities f of what the tasks take --------------------------------------------------------------------------


VALUES = ((1, 2, 3), (3, 1, 2), (2, 3, 1))
"""For f_n(c) = p_n . c, a positive linear function of what the tasks of user n take: p_n by user, in turn."""


def _valued(instance: Instance, different: bool) -> Instance:
    """The instance with demands d / p_n . d, of which n runs f_n(c) tasks where its tasks take c."""
    if instance.exact.demands_on:
        raise NotApplicable("Z has one pool, on which nobody has demands of its own")
    rows = []
    for n, demands in enumerate(instance.exact.demands):
        p = VALUES[n % len(VALUES) if different else 0]
        rows.append([[v / sum(F(w) * u for w, u in zip(p, row, strict=False)) for v in row] for row in demands])
    return instance.replace(demands=rows)


def linear(judge: Judge, different: bool, case: Case, answer: Answer) -> Verdict:
    """The judge, where user n has f_n(c) = p_n . c, or f_1 for all; reports are of demands, and the mechanism knows p_n."""
    told = case.misreport
    if told is not None:
        rows = _valued(case.reported, different).exact.demands
        parts = tuple(None if d is None else rows[n] for n, d in zip(told.users, told.demands, strict=True))
        told = replace(told, demands=parts)
    return judge(replace(case, instance=_valued(case.instance, different), misreport=told), answer)


def midpoint(case: Case) -> Verdict:
    """The mean of two allocations is lexicographically larger than that in which a user who differs has the least utility.

    In rationals, for f(c) = sum of c_r / (1 + c_r).
    """
    first, second, different = taken(case)
    u, v, middle = ([sum(r / (1 + r) for r in c) for c in part] for part in (first, second, mean(first, second)))
    n = min(different, key=lambda m: min(u[m], v[m]))
    steps = [b - a for a, b in zip(sorted(u if u[n] <= v[n] else v), sorted(middle), strict=True) if a != b]
    gain = steps[0] if steps else F(0)
    words = f"of the sorted utilities the first that differs rises by {float(gain):.3g}"
    return Verdict("uniqueness", gain > 0, float(-gain), words, "rational arithmetic")


def taken(case: Case) -> tuple[list[Any], list[Any], list[int]]:
    """What the tasks of each user take in the two points of a case, and the users for whom it differs."""
    h, bundles = bundles_of(case)
    first, second = ([row[n].sum(axis=0) for n in range(h.instance.N)] for row in bundles)
    different = [n for n, (a, b) in enumerate(zip(first, second, strict=True)) if (a != b).any()]
    if not different:
        raise NotApplicable("tasks take the same in both allocations")
    return first, second, different


def mean(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [(a + b) / 2 for a, b in zip(first, second, strict=True)]


def valued_rounds() -> Routes:
    """The linear programs of LMMF for linear f_n, at most one for each user."""
    counted = few_rounds("lmmf")
    return Routes(
        lambda case: counted.trial(replace(case, instance=_valued(case.instance, True))),
        lambda case: counted.confirm(replace(case, instance=_valued(case.instance, True))),
    )
