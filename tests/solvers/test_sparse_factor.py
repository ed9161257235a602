"""Sparse factors with a dense rest: against a dense solve, with rows that are left out, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import drawn
from tolerances import EXACT, SINGLE

from fairalloc.solvers.kkt.matrices import (
    bordered,
    cholesky,
    dense,
    of_blocks,
    on_the_diagonal,
    put_on_the_diagonal,
    rows_of,
    separated,
    solved,
)
from fairalloc.solvers.kkt.sparse_factor import SparseFactor, independent


def blocked(servers, R, pairs, seed, left_out=0):
    """A diagonally dominant matrix of blocks with some pairs of servers, and rows with 1e30 on the diagonal."""
    rng = np.random.default_rng(seed)
    rows, users = servers * R, max(pairs, 1)
    coupling = np.zeros((users, servers, R))
    for user in range(pairs):
        coupling[user, rng.choice(servers, size=min(2, servers), replace=False)] = rng.normal(size=(min(2, servers), R))
    coupling = coupling.reshape(users, rows)
    matrix = coupling.T @ coupling + np.diag(rng.uniform(0.5, 1.0, rows))
    matrix[np.arange(left_out), np.arange(left_out)] = 1e30
    block = np.kron(np.eye(servers), np.ones((R, R))) > 0
    stored = block | (matrix != 0)
    return sp.csr_array((matrix[stored], np.nonzero(stored)), shape=matrix.shape), rng


def factor_of(matrix, a, rho, R, most, single):
    return SparseFactor(*separated(sp.bsr_array(matrix, blocksize=(R, R))), a, rho, most, single)


@settings(max_examples=drawn(60))
@given(
    servers=st.integers(1, 40),
    R=st.integers(1, 4),
    pairs=st.integers(0, 60),
    rho=st.sampled_from([0.0, 1e-3, 10.0]),
    left_out=st.integers(0, 1),
    seed=st.integers(0, 10**6),
)
def test_it_solves_what_a_dense_solve_does(servers, R, pairs, rho, left_out, seed):
    """With a term of rank one, and with a row that is left out, whose number vanishes."""
    matrix, rng = blocked(servers, R, pairs, seed, left_out)
    a, right = rng.normal(size=(2, servers * R))
    whole = matrix.toarray() + rho * np.outer(a, a)
    expected = np.linalg.solve(whole, right)
    for single, tolerance in ((False, EXACT), (True, SINGLE)):
        found = factor_of(matrix, a, rho, R, servers * R, single).solve(right)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
        assert np.abs(found[:left_out]).max(initial=0.0) <= 1e-25


def test_a_block_that_the_term_of_rank_one_outweighs_waits():
    """Eliminated without the term, it left 0 for 1."""
    matrix, a = sp.csr_array(np.diag([1e-16, 1.0, 1.0])), np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(factor_of(matrix, a, 1.0, 1, 3, False).solve(np.ones(3)), np.ones(3), rtol=EXACT)


def test_most_of_a_sparse_matrix_is_eliminated_block_by_block():
    matrix, _ = blocked(200, 3, 150, 1)
    factor = factor_of(matrix, np.zeros(600), 0.0, 3, 600, False)
    assert len(factor.passes) > 1
    assert factor.rest is None or len(factor.rest) <= 300


def test_racks_are_eliminated_server_by_server_where_the_rest_would_be_too_large():
    """Three racks of 30 servers: one of 30 is less than what pays, but the dense rest may have 10 rows."""
    rng = np.random.default_rng(0)
    racks = [half @ half.T + np.eye(30) for half in rng.normal(size=(3, 30, 30))]
    matrix = sp.csr_array(sp.block_diag(racks, format="csr"))
    factor, right = factor_of(matrix, np.zeros(90), 0.0, 1, 10, False), rng.normal(size=90)
    np.testing.assert_allclose(matrix @ factor.solve(right), right, atol=EXACT)


def test_what_is_not_positive_definite_or_too_large_is_refused():
    matrix, _ = blocked(20, 2, 400, 1)
    nothing = np.zeros(40)
    with pytest.raises(np.linalg.LinAlgError):
        factor_of(matrix, nothing, 0.0, 2, 39, False)
    indefinite = sp.csr_array(matrix - sp.diags_array(np.full(40, 2.0 * matrix.diagonal().max())))
    for single in (False, True):
        with pytest.raises(np.linalg.LinAlgError):
            factor_of(indefinite, nothing, 0.0, 2, 40, single)


@pytest.mark.parametrize(("kind", "tolerance"), [(np.float64, EXACT), (np.float32, SINGLE)])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_dense_factor_solves_and_refuses(kind, tolerance, overwrite):
    root, right = np.random.default_rng(0).normal(size=(2, 30, 30))
    matrix = np.asfortranarray(root @ root.T + np.eye(30), kind)
    exact, wanted = matrix.astype(float), right[0].copy()
    factor = cholesky(matrix.copy(order="F"), overwrite)
    found = solved(factor, wanted)
    assert found.dtype == float
    np.testing.assert_array_equal(wanted, right[0])
    np.testing.assert_allclose(exact @ found, right[0], atol=tolerance)
    assert np.abs(exact @ solved(1.01 * factor, wanted) - right[0]).max() > tolerance
    assert cholesky(matrix - 2.0 * matrix.max() * np.eye(30, dtype=kind), overwrite) is None


def test_a_block_that_only_the_border_makes_regular_is_left_to_the_end():
    """The matrix is singular along (1, -1, 0, ..), where the border is not."""
    matrix = sp.block_diag([np.ones((2, 2)), np.eye(2), 3.0 * np.eye(2)], format="csr")
    a = np.array([1.0, -1.0, 0.5, 0.0, 0.0, 0.0])
    factor = factor_of(sp.csr_array(matrix), a, 2.0, 2, 6, False)
    assert len(factor.rest) == 2
    right = np.arange(6.0)
    np.testing.assert_allclose((matrix.toarray() + 2.0 * np.outer(a, a)) @ factor.solve(right), right, atol=EXACT)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_matrix_is_its_blocks_on_the_diagonal_and_the_others(kind):
    """Unordered within rows, with a row of blocks that has none on the diagonal and one that has none at all."""
    row, column = np.array([0, 0, 1, 3]), np.array([3, 0, 1, 0])
    blocks = np.random.default_rng(1).normal(size=(4, 2, 2))
    blocks[3] = blocks[0].T
    blocks[1:3] += np.swapaxes(blocks[1:3], 1, 2)
    matrix = of_blocks(blocks, row, column, (4, 4))
    np.testing.assert_array_equal(rows_of(matrix), row)
    diagonal, apart = separated(matrix)
    np.testing.assert_array_equal(diagonal, [blocks[1], blocks[2], np.zeros((2, 2)), np.zeros((2, 2))])
    assert len(apart.indices) == 2
    found = dense(apart, kind)
    put_on_the_diagonal(found, diagonal)
    assert found.dtype == kind
    assert found.flags.f_contiguous
    np.testing.assert_array_equal(found, matrix.toarray().astype(kind))
    np.testing.assert_array_equal(dense(matrix, kind), found)
    np.testing.assert_array_equal((apart + on_the_diagonal(diagonal)).toarray(), matrix.toarray())
    put_on_the_diagonal(found, 2.0 * diagonal)
    assert (found != matrix.toarray().astype(kind)).any()


@pytest.mark.parametrize("kind", ["numbers", "blocks", "without the diagonal"])
def test_unknowns_that_go_at_once_are_not_coupled(kind):
    rng = np.random.default_rng(2)
    upper = sp.random_array((80, 80), density=0.02, rng=rng)
    matrix = sp.csr_array(upper + upper.T + sp.eye_array(80))
    pattern = matrix.toarray() != 0
    if kind == "without the diagonal":
        matrix.setdiag(0.0)
        matrix.eliminate_zeros()
    if kind == "blocks":
        matrix = sp.bsr_array(sp.kron(matrix, np.ones((2, 2))), blocksize=(2, 2))
    counts = pattern.sum(axis=1)
    once, often = (independent(matrix, 0.8, turns) for turns in (1, 5))
    for chosen in (once, often):
        assert pattern[np.ix_(chosen, chosen)].sum() == chosen.sum()
        assert counts[chosen].max() <= np.sort(counts)[int(0.8 * 80)]
    assert 0 < once.sum() < often.sum()


def test_a_dense_factor_with_a_term_of_rank_one_falls_back_to_double_precision():
    matrix = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-10]])
    asked = []

    def of_kind(kind):
        asked.append(kind)
        return np.asfortranarray(matrix, kind)

    factor = bordered(of_kind, np.array([1.0, 1.0]), 3.0, True)
    assert asked == [np.float32, np.float64]
    lower = np.tril(factor)
    np.testing.assert_allclose(lower @ lower.T, matrix + 3.0, rtol=EXACT)
    with pytest.raises(np.linalg.LinAlgError):
        bordered(lambda kind: np.asfortranarray(-matrix, kind), np.zeros(2), 0.0, True)
