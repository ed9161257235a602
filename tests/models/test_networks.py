"""Markets and networks among the generated families: the shortest paths by listing them all, the graph, the numbers."""

from itertools import pairwise

import numpy as np
import pytest

from fairalloc.models import InstanceError
from fairalloc.models.examples import generators
from fairalloc.models.examples.networks import Graph


def every_path(graph, path, target):
    """The simple paths that begin so."""
    if path[-1] == target:
        yield path
        return
    for end, _ in graph.links[path[-1]]:
        if end not in path:
            yield from every_path(graph, (*path, end), target)


@pytest.mark.parametrize("seed", range(3))
def test_the_paths_are_the_shortest_simple_ones(seed):
    graph = Graph.drawn(12, np.random.default_rng(seed))
    pairs = np.array([(s, t) for s in range(graph.nodes) for t in range(graph.nodes) if s != t])
    matrix, flow = graph.paths(*pairs.T, 4)
    length = dict(zip(zip(graph.start.tolist(), graph.end.tolist(), strict=True), graph.length.tolist(), strict=True))
    for n, (s, t) in enumerate(pairs.tolist()):
        every = sorted(sum(length[step] for step in pairwise(path)) for path in every_path(graph, (s,), t))
        np.testing.assert_allclose(matrix[flow == n] @ graph.length, every[:4], rtol=1e-12)


def test_a_graph_is_connected_has_both_directions_and_the_degrees_of_the_topology_zoo():
    graph = Graph.drawn(300, np.random.default_rng(1))
    assert len(graph.start) == 600
    assert set(zip(graph.start, graph.end, strict=True)) == set(zip(graph.end, graph.start, strict=True))
    degree = np.bincount(graph.start, minlength=graph.nodes)
    assert degree.min() >= 1
    assert degree.mean() == pytest.approx(2.4, abs=0.01)
    parts = [np.mean(degree == 1), np.mean(degree == 2), np.mean(degree == 3), np.mean(degree > 3)]
    np.testing.assert_allclose(parts, [0.14, 0.53, 0.22, 0.11], atol=0.13)


def test_a_network_is_one_server_whose_resources_are_links():
    instance = generators.network(40, 30, seed=3)
    assert (instance.N, instance.K, instance.R) == (40, 1, 30)
    assert set(instance.vectors.matrix.data) == {1.0}
    assert instance.vectors.counts.max() == 4
    assert set(instance.capacities.ravel()) <= {10.0, 40.0, 100.0}
    first = instance.vectors.matrix[instance.vectors.first[:-1]]
    assert instance.max_tasks @ first.sum(axis=1) == pytest.approx(instance.totals.sum(), rel=1e-3)
    assert instance == generators.network(40, 30, seed=3) != generators.network(40, 30, seed=4)
    np.testing.assert_array_equal(instance.weights, instance.max_tasks)
    assert set(generators.network(40, 30, seed=3, equal=True).weights) == {1.0}


def test_a_market_has_the_published_distribution():
    instance = generators.market(400, 50, 0.2, seed=1)
    assert (instance.N, instance.K, instance.R, instance.A) == (400, 50, 1, 4000)
    assert set(instance.capacities.ravel()) == {100.0}
    for numbers in (instance.weights, instance.rates.data):
        assert 0 < numbers.min() < 0.01 < 0.99 < numbers.max() <= 1
        assert numbers.mean() == pytest.approx(0.5, abs=0.05)
    assert set(np.diff(instance.rates.indptr)) == {10}
    with pytest.raises(InstanceError, match="density is 0, but it must be above 0 and at most 1"):
        generators.market(2, 2, 0)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [((5, 7), "links is 7, but it must be an even number"), ((7, 6), "flows is 7, but 6 links join 6 pairs of nodes")],
)
def test_sizes_that_no_network_has_are_refused(sizes, says):
    with pytest.raises(InstanceError, match=says):
        generators.network(*sizes)
