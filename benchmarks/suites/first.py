"""The suite `first`: a comparison of all methods in two minutes, on cases hard enough that they differ.

Examples of the papers, generated instances of every family, degenerate ones, and samples of real workloads. Where the samples are
not found their cases are rows that say so; no generated instance takes their place.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from fairalloc.benchmarks.suites.papers import published
from fairalloc.benchmarks.suites.real import SAMPLES
from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models import Instance
from fairalloc.models.examples import generators

EXAMPLES = ("wang-fig2", "khamse-fig1")
SIZE, LARGE = (40, 10, 4), (200, 40, 4)
SEVERITY = 75
FAMILIES: dict[Callable[..., Instance], tuple[str, ...]] = {
    generators.generic: ("drf", "drfh", "nb", "ps-dsf", "alpha-pf-vds"),
    generators.tied: ("nb",),
    generators.zero_demand: ("lmmf", "nb"),
    generators.finite: ("nb",),
    generators.badly_scaled: ("drfh", "nb"),
    generators.placement: ("tsf", "nb"),
    generators.racks: ("lmmf", "tsf", "fds"),
    generators.variants: ("nb",),
}
"""The mechanisms that each family is for."""


def _generated() -> Iterator[SuiteCase]:
    for family, mechanisms in FAMILIES.items():
        for mechanism in mechanisms:
            yield _case(family.__name__, SIZE, mechanism, partial(family, *SIZE, 1))
    for mechanism in ("drfh", "nb"):
        build = partial(generators.degenerate, *SIZE, 1, severity=SEVERITY)
        yield _case(f"degenerate-{SEVERITY}", SIZE, mechanism, build)
    for mechanism in ("drfh", "nb"):
        yield _case("generic", LARGE, mechanism, partial(generators.generic, *LARGE, 1))
        yield _case("google_mix", (100, 12583, 2), mechanism, partial(generators.google_mix, 100))
    yield _case("njc", (60, 1, 6), "njc", partial(generators.njc, 60, 1, 6, 1))


def _case(family: str, size: tuple[int, ...], mechanism: str, build: Callable[[], Instance]) -> SuiteCase:
    return SuiteCase(f"generated/{family}-{'x'.join(map(str, size))}/{mechanism}", mechanism, build)


SUITE = Suite(
    id="first",
    title="examples of the papers, generated instances of every family, and real workloads",
    cases=(
        *(replace(case, name=f"papers/{case.name}") for case in published() if case.name.startswith(EXAMPLES)),
        *_generated(),
        *(SuiteCase(f"real/{name}/{m}", m, SAMPLES[name]) for name, m in (("google2011", "drfh"), ("bitbrains", "nb"))),
    ),
    time_limit=1.0,
    repeats=1,
)
