r"""The Newton system of one iterate of program.py: the arrow of kkt/schur.py with a border for g, and its refinement.

With theta = x / d on arcs, S = s / p on rows, E = -dt / dy where there is no limit and l = y - z it is symmetric, and where users
are raised it has one border for g: b = raised in the users' rows, c where limits count.

**The last digits.** Near the answer theta spans the inverse of mu, up to 1e28, and plain formulas stop at a gap of 1e-7. So

- the blocks of P - B (D + E)^-1 B^T are summed without cancellation, and the flow of each user's pivot is what its other arcs
  leave (kkt/schur.py); the dd of a pivot follows from its flow, and the dual point stays feasible to rounding;
- without its border the arrow is singular at the answer, where load^T p = owner^T y on all arcs in use. So rho times the border's
  row is added to the users' rows, which changes no solution: the matrix then has rho b b^T in the place of D + E, rho = 1 / (b^T
  (D + E)^-1 b), a matrix of rank one once the users are eliminated;
- solves are refined once, with the matrices that were not eliminated, and mu is not pushed below what residuals can follow.
"""

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.equations import ArrowEquations
from fairalloc.solvers.interior_point.iterates import NOTHING, PrimalDual, Residuals
from fairalloc.solvers.kkt.dominant import Balance
from fairalloc.solvers.kkt.schur import NEGLIGIBLE, Elimination, Plan

GUARDS = (1e-16, 1e-14, 1e-12, 1e-10)
"""Added to diagonals, relative, the least that succeeds: redundant equations have no pivot. With equations without the first."""

REFINEMENTS, GRADIENTS = 4, 100
"""The most refinements of a solve, and the most steps of conjugate gradients in one whose factor leaves arcs out."""

ROUNDING, LEAST_PAID, HARMLESS = 1e-12, 1e-2, 1e-3
"""The part of a cost that is rounding in d, the least part of y that l counts as, and the part of `target` that rows may lack."""

NEVER = 1e30
"""Stands for S of a row that is left out: its price stays 0."""


class Way(NamedTuple):
    """How the system of one iterate is solved: which side is eliminated; not `refined`, all is in single precision.

    Arcs with a smaller part than `negligible` of what their user's have together couple nothing in the factor. Rows may lack
    `lacks` after a step; where the factor leaves out arcs, conjugate gradients go on until half of this.
    """

    plan: Plan
    refined: bool
    negligible: float
    lacks: float = np.inf


class Response(NamedTuple):
    """dp, dl, load^T dp - owner^T dl, theta times that, which is the flow away from each arc, and dg."""

    p: Floats
    l: Floats  # noqa: E741 (the letter above)
    reduced: Floats
    flow: Floats
    g: Any

    def plus(self, other: "Response") -> "Response":
        """The sum with another one."""
        return Response(*(one + two for one, two in zip(self, other, strict=True)))


class ArrowSystem(Elimination):
    """The arrow of one iterate, one side eliminated and the other factorised; LinAlgError where it cannot be.

    ratio : x / d, s / p, -dt / dy and r / z, of which theta and S are the parts on arcs and rows
    t, v : (N,) -dt / dy and z / r;  f = 1 / (1 + t v), so that E = t f
    b, c : (N,) and a number, the border: b dl + c dg is what the equation of g lacks; 0 where no user is raised
    share, along, bent : (D + E)^-1 b, (K R,) B (D + E)^-1 b and b^T (D + E)^-1 b
    rho, left : rho or 0, and 1 / (1 + rho bent), which is 1/2 or 1
    column, priced : (K R,) dp for a unit of g in the users' rows, of the matrix with rho b b^T; (A,) load^T of it
    """

    def __init__(self, program: ArrowEquations, now: PrimalDual, way: Way) -> None:
        self.program, self.way = program, way
        self.ratio = program.ratio(now)
        theta, s, self.t, r = program.split(self.ratio)
        self.v = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        self.f = 1.0 / (1.0 + self.t * self.v)
        self.b = program.raised * self.f
        self.c = program.dot(self.b, self.v)
        super().__init__(program.loads, theta, self.t * self.f, np.where(program.left_out, NEVER, s), way.refined)
        self._factorise_with_border(now)
        if program.raised.any():
            self.column = self.factor.solve(self.left * self.along)
            self.priced = self.loads.priced(self.column)
            self.reach = self._collected(self.priced, self.b) * (1.0 - self.rho * self.c) + self.c
            if not np.all(self.reach):  # limits alone hold g, and rounding leaves nothing of it
                raise np.linalg.LinAlgError

    def _factorise_with_border(self, now: PrimalDual) -> None:
        loads, way = self.loads, self.way
        self.share = self.b / self.shaft
        self.bent = self.program.dot(self.b, self.share)
        self.rho = 1.0 / self.bent if self.bent > 0 and way.plan != "sparse equations" else 0.0
        self.left = 0.5 if self.rho else 1.0
        self.along = loads.rows(self.theta * loads.of_users(self.share))
        guards = GUARDS[0 if self.program.plain else 1 :]
        border = self.rho, self.b, self.along
        for balance in [self._balance(now), None] if way.plan == "users" and self.program.balanced else [None]:
            with suppress(np.linalg.LinAlgError):
                return self.factorise(way.plan, self.program.dense_rows, way.negligible, guards, border, balance)
        raise np.linalg.LinAlgError

    def _balance(self, now: PrimalDual) -> Balance:
        """The prices at hand; what d differs from them by rounding alone is not counted, for theta may be its inverse."""
        (d, p, y, z), loads = self.program.split(now.dual), self.loads
        l, cost = np.maximum(y - z, LEAST_PAID * y), loads.priced(p)  # noqa: E741
        reduced = cost - loads.of_users(l)
        flow = self.theta * np.where(np.abs(d - reduced) <= ROUNDING * cost, d, reduced)
        return Balance(p, l, self.s * p + loads.rows(flow), self.ends * l - loads.totals(flow))

    def _collected(self, priced: Floats, users: Floats) -> Any:
        """B dl of the same matrix."""
        return self.left * self.program.dot(self.share, users + self.loads.totals(self.theta * priced))

    def _solve(self, rows: Floats, users: Floats, h: Any) -> Response:
        """The response by the factor of the matrix with rho b b^T."""
        loads, theta, g = self.loads, self.theta, 0.0
        with_border = users + self.rho * h * self.b
        l = with_border / self.shaft  # noqa: E741
        l -= 0.5 * self.rho * self.program.dot(self.b, l) * self.share  # noqa: E741 (Sherman and Morrison; 1 + rho b^T (D + E)^-1 b = 2)
        p = self.factor.solve(rows + loads.rows(theta * loads.of_users(l)))
        priced = loads.priced(p)
        if self.program.raised.any():
            g = (h - self._collected(priced, with_border)) / self.reach
            part = g * (1.0 - self.rho * self.c)
            p, priced = p + part * self.column, priced + part * self.priced
        return Response(p, *self.follow(priced, loads.totals(theta * priced), users + g * self.b), g)

    def solve(self, rows: Floats, users: Floats, h: float) -> Response:
        """The response to a right-hand side (K R,), (N,), h, refined while rows lack more than rounding."""
        if self.way.negligible > NEGLIGIBLE:  # arcs that count are left out of the factor
            return self._solve_by_gradients(rows, users, h)
        balanced = self.balance is not None
        answer, nothing = (self._solve if balanced else self.refined_once)(rows, users, h), np.zeros(len(users))
        if not self.way.refined:
            return answer
        lack, harmless = rows - self._rows(answer), HARMLESS * self.program.target if balanced else 0.0
        least = max(np.abs(rows).max() * self.program.options.target, harmless)
        for _ in range(REFINEMENTS):
            if not np.abs(lack).max() > least:
                break
            towards = self._solve(lack, nothing, 0.0)
            better = lack - self._rows(towards)
            if not np.abs(better).max() < np.abs(lack).max():
                break
            answer, lack = answer.plus(towards), better
        return answer

    def refined_once(self, rows: Floats, users: Floats, h: Any) -> Response:
        """The response, and that to what rows and the equation of g lack then."""
        answer = self._solve(rows, users, h)
        short = h - self.program.dot(self.b, answer.l) - self.c * answer.g
        return answer.plus(self._solve(rows - self._rows(answer), np.zeros_like(users), short))

    def _solve_by_gradients(self, rows: Floats, users: Floats, h: float) -> Response:
        """The same where the factor leaves arcs out: steps in dp, dl and dg eliminated, until rows lack no more than they may."""
        nothing, p = np.zeros(len(users)), np.zeros(len(rows))
        lack, direction, before = rows - self._rows(self._after(p, users, h)), p, np.inf
        for _ in range(GRADIENTS):
            if not np.abs(lack).max() > 0.5 * self.way.lacks:
                break
            towards = self.factor.solve(lack)
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
        loads = self.loads
        priced = loads.priced(p)
        pushed = loads.totals(self.theta * priced)
        g = (h - self.program.dot(self.share, users + pushed)) / (self.bent + self.c) if self.bent else 0.0
        return Response(p, *self.follow(priced, pushed, users + g * self.b), g)

    def _rows(self, response: Response) -> Floats:
        return self.loads.rows(response.flow) + self.s * response.p

    def step(self, now: PrimalDual, lack: Residuals, over: Floats, rough: bool = False) -> PrimalDual:
        """The Newton step that fills what the equations lack; a `rough` one leaves what rounding does to a later step.

        `over` is what the primal numbers change by where the dual ones stay: primal = over - ratio dual.
        """
        program, t, v, f = self.program, self.t, self.v, self.f
        flow, rows, users, limits = program.split(over)
        if lack is not NOTHING:
            flow = flow + self.theta * lack.arcs
        short, slack = lack.users + users, limits - lack.limits
        own = f * (short - t * v * slack)
        right, others = np.where(program.left_out, 0.0, rows - lack.rows), own - self.loads.totals(flow)
        h = lack.g - program.dot(self.b, v * (short + slack))
        p, l, reduced, away, g = (self._solve if rough else self.solve)(right + program.rows(flow), others, h)  # noqa: E741
        z = v * (own + f * (program.raised * g - t * l) + slack)
        dual, arcs, rest = np.concatenate([reduced, p, l + z, z], axis=-1), program.parts[0], slice(program.parts[0].stop, None)
        if lack is not NOTHING:
            dual[..., arcs] -= lack.arcs
        step = np.empty_like(over)
        np.subtract(flow, away, out=step[..., arcs])
        step[..., rest] = over[..., rest] - self.ratio[..., rest] * dual[..., rest]
        if self.way.refined:
            at = self.pivot
            dual[at] = (over[at] - step[at]) * now.dual[at] / now.primal[at]
        return PrimalDual(step, dual, g)
