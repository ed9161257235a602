r"""PS-DSF and the game (P Theorem 1, K (12), (16), (22)) in parts of servers, for every instance of a pattern.

**Units.** Tasks of user n are counted so that x_n = phi_n, which is no restriction: every user has some tasks, for the bottleneck
of a user without any would be full and used by nobody. With

    g_ni = gamma_ni        y_ni = x_ni / gamma_ni        w_nir = gamma_ni d_nr / c_ir in (0, 1], = 1 for some r that n demands

the share is z_ni = x_n / (phi_n gamma_ni) = 1 / g_ni, and an instance is any y >= 0, g > 0, w, phi > 0 with

    sum_i g_ni y_ni = phi_n          sum_n w_nir y_ni <= 1                                                   (*)

In these letters demands of users may differ from server to server. So what is proved by (*) alone holds for users with their own
demands on every server, too; `same_demands` adds w_nir c_ir = d_nr g_ni for what needs it, and for what is refuted.

**PS-DSF.** Every arc (n, i) has a resource r that n demands, with sum_m w_mir y_mi = 1 and g_mi >= g_ni for all m with y_mi > 0
that demand r.

**The game, for every alpha_i >= 1 and all A_i, B_i of (22) at once.** By (16), A^alpha g_ni^alpha + B g_ni =: f_i(g_ni) <= sum_r
lambda_ir w_nir, with equality where y_ni > 0, and lambda_ir > 0 for full resources only. f_i is increasing and f_i(g) / g does
not fall, and that is all that is used of it. In units of sum_r lambda_ir = f_i(s_i), with h_ni = g_ni / s_i and k_ni = f_i(g_ni)
/ f_i(s_i),

    k_ni <= sum_r lambda_ir w_nir, = where y_ni > 0,    sum_r lambda_ir = 1,    k_ni >= h_ni where h_ni >= 1, <= where h_ni <= 1,
    k_ni <= k_mi and k_ni h_mi <= k_mi h_ni wherever h_ni <= h_mi.

**Problem 3** and what K says of it (K 4.3 and 5), at any point (x, lambda) of any instance of a pattern.

A point has tasks x_ni, prices lambda_ir, and at each arc f_ni = sum_r lambda_ir d_nr - g'_i(z_ni) / gamma_ni (31), of which none
but f'_ni = df_ni / dx_n > 0 is used, for every alpha > 0 and all A, B of (22). So f_ni and f'_ni are unknowns. With

    s = sqrt(x^2 + f^2),  e = s - x - f,  psi = e^2 / 2                                                  (35)-(36), at each arc
    a = dpsi/dx = e (x / s - 1),  b = dpsi/df = e (f / s - 1),  both 0 where s = 0

Psi = sum psi is 0 where every e is. What the square roots are needed for is asked once, at one arc (`solved`, `signs`);
the questions of a whole point take it as said. K Lemma 1 and Theorem 6 need that the minimum of Psi is 0, that is that (28)-(29)
has a solution: K.3.1.existence, in prose.
"""

from itertools import permutations

import z3

from fairalloc.theorems.definitions import bottleneck, content, equilibrium, ps_dsf, undominated
from fairalloc.theorems.smt.patterns import InstancePattern
from fairalloc.theorems.smt.reals import FORMULAS, Term, real, total


class GameFormulas:
    """The unknowns of (*) and what is said of them, for one pattern."""

    def __init__(self, pattern: InstancePattern, servers: int, resources: int) -> None:
        self.pattern, self.servers, self.resources = pattern, range(servers), range(resources)
        self.y = {a: real(f"y{a}") for a in pattern.arcs}
        self.g = {a: real(f"g{a}") for a in pattern.arcs}
        self.w = {(n, i, r): real(f"w{n, i, r}") for n, i in pattern.arcs for r in pattern.demanded[n]}
        self.phi = [real(f"phi{n}") for n in pattern.users]
        self.at = {i: own for i in self.servers if (own := pattern.at(i))}
        self.load = {(i, r): total(self._used(n, i, r) for n in pattern.at(i)) for i in self.servers for r in self.resources}
        self.need = {a: {r: self.w[(*a, r)] for r in pattern.demanded[a[0]]} for a in pattern.arcs}
        self.room = dict.fromkeys(self.load, 1)
        self.share = {a: -g for a, g in self.g.items()}  # in the order of 1 / g

    def _used(self, n: int, i: int, r: int) -> Term:
        """The part of resource r of server i that user n has; 0 where it demands none."""
        return self.w[n, i, r] * self.y[n, i] if (n, i, r) in self.w else z3.RealVal(0)

    def instance(self) -> dict[str, list[Term]]:
        """(*)."""
        own = {a: [self.w[(*a, r)] for r in self.pattern.demanded[a[0]]] for a in self.pattern.arcs}
        units = [z3.And(*(z3.And(v > 0, v <= 1) for v in part), z3.Or(*(v == 1 for v in part))) for part in own.values()]
        tasks = [total(self.g[a] * self.y[a] for a in self.pattern.arcs if a[0] == n) == self.phi[n] for n in self.pattern.users]
        return {
            "units": [*units, *(g > 0 for g in self.g.values()), *(phi > 0 for phi in self.phi)],
            "tasks": tasks,
            "capacities": [*(y >= 0 for y in self.y.values()), *(load <= 1 for load in self.load.values())],
        }

    def same_demands(self) -> tuple[list[Term], dict[tuple[str, int, int], Term]]:
        """That demands are the same on every server, and the numbers: ("d", n, r), ("c", i, r), ("x", n, i), ("phi", n, 0)."""
        d = {(n, r): real(f"d{n, r}") for n in self.pattern.users for r in self.pattern.demanded[n]}
        c = {(i, r): real(f"c{i, r}") for i in self.servers for r in self.resources}
        formulas = [v > 0 for v in (*d.values(), *c.values())]
        formulas += [self.w[n, i, r] * c[i, r] == d[n, r] * self.g[n, i] for n, i, r in self.w]
        numbers = {("d", *key): v for key, v in d.items()} | {("c", *key): v for key, v in c.items()}
        numbers |= {("x", n, i): self.y[n, i] * self.g[n, i] for n, i in self.pattern.arcs}
        return formulas, numbers | {("phi", n, 0): phi for n, phi in enumerate(self.phi)}

    def ps_dsf(self) -> list[Term]:
        return [ps_dsf(self.need, self.room, self.share, self.y, *FORMULAS)]

    def equilibrium(self, rising: bool = True) -> tuple[list[Term], list[Term]]:
        """The game for every f as above, or with rising=False for every increasing f: all alpha > 0. And lemmas: products of the
        conditions, and what they add up to.
        """
        h, k = ({a: real(f"{name}{a}") for a in self.pattern.arcs} for name in "hk")
        price = {(i, r): real(f"lambda{i, r}") for i in self.servers for r in self.resources}
        scale = [real(f"s{i}") for i in self.servers]
        cost = {(n, i): total(price[i, r] * self.w[n, i, r] for r in self.pattern.demanded[n]) for n, i in self.pattern.arcs}
        formulas = [equilibrium(self.need, self.room, k, self.y, price, *FORMULAS)]
        formulas += [z3.And(scale[i] > 0, total(price[i, r] for r in self.resources) == 1) for i in self.at]
        for a in self.pattern.arcs:
            formulas += [self.g[a] == scale[a[1]] * h[a], h[a] > 0, k[a] > 0]
            formulas += [z3.If(h[a] >= 1, k[a] >= h[a], k[a] <= h[a])] if rising else []
        for a, b in (((n, i), (m, i)) for i, own in self.at.items() for n, m in permutations(own, 2)):
            formulas += [z3.Implies(h[a] < h[b], k[a] < k[b]), z3.Implies(h[a] == h[b], k[a] == k[b])]
            formulas += [z3.Implies(h[a] <= h[b], k[a] * h[b] <= k[b] * h[a])] if rising else []
        lemmas = [cost[a] <= 1 for a in self.pattern.arcs]  # w <= 1 and prices add up to 1
        if rising:  # k <= cost <= 1, and k >= h where h >= 1
            lemmas += [z3.And(h[a] <= 1, k[a] <= h[a]) for a in self.pattern.arcs]
        for i, own in self.at.items():
            spent = total(k[n, i] * self.y[n, i] for n in own)
            lemmas += [spent == 1]
            lemmas += [total(h[n, i] * self.y[n, i] for n in own) >= spent] if rising else []
        return formulas, lemmas

    # ---- what would refute a property

    def no_sharing(self) -> list[Term]:
        """User 1 has less than its part of every server: sum_i g_1i > sum phi, as x_1 = phi_1."""
        return [total(self.g[0, i] for i in self.pattern.servers[0]) > total(self.phi)]

    def envy(self) -> list[Term]:
        """User 1 could run more with what user 2 has, scaled: parts S_i of server i."""
        parts = {(0, i): real(f"S{i}") for i in self.pattern.servers[0] if i in self.pattern.servers[1]}
        held = {(i, r): self._used(1, i, r) for _, i in parts for r in self.pattern.demanded[0]}
        return [z3.Not(content(self.need, held, parts, total(self.g[a] * S for a, S in parts.items()), self.phi[1], *FORMULAS))]

    def dominated(self) -> list[Term]:
        """Another division gives user 1 more and nobody less."""
        y = {a: real(f"better{a}") for a in self.pattern.arcs}
        tasks = [total(self.g[a] * y[a] for a in self.pattern.arcs if a[0] == n) for n in self.pattern.users]
        best = undominated(self.need, self.room, y, tasks, dict(enumerate(self.phi)), *FORMULAS)
        return [z3.Not(best), tasks[0] > self.phi[0]]

    def one_dominant(self) -> list[Term]:
        """Everybody dominantly requests resource 1 everywhere: with C_i of it at server i and D_n for a task, g_ni D_n = C_i."""
        c, amount = self._amounts()
        same = [z3.And(self.w[n, i, 0] == 1, self.g[n, i] * amount[n] == c[i]) for n, i in self.pattern.arcs]
        return [v > 0 for v in (*c, *amount)] + same

    def unfair(self) -> list[Term]:
        """User 1 could have more of resource 1 on a server, where it is no bottleneck: users' amounts are D_m, as x_m = phi_m."""
        share = {a: self._amounts()[1][a[0]] for a in self.need}
        own = [bottleneck(self.need, self.room, share, self.y, (0, i), 0, *FORMULAS) for i in self.pattern.servers[0]]
        return [z3.Not(z3.And(*own))]

    def dominant_everywhere(self) -> list[Term]:
        """Each server has a resource that everybody who may use it dominantly requests there (K 3.3)."""
        common = {i: set.intersection(*(set(self.pattern.demanded[n]) for n in own)) for i, own in self.at.items()}
        return [z3.Or(*(z3.And(*(self.w[n, i, r] == 1 for n in self.at[i])) for r in part)) for i, part in common.items()]

    def least_served(self) -> Term:
        """Where `dominant_everywhere`: every server is full, and who is served has the least share there, the largest g.

        That is best for any utility whose slope falls: a price f(max g) of the dominant resource alone satisfies (29), and no
        other resource limits the server.
        """
        full = [total(self.y[n, i] for n in own) == 1 for i, own in self.at.items()]
        pairs = [(n, m, i) for i, own in self.at.items() for n, m in permutations(own, 2)]
        return z3.And(*full, *(z3.Or(self.y[n, i] == 0, self.g[n, i] >= self.g[m, i]) for n, m, i in pairs))

    def exchanged(self) -> list[Term]:
        """Of two users and two servers open to both, each is served where it runs relatively less (P (35))."""
        both = [i for i in self.pattern.servers[0] if i in self.pattern.servers[1]]
        pairs, y, g = permutations(both, 2), self.y, self.g
        return [z3.Or(*(z3.And(y[0, j] > 0, y[1, k] > 0, g[0, j] * g[1, k] < g[0, k] * g[1, j]) for j, k in pairs))]

    def unfair_at_server(self) -> list[Term]:
        """User 1 could have more of resource 1 at server 1, where that is no bottleneck."""
        if 0 not in self.pattern.servers[0]:
            return [z3.BoolVal(False)]
        return [z3.Not(bottleneck(self.need, self.room, self.share, self.y, (0, 0), 0, *FORMULAS))]

    def _amounts(self) -> tuple[list[Term], list[Term]]:
        return [real(f"C{i}") for i in self.servers], [real(f"D{n}") for n in self.pattern.users]


# ---- Problem 3 -------------------------------------------------------------------------------------------------------


Arc = tuple[int, int]


class MeritFormulas:
    """The unknowns of a point, for one pattern."""

    def __init__(self, pattern: InstancePattern, servers: int, resources: int) -> None:
        self.pattern, self.rows = pattern, [(i, r) for i in range(servers) for r in range(resources)]
        self.d = {(n, r): real(f"d{n, r}") for n in pattern.users for r in pattern.demanded[n]}
        self.price, self.spare = ({row: real(f"{name}{row}") for row in self.rows} for name in ("lambda", "spare"))
        self.x, self.f, self.s, self.e, self.a, self.b = ({arc: real(f"{v}{arc}") for arc in pattern.arcs} for v in "xfseab")

    def demands(self) -> list[Term]:
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
