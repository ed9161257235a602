r"""nb (Z (3), K Theorem 2) for every instance, by the prices of its capacities, in units of resources that cost one.

**Units.** Tasks of user n are counted so that u_n = w_n, its weight, and resource r of server i so that its price is 1 where it
has one. A task of variant v of user n at server i costs the sum of d_nvir over the priced r, and optimality says

    cost_nvi >= w_n / u_n = 1        = 1 where x_nvi > 0        capacities with a price are full

Demands of a user may differ from server to server here, so what is proved holds for that, too. Who has one variant has two equal
ones, so that two variants stand for "at most two".
"""

from collections.abc import Mapping, Sequence
from itertools import product

import z3

from fairalloc.theorems.definitions import content, equilibrium, feasible, used
from fairalloc.theorems.smt.reals import FORMULAS, Term, real, total


class MarketFormulas:
    """The unknowns of one instance; `priced` are the (server, resource) that have a price."""

    def __init__(self, users: int, variants: int, servers: int, resources: int, priced: Sequence[tuple[int, int]]) -> None:
        self.users, self.servers, self.variants = range(users), range(servers), range(variants)
        self.pools = list(product(range(servers), range(resources)))
        self.arcs = list(product(self.users, self.variants, self.servers))
        self.priced = priced
        self.d = {(*a, r): real(f"d{(*a, r)}") for a in self.arcs for r in range(resources)}
        self.x = {a: real(f"x{a}") for a in self.arcs}
        self.w = [real(f"w{n}") for n in self.users]
        self.c = {pool: real(f"c{pool}") for pool in self.pools}
        self.need = {a: {r: self.d[(*a, r)] for r in range(resources)} for a in self.arcs}

    def tasks(self, n: int, x: Mapping[tuple[int, int, int], Term]) -> Term:
        """u_n of an allocation."""
        return total(x[a] for a in self.arcs if a[0] == n and a in x)

    def cost(self, a: tuple[int, int, int]) -> Term:
        """Of one task of a variant at a server."""
        return total(self.d[(*a, r)] for i, r in self.priced if i == a[2])

    def instance(self) -> dict[str, list[Term]]:
        return {
            "data": [*(v >= 0 for v in self.d.values()), *(v > 0 for v in self.w), *(v >= 0 for v in self.c.values())],
            "tasks": [self.tasks(n, self.x) == self.w[n] for n in self.users],
            "capacities": [feasible(self.need, self.c, self.x, *FORMULAS)],
        }

    def prices(self) -> list[Term]:
        prices = {pool: int(pool in self.priced) for pool in self.pools}
        return [equilibrium(self.need, self.c, dict.fromkeys(self.arcs, 1), self.x, prices, *FORMULAS)]

    def spent(self, x: Mapping[tuple[int, int, int], Term]) -> list[Term]:
        """Lemmas: what is held costs at least its tasks, and at the optimum just these."""
        own = [v * self.cost(a) == v for a, v in self.x.items()]
        return [*own, *(v * self.cost(a) >= v for a, v in x.items())]

    def _value(self) -> Term:
        """Lemma: what is full and has a price costs what is held, sum_n u_n = sum w."""
        return total(self.c[pool] for pool in self.priced) == total(self.w)

    # ---- what would refute a property, and lemmas

    def _more(self, bundle: Mapping[tuple[int, int], Term], have: Term) -> tuple[list[Term], list[Term]]:
        """User 1's tasks from a bundle are more than it has, in its units."""
        y = {a: real(f"y{a}") for a in self.arcs if a[0] == 0}
        return [z3.Not(content(self.need, bundle, y, self.tasks(0, y), have, *FORMULAS))], self.spent(y)

    def envy(self) -> tuple[list[Term], list[Term]]:
        """User 1 could run more with what user 2 has, scaled by their weights: y w_1 / w_2."""
        held = {a: v for a, v in self.x.items() if a[0] == 1}
        return self._more({(i, r): used(self.need, held, i, r) for i, r in self.pools}, self.w[1])

    def no_sharing(self) -> tuple[list[Term], list[Term]]:
        """User 1 could run more with its part of everything: y w_1 / sum w from all of it."""
        return self._more(self.c, total(self.w))

    def dominated(self) -> tuple[list[Term], list[Term]]:
        """Another allocation gives user 1 more and nobody less."""
        y, fits = self._another()
        no_less = [self.tasks(n, y) >= self.w[n] for n in self.users[1:]]
        return [*fits, self.tasks(0, y) > self.w[0], *no_less], [self._value()]

    def not_proportional(self) -> tuple[list[Term], list[Term]]:
        """Another allocation has sum_n w_n (u'_n - u_n) / u_n > 0 (K footnote 5)."""
        y, fits = self._another()
        gain = total(self.tasks(n, y) for n in self.users) > total(self.w)
        return [*fits, gain], [self._value()]

    def not_split(self) -> tuple[list[Term], list[Term]]:
        """With equal weights, of one resource user 1 has not an equal part."""
        held = {a: v for a, v in self.x.items() if a[0] == 0}
        return [*(w == self.w[0] for w in self.w), used(self.need, held, 0, 0) * len(self.w) != self.c[0, 0]], self.spent({})

    def _another(self) -> tuple[dict[tuple[int, int, int], Term], list[Term]]:
        """Another allocation. Of what it takes, y d_ar as an unknown, nothing is used but that it costs at least y."""
        y = {a: real(f"y{a}") for a in self.arcs}
        taken = {(*a, r): real(f"taken{(*a, r)}") for a in self.arcs for i, r in self.priced if i == a[2]}
        worth = [y[a] <= total(v for key, v in taken.items() if key[:3] == a) for a in self.arcs]
        within = [total(v for key, v in taken.items() if key[2:] == pool) <= self.c[pool] for pool in self.priced]
        return y, [*(v >= 0 for v in y.values()), *(v >= 0 for v in taken.values()), *worth, *within]
