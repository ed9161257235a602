"""Section VI: utilities f of what the tasks take."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import few_rounds
from fairalloc.theorems.checkers.trials import Answer, Judge, Routes
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
