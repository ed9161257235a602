"""Claims about each allocation without justified complaints, and about all of them (D 3 to 5)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import Requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.numbers import Floats
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.d.barrier import with_dummies
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
    full,
    loads,
    point_of_case,
    users,
)


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


def less_elsewhere(d: Requests, x: Rationals) -> MarginAndSentence | None:
    """Who is cut back and asks for its entitlement of a full resource gets it of each such resource, which D 3 denies."""
    gaps = [
        (e - v * part[k], i, k)
        for k in full(d, x)
        for i, (v, part, e) in enumerate(users(d, x))
        if v < 1 and part.get(k, ZERO) >= e > 0
    ]
    if not gaps:
        return None
    gap, i, k = max(gaps)
    return gap, f"at x = {brackets(x)} user {i + 1} gets {x[i] * d.parts[i][k]} of resource {k + 1}, which is full"


def rests_where_fair(case: Case) -> Verdict:
    """A scheduler that promotes users by the least gap over full resources promotes nobody exactly at fair allocations (D 6).

    At the case's point and at every NJC allocation that equations give; in rationals.
    """
    d, wrong = data(case), []
    for x in (point_of_case(case), *by_equations(d)):
        gaps = [min((e - v * part.get(j, ZERO) for j in full(d, x)), default=ONE) for v, part, e in users(d, x)]
        rests = all(gap <= 0 or v == 1 for gap, v in zip(gaps, x, strict=True))
        wrong += [x] if rests != (complaint(d, x) == 0) else []
    words = (
        f"at x = {brackets(wrong[0] if wrong else point_of_case(case))} nobody is promoted and somebody complains, or vice versa"
    )
    return Verdict("njc", not wrong, float(bool(wrong)) * 2 - 1, words, "rational arithmetic")


def rests_where_fair_in_floats(case: Case) -> Verdict:
    """The same on arrays, against the system of D (3) with dummy resources; at the NJC allocations of double description."""
    d = data(case)
    r, e = d.matrix(), np.array([float(v) for v in d.entitlement])
    dummy, margin = np.hstack([r, np.eye(len(e))]), -1.0
    for exact in (point_of_case(case), *by_polytopes(d)):
        x = np.array([float(v) for v in exact])
        missed = np.where(x @ r >= 1 - TOLERANCE, e[:, None] - x[:, None] * r, np.inf).min(axis=1, initial=1.0)
        rests = bool(((missed <= TOLERANCE) | (x >= 1 - TOLERANCE)).all())
        fair = _largest_complaint(x, dummy, e, np.zeros(len(x), bool)) <= TOLERANCE
        margin = max(margin, 1.0 if rests != fair else -1.0)
    return rests_where_fair(case) if margin > 0 else Verdict("njc", True, margin, "it rests where all are fair", "floating point")


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
    wrong = [x for x in (point_of_case(case), *by_equations(d)) if _fair_with_dummies(d, x) != (complaint(d, x) == 0)]
    where = brackets(wrong[0] if wrong else point_of_case(case))
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
    for fractions_ in (point_of_case(case), *by_polytopes(d)):
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
