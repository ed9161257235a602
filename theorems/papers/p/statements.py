"""The claims of P (PS-DSF), tried and confirmed.

P has Definitions 1 to 3, Theorems 1 and 2, Corollary 1, Algorithm I, Tables I, III and IV, and the examples of Figs. 1 to 5. Its
definitions for heterogeneous servers (III-B) include placement constraints and weights, so nothing more is assumed. Envy is about
the resources that a user may use: with those of servers that are closed to it, (24) to the letter is false (P.T2.envy.letter).
The curves of Fig. 6 are not compared, since only a picture is printed; what the text says of them is. Corollary 1 and Algorithm
I are confirmed by algorithm_1.py. P.A1.realizes and P.III-D are about runs: both routes run the algorithm; its end is judged in
doubles by the residual, and in rationals by the gap of Theorem 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, global_dominant_share
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers.game.psdsf_distributed import section_v
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import (
    Row,
    about_mechanism,
    as_one_pool,
    certified,
    holdings_of,
    printed_numbers,
    verdict_of,
)
from fairalloc.theorems.judges.convergence import converges, converges_exactly
from fairalloc.theorems.judges.game import about_ps_dsf
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.judges.trials import Answer
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
from fairalloc.theorems.papers.p.definition_2 import bottleneck_condition, definition
from fairalloc.theorems.papers.p.endless_rounds import ends, ends_in_floats
from fairalloc.theorems.papers.shared import (
    ANY,
    BF,
    DRF_PROOFS,
    DRFH_WITHOUT_SHARING,
    EF,
    EQUAL_DIVISION,
    LEXIMIN_PROOFS,
    PO,
    POOL,
    PS_DSF_PROOFS,
    SHORT,
    SI,
    SP,
    SRF,
    UNIQUE_BY_FILLING,
    USED,
    monopoly,
    printed_claim,
    printed_tasks,
    property_claim,
)
from fairalloc.theorems.statement import FLOATING_POINT, Hypotheses, Statement

F = Fraction

EVERYWHERE = Hypotheses(everywhere=True, no_idle_server=True, users=2)
"""P II-B before C-DRFH: no placement constraints, every server has what every user demands."""

FIG1, FIG2, FIG4, FIG5 = (Case(example(f"psdsf-{name}").instance) for name in ("fig1", "fig2", "fig4", "fig5"))

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

    return property_judge(SP)(case, own)


# ---- III ------------------------------------------------------------------------------------------------------------


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
    return property_judge(SI)(case, answer)


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


def _table3(n: int) -> Callable[[Case], Verdict]:
    def rows(case: Case) -> Sequence[Row]:
        allowed = case.instance.placement[n]
        return [(f"class {'ABCD'[i]}", TABLE3[n][i], monopoly(case.instance, n, i) if allowed[i] else F(0)) for i in range(4)]

    return printed_numbers(rows)


def _table4(mechanism: str, n: int) -> Callable[[Case], Verdict]:
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


# ---- all of them ----------------------------------------------------------------------------------------------------

MARKS = {"drfh": (SP, EF, PO), "tsf": (SI, SP, EF, PO), "ps-dsf": (SI, SP, EF, PO, BF)}
"""P Table I; which three marks C-DRFH has is said in II-B."""

COUNTER = {("drfh", BF): FIG1, ("tsf", BF): FIG1, ("drfh", SI): DRFH_WITHOUT_SHARING}

MODELS = {SI: USED}
"""P does not say that every server has an eligible user; sharing incentive is violated where it has, too."""

NOTES = {
    (
        "ps-dsf",
        PO,
    ): "Definition 2 says that nobody can gain without taking from one of at most its share, which does not exclude that "
    "two gain together by exchanging tasks between servers. K 2.3 says that PS-DSF is not Pareto optimal.",
    (
        "ps-dsf",
        SP,
    ): "Tried with the worst allocation after the misreport against the best before it. The proof claims from sets U_i that "
    "x'_p > x_p contradicts Definition 2, which is about one user's gain, not of several at once, as for Pareto optimality.",
    ("tsf", SI): "gamma_n counts servers that n may not use, and the definition of the uniform allocation does not.",
}

statements = [
    *(
        property_claim(f"P.II-A.{SHORT[name]}", "P II-A", "drf", name, POOL, proof=DRF_PROOFS[name])
        for name in (SI, EF, PO, SP, SRF, BF)
    ),
    *(
        property_claim(f"P.II-B.drfh.{SHORT[name]}", "P II-B, of [17]", "drfh", name, EVERYWHERE, proof=LEXIMIN_PROOFS[name])
        for name in (PO, SP, EF)
    ),
    Statement(
        "P.II-B.drfh.bottleneck",
        "Without placement constraints, DRFH is max-min fair on a resource that is globally dominant for all.",
        "P II-B, of [17]",
        "all",
        hypotheses=EVERYWHERE,
        proof="It is globally dominant for n, sigma_n = d_nr / c_r: shares are amounts of it by weight, and what makes them "
        "lexicographically largest, as DRFH does, is max-min fair on it.",
        note="Cases without such a resource decide nothing.",
        **about_mechanism("drfh", property_judge("global-bottleneck-fairness")),
    ),
    property_claim("P.II-B.drfh.sharing", "P II-B, of [17]", "drfh", SI, EVERYWHERE, False, COUNTER["drfh", SI]),
    *(
        property_claim(
            f"P.II-B.cdrf.{SHORT[name]}",
            "P II-B, of [3]: CDRF is tsf without constraints",
            "tsf",
            name,
            EVERYWHERE,
            proof={**LEXIMIN_PROOFS, SI: EQUAL_DIVISION}[name],
        )
        for name in (PO, SP, EF, SI)
    ),
    Statement(
        "P.II-B.cdrf.one-server",
        "CDRF is DRF in the case of one server.",
        "P II-B",
        "all",
        hypotheses=POOL,
        proof="1 / gamma_n = max_r d_nr / c_r: the shares are the same. " + UNIQUE_BY_FILLING,
        **about_mechanism("tsf", as_one_pool),
    ),
    *(
        property_claim(
            f"P.II-B.tsf.{SHORT[name]}",
            "P II-B, of [15]",
            "tsf",
            name,
            MODELS.get(name, ANY),
            note=NOTES.get(("tsf", name), ""),
            proof=LEXIMIN_PROOFS.get(name, ""),
        )
        for name in (PO, SP, EF, SI)
    ),
    Statement(
        "P.II-B.eligible",
        "With the dominant resource over the set of eligible servers, users may have an incentive to misreport that set.",
        "P II-B, of [15]",
        "some",
        hypotheses=ANY,
        misreports=1,
        **about_mechanism("drfh", over_eligible),
    ),
    printed_claim(
        "P.II-B.fair",
        "Bottleneck fairness in Fig. 1 gives each user 6 tasks, as PS-DSF does.",
        "P II-B",
        FIG1,
        printed_tasks("ps-dsf", "6", "6"),
    ),
    printed_claim(
        "P.II-B.C-DRFH",
        "C-DRFH gives 60/11 = 5.45... and 72/11 = 6 + 0.54... tasks in Fig. 1.",
        "P II-B",
        FIG1,
        printed_numbers(_fig1),
        note="P prints 5.45 and 6.54: the first two digits, not rounded.",
    ),
    printed_claim(
        "P.II-B.TSF", "In Fig. 1 gamma = (6, 12), and TSF gives 4 and 8 tasks.", "P II-B", FIG1, printed_numbers(_fig1_tsf)
    ),
    *(
        property_claim(
            f"P.Table1.{mechanism}.{SHORT[name]}",
            "P Table I",
            mechanism,
            name,
            MODELS.get(name, ANY) if mechanism != "ps-dsf" else ANY,
            name in marks,
            COUNTER.get((mechanism, name)),
            table="P.Table1",
            note=NOTES.get((mechanism, name), ""),
            proof=(PS_DSF_PROOFS if mechanism == "ps-dsf" else LEXIMIN_PROOFS).get(name, ""),
        )
        for mechanism, marks in MARKS.items()
        for name in (SI, SP, EF, PO, BF)
    ),
    printed_claim(
        "P.III-A.tasks",
        "PS-DSF in Fig. 2 gives 3.6, 3.6, 8 and 8 tasks.",
        "P III-A, Fig. 3",
        FIG2,
        printed_tasks("ps-dsf", "3.6", "3.6", "8", "8"),
    ),
    printed_claim(
        "P.III-A.shares",
        "The shares in Fig. 2 are s_31 = 8/12, s_41 = 12/12 = 1, s_11 = s_21 = 0.6, s_32 = s_42 = 8/12.",
        "P III-A",
        FIG2,
        printed_numbers(_fig2),
        note="gamma_41 = min(9, 24) = 9, so s_41 = 8/9.",
    ),
    Statement(
        "P.T1",
        "A feasible allocation satisfies PS-DSF iff every user has a bottleneck resource at every eligible server.",
        "P Theorem 1",
        "all",
        definition,
        bottleneck_condition,
        replace(ANY, points=1),
        proof="If n has no bottleneck at server i, everything it demands there has slack once all with a larger share than n's "
        "are gone from i, so x_n can rise at their cost alone. If r is a bottleneck of n at i, all who use it have at most n's "
        "share there and keep what they have, so x_ni cannot rise, however n moves its own tasks; where that is so at every "
        "eligible server, x_n cannot rise.",
    ),
    *(
        property_claim(
            f"P.T2.{SHORT[name]}",
            "P Theorem 2",
            "ps-dsf",
            name,
            ANY,
            note=NOTES.get(("ps-dsf", name), ""),
            proof=PS_DSF_PROOFS.get(BF if name == SRF else name, ""),
        )
        for name in (PO, SRF, BF, EF, SP, SI)
    ),
    Statement(
        "P.E36",
        "Two users with one bottleneck at each server share servers of one gamma_n / gamma_m at most; of the others each goes "
        "to the user who runs relatively more there.",
        "P (35) to (37), two users in the proof of Theorem 2",
        "all",
        hypotheses=replace(ANY, server_bottleneck=True),
        proof="If n is served at j, z_nj <= z_mj, for m has its bottleneck there, which all who are served use "
        "(P.T2.bottleneck): gamma_nj / gamma_mj >= (x_n / phi_n) (phi_m / x_m). If m is served at k, gamma_nk / gamma_mk <= the "
        "same.",
        note="Which is (35); (36) and (37) add up what each has, where ties count as one server. That two users with one "
        "bottleneck are the worst case, which P assumes, is not shown; P.T2.sharing does not need it. The induction: P.E41.",
        **about_ps_dsf(_one_ratio),
    ),
    Statement(
        "P.E39",
        "Of two users with one bottleneck at each server each has its part of what it runs alone.",
        "P (38) and (39), two users in the proof of Theorem 2",
        "all",
        hypotheses=replace(ANY, server_bottleneck=True),
        proof="Where n is served at no server that both may use, m has them all, and runs what it runs alone. Else let j_0 be "
        "the servers they share, taken as one, or, where they share none, the server of n's with the least gamma_n / gamma_m; a "
        "the part of it that m has, S_m the sum of gamma_m / gamma_mj0 over the servers that are m's alone, S_n that of gamma_n "
        "/ gamma_nj0 over the others of n's. Servers are full (P.T2.bottleneck), so (35) with a_n = 1 - a gives a (phi_m + "
        "phi_n) >= phi_m (1 + S_n) - phi_n S_m, which is (38). So x_m (phi_m + phi_n) = (a + S_m) (phi_m + phi_n) gamma_mj0 >= "
        "phi_m (1 + S_m + S_n) gamma_mj0, and gamma_mj0 gamma_nj / gamma_nj0 >= gamma_mj for n's servers: this is phi_m times "
        "all that m runs alone.",
        note="As printed, for P's worst case; the general statement is P.T2.sharing.",
        **about_ps_dsf(_sharing_of_two),
    ),
    printed_claim(
        "P.E41",
        "After user n_0 has exchanged its part with another user, sharing incentive among the others gives each of them (41).",
        "P (40) and (41), the induction in the proof of Theorem 2, at a case of ours",
        EXCHANGE,
        _induction,
        note="(41) needs that what n_0 leaves is worth as much to each of the others as before, but it is to those it exchanges "
        "with alone. The theorem does not need the induction: P.T2.sharing has a proof for any number of users.",
    ),
    Statement(
        "P.T2.envy.letter",
        "Nobody prefers the totals x_m d_m of another, scaled by the weights, wherever they lie.",
        "P (24) to (28) to the letter",
        "all",
        hypotheses=ANY,
        note="(27) needs a server that m uses and n may use. With resources that n may use the claim is P.T2.envy.",
        **about_ps_dsf(property_judge("total-envy-freeness")),
    ),
    Statement(
        "P.III-B.reduction",
        "PS-DSF is DRF when all resources are in one pool.",
        "P III-B",
        "all",
        hypotheses=POOL,
        proof="With one server z_n is the dominant share by weight, and Definition 2 is Definition 1. " + UNIQUE_BY_FILLING,
        **about_ps_dsf(as_one_pool),
    ),
    Statement(
        "P.C1",
        "If r is full at server i, n has the least share of those who demand it, and nobody with a larger "
        "share uses it, r is a bottleneck of n.",
        "P Corollary 1",
        "all",
        bottleneck_by_release,
        bottleneck,
        replace(ANY, points=1),
        proof="n demands r and r is full, as is assumed; who uses r has at most n's share by (15), which is (13).",
    ),
    Statement(
        "P.A1.rising",
        "S* of a server rises with each of its updates.",
        "P III-C",
        "all",
        rising,
        rising_exactly,
        ANY,
        proof="Where (17) fails for all r in R*, each n_r has z > S*, so beta > 0. z* > 0 as well: what N* demands is either not "
        "full, or r in R*, of which n_r is released. N* rises to S* + beta z*, which no n_r falls below, and all others in N_i "
        "keep more than S*; where (17) holds N_i loses users, which lowers no minimum.",
        note="Of one server in its own procedure, where a user who is chosen for two resources gives up the part beta once. Run "
        "with users counted once in f, see P.A1.feasible; the proof needs it not.",
    ),
    Statement(
        "P.A1.later",
        "Updates of the next servers may take bottlenecks from users at an earlier one.",
        "P III-C",
        "some",
        kept_by_later_servers,
        kept_by_later_servers_exactly,
        ANY,
        note="So the rounds are repeated. A server that takes tasks from n_r lowers its share, and S*, at all others.",
    ),
    Statement(
        "P.A1.feasible",
        "Update-Allocation keeps the allocation feasible.",
        "P III-C, Algorithm I",
        "all",
        feasible_in_floats,
        feasible,
        replace(ANY, points=1),
        note="f counts a user once for every full resource that it is chosen for.",
    ),
    Statement(
        "P.A1.defined",
        "The maximum in Algorithm I's test is over somebody.",
        "P III-C, Algorithm I",
        "all",
        maximum_defined_in_floats,
        maximum_defined,
        ANY,
        note="An empty maximum should count as passing.",
    ),
    Statement(
        "P.A1.ends",
        "Algorithm I ends, and then every user has a bottleneck at every eligible server.",
        "P III-C",
        "run",
        ends_in_floats,
        ends,
        ANY,
        note="In exact arithmetic, with the least changes that make it well defined: rounds may go on for ever, their changes "
        "in one ratio below 1, as rational functions of what is left prove (endless_rounds.py). Where it ends is P.A1.realizes.",
    ),
    Statement(
        "P.A1.realizes",
        "Algorithm I, with equality up to 1e-12, ends where every user has a bottleneck at every eligible server.",
        "P III-C",
        "run",
        converges("ps-dsf", "psdsf-algorithm-1", "mid"),
        converges_exactly("ps-dsf", "psdsf-algorithm-1", "mid"),
        ANY,
        note="Run with the least changes that make it well defined. Without the tolerance it need not end: P.A1.ends.",
    ),
    Statement(
        "P.III-D",
        "The distributed algorithm reaches the PS-DSF allocation.",
        "P III-D",
        "run",
        converges("ps-dsf", "psdsf-distributed", "mid"),
        converges_exactly("ps-dsf", "psdsf-distributed", "mid"),
        ANY,
    ),
    printed_claim(
        "P.IV.Fig4",
        "In Fig. 4 user 1 has channel 1, user 2 channel 3, channel 2 is shared equally, and the rates are 1.5 and 1.",
        "P IV",
        FIG4,
        printed_numbers(_fig4),
    ),
    Statement(
        "P.IV",
        "PS-DSF is defined where resources serve different users at different rates: some allocation satisfies Definition 2.",
        "P IV",
        "all",
        hypotheses=replace(ANY, same_demands=False),
        **about_ps_dsf(property_judge(SI)),
        note="Tried as: an allocation is found, and it provides sharing incentive, whose proof does not need equal rates.",
        proof="Equilibria exist for every alpha >= 1 (K.3.1.existence), and limit points of them for alpha to infinity satisfy "
        "Theorem 1 (K.T2.limit). These proofs, and that of P.T2.sharing, do not need a user's demands to be the same everywhere.",
    ),
    *(
        printed_claim(
            f"P.Table3.user{n + 1}", f"Table III, user {n + 1}: {', '.join(TABLE3[n])}.", "P Table III", FIG5, _table3(n)
        )
        for n in range(4)
    ),
    *(
        printed_claim(
            f"P.Table4.{name}.user{n + 1}",
            f"Table IV, {name}, user {n + 1}: {', '.join(TABLE4[name][n])}.",
            "P Table IV",
            FIG5,
            _table4(name, n),
        )
        for name in TABLE4
        for n in range(4)
    ),
    printed_claim(
        "P.V.cpu",
        "The CPU of the first two classes is fully used under each mechanism.",
        "P V",
        FIG5,
        _full(0, (0, 1)),
        note="Of both together: which of users 1 and 2 is served by which is one answer's choice. Their tasks are not, and under "
        "PS-DSF and TSF all of these are there, for users 3 and 4 fill the memory of the other two classes.",
    ),
    printed_claim(
        "P.V.memory", "The memory of all servers is fully used under each mechanism.", "P V", FIG5, _full(1, (0, 1, 2, 3))
    ),
    printed_claim(
        "P.V.more",
        "PS-DSF uses more CPU of classes C and D than TSF and C-DRFH, with and without user 4.",
        "P V, Fig. 6",
        FIG5,
        _more_used,
    ),
    printed_claim(
        "P.V.prompt", "The distributed algorithm converges promptly when users come and go.", "P V, Fig. 6", FIG5, _prompt
    ),
]
