"""What a scheduler makes of an instance with groups, beside an allocation: `fairalloc explain --peer kueue`."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.explanations.costs import SAME
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import NotApplicable, UnknownName, no_such
from fairalloc.models.examples.schedulers import PEERS, SCHEDULER_EXAMPLES
from fairalloc.models.input.groups import Groups
from fairalloc.models.instance import Instance
from fairalloc.models.tree import Tree
from fairalloc.solvers import solve

RULES = {
    "kueue": "Kueue admits whoever has the least share of what is borrowed beyond nominal quotas, divided by its weight",
    "kai": "KAI gives deserved quotas first, and divides the rest by over-quota weights",
    "volcano": "Volcano's capacity plugin serves the queue with the least allocated / deserved",
}


def compared_with_peer(allocation: Allocation, peer: str) -> list[str]:
    """Sentences on what a peer, one of PEERS, makes of the allocation's instance.

    Raises
    ------
    UnknownName : there is no such peer
    NotApplicable : the instance has no groups, or no guarantees where the peer divides by these
    """
    if peer not in PEERS:
        raise UnknownName(no_such("peer", peer, PEERS, f"the peers are {', '.join(PEERS)}"))
    instance = allocation.instance
    if instance.groups is None:
        raise NotApplicable(f"{peer} shares by queues, but the instance has no groups")
    return [*_documented(instance, peer), f"{RULES[peer]}.", *_by_its_rule(allocation, peer)]


def _documented(instance: Instance, peer: str) -> Iterator[str]:
    """What the peer documents of this instance, where it is an example of the peer, and whether that is reproduced."""
    for item in SCHEDULER_EXAMPLES:
        if item.peer != peer or item.instance != instance:
            continue
        tasks = ", ".join(f"{user} {value}" for user, value in zip(instance.users, item.documented, strict=True))
        told = f"not reproduced: {item.difference}" if item.difference else "reproduced"
        yield f"{peer} documents {tasks} ({item.place}): {told}."


def _by_its_rule(allocation: Allocation, peer: str) -> Iterator[str]:
    """The share of each group by the peer's rule, and in the allocation."""
    instance = allocation.instance
    groups = instance.groups
    assert groups is not None
    told: dict[str, Any] = {} if peer == "volcano" else {"compared": "borrowed"}
    by_rule = solve(_by_deserved(instance, groups) if peer == "volcano" else instance, "nested-leximin", **told)
    tree = Tree.of(instance)
    mine, theirs = (tree.levels(one.x) * tree.phi for one in (allocation, by_rule))
    for k, name in enumerate(groups.names):
        if np.isclose(mine[k], theirs[k], rtol=SAME, atol=SAME):
            yield f"By that rule group {name} has the same share, {mine[k]:.6g}."
        else:
            yield f"By that rule group {name} has the share {theirs[k]:.6g}, here {mine[k]:.6g}."


def _by_deserved(instance: Instance, groups: Groups) -> Instance:
    """Weights are what queues deserve; NotApplicable where a group with users deserves nothing."""
    for k in [k for k, deserved in enumerate(groups.guarantees) if not deserved][:1]:
        raise NotApplicable(f"volcano divides by what queues deserve, but group {groups.names[k]!r} has no guarantee")
    return instance.replace(groups=replace(groups, weights=tuple(map(Fraction, groups.guarantees))))
