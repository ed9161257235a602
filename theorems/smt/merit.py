r"""Problem 3 and what K says of it (K 4.3 and 5), at any point (x, lambda) of any instance of a pattern.

A point has tasks x_ni, prices lambda_ir, and at each arc f_ni = sum_r lambda_ir d_nr - g'_i(z_ni) / gamma_ni (31), of which none
but f'_ni = df_ni / dx_n > 0 is used, for every alpha > 0 and all A, B of (22). So f_ni and f'_ni are unknowns. With

    s = sqrt(x^2 + f^2),  e = s - x - f,  psi = e^2 / 2                                                  (35)-(36), at each arc
    a = dpsi/dx = e (x / s - 1),  b = dpsi/df = e (f / s - 1),  both 0 where s = 0

Psi = sum psi is 0 where every e is. What the square roots are needed for is asked once, at one arc (`solved`, `signs`);
the questions of a whole point take it as said. K Lemma 1 and Theorem 6 need that the minimum of Psi is 0, that is that (28)-(29)
has a solution: K.3.1.existence, in prose.
"""

import z3

from fairalloc.theorems.smt.patterns import InstancePattern
from fairalloc.theorems.smt.reals import Term, real, total

Arc = tuple[int, int]


class MeritFormulas:
    """The unknowns of a point, for one pattern."""

    def __init__(self, pattern: InstancePattern, servers: int, resources: int) -> None:
        self.pattern, self.rows = pattern, [(i, r) for i in range(servers) for r in range(resources)]
        self.d = {(n, r): real(f"d{n, r}") for n in pattern.users for r in pattern.demanded[n]}
        self.price, self.spare = ({row: real(f"{name}{row}") for row in self.rows} for name in ("lambda", "spare"))
        self.x, self.f, self.s, self.e, self.a, self.b = ({arc: real(f"{v}{arc}") for arc in pattern.arcs} for v in "xfseab")

    def demands(self) -> list[Term]:
        """Positive demands."""
        return [v > 0 for v in self.d.values()]

    def _complementary(self, arc: Arc) -> Term:
        """(29) at an arc."""
        x, f = self.x[arc], self.f[arc]
        return z3.And(x >= 0, f >= 0, z3.Or(x == 0, f == 0))

    # ---- at one arc

    def root(self, arc: Arc) -> list[Term]:
        """S and e."""
        x, f, s = self.x[arc], self.f[arc], self.s[arc]
        return [s >= 0, s * s == x * x + f * f, self.e[arc] == s - x - f]

    def derivatives(self, arc: Arc) -> list[Term]:
        """A and b."""
        a, b, s = self.a[arc], self.b[arc], self.s[arc]
        equations = [a * s == self.e[arc] * (self.x[arc] - s), b * s == self.e[arc] * (self.f[arc] - s)]
        return [z3.Implies(s == 0, z3.And(a == 0, b == 0)), *equations]

    def solved(self, arc: Arc) -> Term:
        """Psi = 0 where (29) holds, and there only (33)."""
        return (self.e[arc] == 0) == self._complementary(arc)

    def signs(self, arc: Arc) -> Term:
        """A b >= 0, 0 only where psi is (98), and both are 0 there (99)."""
        a, b, zero = self.a[arc], self.b[arc], self.e[arc] == 0
        return z3.And(a * b >= 0, z3.Implies(a * b == 0, zero), z3.Implies(zero, z3.And(a == 0, b == 0)))

    # ---- of a point: what would refute a claim, and lemmas

    def other_solutions(self) -> tuple[list[Term], list[Term]]:
        """(38)-(40) with Psi = 0, or (28)-(29), but not both (K Lemma 1); lemma: `solved`. spare_ir is c_ir less what is used."""
        pairs = [(self.spare[row], self.price[row]) for row in self.rows]
        allowed = [z3.And(v >= 0, p >= 0, z3.Implies(v != 0, p == 0)) for v, p in pairs]
        complementary = [z3.And(v >= 0, p >= 0, v * p == 0) for v, p in pairs]
        least = z3.And(*allowed, *(e == 0 for e in self.e.values()))
        return [least != z3.And(*complementary, *map(self._complementary, self.x))], [self.solved(arc) for arc in self.x]

    def wrong_rest(self) -> tuple[list[Term], list[Term]]:
        """An iteration (55)-(56) from x >= 0 changes nothing, or (29) holds, but not both."""
        steps = {i: real(f"kappa{i}") for _, i in self.x}
        same = []
        for (n, i), x in self.x.items():
            f = self.f[n, i]
            new = x + steps[i] * z3.If(z3.Or(x > 0, f < 0), -f, 0)
            same.append(z3.If(new > 0, new, 0) == x)
        positive = [*(v > 0 for v in steps.values()), *(x >= 0 for x in self.x.values())]
        return [*positive, z3.And(*same) != z3.And(*map(self._complementary, self.x))], []

    def unstationary(self) -> tuple[list[Term], list[Term]]:
        """The gradient is 0 and Psi is not, or the other way round (K Theorem 6).

        At user n the derivative by x_ni is a_ni + S_n with S_n = sum_j b_nj f'_nj (93). Times b_ni f'_ni and summed over i these
        are sum_i w_ni + S_n^2 with w = a b f' (96). Lemmas: that sum is 0 where the derivatives are (`wrong_sum`), the parts are
        not negative, and the signs of w are those of a b (`signs`).
        """
        S, square = ([real(f"{name}{n}") for n in self.pattern.users] for name in ("S", "SS"))
        w = {arc: real(f"w{arc}") for arc in self.x}
        by_x = {(n, i): self.a[n, i] + S[n] == 0 for n, i in self.x}
        by_price = [total(self.b[n, i] * self.d[n, r] for n in self.pattern.at(i) if (n, r) in self.d) == 0 for i, r in self.rows]
        zero = z3.And(*(e == 0 for e in self.e.values()))
        lemmas = []
        for n in self.pattern.users:
            own = [(n, i) for i in self.pattern.servers[n]]
            stays = z3.And(*(by_x[arc] for arc in own))
            lemmas += [z3.Implies(stays, total(w[arc] for arc in own) + square[n] == 0), square[n] >= 0]
            lemmas.append(z3.Implies(z3.And(*(self.b[arc] == 0 for arc in own)), S[n] == 0))
        for arc in self.x:
            lemmas += [w[arc] >= 0, z3.Implies(w[arc] == 0, self.e[arc] == 0)]
            lemmas.append(z3.Implies(self.e[arc] == 0, z3.And(self.a[arc] == 0, self.b[arc] == 0)))
        moves = z3.Not(z3.And(*by_x.values(), *by_price))
        return [z3.Or(z3.And(*by_x.values(), z3.Not(zero)), z3.And(zero, moves))], lemmas

    def wrong_sum(self, n: int) -> list[Term]:
        """(96) of user n: the derivatives are 0, and sum_i a b f' + S^2 is not."""
        slope = {i: real(f"F{i}") for i in self.pattern.servers[n]}
        S = total(self.b[n, i] * F for i, F in slope.items())
        parts = total(self.a[n, i] * self.b[n, i] * F for i, F in slope.items())
        return [*(self.a[n, i] + S == 0 for i in slope), *(F > 0 for F in slope.values()), parts + S * S != 0]

    def stuck(self, full: tuple[int, ...]) -> tuple[list[Term], list[Term]]:
        """At server 1, where these resources are full and have prices, v = 0 and the gradient p by x is not 0 (K Lemma 4).

        v_x = 0 says -p = sum_r q_r d_r over full resources (115); v_lambda = 0 says of each that (47) is 0, with l_r =
        dPsi/dlambda_r and beta_r = -p d_r. Lemma: p p = sum_r q_r beta_r.
        """
        users = self.pattern.at(0)
        p, q, slope = {n: real(f"p{n}") for n in users}, *({r: real(f"{name}{r}") for r in full} for name in "ql")
        beta = {r: -total(p[n] * self.d[n, r] for n in users if (n, r) in self.d) for r in full}
        formulas = [p[n] + total(q[r] * self.d[n, r] for r in full if (n, r) in self.d) == 0 for n in users]
        formulas += [z3.If(-beta[r] * slope[r] >= 0, beta[r], 0) == slope[r] for r in full]
        square = total(v * v for v in p.values())
        return [*formulas, z3.Or(*(v != 0 for v in p.values()))], [square == total(q[r] * beta[r] for r in full)]
