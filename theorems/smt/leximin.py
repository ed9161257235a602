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

**lmmf** (Z II-B) in one pool, with up to two demand vectors a user; tasks are compared as they are. Y is lexicographically
max-min fair iff no feasible allocation gives some user n more than its v_n tasks without giving less to some m with v_m <= v_n.
Such an allocation is not there, for a step towards it would be lexicographically larger (Z Lemmas 1 and 2). `exchange` is this
at a given allocation. Over simplex demands (Z V) every task takes one unit in all, so what v tasks take holds at most v tasks of
any user (Z Lemma 4). Products of tasks and demands are unknowns of their own, t_nvr, with sum_r t_nvr = v_nv: that is all that
is used of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product

import z3

from fairalloc.theorems.definitions import bottleneck, content, feasible, keeps, not_raised, undominated
from fairalloc.theorems.smt.patterns import InstancePattern
from fairalloc.theorems.smt.reals import FORMULAS, Term, real, total

Layers = Sequence[Sequence[int]]
"""Users by rising share, those with the same share together."""


def layers(users: int) -> Iterator[Layers]:
    """All orders of the layers: 3 for two users, 13 for three."""
    for ranks in product(range(users), repeat=users):
        if set(ranks) == set(range(max(ranks) + 1)):
            yield [[n for n in range(users) if ranks[n] == k] for k in range(max(ranks) + 1)]


class LeximinFormulas:
    """The unknowns of an answer, for one pattern and so many servers and resources.

    `truth` is an answer with the same capacities, weights, and demands of all users but the first `liars`, who report others.
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
        self.need = {a: {r: self.a[a[0], r] for r in pattern.demanded[a[0]]} for a in pattern.arcs}

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

    def shares(self, kind: str) -> list[Term]:
        """sigma_n = phi_n for all users, for "drfh" or "tsf"."""
        if kind == "tsf":
            return [formula for n in self.pattern.users for formula in self._task_share(n)]
        asked = {r for _, r in self.a}
        formulas = [total(self.c[i, r] for i in self.servers) == 1 for r in asked]
        for n in self.pattern.users:
            own = [self.a[n, r] for r in self.pattern.demanded[n]]
            formulas += [z3.And(*(v <= self.phi[n] for v in own)), z3.Or(*(v == self.phi[n] for v in own))]
        return formulas

    def _task_share(self, n: int) -> Iterator[Term]:
        """With m_n, for each server."""
        alone = [real(f"m{self.tag if n < self.liars else ''}{n, i}") for i in self.servers]
        yield self.phi[n] * total(alone) == 1
        for i, m in enumerate(alone):
            bounds = [(m * self.a[n, r], self.c[i, r]) for r in self.pattern.demanded[n]]
            yield m >= 0
            yield from (least <= most for least, most in bounds)
            yield z3.Or(*(least == most for least, most in bounds))

    # ---- the definition

    def feasible(self) -> list[Term]:
        return [feasible(self.need, self.c, self.x, *FORMULAS)]

    def ordered(self, order: Layers) -> list[Term]:
        same = [self.tasks[n] == self.tasks[part[0]] for part in order for n in part[1:]]
        return same + [self.tasks[low[0]] < self.tasks[high[0]] for low, high in pairwise(order)]

    def priced(self, order: Layers) -> list[Term]:
        rank = {n: k for k, part in enumerate(order) for n in part}
        prices = [{key: real(f"p{self.tag}{(k, *key)}") for key in self.c} for k in range(len(order))]
        return [keeps(self.need, self.c, rank, self.x, part, p, *FORMULAS) for part, p in zip(order, prices, strict=True)]

    def exchange(self, other: Mapping[tuple[int, int], Term]) -> list[Term]:
        """K Def 1 at another feasible allocation: it raises no x_n without lowering some x_m <= x_n."""
        return self._exchange([total(other[n, i] for i in self.servers if (n, i) in other) for n in self.pattern.users])

    def _exchange(self, tasks: Sequence[Term]) -> list[Term]:
        return [not_raised(dict(enumerate(self.tasks)), tasks, *FORMULAS)]

    def bottlenecks(self) -> list[Term]:
        """The definition for one server: a bottleneck for each user."""
        share = {a: self.tasks[a[0]] for a in self.need}
        own = [[bottleneck(self.need, self.c, share, self.x, a, r, *FORMULAS) for r in self.need[a]] for a in self.need]
        return [z3.Or(*reasons) for reasons in own]

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
        better, tasks = self._another()
        best = undominated(self.need, self.c, better, tasks, dict(enumerate(self.tasks)), *FORMULAS)
        return [z3.Not(best), tasks[0] > self.tasks[0]], self.exchange(better)

    def _another(self) -> tuple[dict[tuple[int, int], Term], list[Term]]:
        better = {a: real(f"better{a}") for a in self.pattern.arcs}
        return better, [total(better[n, i] for i in self.pattern.servers[n]) for n in self.pattern.users]

    def no_sharing(self) -> tuple[list[Term], list[Term]]:
        """User 1 could run more with its part of every server where it may run."""
        alone = {(0, i): real(f"alone{i}") for i in self.pattern.servers[0]}
        part = {(i, r): self.c[i, r] for _, i in alone for r in self.pattern.demanded[0]}
        more, have = total(alone.values()) * self.phi[0], self.tasks[0] * total(self.phi)
        return [z3.Not(content(self.need, part, alone, more, have, *FORMULAS))], []

    def more_than_alone(self) -> list[Term]:
        """Of tsf: user 1 runs alone, with all servers, more than 1 / phi_1 tasks; what `no_task_sharing` takes for impossible."""
        alone = {(0, i): real(f"alone{i}") for i in self.pattern.servers[0]}
        part = {(i, r): self.c[i, r] for _, i in alone for r in self.pattern.demanded[0]}
        return [feasible(self.need, part, alone, *FORMULAS), total(alone.values()) * self.phi[0] > 1]

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
        """
        liars = range(reported.liars)
        useful = [(n, i) for n in liars for i in reported.pattern.servers[n] if i in self.pattern.servers[n]]
        u = {a: real(f"u{a}") for a in useful}
        fits = []
        for n in liars:
            own = {a: v for a, v in u.items() if a[0] == n}
            given = {(i, r): reported.x[n, i] * reported.need[n, i].get(r, 0) for _, i in own for r in self.pattern.demanded[n]}
            fits.append(feasible(self.need, given, own, *FORMULAS))
        runs = [total(v for a, v in u.items() if a[0] == n) for n in liars]
        more = [runs[n] > self.tasks[n] if strictly or n == 0 else runs[n] >= self.tasks[n] for n in liars]
        lemmas = [v <= reported.x[a] for a, v in u.items()]
        for kept in product((False, True), repeat=len(self.pattern.servers) - len(liars)):
            others = {n for n, own in enumerate(kept, len(liars)) if own}
            lemmas += self.exchange(u | {a: v for a, v in reported.x.items() if a[0] in others})
            lemmas += reported.exchange({a: v for a, v in self.x.items() if a[0] in others})
        return [*fits, *more], lemmas

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

    def raised(self) -> list[Term]:
        """Another allocation raises x_1 and lowers no x_m <= x_1, against K Def 1."""
        better, tasks = self._another()
        kept = [z3.Or(self.tasks[m] > self.tasks[0], tasks[m] >= self.tasks[m]) for m in self.pattern.users[1:]]
        return [feasible(self.need, self.c, better, *FORMULAS), tasks[0] > self.tasks[0], *kept]


# ---- lmmf ------------------------------------------------------------------------------------------------------------


class TaskFormulas:
    """The unknowns of an answer: t_nvr, what user n's tasks of variant v take of resource r; the tag of a report is "'"."""

    def __init__(self, users: int, resources: int, tag: str = "") -> None:
        self.users, self.resources, self.tag = range(users), range(resources), tag
        self.held = [self.packing(f"t{tag}{n}") for n in self.users]
        self.tasks = [total(self.worth(packing)) for packing in self.held]

    def packing(self, name: str) -> list[list[Term]]:
        """What tasks of two variants take of each resource, as unknowns."""
        return [[real(f"{name}{v, r}") for r in self.resources] for v in range(2)]

    def worth(self, packing: Sequence[Sequence[Term]]) -> list[Term]:
        """Tasks of each variant, over simplex demands."""
        return [total(row) for row in packing]

    def simplex(self) -> list[Term]:
        """Nothing that is held is negative; tasks are what they take in all."""
        return [v >= 0 for packing in self.held for row in packing for v in row]

    def more_from(self, n: int, of: "TaskFormulas") -> tuple[Term, list[Term]]:
        """Tasks that user n could truly run with what user m of an answer holds: their number, and that they fit."""
        own = self.packing(f"u{self.tag}{n}")
        fits = [total(row[r] for row in own) <= total(row[r] for row in of.held[n]) for r in self.resources]
        return total(self.worth(own)), [*(v >= 0 for row in own for v in row), *fits]

    def exchange(self, tasks: Sequence[Term]) -> list[Term]:
        """The definition at a feasible allocation with these tasks."""
        return [not_raised(dict(enumerate(self.tasks)), tasks, *FORMULAS)]

    # ---- what would refute a claim

    def too_many(self) -> list[Term]:
        """More tasks than user 1 of this answer runs fit into what it holds (Z Lemma 4)."""
        tasks, fits = self.more_from(0, self)
        return [*fits, tasks > self.tasks[0]]

    def envy(self) -> tuple[list[Term], list[Term], list[Term]]:
        """User 1 could run more with what user 2 has; Z Lemma 4; the definition where it has that, too, and user 2 nothing."""
        tasks, fits = self.more_from(1, self)
        given = [self.tasks[0] + tasks, z3.RealVal(0), *self.tasks[2:]]
        return [*fits, tasks > self.tasks[0]], [tasks <= self.tasks[1]], self.exchange(given)

    def dominated(self) -> tuple[list[Term], list[Term], list[Term]]:
        """Another allocation gives user 1 more tasks and nobody less; no lemma; and the definition there."""
        better = [real(f"better{n}") for n in self.users]
        no_less = [new >= old for new, old in zip(better[1:], self.tasks[1:], strict=True)]
        return [better[0] > self.tasks[0], *no_less], [], self.exchange(better)

    def gain(self, report: "TaskFormulas", liars: int) -> tuple[list[Term], list[Term], list[Term]]:
        """The first users, who misreport, could all run more true tasks with what they are given; Z Lemma 4; and the definitions
        at the other answer, where the misreporting users have what they can use of it, or nothing.
        """
        formulas, runs, lemmas = [], [], []
        for n in range(liars):
            tasks, fits = self.more_from(n, report)
            formulas += [*fits, tasks > self.tasks[n]]
            lemmas.append(tasks <= report.tasks[n])
            runs.append(tasks)
        there = self.exchange([*runs, *report.tasks[liars:]])
        return formulas, lemmas, there + report.exchange([z3.RealVal(0)] * liars + self.tasks[liars:])
