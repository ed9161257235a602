r"""`continuation`: alpha-pf-vds and ps-dsf (K Problem 1; P Def 2) by following the central path of the game (central_path.py).

1. Start at an equal partition with a first tau, and move onto the path by damped Newton steps.
2. Compute the tangent of the path, oriented as in the last step; at first towards smaller tau.
3. Predictor: a step along the tangent, in the logarithms of all unknowns and of tau. Alpha is capped at max(3, 0.3 / tau).
4. Corrector: Newton steps orthogonal to the tangent until the point is close to the path; where they fail, shorten the step and
   go to 3.
5. Each time tau has decreased to a hundredth (from finish_tau on): guess the arcs and prices in use, solve their equations by
   Newton's method, and end if the residual is small enough.
6. Repeat from 2 until tau <= last_tau. Where the path cannot be followed, repeat from 1 with the next of `starts`.

For alpha != 1 the game is not monotone and the path may turn: tau can increase for a while before it decreases. So tau is an
unknown like all others and the path is parametrised by its length (Allgower and Georg 1990, ch. 6). In logarithms the path is
almost straight. Since the cap on alpha rises while tau decreases, alpha = infinity takes no more steps than alpha = 2.

**alpha = infinity with variants.** There alpha is capped at max(3, 0.3 / sqrt(tau)), since variants are told apart by prices,
which levels tell as log p / alpha. Step 5 is then linear (layers.py): tasks on the arcs in use with one share for each layer;
where that fails at the end, or some servers have finite alpha, the servers answer in turn from there (best_response.py).

**Step 5.** Along the path each y either has a positive limit or vanishes like tau, and its tangent tells which (El-Bakry, Tapia,
Zhang 1994). With the guess P of the arcs in use and Q of the resources with a price, Newton's method on the equations

    E_ni = 0 for P,    slack_ir = 0 for Q,    y = 0 and k = 0 elsewhere,    alpha = infinity with the maximum itself

(for a user at its limit x_n = M_n instead of its E_ni = 0, which need not hold)
reaches rounding error in a few steps. Guesses are corrected as in a semismooth method (P = where N y > E, Q = where k > slack).
The steps are those of least norm: where prices or tasks are not unique the equations are dependent.

An equilibrium need not be unique; this one is the end of the path from an equal partition. For users at their limits it has the
multipliers in proportion to g_i' that formulations/game/game.py explains.
"""

from dataclasses import dataclass

import numpy as np

from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.best_response import BestResponseOptions, BestResponses
from fairalloc.solvers.game.central_path import CentralPathNewton, CentralPathOptions, CentralPathPoint, Change
from fairalloc.solvers.game.equations import FULL, PATTERNS, Booleans, LevelEquations, NewtonSession, equal
from fairalloc.solvers.game.layers import corrected, patterns
from fairalloc.solvers.game.session import servers_of
from fairalloc.solvers.method import Limits, Method, Session, Stopped


@dataclass(frozen=True)
class ContinuationOptions(CentralPathOptions):
    """Of the path.

    Attributes
    ----------
    starts : pairs (first tau of the central path, first cap on alpha), tried in this order; none of 1,650
        generated games needed the second or third
    max_steps : Newton systems for one start
    last_tau : the tau at which the central path ends, where complementary products are of the size of rounding errors
    neighbourhood : the largest error of the path's equations, in units of tau, at a point that counts as on the path
    max_sweeps : rounds of best responses where the path's end does not tell the answer for alpha = infinity with variants
    finish_tau : from this tau on, each time tau has decreased to a hundredth, the arcs and prices in use are guessed, and their
        equations solved by Newton's method
    """

    starts: tuple[tuple[float, float], ...] = ((0.1, 3.0), (1.0, 3.0), (0.1, np.inf))
    max_steps: int = 600
    last_tau: float = 1e-13
    neighbourhood: float = 0.1
    finish_tau: float = 1e-6
    max_sweeps: int = 60


class PathLost(Exception):  # noqa: N818 (a signal, not an error)
    """The path cannot be followed any further."""


@dataclass(frozen=True)
class Tangent:
    """Direction of the path by its length: relative changes, and how fast log tau changes."""

    change: Change
    theta: float


class PathFollowing:
    """The central path from an equal partition on."""

    def __init__(self, session: "ContinuationSession", tau: float, first: float) -> None:
        self.session, self.levels, self.first = session, session.levels, first
        self.weights = [
            1.0 / np.sqrt(max(mask.sum(), 1)) for mask in 2 * (self.levels.arc, self.levels.row) + 2 * (self.levels.limited,)
        ]
        self.options = session.options
        game = self.levels.game
        self._several = bool((game.several & ~game.finite).any())
        self.length, self.budget = 1.0, session.done + self.options.max_steps
        arc, row = self.levels.arc, self.levels.row
        self._cap(np.log(tau))
        y, k = equal(self.levels)
        ones, h = np.ones(self.levels.N), np.where(self.levels.limited, 0.3, 0.0)
        self.now = CentralPathPoint(y, k, np.where(arc, 0.3, 1.0), np.where(row, 0.3, 1.0), h, 0.3 * ones, float(np.log(tau)))

    def follow(self) -> None:
        """To the end, or until PathLost."""
        newton = self._center()  # 1
        tangent: Tangent | None = None
        next_finish = np.log(self.options.finish_tau)
        while newton.point.theta > np.log(self.options.last_tau):
            self.now, along = newton.point, newton.tangent(self._drift(newton))
            if newton.point.theta < next_finish:
                next_finish = newton.point.theta - np.log(100.0)
                if self._try_to_end(newton, along):  # 5
                    return
            tangent = self._oriented(along, tangent)  # 2
            newton = self._advance(newton, tangent)  # 3, 4
        self._try_to_end(newton, newton.tangent(self._drift(newton)))

    # ---- steps ------------------------------------------------------------------------------------------------------

    def _newton(self, point: CentralPathPoint) -> CentralPathNewton:
        self.session.step()
        if self.session.done > self.budget:
            raise PathLost
        self._cap(point.theta)
        return CentralPathNewton(self.levels, point, self.options)

    def _cap(self, theta: float) -> None:
        self.levels.cap(max(self.first, 0.3 * np.exp(-theta * (0.5 if self._several else 1.0))))

    def _drift(self, newton: CentralPathNewton) -> Floats:
        """(N, C) the change of E with log tau, because alpha changes with it."""
        step = 1e-4
        self._cap(newton.point.theta - step)
        before = self.levels.derivatives(newton.point.y, newton.point.k).excess
        self._cap(newton.point.theta)
        result: Floats = (newton.at.excess - before) / step
        return result

    def _center(self) -> CentralPathNewton:
        """Damped Newton steps onto the path at the first tau."""
        newton = self._newton(self.now)
        while newton.error > self.options.neighbourhood:
            change = newton.correction()
            part = change.fits
            while True:
                new = CentralPathNewton(self.levels, newton.point.times(change.factors(part), newton.point.theta))
                if new.error <= newton.error * (1.0 - 1e-3 * part) or part < 1e-3:
                    break
                part /= 2.0
            newton = self._newton(new.point)
        return newton

    def _inner(self, one: Change, other: Change) -> float:
        """Inner product in which each of the groups counts alike."""
        parts = zip(one.all, other.all, self.weights, strict=True)
        return float(sum(weight**2 * np.vdot(a, b) for a, b, weight in parts))

    def _oriented(self, along: Change, before: Tangent | None) -> Tangent:
        """The unit tangent that goes on in the same direction; at first, towards smaller tau."""
        forward = -1.0 if before is None else np.sign(self._inner(before.change, along) + before.theta)
        scale = forward / np.sqrt(self._inner(along, along) + 1.0)
        return Tangent(along.times(scale), float(scale))

    def _advance(self, newton: CentralPathNewton, tangent: Tangent) -> CentralPathNewton:
        """One predictor and corrector step; its length is reduced until the corrector converges."""
        while self.length > 1e-5:
            step = tangent.change.times(self.length).exp()
            new, corrections = self._correct(newton.point.times(step, newton.point.theta + self.length * tangent.theta), tangent)
            if new is not None:
                self.length = min(self.length * (2.0, 2.0, 1.4, 1.0, 0.7, 0.7)[corrections], 3.0)
                self.session.note(iteration=self.session.done, tau=new.point.tau, merit=new.error, seconds=self.session.seconds)
                return new
            self.length /= 2.5
        raise PathLost

    def _correct(self, point: CentralPathPoint, tangent: Tangent) -> tuple[CentralPathNewton | None, int]:
        """Newton steps orthogonal to the tangent, and their number; None where more than five would be needed."""
        off, before = 0.0, np.inf
        for corrections in range(6):
            newton = self._newton(point)
            if newton.error <= self.options.neighbourhood:
                return newton, corrections
            if not np.isfinite(newton.error) or (corrections >= 2 and newton.error > 0.9 * before):
                break
            before = newton.error
            step, along = newton.correction(), newton.tangent(self._drift(newton))
            theta = -(self._inner(tangent.change, step) + off) / (self._inner(tangent.change, along) + tangent.theta)
            change = step.plus(along, theta)
            part = change.fits
            if not abs(theta) * part <= 5.0:  # nan too
                break
            off += part * (self._inner(tangent.change, change) + tangent.theta * theta)
            point = point.times(change.factors(part), point.theta + part * theta)
        return None, 6

    # ---- the end ----------------------------------------------------------------------------------------------------

    def _try_to_end(self, newton: CentralPathNewton, along: Change) -> bool:
        """Step 5 with the guess from the tangent, then with that from the point; whether the residual is small enough."""
        levels, point = self.levels, newton.point
        stay = levels.arc & (along.y < 0.5), levels.row & (along.k < 0.5), levels.limited & (along.h < 0.5)
        large = levels.arc & (levels.N * point.y > point.e), levels.row & (point.k > point.s), point.h > point.t
        levels.cap(np.inf)
        if self._several:
            finish_by_layers(self.session, levels.x(point.y))
            self._cap(point.theta)
            return self.session.reached
        self.session.look(point.y, point.k, tau=point.tau)
        for arcs, rows, held in (stay, large):
            if not self.session.reached:
                newton_on_active_arcs(self.session, point.y, point.k, arcs, rows, held, self.options.max_strong_arcs)
        self._cap(point.theta)
        return self.session.reached


def finish_by_layers(session: NewtonSession, x: Floats) -> None:
    """Step 5 for alpha = infinity with variants: the equations of the pattern (layers.py), one after the other.

    Parameters
    ----------
    session : keeps a point that is good enough
    x : (A,) tasks near an answer
    """
    game = session.levels.game
    for found in patterns(game, x, PATTERNS) if not game.finite.any() else ():
        new = corrected(game, x, found)
        if new is not None and session.look_at(new):
            return


def finish_by_sweeps(session: NewtonSession, sweeps: int) -> None:
    """Where the path's end tells no pattern: the servers answer in turn (best_response.py), and step 5 after each round.

    In levels a price may vanish although its resource is full, and then nothing keeps a user from wasting it.

    Parameters
    ----------
    session : with its best point so far
    sweeps : the largest number of rounds
    """
    game, x = session.levels.game, session.x
    responses = BestResponses(game, servers_of(game), BestResponseOptions())
    for _ in range(sweeps):
        session.step()
        x, tasks = x.copy(), game.tasks(x)
        change = max(responses.turn(server, x, tasks) for server in responses.servers)
        if game.finite.any():
            session.look_at_prices(x, responses.kappa)
        elif not session.look_at(x):
            finish_by_layers(session, x)
        if session.reached or change == 0.0:
            return


def newton_on_active_arcs(
    session: NewtonSession,
    y: Floats,
    k: Floats,
    arcs: Booleans,
    rows: Booleans,
    held: Booleans,
    max_arcs: int = ContinuationOptions.max_strong_arcs,
) -> None:
    """Newton's method on the equations of the arcs and prices in use (step 5); the session keeps the best point.

    Parameters
    ----------
    session : judges the points
    y, k : (N, C) and (K, R) where to start
    arcs, rows : (N, C) and (K, R), the guess of the arcs in use and of the resources with a price
    held : (N,) the guess of the users who are at their limits
    max_arcs : with more arcs in use nothing is tried, because the system is dense
    """
    levels = session.levels
    for _ in range(8):
        y, k = np.where(arcs, y, 0.0), np.where(rows, k, 0.0)
        if not arcs.any(axis=1).all() or arcs.sum() > max_arcs:
            return
        try:
            y, k = _least_step(levels, y, k, arcs, rows, held)
        except (np.linalg.LinAlgError, ValueError):  # numbers out of range
            return
        if session.look(y, k) <= session.target:
            return
        with np.errstate(invalid="ignore"):
            excess = np.nan_to_num(levels.derivatives(y, k).excess, nan=-np.inf)
        left = levels.left(levels.tasks(y))
        held = (held & ~np.any((y > 0) & (excess > np.maximum(left, 0.0)[:, None]), axis=1)) | (left < 0)
        arcs = np.where(held[:, None], arcs & (y > 0), levels.arc & (levels.N * y > excess))
        rows = levels.row & (k > levels.slack(y))


def _least_step(
    levels: LevelEquations, y: Floats, k: Floats, arcs: Booleans, rows: Booleans, held: Booleans
) -> tuple[Floats, Floats]:
    """The Newton step of least norm, relative to y and to k.

    Parameters
    ----------
    levels, y, k, arcs, rows, held : as for `newton_on_active_arcs`
    """
    from scipy.linalg import lstsq

    at = levels.derivatives(y, k)
    (n, c), (j, r), (b,) = np.nonzero(arcs), np.nonzero(rows), np.nonzero(held)
    own, free = np.maximum(y[n, c], 1e-6 / levels.N), ~held[n]
    same_user = (n[:, None] == n) * np.outer(at.pull[n, c] / at.tasks[n], levels.gamma[n, c] * own)
    here = levels.server[c][:, None] == j
    J = np.block(
        [
            [same_user[free], np.where(here, at.share[n, c][:, r], 0.0)[free]],
            [np.where(here, levels.w[n, c][:, r], 0.0).T * own, np.zeros((len(j), len(j)))],
            [(b[:, None] == n) * (levels.gamma[n, c] * own / levels.limits[n]), np.zeros((len(b), len(j)))],
        ]
    )
    right = np.concatenate([-at.excess[n, c][free], levels.slack(y)[j, r], levels.left(at.tasks)[b]])
    across = np.maximum(np.abs(J).max(axis=1), 1e-300)
    J /= across[:, None]
    down = np.maximum(np.abs(J).max(axis=0), 1e-9)
    step = lstsq(J / down, right / across, cond=1e-12, lapack_driver="gelsy")[0] / down
    y, k = y.copy(), k.copy()
    y[n, c] = np.maximum(y[n, c] + own * step[: len(n)], 0.0)
    k[j, r] *= np.exp(np.clip(step[len(n) :], -3.0, 3.0))
    return y, k


class ContinuationSession(NewtonSession):
    """The game of one instance."""

    def __init__(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> None:
        super().__init__(mechanism, instance, limits)
        self.options = limits.own(ContinuationOptions)

    def iterate(self) -> None:
        """Step 5 from the warm start, where there is one; else follow the path, from another start where that failed."""
        if (start := self.warm_start()) is not None:
            y, k = start
            self.look(y, k)
            held = self.levels.limited & (self.levels.left(self.levels.tasks(y)) <= FULL)
            newton_on_active_arcs(self, y, k, y > 0, k > 0, held, self.options.max_strong_arcs)
            if self.reached:
                return
        several = bool((self.levels.game.several & ~self.levels.game.finite).any())
        for tau, first in self.options.starts[: 1 if several else None]:
            path = PathFollowing(self, tau, first)
            try:
                path.follow()
            except (PathLost, Stopped) as end:
                self.levels.cap(np.inf)
                self.look(path.now.y, path.now.k, tau=path.now.tau)
                if isinstance(end, Stopped):
                    raise
            if several and not self.reached:
                self.levels.cap(np.inf)
                self.look(path.now.y, path.now.k, tau=path.now.tau)
                finish_by_sweeps(self, self.options.max_sweeps)
            if self.gap <= self.limits.promised:
                return


class Continuation(Method):
    """Path following.

    The trace has `iteration`, `seconds`, `tau`, and `merit` (distance from the path in units of tau) or `residual` (of an end).
    """

    id = "continuation"
    kind = "interior-point"
    options = ContinuationOptions()
    warm = True
    anytime = True

    def computes(self, mechanism: Mechanism) -> bool:
        """Every game."""
        return isinstance(mechanism, Equilibrium)

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """The arrays."""
        return ContinuationSession(mechanism, instance, limits)


methods = (Continuation(),)
