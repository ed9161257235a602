r"""Sums of square roots of rationals, compared exactly.

    sum over s of q_s sqrt(s)

with one s for every class of rationals that differ by the square of a rational. Roots of different classes are linearly
independent over the rationals, so such a sum is 0 iff every q_s is; where it is not, balls that are small enough show its sign.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isqrt
from typing import Any

from fairalloc.models.exact.rationals import as_ball


def root(square: Fraction) -> Fraction | None:
    """The square root where it is rational, else None."""
    p, q = isqrt(square.numerator), isqrt(square.denominator)
    return Fraction(p, q) if (p * p, q * q) == (square.numerator, square.denominator) else None


@dataclass(frozen=True)
class Surd:
    """q_s by s; no q_s is 0.

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
