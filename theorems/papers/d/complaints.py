r"""What claims of D are tried and confirmed with: D (1)-(2) as printed, and two unrelated ways to all NJC allocations.

    by_polytopes    the vertices of every P_I by double description (analysis/solution_sets/njc_answers.py)
    by_equations    the solutions of every N of the equations  sum_i x_i r_ij = 1,  x_i = 1,  x_i r_ij = e_i  that have one and
                    fulfil (1)-(2); a vertex of P_I is the solution of N such equations, so none is missing

Both are in rationals. What a claim says of an allocation is a margin that is mostly convex in x (a maximum of linear functions),
so it is largest over all NJC allocations at a vertex; where a margin is not convex, a violation is one nevertheless.

The parameter `unentitled` of a case is the number of its last users who are entitled to nothing, which D Theorem 1 allows; other
users share by their weights.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any, TypeAlias

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.solution_sets.njc_answers import polytopes
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, Verdict
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.exact.rationals import Rationals, as_flint, as_fraction
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Answer, Routes, attempted, proved

ZERO, ONE = Fraction(0), Fraction(1)

Route: TypeAlias = Callable[[Requests], list[Rationals]]
MarginAndSentence: TypeAlias = tuple[Any, str]
"""A signed margin, positive = violation, and the sentence that describes it."""
AllocationMargin: TypeAlias = Callable[[Requests, Rationals], MarginAndSentence | None]
"""The margin of a claim at one allocation; None = its hypothesis does not hold there."""
RouteJudge: TypeAlias = Callable[[Case, Route], MarginAndSentence]


def data(case: Case) -> Requests:
    """D's data of a case."""
    d = requests(NoJustifiedComplaints().domain(case.instance))
    count = len(d.parts) - case.parameters.get("unentitled", 0)
    if count < 1:
        raise NotApplicable("somebody must be entitled to something")
    total = sum(d.entitlement[:count])
    entitled = tuple(e / total for e in d.entitlement[:count])
    return d if count == len(d.parts) else replace(d, entitlement=entitled + (ZERO,) * (len(d.parts) - count))


# ---- D (1) and (2) --------------------------------------------------------------------------------------------------


def loads(d: Requests, x: Sequence[Fraction]) -> Rationals:
    """(R,) sum_i x_i r_ij."""
    return tuple(sum((v * part.get(j, ZERO) for v, part in zip(x, d.parts, strict=True)), ZERO) for j in range(d.R))


def full(d: Requests, x: Sequence[Fraction]) -> list[int]:
    """The bottlenecks J(x)."""
    return [j for j, load in enumerate(loads(d, x)) if load == 1]


def complaint(d: Requests, x: Sequence[Fraction]) -> Fraction:
    """0 where (1) and (2) hold, else the largest of the least entitlements missed, relative, and of the overloads."""
    bottlenecks, worst = full(d, x), max(ZERO, *(load - 1 for load in loads(d, x)), *(-v for v in x), *(v - 1 for v in x))
    for v, part, e in zip(x, d.parts, d.entitlement, strict=True):
        if v != 1 and not any(v * part.get(j, ZERO) >= e for j in bottlenecks):
            worst = max(worst, min([1 - v, *(1 - v * part.get(j, ZERO) / e for j in bottlenecks)]))
    return worst


# ---- all allocations that fulfil them -------------------------------------------------------------------------------


def by_polytopes(d: Requests) -> list[Rationals]:
    """The vertices of every P_I."""
    return sorted({vertex for _, _, vertices in polytopes(d) for vertex in vertices})


def by_equations(d: Requests) -> list[Rationals]:
    """The solutions of N equations that fulfil (1) and (2)."""
    values = [
        {ONE, *(e / r for r in part.values() if r >= e), *([ZERO] if e == 0 else [])}
        for part, e in zip(d.parts, d.entitlement, strict=True)
    ]
    return sorted(x for x in _solutions(d, values) if complaint(d, x) == 0)


def domain_vertices(route: Route, d: Requests) -> list[Rationals]:
    """The vertices of the set of feasible allocations, in the manner of the route."""
    if route is by_polytopes:
        rows = [({i: part[j] for i, part in enumerate(d.parts) if j in part}, ONE) for j in range(d.R)]
        return sorted(polytope_vertices([ZERO] * len(d.parts), [ONE] * len(d.parts), [], rows))
    ends = [{ZERO, ONE}] * len(d.parts)
    return sorted(x for x in _solutions(d, ends) if min(x) >= 0 and max(x) <= 1 and max(loads(d, x)) <= 1)


def _solutions(d: Requests, values: Sequence[set[Fraction]]) -> set[Rationals]:
    """The points at which some resources are full and all but as many users have one of their values."""
    count = len(values)
    found: set[Rationals] = set()
    for size in range(min(count, d.R) + 1):
        for free, bottlenecks in product(combinations(range(count), size), combinations(range(d.R), size)):
            found.update(_completed(d, values, free, bottlenecks))
    return found


def _completed(
    d: Requests, values: Sequence[set[Fraction]], free: tuple[int, ...], bottlenecks: tuple[int, ...]
) -> Iterator[Rationals]:
    from flint import fmpq_mat

    entries = [d.parts[i].get(j, ZERO) for j in bottlenecks for i in free]
    matrix = fmpq_mat(len(free), len(free), [as_flint(v) for v in entries])
    if free and matrix.det() == 0:
        return
    inverse = matrix.inv() if free else matrix
    for fixed in product(*(sorted({ZERO} if i in free else v) for i, v in enumerate(values))):
        left = [1 - sum((v * part.get(j, ZERO) for v, part in zip(fixed, d.parts, strict=True)), ZERO) for j in bottlenecks]
        found = inverse * fmpq_mat(len(free), 1, [as_flint(v) for v in left])
        solved = {i: as_fraction(found[k, 0]) for k, i in enumerate(free)}
        yield tuple(solved.get(i, v) for i, v in enumerate(fixed))


def without(d: Requests, j: int) -> Requests:
    """The data without the requests for a resource."""
    parts = tuple({k: r for k, r in part.items() if k != j} for part in d.parts)
    return replace(d, parts=parts)


# ---- trials and confirmations -----------------------------------------------------------------------------------------


def two_ways(judge: RouteJudge, held: str = "", broken: str = "") -> Routes:
    """A judgement of all NJC allocations: tried on those by double description, confirmed on those by equations."""
    return Routes(*(partial(_judged, judge, route, held=held, broken=broken) for route in (by_polytopes, by_equations)))


def for_every(gap: AllocationMargin, convex: bool = False) -> Routes:
    """The largest margin of a claim over the corners of all NJC allocations."""
    return two_ways(partial(_worst, gap), FOR_ALL if convex else FOR_SOME, FOR_SOME)


def _worst(gap: AllocationMargin, case: Case, route: Route) -> MarginAndSentence:
    d = data(case)
    found = [made for x in route(d) if (made := gap(d, x)) is not None]
    if not found:
        raise NotApplicable("the hypothesis of the claim holds at none of these allocations")
    return max(found, key=lambda made: made[0])


def _judged(judge: RouteJudge, route: Route, case: Case, *, held: str, broken: str) -> Verdict:
    margin, sentence = judge(case, route)
    how = "double description" if route is by_polytopes else "rational arithmetic on solutions of equations"
    return Verdict("njc", not margin > 0, float(margin), sentence, how, answers=broken if margin > 0 else held)


def compared_with_drf(judge: Callable[[Requests, list[Rationals], Sequence[Any]], MarginAndSentence]) -> Routes:
    """A judgement of all NJC allocations and of the DRF allocation, in fractions of requests, which is certified to confirm."""
    return Routes(
        attempted("drf", partial(_compared, judge, by_polytopes)), proved("drf", partial(_compared, judge, by_equations))
    )


def _compared(judge: Callable[..., MarginAndSentence], route: Route, case: Case, answer: Answer) -> Verdict:
    d, allocation = data(case), answer(case.instance)
    margin, sentence = judge(d, route(d), fractions(d, allocation))
    exact = allocation.x_exact is not None
    how = "rational arithmetic on a certificate" if exact else "floating point"
    return Verdict("njc", not margin > (0 if exact else TOLERANCE), float(margin), sentence, how)


def fractions(d: Requests, allocation: Allocation) -> list[Any]:
    """(N,) fractions of requests, in rationals where the allocation has them."""
    tasks = allocation.tasks_exact
    if tasks is not None:
        return [u / q for u, q in zip(tasks, d.unit, strict=True)]
    return [float(u) / float(q) for u, q in zip(allocation.tasks, d.unit, strict=True)]


def brackets(x: Sequence[Any]) -> str:
    """A point in brackets."""
    return "(" + ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in x) + ")"
