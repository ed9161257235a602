r"""The Newton system of system.py on few arcs: one dense matrix of all prices, nothing eliminated, which takes the fewest calls.

With C = (load; -owner), q = (p, l) and l = y - z, programs in which no user is raised have

    (C diag(theta) C^T + diag(S, E)) dq = right        dd = C^T dq - lack        dx = over - theta dd

A factor knows dq to rounding, which theta makes up to 1e13 times as large in dx. So what the equations lack then is solved for
once more, which leaves rows at rounding down to gaps of 1e-12. Where rows lack more, program.py goes on with system.py.
"""

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.equations import ArrowEquations
from fairalloc.solvers.interior_point.iterates import PrimalDual, Residuals
from fairalloc.solvers.kkt.matrices import cholesky, lapack

__all__ = ["WholeSystem", "whole_matrix"]

LARGEST = 250_000
"""Multiplications for the matrix up to which it is formed: BLAS takes one thread for them, and more cost more than they save."""


def whole_matrix(instance: Instance, tasks: Floats) -> Floats | None:
    """C (K R + N, A) in the users' units, tasks (N,); None where it is too large."""
    arcs = instance.arcs
    if (instance.K * instance.R + instance.N) ** 2 * instance.A > LARGEST:
        return None
    return np.concatenate([arcs.load.toarray() * tasks[arcs.user], -arcs.owner.toarray()])


class WholeSystem:
    """The system of one iterate, whose matrix is `whole` C; LinAlgError where it is not positive definite in floating point."""

    def __init__(self, program: ArrowEquations, whole: Floats, now: PrimalDual) -> None:
        self.program, self.whole = program, whole
        self.ratio = program.ratio(now)
        self.theta, s, self.t, r = program.split(self.ratio)
        self.v = np.divide(1.0, r, out=np.zeros(len(r)), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)  # as in system.py
        self.ends = np.concatenate([s, self.t * self.f])
        half = whole * np.sqrt(self.theta)
        matrix = half @ half.T
        matrix.ravel()[:: len(matrix) + 1] += self.ends
        factor = cholesky(matrix.T, overwrite=True)
        if factor is None:
            raise np.linalg.LinAlgError
        self.factor = factor

    def _solved(self, right: Floats) -> Floats:
        result: Floats = lapack("potrs", float)(self.factor, right, lower=1)[0]
        return result

    def step(self, now: PrimalDual, lack: Residuals, over: Floats, rough: bool = False) -> PrimalDual:
        """The Newton step; parameters as for that of system.py."""
        del now, rough
        flow, rows, users, limits = self.program.split(over)
        flow = flow + self.theta * lack.arcs
        slack = limits - lack.limits
        own = self.f * (lack.users + users - self.t * self.v * slack)
        right = self.whole @ flow + np.concatenate([rows - lack.rows, own])
        q = self._solved(right)
        reduced = q @ self.whole
        away = self.theta * reduced
        more = self._solved(right - self.ends * q - self.whole @ away)
        q, further = q + more, more @ self.whole
        p, l = q[: len(rows)], q[len(rows) :]  # noqa: E741 (the letter above)
        z = self.v * (own - self.t * self.f * l + slack)
        dual = np.concatenate([reduced + further - lack.arcs, p, l + z, z])
        step = over - self.ratio * dual
        step[self.program.parts[0]] = flow - (away + self.theta * further)
        return PrimalDual(step, dual, 0.0)
