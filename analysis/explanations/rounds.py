r"""Why a lexicographic rule gives what it gives: round by round (formulations/lexicographic/rule.py).

1. The rounds: from a certificate in rationals on at most EXACT arcs, else from the prices that came with the allocation.
2. For each round who stops, at which level, and which prices prove that nobody of them can rise: at these prices

       sum_ir p_ir = sum_m y_m min(v_m, g),     y_n = (cost of n's cheapest task) / rate_n > 0                           (*)

   in parts of capacity, scaled so that the users who are still active are worth 1 together.
3. For each user the servers, and there the priced resources that its tasks need.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fairalloc.analysis.certificates import Certificate, NotCertified, certify
from fairalloc.analysis.certificates.dual_solutions import LeximinCertificate
from fairalloc.analysis.explanations.costs import LEFT, Costs, cleaned, costs_in_floats
from fairalloc.analysis.explanations.explanation import Number, Sentence, Subject, at_level, by_weight, joined, said, tasks_of
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.rule import AT_LIMIT, Leximin
from fairalloc.formulations.lexicographic.weak_duality import excess, feasible
from fairalloc.models.errors import NotApplicable
from fairalloc.models.exact.rationals import Rationals, exact_arcs
from fairalloc.models.numbers import Floats

C = TypeVar("C", bound=Certificate)

EXACT = 200
"""Arcs up to which statements come from certificates in rationals."""

PROVED, REFUSED = 1e-6, LEFT
"""Residuals up to which prices are a proof, beyond which they leave something open, and above which the allocation is refused."""


class Layer(NamedTuple):
    """One round: its level g, who stop, those of them who run all their tasks, and prices (K R,) in parts of capacity."""

    level: Number
    users: tuple[int, ...]
    limited: tuple[int, ...]
    prices: Sequence[Number]


class Rounds(NamedTuple):
    """All rounds, with what proves them; `by_weight` says what levels are where they are no shares."""

    layers: list[Layer]
    costs: Costs
    rate: Sequence[Number]
    by_weight: str
    source: str
    proof: str


def explain_rounds(subject: Subject) -> tuple[str, list[Sentence]]:
    rounds = _known(subject)  # 1
    sentences = _of_rounds(rounds, subject.domain_users)  # 2
    of = {n: k for k, layer in enumerate(rounds.layers) for n in layer.users}
    for n in subject.domain_users:  # 3
        sentences += _of_user(rounds, n, of[n])
    return rounds.proof, sentences


def refused(subject: Subject, reason: str) -> NotApplicable:
    """The error for an allocation that is not what the mechanism gives."""
    return NotApplicable(f"the allocation cannot be explained by {subject.item.id!r}: {reason}")


def certificate_of(subject: Subject, kind: type[C], always: bool = False) -> tuple[C | None, str]:
    """The certificate of this kind, on up to EXACT arcs or always, or None and the reason why there is none."""
    if subject.instance.A > EXACT and not always:
        return None, ""
    made = certify(subject.allocation, subject.item, time_limit=subject.left)
    if isinstance(made, kind):
        return made, ""
    return None, made.reason if isinstance(made, NotCertified) else ""


def costs_of(subject: Subject, x: Rationals) -> Costs:
    """The costs at certified tasks x (A,), or at the allocation's own where these are others of the same value."""
    allocation, arcs, proved = subject.allocation, subject.instance.arcs, np.array(x, dtype=float)
    own = np.where((allocation.shown_tasks[arcs.user] == 0) & (proved == 0), 0.0, allocation.x)
    if np.all(np.abs(own - proved) <= PROVED * np.maximum(proved, np.minimum(arcs.gamma, allocation.tasks[arcs.user]))):
        return Costs(subject.domain, x, True)
    return Costs(subject.domain, cleaned(subject.domain, own), False)


def certified(made: Certificate) -> str:
    """The sentence on what proves the statements."""
    return f"Proved by a certificate in rationals ({made.claim})."


def proved_by(what: str, residual: float) -> str:
    """The same for floats, with what they leave open."""
    open_ = "" if residual <= PROVED else " That much is left open, so this is no proof."
    return f"Proved by {what}, up to a residual of {residual:.1e}.{open_}"


def all_its_tasks(runs: str, facts: Mapping[str, Any], source: str) -> list[Sentence]:
    """The sentence on a user at its limit."""
    text = f"{runs}, all that it asked for, so no single capacity, made larger, gives it more tasks."
    return [Sentence(text, "user", source, facts)]


def _known(subject: Subject) -> Rounds:
    item, reason = subject.item, ""
    assert isinstance(item, Leximin)
    if item.exact_share is not None:
        made, reason = certificate_of(subject, LeximinCertificate)
        if made is not None:
            return _certified(subject, item, made)
    layers = item.proofs(subject.allocation)
    if layers is None:
        raise refused(subject, reason or "it has no prices that prove its shares; solve again by a method that gives prices")
    residual = item.residual(subject.allocation)
    if not residual <= REFUSED:
        raise refused(subject, reason or f"its prices leave {residual:.2g} of a share open")
    return _in_floats(subject, item, layers, residual)


def _certified(subject: Subject, item: Leximin, made: LeximinCertificate) -> Rounds:
    """The certificate's rounds, and the allocation's own split: what has a price is full in every split of the same tasks."""
    limits, domain = exact_arcs(subject.domain).limits, subject.domain
    found, costs = Costs(domain, made.x, True), costs_of(subject, made.x)
    layers = []
    for part in made.rounds:
        full = tuple(n for n in part.users if limits[n] is not None and found.tasks(n) == limits[n])
        level, prices = (part.level, part.prices) if costs.exact else (float(part.level), [float(p) for p in part.prices])
        layers.append(Layer(level, part.users, full, prices))
    rate: Sequence[Number] = item.exact_rate(domain)
    rate = rate if costs.exact else tuple(float(r) for r in rate)
    return Rounds(layers, costs, rate, by_weight(item, domain), "certificate", certified(made))


def _in_floats(subject: Subject, item: Leximin, layers: Floats, residual: float) -> Rounds:
    """Who runs all its tasks, up to what prices leave open, stops at its own level, all others where least excess is left."""
    domain = subject.domain
    rate, x = item.rate(domain), feasible(domain, subject.allocation.x)
    v = rate * (domain.arcs.owner @ x)
    left, room = np.array([excess(domain, rate, v, layer[None]) for layer in layers]), rate * domain.max_tasks - v
    limited = (v >= rate * domain.max_tasks * (1.0 - AT_LIMIT)) | (left.min(axis=0) >= room)
    stop = np.where(limited, -1, left.argmin(axis=0))
    groups = [(float(np.median(v[stop == t])), np.flatnonzero(stop == t), layers[t]) for t in set(stop.tolist()) - {-1}]
    groups += [(float(v[n]), np.array([n]), np.zeros_like(layers[0])) for n in np.flatnonzero(limited)]
    active, found = np.ones(domain.N, bool), []
    for level, users, prices in sorted(groups, key=lambda group: group[0]):
        p = np.maximum(prices.ravel(), 0.0)
        y = float((cheapest(domain, p) / rate)[active].sum())
        active[users] = False
        full = tuple(users[limited[users]].tolist())
        found.append(Layer(level, tuple(users.tolist()), full, (p / y if y > 0 else p).tolist()))
    proof = proved_by(f"the prices of {subject.allocation.method or 'the allocation'}", residual)
    return Rounds(found, costs_in_floats(domain, x, residual), rate.tolist(), by_weight(item, domain), "prices", proof)


def _of_rounds(rounds: Rounds, users: Sequence[int]) -> list[Sentence]:
    """A sentence for each round, first those in which the given users stop where there are many; limits are put together."""
    priced = [any(layer.prices) for layer in rounds.layers]
    known = [list(ks) for _, ks in groupby(range(len(priced)), key=lambda k: k if priced[k] else -1)]
    wanted = [ks for ks in known if any(set(users) & set(rounds.layers[k].users) for k in ks)]
    others = [ks for ks in known if ks not in wanted]
    chosen = sorted([*wanted, *others[: max(MOST_ROUNDS - len(wanted), 0)]])
    result = [_of_round(rounds, ks) for ks in chosen]
    if any(priced):
        result.append(Sentence(MEANING, "note", rounds.source))
    if more := len(known) - len(chosen):
        result.append(Sentence(f"{more} more rounds are left out here.", "note", rounds.source, {"more_rounds": more}))
    return result


MEANING = (
    "A price p of a capacity means that 1 % more of it raises the level of that round by at most p/100, as long as shares are "
    "counted as they are now and the users of earlier rounds keep theirs; what has no price there does not raise it at all."
)

MOST_ROUNDS = 12
"""Sentences on rounds, unless more are needed for the users that are explained."""


def _of_round(rounds: Rounds, ks: list[int]) -> Sentence:
    layers, names = [rounds.layers[k] for k in ks], rounds.costs.instance.users
    users = [names[n] for layer in layers for n in layer.users]
    limited = [names[n] for layer in layers for n in layer.limited]
    first, last = layers[0].level, layers[-1].level
    several, word = "s" * (len(ks) > 1), "and" if len(ks) == 2 else "to"
    which, levels = f"Round{several} {ks[0] + 1}", said(first)
    if several:
        which, levels = f"{which} {word} {ks[-1] + 1}", f"{levels} {word} {said(last)}"
    level = at_level(levels, rounds.by_weight, several)
    priced = rounds.costs.priced(layers[0].prices)
    text = f"{which}: {joined(users)} {'stops' if len(users) == 1 else 'stop'} at the {level}."
    if priced:
        text += f" Full, with their prices: {joined(map(str, priced))}."
    if limited:
        text += f" {joined(limited)} {'runs' if len(limited) == 1 else 'run'} all the tasks asked for."
    facts: dict[str, Any] = {"round": ks[0] + 1, "last_round": ks[-1] + 1, "level": first, "users": users, "limited": limited}
    return Sentence(text, "round", rounds.source, {**facts, "prices": [p._asdict() for p in priced]})


def _of_user(rounds: Rounds, n: int, k: int) -> list[Sentence]:
    layer, costs = rounds.layers[k], rounds.costs
    user, tasks = costs.instance.users[n], costs.tasks(n)
    share, limited = rounds.rate[n] * tasks, n in layer.limited
    facts = {"user": user, "tasks": tasks, "share": share, "round": k + 1, "limited": limited}
    text = f"{user} runs {tasks_of(tasks)}, the {rounds.by_weight or 'share'} {said(share)}, and stops in round {k + 1}"
    if limited:
        text = f"{text}: these are all the tasks it asked for, so no single capacity, made larger, gives it more tasks."
        return [Sentence(text, "user", rounds.source, facts)]
    text = f"{text}: wherever it may run, its tasks need something that is full."
    servers = costs.on_servers(n, layer.prices, rounds.source, {"round": k + 1})
    return [Sentence(text, "user", rounds.source, facts), *servers]
