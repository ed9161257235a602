"""Section 4: misreports, envy and imitation, and what DRF gives instead."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests, requests
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.trials import Answer
from fairalloc.theorems.papers.d.allocations import preferred
from fairalloc.theorems.papers.d.complaints import (
    ONE,
    ZERO,
    MarginAndSentence,
    Route,
    brackets,
    data,
    fractions,
)


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
