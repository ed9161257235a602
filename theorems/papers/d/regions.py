r"""Sections 5.1 to 5.3: what can be left out, the region D, and the sets Q_t = {x in D: f(x) <= t} with their tangents.

In rationals f(x) <= t is  prod_j s_j >= e^-t,  so a level is a product of spare parts. The tangent at x is  sum_i nu_i y_i = 1
with nu the gradient of f, divided by its product with x.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import log, prod
from typing import Any

import numpy as np

from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.rationals import Rationals
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import only_where, optimum
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    Found,
    all_fair,
    brackets,
    complaint,
    domain_vertices,
    point_of_case,
    users,
    without,
)
from fairalloc.theorems.papers.d.trajectories import NEAR, TrajectoryPoint, along, inside, slack, through


def slack_resource_removed(_: Case, d: Requests) -> Found:
    """A resource that cannot be filled can be left out: solutions without it are solutions with it."""
    free = [j for j, load in enumerate(d.loads([ONE] * len(d.parts))) if load < 1]
    return _solve_original(d, [x for j in free for x in all_fair(without(d, j))])


def dominated_removed(_: Case, d: Requests) -> Found:
    """A dominated resource can be left out: solutions without it are solutions with it."""
    return _solve_original(d, [x for j in range(d.R) if _dominated(d, j) for x in all_fair(without(d, j))])


def satisfied_removed(_: Case, d: Requests) -> Found:
    """Who asks for less than its entitlement gets it all; solutions for the others, renormalised, solve the original."""
    return _solve_original(d, [(*x[:i], ONE, *x[i:]) for i in _below_entitlement(d) for x in all_fair(reduced(d, i))])


def _solve_original(d: Requests, found: Sequence[Rationals]) -> Found:
    """Whether solutions of smaller problems are solutions."""
    only_where(found, "nothing can be left out")
    gap, x = max((complaint(d, x), x) for x in found)
    return Found(gap or -1, f"x = {brackets(x)} is a solution of the smaller problem only")


def _dominated(d: Requests, j: int) -> bool:
    return max(d.loads(x)[j] for x in domain_vertices(without(d, j))) <= 1


def found_by_linear_programs(_: Case, d: Requests) -> Found:
    """A resource is dominated exactly if a linear program, of its load over the other inequalities, has an optimum <= 1."""
    rows = [[part.get(j, ZERO) for part in d.parts] for j in range(d.R)]
    ends = [[Fraction(i == k) for k in range(len(d.parts))] for i in range(len(d.parts))]
    for j in range(d.R):
        others = [*rows[:j], *rows[j + 1 :], *ends]
        best = optimum(rows[j], others, [ONE] * len(others))
        if (best <= 1) != _dominated(d, j):
            return Found(1, f"the load of resource {j + 1} is at most {best} by the others")
    return Found(-1, "the linear programs find what is dominated")


def room_for_entitlements(_: Case, d: Requests) -> Found:
    """What such a user does not use of each resource is at least the entitlement of every other."""
    most = {i: max(e for k, e in enumerate(d.entitlement) if k != i) for i in _below_entitlement(d)}
    gap, i = max((e - (1 - d.parts[i].get(j, ZERO)), i) for i, e in most.items() for j in range(d.R))
    return Found(gap, f"user {i + 1} leaves less of a resource than somebody's entitlement")


def entitlements_left(_: Case, d: Requests) -> Found:
    """The others are entitled to something, so that their entitlements can be multiplied until they sum to 1."""
    left, i = min((sum(d.entitlement, ZERO) - d.entitlement[i], i) for i in _below_entitlement(d))
    return Found(-left or ONE, f"user {i + 1} is removed, and the entitlements of the others sum to {left}")


def reduced(d: Requests, i: int) -> Requests:
    """The others, with entitlements and requests multiplied as in D 5.1."""
    others, e = [k for k in range(len(d.parts)) if k != i], d.entitlement
    parts = tuple({j: r / (1 - d.parts[i].get(j, ZERO)) for j, r in d.parts[k].items()} for k in others)
    return Requests(parts, tuple(e[k] / (1 - e[i]) for k in others), tuple(d.unit[k] for k in others), d.R)


def _below_entitlement(d: Requests) -> list[int]:
    found = [i for i, _, part, e in users(d, d.unit) if max(part.values()) < e]
    only_where(found and len(d.parts) > 1, "nobody asks for less than its entitlement, or there is nobody else")
    return found


def _remaining(d: Requests) -> list[set[tuple[Fraction, ...]]]:
    """The inequalities that are not dominated, for removals in two orders; those of dummies stay."""
    systems = []
    for order in (range(d.R), range(d.R - 1, -1, -1)):
        kept = d
        for j in order:
            kept = without(kept, j) if any(j in part for part in kept.parts) and _dominated(kept, j) else kept
        left = {j for part in kept.parts for j in part}
        systems.append({tuple(part.get(j, ZERO) for part in d.parts) for j in left})
    return systems


def removal_order(_: Case, d: Requests) -> Found:
    """Whatever the order of removal, the same inequalities remain."""
    one, other = _remaining(d)
    return Found(1 if one != other else -1, "the inequalities that remain are not the same")


def steeper_slopes(_: Case, d: Requests) -> Found:
    """With two users no slope is > 0, and each is below the one to its left."""
    slopes = _slopes(d)
    rising = any(a <= b for a, b in pairwise(slopes))
    return Found(1 if rising or max(slopes) > 0 else -1, f"the slopes are {brackets(slopes)}")


def _slopes(d: Requests) -> list[Fraction]:
    """The slopes of the upper boundary between x_1 = 0 and the largest x_1, from left to right."""
    top = dict[Fraction, Fraction]()
    _two(d)
    for first, second in domain_vertices(d):
        top[first] = max(second, top.get(first, second))
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(sorted(top.items()))]
    return [slope for k, slope in enumerate(slopes) if not k or slope != slopes[k - 1]]


def _two(d: Requests) -> None:
    only_where(len(d.parts) == 2, "the claim is about two users")


PARTS = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 1024))
"""Parts by which a point is drawn to 0."""

HALVINGS = 45
"""How often an interval is halved in rationals."""


def tangent(x: Sequence[Any], slope: Sequence[Any]) -> list[Any]:
    """(N,) nu of the tangent sum_i nu_i y_i = 1 at x of the set Q_t on whose boundary x is, of the gradient of f."""
    return [w / np.dot(x, slope) for w in slope]


def equality_on_the_tangent(case: Case, d: Requests) -> Found:
    """The tangent at y meets no other point of Q_t, and where (4) holds for all users it does with equality (D 4).

    Of the case's points y is the one with the larger f; (4) is for the case's entitlements, and for those of y by (7).
    """
    x, y = sorted((inside(case, k) for k in (0, 1)), key=lambda at: -prod(at.s))
    nu = tangent(y.x, y.nu)
    other = sum(a * b for a, b in zip(nu, x.x, strict=True)) - 1
    margins = [(other if other > 0 else ONE) if x.x != y.x and other >= 0 else -ONE]
    for e in (d.entitlement, y.e):
        gaps = [n * v - w for n, v, w in zip(nu, y.x, e, strict=True)]
        margins.append(max(gaps) if min(gaps) >= 0 else -ONE)
    return Found(max(margins), f"at {brackets(y.x)} the tangent is {brackets(nu)}, and {brackets(x.x)} is as low")


def combination_of_requests(_: Requests, at: TrajectoryPoint) -> tuple[Any, str]:
    """The tangent at x is an average of the planes sum_i r_ij y_i = load_j through x, with weights load_j / s_j (D 5.2)."""
    mean = at.nu / sum((1 - s) / s for s in at.s)
    nu = tangent(at.x, [sum(along(at, unit)[0], ZERO) for unit in at.units])
    return max(abs(a - b) for a, b in zip(nu, mean, strict=True)), f"the tangent is {brackets(nu)}"


def growing_sets(case: Case, d: Requests) -> Found:
    """Of x in D the part 1 - h is in Q_t for t = m log(1 / h), and f is smaller the smaller the part is (D 5.2, a to c)."""
    x = point_of_case(case)
    levels = {h: -prod(slack(d, tuple((1 - h) * v for v in x)), start=ONE) for h in PARTS[::-1]}
    margins = [level + h ** (d.R + len(x)) for h, level in levels.items()]
    margins += [b - a for a, b in pairwise(levels.values())]
    return Found(max(margins), f"a part of {brackets(x)} has a larger f than it should")


def curvature(d: Requests, at: TrajectoryPoint) -> tuple[Any, str]:
    """With two users the boundary of Q_t is a curve x_2 = f(x_1) with f'' < 0 (D 5.3)."""
    _two(d)
    (right, up), (a, b) = at.nu, at.b
    return (-((up * a - right * b) ** 2).sum() or ONE), "the curve does not bend"


def other_barrier(case: Case, d: Requests) -> Found:
    """F(x) - sum_i log x_i is positive inside of D and infinite on its boundary (D Remark 2), by its factors s and x."""
    x = point_of_case(case)
    factors = [*slack(d, x), *x]
    right = prod(factors) == 0 if min(factors) == 0 else 0 < prod(factors) < 1
    return Found(-1 if right else 1, f"f(x) - sum_i log x_i is not as it should be at x = {brackets(x)}")


def point_on_the_level(d: Requests, at: TrajectoryPoint) -> tuple[Any, str]:
    """On the level of f through x is a point with nu_i x_i = e_i (D 5.3).

    By halving: from one end of the curve to the other nu_1 x_1 / nu_2 x_2 passes e_1 / e_2, as D argues.
    """
    _two(d)
    x = equal_on_level(d, prod(at.s, start=ONE))
    gap = max(abs(v - e) for v, e in zip(through(d, x).e, d.entitlement, strict=True))
    return float(gap) - NEAR, f"near {brackets(x)} nu_i x_i is {float(gap):.1e} off"


def equal_on_level(d: Requests, level: Fraction) -> Rationals:
    """The point of the curve prod s = level with nu_1 x_1 = e_1, by halving."""

    def inner(x: Rationals) -> bool:
        return min(slack(d, x)) > 0 and prod(slack(d, x)) >= level

    def at(first: Fraction) -> Rationals:
        return first, _halved(lambda v: inner((first, v)))

    end = _halved(lambda v: inner((v, ZERO)))
    return at(end * _halved(lambda part: through(d, at(end * part)).e[0] < d.entitlement[0]))


def _halved(holds: Callable[[Fraction], bool]) -> Fraction:
    """The end in [0, 1] of where something holds."""
    low, size = ZERO, ONE
    for _ in range(HALVINGS):
        size /= 2
        low += size if holds(low + size) else 0
    return low


def limit_of_levels(_: Case, d: Requests) -> Found:
    """Points on levels of f tend to the allocation without complaints: their loss in sum e log x is at most m / c (D 5.3)."""
    _two(d)
    (y, *_more), far = all_fair(d), []
    for x in (equal_on_level(d, level) for level in (Fraction(1, 2**10), Fraction(1, 2**25))):
        s = slack(d, x)
        far.append(loss(d, x, y) - float(len(s) / sum((1 - v) / v for v in s)) - NEAR)
    return Found(max(far), f"points on levels of f do not come near to {brackets(y)}")


def loss(d: Requests, x: Any, y: Any) -> float:
    return sum(float(e) * log(float(b) / float(a)) for e, a, b in zip(d.entitlement, x, y, strict=True))
