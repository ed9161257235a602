"""What a little more or less of each capacity does to the users that are explained: derivatives of analysis/sensitivity.py."""

from typing import Any

import numpy as np

from fairalloc.analysis.explanations.explanation import MOST_NAMES, Sentence, Subject, joined
from fairalloc.analysis.sensitivity import Sensitivity, sensitivity
from fairalloc.formulations.uniform import Uniform
from fairalloc.models.numbers import Floats

__all__ = ["explain_effects"]

ARCS, CAPACITIES = 200, 40
"""Derivatives are computed for at most so many arcs and capacities: beyond, they take longer than solving."""


def explain_effects(subject: Subject) -> list[Sentence]:
    """Sentences on the capacities, those that change nothing together in one."""
    instance = subject.instance
    if len(instance.arcs) > ARCS or instance.K * instance.R > CAPACITIES:
        text = "What a little more of a capacity does is told on small instances only: fa.sensitivity(allocation)."
        return [Sentence(text, "note", "instance", {"arcs": len(instance.arcs), "capacities": instance.K * instance.R})]
    found = sensitivity(subject.allocation, subject.item, time_limit=subject.left)
    idle: list[tuple[int, int]] = []
    unknown: list[tuple[int, int]] = []
    result: list[Sentence] = []
    for i, r in np.ndindex(*instance.capacities.shape):
        more, less = (side[list(subject.users), i, r] for side in (found.up, found.down))
        if instance.capacities[i, r] == 0:  # there is nothing less
            less = np.zeros_like(more)
        if not (np.isfinite(more).all() and np.isfinite(less).all()):
            unknown.append((i, r))
        elif not (more.any() or less.any()):
            idle.append((i, r))
        else:
            result.append(_of_capacity(subject, found, i, r))
    return [*result, *_idle(subject, idle), *_unknown(subject, found, unknown)]


def _of_capacity(subject: Subject, found: Sensitivity, i: int, r: int) -> Sentence:
    instance, users = subject.instance, list(subject.users)
    names, more = [instance.users[n] for n in users], found.up[users, i, r]
    less = np.nan_to_num(found.down[users, i, r])
    load = float(subject.allocation.load[i, r])
    what = f"{instance.resources[r]} on {instance.servers[i]}"
    each = " on each of its servers" if instance.counts[i] > 1 else ""
    none = instance.capacities[i, r] == 0
    if none:
        what = f"there is no {what}"
    elif load < 1.0 - ROOM:
        own = isinstance(subject.item, Uniform)
        why = "somebody's own part of it is full" if own else "its total is what shares are parts of"
        what += f" has room ({load:.0%} used), but {why}"
    else:
        what += " is full" if np.any(more > 0) else f" is full, but more of it alone {_helps_none(subject)}"
    nothing = "nobody's tasks" if _all(subject) else f"none of {_whose(subject)}"
    right, left = _changes(names, more, nothing), _changes(names, -less, nothing)
    back = (
        ""
        if none
        else ", a unit less the opposite"
        if np.isfinite(found.two_sided[users, i, r]).all()
        else f"; a unit less {left}"
    )
    text = f"{what}: to first order, a unit more{each} changes {right}{back}."
    facts = {**_facts(subject, found, i, r), "load": load}
    return Sentence(text, "effect", "derivatives", facts)


ROOM = 1e-6
"""A resource has room where more than this part of it is not used."""


def _changes(names: list[str], side: Floats, nothing: str) -> str:
    """By how much the users that move to this side do.

    Parameters
    ----------
    names : the users that are explained
    side : their derivatives
    nothing : the words for no change
    """
    parts = [f"{name} by {value:+.4g}" for name, value in zip(names, side.tolist(), strict=True) if value]
    more = len(parts) - MOST_NAMES
    if more > 0:
        return f"{', '.join(parts[:MOST_NAMES])} tasks, and {more} more user{'s' if more > 1 else ''}"
    return f"{joined(parts)} tasks" if parts else nothing


def _idle(subject: Subject, places: list[tuple[int, int]]) -> list[Sentence]:
    if not places:
        return []
    instance = subject.instance
    names = [f"{instance.resources[r]} on {instance.servers[i]}" for i, r in places]
    whose = "anybody's tasks" if _all(subject) else _whose(subject)
    text = f"A little more or less of {joined(names)} does not change {whose}."
    capacities = [{"server": instance.servers[i], "resource": instance.resources[r]} for i, r in places]
    facts: dict[str, Any] = {"capacities": capacities, "users": [instance.users[n] for n in subject.users]}
    return [Sentence(text, "effect", "derivatives", facts)]


def _whose(subject: Subject) -> str:
    return f"the tasks of {subject.user}" if subject.user else "the tasks of these users"


def _helps_none(subject: Subject) -> str:
    """Said of the users that are explained: others may gain."""
    if _all(subject):
        return "helps nobody"
    return f"does not help {subject.user}" if subject.user else "helps none of these users"


def _all(subject: Subject) -> bool:
    return len(subject.users) == subject.instance.N


def _facts(subject: Subject, found: Sensitivity, i: int, r: int) -> dict[str, Any]:
    """The capacity, and what is known of each user; nan, in JSON null, is not."""
    sides = {subject.instance.users[n]: {"more": found.up[n, i, r], "less": found.down[n, i, r]} for n in subject.users}
    return {"server": subject.instance.servers[i], "resource": subject.instance.resources[r], "changes": sides}


def _unknown(subject: Subject, found: Sensitivity, places: list[tuple[int, int]]) -> list[Sentence]:
    """What is not known, and why."""
    if not places:
        return []
    names = [f"{subject.instance.resources[r]} on {subject.instance.servers[i]}" for i, r in places]
    text = f"What a little more or less of {joined(names)} changes is not known: {found.reason}."
    facts = {"reason": found.reason, "capacities": [_facts(subject, found, i, r) for i, r in places]}
    return [Sentence(text, "note", "derivatives", facts)]
