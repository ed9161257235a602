"""Proofs in prose: each has a name, and one proof may serve several statements.

    >>> str(Proof("a pool", "With one server nobody can exchange.", before="The shares are the same. "))
    'The shares are the same. With one server nobody can exchange.'

A statement of which the proof is used nowhere else has it as a plain text, and it is named like the statement.

Which proofs a second reader read, with the paper in hand, is in readings.json beside this file, by statement: who read it, and
what was checked. A reading is of a text: it is kept with the fingerprint of the proof as it then was. A proof that was changed
since counts as not read, until somebody other than its author reads it again and `keep_readings` writes that down.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairalloc.models.files.jsonio import read_json, write_json
from fairalloc.theorems.packaged_files import packaged_text

SCHEMA = "fairalloc/proofs-read-2"


@dataclass(frozen=True)
class Proof:
    """A proof that several statements share; a statement may add something `before` and `after` it."""

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
