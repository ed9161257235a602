"""What is known of a statement, in one word of five, and the rules that lead to it: the record, the command line and the pages
ask here.

1. A case decides: an exact violation refutes a claim about all cases and proves one that asserts a violation, and an exact
   verdict on the printed case decides a claim about that case.
2. Else a proof in prose, which was read by somebody else than its author, counts without any trial;
3. else a proof by machine for all instances of some sizes,
4. else the trials, where they were enough and left no doubt.
"""

from enum import StrEnum
from typing import Protocol

from fairalloc.analysis.verdict import Verdict
from fairalloc.theorems.smt.record import sizes_proved

FLOATING_POINT = "floating point"
"""How the method of a verdict begins that no rational number confirms; such a violation refutes nothing in rationals."""


class Status(StrEnum):
    """What is known of a statement; a violation that is known in floating point alone leaves it not decided."""

    PROVED = "proved"
    BY_MACHINE = "proved by machine"
    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    NOT_DECIDED = "not decided"
    IN_FLOATS = "not decided: violated in floating point"


MEANINGS = {
    Status.PROVED: "by a proof in prose, which a second reader has checked; a claim about one case by exact arithmetic on it",
    Status.BY_MACHINE: "for all instances of the stated sizes (users x servers x resources)",
    Status.REFUTED: "by an exact witness: a case that fulfils the hypotheses and violates the claim; its page has the code",
    Status.NOT_REFUTED: "in so many trials, which is no proof",
    Status.NOT_DECIDED: "too few trials, or some of them without a verdict",
    Status.IN_FLOATS: "a violation is known in floating point alone, such as in a simulation",
}


READINGS = {
    "to the letter": "as they are printed",
    "of a repaired text": "in a text without another slip of the paper, which would decide the claim; see the note",
    "ours": "in our words, since the paper does not state the claim in these",
}
"""How the printed words are read."""


class Claimed(Protocol):
    """What the rules ask of a statement (statement.py): its id, its quantifier, the name of its proof or "", its reading."""

    @property
    def id(self) -> str: ...
    @property
    def quantifier(self) -> str: ...
    @property
    def proof_name(self) -> str: ...
    @property
    def reading(self) -> str: ...


def status_by_case(item: Claimed, verdict: Verdict) -> Status:
    """The status that the verdict on one case gives, which is of the printed case, or of a violation that was found.

    >>> from types import SimpleNamespace as Item
    >>> status_by_case(Item(quantifier="some"), Verdict("pareto", False, 1.0, "...", "rational arithmetic"))
    <Status.PROVED: 'proved'>
    >>> status_by_case(Item(quantifier="all"), Verdict("pareto", False, 1.0, "...", "floating point: an LP"))
    <Status.IN_FLOATS: 'not decided: violated in floating point'>
    """
    exact = not verdict.method.startswith(FLOATING_POINT)
    if verdict.holds is None:
        return Status.NOT_DECIDED
    if item.quantifier == "one" and verdict.holds:
        return Status.PROVED if exact else Status.NOT_REFUTED
    if not exact:
        return Status.IN_FLOATS
    return Status.PROVED if item.quantifier == "some" else Status.REFUTED


def status_of(item: Claimed, searched: Status) -> Status:
    """The status of a statement of which a search says this: proofs count where no case decided."""
    if item.quantifier in ("some", "one") or searched in (Status.REFUTED, Status.IN_FLOATS):
        return searched
    if item.proof_name:
        return Status.PROVED
    if sizes_proved(item.id):
        return Status.BY_MACHINE
    return Status.NOT_DECIDED if searched == Status.NOT_DECIDED else Status.NOT_REFUTED


def with_reading(item: Claimed, status: Status) -> str:
    """The status, and of a refutation how the printed words are read."""
    return f"{status} ({item.reading})" if status == Status.REFUTED else str(status)


def described(item: Claimed, status: Status, trials: int) -> str:
    """The status with its proof, its sizes or its trials, such as "proved (W: equal shares), by machine for 2x2x2"."""
    sizes = ", ".join(sizes_proved(item.id))
    if status == Status.PROVED:
        return f"proved ({item.proof_name or 'by an exact case'})" + f", by machine for {sizes}" * bool(sizes)
    if status == Status.BY_MACHINE:
        return f"proved by machine for {sizes}"
    if status == Status.NOT_REFUTED:
        return f"not refuted in {trials:,} trial{'s' * (trials != 1)}"
    return with_reading(item, status)
