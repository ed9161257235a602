"""The tree of groups and users in numbers: parts by weights, shares of nodes, and guarantees that can or cannot be kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from fairalloc.models.errors import NotApplicable
from fairalloc.models.feasibility import common_part
from fairalloc.models.input.groups import Groups
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats
from fairalloc.models.shares import global_dominant_share

ENOUGH = 1e-7
"""The part of guarantees that rounding may take."""


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes of an instance, groups first: `shares` ((G + N) x N) makes V / phi of tasks; phi, gamma and depth (G + N,)."""

    instance: Instance
    groups: Groups
    phi: Floats
    gamma: Floats
    shares: sp.csr_array

    @classmethod
    def of(cls, instance: Instance) -> "Tree":
        """The tree of an instance, made once. NotApplicable where dominant shares are not defined."""
        return instance.once(Tree, lambda: cls._made(instance))

    @classmethod
    def _made(cls, instance: Instance) -> Self:
        groups = instance.groups or Groups.none(instance.N)
        phi = np.array(groups.parts(instance.exact.weights), dtype=float)
        sigma = global_dominant_share(instance)
        asked = groups.members @ (sigma * instance.max_tasks)
        gamma = np.minimum(np.append(np.array(groups.guarantees, dtype=float), np.zeros(instance.N)), asked)
        return cls(instance, groups, phi, gamma, sp.csr_array(sp.diags_array(1 / phi) @ groups.members @ sp.diags_array(sigma)))

    @property
    def names(self) -> tuple[str, ...]:
        """(G + N,) of groups, then of users."""
        return self.groups.names + self.instance.users

    def guaranteed(self, nodes: Sequence[int]) -> sp.csr_array:
        """(nodes x N) what a task adds to each node's part of its guarantee."""
        return sp.csr_array(sp.diags_array((self.phi / np.where(self.gamma > 0, self.gamma, 1.0))[nodes]) @ self.shares[nodes])

    def levels(self, x: Floats) -> Floats:
        """(G + N,) V / phi at tasks (A,) on arcs."""
        return np.asarray(self.shares @ (self.instance.arcs.owner @ x))


def check_guarantees(instance: Instance) -> None:
    """NotApplicable where the guarantees cannot all be kept: with an irreducible set that cannot, which is found by deletion."""
    instance.once(check_guarantees, lambda: _check(Tree.of(instance)))


def _check(tree: Tree) -> None:
    kept = np.flatnonzero(tree.gamma > 0).tolist()
    if _kept_part(tree, kept) >= 1.0 - ENOUGH:
        return
    for k in list(kept):
        rest = [other for other in kept if other != k]
        kept = rest if rest and _kept_part(tree, rest) < 1.0 - ENOUGH else kept
    named = ", ".join(_told(tree, k) for k in kept)
    raise NotApplicable(
        f"the guarantees of {named} cannot be kept together: at most {_kept_part(tree, kept):.4g} of each can"
        if len(kept) > 1
        else f"the guarantee of {named} cannot be kept: at most {_kept_part(tree, kept):.4g} of it can"
    )


def _told(tree: Tree, k: int) -> str:
    """A group with its guarantee, and what it asks for of that where it is less."""
    guarantee, gamma = tree.groups.guarantees[k], float(tree.gamma[k])
    return f"{tree.names[k]!r} ({guarantee}{f', of which it asks for {gamma:.4g}' * (gamma < float(guarantee))})"


def _kept_part(tree: Tree, nodes: Sequence[int]) -> float:
    """The largest part, at most 1, of the guarantees of these nodes that can be kept together."""
    return common_part(tree.instance, tree.guaranteed(nodes)) if nodes else 1.0
