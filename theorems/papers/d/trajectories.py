r"""The function f of D 5.4 and its trajectory: by D's formulas, by power series in rationals, and by the integrator.

With the N dummy resources of D 5, s_j = 1 - sum_k x_k r_kj, b_ij = r_ij / s_j and m resources in all,

    f(x) = - sum_j log s_j                                          (D 5)      nu_i = sum_j b_ij                       (D 6)
    x_i nu_i = c e_i,   c = sum_i x_i nu_i                          (D 7)      M = diag(nu) + diag(x) B B^T             (D 13)

Every x > 0 inside of D is on the trajectory of the entitlements that (7) gives it, and of no others, so claims about points
need no integration.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.rationals import Rationals, as_flint, as_fraction, solved
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve
from fairalloc.solvers.method import Limits
from fairalloc.solvers.njc.ode import TrajectoryEquations, trajectory
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import Routes, exact_verdict, once, only_where
from fairalloc.theorems.papers.d.complaints import (
    ZERO,
    Found,
    brackets,
    complaint,
    data,
    fractions,
    matrix,
    of_data,
    point_of_case,
)
from fairalloc.theorems.standalone.definitions import with_dummies

NEAR = 1e-5
"""What floating point is trusted with in claims about trajectories; the integrator asks for 1e-8 a step."""


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
    r: Sequence[Sequence[Fraction]]
    s: Rationals

    @property
    def b(self) -> Any:
        """(N, m) b_ij."""
        return np.array(self.r, dtype=object) / np.array(self.s, dtype=object)

    @property
    def nu(self) -> Any:
        """(N,) the gradient of f."""
        return self.b.sum(axis=1)

    @property
    def matrix(self) -> list[list[Fraction]]:
        """(N, N) M as D's compact form has it."""
        made: list[list[Fraction]] = (np.diag(self.nu) + np.array(self.x, dtype=object)[:, None] * (self.b @ self.b.T)).tolist()
        return made

    @property
    def units(self) -> list[Rationals]:
        return [tuple(Fraction(k == i) for k in range(len(self.x))) for i in range(len(self.x))]

    def velocity(self) -> Any:
        """(N,) dx/dt: M v = e, scaled so that f grows at the rate 1."""
        v = np.array(solved(self.matrix, self.e), dtype=object)  # (13) has one solution inside of D
        return v / (self.nu @ v)


def slack(d: Requests, x: Sequence[Fraction]) -> Rationals:
    """(m,) spare parts of resources and dummies."""
    return tuple(1 - v for v in (*d.loads(x), *x))


def through(d: Requests, x: Rationals) -> TrajectoryPoint:
    r, s = with_dummies(matrix(d)), slack(d, x)
    worth = [v * sum(a / b for a, b in zip(row, s, strict=True)) for v, row in zip(x, r, strict=True)]
    return TrajectoryPoint(x, tuple(w / sum(worth) for w in worth), r, s)


def inside(case: Case, k: int = 0) -> TrajectoryPoint:
    """The k-th point of the case, halved so that it is inside; NotApplicable where a user has nothing: e_i = 0 in (7)."""
    x = tuple(v / 2 for v in point_of_case(case, k))
    only_where(min(x) > 0, "the claim is about points with x > 0")
    return through(data(case), x)


def along(at: TrajectoryPoint, v: Sequence[Fraction]) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """Derivatives along v by power series: of - log s_j (m,), of x_i nu_i (N,), and of nu_i (N,)."""
    from flint import fmpq_series

    def series(first: Fraction, second: Fraction) -> Any:
        return fmpq_series([as_flint(first), as_flint(second)], prec=2)

    def slope(value: Any) -> Fraction:
        return as_fraction(value[1])

    x, zero = [series(a, b) for a, b in zip(at.x, v, strict=True)], series(ZERO, ZERO)
    spare = [1 - sum((series(row[j], ZERO) * u for row, u in zip(at.r, x, strict=True)), zero) for j in range(len(at.s))]
    logs = [slope(-((s / series(a, ZERO)).log())) for s, a in zip(spare, at.s, strict=True)]
    normal = [sum((series(r, ZERO) / s for r, s in zip(row, spare, strict=True)), zero) for row in at.r]
    return logs, [slope(u * n) for u, n in zip(x, normal, strict=True)], [slope(n) for n in normal]


def at_points(check: Callable[[Requests, TrajectoryPoint], tuple[Any, str]]) -> Routes:
    """A check at the case's point, halved so that it is inside of D."""

    def judge(case: Case, d: Requests) -> Found:
        margin, words = check(d, inside(case))
        return Found(margin, f"at x = {brackets(inside(case).x)} {words}")

    return of_data(judge)


def far(said: Sequence[Any], true: Sequence[Any]) -> Any:
    """How far numbers are from what power series say."""
    return max((abs(a - b) for a, b in zip(said, true, strict=True)), default=ZERO)


def equation_8(_: Requests, at: TrajectoryPoint) -> tuple[Any, str]:
    """(8) follows from (7)."""
    x, e, r, s = (np.array(part, dtype=object) for part in (at.x, at.e, at.r, at.s))
    parts = (x[:, None] * r - np.outer(e, 1 - s)) / s
    return max(abs(parts.sum(axis=1))), "(8) fails"


def printed_11(_: Requests, at: TrajectoryPoint) -> tuple[Any, str]:
    """(11) differentiated as printed: each sum_k x'_k r_kj / s_j is 1."""
    first = along(at, at.velocity())[0][0]
    return abs(first - 1), f"on the trajectory of e = {brackets(at.e)} the left side for resource 1 is {first}"


def equation_13(_: Requests, at: TrajectoryPoint) -> tuple[Any, str]:
    """(13) with both sums over j: the derivative of x_i nu_i along dx/dt is dc/dt e_i."""
    v, b = at.velocity(), at.b
    said = at.nu * v + np.array(at.x, dtype=object) * (b @ (v @ b))
    true = along(at, v)[1]
    return far([*said, *true], [*true, *(sum(true) * e for e in at.e)]), "(13) fails"


def unique_velocity(_: Requests, at: TrajectoryPoint) -> tuple[Any, str]:
    """(13) has one solution, and scaling by a positive number makes f grow at the rate 1."""
    regular = solved(at.matrix, at.e) is not None
    rising = regular and at.velocity() @ at.nu == 1
    return (0 if rising and sum(along(at, at.velocity())[1]) > 0 else 1), "the matrix of (13) is singular, or f falls"


def starts_at_zero(case: Case, d: Requests) -> Found:
    """f(x) = 0 only at x = 0 (D Remark 4)."""
    x = point_of_case(case)
    only_where(min(slack(d, x)) != 0, "f is infinite there")
    return Found(-1 if (min(slack(d, x)) == 1) == (max(x) == 0) else 1, f"f is 0 at x = {brackets(x)}")


def weighting(case: Case) -> Floats:
    """1 for all resources but the first, which has the parameter `heavy`."""
    w = np.ones(case.instance.R + case.instance.N)
    w[0] = float(case.parameters.get("heavy", 1))
    return w


Points = list[tuple[float, Floats]]
"""Times, f(x) = t by (11), and points of a trajectory."""


def integrated(accuracy: float, case: Case) -> Points:
    """All that the integrator gives but the first."""
    way = trajectory(data(case), accuracy, weighting=weighting(case))
    return list(zip(way.t[1:], way.x[1:], strict=True))


def on_trajectories(
    check: Callable[[Case, TrajectoryEquations, Points], tuple[float, str]], points: Callable[[Case], Points]
) -> Routes:
    """A check of points of a trajectory, in floating point."""
    return once(
        lambda case: exact_verdict(
            "njc", *check(case, TrajectoryEquations(data(case), Limits(), weighting(case)), points(case)), "floating point"
        )
    )


def exists(case: Case, path: TrajectoryEquations, points: Points) -> tuple[float, str]:
    """x(t) fulfils (11) and (12), and f grows along it (D Lemma 4)."""
    d = data(case)
    errors = [max(fulfils_12(d, path, x), abs(-np.log(path.slack(x)).sum() - t) / t) for t, x in points]
    grows = all(before < after for (before, _), (after, _) in pairwise(points))
    return (max(errors) - NEAR * 100 if grows else 1.0), "no trajectory fulfils (11) and (12)"


def ends_at_the_boundary(_: Case, path: TrajectoryEquations, points: Points) -> tuple[float, str]:
    """x(t) comes to the boundary of D: the least spare part is at most m / c (D Lemma 2)."""
    gaps = [float(path.slack(x).min()) - (1 + NEAR) * len(path.slack(x)) / path.scale(x) for _, x in points]
    return max(gaps), "x(t) stays inside"


def tends_to_the_market(case: Case, path: TrajectoryEquations, points: Points) -> tuple[float, str]:
    """With any weights the loss sum e log x* - sum e log x is at most sum w / c, so x(t) tends to it (njc/ode.py)."""
    best, (_, x) = np.array(fractions(data(case), solve(case.instance, "njc", "njc-market")), dtype=float), points[-1]
    lost = float(path.e @ (np.log(best) - np.log(x)))
    words = f"the objective is {lost:.3g} below that of the market's allocation"
    return lost - float(path.w.sum()) / path.scale(x) - NEAR, words


def limit_is_fair(case: Case) -> Verdict:
    """The end of the trajectory is an NJC allocation up to the accuracy asked for (D Lemma 3; "a controllable error")."""
    asked = float(case.parameters.get("accuracy", 1e-5))
    way = trajectory(data(case), asked)
    if not way.reached:  # a resource that is full without a price: c beyond the reach of doubles
        return undecided(way.message, "integration", "njc")
    return exact_verdict("njc", way.complaint - 2 * asked, way.message, "integration")


def market_is_fair(case: Case) -> Verdict:
    """The market's allocation, to which the trajectory tends (D.L2.true), is an NJC allocation; in rationals."""
    d = data(case)
    x = fractions(d, solve(case.instance, "njc", "njc-market"))
    words = f"x = {brackets(x)}, where the trajectory ends, has a complaint"
    return exact_verdict("njc", complaint(d, x), words, "rational arithmetic")


def fulfils_12(d: Requests, path: TrajectoryEquations, x: Floats) -> float:
    """The largest relative error of (12) at x."""
    s = path.slack(x)
    left = x * ((path.r * (path.w / s)[: d.R]).sum(axis=1) + (path.w / s)[d.R :])
    return float(np.abs(left / path.scale(x) / path.e - 1).max())
