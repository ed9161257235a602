r"""Formulas of K against what they are said to be: (104) to (107), (57) and footnote 8.

    (22)   g_i'(z) = (A / z)^alpha + B / z,   z_ni = x_n / (phi_n gamma_ni),   h = g' / gamma, the price d lambda where f_ni = 0
    (104)  d_nr lambda_ir = phi^alpha gamma^(alpha - 1) A^alpha / x^alpha + B / x
    (105)  d_n dlambda_i + omega_ni dx_n = 0   for x_ni > 0,   omega_ni = alpha h / x + B (1 - alpha) / x^2                  (106)
    (107)  these equations as a matrix [D | V], a column for each server and for each user
    (55)   v_ni = -f_ni = g_i'(z_ni) / gamma_ni - sum_r lambda_ir d_nr,   while x_ni > 0
    (57)   lambda_ir = [e_ir]^+ / epsilon^2,   e_ir = sum_m x_mi d_mr - c_ir + epsilon
    Fn. 8  (57) is to relax (13) and to add sum_r e_ir^2 / (2 epsilon^2) to the objective

Since h = phi^alpha gamma^(alpha - 1) A^alpha / x^alpha + B phi / x, (104) lacks phi, and so do (103) and (106). The derivative
of ([e_ir]^+)^2 / (2 epsilon^2) by x_ni is lambda_ir d_nr: it has to be subtracted, and only where e_ir > 0.

(105) holds to first order iff -omega_ni is the derivative of h by x_n. K infers from N + S or more rows that the rank of [D | V]
is N + S, since no column of V is a combination of columns of D, nor the other way round; but one of both may be 0 (`ALIKE`). That
(102) then fails is not in (107).

Where (55)-(57) rest, users keep 1 - e times (41), with e = epsilon in parts of the least capacity, for alpha >= 1: that bounds
their prices, so that loads tend to capacities. It is tried for alpha = 1 at each server of a point by itself, with the
users who have tasks there and weights for which these rest, phi_n = x_n sum_r lambda_r d_nr.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import exact_verdict
from fairalloc.theorems.papers.k.marginals import alphas, totals, worths

F = Fraction

ALIKE = Case(Instance([[1], [1]], [[1], [1]]), points=((F(1, 2),) * 4,), parameters={"alpha": 2, "A": 1, "B": 1})
"""h = 2 and omega = 3 at all arcs, and dlambda = -3, dx = 1 solves (105)."""

EPSILON = F(1, 4)
"""Of (57), in parts of capacity."""


# ---- (104) to (107) ---------------------------------------------------------------------------------------------------------


def _terms(case: Case) -> tuple[int, Fraction, Fraction, list[Fraction], list[tuple[Fraction, Fraction]]]:
    """Alpha, A, B, (A,) the tasks of each arc's user, and both terms of h, at the case's point."""
    A, B = (F(str(case.parameters[name])) for name in "AB")
    x, terms = case.points[0], worths(case.instance, case.points[0], alphas(case), A, B)
    return int(case.parameters["alpha"]), A, B, totals(case.instance, x), terms


def _alike(each: Iterable[tuple[Fraction, Fraction]], what: str) -> Verdict:
    """Whether each printed number is the right one."""
    off = max(abs(printed / right - 1) for printed, right in each)
    return exact_verdict("formula", off, f"{what} is off by {float(off):.3g}, relative")


def price_by_104(case: Case) -> Verdict:
    """(104) as printed is g' / gamma at the case's tasks."""
    (alpha, A, B, have, terms), phi = _terms(case), case.instance.exact.weights
    each = zip(exact_arcs(case.instance).user, exact_monopolies(case.instance), have, terms, strict=True)
    printed = [(phi[n] ** alpha * gamma ** (alpha - 1) * (A / x) ** alpha + B / x, sum(h, F(0))) for n, gamma, x, h in each]
    return _alike(printed, "(104)")


def omega(case: Case) -> Verdict:
    """(106) is the derivative of -h: alpha first / x + second / x for the terms of h."""
    alpha, _, B, have, terms = _terms(case)
    printed = [alpha * sum(h) / x + B * (1 - alpha) / x**2 for x, h in zip(have, terms, strict=True)]
    right = [(alpha * h[0] + h[1]) / x for x, h in zip(have, terms, strict=True)]
    return _alike(zip(printed, right, strict=True), "(106)")


# ---- footnote 8 ------------------------------------------------------------------------------------------------------------


def penalty(printed: bool, case: Case) -> Verdict:
    """The derivative of what is added to (12) is -sum_r lambda_ir d_nr with (57), by quotients in rationals.

    `printed` = what is added is e^2 / (2 epsilon^2), as in footnote 8; else it is -([e]^+)^2 / (2 epsilon^2).
    """
    arcs, x, h = exact_arcs(case.instance), list(case.points[0]), F(1, 2**200)
    excess = [load - 1 + EPSILON for load in arcs.loads(x)]
    worst = F(0)
    for load in arcs.load:
        ends = [sum((_added(excess[row] + s * h * part, printed) for row, part in load), F(0)) for s in (1, -1)]
        direction = -sum((max(excess[row], F(0)) / EPSILON**2 * part for row, part in load), F(0))
        worst = max(worst, abs((ends[0] - ends[1]) / (2 * h) - direction) / max(part for _, part in load))
    words = f"the derivative of what is added differs from that of (55) by {float(worst):.3g}"
    return Verdict("formula", worst < F(1, 2**100), float(worst), words, "quotients in rationals")


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
    words = f"a user has {float(max(margins)):.3g} of the server less than 1 - epsilon times its part"
    return exact_verdict("sharing", max(margins), words)
