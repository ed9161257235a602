r"""drf, drfh and tsf (formulations/lexicographic/rule.py) for every instance of a pattern, in units of each user's share.

**Units.** Tasks of user n are counted so that its share by weight is sigma_n x_n / phi_n = x_n. That says of its demands a_nr

    drfh, drf   max over r of a_nr / sum_i c_ir = phi_n, in units of the resources with sum_i c_ir = 1      (W 3, K 5)
    tsf         phi_n sum_i m_ni = 1 with m_ni = min over r that n demands of c_ir / a_nr, placement ignored (K 2.2)

**The definition.** No x_n can be raised without lowering some x_m <= x_n (K Def 1). The largest x_n that leaves these x_m alone
is a linear program, so by its dual this is: for every user n there are prices p_ir >= 0 of full resources, with

    sum_r p_ir a_nr >= 1                at every server i of n
    sum_r p_ir a_mr  = 0                where x_mi > 0, for the m with x_m > x_n
    sum_r p_ir a_mr <= sum_r p_jr a_mr  where x_mi > 0, at every server j of m, for the m with x_m <= x_n

Users with the same x_n have the same prices: the sum of two such prices are such prices. So there is one vector for each layer of
users, and a pattern is asked once for each order of the layers. `exchange` is K Def 1 at a given allocation, as a lemma.

**One server.** Then it is: every user n has a full resource that it demands, with x_m <= x_n for all m that demand it. (From
prices: some r that n demands has a price. To prices: p_r = 1 / a_nr.)
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product

import z3

from fairalloc.theorems.machine.patterns import InstancePattern
from fairalloc.theorems.machine.reals import Term, real, total

__all__ = ["Layers", "LeximinFormulas", "layers"]

Layers = Sequence[Sequence[int]]
"""Users by rising share, those with the same share together."""


def layers(users: int) -> Iterator[Layers]:
    """All orders of the layers: 3 for two users, 13 for three."""
    for ranks in product(range(users), repeat=users):
        if set(ranks) == set(range(max(ranks) + 1)):
            yield [[n for n in range(users) if ranks[n] == k] for k in range(max(ranks) + 1)]


class LeximinFormulas:
    """The unknowns of an answer, for one pattern.

    Parameters
    ----------
    pattern : who may use what and demands what
    servers, resources : how many
    truth : an answer with the same capacities, weights, and demands of all users but the first `liars`
    liars : how many users report other demands than in `truth`
    """

    def __init__(
        self, pattern: InstancePattern, servers: int, resources: int, truth: "LeximinFormulas | None" = None, liars: int = 0
    ) -> None:
        self.pattern, self.servers, self.resources = pattern, range(servers), range(resources)
        tag = "" if truth is None else "'"
        self.liars = liars
        own = {(n, r): real(f"a{tag}{n, r}") for n in pattern.users for r in pattern.demanded[n]}
        self.a: dict[tuple[int, int], Term] = (
            own if truth is None else own | {key: v for key, v in truth.a.items() if key[0] in range(liars, len(pattern.servers))}
        )
        self.c = {(i, r): real(f"c{i, r}") for i in self.servers for r in self.resources}
        self.phi = [real(f"phi{n}") for n in pattern.users]
        self.x = {a: real(f"x{tag}{a}") for a in pattern.arcs}
        self.tag = tag
        self.tasks = [total(self.x[n, i] for i in pattern.servers[n]) for n in pattern.users]

    def _load(self, i: int, r: int, x: dict[tuple[int, int], Term] | None = None) -> Term:
        """What is used of a resource of a server, by this answer or by another allocation."""
        x = self.x if x is None else x
        return total(x[n, i] * self.a[n, r] for n in self.pattern.at(i) if (n, r) in self.a and (n, i) in x)

    # ---- the instance

    def data(self) -> dict[str, list[Term]]:
        """Positive numbers; capacities are positive where somebody may run who demands them."""
        needed = {(i, r) for n, i in self.pattern.arcs for r in self.pattern.demanded[n]}
        return {
            "demands": [v > 0 for v in self.a.values()],
            "capacities": [v > 0 if key in needed else v >= 0 for key, v in self.c.items()],
            "weights": [v > 0 for v in self.phi],
        }

    def numbers(self) -> dict[tuple[str, int, int], Term]:
        """Demands, capacities and weights by ("d", n, r), ("c", i, r) and ("phi", n, 0)."""
        numbers = {("d", *key): v for key, v in self.a.items()} | {("c", *key): v for key, v in self.c.items()}
        return numbers | {("phi", n, 0): phi for n, phi in enumerate(self.phi)}

    def equal_weights(self) -> list[Term]:
        """All weights are the same."""
        return [phi == self.phi[0] for phi in self.phi[1:]]

    def identical_servers(self) -> list[Term]:
        """All servers are alike."""
        return [v == self.c[0, r] for (_, r), v in self.c.items()]

    def shares(self, kind: str) -> list[Term]:
        """sigma_n = phi_n for all users, for "drfh" or "tsf"."""
        return self._task_shares() if kind == "tsf" else self._dominant_shares()

    def _dominant_shares(self) -> list[Term]:
        asked = {r for _, r in self.a}
        formulas = [total(self.c[i, r] for i in self.servers) == 1 for r in asked]
        for n in self.pattern.users:
            own = [self.a[n, r] for r in self.pattern.demanded[n]]
            formulas += [z3.And(*(v <= self.phi[n] for v in own)), z3.Or(*(v == self.phi[n] for v in own))]
        return formulas

    def _alone(self, n: int) -> list[Term]:
        """m_n, for each server."""
        return [real(f"m{self.tag if n < self.liars else ''}{n, i}") for i in self.servers]

    def _task_shares(self) -> list[Term]:
        formulas = []
        for n in self.pattern.users:
            alone = self._alone(n)
            formulas.append(self.phi[n] * total(alone) == 1)
            for i, m in enumerate(alone):
                bounds = [(m * self.a[n, r], self.c[i, r]) for r in self.pattern.demanded[n]]
                formulas += [
                    m >= 0,
                    *(least <= most for least, most in bounds),
                    z3.Or(*(least == most for least, most in bounds)),
                ]
        return formulas

    # ---- the definition

    def feasible(self) -> list[Term]:
        """Tasks >= 0 within the capacities."""
        return [
            *(v >= 0 for v in self.x.values()),
            *(self._load(i, r) <= self.c[i, r] for i in self.servers for r in self.resources),
        ]

    def ordered(self, order: Layers) -> list[Term]:
        """That the layers are these."""
        same = [self.tasks[n] == self.tasks[part[0]] for part in order for n in part[1:]]
        return same + [self.tasks[low[0]] < self.tasks[high[0]] for low, high in pairwise(order)]

    def priced(self, order: Layers) -> list[Term]:
        """Prices for each layer."""
        formulas: list[Term] = []
        for k, part in enumerate(order):
            p = {(i, r): real(f"p{self.tag}{k, i, r}") for i in self.servers for r in self.resources}
            low = {n for other in order[: k + 1] for n in other}
            formulas += [v >= 0 for v in p.values()]
            formulas += [z3.Or(v == 0, self._load(i, r) == self.c[i, r]) for (i, r), v in p.items()]
            cost = {(m, i): total(p[i, r] * self.a[m, r] for r in self.pattern.demanded[m]) for m, i in self.pattern.arcs}
            formulas += [cost[n, i] >= 1 for n in part for i in self.pattern.servers[n]]
            for m, i in self.pattern.arcs:
                if m in low:
                    cheapest = [cost[m, i] <= cost[m, j] for j in self.pattern.servers[m] if j != i]
                else:
                    cheapest = [p[i, r] == 0 for r in self.pattern.demanded[m]]
                formulas += [z3.Or(self.x[m, i] == 0, *([] if not cheapest else [z3.And(*cheapest)]))] if cheapest else []
        return formulas

    def exchange(self, other: Mapping[tuple[int, int], Term]) -> list[Term]:
        """K Def 1 at another feasible allocation: it raises no x_n without lowering some x_m <= x_n."""
        return self._exchange([total(other[n, i] for i in self.servers if (n, i) in other) for n in self.pattern.users])

    def _exchange(self, tasks: Sequence[Term]) -> list[Term]:
        users = self.pattern.users
        lowered = [[z3.And(tasks[m] < self.tasks[m], self.tasks[m] <= self.tasks[n]) for m in users if m != n] for n in users]
        return [z3.Implies(tasks[n] > self.tasks[n], z3.Or(*lowered[n])) for n in users]

    def bottlenecks(self) -> list[Term]:
        """The definition for one server."""
        return [
            z3.Or(
                *(
                    z3.And(
                        self._load(0, r) == self.c[0, r],
                        *(self.tasks[m] <= self.tasks[n] for m in self.pattern.users if m != n and (m, r) in self.a),
                    )
                    for r in self.pattern.demanded[n]
                )
            )
            for n in self.pattern.users
        ]

    # ---- what would refute a property

    def envy(self) -> tuple[list[Term], list[Term]]:
        """User 1 could run more with what user 2 has where user 1 may run: t a_1r <= a_2r, t X phi_1 / phi_2 > x_1.

        Lemma: t phi_1 <= phi_2, the larger demand has the larger share (`larger_share`).
        """
        if not set(self.pattern.demanded[0]) <= set(self.pattern.demanded[1]):
            return [z3.BoolVal(False)], []
        t = real("t")
        got = total(self.x[1, i] for i in self.pattern.servers[1] if i in self.pattern.servers[0])
        fits = [t * self.a[0, r] <= self.a[1, r] for r in self.pattern.demanded[0]]
        formulas = [t > 0, *fits, t * got * self.phi[0] > self.tasks[0] * self.phi[1]]
        return formulas, [t * self.phi[0] <= self.phi[1], t * self.phi[0] * got <= self.phi[1] * got]

    def smaller_share(self) -> list[Term]:
        """That user 2 demands t times as much as user 1, or more, and has less than t times its share: what `envy` excludes."""
        t = real("t")
        fits = [t * self.a[0, r] <= self.a[1, r] for r in self.pattern.demanded[0] if (1, r) in self.a]
        return [t > 0, *fits, t * self.phi[0] > self.phi[1]]

    def dominated(self) -> tuple[list[Term], list[Term]]:
        """Another allocation gives user 1 more and nobody less; and the definition there."""
        better = {a: real(f"better{a}") for a in self.pattern.arcs}
        tasks = [total(better[n, i] for i in self.pattern.servers[n]) for n in self.pattern.users]
        formulas = [*(v >= 0 for v in better.values())]
        formulas += [self._load(i, r, better) <= self.c[i, r] for i in self.servers for r in self.resources]
        formulas += [tasks[0] > self.tasks[0], *(u >= own for u, own in zip(tasks[1:], self.tasks[1:], strict=True))]
        return formulas, self.exchange(better)

    def no_sharing(self) -> tuple[list[Term], list[Term]]:
        """User 1 could run more with its part of every server where it may run."""
        alone = {i: real(f"alone{i}") for i in self.pattern.servers[0]}
        fits = [alone[i] * self.a[0, r] <= self.c[i, r] for i in alone for r in self.pattern.demanded[0]]
        short = total(alone.values()) * self.phi[0] > self.tasks[0] * total(self.phi)
        return [*(v >= 0 for v in alone.values()), *fits, short], []

    def more_than_alone(self) -> list[Term]:
        """Of tsf: user 1 runs alone, with all servers, more than 1 / phi_1 tasks; what `no_task_sharing` takes for impossible."""
        alone = [real(f"alone{i}") for i in self.pattern.servers[0]]
        return [*self.no_sharing()[0][:-1], total(alone) * self.phi[0] > 1]

    def no_task_sharing(self) -> tuple[list[Term], list[Term]]:
        """User 1 has less than its part of what it runs alone, phi_1 / sum phi of at most 1 / phi_1 tasks (`more_than_alone`).

        And the definition where everybody has its part of every server and may run there: 1 / sum phi tasks for all.
        """
        alone, equal, weights = real("alone"), real("equal"), total(self.phi)
        short = [alone * self.phi[0] <= 1, alone * self.phi[0] > self.tasks[0] * weights, equal * weights == 1]
        return short, [z3.Implies(self.tasks[0] >= equal, self.tasks[0] * weights >= 1), *self._exchange([equal] * len(self.phi))]

    def gain(self, reported: "LeximinFormulas", strictly: bool = True) -> tuple[list[Term], list[Term]]:
        """The users who misreport run more true tasks, u_ni on server i, with what they are given.

        Lemmas: these are no more than the reported ones (`larger_share`), and the definition at bundles of the other answer: some
        users have theirs there, who misreports its u_n or nothing, the rest nothing. That is feasible.

        Parameters
        ----------
        reported : the answer to the report
        strictly : whether all of them gain, or one gains and nobody of them loses

        Returns
        -------
        the formulas and the lemmas
        """
        liars = range(reported.liars)
        useful = [(n, i) for n in liars for i in reported.pattern.servers[n] if i in self.pattern.servers[n]]
        u = {a: real(f"u{a}") for a in useful}
        fits = [
            v * self.a[n, r] <= reported.x[n, i] * reported.a[n, r] for (n, i), v in u.items() for r in self.pattern.demanded[n]
        ]
        runs = [total(v for a, v in u.items() if a[0] == n) for n in liars]
        more = [runs[n] > self.tasks[n] if strictly or n == 0 else runs[n] >= self.tasks[n] for n in liars]
        lemmas = [v <= reported.x[a] for a, v in u.items()]
        for kept in product((False, True), repeat=len(self.pattern.servers) - len(liars)):
            others = {n for n, own in enumerate(kept, len(liars)) if own}
            lemmas += self.exchange(u | {a: v for a, v in reported.x.items() if a[0] in others})
            lemmas += reported.exchange({a: v for a, v in self.x.items() if a[0] in others})
        return [*(v >= 0 for v in u.values()), *fits, *more], lemmas

    def larger_share(self, reported: "LeximinFormulas") -> list[Term]:
        """That a bundle for less than one reported task is enough for a true one: what `gain` takes for impossible."""
        t = [real(f"t{n}") for n in range(reported.liars)]
        enough = [
            z3.And(t[n] > 1, *(t[n] * self.a[n, r] <= reported.a[n, r] for r in self.pattern.demanded[n]))
            for n in range(reported.liars)
        ]
        return [z3.Or(*enough)]

    def loses(self, fewer: "LeximinFormulas") -> tuple[list[Term], list[Term]]:
        """User 1 has less without the last user (W 3.3); and the definition there at what the others had, which is feasible."""
        rest = {a: v for a, v in self.x.items() if a[0] in fewer.pattern.users}
        return [fewer.tasks[0] < self.tasks[0]], fewer.exchange(rest)

    def unequal(self) -> list[Term]:
        """User 1 has another share than user 2 (W (6))."""
        return [self.tasks[0] != self.tasks[1]]

    def without_bottleneck(self) -> list[Term]:
        """With one server: user 1 has no bottleneck."""
        return [z3.Not(self.bottlenecks()[0])]

    def raised(self) -> list[Term]:
        """Another allocation raises x_1 and lowers no x_m <= x_1, against K Def 1."""
        better = {a: real(f"better{a}") for a in self.pattern.arcs}
        tasks = [total(better[n, i] for i in self.pattern.servers[n]) for n in self.pattern.users]
        within = [self._load(i, r, better) <= self.c[i, r] for i in self.servers for r in self.resources]
        kept = [z3.Or(self.tasks[m] > self.tasks[0], tasks[m] >= self.tasks[m]) for m in self.pattern.users[1:]]
        return [*(v >= 0 for v in better.values()), *within, tasks[0] > self.tasks[0], *kept]
