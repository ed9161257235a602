r"""`njc-milp`: the MILP (b) of njc.py by HiGHS through CVXPY, then the exact optimum for the bottlenecks that it found.

1. Solve the MILP by HiGHS in floating point. Its binary variables b_j name the bottlenecks, the set I.
2. Compute the best x of the polytope P_I, a linear program, in rationals (pieces.py).
3. Check (D 1)-(D 2) exactly.

Of two sets whose best values differ by less than HiGHS' tolerances of 1e-9 it may take the wrong one.
"""

from typing import Any

import numpy as np

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.njc import NoJustifiedComplaints, Requests
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.numbers import Floats
from fairalloc.solvers.backends.cvxpy import CvxpySession
from fairalloc.solvers.method import Session, Stopped
from fairalloc.solvers.njc.eisenberg_gale import ExactNjcMethod
from fairalloc.solvers.njc.pieces import PieceProgram

GAP = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "threads": 1}


class MilpSession(CvxpySession):
    """The MILP in CVXPY."""

    def write(self, round: Round | None) -> Any:  # noqa: A002, ARG002
        """Program (b), also without an objective."""
        assert isinstance(self.mechanism, NoJustifiedComplaints)
        return self.mechanism.write_cvxpy(self.instance, model="milp")

    def _compile(self, options: dict[str, Any]) -> tuple[Any, Any, Any]:
        options.update(GAP | dict(self.limits.solver_options))
        return super()._compile(options)


class Milp(ExactNjcMethod):
    """The MILP, then the exact optimum for its bottlenecks."""

    id = "njc-milp"
    packages = ("cvxpy", "highspy", "flint")
    free = True
    solver = "HIGHS"
    session = MilpSession

    def find(self, mechanism: NoJustifiedComplaints, d: Requests, session: Session) -> tuple[Rationals, Floats | None]:
        assert isinstance(session, MilpSession)
        session.solve(None)  # 1
        with session.phase("read"):
            bottlenecks = frozenset(np.flatnonzero(np.round(session.model.var_dict["bottleneck"].value)).tolist())
            piece = PieceProgram(d, bottlenecks, d.lowest(bottlenecks), mechanism.objective, mechanism.wish(d))
            x = piece.best_point(session.limits)  # 2
        if x is None or not d.fair(x):  # 3
            raise Stopped("inaccurate", "the bottlenecks that HiGHS found do not hold exactly")
        session.x = np.array(x, float)
        return x, None


methods = (Milp(),)
