"""The suite `approximations`: what Soroush's binner, POP and proportional response lose, beside the exact methods.

    instances: networks of 300 flows and 60 links with equal weights; markets of 200 buyers who want a fifth of 50 goods

Each approximation is asked with several values of its option, as a method of its own: `pop:16` has 16 parts.
"""

from collections.abc import Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators
from fairalloc.solvers.approximate import geometric_binner, pop, proportional_response
from fairalloc.solvers.method import Method


def _with(method: Method, option: str, values: tuple[float, ...]) -> Iterator[Method]:
    for value in values:
        item = method.configure({option: value})
        item.id = f"{method.id}:{value:g}"
        yield item


_BINS = (*_with(geometric_binner.methods[0], "base", (1.2, 2.0, 4.0)),)
_PARTS = (*_with(pop.methods[0], "parts", (2, 4, 16)),)
_ROUNDS = (*_with(proportional_response.methods[0], "max_iterations", (100, 1000)),)
_OF_LEVELS = ("highs:leximin", *(method.id for method in (*_BINS, *_PARTS)))


def _cases() -> Iterator[SuiteCase]:
    for seed in range(1, 4):
        network = partial(generators.network, 300, 60, seed=seed, equal=True)
        yield SuiteCase(f"network-300x60-{seed}/lmmf", "lmmf", network, methods=_OF_LEVELS)
        yield SuiteCase(f"network-300x60-{seed}/nb", "nb", network)
        yield SuiteCase(f"market-200x50-{seed}/nb", "nb", partial(generators.market, 200, 50, 0.2, seed))


SUITE = Suite(
    id="approximations",
    title="time against loss of approximations, on networks and markets",
    cases=tuple(_cases()),
    methods=("highs:leximin", "interior-point", "cvxpy:clarabel", *_BINS, *_PARTS, *_ROUNDS),
    repeats=1,
)
