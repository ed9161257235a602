"""Back ends and algorithms behind one interface.

solve.py      from an instance and a mechanism to a judged allocation        judge.py     residuals and claims
solve_many.py   the same for many instances, small ones of one shape in vectorised steps
dispatch.py   methods in turn, where they run, and for how long              isolated.py  work in a child that can be ended
silence.py    what the process prints
method.py     what a method is: limits, clock, session, answer               options.py   accuracies and solvers' options
registry.py   all methods by id                                              own.py       methods of one's own
installed.py  solvers that CVXPY or Pyomo find
start.py      warm starts                                                    backends/    CVXPY, Pyomo, HiGHS, PATH
arrow/          the linear algebra of Newton steps  interior_point/   max-min, nb, fds
lexicographic/  the rounds of LMMF, DRFH, TSF       nash_bargaining/  nb           game/  alpha-pf-vds, ps-dsf
njc/            no justified complaints             exact/   rational answers
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.solvers, not as solvers: it is mapped into fairalloc")

from fairalloc.solvers.judge import judged, residual
from fairalloc.solvers.method import Method
from fairalloc.solvers.options import ACCURACY
from fairalloc.solvers.registry import METHODS, find_method, methods_for, options
from fairalloc.solvers.solve import solve
from fairalloc.solvers.solve_many import solve_many

__all__ = ["ACCURACY", "METHODS", "Method", "find_method", "judged", "methods_for", "options", "residual", "solve", "solve_many"]
