"""QTQP, an interior-point method in Python, on the linear programs of a mechanism: to compare with.

    min c @ z,   rows @ z + s = side,   s = 0 in the first rows, s >= 0 in the others

Its duals of rows with an upper side are prices as they are. It knows no time limit and ends by its number of iterations.
"""

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Method, Session
from fairalloc.solvers.options import TERMINATION, solver_options


class QtqpSession(Session):
    """One linear program after the other."""

    mechanism: Leximin | Utilitarian

    def solve(self, round: Round | None) -> tuple[Floats, Floats | None]:  # noqa: A002
        import qtqp

        with self.phase("build"):
            lp = self.mechanism.lp(self.instance, round)
        with self.phase("compile"):
            matrix, own = lp.matrix.tocsr(), sp.eye_array(len(lp.most), format="csr")
            fixed = np.flatnonzero(lp.lower == lp.upper)
            above, below = (np.setdiff1d(np.flatnonzero(np.isfinite(side)), fixed) for side in (lp.upper, lp.lower))
            most = np.flatnonzero(np.isfinite(lp.most))
            rows = sp.vstack([matrix[fixed], matrix[above], -matrix[below], -own, own[most]])
            side = np.concatenate([lp.upper[fixed], lp.upper[above], -lp.lower[below], np.zeros(len(lp.most)), lp.most[most]])
            program = qtqp.QTQP(a=sp.csc_matrix(rows), b=side, c=-lp.cost, z=len(fixed))
        options = {"verbose": self.limits.log, **solver_options("QTQP", self.limits.accuracy), **self.limits.solver_options}
        with self.phase("solve"), self.logged():
            found = self.asked("QTQP", lambda: program.solve(**options))
        self.count(found.iterations)
        self.x = np.maximum(found.x[: self.instance.A], 0.0)
        self.conclude(TERMINATION.get(found.status.value, "error"))
        prices = np.zeros(matrix.shape[0])
        prices[np.concatenate((fixed, above))] = found.y[: len(fixed) + len(above)]
        rows_of_servers = self.instance.K * self.instance.R
        return self.x, prices[:rows_of_servers].reshape(self.instance.K, self.instance.R)


class Qtqp(Method):
    """QTQP on the linear programs of a mechanism."""

    id = "qtqp"
    kind = "interior-point"
    kinds = (Leximin, Utilitarian)
    peer = True
    packages = ("qtqp",)
    install = "pip install fairalloc[qtqp]"
    solver = "QTQP"
    session = QtqpSession


methods = (Qtqp(),)
