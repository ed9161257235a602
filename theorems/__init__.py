"""Properties of allocations, checks that return a verdict with a witness; certificates, proofs in rationals."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.theorems, not as theorems: it is mapped into fairalloc")

from fairalloc.theorems.certificates import Certificate, parse_certificate
from fairalloc.theorems.certifying import Failure, certify
from fairalloc.theorems.misreports import MECHANISM_PROPERTIES, check_mechanism
from fairalloc.theorems.properties import BASIC, PROPERTIES, check
from fairalloc.theorems.verdict import Verdict

__all__ = [
    "BASIC",
    "MECHANISM_PROPERTIES",
    "PROPERTIES",
    "Certificate",
    "Failure",
    "Verdict",
    "certify",
    "check",
    "check_mechanism",
    "parse_certificate",
]
