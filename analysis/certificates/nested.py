r"""The certificate of a nested max-min fair allocation: a dual solution of each round (formulations/lexicographic/nested.py).

Levels are V_k / phi_k of nodes k, groups and users. In a round with the level g every node keeps a floor f_k: its level where it
is fixed, its guarantee otherwise. Floors of a rule are guarantees, too (models/transformations/guarantees.py). For any tasks that
fit, with y_k of the active nodes and f-values w_k of the others,

    sum_k (y_k + w_k) V_k / phi_k <= sum_ir p_ir + sum_n z_n T_n = sum_k y_k (b_k + g) + sum_k w_k f_k

if  sum over nodes k of user n of (y_k + w_k) sigma_n / phi_k <= q_n + z_n.  So where all keep floors and levels, no node with y_k
> 0 has more than b_k + g. b_k is 0, or the guarantee where what is beyond that is compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairalloc.analysis.certificates.certificate import Certificate, Refuted, dual_bound, feasible, require, short
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.models.exact.proofs import ExactNestedRound
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs
from fairalloc.models.exact.trees import ExactTree
from fairalloc.models.instance import Instance
from fairalloc.models.transformations.guarantees import floors_as_guarantees


@dataclass(frozen=True, repr=False)
class NestedCertificate(Certificate):
    """A dual solution of each round; `borrowed` is 1 where what is beyond guarantees is compared."""

    kind: ClassVar[str] = "nested"
    borrowed: int
    rounds: tuple[ExactNestedRound, ...]

    @property
    def claim(self) -> str:
        if not self.mechanism.startswith(NestedMaxMin.id):
            every = sum(len(part.nodes) for part in self.rounds) == len(self.rounds[0].rising)
            return f"{'lexicographic ' * every}max-min fair where all floors are kept"
        return f"nested max-min fair, rounds at {', '.join(short(part.level) for part in self.rounds)}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        tasks = feasible(domain, self.x)
        if isinstance(item, Leximin) and item.exact_share is not None:
            domain = floors_as_guarantees(domain, item.exact_share(domain))
        elif not isinstance(item, NestedMaxMin):
            raise Refuted(f"{self.mechanism!r} is not computed in rounds of nodes")
        arcs, tree = exact_arcs(domain), ExactTree.of(domain)
        levels = tree.levels(tasks)
        require(all(v >= f for v, f in zip(levels, tree.floors, strict=True)), "a guarantee is not kept")
        beyond = isinstance(item, NestedMaxMin) and item.compared == "borrowed" and any(tree.floors)
        require(self.borrowed == beyond, "what is beyond guarantees is compared only by compared=borrowed, where there are some")
        base = tree.floors if self.borrowed else (Fraction(0),) * len(levels)
        floors, depth = list(tree.floors), 1
        active = {k for k, d in enumerate(tree.depth) if d == depth}
        for part in self.rounds:
            _check_round(part, arcs, tree, floors, base, active)
            kept = tuple(k for k, y in enumerate(part.rising) if y)
            require(part.nodes == kept, "the nodes of a round are not those that its prices keep from more")
            for k in kept:
                require(levels[k] == base[k] + part.level, "a node is not at the level of its round")
                floors[k] = levels[k]
            if isinstance(item, MaxMin):
                require(min(levels[k] for k in active) == part.level, "the least level is not that of the round")
                require(len(self.rounds) == 1, "a max-min program has one round")
                return
            active -= set(part.nodes)
            depth += not active
            active = active or {k for k, d in enumerate(tree.depth) if d == depth}
        require(not active, "not every node is fixed")


def _check_round(
    part: ExactNestedRound, arcs: ExactArcs, tree: ExactTree, floors: Sequence[Fraction], base: Rationals, active: set[int]
) -> None:
    """The dual solution is feasible, and worth what the active nodes have at the level and all others at their floors."""
    costs, value = dual_bound(arcs, part.prices, part.limits)
    require(len(part.rising) == len(part.floors) == len(floors), "a round has the wrong number of dual values")
    require(min(*part.rising, *part.floors) >= 0, "a dual value is negative")
    require(all(k in active for k, y in enumerate(part.rising) if y), "a node that is not active has a dual value")
    require(sum(part.rising) == 1, "the active nodes of a round are not worth 1 together")
    require(all(f > 0 for f, w in zip(floors, part.floors, strict=True) if w), "a node without a floor has a price for it")
    worth = [y + w for y, w in zip(part.rising, part.floors, strict=True)]
    for own, cost in zip(tree.above, costs, strict=True):
        require(sum(worth[k] * share for k, share in own.items()) <= cost, "a task is worth more than it costs")
    kept = sum(y * (b + part.level) + w * f for y, b, w, f in zip(part.rising, base, part.floors, floors, strict=True))
    require(value == kept, "the prices of a round leave an excess")
