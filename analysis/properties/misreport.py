"""A misreport: the demands and eligible servers that some users report in place of the true ones."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance

__all__ = ["Misreport", "Vectors"]

Vectors: TypeAlias = tuple[Rationals, ...]


@dataclass(frozen=True)
class Misreport:
    """False reports of some users.

    Attributes
    ----------
    users : indices of the users who misreport, increasing
    demands : for each of them its reported demand vectors (one for each variant), None = truthful
    eligible : for each of them its reported eligible servers (K,), None = truthful
    """

    users: tuple[int, ...]
    demands: tuple[Vectors | None, ...]
    eligible: tuple[tuple[bool, ...] | None, ...]

    def reported(self, instance: Instance) -> Instance:
        """The instance as reported; InstanceError where a user has no eligible server as reported."""
        demands: list[Any] = list(instance.exact.demands)
        own = dict(instance.exact.demands_on)
        placement = instance.placement.copy()
        for n, vectors, allowed in zip(self.users, self.demands, self.eligible, strict=True):
            if vectors is not None:
                demands[n] = vectors
                own = {key: value for key, value in own.items() if key[0] != n}
            if allowed is not None:
                placement[n] = allowed
        return instance.replace(demands=demands, demands_on=own, eligible=placement)
