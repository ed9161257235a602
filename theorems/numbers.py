"""Numbers beside yes and no: the worst known ratio of each mechanism for four properties, and what is proved of it.

    price of fairness    the most tasks that can be run in all, by those that the mechanism runs
    gain                 the tasks that a user runs after one misreport of its demands, by those before
    sharing deficit      the tasks that a user runs with 1 / N of every server, by its own
    envy                 the tasks that a user runs with the bundles of another, by its own

A ratio is at least 1, and 1 where the property holds; it is infinite where somebody runs nothing. All users have the weight 1 and
may use every server. What is known is the worst case that a search found (search/worst_ratios.py): among instances of up to 4
users, 2 servers and 2 resources whose numbers are integers up to MOST, and among the cases on record. A worse one may exist.
Bounds follow from the first table: 1 for a property that holds. Where sharing incentive holds, x_n >= a_n / N, with a_n what
n runs alone. Nobody runs more than a_n, so neither the gain nor the price of fairness, which is at most sum a_n / sum x_n, is
above N.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.strategyproofness import gains
from fairalloc.analysis.solution_sets import UNLISTED
from fairalloc.formulations import MECHANISMS
from fairalloc.models.instance import Instance
from fairalloc.models.tables import Grid
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case, parse_case
from fairalloc.theorems.cells import FLAT, HOLDS, JOBS, Cell, Column
from fairalloc.theorems.packaged_files import packaged_text

MOST = 6
"""The largest number in an instance that is searched."""

SCHEMA = "fairalloc/worst-ratios-1"

FLOORED = 10**4
"""Ratios of irrational answers, whose tasks are proved to some 1e-7, are rounded down to parts of this."""

Answer = Callable[[Instance], Holdings]


def price_of_fairness(case: Case, answer: Answer) -> Any:
    """The most tasks in all, by those of the mechanism."""
    own = answer(case.instance)
    most = Holdings(solve(own.instance, "utilitarian", "exact" if own.exact else None), own.exact)
    return _by(sum(most.tasks), sum(own.tasks))


def gain(case: Case, answer: Answer) -> Any:
    """What the one who misreports runs after it, by what it runs before."""
    before, after = answer(case.instance), answer(case.reported)
    assert case.misreport is not None, "somebody misreports"
    ((n, more),) = gains(case.instance, case.misreport, before.allocation, after.allocation)[0].items()
    return _by(before.tasks[n] + more * before.alone[n], before.tasks[n])


def sharing_deficit(case: Case, answer: Answer) -> Any:
    """The largest ratio of what somebody runs with an equal part of every server."""
    h = answer(case.instance)
    part = h.pools / h.instance.N
    return max(_by(h.utilities(n, part[None])[0], h.tasks[n]) for n in range(h.instance.N))


def envy(case: Case, answer: Answer) -> Any:
    """The largest ratio of what somebody runs with the bundles of another."""
    h = answer(case.instance)
    users = range(h.instance.N)
    return max(_by(h.utilities(n, h.bundles[m : m + 1])[0], h.tasks[n]) for n in users for m in users if m != n)


QUANTITIES: Mapping[str, tuple[Callable[[Case, Answer], Any], str]] = {
    "price of fairness": (price_of_fairness, ""),
    "gain": (gain, "strategyproofness"),
    "sharing deficit": (sharing_deficit, "sharing-incentive"),
    "envy": (envy, "envy-freeness"),
}
"""What is measured, and the property that makes it 1."""


def _by(part: Any, whole: Any) -> Any:
    """The ratio; infinite where the whole is 0, and 1 where both are."""
    if not whole > (0 if isinstance(whole, Fraction) else 1e-9):
        return inf if part > 1e-9 else 1
    return part / whole


def ratio_of(quantity: str, case: Case, answer: Answer) -> Any:
    """The ratio of a case, which is at least 1."""
    return max(1, QUANTITIES[quantity][0](case, answer))


@dataclass(frozen=True)
class Worst:
    """The worst ratio that is known, the case that attains it, if one is worse than 1, and what was searched."""

    mechanism: str
    quantity: str
    ratio: Fraction | float
    case: Case | None
    searched: Mapping[str, int]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        case, ratio = None if self.case is None else self.case.document(), str(self.ratio)
        found = {"mechanism": self.mechanism, "quantity": self.quantity, "ratio": ratio, "case": case}
        return {**found, "searched": dict(self.searched)}


def parsed(given: Mapping[str, Any]) -> Worst:
    """What `Worst.document` wrote."""
    ratio = inf if given["ratio"] == str(inf) else Fraction(given["ratio"])
    case = None if given["case"] is None else parse_case(given["case"])
    return Worst(given["mechanism"], given["quantity"], ratio, case, given["searched"])


def known_numbers() -> list[Worst]:
    """What is on record."""
    return [parsed(item) for item in json.loads(packaged_text("search/numbers.json"))["ratios"]]


def bound(mechanism: str, quantity: str, cells: Mapping[tuple[str, Column], Cell]) -> str:
    """What is proved of the largest ratio: "1", "N" (the number of users), or "" where nothing is."""
    column = Column(mechanism, "alpha > 1" if mechanism == "alpha-pf-vds" else "")

    def holds(name: str) -> bool:
        cell = cells[name, column]
        return cell.symbol == HOLDS and not cell.note

    own = QUANTITIES[quantity][1]
    if (own and holds(own) and mechanism not in UNLISTED) or (mechanism == "utilitarian" and not own):
        return "1"
    return "N" if quantity in ("price of fairness", "gain") and holds("sharing-incentive") else ""


def numbers_table(known: list[Worst], cells: Mapping[tuple[str, Column], Cell]) -> Grid:
    """Mechanisms by quantities: the worst known ratio, and the bound that is proved."""
    found = {(one.mechanism, one.quantity): one for one in known}
    rows = [
        [name, *(_told(found.get((FLAT.get(name, name), quantity)), bound(name, quantity, cells)) for quantity in QUANTITIES)]
        for name in sorted({*MECHANISMS} - {*JOBS})
    ]
    notes = [
        "the worst case that is known, and = or ≤ where a bound is proved; N is the number of users",
        f"searched: integers up to {MOST}, at most 4 users, 2 servers, 2 resources; drf, fds and njc: one server",
        "and the cases on record; all users have equal weights and may use every server, and a gain is by other demands",
        "alpha-fair, alpha-pf-vds and fds have alpha = 2; of several answers that of a method counts",
    ]
    return Grid("Worst known ratios", ["mechanism", *QUANTITIES], rows, notes, right=range(1, 1 + len(QUANTITIES)))


def _told(one: Worst | None, most: str) -> str:
    if most == "1":
        return "= 1"
    known = "" if one is None else "∞" if one.ratio == inf else _number(one.ratio)
    return f"{known} ≤ {most}" if most else known


def _number(ratio: Fraction | float) -> str:
    """A short fraction as it is, and any other with three digits, rounded down."""
    text = str(ratio)
    return text if len(text) <= 5 else f"{int(ratio * 1000) / 1000:.3f}"
