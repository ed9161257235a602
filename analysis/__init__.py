"""Checks that return a verdict with a witness; certificates, proofs in rationals; all njc allocations, and pictures."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.analysis, not as analysis: it is mapped into fairalloc")

from fairalloc.analysis.certificates import Certificate, Failure, certify, parse_certificate
from fairalloc.analysis.properties.checks import BASIC, PROPERTIES, check
from fairalloc.analysis.properties.misreports import MECHANISM_PROPERTIES, check_mechanism
from fairalloc.analysis.solution_set import SolutionSet, solution_set
from fairalloc.analysis.verdict import Verdict

__all__ = [
    "BASIC",
    "MECHANISM_PROPERTIES",
    "PROPERTIES",
    "Certificate",
    "Failure",
    "SolutionSet",
    "Verdict",
    "certify",
    "check",
    "check_mechanism",
    "parse_certificate",
    "solution_set",
]
