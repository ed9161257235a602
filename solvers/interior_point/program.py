r"""The iteration that the interior-point methods of max_min.py and alpha_fair.py share, on the equations of equations.py.

1. Compute the residuals of the equations.
2. Factorise the arrow at the present point (system.py), between the first iterations and the last ones without the arcs that
   carry and cost too little to matter (reduction.py).
3. Predictor: the Newton step towards x d = s p = r z = 0 and towards what y and t are to satisfy; for max-min, t y = 0 and
   sum of raised y = 1.
4. Where the predictor would lead sets mu; corrector: the same system for x d = s p = r z = mu and the terms of second order
   (Mehrotra 1992).
5. Where that step is short and factors are large, further correctors move products that would be far from mu (Gondzio 1996).
   They look at a step longer than the boundary allows: products below mu / 10 are to become mu / 10, those above 10 mu 10 mu,
   but by 10 mu less at most. A corrector that does not lengthen the step is the last. They are solved roughly; one refined
   solve then fills what the equations still lack.
6. Go `back` of the way to the boundary, primal and dual each, far from the answer `careful` of it; where the error there becomes
   `worse` times as large, go along the predictor alone. End where the error no longer decreases, otherwise go to 1.

The last step of max-min fairness is a projection (optimal_face.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.models.feasibility import scaled_down
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.interior_point.equations import ArrowEquations, parts_of
from fairalloc.solvers.interior_point.iterates import ENOUGH, NOTHING, InteriorPointOptions, PrimalDual, Residuals
from fairalloc.solvers.interior_point.reduction import BLOCKED, DIGITS, FEWEST, FOLLOWING, GRID, RISES, WORTHWHILE, KeptArcs
from fairalloc.solvers.interior_point.system import ArrowSystem, Way
from fairalloc.solvers.interior_point.whole import WholeSystem, whole_matrix
from fairalloc.solvers.kkt.loads import ArcLoads, OwnRowLoads, SparseLoads, own_rows, restricted, uses_few
from fairalloc.solvers.kkt.schur import NEGLIGIBLE, Plan, most_rows, plan_for, scattered
from fairalloc.solvers.method import Limits, Session
from fairalloc.solvers.running.listeners import tell

Places: TypeAlias = NDArray[np.intp] | slice

BACK, CAREFUL = 0.9999, 0.99
"""The part of the way to the boundary that a step goes; the second above FAR, where steps after a longer one are short."""

FAR, WORSE = 0.1, 10.0
"""How many times its error a point may have below FAR; else the predictor alone is taken, nine tenths of the way."""

CLOSE, HARMLESS = 1e-3, 1e-3
"""The error below which all is in double precision, and what rows may lack before, as a part of the error: it shortens steps."""

COARSE, COUPLES, LACKING = 5e-3, 0.2, 3e-2
"""The relative gap above which loose factors have no couplings; couplings and errors of rows that they leave, in parts of it."""

PARTS = np.array([1.0, 0.75, 0.5, 0.25, 0.0])
"""The parts of a correction that are tried, the preferred ones first (Colombo and Gondzio 2008)."""

CENTRING, OUTLIER = 0.3, 10.0
"""The most mu is of what it was, as correctors lengthen short steps, and the factor of mu within which they put products."""

CORRECTIONS, COSTLY = 6, 2000
"""The most correctors of step 5; and one for so many multiplications of a dense factorisation for each arc."""

LONG, REACH, BEYOND, GAIN = 0.9, 1.5, 0.2, 0.02
"""Shorter steps get correctors, which look so many times as far and BEYOND; how much longer one makes both steps together."""

INSIDE, APART = 0.2, 1e-3
"""How much less than their cheapest arc costs users pay at a start of one's own, relative; and its part in a warm start."""

NEAR, NEARER = 1e-7, 0.3
"""The error from which on projections onto the face are tried (SETTLED with loose factors), and its part at the next one."""

SETTLED, PROGRESS = 1e-11, 0.5
"""The error from which on a step without PROGRESS does not count as one to a smaller error."""

PATIENCE = (SETTLED, 2), (NEAR, 5), (CLOSE, 15), (np.inf, 45)
"""How many iterations without a smaller error are waited for, by the error up to which so many are."""


def places(mask: NDArray[np.bool_]) -> Places:
    """The places where it is true; a slice where they are the first ones, so that nothing is copied."""
    count = int(np.count_nonzero(mask))
    return slice(count) if mask[:count].all() else np.flatnonzero(mask)


def lengths(pairs: Places, now: PrimalDual, step: PrimalDual, part: float = 1.0) -> tuple[float, float]:
    """How far numbers that are to stay positive go, primal and dual: at most all the step, `part` of the way to the boundary."""

    def length(values: Floats, change: Floats) -> float:
        fastest = -float((change[pairs] / values[pairs]).min())
        return min(1.0, part / fastest) if fastest > 0 else 1.0

    return length(now.primal, step.primal), length(now.dual, step.dual)


def combined(pairs: Places, now: PrimalDual, step: PrimalDual, correction: PrimalDual) -> PrimalDual:
    """The step and the part of the correction with which it can go farthest, primal and dual each."""

    def longest(values: Floats, first: Floats, second: Floats) -> float:
        without, more = first[pairs] / values[pairs], second[pairs] / values[pairs]
        near = np.minimum(without, without + more) < -1.0  # the others bound no step
        without, more = without[near], more[near]
        return float(PARTS[(without + PARTS[:, None] * more).min(axis=1, initial=-1.0).argmax()])

    parts = longest(now.primal, step.primal, correction.primal), longest(now.dual, step.dual, correction.dual)
    return step.after(correction, *parts)


@dataclass(frozen=True)
class Result:
    """Tasks (A,), prices (K, R) in the units of the instance, the smallest error that was met, and the iterations."""

    x: Floats
    prices: Floats
    error: float
    iterations: int


def why_not(method: str, instance: Instance, options: InteriorPointOptions) -> str:
    """Why the kernel does not apply to a domain; else "". The sentence names the method by its id."""
    if options.max_resources < instance.R and not (own_rows(instance) or uses_few(instance)):
        return f"{method} forms blocks for at most {options.max_resources} resources, but there are {instance.R}"
    if plan_for(instance, options.max_rows):
        return ""
    sizes = f"there are {instance.N} users, and {instance.K * instance.R} servers times resources"
    return f"{method} forms a dense system of at most {most_rows(instance, options.max_rows)} rows, but {sizes}"


class ArrowSession(Session):
    """What ends with a `Result`."""

    def concluded(self, result: Result, enough: float) -> tuple[Floats, Floats]:
        """Its tasks and prices; an error above `enough` is "inaccurate", or late."""
        with self.phase("read"):
            self.x = result.x
            self.count(result.iterations)
        self.note(iterations=result.iterations, error=result.error)
        self.conclude("optimal" if result.error <= enough else "time_limit" if self.limits.late else "inaccurate")
        return result.x, result.prices


class ArrowProgram(ArrowEquations, ABC):
    """A program on one instance, and its iteration.

    Systems are in single precision where it is `single`; where it is `loose` their factors leave arcs out; with `whole` nothing
    is eliminated. `arcs` are those that iterations need, `few` the program with these alone; None where all are, or many.
    """

    pairs: Places
    single: bool
    loose: bool
    whole: Floats | None
    arcs: KeptArcs | None
    few: "ArrowProgram | None"

    @abstractmethod
    def error(self, now: PrimalDual, lack: Residuals) -> float:
        """How far a point is from the answer, relative; inf where that is no number."""

    @abstractmethod
    def floor(self, now: PrimalDual) -> float:
        """The gap below which mu is not pushed."""

    def ended(self, before: PrimalDual, now: PrimalDual, error: float, limits: Limits) -> bool:  # noqa: ARG002 (as `projected`)
        """Whether the error, and the iteration from `before` to the best point `now`, say that it is what was promised."""
        return error <= max(self.options.target, self.target)

    def near(self, limits: Limits, x: Floats, p: Floats) -> tuple[Floats, Floats, float]:
        """Tasks (A,), prices (K R,) with the sum 1, and how far inside they are: of a warm start, else the x and p given."""
        if limits.start is None:
            return x, p, INSIDE
        tasks = scaled_down(self.instance, limits.start) / self.tasks[self.instance.arcs.user]
        prices = p if limits.start_prices is None else np.maximum(limits.start_prices, 0.0).ravel()
        prices = prices if prices.any() else p
        return (1.0 - APART) * tasks + APART * x, (1.0 - APART) * prices / prices.sum() + APART * p, APART

    def iterate(self, start: PrimalDual, limits: Limits, better: Callable[[PrimalDual], None]) -> tuple[PrimalDual, float, int]:
        """The point with the smallest error that was met, the error, and the iterations; `better` gets points as they improve."""
        self.options = options = limits.own(InteriorPointOptions)
        self.pairs, self.single = places(self.paired), self.plain
        self.loose = self.plain and scattered(self.instance)
        self.whole = None if self.raised.any() or not self.plain else whole_matrix(self.instance, self.tasks)
        few = not self.plain or len(self.loads) < FEWEST
        self.arcs = None if few or isinstance(self.loads, SparseLoads | OwnRowLoads) else KeptArcs(self.loads)
        self.few = None
        before = now = best = start
        lack = self.residuals(now)
        least = error = self.error(now, lack)
        since, iteration, near = 0, 0, SETTLED if self.loose else NEAR
        with np.errstate(all="ignore"):  # what overflows is no smaller error
            while not (self.ended(before, best, least, limits) or iteration >= options.max_iterations or limits.late):
                if since >= next(count for bound, count in PATIENCE if least <= bound):
                    break
                try:
                    before, (now, lack, error) = now, self._next(now, lack, error)
                except np.linalg.LinAlgError:
                    break
                iteration, since = iteration + 1, since + 1
                tell(iteration=iteration, error=error)
                found, least_here = now, error
                if error <= near:
                    near = NEARER * error
                    point = self.projected(now, lack)
                    if point is not None and (there := self.error(point, self.residuals(point))) < error:
                        found, least_here = point, there
                if least_here < least:
                    since = since if PROGRESS * least < least_here <= SETTLED else 0
                    best, least = found, least_here
                    better(best)
        return best, least, iteration

    def projected(self, now: PrimalDual, lack: Residuals) -> PrimalDual | None:  # noqa: ARG002 (for those that can)
        """What `now` becomes where the numbers that vanish at the answer can be told from it; None where a program cannot say."""
        return None

    def _next(self, now: PrimalDual, lack: Residuals, error: float) -> tuple[PrimalDual, Residuals, float]:
        """One iteration: the point, what the equations lack there, and its error."""
        if (found := self._next_by_few(now, error)) is not None:
            return found
        system, affine = self._predicted(now, lack, error)  # 2, 3
        step = self._corrected(system, now, affine)  # 4, 5
        back = CAREFUL if error > FAR else BACK
        found = self._with_error(now.after(step, *lengths(self.pairs, now, step, back)))  # 6
        if error <= FAR or found[2] <= WORSE * error:
            return found
        return self._with_error(now.after(affine, *lengths(self.pairs, now, affine, 0.9)))

    def _next_by_few(self, now: PrimalDual, error: float) -> tuple[PrimalDual, Residuals, float] | None:
        """The same by constraint reduction (reduction.py); None where too many arcs are needed, or it leads nowhere."""
        if (arcs := self.arcs) is None:
            return None
        (x, *_), (d, _, y, z) = self.split(now.primal), self.split(now.dual)
        if not DIGITS < error <= FAR:
            arcs.before = d
            return None
        if arcs.choose(x, d, np.abs(y - z), self.split(self.paired)[0]):
            most = (WORTHWHILE if isinstance(self.loads, ArcLoads) else GRID) * len(x)
            self.few = self._with_arcs(arcs) if np.count_nonzero(arcs.kept) <= most else None
        if self.few is None:
            return None
        with suppress(np.linalg.LinAlgError):
            step, ahead = self._reduced(self.few, arcs, now, error)
            found = self._with_error(now.after(step, *lengths(self.pairs, now, step, BACK)))
            if min(np.divide(lengths(self.pairs, now, step), ahead)) >= BLOCKED and found[2] <= RISES * error:
                return found
        self.arcs = self.few = None
        return None

    def _with_arcs(self, arcs: KeptArcs) -> "ArrowProgram":
        """The same program with the arcs that are kept."""
        few, end, where = copy(self), self.parts[0].stop, np.flatnonzero(arcs.kept)
        few.arcs = few.few = None
        few.loads, few.parts = restricted(arcs.loads, where), parts_of(len(where), len(self.right), self.instance.N)
        few.paired, few.central = (np.concatenate([mask[where], mask[end:]]) for mask in (self.paired, self.central))
        few.pairs = places(few.paired)
        return few

    def _reduced(
        self, few: "ArrowProgram", arcs: KeptArcs, now: PrimalDual, error: float
    ) -> tuple[PrimalDual, tuple[float, float]]:
        """Steps 2 to 4 of reduction.py, and how far the arcs that are kept allow to go, primal and dual."""
        (x, *_), (d, p, y, z), where = self.split(now.primal), self.split(now.dual), np.flatnonzero(arcs.kept)
        end, count = len(x), len(where)
        primal, dual = (np.concatenate([part[where], part[end:]]) for part in (now.primal, now.dual))
        own = PrimalDual(primal, dual, now.g)
        others, mu = self.paired[:end] & ~arcs.kept, few.mu(own)
        dx = np.where(others, np.minimum(FOLLOWING * mu / np.where(others, d, 1.0), x) - x, 0.0)  # 2
        then = np.where(others, x + dx, 0.0)
        u = self.loads.totals(then)
        few.raised = self.raised
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
        """The predictor with its correctors."""
        count, tried = np.count_nonzero(self.central), now.after(affine, *lengths(self.pairs, now, affine))
        mu, reached = self.mu(now), self.mu(tried)
        wanted = max(mu * min((reached / mu) ** 3, CENTRING), self.floor(now) / count)
        users, rows = self.instance.N, len(self.right)
        most = min(CORRECTIONS, users * rows * min(users, rows) // (COSTLY * len(self.loads))) if self.whole is None else 0

        def corrected(step: PrimalDual, over: Floats) -> PrimalDual:
            return combined(self.pairs, now, step, system.step(now, NOTHING, over, rough=most > 0))

        step = corrected(affine, self.second_order(now, affine, wanted))
        for _ in range(most):  # 5
            ahead = lengths(self.pairs, now, step)
            farther = now.after(step, *(min(1.0, REACH * length + BEYOND) for length in ahead))
            longer = step if min(ahead) > LONG else corrected(step, self._outlying(now, farther, wanted))
            if not sum(lengths(self.pairs, now, longer)) >= sum(ahead) + GAIN:
                break
            step = longer
        if not most:
            return step
        return step.after(system.step(now, self.residuals(now.after(step, 1.0, 1.0)), np.zeros(len(now.primal))), 1.0, 1.0)

    def _outlying(self, now: PrimalDual, farther: PrimalDual, mu: float) -> Floats:
        """What moves the products of a point that are far from mu, for a corrector of step 5."""
        products = farther.primal * farther.dual
        change = np.maximum(np.clip(products, mu / OUTLIER, mu * OUTLIER) - products, -OUTLIER * mu)
        return np.divide(change, now.dual, out=np.zeros_like(change), where=self.central)

    def _with_error(self, point: PrimalDual) -> tuple[PrimalDual, Residuals, float]:
        lack = self.residuals(point)  # 1
        return point, lack, self.error(point, lack)

    def _predicted(self, now: PrimalDual, lack: Residuals, error: float) -> tuple[ArrowSystem, PrimalDual]:
        """The system and the predictor; a cheap way that once leaves rows too far from what they are to be is left for good."""
        self.single = self.single and error > CLOSE
        for way in self._cheap(now, error):
            with suppress(np.linalg.LinAlgError):
                system = ArrowSystem(self, now, way) if self.whole is None else WholeSystem(self, self.whole, now)
                affine = system.step(now, lack, self.towards(now))
                x, s, _, _ = self.split(affine.primal)
                if np.abs(self.loads.rows(x) + s - lack.rows).max() <= way.lacks:
                    return system, affine
        self.loose, self.single, self.whole = False, False, None
        system = ArrowSystem(self, now, self.exact)
        return system, system.step(now, lack, self.towards(now))

    def _cheap(self, now: PrimalDual, error: float) -> list[Way]:
        """Preconditioners that leave out the fewer arcs the smaller the gap is, at last hardly any; single precision; or all."""
        if self.whole is not None:
            return [Way(self.plan, refined=True, negligible=0.0, lacks=HARMLESS * max(error, ENOUGH))]
        if not self.loose:
            return [Way(self.plan, refined=False, negligible=0.0, lacks=HARMLESS * error)] if self.single else []
        gap, lacks = min(error, float((now.primal * now.dual) @ self.central)), LACKING * max(error, ENOUGH)
        parts = [1.0] * (gap > COARSE) + [COUPLES * gap] * (error > ENOUGH)
        parts += [NEGLIGIBLE] * (gap <= CLOSE)
        return [Way("sparse rows", refined=True, negligible=part, lacks=lacks) for part in parts]

    @property
    def exact(self) -> Way:
        """With all digits."""
        plan: Plan = "sparse rows" if self.loose else self.plan
        if plan == "users" and not self.balanced and len(self.right) <= self.options.max_rows:
            plan = "rows"
        if plan == "sparse rows" and not self.plain:
            plan = "sparse equations"
        return Way(plan, refined=True, negligible=NEGLIGIBLE)
