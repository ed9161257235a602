r"""A point at which PS-MFA stops without being at a solution: v = 0 and grad_x Psi != 0 under Assumption 2 (K Lemma 4).

In K's own units, with psi = psi_FB^2 / 2 and psi_FB(a, b) = rho - a - b, rho = sqrt(a^2 + b^2) (K 35-37), at every server i

    dPsi/dx_ni = psi_a(n, i) + sum_j psi_b(n, j) f'_nj,          0 for n not eligible                          (K 93, 97)
    dPsi/dlambda_ir = sum_n psi_b(n, i) d_nr,                    psi_a = psi_FB (a / rho - 1), psi_b = psi_FB (b / rho - 1)

v_x = 0 iff no v of (46) has v . grad_x < 0, a linear program; v_lambda is (47)-(48). Where all x_ni^2 + f_ni^2 are squares, all
of it is rational.

**Assumption 1 is enough.** Let v = 0 and all full r of server i have a price. By (48) the bracket of (47) is 0, so dPsi/dlambda
= 0 and beta = 0: with U = 1 two terms of one sign add up to 0, with U = 0 dPsi/dlambda = 0, so U = 1, as U(0) = 1. By (115)
|grad_x_i|^2 = (sum_r varsigma_r d_r) . (-grad_x_i) = sum_r varsigma_r beta_r = 0.

**Assumption 2 is not.** K infers varsigma_r = 0 from beta_r = 0 for each priced r by itself (116). But beta_r = d_r . sum_s
varsigma_s d_s is 0 too where varsigma_r < 0 makes up for an unpriced s, and then sum_r varsigma_r d_nr = 0 at who is not
eligible implies nothing. With one server, or alpha = 1, no assumption is needed. By v_lambda = 0, dPsi/dlambda_r >= 0 where r
has no price, > 0 if beta_r > 0, and 0 where it has one. Where grad_x != 0, sum_r varsigma_r beta_r > 0, so some unpriced r has
varsigma_r > 0 and beta_r > 0, and by (115) sum_n psi_b grad_x = - sum_r varsigma_r dPsi/dlambda_r < 0. But summed over servers,
with the weights A_i + B_i for alpha = 1, it is >= 0: psi_a psi_b >= 0, and of the rest (93) makes squares, as in (96).

**The points** that are tried. Servers 1 and 2 are mirror images, with users 1 and 2 exchanged.

1. At server 1 the resource t is full and priced, s is full without a price, and every other one has slack.
2. User 1, eligible only there, pays too much (f > 0), user 2, only at server 2, would pay too little; user 3 is at both.
3. grad_x is orthogonal to d_t, as psi_b is, which determines h_31 and b_3 by two linear equations (`first_server`).
4. d_s = d_t - grad_x / 8 for users 1 to 3, and d_s = d_t for user 4, who is eligible at server 3 only and solved there.
5. Three more resources set gamma of users 1 to 3 (`constructed`).

With B > 0 in (22) each equation is linear in one unknown after the other, so a few rational numbers determine a point. It refutes
Lemma 4 where some slacks are positive. Random systems and points never satisfy the equations.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case

__all__ = ["FAMILY", "assumption_2", "confirmed", "constructed", "first_server", "lemma_4_at", "root_between", "slopes", "tried"]

F = Fraction


FAMILY: Mapping[str, tuple[Fraction, ...]] = {
    "f1": tuple(F(v) for v in ("5/12", "8/15", "12/35", "3/4", "7/24")),
    "f3": tuple(F(v) for v in ("40/9", "60/11", "84/13", "112/15", "144/17")),
    "y": tuple(F(v) for v in ("1", "5/4", "3/2", "2", "3", "1/2")),
    "g": tuple(F(v) for v in (8, 12, 16, 20, 24)),
    "F": tuple(F(1, v) for v in (16, 20, 24, 25, 26, 30, 32)),
    "k": tuple(F(v) for v in ("5/4", "3/2", "5/3", "7/4", "2")),
    "b": tuple(F(v) for v in ("1/5", "1/3", "2/5", "1/2", "3/5")),
}
"""What the numbers of a constructed point may be, for x_11 = 1: f_11 and f_31 / x_31, both of Pythagorean triples, x_31, h_11,
-f_21, h_21 / h_11, and the part that B has in h_11."""


@dataclass(frozen=True)
class Lemma4Server:
    """Server 1, for users 1 to 3: tasks x, f (31), marginals h = g' / gamma, what B has of them b, the gradient.

    least : the least relative slack of what a point must satisfy: b_3 > 0, h_3 > b_3, psi_b . grad < 0, an interval for gamma
    scale : 1 / A^2
    """

    x: Rationals
    f: Rationals
    h: Rationals
    b: Rationals
    gradient: Rationals
    least: Fraction
    scale: Fraction


def first_server(numbers: Mapping[str, Fraction]) -> Lemma4Server:
    """The server that the numbers of FAMILY determine: two linear equations give h_31 and b_3.

    dPsi/dlambda_t = 0 is linear in h_31, and beta_t = 0, given that, linear in the sums G_n of (93), so in b_3.
    """
    y, g, short = numbers["y"], numbers["g"], numbers["F"]
    k, b = numbers["k"] * g, numbers["b"] * g
    x, f = (F(1), F(0), y), (numbers["f1"], -short, numbers["f3"] * y)
    (a1, b1), (a2, b2), (a3, b3) = (slopes(*both) for both in zip(x, f, strict=True))
    h3 = -(b1 * (g + f[0]) + b2 * (k - short)) / b3 - f[2]
    G = b1 * (2 * g - b) + b2 * (2 * k - b)  # user 1: psi_b f' at both servers, as x_1 = 1; user 2 mirrors it
    d = (g + f[0], k - short, h3 + f[2])
    if not h3 > 0:
        raise NotApplicable("a marginal is negative")
    last = -((a1 + G) * d[0] + (a2 + G) * d[1]) / d[2]
    part = 2 * h3 - (last - a3) * y / b3
    gradient = (a1 + G, a2 + G, last)
    products = [slope * own for slope, own in zip((b1, b2, b3), gradient, strict=True)]
    h, parts = (g, k, h3), (b, b, part)
    sizes = [(own - own_part) / own_part**2 if own_part else F(0) for own, own_part in zip(h, parts, strict=True)]
    full = d[0] + d[2] * y
    sum_of_products = sum(products, F(0)) / sum((abs(v) for v in products), F(0))
    slacks, scale = [part / h3, 1 - part / h3, -sum_of_products], F(1)
    if min(sizes) > 0:  # x < gamma, which is less than what t allows
        low = max(v / size for v, size in zip(x, sizes, strict=True))
        high = min(full / v / size for v, size in zip(d, sizes, strict=True))
        slacks.append(high / low - 1)
        scale = (root_between(low, high) or F(1)) ** 2
    return Lemma4Server(x, f, h, parts, gradient, min(slacks), scale)


def slopes(x: Fraction, f: Fraction) -> tuple[Fraction, Fraction]:
    """psi_a and psi_b."""
    rho = _root(x**2 + f**2)
    return (rho - x - f) * (x / rho - 1), (rho - x - f) * (f / rho - 1)


def root_between(low: Fraction, high: Fraction) -> Fraction | None:
    """A simple fraction whose square is in the open interval; None where there is none."""
    for q in range(1, 1000):
        p = isqrt(int(low * q * q)) + 1
        if low < F(p, q) ** 2 < high:
            return F(p, q)
    return None


def constructed(numbers: Mapping[str, Fraction]) -> Case:
    """The point of the module's docstring for numbers of FAMILY."""
    part = first_server(numbers)
    t = [own + price for own, price in zip(part.h, part.f, strict=True)]  # d_t, as lambda_t = 1
    s = [own - slope / 8 for own, slope in zip(t, part.gradient, strict=True)]
    gamma = [part.scale * (own - b) / b**2 for own, b in zip(part.h, part.b, strict=True)]
    zero, one = F(0), F(1)
    demands = [
        [t[0], s[0], t[1], s[1], one, zero, zero],
        [t[1], s[1], t[0], s[0], zero, one, zero],
        [t[2], s[2], t[2], s[2], zero, zero, one],
        [one] * 7,
    ]
    full = [sum(d * own for d, own in zip(row, part.x, strict=True)) for row in (t, s)]
    room = [2 * max(gamma) * max(row) for row in (t, s)]
    capacities = [
        [*full, *room, gamma[0], gamma[1], gamma[2]],
        [*room, *full, gamma[1], gamma[0], gamma[2]],
        [one, *[F(2)] * 6],
    ]
    y, A = part.x[2], 1 / _root(part.scale)
    weights = [b * u for b, u in zip((*part.b, one), (one, one, 2 * y, one), strict=True)]
    system = Instance(demands, capacities, weights=weights, eligible=[[1, 1, 0]] * 3 + [[0, 0, 1]])
    prices = [zero] * 21
    prices[0] = prices[9] = one
    prices[14] = 1 + A**2
    point = (one, zero, zero, one, y, y, one)
    return Case(system, points=(point,), parameters={"alpha": 2, "A": A, "B": 1, "prices": tuple(prices)})


def tried(case: Case) -> Verdict:
    """Lemma 4 under Assumption 2 at the point that the parameters of a case determine, by its slacks."""
    margin = max(F(-1), first_server(case.parameters).least)
    return Verdict("direction", not margin > 0, float(margin), f"the least slack is {float(margin):.3g}", "the construction")


def confirmed(case: Case) -> Verdict:
    """The same by all of Psi, (46)-(48) and a linear program, at the point as such."""
    point = constructed(case.parameters)
    verdict, system = lemma_4_at(point), point.instance
    sizes = f"{system.N} users, {system.K} servers and {system.R} resources"
    return replace(verdict, sentence=f"these numbers determine a point for {sizes}: {verdict.sentence}")


def assumption_2(instance: Instance) -> bool:
    """Whether for every server and resource somebody is not eligible there and demands it (K 5.1)."""
    demands, placement = instance.exact.demands, instance.placement
    pairs = ((i, r) for i in range(instance.K) for r in range(instance.R))
    return all(any(demands[n][0][r] and not placement[n, i] for n in range(instance.N)) for i, r in pairs)


def lemma_4_at(case: Case) -> Verdict:
    """Whether grad_x Psi = 0 wherever v = 0, at the case's point with its prices, in rationals.

    NotApplicable where the point is not feasible (K 38-40), a root is irrational, or Assumption 2 does not hold.
    """
    method = "rational arithmetic"
    if not assumption_2(case.instance):
        raise NotApplicable("everybody who demands a resource is eligible at a server: Assumption 2 does not hold")
    by_x, by_price = _gradient(case)
    moving = [k for k, v in enumerate(_directions(case, by_x, by_price)) if v]
    size = max(abs(v) for row in by_x for v in row)
    if moving:
        return Verdict("direction", True, -1.0, f"v moves {len(moving)} servers or prices", method)
    sentence = f"v = 0, and a component of the gradient by x is {float(size):.3g}"
    return Verdict("direction", size == 0, float(size), sentence, method)


def _gradient(case: Case) -> tuple[list[list[Fraction]], list[Fraction]]:
    """dPsi/dx, (K, N) with 0 for who is not eligible, and dPsi/dlambda (K R,)."""
    instance, arcs, x = case.instance, exact_arcs(case.instance), case.points[0]
    prices, loads, tasks = case.parameters["prices"], arcs.loads(x), arcs.tasks(x)
    if any(load > 1 or price < 0 or (price > 0 and load < 1) for load, price in zip(loads, prices, strict=True)):
        raise NotApplicable("the point does not satisfy (38)-(40)")
    if not all(tasks) or case.parameters["alpha"] != 2:
        raise NotApplicable("a user has no task, or alpha is not 2")
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
        raise NotApplicable("a linear program was not solved")
    return bool(best.value > 0)


def _root(value: Fraction) -> Fraction:
    """The square root; NotApplicable where it is not rational or 0."""
    root = F(isqrt(value.numerator), isqrt(value.denominator))
    if root * root != value or not root:
        raise NotApplicable("a norm is 0 or irrational")
    return root
