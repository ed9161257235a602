"""How statements about a mechanism are tried and confirmed: one judgement, of an answer in floating point and of a proved one.

A judge is a function of a case and of `answer`, which computes the mechanism on any instance: the true one, the reported
one, or the one without a user who leaves. `attempted` gives it the fast method's answers, `proved` the rational ones of a
certificate that was verified without a solver; a judge computes in rationals where the allocation has them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fairalloc.analysis.certificates.certificate import Certificate
from fairalloc.analysis.certificates.construct import NotCertified, certified_answer
from fairalloc.analysis.certificates.dual_solutions import BoundsCertificate
from fairalloc.analysis.certificates.game_certificate import ResidualCertificate
from fairalloc.analysis.holdings import Unsolved
from fairalloc.analysis.properties.checks import TOLERANCE, check
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES
from fairalloc.analysis.properties.strategyproofness import leaving, misreporting
from fairalloc.analysis.verdict import Verdict, undecided
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance
from fairalloc.solvers import METHODS, solve
from fairalloc.theorems.cases import Case

Answer: TypeAlias = Callable[[Instance], Allocation]
Judge: TypeAlias = Callable[[Case, Answer], Verdict]
Parameters: TypeAlias = tuple[tuple[str, Any], ...]


class Routes(NamedTuple):
    """How a statement is tried: a case in floating point; and confirmed: in rationals or intervals, by an unrelated route."""

    trial: Callable[[Case], Verdict]
    confirm: Callable[[Case], Verdict]


def once(decide: Callable[[Case], Verdict]) -> Routes:
    """Routes of a claim that one exact check decides: of one printed case, or with a second implementation in the tests."""
    return Routes(decide, decide)


RATIONAL = "rational arithmetic"


def exact_verdict(name: str, margin: Any, sentence: str, method: str = RATIONAL) -> Verdict:
    """The verdict of a margin in rationals: positive is a violation."""
    return Verdict(name, bool(margin <= 0), float(margin), sentence, method)


def yes_or_no(name: str, holds: bool, sentence: str, method: str = RATIONAL) -> Verdict:
    """The verdict of what has no margin."""
    return exact_verdict(name, -1 if holds else 1, sentence, method)


SAFETY = 10.0
"""A margin decides if it is this many times what tasks can be off: it depends on the tasks of two users, scaled by weights."""


class Undecided(Exception):  # noqa: N818 (a finding, not an error)
    """There is no proof on which a verdict could rest."""


def attempted(mechanism: str | Mechanism, judge: Judge, method: str | None = None) -> Callable[[Case], Verdict]:
    """A trial in floating point by the fastest method, or the given one;
    many misreports about one true instance need its answer once.
    """
    answers = lru_cache(maxsize=4)(partial(answered, mechanism, method))
    return lambda case: decided(judge, case, partial(answers, tuple(case.parameters.items())), "floating point")


def proved(mechanism: str | Mechanism, judge: Judge) -> Callable[[Case], Verdict]:
    """The judgement on certified rational answers."""
    return proved_by(judge, lambda _, widths: partial(certified_allocation, mechanism, widths=widths))


def proved_by(judge: Callable[[Case, Any], Verdict], answer: Callable[[Case, list[float]], Any]) -> Callable[[Case], Verdict]:
    """The judgement on certified answers to a case, which add to a list how far they are off."""

    def confirm(case: Case) -> Verdict:
        widths: list[float] = []
        return decided(judge, case, answer(case, widths), "certificate", widths)

    return confirm


def decided(judge: Judge, case: Case, answer: Answer, method: str, widths: Sequence[float] = ()) -> Verdict:
    """The verdict of a judge; not decided where it has no answer, or where answers that are off by `widths` cannot bear it."""
    try:
        verdict = judge(case, answer)
    except (Undecided, Unsolved) as reason:
        return undecided(reason, method)
    if any(widths) and abs(verdict.margin) <= SAFETY * max(widths):
        return replace(verdict, holds=None, sentence=f"not decided: {verdict.sentence}")
    return verdict


def answered(mechanism: str | Mechanism, method: str | None, parameters: Parameters, instance: Instance) -> Allocation:
    """A method's answer; Undecided where its residual is too large to rest a verdict on."""
    allocation = solve(instance, mechanism, method, **dict(parameters))
    if allocation.not_judged and allocation.termination == "optimal":
        return allocation
    if allocation.termination == "stationary":
        raise Undecided(f"the {allocation.mechanism} allocation is a stationary point, {allocation.not_judged}")
    if not allocation.residual <= TOLERANCE:
        raise Undecided(f"the residual of the {allocation.mechanism} allocation is {allocation.residual:.1e}")
    return allocation


def certified_allocation(mechanism: str | Mechanism, instance: Instance, widths: list[float]) -> Allocation:
    """The allocation of a verified certificate; its distance from the mechanism's own is added to `widths`."""
    certificate, item = proof_of(certified_answer(instance, mechanism)), find_mechanism(mechanism)
    widths.append(width(certificate, instance))
    rule = None if isinstance(mechanism, str) else item
    method = "exact" if METHODS["exact"].computes(item.kept(instance)) else "a certificate"
    return rational_allocation(item.home(instance), certificate.x, item.id, method).noted(rule=rule)


def proof_of(found: Certificate | NotCertified) -> Certificate:
    """The certificate; Undecided where there is none."""
    if isinstance(found, NotCertified):
        raise Undecided(found.reason)
    return found


def rational_allocation(instance: Instance, x: Rationals, mechanism: str = "", method: str = "") -> Allocation:
    return Allocation(instance, np.array([float(v) for v in x]), mechanism, method, x_exact=x)


def width(certificate: Certificate, instance: Instance) -> float:
    """How far tasks can be from those of the mechanism, relative: 0 for exact answers.

    For nb, what proofs.py leaves out of its bound is sum_n w_n phi(s_n u'_n / w_n) with phi(r) = r - 1 - log r >= 0, which
    at the optimum u' is therefore at most the gap; so s_n u'_n / w_n differs from 1 by about sqrt(2 gap / w_n) at most.
    In the game the objective of a server is strongly concave in logarithms of shares, with the least weight and min(1, alpha)
    as its modulus, so a gain of at most b leaves at most sqrt(2 b / modulus).
    """
    if isinstance(certificate, BoundsCertificate):
        return float(np.sqrt(2 * float(certificate.gap) / instance.weights.min()))
    if not isinstance(certificate, ResidualCertificate):
        return 0.0
    least = min([1.0, *(float(a) for a in certificate.alpha if a)])
    return float(np.sqrt(2 * float(certificate.bound) / (least * float(instance.weights.min() / instance.weights.sum()))))


def property_judge(property: str | Mechanism) -> Callable[[Case, Answer], Verdict]:  # noqa: A002
    """A judge of a case and of `answer`, as `attempted` wants it, for any property here or in checks.py.

    A property of an allocation is checked at the answer to the reported instance; the margin is exact where the answer is.
    """

    def judged(case: Case, answer: Answer) -> Verdict:
        if property == "population-monotonicity":
            return leaving(case.instance, answer)
        if property in MECHANISM_PROPERTIES:
            if case.misreport is None:
                raise NotApplicable("nobody misreports")
            return replace(misreporting(case.instance, case.misreport, answer), property=str(property))
        allocation = answer(case.reported)
        verdict = check(allocation, property)
        if verdict.holds is None:
            raise NotApplicable(f"{property} is not about this case: {verdict.sentence}")
        return verdict

    return judged
