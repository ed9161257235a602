"""Rows that one user alone uses, as its own time: the factor against rationals, programs against Clarabel and HiGHS."""

import numpy as np
import pytest
from remaining_rows import remaining
from tolerances import PROVED, RESIDUAL, SHARES

import fairalloc as fa
from fairalloc.models.examples import generators
from fairalloc.solvers.kkt import loads
from fairalloc.solvers.kkt.loads import OwnRowLoads, loads_of, own_rows
from fairalloc.solvers.kkt.schur import Elimination, plan_for

METHOD = "interior-point"


def jobs(seed: int, users: int = 70) -> fa.Instance:
    """Users with different speeds on few servers of 1 to 3 resources, one without a limit of time, one bound to one server."""
    rng = np.random.default_rng(seed)
    servers, width = int(rng.integers(3, 6)), int(rng.integers(1, 4))
    rates = rng.uniform(0.2, 3.0, (users, servers)) * (rng.random((users, servers)) < 0.8)
    rates[:, 0] = rng.uniform(0.2, 3.0, users)
    rates[1, 1:] = 0.0
    home = fa.Instance(
        rng.uniform(0.2, 1.0, (users, width)),
        rng.uniform(0.05, 0.4, (servers, width)) * users,
        weights=rng.uniform(0.5, 2.0, users),
        max_tasks=np.where(rng.random(users) < 0.3, rng.uniform(0.1, 2.0, users), np.inf),
        rates=rates,
    )
    return fa.with_own_time(home, [None, *rng.uniform(0.3, 2.0, users - 1)])


@pytest.mark.parametrize(("large", "bordered"), [(1.0, False), (1e8, False), (1e25, False), (1.0, True), (1e8, True)])
@pytest.mark.parametrize("equal", [False, True])
def test_the_factor_is_that_of_all_rows(large: float, bordered: bool, equal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the arcs have a large theta, or one of each user; equal times leave own rows hardly a pivot but the border's."""
    monkeypatch.setattr(loads, "MANY", 8)
    rng = np.random.default_rng(3)
    rates = np.ones((5, 3)) if equal else rng.integers(1, 5, (5, 3)) / 4
    instance = fa.with_own_time(fa.Instance(rng.uniform(0.5, 2.0, (5, 2)), np.ones((3, 2)), rates=rates))
    own = loads_of(instance, np.ones(5))
    assert isinstance(own, OwnRowLoads)
    size = instance.R
    chosen = rng.random(len(own)) < 0.5 if large < 1e9 else np.isin(np.arange(len(own)), own.first)
    theta = rng.uniform(0.5, 2.0, len(own)) * np.where(chosen, large, 1.0)
    ends, s = rng.uniform(0.5, 2.0, 5), rng.uniform(0.5, 2.0, size)
    head = Elimination(own, theta, ends, s)
    b, rho = np.ones(5), (1.0 / np.sum(1.0 / head.shaft) if bordered else 0.0)
    along = own.rows(theta * own.of_users(b / head.shaft))
    expected = remaining(theta, ends, s, own) + 0.5 * rho * np.outer(along, along)
    head.factorise("rows", 100, 0.0, (1e-16, 1e-14), (rho, b, along))
    right, scaled = rng.normal(size=size), 1.0 / np.sqrt(np.diag(expected))
    solution = np.linalg.solve(scaled[:, None] * expected * scaled, scaled * right) * scaled
    np.testing.assert_allclose(head.factor.solve(right), solution, rtol=SHARES, atol=0 if large == 1.0 else SHARES)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "other"), [("nb", "cvxpy:clarabel"), ("mmf", "highs"), ("lmmf", "highs:leximin")])
def test_jobs_have_what_others_give(name: str, other: str, seed: int) -> None:
    instance = jobs(seed)
    found, expected = fa.solve(instance, name, method=METHOD), fa.solve(instance, name, method=other)
    assert own_rows(instance) is not None
    assert found.residual <= RESIDUAL
    if name == "mmf":
        assert found.values["g"] == pytest.approx(expected.values["g"], rel=RESIDUAL)
    else:
        np.testing.assert_allclose(found.tasks, expected.tasks, rtol=10 * SHARES)


def test_every_server_of_many_is_no_pair_of_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of a user's arcs were listed: 200 users of 300 servers were refused, and 100 took thirty times as long."""
    monkeypatch.setattr(loads, "PAIRS", 0)
    market = generators.market(40, 50)
    assert fa.solve(fa.with_own_time(market), "nb", method=METHOD).residual <= RESIDUAL
    free = fa.with_own_time(market, np.full(40, 1e6))
    np.testing.assert_allclose(fa.solve(free, "nb").tasks, fa.solve(market, "nb").tasks, rtol=SHARES)


def test_rows_are_found_by_who_uses_them() -> None:
    """Not by their names or order; few own rows, or shared ones in one large block, are another layout's."""
    instance = jobs(0)
    found = own_rows(instance)
    assert found is not None
    names = [f"time of {user}" for user in instance.users]
    assert [instance.resources[r] for r in found.own[1:]] == names[1:]
    assert found.own[0] == -1
    assert sorted([*found.shared, *found.own[1:]]) == list(range(instance.R))
    assert len(set(found.place.tolist())) == len(found.shared) <= found.servers * found.width
    assert own_rows(generators.network(60, 80)) is None
    assert own_rows(generators.market(70, 5)) is None
    assert own_rows(fa.with_own_time(generators.market(80, 70), [1, *79 * [None]])) is None


def test_many_servers_with_few_users_each_are_factorised_sparse() -> None:
    """2,500 users of 6,600 servers were refused, as a dense matrix of the shared rows is too large."""
    sparse = fa.with_own_time(generators.market(300, 600, density=0.005))
    assert own_rows(sparse) is None
    assert plan_for(sparse, 100) == "sparse rows"
    assert fa.solve(sparse, "nb", method=METHOD).residual <= RESIDUAL


def test_equal_times_are_told_by_the_border() -> None:
    """Where own rows without another pivot were eliminated before the border, 20 and 324 iterations lost half of the digits."""
    instance = fa.with_own_time(generators.generic(60, 4, 2, 1))
    for name, most in (("mmf", 10), ("lmmf", 200)):
        found = fa.solve(instance, name, method=METHOD)
        assert (found.residual <= PROVED, found.iterations <= most) == (True, True)
