"""The suite `first`: a comparison of all methods in two minutes, on cases hard enough that they differ.

Examples of the papers, small games on which the papers' own algorithms are asked for several accuracies, generated instances of
every family, degenerate ones, and samples of real workloads. Where the samples are not found their cases are rows that say so.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from fairalloc.benchmarks.suites import papers
from fairalloc.benchmarks.suites.real import SAMPLES
from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models import Instance
from fairalloc.models.examples import generators

EXAMPLES = tuple(f"khamse-fig1/{mechanism}" for mechanism in ("drfh", "nb", "ps-dsf", "ps-dsf-tdm"))
SIZE, LARGE = (40, 10, 4), (200, 40, 4)
SEVERITY = 75
FAMILIES: dict[Callable[..., Instance], tuple[str, ...]] = {
    generators.generic: ("drfh", "nb", "ps-dsf"),
    generators.tied: ("nb",),
    generators.zero_demand: ("lmmf", "nb"),
    generators.finite: ("nb",),
    generators.badly_scaled: ("drfh", "nb"),
    generators.placement: ("tsf", "nb"),
    generators.racks: ("lmmf", "tsf", "fds"),
    generators.variants: ("nb",),
}
"""The mechanisms that each family is for."""

GAMES = (generators.generic, generators.tied, generators.racks)
SMALL, ALPHAS = (8, 3, 2), (3, "inf")
DECADES = (1e-1, 1e-4, 1e-8)
"""What every method is asked for on the games: accuracy against time."""


def _at_decades() -> Iterator[SuiteCase]:
    for family in GAMES:
        name, build = f"generated/{family.__name__}-{'x'.join(map(str, SMALL))}", partial(family, *SMALL, 1)
        for alpha in ALPHAS:
            yield SuiteCase(f"{name}/alpha={alpha}", "alpha-pf-vds", build, {"alpha": alpha}, accuracies=DECADES)


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
    title="examples of the papers, games, generated instances of every family, and real workloads",
    cases=(
        *(replace(case, name=f"papers/{case.name}") for case in papers.SUITE.cases if case.name in EXAMPLES),
        *_at_decades(),
        *_generated(),
        *(SuiteCase(f"real/{name}/{m}", m, SAMPLES[name]) for name, m in (("google2011", "drfh"), ("bitbrains", "nb"))),
    ),
    time_limit=1.0,
    repeats=1,
)
