"""The tree of users and groups in rationals: parts by weights, guarantees and shares of nodes, as certificates compare them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from fairalloc.models.exact.rationals import Rationals, global_dominant_share
from fairalloc.models.input.groups import Groups
from fairalloc.models.instance import Instance


@dataclass(frozen=True)
class ExactTree:
    """The nodes, groups first: what a task of a user adds to the level of each node above it, and floors in levels.

    above : (N,) for each user {node: sigma_n / phi_node}, itself last
    floors : (G + N,) gamma / phi; 0 without a guarantee
    depth : (G + N,) 1 for children of the root
    """

    above: tuple[dict[int, Fraction], ...]
    floors: Rationals
    depth: tuple[int, ...]

    @classmethod
    def of(cls, instance: Instance) -> Self:
        """Users without groups are children of the root."""
        groups = instance.groups or Groups.none(instance.N)
        phi, sigma = groups.parts(instance.exact.weights), global_dominant_share(instance)
        members = groups.members.tocsc()
        paths = np.split(members.indices, members.indptr[1:-1])
        above = [{k: share / phi[k] for k in path.tolist()} for share, path in zip(sigma, paths, strict=True)]
        asked: list[Fraction | None] = [Fraction(0)] * len(phi)
        for own, limit in zip(above, instance.exact.max_tasks, strict=True):
            for k, share in own.items():
                known = asked[k]
                asked[k] = None if limit is None or known is None else known + share * limit
        guaranteed = [g / phi[k] for k, g in enumerate(groups.guarantees)]
        floors = [g if (most := asked[k]) is None else min(g, most) for k, g in enumerate(guaranteed)]
        return cls(tuple(above), (*floors, *[Fraction(0)] * instance.N), tuple(groups.depth.tolist()))

    def levels(self, tasks: Rationals) -> list[Fraction]:
        """(G + N,) V / phi of every node."""
        result = [Fraction(0)] * len(self.depth)
        for own, u in zip(self.above, tasks, strict=True):
            for k, share in own.items():
                result[k] += share * u
        return result
