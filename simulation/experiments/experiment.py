"""What an experiment is: a declared measurement of competitors, seed by seed, with one figure and one verdict.

`Outcomes` hold the `TrialResult` of each `Trial`, by competitor and seed; the `Experiment` says how they are `Judged`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairalloc.analysis.plots.panels import Panel
from fairalloc.models.numbers import Floats

__all__ = ["Experiment", "Judged", "Outcomes", "Size", "Trial", "TrialResult", "Word", "larger", "thinned"]

Word = Literal["confirmed", "not confirmed", "cannot be compared"]

Curve = tuple[Sequence[float], Sequence[float]]
"""Numbers to the right, and numbers upwards."""


@dataclass(frozen=True)
class Size:
    """How much is simulated: the seeds, and settings that the experiment knows by name."""

    seeds: tuple[int, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """What is measured once: a competitor, which tables name by its label, with one seed of everything that is drawn.

    The competitor is a mechanism or a scheduler. The workload is an id, "" where the experiment has its own; the settings are
    those of the size.
    """

    label: str
    competitor: Any
    seed: int
    workload: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class TrialResult:
    """Numbers by name, which are compared over seeds, and curves by name, which are drawn; both in the order of tables."""

    numbers: Mapping[str, float]
    curves: Mapping[str, Curve] = field(default_factory=dict)


def thinned(right: NDArray[Any], up: NDArray[Any], most: int = 300) -> Curve:
    """A curve of so many points at most, its ends among them."""
    shown = np.unique(np.linspace(0, max(len(right) - 1, 0), min(len(right), most)).astype(int))
    return right[shown].tolist(), up[shown].tolist()


@dataclass(frozen=True)
class Judged:
    """Whether the finding of the paper is ours too, and the sentence that says because of what."""

    word: Word
    because: str

    @classmethod
    def whether(cls, good: bool, because: str) -> "Judged":
        """Confirmed or not."""
        return cls("confirmed" if good else "not confirmed", because)


@dataclass(frozen=True)
class Outcomes:
    """The trials of an experiment that are on record: of each competitor by its label, seed -> what was measured.

    `failed` are sentences on trials that ended without an answer.
    """

    experiment: "Experiment"
    size: str
    workload: str
    measured: Mapping[str, Mapping[int, TrialResult]]
    failed: Sequence[str] = ()

    @property
    def labels(self) -> list[str]:
        """Of the competitors with outcomes."""
        return [label for label, seeds in self.measured.items() if seeds]

    @property
    def names(self) -> list[str]:
        """Of all numbers, in the order in which they were first measured."""
        return list(dict.fromkeys(name for seeds in self.measured.values() for one in seeds.values() for name in one.numbers))

    def values(self, label: str, name: str) -> Floats:
        """(S,) a number of a competitor over the seeds, nan where a trial has none of that name."""
        return np.array([one.numbers.get(name, np.nan) for one in self.measured.get(label, {}).values()], dtype=float)

    def mean(self, label: str, name: str) -> float:
        """The mean of a number over the seeds; nan where there is none."""
        values = self.values(label, name)
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")

    def curves(self, label: str, name: str) -> list[Curve]:
        """A curve of each seed that has one with points."""
        found = (one.curves.get(name, ((), ())) for one in self.measured.get(label, {}).values())
        return [curve for curve in found if len(curve[0])]

    def difference(self, one: str, other: str, name: str) -> tuple[float, float]:
        """Mean and standard error of a number of one competitor less that of another one, over the seeds of both.

        One seed has no standard error: nan.

        Parameters
        ----------
        one, other : labels
        name : of the number
        """
        here, there = self.measured.get(one, {}), self.measured.get(other, {})
        both = [seed for seed in here if seed in there]
        gaps = np.array([here[seed].numbers[name] - there[seed].numbers[name] for seed in both], dtype=float)
        if not len(gaps):
            return float("nan"), float("nan")
        return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else float("nan")

    @property
    def judged(self) -> Judged:
        """The verdict of the experiment; nothing is compared where no trial of a competitor that it needs has an answer."""
        if not self.labels:
            return Judged("cannot be compared", "no trial gave an answer")
        item = self.experiment
        return self.lacking(*(item.needs or item.competitors)) or item.judge(self)

    def lacking(self, *labels: str) -> Judged | None:
        """That the finding cannot be compared, where some of these competitors have no outcomes; None where all have."""
        gone = [label for label in labels if label not in self.labels]
        return Judged("cannot be compared", f"{' and '.join(gone)} took no part") if gone else None


def larger(outcomes: Outcomes, one: str, other: str, name: str, least: float = 1e-9) -> bool:
    """Whether a number is larger by more than two standard errors over the seeds, where there are several."""
    gap, error = outcomes.difference(one, other, name)
    return bool(gap > np.fmax(2 * error, least))


@dataclass(frozen=True, eq=False)
class Experiment:
    """A declared experiment; a file of papers/ lists those that it declares in EXPERIMENTS.

    Attributes
    ----------
    id : paper and place, such as "K.Fig9"
    title : in a few words
    finding : of the paper, in a sentence
    setting : what is simulated here, and what of it is generated or of our choice, since the paper does not say
    kind : of the competitors, "mechanism" or "scheduler", see competitors.py; "none" where nobody is compared
    competitors : ids, with parameters such as "alpha-pf-vds alpha=3"
    sizes : "small" and "full"; the small one is for tests
    measure : one trial -> what was measured; all that it draws comes from the trial's seed
    judge : outcomes -> verdict
    panels : outcomes -> the panels of the figure
    workloads : ids of workloads that it can be run with, the first whose samples are there is the default; () = it has its own
    needs : the competitors without which nothing is compared; () = all
    """

    id: str
    title: str
    finding: str
    setting: str
    kind: Literal["mechanism", "scheduler", "none"]
    competitors: tuple[str, ...]
    sizes: Mapping[str, Size]
    measure: Callable[[Trial], TrialResult]
    judge: Callable[[Outcomes], Judged]
    panels: Callable[[Outcomes], list[Panel]]
    workloads: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<experiment {self.id}: {self.title}>"
