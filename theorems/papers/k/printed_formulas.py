r"""Formulas of K against what they are said to be: (104), (57), footnote 8, and two equilibria at ties.

    (22)   g_i'(z) = (A / z)^alpha + B / z,   z_ni = x_n / (phi_n gamma_ni)
    (104)  d_nr lambda_ir = phi^alpha gamma^(alpha - 1) A^alpha / x^alpha + B / x,   where f_ni = 0, that is d lambda = g' / gamma
    (55)   v_ni = -f_ni = g_i'(z_ni) / gamma_ni - sum_r lambda_ir d_nr,   while x_ni > 0
    (57)   lambda_ir = [e_ir]^+ / epsilon^2,   e_ir = sum_m x_mi d_mr - c_ir + epsilon
    Fn. 8  (57) is to relax (13) and to add sum_r e_ir^2 / (2 epsilon^2) to the objective

Since g' / gamma = phi^alpha gamma^(alpha - 1) A^alpha / x^alpha + B phi / x, (104) lacks phi, and so do (103) and (106). The
derivative of ([e_ir]^+)^2 / (2 epsilon^2) by x_ni is lambda_ir d_nr: it has to be subtracted, and only where e_ir > 0.

Where (55)-(57) rest, users keep 1 - e times (41), with e = epsilon in parts of the least capacity, for alpha >= 1: that bounds
their prices, so that loads tend to capacities. It is tried for alpha = 1 at each server of a point by itself, with the
users who have tasks there and weights for which these rest, phi_n = x_n sum_r lambda_r d_nr.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, exact_monopolies
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.convergence import gain_left
from fairalloc.theorems.papers.k.marginals import alphas, totals, worths

F = Fraction

EPSILON = F(1, 4)
"""Of (57), in parts of capacity."""


# ---- (104) -----------------------------------------------------------------------------------------------------------------


def price_by_104(case: Case) -> Verdict:
    """(104) as printed is g' / gamma at the case's tasks, in rationals."""
    instance, x, worst = case.instance, case.points[0], F(0)
    alpha, A, B = int(case.parameters["alpha"]), F(str(case.parameters["A"])), F(str(case.parameters["B"]))
    needed = worths(instance, x, alphas(case), A, B)
    for n, have, gamma, terms in zip(
        exact_arcs(instance).user, totals(instance, x), exact_monopolies(instance), needed, strict=True
    ):
        printed = instance.exact.weights[n] ** alpha * gamma ** (alpha - 1) * A**alpha / have**alpha + B / have
        worst = max(worst, abs(printed / sum(terms) - 1))
    return Verdict("formula", worst == 0, float(worst), f"(104) is off by {float(worst):.3g}, relative", "rational arithmetic")


# ---- footnote 8 ------------------------------------------------------------------------------------------------------------


def penalty(printed: bool) -> Callable[[Case], Verdict]:
    """The derivative of what is added to (12) is -sum_r lambda_ir d_nr with (57), by quotients in rationals.

    `printed` = what is added is e^2 / (2 epsilon^2), as in footnote 8; else it is -([e]^+)^2 / (2 epsilon^2).
    """

    def check(case: Case) -> Verdict:
        arcs, x, h = exact_arcs(case.instance), list(case.points[0]), F(1, 2**200)
        excess = [load - 1 + EPSILON for load in arcs.loads(x)]
        worst = F(0)
        for load in arcs.load:
            ends = [sum((_added(excess[row] + s * h * part, printed) for row, part in load), F(0)) for s in (1, -1)]
            direction = -sum((max(excess[row], F(0)) / EPSILON**2 * part for row, part in load), F(0))
            worst = max(worst, abs((ends[0] - ends[1]) / (2 * h) - direction) / max(part for _, part in load))
        words = f"the derivative of what is added differs from that of (55) by {float(worst):.3g}"
        return Verdict("formula", worst < F(1, 2**100), float(worst), words, "quotients in rationals")

    return check


def _added(excess: Any, printed: bool) -> Any:
    return excess**2 / (2 * EPSILON**2) if printed else -(max(excess, 0 * excess) ** 2) / (2 * EPSILON**2)


# ---- (57) ------------------------------------------------------------------------------------------------------------------


def approximate_prices(case: Case) -> Verdict:
    """Where these weights make a server's tasks rest, nobody has less than 1 - epsilon times (41), in rationals."""
    instance, arcs, epsilon = case.instance, exact_arcs(case.instance), F(case.parameters["epsilon"])
    x, gamma = case.points[0], exact_monopolies(instance)
    price = [max(load - 1 + epsilon, F(0)) / epsilon**2 for load in arcs.loads(x)]
    cost = [sum((price[row] * part for row, part in load), F(0)) for load in arcs.load]
    served = [[a for a in np.flatnonzero(instance.arcs.server == i) if x[a]] for i in range(instance.K)]
    return _kept([([x[a] * cost[a] for a in here], [x[a] / gamma[a] for a in here]) for here in served], epsilon)


def _kept(shares: Any, epsilon: F) -> Verdict:
    """Of each server weights and parts of a monopoly; servers where somebody's weight is 0 do not rest."""
    margins = [
        max((1 - epsilon) * own / sum(phi) - have for own, have in zip(phi, part, strict=True))
        for phi, part in shares
        if phi and min(phi) > 0
    ]
    if not margins:
        raise NotApplicable("at no server everybody with tasks uses what has a price")
    margin = float(max(margins))
    words = f"a user has {margin:.3g} of the server less than 1 - epsilon times its part"
    return Verdict("sharing", max(margins) <= 0, margin, words, "rational arithmetic")


# ---- ties ------------------------------------------------------------------------------------------------------------------


def one_equilibrium(case: Case) -> Verdict:
    """The case's two points are not both equilibria with different tasks, by (16) at each server's vertices, for whole alpha."""
    first, second = (totals(case.instance, x) for x in case.points)
    gain = max(gain_left(case.instance, x, case.parameters)[1] for x in case.points)
    far = max(abs(a - b) / max(a, b) for a, b in zip(first, second, strict=True))
    both = far > 0 and gain <= 0
    words = f"the points are {'' if both else 'not '}two equilibria with different tasks"
    return Verdict("uniqueness", not both, float(far) if both else -1.0, words, "vertices in rationals")
