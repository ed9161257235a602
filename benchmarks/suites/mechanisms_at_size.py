"""The suite `mechanisms-at-size`: mechanisms beyond the papers' beside those that they extend, on the same large instance.

Alpha-fair with alpha = .5, 2 and 5, by tasks and by dominant shares, beside nb: 1,000 users, 200 servers, 4 resources
"""

from collections.abc import Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

ALPHAS = (0.5, 2.0, 5.0)


def _alpha_fair() -> Iterator[SuiteCase]:
    made = partial(generators.generic, 1000, 200, 4, 1)
    yield SuiteCase("generic-1000x200x4/nb", "nb", made, family="alpha-fair")
    for alpha in ALPHAS:
        for share in ("tasks", "dominant-share"):
            given = {"alpha": alpha, "share": share}
            yield SuiteCase(f"generic-1000x200x4/alpha-fair-{alpha:g}-{share}", "alpha-fair", made, given, family="alpha-fair")


SUITE = Suite(
    id="mechanisms-at-size",
    title="mechanisms beyond the papers' beside those that they extend, on large instances",
    cases=tuple(_alpha_fair()),
    methods=("interior-point",),
    repeats=1,
    time_limit=120.0,
)
