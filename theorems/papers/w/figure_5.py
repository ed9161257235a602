"""W 6.1, Fig. 5: what DRFH (6) gives its three users, whichever 100 servers of Table 1 were drawn.

W prints the totals of the drawn servers, 52.75 CPUs and 51.32 of memory, and not how many there are of each class. The numbers q
of servers by class lie in the polytope {q >= 0 : 100 in all, with these totals}.

1. The share g(q) of (6) is concave in q: what fits on q and on q' fits on their mean, with the mean of the shares. So its least
   value over the polytope is at a vertex, where at most three classes have servers.
2. At a vertex, g(q) is the exact answer of drfh on one pool for each class: equal servers are one pool (solvers/symmetry.py). A
   user who is alone has all that it can run.

With tasks as wholes, as W 6.1 runs them, less fits: a server (1/2, 1/2) takes one task (1/5, 3/10) of user 1, and 5/3 in (6).
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.exact.rationals import global_dominant_share
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import certified

F = Fraction
SERVERS, CPUS, MEMORY = F(100), F("52.75"), F("51.32")
PRINTED = {1: F("0.62"), 3: F("0.26")}
"""Shares of Fig. 5 by the number of users, who come in the order of the case. Two users have 0.44, which some draws can give."""
ROUNDED = F("0.005")


def shares_of_figure_5(case: Case) -> Verdict:
    """Whether the least share that DRFH can give is at most what is printed; users and classes are those of the case."""
    over, said = [], []
    for users, printed in PRINTED.items():
        least = min(_share(case.instance, users, classes, counts) for classes, counts in _vertices(case.instance))
        over.append(least - printed - ROUNDED)
        said.append(f"{users} user{'s' * (users > 1)} at least {float(least):.4f} each, where {float(printed)} is printed")
    sentence = "whatever servers are drawn, DRFH gives " + ", ".join(said)
    return Verdict("printed numbers", max(over) <= 0, float(max(over)), sentence, "rational arithmetic at the vertices")


def _vertices(instance: Instance) -> Iterator[tuple[Sequence[int], Sequence[Fraction]]]:
    """Three classes, and how many servers each has."""
    for classes in combinations(range(instance.K), 3):
        (a, b), (c, d), (e, f) = (instance.exact.capacities[k] for k in classes)
        # Cramer's rule, of the rows for servers, CPUs and memory
        whole = _determinant((1, 1, 1), (a, c, e), (b, d, f))
        if whole:
            right = (SERVERS, CPUS, MEMORY)
            columns = ((1, a, b), (1, c, d), (1, e, f))
            counts = [_determinant(*(right if k == j else columns[k] for k in range(3))) / whole for j in range(3)]
            if min(counts) >= 0:
                yield classes, counts


def _determinant(x: Sequence[Fraction | int], y: Sequence[Fraction | int], z: Sequence[Fraction | int]) -> Fraction:
    parts = (x[k] * (y[(k + 1) % 3] * z[(k + 2) % 3] - y[(k + 2) % 3] * z[(k + 1) % 3]) for k in range(3))
    return F(sum(parts))


def _share(instance: Instance, users: int, classes: Sequence[int], counts: Sequence[Fraction]) -> Fraction:
    """G of (6) for the first users, on these numbers of servers."""
    pools = [[q * c for c in instance.exact.capacities[k]] for k, q in zip(classes, counts, strict=True) if q]
    demands = [rows[0] for rows in instance.exact.demands[:users]]
    drawn = Instance(demands, pools)
    alone = [sum((min(c / d for c, d in zip(pool, demands[0], strict=True)) for pool in pools), F(0))]
    tasks = certified(drawn, "drfh").tasks if users > 1 else alone
    return F(min(share * x for share, x in zip(global_dominant_share(drawn), tasks, strict=True)))
