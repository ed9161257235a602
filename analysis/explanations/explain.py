"""`explain`: why everybody gets what they get, in sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairalloc.analysis.explanations.costs import FULL, LEFT
from fairalloc.analysis.explanations.duals import explain_duals
from fairalloc.analysis.explanations.explanation import MOST_NAMES, Explanation, Sentence, Subject, joined
from fairalloc.analysis.explanations.groups import explain_groups
from fairalloc.analysis.explanations.programs import explain_budgets, explain_program
from fairalloc.analysis.explanations.rounds import REFUSED, explain_rounds, refused
from fairalloc.analysis.explanations.servers import explain_complaints, explain_servers
from fairalloc.analysis.properties.checks import home_of
from fairalloc.analysis.sensitivity import Sensitivity, sensitivity
from fairalloc.formulations import Mechanism, mechanism_of
from fairalloc.formulations.alpha_fair import AlphaFair
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.formulations.nested_leximin import NestedMaxMin
from fairalloc.formulations.nested_nb import NestedNashBargaining
from fairalloc.formulations.njc import NoJustifiedComplaints
from fairalloc.formulations.uniform import Uniform
from fairalloc.formulations.utilitarian import Utilitarian
from fairalloc.models.allocation import Allocation
from fairalloc.models.arguments import Seconds, checked
from fairalloc.models.errors import InstanceError
from fairalloc.models.feasibility import infeasibility
from fairalloc.models.numbers import Floats
from fairalloc.solvers.method import now
from fairalloc.solvers.running.time_limits import within

KINDS = (
    (MaxMin | Utilitarian, explain_program),
    (Leximin, explain_rounds),
    (AlphaFair, explain_budgets),
    (Equilibrium, explain_servers),
    (NoJustifiedComplaints, explain_complaints),
    (NestedMaxMin | NestedNashBargaining | HierarchicalDrf, explain_groups),
    (Mechanism, explain_duals),
)
"""Classes of mechanisms and what explains them; the first that fits counts. Each returns what proves the statements, and their
sentences; NotApplicable where nothing proves that the allocation is the rule's."""

ARCS, CAPACITIES = 200, 40
"""Derivatives are computed for at most so many arcs and capacities: beyond, they take longer than solving."""


@checked
def explain(
    allocation: Allocation,
    mechanism: str | Mechanism | type[Mechanism] | None = None,
    user: str | None = None,
    time_limit: Seconds | None = None,
) -> Explanation:
    """Why users get their tasks: the resource of which server holds each one back, and at which price.

    Parameters
    ----------
    allocation : an answer of a mechanism
    mechanism : whose answer it is, with its parameters; None or its id = that of the allocation, with its parameters
    user : the name of the only user to be explained; None = the first 20
    time_limit : seconds for the whole call, which takes at most 1.2 times as long and a second more; None = no limit

    Returns
    -------
    Explanation: sentences with the facts they state, each derived from a certificate in rationals, from prices, levels or duals
    that prove the allocation, or from derivatives; it says from which. `str` is the text, `to_dict` a JSON document

    Raises
    ------
    InstanceError : the allocation has no point, or names no mechanism
    UnknownName : there is no such user or mechanism
    NotApplicable : the allocation is not what the mechanism gives, or nothing proves in time that it is

    Examples
    --------
    >>> from fairalloc.models import Instance
    >>> from fairalloc.solvers import solve
    >>> wang = Instance([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], resources=["cpu", "memory"])
    >>> print(explain(solve(wang, "drfh"), user="u1").sentences[2].text)
    u1 runs 10 tasks, the share 5/7, and stops in round 1: wherever it may run, its tasks need something that is full.
    """
    if not allocation.has_point:
        raise InstanceError("explain needs an allocation with a point")
    item = mechanism_of(allocation, mechanism, "explain")
    seconds = time_limit or np.inf
    subject = Subject(allocation, item, user, now() + seconds)
    subject.users  # noqa: B018 (an unknown name is said before anything is computed)
    if not infeasibility(allocation) <= REFUSED:
        raise refused(subject, f"it is infeasible by {infeasibility(allocation):.2g}")
    told = within(seconds, lambda _: _told(subject), None)
    if told is None:
        raise refused(subject, "the time was not enough")
    return Explanation(allocation, item.id, *told)


def _told(subject: Subject) -> tuple[str, tuple[Sentence, ...]]:
    """What proves the statements, and the sentences."""
    item = subject.item
    home_of(item, subject.instance)
    proof, sentences = next(explained for kind, explained in KINDS if isinstance(item, kind))(subject)
    effects = _effects(subject) if item.unique or isinstance(item, Leximin | Utilitarian) else []
    return proof, (*sentences, *subject.rest(), *effects)


def _effects(subject: Subject) -> list[Sentence]:
    """Sentences on what a little more or less of each capacity does, those that change nothing together in one."""
    instance = subject.instance
    if instance.A > ARCS or instance.K * instance.R > CAPACITIES:
        text = "What a little more of a capacity does is told on small instances only: fa.sensitivity(allocation)."
        return [Sentence(text, "note", "instance", {"arcs": instance.A, "capacities": instance.K * instance.R})]
    found = sensitivity(subject.allocation, subject.item, time_limit=subject.left)
    (up, down), idle, unknown, result = found.shown, [], [], []
    for i, r in np.ndindex(*instance.capacities.shape):
        more, less = (side[list(subject.users), i, r] for side in (up, down))
        less = less if instance.capacities[i, r] else np.zeros_like(more)  # of 0 there is nothing less
        facts = {"server": instance.servers[i], "resource": instance.resources[r]}
        sides = {instance.users[n]: {"more": up[n, i, r], "less": down[n, i, r]} for n in subject.users}
        if not (np.isfinite(more).all() and np.isfinite(less).all()):
            unknown.append({**facts, "changes": sides})
        elif not (more.any() or less.any()):
            idle.append(facts)
        else:
            result.append(_of_capacity(subject, found, i, r, {**facts, "changes": sides}))
    if idle:
        users = [instance.users[n] for n in subject.users]
        text = f"A little more or less of {_named(idle)} does not change {_words(subject)[0]}."
        result.append(Sentence(text, "effect", "derivatives", {"capacities": idle, "users": users}))
    if unknown:
        text = f"What a little more or less of {_named(unknown)} changes is not known: {found.reason}."
        result.append(Sentence(text, "note", "derivatives", {"reason": found.reason, "capacities": unknown}))
    return result


def _named(capacities: Sequence[Mapping[str, Any]]) -> str:
    return joined(f"{one['resource']} on {one['server']}" for one in capacities)


def _of_capacity(subject: Subject, found: Sensitivity, i: int, r: int, facts: dict[str, Any]) -> Sentence:
    instance, uniform, names = subject.instance, isinstance(subject.item, Uniform), list(facts["changes"])
    more, less = (np.array([sides[key] for sides in facts["changes"].values()]) for key in ("more", "less"))
    _, nothing, helps_none = _words(subject)
    load = float(subject.allocation.load[i, r])
    what, none = _named([facts]), instance.capacities[i, r] == 0
    if none:
        what = f"there is no {what}"
    elif load < 1.0 - LEFT:
        why = "somebody's own part of it is full" if uniform else "its total is what shares are parts of"
        what += f" has room ({min(load, 0.99):.0%} used), but {why}"
    else:
        what += " is full" if load >= 1.0 - FULL else f" is {load:.2%} used"
        what += "" if np.any(more > 0) else f", but more of it alone {helps_none}"
    right, left = (_changes(names, side, nothing) for side in (more, -np.nan_to_num(less)))
    opposite = np.isfinite(found.two_sided[list(subject.users), i, r]).all()
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
