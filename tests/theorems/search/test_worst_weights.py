"""The worst weights by programs: points of the polytope are answers, violations grow, and the search finds more with them."""

from fractions import Fraction

import numpy as np
import pytest
from tolerances import LINEAR, RESIDUAL, ROUNDING

from fairalloc.analysis.properties.misreport import Misreport
from fairalloc.analysis.properties.strategyproofness import useful
from fairalloc.formulations import mechanism as find
from fairalloc.models import Allocation, FairallocError, Instance
from fairalloc.solvers import residual as distance
from fairalloc.solvers import solve
from fairalloc.theorems.cases import Case
from fairalloc.theorems.checkers.common import holdings_of
from fairalloc.theorems.checkers.properties import property_judge
from fairalloc.theorems.checkers.trials import attempted
from fairalloc.theorems.hypotheses import Hypotheses
from fairalloc.theorems.registry import all_statements
from fairalloc.theorems.search.search import Limit, Search, seeded
from fairalloc.theorems.search.worst_weights import VIOLATIONS, WeightProgram, worst_weights

STATEMENTS = all_statements()
LEXICOGRAPHIC, POOL = ("drfh", "tsf", "lmmf"), ("drf", "njc")
PLACED, ONE = Hypotheses(users=2), Hypotheses(users=2, one_server=True, everywhere=True)


def samples(hypotheses, count, seed=0, misreports=0):
    """Cases that can be solved."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        try:
            case = hypotheses.sample(rng, misreports).case()
        except FairallocError:
            continue
        if hypotheses.satisfied_by(case):
            found.append(case)
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize("mechanism", [*LEXICOGRAPHIC, "nb", "ps-dsf", "drf", "alpha-pf-vds"])
def test_every_vertex_is_an_answer_again(mechanism):
    """Tasks of the program's point are those of the mechanism at the program's weights, or an answer by its residual."""
    rng, moved = np.random.default_rng(5), 0
    for case in samples(ONE if mechanism == "drf" else PLACED, 7, seed=3):
        program = WeightProgram(case, mechanism)
        answer = program.answer(case.instance)
        found = program.largest(rng.normal(size=answer.x.size) @ answer.x)
        assert found is not None
        weights = [Fraction(float(v)) for v in found[1]]
        allocation = answer.allocation
        home = allocation.instance.replace(weights=weights)
        moved += not np.allclose(home.weights / home.weights.sum(), case.instance.weights / case.instance.weights.sum())
        if mechanism in (*LEXICOGRAPHIC, "drf"):
            again = solve(case.instance.replace(weights=weights), mechanism)
            assert again.tasks == pytest.approx(home.arcs.owner @ answer.x.value, rel=LINEAR, abs=LINEAR)
        else:
            assert residual(mechanism, home, answer.x.value) <= RESIDUAL * 10
    assert moved > 2


def residual(mechanism, instance, x):
    """Of tasks without prices."""
    return distance(find(mechanism), Allocation(instance, np.maximum(x, 0.0)))


def test_every_point_for_njc_is_an_njc_allocation():
    rng, moved = np.random.default_rng(2), 0
    for case in samples(Hypotheses(users=2, one_server=True, unlimited=False), 12, seed=1):
        program = WeightProgram(case, "njc")
        answer = program.answer(case.instance)
        found = program.largest(rng.normal(size=answer.x.size) @ answer.x)
        assert found is not None
        home = answer.allocation.instance.replace(weights=[Fraction(float(v)) for v in found[1]])
        assert residual("njc", home, answer.x.value) <= RESIDUAL * 10
        moved += 1
    assert moved == 12


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("mechanism", "name", "misreports"),
    [
        ("ps-dsf", "strategyproofness", 1),
        ("lmmf", "strategyproofness", 1),
        ("tsf", "sharing-incentive", 0),
        ("tsf", "envy-freeness", 0),
        ("ps-dsf", "pareto", 0),
        ("lmmf", "population-monotonicity", 0),
        ("lmmf", "group-strategyproofness", 2),
    ],
)
def test_the_program_says_how_large_the_violation_is(mechanism, name, misreports):
    """At the case's own weights the program's violations are at most the judge's margin, and the largest of them is it."""
    seen = 0
    for case in samples(PLACED, 5, seed=7, misreports=misreports):
        program = WeightProgram(case, mechanism)
        fixed = case.instance.weights / case.instance.weights.sum()
        program.constraints += [program.w == fixed]
        values = [found[0] for violation in VIOLATIONS[name](program) if (found := program.largest(violation)) is not None]
        margin = attempted(mechanism, property_judge(name))(case).margin
        if name == "pareto":
            assert (max(values) > LINEAR) == (margin > LINEAR)
        else:
            assert max(values) == pytest.approx(margin, abs=LINEAR)
        seen += 1
    assert seen == 5


def test_the_weights_of_the_worst_misreport_are_found():
    """D 4's misreport helps only where the user's entitlement is large; a program finds such entitlements at once."""
    misreport = Misreport((1,), (((Fraction(1, 2), Fraction(1)),),), (None,))
    case = Case(Instance([[2, 1], [0, 1]], [[2, 2]], weights=[1, 10]), misreport)
    claim = STATEMENTS["D.S4.strategyproof"]
    worse = worst_weights(case, "njc", "strategyproofness")
    assert worse is not None
    assert claim.trial(worse).margin > claim.trial(case).margin
    assert claim.violated(worse) is not None


def test_no_program_where_violations_are_not_linear():
    several = Case(Instance([[[1, 2], [2, 1]], [[1, 1]]], [[1, 1]]))
    limited = Case(Instance([[1], [1]], [[1]], max_tasks=[1, None]))
    plain = Case(Instance([[1], [1]], [[1]]))
    assert worst_weights(several, "lmmf", "envy-freeness") is None
    assert worst_weights(limited, "tsf", "envy-freeness") is None
    assert worst_weights(plain, "tsf", "non-wastefulness") is None
    assert worst_weights(plain, "njc", "envy-freeness") is None, "a bundle for a unit of entitlement is no linear function"
    assert worst_weights(plain, "tsf", "strategyproofness") is None, "nobody misreports"
    assert worst_weights(plain, "tsf", "envy-freeness") is not None


def test_what_a_bundle_is_worth():
    instance = Instance([[1, 2], [2, 1]], [[4, 4], [4, 4]], eligible=[[1, 0], [1, 1]])
    assert useful(instance, instance, 1, 0).tolist() == [0.0, 0.5, 0.0], "user 1 may not use server 2"
    h = holdings_of(solve(instance, "tsf"))
    worth = useful(instance, instance, 1, 0) @ h.x
    assert worth == pytest.approx(h.utilities(0, h.bundles[1:2])[0], rel=ROUNDING)


@pytest.mark.deep
def test_the_search_counts_its_programs_and_is_not_led_astray():
    """A claim that is proved: programs are tried, nothing is refuted."""
    claim = STATEMENTS["P.II-B.tsf.envy"]
    search = Search(claim, seeded(claim, 1), Limit(cases=300))
    assert search.run() is None
    assert search.programs > 0
    assert not search.unconfirmed


def test_it_is_not_so_where_a_mechanism_looks_at_single_servers():
    """On two servers the weights of drf-per-server decide on each: a vertex need not be an answer, and the test of vertices can
    fail.
    """
    rng, worst = np.random.default_rng(0), 0.0
    for case in samples(Hypotheses(users=2, everywhere=True), 12, seed=0):
        program = WeightProgram(case, "drf-per-server")
        answer = program.answer(case.instance)
        found = program.largest(rng.normal(size=case.instance.N) @ program.w + rng.normal(size=answer.x.size) @ answer.x)
        assert found is not None
        home = answer.instance.replace(weights=[Fraction(float(v)) for v in found[1]])
        worst = max(worst, residual("drf-per-server", home, answer.x.value))
    assert worst > LINEAR
