"""The result of a check: whether a property holds, the margin, a witness, and the method that decided it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairalloc.models.tables import Grid

__all__ = ["Verdict"]

_WORDS = {True: "holds", False: "fails", None: "not decided"}


@dataclass(frozen=True)
class Verdict:
    """The answer of one check.

    Attributes
    ----------
    property : what was checked
    holds : True, False, or None where it was not decided
    margin : violation of the property, dimensionless; negative = slack, where that is measured
    witness : the data that show it, by name, so that the finding can be checked again
    sentence : the finding as an English sentence
    method : how it was decided
    """

    property: str
    holds: bool | None
    margin: float
    sentence: str
    method: str
    witness: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<verdict {self.property}: {_WORDS[self.holds]}, margin {self.margin + 0.0:.3g}: {self.sentence}>"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict as a table of one row."""
        cells = [self.property, _WORDS[self.holds], f"{self.margin + 0.0:.3g}", self.sentence, self.method]
        return Grid("", ["property", "finding", "margin", "sentence", "decided by"], [cells])._repr_html_()

    def __bool__(self) -> bool:
        return self.holds is True
