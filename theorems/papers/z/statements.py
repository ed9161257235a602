"""The claims of Z (LMMF and NB): what each assumes, how it is tried, and how a violation is confirmed.

Z has three claims, four lemmas, one corollary, nine propositions and two theorems, three examples, two tables with 12 and 14
cells, and remarks between them: the group strategyproofness of LMMF after Theorem 1, the single resource that NB splits equally,
the utilities f of section VI. Where the print differs from the definition, statements about the print follow it to the letter.

Z.P2 and Z.V.NB.CE count the iterations of two interior-point codes; what confirms are the Newton steps of a third, whose answer
is proved in rationals (newton_steps.py).

61 statements in all; `place` says where each claim stands.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.nash_bargaining import BoundsCertificate
from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.market import market
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import (
    Row,
    about_mechanism,
    certified,
    few_rounds,
    holdings_of,
    is_nash_bargain,
    leximin,
    max_min_fair,
    maximum_worth,
    printed_numbers,
    strict_misreporting,
    verdict_of,
)
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.judges.trials import Answer, Judge, Undecided
from fairalloc.theorems.papers.shared import printed_claim
from fairalloc.theorems.papers.z.newton_steps import centre_path, proved_gap
from fairalloc.theorems.proofs import Proof
from fairalloc.theorems.statement import Hypotheses, Statement

F = Fraction

ENVY, PARETO, SHARING = (property_judge(name) for name in ("envy-freeness", "pareto", "sharing-incentive"))
MISREPORTING = property_judge("group-strategyproofness")

ONE_POOL = Hypotheses(one_server=True, one_variant=False, equal_weights=True, users=2)
"""Z II-A: one pool, several demand vectors, users of equal weight."""

SIMPLEX = replace(ONE_POOL, simplex=True)
"""Z V: linear trade-offs."""

TWO_POINTS = replace(ONE_POOL, points=2)
"""Two feasible allocations of one pool."""

_ONE = Fraction(1)
_MISREPORT6 = Misreport((1,), (((_ONE,),),), (None,))
_MISREPORT7 = Misreport((1,), (((F(1, 3), F(2, 3)),),), (None,))

EX3 = Case(example("zarchy-ex3").instance)
PROP7 = Case(example("zarchy-prop7").instance)
HELPING = Case(
    Instance([[[1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [["1/2", 0, "1/2"], [0, "1/2", "1/2"]]], [[2, 3, "1/2"]]),
    Misreport((1, 2), (((F(0), F(1), F(0)),), ((F(1, 2), F(0), F(1, 2)),)), (None, None)),
)
"""User 3 runs one task by either report, on resources of user 1 instead of user 2; both conceal a way that they have."""

REPEATING = Case(Instance([[1, 0], [0, "1/4"], [0, "1/4"]], [[1, 1]]))
"""User 1 is placed in round 1; users 2 and 3 share resource 2, and each could have more at the cost of the other."""

INSIDE = Case(
    Instance([[[1, 0, 0], [0, 1, 0]], [[1, 0, 0]], [[0, 0, 1]]], [[2, 1, 1]]),
    points=((F(1), F(0), F(1), F(1)),),
)
"""Everybody runs one task, users 1 and 2 on resource 1; user 1 could move to resource 2."""

PROP8 = Case(example("zarchy-prop8").instance)


def _without_cell(mechanism: str, judge: Judge) -> dict[str, Any]:
    """As `about_mechanism`, for statements that are no cell of the matrix."""
    return about_mechanism(mechanism, judge) | {"mechanism": ""}


# ---- utilities ------------------------------------------------------------------------------------------------------


def _bundles(case: Case, exact: bool) -> tuple[Holdings, list[Any]]:
    """What everybody holds in each point of the case, (N, 1, R)."""
    result = []
    for point in case.points:
        allocation = Allocation(case.instance, np.array([float(v) for v in point]), x_exact=point if exact else None)
        result.append(Holdings(allocation, exact))
    return result[0], [h.bundles for h in result]


def _utilities(h: Holdings, bundles: Any) -> list[Any]:
    return [h.utilities(n, bundles[n : n + 1])[0] for n in range(h.instance.N)]


def _concave(case: Case, exact: bool) -> Verdict:
    """u(g X + (1-g) X') >= g u(X) + (1-g) u(X') at g = 1/3 and 1/2, for what every user holds in two allocations."""
    h, (first, second) = _bundles(case, exact)
    u, v = _utilities(h, first), _utilities(h, second)
    margins = []
    for gamma in h.array(["1/3", "1/2"]) if exact else (1 / 3, 1 / 2):
        w = _utilities(h, first * gamma + second * (1 - gamma))
        margins += [(gamma * a + (1 - gamma) * b - c) / g for a, b, c, g in zip(u, v, w, h.alone, strict=True)]
    return verdict_of(h, "concavity", max(margins), "the utility of a mixture is less than the mixture of the utilities")


def _continuous(case: Case, exact: bool) -> Verdict:
    """f(h) is near f(0), which is where a concave function may jump; f is piecewise linear, and no slope is near 2^2000."""
    h, (first, second) = _bundles(case, exact)
    step = F(1, 2**2000) if exact else 2.0**-40
    u, w = _utilities(h, first), _utilities(h, first * (1 - step) + second * step)
    jump = max(abs(a - b) / g for a, b, g in zip(u, w, h.alone, strict=True))
    return verdict_of(h, "continuity", jump - (F(1, 1000) if exact else 1e-3), f"f jumps by {jump} at 0")


def _homogeneous(case: Case, exact: bool) -> Verdict:
    """u(g X) = g u(X) at g = 1/3 and 7."""
    h, (first, _) = _bundles(case, exact)
    u = _utilities(h, first)
    factors = (F(1, 3), F(7)) if exact else (1 / 3, 7.0)
    gaps = [
        abs(w - g * a) / h.alone[n] for g in factors for n, (a, w) in enumerate(zip(u, _utilities(h, first * g), strict=True))
    ]
    return verdict_of(h, "homogeneity", max(gaps), "the utility of a multiple is not the multiple of the utility")


def _mixture_fits(case: Case, exact: bool) -> Verdict:
    """Claim 1: a mixture of feasible allocations is feasible."""
    h, (first, second) = _bundles(case, exact)
    used = (first * h.array(["1/3"])[0] + second * h.array(["2/3"])[0] if exact else (first + 2 * second) / 3).sum(axis=0)
    return verdict_of(h, "feasibility", (used - h.pools).max() / h.pools.max(), "a mixture needs more than there is")


def _unlimited(case: Case) -> None:
    if any(limit is not None for limit in case.instance.exact.max_tasks):
        raise NotApplicable("about utilities without limits")


def _pivots(before: Sequence[Any], after: Sequence[Any], same: Any) -> list[int]:
    """theta(Y, Y'): the users of lowest utility in Y among those whose utility differs in Y' (Z Def 2)."""
    changed = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if abs(a - b) > same]
    least = min((before[n] for n in changed), default=0)
    return [n for n in changed if before[n] - least <= same]


def _claim2(case: Case, exact: bool) -> Verdict:
    """<Y'> is larger than <Y> iff u_j(Y'_j) > u_i(Y_i) for pivots i of Y and j of Y'."""
    h, (first, second) = _bundles(case, exact)
    u, v, same = _utilities(h, first), _utilities(h, second), 0 if exact else 1e-9
    if not (own := _pivots(u, v, same)):
        raise NotApplicable("the allocations have no pivot users")
    steps = [b - a for a, b in zip(sorted(u), sorted(v), strict=True) if abs(b - a) > same]
    larger = bool(steps) and steps[0] > 0
    other = _pivots(v, u, same)
    said = bool(v[other[0]] - u[own[0]] > same)
    sentence = f"the utilities are {[str(a) for a in u]} and {[str(b) for b in v]}"
    return verdict_of(h, "claim", 1 if larger != said else -1, sentence)


def _claim2_if(case: Case, exact: bool) -> Verdict:
    """The direction that the proofs use: a higher pivot makes the allocation larger."""
    h, (first, second) = _bundles(case, exact)
    u, v, same = _utilities(h, first), _utilities(h, second), 0 if exact else 1e-9
    if not (own := _pivots(u, v, same)):
        raise NotApplicable("the allocations have no pivot users")
    steps = [b - a for a, b in zip(sorted(u), sorted(v), strict=True) if abs(b - a) > same]
    gap = v[_pivots(v, u, same)[0]] - u[own[0]]
    margin = gap if gap > same and not (steps and steps[0] > 0) else -1
    return verdict_of(h, "claim", margin, "the pivot has more, but the allocation is not larger")


def _lemma3(case: Case, exact: bool) -> Verdict:
    """A pivot with more in Y' has more in (1-e) Y + e Y' too."""
    h, (first, second) = _bundles(case, exact)
    u, v, same = _utilities(h, first), _utilities(h, second), 0 if exact else 1e-9
    step = F(1, 1024) if exact else 1 / 1024
    w = _utilities(h, first * (1 - step) + second * step)
    gains = [(u[n] - w[n]) / (v[n] - u[n]) for n in _pivots(u, v, same) if v[n] - u[n] > same]
    if not gains:
        raise NotApplicable("no pivot has more")
    return verdict_of(h, "lemma", max(gains) + step / 2, "the pivot gains nothing from a small step")


def _corollary1(every: bool) -> Judge:
    """The answer is LMMF, so no pivot with respect to another allocation (or: not all of them) may have more there."""

    def judge(case: Case, answer: Answer) -> Verdict:
        h = holdings_of(answer(case.instance))
        _, (other,) = _bundles(case, h.exact)
        u, v, same = list(h.tasks), _utilities(h, other), 0 if h.exact else TOLERANCE
        pivots = _pivots(u, v, same)
        if not pivots:
            raise NotApplicable("the allocations have no pivot users")
        gains = [(v[n] - u[n]) / h.alone[n] for n in pivots]
        sentence = f"Y gives {[str(a) for a in u]} and is LMMF, Y' gives {[str(b) for b in v]}"
        return verdict_of(h, "corollary", min(gains) if every else max(gains), sentence)

    return judge


def _wasteful_mmf(case: Case, exact: bool) -> Verdict:
    """The case's point, where it is max-min fair, is Pareto optimal."""
    (point,) = case.points
    allocation = Allocation(case.instance, np.array([float(v) for v in point]), x_exact=point if exact else None)
    if not max_min_fair(case, lambda _: allocation).holds:
        raise NotApplicable("the point is not max-min fair")
    return PARETO(case, lambda _: allocation)


# ---- mechanisms as they are printed ---------------------------------------------------------------------------------


def _as_printed(case: Case, answer: Answer) -> Verdict:
    """III-A to the letter: round t places users who cannot have more without loss of users placed in rounds before t.

    Round 1 protects everybody. A round that places nobody is repeated unchanged without end: a violation of "terminates".
    """
    h = holdings_of(answer(case.reported))
    size, same = h.instance.N, 0 if h.exact else 1e-7
    levels: list[Any] = [None] * size
    for t in range(size):
        level = _next_level(h, levels)
        now = h.array([level if known is None else known for known in levels])
        protected = now if t == 0 else h.array([0 if known is None else known for known in levels])
        placed = [n for n in range(size) if levels[n] is None and _most(h, n, protected) - level <= same * h.alone[n]]
        if not placed:
            return verdict_of(h, "terminates", 1, f"round {t + 1} places nobody, at {level} tasks")
        for n in placed:
            levels[n] = level
        if None not in levels:
            break
    far = max(abs(a - b) / g for a, b, g in zip(levels, h.tasks, h.alone, strict=True))
    return verdict_of(
        h, "terminates", far, f"it ends with {[str(v) for v in levels]} tasks instead of {[str(v) for v in h.tasks]}"
    )


def _next_level(h: Holdings, levels: Sequence[Any]) -> Any:
    """The largest equal utility of the users without a level: the least utility of these users in the leximin answer."""
    return min(u for u, known in zip(h.tasks, levels, strict=True) if known is None)


def _most(h: Holdings, n: int, floors: Any) -> Any:
    only = h.zeros(h.instance.N)
    only[n] = 1 if not h.exact else F(1)
    slack = 1 if h.exact else 1 - 1e-9
    return maximum_worth(h, only, floors * slack)


def _inside_one_allocation(case: Case, answer: Answer) -> Verdict:
    """The test of iteration 1 inside the case's point Y: who gains nothing from what Y leaves is placed for good."""
    h = holdings_of(answer(case.reported))
    own, (bundles,) = _bundles(case, h.exact)
    u, least, same = _utilities(own, bundles), min(h.tasks), 0 if h.exact else 1e-9
    if any(abs(v - least) > same * g for v, g in zip(u, h.alone, strict=True)):
        raise NotApplicable("the point is not an allocation of iteration 1")
    left = np.maximum(h.pools - bundles.sum(axis=0), 0)
    more = [h.utilities(n, bundles[n : n + 1] + left)[0] for n in range(h.instance.N)]
    placed = [n for n, v in enumerate(more) if v - least <= same * h.alone[n]]
    gaps = [((h.tasks[n] - least) / h.alone[n], n) for n in placed]
    if not gaps:
        return verdict_of(h, "leximin", -1, "nobody is placed in iteration 1")
    gap, n = max(gaps)
    words = f"user {h.instance.users[n]!r} is placed at {least} tasks, and is lexicographically max-min fair with {h.tasks[n]}"
    return verdict_of(h, "leximin", gap, words)


STEPS = 100
"""Iterations of an interior-point code that no case of these sizes needs; theory says O(sqrt(size) log(1/accuracy))."""


def _few_steps(case: Case) -> Verdict:
    """Iterations of Clarabel, and where these are many, of Ipopt: two independent codes."""
    counts = []
    for method in ("cvxpy:clarabel", "pyomo:ipopt"):
        allocation = solve(case.reported, "nb", method)
        good = allocation.residual <= TOLERANCE and allocation.iterations is not None
        counts.append(allocation.iterations if good and allocation.iterations is not None else 10 * STEPS)
        if counts[-1] <= STEPS:
            break
    return Verdict(
        "polynomial-time", min(counts) <= STEPS, min(counts) - STEPS, f"{min(counts)} iterations", "two interior-point codes"
    )


def _few_newton_steps(case: Case) -> Verdict:
    """Newton steps of the barrier method of newton_steps.py to an answer within 1e-6 sum w of the optimum, proved in
    rationals.
    """
    x, prices, steps = centre_path(case.reported, TOLERANCE / 10)
    gap = proved_gap(case.reported, x, prices) / sum(case.reported.exact.weights)
    holds = steps <= STEPS if gap <= TOLERANCE else None
    return Verdict(
        "polynomial-time", holds, steps - STEPS, f"{steps} Newton steps to a gap of {float(gap):.1e}", "a barrier method"
    )


def _splits(case: Case, answer: Answer) -> Verdict:
    """With one resource everybody has an equal part of it (in proportion to the weights)."""
    h = holdings_of(answer(case.reported))
    if not h.pools[:, 0].sum():
        raise NotApplicable("there is none of the first resource")
    part = h.bundles[:, :, 0].sum(axis=1) / h.pools[:, 0].sum()
    expected = h.weights / h.weights.sum()
    far = [abs(a - b) for a, b in zip(part, expected, strict=True)]
    n = int(np.argmax([float(f) for f in far]))
    return verdict_of(h, "equal-split", far[n], f"user {h.instance.users[n]!r} has {float(part[n]):.9g} of the resource")


def _market_floats(case: Case) -> Verdict:
    """The allocation of nb is bought in a market of equal incomes (Proposition 5)."""
    allocation = solve(case.reported, "nb", accuracy="high")
    residual = market(allocation).residual
    return Verdict("market", residual <= TOLERANCE, residual, "no market equilibrium at these prices", "floating point")


def _market_exact(case: Case) -> Verdict:
    """Rational prices of a certificate: everybody buys its cheapest tasks for its income, what has a price is sold.

    Spending w_n / s_n u_n - 1 is at most sqrt(2 gap / w_n), so this is decided within the gap.
    """
    certificate = certified_answer(case.reported, "nb")
    if not isinstance(certificate, BoundsCertificate):
        return Verdict("market", None, np.nan, f"not decided: {certificate}", "certificate")
    arcs = exact_arcs(case.reported)
    costs = [q + z for q, z in zip(arcs.cheapest(certificate.prices), certificate.limits, strict=True)]
    budgets, tasks = case.reported.exact.weights, arcs.tasks(certificate.x)
    far = max(abs(float(s * u / w - 1)) for s, u, w in zip(costs, tasks, budgets, strict=True))
    allowed = float(10 * (2 * certificate.gap / min(budgets)) ** F(1, 2)) + 1e-12
    return Verdict(
        "market", far <= allowed, far, f"somebody spends {1 + far} of its income", "rational arithmetic on a certificate"
    )


# ---- Lemma 4 and unused resources that are allocated ----------------------------------------------------------------------


def _lemma4(wasteful: bool) -> Judge:
    """u_i(Y_i) >= u'_i(Y_i), with D' the reported demands: Y_i is what i's tasks take, or that and everything that is left
    unused.
    """

    def judge(case: Case, answer: Answer) -> Verdict:
        if case.misreport is None:
            raise NotApplicable("there is no other specification of demands")
        h = holdings_of(answer(case.instance))
        other = Holdings(Allocation(case.reported, np.zeros(len(case.reported.arcs))), h.exact)
        left = h.pools - h.bundles.sum(axis=0) if wasteful else h.pools * 0
        left = np.maximum(left, 0)
        gaps = [(other.utilities(n, h.bundles[n : n + 1] + left)[0] - h.tasks[n]) / h.alone[n] for n in case.misreport.users]
        return verdict_of(h, "lemma", max(gaps), "the other demands pack more tasks into the same resources")

    return judge


def _envy_with_leftovers(case: Case, answer: Answer) -> Verdict:
    """Definition 1 looks at utilities only, so an answer may also allocate all unused resources to one user: nobody may envy
    that user.
    """
    h = holdings_of(answer(case.reported))
    left = np.maximum(h.pools - h.bundles.sum(axis=0), 0)
    gaps = []
    for n in range(h.instance.N):
        for m in range(h.instance.N):
            if n != m:
                better = h.utilities(n, h.bundles[m : m + 1] + left)[0]
                gaps.append((better - h.tasks[n]) / h.alone[n])
    return verdict_of(h, "envy-freeness", max(gaps), "somebody envies a user who was also given the unused resources")


def _misreporting_with_leftovers(case: Case, answer: Answer) -> Verdict:
    """A misreport where the user can also use the resources that are unused after it;
    before it no unused resource helps anybody.
    """
    assert case.misreport is not None, "the statement is about misreports"
    h, reported = holdings_of(answer(case.instance)), holdings_of(answer(case.reported))
    left = np.maximum(reported.pools - reported.bundles.sum(axis=0), 0)
    gains = [(h.utilities(n, reported.bundles[n : n + 1] + left)[0] - h.tasks[n]) / h.alone[n] for n in case.misreport.users]
    return verdict_of(
        h, "strategyproofness", min(gains), "a misreporting user runs more with its bundle and the unused resources"
    )


def _plain_envy(case: Case, answer: Answer) -> Verdict:
    """Envy between users of unequal f: nobody prefers another's resources; a weight w_n stands for f_n(u) = u / w_n."""
    h = holdings_of(answer(case.reported))
    gaps = [
        (h.utilities(n, h.bundles[m : m + 1])[0] - h.tasks[n]) / h.alone[n]
        for n in range(h.instance.N)
        for m in range(h.instance.N)
        if n != m
    ]
    return verdict_of(h, "envy-freeness", max(gaps), "somebody would run more tasks with the resources of another")


# ---- examples -------------------------------------------------------------------------------------------------------


def _toy(case: Case) -> Sequence[Row]:
    """Section I with epsilon = 1/10: both ways together fit once each, one way fits once and not twice."""
    both = certified(case.instance, "lmmf")
    single = Instance([case.instance.exact.demands[0][0]], case.instance.exact.capacities)
    alone = certified(single, "lmmf").tasks[0]
    return [("tasks with two ways", "2", both.tasks[0]), ("whole tasks with one way", "1", F(alone.__floor__()))]


def _fig1(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    rows = case.instance.exact.demands[0]
    used = [sum((a * row[r] for a, row in zip((F(5), F(1), F(5, 2)), rows, strict=True)), F(0)) for r in range(3)]
    fits = all(u <= c for u, c in zip(used, case.instance.exact.capacities[0], strict=True))
    return [("whether the printed packing fits", "1", F(fits)), ("the utility of (11, 11, 13)", "8.5", h.tasks[0])]


def _ex1(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "mmf")
    fair = certified(case.instance, "lmmf")
    first, second = np.array([[[F(2), F(3), F(4)]]], dtype=object), np.array([[[F(4), F(3), F(2)]]], dtype=object)
    return [
        ("the largest least utility", "3", min(h.tasks)),
        ("u_1(2, 3, 4)", "3", h.utilities(0, first)[0]),
        ("u_2(4, 3, 2)", "3", h.utilities(1, second)[0]),
        *((f"utility of user {n + 1} under LMMF", "3", fair.tasks[n]) for n in (0, 1)),
    ]


def _ex2(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    rows: list[Row] = [("largest least utility", "1", min(certified(case.instance, "mmf").tasks))]
    for n, printed in enumerate((("1", "0", "0"), ("0", "1", "1"))):
        rows += [(f"resource {r + 1} of user {n + 1}", text, h.bundles[n, 0, r]) for r, text in enumerate(printed)]
    return rows


def _ex3(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    misreported = certified(_MISREPORT6.reported(case.instance), "lmmf")
    return [
        ("Y_1", "2/3", h.bundles[0, 0, 0]),
        ("Y_2", "1/3", h.bundles[1, 0, 0]),
        ("utility of user 1", "2/3", h.tasks[0]),
        ("utility of user 2", "2/3", h.tasks[1]),
        ("Y_2 after the misreport of Proposition 6", "1/2", misreported.bundles[1, 0, 0]),
    ]


def _rounds(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    return [(f"utility of user {n + 1}", printed, h.tasks[n]) for n, printed in enumerate(("1", "1", "2"))]


def _nb_example(case: Case) -> Sequence[Row]:
    """(4, 4) each: prices of 1 for the capacity of each resource prove it."""
    x, prices = (F(0), F(2), F(0), F(2)), (F(1), F(1))
    return [
        ("whether two tasks each are the Nash bargain", "1", F(is_nash_bargain(case.instance, x, prices))),
        ("product", "4", x[1] * x[3]),
    ]


def _endowment(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    half = np.array([[[F(1, 2), F(1, 2)]]], dtype=object)
    rows: list[Row] = [(f"utility of user {n + 1} in the endowment", "1/2", h.utilities(n, half)[0]) for n in (0, 1)]
    bargain = is_nash_bargain(case.instance, (F(1), F(1)), (F(1), F(1)))
    return [*rows, ("whether each user gets its resource under NB", "1", F(bargain))]


def _prop7(case: Case) -> Sequence[Row]:
    reported = _MISREPORT7.reported(case.instance)
    truth, misreport = (
        Holdings(Allocation(case.instance, np.array([1.2, 0.8]), x_exact=(F(6, 5), F(4, 5))), True),
        Holdings(Allocation(reported, np.ones(2), x_exact=(F(1), F(1))), True),
    )
    rows: list[Row] = [
        (
            "whether 6/5 and 4/5 tasks are the Nash bargain",
            "1",
            F(is_nash_bargain(case.instance, (F(6, 5), F(4, 5)), (F(1, 2), F(3, 2)))),
        ),
        (
            "whether 1 and 1 tasks are the Nash bargain after the misreport",
            "1",
            F(is_nash_bargain(reported, (F(1), F(1)), (F(1), F(1)))),
        ),
    ]
    for n, printed in enumerate((("12/15", "6/15"), ("3/15", "9/15"))):
        rows += [(f"resource {r + 1} of user {n + 1}", text, truth.bundles[n, 0, r]) for r, text in enumerate(printed)]
    for n, printed in enumerate((("2/3", "1/3"), ("1/3", "2/3"))):
        rows += [
            (f"resource {r + 1} of user {n + 1} after the misreport", text, misreport.bundles[n, 0, r])
            for r, text in enumerate(printed)
        ]
    after = [truth.utilities(n, misreport.bundles[n : n + 1])[0] for n in (0, 1)]
    return [*rows, ("u_1 after the misreport", "1", after[0]), ("u_2 after the misreport", "0.83", after[1])]


def _prop8(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    half, own = (np.array([[[F(v) for v in row]]], dtype=object) for row in (("1/2", "1/2", "1/2"), (1, 0, 0)))
    return [
        ("u_2(E)", "3/2", h.utilities(1, half)[0]),
        *((f"utility of user {n + 1} under LMMF", "1", h.tasks[n]) for n in (0,)),
        ("u_2(Y_2)", "1/2", h.utilities(1, own)[0]),
    ]


def _pivot_example(_: Case) -> Sequence[Row]:
    """Section IV-B: <Y> = (2, 3, 5, 7) for users 1 to 4, <Y'> = (1, 3, 5, 6) for users 4, 2, 3, 1."""
    y, other = [F(2), F(3), F(5), F(7)], [F(6), F(3), F(5), F(1)]
    tied = [F(2), F(2), F(5), F(7)]
    first, second, both = _pivots(y, other, 0), _pivots(other, y, 0), _pivots(tied, other, 0)
    return [
        ("the pivot of Y", "1", F(first[0] + 1)),
        ("the pivot of Y'", "4", F(second[0] + 1)),
        ("pivots when the second coordinate is 2", "2", F(len(both))),
    ]


# ---- section VI: utilities f(what the tasks take) ---------------------------------------------------------------------------

VALUES = ((1, 2, 3), (3, 1, 2), (2, 3, 1))
"""For f_n(c) = p_n . c, a positive linear function of what the tasks of user n take: p_n by user, in turn."""


def _valued(instance: Instance, different: bool) -> Instance:
    """The instance with demands d / p_n . d, of which n runs f_n(c) tasks where its tasks take c."""
    if instance.exact.demands_on:
        raise NotApplicable("Z has one pool, on which nobody has demands of its own")
    rows = []
    for n, demands in enumerate(instance.exact.demands):
        p = VALUES[n % len(VALUES) if different else 0]
        rows.append([[v / sum(F(w) * u for w, u in zip(p, row, strict=False)) for v in row] for row in demands])
    return instance.replace(demands=rows)


def _linear(judge: Judge, different: bool) -> Judge:
    """The judge, where user n has f_n(c) = p_n . c, or f_1 for all; reports are of demands, and the mechanism knows p_n."""

    def judged(case: Case, answer: Answer) -> Verdict:
        told = case.misreport
        if told is not None:
            rows = _valued(case.reported, different).exact.demands
            parts = tuple(None if d is None else rows[n] for n, d in zip(told.users, told.demands, strict=True))
            told = replace(told, demands=parts)
        return judge(replace(case, instance=_valued(case.instance, different), misreport=told), answer)

    return judged


def _midpoint(case: Case) -> Verdict:
    """The mean of two allocations is lexicographically larger than that in which a user who differs has the least utility.

    In rationals, for f(c) = sum of c_r / (1 + c_r).
    """
    first, second, different = _taken(case, True)
    u, v, middle = ([sum(r / (1 + r) for r in c) for c in part] for part in (first, second, _mean(first, second)))
    n = min(different, key=lambda m: min(u[m], v[m]))
    steps = [b - a for a, b in zip(sorted(u if u[n] <= v[n] else v), sorted(middle), strict=True) if a != b]
    gain = steps[0] if steps else F(0)
    words = f"of the sorted utilities the first that differs rises by {float(gain):.3g}"
    return Verdict("uniqueness", gain > 0, float(-gain), words, "rational arithmetic")


def _midpoint_in_floats(case: Case) -> Verdict:
    """In the mean nobody who differs has less than the least of their utilities; for f(c) = sum of log(1 + c_r)."""
    first, second, different = _taken(case, False)
    u, v, middle = ([float(np.log1p(c).sum()) for c in part] for part in (first, second, _mean(first, second)))
    least = min(min(u[n], v[n]) for n in different)
    fall = (least - min(middle[n] for n in different)) / max(*u, *v)
    return Verdict("uniqueness", not fall > TOLERANCE, fall, f"the least utility falls by {fall:.3g}, relative", "floating point")


def _taken(case: Case, exact: bool) -> tuple[list[Any], list[Any], list[int]]:
    """What the tasks of each user take in the two points of a case, and the users for whom it differs."""
    h, bundles = _bundles(case, exact)
    first, second = ([row[n].sum(axis=0) for n in range(h.instance.N)] for row in bundles)
    different = [n for n, (a, b) in enumerate(zip(first, second, strict=True)) if (a != b).any()]
    if not different:
        raise NotApplicable("tasks take the same in both allocations")
    return first, second, different


def _mean(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [(a + b) / 2 for a, b in zip(first, second, strict=True)]


# ---- the statements -------------------------------------------------------------------------------------------------


def _both(function: Any) -> dict[str, Any]:
    """A check of two points, in floats and in rationals."""

    def trial(case: Case) -> Verdict:
        _unlimited(case)
        return _decided(function, case, False)

    def confirm(case: Case) -> Verdict:
        _unlimited(case)
        return _decided(function, case, True)

    return {"trial": trial, "confirm": confirm}


def _decided(function: Any, case: Case, exact: bool) -> Verdict:
    try:
        verdict: Verdict = function(case, exact)
    except Undecided as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "")
    return verdict


def _points(name: str, text: str, place: str, function: Any, proof: str = "", note: str = "") -> Statement:
    return Statement(name, text, place, "all", **_both(function), hypotheses=TWO_POINTS, proof=proof, note=note)


def _cell(name: str, text: str, mechanism: str, judge: Judge, quantifier: Any, property: str, **more: Any) -> Statement:  # noqa: A002
    """A cell of the table of section V."""
    return Statement(
        f"Z.V.{name}",
        text,
        "Z V, the table for simplex demands",
        quantifier,
        **(about_mechanism(mechanism, judge) | {"hypotheses": SIMPLEX, "property": property, "table": "Z.Table2"} | more),
    )


_EXCHANGE = Proof(
    "Z: exchange between two reports",
    "Let Y be LMMF for D and Y' for the report D', and let v_n and v'_n be the tasks n runs in them by its own report. "
    "Suppose each misreporting user can run more than v_n of its true tasks with Y'_n; by Z.L4 these are at most v'_n. (a) If "
    "n has truly more in Y', as these users have, some j with v_j <= v_n has less in Y', else a small step from Y to Y' would be "
    "lexicographically larger for D (Z.L1, Z.L2); j does not misreport, so v'_j < v_j. (b) In the same way for D' and a step "
    "from Y' to Y: some k has v'_k <= v'_j and less in Y. Whether k misreports or not, it has truly more in Y', and v_k < v'_k "
    "<= v'_j < v_j <= v_n: (a) applies to k with a smaller v_k, and so on without end: a contradiction.",
)
_RISING = (
    "f rises with each c_r, if weakly: by concavity f((1 - 1/s) c + t e_r) >= (1 - 1/s) f(c) + f(s t e_r) / s, and f(s t e_r) >= "
    "f(t e_r) for s >= 1; let s tend to infinity, for f is continuous along c."
)
"""Of a finite concave f on vectors >= 0 with f((1 + g) c) > f(c); e_r is a unit vector."""

_MARKET = Proof(
    "Z: a market of equal incomes",
    "KKT of max sum log u_n gives prices p >= 0: what has a price is sold out, and user n runs only tasks that cost q_n = 1 / "
    "u_n, the least of all that the pool can run. So Y_n costs 1, everything costs N, and an equal part of everything, the "
    "income, costs 1; with what costs at most 1 user n runs at most 1 / q_n = u_n tasks.",
)
_ROUNDS = Proof(
    "Z: every round fixes a user",
    "The dual of a round gives active users weights whose sum is 1, and who has a weight is at the round's level in all "
    "allocations that solve it (complementary slackness): every program fixes a user for good.",
)
_LEVELS = Proof(
    "Z: levels of rounds",
    "There is an LMMF allocation, and by induction those fixed before round t have their levels in each. Active users then "
    "have at least a_t, the largest least utility that is left for them: if one had less, a solution of the round would be "
    "lexicographically larger. So an active user that cannot have more than a_t while others have that or their levels has a_t "
    "in each, and is fixed. There is one, else the mean of allocations that each raise one active user above a_t would raise "
    "all.",
)
_NO_ENVY = Proof(
    "Z: a part of the envied bundle",
    "Suppose u_i(Y_j) > u_i(Y_i). By Z.L4 u_j(Y_j) >= u_i(Y_j) > u_i(Y_i). If j gives i a small part e of Y_j, i has at least "
    "u_i(Y_i) + e u_i(Y_j), more than before, and j has (1 - e) u_j(Y_j), still more than i had. So Y was not LMMF.",
)
_HIGHER = Proof("Z: lexicographically larger", "More for one and less for nobody would be lexicographically larger.")
_PRODUCT = Proof(
    "Z: a larger product", "All u_n > 0 at the optimum, so the product would be larger with more for one and less for nobody."
)

statements = [
    # ---- sections I to III
    printed_claim(
        "Z.I.toy",
        "A user with two ways of running tasks completes two tasks where with one way only one is possible.",
        "Z I",
        Case(Instance([[["9/10", "1/10"], ["1/10", "9/10"]]], [[1, 1]])),
        printed_numbers(_toy),
        note="epsilon = 1/10",
    ),
    printed_claim(
        "Z.Fig1",
        "The optimal packing of user 1's demands in (11, 11, 13) is 5, 1 and 2.5, a utility of 8.5.",
        "Z II-A, Fig. 1",
        Case(example("zarchy-fig1").instance),
        printed_numbers(_fig1),
        note="(31/6, 2/3, 35/12) packs 35/4",
    ),
    printed_claim(
        "Z.Ex1",
        "In Example 1 MMF and LMMF give both users a utility of 3.",
        "Z III-A, Example 1, Fig. 2",
        Case(example("zarchy-ex1").instance),
        printed_numbers(_ex1),
    ),
    printed_claim(
        "Z.Ex2",
        "In Example 2 LMMF outputs (1, 0, 0) and (0, 1, 1).",
        "Z III-A, Example 2, Fig. 3",
        Case(example("zarchy-ex2").instance),
        printed_numbers(_ex2),
    ),
    Statement(
        "Z.MMF.pareto",
        "MMF can be suboptimal: a max-min fair allocation need not be Pareto optimal.",
        "Z III-A, Example 2",
        "some",
        lambda case: _wasteful_mmf(case, False),
        lambda case: _wasteful_mmf(case, True),
        replace(ONE_POOL, points=1),
        printed=Case(example("zarchy-ex2").instance, points=((F(1), F(1)),)),
        mechanism="mmf",
        property="pareto",
    ),
    Statement(
        "Z.MMF",
        "MMF maximises the least utility.",
        "Z III-A, (2)",
        "all",
        **about_mechanism("lmmf", max_min_fair),
        hypotheses=ONE_POOL,
        proof="Of sorted vectors the lexicographically largest has the largest first entry, so LMMF is MMF.",
        note="tried on LMMF, which is MMF too",
    ),
    printed_claim(
        "Z.III.rounds",
        "For the three users of III-A the rounds are at 1 and 2: utilities 1, 1 and 2.",
        "Z III-A",
        Case(example("zarchy-rounds").instance),
        printed_numbers(_rounds),
    ),
    Statement(
        "Z.III.procedure.inside",
        "Users who cannot have more inside the one Y of iteration 1, where others keep their bundles, have a_1 for good.",
        "Z III-A, read for the Y that was computed",
        "all",
        **_without_cell("lmmf", _inside_one_allocation),
        hypotheses=replace(ONE_POOL, points=1),
        printed=INSIDE,
        reading="ours",
        note='A reading of "his utility in Y cannot be increased". It depends on Y, which is not unique: somebody with two ways '
        "may move. Where others keep their utilities, and not their bundles, it is Z.P3.true.",
    ),
    printed_claim(
        "Z.III.endowment",
        "Equal endowments give both users 1/2 where NB gives each the resource it needs.",
        "Z III-B",
        Case(example("zarchy-endowment").instance),
        printed_numbers(_endowment),
    ),
    printed_claim(
        "Z.III.nb",
        "In a pool of (8, 8) NB allocates (4, 4) to each user: two tasks each, a product of 4.",
        "Z III-B",
        Case(example("zarchy-nb").instance),
        printed_numbers(_nb_example),
    ),
    # ---- section IV
    Statement(
        "Z.P1",
        "LMMF is computationally efficient; here: it takes at most n linear programs.",
        "Z Proposition 1",
        "run",
        **few_rounds("lmmf"),
        hypotheses=ONE_POOL,
        property="polynomial-time",
        table="Z.Table1",
        proof=_ROUNDS,
    ),
    Statement(
        "Z.P2",
        f"NB is computationally efficient; here: an interior-point code takes at most {STEPS} iterations.",
        "Z Proposition 2",
        "run",
        _few_steps,
        _few_newton_steps,
        ONE_POOL,
        mechanism="nb",
        property="polynomial-time",
        table="Z.Table1",
    ),
    _points(
        "Z.C1",
        "Mixtures of feasible allocations are feasible.",
        "Z Claim 1",
        _mixture_fits,
        "A mixture uses of each resource the mixture of what the two use, at most the capacity.",
    ),
    _points(
        "Z.L1",
        "The utility of a mixture is at least the mixture of the utilities.",
        "Z Lemma 1",
        _concave,
        "The mixture of a packing of X and one of X' fits into the mixture of X and X', and runs the mixture of their tasks.",
    ),
    _points(
        "Z.L2",
        "The utility is continuous along mixtures.",
        "Z Lemma 2",
        _continuous,
        "By LP duality, as d_jm != 0, u_j(X) is the least y X over the vertices y, finitely many, of {y >= 0: all y d_jm >= 1}.",
    ),
    _points(
        "Z.P5.homogeneous",
        "The utility is homogeneous: u(g X) = g u(X).",
        "Z Proposition 5, (5) and (6)",
        _homogeneous,
        "For g > 0 (6) holds for alpha and X exactly if it does for g alpha and g X; and u(0) = 0, for no demand vector is 0.",
    ),
    printed_claim(
        "Z.D2",
        "The pivot users of the illustration of Definition 2.",
        "Z IV-B, Definition 2",
        EX3,
        printed_numbers(_pivot_example),
    ),
    _points(
        "Z.C2",
        "For pivots i of Y and j of Y', <Y'> is larger than <Y> if and only if u_j(Y'_j) > u_i(Y_i).",
        "Z Claim 2",
        _claim2,
        note="'only if' is wrong: pivots can be equal, and the rest decide; the proofs use 'if' (Z.C2.if)",
    ),
    _points(
        "Z.C2.if",
        "For pivots i of Y and j of Y', if u_j(Y'_j) > u_i(Y_i) then <Y'> is larger than <Y>.",
        "Z Claim 2, the true direction",
        _claim2_if,
        "Those who change have at least a = u_i(Y_i) in Y, and i has a; in Y' they all have more than a. So fewer users have at "
        "most a in Y' than in Y, and for v < a as many have at most v: those do not change.",
    ),
    _points(
        "Z.L3",
        "If a pivot user of Y has more in Y', it has more in (1-e) Y + e Y' for small e.",
        "Z Lemma 3",
        _lemma3,
        "By Z.L1 it has u_i(Y_i) + e (u_i(Y'_i) - u_i(Y_i)) or more, for every e in (0, 1].",
    ),
    Statement(
        "Z.Cor1",
        "If a pivot user i of Y with respect to Y' has u_i(Y'_i) > u_i(Y_i), then Y is not LMMF.",
        "Z Corollary 1",
        "all",
        **_without_cell("lmmf", _corollary1(False)),
        hypotheses=replace(ONE_POOL, points=1),
        note="Y is the answer of lmmf; another pivot with the same utility may lose (Z.Cor1.all)",
    ),
    Statement(
        "Z.Cor1.all",
        "If all pivot users of Y with respect to Y' have more in Y', then Y is not LMMF.",
        "Z Corollary 1, the true form",
        "all",
        **_without_cell("lmmf", _corollary1(True)),
        hypotheses=replace(ONE_POOL, points=1),
        proof="After a small step from Y to Y' pivots have more than a, which they had (Z.L3); who does not change has no less "
        "(Z.L1); and who changes and is no pivot had more than a and still has (Z.L2). So fewer users have at most a, and for no "
        "v < a do more have at most v: that is lexicographically larger.",
    ),
    Statement(
        "Z.P3",
        "The LMMF mechanism, by its iterations as printed, places all users and is lexicographically max-min fair.",
        "Z Proposition 3, of the iterations in III-A",
        "all",
        **_without_cell("lmmf", _as_printed),
        hypotheses=ONE_POOL,
        printed=REPEATING,
        note="rounds t >= 2 protect only users placed before, so the iterations need not end; protecting everybody, as round 1 "
        "does, is right (Z.P3.true)",
    ),
    Statement(
        "Z.P3.true",
        "With the test of iteration 1 in all iterations, the LMMF mechanism is lexicographically max-min fair.",
        "true instead of Z Proposition 3",
        "all",
        **about_mechanism("lmmf", leximin),
        hypotheses=ONE_POOL,
        property="leximin",
        table="Z.Table1",
        proof=_LEVELS,
        reading="of a repaired text",
    ),
    Statement(
        "Z.C3",
        "LMMF is Pareto optimal.",
        "Z Claim 3",
        "all",
        **about_mechanism("lmmf", PARETO),
        hypotheses=ONE_POOL,
        property="pareto",
        table="Z.Table1",
        proof=_HIGHER,
    ),
    printed_claim(
        "Z.Ex3",
        "In Example 3 LMMF outputs 2/3 and 1/3, utilities of 2/3; after the misreport of Proposition 6 equal parts.",
        "Z IV, Example 3",
        EX3,
        printed_numbers(_ex3),
    ),
    Statement(
        "Z.P4",
        "LMMF violates envy-freeness.",
        "Z Proposition 4, Example 3",
        "some",
        **about_mechanism("lmmf", ENVY),
        hypotheses=ONE_POOL,
        printed=EX3,
        property="envy-freeness",
        table="Z.Table1",
    ),
    Statement(
        "Z.P5.EF",
        "NB is envy-free.",
        "Z Proposition 5",
        "all",
        **about_mechanism("nb", ENVY),
        hypotheses=ONE_POOL,
        property="envy-freeness",
        table="Z.Table1",
        proof=_MARKET,
    ),
    Statement(
        "Z.P5.PO",
        "NB is Pareto optimal.",
        "Z Proposition 5",
        "all",
        **about_mechanism("nb", PARETO),
        hypotheses=ONE_POOL,
        property="pareto",
        table="Z.Table1",
        proof=_PRODUCT,
    ),
    Statement(
        "Z.P5.CEEI",
        "The allocation of NB is that of a competitive equilibrium from equal incomes.",
        "Z Proposition 5",
        "all",
        _market_floats,
        _market_exact,
        ONE_POOL,
        mechanism="nb",
        property="market",
        proof=_MARKET,
    ),
    Statement(
        "Z.R.leximin",
        "NB is not lexicographically max-min fair.",
        "Z IV-B, after Proposition 5",
        "some",
        **about_mechanism("nb", leximin),
        hypotheses=ONE_POOL,
        printed=EX3,
        property="leximin",
        table="Z.Table1",
    ),
    Statement(
        "Z.R.split",
        "NB always splits a single resource equally.",
        "Z IV-B, after Proposition 5",
        "all",
        **about_mechanism("nb", _splits),
        hypotheses=replace(ONE_POOL, one_resource=True),
        property="equal-split",
        proof="With x_n of the resource n runs x_n / d_n tasks, d_n its least demand. The product of these is largest where that "
        "of the x_n is: where they are equal and their sum is the capacity.",
    ),
    Statement(
        "Z.P6",
        "LMMF is not strategyproof.",
        "Z Proposition 6",
        "some",
        **about_mechanism("lmmf", MISREPORTING),
        hypotheses=ONE_POOL,
        misreports=1,
        printed=Case(EX3.instance, _MISREPORT6),
        property="strategyproofness",
        table="Z.Table1",
    ),
    Statement(
        "Z.P7",
        "NB is not strategyproof.",
        "Z Proposition 7",
        "some",
        **about_mechanism("nb", MISREPORTING),
        hypotheses=ONE_POOL,
        misreports=1,
        printed=Case(PROP7.instance, _MISREPORT7),
        property="strategyproofness",
        table="Z.Table1",
    ),
    printed_claim(
        "Z.P7.numbers",
        "The allocations of Proposition 7, and utilities of 1 and 0.83 after the misreport.",
        "Z Proposition 7",
        PROP7,
        printed_numbers(_prop7),
        note="(1/3, 2/3) is worth 8/9 to user 2; the claim stands",
    ),
    Statement(
        "Z.P8",
        "LMMF violates the sharing incentive.",
        "Z Proposition 8",
        "some",
        **about_mechanism("lmmf", SHARING),
        hypotheses=ONE_POOL,
        printed=PROP8,
        property="sharing-incentive",
        table="Z.Table1",
    ),
    printed_claim(
        "Z.P8.numbers",
        "In Proposition 8, u_2(E) = 3/2 and u_2(Y_2) = 1/2.",
        "Z Proposition 8",
        PROP8,
        printed_numbers(_prop8),
        note="(1, 0, 0) runs one task; the claim stands",
    ),
    Statement(
        "Z.P9",
        "NB satisfies the sharing incentive.",
        "Z Proposition 9",
        "all",
        **about_mechanism("nb", SHARING),
        hypotheses=ONE_POOL,
        property="sharing-incentive",
        table="Z.Table1",
        proof=_MARKET,
    ),
    # ---- section V
    Statement(
        "Z.L4",
        "Over simplex demands, what LMMF gives a user packs no more tasks of any other simplex demands: u_i(Y_i) >= u'_i(Y_i).",
        "Z Lemma 4",
        "all",
        **_without_cell("lmmf", _lemma4(False)),
        hypotheses=SIMPLEX,
        misreports=1,
        proof="Every task of either kind takes one unit in all, and Y_i, which is what u_i(Y_i) tasks take, has u_i(Y_i) units.",
        note="Y_i is what the tasks take, as the proof assumes",
    ),
    Statement(
        "Z.L4.leftovers",
        "Lemma 4 for every allocation that is LMMF by Definition 1, whoever is given the unused resources.",
        "Z Lemma 4, to the letter",
        "all",
        **_without_cell("lmmf", _lemma4(True)),
        hypotheses=SIMPLEX,
        misreports=1,
        note="the proof's 'Y_i is a convex combination of the demand vectors' needs that nothing unused is allocated",
    ),
    Statement(
        "Z.T1",
        "LMMF over simplex demands is strategyproof.",
        "Z Theorem 1",
        "all",
        **about_mechanism("lmmf", MISREPORTING),
        hypotheses=SIMPLEX,
        misreports=1,
        property="strategyproofness",
        table="Z.Table2",
        proof=_EXCHANGE,
        note="the printed proof uses Corollary 1, which is wrong as printed; the exchange argument does not",
    ),
    Statement(
        "Z.T1.GSP",
        "LMMF over simplex demands is group strategyproof: not all who misreport together gain.",
        "Z V, after Theorem 1",
        "all",
        **about_mechanism("lmmf", MISREPORTING),
        hypotheses=SIMPLEX,
        misreports=2,
        property="group-strategyproofness",
        table="Z.Table2",
        proof=_EXCHANGE,
    ),
    Statement(
        "Z.T1.GSP.strict",
        "Over simplex demands, if a member of a misreporting coalition gains, another is worse off.",
        "Z V, the words after Theorem 1",
        "all",
        **about_mechanism("lmmf", strict_misreporting),
        hypotheses=SIMPLEX,
        misreports=2,
        printed=HELPING,
        property="strict-group-strategyproofness",
        note="a user who loses nothing by its misreport can help another; only 'not all gain' is true (Z.T1.GSP)",
    ),
    Statement(
        "Z.T2",
        "LMMF over simplex demands is envy-free.",
        "Z Theorem 2",
        "all",
        **about_mechanism("lmmf", ENVY),
        hypotheses=SIMPLEX,
        property="envy-freeness",
        table="Z.Table2",
        proof=_NO_ENVY,
        note="if nothing unused is allocated, see Z.T2.leftovers",
    ),
    Statement(
        "Z.T1.leftovers",
        "Theorem 1 for every allocation that is LMMF by Definition 1, whoever is given the unused resources.",
        "Z Theorem 1, to the letter",
        "all",
        **_without_cell("lmmf", _misreporting_with_leftovers),
        hypotheses=SIMPLEX,
        misreports=1,
        note="a misreporting user may be given what its report does not use and its true tasks do; the proof rests on Lemma 4",
    ),
    Statement(
        "Z.T2.leftovers",
        "Theorem 2 for every allocation that is LMMF by Definition 1, whoever is given the unused resources.",
        "Z Theorem 2, to the letter",
        "all",
        **_without_cell("lmmf", _envy_with_leftovers),
        hypotheses=SIMPLEX,
        note="Definition 1 is about utilities only",
    ),
    Statement(
        "Z.V.LMMF.CE",
        "LMMF over simplex demands takes at most n linear programs.",
        "Z V, the table for simplex demands",
        "run",
        **few_rounds("lmmf"),
        hypotheses=SIMPLEX,
        property="polynomial-time",
        table="Z.Table2",
        proof=_ROUNDS,
    ),
    _cell(
        "LMMF.SI",
        "LMMF is not SI under simplex demands: the example of Proposition 8.",
        "lmmf",
        SHARING,
        "some",
        "sharing-incentive",
        printed=PROP8,
    ),
    _cell("LMMF.PO", "LMMF over simplex demands is Pareto optimal.", "lmmf", PARETO, "all", "pareto", proof=_HIGHER),
    _cell(
        "LMMF.LMMF",
        "LMMF over simplex demands is lexicographically max-min fair.",
        "lmmf",
        leximin,
        "all",
        "leximin",
        proof=_LEVELS,
    ),
    _cell(
        "NB.CE",
        "NB over simplex demands takes few iterations.",
        "nb",
        ENVY,
        "run",
        "polynomial-time",
        trial=_few_steps,
        confirm=_few_newton_steps,
    ),
    _cell("NB.EF", "NB over simplex demands is envy-free.", "nb", ENVY, "all", "envy-freeness", proof=_MARKET),
    _cell(
        "NB.SI",
        "NB over simplex demands satisfies the sharing incentive.",
        "nb",
        SHARING,
        "all",
        "sharing-incentive",
        proof=_MARKET,
    ),
    _cell("NB.PO", "NB over simplex demands is Pareto optimal.", "nb", PARETO, "all", "pareto", proof=_PRODUCT),
    _cell(
        "NB.LMMF",
        "NB over simplex demands is not lexicographically max-min fair.",
        "nb",
        leximin,
        "some",
        "leximin",
        printed=PROP7,
    ),
    _cell(
        "NB.SP",
        "NB over simplex demands is not strategyproof.",
        "nb",
        MISREPORTING,
        "some",
        "strategyproofness",
        printed=Case(PROP7.instance, _MISREPORT7),
        misreports=1,
    ),
    _cell(
        "NB.GSP",
        "NB over simplex demands is not group strategyproof.",
        "nb",
        MISREPORTING,
        "some",
        "group-strategyproofness",
        printed=Case(PROP7.instance, _MISREPORT7),
        misreports=2,
    ),
    # ---- section VI
    Statement(
        "Z.VI.EF",
        "Envy-freeness over simplex demands holds even if each user has a different f, here f_n(c) = (sum of c_r) / w_n.",
        "Z VI, of Theorem 2",
        "all",
        **_without_cell("lmmf", _plain_envy),
        hypotheses=replace(SIMPLEX, equal_weights=False),
        note="f acts on what the tasks take; with simplex demands the sum is the number of tasks. True for one f: Z.VI.EF.common",
    ),
    Statement(
        "Z.VI.EF.common",
        "LMMF is envy-free for utilities f(what the tasks take) with one concave f that rises strictly along rays.",
        "Z VI, of Theorem 2",
        "all",
        **_without_cell("lmmf", _linear(ENVY, different=False)),
        hypotheses=ONE_POOL,
        proof="Say n envies m, who holds what its tasks take, c_m: tasks of n that take c <= c_m have f(c) > u_n. "
        + _RISING
        + " So u_m = f(c_m) >= f(c) > u_n. Let m give up the part e of its tasks, and n run 1 - e of its own and e of those "
        "that take c: u_n rises by e (f(c) - u_n) at least, as f is concave, and u_m falls to f((1 - e) c_m), which for small e "
        "is still above u_n. Others keep what they have, so Y was not LMMF.",
        note="tried with a linear f; simplex demands are not needed. If nothing unused is allocated, as for Z.T2",
    ),
    Statement(
        "Z.VI.SP",
        "LMMF is strategyproof for utilities f_n(what the tasks take), with known f_n of their own; of a coalition not all gain.",
        "Z VI, of Theorem 1",
        "all",
        **_without_cell("lmmf", _linear(MISREPORTING, different=True)),
        hypotheses=ONE_POOL,
        misreports=2,
        proof=_EXCHANGE
        + " Here v_n and v'_n are f_n of what these tasks take. Z.L4 is: what n truly runs with Y'_n takes c <= Y'_n, and "
        "f_n(c) <= f_n(Y'_n) = v'_n. " + _RISING,
        note="tried with linear f_n; simplex demands are not needed. If nothing unused is allocated, as for Z.T1",
    ),
    Statement(
        "Z.VI.unique",
        "When f is strictly concave, the LMMF outcome is unique.",
        "Z VI",
        "all",
        _midpoint_in_floats,
        _midpoint,
        TWO_POINTS,
        proof="Let tasks take c_n and c'_n in two LMMF outcomes that differ. Of the users with c_n != c'_n let n have the least "
        "utility in one of them, m, say in the first. In the mean of both, which can be run, each user with c_k != c'_k has "
        "f_k((c_k + c'_k) / 2) > m, and all others what they have in the first. So fewer users have m, and no more have less "
        "than m: the first was not LMMF.",
        note="What tasks take is unique, whether users share f or not; tasks are not where demand vectors are dependent, nor "
        "who gets unused resources. Tried is that the mean is lexicographically larger.",
    ),
]
