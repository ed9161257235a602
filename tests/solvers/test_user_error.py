"""The error of each user: what "optimal" says of it, and that the bounds and the right tasks find what is wrong."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from tolerances import ROUNDING

import fairalloc as fa
from fairalloc.formulations import mechanism
from fairalloc.models.allocation import USER_ERROR_NOT_KNOWN
from fairalloc.models.exact.rationals import as_ball
from fairalloc.models.examples import generators
from fairalloc.solvers import judge
from fairalloc.solvers.exact import many_digits
from fairalloc.solvers.interior_point.next_step import errors_by_next_step
from fairalloc.solvers.judge import judged, right_tasks
from fairalloc.solvers.method import Limits
from fairalloc.solvers.options import Judging, allowed_user_error
from fairalloc.solvers.running.dispatch import meets

UNIQUE = ("drf", "drfh", "tsf", "lmmf", "asset", "drf-per-server", "uniform", "nb", "fds")
TINY = fa.Instance([[1], [1]], [[1]], weights=[1, 1e-7], name="tiny")
"""The right tasks are 1 : 1e-7 in every mechanism of UNIQUE."""

DOUBLE = np.array([1 - 2e-7, 2e-7])


@pytest.mark.parametrize("name", UNIQUE)
def test_a_user_with_twice_its_tasks_is_refused(name):
    twice = fa.Allocation(TINY, DOUBLE)
    verdict = fa.check(twice, name)
    assert verdict.holds is False, verdict
    assert not fa.certify(twice, name)


@pytest.mark.parametrize("seed", range(8))
def test_the_error_of_uniform_covers_what_linear_programs_leave(seed):
    """The solver and the judge's program both took capacities for equal that differ by 1e-9: an error of 0 was stated."""
    rng = np.random.default_rng(seed)
    demands, capacities = (1 + rng.integers(0, 2, size) * 10.0 ** -rng.integers(9, 13) for size in ((2, 2, 2), (1, 2)))
    instance = fa.Instance(demands, capacities)
    found, right = fa.solve(instance, "uniform"), fa.solve(instance, "uniform", method="exact").tasks_exact
    wrong = max(abs(Fraction(v) / t - 1) for v, t in zip(found.tasks.tolist(), right, strict=True))
    assert wrong <= found.user_error + np.finfo(float).eps
    assert found.termination == "optimal"


@pytest.mark.parametrize(("error", "decides"), [(1e-11, True), (1e-9, False)])
def test_tasks_to_many_digits_decide_where_they_are_known_well(error, decides, monkeypatch):
    monkeypatch.setattr(many_digits, "many_digits", lambda *_: judge.RightTasks((Fraction(1), Fraction(1, 10**7)), error))
    fresh = TINY.replace(name="fresh")  # right tasks are computed once an instance
    assert (right_tasks(mechanism("nb"), fresh, Limits()) is not None) == decides


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_the_steps_to_many_digits_start_where_all_arcs_carry_as_much(alpha):
    """They started at as many tasks on each arc: where one task took 1e40 times as much there were too few steps."""
    instance = fa.Instance([[[1, 0], [1e40, 0]], [[1, 1]]], [[1, 1]])
    assert fa.solve(instance, "alpha-fair", "many-digits", alpha=alpha).tasks == pytest.approx([0.5, 0.5], rel=ROUNDING)


def test_an_answer_to_many_digits_proves_itself():
    """Its gain is 8e-6 in double precision, beside users with 6e-8 of the largest share, so it was called inaccurate."""
    instance = fa.Instance(
        [[1]] * 3,
        [[0.00022996378723876473], [0.0006320679339744747], [42]],
        rates=[
            [6724.316535476716, 0.0027515140680533694, 0],
            [0.00018473711721954237, 0, 0],
            [31.357364876871156, 3483.4359439171053, 0],
        ],
        max_tasks=[None, None, 0.5812454298147284],
    )
    found = fa.solve(instance, "alpha-fair", alpha=5)
    assert (found.method, found.termination) == ("many-digits", "optimal")
    wrong = fa.Allocation(instance, found.x * (1 - 1e-5), method="many-digits")
    assert judged(mechanism("alpha-fair").configure(alpha=5), wrong, Limits()).residual > 1e-6


@pytest.mark.parametrize("tasks", [0.0, 1e-12, 1e-3])
def test_who_has_nothing_by_right_is_off_by_a_part_of_what_it_could_run_alone(tasks):
    """u1 uses what nobody else needs, so its group gives u2 nothing."""
    instance = fa.Instance([[1, 0], [1, 1], [0, 1]], [[1, 1]], groups={"group": ["u1", "u2"]})
    given = fa.Allocation(instance, [1 - tasks, tasks, 1 - tasks])
    told = judge.user_error(mechanism("nested-leximin"), given, 1e-4, Limits(), np.full(3, np.inf))
    assert told.error == pytest.approx(tasks, abs=1e-15)


def test_the_error_of_the_right_tasks_counts(monkeypatch):
    known = judge.RightTasks((Fraction(1, 2), Fraction(1, 2)), 1e-11)
    monkeypatch.setattr(judge, "right_tasks", lambda *_: known)
    given = fa.Allocation(TINY, [0.5, 0.5])
    assert judge.user_error(mechanism("nb"), given, 1e-4, Limits(), np.full(2, 1e-3)).error == 1e-11


def test_many_digits_start_where_small_servers_bound_nobody():
    """With as many tasks on each arc a user began with 1e-6 of its tasks."""
    capacities = [[4000, 2000], [4e9, 1e9], [5e6, 2e7], [8e9, 6e9], [4e9, 1e9]]
    far = fa.Instance([[3, 3], [1, 0], [2, 3]], capacities, counts=[2, 1, 5, 2, 1])
    found = fa.solve(far, "alpha-fair", "many-digits", alpha=100, share="task-share")
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, fa.solve(far, "alpha-fair", alpha=100, share="task-share").tasks, rtol=1e-6)


def test_users_whose_powers_are_far_apart_have_tasks_to_many_digits():
    """What they pay is 1e1157 apart: there were too few bits, and no method had an answer."""
    far = fa.Instance([[1], [1]], [[1e6], [1e-7]], eligible=[[True, True], [False, True]])
    found = fa.solve(far, "alpha-fair", alpha=90)
    assert found.claims_success
    assert found.tasks == pytest.approx([1e6, 1e-7])


def test_many_digits_end_where_their_products_fall_no_more(monkeypatch):
    monkeypatch.setattr(many_digits, "STALLED", -1)
    session = many_digits.ManyDigitsSession(mechanism("nb"), TINY, Limits())
    assert session.answer() is None


@pytest.mark.parametrize("wrong", [0, 1, 2, 3])
def test_the_bound_to_many_digits_covers_the_user_that_is_known_worst(wrong):
    session = many_digits.ManyDigitsSession(
        mechanism("nb"), fa.Instance([[1]] * 4, [[1]], weights=[1, 1e-3, 1e-6, 1e-9]), Limits()
    )
    known = session.answer()
    with ctx.workprec(session.bits):
        session.program.now[wrong] *= as_ball(Fraction(999_999, 10**6))
        claimed = session.program.proved()
    assert known.error < 1e-12
    assert abs(float(claimed.tasks[wrong] / known.tasks[wrong]) - 1) > 0.9e-6 * float(1 - known.tasks[wrong])
    for told, right in zip(claimed.tasks, known.tasks, strict=True):
        assert claimed.error >= abs(float(told / right) - 1)


def test_bounds_hold_up_to_the_largest_error_that_they_tell():
    """Nine thousandths of a user's tasks are another one's: the bound is larger than the error by a thousandth of it."""
    two, item, part = fa.Instance([[1], [1]], [[1]], weights=[1, 1e-6]), mechanism("nb"), Fraction(9, 1000)
    session = many_digits.ManyDigitsSession(item, two, Limits())
    right = session.answer().tasks[1]
    with ctx.workprec(session.bits):
        moved = session.program.now[1] * as_ball(part)
        session.program.now[:2] += [moved, -moved]
        claimed = session.program.proved()
    in_floats = item.user_errors(fa.Allocation(two, [float(1 - right * (1 - part)), float(right * (1 - part))], prices=[[1]]))
    for bound in (claimed.error, in_floats[1]):
        assert float(1 / (1 - part) - 1) <= bound <= many_digits.MOST


def test_too_few_digits_lead_to_no_answer(monkeypatch):
    """The matrix of a step is singular then."""
    monkeypatch.setattr(many_digits, "BITS", 2)
    found = fa.solve(fa.example("wang-fig2").instance, "nb", "many-digits")
    assert (found.termination, found.message) == ("error", "its steps lead to no answer")


@pytest.mark.parametrize("name", UNIQUE)
def test_its_right_tasks_are_confirmed(name):
    right = fa.Allocation(TINY, [1 / (1 + 1e-7), 1e-7 / (1 + 1e-7)])
    assert fa.check(right, name).holds


@pytest.mark.parametrize("name", UNIQUE)
def test_no_claim_for_it(name):
    item = mechanism(name)
    found = fa.solve(TINY, name)
    wrong = replace(found, x=DOUBLE, x_exact=None, termination="optimal")
    result = judged(item, wrong, Limits())
    assert (result.termination, result.claims_success) == ("inaccurate", False)
    assert result.user_error > 0.5


@pytest.mark.parametrize("name", UNIQUE)
def test_where_nothing_bounds_it_the_termination_says_so(name):
    item, found = mechanism(name), fa.solve(TINY, name)
    few = Limits(judging=Judging(reference_arcs=0, exact_arcs=0, digits_arcs=0))
    wrong = replace(found, x=DOUBLE, x_exact=None, termination="optimal", residuals={})
    result = judged(item, wrong, few)
    if name != "uniform":  # which needs no prices
        assert result.termination in (USER_ERROR_NOT_KNOWN, "inaccurate") or result.not_judged
        assert result.user_error == np.inf or result.user_error > 0.5
    assert not result.claims_success


def test_what_is_not_known_is_returned_but_not_claimed():
    known = fa.Allocation(TINY, DOUBLE, termination=USER_ERROR_NOT_KNOWN, residuals={"definition": 0.0}, user_error=np.inf)
    assert meets(known, 1e-6)
    assert not known.claims_success


@pytest.mark.few(20)
@pytest.mark.parametrize("size", [(6, 3, 2), (20, 5, 2)])
@pytest.mark.parametrize("family", ["generic", "tied", "finite", "badly_scaled"])
@pytest.mark.parametrize("name", ["drfh", "lmmf", "nb", "fds", "tsf"])
def test_the_prices_of_ordinary_answers_are_enough(name, family, size):
    one = getattr(generators, family)(*size, 3)
    try:
        found = fa.solve(one, name)
    except fa.FairallocError:
        pytest.skip("not defined there")
    assert found.claims_success
    item = mechanism(name)
    assert item.user_errors(found).max() <= allowed_user_error(1e-6), "without the right tasks"
    if len(one.arcs) <= 20:
        right = right_tasks(item, found.instance, Limits())
        error = max(abs(float(u) / t - 1) for u, t in zip(right.tasks, found.tasks, strict=True))
        assert error <= max(found.user_error, 1e-12)


@pytest.mark.parametrize("name", ["lmmf", "nested-leximin"])
def test_users_that_nearly_tie_are_compared_with_rationals(name):
    """To first order a user gave way by 1.6e-5 of its tasks, but half of them are right; groups had no bound at all."""
    rng = np.random.default_rng(2407)
    base, part = rng.integers(0, 5, (3, 2)), 1 + 1e-9 * rng.integers(-3, 4, (20, 2))
    base[:, 1] += 1
    eligible = rng.random((20, 4)) < 0.6
    eligible[:, 0] |= ~eligible.any(axis=1)
    demands, capacities = base[rng.integers(3, size=20)] * part, rng.integers(4, 12, (4, 2))
    instance = fa.Instance(demands[:, None], capacities, eligible=eligible)
    if name == "nested-leximin":
        instance = instance.replace(groups={"a": range(10), "b": range(10, 20)})
    found, right = fa.solve(instance, name), fa.solve(instance, name, "exact")
    assert found.claims_success
    np.testing.assert_allclose(found.tasks, right.tasks, rtol=allowed_user_error(1e-6), atol=ROUNDING)
    assert not fa.solve(instance, name, "highs" if instance.groups else "highs:leximin").claims_success


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-8])
@pytest.mark.parametrize("name", ["nb", "alpha-fair", "fds"])
def test_floors_have_their_part_in_the_bound(name, noise):
    """User 1 is at its floor, user 4 above it: tasks and prices moved by a little are off by no more than their bound."""
    plain, rng = generators.generic(6, 3, 2, 1), np.random.default_rng(1)
    one = plain.replace(min_tasks=fa.solve(plain, name).tasks * [1.2, 0, 0, 0.8, 0, 0])
    right = fa.solve(one, name)
    x, prices = right.x * np.exp(noise * rng.normal(size=right.x.shape)), right.prices * (1 + noise)
    moved = replace(right, x=x / max(1.0, (right.instance.arcs.load @ x).max()), prices=prices)
    errors = mechanism(name).user_errors(moved)
    assert 0 < right.user_error <= 1e-5
    assert (np.abs(moved.tasks / right.tasks - 1) <= errors + right.user_error).all()
    assert errors.max() <= 1e-2


@pytest.mark.parametrize("name", ["drfh", "nb", "fds"])
@pytest.mark.parametrize("part", [1e-3, 1e-2])
def test_the_bound_grows_with_what_is_wrong(name, part):
    """A user's tasks are lowered by a part: the bound by the same prices is at least that part."""
    found = fa.solve(generators.generic(6, 3, 2, 1), name)
    less = found.x.copy()
    less[found.instance.arcs.user == 0] *= 1 - part
    errors = mechanism(name).user_errors(replace(found, x=less))
    assert errors.max() >= part / 2


@pytest.mark.few(10)
@pytest.mark.parametrize("method", ["interior-point", "cvxpy:clarabel", "pyomo:ipopt"])
@pytest.mark.parametrize("family", ["generic", "placement", "badly_scaled", "planted"])
@pytest.mark.parametrize(("name", "parameters"), [("nb", {}), ("fds", {"alpha": 0.5}), ("fds", {"alpha": 3.0})])
def test_a_newton_step_shows_each_error(name, parameters, family, method):
    """It is no less than the true error, and far less than the root of the gap; at all accuracies, and with less of a user."""
    item, one = mechanism(name).configure(**parameters), getattr(generators, family)(5, 3, 2, 3)
    if name == "fds" and family == "placement":
        pytest.skip("not defined there")
    right = right_tasks(item, item.home(one), Limits()).tasks
    for accuracy in ("low", "mid", "high"):
        found = fa.solve(one, name, method, accuracy=accuracy, **parameters)
        for part in (0.0, 1e-6):
            answer = replace(found, x=found.x * np.where(found.instance.arcs.user == 1, 1 - part, 1.0))
            coarse = item.user_errors(answer)
            errors = errors_by_next_step(item, answer, coarse)
            true = np.array([abs(float(t) / u - 1) for t, u in zip(right, answer.tasks, strict=True)])
            assert (true <= np.maximum(errors, 1e-13)).all()
            if coarse.max() < 1e-3:
                assert errors.max() <= 20 * max(true.max(), 1e-12) + coarse.max() ** 2


@pytest.mark.parametrize("size", [(30, 6, 3), (300, 40, 3)])
@pytest.mark.parametrize("name", ["nb", "fds"])
def test_high_accuracy_is_claimed_above_a_hundred_arcs(name, size):
    found = fa.solve(generators.generic(*size, 0), name, accuracy="high")
    assert found.claims_success
    assert found.user_error <= 1e-6


def test_without_prices_or_any_bound_a_step_shows_nothing():
    found, item = fa.solve(TINY, "nb"), mechanism("nb")
    errors = item.user_errors(found)
    assert np.isinf(errors_by_next_step(item, replace(found, prices=None), errors)).all()
    assert np.isinf(errors_by_next_step(item, found, np.full(2, np.inf))).all()


@pytest.mark.parametrize("accuracy", ["low", "mid", "high", 1e-5])
@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_what_accuracies_say_of_users(name, accuracy):
    found = fa.solve(generators.generic(6, 2, 2, 0), name, accuracy=accuracy)
    assert found.termination == "optimal"
    assert found.user_error <= {"low": 1e-2, "mid": 1e-4, "high": 1e-6, 1e-5: 1e-3}[accuracy]


def test_set_valued_mechanisms_have_none():
    assert all(fa.solve(generators.generic(4, 2, 2, 0), name).user_error is None for name in ("ps-dsf", "utilitarian", "mmf"))


def test_utilitarian_is_compared_where_its_tasks_are_unique():
    one = fa.Instance([[1, 0], [0, 1]], [[1, 1]], weights=[1, 1e-9])
    assert fa.certify(fa.Allocation(one, [1, 1]), "utilitarian")
    assert "runs 0 tasks, but 1" in str(fa.certify(fa.Allocation(one, [1, 0]), "utilitarian"))


# ---- what is claimed ----------------------------------------------------------------------------------------------------


WANG = fa.example("wang-fig2").instance


@pytest.mark.parametrize(
    ("termination", "proved", "beyond", "claimed", "says"),
    [
        ("optimal", 1e-7, 0.0, "optimal", "known"),
        ("optimal", 1e-6, 1e-6, "optimal", "known"),
        ("optimal", 1e-5, 0.0, "inaccurate", "its answer proves no more than a residual of 1.0e-05"),
        ("optimal", 1e-7, 1e-5, "inaccurate", "its answer is infeasible by 1.0e-05"),
        ("inaccurate", 1e-7, 0.0, "optimal", "called inaccurate, but its answer proves a residual of 1.0e-07"),
        ("approximate", 1e-7, 0.0, "optimal", "called approximate, but its answer proves a residual of 1.0e-07"),
        ("inaccurate", 1e-5, 0.0, "inaccurate", "known"),
        ("approximate", 1e-5, 0.0, "approximate", "known"),
        ("optimal", np.nan, 0.0, "inaccurate", "its answer proves no more than a residual of inf"),
        ("time_limit", 1e-9, 0.0, "time_limit", "known"),
        ("iteration_limit", 1e-3, 0.0, "iteration_limit", "known"),
    ],
)
def test_what_is_claimed_is_what_is_proved_of_what_fits(termination, proved, beyond, claimed, says):
    given = fa.Allocation(WANG, [10, 0, 0, 10], termination=termination, residuals={"feasibility": beyond}, message="known")
    found = judge._claim(given, proved, 1e-6)
    assert (found.termination, found.message) == (claimed, says)


@pytest.mark.parametrize(
    ("facts", "termination", "residuals", "not_judged"),
    [
        ({"optimality": 1e-9}, "optimal", {"feasibility": 0, "optimality": 1e-9}, ""),
        ({"optimality": 1e-3}, "inaccurate", {"feasibility": 0, "optimality": 1e-3}, ""),
        ({"optimality": 1e-9, "doubt": "it is bent"}, "stationary", {"feasibility": 0, "stationarity": 1e-9}, "it is bent"),
        ({"optimality": 1e-3, "doubt": "it is bent"}, "inaccurate", {"feasibility": 0, "stationarity": 1e-3}, "it is bent"),
        ({}, "optimal", {"feasibility": 0}, "its method gave neither dual prices nor a bound from which optimality could be"),
        ({"doubt": "it is bent"}, "stationary", {"feasibility": 0}, "it is bent"),
    ],
)
def test_a_model_of_ones_own_is_judged_by_its_optimality_conditions(facts, termination, residuals, not_judged):
    item = mechanism("nb").edited("own", cvxpy=lambda problem, _: problem)
    given = fa.Allocation(WANG, [10, 0, 0, 10], termination="optimal")
    found = judged(item, given, Limits("mid"), model=judge.ModelFacts(**facts))
    assert (found.termination, found.residuals) == (termination, residuals)
    assert bool(found.not_judged) == bool(not_judged)
    assert not_judged in found.not_judged
    assert judged(item, given, None, model=judge.ModelFacts(optimality=1e-3)).termination == "optimal", "as it was told"
    left = judged(item, given, Limits("mid"), model=judge.ModelFacts(optimality=1e-3), claimed=True)
    assert left.termination == "optimal"


def test_how_far_apart_tasks_are_is_relative_to_the_right_ones():
    assert judge._apart([Fraction(3), Fraction(1), 0, Fraction(1)], [Fraction(2), Fraction(2), 0, 0]) == [0.5, 0.5, 0, np.inf]
    far = fa.Instance([[1, 2], [2, 1], [1, 1]], [[4, 4]], weights=[1e-160, 1e160, 1])
    assert fa.solve(far, "nb").residual >= 0  # an OverflowError


def test_a_bound_beyond_what_is_allowed_is_none_that_helps():
    assert judge._bounded(None, 1.0) is None
    assert judge._bounded(np.array([0.5, 1.0]), 1.0) == 1.0
    assert judge._bounded(np.array([0.5, 1.1]), 1.0) == np.inf
    assert judge._bounded(np.array([0.5, np.nan]), 1.0) == np.inf


def test_rounding_of_prices_is_a_part_of_their_sum_for_every_user():
    """A gap of `part` of all prices is worth part * sum(p) / y_n of the share of user n: by hand with two layers."""
    instance = fa.Instance([[1, 1], [2, 1]], [[4, 8]])
    item = mechanism("lmmf")
    layers = np.array([[[1.0, 0.0]], [[0.25, 0.5]]])
    here = fa.Allocation(instance, [0.5, 1.0], round_prices=layers)
    rate = item.rate(instance)
    cost = np.array([[1 / 4, 2 / 4], [0.25 / 4 + 0.5 / 8, 0.5 / 4 + 0.5 / 8]]) / rate  # of a unit of share at each layer
    most = np.min([0.01 * p.sum() / y for p, y in zip(layers, cost, strict=True)], axis=0)
    expected = max(most / (rate * here.tasks + most))
    assert judge._rounding(item, here, 0.01) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("off", "of_reference", "says"),
    [(1e-9, 1e-10, 1e-9), (1e-9, 1e-8, 1e-8), (1e-9, 1e-2, 1e-3), (1e-2, 1e-10, 1e-3)],
    ids=["near", "reference-proved-less", "reference-not-proved", "far"],
)
def test_the_difference_from_a_proved_reference_counts_where_it_is_small(monkeypatch, off, of_reference, says):
    """In deep sequences a proof is sharper than arithmetic: here prices prove 1e-3 of an answer, whatever it is."""
    reference = fa.solve(generators.generic(4, 2, 2, 1), "lmmf")
    rule = type(mechanism("lmmf"))("mine", share=mechanism("lmmf").share)
    given = replace(reference, x=reference.x * (1 + off))
    monkeypatch.setattr(judge, "reference_allocation", lambda *_: reference)
    monkeypatch.setattr(type(rule), "residual", lambda _, one: of_reference if one is reference else 1e-3)
    best, priced = judge._by_rounds(rule, given, np.inf, Limits())
    assert best == pytest.approx(says, rel=1e-5)
    np.testing.assert_array_equal(priced.round_prices, reference.round_prices)
    assert judge._by_rounds(rule, given, 1e-12, Limits())[0] == 1e-12
