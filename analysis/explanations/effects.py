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

ZERO = 1e-7
"""A change by less, in tasks for a whole capacity and relative to the user's tasks, is none."""

FROM_0 = 1e-4
"""The same where a capacity is 0, whose derivatives are extrapolated."""

SAME = 1e-5
"""Derivatives to both sides that differ by less, relative, are equal."""


def explain_effects(subject: Subject) -> list[Sentence]:
    """Sentences on the capacities, those that change nothing together in one."""
    instance = subject.instance
    if len(instance.arcs) > ARCS or instance.K * instance.R > CAPACITIES:
        text = "What a little more of a capacity does is told on small instances only: fa.sensitivity(allocation)."
        return [Sentence(text, "note", "instance", {"arcs": len(instance.arcs), "capacities": instance.K * instance.R})]
    found = sensitivity(subject.allocation, subject.item, time_limit=subject.left)
    idle: list[tuple[int, int]] = []
    result: list[Sentence] = []
    for i, r in np.ndindex(*instance.capacities.shape):
        more, less = (_cleaned(subject, side[list(subject.users), i, r], i, r) for side in (found.up, found.down))
        if instance.capacities[i, r] == 0:  # there is nothing less
            less = np.zeros_like(more)
        if not (np.isfinite(more).all() and np.isfinite(less).all()):
            continue
        if not (more.any() or less.any()):
            idle.append((i, r))
        else:
            result.append(_of_capacity(subject, i, r, more, less))
    return [*result, *_idle(subject, idle), *_unknown(found)]


def _cleaned(subject: Subject, side: Floats, i: int, r: int) -> Floats:
    """The derivatives without what rounding leaves of 0; those of a capacity of 0 are measured by the largest of its resource."""
    tasks, capacities = subject.allocation.tasks, subject.instance.capacities
    capacity = float(capacities[i, r] or capacities[:, r].max())
    size = np.maximum(tasks[list(subject.users)], 1e-3 * tasks.max())
    allowed = ZERO if capacities[i, r] else FROM_0
    result: Floats = np.where(np.abs(side) * capacity <= allowed * size, 0.0, side)
    return result


def _of_capacity(subject: Subject, i: int, r: int, more: Floats, less: Floats) -> Sentence:
    instance, names = subject.instance, [subject.instance.users[n] for n in subject.users]
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
    same = np.allclose(more, less, rtol=SAME, atol=0.0)
    back = "" if none else ", a unit less the opposite" if same else f"; a unit less {left}"
    text = f"{what}: to first order, a unit more{each} changes {right}{back}."
    changes = {
        name: {"more": up, "less": None if none else down}
        for name, up, down in zip(names, more.tolist(), less.tolist(), strict=True)
    }
    facts = {"server": instance.servers[i], "resource": instance.resources[r], "load": load, "changes": changes}
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


def _unknown(found: Sensitivity) -> list[Sentence]:
    """What could not be told, and why."""
    if not found.reason:
        return []
    return [Sentence(f"Not all derivatives are known: {found.reason}.", "note", "derivatives", {"reason": found.reason})]
