r"""The arrow: the linear algebra and the iteration that the interior-point methods of max_min.py and alpha_fair.py share.

Both programs have tasks x_a on arcs in the users' units, t_n for the utility of user n, and on the right the dual variables:

    load x + s = 1                                                    p >= 0      a full row has p free and no s
    owner x - t = raised g + level                                    y >= 0      y free for users without a t
    owner x + r = limit          where there is one                   z >= 0
    x, s, t, r >= 0                                                   d = load^T p - owner^T (y - z) >= 0

1. Compute the residuals of these equations.
2. Factorise the arrow below at the present point, between the first iterations and the last ones without the arcs that carry
   and cost too little to matter (reduction.py).
3. Predictor: the Newton step towards x d = s p = r z = 0 and towards what y and t are to satisfy; for max-min, t y = 0 and
   sum of raised y = 1.
4. Where the predictor would lead sets mu; corrector: the same system for x d = s p = r z = mu and the terms of second order
   (Mehrotra 1992).
5. Where that step is short, further correctors, as many as their price is worth, which move the products that would be far from
   mu (Gondzio 1996; steps.py). They are solved roughly; one refined solve then fills what the equations still lack.
6. Go `back` of the way to the boundary, primal and dual each, far from the answer `careful` of it; where the error there becomes
   `worse` times as large, go along the predictor alone. End where the error no longer decreases, otherwise go to 1.

The unknowns on arcs, dx = c / d - theta dd with theta = x / d, leave a system in p and l = y - z, an arrow with diagonal shaft:

    [ P + S    -B   ] [dp]         P = load diag(theta) load^T    K blocks R x R
    [ -B^T   D + E  ] [dl] = ...   B = load diag(theta) owner^T   K R x N, the coupling
                                   D = owner diag(theta) owner^T  diagonal

(S = s / p; E = -dt / dy where there is no limit) and, where users are raised, one border for g: b = raised in the users' rows,
c where limits count. One side is eliminated, and the Cholesky factor of the rest is all the linear algebra there is (schur.py).

**The last digits.** Near the answer theta spans the inverse of mu, up to 1e28, and plain formulas stop at a gap of 1e-7. So

- the blocks of P - B (D + E)^-1 B^T are summed from theta_a (D + E - theta_a) / (D + E), the bracket without cancellation;
- dd follows from dp and dl, and the dual point stays feasible to rounding, but for one arc of each user, the `pivot` with the
  largest theta: its dd is lost in rounding, its flow is what the user's other arcs leave, and its dd follows from that;
- without its border the arrow is singular at the answer, where load^T p = owner^T y on all arcs in use. So rho times the border's
  row is added to the users' rows, which changes no solution: the matrix then has rho b b^T in the place of D + E, rho = 1 / (b^T
  (D + E)^-1 b), a matrix of rank one once the users are eliminated;
- solves are refined once, with the matrices that were not eliminated, and mu is not pushed below what residuals can follow;
- the last step of max-min fairness is a projection (optimal_face.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.iterates import NOTHING, InteriorPointOptions, PrimalDual, Residuals
from fairalloc.solvers.interior_point.loads import Loads, loads_of, restricted
from fairalloc.solvers.interior_point.reduction import BLOCKED, ENOUGH, FOLLOWING, KeptArcs
from fairalloc.solvers.interior_point.schur import (
    NEGLIGIBLE,
    Arrowhead,
    Plan,
    factorised,
    most_rows,
    multiplications,
    plan_for,
    scattered,
)
from fairalloc.solvers.interior_point.steps import Pairs, combined, compact, lengthened, lengths
from fairalloc.solvers.method import Limits
from fairalloc.solvers.start import scaled_down

__all__ = ["NEVER", "Arrow", "ArrowSystem", "Result", "Way"]


NEVER = 1e30
"""Stands for S of a row that is left out: its price stays 0."""


@dataclass(frozen=True)
class Result:
    """Tasks (A,), prices (K, R) in the units of the instance, the smallest error that was met, and the iterations."""

    x: Floats
    prices: Floats
    error: float
    iterations: int


class Way(NamedTuple):
    """How the system of one iterate is solved.

    Attributes
    ----------
    plan : which side is eliminated
    refined : whether solves are refined and the last digits kept; otherwise all is in single precision
    negligible : arcs with a smaller part of what their user's have together couple nothing in the factor
    lacks : what rows may lack after a step; where the factor leaves out arcs, conjugate gradients go on until half of this
    """

    plan: Plan
    refined: bool
    negligible: float
    lacks: float = np.inf

    @property
    def loose(self) -> bool:
        """Whether the factor leaves out arcs that count, so that it is a preconditioner."""
        return self.negligible > NEGLIGIBLE


class Response(NamedTuple):
    """dp, dl, load^T dp - owner^T dl, theta times that, which is the flow away from each arc, and dg."""

    p: Floats
    l: Floats  # noqa: E741 (the letter above)
    reduced: Floats
    flow: Floats
    g: float

    def plus(self, other: "Response", times: float) -> "Response":
        """The sum with a multiple of another one."""
        p, l, reduced, flow = (one + times * two for one, two in zip(self[:4], other[:4], strict=True))  # noqa: E741
        return Response(p, l, reduced, flow, self.g + times * other.g)


class ArrowSystem:
    """The arrow of one iterate, one side eliminated and the other factorised; LinAlgError where it cannot be.

    Attributes
    ----------
    ratio : x / d, s / p, -dt / dy and r / z; `theta` and `s` are its parts on arcs and rows
    t, v : (N,) -dt / dy and z / r;  f = 1 / (1 + t v), so that E = t f
    b, c : (N,) and a number, the border: b dl + c dg is what the equation of g lacks; 0 where no user is raised
    share, along, bent : (D + E)^-1 b, (K R,) B (D + E)^-1 b and b^T (D + E)^-1 b
    rho, left : rho or 0, and 1 / (1 + rho bent), which is 1/2 or 1
    column, priced : (K R,) dp for a unit of g in the users' rows, of the matrix with rho b b^T; (A,) load^T of it
    pivot : (N,) the arc of each user with the largest theta; its dd is lost in rounding, so its flow is what the others leave
    """

    def __init__(self, arrow: "Arrow", now: PrimalDual, way: Way) -> None:
        self.arrow, self.way = arrow, way
        self.ratio = arrow.ratio(now)
        self.theta, self.s, self.t, r = arrow.split(self.ratio)
        self.s = np.where(arrow.left_out, NEVER, self.s)
        self.v = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)
        self.b = arrow.raised * self.f
        self.c = float(self.b @ self.v)
        self._factorise()
        self.column = self.inverse(self.left * self.along)
        self.priced = arrow.loads.priced(self.column)
        self.reach = self._collected(self.priced, self.b) * (1.0 - self.rho * self.c) + self.c

    def _factorise(self) -> None:
        loads, theta = self.arrow.loads, self.theta
        e = self.t * self.f
        self.shaft = loads.totals(theta) + e
        shaft = loads.of_users(self.shaft)
        others, part = self._others(e, shaft) if self.way.refined else shaft - theta, theta / shaft
        one, two = loads.twins
        guards = self.arrow.options.guards[0 if self.arrow.plain else 1 :]
        self.share = self.b / self.shaft
        self.bent = float(self.b @ self.share)
        self.rho = 1.0 / self.bent if self.bent > 0 and self.way.plan != "sparse equations" else 0.0
        self.left = 0.5 if self.rho else 1.0
        self.along = loads.rows(theta * loads.of_users(self.share))
        own, between = part * others, -part[one] * theta[two]
        most, negligible = self.arrow.dense_rows, self.way.negligible
        border = self.rho, self.b, self.along
        head = Arrowhead(theta, self.shaft, own, between, self.s, *border, guards, not self.way.refined, negligible, most)
        self.inverse = factorised(loads, head, self.way.plan)

    def _others(self, e: Floats, shaft: Floats) -> Floats:
        """(A,) the shaft without the arc itself, for the largest theta of each user without cancellation; sets the pivots."""
        loads, theta = self.arrow.loads, self.theta
        most = loads.of_users(loads.most(theta))
        largest = np.flatnonzero(theta == most)
        user = loads.user[largest]
        small = theta.copy()
        small[largest] = 0.0
        equal = np.bincount(user, minlength=len(e)) - 1
        self.pivot = largest[np.searchsorted(user, np.arange(len(e)))]
        others: Floats = shaft - theta
        others[largest] = (loads.totals(small) + e)[user] + equal[user] * most[largest]
        return others

    def _prices(self, rows: Floats, users: Floats, moved: Floats | float) -> tuple[Floats, Floats]:
        """Dp of the matrix with rho b b^T, and load^T dp; what is `moved` on arcs adds to the rows."""
        loads = self.arrow.loads
        l = users / self.shaft  # noqa: E741
        l -= 0.5 * self.rho * float(self.b @ l) * self.share  # noqa: E741 (Sherman and Morrison; 1 + rho b^T (D + E)^-1 b = 2)
        p = self.inverse(rows + loads.rows(self.theta * loads.of_users(l) + moved))
        return p, loads.priced(p)

    def _collected(self, priced: Floats, users: Floats) -> float:
        """B dl of the same matrix."""
        return self.left * float(self.share @ (users + self.arrow.loads.totals(self.theta * priced)))

    def _solve(self, rows: Floats, users: Floats, h: float, moved: Floats | float = 0.0) -> Response:
        loads, theta, g = self.arrow.loads, self.theta, 0.0
        with_border = users + self.rho * h * self.b
        p, priced = self._prices(rows, with_border, moved)
        if self.reach:
            g = (h - self._collected(priced, with_border)) / self.reach
            part = g * (1.0 - self.rho * self.c)
            p, priced = p + part * self.column, priced + part * self.priced
        return self._response(p, priced, loads.totals(theta * priced), users, g)

    def _response(self, p: Floats, priced: Floats, pushed: Floats, users: Floats, g: float) -> Response:
        """What follows from dp and dg; `priced` is load^T dp and `pushed` (N,) owner theta times that."""
        loads, users = self.arrow.loads, users + g * self.b
        l = (users + pushed) / self.shaft  # noqa: E741 (the letter above)
        reduced = priced - loads.of_users(l)
        flow = self.theta * reduced
        if self.way.refined:
            flow[self.pivot] = 0.0
            flow[self.pivot] = self.t * self.f * l - users - loads.totals(flow)
        return Response(p, l, reduced, flow, g)

    def solve(self, rows: Floats, users: Floats, h: float) -> Response:
        """The response to a right-hand side, refined once where digits count, and then by conjugate gradients.

        The factor is what preconditions: a step of them does in the few directions that the guard made too stiff what a step of
        refinement does in the others.

        Parameters
        ----------
        rows, users : (K R,), (N,)
        h : of the equation of g
        """
        if self.way.loose:
            return self._solve_by_gradients(rows, users, h)
        answer, nothing = self._solve(rows, users, h), np.zeros(len(users))
        short = h - float(self.b @ answer.l) - self.c * answer.g
        answer = answer.plus(self._solve(rows - self._rows(answer), nothing, short), 1.0)
        if not self.way.refined:
            return answer
        lack, least = rows - self._rows(answer), np.abs(rows).max() * self.arrow.options.target
        direction, before = answer, np.inf
        for _ in range(self.arrow.options.refinements):
            if not np.abs(lack).max() > least:
                break
            towards = self._solve(lack, nothing, 0.0)
            size = float(lack @ towards.p)
            direction = towards.plus(direction, size / before)
            change = self._rows(direction)
            bent = float(direction.p @ change)
            better = lack - size / bent * change if size > 0 and bent > 0 else lack
            if not np.abs(better).max() < np.abs(lack).max():
                break
            answer, lack, before = answer.plus(direction, size / bent), better, size
        return answer

    def _solve_by_gradients(self, rows: Floats, users: Floats, h: float) -> Response:
        """The same where the factor leaves arcs out: steps in dp, dl and dg eliminated, until rows lack no more than they may.

        In all unknowns a step took twice as long.
        """
        nothing, p = np.zeros(len(users)), np.zeros(len(rows))
        lack, direction, before = rows - self._rows(self._after(p, users, h)), p, np.inf
        for _ in range(self.arrow.options.steps):
            if not np.abs(lack).max() > 0.5 * self.way.lacks:
                break
            towards = self._preconditioned(lack)
            size = float(lack @ towards)
            direction, before = towards + size / before * direction, size
            change = self._rows(self._after(direction, nothing, 0.0))
            bent = float(direction @ change)
            if not (size > 0 and bent > 0):
                break
            p, lack = p + size / bent * direction, lack - size / bent * change
        return self._after(p, users, h)

    def _after(self, p: Floats, users: Floats, h: float) -> Response:
        """What follows from dp where the equations of users and of g hold."""
        loads = self.arrow.loads
        priced = loads.priced(p)
        pushed = loads.totals(self.theta * priced)
        g = (h - float(self.share @ (users + pushed))) / (self.bent + self.c) if self.bent else 0.0
        return self._response(p, priced, pushed, users, g)

    def _preconditioned(self, lack: Floats) -> Floats:
        """Dp from the factor, whose term of rank one is made that of the system without l and g (Sherman and Morrison)."""
        p = self.inverse(lack)
        if not self.rho:
            return p
        column, more = self.column / self.left, 1.0 / (self.bent + self.c) - 0.5 * self.rho
        return p - more * float(self.along @ p) / (1.0 + more * float(self.along @ column)) * column

    def _rows(self, response: Response) -> Floats:
        result: Floats = self.arrow.loads.rows(response.flow) + self.s * response.p
        return result

    def step(self, now: PrimalDual, lack: Residuals, over: Floats, rough: bool = False) -> PrimalDual:
        """The Newton step that fills what the equations lack.

        Parameters
        ----------
        now : the point of which this is the system
        lack : what the equations lack
        over : what the primal numbers change by where the dual ones stay: primal = over - ratio dual
        rough : whether its equations may lack what rounding leaves, because a later step fills that
        """
        arrow, t, v, f = self.arrow, self.t, self.v, self.f
        flow, rows, users, limits = arrow.split(over)
        flow = flow + self.theta * lack.arcs
        short, slack = lack.users + users, limits - lack.limits
        own = f * (short - t * v * slack)
        right, others = np.where(arrow.left_out, 0.0, rows - lack.rows), own - arrow.loads.totals(flow)
        h = lack.g - float(self.b @ (v * (short + slack)))
        filled = self._solve(right, others, h, flow) if rough else self.solve(right + arrow.rows(flow), others, h)
        p, l, reduced, away, g = filled  # noqa: E741
        z = v * (own + f * (arrow.raised * g - t * l) + slack)
        dual = np.concatenate([reduced - lack.arcs, p, l + z, z])
        step = over - self.ratio * dual
        step[: len(away)] = flow - away
        dual[: len(away)] *= arrow.paired[: len(away)]
        if self.way.refined:
            at = self.pivot
            dual[at] = (over[at] - step[at]) * now.dual[at] / now.primal[at]
        return PrimalDual(step, dual, g)


def parts_of(arcs: int, rows: int, users: int) -> list[slice]:
    """Where the numbers on arcs, rows, users and limits are in one array of all.

    Parameters
    ----------
    arcs, rows, users : how many of each; there is a place for the limit of every user
    """
    return [slice(start, end) for start, end in pairwise(np.cumsum([0, arcs, rows, users, users]))]


class Arrow(ABC):
    """A program on one instance, in units of its users.

    Attributes
    ----------
    tasks : (N,) how many make one unit
    limit : (N,) of the users, in their units
    paired : (A + K R + 2 N,) which primal and dual numbers are both positive
    central : the same for those whose product goes to mu
    right : (K R,) of the rows;  left_out : those that are no equations
    single : whether systems are in single precision;  loose : whether their factors leave arcs out
    dense_rows : the most rows that the dense part of a factor may have
    arcs : those that iterations need; None where all are
    few : the program with these alone; None where they are not few enough
    raised : (N,) 1 where g is part of what the user gets;  level : (N,) what else is;  most : (N,) limits where there are
    """

    paired: NDArray[np.bool_]
    central: NDArray[np.bool_]
    right: Floats
    left_out: NDArray[np.bool_]
    raised: Floats
    level: Floats
    most: Floats

    loads: Loads
    plan: Plan
    pairs: Pairs
    single: bool
    loose: bool
    dense_rows: int
    arcs: KeptArcs | None
    few: "Arrow | None"

    def __init__(self, instance: Instance, tasks: Floats) -> None:
        arcs = instance.arcs
        self.instance, self.options, self.tasks = instance, InteriorPointOptions(), tasks
        self.limit = instance.max_tasks / tasks
        self.parts = parts_of(len(arcs), instance.K * instance.R, instance.N)

    def compile(self, options: InteriorPointOptions) -> Self:
        """The loads, which side is eliminated, and how large a matrix may be.

        Parameters
        ----------
        options : with `max_rows`
        """
        self.options, self.loads = options, loads_of(self.instance, self.tasks)
        self.plan, self.dense_rows = plan_for(self.instance, options.max_rows), most_rows(self.instance, options.max_rows)
        return self

    @property
    def corrections(self) -> int:
        """How many correctors may follow Mehrotra's: each costs passes over the arcs and two triangular solves."""
        options = self.options
        if self.loose:
            return options.rough_corrections
        own = 60.0 * len(self.loads) + 2.0 * len(self.right) ** 2
        return int(min(options.corrections, multiplications(self.loads, self.plan) / (options.worthwhile * own)))

    @property
    def plain(self) -> bool:
        """Whether no row is an equation."""
        return bool(self.split(self.paired)[1].all())

    def rows(self, values: Floats) -> Floats:
        """(K R,) load @ values, 0 in rows that are left out."""
        result: Floats = np.where(self.left_out, 0.0, self.loads.rows(values))
        return result

    def reduced(self, p: Floats, l: Floats) -> Floats:  # noqa: E741
        """(A,) load^T p - owner^T l."""
        result: Floats = self.loads.priced(p) - self.loads.of_users(l)
        return result

    def split(self, values: NDArray[Any]) -> list[Any]:
        """The parts on arcs, rows, users and limits."""
        return [values[part] for part in self.parts]

    def mu(self, now: PrimalDual) -> float:
        """The mean of the products that go to mu."""
        return float((now.primal * now.dual) @ self.central) / float(self.central.sum())

    # ---- what the programs differ in --------------------------------------------------------------------------------

    @abstractmethod
    def error(self, now: PrimalDual, lack: Residuals) -> float:
        """How far a point is from the answer, relative; inf where that is no number."""

    @abstractmethod
    def floor(self, now: PrimalDual) -> float:
        """The gap below which mu is not pushed."""

    def ratio(self, now: PrimalDual) -> Floats:
        """X / d, s / p, -dt / dy and r / z."""
        return np.divide(now.primal, now.dual, out=np.zeros_like(now.primal), where=self.paired)

    def towards(self, now: PrimalDual) -> Floats:
        """What the primal numbers of the predictor change by where the dual ones stay."""
        return -now.primal * self.paired

    def second_order(self, now: PrimalDual, affine: PrimalDual, mu: float) -> Floats:
        """The same for what the corrector adds to it.

        Parameters
        ----------
        now : the point
        affine : the step of the predictor
        mu : the products that are wanted
        """
        wanted = (mu - affine.primal * affine.dual) * self.paired
        return np.divide(wanted, now.dual, out=np.zeros_like(wanted), where=self.paired)

    # ---- the start --------------------------------------------------------------------------------------------------

    def near(self, limits: Limits, x: Floats, p: Floats) -> tuple[Floats, Floats, float]:
        """Tasks (A,), prices (K R,) with the sum 1, and how far they are from the boundary: of a warm start, or those given.

        Parameters
        ----------
        limits : with the warm start
        x, p : a start of one's own, strictly inside
        """
        if limits.start is None:
            return x, p, self.options.inside
        apart = self.options.apart
        tasks = scaled_down(self.instance, limits.start) / self.tasks[self.instance.arcs.user]
        prices = p if limits.start_prices is None else np.maximum(limits.start_prices, 0.0).ravel()
        prices = prices if prices.any() else p
        return (1.0 - apart) * tasks + apart * x, (1.0 - apart) * prices / prices.sum() + apart * p, apart

    # ---- the iteration ----------------------------------------------------------------------------------------------

    def iterate(self, start: PrimalDual, limits: Limits, better: Callable[[PrimalDual], None]) -> tuple[PrimalDual, float, int]:
        """The point with the smallest error that was met, the error, and the number of iterations.

        Parameters
        ----------
        start : where to begin
        limits : the deadline, and the `InteriorPointOptions`
        better : gets each point whose error is smaller than those before
        """
        self.options = options = limits.own(InteriorPointOptions)
        self.pairs, self.single = compact(self.paired), self.plain
        self.loose = self.plain and scattered(self.instance)
        self.arcs, self.few = KeptArcs(self.loads) if self.plain else None, None
        now = best = start
        lack = self.residuals(now)
        least = error = self.error(now, lack)
        since, iteration, near = 0, 0, options.settled if self.loose else options.near
        with np.errstate(all="ignore"):  # what overflows is no smaller error
            while least > options.target and iteration < options.max_iterations and not limits.late:
                if since >= options.waits(least):
                    break
                try:
                    now, lack, error = self._next(now, lack, error)
                except np.linalg.LinAlgError:
                    break
                iteration, since = iteration + 1, since + 1
                found, least_here = now, error
                if error <= near:
                    near = options.nearer * error
                    projected, projected_error = self._projected(now, lack)
                    if projected_error < error:
                        found, least_here = projected, projected_error
                if least_here < least:
                    since = since if options.progress * least < least_here <= options.settled else 0
                    best, least = found, least_here
                    better(best)
        return best, least, iteration

    def _projected(self, now: PrimalDual, lack: Residuals) -> tuple[PrimalDual, float]:
        """The projection of a point, and its error; inf where there is none."""
        try:
            point = self.projected(now, lack)
        except np.linalg.LinAlgError:
            return now, np.inf
        return (now, np.inf) if point is None else (point, self.error(point, self.residuals(point)))

    def projected(self, now: PrimalDual, lack: Residuals) -> PrimalDual | None:
        """What `now` becomes where the numbers that vanish at the answer can be told from it; None where a program cannot say.

        Parameters
        ----------
        now : a point near the answer
        lack : what the equations lack there
        """
        del now, lack
        return None

    def residuals(self, now: PrimalDual) -> Residuals:
        """What the equations lack at a point."""
        (x, s, t, r), (d, p, y, z) = self.split(now.primal), self.split(now.dual)
        open_, _, _, capped = self.split(self.paired)
        u = self.loads.totals(x)
        return Residuals(
            rows=np.where(self.left_out, 0.0, self.right - self.loads.rows(x) - s),
            users=self.raised * now.g + self.level + t - u,
            limits=np.where(capped, self.most - u - r, 0.0),
            arcs=np.where(open_, d - self.reduced(p, y - z), 0.0),
            g=1.0 - float(y @ self.raised) if self.raised.any() else 0.0,
        )

    def _next(self, now: PrimalDual, lack: Residuals, error: float) -> tuple[PrimalDual, Residuals, float]:
        """One iteration: the point, what the equations lack there, and its error."""
        found = self._next_by_few(now, error)
        if found is not None:
            return found
        system, affine = self._predicted(now, lack, error)  # 2, 3
        step = self._corrected(system, now, affine)  # 4, 5
        back = self.options.careful if error > self.options.far else self.options.back
        found = self._with_error(now.after(step, *lengths(self.pairs, now, step, back)))  # 6
        if error <= self.options.far or found[2] <= self.options.worse * error:
            return found
        return self._with_error(now.after(affine, *lengths(self.pairs, now, affine, 0.9)))

    def _next_by_few(self, now: PrimalDual, error: float) -> tuple[PrimalDual, Residuals, float] | None:
        """The same by constraint reduction (reduction.py); None where too many arcs are needed, or it leads nowhere."""
        (x, *_), (d, _, y, z), arcs = self.split(now.primal), self.split(now.dual), self.arcs
        if arcs is None:
            return None
        if not ENOUGH < error <= self.options.far:
            arcs.before = d
            return None
        if arcs.choose(x, d, np.abs(y - z), self.split(self.paired)[0]):
            self.few = self._with_arcs(arcs.where) if arcs.are_few else None
        if self.few is None:
            return None
        with suppress(np.linalg.LinAlgError):
            step, ahead = self._reduced(self.few, arcs, now, error)
            found = self._with_error(now.after(step, *lengths(self.pairs, now, step, self.options.back)))
            if min(np.divide(lengths(self.pairs, now, step), ahead)) >= BLOCKED and found[2] <= error:
                return found
        self.arcs = self.few = None
        return None

    def _with_arcs(self, where: NDArray[np.intp]) -> "Arrow":
        """The same program with some of its arcs (places,)."""
        few, end = copy(self), self.parts[0].stop
        few.arcs = few.few = None
        few.loads, few.parts = restricted(self.loads, where), parts_of(len(where), len(self.right), self.instance.N)
        few.paired, few.central = (np.concatenate([mask[where], mask[end:]]) for mask in (self.paired, self.central))
        few.pairs = compact(few.paired)
        return few

    def _reduced(self, few: "Arrow", arcs: KeptArcs, now: PrimalDual, error: float) -> tuple[PrimalDual, tuple[float, float]]:
        """Steps 2 to 4 of reduction.py, and how far the arcs that are kept allow to go, primal and dual."""
        (x, *_), (d, p, y, z), where = self.split(now.primal), self.split(now.dual), arcs.where
        end, count = len(x), len(where)
        primal, dual = (np.concatenate([part[where], part[end:]]) for part in (now.primal, now.dual))
        own = PrimalDual(primal, dual, now.g)
        others, mu = self.paired[:end] & ~arcs.kept, few.mu(own)
        dx = np.where(others, np.minimum(FOLLOWING * mu / np.where(others, d, 1.0), x) - x, 0.0)  # 2
        then = np.where(others, x + dx, 0.0)
        u = self.loads.totals(then)
        few.right, few.level = self.right - self.rows(then), self.level - u
        few.most = np.where(self.split(self.paired)[3], self.most - u, 0.0)
        few.single, few.loose = self.single, self.loose
        system, affine = few._predicted(own, few.residuals(own), error)  # 3
        self.single, self.loose = few.single, few.loose
        step = few._corrected(system, own, affine)
        _, dp, dy, dz = few.split(step.dual)
        dd = np.where(others, self.reduced(p + dp, y + dy - z - dz) - d, 0.0)  # 4
        dx[where], dd[where] = step.primal[:count], step.dual[:count]
        whole = PrimalDual(np.concatenate([dx, step.primal[count:]]), np.concatenate([dd, step.dual[count:]]), step.g)
        return whole, lengths(few.pairs, own, step)

    def _corrected(self, system: ArrowSystem, now: PrimalDual, affine: PrimalDual) -> PrimalDual:
        """The predictor and its correctors; where there may be several they are rough, and a last solve fills what is lacking."""
        options, count, rough = self.options, float(self.central.sum()), self.corrections > 0
        tried = now.after(affine, *lengths(self.pairs, now, affine))
        mu, reached = self.mu(now), self.mu(tried)
        wanted = max(mu * min((reached / mu) ** 3, options.centring), self.floor(now) / count)

        def corrector(over: Floats) -> PrimalDual:
            return system.step(now, NOTHING, over, rough)

        def outlying(tried: PrimalDual) -> PrimalDual:
            products = tried.primal * tried.dual
            change = np.clip(products, wanted / options.outlier, wanted * options.outlier) - products
            change = np.maximum(change, -options.outlier * wanted)
            return corrector(np.divide(change, now.dual, out=np.zeros_like(change), where=self.central))

        step, _ = combined(self.pairs, now, affine, corrector(self.second_order(now, affine, wanted)), options.parts)
        if not rough:
            return step
        step = lengthened(self.pairs, now, step, outlying, self.corrections, options)
        return step.after(system.step(now, self.residuals(now.after(step, 1.0, 1.0)), np.zeros(len(now.primal))), 1.0, 1.0)

    def _with_error(self, point: PrimalDual) -> tuple[PrimalDual, Residuals, float]:
        lack = self.residuals(point)  # 1
        return point, lack, self.error(point, lack)

    def _predicted(self, now: PrimalDual, lack: Residuals, error: float) -> tuple[ArrowSystem, PrimalDual]:
        """The system and the predictor; a cheap way that once leaves rows too far from what they are to be is left for good."""
        self.single = self.single and error > self.options.close
        for way in self._cheap(now, error):
            with suppress(np.linalg.LinAlgError):
                system = ArrowSystem(self, now, way)
                affine = system.step(now, lack, self.towards(now))
                x, s, _, _ = self.split(affine.primal)
                if np.abs(self.loads.rows(x) + s - lack.rows).max() <= way.lacks:
                    return system, affine
        self.loose = self.single = False
        system = ArrowSystem(self, now, self.exact)
        return system, system.step(now, lack, self.towards(now))

    def _cheap(self, now: PrimalDual, error: float) -> list[Way]:
        """Preconditioners that leave out the fewer arcs the smaller the gap is, at last hardly any; or single precision."""
        options = self.options
        if not self.loose:
            return [Way(self.plan, refined=False, negligible=0.0, lacks=options.harmless * error)] if self.single else []
        gap, lacks = min(error, float((now.primal * now.dual) @ self.central)), options.lacking * max(error, options.enough)
        parts = [1.0] * (gap > options.coarse) + [options.couples * gap] * (error > options.enough)
        parts += [NEGLIGIBLE] * (gap <= options.close)
        return [Way("sparse rows", refined=True, negligible=part, lacks=lacks) for part in parts]

    @property
    def exact(self) -> Way:
        """With all digits."""
        plan: Plan = "sparse rows" if self.loose else self.plan
        if plan == "users" and len(self.right) <= self.options.max_rows:
            plan = "rows"
        if plan == "sparse rows" and not self.plain:
            plan = "sparse equations"
        return Way(plan, refined=True, negligible=NEGLIGIBLE)
