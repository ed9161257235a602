"""The suite `scaling`: every method on growing instances of nine families, for what it costs and how that grows.

    families: generic, heavy_tailed, tied, zero_demand, badly_scaled, racks, google_mix, sparse (1 %), identical
    mechanisms: drfh, nb, ps-dsf, alpha-pf-vds with alpha 0.5, 1, 3, 20 and inf
    sizes: 10^2, 10^3, 10^4, 10^5 and 10^6 arcs for all methods; of drfh and nb also 3 x 10^4, and 10^7 for those of this package

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

DENSE: tuple[Size, ...] = ((20, 5, 2), (50, 20, 3), (200, 50, 4), (400, 75, 4), (500, 200, 4), (2000, 500, 4), (10_000, 1000, 4))
MASKED: tuple[Size, ...] = (
    (30, 10, 2),
    (100, 30, 3),
    (300, 100, 4),
    (550, 165, 4),
    (1000, 300, 4),
    (5000, 600, 4),
    (30_000, 1000, 4),
)
ZEROS: tuple[Size, ...] = (*DENSE[:3], (560, 90, 4), *DENSE[4:])
RACKS: tuple[Size, ...] = ((20, 8, 2), (120, 40, 3), (700, 100, 4), (2000, 130, 4), (4000, 200, 4), (30_000, 300, 4))
FEW: tuple[Size, ...] = (
    *((100, 100, 2), (500, 200, 3), (2000, 500, 4), (4500, 700, 4)),
    *((10_000, 1000, 4), (50_000, 2000, 4), (200_000, 5000, 4)),
)
GOOGLE: tuple[Size, ...] = tuple((users, 12_583, 2) for users in (10, 100, 1000, 3000, 10_000, 100_000, 1_000_000))

FAMILIES: Mapping[Callable[..., Instance], tuple[Size, ...]] = {
    generators.generic: DENSE,
    generators.heavy_tailed: MASKED,
    generators.tied: DENSE,
    generators.zero_demand: ZEROS,
    generators.badly_scaled: DENSE,
    generators.racks: RACKS,
    generators.google_mix: GOOGLE,
    generators.sparse: FEW,
    generators.identical: DENSE,
}
"""For each family its sizes, from about 10^2 arcs to 10^6 or 10^7."""

MORE = ("drfh", "nb"), (3, 6)
"""The mechanisms for which there are two more sizes, 3 x 10^4 arcs and 10^7; the latter is for methods of this package alone."""

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
            for k, size in enumerate(sizes):
                if k in MORE[1] and mechanism not in MORE[0]:
                    continue
                name = f"{family.__name__}-{'x'.join(map(str, size))}/{label}"
                methods = OURS if k == MORE[1][1] else ()
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
