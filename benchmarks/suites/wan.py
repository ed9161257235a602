"""The suite `wan`: flows through wide-area networks, as in traffic engineering.

    sizes: 1,000 flows x 200 links; 10,000 x 1,000; 100,000 x 10,000, and smaller ones; up to 4 shortest paths a flow
    mechanisms: mmf, nb, lmmf

Generator and seed are fixed: `generators.network` has graphs with the degrees of the Internet Topology Zoo, links of 10, 40 and
100 Gb/s and demands of the gravity model, which are limits and weights: mmf is the largest concurrent flow. In the cases "equal"
weights are 1, and demands that are met at other rates are levels of their own. A method that ran out of time or memory on a
network is not asked on the larger ones.
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
