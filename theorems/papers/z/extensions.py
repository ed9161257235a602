"""Section VI: utilities f of what the tasks take."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import few_rounds, holdings_of, verdict_of
from fairalloc.theorems.judges.trials import Answer, Judge, Routes
from fairalloc.theorems.papers.z.utilities import bundles_of

F = Fraction


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


def linear(judge: Judge, different: bool) -> Judge:
    """The judge, where user n has f_n(c) = p_n . c, or f_1 for all; reports are of demands, and the mechanism knows p_n."""

    def judged(case: Case, answer: Answer) -> Verdict:
        told = case.misreport
        if told is not None:
            rows = _valued(case.reported, different).exact.demands
            parts = tuple(None if d is None else rows[n] for n, d in zip(told.users, told.demands, strict=True))
            told = replace(told, demands=parts)
        return judge(replace(case, instance=_valued(case.instance, different), misreport=told), answer)

    return judged


def midpoint(case: Case) -> Verdict:
    """The mean of two allocations is lexicographically larger than that in which a user who differs has the least utility.

    In rationals, for f(c) = sum of c_r / (1 + c_r).
    """
    first, second, different = _taken(case, True)
    u, v, middle = ([sum(r / (1 + r) for r in c) for c in part] for part in (first, second, _mean(first, second)))
    n = min(different, key=lambda m: min(u[m], v[m]))
    steps = [b - a for a, b in zip(sorted(u if u[n] <= v[n] else v), sorted(middle), strict=True) if a != b]
    gain = steps[0] if steps else F(0)
    words = f"of the sorted utilities the first that differs rises by {float(gain):.3g}"
    return Verdict("uniqueness", gain > 0, float(-gain), words, "rational arithmetic")


def midpoint_in_floats(case: Case) -> Verdict:
    """In the mean nobody who differs has less than the least of their utilities; for f(c) = sum of log(1 + c_r)."""
    first, second, different = _taken(case, False)
    u, v, middle = ([float(np.log1p(c).sum()) for c in part] for part in (first, second, _mean(first, second)))
    least = min(min(u[n], v[n]) for n in different)
    fall = (least - min(middle[n] for n in different)) / max(*u, *v)
    return Verdict("uniqueness", not fall > TOLERANCE, fall, f"the least utility falls by {fall:.3g}, relative", "floating point")


def _taken(case: Case, exact: bool) -> tuple[list[Any], list[Any], list[int]]:
    """What the tasks of each user take in the two points of a case, and the users for whom it differs."""
    h, bundles = bundles_of(case, exact)
    first, second = ([row[n].sum(axis=0) for n in range(h.instance.N)] for row in bundles)
    different = [n for n, (a, b) in enumerate(zip(first, second, strict=True)) if (a != b).any()]
    if not different:
        raise NotApplicable("tasks take the same in both allocations")
    return first, second, different


def _mean(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [(a + b) / 2 for a, b in zip(first, second, strict=True)]


def plain_envy(case: Case, answer: Answer) -> Verdict:
    """Envy between users of unequal f: nobody prefers another's resources; a weight w_n stands for f_n(u) = u / w_n."""
    h = holdings_of(answer(case.reported))
    gaps = [
        (h.utilities(n, h.bundles[m : m + 1])[0] - h.tasks[n]) / h.alone[n]
        for n in range(h.instance.N)
        for m in range(h.instance.N)
        if n != m
    ]
    return verdict_of(h, "envy-freeness", max(gaps), "somebody would run more tasks with the resources of another")


def valued_rounds() -> Routes:
    """The linear programs of LMMF for linear f_n, at most one for each user."""
    counted = few_rounds("lmmf")
    return Routes(
        lambda case: counted.trial(replace(case, instance=_valued(case.instance, True))),
        lambda case: counted.confirm(replace(case, instance=_valued(case.instance, True))),
    )


# ---- an f that leaps ------------------------------------------------------------------------------------------------

LEAP = F(10)
"""For f(c) = the sum of c, and LEAP more where c_1 > 0: concave, and it rises strictly along rays."""

NEAR = 1e-5
"""In floats, how much of resource 1 everybody who leaps has at least."""


@dataclass(frozen=True)
class Leapers:
    """Allocations in which some users have at least `floor` of resource 1, and all others nothing of it.

    Attributes
    ----------
    h : demands and pools
    leap : whether user n is one of them
    """

    h: Holdings
    leap: tuple[bool, ...]

    def most(self, floor: Any) -> Any:
        """The largest least utility f, None where there is no such allocation."""
        return self._largest(0, floor)

    def can_have(self, least: Any) -> bool:
        """Whether each of them can have some of resource 1 where nobody has less than this utility."""
        return not any(self.leap) or (self._largest(1, least) or 0) > 0

    def _largest(self, which: int, other: Any) -> Any:
        """The largest of (least utility, floor), where the other one is given."""
        h, arcs = self.h, self.h.instance.arcs
        size, count = h.instance.N, len(arcs)
        own = h.zeros(size, count)
        own[arcs.user, np.arange(count)] = h.array(np.ones(count, dtype=int))
        leap, one = h.array([int(v) for v in self.leap]), h.array([1])[0]
        zero, ones = h.zeros(size, 1), h.zeros(size, 1) + one
        f = np.hstack([-own * h.demand.sum(axis=1), ones if which == 0 else zero])
        first = np.hstack([own * h.demand[:, 0], zero])
        floors = np.hstack([-own * h.demand[:, 0], ones if which == 1 else zero])[self.leap, :]
        load = np.hstack([h.demand.T, h.zeros(h.instance.R, 1)])
        rows = np.concatenate([f, first[[not v for v in self.leap]], floors, load])
        least = leap * (LEAP if h.exact else float(LEAP)) - (other if which == 1 else 0)
        sides = [least, h.zeros(size - sum(self.leap)), h.zeros(sum(self.leap)) - (other if which == 0 else 0), h.pools[0]]
        only = h.zeros(count + 1)
        only[count] = one
        found = maximum(only, rows, np.concatenate(sides), h.exact)
        return None if found is None else found.value


def least_utility_is_attained(case: Case) -> Verdict:
    """There is an allocation with the largest least utility f; in rationals, by what its leapers can have of resource 1."""
    found = {who: who.most(F(0)) for who in _all_leapers(case, True) if who.can_have(F(0))}
    best = max(found.values())
    attained = any(who.can_have(best) for who, value in found.items() if value == best)
    return _attained(attained, best, "rational arithmetic")


def least_utility_is_attained_in_floats(case: Case) -> Verdict:
    """The same, by what is lost where everybody who leaps has a little of resource 1."""
    found = [(who.most(0.0), who.most(NEAR)) for who in _all_leapers(case, False)]
    best = max(value for value, near in found if near is not None)
    attained = any(near is not None and best - near <= NEAR * TOLERANCE for _, near in found)
    return _attained(attained, best, "floating point") if attained else least_utility_is_attained(case)


def _all_leapers(case: Case, exact: bool) -> list[Leapers]:
    h = Holdings(Allocation(case.instance, np.zeros(len(case.instance.arcs))), exact)
    return [Leapers(h, leap) for leap in product((False, True), repeat=case.instance.N)]


def _attained(attained: bool, best: Any, how: str) -> Verdict:
    words = f"the least utility can be as near to {best} as wanted, and in no allocation is it as much"
    return Verdict("existence", attained, -1.0 if attained else 1.0, words, how)
