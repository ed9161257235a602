r"""The direction v of PS-MFA (K 45-48) at points where all of it is rational, and two points that refute K Lemmas 3 and 4.

In K's own units, with psi = psi_FB^2 / 2 and psi_FB(a, b) = rho - a - b, rho = sqrt(a^2 + b^2) (K 35-37), at every server i

    dPsi/dx_ni = psi_a(n, i) + sum_j psi_b(n, j) f'_nj,          0 for n not eligible                          (K 93, 97)
    dPsi/dlambda_ir = sum_n psi_b(n, i) d_nr,                    psi_a = psi_FB (a / rho - 1), psi_b = psi_FB (b / rho - 1)

v_x = 0 iff no v of (46) has v . grad_x < 0, a linear program; v_lambda is (47)-(48). Two readings: **to the letter** every price
moves by (47)-(48), also that of a resource with room, though (40) wants it to be 0; **repaired**, only prices of full resources
move. At the points below both readings fail alike, since dPsi/dlambda > 0 for every resource with room, so that v_lambda <= 0 by
(47), which is 0 by (48); where dPsi/dlambda = 0 the price moves without changing Psi (Lemma 3), or beta <= 0 (Lemma 4).

docs/ERRATA.md says where K's proofs fail, and why the lemmas are true for one server, and for alpha = 1. Under Assumption 1 v = 0
has beta_r = 0 for all full r (47), and by (115) |grad_x_i|^2 = sum_r s_r beta_r = 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, solved
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.lone.certificates import by_place, given
from fairalloc.theorems.lone.merit import merit_gradient, price_direction, slopes
from fairalloc.theorems.papers.k.problem_3 import alphas
from fairalloc.theorems.papers.k.problem_3_in_floats import PsMfaDirection

F = Fraction
Row: TypeAlias = list[Fraction]
Rows: TypeAlias = list[Row]
METHOD = "rational arithmetic"
STUCK = "prices move, nothing else does, and Psi depends on none of them"


@dataclass(frozen=True)
class Direction:
    """What v is at a point.

    Attributes
    ----------
    by_x : (K, N) dPsi/dx, 0 for who is not eligible
    by_price : (K R,) dPsi/dlambda
    full : (K R,) whether the resource is full
    v_price : (K R,) (47)-(48) for every resource
    moves : (K,) whether v_x is not 0 at the server
    """

    by_x: Rows
    by_price: list[Fraction]
    full: list[bool]
    v_price: list[Fraction]
    moves: list[bool]

    @classmethod
    def of(cls, case: Case) -> "Direction":
        """At the case's point with its prices; NotApplicable where it is not feasible (K 38-40) or a root is irrational."""
        instance, R, prices = case.instance, case.instance.R, case.parameters.get("prices")
        if prices is None:
            raise NotApplicable("the case has no prices of its own")
        loads = exact_arcs(instance).loads(case.points[0])
        if any(load > 1 or price < 0 or (price > 0 and load < 1) for load, price in zip(loads, prices, strict=True)):
            raise NotApplicable("the point does not satisfy (38)-(40)")
        tasks, problem = by_place(instance, case.points[0]), given(case)["problem"]
        if not all(map(any, tasks)):
            raise NotApplicable("a user has no task")
        by_server = [list(prices[i * R : (i + 1) * R]) for i in range(instance.K)]
        try:
            by_x, slopes_of = merit_gradient(problem, alphas(case), tasks, by_server)
        except (AssertionError, ZeroDivisionError):
            raise NotApplicable("a norm is 0 or irrational") from None
        full, moves = [load == 1 for load in loads], []
        for i, gradient in enumerate(by_x):
            columns = [([d[r] for d in problem[0]], by_server[i][r]) for r in range(R) if full[i * R + r]]
            rows = [row for column, price in columns for row in ([column, [-v for v in column]] if price else [column])]
            moves.append(_descends(gradient, rows))
        v_price = [v for row in price_direction(problem, by_server, by_x, slopes_of) for v in row]
        by_price = [slope for row in slopes_of for slope in row]
        return cls(by_x, by_price, full, v_price, moves)

    def moving(self, letter: bool) -> list[Fraction]:
        """dPsi/dlambda of each price that moves: of all resources, or of full ones alone."""
        each = zip(self.by_price, self.v_price, self.full, strict=True)
        return [slope for slope, v, full in each if v and (letter or full)]


def descends(letter: bool) -> Callable[[Case], Verdict]:
    """K Lemma 3: v = 0, or the slope of Psi along v is negative.

    The slope along the projection v_x is -|v_x|^2 (110), and no price adds to the slope (111). So it is 0 iff v_x = 0 and each
    price that moves has dPsi/dlambda = 0.
    """

    def check(case: Case) -> Verdict:
        at = Direction.of(case)
        slopes_ = at.moving(letter)
        flat = bool(slopes_) and not any(slopes_) and not any(at.moves)
        return Verdict("descent", not flat, 1.0 if flat else -1.0, STUCK, METHOD)

    return check


def stops(letter: bool) -> Callable[[Case], Verdict]:
    """K Lemma 4: something moves, or the gradient by x is 0; the margin is the largest component of the gradient."""

    def check(case: Case) -> Verdict:
        at = Direction.of(case)
        size = max(abs(v) for row in at.by_x for v in row)
        if at.moving(letter) or any(at.moves) or not size:
            return Verdict("direction", True, -1.0, "v is not 0, or the gradient by x is", METHOD)
        return Verdict(
            "direction", False, float(size), f"v = 0, and a component of the gradient by x is {float(size):.4g}", METHOD
        )

    return check


def factors(case: Case) -> Verdict:
    """(116): where v_x = 0, a full resource with beta = 0 has varsigma = 0 in (115); NotApplicable where d_r are dependent."""
    at, instance = Direction.of(case), case.instance
    for i in [i for i, moves in enumerate(at.moves) if not moves]:
        full = [r for r in range(instance.R) if at.full[i * instance.R + r]]
        columns = [[d[0][r] for d in instance.exact.demands] for r in full]
        betas = [-dot(column, at.by_x[i]) for column in columns]
        found = solved([[dot(one, other) for other in columns] for one in columns], betas)
        if found is None:
            raise NotApplicable("the demands for full resources are dependent")
        for r, beta, factor in zip(full, betas, found, strict=True):
            if factor and not beta:
                where = f"{instance.resources[r]!r} at {instance.servers[i]!r}"
                return Verdict("factor", False, 1.0, f"beta is 0 and varsigma {factor} for {where}", METHOD)
    return Verdict("factor", True, -1.0, "varsigma is 0 where beta is", METHOD)


def factors_in_floats(case: Case) -> Verdict:
    """The same, with the gradient in floating point and least squares."""
    at, instance = PsMfaDirection(case), case.instance
    for i in range(instance.K):
        here = instance.arcs.server == i
        rows = [row for row in at.full if row // instance.R == i]
        if not rows or np.abs(at.v_x[here]).max() > 1e-6:
            continue
        columns = np.array([[float(d[0][row % instance.R]) for row in rows] for d in instance.exact.demands])
        gradient = np.zeros(instance.N)
        gradient[instance.arcs.user[here]] = at.by_x[here]
        found = np.linalg.lstsq(columns, -gradient, rcond=None)[0]
        if np.any((np.abs(columns.T @ gradient) <= 1e-6) & (np.abs(found) > 1e-3)):
            return Verdict("factor", False, 1.0, "beta is 0 and varsigma is not", "floating point")
    return Verdict("factor", True, -1.0, "varsigma is 0 where beta is", "floating point")


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


def lemma_3_point() -> Case:
    r"""V is not 0, and Psi has the slope 0 along it (K Lemma 3); g' = z^-3 at every server.

    Two users, two resources with demands (1, d) and (d, 1). Servers 1 and 2 are mirror images, with users and resources
    exchanged. At server 1 x = (1, y) and f_1 > 0 > f_2; resource 1 is full with a price, resource 2 has room. At server 3 f = 0,
    and both are full with a price. With b = psi_b, a = psi_a, h = g' / gamma, and X what each user has in all:

        b_1 + d b_2 = 0, so dPsi/dlambda = 0 for resource 1 and b_1 d + b_2 > 0 for resource 2      determines d > 1
        grad_x = (a_1 + S, a_2 + S) is a multiple of (1, d), and of (1, 1) at server 3: v_x = 0      determines S < 0
        S = 3 (b_1 h_1 + b_2 h_2) / X = -3 (b_1 f_1 + b_2 f_2) / X                                   determines X, so server 3
        h_2 / h_1 = (gamma_2 / gamma_1)^2 = k^2, gamma_2 = y + 1 / d                                 determines h

    All is counted in the unit m in which phi = m is the weight for which h = phi^3 gamma^2 / X^3.
    """
    k, y, f1, f2 = F(5, 4), F(4), F(16, 63), -F(73, 666)
    (a1, b1), (a2, b2) = slopes(F(1), f1), slopes(y, f2)
    d = -b1 / b2
    S = (a2 - d * a1) / (d - 1)
    X = -3 * (b1 * f1 + b2 * f2) / S
    gamma, h = (y + 1 / d) / k, (d * f1 - f2) / (k**2 - d)
    m, rest = h * X**3 / gamma**2, X - 1 - y
    full, room, third = m * (1 + d * y), m * d * gamma, m * (1 + d) * rest
    system = Instance([[1, d], [d, 1]], [[full, room], [room, full], [third, third]], weights=[m, m])
    price, last = m * (h + f1), (m * (1 + d) * rest / d) ** 2 / X**3 / (1 + d)
    tasks = tuple(m * part for part in (F(1), y, rest, y, F(1), rest))
    prices = (price, F(0), F(0), price, last, last)
    return Case(system, points=(tasks,), parameters={"alpha": 3, "prices": prices})


LEMMA_3 = lemma_3_point()


def lemma_4_point() -> Case:
    r"""V = 0, and grad_x Psi is not (K Lemma 4), under Assumption 2; g' = z^-2 at servers 1 and 3, and z^-3 at server 2.

    Users 1 to 3 may use servers 1 and 2, user 4 server 3 alone, where it is solved; user 4 demands 1 of every resource. At server
    1 the resource t is full with a price, s is full without one, and others have room; at server 2 t' and s' are so. User 1 pays
    too much at server 1 (f > 0) and too little at server 2, user 2 the other way round, user 3 too much at both. At each server,
    with b = psi_b, a = psi_a, h = g' / gamma = (phi / x_n)^alpha gamma^(alpha - 1) and tau the price of t,

        b . d_t = 0, so dPsi/dlambda_t = 0           determines d_t from its second entry, with 1 as the first
        grad_x . d_t = 0, so beta_t = 0              two linear equations for tau of both, as h = tau d_t - f and
                                                     grad_n = a_n + sum_j alpha_j b_nj h_nj / x_n
        d_s = d_t - grad_x / 256                     so -grad_x = 256 (d_s - d_t), and b . d_s > 0, beta_s > 0

    phi_n = K v^2 with K = h x_n^3 at server 2 makes gamma_n = 1 / (K v^3) there and h x_n^2 / phi_n^2 at server 1; each is set by
    a resource of its own with b . d > 0 at both servers, so that dPsi/dlambda > 0 for all that have room.
    """
    servers = (  # x and the k of f / x = (k - 1 / k) / 2, of who pays too much, too little, and of user 3; d_t of the second
        ((F(1), F(2)), (F(8), F(797, 798)), (F(4), F(93)), F(81, 4)),
        ((F(1, 9), F(4, 3)), (F(31, 9), F(554, 555)), (F(1, 2), F(21)), F(18, 5)),
    )
    powers = (2, 3)
    x, f, a, b, t = made = tuple(list[Row]() for _ in range(5))
    for j, (*parts, second) in enumerate(servers):
        own = [(v, v * (k - 1 / k) / 2) for v, k in parts]
        psi = [slopes(*both) for both in own]
        demand = [F(1), second, -(psi[0][1] + psi[1][1] * second) / psi[2][1]]
        order = (1, 0, 2) if j else (0, 1, 2)  # user 2 is the first at server 2
        for kept, values in zip(made, (*zip(*own, strict=True), *zip(*psi, strict=True), demand), strict=True):
            kept.append([values[n] for n in order])
    users, total = range(3), [x[0][n] + x[1][n] for n in range(3)]
    rate = [[powers[j] * b[j][n] / total[n] for n in users] for j in (0, 1)]
    still = [a[i][n] - sum(rate[j][n] * f[j][n] for j in (0, 1)) for i in (0, 1) for n in users]
    matrix = [[dot(t[i], [rate[j][n] * t[j][n] for n in users]) for j in (0, 1)] for i in (0, 1)]
    tau = solved(matrix, [-dot(t[i], still[3 * i : 3 * i + 3]) for i in (0, 1)])
    assert tau is not None, "the matrix is regular"
    h = [[tau[j] * t[j][n] - f[j][n] for n in users] for j in (0, 1)]
    common = [sum(rate[j][n] * h[j][n] for j in (0, 1)) for n in users]
    s = [[t[i][n] - (a[i][n] + common[n]) / 256 for n in users] for i in (0, 1)]
    K, roots = [h[1][n] * total[n] ** 3 for n in users], (F(1, 118), F(1, 64), F(1, 82))
    weights = [K[n] * roots[n] ** 2 for n in users]
    gamma = [[h[0][n] * total[n] ** 2 / weights[n] ** 2 for n in users], [1 / (K[n] * roots[n] ** 3) for n in users]]
    # demands of users 1 to 3 for what sets gamma of each user at servers 1 and 2
    own_rows = ("1 3/8 0", "1 1/3 0", "1/8 1 0", "1/16 1 0", "11/16 3/4 1", "4/9 6/13 1")
    setting = [(n, j, [F(v) for v in own_rows[2 * n + j].split()]) for n in users for j in (0, 1)]
    columns = [(0, t[0]), (0, s[0]), (1, t[1]), (1, s[1]), *((j, d) for _, j, d in setting)]
    capacities = []
    for j in (0, 1):
        full = [dot(d, x[j]) for i, d in columns[:4] if i == j] + [gamma[j][n] for n, i, _ in setting if i == j]
        room = [2 * max(dot(d, x[j]), *(d[n] * gamma[j][n] for n in users)) for _, d in columns]
        capacities.append([full.pop(0) if i == j else much for (i, _), much in zip(columns, room, strict=True)])
    rows = [[F(d[n]) for _, d in columns] for n in users] + [[F(1)] * 10]
    system = Instance(rows, [*capacities, [F(1)] + [F(2)] * 9], weights=[*weights, F(1)], eligible=[[1, 1, 0]] * 3 + [[0, 0, 1]])
    prices = [F(0)] * 30
    prices[0], prices[12], prices[20] = tau[0], tau[1], F(1)
    point = tuple(x[j][n] for n in users for j in (0, 1))
    return Case(system, points=((*point, F(1)),), parameters={"alpha": (2, 3, 2), "prices": tuple(prices)})


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """The sum of the products."""
    return sum((v * w for v, w in zip(one, other, strict=True)), F(0))


LEMMA_4 = lemma_4_point()
