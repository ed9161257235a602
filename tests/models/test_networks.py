"""Markets and networks among the generated families: the shortest paths by listing them all, the graph, the numbers."""

from itertools import pairwise

import numpy as np
import pytest

from fairalloc.models import InstanceError
from fairalloc.models.examples import generators
from fairalloc.models.examples.networks import Graph, nodes_of


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


def test_as_many_nodes_are_joined_by_as_many_edges():
    """Three nodes had been asked for four edges: a network of 8 links was drawn for ever."""
    for edges in range(3, 200):
        nodes = nodes_of(edges)
        assert nodes - 1 <= edges <= nodes * (nodes - 1) // 2
    assert [generators.network(6, links).R for links in (6, 8, 10, 12)] == [6, 8, 10, 12]


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


# ---- what the other families say of themselves ---------------------------------------------------------------------------


def test_sizes_begin_at_one_and_end_where_it_is_said():
    assert generators.generic(1, 1, 1).A == 1
    assert generators.network(6, 6).N == 6
    assert generators.weights(1, 1, 1, decades=3).weights.tolist() == [1000.0]
    for call, says in (
        (lambda: generators.generic(0, 1, 1), "n_users is 0, but it must be a positive whole number"),
        (lambda: generators.generic(1, 1, 0), "n_resources is 0, but it must be a positive whole number"),
        (lambda: generators.network(1, 4), "links is 4, but it must be an even number from 6 on"),
        (lambda: generators.google_mix(3, 10, 3), "n_resources is 3, but the machines of W Table 1 have 2"),
        (lambda: generators.sparse(2, 2, 1, part=0), "part is 0, but it must be above 0 and at most 1"),
        (lambda: generators.demands(2, 2, 1, decades=101), "decades is 101, but it must be a whole number from 0 to 100"),
        (lambda: generators.degenerate(2, 2, 2, severity=101), "severity is 101, but it must be an integer from 0 to 100"),
        (lambda: generators.planted(2, 2, 2, mechanism="tsf"), "answers are planted for 'drfh' and 'nb' only"),
    ):
        with pytest.raises(InstanceError, match=says):
            call()


@pytest.mark.parametrize(("servers", "size"), [(10, 5), (11, 5), (9, 4), (4, 2), (1, 1)])
def test_racks_have_five_servers_or_half_of_fewer_than_ten(servers, size):
    instance = generators.racks(60, servers, 2, 1)
    rows = {tuple(np.flatnonzero(row).tolist()) for row in instance.placement}
    racks = {tuple(range(start, min(start + size, servers))) for start in range(0, servers, size)}
    assert rows == racks | {tuple(range(servers))}
    anywhere = instance.placement.all(axis=1).mean()
    assert 0 < anywhere < 0.3 or servers == 1


@pytest.mark.parametrize("seed", range(22))
def test_requests_as_in_d_follow_the_seed(seed):
    instance = generators.njc(14, 1, 3, seed)
    demands = np.concatenate(instance.demands)
    assert (len(set(instance.weights)) == 1) == (seed % 3 == 0)
    assert np.isinf(instance.max_tasks).tolist() == [seed % 7 == 3] + [False] * 13
    assert set(instance.max_tasks[1:]) == {1.0}
    assert demands.max() <= 1 / 2
    if seed % 2:
        assert np.all((demands[:, 2] == 0) | (demands[:, 2] == demands[:, 0]) | (demands[:, :2].sum(axis=1) == 0))
    if seed % 4 == 0:
        assert demands.min() > 0, "every user asks for everything"
    numbers = {part.denominator for vectors in instance.exact.demands for part in vectors[0]}
    assert max(numbers) <= 40 * 8 * 14


def test_parts_of_requests_are_those_of_the_seed():
    """Of the resources, and of the users who ask for an eighth of an equal part at most."""
    for seed, part in ((4, 1.0), (6, 0.5)):
        demands = np.concatenate(generators.njc(400, 1, 10, seed).demands)
        assert (demands > 0).mean() == pytest.approx(1 - (1 - part) * 0.9, abs=0.03)
        little = demands.max(axis=1) <= 1 / (8 * 400)
        assert little.mean() == pytest.approx(0.2, abs=0.06)


def test_numbers_of_families_lie_where_it_is_said():
    many = generators.generic(400, 100, 3, 1)
    demands = np.concatenate(many.demands)
    assert 0.3 <= demands.min() < 0.35 < 2.9 < demands.max() <= 3.2
    assert 0.5 <= many.weights.min() < 0.52 < 1.98 < many.weights.max() <= 2
    assert 0.3 <= many.capacities.min() / 4 < many.capacities.max() / 4 <= 3.2
    assert generators.placement(300, 30, 2).placement.mean() == pytest.approx(1 / 3, abs=0.05)
    zero = generators.zero_demand(300, 40, 4)
    assert (np.concatenate(zero.demands) > 0).mean() == pytest.approx(0.5 + 0.5 / 4, abs=0.05)
    assert (zero.capacities > 0).mean() == pytest.approx(0.8, abs=0.07)
    assert zero.capacities[0].min() >= 1
    finite = generators.finite(400, 3, 2)
    assert np.isfinite(finite.max_tasks).mean() == pytest.approx(0.5, abs=0.08)
    assert 0.1 <= finite.max_tasks.min() < 0.2 < 2.8 < finite.max_tasks[np.isfinite(finite.max_tasks)].max() <= 3
    assert set(generators.variants(200, 2, 2).vectors.counts.tolist()) == {1, 2, 3}
    heavy = np.concatenate(generators.heavy_tailed(1000, 2, 1).demands).ravel() * 10
    assert heavy.min() >= 1
    assert heavy.max() > 30 * np.median(heavy)
    assert np.median(heavy) == pytest.approx(2 ** (1 / 1.5), rel=0.1)
    far = generators.demands(50, 2, 2, decades=9)
    near = np.concatenate(generators.demands(50, 2, 2, decades=0).demands)
    ratio = np.concatenate(far.demands) / near
    np.testing.assert_allclose(ratio[:, 0], ratio[:, 1], rtol=1e-12)
    assert ratio[:2, 0].tolist() == pytest.approx([1e9, 1.0], rel=1e-12)
    assert 1 <= ratio[2:].min() < ratio[2:].max() <= 1e9


def test_degeneracy_goes_from_generic_to_all_alike():
    plain, alike = generators.degenerate(30, 6, 3, 1, severity=0), generators.degenerate(30, 6, 3, 1, severity=100)
    assert len({tuple(row) for row in np.concatenate(plain.demands).tolist()}) == 30
    assert 0.3 <= np.concatenate(plain.demands).min() <= np.concatenate(plain.demands).max() <= 3.2
    demands = np.concatenate(alike.demands)
    shape = demands / demands[:, :1]
    np.testing.assert_allclose(shape, np.tile(shape[0], (30, 1)), rtol=5e-6)
    assert len({tuple(row) for row in shape.round(9).tolist()}) > 5, "half of them in the sixth digit only"
    assert len(set(alike.weights)) == 1
    most = np.min([alike.capacities[:, None, r] / demands[None, :, r] for r in (0, 1)], axis=0)
    need = (most * demands[None, :, 2]).max(axis=1)
    assert np.all(alike.capacities[:, 2] >= 1.999 * need), "the last resource is never scarce"


def test_machines_of_table_1_are_all_there_or_a_sample():
    whole, some = generators.google_mix(50), generators.google_mix(50, 100)
    assert (whole.counts.sum(), some.counts.sum()) == (12_583, 100)
    assert whole.capacities.max() == 1
    demands = np.concatenate(generators.google_mix(3000, 100).demands)
    logs = np.log(demands[np.all((demands > 1e-4) & (demands < 0.5), axis=1)])
    assert np.median(demands, axis=0) == pytest.approx([0.0375, 0.0186], rel=0.1)
    assert np.corrcoef(logs.T)[0, 1] == pytest.approx(0.58, abs=0.12)
    assert 1e-4 <= demands.min() < demands.max() <= 0.5
