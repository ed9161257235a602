"""The store of certificates anew: `make certificates`. What is on record for a text that is still the same is kept."""

import sys
from pathlib import Path
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.models.files.jsonio import write_json
from fairalloc.theorems.certificates.certify import certified
from fairalloc.theorems.certificates.store import certificate_name, checked, hash_of, packed, stored
from fairalloc.theorems.certificates.text import text_of
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.smt.record import recorded
from fairalloc.theorems.statement import Statement

HERE = Path(__file__).parent


def renew(seconds: float) -> dict[str, list[dict[str, Any]]]:
    """The index, after every missing certificate was searched with so many seconds for a question, and written."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, items in sorted(recorded().items()):
        proved = [item for item in items if item["verdict"] == "proved"]
        for item in proved:
            found.setdefault(name, []).append(_entry(all_statements()[name], item["size"], seconds))
    return found


def _entry(item: Statement, size: list[int], seconds: float) -> dict[str, Any]:
    text = text_of(item, (size[0], size[1], size[2]))
    sha256 = hash_of(text)
    certificate = stored(sha256)
    if certificate is None:
        try:
            certificate = certified(text, seconds)
        except InstanceError as fault:
            return {"size": size, "reason": str(fault)}
        (HERE / "found" / certificate_name(sha256)).write_bytes(packed(certificate))
    leaves = checked(certificate, sha256, item.id).split(", ")[1].split()[0]
    return {"size": size, "sha256": sha256, "questions": len(text["questions"]), "leaves": int(leaves)}


if __name__ == "__main__":
    write_json(renew(float(sys.argv[1])), HERE / "index.json")
