"""The suite `approximations`: what Soroush's binner, POP and proportional response lose, beside the exact methods.

Networks are one server whose resources are links, flows are users whose variants are paths, with exponential limits. Each
approximation is asked with several values of its option, as a method of its own: `pop:16` has 16 parts.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.instance import Instance
from fairalloc.solvers.approximate import geometric_binner, pop, proportional_response
from fairalloc.solvers.method import Method


def _random_paths(flows: int, links: int, paths: int, seed: int) -> Instance:
    """Paths of two to six random links."""
    rng = np.random.default_rng(seed)
    drawn = ((rng.choice(links, rng.integers(2, 7), replace=False) for _ in range(paths)) for _ in range(flows))
    return _network(rng, [_ways(links, found) for found in drawn])


def _grid(flows: int, side: int, paths: int, seed: int) -> Instance:
    """A grid of side x side nodes, two random nodes a flow, random shortest paths."""
    rng = np.random.default_rng(seed)
    links = 2 * side * (side - 1)
    demands = []
    for _ in range(flows):
        start, end = (np.array(divmod(int(node), side)) for node in rng.choice(side**2, 2, replace=False))
        demands.append(_ways(links, (_walk(rng, side, start, end) for _ in range(paths))))
    return _network(rng, demands)


def _ways(links: int, paths: Iterable[NDArray[np.intp]]) -> NDArray[np.float64]:
    """(paths, links) which links a path uses; equal paths are one."""
    found = list(paths)
    used = np.zeros((len(found), links))
    for row, path in zip(used, found, strict=True):
        row[path] = 1.0
    return np.unique(used, axis=0)


def _walk(rng: np.random.Generator, side: int, start: NDArray[np.intp], end: NDArray[np.intp]) -> NDArray[np.intp]:
    """The links of a random shortest path: first those along rows of the grid are numbered, then those along columns."""
    steps, here = np.repeat([0, 1], np.abs(end - start)), start.copy()
    found: list[int] = []
    for axis in rng.permutation(steps).tolist():
        ahead = int(np.sign(end[axis] - here[axis]))
        low = min(here[axis], here[axis] + ahead)
        found.append(int(side * (side - 1) * axis + low * side + here[1 - axis]))
        here[axis] += ahead
    return np.array(found)


def _network(rng: np.random.Generator, demands: list[NDArray[np.float64]]) -> Instance:
    links = demands[0].shape[1]
    return Instance(demands, [rng.uniform(5.0, 15.0, links)], max_tasks=rng.exponential(4.0, len(demands)) + 0.01)


def _market(buyers: int, goods: int, seed: int) -> Instance:
    """A Fisher market in which a buyer wants about a fifth of the goods."""
    rng = np.random.default_rng(seed)
    wanted = rng.random((buyers, goods)) < 0.2
    wanted[np.arange(buyers), rng.integers(goods, size=buyers)] = True
    on: dict[tuple[int | str, int | str], Any] = {(int(n), int(i)): [1.0 / rng.uniform(0.1, 1.0)] for n, i in np.argwhere(wanted)}
    return Instance(
        np.ones((buyers, 1)), np.ones((goods, 1)), weights=rng.uniform(0.5, 2.0, buyers), eligible=wanted, demands_on=on
    )


def _with(method: Method, option: str, values: tuple[float, ...]) -> Iterator[Method]:
    for value in values:
        item = method.configure({option: value})
        item.id = f"{method.id}:{value:g}"
        yield item


_BINS = (*_with(geometric_binner.methods[0], "base", (1.2, 2.0, 4.0)),)
_PARTS = (*_with(pop.methods[0], "parts", (2, 4, 16)),)
_ROUNDS = (*_with(proportional_response.methods[0], "iterations", (100, 1000)),)
_OF_LEVELS = ("highs:leximin", *(method.id for method in (*_BINS, *_PARTS)))


def _cases() -> Iterator[SuiteCase]:
    for seed in range(1, 4):
        for name, build in (
            (f"paths-300x60x4-{seed}", partial(_random_paths, 300, 60, 4, seed)),
            (f"grid-300x60x4-{seed}", partial(_grid, 300, 6, 4, seed)),
        ):
            yield SuiteCase(f"{name}/lmmf", "lmmf", build, methods=_OF_LEVELS)
            yield SuiteCase(f"{name}/nb", "nb", build)
        yield SuiteCase(f"market-200x50-{seed}/nb", "nb", partial(_market, 200, 50, seed))


SUITE = Suite(
    id="approximations",
    title="time against loss of approximations, on networks and markets",
    cases=tuple(_cases()),
    methods=("highs:leximin", "interior-point", "cvxpy:clarabel", *_BINS, *_PARTS, *_ROUNDS),
    repeats=1,
)
