"""What is measured once. The files of measures/ import this alone, so that records outlive edits of claims and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = tuple[Sequence[float], ...]
"""Numbers side by side, such as those to the right and those upwards of a curve."""


@dataclass(frozen=True)
class Trial:
    """What is measured once: a competitor, which tables name by its label, with one seed of everything that is drawn.

    The competitor is a mechanism or a scheduler. The workload is an id, "" where the experiment has its own; the settings are
    those of the size and of the variant.
    """

    label: str
    competitor: Any
    seed: int
    workload: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class TrialResult:
    """Numbers by name, which are compared over seeds, and columns by name, which are drawn or compared; in the order of tables.

    `counts` say of how many jobs or users a number is made, where it is made of some; `most` is the largest value that the
    workload lets a number have, whoever schedules.
    """

    numbers: Mapping[str, float]
    curves: Mapping[str, Columns] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)


def thinned(right: NDArray[Any], up: NDArray[Any], most: int = 300) -> Columns:
    """A curve of so many points at most, its ends among them."""
    shown = np.unique(np.linspace(0, max(len(right) - 1, 0), min(len(right), most)).astype(int))
    return right[shown].tolist(), up[shown].tolist()
