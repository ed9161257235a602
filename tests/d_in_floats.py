"""Claims of D by second implementations: NJC allocations as solutions of equations, derivatives and points in floating point."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise, product
from math import log
from typing import Any
from unittest.mock import patch

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import Requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, as_flint, as_fraction
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d import complaints, regions, trajectories
from fairalloc.theorems.papers.d import trials as of_d
from fairalloc.theorems.papers.d.complaints import ONE, ZERO, all_fair, brackets, complaint, data, matrix, point_of_case
from fairalloc.theorems.papers.d.trajectories import NEAR, Points, inside, weighting
from fairalloc.theorems.papers.d.trials import trials
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.standalone.definitions import with_dummies

SCALES = (1.0, 10.0, 1e3)
"""Values of c at which Newton's method looks for points of the trajectory."""

SMALL = 1e-30
"""A complex step."""


def floats(x: Sequence[Any]) -> Floats:
    return np.array(x, dtype=float)


def barrier_value(d: Requests, x: Floats) -> float:
    """f(x)."""
    return float(-np.log(1.0 - np.concatenate([x @ d.matrix(), x])).sum())


def by_equations(d: Requests) -> list[Rationals]:
    """The solutions of N of the equations  sum_i x_i r_ij = 1,  x_i = 1,  x_i r_ij = e_i  that fulfil (1) and (2)."""
    values = [
        {ONE, *(e / r for r in part.values() if r >= e), *([ZERO] if e == 0 else [])}
        for part, e in zip(d.parts, d.entitlement, strict=True)
    ]
    return sorted(x for x in _solutions(d, values) if complaint(d, x) == 0)


def domain_vertices(d: Requests) -> list[Rationals]:
    """The vertices of the set of feasible allocations."""
    ends = [{ZERO, ONE}] * len(d.parts)
    return sorted(x for x in _solutions(d, ends) if min(x) >= 0 and max(x) <= 1 and max(d.loads(x)) <= 1)


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


def with_equations(name: str) -> Callable[[Case], Verdict]:
    """The judgement of a statement, on allocations and vertices that are found as solutions of equations."""

    def second(case: Case) -> Verdict:
        with ExitStack() as stack:
            for module in (complaints, regions, of_d):
                stack.enter_context(patch.object(module, "all_fair", by_equations))
            stack.enter_context(patch.object(regions, "domain_vertices", domain_vertices))
            return trials[name].confirm(case)

    return second


def found_by_linear_programs(case: Case) -> Verdict:
    """A resource is dominated exactly if a linear program, of its load over the other inequalities, has an optimum <= 1."""
    d = data(case)
    r, units = d.matrix().T, np.eye(len(d.parts))
    for j in range(d.R):
        best = maximum(r[j], np.vstack([np.delete(r, j, axis=0), units]), np.ones(d.R - 1 + len(units)), False)
        dominated = max(x @ r[j] for x in np.array(domain_vertices(complaints.without(d, j)), dtype=float)) <= 1 + TOLERANCE
        if best is None or (best.value <= 1 + TOLERANCE) != dominated:
            return _decided(1.0, f"the load of resource {j + 1}")
    return _decided(-1.0, "the linear programs find what is dominated")


def removal_order(case: Case) -> Verdict:
    """What is left of the resources when a linear program removes the dominated ones, from the first on or from the last on."""
    d, left = data(case), []
    r, units = d.matrix().T, np.eye(len(d.parts))
    for order in (range(d.R), range(d.R - 1, -1, -1)):
        kept = [*range(d.R)]
        for j in order:
            rows = np.vstack([r[[k for k in kept if k != j]], units])
            best = maximum(r[j], rows, np.ones(len(rows)), False)
            kept = [k for k in kept if k != j] if best is not None and best.value <= 1 + TOLERANCE else kept
        left.append(kept)
    return _decided(1.0 if left[0] != left[1] else -1.0, f"resources {left[0]} or {left[1]} remain")


def renormalised_requests(case: Case) -> Verdict:
    """The largest request of what a user with less than its entitlement of everything leaves."""
    d = data(case)
    r, e = d.matrix(), floats(d.entitlement)
    found = [(np.delete(r, i, axis=0) / (1 - r[i])).max() for i in np.flatnonzero((r < e[:, None]).all(axis=1))]
    return _decided(max(found, default=0.0) - 1, "a renormalised request")


def simplex(case: Case) -> Verdict:
    """The region of N users has N + 1 vertices, counted among solutions of equations."""
    d = data(case)
    return _decided(len(domain_vertices(d)) - len(d.parts) - 1, "the vertices")


def falling_slopes(case: Case) -> Verdict:
    """With two users all slopes are < 0, between vertices that are solutions of equations."""
    with patch.object(regions, "domain_vertices", domain_vertices):
        return _decided(1.0 if max(regions._slopes(data(case))) >= 0 else -1.0, "the slopes")


def vanishing_numerators(case: Case) -> Verdict:
    """At the only solution of the equations, where there is one, x_i r_ij = e_i for every full resource j."""
    d = data(case)
    (x, *more), r = map(floats, by_equations(d)), d.matrix()
    if more or not (full := x @ r >= 1 - TOLERANCE).any():
        raise NotApplicable("the claim is tried where the only NJC allocation has a bottleneck")
    return _decided(np.abs(x[:, None] * r - floats(d.entitlement)[:, None])[:, full].max(), "the numerators")


def utilisation(case: Case, sign: int) -> Verdict:
    """NJC uses at most as much as DRF on the average of the resources, or for sign = -1 at least; at solutions of equations."""
    d = data(case)
    drf = floats(complaints.fractions(d, solve(case.instance, "drf")))
    return _decided(min(sign * (floats(x) - drf) @ d.matrix().mean(axis=1) for x in by_equations(d)), "the utilisation")


def harm(case: Case) -> Verdict:
    """No misreport makes the best allocation worse for the user than the worst one was; at solutions of equations."""
    assert case.misreport is not None
    (n,) = case.misreport.users
    d, reported = data(case), data(Case(case.reported))
    after = [complaints.useful_part(d.parts[n], reported.parts[n], x[n]) for x in by_equations(reported)]
    return _decided(min(x[n] for x in by_equations(d)) - max(after), "the user loses")


def rests_where_fair_in_floats(case: Case) -> Verdict:
    """The same on arrays, against the system of D (3) with dummy resources; at the NJC allocations of double description."""
    d = data(case)
    r, e = d.matrix(), np.array([float(v) for v in d.entitlement])
    dummy, margin = np.hstack([r, np.eye(len(e))]), -1.0
    for exact in (point_of_case(case), *all_fair(d)):
        x = np.array([float(v) for v in exact])
        missed = np.where(x @ r >= 1 - TOLERANCE, e[:, None] - x[:, None] * r, np.inf).min(axis=1, initial=1.0)
        rests = bool(((missed <= TOLERANCE) | (x >= 1 - TOLERANCE)).all())
        fair = _largest_complaint(x, dummy, e, np.zeros(len(x), bool)) <= TOLERANCE
        margin = max(margin, 1.0 if rests != fair else -1.0)
    return _decided(margin, "it rests where all are fair")


def dummies_in_floats(case: Case) -> Verdict:
    """The same on arrays: the largest complaint, with x_i = 1 treated separately and with dummy resources instead.

    At the case's point and at every NJC allocation that double description gives.
    """
    d = data(case)
    r, e = d.matrix(), np.array([float(v) for v in d.entitlement])
    dummy = np.hstack([r, np.eye(len(e))])
    margins = []
    for fractions_ in (point_of_case(case), *all_fair(d)):
        x = np.array([float(v) for v in fractions_])
        own, said = _largest_complaint(x, r, e, x >= 1 - TOLERANCE), _largest_complaint(x, dummy, e, np.zeros(len(x), bool))
        same = (own <= TOLERANCE) == (said <= TOLERANCE)
        margins.append(-max(own, said, TOLERANCE) if same else abs(own - said))
    margin = max(margins)
    return Verdict("njc", not margin > 0, margin, "an allocation is fair by one of the two only", "floating point")


def _largest_complaint(x: Floats, r: Floats, e: Floats, content: Any) -> float:
    """Of the users without x_i = 1, the largest relative shortfall from the entitlement at every full resource."""
    full = x @ r >= 1 - TOLERANCE
    missed = ((e[:, None] - x[:, None] * r[:, full]) / np.where(e > 0, e, 1.0)[:, None]).min(axis=1, initial=1.0)
    return float(np.where(content, 0.0, np.maximum(missed, 0.0)).max())


def central(d: Requests, c: float, weights: Floats | None = None) -> Floats:
    """(N,) the maximum of  sum_i e_i log x_i + (1 / c) sum_j w_j log s_j  by a damped Newton method in log x; default w = 1."""
    r = np.hstack([d.matrix(), np.eye(len(d.parts))])
    e = np.array([float(v) for v in d.entitlement])
    w = np.ones(r.shape[1]) if weights is None else weights

    def value(y: Floats) -> float:
        if y.max() >= 0:
            return -np.inf
        s = 1.0 - np.exp(y) @ r
        return float(e @ y + w @ np.log(s) / c) if s.min() > 0 else -np.inf

    y = np.full(len(e), -np.log(2 * len(e) + 1.0))
    for _ in range(500):
        x = np.exp(y)
        b = r / (1.0 - x @ r)
        slope = e - x * (b @ w) / c
        if np.abs(slope).max() <= 1e-13:
            break
        curve = (np.diag(x * (b @ w)) + (x[:, None] * b * w) @ (b.T * x)) / c
        step = np.linalg.solve(curve, slope)
        size, now = 1.0, value(y)
        while value(y + size * step) < now and size > 1e-12:
            size /= 2
        y = y + size * step
    result: Floats = np.exp(y)
    return result


def barrier_grows(case: Case) -> Verdict:
    """The same by values of f: positive at an inner point; it diverges on the way to a point of the boundary.

    From 2^-20 to 2^-40 of the way, a term that diverges grows by 20 log 2, others hardly.
    """
    d, x = data(case), floats(point_of_case(case))
    inner = np.full(len(x), 0.5 / max(1.0, float((np.ones(len(x)) @ d.matrix()).max())))
    edge = min(x.min(), 1 - x.max(), 1 - (x @ d.matrix()).max()) <= TOLERANCE
    early, late = (barrier_value(d, x + 0.5**k * (inner - x)) for k in (20, 40))
    margin = 10.0 - (late - early) if edge else -barrier_value(d, x)
    return Verdict("njc", not margin > 0, margin, f"at the boundary f grows by {late - early:.3g}", "floating point")


def starts_at_zero(case: Case) -> Verdict:
    """F(x) = 0 only at x = 0 (D Remark 4), in floating point."""
    x = floats(point_of_case(case))
    if max(*x, *(x @ data(case).matrix())) == 1:
        raise NotApplicable("f is infinite there")
    same = (barrier_value(data(case), x) == 0) == (x.max() == 0)
    return Verdict("njc", bool(same), -1.0 if same else 1.0, "", "floating point")


def at_points(name: str) -> Callable[[Case], Verdict]:
    """A formula at a point of a trajectory, with the gradients of f by complex steps instead of power series."""

    def second(case: Case) -> Verdict:
        with patch.object(trajectories, "along", along_by_steps):
            verdict = trials[name].confirm(case)
        far = verdict.margin
        return Verdict("njc", not far > TOLERANCE, far, verdict.sentence, "floating point")

    return second


def along_by_steps(at: Any, v: Sequence[Any]) -> tuple[list[float], list[float], list[float]]:
    """Derivatives along v by complex steps: of - log s_j, of x_i nu_i, and of nu_i."""
    r = np.array([[float(a) for a in row] for row in at.r])
    x = floats(at.x) + 1j * SMALL * floats(v)
    s = 1 - x @ r
    nu = (r / s).sum(axis=1)
    return [list(part.imag / SMALL) for part in (-np.log(s), x * nu, nu)]  # type: ignore[return-value]


def _tangent_in_floats(d: Requests, x: Floats) -> Floats:
    steps = x + 1j * SMALL * np.eye(len(x))
    slope = np.array([-np.log(1.0 - np.concatenate([step @ d.matrix(), step])).sum().imag / SMALL for step in steps])
    result: Floats = slope / (slope @ x)
    return result


def _decided(margin: Any, words: str) -> Verdict:
    return Verdict("njc", not margin > TOLERANCE, float(margin), words, "floating point")


def equality_on_the_tangent(case: Case) -> Verdict:
    """The tangent at y meets no other point of Q_t, and where (4) holds for all users it does with equality (D 4)."""
    d, x, y = data(case), *sorted((inside(case, k) for k in (0, 1)), key=lambda at: barrier_value(data(case), floats(at.x)))
    nu = _tangent_in_floats(d, floats(y.x))
    margins = [1.0] if x.x != y.x and nu @ floats(x.x) - 1 >= TOLERANCE else []
    for e in (d.entitlement, y.e):
        gaps = nu * floats(y.x) - floats(e)
        margins += [gaps.max()] if gaps.min() >= -TOLERANCE else []
    return _decided(max(margins, default=-1.0), "the tangent")


def combination_of_requests(case: Case) -> Verdict:
    """The tangent at x is an average of the planes sum_i r_ij y_i = load_j through x, with weights load_j / s_j (D 5.2)."""
    at = inside(case)
    s, r = floats(at.s), np.array([floats(row) for row in at.r])
    mean = (r / s).sum(axis=1) / ((1 - s) / s).sum()
    return _decided(np.abs(_tangent_in_floats(data(case), floats(at.x)) - mean).max(), "the tangent")


def growing_sets(case: Case) -> Verdict:
    """Of x in D the part 1 - h is in Q_t for t = m log(1 / h), and f is smaller the smaller the part is (D 5.2, a to c)."""
    d, x = data(case), floats(point_of_case(case))
    levels = {float(h): barrier_value(d, (1 - float(h)) * x) for h in regions.PARTS[::-1]}
    margins = [level - (d.R + len(x)) * log(1 / h) for h, level in levels.items()]
    return _decided(max([*margins, *(b - a for a, b in pairwise(levels.values()))]), "a part of x has a larger f")


def curvature(case: Case) -> Verdict:
    """With two users the boundary of Q_t is a curve with f'' < 0 (D 5.3)."""
    d, at = data(case), inside(case)
    if len(d.parts) != 2:
        raise NotApplicable("the claim is about two users")
    x = floats(at.x)
    level, h = barrier_value(d, x), 1e-3 * float(min(*x, *map(float, at.s)))
    left, right = (_height(d, x[0] + step, level) for step in (-h, h))
    return _decided((left + right - 2 * x[1]) / h, "the curve does not bend")


def _height(d: Requests, first: float, level: float) -> float:
    """x_2 of the point with this x_1 on a level of f."""
    low, high = 0.0, 1.0
    matrix = d.matrix()
    for _ in range(100):
        middle = (low + high) / 2
        x = np.array([first, middle])
        below = max(*(x @ matrix), *x) < 1 and barrier_value(d, x) <= level
        low, high = (middle, high) if below else (low, middle)
    return low


def other_barrier(case: Case) -> Verdict:
    """F(x) - sum_i log x_i is positive inside of D and infinite on its boundary (D Remark 2), by its growth near the boundary."""
    d, x = data(case), floats(point_of_case(case))
    tight = x.min() == 0 or x.max() == 1 or max(x @ d.matrix()) >= 1 - 1e-15

    def value(y: Floats) -> float:
        return barrier_value(d, y) - float(np.log(y).sum())

    return _decided(10.0 - growth(d, x, value) if tight else -value(x), "f(x) - sum_i log x_i")


def growth(d: Requests, x: Floats, value: Callable[[Floats], float]) -> float:
    """What a function grows from 2^-20 to 2^-40 of the way to x from inside; a term that diverges grows by 20 log 2."""
    inner = np.full(len(x), 0.5 / max(1.0, float((np.ones(len(x)) @ d.matrix()).max())))
    early, late = (value(x + 0.5**k * (inner - x)) for k in (20, 40))
    return late - early


def point_by_newton(case: Case) -> Verdict:
    """On the level of f through a point, the point where sum_i e_i log x_i is largest has nu_i x_i = e_i (D 5.3)."""
    d, at = data(case), inside(case)
    regions._two(d)
    level = barrier_value(d, np.array([float(v) for v in at.x]))
    low, high = -20.0, 20.0
    for _ in range(regions.HALVINGS // 2):
        middle = (low + high) / 2
        low, high = (middle, high) if barrier_value(d, central(d, np.exp(middle))) < level else (low, middle)
    x = central(d, np.exp(low))
    far = float(np.abs(_tangent_in_floats(d, x) * x - np.array([float(e) for e in d.entitlement])).max())
    margin = max(far, abs(barrier_value(d, x) - level)) - NEAR
    return Verdict("njc", not margin > 0, margin, f"no point of the level {level:.3g} was found", "Newton's method")


def limit_of_curves(case: Case) -> Verdict:
    """The same for another family: a smooth minimum of the lines of the boundary, less h x_1^2; h -> 0.

    A line x_1 <= b is replaced by x_2 <= (b - x_1) / h. The curve is below g, and at (1 - part) y it is above, for the allocation
    y without complaints; so the loss is at most -log(1 - part).
    """
    d = data(case)
    regions._two(d)
    (y, *_), far = all_fair(d), []
    lines = [(float(r), float(w)) for r, w in zip(*with_dummies(matrix(d)), strict=True) if r or w]
    for h in (1e-2, 1e-4):
        x = _best_on_curve(d, lines, h)
        drop = h * (1 + log(len(lines)))
        part = max(drop * max(w for _, w in lines), h * (float(y[1]) + drop) / float(y[0]))
        far.append(regions.loss(d, x, y) + log(max(1 - part, 1e-9)) - NEAR)
    return Verdict(
        "njc", not max(far) > 0, max(far), f"points on smooth curves do not come near to {brackets(y)}", "floating point"
    )


def _best_on_curve(d: Requests, lines: list[tuple[float, float]], h: float) -> tuple[float, float]:
    """Where the tangent has nu_1 x_1 = e_1, which is where sum e log x is largest, by halving on q = - f' x_1 / f."""
    ratio, low, high = float(d.entitlement[0] / d.entitlement[1]), 0.0, 1.0
    for _ in range(200):
        first = (low + high) / 2
        height, slope = _curve(lines, h, first)
        low, high = (first, high) if height > 0 and -slope * first < ratio * height else (low, first)
    return low, _curve(lines, h, low)[0]


def _curve(lines: list[tuple[float, float]], h: float, first: float) -> tuple[float, float]:
    """The smooth minimum less h x_1^2 at x_1, and its derivative."""
    values = np.array([(1 - r * first) / w if w else (1 / r - first) / h for r, w in lines])
    slopes = np.array([-r / w if w else -1 / h for r, w in lines])
    least = values.min()
    parts = np.exp((least - values) / h)
    return float(least - h * np.log(parts.sum()) - h * first**2), float(parts @ slopes / parts.sum() - 2 * h * first)


def by_newton(case: Case) -> Points:
    """Points that fulfil (12) for several c."""
    points = [central(data(case), c, weighting(case)) for c in SCALES]
    return [(barrier_value(data(case), x), x) for x in points]


FLOATS: dict[str, Callable[[Case], Verdict]] = {
    "D.S5.dummies": dummies_in_floats,
    "D.S5.dummies-zero": dummies_in_floats,
    "D.S6.minimal-gap": rests_where_fair_in_floats,
    "D.R1": barrier_grows,
    "D.R2": other_barrier,
    "D.R4": starts_at_zero,
    "D.E4": equality_on_the_tangent,
    "D.S5.2.normal": combination_of_requests,
    "D.S5.2.family": growing_sets,
    "D.S5.3.smooth": curvature,
    "D.S5.3.limit": limit_of_curves,
    "D.S5.3.point": point_by_newton,
    "D.S5.1.linear-program": found_by_linear_programs,
    "D.L3.step": vanishing_numerators,
    "D.S5.1.order": removal_order,
    "D.S5.1.renormalised": renormalised_requests,
    "D.S5.2.simplex": simplex,
    "D.S5.3.slopes": falling_slopes,
    "D.S4.utilisation-higher": partial(utilisation, sign=1),
    "D.S4.utilisation-lower": partial(utilisation, sign=-1),
    "D.S4.strategyproof.harm": harm,
    "D.L4": trajectories.on_trajectories(trajectories.exists, by_newton).trial,
    "D.L2": trajectories.on_trajectories(trajectories.ends_at_the_boundary, by_newton).trial,
    "D.L2.true": trajectories.on_trajectories(trajectories.tends_to_the_market, by_newton).trial,
    "D.S5.5.weights.true": trajectories.on_trajectories(trajectories.tends_to_the_market, by_newton).trial,
    **{
        f"D.{name}": at_points(f"D.{name}")
        for name in ["R3", "E6", "R5", "E11", "E11.true", "E13.true", "L4.symmetric", "L4.unique"]
    },
}

NUMBERS = [name for name, item in all_statements().items() if item.quantifier == "one"]
SECOND = {name: with_equations(name) for name, (one, other) in trials.items() if one == other and name not in NUMBERS} | FLOATS
"""Of what one exact route tries and confirms, by statement."""
