"""The rule by which a claim of a paper is judged: four outcomes, and what decides between them.

1. A claim is one or several numbers (`Check`), each with the range in which the claim holds.
2. A number is judged by its mean over seeds and two standard errors (`Check.judged`).
3. A claim holds where all its numbers do (`together`), and on a workload for each variant, which must agree (`agreed`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fairalloc.models.numbers import Floats

Word = Literal["confirmed", "contradicted", "undecided", "cannot be compared"]

ENOUGH = 10
"""So many jobs or users must be behind a number of a trial."""

SEEDS = 5
"""So many seeds must have a number, where something is drawn."""

ERRORS = 2.0
"""So many standard errors on each side of a mean decide."""

ROUNDING = 1e-9
"""A number that is drawn is never taken to be closer than this."""

TOLD = 3
"""So many of the numbers that decide a claim are told, and one of each of several variants."""

RULE = (
    "A claim rests on one or several numbers, each with a range in which the claim holds. Where the paper gives no number, the "
    "range is ours. A number is a mean over seeds ± its standard error, and a difference is taken seed by seed. A printed number "
    "that is one draw has the error of one draw.",
    f"Confirmed: {ERRORS:g} standard errors on each side of the mean lie in the range. Contradicted: they lie outside. "
    f"Undecided: they do not decide, or a mean of drawn values is within {ROUNDING:g} of an end of the range. Cannot be "
    "compared: something is drawn and too few seeds have the number, or the workload allows no value in the range, or none "
    f"outside. {SEEDS} seeds are needed, each with {ENOUGH} jobs or users behind the number.",
    "One contradicted number contradicts the claim. Otherwise one that cannot be compared, or is undecided, leaves it so. Of "
    "several variants of a workload those that confirm or contradict decide. Where both occur, the claim is undecided.",
)
"""The rule in words, for the page."""


@dataclass(frozen=True)
class Judged:
    """What a claim of the paper is here, and the sentence that says because of what."""

    word: Word
    because: str


@dataclass(frozen=True, eq=False)
class Check:
    """A number that a claim rests on, and the range in which the claim holds.

    Attributes
    ----------
    what : the number is, in a few words
    values : (S,) over seeds; nan where a seed has none, or none of enough jobs or users
    low, high : the claim holds from the one to the other
    most : the largest value that the workload allows, the mean over seeds
    count : the least number of jobs or users behind a value; inf where it is no matter of these
    drawn : whether something is drawn; else one value decides
    one_draw : whether the paper's number is one draw, too, so that the error is that of one draw
    form : how numbers are written
    """

    what: str
    values: Floats
    low: float = -np.inf
    high: float = np.inf
    most: float = np.inf
    count: float = np.inf
    drawn: bool = True
    one_draw: bool = False
    form: str = ".1%"

    @property
    def judged(self) -> Judged:
        """Confirmed, contradicted, undecided or not to be compared."""
        found = self.values[np.isfinite(self.values)]
        needed = SEEDS if self.drawn else 1
        if len(self.values) < SEEDS and self.drawn:
            return Judged("cannot be compared", f"{len(self.values)} of the {SEEDS} seeds that are needed")
        if len(found) < needed:
            few = f"{len(found)} of the {needed} seeds that are needed have it (jobs or users: at least {ENOUGH})"
            return Judged("cannot be compared", f"{self.what}: {few if self.drawn else 'no trial has it'}")
        mean = float(found.mean())
        error = float(found.std(ddof=1) * np.sqrt(self.one_draw + 1.0 / len(found))) if self.drawn else 0.0
        spread = f"±{error:{self.form}}" if self.drawn else ""
        count = f", n={self.count:g}" if np.isfinite(self.count) else ""
        text = f"{self.what} {mean:{self.form}}{spread}{count} ({self._range()})"
        if self.most < self.low or (self.most <= self.high and self.low == -np.inf):
            return Judged("cannot be compared", f"{text}, but the workload allows at most {self.most:{self.form}}")
        width = max(ERRORS * error, ROUNDING) if self.drawn else 0.0
        if self.low <= mean - width and mean + width <= self.high:
            return Judged("confirmed", text)
        outside = mean + width < self.low or mean - width > self.high
        return Judged("contradicted" if outside else "undecided", text)

    def _range(self) -> str:
        low, high = f"{self.low:{self.form}}", f"{self.high:{self.form}}"
        if np.isinf(self.high):
            return f"claim: ≥ {low}"
        return f"claim: ≤ {high}" if np.isinf(self.low) else f"claim: {low if low == high else f'{low} to {high}'}"


def together(parts: Sequence[Judged], most: int = TOLD) -> Judged:
    """What several numbers say together of a claim: of those that decide so many at most, and how many others there are."""
    words = {part.word for part in parts}
    order: tuple[Word, ...] = ("contradicted", "cannot be compared", "undecided", "confirmed")
    word = next((one for one in order if one in words), order[1])
    told = [*dict.fromkeys(part.because for part in parts if part.word == word)]
    others = Counter({word: len(told[most:])}) + Counter(part.word for part in parts if part.word != word)
    return Judged(word, "; ".join([*told[:most], *(f"{count} more: {other}" for other, count in others.items())]))


def agreed(variants: Mapping[str, Judged]) -> Judged:
    """What several variants of a workload say of a claim; of one variant, what it says."""
    if len(variants) == 1:
        return next(iter(variants.values()))
    words = {judged.word for judged in variants.values()}
    decided = words - {"undecided", "cannot be compared"}
    without: Word = "undecided" if decided or "undecided" in words else "cannot be compared"
    word = decided.pop() if len(decided) == 1 else without
    told = [f"{name}: {judged.word}: {judged.because}" for name, judged in variants.items() if judged.word == word]
    other = [f"{name}: {judged.word}" for name, judged in variants.items() if judged.word != word]
    return Judged(word, ". ".join([*told, *other]))
