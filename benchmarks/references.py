"""Reference answers, and how far an answer is from one in what is unique.

1. What is unique of an answer, as a vector of numbers (`unique_quantities`): the weighted shares of a lexicographic rule (of
   the max-min rule only the least), the users' totals of `nb`, `fds` and `drf-per-server`, the objective of any other single
   program; nothing for games and njc, which may have many answers.
2. The reference of a case (`references`) is the answer that a paper prints, in rationals; else the answer in rationals of a
   method that solved it; else the best verified one, whose residual passes and is the least of all. The first
   two are certified.
3. The distance is the largest difference from it, relative to the largest number of the reference.
4. An answer whose residual passes contradicts a certified reference where its distance is above a hundredth, or ten
   times the root of the tolerance, because a gap is of second order in the tasks.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairalloc.benchmarks.records import Record
from fairalloc.benchmarks.suites.suite import SuiteCase
from fairalloc.formulations import Mechanism, mechanism
from fairalloc.formulations.lexicographic.rule import Leximin, MaxMin
from fairalloc.models import Allocation, Instance
from fairalloc.models.numbers import Floats

EXACT = "the answer of a method in rationals"
PRINTED = "the answer that a paper prints"

MOST = 5000
"""Answers with more users than this are not kept in the records."""

TOTALS = ("nb", "fds", "drf-per-server")
"""Mechanisms whose users' totals are unique: the objective is strictly concave in them, or they follow from unique shares."""


@dataclass(frozen=True)
class Reference:
    """What is unique of the answer of a case, how it is known in general, and in this case."""

    quantities: tuple[float, ...]
    kind: str
    provenance: str


def unique_quantities(case: SuiteCase, instance: Instance, allocation: Allocation) -> list[float]:
    """Step 1, on the mechanism's home instance; [] where nothing is unique, without a finite point, and for very many users."""
    if not (allocation.has_point and np.isfinite(allocation.x).all()) or instance.N > MOST:
        return []
    item = mechanism(case.mechanism, **case.parameters)
    if (found := _of_tasks(item, allocation.instance, allocation.tasks)) is not None:
        return found
    return [float(value) for name, value in allocation.values.items() if name == "objective" and np.isfinite(value)]


def _of_tasks(item: Mechanism, home: Instance, tasks: Floats) -> list[float] | None:
    """What is unique and follows from the users' totals on the instance that is allocated; None where nothing does."""
    if item.id in TOTALS:
        return [float(total) for total in tasks]
    if isinstance(item, MaxMin):
        return [float((item.rate(home) * tasks).min())]
    if isinstance(item, Leximin):
        return [float(share) for share in item.rate(home) * tasks]
    return None


def printed_quantities(case: SuiteCase, item: Mechanism, instance: Instance) -> list[float]:
    """What is unique of the answer that a paper prints, by the mechanism with its parameters; [] where it prints none."""
    answer = case.answer
    return [] if answer is None else _of_tasks(item, item.home(instance), np.array([float(total) for total in answer])) or []


def references(printed: Mapping[str, Sequence[float]], records: Iterable[Record]) -> dict[str, Reference]:
    """Step 2: the reference of each case of one run of which anything unique is known, some of them printed."""
    found: dict[str, Reference] = {}
    passed = (r for r in records if r.quantities and r.residual <= r.tolerance)
    for record in sorted(passed, key=lambda r: (not r.rational, r.residual)):
        if record.rational:
            known = Reference(record.quantities, EXACT, f"certified in rationals by {record.method}")
        else:
            how = f"best verified, residual {record.residual:.0e} by {record.method}"
            known = Reference(record.quantities, "the best verified answer", how)
        found.setdefault(record.case, known)
    return found | {case: Reference(tuple(quantities), PRINTED, "printed in the paper") for case, quantities in printed.items()}


def contradicts(reference: Reference | None, record: Record) -> bool:
    """Step 4."""
    if reference is None or reference.kind not in (EXACT, PRINTED) or record.residual > record.tolerance:
        return False
    return max(0.01, 10 * math.sqrt(record.tolerance)) < distance_to(reference, record) < math.inf


def distance_to(reference: Reference, record: Record) -> float:
    """Step 3; inf where the record has no such numbers."""
    if len(record.quantities) != len(reference.quantities):
        return float("inf")
    there, here = np.array([reference.quantities, record.quantities])
    return float(np.abs(there - here).max() / max(np.abs(there).max(), np.finfo(float).tiny))
