"""The search for the worst ratios (numbers.py), which are kept in numbers.json.

1. Draw an instance of small integers, for "gain" with a misreport of one user.
2. Climb: change one number, and keep what does not lower the ratio, in floating point, until PATIENCE changes in a row fail.
3. The worst of all climbs is made smaller: a user, a server or a resource less that does not lower the ratio in rationals.
4. Its ratio in rationals counts, at a certified answer; where the answers are irrational it is rounded down.
5. What is worst for one mechanism is then tried with all others, and so are the cases that violate the property on record.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.formulations import MECHANISMS
from fairalloc.models.errors import FairallocError
from fairalloc.models.files.jsonio import write_json
from fairalloc.models.instance import Instance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case, Draft
from fairalloc.theorems.cells import FLAT, JOBS, POOL
from fairalloc.theorems.checkers.common import certified
from fairalloc.theorems.checkers.trials import Undecided, answered
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.matrix import recorded_matrices
from fairalloc.theorems.numbers import FLOORED, MOST, QUANTITIES, SCHEMA, Worst, bound, ratio_of
from fairalloc.theorems.search.our_cells import known_cells

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
    if mechanism in IRRATIONAL and found != float("inf"):
        return Fraction(int(found * FLOORED), FLOORED)
    return found if found == float("inf") else Fraction(found)


def _proved(mechanism: str, instance: Instance) -> Holdings:
    """The answer of a certificate, or proved digits of it."""
    if mechanism == BY_DIGITS:
        return Holdings(answered(mechanism, "many-digits", (), instance), False)
    return certified(instance, COMPUTED.get(mechanism, mechanism))


def worst_ratio(mechanism: str, quantity: str, cases: int, seed: int = 0) -> Worst:
    """The worst ratio that climbs find."""
    climb = _Climb(mechanism, quantity, np.random.default_rng(seed))
    best, found = 1.0, None
    while climb.tried < cases and best < float("inf"):
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
        """The ratio and the draft where one climb ends."""
        draft = self.drawn()
        best, failed = self.ratio(draft), 0
        while failed < PATIENCE and self.tried < cases and best < float("inf"):
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
            ratios = ((made, _ratio(self.mechanism, self.quantity, made)) for made in _parts(draft))
            less = next(((made, ratio) for made, ratio in ratios if ratio is not None and ratio >= best), None)
        return draft.case(), best


def _parts(draft: Draft) -> Iterator[Draft]:
    n_users, n_servers, n_resources = draft.size
    yield from (draft.without_user(n) for n in range(n_users) if n_users > 2)
    yield from (draft.without_server(i) for i in range(n_servers) if n_servers > 1)
    yield from (draft.without_resource(r) for r in range(n_resources) if n_resources > 1)


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
    """The cases that violate the property of the quantity, as far as it is measured on such: see numbers.py."""
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
