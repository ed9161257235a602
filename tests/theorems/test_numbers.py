"""The worst known ratios: each is attained by its case, none is above its bound, and the search climbs."""

from dataclasses import replace
from fractions import Fraction

import pytest

from fairalloc.analysis.holdings import Holdings
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS
from fairalloc.models import Instance
from fairalloc.models.errors import FairallocError
from fairalloc.solvers import solve
from fairalloc.theorems import numbers
from fairalloc.theorems.cases import Case, Draft
from fairalloc.theorems.cells import FLAT, JOBS
from fairalloc.theorems.matrix import recorded_matrices
from fairalloc.theorems.numbers import (
    IRRATIONAL,
    MOST,
    QUANTITIES,
    bound,
    compared,
    exact_ratio,
    known_numbers,
    numbers_table,
    parsed,
    ratio_of,
    search_numbers,
    worst_ratio,
)
from fairalloc.theorems.search.our_cells import known_cells

KNOWN = known_numbers()
RATIONAL = [one for one in KNOWN if one.case and one.mechanism not in IRRATIONAL]
CELLS = recorded_matrices(*known_cells())[0].cells
ON_RECORD = [one.case.document() for one in known_cells()[1].values() if one.case is not None]


def named(one):
    return f"{one.mechanism}-{one.quantity}"


def exactly(instance, mechanism):
    return Holdings(solve(instance, mechanism, "exact"), True)


@pytest.mark.parametrize("one", RATIONAL, ids=named)
def test_a_ratio_is_attained_by_its_case(one):
    assert exact_ratio(one.mechanism, one.quantity, one.case) == one.ratio
    draft = Draft.of(one.case)
    if one.case.document() in ON_RECORD:
        return
    assert all(slot.value.denominator == 1 and slot.value <= MOST for slot in draft.slots())
    assert all(size <= most for size, most in zip(draft.size, (4, 2, 2), strict=True))


@pytest.mark.deep
@pytest.mark.parametrize("one", [one for one in KNOWN if one.case and one not in RATIONAL], ids=named)
def test_a_ratio_of_irrational_answers_is_attained(one):
    assert exact_ratio(one.mechanism, one.quantity, one.case) == one.ratio


def test_no_ratio_is_above_its_bound_or_below_one():
    assert {one.mechanism for one in KNOWN} == set(MECHANISMS) - {*FLAT, *JOBS}
    for one in KNOWN:
        most = bound(one.mechanism, one.quantity, CELLS)
        assert most != "1", "what is proved is not searched"
        assert one.ratio >= 1
        assert (one.ratio == 1) == (one.case is None)
        if most == "N" and one.case is not None:
            assert one.ratio <= one.case.instance.N
        assert one.searched["cases"] > 0
    assert bound("drfh", "gain", CELLS) == bound("nb", "envy", CELLS) == bound("utilitarian", "price of fairness", CELLS) == "1"
    assert bound("nb", "gain", CELLS) == "N"
    assert bound("drfh", "sharing deficit", CELLS) == bound("lmmf", "gain", CELLS) == ""


def test_ratios_are_those_of_the_definitions():
    """Two users of one resource, who demand 1 and 2 of 6: lmmf gives each 2 tasks, equal parts give 3 and 3/2."""
    case = Case(Instance([[1], [2]], [[6]]))
    answer = {name: lambda instance, name=name: exactly(instance, name) for name in ("lmmf", "drf", "utilitarian")}
    assert ratio_of("sharing deficit", case, answer["lmmf"]) == Fraction(3, 2)
    assert ratio_of("envy", case, answer["lmmf"]) == 2
    assert ratio_of("price of fairness", case, answer["lmmf"]) == Fraction(6, 4)
    assert ratio_of("sharing deficit", case, answer["drf"]) == 1
    assert ratio_of("envy", case, answer["utilitarian"]) == float("inf")


def test_cases_that_are_none_are_not_counted_as_searched(monkeypatch):
    def half(quantity, case, answer):
        if case.instance.exact.capacities[0][0] % 2 == 0:
            raise FairallocError("it is for odd capacities")
        return ratio_of(quantity, case, answer)

    monkeypatch.setattr(numbers, "ratio_of", half)
    odd, even = Case(Instance([[1], [2]], [[7]])), Case(Instance([[1], [2]], [[6]]))
    found = worst_ratio("lmmf", "envy", 40)
    assert 0 < found.searched["cases"] < 40
    (one,) = compared([replace(found, case=odd, ratio=Fraction(2))])
    (other,) = compared([replace(found, case=even, ratio=Fraction(2))])
    assert one.searched["cases"] == other.searched["cases"] + 1 > found.searched["cases"]


def test_a_wrong_record_is_seen():
    one = next(one for one in KNOWN if one.mechanism == "lmmf" and one.quantity == "envy")
    assert parsed(one.document()).document() == one.document()
    other = Case(Instance([[1], [1]], [[1]]))
    assert exact_ratio(one.mechanism, one.quantity, other) != one.ratio
    assert exact_ratio("drfh", one.quantity, one.case) == 1


def test_the_search_climbs_and_makes_its_case_smaller():
    found = worst_ratio("lmmf", "envy", 60)
    assert found.ratio >= 3
    assert exact_ratio("lmmf", "envy", found.case) == found.ratio
    assert found.case.instance.N == 2, "one who envies and one who is envied"
    assert found.document() == worst_ratio("lmmf", "envy", 60).document(), "the seed decides"


@pytest.mark.deep
def test_all_that_is_not_proved_is_searched_and_compared(tmp_path):
    found = {one.quantity: one for one in search_numbers(tmp_path / "numbers.json", 20, mechanisms=["lmmf"])}
    assert {*found} == {*QUANTITIES}
    small = replace(found["envy"], case=Case(Instance([[1], [2]], [[6]])), ratio=Fraction(2))
    large = replace(small, mechanism="mmf", case=Case(Instance([[1], [3]], [[6]])), ratio=Fraction(3))
    assert [one.ratio for one in compared([small, large])] == [3, 3]


def test_the_table_says_which_instances_it_is_about():
    """A deficit of 1 is the worst of tsf only where everybody may use every server: K.2.2.tsf.sharing has 7/6."""
    case = Case(Instance([[1, 2], [1, 0]], [[1, 1], [1, 2]], eligible=[[1, 1], [0, 1]]))
    known = next(one for one in KNOWN if (one.mechanism, one.quantity) == ("tsf", "sharing deficit"))
    assert ratio_of("sharing deficit", case, lambda instance: exactly(instance, "tsf")) == Fraction(7, 6) > known.ratio
    assert "may use every server" in " ".join(numbers_table(KNOWN, CELLS).notes)


def test_the_table_says_the_ratio_with_its_bound(capsys):
    rows = {row[0]: row[1:] for row in numbers_table(KNOWN, CELLS).rows}
    at = [*QUANTITIES]
    assert rows["utilitarian"][at.index("sharing deficit")] == "∞"
    assert rows["drfh"][at.index("gain")] == "= 1"
    assert rows["nb"][at.index("price of fairness")].endswith("≤ N")
    doubled = [replace(one, ratio=Fraction(7, 2)) for one in KNOWN]
    assert numbers_table(doubled, CELLS).rows != numbers_table(KNOWN, CELLS).rows
    assert main(["theorems", "numbers"]) == 0
    assert "Worst known ratios" in capsys.readouterr().out
    assert main(["theorems", "numbers", "--format", "python"]) == 0
    assert "# lmmf, envy: " in capsys.readouterr().out
