"""The suite `layers`: what a modelling layer costs before the solver starts, on dense DRFH."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SUITE = Suite(
    id="layers",
    title="the same program written directly, in CVXPY and in Pyomo",
    cases=tuple(
        SuiteCase(f"drfh-{'x'.join(map(str, size))}", "drfh", partial(generators.generic, *size, seed=0))
        for size in ((100, 10, 2), (300, 100, 4))
    ),
    methods=("highs", "cvxpy:highs", "pyomo:highs"),
)
