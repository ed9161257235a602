"""A misreport: the demands, eligible servers and numbers of tasks that some users report in place of the true ones."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from fairalloc.models.errors import require
from fairalloc.models.exact.rationals import Rationals
from fairalloc.models.instance import Instance

Vectors: TypeAlias = tuple[Rationals, ...]


@dataclass(frozen=True)
class Misreport:
    """False reports of some users.

    Attributes
    ----------
    users : indices of the users who misreport, increasing
    demands : for each of them its reported demand vectors (one for each variant), None = truthful
    eligible : for each of them its reported eligible servers (K,), None = truthful
    max_tasks : for each of them the most tasks that it reports to have, None = truthful; () = all are truthful
    """

    users: tuple[int, ...]
    demands: tuple[Vectors | None, ...]
    eligible: tuple[tuple[bool, ...] | None, ...]
    max_tasks: tuple[Fraction | None, ...] = ()

    @property
    def of_each(self) -> list[tuple[int, Vectors | None, tuple[bool, ...] | None, Fraction | None]]:
        """User, demands, eligible servers and most tasks of each report."""
        return list(zip(self.users, self.demands, self.eligible, self.max_tasks or [None] * len(self.users), strict=True))

    def reported(self, instance: Instance) -> Instance:
        """The instance as reported; InstanceError where there is no such user, or it has no eligible server as reported."""
        there = set(self.users) <= set(range(instance.N))
        require(there, "the users who misreport are", self.users, f"they must be numbers from 0 to {instance.N - 1}")
        demands: list[Any] = list(instance.exact.demands)
        own = dict(instance.exact.own)
        placement, limits = instance.placement.copy(), list(instance.exact.max_tasks)
        for n, vectors, allowed, most in self.of_each:
            if vectors is not None:
                demands[n] = vectors
                own = {key: value for key, value in own.items() if key[0] != n}
            if allowed is not None:
                placement[n] = allowed
            limits[n] = limits[n] if most is None else most
        return instance.replace(demands=demands, demands_on=own, eligible=placement, max_tasks=limits)
