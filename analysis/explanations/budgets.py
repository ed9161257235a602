r"""Why nb and alpha-fair give what they give: prices and budgets (common/duality_gap.py; for nb also analysis/market.py).

1. Prices p that prove the allocation optimal: at them each user's cheapest task costs q_n, its marginal utility a_n or less.
2. nb: user n has the budget w_n and buys w_n / q_n tasks. alpha-fair: a_n is the derivative of its term, it spends a_n u_n.
3. A user runs only where a task costs least; a resource with a price is sold out.
"""

import numpy as np

from fairalloc.analysis.explanations.costs import SAME, Costs, cleaned, scaled
from fairalloc.analysis.explanations.explanation import Sentence, Subject, joined, said, tasks_of
from fairalloc.analysis.explanations.rounds import REFUSED, proved_by, refused
from fairalloc.formulations.common.duality_gap import first_order_gain, reference_prices
from fairalloc.formulations.lexicographic.rule import AT_LIMIT
from fairalloc.models.numbers import Floats

ENOUGH, SMALL = 1e-9, 5_000
"""Above this gain, a linear program looks for better prices than the allocation's on instances of up to so many arcs."""


def explain_budgets(subject: Subject) -> tuple[str, list[Sentence]]:
    """What proves the statements, and the sentences; NotApplicable where nothing proves that the allocation is the rule's."""
    if np.any(subject.allocation.tasks <= 0):
        raise refused(subject, "a user has no task")
    marginal = subject.item.marginal(subject.allocation)
    assert marginal is not None
    prices, residual = _prices(subject, marginal)
    if not residual <= REFUSED:
        raise refused(subject, f"no known prices prove it: they leave a gain of {residual:.2g} open")
    costs = Costs(subject.domain, cleaned(subject.domain, subject.allocation.x), False)
    priced = costs.priced(prices)
    below = np.flatnonzero(subject.allocation.tasks < subject.instance.max_tasks * (1.0 - max(AT_LIMIT, residual))).tolist()
    if below and not priced:
        raise refused(subject, f"user {subject.instance.users[below[0]]!r} could run more: nothing with a price is full")
    text = "Nothing is sold out: limits alone hold users back, and everything is free."
    if priced:
        text = f"Sold out, with the prices of the whole capacity: {joined(map(str, priced))}. Everything else is free."
    sentences = [Sentence(text, "prices", "prices", {"prices": [p.facts for p in priced]})]
    for n in subject.users:
        sentences += _of_user(subject, prices, float((marginal * subject.allocation.tasks)[n]), costs, n)
    return proved_by("prices", residual), sentences


def _prices(subject: Subject, marginal: Floats) -> tuple[list[float], float]:
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
    p = known[best].ravel()
    return (p * scaled(instance, p, allocation.tasks, marginal)).tolist(), gains[best]


def _of_user(subject: Subject, prices: list[float], budget: float, costs: Costs, n: int) -> list[Sentence]:
    instance, tasks = subject.instance, float(costs.tasks(n))
    least = float(min(costs.cost(a, prices) for a in costs.arcs_of(n)))
    limited = tasks >= float(instance.max_tasks[n]) * (1.0 - AT_LIMIT)
    facts = {"user": instance.users[n], "tasks": tasks, "budget": budget, "cheapest": least, "limited": limited}
    user = f"{instance.users[n]} has the budget {said(budget)}"
    if limited and least * tasks <= budget * (1.0 + SAME):
        text = f"{user}, runs all that it asked for, {tasks_of(tasks)} at the cost {said(least * tasks)}, and keeps the rest: "
        return [Sentence(f"{text}no single capacity, made larger, gives it more tasks.", "user", "prices", facts)]
    text = f"{user} and a task costs it {said(least)} where it is cheapest, so it buys {said(tasks)}."
    return [Sentence(text, "user", "prices", facts), *costs.on_servers(n, prices, "prices", {})]
