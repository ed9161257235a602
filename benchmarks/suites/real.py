"""The suite `real`: workload samples of Google, Bitbrains and Alibaba; `fairalloc data` says where they are looked for.

It refuses to run where they are not found: no generated instance takes their place.
"""

from collections.abc import Callable
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models import Instance
from fairalloc.models.examples import traces

MECHANISMS = ("drfh", "tsf", "nb", "ps-dsf")


def _loaded(load: Callable[..., traces.Loaded]) -> Instance:
    """The instance of a sample; InstanceError where the samples are not found."""
    return load(traces.found_data()).instance


def _google2019(users: int) -> Instance:
    """Demands of 2019 on the machines of 2011: the units are alike (the largest machine), and 2019 has no list of machines."""
    folder = traces.found_data()
    counts, capacities = traces.google_machine_mix(folder)
    demands = traces.google2019_demands(folder)[:users]
    return Instance(demands, capacities, counts=counts, name=f"google2019-{users}")


SAMPLES: dict[str, Callable[[], Instance]] = {
    "google2011": partial(_loaded, traces.google2011),
    "google2019": partial(_google2019, 500),
    "bitbrains": partial(_loaded, traces.bitbrains),
    "alibaba": partial(_loaded, traces.alibaba),
}

SUITE = Suite(
    id="real",
    title="samples of real workloads: Google 2011 and 2019, Bitbrains, Alibaba",
    cases=tuple(
        SuiteCase(f"{name}/{mechanism}", mechanism, build) for name, build in SAMPLES.items() for mechanism in MECHANISMS
    ),
    lacks=traces.data_missing,
    accuracies=("low", "mid", "high"),
)
