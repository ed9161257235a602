"""The arrow without symmetry: its LU factors, dense and by blocks, against dense systems, and what has no factor."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import EXACT, RESIDUAL, SHARES

from fairalloc.formulations import mechanism
from fairalloc.models import Instance, NotApplicable
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS, solve
from fairalloc.solvers.game.equations import LevelEquations
from fairalloc.solvers.kkt.loads import ArcLoads, loads_of
from fairalloc.solvers.kkt.matrices import ScaledLU, separated
from fairalloc.solvers.kkt.schur import NEGLIGIBLE, Elimination, plan_for_game
from fairalloc.solvers.kkt.sparse_factor import SparseLU

GAME = "alpha-pf-vds"


def unsymmetric(servers, R, pairs, seed):
    """A well-conditioned matrix of blocks, a third of which have no transpose, in rows of any scale."""
    rng = np.random.default_rng(seed)
    matrix = np.kron(np.eye(servers), rng.normal(size=(R, R))) + np.diag(rng.uniform(-3.0, 3.0, servers * R))
    for one, two in rng.integers(servers, size=(pairs, 2)):
        for i, j in ((one, two), (two, one))[: 1 + bool(rng.random() < 2 / 3)]:
            matrix[i * R : (i + 1) * R, j * R : (j + 1) * R] += rng.normal(size=(R, R))
    matrix += 4.0 * servers * np.sign(rng.normal(size=servers * R)) * np.eye(servers * R)
    return matrix * 10.0 ** rng.integers(-3, 4, servers * R)[:, None], rng.normal(size=servers * R)


def by_blocks(matrix, R):
    return SparseLU(*separated(sp.bsr_array(matrix, blocksize=(R, R))))


@settings(max_examples=drawn(80))
@given(servers=st.integers(1, 40), R=st.integers(1, 4), pairs=st.integers(0, 60), seed=st.integers(0, 10**6))
def test_factors_solve_and_know_the_sign_of_the_determinant(servers, R, pairs, seed):
    matrix, right = unsymmetric(servers, R, pairs, seed)
    expected, (sign, _) = np.linalg.solve(matrix, right), np.linalg.slogdet(matrix)
    for factor in (by_blocks(matrix, R), ScaledLU(np.asfortranarray(matrix))):
        assert factor.sign == sign
        np.testing.assert_allclose(factor.solve(right), expected, atol=EXACT * np.abs(expected).max())
        assert np.abs(factor.solve(1.001 * right) - expected).max() > EXACT * np.abs(expected).max()


def test_most_of_a_sparse_matrix_is_eliminated_by_blocks():
    factor = by_blocks(unsymmetric(200, 3, 120, 1)[0], 3)
    assert len(factor.passes) > 1
    assert factor.rest is None or len(factor.rest.swaps) <= 150


def test_blocks_without_an_inverse_wait_and_singular_matrices_have_no_sign():
    """A server whose own block is 0 has a factor with its neighbour's; without a neighbour it has none."""
    matrix, right = unsymmetric(40, 2, 0, 3)
    matrix[:2, :2] = 0.0
    with np.errstate(all="ignore"):
        alone = by_blocks(matrix, 2)
        assert not alone.sign == abs(alone.sign) == 1.0
        assert not np.isfinite(alone.solve(right)).all()
    matrix[:2, 2:4] = matrix[2:4, :2] = np.eye(2)
    joined = by_blocks(matrix, 2)
    assert joined.sign == np.linalg.slogdet(matrix)[0]
    np.testing.assert_allclose(matrix @ joined.solve(right), right, atol=EXACT * np.abs(right).max())


def arrow(family, plan, seed, n=20, k=9):
    """An arrow with charges of its own, and its dense system in p, l and the flows f."""
    instance = getattr(generators, family)(n, k, 3, seed)
    loads, rng = loads_of(instance, np.ones(instance.N)), np.random.default_rng(seed)
    if not isinstance(loads, ArcLoads):
        own = loads.demand[loads.user] * loads.inverse[loads.server]
        loads = ArcLoads(own, loads.user, loads.server, loads.N, loads.K)
    A, N, rows = len(loads), loads.N, loads.K * loads.R
    charges = np.asfortranarray(np.where(loads.loads > 0, rng.uniform(0.1, 2.0, loads.loads.shape), 0.0))
    theta, ends, s = 10.0 ** rng.uniform(-8, 4, A), rng.uniform(0.5, 2.0, N), rng.uniform(0.5, 2.0, rows)
    found = Elimination(loads.charged(charges), theta, ends, s)
    found.factorise(plan, rows, NEGLIGIBLE)
    owner, of = np.eye(N)[loads.user].T, loads.server[:, None] * loads.R + np.arange(loads.R)
    load, charge = np.zeros((rows, A)), np.zeros((A, rows))
    load[of.T, np.arange(A)], charge[np.arange(A)[:, None], of] = loads.loads.T, charges
    whole = np.block(
        [[np.diag(s) + (load * theta) @ charge, -(load * theta) @ owner.T], [-(owner * theta) @ charge, np.diag(ends)]]
    )
    whole[rows:, rows:] += np.diag(owner @ theta)
    return found, whole, rng


@pytest.mark.parametrize("plan", ["rows", "sparse rows"])
@pytest.mark.parametrize("family", ["generic", "placement", "racks", "variants"])
@pytest.mark.parametrize("seed", range(3))
def test_the_arrow_with_charges_is_the_dense_system(family, plan, seed):
    """With several arcs of a user at one server, where diagonals may be negative, and theta over twelve orders of magnitude."""
    found, whole, rng = arrow(family, plan, seed)
    assert found.factor.sign == np.linalg.slogdet(whole)[0]
    right = rng.normal(size=len(found.s))
    expected = np.linalg.solve(whole, np.concatenate([right, np.zeros(len(found.ends))]))[: len(right)]
    p = found.factor.solve(right)
    np.testing.assert_allclose(p, expected, atol=SHARES * np.abs(expected).max())
    priced = found.loads.priced(p)
    raised, _, flow = found.follow(priced, found.loads.totals(found.theta * priced), np.zeros(len(found.ends)))
    assert np.abs(found.s * p + found.loads.rows(flow) - right).max() <= SHARES * np.abs(right).max()
    np.testing.assert_allclose(found.loads.totals(flow), found.ends * raised, atol=SHARES)


def test_negative_diagonals_stay_what_they_are():
    """A user's two variants on one server, of which each is charged for what the other loads."""
    zero = np.zeros(2, np.intp)
    loads = ArcLoads(np.array([[1.0, 0.1], [0.1, 1.0]]), zero, zero, 1, 1)
    charges = np.asfortranarray(loads.loads[::-1])
    theta, ends, s = np.array([10.0, 10.0]), np.array([0.01]), np.array([0.1, 0.1])
    B, C = (loads.loads * theta[:, None]).sum(axis=0), (charges * theta[:, None]).sum(axis=0)
    whole = np.diag(s) + (loads.loads.T * theta) @ charges - np.outer(B, C) / (theta.sum() + ends)
    assert whole[0, 0] < 0
    for plan in ("rows", "sparse rows"):
        found = Elimination(loads.charged(charges), theta, ends, s)
        found.factorise(plan, 2, NEGLIGIBLE)
        assert found.factor.sign == np.sign(np.linalg.det(whole))
        np.testing.assert_allclose(whole @ found.factor.solve(np.array([1.0, 2.0])), [1.0, 2.0], atol=EXACT)


def test_gains_at_fixed_prices_are_what_users_share():
    """E v is the sum of theta (pushed - v) and the right-hand side, also where one theta is 1e14 times the others."""
    found, _, rng = arrow("generic", "rows", 1)
    theta = found.theta.copy()
    theta[found.pivot] = 1e12
    found = Elimination(found.loads, theta, found.ends, found.s)
    pushed, users = rng.normal(size=len(theta)), rng.normal(size=len(found.ends))
    flow, v = found.at_fixed_prices(pushed, users)
    np.testing.assert_allclose(found.loads.totals(flow), found.ends * v - users, atol=SHARES)
    exact = theta * (pushed - np.repeat(v, found.loads.counts))
    others = np.setdiff1d(np.arange(len(theta)), found.pivot)
    np.testing.assert_allclose(flow[others], exact[others], rtol=EXACT)


def test_numbers_out_of_range_have_a_factor_without_numbers():
    found, _, _ = arrow("generic", "rows", 1)
    for plan in ("rows", "sparse rows"):
        for theta in (np.nan, np.inf):
            broken = Elimination(found.loads, np.full(len(found.theta), theta), found.ends, found.s)
            with np.errstate(all="ignore"):
                broken.factorise(plan, 100, NEGLIGIBLE)
            assert broken.factor.sign == 0.0
            assert np.isnan(broken.factor.solve(np.ones(len(found.s)))).all()


# ---- the game on sparse placement -----------------------------------------------------------------------------------


def test_nothing_of_a_game_is_as_large_as_users_times_servers():
    instance = generators.sparse(3000, 1000, 2, 0)
    levels = LevelEquations(mechanism(GAME).configure(alpha=3.0).game(instance))
    arrays = [value for part in (levels, levels.loads) for value in vars(part).values() if isinstance(value, np.ndarray)]
    assert plan_for_game(levels.loads) == "sparse rows"
    assert max(array.size for array in arrays) <= instance.R * max(len(levels), instance.K, instance.N)
    assert len(levels) * instance.R < 0.1 * instance.N * instance.K


@pytest.mark.few(3)
@pytest.mark.parametrize("alpha", [0.5, 3.0, np.inf])
@pytest.mark.parametrize("family", ["sparse", "racks"])
def test_sparse_and_dense_factors_lead_to_the_same_answer(family, alpha, monkeypatch):
    instance = getattr(generators, family)(150, 60, 2, 1)
    answers = []
    for plan in ("sparse rows", "rows"):
        monkeypatch.setattr("fairalloc.solvers.game.equations.plan_for_game", lambda _, plan=plan: plan)
        answers.append(solve(instance, GAME, "continuation", alpha=alpha))
        assert answers[-1].claims_success
        assert answers[-1].residual <= RESIDUAL
    np.testing.assert_allclose(answers[0].tasks, answers[1].tasks, rtol=SHARES)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [19, 24, 31, 53])
def test_blocks_that_are_0_on_one_side_alone_are_told_from_none(seed):
    """Few arcs a user and many zero demands: coupled servers were taken for independent, which ended in an error or a crash."""
    rng = np.random.default_rng([8, seed])
    R = int(rng.choice([3, 4, 6]))
    K = 540 // R + int(rng.integers(1, 200))
    N = int(K * rng.choice([0.5, 1, 1.5]))
    demands = np.exp(rng.normal(0, 1, (N, R)))
    demands[rng.random((N, R)) < rng.choice([0.4, 0.6, 0.8])] = 0
    demands[~(demands > 0).any(1), 0] = 1
    capacities = np.exp(rng.normal(0, 0.7, (K, R)))
    pairs = {(i, int(rng.integers(K))) for i in range(N)}
    pairs |= {(int(rng.integers(N)), int(rng.integers(K))) for _ in range(int(N * rng.choice([0.2, 0.4, 0.7, 1])))}
    instance = Instance(demands, capacities, eligible=sorted(pairs))
    answer = solve(instance, GAME, "continuation", alpha=[0.5, 3.0, 30.0, 1e3][seed % 4], merge=False)
    assert answer.claims_success
    assert answer.residual <= RESIDUAL


def test_a_game_with_too_many_rows_is_refused_in_a_sentence():
    instance = generators.sparse(60, 6000, 4, 0)
    most = METHODS["continuation"].options.max_rows
    with pytest.raises(
        NotApplicable, match=f"dense matrix of at most {2 * most} rows, but there are 24000 servers times resources"
    ):
        solve(instance, GAME, "continuation", alpha=3)
