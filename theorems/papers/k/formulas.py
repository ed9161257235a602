r"""Formulas of K against what they are said to be: (104) to (107), (57) and footnote 8; and sentences between its theorems:
multipliers, the complementary function (36), (45), Assumption 2, and (55).

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

Where (55)-(57) rest, users keep 1 - e times (41), with e = epsilon in parts of the least capacity, for alpha >= 1. It is tried
for alpha = 1 at each server of a point by itself, with the users who have tasks there and weights for which these rest, phi_n =
x_n sum_r lambda_r d_nr.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction as F
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.game import arcs_of_servers, vertices
from fairalloc.theorems.checkers.trials import (
    Answer,
    exact_verdict,
    holdings_of,
    only_where,
    optimum,
    others_changed,
    verdict_of,
    yes_or_no,
)
from fairalloc.theorems.papers.k.problem_3 import METHOD, ExactMeritPoint, Surd, alphas, psi_slope, totals, worths
from fairalloc.theorems.standalone.merit import dot

ALIKE = Case(Instance([[1], [1]], [[1], [1]]), points=((F(1, 2),) * 4,), parameters={"alpha": 2, "A": 1, "B": 1})
"""h = 2 and omega = 3 at all arcs, and dlambda = -3, dx = 1 solves (105)."""

EPSILON = F(1, 4)
"""Of (57), in parts of capacity."""


def omega(case: Case) -> Verdict:
    """(106) is the derivative of -h: alpha first / x + second / x for the terms of h."""
    (A, B), alpha, have = (F(str(case.parameters[name])) for name in "AB"), alphas(case)[0], totals(case.instance, case.points[0])
    terms = worths(case.instance, case.points[0], alphas(case), A, B)
    printed = [alpha * sum(h) / x + B * (1 - alpha) / x**2 for x, h in zip(have, terms, strict=True)]
    right = [(alpha * h[0] + h[1]) / x for x, h in zip(have, terms, strict=True)]
    off = max(abs(a / b - 1) for a, b in zip(printed, right, strict=True))
    return exact_verdict("formula", off, f"(106) is off by {float(off):.3g}, relative")


def penalty(case: Case) -> Verdict:
    """The derivative of -([e]^+)^2 / (2 epsilon^2) is -sum_r lambda_ir d_nr with (57), by quotients in rationals."""
    arcs, x, h = exact_arcs(case.instance), list(case.points[0]), F(1, 2**200)
    excess = [load - 1 + EPSILON for load in arcs.loads(x)]
    worst = F(0)
    for load in arcs.load:
        ends = [sum((_added(excess[row] + s * h * part) for row, part in load), F(0)) for s in (1, -1)]
        direction = -sum((max(excess[row], F(0)) / EPSILON**2 * part for row, part in load), F(0))
        worst = max(worst, abs((ends[0] - ends[1]) / (2 * h) - direction) / max(part for _, part in load))
    words = f"the derivative of what is added differs from that of (55) by {float(worst):.3g}"
    return Verdict("formula", worst < F(1, 2**100), float(worst), words, "quotients in rationals")


def _added(excess: F) -> F:
    """What is meant to be added to (12)."""
    return -(max(excess, F(0)) ** 2) / (2 * EPSILON**2)


def approximate_prices(case: Case) -> Verdict:
    """Where these weights make a server's tasks rest, nobody has less than 1 - epsilon times (41), in rationals."""
    instance, arcs, epsilon = case.instance, exact_arcs(case.instance), F(case.parameters["epsilon"])
    x, gamma = case.points[0], exact_monopolies(instance)
    cost = _paid(arcs, x, epsilon)
    served = [[a for a in np.flatnonzero(instance.arcs.server == i) if x[a]] for i in range(instance.K)]
    return _kept([([x[a] * cost[a] for a in here], [x[a] / gamma[a] for a in here]) for here in served], epsilon)


def _paid(arcs: ExactArcs, x: Rationals, epsilon: F) -> list[F]:
    """(A,) what a task costs at the prices (57), epsilon in parts of capacity."""
    price = [max(load - 1 + epsilon, F(0)) / epsilon**2 for load in arcs.loads(x)]
    return [sum((price[row] * part for row, part in load), F(0)) for load in arcs.load]


def _kept(shares: Any, epsilon: F) -> Verdict:
    """Of each server weights and parts of a monopoly; servers where somebody's weight is 0 do not rest."""
    margins = [
        max((1 - epsilon) * own / sum(phi) - have for own, have in zip(phi, part, strict=True))
        for phi, part in shares
        if phi and min(phi) > 0
    ]
    only_where(margins, "at no server everybody with tasks uses what has a price")
    words = f"a user has {float(max(margins)):.3g} of the server less than 1 - epsilon times its part"
    return exact_verdict("sharing", max(margins), words)


Row = Sequence[F]


def all_used(case: Case, answer: Answer) -> Verdict:
    """Every capacity of a server that somebody may use is used up."""
    h, here = holdings_of(answer(case.instance)), sorted(set(case.instance.arcs.server.tolist()))
    used, pools = h.used[here], h.pools[here]
    least = min(used[pools > 0] / pools[pools > 0])
    return verdict_of(h, "all capacities used", 1 - least, f"{float(least):.6g} of a capacity is used")


def at_servers(case: Case, other: Callable[[Case, Sequence[int], Row], bool]) -> Verdict:
    """K (23) to (25) at a server have multipliers iff the other is so."""
    need = [first for first, _ in worths(case.instance, case.points[0], alphas(case))]
    each = [(here, [need[a] / max(need[b] for b in here) for a in here]) for here in arcs_of_servers(case.instance)]
    fault = any(solved_by_prices(case, here, worth, nu=True) != other(case, here, worth) for here, worth in each)
    method = "LP, basis computed in rationals"
    return yes_or_no("equivalence", not fault, f"{len(each)} servers were compared", method)


def solved_by_prices(case: Case, here: Sequence[int], worth: Row, nu: bool) -> bool:
    """Whether some prices of full resources, with nu of who is not served where `nu`, solve (25), or (28) and (29)."""
    arcs, x = exact_arcs(case.instance), case.points[0]
    loads, part = arcs.loads(x), [dict(arcs.load[a]) for a in here]
    full = sorted({row for load in part for row in load if loads[row] == 1})
    idle = [k for k, a in enumerate(here) if x[a] == 0]
    matrix, sides = [], []  # the last column is the largest error, which is to be 0
    for k, load in enumerate(part):
        row = [load.get(r, F(0)) for r in full] + [-F(int(k == other)) for other in idle] * nu
        matrix.append([*(-v for v in row), F(-1)])
        sides.append(-worth[k])
        if nu or k not in idle:
            matrix.append([*row, F(-1)])
            sides.append(worth[k])
    cost = [F(0)] * (len(matrix[0]) - 1) + [F(-1)]
    return bool(optimum(cost, matrix, sides) == 0)


def is_best(case: Case, here: Sequence[int], worth: Row) -> bool:
    """Whether no vertex of the server gains by (16)."""
    best = max(dot(worth, aim) for aim in vertices(case.instance, here))
    return bool(best <= dot(worth, [case.points[0][a] for a in here]))


def pairs(case: Case) -> list[tuple[F, F]]:
    """(x_ni, f_ni) and all pairs of the signs of their parts, also with nothing of one or of both."""
    point = ExactMeritPoint.of(case)
    found = [(a * s, b * t) for a, b in zip(point.x, point.f, strict=True) for s in (-1, 0, 1) for t in (-1, 0, 1)]
    return list(dict.fromkeys(found))


def _is_solved(a: F, b: F) -> bool:
    return a >= 0 and b >= 0 and a * b == 0


def complementary_function(case: Case) -> Verdict:
    """Psi of (36) is 0 iff a, b >= 0 and a b = 0; in square roots of rationals."""
    wrong = [(a, b) for a, b in pairs(case) if ((Surd.of(1, a * a + b * b) - Surd.of(a + b)).sign() == 0) != _is_solved(a, b)]
    return yes_or_no("complementary", not wrong, f"psi is wrong at {wrong[:1]}", METHOD)


def signs(case: Case) -> Verdict:
    """(98) and (99): no opposite signs, and both are 0 iff psi is; in square roots of rationals."""
    wrong = []
    for a, b in pairs(case):
        first, second = psi_slope(a, b).sign(), psi_slope(b, a).sign()
        wrong += [(a, b)] if first * second < 0 or (first == second == 0) != _is_solved(a, b) else []
    return yes_or_no("signs", not wrong, f"the derivatives are wrong at {wrong[:1]}", METHOD)


def violates(case: Case) -> Verdict:
    """(45) > 0 iff any step along -grad uses more of the full resource than there is; in square roots of rationals."""
    point = ExactMeritPoint.of(case)
    by_x, faults = point.by_x(), 0
    after = [Surd.of(x) + slope * F(-1, 1000) for slope, x in zip(by_x, point.x, strict=True)]
    for row in point.full:
        load = sum((value * part[row] for value, part in zip(after, point.part, strict=True) if row in part), Surd())
        faults += (point.beta(row, by_x).sign() > 0) != ((load - Surd.of(1)).sign() > 0)
    words = f"of {len(point.full)} full resources {faults} differ"
    return yes_or_no("violation", not faults, words, METHOD)


def assumption_2(case: Case) -> Verdict:
    """Somebody who may not use server i demands r, for each i and r; user i mod N is kept from server i, so that there is one."""
    instance, exact = case.instance, case.instance.exact
    out = [[n for n in range(instance.N) if n == i % instance.N or not instance.placement[n, i]] for i in range(instance.K)]
    holds = all(any(exact.demands[n][0][r] > 0 for n in users) for users in out for r in range(instance.R))
    return yes_or_no("outsiders", holds, "nobody else demands some resource")


def local(case: Case) -> Verdict:
    """(55) at each server with prices (57), epsilon = 1/10, is the same where others are changed, with all x_n as before."""
    worst, instance, x = F(0), case.instance, case.points[0]
    here = _directions(instance, x, alphas(case))
    for i in set(instance.arcs.server.tolist()):
        there = _directions(*others_changed(instance, x, i), alphas(case))
        worst = max([worst, *(abs(here[a] - there[a]) for a in np.flatnonzero(instance.arcs.server == i))])
    return Verdict("locality", worst == 0, float(worst), f"a direction differs by {worst} with other servers changed", METHOD)


def _directions(instance: Instance, x: Rationals, alpha: Sequence[int]) -> list[F]:
    """(A,) v of (55), in K's own units; parts of capacity for loads."""
    cost = _paid(exact_arcs(instance), x, F(1, 10))
    v = [first - paid for (first, _), paid in zip(worths(instance, x, alpha), cost, strict=True)]
    return [slope if x[a] > 0 else max(slope, F(0)) for a, slope in enumerate(v)]
