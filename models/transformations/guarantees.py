r"""Floors as guarantees: a lexicographic rule with floors is nested max-min fairness on another instance, which has proofs.

sigma_n is the rule's share of a task, D_n its dominant share. With weights D_n phi_n / sigma_n in the place of phi_n, dominant
shares by weight have the order of the rule's. A user with a floor is a group of its own with the guarantee D_n min_tasks_n.
"""

from collections.abc import Sequence
from fractions import Fraction

from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import global_dominant_share
from fairalloc.models.input.groups import ROOT, Groups
from fairalloc.models.instance import Instance


def unproved_floors(instance: Instance) -> str:
    """Why floors cannot be guarantees there, or ""."""
    dominant = instance.single_variant and instance.same_everywhere
    return "" if dominant else "with floors, proofs need one demand vector for each user, the same on all servers"


def floors_as_guarantees(instance: Instance, shares: Sequence[Fraction]) -> Instance:
    """The instance with groups in the place of floors, for the shares (N,) of a task; NotApplicable without dominant shares."""
    if why := unproved_floors(instance):
        raise NotApplicable(why)
    dominant, exact = global_dominant_share(instance), instance.exact
    weights = [d * phi / sigma for d, phi, sigma in zip(dominant, exact.weights, shares, strict=True)]
    held = [n for n, floor in enumerate(exact.min_tasks) if floor]
    place = {n: k for k, n in enumerate(held)}
    head = "floor["
    while any(user.startswith(head) for user in instance.users):  # no group has the name of a user
        head = f"floor {head}"
    groups = Groups(
        names=tuple(f"{head}{instance.users[n]}]" for n in held),
        parent=(ROOT,) * len(held),
        weights=tuple(weights[n] for n in held),
        guarantees=tuple(dominant[n] * exact.min_tasks[n] for n in held),
        of_user=tuple(place.get(n, ROOT) for n in range(instance.N)),
    )
    return instance.replace(weights=weights, min_tasks=None, groups=groups)
