r"""The certificate of a linear program max c u: a dual solution of the same value.

With worth c_n <= q_n + z_n, z_n >= 0, and z_n = 0 for users without a limit, weak duality says

    c u'  <=  sum_n (q_n + z_n) u'_n  <=  sum_ir p_ir + sum_n z_n T_n      for every feasible u'

and the certificate shows that the right-hand side equals c u. With floors m_n, c_n = w_n + f_n and f_n >= 0 is the price of
the floor: then w u' <= c u' - f m. For the max-min programs (mmf, drfh-lp) c_n = y_n rate_n with
y >= 0, sum y = 1: the smallest weighted share g' of any feasible u' is then at most c u'.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairalloc.analysis.certificates.certificate import Certificate, dual_bound, feasible, require, short
from fairalloc.formulations.lexicographic.rule import MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.exact.proofs import ExactProgram
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.instance import Instance


@dataclass(frozen=True, repr=False)
class ProgramCertificate(Certificate):
    """Equal values of a linear program, at tasks u_n (N,), which x must add up to, and of its dual."""

    kind: ClassVar[str] = "program"
    tasks: Rationals
    proof: ExactProgram

    @property
    def claim(self) -> str:
        return f"optimal, the value is {short(self.proof.value)}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        arcs, proof = exact_arcs(domain), self.proof
        require(self.tasks == feasible(domain, self.x), "the tasks of a user are not the sum of x over its arcs")
        require(len(proof.worth) == domain.N, "the worth is not one number for each user")
        value, floors = self._value(item, domain)
        require(proof.value == value, "the value is not that of x")
        costs, bound = dual_bound(arcs, proof.prices, proof.limits)
        require(all(c <= s for c, s in zip(proof.worth, costs, strict=True)), "a task is worth more than it costs")
        require(bound - floors == proof.value, "the dual value is not the value")

    def _value(self, item: Mechanism, domain: Instance) -> tuple[Fraction, Fraction]:
        """The objective at x, and f m; Refuted where the worth is not what the objective says."""
        worth = self.proof.worth
        if isinstance(item, MaxMin):
            rate = item.exact_rate(domain)
            require(all(c >= 0 for c in worth), "a worth is negative")
            require(sum(c / r for c, r in zip(worth, rate, strict=True)) == 1, "the users of the bound are not worth 1 together")
            return min(r * u for r, u in zip(rate, self.tasks, strict=True)), Fraction(0)
        require(isinstance(item, Utilitarian), f"{self.mechanism!r} is not a linear program on the given data")
        weights, floors = domain.exact.weights, domain.exact.min_tasks
        forced = [c - w for c, w in zip(worth, weights, strict=True)]
        right = all(f >= 0 if m else f == 0 for f, m in zip(forced, floors, strict=True))
        require(right, "a worth is not the weight of its user, with a price of its floor where it has one")
        objective = sum((w * u for w, u in zip(weights, self.tasks, strict=True)), Fraction(0))
        return objective, sum((f * m for f, m in zip(forced, floors, strict=True)), Fraction(0))
