"""The printed examples and their numbers."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fairalloc.analysis.holdings import Holdings
from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.models.allocation import Allocation
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.judges.common import (
    Row,
    certified,
    is_nash_bargain,
)
from fairalloc.theorems.papers.z.utilities import pivots_of

F = Fraction

MISREPORT6 = Misreport((1,), (((F(1),),),), (None,))
MISREPORT7 = Misreport((1,), (((F(1, 3), F(2, 3)),),), (None,))
"""Those of Propositions 6 and 7."""


def toy(case: Case) -> Sequence[Row]:
    """Section I with epsilon = 1/10: both ways together fit once each, one way fits once and not twice."""
    both = certified(case.instance, "lmmf")
    single = Instance([case.instance.exact.demands[0][0]], case.instance.exact.capacities)
    alone = certified(single, "lmmf").tasks[0]
    return [("tasks with two ways", "2", both.tasks[0]), ("whole tasks with one way", "1", F(alone.__floor__()))]


def figure_1(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    rows = case.instance.exact.demands[0]
    used = [sum((a * row[r] for a, row in zip((F(5), F(1), F(5, 2)), rows, strict=True)), F(0)) for r in range(3)]
    fits = all(u <= c for u, c in zip(used, case.instance.exact.capacities[0], strict=True))
    return [("whether the printed packing fits", "1", F(fits)), ("the utility of (11, 11, 13)", "8.5", h.tasks[0])]


def example_1(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "mmf")
    fair = certified(case.instance, "lmmf")
    first, second = np.array([[[F(2), F(3), F(4)]]], dtype=object), np.array([[[F(4), F(3), F(2)]]], dtype=object)
    return [
        ("the largest least utility", "3", min(h.tasks)),
        ("u_1(2, 3, 4)", "3", h.utilities(0, first)[0]),
        ("u_2(4, 3, 2)", "3", h.utilities(1, second)[0]),
        *((f"utility of user {n + 1} under LMMF", "3", fair.tasks[n]) for n in (0, 1)),
    ]


def example_2(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    rows: list[Row] = [("largest least utility", "1", min(certified(case.instance, "mmf").tasks))]
    for n, printed in enumerate((("1", "0", "0"), ("0", "1", "1"))):
        rows += [(f"resource {r + 1} of user {n + 1}", text, h.bundles[n, 0, r]) for r, text in enumerate(printed)]
    return rows


def example_3(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    misreported = certified(MISREPORT6.reported(case.instance), "lmmf")
    return [
        ("Y_1", "2/3", h.bundles[0, 0, 0]),
        ("Y_2", "1/3", h.bundles[1, 0, 0]),
        ("utility of user 1", "2/3", h.tasks[0]),
        ("utility of user 2", "2/3", h.tasks[1]),
        ("Y_2 after the misreport of Proposition 6", "1/2", misreported.bundles[1, 0, 0]),
    ]


def rounds(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    return [(f"utility of user {n + 1}", printed, h.tasks[n]) for n, printed in enumerate(("1", "1", "2"))]


def nb_example(case: Case) -> Sequence[Row]:
    """(4, 4) each: prices of 1 for the capacity of each resource prove it."""
    x, prices = (F(0), F(2), F(0), F(2)), (F(1), F(1))
    return [
        ("whether two tasks each are the Nash bargain", "1", F(is_nash_bargain(case.instance, x, prices))),
        ("product", "4", x[1] * x[3]),
    ]


def endowment(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    half = np.array([[[F(1, 2), F(1, 2)]]], dtype=object)
    rows: list[Row] = [(f"utility of user {n + 1} in the endowment", "1/2", h.utilities(n, half)[0]) for n in (0, 1)]
    bargain = is_nash_bargain(case.instance, (F(1), F(1)), (F(1), F(1)))
    return [*rows, ("whether each user gets its resource under NB", "1", F(bargain))]


def proposition_7(case: Case) -> Sequence[Row]:
    reported = MISREPORT7.reported(case.instance)
    truth, misreport = (
        Holdings(Allocation(case.instance, np.array([1.2, 0.8]), x_exact=(F(6, 5), F(4, 5))), True),
        Holdings(Allocation(reported, np.ones(2), x_exact=(F(1), F(1))), True),
    )
    rows: list[Row] = [
        (
            "whether 6/5 and 4/5 tasks are the Nash bargain",
            "1",
            F(is_nash_bargain(case.instance, (F(6, 5), F(4, 5)), (F(1, 2), F(3, 2)))),
        ),
        (
            "whether 1 and 1 tasks are the Nash bargain after the misreport",
            "1",
            F(is_nash_bargain(reported, (F(1), F(1)), (F(1), F(1)))),
        ),
    ]
    for n, printed in enumerate((("12/15", "6/15"), ("3/15", "9/15"))):
        rows += [(f"resource {r + 1} of user {n + 1}", text, truth.bundles[n, 0, r]) for r, text in enumerate(printed)]
    for n, printed in enumerate((("2/3", "1/3"), ("1/3", "2/3"))):
        rows += [
            (f"resource {r + 1} of user {n + 1} after the misreport", text, misreport.bundles[n, 0, r])
            for r, text in enumerate(printed)
        ]
    after = [truth.utilities(n, misreport.bundles[n : n + 1])[0] for n in (0, 1)]
    return [*rows, ("u_1 after the misreport", "1", after[0]), ("u_2 after the misreport", "0.83", after[1])]


def proposition_8(case: Case) -> Sequence[Row]:
    h = certified(case.instance, "lmmf")
    half, own = (np.array([[[F(v) for v in row]]], dtype=object) for row in (("1/2", "1/2", "1/2"), (1, 0, 0)))
    return [
        ("u_2(E)", "3/2", h.utilities(1, half)[0]),
        *((f"utility of user {n + 1} under LMMF", "1", h.tasks[n]) for n in (0,)),
        ("u_2(Y_2)", "1/2", h.utilities(1, own)[0]),
    ]


def pivot_example(_: Case) -> Sequence[Row]:
    """Section IV-B: <Y> = (2, 3, 5, 7) for users 1 to 4, <Y'> = (1, 3, 5, 6) for users 4, 2, 3, 1."""
    y, other = [F(2), F(3), F(5), F(7)], [F(6), F(3), F(5), F(1)]
    tied = [F(2), F(2), F(5), F(7)]
    first, second, both = pivots_of(y, other, 0), pivots_of(other, y, 0), pivots_of(tied, other, 0)
    return [
        ("the pivot of Y", "1", F(first[0] + 1)),
        ("the pivot of Y'", "4", F(second[0] + 1)),
        ("pivots when the second coordinate is 2", "2", F(len(both))),
    ]
