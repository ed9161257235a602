"""Aggregation: merging identical servers and splitting classes are inverse, and keep tasks, totals and feasibility."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from profiles import drawn
from strategies import allocations, instances

from fairalloc.models import Allocation, Instance, InstanceError, NotApplicable
from fairalloc.models.examples.published import example
from fairalloc.models.feasibility import infeasibility, overloads
from fairalloc.models.files.jsonio import fingerprint
from fairalloc.models.transformations.aggregation import aggregate, aggregate_allocation, expand, pooled
from fairalloc.solvers import solve

ROUNDING = 1e-14
"""Sums of at most a dozen terms in another order, relative."""

D = [[1, 1], [2, 1]]
TWINS = Instance(D, [[4, 4], [6, 6], [4, 4], [4, 4]], counts=[1, 2, 3, 1], name="twins")


def kinds(instance):
    """Every server as what makes it different, with how many there are."""
    result = {}
    for i, capacity in enumerate(instance.exact.capacities):
        own = tuple((n, v) for (n, j), v in sorted(instance.exact.demands_on.items()) if j == i)
        kind = (capacity, tuple(instance.placement[:, i].tolist()), own)
        result[kind] = result.get(kind, 0) + int(instance.counts[i])
    return result


def data(instance):
    """Everything but the names of servers."""
    return fingerprint(instance.replace(servers=[f"s{i}" for i in range(instance.K)]))


def test_an_example_by_hand():
    merged = aggregate(TWINS)
    assert merged.servers == ("s1", "s2")
    assert merged.counts.tolist() == [5, 2]
    assert merged.capacities.tolist() == [[4, 4], [6, 6]]
    single = expand(TWINS)
    assert single.servers == ("s1", "s2", "s2#2", "s3", "s3#2", "s3#3", "s4")
    assert single.counts.tolist() == [1] * 7


def test_new_names_avoid_old_ones():
    single = expand(Instance(D, [[4, 4], [6, 6]], counts=[3, 1], servers=["a", "a#2"]))
    assert single.servers == ("a", "a#3", "a#4", "a#2")


def test_servers_differ_by_placement_and_by_their_own_demands():
    apart = TWINS.replace(eligible=[[1, 1, 0, 1], [1, 1, 1, 1]], demands_on={(0, 3): [1, 2]})
    assert aggregate(apart).counts.tolist() == [1, 2, 3, 1]
    together = TWINS.replace(eligible=[[0, 1, 0, 0], [1, 1, 1, 1]], demands_on={(1, i): [1, "2"] for i in (0, 2, 3)})
    merged = aggregate(together)
    assert merged.counts.tolist() == [5, 2]
    assert merged.placement.tolist() == [[False, True], [True, True]]
    assert {key: v.tolist() for key, v in merged.demands_on.items()} == {(1, 0): [[1, 2]]}


@given(instances())
def test_merging_and_splitting_are_inverse(instance):
    merged, single = aggregate(instance), expand(instance)
    assert kinds(merged) == kinds(single) == kinds(instance)
    assert len(kinds(merged)) == merged.K
    assert single.counts.tolist() == [1] * int(instance.counts.sum())
    assert data(aggregate(single)) == data(merged) == data(aggregate(merged))
    for other in (merged, single):
        np.testing.assert_allclose(other.totals, instance.totals, rtol=ROUNDING)
        assert other.users == instance.users
        assert other.exact.demands == instance.exact.demands
        assert other.exact.weights == instance.exact.weights
        assert other.exact.max_tasks == instance.exact.max_tasks


@given(instances().flatmap(allocations))
def test_maps_keep_tasks_and_feasibility(allocation):
    """Merging never raises the worst load."""
    mapped = aggregate_allocation(allocation)
    assert fingerprint(mapped.instance) == fingerprint(aggregate(allocation.instance))
    for one, other in zip(mapped.by_variant, allocation.by_variant, strict=True):
        np.testing.assert_allclose(one, other, rtol=ROUNDING)
    assert overloads(mapped)["capacity"] <= overloads(allocation)["capacity"] + ROUNDING * (1 + allocation.load.max())
    np.testing.assert_allclose((mapped.load * mapped.instance.pools).sum(axis=0), allocation.used.sum(axis=(0, 1)), rtol=ROUNDING)


@settings(max_examples=drawn(60))
@given(instances().flatmap(allocations))
def test_feasible_stays_feasible(allocation):
    worst = max(1.0, allocation.load.max(), float((allocation.tasks / allocation.instance.max_tasks).max()))
    fitting = Allocation(allocation.instance, allocation.x / worst)
    assert infeasibility(aggregate_allocation(fitting)) <= ROUNDING


@pytest.mark.parametrize("name", ["wang-fig2", "khamse-fig1"])
def test_a_solved_class_is_a_solved_row_of_servers(name):
    instance = example(name).instance.replace(counts=[2, 3])
    merged, split = solve(instance, "drfh", "highs"), solve(expand(instance), "drfh", "highs")
    np.testing.assert_allclose(split.tasks, merged.tasks, rtol=1e-9)  # what HiGHS promises at "mid"


# ---- one pool -------------------------------------------------------------------------------------------------------


@settings(max_examples=drawn(60))
@given(instances(placement=False, overrides=False, rates=False))
def test_the_pool_has_the_exact_totals(instance):
    pool = pooled(instance)
    exact = instance.exact
    totals = [sum(int(q) * c[r] for q, c in zip(instance.counts, exact.capacities, strict=True)) for r in range(instance.R)]
    assert pool.servers == ("pool",)
    assert pool.exact.capacities == (tuple(totals),)
    assert (pool.exact.demands, pool.exact.weights, pool.exact.max_tasks) == (exact.demands, exact.weights, exact.max_tasks)
    assert pool.placement.all()
    np.testing.assert_allclose(pool.totals, instance.totals, rtol=ROUNDING)


def test_pools_need_free_placement_and_equal_demands():
    with pytest.raises(NotApplicable, match="under placement constraints: user 'u2' may not use server 's3'"):
        pooled(TWINS.replace(eligible=[[1, 1, 1, 1], [1, 1, 0, 1]]))
    with pytest.raises(NotApplicable, match=r"where demands depend on the server \(demands_on, rates\)"):
        pooled(TWINS.replace(demands_on={(0, 0): [1, 1]}))


def test_what_is_nothing_beside_the_largest_is_shown_as_0():
    item = Allocation(Instance([[1], [1]], [[4]]), [3, 1.60044e-12])
    assert "u2 0>" in repr(item)
    assert item.grid().rows[1] == ["u2", "0"]
    assert item.tasks[1] == 1.60044e-12


def test_one_server_is_its_own_pool():
    one = Instance(D, [[4, 6]], weights=[1, 2])
    assert pooled(one).arcs is one.arcs
    assert pooled(one) == one.replace(servers=["pool"])
    twice = one.replace(counts=[2])
    assert pooled(twice) == one.replace(servers=["pool"], capacities=[[8, 12]])
    np.testing.assert_allclose(pooled(twice).arcs.gamma, 2 * one.arcs.gamma, rtol=ROUNDING)


def test_the_pool_is_what_the_constructor_makes():
    pool = pooled(TWINS)
    assert pool == TWINS.replace(capacities=[[32, 32]], counts=None, eligible=None, servers=["pool"])
    assert pool.exact == TWINS.replace(capacities=[[32, 32]], counts=None, servers=["pool"]).exact
    assert pooled(TWINS) is pool
    assert (pool.placement.shape, pool.eligible.shape, pool.totals.tolist()) == ((2, 1), (2, 1), [32, 32])


def test_rates_stay_rates():
    """They say how long a task takes of its user's time, which demands do not."""
    jobs = Instance([[1], [1]], [[1], [1], [2]], rates=[[4, 4, 1], ["5/2", "5/2", 1]], counts=[1, 1, 2])
    for merged in (aggregate(jobs), aggregate(expand(jobs))):
        assert merged.exact.rates == {(0, 0): 4, (0, 1): 1, (1, 0): Fraction(5, 2), (1, 1): 1}
        np.testing.assert_allclose(solve(merged, "gavel-max-min").tasks, solve(jobs, "gavel-max-min").tasks, rtol=1e-6)
    apart = Instance(
        [[4]], [[1], [1]], rates=[[4, 1]], demands_on={(0, 1): [1]}
    )  # the same demands at 1/4 of the time and at all
    assert aggregate(apart).K == 2


def test_more_servers_than_numbers_hold_or_rows_are_one_sentence():
    many = Instance([[1]], [[1], [1]], counts=[2**53, 1])
    with pytest.raises(InstanceError, match="count of server 's1' is 9007199254740993, but it must be an integer from 1 to"):
        aggregate(many)
    with pytest.raises(InstanceError, match="the number of servers is 9007199254740993, but at most 10,000,000 can"):
        expand(many)
