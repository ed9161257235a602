"""The suite `njc`: the four methods for no justified complaints, from 10 to 300 users."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SIZES = ((10, 1, 3), (30, 1, 5), (100, 1, 10), (300, 1, 20))

SUITE = Suite(
    id="njc",
    title="no justified complaints: bottleneck enumeration, MILP, market and trajectory",
    cases=tuple(
        SuiteCase(f"{'x'.join(map(str, size))}-{seed}", "njc", partial(generators.njc, *size, seed))
        for size in SIZES
        for seed in range(3)
    ),
)
