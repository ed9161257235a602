r"""Certificates of dual solutions, whose values weak duality compares: lexicographic rules, linear programs and Nash bargaining.

docs/reference/derivations.md says why these numbers are proofs. **Rounds by prices** (formulations/lexicographic/rule.py): with
v_n = rate_n u_n user n cannot have more without less for one with v_m <= v_n when u_n = T_n, or y_n = q_n / rate_n > 0 and

    sum_ir p_ir = sum_m y_m min(v_m, v_n)                                                                            (*)

One round holds the prices for all users it fixes, who have the common level v_n = g.

**Rounds of nodes** (formulations/lexicographic/nested.py). Levels are V_k / phi_k of nodes k, groups and users. Each has a floor
f_k: its level where it is fixed, else its guarantee, or floor. With y_k of the active nodes and w_k of the others

    sum over nodes k of user n of (y_k + w_k) sigma_n / phi_k <= q_n + z_n
    sum_ir p_ir + sum_n z_n T_n = sum_k y_k (b_k + g) + sum_k w_k f_k

where b_k is 0, or the guarantee where what is beyond that is compared.

**A program** max c u, with c_n <= q_n + z_n, z_n >= 0, has c u = sum_ir p_ir + sum_n z_n T_n. With floors m_n the value is
w u = c u - f m, c_n = w_n + f_n, f_n >= 0; that of the max-min programs is c u with c_n = y_n rate_n, y >= 0, sum y = 1.

**Nash bargaining**, whose value is irrational: with W = sum w and s_n = q_n + z_n > 0, for every feasible u'

    sum_n w_n log u'_n  <=  sum_n w_n log u_n + gap,    gap = sum p + sum_n z_n T_n - 2 W + sum_n w_n^2 / (s_n u_n)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairalloc.analysis.certificates.certificate import Certificate, check_prices, dual_bound, feasible, require, rounded, short
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.exact.proofs import ExactNestedRound, ExactProgram, ExactRound
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_ball, exact_arcs, point_as_fraction, rounded_up
from fairalloc.models.exact.trees import ExactTree
from fairalloc.models.instance import Instance
from fairalloc.models.transformations.guarantees import floors_as_guarantees

STEP = Fraction(1, 10**15)
"""The value at x is rounded down to a multiple of this."""


@dataclass(frozen=True, repr=False)
class LeximinCertificate(Certificate, kind="leximin", names_parameters=True):
    """One layer of prices for each round, see (*)."""

    rounds: tuple[ExactRound, ...]

    @property
    def claim(self) -> str:
        return f"lexicographic max-min fair, rounds at {', '.join(short(part.level) for part in self.rounds)}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, Leximin) and not isinstance(item, MaxMin), f"{self.mechanism!r} is not computed in rounds")
        assert isinstance(item, Leximin)
        arcs, rate = exact_arcs(domain), item.exact_rate(domain)
        tasks = feasible(domain, self.x)
        v = [r * u for r, u in zip(rate, tasks, strict=True)]
        once = sorted(n for part in self.rounds for n in part.users) == list(range(domain.N))
        require(once, "not every user is fixed exactly once")
        active = set(range(domain.N))
        for part in self.rounds:
            _check_round(part, arcs, rate, v, active)
            for n in part.users:
                require(v[n] == part.level, f"user {domain.users[n]!r} is not at the level of its round")
                require(part.worth[n] > 0 or tasks[n] == arcs.limits[n], f"nothing keeps user {domain.users[n]!r} from more")
            active -= set(part.users)


def _check_round(part: ExactRound, arcs: ExactArcs, rate: Rationals, v: Sequence[Fraction], active: set[int]) -> None:
    """The prices of a round leave no excess at its level, and are scaled so that the active users are worth 1 together."""
    check_prices(arcs, part.prices)
    worth = tuple(q / r for q, r in zip(arcs.cheapest(part.prices), rate, strict=True))
    require(part.worth == worth, "a worth is not the cost of the cheapest task at the prices of its round")
    kept = sum(y * min(w, part.level) for y, w in zip(worth, v, strict=True))
    require(sum(part.prices) == kept, "the prices of a round leave an excess")
    require(not any(part.prices) or sum(worth[n] for n in active) == 1, "the active users of a round are not worth 1 together")


@dataclass(frozen=True, repr=False)
class NestedCertificate(Certificate, kind="nested", names_parameters=True):
    """A dual solution of each round; `borrowed` is 1 where what is beyond guarantees is compared."""

    borrowed: int
    rounds: tuple[ExactNestedRound, ...]

    @property
    def claim(self) -> str:
        if not self.mechanism.startswith(NestedMaxMin.id):
            every = {len(part.rising) for part in self.rounds} == {sum(len(part.nodes) for part in self.rounds)}
            return f"{'lexicographic ' * every}max-min fair where all floors are kept"
        return f"nested max-min fair, rounds at {', '.join(short(part.level) for part in self.rounds)}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        tasks = feasible(domain, self.x)
        if isinstance(item, Leximin) and item.exact_share is not None:
            domain = floors_as_guarantees(domain, item.exact_shares(domain))
        else:
            require(isinstance(item, NestedMaxMin), f"{self.mechanism!r} is not computed in rounds of nodes")
        arcs, tree = exact_arcs(domain), ExactTree.of(domain)
        levels = tree.levels(tasks)
        require(all(v >= f for v, f in zip(levels, tree.floors, strict=True)), "a guarantee is not kept")
        beyond = isinstance(item, NestedMaxMin) and item.compared == "borrowed" and any(tree.floors)
        require(self.borrowed == beyond, "what is beyond guarantees is compared only by compared=borrowed, where there are some")
        base = tree.floors if self.borrowed else (Fraction(0),) * len(levels)
        floors, depth = list(tree.floors), 1
        active = {k for k, d in enumerate(tree.depth) if d == depth}
        for part in self.rounds:
            _check_node_round(part, arcs, tree, floors, base, active)
            kept = tuple(k for k, y in enumerate(part.rising) if y)
            require(part.nodes == kept, "the nodes of a round are not those that its prices keep from more")
            for k in kept:
                require(levels[k] == base[k] + part.level, "a node is not at the level of its round")
                floors[k] = levels[k]
            require(min(levels[k] - base[k] for k in active) == part.level, "the least level is not that of the round")
            if isinstance(item, MaxMin):
                require(len(self.rounds) == 1, "a max-min program has one round")
                return
            active -= set(part.nodes)
            depth += not active
            active = active or {k for k, d in enumerate(tree.depth) if d == depth}
        require(not active, "not every node is fixed")


def _check_node_round(
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


@dataclass(frozen=True, repr=False)
class ProgramCertificate(Certificate, kind="program", names_parameters=True):
    """Equal values of a linear program, at tasks u_n (N,), which x must add up to, and of its dual."""

    tasks: Rationals
    proof: ExactProgram

    @property
    def claim(self) -> str:
        return f"optimal, the value is {short(self.proof.value)}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        arcs, proof = exact_arcs(domain), self.proof
        require(self.tasks == feasible(domain, self.x), "the tasks of a user are not the sum of x over its arcs")
        require(len(proof.worth) == domain.N, "the worth is not one number for each user")
        value, floors = self._value(item, domain)
        require(proof.value == value, "the value is not that of x")
        costs, bound = dual_bound(arcs, proof.prices, proof.limits)
        require(all(c <= s for c, s in zip(proof.worth, costs, strict=True)), "a task is worth more than it costs")
        require(bound - floors == proof.value, "the dual value is not the value")

    def _value(self, item: Mechanism, domain: Instance) -> tuple[Fraction, Fraction]:
        """The objective at x, and f m; Refuted where the worth is not what the objective says."""
        worth = self.proof.worth
        if isinstance(item, MaxMin):
            rate = item.exact_rate(domain)
            require(all(c >= 0 for c in worth), "a worth is negative")
            require(sum(c / r for c, r in zip(worth, rate, strict=True)) == 1, "the users of the bound are not worth 1 together")
            return min(r * u for r, u in zip(rate, self.tasks, strict=True)), Fraction(0)
        require(isinstance(item, Utilitarian), f"{self.mechanism!r} is not a linear program on the given data")
        weights, floors = domain.exact.weights, domain.exact.min_tasks
        forced = [c - w for c, w in zip(worth, weights, strict=True)]
        right = all(f >= 0 if m else f == 0 for f, m in zip(forced, floors, strict=True))
        require(right, "a worth is not the weight of its user, with a price of its floor where it has one")
        objective = sum((w * u for w, u in zip(weights, self.tasks, strict=True)), Fraction(0))
        return objective, sum((f * m for f, m in zip(forced, floors, strict=True)), Fraction(0))


@dataclass(frozen=True, repr=False)
class BoundsCertificate(Certificate, kind="bounds"):
    """lower <= sum_n w_n log u_n at x <= optimum <= upper, for nb, with p and z of the gap.

    The bounds are apart by the gap, which is proved without logarithms, and by 2 STEP for rounding the logarithms.
    """

    prices: Rationals
    limits: Rationals
    gap: Fraction
    lower: Fraction
    upper: Fraction

    @property
    def claim(self) -> str:
        low, high, width = (rounded(value) for value in (self.lower, self.upper, self.upper - self.lower))
        return f"the optimal value is between {low:.15g} and {high:.15g}, gap {width:.2g}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, NashBargaining), f"{self.mechanism!r} has no such bounds")
        arcs, weights = exact_arcs(domain), domain.exact.weights
        tasks = feasible(domain, self.x)
        require(all(u > 0 for u in tasks), "a user has no task")
        require(self.gap == nb_gap(arcs, weights, tasks, self.prices, self.limits), "the gap is not that of x and the prices")
        least, most = log_value(weights, tasks)
        require(self.lower <= least and most <= self.lower + 2 * STEP, "the lower bound is not the value at x, rounded down")
        require(self.upper == self.lower + 2 * STEP + self.gap, "the upper bound is not the lower bound and the gap")


def nb_gap(arcs: ExactArcs, weights: Rationals, tasks: Rationals, prices: Rationals, limits: Rationals) -> Fraction:
    """The gap of feasible tasks u (N,) > 0 at prices p (K R,) and z (N,), >= 0 and in units of w (N,).

    Each w^2 / (s u) is rounded up to 64 bits: an exact sum has eighty digits for each user. Refuted where the prices prove no
    bound, because the tasks of a user cost nothing.
    """
    costs, bound = dual_bound(arcs, prices, limits)
    require(all(s > 0 for s in costs), "the tasks of a user cost nothing")
    return bound - 2 * sum(weights) + sum(rounded_up(w * w / (s * u)) for w, s, u in zip(weights, costs, tasks, strict=True))


def log_value(weights: Rationals, tasks: Rationals) -> tuple[Fraction, Fraction]:
    """Rationals around sum_n w_n log u_n, much closer together than STEP."""
    from flint import ctx

    digits = int(sum(weights)).bit_length()  # the sum is to be known to a fixed number of places
    with ctx.workprec(256 + digits):
        total = sum((as_ball(w) * as_ball(u).log() for w, u in zip(weights, tasks, strict=True)), as_ball(0))
        return point_as_fraction(total.lower()), point_as_fraction(total.upper())
