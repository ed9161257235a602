"""The suite `scaling`: every method on growing instances of nine families, for what it costs and how that grows.

    families: generic, heavy_tailed, tied, zero_demand, badly_scaled, racks, google_mix, sparse (1 %), identical
    mechanisms: drfh, nb, ps-dsf, alpha-pf-vds with alpha 0.5, 1, 3, 20 and inf
    sizes: 10^2, 10^3, 10^4, 10^5 and 10^6 arcs for all methods; 10^7 of drfh and nb for those of this package

A method that ran out of time or memory on a size of a family is not asked on the larger ones; its row says so.
`fairalloc bench report results/scaling.sqlite --format markdown` has the growth of every method in every family.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase, is_ours
from fairalloc.models import Instance, generators
from fairalloc.solvers import METHODS

Size: TypeAlias = tuple[int, int, int]

DENSE: tuple[Size, ...] = ((20, 5, 2), (50, 20, 3), (200, 50, 4), (500, 200, 4), (2000, 500, 4), (10_000, 1000, 4))
GOOGLE: tuple[Size, ...] = tuple((10**k, 12_583, 2) for k in range(1, 7))

FAMILIES: Mapping[Callable[..., Instance], tuple[Size, ...]] = {
    generators.generic: DENSE,
    generators.heavy_tailed: ((30, 10, 2), (100, 30, 3), (300, 100, 4), (1000, 300, 4), (5000, 600, 4), (30_000, 1000, 4)),
    generators.tied: DENSE,
    generators.zero_demand: DENSE,
    generators.badly_scaled: DENSE,
    generators.racks: ((20, 8, 2), (120, 40, 3), (700, 100, 4), (4000, 200, 4), (30_000, 300, 4)),
    generators.google_mix: GOOGLE,
    generators.sparse: ((100, 100, 2), (500, 200, 3), (2000, 500, 4), (10_000, 1000, 4), (50_000, 2000, 4), (200_000, 5000, 4)),
    generators.identical: DENSE,
}
"""For each family its sizes, from about 10^2 arcs to 10^6 or 10^7."""

LARGEST = 5, ("drfh", "nb")
"""How many sizes are for all methods and mechanisms, and the mechanisms for which there is one more."""

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
            for k, size in enumerate(sizes[: None if mechanism in LARGEST[1] else LARGEST[0]]):
                name = f"{family.__name__}-{'x'.join(map(str, size))}/{label}"
                methods = OURS if k == LARGEST[0] else ()
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
