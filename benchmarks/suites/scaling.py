"""The suite `scaling`: families at growing sizes, for the exponents of growth."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models import generators

SIZES = ((20, 5, 2), (100, 20, 4), (300, 50, 4), (1000, 200, 4))
FAMILIES = (generators.generic, generators.tied, generators.zero_demand, generators.badly_scaled, generators.racks)

SUITE = Suite(
    id="scaling",
    title="drfh, nb and ps-dsf, five families from 10^2 to 2 10^5 arcs",
    cases=tuple(
        SuiteCase(f"{family.__name__}-{'x'.join(map(str, size))}/{mechanism}", mechanism, partial(family, *size, seed))
        for mechanism in ("drfh", "nb", "ps-dsf")
        for family in FAMILIES
        for seed, size in enumerate(SIZES)
    ),
    accuracies=("low", "mid", "high"),
)
