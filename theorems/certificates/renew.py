"""The store of certificates anew: `make certificates`. What is on record for a text that is still the same is kept."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.models.files.jsonio import write_json
from fairalloc.models.files.writing import write_file
from fairalloc.theorems.certificates.find import certified
from fairalloc.theorems.certificates.store import certificate_name, checked, hash_of, index, packed, stored
from fairalloc.theorems.certificates.text import text_of
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.smt.record import recorded
from fairalloc.theorems.statement import Statement

HERE = Path(__file__).parent


def unpack(folder: str) -> None:
    """Every certificate as the checker reads it."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for sha256 in {entry["sha256"] for entries in index().values() for entry in entries if "sha256" in entry}:
        write_file(Path(folder, certificate_name(sha256)).with_suffix(""), json.dumps(stored(sha256)))


def differing() -> Iterator[str]:
    """What the index says of a certificate that is not of the text that the definitions make today; a refused one is an error."""
    for name, entries in index().items():
        for entry in (entry for entry in entries if "sha256" in entry):
            found = _entry(all_statements()[name], entry["size"], 0.0)
            if found != entry:
                yield f"the index says of {name} {entry}, and `make certificates` writes {found}"


def renew(seconds: float) -> dict[str, list[dict[str, Any]]]:
    """The index, after every missing certificate was searched with so many seconds for a question, and written."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, items in sorted(recorded().items()):
        for item in (item for item in items if item["verdict"] == "proved"):
            found.setdefault(name, []).append(_entry(all_statements()[name], item["size"], seconds))
    return found


def _entry(item: Statement, size: list[int], seconds: float) -> dict[str, Any]:
    written = text_of(item, (size[0], size[1], size[2]))
    sha256 = hash_of(written)
    certificate, reason = stored(sha256), ""
    if certificate is None and seconds:
        try:
            certificate = certified(written, seconds)
            write_file(HERE / "found" / certificate_name(sha256), packed(certificate))
        except InstanceError as fault:
            reason = str(fault)
    if certificate is None:
        known = (entry["reason"] for entry in index().get(item.id, ()) if entry["size"] == size and "reason" in entry)
        return {"size": size, "reason": reason or next(known, "not searched")}
    leaves = checked(certificate, sha256, item.id).split(", ")[1].split()[0]
    return {"size": size, "sha256": sha256, "questions": len(written["questions"]), "leaves": int(leaves)}


if __name__ == "__main__":
    action, *rest = sys.argv[1:]
    if action == "search":
        write_json(renew(float(rest[0])), HERE / "index.json")
    elif action == "unpack":
        unpack(rest[0])
    else:
        sys.exit("\n".join(differing()) or None)
