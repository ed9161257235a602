"""Certificates of rules on one pool: njc by the bottleneck of each user (D (1)-(2)), h-drf by the last event of its algorithm."""

from dataclasses import dataclass
from fractions import Fraction

from fairalloc.analysis.certificates.certificate import Certificate, feasible, require
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.models.exact.hierarchical_filling import hierarchical_filling
from fairalloc.models.exact.rationals import ExactArcs, Rationals, exact_arcs
from fairalloc.models.instance import Instance


@dataclass(frozen=True, repr=False)
class JustifiedCertificate(Certificate, kind="justified"):
    """Why the complaint of each user is not justified: its bottleneck, the part of it that it gets, and e_n, all (N,).

    The bottleneck is the first full resource of which it gets most, and -1, with the part 1, where it runs all its tasks.
    """

    bottleneck: tuple[int, ...]
    part: Rationals
    entitled: Rationals

    @property
    def claim(self) -> str:
        content = self.bottleneck.count(-1)
        return f"no justified complaints, {content} users run all their tasks, {len(self.bottleneck) - content} have a bottleneck"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, NoJustifiedComplaints), f"{self.mechanism!r} is not about complaints")
        arcs, total = exact_arcs(domain), sum(domain.exact.weights)
        feasible(domain, self.x)
        parts = tuple(w / total for w in domain.exact.weights)
        require(self.entitled == parts, "an entitlement is not the user's part of all weights")
        require((self.bottleneck, self.part) == justified(arcs, self.x), "a bottleneck or a part of it is not that of x")
        for user, j, part, e in zip(domain.users, self.bottleneck, self.part, self.entitled, strict=True):
            require(j == -1 or part >= e, f"user {user!r} has a justified complaint")


def justified(arcs: ExactArcs, x: Rationals) -> tuple[tuple[int, ...], Rationals]:
    """For each user of a pool the bottleneck and the part of a JustifiedCertificate; part 0 of resource 0 where there is none."""
    full = {j for j, load in enumerate(arcs.loads(x)) if load == 1}
    found = []
    for load, value, limit in zip(arcs.load, x, arcs.limits, strict=True):
        shares = [(part * value, -j) for j, part in load if j in full]
        found.append((Fraction(1), 1) if value == limit else max(shares, default=(Fraction(0), 0)))
    return tuple(-j for _, j in found), tuple(part for part, _ in found)


@dataclass(frozen=True, repr=False)
class FillingCertificate(Certificate, kind="filling"):
    """Tasks u_n (N,), which x must add up to."""

    tasks: Rationals

    @property
    def claim(self) -> str:
        return "the tasks after the last event of the algorithm"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, HierarchicalDrf), f"{self.mechanism!r} is not computed by events")
        require(self.tasks == feasible(domain, self.x), "the tasks of a user are not the sum of x over its arcs")
        for user, own, due in zip(domain.users, self.tasks, hierarchical_filling(domain), strict=True):
            require(own == due, f"user {user!r} runs {own} tasks, but {due} after the last event")
