"""The suite `wan`: flows through wide-area networks, as in traffic engineering.

    sizes: 1,000 flows x 200 links; 10,000 x 1,000; 100,000 x 10,000, and smaller ones; up to 4 shortest paths a flow
    mechanisms: mmf, nb, lmmf

Demands are limits and weights (`generators.network`): mmf is the largest concurrent flow. In the cases "equal" weights are 1, and
demands that are met at other rates are levels of their own.
"""

from collections.abc import Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SIZES = ((20, 30), (100, 60), (300, 100), (1000, 200), (3000, 400), (10_000, 1000), (100_000, 10_000))
"""Flows and links."""

ROUNDS = {"network": (5, 10, 13, 21, 55), "network-equal": (4, 7, 13, 22, 53)}
"""How many rounds `lmmf` has on the first of the sizes, where users at their limits take none."""

CASES = (("mmf", False), ("nb", False), ("lmmf", False), ("lmmf", True))
"""Mechanisms, and whether flows are equal."""


def _cases() -> Iterator[SuiteCase]:
    for mechanism, equal in CASES:
        family, after = "network-equal" if equal else "network", ""
        for flows, links in SIZES:
            name = f"{family}-{flows}x{links}/{mechanism}"
            build = partial(generators.network, flows, links, seed=1, equal=equal)
            yield SuiteCase(name, mechanism, build, after=after, family=family)
            after = name


SUITE = Suite(
    id="wan",
    title="flows through wide-area networks to 10^5 flows on 10^4 links",
    cases=tuple(_cases()),
    time_limit=60.0,
    repeats=1,
)
