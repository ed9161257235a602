"""How the claims of P (PS-DSF) in statements.toml are tried and confirmed, by their ids."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from fairalloc.analysis.properties.strategyproofness import without
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, global_dominant_share
from fairalloc.models.instance import Instance
from fairalloc.solvers.game.psdsf_distributed import section_v
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.checked import checked, seen_by_script
from fairalloc.theorems.judges.common import (
    Row,
    about_mechanism,
    certified,
    holdings_of,
    monopoly,
    printed_numbers,
    printed_tasks,
    verdict_of,
)
from fairalloc.theorems.judges.convergence import converges, converges_exactly
from fairalloc.theorems.judges.game import about_ps_dsf
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.judges.trials import Answer, Routes, once
from fairalloc.theorems.papers.p import algorithm_1, definition_2, sentences
from fairalloc.theorems.papers.p.algorithm_1 import EXACT
from fairalloc.theorems.papers.p.definition_2 import raised_by_releasing
from fairalloc.theorems.status import FLOATING_POINT

F = Fraction


def _fig1(case: Case) -> Sequence[Row]:
    share = certified(case.instance, "drfh")
    return [
        *((f"C-DRFH, x_{n + 1}", text, share.tasks[n]) for n, text in enumerate(("60/11", "72/11"))),
        ("C-DRFH, x_21", "6", min(share.tasks[1], F(6))),
    ]


def _fig1_tsf(case: Case) -> Sequence[Row]:
    instance, h = case.instance, certified(case.instance, "tsf")
    alone = [sum((monopoly(instance, n, i) for i in range(2)), F(0)) for n in range(2)]
    return [("gamma_1", "6", alone[0]), ("gamma_2", "12", alone[1]), ("x_1", "4", h.tasks[0]), ("x_2", "8", h.tasks[1])]


def over_eligible(case: Case, answer: Answer) -> Verdict:
    """Strategyproofness of drfh with the dominant resource over a user's own eligible servers (P II-B, [15])."""

    def own(instance: Instance) -> Allocation:
        whole, exact = global_dominant_share(instance), instance.exact
        weights = []
        for n, demand in enumerate(exact.demands):
            servers = [i for i in range(instance.K) if instance.placement[n, i]]
            totals = [sum((exact.capacities[i][r] * int(instance.counts[i]) for i in servers), F(0)) for r in range(instance.R)]
            if any(d and not c for d, c in zip(demand[0], totals, strict=True)):
                raise NotApplicable("a user may use no server with what it demands")
            share = max(d / c for d, c in zip(demand[0], totals, strict=True) if d)
            weights.append(exact.weights[n] * whole[n] / share)
        made = answer(instance.replace(weights=weights))
        return replace(made, instance=instance)

    return property_judge("strategyproofness")(case, own)


def _fig2(case: Case) -> Sequence[Row]:
    instance, h = case.instance, certified(case.instance, "ps-dsf")
    s = {(n, i): h.tasks[n - 1] / monopoly(instance, n - 1, i - 1) for n, i in ((1, 1), (2, 1), (3, 1), (4, 1), (3, 2), (4, 2))}
    printed = {(3, 1): "2/3", (4, 1): "1", (1, 1): "0.6", (2, 1): "0.6", (3, 2): "2/3", (4, 2): "2/3"}
    return [(f"s_{n}{i}", printed[n, i], s[n, i]) for n, i in printed]


def _fig4(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "ps-dsf")
    arcs = case.instance.arcs
    x = {(int(n), int(i)): v for n, i, v in zip(arcs.user, arcs.server, h.x, strict=True)}
    return [
        ("x_1", "1.5", h.tasks[0]),
        ("x_2", "1", h.tasks[1]),
        ("x_11", "1.2", x[0, 0]),
        ("x_23", "0.8", x[1, 2]),
        ("part of channel 2 that user 1 has", "1/2", x[0, 1] / F("0.6")),
    ]


def _one_ratio(case: Case, answer: Answer) -> Verdict:
    """Where user n is served, gamma_n / gamma_m is at least what it is where user m is, of two users who may use both servers."""
    h = holdings_of(answer(case.reported))
    if h.instance.N != 2:
        raise NotApplicable("about two users")
    arcs = h.instance.arcs
    of = [{int(arcs.server[a]): a for a in np.flatnonzero(arcs.user == n)} for n in (0, 1)]
    ratio = {i: h.gamma[of[0][i]] / h.gamma[of[1][i]] for i in of[0] if i in of[1]}
    part = [{i: h.x[own[i]] / h.gamma[own[i]] for i in ratio} for own in of]
    gaps = [min(part[0][j], part[1][k], 1 - ratio[j] / ratio[k]) for j in ratio for k in ratio]
    if not gaps:
        raise NotApplicable("no server is open to both users")
    words = f"a server goes to the user who runs relatively less there, by {float(max(gaps)):.3g}"
    return verdict_of(h, "exchange", max(gaps), words)


def _sharing_of_two(case: Case, answer: Answer) -> Verdict:
    """Sharing incentive, of two users."""
    if case.instance.N != 2:
        raise NotApplicable("about two users")
    return property_judge("sharing-incentive")(case, answer)


EXCHANGE = Case(Instance([[1], [1], [1]], [[1], [1]], eligible=[[0, 1], [1, 1], [0, 1]]))
"""User 1, who is n_0, and user 3 may use server 2 alone, user 2 both."""

TABLE3 = (("80", "340", "82.5", "55"), ("40", "170", "41.25", "41.25"), ("0", "0", "82.5", "27.5"), ("0", "0", "27.5", "27.5"))
TABLE4 = {
    "ps-dsf": (("40", "170", "0", "0"), ("20", "85", "0", "0"), ("0", "0", "82.5", "0"), ("0", "0", "0", "27.5")),
    "tsf": (("35", "170", "0", "0"), ("22.5", "85", "0", "0"), ("0", "0", "58.33", "0"), ("0", "0", "8.05", "27.5")),
}


def _table3(n: int) -> Routes:
    def rows(case: Case) -> Sequence[Row]:
        allowed = case.instance.placement[n]
        return [(f"class {'ABCD'[i]}", TABLE3[n][i], monopoly(case.instance, n, i) if allowed[i] else F(0)) for i in range(4)]

    return printed_numbers(rows)


def _table4(mechanism: str, n: int) -> Routes:
    """Tasks on A and B are unique as a sum only, for the classes are alike; on C and D each."""

    def rows(case: Case) -> Sequence[Row]:
        h, printed, arcs = certified(case.instance, mechanism), TABLE4[mechanism][n], case.instance.arcs
        x = [sum((v for m, j, v in zip(arcs.user, arcs.server, h.x, strict=True) if (m, j) == (n, i)), F(0)) for i in range(4)]
        return [
            (f"class A, with {printed[1]} on class B", _rounded(printed[0]), x[0] + x[1] - F(printed[1])),
            ("class C", printed[2], x[2]),
            ("class D", printed[3], x[3]),
        ]

    return printed_numbers(rows)


def _rounded(printed: str) -> str:
    """A printed number, marked as rounded to the digits it has."""
    return printed if "." in printed else f"{printed}."


def _used(instance: Instance, resource: int, classes: Sequence[int]) -> Mapping[str, Fraction]:
    """The part of a resource that is used in some classes together, under each of the mechanisms."""
    total = {i: instance.exact.capacities[i][resource] * int(instance.counts[i]) for i in classes}
    used = {}
    for name in ("ps-dsf", "tsf", "drfh"):
        loads = exact_arcs(instance).loads(tuple(certified(instance, name).x))
        used[name] = sum((loads[i * instance.R + resource] * c for i, c in total.items()), F(0)) / sum(total.values())
    return used


def _full(resource: int, classes: Sequence[int]) -> Callable[[Case], Verdict]:
    """A resource is fully used in some classes together under each of the mechanisms."""

    def confirm(case: Case) -> Verdict:
        name, load = min(_used(case.instance, resource, classes).items(), key=lambda pair: pair[1])
        sentence = f"under {name} the classes {', '.join('ABCD'[i] for i in classes)} together use {load} of it"
        return Verdict("utilisation", load == 1, float(1 - load), sentence, EXACT)

    return confirm


def _more_used(case: Case) -> Verdict:
    """CPU of classes C and D together, while all are active and while user 4 is away."""
    used = [_used(instance, 0, (2, 3)) for instance in (case.instance, without(case.instance, 3))]
    worst = min(float(use["ps-dsf"] - max(use["tsf"], use["drfh"])) for use in used)
    said = [", ".join(f"{name} {float(v):.4g}" for name, v in use.items()) for use in used]
    return Verdict("utilisation", worst > 0, -worst, f"all active: {said[0]}; user 4 away: {said[1]}", EXACT)


def _prompt(_: Case) -> Verdict:
    """After every change of Fig. 6 the distributed algorithm is at PS-DSF within 10 s."""
    path = section_v()
    times = path.times
    worst = 0.0
    for start, end in ((0, 100), (100, 250), (250, 300)):
        chosen = [k for k, t in enumerate(times) if start + 10 <= t < end]
        tasks = np.array([path.x[k] for k in chosen])
        worst = max(worst, float((np.abs(tasks - tasks[-1]) / (1 + np.abs(tasks[-1]))).max()))
    return Verdict(
        "convergence",
        worst <= 1e-6,
        worst - 1e-6,
        f"ten seconds after a change tasks move by {worst:.1e}",
        f"{FLOATING_POINT}: a run",
    )


HALVES = Case(Instance([[1, 1], [1, 0]], [[1, 1]]), points=((F(1, 2), F(1, 2)),))
"""DRF gives one half each, and half of the second resource is left; all to user 1 leaves nothing."""

cases: dict[str, Case] = {
    "exchange": EXCHANGE,
    "halves": HALVES,
}


SEEN = {
    "P.II-A.utilization": sentences.utilisation,
    "P.A1.feasible": algorithm_1.feasible,
    "P.A1.defined": algorithm_1.maximum_defined,
    "P.A1.ends": algorithm_1.ends,
}
"""What the script of the statement sees too."""

trials: dict[str, Routes] = {
    "P.II-B.eligible": about_mechanism("drfh", over_eligible),
    "P.II-B.fair": printed_tasks("ps-dsf", "6", "6"),
    "P.II-B.C-DRFH": printed_numbers(_fig1),
    "P.II-B.TSF": printed_numbers(_fig1_tsf),
    "P.III-A.tasks": printed_tasks("ps-dsf", "3.6", "3.6", "8", "8"),
    "P.III-A.shares": printed_numbers(_fig2),
    "P.II-A.max-min": once(partial(definition_2.max_min, raised_by_releasing)),
    "P.III-A.indices": once(checked("P.III-A.indices", lambda found: found["share"] - F(8, 12))),
    "P.A1.increase": once(sentences.increase),
    "P.III-D.local": once(sentences.local),
    "P.IV.condition": once(checked("P.IV.condition", lambda _: F(1, 2))),
    "P.V.least-share": once(sentences.least_share((2, 3))),
    "P.T2.units": about_ps_dsf(sentences.same_units),
    "P.T1": once(partial(definition_2.definition, raised_by_releasing)),
    "P.E36": about_ps_dsf(_one_ratio),
    "P.E39": about_ps_dsf(_sharing_of_two),
    "P.E41": once(checked("P.E41", lambda found: found["part"] - found["promised"])),
    "P.T2.envy.letter": about_ps_dsf(property_judge("total-envy-freeness")),
    "P.C1": once(algorithm_1.bottleneck),
    "P.A1.rising": once(algorithm_1.rising),
    "P.A1.later": once(algorithm_1.kept_by_later_servers),
    **{name: Routes(judge, seen_by_script(judge, name)) for name, judge in SEEN.items()},
    "P.A1.realizes": Routes(
        converges("ps-dsf", "psdsf-algorithm-1", "mid"), converges_exactly("ps-dsf", "psdsf-algorithm-1", "mid")
    ),
    "P.III-D": Routes(converges("ps-dsf", "psdsf-distributed", "mid"), converges_exactly("ps-dsf", "psdsf-distributed", "mid")),
    "P.IV.Fig4": printed_numbers(_fig4),
    "P.IV": about_ps_dsf(property_judge("sharing-incentive")),
    **{f"P.Table3.user{n + 1}": _table3(n) for n in range(4)},
    **{f"P.Table4.{name}.user{n + 1}": _table4(name, n) for name in TABLE4 for n in range(4)},
    "P.V.cpu": once(_full(0, (0, 1))),
    "P.V.memory": once(_full(1, (0, 1, 2, 3))),
    "P.V.more": once(_more_used),
    "P.V.prompt": once(_prompt),
}
