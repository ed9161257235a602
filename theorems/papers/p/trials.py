"""How the claims of P (PS-DSF) in statements.toml are tried and confirmed, by their ids; first Definitions 1 and 2, and sentences
between its theorems: units, what an update needs and reaches, the least share.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction as F
from functools import partial
from itertools import zip_longest

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.strategyproofness import without
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.residual import bottleneck_gap
from fairalloc.formulations.ps_dsf import mechanism as ps_dsf
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import levels, unit
from fairalloc.solvers.game.psdsf_distributed import section_v
from fairalloc.solvers.game.session import servers_of
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.checked import asserted, checked, seen_by_script
from fairalloc.theorems.checkers.game import about_ps_dsf, converges, shares
from fairalloc.theorems.checkers.trials import (
    RATIONAL,
    Answer,
    Routes,
    Row,
    certified,
    exact_verdict,
    holdings_of,
    monopoly,
    once,
    only_where,
    optimum,
    others_changed,
    printed_numbers,
    printed_tasks,
    progressive_filling,
    property_judge,
    rational_allocation,
    verdict_of,
    yes_or_no,
)
from fairalloc.theorems.papers.p import algorithm_1
from fairalloc.theorems.papers.p.algorithm_1 import ServerInRationals, procedure
from fairalloc.theorems.standalone.certificates import by_place
from fairalloc.theorems.statement import FLOATING_POINT


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
    words = "in other units the allocation is not PS-DSF"
    return Verdict("units", not worst > 0, worst, words, RATIONAL if h.exact else "floats")


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


def _at(instance: Instance, x: Sequence[F]) -> Holdings:
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


# ---- printed numbers, and the claims ---------------------------------------------------------------------------------


def _fig1_tsf(case: Case) -> None:
    """gamma_1 = 6 and gamma_2 = 12, and TSF gives 4 and 8."""
    assert [sum(monopoly(case.instance, n, i) for i in range(2)) for n in range(2)] == [6, 12]
    assert list(certified(case.instance, "tsf").tasks) == [4, 8]


def _fig4(case: Case) -> None:
    """1.5 and 1, with x_11 = 1.2, x_23 = 0.8 and half of channel 2 each."""
    (first, second) = by_place(case.instance, certified(case.instance, "ps-dsf").x)
    assert (sum(first), sum(second)) == (F("1.5"), 1)
    assert (first[0], first[1] / F("0.6"), second[2]) == (F("1.2"), F(1, 2), F("0.8"))


def _one_ratio(case: Case, answer: Answer) -> Verdict:
    """Where user n is served, gamma_n / gamma_m is at least what it is where user m is, of two users who may use both servers."""
    h = holdings_of(answer(case.reported))
    only_where(h.instance.N == 2, "about two users")
    arcs = h.instance.arcs
    of = [{int(arcs.server[a]): a for a in np.flatnonzero(arcs.user == n)} for n in (0, 1)]
    ratio = {i: h.gamma[of[0][i]] / h.gamma[of[1][i]] for i in of[0] if i in of[1]}
    part = [{i: h.x[own[i]] / h.gamma[own[i]] for i in ratio} for own in of]
    gaps = [min(part[0][j], part[1][k], 1 - ratio[j] / ratio[k]) for j in ratio for k in ratio]
    only_where(gaps, "no server is open to both users")
    words = f"a server goes to the user who runs relatively less there, by {float(max(gaps)):.3g}"
    return verdict_of(h, "exchange", max(gaps), words)


def _sharing_of_two(case: Case, answer: Answer) -> Verdict:
    only_where(case.instance.N == 2, "about two users")
    return property_judge("sharing-incentive")(case, answer)


TABLE3 = (("80", "340", "82.5", "55"), ("40", "170", "41.25", "41.25"), ("0", "0", "82.5", "27.5"), ("0", "0", "27.5", "27.5"))
TABLE4 = {
    "ps-dsf": (("40", "170", "0", "0"), ("20", "85", "0", "0"), ("0", "0", "82.5", "0"), ("0", "0", "0", "27.5")),
    "tsf": (("35", "170", "0", "0"), ("22.5", "85", "0", "0"), ("0", "0", "58.33", "0"), ("0", "0", "8.05", "27.5")),
}


def _table3(n: int, case: Case) -> Sequence[Row]:
    allowed = case.instance.placement[n]
    return [(f"class {'ABCD'[i]}", TABLE3[n][i], monopoly(case.instance, n, i) if allowed[i] else F(0)) for i in range(4)]


def _table4(mechanism: str, n: int, case: Case) -> Sequence[Row]:
    """Tasks on A and B are unique as a sum only, for the classes are alike; on C and D each."""
    printed = TABLE4[mechanism][n]
    x = by_place(case.instance, certified(case.instance, mechanism).x)[n]
    first = printed[0] if "." in printed[0] else f"{printed[0]}."  # as rounded as it is printed
    on_a = (f"class A, with {printed[1]} on class B", first, x[0] + x[1] - F(printed[1]))
    return [on_a, ("class C", printed[2], x[2]), ("class D", printed[3], x[3])]


def _used(instance: Instance, resource: int, classes: Sequence[int]) -> Mapping[str, F]:
    """The part of a resource that is used in some classes together, under each of the mechanisms."""
    answers = {name: certified(instance, name) for name in ("ps-dsf", "tsf", "drfh")}
    return {name: sum(h.used[[*classes], resource]) / sum(h.pools[[*classes], resource]) for name, h in answers.items()}


def _full(resource: int, classes: Sequence[int], case: Case) -> Verdict:
    """A resource is fully used in some classes together under each of the mechanisms."""
    name, load = min(_used(case.instance, resource, classes).items(), key=lambda pair: pair[1])
    sentence = f"under {name} the classes {', '.join('ABCD'[i] for i in classes)} together use {load} of it"
    return exact_verdict("utilisation", 1 - load, sentence)


def _more_used(case: Case) -> Verdict:
    """CPU of classes C and D together, while all are active and while user 4 is away."""
    used = [_used(instance, 0, (2, 3)) for instance in (case.instance, without(case.instance, 3))]
    worst = min(float(use["ps-dsf"] - max(use["tsf"], use["drfh"])) for use in used)
    said = [", ".join(f"{name} {float(v):.4g}" for name, v in use.items()) for use in used]
    return Verdict("utilisation", worst > 0, -worst, f"all active: {said[0]}; user 4 away: {said[1]}", RATIONAL)


def _prompt(_: Case) -> Verdict:
    """After every change of Fig. 6 the distributed algorithm is at PS-DSF within 10 s."""
    path = section_v()
    times = path.times
    worst = 0.0
    for start, end in ((0, 100), (100, 250), (250, 300)):
        chosen = [k for k, t in enumerate(times) if start + 10 <= t < end]
        tasks = np.array([path.x[k] for k in chosen])
        worst = max(worst, float((np.abs(tasks - tasks[-1]) / (1 + np.abs(tasks[-1]))).max()))
    sentence = f"ten seconds after a change tasks move by {worst:.1e}"
    return exact_verdict("convergence", worst - 1e-6, sentence, f"{FLOATING_POINT}: a run")


cases: dict[str, Case] = {
    # User 1, who is n_0, and user 3 may use server 2 alone, user 2 both
    "exchange": Case(Instance([[1], [1], [1]], [[1], [1]], eligible=[[0, 1], [1, 1], [0, 1]])),
    # One server, where nobody can exchange; user 3 keeps a third of it
    "kept": Case(Instance([[2, 1], [1, 2], [1, 1]], [[1, 1]])),
    # dRF gives one half each, and half of the second resource is left; all to user 1 leaves nothing
    "halves": Case(Instance([[1, 1], [1, 0]], [[1, 1]]), points=((F(1, 2), F(1, 2)),)),
}

trials: dict[str, Routes] = {
    "P.II-B.fair": printed_tasks("ps-dsf", "6", "6"),
    "P.II-B.C-DRFH": printed_tasks("drfh", "60/11", "72/11"),
    "P.II-B.TSF": once(asserted(_fig1_tsf)),
    "P.III-A.tasks": printed_tasks("ps-dsf", "3.6", "3.6", "8", "8"),
    "P.III-A.shares": once(checked("P.III-A.shares", lambda found: 1 - found["share"])),
    "P.II-A.max-min": once(max_min),
    "P.II-A.utilization": once(checked("P.II-A.utilization", lambda found: found["more"] - found["used"])),
    "P.III-A.indices": once(checked("P.III-A.indices", lambda found: found["share"] - F(8, 12))),
    "P.A1.increase": once(increase),
    "P.III-D.local": once(local),
    "P.IV.condition": once(checked("P.IV.condition", lambda _: F(1, 2))),
    "P.V.least-share": once(partial(least_share, (2, 3))),
    "P.T2.units": about_ps_dsf(same_units),
    "P.T1": once(definition),
    "P.E36": about_ps_dsf(_one_ratio),
    "P.E39": about_ps_dsf(_sharing_of_two),
    "P.E41": once(checked("P.E41", lambda found: found["part"] - found["promised"])),
    "P.T2.envy.letter": about_ps_dsf(property_judge("total-envy-freeness")),
    "P.C1": once(algorithm_1.bottleneck),
    "P.A1.feasible": once(checked("P.A1.feasible", lambda found: found["load"] - 1)),
    "P.A1.rising": once(algorithm_1.rising),
    "P.A1.later": once(algorithm_1.kept_by_later_servers),
    "P.A1.ends": Routes(algorithm_1.ends, seen_by_script(algorithm_1.ends, "P.A1.ends")),
    "P.A1.realizes": converges("ps-dsf", "psdsf-algorithm-1", "mid"),
    "P.III-D": converges("ps-dsf", "psdsf-distributed", "mid"),
    "P.IV.Fig4": once(asserted(_fig4)),
    "P.IV": about_ps_dsf(property_judge("sharing-incentive")),
    **{f"P.Table3.user{n + 1}": printed_numbers(partial(_table3, n)) for n in range(4)},
    **{f"P.Table4.{name}.user{n + 1}": printed_numbers(partial(_table4, name, n)) for name in TABLE4 for n in range(4)},
    "P.V.cpu": once(partial(_full, 0, (0, 1))),
    "P.V.memory": once(partial(_full, 1, (0, 1, 2, 3))),
    "P.V.more": once(_more_used),
    "P.V.prompt": once(_prompt),
}
