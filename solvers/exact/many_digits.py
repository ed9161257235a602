r"""The tasks of nb and alpha-fair to many digits on small instances: an interior-point method in the arithmetic of python-flint.

    max sum_n U_n(u_n),  U_n'(u) = b_n u^-alpha_n,  load x + s = 1,  u = owner x,  u + t = limit, x, s, t >= 0, prices p, z >= 0
    y_n = U_n'(u_n),   d = load^T p + owner^T (z - y) >= 0,   x d = s p = t z = 0

1. Start inside, each arc with a part of what it could run alone and every product the same.
2. Newton in x, s, t, p, z, d and y, with log y_n + alpha_n log u_n = log b_n. Arcs and users are eliminated; what is left is a
   system of size K R. Predictor and corrector are Mehrotra's.
3. Go BACK of the way to the boundary; again from 2, until the products are below DONE.
4. The bound of common/user_error.py on the answer, in ball arithmetic: what is returned is proved.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.common.user_error import MOST
from fairalloc.formulations.lexicographic.linear_program import Round
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_ball, exact_arcs, point_as_fraction
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import Limits, Method, Session, Stopped
from fairalloc.solvers.options import AlgorithmOptions

BITS, STEPS = 640, 200
"""Besides three times those of the ratio of weights, and two steps for each power of 2 in it."""

BACK = 0.95

CURVED = 2
"""A step changes the tasks of a user by at most one part in so many: beyond that log u is no straight line."""

DONE = 1e-36
"""The products at the end, in parts of what the user pays that pays least: its tasks are then known to about 18 digits."""

Balls = list[Any]


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
    """(N,) alpha, (N,) b_n up to a factor, and (A,) where to start, up to a factor: parts of monopolies, or equal shares."""
    weights, arcs = [as_ball(w) for w in instance.exact.weights], exact_arcs(instance)
    if mechanism.alpha == 1.0:
        return [_ball(1)] * len(weights), weights, [1 / as_ball(max(part for _, part in load)) for load in arcs.load]
    alpha, share = mechanism.alphas(instance) * np.ones(instance.N), map(as_ball, mechanism.exact_share(instance))
    level = [w / s for s, w in zip(share, weights, strict=True)]
    of = [_ball(a) for a in alpha.tolist()]
    return of, [w * v ** (a - 1) for w, v, a in zip(weights, level, of, strict=True)], [level[n] for n in arcs.user]


def _ball(value: float) -> Any:
    from flint import arb

    return arb(value)


class _DigitsProgram:
    """A point and its Newton steps; all numbers are balls whose radii are dropped."""

    def __init__(self, arcs: ExactArcs, alpha: Balls, b: Balls, start: Balls) -> None:
        from flint import arb_mat

        self.arcs, self.alpha, size = arcs, alpha, len(arcs.user)
        self.limited = [n for n, limit in enumerate(arcs.limits) if limit is not None]
        self.most = [as_ball(arcs.limits[n]) for n in self.limited]  # type: ignore[arg-type]
        self.load = arb_mat(arcs.rows, size, [0] * (arcs.rows * size))
        self.owner = arb_mat(len(arcs.limits), size, [0] * (len(arcs.limits) * size))
        for a, (n, load) in enumerate(zip(arcs.user, arcs.load, strict=True)):
            self.owner[n, a] = 1
            for row, part in load:
                self.load[row, a] = as_ball(part)
        most = _largest(_times(self.load, start))
        x = [v / (2 * most) for v in start]
        u = self._sums(x)
        inside: Balls = [1] * len(u)
        for n, limit in zip(self.limited, self.most, strict=True):
            inside[n] = (limit / (2 * u[n])).min(1)
        self.x = [v * inside[n] for v, n in zip(x, arcs.user, strict=True)]
        u = self._sums(self.x)
        paid = [f * v ** (1 - a) for f, v, a in zip(b, u, alpha, strict=True)]
        total = sum(paid, _ball(0))
        self.b = [f / total for f in b]
        self.y = [f * v**-a for f, v, a in zip(self.b, u, alpha, strict=True)]
        self.s = [1 - v for v in _times(self.load, self.x)]
        self.t = [most - u[n] for n, most in zip(self.limited, self.most, strict=True)]
        mean = _ball(1) / size
        self.p, self.z, self.d = ([mean / v for v in values] for values in (self.s, self.t, self.x))

    def _sums(self, x: Balls) -> Balls:
        return _times(self.owner, x)

    def mean(self) -> Any:
        """The mean product, with what equations lack."""
        return _mean(v * w for v, w in self._pairs()).mid()

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        """Those whose products are 0 at the answer: x and d, s and p, t and z."""
        return zip([*self.x, *self.s, *self.t], [*self.d, *self.p, *self.z], strict=True)

    def least(self) -> Any:
        """What the user pays that pays least."""
        return reduce(lambda one, other: one.min(other), (y * v for y, v in zip(self.y, self._sums(self.x), strict=True)))

    def step(self) -> None:
        """Steps 2 and 3."""
        mean, solve, pairs = self.mean(), self._newton(), list(self._pairs())
        affine = solve([-v * w for v, w in pairs])
        far = self._length(affine)
        changes = list(zip([*affine["x"], *affine["s"], *affine["t"]], [*affine["d"], *affine["p"], *affine["z"]], strict=True))
        after = _mean((v + far * dv) * (w + far * dw) for (v, w), (dv, dw) in zip(pairs, changes, strict=True))
        target = mean * ((after / mean) ** 3).max(_ball(1e-6)).min(_ball(0.5))
        step = solve([target - v * w - dv * dw for (v, w), (dv, dw) in zip(pairs, changes, strict=True)])
        far = (BACK * self._length(step)).min(_ball(1))
        for v, dv in zip(self._sums(self.x), self._sums(step["x"]), strict=True):
            far = far.min(v / (CURVED * abs(dv))) if dv != 0 else far
        for name, change in step.items():
            setattr(self, name, [(v + far * dv).mid() for v, dv in zip(getattr(self, name), change, strict=True)])

    def _length(self, step: dict[str, Balls]) -> Any:
        """How far the step may go before something becomes 0; at most 1 / BACK."""
        most = _ball(1) / BACK
        for name, change in step.items():
            for v, dv in zip(getattr(self, name), change, strict=True):
                if dv < 0:
                    most = most.min(-v / dv)
        return most

    def _newton(self) -> Callable[[Balls], dict[str, Balls]]:
        """The solution of the linear equations, for what each product is to change by."""
        from flint import arb_mat

        user, limited, load = self.arcs.user, self.limited, self.load
        u = self._sums(self.x)
        of = {n: k for k, n in enumerate(limited)}
        theta = [v / w for v, w in zip(self.x, self.d, strict=True)]
        curve = [a * y / v for a, y, v in zip(self.alpha, self.y, u, strict=True)]
        e = [c + (self.z[of[n]] / self.t[of[n]] if n in of else 0) for n, c in enumerate(curve)]
        sums = self._sums(theta)
        part = [v / (1 + v * w) for v, w in zip(e, sums, strict=True)]
        by_user = _scaled(load, theta) * self.owner.transpose()
        matrix = _scaled(load, theta) * load.transpose() - _scaled(by_user, part) * by_user.transpose()
        for j, (s, p) in enumerate(zip(self.s, self.p, strict=True)):
            matrix[j, j] += s / p
        cost = _times(load.transpose(), self.p)
        rho = [(f / y).log() - a * v.log() for f, y, v, a in zip(self.b, self.y, u, self.alpha, strict=True)]
        z = [self.z[of[n]] if n in of else 0 for n in range(len(u))]
        lack_d = [c + z[n] - self.y[n] * (1 + rho[n]) - d for c, n, d in zip(cost, user, self.d, strict=True)]
        lack_t = [most - u[n] - t for n, most, t in zip(limited, self.most, self.t, strict=True)]
        lack_s = [1 - v - s for v, s in zip(_times(load, self.x), self.s, strict=True)]

        def solve(aims: Balls) -> dict[str, Balls]:
            of_x, of_s, of_t = aims[: len(user)], aims[len(user) : len(user) + len(self.s)], aims[len(user) + len(self.s) :]
            rest = [(v - w * r) / t for v, w, r, t in zip(of_t, self.z, lack_t, self.t, strict=True)]
            h = [
                v / d - f * (r + (rest[of[n]] if n in of else 0))
                for v, d, f, r, n in zip(of_x, self.d, theta, lack_d, user, strict=True)
            ]
            sums_h = self._sums(h)
            less = [v - part[n] * f * sums_h[n] for v, f, n in zip(h, theta, user, strict=True)]
            right = [v - r + w / p for v, r, w, p in zip(_times(load, less), lack_s, of_s, self.p, strict=True)]
            dp = _list(matrix.solve(arb_mat(len(right), 1, right), algorithm="approx"))
            dcost = _times(load.transpose(), dp)
            spent = self._sums([f * c for f, c in zip(theta, dcost, strict=True)])
            du = [(v - w) / (1 + f * g) for v, w, f, g in zip(sums_h, spent, sums, e, strict=True)]
            dz = [r + w / t * du[n] for r, w, t, n in zip(rest, self.z, self.t, limited, strict=True)]
            return {
                "x": [v - f * (c + e[n] * du[n]) for v, f, c, n in zip(h, theta, dcost, user, strict=True)],
                "d": [
                    r + c + (dz[of[n]] if n in of else 0) + curve[n] * du[n] for r, c, n in zip(lack_d, dcost, user, strict=True)
                ],
                "s": [(v - s * w) / p for v, s, w, p in zip(of_s, self.s, dp, self.p, strict=True)],
                "p": dp,
                "t": [r - du[n] for r, n in zip(lack_t, limited, strict=True)],
                "z": dz,
                "y": [y * r - c * v for y, r, c, v in zip(self.y, rho, curve, du, strict=True)],
            }

        return solve

    def proved(self) -> ManyDigits:
        """Step 4: the bound of errors_of_program (common/user_error.py) for the tasks scaled to be feasible."""
        u = self._sums(self.x)
        parts = [u[n] / limit for n, limit in zip(self.limited, self.most, strict=True)]
        most = _largest([*_times(self.load, self.x), *parts, _ball(1)])
        u = [v / most for v in u]
        q: Balls = [None] * len(u)
        for cost, n in zip(_times(self.load.transpose(), self.p), self.arcs.user, strict=True):
            q[n] = cost if q[n] is None else q[n].min(cost)
        paid = [b * v ** (1 - a) for b, v, a in zip(self.b, u, self.alpha, strict=True)]
        unmet = [y - c * v for y, c, v in zip(paid, q, u, strict=True)]
        gap = sum(self.p, _ball(0)) - sum((c * v for c, v in zip(q, u, strict=True)), _ball(0))
        for n, limit in zip(self.limited, self.most, strict=True):
            room = limit / u[n] - 1
            if unmet[n] > 0 and room * paid[n] < unmet[n]:
                gap, unmet[n] = gap + room * unmet[n], _ball(0)
        curved = [a * (1 + _ball(MOST)) ** (-a - 1) * y for a, y in zip(self.alpha, paid, strict=True)]
        half = sum((a * a / (4 * c) for a, c in zip(unmet, curved, strict=True)), _ball(0))
        root = _root(half) + _root(half + gap)
        error = max(float((root / c.sqrt()).upper()) for c in curved)
        total = sum(paid, _ball(0))
        exact = ([v / most for v in self.x], u, [p / total for p in self.p])
        x, tasks, prices = (tuple(point_as_fraction(v.mid()) for v in values) for values in exact)
        return ManyDigits(x, tasks, prices, error if error <= MOST else float("inf"))


def _largest(values: Balls) -> Any:
    return reduce(lambda one, other: one.max(other), values)


def _root(value: Any) -> Any:
    """The square root of the largest number in the ball."""
    return value.upper().max(_ball(0)).sqrt()


def _mean(values: Iterable[Any]) -> Any:
    found = list(values)
    return sum(found, _ball(0)) / len(found)


def _scaled(matrix: Any, columns: Balls) -> Any:
    from flint import arb_mat

    rows = matrix.nrows()
    values = [v * c if v else v for row in matrix.tolist() for v, c in zip(row, columns, strict=True)]
    return arb_mat(rows, len(columns), values)


def _times(matrix: Any, vector: Balls) -> Balls:
    from flint import arb_mat

    return _list(matrix * arb_mat(len(vector), 1, vector))


def _list(column: Any) -> Balls:
    return list(column.entries())


@dataclass(frozen=True)
class ManyDigitsOptions(AlgorithmOptions):
    """Of the method.

    Attributes
    ----------
    max_arcs : arcs up to which it applies; it takes about 3 ms an arc, and a second at 100
    """

    max_arcs: int = 100


class ManyDigitsSession(Session):
    """The program of one instance."""

    mechanism: AlphaFair

    def __post_init__(self) -> None:
        from flint import ctx

        weights = self.instance.exact.weights
        self.apart = int(max(weights) / min(weights)).bit_length()
        self.bits = BITS + 3 * self.apart
        with ctx.workprec(self.bits):
            with self.phase("build"):
                arcs = exact_arcs(self.instance)
            with self.phase("compile"):
                self.program = _DigitsProgram(arcs, *_utilities(self.mechanism, self.instance))

    def answer(self) -> ManyDigits | None:
        """What `many_digits` returns."""
        from flint import ctx

        with ctx.workprec(self.bits):
            for _ in range(STEPS + 2 * self.apart):
                if self.limits.late:
                    return None
                if self.program.mean() < DONE * self.program.least():
                    return self.program.proved()
                try:
                    self.program.step()
                except ZeroDivisionError:
                    return None
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
        return self.x, self._paid(self.instance.arcs.owner @ self.x) * prices

    def _paid(self, tasks: Floats) -> float:
        """The sum of all users' marginal utilities times their tasks."""
        item, weights = self.mechanism, self.instance.weights
        alpha = item.alphas(self.instance)
        return 1.0 if item.is_mean else float(weights @ (item.rate(self.instance) * tasks) ** (1.0 - alpha))


class ManyDigitsMethod(Method):
    """Tasks that are proved, where rounding leaves other methods none: weights many orders of magnitude apart."""

    id = "many-digits"
    kind = "interior-point"
    packages: ClassVar[tuple[str, ...]] = ("flint",)
    options = ManyDigitsOptions()
    session = ManyDigitsSession
    canonical = False

    def computes(self, mechanism: Mechanism) -> bool:
        return isinstance(mechanism, AlphaFair)

    def applies(self, mechanism: Mechanism, instance: Instance) -> str:
        arcs, most = len(mechanism.domain(instance).arcs), self.options.max_arcs
        return "" if arcs <= most else f"{self.id} is for at most {most} arcs, but there are {arcs}"


methods = (ManyDigitsMethod(),)
