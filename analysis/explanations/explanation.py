"""An explanation: sentences, each with the facts it states and what it is derived from."""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import Any, TypeAlias

import numpy as np

from fairalloc.formulations.mechanism import Mechanism
from fairalloc.models.allocation import Allocation
from fairalloc.models.errors import place_of
from fairalloc.models.instance import Instance
from fairalloc.models.numbers import as_json, exact_text
from fairalloc.models.shares import global_dominant_share
from fairalloc.models.tables import printable, width
from fairalloc.solvers.method import now

Number: TypeAlias = Fraction | float

MOST_USERS, MOST_NAMES = 20, 6
"""Users that are explained one by one where none is named; names in one list of a sentence, whose rest is counted."""


@dataclass(frozen=True)
class Sentence:
    """One statement of an explanation.

    Attributes
    ----------
    text : the statement in words
    kind : "round", "prices", "group", "user", "server", "effect", "constraint" or "note"
    source : what it is derived from: "certificate" (rationals, verified without a solver), "prices", "levels" (of floating point
        answers), "events" (of h-drf), "derivatives" (fa.sensitivity), "duals" (of an own model), or "instance"
    facts : the same in names and numbers
    """

    text: str
    kind: str
    source: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why the users of an allocation get their tasks.

    Attributes
    ----------
    allocation : the explained allocation
    mechanism : the id of its rule
    proof : one sentence on the source of the statements
    sentences : the statements, the general ones first, then each user's
    """

    allocation: Allocation
    mechanism: str
    proof: str
    sentences: tuple[Sentence, ...]

    @property
    def title(self) -> str:
        """The instance, the mechanism, and the proof of the sentences."""
        return f"{self.allocation.instance.name or 'instance'}: {self.mechanism} explained. {self.proof}"

    def __str__(self) -> str:
        """The sentences, as wide as the terminal; what belongs to a user is indented."""
        lines = [_filled(one.text, "    " if one.kind == "server" else "  ") for one in self.sentences]
        return "\n".join([_filled(self.title, ""), *lines])

    def __repr__(self) -> str:
        name = self.allocation.instance.name or "instance"
        return f"<explanation of {name}: {self.mechanism}, {len(self.sentences)} sentences>"

    def _repr_html_(self) -> str:
        items = "\n".join(f"<li>{escape(printable(sentence.text))}</li>" for sentence in self.sentences)
        return f"<p>{escape(printable(self.title))}</p>\n<ul>\n{items}\n</ul>\n"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as a JSON document; rationals are strings such as "5/7"."""
        return {
            "schema": "fairalloc-explanation/1",
            "instance": self.allocation.instance.name,
            "mechanism": self.mechanism,
            "parameters": as_json(self.allocation.parameters),
            "proof": self.proof,
            "sentences": [as_json(vars(sentence)) for sentence in self.sentences],
        }


@dataclass(frozen=True, eq=False)
class Subject:
    """What is to be explained: the allocation of a mechanism, to one user or (None) the first MOST_USERS, by a deadline."""

    allocation: Allocation
    item: Mechanism
    user: str | None = None
    deadline: float = np.inf

    @property
    def instance(self) -> Instance:
        return self.allocation.instance

    @cached_property
    def domain(self) -> Instance:
        """The instance on which the rule is written; its arcs are those of the instance, in the same order."""
        return self.item.domain(self.instance)

    @property
    def left(self) -> float | None:
        """Seconds left, at least a millisecond; None without a deadline."""
        return None if np.isinf(self.deadline) else max(self.deadline - now(), 1e-3)

    @cached_property
    def users(self) -> tuple[int, ...]:
        """The users that are explained one by one, by their numbers in the instance; UnknownName where there is no such user."""
        if self.user is None:
            return tuple(range(min(self.instance.N, MOST_USERS)))
        return (place_of(self.user, self.instance.users, "user"),)

    @cached_property
    def domain_users(self) -> tuple[int, ...]:
        """The same users in the domain, where a user may stand once for each of its servers."""
        if self.domain.N == self.instance.N:
            return self.users
        arcs = np.isin(self.instance.arcs.user, self.users)
        return tuple(np.unique(self.domain.arcs.user[arcs]).tolist())

    def rest(self) -> list[Sentence]:
        """A note on the users who are not explained one by one."""
        more = self.instance.N - len(self.users)
        if self.user is not None or more <= 0:
            return []
        return [Sentence(f"{more} more users are explained by name: --user NAME.", "note", "instance", {"more_users": more})]


def said(value: Number) -> str:
    """The number in a sentence: a short rational as it is, else six digits."""
    if isinstance(value, Fraction):
        text = exact_text(value)
        return text if len(text) <= 9 else f"{float(value):.6g}"
    return f"{value:.6g}"


def by_weight(rule: Mechanism, instance: Instance) -> str:
    """What a level of the rule is where weights count: a share divided by the weight; "" where it is the share."""
    if (instance.weights == 1).all():
        return ""
    return f"{'dominant share' if getattr(rule, 'share', None) is global_dominant_share else 'share'} / weight"


def at_level(levels: str, by_weight: str, several: str = "") -> str:
    """The words for a level, or for several with "s"."""
    return f"level{several} {levels} ({by_weight})" if by_weight else f"share{several} {levels}"


def tasks_of(value: Number) -> str:
    """The number of tasks in words: no tasks, 1 task, 2.5 tasks."""
    return "no tasks" if value == 0 else "1 task" if said(value) == "1" else f"{said(value)} tasks"


def joined(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """The first names with commas and "and", and how many more there are."""
    known = list(names)
    if len(known) > most:
        return f"{', '.join(known[:most])} and {len(known) - most} more"
    return " and ".join([*([", ".join(known[:-1])] if known[:-1] else []), *known[-1:]])


def _filled(text: str, indent: str) -> str:
    return textwrap.fill(printable(text), width(), initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
