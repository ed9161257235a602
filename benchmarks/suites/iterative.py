"""The suite `iterative`: the papers' own algorithms beside Newton methods, with traces: residual against time (K Fig. 6).

Every algorithm that keeps a trace is on the same games, also where it does not end within its limit.
"""

from collections.abc import Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SIZES = ((8, 3, 2), (20, 5, 3))
ALPHAS = (1, 3, "inf")


def _cases() -> Iterator[SuiteCase]:
    for family in (generators.generic, generators.tied):
        for size in SIZES:
            name, build = f"{family.__name__}-{'x'.join(map(str, size))}", partial(family, *size, 1)
            for alpha in ALPHAS:
                yield SuiteCase(f"{name}/alpha={alpha}", "alpha-pf-vds", build, {"alpha": alpha})
            yield SuiteCase(f"{name}/nb", "nb", build)
    yield SuiteCase("njc-30x1x5/njc", "njc", partial(generators.njc, 30, 1, 5, 1))


SUITE = Suite(
    id="iterative",
    title="iterative algorithms with their traces, on the game and on Nash bargaining",
    cases=tuple(_cases()),
    methods=(
        *("ps-mfa", "psdsf-algorithm-1", "psdsf-distributed", "vds-distributed"),
        *("best-response", "continuation", "semismooth-newton", "josephy-newton", "pdhg", "njc-ode"),
    ),
    trace=True,
    accuracies=("low", "mid", "high"),
)
