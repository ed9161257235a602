"""The suite `scaling`: every method on growing instances of nine families, for what it costs and how that grows.

Sizes are 10^2, 10^3, 10^4, 10^5 and 10^6 arcs for all methods; of drfh and nb also 3 x 10^4, and 10^7 for those of this package.
`fairalloc bench report results/scaling.sqlite --format markdown` has the growth of every method in every family.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase, is_ours
from fairalloc.models import Instance
from fairalloc.models.examples import generators
from fairalloc.solvers import METHODS

Sizes: TypeAlias = tuple[tuple[int, int, int], ...]

ARCS = ("10^2", "10^3", "10^4", "3 x 10^4", "10^5", "10^6", "10^7")
"""About how many arcs the sizes of each family have, in their order; racks end at 10^6."""

DENSE: Sizes = ((20, 5, 2), (50, 20, 3), (200, 50, 4), (400, 75, 4), (500, 200, 4), (2000, 500, 4), (10_000, 1000, 4))
ZEROS: Sizes = (*DENSE[:3], (560, 90, 4), *DENSE[4:])
THIRD: Sizes = ((30, 10, 2), (100, 30, 3), (300, 100, 4), (550, 165, 4), (1000, 300, 4), (5000, 600, 4), (30_000, 1000, 4))
RACKS: Sizes = ((20, 8, 2), (120, 40, 3), (700, 100, 4), (2000, 130, 4), (4000, 200, 4), (30_000, 300, 4))
SPARSE: Sizes = (
    (100, 100, 2),
    (500, 200, 3),
    (2000, 500, 4),
    (4500, 700, 4),
    (10_000, 1000, 4),
    (50_000, 2000, 4),
    (200_000, 5000, 4),
)
GOOGLE: Sizes = tuple((users, 12_583, 2) for users in (10, 100, 1000, 3000, 10_000, 100_000, 1_000_000))

FAMILIES: Mapping[Callable[..., Instance], Sizes] = {
    generators.generic: DENSE,
    generators.heavy_tailed: THIRD,
    generators.tied: DENSE,
    generators.zero_demand: ZEROS,
    generators.badly_scaled: DENSE,
    generators.racks: RACKS,
    generators.google_mix: GOOGLE,
    generators.sparse: SPARSE,
    generators.identical: DENSE,
}
"""For each family its sizes: users, servers and resources."""

MECHANISMS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    *((name, {}) for name in ("drfh", "nb", "ps-dsf")),
    *(("alpha-pf-vds", {"alpha": alpha}) for alpha in (0.5, 1.0, 3.0, 20.0, "inf")),
)

OURS = tuple(filter(is_ours, METHODS))


def _cases() -> Iterator[SuiteCase]:
    for mechanism, parameters in MECHANISMS:
        label = " ".join([mechanism, *(f"{name}={value}" for name, value in parameters.items())])
        for family, sizes in FAMILIES.items():
            after = ""
            for arcs, size in zip(ARCS, sizes, strict=False):
                if arcs in ("3 x 10^4", "10^7") and mechanism not in ("drfh", "nb"):  # the others have fewer sizes
                    continue
                name = f"{family.__name__}-{'x'.join(map(str, size))}/{label}"
                methods = OURS if arcs == "10^7" else ()
                build = partial(family, *size, 1)
                yield SuiteCase(name, mechanism, build, parameters, methods=methods, after=after, family=family.__name__)
                after = name


SUITE = Suite(
    id="scaling",
    title="nine families from 10^2 to 10^7 arcs, all methods and the solvers that others would pick",
    cases=tuple(_cases()),
    time_limit=20.0,
    repeats=1,
)
