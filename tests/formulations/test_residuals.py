"""The residuals: 0 at the answer, not 0 beside it, never fooled by prices, equal to a brute-force computation."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from scipy.optimize import linprog
from tolerances import RESIDUAL, ROUNDING

from fairalloc.formulations import mechanism
from fairalloc.formulations.common import user_error
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


@settings(max_examples=drawn(40), deadline=None)
@given(FAMILIES, SEEDS)
def test_small_residual_means_fair_by_definition(family, seed):
    """The proof by prices holds what it promises: the definition, checked user by user with an LP, agrees."""
    instance = getattr(generators, family)(5, 3, 2, seed)
    allocation = solve(instance, "drfh", "highs")
    assert allocation.residual <= RESIDUAL
    assert brute_force_missing(instance, "drfh", allocation.x) <= 1e-6  # the LP's own tolerance, 1e-7 a row


@settings(max_examples=drawn(40), deadline=None)
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


@settings(max_examples=drawn(30), deadline=None)
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


@settings(max_examples=drawn(30), deadline=None)
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


@settings(max_examples=drawn(30), deadline=None)
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
    """Server 1 has 12 GB: 10 + 4 tasks of 1 GB are 1/6 too many; -1 task is a 20th of the 10 + .. user 1 could run there."""
    instance = Instance([[0, 1], [1, 1]], [[4, 12]], max_tasks=[10, None])
    worst = overloads(Allocation(instance, [14, 0]))
    assert worst["capacity"] == pytest.approx(14 / 12 - 1, rel=ROUNDING)
    assert worst["limit"] == pytest.approx(0.4, rel=ROUNDING)
    assert overloads(Allocation(instance, [-3, 0]))["sign"] == pytest.approx(3 / 12, rel=ROUNDING)
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
