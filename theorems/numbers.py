"""Numbers beside yes and no: the worst known ratio of each mechanism for four properties, and what is proved of it.

    price of fairness    the most tasks that can be run in all, by those that the mechanism runs
    gain                 the tasks that a user runs after one misreport of its demands, by those before
    sharing deficit      the tasks that a user runs with 1 / N of every server, by its own
    envy                 the tasks that a user runs with the bundles of another, by its own

A ratio is at least 1, and 1 where the property holds; it is infinite where somebody runs nothing. All users have the weight 1 and
may use every server. What is known is the worst case that a search found (`search_numbers`): among instances of up to 4
users, 2 servers and 2 resources whose numbers are integers up to MOST, and among the cases on record. A worse one may exist.
Bounds follow from the first table: 1 for a property that holds. Where sharing incentive holds, x_n >= a_n / N, with a_n what
n runs alone. Nobody runs more than a_n, so neither the gain nor the price of fairness, which is at most sum a_n / sum x_n, is
above N.

The search, which is kept in search/numbers.json:

1. Draw an instance of small integers, for "gain" with a misreport of one user.
2. Climb: change one number, and keep what does not lower the ratio, in floating point, until PATIENCE changes in a row fail.
3. The worst of all climbs is made smaller: a user, a server or a resource less that does not lower the ratio in rationals.
4. Its ratio in rationals counts, at a certified answer; where the answers are irrational it is rounded down.
5. What is worst for one mechanism is then tried with all others, and so are the cases that violate the property on record.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.properties.strategyproofness import gains
from fairalloc.analysis.solution_sets import UNLISTED
from fairalloc.formulations import MECHANISMS
from fairalloc.models.errors import FairallocError
from fairalloc.models.files.jsonio import write_json
from fairalloc.models.instance import Instance
from fairalloc.models.tables import Grid
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case, Draft, parse_case
from fairalloc.theorems.cells import FLAT, HOLDS, JOBS, POOL, Cell, Column
from fairalloc.theorems.checkers.trials import Undecided, answered, certified
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.matrix import recorded_matrices
from fairalloc.theorems.packaged_files import packaged_text
from fairalloc.theorems.search.our_cells import known_cells
from fairalloc.theorems.search.steps import deletions

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
        case, ratio = None if self.case is None else self.case.document(), str(self.ratio)
        found = {"mechanism": self.mechanism, "quantity": self.quantity, "ratio": ratio, "case": case}
        return {**found, "searched": dict(self.searched)}


def parsed(given: Mapping[str, Any]) -> Worst:
    """What `Worst.document` wrote."""
    ratio = inf if given["ratio"] == str(inf) else Fraction(given["ratio"])
    case = None if given["case"] is None else parse_case(given["case"])
    return Worst(given["mechanism"], given["quantity"], ratio, case, given["searched"])


def known_numbers() -> list[Worst]:
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


# ---- the search ------------------------------------------------------------------------------------------------------


PATIENCE = 25

SIZES = (4, 2, 2)
"""The most users, servers and resources."""

BY_DIGITS = "alpha-fair"
"""Its tasks have no certificate, and are proved to 18 digits in ball arithmetic (solvers/exact/many_digits.py)."""

IRRATIONAL = (BY_DIGITS, "alpha-pf-vds", "fds", "nb", "njc")

COMPUTED = {"fds": "alpha-pf-vds"}
"""With one server they are the same, and the second has certificates."""


def exact_ratio(mechanism: str, quantity: str, case: Case) -> Fraction | float:
    """The ratio at proved answers, rounded down where these are irrational; Undecided where there is no proof."""
    found = ratio_of(quantity, case, lambda instance: _proved(mechanism, instance))
    if mechanism in IRRATIONAL and found != inf:
        return Fraction(int(found * FLOORED), FLOORED)
    return found if found == inf else Fraction(found)


def _proved(mechanism: str, instance: Instance) -> Holdings:
    """The answer of a certificate, or proved digits of it."""
    if mechanism == BY_DIGITS:
        return Holdings(answered(mechanism, "many-digits", (), instance), False)
    return certified(instance, COMPUTED.get(mechanism, mechanism))


def worst_ratio(mechanism: str, quantity: str, cases: int, seed: int = 0) -> Worst:
    climb = _Climb(mechanism, quantity, np.random.default_rng(seed))
    best, found = 1.0, None
    while climb.tried < cases and best < inf:
        ratio, draft = climb.run(cases)
        if ratio > best + 1e-9:
            best, found = ratio, draft
    searched = {"cases": climb.judged, "seed": seed}
    if found is None:
        return Worst(mechanism, quantity, Fraction(1), None, searched)
    case, exact = climb.smaller(found)
    return Worst(mechanism, quantity, exact, case if exact > 1 else None, searched)


@dataclass
class _Climb:
    mechanism: str
    quantity: str
    rng: np.random.Generator
    tried: int = 0
    judged: int = 0

    def run(self, cases: int) -> tuple[float, Draft]:
        draft = self.drawn()
        best, failed = self.ratio(draft), 0
        while failed < PATIENCE and self.tried < cases and best < inf:
            changed = self.changed(draft)
            ratio = self.ratio(changed)
            failed = 0 if ratio > best + 1e-9 else failed + 1
            if ratio >= best:
                draft, best = changed, ratio
        return best, draft

    def ratio(self, draft: Draft) -> float:
        """In floating point; 0 where it is no case."""
        self.tried += 1
        try:
            found = float(ratio_of(self.quantity, draft.case(), self.answered))
        except FairallocError:
            return 0.0
        self.judged += 1
        return found

    def answered(self, instance: Instance) -> Holdings:
        return Holdings(solve(instance, self.mechanism), False)

    def drawn(self) -> Draft:
        """An instance, with somebody's misreport where the quantity is about one."""
        users, servers, resources = self.rng.integers((2, 1, 1), SIZES, endpoint=True).tolist()
        servers = 1 if self.mechanism in POOL else servers
        demands = [self.row(resources, 0) for _ in range(users)]
        instance = Instance([[row] for row in demands], [self.row(resources, 1) for _ in range(servers)])
        told = ((tuple(map(Fraction, self.row(resources, 0))),),)
        misreport = Misreport((int(self.rng.integers(users)),), told, (None,)) if self.quantity == "gain" else None
        return Draft.of(Case(instance, misreport))

    def row(self, length: int, least: int) -> list[int]:
        row = [int(v) for v in self.rng.integers(least, MOST + 1, length)]
        return row if any(row) else [1] * length

    def changed(self, draft: Draft) -> Draft:
        """One number changed; weights stay 1."""
        made = draft.copy()
        slots = [slot for slot in made.slots() if slot.kind not in ("weight", "limit")]
        slot = slots[int(self.rng.integers(len(slots)))]
        slot.set(Fraction(int(self.rng.integers(0, MOST + 1))))
        return made

    def smaller(self, draft: Draft) -> tuple[Case, Any]:
        """The case without what the ratio does not need, and the ratio in rationals."""
        best = exact_ratio(self.mechanism, self.quantity, draft.case())
        less: tuple[Draft, Any] | None = draft, best
        while less is not None:
            draft, best = less
            ratios = ((made, _ratio(self.mechanism, self.quantity, made)) for made in deletions(draft) if made.size[0] > 1)
            less = next(((made, ratio) for made, ratio in ratios if ratio is not None and ratio >= best), None)
        return draft.case(), best


def search_numbers(path: str | Path, cases: int = 500, seed: int = 0, mechanisms: Iterable[str] = ()) -> list[Worst]:
    """Search all numbers that are not proved to be 1, and write them into a file.

    `cases`, tried or not taken, and `seed` are of each search; no mechanism = all.
    """
    cells = recorded_matrices(*known_cells())[0].cells
    names = sorted(mechanisms or {*MECHANISMS} - {*FLAT, *JOBS})
    asked = [(name, quantity) for name in names for quantity in QUANTITIES]
    alone = [worst_ratio(*pair, cases, seed) for pair in asked if bound(*pair, cells) != "1"]
    found = compared(alone)
    write_json({"schema": SCHEMA, "ratios": [one.document() for one in found]}, path)
    return found


def compared(known: Sequence[Worst]) -> list[Worst]:
    """Each with the worst of the cases of all mechanisms, as far as its own mechanism takes them."""
    cases = {name: [one.case for one in known if one.quantity == name and one.case] + _on_record(name) for name in QUANTITIES}
    return [_worst_of(one, cases[one.quantity]) for one in known]


def _on_record(quantity: str) -> list[Case]:
    """The cases that violate the property of the quantity, as far as it is measured on such."""
    statements, findings = known_cells()
    about = [findings[name] for name, item in statements.items() if item.property == QUANTITIES[quantity][1] != ""]
    cases = [one.case for one in about if one.case is not None and not one.case.parameters]
    alike = Hypotheses.of("everywhere, equal weights")
    return [case for case in cases if alike.satisfied_by(case) and (quantity != "gain" or case.misreport is not None)]


def _worst_of(one: Worst, cases: Sequence[Case]) -> Worst:
    taken = [case for case in cases if one.mechanism not in POOL or case.instance.K == 1]
    ratios = [(case, _ratio(one.mechanism, one.quantity, Draft.of(case))) for case in taken]
    judged = [(case, ratio) for case, ratio in ratios if ratio is not None]
    best = replace(one, searched={**one.searched, "cases": one.searched["cases"] + len(judged)})
    case, ratio = max(judged, key=lambda pair: pair[1], default=(None, one.ratio))
    return replace(best, ratio=ratio, case=case) if ratio > best.ratio else best


def _ratio(mechanism: str, quantity: str, draft: Draft) -> Fraction | float | None:
    """The ratio in rationals; None where there is no case or no certificate, or where nobody misreports and it is about that."""
    try:
        case = draft.case()
        return None if quantity == "gain" and case.misreport is None else exact_ratio(mechanism, quantity, case)
    except (FairallocError, Undecided):
        return None
