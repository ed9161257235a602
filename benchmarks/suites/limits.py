"""The suite `limits`: instances on which a call once ran far beyond its time limit; the seconds of the whole call count.

Run it with limits of 5, 20 and 60 seconds: a record's `call` must be at most 1.2 times the limit and a second.
"""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SUITE = Suite(
    id="limits",
    title="large instances under time limits: the whole call ends within 1.2 times the limit and a second",
    cases=(
        SuiteCase("google-20000/drfh", "drfh", partial(generators.google_mix, 20_000)),
        SuiteCase("google-20000/nb", "nb", partial(generators.google_mix, 20_000)),
        SuiteCase("generic-1000x200x4/nb", "nb", partial(generators.generic, 1000, 200, 4)),
        SuiteCase("generic-2000x500x4/drfh", "drfh", partial(generators.generic, 2000, 500, 4)),
        SuiteCase("generic-500x50x4/ps-dsf", "ps-dsf", partial(generators.generic, 500, 50, 4)),
    ),
    methods=("highs:leximin", "highs", "interior-point", "cvxpy:clarabel", "pyomo:ipopt", "continuation"),
)
