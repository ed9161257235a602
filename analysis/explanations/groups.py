"""Why groups and their users get what they get: nested-leximin, nested-nb and h-drf."""

from collections.abc import Iterator

import numpy as np

from fairalloc.analysis.explanations.costs import FULL, Costs, at_limit
from fairalloc.analysis.explanations.explanation import Sentence, Subject, joined, said, tasks_of
from fairalloc.analysis.explanations.rounds import REFUSED, proved_by, refused
from fairalloc.formulations.h_drf import HierarchicalDrf
from fairalloc.formulations.mechanism import Mechanism
from fairalloc.formulations.nested_nb import NestedNashBargaining
from fairalloc.models.tree import Tree
from fairalloc.solvers.judge import proved

RULES = (
    (HierarchicalDrf, "and no user who needs a full resource is given another task"),
    (NestedNashBargaining, "where weights and guarantees decide"),
    (Mechanism, "and more would take from a node with no more, a guarantee, or from its group's other users"),
)
"""Why a user gets no more of what is full; the first class that fits counts."""


def explain_groups(subject: Subject) -> tuple[str, list[Sentence]]:
    residual = proved(subject.item, subject.allocation).residual
    if not residual <= REFUSED:
        raise refused(subject, f"a residual of {residual:.2g} is proved")
    by_events = "events", "the events of the algorithm in rationals"
    source, how = by_events if isinstance(subject.item, HierarchicalDrf) else ("prices", "prices")
    return proved_by(how, residual), [*_of_groups(subject, source), *_of_users(subject, source, max(FULL, residual))]


def _of_groups(subject: Subject, source: str) -> Iterator[Sentence]:
    """The part of each group by weights, its share, and what it borrows beyond its guarantee, or does not ask for."""
    if not (subject.domain.single_variant and subject.domain.same_everywhere):
        return  # dominant shares are not defined
    tree = Tree.of(subject.domain)
    shares = tree.levels(subject.allocation.x) * tree.phi
    if isinstance(subject.item, HierarchicalDrf):  # the largest of sums, on one pool
        shares = ((tree.groups.members * subject.allocation.x) @ subject.domain.arcs.load.T).max(axis=1).toarray().ravel()
    for k, name in enumerate(tree.groups.names):
        guarantee = float(tree.groups.guarantees[k])
        facts = {"group": name, "part": float(tree.phi[k]), "share": float(shares[k]), "guarantee": guarantee}
        text = f"Group {name}, {said(float(tree.phi[k]))} of the system by weights, has the share {said(float(shares[k]))}"
        yield Sentence(f"{text}{_of_quota(guarantee, float(tree.gamma[k]), float(shares[k]))}.", "group", source, facts)


def _of_quota(guarantee: float, asked: float, share: float) -> str:
    if not guarantee:
        return ""
    if asked < guarantee * (1.0 - FULL):
        return f", all that it asks for of its guarantee {said(guarantee)}: the rest is lent"
    if share <= guarantee * (1.0 + FULL):
        return ", its guarantee, and borrows nothing"
    return f": its guarantee {said(guarantee)}, and {said(share - guarantee)} that it borrows"


def _of_users(subject: Subject, source: str, left: float) -> Iterator[Sentence]:
    """`left` is the part of a full capacity that may be left; NotApplicable where a user could run more."""
    domain, tasks, x = subject.domain, subject.allocation.tasks, np.maximum(subject.allocation.x, 0.0)
    costs, full = Costs(domain, x.tolist(), False), domain.arcs.load @ x >= 1.0 - left
    limited = at_limit(domain, tasks, left)
    for n in subject.users:
        runs, facts = f"{domain.users[n]} runs {tasks_of(float(tasks[n]))}", {"user": domain.users[n], "tasks": float(tasks[n])}
        if limited[n]:
            yield Sentence(f"{runs}, all that it asked for.", "user", "instance", facts)
            continue
        rows = sorted({row for a in costs.arcs_of(n) for row in costs.load(a) if full[row]})
        places = [divmod(row, domain.R) for row in rows]
        names = [domain.resources[r] + f" on {domain.servers[i]}" * (domain.K > 1) for i, r in places]
        if not names:
            raise refused(subject, f"user {domain.users[n]!r} could run more: nothing that its tasks need is full")
        rule = next(words for kind, words in RULES if isinstance(subject.item, kind))
        held = f"{joined(names)}, which {'is' if len(names) == 1 else 'are'} full"
        yield Sentence(f"{runs}: its tasks need {held}, {rule}.", "user", source, {**facts, "full": names})
