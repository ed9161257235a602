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

Tried by difference quotients in floating point, confirmed by formulas, or by quotients with a step of 2^-200, in rationals.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.game import Game
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, exact_monopolies
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.convergence import gain_left

F = Fraction
ALIKE = 1e-4
"""Relative error of a difference quotient."""

EPSILON = F(1, 4)
"""Of (57), in parts of capacity."""


# ---- (104) -----------------------------------------------------------------------------------------------------------------


def price_by_104(case: Case) -> Verdict:
    """(104) as printed is g' / gamma at the case's tasks, in rationals."""
    instance, arcs = case.instance, exact_arcs(case.instance)
    alpha, A, B = int(case.parameters["alpha"]), F(str(case.parameters["A"])), F(str(case.parameters["B"]))
    tasks, units = arcs.tasks(case.points[0]), unit(instance, arcs)
    if not all(tasks):
        raise NotApplicable("a user has no task")
    worst = F(0)
    for n, one in zip(arcs.user, units, strict=True):
        phi, x = instance.exact.weights[n], tasks[n]
        gamma = one / phi
        needed = ((A * one / x) ** alpha + B * one / x) / gamma
        printed = phi**alpha * gamma ** (alpha - 1) * A**alpha / x**alpha + B / x
        worst = max(worst, abs(printed / needed - 1))
    return Verdict("formula", worst == 0, float(worst), f"(104) is off by {float(worst):.3g}, relative", "rational arithmetic")


def price_by_104_in_floats(case: Case) -> Verdict:
    """The same, with g' / gamma as the difference quotient of U_i."""
    instance = case.instance
    alpha, A, B = (float(case.parameters[name]) for name in ("alpha", "A", "B"))
    user, gamma = instance.arcs.user, instance.arcs.gamma
    x = np.bincount(user, [float(v) for v in case.points[0]], instance.N)[user]
    if not x.min() > 0:
        raise NotApplicable("a user has no task")
    phi = instance.weights[user]

    def utility(tasks: Any) -> Any:
        z = tasks / (phi * gamma)
        first = A * np.log(z) if alpha == 1 else A**alpha * z ** (1 - alpha) / (1 - alpha)
        return phi * (first + B * np.log(z))

    needed = (utility(x * (1 + 1e-5)) - utility(x * (1 - 1e-5))) / (2e-5 * x)
    printed = phi**alpha * gamma ** (alpha - 1) * A**alpha / x**alpha + B / x
    margin = float(np.abs(printed / needed - 1).max()) - ALIKE
    return Verdict("formula", not margin > 0, margin, f"(104) is off by {margin + ALIKE:.3g}, relative", "difference quotients")


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


def penalty_in_floats(printed: bool) -> Callable[[Case], Verdict]:
    """The same with quotients in floating point, of all servers at once."""

    def check(case: Case) -> Verdict:
        matrix, epsilon = case.instance.arcs.load.tocsc(), float(EPSILON)
        x = np.array([float(v) for v in case.points[0]])
        excess = matrix @ x - 1 + epsilon
        direction = -(matrix.T @ np.maximum(excess, 0)) / epsilon**2
        sizes, step = matrix.max(axis=0).toarray().ravel(), 1e-6

        def added(values: Any) -> float:
            return float((values**2 if printed else -(np.maximum(values, 0) ** 2)).sum()) / (2 * epsilon**2)

        worst = 0.0
        for a, size in enumerate(sizes):
            moved = matrix[:, [a]].toarray().ravel() * step / size
            quotient = (added(excess + moved) - added(excess - moved)) / (2 * step)
            worst = max(worst, abs(quotient - direction[a] / size))
        margin = worst - ALIKE
        return Verdict("formula", not margin > 0, margin, f"the derivatives differ by {worst:.3g}", "difference quotients")

    return check


# ---- (57) ------------------------------------------------------------------------------------------------------------------


def approximate_prices(case: Case) -> Verdict:
    """Where these weights make a server's tasks rest, nobody has less than 1 - epsilon times (41), in rationals."""
    instance, arcs, epsilon = case.instance, exact_arcs(case.instance), F(case.parameters["epsilon"])
    x, gamma = case.points[0], exact_monopolies(instance)
    price = [max(load - 1 + epsilon, F(0)) / epsilon**2 for load in arcs.loads(x)]
    cost = [sum((price[row] * part for row, part in load), F(0)) for load in arcs.load]
    served = [[a for a in np.flatnonzero(instance.arcs.server == i) if x[a]] for i in range(instance.K)]
    shares = [([x[a] * cost[a] for a in here], [x[a] / gamma[a] for a in here]) for here in served]
    return _kept(shares, epsilon, "rational arithmetic")


def _kept(shares: Any, epsilon: Any, method: str) -> Verdict:
    """Of each server weights and parts of a monopoly; servers where somebody's weight is 0 do not rest."""
    margins = [
        max((1 - epsilon) * own / sum(phi) - have for own, have in zip(phi, part, strict=True))
        for phi, part in shares
        if len(phi) and min(phi) > 0
    ]
    if not margins:
        raise NotApplicable("at no server everybody with tasks uses what has a price")
    margin = float(max(margins))
    words = f"a user has {margin:.3g} of the server less than 1 - epsilon times its part"
    return Verdict("sharing", not margin > 1e-12, margin, words, method)


def approximate_prices_in_floats(case: Case) -> Verdict:
    """The same on arrays."""
    instance, epsilon = case.instance, float(case.parameters["epsilon"])
    matrix, x = instance.arcs.load, np.array([float(v) for v in case.points[0]])
    cost = matrix.T @ np.maximum(matrix @ x - 1 + epsilon, 0) / epsilon**2
    served = [np.flatnonzero((instance.arcs.server == i) & (x > 0)) for i in range(instance.K)]
    return _kept([(x[here] * cost[here], x[here] / instance.arcs.gamma[here]) for here in served], epsilon, "floating point")


# ---- ties ------------------------------------------------------------------------------------------------------------------


def one_equilibrium(case: Case) -> Verdict:
    """The case's two points are not both equilibria with different tasks, by (16) at each server's vertices, for whole alpha."""
    arcs = exact_arcs(case.instance)
    first, second = (arcs.tasks(x) for x in case.points)
    if not (all(first) and all(second)):
        raise NotApplicable("a user has no task")
    gain = max(gain_left(case.instance, x, case.parameters)[1] for x in case.points)
    far = max(abs(a - b) / max(a, b) for a, b in zip(first, second, strict=True))
    both = far > 0 and gain <= 0
    texts = " and ".join(f"({', '.join(map(str, tasks))})" for tasks in (first, second))
    words = f"the tasks {texts} are {'' if both else 'not '}two equilibria"
    return Verdict("uniqueness", not both, float(far) if both else -1.0, words, "vertices in rationals")


def one_equilibrium_in_floats(case: Case) -> Verdict:
    """The same by the residual of the game."""
    instance = case.instance
    points = [np.array([float(v) for v in x]) for x in case.points]
    tasks = [np.bincount(instance.arcs.user, x, instance.N) for x in points]
    if not min(t.min() for t in tasks) > 0:
        raise NotApplicable("a user has no task")
    game = Game(instance, float(case.parameters["alpha"]))
    left = max(game.residual(Allocation(instance, x)) for x in points)
    far = float((np.abs(tasks[0] - tasks[1]) / np.maximum(*tasks)).max())
    both = far > 1e-6 and left <= 1e-9
    words = f"the residuals are {left:.1e}, and the tasks differ by {far:.3g}"
    return Verdict("uniqueness", not both, far if both else -max(left, 1e-9), words, "residuals in floating point")
