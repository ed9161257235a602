r"""All PS-DSF allocations of a small instance, exactly: a finite union of polytopes (P Def 2, Theorem 1, (13)).

x is PS-DSF when every user n has at every server i some resource r that it demands with

    sum_m x_mi d_mr = c_ir      and      z_ni >= z_mi  for all m with x_mi d_mr > 0,      z_ni = x_n / (phi_n gamma_ni)

For a set S of arcs that may carry something, and one resource r(n, i) for every arc (n, i), the x that fulfil this with
"m in S" in the place of "x_mi > 0" are a polytope P(S, r), for z is linear in x:

    x_a = 0 (a not in S),   rows r(n, i) full,   all loads <= 1,   z_mi <= z_ni  (m in S, d_mr(n,i) > 0)

Each P(S, r) has PS-DSF allocations only, since who has x_mi > 0 is in S; and an allocation is in P(S, r) for its support S.

1. At each server by itself, list S and r up to what they demand of x there: rows that must be full, arcs that are closed, and
   pairs (m, n) with z_mi <= z_ni. Leave out a choice whose full row nobody in S demands, and one that demands more than another.
2. For one choice at every server, compute the vertices of the polytope with 0 <= x_a <= gamma_a (solution_set.py).
3. Leave out polytopes all of whose vertices are in another one.

Users have one variant and no limits. The number of choices grows as (2 R)^A at worst, so there are at most LARGEST arcs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import NamedTuple

from fairalloc.analysis.solution_set import LinearRow, polytope_vertices
from fairalloc.models.errors import InstanceError, NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.models.rationals import ExactArcs, Rationals, exact_arcs, exact_monopolies
from fairalloc.solvers.exact.ps_dsf import unit

__all__ = ["EquilibriumSet", "ps_dsf_set"]

LARGEST = 6
"""Arcs."""


class ServerChoice(NamedTuple):
    """What a choice of S and r demands at one server: full rows, closed arcs, and pairs (m, n) of arcs with z_m <= z_n."""

    full: frozenset[int]
    closed: frozenset[int]
    below: frozenset[tuple[int, int]]

    def demands_more_than(self, other: "ServerChoice") -> bool:
        """Whether all that fulfils this one fulfils the other one."""
        return self.full >= other.full and self.closed >= other.closed and self.below >= other.below


@dataclass(frozen=True)
class EquilibriumSet:
    """All PS-DSF allocations of an instance.

    Attributes
    ----------
    instance : the one they are of
    polytopes : the vertices of each polytope, as tasks (A,) on the arcs of `instance.arcs`
    """

    instance: Instance
    polytopes: tuple[tuple[Rationals, ...], ...]

    @cached_property
    def vertices(self) -> tuple[Rationals, ...]:
        """(A,) all vertices, each once."""
        return tuple(sorted({v for polytope in self.polytopes for v in polytope}))

    @cached_property
    def totals(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """(N,) the least and the most tasks that each user has; both are attained, at vertices."""
        arcs = exact_arcs(self.instance)
        columns = zip(*map(arcs.tasks, self.vertices), strict=True)
        return tuple((min(column), max(column)) for column in columns)

    @property
    def is_single(self) -> bool:
        """Whether every user has the same tasks in all of them."""
        return all(least == most for least, most in self.totals)

    def best(self, objective: str) -> tuple[Fraction, Rationals]:
        """The largest value of an objective, "utilisation" (mean load of the capacities) or "tasks" (their sum), and where.

        Both are linear, so they are attained at a vertex.
        """
        if objective not in ("utilisation", "tasks"):
            raise InstanceError(f"objective is {objective!r}, but it must be utilisation or tasks, which are linear")
        arcs = exact_arcs(self.instance)
        there = sum(c > 0 for row in self.instance.exact.capacities for c in row)

        def value(x: Rationals) -> Fraction:
            return sum(x, Fraction(0)) if objective == "tasks" else sum(arcs.loads(x), Fraction(0)) / there

        at = max(self.vertices, key=value)
        return value(at), at


def ps_dsf_set(instance: Instance) -> EquilibriumSet:
    """All PS-DSF allocations of an instance of up to LARGEST arcs; NotApplicable for larger ones, variants and limits.

    Examples
    --------
    >>> found = ps_dsf_set(Instance([[1, 1], [1, 1]], [[1, 1], [1, 1]], name="twins"))
    >>> [(str(least), str(most)) for least, most in found.totals]
    [('1', '1'), ('1', '1')]
    """
    arcs = exact_arcs(instance)
    if len(arcs.user) > LARGEST:
        raise NotApplicable(f"the instance has {len(arcs.user)} arcs, but all PS-DSF allocations are found for at most {LARGEST}")
    if not instance.single_variant or any(limit is not None for limit in arcs.limits):
        raise NotApplicable("all PS-DSF allocations are found for users with one variant and no limit on their tasks")
    gamma, shares = exact_monopolies(instance), unit(instance, arcs)
    found = {vertices for choice in product(*_choices(instance, arcs)) if (vertices := _vertices(arcs, gamma, shares, choice))}
    kept = [one for one in found if not any(set(one) < set(other) for other in found)]
    return EquilibriumSet(instance, tuple(sorted(kept)))


def _choices(instance: Instance, arcs: ExactArcs) -> Iterator[list[ServerChoice]]:
    """Step 1: for each server with arcs."""
    server = instance.arcs.server.tolist()
    for i in sorted(set(server)):
        here = [a for a, there in enumerate(server) if there == i]
        found = set(_at_server(arcs, here))
        yield [one for one in found if not any(one != other and one.demands_more_than(other) for other in found)]


def _at_server(arcs: ExactArcs, here: Sequence[int]) -> Iterator[ServerChoice]:
    rows = {a: frozenset(row for row, _ in arcs.load[a]) for a in here}
    for carry in product((False, True), repeat=len(here)):
        used = [a for a, may in zip(here, carry, strict=True) if may]
        for chosen in product(*(sorted(rows[a]) for a in here)):
            if all(any(row in rows[m] for m in used) for row in chosen):
                pairs = ((m, a) for a, row in zip(here, chosen, strict=True) for m in used if row in rows[m] and m != a)
                yield ServerChoice(frozenset(chosen), frozenset(here) - frozenset(used), frozenset(pairs))


def _vertices(arcs: ExactArcs, gamma: Rationals, shares: Rationals, choice: Sequence[ServerChoice]) -> tuple[Rationals, ...]:
    """Step 2."""
    closed = frozenset().union(*(one.closed for one in choice))
    full = frozenset().union(*(one.full for one in choice))
    high = [Fraction(0) if a in closed else most for a, most in enumerate(gamma)]
    loads: list[dict[int, Fraction]] = [{} for _ in range(arcs.rows)]
    for a, load in enumerate(arcs.load):
        for row, part in load if a not in closed else ():
            loads[row][a] = part
    equations = [(loads[row], Fraction(1)) for row in sorted(full)]
    under = [(load, Fraction(1)) for row, load in enumerate(loads) if load and row not in full]
    order = [_order(arcs, shares, m, n) for m, n in sorted(frozenset().union(*(one.below for one in choice)))]
    return tuple(sorted(polytope_vertices([Fraction(0)] * len(gamma), high, equations, [*under, *order])))


def _order(arcs: ExactArcs, shares: Rationals, m: int, n: int) -> LinearRow:
    """The share z of arc m is at most that of arc n; it counts a user's tasks on all its arcs."""
    row: dict[int, Fraction] = {}
    for a, user in enumerate(arcs.user):
        value = Fraction(user == arcs.user[m]) / shares[m] - Fraction(user == arcs.user[n]) / shares[n]
        if value:
            row[a] = value
    return row, Fraction(0)
