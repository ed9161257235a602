"""Sentences between theorems: each check is seen to fail where what it looks at is changed."""

from dataclasses import replace
from fractions import Fraction

import k_in_floats
import p_in_floats
import pytest
import w_in_floats

from fairalloc.analysis.linear import Optimum, maximum
from fairalloc.models import Instance
from fairalloc.models.examples.published import example
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.k import formulas as of_k
from fairalloc.theorems.papers.k.problem_3 import ExactMeritPoint, Surd
from fairalloc.theorems.papers.p import trials as claims_p
from fairalloc.theorems.papers.p import trials as of_p
from fairalloc.theorems.papers.p.algorithm_1 import ServerInRationals
from fairalloc.theorems.papers.w import trials as claims_w
from fairalloc.theorems.registry import all_statements

F = Fraction
STATEMENTS = all_statements()
SHARED = Case(Instance([[1], [1]], [[2]]), points=((F(1), F(1)),), parameters={"alpha": 2, "price": 1})
UNEVEN = replace(SHARED, points=((F(1, 2), F(3, 2)),))
TWO = Case(Instance([[1, 2], [2, 1]], [[2, 2], [3, 1]]), points=((F(1, 2), F(1, 4), F(1, 4), F(1, 4)),), parameters={"alpha": 2})


def both(name, case):
    """What trial and confirm say, or the second implementation and the one route of the package."""
    first = (k_in_floats.SECOND | w_in_floats.SECOND | p_in_floats.SECOND | p_in_floats.OTHER).get(name, STATEMENTS[name].trial)
    return first(case).holds, STATEMENTS[name].confirm(case).holds


def larger(*args):
    """A program whose optimum is too large."""
    found = maximum(*args)
    return Optimum(found.value * 2 + 1, found.z)


def test_pareto_optimal_points_with_and_without_the_most_used():
    assert both("P.II-A.utilization", claims_p.cases["halves"]) == (False, False)
    assert both("P.II-A.utilization", replace(claims_p.cases["halves"], points=((F(1), F(0)),))) == (True, True)


def test_max_min_fairness_of_other_shares(monkeypatch):
    assert both("P.II-A.max-min", claims_p.cases["halves"]) == (True, True)
    monkeypatch.setattr(of_p, "progressive_filling", lambda _: [F(1, 4), F(1, 4)])
    assert both("P.II-A.max-min", claims_p.cases["halves"]) == (False, False)


def test_an_update_with_its_own_server_changed(monkeypatch):
    assert both("P.III-D.local", TWO) == (True, True)
    changed = of_p.others_changed
    monkeypatch.setattr(of_p, "others_changed", lambda instance, x, _: changed(instance, x, -1))
    assert both("P.III-D.local", TWO)[1] is False


def test_a_rise_above_its_bound(monkeypatch):
    case = Case(Instance([[1], [1]], [[4]]), points=((F(1), F(3)),))
    assert both("P.A1.increase", case) == (True, True)
    test = ServerInRationals.test
    monkeypatch.setattr(ServerInRationals, "test", lambda *args: (test(*args)[0] - 3, *test(*args)[1:]))
    monkeypatch.setattr(p_in_floats, "maximum", larger)
    assert both("P.A1.increase", case) == (False, False)


def test_other_units_and_other_definitions(monkeypatch):
    case = replace(SHARED, parameters={})
    assert both("P.T2.units", case) == (True, True)
    monkeypatch.setattr(of_p, "levels", lambda *_: None)
    monkeypatch.setattr(of_p, "bottleneck_gap", lambda *_: 1.0)
    assert both("P.T2.units", case) == (False, False)


def test_formulas_of_p_as_they_are_printed():
    assert not STATEMENTS["P.IV.condition"].confirm(STATEMENTS["P.IV.condition"].printed).holds
    classes = Case(example("psdsf-fig5").instance)
    assert of_p.least_share((2, 3), classes).holds
    assert not of_p.least_share((3,), classes).holds, "more of class C for user 4"
    given_up = STATEMENTS["W.P2.printed"].confirm
    said = given_up(claims_w.P2).sentence  # g = 1/4, as A' must give nobody less than g
    assert said == "user 2 has 1/2, and 1 is printed"
    assert given_up(replace(claims_w.P2, points=((F(1, 2), F(1, 2)),))).holds, "user 2 has no epsilon to give up"


def test_63_of_k_where_a_user_has_less():
    divided = STATEMENTS["K.E63"]
    assert divided.confirm(divided.printed).holds is False
    for y in ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))):  # user 1 has more; user 2 has all that it lost
        assert divided.confirm(replace(divided.printed, points=(divided.printed.points[0], y))).holds


def test_97_of_k_where_g_has_no_curvature():
    flat = STATEMENTS["K.E97"]
    assert flat.confirm(flat.printed).holds is False
    assert flat.confirm(replace(flat.printed, points=((F(1, 2),),))).holds, "-g''(1/2) is positive"


def test_what_is_taken_back(monkeypatch):
    case = Case(Instance([[1, 2]], [[3, 4]]))
    assert both("W.S3.2.non-wasteful", case) == (True, True)
    monkeypatch.setattr(claims_w, "alone", lambda *_: F(1))
    monkeypatch.setattr(w_in_floats, "maximum", larger)
    assert both("W.S3.2.non-wasteful", case) == (False, False)


def test_a_partition_that_is_not_equal(monkeypatch):
    case = Case(Instance([[1], [1]], [[2]]), points=((F(1), F(1)),))
    assert both("W.S4.5.weaker", case) == (True, True)
    weak = w_in_floats.check
    monkeypatch.setattr(w_in_floats, "check", lambda a, name: replace(weak(a, name), holds=name.startswith("strong"), margin=1.0))
    assert both("W.S4.5.weaker", case)[0] is False


def test_a_convex_utility():
    case = replace(SHARED, points=((F(1, 2), F(3, 2)), (F(3, 2), F(1, 2))))
    assert both("K.3.1.concave", case) == (True, True)
    assert both("K.3.1.concave", replace(case, parameters={"alpha": -1})) == (False, False)


@pytest.mark.parametrize("case", [SHARED, UNEVEN])
def test_multipliers_of_what_is_best_or_not(case, monkeypatch):
    assert both("K.E23", case) == both("K.E28", case) == (True, True)
    monkeypatch.setattr(of_k, "is_best", lambda *_: case is UNEVEN)
    monkeypatch.setattr(k_in_floats, "_best", lambda *_: case is UNEVEN)
    assert both("K.E23", case) == (False, False)
    monkeypatch.setattr(of_k, "solved_by_prices", lambda *_, nu: nu)
    monkeypatch.setattr(k_in_floats, "_priced", lambda *_: case is UNEVEN)
    assert both("K.E28", case) == (False, False)


def test_another_complementary_function(monkeypatch):
    assert both("K.E36", UNEVEN) == both("K.E98", UNEVEN) == (True, True)
    monkeypatch.setattr(k_in_floats, "_psi", lambda a, b: a * b)
    monkeypatch.setattr(of_k, "_is_solved", lambda a, b: a == b)
    assert both("K.E36", UNEVEN) == both("K.E98", UNEVEN) == (False, False)


def test_a_full_resource_along_the_gradient(monkeypatch):
    assert both("K.E45", UNEVEN) == (True, True)
    beta = ExactMeritPoint.beta
    monkeypatch.setattr(ExactMeritPoint, "beta", lambda *args: Surd() - beta(*args))
    assert both("K.E45", UNEVEN)[1] is False


def test_demands_of_nobody_else():
    assert both("K.5.1.assumption-2", SHARED) == (True, True)
    assert both("K.5.1.assumption-2", Case(Instance([[1, 1], [1, 0]], [[1, 1], [1, 1]]))) == (False, False)


def test_an_update_of_k_that_looks_at_other_servers_is_seen(monkeypatch):
    """With half of a user's other tasks gone its total x_n is another, and so is the direction."""
    assert both("K.5.2.local", TWO) == (True, True)

    def halved(instance, x, i):
        return instance, tuple(v if server == i else v / 2 for v, server in zip(x, instance.arcs.server, strict=True))

    monkeypatch.setattr(of_k, "others_changed", halved)
    monkeypatch.setattr(k_in_floats, "others_changed", halved)
    assert both("K.5.2.local", TWO) == (False, False)
