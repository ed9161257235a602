"""The suite `degenerate`: from generic (severity 0) to ties, parallel demands, redundant resources and far units (100);
and weights or demands up to 12 decades apart.
"""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SEVERITIES = (0, 25, 50, 75, 100)
SEEDS = (0, 1)
SIZE = (20, 6, 3)
DECADES = (6, 12)
FAR = (6, 2, 2)
MECHANISMS = ("drfh", "lmmf", "nb", "ps-dsf")

SUITE = Suite(
    id="degenerate",
    title=f"{'x'.join(map(str, SIZE))} with severities of degeneracy from 0 to 100; weights and demands far apart",
    cases=tuple(
        SuiteCase(f"severity={s:03}-{seed}/{mechanism}", mechanism, partial(generators.degenerate, *SIZE, seed, severity=s))
        for s in SEVERITIES
        for seed in SEEDS
        for mechanism in MECHANISMS
    )
    + tuple(
        SuiteCase(f"{family}={decades:02}-{seed}/{mechanism}", mechanism, partial(build, *FAR, seed, decades=decades))
        for family, build in (("weights", generators.weights), ("demands", generators.demands))
        for decades in DECADES
        for seed in SEEDS
        for mechanism in MECHANISMS
    ),
    accuracies=("low", "mid", "high"),
)
