"""The suite `random`: generated instances from 10^2 to 10^6 arcs, for how times grow with size."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SIZES = ((20, 5, 2), (50, 20, 3), (200, 50, 4), (1000, 100, 4), (4000, 250, 4))
FAMILIES = (generators.generic, generators.placement)
MECHANISMS = ("drfh", "nb", "alpha-pf-vds")
"""alpha-pf-vds at its default alpha; what does not end within its time limit says so."""

SUITE = Suite(
    id="random",
    title="drfh, nb and alpha-pf-vds from 10^2 to 10^6 arcs",
    cases=tuple(
        SuiteCase(f"{family.__name__}-{'x'.join(map(str, size))}/{mechanism}", mechanism, partial(family, *size, seed))
        for seed, size in enumerate(SIZES)
        for family in FAMILIES
        for mechanism in MECHANISMS
    ),
    accuracies=("low", "mid", "high"),
)
