"""Many instances at once: the answers of `solve`, in the order given, claimed only where their own prices prove them."""

import importlib
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from strategies import instances
from tolerances import DEGENERATE, RESIDUAL, ROUNDING, SHARES

import fairalloc as fa
from fairalloc.models.examples import generators
from fairalloc.solvers.interior_point.batch import Stack, _Points, _solutions, solve_stack
from fairalloc.solvers.running import dispatch

module = importlib.import_module("fairalloc.solvers.solve_many")

GENERIC = [generators.generic(20, 5, 2, seed) for seed in range(12)]
FAMILIES = ("generic", "tied", "zero_demand", "placement", "racks", "finite")
COMPARED = [
    *((family, name) for family in FAMILIES for name in ("drfh", "tsf", "lmmf", "nb")),
    *(("variants", "lmmf"), ("variants", "nb"), ("badly_scaled", "drfh"), ("badly_scaled", "tsf"), ("badly_scaled", "nb")),
]
"""With hostile units lmmf counts tasks over 8 orders of magnitude, beyond floats."""

PLANTED = fa.example("wang-fig2").instance


def is_stacked(allocation):
    """A method that was asked by itself has counted the seconds of its phases."""
    return allocation.method == "interior-point" and allocation.times.build == 0


def assert_same(found, expected, shares=SHARES):
    assert found.claims_success == expected.claims_success
    assert found.residual <= RESIDUAL
    assert found.instance == expected.instance
    np.testing.assert_allclose(found.tasks, expected.tasks, rtol=shares)
    for key, value in expected.values.items():
        assert found.values[key] == pytest.approx(value, rel=SHARES, abs=SHARES)


@pytest.mark.few(7)
@pytest.mark.parametrize(("family", "name"), COMPARED)
def test_the_answers_are_those_of_solve(family, name):
    given = [getattr(generators, family)(8, 3, 2, seed) for seed in range(6)]
    for instance, found in zip(given, fa.solve_many(given, name), strict=True):
        assert_same(found, fa.solve(instance, name), DEGENERATE if (family, name) == ("tied", "nb") else SHARES)


@settings(max_examples=drawn(25))
@given(st.lists(instances(), min_size=2, max_size=4), st.sampled_from(["drfh", "nb"]))
def test_any_instances_are_claimed_or_solved_one_by_one(given, name):
    if name == "drfh":
        given = [instance for instance in given if instance.single_variant and not instance.demands_on]
    given = [twin for instance in given for twin in (instance, instance.replace(weights=np.arange(1, instance.N + 1)))]
    for instance, found in zip(given, fa.solve_many(given, name), strict=True):
        expected = fa.solve(instance, name)
        assert found.claims_success >= expected.claims_success
        assert found.residual <= max(RESIDUAL, expected.residual)


@pytest.mark.parametrize("name", ["drfh", "tsf", "lmmf", "asset", "nb"])
def test_small_ones_of_one_shape_are_solved_together(name, monkeypatch):
    monkeypatch.setattr(module, "solve", None)
    for instance, found in zip(GENERIC, fa.solve_many(GENERIC, name), strict=True):
        assert is_stacked(found)
        assert found.claims_success
        assert found.residual <= 1e-2 * fa.solvers.ACCURACY["high"]
        assert found.iterations > 0
        assert found.times.wall > 0
        again = fa.solvers.judged(fa.mechanism(name), found)
        assert again.residuals == found.residuals
        expected = fa.solve(instance, name, "interior-point").prices
        np.testing.assert_allclose(found.prices, expected, atol=SHARES * expected.max())


def test_shapes_and_sizes_may_be_mixed():
    """Large ones, single ones of a shape and those with several rounds are solved one by one; the order stays."""
    given = [GENERIC[0], generators.generic(20, 40, 2, 1), PLANTED, GENERIC[1], fa.example("khamse-fig1").instance, GENERIC[2]]
    answers = fa.solve_many(iter(given), "drfh")
    assert [answer.instance is instance for answer, instance in zip(answers, given, strict=True)] == [True] * 6
    assert [is_stacked(answer) for answer in answers] == [True, False, False, True, False, True]
    for instance, found in zip(given, answers, strict=True):
        assert_same(found, fa.solve(instance, "drfh"))


def test_limits_placement_and_zero_capacities_are_stacked():
    open_to = np.ones((20, 5), bool)
    open_to[:7, 2:] = False
    limits = [2.5 if n % 3 else None for n in range(20)]
    capacities = np.array(GENERIC[3].capacities)
    capacities[0, 0] = 0.0
    changed = [
        GENERIC[0].replace(eligible=open_to),
        GENERIC[1].replace(max_tasks=limits, weights=np.arange(1, 21)),
        GENERIC[2].replace(counts=[1, 2, 3, 1, 1]),
        GENERIC[3].replace(capacities=capacities),
    ]
    answers = fa.solve_many(changed, "nb")
    assert all(map(is_stacked, answers))
    for instance, found in zip(changed, answers, strict=True):
        assert_same(found, fa.solve(instance, "nb"))


@pytest.mark.parametrize("name", ["drfh", "nb"])
@pytest.mark.parametrize("part", ["x", "prices"])
def test_what_its_prices_do_not_prove_is_not_claimed(name, part, monkeypatch):
    """A thousandth less of one server, or of its prices: those instances are solved one by one."""

    def perturbed(stack, *asked):
        answer = solve_stack(stack, *asked)
        values = getattr(answer, part).copy()
        if part == "x":
            values[::2, :, 0] *= 1 - 1e-3
        else:
            values[::2, 0] *= 1 - 1e-3
        return replace(answer, **{part: values})

    monkeypatch.setattr("fairalloc.solvers.interior_point.batch.solve_stack", perturbed)
    answers = fa.solve_many(GENERIC, name)
    assert [is_stacked(answer) for answer in answers] == [False, True] * 6
    assert all(answer.claims_success and answer.residual <= RESIDUAL for answer in answers)


@pytest.mark.parametrize("name", ["mmf", "drfh-lp"])
def test_one_round_is_stacked_in_every_family_and_ends_at_the_accuracy(name):
    given = [getattr(generators, family)(8, 3, 2, seed) for family in FAMILIES for seed in (1, 2)]
    steps = {}
    for accuracy, promise in {"low": 1e-3, "high": 1e-8}.items():
        answers = fa.solve_many(given, name, accuracy)
        assert all(map(is_stacked, answers))
        assert max(answer.residual for answer in answers) <= promise
        steps[accuracy] = sum(answer.iterations for answer in answers)
    assert steps["low"] < 0.8 * steps["high"]


def test_points_that_are_no_numbers_are_not_claimed(monkeypatch):
    def nowhere(stack, *asked):
        answer = solve_stack(stack, *asked)
        return replace(answer, x=np.full_like(answer.x, np.nan), prices=np.full_like(answer.prices, np.nan))

    monkeypatch.setattr("fairalloc.solvers.interior_point.batch.solve_stack", nowhere)
    assert not any(map(is_stacked, fa.solve_many(GENERIC[:2], "nb")))


def test_threads_are_those_that_were_asked_for():
    assert {answer.threads for answer in fa.solve_many([*GENERIC[:2], PLANTED], "nb", threads=1)} == {1}
    with pytest.raises(fa.InstanceError, match="threads is 0"):
        fa.solve_many(GENERIC, "nb", threads=0)


def test_nothing_asked_is_nothing_answered():
    assert fa.solve_many([], "drfh") == []


def test_mechanisms_of_ones_own_and_others_are_solved_one_by_one():
    by_tasks = fa.Leximin("by-tasks", lambda instance: np.ones(instance.N))
    capped = fa.mechanism("drfh").edited("capped", cvxpy=lambda problem, _: problem)
    for own in (by_tasks, capped):
        for instance, found in zip(GENERIC[:2], fa.solve_many(GENERIC[:2], own), strict=True):
            assert found.rule.id == own.id
            np.testing.assert_allclose(found.tasks, fa.solve(instance, own).tasks, rtol=SHARES)
    fds = fa.solve_many(GENERIC[:2], "fds", alpha=3)
    assert [answer.parameters for answer in fds] == [{"alpha": 3.0}] * 2


def test_time_that_is_over():
    answers = fa.solve_many(GENERIC[:3], "nb", time_limit=1e-9)
    assert [answer.termination for answer in answers] == ["time_limit"] * 3
    assert all(np.isnan(answer.x).all() and "no time" in answer.not_judged for answer in answers)


def test_code_of_the_callers_is_not_asked_when_the_time_is_over():
    """A share that sleeps had been asked once for each instance that was left."""
    asked = []
    rule = fa.Leximin("ones", lambda instance: asked.append(instance) or np.ones(instance.N))
    answers = fa.solve_many(GENERIC, rule, time_limit=1e-9)
    assert [answer.termination for answer in answers] == ["time_limit"] * len(GENERIC)
    assert not asked


def test_what_was_not_begun_says_what_was_asked(monkeypatch):
    """Its parameters were lost, its rule was, and for one pool it came on all servers; of large ones a limit of 2 s took 14."""
    two = fa.Instance([[1, 2], [2, 1]], [[4, 9], [4, 9]])
    (found,) = fa.solve_many([two], "alpha-fair", time_limit=1e-9, alpha=3)
    assert (found.parameters, found.rule) == ({"alpha": 3.0, "share": "tasks"}, None)
    own = fa.mechanism("drf")
    (found,) = fa.solve_many([two], own, time_limit=1e-9)
    assert (found.instance, found.rule) == (two.pool, own)
    monkeypatch.setattr(dispatch, "LARGE", 1)
    monkeypatch.setattr(type(own), "home", None)
    assert fa.solve_many([two], own, time_limit=1e-9)[0].instance is two


@pytest.mark.parametrize("raises", [False, True])
def test_ctrl_c_ends_the_whole_call_and_keeps_what_was_found(monkeypatch, raises):
    """It had ended one instance, and the call went on with the next."""
    asked = []

    def interrupted(instance, *given, **named):
        asked.append(instance)
        if raises:
            raise KeyboardInterrupt
        return fa.solve(instance, *given, **named).noted(termination="interrupted")

    monkeypatch.setattr(module, "solve", interrupted)
    answers = fa.solve_many([PLANTED, *GENERIC[:2], generators.generic(3, 2, 2)], "nb")
    assert [answer.has_point for answer in answers] == [not raises, True, True, False]
    assert answers[3].termination == "interrupted"
    assert len(asked) == 1
    if raises:
        with pytest.raises(KeyboardInterrupt):
            fa.solve_many([PLANTED, generators.generic(3, 2, 2)], "nb")


@pytest.mark.parametrize(("ends", "word"), [(KeyboardInterrupt, "before it had an answer"), (None, "no time left for it")])
def test_those_of_a_stack_that_was_begun_are_not_said_to_be_not_begun(monkeypatch, ends, word):
    def ended(instances, mechanism, limits):
        if instances[0].N < 20:
            return together(instances, mechanism, limits)
        if ends is not None:
            raise ends
        monkeypatch.setattr(module.Limits, "late", True)
        return [None] * len(instances)

    together = module._together
    monkeypatch.setattr(module, "_together", ended)
    few = [generators.generic(3, 2, 2, seed) for seed in range(2)]
    answers = fa.solve_many([*few, *GENERIC[:2]], "nb")
    assert [answer.claims_success for answer in answers] == [True, True, False, False]
    assert word in answers[3].message


def test_each_of_a_stack_has_its_part_of_the_time(monkeypatch):
    """On clocks that go 1 and 3 seconds from one look to the next."""
    wall, cpu = itertools.count(5), itertools.count(7, 3)
    monkeypatch.setattr(module, "now", lambda: float(next(wall)))
    monkeypatch.setattr(module, "processor_seconds", lambda: float(next(cpu)))
    for answer in fa.solve_many(GENERIC[:4], "nb"):
        assert is_stacked(answer)
        assert (answer.times.wall, answer.times.solve, answer.times.cpu) == (0.25, 0.25, 0.75)


def test_what_is_left_of_the_time_is_for_those_that_are_solved_one_by_one(monkeypatch):
    asked = []

    def noted(instance, *given, time_limit=None, **named):
        asked.append(time_limit)
        return fa.solve(instance, *given, **named)

    monkeypatch.setattr(module, "solve", noted)
    fa.solve_many([PLANTED, GENERIC[0]], "nb", time_limit=1000)
    fa.solve_many([PLANTED], "nb")
    assert 0 < asked[1] <= asked[0] <= 1000
    assert asked[1] > 900
    assert asked[2] is None


def test_errors_name_the_instance():
    for wrong in ([PLANTED, 5], iter([PLANTED, 5])):
        with pytest.raises(fa.InstanceError, match=r"^instances\[1\] is 5, but it must be an Instance$"):
            fa.solve_many(wrong, "drfh")
    with pytest.raises(fa.InstanceError, match=r"^instances is Instance\(.*, but it must be a list, each an Instance$"):
        fa.solve_many(PLANTED, "drfh")
    two_ways = PLANTED.replace(demands=[[[1, 2], [2, 1]], [1, 1]])
    with pytest.raises(fa.NotApplicable, match=r"^instance 2: .*has 2$"):
        fa.solve_many([PLANTED, PLANTED, two_ways], "drfh")
    with pytest.raises(fa.UnknownName, match="no mechanism 'drfhh'"):
        fa.solve_many([PLANTED], "drfhh")
    with pytest.raises(fa.UnknownName, match=r"^accuracy is 'best'"):
        fa.solve_many([], "drfh", accuracy="best")
    with pytest.raises(fa.NotApplicable, match="no parameter 'beta'"):
        fa.solve_many([], "drfh", beta=1)


# ---- the iteration ------------------------------------------------------------------------------------------------------


def stack_of(name, given=GENERIC):
    return module._stack_of(given, fa.mechanism(name))[0]


@pytest.mark.parametrize("name", ["drfh", "nb"])
def test_each_is_solved_as_if_alone(name):
    """Who else is in the stack does not matter, but for rounding."""
    stack = stack_of(name)
    together, alone = solve_stack(stack), solve_stack(stack.take(np.array([4])))
    np.testing.assert_allclose(together.x[4].sum(axis=1), alone.x[0].sum(axis=1), rtol=1e3 * ROUNDING)
    assert together.error.max() <= 1e-2 * fa.solvers.ACCURACY["high"]
    assert together.steps.max() < 30


def test_the_error_is_that_of_the_equations():
    """The points of an answer satisfy the equations of the text, computed here anew; other points do not."""
    stack = stack_of("drfh")
    answer = solve_stack(stack)
    load = np.einsum("bni,bnr,bir->bir", answer.x, stack.demand, stack.inverse)
    cost = np.einsum("bnr,bir,bir->bni", stack.demand, stack.inverse, answer.prices)
    assert load.max() <= 1 + 10 * ROUNDING
    g, y = answer.x.sum(axis=2).min(axis=1), cost.min(axis=2)
    np.testing.assert_allclose(y.sum(axis=1), 1.0, rtol=10 * ROUNDING)
    np.testing.assert_allclose(answer.prices.sum(axis=(1, 2)), g, rtol=10 * ROUNDING)
    first = solve_stack(stack, late=lambda: True)
    assert np.all(first.error > 1e-3)
    assert np.all(np.abs(first.prices.sum(axis=(1, 2)) / first.x.sum(axis=2).min(axis=1) - 1) > 1e-3)


def test_a_program_without_numbers_leaves_the_others_alone():
    stack = stack_of("nb")
    demand = stack.demand.copy()
    demand[3] = np.nan
    answer = solve_stack(Stack(demand, stack.inverse, stack.is_open, stack.limit, stack.income))
    good = np.arange(len(GENERIC)) != 3
    assert np.isinf(answer.error[3])
    assert answer.error[good].max() <= 1e-2 * fa.solvers.ACCURACY["high"]


def test_a_singular_system_leaves_the_others_alone():
    matrices = np.array([np.eye(2), np.ones((2, 2)), 2 * np.eye(2)])
    found = _solutions(matrices, np.ones((3, 2, 1)))
    np.testing.assert_array_equal(found[[0, 2], :, 0], [[1, 1], [0.5, 0.5]])
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize("name", ["lmmf", "nb"])
def test_a_start_meets_the_primal_equations_and_its_error_is_that_of_the_equations(name):
    """By dense sums, for each program of a stack with limits and placement; also where numbers are too large or too small."""
    given = [generators.finite(8, 3, 2, seed) for seed in range(3)]
    stack = stack_of(name, given)
    points, (B, N, K, R) = _Points(stack), stack.shape
    capped = np.isfinite(stack.limit)
    limit = np.where(capped, stack.limit, 0.0)
    start = points.now
    for which, part, factor in ((w, part, f) for w in ("primal", "dual") for part in points.parts for f in (1.0, 0.7, 1.4)):
        values = getattr(start, which).copy()
        values[:, part] *= factor
        points.now = start._replace(**{which: values})
        (x, s, t, r), (d, p, y, z) = points.split(points.now.primal), points.split(points.now.dual)
        tasks, price = x.reshape(B, N, K), p.reshape(B, K, R)
        u, g = tasks.sum(axis=2), points.now.g
        rows = 1.0 - np.einsum("bni,bnr,bir->bir", tasks, stack.demand, stack.inverse).reshape(B, -1) - s
        users = (g if name == "lmmf" else 0.0) + t - u
        limits = np.where(capped, limit - u - r, 0.0)
        cost = np.einsum("bnr,bir,bir->bni", stack.demand, stack.inverse, price) - (y - z)[:, :, None]
        arcs = np.where(stack.is_open, d.reshape(B, N, K) - cost, 0.0)
        bound = price.sum(axis=(1, 2)) + (z * limit).sum(axis=1)
        if name == "lmmf":
            parts = [rows, users, limits, arcs, y.sum(axis=1) - 1.0, bound / g[:, 0] - 1.0]
        else:
            parts = [
                rows,
                users / t,
                limits,
                arcs / y[:, :, None],
                stack.income / (y * t) - 1.0,
                bound / (y * t).sum(axis=1) - 1.0,
            ]
        expected = np.max([np.abs(part.reshape(B, -1)).max(axis=1) for part in parts], axis=0)
        np.testing.assert_allclose(points.error(), expected, rtol=1e3 * ROUNDING)
        if factor == 1.0:
            assert max(np.abs(part).max() for part in (rows, users, limits)) <= ROUNDING
            assert points.now.primal[points.paired].min() > 0
            assert points.now.dual[points.paired].min() > 0


def test_each_program_of_a_stack_goes_as_far_as_it_can():
    """At most a whole step, at most to a part of the way to the boundary."""
    points, rng = _Points(stack_of("nb", GENERIC[:4])), np.random.default_rng(0)
    values, first = (rng.uniform(low, 2.0, (4, 30)) for low in (0.5, -2.0))
    first[1] = np.abs(first[1])

    def boundary(change):
        return np.array([min([1e9, *(-v[c < 0] / c[c < 0])]) for v, c in zip(values, change, strict=True)])

    for part in (1.0, 0.9):
        found = points._length(1.0 / values, first, part)
        np.testing.assert_allclose(found[:, 0], np.minimum(1.0, part * boundary(first)), rtol=ROUNDING)


def test_groups_are_refused_as_by_solve_where_a_mechanism_knows_none():
    given = [PLANTED.replace(groups={"A": [0], "B": [1]})] * 2
    with pytest.raises(fa.NotApplicable, match="instance 0: mechanism 'nb' knows no groups"):
        fa.solve_many(given, "nb")
