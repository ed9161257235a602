r"""PS-MFA with steps that satisfy (51)-(53) and add up to too little (K 5.1, Theorem 8).

Users 1 and 2 each have a server to themselves, with one unit of the one resource, of which a task needs one; each demands what
the other's server has and is not eligible there, so Assumption 2 holds. Both start at x^1 < 1 with lambda = 0. With rho =
sqrt(x^2 + f^2), at 0 < x < 1, where nothing is full,

    f = -x^-alpha,   psi_FB = rho - x - f,   v_x = psi_FB (1 - x / rho) + psi_FB (1 - f / rho) alpha x^(-alpha - 1)      (K 93)

and alpha <= v_x <= M = 2 (x^1)^-alpha (1 + 2 alpha (x^1)^(-alpha - 1)) for x^1 <= x <= t < 1 (`steps_that_become_small`).

**Steps.** eta^h = first (t - x^1) / M q^(h - 1), where first / (1 - q) <= 1: all moves together are at most t - x^1, so x stays
below t, (52) and (53) hold, and lambda stays 0, for nothing becomes full. As dPsi/dx = -v_x < 0, every step satisfies (51).
|v| is alpha or more in every iteration, so with epsilon < alpha PS-MFA never ends, and where x tends to the gradient is not 0.
"""

from dataclasses import replace
from fractions import Fraction

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.k.problem_3 import ExactMeritPoint

F = Fraction

STEPS = 24
"""Iterations that are run; the bounds are for all."""

RUN = Case(
    Instance([[1], [1]], [[1], [1]], eligible=[[1, 0], [0, 1]]),
    points=((F(1, 2), F(1, 2)),),
    parameters={"alpha": 2, "first": F(1, 2), "shrink": F(1, 2)},
)
"""Where the users start, and first and q of the docstring."""


def numbers(case: Case) -> tuple[int, Fraction, Fraction, Fraction]:
    """Alpha, x^1, first and q; NotApplicable where the case is not of the kind that the docstring is about."""
    instance, start = case.instance, set(case.points[0])
    alone = len(instance.arcs) == instance.N == instance.K and instance.R == 1
    ones = {v for v, *_ in instance.exact.capacities} | {d[0][0] for d in instance.exact.demands} | {*instance.exact.weights}
    if not alone or ones != {F(1)}:
        raise NotApplicable("not every user has a server of capacity 1 to itself")
    if len(start) > 1 or not all(0 < x < 1 for x in start):
        raise NotApplicable("the users do not start alike between 0 and 1")
    return int(case.parameters["alpha"]), start.pop(), F(case.parameters["first"]), F(case.parameters["shrink"])


def tried(case: Case) -> Verdict:
    """Some of the steps in floating point, with the gradient on the system itself, and the sum of all steps to come."""
    alpha, start, first, shrink = numbers(case)
    x, end, q = float(start), float(1 + start) / 2, float(shrink)
    step = float(first) * (end - x) / (2 * x**-alpha * (1 + 2 * alpha * x ** (-alpha - 1)))
    for _ in range(STEPS):
        point = replace(case, points=((F(x),) * case.instance.N,), parameters={"alpha": alpha, "price": 0})
        v = -float(ExactMeritPoint.of(point).by_x()[0])
        x, step = x + step * v, step * q
    moves = first <= 1 - shrink and x + step * q / (1 - q) * v < end
    return Verdict("termination", not moves, abs(v) if moves else -1.0, f"|v| is {abs(v):.3g} at x = {x:.4g}", f"{STEPS} steps")
