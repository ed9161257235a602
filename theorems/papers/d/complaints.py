"""D (1)-(2) as printed, and how claims about all NJC allocations are judged, in rationals.

What a claim says of an allocation is a margin that is mostly a maximum of linear functions, so it is largest at a vertex. The
parameter `unentitled` is the number of the last users who are entitled to nothing, which D Theorem 1 allows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.solution_sets.njc_answers import polytopes
from fairalloc.analysis.verdict import FOR_SOME, Verdict
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.polytopes import polytope_vertices
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import Answer, Routes, about_mechanism, once, only_where
from fairalloc.theorems.standalone.definitions import with_dummies

ZERO, ONE = Fraction(0), Fraction(1)


class Found(NamedTuple):
    """A signed margin, positive = violation, the sentence that describes it, and the allocations that show it."""

    margin: Any
    sentence: str
    points: Mapping[str, Any] = {}


def data(case: Case) -> Requests:
    """D's data of a case."""
    d = requests(NoJustifiedComplaints().domain(case.instance))
    count = len(d.parts) - case.parameters.get("unentitled", 0)
    only_where(count >= 1, "somebody must be entitled to something")
    total = sum(d.entitlement[:count])
    entitled = tuple(e / total for e in d.entitlement[:count])
    return d if count == len(d.parts) else replace(d, entitlement=entitled + (ZERO,) * (len(d.parts) - count))


def users(d: Requests, x: Sequence[Any]) -> list[tuple[int, Any, Any, Fraction]]:
    """The number, x_i, the requests and the entitlement of each user."""
    return [(i, *own) for i, own in enumerate(zip(x, d.parts, d.entitlement, strict=True))]


def matrix(d: Requests) -> list[list[Fraction]]:
    """The requests by user and resource."""
    return [[part.get(j, ZERO) for j in range(d.R)] for part in d.parts]


def point_of_case(case: Case, k: int = 0) -> Rationals:
    """The k-th point of the case in fractions of requests."""
    return tuple(u / q for u, q in zip(exact_arcs(case.instance).tasks(case.points[k]), data(case).unit, strict=True))


def full(d: Requests, x: Sequence[Fraction]) -> list[int]:
    return sorted(d.bottlenecks(x))


def complaint(d: Requests, x: Sequence[Fraction]) -> Fraction:
    """0 where (1) and (2) hold, else the largest of the least entitlements missed, relative, and of the overloads."""
    bottlenecks, worst = full(d, x), max(ZERO, *(load - 1 for load in d.loads(x)), *(-v for v in x), *(v - 1 for v in x))
    for _, v, part, e in users(d, x):
        if v != 1 and not any(v * part.get(j, ZERO) >= e for j in bottlenecks):
            worst = max(worst, min([1 - v, *(1 - v * part.get(j, ZERO) / e for j in bottlenecks)]))
    return worst


def without(d: Requests, j: int) -> Requests:
    return replace(d, parts=tuple({k: r for k, r in part.items() if k != j} for part in d.parts))


def brackets(x: Iterable[Any]) -> str:
    return "(" + ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in x) + ")"


def all_fair(d: Requests) -> list[Rationals]:
    """The vertices of every P_I, by double description (analysis/solution_sets/njc_answers.py)."""
    return sorted({vertex for _, _, vertices in polytopes(d) for vertex in vertices})


def domain_vertices(d: Requests) -> list[Rationals]:
    """The vertices of the set of feasible allocations."""
    rows = [({i: part[j] for i, part in enumerate(d.parts) if j in part}, ONE) for j in range(d.R)]
    return sorted(polytope_vertices([ZERO] * len(d.parts), [ONE] * len(d.parts), [], rows))


def of_data(judge: Callable[[Case, Requests], Found], answers: str = "") -> Routes:
    """A judgement of all NJC allocations, or of the region, in rationals."""

    def decide(case: Case) -> Verdict:
        margin, sentence, points = judge(case, data(case))
        return Verdict("njc", not margin > 0, float(margin), sentence, "rational arithmetic", points, answers=answers)

    return once(decide)


def for_every(gap: Callable[[Requests, Rationals], tuple[Any, str] | None]) -> Routes:
    """The largest margin of a claim over the corners of all NJC allocations; None = its hypothesis does not hold at one."""

    def worst(_: Case, d: Requests) -> Found:
        found = [(*made, x) for x in all_fair(d) if (made := gap(d, x)) is not None]
        only_where(found, "the hypothesis of the claim holds at none of these allocations")
        margin, words, x = max(found, key=lambda made: made[0])
        return Found(margin, f"at x = {brackets(x)} {words}", {"x": x})

    return of_data(worst, FOR_SOME)


def compared_with_drf(judge: Callable[[Requests, list[Rationals], Sequence[Any]], Found]) -> Routes:
    """A judgement of all NJC allocations and of the DRF allocation, in fractions of requests."""

    def compared(case: Case, answer: Answer) -> Verdict:
        d, allocation = data(case), answer(case.instance)
        margin, sentence, points = judge(d, all_fair(d), fractions(d, allocation))
        exact = allocation.x_exact is not None
        how = "rational arithmetic on a certificate" if exact else "floating point"
        return Verdict("njc", not margin > (0 if exact else TOLERANCE), float(margin), sentence, how, points)

    return about_mechanism("drf", compared)


def fractions(d: Requests, allocation: Allocation) -> list[Any]:
    """(N,) fractions of requests, in rationals where the allocation has them."""
    tasks, floats = allocation.tasks_exact, allocation.tasks_exact is None
    return [float(u) / float(q) if floats else u / q for u, q in zip(tasks or allocation.tasks, d.unit, strict=True)]


# ---- claims about each allocation, about all of them, about misreports and about DRF (D 3 to 5) ----------


def pareto(d: Requests, x: Rationals) -> tuple[Any, str]:
    """Nobody can get more while all others keep what they have: some resource it uses is full (D 3, D 4)."""
    spare = [1 - load for load in d.loads(x)]
    gain, i = max((min([1 - v, *(spare[j] / r for j, r in part.items())]), i) for i, v, part, _ in users(d, x))
    return gain, f"user {i + 1} could have {x[i] + gain} of its request and nobody less"


def exact_entitlement(d: Requests, x: Rationals) -> tuple[Any, str]:
    """x_i r_ij = e_i for some j, as D 4 says on the way to the sharing incentive."""
    gap, i = max((min(abs(v * r - e) for r in part.values()), i) for i, v, part, e in users(d, x))
    return gap, f"user {i + 1} has its entitlement, no more and no less, of no resource"


def envy(d: Requests, x: Sequence[Any]) -> tuple[Any, str]:
    """Nobody could have more of its request with what another holds (D 4)."""
    only_where(len(x) >= 2, "envy needs two users")
    gap, n, m = max((useful_part(d.parts[n], d.parts[m], x[m]) - x[n], n, m) for n, m in permutations(range(len(x)), 2))
    return gap, f"user {n + 1} could have {x[n] + gap} of its request with what user {m + 1} holds"


def useful_part(true: Mapping[int, Fraction], reported: Mapping[int, Fraction], granted: Any) -> Any:
    """The part of its true request that a user can run with what is granted of another one."""
    return min([ONE, *(granted * reported.get(j, ZERO) / r for j, r in true.items())])


def small_requests(d: Requests, x: Rationals) -> tuple[Any, str] | None:
    """Who asks for less than e_i of everything gets it all (D 3)."""
    gap, i = max(((1 - v, i) for i, v, part, e in users(d, x) if max(part.values()) < e), default=(None, 0))
    return None if gap is None else (gap, f"user {i + 1} gets {x[i]} of its request, which is small")


def no_scarcity(d: Requests, x: Rationals) -> tuple[Any, str] | None:
    """Where all requests fit, all are granted (D 3)."""
    return None if max(d.loads([ONE] * len(x))) > 1 else (max(1 - v for v in x), "all requests fit")


def cut_back(d: Requests, x: Rationals) -> tuple[Any, str] | None:
    """With one bottleneck only those who request more than e_i of it are cut back (D 3)."""
    (j, *more) = full(d, x) or [0, 0]
    gap, i = max(((e - part.get(j, ZERO), i) for i, v, part, e in users(d, x) if not more and v < 1), default=(None, 0))
    return None if gap is None else (gap or ONE, f"user {i + 1} is cut back")


def less_elsewhere(d: Requests, x: Rationals) -> tuple[Any, str] | None:
    """Who is cut back and asks for its entitlement of a full resource gets it of each such resource, which D 3 denies."""
    own = [(e - v * part[k], i, k) for k in full(d, x) for i, v, part, e in users(d, x) if v < 1 and part.get(k, ZERO) >= e > 0]
    gap, i, k = max(own, default=(None, 0, 0))
    return None if gap is None else (gap, f"user {i + 1} gets {x[i] * d.parts[i][k]} of resource {k + 1}, which is full")


def on_boundary(d: Requests, x: Rationals) -> tuple[Any, str]:
    """A resource or a dummy resource is full (D 5.2)."""
    return (-1 if full(d, x) or ONE in x else 1), "nothing is full"


def linear(d: Requests, x: Rationals) -> tuple[Any, str]:
    """X fulfils (1)-(2), and the linear system of its own bottlenecks (D 5.2)."""
    low = d.lowest(full(d, x))
    gap = max([complaint(d, x), *(least - v for v, least in zip(x, low, strict=True))])
    return gap, "(3) or the system of its bottlenecks fails"


def common_bottleneck(d: Requests, x: Rationals) -> tuple[Any, str]:
    """Every bottleneck is dominant for everybody who gets anything (D 4)."""
    bad = [j + 1 for j in full(d, x) for part in d.parts if part.get(j, ZERO) < max(part.values())]
    return (1 if bad else -1), f"resource {bad[0] if bad else '-'} is full without being dominant for all"


def alike(words: str, condition: Callable[[Requests, Rationals], bool], case: Case, d: Requests) -> Found:
    """A condition holds exactly at allocations without complaints, of the case's point and of all NJC allocations."""
    wrong = [x for x in (point_of_case(case), *all_fair(d)) if condition(d, x) != (complaint(d, x) == 0)]
    return Found(2 * bool(wrong) - 1, f"at x = {brackets(wrong[0] if wrong else point_of_case(case))} {words}")


def fair_with_dummies(d: Requests, x: Rationals) -> bool:
    """(1) and (2) of Theorem 1, with the dummy resources of D 5."""
    r = with_dummies(matrix(d))
    total = [sum((v * row[j] for v, row in zip(x, r, strict=True)), ZERO) for j in range(len(r[0]))]
    bottlenecks = [j for j, load in enumerate(total) if load == 1]
    answered = (any(v * row[j] >= e for j in bottlenecks) for v, row, e in zip(x, r, d.entitlement, strict=True))
    return max(total) <= 1 and all(answered)


def rests(d: Requests, x: Rationals) -> bool:
    """A scheduler that promotes users by the least gap over full resources promotes nobody (D 6)."""
    gaps = [(v, min((e - v * part.get(j, ZERO) for j in full(d, x)), default=ONE)) for _, v, part, e in users(d, x)]
    return all(gap <= 0 or v == 1 for v, gap in gaps)


def unique(two: bool, case: Case, d: Requests) -> Found:
    """Two users have one NJC allocation, more have as well, which D 5.3 says and denies."""
    if case.instance.N < 2 or (case.instance.N == 2) != two:
        raise NotApplicable(f"the claim is about {'' if two else 'more than '}two users")
    found = all_fair(d)
    margin = max(max(column) - min(column) for column in zip(*found, strict=True))
    words = f"{brackets(found[0])} and {brackets(found[-1])} both are NJC allocations"
    return Found(margin, words, {"x": found[0], "other": found[-1]})


def one_bottleneck_set(_: Case, d: Requests) -> Found:
    """All NJC allocations have the same bottlenecks, which D 5.5 denies."""
    by_set = {tuple(j + 1 for j in full(d, x)): x for x in reversed(all_fair(d))}
    sets, points = sorted(by_set), [*by_set.values()][::-1]
    return Found(len(sets) - 1, f"the bottlenecks are {sets[0]} or {sets[-1]}", {"x": points[0], "other": points[-1]})


def serial_is_fair(_: Case, d: Requests) -> Found:
    """One user after the other takes all it can; that is Pareto optimal, and nobody complains: D 3 denies the second."""
    x = _serial(d, len(d.parts))
    return Found(complaint(d, x), f"x = {brackets(x)} is Pareto optimal and has a complaint", {"x": x})


def greedy(_: Case, d: Requests) -> Found:
    """Serving one user after the other, none complains at its turn (D 3 denies it); taking less than it can helps nobody."""
    found = []
    for k in range(1, len(d.parts) + 1):
        x, own = _serial(d, k), replace(d, parts=d.parts[:k], entitlement=d.entitlement[:k], unit=d.unit[:k])
        found.append((complaint(own, x[:k]), f"at x = {brackets(x)} one of the first {k} users complains", {"x": x}))
    return Found(*max(found, key=lambda made: made[:2]))


def _serial(d: Requests, count: int) -> Rationals:
    """The first users take all they can, in their order."""
    x = [ZERO] * len(d.parts)
    for i in range(count):
        spare = [1 - load for load in d.loads(x)]
        x[i] = min([ONE, *(spare[j] / r for j, r in d.parts[i].items())])
    return tuple(x)


def scaled_request(case: Case, d: Requests) -> Found:
    """Asking for `factor` times as much in the same profile does not help: worst after, best before (D 4)."""
    factor, before, gaps = case.parameters["factor"], all_fair(d), []
    for n, q in enumerate(d.unit):
        limits: list[Fraction | None] = list(case.instance.exact.max_tasks)
        limits[n] = factor * q
        reported = requests(NoJustifiedComplaints().domain(case.instance.replace(max_tasks=limits)))
        after = min(useful_part(d.parts[n], reported.parts[n], x[n]) for x in all_fair(reported))
        gaps.append((after - max(x[n] for x in before), n))
    gap, n = max(gaps)
    return Found(gap, f"user {n + 1} gets at least {gap} more of its request by asking for {factor} times as much")


def envy_by_imitation(_: Case, d: Requests) -> Found:
    """A user who envies another gains by reporting the other's request (D 4)."""
    found, allocations = [], all_fair(d)
    for n, m in permutations(range(len(d.parts)), 2):
        gap, x = max(((useful_part(d.parts[n], d.parts[m], x[m]) - x[n], x) for x in allocations), key=lambda pair: pair[0])
        if gap > 0:
            copied = replace(d, parts=tuple(d.parts[m] if i == n else part for i, part in enumerate(d.parts)))
            after = min(all_fair(copied), key=lambda y, n=n: (y[n], y))  # type: ignore[misc]
            got = useful_part(d.parts[n], copied.parts[n], after[n])
            words = f"at x = {brackets(x)} user {n + 1} envies user {m + 1}, and with its request it may get {got}"
            found.append(Found(gap if got <= x[n] else -1, words, {"x": x, "after": after, "user": n, "envied": m}))
    only_where(found, "nobody envies anybody")
    return max(found, key=lambda made: made.margin)


def market_envy(case: Case, answer: Answer) -> Verdict:
    """Where the trajectory ends nobody envies: the market's allocation (D 4, true for this one)."""
    d, allocation = data(case), answer(case.instance)
    x, allowed = fractions(d, allocation), 0 if allocation.x_exact is not None else TOLERANCE
    gap, words = envy(d, x)
    sentence = f"at x = {brackets(x)} {words}"
    return Verdict("envy-freeness", not gap > allowed, float(gap), sentence, "floating point" if allowed else "certificate")


def same_as_drf(asked: bool, d: Requests, found: list[Rationals], drf: Sequence[Any]) -> Found:
    """Every NJC allocation is the DRF allocation (D 4); `asked` = where all request at least their entitlement."""
    if asked and any(max(part.values()) < e for part, e in zip(d.parts, d.entitlement, strict=True)):
        raise NotApplicable("somebody requests less than its entitlement")
    gap, x = max(((max(abs(a - b) for a, b in zip(x, drf, strict=True)), x) for x in found), key=lambda made: made[0])
    return Found(gap, f"x = {brackets(x)} is an NJC allocation, and DRF gives {brackets(drf)}", {"x": x, "better": drf})


def drf_meets_a_bottleneck(d: Requests, _: list[Rationals], drf: Sequence[Any]) -> Found:
    """Under DRF everybody has all it asks for or uses a full resource (D 4)."""
    left = [1 - sum(v * part.get(j, ZERO) for v, part in zip(drf, d.parts, strict=True)) for j in range(d.R)]
    gap, i = max((min([1 - v, *(left[j] for j in part)]), i) for i, v, part, _ in users(d, drf))
    return Found(gap, f"under DRF x = {brackets(drf)}, and user {i + 1} uses no full resource")


def incremental(case: Case, answer: Answer) -> Verdict:
    """The incremental algorithm gives the DRF allocation (D 4)."""
    d, given = data(case), answer(case.instance)
    filled = fractions(d, solve(case.instance, "drf", "progressive-filling"))
    far = max(abs(float(a) - float(b)) for a, b in zip(filled, fractions(d, given), strict=True))
    return Verdict("njc", far <= TOLERANCE, far - TOLERANCE, f"the incremental algorithm is {far:.1e} off", "comparison")
