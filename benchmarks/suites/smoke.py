"""The suite `smoke`: the smallest case of every registered mechanism, so that every method is somewhere; CI runs it.

Nothing is listed by hand: a mechanism that joins the registry, from this package or another, is here.
"""

from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.formulations import MECHANISMS
from fairalloc.models.examples import generators
from fairalloc.models.examples.published import example

BUILD = partial(generators.generic, 3, 2, 2)
BUILDS = dict.fromkeys(("gavel-makespan", "gavel-max-min"), partial(getattr, example("gavel-three-jobs"), "instance"))
"""Of mechanisms that need one resource and numbers of steps."""

PARAMETERS: dict[str, tuple[dict[str, object], ...]] = {
    "alpha-pf-vds": ({}, {"alpha": 2}),
    "lmmf": ({}, {"integral": True}),
    "ps-dsf": ({}, {"objective": "tasks"}),
}
"""Methods for the game of finite alpha, for whole tasks, and those that choose among several answers compute nothing else."""

SUITE = Suite(
    id="smoke",
    title="the smallest case of every mechanism",
    cases=tuple(
        SuiteCase(
            " ".join([mechanism, *(f"{key}={value}" for key, value in parameters.items())]),
            mechanism,
            BUILDS.get(mechanism, BUILD),
            parameters,
        )
        for mechanism in MECHANISMS
        for parameters in PARAMETERS.get(mechanism, ({},))
    ),
    time_limit=2.0,
    repeats=1,
)
