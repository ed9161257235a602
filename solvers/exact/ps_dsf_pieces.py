r"""All PS-DSF allocations of a small instance, exactly: a finite union of polytopes (P Def 2, Theorem 1, (13)).

x is PS-DSF when every user n has at every server i some resource r that it demands with

    sum_m x_mi d_mr = c_ir      and      z_ni >= z_mi  for all m with x_mi d_mr > 0,      z_ni = x_n / (phi_n gamma_ni)

For a set S of arcs that may carry something, and one resource r(n, i) for every arc (n, i), the x that fulfil this with
"m in S" in the place of "x_mi > 0" are a polytope P(S, r) of PS-DSF allocations, for z is linear in x:

    x_a = 0 (a not in S),   rows r(n, i) full,   all loads <= 1,   z_mi <= z_ni  (m in S, d_mr(n,i) > 0)

1. At each server by itself, list S and r up to what they demand of x there: rows that must be full, arcs that are closed, and
   pairs (m, n) with z_mi <= z_ni. Leave out a choice whose full row nobody in S demands, and one that demands more than another.
2. For one choice at every server, compute the vertices of the polytope with 0 <= x_a <= gamma_a (models/exact/polytopes.py).
3. Leave out polytopes all of whose vertices are in another one.

Users have one variant and no limits. The number of choices grows as (2 R)^A at worst, so few arcs are allowed; larger instances
are for the mixed-integer program of formulations/ps_dsf.py. `psdsf-enumeration` is the best vertex by an objective.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from operator import ge
from typing import NamedTuple

import numpy as np

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf, linear_objective
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import LinearRow, Piece, best_vertex, capacity_rows, full_rows, outermost, polytope_vertices
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs, exact_monopolies
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.exact.ps_dsf import levels, unit
from fairalloc.solvers.method import Method, Session

LARGEST = 6
"""Arcs, by default: tenths of a second up to four resources, minutes for ten; each arc more takes about three times as long."""


class ServerChoice(NamedTuple):
    """What a choice of S and r demands at one server: full rows, closed arcs, and pairs (m, n) of arcs with z_m <= z_n."""

    full: frozenset[int]
    closed: frozenset[int]
    below: frozenset[tuple[int, int]]


def too_large(instance: Instance, largest: int = LARGEST) -> str:
    """One sentence on why all PS-DSF allocations of an instance are not listed, "" where they are: up to `largest` arcs."""
    if (arcs := instance.A) > largest:
        return f"the instance has {arcs} arcs, but all PS-DSF allocations are found for at most {largest}"
    if not instance.single_variant or any(limit is not None for limit in instance.exact.max_tasks):
        return "all PS-DSF allocations are found for users with one variant and no limit on their tasks"
    return ""


def ps_dsf_pieces(instance: Instance, largest: int = LARGEST) -> tuple[Piece, ...]:
    """All PS-DSF allocations of an instance of up to `largest` arcs as a union of polytopes; NotApplicable for other ones.

    Examples
    --------
    >>> [[str(v) for v in x] for x in ps_dsf_pieces(Instance([[1, 1], [1, 1]], [[1, 1]]))[0].vertices]
    [['1/2', '1/2']]
    """
    if reason := too_large(instance, largest):
        raise NotApplicable(reason)
    arcs = exact_arcs(instance)
    gamma, shares, capacities = exact_monopolies(instance), unit(instance, arcs), capacity_rows(arcs)
    found: dict[tuple[Rationals, ...], Piece] = {}
    server = instance.arcs.server.tolist()
    of_servers = ([a for a, there in enumerate(server) if there == i] for i in sorted(set(server)))
    for choice in product(*(_least(set(_at_server(arcs, here))) for here in of_servers)):  # 1
        piece = _piece(arcs, gamma, shares, capacities, choice)
        found.setdefault(piece.vertices, piece)
    found.pop((), None)
    return outermost(found.values())


def _least(found: set[ServerChoice]) -> list[ServerChoice]:
    """Those that do not demand more than another: all of its parts, or more."""
    return [one for one in found if not any(one != other and all(map(ge, one, other)) for other in found)]


def _at_server(arcs: ExactArcs, here: Sequence[int]) -> Iterator[ServerChoice]:
    """For each S, r for one arc after the other: what demands more than another goes on doing so."""
    rows = {a: frozenset(row for row, _ in arcs.load[a]) for a in here}
    for carry in product((False, True), repeat=len(here)):
        users = {row: [m for m, may in zip(here, carry, strict=True) if may and row in rows[m]] for a in here for row in rows[a]}
        closed = frozenset(a for a, may in zip(here, carry, strict=True) if not may)
        found = [ServerChoice(frozenset(), closed, frozenset())]
        for a in here:
            more = {row: frozenset((m, a) for m in users[row] if m != a) for row in rows[a] if users[row]}
            found = _least({ServerChoice(one.full | {row}, closed, one.below | more[row]) for one in found for row in more})
        yield from found


def _piece(
    arcs: ExactArcs, gamma: Rationals, shares: Rationals, capacities: Mapping[int, LinearRow], choice: Sequence[ServerChoice]
) -> Piece:
    """Step 2; without vertices where the polytope is empty."""
    closed = frozenset().union(*(one.closed for one in choice))
    full = frozenset().union(*(one.full for one in choice))
    zero, one = Fraction(0), Fraction(1)
    high = [zero if a in closed else most for a, most in enumerate(gamma)]
    equations = [capacities[row] for row in sorted(full)]
    others = [load for row, load in capacities.items() if row not in full]
    others += [_order(arcs, shares, m, n) for m, n in sorted(frozenset().union(*(part.below for part in choice)))]
    vertices = tuple(sorted(polytope_vertices([zero] * len(gamma), high, equations, others)))
    empty = [({a: one}, zero) for a in sorted(closed)]
    signs = [({a: -one}, zero) for a in range(len(gamma)) if a not in closed]
    return Piece(full_rows(capacities, vertices), (*equations, *empty), (*others, *signs), vertices)


def _order(arcs: ExactArcs, shares: Rationals, m: int, n: int) -> LinearRow:
    """The share z of arc m is at most that of arc n; it counts a user's tasks on all its arcs."""
    row: dict[int, Fraction] = {}
    for a, user in enumerate(arcs.user):
        value = Fraction(user == arcs.user[m]) / shares[m] - Fraction(user == arcs.user[n]) / shares[n]
        if value:
            row[a] = value
    return row, Fraction(0)


class PsDsfEnumeration(Method):
    """All answers, then the best one; `iterations` counts the vertices that were compared."""

    id = "psdsf-enumeration"
    kind = "exact"
    packages = ("flint",)
    canonical = False

    def computes(self, mechanism: Mechanism) -> bool:
        """PS-DSF with an objective: without one, every other method is faster."""
        return isinstance(mechanism, PsDsf) and mechanism.chooses

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        return too_large(mechanism.domain(instance))

    def compute(self, mechanism: Mechanism, session: Session) -> tuple[Floats, Floats]:
        assert isinstance(mechanism, PsDsf)
        assert mechanism.objective is not None
        instance, cost = session.instance, linear_objective(session.instance, mechanism.objective)
        with session.phase("solve"):
            vertices = [x for piece in ps_dsf_pieces(instance) for x in piece.vertices]
            _, x = best_vertex(cost, vertices)
        session.count(len(vertices))
        kappa = levels(instance, x)
        assert kappa is not None, "every vertex is PS-DSF"
        session.x_exact = x
        return np.array(x, float), np.array(kappa, float).reshape(1, instance.K, instance.R)


methods = (PsDsfEnumeration(),)
