"""The claims of D (no justified complaints), tried and confirmed.

NJC allocations are not unique. A claim about "the" allocation is one about all of them unless its text says otherwise, so one
that fails it refutes it. About misreports: one helps where the worst allocation after it is better for the user than the best
before, so that the choice among allocations does not matter. "Where the trajectory ends" is one allocation, the market's
(solvers/njc/ode.py).

Statements whose id ends in `.true` are not D's: they say what is true where D's claim is not.

No statements are made of definitions, of opinions ("different in their philosophy", "seems the simplest"), of the claim that NJC
is harder to compute because bottlenecks are not known beforehand (section 4; the market takes polynomial time), of (4), (9)
and (10), which are steps of arithmetic, of the curves of 5.3 (the two users' special case of 5.4), and of section 6. Misprints
that leave no formula to try ((13), its compact form) are in docs/ERRATA.md.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, for_the_answer_of
from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.rationals import asset_share
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import attempted, proved
from fairalloc.theorems.papers.d import judges
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    TrialAndConfirm,
    brackets,
    by_polytopes,
    compared_with_drf,
    complaint,
    data,
    for_every,
    full,
    loads,
    two_ways,
)
from fairalloc.theorems.papers.d.judges import at_points, both_kinds, printed, rationals
from fairalloc.theorems.proofs import Proof
from fairalloc.theorems.statement import Hypotheses, Statement

__all__ = ["statements"]

POOL = Hypotheses(one_server=True, unlimited=False)
"""D 3: one pool; a user requests max_tasks, or what the pool runs for it alone."""

USERS = Hypotheses(one_server=True, unlimited=False, users=2)
EQUALS = Hypotheses(one_server=True, unlimited=False, equal_weights=True, users=2)
THREE = Hypotheses(one_server=True, unlimited=False, users=3)
ZEROS = Hypotheses(one_server=True, unlimited=False, parameters={"unentitled": (0, 1)})
"""Entitlements may be 0 (D Theorem 1)."""

COMMON = Hypotheses(one_server=True, unlimited=False, equal_weights=True, bottleneck=True, users=2)
"""D 4: all users have the same dominant resource."""

POINT = Hypotheses(one_server=True, unlimited=False, points=1)
HEAVY = Hypotheses(one_server=True, unlimited=False, parameters={"heavy": (1, 5, 20, Fraction(1, 10))})
ACCURACIES = Hypotheses(
    one_server=True, unlimited=False, parameters={"accuracy": (Fraction(1, 100), Fraction(1, 10**4), Fraction(1, 10**6))}
)


def _factors(*values: str) -> Hypotheses:
    factors = tuple(Fraction(v) for v in values)
    return Hypotheses(one_server=True, unlimited=False, users=2, parameters={"factor": factors})


def _example(name: str, **parameters: Any) -> Case:
    return Case(example(name).instance, parameters=parameters)


def middle(count: int) -> Instance:
    """D 4's counter-example on utilisation with so many "middle" resources; it is printed with two."""
    return Instance([["1/2", *[0] * count, 1], [1, *[1] * count, 0]], [[1] * (count + 2)], max_tasks=[1, 1])


# ---- printed numbers --------------------------------------------------------------------------------------------------

Facts = Sequence[tuple[str, bool]]


def _greedy_steps(d: Requests) -> Facts:
    first, second, third = rationals(1, 0, 0), rationals(1, "2/3", 0), rationals("3/4", 1, 0)
    two = Requests(d.parts[:2], d.entitlement[:2], d.unit[:2], d.R)
    enough = [j for j, r in d.parts[1].items() if Fraction(2, 3) * r >= d.entitlement[1]]
    return [
        ("at (1, 0, 0) user 1 has all it asks for", first[0] == 1 and max(loads(d, first)) <= 1),
        ("with x_1 = 1 resource 3 is full at x_2 = 2/3", full(d, second) == [2] and max(loads(d, second)) == 1),
        (
            "at (1, 2/3, 0) user 2 has its entitlement of resource 2 alone, and complains",
            enough == [1] and 1 not in full(d, second),
        ),
        ("at (1, 2/3) user 2 complains", complaint(two, second[:2]) > 0),
        ("at (3/4, 1, 0) neither of users 1 and 2 complains", complaint(two, third[:2]) == 0),
        ("a solution for all three exists", bool(by_polytopes(d))),
    ]


def _counting(d: Requests) -> Facts:
    shares = [d.parts[0].get(j, ZERO) for j in range(3)]
    asset = asset_share(Instance([shares], [[1, 1, 1]]))[0] / 3
    return [
        ("the asset share is 64/300", asset == Fraction(64, 300)),
        ("the dominant share is 37/100", max(shares) == Fraction(37, 100)),
        ("the share of the cpu is 20/100", shares[0] == Fraction(20, 100)),
    ]


def _fig2_njc(d: Requests) -> Facts:
    (x, *more) = by_polytopes(d)
    held = [[v * part[j] for j in range(2)] for v, part in zip(x, d.parts, strict=True)]
    third = Fraction(1, 3)
    return [
        ("resource 1 alone is full", full(d, x) == [0]),
        (
            "the allocation is (1/3, 2/30), (1/3, 2/30), (1/3, 2/3), and the only one",
            not more and held == _fig2(third, third, third),
        ),
    ]


def _fig2_drf(d: Requests) -> Facts:
    x = judges.drf_of(d)
    held = [[v * part[j] for j in range(2)] for v, part in zip(x, d.parts, strict=True)]
    share = Fraction(2, 5)
    return [("the allocation is (0.4, 0.08), (0.4, 0.08), (0.2, 0.4)", held == _fig2(share, share, share / 2))]


def _fig2(first: Fraction, second: Fraction, third: Fraction) -> list[list[Fraction]]:
    return [[first, first / 5], [second, second / 5], [third, 2 * third]]


def _fig2_utilisation(d: Requests) -> Facts:
    ours, other = sum(loads(d, by_polytopes(d)[0])), sum(loads(d, judges.drf_of(d)))
    return [("NJC uses more than DRF, on the average of the resources", ours > other)]


def _middle_numbers(d: Requests) -> Facts:
    (x, *more) = by_polytopes(d)
    return [
        ("the first and the last resource are the bottlenecks", full(d, x) == [0, 3]),
        ("NJC gives (1/2, 0, 0, 1) and (1/2, 1/2, 1/2, 0), and nothing else", not more and x == rationals(1, "1/2")),
        ("DRF gives (1/3, 0, 0, 2/3) and (2/3, 2/3, 2/3, 0)", judges.drf_of(d) == rationals("2/3", "2/3")),
    ]


def _middle_not_higher(d: Requests) -> Facts:
    (x, *more), other = by_polytopes(d), sum(loads(d, judges.drf_of(d))) / d.R
    ours = sum(loads(d, x)) / d.R
    return [(f"NJC's utilisation, of one allocation, is {ours}, not higher than DRF's {other}", not more and ours <= other)]


def _middle_limits(d: Requests) -> Facts:
    ours, other = rationals(1, "1/2"), rationals("2/3", "2/3")
    far, facts = [], [("the answers for two middle resources", judges.drf_of(d) == other and complaint(d, ours) == 0)]
    for count in (2, 10, 50, 250):
        wide = data(Case(middle(count)))
        facts.append((f"the answers for {count} middle resources", judges.drf_of(wide) == other and complaint(wide, ours) == 0))
        m = count + 2
        used = [sum(loads(wide, x)) / m for x in (ours, other)]
        far.append((used[0] - Fraction(1, 2) == Fraction(1, m), used[1] - Fraction(2, 3) == Fraction(1, 3 * m)))
    return [*facts, ("with m resources the averages are 1/2 + 1/m and 2/3 + 1/(3m)", all(a and b for a, b in far))]


def _removal(d: Requests) -> Facts:
    rest = judges.reduced(d, 0)
    return [
        ("the others are entitled to 0.4 and 0.6", rest.entitlement == rationals("2/5", "3/5")),
        ("their requests are multiplied by 5/3", rest.parts[0][0] == Fraction(5, 3) * d.parts[1][0]),
    ]


def _fig3(d: Requests) -> Facts:
    load = loads(d, rationals("2/3", "11/12"))[0]
    return [("(2/3, 11/12) uses 13/12 of resource 1", load == Fraction(13, 12))]


def _fig5(d: Requests) -> Facts:
    found = by_polytopes(d)
    return [
        ("2/3 x 0.6 = 0.4 and 2/3 x 0.9 = 0.6 fill the resource", loads(d, rationals("3/5", "9/10")) == (ONE,)),
        ("(0.6, 0.9) is the NJC allocation", found == [rationals("3/5", "9/10")]),
    ]


def _fig5_ratios(d: Requests) -> Facts:
    facts = []
    for ratio in rationals("9/4", 3, 10, 1000):
        for turned in (False, True):
            e = (1 / (1 + ratio), ratio / (1 + ratio))
            (x, *more) = by_polytopes(Requests(d.parts, e[::-1] if turned else e, d.unit, d.R))
            x = x[::-1] if turned else x
            facts.append((f"with the ratio {ratio} one user is granted all", not more and x == rationals("1/2", 1)))
            facts.append((f"with the ratio {ratio} the other gets more than its entitlement", x[0] * Fraction(2, 3) > e[0]))
    return facts


def _segment(d: Requests) -> Facts:
    found = by_polytopes(d)
    ends = [rationals("1/2", "1/2", "1/2"), rationals("7/10", "3/10", "3/10")]
    inside = [tuple((1 - t) * a + t * b for a, b in zip(*ends, strict=True)) for t in rationals(0, "1/3", "1/2", "9/10", 1)]
    return [
        ("all solutions are (z, 1 - z, 1 - z), 1/2 <= z <= 7/10", found == ends and all(complaint(d, x) == 0 for x in inside)),
        ("both resources are bottlenecks in all of them", all(full(d, x) == [0, 1] for x in inside)),
    ]


def _segment_weights(d: Requests) -> Facts:
    """X = (1/2, 1/2, 1/2), p = (2/5, 3/5) fulfil the optimality conditions of the market, where every trajectory ends."""
    x, p = rationals("1/2", "1/2", "1/2"), rationals("2/5", "3/5")
    market = [sum(p[j] * r for j, r in part.items()) == e / v for v, part, e in zip(x, d.parts, d.entitlement, strict=True)]
    market += [load == 1 for load in loads(d, x)]
    case = _example("dolev-segment")
    ends = [
        judges.trajectory(d, 1e-6, weighting=judges.weighting(Case(case.instance, parameters={"heavy": h}))).x[-1]
        for h in (1, 5, 20)
    ]
    far = max(float(abs(end - 0.5).max()) for end in ends)
    facts = [("the market's allocation is (1/2, 1/2, 1/2)", all(market))]
    other = f"weights 1, 5, 20 of the first resource give other ends than (1/2, 1/2, 1/2), which are {far:.0e} from it"
    return [*facts, (other, far > judges.NEAR * 100)]


def _circle(d: Requests) -> Facts:
    x = (Fraction(1, 3),) * 4
    return [
        ("1/3 for all is a solution with four bottlenecks", complaint(d, x) == 0 and full(d, x) == [0, 1, 2, 3]),
        ("all get more than their entitlement", all(v * r > e for v, part, e in judges.users(d, x) for r in part.values())),
    ]


def _circle_pairs() -> list[tuple[int, int]]:
    return [(i, j) for i in range(4) for j in range(i)]


def _circle_pair(i: int, j: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(1, 4) if k in (i, j) else Fraction(3, 8) for k in range(4))


def _circle_six(d: Requests) -> Facts:
    facts = []
    for i, j in _circle_pairs():
        x, others = _circle_pair(i, j), [k for k in range(4) if k not in (i, j)]
        expected = sorted((i, j) if (i - j) % 2 == 0 else others)
        spare = [loads(d, x)[k] for k in range(4) if k not in full(d, x)]
        facts.append((f"{brackets(x)} is a solution", complaint(d, x) == 0))
        facts.append((f"the bottlenecks of {brackets(x)} are {[k + 1 for k in expected]}", full(d, x) == expected))
        facts.append((f"the others are used to 0.875 at {brackets(x)}", spare == [Fraction(7, 8)] * 2))
    return facts


def _circle_all(d: Requests) -> Facts:
    listed = {(Fraction(1, 3),) * 4} | {_circle_pair(i, j) for i, j in _circle_pairs()}
    more = [x for x in by_polytopes(d) if x not in listed and complaint(d, x) == 0]
    other = f"the printed 7 solutions are all, so {brackets(more[0]) if more else 'nothing'} is no solution"
    return [(other, not more)]


def _circle_best(d: Requests) -> Facts:
    used = {x: sum(loads(d, x)) for x in by_polytopes(d)}
    best = [x for x, value in used.items() if value == max(used.values())]
    return [("1/3 for all alone has the highest utilisation", best == [(Fraction(1, 3),) * 4])]


def _printed_claim(name: str, text: str, place: str, case: Case, trials: TrialAndConfirm, **more: Any) -> Statement:
    return Statement(f"D.{name}", text, place, "one", *trials, printed=case, **more)


# ---- section 3 --------------------------------------------------------------------------------------------------------

_DEFINITION = [
    Statement(
        "D.S3.small",
        "Who requests less than its entitlement of every resource gets all it requests.",
        "D 3",
        "all",
        *for_every(judges.small_requests),
        POOL,
        proof="x_i r_ij <= r_ij < e_i for every j, so (2) leaves x_i = 1 only.",
    ),
    Statement(
        "D.S3.no-scarcity",
        "Where all requests fit, everybody gets all it requests.",
        "D 3",
        "all",
        *for_every(judges.no_scarcity),
        POOL,
        proof="By (2) a user with x_i < 1 has a full j with x_i r_ij >= e_i > 0; but then load_j < sum_k r_kj <= 1, so j is "
        "not full.",
    ),
    Statement(
        "D.S3.cut-back",
        "With a single bottleneck only users who request more than their entitlement of it are cut back.",
        "D 3",
        "all",
        *for_every(judges.cut_back),
        POOL,
        proof="If j alone is full, (2) gives x_i r_ij >= e_i > 0 where x_i < 1, and so r_ij > e_i.",
    ),
    Statement(
        "D.S3.pareto",
        "Giving a user more comes at the expense of others: NJC allocations are Pareto optimal.",
        "D 3; D 4, fourth attribute",
        "all",
        *for_every(judges.pareto),
        POOL,
        mechanism="njc",
        property="pareto",
        proof="x_i < 1 has a full j with x_i r_ij >= e_i > 0; more of x_i with no less of the others overloads j.",
    ),
    Statement(
        "D.S3.pareto-zero",
        "The same where entitlements may be 0, as Theorem 1 allows.",
        "D 3 with the hypotheses of D Theorem 1",
        "all",
        *for_every(judges.pareto),
        ZEROS,
        note="a user with e_i = 0 has no complaint as soon as there is a bottleneck, even one it does not use",
        reading="ours",
    ),
    Statement(
        "D.S3.pareto-not-fair",
        "Not every Pareto optimal allocation is free of justified complaints.",
        "D 3",
        "some",
        *two_ways(judges.serial_is_fair),
        USERS,
        note="tried on the Pareto optimal allocations in which one user after the other takes all it can",
    ),
    Statement(
        "D.S3.greedy",
        "Satisfying the users one at a time does not work.",
        "D 3",
        "some",
        *two_ways(judges.greedy),
        USERS,
        printed=_example("dolev-greedy"),
        note="those before keep what they have",
    ),
    _printed_claim(
        "S3.greedy-numbers",
        "The steps with three users: (1, 0, 0), x_2 <= 2/3, user 2's complaint, (3/4, 1, 0), and a solution exists.",
        "D 3",
        _example("dolev-greedy"),
        printed(_greedy_steps),
    ),
]

# ---- section 4: attributes --------------------------------------------------------------------------------------------

_MARKET = Proof(
    "D: the market",
    "For e > 0 the market maximises sum_i e_i log x_i over sum_i x_i r_ij <= 1 and x_i <= 1: e_i / x_i = sum_j p_j r_ij + q_i, "
    "with prices p and q of what is full. Times x_i and summed, 1 = sum_j p_j + sum_i q_i. So e_i = sum_j p_j x_i r_ij + q_i x_i"
    " is an average of x_i r_ij over full j, of x_i if that is 1, and of zeros. Not all are less than e_i: x_i = 1, or x_i r_ij "
    ">= e_i for a full j, so x is fair.",
)

_SAME_PROFILE = Proof(
    "D: bounds on one user",
    "Let u be the user's tasks at the market's optimum without its own bound. The largest sum e log x is a "
    "concave function of the tasks of one user, so with a bound b that user runs min(b, u): with a request of q' for q it "
    "can use min(q, q', u), and min(q, u) by the truth. Both are NJC allocations (D.T1), so the worst after it is no better "
    "than the best before.",
)

_ATTRIBUTES = [
    Statement(
        "D.S4.sharing-incentive",
        "Every user is at least as well off as with its entitlement of each resource.",
        "D 4, first attribute",
        "all",
        *for_every(judges.sharing, convex=True),
        POOL,
        mechanism="njc",
        property="sharing-incentive",
        proof="With e_i of each resource i runs y = min(1, min_j e_i / r_ij). By (2) x_i = 1 >= y, or x_i r_ij >= e_i >= y "
        "r_ij with r_ij > 0.",
    ),
    Statement(
        "D.S4.sharing-incentive.step",
        "In a fair allocation the fraction y of its request that a user performs has y r_ij = e_i for some resource j.",
        "D 4, first attribute",
        "all",
        *for_every(judges.exact_entitlement),
        POOL,
        note="what (2) gives is y r_ij >= e_i, or y = 1; the conclusion stands",
    ),
    Statement(
        "D.S4.strategyproof",
        "Users do not benefit from misreporting their needs, in particular not by another profile.",
        "D 4, second attribute",
        "all",
        *two_ways(judges.misreporting, FOR_SOME, FOR_ALL),
        USERS,
        misreports=1,
        mechanism="njc",
        property="strategyproofness",
        note="a benefit: the worst allocation after the misreport is better than the best before; with two users both are unique",
    ),
    Statement(
        "D.S4.strategyproof.less",
        "Asking for less with the same profile does not help.",
        "D 4, second attribute",
        "all",
        *two_ways(judges.scaled_request),
        _factors("1/2", "3/4", "1/4", "9/10"),
        proof=_SAME_PROFILE,
    ),
    Statement(
        "D.S4.strategyproof.more",
        "Asking for more with the same profile does not help.",
        "D 4, second attribute",
        "all",
        *two_ways(judges.scaled_request),
        _factors("2", "3/2", "5"),
        proof=_SAME_PROFILE,
    ),
    Statement(
        "D.S4.strategyproof.harm",
        "Misreporting can harm the user who misreports.",
        "D 4, second attribute",
        "some",
        *two_ways(judges.harm),
        POOL,
        misreports=1,
    ),
    Statement(
        "D.S4.envy-free",
        "No user prefers another user's allocation.",
        "D 4, third attribute",
        "all",
        *for_every(judges.envy),
        EQUALS,
        mechanism="njc",
        property="envy-freeness",
        note="with equal entitlements; where the allocation is unique it is the market's, and nobody envies",
    ),
    Statement(
        "D.S4.envy-free.true",
        "Where the trajectory ends, at the market's allocation, no user prefers another user's allocation.",
        "true instead of D 4, third attribute",
        "all",
        attempted("nb", judges.market_envy),
        proved("nb", judges.market_envy),
        EQUALS,
        proof=_MARKET
        + " If x_n < 1, q_n = 0 and e_n = x_n sum_j p_j r_nj > 0, and what m holds costs at most e_m = e_n. So if y r_nj <= x_m "
        "r_mj for all j, then y sum_j p_j r_nj <= e_n, and y <= x_n. With x_n = 1 nobody envies.",
    ),
    Statement(
        "D.S4.envy-free.step",
        "A user who prefers another's allocation could gain by mimicking the other's requirements.",
        "D 4, third attribute",
        "all",
        *two_ways(judges.envy_by_imitation),
        EQUALS,
        note="why envy-freeness should follow from strategyproofness; refuted where an allocation after it gives no gain",
    ),
]

# ---- section 4: compared with DRF ----------------------------------------------------------------------------------------------

_COMPARED_WITH_DRF = [
    _printed_claim(
        "S4.counting",
        "20%, 7% and 37% of three resources count as 64/300 in asset fairness, 37/100 in DRF, 20/100 if the cpu is full.",
        "D 4",
        Case(Instance([["1/5", "7/100", "37/100"]], [[1, 1, 1]], max_tasks=[1])),
        printed(_counting),
    ),
    Statement(
        "D.S4.drf-bottleneck",
        "Under DRF each user is constrained by a resource that is a bottleneck.",
        "D 4, after Ghodsi et al.",
        "all",
        *compared_with_drf(judges.drf_meets_a_bottleneck),
        POOL,
        proof="If no resource that a user with x_i < 1 uses is full, it can have more and nobody less: the shares, sorted, "
        "would be lexicographically larger.",
    ),
    _printed_claim(
        "S4.fig2-njc",
        "Fig. 2: NJC gives (1/3, 2/30) twice and (1/3, 2/3).",
        "D 4, Fig. 2",
        _example("dolev-fig2"),
        printed(_fig2_njc),
    ),
    _printed_claim(
        "S4.fig2-drf",
        "Fig. 2: DRF gives (0.4, 0.08) twice and (0.2, 0.4).",
        "D 4, Fig. 2",
        _example("dolev-fig2"),
        printed(_fig2_drf),
    ),
    _printed_claim(
        "S4.fig2-utilisation",
        "Fig. 2: NJC leads to a higher overall utilisation than DRF.",
        "D 4",
        _example("dolev-fig2"),
        printed(_fig2_utilisation),
    ),
    Statement(
        "D.S4.same-dominant",
        "If all users have the same dominant resource, DRF and NJC are equivalent.",
        "D 4",
        "all",
        *compared_with_drf(judges.same_as_drf),
        COMMON,
    ),
    Statement(
        "D.S4.same-dominant.true",
        "They are if also everybody requests at least its entitlement of that resource.",
        "true instead of D 4",
        "all",
        *compared_with_drf(judges.same_as_drf_if_asked),
        Hypotheses(one_server=True, unlimited=False, bottleneck=True, users=2),
        proof="Let j be dominant for all. Where x_i < 1 some k is full with x_i r_ik >= e_i; so 1 = load_k <= load_j, j is "
        "full too, and x_i r_ij >= e_i. Where x_i = 1 this is r_ij >= e_i. The sum is load_j <= 1 = sum e, so x_i = e_i "
        "/ r_ij for all i. This is DRF, with all shares x_i r_ij / e_i = 1: in every allocation their mean weighted by "
        "e is load_j <= 1, so in another one the least is below 1.",
    ),
    Statement(
        "D.S4.only-bottleneck",
        "The common dominant resource is the only bottleneck.",
        "D 4",
        "all",
        *for_every(judges.common_bottleneck),
        COMMON,
        note='"only" up to other resources that are dominant for all as well',
        proof="Let j be dominant for all and k full. 1 = load_k <= load_j <= 1, and since all x_i > 0 by (2), r_ik = r_ij for "
        "every i.",
    ),
    Statement(
        "D.S4.utilisation-higher",
        "NJC's utilisation can be higher than DRF's.",
        "D 4",
        "some",
        *compared_with_drf(judges.uses_less_than_drf),
        EQUALS,
        printed=_example("dolev-fig2"),
    ),
    Statement(
        "D.S4.utilisation-lower",
        "NJC's utilisation can be lower than DRF's.",
        "D 4, by the limits 1/2 and 2/3",
        "some",
        *compared_with_drf(judges.uses_more_than_drf),
        EQUALS,
        printed=Case(middle(3)),
        note="the counter-example with one more of its middle resources",
    ),
    _printed_claim(
        "S4.utilisation-numbers",
        "The counter-example on utilisation: bottlenecks, NJC's and DRF's allocations.",
        "D 4",
        _example("dolev-utilisation"),
        printed(_middle_numbers),
    ),
    _printed_claim(
        "S4.utilisation-printed",
        "The counter-example as printed, with four resources, shows that NJC's utilisation is not always higher than DRF's.",
        "D 4",
        _example("dolev-utilisation"),
        printed(_middle_not_higher),
        note="both are 3/4, which answers D's question; with a third middle resource NJC's is lower (D.S4.utilisation-lower)",
    ),
    _printed_claim(
        "S4.utilisation-limits",
        "With many middle resources the average utilisation tends to 1/2 and 2/3.",
        "D 4",
        _example("dolev-utilisation"),
        printed(_middle_limits),
    ),
    Statement(
        "D.S4.drf-incremental",
        "DRF allocations can be found by an incremental algorithm.",
        "D 4, after Ghodsi et al.",
        "run",
        attempted("drf", judges.incremental),
        proved("drf", judges.incremental),
        POOL,
    ),
]

# ---- Theorem 1 and sections 5.1 to 5.3 ------------------------------------------------------------------------------------

_EXISTENCE = [
    Statement(
        "D.T1",
        "A fair allocation exists.",
        "D Theorem 1",
        "all",
        *two_ways(judges.existence),
        ZEROS,
        proof=_MARKET + " For e >= 0 let e(k) > 0 tend to e: on a subsequence x(k) "
        "converges, the same resources are full and each user has the same reason, x_i(k) = 1 or x_i(k) r_ij >= e_i(k), "
        "which the limit keeps.",
    ),
    Statement(
        "D.S5.dummies",
        "With a dummy resource for each user, x_i = 1 need not be treated separately.",
        "D 5",
        "all",
        judges.dummies_in_floats,
        judges.dummies,
        POINT,
        proof="The dummy of i is full exactly if x_i = 1. Then i has 1 >= e_i of it, and it is no reason for others, who have "
        "0 < e_k of it.",
    ),
    Statement(
        "D.S5.dummies-zero",
        "The same where entitlements may be 0, as Theorem 1 allows.",
        "D 5 with the hypotheses of D Theorem 1",
        "all",
        judges.dummies_in_floats,
        judges.dummies,
        replace(ZEROS, points=1),
        note="the dummy that one user fills is a bottleneck, which is all that a user with e_i = 0 asks for",
        reading="ours",
    ),
    Statement(
        "D.S5.1.ignored",
        "A resource whose requests sum to less than 1 can be ignored.",
        "D 5.1, first assumption",
        "all",
        *two_ways(judges.slack_resource_removed),
        POOL,
        proof="Whatever x <= 1 is, its load is below 1: (1) holds for it, and (2) never refers to it.",
    ),
    Statement(
        "D.S5.1.satisfied",
        "A user who requests less than its entitlement of everything is satisfied and removed; solutions for the others, with "
        "entitlements and requests renormalised, are solutions.",
        "D 5.1, second assumption",
        "all",
        *two_ways(judges.satisfied_removed),
        USERS,
        proof="With x_1 = 1 the load of j is r_1j + (1 - r_1j) times its load in the smaller problem: at most 1, and 1 "
        "exactly where that is. There x_k r_kj / (1 - r_1j) >= e_k / (1 - e_1) gives x_k r_kj >= e_k, since r_1j < e_1 "
        "< 1, and x_k = 1 stays.",
    ),
    Statement(
        "D.S5.1.room",
        "What such a user does not use of each resource is at least the entitlement of each other user.",
        "D 5.1, second assumption",
        "all",
        *two_ways(judges.room_for_entitlements),
        USERS,
        proof="If user 1 is the modest one, 1 - r_1j > 1 - e_1 = sum of the other e >= e_k.",
    ),
    Statement(
        "D.S5.1.renormalised",
        "The renormalised problem is one of Theorem 1 again, with requests of at most 1.",
        "D 5.1, second assumption",
        "all",
        *two_ways(judges.renormalised_requests),
        USERS,
        note="D's own example multiplies requests by 5/3; the theorem and its proof do not need r_ij <= 1",
    ),
    Statement(
        "D.S5.1.all",
        "The entitlements of the users who remain can be renormalised, so that they sum to 1.",
        "D 5.1, second assumption, with e_i >= 0 as in Theorem 1",
        "all",
        *two_ways(judges.entitlements_left),
        replace(ZEROS, users=2),
        note="Not where the removed user is entitled to everything, e_1 = 1 and all r_1j < 1: 1 - e_1 = 0. Nothing is lost, for "
        "the others have no complaint as soon as each has x_i = 1 or something is full.",
        reading="ours",
    ),
    Statement(
        "D.S5.1.all.true",
        "They can where all are entitled to something.",
        "true instead of D 5.1",
        "all",
        *two_ways(judges.entitlements_left),
        USERS,
        proof="Their sum is 1 - e_1 > 0.",
    ),
    _printed_claim(
        "S5.1.removal",
        "With e = (0.5, 0.2, 0.3), and 0.4 of resource 1 for user 1: 0.4 and 0.6, and requests times 5/3.",
        "D 5.1",
        Case(Instance([["2/5"], [1], [1]], [[1]], weights=[5, 2, 3], max_tasks=[1, 1, 1])),
        printed(_removal),
    ),
    Statement(
        "D.S5.1.dominated",
        "A solution of a system without a dominated inequality solves the original.",
        "D 5.1, third assumption",
        "all",
        *two_ways(judges.dominated_removed),
        POOL,
        proof="It is feasible by domination; its bottlenecks stay full, so every reason of a user by (2) is kept.",
    ),
    Statement(
        "D.S5.1.order",
        "Depending on the order of removal of dominated inequalities different systems may remain.",
        "D 5.1, third assumption",
        "some",
        *two_ways(judges.order_of_names),
        POOL,
        note="true of copies of one inequality only, see D.S5.1.order.true",
    ),
    Statement(
        "D.S5.1.order.true",
        "The inequalities that remain do not depend on the order: only which of equal ones do.",
        "true addition to D 5.1",
        "all",
        *two_ways(judges.order_of_rows),
        POOL,
        proof="D has interior points, so an inequality without which D grows gives a facet, and one facet has one inequality "
        "with the right side 1, up to copies. So exactly the facets remain, each once, but for those of 0 <= x_i <= 1, "
        "which always stay.",
    ),
    _printed_claim(
        "S5.2.fig3",
        "Fig. 3: (2/3, 11/12) would use 13/12 of resource 1.",
        "D 5.2, Fig. 3",
        _example("dolev-fig3"),
        printed(_fig3),
    ),
    Statement(
        "D.S5.2.simplex",
        "The region of legal allocations is a simplex.",
        "D 5.2",
        "all",
        *two_ways(judges.simplex),
        POOL,
        note="read as: it has N + 1 vertices; D prints the hull of N points, which never has an interior",
    ),
    Statement(
        "D.S5.2.boundary",
        "A solution lies on the boundary: some resource or dummy resource is full.",
        "D 5.2",
        "all",
        *for_every(judges.on_boundary),
        POOL,
        proof="Otherwise J(x) is empty and all x_i < 1, so that (2) holds for nobody.",
    ),
    Statement(
        "D.S5.2.linear",
        "For given bottlenecks I, J(x) = I and (3) are a system of linear equations and inequalities.",
        "D 5.2",
        "all",
        *for_every(judges.linear),
        POOL,
        proof="J(x) = I says load_j = 1 for j in I and load_j < 1 for others; (3) says x_i max_{j in I} r_ij >= e_i, as x_i "
        ">= 0.",
    ),
    Statement(
        "D.S5.3.unique",
        "With two users the solution is unique, and so are the bottlenecks.",
        "D 5.3",
        "all",
        *two_ways(judges.unique_for_two),
        USERS,
        proof="Of two solutions, by D.S3.pareto, let x_1 < x'_1 and x_2 > x'_2. At x a full j has x_1 r_1j >= e_1, so x_2 "
        "r_2j <= e_2; as load_j is not larger at x', A / x_1 <= B / x_2 with A = (x'_1 - x_1) e_1 and B = (x_2 - x'_2) "
        "e_2. In the same way B / x'_2 <= A / x'_1, by user 2's reason at x'. But then A / x_1 <= B / x_2 < B / x'_2 <= "
        "A / x'_1 < A / x_1.",
    ),
    Statement(
        "D.S5.3.unique-zero",
        "The same where entitlements may be 0, as Theorem 1 allows.",
        "D 5.3 with the hypotheses of D Theorem 1",
        "all",
        *two_ways(judges.unique_for_two),
        replace(ZEROS, users=2),
        note="a user with e_i = 0 has no complaint as soon as there is a bottleneck, whatever it gets",
        reading="ours",
    ),
    Statement(
        "D.S5.3.not-unique",
        "With more than two users the solution need not be unique.",
        "D 5.3, D 5.5",
        "some",
        *two_ways(judges.unique_for_more),
        THREE,
        printed=_example("dolev-segment"),
    ),
    _printed_claim(
        "S5.3.fig5", "Fig. 5: (0.6, 0.9) for e = (0.4, 0.6).", "D 5.3, Fig. 5", _example("dolev-fig5"), printed(_fig5)
    ),
    _printed_claim(
        "S5.3.fig5-ratios",
        "Fig. 5: if e_2 / e_1 > 2, user 2 is given all, and user 1 the rest, more than its entitlement; if < 1/2 the opposite.",
        "D 5.3, Fig. 5",
        _example("dolev-fig5"),
        printed(_fig5_ratios),
    ),
]

# ---- section 5.4 ----------------------------------------------------------------------------------------------------------

_CONVERGES = Proof(
    "D: the central path",
    "x = x(t) maximises sum e log x + sum_j w_j log s_j / c, and p_j = w_j / (c s_j) has sum_j p_j r_ij = e_i / x_i by (12), "
    "all with the dummies. For all y in D sum e log y - sum e log x <= sum_i e_i (y_i - x_i) / x_i = sum_j p_j (load_j(y) - "
    "load_j(x)) <= sum_j p_j s_j = sum w / c. As t = - sum w log s grows, the least s and so 1 / c = 1 / sum_j w_j (1 - s_j) "
    "/ s_j tend to 0; sum e log x has one maximum in D, the market's, so x(t) tends to it.",
)

_TRAJECTORY = [
    Statement(
        "D.R1",
        "f is positive in the interior of D and diverges as x tends to the boundary.",
        "D Remark 1",
        "all",
        judges.barrier_grows,
        judges.barrier_signs,
        POINT,
        note="not at the part of the boundary where some x_i = 0 and nothing is full; the trajectory does not come there",
    ),
    Statement(
        "D.R3",
        "Level sets of f are hypersurfaces with one unit normal at each point.",
        "D Remark 3, Definition 2",
        "all",
        *at_points(judges.gradient_not_zero),
        POINT,
        proof="Inside of D df/dx_i >= 1 / (1 - x_i) > 0 by the dummy of i, so the implicit function theorem applies; the "
        "normal is the gradient's direction.",
    ),
    Statement(
        "D.E6",
        "The gradient of f is proportional to (6).",
        "D (6)",
        "all",
        *at_points(judges.gradient),
        POINT,
        proof="The derivative of - log(1 - sum_k x_k r_kj) in x_i is r_ij / (1 - sum_k x_k r_kj).",
    ),
    Statement(
        "D.R4",
        "f(x) = 0 only at the origin, where the trajectory starts.",
        "D Remark 4",
        "all",
        *both_kinds(judges.starts_at_zero),
        POINT,
        proof="f is a sum of terms >= 0, all 0 at x = 0, and a dummy's, - log(1 - x_i), is 0 only at x_i = 0. On the "
        "trajectory f(x(0)) = 0.",
    ),
    Statement(
        "D.R5",
        "(6) and (7) give (8).",
        "D Remark 5",
        "all",
        *at_points(judges.equation_8),
        POINT,
        proof="They give sum_j x_i r_ij / s_j = c e_i; by sum e = 1, c = sum_j sum_k x_k r_kj / s_j: this is (8).",
    ),
    Statement(
        "D.E11",
        "(11) differentiated: sum_k x'_k r_kj / (1 - sum_k x_k r_kj) = 1, for each j as there is no sum over j.",
        "D, after (12)",
        "all",
        *at_points(judges.printed_11),
        POINT,
    ),
    Statement(
        "D.E11.true",
        "(11) differentiated: the sum over j of these terms is 1.",
        "true instead of D, after (12)",
        "all",
        *at_points(judges.summed_11),
        POINT,
        proof="(11) is - sum_j log s_j = t with s_j = 1 - sum_k x_k r_kj, and s'_j = - sum_k x'_k r_kj.",
    ),
    Statement(
        "D.E13.true",
        "(12) differentiated, with both sums over j = 1..m: sum_j b_ij x'_i + x_i sum_j sum_k b_ij b_kj x'_k = c' e_i.",
        "D (13), its indices corrected",
        "all",
        *at_points(judges.equation_13),
        POINT,
        proof="(12) is x_i sum_j b_ij = c e_i with b_ij = r_ij / s_j, of which the derivative is r_ij sum_k x'_k r_kj / s_j^2 = "
        "b_ij sum_k b_kj x'_k.",
    ),
    Statement(
        "D.L4.symmetric",
        "The matrix of (13) is symmetric (and positive definite).",
        "D Lemma 4, proof",
        "all",
        *at_points(judges.symmetric),
        POINT,
        note="it is diag(x) times a symmetric positive definite matrix, which does as well",
    ),
    Statement(
        "D.L4.unique",
        "(13) has a unique solution for dc/dt = 1, and multiplied by a (positive) constant it fulfils the normalisation.",
        "D Lemma 4, proof",
        "all",
        *at_points(judges.unique_velocity),
        POINT,
        proof="For x > 0 the matrix is diag(x) (diag(nu / x) + B B^T), regular since nu > 0 by the dummies. With its solution "
        "v and nu = c e / x by (12), nu v = c (sum nu_i v_i^2 / x_i + |B^T v|^2) > 0, so v / (nu v) has f' = 1. At x = "
        "0 it is diag(nu), and nu v = sum e = 1.",
    ),
    Statement(
        "D.L4",
        "There is a trajectory that fulfils (11) and (12).",
        "D Lemma 4",
        "all",
        judges.exists_by_integration,
        judges.exists_by_newton,
        POOL,
        proof="For c > 0 sum e log x - f(x) / c is strictly concave, and -inf on the boundary of D: one x(c) maximises it, "
        "fulfils (12) and is continuous in c. Other c have other x by (12), and adding what two maxima say of each "
        "other's x shows that f(x(c)) grows. Summed, (12) is c = sum_j (1 - s_j) / s_j with s_j = 1 - load_j, so f -> 0 "
        "as c -> 0, and min s -> 0 and f -> inf as c -> inf: f takes each t > 0 once.",
    ),
    Statement(
        "D.L2",
        "A subsequence of the trajectory converges to the boundary of D.",
        "D Lemma 2",
        "all",
        judges.boundary_by_integration,
        judges.boundary_by_newton,
        POOL,
        proof="D is compact, so a subsequence converges. Of the m terms of f(x(t)) = t one is at least t / m, so the least "
        "spare part s is at most exp(-t / m), and m / c by c = sum_j (1 - s_j) / s_j: it is 0 in the limit.",
    ),
    Statement(
        "D.L2.true",
        "All of the trajectory converges, to the market's allocation.",
        'true beyond D Lemma 2, "may not tend to a limit"',
        "all",
        judges.limit_by_integration,
        judges.limit_by_newton,
        POOL,
        proof=_CONVERGES,
    ),
    Statement(
        "D.L3",
        "Where the trajectory ends is a fair allocation.",
        "D Lemma 3",
        "all",
        judges.limit_is_fair_by_integration,
        judges.limit_is_fair_by_newton,
        POOL,
        mechanism="njc",
        property="njc",
        proof="All of x(t) tends to the market's allocation (D.L2.true). " + _MARKET,
        answers=for_the_answer_of("njc-ode"),
    ),
    Statement(
        "D.L3.step",
        "For a bottleneck j the limit exists only if the numerator x_i r_ij - e_i vanishes as well.",
        "D Lemma 3, proof",
        "all",
        *two_ways(judges.vanishing_numerators),
        POOL,
        note="only the sum over the bottlenecks has to stay bounded; the proof needs that not all numerators are negative",
    ),
    Statement(
        "D.S5.4.error",
        "Integration of the trajectory approximates a fair allocation with a controllable error.",
        "D 5.4",
        "run",
        judges.limit_is_fair_by_integration,
        judges.limit_is_fair_by_newton,
        ACCURACIES,
        note="where a full resource has no price, doubles may end before 1e-6 (solvers/njc/ode.py): not decided",
    ),
]

# ---- section 5.5 ----------------------------------------------------------------------------------------------------------

_SEVERAL = [
    _printed_claim(
        "S5.5.segment",
        "r = (1, 1), (0, 1), (1, 0), e = (0.5, 0.3, 0.2): (z, 1 - z, 1 - z) for 0.5 <= z <= 0.7, both resources are full.",
        "D 5.5",
        _example("dolev-segment"),
        printed(_segment),
    ),
    _printed_claim(
        "S5.5.weights",
        "Weighting factors in f could lead to other solutions in this example.",
        "D 5.5",
        _example("dolev-segment"),
        printed(_segment_weights),
        note="refuted for all weights by the proof of D.S5.5.weights.true",
    ),
    Statement(
        "D.S5.5.weights.true",
        "Whatever weights the terms of f have, the trajectory ends at the same allocation.",
        "true instead of D 5.5",
        "all",
        judges.limit_by_integration,
        judges.limit_by_newton,
        HEAVY,
        proof=_CONVERGES,
    ),
    _printed_claim(
        "S5.5.circle",
        "The circle: 1/3 for all is a solution, all resources are full, all get more than their entitlement.",
        "D 5.5",
        _example("dolev-circle"),
        printed(_circle),
    ),
    _printed_claim(
        "S5.5.circle-six",
        "Two users with 1/4 and two with 3/8 are solutions; two resources are full, others used to 0.875.",
        "D 5.5",
        _example("dolev-circle"),
        printed(_circle_six),
    ),
    _printed_claim(
        "S5.5.circle-all",
        "There are 6 additional solutions.",
        "D 5.5",
        _example("dolev-circle"),
        printed(_circle_all),
        note="all solutions are 6 triangles with the vertex 1/3 for all; the printed ones are midpoints of the sides opposite "
        "to it",
    ),
    Statement(
        "D.S5.5.bottlenecks",
        "The set of bottlenecks is not unique.",
        "D 5.5",
        "some",
        *two_ways(judges.one_bottleneck_set),
        THREE,
        printed=_example("dolev-circle"),
    ),
    _printed_claim(
        "S5.5.utilisation",
        "Among the solutions of the circle the highest utilisation prefers 1/3 for all.",
        "D 5.5",
        _example("dolev-circle"),
        printed(_circle_best),
    ),
]

statements = [*_DEFINITION, *_ATTRIBUTES, *_COMPARED_WITH_DRF, *_EXISTENCE, *_TRAJECTORY, *_SEVERAL]
