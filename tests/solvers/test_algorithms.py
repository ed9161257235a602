"""The package's own algorithms: against other solvers, by hand, what they prove of themselves, and that they never claim more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import EXACT, RESIDUAL, ROUNDING, SHARES

from fairalloc.formulations import mechanism
from fairalloc.formulations.lexicographic import weak_duality
from fairalloc.models import Instance, NotApplicable
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.solvers import methods_for, solve
from fairalloc.solvers.nash_bargaining import pdhg
from fairalloc.solvers.nash_bargaining.pdhg import CHECK, SaddlePoint, SaddleProblem

FILLING = "progressive-filling"
SHARED = ["generic", "tied", "zero_demand", "finite"]
BADLY = ["badly_scaled"]
# Share, number of servers, families. Counts of tasks over 8 orders of magnitude are beyond HiGHS, so not lmmf badly scaled.
FILLED = [
    *(("drf", 4, family) for family in SHARED + BADLY),
    *((name, 1, family) for name in ("drfh", "tsf", "asset") for family in SHARED + BADLY),
    *(("lmmf", 1, family) for family in SHARED),
    *(("drf-per-server", 4, family) for family in ("generic", "tied", "zero_demand", "badly_scaled", "placement")),
]
CHAIN = Instance(
    [[1, 0], [1, 1], [0, 1], [0, 2]], [[4, 10]], max_tasks=[None, None, 2, None], resources=["cpu", "memory"], servers=["pool"]
)
"""Shares of a task: 1/4, 1/4, 1/10, 1/5. User 3 has run its tasks at 1/5, the cpu is full at 1/2, the memory at 3/5."""


# ---- progressive filling --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [1e-7, 1e-10])
def test_levels_that_nearly_tie_are_two_events(apart):
    answer = solve(Instance([[1, 0], [0, 1]], [[1, 1 + apart]]), "lmmf", FILLING)
    np.testing.assert_allclose(answer.tasks, [1, 1 + apart], rtol=ROUNDING)


@pytest.mark.few(40)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "servers", "family"), FILLED)
def test_filling_gives_what_highs_gives(name, servers, family, seed):
    instance = getattr(generators, family)(12, servers, 3, seed)
    filled, solved = solve(instance, name, FILLING), solve(instance, name, "highs", accuracy="high")
    assert filled.claims_success
    np.testing.assert_allclose(filled.tasks, solved.tasks, rtol=EXACT)


@pytest.mark.parametrize("family", SHARED + BADLY)
def test_filling_proves_its_answer_itself(family, monkeypatch):
    """The prices of its events leave nothing for a reference to prove."""
    monkeypatch.setattr("fairalloc.solvers.judge.reference_allocation", lambda *_: pytest.fail("the reference was asked"))
    for seed in range(10):
        allocation = solve(getattr(generators, family)(20, 3, 4, seed), "drf", FILLING)
        assert allocation.residual <= EXACT
        assert allocation.residuals["feasibility"] <= ROUNDING


@pytest.mark.parametrize("item", [e for e in EXAMPLES if "drf" in e.answers], ids=lambda e: e.name)
def test_filling_gives_the_published_answers_up_to_rounding(item):
    expected = [float(v) for v in item.answers["drf"]]
    np.testing.assert_allclose(solve(item.instance, "drf", FILLING).tasks, expected, rtol=ROUNDING)


def test_what_rises_beside_users_who_have_stopped_is_added_up_anew():
    """Rates are 1e17 apart: once u1 has stopped, the difference of the sums is 0, as if nobody took what is left."""
    instance = Instance([[1], [1], [1]], [[4]], weights=["1e17", 1, 1], max_tasks=[2, None, None])
    np.testing.assert_allclose(solve(instance, "lmmf", FILLING).tasks, [2, 1, 1], rtol=ROUNDING)


def test_the_trace_tells_the_events():
    allocation = solve(CHAIN, "drf", FILLING, trace=True)
    np.testing.assert_allclose(allocation.tasks, [2, 2, 2, 3], rtol=ROUNDING)
    levels = [event["level"] for event in allocation.trace]
    np.testing.assert_allclose(levels, [0.2, 0.5, 0.6], rtol=ROUNDING)
    assert [(e["filled"], e["stopped"], e["finished"]) for e in allocation.trace] == [
        ((), (), ("u3",)),
        ((("pool", "cpu"),), ("u1", "u2"), ()),
        ((("pool", "memory"),), ("u4",), ()),
    ]
    assert allocation.iterations == 3
    np.testing.assert_array_equal(allocation.round_prices, [[[1, 0]], [[0, 1]]])


def test_ties_are_one_event():
    """0.1 + 0.2 and 0.3 are the same number of cpus; so are the resources that fill up with them."""
    instance = Instance([["1/10", "3/10"], ["1/5", 0]], [["3/10", "3/10"]], resources=["cpu", "memory"], servers=["pool"])
    (event,) = solve(instance, "lmmf", FILLING, trace=True).trace
    assert event["filled"] == (("pool", "cpu"), ("pool", "memory"))
    assert event["stopped"] == ("u1", "u2")


def test_levels_are_those_of_the_users_units():
    scaled = CHAIN.replace(weights=[7, 7, 7, 7])
    events = solve(scaled, "drf", FILLING, trace=True).trace
    np.testing.assert_allclose([e["level"] for e in events], np.array([0.2, 0.5, 0.6]) / 7, rtol=ROUNDING)


def test_filling_on_servers_that_share_no_user():
    pinned = Instance([[1], [1], [1]], [[6], [5]], eligible=[[1, 0], [1, 0], [0, 1]])
    allocation = solve(pinned, "drfh", FILLING, trace=True)
    np.testing.assert_allclose(allocation.tasks, [3, 3, 5], rtol=ROUNDING)
    assert [event["filled"] for event in allocation.trace] == [(("s1", "r1"),), (("s2", "r1"),)]
    assert allocation.residual <= ROUNDING


def test_filling_where_everybody_runs_all_tasks():
    allocation = solve(CHAIN.replace(max_tasks=[1, 1, 1, 1]), "drf", FILLING)
    np.testing.assert_array_equal(allocation.tasks, np.ones(4))
    assert allocation.residual == 0


def test_where_filling_does_not_apply_it_says_so_and_is_passed_over():
    wang, drfh = example("wang-fig2").instance, mechanism("drfh")
    with pytest.raises(NotApplicable) as error:
        solve(wang.replace(eligible=[[1, 0], [1, 1]]), "drfh", FILLING)
    assert str(error.value) == f"{FILLING} needs one variant and one server for each user, but user 'u2' has 2 choices"
    assert FILLING in [m.id for m in methods_for(drfh)]
    assert FILLING not in [m.id for m in methods_for(drfh, wang)]
    assert solve(wang, "drfh").method != FILLING
    assert solve(wang, "drf").method == FILLING


def test_filling_without_time_claims_nothing():
    allocation = solve(CHAIN, "drf", FILLING, time_limit=1e-9)
    assert allocation.termination == "time_limit"
    assert not allocation.claims_success
    assert allocation.residual > RESIDUAL


def crowd(seed, users=60, resources=12):
    """A pool where users demand three resources each, with weights and with limits for some."""
    rng = np.random.default_rng(seed)
    demands = np.zeros((users, resources))
    for n in range(users):
        demands[n, rng.choice(resources, 3, replace=False)] = rng.lognormal(0, 1, 3).round(2) + 0.01
    limits = np.where(rng.random(users) < 0.6, rng.lognormal(-1, 1, users).round(3) + 0.001, np.inf)
    capacity = (demands.sum(axis=0) * rng.uniform(0.1, 0.9, resources)).round(3) + 0.01
    return Instance(demands, [capacity], weights=rng.lognormal(0, 1, users).round(2) + 0.01, max_tasks=limits)


@pytest.mark.parametrize("seed", range(3))
def test_filling_gives_what_rationals_give(seed):
    instance = crowd(seed)
    filled, exact = solve(instance, "drf", FILLING), solve(instance, "drf", "exact")
    np.testing.assert_allclose(filled.tasks, exact.tasks, rtol=EXACT)
    assert filled.residual <= EXACT


@pytest.mark.parametrize("seed", range(3))
def test_users_in_another_order_and_users_in_parts_fill_alike(seed):
    instance = crowd(seed, 2000, 50)
    tasks = solve(instance, "drf", FILLING).tasks
    demands = np.concatenate(instance.demands)
    order = np.random.default_rng(seed).permutation(instance.N)
    other = instance.replace(demands=demands[order], weights=instance.weights[order], max_tasks=instance.max_tasks[order])
    np.testing.assert_allclose(solve(other, "drf", FILLING).tasks, tasks[order], rtol=EXACT)
    part = np.random.default_rng(seed).uniform(0.1, 0.9, instance.N)
    weights, limits = (np.concatenate([given * part, given * (1 - part)]) for given in (instance.weights, instance.max_tasks))
    halves = instance.replace(demands=np.concatenate([demands, demands]), weights=weights, max_tasks=limits)
    found = solve(halves, "drf", FILLING).tasks
    np.testing.assert_allclose(found[: instance.N], tasks * part, rtol=EXACT)
    np.testing.assert_allclose(found[instance.N :], tasks * (1 - part), rtol=EXACT)


def test_sums_of_which_next_to_nothing_is_left_keep_their_digits():
    """Once the first user stops, nine digits of what the sum was are gone."""
    instance = Instance([[1, 1e9], [1, 0], [1, 0]], [[4, 1]], weights=[1, 1, 2])
    np.testing.assert_allclose(solve(instance, "lmmf", FILLING).tasks, solve(instance, "lmmf", "exact").tasks, rtol=ROUNDING)


@pytest.mark.parametrize("sparse", [0, 10**9])
@pytest.mark.parametrize(("family", "name"), [("generic", "drf"), ("placement", "drfh"), ("variants", "lmmf"), ("finite", "drf")])
def test_layers_with_few_prices_prove_the_same(family, name, sparse, monkeypatch):
    allocation = solve(getattr(generators, family)(12, 4, 3, 1), name)
    prices = allocation.round_prices if allocation.round_prices is not None else allocation.prices[None]
    kept = np.where(prices > np.median(prices), prices, 0.0)
    layers = np.concatenate([prices, kept, np.zeros_like(kept[:1])])
    rate = mechanism(name).rate(allocation.instance)
    expected = weak_duality.excess(allocation.instance, rate, rate * allocation.tasks, layers)
    monkeypatch.setattr(weak_duality, "SPARSE", sparse)
    found = weak_duality.excess(allocation.instance, rate, rate * allocation.tasks, layers)
    np.testing.assert_allclose(found, expected, rtol=EXACT, atol=ROUNDING)
    assert np.isfinite(found).any()


@pytest.mark.parametrize(("name", "method"), [("drf", FILLING), ("nb", "pdhg")])
def test_nothing_is_traced_unasked(name, method):
    assert solve(CHAIN, name, method).trace == ()


# ---- primal-dual hybrid gradient ------------------------------------------------------------------------------------


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("family", [*SHARED, *BADLY, "placement", "variants"])
def test_pdhg_gives_what_ipopt_gives(family, seed):
    instance = getattr(generators, family)(12, 4, 3, seed)
    found, other = solve(instance, "nb", "pdhg"), solve(instance, "nb", "pyomo:ipopt")
    assert found.claims_success
    assert found.residual <= RESIDUAL
    np.testing.assert_allclose(found.tasks, other.tasks, rtol=SHARES)


@pytest.mark.parametrize("family", ["generic", "finite", "variants"])
def test_pdhg_keeps_its_word_on_medium_instances(family):
    allocation = solve(getattr(generators, family)(30, 8, 4, 1), "nb", "pdhg", accuracy="high")
    assert allocation.claims_success
    assert allocation.residual <= RESIDUAL / 100


def test_the_trace_tells_how_the_bound_falls():
    allocation = solve(generators.generic(12, 4, 3), "nb", "pdhg", trace=True)
    iterations = [look["iteration"] for look in allocation.trace]
    assert iterations == list(range(0, allocation.iterations + 1, CHECK))
    bounds, seconds = ([look[key] for look in allocation.trace] for key in ("residual", "seconds"))
    assert bounds[0] > 1000 * RESIDUAL
    assert min(bounds) == bounds[-1] == pytest.approx(allocation.residual, abs=ROUNDING)
    assert seconds == sorted(seconds)


@pytest.mark.few(9)
@pytest.mark.parametrize("iterations", [0, 40, 400, 1600, 4000])
@pytest.mark.parametrize("family", ["generic", "finite", "variants"])
def test_pdhg_claims_nothing_that_it_does_not_prove(family, iterations):
    """Cut off anywhere, the point is feasible, its residual is no more than the bound, and the claim is the bound's."""
    options = {"max_iterations": iterations}
    allocation = solve(getattr(generators, family)(20, 5, 3, 1), "nb", "pdhg", trace=True, options=options)
    bound = min(look["residual"] for look in allocation.trace)
    assert allocation.claims_success == (bound <= RESIDUAL)
    assert allocation.residuals["feasibility"] <= ROUNDING
    assert allocation.residual <= bound + ROUNDING
    if not allocation.claims_success:
        assert allocation.termination == "iteration_limit"
        assert allocation.message == f"its iterations ended: its own residual is {bound:.1e}"


@pytest.mark.deep
def test_a_loose_target_is_still_within_the_promise(monkeypatch):
    """Stopping just within what accuracy "mid" promises, in canonical units, holds in the units of the user."""
    monkeypatch.setitem(pdhg.TARGET, "mid", RESIDUAL)
    for family in ("generic", "badly_scaled", "finite"):
        for seed in range(5):
            allocation = solve(getattr(generators, family)(12, 4, 3, seed), "nb", "pdhg")
            assert allocation.claims_success
            assert allocation.residual <= RESIDUAL * (1 + EXACT)


def test_pdhg_out_of_time_keeps_its_point():
    allocation = solve(generators.generic(60, 20, 4), "nb", "pdhg", time_limit=1e-3)
    assert allocation.termination == "time_limit"
    assert not allocation.claims_success


@settings(max_examples=drawn(40))
@given(st.sampled_from([*SHARED, *BADLY, "placement", "variants"]), st.integers(0, 1000), st.floats(-3, 3))
def test_a_step_brings_points_closer(family, seed, power):
    """T is firmly nonexpansive in its norm: |Tz - Tz'|^2 + |(z - Tz) - (z' - Tz')|^2 <= |z - z'|^2, whatever omega."""
    saddle = SaddleProblem(getattr(generators, family)(5, 3, 2, seed))
    rng, omega = np.random.default_rng(seed), 10.0**power
    start = saddle.start()
    one, other = (SaddlePoint(rng.normal(size=start.primal.shape), rng.normal(size=start.dual.shape)) for _ in range(2))
    new_one, new_other = saddle.step(one, omega), saddle.step(other, omega)

    def minus(a, b):
        return SaddlePoint(a.primal - b.primal, a.dual - b.dual)

    before = saddle.movement(one, other, omega) ** 2
    after = saddle.movement(new_one, new_other, omega) ** 2
    left = saddle.movement(minus(one, new_one), minus(other, new_other), omega) ** 2
    assert after + left <= before * (1 + EXACT)


def test_a_warm_start_of_pdhg_is_its_tasks_prices_and_marginal_utilities():
    """Prices in any unit, none below 0; equal ones where there are none, and an equal partition where a user has nothing."""
    instance = generators.finite(5, 3, 2, 1)
    saddle = SaddleProblem(instance)
    x, A, rows = solve(instance, "nb").x, instance.A, instance.K * instance.R
    weights = instance.weights / instance.weights.sum()
    prices = np.arange(-1.0, rows - 1.0).reshape(instance.K, instance.R)
    kinds = (prices, np.maximum(prices.ravel(), 0.0)), (None, np.ones(rows)), (-np.ones((3, 2)), np.ones(rows))
    for of_start, expected in kinds:
        point = saddle.near(x, of_start)
        u = point.primal[A:]
        np.testing.assert_allclose(point.primal[:A] * instance.arcs.gamma, x, rtol=ROUNDING)
        np.testing.assert_allclose(saddle.matrix[rows:] @ point.primal, 0.0, atol=ROUNDING)
        np.testing.assert_allclose(point.dual[:rows], expected / expected.sum(), rtol=ROUNDING)
        np.testing.assert_allclose(point.dual[rows:], weights / u, rtol=ROUNDING)
    nothing = saddle.near(np.where(instance.arcs.user == 1, 0.0, x), prices)
    np.testing.assert_array_equal(nothing.primal, saddle.start().primal)
    np.testing.assert_array_equal(nothing.dual, saddle.start().dual)
