r"""`njc-enumeration`: the bottleneck sets one after the other (D 5.2), with the linear program (a) of njc.py for each.

1. For size = 0, 1, ..., min(number of resources that can be filled, N), and for every set I of this size, the most requested
   resources first:
2. Skip I if a subset with one resource less was pruned.
3. Compute the best point of P_I. Without an objective the first point ends the search; otherwise the best of all is kept.
4. If P_I has no point, or none that is better than the best known, prune I and its supersets if the same holds for G_I (below).

One bottleneck for each user justifies everybody. With M the resources that can be filled at all, sum_i r_ij >= 1 (D 5.1, the
first assumption), pruning is by

    G_I = {x feasible:  sum_i x_i r_ij = 1 for j in I,  x_i >= l_i(M)}

by which nothing is lost (docs/reference/derivations.md).
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np

from fairalloc.formulations.njc import NoJustifiedComplaints, Requests
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Session, Stopped
from fairalloc.solvers.njc.eisenberg_gale import ExactNjcMethod
from fairalloc.solvers.njc.pieces import PieceProgram, value

PRUNING = 1e-7
"""A set is pruned where its bound is worse by more, in units of the objective; HiGHS' bounds are rounded."""


def enumerate_pieces(
    mechanism: NoJustifiedComplaints, d: Requests, wish: Rationals, limits: Limits, session: Session | None = None
) -> Iterator[tuple[frozenset[int], Rationals]]:
    """The sets I with a point in P_I, each with its best point x (N,), as long as it may be better than those before.

    Without an objective these are all sets I, of at most N resources, for which P_I is not empty. `wish` (N,) is the target in
    fractions of full requests, or nothing. The session counts the sets. Stopped where no time is left.
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
            if size and not all(bottlenecks - {j} in kept for j in chosen):  # 2
                continue
            _ = limits.left
            if session is not None:
                session.count(1)
            piece = PieceProgram(d, bottlenecks, d.lowest(bottlenecks), objective, wish)  # 3
            if piece.bound() > best - PRUNING and (x := piece.best_point(limits)) is not None:
                yield bottlenecks, x
                best = max(best, float(value(objective, d, wish, x))) if objective else best
                here.add(bottlenecks)
            elif PieceProgram(d, bottlenecks, least, objective, wish).bound() > best - PRUNING:  # 4
                here.add(bottlenecks)
        kept = here


class Enumeration(ExactNjcMethod):
    """The bottleneck sets one by one; `iterations` counts those that were looked at."""

    id = "njc-enumeration"
    packages = ("highspy", "flint")
    free = True

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:
        """The first, or with an objective the best; the best so far when time is over."""
        wish, best = mechanism.wish(d), None
        with session.phase("solve"):
            for bottlenecks, x in enumerate_pieces(mechanism, d, wish, session.limits, session):
                worth = value(mechanism.objective, d, wish, x)
                session.note(bottlenecks=sorted(bottlenecks), objective=float(worth))
                if best is None or worth > value(mechanism.objective, d, wish, best):
                    best, session.x = x, np.array(x, float)
                if mechanism.objective is None:
                    break
        if best is None:
            raise Stopped("error", "no set of bottlenecks has a point, which contradicts D Theorem 1")
        return best, None


methods = (Enumeration(),)
