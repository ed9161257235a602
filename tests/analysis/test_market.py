"""The market view of nb: holds for its allocations, and fails for prices and tasks that are off by little."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import EXACT, MARKET, RESIDUAL, ROUNDING

import fairalloc as fa
from fairalloc.analysis.certificates.construct import _multipliers, _shrunk
from fairalloc.analysis.market import PricedAllocation, market
from fairalloc.analysis.properties import check
from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.formulations.common.duality_gap import first_order_gain
from fairalloc.models import Allocation, Instance, NotApplicable
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.solvers import solve

FAMILIES = ["generic", "tied", "zero_demand", "placement", "finite", "badly_scaled", "variants"]
UNLIMITED = [family for family in FAMILIES if family != "finite"]
VISIBLE = 4 * TOLERANCE
"""A user's change that shows: its budget is a half, and the other half of the change is the other user's."""

POOL = example("wang-pool").instance
BOUGHT = Allocation(POOL, [45 / 11, 18 / 11])
LIMITED = Instance([[2], [2], [2]], [[20]], max_tasks=[1, None, None])
"""Users 2 and 3 share 18 of 20: 4.5 tasks for a budget of 1, so a unit costs 1/9 and user 1 keeps 7/9."""


def test_the_market_is_in_the_public_package():
    assert (fa.market, fa.PricedAllocation) == (market, PricedAllocation)
    assert fa.market(BOUGHT).residual <= ROUNDING


# ---- holds ----------------------------------------------------------------------------------------------------------


@pytest.mark.few(11)
@pytest.mark.parametrize("size", [(6, 3, 3), (12, 4, 3), (30, 8, 4)])
@pytest.mark.parametrize("family", FAMILIES)
def test_nb_is_bought_on_a_market(family, size):
    for seed in range(3):
        instance = getattr(generators, family)(*size, seed)
        allocation = solve(instance, "nb", accuracy="high")
        assert market(allocation).residual <= MARKET
        assert market(replace(allocation, prices=None)).residual <= MARKET, "the reference's prices do as well"


@settings(max_examples=drawn(40))
@given(st.sampled_from(UNLIMITED), st.integers(0, 10_000), st.floats(0, 0.5))
def test_the_market_is_never_further_off_than_nb(family, seed, noise):
    """Without limits no residual but that of a user's own budget is more than the prices prove for nb, near and far."""
    instance = getattr(generators, family)(6, 3, 3, seed)
    solved = solve(instance, "nb", "cvxpy:clarabel", accuracy="low")
    rng = np.random.default_rng(seed)
    prices = np.maximum(solved.prices, 0) * np.exp(noise * rng.normal(size=solved.prices.shape))
    x = np.maximum(solved.x, 0) * np.exp(noise * rng.normal(size=solved.x.shape))
    allocation = Allocation(instance, x / max(1.0, (instance.arcs.load @ x).max()), prices=prices)
    rho = first_order_gain(allocation, instance.weights / allocation.tasks, prices)
    residuals = market(allocation).residuals
    assert max(residuals[name] for name in ("feasibility", "clearing", "choice")) <= rho + EXACT


@pytest.mark.few(11)
@pytest.mark.parametrize("item", [e for e in EXAMPLES if "nb" in e.answers], ids=lambda e: e.name)
def test_published_answers_are_equilibria(item):
    allocation = solve(item.instance, "nb", "pdhg", accuracy="high")
    verdict = check(allocation, "market")
    assert verdict.holds
    assert verdict.sentence == "a market equilibrium"
    worth = (verdict.witness["prices"] * item.instance.pools).sum()
    if np.all(np.isinf(item.instance.max_tasks)):
        assert worth == pytest.approx(item.instance.weights.sum(), rel=EXACT)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_prices_by_hand(scale):
    """W section 2: 9 cpus at 1/5 and 18 GB at 1/90 cost 2, the two budgets; any scale of the prices handed over is the same."""
    given = [[9 / 5 * scale, 18 / 90 * scale]]
    found = market(replace(BOUGHT, prices=given))
    np.testing.assert_allclose(found.prices, [[1 / 5, 1 / 90]], rtol=ROUNDING)
    np.testing.assert_allclose(found.cost, [11 / 45, 11 / 18], rtol=ROUNDING)
    np.testing.assert_allclose(found.spending, found.due, rtol=ROUNDING)
    np.testing.assert_allclose(found.demand, BOUGHT.tasks, rtol=ROUNDING)
    assert found.residual <= ROUNDING


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_a_user_at_its_limit_keeps_what_it_has_no_use_for(scale):
    found = market(Allocation(LIMITED, [1, 4.5, 4.5], prices=[[scale]]))
    np.testing.assert_allclose(found.prices, [[1 / 9]], rtol=ROUNDING)
    np.testing.assert_allclose(found.spending, [2 / 9, 1, 1], rtol=ROUNDING)
    np.testing.assert_allclose(found.due, [2 / 9, 1, 1], rtol=ROUNDING)
    np.testing.assert_allclose(found.demand, [1, 4.5, 4.5], rtol=ROUNDING)
    assert found.residual <= ROUNDING


def test_where_everybody_is_at_its_limit_all_is_free():
    sated = LIMITED.replace(max_tasks=[1, 2, 3])
    found = market(solve(sated, "nb", accuracy="high"))
    assert found.residual <= MARKET
    np.testing.assert_allclose(found.spending, 0, atol=MARKET)


def test_resources_that_are_not_there_have_no_price():
    khamse = example("khamse-fig1").instance  # no network on server 2
    found = market(solve(khamse, "nb", accuracy="high"))
    assert found.prices[1, 2] == 0
    assert np.all(np.isfinite(found.prices))
    assert found.residual <= MARKET


# ---- does not hold --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_perturbed_prices_show(family):
    """Any price that matters, raised by little, is seen at once: somebody cannot pay, or could do better elsewhere."""
    instance = getattr(generators, family)(6, 3, 3, 1)
    found = market(solve(instance, "nb", "pyomo:ipopt", accuracy="high"))
    parts = found.worth / instance.weights.sum()
    for row in np.argwhere(parts > 1e-3):
        prices = np.array(found.prices)
        prices[tuple(row)] *= 1 + 1e-2
        assert replace(found, prices=prices).residual >= 1e-2 * parts[tuple(row)] / 2


@pytest.mark.parametrize("n", [0, 1])
def test_missing_tasks_show(n):
    """A user with a little less than it could buy, at the best prices there are."""
    x = np.array(BOUGHT.x)
    x[n] *= 1 - VISIBLE
    verdict = check(Allocation(POOL, x), "market")
    assert verdict.holds is False
    assert TOLERANCE < verdict.margin <= VISIBLE * 2


def test_rounding_does_not_show():
    assert check(Allocation(POOL, BOUGHT.x * (1 - TOLERANCE / 2)), "market")


def at_the_right_prices(x):
    return PricedAllocation(Allocation(POOL, x), np.array([[1 / 5, 1 / 90]]))


def test_what_is_sold_twice_does_not_make_up_for_what_is_unsold():
    apart = Allocation(Instance([[1, 0], [0, 1]], [[1, 1]]), [1.1, 0.9])
    assert PricedAllocation(apart, np.ones((1, 2))).residuals["clearing"] == pytest.approx(0.1)


def test_each_line_is_measured():
    """At the right prices: tasks left out are unsold and missed, tasks too many are an overload and cannot be paid."""
    less = at_the_right_prices(BOUGHT.x * [1 - 1e-3, 1]).residuals
    assert less["clearing"] == pytest.approx(1e-3 / 2, rel=EXACT)
    assert less["choice"] == pytest.approx(1e-3, rel=EXACT)
    assert less["spending"] <= ROUNDING
    more = at_the_right_prices(BOUGHT.x * [1 + 1e-3, 1]).residuals
    assert more["spending"] == pytest.approx(1e-3, rel=EXACT)
    assert more["feasibility"] > 0
    assert more["choice"] <= ROUNDING


def test_the_witness_can_be_checked_again():
    """DRF gives user 1 fewer tasks than its half of the budgets buys at the witness's prices."""
    verdict = check(Allocation(POOL, [3, 2]), "market")
    where = verdict.witness
    n = POOL.users.index(where["user"])
    assert (where["user"], where["tasks"]) == ("u1", 3)
    assert where["demand"] == pytest.approx(1 / (POOL.demands[n] @ where["prices"][0])[0], rel=ROUNDING)
    assert verdict.margin == pytest.approx(1 - where["tasks"] / where["demand"], rel=EXACT)
    assert verdict.sentence == "no equilibrium: user 'u1' runs 3 tasks and could buy 3.27273"


def test_a_small_user_that_pays_too_much_shows():
    """User 2 has a billionth of the money and runs on server 2, where a task costs it twice as much as on server 1."""
    pool = Instance([[1], [1]], [[1], [1]], weights=[1, 1e-9], rates=[[1, 1], [1, 0.5]])
    verdict = check(Allocation(pool, [1, 1 - 4e-9, 0, 2e-9]), "market")
    assert verdict.holds is False
    assert verdict.sentence == "no equilibrium: user 'u2' pays 2e-09 where 1e-09 is due"
    assert verdict.margin == pytest.approx(1, abs=VISIBLE)


@pytest.mark.parametrize("tasks", [np.inf, 1e308, 5e-324])
def test_of_tasks_out_of_range_is_one_verdict(tasks):
    """NumPy warned of them, too."""
    assert check(Allocation(Instance([[1], [1]], [[1], [1]]), [tasks] * 4), "market").holds is False


def test_an_overload_is_no_equilibrium():
    verdict = check(Allocation(POOL, BOUGHT.x * 2), "market")
    assert verdict.holds is False
    assert verdict.sentence == "no equilibrium: the allocation is not feasible"


@settings(max_examples=drawn(40))
@given(st.sampled_from(FAMILIES), st.integers(0, 10_000))
def test_what_is_unsold_or_overspent_others_leave_unspent(family, seed):
    """At the scale (*), for any feasible tasks and any prices, whether users have limits or not."""
    instance = getattr(generators, family)(5, 3, 2, seed)
    rng = np.random.default_rng(seed)
    x = instance.arcs.gamma * rng.random(len(instance.arcs))
    tasks = instance.arcs.owner @ x
    x = x / max((instance.arcs.load @ x).max(), (tasks / instance.max_tasks).max())
    found = market(Allocation(instance, x, prices=rng.exponential(size=(instance.K, instance.R)) ** 3))
    rest = found.residuals
    overspent = np.maximum(found.overspent, 0) @ instance.weights / instance.weights.sum()
    assert rest["clearing"] + overspent <= rest["choice"] + EXACT


def test_no_market_for_those_who_buy_nothing():
    with pytest.raises(NotApplicable) as error:
        market(Allocation(POOL, [9, 0]))
    assert str(error.value) == "there is no market in which user 'u2' buys 0 tasks"
    assert check(Allocation(POOL, [9, 0]), "market").holds is False


@pytest.mark.parametrize(
    ("instance", "says"),
    [
        (fa.with_own_time(fa.Instance([[1], [1]], [[1], [1]], rates=[[4, 1], ["5/2", 1]])), "in the time of user 'u1'"),
        (POOL.replace(min_tasks=[4, 0]), "with floors, but user 'u1' has 4"),
    ],
)
def test_a_market_that_is_not_defined_is_not_refuted(instance, says):
    for allocation in (fa.solve(instance, "nb"), Allocation(instance, np.zeros(instance.A))):
        verdict = fa.check(allocation, "market")
        assert verdict.holds is None
        assert f"no market {says}" in verdict.sentence


def test_other_mechanisms_promise_no_market():
    verdict = check(solve(POOL, "drfh"), "market")
    assert verdict.holds is None
    assert verdict.sentence == "not decided: 'drfh' is not checked, 'nb' and answers of no mechanism are"


def test_the_default_accuracy_passes_the_check():
    for family in FAMILIES:
        instance = getattr(generators, family)(6, 3, 3, 2)
        assert check(solve(instance, "nb"), "market", tolerance=2 * RESIDUAL)


def test_multipliers_of_limits_by_hand():
    """Users 1 and 2 spend 4 on 9 of the 10 units, so all cost 40 / 9; user 3 would pay 4 for its only task, and pays 4 / 9."""
    pool = Instance([[1], [2], [1]], [[10]], weights=[1, 3, 4], max_tasks=[None, None, 1])
    for scale in (1.0, 7.0):
        p, z = _multipliers(Allocation(pool, [9 / 4, 27 / 8, 1]), np.array([[scale]]))
        assert list(map(float, p)) == pytest.approx([40 / 9], rel=1e-12)
        assert list(map(float, z)) == pytest.approx([0, 0, 4 - 4 / 9], rel=1e-12, abs=0)
    everybody = pool.replace(max_tasks=[1, 1, 1])
    p, z = _multipliers(Allocation(everybody, [1, 1, 1]), np.array([[5.0]]))
    assert (p, z) == ((0,), (1, 3, 4)), "nobody is below a limit, so limits alone have prices"


@pytest.mark.parametrize(
    ("x", "limits", "right"),
    [
        ([2, 3], [None, None], [2, 3]),
        ([10, 30], [None, None], [2.5, 7.5]),
        ([8, 1], [4, None], [4, 0.5]),
        ([-1, 3], [4, 5], [0, 3]),
    ],
)
def test_tasks_are_scaled_down_until_they_fit_exactly(x, limits, right):
    arcs = exact_arcs(Instance([[1], [1]], [[10]], max_tasks=limits))
    found = _shrunk(arcs, np.array(x, dtype=float))
    assert list(map(float, found)) == pytest.approx(right, rel=1e-15)
    assert max(arcs.loads(found)) <= 1
    assert all(limit is None or u <= limit for u, limit in zip(found, arcs.limits, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_a_market_with_rates_far_apart_is_one_without_its_prices(seed):
    """HiGHS left out most entries of the linear program: prices of 0 refuted the equilibrium."""
    rng = np.random.default_rng(seed)
    far = 10.0 ** rng.uniform(-12, 12, (3, 4))
    instance = Instance(np.ones((3, 1)), far[:, 3:], rates=far[:, :3])
    bought = Allocation(instance, solve(instance, "nb").x)
    assert market(bought).residual <= MARKET
    assert not check(Allocation(instance, bought.x * np.repeat([1 - VISIBLE, 1, 1], 3)), "market").holds


@pytest.mark.parametrize("seed", range(4))
def test_a_sum_that_no_prices_prove_is_not_refuted(seed):
    """HiGHS left out most entries here, too: the right answer without its prices was 'not an allocation of utilitarian'."""
    rng = np.random.default_rng(seed)
    far = 10.0 ** rng.uniform(-12, 12, (3, 4))
    instance = Instance(np.ones((3, 1)), far[:, 3:], rates=far[:, :3])
    assert check(Allocation(instance, solve(instance, "utilitarian").x), "utilitarian").holds is not False
    assert check(Allocation(instance, np.zeros(instance.A)), "nb").holds is False


def test_the_limit_is_for_the_linear_program():
    """In no time its prices prove nothing, so those of the allocation are taken, whatever they prove."""
    allocation = solve(generators.generic(60, 20, 3), "drfh")
    free, late = market(allocation), market(allocation, time_limit=1e-9)
    assert late.residual > 1.1 * free.residual
    assert late.residual == market(allocation, time_limit=1e-9).residual < np.inf
