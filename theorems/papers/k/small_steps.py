r"""PS-MFA with steps that satisfy (51)-(53) and add up to too little (K 5.1, Theorem 8).

Users 1 and 2 each have a server to themselves, with one unit of the one resource, of which a task needs one; each demands what
the other's server has and is not eligible there, so Assumption 2 holds. Both start at x^1 < 1 with lambda = 0. With rho =
sqrt(x^2 + f^2), at 0 < x < 1, where nothing is full,

    f = -x^-alpha,   psi_FB = rho - x - f,   v_x = psi_FB (1 - x / rho) + psi_FB (1 - f / rho) alpha x^(-alpha - 1)      (K 93)

**Bounds for x^1 <= x <= t < 1.** As x < rho and f < 0, psi_FB lies between -f >= 1 and -2 f <= 2 (x^1)^-alpha, 1 - x / rho
between 0 and 1, and 1 - f / rho between 1 and 2. So

    alpha <= v_x <= M = 2 (x^1)^-alpha (1 + 2 alpha (x^1)^(-alpha - 1))

**Steps.** eta^h = first (t - x^1) / M q^(h - 1), where first / (1 - q) <= 1: all moves together are at most t - x^1, so x stays
below t, (52) and (53) hold, and lambda stays 0, for nothing becomes full. As dPsi/dx = -v_x < 0, every step satisfies (51).
|v| is alpha or more in every iteration, so with epsilon < alpha PS-MFA never ends, and where x tends to the gradient is not 0.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import as_ball
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.k.problem_3_in_floats import PsMfaDirection

F = Fraction

STEPS = 24
"""Iterations that are run; the bounds are for all."""

RUN = Case(
    Instance([[1], [1]], [[1], [1]], eligible=[[1, 0], [0, 1]]),
    points=((F(1, 2), F(1, 2)),),
    parameters={"alpha": 2, "first": F(1, 2), "shrink": F(1, 2)},
)
"""Where the users start, and first and q of the docstring."""


def _largest(alpha: int, start: Fraction) -> Fraction:
    """M."""
    return 2 * start**-alpha * (1 + 2 * alpha * start ** (-alpha - 1))


def _numbers(case: Case) -> tuple[int, Fraction, Fraction, Fraction]:
    """Alpha, x^1, first and q; NotApplicable where the case is not of the kind that the docstring is about."""
    instance, start = case.instance, set(case.points[0])
    alone = len(instance.arcs) == instance.N == instance.K and instance.R == 1
    if not alone or {v for v, *_ in instance.exact.capacities} | {d[0][0] for d in instance.exact.demands} != {F(1)}:
        raise NotApplicable("not every user has a server of capacity 1 to itself")
    if len(start) > 1 or not all(0 < x < 1 for x in start):
        raise NotApplicable("the users do not start alike between 0 and 1")
    return int(case.parameters["alpha"]), start.pop(), F(case.parameters["first"]), F(case.parameters["shrink"])


def confirmed(case: Case) -> Verdict:
    """The bounds for all steps, and in balls that v keeps to them, that Psi falls, and that x stays below t."""
    from flint import arb, ctx

    alpha, start, first, q = _numbers(case)
    method, most, end = "bounds for all steps, and balls", _largest(alpha, start), (1 + start) / 2
    if first / (1 - q) > 1:
        return Verdict("termination", True, -1.0, "these steps may add up to more than t - x^1", method)
    with ctx.workprec(256):
        x, value, step = as_ball(start), None, first * (end - start) / most
        for _ in range(STEPS):
            f = -(x**-alpha)
            rho = (x * x + f * f).sqrt()
            excess = rho - x - f
            v = excess * (1 - x / rho) + excess * (1 - f / rho) * alpha * x ** (-alpha - 1)
            inside = v >= alpha and v <= as_ball(most) and (value is None or excess * excess < value)
            if not (inside and x < as_ball(end)):
                return Verdict("termination", None, np.nan, "not decided: a step does not keep to the bounds", method)
            x, value, step = x + as_ball(step) * v, excess * excess, step * q
        reached = float(arb(x))
    words = f"after {STEPS} of these steps x = {reached:.4g}; it never reaches {end}, and |v| >= {alpha} in every one"
    return Verdict("termination", False, float(alpha), words, method)


def tried(case: Case) -> Verdict:
    """The same in floating point, with the direction of PS-MFA on the system itself."""
    alpha, start, *rule = _numbers(case)
    (first, q), x, end = map(float, rule), float(start), float(1 + start) / 2
    step = first * (end - x) / float(_largest(alpha, start))
    for _ in range(STEPS):
        at = PsMfaDirection(replace(case, points=((F(x),) * case.instance.N,), parameters={"alpha": alpha, "price": 0}))
        x, step = x + step * float(at.v_x[0]), step * q
    far = x + step * q / (1 - q) * float(at.v_x[0])
    moves = first / (1 - q) <= 1 and far < end
    size = float(np.abs(at.v_x).max())
    return Verdict("termination", not moves, size if moves else -1.0, f"|v| is {size:.3g} at x = {x:.4g}", f"{STEPS} steps")
