"""Exact answers and certificates: published rationals, the certified share, and that no number of a proof can be changed."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from changed_certificates import TINY_OF_BOUNDS, assert_that_no_number_can_be_changed
from hypothesis import given, settings
from hypothesis import strategies as st
from narrow import JOBS
from profiles import drawn
from strategies import instances
from tolerances import EXACT, RESIDUAL, ROUNDING

import fairalloc.solvers.exact.exact as exact_method
from fairalloc.analysis.certificates import NotCertified, certify, parse_certificate
from fairalloc.analysis.certificates.construct import certified_answer
from fairalloc.analysis.certificates.dual_solutions import log_value
from fairalloc.analysis.explanations import explain
from fairalloc.cli import main
from fairalloc.formulations import MECHANISMS, mechanism
from fairalloc.formulations.lexicographic.rule import Leximin
from fairalloc.models import Allocation, FairallocError, Instance, InstanceError, NotApplicable
from fairalloc.models.exact.rationals import exact_arcs, monopoly, rounded_up
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.models.files.jsonio import allocation_document, read_instance, write_instance
from fairalloc.models.numbers import exact_text, rational
from fairalloc.solvers import METHODS, methods_for, solve
from fairalloc.solvers.exact import simplex
from fairalloc.solvers.exact.exact import ExactSession, solve_exactly
from fairalloc.solvers.exact.ps_dsf import exact_levels
from fairalloc.solvers.exact.simplex import BasicSolution, RationalProgram, optimal_basic_solution
from fairalloc.solvers.method import Limits, Stopped
from fairalloc.solvers.running import dispatch
from fairalloc.solvers.running.dispatch import meets

COMPUTED = [name for name, item in MECHANISMS.items() if METHODS["exact"].computes(item) and name not in JOBS]
PUBLISHED = [(item, name) for item in EXAMPLES for name in item.answers if name in COMPUTED]
FAMILIES = ["generic", "tied", "zero_demand", "placement", "finite", "planted", "badly_scaled"]
WANG = example("wang-fig2").instance
ATTEMPT = dispatch._attempt

STUCK_AT_A_LIMIT = Instance([[1, 0], [1, 0], [0, 1]], [[30, 10]], max_tasks=[20, None, None], weights=[1, 1, 3])
"""In round 1, at the level of user 3, a vertex may give user 1 all its 20 tasks; user 2 would then be left with 10 of the 30."""


# ---- exact answers --------------------------------------------------------------------------------------------------


@pytest.mark.few(29)
@pytest.mark.parametrize(("item", "name"), PUBLISHED, ids=lambda v: getattr(v, "name", v))
def test_published_answers_are_exactly_the_published_rationals(item, name):
    allocation = solve(item.instance, name, "exact")
    assert allocation.tasks_exact == item.answers[name]
    assert allocation.termination == "optimal"
    assert allocation.residual <= RESIDUAL


@pytest.mark.parametrize("name", COMPUTED)
def test_rationals_in_rationals_out(name):
    instance = Instance([["1/3", 1], [Fraction(2, 7), "1/5"]], [[2, 12], [12, 2]], weights=[1, "3/2"])
    allocation = solve(instance, name, "exact")
    assert all(isinstance(v, Fraction) for v in allocation.x_exact)
    np.testing.assert_allclose([float(v) for v in allocation.x_exact], allocation.x, rtol=ROUNDING)
    np.testing.assert_allclose([float(v) for v in allocation.tasks_exact], allocation.tasks, rtol=ROUNDING)


def test_users_without_a_choice_of_arcs_are_filled_in_rationals():
    """Weights 1e12 apart, 240 pairs: rational pivots took 3 s, and of 1,000 pairs more than five minutes."""
    one = generators.weights(30, 8, 3, 1, decades=12)
    given = solve(one, "drf-per-server", "exact")
    assert given.iterations <= 24
    assert given.residual > 1e-6, "what its rounding leaves"
    assert given.user_error == 0
    assert certify(given)
    for small in (generators.finite(9, 1, 3, 1), generators.tied(9, 1, 3, 3), STUCK_AT_A_LIMIT):
        rate, session = mechanism("lmmf").exact_rate(small), ExactSession(mechanism("lmmf"), small, Limits())
        assert session._filled(rate).x == session._leximin(rate).x


@pytest.mark.deep
@settings(max_examples=drawn(60))
@given(instances())
def test_uniform_is_exactly_the_parts(instance):
    """With one way to run tasks u_n = min(phi_n / sum phi times sum_i gamma_ni, max_tasks_n), in rationals throughout."""
    allocation = solve(instance, "uniform", "exact")
    assert allocation.termination == "optimal"
    assert allocation.residual <= ROUNDING
    weights, limits = instance.exact.weights, instance.exact.max_tasks
    parts = [w / sum(weights) * alone for w, alone in zip(weights, monopoly(instance), strict=True)]
    most = tuple(part if limit is None else min(part, limit) for part, limit in zip(parts, limits, strict=True))
    if instance.single_variant:
        assert allocation.tasks_exact == most
    else:  # a mixture of ways may run more on a server than the best of them
        assert all(u >= v for u, v in zip(allocation.tasks_exact, most, strict=True))
    np.testing.assert_allclose(solve(instance, "uniform").tasks, allocation.tasks, rtol=EXACT)


def test_uniform_is_certified_by_its_tasks():
    assert str(certified_answer(WANG, "uniform")) == "uniform: optimal, the value is 1"
    assert certify(solve(WANG, "uniform"))
    failure = certify(Allocation(WANG, [5, 1, 1, 4.9]), "uniform")
    assert failure.reason == "user 'u2' runs 5.9 tasks, but 6 in the exact answer, 0.0167 away, relative"
    half = Allocation(WANG, [2, 1, 1, 2])  # 3 of 6 tasks each
    assert certify(half, "uniform", tolerance=0.6).about == "the tasks of the allocation differ by at most 5.0e-01, relative"
    with pytest.raises(NotApplicable, match="does not compute 'fds': the methods that do are"):
        solve(WANG, "fds", "exact")


def test_floating_methods_have_no_rationals():
    allocation = solve(WANG, "drfh", "highs")
    assert allocation.x_exact is None
    assert allocation.tasks_exact is None


def test_rationals_must_fit_the_arcs():
    with pytest.raises(InstanceError, match=r"x_exact is .*, but it must be 4 rationals, one for each arc"):
        Allocation(WANG, [10, 0, 0, 10], x_exact=(Fraction(10), Fraction(10)))


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (Fraction(9), "the allocation gives user 'u1' tasks on server 's1' as 10.0, but exactly as '9'"),
        ("10", "an entry of x_exact is '10', but it must be a Fraction"),
        (np.nan, "an entry of x_exact is nan, but it must be a Fraction"),
    ],
)
def test_rationals_are_those_of_the_tasks(first, told):
    """A property had been checked of other tasks than the definition, and certify ended in a TypeError."""
    with pytest.raises(InstanceError, match=told):
        Allocation(WANG, [10, 0, 0, 10], x_exact=(first, Fraction(0), Fraction(0), Fraction(10)))


def test_rationals_stand_in_the_json_document():
    users = allocation_document(solve(example("wang-prop4").instance, "drfh", "exact"))["users"]
    assert [user["tasks_exact"] for user in users] == ["12/5", "4/5"]
    assert sum(Fraction(part) for part in users[0]["by_server_exact"].values()) == Fraction(12, 5)
    assert "tasks_exact" not in allocation_document(solve(WANG, "drfh", "highs"))["users"][0]


@pytest.mark.parametrize("seed", range(5))
def test_planted_answers_are_exact(seed):
    size = (12, 4, 3, seed)
    allocation = solve(generators.planted(*size), "drfh", "exact")
    assert allocation.tasks_exact == generators.planted_tasks(*size)


@pytest.mark.parametrize("method", [m.id for m in methods_for(mechanism("drfh"))])
def test_a_limit_reached_above_the_level_fixes_nobody(method):
    tasks = solve(STUCK_AT_A_LIMIT, "drfh", method).tasks
    np.testing.assert_allclose(tasks, [15, 15, 10], rtol=RESIDUAL)


@settings(max_examples=drawn(30))
@given(instances())
def test_exact_data_are_the_float_data(instance):
    arcs = exact_arcs(instance)
    np.testing.assert_allclose(np.array(arcs.matrix(), dtype=float), instance.arcs.load.toarray(), rtol=ROUNDING)


@pytest.mark.parametrize("name", [name for name in COMPUTED if isinstance(mechanism(name), Leximin)])
@pytest.mark.parametrize("family", ["zero_demand", "badly_scaled"])
def test_exact_rates_are_the_float_rates(name, family):
    item = mechanism(name)
    domain = item.domain(getattr(generators, family)(6, 3, 3, 1).replace(counts=[2, 1, 3]))
    np.testing.assert_allclose([float(v) for v in item.exact_rate(domain)], item.rate(domain), rtol=ROUNDING)


def test_task_shares_ignore_placement_in_rationals_too():
    instance = generators.placement(6, 3, 2, 1).replace(counts=[1, 2, 3], demands_on={(0, 1): [5, 7]})
    item = mechanism("tsf")
    np.testing.assert_allclose([float(v) for v in item.exact_rate(instance)], item.rate(instance), rtol=ROUNDING)


# ---- the basis and its repair ---------------------------------------------------------------------------------------


def recorded_programs(monkeypatch, instance, name):
    """The programs of all rounds with the basic solutions that were found."""
    found = []
    original = exact_method.optimal_basic_solution

    def record(program, basis, limits):
        solution, pivots = original(program, basis, limits)
        found.append((program, solution))
        return solution, pivots

    monkeypatch.setattr(exact_method, "optimal_basic_solution", record)
    monkeypatch.setattr(ExactSession, "_filled", ExactSession._leximin)
    solve(instance, name, "exact")
    return found


def value(program, solution):
    return sum(program.cost[k] * v for k, v in solution.values.items())


@pytest.mark.parametrize(("family", "seed"), [*product(["zero_demand", "finite", "tied"], range(3))])
def test_any_basis_is_repaired_to_the_optimum(monkeypatch, family, seed):
    """From the slack basis, and from random bases that are neither primal nor dual feasible, to the same value."""
    rng = np.random.default_rng(seed)
    paths = Counter()
    for program, solution in recorded_programs(monkeypatch, getattr(generators, family)(5, 2, 2, seed), "drfh"):
        columns, rows = len(program.columns), len(program.right_side)
        starts = [range(columns - rows, columns), *(rng.choice(columns, rows, replace=False).tolist() for _ in range(20))]
        for start in starts:
            try:
                first = BasicSolution(program, start)
                kind = (first.leaving is None, first.entering is None)
            except ZeroDivisionError:
                continue  # not a basis
            repaired, pivots = optimal_basic_solution(program, start, Limits())
            assert value(program, repaired) == value(program, solution)
            assert min(repaired.values.values()) >= 0
            assert max(repaired.reduced_costs.values()) <= 0
            paths[kind] += pivots > 0
    assert paths[True, False] > 0, "no start was primal feasible alone"
    assert paths[False, False] > 0, "no start was infeasible on both sides"


def two_columns(second):
    """Max z1 + z2 subject to z1 + z2 <= 4 and z1 + second z2 <= 6."""
    from flint import fmpq

    one = fmpq(1)
    columns = ({0: one, 1: one}, {0: one, 1: fmpq(second)}, {0: one}, {1: one})
    return RationalProgram((one, one, fmpq(0), fmpq(0)), columns, (fmpq(4), fmpq(6)))


def test_a_singular_basis_is_reported():
    with pytest.raises(Stopped, match="the basis could not be certified: it is singular in exact arithmetic") as caught:
        optimal_basic_solution(two_columns(1), [0, 1], Limits())
    assert caught.value.termination == "error"


def test_too_many_repairs_are_reported():
    assert optimal_basic_solution(two_columns(3), [2, 3], Limits())[1] == 1
    none = Limits(options=simplex.SimplexOptions(max_pivots=0))
    with pytest.raises(Stopped, match="the basis could not be certified: 0 pivots did not repair it"):
        optimal_basic_solution(two_columns(3), [2, 3], none)


def test_a_program_without_a_solution_is_reported():
    from flint import fmpq

    impossible = RationalProgram((fmpq(1), fmpq(0)), ({0: fmpq(1)}, {0: fmpq(1)}), (fmpq(-1),))
    with pytest.raises(Stopped, match="infeasible in exact arithmetic"):
        optimal_basic_solution(impossible, [1], Limits())


def test_a_basis_that_fails_keeps_the_floating_point(monkeypatch):
    """The allocation is HiGHS' point, it says that it is not exact, and nothing is certified."""

    def refuse(program, basis, limits):
        raise Stopped("error", "the basis could not be certified: in this test")

    monkeypatch.setattr(exact_method, "optimal_basic_solution", refuse)
    allocation = solve(WANG, "drfh", "exact")
    assert (allocation.termination, allocation.x_exact) == ("error", None)
    np.testing.assert_allclose(allocation.tasks, [10, 10], rtol=EXACT)
    failure = certify(allocation, "drfh")
    assert not failure
    assert str(failure) == "drfh: not certified: the basis could not be certified: in this test"


def test_what_highs_says_of_a_basis_is_not_said_of_the_rational_answer(monkeypatch):
    monkeypatch.setattr("fairalloc.solvers.backends.highs_session.TERMINATION", {"kOptimal": "inaccurate"})
    answer = solve(WANG, "drfh", "exact")
    assert (answer.termination, answer.tasks_exact) == ("optimal", (10, 10))


def test_an_interrupt_leaves_the_point_in_the_units_of_the_user_and_says_so(monkeypatch):
    """HiGHS computes in canonical units; PS-DSF's point is that of `continuation`, which had swallowed the interrupt."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(exact_method, "optimal_basic_solution", interrupt)
    monkeypatch.setattr("fairalloc.solvers.game.continuation.ContinuationSession.iterate", interrupt)
    allocation = solve(WANG, "drfh", "exact")
    assert allocation.termination == "interrupted"
    np.testing.assert_allclose(allocation.tasks, [10, 10], rtol=EXACT)
    assert solve(WANG, "ps-dsf", "exact").termination == "interrupted"


def test_tasks_that_are_free_are_fractions():
    twins = Instance([[1, 1], [1, 1]], [[10, 10], [5, 5]])
    assert solve(twins, "ps-dsf", "exact").x_exact is not None


# ---- certificates ---------------------------------------------------------------------------------------------------

SIZES = [(8, 3, 2), (20, 10, 3), (40, 5, 4), (10, 20, 2), (60, 3, 2), (5, 5, 5)]


@pytest.mark.unmeasured
@pytest.mark.deep
def test_nearly_every_generated_instance_is_certified():
    """At least 99 %, with up to 200 arcs, over families and mechanisms; the failures are named."""
    outcomes = {}
    for family, (k, size) in product(FAMILIES, enumerate(SIZES)):
        instance = getattr(generators, family)(*size, k)
        assert len(instance.arcs) <= 200
        for name in COMPUTED:
            if not defined(name, instance) or len(mechanism(name).domain(instance).users) > 60:
                continue  # 200 (user, server) pairs and twenty rounds take seconds
            outcomes[family, size, name] = certified_answer(instance, name)
    failed = [(case, str(outcome)) for case, outcome in outcomes.items() if not outcome]
    assert len(outcomes) >= 200
    assert len(failed) <= 0.01 * len(outcomes), failed


def defined(name, instance):
    try:
        return mechanism(name).domain(instance) is not None
    except FairallocError:
        return False


@pytest.mark.deep
@pytest.mark.unmeasured
@settings(max_examples=drawn(60))
@given(instances())
def test_every_feature_is_certified(instance):
    """Several variants, demands that depend on the server, counts, limits, hostile units."""
    for name in (name for name in COMPUTED if defined(name, instance)):
        certificate = certify(solve(instance, name, "exact"))
        assert certificate, str(certificate)


@settings(max_examples=drawn(30))
@given(st.sampled_from(FAMILIES), st.integers(0, 10_000))
def test_exact_agrees_with_floating_point(family, seed):
    instance = getattr(generators, family)(8, 3, 3, seed)
    one, other = solve(instance, "drfh", "exact"), solve(instance, "drfh", "highs")
    np.testing.assert_allclose(other.tasks, one.tasks, rtol=RESIDUAL)
    assert certify(other, "drfh")


def five_users(family, seed):
    return getattr(generators, family)(5, 3, 2, seed)


CERTIFIED = [
    case
    for case in product(COMPUTED, ["zero_demand", "finite", "placement", "tied"], range(4))
    if defined(case[0], five_users(*case[1:]))
]


@pytest.mark.few(3)
@pytest.mark.unmeasured
@pytest.mark.parametrize(("name", "family", "seed"), CERTIFIED)
def test_no_number_of_a_proof_can_be_changed(family, seed, name):
    instance = five_users(family, seed)
    assert_that_no_number_can_be_changed(certified_answer(instance, name), instance)


def test_every_mechanism_and_family_is_certified():
    """No pair is silently left out: the ones that are not defined are these."""
    everything = set(product(COMPUTED, ["zero_demand", "finite", "placement", "tied"], range(4)))
    left_out = {("drf", "placement"), ("drf-per-server", "finite")}
    assert everything - set(CERTIFIED) == {(*pair, seed) for pair in left_out for seed in range(4)}


@pytest.mark.unmeasured
@settings(max_examples=drawn(25))
@given(instances(), st.sampled_from(["lmmf", "mmf", "utilitarian"]))
def test_no_number_of_a_proof_can_be_changed_whatever_the_instance(instance, name):
    assert_that_no_number_can_be_changed(certified_answer(instance, name), instance)


@pytest.mark.few(9)
@pytest.mark.parametrize(("item", "name"), PUBLISHED, ids=lambda v: getattr(v, "name", v))
def test_no_number_of_a_published_proof_can_be_changed(item, name):
    assert_that_no_number_can_be_changed(certified_answer(item.instance, name), item.instance)


def test_a_proof_is_about_its_instance():
    certificate = certified_answer(WANG, "drfh")
    assert not certificate.verify(WANG.replace(weights=[1, 2]))
    assert not certificate.verify(example("khamse-fig1").instance)
    assert not replace(certificate, mechanism="nb").verify(WANG)
    assert not replace(certificate, mechanism="drfh-lp").verify(WANG)
    assert not replace(certified_answer(WANG, "utilitarian"), mechanism="drfh").verify(WANG)
    assert not replace(certified_answer(WANG, "nb"), mechanism="drfh").verify(WANG)


def test_a_proof_needs_a_reason_for_every_user():
    """Rounds without prices, a round left out, a user in two rounds: each time somebody might still get more."""
    instance = example("khamse-fig1").instance
    certificate = certified_answer(instance, "drfh")
    first, second = certificate.rounds
    free = replace(first, prices=(Fraction(0),) * len(first.prices), worth=(Fraction(0),) * len(first.worth))
    forged = [(first,), (first, first, second), (free, second), (replace(first, users=(0, 1, 2, 3)),)]
    for rounds in forged:
        assert not replace(certificate, rounds=rounds).verify(instance)
    half = tuple(v / 2 for v in certificate.x)
    assert not replace(certificate, x=half).verify(instance)
    assert not replace(certificate, x=half[:-1]).verify(instance)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda d: [], "the certificate is [], but it must be an object of schema 'fairalloc-certificate/1' and a known kind"),
        (lambda d: d | {"kind": "oracle"}, "and a known kind"),
        (lambda d: d | {"kind": ["leximin"]}, "and a known kind"),
        (lambda d: d | {"x": "1"}, "a part of the certificate is '1', but it must be a list"),
        (lambda d: d | {"x": [[]]}, "a number of the certificate is [], which is not a finite number"),
        (lambda d: d | {"mechanism": 1}, "a part of the certificate is 1, but it must be of type str"),
        (
            lambda d: d | {"rounds": [{}]},
            "a part of the certificate is {}, but it must be an object with level, users, prices, worth",
        ),
    ],
)
def test_bad_certificate_documents_are_refused(spoil, sentence):
    with pytest.raises(InstanceError) as caught:
        parse_certificate(spoil(certified_answer(WANG, "drfh").document()))
    assert sentence in str(caught.value)


# ---- failing is not passing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "highs", "cvxpy:clarabel"])
def test_an_allocation_beside_the_answer_is_not_certified(method):
    instance = generators.finite(8, 3, 2, 1)
    allocation = solve(instance, "drfh", method)
    assert certify(allocation, "drfh")
    x = np.array(allocation.x)
    x[instance.arcs.user == 0] *= 1 - 1e-5
    failure = certify(Allocation(instance, x), "drfh")
    assert isinstance(failure, NotCertified)
    assert "user 'u1' runs" in failure.reason
    assert not certify(Allocation(instance, allocation.x * 1.001), "drfh")
    assert not certify(Allocation(instance, np.full(len(x), np.nan)), "drfh")


@pytest.mark.parametrize("name", ["drfh", "utilitarian", "mmf"])
def test_wrong_rationals_are_not_certified_however_close(name):
    """The allocation's own rationals are judged, not the ones that were computed anew."""
    instance = generators.generic(6, 3, 2, 1)
    allocation = solve(instance, name, "exact")
    a = int(np.argmax(allocation.x))
    less = tuple(v - Fraction(k == a, 10**50) for k, v in enumerate(allocation.x_exact))
    more = tuple(v + Fraction(k == a, 10**50) for k, v in enumerate(allocation.x_exact))
    assert certify(allocation, name)
    assert certify(allocation, name).x == allocation.x_exact
    assert not certify(replace(allocation, x_exact=more), name)
    if name != "mmf":  # where only the poorest user counts
        assert not certify(replace(allocation, x_exact=less), name)


def test_a_wrong_proof_is_not_certified(monkeypatch):
    """What the method hands over is verified, not believed."""

    def cheat(item, domain, limits):
        solution = solve_exactly(item, domain, limits)
        first = solution.proof[0]
        return replace(solution, proof=(replace(first, prices=tuple(2 * p for p in first.prices)), *solution.proof[1:]))

    monkeypatch.setattr("fairalloc.analysis.certificates.construct.solve_exactly", cheat)
    failure = certified_answer(WANG, "drfh")
    assert isinstance(failure, NotCertified)
    assert failure.reason == "the certificate is wrong: a worth is not the cost of the cheapest task at the prices of its round"


def test_what_a_small_weight_hides_in_the_objective_is_not_certified():
    """The second user could run 9 tasks for 4.5e-9 of the objective; the last two make the optimum not unique."""
    placed = Instance(
        [[1]] * 4, [[10], [1]], weights=[1, 1e-9, 1, 1], max_tasks=[1, None, None, None], eligible=[[1, 0]] * 2 + [[0, 1]] * 2
    )
    refused = certify(Allocation(placed, [1, 0, 0.5, 0.5]), "utilitarian")
    assert not refused
    assert refused.reason == "a user could have 1.0e+00 of its tasks more on what is free"
    assert certify(Allocation(placed, [1, 9, 0.5, 0.5]), "utilitarian")


def test_what_has_no_certificate_is_a_failure():
    assert str(certified_answer(WANG, "fds")) == "fds: not certified: the method 'exact' does not compute this mechanism"
    assert certified_answer(generators.generic(40, 5, 3), "drfh", time_limit=1e-6).reason == "the time was not enough"
    assert not certify(Allocation(WANG, [5, 1, 1, 5]), "utilitarian")


def test_what_was_compared_is_said():
    assert str(certified_answer(WANG, "drfh")) == "drfh: lexicographic max-min fair, rounds at 5/7"
    about = certify(solve(WANG, "drfh", "cvxpy:scs")).about
    assert about.startswith("the tasks of the allocation differ by at most ")
    assert certify(solve(WANG, "mmf", "highs")).about == "the g of the allocation differs by 0.0e+00, relative"
    half = Allocation(WANG, [5, 0, 0, 5])  # of 10 tasks each
    assert certify(half, "mmf", tolerance=0.6).about == "the g of the allocation differs by 5.0e-01, relative"


# ---- bounds for nb --------------------------------------------------------------------------------------------------


@pytest.mark.few(16)
@pytest.mark.parametrize("method", [m.id for m in methods_for(mechanism("nb"))])
@pytest.mark.parametrize("family", ["generic", "finite", "zero_demand", "variants", "placement"])
def test_bargaining_bounds_are_tight(family, method):
    instance = getattr(generators, family)(8, 3, 2, 3)
    certificate = certify(solve(instance, "nb", method))
    assert certificate, str(certificate)
    assert 0 <= certificate.gap <= certificate.upper - certificate.lower <= 1e-6 * instance.weights.sum()
    assert str(certificate).startswith("nb: the optimal value is between ")


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(5))
def test_bargaining_bounds_hold_the_known_optimum(seed):
    """Planted answers are optimal, so their value lies between the bounds of any allocation near them, good or less so.

    Tasks are compared however much the value may differ: an equal partition has no certificate at any tolerance.
    """
    size = (12, 4, 3, seed, "nb")
    instance = generators.planted(*size)
    least, most = log_value(instance.exact.weights, generators.planted_tasks(*size))
    good = certified_answer(instance, "nb")
    assert good.lower <= most
    assert least <= good.upper
    near = Allocation(instance, np.array([float(x) for x in good.x]) * (1 - 5e-3))
    poor = certify(near, "nb", tolerance=10.0)
    assert poor.lower < least
    assert most < poor.upper
    assert not certify(near, "nb")
    equal = Allocation(instance, instance.arcs.gamma / instance.N / instance.K)
    assert re.fullmatch(r"user '\w+' runs .* tasks, but .* are right", certify(equal, "nb", tolerance=10.0).reason)
    assert not certify(equal, "nb")


def test_bargaining_bounds_when_everybody_has_all_it_wants():
    instance = Instance([[1, 1], [2, 1]], [[100, 100]], max_tasks=[3, "7/2"])
    certificate = certified_answer(instance, "nb")
    assert float(certificate.lower) == pytest.approx(math.log(3) + math.log(3.5), rel=RESIDUAL)
    assert certificate.prices == (0, 0)


@pytest.mark.parametrize("family", ["finite", "zero_demand", "variants", "planted"])
def test_no_number_of_a_bound_can_be_changed(family):
    instance = getattr(generators, family)(5, 3, 2, 1)
    assert_that_no_number_can_be_changed(certified_answer(instance, "nb"), instance, TINY_OF_BOUNDS)


def test_a_gap_has_no_more_digits_for_more_users():
    few, many = (certified_answer(generators.generic(users, 4, 2, 0), "nb") for users in (4, 80))
    assert many.gap.denominator.bit_length() <= few.gap.denominator.bit_length() + 10
    assert len(max(json.dumps(many.document()).split('"'), key=len)) < 100


@pytest.mark.parametrize("value", [Fraction(0), Fraction(1, 3), Fraction(10**400, 7), Fraction(1, 10**400), Fraction(-1, 3)])
def test_rounding_up_is_up_by_next_to_nothing(value):
    assert 0 <= rounded_up(value) - value <= abs(value) / 2**63
    assert rounded_up(rounded_up(value)) == rounded_up(value)


LONG = Fraction(3**20_000, 2**31_699 + 1)
"""About 1.2. Each part has more digits than Python converts to a text."""


def test_numbers_with_thousands_of_digits_are_written_and_read(tmp_path):
    with pytest.raises(ValueError, match="Exceeds the limit"):
        str(LONG)
    assert rational(exact_text(LONG), "it") == LONG
    instance = Instance([[LONG, 1], [1, 3]], [[3, 5], [2, 7]])
    write_instance(instance, tmp_path / "long.json")
    assert read_instance(tmp_path / "long.json").exact.demands[0][0] == (LONG, 1)
    for name in ("lmmf", "ps-dsf", "asset", "drfh"):
        certificate = certified_answer(instance, name)
        assert len(str(certificate)) < 1000
        again = parse_certificate(json.loads(json.dumps(certificate.document())))
        assert again == certificate
        assert again.verify(instance)
        assert str(explain(solve(instance, name, method="exact" if name != "asset" else None)))


def test_a_number_that_takes_minutes_to_read_is_refused():
    with pytest.raises(InstanceError, match=r"^it is '777.*, which is not a finite number or a rational such as '1/5'$"):
        rational("7" * 200_000, "it")


def test_a_smaller_gap_cannot_be_claimed():
    """Also not with all three numbers changed so that they agree with each other."""
    certificate = certify(Allocation(WANG, [9.9, 0, 0, 9.9]), "nb", tolerance=1.0)
    assert certificate.gap > 0.01
    forged = replace(certificate, gap=Fraction(0), upper=certificate.upper - certificate.gap)
    assert not forged.verify(WANG)
    raised = replace(certificate, lower=certificate.lower + certificate.gap, upper=certificate.upper + certificate.gap)
    assert not raised.verify(WANG)


def test_a_starved_user_has_no_bounds():
    assert certify(Allocation(WANG, [10, 0, 0, 0]), "nb").reason == "a user has no task"


# ---- the command line -----------------------------------------------------------------------------------------------


def test_certify_and_verify_from_the_command_line(tmp_path, capsys):
    file, wrong = tmp_path / "certificate.json", tmp_path / "wrong.json"
    assert main(["certify", "wang-fig2", "-m", "drfh", "--format", "json"]) == 0
    file.write_text(capsys.readouterr().out)
    wrong.write_text(file.read_text().replace('"5/7"', '"6/7"'))
    assert main(["verify", "wang-fig2", str(file)]) == 0
    assert main(["verify", "wang-fig2", str(wrong)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "drfh: certified: lexicographic max-min fair, rounds at 5/7",
        "drfh: the certificate is wrong: user 'u1' is not at the level of its round",
    ]


def test_certify_an_allocation_from_the_command_line(tmp_path, capsys):
    file = tmp_path / "allocation.json"
    file.write_text(json.dumps(allocation_document(solve(WANG, "drfh", "highs"))))
    assert main(["certify", "wang-fig2", str(file)]) == 0
    assert "the tasks of the allocation differ by at most" in capsys.readouterr().out
    assert main(["certify", "wang-fig2", str(file), "-m", "drf-per-server", "--format", "json"]) == 1
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("fairalloc: drf-per-server: not certified: user 'u1' runs 10 tasks, but 6 in the exact answer")
    assert main(["certify", "wang-fig2"]) == 0
    assert capsys.readouterr().out.startswith("drfh: "), "drfh where no mechanism is named"


def test_no_rational_equations_after_the_time_is_over(monkeypatch):
    """They cannot be interrupted: with 25,000 arcs they ran for more than a minute under a limit of ten seconds."""
    monkeypatch.setattr("fairalloc.solvers.exact.exact.exact_levels", lambda *_: pytest.fail("rational equations were begun"))
    allocation = solve(generators.generic(60, 20, 4), "ps-dsf", "exact", time_limit=1e-2)
    assert allocation.termination == "time_limit"


def test_rational_equations_of_one_pattern_after_the_other_look_at_the_clock():
    with pytest.raises(Stopped):
        exact_levels(WANG, WANG.arcs.gamma, Limits(deadline=0.0))


def test_the_rational_answer_is_taken_where_its_rounding_has_no_more_digits():
    """Tasks of 56 users span eight orders of magnitude: what one may have changes by 1e9 times the rounding of another's."""
    answer = solve(generators.badly_scaled(56, 22, 1, 175148), "lmmf", "exact")
    assert RESIDUAL < answer.residual < 1e-4
    assert meets(answer, RESIDUAL)
    assert not meets(replace(answer, x_exact=None), RESIDUAL)


@pytest.mark.deep
def test_first_order_methods_are_asked_last_where_others_were_inaccurate(monkeypatch):
    """SCS takes half a minute here to say that there is no allocation."""
    asked = []
    monkeypatch.setattr(
        dispatch, "_attempt", lambda request, method, *rest: asked.append(method.id) or ATTEMPT(request, method, *rest)
    )
    answer = solve(generators.badly_scaled(56, 22, 1, 175148), "lmmf")
    assert answer.method == asked[-1] == "exact"
    assert "interior-point" in asked
    assert not {"cvxpy:scs", "pdhg"} & set(asked)


@pytest.mark.parametrize("apart", [1e-8, 1e-10, 1e-13])
def test_users_who_are_worth_nearly_as_much_may_stand_for_each_other(apart: float) -> None:
    """An answer whose objective was proved to 1e-10 was refuted: its user was 1 away from the only exact answer."""
    instance = Instance([[1 + apart], [1]], [[1]])
    for x in ([0, 1], [1 / (1 + apart), 0]):
        assert certify(Allocation(instance, x), "utilitarian")
    assert not certify(Allocation(instance, [0, 1 - 1e-5]), "utilitarian")
    beside = Instance([[1, 0], [0, 1], [0, 2]], [[1, 1]], weights=[1, apart, apart])
    assert not certify(Allocation(beside, [1, 0, 0.5]), "utilitarian"), "a small weight hides no user"
