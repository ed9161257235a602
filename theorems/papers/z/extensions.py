"""Section VI: utilities f of what the tasks take."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import few_rounds
from fairalloc.theorems.checkers.trials import Answer, Judge, Routes, yes_or_no
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


LEAP = F(10)
"""For f(c) = the sum of c, and LEAP more where c_1 > 0: concave, and it rises strictly along rays."""


def _largest(h: Holdings, leap: tuple[bool, ...], which: int, other: Fraction) -> Fraction | None:
    """Where some users have at least a floor of resource 1 and all others none, the largest least utility, or floor.

    For which = 0 the utility with this floor, for 1 the floor with this least utility; None = there is none.
    """
    size, user = h.instance.N, h.instance.arcs.user.tolist()
    own = [[int(m == n) for m in user] for n in range(size)]
    f, first = (-(np.array(own, dtype=object) * part) for part in (h.demand.sum(axis=1), h.demand[:, 0]))
    most = [[*row, F(1 - which)] for row in f] + [[*row, F(which)] for row, v in zip(first, leap, strict=True) if v]
    most += [[*-row, F(0)] for row, v in zip(first, leap, strict=True) if not v] + [[*row, F(0)] for row in h.demand.T]
    sides = [v * LEAP - other * which for v in leap] + [other * (which - 1) for v in leap if v] + [F(0) for v in leap if not v]
    only = np.array([F(0)] * len(user) + [F(1)], dtype=object)
    found = maximum(only, np.array(most, dtype=object), np.array([*sides, *h.pools[0]], dtype=object), True)
    return None if found is None else F(found.value)


def least_utility_is_attained(case: Case) -> Verdict:
    """There is an allocation with the largest least utility f, by what users who leap can have of resource 1."""
    h = Holdings(Allocation(case.instance, np.zeros(len(case.instance.arcs))), True)

    def can_have(who: tuple[bool, ...], least: Fraction) -> bool:
        return not any(who) or (_largest(h, who, 1, least) or 0) > 0

    found = {who: _largest(h, who, 0, F(0)) for who in product((False, True), repeat=case.instance.N) if can_have(who, F(0))}
    best = max(value for value in found.values() if value is not None)
    attained = any(can_have(who, best) for who, value in found.items() if value == best)
    words = f"the least utility can be as near to {best} as wanted, and in no allocation is it as much"
    return yes_or_no("existence", attained, words)
