"""Whether P's Algorithm I ends (P III-C): a second implementation, with a proof where its rounds go on for ever.

1. Rounds in rationals, from DRF on each server (algorithm_1.py). Where one has no update, the algorithm has ended, and every user
   has a bottleneck (13) at every eligible server or not.
2. Where the change of a round is t times that of the round before, 0 < t < 1, let s be the limit of tasks if it went on so, and v
   what is left to it, so that tasks are now s + v.
3. One round from s + e v, where e is a variable: tasks and shares are then rational functions of e (`Germ`), and each comparison
   is decided by the sign for all e between 0 and a bound, which is recorded.
4. Where that round ends at s + t e v, the next ones end at s + t^2 e v and so on, for every e below the bound, and never at s.
5. Rounds in rationals from s + v, each ending at s + t^k v, until t^k is below the bound.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairalloc.analysis.verdict import Verdict
from fairalloc.models.exact.rationals import as_flint, as_fraction
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case
from fairalloc.theorems.papers.p.algorithm_1 import ServerInRationals, drf_on_each_server, procedure

ONE = Fraction(1)
MOST_ROUNDS = 10
"""Rounds after which nothing is decided."""

MOST_STEPS = 200
"""Rounds to the bound; where it takes more, nothing is decided."""


class Germ:
    """A rational function of e, compared by its sign for small positive e; `bounds` gets an e below which each sign is so.

    >>> bounds = [Fraction(1)]
    >>> e = Germ.variable(bounds)
    >>> (0 < e, e < Fraction(1, 100), e * e < e, (1 - e) / (1 - e) == 1)
    (True, True, True, True)
    >>> min(bounds)
    Fraction(1, 101)
    """

    def __init__(self, top: Any, bottom: Any, bounds: list[Fraction]) -> None:
        """The quotient of two polynomials."""
        common = top.gcd(bottom)
        self.top, self.bottom, self.bounds = top // common, bottom // common, bounds

    @classmethod
    def variable(cls, bounds: list[Fraction]) -> "Germ":
        """The variable e itself."""
        from flint import fmpq_poly

        return cls(fmpq_poly([0, 1]), fmpq_poly([1]), bounds)

    def _of(self, other: Any) -> "Germ":
        from flint import fmpq_poly

        return other if isinstance(other, Germ) else Germ(fmpq_poly([as_flint(Fraction(other))]), fmpq_poly([1]), self.bounds)

    def __add__(self, other: Any) -> "Germ":
        by = self._of(other)
        return Germ(self.top * by.bottom + by.top * self.bottom, self.bottom * by.bottom, self.bounds)

    def __mul__(self, other: Any) -> "Germ":
        by = self._of(other)
        return Germ(self.top * by.top, self.bottom * by.bottom, self.bounds)

    def __truediv__(self, other: Any) -> "Germ":
        by = self._of(other)
        return Germ(self.top * by.bottom, self.bottom * by.top, self.bounds)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> "Germ":
        return self * -1

    def __sub__(self, other: Any) -> "Germ":
        return self + -self._of(other)

    def __rsub__(self, other: Any) -> "Germ":
        return -self + self._of(other)

    def __rtruediv__(self, other: Any) -> "Germ":
        return self._of(other) / self

    def sign(self) -> int:
        """-1, 0 or 1, for all positive e below a bound that is recorded."""
        result = 1
        for part in (self.top, self.bottom):
            sizes = [as_fraction(value) for value in part.coeffs()]
            first = next((size for size in sizes if size), None)
            if first is None:
                return 0
            # first e^m is more than the later terms together
            self.bounds.append(abs(first) / sum(map(abs, sizes)))
            result *= 1 if first > 0 else -1
        return result

    def __bool__(self) -> bool:
        return self.sign() != 0

    def __eq__(self, other: object) -> bool:
        return (self - self._of(other)).sign() == 0

    def __lt__(self, other: Any) -> bool:
        return (self - self._of(other)).sign() < 0

    def __gt__(self, other: Any) -> bool:
        return (self - self._of(other)).sign() > 0

    def __le__(self, other: Any) -> bool:
        return not self > self._of(other)

    def __ge__(self, other: Any) -> bool:
        return not self < self._of(other)

    __hash__ = None  # type: ignore[assignment]  # equal as functions, which no hash of parts shows


@dataclass(frozen=True)
class ExactRounds:
    """Algorithm I on one instance; tasks by arc, rational or rational functions of e."""

    places: list[ServerInRationals]

    @classmethod
    def of(cls, instance: Instance) -> "ExactRounds":
        """Those of an instance."""
        return cls(ServerInRationals.all_of(instance))

    def after(self, x: dict[int, Any]) -> tuple[dict[int, Any], int]:
        """Tasks after one round from tasks x, and the number of its updates."""
        x, updates = dict(x), 0
        for place in self.places:
            updates += len(list(procedure(place, x)))
        return x, updates

    def go_on_from(self, x: dict[int, Fraction], change: dict[int, Fraction], ratio: Fraction) -> bool:
        """Whether each of the rounds from x changes tasks by `ratio` times the change before, for ever."""
        # 2.
        left = {a: -v * ratio / (1 - ratio) for a, v in change.items()}
        limit = {a: v - left[a] for a, v in x.items()}
        # 3.
        bounds = [ONE]
        e = Germ.variable(bounds)
        made, _ = self.after({a: limit[a] + e * left[a] for a in x})
        # 4.
        if any(made[a] != limit[a] + e * (ratio * left[a]) for a in x):
            return False
        # 5.
        part = ONE
        if ratio**MOST_STEPS >= min(bounds):
            return False
        while part >= min(bounds):
            x, _ = self.after(x)
            part *= ratio
            if any(x[a] != limit[a] + part * left[a] for a in x):
                return False
        return True


def ends(case: Case) -> Verdict:
    """Algorithm I ends, and then every user has a bottleneck at every eligible server; exactly."""
    name, method = "termination", "rounds in rationals, and in rational functions"
    rounds, changes = ExactRounds.of(case.instance), list[dict[int, Fraction]]()
    x = drf_on_each_server(case.instance, rounds.places)
    for count in range(1, MOST_ROUNDS + 1):
        # 1.
        before, (x, updates) = x, rounds.after(x)
        if not updates:
            settled = not any(place.without_bottleneck(x) for place in rounds.places)
            words = f"it ends after {count} rounds, where everybody {'has' if settled else 'lacks'} a bottleneck"
            return Verdict(name, settled, -1.0 if settled else 1.0, words, method)
        # 2.
        changes.append({a: x[a] - before[a] for a in x})
        ratio = _ratio(*changes[-2:]) if len(changes) > 1 else None
        if ratio is not None and rounds.go_on_from(x, changes[-1], ratio):
            words = f"from round {count - 1} on every round changes tasks by {ratio} times as much as the one before, for ever"
            return Verdict(name, False, float(ratio), words, method)
    return Verdict(name, None, np.nan, f"not decided: {MOST_ROUNDS} rounds, and their changes are not geometric", method)


def _ratio(before: dict[int, Fraction], after: dict[int, Fraction]) -> Fraction | None:
    """The t between 0 and 1 with after = t before, if there is one."""
    a = next((a for a, v in before.items() if v), None)
    if a is None:
        return None
    ratio = after[a] / before[a]
    return ratio if 0 < ratio < 1 and all(after[b] == ratio * v for b, v in before.items()) else None
