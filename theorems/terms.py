"""What a claim of one's own says: the mechanism, the property, what is assumed, and the statement that these make."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import Mechanism
from fairalloc.models.errors import InstanceError
from fairalloc.theorems.cases import Case
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.judges.own import is_registered, judge_of, routes
from fairalloc.theorems.statement import Statement

__all__ = ["ClaimTerms"]


@dataclass(frozen=True, eq=False)
class ClaimTerms:
    """A claim about a mechanism; `Claim` (claims.py) is one that can be searched.

    Attributes
    ----------
    id, text : its name, and the claim in a sentence
    mechanism : the mechanism itself
    property : what is checked of it, as it was given
    hypotheses : what is assumed
    holds : "all" or "some"
    misreports : the most users who misreport together
    """

    id: str
    text: str
    mechanism: Mechanism
    property: Any
    hypotheses: Hypotheses
    holds: Literal["all", "some"]
    misreports: int

    def __repr__(self) -> str:
        return f"<claim {self.id}: {self.text}>"

    def __getstate__(self) -> dict[str, Any]:
        """Without the statement, whose functions a pickle cannot hold."""
        return {key: value for key, value in self.__dict__.items() if key != "statement"}

    @cached_property
    def statement(self) -> Statement:
        """The claim as `verify` and the matrix take it."""
        named = judge_of(self.property)
        return Statement(
            id=self.id,
            text=self.text,
            place="a claim of one's own",
            quantifier=self.holds,
            hypotheses=self.hypotheses,
            misreports=self.misreports,
            property=named.name,
            own=not is_registered(self.mechanism),
            **routes(self.mechanism, named, bool(self.hypotheses.parameters)),
        )

    def check(self, case: Case) -> Verdict:
        """The verdict of one case, confirmed: in rationals, or in floating point where no rational answer exists.

        Raises
        ------
        InstanceError : the case does not satisfy the hypotheses
        """
        if not self.statement.applies_to(case):
            raise InstanceError(f"the claim {self.id!r} is not about this case, which does not satisfy: {self.hypotheses}")
        return self.statement.confirm(case)
