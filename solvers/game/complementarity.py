r"""The game (equations.py) as complementarity problem, for semismooth-newton and josephy-newton; Lemke's method for linear ones.

0 <= v complements F(v) >= 0 with v = (N y on arcs, k on rows), F = (E, slack). With Fischer and Burmeister's function

    phi(a, b) = a + b - sqrt(a^2 + b^2),    zero iff 0 <= a complements b >= 0

that is Phi(v) = phi(v, F(v)) = 0, and the merit |Phi|^2 / 2 is smooth.

**Outer iteration** (`AlphaContinuation`), which both methods share:

1. Start at an equal partition; cap alpha at 1.
2. Newton steps of the method for the game with the capped alpha, until |Phi| <= INTERMEDIATE.
3. Multiply the cap by 3 and repeat 2 from the last point, until the cap is at least the game's largest alpha.
4. Newton steps for the game itself until the residual is small enough.
5. Where that fails, repeat from 1 with the next of `starts`.

**Lemke's method** (`lemke`) for w = M z + q,  0 <= z complements w >= 0, with the artificial variable z_0:

1. The basis is w. If q >= 0, z = 0 is the solution.
2. z_0 enters, and the w_i with the least q_i leaves.
3. The complement of the variable that left enters.
4. Ratio test, with ties broken lexicographically. If no row limits the entering variable, the method ends on a ray.
5. Pivot. If z_0 left, the basic solution is a solution; otherwise go to 3.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.ps_dsf import PsDsf
from fairalloc.models.arguments import Tolerances, Whole
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.equations import LevelEquations, NewtonOptions, NewtonSession, equal
from fairalloc.solvers.game.session import GameMethod, finite_alpha, plain_users

FLOOR, INTERMEDIATE, MEMORY = 1e-14, 1e-3, 4
"""The least level, in its unit, at which the equations are evaluated; the norm of the complementarity equations at which the cap
on alpha is raised; how many last steps a step is compared with, at their largest merit (Grippo, Lampariello, Lucidi 1986)."""


@dataclass(frozen=True)
class ComplementarityOptions(NewtonOptions):
    """Of the outer iteration.

    Attributes
    ----------
    starts : factors of the first point; the next one is tried where the iteration ends at a minimum of the merit that is not 0
    max_steps : Newton steps for one alpha
    """

    starts: Tolerances = (1.0, 0.3, 0.1)
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
        self.arcs, self.rows = len(levels), int(levels.row.sum())

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
        levels, n, i, arcs = self.levels, self.levels.user, self.levels.server, np.arange(self.arcs)
        y, k = self.point(v)
        at = levels.derivatives(y, np.maximum(k, FLOOR))
        pull = sp.csr_array((at.pull / at.tasks[n], (arcs, n)), shape=(self.arcs, levels.N))
        owned = sp.csr_array((levels.gamma / levels.N, (n, arcs)), shape=(levels.N, self.arcs))
        a, r = np.nonzero(levels.w)
        column = levels.place[i[a], r]
        share = at.share[a, r] / np.maximum(k[i[a], r], FLOOR)
        prices = sp.csr_array((share, (a, column)), shape=(self.arcs, self.rows))
        load = sp.csr_array((-levels.w[a, r] / levels.N, (column, a)), shape=(self.rows, self.arcs))
        J = sp.csr_array(sp.block_array([[pull @ owned, prices], [load, None]]))
        return Linearization(v, self.value(v).F, J)


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
        for part in self.options.starts:
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


class ComplementarityMethod(GameMethod):
    """What both methods declare: games of plain users with finite alpha, warm starts."""

    kind = "Newton"
    but = (PsDsf,)
    options = ComplementarityOptions()
    largest: ClassVar[int]

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        domain = mechanism.domain(instance)
        size = domain.A + domain.K * domain.R
        if size > self.largest:
            return f"{self.id} needs at most {self.largest} arcs and prices together, but there are {size}"
        return plain_users(self.id, domain) or finite_alpha(self.id, mechanism, instance)


def lemke(
    M: NDArray[Any], q: NDArray[Any], max_pivots: int, tolerance: Any = 0, tick: Callable[[], Any] = bool
) -> NDArray[Any] | None:
    """The z >= 0 with M z + q >= 0 and z (M z + q) = 0, by Lemke's method; None on a ray or after `max_pivots`.

    The lexicographic order breaks ties, so that degenerate problems do not cycle (Cottle, Pang, Stone 1992, 4.4 and 4.9).
    Fractions give an exact solution; of floats entries up to `tolerance` are 0 in the ratio test. `tick` is called at each pivot.
    """
    size = len(q)
    zero, one = M.dtype.type(0) if M.dtype != object else q[0] * 0, 1
    T = np.full((size, 2 * size + 2), zero, dtype=M.dtype)
    T[np.arange(size), np.arange(size)] += one
    T[:, size : 2 * size], T[:, -2], T[:, -1] = -M, zero - one, q
    basis = np.arange(size)
    if not (T[:, -1] < 0).any():  # 1
        return np.full(size, zero, dtype=M.dtype)
    row = int(np.argmin(T[:, -1]))  # 2
    entering = 2 * size
    for _ in range(max_pivots):
        tick()
        leaving = int(basis[row])  # 5
        basis[row] = entering
        T[row] = T[row] / T[row, entering]
        column = T[:, entering].copy()
        column[row] = zero
        T -= np.outer(column, T[row])
        if leaving == 2 * size:
            break
        entering = leaving + size if leaving < size else leaving - size  # 3
        if (found := _row(T, basis, entering, tolerance)) is None:  # 4
            return None
        row = found
    else:
        return None
    z = np.full(2 * size + 1, zero, dtype=M.dtype)
    z[basis] = T[:, -1]
    return z[size : 2 * size]


def _row(T: NDArray[Any], basis: NDArray[np.intp], entering: int, tolerance: Any) -> int | None:
    """The row that leaves: least ratio, the artificial variable first, then lexicographic."""
    size = len(T)
    rows = np.flatnonzero(T[:, entering] > tolerance)
    if not len(rows):
        return None
    for place in (-1, *range(size)):
        ratio = T[rows, place] / T[rows, entering]
        rows = rows[ratio <= ratio.min() + tolerance]
        if place == -1 and (basis[rows] == 2 * size).any():
            return int(rows[basis[rows] == 2 * size][0])
        if len(rows) == 1:
            break
    return int(rows[0])


def lemke_from_guess(
    M: Floats, q: Floats, basic: NDArray[np.bool_], max_pivots: int, tick: Callable[[], Any] = bool
) -> Floats | None:
    """`lemke` from a guess `basic` (n,) of the positive z: a principal pivot solves their rows first, so few pivots are left."""
    B, C = np.flatnonzero(basic), np.flatnonzero(~basic)
    try:
        inverse = np.linalg.inv(M[np.ix_(B, B)])
    except np.linalg.LinAlgError:
        return lemke(M, q, max_pivots, 1e-11, tick)
    P = np.empty_like(M)
    P[np.ix_(B, B)] = inverse
    P[np.ix_(B, C)] = -inverse @ M[np.ix_(B, C)]
    P[np.ix_(C, B)] = M[np.ix_(C, B)] @ inverse
    P[np.ix_(C, C)] = M[np.ix_(C, C)] - P[np.ix_(C, B)] @ M[np.ix_(B, C)]
    p = q.copy()
    p[B] = -inverse @ q[B]
    p[C] = q[C] - P[np.ix_(C, B)] @ q[B]
    if not np.all(np.isfinite(P)) or np.abs(P).max() > 1e10:
        return lemke(M, q, max_pivots, 1e-11, tick)
    found = lemke(P, np.where(np.abs(p) < 1e-13, 0.0, p), max_pivots, 1e-11, tick)
    if found is not None:
        found[B] = (P @ found + p)[B]
    return found
