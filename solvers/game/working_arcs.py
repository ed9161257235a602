r"""The equations of central_path.py on the arcs that matter near the end of the path, a part of the game's list.

1. At a point of the path, N y e = tau, an arc is set aside if N y / e = tau / e^2 is at most `least`: its part in the matrix of
   prices, and in loads and tasks, is about as small. Near the end that leaves some N + K R of N K arcs.
2. On the others the equations are those of central_path.py.
3. Every arc has its E at any point, whether it is in the list or not. One that is set aside and whose E has become small comes
   back with e = max(E, sqrt(tau)) and y = tau / (N e).

What is set aside keeps a y in proportion to tau, and the path ends where all E of the whole game are >= 0.
Games with variants or limits keep all arcs.
"""

from dataclasses import replace

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.central_path import CentralPathNewton, CentralPathOptions, CentralPathPoint, Change
from fairalloc.solvers.game.equations import Booleans, LevelEquations

__all__ = ["WorkingArcs", "WorkingNewton", "landed", "renewed"]

NEAR = 3.0
"""An arc that is set aside comes back when its E is less than this many sqrt(tau)."""


class WorkingArcs(LevelEquations):
    """The equations on a part of the arcs of a game, which has A.

    Attributes
    ----------
    kept : (A,) bool, the arcs in the list
    aside, tasks_aside, load_aside : (A,), (N,), (K, R) what others have, their tasks and their loads, in units of tau
    tau : of the point that is looked at
    looked : k, x and the least E of the others above `NEAR` sqrt(tau) when all were looked at last
    """

    def __init__(self, levels: LevelEquations, kept: Booleans, y: Floats, tau: float) -> None:
        vars(self).update(vars(levels))  # what belongs to arcs is replaced below; `cap` of the one does not cap the other
        self.kept, self.tau = kept, tau
        self.looked: tuple[Floats, Floats, float] | None = None
        self.aside = np.where(kept, 0.0, y / tau)
        self.tasks_aside, self.load_aside = levels.tasks(self.aside), levels.load(self.aside)
        w, self.log_w = (np.asfortranarray(values[kept]) for values in (levels.w, levels.log_w))
        self._set_arcs(w, levels.gamma[kept], levels.user[kept], levels.server[kept])
        self.log_unit, self.marginals = levels.log_unit[kept], levels.marginals.of(np.flatnonzero(kept))

    def tasks(self, y: Floats) -> Floats:
        """(N,) x_n in units of the best server."""
        return super().tasks(y) + self.tau * self.tasks_aside

    def load(self, y: Floats) -> Floats:
        """(K, R) the sums of w y, of what is set aside, too."""
        return super().load(y) + self.tau * self.load_aside

    def whole(self, y: Floats, tau: float) -> Floats:
        """(A,) y of the list, and of what is set aside."""
        return self.on_all(y, 0.0) + tau * self.aside

    def on_all(self, values: Floats, other: float) -> Floats:
        """(A,) values of the list, and `other` elsewhere."""
        result = np.full(len(self.kept), other)
        result[self.kept] = values
        return result

    def cheap(self, levels: LevelEquations, newton: CentralPathNewton) -> Booleans | None:
        """(A,) arcs that are set aside and whose E is not much above sqrt(tau); None without a look at any where no E can be.

        Parameters
        ----------
        levels : the whole game, with the alpha of the point
        newton : at a point on this list
        """
        point, tasks = newton.point, newton.at.tasks
        if self.looked is not None and not levels.capped:
            k, x, room = self.looked
            used = self.row & (point.k > point.s)
            if np.abs(np.log(point.k / k)[used]).max(initial=0.0) + np.abs(np.log(tasks / x)).max() < room:
                return None
        excess = levels.derivatives(self.whole(point.y, point.tau), point.k).excess[~self.kept]
        near = NEAR * np.sqrt(point.tau)
        self.looked = point.k, tasks, excess.min(initial=np.inf) - near
        result = np.zeros_like(self.kept)
        result[~self.kept] = excess < near
        return result if result.any() else None

    def point_on_all(self, point: CentralPathPoint) -> CentralPathPoint:
        """The point on all arcs; e = 1 where the list has none."""
        y = self.whole(point.y, point.tau)
        return CentralPathPoint(y, point.k, self.on_all(point.e, 1.0), point.s, point.h, point.t, point.theta)

    def change_on_all(self, change: Change) -> Change:
        """A tangent whose y vanish like tau where the list has no arc."""
        return Change(self.on_all(change.y, 1.0), change.k, self.on_all(change.e, 0.0), change.s, change.h, change.t)


def renewed(
    levels: LevelEquations, old: LevelEquations, point: CentralPathPoint, least: float, cheap: Booleans | None
) -> tuple["WorkingArcs", CentralPathPoint]:
    """Steps 1 and 3: the list of arcs at a point, and the point on it.

    Parameters
    ----------
    levels : the whole game, with the alpha of the point
    old : where the point is, the same or a list
    point : of the path
    least : the N y / e up to which an arc is set aside
    cheap : (A,) arcs that are not
    """
    y, e = point.y, point.e
    if isinstance(old, WorkingArcs):
        y, e = old.whole(y, point.tau), old.on_all(e, 1.0)
        back = ~old.kept
        e[back] = np.maximum(levels.derivatives(y, point.k).excess[back], np.sqrt(point.tau))
        y[back] = point.tau / (levels.N * e[back])
    kept = levels.N * y > least * e
    if cheap is not None:
        kept |= cheap
    kept[levels.largest(y)] = True
    working = WorkingArcs(levels, kept, y, point.tau)
    return working, CentralPathPoint(y[kept], point.k, e[kept], point.s, point.h, point.t, point.theta)


def landed(levels: WorkingArcs, point: CentralPathPoint, change: Change, theta: float) -> tuple[float, CentralPathPoint]:
    """A Newton step, and the part of it that is taken.

    Small changes of k are those of 1 / k, which is linear in x_n where E_ni = 0. Where some y, e, k or s would become negative,
    all pairs of complementary numbers are put back on N y e = tau and k s = tau at the same differences N y - e and k - s.

    Parameters
    ----------
    levels, point : where it starts
    change : of the logarithms
    theta : of log tau
    """
    part, fits = 1.0, change.fits == 1.0
    if not fits:
        used = levels.row & (point.k > point.s)
        part = min(1.0, 0.5 / max(float(np.abs(change.k[used]).max(initial=0.0)), 1e-300), 1.0 / max(abs(theta), 1e-300))
    u, factors = part * change.k, change.factors(part)
    factors = replace(factors, k=np.where(np.abs(u) < 0.5, 1.0 / (1.0 - u), factors.k))
    new = point.times(factors, point.theta + part * theta)
    if fits:
        return part, new
    y, e = _pair(levels.N * new.y, new.e, new.tau)
    k, s = _pair(new.k, new.s, new.tau)
    return part, replace(new, y=y / levels.N, e=e, k=np.where(levels.row, k, new.k), s=np.where(levels.row, s, new.s))


def _pair(one: Floats, other: Floats, tau: float) -> tuple[Floats, Floats]:
    """The two positive numbers with the same difference and the product tau."""
    difference = one - other
    large = 0.5 * (np.abs(difference) + np.sqrt(difference**2 + 4.0 * tau))
    return np.where(difference > 0, large, tau / large), np.where(difference > 0, tau / large, large)


class WorkingNewton(CentralPathNewton):
    """The equations at a point of a list of arcs, linearised and factorised."""

    levels: WorkingArcs

    def __init__(self, levels: WorkingArcs, point: CentralPathPoint, options: CentralPathOptions) -> None:
        levels.tau = point.tau
        super().__init__(levels, point, options)

    def with_tau(self, drift: Floats) -> tuple[Floats, Floats]:
        """E changes because what is set aside does, too, and so does the slack."""
        levels, tau = self.levels, self.point.tau
        return drift + self.at.pull * levels.of_user(tau * levels.tasks_aside / self.at.tasks), -tau * levels.load_aside
