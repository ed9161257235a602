"""What the iteration of program.py is about: its options, its points, and what its equations lack there."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.options import AlgorithmOptions

__all__ = ["NOTHING", "InteriorPointOptions", "PrimalDual", "Residuals"]


@dataclass(frozen=True)
class InteriorPointOptions(AlgorithmOptions):
    """Of the iteration; errors are the relative ones of the module's text.

    Attributes
    ----------
    target : the error at which it stops: what floating point can reach, because a user whose price is a ten-thousandth of the
        largest is known to be stuck only to ten thousand times the gap
    enough : the error up to which an answer is used
    settled : the error from which on the best point is taken after 2 iterations without progress
    patience : iterations without a smaller error after which it is taken before; a third of them once it is `enough`, and three
        times as many above `close`, where nb with 10^5 users has an error of 5e-2 after 5 iterations and a smaller one after 28
    progress : the part of the smallest error so far that counts as progress once that is `settled`
    floor : the relative gap below which mu is not pushed: theta is its inverse, and what is gained in the gap is lost in the
        residuals
    utility_floor : the same for nb and fds, whose errors are then below 1e-12; with 1e-14 some were 5e-11
    lag : the part of what nb's and fds' demands differ from tasks below which their gap is not pushed: one of 10^5 arcs took 138
        iterations for 27, at a gap of 1e-13 and an error of 1e-8
    max_iterations : Newton systems for one round
    max_rows : rows up to which a dense system is formed, of servers times resources or of users; where users have few arcs it may
        have twice as many of the former
    max_resources : up to which blocks of resources times resources are
    back : the part of the way to the boundary that a step goes
    careful : the same where the error is above `far`: next to the boundary the steps that follow can be too short
    far : the error above which steps are `careful`
    worse : how many times its error a point may have after such a step; else the predictor alone is taken, nine tenths of the way
    guards : added to diagonals before they are factorised, relative: redundant equations of a face have no pivot of their own;
        the least with which that succeeds; where rows are equations, which others may imply, without the first
    close : the error below which solves are refined, and formed in double precision; where rows are equations, they always are
    harmless : what rows may lack after a step, as a part of the error, before all is done in double precision: what is left there
        shortens all steps that follow
    refinements : the most steps of conjugate gradients in a solve
    steps : the most steps of conjugate gradients in a solve whose factor leaves arcs out
    coarse : the relative gap above which such a factor has the blocks on the diagonal alone, where they serve
    couples : the part of the gap that a coupling may have which it leaves out
    lacking : what rows may lack after a step with it, as a part of the error
    rough_corrections : the most correctors after Mehrotra's with such a factor
    inside : how much less than their cheapest arc costs users pay at a start of one's own, relative
    apart : the part of a start of one's own that is mixed into a warm start, which has numbers that are 0
    away : the part of a start of one's own that is mixed into the tasks of the round before
    moves : how often tasks are moved towards servers with little load before the first iteration
    filled : the largest load there
    centring : the most that mu is of what it was: where the predictor is short, correctors lengthen the step, not a large mu
    parts : the parts of a correction that are tried (Colombo and Gondzio 2008)
    corrections : the most correctors after Mehrotra's
    worthwhile : how many times as many multiplications a factorisation has, for each corrector; theirs are slower, so that all
        of them together cost about as much
    long : the length of steps, primal and dual, from which on there are none
    reach : a corrector looks at the products after a step so many times as long, and
    beyond : longer by this part of a whole step
    outlier : products are moved to within this factor of mu
    gain : how much longer a corrector makes the two steps together, at least; otherwise it is the last
    near : the error from which on projections onto the optimal face are tried; where factors leave arcs out, where a projection
        costs as much as an iteration, it is `settled`
    nearer : the next one where the error is this part of what it was
    """

    target: float = 1e-13
    enough: float = 1e-9
    settled: float = 1e-11
    patience: int = 15
    progress: float = 0.5
    floor: float = 1e-14
    utility_floor: float = 1e-13
    lag: float = 1e-4
    max_iterations: int = 200
    max_rows: int = 6000
    max_resources: int = 64
    back: float = 0.9999
    careful: float = 0.99
    far: float = 0.1
    worse: float = 10.0
    guards: tuple[float, ...] = (1e-16, 1e-14, 1e-12, 1e-10)
    close: float = 1e-3
    harmless: float = 1e-3
    refinements: int = 4
    steps: int = 100
    coarse: float = 5e-3
    couples: float = 0.2
    lacking: float = 3e-2
    rough_corrections: int = 5
    inside: float = 0.2
    apart: float = 1e-3
    away: float = 0.1
    moves: int = 6
    filled: float = 0.7
    centring: float = 0.3
    parts: tuple[float, ...] = (1.0, 0.75, 0.5, 0.25, 0.0)
    corrections: int = 6
    worthwhile: float = 40.0
    long: float = 0.9
    reach: float = 1.5
    beyond: float = 0.2
    outlier: float = 10.0
    gain: float = 0.02
    near: float = 1e-7
    nearer: float = 0.3

    def waits(self, least: float) -> int:
        """How many iterations without a smaller error than this one are waited for."""
        if least <= self.settled:
            return 2
        if least <= self.enough:
            return self.patience // 3
        return self.patience if least <= self.close else 3 * self.patience


class Residuals(NamedTuple):
    """What the equations of rows, users, limits, arcs and g lack."""

    rows: Floats
    users: Floats
    limits: Floats
    arcs: Floats
    g: float


@dataclass(frozen=True)
class PrimalDual:
    """(x, s, t, r), (d, p, y, z) and g, which is 0 where no user is raised; or a step between such points."""

    primal: Floats
    dual: Floats
    g: float

    def after(self, step: "PrimalDual", primal: float, dual: float) -> "PrimalDual":
        """The point that far along a step.

        Parameters
        ----------
        step : of primal, dual and g
        primal, dual : step lengths in [0, 1]
        """
        return PrimalDual(self.primal + primal * step.primal, self.dual + dual * step.dual, self.g + primal * step.g)


NOTHING = Residuals(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1), 0.0)
