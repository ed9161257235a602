r"""The Newton system of system.py on few arcs: one dense matrix of all prices, nothing eliminated, which takes the fewest calls.

With C = (load; -owner), q = (p, l) and l = y - z, programs in which no user is raised have

    (C diag(theta) C^T + diag(S, E)) dq = right        dd = C^T dq - lack        dx = over - theta dd

Rounding of dq is up to 1e13 times as large in dx, so what the equations lack then is solved for once more. Where rows lack more
than they may, program.py goes on with system.py.
"""

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.equations import ArrowEquations
from fairalloc.solvers.interior_point.iterates import PrimalDual, Residuals
from fairalloc.solvers.interior_point.system import ArrowSystem
from fairalloc.solvers.kkt.matrices import cholesky, solved
from fairalloc.solvers.kkt.schur import Factor

LARGEST = 250_000
"""Multiplications for the matrix up to which it is formed: BLAS takes one thread for them."""


def whole_matrix(instance: Instance, tasks: Floats) -> Floats | None:
    """C (K R + N, A) in the users' units, tasks (N,); None where it is too large."""
    arcs, few = instance.arcs, (instance.K * instance.R + instance.N) ** 2 * instance.A <= LARGEST
    return np.concatenate([arcs.load.toarray() * tasks[arcs.user], -arcs.owner.toarray()]) if few else None


class WholeSystem(ArrowSystem):
    """The system of one iterate, with C `whole`; LinAlgError where its matrix is not positive definite in floating point."""

    def __init__(self, program: ArrowEquations, whole: Floats, now: PrimalDual) -> None:
        self.program, self.whole, self.ratio = program, whole, program.ratio(now)
        self.theta, s, self.t, r = program.split(self.ratio)
        self.v = np.divide(1.0, r, out=np.zeros(len(r)), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)  # as in system.py
        self.ends, half = np.concatenate([s, self.t * self.f]), whole * np.sqrt(self.theta)
        matrix = half @ half.T
        matrix.ravel()[:: len(matrix) + 1] += self.ends
        if (factor := cholesky(matrix.T, overwrite=True)) is None:
            raise np.linalg.LinAlgError
        self.factor = Factor(lambda right: solved(factor, right))

    def step(self, now: PrimalDual, lack: Residuals, over: Floats, rough: bool = False) -> PrimalDual:  # noqa: ARG002
        """The Newton step; parameters as for that of system.py."""
        flow, rows, users, limits = self.program.split(over)
        flow, slack = flow + self.theta * lack.arcs, limits - lack.limits
        own = self.f * (lack.users + users - self.t * self.v * slack)
        right = self.whole @ flow + np.concatenate([rows - lack.rows, own])
        q = self.factor.solve(right)
        reduced = q @ self.whole
        away = self.theta * reduced
        more = self.factor.solve(right - self.ends * q - self.whole @ away)
        q, further = q + more, more @ self.whole
        z = self.v * (own - self.t * self.f * q[len(rows) :] + slack)
        dual = np.concatenate([reduced + further - lack.arcs, q, z])
        dual[self.program.parts[2]] += z
        step = over - self.ratio * dual
        step[self.program.parts[0]] = flow - (away + self.theta * further)
        return PrimalDual(step, dual, 0.0)
