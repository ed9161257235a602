"""Demands and eligibility given sparse stay sparse, mean what their dense forms mean, and are refused in the same sentences."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from profiles import drawn
from strategies import instances

from fairalloc.models import Instance, InstanceError, shares
from fairalloc.models.shares import asset_share, dominant_resource, global_dominant_share, task_share

D = np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 1], [1, 1, 1]])
C = np.array([[9.0, 9, 9], [8, 0, 8]])
PAIRS = [(0, 0), (1, 0), (2, 1), (3, 0), (0, 1)]
MASK = [[True, True], [True, False], [False, True], [True, False]]
NAMED = [(f"u{n + 1}", f"s{i + 1}") for n, i in PAIRS]


@pytest.mark.parametrize(
    "eligible",
    [
        PAIRS,
        [*PAIRS, (0, 0)],
        np.array(PAIRS),
        NAMED,
        sp.coo_array((np.ones(5), np.array(PAIRS).T), shape=(4, 2)),
        sp.csr_matrix(np.array(MASK)),
        np.array(MASK, dtype=int),
        {n: [f"s{i + 1}" for m, i in PAIRS if m == n] for n in range(4)},
    ],
    ids=["pairs", "twice", "array of pairs", "names", "coo", "csr_matrix", "mask", "dictionary"],
)
@pytest.mark.parametrize("demands", [D, sp.csr_array(D), sp.coo_matrix(D), sp.csc_array(D.astype(int))])
def test_every_form_is_the_same_instance(demands, eligible):
    found, plain = Instance(demands, C, eligible=eligible), Instance(D.tolist(), C.tolist(), eligible=MASK)
    assert found == plain == pickle.loads(pickle.dumps(found))
    assert hash(found) == hash(plain)
    assert found.exact == plain.exact
    assert found.placement.tolist() == MASK
    assert [d.tolist() for d in found.demands] == [[row] for row in D.tolist()]
    np.testing.assert_array_equal(found.arcs.load.toarray(), plain.arcs.load.toarray())


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.csc_array])
def test_variants_in_a_sparse_pair_are_those_in_lists(form):
    found, plain = Instance((form(D), [0, 0, 1, 2]), C), Instance([D[:2].tolist(), D[2].tolist(), D[3].tolist()], C.tolist())
    assert found == plain == pickle.loads(pickle.dumps(found)) == found.replace()
    assert found.vectors.counts.tolist() == [2, 1, 1]
    np.testing.assert_array_equal(found.arcs.load.toarray(), plain.arcs.load.toarray())


@pytest.mark.parametrize(
    ("demands", "says"),
    [
        ((D, [0, 0, 2, 3]), "user of each row of demands is .*, but it must be 4 whole numbers that rise from 0 by at most 1"),
        ((D, [1, 1, 2, 3]), "4 whole numbers that rise from 0"),
        ((D, [0, 1]), "4 whole numbers that rise from 0"),
        ((D, 3), "4 whole numbers that rise from 0"),
        ((np.where(D == 4, -4, D), [0, 0, 1, 2]), "the demand of user 'u2' for 'r1' is -4, but it must not be negative"),
        ((D * 1j, [0, 0, 1, 2]), "is 1j, which is not a finite number"),
    ],
)
def test_a_sparse_pair_that_is_wrong_is_refused(demands, says):
    with pytest.raises(InstanceError, match=says):
        Instance((sp.csr_array(demands[0]), demands[1]), C)


def test_all_pairs_are_no_constraint():
    every = [(n, i) for n in range(4) for i in range(2)]
    assert Instance(D, C + 1, eligible=every).allowed is None
    assert Instance(D, C + 1, eligible=every) == Instance(D, C + 1) != Instance(D, C + 1, eligible=every[1:])


def test_names_that_nobody_gave_are_names():
    assert Instance(D, C) == Instance(D, C, users=["u1", "u2", "u3", "u4"]) != Instance(D, C, users=["u1", "u2", "u3", "u5"])


def test_what_has_the_shape_of_a_mask_is_one():
    with pytest.raises(InstanceError, match="eligible of user 'u2' on server 's2' is 2, but it must be true or false"):
        Instance([[1], [1]], [[1], [1]], eligible=[(0, 1), (1, 2)])


def of_sparse(row, column, value):
    """Instance(..) with one number of the demands changed, given sparse."""
    changed = D.copy()
    changed[row, column] = value
    return lambda: Instance(sp.csr_array(changed), C)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (of_sparse(1, 1, 0), "the demand of user 'u2' is zero for every resource, but a task must take something"),
        (of_sparse(2, 2, -1), "the demand of user 'u3' for 'r3' is -1, but it must not be negative"),
        (of_sparse(0, 1, np.inf), "the demand of user 'u1' for 'r2' is inf, but it must be a finite number"),
        (of_sparse(3, 0, np.nan), "the demand of user 'u4' for 'r1' is nan, but it must be a finite number"),
        (lambda: Instance(sp.csr_array(D[:, :2]), C), "of length 2, but there must be 3 numbers: r1, r2, r3"),
        (lambda: Instance(D, C, eligible=[*PAIRS, (4, 0)]), "there is no user 4: users are numbered 0 to 3"),
        (lambda: Instance(D, C, eligible=np.array([*PAIRS, (0, 2)])), "there is no server 2: servers are numbered 0 to 1"),
        (lambda: Instance(D, C, eligible=np.array(PAIRS) * 1.0), "there is no user 0.0: users are numbered 0 to 3"),
        (lambda: Instance(D, C, eligible=[*NAMED, ("u1", "s3")]), "there is no server 's3'"),
        (lambda: Instance(D, C, eligible=sp.csr_array((2, 4))), "eligible is a matrix of 2 x 4, but it must be 4 (users) x 2"),
        (lambda: Instance(D, C, eligible=PAIRS[:2]), "user 'u3' has no eligible server: its placement allows no server"),
        (
            lambda: Instance(D, C, eligible=[*PAIRS[:3], (3, 1), (0, 1)]),
            "user 'u4' has no eligible server: no server",
        ),
        (
            lambda: Instance(np.where(D == 3, np.nan, D), C),
            "the demand of user 'u2' for 'r2' is nan, but it must be a finite number",
        ),
        (lambda: Instance(D, np.where(C == 0, -1, C)), "the capacity of server 's2' for 'r2' is -1, but it must not be negative"),
    ],
)
def test_the_first_that_is_wrong_is_named(build, says):
    with pytest.raises(InstanceError) as caught:
        build()
    assert says in str(caught.value)


def test_large_integers_stay_exact():
    assert Instance(np.array([[2**60 + 1]]), [[2**61]]).exact.demands == (((2**60 + 1,),),)


@settings(max_examples=drawn(60))
@given(instances(rates=False, variants=False))
def test_shares_are_their_definition(instance):
    if instance.demands_on:
        assert task_share(instance).shape == (instance.N,)
        return
    parts = np.array([d[0] for d in instance.demands]) / np.where(instance.totals > 0, instance.totals, 1.0)
    np.testing.assert_array_equal(global_dominant_share(instance), parts.max(axis=1))
    np.testing.assert_array_equal(dominant_resource(instance), parts.argmax(axis=1))
    np.testing.assert_allclose(asset_share(instance), parts.sum(axis=1), rtol=1e-14)


def test_nothing_dense_is_made():
    """200,000 users, 1,000 servers and 1,000 resources: one byte for each pair of user and server would be 200 MB."""
    N, K, R = 200_000, 1_000, 1_000
    user = np.repeat(np.arange(N), 2)
    rng = np.random.default_rng(1)
    demands = sp.csr_array((np.ones(2 * N), (user, rng.integers(0, R, 2 * N))), shape=(N, R))
    pairs = np.column_stack([user, rng.integers(0, K, 2 * N)])
    tracemalloc.start()
    try:
        instance = Instance(demands, sp.csr_array(np.ones((K, R))), eligible=pairs)
        share = global_dominant_share(instance)
        small = instance.rescaled(instance.weights, instance.arcs.gamma[instance.arcs.first])
        same = instance.replace(weights=share) == small
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(small.arcs) == len(instance.arcs) >= N
    assert not same
    assert most < N * K


TWO = [[1, 2], [3, 4]]
WRONG = [
    ({"counts": np.array([1, 0])}, "the count of server 's2' is 0, but it must be an integer from 1 to 9007199254740992"),
    ({"counts": [2**53 + 1, 1]}, "the count of server 's1' is 9007199254740993, but it must be an integer from 1 to"),
    ({"counts": np.array([2**53 + 1, 1])}, "the count of server 's1' is 9007199254740993, but it must be an integer from 1"),
    ({"counts": [1, 1.5]}, "the count of server 's2' is 1.5, but it must be an integer from 1 to"),
    ({"counts": np.array([1, 1, 1])}, "of length 3, but there must be 2 numbers: s1, s2"),
    ({"weights": np.array([1, 0])}, "the weight of user 'u2' is 0, but it must be positive"),
    ({"weights": [-1, 1]}, "the weight of user 'u1' is -1, but it must be positive"),
    ({"max_tasks": np.array([1, 0])}, "max_tasks of user 'u2' is 0, but it must be positive, or null for unlimited"),
    ({"max_tasks": np.array([-np.inf, 1])}, "max_tasks of user 'u1' is -inf, but it must be a finite number"),
    ({"max_tasks": [1, -2]}, "max_tasks of user 'u2' is -2, but it must be positive"),
    ({"max_tasks": [1]}, "max_tasks is [1], but it must be a list of 2 numbers, one for each user"),
    ({"max_tasks": np.array([1, 2, 3])}, "max_tasks is array([1, 2, 3]), but it must be a list of 2 numbers, one for each user"),
    ({"max_tasks": np.ones((2, 1))}, "max_tasks of user 'u1' is array([1.]), which is not a finite number"),
    ({"min_tasks": [0, -1]}, "min_tasks of user 'u2' is -1, but it must not be negative"),
    ({"min_tasks": [0, 3], "max_tasks": [None, 2]}, "min_tasks of user 'u2' is 3, but it must be at most max_tasks, 2"),
    ({"eligible": [[1, 1], [1, 2]]}, "eligible of user 'u2' on server 's2' is 2, but it must be true or false"),
    ({"eligible": np.array([[1, 1], [1, 2]])}, "eligible of user 'u2' on server 's2' is 2, but it must be true or false"),
    ({"eligible": sp.csr_array([[1.0, 2], [0, 1]])}, "eligible of user 'u1' on server 's2' is 2.0, but it must be true or false"),
    ({"eligible": np.ones((2, 3), bool)}, "but it must be 2 lists (users) of 2 (servers)"),
    ({"eligible": [[1, 1, 1], [1, 1, 1]]}, "but it must be 2 lists (users) of 2 (servers)"),
    ({"eligible": np.array([[0, 0], [1, 1], [1, 2]])}, "there is no server 2: servers are numbered 0 to 1"),
    ({"eligible": np.array([[0, 0], [-1, 1], [1, 1]])}, "there is no user -1: users are numbered 0 to 1"),
    ({"rates": [[1, 1], [1, -1]]}, "the rate of user 'u2' on server 's2' is -1, but it must be a finite number, at least 0"),
    ({"rates": sp.csr_array([[1, np.inf], [0, 1]])}, "the rate of user 'u1' on server 's2' is inf, but it must be a finite"),
    ({"rates": np.ones((2, 3))}, "rates are 2 x 3 of type float64, but they must be 2 x 2 numbers"),
    ({"rates": sp.csr_array(np.ones((2, 2), bool))}, "rates are 2 x 2 of type bool, but they must be 2 x 2 numbers"),
    ({"rates": [[1, 1]]}, "rates are [[1, 1]], but they must be 2 lists (users)"),
    ({"demands_on": [[0, 0]]}, "demands_on is [[0, 0]], but it must map pairs (user, server) to demands"),
    ({"demands_on": {(0, 0, 1): [1, 1]}}, "demands_on has the key (0, 0, 1), but a key is a pair (user, server)"),
    ({"demands_on": {"u1": [1, 1]}}, "demands_on has the key 'u1', but a key is a pair (user, server)"),
    ({"demands_on": {(0, 0): [[1, 1], [2, 2]]}}, "the demand of user 'u1' on server 's1' has 2 variants, but the user has 1"),
    ({"demands_on": {(0, 0): [1, 1], ("u1", "s1"): [1, 1]}}, "on server 's1' is given twice in demands_on"),
    ({"demands_on": {(0, 0): []}}, "the demand of user 'u1' on server 's1' is empty, but it must be a vector or a list"),
    ({"demands": [[1, 2], [0, 0]]}, "the demand of user 'u2' is zero for every resource, but a task must take something"),
    ({"demands": [[[1, 2], [0, 0]], [1, 1]]}, "the demand of user 'u1' is zero for every resource"),
    ({"demands": np.array([[[1, 2], [1, 1]], [[1, 1], [0, 0]]])}, "the demand of user 'u2' is zero for every resource"),
    ({"demands": [[1, 2], [1, -1]]}, "the demand of user 'u2' for 'r2' is -1, but it must not be negative"),
    ({"capacities": [[1, 2], [-1, 1]]}, "the capacity of server 's2' for 'r1' is -1, but it must not be negative"),
    ({"capacities": np.array([[1, 2], [1, np.nan]])}, "the capacity of server 's2' for 'r2' is nan, but it must be a finite"),
    ({"users": ["a", "a"]}, "two users have the name 'a', but names must be distinct"),
    ({"users": ["a"]}, "the number of user names is 1, but the data has 2 users"),
    ({"servers": ["a", ""]}, "server 2 has the name '', but a name is a non-empty string"),
    ({"servers": ["a\x07", "b"]}, "server 1 has the name 'a\\x07', but a name has no control characters or surrogates"),
    ({"resources": ["a", 3]}, "resource 2 has the name 3, but a name is a non-empty string"),
]


@pytest.mark.parametrize(("given", "says"), WRONG)
def test_one_number_that_is_wrong_is_named_in_every_form(given, says):
    with pytest.raises(InstanceError) as caught:
        Instance(**{"demands": TWO, "capacities": [[8, 8], [9, 9]], **given})
    assert says in str(caught.value)


def test_numbers_at_the_edge_are_right():
    def made(**given):
        return Instance(TWO, [[8, 8], [9, 9]], **given)

    assert made(counts=np.array([1, 2**53])).counts.tolist() == made(counts=[1, 2**53]).counts.tolist() == [1, 2**53]
    assert made(min_tasks=[0, 2], max_tasks=[None, 2]).min_tasks.tolist() == [0, 2]
    assert made(max_tasks=np.array([np.nan, np.inf])).max_tasks.tolist() == [np.inf, np.inf]
    assert made(max_tasks=[float("nan"), np.float64(np.inf)]).max_tasks.tolist() == [np.inf, np.inf]
    one_each = [[True, False], [True, True]]
    for form in (np.array(one_each), [[1, 0], [1, 1]], [(0, 0), (1, 0), (1, 1)], np.array([(1, 1), (1, 0), (0, 0)])):
        assert made(eligible=form).placement.tolist() == one_each
    assert made(eligible=np.array([[1, 0], [1, 1]])).placement.tolist() == one_each, "of two users and two servers it is a matrix"
    assert made(eligible=[("u1", "s1"), (1, "s1"), ("u2", 1)]).placement.tolist() == one_each
    assert made(rates=np.array([[1, 0], [2, 1]])).placement.tolist() == one_each
    assert made(rates=[[1, 1], [1, 1]]) == made(rates=np.ones((2, 2))) == made(eligible=np.ones((2, 2), int)) == made()
    assert made(demands_on={(1, 1): [[5, 6]]}).exact.demands_on == {(1, 1): ((5, 6),)}
    assert made().exact != 3
    assert (made() != 3, made() == made(), made() != made(weights=[2, 1])) == (True, True, True)


@settings(max_examples=drawn(30))
@given(instances(rates=False, variants=False))
def test_shares_of_tasks_are_the_same_in_blocks_of_users(instance):
    whole, size = task_share(instance), shares.BLOCK
    try:
        shares.BLOCK = 1
        np.testing.assert_array_equal(task_share(instance), whole)
        shares.BLOCK = 2 * instance.K
        np.testing.assert_array_equal(task_share(instance), whole)
    finally:
        shares.BLOCK = size
