"""P Definitions 1 and 2, and sentences between its theorems: units, what an update needs and reaches, the least share."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.residual import bottleneck_gap
from fairalloc.formulations.ps_dsf import mechanism as ps_dsf
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import levels, unit
from fairalloc.solvers.game.session import servers_of
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import certified, holdings_of, monopoly, optimum, others_changed, progressive_filling
from fairalloc.theorems.checkers.game import shares
from fairalloc.theorems.checkers.trials import RATIONAL, Answer, exact_verdict, rational_allocation, yes_or_no
from fairalloc.theorems.papers.p.algorithm_1 import ServerInRationals, procedure

F = Fraction


def increase(case: Case) -> Verdict:
    """At S* + z*, with n_r without tasks at the server, what everybody there needs fills a resource; in rationals."""
    x, worst = dict(enumerate(case.points[0])), F(-1)
    for place in ServerInRationals.all_of(case.instance):
        made = place.update(x)
        if made is None:
            continue
        aim = made.least + place.rise(x, made)
        kept = {a: F(0) if a in made.released else x[a] for a in place.here}
        need = {a: place.unit[a] * (aim - made.z[a]) + x[a] for a in place.here}  # for a share of aim, with tasks elsewhere
        after = place.taken({a: max(kept[a], need[a]) for a in place.here}, place.here)
        worst = max(worst, 1 - max(after[r] for a in made.lowest for r in place.part[a]))
    return exact_verdict("bound", worst, f"S* can rise above S* + z*: {worst} of each resource is left")


def local(case: Case) -> Verdict:
    """A server procedure gives the same where other servers and the tasks there are changed, with all x_n as before."""
    differences = [F(0)]
    for place in ServerInRationals.all_of(case.instance):
        ends = []
        for instance, x in ((case.instance, case.points[0]), others_changed(case.instance, case.points[0], place.i)):
            own = next(one for one in ServerInRationals.all_of(instance) if one.i == place.i)
            tasks = dict(enumerate(x))
            minima = list(procedure(own, tasks))
            ends.append([*minima, *(tasks[a] for a in own.here)])
        differences += [abs(a - b) for a, b in zip_longest(*ends, fillvalue=F(-1))]
    worst = max(differences)
    return exact_verdict("locality", worst, f"an update differs by {worst} with other servers changed")


def least_share(servers: tuple[int, ...], case: Case) -> Verdict:
    """The least virtual dominant share of all who may use these servers is the largest of any allocation; in rationals."""
    h, arcs = certified(case.instance, "ps-dsf"), exact_arcs(case.instance)
    units, own = unit(case.instance, arcs), [a for a, i in enumerate(case.instance.arcs.server) if i in servers]
    least = min(h.tasks[arcs.user[a]] / units[a] for a in own)
    rows = [[*row, F(0)] for row in arcs.matrix()]
    rows += [[*(F(-int(n == arcs.user[a])) for n in arcs.user), units[a]] for a in own]
    sides, cost = [F(1)] * arcs.rows + [F(0)] * len(own), [F(0)] * len(units) + [F(1)]
    best = optimum(cost, rows, sides)
    margin = best - least
    return exact_verdict("max-min", margin, f"the least share is {least}, and {best} is possible")


def same_units(case: Case, answer: Answer) -> Verdict:
    """With each user's demands three times as large and a third of its tasks the allocation is PS-DSF again, with its shares."""
    h, instance = holdings_of(answer(case.instance)), case.instance
    worst = -1.0
    for n in range(instance.N):
        demands = [[[3 * d if m == n else d for d in row] for row in rows] for m, rows in enumerate(instance.exact.demands)]
        scaled = instance.replace(demands=demands)
        x = [v / 3 if m == n else v for m, v in zip(instance.arcs.user, h.x, strict=True)]
        if h.exact:
            shares = all(3 * monopoly(scaled, n, i) == monopoly(instance, n, i) for i in range(instance.K))
            worst = max(worst, -1.0 if shares and levels(scaled, tuple(x)) is not None else 1.0)
        else:
            game = ps_dsf.game(scaled)
            gaps = [bottleneck_gap(game, np.array(x), server.index) for server in servers_of(game)]
            worst = max(worst, max(gaps) - 1e-6)
    return Verdict(
        "units", not worst > 0, worst, "in other units the allocation is not PS-DSF", RATIONAL if h.exact else "floats"
    )


def max_min(case: Case) -> Verdict:
    """Progressive filling gives the lexicographically largest shares; at it, at the case's point, and at means of the two."""
    instance = case.instance
    filled = progressive_filling(instance)
    largest = [filled[n] for n in instance.arcs.user]
    parts = (F(0), F(1, 2), F(1))
    for x in ([t * a + (1 - t) * b for a, b in zip(largest, case.points[0], strict=True)] for t in parts):
        if (x == largest) == (rising := can_rise(_at(instance, x))):
            return yes_or_no("equivalence", False, f"at {', '.join(map(str, x))} Definition 1 is {not rising}")
    return Verdict("equivalence", True, 0.0, "Definition 1 holds at the largest shares alone", RATIONAL)


def definition(case: Case) -> Verdict:
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
        if fair == (rising := can_rise(h)):
            return yes_or_no("equivalence", False, f"at {name} the condition is {fair} and Definition 2 {not rising}")
    return Verdict("equivalence", True, 0.0, f"both agree at {len(points)} allocations", RATIONAL)


def _at(instance: Instance, x: Sequence[Fraction]) -> Holdings:
    return Holdings(rational_allocation(instance, tuple(x)), True)


def can_rise(h: Holdings) -> bool:
    """Whether for somebody at some server everything it demands is free once all with a larger share there are gone."""
    server, z, arcs = h.instance.arcs.server, shares(h), exact_arcs(h.instance)
    for a in range(len(server)):
        kept = [v if server[b] != server[a] or z[b] <= z[a] else F(0) for b, v in enumerate(h.x)]
        loads = arcs.loads(kept)
        if all(loads[row] < 1 for row, _ in arcs.load[a]):
            return True
    return False
