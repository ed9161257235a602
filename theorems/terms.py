"""What a claim of one's own says: the mechanism, the property, what is assumed, and the statement that these make."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from fairalloc.analysis.verdict import Verdict
from fairalloc.formulations import Mechanism, as_mechanism
from fairalloc.models.errors import InstanceError
from fairalloc.runs.objects import ObjectKind, load_objects
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.own import is_registered, judge_of, routes
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.statement import Statement


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
        tried = routes(self.mechanism, named, bool(self.hypotheses.parameters))
        return Statement(
            id=self.id,
            text=self.text,
            place="a claim of one's own",
            quantifier=self.holds,
            hypotheses=self.hypotheses,
            misreports=self.misreports,
            property=named.name,
            own=not all(map(is_registered, filter(None, (self.mechanism, as_mechanism(self.property))))),
            trial=tried.trial,
            confirm=tried.confirm,
            mechanism=self.mechanism.id,
        )

    def check(self, case: Case) -> Verdict:
        """The verdict of one case, confirmed: in rationals, or in floating point where nothing computes rational answers.

        Raises
        ------
        InstanceError : the case does not satisfy the hypotheses
        """
        if not self.statement.applies_to(case):
            lacks = ", ".join(self.hypotheses.broken(case)) or "another number of users who misreport"
            raise InstanceError(f"the claim {self.id!r} is not about this case, which does not satisfy: {lacks}")
        return self.statement.confirm(case)


def statements_of(given: Any) -> dict[str, Statement]:
    """The statements in a module, a namespace or a collection of claims and statements, by id.

    In the order in which they are found; an object with several names counts once. InstanceError where two have the same id.
    """
    if isinstance(given, ClaimTerms | Statement):
        given = [given]
    named = given if isinstance(given, Mapping) else getattr(given, "__dict__", None)
    values = given if named is None else [value for name, value in named.items() if not name.startswith("__")]
    found: dict[str, Statement] = {}
    for item in _among(values):
        statement = item.statement if isinstance(item, ClaimTerms) else item
        if found.setdefault(statement.id, statement) is not statement:
            raise InstanceError(f"two claims are named {statement.id!r}, but names must be distinct: give one an id")
    return found


def _among(values: Iterable[Any]) -> list[ClaimTerms | Statement]:
    """The claims and statements among values and the entries of lists."""
    given = [item for value in values for item in (value if isinstance(value, list | tuple) else [value])]
    return [item for item in given if isinstance(item, ClaimTerms | Statement)]


CLAIM = ObjectKind("claim", lambda item: item if statements_of([item]) else None)


def statements_in(file: str) -> dict[str, Statement]:
    """The statements of all claims in FILE.py, or of that of FILE.py:NAME, by id."""
    return statements_of(load_objects(file, CLAIM).values())


def claims_in(file: str) -> dict[str, ClaimTerms]:
    """The claims themselves, by id, without statements that were made otherwise."""
    return {item.id: item for item in _among(load_objects(file, CLAIM).values()) if isinstance(item, ClaimTerms)}
