r"""The Newton system of system.py on few arcs, nothing eliminated: one dense matrix of all prices, which takes the fewest calls.

With C = (load; -owner) and q = (p, l), l = y - z, programs in which no user is raised have

    (C diag(theta) C^T + diag(S, E)) dq = right,    dd = C^T dq - lack,    dx = over - theta dd.

The factor knows dq to rounding, which theta makes up to 1e13 times as large in dx. So what rows and users lack then is solved for
once more. Where that is not enough, near the last digits, program.py goes on with system.py.
"""

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.equations import ArrowEquations
from fairalloc.solvers.interior_point.iterates import PrimalDual, Residuals
from fairalloc.solvers.kkt.matrices import cholesky, lapack

__all__ = ["WholeSystem"]


class WholeSystem:
    """The system of one iterate; LinAlgError where its matrix is not positive definite in floating point."""

    def __init__(self, program: ArrowEquations, now: PrimalDual) -> None:
        self.program, self.matrix = program, program.whole
        self.ratio = program.ratio(now)
        self.theta, s, self.t, r = program.split(self.ratio)
        self.v = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)
        half = self.matrix * np.sqrt(self.theta)
        full = half @ half.T
        self.own = np.concatenate([s, self.t * self.f])
        full.ravel()[:: len(full) + 1] += self.own
        factor = cholesky(full.T, overwrite=True)
        if factor is None:
            raise np.linalg.LinAlgError
        self.factor = factor

    def _solve(self, right: Floats) -> Floats:
        result: Floats = lapack("potrs", float)(self.factor, right, lower=1)[0]
        return result

    def step(self, now: PrimalDual, lack: Residuals, over: Floats, rough: bool = False) -> PrimalDual:  # noqa: ARG002
        """The Newton step; parameters as in system.py."""
        flow, rows, users, limits = self.program.split(over)
        flow = flow + self.theta * lack.arcs
        short, slack = lack.users + users, limits - lack.limits
        own = self.f * (short - self.t * self.v * slack)
        right = self.matrix @ flow + np.concatenate([rows - lack.rows, own])
        q = self._solve(right)
        reduced = q @ self.matrix
        away = self.theta * reduced
        if not rough:
            more = self._solve(right - self.own * q - self.matrix @ away)
            q, further = q + more, more @ self.matrix
            reduced, away = reduced + further, away + self.theta * further
        p, l = q[: len(rows)], q[len(rows) :]  # noqa: E741
        z = self.v * (own - self.t * self.f * l + slack)
        dual = np.concatenate([reduced - lack.arcs, p, l + z, z])
        step = over - self.ratio * dual
        step[self.program.parts[0]] = flow - away
        return PrimalDual(step, dual, 0.0)
