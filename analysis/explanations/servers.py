r"""Why the game gives what it gives: server by server, by levels (formulations/game/game.py); and njc, by bottlenecks.

1. Levels: for alpha = infinity (ps-dsf, ps-dsf-tdm) those of a certificate in rationals on at most EXACT arcs, else those of full
   resources; for finite alpha prices kappa (K, R) that prove the equilibrium up to its residual.
2. At server i user n has the share z_ni = x_n / (phi_n gamma_ni), and the server starts to serve it at the level

       z_ni exp(-E_ni),   E_ni the excess (*) of game.py;   for alpha = infinity min over r with d_nr > 0 of l_ir

   who has tasks there is at its level, who has none is above it, and nobody below its limit is below its level.
3. alpha = infinity: the resource of that level is the bottleneck: it is full, and nobody whom it serves has a larger share.
   Finite alpha: what the user would pay there, divided among the full resources.

For njc each user runs all its tasks, or has its entitlement on a bottleneck (D (1)-(2)):

1. The bottlenecks: from a certificate in rationals where the allocation has rationals or at most EXACT arcs, else from floats.
2. For each user the bottleneck of which it gets the largest part, and its entitlement.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairalloc.analysis.certificates.game_certificate import LevelsCertificate
from fairalloc.analysis.certificates.pool import JustifiedCertificate
from fairalloc.analysis.explanations.costs import FULL, MOST_SERVERS, SAME, at_limit, cleaned, on_others
from fairalloc.analysis.explanations.explanation import Number, Sentence, Subject, joined, said, tasks_of
from fairalloc.analysis.explanations.rounds import PROVED, REFUSED, all_its_tasks, certificate_of, certified, proved_by, refused
from fairalloc.formulations.game.equilibrium import Equilibrium
from fairalloc.formulations.game.game import Game
from fairalloc.formulations.game.residual import definition_gap, level_gap
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.feasibility import scaled_down
from fairalloc.models.numbers import Floats
from fairalloc.solvers.exact.ps_dsf import unit


class Levels(NamedTuple):
    """What is known: x (A,) tasks, 0 where only rounding leaves some, z (A,) shares, kappa (K R,) 1 / level where it is full,
    and (N,) who runs all its tasks.
    """

    game: Game
    x: Sequence[Number]
    z: Sequence[Number]
    kappa: Sequence[Number]
    limited: Sequence[bool]
    source: str
    proof: str


def explain_servers(subject: Subject) -> tuple[str, list[Sentence]]:
    known = _known(subject)  # 1
    return known.proof, [sentence for n in subject.users for sentence in _of_user(known, n)]  # 2, 3


def _known(subject: Subject) -> Levels:
    item = subject.item
    assert isinstance(item, Equilibrium)
    game = item.write_game(subject.domain)
    made, reason = certificate_of(subject, LevelsCertificate)
    if made is not None:
        arcs = exact_arcs(game.instance)
        z = [made.tasks[n] / one for n, one in zip(arcs.user, unit(game.instance, arcs), strict=True)]
        limited = [u == limit for u, limit in zip(made.tasks, arcs.limits, strict=True)]
        return Levels(game, made.x, z, made.kappa, limited, "certificate", certified(made))
    residual = item.residual(subject.allocation)
    if not residual <= REFUSED:
        raise refused(subject, reason or f"it is off by {residual:.2g} at some server")
    return _in_floats(game, subject, residual)


def _in_floats(game: Game, subject: Subject, residual: float) -> Levels:
    x = np.array(cleaned(game.instance, scaled_down(game.instance, subject.allocation.x)))
    z = game.shares(game.tasks(x))
    full = game.load(game.fractions(x)) >= 1.0 - max(FULL, residual)
    level = np.zeros(full.shape)  # of a full resource the largest share that it serves
    np.maximum.at(level, game.server, np.where((game.w > 0) & (x > 0)[:, None], z[:, None], 0.0))
    kappa = np.divide(1.0, level, out=np.zeros_like(level), where=full & (level > 0))
    if game.finite.any():
        kappa = np.where(game.finite[:, None], _prices(game, x, subject.allocation.prices), kappa)
        kappa = np.where(game.parts(kappa) > FULL, kappa, 0.0)
    limited = at_limit(game.instance, game.tasks(x), residual)
    for a in np.flatnonzero(~limited[game.user] & ~(game.w * kappa[game.server]).any(axis=1))[:1]:
        user, server = game.instance.users[game.user[a]], game.instance.servers[game.server[a]]
        raise refused(subject, f"user {user!r} could run more: nothing that its tasks need on {server!r} is full")
    proof = proved_by("the levels of every server", residual)
    return Levels(game, x.tolist(), z.tolist(), kappa.ravel().tolist(), limited.tolist(), "levels", proof)


def _prices(game: Game, x: Floats, hint: Floats | None) -> Floats:
    """(K, R) of the candidates the prices that prove most, server by server."""
    result, best = np.zeros((game.instance.K, game.instance.R)), np.full(game.instance.K, np.inf)
    hint = hint if hint is not None and hint.shape == result.shape else None
    for kappa in game.prices(x, hint):
        gap = np.maximum(definition_gap(game, x, kappa), level_gap(game, x, kappa))
        result = np.where((gap < best)[:, None], kappa, result)
        best = np.minimum(best, gap)
    return result


def _of_user(known: Levels, n: int) -> list[Sentence]:
    game, domain = known.game, known.game.instance
    here = np.flatnonzero(game.user == n).tolist()
    tasks, user = sum(known.x[a] for a in here), domain.users[n]
    facts = {"user": user, "tasks": tasks, "limited": known.limited[n]}
    if known.limited[n]:
        return all_its_tasks(f"{user} runs {tasks_of(tasks)}", facts, known.source)
    text = f"{user} runs {tasks_of(tasks)}. What each of its servers sees:"
    order = sorted(here, key=lambda a: (-float(known.x[a]) / float(game.gamma[a]), float(known.z[a])))
    result = [Sentence(text, "user", known.source, facts), *(_of_arc(known, a) for a in order[:MOST_SERVERS])]
    more = order[MOST_SERVERS:]
    names, run = [domain.servers[int(game.server[a])] for a in more], sum(known.x[a] for a in more)
    return result + on_others(names, run, "held back on each by what is full there", known.source)


def _of_arc(known: Levels, a: int) -> Sentence:
    game, domain = known.game, known.game.instance
    i, level = int(game.server[a]), _level(known, a)
    facts = {"user": domain.users[game.user[a]], "server": domain.servers[i], "tasks": known.x[a], "share": known.z[a]}
    way = f" as variant {domain.arcs.variant[a]}" * bool(domain.arcs.variant[game.user == game.user[a]].any())
    start = f"on {domain.servers[i]}{way}, {tasks_of(known.x[a])}, the virtual dominant share {said(known.z[a])}"
    why, held = _by_prices(known, a, level) if game.finite[i] else _by_bottleneck(known, a, level)
    return Sentence(start + why, "server", known.source, {**facts, "level": level, **held})


def _by_prices(known: Levels, a: int, level: Number) -> tuple[str, dict[str, Any]]:
    """What holds the arc back at a server of finite alpha, in words and as facts: the full resources that its user would pay."""
    names, parts = known.game.instance.resources, _parts(known, a)
    rounded = ["more than 99%" if part > 0.995 else "less than 1%" if part < 0.005 else f"{part:.0%}" for _, part in parts]
    told = [f" ({part} of its price)" * (len(parts) > 1) for part in rounded]
    what = joined([names[r] + part for (r, _), part in zip(parts, told, strict=True)])
    above = not known.x[a] and float(known.z[a]) > (1.0 + SAME) * float(level)
    reason = f"above {said(level)}, up to which the server serves it" if above else "which is where the server serves it"
    held = [{"resource": names[r], "part": part} for r, part in parts]
    return f", {reason}: held back by {what}", {"held_by": held, "full": [names[r] for r, _ in parts]}


def _by_bottleneck(known: Levels, a: int, level: Number) -> tuple[str, dict[str, Any]]:
    """The same at a server of infinite alpha: the resource of its level, and whom that serves."""
    game, domain, i = known.game, known.game.instance, int(known.game.server[a])
    r = max(np.flatnonzero(game.w[a] > 0).tolist(), key=lambda r: float(known.kappa[i * domain.R + r]))
    others = [b for b in np.flatnonzero(game.server == i).tolist() if known.x[b] > 0 and game.w[b, r] > 0]
    serves, resource = [domain.users[game.user[b]] for b in others], domain.resources[r]
    why = f": the bottleneck is {resource}, it is full and serves {joined(serves)}, nobody beyond the share {said(level)}"
    return why, {"held_by": [{"resource": resource, "level": level}], "serves": serves, "full": [resource]}


def _level(known: Levels, a: int) -> Number:
    """The share up to which the server serves the user of the arc."""
    game, R, i = known.game, known.game.instance.R, int(known.game.server[a])
    if not game.finite[i]:
        return 1 / max(known.kappa[i * R + r] for r in range(R) if game.w[a, r] > 0)
    kappa = np.array(known.kappa, dtype=float).reshape(-1, R)
    return float(np.exp(game.marginals.inverse(game.log_price(kappa))[a]))


def _parts(known: Levels, a: int) -> list[tuple[int, float]]:
    """Pairs (resource, part) of what the user of the arc would pay at its server, the largest first."""
    game, R, i = known.game, known.game.instance.R, int(known.game.server[a])
    kappa = np.array(known.kappa[i * R : (i + 1) * R], dtype=float)
    with np.errstate(divide="ignore"):
        logs = np.log(game.w[a]) + game.beta[i] * np.log(kappa)
    paid = np.exp(logs - logs.max())
    parts = paid / paid.sum()
    return [(int(r), float(parts[r])) for r in np.argsort(-parts) if parts[r] > FULL]


class Bottlenecks(NamedTuple):
    """For each user its tasks, its bottleneck (-1: it runs all its tasks), the part of that it gets, what it is entitled to."""

    tasks: Sequence[Number]
    loads: Sequence[Number]
    bottleneck: Sequence[int]
    part: Sequence[Number]
    entitled: Sequence[Number]
    source: str
    proof: str


def explain_complaints(subject: Subject) -> tuple[str, list[Sentence]]:
    known, resources = _bottlenecks(subject), subject.domain.resources  # 1
    full = [resources[r] for r, load in enumerate(known.loads) if float(load) >= 1.0 - PROVED]
    text = f"Bottlenecks (full): {joined(full) or 'none'}. There may be other fair answers with other bottlenecks."
    sentences = [Sentence(text, "prices", known.source, {"full": full})]
    return known.proof, [*sentences, *(_of_complaint(subject, known, n) for n in subject.users)]  # 2


def _bottlenecks(subject: Subject) -> Bottlenecks:
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


def _of_complaint(subject: Subject, known: Bottlenecks, n: int) -> Sentence:
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
