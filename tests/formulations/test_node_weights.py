"""The weights of nodes that prove most, against SciPy's linear programs and a brute force over vertices of small trees."""

import numpy as np
import pytest
from scipy.optimize import linprog

import fairalloc as fa
from fairalloc.formulations.common.tasks import cheapest
from fairalloc.formulations.lexicographic.node_weights import LARGEST, best_weights
from fairalloc.models.examples import generators
from fairalloc.models.tree import Tree


def drawn(seed):
    """A tree up to four deep, levels, the most that w may be, and prices; half of all have limits."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    instance = generators.generic(size, int(rng.integers(1, 4)), 2, seed)
    users = rng.permutation(size).tolist()
    first, second = sorted(rng.integers(0, size + 1, 2))
    inner = {"c": {"users": users[first + 1 : second]}} if second > first + 1 else {}
    outer = {"b": {"users": users[first : first + 1], "groups": inner}} if second > first else {}
    groups = {"a": {"users": users[:first], "groups": outer, "weight": 2}} if second else {}
    if second < size:
        groups["d"] = users[second + 1 :] or users[second:]
    limits = [float(x) if rng.random() < 0.5 else None for x in rng.uniform(0.1, 3, size)] if seed % 2 else None
    tree = Tree.of(instance.replace(groups=groups, max_tasks=limits))
    worth = tree.levels(rng.random(instance.A)) * rng.choice([0, 0.5, 1, 1.3], len(tree.phi))
    most = np.where(rng.random(len(worth)) < 0.5, 1.0, np.inf)
    prices = rng.random((instance.K, instance.R)) * (rng.random((instance.K, instance.R)) < rng.choice([0.3, 0.8]))
    return tree, worth, most, prices / max(prices.sum(), 1e-9)


def by_scipy(tree, worth, most, q):
    """The value of the program."""
    limit = tree.instance.max_tasks
    capped = np.flatnonzero(np.isfinite(limit))
    if len(capped):
        most = np.minimum(most, np.divide(LARGEST, worth, out=np.full(len(worth), np.inf), where=worth > 0))
    slack = np.zeros((len(q), len(capped)))
    slack[capped, np.arange(len(capped))] = -1.0
    rows = np.hstack([tree.shares.T.toarray(), slack])
    bounds = [*((0, upper if value else 0) for upper, value in zip(most, worth, strict=True)), *[(0, None)] * len(capped)]
    return -linprog(np.append(-worth, limit[capped]), rows, q, bounds=bounds).fun


@pytest.mark.parametrize("part", range(4))
def test_no_linear_program_proves_more(part):
    for seed in range(100 * part, 100 * part + 100):
        tree, worth, most, prices = drawn(seed)
        w, z = best_weights(tree, worth, most, prices)
        q, limit = cheapest(tree.instance, prices), tree.instance.max_tasks
        assert (w >= 0).all(), seed
        assert (w <= most * (1 + 1e-12)).all(), seed
        assert (z >= 0).all(), seed
        assert (tree.shares.T @ w <= (q + z) * (1 + 1e-12)).all(), seed
        assert w @ worth - z[z > 0] @ limit[z > 0] == pytest.approx(by_scipy(tree, worth, most, q), rel=1e-7, abs=1e-9), seed


def test_a_user_that_pays_nothing_leaves_its_groups_nothing():
    instance = fa.Instance([[1, 0], [0, 1]], [[1, 1]], groups={"g": [0, 1]})
    w, z = best_weights(Tree.of(instance), np.array([1.0, 0.5, 0.5]), np.full(3, np.inf), np.array([[1.0, 0.0]]))
    assert w.tolist() == pytest.approx([0, 0.5, 0])
    assert not z.any()


def test_equal_breakpoints_and_limits_of_alike_users():
    """Four alike users with a limit: their prices pay for as much as their limits cost."""
    instance = fa.Instance([[1]] * 4, [[8]], max_tasks=[1] * 4, groups={"g": [0, 1, 2], "h": [3]})
    tree, prices = Tree.of(instance), np.array([[1.0]])
    for worth in (tree.levels(np.ones(4)), tree.levels(np.ones(4)) * 1.1):
        w, z = best_weights(tree, worth, np.full(6, 1.0), prices)
        value = w @ worth - z @ instance.max_tasks
        assert value == pytest.approx(by_scipy(tree, worth, np.full(6, 1.0), cheapest(instance, prices)), rel=1e-9)
