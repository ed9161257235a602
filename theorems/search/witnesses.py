"""Witnesses: confirmed cases kept for later, as JSON in the package (witnesses.json) and in stores of findings.

The file of the package also says how much was searched for each statement.

A witness is no evidence by itself: it is parsed, its hypotheses are tested, it is confirmed again, and its margin must be the
same.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import FairallocError, InstanceError
from fairalloc.models.files.jsonio import read_json, write_json
from fairalloc.runs.store import RecordStore
from fairalloc.theorems.cases import Draft, parse_case
from fairalloc.theorems.packaged_files import packaged_text
from fairalloc.theorems.search.steps import measure
from fairalloc.theorems.statement import (
    Finding,
    Statement,
    Status,
    answers_known,
    described,
    parse_finding,
    parse_verdict,
    status_of,
    verdict_document,
)

SCHEMA = "fairalloc-witnesses/1"
OURS = "ours.json"
"""The file of the record of our own claims, beside this one."""

SAME = 1e-4
"""Relative difference of a margin from answers of residual 1e-9, whose tasks differ by its root; rational margins are equal."""

Witness: TypeAlias = dict[str, Any]


def witnesses_of(statement: Statement, finding: Finding) -> list[Witness]:
    """The witnesses of a finding: its violation, and the violations without a hypothesis, exactly confirmed."""
    found = []
    if finding.case is not None and finding.verdict is not None and finding.verdict.holds is False:
        found.append(_witness(statement, "", finding, finding.verdict))
    for name, case in finding.needed.items():
        verdict = _variant(statement, name).violated(case)
        if verdict is not None:
            found.append(_witness(statement, name, replace(finding, case=case), verdict))
    return found


def _witness(statement: Statement, without: str, finding: Finding, verdict: Verdict) -> Witness:
    assert finding.case is not None, "a witness is a case"
    found = {key: finding.searched[key] for key in ("seed", "source") if key in finding.searched}
    return {
        "statement": statement.id,
        "without": without,
        "case": finding.case.document(),
        "verdict": verdict_document(verdict),
        "found": found,
    }


def verify_witness(statement: Statement, witness: Witness) -> Verdict:
    """Whether a witness is confirmed with the margin it records; the sentence is that of today, or names the first failure."""
    name, method = f"witness of {statement.id}", "confirmed again"
    try:
        case, kept = parse_case(witness["case"]), witness["verdict"]
        if statement.quantifier == "one":
            verdict: Verdict | None = statement.confirm(case)
            verdict = verdict if verdict is not None and verdict.holds is False else None
        else:
            verdict = _variant(statement, witness["without"]).violated(case)
    except (FairallocError, KeyError, TypeError) as fault:
        return Verdict(name, False, math.inf, f"cannot be read: {fault}", method)
    if verdict is None:
        return Verdict(name, False, math.inf, "does not satisfy the hypotheses or violates nothing", method)
    margin = math.inf if kept["margin"] is None else kept["margin"]
    if not (verdict.margin == margin or math.isclose(verdict.margin, margin, rel_tol=SAME)):
        return Verdict(name, False, abs(verdict.margin - margin), f"has the margin {verdict.margin:g}, not {margin:g}", method)
    return replace(verdict, property=name, holds=True, margin=0.0)


def _variant(statement: Statement, without: str) -> Statement:
    """The statement without one hypothesis; KeyError where it has none of that name."""
    return replace(statement, hypotheses=statement.hypotheses.dropped()[without]) if without else statement


# ---- files ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WitnessRecord:
    """The content of a file: witnesses, and by statement the last status with its trials, seed and seconds."""

    witnesses: list[Witness] = field(default_factory=list)
    searched: dict[str, dict[str, Any]] = field(default_factory=dict)


@cache
def packaged(name: str = "witnesses.json") -> WitnessRecord:
    """What comes with the package: of the statements of the papers, or in OURS of our own claims (ours.py)."""
    return _read(json.loads(packaged_text(f"search/{name}")), name)


def everything() -> WitnessRecord:
    """What comes with the package, of the papers' statements and of our own claims."""
    papers, ours = packaged(), packaged(OURS)
    return WitnessRecord([*papers.witnesses, *ours.witnesses], papers.searched | ours.searched)


def kept_witnesses(path: str | Path) -> WitnessRecord:
    """What a file holds, nothing where there is no such file; InstanceError where it holds something else."""
    return _read(read_json(path), path) if Path(path).exists() else WitnessRecord()


def on_record(statement: Statement, record: WitnessRecord, again: bool = True) -> Finding:
    """What a record says of a statement, as a finding; "not decided" where it says nothing and there is no proof.

    Parameters
    ----------
    statement : the claim
    record : such as `packaged()`
    again : whether its witnesses are confirmed again, so that a violation without a witness is none; a page that shows what is
        on record leaves that to the tests, which confirm all of them
    """
    last = record.searched.get(statement.id, {"status": Status.NOT_DECIDED, "trials": 0})
    own = [one for one in record.witnesses if one["statement"] == statement.id]
    own = [one for one in own if not again or verify_witness(statement, one)]
    first = next((one for one in own if not one["without"]), None)
    status = Status(last["status"])
    if first is None and statement.quantifier != "one" and (statement.wants_violation or status == Status.REFUTED):
        status = Status.NOT_DECIDED
    status = status_of(statement, status)
    needed = {one["without"]: parse_case(one["case"]) for one in own if one["without"]}
    sentence = f"on record: {status}" if statement.id in record.searched else "not searched yet"
    verdict = None if first is None else parse_verdict(first["verdict"])
    case = None if first is None else parse_case(first["case"])
    answers = answers_known(statement, status, verdict, last.get("answers", ""))
    return Finding(statement.id, status, sentence, last["trials"], {"source": "record"}, case, verdict, needed, answers=answers)


def changes(statements: Mapping[str, Statement], findings: Mapping[str, Finding], record: WitnessRecord) -> Iterator[str]:
    """A sentence for each statement of which a finding says otherwise than the record."""
    for name, finding in findings.items():
        item = statements[name]
        known = on_record(item, record, again=False)
        less = (known.status, finding.status) == (Status.NOT_REFUTED, Status.NOT_DECIDED) and finding.trials < known.trials
        if less or not finding.finished:  # fewer cases say nothing else
            continue
        if name not in record.searched:
            yield f"{name}: {described(item, finding.status, finding.trials)}; not on record before"
        elif known.status != finding.status:
            said = described(item, known.status, known.trials)
            yield f"{name}: {said} on record, {finding.status} now ({finding.sentence})"
        elif (
            finding.verdict is not None
            and finding.case is not None
            and known.case is not None
            and measure(Draft.of(finding.case)) < measure(Draft.of(known.case))
        ):
            yield f"{name}: a smaller case than on record"


def write_witnesses(statements: Mapping[str, Statement], findings: Iterable[Finding], path: str | Path) -> WitnessRecord:
    """Put what was found into a file, in place of what it says of these statements; what it then holds.

    What is not finished replaces nothing; the file is made where it is not there.
    """
    old = kept_witnesses(path)
    new = {finding.statement: finding for finding in findings if finding.finished}
    kept, searched = [w for w in old.witnesses if w["statement"] not in new], dict(old.searched)
    for name, finding in new.items():
        kept += witnesses_of(statements[name], finding)
        searched[name] = {"status": finding.status.value, "trials": finding.trials, "seed": finding.searched.get("seed", 0)}
        searched[name] |= {"answers": finding.answers} if finding.answers else {}
    result = WitnessRecord(sorted(kept, key=itemgetter("statement", "without")), dict(sorted(searched.items())))
    write_json({"schema": SCHEMA, "searched": result.searched, "witnesses": result.witnesses}, path)
    return result


def _read(document: Any, path: str | Path) -> WitnessRecord:
    found = document if isinstance(document, dict) else {}
    witnesses, searched = found.get("witnesses"), found.get("searched")
    named = isinstance(witnesses, list) and all(
        isinstance(one, dict) and all(isinstance(one.get(key), str) for key in ("statement", "without")) for one in witnesses
    )
    if found.get("schema") != SCHEMA or not named or not isinstance(searched, dict):
        raise InstanceError(f"{path} holds no witnesses of schema {SCHEMA!r}")
    return WitnessRecord(found["witnesses"], searched)


class FindingStore(RecordStore):
    """A file of findings, made if it is not there, ":memory:" for none; close it, or use it in a `with` statement."""

    kind, contents, layout = "file of findings", "findings", 1
    tables = """
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, asked TEXT NOT NULL, started TEXT NOT NULL, finished TEXT);
CREATE TABLE IF NOT EXISTS finding (run INTEGER REFERENCES run (id), statement TEXT, document TEXT NOT NULL,
    PRIMARY KEY (run, statement));
CREATE TABLE IF NOT EXISTS witness (statement TEXT, document TEXT, PRIMARY KEY (statement, document));
"""

    def run(self, asked: dict[str, Any]) -> int:
        """The run that was asked for in these words and did not finish, else a new one."""
        text = json.dumps(asked, sort_keys=True)
        rows = self.select("SELECT id FROM run WHERE asked = ? AND finished IS NULL ORDER BY id DESC", (text,))
        return int(rows[0][0]) if rows else self.insert("run", {"asked": text, "started": _now()})

    def finish(self, run: int) -> None:
        self.write("UPDATE run SET finished = ? WHERE id = ?", (_now(), run))

    def add(self, run: int, finding: Finding, witnesses: list[Witness]) -> None:
        """Keep a finding and what it found, and commit."""
        with self.transaction():
            row = {"run": run, "statement": finding.statement, "document": json.dumps(finding.document())}
            self.insert("finding", row, replace=True)
            for witness in witnesses:
                self.insert("witness", {"statement": finding.statement, "document": json.dumps(witness, sort_keys=True)})

    def findings(self, run: int | None = None) -> dict[str, Finding]:
        """The findings of a run by statement; None = the latest of each statement."""
        where, values = ("", ()) if run is None else ("WHERE run = ?", (run,))
        rows = self.select(f"SELECT statement, document FROM finding {where} ORDER BY run", values)
        return {name: self.parsed(lambda document: parse_finding(json.loads(document)), text) for name, text in rows}

    def witnesses(self) -> list[Witness]:
        return [self.parsed(json.loads, text) for (text,) in self.select("SELECT document FROM witness ORDER BY rowid")]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
