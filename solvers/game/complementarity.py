r"""The game (equations.py) as complementarity problem, for josephy-newton and `semismooth-newton` (Fischer and Burmeister).

0 <= v complements F(v) >= 0 with v = (N y on arcs, k on rows), F = (E, slack) (K 28-29, 35; finite alpha). With the function

    phi(a, b) = a + b - sqrt(a^2 + b^2),    zero iff 0 <= a complements b >= 0

that is Phi(v) = phi(v, F(v)) = 0, and the merit |Phi|^2 / 2 is smooth.

**Outer iteration** (`AlphaContinuation`), which both methods share:

1. Start at an equal partition; cap alpha at 1.
2. Newton steps of the method for the game with the capped alpha, until |Phi| <= INTERMEDIATE.
3. Multiply the cap by 3 and repeat 2 from the last point, until the cap is at least the game's largest alpha.
4. Newton steps for the game itself until the residual is small enough.
5. Where that fails, repeat from 1 with the next of STARTS.

**One step of `semismooth-newton`:**

1. An element J of the generalised Jacobian of Phi at v (De Luca, Facchinei, Kanzow 1996).
2. The Newton direction, J d = -Phi.
3. Line search on |Phi|^2 / 2, which is smooth, along the projection of v + t d onto v >= 0: t = 1, 1/2, 1/4, ... until the merit
   is small enough against the largest of the last steps.
4. Where no t is, the direction of Levenberg and Marquardt, (J' J + mu I) d = -J' Phi, with the next larger mu, and 3 again. For
   large mu it is a descent direction.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models.arguments import Whole
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.equations import LevelEquations, NewtonSession, equal
from fairalloc.solvers.game.session import ForFiniteAlpha
from fairalloc.solvers.options import AlgorithmOptions

FLOOR, INTERMEDIATE, MEMORY = 1e-14, 1e-3, 4
"""The least level, in its unit, at which the equations are evaluated; the norm of the complementarity equations at which the cap
on alpha is raised; how many last steps a step is compared with, at their largest merit (Grippo, Lampariello, Lucidi 1986)."""

STARTS = (1.0, 0.3, 0.1)
"""Factors of the first point; the next one is tried where the iteration ends at a minimum of the merit that is not 0."""

MU = (0.0, 1e-8, 1e-5, 1e-2, 1.0)
"""Levenberg and Marquardt's parameter, tried in this order."""


@dataclass(frozen=True)
class ComplementarityOptions(AlgorithmOptions):
    """Of the outer iteration.

    Attributes
    ----------
    max_steps : Newton steps for one alpha
    """

    max_steps: Whole = 150


class Linearization(NamedTuple):
    """F and its Jacobian at v."""

    v: Floats
    F: Floats
    J: sp.csr_array

    @property
    def phi(self) -> Floats:
        """Phi; inf where a user has no tasks."""
        return self.v + self.F - np.hypot(self.v, self.F)

    @property
    def merit(self) -> float:
        """|Phi|^2 / 2; inf where F is not defined."""
        value = float(self.phi @ self.phi) / 2.0
        return value if np.isfinite(value) else np.inf

    @property
    def generalised(self) -> sp.csr_array:
        """An element of the generalised Jacobian of Phi."""
        length = np.hypot(self.v, self.F)
        some = length > 0
        a = 1.0 - np.divide(self.v, length, out=np.full_like(length, np.sqrt(0.5)), where=some)
        b = 1.0 - np.divide(self.F, length, out=np.full_like(length, np.sqrt(0.5)), where=some)
        return sp.csr_array(sp.diags_array(a) + sp.diags_array(b) @ self.J)


class Complementarity:
    """F, its Jacobian, and the way from v to y and k."""

    def __init__(self, levels: LevelEquations) -> None:
        self.levels = levels
        self.arcs = len(levels)

    def vector(self, y: Floats, k: Floats) -> Floats:
        return np.concatenate([self.levels.N * y, k[self.levels.row]])

    def point(self, v: Floats) -> tuple[Floats, Floats]:
        """Y (A,) and k (K, R) of v."""
        k = np.zeros((self.levels.K, self.levels.R))
        k[self.levels.row] = v[self.arcs :]
        return v[: self.arcs] / self.levels.N, k

    def value(self, v: Floats) -> Linearization:
        """F at v, without the Jacobian."""
        y, k = self.point(v)
        excess = self.levels.derivatives(y, np.maximum(k, FLOOR)).excess
        F = np.concatenate([excess, self.levels.slack(y)[self.levels.row]])
        return Linearization(v, np.where(self.levels.tasks(y).min() > 0, F, np.inf), sp.csr_array((0, 0)))

    def linear(self, v: Floats) -> Linearization:
        """F and its Jacobian at v."""
        y, k = self.point(v)
        at = self.levels.derivatives(y, np.maximum(k, FLOOR))
        pull, paid, tasks, loads = self.levels.matrices(at, np.arange(self.arcs))
        prices = paid @ sp.diags_array(1.0 / np.maximum(v[self.arcs :], FLOOR))
        return Linearization(v, self.value(v).F, sp.csr_array(sp.block_array([[pull @ tasks, prices], [-loads, None]])))


class AlphaContinuation(NewtonSession):
    """A complementarity problem solved for alpha = 1, 3, 9, .. up to the game's, each from where the last one ended."""

    @abstractmethod
    def next_point(self, problem: Complementarity, here: Linearization, allowed: float) -> Floats | None:
        """One Newton step with its line search: the next v, with a merit well below `allowed`; None where there is none."""

    def iterate(self) -> None:
        """From the warm start with the game's own alpha; from one first point after the other, until there is an answer."""
        problem = Complementarity(self.levels)
        if (start := self.warm_start()) is not None:
            self._solved(problem, problem.vector(*start), 0.0)
            if self.reached:
                return
        for part in STARTS:
            self._raise_alpha(problem, part * problem.vector(*equal(self.levels)))
            if self.gap <= self.limits.promised:
                return

    def _raise_alpha(self, problem: Complementarity, v: Floats) -> None:
        most = float(self.levels.game.alpha.max())
        steps = int(np.ceil(np.log(max(most, 1.0)) / np.log(3.0)))
        try:
            for power in range(steps):
                self.levels.cap(3.0**power)
                v = self._solved(problem, v, INTERMEDIATE)
        finally:
            self.levels.cap(np.inf)
        self._solved(problem, v, 0.0)

    def _solved(self, problem: Complementarity, v: Floats, enough: float) -> Floats:
        """Steps from v until |Phi| is small, or, if `enough` is 0, until the residual is."""
        merits: list[float] = []
        for _ in range(self.options.max_steps):
            here = problem.linear(v)
            if enough == 0.0 and self.look(*problem.point(v), merit=here.merit) <= self.target:
                break
            if np.sqrt(2.0 * here.merit) <= enough:
                break
            self.step()
            merits.append(here.merit)
            if (new := self.next_point(problem, here, max(merits[-MEMORY:]))) is None:
                break
            v = new
        return v


class ComplementarityMethod(ForFiniteAlpha):
    """What both methods declare."""

    kind = "Newton"
    kinds, but = (Equilibrium,), (PsDsf,)
    options = ComplementarityOptions()
    largest: ClassVar[int]

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        domain = mechanism.domain(instance)
        size = domain.A + domain.K * domain.R
        if size > self.largest:
            return f"{self.id} needs at most {self.largest} arcs and prices together, but there are {size}"
        return super().applies(mechanism, instance)


class SemismoothSession(AlphaContinuation):
    def next_point(self, problem: Complementarity, here: Linearization, allowed: float) -> Floats | None:
        J, phi = here.generalised, here.phi  # 1
        for mu in MU:  # 2, then 4
            d = _solved(J, -phi) if mu == 0.0 else _solved(sp.csr_array(J.T @ J) + mu * sp.eye_array(len(phi)), -(J.T @ phi))
            slope = min(float(phi @ (J @ d)), 0.0)
            for part in 0.5 ** np.arange(10):  # 3
                v: Floats = np.maximum(here.v + part * d, 0.0)
                if problem.value(v).merit <= allowed + 1e-2 * part * slope:
                    return v
        return None


def _solved(matrix: sp.csr_array, right: Floats) -> Floats:
    """Sparse LU; nan where the matrix is singular, which SuperLU says by an error."""
    from scipy.sparse.linalg import splu

    try:
        return np.asarray(splu(sp.csc_array(matrix)).solve(right), dtype=float)
    except RuntimeError:
        return np.full(len(right), np.nan)


class SemismoothNewton(ComplementarityMethod):
    """Fischer-Burmeister; the trace has `iteration`, `merit`, `residual` and `seconds` for the last alpha."""

    id = "semismooth-newton"
    session = SemismoothSession
    largest = 10_000  # one linear system takes seconds then, cannot be interrupted, and takes minutes for 25,000


methods = (SemismoothNewton(),)
