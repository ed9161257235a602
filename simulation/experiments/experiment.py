"""What an experiment is: a declared measurement of competitors, seed by seed, with claims of a paper and a figure.

`Measured` holds the `TrialResult` of each trial of one variant, by competitor and seed, `Outcomes` those of all variants; each
`PaperClaim` of the experiment is judged by them (claims.py).
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fairalloc.analysis.plots.panels import Panel
from fairalloc.models.arguments import Seed, check_fields
from fairalloc.models.errors import callers, check_name, require
from fairalloc.models.numbers import Floats
from fairalloc.simulation.experiments.claims import ENOUGH, TOLD, Check, Judged, agreed, together
from fairalloc.simulation.experiments.trial import Columns, Trial, TrialResult
from fairalloc.simulation.files import is_file

Results = Mapping[str, TrialResult]
"""Of one seed, by label."""


@dataclass(frozen=True)
class Size:
    """How much is simulated: the seeds, and settings that the experiment knows by name, which JSON can hold.

    A variant of the workload has settings of its own, by its name; one of them may be "workload". `lacks` says what the size
    cannot show.
    """

    seeds: Sequence[Seed]
    settings: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    lacks: str = ""


@dataclass(frozen=True)
class Measured:
    """The trials on record of one variant: of each competitor by its label, seed -> what was measured."""

    by_label: Mapping[str, Mapping[int, TrialResult]]

    @property
    def labels(self) -> list[str]:
        """Of the competitors with outcomes."""
        return [label for label, seeds in self.by_label.items() if seeds]

    @property
    def names(self) -> list[str]:
        """Of all numbers, in the order in which they were first measured."""
        return list(dict.fromkeys(name for seeds in self.by_label.values() for one in seeds.values() for name in one.numbers))

    def by_seed(self, label: str, name: str) -> dict[int, float]:
        """A number of a competitor, by seed; nan where a trial has none, or one of fewer than ENOUGH jobs or users."""
        return {
            seed: one.numbers.get(name, np.nan) if one.counts.get(name, np.inf) >= ENOUGH else np.nan
            for seed, one in self.by_label.get(label, {}).items()
        }

    def values(self, label: str, name: str) -> Floats:
        """(S,) the same."""
        return np.array([*self.by_seed(label, name).values()], dtype=float)

    def mean(self, label: str, name: str) -> float:
        """The mean of a number over the seeds; nan where there is none."""
        values = self.values(label, name)
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")

    def gaps(self, one: str, other: str, name: str) -> Floats:
        """(S,) a number of one competitor less that of another one, over the seeds of both.

        Parameters
        ----------
        one, other : labels of competitors
        name : of the number
        """
        return np.asarray(np.subtract(*self.aligned((one, name), (other, name))))

    def aligned(self, *wanted: tuple[str, str]) -> Floats:
        """(n, S) numbers, each by the label of a competitor and its name, over the seeds that all of these have."""
        every = [self.by_seed(*one) for one in wanted]
        seeds = [seed for seed in every[0] if all(seed in one for one in every)]
        return np.array([[one[seed] for seed in seeds] for one in every], dtype=float).reshape(len(wanted), len(seeds))

    def count(self, label: str, name: str) -> float:
        """The least number of jobs or users behind a number in any seed where they are enough; inf where it is of none."""
        found = (one.counts.get(name, np.inf) for one in self.by_label.get(label, {}).values())
        return min((count for count in found if count >= ENOUGH), default=np.inf)

    def curves(self, label: str, name: str) -> list[Columns]:
        """The columns of each seed that has some with rows."""
        found = (one.curves.get(name, ((),)) for one in self.by_label.get(label, {}).values())
        return [columns for columns in found if len(columns[0])]

    def check(self, label: str, name: str, low: float = -np.inf, high: float = np.inf, **about: Any) -> Check:
        """A number of a competitor against a range.

        Parameters
        ----------
        label : of the competitor
        name : of the number
        low, high : the range, from the one to the other
        about : other attributes of Check
        """
        most = [one.most[name] for one in self.by_label.get(label, {}).values() if name in one.most]
        limit = float(np.mean(most)) if most else np.inf
        given: dict[str, Any] = {"what": f"{label}, {name}", "count": self.count(label, name), "most": limit} | about
        return Check(values=self.values(label, name), low=low, high=high, **given)

    def more(self, one: str, other: str, name: str, by: float = 0.0, **about: Any) -> Check:
        """That a number of one competitor is larger than that of another one.

        Parameters
        ----------
        one, other : labels of competitors
        name : of the number
        by : so much larger at least
        about : other attributes of Check
        """
        return Check(f"{one} less {other}, {name}", self.gaps(one, other, name), by, **about)


def within(label: str, ranges: Mapping[str, tuple[float, float]], **about: Any) -> Callable[[Measured], list[Check]]:
    """That numbers of a competitor, by name, lie in ranges, from the one to the other; with other attributes of Check."""
    return lambda measured: [measured.check(label, name, low, high, **about) for name, (low, high) in ranges.items()]


@dataclass(frozen=True)
class PaperClaim:
    """What the paper says in a sentence, and the numbers that decide it: those of one variant.

    The name is that part of the claim's id that follows the id of the experiment, "" where it is the only one. `reason` says
    why nothing can decide it, "" where something can.
    """

    name: str
    text: str
    checks: Callable[[Measured], Sequence[Check]] = lambda _: ()
    reason: str = ""

    def judged(self, measured: Measured, most: int = TOLD) -> Judged:
        """On one variant; of the numbers that decide so many at most are told."""
        if self.reason:
            return Judged("cannot be compared", self.reason)
        if not measured.labels:
            return Judged("cannot be compared", "no trial gave an answer")
        with callers(f"the claim {self.name!r}"):
            return together([check.judged for check in self.checks(measured)], most)


@dataclass(frozen=True)
class Outcomes:
    """The trials of an experiment that are on record, by variant; `failed` are sentences on trials that ended without an answer.

    `seeds` and `competitors`, those in words, are what was asked for, `settings` those with other values than the size has.
    """

    experiment: "Experiment"
    size: str
    workload: str
    variants: Mapping[str, Measured]
    seeds: tuple[int, ...] = ()
    failed: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    competitors: Sequence[str] = ()

    @property
    def extent(self) -> str:
        """The size and other values of its settings, in words."""
        return ", ".join([self.size, *(f"{name}={json.dumps(value)}" for name, value in self.settings.items())])

    @property
    def labels(self) -> list[str]:
        """Of the competitors with outcomes in any variant."""
        return list(dict.fromkeys(label for part in self.variants.values() for label in part.labels))

    @property
    def counts(self) -> tuple[int, int]:
        """The least and the largest number of seeds on record of any competitor in any variant."""
        found = [len(seeds) for part in self.variants.values() for seeds in part.by_label.values() if seeds]
        return min(found, default=0), max(found, default=0)

    @cached_property
    def by_variant(self) -> dict[str, dict[str, Judged]]:
        """Of each claim by its id, such as "W.Fig7.small": variant -> what it is there."""
        named = {f"{self.experiment.id}.{claim.name}".removesuffix("."): claim for claim in self.experiment.claims}
        most = 1 if len(self.variants) > 1 else TOLD
        return {key: {name: claim.judged(part, most) for name, part in self.variants.items()} for key, claim in named.items()}

    @cached_property
    def judged(self) -> dict[str, Judged]:
        """What each claim is here, by its id."""
        return {name: agreed(by_variant) for name, by_variant in self.by_variant.items()}

    @property
    def command(self) -> str:
        """What runs it again."""
        name = self.experiment.file or self.experiment.id
        words = [*([] if is_file(self.workload) else [name]), *["--small"] * (self.size == "small")]
        given = {"--workload": [self.workload] if self.workload else [], "--mechanisms": self.competitors}
        seeds = () if self.seeds == tuple(self.experiment.sizes[self.size].seeds) else self.seeds
        in_a_row = len(seeds) > 1 and seeds == (*range(seeds[0], seeds[-1] + 1),)
        given["--seeds"] = [f"{seeds[0]}-{seeds[-1]}"] if in_a_row else [*map(str, seeds)]
        given["--set"] = [f"{name}={json.dumps(value)}" for name, value in self.settings.items()]
        return shlex.join(["fairalloc", "simulate", *words, *(word for k, v in given.items() if v for word in (k, *v))])

    @property
    def panels(self) -> list[Panel]:
        """The panels of the figure; none of a variant without outcomes."""
        with callers(f"the figure of {self.experiment.id}"):
            return [panel for name, part in self.variants.items() if part.labels for panel in self.experiment.panels(part, name)]


def only(*names: str, drawn: Sequence[str] | None = None) -> Callable[[Results], Results]:
    """What keeps these numbers alone, and these curves; None = all."""

    def of(one: TrialResult) -> TrialResult:
        columns = one.curves if drawn is None else {name: one.curves[name] for name in drawn}
        return TrialResult({name: one.numbers[name] for name in names}, columns, one.counts, one.most)

    return lambda results: {label: of(one) for label, one in results.items()}


@dataclass(frozen=True, eq=False)
class Experiment:
    """A declared experiment; a file of papers/ lists those that it declares in EXPERIMENTS.

    Attributes
    ----------
    id : paper and place, such as "K.Fig9"
    title : in a few words
    claims : of the paper
    setting : what is simulated here, and what of it is generated or of our choice, since the paper does not say
    kind : of the competitors, "mechanism", "scheduler" or "either", see competitors.py; "none" where nobody is compared
    competitors : ids, with parameters such as "alpha-pf-vds alpha=3"
    sizes : "small" and "full"; the small one is for tests
    measure : one trial -> what was measured; all that it draws comes from the trial's seed
    panels : what was measured of a variant, and its name -> panels of the figure
    caption : what the figure shows, after what its panels are
    workloads : ids of workloads that it can be run with, the first whose samples are there is the default; () = it has its own
    compare : of one seed, label -> what was measured -> label -> what tables, claims and figures are made of
    printed : the paper's numbers: label, or "" for any -> name -> value
    common : the part of the setting that other experiments share, which the report says once
    file : the one that one's own was read from, as it was given; "" of others
    """

    id: str
    title: str
    claims: Sequence[PaperClaim]
    setting: str
    kind: Literal["mechanism", "scheduler", "either", "none"]
    competitors: Sequence[str]
    sizes: Mapping[str, Size]
    measure: Callable[[Trial], TrialResult]
    panels: Callable[[Measured, str], list[Panel]]
    caption: str = ""
    workloads: Sequence[str] = ()
    compare: Callable[[Results], Results] = lambda results: results
    printed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    common: str = ""
    file: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        check_name(self.id, "the id of an experiment")
        for part in (*self.claims, *self.sizes.values()):
            check_fields(part)
        filled = self.competitors and self.sizes and all(size.seeds and size.variants for size in self.sizes.values())
        require(filled, "the experiment is", self.id, "it must have competitors, and sizes with seeds and variants")
        with callers(f"the settings of {self.id}", "cannot be written as JSON"):
            json.dumps([(size.settings, size.variants) for size in self.sizes.values()])

    def __repr__(self) -> str:
        return f"<experiment {self.id}: {self.title}>"
