"""Checks that return a verdict with a witness; certificates, proofs in rationals; all njc allocations, and pictures."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.theorems, not as theorems: it is mapped into fairalloc")

from fairalloc.theorems.certificates import Certificate, parse_certificate
from fairalloc.theorems.certifying import Failure, certify
from fairalloc.theorems.properties import BASIC, PROPERTIES, check
from fairalloc.theorems.solution_set import SolutionSet, solution_set
from fairalloc.theorems.verdict import Verdict

__all__ = [
    "BASIC",
    "PROPERTIES",
    "Certificate",
    "Failure",
    "SolutionSet",
    "Verdict",
    "certify",
    "check",
    "parse_certificate",
    "solution_set",
]
