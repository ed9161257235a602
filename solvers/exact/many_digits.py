r"""The tasks of nb and alpha-fair to many digits on small instances: an interior-point method in the arithmetic of python-flint.

    max sum_n U_n(u_n),  U_n'(u) = b_n u^-alpha_n,  load x + s = 1,  u = owner x,  u + t = limit, x, s, t >= 0, prices p, z >= 0
    y_n = U_n'(u_n),   d = load^T p + owner^T (z - y) >= 0,   x d = s p = t z = 0

1. Start inside, each arc with a part of what it could run alone and every product the same.
2. Newton in x, s, t, p, z, d and y, with log y_n + alpha_n log u_n = log b_n. Arcs and users are eliminated; what is left is a
   system of size K R. Predictor and corrector are Mehrotra's.
3. Go BACK of the way to the boundary; again from 2, until the products are below DONE.
4. The bound of common/user_error.py on the answer, in ball arithmetic: what is returned is proved.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.user_error import MOST
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.arguments import Whole
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_ball, exact_arcs, point_as_fraction
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Method, Session, Stopped
from fairalloc.solvers.options import AlgorithmOptions

BITS, STEPS, APART = 800, 200, 3000
"""Besides three bits and two steps for each power of 2 by which users are `_apart`, of which at most so many count."""

STALLED = 100
"""Steps in which the products do not fall, after which there are too few bits."""

BACK = 0.95

CURVED = 2
"""A step changes the tasks of a user by at most one part in so many: beyond that log u is no straight line."""

DONE = 1e-36
"""The products at the end, in parts of what the user pays that pays least: its tasks are then known to about 18 digits."""

Balls: TypeAlias = NDArray[Any]
"""Objects: balls of python-flint, some of them Python's 0."""

least_of, largest_of = np.frompyfunc(lambda v, w: v.min(w), 2, 1), np.frompyfunc(lambda v, w: v.max(w), 2, 1)
"""Of two balls, the ball that holds the smaller and the larger number; NumPy's own compare, which overlapping balls cannot."""

mid = np.frompyfunc(lambda v: v.mid(), 1, 1)


class ManyDigits(NamedTuple):
    """(A,) tasks on arcs, (N,) of users, (K R,) prices in parts of what all pay, a bound on users' relative errors."""

    x: Rationals
    tasks: Rationals
    prices: Rationals
    error: float


def many_digits(mechanism: AlphaFair, instance: Instance, limits: Limits) -> ManyDigits | None:
    """The answer on the mechanism's domain to about 18 digits; None where the steps do not lead there, or there is no time."""
    return ManyDigitsSession(mechanism, instance, limits).answer()


def _utilities(mechanism: AlphaFair, instance: Instance) -> tuple[Balls, Balls, Balls]:
    """(N,) alpha, (N,) b_n up to a factor, and (A,) where to start, up to a factor: parts of monopolies, with equal shares."""
    weights, arcs = _balls(instance.exact.weights), exact_arcs(instance)
    start = 1 / _balls([max(part for _, part in load) for load in arcs.load])
    if mechanism.alpha == 1.0:
        return _balls([1] * len(weights)), weights, start
    alpha = _balls([Fraction(a) for a in (mechanism.alphas(instance) * np.ones(instance.N)).tolist()])
    level = weights / _balls(mechanism.exact_share(instance))
    alone = np.add.reduceat(start, instance.arcs.first)
    return alpha, weights * level ** (alpha - 1), start * (level / alone)[list(arcs.user)]


def _apart(mechanism: AlphaFair, instance: Instance) -> int:
    """The powers of 2 between what users pay, or between their shares, from the ratio of weights or of shares of them alone."""
    alpha, levels = mechanism.alphas(instance), instance.weights
    if mechanism.alpha != 1.0:
        levels = mechanism.rate(instance) * np.minimum(instance.arcs.alone, instance.max_tasks)
    return int(min(np.ptp(np.log2(levels)) * max(np.max(alpha), 1.0 / max(np.min(alpha), 1e-300)), APART))


def _balls(values: Sequence[Any]) -> Balls:
    return np.array([as_ball(v) for v in values], dtype=object)


def _matrix(values: Balls) -> Any:
    from flint import arb_mat

    return arb_mat(values.tolist())


class _DigitsProgram:
    """A point and its Newton steps; all numbers are balls whose radii are dropped.

    now, ends : x, s, t, then d, p, z, with which their products are 0 at the answer, then y; and where all but the first begin
    """

    def __init__(self, arcs: ExactArcs, alpha: Balls, b: Balls, start: Balls) -> None:
        self.user, self.alpha = np.array(arcs.user), alpha
        self.first = np.searchsorted(self.user, np.arange(len(alpha)))
        self.limited = np.array([n for n, limit in enumerate(arcs.limits) if limit is not None], dtype=int)
        self.most = _balls([limit for limit in arcs.limits if limit is not None])
        self.load = np.array([_balls(row) for row in arcs.matrix()])
        x = start / (2 * largest_of.reduce(self.load @ start))
        u = self._sums(x)
        inside = _balls([1] * len(u))
        inside[self.limited] = least_of(self.most / (2 * u[self.limited]), 1)
        x = x * inside[self.user]
        u = self._sums(x)
        self.b = b / (b * u ** (1 - alpha)).sum()
        inner = np.concatenate([x, 1 - self.load @ x, self.most - u[self.limited]])
        self.now = np.concatenate([inner, 1 / (len(x) * inner), self.b * u**-alpha])
        self.ends = np.cumsum([len(x), arcs.rows, len(self.limited)] * 2)

    def _sums(self, x: Balls) -> Balls:
        """(N,) sums of (A,) over the arcs of each user; of the last axis."""
        return np.asarray(np.add.reduceat(x, self.first, axis=-1))

    def _of_users(self, values: Balls) -> Balls:
        """(N,) what users with limits have; 0 for others."""
        result = np.zeros(len(self.alpha), dtype=object)
        result[self.limited] = values
        return result

    def mean(self) -> Any:
        """The mean product, with what equations lack."""
        v, w = np.split(self.now[: self.ends[-1]], 2)
        return (v * w).mean().mid()

    def least(self) -> Any:
        """What the user pays that pays least."""
        x, *_, y = np.split(self.now, self.ends)
        return least_of.reduce(y * self._sums(x))

    def step(self) -> None:
        """Steps 2 and 3."""
        v, w, _ = np.split(self.now, self.ends[[2, 5]])
        mean, solve = self.mean(), self._newton()
        affine = solve(-v * w)
        dv, dw, _ = np.split(affine, self.ends[[2, 5]])
        far = self._length(affine)
        after = ((v + far * dv) * (w + far * dw)).mean()
        step = solve(mean * ((after / mean) ** 3).max(1e-6).min(0.5) - v * w - dv * dw)
        u, du = (self._sums(part[: self.ends[0]]) for part in (self.now, step))
        moved = du != 0
        far = least_of.reduce(u[moved] / (CURVED * abs(du[moved])), initial=(BACK * self._length(step)).min(1))
        self.now = mid(self.now + far * step)

    def _length(self, step: Balls) -> Any:
        """How far the step may go before something becomes 0; at most 1 / BACK."""
        falls = step < 0
        return least_of.reduce(-self.now[falls] / step[falls], initial=as_ball(1) / BACK)

    def _newton(self) -> Callable[[Balls], Balls]:
        """The solution of the linear equations, for what each product is to change by."""
        user, limited, load = self.user, self.limited, self.load
        x, s, t, d, p, z, y = np.split(self.now, self.ends)
        u, theta = self._sums(x), x / d
        curve, sums = self.alpha * y / u, self._sums(theta)
        e = curve + self._of_users(z / t)
        part = e / (1 + e * sums)
        scaled = load * theta
        by_user = self._sums(scaled)
        matrix = _matrix(scaled) * _matrix(load.T) - _matrix(by_user * part) * _matrix(by_user.T) + _matrix(np.diag(s / p))
        rho = np.log(self.b / y) - self.alpha * np.log(u)
        lack_d = load.T @ p + (self._of_users(z) - y * (1 + rho))[user] - d
        lack_t, lack_s = self.most - u[limited] - t, 1 - load @ x - s

        def solve(aims: Balls) -> Balls:
            of_x, of_s, of_t = np.split(aims, self.ends[:2])
            rest = (of_t - z * lack_t) / t
            h = of_x / d - theta * (lack_d + self._of_users(rest)[user])
            sums_h = self._sums(h)
            right = load @ (h - theta * (part * sums_h)[user]) - lack_s + of_s / p
            dp = np.array(matrix.solve(_matrix(right[:, None]), algorithm="approx").entries(), dtype=object)
            dcost = load.T @ dp
            du = (sums_h - self._sums(theta * dcost)) / (1 + e * sums)
            dz = rest + z / t * du[limited]
            dx, dd = h - theta * (dcost + (e * du)[user]), lack_d + dcost + (self._of_users(dz) + curve * du)[user]
            return np.concatenate([dx, (of_s - s * dp) / p, lack_t - du[limited], dd, dp, dz, y * rho - curve * du])

        return solve

    def proved(self) -> ManyDigits:
        """Step 4: the bound of errors_of_program (common/user_error.py) for the tasks scaled to be feasible."""
        x, _, _, _, p, _, _ = np.split(self.now, self.ends)
        u, limited = self._sums(x), self.limited
        most = largest_of.reduce(np.concatenate([self.load @ x, u[limited] / self.most]), initial=as_ball(1))
        u = u / most
        q = least_of.reduceat(self.load.T @ p, self.first)
        paid = self.b * u ** (1 - self.alpha)
        unmet = paid - q * u
        room = self.most / u[limited] - 1
        free = (unmet[limited] > 0) & (room * paid[limited] < unmet[limited])
        gap = p.sum() - (q * u).sum() + (room * unmet[limited])[free].sum()
        unmet[limited[free]] = as_ball(0)
        curved = self.alpha * (1 + as_ball(Fraction(MOST))) ** (-self.alpha - 1) * paid
        half = (unmet * unmet / (4 * curved)).sum()
        root = _root(half) + _root(half + gap)
        error = max(float(v.upper()) for v in root / np.sqrt(curved))
        found = (tuple(point_as_fraction(v) for v in mid(values)) for values in (x / most, u, p / paid.sum()))
        exact = dict(zip(("x", "tasks", "prices"), found, strict=True))
        return ManyDigits(**exact, error=error if error <= MOST else float("inf"))


def _root(value: Any) -> Any:
    """The square root of the largest number in the ball."""
    return value.upper().max(0).sqrt()


@dataclass(frozen=True)
class ManyDigitsOptions(AlgorithmOptions):
    """Of the method.

    Attributes
    ----------
    max_arcs : arcs up to which it applies; it takes about 3 ms an arc
    """

    max_arcs: Whole = 100


class ManyDigitsSession(Session):
    """The program of one instance."""

    mechanism: AlphaFair

    def __post_init__(self) -> None:
        from flint import ctx

        self.apart = _apart(self.mechanism, self.instance)
        self.bits = BITS + 3 * self.apart
        with ctx.workprec(self.bits):
            with self.phase("build"):
                arcs = exact_arcs(self.instance)
            with self.phase("compile"):
                self.program = _DigitsProgram(arcs, *_utilities(self.mechanism, self.instance))

    def answer(self) -> ManyDigits | None:
        from flint import ctx

        with ctx.workprec(self.bits), suppress(ZeroDivisionError):
            best, since = self.program.mean(), 0
            for _ in range(STEPS + 2 * self.apart):
                if self.limits.late or since > STALLED:
                    return None
                if self.program.mean() < DONE * self.program.least():
                    return self.program.proved()
                self.program.step()
                best, since = (now, 0) if (now := self.program.mean()) < best else (best, since + 1)
        return None

    def solve(self, round: Round | None) -> tuple[Floats, Floats]:  # noqa: A002, ARG002 (one program)
        """The nearest floats, and the prices in units of the objective, for alpha > 1 of the logarithm of a mean."""
        with self.phase("solve"):
            answer = self.answer()
        if answer is None:
            raise Stopped("time_limit" if self.limits.late else "error", "its steps lead to no answer")
        with self.phase("read"):
            self.x = np.array(answer.x, float)
            prices = np.array(answer.prices, float).reshape(self.instance.K, self.instance.R)
        self.conclude("optimal" if answer.error <= MOST else "inaccurate")
        if self.mechanism.is_mean:
            return self.x, prices
        shares = self.mechanism.rate(self.instance) * (self.instance.arcs.owner @ self.x)
        return self.x, float(self.instance.weights @ shares ** (1.0 - self.mechanism.alphas(self.instance))) * prices


class ManyDigitsMethod(Method):
    """Tasks that are proved, where rounding leaves other methods none: weights many orders of magnitude apart."""

    id = "many-digits"
    kind = "interior-point"
    packages = ("flint",)
    options = ManyDigitsOptions()
    session = ManyDigitsSession
    kinds = (AlphaFair,)
    canonical = False

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        arcs, most = len(mechanism.domain(instance).arcs), self.options.max_arcs
        return "" if arcs <= most else f"{self.id} is for at most {most} arcs, but there are {arcs}"


methods = (ManyDigitsMethod(),)
