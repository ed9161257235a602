r"""All NJC allocations of an instance, exactly: a finite union of polytopes (D 5.5, which leaves it open).

By njc.py the set is the union over sets I of resources of

    P_I:   sum_i u_i d_ij = c_j (j in I),   sum_i u_i d_ij <= c_j (all j),   l_i(I) <= u_i <= q_i                  in tasks u

No linear program is needed: the vertices of P_I are cut out of the box l(I) <= u <= q (models/exact/polytopes.py). The number of
sets I doubles with each resource, and the box has 2^N vertices, so both numbers are limited to LARGEST.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from fairalloc.formulations.njc import Requests, requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import LinearRow, Piece, outermost, polytope_vertices
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance

LARGEST = 10


def njc_pieces(home: Instance) -> tuple[Piece, ...]:
    """All NJC allocations of one pool of up to LARGEST users and resources; NotApplicable for larger ones."""
    if max(home.N, home.R) > LARGEST:
        raise NotApplicable(f"the instance has {home.N} users and {home.R} resources, but all solutions take at most {LARGEST}")
    d, found = requests(home), []
    rows: list[LinearRow] = [({i: a / d.unit[i] for i, a in row.items()}, side) for row, side in _load_rows(d)]  # in tasks
    most: list[LinearRow] = [({i: Fraction(1)}, q) for i, q in enumerate(d.unit)]
    for chosen, low, vertices in polytopes(d):
        least = [({i: Fraction(-1)}, -value * q) for i, (value, q) in enumerate(zip(low, d.unit, strict=True))]
        others = [row for j, row in enumerate(rows) if j not in chosen]
        full, tasks = tuple(rows[j] for j in chosen), tuple(sorted(map(d.tasks, vertices)))
        found.append(Piece(chosen, full, (*others, *least, *most), tasks))
    return outermost(found)


def polytopes(d: Requests) -> Iterator[tuple[tuple[int, ...], Rationals, list[Rationals]]]:
    """Every set I of resources with a point in P_I: I, l(I), and the vertices of P_I in fractions of requests."""
    loads, ones = _load_rows(d), [Fraction(1)] * len(d.parts)
    most = d.loads(ones)
    able = [j for j in range(d.R) if most[j] >= 1]
    for size in range(len(able) + 1):
        for chosen in combinations(able, size):
            low = d.lowest(chosen)
            if all(load <= 1 for load in d.loads(low)):
                others = [row for j, row in enumerate(loads) if j not in chosen]
                vertices = polytope_vertices(low, ones, [loads[j] for j in chosen], others)
                if vertices:
                    yield chosen, low, vertices


def _load_rows(d: Requests) -> list[LinearRow]:
    """sum_i x_i r_ij <= 1 for every resource."""
    return [({i: part[j] for i, part in enumerate(d.parts) if j in part}, Fraction(1)) for j in range(d.R)]
