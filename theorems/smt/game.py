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
        """A bottleneck for every arc."""
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

    def server_dominant(self) -> list[Term]:
        """Everybody who may use server 1 dominantly requests resource 1 there (K 3.3)."""
        return [self.w[n, 0, 0] == 1 for n in self.pattern.at(0)]

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

    def not_least_served(self) -> list[Term]:
        """User 1 has tasks on a server where somebody has a smaller share: g_1i < g_mi."""
        others = [(i, m) for i in self.pattern.servers[0] for m in self.pattern.at(i)]
        return [z3.Or(*(z3.And(self.y[0, i] > 0, self.g[0, i] < self.g[m, i]) for i, m in others))]
