"""The suite `game`: every method for the game at every alpha, small instances of six families (docs/GAME-METHODS.md)."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

FAMILIES = ("generic", "tied", "zero_demand", "placement", "racks", "badly_scaled")
ALPHAS = (0.5, 1, 2, 3, 5, 10, 50, "inf")
MIXED = [1, 3, "inf"]
SIZE = (8, 3, 2)


def _case(alpha: object, family: str) -> SuiteCase:
    build = partial(getattr(generators, family), *SIZE, 1)
    return SuiteCase(f"alpha={alpha}-{family}", "alpha-pf-vds", build, {"alpha": alpha})


SUITE = Suite(
    id="game",
    title="alphaPF-VDS and PS-DSF: central path, Newton methods, merit problems and the papers' own algorithms",
    cases=tuple(_case(alpha, family) for alpha in (*ALPHAS, MIXED) for family in FAMILIES),
)
