"""Certificates: proofs in rationals that an allocation is what a mechanism asks for, verified without a solver.

`certify` compares an allocation with the exact answer and makes the certificate; `Certificate.verify` checks it.

| file | what it holds |
| --- | --- |
| certificate.py | the class `Certificate`, and the checks that all kinds share |
| leximin.py | lexicographic mechanisms: prices for each round |
| nested.py | nested-leximin: a dual solution of each round |
| program.py | linear programs (utilitarian, mmf, drfh-lp, uniform): a dual solution |
| nash_bargaining.py | nb: bounds on the optimal value |
| justified.py | njc: the bottleneck of each user |
| game_certificate.py | ps-dsf by exact levels, alpha-pf-vds by a bound on its residual |
| prices.py | ps-dsf with several variants: layers of prices |
| construct.py | `certify`, which makes all of these |
| documents.py | reads them from JSON |
"""

from fairalloc.analysis.certificates.certificate import Certificate
from fairalloc.analysis.certificates.construct import NotCertified, certify
from fairalloc.analysis.certificates.documents import parse_certificate

__all__ = ["Certificate", "NotCertified", "certify", "parse_certificate"]
