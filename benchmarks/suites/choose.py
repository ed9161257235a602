"""The suite `choose`: what the default order of methods is made from (solvers/choice.py), in about half an hour on two cores.

Every mechanism on instances of several kinds and sizes, by every method that may be asked without being named. The kinds are what
the order can tell apart: dense, with zero demands, with placement, in racks, where a few users may use all servers, and with few
servers.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models import Instance, generators
from fairalloc.solvers import METHODS

Families: TypeAlias = tuple[Callable[..., Instance], ...]
Sizes: TypeAlias = tuple[tuple[int, ...], ...]

SIZES: Sizes = ((10, 4, 2), (50, 20, 3), (200, 50, 4))
LARGE = (300, 100, 4)
LARGER = (1000, 150, 4)
"""Of racks, whose arcs are fewer."""

FEW: Sizes = ((300, 12_583, 2), (3000, 12_583, 2))
"""The machines of W Table 1 are ten rows of servers."""

FAMILIES = (generators.generic, generators.zero_demand, generators.placement, generators.racks)
ALPHAS = (1.0, 3.0, "inf")
GAMES = ("ps-dsf", "ps-dsf-tdm")
MANY = ("asset", "drf-per-server", "drfh", "drfh-lp", "lmmf", "mmf", "nb", "tsf", "uniform", "utilitarian", *GAMES)
POOLED = ("drf",)
"""Without placement."""

ASKED = tuple(key for key, method in METHODS.items() if not method.peer)

EXACTLY = ("njc-market", "njc-milp")
"""Of njc, which many allocations satisfy, in rationals: the others find some answer, or one by approximation."""


def _cases() -> Iterator[SuiteCase]:
    for mechanism in MANY:
        yield from _of(mechanism, FAMILIES)
        yield from _of(mechanism, (generators.google_mix,), FEW)
    for mechanism in POOLED:
        yield from _of(mechanism, FAMILIES[:2])
    for alpha in ALPHAS:
        yield from _of("alpha-pf-vds", FAMILIES, alpha=alpha)
        yield from _of("alpha-pf-vds", (generators.google_mix,), FEW, alpha=alpha)
        if alpha != "inf":
            yield from _of("fds", FAMILIES, alpha=alpha)
    yield from _of("njc", (generators.njc,), sizes=((6, 1, 2), (20, 1, 4), (60, 1, 6)), methods=EXACTLY)


def _of(
    mechanism: str, families: Families, sizes: Sizes = SIZES, methods: tuple[str, ...] = ASKED, **parameters: object
) -> Iterator[SuiteCase]:
    for family in families:
        after = ""
        for size in (*sizes, *((LARGE,) if sizes == SIZES else ()), *((LARGER,) if family is generators.racks else ())):
            label = " ".join([mechanism, *(f"{name}={value}" for name, value in parameters.items())])
            name = f"{family.__name__}-{'x'.join(map(str, size))}/{label}"
            yield SuiteCase(name, mechanism, partial(family, *size, 1), parameters, methods=methods, after=after)
            after = name


SUITE = Suite(
    id="choose",
    title="what the default order of methods is made from",
    cases=tuple(_cases()),
    accuracies=("high",),
    time_limit=2.0,
    repeats=1,
)
