r"""D (1)-(2) as printed, and two unrelated ways to all NJC allocations, both in rationals.

    by_polytopes    the vertices of every P_I by double description (analysis/solution_sets/njc_answers.py)
    by_equations    the solutions of every N of the equations  sum_i x_i r_ij = 1,  x_i = 1,  x_i r_ij = e_i  that have one and
                    fulfil (1)-(2); a vertex of P_I is the solution of N such equations, so none is missing

What a claim says of an allocation is a margin that is mostly a maximum of linear functions, so it is largest at a vertex. The
parameter `unentitled` is the number of the last users who are entitled to nothing, which D Theorem 1 allows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.solution_sets.njc_answers import polytopes
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, Verdict
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.exact.rationals import Rationals, exact_arcs, solved
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Answer, Routes, attempted, proved

ZERO, ONE = Fraction(0), Fraction(1)


class Found(NamedTuple):
    """A signed margin, positive = violation, the sentence that describes it, and the allocations that show it."""

    margin: Any
    sentence: str
    points: Mapping[str, Any] = {}


Route: TypeAlias = Callable[[Requests], list[Rationals]]
RouteJudge: TypeAlias = Callable[[Case, Route], Found]
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
    """The bottlenecks J(x)."""
    return sorted(d.bottlenecks(x))


def complaint(d: Requests, x: Sequence[Fraction]) -> Fraction:
    """0 where (1) and (2) hold, else the largest of the least entitlements missed, relative, and of the overloads."""
    bottlenecks, worst = full(d, x), max(ZERO, *(load - 1 for load in d.loads(x)), *(-v for v in x), *(v - 1 for v in x))
    for _, v, part, e in users(d, x):
        if v != 1 and not any(v * part.get(j, ZERO) >= e for j in bottlenecks):
            worst = max(worst, min([1 - v, *(1 - v * part.get(j, ZERO) / e for j in bottlenecks)]))
    return worst


def without(d: Requests, j: int) -> Requests:
    """The data without the requests for a resource."""
    return replace(d, parts=tuple({k: r for k, r in part.items() if k != j} for part in d.parts))


def brackets(x: Iterable[Any]) -> str:
    """A point in brackets."""
    return "(" + ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in x) + ")"


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
    return sorted(x for x in _solutions(d, ends) if min(x) >= 0 and max(x) <= 1 and max(d.loads(x)) <= 1)


def _solutions(d: Requests, values: Sequence[set[Fraction]]) -> set[Rationals]:
    """The points at which some resources are full and all but as many users have one of their values."""
    count, found = len(values), set()
    for size in range(min(count, d.R) + 1):
        for free, tight in product(combinations(range(count), size), combinations(range(d.R), size)):
            matrix = [[d.parts[i].get(j, ZERO) for i in free] for j in tight]
            for fixed in product(*({ZERO} if i in free else v for i, v in enumerate(values))):
                loads = d.loads(fixed) if size else ()
                part = solved(matrix, [1 - loads[j] for j in tight]) if size else ()
                if part is None:
                    break
                own = dict(zip(free, part, strict=True))
                found.add(tuple(own.get(i, v) for i, v in enumerate(fixed)))
    return found


# ---- trials and confirmations -----------------------------------------------------------------------------------------


def two_ways(judge: RouteJudge, held: str = "", broken: str = "") -> Routes:
    """A judgement of all NJC allocations: tried on those by double description, confirmed on those by equations."""
    return Routes(*(partial(_judged, judge, route, held=held, broken=broken) for route in (by_polytopes, by_equations)))


def _judged(judge: RouteJudge, route: Route, case: Case, *, held: str, broken: str) -> Verdict:
    margin, sentence, points = judge(case, route)
    how = "double description" if route is by_polytopes else "rational arithmetic on solutions of equations"
    return Verdict("njc", not margin > 0, float(margin), sentence, how, points, answers=broken if margin > 0 else held)


def for_every(gap: AllocationMargin, convex: bool = False) -> Routes:
    """The largest margin of a claim over the corners of all NJC allocations."""
    return two_ways(partial(_worst, gap), FOR_ALL if convex else FOR_SOME, FOR_SOME)


def _worst(gap: AllocationMargin, case: Case, route: Route) -> Found:
    d = data(case)
    found = [(*made, x) for x in route(d) if (made := gap(d, x)) is not None]
    if not found:
        raise NotApplicable("the hypothesis of the claim holds at none of these allocations")
    margin, words, x = max(found, key=lambda made: made[0])
    return Found(margin, f"at x = {brackets(x)} {words}", {"x": x})


def compared_with_drf(judge: Callable[[Requests, list[Rationals], Sequence[Any]], Found]) -> Routes:
    """A judgement of all NJC allocations and of the DRF allocation, in fractions of requests, which is certified to confirm."""
    return Routes(
        attempted("drf", partial(_compared, judge, by_polytopes)), proved("drf", partial(_compared, judge, by_equations))
    )


def _compared(judge: Callable[..., Found], route: Route, case: Case, answer: Answer) -> Verdict:
    d, allocation = data(case), answer(case.instance)
    margin, sentence, points = judge(d, route(d), fractions(d, allocation))
    exact = allocation.x_exact is not None
    how = "rational arithmetic on a certificate" if exact else "floating point"
    return Verdict("njc", not margin > (0 if exact else TOLERANCE), float(margin), sentence, how, points)


def fractions(d: Requests, allocation: Allocation) -> list[Any]:
    """(N,) fractions of requests, in rationals where the allocation has them."""
    tasks, floats = allocation.tasks_exact, allocation.tasks_exact is None
    return [float(u) / float(q) if floats else u / q for u, q in zip(tasks or allocation.tasks, d.unit, strict=True)]
