"""The claims of D as margins: of one NJC allocation, of all of them, of a misreport, of a point on a trajectory, of a printed
example.

Margins are positive where the claim is violated; formulas as D prints them, whether correct or not. statements.py has the texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, as_flint, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers import solve
from fairalloc.solvers.method import Limits
from fairalloc.solvers.njc.ode import TrajectoryEquations, trajectory
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Answer, Routes
from fairalloc.theorems.papers.d.barrier import TrajectoryPoint, along, barrier_value, central, point, with_dummies
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    MarginAndSentence,
    Route,
    brackets,
    by_equations,
    by_polytopes,
    complaint,
    data,
    domain_vertices,
    fractions,
    full,
    loads,
    without,
)

NEAR = 1e-5
"""What floating point is trusted with in claims about trajectories; the integrator asks for 1e-8 a step."""

# ---- one allocation ---------------------------------------------------------------------------------------------------


def pareto(d: Requests, x: Rationals) -> MarginAndSentence:
    """Nobody can get more while all others keep what they have: some resource it uses is full (D 3, D 4)."""
    spare = [1 - load for load in loads(d, x)]
    gains = [
        (min([1 - v, *(spare[j] / r for j, r in part.items())]), i) for i, (v, part) in enumerate(zip(x, d.parts, strict=True))
    ]
    gain, i = max(gains)
    return gain, f"at x = {brackets(x)} user {i + 1} could have {x[i] + gain} of its request and nobody less"


def sharing(d: Requests, x: Rationals) -> MarginAndSentence:
    """x_i >= y, the part of its request that i can run with e_i of each resource (D 4)."""
    gaps = [(min([ONE, *(e / r for r in part.values())]) - v, i) for i, (v, part, e) in enumerate(users(d, x))]
    gap, i = max(gaps)
    return gap, f"at x = {brackets(x)} user {i + 1} could have {x[i] + gap} of its request with its entitlement alone"


def exact_entitlement(d: Requests, x: Rationals) -> MarginAndSentence:
    """x_i r_ij = e_i for some j, as D 4 says on the way to the sharing incentive."""
    gaps = [(min(abs(v * r - e) for r in part.values()), i) for i, (v, part, e) in enumerate(users(d, x))]
    gap, i = max(gaps)
    return gap, f"at x = {brackets(x)} user {i + 1} has its entitlement, no more and no less, of no resource"


def envy(d: Requests, x: Rationals) -> MarginAndSentence:
    """Nobody could have more of its request with what another holds (D 4)."""
    if len(x) < 2:
        raise NotApplicable("envy needs two users")
    gap, n, m = max((preferred(d, x, n, m) - x[n], n, m) for n, m in permutations(range(len(x)), 2))
    return gap, f"at x = {brackets(x)} user {n + 1} could have {x[n] + gap} of its request with what user {m + 1} holds"


def preferred(d: Requests, x: Sequence[Any], n: int, m: int) -> Any:
    """The part of n's request that runs with what m holds."""
    return min([ONE, *(x[m] * d.parts[m].get(j, ZERO) / r for j, r in d.parts[n].items())])


def small_requests(d: Requests, x: Rationals) -> MarginAndSentence | None:
    """Who asks for less than e_i of everything gets it all (D 3)."""
    gaps = [(1 - v, i) for i, (v, part, e) in enumerate(users(d, x)) if max(part.values()) < e]
    if not gaps:
        return None
    gap, i = max(gaps)
    return gap, f"at x = {brackets(x)} user {i + 1} gets {x[i]} of its request, which is small"


def no_scarcity(d: Requests, x: Rationals) -> MarginAndSentence | None:
    """Where all requests fit, all are granted (D 3)."""
    if max(loads(d, [ONE] * len(x))) > 1:
        return None
    return max(1 - v for v in x), f"x = {brackets(x)}, but all requests fit"


def cut_back(d: Requests, x: Rationals) -> MarginAndSentence | None:
    """With one bottleneck only those who request more than e_i of it are cut back (D 3)."""
    bottlenecks = full(d, x)
    gaps = [
        (e - part.get(bottlenecks[0], ZERO), i) for i, (v, part, e) in enumerate(users(d, x)) if len(bottlenecks) == 1 and v < 1
    ]
    if not gaps:
        return None
    gap, i = max(gaps)
    return (gap or ONE), f"at x = {brackets(x)} user {i + 1} is cut back"


def on_boundary(d: Requests, x: Rationals) -> MarginAndSentence:
    """A resource or a dummy resource is full (D 5.2)."""
    return (-1 if full(d, x) or ONE in x else 1), f"x = {brackets(x)} is inside of D"


def linear(d: Requests, x: Rationals) -> MarginAndSentence:
    """X fulfils (1)-(2), and the linear system of its own bottlenecks (D 5.2)."""
    low = d.lowest(full(d, x))
    gap = max([complaint(d, x), *(least - v for v, least in zip(x, low, strict=True))])
    return gap, f"x = {brackets(x)} does not fulfil both (3) and the linear system of its bottlenecks"


def common_bottleneck(d: Requests, x: Rationals) -> MarginAndSentence:
    """Every bottleneck is dominant for everybody who gets anything (D 4)."""
    bad = [j for j in full(d, x) for part in d.parts if part.get(j, ZERO) < max(part.values())]
    return (
        1 if bad else -1
    ), f"at x = {brackets(x)} resource {bad[0] + 1 if bad else '-'} is full without being dominant for all"


def dummies(case: Case) -> Verdict:
    """With the dummy resources of D 5, x fulfils (1)-(2) of section 3 exactly if it fulfils those of Theorem 1; in rationals.

    At the case's point and at every NJC allocation that equations give.
    """
    d = data(case)
    wrong = [x for x in (_point_of_case(case), *by_equations(d)) if _fair_with_dummies(d, x) != (complaint(d, x) == 0)]
    where = brackets(wrong[0] if wrong else _point_of_case(case))
    return Verdict(
        "njc", not wrong, float(bool(wrong)) * 2 - 1, f"x = {where} is fair by one of the two only", "rational arithmetic"
    )


def _fair_with_dummies(d: Requests, x: Rationals) -> bool:
    """(1) and (2) of Theorem 1."""
    r = with_dummies(d)
    total = [sum((v * row[j] for v, row in zip(x, r, strict=True)), ZERO) for j in range(len(r[0]))]
    bottlenecks = [j for j, load in enumerate(total) if load == 1]
    answered = (any(v * row[j] >= e for j in bottlenecks) for v, row, e in zip(x, r, d.entitlement, strict=True))
    return max(total) <= 1 and all(answered)


def dummies_in_floats(case: Case) -> Verdict:
    """The same on arrays: the largest complaint, with x_i = 1 treated separately and with dummy resources instead.

    At the case's point and at every NJC allocation that double description gives.
    """
    d = data(case)
    r, e = d.matrix(), np.array([float(v) for v in d.entitlement])
    dummy = np.hstack([r, np.eye(len(e))])
    margins = []
    for fractions_ in (_point_of_case(case), *by_polytopes(d)):
        x = np.array([float(v) for v in fractions_])
        own, said = _largest_complaint(x, r, e, x >= 1 - TOLERANCE), _largest_complaint(x, dummy, e, np.zeros(len(x), bool))
        same = (own <= TOLERANCE) == (said <= TOLERANCE)
        margins.append(-max(own, said, TOLERANCE) if same else abs(own - said))
    margin = max(margins)
    return Verdict("njc", not margin > 0, margin, "an allocation is fair by one of the two only", "floating point")


def _largest_complaint(x: Floats, r: Floats, e: Floats, content: Any) -> float:
    """Of the users without x_i = 1, the largest relative shortfall from the entitlement at every full resource."""
    full = x @ r >= 1 - TOLERANCE
    missed = ((e[:, None] - x[:, None] * r[:, full]) / np.where(e > 0, e, 1.0)[:, None]).min(axis=1, initial=1.0)
    return float(np.where(content, 0.0, np.maximum(missed, 0.0)).max())


# ---- all allocations --------------------------------------------------------------------------------------------------


def existence(case: Case, route: Route) -> MarginAndSentence:
    """There is an NJC allocation (D Theorem 1)."""
    return (-1, "there is one") if route(data(case)) else (1, "no allocation fulfils (1) and (2)")


def unique_for_two(case: Case, route: Route) -> MarginAndSentence:
    """Two users have one NJC allocation (D 5.3)."""
    if case.instance.N != 2:
        raise NotApplicable("the claim is about two users")
    return _spread(route(data(case)))


def unique_for_more(case: Case, route: Route) -> MarginAndSentence:
    """More than two users have one NJC allocation, which D 5.3 denies."""
    if case.instance.N < 3:
        raise NotApplicable("the claim is about more than two users")
    return _spread(route(data(case)))


def _spread(found: list[Rationals]) -> MarginAndSentence:
    margin = max(max(column) - min(column) for column in zip(*found, strict=True))
    return margin, f"{brackets(found[0])} and {brackets(found[-1])} both are NJC allocations"


def one_bottleneck_set(case: Case, route: Route) -> MarginAndSentence:
    """All NJC allocations have the same bottlenecks, which D 5.5 denies."""
    d = data(case)
    sets = sorted({tuple(j + 1 for j in full(d, x)) for x in route(d)})
    return len(sets) - 1, f"the bottlenecks are {sets[0]} or {sets[-1]}"


def serial_is_fair(case: Case, _: Route) -> MarginAndSentence:
    """One user after the other takes all it can; that is Pareto optimal, and nobody complains: D 3 denies the second."""
    d = data(case)
    x = _serial(d, len(d.parts))
    return complaint(d, x), f"x = {brackets(x)} is Pareto optimal and has a complaint"


def greedy(case: Case, _: Route) -> MarginAndSentence:
    """Serving one user after the other, none complains at its turn (D 3 denies it); taking less than it can helps nobody."""
    d = data(case)
    found = []
    for k in range(1, len(d.parts) + 1):
        x = _serial(d, k)
        own = replace(d, parts=d.parts[:k], entitlement=d.entitlement[:k], unit=d.unit[:k])
        found.append((complaint(own, x[:k]), f"at x = {brackets(x)} one of the first {k} users complains"))
    return max(found)


def _serial(d: Requests, count: int) -> Rationals:
    """The first users take all they can, in their order."""
    x = [ZERO] * len(d.parts)
    for i in range(count):
        spare = [1 - load for load in loads(d, x)]
        x[i] = min([ONE, *(spare[j] / r for j, r in d.parts[i].items())])
    return tuple(x)


# ---- misreports -------------------------------------------------------------------------------------------------------------


def misreporting(case: Case, route: Route) -> MarginAndSentence:
    """No misreport makes the worst allocation better for the user than the best one was (D 4)."""
    return _misreported(case, route, best=False)


def harm(case: Case, route: Route) -> MarginAndSentence:
    """No misreport makes the best allocation worse for the user than the worst one was, which D 4 denies."""
    return _misreported(case, route, best=True)


def _misreported(case: Case, route: Route, best: bool) -> MarginAndSentence:
    if case.misreport is None:
        raise NotApplicable("nobody misreports")
    (n,) = case.misreport.users
    d, reported = data(case), requests(NoJustifiedComplaints().domain(case.reported))
    before, after = [x[n] for x in route(d)], [_useful_part(d.parts[n], reported.parts[n], x[n]) for x in route(reported)]
    gap = min(before) - max(after) if best else min(after) - max(before)
    words = f"{min(before)} to {max(before)} of its request by the truth and {min(after)} to {max(after)} by misreporting"
    return gap, f"user {n + 1} gets {words}"


def _useful_part(true: Mapping[int, Fraction], reported: Mapping[int, Fraction], granted: Fraction) -> Fraction:
    """The part of its true request that a user can run with what it got for its report."""
    return min([ONE, *(granted * reported.get(j, ZERO) / r for j, r in true.items())])


def scaled_request(case: Case, route: Route) -> MarginAndSentence:
    """Asking for `factor` times as much in the same profile does not help: worst after, best before (D 4)."""
    d, factor = data(case), case.parameters["factor"]
    before, gaps = route(d), []
    for n, q in enumerate(d.unit):
        limits: list[Fraction | None] = list(case.instance.exact.max_tasks)
        limits[n] = factor * q
        reported = requests(NoJustifiedComplaints().domain(case.instance.replace(max_tasks=limits)))
        after = min(_useful_part(d.parts[n], reported.parts[n], x[n]) for x in route(reported))
        gaps.append((after - max(x[n] for x in before), n))
    gap, n = max(gaps)
    return gap, f"user {n + 1} gets at least {gap} more of its request by asking for {factor} times as much"


def envy_by_imitation(case: Case, route: Route) -> MarginAndSentence:
    """A user who envies another gains by reporting the other's request (D 4)."""
    d, found = data(case), []
    allocations = route(d)
    for n, m in permutations(range(len(d.parts)), 2):
        x = max(allocations, key=lambda x, n=n, m=m: preferred(d, x, n, m) - x[n])  # type: ignore[misc]
        gap = preferred(d, x, n, m) - x[n]
        if gap <= 0:
            continue
        parts = tuple(d.parts[m] if i == n else part for i, part in enumerate(d.parts))
        after = min(_useful_part(d.parts[n], parts[n], y[n]) for y in route(replace(d, parts=parts)))
        words = f"at x = {brackets(x)} user {n + 1} envies user {m + 1}, and with its request it may get {after}"
        found.append((gap if after <= x[n] else after * 0 - 1, words))
    if not found:
        raise NotApplicable("nobody envies anybody")
    return max(found)


# ---- compared with DRF -------------------------------------------------------------------------------------------------------


def same_as_drf(_: Requests, found: list[Rationals], drf: Sequence[Any]) -> MarginAndSentence:
    """Every NJC allocation is the DRF allocation (D 4)."""
    gap, x = max((max(abs(a - b) for a, b in zip(x, drf, strict=True)), x) for x in found)
    return gap, f"x = {brackets(x)} is an NJC allocation, and DRF gives {brackets(drf)}"


def same_as_drf_if_asked(d: Requests, found: list[Rationals], drf: Sequence[Any]) -> MarginAndSentence:
    """The same, for users who request at least their entitlement."""
    if any(max(part.values()) < e for part, e in zip(d.parts, d.entitlement, strict=True)):
        raise NotApplicable("somebody requests less than its entitlement")
    return same_as_drf(d, found, drf)


def drf_meets_a_bottleneck(d: Requests, _: list[Rationals], drf: Sequence[Any]) -> MarginAndSentence:
    """Under DRF everybody has all it asks for or uses a full resource (D 4)."""
    left = [1 - load for load in _used(d, drf)]
    gap, i = max((min([1 - v, *(left[j] for j in part)]), i) for i, (v, part) in enumerate(zip(drf, d.parts, strict=True)))
    return gap, f"under DRF x = {brackets(drf)}, and user {i + 1} uses no full resource"


def uses_more_than_drf(d: Requests, found: list[Rationals], drf: Sequence[Any]) -> MarginAndSentence:
    """Some NJC allocation uses at least as much as DRF, on the average of the resources; D 4 denies it."""
    best, x = max((sum(_used(d, x)) / d.R, x) for x in found)
    other = sum(_used(d, drf)) / d.R
    return other - best, f"NJC uses at most {best}, by x = {brackets(x)}, and DRF {other}"


def uses_less_than_drf(d: Requests, found: list[Rationals], drf: Sequence[Any]) -> MarginAndSentence:
    """NJC uses at most as much as DRF; D 4 denies it."""
    least, x = min((sum(_used(d, x)) / d.R, x) for x in found)
    other = sum(_used(d, drf)) / d.R
    return least - other, f"NJC uses at least {least}, by x = {brackets(x)}, and DRF {other}"


def _used(d: Requests, x: Sequence[Any]) -> list[Any]:
    return [sum(v * part[j] for v, part in zip(x, d.parts, strict=True) if j in part) for j in range(d.R)]


def incremental(case: Case, answer: Answer) -> Verdict:
    """The incremental algorithm gives the DRF allocation (D 4)."""
    d, given = data(case), answer(case.instance)
    filled = fractions(d, solve(case.instance, "drf", "progressive-filling"))
    far = max(abs(float(a) - float(b)) for a, b in zip(filled, fractions(d, given), strict=True))
    return Verdict("njc", far <= TOLERANCE, far - TOLERANCE, f"the incremental algorithm is {far:.1e} off", "comparison")


def market_envy(case: Case, answer: Answer) -> Verdict:
    """Where the trajectory ends nobody envies: the market's allocation (D 4, true for this one)."""
    d, allocation = data(case), answer(case.instance)
    if len(d.parts) < 2:
        raise NotApplicable("envy needs two users")
    x = fractions(d, allocation)
    gap, n, m = max((preferred(d, x, n, m) - x[n], n, m) for n, m in permutations(range(len(x)), 2))
    allowed = 0 if allocation.x_exact is not None else TOLERANCE
    words = f"at x = {brackets(x)} user {n + 1} envies user {m + 1}"
    return Verdict("envy-freeness", not gap > allowed, float(gap), words, "floating point" if allowed else "certificate")


# ---- D 5.1 and 5.2 ----------------------------------------------------------------------------------------------------


def slack_resource_removed(case: Case, route: Route) -> MarginAndSentence:
    """A resource that cannot be filled can be left out: solutions without it are solutions with it."""
    d = data(case)
    slack = [j for j, load in enumerate(loads(d, [ONE] * len(d.parts))) if load < 1]
    return _solve_original(d, [(f"without resource {j + 1}", x) for j in slack for x in route(without(d, j))])


def dominated_removed(case: Case, route: Route) -> MarginAndSentence:
    """A dominated resource can be left out: solutions without it are solutions with it."""
    d = data(case)
    found = [j for j in range(d.R) if _dominated(route, d, j)]
    return _solve_original(d, [(f"without resource {j + 1}", x) for j in found for x in route(without(d, j))])


def _dominated(route: Route, d: Requests, j: int) -> bool:
    return max(loads(d, x)[j] for x in domain_vertices(route, without(d, j))) <= 1


def satisfied_removed(case: Case, route: Route) -> MarginAndSentence:
    """Who asks for less than its entitlement gets it all; solutions for the others, renormalised, solve the original."""
    d = data(case)
    found = [(f"without user {i + 1}", (*x[:i], ONE, *x[i:])) for i in _below_entitlement(d) for x in route(reduced(d, i))]
    return _solve_original(d, found)


def room_for_entitlements(case: Case, _: Route) -> MarginAndSentence:
    """What such a user does not use of each resource is at least the entitlement of every other."""
    d = data(case)
    gaps = [
        (d.entitlement[k] - (1 - d.parts[i].get(j, ZERO)), i, j)
        for i in _below_entitlement(d)
        for j in range(d.R)
        for k in range(len(d.parts))
        if k != i
    ]
    gap, i, j = max(gaps)
    return gap, f"user {i + 1} leaves less of resource {j + 1} than somebody's entitlement"


def renormalised_requests(case: Case, _: Route) -> MarginAndSentence:
    """The problem without such a user fulfils the hypotheses of Theorem 1, r_ij <= 1."""
    d = data(case)
    largest, i = max((max(r for part in reduced(d, i).parts for r in part.values()), i) for i in _below_entitlement(d))
    return largest - 1, f"without user {i + 1}, who asks for little, a renormalised request is {largest}"


def entitlements_left(case: Case, _: Route) -> MarginAndSentence:
    """The others are entitled to something, so that their entitlements can be multiplied until they sum to 1."""
    d = data(case)
    left, i = min((sum(d.entitlement, ZERO) - d.entitlement[i], i) for i in _below_entitlement(d))
    return (-left or ONE), f"user {i + 1} is removed, and the entitlements of the others sum to {left}"


def reduced(d: Requests, i: int) -> Requests:
    """The others, with entitlements and requests multiplied as in D 5.1."""
    others = [k for k in range(len(d.parts)) if k != i]
    parts = tuple({j: r / (1 - d.parts[i].get(j, ZERO)) for j, r in d.parts[k].items()} for k in others)
    return Requests(
        parts, tuple(d.entitlement[k] / (1 - d.entitlement[i]) for k in others), tuple(d.unit[k] for k in others), d.R
    )


def _below_entitlement(d: Requests) -> list[int]:
    found = [i for i, (part, e) in enumerate(zip(d.parts, d.entitlement, strict=True)) if max(part.values()) < e]
    if not found or len(d.parts) == 1:
        raise NotApplicable("nobody asks for less than its entitlement, or there is nobody else")
    return found


def _solve_original(d: Requests, found: Sequence[tuple[str, Rationals]]) -> MarginAndSentence:
    """Whether solutions of smaller problems are solutions."""
    if not found:
        raise NotApplicable("nothing can be left out")
    gap, words, x = max((complaint(d, x), words, x) for words, x in found)
    return (gap or -1), f"x = {brackets(x)} is a solution {words} only"


def _remaining_systems(case: Case, route: Route) -> tuple[Requests, list[list[int]]]:
    """The systems without dominated inequalities, for removals in two orders; those of dummies stay."""
    d, systems = data(case), []
    for order in (range(d.R), range(d.R - 1, -1, -1)):
        kept = d
        for j in order:
            kept = without(kept, j) if any(j in part for part in kept.parts) and _dominated(route, kept, j) else kept
        systems.append([j for j in range(d.R) if any(j in part for part in kept.parts)])
    return d, systems


def order_of_names(case: Case, route: Route) -> MarginAndSentence:
    """Whatever the order of removal, the same resources remain; D 5.1 denies it."""
    _, (one, other) = _remaining_systems(case, route)
    return (1 if one != other else -1), f"resources {[j + 1 for j in one]} or {[j + 1 for j in other]} remain"


def order_of_rows(case: Case, route: Route) -> MarginAndSentence:
    """Whatever the order of removal, the same inequalities remain."""
    d, systems = _remaining_systems(case, route)
    one, other = ({tuple(part.get(j, ZERO) for part in d.parts) for j in system} for system in systems)
    return (1 if one != other else -1), f"the inequalities of {systems[0]} and {systems[1]} are not the same"


def simplex(case: Case, route: Route) -> MarginAndSentence:
    """D is a simplex, the hull of N + 1 points (D prints N, of which the hull has no interior)."""
    d = data(case)
    count = len(domain_vertices(route, d))
    return count - (len(d.parts) + 1), f"the feasible region for {len(d.parts)} user(s) has {count} vertices"


# ---- the trajectory ---------------------------------------------------------------------------------------------------


def at_points(formula: Callable[[TrajectoryPoint], tuple[Any, Any, str]]) -> Routes:
    """A formula at a point of a trajectory: (what it says, what power series say, words), in doubles and in rationals."""

    def tried(allowed: float, case: Case) -> Verdict:
        said, true, words = formula(point(case))
        far = max((abs(a - b) for a, b in zip(said, true, strict=True)), default=ZERO)
        how = "power series in rationals" if not allowed else "the same with a tolerance"
        return Verdict("njc", not far > allowed, float(far) - allowed, words, how)

    return Routes(partial(tried, TOLERANCE), partial(tried, 0.0))


def gradient(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(6) is the gradient of (5)."""
    units = [[ONE if k == i else ZERO for k in range(len(at.x))] for i in range(len(at.x))]
    return [sum(row) for row in at.b], [sum(along(at, v)[0]) for v in units], f"(6) at x = {brackets(at.x)}"


def equation_8(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(8) follows from (7)."""
    load = [1 - s for s in at.s]
    said = [
        sum((x * r - w * e) / s for r, w, s in zip(row, load, at.s, strict=True))
        for x, row, e in zip(at.x, at.r, at.e, strict=True)
    ]
    return said, [ZERO] * len(said), f"(8) at x = {brackets(at.x)}"


def printed_11(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(11) differentiated as printed: each sum_k x'_k r_kj / s_j is 1."""
    v = at.velocity()
    rates = along(at, v)[0]
    return (
        [rates[0]],
        [ONE],
        f"at x = {brackets(at.x)} on the trajectory of e = {brackets(at.e)} the left side for resource 1 is {rates[0]}",
    )


def summed_11(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(11) differentiated: the sum over j of all these is 1."""
    return [sum(along(at, at.velocity())[0])], [ONE], f"(11) at x = {brackets(at.x)}"


def equation_13(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(13) with both sums over j: the derivative of x_i nu_i along dx/dt is dc/dt e_i."""
    v = at.velocity()
    b = at.b
    said = [
        sum(q for q in row) * w + x * sum(q * sum(b[k][j] * v[k] for k in range(len(v))) for j, q in enumerate(row))
        for x, row, w in zip(at.x, b, v, strict=True)
    ]
    true = along(at, v)[1]
    rate = sum(true)
    both = [*said, *true]
    return both, [*true, *(rate * e for e in at.e)], f"(13) at x = {brackets(at.x)}"


def symmetric(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """The matrix in the compact form of (13) is symmetric."""
    units = [[ONE if k == i else ZERO for k in range(len(at.x))] for i in range(len(at.x))]
    columns = [along(at, v)[1] for v in units]
    pairs = [(columns[i][k], columns[k][i]) for i in range(len(units)) for k in range(i)]
    entries = ", ".join(f"{a} and {b}" for a, b in pairs if a != b)
    return [a for a, _ in pairs], [b for _, b in pairs], f"at x = {brackets(at.x)} opposite entries are {entries}"


def unique_velocity(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """(13) has one solution, and scaling by a positive number makes f grow at the rate 1."""
    from flint import fmpq_mat

    size = len(at.x)
    matrix = fmpq_mat(size, size, [as_flint(v) for row in at.matrix for v in row])
    regular = matrix.det() != 0
    rising = regular and sum(v * sum(row) for v, row in zip(at.velocity(), at.b, strict=True)) == 1
    forward = rising and sum(along(at, at.velocity())[1]) > 0
    return [ONE if forward else ZERO], [ONE], f"at x = {brackets(at.x)} the matrix of (13) has the determinant {matrix.det()}"


def gradient_not_zero(at: TrajectoryPoint) -> tuple[Any, Any, str]:
    """The gradient is not 0, so that level sets are hypersurfaces with one normal each (D Remark 3, Definition 2)."""
    return [ONE if all(sum(row) > 0 for row in at.b) else ZERO], [ONE], f"the gradient of f at x = {brackets(at.x)}"


def barrier_signs(case: Case) -> Verdict:
    """F is positive inside of D and infinite on its boundary (D Remark 1): where no term is infinite, f is finite."""
    d, x = data(case), _point_of_case(case)
    edge = min(x) == 0 or max(x) == 1 or max(loads(d, x)) == 1
    wrong = edge and max(x) < 1 and max(loads(d, x)) < 1
    words = f"x = {brackets(x)} is on the boundary of D, and f(x) is finite"
    return Verdict("njc", not wrong, 1.0 if wrong else -1.0, words, "rational arithmetic")


def barrier_grows(case: Case) -> Verdict:
    """The same by values of f: positive at an inner point; it diverges on the way to a point of the boundary.

    From 2^-20 to 2^-40 of the way, a term that diverges grows by 20 log 2, others hardly.
    """
    d, x = data(case), np.array([float(v) for v in _point_of_case(case)])
    inner = np.full(len(x), 0.5 / max(1.0, float((np.ones(len(x)) @ d.matrix()).max())))
    edge = min(x.min(), 1 - x.max(), 1 - (x @ d.matrix()).max()) <= TOLERANCE
    early, late = (barrier_value(d, x + 0.5**k * (inner - x)) for k in (20, 40))
    margin = 10.0 - (late - early) if edge else -barrier_value(d, x)
    return Verdict("njc", not margin > 0, margin, f"at the boundary f grows by {late - early:.3g}", "floating point")


def starts_at_zero(case: Case, exact: bool) -> Verdict:
    """f(x) = 0 only at x = 0 (D Remark 4)."""
    d, x = data(case), _point_of_case(case)
    if max(x) == 1 or max(loads(d, x)) == 1:
        raise NotApplicable("f is infinite there")
    zero = max(loads(d, x)) == 0 and max(x) == 0 if exact else barrier_value(d, np.array([float(v) for v in x])) == 0
    same = zero == (max(x) == 0)
    return Verdict(
        "njc", same, -1.0 if same else 1.0, f"f is 0 at x = {brackets(x)}", "rational arithmetic" if exact else "floating point"
    )


def both_kinds(check: Callable[[Case, bool], Verdict]) -> Routes:
    """A check in floating point and in rationals."""
    return Routes(lambda case: check(case, False), lambda case: check(case, True))


def fulfils_12(d: Requests, path: TrajectoryEquations, x: Floats) -> float:
    """The largest relative error of (12) at x."""
    s = path.slack(x)
    left = x * ((path.r * (path.w / s)[: d.R]).sum(axis=1) + (path.w / s)[d.R :])
    return float(np.abs(left / path.scale(x) / path.e - 1).max())


# ---- trajectories: by the integrator, by Newton's method -----------------------------------------------------------

SCALES = (1.0, 10.0, 1e3)
"""Values of c at which Newton's method looks for points of the trajectory."""


def exists_by_integration(case: Case) -> Verdict:
    """The integrated x(t) fulfils (11) and (12) (D Lemma 4)."""
    d = data(case)
    way = trajectory(d, 1e-3)
    path = TrajectoryEquations(d, Limits())
    errors = [fulfils_12(d, path, x) for x in way.x[1:]]
    errors += [abs(barrier_value(d, x) - t) / t for t, x in zip(way.t[1:], way.x[1:], strict=True)]
    return _verdict(max(errors) - NEAR * 100, "the integrated trajectory misses (11) or (12)", "integration")


def exists_by_newton(case: Case) -> Verdict:
    """There are points that fulfil (12) for several c, and f grows with c."""
    d = data(case)
    path, points = TrajectoryEquations(d, Limits()), [central(data(case), c) for c in SCALES]
    errors = [fulfils_12(d, path, x) for x in points]
    values = [barrier_value(d, x) for x in points]
    grows = all(a < b for a, b in pairwise(values))
    return _verdict(max(errors) - NEAR if grows else 1.0, "no point fulfils (12)", "Newton's method")


def boundary_by_integration(case: Case) -> Verdict:
    """x(t) comes to the boundary of D: the least spare part is at most m / c (D Lemma 2)."""
    d = data(case)
    x = trajectory(d, 1e-6).x[-1]
    path = TrajectoryEquations(d, Limits())
    spare = path.slack(x)
    return _verdict(float(spare.min()) - (1 + NEAR) * len(spare) / path.scale(x), "x(t) stays inside", "integration")


def boundary_by_newton(case: Case) -> Verdict:
    """The same at points of Newton's method."""
    d = data(case)
    path = TrajectoryEquations(d, Limits())
    gaps = [float(path.slack(x).min()) - (1 + NEAR) * (d.R + len(x)) / c for c in SCALES for x in [central(d, c)]]
    return _verdict(max(gaps), "x(t) stays inside", "Newton's method")


def limit_by_integration(case: Case) -> Verdict:
    """With any weights of the resources the objective at the end of the trajectory is within sum w / c of the market's
    optimum.
    """
    d, w = data(case), weighting(case)
    path = TrajectoryEquations(d, Limits(), w)
    return _loss_bounded(case, d, path, w, trajectory(d, 1e-5, weighting=w).x[-1], "integration")


def limit_by_newton(case: Case) -> Verdict:
    """The same at a point of Newton's method."""
    d, w = data(case), weighting(case)
    return _loss_bounded(case, d, TrajectoryEquations(d, Limits(), w), w, central(d, 1e3, w), "Newton's method")


def _loss_bounded(case: Case, d: Requests, path: TrajectoryEquations, w: Floats, x: Floats, how: str) -> Verdict:
    """The loss sum e log x* - sum e log x <= sum w / c: the optimum is unique, so x(t) tends to it as c grows (njc/ode.py)."""
    best = np.array(fractions(d, solve(case.instance, "njc", "njc-market")), dtype=float)
    lost = float(path.e @ (np.log(best) - np.log(x)))
    return _verdict(
        lost - float(w.sum()) / path.scale(x) - NEAR, f"the objective is {lost:.3g} below that of the market's allocation", how
    )


def weighting(case: Case) -> Floats:
    """1 for all resources but the first, which has the parameter `heavy`."""
    w = np.ones(case.instance.R + case.instance.N)
    w[0] = float(case.parameters.get("heavy", 1))
    return w


def limit_is_fair_by_integration(case: Case) -> Verdict:
    """The end of the trajectory is an NJC allocation up to the accuracy asked for (D Lemma 3; "a controllable error")."""
    asked = float(case.parameters.get("accuracy", 1e-5))
    way = trajectory(data(case), asked)
    if not way.reached:  # a resource that is full without a price: c beyond the reach of doubles
        return Verdict("njc", None, np.nan, f"not decided: {way.message}", "integration")
    return _verdict(way.complaint - 2 * asked, way.message, "integration")


def limit_is_fair_by_newton(case: Case) -> Verdict:
    """The point next to which the trajectory comes, the market's, is an NJC allocation; decided in rationals."""
    d = data(case)
    x = fractions(d, solve(case.instance, "njc", "njc-market"))
    near = float(np.abs(central(d, 1e3) - np.array(x, dtype=float)).max())
    gap = complaint(d, x)
    return _verdict(
        float(gap), f"x = {brackets(x)}, which is {near:.1e} from the trajectory, has a complaint", "rational arithmetic"
    )


def _verdict(margin: float, words: str, how: str) -> Verdict:
    """The verdict of a margin in floating point."""
    if not margin <= 0:
        return Verdict("njc", False, margin, words, how)
    return Verdict("njc", True, margin, "not " + words, how)


def vanishing_numerators(case: Case, route: Route) -> MarginAndSentence:
    """At the limit x_i r_ij = e_i for every bottleneck j, as the proof of D Lemma 3 says."""
    d = data(case)
    found = route(d)
    if len(found) > 1:
        raise NotApplicable("the claim is tried where the only NJC allocation must be the limit")
    x = found[0]
    gaps = [(abs(v * part.get(j, ZERO) - e), i, j) for j in full(d, x) for i, (v, part, e) in enumerate(users(d, x))]
    if not gaps:
        raise NotApplicable("there is no bottleneck")
    gap, i, j = max(gaps)
    return (
        gap,
        f"the limit is x = {brackets(x)}, and the numerator for user {i + 1} and its full resource {j + 1} tends to {gap}, not 0",
    )


# ---- printed examples -------------------------------------------------------------------------------------------------


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


# ---- pieces -----------------------------------------------------------------------------------------------------------


def users(d: Requests, x: Sequence[Any]) -> list[tuple[Any, Any, Fraction]]:
    return list(zip(x, d.parts, d.entitlement, strict=True))


def _point_of_case(case: Case) -> Rationals:
    """The case's point in fractions of requests."""
    d = data(case)
    return tuple(u / q for u, q in zip(exact_arcs(case.instance).tasks(case.points[0]), d.unit, strict=True))
