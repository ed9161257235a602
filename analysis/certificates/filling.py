"""The certificate of H-DRF: the tasks after the last event of its algorithm, found again in rationals, without a solver."""

from dataclasses import dataclass
from typing import ClassVar

from fairalloc.analysis.certificates.certificate import Certificate, feasible, require
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.exact.hierarchical_filling import hierarchical_filling
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance


@dataclass(frozen=True, repr=False)
class FillingCertificate(Certificate):
    """Tasks u_n (N,), which x must add up to."""

    kind: ClassVar[str] = "filling"
    tasks: Rationals

    @property
    def claim(self) -> str:
        return "the tasks after the last event of the algorithm"

    def _check(self, item: Mechanism, domain: Instance) -> None:
        require(isinstance(item, HierarchicalDrf), f"{self.mechanism!r} is not computed by events")
        require(self.tasks == feasible(domain, self.x), "the tasks of a user are not the sum of x over its arcs")
        for user, own, due in zip(domain.users, self.tasks, hierarchical_filling(domain), strict=True):
            require(own == due, f"user {user!r} runs {own} tasks, but {due} after the last event")
