r"""`interior-point`: the rounds of max-min fairness by a primal-dual interior-point method made for their structure.

A round of rule.py in weighted shares: x_a is what arc a adds to the share of its user. On the right the dual variables:

    max  g    s.t.   load x + s = 1                                    p >= 0      a full row has p free and no s
                     owner x - g - t = 0          for active users     y >= 0
                     owner x = level              for fixed users      y free
                     owner x + r = limit          where there is one   z >= 0
    x, s, t, r >= 0                                                    d = load^T p - owner^T (y - z) >= 0,  sum of active y = 1

Mehrotra's predictor-corrector method (1992) takes Newton steps towards x d = s p = t y = r z = mu, with mu falling to 0. The
unknowns on arcs, dx = c / d - theta dd with theta = x / d, leave a system in p and l = y - z, an arrow with diagonal shaft:

    [ P + S    -B   ] [dp]         P = load diag(theta) load^T    K blocks R x R
    [ -B^T   D + E  ] [dl] = ...   B = load diag(theta) owner^T   K R x N, the coupling
                                   D = owner diag(theta) owner^T  diagonal

(S = s / p; E = t / y where there is no limit) with one border for g. Users are eliminated, and the Cholesky factor of a dense
matrix of size K R is all the linear algebra there is.

**The last digits.** Near the answer theta spans the inverse of mu, up to 1e28, and plain formulas stop at a gap of 1e-7. So

- the blocks of P - B (D + E)^-1 B^T are summed from theta_a (D + E - theta_a) / (D + E), the bracket without cancellation;
- dd follows from dp and dl, and the dual point stays feasible to rounding, but for one arc of each user, the `pivot` with the
  largest theta: its dd is lost in rounding, its flow is what the user's other arcs leave, and its dd follows from that;
- solves are refined once, with the matrices that were not eliminated, and mu is not pushed below what residuals can follow.

**What is claimed.** `Result.error` is the largest of the relative duality gap and the residuals of all equations. Where it stays
above `enough` the answer is not used: `highs:leximin` then leaves the round to HiGHS. What an answer proves is for the
rounds to say, by the bound (*) of formulations/lexicographic/rule.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Method, Session
from fairalloc.solvers.options import AlgorithmOptions

__all__ = ["Arrow", "InteriorPointOptions", "Result"]


@dataclass(frozen=True)
class InteriorPointOptions(AlgorithmOptions):
    """Of the iteration; errors are the relative ones of the module's text.

    Attributes
    ----------
    target : the error at which it stops: what floating point can reach, because a user whose price is a ten-thousandth of the
        largest is known to be stuck only to ten thousand times the gap
    enough : the error up to which an answer is used
    patience : iterations without a smaller error after which the best point is taken; 2 once the error is `enough`
    floor : the gap below which mu is not pushed: theta is its inverse, and what is gained in the gap is lost in the residuals
    max_iterations : Newton systems for one round
    max_rows : servers times resources up to which the dense system of that size is formed
    back : the part of the way to the boundary that a step goes
    guard : added to diagonals before they are factorised, relative: redundant equations of a face have no pivot of their own
    close : the error below which solves are refined
    parts : how many parts of the correction are tried (Colombo and Gondzio 2008)
    """

    target: float = 1e-13
    enough: float = 1e-11
    patience: int = 15
    floor: float = 1e-14
    max_iterations: int = 200
    max_rows: int = 4000
    back: float = 0.9999
    guard: float = 1e-14
    close: float = 1e-3
    parts: int = 3


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
    """(x, s, t, r), (d, p, y, z) and g, or a step between such points."""

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
    """Tasks (A,), prices (K, R) in the units of the instance, the error as in the module's text, and the iterations."""

    x: Floats
    prices: Floats
    error: float
    iterations: int


class Response(NamedTuple):
    """(dp, dl), and theta (load^T dp - owner^T dl), the flow away from each arc."""

    p: Floats
    l: Floats  # noqa: E741 (the letter above)
    flow: Floats

    def plus(self, other: "Response", times: float) -> "Response":
        """The sum with a multiple of another one."""
        return Response(self.p + times * other.p, self.l + times * other.l, self.flow + times * other.flow)


NOTHING = Residuals(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1), 0.0)


class ArrowSystem:
    """The arrow of one iterate, users eliminated and the rest factorised; LinAlgError where it cannot be.

    Attributes
    ----------
    ratio : x / d, s / p, t / y and r / z; `theta` and `s` are its parts on arcs and rows
    t, v : (N,) t / y and z / r;  f = 1 / (1 + t v), so that E = t f
    border : the response to a unit of g
    pivot : (N,) the arc of each user with the largest theta; its dd is lost in rounding, so its flow is what the others leave
    """

    def __init__(self, arrow: "Arrow", now: PrimalDual, refined: bool) -> None:
        self.arrow, self.refined = arrow, refined
        self.ratio = np.divide(now.primal, now.dual, out=np.zeros_like(now.primal), where=arrow.paired)
        self.theta, self.s, self.t, r = arrow.split(self.ratio)
        self.s = np.where(arrow.left_out, NEVER, self.s)
        self.v = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)
        self._factorise()
        self.border = self.solve(np.zeros(len(self.s)), arrow.active * self.f)

    def _factorise(self) -> None:
        arrow, theta = self.arrow, self.theta
        user, servers, resources = arrow.instance.arcs.user, arrow.instance.K, arrow.instance.R
        e, total = self.t * self.f, arrow.totals(theta)
        self.shaft = total + e
        most = np.maximum.reduceat(theta, arrow.first)[user]
        largest = np.flatnonzero(theta == most)
        small = np.where(theta < most, theta, 0.0)
        equal = np.bincount(user[largest], minlength=len(e)) - 1
        others = arrow.totals(small)[user] + equal[user] * most + e[user]
        self.pivot = largest[np.searchsorted(user[largest], np.arange(len(e)))]
        part = theta / self.shaft[user]
        one, two = arrow.twins
        weights = np.append(part * np.where(theta == most, others, self.shaft[user] - theta), -part[one] * theta[two])
        blocks = (arrow.to_blocks @ weights).reshape(servers, resources, resources)
        self.coupling = (arrow.to_coupling @ theta).reshape(servers * resources, -1)
        scaled = (self.coupling / np.sqrt(self.shaft)).T
        matrix = dsyrk(-1.0, scaled, trans=1, lower=1)
        here = np.arange(servers)
        matrix.T.reshape(servers, resources, servers, resources)[here, :, here, :] = blocks
        diagonal = np.diag_indices(len(matrix))
        own = matrix[diagonal] * (1.0 + arrow.options.guard) + self.s
        matrix[diagonal] = np.where(own > 0, own, 1.0)  # nothing there: an equation that others imply
        self.factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError

    def _solve(self, rows: Floats, users: Floats) -> Response:
        p, _ = dpotrs(self.factor, rows + self.coupling @ (users / self.shaft), lower=1)
        l = (users + self.coupling.T @ p) / self.shaft  # noqa: E741 (the letter above)
        flow = self.theta * self.arrow.reduced(p, l)
        flow[self.pivot] = 0.0
        flow[self.pivot] = self.t * self.f * l - users - self.arrow.totals(flow)
        return Response(p, l, flow)

    def solve(self, rows: Floats, users: Floats) -> Response:
        """The response to a right-hand side, refined once where digits count."""
        first = self._solve(rows, users)
        if not self.refined:
            return first
        more = self._solve(rows - self.arrow.load @ first.flow - self.s * first.p, np.zeros(len(users)))
        return first.plus(more, 1.0)


class Arrow:
    """The rounds of one instance in weighted shares, measured in `unit`, which is of the order of the level."""

    def __init__(self, mechanism: Leximin, instance: Instance) -> None:
        arcs, rate = instance.arcs, mechanism.rate(instance)
        self.instance, self.options = instance, InteriorPointOptions()
        self.unit = instance.K * instance.R / (cheapest(instance, np.ones(instance.K * instance.R)) / rate).sum()
        self.tasks = self.unit / rate  # that make one unit
        self.load = sp.csr_array(arcs.load @ sp.diags_array(self.tasks[arcs.user]))
        self.transposed = sp.csr_array(self.load.T)
        self.limit = instance.max_tasks / self.tasks
        ends = np.cumsum([0, len(arcs), instance.K * instance.R, instance.N, instance.N])
        self.parts = [slice(start, end) for start, end in pairwise(ends)]
        self.first = np.searchsorted(arcs.user, np.arange(instance.N))
        self.twins = _twins(arcs.user * instance.K + arcs.server)

    def compile(self) -> "Arrow":
        """The linear maps from theta to the entries of B, and from weights of arcs and `twins` to the blocks that are left."""
        arcs, users, resources = self.instance.arcs, self.instance.N, self.instance.R
        load = np.zeros((len(arcs), resources))
        entries = self.load.tocoo()
        load[entries.col, entries.row % resources] = entries.data
        a, r = np.nonzero(load)
        row = arcs.server[a] * resources + r
        size = (self.instance.K * resources * users, len(arcs))
        self.to_coupling = sp.csc_array((load[a, r], (row * users + arcs.user[a], a)), shape=size)
        one, two = np.append(np.tile(np.arange(len(arcs)), (2, 1)), self.twins, axis=1)
        pairs = (load[one, :, None] * load[two, None, :]).reshape(len(one), -1)
        cell = arcs.server[one, None] * resources**2 + np.arange(resources**2)
        where = (cell.ravel(), np.repeat(np.arange(len(one)), resources**2))
        self.to_blocks = sp.csc_array((pairs.ravel(), where), shape=(self.instance.K * resources**2, len(one)))
        return self

    def totals(self, values: Floats) -> Floats:
        """(N,) owner @ values."""
        result: Floats = np.add.reduceat(values, self.first)
        return result

    def reduced(self, p: Floats, l: Floats) -> Floats:  # noqa: E741
        """(A,) load^T p - owner^T l."""
        result: Floats = self.transposed @ p - l[self.instance.arcs.user]
        return result

    def split(self, values: NDArray[Any]) -> list[Any]:
        """The parts on arcs, rows, users and limits."""
        return [values[part] for part in self.parts]

    # ---- one round ------------------------------------------------------------------------------------------------

    def solve(
        self,
        round: Round,  # noqa: A002
        limits: Limits,
        offer: Callable[[Floats, Floats], None] = lambda *_: None,
    ) -> Result:
        """The round's x and prices, at the smallest error that was met.

        Parameters
        ----------
        round : the round
        limits : the deadline, and the `InteriorPointOptions`
        offer : gets tasks (A,) and prices (K, R) whenever the error has become smaller
        """
        self.options = options = limits.own(InteriorPointOptions)
        self._pose(round)
        now = best = self._start(round)
        lack = self._residuals(now)
        least = error = self._error(now, lack)
        since = iteration = 0
        with np.errstate(all="ignore"):  # what overflows is no smaller error
            while least > options.target and iteration < options.max_iterations and not limits.late:
                if since >= (options.patience if least > options.enough else 2):
                    break
                try:
                    now = self._next(now, lack, error)
                except np.linalg.LinAlgError:
                    break
                lack = self._residuals(now)
                error, iteration, since = self._error(now, lack), iteration + 1, since + 1
                if error < least:
                    best, least, since = now, error, 0
                    offer(*self._tasks_and_prices(best))
        return Result(*self._tasks_and_prices(best), least, iteration)

    def _tasks_and_prices(self, point: PrimalDual) -> tuple[Floats, Floats]:
        """(A,) and (K, R) in the units of the instance."""
        x, p = np.maximum(self.split(point.primal)[0], 0.0), self.split(point.dual)[1]
        return x * self.tasks[self.instance.arcs.user], self.unit * p.reshape(self.instance.K, self.instance.R)

    def _pose(self, round: Round) -> None:  # noqa: A002
        """The right-hand sides, and which primal and dual numbers are complementary."""
        self.active = round.active.astype(float)
        self.level = np.where(round.active, 0.0, round.level / self.unit)
        capped = np.isfinite(self.limit) & round.active
        self.paired = np.concatenate([~round.closed, round.at_most, round.active, capped])
        self.pairs = np.flatnonzero(self.paired)
        self.left_out = np.isinf(round.full)
        self.right = np.where(round.at_most, 1.0, np.where(self.left_out, 0.0, round.full))
        self.most = np.where(capped, self.limit, 0.0)

    def _start(self, round: Round) -> PrimalDual:  # noqa: A002
        """Nearly an equal partition, and nearly what uniform prices make a share cost: feasible in a first round."""
        arcs, users = self.instance.arcs, self.instance.N
        there = np.bincount(arcs.server[~round.closed], minlength=self.instance.K)
        x = np.where(round.closed, 0.0, 0.9 * arcs.gamma / np.maximum(there, 1)[arcs.server] / self.tasks[arcs.user])
        x *= np.minimum(1.0, 0.9 * self.limit / self.totals(x))[arcs.user]
        u = self.totals(x)
        g = 0.5 * float(u[round.active].min())
        p = np.where(self.left_out, 0.0, 1.0)
        y = 0.9 * cheapest(self.instance, p, round.closed) * self.tasks
        p, y = p / (y @ self.active), y / (y @ self.active)
        z = np.where(self.split(self.paired)[3], 1e-2 / users, 0.0)
        d = np.maximum(self.reduced(p, y - z), 1e-2 * y.mean())
        primal, dual = np.concatenate([x, 1.0 - self.load @ x, u - g, self.most - u]), np.concatenate([d, p, y, z])
        free = np.concatenate([np.zeros(len(x), bool), ~self.left_out, np.ones(users, bool), np.zeros(users, bool)])
        return PrimalDual(np.where(self.paired, primal, 0.0), np.where(self.paired | free, dual, 0.0), g)

    def _residuals(self, now: PrimalDual) -> Residuals:
        (x, s, t, r), (d, p, y, z) = self.split(now.primal), self.split(now.dual)
        open_, _, _, capped = self.split(self.paired)
        u = self.totals(x)
        return Residuals(
            rows=np.where(self.left_out, 0.0, self.right - self.load @ x - s),
            users=self.active * now.g + self.level + t - u,
            limits=np.where(capped, self.most - u - r, 0.0),
            arcs=np.where(open_, d - self.reduced(p, y - z), 0.0),
            g=1.0 - float(y @ self.active),
        )

    def _error(self, now: PrimalDual, lack: Residuals) -> float:
        """The largest of the relative gap and the residuals; nan counts as inf."""
        _, p, y, z = self.split(now.dual)
        bound = float(p @ self.right + z @ self.most - y @ self.level)
        error = max(abs(bound / now.g - 1.0), *(float(np.abs(part).max()) for part in lack))
        return error if np.isfinite(error) and now.g > 0 else np.inf

    def _next(self, now: PrimalDual, lack: Residuals, error: float) -> PrimalDual:
        """One iteration: where the affine step would lead sets mu, and what it would leave of the products is corrected."""
        newton = ArrowSystem(self, now, refined=error < self.options.close)
        products = now.primal * now.dual * self.paired
        affine = self._step(now, lack, -products, newton)
        ahead = self._lengths(now, affine, 1.0)
        tried = now.after(affine, *ahead)
        size = float(self.paired.sum())
        mu, reached = products.sum() / size, (tried.primal * tried.dual) @ self.paired / size
        wanted = (max(reached**3 / mu**2, self.options.floor * now.g / size) - affine.primal * affine.dual) * self.paired
        correction = self._step(now, NOTHING, wanted, newton)
        step = self._combined(now, affine, correction, least=ahead[0] * ahead[1])
        return now.after(step, *self._lengths(now, step, self.options.back))

    def _step(self, now: PrimalDual, lack: Residuals, wanted: Floats, newton: ArrowSystem) -> PrimalDual:
        """The Newton step that changes the products by `wanted`, to first order, and fills what the equations lack."""
        active, t, v, f = self.active, newton.t, newton.v, newton.f
        over = np.divide(wanted, now.dual, out=np.zeros_like(wanted), where=self.paired)
        flow, rows, users, limits = self.split(over)
        flow = flow + newton.theta * lack.arcs
        short, slack = lack.users + users, limits - lack.limits
        own = f * (short - t * v * slack)
        right = np.where(self.left_out, 0.0, self.load @ flow + rows - lack.rows)
        fixed = newton.solve(right, own - self.totals(flow))
        rest = lack.g - active @ (f * v * (short + slack)) - (active * f) @ fixed.l
        g = float(rest / ((active * f) @ newton.border.l + active @ (f * v)))
        p, l, away = fixed.plus(newton.border, g)  # noqa: E741
        z = v * (own + f * (active * g - t * l) + slack)
        dual = np.concatenate([self.reduced(p, l) - lack.arcs, p, l + z, z])
        step = over - newton.ratio * dual
        step[: len(away)] = flow - away
        dual[: len(away)] *= self.paired[: len(away)]
        at = newton.pivot
        dual[at] = (wanted[at] - now.dual[at] * step[at]) / now.primal[at]
        return PrimalDual(step, dual, g)

    def _combined(self, now: PrimalDual, affine: PrimalDual, correction: PrimalDual, least: float) -> PrimalDual:
        """The affine step and the part of the correction with which one can go farthest, primal and dual each."""
        parts = np.linspace(1.0, least, max(self.options.parts, 1))

        def best(values: Floats, first: Floats, second: Floats) -> float:
            first, second = first[self.pairs] / values[self.pairs], second[self.pairs] / values[self.pairs]
            fastest = [max(1.0, float(-(first + part * second).min())) for part in parts]
            return float(parts[np.argmin(fastest)])

        primal = best(now.primal, affine.primal, correction.primal)
        return affine.after(correction, primal, best(now.dual, affine.dual, correction.dual))

    def _lengths(self, now: PrimalDual, step: PrimalDual, part: float) -> tuple[float, float]:
        """How far to go, primal and dual: at most the whole step, and `part` of the way to the boundary."""

        def length(values: Floats, change: Floats) -> float:
            fastest = float((-change[self.pairs] / values[self.pairs]).max())
            return min(1.0, part / fastest) if fastest > 0 else 1.0

        return length(now.primal, step.primal), length(now.dual, step.dual)


def _twins(place: NDArray[np.intp]) -> NDArray[np.intp]:
    """(2, T) all ordered pairs of different arcs at the same place."""
    order = np.argsort(place, kind="stable")
    pairs = [np.empty((2, 0), np.intp)]
    for apart in range(1, len(place)):
        same = np.flatnonzero(place[order[apart:]] == place[order[:-apart]])
        if not len(same):
            break
        pairs += [np.array([order[same], order[same + apart]]), np.array([order[same + apart], order[same]])]
    return np.concatenate(pairs, axis=1)


class InteriorPointSession(Session):
    """The arrow of one instance, solved for every round anew."""

    def __init__(self, mechanism: Leximin, instance: Instance, limits: Limits) -> None:
        super().__init__(instance, limits)
        with self.phase("build"):
            self.arrow = Arrow(mechanism, instance)
        with self.phase("compile"):
            self.arrow.compile()

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002
        """One round; what stays above `enough` is "inaccurate", or late."""
        with self.phase("solve"):
            now = round or Round.first(self.instance)
            first = now.active.all()  # later rounds start from a worse point than the one that is there
            result = self.arrow.solve(now, self.limits, *([self.offer] if first else []))
        with self.phase("read"):
            self.x = result.x
            self.count(result.iterations)
        self.note(iterations=result.iterations, error=result.error)
        enough = result.error <= self.arrow.options.enough
        self.conclude("optimal" if enough else "time_limit" if self.limits.late else "inaccurate")
        return result.x, result.prices


class InteriorPoint(Method):
    """Max-min fairness, one round or the sequence of them, each on its face; the trace has a round's `iterations` and `error`."""

    id = "interior-point"
    kind = "interior-point"
    anytime = True
    options = InteriorPointOptions()

    def computes(self, mechanism: Mechanism) -> bool:
        """The max-min mechanisms."""
        return isinstance(mechanism, Leximin)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        """Not where the dense system is too large."""
        domain = mechanism.domain(instance)
        rows = domain.K * domain.R
        rule = f"{self.id} forms a dense system of servers times resources, at most {self.options.max_rows}, but there are {rows}"
        return rule if rows > self.options.max_rows else ""

    def open(self, mechanism: Mechanism, instance: Instance, limits: Limits) -> Session:
        """The matrices of the arrow."""
        assert isinstance(mechanism, Leximin)
        return InteriorPointSession(mechanism, instance, limits)


methods = (InteriorPoint(),)
