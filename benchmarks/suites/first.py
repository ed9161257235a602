"""The suite `first`: every published example, generated instances of each family, and real workloads."""

from collections.abc import Callable, Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models import Instance, generators, traces
from fairalloc.models.published import EXAMPLES

# Users, servers, resources; the seed is the position.
_SIZES = ((8, 3, 2), (15, 5, 3), (30, 8, 4))
# The mechanisms that each family is for: one pool knows no placement, and shares need one demand vector a user.
_FAMILIES: dict[Callable[..., Instance], tuple[str, ...]] = {
    generators.generic: ("drf", "drfh", "nb"),
    generators.tied: ("drf", "drfh", "nb"),
    generators.zero_demand: ("drf", "drfh", "nb"),
    generators.finite: ("drf", "drfh", "nb"),
    generators.badly_scaled: ("drf", "drfh", "nb"),
    generators.placement: ("drfh", "nb"),
    generators.variants: ("nb",),
}


def _published() -> Iterator[SuiteCase]:
    for example in EXAMPLES:
        for mechanism in example.answers:
            yield SuiteCase(f"published/{example.name}/{mechanism}", mechanism, partial(getattr, example, "instance"))


def _generated() -> Iterator[SuiteCase]:
    for family, mechanisms in _FAMILIES.items():
        for seed, size in enumerate(_SIZES):
            for mechanism in mechanisms:
                yield _case(family, size, mechanism, partial(family, *size, seed))
    for mechanism in ("drfh", "nb"):
        for seed, size in enumerate(_SIZES):
            yield _case(generators.planted, size, mechanism, partial(generators.planted, *size, seed, mechanism))
        yield _case(generators.google_mix, (100, 12583, 2), mechanism, partial(generators.google_mix, 100))


def _case(family: Callable[..., Instance], size: tuple[int, ...], mechanism: str, build: Callable[[], Instance]) -> SuiteCase:
    return SuiteCase(f"generated/{family.__name__}-{'x'.join(map(str, size))}/{mechanism}", mechanism, build)


def _real() -> Iterator[SuiteCase]:
    """The samples where they are present; without them the real machine mix of the Google cell with generated users."""
    folder = traces.data_dir()
    builders: dict[str, Callable[[], Instance]] = {"google2011-machines": partial(generators.google_mix, 245)}
    if folder is not None:
        builders = {
            "google2011": lambda: traces.google2011(folder).instance,
            "bitbrains": lambda: traces.bitbrains(folder).instance,
        }
    for name, build in builders.items():
        for mechanism in ("drfh", "nb"):
            yield SuiteCase(f"real/{name}/{mechanism}", mechanism, build)


SUITE = Suite(
    id="first",
    title="published examples, generated instances of nine families, and real workloads",
    cases=(*_published(), *_generated(), *_real()),
)
