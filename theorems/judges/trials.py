"""How statements about a mechanism are tried and confirmed: one judgement, of an answer in floating point and of a proved one.

A judge is a function of a case and of `answer`, which computes the mechanism on any instance: the true one, the reported
one, or the one without a user who leaves. `attempted` gives it the fast method's answers, `proved` the rational ones of a
certificate that was verified without a solver; a judge computes in rationals where the allocation has them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fairalloc.analysis.certificates.certificate import Certificate
from fairalloc.analysis.certificates.construct import NotCertified, certified_answer
from fairalloc.analysis.certificates.nash_bargaining import BoundsCertificate
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import Mechanism
from fairalloc.formulations import mechanism as find_mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case

__all__ = ["SAFETY", "Answer", "Judge", "Routes", "Undecided", "answered", "attempted", "once", "proved"]

Answer: TypeAlias = Callable[[Instance], Allocation]
Judge: TypeAlias = Callable[[Case, Answer], Verdict]
Parameters: TypeAlias = tuple[tuple[str, Any], ...]


class Routes(NamedTuple):
    """How a statement is tried: a case in floating point; and confirmed: in rationals or intervals, by an unrelated route."""

    trial: Callable[[Case], Verdict]
    confirm: Callable[[Case], Verdict]


def once(decide: Callable[[Case], Verdict]) -> Routes:
    """Routes of a claim about one printed case: its check in rationals is the trial too."""
    return Routes(decide, decide)


SAFETY = 10.0
"""A margin decides if it is this many times what tasks can be off: it depends on the tasks of two users, scaled by weights."""


class Undecided(Exception):  # noqa: N818 (a finding, not an error)
    """There is no proof on which a verdict could rest."""


def attempted(mechanism: str | Mechanism, judge: Judge, method: str | None = None) -> Callable[[Case], Verdict]:
    """A trial in floating point by the fastest method, or the given one;
    many misreports about one true instance need its answer once.

    Parameters
    ----------
    mechanism : its id, or itself
    judge : the judgement of an answer
    method : a method's name; None = the fastest

    Returns
    -------
    the trial: a verdict for each case, not decided where there is no answer
    """
    return partial(_attempt, lru_cache(maxsize=4)(partial(answered, mechanism, method)), judge)


def proved(mechanism: str | Mechanism, judge: Judge) -> Callable[[Case], Verdict]:
    """The judgement on certified rational answers."""
    return partial(_prove, mechanism, judge)


def _attempt(answers: Callable[[Parameters, Instance], Allocation], judge: Judge, case: Case) -> Verdict:
    try:
        return judge(case, partial(answers, tuple(case.parameters.items())))
    except Undecided as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "floating point")


def answered(mechanism: str | Mechanism, method: str | None, parameters: Parameters, instance: Instance) -> Allocation:
    """A method's answer; Undecided where its residual is too large to rest a verdict on.

    Parameters
    ----------
    mechanism : its id, or itself
    method : a method's name; None = the fastest
    parameters : pairs of names and values
    instance : what is solved

    Returns
    -------
    the allocation

    Raises
    ------
    Undecided : the residual is above TOLERANCE, or there is none and the method does not call its answer optimal, which none does
        where the model is not proved to be convex
    """
    allocation = solve(instance, mechanism, method, **dict(parameters))
    if allocation.not_judged and allocation.termination == "optimal":
        return allocation
    if allocation.termination == "stationary":
        raise Undecided(f"the {allocation.mechanism} allocation is a stationary point, {allocation.not_judged}")
    if not allocation.residual <= TOLERANCE:
        raise Undecided(f"the residual of the {allocation.mechanism} allocation is {allocation.residual:.1e}")
    return allocation


def _prove(mechanism: str | Mechanism, judge: Judge, case: Case) -> Verdict:
    widths: list[float] = []
    try:
        verdict = judge(case, partial(_certified, mechanism, widths))
    except Undecided as reason:
        return Verdict("", None, np.nan, f"not decided: {reason}", "certificate")
    if abs(verdict.margin) <= SAFETY * max(widths):
        return replace(verdict, holds=None, sentence=f"not decided: {verdict.sentence}") if max(widths) else verdict
    return verdict


def _certified(mechanism: str | Mechanism, widths: list[float], instance: Instance) -> Allocation:
    """The allocation of a verified certificate; its distance from the mechanism's own is added to `widths`."""
    certificate = certified_answer(instance, mechanism)
    if isinstance(certificate, NotCertified):
        raise Undecided(certificate.reason)
    widths.append(_width(certificate, instance))
    item = find_mechanism(mechanism)
    x = np.array([float(v) for v in certificate.x])
    return Allocation(item.home(instance), x, item.id, "certificate", x_exact=certificate.x)


def _width(certificate: Certificate, instance: Instance) -> float:
    """How far tasks can be from those of the mechanism, relative: 0 for exact answers.

    For nb, what proofs.py leaves out of its bound is sum_n w_n phi(s_n u'_n / w_n) with phi(r) = r - 1 - log r >= 0, which
    at the optimum u' is therefore at most the gap; so s_n u'_n / w_n differs from 1 by about sqrt(2 gap / w_n) at most.
    """
    if not isinstance(certificate, BoundsCertificate):
        return 0.0
    return float(np.sqrt(2 * float(certificate.gap) / instance.weights.min()))
