"""What tasks cost at given prices, arc by arc, in rationals or in floating point; sentences about capacities and servers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.explanations.explanation import MOST_NAMES, Number, Sentence, joined, said, tasks_of
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.rule import AT_LIMIT
from fairalloc.models.exact.rationals import ExactArcs, exact_arcs
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import Floats

MOST_SERVERS = 6
"""Servers of a user that get a sentence of their own."""

FULL, LEFT = 1e-6, 1e-3
"""A resource is full where no more than this part of it is left, and with an exact price where no more than the second."""


class Priced(NamedTuple):
    """A resource of a server with its price, in parts of the capacity."""

    server: str
    resource: str
    price: Number

    def __str__(self) -> str:
        return f"{self.resource} on {self.server} ({said(self.price)})"


@dataclass(frozen=True, eq=False)
class Costs:
    """What tasks take and cost, in rationals where `exact`.

    instance : the domain of the rule
    x : (A,) tasks
    left : the part of a resource with a price that may be free where it counts as full, in floats
    """

    instance: Instance
    x: Sequence[Number]
    exact: bool
    left: float = LEFT

    @cached_property
    def _exact(self) -> ExactArcs:
        return exact_arcs(self.instance)

    def load(self, a: int) -> Mapping[int, Number]:
        """{i R + r: part} of what a task on arc a takes."""
        if self.exact:
            return dict(self._exact.load[a])
        load = self.instance.arcs.load
        here = slice(*load.indptr[a : a + 2])
        return dict(zip(load.indices[here].tolist(), load.data[here].tolist(), strict=True))

    def cost(self, a: int, prices: Sequence[Number]) -> Number:
        """What a task on arc a costs at prices (K R,)."""
        return sum(part * prices[row] for row, part in self.load(a).items())

    def arcs_of(self, n: int) -> list[int]:
        return list(range(*self.instance.arcs.owner.indptr[n : n + 2].tolist()))

    def tasks(self, n: int) -> Number:
        return sum(self.x[a] for a in self.arcs_of(n))

    def priced(self, prices: Sequence[Number], rows: Sequence[int] | None = None) -> list[Priced]:
        """The resources with a price (K R,), the dearest first; `rows` are i R + r of those that count, None = all."""
        R, names = self.instance.R, self.instance
        values = np.array(prices, dtype=float)
        felt = values > 0.0 if self.exact else self._felt(values)
        chosen = np.array([j for j in (range(len(values)) if rows is None else rows) if felt[j]], dtype=int)
        order = chosen[np.argsort(-values[chosen], kind="stable")].tolist()
        return [Priced(names.servers[j // R], names.resources[j % R], prices[j]) for j in order]

    def _felt(self, prices: Floats) -> NDArray[np.bool_]:
        """(K R,) full resources whose price is more than NOISE of what a task costs some user who spends more than NOISE.

        At most `left` of them is free, or the part of LEFT that the price is of the cost.
        """
        arcs, x = self.instance.arcs, np.array(self.x, dtype=float)
        load, least = arcs.load.tocoo(), cheapest(self.instance, prices)
        spent = least * (arcs.owner @ x)
        user, paid, free = arcs.user[load.col], load.data * prices[load.row], (1.0 - arcs.load @ x)[load.row]
        here = (spent > NOISE * spent.max())[user] & (paid > NOISE * least[user])
        here &= (free <= self.left) | (free * least[user] <= LEFT * paid)
        return np.bincount(load.row[here], minlength=len(prices)) > 0

    def on_servers(self, n: int, prices: Sequence[Number], source: str, facts: dict[str, Any]) -> list[Sentence]:
        """Sentences on a user whom prices (K R,) hold back: on each server the priced resources that its tasks need.

        Servers where it runs tasks come first, then those where a task costs least; all beyond MOST_SERVERS are one sentence.
        """
        cost = {a: self.cost(a, prices) for a in self.arcs_of(n)}
        servers: dict[int, list[int]] = {}
        for a in sorted(cost, key=lambda a: (-float(self.x[a] > 0), float(cost[a]))):
            servers.setdefault(int(self.instance.arcs.server[a]), []).append(a)
        result, each = [], list(servers.items())
        for i, here in each[:MOST_SERVERS]:
            text, own = self._held_back(here, prices, cost)
            place = {"user": self.instance.users[n], "server": self.instance.servers[i]}
            result.append(Sentence(f"on {place['server']}, {text}", "server", source, {**place, **own, **facts}))
        names, rest = (
            [self.instance.servers[i] for i, _ in each[MOST_SERVERS:]],
            [a for _, here in each[MOST_SERVERS:] for a in here],
        )
        least = min((cost[a] for a in rest), default=0)
        why = f"a task costs at least {said(least)} on each of them"
        return result + on_others(names, sum(self.x[a] for a in rest), why, source, cheapest=least)

    def _held_back(self, here: list[int], prices: Sequence[Number], cost: Mapping[int, Number]) -> tuple[str, dict[str, Any]]:
        """What holds a user back on one server, in words and as facts.

        `here` are the arcs of the user there, and `cost` is {arc: what a task costs at the prices} for all of its arcs.
        """
        held = self.priced(prices, sorted({row for a in here for row in self.load(a)}))
        tasks, own, least = sum(self.x[a] for a in here), min(cost[a] for a in here), min(cost.values())
        what = joined([f"{p.resource} (full, price {said(p.price)})" for p in held]) or "nothing that has a price"
        dear = (own > least if self.exact else float(own) > (1.0 + SAME) * float(least)) and said(own) != said(least)
        more = f"; a task costs {said(own)} here, {said(least)} where it is cheapest" if dear and not tasks else ""
        facts = {"tasks": tasks, "cost": own, "cheapest": least, "held_by": [p._asdict() for p in held]}
        return f"{tasks_of(tasks)}: held back by {what}{more}", facts


def on_others(servers: Sequence[str], tasks: Number, why: str, source: str, **facts: Any) -> list[Sentence]:
    """One sentence on the tasks of a user on servers beyond MOST_SERVERS; none where there are no more."""
    text = f"on {joined(servers, MOST_NAMES // 2)}, {tasks_of(tasks)} in all: {why}"
    return [Sentence(text, "server", source, {"servers": [*servers], "tasks": tasks, **facts})] if servers else []


def at_limit(instance: Instance, tasks: Floats, residual: float) -> NDArray[np.bool_]:
    """(N,) users who run all their tasks, up to what a proof leaves open."""
    return np.asarray(tasks >= instance.max_tasks * (1.0 - max(AT_LIMIT, residual)))


def scaled(instance: Instance, prices: Floats, tasks: Floats, worth: Floats, free: NDArray[np.bool_]) -> float:
    """The factor of prices (K R,) with which `free` users, below their limits, pay what they add, (N,) `worth` a task."""
    paid = float((cheapest(instance, prices) * tasks)[free].sum())
    return float((worth * tasks)[free].sum()) / paid if paid > 0 else 1.0


def costs_in_floats(instance: Instance, x: Floats, residual: float) -> Costs:
    """Those of tasks x (A,) where a proof leaves `residual` open."""
    return Costs(instance, cleaned(instance, x), False, max(FULL, residual))


def cleaned(instance: Instance, x: Floats) -> list[float]:
    """(A,) the tasks without what solvers leave of 0."""
    tasks = (instance.arcs.owner @ x)[instance.arcs.user]
    result: list[float] = np.where(x > NOISE * np.minimum(instance.arcs.gamma, tasks), x, 0.0).tolist()
    return result


NOISE, SAME = 1e-9, 1e-6
"""Prices below this part of a task's cost, or tasks of a user, are what solvers leave of 0; costs that differ less are equal."""
