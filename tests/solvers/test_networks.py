"""Arcs that use few of many resources: networks against HiGHS, Clarabel and rationals, the sum of squares, limits before rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from remaining_rows import remaining
from tolerances import EXACT, PROVED, RESIDUAL, ROUNDING, SHARES

from fairalloc.formulations import mechanism
from fairalloc.formulations.lexicographic.linear_program import Round, round_bounds
from fairalloc.models import Instance
from fairalloc.models.examples import generators
from fairalloc.solvers import find_method, methods_for, solve
from fairalloc.solvers.backends import highs_session
from fairalloc.solvers.catalogue.method_registry import LINKS
from fairalloc.solvers.interior_point.max_min import MaxMinArrow
from fairalloc.solvers.kkt import loads, schur
from fairalloc.solvers.kkt.loads import ArcLoads, SparseLoads, loads_of, uses_few
from fairalloc.solvers.kkt.schur import NEGLIGIBLE, Elimination, plan_for
from fairalloc.solvers.lexicographic import rounds
from fairalloc.solvers.method import Limits

METHOD = "interior-point"


def network(flows=5, links=10, paths=3, seed=0, width=24, servers=1, limits=None, load=1.0):
    """Flows with paths over some links of each server; all other resources, of `width`, are used by nobody.

    `limits` is the mean of exponential limits in parts of what a flow could have of all links.
    """
    rng = np.random.default_rng(seed)
    demands = np.zeros((flows, paths, width))
    for path in demands.reshape(-1, width):
        path[rng.choice(links, rng.integers(2, 5), replace=False)] = 1.0
    capacities = rng.uniform(1, 10, (servers, width))
    most = None if limits is None else rng.exponential(limits * capacities[:, :links].sum() / 3 / flows, flows)
    return Instance([list(user) for user in demands], load * capacities, max_tasks=most)


def posed(instance, name="lmmf"):
    """The arrow of the first round in canonical units, and the instance in these units."""
    item = mechanism(name)
    scaled, _ = item.canonical(item.domain(instance))
    return MaxMinArrow(item.rate(scaled), scaled), scaled


def dense_twin(sparse):
    """The same loads arc by arc."""
    own = sparse.transposed.toarray().reshape(len(sparse), sparse.K, sparse.R)[np.arange(len(sparse)), sparse.server]
    return ArcLoads(own, sparse.user, sparse.server, sparse.N, sparse.K)


@pytest.mark.parametrize("large", [1.0, 1e8, 1e25])
@pytest.mark.parametrize("kept", [loads.PRODUCTS, 0])
def test_what_is_left_for_the_prices_has_all_digits(large, kept, monkeypatch):
    """Two paths of a user with a link in common and both in use: their large thetas cancel there, and only E is left."""
    monkeypatch.setattr(loads, "PRODUCTS", kept)
    instance = network(4, 6, 3, seed=3, width=24)
    sparse = loads_of(instance, np.ones(4))
    assert (sparse.products is None) == (kept == 0)
    rng = np.random.default_rng(1)
    theta = rng.uniform(0.5, 2, len(sparse)) * np.where(rng.random(len(sparse)) < 0.7, large, 1.0)
    ends, s = rng.uniform(0.5, 2, 4), rng.uniform(0.5, 2, 24)
    expected = remaining(theta, ends, s, sparse)
    head = Elimination(sparse, theta, ends, s)
    right = rng.normal(size=24)
    guards, border = (1e-16, 1e-14), (0.0, np.zeros(4), np.zeros(24))
    head.factorise("rows", 100, NEGLIGIBLE, guards, border)
    weights = schur._squares(sparse, head)
    found = np.tril(sparse.remaining(*weights, np.float64))
    np.testing.assert_allclose(found + np.diag(s), np.tril(expected), rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(np.tril(sparse.sparse_remaining(*weights).toarray()), found, rtol=ROUNDING)
    for plan in ("rows", "sparse rows", "sparse equations"):
        head.factorise(plan, 100, NEGLIGIBLE, guards, border)
        scaled = 1.0 / np.sqrt(np.diag(expected))
        solution = np.linalg.solve(scaled[:, None] * expected * scaled, scaled * right) * scaled
        np.testing.assert_allclose(head.factor.solve(right), solution, rtol=SHARES, atol=0 if large == 1.0 else SHARES)


def test_it_is_what_blocks_and_a_coupling_are():
    """The layout of few resources gives the same products and the same solutions."""
    sparse = loads_of(network(5, 8, 3, width=24, servers=2), np.ones(5))
    plain, rng = dense_twin(sparse), np.random.default_rng(0)
    theta, ends, s = (rng.uniform(0.5, 2, size) for size in (len(sparse), 5, 48))
    right, x, p = rng.normal(size=48), rng.random(len(sparse)), rng.random(48)
    solutions = []
    for one in (sparse, plain):
        head = Elimination(one, theta, ends, s)
        head.factorise("rows", 100, NEGLIGIBLE)
        solutions.append(np.concatenate([head.factor.solve(right), one.rows(x), one.priced(p), one.totals(x), one.most(x)]))
    np.testing.assert_allclose(*solutions, rtol=EXACT)


@pytest.mark.parametrize("servers", [1, 3])
@pytest.mark.parametrize("limits", [None, 0.3, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_networks_have_what_others_give(servers, limits, seed):
    """Max-min shares as HiGHS, all of them by levels, and products of tasks as Clarabel."""
    instance = network(6, 10, 3, seed, width=70, servers=servers, limits=limits)
    assert isinstance(posed(instance)[0].compile(find_method(METHOD).options).loads, SparseLoads)
    for name, other in (("mmf", "highs"), ("lmmf", "highs"), ("nb", "cvxpy:clarabel")):
        found, expected = solve(instance, name, METHOD, accuracy="high"), solve(instance, name, other)
        assert found.claims_success
        assert found.residual <= 1e-2 * RESIDUAL
        if name == "mmf":
            assert found.values["g"] == pytest.approx(expected.values["g"], rel=EXACT)
        else:
            np.testing.assert_allclose(found.tasks, expected.tasks, rtol=EXACT if name == "lmmf" else 10 * SHARES)


SPECIAL = {
    "no capacity": network(5, 8, 3).replace(capacities=[[0.0, 2.0, *[5.0] * 22]]),
    "ties": Instance([[[1, 1, *[0] * 18], [0, 0, 1, 1, *[0] * 16]]] * 4, [[2] * 20]),
    "one user": Instance([[[1, 1, *[0] * 18], [0, 1, 1, *[0] * 17]]], [[2, 3, *[1] * 18]]),
    "twin paths": Instance([[[1, 1, *[0] * 18]] * 3, [[0, 1, 1, *[0] * 17]] * 2], [[2, 3, *[1] * 18]]),
    "huge": network(5, 8, 3, load=1e9),
    "tiny": network(5, 8, 3, load=1e-9),
    "all have their limits": network(5, 8, 3, limits=1e-3),
    "equal limits": network(5, 8, 3).replace(max_tasks=[0.5] * 5),
    "some limits": network(5, 8, 3).replace(max_tasks=[0.01, None, 0.02, None, 0.03]),
    "weights": network(5, 8, 3, limits=0.3).replace(weights=[1, 2, 30, 4, 500]),
}


@pytest.mark.parametrize("instance", SPECIAL.values(), ids=SPECIAL)
def test_special_networks_have_the_rational_answer(instance):
    assert uses_few(instance)
    found, exact = solve(instance, "lmmf", METHOD), solve(instance, "lmmf", "exact")
    assert found.claims_success
    assert found.residual <= 1e-2 * RESIDUAL
    np.testing.assert_allclose(found.tasks, exact.tasks, rtol=EXACT)
    bargained = solve(instance, "nb", METHOD)
    assert bargained.claims_success
    assert bargained.residual <= PROVED


@settings(max_examples=drawn(60))
@given(
    flows=st.integers(1, 7),
    links=st.integers(4, 10),
    paths=st.integers(1, 4),
    servers=st.integers(1, 2),
    limits=st.sampled_from([None, 0.1, 1.0, 10.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_network_is_proved_or_not_claimed(flows, links, paths, servers, limits, seed):
    """And its shares are those of HiGHS where both claim."""
    instance = network(flows, links, paths, seed, servers=servers, limits=limits)
    for name in ("lmmf", "nb"):
        found = solve(instance, name, METHOD)
        assert found.claims_success
        assert found.residual <= RESIDUAL
    other = solve(instance, "lmmf", "highs")
    np.testing.assert_allclose(solve(instance, "lmmf", METHOD).tasks, other.tasks, rtol=SHARES)


@pytest.mark.parametrize("method", [METHOD, "highs:leximin", "highs", "cvxpy:highs"])
def test_limits_below_the_level_take_no_round_each(method, monkeypatch):
    """Forty users, of whom thirty have limits that no row makes felt: as many programs as full rows, not as limits."""
    instance = network(40, 12, 2, seed=5, limits=0.5)
    asked, original = [], rounds._solved

    def counted(one, rate, solver, *more):
        def watched(now):
            asked.append(now)
            return solver(now)

        return original(one, rate, watched, *more)

    monkeypatch.setattr(rounds, "_solved", counted)
    found = solve(instance, "lmmf", method)
    expected = solve(instance, "lmmf", "exact")
    np.testing.assert_allclose(found.tasks, expected.tasks, rtol=SHARES)
    limited = np.count_nonzero(found.tasks >= (1 - SHARES) * instance.max_tasks)
    assert limited >= 15
    most = {METHOD: len(found.round_prices) + 2, "cvxpy:highs": 40}.get(method, 2 * len(found.round_prices) + 4)
    assert len(asked) <= most


def test_a_round_without_limits_is_another_program():
    instance = network(4, 8, 2, limits=0.5)
    first = Round.first(instance)
    free = replace(first, unlimited=True)
    assert not free.is_like(first)
    assert free.is_like(free)
    upper = round_bounds(instance, first)[1], round_bounds(instance, free)[1]
    assert np.isfinite(upper[0][-4:]).all()
    assert np.isinf(upper[1][-4:]).all()
    np.testing.assert_array_equal(upper[0][:-4], upper[1][:-4])


def test_where_many_resources_are_used_by_all_it_says_why_not():
    instance = Instance(np.ones((3, 80)), np.ones((2, 80)))
    assert not uses_few(instance)
    sentence = find_method(METHOD).applies(mechanism("nb"), instance)
    assert sentence == "interior-point forms blocks for at most 64 resources, but there are 80"


def test_the_plan_is_by_rows_and_what_they_have_in_common():
    apart = Instance(np.repeat(np.eye(300), 2, axis=0), np.ones((2, 300)))
    assert uses_few(apart)
    assert plan_for(apart, 6000) == "sparse rows", "two servers times 300 links, of which a user has one each"
    together = network(400, 300, 3, width=300, servers=2)
    assert [plan_for(together, most) for most in (6000, 300, 299)] == ["rows", "rows", ""]
    for instance in (apart, together):
        found = solve(instance, "nb", METHOD)
        assert found.claims_success
        assert found.residual <= PROVED


def test_pairs_are_listed_only_where_they_are_few(monkeypatch):
    instance = network(5, 10, 3)
    assert uses_few(instance)
    monkeypatch.setattr(loads, "PAIRS", 5 * 3 - 1)
    assert not uses_few(instance)
    assert isinstance(loads_of(instance, np.ones(5)), ArcLoads)


def test_large_networks_are_for_it_first():
    instance = network(600, 60, 4, width=60)
    assert [next(iter(methods_for(mechanism(name), instance))).id for name in ("mmf", "lmmf", "nb")] == [METHOD] * 3
    instance = network(600, 60, 4, width=LINKS + 1)
    assert [next(iter(methods_for(mechanism(name), instance))).id for name in ("mmf", "lmmf", "nb")] == [
        METHOD,
        "highs:leximin",
        METHOD,
    ]


def test_prices_of_many_rounds_on_a_network_are_of_the_basis_to_the_last_digits(monkeypatch):
    """21 rounds, of which late ones multiply what early ones have left: 6.6e-9 with the numbers that HiGHS gives."""
    instance = generators.network(1000, 200, seed=1)
    assert solve(instance, "lmmf").residuals["definition"] < 2e-9
    monkeypatch.setattr(highs_session, "REFINED", 1)
    monkeypatch.setattr(highs_session, "CLOSE", 0.0)
    assert solve(instance, "lmmf").residuals["definition"] > 4e-9


def test_levels_and_full_rows_do_not_drift_with_the_rounds():
    """36 rounds: flows that take little of a link feel a part of 1e-14 of it that is left, 9.8e-9 of their own."""
    allocation = solve(generators.network(2000, 300, seed=1), "lmmf", "highs:leximin")
    assert len(allocation.round_prices) > 30
    assert allocation.residuals["definition"] < 2e-9


def test_limits_are_felt_where_they_are_reached_only():
    """Step by step: who is raised at the level that tasks show to be possible."""
    arrow, scaled = posed(network(4, 8, 2).replace(max_tasks=[0.01, None, 0.02, None]))
    arrow.compile(find_method(METHOD).options)
    arrow.solve(replace(Round.first(scaled), unlimited=True), Limits())
    assert arrow.raised.tolist() == [0.0, 1.0, 0.0, 1.0]
    np.testing.assert_allclose(arrow.level[[0, 2]], arrow.limit[[0, 2]], rtol=ROUNDING)
    assert arrow.g > arrow.level.max()
