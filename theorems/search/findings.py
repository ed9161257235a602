"""Findings and witnesses on file: a run that was killed goes on where it was, witnesses are there for every later run.

A row is committed as soon as a statement is done, so a kill loses the statements that are being looked at, at most.
"""

import json
from datetime import UTC, datetime
from typing import Any

from fairalloc.runs.store import RecordStore
from fairalloc.theorems.search.witnesses import Witness
from fairalloc.theorems.statement import Finding, parse_finding


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
        """Note that a run is complete."""
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
        """All witnesses."""
        return [self.parsed(json.loads, text) for (text,) in self.select("SELECT document FROM witness ORDER BY rowid")]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
