"""The suite `degenerate`: from generic (severity 0) to ties, parallel demands, redundant resources and far units (100)."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models import generators

SEVERITIES = (0, 25, 50, 75, 100)
SEEDS = (0, 1)
SIZE = (20, 6, 3)
MECHANISMS = ("drfh", "lmmf", "nb", "ps-dsf")

SUITE = Suite(
    id="degenerate",
    title=f"{'x'.join(map(str, SIZE))} with severities of degeneracy from 0 to 100",
    cases=tuple(
        SuiteCase(f"severity={s:03}-{seed}/{mechanism}", mechanism, partial(generators.degenerate, *SIZE, seed, severity=s))
        for s in SEVERITIES
        for seed in SEEDS
        for mechanism in MECHANISMS
    ),
    accuracies=("low", "mid", "high"),
)
