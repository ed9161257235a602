"""Certificates on record: index.json says which statement at which size has which, found/ has them, compressed with xz.

One file serves all statements whose questions are the same text. It is named by the first letters of the hash of the text.
"""

import hashlib
import json
import lzma
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from fairalloc.models.errors import InstanceError
from fairalloc.theorems.certificates.check_certificate import check
from fairalloc.theorems.packaged_files import packaged_text

Text = dict[str, Any]


@cache
def index() -> Mapping[str, list[dict[str, Any]]]:
    """By statement, for each size on record: "sha256", "questions" and "leaves" of the certificate, or the "reason" of none."""
    found: Mapping[str, list[dict[str, Any]]] = json.loads(packaged_text("certificates/index.json"))
    return found


def stored(sha256: str) -> dict[str, Any] | None:
    """The certificate of the text with this hash, None where there is none."""
    path = files("fairalloc.theorems").joinpath(f"certificates/found/{certificate_name(sha256)}")
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return found


def certificate_name(sha256: str) -> str:
    return f"{sha256[:16]}.json.xz"


def hash_of(text: Text) -> str:
    """SHA-256 of a text, as the checker computes it."""
    return hashlib.sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()


def document(text: Text, found: list[Any]) -> dict[str, Any]:
    return {"schema": "fairalloc/certificate-1", "sha256": hash_of(text), "text": text, "certificates": found}


def packed(certificate: Mapping[str, Any]) -> bytes:
    return lzma.compress(json.dumps(certificate, separators=(",", ":")).encode(), preset=9 | lzma.PRESET_EXTREME)


def checked(certificate: Any, sha256: str, name: str) -> str:
    """What the checker says of a certificate of the text with this hash; InstanceError where it is refused."""
    found = certificate.get("sha256") if isinstance(certificate, dict) else None
    if found != sha256:
        raise InstanceError(f"the certificate is of another text than {name}: sha256 {found}, not {sha256}")
    try:
        return check(certificate)
    except Exception as fault:  # whatever is wrong with the file
        raise InstanceError(f"the certificate of {name} is refused: {fault}") from fault


def certificate_line(entry: Mapping[str, Any]) -> str:
    """What is on record for one size, in words."""
    size = "x".join(map(str, entry["size"]))
    if "reason" in entry:
        return f"no certificate for {size}: {entry['reason']}"
    return f"certificate for {size}: {entry['questions']} questions, {entry['leaves']} leaves, text with sha256 {entry['sha256']}"
