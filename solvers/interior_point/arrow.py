r"""The arrow: the linear algebra and the iteration that the interior-point methods of max_min.py and alpha_fair.py share.

Both programs have tasks x_a on arcs in the users' units, t_n for the utility of user n, and on the right the dual variables:

    load x + s = 1                                                    p >= 0      a full row has p free and no s
    owner x - t = raised g + level                                    y >= 0      y free for users without a t
    owner x + r = limit          where there is one                   z >= 0
    x, s, t, r >= 0                                                   d = load^T p - owner^T (y - z) >= 0

1. Compute the residuals of these equations.
2. Factorise the arrow below at the present point.
3. Predictor: the Newton step towards x d = s p = r z = 0 and towards what y and t are to satisfy; for max-min, t y = 0 and
   sum of raised y = 1.
4. Where the predictor would lead sets mu; corrector: the same system for x d = s p = r z = mu and the terms of second order
   (Mehrotra 1992).
5. Go `back` of the way to the boundary, primal and dual each, far from the answer `careful` of it; where the error there becomes
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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.loads import Loads, loads_of
from fairalloc.solvers.interior_point.schur import Arrowhead, Plan, factorised, plan_for
from fairalloc.solvers.method import Limits
from fairalloc.solvers.options import AlgorithmOptions
from fairalloc.solvers.start import scaled_down

__all__ = ["Arrow", "ArrowSystem", "InteriorPointOptions", "PrimalDual", "Residuals", "Result"]


@dataclass(frozen=True)
class InteriorPointOptions(AlgorithmOptions):
    """Of the iteration; errors are the relative ones of the module's text.

    Attributes
    ----------
    target : the error at which it stops: what floating point can reach, because a user whose price is a ten-thousandth of the
        largest is known to be stuck only to ten thousand times the gap
    enough : the error up to which an answer is used
    settled : the error from which on the best point is taken after 2 iterations without progress
    patience : iterations without a smaller error after which it is taken before; a third of them once it is `enough`
    progress : the part of the smallest error so far that counts as progress once that is `settled`
    floor : the relative gap below which mu is not pushed: theta is its inverse, and what is gained in the gap is lost in the
        residuals
    utility_floor : the same for nb and fds, whose errors are then below 1e-12; with 1e-14 some were 5e-11
    max_iterations : Newton systems for one round
    max_rows : rows up to which a dense system is formed, of servers times resources or of users
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
    apart : the part of a start of one's own that is mixed into a warm start, which has numbers that are 0
    away : the part of a start of one's own that is mixed into the tasks of the round before
    near : the error from which on projections onto the optimal face are tried
    nearer : the next one where the error is this part of what it was
    parts : how many parts of the correction are tried (Colombo and Gondzio 2008)
    """

    target: float = 1e-13
    enough: float = 1e-9
    settled: float = 1e-11
    patience: int = 15
    progress: float = 0.5
    floor: float = 1e-14
    utility_floor: float = 1e-13
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
    apart: float = 1e-3
    away: float = 0.1
    near: float = 1e-7
    nearer: float = 0.3
    parts: int = 3

    def waits(self, least: float) -> int:
        """How many iterations without a smaller error than this one are waited for."""
        if least <= self.settled:
            return 2
        return self.patience if least > self.enough else self.patience // 3


NEVER = 1e30
"""Stands for S of a row that is left out: its price stays 0."""


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


@dataclass(frozen=True)
class Result:
    """Tasks (A,), prices (K, R) in the units of the instance, the smallest error that was met, and the iterations."""

    x: Floats
    prices: Floats
    error: float
    iterations: int


class Response(NamedTuple):
    """dp, dl, theta (load^T dp - owner^T dl), which is the flow away from each arc, and dg."""

    p: Floats
    l: Floats  # noqa: E741 (the letter above)
    flow: Floats
    g: float

    def plus(self, other: "Response", times: float) -> "Response":
        """The sum with a multiple of another one."""
        return Response(
            self.p + times * other.p, self.l + times * other.l, self.flow + times * other.flow, self.g + times * other.g
        )


NOTHING = Residuals(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1), 0.0)


class ArrowSystem:
    """The arrow of one iterate, one side eliminated and the other factorised; LinAlgError where it cannot be.

    Attributes
    ----------
    ratio : x / d, s / p, -dt / dy and r / z; `theta` and `s` are its parts on arcs and rows
    t, v : (N,) -dt / dy and z / r;  f = 1 / (1 + t v), so that E = t f
    b, c : (N,) and a number, the border: b dl + c dg is what the equation of g lacks; 0 where no user is raised
    column : (K R,) dp for a unit of g in the users' rows, of the matrix with rho b b^T
    pivot : (N,) the arc of each user with the largest theta; its dd is lost in rounding, so its flow is what the others leave
    """

    def __init__(self, arrow: "Arrow", now: PrimalDual, refined: bool) -> None:
        self.arrow, self.refined = arrow, refined
        self.ratio = arrow.ratio(now)
        self.theta, self.s, self.t, r = arrow.split(self.ratio)
        self.s = np.where(arrow.left_out, NEVER, self.s)
        self.v = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)
        self.b = arrow.raised * self.f
        self.c = float(self.b @ self.v)
        self._factorise()
        self.column = self._prices(np.zeros(len(self.s)), self.b)
        self.reach = self._collected(self.column, self.b) * (1.0 - self.rho * self.c) + self.c

    def _factorise(self) -> None:
        loads, theta = self.arrow.loads, self.theta
        e = self.t * self.f
        self.shaft = loads.totals(theta) + e
        shaft = loads.of_users(self.shaft)
        others, part = self._others(e, shaft) if self.refined else shaft - theta, theta / shaft
        one, two = loads.twins
        guards = self.arrow.options.guards[0 if self.arrow.plain else 1 :]
        self.share = self.b / self.shaft
        bent = float(self.b @ self.share)
        self.rho = 1.0 / bent if bent > 0 and self.arrow.plan != "sparse rows" else 0.0
        own, between = part * others, -part[one] * theta[two]
        head = Arrowhead(theta, self.shaft, own, between, self.s, self.rho, self.b, guards, not self.refined)
        exact = self.refined and len(self.s) <= self.arrow.options.max_rows
        self.inverse = factorised(loads, head, "rows" if exact and self.arrow.plan == "users" else self.arrow.plan)

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

    def _prices(self, rows: Floats, users: Floats) -> Floats:
        """Dp of the matrix with rho b b^T."""
        loads, theta = self.arrow.loads, self.theta
        l = users / self.shaft  # noqa: E741
        l -= 0.5 * self.rho * float(self.b @ l) * self.share  # noqa: E741 (Sherman and Morrison; 1 + rho b^T (D + E)^-1 b = 2)
        return self.inverse(rows + loads.rows(theta * loads.of_users(l)))

    def _collected(self, p: Floats, users: Floats) -> float:
        """B dl of the same matrix."""
        loads, theta = self.arrow.loads, self.theta
        return (0.5 if self.rho else 1.0) * float(self.share @ (users + loads.totals(theta * loads.priced(p))))

    def _solve(self, rows: Floats, users: Floats, h: float) -> Response:
        loads, theta, g = self.arrow.loads, self.theta, 0.0
        with_border = users + self.rho * h * self.b
        p = self._prices(rows, with_border)
        if self.reach:
            g = (h - self._collected(p, with_border)) / self.reach
            p = p + g * (1.0 - self.rho * self.c) * self.column
        users = users + g * self.b
        flow = theta * loads.priced(p)
        l = (users + loads.totals(flow)) / self.shaft  # noqa: E741 (the letter above)
        if not self.refined:
            return Response(p, l, flow - theta * loads.of_users(l), g)
        flow = theta * self.arrow.reduced(p, l)
        flow[self.pivot] = 0.0
        flow[self.pivot] = self.t * self.f * l - users - loads.totals(flow)
        return Response(p, l, flow, g)

    def solve(self, rows: Floats, users: Floats, h: float) -> Response:
        """The response to a right-hand side, refined once where digits count, and then by conjugate gradients.

        The factor is what preconditions: a step of them does in the few directions that the guard made too stiff what a step of
        refinement does in the others.

        Parameters
        ----------
        rows, users : (K R,), (N,)
        h : of the equation of g
        """
        answer, nothing = self._solve(rows, users, h), np.zeros(len(users))
        short = h - float(self.b @ answer.l) - self.c * answer.g
        answer = answer.plus(self._solve(rows - self._rows(answer), nothing, short), 1.0)
        if not self.refined:
            return answer
        lack, least = rows - self._rows(answer), np.abs(rows).max() * self.arrow.options.target
        direction, before = answer, np.inf
        for _ in range(self.arrow.options.refinements):
            towards = self._solve(lack, nothing, 0.0)
            size = float(lack @ towards.p)
            direction = towards.plus(direction, size / before)
            change = self._rows(direction)
            bent = float(direction.p @ change)
            better = lack - size / bent * change if size > 0 and bent > 0 else lack
            if not np.abs(better).max() < np.abs(lack).max() > least:
                break
            answer, lack, before = answer.plus(direction, size / bent), better, size
        return answer

    def _rows(self, response: Response) -> Floats:
        result: Floats = self.arrow.loads.rows(response.flow) + self.s * response.p
        return result

    def step(self, now: PrimalDual, lack: Residuals, over: Floats) -> PrimalDual:
        """The Newton step that fills what the equations lack.

        Parameters
        ----------
        now : the point of which this is the system
        lack : what the equations lack
        over : what the primal numbers change by where the dual ones stay: primal = over - ratio dual
        """
        arrow, t, v, f = self.arrow, self.t, self.v, self.f
        flow, rows, users, limits = arrow.split(over)
        flow = flow + self.theta * lack.arcs
        short, slack = lack.users + users, limits - lack.limits
        own = f * (short - t * v * slack)
        right = np.where(arrow.left_out, 0.0, arrow.loads.rows(flow) + rows - lack.rows)
        h = lack.g - float(self.b @ (v * (short + slack)))
        p, l, away, g = self.solve(right, own - arrow.totals(flow), h)  # noqa: E741
        z = v * (own + f * (arrow.raised * g - t * l) + slack)
        dual = np.concatenate([arrow.reduced(p, l) - lack.arcs, p, l + z, z])
        step = over - self.ratio * dual
        step[: len(away)] = flow - away
        dual[: len(away)] *= arrow.paired[: len(away)]
        if self.refined:
            at = self.pivot
            dual[at] = (over[at] - step[at]) * now.dual[at] / now.primal[at]
        return PrimalDual(step, dual, g)


class Arrow(ABC):
    """A program on one instance, in units of its users.

    Attributes
    ----------
    tasks : (N,) how many make one unit
    limit : (N,) of the users, in their units
    paired : (A + K R + 2 N,) which primal and dual numbers are both positive
    central : the same for those whose product goes to mu
    right : (K R,) of the rows;  left_out : those that are no equations
    single : whether systems are in single precision
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
    single: bool

    def __init__(self, instance: Instance, tasks: Floats) -> None:
        arcs = instance.arcs
        self.instance, self.options, self.tasks = instance, InteriorPointOptions(), tasks
        self.limit = instance.max_tasks / tasks
        ends = np.cumsum([0, len(arcs), instance.K * instance.R, instance.N, instance.N])
        self.parts = [slice(start, end) for start, end in pairwise(ends)]

    def compile(self) -> Self:
        """The loads, and which side is eliminated."""
        self.loads = loads_of(self.instance, self.tasks)
        self.plan = plan_for(self.instance, self.options.max_rows)
        return self

    @property
    def plain(self) -> bool:
        """Whether no row is an equation."""
        return bool(self.split(self.paired)[1].all())

    def totals(self, values: Floats) -> Floats:
        """(N,) owner @ values."""
        return self.loads.totals(values)

    def reduced(self, p: Floats, l: Floats) -> Floats:  # noqa: E741
        """(A,) load^T p - owner^T l."""
        result: Floats = self.loads.priced(p) - self.loads.of_users(l)
        return result

    def split(self, values: NDArray[Any]) -> list[Any]:
        """The parts on arcs, rows, users and limits."""
        return [values[part] for part in self.parts]

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
            return x, p, 0.1
        apart = limits.own(InteriorPointOptions).apart
        tasks = scaled_down(self.instance, limits.start) / self.tasks[self.instance.arcs.user]
        prices = p if limits.start_prices is None else np.maximum(limits.start_prices, 0.0).ravel()
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
        self.pairs, self.single = _compact(self.paired), self.plain
        now = best = start
        lack = self.residuals(now)
        least = error = self.error(now, lack)
        since, iteration, near = 0, 0, options.near
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
        u = self.totals(x)
        return Residuals(
            rows=np.where(self.left_out, 0.0, self.right - self.loads.rows(x) - s),
            users=self.raised * now.g + self.level + t - u,
            limits=np.where(capped, self.most - u - r, 0.0),
            arcs=np.where(open_, d - self.reduced(p, y - z), 0.0),
            g=1.0 - float(y @ self.raised) if self.raised.any() else 0.0,
        )

    def _next(self, now: PrimalDual, lack: Residuals, error: float) -> tuple[PrimalDual, Residuals, float]:
        """One iteration: the point, what the equations lack there, and its error."""
        system, affine = self._predicted(now, lack, error)  # 2, 3
        ahead = self._lengths(now, affine, 1.0)
        tried = now.after(affine, *ahead)
        count = float(self.central.sum())
        mu, reached = ((at.primal * at.dual) @ self.central / count for at in (now, tried))
        wanted = max(float(reached**3 / mu**2), self.floor(now) / count)
        correction = system.step(now, NOTHING, self.second_order(now, affine, wanted))  # 4
        step = self._combined(now, affine, correction, least=ahead[0] * ahead[1])
        back = self.options.careful if error > self.options.far else self.options.back
        found = self._with_error(now.after(step, *self._lengths(now, step, back)))  # 5
        if error <= self.options.far or found[2] <= self.options.worse * error:
            return found
        return self._with_error(now.after(affine, *self._lengths(now, affine, 0.9)))

    def _with_error(self, point: PrimalDual) -> tuple[PrimalDual, Residuals, float]:
        lack = self.residuals(point)  # 1
        return point, lack, self.error(point, lack)

    def _predicted(self, now: PrimalDual, lack: Residuals, error: float) -> tuple[ArrowSystem, PrimalDual]:
        """The system and the predictor, in double precision from where single precision has too few digits once."""
        self.single = self.single and error > self.options.close
        if self.single:
            with suppress(np.linalg.LinAlgError):
                system = ArrowSystem(self, now, refined=False)
                affine = system.step(now, lack, self.towards(now))
                x, s, _, _ = self.split(affine.primal)
                if np.abs(self.loads.rows(x) + s - lack.rows).max() <= self.options.harmless * error:
                    return system, affine
            self.single = False
        system = ArrowSystem(self, now, refined=True)
        return system, system.step(now, lack, self.towards(now))

    def _combined(self, now: PrimalDual, affine: PrimalDual, correction: PrimalDual, least: float) -> PrimalDual:
        """The affine step and the part of the correction with which one can go farthest, primal and dual each."""

        def best(values: Floats, first: Floats, second: Floats) -> float:
            values, first, second = values[self.pairs], first[self.pairs], second[self.pairs]
            whole = -(first + second) / values
            if not whole.max() > 1.0:
                return 1.0
            near = np.flatnonzero(whole > 0.1)  # the others bound no step much shorter than the whole one
            first, second = first[near] / values[near], second[near] / values[near]
            parts = np.linspace(1.0, least, self.options.parts)
            return float(parts[np.argmin([max(1.0, float(-(first + part * second).min())) for part in parts])])

        primal = best(now.primal, affine.primal, correction.primal)
        return affine.after(correction, primal, best(now.dual, affine.dual, correction.dual))

    def _lengths(self, now: PrimalDual, step: PrimalDual, part: float) -> tuple[float, float]:
        """How far to go, primal and dual: at most the whole step, and `part` of the way to the boundary."""

        def length(values: Floats, change: Floats) -> float:
            fastest = float((-change[self.pairs] / values[self.pairs]).max())
            return min(1.0, part / fastest) if fastest > 0 else 1.0

        return length(now.primal, step.primal), length(now.dual, step.dual)


def _compact(mask: NDArray[np.bool_]) -> slice | NDArray[np.intp]:
    """The indices of a mask; a slice, whose use copies nothing, where they follow each other."""
    where = np.flatnonzero(mask)
    together = len(where) > 0 and where[-1] - where[0] + 1 == len(where)
    return slice(where[0], where[-1] + 1) if together else where
