"""The suite `mechanisms-at-size`: mechanisms beyond the papers' beside those that they extend, on the same large instance.

Alpha-fair with alpha = .5, 2 and 5, by tasks and by dominant shares, beside nb: 1,000 users, 200 servers, 4 resources. Nested
max-min fairness of 50 departments beside drfh without them, on the same.
"""

from collections.abc import Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples import generators
from fairalloc.models.instance import Instance

ALPHAS = (0.5, 2.0, 5.0)


def _alpha_fair() -> Iterator[SuiteCase]:
    made = partial(generators.generic, 1000, 200, 4, 1)
    yield SuiteCase("generic-1000x200x4/nb", "nb", made, family="alpha-fair")
    for alpha in ALPHAS:
        for share in ("tasks", "dominant-share"):
            given = {"alpha": alpha, "share": share}
            yield SuiteCase(f"generic-1000x200x4/alpha-fair-{alpha:g}-{share}", "alpha-fair", made, given, family="alpha-fair")


def departments(users: int, servers: int, resources: int, count: int) -> Instance:
    """The generic instance, with its users in so many departments in turn."""
    instance = generators.generic(users, servers, resources, 1)
    return instance.replace(groups={f"department {k + 1}": list(range(k, users, count)) for k in range(count)})


def _groups() -> Iterator[SuiteCase]:
    yield SuiteCase("generic-1000x200x4/drfh", "drfh", partial(generators.generic, 1000, 200, 4, 1), family="groups")
    made = partial(departments, 1000, 200, 4, 50)
    yield SuiteCase("departments-50-1000x200x4/nested-leximin", "nested-leximin", made, family="groups")


SUITE = Suite(
    id="mechanisms-at-size",
    title="mechanisms beyond the papers' beside those that they extend, on large instances",
    cases=(*_alpha_fair(), *_groups()),
    methods=("interior-point", "highs"),
    repeats=1,
    time_limit=120.0,
)
