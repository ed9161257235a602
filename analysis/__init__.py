"""What can be said of an allocation or a mechanism."""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.analysis, not as analysis: it is mapped into fairalloc")

from fairalloc.analysis import plots
from fairalloc.analysis.certificates import Certificate, NotCertified, certify, parse_certificate
from fairalloc.analysis.explanations import Explanation, Sentence, explain
from fairalloc.analysis.properties import BASIC, MECHANISM_PROPERTIES, PROPERTIES, Misreport, Property, check, check_mechanism
from fairalloc.analysis.sensitivity import Sensitivity, sensitivity
from fairalloc.analysis.solution_sets import Best, SolutionSet, solution_set
from fairalloc.analysis.verdict import Verdict

__all__ = [
    "BASIC",
    "MECHANISM_PROPERTIES",
    "PROPERTIES",
    "Best",
    "Certificate",
    "Explanation",
    "Misreport",
    "NotCertified",
    "Property",
    "Sensitivity",
    "Sentence",
    "SolutionSet",
    "Verdict",
    "certify",
    "check",
    "check_mechanism",
    "explain",
    "parse_certificate",
    "plots",
    "sensitivity",
    "solution_set",
]
