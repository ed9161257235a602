"""The result of a check: whether a property holds, the margin, a witness, and the method that decided it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

from fairalloc.models.tables import Grid

FOR_ALL, FOR_SOME = "for all", "for some"
"""Of which answers of a mechanism a verdict speaks; see also `for_the_answer_of`."""

_WORDS = {True: "holds", False: "fails", None: "not decided"}
WORDS = {True: "yes", False: "NO", None: "?"}  # in tables


def for_the_answer_of(method: str) -> str:
    """What a verdict says that looked at the answer of one method alone."""
    return f"for the answer of {method}"


@dataclass(frozen=True)
class Verdict:
    """The answer of one check.

    Attributes
    ----------
    property : what was checked
    holds : True, False, or None where it was not decided
    margin : violation of the property, dimensionless; negative = slack, where that is measured
    witness : the data that show it, by name, so that the finding can be checked again
    answers : the answers that it is about, where a mechanism allows several: "for all", "for some" or "for the answer of
        METHOD"; "" where there is one, or where it is about an allocation
    sentence : the finding as an English sentence
    method : how it was decided
    """

    property: str
    holds: bool | None
    margin: float
    sentence: str
    method: str
    witness: Mapping[str, Any] = field(default_factory=dict)
    answers: str = ""

    def finding(self) -> str:
        """Whether it holds, and for which answers, in words.

        >>> Verdict("pareto", False, 1.0, "...", "rational arithmetic", answers=FOR_SOME).finding()
        'fails for some'
        """
        return " ".join(part for part in (_WORDS[self.holds], self.answers) if part)

    def __repr__(self) -> str:
        return f"<verdict {self.property}: {self.finding()}, margin {self.margin + 0.0:.3g}: {self.sentence}>"

    def _repr_html_(self) -> str:
        cells = [self.property, self.finding(), f"{self.margin + 0.0:.3g}", self.sentence, self.method]
        return Grid("", ["property", "finding", "margin", "sentence", "decided by"], [cells])._repr_html_()

    def __bool__(self) -> bool:
        return self.holds is True


def by_margin(
    margin: Any, largest: Any, held: str, broken: str, method: str, witness: Mapping[str, Any], name: str = ""
) -> Verdict:
    """The verdict of a margin that may be at most `largest`, with the sentence of the finding; the witness is of a violation."""
    if margin != margin:  # nan, of numbers of 1e308 and more
        return undecided("the margin is out of the range of numbers", method, name)
    if margin > largest:
        return Verdict(name, False, float(margin), broken, method, witness)
    return Verdict(name, True, float(margin), held, method)


def undecided(reason: object, method: str = "definition", name: str = "") -> Verdict:
    return Verdict(name, None, nan, f"not decided: {reason}", method)
