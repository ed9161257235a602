r"""`continuation`: alpha-pf-vds and ps-dsf (K Problem 1; P Def 2) by following the central path of the game (central_path.py).

0. Where g_i' is a multiple of 1 / z on every server, try the concave program of nb (K Theorem 2; interior_point/alpha_fair.py).
   For PS-DSF without limits and zero demands, try the path in one unknown per server (level_path.py), and go on at its end.
1. Start at an equal partition with a first tau, and move onto the path by damped Newton steps.
2. Compute the tangent of the path, oriented by the sign of the determinant; at first towards smaller tau.
3. Predictor: a step along the tangent, in the logarithms of all unknowns and of tau. Alpha is capped at max(30, 0.3 / tau).
4. Corrector: Newton steps orthogonal to the tangent until the point is close to the path; where they fail, shorten the step and
   go to 3.
5. Each time tau has decreased to a hundredth (from FINISH_TAU on), and where the path cannot be followed: guess the arcs and
   prices in use, and solve their equations by Newton's method (active_set.py). On a long path, from PROGRAMS_TAU on, small
   changes of tasks and prices by linear programs are next (small_changes.py). End if the residual is small enough.
6. Repeat from 2 until tau <= LAST_TAU. Where the path cannot be followed, repeat from 1 with the next of STARTS.

For alpha != 1 the path may turn, so tau is an unknown like all others and the path is parametrised by its length (Allgower and
Georg 1990, ch. 6). For alpha = infinity with variants alpha is capped at max(30, 0.3 / sqrt(tau)), and step 5 is linear
(price_layers.py); where that fails at the end, or some servers have finite alpha, the servers answer in turn from there
(best_response.py). Reasons, and how step 5 guesses, are in docs/reference/derivations.md.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import mechanism as nash_bargaining
from fairalloc.models.arguments import Whole
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.game.active_set import newton_on_active_arcs
from fairalloc.solvers.game.best_response import BestResponses
from fairalloc.solvers.game.central_path import CentralPathNewton, CentralPathPoint, fits
from fairalloc.solvers.game.equations import FULL, PATTERNS, TARGET, NewtonSession, equal
from fairalloc.solvers.game.level_path import LevelPath
from fairalloc.solvers.game.price_layers import corrected, pattern
from fairalloc.solvers.game.session import GameMethod
from fairalloc.solvers.game.small_changes import end_by_programs
from fairalloc.solvers.interior_point.alpha_fair import AlphaFairSession
from fairalloc.solvers.interior_point.iterates import InteriorPointOptions
from fairalloc.solvers.kkt.schur import most_rows, plan_for
from fairalloc.solvers.method import Stopped
from fairalloc.solvers.options import AlgorithmOptions

MARGIN = 10.0
"""How many times the target the residual of step 0 may be, and of step 5 on a long path: a digit more takes ten times as long."""

LAST_TAU, NEIGHBOURHOOD = 1e-13, 0.3
"""Where the path ends, and the largest error of its equations, in units of tau, at a point that counts as on it."""

FINISH_TAU, PROGRAMS_TAU = 1e-6, 2e-7
"""From the first tau on step 5 is tried, each time tau has decreased to a hundredth, and from the second on by programs, too."""

LONG_PATH, MAX_SWEEPS = 150, 60
"""Newton systems after which a path is long; rounds of best responses where the path's end does not tell the answer."""

STARTS = ((0.1, 30.0), (1.0, 3.0), (0.1, 3.0))
"""The first tau of the path and the first cap on alpha, tried in turn; of alpha = infinity with variants the first alone."""


@dataclass(frozen=True)
class ContinuationOptions(AlgorithmOptions):
    """Of the path.

    Attributes
    ----------
    max_steps : Newton systems for one start
    max_rows : servers times resources of which a dense matrix is formed; twice as many where users have few arcs
    """

    max_steps: Whole = 3000
    max_rows: Whole = 10_000


class PathLost(Exception):  # noqa: N818 (a signal, not an error)
    """The path cannot be followed any further."""


class Tangent(NamedTuple):
    """Direction of the path by its length: relative changes, one after the other, and how fast log tau changes."""

    change: Floats
    theta: float


class PathFollowing:
    """The central path from a point of it on, or from an equal partition."""

    def __init__(self, session: "ContinuationSession", tau: float, first: float, begin: CentralPathPoint | None = None) -> None:
        self.session, self.levels, self.first = session, session.levels, first
        self.due, self.begun = np.log(FINISH_TAU), session.done
        self.length, self.budget = 1.0, session.done + session.options.max_steps
        self._cap(np.log(tau))
        y, k = equal(self.levels)
        ones, h = np.ones(self.levels.N), np.where(self.levels.limited, 0.3, 0.0)
        self.now = begin or CentralPathPoint(
            y, k, np.full(len(y), 0.3), np.where(self.levels.row, 0.3, 1.0), h, 0.3 * ones, float(np.log(tau))
        )
        arcs, rows, limits = len(self.levels), self.levels.row.sum(), self.levels.limited.sum()
        counts = np.maximum((arcs, rows, arcs, rows, limits, limits), 1)
        self.weights = np.repeat(1.0 / counts, [part.size for part in self.now[:6]])

    def follow(self) -> None:
        """To the end, or until PathLost."""
        newton = self._center()  # 1
        self.orientation = newton.orientation
        while newton.point.theta > np.log(LAST_TAU):
            self.now, along = newton.point, newton.tangent(self._drift(newton))
            if newton.point.theta < self.due:
                self._try_to_end(newton, along)  # 5
            if self._enough():
                return
            try:
                newton = self._advance(newton, self._oriented(newton, along))  # 2, 3, 4
            except PathLost:
                self._try_to_end(newton, along)
                raise
        self._try_to_end(newton, newton.tangent(self._drift(newton)))

    @property
    def _long(self) -> bool:
        return self.session.done > self.begun + LONG_PATH

    def _enough(self) -> bool:
        """Whether the residual is the target, or on a long path within the margin."""
        return self.session.reached or (self._long and self.session.nearly)

    def look(self) -> None:
        """Judge the last point of the path, on all arcs and with every alpha."""
        self.levels.cap(np.inf)
        self.session.look(self.now.y, self.now.k, tau=self.now.tau)

    def _newton(self, point: CentralPathPoint) -> CentralPathNewton:
        self.session.step()
        if self.session.done > self.budget:
            raise PathLost
        self._cap(point.theta)
        return CentralPathNewton(self.levels, point)

    def _cap(self, theta: float) -> None:
        self.levels.cap(max(self.first, float(0.3 * np.exp(-theta * (0.5 if self.session.several else 1.0)))))

    def _drift(self, newton: CentralPathNewton) -> Floats:
        """(A,) the change of E with log tau, because alpha changes with it."""
        step = 1e-4
        if not np.any((self.levels.alpha < self.levels.game.alpha) & ~self.levels.sharp):
            return np.zeros_like(newton.point.y)
        self._cap(newton.point.theta - step)
        before = self.levels.derivatives(newton.point.y, newton.point.k).excess
        self._cap(newton.point.theta)
        return (newton.at.excess - before) / step

    def _center(self) -> CentralPathNewton:
        """Damped Newton steps onto the path at the first tau."""
        newton = self._newton(self.now)
        while newton.error > NEIGHBOURHOOD:
            change = newton.correction()
            part = fits(change)
            while True:
                new = CentralPathNewton(self.levels, newton.point.times(1.0 + part * change, newton.point.theta))
                if new.error <= newton.error * (1.0 - 1e-3 * part) or part < 1e-3:
                    break
                part /= 2.0
            newton = self._newton(new.point)
        return newton

    def _inner(self, one: Floats, other: Floats) -> float:
        """Inner product in which each of the groups counts alike."""
        return float((self.weights * one) @ other)

    def _oriented(self, newton: CentralPathNewton, along: Floats) -> Tangent:
        """The unit tangent in the direction of the path, that in which it began towards smaller tau."""
        scale = -newton.orientation * self.orientation / np.sqrt(self._inner(along, along) + 1.0)
        return Tangent(scale * along, float(scale))

    def _advance(self, newton: CentralPathNewton, tangent: Tangent) -> CentralPathNewton:
        """One predictor and corrector step; its length is reduced until the corrector converges."""
        while self.length > 1e-5:
            factors = np.exp(np.clip(self.length * tangent.change, -20.0, 3.0))
            point = newton.point.times(factors, newton.point.theta + self.length * tangent.theta)
            new, corrections = self._correct(point, tangent)
            if new is not None:
                self.length = min(self.length * (2.0, 2.0, 1.4, 1.0, 0.7, 0.7)[corrections], 3.0)
                self.session.record(tau=new.point.tau, merit=new.error)
                return new
            self.length /= 2.5
        raise PathLost

    def _correct(self, point: CentralPathPoint, tangent: Tangent) -> tuple[CentralPathNewton | None, int]:
        """Newton steps orthogonal to the tangent, and their number; None where more than five would be needed."""
        off, before = 0.0, np.inf
        for corrections in range(6):
            newton = self._newton(point)
            if newton.error <= NEIGHBOURHOOD:
                return newton, corrections
            if not np.isfinite(newton.error) or (corrections >= 2 and newton.error > 0.9 * before):
                break
            before = newton.error
            step, along = newton.correction(), newton.tangent(self._drift(newton))
            theta = -(self._inner(tangent.change, step) + off) / (self._inner(tangent.change, along) + tangent.theta)
            change = step + theta * along
            part = fits(change)
            if not abs(theta) * part <= 5.0:  # nan too
                break
            point = point.times(1.0 + part * change, point.theta + part * theta)
            off += part * (self._inner(tangent.change, change) + tangent.theta * theta)
        return None, 6

    def _try_to_end(self, newton: CentralPathNewton, along: Floats) -> None:
        """Step 5 with the guess from the tangent, and by linear programs."""
        levels, session, point = self.levels, self.session, newton.point
        self.due = point.theta - np.log(100.0)
        certain, (y, k, _, _, h, _) = point.tau**0.25, point.split(along)
        guess = (
            (y < 0.5) | (levels.N * point.y > certain),
            levels.row & ((k < 0.5) | (point.k > certain)),
            levels.limited & ((h < 0.5) | (point.h > certain)),
        )
        levels.cap(np.inf)
        if self.session.several:
            finish_by_layers(session, levels.x(point.y))
        else:
            newton_on_active_arcs(session, point.y, point.k, *guess)
            if not session.reached:
                session.look(point.y, point.k, tau=point.tau)
        if not session.reached and self._long and point.tau <= PROGRAMS_TAU and levels.game.finite.all():
            end_by_programs(session, point)
        self._cap(point.theta)


def finish_by_layers(session: NewtonSession, x: Floats) -> None:
    """Step 5 for alpha = infinity with variants near tasks x (A,): the equations of its patterns, one after the other."""
    game = session.game
    for tolerance in PATTERNS if not game.finite.any() else ():
        if (new := corrected(game, x, pattern(game, x, tolerance))) is not None and session.look_at(new):
            return


def finish_by_sweeps(session: NewtonSession) -> None:
    """Where the path's end tells no pattern: the servers answer in turn (best_response.py), and step 5 after each round.

    In levels a price may vanish although its resource is full, and then nothing keeps a user from wasting it.
    """
    game, x = session.game, session.x
    responses = BestResponses(game, session.servers)
    for _ in range(MAX_SWEEPS):
        session.step()
        x = x.copy()
        change = responses.sweep(x)
        if game.finite.any():
            session.keep(game.residual(x, responses.kappa), x, responses.kappa.copy())
        elif not session.look_at(x):
            finish_by_layers(session, x)
        if session.reached or change == 0.0:
            return


class ContinuationSession(NewtonSession):
    @property
    def several(self) -> bool:
        """Whether variants are told apart by prices: alpha is infinite on a server where a user has several."""
        return bool((self.game.several & ~self.game.finite).any())

    @property
    def nearly(self) -> bool:
        """Whether the best point is within the margin: a digit more would take ten times as long."""
        return self.gap <= min(MARGIN * self.target, self.limits.promised)

    def iterate(self) -> None:
        """Step 5 from the warm start, where there is one; else follow the path, from another start where that failed."""
        if (start := self.warm_start()) is not None:
            y, k = start
            self.look(y, k)
            newton_on_active_arcs(self, y, k, y > 0, k > 0, self.levels.left(self.levels.tasks(y)) <= FULL)
            if self.reached:
                return
        if self._bargained():
            return
        begin = LevelPath(self).follow() if LevelPath.fits(self) else None
        if self.reached:
            return
        for tau, first in STARTS[:1] if self.several else STARTS:
            path, begin = PathFollowing(self, tau, first, begin), None
            try:
                path.follow()
            except (PathLost, Stopped) as end:
                path.look()
                if isinstance(end, Stopped):
                    raise
            if self.several and not self.reached:
                path.look()
                finish_by_sweeps(self)
            if self.gap <= self.limits.promised:
                return

    def _bargained(self) -> bool:
        """Step 0, step 5 where its answer is not good enough; whether it is in the end."""
        levels, game = self.levels, self.game
        if not game.logarithmic.all() or not plan_for(self.instance, InteriorPointOptions.max_rows):
            return False
        limits = replace(self.limits, accuracy=min(self.target, TARGET["mid"]), options=InteriorPointOptions())
        program = AlphaFairSession(nash_bargaining, self.instance, limits)
        with suppress(Stopped):
            program.solve(None)
        self.done += program.iterations or 0
        if program.x is None or program.last_prices is None:
            return False
        mu = np.maximum(program.last_prices, 0.0) * (game.A + game.B)[:, None]
        y, k = program.x / game.gamma, mu ** (1.0 / levels.beta[:, None])
        levels.scale(y)
        k = np.where(levels.row, k / levels.unit[:, None], 1.0)
        self.look(y, k)
        if self.nearly:
            return True
        excess = levels.derivatives(y, k).excess
        held = levels.left(levels.tasks(y)) <= FULL
        least = np.minimum.reduceat(excess, levels.loads.first)
        arcs = levels.N * y > excess - levels.of_user(np.where(held, least, 0.0))
        newton_on_active_arcs(self, y, k, arcs, levels.row & (k > levels.slack(y)), held)
        return self.nearly


class Continuation(GameMethod):
    """Path following.

    The trace has `iteration`, `seconds`, `tau`, and `merit` (distance from the path in units of tau) or `residual` (of an end).
    """

    id = "continuation"
    kind = "interior-point"
    options = ContinuationOptions()
    session = ContinuationSession
    canonical = False  # y, k and w have no units
    anytime = True

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:  # noqa: ARG002 (a game's domain is the instance)
        rows, most = instance.K * instance.R, most_rows(instance, self.options.max_rows)
        if rows <= most:
            return ""
        return f"{self.id} forms a dense matrix of at most {most} rows, but there are {rows} servers times resources"


methods = (Continuation(),)
