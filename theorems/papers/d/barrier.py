r"""The function f of D 5.4 and its trajectory, for claims about them: by D's formulas, and by power series or Newton's method.

With the N dummy resources of D 5, s_j = 1 - sum_k x_k r_kj, b_ij = r_ij / s_j and m resources in all,

    f(x) = - sum_j log s_j                                          (D 5)      nu_i = sum_j b_ij                       (D 6)
    x_i nu_i = c e_i,   c = sum_i x_i nu_i                          (D 7)      M = diag(nu) + diag(x) B B^T             (D 13)

Every x > 0 inside of D is on the trajectory of the entitlements that (7) gives it, and of no others; claims about single points
of trajectories are tried on such points, so that nothing has to be integrated. Derivatives are confirmed by power series in
rationals: `along(d, x, v)` is what (5) and (12) change into at x + h v, to the first order in h.

`central` finds the point of the trajectory with a given c by Newton's method for the maximum of  sum_i e_i log x_i - f(x) / c,
whose optimality condition is (12): unrelated to the integrator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.formulations.njc import Requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, as_flint, as_fraction, exact_arcs, solved
from fairalloc.models.numbers import Floats
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d.complaints import ONE, ZERO, data, loads


@dataclass(frozen=True)
class TrajectoryPoint:
    """A point inside of D with the entitlements of the trajectory on which it is.

    Attributes
    ----------
    x, e : (N,) fractions of requests, entitlements by (7)
    r : (N, m) requests with the dummy resources
    s : (m,) spare parts
    """

    x: Rationals
    e: Rationals
    r: tuple[Rationals, ...]
    s: Rationals

    @property
    def b(self) -> list[list[Fraction]]:
        """(N, m) b_ij."""
        return [[r / s for r, s in zip(row, self.s, strict=True)] for row in self.r]

    @property
    def matrix(self) -> list[list[Fraction]]:
        """(N, N) M as D's compact form has it."""
        b = self.b
        return [
            [(sum(row) if i == k else ZERO) + x * sum(p * q for p, q in zip(row, b[k], strict=True)) for k in range(len(b))]
            for i, (x, row) in enumerate(zip(self.x, b, strict=True))
        ]

    def velocity(self) -> list[Fraction]:
        """(N,) dx/dt: M v = e, scaled so that f grows at the rate 1."""
        v = solved(self.matrix, self.e)
        assert v is not None, "(13) has one solution inside of D"
        rate = sum(sum(row) * w for row, w in zip(self.b, v, strict=True))
        return [w / rate for w in v]


def with_dummies(d: Requests) -> tuple[Rationals, ...]:
    """(N, m) requests, those for the dummy resources last."""
    count = len(d.parts)
    return tuple(
        tuple(part.get(j, ZERO) for j in range(d.R)) + tuple(ONE if k == i else ZERO for k in range(count))
        for i, part in enumerate(d.parts)
    )


def point(case: Case) -> TrajectoryPoint:
    """The case's point, halved so that it is inside; NotApplicable where a user has nothing, so that (7) has no e_i > 0."""
    d = data(case)
    tasks = exact_arcs(case.instance).tasks(case.points[0])
    x = tuple(u / q / 2 for u, q in zip(tasks, d.unit, strict=True))
    if not min(x) > 0:
        raise NotApplicable("the claim is about points with x > 0")
    r = with_dummies(d)
    s = tuple(1 - load for load in (*loads(d, x), *x))
    worth = [v * sum(a / b for a, b in zip(row, s, strict=True)) for v, row in zip(x, r, strict=True)]
    return TrajectoryPoint(x, tuple(w / sum(worth) for w in worth), r, s)


def along(at: TrajectoryPoint, v: Sequence[Fraction]) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """Derivatives along v by power series: of - log s_j (m,), of x_i nu_i (N,), and of nu_i (N,)."""
    from flint import fmpq_series

    def series(first: Fraction, second: Fraction) -> Any:
        return fmpq_series([as_flint(first), as_flint(second)], prec=2)

    def slope(value: Any) -> Fraction:
        return as_fraction(value[1])

    x = [series(a, b) for a, b in zip(at.x, v, strict=True)]
    spare = [
        1 - sum((series(row[j], ZERO) * u for row, u in zip(at.r, x, strict=True)), series(ZERO, ZERO)) for j in range(len(at.s))
    ]
    logs = [slope(-((s / series(a, ZERO)).log())) for s, a in zip(spare, at.s, strict=True)]
    normal = [sum((series(r, ZERO) / s for r, s in zip(row, spare, strict=True)), series(ZERO, ZERO)) for row in at.r]
    return logs, [slope(u * n) for u, n in zip(x, normal, strict=True)], [slope(n) for n in normal]


def barrier_value(d: Requests, x: Floats) -> float:
    """f(x)."""
    return float(-np.log(1.0 - np.concatenate([x @ d.matrix(), x])).sum())


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
