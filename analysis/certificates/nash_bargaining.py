r"""The certificate of Nash bargaining: bounds on the optimal value of sum_n w_n log u_n, which is not rational.

With W = sum w and s_n = q_n + z_n > 0, for every feasible u'

    sum_n w_n log u'_n  <=  sum_n w_n log u_n + gap,    gap = sum p + sum_n z_n T_n - 2 W + sum_n w_n^2 / (s_n u_n)

because w log u' - s u' is largest at u' = w / s, and log r <= r - 1 with r = w_n / (s_n u_n). The gap has no logarithms and is 0
exactly at the optimum. The value sum_n w_n log u_n itself is enclosed in ball arithmetic.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairalloc.analysis.certificates.certificate import Certificate, dual_bound, feasible, require, rounded
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nb import NashBargaining
from fairalloc.models.exact.rationals import ExactArcs, Rationals, as_ball, exact_arcs, point_as_fraction, rounded_up
from fairalloc.models.instance import Instance

STEP = Fraction(1, 10**15)
"""The value at x is rounded down to a multiple of this."""


@dataclass(frozen=True, repr=False)
class BoundsCertificate(Certificate):
    """lower <= sum_n w_n log u_n at x <= optimum <= upper, for nb, with p and z of the gap.

    The bounds are apart by the gap, which is proved without logarithms, and by 2 STEP for rounding the logarithms.
    """

    kind: ClassVar[str] = "bounds"
    prices: Rationals
    limits: Rationals
    gap: Fraction
    lower: Fraction
    upper: Fraction

    @property
    def claim(self) -> str:
        low, high, width = (rounded(value) for value in (self.lower, self.upper, self.upper - self.lower))
        return f"the optimal value is between {low:.15g} and {high:.15g}, gap {width:.2g}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, NashBargaining), f"{self.mechanism!r} has no such bounds")
        arcs, weights = exact_arcs(domain), domain.exact.weights
        tasks = feasible(domain, self.x)
        require(all(u > 0 for u in tasks), "a user has no task")
        require(self.gap == nb_gap(arcs, weights, tasks, self.prices, self.limits), "the gap is not that of x and the prices")
        least, most = log_value(weights, tasks)
        require(self.lower <= least and most <= self.lower + 2 * STEP, "the lower bound is not the value at x, rounded down")
        require(self.upper == self.lower + 2 * STEP + self.gap, "the upper bound is not the lower bound and the gap")


def nb_gap(arcs: ExactArcs, weights: Rationals, tasks: Rationals, prices: Rationals, limits: Rationals) -> Fraction:
    """The gap of feasible tasks u (N,) > 0 at prices p (K R,) and z (N,), >= 0 and in units of w (N,).

    Each w^2 / (s u) is rounded up to 64 bits: an exact sum has eighty digits for each user. Refuted where the prices prove no
    bound, because the tasks of a user cost nothing.
    """
    costs, bound = dual_bound(arcs, prices, limits)
    require(all(s > 0 for s in costs), "the tasks of a user cost nothing")
    return bound - 2 * sum(weights) + sum(rounded_up(w * w / (s * u)) for w, s, u in zip(weights, costs, tasks, strict=True))


def log_value(weights: Rationals, tasks: Rationals) -> tuple[Fraction, Fraction]:
    """Rationals around sum_n w_n log u_n, much closer together than STEP."""
    from flint import ctx

    digits = max(0, int(sum(weights)).bit_length())  # the sum is to be known to a fixed number of places
    with ctx.workprec(256 + digits):
        total = sum((as_ball(w) * as_ball(u).log() for w, u in zip(weights, tasks, strict=True)), as_ball(0))
        return point_as_fraction(total.lower()), point_as_fraction(total.upper())
