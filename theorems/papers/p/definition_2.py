"""P Definition 2 against the condition of P Theorem 1, at several allocations of a case, in rationals and by two routes."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import certified, progressive_filling
from fairalloc.theorems.judges.game import shares
from fairalloc.theorems.judges.trials import Routes

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


def _by_program(h: Holdings, n: int) -> bool:
    """Whether x_n can rise while no x_mi falls with z_mi <= z_ni."""
    instance, user, server = h.instance, h.instance.arcs.user, h.instance.arcs.server
    z = shares(h)
    own = {int(server[a]): z[a] for a in np.flatnonzero(user == n)}
    floors = [h.x[a] if user[a] != n and int(server[a]) in own and z[a] <= own[int(server[a])] else F(0) for a in range(len(h.x))]
    floors = [v if user[a] == n or int(server[a]) in own else h.x[a] for a, v in enumerate(floors)]
    arcs = exact_arcs(instance)
    matrix = np.full((arcs.rows, len(floors)), F(0), dtype=object)
    for a, load in enumerate(arcs.load):
        for row, part in load:
            matrix[row, a] = part
    sides = np.array([F(1)] * arcs.rows, dtype=object) - matrix @ np.array(floors, dtype=object)
    cost = np.array([F(int(m == n)) for m in user], dtype=object)
    best = maximum(cost, matrix, sides, True)
    if best is None:
        raise NotApplicable("a linear program was not solved")
    return bool(best.value > h.tasks[n])


def _by_releasing(h: Holdings, n: int) -> bool:
    """Whether at some server of n everything n demands is free once all with a larger share there are gone."""
    user, server, z = h.instance.arcs.user, h.instance.arcs.server, shares(h)
    arcs = exact_arcs(h.instance)
    for a in np.flatnonzero(user == n):
        kept = [v if server[b] != server[a] or z[b] <= z[a] else F(0) for b, v in enumerate(h.x)]
        loads = arcs.loads(kept)
        if all(loads[row] < 1 for row, _ in arcs.load[a]):
            return True
    return False


def both_ways(check: Callable[[Callable[[Holdings, int], bool], Case], Verdict]) -> Routes:
    """A check in rationals, with definitions by a linear program for each user, and by taking from everybody with more."""
    return Routes(partial(check, _by_program), partial(check, _by_releasing))
