"""The suite `game-size`: the game at size, the central path against Ipopt on the merit problem."""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators

SIZES = ((20, 5, 3), (50, 10, 4), (100, 20, 4), (500, 50, 4))


def _case(family: str, size: tuple[int, int, int], alpha: object) -> SuiteCase:
    name = f"{family}-{'x'.join(map(str, size))}-alpha={alpha}"
    return SuiteCase(name, "alpha-pf-vds", partial(getattr(generators, family), *size, 0), {"alpha": alpha})


SUITE = Suite(
    id="game-size",
    title="alphaPF-VDS at alpha = 3 and infinity from 20 x 5 x 3 to 500 x 50 x 4",
    cases=tuple(_case(family, size, alpha) for size in SIZES for family in ("generic", "zero_demand") for alpha in (3, "inf")),
    methods=("continuation", "semismooth-newton", "pyomo:ipopt", "best-response"),
)
