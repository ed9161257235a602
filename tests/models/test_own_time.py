"""Limits on users' own time against models written out here, and what they are in special cases."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import fairalloc as fa
from fairalloc.models.exact.rationals import exact_arcs

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
@settings(max_examples=15, deadline=None)
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
    loads = np.zeros((3, 4))
    for a, load in enumerate(exact_arcs(limited).load):
        for row, part in load:
            loads[row, a] = part
    assert limited.arcs.load.toarray() == pytest.approx(loads, rel=1e-15)
    exact = fa.solve(fa.with_own_time(JOBS), "lmmf", method="exact").x_exact
    assert exact is not None
    assert exact_arcs(fa.with_own_time(JOBS)).tasks(exact) == (2, 2)


def test_limits_that_do_not_bind_and_those_of_tasks() -> None:
    instance, _ = drawn(3)
    free = fa.with_own_time(instance, [np.inf] * instance.N)
    assert fa.solve(free, "lmmf").tasks == pytest.approx(fa.solve(instance, "lmmf").tasks, rel=1e-6)
    plain = fa.Instance([[1, 2], [2, 1], [1, 1]], [[4, 4], [8, 2]])
    as_time, as_tasks = fa.with_own_time(plain, [1, 2, 1]), plain.replace(max_tasks=[1, 2, 1])
    assert fa.solve(as_time, "nb").tasks == pytest.approx(fa.solve(as_tasks, "nb").tasks, rel=1e-6)


@pytest.mark.parametrize(
    ("limits", "sentence"), [([1], "max_tasks"), ([0, 1], "must be positive"), (["x", 1], "'x'"), (3, "must be a list of 2")]
)
def test_bad_limits(limits: object, sentence: str) -> None:
    with pytest.raises(fa.InstanceError, match=sentence):
        fa.with_own_time(JOBS, limits)
