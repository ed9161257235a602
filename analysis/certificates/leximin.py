r"""The certificate of a lexicographic max-min fair allocation: one layer of prices for each round.

Notation of formulations/lexicographic/rule.py: v_n = rate_n u_n is the weighted share of user n. It is proved that user n cannot
have a larger share without lowering an equal or smaller one when it runs all its tasks, u_n = T_n, or when there are prices with
y_n = q_n / rate_n > 0 and

    sum_ir p_ir = sum_m y_m min(v_m, v_n)                                                                            (*)

One round holds the prices for all users it fixes, who have the common level v_n = g. Limits need no prices of their own: the dual
of a round has z_m >= 0 for them, with q_m + z_m = y_m rate_m and z_m > 0 only where u_m = T_m, so its value sum p + sum z_m T_m
is sum (q_m + z_m) u_m, from which the z cancel.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairalloc.analysis.certificates.certificate import Certificate, Refuted, check_prices, feasible, require, short
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.exact.proofs import ExactRound
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs
from fairalloc.models.instance import Instance


@dataclass(frozen=True, repr=False)
class LeximinCertificate(Certificate):
    """One layer of prices for each round, see (*)."""

    kind: ClassVar[str] = "leximin"
    rounds: tuple[ExactRound, ...]

    @property
    def claim(self) -> str:
        return f"lexicographic max-min fair, rounds at {', '.join(short(part.level) for part in self.rounds)}"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        if not isinstance(item, Leximin) or isinstance(item, MaxMin):
            raise Refuted(f"{self.mechanism!r} is not computed in rounds")
        arcs, rate = exact_arcs(domain), item.exact_rate(domain)
        tasks = feasible(domain, self.x)
        v = [r * u for r, u in zip(rate, tasks, strict=True)]
        once = sorted(n for part in self.rounds for n in part.users) == list(range(domain.N))
        require(once, "not every user is fixed exactly once")
        active = set(range(domain.N))
        for part in self.rounds:
            _check_round(part, arcs, rate, v, active)
            for n in part.users:
                require(v[n] == part.level, f"user {domain.users[n]!r} is not at the level of its round")
                require(part.worth[n] > 0 or tasks[n] == arcs.limits[n], f"nothing keeps user {domain.users[n]!r} from more")
            active -= set(part.users)


def _check_round(part: ExactRound, arcs: ExactArcs, rate: Rationals, v: Sequence[Fraction], active: Iterable[int]) -> None:
    """The prices of a round leave no excess at its level, and are scaled so that the active users are worth 1 together."""
    check_prices(arcs, part.prices)
    worth = tuple(q / r for q, r in zip(arcs.cheapest(part.prices), rate, strict=True))
    require(part.worth == worth, "a worth is not the cost of the cheapest task at the prices of its round")
    kept = sum(y * min(w, part.level) for y, w in zip(worth, v, strict=True))
    require(sum(part.prices) == kept, "the prices of a round leave an excess")
    require(not any(part.prices) or sum(worth[n] for n in active) == 1, "the active users of a round are not worth 1 together")
