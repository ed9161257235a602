"""D's printed examples: what must be so, by name."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import Requests
from fairalloc.models.exact.rationals import Rationals, asset_share
from fairalloc.models.examples.published import example
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.solvers.njc.ode import trajectory
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Routes
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    brackets,
    by_equations,
    by_polytopes,
    complaint,
    data,
    full,
    loads,
    users,
)
from fairalloc.theorems.papers.d.simplifications import reduced
from fairalloc.theorems.papers.d.trajectories import NEAR, weighting

Facts = Sequence[tuple[str, bool]]


def printed(check: Callable[[Requests], Sequence[tuple[str, bool]]]) -> Routes:
    """A printed example: what must be so, by name; both ways to all NJC allocations must give the same ones."""

    def decide(case: Case) -> Verdict:
        d = data(case)
        facts = [("all NJC allocations come out the same in two ways", by_polytopes(d) == _vertices(d)), *check(d)]
        wrong = [words for words, true in facts if not true]
        sentence = f"false: {wrong[0]}" if wrong else f"{facts[-1][0]}: true"
        return Verdict("njc", not wrong, float(len(wrong)), sentence, "rational arithmetic")

    return Routes(decide, decide)


def _vertices(d: Requests) -> list[Rationals]:
    """Of the solutions of equations those that the other way has, which must find no other vertex."""
    known = by_polytopes(d)
    found = by_equations(d)
    return [x for x in found if x in known] if set(known) <= set(found) else found


def rationals(*values: Any) -> Rationals:
    """Rationals."""
    return tuple(Fraction(v) for v in values)


def drf_of(d: Requests) -> Rationals:
    """The DRF allocation in fractions of requests, exactly."""
    instance = Instance(
        [[part.get(j, ZERO) for j in range(d.R)] for part in d.parts],
        [[ONE] * d.R],
        max_tasks=[ONE] * len(d.parts),
        weights=d.entitlement,
    )
    tasks = solve(instance, "drf", "exact").tasks_exact
    assert tasks is not None, "the method 'exact' gives rationals"
    return tuple(tasks)


def _example(name: str, **parameters: Any) -> Case:
    return Case(example(name).instance, parameters=parameters)


def middle(count: int) -> Instance:
    """D 4's counter-example on utilisation with so many "middle" resources; it is printed with two."""
    return Instance([["1/2", *[0] * count, 1], [1, *[1] * count, 0]], [[1] * (count + 2)], max_tasks=[1, 1])


def greedy_steps(d: Requests) -> Facts:
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


def counting(d: Requests) -> Facts:
    shares = [d.parts[0].get(j, ZERO) for j in range(3)]
    asset = asset_share(Instance([shares], [[1, 1, 1]]))[0] / 3
    return [
        ("the asset share is 64/300", asset == Fraction(64, 300)),
        ("the dominant share is 37/100", max(shares) == Fraction(37, 100)),
        ("the share of the cpu is 20/100", shares[0] == Fraction(20, 100)),
    ]


def fig2_njc(d: Requests) -> Facts:
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


def fig2_drf(d: Requests) -> Facts:
    x = drf_of(d)
    held = [[v * part[j] for j in range(2)] for v, part in zip(x, d.parts, strict=True)]
    share = Fraction(2, 5)
    return [("the allocation is (0.4, 0.08), (0.4, 0.08), (0.2, 0.4)", held == _fig2(share, share, share / 2))]


def _fig2(first: Fraction, second: Fraction, third: Fraction) -> list[list[Fraction]]:
    return [[first, first / 5], [second, second / 5], [third, 2 * third]]


def fig2_utilisation(d: Requests) -> Facts:
    ours, other = sum(loads(d, by_polytopes(d)[0])), sum(loads(d, drf_of(d)))
    return [("NJC uses more than DRF, on the average of the resources", ours > other)]


def middle_numbers(d: Requests) -> Facts:
    (x, *more) = by_polytopes(d)
    return [
        ("the first and the last resource are the bottlenecks", full(d, x) == [0, 3]),
        ("NJC gives (1/2, 0, 0, 1) and (1/2, 1/2, 1/2, 0), and nothing else", not more and x == rationals(1, "1/2")),
        ("DRF gives (1/3, 0, 0, 2/3) and (2/3, 2/3, 2/3, 0)", drf_of(d) == rationals("2/3", "2/3")),
    ]


def middle_not_higher(d: Requests) -> Facts:
    (x, *more), other = by_polytopes(d), sum(loads(d, drf_of(d))) / d.R
    ours = sum(loads(d, x)) / d.R
    return [(f"NJC's utilisation, of one allocation, is {ours}, not higher than DRF's {other}", not more and ours <= other)]


def middle_limits(d: Requests) -> Facts:
    ours, other = rationals(1, "1/2"), rationals("2/3", "2/3")
    far, facts = [], [("the answers for two middle resources", drf_of(d) == other and complaint(d, ours) == 0)]
    for count in (2, 10, 50, 250):
        wide = data(Case(middle(count)))
        facts.append((f"the answers for {count} middle resources", drf_of(wide) == other and complaint(wide, ours) == 0))
        m = count + 2
        used = [sum(loads(wide, x)) / m for x in (ours, other)]
        far.append((used[0] - Fraction(1, 2) == Fraction(1, m), used[1] - Fraction(2, 3) == Fraction(1, 3 * m)))
    return [*facts, ("with m resources the averages are 1/2 + 1/m and 2/3 + 1/(3m)", all(a and b for a, b in far))]


def removal(d: Requests) -> Facts:
    rest = reduced(d, 0)
    return [
        ("the others are entitled to 0.4 and 0.6", rest.entitlement == rationals("2/5", "3/5")),
        ("their requests are multiplied by 5/3", rest.parts[0][0] == Fraction(5, 3) * d.parts[1][0]),
    ]


def fig3(d: Requests) -> Facts:
    load = loads(d, rationals("2/3", "11/12"))[0]
    return [("(2/3, 11/12) uses 13/12 of resource 1", load == Fraction(13, 12))]


def fig5(d: Requests) -> Facts:
    found = by_polytopes(d)
    return [
        ("2/3 x 0.6 = 0.4 and 2/3 x 0.9 = 0.6 fill the resource", loads(d, rationals("3/5", "9/10")) == (ONE,)),
        ("(0.6, 0.9) is the NJC allocation", found == [rationals("3/5", "9/10")]),
    ]


def fig5_ratios(d: Requests) -> Facts:
    facts = []
    for ratio in rationals("9/4", 3, 10, 1000):
        for turned in (False, True):
            e = (1 / (1 + ratio), ratio / (1 + ratio))
            (x, *more) = by_polytopes(Requests(d.parts, e[::-1] if turned else e, d.unit, d.R))
            x = x[::-1] if turned else x
            facts.append((f"with the ratio {ratio} one user is granted all", not more and x == rationals("1/2", 1)))
            facts.append((f"with the ratio {ratio} the other gets more than its entitlement", x[0] * Fraction(2, 3) > e[0]))
    return facts


def segment(d: Requests) -> Facts:
    found = by_polytopes(d)
    ends = [rationals("1/2", "1/2", "1/2"), rationals("7/10", "3/10", "3/10")]
    inside = [tuple((1 - t) * a + t * b for a, b in zip(*ends, strict=True)) for t in rationals(0, "1/3", "1/2", "9/10", 1)]
    return [
        ("all solutions are (z, 1 - z, 1 - z), 1/2 <= z <= 7/10", found == ends and all(complaint(d, x) == 0 for x in inside)),
        ("both resources are bottlenecks in all of them", all(full(d, x) == [0, 1] for x in inside)),
    ]


def segment_weights(d: Requests) -> Facts:
    """X = (1/2, 1/2, 1/2), p = (2/5, 3/5) fulfil the optimality conditions of the market, where every trajectory ends."""
    x, p = rationals("1/2", "1/2", "1/2"), rationals("2/5", "3/5")
    market = [sum(p[j] * r for j, r in part.items()) == e / v for v, part, e in zip(x, d.parts, d.entitlement, strict=True)]
    market += [load == 1 for load in loads(d, x)]
    case = _example("dolev-segment")
    ends = [trajectory(d, 1e-6, weighting=weighting(Case(case.instance, parameters={"heavy": h}))).x[-1] for h in (1, 5, 20)]
    far = max(float(abs(end - 0.5).max()) for end in ends)
    facts = [("the market's allocation is (1/2, 1/2, 1/2)", all(market))]
    other = f"weights 1, 5, 20 of the first resource give other ends than (1/2, 1/2, 1/2), which are {far:.0e} from it"
    return [*facts, (other, far > NEAR * 100)]


def circle(d: Requests) -> Facts:
    x = (Fraction(1, 3),) * 4
    return [
        ("1/3 for all is a solution with four bottlenecks", complaint(d, x) == 0 and full(d, x) == [0, 1, 2, 3]),
        ("all get more than their entitlement", all(v * r > e for v, part, e in users(d, x) for r in part.values())),
    ]


def _circle_pairs() -> list[tuple[int, int]]:
    return [(i, j) for i in range(4) for j in range(i)]


def _circle_pair(i: int, j: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(1, 4) if k in (i, j) else Fraction(3, 8) for k in range(4))


def circle_six(d: Requests) -> Facts:
    facts = []
    for i, j in _circle_pairs():
        x, others = _circle_pair(i, j), [k for k in range(4) if k not in (i, j)]
        expected = sorted((i, j) if (i - j) % 2 == 0 else others)
        spare = [loads(d, x)[k] for k in range(4) if k not in full(d, x)]
        facts.append((f"{brackets(x)} is a solution", complaint(d, x) == 0))
        facts.append((f"the bottlenecks of {brackets(x)} are {[k + 1 for k in expected]}", full(d, x) == expected))
        facts.append((f"the others are used to 0.875 at {brackets(x)}", spare == [Fraction(7, 8)] * 2))
    return facts


def circle_all(d: Requests) -> Facts:
    listed = {(Fraction(1, 3),) * 4} | {_circle_pair(i, j) for i, j in _circle_pairs()}
    more = [x for x in by_polytopes(d) if x not in listed and complaint(d, x) == 0]
    other = f"the printed 7 solutions are all, so {brackets(more[0]) if more else 'nothing'} is no solution"
    return [(other, not more)]


def circle_best(d: Requests) -> Facts:
    used = {x: sum(loads(d, x)) for x in by_polytopes(d)}
    best = [x for x, value in used.items() if value == max(used.values())]
    return [("1/3 for all alone has the highest utilisation", best == [(Fraction(1, 3),) * 4])]
