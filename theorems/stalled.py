r"""A point at which PS-MFA stops although nothing is solved: v = 0 and grad_x Psi != 0 under Assumption 2 (K Lemma 4).

In K's own units, with psi = psi_FB^2 / 2 and psi_FB(a, b) = rho - a - b, rho = sqrt(a^2 + b^2) (K 35-37), at every server i

    dPsi/dx_ni = psi_a(n, i) + sum_j psi_b(n, j) f'_nj,          0 for n not eligible                          (K 93, 97)
    dPsi/dlambda_ir = sum_n psi_b(n, i) d_nr,                    psi_a = psi_FB (a / rho - 1), psi_b = psi_FB (b / rho - 1)

v_x = 0 iff no v of (46) has v . grad_x < 0, a linear program; v_lambda is (47)-(48). Where all x_ni^2 + f_ni^2 are squares, all
of it is rational.

**Assumption 1 is enough.** Let v = 0 and all full r of server i have a price. By (48) the bracket of (47) is 0, so dPsi/dlambda
= 0 and beta = 0: with U = 1 two terms of one sign add up to 0, with U = 0 dPsi/dlambda = 0, and then U = 1. By (115)
|grad_x_i|^2 = (sum_r varsigma_r d_r) . (-grad_x_i) = sum_r varsigma_r beta_r = 0.

**Assumption 2 is not.** K infers varsigma_r = 0 from beta_r = 0 for each priced r by itself (116). But beta_r = d_r . sum_s
varsigma_s d_s is 0 too where varsigma_r < 0 makes up for an unpriced s, and then sum_r varsigma_r d_nr = 0 at who is not
eligible says nothing. With one server, or alpha = 1, no assumption is needed: (115) and v_lambda = 0 say sum_n psi_b grad_x =
- sum_r varsigma_r dPsi/dlambda < 0 at every server with grad_x != 0, and there the sum is >= 0, summed over servers with the
weights A_i + B_i for alpha = 1.

**The point.** Servers 1 and 2 are mirror images, with users 1 and 2 exchanged. At server 1 the resource t is full and priced, s
is full and free, and every other one has room. User 1 pays too much where it is (f > 0), user 2 too little; grad_x is
orthogonal to d_t, as psi_b is, and d_s = d_t - grad_x / 8 at users 1 to 3, d_s = d_t at user 4, who is eligible at server 3
only and solved there. Resources a to c have room, and set gamma. With B > 0 in (22) f' is free enough for rational numbers.
"""

from fractions import Fraction
from math import isqrt

import numpy as np

from fairalloc.models.instance import Instance, InstanceError
from fairalloc.models.rationals import exact_arcs
from fairalloc.theorems.cases import Case
from fairalloc.theorems.game_judges import Point
from fairalloc.theorems.linear import maximum
from fairalloc.theorems.verdict import Verdict

__all__ = ["STALLED", "assumption_2", "priced", "stalled"]

F = Fraction


def _constructed() -> Case:
    """The point of the module's docstring, from the numbers that determine it."""
    x, f = (F(6), F(0), F(15, 2)), (F(5, 2), F(-3, 13), F(56))  # at server 1: tasks and f of users 1 to 3
    h, b = (F(59), F(88), F(35452, 1183)), (F(13), F(13), F(104375, 14196))  # g' / gamma, and its part B / z / gamma
    t = [own + price for own, price in zip(h, f, strict=True)]  # d_t, as lambda_t = 1
    gradient = (F(-44, 13), F(-4), F(66157, 10170))
    s = [own - slope / 8 for own, slope in zip(t, gradient, strict=True)]
    gamma = [25 * (own - part) / part**2 for own, part in zip(h, b, strict=True)]  # A = 1/5
    zero, one = F(0), F(1)
    demands = [
        [t[0], s[0], t[1], s[1], one, zero, zero],
        [t[1], s[1], t[0], s[0], zero, one, zero],
        [t[2], s[2], t[2], s[2], zero, zero, one],
        [one] * 7,
    ]
    full = [sum(d * own for d, own in zip(row, x, strict=True)) for row in (t, s)]
    room = [2 * sum(d * own for d, own in zip((row[1], row[0], row[2]), x, strict=True)) for row in (t, s)]
    capacities = [
        [*full, *room, gamma[0], gamma[1], gamma[2]],
        [*room, *full, gamma[1], gamma[0], gamma[2]],
        [one, *[F(2)] * 6],
    ]
    tasks = (x[0], x[0], 2 * x[2], one)
    weights = [part * u for part, u in zip((*b, one), tasks, strict=True)]
    system = Instance(demands, capacities, weights=weights, eligible=[[1, 1, 0]] * 3 + [[0, 0, 1]])
    point = (x[0], zero, zero, x[0], x[2], x[2], one)
    prices = [zero] * 21
    prices[0] = prices[9] = one
    prices[14] = 1 + F(1, 25)
    return Case(system, points=(point,), parameters={"alpha": 2, "A": F(1, 5), "B": 1, "prices": tuple(prices)})


STALLED = _constructed()


def priced(case: Case) -> Verdict:
    """Lemma 4 under Assumption 1 at the case's point, in floating point and without units; the margin is -|v| / |grad_x|."""
    point = Point(case)
    if np.any(point.full & (point.mu == 0)):
        raise InstanceError("a full resource has no price: Assumption 1 does not hold")
    size, (vy, vmu) = float(np.linalg.norm(point.by_y)), point.directions()
    if size <= 1e-9:
        return Verdict("direction", True, -1.0, "the point is a solution", "floating point")
    length = float(np.hypot(np.linalg.norm(vy), np.linalg.norm(vmu)))
    margin = 1e-9 - length / size
    sentence = f"|v| is {length:.2g} where the gradient by x is {size:.2g}"
    return Verdict("direction", margin <= 0, margin, sentence, "floating point")


def assumption_2(instance: Instance) -> bool:
    """Whether for every server and resource somebody is not eligible there and demands it (K 5.1)."""
    demands, placement = instance.exact.demands, instance.placement
    pairs = ((i, r) for i in range(instance.K) for r in range(instance.R))
    return all(any(demands[n][0][r] and not placement[n, i] for n in range(instance.N)) for i, r in pairs)


def stalled(case: Case) -> Verdict:
    """Whether grad_x Psi = 0 wherever v = 0, at the case's point with its prices, in rationals.

    InstanceError where the point is not feasible (K 38-40), a root is irrational, or Assumption 2 does not hold.
    """
    method = "rational arithmetic"
    if not assumption_2(case.instance):
        raise InstanceError("everybody who demands a resource is eligible at a server: Assumption 2 does not hold")
    by_x, by_price = _gradient(case)
    free = [k for k, v in enumerate(_directions(case, by_x, by_price)) if v]
    size = max(abs(v) for row in by_x for v in row)
    if free:
        return Verdict("direction", True, -1.0, f"v moves {len(free)} servers or prices", method)
    sentence = f"v = 0, and a component of the gradient by x is {float(size):.3g}"
    return Verdict("direction", size == 0, float(size), sentence, method)


def _gradient(case: Case) -> tuple[list[list[Fraction]], list[Fraction]]:
    """dPsi/dx, (K, N) with 0 for who is not eligible, and dPsi/dlambda (K R,)."""
    instance, arcs, x = case.instance, exact_arcs(case.instance), case.points[0]
    prices, loads, tasks = case.parameters["prices"], arcs.loads(x), arcs.tasks(x)
    if any(load > 1 or price < 0 or (price > 0 and load < 1) for load, price in zip(loads, prices, strict=True)):
        raise InstanceError("the point does not satisfy (38)-(40)")
    if not all(tasks) or case.parameters["alpha"] != 2:
        raise InstanceError("a user has no task, or alpha is not 2")
    A, B = F(case.parameters["A"]), F(case.parameters["B"])
    d, by_price = instance.exact.demands, [F(0)] * arcs.rows
    common, own = [F(0)] * instance.N, {}
    for n, i, load, part in zip(arcs.user, instance.arcs.server.tolist(), arcs.load, x, strict=True):
        unit = instance.exact.weights[n] / max(share for _, share in load) / tasks[n]  # 1 / z
        gamma = unit * tasks[n] / instance.exact.weights[n]
        first, second = (A * unit) ** 2 / gamma, B * unit / gamma
        f = sum((prices[i * instance.R + r] * v for r, v in enumerate(d[n][0])), F(0)) - first - second
        rho = _root(part**2 + f**2)
        excess = rho - part - f
        own[n, i] = excess * (part / rho - 1)
        by_f = excess * (f / rho - 1)
        common[n] += by_f * (2 * first + second) / tasks[n]
        for r, v in enumerate(d[n][0]):
            by_price[i * instance.R + r] += by_f * v
    eligible = [[own[n, i] + common[n] if (n, i) in own else F(0) for n in range(instance.N)] for i in range(instance.K)]
    return eligible, by_price


def _directions(case: Case, by_x: list[list[Fraction]], by_price: list[Fraction]) -> list[bool]:
    """Whether v_x moves each server, and whether v_lambda moves each full price (46)-(48)."""
    instance, R = case.instance, case.instance.R
    loads, prices = exact_arcs(instance).loads(case.points[0]), case.parameters["prices"]
    moves = []
    for i, gradient in enumerate(by_x):
        rows = []
        for r in [r for r in range(R) if loads[i * R + r] == 1]:
            column, price, slope = [d[0][r] for d in instance.exact.demands], prices[i * R + r], by_price[i * R + r]
            rows += [column, [-v for v in column]] if price else [column]
            beta = -sum((v * g for v, g in zip(column, gradient, strict=True)), F(0))
            v = -slope + (beta if -beta * slope >= 0 else 0)
            moves.append(v != 0 if price else v > 0)
        moves.append(_descends(gradient, rows))
    return moves


def _descends(gradient: list[Fraction], rows: list[list[Fraction]]) -> bool:
    """Whether some v with rows . v <= 0 has gradient . v < 0."""
    N = len(gradient)
    units = [[F(int(m == n)) for m in range(N)] for n in range(N)]
    both = [row + [-v for v in row] for row in [*rows, *units]] + [[-v for v in row] + row for row in units]
    sides = np.array([F(0)] * len(rows) + [F(1)] * (2 * N), dtype=object)
    best = maximum(np.array([-v for v in gradient] + list(gradient), dtype=object), np.array(both, dtype=object), sides, True)
    if best is None:
        raise InstanceError("a linear program was not solved")
    return bool(best.value > 0)


def _root(value: Fraction) -> Fraction:
    """The square root; InstanceError where it is not rational or 0."""
    root = F(isqrt(value.numerator), isqrt(value.denominator))
    if root * root != value or not root:
        raise InstanceError("a norm is 0 or irrational")
    return root
