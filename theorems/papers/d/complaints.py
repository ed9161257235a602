"""D (1)-(2) as printed, and how claims about all NJC allocations are judged, in rationals.

What a claim says of an allocation is a margin that is mostly a maximum of linear functions, so it is largest at a vertex. The
parameter `unentitled` is the number of the last users who are entitled to nothing, which D Theorem 1 allows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.solution_sets.njc_answers import polytopes
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, Verdict
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import about_mechanism
from fairalloc.theorems.checkers.trials import Answer, Routes, once

ZERO, ONE = Fraction(0), Fraction(1)


class Found(NamedTuple):
    """A signed margin, positive = violation, the sentence that describes it, and the allocations that show it."""

    margin: Any
    sentence: str
    points: Mapping[str, Any] = {}


AllocationMargin: TypeAlias = Callable[[Requests, Rationals], tuple[Any, str] | None]
"""The margin of a claim at one allocation, and what is so there; None = its hypothesis does not hold there."""


def data(case: Case) -> Requests:
    """D's data of a case."""
    d = requests(NoJustifiedComplaints().domain(case.instance))
    count = len(d.parts) - case.parameters.get("unentitled", 0)
    if count < 1:
        raise NotApplicable("somebody must be entitled to something")
    total = sum(d.entitlement[:count])
    entitled = tuple(e / total for e in d.entitlement[:count])
    return d if count == len(d.parts) else replace(d, entitlement=entitled + (ZERO,) * (len(d.parts) - count))


def users(d: Requests, x: Sequence[Any]) -> list[tuple[int, Any, Any, Fraction]]:
    """The number, x_i, the requests and the entitlement of each user."""
    return [(i, *own) for i, own in enumerate(zip(x, d.parts, d.entitlement, strict=True))]


def point_of_case(case: Case, k: int = 0) -> Rationals:
    """The k-th point of the case in fractions of requests."""
    return tuple(u / q for u, q in zip(exact_arcs(case.instance).tasks(case.points[k]), data(case).unit, strict=True))


def full(d: Requests, x: Sequence[Fraction]) -> list[int]:
    return sorted(d.bottlenecks(x))


def complaint(d: Requests, x: Sequence[Fraction]) -> Fraction:
    """0 where (1) and (2) hold, else the largest of the least entitlements missed, relative, and of the overloads."""
    bottlenecks, worst = full(d, x), max(ZERO, *(load - 1 for load in d.loads(x)), *(-v for v in x), *(v - 1 for v in x))
    for _, v, part, e in users(d, x):
        if v != 1 and not any(v * part.get(j, ZERO) >= e for j in bottlenecks):
            worst = max(worst, min([1 - v, *(1 - v * part.get(j, ZERO) / e for j in bottlenecks)]))
    return worst


def without(d: Requests, j: int) -> Requests:
    return replace(d, parts=tuple({k: r for k, r in part.items() if k != j} for part in d.parts))


def brackets(x: Iterable[Any]) -> str:
    return "(" + ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in x) + ")"


def all_fair(d: Requests) -> list[Rationals]:
    """The vertices of every P_I, by double description (analysis/solution_sets/njc_answers.py)."""
    return sorted({vertex for _, _, vertices in polytopes(d) for vertex in vertices})


def domain_vertices(d: Requests) -> list[Rationals]:
    """The vertices of the set of feasible allocations."""
    rows = [({i: part[j] for i, part in enumerate(d.parts) if j in part}, ONE) for j in range(d.R)]
    return sorted(polytope_vertices([ZERO] * len(d.parts), [ONE] * len(d.parts), [], rows))


def of_data(judge: Callable[[Case, Requests], Found], held: str = "", broken: str = "") -> Routes:
    """A judgement of all NJC allocations, or of the region, in rationals."""

    def decide(case: Case) -> Verdict:
        margin, sentence, points = judge(case, data(case))
        answers = broken if margin > 0 else held
        return Verdict("njc", not margin > 0, float(margin), sentence, "rational arithmetic", points, answers=answers)

    return once(decide)


def for_every(gap: AllocationMargin, convex: bool = False) -> Routes:
    """The largest margin of a claim over the corners of all NJC allocations."""

    def worst(_: Case, d: Requests) -> Found:
        found = [(*made, x) for x in all_fair(d) if (made := gap(d, x)) is not None]
        if not found:
            raise NotApplicable("the hypothesis of the claim holds at none of these allocations")
        margin, words, x = max(found, key=lambda made: made[0])
        return Found(margin, f"at x = {brackets(x)} {words}", {"x": x})

    return of_data(worst, FOR_ALL if convex else FOR_SOME, FOR_SOME)


def compared_with_drf(judge: Callable[[Requests, list[Rationals], Sequence[Any]], Found]) -> Routes:
    """A judgement of all NJC allocations and of the DRF allocation, in fractions of requests."""

    def compared(case: Case, answer: Answer) -> Verdict:
        d, allocation = data(case), answer(case.instance)
        margin, sentence, points = judge(d, all_fair(d), fractions(d, allocation))
        exact = allocation.x_exact is not None
        how = "rational arithmetic on a certificate" if exact else "floating point"
        return Verdict("njc", not margin > (0 if exact else TOLERANCE), float(margin), sentence, how, points)

    return about_mechanism("drf", compared)


def fractions(d: Requests, allocation: Allocation) -> list[Any]:
    """(N,) fractions of requests, in rationals where the allocation has them."""
    tasks, floats = allocation.tasks_exact, allocation.tasks_exact is None
    return [float(u) / float(q) if floats else u / q for u, q in zip(tasks or allocation.tasks, d.unit, strict=True)]
