r"""Sections 5.2 and 5.3: the sets Q_t = {x in D: f(x) <= t}, their tangents, and with two users the curves that bound them.

In rationals f(x) <= t is  prod_j s_j >= e^-t,  so a level is a product of spare parts. The tangent at x is  sum_i nu_i y_i = 1
with nu the gradient of f, divided by its product with x. In floating point gradients are those of complex steps.
"""

from collections.abc import Callable
from fractions import Fraction
from math import log, prod
from typing import Any

import numpy as np

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import Requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.numbers import Floats
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Routes
from fairalloc.theorems.papers.d.barrier import TrajectoryPoint, along, barrier_value, central, inside, with_dummies
from fairalloc.theorems.papers.d.complaints import ONE, ZERO, brackets, by_equations, by_polytopes, data, loads, point_of_case
from fairalloc.theorems.papers.d.trajectories import NEAR

PARTS = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 1024))
"""Parts by which a point is drawn to 0."""

HALVINGS = 60
"""How often an interval is halved in rationals."""

SMALL = 1e-30
"""A complex step."""


def in_floats_and_rationals(check: Callable[[Case, bool], tuple[Any, str]]) -> Routes:
    """A check (margin, sentence) in floating point and in rationals; a violation in floating point must be confirmed."""

    def confirm(case: Case) -> Verdict:
        margin, words = check(case, True)
        return Verdict("njc", not margin > 0, float(margin), words, "rational arithmetic")

    def trial(case: Case) -> Verdict:
        margin, words = check(case, False)
        return confirm(case) if margin > TOLERANCE else Verdict("njc", True, float(margin), words, "floating point")

    return Routes(trial, confirm)


# ---- tangents ---------------------------------------------------------------------------------------------------------


def tangent(at: TrajectoryPoint) -> list[Fraction]:
    """(N,) nu of the tangent sum_i nu_i y_i = 1 at x of the set Q_t on whose boundary x is."""
    slope = [sum(row, ZERO) for row in at.b]
    height = sum((v * w for v, w in zip(at.x, slope, strict=True)), ZERO)
    return [w / height for w in slope]


def _tangent_in_floats(d: Requests, x: Floats) -> Floats:
    steps = x + 1j * SMALL * np.eye(len(x))
    slope = np.array([-np.log(1.0 - np.concatenate([step @ d.matrix(), step])).sum().imag / SMALL for step in steps])
    result: Floats = slope / (slope @ x)
    return result


def equality_on_the_tangent(case: Case, exact: bool) -> tuple[Any, str]:
    """The tangent at y meets no other point of Q_t, and where (4) holds for all users it does with equality (D 4).

    Of the case's points y is the one with the larger f; (4) is for the case's entitlements, and for those of y by (7).
    """
    d, x, y = data(case), *sorted((inside(case, k) for k in (0, 1)), key=lambda at: -prod(at.s))
    nu: Any = tangent(y) if exact else _tangent_in_floats(d, np.array([float(v) for v in y.x]))
    other = sum(a * b for a, b in zip(nu, x.x, strict=True)) - 1
    margins = [(other if other > 0 else ONE) if x.x != y.x and other >= (0 if exact else TOLERANCE) else -ONE]
    for e in (d.entitlement, y.e):
        gaps = [n * v - w for n, v, w in zip(nu, y.x, e, strict=True)]
        margins.append(max(gaps) if min(gaps) >= (0 if exact else -TOLERANCE) else -ONE)
    return max(margins), f"at {brackets(y.x)} the tangent is {brackets(nu)}, and {brackets(x.x)} is as low"


def combination_of_requests(case: Case, exact: bool) -> tuple[Any, str]:
    """The tangent at x is an average of the planes sum_i r_ij y_i = load_j through x, with weights load_j / s_j (D 5.2)."""
    at = inside(case, 0)
    weights = [(1 - s) / s for s in at.s]
    mean = [sum((r / s for r, s in zip(row, at.s, strict=True)), ZERO) / sum(weights) for row in at.r]
    if exact:
        units = [[ONE if k == i else ZERO for k in range(len(at.x))] for i in range(len(at.x))]
        slope = [sum(along(at, unit)[0], ZERO) for unit in units]
        height = sum((v * w for v, w in zip(at.x, slope, strict=True)), ZERO)
        nu: Any = [w / height for w in slope]
    else:
        nu = _tangent_in_floats(data(case), np.array([float(v) for v in at.x]))
    return max(abs(a - b) for a, b in zip(nu, mean, strict=True)), f"at {brackets(at.x)} the tangent is {brackets(nu)}"


# ---- the sets Q_t -----------------------------------------------------------------------------------------------------


def growing_sets(case: Case, exact: bool) -> tuple[Any, str]:
    """Of x in D the part 1 - h is in Q_t for t = m log(1 / h), and f is smaller the smaller the part is (D 5.2, a to c)."""
    d, x = data(case), point_of_case(case)
    count = d.R + len(x)
    margins: list[Any] = []
    before: Any = None
    for h in PARTS[::-1]:
        part = tuple((1 - h) * v for v in x)
        if exact:
            level: Any = -prod(1 - v for v in (*loads(d, part), *part))
            margins.append(level + h**count)
        else:
            level = barrier_value(d, np.array([float(v) for v in part]))
            margins.append(level - count * log(1 / h))
        margins += [] if before is None else [level - before]
        before = level
    return max(margins), f"a part of {brackets(x)} has a larger f than it should"


def curvature(case: Case, exact: bool) -> tuple[Any, str]:
    """With two users the boundary of Q_t is a curve x_2 = f(x_1) with f'' < 0 (D 5.3)."""
    d, at = data(case), inside(case, 0)
    _two(d)
    if exact:
        up, right = (sum(at.b[i], ZERO) for i in (1, 0))
        bend = sum(((up * a - right * b) ** 2 for a, b in zip(*at.b, strict=True)), ZERO)
        return (-bend or ONE), f"at {brackets(at.x)} the curve does not bend"
    x = np.array([float(v) for v in at.x])
    level, h = barrier_value(d, x), 1e-3 * float(min(*x, *map(float, at.s)))
    left, right_ = (_height(d, x[0] + step, level) for step in (-h, h))
    return (left + right_ - 2 * x[1]) / h, f"at {brackets(at.x)} the curve does not bend"


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


def _two(d: Requests) -> None:
    if len(d.parts) != 2:
        raise NotApplicable("the claim is about two users")


# ---- points and their limits ------------------------------------------------------------------------------------------


def point_by_newton(case: Case) -> Verdict:
    """On the level of f through a point, the point where sum_i e_i log x_i is largest has nu_i x_i = e_i (D 5.3)."""
    d, at = data(case), inside(case, 0)
    _two(d)
    level = barrier_value(d, np.array([float(v) for v in at.x]))
    low, high = -20.0, 20.0
    for _ in range(HALVINGS // 2):
        middle = (low + high) / 2
        low, high = (middle, high) if barrier_value(d, central(d, np.exp(middle))) < level else (low, middle)
    x = central(d, np.exp(low))
    far = float(np.abs(_tangent_in_floats(d, x) * x - np.array([float(e) for e in d.entitlement])).max())
    margin = max(far, abs(barrier_value(d, x) - level)) - NEAR
    return Verdict("njc", not margin > 0, margin, f"no point of the level {level:.3g} was found", "Newton's method")


def point_on_the_level(case: Case) -> Verdict:
    """The same by halving: from one end of the curve to the other nu_1 x_1 / nu_2 x_2 passes e_1 / e_2, as D argues."""
    d, at = data(case), inside(case, 0)
    _two(d)
    x = _equal_on_level(d, prod(at.s, start=ONE))
    gap = max(abs(v - e) for v, e in zip(_worth(d, x), d.entitlement, strict=True))
    return Verdict(
        "njc", gap <= NEAR, float(gap) - NEAR, f"near {brackets(x)} nu_i x_i is {float(gap):.1e} off", "halving in rationals"
    )


def _worth(d: Requests, x: Rationals) -> list[Fraction]:
    """(N,) nu_i x_i of the tangent at x."""
    s = [1 - v for v in (*loads(d, x), *x)]
    parts = [v * sum((r / w for r, w in zip(row, s, strict=True)), ZERO) for v, row in zip(x, with_dummies(d), strict=True)]
    return [part / sum(parts) for part in parts]


def _equal_on_level(d: Requests, level: Fraction) -> Rationals:
    """The point of the curve prod s = level with nu_1 x_1 = e_1, by halving."""

    def inner(x: Rationals) -> bool:
        s = [1 - v for v in (*loads(d, x), *x)]
        return min(s) > 0 and prod(s) >= level

    def at(first: Fraction) -> Rationals:
        return first, _halved(lambda v: inner((first, v)))

    end = _halved(lambda v: inner((v, ZERO)))
    return at(end * _halved(lambda part: _worth(d, at(end * part))[0] < d.entitlement[0]))


def _halved(holds: Callable[[Fraction], bool]) -> Fraction:
    """The end in [0, 1] of where something holds."""
    low, size = ZERO, ONE
    for _ in range(HALVINGS):
        size /= 2
        low += size if holds(low + size) else 0
    return low


def limit_of_levels(case: Case) -> Verdict:
    """The points on levels of f tend to the allocation without complaints: their loss in sum e log x is at most m / c (D 5.3)."""
    d = data(case)
    _two(d)
    (y, *_), far = by_equations(d), []
    for level in (Fraction(1, 2**10), Fraction(1, 2**25)):
        x = _equal_on_level(d, level)
        s = [1 - v for v in (*loads(d, x), *x)]
        far.append(_loss(d, x, y) - float(len(s) / sum((1 - v) / v for v in s)) - NEAR)
    return Verdict(
        "njc", not max(far) > 0, max(far), f"points on levels of f do not come near to {brackets(y)}", "halving in rationals"
    )


def _loss(d: Requests, x: Any, y: Any) -> float:
    return sum(float(e) * log(float(b) / float(a)) for e, a, b in zip(d.entitlement, x, y, strict=True))


def limit_of_curves(case: Case) -> Verdict:
    """The same for another family: a smooth minimum of the lines of the boundary, less h x_1^2; h -> 0.

    A line x_1 <= b is replaced by x_2 <= (b - x_1) / h. The curve is below g, and at (1 - part) y it is above, for the allocation
    y without complaints; so the loss is at most -log(1 - part).
    """
    d = data(case)
    _two(d)
    (y, *_), far = by_polytopes(d), []
    lines = [(float(r), float(w)) for r, w in zip(*with_dummies(d), strict=True) if r or w]
    for h in (1e-2, 1e-4):
        x = _best_on_curve(d, lines, h)
        drop = h * (1 + log(len(lines)))
        part = max(drop * max(w for _, w in lines), h * (float(y[1]) + drop) / float(y[0]))
        far.append(_loss(d, x, y) + log(max(1 - part, 1e-9)) - NEAR)
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


# ---- Remark 2 -----------------------------------------------------------------------------------------------------------


def other_barrier(case: Case, exact: bool) -> tuple[Any, str]:
    """F(x) - sum_i log x_i is positive inside of D and infinite on its boundary (D Remark 2).

    In rationals by its factors s and x; in floats by its growth from 2^-20 to 2^-40 of the way to the boundary, 20 log 2 a term.
    """
    d, x = data(case), point_of_case(case)
    words = f"f(x) - sum_i log x_i is not as it should be at x = {brackets(x)}"
    tight = min(x) == 0 or max(x) == 1 or max(loads(d, x)) == 1
    if exact:
        factors = prod((*(1 - v for v in (*loads(d, x), *x)), *x))
        return (-ONE if (factors == 0 if tight else 0 < factors < 1) else ONE), words
    end = np.array([float(v) for v in x])
    inner = np.full(len(x), 0.5 / max(1.0, float((np.ones(len(x)) @ d.matrix()).max())))

    def value(y: Floats) -> float:
        return barrier_value(d, y) - float(np.log(y).sum())

    early, late = (value(end + 0.5**k * (inner - end)) for k in (20, 40))
    return (10.0 - (late - early) if tight else -value(end)), words
