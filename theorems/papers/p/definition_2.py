"""P Definition 2 against the condition of P Theorem 1, at several allocations of a case, in rationals and by two routes."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import certified, progressive_filling
from fairalloc.theorems.judges.game import shares

F = Fraction


def max_min(raised: Callable[[Holdings, int], bool], case: Case) -> Verdict:
    """Progressive filling gives the lexicographically largest shares; at it, at the case's point, and at means of the two."""
    instance = case.instance
    filled = progressive_filling(instance)
    largest = [filled[n] for n in instance.arcs.user]
    parts = (F(0), F(1, 2), F(1))
    points = [[t * a + (1 - t) * b for a, b in zip(largest, case.points[0], strict=True)] for t in parts]
    for x in points:
        h = _at(instance, x)
        defined = not any(raised(h, n) for n in range(instance.N))
        if (x == largest) != defined:
            sentence = f"at {', '.join(map(str, x))} Definition 1 is {defined}"
            return Verdict("equivalence", False, 1.0, sentence, "rational arithmetic")
    return Verdict("equivalence", True, 0.0, "Definition 1 holds at the largest shares alone", "rational arithmetic")


def definition(raised: Callable[[Holdings, int], bool], case: Case) -> Verdict:
    """P Definition 2 against the condition of Theorem 1, at several allocations."""
    instance = case.instance
    named = {name: certified(instance, name) for name in ("ps-dsf", "drfh")}
    points = list(named.items())
    points += [(f"point {k}", _at(instance, x)) for k, x in enumerate(case.points)]
    if named["ps-dsf"].instance.K > 1:
        points.append(("ps-dsf, halved", _at(instance, [v / 2 for v in named["ps-dsf"].x])))
    for name, h in points:
        if not all(h.tasks):
            continue
        fair = levels(instance, tuple(h.x)) is not None
        defined = not any(raised(h, n) for n in range(instance.N))
        if fair != defined:
            sentence = f"at {name} the condition is {fair} and Definition 2 {defined}"
            return Verdict("equivalence", False, 1.0, sentence, "rational arithmetic")
    return Verdict("equivalence", True, 0.0, f"both agree at {len(points)} allocations", "rational arithmetic")


def _at(instance: Instance, x: Sequence[Fraction]) -> Holdings:
    return Holdings(Allocation(instance, np.array([float(v) for v in x]), x_exact=tuple(x)), True)


def raised_by_releasing(h: Holdings, n: int) -> bool:
    """Whether at some server of n everything n demands is free once all with a larger share there are gone."""
    user, server, z = h.instance.arcs.user, h.instance.arcs.server, shares(h)
    arcs = exact_arcs(h.instance)
    for a in np.flatnonzero(user == n):
        kept = [v if server[b] != server[a] or z[b] <= z[a] else F(0) for b, v in enumerate(h.x)]
        loads = arcs.loads(kept)
        if all(loads[row] < 1 for row, _ in arcs.load[a]):
            return True
    return False
