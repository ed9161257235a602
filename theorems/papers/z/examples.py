"""The printed examples and their numbers, as assertions."""

from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import certified, is_nash_bargain
from fairalloc.theorems.papers.z.utilities import pivots_of

F = Fraction

MISREPORT6 = Misreport((1,), (((F(1),),),), (None,))
MISREPORT7 = Misreport((1,), (((F(1, 3), F(2, 3)),),), (None,))
"""Those of Propositions 6 and 7."""


def worth(case: Case, n: int, *bundle: Any) -> Any:
    """The utility that user n has of a bundle."""
    return certified(case.instance, "lmmf").utilities(n, np.array([[[F(v) for v in bundle]]], dtype=object))[0]


def fair(case: Case, *utilities: Any) -> None:
    """LMMF gives these utilities."""
    found = certified(case.instance, "lmmf").tasks
    assert list(found) == [F(v) for v in utilities], f"LMMF gives {', '.join(map(str, found))}"


def toy(case: Case) -> None:
    """Section I with epsilon = 1/10: both ways together fit once each, one way fits once and not twice."""
    fair(case, 2)
    single = Instance([case.instance.exact.demands[0][0]], case.instance.exact.capacities)
    assert certified(single, "lmmf").tasks[0].__floor__() == 1


def example_1(case: Case) -> None:
    """The largest least utility is 3, as of (2, 3, 4) and (4, 3, 2), and LMMF gives it."""
    fair(case, 3, 3)
    assert min(certified(case.instance, "mmf").tasks) == 3
    assert worth(case, 0, 2, 3, 4) == worth(case, 1, 4, 3, 2) == 3


def example_2(case: Case) -> None:
    """LMMF gives (1, 0, 0) and (0, 1, 1), and the largest least utility is 1."""
    assert min(certified(case.instance, "mmf").tasks) == 1
    assert certified(case.instance, "lmmf").bundles[:, 0].tolist() == [[1, 0, 0], [0, 1, 1]]


def example_3(case: Case) -> None:
    """LMMF gives 2/3 and 1/3 of the resource, worth 2/3 each; after the misreport of Proposition 6 user 2 has a half."""
    fair(case, "2/3", "2/3")
    assert certified(case.instance, "lmmf").bundles[:, 0, 0].tolist() == [F(2, 3), F(1, 3)]
    assert certified(MISREPORT6.reported(case.instance), "lmmf").bundles[1, 0, 0] == F(1, 2)


def rounds(case: Case) -> None:
    """LMMF gives 1, 1 and 2 to the first three."""
    assert list(certified(case.instance, "lmmf").tasks[:3]) == [1, 1, 2]


def nb_example(case: Case) -> None:
    """(4, 4) each: prices of 1 for the capacity of each resource prove that two tasks each are the Nash bargain."""
    assert is_nash_bargain(case.instance, (F(0), F(2), F(0), F(2)), (F(1), F(1)))


def endowment(case: Case) -> None:
    """Half of everything is worth 1/2, and each user gets its resource under NB."""
    assert [worth(case, n, "1/2", "1/2") for n in (0, 1)] == [F(1, 2)] * 2
    assert is_nash_bargain(case.instance, (F(1), F(1)), (F(1), F(1)))


def pivot_example(_: Case) -> None:
    """Section IV-B: <Y> = (2, 3, 5, 7) for users 1 to 4, <Y'> = (1, 3, 5, 6) for users 4, 2, 3, 1."""
    y, other = [2, 3, 5, 7], [6, 3, 5, 1]
    assert pivots_of(y, other) == [0], "the pivot of Y"
    assert pivots_of(other, y) == [3], "the pivot of Y'"
    assert len(pivots_of([2, 2, 5, 7], other)) == 2, "pivots when the second coordinate is 2"
