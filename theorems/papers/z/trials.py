"""How the claims of Z (LMMF and NB) in statements.toml are tried and confirmed, by their ids.

Z.P2 and Z.V.NB.CE count the iterations of two interior-point codes; what confirms are the Newton steps of a third, whose answer
is proved in rationals (newton_steps.py).
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
    verdict_of,
)
from fairalloc.theorems.judges.properties import property_judge
from fairalloc.theorems.judges.trials import Answer, Judge, Routes, Undecided
from fairalloc.theorems.papers.z.newton_steps import centre_path, proved_gap

F = Fraction

ENVY, PARETO = property_judge("envy-freeness"), property_judge("pareto")
MISREPORTING = property_judge("group-strategyproofness")

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


def _both(function: Any) -> Routes:
    """A check of two points, in floats and in rationals."""

    def trial(case: Case) -> Verdict:
        _unlimited(case)
        return _decided(function, case, False)

    def confirm(case: Case) -> Verdict:
        _unlimited(case)
        return _decided(function, case, True)

    return Routes(trial, confirm)


def _decided(function: Any, case: Case, exact: bool) -> Verdict:
    try:
        verdict: Verdict = function(case, exact)
    except Undecided as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "")
    return verdict


cases: dict[str, Case] = {
    "i-toy": Case(Instance([[["9/10", "1/10"], ["1/10", "9/10"]]], [[1, 1]])),
    "mmf-pareto": Case(example("zarchy-ex2").instance, points=((F(1), F(1)),)),
    "inside": INSIDE,
    "repeating": REPEATING,
    "p6": Case(EX3.instance, _MISREPORT6),
    "p7": Case(PROP7.instance, _MISREPORT7),
    "helping": HELPING,
    "v-nb-sp": Case(PROP7.instance, _MISREPORT7),
    "v-nb-gsp": Case(PROP7.instance, _MISREPORT7),
}


trials: dict[str, Routes] = {
    "Z.I.toy": printed_numbers(_toy),
    "Z.Fig1": printed_numbers(_fig1),
    "Z.Ex1": printed_numbers(_ex1),
    "Z.Ex2": printed_numbers(_ex2),
    "Z.MMF.pareto": Routes(lambda case: _wasteful_mmf(case, False), lambda case: _wasteful_mmf(case, True)),
    "Z.III.rounds": printed_numbers(_rounds),
    "Z.III.procedure.inside": about_mechanism("lmmf", _inside_one_allocation),
    "Z.III.endowment": printed_numbers(_endowment),
    "Z.III.nb": printed_numbers(_nb_example),
    "Z.P1": few_rounds("lmmf"),
    "Z.P2": Routes(_few_steps, _few_newton_steps),
    "Z.C1": _both(_mixture_fits),
    "Z.L1": _both(_concave),
    "Z.L2": _both(_continuous),
    "Z.P5.homogeneous": _both(_homogeneous),
    "Z.D2": printed_numbers(_pivot_example),
    "Z.C2": _both(_claim2),
    "Z.C2.if": _both(_claim2_if),
    "Z.L3": _both(_lemma3),
    "Z.Cor1": about_mechanism("lmmf", _corollary1(False)),
    "Z.Cor1.all": about_mechanism("lmmf", _corollary1(True)),
    "Z.P3": about_mechanism("lmmf", _as_printed),
    "Z.Ex3": printed_numbers(_ex3),
    "Z.P5.CEEI": Routes(_market_floats, _market_exact),
    "Z.R.split": about_mechanism("nb", _splits),
    "Z.P7.numbers": printed_numbers(_prop7),
    "Z.P8.numbers": printed_numbers(_prop8),
    "Z.L4": about_mechanism("lmmf", _lemma4(False)),
    "Z.L4.leftovers": about_mechanism("lmmf", _lemma4(True)),
    "Z.T1.leftovers": about_mechanism("lmmf", _misreporting_with_leftovers),
    "Z.T2.leftovers": about_mechanism("lmmf", _envy_with_leftovers),
    "Z.V.LMMF.CE": few_rounds("lmmf"),
    "Z.V.LMMF.LMMF": about_mechanism("lmmf", leximin),
    "Z.V.NB.CE": Routes(_few_steps, _few_newton_steps),
    "Z.V.NB.LMMF": about_mechanism("nb", leximin),
    "Z.V.NB.SP": about_mechanism("nb", MISREPORTING),
    "Z.VI.EF": about_mechanism("lmmf", _plain_envy),
    "Z.VI.EF.common": about_mechanism("lmmf", _linear(ENVY, different=False)),
    "Z.VI.SP": about_mechanism("lmmf", _linear(MISREPORTING, different=True)),
    "Z.VI.unique": Routes(_midpoint_in_floats, _midpoint),
}
