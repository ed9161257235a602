r"""Judges over all answers of a mechanism, where it allows several: "for all", "for some", or "for the answer of METHOD".

A verdict says with `holds` whether the property was found to hold, and with `answers` of which answers that was found:

    for all                    every answer was decided, and all alike
    for some                   an answer is known of which it is so, and not all of them are, or not all were decided
    for the answer of METHOD   only what that method computes was looked at

A mechanism has a property if all of its answers have it (K 2, P III), so one that lacks it is a violation.

1. Judge the method's answer. Where the judge asks for the answers to several instances, or the set of answers cannot be listed
   (analysis/solution_sets/), that is all that is known, unless theory, or programs over all optima, say that there is one answer,
   or that the property is one of the users' totals and these are unique.
2. Else judge the answers that decide: where the property is

       convex     linear inequalities in the tasks: all vertices of the pieces fulfil them iff all answers do
       of faces   Pareto optimality: the Pareto optimal points of a polytope of feasible tasks are a union of its faces, so a
                  piece has none but these iff its centre is one of them, and none at all iff no vertex is
       another    decided only where the answers are finitely many

3. A violation at the method's answer stays what it is; one at another answer counts where that answer is proved to be one by the
   definition, not by the list (`_is_answer`).

In floating point the points of the set are rounded and judged with the tolerance of all trials; in rationals they are exact.

A misreport pays if every member of the coalition gains whatever answers are chosen. A member does where the least that its
bundles are worth after the misreport is above the most before it. The answers are listed, or, where they are the optima of a
linear program, two programs over the optima say both. Where already the method's own answers leave a member without a gain,
nothing else is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum_over_optima
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.properties.strategyproofness import misreporting
from fairalloc.analysis.solution_sets import SEVERAL, UNLISTED, SolutionSet, solution_set
from fairalloc.analysis.solution_sets.game_answers import one_server_each
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, Verdict, for_the_answer_of
from fairalloc.formulations import MECHANISMS, mechanism_of
from fairalloc.formulations.alpha_pf_vds import AlphaPfVds
from fairalloc.formulations.njc import requests
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import levels
from fairalloc.solvers.exact.ps_dsf_pieces import LARGEST
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import Answer, Judge, Undecided, certified_allocation, misreport_of, only_where

CONVEX = ("envy-freeness", "sharing-incentive", "strong-sharing-incentive", "total-envy-freeness")
FACES = ("pareto",)

OF_TOTALS = ("pareto", "sharing-incentive", "strong-sharing-incentive", "total-envy-freeness")
"""What the users' totals decide, wherever the tasks run, for users with one variant."""

T = TypeVar("T")


def over_answers(judge: Judge, name: str = "", method: str = "") -> Judge:
    """The judge of all answers."""

    def judged(case: Case, answer: Answer) -> Verdict:
        # 1.
        verdict, asked = with_answers(judge, case, answer)
        program = any(map(_is_program, asked.values()))
        if verdict.holds is None or verdict.answers or not (program or any(map(_allows_several, asked.values()))):
            return verdict
        instance, first = next(iter(asked.items()))
        alone = replace(verdict, answers=for_the_answer_of(method or first.method))
        if program:
            return replace(verdict, answers=FOR_ALL) if verdict.holds is False and _are_the_only_ones(asked, name) else alone
        if all(map(has_one, asked.values())):
            return replace(verdict, answers=FOR_ALL)
        if len(asked) > 1:
            return alone
        if name in OF_TOTALS and _has_unique_totals(first):
            return replace(verdict, answers=FOR_ALL)
        found = set_of(instance, first.mechanism, first.parameters)
        if found is None:
            return alone

        def at(x: Rationals) -> Verdict:
            exact = x if first.x_exact is not None else None
            point = replace(first, x=np.array([float(v) for v in x]), x_exact=exact, prices=None)
            return judge(case, lambda _: point)

        # 2. and 3.
        return _of_set(found, at, verdict, alone, _shape(name, found.instance))

    return judged


def _are_the_only_ones(asked: Mapping[Instance, Allocation], name: str) -> bool:
    """Whether these rational optima are the only ones, as far as the property looks: where tasks run, or the users' totals."""
    total = name in (*OF_TOTALS, "population-monotonicity")
    if not all(one.single_variant and (total or one.K == 1) for one in asked):
        return False
    exact = [one for one in asked.values() if one.x_exact is not None]
    return len(exact) == len(asked) and all(least == most for one in exact for least, most in _ranges(Case(one.instance), one))


def with_answers(judge: Callable[[Case, Answer], T], case: Case, answer: Answer) -> tuple[T, Mapping[Instance, Allocation]]:
    """What a judge says, and the answers that it asked for, the first one first."""
    asked: dict[Instance, Allocation] = {}

    def noted(instance: Instance) -> Allocation:
        asked[instance] = answer(instance)
        return asked[instance]

    return judge(case, noted), asked


def one_answer(case: Case, answer: Answer) -> Verdict:
    """All answers give every user the same tasks: those that are listed, or all optima of a linear program, in rationals."""
    first = answer(case.reported)
    if _is_program(first) and first.x_exact is None:
        first = certified_allocation(first.mechanism, first.instance, [])
    h = Holdings(first, first.x_exact is not None)
    gaps = [((most - least) / a, n) for n, ((least, most), a) in enumerate(zip(_ranges(case, first), h.alone, strict=True))]
    margin, n = max(gaps, default=(0, 0))
    holds = not margin > (0 if h.exact else TOLERANCE)
    sentence = f"user {h.instance.users[n]!r} {'runs' if holds else 'does not run'} the same tasks in all answers"
    method = "rational arithmetic" if h.exact else "floating point"
    several = _allows_several(first) or _is_program(first)
    return Verdict("uniqueness", holds, float(margin), sentence, method, answers=FOR_ALL * several)


def _ranges(case: Case, first: Allocation) -> Sequence[tuple[Any, Any]]:
    """The least and the most tasks of each user in all answers, of which the first is one; 0 where theory says that it is all."""
    if _allows_several(first):
        found = set_of(case.reported, first.mechanism, first.parameters)
        if found is None:
            raise NotApplicable("the answers are not listed")
        return found.totals
    arcs, N = first.instance.arcs, first.instance.N
    if not _is_program(first):
        if (first.rule is not None or first.parameters) and not mechanism_of(first).unique:
            raise NotApplicable(f"the answers of {first.mechanism} are not listed")
        return [(0, 0)] * N
    costs = [[Fraction(sign * (n == m)) for m in arcs.user.tolist()] for n in range(N) for sign in (-1, 1)]
    ends = [maximum_over_optima(cost, MECHANISMS[first.mechanism], first) for cost in costs]
    values = [end.value for end in ends if end is not None]
    only_where(len(values) >= 2 * N, "a linear program was not solved")
    return [(-least, most) for least, most in zip(values[::2], values[1::2], strict=True)]


def _is_program(allocation: Allocation) -> bool:
    """Whether the answers of its mechanism are all optima of a linear program."""
    return allocation.mechanism in UNLISTED and allocation.rule is None and not allocation.parameters


def set_of(
    instance: Instance, mechanism: str, parameters: Mapping[str, Any] = MappingProxyType({}), largest: int = LARGEST
) -> SolutionSet | None:
    """All answers; None where they cannot be listed."""
    return _listed(instance, mechanism, largest, _Parameters(parameters))


class _Parameters(dict[str, Any]):
    """Parameters that a cache compares: their values, such as lists, need not have a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))


@lru_cache(maxsize=16)
def _listed(instance: Instance, mechanism: str, largest: int, parameters: _Parameters) -> SolutionSet | None:
    try:
        return solution_set(instance, mechanism, largest=largest, **parameters)
    except NotApplicable:
        return None


def _allows_several(allocation: Allocation) -> bool:
    """Whether it is of a registered mechanism that may have several answers."""
    return allocation.mechanism in SEVERAL and allocation.rule is None


def has_one(allocation: Allocation) -> bool:
    """Whether the game has one equilibrium: nobody may use two servers, and every server is a strictly concave program."""
    instance = allocation.instance
    alone = one_server_each(instance)
    return allocation.mechanism != "njc" and alone and instance.single_variant and not np.isfinite(instance.max_tasks).any()


def _has_unique_totals(allocation: Allocation) -> bool:
    """Whether all answers have the same totals: where all servers are shared in time, or have alpha = 1 (K Theorems 2 and 5)."""
    instance, name = allocation.instance, allocation.mechanism
    if not instance.single_variant or np.isfinite(instance.max_tasks).any() or name not in ("alpha-pf-vds", "ps-dsf-tdm"):
        return False
    item = mechanism_of(allocation)
    return item.is_bargaining(instance) if isinstance(item, AlphaPfVds) else True


def _shape(name: str, instance: Instance) -> str:
    """How the answers with a property lie among all: "convex", "faces", or ""."""
    if name in FACES:
        return "faces"
    unlimited = not np.isfinite(instance.max_tasks).any()  # who has all its tasks envies nobody, which is no linear inequality
    return "convex" if name in CONVEX and (unlimited or "envy" not in name) else ""


def _of_set(found: SolutionSet, at: Callable[[Rationals], Verdict], verdict: Verdict, alone: Verdict, shape: str) -> Verdict:
    finite = found.dimension == 0
    corners = {x: at(x) for x in found.vertices}
    centres = {} if finite else {piece.centre: at(piece.centre) for piece in found.pieces}
    judged = {**corners, **centres}
    if any(one.holds is None for one in judged.values()):
        return alone
    broken = {x: one for x, one in judged.items() if one.holds is False and _is_answer(found, x)}
    if verdict.holds is False:
        decisive = corners if shape == "faces" else judged if finite else {}
        every = bool(decisive) and all(one.holds is False for one in decisive.values())
        return replace(verdict, answers=FOR_ALL if every else FOR_SOME)
    if broken:
        x, worst = max(broken.items(), key=lambda item: item[1].margin)
        where = f"{worst.sentence}, at the answer ({', '.join(map(str, x))})"
        return replace(worst, answers=FOR_SOME, sentence=where, witness={**worst.witness, "answer": x})
    margin = max(one.margin for one in (verdict, *judged.values()))
    return replace(verdict, margin=margin, answers=FOR_ALL) if shape or finite else alone


def _is_answer(found: SolutionSet, x: Rationals) -> bool:
    """Whether a point of the list is an answer by the definition."""
    if found.mechanism == "njc":
        d = requests(found.instance)
        return d.fair([u / q for u, q in zip(x, d.unit, strict=True)])
    if found.mechanism == "alpha-pf-vds":
        return found.contains(x)
    return levels(found.domain, x) is not None


# ---- misreports ------------------------------------------------------------------------------------------------------


LARGEST_CONFIRMED = 8
"""Arcs up to which all PS-DSF allocations are listed where there are at most two resources: seconds."""

CHOSEN = (*UNLISTED, "njc", "ps-dsf", "ps-dsf-tdm")
"""Mechanisms of which this is asked: several answers, which are listed or are optima of a linear program."""


def gaining_for_every_choice(case: Case, answer: Answer, name: str = "strategyproofness") -> Verdict:
    """Every member of the coalition gains, whatever answers to the truth and to the reports are chosen."""
    users, honest, reported = misreport_of(case).users, answer(case.instance), answer(case.reported)
    found = replace(misreporting(case.instance, misreport_of(case), lambda _: reported, honest=honest), property=name)
    if found.holds is not False:
        return replace(found, answers=FOR_SOME)
    if honest.x_exact is None or reported.x_exact is None:  # exact answers are asked next
        return found
    if not all(one.single_variant and not one.demands_on for one in (case.instance, case.reported)):
        return replace(found, answers=for_the_answer_of(honest.method))
    truth, alone = case.instance, Holdings(honest, True).alone
    hard = {n: (_extreme(reported, truth, n, -1) - _extreme(honest, truth, n, 1)) / alone[n] for n in users}
    n = min(hard, key=lambda one: hard[one])
    if hard[n] > 0:
        gain = f"{hard[n] * alone[n]} tasks more in its worst allocation than in its best before"
        sentence = f"by misreporting, user {truth.users[n]!r} runs {gain}"
        return replace(found, margin=float(hard[n]), sentence=sentence, answers=FOR_ALL)
    sentence = f"by some answers user {truth.users[n]!r} does not gain"
    return replace(found, holds=True, margin=float(hard[n]), sentence=sentence, witness={}, answers=FOR_SOME)


def _extreme(allocation: Allocation, truth: Instance, n: int, sign: int) -> Fraction:
    """The most (sign 1) or the least (sign -1) true tasks of user n in all answers to the instance of an allocation."""
    instance, worth = allocation.instance, _worth(allocation.instance, truth, n)
    if allocation.mechanism in UNLISTED:
        best = maximum_over_optima([sign * w for w in worth], MECHANISMS[allocation.mechanism], allocation)
        if best is None:
            raise Undecided("a linear program was not solved")
        value: Fraction = sign * best.value
    else:
        largest = LARGEST_CONFIRMED if instance.R <= 2 else LARGEST
        found = set_of(instance, allocation.mechanism, allocation.parameters, largest)
        if found is None:
            raise Undecided("the answers are not listed")
        values = [sum((w * v for w, v in zip(worth, x, strict=True)), Fraction(0)) for x in found.vertices]
        value = sign * max(sign * v for v in values)
    limit = truth.exact.max_tasks[n]
    return value if limit is None else min(value, limit)


def _worth(instance: Instance, truth: Instance, n: int) -> list[Fraction]:
    """(A,) the true tasks of user n for a task of an arc of an instance, by its one demand vector; 0 for arcs of others."""
    reported, own = instance.exact.demands[n][0], truth.exact.demands[n][0]
    rate = min(d / t for d, t in zip(reported, own, strict=True) if t)
    usable = {i for m, i in zip(truth.arcs.user.tolist(), truth.arcs.server.tolist(), strict=True) if m == n}
    arcs = zip(instance.arcs.user.tolist(), instance.arcs.server.tolist(), strict=True)
    return [rate if m == n and i in usable else Fraction(0) for m, i in arcs]
