"""Limits on users' own time against models written out here, and what they are in special cases."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import fairalloc as fa
from fairalloc.analysis.holdings import Holdings
from fairalloc.models.exact.rationals import exact_arcs
from fairalloc.models.files.jsonio import fingerprint, instance_document, parse_instance
from fairalloc.models.input.validation import Derived
from fairalloc.models.transformations.own_time import own_time

JOBS = fa.Instance([[1], [1]], {"fast": [1], "slow": [1]}, rates=[[4, 1], ["5/2", 1]])


def drawn(seed: int) -> tuple[fa.Instance, np.ndarray]:
    """4 to 7 users, 2 or 3 servers, some pairs not eligible, and limits of which one may be infinite."""
    rng = np.random.default_rng(seed)
    N, K, R = int(rng.integers(4, 8)), int(rng.integers(2, 4)), int(rng.integers(1, 3))
    rates = rng.integers(1, 9, (N, K)) * (rng.random((N, K)) < 0.8)
    rates[np.arange(N), rng.integers(0, K, N)] = 1
    limits = rng.integers(1, 5, N).astype(float)
    limits[rng.integers(0, N)] = np.inf
    weights = rng.integers(1, 4, N)
    return fa.Instance(rng.integers(1, 5, (N, R)), rng.integers(2, 20, (K, R)), rates=rates, weights=weights), limits


def rows(instance: fa.Instance, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The capacities and the limits on times as rows and right-hand sides."""
    arcs, capped = instance.arcs, np.isfinite(limits)
    time = arcs.owner.toarray() / instance.rates.toarray()[arcs.user, arcs.server]
    return np.vstack([arcs.load.toarray(), time[capped]]), np.concatenate([np.ones(instance.K * instance.R), limits[capped]])


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_max_min_as_a_linear_program(seed: int) -> None:
    instance, limits = drawn(seed)
    A, b = rows(instance, limits)
    level = np.hstack([-instance.arcs.owner.toarray(), instance.weights[:, None]])
    answer = linprog(
        np.append(np.zeros(instance.A), -1.0),
        A_ub=np.vstack([np.hstack([A, np.zeros((len(A), 1))]), level]),
        b_ub=np.append(b, np.zeros(instance.N)),
    )
    found = fa.solve(fa.with_own_time(instance, limits), "mmf")
    assert (found.tasks / instance.weights).min() == pytest.approx(-answer.fun, rel=1e-6)
    assert (A @ found.x <= b * (1 + 1e-6)).all()


@pytest.mark.parametrize("seed", range(5))
def test_nash_bargaining_as_a_program_of_cvxpy(seed: int) -> None:
    import cvxpy as cp

    instance, limits = drawn(seed)
    A, b = rows(instance, limits)
    x = cp.Variable(instance.A, nonneg=True)
    goal = cp.Maximize(instance.weights @ cp.log(instance.arcs.owner.toarray() @ x))
    cp.Problem(goal, [A @ x <= b]).solve(solver="CLARABEL")
    found = fa.solve(fa.with_own_time(instance, limits), "nb")
    assert found.termination == "optimal"
    assert instance.weights @ np.log(found.tasks) == pytest.approx(goal.value, abs=1e-6)
    assert (A @ found.x <= b * (1 + 1e-6)).all()


def test_exact_numbers() -> None:
    limited = fa.with_own_time(JOBS, ["1/2", None])
    assert limited.resources == ("r1 of fast", "r1 of slow", "time of u1")
    assert limited.exact.demands[1] == ((Fraction(2, 5), 0, 0), (0, 1, 0))
    assert limited.exact.capacities == ((1, 1, Fraction(1, 2)),)
    assert limited.exact == pickle.loads(pickle.dumps(limited)).exact
    assert limited == pickle.loads(pickle.dumps(limited))
    heavier = limited.replace(weights=[1, "1/3"])
    assert pickle.loads(pickle.dumps(heavier)) == heavier != limited
    rescaled = limited.rescaled(np.array([1.0, 2.0]))
    assert pickle.loads(pickle.dumps(rescaled)).weights.tolist() == [1, 2]
    loads = np.zeros((3, 4))
    for a, load in enumerate(exact_arcs(limited).load):
        for row, part in load:
            loads[row, a] = part
    assert limited.arcs.load.toarray() == pytest.approx(loads, rel=1e-15)
    exact = fa.solve(fa.with_own_time(JOBS), "lmmf", method="exact").x_exact
    assert exact is not None
    assert exact_arcs(fa.with_own_time(JOBS)).tasks(exact) == (2, 2)


def test_copies_read_no_row_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are as many rows as arcs, and as many numbers in each as servers and users."""
    limited, others = fa.with_own_time(JOBS), fa.with_own_time(JOBS, ["1/3", 1])
    third = fa.with_own_time(JOBS, [Fraction(1, 3), 1])
    monkeypatch.setattr(Derived, "rows", None)
    copied = pickle.loads(pickle.dumps(limited.replace(name="jobs")))
    assert (copied.replace(name=""), third) == (limited, others)
    assert others != limited
    assert not copied.vectors.matrix.data.flags.writeable


@pytest.mark.parametrize("demands", [[[1], [1]], [["1/10"], [0.7]]])
def test_a_file_holds_an_equal_instance(demands: list[list[object]]) -> None:
    """Its floats are those of its rationals: a rate of 3 makes 1 / 3 of a task's time."""
    home = fa.Instance(demands, [[1], ["7/3"]], rates=[[3, 1], ["5/7", 49]], counts=[3, 1], demands_on={(1, 0): ["1/3"]})
    limited = fa.with_own_time(home, [1, "2/3"])
    back = parse_instance(instance_document(limited))
    assert back == limited
    assert (hash(back), fingerprint(back)) == (hash(limited), fingerprint(limited))


def test_limits_that_do_not_bind_and_those_of_tasks() -> None:
    instance, _ = drawn(3)
    free = fa.with_own_time(instance, [np.inf] * instance.N)
    assert fa.solve(free, "lmmf").tasks == pytest.approx(fa.solve(instance, "lmmf").tasks, rel=1e-6)
    plain = fa.Instance([[1, 2], [2, 1], [1, 1]], [[4, 4], [8, 2]])
    as_time, as_tasks = fa.with_own_time(plain, [1, 2, 1]), plain.replace(max_tasks=[1, 2, 1])
    assert fa.solve(as_time, "nb").tasks == pytest.approx(fa.solve(as_tasks, "nb").tasks, rel=1e-6)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [([1], "limits is"), ([0, 1], "limits of user .* must be positive"), (["x", 1], "'x'"), (3, "must be a list of 2")],
)
def test_bad_limits(limits: object, sentence: str) -> None:
    with pytest.raises(fa.InstanceError, match=sentence):
        fa.with_own_time(JOBS, limits)


@pytest.mark.parametrize("names", [("time", ["u1", "b"]), ("a of b", ["b", "c"])])
def test_own_time_has_its_name_whatever_others_are_called(names) -> None:
    resource, servers = names
    jobs = JOBS.replace(resources=[resource], servers=servers)
    limited = fa.with_own_time(jobs)
    assert own_time(limited).tolist() == [2, 3]
    assert fa.solve(jobs, "gavel-max-min").values == pytest.approx(fa.solve(JOBS, "gavel-max-min").values)
    if resource == "time":
        assert limited.resources == ("r1", "r2", "time of u1", "time of u2")


def test_a_resource_is_nobodys_time_where_its_user_has_no_limit() -> None:
    """The time of the server "u2" was read as the own time of the user u2, who has no limit."""
    jobs = JOBS.replace(resources=["time"], servers=["a", "u2"])
    limited = fa.with_own_time(jobs, [1, None])
    assert own_time(limited).tolist() == [2, -1]
    plain = fa.with_own_time(JOBS, [1, None])
    for name in ("envy-freeness", "sharing-incentive"):
        found, right = (fa.check(fa.Allocation(one, [0.5, 0.5, 0.1, 0.1]), name).margin for one in (limited, plain))
        assert found == pytest.approx(right)


def test_floors_and_groups_are_kept() -> None:
    instance = JOBS.replace(min_tasks=[0, "9/4"], groups={"a": [0], "b": {"users": [1], "guarantee": "1/8"}})
    limited = fa.with_own_time(instance)
    assert (limited.exact.min_tasks, limited.groups) == (instance.exact.min_tasks, instance.groups)
    kept = fa.solve(fa.with_own_time(JOBS.replace(min_tasks=[0, "9/4"])), "mmf")
    assert kept.tasks == pytest.approx([1.5, 2.25], rel=1e-6), "u2 is 5/6 of its time on the fast server, u1 of its on the other"
    with pytest.raises(fa.NotApplicable, match=r"'gavel-max-min' knows no min_tasks, but user 'u2' has 2\.25"):
        fa.solve(JOBS.replace(min_tasks=[0, "9/4"]), "gavel-max-min")


def alone(instance: fa.Instance, limits: np.ndarray, n: int, bundle: np.ndarray) -> float:
    """The most tasks that user n runs with resources (K R,) and its own time, by a program written out here."""
    A, b = rows(instance, limits)
    size, arcs = instance.K * instance.R, instance.arcs.user == n
    bounds = np.concatenate([bundle.ravel() / instance.pools.ravel(), b[size:]])
    return -linprog(-np.ones(arcs.sum()), A_ub=A[:, arcs], b_ub=bounds).fun


@pytest.mark.parametrize("seed", range(8))
def test_own_time_is_in_no_bundle(seed: int) -> None:
    """Envy and sharing incentives count the resources of others and all of the user's own time."""
    instance, limits = drawn(seed)
    limited = fa.with_own_time(instance, limits)
    answer = fa.solve(limited, ("nb", "mmf", "utilitarian", "lmmf")[seed % 4])
    taken = np.zeros((instance.N, instance.K * instance.R))
    np.add.at(taken, instance.arcs.user, (instance.arcs.load.T.toarray() * instance.pools.ravel()) * answer.x[:, None])
    weights, most = instance.weights, Holdings(answer, False).alone
    part = [alone(instance, limits, n, instance.pools * weights[n] / weights.sum()) for n in range(instance.N)]
    gap = max((value - tasks) / unit for value, tasks, unit in zip(part, answer.tasks, most, strict=True))
    pairs = [(n, m) for n in range(instance.N) for m in range(instance.N) if n != m]
    bundles = {(n, m): alone(instance, limits, n, taken[m] * weights[n] / weights[m]) for n, m in pairs}
    envy = max((bundles[n, m] - answer.tasks[n]) / most[n] for n, m in pairs)
    assert fa.check(answer, "sharing-incentive").margin == pytest.approx(gap, abs=1e-6)
    assert fa.check(answer, "envy-freeness").margin == pytest.approx(max(envy, (-answer.tasks / most).max()), abs=1e-6)


def test_a_group_has_all_of_its_members_time() -> None:
    limited = fa.with_own_time(fa.Instance([[1], [1]], [[4]], groups={"a": [0], "b": [1]}))
    verdict = fa.check(fa.solve(limited, "nested-leximin", "exact"), "group-sharing-incentive")
    assert (verdict.holds, verdict.margin) == (True, 0), "half of the server is enough for all of a user's time"


@pytest.mark.parametrize("servers", [1, 2])
def test_equal_parts_of_servers_leave_a_user_all_of_its_time(servers: int) -> None:
    """It was partitioned too, so that `uniform` violated the sharing incentive, whose benchmark it is."""
    timed = fa.with_own_time(fa.Instance([[1], [1], [2]], [[1]] * servers, weights=[1, 1, 2]), [Fraction(1, 8), None, 1])
    for method in (None, "exact"):
        uniform = fa.solve(timed, "uniform", method)
        assert uniform.tasks == pytest.approx([1 / 8, servers / 4, servers / 4])
        assert fa.check(uniform, "sharing-incentive").holds
        assert fa.check(uniform, "uniform").holds
    assert fa.certify(uniform)


@pytest.mark.parametrize("name", ["drf", "fds", "njc", "h-drf"])
def test_a_pool_of_one_server_keeps_own_time(name: str) -> None:
    """By the name "pool" nothing knew of it: of one and the same tasks drf had the sharing incentive, and drfh had not."""
    timed = fa.with_own_time(fa.Instance([[1], [1]], [[1]]), ["1/3", 1])
    pooled = fa.solve(timed, name)
    apart = fa.Allocation(timed, pooled.x, x_exact=pooled.x_exact)
    for known in ("sharing-incentive", "envy-freeness"):
        assert fa.check(pooled, known).margin == fa.check(apart, known).margin
    with pytest.raises(fa.NotApplicable, match="no market in the time of user 'u1'"):
        fa.market(pooled)


def test_there_is_no_market_in_own_time() -> None:
    with pytest.raises(fa.NotApplicable, match="no market in the time of user 'u1', which is nobody else's to buy"):
        fa.market(fa.solve(fa.with_own_time(JOBS), "nb"))


@pytest.mark.parametrize(
    ("instance", "says"),
    [
        (fa.with_own_time(JOBS), "no market in the time of user 'u1'"),
        (JOBS.replace(min_tasks=[1, 0]), "no market with floors, but user 'u1' has 1"),
    ],
)
def test_time_and_floors_are_nothing_that_equal_incomes_buy(instance: fa.Instance, says: str) -> None:
    found = fa.solve(instance, "nb")
    assert fa.check(found, "nb").holds
    for ask, about in ((fa.solve, instance), (fa.solve_many, [instance, instance]), (fa.check, found)):
        with pytest.raises(fa.NotApplicable, match=says):
            ask(about, "ceei")
    with pytest.raises(fa.NotApplicable, match=says):
        fa.market(found)


def test_its_floats_are_the_nearest_to_its_rationals() -> None:
    """They are quotients of whole numbers, whose digits are not cancelled first: that took half of the time."""
    rng = np.random.default_rng(5)
    rates = [[str(Fraction(int(v), int(w))) for v, w in row] for row in rng.integers(1, 40, (6, 3, 2))]
    for speeds in (rates, 10.0 ** rng.uniform(-9, 9, (6, 3))):
        timed = fa.with_own_time(fa.Instance(rng.uniform(0.1, 1, (6, 2)), np.ones((3, 2)), rates=speeds))
        exact = [[float(d) for d in row] for rows in timed.exact.demands for row in rows]
        assert timed.vectors.matrix.toarray().tolist() == exact
