"""A claim of a paper as an object: what it assumes, how one case is tried, how a violation is confirmed, what is known of it.

    Hypotheses   what the claim assumes of a case: a generator, a test, the variants that drop one assumption (hypotheses.py)
    Case         one instance, with a misreport, allocations or parameters where the claim is about these (cases.py)
    Proof        why it is true, in prose; one proof may serve several statements
    Statement    the claim; `trial` tries a case, `confirm` decides it in rationals: by another route, or by the same
    Status       what is known of it, in one word of five
    Finding      its status, the smallest case that decided it, and what was searched

Verdicts of trials have a signed margin: positive is the size of a violation, negative the slack, so that a search can climb.

The status of a statement, for the record, the command line and the pages:
1. A case decides: an exact violation refutes a claim about all cases and proves one that asserts a violation, and an exact
   verdict on the printed case decides a claim about that case.
2. Else a proof in prose, which was read by somebody else than its author, counts without any trial;
3. else a proof by machine for all instances of some sizes,
4. else the trials, where they were enough and left no doubt.

Which proofs a second reader read, with the paper in hand, is in readings.json beside this file, by statement: who read it, and
what was checked. A reading is of a text: it is kept with the fingerprint of the proof as it then was. A proof that was changed
since counts as not read, until somebody other than its author reads it again and `keep_readings` writes that down.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property, lru_cache
from hashlib import sha256
from math import inf, isfinite
from pathlib import Path
from typing import Any, Literal

from fairalloc.analysis.solution_sets import SEVERAL
from fairalloc.analysis.verdict import FOR_ALL, FOR_SOME, Verdict
from fairalloc.models.errors import FairallocError
from fairalloc.models.files.jsonio import read_json, write_json
from fairalloc.models.tables import Grid
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.packaged_files import packaged_text
from fairalloc.theorems.smt.record import sizes_proved

SCHEMA = "fairalloc/proofs-read-2"

FLOATING_POINT = "floating point"
"""How the method of a verdict begins that no rational number confirms; such a violation refutes nothing in rationals."""

UNFINISHED = "unfinished"
"""Where a finding says in `searched` that the budget ended before, or while, the statement was looked at."""

FAILED = "the check failed"
"""What the sentence of a finding says of a check that broke; a run that is resumed tries it again."""

Quantifier = Literal["all", "some", "run", "one"]
Reading = Literal["to the letter", "of a repaired text", "ours"]


class Status(StrEnum):
    """What is known of a statement; a violation that is known in floating point alone leaves it not decided."""

    PROVED = "proved"
    BY_MACHINE = "proved by machine"
    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    NOT_DECIDED = "not decided"
    IN_FLOATS = "not decided: violated in floating point"


IN_PROSE, READ, BY_A_CASE = "by a proof in prose", ", which a second reader has checked", "by exact arithmetic on one case"

MEANINGS = {
    Status.PROVED: f"{IN_PROSE}{READ}, or {BY_A_CASE}",
    Status.BY_MACHINE: "for all instances of the stated sizes (users x servers x resources)",
    Status.REFUTED: "by an exact witness: a case that fulfils the hypotheses and violates the claim; its page has the code",
    Status.NOT_REFUTED: "in so many trials, which is no proof",
    Status.NOT_DECIDED: "too few trials, or some of them without a verdict",
    Status.IN_FLOATS: "a violation is known in floating point alone, such as in a simulation",
}

OWN = "a claim of one's own"
"""The place of a claim that `fa.claim` makes."""

READINGS = {
    "to the letter": "the words as they are printed",
    "of a repaired text": "a text without another slip of the paper, which would decide the claim; see the note",
    "ours": "our words, since the paper does not state the claim in these",
}
"""How the printed words are read."""


@dataclass(frozen=True)
class Proof:
    """A proof that several statements share; a statement may add something `before` and `after` it.

    A statement of which the proof is used nowhere else has it as a plain text, and it is named like the statement.

    >>> str(Proof("a pool", "With one server nobody can exchange.", before="The shares are the same. "))
    'The shares are the same. With one server nobody can exchange.'
    """

    name: str
    text: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        return self.before + self.text + self.after


def reading_of(name: str, proof: Proof | str) -> str:
    """When the proof of a statement was read as it is now, by whom, and what was checked; "" where only its author read it."""
    document = _document()
    day, read = document["readings"].get(name, ("", ""))
    return f"on {day} {document['readers'][day]}" if read == _fingerprint(proof) else ""


def keep_readings(proofs: Mapping[str, Proof | str], day: str, told: str, path: str | Path) -> None:
    """Write down that these proofs were read, in the place of earlier readings.

    `told` says by whom, and what was checked: "by ...: ...".
    """
    known = read_json(path) if Path(path).exists() else {"readers": {}, "readings": {}}
    readings = known["readings"] | {name: [day, _fingerprint(proof)] for name, proof in proofs.items()}
    readers = known["readers"] | {day: told}
    write_json({"schema": SCHEMA, "readers": readers, "readings": {name: readings[name] for name in sorted(readings)}}, path)


def _fingerprint(proof: Proof | str) -> str:
    return sha256(str(proof).encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def _document() -> Mapping[str, Any]:
    """The committed readings: who read on a day, and day and fingerprint by statement."""
    found: Mapping[str, Any] = json.loads(packaged_text("readings.json"))
    return found


@dataclass(frozen=True)
class Statement:
    """One claim.

    Attributes
    ----------
    id : paper, number and part, such as "K.T3.envy"
    text, place : the claim in a sentence, and where it stands
    quantifier : "all" = it holds for every case that satisfies the hypotheses; "some" = it names or asserts a case that violates
        the property ("does not satisfy"); "run" = about an algorithm, tried on traces; "one" = about the printed case alone
    trial : a case -> verdict of the property, signed margin; InstanceError = it is not about this case
    confirm : the same in rationals, or in intervals; where it is the trial itself, the other route is in the tests
    hypotheses : what is assumed
    misreports : the most users who misreport together; 0 = the claim is not about misreports
    printed : the paper's own counterexample for "some", its example for "one"
    mechanism, property : the cell of the matrix it belongs to, "" where it belongs to none
    table : the printed table that has this cell (an id of printed.py), "" where none has
    proof : why it is true for every case, in sentences that can be checked: an object where other statements share it; "" where
        no proof was read here by somebody else than its author
    note : what is known about the claim, for the docs
    experiment : the experiment of ours whose kept verdict it rests on (simulation/experiments), "" where it rests on none
    own : whether the mechanism is an object of the claim's author and not the registered one of this id
    reading : of the printed words: to the letter; of a text in which a slip that would decide the claim is repaired, as the note
        says; or ours, where the paper does not say so in these words
    answers : the answers that its proof is about, where a mechanism allows several and these are not all (analysis/verdict.py)
    """

    id: str
    text: str
    place: str
    quantifier: Quantifier
    trial: Callable[[Case], Verdict]
    confirm: Callable[[Case], Verdict]
    hypotheses: Hypotheses = Hypotheses()
    misreports: int = 0
    printed: Case | None = None
    mechanism: str = ""
    property: str = ""
    table: str = ""
    proof: Proof | str = ""
    note: str = ""
    experiment: str = ""
    own: bool = False
    answers: str = ""
    reading: Reading = "to the letter"

    def __post_init__(self) -> None:
        if self.quantifier == "one" and self.printed is None:
            raise ValueError(f"statement {self.id!r} is about one printed case, but it has none")

    @cached_property
    def paper(self) -> str:
        """The letter of the paper, or "ours"; "own" for a claim of one's own, and where the id has no letter before a point."""
        return self.id.split(".")[0] if "." in self.id and self.place != OWN else "own"

    @cached_property
    def proof_name(self) -> str:
        """The name of its proof: its own id, unless other statements share it; "" where it has none."""
        return self.proof.name if isinstance(self.proof, Proof) else self.id * bool(self.proof)

    @cached_property
    def proof_read(self) -> str:
        """When and by whom beside its author its proof was read as it now is, and what was checked."""
        return reading_of(self.id, self.proof) if self.proof else ""

    @cached_property
    def of_several(self) -> bool:
        """Whether it is about a property that each of several answers of its mechanism may have or lack."""
        return self.mechanism in SEVERAL and not self.own and self.property != "uniqueness"

    @cached_property
    def wants_violation(self) -> bool:
        """Whether a violation supports the claim instead of refuting it."""
        return self.quantifier == "some"

    def applies_to(self, case: Case) -> bool:
        """Whether the claim is about this case, decided in rationals."""
        misreporters = 0 if case.misreport is None else len(case.misreport.users)
        as_many = (misreporters > 0) == (self.misreports > 0) and misreporters <= self.misreports
        return as_many and self.hypotheses.satisfied_by(case)

    def violated(self, case: Case) -> Verdict | None:
        """The exact verdict of an admitted case that violates the property; None where it is not one."""
        try:
            verdict = self.confirm(case) if self.applies_to(case) else None
        except FairallocError:
            return None
        return verdict if verdict is not None and verdict.holds is False else None


@dataclass(frozen=True)
class Finding:
    """What is known of a statement after a search.

    Attributes
    ----------
    statement : its id
    status : what is known then
    sentence : the finding in English
    trials : cases that satisfy the hypotheses and were decided; 0 where the exact verdict of one case says all
    searched : seed, budget, sizes, what was rejected, what could not be confirmed, where the case came from
    case, verdict : the smallest case found and its exact verdict
    needed : hypotheses that cannot be dropped, each with a confirmed case
    seconds : time spent
    answers : the answers that it is about, where the mechanism allows several: "for all", "for some", "for the answer of METHOD"
    """

    statement: str
    status: Status
    sentence: str
    trials: int
    searched: Mapping[str, Any]
    case: Case | None = None
    verdict: Verdict | None = None
    needed: Mapping[str, Case] = field(default_factory=dict)
    seconds: float = 0.0
    answers: str = ""

    @property
    def finished(self) -> bool:
        """Whether the statement was looked at to the end, and not stopped or left out because the budget had ended."""
        return UNFINISHED not in self.searched

    def __repr__(self) -> str:
        known = " ".join(part for part in (self.status, self.answers) if part)
        return f"<finding {self.statement}: {known}, {self.trials} trials: {self.sentence}>"

    def _repr_html_(self) -> str:
        """For notebooks: the finding as a table of one row."""
        cells = [self.statement, self.status, str(self.trials), self.sentence]
        return Grid("", ["statement", "status", "trials", "finding"], [cells])._repr_html_()

    def document(self) -> dict[str, Any]:
        """The finding as a JSON document that `parse_finding` reads back."""
        kept = {one.name: getattr(self, one.name) for one in fields(self)}
        case = None if self.case is None else self.case.document()
        verdict = None if self.verdict is None else verdict_document(self.verdict)
        needed = {name: case.document() for name, case in self.needed.items()}
        made = {"status": self.status.value, "searched": dict(self.searched), "case": case, "verdict": verdict, "needed": needed}
        return kept | made


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """What of a verdict is kept with a witness: what was checked, the margin, the sentence and the method."""
    margin = verdict.margin if isfinite(verdict.margin) else None if verdict.margin == inf else str(verdict.margin)
    kept = {"property": verdict.property, "holds": verdict.holds, "margin": margin}
    kept |= {"sentence": verdict.sentence, "method": verdict.method}
    return kept | ({"answers": verdict.answers} if verdict.answers else {})


def parse_verdict(kept: Mapping[str, Any]) -> Verdict:
    """The verdict in a JSON document as `verdict_document` writes it."""
    margin = inf if kept["margin"] is None else float(kept["margin"])
    return Verdict(kept["property"], kept["holds"], margin, kept["sentence"], kept["method"], answers=kept.get("answers", ""))


def parse_finding(document: Mapping[str, Any]) -> Finding:
    """The finding in a JSON document as `Finding.document` writes it."""
    case, verdict = document["case"], document["verdict"]
    made = {
        "status": Status(document["status"]),
        "case": None if case is None else parse_case(case),
        "verdict": None if verdict is None else parse_verdict(verdict),
        "needed": {name: parse_case(part) for name, part in document["needed"].items()},
    }
    return Finding(**{**document, **made})


# ---- the rules of the status --------------------------------------------------------------------------------------


def status_by_case(item: "Statement", verdict: Verdict) -> Status:
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


def status_of(item: "Statement", searched: Status) -> Status:
    """The status of a statement of which a search says this: proofs count where no case decided.

    The proof of a claim of one's own that some case is a violation says that none is.
    """
    if item.paper == "own" and item.quantifier == "some" and item.proof_name and searched == Status.NOT_DECIDED:
        return Status.REFUTED
    if item.quantifier in ("some", "one") or searched in (Status.REFUTED, Status.IN_FLOATS):
        return searched
    if item.proof_name:
        return Status.PROVED
    if sizes_proved(item.id):
        return Status.BY_MACHINE
    return Status.NOT_DECIDED if searched == Status.NOT_DECIDED else Status.NOT_REFUTED


def with_reading(item: "Statement", status: Status) -> str:
    """The status, and of a refutation how the printed words are read."""
    return f"{status} ({item.reading})" if status == Status.REFUTED else str(status)


def described(item: "Statement", status: Status, trials: int) -> str:
    """The status with its proof, its sizes or its trials, such as "proved (W: equal shares), by machine for 2x2x2"."""
    sizes = ", ".join(sizes_proved(item.id))
    if status == Status.PROVED:
        return f"proved ({item.proof_name or 'by an exact case'})" + f", by machine for {sizes}" * bool(sizes)
    if status == Status.BY_MACHINE:
        return f"proved by machine for {sizes}"
    if status == Status.NOT_REFUTED:
        return f"not refuted in {trials:,} trial{'s' * (trials != 1)}"
    return with_reading(item, status)


def answers_known(item: Statement, status: Status, verdict: Verdict | None, tried: str) -> str:
    """Of which answers a finding speaks, where the mechanism of the statement allows several.

    It is "for all", "for some", "for the answer of METHOD", or "" where there is one answer or nothing is decided. `verdict` is
    on the case that decides, and `tried` says of which answers the trials speak.
    """
    if verdict is not None:
        return verdict.answers
    if status == Status.NOT_REFUTED:
        return tried
    return (item.answers or FOR_ALL) * (item.of_several and status in (Status.PROVED, Status.BY_MACHINE))


def weakest(answers: Iterable[str]) -> str:
    """What all trials together say: of all answers only if each of them does, else of some, or of a method's."""
    found = {one for one in answers if one}
    return max(found, key=lambda one: (one != FOR_ALL, one != FOR_SOME, one), default="")
