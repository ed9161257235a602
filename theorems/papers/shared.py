"""What the claims of several papers share: properties by name, hypotheses, proofs, and statements made of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import Row, about_mechanism, certified, printed_numbers
from fairalloc.theorems.judges.game import about_ps_dsf, misreporting_for_every_choice
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.proofs import Proof
from fairalloc.theorems.statement import Hypotheses, Statement

ANY = Hypotheses(users=2)
"""P II: heterogeneous servers, placement constraints, weights."""

USED = replace(ANY, no_idle_server=True)
"""K 2: the same, and every server has an eligible user."""

POOL = Hypotheses(one_server=True, everywhere=True, users=2)
"""P II-A: one pool."""

DRFH_WITHOUT_SHARING = Case(example("wang-prop4").instance)
"""W Proposition 4: drfh without sharing incentive."""

EF, SI, PO, SP = "envy-freeness", "sharing-incentive", "pareto", "strategyproofness"
BF, SRF = "bottleneck-fairness", "single-resource-fairness"
SHORT = {EF: "envy", SI: "sharing", PO: "pareto", SP: "misreports", BF: "bottleneck", SRF: "single-resource"}
SAYS = {
    EF: "is envy-free",
    SI: "provides sharing incentive",
    PO: "is Pareto optimal",
    SP: "is strategyproof, about demands and eligible servers",
    BF: "is max-min fair on a resource that everybody dominantly requests at every server it may use",
    SRF: "is max-min fair with a single resource",
}


def assuming(hypotheses: Hypotheses, name: str) -> Hypotheses:
    """The hypotheses with what the property itself assumes."""
    return replace(
        hypotheses, bottleneck=hypotheses.bottleneck or name == BF, one_resource=hypotheses.one_resource or name == SRF
    )


def property_claim(
    id_: str,
    place: str,
    mechanism: str,
    name: str,
    hypotheses: Hypotheses,
    holds: bool = True,
    printed: Case | None = None,
    **more: Any,
) -> Statement:
    """That a mechanism has, or has not, a property."""
    check = about_mechanism(mechanism, property_judge(name))
    if mechanism == "ps-dsf":
        check = about_ps_dsf(misreporting_for_every_choice if name == SP else property_judge(name), name)
    says = SAYS[name] if holds else f"does not satisfy: {SAYS[name]}"
    return Statement(
        id=id_,
        text=f"{mechanism} {says}.",
        place=place,
        quantifier="all" if holds else "some",
        hypotheses=assuming(hypotheses, name),
        misreports=1 if name == SP else 0,
        printed=printed,
        property=name,
        **check,
        **more,
    )


def printed_claim(id_: str, text: str, place: str, case: Case, confirm: Callable[[Case], Verdict], **more: Any) -> Statement:
    """A claim about one printed case."""
    return Statement(id_, text, place, "one", confirm, confirm, printed=case, **more)


def printed_tasks(mechanism: str, *printed: str) -> Callable[[Case], Verdict]:
    """The check of printed tasks."""

    def rows(case: Case) -> Sequence[Row]:
        h = certified(case.instance, mechanism)
        return [(f"x_{n + 1}", text, h.tasks[n]) for n, text in enumerate(printed)]

    return printed_numbers(rows)


def monopoly(instance: Instance, n: int, i: int) -> Fraction:
    """gamma_ni in rationals, placement ignored; 0 where the server lacks what n demands."""
    if instance.exact.demands_on or not instance.single_variant:
        raise NotApplicable("gamma is computed for one demand vector a user")
    demand, pool = instance.exact.demands[n][0], instance.exact.capacities[i]
    count = int(instance.counts[i])
    return min(count * c / d for c, d in zip(pool, demand, strict=True) if d)


PS_DSF_PROOFS = {
    EF: Proof(
        "ps-dsf: envy-freeness",
        "At a server i of n that m uses, the bottleneck r of n is full. If d_mr = 0, n can run nothing with what m has there. "
        "Else z_ni >= z_mi, that is gamma_ni / gamma_mi <= (x_n / phi_n) (phi_m / x_m); and as m has at most the part x_mi / "
        "gamma_mi of every resource, phi_n / phi_m times that lets n run at most (phi_n / phi_m) gamma_ni x_mi / gamma_mi <= x_n "
        "x_mi / x_m tasks. The sum over i is at most x_n.",
    ),
    SI: Proof(
        "ps-dsf: sharing incentive",
        "At an eligible server i let r be n's bottleneck and w_mir <= 1 the part of it that a monopoly of m takes. 1 = sum of "
        "w_mir x_mi / gamma_mi <= sum of x_mi / gamma_mi over the m who use r, and these have z_mi <= z_ni, that is gamma_ni / "
        "gamma_mi <= (x_n / phi_n) (phi_m / x_m). So gamma_ni <= (x_n / phi_n) sum_m phi_m x_mi / x_m, and the sum over i is at "
        "most x_n sum phi / phi_n.",
    ),
    BF: Proof(
        "ps-dsf: bottleneck fairness",
        "At a server i that somebody may use let r be n's bottleneck and rho the resource that all dominantly request, with one "
        "resource that one. 1 = load of r <= sum of x_mi / gamma_mi over the m who demand r <= the same over all m = load of "
        "rho <= 1, so rho is full, all who have tasks there use r, and none of them has a larger z than n. As z_mi = x_m "
        "d_m,rho / (phi_m c_i,rho), the order of z at a server is that of amounts of rho by weight: rho is a bottleneck of n by "
        "amounts, and users with at most a given amount hold all of rho on all servers they may use.",
    ),
}

LEXIMIN_PROOFS = {
    PO: Proof(
        "lexicographic shares: Pareto",
        "An answer is lexicographic: no share v_n = sigma_n x_n / phi_n can be raised without lowering some v_m <= v_n. A Pareto "
        "improvement would raise one and lower none.",
    ),
    EF: Proof(
        "lexicographic shares: envy-freeness",
        "No v_n = sigma_n x_n / phi_n can be raised without lowering some v_m <= v_n, and d_m >= t d_n gives sigma_m >= t "
        "sigma_n (drf, drfh: max_r d_r / c_r; tsf: 1 / sum_i min_r c_ir / d_r). If n envied m, then n is below its limit, if it "
        "has one, t = min of d_mr / d_nr over what n demands is positive, m has tasks on servers that n may use, and x_n < t "
        "x_m phi_n / phi_m, so v_n < v_m. A little of these tasks, cut, would free resources for n: v_n could be raised by "
        "lowering v_m alone.",
    ),
    SP: Proof(
        "lexicographic shares: misreports",
        "Let x be the answer to the truth and x' that to a misreport by which n gains: where n may truly run, its bundles "
        "suffice for t > x_n true tasks, so its reported demands are at least t / x'_n times the true ones. As sigma ignores "
        "placement and rises with demands (see envy-freeness), v'_n >= sigma_n t / phi_n > v_n. Since x is lexicographic, "
        "somebody with v_m <= v_n loses; let m have the least v_m of all who lose, so v'_m < v_m <= v_n < v'_n. No other k with "
        "v'_k <= v'_m gains: it would have v_k < v_m, and a step from x towards x' with n's t tasks would raise v_k and lower "
        "only larger shares. So a step from x' towards x without n's tasks, which is feasible for the report, raises v'_m and "
        "lowers no share that is at most v'_m: x' is not lexicographic.",
    ),
}
"""Of drf, drfh and tsf with one demand vector a user, whatever the demands, weights, placement and limits."""

EQUAL_DIVISION = Proof(
    "an equal division",
    "The part phi_n / sum phi of every server for everybody gives everybody the share x_n / (phi_n gamma_n) = 1 / sum phi. The "
    "least share is as large as it can be, so nobody has less than that.",
)
"""Of drf on one server, and of tsf where everybody may use every server."""

ONE_BOTTLENECK = Proof(
    "one bottleneck in a pool",
    "Shares are amounts of that resource by weight, in parts of it, so sum phi_n v_n <= 1. The part phi_n / sum phi of it for "
    "everybody is feasible, for nobody takes a larger part of another resource; so the least v_n is at least 1 / sum phi, all "
    "are equal, and the resource is full.",
)

DRF_PROOFS = {**LEXIMIN_PROOFS, SI: EQUAL_DIVISION, BF: ONE_BOTTLENECK, SRF: ONE_BOTTLENECK}
"""Of drf on one server."""

UNIQUE_BY_FILLING = Proof(
    "progressive filling is unique",
    "One answer at most has no share that can be raised without lowering one that is at most as large: where two differ, let n "
    "have the least share in either of all users whose shares differ; the other answer raises it and lowers nobody with at most "
    "as much. Progressive filling gives such an answer: who is not at its limit demands a full resource that nobody with a "
    "larger share uses.",
)
"""Why what is lexicographic in one pool is what progressive filling gives."""
