"""The suite `first`: every published example, generated instances of each family, and real workloads."""

from collections.abc import Callable, Iterator
from functools import partial

from fairalloc.benchmarks.suites import Case, Suite
from fairalloc.models import Instance, generators, traces
from fairalloc.models.published import EXAMPLES

_FAMILIES: dict[str, Callable[..., Instance]] = {
    "generic": generators.generic,
    "tied": generators.tied,
    "zero-demand": generators.zero_demand,
    "placement": generators.placement,
    "badly-scaled": generators.badly_scaled,
    "planted": generators.planted,
    "google-mix": generators.google_mix,
}
# Users, servers, resources; the seed is the position.
_SIZES = ((8, 3, 2), (15, 5, 3), (30, 8, 4))


def _published() -> Iterator[Case]:
    for example in EXAMPLES:
        for mechanism in example.answers:
            yield Case(f"published/{example.name}/{mechanism}", mechanism, partial(getattr, example, "instance"))


def _generated() -> Iterator[Case]:
    for family, generate in _FAMILIES.items():
        for seed, size in enumerate(_SIZES):
            name = f"generated/{family}-{'x'.join(map(str, size))}"
            for mechanism in ("drfh", "nb"):
                yield Case(f"{name}/{mechanism}", mechanism, partial(generate, *size, seed))


def _real() -> Iterator[Case]:
    """The samples where they are present; the Google cell without its sample has the users of the generator."""
    folder = traces.data_dir()
    builders: dict[str, Callable[[], Instance]] = {"google2011-like": partial(generators.google_mix, 245, 10, 2, 0)}
    if folder is not None:
        builders = {
            "google2011": lambda: traces.google2011(folder).instance,
            "bitbrains": lambda: traces.bitbrains(folder).instance,
        }
    for name, build in builders.items():
        for mechanism in ("drfh", "nb"):
            yield Case(f"real/{name}/{mechanism}", mechanism, build)


SUITE = Suite(
    id="first",
    title="published examples, generated instances of seven families, and real workloads",
    cases=(*_published(), *_generated(), *_real()),
)
