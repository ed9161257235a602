"""The suite `papers`: every numbered example of the papers under every mechanism whose exact answer is known there."""

from collections.abc import Iterable, Iterator
from functools import partial

from fairalloc.benchmarks.suites.suite import Suite, SuiteCase
from fairalloc.models.examples.example import Example
from fairalloc.models.examples.published import EXAMPLES


def cases_of(examples: Iterable[Example]) -> Iterator[SuiteCase]:
    """The cases of these examples, with their answers."""
    for example in examples:
        build = partial(getattr, example, "instance")
        for mechanism, answer in example.answers.items():
            yield SuiteCase(f"{example.name}/{mechanism}", mechanism, build, answer=answer)
        for k, (mechanism, parameters, answer) in enumerate(example.configured):
            yield SuiteCase(f"{example.name}/{mechanism}/{k}", mechanism, build, parameters, answer)


SUITE = Suite("papers", "every example of the papers, with its exact answer", tuple(cases_of(EXAMPLES)))
