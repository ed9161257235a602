r"""Points that refute K Lemmas 3 and 4, where all of the direction v of PS-MFA (K 45-48) is rational, and a run of Theorem 8.

Psi and v are those of problem_3.py. Two readings: **to the letter** every price moves by (47)-(48), also that of a resource with
room, though (40) wants it to be 0; **repaired**, only prices of full resources move. At the points both readings fail alike:
dPsi/dlambda > 0 for every resource with room, so that v_lambda <= 0 by (47), which is 0 by (48); where dPsi/dlambda = 0 the
price moves without changing Psi (Lemma 3), or beta <= 0 (Lemma 4).

docs/papers/errata.md says where K's proofs fail, and why the lemmas are true for one server, and for alpha = 1. Under Assumption
1 v = 0 has beta_r = 0 for all full r (47), and by (115) |grad_x_i|^2 = sum_r s_r beta_r = 0.

**Theorem 8.** Users 1 and 2 each have a server to themselves, with one unit of the one resource, of which a task needs one;
each demands what the other's server has and is not eligible there, so Assumption 2 holds. Both start at x^1 < 1 with lambda =
0. With rho = sqrt(x^2 + f^2), at 0 < x < 1, where nothing is full,

    f = -x^-alpha,   psi_FB = rho - x - f,   v_x = psi_FB (1 - x / rho) + psi_FB (1 - f / rho) alpha x^(-alpha - 1)      (K 93)

and alpha <= v_x <= M = 2 (x^1)^-alpha (1 + 2 alpha (x^1)^(-alpha - 1)) for x^1 <= x <= t < 1 (`steps_that_become_small`).

**Steps.** eta^h = first (t - x^1) / M q^(h - 1), where first / (1 - q) <= 1: all moves together are at most t - x^1, so x stays
below t, (52) and (53) hold, and lambda stays 0, for nothing becomes full. As dPsi/dx = -v_x < 0, every step satisfies (51). |v|
is alpha or more in every iteration, so with epsilon < alpha PS-MFA never ends, and where x tends to the gradient is not 0.
"""

from fractions import Fraction as F

import numpy as np

from fairalloc.models.exact.rationals import solved
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import only_where
from fairalloc.theorems.standalone.merit import dot, slopes


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
    made = []
    for j, (*parts, second) in enumerate(servers):
        own = [(v, v * (k - 1 / k) / 2) for v, k in parts]
        psi = [slopes(*both) for both in own]
        demand = [F(1), second, -(psi[0][1] + psi[1][1] * second) / psi[2][1]]
        order = (1, 0, 2) if j else (0, 1, 2)  # user 2 is the first at server 2
        made.append(np.array([*zip(*own, strict=True), *zip(*psi, strict=True), demand], dtype=object)[:, order])
    x, f, a, b, t = np.stack(made, axis=1)  # by server and user
    users, total = range(3), x.sum(axis=0)
    rate = np.array([[2], [3]]) * b / total
    still = a - (rate * f).sum(axis=0)
    tau = np.array(solved(t @ (rate * t).T, -(t * still).sum(axis=1)), dtype=object)
    h = tau[:, None] * t - f
    s = t - (a + (rate * h).sum(axis=0)) / 256
    K, roots = h[1] * total**3, np.array([F(1, 118), F(1, 64), F(1, 82)])
    weights = K * roots**2
    gamma = h[0] * total**2 / weights**2, 1 / (K * roots**3)
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


LEMMA_4 = lemma_4_point()

RUN = Case(
    Instance([[1], [1]], [[1], [1]], eligible=[[1, 0], [0, 1]]),
    points=((F(1, 2), F(1, 2)),),
    parameters={"alpha": 2, "first": F(1, 2), "shrink": F(1, 2)},
)
"""Where the users start, and first and q of the docstring."""


def numbers(case: Case) -> tuple[int, F, F, F]:
    """Alpha, x^1, first and q; NotApplicable where the case is not of the kind that the docstring is about."""
    instance, start = case.instance, set(case.points[0])
    alone = len(instance.arcs) == instance.N == instance.K and instance.R == 1
    ones = {v for v, *_ in instance.exact.capacities} | {d[0][0] for d in instance.exact.demands} | {*instance.exact.weights}
    only_where(alone and ones == {F(1)}, "not every user has a server of capacity 1 to itself")
    only_where(len(start) == 1 and all(0 < x < 1 for x in start), "the users do not start alike between 0 and 1")
    return int(case.parameters["alpha"]), start.pop(), F(case.parameters["first"]), F(case.parameters["shrink"])
