"""Wide-area networks for the family `network` of generators.py: a graph in the unit square, and the paths of flows through it.

The graphs have the degrees of the Internet Topology Zoo (S. Knight et al., IEEE JSAC 29, 2011). The nodes are joined by the
shortest tree, as fibre is laid, and by further links with the probability exp(-distance / (0.15 sqrt 2)) of B. M. Waxman (IEEE
JSAC 6, 1988).
"""

from bisect import insort
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fairalloc.models.numbers import Floats

DEGREE = 2.4
"""Links at a node in the mean; counted in 261 files of the Zoo 2.44."""

NEAR = 0.15 * np.sqrt(2.0)
"""Over this distance the probability of a further link falls to 1 / e."""


Path: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """Links (L,) with both directions of each edge, sorted by where they start and end.

    start, end, length : (L,)
    edge : (L,) which edge a link is one direction of
    nodes : how many there are
    """

    start: NDArray[np.intp]
    end: NDArray[np.intp]
    length: Floats
    edge: NDArray[np.intp]
    nodes: int

    @classmethod
    def drawn(cls, edges: int, rng: np.random.Generator) -> "Graph":
        """A connected graph of so many edges."""
        nodes = nodes_of(edges)
        place = rng.random((nodes, 2))
        pairs = _tree(place)
        while len(pairs) < edges:
            pair = np.sort(rng.choice(nodes, 2, replace=False))
            if rng.random() < np.exp(-np.hypot(*(place[pair[0]] - place[pair[1]])) / NEAR):
                pairs.add((int(pair[0]), int(pair[1])))
        ends = np.array(sorted(pairs))
        start, end = np.concatenate((ends, ends[:, ::-1])).T
        order = np.lexsort((end, start))
        edge = np.tile(np.arange(edges), 2)[order]
        start, end = start[order], end[order]
        return cls(start, end, np.hypot(*(place[start] - place[end]).T), edge, nodes)

    def paths(self, source: NDArray[np.intp], target: NDArray[np.intp], most: int) -> tuple[sp.csr_array, NDArray[np.intp]]:
        """The `most` shortest simple paths of each flow, fewer where there are fewer, and the shortest one first.

        Returns
        -------
        (M x L) sparse 0/1, which links a path uses; the flow of each row, in rising order
        """
        from scipy.sparse.csgraph import dijkstra

        first = np.searchsorted(self.start, np.arange(self.nodes + 1))
        lengths = sp.csr_array((self.length, self.end, first), shape=(self.nodes, self.nodes))
        found: list[list[Path]] = [[]] * len(source)
        for t in np.unique(target):
            to_go = dijkstra(lengths, indices=t).tolist()  # lengths are the same in both directions
            for n in np.flatnonzero(target == t):
                found[n] = ShortestPaths(self.links, to_go, int(source[n]), int(t)).shortest(most)
        paths = [path for some in found for path in some]
        node = np.fromiter(chain.from_iterable(paths), dtype=np.intp)
        after = np.cumsum([len(path) for path in paths])  # where each path ends
        step = np.delete(node[:-1] * self.nodes + node[1:], after[:-1] - 1)
        link = np.searchsorted(self.start * self.nodes + self.end, step)
        ends = np.append(0, after - np.arange(1, len(paths) + 1))
        matrix = sp.csr_array((np.ones(len(link)), link, ends), shape=(len(paths), len(self.start)))
        return matrix, np.repeat(np.arange(len(source)), list(map(len, found)))

    @cached_property
    def links(self) -> list[list[tuple[int, float]]]:
        """Of each node, where its links end and how long they are."""
        result: list[list[tuple[int, float]]] = [[] for _ in range(self.nodes)]
        for start, end, length in zip(self.start.tolist(), self.end.tolist(), self.length.tolist(), strict=True):
            result[start].append((end, length))
        return result


@dataclass(frozen=True)
class ShortestPaths:
    """For the shortest simple paths between two nodes, by Yen's partition (Management Science 17, 1971) and A*.

    links : as of a graph
    to_go : of each node, the length of the shortest path from there to the target
    """

    links: list[list[tuple[int, float]]]
    to_go: list[float]
    source: int
    target: int

    def shortest(self, most: int) -> list[Path]:
        """The paths, the shortest first: each one that is found splits the others by the node where they leave it."""
        found: list[Path] = []
        # in rising order: length, path, how many nodes its part begins with, their length, and where these may not go on to
        waiting = [(*self._completed((self.source,), 0.0, frozenset(), np.inf), 1, 0.0, frozenset[int]())]
        while waiting and len(found) < most:
            _, path, begin, length, closed = waiting.pop(0)
            found.append(path)
            left = most - len(found)
            for k in range(begin, len(path)) if left else ():
                closed, longest = closed | {path[k]}, waiting[left - 1][0] if left <= len(waiting) else np.inf
                total, other = self._completed(path[:k], length, closed, longest)
                if other:
                    insort(waiting, (total, other, k, length, closed))
                length, closed = length + dict(self.links[path[k - 1]])[path[k]], frozenset()
        return found

    def _completed(self, begin: Path, length: float, closed: frozenset[int], most: float) -> tuple[float, Path]:
        """The shortest path that begins so and does not go on to closed nodes, and its length; () where none is as short."""
        before = dict.fromkeys(begin[:-1], -1)  # of each node that is done, the one before it
        last, waiting = begin[-1], [(length, length, begin[-1], -1)]
        while waiting:
            total, length, here, one_before = heappop(waiting)
            if total > most:
                break
            if here in before:
                continue
            before[here] = one_before
            if here == self.target:
                way = [here]
                while before[way[-1]] != last:
                    way.append(before[way[-1]])
                return total, begin + tuple(way[::-1])
            for end, far in self.links[here]:
                if end not in before and not (here == last and end in closed):
                    heappush(waiting, (length + far + self.to_go[end], length + far, end, here))
        return np.inf, ()


def nodes_of(edges: int) -> int:
    """How many nodes a graph of so many edges has; three join 3 edges at most."""
    return max(min(edges, 4), round(2 * edges / DEGREE))


def _tree(place: Floats) -> set[tuple[int, int]]:
    """The edges of the shortest tree of points in the plane."""
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial import Delaunay

    sides = Delaunay(place).simplices[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    near = np.unique(np.sort(sides, axis=1), axis=0)
    length = np.hypot(*(place[near[:, 0]] - place[near[:, 1]]).T)
    tree = minimum_spanning_tree(sp.csr_array((length, near.T), shape=(len(place), len(place)))).tocoo()
    return set(zip(*np.sort([tree.row, tree.col], axis=0).tolist(), strict=True))
