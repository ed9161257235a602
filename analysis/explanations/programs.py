r"""Why a program gives what it gives, by prices: mmf, drfh-lp, utilitarian, uniform; and nb and alpha-fair, by budgets.

1. The dual solution: from a certificate in rationals on at most EXACT arcs, else from the allocation's prices.
2. By weak duality a capacity with price p that is larger by the part d raises the value by at most p d.
3. A task of user n is worth c_n to the value and costs q_n >= c_n where it is cheapest, or z_n less where its limit binds; tasks
   run only where the two are equal. In max-min programs only users with c_n > 0 bound the value.

For nb and alpha-fair (common/duality_gap.py; for nb also analysis/market.py):

1. Prices p that prove the allocation optimal: at them each user's cheapest task costs q_n, its marginal utility a_n or less.
2. nb: user n has the budget w_n and buys w_n / q_n tasks. alpha-fair: a_n is the derivative of its term, it spends a_n u_n.
3. A user runs only where a task costs least; a resource with a price is sold out.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.certificates.dual_solutions import ProgramCertificate
from fairalloc.analysis.explanations.costs import MOST_SERVERS, NOISE, SAME, Costs, at_limit, costs_in_floats, on_others, scaled
from fairalloc.analysis.explanations.explanation import Number, Sentence, Subject, by_weight, joined, said, tasks_of
from fairalloc.analysis.explanations.rounds import (
    PROVED,
    REFUSED,
    all_its_tasks,
    certificate_of,
    certified,
    costs_of,
    proved_by,
    refused,
)
from fairalloc.formulations.alpha_family import LargestSum
from fairalloc.formulations.common.duality_gap import first_order_gain, reference_prices
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.rule import AT_LIMIT, MaxMin
from fairalloc.formulations.uniform import Uniform
from fairalloc.models.numbers import Floats, without_rounding
from fairalloc.solvers.judge import user_error
from fairalloc.solvers.method import Limits
from fairalloc.solvers.options import allowed_user_error

ENOUGH, SMALL = 1e-9, 5_000
"""Above this gain, a linear program looks for better prices than the allocation's on instances of up to so many arcs."""


class DualSolution(NamedTuple):
    """Prices (K R,), what a task of each user is worth (N,), whether its limit holds it (N,), the value, and what proves them."""

    costs: Costs
    prices: Sequence[Number]
    worth: Sequence[Number]
    limited: NDArray[np.bool_]
    value: Number
    source: str
    proof: str


def explain_program(subject: Subject) -> tuple[str, list[Sentence]]:
    made, reason = certificate_of(subject, ProgramCertificate)  # 1
    known = _in_floats(subject, reason) if made is None else _certified(subject, made)
    sentences = [] if isinstance(subject.item, Uniform) else [_of_prices(subject, known)]  # 2
    for n in subject.domain_users:  # 3
        sentences += _of_user(subject, known, n)
    return known.proof, sentences


def _certified(subject: Subject, made: ProgramCertificate) -> DualSolution:
    """The certificate's prices with the allocation's own tasks: other answers of the program have the same value."""
    domain, proof, costs = subject.domain, made.proof, costs_of(subject, made.x)
    limited = at_limit(domain, np.array([costs.tasks(n) for n in range(domain.N)], dtype=float), 0.0)
    prices = proof.prices if costs.exact else [float(p) for p in proof.prices]
    return DualSolution(costs, prices, proof.worth, limited, proof.value, "certificate", certified(made))


def _in_floats(subject: Subject, reason: str) -> DualSolution:
    item, domain, allocation = subject.item, subject.domain, subject.allocation
    residual = item.residual(allocation)
    if not residual <= REFUSED:
        raise refused(subject, reason or f"what is known of it leaves a gain of {residual:.2g} open")
    prices = np.zeros(domain.K * domain.R)  # which prove an answer that limits alone hold back
    if allocation.prices is not None and allocation.prices.size == len(prices):  # for uniform they are those of the parts
        prices = np.maximum(allocation.prices.ravel(), 0.0)
    elif not isinstance(item, Uniform):
        raise refused(subject, reason or "it has no prices that prove it; solve again by a method that gives prices")
    q, limited = cheapest(domain, prices), at_limit(domain, allocation.tasks, residual)
    if isinstance(item, MaxMin):
        y = q / item.rate(domain)
        scale = 1.0 / float(y.sum()) if y.any() else 1.0
        q = np.where(y > max(NOISE, residual) * y.max(), q, 0.0)  # who bounds the value by less than is left open does not
    else:
        scale = scaled(domain, prices, allocation.tasks, domain.weights, ~limited)
    prices = prices * scale  # users are worth 1 together, or who is below its limit pays what it adds
    worth = q * scale if isinstance(item, MaxMin) else domain.weights
    value = next(iter(item.values(allocation).values()))
    text = proved_by(f"the prices of {allocation.method or 'the allocation'}", residual)
    costs = costs_in_floats(domain, allocation.x, residual)
    return DualSolution(costs, prices.tolist(), worth.tolist(), limited, value, "prices", text)


def _value(subject: Subject) -> str:
    if isinstance(subject.item, MaxMin):
        return f"the least {by_weight(subject.item, subject.domain) or 'share'}"
    return f"the sum of {'shares' if isinstance(subject.item, LargestSum) else 'weighted tasks'}"


def _of_prices(subject: Subject, known: DualSolution) -> Sentence:
    priced, least = known.costs.priced(known.prices), isinstance(subject.item, MaxMin)
    bound = [u for u, c in zip(subject.domain.users, known.worth, strict=True) if c > 0 and least]
    now_ = "As shares are counted now, more" if least else "More"
    text = f"No allocation has a larger value than {said(known.value)}, {_value(subject)}."
    if priced:
        text += f" Full, with their prices: {joined(map(str, priced))}. {now_} of any other capacity does not raise it, and "
        text += "1 % more of one with the price p raises it by at most p/100."
    else:
        text += f" No capacity has a price: {now_[0].lower() + now_[1:]} of none raises it."
    text += f" {joined(bound)} {'bounds' if len(bound) == 1 else 'bound'} it." if bound else ""
    facts = {"value": known.value, "prices": [p._asdict() for p in priced], "bound_by": bound}
    return Sentence(text, "prices", known.source, facts)


def _of_user(subject: Subject, known: DualSolution, n: int) -> list[Sentence]:
    costs, user = known.costs, subject.domain.users[n]
    tasks, worth = costs.tasks(n), known.worth[n]
    least = min(costs.cost(a, known.prices) for a in costs.arcs_of(n))
    facts: dict[str, Any] = {"user": user, "tasks": tasks, "worth": worth, "cheapest": least, "limited": bool(known.limited[n])}
    runs = f"{user} runs {tasks_of(tasks)}"
    if known.limited[n]:
        return all_its_tasks(runs, facts, known.source)
    if isinstance(subject.item, Uniform):
        return _of_part(subject, known, n, facts)
    if isinstance(subject.item, MaxMin):
        if not worth > 0:
            text = f"{runs}: it does not bound {_value(subject)}, and {subject.item.id} promises nobody more than that."
            return [Sentence(text, "user", known.source, facts)]
        text = f"{runs} and has {_value(subject)}: wherever it may run, its tasks need something that is full."
    elif float(least) > float(worth) * (1.0 + SAME) + NOISE and said(least) != said(worth):
        text = f"{runs}: a task of it is worth {said(worth)}, but costs {said(least)} where it is cheapest."
    else:
        text = f"{runs}: a task of it is worth {said(worth)} and costs as much where it is cheapest."
    return [Sentence(text, "user", known.source, facts), *costs.on_servers(n, known.prices, known.source, {})]


def _of_part(subject: Subject, known: DualSolution, n: int, facts: dict[str, Any]) -> list[Sentence]:
    """uniform: the user alone on its part of every server."""
    instance, costs = subject.instance, known.costs
    part = instance.exact.weights[n] / sum(instance.exact.weights)
    text = f"{instance.users[n]} runs {tasks_of(costs.tasks(n))}, what fits into {said(part)} of every server."
    result = [Sentence(text, "user", known.source, {**facts, "part": part})]
    arcs = np.array(costs.arcs_of(n))
    servers = np.unique(instance.arcs.server[arcs])
    for i in servers[:MOST_SERVERS]:
        server, here = instance.servers[i], arcs[instance.arcs.server[arcs] == i].tolist()
        used = {row: sum(costs.x[a] * costs.load(a).get(row, 0) for a in here) for b in here for row in costs.load(b)}
        full = [instance.resources[row % instance.R] for row, value in used.items() if float(value) >= 1.0 - AT_LIMIT]
        tasks, what = sum(costs.x[a] for a in here), f"its part of {joined(full)}" if full else "nothing of its part"
        own = {"user": instance.users[n], "server": server, "tasks": tasks, "held_by": full, "part": part}
        result.append(Sentence(f"on {server}, {tasks_of(tasks)}: {what} is full", "server", known.source, own))
    more = servers[MOST_SERVERS:]
    run = sum(costs.x[a] for a in arcs[np.isin(instance.arcs.server[arcs], more)])
    return result + on_others([instance.servers[i] for i in more], run, "what fits into its part of each", known.source)


def explain_budgets(subject: Subject) -> tuple[str, list[Sentence]]:
    if np.any(subject.allocation.tasks <= 0):
        raise refused(subject, "a user has no task")
    marginal = subject.item.marginal(subject.allocation)
    assert marginal is not None
    prices, residual = _best_prices(subject, marginal)
    if not residual <= REFUSED:
        raise refused(subject, f"no known prices prove it: they leave a gain of {residual:.2g} open")
    costs = costs_in_floats(subject.domain, subject.allocation.x, residual)
    priced = costs.priced(prices)
    tasks, near = subject.allocation.tasks, allowed_user_error(max(residual, PROVED))
    spends_less = cheapest(subject.instance, np.array(prices)) < (1.0 - near) * marginal
    limited = at_limit(subject.instance, tasks, residual) | at_limit(subject.instance, tasks, near) & spends_less
    if not limited.all() and not priced:
        raise refused(subject, f"user {subject.instance.users[limited.argmin()]!r} could run more: nothing with a price is full")
    open_ = _of_each_user(subject, prices, near)
    text = "Nothing is sold out: limits alone hold users back, and everything is free."
    if priced:
        text = f"Sold out, with the prices of the whole capacity: {joined(map(str, priced))}. Everything else is free."
    sentences = [Sentence(text, "prices", "prices", {"prices": [p._asdict() for p in priced]})]
    for n in subject.users:
        sentences += _of_buyer(subject, prices, float((marginal * tasks)[n]), costs, n, bool(limited[n]))
    return proved_by("prices", residual) + open_, sentences


def _of_each_user(subject: Subject, prices: Sequence[float], allowed: float) -> str:
    """What is not known of the users' tasks; NotApplicable where some are wrong, which the sum of all users' worth hides."""
    limits = Limits(deadline=subject.deadline)
    priced = subject.allocation.noted(prices=np.reshape(prices, subject.instance.capacities.shape))
    found = user_error(subject.item, priced, allowed, limits)
    if found.error is None or found.error <= allowed:
        return ""
    if found.sentence:
        raise refused(subject, found.sentence)
    return " How far each user's tasks are from the right ones is not known."


def _best_prices(subject: Subject, marginal: Floats) -> tuple[list[float], float]:
    """Prices (K R,) that prove most, at which who is below its limit spends its marginal utility, and what they leave open."""
    allocation, instance = subject.allocation, subject.instance
    known = [] if allocation.prices is None else [np.maximum(allocation.prices, 0.0)]
    gains = [first_order_gain(allocation, marginal, p) for p in known]
    if instance.A <= SMALL and not min(gains, default=np.inf) <= ENOUGH:
        known.append(reference_prices(allocation, marginal, np.inf if subject.left is None else subject.left))
        gains.append(first_order_gain(allocation, marginal, known[-1]))
    if not known:
        raise refused(subject, "it has no prices that prove it; solve again by a method that gives prices")
    best = int(np.argmin(gains))
    p, free = known[best].ravel(), ~at_limit(instance, allocation.tasks, allowed_user_error(max(gains[best], PROVED)))
    return (p * scaled(instance, p, allocation.tasks, marginal, free)).tolist(), gains[best]


def _of_buyer(subject: Subject, prices: list[float], budget: float, costs: Costs, n: int, limited: bool) -> list[Sentence]:
    instance, tasks = subject.instance, float(costs.tasks(n))
    least = float(min(costs.cost(a, prices) for a in costs.arcs_of(n)))
    facts = {"user": instance.users[n], "tasks": tasks, "budget": budget, "cheapest": least, "limited": limited}
    user = f"{instance.users[n]} has the budget {said(budget)}"
    if limited and least * tasks <= budget * (1.0 + SAME):
        paid = said(float(without_rounding(np.array(least * tasks), budget)))
        text = f"{user}, runs all that it asked for, {tasks_of(tasks)} at the cost {paid}, and keeps the rest: "
        return [Sentence(f"{text}no single capacity, made larger, gives it more tasks.", "user", "prices", facts)]
    text = f"{user} and a task costs it {said(least)} where it is cheapest, so it buys {said(tasks)}."
    return [Sentence(text, "user", "prices", facts), *costs.on_servers(n, prices, "prices", {})]
