"""What a check says: whether a property holds, by how much not, who shows it, and how that is known."""

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
    margin : how far the property is from holding, dimensionless; negative = the room left, where that is measured
    witness : what shows it, by name, so that it can be checked again
    sentence : the finding in English
    method : how it is known
    """

    property: str
    holds: bool | None
    margin: float
    sentence: str
    method: str
    witness: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.holds is True
