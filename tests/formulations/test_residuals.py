"""The residuals: 0 at the answer, not 0 beside it, never fooled by prices, equal to a brute-force computation."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from scipy.optimize import linprog
from tolerances import RESIDUAL, ROUNDING

from fairalloc.analysis.properties import check
from fairalloc.formulations import mechanism
from fairalloc.formulations.common import user_error
from fairalloc.formulations.common.duality_gap import free_gain
from fairalloc.formulations.common.user_error import _moved, _risen
from fairalloc.formulations.lexicographic.weak_duality import excess, feasible
from fairalloc.models import Allocation, Instance
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import EXAMPLES, example
from fairalloc.models.feasibility import infeasibility, overloads
from fairalloc.solvers import judged, residual, solve

SEEDS = st.integers(0, 10_000)
FAMILIES = st.sampled_from(["generic", "tied", "zero_demand", "placement", "finite", "badly_scaled"])
PUBLISHED = [(e, name) for e in EXAMPLES for name in e.answers]


def attainable(instance, rate, v, n):
    """By one LP: the largest v'_n over feasible x' with v'_m >= min(v_m, v_n) for all m, the definition itself."""
    arcs = instance.arcs
    unit = arcs.gamma  # one task on an arc counted in what it could run alone
    share = sp.diags_array(rate) @ arcs.owner @ sp.diags_array(unit)
    capped = np.isfinite(instance.max_tasks)
    rows = sp.vstack([arcs.load @ sp.diags_array(unit), -share, (arcs.owner @ sp.diags_array(unit))[capped]])
    sides = np.concatenate([np.ones(instance.K * instance.R), -np.minimum(v, v[n]), instance.max_tasks[capped]])
    answer = linprog(-share.toarray()[n], A_ub=rows, b_ub=sides, method="highs-ds")
    assert answer.success
    return -answer.fun


def brute_force_missing(instance, name, x):
    """The residual by N LPs: max_n of the missing fraction."""
    rate = mechanism(name).rate(instance)
    v = rate * (instance.arcs.owner @ feasible(instance, x))
    best = np.array([attainable(instance, rate, v, n) for n in range(instance.N)])
    return float(np.max(1 - v / best))


@settings(max_examples=drawn(40))
@given(FAMILIES, SEEDS)
def test_small_residual_means_fair_by_definition(family, seed):
    """The proof by prices holds what it promises: the definition, checked user by user with an LP, agrees."""
    instance = getattr(generators, family)(5, 3, 2, seed)
    allocation = solve(instance, "drfh", "highs")
    assert allocation.residual <= RESIDUAL
    assert brute_force_missing(instance, "drfh", allocation.x) <= 1e-6  # the LP's own tolerance, 1e-7 a row


@settings(max_examples=drawn(40))
@given(FAMILIES, SEEDS, st.floats(1e-5, 0.9))
def test_residual_is_never_less_than_the_truth(family, seed, part):
    """Take something from one user: the residual is at least what the brute-force definition finds."""
    instance = getattr(generators, family)(5, 3, 2, seed)
    x = np.array(solve(instance, "drfh", "highs").x)
    x[instance.arcs.user == seed % instance.N] *= 1 - part
    allocation = Allocation(instance, x)
    truth = brute_force_missing(instance, "drfh", x)
    assert residual(mechanism("drfh"), allocation) >= min(truth, part) - 1e-7  # the user misses `part` of its fair share
    assert truth >= min(part, 0.5) / 2, "taking tasks away must be visible in the definition"


@settings(max_examples=drawn(30))
@given(FAMILIES, SEEDS, SEEDS)
def test_wrong_prices_prove_nothing(family, seed, noise):
    """Random prices never make an unfair allocation look fair, nor fool the bound for a single user."""
    instance = getattr(generators, family)(5, 3, 2, seed)
    item = mechanism("drfh")
    x = np.array(solve(instance, "drfh", "highs").x)
    x[instance.arcs.user == 0] *= 0.9
    prices = np.random.default_rng(noise).exponential(size=(3, instance.K, instance.R)) ** 4
    rate = item.rate(instance)
    v = rate * (instance.arcs.owner @ feasible(instance, x))
    e = excess(instance, rate, v, prices)
    for n in range(instance.N):
        assert v[n] + e[n] >= attainable(instance, rate, v, n) * (1 - 1e-7)
    assert residual(item, Allocation(instance, x, round_prices=prices)) >= 0.05


@pytest.mark.few(22)
@pytest.mark.parametrize(("item", "name"), PUBLISHED, ids=lambda v: getattr(v, "name", v))
def test_the_checker_can_fail(item, name):
    """The published answer passes; with a thousandth less for one user, or more than there is, it does not."""
    mech = mechanism(name)
    allocation = solve(item.instance, name)
    assert allocation.residual <= RESIDUAL
    domain = allocation.instance
    fewer = np.array(allocation.x)
    fewer[domain.arcs.user == 0] *= 0.999
    assert judged(mech, Allocation(domain, fewer)).residuals["definition"] >= 1e-4
    more = judged(mech, Allocation(domain, allocation.x * 1.001))
    assert max(more.residuals.values()) >= 1e-3 * (1 - 1e-3)  # in the capacities or, for ps-dsf-tdm, in time


@settings(max_examples=drawn(30))
@given(FAMILIES, SEEDS)
def test_bargaining_residual_is_the_first_order_gain(family, seed):
    """Against a brute-force LP over feasible allocations, at a point that is not optimal."""
    instance = getattr(generators, family)(5, 3, 2, seed)
    x = feasible(instance, instance.arcs.gamma / instance.N)
    allocation = Allocation(instance, x)
    arcs, unit = instance.arcs, instance.arcs.gamma
    capped = np.isfinite(instance.max_tasks)
    rows = sp.vstack([arcs.load @ sp.diags_array(unit), (arcs.owner @ sp.diags_array(unit))[capped]])
    sides = np.concatenate([np.ones(instance.K * instance.R), instance.max_tasks[capped]])
    w = instance.weights / instance.weights.sum()
    answer = linprog(-(w / allocation.tasks)[arcs.user] * unit, A_ub=rows, b_ub=sides, method="highs-ds")
    assert residual(mechanism("nb"), allocation) == pytest.approx(-answer.fun - 1, rel=1e-6, abs=1e-8)


@settings(max_examples=drawn(30))
@given(FAMILIES, SEEDS)
def test_bargaining_prices_prove_the_same_as_the_reference(family, seed):
    instance = getattr(generators, family)(5, 3, 2, seed)
    allocation = solve(instance, "nb", "pyomo:ipopt")
    own = residual(mechanism("nb"), allocation)
    alone = residual(mechanism("nb"), Allocation(instance, allocation.x))
    assert own <= RESIDUAL
    assert alone <= RESIDUAL


@pytest.mark.parametrize("name", ["nb", "fds", "alpha-fair", "utilitarian"])
def test_prices_of_0_prove_that_everybody_is_at_its_limit(name):
    """Without prices of its own; with one task less it is not proved."""
    instance = Instance([[1, 2], [2, 1]], [[9, 9]], max_tasks=[1, 2])
    assert residual(mechanism(name), Allocation(instance, np.array([1.0, 2.0]))) <= RESIDUAL
    assert residual(mechanism(name), Allocation(instance, np.array([1.0, 1.0]))) > 1e-3


def test_starved_users_have_infinite_or_full_residuals():
    wang = example("wang-fig2").instance
    nothing = Allocation(wang, [10, 0, 0, 0])
    assert residual(mechanism("nb"), nothing) == np.inf
    assert residual(mechanism("drfh"), nothing) == 1.0
    no_point = Allocation(wang, [np.nan] * 4)
    assert residual(mechanism("drfh"), no_point) == 1.0
    assert infeasibility(no_point) == np.inf
    assert no_point.residual == np.inf


def test_overloads_by_hand():
    """Server 1 has 12 GB: 10 + 4 tasks of 1 GB are 1/6 too many; -3 are 3/10 of what user 1 may run."""
    instance = Instance([[0, 1], [1, 1]], [[4, 12]], max_tasks=[10, None])
    worst = overloads(Allocation(instance, [14, 0]))
    assert worst["capacity"] == pytest.approx(14 / 12 - 1, rel=ROUNDING)
    assert worst["limit"] == pytest.approx(0.4, rel=ROUNDING)
    assert overloads(Allocation(instance, [-3, 0]))["sign"] == pytest.approx(3 / 10, rel=ROUNDING)
    assert check(Allocation(instance, [-3, 0]), "feasibility").margin == pytest.approx(3 / 10, rel=ROUNDING)
    assert infeasibility(Allocation(instance, [8, 4])) == 0.0


def test_what_proofs_of_single_users_let_pools_take_more():
    """Each lets one user run more: of three users on one pool the largest two at most, and never more than all together."""
    instance = Instance([[1], [2], [3]], [[6]])
    rise = np.array([1.0, 1.0, 1.0])
    assert [_risen(instance, rise, proofs)[0] for proofs in (1, 2, 9)] == pytest.approx([1 / 2, 1, 1])


def test_what_a_user_moves_from_a_full_pool_by_hand():
    """A task frees 1/2 of the first pool and loads 1/5 of the second; whoever has one pool moves nothing."""
    instance = Instance([[1], [1]], [[2], [5]], eligible=[[1, 1], [1, 0]])
    for x, full, most in ((1, 1), (1, 1), 2.5), ((1, 1), (1, 0), 1.0), ((0, 1), (1, 1), 2.5), ((0, 1), (1, 0), 0.0):
        assert _moved(instance, np.array([*x, 1.0]), np.array(full, bool)) == pytest.approx(most, rel=ROUNDING)


def test_far_loads_count_in_the_errors_of_levels(monkeypatch):
    instance = Instance([[1], [1]], [[2], [5]], eligible=[[1, 1], [1, 0]])
    x, rise = np.array([0.0, 5.0, 2.0]), np.full(2, 1e-6)
    errors = {}
    for moved in (500.0, 2000.0):
        monkeypatch.setattr(user_error, "_moved", lambda *_, moved=moved: moved)
        errors[moved] = user_error.errors_of_levels(instance, x, np.array([5.0, 2.0]), rise, 2)
    assert errors[2000.0] == pytest.approx(errors[500.0] * 2000.0 / user_error.SAFETY, rel=ROUNDING)


HALVES = Instance([[1], [1]], [[1]])
SMALL = 1e-3


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_errors_of_programs_by_hand(alpha):
    """Two equal users of one pool, alike in what they pay: c is alpha 1.01^-(alpha + 1), and S what is free or too much."""
    c, price = alpha * 1.01 ** -(alpha + 1), np.array([[5.0]])

    def errors(u, instance=HALVES, paid=(1, 1)):
        return user_error.errors_of_program(Allocation(instance, u, prices=price), np.array(paid, dtype=float), alpha)

    assert errors([0.5, 0.5]) == pytest.approx([0, 0], abs=1e-6)
    assert errors([0.5, 0.5]).min() > 0, "floating point does not tell more"
    d = SMALL * alpha  # a = (-2 d, 2 d), so A^2 = 2 d^2 / c
    assert errors([0.5 + d, 0.5 - d]) == pytest.approx([8**0.5 * d / c] * 2, rel=1e-6)
    assert errors([0.5 + d, 0.5 - d], paid=(7, 7)) == pytest.approx([8**0.5 * d / c] * 2, rel=1e-6)
    e = SMALL**2 * alpha
    assert errors([0.5 - e, 0.5 - e]) == pytest.approx([(4 * e / (1 - 2 * e) / c) ** 0.5] * 2, rel=1e-6)
    assert errors([0.5 + e, 0.5 + e]) == pytest.approx([(4 * e / c) ** 0.5] * 2, rel=1e-6)
    assert np.isinf(errors([0.52, 0.48])).all(), "more than a hundredth"
    assert np.isinf(user_error.errors_of_program(Allocation(HALVES, [0.5, 0.5]), np.ones(2), alpha)).all(), "no prices"
    capped = HALVES.replace(max_tasks=[None, 0.25])
    assert errors([0.75, 0.25], capped) == pytest.approx([0, 0], abs=1e-6)
    assert np.isinf(errors([0.7, 0.3])).all()


@pytest.mark.parametrize("seed", range(8))
def test_errors_of_programs_with_limits_are_those_of_the_text(seed):
    """A^2 and S term by term, at points near the answer, where some users are at their limits and some almost."""
    rng, alpha = np.random.default_rng(seed), 2.0
    weights = rng.uniform(1, 2, 5)
    right = weights / weights.sum()
    limits = np.where(rng.random(5) < 0.5, right * rng.choice([1 + 1e-4, 1 + 1e-5, 1.5], 5), np.inf)
    u = np.minimum(right * (1 + rng.uniform(-1e-4, 1e-4, 5)), limits * np.where(rng.random(5) < 0.5, 1, 1 - 1e-6))
    instance = Instance([[1]] * 5, [[u.sum() * (1 + seed * 1e-9)]], max_tasks=limits.tolist())
    allocation = Allocation(instance, u, prices=np.ones((1, 1)))
    free = [n for n in range(5) if limits[n] / u[n] - 1 > 1e-9]
    s = sum(weights[n] for n in free) / sum(u[n] for n in free)  # the price at which these users spend what they pay
    c, A2, S = alpha * 1.01 ** -(alpha + 1), 0.0, s * float(instance.capacities[0, 0] - u.sum())
    for n in range(5):
        a, room = weights[n] - s * u[n], limits[n] / u[n] - 1
        if a > 0 and room * weights[n] < a:
            S += a * room
        else:
            A2 += a**2 / (4 * c * weights[n])
    expected = (A2**0.5 + (A2 + S) ** 0.5) / np.sqrt(c * weights)
    assert user_error.errors_of_program(allocation, weights, alpha) == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_errors_of_levels_by_hand():
    """User 1 runs 5 tasks on the second pool, user 2 runs 2 on the first, and each may rise by a millionth: 3.5 of 1e-6 on it."""
    instance, x, v = Instance([[1], [1]], [[2], [5]], eligible=[[1, 1], [1, 0]]), np.array([0.0, 5.0, 2.0]), np.array([5.0, 2.0])
    part = 1e-6

    def errors(layers=2, instance=instance, x=x, v=v, rise=part):
        return user_error.errors_of_levels(instance, x, v, np.full(2, rise), layers)

    assert errors() == pytest.approx([10 * part, 35 * part], rel=1e-6)
    assert errors(1) == pytest.approx([10 * part, 25 * part], rel=1e-6), "one proof lets one of them rise"
    assert errors(1, instance.replace(max_tasks=[None, 9])) == pytest.approx([10 * part, 35 * part], rel=1e-6)
    assert errors(x=x - [0, 5e-7 * 5, 0]) == pytest.approx([5 * part, 35 * part], rel=1e-3), "half of that is free"
    assert errors(x=x - [0, 2e-6 * 5, 0]) == pytest.approx([part, 35 * part], rel=1e-3), "all of that is free"
    assert errors(rise=1.0) == pytest.approx([10, 10], rel=1e-6), "nobody gives way more than all it has"
    assert errors(v=np.array([3.0, 3.0])) == pytest.approx([part, part], rel=1e-6)
    assert errors(v=np.array([3.0, 3.0 * (1 - 5e-10)])) == pytest.approx([part + 5e-10] * 2, rel=1e-6)
    assert errors(v=np.zeros(2)) == pytest.approx([part, part], rel=1e-6)
    assert errors(v=np.array([3.0, 3.0 * (1 - 1e-6)])) == pytest.approx([10 * part, 35 * part], rel=1e-3)
    assert errors(x=np.array([0, 5, 0.0]), v=np.array([5.0, 0.0])) == pytest.approx([10 * part, 10], rel=1e-6)
    far = instance.replace(capacities=[[2], [2500]])  # a task of user 1 is 1250 times as much of the first pool as of the second
    assert errors(instance=far, x=x * [0, 500, 1]) == pytest.approx([1250 * part, 1250 * 1251 * part], rel=1e-6)
    assert errors(instance=far, x=x * [0, 500 * (1 - 1e-4), 1]) == pytest.approx([part, 10 * 1251 * part], rel=1e-3), (
        "it is not full"
    )


def test_errors_of_levels_with_two_resources_by_hand():
    """Of each pool a user gives way by what it needs most there; the loads are (1/2, 1/10), (1/5, 4/5) and (1/2, 1/4)."""
    instance = Instance([[1, 4], [1, 10]], [[2, 40], [5, 5]], eligible=[[1, 1], [1, 0]])
    for full, most in (((1, 0, 1, 1), 4.0), ((1, 0, 0, 1), 1.6), ((0, 0, 0, 1), 1.0), ((0, 1, 0, 0), 8.0)):
        assert _moved(instance, np.ones(3), np.array(full, bool)) == pytest.approx(most, rel=ROUNDING)
    part, x = 1e-6, np.array([0.0, 1.25, 2.0])
    found = user_error.errors_of_levels(instance, x, np.array([1.25, 2.0]), np.full(2, part), 2)
    # the first pool needs (0.5 * 1.25 + 0.5 * 2) part, the second as much of its second resource as 0.8 * 1.25 part
    assert found == pytest.approx([10 * part, 10 * 1.625 / 0.5 / 2 * part], rel=1e-6)


@pytest.mark.parametrize("family", ["placement", "finite"])
def test_many_layers_of_prices_prove_what_the_best_of_them_proves(family):
    """Of layers that price one or two loads, and one that prices all: each user's least excess over layers that stand alone."""
    instance = getattr(generators, family)(6, 4, 3, 1)
    rng, size = np.random.default_rng(0), instance.K * instance.R
    layers = np.zeros((size + 5, size))
    layers[np.arange(size), np.arange(size)] = rng.random(size)
    layers[size : size + 4] = rng.random((4, size)) * (rng.random((4, size)) < 2 / size)
    layers[-1] = rng.random(size)
    layers = layers.reshape(-1, instance.K, instance.R)
    x = feasible(instance, instance.arcs.gamma * rng.random(instance.A) / instance.N)
    rate = mechanism("lmmf").rate(instance)
    v = rate * (instance.arcs.owner @ x)
    alone = [excess(instance, rate, v, layer[None]) for layer in layers]
    np.testing.assert_allclose(excess(instance, rate, v, layers), np.min(alone, axis=0), rtol=ROUNDING)
    assert len({int(np.argmin(one)) for one in np.array(alone).T}) > 1, "several layers are the best of somebody"


@pytest.mark.parametrize("alpha", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("size", [1e-14, 1e-9, 1e9, 1e14])
def test_whose_tasks_are_small_counts_as_much(alpha, size):
    """Of one resource everybody has half, however many tasks that are."""
    allocation = Allocation(Instance([[1], [size]], [[1]]), np.array([0.5, 0.5 / size]), prices=np.array([[1.0]]))
    assert mechanism("alpha-fair", alpha=alpha, share="dominant-share").residual(allocation) < 1e-14


@pytest.mark.parametrize(
    ("tasks", "limits", "gain"),
    [
        ([2, 3], [None, None], 5 / 2),
        ([2, 3], [4, None], 2 / 2 + 3 / 3),
        ([2, 3], [2, 4], 1 / 3),
        ([4, 6], [None, None], 0),
        ([8, 12], [None, None], 0),
        ([9, 1], [3, None], (10 - 3 - 1 / 3) / (1 / 3)),
    ],
)
def test_what_is_free_by_hand(tasks, limits, gain):
    """Of 10 units the user with fewer tasks gets what is left, up to its limit; too much is scaled down first."""
    instance = Instance([[1], [1]], [[10]], max_tasks=limits)
    allocation = Allocation(instance, np.array(tasks, dtype=float))
    assert free_gain(allocation, np.ones(2), np.inf) == pytest.approx(gain, rel=1e-9, abs=1e-9)
    paid = np.array([3.0, 1.0]) * tasks
    bound = gain if infeasibility(allocation) else 1e-12 * paid.sum() / paid.min()
    assert free_gain(allocation, np.array([3.0, 1.0]), 1e-12) == pytest.approx(bound, rel=ROUNDING, abs=1e-15)
