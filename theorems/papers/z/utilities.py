"""Utilities and pivot users: Z's claims and lemmas about any allocations of tasks (IV-A, IV-B), in rationals; and utilities f of
what the tasks take (VI).

Last section V: Lemma 4, the proofs of Theorems 1 and 2, and unused resources that are allocated. What the cases of the proof of
Theorem 1 conclude, that an allocation is not LMMF, does not rest on the other one being LMMF, so they are tried on any two
allocations, where they say something.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction as F
from itertools import permutations
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import (
    Answer,
    Judge,
    Routes,
    holdings_of,
    misreport_of,
    once,
    only_where,
    rational_allocation,
    verdict_of,
)


def bundles_of(case: Case, exact: bool = True) -> tuple[Holdings, list[Any]]:
    """What everybody holds in each point of the case, (N, 1, R)."""
    found = [Holdings(rational_allocation(case.instance, point), exact) for point in case.points]
    return found[0], [h.bundles for h in found]


def utilities_of(h: Holdings, bundles: Any) -> list[Any]:
    return [h.utilities(n, bundles[n : n + 1])[0] for n in range(h.instance.N)]


def of_two_points(check: Callable[[Holdings, Any, Any], tuple[str, Any, str]]) -> Callable[[Case], Verdict]:
    """A check (name, margin, sentence) of what users without limits hold in the points of a case."""

    def decide(case: Case) -> Verdict:
        only_where(not any(limit is not None for limit in case.instance.exact.max_tasks), "about utilities without limits")
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
    only_where(found := pivots_of(before, after, same), "the allocations have no pivot users")
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
    only_where(gains, "no pivot has more")
    return "lemma", max(gains) + step / 2, "the pivot gains nothing from a small step"


def corollary_1(every: bool, case: Case, answer: Answer) -> Verdict:
    """The answer is LMMF, so no pivot with respect to another allocation (or: not all of them) may have more there."""
    h = holdings_of(answer(case.instance))
    _, (other,) = bundles_of(case, h.exact)
    u, v = list(h.tasks), utilities_of(h, other)
    gains = [(v[n] - u[n]) / h.alone[n] for n in some_pivots(u, v, 0 if h.exact else TOLERANCE)]
    sentence = f"Y gives {[str(a) for a in u]} and is LMMF, Y' gives {[str(b) for b in v]}"
    return verdict_of(h, "corollary", min(gains) if every else max(gains), sentence)


# ---- VI: utilities f of what the tasks take --------------------------------------------------------------------------


VALUES = ((1, 2, 3), (3, 1, 2), (2, 3, 1))
"""For f_n(c) = p_n . c, a positive linear function of what the tasks of user n take: p_n by user, in turn."""


def valued(instance: Instance, different: bool) -> Instance:
    """The instance with demands d / p_n . d, of which n runs f_n(c) tasks where its tasks take c."""
    only_where(not instance.exact.demands_on, "Z has one pool, on which nobody has demands of its own")
    rows = []
    for n, demands in enumerate(instance.exact.demands):
        p = VALUES[n % len(VALUES) if different else 0]
        rows.append([[v / sum(F(w) * u for w, u in zip(p, row, strict=False)) for v in row] for row in demands])
    return instance.replace(demands=rows)


def linear(judge: Judge, different: bool, case: Case, answer: Answer) -> Verdict:
    """The judge, where user n has f_n(c) = p_n . c, or f_1 for all; reports are of demands, and the mechanism knows p_n."""
    told = case.misreport
    if told is not None:
        rows = valued(case.reported, different).exact.demands
        parts = tuple(None if d is None else rows[n] for n, d in zip(told.users, told.demands, strict=True))
        told = replace(told, demands=parts)
    return judge(replace(case, instance=valued(case.instance, different), misreport=told), answer)


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
    only_where(different, "tasks take the same in both allocations")
    return first, second, different


def mean(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [(a + b) / 2 for a, b in zip(first, second, strict=True)]


def _unused(h: Holdings) -> Any:
    return np.maximum(h.pools - h.bundles.sum(axis=0), 0)


def lemma_4(wasteful: bool, case: Case, answer: Answer) -> Verdict:
    """u_i(Y_i) >= u'_i(Y_i), with D' the reported demands: Y_i is what i's tasks take, or that and all that is left unused."""
    if case.misreport is None:
        raise NotApplicable("there is no other specification of demands")
    h = holdings_of(answer(case.instance))
    other, left = _dual(case, h.exact), _unused(h) * int(wasteful)
    gaps = [(other.utilities(n, h.bundles[n : n + 1] + left)[0] - h.tasks[n]) / h.alone[n] for n in case.misreport.users]
    return verdict_of(h, "lemma", max(gaps), "the other demands pack more tasks into the same resources")


def _dual(case: Case, exact: bool) -> Holdings:
    """What users can run by the reported demands."""
    return Holdings(Allocation(case.reported, np.zeros(len(case.reported.arcs))), exact)


def envy(leftovers: bool, case: Case, answer: Answer) -> Verdict:
    """Nobody prefers another's resources, or these and all unused ones, which Definition 1 allows to give to one user.

    A weight w_n stands for f_n(u) = u / w_n, and is not asked here.
    """
    h = holdings_of(answer(case.reported))
    left, pairs = _unused(h) * int(leftovers), permutations(range(h.instance.N), 2)
    gaps = [(h.utilities(n, h.bundles[m : m + 1] + left)[0] - h.tasks[n]) / h.alone[n] for n, m in pairs]
    return verdict_of(h, "envy-freeness", max(gaps), "somebody would run more tasks with what another user is given")


class Manipulation:
    """Y, of what tasks take by the true demands D, and Y', of what they take by the report D' of user i; any such allocations.

    h, dual : what users can run by D and by D'
    first, second : Y and Y', (N, 1, R)
    by_truth, by_report : utilities u in Y and in Y', and u' in Y' and in Y
    """

    def __init__(self, case: Case) -> None:
        """Y is the first point of a case. In Y' user i runs its tasks of the second point by its report, and all that fits."""
        (self.i,) = misreport_of(case).users
        (self.h, (self.first, second)), self.dual = bundles_of(case), _dual(case, True)
        rows = self.dual.demand[self.dual.own(self.i)]
        second[self.i] = second[self.i].sum() * rows.sum(axis=0) / len(rows)
        spare = [c / u for c, u in zip(self.h.pools[0], second.sum(axis=0)[0], strict=True) if u > c]
        self.second = second * min(spare, default=1)
        self.by_truth = utilities_of(self.h, self.first), utilities_of(self.h, self.second)
        self.by_report = utilities_of(self.dual, self.second), utilities_of(self.dual, self.first)

    @property
    def pivots(self) -> tuple[list[int], list[int]]:
        """theta(Y, Y') and theta(Y', Y), by u."""
        u, v = self.by_truth
        return some_pivots(u, v), pivots_of(v, u)

    @property
    def rise(self) -> Any:
        """What the pivots of Y' have in Y' beyond what those of Y have in Y."""
        (u, v), ((q, *_), (other, *_)) = self.by_truth, self.pivots
        return v[other] - u[q]

    @property
    def gain(self) -> Any:
        """What user i has more in Y' than in Y."""
        u, v = self.by_truth
        return v[self.i] - u[self.i]

    def refutes_first(self) -> bool:
        """Whether Y is not LMMF for D, by a step to Y'."""
        return improved(self.h, self.first, self.second)

    def refutes_second(self) -> bool:
        """Whether Y' is not LMMF for D', by a step to Y."""
        return improved(self.dual, self.second, self.first)


def improved(h: Holdings, start: Any, end: Any) -> bool:
    """Whether a tiny step leads to a lexicographically larger allocation."""
    return sorted(utilities_of(h, start * (1 - TINY) + end * TINY)) > sorted(utilities_of(h, start))


def step_of_theorem_1(about: Callable[[Manipulation], bool], otherwise: str, check: Callable[[Manipulation], bool]) -> Routes:
    """What is so where a step of the proof is about a manipulation, and the reason where it is not."""

    def decide(case: Case) -> Verdict:
        at = Manipulation(case)
        only_where(about(at), otherwise)
        holds, (u, v) = check(at), at.by_truth
        words = f"Y gives {[str(a) for a in u]} and Y' {[str(b) for b in v]}, and user {at.i + 1} misreports"
        return verdict_of(at.h, "theorem 1", -1 if holds else 1, words)

    return once(decide)


def nothing_of_a_richer_bundle(case: Case, answer: Answer) -> Verdict:
    """Case 2 of the proof of Theorem 2: if user i has less than user j, what j has is worth nothing to i."""
    h = holdings_of(answer(case.reported))
    same = 0 if h.exact else TOLERANCE
    pairs = [(n, m) for n, m in permutations(range(h.instance.N), 2) if h.tasks[m] - h.tasks[n] > same * h.alone[n]]
    only_where(pairs, "all have as much")
    worth, n, m = max((h.utilities(n, h.bundles[m : m + 1])[0] / h.alone[n], n, m) for n, m in pairs)
    words = f"user {n + 1} runs {h.tasks[n]} tasks and user {m + 1} {h.tasks[m]}, whose bundle is worth something to it"
    return verdict_of(h, "theorem 2", worth, words)
