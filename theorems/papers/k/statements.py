"""The claims of K (alphaPF-VDS), tried and confirmed.

K has Definitions 1 to 6, Theorems 1 to 8, Lemmas 1 to 4, Corollaries 1 to 4, Table 1, the examples of Figs. 1 to 3, two
algorithms and the experiments of section 6. Envy is about the resources that a user may use (P.T2.envy.letter). Equilibria for
alpha != 1 need not be unique in x_n: what is tried is the one its method gives. Finite alpha has irrational equilibria, so a
violation counts only if it is ten times the largest error in tasks that a proved bound on the residual allows (the bound is
proved for one server only).

Each claim is confirmed by another route than the one that tries it: points of Problems 1 and 3 in rationals and square roots
(problem_1.py, problem_3.py, several_equilibria.py, directions.py). Exceptions: no point refutes existence, so
K.3.1.existence is not refuted or not decided; K.T8.start and K.5.2 are about runs, so both routes run the algorithm, and its
end is judged in two ways. In K.6.2, K.T2.limit and K.C3 the same function judges tasks in floating point and certified ones;
K.3.3.one-server compares both with another solver's floats.

What section 6 measured on samples that are not published rests on experiments of ours (simulation/experiments), whose kept
verdicts decide; what these cannot decide either says what is missing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.game.equilibrium import deviation
from fairalloc.formulations.ps_dsf_tdm import time_shared
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import Row, about_mechanism, as_one_pool, certified, printed_numbers
from fairalloc.theorems.judges.convergence import converges, converges_exactly
from fairalloc.theorems.judges.experiments import rests_on
from fairalloc.theorems.judges.game import (
    about_equilibria,
    about_ps_dsf,
    least_served,
    limit_rate,
    limit_rate_of_servers,
    missing,
    not_rising_in_alpha,
    proportional,
    same_as_fds,
    same_as_ps_dsf,
    utilisation,
)
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.papers.k import directions, problem_3, small_steps, theorem_7
from fairalloc.theorems.papers.k import problem_3_in_floats as floats
from fairalloc.theorems.papers.k.printed_formulas import (
    approximate_prices,
    approximate_prices_in_floats,
    one_equilibrium,
    one_equilibrium_in_floats,
    penalty,
    penalty_in_floats,
    price_by_104,
    price_by_104_in_floats,
)
from fairalloc.theorems.papers.k.problem_1 import (
    bounded_multipliers,
    bounded_multipliers_exactly,
    equilibrium_exists,
    projection_in_floats,
    theorem_1_by_program,
    theorem_1_by_vertices,
    unique_by_market,
)
from fairalloc.theorems.papers.k.several_equilibria import two_solutions, two_solutions_exactly
from fairalloc.theorems.papers.shared import (
    BF,
    DRF_PROOFS,
    DRFH_WITHOUT_SHARING,
    EF,
    LEXIMIN_PROOFS,
    PO,
    POOL,
    PS_DSF_PROOFS,
    SHORT,
    SI,
    SP,
    UNIQUE_BY_FILLING,
    USED,
    monopoly,
    printed_claim,
    printed_tasks,
    property_claim,
)
from fairalloc.theorems.proofs import Proof
from fairalloc.theorems.statement import FLOATING_POINT, Hypotheses, Statement

F = Fraction
_Judge = Callable[[bool], Callable[[Case], Verdict]]

ABOVE = (1, 2, 3, 1.5, 10, "inf")
BELOW = (0.5, 0.25, 0.75, 0.1)
WHOLE = (2, 3, 1)
MIXED = ((1, 3, 2), (2, 1, 5), (1.5, 1, 1), (5, 1, 10))
"""alpha of each server."""

MIXED_HALVES = ((1, 3, 2), (2, F(1, 2), 1), (F(3, 2), 1, 3))
LIMITS = ((1, 100, 2), (100, 1, 1), (2, 3, 1000), (10, 1000, 1), (100, 0.5, 0.25))

FIG1, FIG3 = (Case(example(f"khamse-{name}").instance) for name in ("fig1", "fig3"))
CLUSTER = Case(
    Instance(
        [[1, 1], [1, 1]],
        [[1, 1], ["1/2", "1/2"], ["1/2", "1/4"], ["1/2", "3/4"]],
        eligible=[[1, 1, 0, 0], [1, 1, 1, 1]],
        servers=("A", "B", "C", "D"),
        resources=("cpu", "memory"),
        users=("U1", "U2"),
        name="khamse-fig4",
    )
)
"""The servers of K Fig. 4, one of each class; its users are not printed."""

TIED = Case(
    Instance([[4, 1], [1, 4]], [[8, 4], [4, 8]]),
    points=((F(2), F(0), F(0), F(2)), (F(28, 15), F(8, 15), F(8, 15), F(28, 15))),
    parameters={"alpha": 3},
)
"""Two users who are mirror images, as the servers are: 4 x + y <= 8 and x + 4 y <= 4 at server 1, where gamma is 2 and 1."""

UNIQUE: dict[str, Any] = {"mechanism": "alpha-pf-vds", "property": "uniqueness"}

PROOFS_ALPHA = {
    EF: Proof(
        "alpha >= 1: envy-freeness",
        "If n envied m, x_n d_nr / phi_n < x_m d_mr / phi_m for all r that n demands (74), since m has at most x_m d_m where n "
        "may use it, and m has tasks at a server that n may use. There z_n g'(z_n) <= (x_n / phi_n) sum_r lambda_r d_nr < (x_m "
        "/ phi_m) sum_r lambda_r d_mr = z_m g'(z_m), by (65) for n, (64) for m, and since some r with lambda_r > 0 is demanded "
        "by n. As z g'(z) does not rise for alpha >= 1, z_n > z_m: n has more than m of the resource of which it takes most "
        "there, by weight, against (74). For alpha = inf see P.T2.envy.",
    ),
    SI: Proof(
        "alpha >= 1: sharing incentive",
        "Multipliers give g'(z_ni) <= sum_r lambda_ir c_ir = sum_m (x_mi / gamma_mi) g'(z_mi) (69). As z g'(z) does not rise "
        "for alpha >= 1, dividing by z_ni g'(z_ni) for the n with the least share at i leaves 1 / z_ni <= sum_m (x_mi / "
        "gamma_mi) / z_mi = sum_m phi_m x_mi / x_m, and so for every n. The sum over n's servers is phi_n sum_i gamma_ni / x_n "
        "<= sum phi. For alpha = inf see P.T2.sharing.",
    ),
}

BOTTLENECK_ALPHA = Proof(
    "any alpha: bottleneck fairness",
    "At a server where all dominantly request one resource its load is sum_m x_mi / gamma_mi and the others' are not larger, so "
    "it alone limits the server: one price mu, g'(z_n) = mu > 0 for who is served there and <= mu for all others. So it is "
    "full, and as g' falls strictly, who is served has the least share z there: it is a bottleneck of everybody. For alpha = "
    "inf see P.T2.bottleneck.",
)


def with_alpha(hypotheses: Hypotheses, alphas: Sequence[Any], **more: Sequence[Any]) -> Hypotheses:
    """The hypotheses with what the parameters may be."""
    return replace(hypotheses, parameters={"alpha": tuple(alphas), **{name: tuple(values) for name, values in more.items()}})


def equilibrium_claim(
    id_: str, text: str, place: str, name: str, hypotheses: Hypotheses, holds: bool = True, **more: Any
) -> Statement:
    """That equilibria have a property, or that some lack it.

    Parameters
    ----------
    id_, text, place : as for Statement
    name : the property
    hypotheses : what is assumed, with the values of alpha
    holds : whether the paper claims it for all cases; False = for no more than some case that violates it
    more : further fields of the statement
    """
    return Statement(
        id=id_,
        text=text,
        place=place,
        quantifier="all" if holds else "some",
        hypotheses=hypotheses,
        property=name,
        **about_equilibria(property_judge(name), name),
        **more,
    )


SEVERAL = with_alpha(replace(USED, positive=True, everywhere=True, equal_weights=True, users=2), (5, 10, 20))
"""For several equilibria: only alpha, demands and capacities vary."""


# ---- 2.2 and 2.3 ----------------------------------------------------------------------------------------------------


def _fig1(case: Case) -> Sequence[Row]:
    alone = [sum((monopoly(case.instance, n, i) for i in range(2)), F(0)) for n in range(4)]
    return [(f"gamma_{n + 1}", printed, alone[n]) for n, printed in enumerate(("4", "12", "20", "20"))]


def _fig3_alone(case: Case) -> Sequence[Row]:
    printed = {(1, 1): "4", (2, 1): "12", (3, 1): "4", (4, 1): "8", (3, 2): "16", (4, 2): "8"}
    return [(f"gamma_{n}{i}", text, monopoly(case.instance, n - 1, i - 1)) for (n, i), text in printed.items()]


def _fig3_shares(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "ps-dsf")
    printed = {(1, 1): "0.5", (2, 1): "0.5", (3, 1): "8/3", (4, 1): "2/3", (3, 2): "2/3", (4, 2): "2/3"}
    return [(f"s_{n}{i}", text, h.tasks[n - 1] / monopoly(case.instance, n - 1, i - 1)) for (n, i), text in printed.items()]


def _fig2(case: Case) -> Verdict:
    """Used parts of every capacity under PS-DSF, DRFH and TSF."""
    use = {name: utilisation(certified(case.instance, name)) for name in ("ps-dsf", "drfh", "tsf")}
    margin = max(use["drfh"], use["tsf"]) - use["ps-dsf"]
    sentence = "mean used part " + ", ".join(f"{name} {float(v):.4g}" for name, v in use.items())
    return Verdict("utilisation", bool(margin < 0), float(margin), sentence, "rational arithmetic")


def _fig3_server1(case: Case) -> Verdict:
    """Users 1 and 2 for several alpha, and that nobody else is on server 1."""
    worst = 0.0
    for alpha in (0.3, 0.5, 1, 2, 3, 10, 100, "inf"):
        found = solve(case.instance, "alpha-pf-vds", accuracy="high", alpha=alpha)
        here = np.where(case.instance.arcs.server == 0, found.x, 0.0)
        tasks = np.bincount(case.instance.arcs.user, here, 4)
        worst = max(worst, float(np.abs(tasks - [2, 6, 0, 0]).max()))
    return Verdict(
        "printed numbers",
        worst <= 1e-6,
        worst - 1e-6,
        f"server 1 is off (2, 6, 0, 0) by {worst:.1e}",
        f"{FLOATING_POINT}: eight solves",
    )


def _fig3_efficient(case: Case) -> Verdict:
    """Utilisation falls and the dominant shares of users 3 and 4 on server 2 come closer, for alpha = 1, 3, infinity."""
    use, apart = [], []
    for alpha in (1, 3, "inf"):
        found = solve(case.instance, "alpha-pf-vds", accuracy="high", alpha=alpha)
        use.append(float(utilisation(Holdings(found, False))))
        apart.append(abs(found.tasks[2] / 16 - found.tasks[3] / 8))
    margin = max(use[1] - use[0], use[2] - use[1], apart[1] - apart[0], apart[2] - apart[1])
    sentence = (
        f"mean used part {use[0]:.4f}, {use[1]:.4f}, {use[2]:.4f}, shares apart {apart[0]:.4f}, {apart[1]:.4f}, {apart[2]:.4f}"
    )
    return Verdict("trade-off", margin < 0, margin, sentence, f"{FLOATING_POINT}: three solves")


COUNTS = (8, 68, 33, 11)
"""Servers of the classes of Fig. 4, by P Fig. 5."""


def _almost_proportional(case: Case) -> Verdict:
    """CPU to memory of each class against that of all servers."""
    rows = case.instance.exact.capacities
    total = [sum((q * row[r] for q, row in zip(COUNTS, rows, strict=True)), F(0)) for r in range(2)]
    ratio = [row[0] / row[1] * total[1] / total[0] for row in rows]
    far = [max(v, 1 / v) - 1 for v in ratio]
    margin = max(far[:2]) - min(F(1, 10), *far[2:])
    words = "the ratios of CPU to memory, in parts of that of all servers, are " + ", ".join(map(str, ratio))
    return Verdict("proportion", margin < 0, float(margin), words, "rational arithmetic")


# ---- 3.1: Problem 1 -------------------------------------------------------------------------------------------------


def _equilibrium_found(case: Case) -> Verdict:
    """An equilibrium is found."""
    found = solve(case.instance, "alpha-pf-vds", alpha=case.parameters["alpha"])
    margin = found.residual - 1e-6
    holds = True if margin <= 0 else None
    return Verdict("existence", holds, margin, f"an equilibrium with the residual {found.residual:.1e}", found.method)


# ---- 4.4: uniqueness ------------------------------------------------------------------------------------------------


def _unique_in_floats(case: Case) -> Verdict:
    """Two methods find the same x_n; a difference refutes uniqueness, agreement does not prove it."""
    own = {name: case.parameters[name] for name in ("alpha", "A", "B") if name in case.parameters}
    first = solve(case.instance, "alpha-pf-vds", "continuation", "high", **own)
    second = solve(case.instance, "alpha-pf-vds", "semismooth-newton", "high", time_limit=1.0, **own)
    if not max(first.residual, second.residual) <= 1e-8:
        return Verdict("uniqueness", None, np.nan, "not decided: a method did not end", "two solves")
    off = float((np.abs(first.tasks - second.tasks) / np.maximum(first.tasks, second.tasks)).max())
    return Verdict(
        "uniqueness", off <= 1e-3, off - 1e-3, f"the tasks of two equilibria differ by {off:.1e}, relative", "two solves"
    )


def _projection_exactly(case: Case) -> Verdict:
    """(46) in R^N at a server with one full resource and lambda = 0, for the gradient (-1 for who is eligible, 0 for others)."""
    instance = case.instance
    for i in range(instance.K):
        for r in range(instance.R):
            d = [exact[0][r] for exact in instance.exact.demands]
            here = [int(n) for n in instance.arcs.user[instance.arcs.server == i]]
            push = sum((d[n] for n in here), F(0))
            moved = [n for n in range(instance.N) if n not in here and d[n] and push]
            if moved:
                who, where = instance.users[moved[0]], instance.servers[i]
                sentence = f"where {instance.resources[r]!r} is full at {where!r}, v lowers the tasks of {who!r}, who is "
                sentence += "not eligible there"
                return Verdict("feasibility", False, 1.0, sentence, "rational arithmetic")
    return Verdict("feasibility", True, -1.0, "everybody who demands a resource is eligible where it is", "rational arithmetic")


# ---- 6 --------------------------------------------------------------------------------------------------------------


def _deviation(h: Holdings) -> float:
    """The weighted mean of D_n (K 58)."""
    each = deviation(h.instance, h.allocation.x)
    return float(h.instance.weights @ each / h.instance.weights.sum())


MISSING = {
    "6.1.users": "the users who were sampled and their demands are not published; the load of K.Fig9 is our choice",
    "6.2.Fig8.short": "usage of tasks over a day is not in the samples; the quanta of K.Fig8 are generated by what is printed",
    "6.2.Fig8.long": "usage of tasks over a day is not in the samples; the quanta of K.Fig8 are generated by what is printed",
}
"""What the experiments cannot decide."""

EXPERIMENTS = [
    ("6.1.users", "The cluster of Fig. 4 is heavily loaded by 2% of the users of the trace.", "K 6.1", "Fig9"),
    (
        "6.2.Fig6",
        "The distributed algorithm converges linearly for alpha = 3 in the data-center of Fig. 5.",
        "K Fig. 6",
        "Fig6",
    ),
    ("6.2.Fig7", "The overall utilisation of every resource is larger for alpha = 1 than 3 than infinity.", "K Fig. 7", "Fig7"),
    ("6.2.Fig8.period", "38% of jobs end within 5 minutes.", "K 6.2, Fig. 8", "Fig8"),
    ("6.2.Fig8.day", "16% of jobs are active more than 24 hours.", "K 6.2, Fig. 8", "Fig8"),
    ("6.2.Fig8.short", "53% of jobs require less than 10 quanta.", "K 6.2, Fig. 8", "Fig8"),
    ("6.2.Fig8.long", "5% of jobs require more than 10000 quanta.", "K 6.2, Fig. 8", "Fig8"),
    ("6.2.Fig9", "alpha = 1 uses more of the cluster than alpha = 3 and PS-DSF over an hour.", "K Fig. 9", "Fig9"),
    ("6.2.Fig10", "The average and the largest deviation (58) are larger for smaller alpha.", "K Fig. 10", "Fig10"),
    ("6.2.Fig11", "The delay of short jobs varies more for smaller alpha.", "K Fig. 11", "Fig11"),
    ("6.3.Fig12", "PS-DSF uses more of every resource than DRFH and TSF, up to 20% for some.", "K Fig. 12", "Fig12"),
    ("6.3.Fig13", "PS-DSF uses more than DRFH and TSF over 24 hours, which use almost the same.", "K Fig. 13", "Fig13"),
    ("6.3.Fig14", "The gain of PS-DSF is larger on the last two classes of servers.", "K Fig. 14", "Fig14"),
]


def _experiment(name: str, text: str, place: str, figure: str) -> Statement:
    """A claim that rests on an experiment of ours."""
    if name in MISSING:
        return printed_claim(f"K.{name}", text, place, CLUSTER, missing(MISSING[name]), note=MISSING[name])
    check, note = rests_on(f"K.{figure}"), "its sample is not that of the paper: docs/EXPERIMENTS.md"
    return printed_claim(f"K.{name}", text, place, CLUSTER, check, note=note, experiment=f"K.{figure}")


DESCENDS = (
    "The direction v of PS-MFA is a strict descent direction unless it is 0.",
    "K Lemma 3",
    "A point of ours (directions.py): only prices with dPsi/dlambda = 0 move, where (111) fails, so Psi has the slope 0 along v "
    "and PS-MFA has no step at a point that is no solution. True for alpha = 1, and for one server: docs/ERRATA.md.",
)
STOPS = (
    "Under Assumption 2, v = 0 only where the gradient by x is 0.",
    "K Lemma 4 under Assumption 2",
    "A point of ours (directions.py). Under Assumption 1: K.L4.priced.",
)
ENDS = (
    "PS-MFA ends at a stationary point of Psi under Assumption 2, from any feasible point.",
    "K Theorem 8",
    "Started at the point of K.L4 it ends there, since v = 0. Under Assumption 1 see K.L4.priced, for the steps K.T8.steps, from "
    "its own start with other steps K.T8.start.",
)
REPAIRED = " Prices of resources with room stay 0 here, as (40) asks and (47)-(48) do not (K.E48); to the letter: "
LETTER = " Here the price of every resource moves by (47)-(48), as is printed, against (40) (K.E48). Repaired: "


def _of_ps_mfa(id_: str, told: tuple[str, str, str], confirm: _Judge, trial: _Judge, printed: Case, letter: bool) -> Statement:
    """A claim about the direction of PS-MFA, with the prices that move to the letter, or with those of full resources alone."""
    (text, place, note), name = told, f"{id_}.letter" if letter else id_
    return Statement(
        *(name, text, f"{place}, to the letter" if letter else place, "all", trial(letter), confirm(letter)),
        replace(with_alpha(USED, (printed.parameters["alpha"],)), outsiders=id_ != "K.L3", points=1),
        printed=printed,
        reading="to the letter" if letter else "of a repaired text",
        note=note + (f"{LETTER}{id_}." if letter else f"{REPAIRED}{id_}.letter."),
    )


MARKS = {"drfh": (EF, PO), "tsf": (SI, EF, PO), "ps-dsf": (SI, EF, BF)}
"""K Table 1."""

FALSE = {("drfh", BF): FIG1, ("tsf", BF): FIG1, ("drfh", SI): DRFH_WITHOUT_SHARING}

statements = [
    *(
        property_claim(f"K.2.1.{SHORT[name]}", "K 2.1, of [1]", "drf", name, POOL, proof=DRF_PROOFS[name])
        for name in (SI, EF, BF, PO, SP)
    ),
    # ---- 2.2
    *(
        property_claim(f"K.2.2.drfh.{SHORT[name]}", "K 2.2, of [7]", "drfh", name, USED, proof=LEXIMIN_PROOFS[name])
        for name in (PO, EF)
    ),
    property_claim("K.2.2.drfh.sharing", "K 2.2, of [7]", "drfh", SI, USED, False, DRFH_WITHOUT_SHARING),
    Statement(
        "K.2.2.drfh.virtual",
        "If all users have the same dominant resource in the virtual server, DRFH is max-min fair on it.",
        "K 2.2, of [7]",
        "all",
        hypotheses=USED,
        **about_mechanism("drfh", property_judge("global-bottleneck-fairness")),
        proof="sigma_n = d_nr / c_r for that r: shares are amounts of it by weight, and what makes them lexicographically "
        "largest, as DRFH does, is max-min fair on it.",
        note="By definition of DRFH; cases without such a resource decide nothing.",
    ),
    property_claim("K.2.2.drfh.bottleneck", "K 2.2, Fig. 1", "drfh", BF, USED, False, FIG1),
    Statement(
        "K.2.2.tsf.one-server",
        "TSF is DRF when there is one server.",
        "K 2.2",
        "all",
        hypotheses=POOL,
        proof="1 / gamma_n = max_r d_nr / c_r: the shares are the same. " + UNIQUE_BY_FILLING,
        **about_mechanism("tsf", as_one_pool),
    ),
    *(
        property_claim(f"K.2.2.tsf.{SHORT[name]}", "K 2.2, of [11]", "tsf", name, USED, proof=LEXIMIN_PROOFS.get(name, ""))
        for name in (PO, EF, SI)
    ),
    property_claim("K.2.2.tsf.bottleneck", "K 2.2, Fig. 1", "tsf", BF, USED, False, FIG1),
    Statement(
        "K.2.2.tsf.virtual",
        "TSF may not be max-min fair on a resource that is dominant for all in the virtual server.",
        "K 2.2",
        "some",
        hypotheses=USED,
        **about_mechanism("tsf", property_judge("global-bottleneck-fairness")),
    ),
    printed_claim(
        "K.2.2.Fig1.ps-dsf",
        "PS-DSF gives 2, 6, 8 and 8 tasks in Fig. 1.",
        "K 2.2",
        FIG1,
        printed_tasks("ps-dsf", "2", "6", "8", "8"),
    ),
    printed_claim(
        "K.2.2.Fig1.drfh", "DRFH gives 3, 3, 8 and 8 tasks in Fig. 1.", "K 2.2", FIG1, printed_tasks("drfh", "3", "3", "8", "8")
    ),
    printed_claim(
        "K.2.2.Fig1.gamma", "The users could run 4, 12, 20 and 20 tasks alone in Fig. 1.", "K 2.2", FIG1, printed_numbers(_fig1)
    ),
    printed_claim(
        "K.2.2.Fig1.tsf",
        "TSF gives 5/3, 5, 25/3 and 25/3 tasks in Fig. 1.",
        "K 2.2",
        FIG1,
        printed_tasks("tsf", "5/3", "5", "25/3", "25/3"),
    ),
    # ---- 2.3
    Statement(
        "K.2.3.one-server",
        "PS-DSF is DRF when there is one server.",
        "K 2.3",
        "all",
        hypotheses=POOL,
        proof="With one server z_n is the dominant share by weight, and Definition 4 is Definition 1. " + UNIQUE_BY_FILLING,
        **about_ps_dsf(as_one_pool),
    ),
    printed_claim(
        "K.2.3.gamma", "gamma is 4, 12, 4, 8 on server 1 and 16, 8 on server 2.", "K 2.3", FIG3, printed_numbers(_fig3_alone)
    ),
    printed_claim(
        "K.2.3.tasks", "PS-DSF gives 2, 6, 32/3 and 16/3 tasks.", "K 2.3", FIG3, printed_tasks("ps-dsf", "2", "6", "32/3", "16/3")
    ),
    printed_claim(
        "K.2.3.shares",
        "s_11 = s_21 = 0.5, s_31 = 8/3, s_41 = 2/3, s_32 = s_42 = 2/3.",
        "K 2.3",
        FIG3,
        printed_numbers(_fig3_shares),
    ),
    printed_claim("K.2.3.Fig2", "PS-DSF uses more of the resources than DRFH and TSF in this example.", "K Fig. 2", FIG3, _fig2),
    property_claim("K.2.3.pareto", "K 2.3", "ps-dsf", PO, USED, False),
    *(
        property_claim(
            f"K.Table1.{mechanism}.{SHORT[name]}",
            "K Table 1",
            mechanism,
            name,
            USED,
            name in marks,
            FALSE.get((mechanism, name)),
            table="K.Table1",
            proof=(PS_DSF_PROOFS if mechanism == "ps-dsf" else LEXIMIN_PROOFS).get(name, ""),
            note="TSF counts servers that a user may not use." if (mechanism, name) == ("tsf", SI) else "",
        )
        for mechanism, marks in MARKS.items()
        for name in (SI, EF, PO, BF)
    ),
    # ---- 3.1 and 3.2
    Statement(
        "K.3.1.existence",
        "Problem 1 has a Nash equilibrium, for any increasing, strictly concave, twice differentiable g_i.",
        "K 3.1, of [26]",
        "all",
        _equilibrium_found,
        equilibrium_exists,
        with_alpha(USED, (*BELOW, *ABOVE)),
        proof="For any increasing, concave, differentiable g_i on z > 0. Let 0 < e <= 1/2 and ask x_ni >= e phi_n gamma_ni / sum"
        " phi, as e times an equal division does: there U_i is continuous and, in x_i, concave on compact convex sets, so "
        "an equilibrium exists. With k_ni >= 0 for these bounds, g_i'(z_ni) / gamma_ni = sum_r lambda_ir d_nr - k_ni. Let "
        "L_i = sum_r lambda_ir c_ir, lambda_ir = 0 where c_ir = 0 (nobody who may use i demands r). As k_ni <= sum_r "
        "lambda_ir d_nr and gamma_ni d_nr <= c_ir, g_i'(z_ni) <= L_i, and sum_n k_ni x_ni <= e L_i; so times x_ni, summed,"
        " (1 - e) L_i <= sum_m (x_mi / gamma_mi) g_i'(z_mi). Let M be the largest g_i'(z_ni), and D = 1 / (4 sum phi). "
        "Where z_mi < D, x_mi / gamma_mi <= phi_m z_mi < phi_m D; elsewhere it is <= 1 and g_i'(z_mi) <= g_i'(D). So M / 2"
        " <= L_i / 2 <= M / 4 + N g_i'(D), hence M <= 4 N g_i'(D), whatever e. So z_ni stays away from 0 where g_i'(0+) is"
        " infinite, and L_i is bounded. In a limit for e to 0 g_i'(z_ni) / gamma_ni = sum_r lambda_ir d_nr - k_ni with "
        "k_ni x_ni = 0: (28)-(29), so x_i is best, as U_i is concave. For alpha = inf, which is tried too, take a limit "
        "for alpha to infinity (K.T2.limit).",
        note="Rosen needs U_i finite and continuous; g(0) may be -inf, which K does not treat. Tried by solving, for g' = "
        "z^-alpha.",
    ),
    Statement(
        "K.T1",
        "A feasible allocation solves Problem 1 for g' = z^-alpha iff it satisfies (16).",
        "K Theorem 1",
        "all",
        theorem_1_by_program,
        theorem_1_by_vertices,
        replace(with_alpha(USED, (2, 3, 1, F(1, 2), F(3, 2))), points=2),
        proof="Where all x_n > 0, U_i is concave and differentiable in x_i, with the derivatives z_ni^-alpha / gamma_ni, and "
        "(16) for server i is the condition that x_i is best in a convex set. Where some x_n = 0, (16) is not defined, and x is "
        "no solution: let server i of n go the part t of the way to an equal division. For alpha >= 1 U_i rises from -inf; for "
        "alpha < 1 who had nothing gains in the order of t^(1 - alpha), and others change by the order of t.",
        note="For all alpha > 0, as K says; tried for five.",
    ),
    Statement(
        "K.T2.proportional",
        "For alpha = 1 the allocation is weighted proportionally fair.",
        "K Theorem 2",
        "all",
        hypotheses=with_alpha(USED, (1,)),
        proof="It satisfies (16) by Theorem 1, whose terms for alpha = 1 are phi_n (y_ni - x_ni) / x_n; the sum over servers is "
        "(62).",
        **about_equilibria(proportional),
    ),
    Statement(
        "K.T2.limit",
        "The allocation approaches a PS-DSF allocation as alpha goes to infinity.",
        "K Theorem 2",
        "all",
        hypotheses=with_alpha(USED, (10, 100, 1000)),
        proof="At every server of n, with w_nr <= 1 the part of r that a monopoly takes and mu_r the price of all of r, sum_r "
        "w_nr mu_r >= z_n^-alpha (29), so some r that n demands has mu_r >= z_n^-alpha / R > 0 and is full. Who is served and "
        "demands r has w_mr mu_r <= z_m^-alpha, so z_m / z_n <= (R / w_mr)^(1/alpha), which tends to 1. Since tasks stay away "
        "from 0 (41), in a limit point n has a bottleneck at every server (P.T1).",
        note="K's proof lets h tend to 0 where a user's part vanishes in the limit; the rate log(R / w) / "
        "alpha, which is tried, does not.",
        **about_equilibria(limit_rate),
    ),
    printed_claim("K.3.2.server1", "On server 1 the allocation is that of PS-DSF for every alpha.", "K 3.2", FIG3, _fig3_server1),
    printed_claim(
        "K.3.2.Fig3",
        "On server 2 less is used as alpha grows, and dominant shares come closer.",
        "K Fig. 3",
        FIG3,
        _fig3_efficient,
    ),
    # ---- 3.3
    *(
        equilibrium_claim(
            id_,
            f"Equilibria have {name} for alpha >= 1.",
            "K Theorem 3",
            name,
            with_alpha(USED, ABOVE),
            proof=PROOFS_ALPHA[name],
        )
        for id_, name in (("K.T3.envy", EF), ("K.T3.sharing", SI))
    ),
    equilibrium_claim(
        "K.T3.envy.letter",
        "Nobody prefers the totals x_m d_m of another, scaled by the weights, wherever they lie, for alpha >= 1.",
        "K Theorem 3 with (1) to the letter",
        "total-envy-freeness",
        with_alpha(USED, ABOVE),
        note="(65) needs a server that m uses and n may use. With resources that n may use the claim is K.T3.envy.",
    ),
    equilibrium_claim(
        "K.T3.pareto",
        "The equilibrium is Pareto optimal for alpha = 1.",
        "K Theorem 3",
        PO,
        with_alpha(USED, (1,)),
        proof="(62), see K.T2.proportional, says that it maximises the concave sum phi_n log x_n, which rises in every x_n.",
    ),
    Statement(
        "K.3.3.one-server",
        "With one server the mechanism is alpha-proportional fairness on dominant shares.",
        "K 3.3",
        "all",
        hypotheses=with_alpha(POOL, (0.5, 1, 2, 3)),
        proof="With one server Problem 1 is the program of FDS, max sum phi_n g(s_n / phi_n); it is strictly concave, so x_n is "
        "unique.",
        **about_equilibria(same_as_fds),
    ),
    *(
        equilibrium_claim(
            f"K.3.3.fds.{SHORT[name]}",
            f"alpha-proportional FDS need not have {name} for alpha < 1.",
            "K 3.3, of [2]",
            name,
            with_alpha(POOL, BELOW),
            False,
        )
        for name in (SI, EF)
    ),
    *(
        equilibrium_claim(
            f"K.3.3.below.{SHORT[name]}",
            f"Equilibria may lack {name} for alpha < 1.",
            "K 3.3",
            name,
            with_alpha(USED, BELOW),
            False,
        )
        for name in (SI, EF)
    ),
    Statement(
        "K.T4",
        "Where every server has a bottleneck resource, the solutions of Problem 1 are the PS-DSF allocations.",
        "K Theorem 4",
        "all",
        hypotheses=with_alpha(replace(USED, server_bottleneck=True), WHOLE),
        proof="Only the bottleneck limits its server, whose load is sum_m x_mi / gamma_mi: others' are not larger. So x_i "
        "solves Problem 1 iff, with one price mu, g'(z_n) = mu > 0 for who is served and <= mu for others, which is, since g' "
        "falls strictly: the server is full and who is served has the least z. And that is Theorem 1 of P: 1 = load of n's "
        "bottleneck r <= sum of x_mi / gamma_mi over the m who demand r <= load of the server <= 1, so r serves all who are "
        "served, and none has a larger z than n.",
        **same_as_ps_dsf(),
    ),
    Statement(
        "K.3.3.max-min",
        "There the equilibrium is max-min fair on the bottleneck resource of each server.",
        "K 3.3, after Theorem 4",
        "all",
        hypotheses=with_alpha(replace(USED, server_bottleneck=True), (0.5, *ABOVE)),
        proof=BOTTLENECK_ALPHA,
        **about_equilibria(property_judge("server-bottleneck-fairness")),
    ),
    equilibrium_claim(
        "K.3.3.bottleneck",
        "The equilibrium is max-min fair on a resource that is the bottleneck of the whole system.",
        "K 3.3",
        BF,
        with_alpha(replace(USED, bottleneck=True), (0.5, *ABOVE)),
        proof=BOTTLENECK_ALPHA + " The order of z at a server is that of amounts of the resource by weight.",
    ),
    Statement(
        "K.C1",
        "At a server with a bottleneck resource the equilibrium is max-min fair on it.",
        "K Corollary 1",
        "all",
        hypotheses=with_alpha(USED, (0.5, *ABOVE)),
        proof=BOTTLENECK_ALPHA,
        note="Cases without such a server decide nothing.",
        **about_equilibria(property_judge("server-bottleneck-fairness")),
    ),
    # ---- 3.4
    Statement(
        "K.T5",
        "On servers that are shared in time, the solutions of Problem 2 are the PS-DSF allocations, for any g.",
        "K Theorem 5",
        "all",
        hypotheses=with_alpha(USED, WHOLE),
        proof="Time is the one resource of each server, so Theorem 4 applies: its proof asks of g that g' is positive and falls "
        "strictly.",
        **same_as_ps_dsf(time_shared),
    ),
    *(
        equilibrium_claim(
            f"K.3.4.mixed.{SHORT[name]}",
            f"Equilibria have {name} with alpha_i >= 1 of each server.",
            "K 3.4",
            name,
            with_alpha(USED, MIXED),
            proof=PROOFS_ALPHA[name],
        )
        for name in (SI, EF)
    ),
    Statement(
        "K.3.4.mixed.definition",
        "With alpha_i of each server, a feasible allocation solves Problem 1 iff it satisfies (16) with them.",
        "K 3.4",
        "all",
        theorem_1_by_program,
        theorem_1_by_vertices,
        replace(with_alpha(USED, MIXED_HALVES), points=2),
        proof="The proof of Theorem 1 (K.T1) is about one server at a time, and other servers' alpha is not in it.",
    ),
    Statement(
        "K.3.4.mixed.limit",
        "The equilibrium satisfies PS-DSF with respect to server i as alpha_i goes to infinity, whatever alpha_j others have.",
        "K 3.4",
        "all",
        hypotheses=with_alpha(USED, LIMITS),
        proof="The proof of K.T2.limit is about one server: z_m / z_n <= (R / w_mr)^(1/alpha_i) there. Its users stay away from "
        "0 by its own part of (71), 1 / z_ni <= sum_m phi_m x_mi / x_m <= sum phi, which needs alpha_i >= 1 alone "
        "(K.T3.sharing).",
        note="Tried by the rate log(R / w) / alpha_i, at servers with alpha_i >= 10.",
        **about_equilibria(limit_rate_of_servers),
    ),
    Statement(
        "K.3.4.mixed.one",
        "If alpha_i = 1 for every server, whatever A and B, the equilibrium is proportionally fair.",
        "K 3.4 with Theorem 2",
        "all",
        hypotheses=with_alpha(USED, (1,), A=(1, 2), B=(1, 0.5)),
        proof="Every g_i' is a multiple of 1 / z, so (16) at each server is that for alpha = 1: K.T2.proportional.",
        **about_equilibria(proportional),
    ),
    *(
        equilibrium_claim(
            f"K.C2.{SHORT[name]}",
            f"Equilibria have {name} for g' of (22) and alpha_i >= 1.",
            "K Corollary 2",
            name,
            with_alpha(USED, (2, 3, 1.5, 10, (1, 3, 2)), A=(1, 2, 0.5, (1, 0, 2)), B=(1, 0.1, 5)),
            proof=PROOFS_ALPHA[name] + " z g'(z) = A^alpha z^(1 - alpha) + B does not rise.",
        )
        for name in (SI, EF)
    ),
    Statement(
        "K.C3",
        "The equilibrium for (22) satisfies PS-DSF with respect to server i as alpha_i goes to infinity, if all shares there are "
        "at most A_i.",
        "K Corollary 3",
        "all",
        hypotheses=with_alpha(USED, (10, 100), A=(5, 10, 50), B=(1, 0.1)),
        proof="At server i, for z <= A and alpha >= 1, B / z <= (B / A) (A / z)^alpha, so g' is between (A / z)^alpha and 1 + B "
        "/ A times that. As for K.T2.limit, z_m / z_n <= (R (1 + B / A) / w_mr)^(1/alpha), which tends to 1; and its users stay "
        "away from 0 as for K.3.4.mixed.limit, since z g'(z) does not rise.",
        note="Tried with one alpha for all servers.",
        **about_equilibria(limit_rate),
    ),
    # ---- 4
    Statement(
        "K.L1",
        "(x, lambda) solves (28)-(29) iff it solves Problem 3.",
        "K Lemma 1",
        "all",
        floats.complementary,
        problem_3.complementary,
        replace(with_alpha(USED, (2, 1, 3), price=(1, 0, F(1, 2), 2)), points=1),
        proof="(38)-(40) is (28). psi(a, b) >= 0, and it is 0 iff a, b >= 0 and ab = 0, so the sum Psi is 0 iff (29) holds. And "
        "0 is the minimum of Problem 3, since (28)-(29) has a solution (K.3.1.existence).",
        note="K's proof does not say why the minimum is 0. Tried as: Psi = 0 iff (29) holds.",
    ),
    Statement(
        "K.T6",
        "A feasible point solves Problem 3 iff grad Psi = 0.",
        "K Theorem 6",
        "all",
        floats.stationary,
        problem_3.stationary,
        replace(with_alpha(USED, (2, 1, 3), price=(1, 0, F(1, 2), 2)), points=1),
        proof="The derivatives by x_ni, times dpsi_ni/df f'_ni and summed over i, are sum_i dpsi_ni/dx dpsi_ni/df f'_ni + "
        "(sum_i dpsi_ni/df f'_ni)^2, both >= 0 by (98), for each n (96). Where they are 0, dpsi/dx dpsi/df = 0 as f' > 0, which "
        "for (36) is so only where psi = 0; the gradient by lambda is not needed. Conversely where Psi = 0, its least value, "
        "the gradient is 0; and the minimum of Problem 3 is 0, since (28)-(29) has a solution (K.3.1.existence).",
        note="Stationary in the whole space. At a minimum of Problem 3 over (38)-(40) that is not a solution "
        "the gradient need not be 0.",
    ),
    equilibrium_claim(
        "K.E41",
        "x_n >= phi_n sum_i gamma_ni / sum phi for alpha >= 1.",
        "K (41)",
        SI,
        with_alpha(USED, ABOVE),
        proof=PROOFS_ALPHA[SI],
    ),
    Statement(
        "K.4.4.bounded",
        "The multipliers of solutions are bounded.",
        "K 4.4",
        "all",
        bounded_multipliers,
        bounded_multipliers_exactly,
        USED,
        note="K 2 allows c_ir = 0, and Fig. 1 has it. With positive capacities a resource with a price is "
        "full, so somebody uses it, "
        "and (43) bounds it.",
    ),
    Statement(
        "K.L2",
        "The solution set of the NCP is connected, for (22) and alpha_i >= 1.",
        "K Lemma 2",
        "all",
        two_solutions,
        two_solutions_exactly,
        SEVERAL,
        **UNIQUE,
        note="The proof applies results on P0 functions without showing that there is one. Tried with A = 1 and several B; "
        "two isolated solutions refute it, K.C4 and K.3.4.unique. True for one server, for alpha = 1, and where every server has "
        "a bottleneck resource (Theorem 4): docs/ERRATA.md.",
    ),
    Statement(
        "K.C4",
        "Problem 3 has a unique solution iff it has a locally unique one, for (22) and alpha_i >= 1.",
        "K Corollary 4",
        "all",
        two_solutions,
        two_solutions_exactly,
        SEVERAL,
        **UNIQUE,
        note="It rests on Lemma 2. A solution that is isolated is locally unique; here there are two.",
    ),
    Statement(
        "K.T7",
        "With alpha_i >= 1, B_i > 0 and one priced resource at each server, x_n is locally unique.",
        "K Theorem 7",
        "all",
        (
            undecided := missing(
                "neither K's proof nor the one below covers full resources without a price, which may have one near by"
            )
        ),
        undecided,
        with_alpha(USED, (2,), A=(1,), B=(1,)),
        note="K's proof rests on (107), which is false: K.E107. It is true where all other resources have slack (an argument of "
        "ours, read by a second reader on 2026-11-22): solutions that accumulate contain an analytic arc along which some "
        "x_n moves (curve selection). With one price a server, lambda_i d_nr = g_i' / gamma_ni: all served x_n move against"
        " lambda_i. So, on the arc or back on it, some servers serve just the users who rise, who are served nowhere else. "
        "These equations tie x_m to x_n by analytic functions, hence on to infinity, where g_i' is a multiple of 1 / z, so "
        "with l_n = lim x_n / x_1 there, d_nr l_n / phi_n is the same for all served at i. What is full keeps sum_n d_nr "
        "x_ni, hence sum_n x_n phi_n / l_n over these users; but all of them rise.",
    ),
    Statement(
        "K.E105",
        "With weights of 1, omega of (106) makes (105) the first order of (101) where (104) holds.",
        "K (105)-(106), where phi_n = 1; with other weights the term of B lacks phi_n (K.E104)",
        "all",
        theorem_7.omega_in_floats,
        theorem_7.omega,
        replace(with_alpha(replace(USED, equal_weights=True), (2, 3, 1), A=(1, 2), B=(1, 0.5, 0)), points=1),
        proof="The right side of (104) is h = F + B / x, F a multiple of x^-alpha, so -dh/dx = alpha F / x + B / x^2, and with F"
        " = h - B / x this is alpha h / x + B (1 - alpha) / x^2.",
    ),
    Statement(
        "K.E107",
        "At a solution with one priced resource at each server and B_i > 0, the matrix [D, V] of (107) has column rank N + S.",
        "K Theorem 7, proof",
        "all",
        theorem_7.rank_in_floats,
        theorem_7.rank,
        replace(with_alpha(USED, (2, 3), A=(1, 2), B=(1, 0.5)), points=1),
        printed=theorem_7.ALIKE,
        note="A case of ours: two alike users and servers, where (-3, -3, 1, 1) is in the kernel. That no column of D is a "
        "combination of columns of V, nor the other way round, does not make all of them independent. Here (102) excludes "
        "that change; of the theorem see K.T7.",
    ),
    Statement(
        "K.T7.bottleneck",
        "With B_i > 0 and a bottleneck resource at each server, x_n is unique.",
        "a case of K Theorem 7",
        "all",
        _unique_in_floats,
        unique_by_market,
        with_alpha(replace(USED, server_bottleneck=True), (2, 3, 5), A=(1, 2), B=(1, 0.1)),
        **UNIQUE,
        proof="By Theorem 4, whose proof asks of g only that g' falls strictly, the solutions are those for g = log, which "
        "maximise sum phi_n log x_n: x_n is unique.",
    ),
    Statement(
        "K.3.4.unique",
        "For (22) with B_i > 0 the solution of Problem 1 is unique in x_n.",
        "K 3.4",
        "all",
        two_solutions,
        two_solutions_exactly,
        SEVERAL,
        **UNIQUE,
        note="K 3.4 says so without the condition of Theorem 7, which grants local uniqueness at most; the rest is Corollary 4.",
    ),
    Statement(
        "K.3.4.ties",
        "With B = 0 the tasks of an equilibrium need not be unique, for two users and two servers.",
        "beside K 3.4, which has B_i > 0",
        "some",
        one_equilibrium_in_floats,
        one_equilibrium,
        replace(with_alpha(USED, (3, 2)), positive=True, everywhere=True, points=2),
        printed=TIED,
        note="A case of ours. At each server the worth of both users' tasks is in the ratio of their demands for a full "
        "resource, so it may choose on an edge; the edges have different slopes, and along them both users have more, from (2, "
        "2) to (12/5, 12/5).",
    ),
    Statement(
        "K.E104",
        "Where a user is served and one resource has a price, d lambda is (104).",
        "K (104), and alike (103) and (106)",
        "all",
        price_by_104_in_floats,
        price_by_104,
        replace(with_alpha(USED, (2, 3, 1), A=(1, 2), B=(1, 0.5, 0)), points=1),
        note="The terms of B lack phi_n; with equal weights of 1 they are right, K.E104.equal. Theorem 7's matrix keeps its "
        "form.",
    ),
    Statement(
        "K.E104.equal",
        "With weights of 1, d lambda is (104).",
        "K (104), where phi_n = 1",
        "all",
        price_by_104_in_floats,
        price_by_104,
        replace(with_alpha(replace(USED, equal_weights=True), (2, 3, 1), A=(1, 2), B=(1, 0.5, 0)), points=1),
        proof="g' / gamma = (phi gamma A / x)^alpha / gamma + B phi gamma / (x gamma), with phi = 1.",
    ),
    # ---- 5
    *(_of_ps_mfa("K.L3", DESCENDS, directions.descends, floats.descends, directions.LEMMA_3, letter) for letter in (False, True)),
    Statement(
        "K.E110",
        "The slope of Psi along v_x is at most -|v_x|^2.",
        "K (110), the proof of Lemma 3",
        "all",
        floats.projection_descends,
        problem_3.projection_descends,
        replace(with_alpha(USED, (2, 1, 3), price=(1, 0, F(1, 2), 2)), points=1),
        proof="v_x is the point of the cone (46) nearest to -grad, so (grad + v_x) . (w - v_x) >= 0 for every w in it, and w = 0"
        " is.",
    ),
    Statement(
        "K.E116",
        "Where v_x = 0 at a server and the d_r of its full resources are independent, beta_r = 0 only when varsigma_r = 0.",
        "K after (116), the proof of Lemma 4",
        "all",
        directions.factors_in_floats,
        directions.factors,
        replace(with_alpha(USED, (directions.LEMMA_4.parameters["alpha"],)), points=1),
        printed=directions.LEMMA_4,
        note="The point of K.L4. beta_r = d_r . sum_q varsigma_q d_q is 0 too where the other full resources make up for r. True"
        " if beta = 0 for all full resources, as under Assumption 1: |sum_r varsigma_r d_r|^2 = sum_r varsigma_r beta_r = "
        "0.",
    ),
    Statement(
        "K.E111",
        "dPsi/dlambda v_lambda < 0 for each price that moves.",
        "K (111), the proof of Lemma 3",
        "all",
        floats.descent_by_price,
        problem_3.descent_by_price,
        replace(with_alpha(USED, (2,), price=(1,)), points=1),
        note="Where dPsi/dlambda = 0 and beta > 0, (47) has U(0) = 1 and v_lambda = beta: the price moves, and "
        "Psi does not fall with it.",
    ),
    Statement(
        "K.E48",
        "From a point that satisfies (38)-(40), a small step in the direction (46)-(48) leads to one that does.",
        "K 5.1: (48) is 'to maintain feasibility', (40) is part of that",
        "all",
        floats.stay_complementary,
        problem_3.stay_complementary,
        replace(with_alpha(USED, (2, 1, 3), price=(1, 0)), users=1, points=1),
        note="(47) moves the price of every resource, and (48) keeps it from falling below 0 only: where a resource has room and "
        "who demands it has f < 0, its price rises from 0, against (40). K computes v by these formulas for all i and r. The "
        "repair that (40) suggests, and that K.L3, K.L4 and K.T8 are read with: prices of resources with room stay 0. These "
        "three fail in both readings.",
    ),
    *(_of_ps_mfa("K.L4", STOPS, directions.stops, floats.stops, directions.LEMMA_4, letter) for letter in (False, True)),
    Statement(
        "K.L4.priced",
        "Where every full resource has a price, v = 0 only where the gradient by x is 0.",
        "K Lemma 4 under Assumption 1",
        "all",
        floats.zero_direction,
        problem_3.zero_direction,
        replace(with_alpha(USED, (2, 1, 3), price=(1, F(1, 2), 2)), points=1),
        proof="v_lambda = 0 needs dPsi/dlambda = beta = 0 if lambda > 0 (47); by (115) |grad_x|^2 = sum varsigma_r beta_r = 0.",
    ),
    *(_of_ps_mfa("K.T8", ENDS, directions.stops, floats.stops, directions.LEMMA_4, letter) for letter in (False, True)),
    Statement(
        "K.T8.steps",
        "With steps that satisfy (51)-(53), PS-MFA ends at a stationary point of Psi, or |v| tends to 0.",
        "K Theorem 8 and its proof",
        "all",
        small_steps.tried,
        small_steps.confirmed,
        replace(with_alpha(USED, (2, 1, 3), first=(F(1, 2), F(1, 4), F(1)), shrink=(F(1, 2), F(3, 4))), outsiders=True, points=1),
        printed=small_steps.RUN,
        reading="of a repaired text",
        note="A run of ours. (51) asks for a decrease, and not for how much: with steps that become small quickly x tends to a "
        "point that is not stationary. Prices of resources with room stay 0 (K.E48). The parameters are the rule of the steps: "
        "first (t - x) / M shrink^h, see small_steps.py.",
    ),
    Statement(
        "K.T8.start",
        "From its own start PS-MFA with Armijo's rule instead of (51) ends at a stationary point of Psi, so at an equilibrium.",
        "K Theorem 8, with other steps",
        "run",
        converges("alpha-pf-vds", "ps-mfa"),
        converges_exactly("alpha-pf-vds", "ps-mfa"),
        with_alpha(USED, (1, 2)),
        note="With (51) alone it may end anywhere: K.T8.steps. Runs that are cut off decide nothing. From the witness of K.L3, a "
        "feasible point, no step is possible.",
    ),
    Statement(
        "K.5.2",
        "The distributed algorithm converges.",
        "K 5.2",
        "run",
        converges("alpha-pf-vds", "vds-distributed"),
        converges_exactly("alpha-pf-vds", "vds-distributed"),
        with_alpha(USED, (1, 2, 3)),
        note="K shows it by numerical experiments.",
    ),
    Statement(
        "K.5.2.rest",
        "With given lambda, an iteration (55)-(56) changes nothing iff (29) holds.",
        "K 5.2",
        "all",
        floats.rests,
        problem_3.rests,
        replace(with_alpha(USED, (2, 1, 3), price=(1, 0, F(1, 2), 2)), points=1),
        proof="Where x_ni > 0, v = -f, and [x + kappa v]^+ = x iff v = 0. Where x_ni = 0, v = max(-f, 0) >= 0, so x stays iff f "
        ">= 0. Together this is (29).",
    ),
    Statement(
        "K.E57",
        "Where (55)-(57) rest, x and lambda solve (28)-(29) with capacities that tend to c_ir as epsilon tends to 0, for "
        "alpha_i >= 1.",
        "K 5.2, (57): 'a better approximation is achieved when epsilon tends to 0'",
        "all",
        approximate_prices_in_floats,
        approximate_prices,
        replace(USED, parameters={"epsilon": (F(1, 4), F(1, 16), F(1, 100))}, points=1),
        note="Tried as: x_n >= (1 - e) times (41) for alpha = 1, at each server as a system of its own, with weights for which "
        "it rests. True, by an argument of ours that nobody else has read yet: (29) holds by K.5.2.rest. By (57) the load of r "
        "is c_ir - epsilon + epsilon^2 lambda_ir where lambda_ir > 0, and at most c_ir - epsilon elsewhere: this is (28) for "
        "capacities that are these loads there. They tend to c_ir if prices are bounded. At server i, with e = epsilon / min_r "
        "c_ir of what somebody there demands, loads with a price are at least 1 - e of c_ir, so g'(z_ni) <= sum_r lambda_ir "
        "c_ir <= sum_m (x_mi / gamma_mi) g'(z_mi) / (1 - e), and as for K.T3.sharing x_n is at least 1 - e times (41). What has "
        "a price is used, by m: lambda_ir d_mr <= g'(z_mi) / gamma_mi, as in (43).",
    ),
    Statement(
        "K.Fn8",
        "(57) is the same as adding the quadratic function of footnote 8 to the objective and relaxing (13).",
        "K footnote 8",
        "all",
        penalty_in_floats(printed=True),
        penalty(printed=True),
        replace(USED, points=1),
        note="What is added is to be maximised, so it has the wrong sign, and below c - epsilon it is not 0. True: K.Fn8.true.",
    ),
    Statement(
        "K.Fn8.true",
        "(57) is the same as relaxing (13) and subtracting ([sum_m x_mi d_mr - c_ir + epsilon]^+)^2 / (2 epsilon^2).",
        "true instead of K footnote 8",
        "all",
        penalty_in_floats(printed=False),
        penalty(printed=False),
        replace(USED, points=1),
        proof="Its derivative by x_ni is [...]^+ d_nr / epsilon^2 = lambda_ir d_nr, so that of the objective is g' / gamma - "
        "sum_r lambda_ir d_nr = -f_ni, which is (55) while x_ni > 0.",
    ),
    # ---- 6
    Statement(
        "K.6.2.utilisation",
        "In every system of one server the mean utilisation is larger for smaller alpha.",
        "K 6.2, read for each system instead of averages over runs",
        "all",
        hypotheses=replace(USED, one_server=True),
        note="K's own claims are K.6.2.Fig7 and K.6.2.Fig9. On several servers an equilibrium need not be unique, and its "
        "utilisation may be anything in an interval; on one server it is unique.",
        reading="ours",
        **not_rising_in_alpha(utilisation),
    ),
    Statement(
        "K.6.2.deviation",
        "In every system of one server the mean deviation (58) is larger for smaller alpha.",
        "K 6.2, read for each system instead of averages over an hour",
        "all",
        hypotheses=replace(USED, one_server=True, positive=True, everywhere=True),
        note="K's own claim is K.6.2.Fig10. On several servers the deviation of an equilibrium depends on where its tasks are, "
        "which is one answer's choice; on one server there is one.",
        reading="ours",
        **not_rising_in_alpha(_deviation),
    ),
    Statement(
        "K.E58",
        "Under PS-DSF, who has tasks on a server has the least share there, if everybody demands every resource.",
        "K 6.2, before (58)",
        "all",
        hypotheses=replace(USED, positive=True),
        proof="Whoever is served at i uses every resource there, n's bottleneck too, so its share is at most n's, for every n "
        "(P 13).",
        **about_ps_dsf(least_served),
    ),
    Statement(
        "K.5.1.eligible",
        "The direction (46) keeps x_ni = 0 for users who are not eligible.",
        "K 5.1, (15) and (46)",
        "all",
        projection_in_floats,
        _projection_exactly,
        USED,
        note="Assumption 2 asks for such users. One server, one full resource, d = (1, 1), user 2 not eligible: v = (1/2, -1/2).",
    ),
    printed_claim(
        "K.6.3.proportional",
        "The resources of the first two classes of Fig. 4 are almost in proportion to those of the whole cluster.",
        "K 6.3",
        CLUSTER,
        _almost_proportional,
        note="With the counts 8, 68, 33 and 11 of P Fig. 5, which has the same classes and 120 servers too; K prints none. "
        "Read as: nearer to it than the other classes, by less than a tenth.",
    ),
    *(_experiment(*claim) for claim in EXPERIMENTS),
]
