"""Back ends and algorithms behind one interface.

solve.py        from an instance and a mechanism to a judged allocation
solve_many.py   the same for many instances, small ones of one shape in vectorised steps
judge.py        residuals and claims                method.py         what a method is: limits, clock, session, answer
symmetry.py     identical users solved as one       options.py        accuracies and solvers' options
running/        methods in turn, limits, threads    catalogue/        which methods there are, and which is asked first
backends/       CVXPY, Pyomo, HiGHS, PATH           kkt/              the linear algebra of Newton steps
lexicographic/  the rounds of LMMF, DRFH, TSF       interior_point/   max-min, nb, fds
game/           alpha-pf-vds, ps-dsf                nash_bargaining/  nb
njc/            no justified complaints             exact/            rational answers
"""

if not __name__.startswith("fairalloc."):
    raise ImportError("import this package as fairalloc.solvers, not as solvers: it is mapped into fairalloc")

from fairalloc.solvers.catalogue.method_registry import METHODS, find_method, methods_for, options
from fairalloc.solvers.judge import judged, residual
from fairalloc.solvers.method import Method
from fairalloc.solvers.options import ACCURACY
from fairalloc.solvers.solve import solve
from fairalloc.solvers.solve_many import solve_many

__all__ = ["ACCURACY", "METHODS", "Method", "find_method", "judged", "methods_for", "options", "residual", "solve", "solve_many"]
