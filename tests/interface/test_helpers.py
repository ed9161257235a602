"""The helpers of tests/ see what they compare: each holds on a right input and fails on a perturbed one."""

from fractions import Fraction

import numpy as np
import pytest
from changed_certificates import assert_that_no_number_can_be_changed
from plain_judges import envy, misreporting, sharing
from planted_games import planted_game
from tolerances import RESIDUAL, VISIBLE

from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.formulations import mechanism
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples.published import example
from fairalloc.theorems.cases import Case, Misreport

ONE = Instance([[1], [1]], [[1]])
TINY = Fraction(1, 10**12)
HALF = (Fraction(1, 2), Fraction(1, 2))
MORE = (Fraction(1, 2) + TINY, Fraction(1, 2) - TINY)
LIE = Misreport((0,), (((Fraction(2),),),), (None,))


def exact(instance, x):
    return Allocation(instance, np.array(x, dtype=float), x_exact=x)


@pytest.mark.parametrize("judge", [envy, sharing])
def test_plain_judges_see_a_part_that_is_too_small(judge):
    case = Case(ONE)
    assert judge(case, lambda _: exact(ONE, HALF)).holds is True
    assert judge(case, lambda _: exact(ONE, MORE)).holds is False


@pytest.mark.parametrize(("tasks", "holds"), [(Fraction(1, 4), True), (Fraction(1, 4) + TINY, False)])
def test_the_plain_judge_of_misreports_sees_a_gain(tasks, holds):
    """User 1 says that its task takes 2 units instead of 1: with 1/4 of such tasks it holds the half unit that it has anyway."""
    case = Case(ONE, misreport=LIE)

    def answered(instance):
        return exact(instance, HALF) if instance is case.instance else exact(instance, (tasks, HALF[1] - TINY))

    assert misreporting(case, answered).holds is holds


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_equilibrium_is_one_and_no_other_point_is(seed):
    planted = planted_game(seed, alpha=2.0)
    item = mechanism("alpha-pf-vds").configure(**planted.parameters)
    assert item.residual(planted.allocation(prices=True)) <= RESIDUAL
    wrong = planted.x.copy()
    wrong[np.argmax(wrong)] /= 2
    assert item.residual(planted.allocation(wrong)) > VISIBLE


def test_a_certificate_that_overlooks_a_number_is_noticed(monkeypatch):
    """Its check is replaced by one that never looks at the tasks, and by one that believes anything."""
    instance = example("wang-fig2").instance
    certificate = certified_answer(instance, "drfh")
    assert_that_no_number_can_be_changed(certificate, instance)
    verify, believed = type(certificate).verify, certificate.verify(instance)
    monkeypatch.setattr(
        type(certificate), "verify", lambda self, about: believed if self.x != certificate.x else verify(self, about)
    )
    with pytest.raises(AssertionError, match="'x'"):
        assert_that_no_number_can_be_changed(certificate, instance)
    monkeypatch.setattr(type(certificate), "verify", lambda *_: believed)
    with pytest.raises(AssertionError):
        assert_that_no_number_can_be_changed(certificate, instance)
