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

BUILDS = {f"severity={s:03}-{k}": partial(generators.degenerate, *SIZE, k, severity=s) for s in SEVERITIES for k in SEEDS}
for family, build in (("weights", generators.weights), ("demands", generators.demands)):
    BUILDS |= {f"{family}={d:02}-{k}": partial(build, *FAR, k, decades=d) for d in DECADES for k in SEEDS}

SUITE = Suite(
    id="degenerate",
    title=f"{'x'.join(map(str, SIZE))} with severities of degeneracy from 0 to 100; weights and demands far apart",
    cases=tuple(SuiteCase(f"{name}/{mechanism}", mechanism, build) for name, build in BUILDS.items() for mechanism in MECHANISMS),
    accuracies=("low", "mid", "high"),
)
