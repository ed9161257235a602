"""Proofs that a second reader read, with the paper in hand: readings.json beside this file, by statement.

A reading is of a text: it is kept with the fingerprint of the proof as it then was, and a proof that was changed since counts as
not read, until somebody other than its author reads it again and `keep_readings` writes that down.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from fairalloc.models.files.jsonio import read_json, write_json
from fairalloc.theorems.proofs import Proof

__all__ = ["keep_readings", "read_on"]

SCHEMA = "fairalloc/proofs-read-1"


def read_on(name: str, proof: Proof | str) -> str:
    """The day on which a second reader read the proof of a statement as it is now; "" where nobody has.

    Parameters
    ----------
    name : the id of the statement
    proof : its proof

    Examples
    --------
    >>> read_on("K.T1", "Clear.")
    ''
    """
    day, read = _readings().get(name, ("", ""))
    return day if read == _fingerprint(proof) else ""


def keep_readings(proofs: Mapping[str, Proof | str], day: str, path: str | Path) -> None:
    """Write down that these proofs were read, in the place of earlier readings.

    Parameters
    ----------
    proofs : by the id of the statement
    day : such as "2026-11-22"
    path : the JSON file, made where it is not there
    """
    known = read_json(path)["readings"] if Path(path).exists() else {}
    known |= {name: [day, _fingerprint(proof)] for name, proof in proofs.items()}
    write_json({"schema": SCHEMA, "readings": {name: known[name] for name in sorted(known)}}, path)


def _fingerprint(proof: Proof | str) -> str:
    return sha256(str(proof).encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def _readings() -> Mapping[str, tuple[str, str]]:
    """The committed readings: day and fingerprint by statement."""
    text = files("fairalloc.theorems").joinpath("readings.json").read_text(encoding="utf-8")
    return {name: (day, read) for name, (day, read) in json.loads(text)["readings"].items()}
