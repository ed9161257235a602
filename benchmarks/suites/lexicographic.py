"""The suite `lexicographic`: sequences of rounds at size, one model kept alive against the plain round-by-round sequence."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SUITE = Suite(
    id="lexicographic",
    title="lexicographic max-min fairness: hot start, cold start, and Z's rounds as one would write them in CVXPY",
    cases=(
        SuiteCase("tsf-racks-300x50x3", "tsf", partial(generators.racks, 300, 50, 3, 1)),
        SuiteCase("tsf-placement-300x50x3", "tsf", partial(generators.placement, 300, 50, 3, 1)),
        SuiteCase("lmmf-racks-1000x100x3", "lmmf", partial(generators.racks, 1000, 100, 3, 1)),
        SuiteCase("lmmf-racks-variants-1000x100x3", "lmmf", partial(generators.racks, 1000, 100, 3, 1, several=True)),
    ),
    methods=("highs:leximin", "highs", "cvxpy:highs", "cvxpy:rounds", "cvxpy:clarabel"),
)
