"""What a little more or less of each capacity does to the users that are explained: derivatives of analysis/sensitivity.py."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairalloc.analysis.explanations.costs import LEFT
from fairalloc.analysis.explanations.explanation import MOST_NAMES, Sentence, Subject, joined
from fairalloc.analysis.sensitivity import Sensitivity, sensitivity
from fairalloc.formulations.uniform import Uniform
from fairalloc.models.numbers import Floats

ARCS, CAPACITIES = 200, 40
"""Derivatives are computed for at most so many arcs and capacities: beyond, they take longer than solving."""


def explain_effects(subject: Subject) -> list[Sentence]:
    """Sentences on the capacities, those that change nothing together in one."""
    instance = subject.instance
    if instance.A > ARCS or instance.K * instance.R > CAPACITIES:
        text = "What a little more of a capacity does is told on small instances only: fa.sensitivity(allocation)."
        return [Sentence(text, "note", "instance", {"arcs": instance.A, "capacities": instance.K * instance.R})]
    found = sensitivity(subject.allocation, subject.item, time_limit=subject.left)
    idle, unknown, result = [], [], []
    for i, r in np.ndindex(*instance.capacities.shape):
        more, less = (side[list(subject.users), i, r] for side in (found.up, found.down))
        less = less if instance.capacities[i, r] else np.zeros_like(more)  # of 0 there is nothing less
        facts = {"server": instance.servers[i], "resource": instance.resources[r]}
        sides = {instance.users[n]: {"more": found.up[n, i, r], "less": found.down[n, i, r]} for n in subject.users}
        if not (np.isfinite(more).all() and np.isfinite(less).all()):
            unknown.append({**facts, "changes": sides})
        elif not (more.any() or less.any()):
            idle.append(facts)
        else:
            result.append(_of_capacity(subject, found, i, r, {**facts, "changes": sides}))
    if idle:
        users = [instance.users[n] for n in subject.users]
        text = f"A little more or less of {_names(idle)} does not change {_words(subject)[0]}."
        result.append(Sentence(text, "effect", "derivatives", {"capacities": idle, "users": users}))
    if unknown:
        text = f"What a little more or less of {_names(unknown)} changes is not known: {found.reason}."
        result.append(Sentence(text, "note", "derivatives", {"reason": found.reason, "capacities": unknown}))
    return result


def _names(capacities: Sequence[Mapping[str, Any]]) -> str:
    return joined(f"{one['resource']} on {one['server']}" for one in capacities)


def _of_capacity(subject: Subject, found: Sensitivity, i: int, r: int, facts: dict[str, Any]) -> Sentence:
    instance, users, uniform = subject.instance, list(subject.users), isinstance(subject.item, Uniform)
    names, more = [instance.users[n] for n in users], found.up[users, i, r]
    _, nothing, helps_none = _words(subject)
    load = float(subject.allocation.load[i, r])
    what, none = _names([facts]), instance.capacities[i, r] == 0
    if none:
        what = f"there is no {what}"
    elif load < 1.0 - LEFT:
        why = "somebody's own part of it is full" if uniform else "its total is what shares are parts of"
        what += f" has room ({min(load, 0.99):.0%} used), but {why}"
    else:
        what += " is full" if np.any(more > 0) else f" is full, but more of it alone {helps_none}"
    right, left = (_changes(names, side, nothing) for side in (more, -np.nan_to_num(found.down[users, i, r])))
    opposite = np.isfinite(found.two_sided[users, i, r]).all()
    back = "" if none else ", a unit less the opposite" if opposite else f"; a unit less {left}"
    text = f"{what}: to first order, a unit more{' on each of its servers' * bool(instance.counts[i] > 1)} changes {right}{back}."
    return Sentence(text, "effect", "derivatives", {**facts, "load": load})


def _changes(names: list[str], side: Floats, nothing: str) -> str:
    """By how much the users that are explained move, by their derivatives to one side, or the words for no change."""
    parts = [f"{name} by {value:+.4g}" for name, value in zip(names, side.tolist(), strict=True) if value]
    more = len(parts) - MOST_NAMES
    if more > 0:
        return f"{', '.join(parts[:MOST_NAMES])} tasks, and {more} more user{'s' if more > 1 else ''}"
    return f"{joined(parts)} tasks" if parts else nothing


def _words(subject: Subject) -> tuple[str, str, str]:
    """Tasks of the users that are explained, none of them, and what helps none of them: others may gain."""
    if len(subject.users) == subject.instance.N:
        return "anybody's tasks", "nobody's tasks", "helps nobody"
    if subject.user:
        return f"the tasks of {subject.user}", f"none of the tasks of {subject.user}", f"does not help {subject.user}"
    return "the tasks of these users", "none of the tasks of these users", "helps none of these users"
