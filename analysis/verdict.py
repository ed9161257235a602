"""The result of a check: whether a property holds, the margin, a witness, and the method that decided it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Verdict"]


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

    def __bool__(self) -> bool:
        return self.holds is True
