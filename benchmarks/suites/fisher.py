"""The suite `fisher`: Fisher markets by the distribution of cuPDCS (arXiv 2505.00311), and smaller ones.

    published sizes: 100 buyers x 5,000 goods; 10,000 x 400; 100,000 x 1,000 where a buyer wants a fifth of the goods
    mechanism: nb, whose answer is the equilibrium (Eisenberg and Gale)

The published tolerance of cuPDCS is 1e-6, "mid"; "high" asks for 1e-8. The largest market needs more than the default limits:
`fairalloc bench run fisher --time-limit 1h --memory 12288`.
"""

from collections.abc import Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SIZES = ((20, 50, 1.0), (100, 200, 1.0), (100, 1000, 1.0), (100, 5000, 1.0), (10_000, 400, 1.0), (100_000, 1000, 0.2))
"""Buyers, goods, and the part of the goods that a buyer wants."""


def _cases() -> Iterator[SuiteCase]:
    after = ""
    for buyers, goods, density in SIZES:
        name = f"market-{buyers}x{goods}" + ("" if density == 1 else f"-{density:g}")
        yield SuiteCase(name, "nb", partial(generators.market, buyers, goods, density, 1), after=after, family="market")
        after = name


SUITE = Suite(
    id="fisher",
    title="Fisher markets to 2 x 10^7 arcs, the published sizes of cuPDCS among them",
    cases=tuple(_cases()),
    accuracies=("mid", "high"),
    time_limit=60.0,
    repeats=1,
)
