"""All answers that a mechanism allows on an instance, as a union of polytopes in rationals.

| part | content |
| --- | --- |
| all_answers.py | `solution_set`: which mechanisms have a set of answers that can be listed, and on which instances |
| answers.py | `SolutionSet`: ranges of tasks, best answers, membership |
| njc_answers.py | no justified complaints: a polytope for each set of bottlenecks |
| game_answers.py | alpha-pf-vds: where it is ps-dsf, the concave program of nb, or one server |

The polytopes of ps-dsf and ps-dsf-tdm are in solvers/exact/ps_dsf_pieces.py, because a method chooses among them.
"""

from fairalloc.analysis.solution_sets.all_answers import MULTIVALUED, SEVERAL, UNLISTED, solution_set
from fairalloc.analysis.solution_sets.answers import Best, SolutionSet
from fairalloc.models.exact.polytopes import Piece

__all__ = ["MULTIVALUED", "SEVERAL", "UNLISTED", "Best", "Piece", "SolutionSet", "solution_set"]
