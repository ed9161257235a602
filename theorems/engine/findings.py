"""Findings and witnesses in SQLite: a run that was killed goes on where it was, witnesses are there for every later run.

A row is committed as soon as a statement is done, so a kill loses the statements that are being looked at, at most.
"""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairalloc.models.instance import InstanceError
from fairalloc.theorems.engine.witnesses import Witness
from fairalloc.theorems.statement import Finding, parse_finding

__all__ = ["Store"]

LAYOUT = 1
_TABLES = f"""
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, asked TEXT NOT NULL, started TEXT NOT NULL, finished TEXT);
CREATE TABLE IF NOT EXISTS finding (run INTEGER REFERENCES run (id), statement TEXT, document TEXT NOT NULL,
    PRIMARY KEY (run, statement));
CREATE TABLE IF NOT EXISTS witness (statement TEXT, document TEXT, PRIMARY KEY (statement, document));
PRAGMA user_version = {LAYOUT};
"""


class Store:
    """A file of findings, made if it is not there, ":memory:" for none; close it, or use it in a `with` statement."""

    def __init__(self, path: str | Path) -> None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            layout = self._db.execute("PRAGMA user_version").fetchone()[0]
            if layout == 0:
                self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise InstanceError(f"{path} cannot be used as a file of findings: {error}") from None
        if layout not in (0, LAYOUT):
            self._db.close()
            raise InstanceError(f"{path} has findings of layout {layout}, but this version writes {LAYOUT}: choose another file")

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def run(self, asked: dict[str, Any]) -> int:
        """The run that was asked for in these words and did not finish, else a new one."""
        text = json.dumps(asked, sort_keys=True)
        row = self._db.execute("SELECT id FROM run WHERE asked = ? AND finished IS NULL ORDER BY id DESC", (text,)).fetchone()
        if row is not None:
            return int(row[0])
        try:
            return int(self._db.execute("INSERT INTO run (asked, started) VALUES (?, ?)", (text, _now())).lastrowid or 0)
        except sqlite3.Error as error:
            raise InstanceError(f"nothing can be kept in the file of findings: {error}") from None

    def finish(self, run: int) -> None:
        """Note that a run is complete."""
        self._db.execute("UPDATE run SET finished = ? WHERE id = ?", (_now(), run))

    def add(self, run: int, finding: Finding, witnesses: list[Witness]) -> None:
        """Keep a finding and what it found, and commit."""
        self._db.execute("BEGIN")
        row = (run, finding.statement, json.dumps(finding.document()))
        self._db.execute("INSERT OR REPLACE INTO finding VALUES (?, ?, ?)", row)
        for witness in witnesses:
            text = json.dumps(witness, sort_keys=True)
            self._db.execute("INSERT OR IGNORE INTO witness VALUES (?, ?)", (finding.statement, text))
        self._db.execute("COMMIT")

    def findings(self, run: int | None = None) -> dict[str, Finding]:
        """The findings of a run by statement; None = the latest of each statement."""
        where, values = ("", ()) if run is None else ("WHERE run = ?", (run,))
        rows = self._db.execute(f"SELECT statement, document FROM finding {where} ORDER BY run", values)
        return {name: parse_finding(json.loads(text)) for name, text in rows}

    def witnesses(self) -> list[Witness]:
        """All witnesses."""
        return [json.loads(text) for (text,) in self._db.execute("SELECT document FROM witness ORDER BY rowid")]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
