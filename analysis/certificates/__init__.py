"""Certificates: proofs in rationals that an allocation is what a mechanism asks for, verified without a solver.

`certify` compares an allocation with the exact answer and makes the certificate; `Certificate.verify` checks it.
"""

from fairalloc.analysis.certificates.certificate import Certificate, parse_certificate
from fairalloc.analysis.certificates.construct import NotCertified, certify

__all__ = ["Certificate", "NotCertified", "certify", "parse_certificate"]
