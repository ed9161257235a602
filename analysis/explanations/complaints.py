"""Why njc gives what it gives: each user runs all its tasks, or has its entitlement on a bottleneck (D (1)-(2)).

1. The bottlenecks: from a certificate in rationals where the allocation has rationals or at most EXACT arcs, else from floats.
2. For each user the bottleneck of which it gets the largest part, and its entitlement; and what it gets of the other ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairalloc.analysis.certificates.pool import JustifiedCertificate
from fairalloc.analysis.explanations.explanation import Number, Sentence, Subject, joined, said, tasks_of
from fairalloc.analysis.explanations.rounds import PROVED, certificate_of, certified, proved_by, refused
from fairalloc.models.exact.rationals import exact_arcs


@dataclass(frozen=True)
class Bottlenecks:
    """For each user its tasks, its bottleneck (-1: it runs all its tasks), the part of that it gets, what it is entitled to."""

    tasks: Sequence[Number]
    loads: Sequence[Number]
    bottleneck: Sequence[int]
    part: Sequence[Number]
    entitled: Sequence[Number]
    source: str
    proof: str


def explain_complaints(subject: Subject) -> tuple[str, list[Sentence]]:
    """What proves the statements, and the sentences; NotApplicable where nothing proves that the allocation is the rule's."""
    known, resources = _known(subject), subject.domain.resources  # 1
    full = [resources[r] for r, load in enumerate(known.loads) if float(load) >= 1.0 - PROVED]
    text = f"Bottlenecks (full): {joined(full) or 'none'}. There may be other fair answers with other bottlenecks."
    sentences = [Sentence(text, "prices", known.source, {"full": full})]
    return known.proof, [*sentences, *(_of_user(subject, known, n) for n in subject.users)]  # 2


def _known(subject: Subject) -> Bottlenecks:
    allocation = subject.allocation
    made, reason = certificate_of(subject, JustifiedCertificate, always=allocation.x_exact is not None)
    if made is not None:
        loads = exact_arcs(subject.domain).loads(made.x)
        return Bottlenecks(made.x, loads, made.bottleneck, made.part, made.entitled, "certificate", certified(made))
    residual = subject.item.residual(allocation)
    if not residual <= PROVED:
        raise refused(subject, reason or f"somebody's complaint is justified by {residual:.2g}")
    instance = subject.domain
    held = np.where((allocation.load[0] >= 1.0 - PROVED)[:, None], instance.arcs.load.toarray() * allocation.x, -1.0)
    content = allocation.tasks >= instance.max_tasks * (1.0 - PROVED)
    best = np.where(content, -1, held.argmax(axis=0))
    part = np.where(content, 1.0, held.max(axis=0))
    entitled = instance.weights / instance.weights.sum()
    lists = (allocation.tasks.tolist(), allocation.load[0].tolist(), best.tolist(), part.tolist(), entitled.tolist())
    return Bottlenecks(*lists, "levels", proved_by("what is full", residual))


def _of_user(subject: Subject, known: Bottlenecks, n: int) -> Sentence:
    user, tasks, j = subject.domain.users[n], known.tasks[n], known.bottleneck[n]
    facts = {"user": user, "tasks": tasks, "entitled": known.entitled[n], "limited": j < 0}
    if j < 0:
        text = f"{user} runs {tasks_of(tasks)}, all that it asked for: it has nothing to complain of."
        return Sentence(text, "user", known.source, facts)
    resource, part, entitled = subject.domain.resources[j], known.part[n], known.entitled[n]
    text = f"{user} runs {tasks_of(tasks)}: it is held back by {resource}, which is full, and gets {said(part)} of it"
    text += f"; it is entitled to {said(entitled)}, so its complaint is not justified."
    server = subject.domain.servers[0]
    return Sentence(text, "user", known.source, {**facts, "server": server, "resource": resource, "part": part})
