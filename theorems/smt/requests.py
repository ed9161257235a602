r"""njc (D 3) for every instance of one pool, in fractions of full requests (formulations/njc.py).

User i is entitled to e_i > 0, sum_i e_i = 1, requests 0 < r_ij <= 1 of the resources that it demands, and has the fraction x_i:

    0 <= x_i <= 1,  sum_i x_i r_ij <= 1 for every j                                                             (D 1)
    x_i = 1,  or  x_i r_ij >= e_i for some j with sum_k x_k r_kj = 1                                            (D 2)

A user without a limit has max_j r_ij = 1, a special case. Statements about it are about every such x, not about a selected one.
"""

from collections.abc import Sequence

import z3

from fairalloc.theorems.definitions import justified, no_complaint, undominated
from fairalloc.theorems.smt.patterns import InstancePattern
from fairalloc.theorems.smt.reals import FORMULAS, Term, real, total


class RequestFormulas:
    """The unknowns of one instance of D, for one pattern; user 1 and resource 1 are those that a violation names."""

    def __init__(self, pattern: InstancePattern, resources: int) -> None:
        self.pattern, self.users, self.resources = pattern, pattern.users, range(resources)
        self.r = {(i, j): real(f"r{i, j}") for i in self.users for j in pattern.demanded[i]}
        self.e = [real(f"e{i}") for i in self.users]
        self.x = self.fractions("x")
        self.need = {(i, 0): {j: self.r[i, j] for j in pattern.demanded[i]} for i in self.users}
        self.room = {(0, j): 1 for j in self.resources}

    def fractions(self, name: str) -> list[Term]:
        return [real(f"{name}{i}") for i in self.users]

    def instance(self) -> dict[str, list[Term]]:
        return {
            "requests": [z3.And(v > 0, v <= 1) for v in self.r.values()],
            "entitlements": [*(v > 0 for v in self.e), total(self.e) == 1],
        }

    def numbers(self) -> dict[tuple[str, int, int], Term]:
        """Demands, limits and weights of an instance with capacities 1 in which these are the requests."""
        numbers = {("d", *key): v for key, v in self.r.items()} | {("phi", i, 0): e for i, e in enumerate(self.e)}
        return numbers | {("M", i, 0): z3.RealVal(1) for i in self.users}

    def request(self, i: int, j: int) -> Term:
        """r_ij; 0 where the user does not demand it."""
        return self.r.get((i, j), z3.RealVal(0))

    def load(self, j: int, x: Sequence[Term]) -> Term:
        return total(x[i] * self.r[i, j] for i in self.users if (i, j) in self.r)

    def feasible(self, x: Sequence[Term]) -> list[Term]:
        """(D 1)."""
        return [*(z3.And(v >= 0, v <= 1) for v in x), *(self.load(j, x) <= 1 for j in self.resources)]

    def fair(self, x: Sequence[Term], without: int | None = None) -> list[Term]:
        """(D 1) and (D 2), or of the system without a resource."""
        room = {key: c for key, c in self.room.items() if key[1] != without}
        return [no_complaint(self.need, room, self.e, _by_arc(x), *FORMULAS)]

    def common(self) -> list[Term]:
        """Resource 1 is dominant for everybody."""
        return [v <= self.request(i, 0) for (i, j), v in self.r.items() if j > 0]

    # ---- what would refute a claim

    def modest(self) -> list[Term]:
        """User 1 requests less than its entitlement of everything."""
        return [self.r[0, j] < self.e[0] for j in self.pattern.demanded[0]]

    def wrongly_cut(self) -> list[Term]:
        """One resource is full, and user 1, who requests at most its entitlement of it, does not get all (D 3)."""
        load = [self.load(j, self.x) for j in self.resources]
        room = [z3.And(*(v < 1 for k, v in enumerate(load) if k != j)) for j in self.resources]
        alone = [z3.And(load[j] == 1, room[j], self.request(0, j) <= self.e[0]) for j in self.resources]
        return [z3.Or(*alone), self.x[0] < 1]

    def dominated(self) -> list[Term]:
        """Another feasible allocation gives user 1 more and nobody less."""
        y = self.fractions("y")
        best = undominated(self.need, self.room, _by_arc(y), y, dict(enumerate(self.x)), *FORMULAS)
        return [z3.Not(best), *(v <= 1 for v in y), y[0] > self.x[0]]

    def no_sharing(self) -> list[Term]:
        """User 1 could run more with its entitlement of everything: the fraction s."""
        s = real("s")
        return [s > self.x[0], s <= 1, *(s * self.r[0, j] <= self.e[0] for j in self.pattern.demanded[0])]

    def envy(self) -> list[Term]:
        """With equal entitlements, user 1 could run more with what user 2 has."""
        s = real("s")
        fits = [s * self.r[0, j] <= self.x[1] * self.request(1, j) for j in self.pattern.demanded[0]]
        return [*(v == self.e[0] for v in self.e[1:]), s > self.x[0], s <= 1, *fits]

    # ---- smaller systems (D 5.1) and dummy resources (D 5): assumed of x, and what would refute the claim

    def removed(self) -> tuple[list[Term], list[Term]]:
        """User 1 is modest and has all; the others solve their system with e_k / (1 - e_1) and r_kj / (1 - r_1j); not all do."""
        others = self.users[1:]
        load = {j: total(self.x[k] * self.request(k, j) for k in others) for j in self.resources}
        room = {j: 1 - self.request(0, j) for j in self.resources}
        assumed = [*self.modest(), self.x[0] == 1, *(z3.And(self.x[k] >= 0, self.x[k] <= 1) for k in others)]
        assumed += [load[j] <= room[j] for j in self.resources]
        for k in others:
            own = self.pattern.demanded[k]
            enough = [z3.And(load[j] == room[j], self.x[k] * self.r[k, j] * (1 - self.e[0]) >= self.e[k] * room[j]) for j in own]
            assumed.append(z3.Or(self.x[k] == 1, *enough))
        return assumed, [z3.Not(*self.fair(self.x))]

    def dummies(self) -> tuple[list[Term], list[Term]]:
        """(D 2) with a dummy resource for each user, of which it alone requests all, in the place of x_i = 1."""
        full = [self.x[k] == 1 for k in self.users] + [self.load(j, self.x) == 1 for j in self.resources]
        alone = [[self.x[i] * int(k == i) for k in self.users] for i in self.users]
        held = [alone[i] + [self.x[i] * self.request(i, j) for j in self.resources] for i in self.users]
        dummy = [z3.Or(*(z3.And(f, v >= self.e[i]) for f, v in zip(full, held[i], strict=True))) for i in self.users]
        own = [justified(self.need, self.room, self.e, _by_arc(self.x), (i, 0), *FORMULAS) for i in self.users]
        return self.feasible(self.x), [z3.And(*dummy) != z3.And(*own)]


def _by_arc(x: Sequence[Term]) -> dict[tuple[int, int], Term]:
    return {(i, 0): v for i, v in enumerate(x)}
