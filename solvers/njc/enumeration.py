r"""`njc-enumeration`: the bottleneck sets one by one (D 5.2), the linear program (a) of njc.py for each.

Sets come by size, and within a size with the most requested resources first; at most N of them count, because one for each user
is enough to justify everybody: x is in P_I for the set I of these. Without an objective the first P_I with a point ends the
search, else the best point of all is kept.

**Pruning.** Let M be the resources that can be filled at all, sum_i r_ij >= 1 (D 5.1, the first assumption), and

    G_I = {x feasible:  sum_i x_i r_ij = 1 for j in I,  x_i >= l_i(M)}

Proof that nothing is lost: l(I) falls when I grows, so l(I) >= l(M) and P_I is in G_I; an equation more makes a smaller set, so
G_I' is in G_I for every I' that contains I. Hence where G_I is empty, or has no better value than the best x known, the same
is true of P_I' for every I' that contains I, and none of them is looked at. A set is looked at only if all its subsets with
one resource less were kept; the sets that are kept are closed under taking subsets, so no other set has to be. Bounds in floating
point prune only what is worse by more than PRUNING_TOLERANCE.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.rationals import Rationals
from fairalloc.solvers.method import Limits, Session, Stopped
from fairalloc.solvers.njc.market import ExactNjcMethod
from fairalloc.solvers.njc.pieces import PieceProgram, as_floats, value

__all__ = ["enumerate_pieces"]

PRUNING_TOLERANCE = 1e-7


def enumerate_pieces(
    mechanism: NoJustifiedComplaints, d: Requests, wish: Rationals, limits: Limits, session: Session | None = None
) -> Iterator[tuple[frozenset[int], Rationals]]:
    """For one set I after the other with a point in P_I: I and the best of them, as long as they may be better than those before.

    Without an objective these are all sets I, of at most N resources, for which P_I is not empty.
    """
    most = d.loads([Fraction(1)] * len(d.parts))
    order = sorted((j for j in range(d.R) if most[j] >= 1), key=lambda j: -most[j])
    least, objective = d.lowest(order), mechanism.objective
    best = -np.inf
    kept: set[frozenset[int]] = {frozenset()}
    for size in range(min(len(order), len(d.parts)) + 1):
        here: set[frozenset[int]] = set()
        for chosen in combinations(order, size):
            bottlenecks = frozenset(chosen)
            if size and not all(bottlenecks - {j} in kept for j in chosen):
                continue
            _ = limits.left
            if session is not None:
                session.count(1)
            piece = PieceProgram(d, bottlenecks, d.lowest(bottlenecks), objective, wish)
            if piece.bound() > best - PRUNING_TOLERANCE and (x := piece.best_point(limits)) is not None:
                yield bottlenecks, x
                best = max(best, float(value(mechanism, d, wish, x))) if objective else best
                here.add(bottlenecks)
            elif PieceProgram(d, bottlenecks, least, objective, wish).bound() > best - PRUNING_TOLERANCE:
                here.add(bottlenecks)
        kept = here


class Enumeration(ExactNjcMethod):
    """The bottleneck sets one by one; `iterations` counts those that were looked at."""

    id = "njc-enumeration"
    packages: ClassVar[tuple[str, ...]] = ("highspy", "flint")
    free = True

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:  # noqa: ARG002
        """Nothing is written before the first set."""
        return Session(instance, limits)

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:
        """The first, or with an objective the best; the best so far when time is over."""
        wish, best = mechanism.wish(d), None
        with session.phase("solve"):
            for bottlenecks, x in enumerate_pieces(mechanism, d, wish, session.limits, session):
                session.note(bottlenecks=sorted(bottlenecks), objective=float(value(mechanism, d, wish, x)))
                if best is None or value(mechanism, d, wish, x) > value(mechanism, d, wish, best):
                    best, session.x = x, as_floats(x)
                if mechanism.objective is None:
                    break
        if best is None:
            raise Stopped("error", "no set of bottlenecks has a point, which contradicts D Theorem 1")
        return best, None


methods = (Enumeration(),)
