"""What an example is: an instance, where it stands, and its exact answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from fairalloc.models.instance import Instance


def given(name: str, demands: Any, capacities: Any, **others: Any) -> "partial[Instance]":
    """What makes an instance when it is first asked for."""
    return partial(Instance, demands, capacities, name=name, **others)


def tasks_in(text: str) -> tuple[Fraction, ...]:
    """The tasks of each user, separated by spaces."""
    return tuple(map(Fraction, text.split()))


@dataclass(frozen=True)
class Example:
    """One published instance, made by `given` when it is first asked for: `answers[mechanism]` are the exact tasks of each user.

    `configured` holds (mechanism, parameters, tasks) for parameters that are not the default.
    """

    given: "partial[Instance]"
    place: str
    answers: Mapping[str, tuple[Fraction, ...]]
    configured: tuple[tuple[str, Mapping[str, Any], tuple[Fraction, ...]], ...] = ()

    def __repr__(self) -> str:
        return f"<example {self.name}: {self.place}>"

    @cached_property
    def instance(self) -> Instance:
        return self.given()

    @property
    def told(self) -> tuple[str, ...]:
        """The mechanisms whose answers are here."""
        return tuple(dict.fromkeys((*self.answers, *(name for name, _, _ in self.configured))))

    @property
    def name(self) -> str:
        """The instance's name, which the command line accepts in place of a file."""
        return str(self.given.keywords["name"])
