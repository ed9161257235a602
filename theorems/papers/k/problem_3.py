r"""K 4.3 and 5.1 at rational points, exactly: Problem 3, its gradient, and the direction of PS-MFA.

    psi(a, b) = psi_FB^2 / 2,   psi_FB(a, b) = sqrt(a^2 + b^2) - a - b                                            (K 35-36)
    f_ni = sum_r lambda_ir d_nr - g'(x_n / (phi_n gamma_ni)) / gamma_ni,   g'(z) = z^-alpha                         (K 31)
    dPsi/dx_ni = dpsi/dx_ni + sum_j dpsi/df_nj f'_nj,   f'_nj = df_nj / dx_n                                        (K 93)
    dPsi/dlambda_ir = sum_n dpsi/df_ni d_nr,   beta_ir = -grad_x_i Psi . d_r                                   (K 94, 45)
    v_x, v_lambda                                                                                             (K 46-48)

For whole alpha all f are rational, and so with s = a^2 + b^2 each derivative is a sum of square roots of rationals (`Surd`),

    dpsi/da = 2 a + b - (1 + a (a + b) / s) sqrt(s)          (0 where s = 0; dpsi/db alike)

whose sign is decided. The projection (46) is found among all sets of full resources. Resources are measured in parts of their
capacities, users who are not eligible have no part of v (K 15).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import inf, isqrt
from typing import Any

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, as_ball, exact_arcs, solved
from fairalloc.models.instance import Instance
from fairalloc.solvers.exact.ps_dsf import unit
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.trials import only_where, yes_or_no


def root(square: Fraction) -> Fraction | None:
    """The square root where it is rational, else None."""
    p, q = isqrt(square.numerator), isqrt(square.denominator)
    return Fraction(p, q) if (p * p, q * q) == (square.numerator, square.denominator) else None


@dataclass(frozen=True)
class Surd:
    """Sum over s of q_s sqrt(s), compared exactly: q_s by s; no q_s is 0.

    There is one s for every class of rationals that differ by the square of a rational. Roots of different classes are linearly
    independent over the rationals, so such a sum is 0 iff every q_s is; where it is not, balls that are small enough show its
    sign.

    >>> (Surd.of(1, Fraction(8)) - Surd.of(2, Fraction(2))).sign()
    0
    >>> (Surd.of(3) - Surd.of(2, Fraction(2))).sign()
    1
    """

    terms: Mapping[Fraction, Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, factor: Fraction | int, square: Fraction = Fraction(1)) -> "Surd":
        """Factor times the root of a rational >= 0."""
        whole = root(square)
        terms = {square: Fraction(factor)} if whole is None else {Fraction(1): factor * whole}
        return cls({s: q for s, q in terms.items() if q})

    def __add__(self, other: "Surd") -> "Surd":
        terms = dict(self.terms)
        for square, factor in other.terms.items():
            like = next((s for s in terms if root(s * square) is not None), square)
            ratio = root(like * square)
            assert ratio is not None, "of one class"
            terms[like] = terms.get(like, Fraction(0)) + factor * ratio / like
        return Surd({s: q for s, q in terms.items() if q})

    def __sub__(self, other: "Surd") -> "Surd":
        return self + other * Fraction(-1)

    def __mul__(self, factor: Fraction) -> "Surd":
        return Surd({s: q * factor for s, q in self.terms.items() if factor})

    def times(self, other: "Surd") -> "Surd":
        return sum((Surd.of(q * p, s * r) for s, q in self.terms.items() for r, p in other.terms.items()), Surd())

    def __float__(self) -> float:
        return float(sum(float(q) * float(s) ** 0.5 for s, q in self.terms.items()))

    def sign(self) -> int:
        return sign(lambda: sum(as_ball(q) * as_ball(s).sqrt() for s, q in self.terms.items())) if self.terms else 0


def sign(value: Callable[[], Any], most_bits: float = inf) -> int:
    """The sign of a number that a function computes in balls of any precision; 0 where so many bits do not tell it from 0."""
    from flint import ctx

    bits = 128
    while bits <= most_bits:
        with ctx.workprec(bits):
            ball = value()
            if ball > 0 or ball < 0:
                return 1 if ball > 0 else -1
        bits *= 2
    return 0


ZERO = Fraction(0)
METHOD = "square roots of rationals"


@dataclass(frozen=True)
class ExactMeritPoint:
    """Tasks of the case's point, and prices: `price` times what the first user served at a full resource needs.

    Attributes
    ----------
    user, server : (A,)
    part : (A,) {row: d_nr / c_ir}, rows are i R + r
    x, f, rise : (A,) x_ni, f_ni, f'_ni
    full : rows that are used up
    price : {row: lambda_ir c_ir} for full rows, where it is not 0
    """

    user: tuple[int, ...]
    server: tuple[int, ...]
    part: tuple[Mapping[int, Fraction], ...]
    x: Rationals
    f: Rationals
    rise: Rationals
    full: tuple[int, ...]
    price: Mapping[int, Fraction]

    @classmethod
    def of(cls, case: Case) -> "ExactMeritPoint":
        """The case's point; NotApplicable where a user has no task, for g' is not defined there."""
        instance, x, arcs, alpha = case.instance, case.points[0], exact_arcs(case.instance), int(case.parameters["alpha"])
        need, have = [first for first, _ in worths(instance, x, alphas(case))], totals(instance, x)
        part, server = tuple(dict(load) for load in arcs.load), tuple(instance.arcs.server.tolist())
        full = tuple(row for row, load in enumerate(arcs.loads(x)) if load == 1)
        price: dict[int, Fraction] = {}
        for row in full:
            served = [a for a, p in enumerate(part) if x[a] and row in p]
            if served and not any(other // instance.R == row // instance.R for other in price):
                price[row] = Fraction(case.parameters.get("price", 1)) * need[served[0]] / part[served[0]][row]
        price = {row: value for row, value in price.items() if value}
        cost = [sum((p[row] * value for row, value in price.items() if row in p), ZERO) for p in part]
        f = tuple(paid - g for paid, g in zip(cost, need, strict=True))
        rise = tuple(alpha * g / own for g, own in zip(need, have, strict=True))
        return cls(arcs.user, server, part, tuple(x), f, rise, full, price)

    def complementary(self) -> bool:
        """(K 29)."""
        return all(f >= 0 and x * f == 0 for x, f in zip(self.x, self.f, strict=True))

    def by_f(self) -> list[Surd]:
        """(A,) dpsi/df."""
        return [psi_slope(f, x) for x, f in zip(self.x, self.f, strict=True)]

    def by_x(self) -> list[Surd]:
        """(A,) dPsi/dx_ni (K 93)."""
        pull = [slope * rise for slope, rise in zip(self.by_f(), self.rise, strict=True)]
        own = [psi_slope(x, f) for x, f in zip(self.x, self.f, strict=True)]
        of = {n: sum((p for p, m in zip(pull, self.user, strict=True) if m == n), Surd()) for n in set(self.user)}
        return [first + of[n] for first, n in zip(own, self.user, strict=True)]

    def by_price(self) -> dict[int, Surd]:
        """{row: dPsi/dlambda_ir} for every resource that somebody demands (K 94)."""
        slopes, rows = self.by_f(), sorted({row for p in self.part for row in p})
        return {row: sum((s * p[row] for s, p in zip(slopes, self.part, strict=True) if row in p), Surd()) for row in rows}

    def beta(self, row: int, by_x: Sequence[Surd]) -> Surd:
        """(K 45)."""
        return sum((slope * -p[row] for slope, p in zip(by_x, self.part, strict=True) if row in p), Surd())

    def projection(self, server: int, by_x: Sequence[Surd]) -> tuple[list[Surd], list[Surd]]:
        """-grad_x_i Psi and its projection (46)."""
        here = [a for a, i in enumerate(self.server) if i == server]
        rows = sorted({row for a in here for row in self.part[a] if row in self.full})
        normals = {row: [self.part[a].get(row, ZERO) for a in here] for row in rows}
        g = [by_x[a] * Fraction(-1) for a in here]
        return g, next(self._projections(g, normals))

    def _projections(self, g: Sequence[Surd], normals: Mapping[int, Sequence[Fraction]]) -> Iterator[list[Surd]]:
        """V = g - sum_r s_r d_r with v.d_r = 0 or v.d_r <= 0 (lambda = 0), s_r >= 0 where lambda = 0, s_r = 0 where v.d_r < 0."""
        for size in range(len(normals) + 1):
            for chosen in combinations(normals, size):
                found = _projected_out([normals[row] for row in chosen], g)
                if found is None:
                    continue
                factors, v = found
                right = all(s.sign() >= 0 for row, s in zip(chosen, factors, strict=True) if row not in self.price)
                along = {row: _dot(d, v).sign() for row, d in normals.items()}
                if right and all(sign == 0 or (sign < 0 and row not in self.price) for row, sign in along.items()):
                    yield v


def psi_slope(a: Fraction, b: Fraction) -> Surd:
    """dpsi/da of (36)."""
    s = a * a + b * b
    return Surd.of(2 * a + b) - Surd.of(1 + a * (a + b) / s, s) if s else Surd()


def _dot(d: Sequence[Fraction], v: Sequence[Surd]) -> Surd:
    return sum((part * factor for part, factor in zip(v, d, strict=True)), Surd())


def _projected_out(rows: Sequence[Sequence[Fraction]], g: Sequence[Surd]) -> tuple[list[Surd], list[Surd]] | None:
    """Factors of the rows and what is left of g without its part in their span; None where they are dependent."""
    gram = [[sum((a * b for a, b in zip(one, other, strict=True)), ZERO) for one in rows] for other in rows]
    inverse = [solved(gram, [Fraction(row is one) for one in rows]) for row in rows]
    if None in inverse:
        return None
    factors = [_dot(column, [_dot(row, g) for row in rows]) for column in inverse if column is not None]
    left = [part - sum((s * row[a] for s, row in zip(factors, rows, strict=True)), Surd()) for a, part in enumerate(g)]
    return factors, left


_verdict = partial(yes_or_no, method=METHOD)


def complementary(case: Case) -> Verdict:
    """K Lemma 1: (29) by signs, and Psi = 0 by roots: sqrt(x^2 + f^2) is rational and x + f for every arc."""
    point = ExactMeritPoint.of(case)
    zero = all(root(x * x + f * f) == x + f for x, f in zip(point.x, point.f, strict=True))
    sentence = f"(29) is {point.complementary()}, and the merit is {'' if zero else 'not '}0"
    return _verdict("merit", point.complementary() == zero, sentence)


def stationary(case: Case) -> Verdict:
    """K Theorem 6: every derivative (93), (94) is 0 iff (29) holds."""
    point = ExactMeritPoint.of(case)
    flat = not any(slope.terms for slope in [*point.by_x(), *point.by_price().values()])
    sentence = f"the gradient is {'' if flat else 'not '}0, and (29) is {point.complementary()}"
    return _verdict("stationarity", flat == point.complementary(), sentence)


def rests(case: Case) -> Verdict:
    """An iteration (55)-(56) with kappa = 1 changes no x_ni iff (29) holds."""
    point = ExactMeritPoint.of(case)
    pairs = list(zip(point.x, point.f, strict=True))
    v = [-f if x > 0 else max(-f, ZERO) for x, f in pairs]
    still = all(max(x + step, ZERO) == x for (x, _), step in zip(pairs, v, strict=True))
    words = f"the iteration changes {'nothing' if still else 'something'}, and (29) is {point.complementary()}"
    return _verdict("rest", still == point.complementary(), words)


def projection_descends(case: Case) -> Verdict:
    """(K 110): the slope along v_x is at most -|v_x|^2 at every server."""
    point, left = ExactMeritPoint.of(case), Surd()
    for server in sorted(set(point.server)):
        g, v = point.projection(server, point.by_x())
        left = sum([left] + [part.times(own - part) for own, part in zip(g, v, strict=True)], Surd())
    return _verdict("descent", left.sign() >= 0, f"the slope along v_x is {float(left):.3g} less than -|v_x|^2")


def zero_direction(case: Case) -> Verdict:
    """K Lemma 4 under Assumption 1: something moves, the prices of full resources among it, or the gradient by x is 0."""
    point, by_x = ExactMeritPoint.of(case), ExactMeritPoint.of(case).by_x()
    if any(row not in point.price for part in point.part for row in part if row in point.full):
        raise NotApplicable("a full resource has no price: Assumption 1 does not hold")
    moves = any(row in point.full for row in _moving(point)) or any(
        part.sign() for server in set(point.server) for part in point.projection(server, by_x)[1]
    )
    return _verdict("direction", moves or not any(slope.terms for slope in by_x), "v = 0, and the gradient by x is not")


def _moving(point: ExactMeritPoint) -> dict[int, Surd]:
    """{row: dPsi/dlambda} of the prices that move (47-48), to the letter."""
    by_x, found = point.by_x(), dict[int, Surd]()
    for row, slope in point.by_price().items():
        beta = point.beta(row, by_x)
        v = slope * Fraction(-1) + (beta if slope.sign() * beta.sign() <= 0 else Surd())
        found |= {row: slope} if (v.sign() if row in point.price else v.sign() > 0) else {}
    return found


def alphas(case: Case) -> list[Any]:
    alpha = case.parameters["alpha"]
    return list(alpha) if isinstance(alpha, tuple) else [alpha] * case.instance.K


def totals(instance: Instance, x: Rationals) -> list[Fraction]:
    """(A,) the tasks of each arc's user; NotApplicable where a user has none, for g' is not defined there."""
    arcs = exact_arcs(instance)
    tasks = arcs.tasks(x)
    only_where(all(tasks), "a user has no task")
    return [tasks[n] for n in arcs.user]


def worths(
    instance: Instance, x: Rationals, alpha: Sequence[int], A: Fraction = Fraction(1), B: Fraction = Fraction(0)
) -> list[tuple[Fraction, Fraction]]:
    """(A,) both terms of h at tasks x (A,) for alpha of each server; a solution pays their sum for what runs."""
    arcs, phi = exact_arcs(instance), instance.exact.weights
    each = zip(arcs.user, instance.arcs.server.tolist(), unit(instance, arcs), totals(instance, x), strict=True)
    return [((A * one / have) ** int(alpha[i]) * phi[n] / one, B * phi[n] / have) for n, i, one, have in each]
