"""The search for a violation: restarts, climbing on the signed margin, then shrinking to the smallest case.

1. A restart draws a few samples; where users misreport, several misreports of each true instance.
2. From the sample with the largest margin it climbs by changing single numbers, places, misreports and parameters; a change that
   helped is repeated (pattern search).
3. A violation in floating point counts only where `confirm` has seen it in rationals.
4. Where a climb ends without one, a margin below the tolerance is decided in rationals.
5. A violation is shrunk: users, servers, resources and variants are taken out and numbers replaced by simpler ones for as long as
   the violation is confirmed again after each step.
6. Then smaller sizes are searched for a while, and what is found there is shrunk as well.

Cases that were decided, those that were not, rejected samples and sizes are counted.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf, isnan
from operator import ge

import numpy as np

from fairalloc.analysis.properties.checks import TOLERANCE
from fairalloc.analysis.verdict import Verdict
from fairalloc.models.errors import FairallocError, fault
from fairalloc.models.instance import Instance
from fairalloc.theorems.cases import Case, Draft
from fairalloc.theorems.hypotheses import MOST, draw_misreports
from fairalloc.theorems.search.steps import STEPS, measure, random_move, simpler, with_number
from fairalloc.theorems.statement import Statement

SAMPLES = 16
"""Samples of a restart, from the worst of which it climbs."""

MISREPORTS = 8
"""Samples of a restart with one true instance, where users misreport: most misreports change nothing or harm the user."""

PATIENCE = 16
"""Changes in a row that do not raise the margin by GAIN of it, after which a climb ends."""

GAIN = 0.05

ROUNDING = 1e-10
"""Smaller margins count as 0; where a climb ends between this and the tolerance of verdicts, rationals decide."""


@dataclass(frozen=True)
class Violation:
    """A confirmed violation: the case, its exact verdict, and the trial at which it was first seen."""

    draft: Draft
    case: Case
    verdict: Verdict
    trial: int


@dataclass
class Limit:
    """The limit of a search: a number of cases, decided or not, or rejected, or seconds, whichever is reached first.

    `shrinking` are the seconds since the start at which shrinking ends too; None = twice those of the search and PATIENCE more.
    """

    cases: float = inf
    seconds: float = inf
    shrinking: float | None = None
    start: float = field(default_factory=lambda: time.monotonic())  # looked up when it is called, so that a test can set it

    def reached(self, cases: int) -> bool:
        return cases >= self.cases or self.elapsed >= self.seconds

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.start


class Search:
    """One search with its counts; the same seed and enough time give the same cases.

    `smallest` is the smallest confirmed violation so far, which an interrupt leaves; `because` says why the last draft was
    rejected or not decided.
    """

    def __init__(
        self,
        statement: Statement,
        seed: tuple[int, ...],
        limit: Limit,
        tell: Callable[["Search"], None] = lambda _: None,
        most: tuple[int, int, int] = MOST,
    ) -> None:
        self.statement, self.limit, self._tell, self.most = statement, limit, tell, most
        self.rng = np.random.default_rng(seed)
        self.trials = self.rejected = self.undecided = 0
        self.unconfirmed: list[Case] = []
        self.failed: list[tuple[Case, str]] = []
        self.sizes: Counter[tuple[int, int, int]] = Counter()
        self.answers: Counter[str] = Counter()
        self.smallest: Violation | None = None
        self.because = ""
        self._last: tuple[Draft | None, Instance | None] = None, None

    def run(self, known: Violation | None = None) -> Violation | None:
        """Search until a violation is confirmed and shrunk, the known one where there is one, or the limit is reached."""
        found = known or self._first(self.most, self.limit)
        if found is None or self.statement.hypotheses.instances is not None:  # smaller ones need not be of the family
            return found
        # 5.
        found = self.shrunk(found)
        # 6.
        while (smaller := self._of_smaller_size(found)) is not None:
            found = self.shrunk(smaller)
        return found

    @property
    def drawn(self) -> int:
        return self.trials + self.undecided + self.rejected

    # ---- finding

    def _first(self, most: tuple[int, int, int], limit: Limit) -> Violation | None:
        while not limit.reached(self.drawn):
            found = self._restart(most, limit)
            if found is not None:
                return found
        return None

    def _of_smaller_size(self, found: Violation) -> Violation | None:
        """A violation of smaller size, searched for with a part of the remaining limit."""
        n, k, r = found.draft.size
        caps = [(n - 1, *self.most[1:]), (n, k - 1, self.most[2]), (n, k, r - 1)]
        caps = [cap for cap in caps if min(cap) > 0 and all(map(ge, cap, self.statement.hypotheses.fewest))]
        for cap in caps:
            left = max(0.0, self.limit.seconds - self.limit.elapsed)
            cases = min(self.limit.cases, self.drawn + SAMPLES * PATIENCE)
            smaller = self._first(cap, Limit(cases, left / 4))
            if smaller is not None and smaller.draft.size < found.draft.size:
                return smaller
        return None

    def _restart(self, most: tuple[int, int, int], limit: Limit) -> Violation | None:
        # 1.
        best, score = None, -inf
        for draft in self._samples(most):
            margin, found = self._tried(draft)
            if found is not None or limit.reached(self.drawn):
                return found
            if margin > score or best is None:
                best, score = draft, margin
        if best is None or score == -inf:
            return None
        if self.statement.hypotheses.instances is not None:
            return self._below_tolerance(best, score)
        # 2.
        top, score, found = self._climb(best, score, limit)
        # 4.
        return found or self._below_tolerance(top, score)

    def _samples(self, most: tuple[int, int, int]) -> Iterator[Draft]:
        """Samples of the hypotheses; where users misreport, each true instance with several misreports."""
        hypotheses, misreports = self.statement.hypotheses, self.statement.misreports
        for _ in range(SAMPLES // MISREPORTS if misreports else SAMPLES):
            draft = hypotheses.sample(self.rng, misreports, most)
            yield draft
            for _ in range(MISREPORTS - 1 if misreports else 0):
                other = draft.copy()
                draw_misreports(hypotheses, self.rng, other, misreports)
                yield other

    def _climb(self, draft: Draft, score: float, limit: Limit) -> tuple[Draft, float, Violation | None]:
        """Where single changes lead from a draft and the margin there, or the violation on the way."""
        failed, again = 0, None
        while failed < PATIENCE and not limit.reached(self.drawn):
            move = again or random_move(self.rng, draft, self.statement)
            changed = draft.copy()
            move(changed)
            self.statement.hypotheses.impose(changed)
            margin, found = self._tried(changed)
            if found is not None:
                return changed, margin, found
            again = move if margin > score else None
            failed = 0 if margin > score + GAIN * abs(score) else failed + 1
            if margin >= score:
                draft, score = changed, margin
        return draft, score, None

    def _below_tolerance(self, draft: Draft, score: float) -> Violation | None:
        """A violation below the tolerance of floating point that rationals confirm."""
        if not ROUNDING < score <= TOLERANCE:
            return None
        return self._confirmed(draft, draft.case(), self.trials)

    def _confirmed(self, draft: Draft, case: Case, trial: int) -> Violation | None:
        """The violation where rationals confirm it; it is noted where it is the smallest so far."""
        exact = self._checked(self.statement.violated, case)
        if exact is None:
            return None
        found = Violation(draft, case, exact, trial)
        if self.smallest is None or measure(draft) < measure(self.smallest.draft):
            self.smallest = found
        return found

    def _tried(self, draft: Draft) -> tuple[float, Violation | None]:
        """The margin of a draft, and the violation where it is a confirmed one."""
        tried = self._trial(draft)
        if tried is None:
            self.rejected += 1
            return -inf, None
        case, verdict = tried
        margin = -inf if isnan(verdict.margin) else verdict.margin
        if verdict.holds is None:
            self.undecided += 1
            self.because = f"not decided: {verdict.sentence.removeprefix('not decided: ')}"
            return margin, None
        self.trials += 1
        self.sizes[draft.size] += 1
        self.answers[verdict.answers] += 1
        if verdict.holds:
            return margin, None
        # 3.
        found = self._confirmed(draft, case, self.trials)
        self.unconfirmed += [] if found else [case]
        return (verdict.margin if found else 0.0), found

    def _trial(self, draft: Draft) -> tuple[Case, Verdict] | None:
        """The case and its verdict in floating point; None where the claim is not about it."""
        self._tell(self)
        last, truth = self._last
        try:
            case = draft.case(truth if last is not None and draft.same_truth(last) else None)
        except FairallocError as error:
            self.because = f"rejected: {error}"
            return None
        self._last = draft, case.instance
        with np.errstate(all="ignore"):  # badly scaled cases overflow; what that spoils is nan and decides nothing
            applies = self.statement.applies_to(case)
            verdict = self._checked(self.statement.trial, case) if applies else None
        self.because = self.because if applies else "rejected: it does not satisfy the hypotheses"
        return None if verdict is None else (case, verdict)

    def _checked(self, check: Callable[[Case], Verdict | None], case: Case) -> Verdict | None:
        """What a check says; None where the claim is not about the case, or where the check fails, which is recorded."""
        try:
            return check(case)
        except FairallocError as error:
            self.because = f"rejected: {error}"
            return None
        except (Exception, SystemExit) as error:  # a check of somebody's own may call sys.exit
            self.failed.append((case, fault(error)))
            return None

    # ---- shrinking

    def shrunk(self, found: Violation) -> Violation:
        """The smallest violation that single steps lead to; every step is confirmed."""
        before = None
        while before != (before := measure(found.draft)):
            for step in STEPS:
                while (smaller := self._smaller(step(found.draft), found)) is not None:
                    found = smaller
            found = self._with_simpler_numbers(found)
        return found

    def _with_simpler_numbers(self, found: Violation) -> Violation:
        k = 0
        while k < len(slots := list(found.draft.slots())):
            drafts = (with_number(found.draft, k, value) for value in simpler(slots[k].value))
            smaller = self._smaller(drafts, found)
            found, k = (smaller, k) if smaller is not None else (found, k + 1)
        return found

    def _smaller(self, drafts: Iterator[Draft], found: Violation) -> Violation | None:
        """The first of the drafts that is a smaller violation."""
        return next(filter(None, (self._smaller_violation(draft, found) for draft in drafts)), None)

    def _smaller_violation(self, draft: Draft, found: Violation) -> Violation | None:
        """The draft, made to satisfy the hypotheses, where it is a smaller confirmed violation."""
        if self.limit.elapsed > (2 * self.limit.seconds + PATIENCE if self.limit.shrinking is None else self.limit.shrinking):
            return None
        self.statement.hypotheses.impose(draft)
        if not measure(draft) < measure(found.draft):
            return None
        tried = self._trial(draft)
        if tried is None or not (tried[1].holds is False or tried[1].margin > ROUNDING):
            return None
        return self._confirmed(draft, tried[0], found.trial)


def seeded(statement: Statement, seed: int) -> tuple[int, int]:
    """The seed of a statement's search: another one for each statement, the same in every process."""
    return seed, int.from_bytes(statement.id.encode(), "big") % (2**61 - 1)
