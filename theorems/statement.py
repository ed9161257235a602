"""A claim of a paper as something that runs: what it assumes, how one case is tried, how a violation is confirmed.

    Hypotheses   what the claim assumes of an instance; a generator, a test, and the variants that drop one assumption each
    Case         one instance, with a lie where the claim is about lies
    Statement    the claim; `trial` tries a case in floating point, `confirm` in rationals by an unrelated route
    Finding      what was found: held on so many cases, refuted by this smallest case, or not decided; and what was searched

Verdicts of trials have a signed margin: positive is the violation, negative the room left, so that a search can climb.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from fairalloc.models.instance import Instance
from fairalloc.theorems.verdict import Verdict

__all__ = ["Case", "Finding", "Hypotheses", "Lie", "Statement"]

Numbers = tuple[Fraction, ...]


@dataclass(frozen=True)
class Hypotheses:
    """Assumptions on an instance; False = not assumed.

    Attributes
    ----------
    one_server, one_resource : K = 1, R = 1
    one_variant : one demand vector for each user
    everywhere : no placement constraints, and every server has what every user demands
    positive : every user demands every resource
    unlimited : no max_tasks
    equal_weights : all weights are 1
    simplex : the demands of a task sum to 1 (Z V)
    bottleneck : one resource is dominantly requested by all users at all servers (K Def 2)
    server_bottleneck : each server has a resource that its eligible users dominantly request (K 3.3)
    identical_servers : all servers are alike
    users : the fewest users the claim is about
    """

    one_server: bool = False
    one_resource: bool = False
    one_variant: bool = True
    everywhere: bool = False
    positive: bool = False
    unlimited: bool = True
    equal_weights: bool = False
    simplex: bool = False
    bottleneck: bool = False
    server_bottleneck: bool = False
    identical_servers: bool = False
    users: int = 1

    def sample(self, rng: np.random.Generator) -> Instance:
        """A small instance with small numbers that satisfies the assumptions; ties and zeros are common."""
        raise NotImplementedError

    def admits(self, instance: Instance) -> bool:
        """Whether the instance satisfies the assumptions, decided in rationals."""
        raise NotImplementedError

    def dropped(self) -> Mapping[str, "Hypotheses"]:
        """The variants with one assumption less, by the name of what is dropped."""
        names = [f.name for f in fields(self) if getattr(self, f.name) is True]
        return {name: replace(self, **{name: False}) for name in names}


@dataclass(frozen=True)
class Lie:
    """What some users report instead of the truth: demand vectors (variants) and eligible servers, None = the truth."""

    users: tuple[int, ...]
    demands: tuple[tuple[Numbers, ...] | None, ...]
    eligible: tuple[tuple[bool, ...] | None, ...]

    def told(self, instance: Instance) -> Instance:
        """The instance as reported."""
        raise NotImplementedError


@dataclass(frozen=True)
class Case:
    """What a statement is tried on."""

    instance: Instance
    lie: Lie | None = None


@dataclass(frozen=True)
class Statement:
    """One claim.

    Attributes
    ----------
    id : paper, number and part, such as "K.T3.envy-freeness"
    text, place : the claim in a sentence, and where it stands
    quantifier : "all" = it holds for every case that the hypotheses admit; "some" = it names or asserts a case that violates
        the property ("does not satisfy"); "run" = about an algorithm, tried on traces
    trial : a case in floating point -> verdict of the property, signed margin
    confirm : the same in rationals, or in intervals, by an unrelated route
    hypotheses : what is assumed
    lies : whether the search chooses a lie too
    printed : the paper's own counterexample, for "some"
    mechanism, property : the cell of the matrix it belongs to, "" where it is none
    note : what is known about the claim, for the docs
    """

    id: str
    text: str
    place: str
    quantifier: Literal["all", "some", "run"]
    trial: Callable[[Case], Verdict]
    confirm: Callable[[Case], Verdict]
    hypotheses: Hypotheses = Hypotheses()
    lies: bool = False
    printed: Case | None = None
    mechanism: str = ""
    property: str = ""
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """What is known of a statement after a search.

    Attributes
    ----------
    status : "held" (on `trials` cases; for "some": a case was confirmed), "refuted" (by `case`, confirmed), "not decided"
    searched : seed, budget, trials, sizes, what was varied
    case, verdict : the smallest case found and its exact verdict
    needed : hypotheses that cannot be dropped, each with a confirmed case
    """

    statement: str
    status: Literal["held", "refuted", "not decided"]
    trials: int
    searched: Mapping[str, Any]
    case: Case | None = None
    verdict: Verdict | None = None
    needed: Mapping[str, Case] = field(default_factory=dict)
