"""Misreports where there are several answers: one pays if every member of the coalition gains whatever answers are chosen.

A member gains for every choice where the least that its bundles are worth after the misreport is above the most before it. The
answers are listed (solution_sets), or, where they are the optima of a linear program, two programs over the optima say both.
Where already the method's own answers leave a member without a gain, nothing else is asked.
"""

from dataclasses import replace
from fractions import Fraction

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.linear import maximum_over_optima
from fairalloc.analysis.properties.strategyproofness import misreporting
from fairalloc.analysis.solution_sets import UNLISTED
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, Verdict, for_the_answer_of
from fairalloc.formulations import MECHANISMS
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf_pieces import LARGEST
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.answers import set_of
from fairalloc.theorems.checkers.trials import Answer, Undecided

LARGEST_CONFIRMED = 8
"""Arcs up to which all PS-DSF allocations are listed where there are at most two resources: seconds."""

CHOSEN = (*UNLISTED, "njc", "ps-dsf", "ps-dsf-tdm")
"""Mechanisms of which this is asked: several answers, which are listed or are optima of a linear program."""


def gaining_for_every_choice(case: Case, answer: Answer, name: str = "strategyproofness") -> Verdict:
    """Every member of the coalition gains, whatever answers to the truth and to the reports are chosen."""
    if case.misreport is None:
        raise NotApplicable("nobody misreports")
    honest, reported = answer(case.instance), answer(case.reported)
    found = replace(misreporting(case.instance, case.misreport, lambda _: reported, honest=honest), property=name)
    if found.holds is not False:
        return replace(found, answers=FOR_SOME)
    if honest.x_exact is None or reported.x_exact is None:  # exact answers are asked next
        return found
    if not all(one.single_variant and not one.demands_on for one in (case.instance, case.reported)):
        return replace(found, answers=for_the_answer_of(honest.method))
    truth, alone = case.instance, Holdings(honest, True).alone
    hard = {n: (_extreme(reported, truth, n, -1) - _extreme(honest, truth, n, 1)) / alone[n] for n in case.misreport.users}
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
