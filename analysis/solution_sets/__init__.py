"""All answers that a mechanism allows on an instance, as a union of polytopes in rationals.

The polytopes of ps-dsf and ps-dsf-tdm are in solvers/exact/ps_dsf_pieces.py, because a method chooses among them.
"""

from fairalloc.analysis.solution_sets.answers import MULTIVALUED, SEVERAL, UNLISTED, Best, SolutionSet, solution_set
from fairalloc.models.exact.polytopes import Piece

__all__ = ["MULTIVALUED", "SEVERAL", "UNLISTED", "Best", "Piece", "SolutionSet", "solution_set"]
