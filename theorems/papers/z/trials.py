"""How the claims of Z (LMMF and NB) in statements.toml are tried and confirmed, by their ids; printed examples by assertions.

First the linear programs of LMMF (III-A), how many steps NB takes (Proposition 2), and its market (Proposition 5).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction as F
from functools import partial
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.dual_solutions import BoundsCertificate
from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.checked import asserted, checked
from fairalloc.theorems.checkers.trials import (
    Answer,
    Routes,
    Undecided,
    about_mechanism,
    certified,
    exact_verdict,
    few_rounds,
    holdings_of,
    is_nash_bargain,
    leximin,
    once,
    only_where,
    property_judge,
    verdict_of,
)
from fairalloc.theorems.papers.z import utilities
from fairalloc.theorems.papers.z.utilities import of_two_points, pivots_of, step_of_theorem_1


def linear_programs(case: Case, answer: Answer) -> Verdict:
    """Footnote 1: iteration t is max a s.t. user n runs a_i tasks if it was placed in iteration i < t, and a if in none.

    The value is the next level of the LMMF answer, and parts of what the tasks take are worth exactly this much to everybody.
    """
    h = holdings_of(answer(case.reported))
    size, same = h.instance.N, 0 if h.exact else TOLERANCE
    levels: list[Any] = [None] * size
    far = []
    while None in levels:
        level = min(u for u, known in zip(h.tasks, levels, strict=True) if known is None)
        best, bundles = _iteration(h, levels)
        far.append(abs(best - level) / h.alone.min())
        for n in range(size):
            aim, worth = best if levels[n] is None else levels[n], h.utilities(n, bundles[n : n + 1])[0]
            part = aim / worth if aim else 0
            far.append(abs(h.utilities(n, bundles[n : n + 1] * part)[0] - aim) / h.alone[n] + max(part - 1 - same, 0))
        levels = [
            u if known is None and u - level <= same * g else known for u, known, g in zip(h.tasks, levels, h.alone, strict=True)
        ]
    return verdict_of(h, "linear program", max(far), f"an iteration is {float(max(far)):.1e} off its linear program")


def _iteration(h: Holdings, levels: Sequence[Any]) -> tuple[Any, Any]:
    """The largest equal utility a of users without a level, and what the tasks of each user take, (N, 1, R)."""
    size, count = h.instance.N, len(h.instance.arcs)
    run = h.zeros(size, count + 1)
    run[h.instance.arcs.user, np.arange(count)] = h.array(np.ones(count, dtype=int))
    run[:, count] = h.array([-1 if known is None else 0 for known in levels])
    fixed = h.array([0 if known is None else known for known in levels])
    load = h.zeros(h.instance.R, count + 1)
    load[:, :count] = h.demand.T
    only = h.zeros(count + 1)
    only[count] = h.array([1])[0]
    found = maximum(only, np.concatenate([run, -run, load]), np.concatenate([fixed, -fixed, h.pools[0]]), h.exact)
    if found is None:
        raise Undecided("a linear program was not solved")
    bundles = h.zeros(size, 1, h.instance.R)
    for n, x, row in zip(h.instance.arcs.user.tolist(), found.z, h.demand, strict=False):
        bundles[n, 0] = bundles[n, 0] + x * row
    return found.value, bundles


STEPS = 100
"""Iterations of an interior-point code that no case of these sizes needs; theory says O(sqrt(size) log(1/accuracy))."""


def few_steps(case: Case) -> Verdict:
    """Iterations of Clarabel, and where these are many, of Ipopt: two independent codes."""
    counts = []
    for method in ("cvxpy:clarabel", "pyomo:ipopt"):
        allocation = solve(case.reported, "nb", method)
        good = allocation.residual <= TOLERANCE and allocation.iterations is not None
        counts.append(allocation.iterations if good and allocation.iterations is not None else 10 * STEPS)
        if counts[-1] <= STEPS:
            break
    return exact_verdict("polynomial-time", min(counts) - STEPS, f"{min(counts)} iterations", "two interior-point codes")


def splits(case: Case, answer: Answer) -> Verdict:
    """With one resource everybody has an equal part of it (in proportion to the weights)."""
    h = holdings_of(answer(case.reported))
    only_where(h.pools[:, 0].sum(), "there is none of the first resource")
    part = h.bundles[:, :, 0].sum(axis=1) / h.pools[:, 0].sum()
    expected = h.weights / h.weights.sum()
    far = [abs(a - b) for a, b in zip(part, expected, strict=True)]
    n = int(np.argmax([float(f) for f in far]))
    return verdict_of(h, "equal-split", far[n], f"user {h.instance.users[n]!r} has {float(part[n]):.9g} of the resource")


def bought_in_a_market(case: Case) -> Verdict:
    """Rational prices of a certificate: everybody buys its cheapest tasks for its income, what has a price is sold.

    Spending w_n / s_n u_n - 1 is at most sqrt(2 gap / w_n), so this is decided within the gap.
    """
    certificate = certified_answer(case.reported, "nb")
    if not isinstance(certificate, BoundsCertificate):
        return undecided(certificate, "certificate", "market")
    arcs = exact_arcs(case.reported)
    costs = [q + z for q, z in zip(arcs.cheapest(certificate.prices), certificate.limits, strict=True)]
    budgets, tasks = case.reported.exact.weights, arcs.tasks(certificate.x)
    far = max(abs(float(s * u / w - 1)) for s, u, w in zip(costs, tasks, budgets, strict=True))
    allowed = float(10 * (2 * certificate.gap / min(budgets)) ** F(1, 2)) + 1e-12
    words = f"somebody spends {1 + far} of its income"
    return Verdict("market", far <= allowed, far, words, "rational arithmetic on a certificate")


MISREPORT6 = Misreport((1,), (((F(1),),),), (None,))
MISREPORT7 = Misreport((1,), (((F(1, 3), F(2, 3)),),), (None,))
"""Those of Propositions 6 and 7."""


def lmmf(case: Case) -> Holdings:
    return certified(case.instance, "lmmf")


def worth(case: Case, n: int, *bundle: Any) -> Any:
    return lmmf(case).utilities(n, np.array([[[F(v) for v in bundle]]], dtype=object))[0]


ENVY, PARETO = property_judge("envy-freeness"), property_judge("pareto")
MISREPORTING = property_judge("group-strategyproofness")

cases: dict[str, Case] = {
    "i-toy": Case(Instance([[["9/10", "1/10"], ["1/10", "9/10"]]], [[1, 1]])),
    "mmf-pareto": Case(example("zarchy-ex2").instance, points=((F(1), F(1)),)),
    # everybody runs one task, users 1 and 2 on resource 1; user 1 could move to resource 2
    "inside": Case(
        Instance([[[1, 0, 0], [0, 1, 0]], [[1, 0, 0]], [[0, 0, 1]]], [[2, 1, 1]]),
        points=((F(1), F(0), F(1), F(1)),),
    ),
    # User 1 is placed in round 1; users 2 and 3 share resource 2, and each could have more at the cost of the other
    "repeating": Case(Instance([[1, 0], [0, "1/4"], [0, "1/4"]], [[1, 1]])),
    # each user has a resource of its own, so these tasks are the printed utilities
    "pivots": Case(
        Instance([[int(n == r) for r in range(4)] for n in range(4)], [[7, 7, 7, 7]]),
        points=tuple(tuple(map(F, row)) for row in ((2, 3, 5, 7), (6, 3, 5, 1), (2, 2, 5, 7))),
    ),
    "p6": Case(example("zarchy-ex3").instance, MISREPORT6),
    **dict.fromkeys(("p7", "v-nb-sp", "v-nb-gsp"), Case(example("zarchy-prop7").instance, MISREPORT7)),
    # User 3 runs one task by either report, on resources of user 1 instead of user 2; both conceal a way that they have
    "helping": Case(
        Instance([[[1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [["1/2", 0, "1/2"], [0, "1/2", "1/2"]]], [[2, 3, "1/2"]]),
        Misreport((1, 2), (((F(0), F(1), F(0)),), ((F(1, 2), F(0), F(1, 2)),)), (None, None)),
    ),
    # What user 1 needs to have anything, user 2 lacks; the less it is the better
    "vi-leap": Case(Instance([[1, 1], [0, 1]], [[1, 1]])),
}

EXAMPLES: dict[str, Callable[[Case], bool]] = {
    # with epsilon = 1/10: both ways together fit once each, one way fits once and not twice
    "Z.I.toy": lambda case: (
        list(lmmf(case).tasks) == [2]
        and lmmf(Case(case.instance.replace(demands=[case.instance.exact.demands[0][:1]]))).tasks[0].__floor__() == 1
    ),
    "Z.Ex1": lambda case: (
        list(lmmf(case).tasks) == [3, 3]
        and min(certified(case.instance, "mmf").tasks) == worth(case, 0, 2, 3, 4) == worth(case, 1, 4, 3, 2) == 3
    ),
    "Z.Ex2": lambda case: (
        min(certified(case.instance, "mmf").tasks) == 1 and lmmf(case).bundles[:, 0].tolist() == [[1, 0, 0], [0, 1, 1]]
    ),
    # 2/3 and 1/3 of the resource are worth 2/3 each; after the misreport of Proposition 6 user 2 has a half
    "Z.Ex3": lambda case: (
        list(lmmf(case).tasks) == [F(2, 3)] * 2
        and lmmf(case).bundles[:, 0, 0].tolist() == [F(2, 3), F(1, 3)]
        and certified(MISREPORT6.reported(case.instance), "lmmf").bundles[1, 0, 0] == F(1, 2)
    ),
    "Z.III.rounds": lambda case: list(lmmf(case).tasks[:3]) == [1, 1, 2],
    # prices of 1 for the capacity of each resource prove that two tasks each are the Nash bargain
    "Z.III.nb": lambda case: is_nash_bargain(case.instance, (F(0), F(2), F(0), F(2)), (F(1), F(1))),
    "Z.III.endowment": lambda case: (
        [worth(case, n, "1/2", "1/2") for n in (0, 1)] == [F(1, 2)] * 2
        and is_nash_bargain(case.instance, (F(1), F(1)), (F(1), F(1)))
    ),
    "Z.D2": lambda case: [pivots_of(case.points[k], case.points[m]) for k, m in ((0, 1), (1, 0), (2, 1))] == [[0], [3], [0, 1]],
}
"""What is printed in examples."""
POINTS = {
    "Z.C1": utilities.mixture_fits,
    "Z.L1": utilities.concave,
    "Z.L2": utilities.continuous,
    "Z.P5.homogeneous": utilities.homogeneous,
    "Z.C2.if": utilities.claim_2_if,
    "Z.L3": utilities.lemma_3,
}

trials: dict[str, Routes] = {
    **{name: once(asserted(check)) for name, check in EXAMPLES.items()},
    **{name: once(of_two_points(check)) for name, check in POINTS.items()},
    "Z.MMF.pareto": once(checked("Z.MMF.pareto")),
    "Z.Fig1": once(checked("Z.Fig1", lambda found: found["value"] - found["printed"] - F(1, 20))),
    "Z.III.lp": about_mechanism("lmmf", linear_programs),
    **dict.fromkeys(("Z.P1", "Z.V.LMMF.CE"), few_rounds("lmmf")),
    **dict.fromkeys(("Z.P2", "Z.V.NB.CE"), once(few_steps)),
    "Z.Cor1": about_mechanism("lmmf", partial(utilities.corollary_1, False)),
    "Z.Cor1.all": about_mechanism("lmmf", partial(utilities.corollary_1, True)),
    "Z.P5.CEEI": once(bought_in_a_market),
    "Z.R.split": about_mechanism("nb", splits),
    "Z.P7.numbers": once(checked("Z.P7.numbers", lambda found: found["worth"] - F("0.835"))),
    "Z.P8.numbers": once(checked("Z.P8.numbers", lambda found: found["worth"] - F(1, 2))),
    "Z.L4": about_mechanism("lmmf", partial(utilities.lemma_4, False)),
    "Z.L4.leftovers": about_mechanism("lmmf", partial(utilities.lemma_4, True)),
    "Z.T1.pivot": step_of_theorem_1(  # it is a pivot of Y; else, as the cases say, Y is not LMMF for D or Y' is not for D'
        lambda at: at.gain > 0,
        "nobody gains",
        lambda at: at.i in at.pivots[0] or at.rise > 0 or at.refutes_first() or at.refutes_second(),
    ),
    "Z.T1.case1": step_of_theorem_1(  # Y' is the larger one
        lambda at: at.rise > 0, "the pivots of Y' do not have more", lambda at: sorted(at.by_truth[1]) > sorted(at.by_truth[0])
    ),
    "Z.T1.case2": step_of_theorem_1(  # no pivot is one of both, those of Y have more in Y', and Y is not LMMF
        lambda at: at.rise == 0,
        "the pivots do not have as much",
        lambda at: (
            not {*at.pivots[0]} & {*at.pivots[1]}
            and min(at.by_truth[1][q] - at.by_truth[0][q] for q in at.pivots[0]) > 0
            and at.refutes_first()
        ),
    ),
    "Z.T1.case3": step_of_theorem_1(  # they are pivots for D' as well, and Y' is not LMMF for D'
        lambda at: at.rise < 0 < at.gain,
        "the pivots of Y' do not have less, or nobody gains",
        lambda at: {*at.pivots[1]} <= {*utilities.pivots_of(*at.by_report)} and at.refutes_second(),
    ),
    "Z.T2.zero": about_mechanism("lmmf", utilities.nothing_of_a_richer_bundle),
    "Z.T2.leftovers": about_mechanism("lmmf", partial(utilities.envy, True)),
    "Z.V.LMMF.LMMF": about_mechanism("lmmf", leximin),
    "Z.V.NB.LMMF": about_mechanism("nb", leximin),
    "Z.V.NB.SP": about_mechanism("nb", MISREPORTING),
    "Z.VI.results.PO": about_mechanism("lmmf", partial(utilities.linear, PARETO, True)),
    "Z.VI.results.CE": few_rounds("lmmf", partial(utilities.valued, different=True)),
    "Z.VI.results.LMMF.true": about_mechanism("lmmf", partial(utilities.linear, leximin, True)),
    "Z.VI.EF": about_mechanism("lmmf", partial(utilities.envy, False)),
    "Z.VI.EF.common": about_mechanism("lmmf", partial(utilities.linear, ENVY, False)),
    "Z.VI.SP": about_mechanism("lmmf", partial(utilities.linear, MISREPORTING, True)),
    "Z.VI.unique": once(utilities.midpoint),
}
