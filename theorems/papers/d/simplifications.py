"""Section 5.1 and the region of section 5.2: what can be left out of a problem."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.formulations.njc import Requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    MarginAndSentence,
    Route,
    brackets,
    by_equations,
    complaint,
    data,
    domain_vertices,
    loads,
    without,
)


def slack_resource_removed(case: Case, route: Route) -> MarginAndSentence:
    """A resource that cannot be filled can be left out: solutions without it are solutions with it."""
    d = data(case)
    slack = [j for j, load in enumerate(loads(d, [ONE] * len(d.parts))) if load < 1]
    return _solve_original(d, [(f"without resource {j + 1}", x) for j in slack for x in route(without(d, j))])


def dominated_removed(case: Case, route: Route) -> MarginAndSentence:
    """A dominated resource can be left out: solutions without it are solutions with it."""
    d = data(case)
    found = [j for j in range(d.R) if _dominated(route, d, j)]
    return _solve_original(d, [(f"without resource {j + 1}", x) for j in found for x in route(without(d, j))])


def _dominated(route: Route, d: Requests, j: int) -> bool:
    return max(loads(d, x)[j] for x in domain_vertices(route, without(d, j))) <= 1


def found_by_linear_programs(case: Case, route: Route) -> MarginAndSentence:
    """A resource is dominated exactly if a linear program, of its load over the other inequalities, has a maximum of at most 1.

    In rationals where the vertices that it is compared with are those of equations.
    """
    d, exact = data(case), route is by_equations
    size = len(d.parts)
    number: Any = Fraction if exact else float
    rows = [[number(part.get(j, ZERO)) for part in d.parts] for j in range(d.R)]
    ends = [[number(int(i == k)) for k in range(size)] for i in range(size)]
    for j in range(d.R):
        others = np.array([*(row for k, row in enumerate(rows) if k != j), *ends], dtype=object if exact else float)
        best = maximum(np.array(rows[j]), others, np.array([number(1)] * len(others)), exact)
        assert best is not None, "the region is bounded, and 0 is in it"
        if (best.value <= (1 if exact else 1 + TOLERANCE)) != _dominated(route, d, j):
            return 1, f"the load of resource {j + 1} is at most {best.value} by the others"
    return -1, "the linear programs find what is dominated"


def falling_slopes(case: Case, route: Route) -> MarginAndSentence:
    """With two users all lines of the boundary of D have slopes < 0 (D 5.3)."""
    slopes = _slopes(case, route)
    return (max(slopes) if max(slopes) > 0 else 1 if max(slopes) == 0 else -1), f"the slopes are {brackets(slopes)}"


def steeper_slopes(case: Case, route: Route) -> MarginAndSentence:
    """No slope is above 0, and each is below the one to its left."""
    slopes = _slopes(case, route)
    rising = any(a <= b for a, b in pairwise(slopes))
    return (1 if rising or max(slopes) > 0 else -1), f"the slopes are {brackets(slopes)}"


def _slopes(case: Case, route: Route) -> list[Fraction]:
    """The slopes of the upper boundary between x_1 = 0 and the largest x_1, from left to right."""
    d = data(case)
    if len(d.parts) != 2:
        raise NotApplicable("the claim is about two users")
    top: dict[Fraction, Fraction] = {}
    for first, second in domain_vertices(route, d):
        top[first] = max(second, top.get(first, second))
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(sorted(top.items()))]
    return [slope for k, slope in enumerate(slopes) if not k or slope != slopes[k - 1]]


def satisfied_removed(case: Case, route: Route) -> MarginAndSentence:
    """Who asks for less than its entitlement gets it all; solutions for the others, renormalised, solve the original."""
    d = data(case)
    found = [(f"without user {i + 1}", (*x[:i], ONE, *x[i:])) for i in _below_entitlement(d) for x in route(reduced(d, i))]
    return _solve_original(d, found)


def room_for_entitlements(case: Case, _: Route) -> MarginAndSentence:
    """What such a user does not use of each resource is at least the entitlement of every other."""
    d = data(case)
    gaps = [
        (d.entitlement[k] - (1 - d.parts[i].get(j, ZERO)), i, j)
        for i in _below_entitlement(d)
        for j in range(d.R)
        for k in range(len(d.parts))
        if k != i
    ]
    gap, i, j = max(gaps)
    return gap, f"user {i + 1} leaves less of resource {j + 1} than somebody's entitlement"


def renormalised_requests(case: Case, _: Route) -> MarginAndSentence:
    """The problem without such a user fulfils the hypotheses of Theorem 1, r_ij <= 1."""
    d = data(case)
    largest, i = max((max(r for part in reduced(d, i).parts for r in part.values()), i) for i in _below_entitlement(d))
    return largest - 1, f"without user {i + 1}, who asks for little, a renormalised request is {largest}"


def entitlements_left(case: Case, _: Route) -> MarginAndSentence:
    """The others are entitled to something, so that their entitlements can be multiplied until they sum to 1."""
    d = data(case)
    left, i = min((sum(d.entitlement, ZERO) - d.entitlement[i], i) for i in _below_entitlement(d))
    return (-left or ONE), f"user {i + 1} is removed, and the entitlements of the others sum to {left}"


def reduced(d: Requests, i: int) -> Requests:
    """The others, with entitlements and requests multiplied as in D 5.1."""
    others = [k for k in range(len(d.parts)) if k != i]
    parts = tuple({j: r / (1 - d.parts[i].get(j, ZERO)) for j, r in d.parts[k].items()} for k in others)
    return Requests(
        parts, tuple(d.entitlement[k] / (1 - d.entitlement[i]) for k in others), tuple(d.unit[k] for k in others), d.R
    )


def _below_entitlement(d: Requests) -> list[int]:
    found = [i for i, (part, e) in enumerate(zip(d.parts, d.entitlement, strict=True)) if max(part.values()) < e]
    if not found or len(d.parts) == 1:
        raise NotApplicable("nobody asks for less than its entitlement, or there is nobody else")
    return found


def _solve_original(d: Requests, found: Sequence[tuple[str, Rationals]]) -> MarginAndSentence:
    """Whether solutions of smaller problems are solutions."""
    if not found:
        raise NotApplicable("nothing can be left out")
    gap, words, x = max((complaint(d, x), words, x) for words, x in found)
    return (gap or -1), f"x = {brackets(x)} is a solution {words} only"


def _remaining_systems(case: Case, route: Route) -> tuple[Requests, list[list[int]]]:
    """The systems without dominated inequalities, for removals in two orders; those of dummies stay."""
    d, systems = data(case), []
    for order in (range(d.R), range(d.R - 1, -1, -1)):
        kept = d
        for j in order:
            kept = without(kept, j) if any(j in part for part in kept.parts) and _dominated(route, kept, j) else kept
        systems.append([j for j in range(d.R) if any(j in part for part in kept.parts)])
    return d, systems


def order_of_names(case: Case, route: Route) -> MarginAndSentence:
    """Whatever the order of removal, the same resources remain; D 5.1 denies it."""
    _, (one, other) = _remaining_systems(case, route)
    return (1 if one != other else -1), f"resources {[j + 1 for j in one]} or {[j + 1 for j in other]} remain"


def order_of_rows(case: Case, route: Route) -> MarginAndSentence:
    """Whatever the order of removal, the same inequalities remain."""
    d, systems = _remaining_systems(case, route)
    one, other = ({tuple(part.get(j, ZERO) for part in d.parts) for j in system} for system in systems)
    return (1 if one != other else -1), f"the inequalities of {systems[0]} and {systems[1]} are not the same"


def simplex(case: Case, route: Route) -> MarginAndSentence:
    """D is a simplex, the hull of N + 1 points (D prints N, of which the hull has no interior)."""
    d = data(case)
    count = len(domain_vertices(route, d))
    return count - (len(d.parts) + 1), f"the feasible region for {len(d.parts)} user(s) has {count} vertices"
