"""How the claims of P (PS-DSF) in statements.toml are tried and confirmed, by their ids."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, global_dominant_share
from fairalloc.models.instance import Instance
from fairalloc.solvers.game.psdsf_distributed import section_v
from fairalloc.theorems.cases import Case
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
from fairalloc.theorems.papers.p import sentences
from fairalloc.theorems.papers.p.algorithm_1 import (
    bottleneck,
    bottleneck_by_release,
    feasible,
    feasible_in_floats,
    kept_by_later_servers,
    kept_by_later_servers_exactly,
    maximum_defined,
    maximum_defined_in_floats,
    rising,
    rising_exactly,
)
from fairalloc.theorems.papers.p.definition_2 import bottleneck_condition, definition, max_min, max_min_by_releasing
from fairalloc.theorems.papers.p.endless_rounds import ends, ends_in_floats
from fairalloc.theorems.status import FLOATING_POINT

F = Fraction


# ---- II-B -----------------------------------------------------------------------------------------------------------


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


# ---- III ------------------------------------------------------------------------------------------------------------


def _fig2(case: Case) -> Sequence[Row]:
    instance, h = case.instance, certified(case.instance, "ps-dsf")
    s = {(n, i): h.tasks[n - 1] / monopoly(instance, n - 1, i - 1) for n, i in ((1, 1), (2, 1), (3, 1), (4, 1), (3, 2), (4, 2))}
    printed = {(3, 1): "2/3", (4, 1): "1", (1, 1): "0.6", (2, 1): "0.6", (3, 2): "2/3", (4, 2): "2/3"}
    return [(f"s_{n}{i}", printed[n, i], s[n, i]) for n, i in printed]


def _printed_indices(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "ps-dsf")
    return [(f"s_{n}1", "8/12", h.tasks[n - 1] / monopoly(case.instance, n - 1, 0)) for n in (3, 4)]


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


def _induction(case: Case) -> Verdict:
    """P (40)-(41): n_0 = user 1 gives its third of server 1 for a quarter of server 2, which it gets from user 2.

    By (40) both gain. A part 1/2 of what is left for users 2 and 3 is what sharing incentive among these two promises each.
    """
    instance, part, given = case.instance, F(1, 3), F(1, 4)
    gamma = [[monopoly(instance, n, i) * int(instance.placement[n, i]) for i in range(2)] for n in range(3)]
    ratio = [gamma[0][1] / gamma[1][1], gamma[0][0] / gamma[1][0]]
    gains = given * gamma[0][1], part * gamma[1][0] - given * gamma[1][1]
    assert ratio[0] > ratio[1], "(40)"
    assert min(gains) > 0, "both run more"
    left = [F(1), 1 - part - given]
    alone = [sum(own) for own in gamma]
    promised = [sum(c * g for c, g in zip(left, gamma[n], strict=True)) / 2 / alone[n] for n in (1, 2)]
    worst = min(promised)
    words = f"of what is left users 2 and 3 are promised {promised[0]} and {promised[1]} of what they run alone, not {part}"
    return Verdict("sharing incentive", worst >= part, float(part - worst), words, "rational arithmetic")


# ---- V --------------------------------------------------------------------------------------------------------------

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


def _full(resource: int, classes: Sequence[int]) -> Callable[[Case], Verdict]:
    """A resource is fully used in some classes together under each of the mechanisms."""

    def confirm(case: Case) -> Verdict:
        instance = case.instance
        total = {i: instance.exact.capacities[i][resource] * int(instance.counts[i]) for i in classes}
        used: dict[str, Fraction] = {}
        for mechanism in ("ps-dsf", "tsf", "drfh"):
            loads = exact_arcs(instance).loads(tuple(certified(instance, mechanism).x))
            used[mechanism] = sum((loads[i * instance.R + resource] * c for i, c in total.items()), F(0)) / sum(total.values())
        name, load = min(used.items(), key=lambda pair: pair[1])
        sentence = f"under {name} the classes {', '.join('ABCD'[i] for i in classes)} together use {load} of it"
        return Verdict("utilisation", load == 1, float(1 - load), sentence, "rational arithmetic")

    return confirm


def _more_used(case: Case) -> Verdict:
    """CPU of classes C and D together, while all are active and while user 4 is away."""
    worst, said = 1.0, []
    for away in ([], [3]):
        instance = case.instance
        if away:
            exact = instance.exact
            instance = instance.replace(
                demands=exact.demands[:3],
                weights=exact.weights[:3],
                eligible=instance.placement[:3],
                max_tasks=None,
                users=instance.users[:3],
            )
        use = {}
        for mechanism in ("ps-dsf", "tsf", "drfh"):
            loads = exact_arcs(instance).loads(tuple(certified(instance, mechanism).x))
            use[mechanism] = sum((loads[i * 2] * [33, 11][i - 2] for i in (2, 3)), F(0)) / 44
        worst = min(worst, float(use["ps-dsf"] - max(use["tsf"], use["drfh"])))
        said.append(", ".join(f"{name} {float(v):.4g}" for name, v in use.items()))
    return Verdict("utilisation", worst > 0, -worst, f"all active: {said[0]}; user 4 away: {said[1]}", "rational arithmetic")


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


trials: dict[str, Routes] = {
    "P.II-B.eligible": about_mechanism("drfh", over_eligible),
    "P.II-B.fair": printed_tasks("ps-dsf", "6", "6"),
    "P.II-B.C-DRFH": printed_numbers(_fig1),
    "P.II-B.TSF": printed_numbers(_fig1_tsf),
    "P.III-A.tasks": printed_tasks("ps-dsf", "3.6", "3.6", "8", "8"),
    "P.III-A.shares": printed_numbers(_fig2),
    "P.II-A.utilization": Routes(sentences.utilisation_by_program, sentences.utilisation_by_vertices),
    "P.II-A.max-min": Routes(max_min, max_min_by_releasing),
    "P.III-A.indices": printed_numbers(_printed_indices),
    "P.A1.increase": Routes(sentences.increase_in_floats, sentences.increase),
    "P.III-D.local": Routes(sentences.local_in_floats, sentences.local),
    "P.IV.condition": once(sentences.printed_condition),
    "P.V.least-share": once(sentences.least_share((2, 3))),
    "P.T2.units": about_ps_dsf(sentences.same_units),
    "P.T1": Routes(definition, bottleneck_condition),
    "P.E36": about_ps_dsf(_one_ratio),
    "P.E39": about_ps_dsf(_sharing_of_two),
    "P.E41": once(_induction),
    "P.T2.envy.letter": about_ps_dsf(property_judge("total-envy-freeness")),
    "P.C1": Routes(bottleneck_by_release, bottleneck),
    "P.A1.rising": Routes(rising, rising_exactly),
    "P.A1.later": Routes(kept_by_later_servers, kept_by_later_servers_exactly),
    "P.A1.feasible": Routes(feasible_in_floats, feasible),
    "P.A1.defined": Routes(maximum_defined_in_floats, maximum_defined),
    "P.A1.ends": Routes(ends_in_floats, ends),
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
