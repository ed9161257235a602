"""Judges of a property: of the allocation that a mechanism gives to a case, or of the mechanism itself."""

from collections.abc import Callable
from dataclasses import replace

from fairalloc.analysis.properties.checks import check
from fairalloc.analysis.properties.property import MECHANISM_PROPERTIES
from fairalloc.analysis.properties.strategyproofness import AllocationRule, leaving, misreporting
from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import Mechanism
from fairalloc.models.errors import NotApplicable
from fairalloc.theorems.cases import Case


def property_judge(property: str | Mechanism) -> Callable[[Case, AllocationRule], Verdict]:  # noqa: A002
    """A judge of a case and of `answer`, as theorems/checkers/trials.py wants it, for any property here or in checks.py.

    A property of an allocation is checked at the answer to the reported instance; the margin is exact where the answer is.
    """

    def judged(case: Case, answer: AllocationRule) -> Verdict:
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
